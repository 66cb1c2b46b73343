"""Image properties that may explain agreement of raters: intensity, contrast, each channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError, as_number, listed, repr_of
from kalos_core.options import checked
from kalos_core.pixels.moments import Moments
from kalos_core.pixels.stack import check_channels

COLOURS = ("red", "green", "blue")
WEIGHTS = np.array([0.2989, 0.5870, 0.1140])
"""Weights of red, green and blue in the intensity."""

LUMINANCE = np.array([0.212671, 0.715160, 0.072169])
"""Weights of linear sRGB red, green and blue in Y, where white is D65 at 1."""

LINEAR_BELOW = (6 / 29) ** 3
"""Y below which CIELAB's L is proportional to it."""


@checked
def channel_names(channels: int, names: Sequence[str] | None) -> list[str]:
    """Return one name per channel; by default red, green and blue for three, grey for one, otherwise numbers.

    Examples
    --------
    >>> channel_names(3, None), channel_names(2, None), channel_names(4, ["nir", "red", "green", "blue"])
    (['red', 'green', 'blue'], ['channel 1', 'channel 2'], ['nir', 'red', 'green', 'blue'])
    """
    if names is None:
        usual = {1: ["grey"], 3: list(COLOURS)}
        return usual.get(channels) or [f"channel {number + 1}" for number in range(channels)]
    return list(check_channels(np.empty((0, 0, channels)), names) or ())


Channels = Sequence[str] | Mapping[str, int]
"""Channels of images to compare: names, or names -> their numbers from 0."""


def chosen_channels(
    channels: int, given: Sequence[str] | None, wanted: Channels | None
) -> tuple[list[str] | None, dict[str, int]]:
    """Return the names of all channels (None for the usual ones), and the channels to compare with their numbers.

    Parameters
    ----------
    channels : int
        Number of channels.
    given : sequence of str, optional
        Names that the image has.
    wanted : sequence of str or mapping, optional
        Channels to compare. Names select among those given, or name every channel if none are given; a mapping of names
        to numbers selects channels without names.

    Examples
    --------
    >>> chosen_channels(4, ["red", "green", "blue", "nir"], ["nir"])
    (['red', 'green', 'blue', 'nir'], {'nir': 3})
    >>> chosen_channels(4, None, {"red": 0, "nir": 3})
    (['red', 'channel 2', 'channel 3', 'nir'], {'red': 0, 'nir': 3})
    >>> chosen_channels(3, None, None), chosen_channels(3, None, ["green"])
    ((None, {'red': 0, 'green': 1, 'blue': 2}), (['red', 'green', 'blue'], {'green': 1}))
    """
    if isinstance(wanted, Mapping):
        numbers = {as_number(number) for number in wanted.values()}
        if given is not None or not wanted or len(numbers) < len(wanted) or not numbers <= set(range(channels)):
            expected = f"names among {listed(given, 20)}" if given is not None else f"numbers from 0 to {channels - 1}"
            raise InputError(f"channels: expected {expected}, each once, got {dict(wanted)!r:.200}")
        called = {number: name for name, number in wanted.items()}
        names = channel_names(channels, [called.get(index, f"channel {index + 1}") for index in range(channels)])
        return names, dict(wanted)
    if given is None and channels == 3 and wanted is not None and set(wanted) <= set(COLOURS):
        given = COLOURS
    if given is None or wanted is None:
        names = channel_names(channels, given if wanted is None else wanted)
        return None if given is None and wanted is None else names, {name: index for index, name in enumerate(names)}
    names = channel_names(channels, given)
    if isinstance(wanted, str) or not wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(names):
        actual = listed(map(repr_of, wanted), 20) or "none"
        raise InputError(f"channels: expected some of {listed(names, 20)}, each once, got {actual}")
    return names, {name: names.index(name) for name in wanted}


def property_moments(
    share: NDArray[np.float64],
    image_pixels: NDArray[Any],
    ignore: NDArray[np.bool_] | None = None,
    names: Sequence[str] | None = None,
    wanted: Channels | None = None,
) -> dict[str, Moments]:
    """Compute the moments of agreement with each property of one image (Lampert et al., §III-B).

    Intensity is .2989 R + .5870 G + .1140 B, or the only channel. Contrast is Michelson's, (max - min) / (max + min)
    of CIELAB's tone L, or of the only channel, in 3 x 3 pixels, and 0 where all are 0. It is compared with the largest
    agreement in the same 3 x 3 pixels. An image of several channels without red, green and blue among their names has
    neither. Ignored pixels are not part of any neighbourhood.

    Parameters
    ----------
    share : (H, W) float64
        Share of the raters who marked each pixel.
    image_pixels : (H, W) or (H, W, C)
        Colours have 8 or 16 bits, or are floats in [0, 1].
    ignore : (H, W) bool, optional
    names : (C,) str, optional
        See `channel_names`.
    wanted : sequence of str or mapping, optional
        Channels to compare, see `chosen_channels`; intensity and contrast are computed from all channels.

    Examples
    --------
    >>> share = np.array([[0.0, 0.5, 1.0]])
    >>> sorted(property_moments(share, np.array([[10, 20, 30]], np.uint8)))
    ['contrast', 'intensity']
    """
    check_finite(image_pixels, "image_pixels")
    channels = image_pixels[..., None] if image_pixels.ndim == 2 else image_pixels
    called, compared = chosen_channels(channels.shape[2], names, wanted)
    used = np.ones(share.shape, np.bool_) if ignore is None else ~ignore
    counted = share[used]
    found = {name: Moments.of(counted, channels[..., index][used]) for name, index in compared.items()}
    if called is None:
        found.pop("grey", None)  # it is the intensity
    intensity, tone = tones(channels, called or list(compared))
    if intensity is not None and tone is not None:
        largest = neighbourhood(share, used, np.maximum)[used]
        found["intensity"] = Moments.of(counted, intensity[used])
        found["contrast"] = Moments.of(largest, michelson(tone, used)[used])
    return found


def tones(
    channels: NDArray[Any], names: Sequence[str]
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return intensity and tone (H, W) of an image (H, W, C); None, None if its channels are not colours."""
    if channels.shape[2] == 1:
        grey = channels[..., 0].astype(np.float64)
        if grey.min(initial=0) < 0:
            raise InputError("image_pixels: expected no negative values in the one channel whose contrast is taken")
        return grey, grey
    if not set(COLOURS) <= set(names):
        return None, None
    colours = channels[..., [list(names).index(colour) for colour in COLOURS]]
    return colours @ WEIGHTS, lightness(colours)


def lightness(colours: NDArray[Any]) -> NDArray[np.float64]:
    """Compute CIELAB's L, 0 to 100, of sRGB (H, W, 3).

    Examples
    --------
    >>> lightness(np.array([[[0, 0, 0], [255, 255, 255], [119, 119, 119]]], np.uint8)).round(1).tolist()
    [[0.0, 100.0, 50.0]]
    """
    if np.issubdtype(colours.dtype, np.unsignedinteger):
        steps = np.iinfo(colours.dtype).max
        if colours.dtype.itemsize > 2:
            raise InputError(
                f"image_pixels: expected colours of 8 or 16 bits, or floats in [0, 1], got {colours.dtype}"
            )
        linear = _linear(np.arange(steps + 1) / steps)[colours]
    else:
        if colours.size and (colours.min() < 0 or colours.max() > 1 or np.issubdtype(colours.dtype, np.integer)):
            actual = f"{colours.dtype} from {colours.min()} to {colours.max()}"
            raise InputError(f"image_pixels: expected colours of 8 or 16 bits, or floats in [0, 1], got {actual}")
        linear = _linear(colours.astype(np.float64))
    luminance = linear @ LUMINANCE
    above = 116 * np.cbrt(luminance) - 16
    return np.asarray(np.where(luminance > LINEAR_BELOW, above, luminance * (29 / 3) ** 3))


def _linear(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert sRGB values in [0, 1] to linear light."""
    return np.where(value > 0.04045, ((value + 0.055) / 1.055) ** 2.4, value / 12.92)


def michelson(tone: NDArray[np.float64], used: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Compute the contrast (H, W) of the used pixels in 3 x 3 around each (Eq. 4); 0 where all of them are 0.

    Examples
    --------
    >>> michelson(np.array([[1.0, 3.0, 3.0, 3.0]]), np.ones((1, 4), bool)).tolist()
    [[0.5, 0.5, 0.0, 0.0]]
    """
    high, low = (np.where(used, neighbourhood(tone, used, pick), 0) for pick in (np.maximum, np.minimum))
    return np.asarray(np.divide(high - low, high + low, out=np.zeros_like(tone), where=high + low > 0))


def neighbourhood(values: NDArray[np.float64], used: NDArray[np.bool_], extreme: np.ufunc) -> NDArray[np.float64]:
    """Compute `numpy.maximum` or `numpy.minimum` (H, W) of the used pixels in 3 x 3 around each.

    Examples
    --------
    >>> neighbourhood(np.array([[1.0, 3.0, 2.0]]), np.array([[True, False, True]]), np.maximum).tolist()
    [[1.0, 2.0, 2.0]]
    """
    outside = -np.inf if extreme is np.maximum else np.inf
    found = np.pad(np.where(used, values, outside), 1, constant_values=outside)
    found = extreme(extreme(found[:-2], found[1:-1]), found[2:])
    return np.asarray(extreme(extreme(found[:, :-2], found[:, 1:-1]), found[:, 2:]))


def check_finite(values: NDArray[np.generic], what: str) -> None:
    """Check that an image has finite numbers.

    Examples
    --------
    >>> check_finite(np.array([0.5, np.nan]), "image_pixels")
    Traceback (most recent call last):
    kalos_core.errors.InputError: image_pixels: expected finite numbers, got NaN or infinity
    """
    if not np.issubdtype(values.dtype, np.number) and values.dtype != np.bool_:
        raise InputError(f"{what}: expected numbers, got {values.dtype}")
    if np.issubdtype(values.dtype, np.floating) and not np.isfinite(values).all():
        raise InputError(f"{what}: expected finite numbers, got NaN or infinity")
