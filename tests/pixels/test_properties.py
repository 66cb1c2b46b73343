"""Image properties vs. agreement, compared with SciPy and scikit-image."""

import numpy as np
import pytest
from scipy import ndimage, stats
from skimage.color import rgb2lab

from kalos_core.errors import InputError
from kalos_core.pixels import MaskStack, pixel_agreement
from kalos_core.pixels.properties import lightness, property_moments

RNG = np.random.default_rng(4)
MASKS = RNG.random((5, 9, 11)) < 0.4
COLOUR = RNG.integers(0, 256, (9, 11, 3), np.uint8)


def correlations(masks, image_pixels, **more):
    found = pixel_agreement([MaskStack.of(masks, image_pixels=image_pixels, **more)])
    return {each.name: each for each in found.correlations}


def test_lightness_is_that_of_scikit_image():
    np.testing.assert_allclose(lightness(COLOUR), rgb2lab(COLOUR)[..., 0], atol=1e-3)
    np.testing.assert_allclose(lightness(COLOUR / 255), lightness(COLOUR), atol=1e-9)
    np.testing.assert_allclose(lightness(COLOUR.astype(np.uint16) * 257), lightness(COLOUR), atol=1e-9)


def test_correlations_are_those_of_scipy():
    found = correlations(MASKS, COLOUR)
    level = MASKS.sum(axis=0)
    tone = rgb2lab(COLOUR)[..., 0]
    high, low = (f(tone, 3, mode="nearest") for f in (ndimage.maximum_filter, ndimage.minimum_filter))
    expected = {
        "red": (level, COLOUR[..., 0]),
        "green": (level, COLOUR[..., 1]),
        "blue": (level, COLOUR[..., 2]),
        "intensity": (level, COLOUR @ [0.2989, 0.5870, 0.1140]),
        "contrast": (ndimage.maximum_filter(level, 3, mode="nearest"), (high - low) / (high + low)),
    }
    assert set(found) == set(expected)
    for name, (x, y) in expected.items():
        r, p = stats.pearsonr(x.ravel(), y.ravel())
        assert found[name].r == pytest.approx(r, abs=1e-4 if name == "contrast" else 1e-12)
        assert found[name].p == pytest.approx(p, rel=1e-2 if name == "contrast" else 1e-9)
        assert found[name].pixels == 99


def test_a_perfect_line_by_hand():
    # A = 0 1 2, grey 10 20 30: r = 1; contrast in 3: .333, .5, .2 against the largest A near: 1 2 2
    found = correlations([[[0, 1, 1]], [[0, 0, 1]]], np.array([[10, 20, 30]], np.uint8))
    assert found["intensity"].r == 1
    assert found["intensity"].p == 0
    assert found["intensity"].significant
    assert found["contrast"].r == pytest.approx(np.corrcoef([1, 2, 2], [1 / 3, 1 / 2, 1 / 5])[0, 1])
    assert not found["contrast"].significant


def test_undefined_has_a_reason():
    for masks, image_pixels, reason in (
        (MASKS, np.full((9, 11), 7, np.uint8), "is the same on all pixels"),
        (np.zeros((2, 9, 11), bool), COLOUR, "agreement is the same on all pixels"),
        (MASKS[:, :1, :2], COLOUR[:1, :2], "fewer than 3 pixels, namely 2"),
    ):
        for each in correlations(masks, image_pixels).values():
            assert (each.r, each.p, each.significant, reason in each.reason) == (None, None, False, True)


@pytest.mark.parametrize(
    ("image_pixels", "names", "message"),
    [
        (np.full((9, 11), np.nan), None, "expected finite numbers"),
        (np.full((9, 11), "a"), None, "expected numbers"),
        (-np.ones((9, 11)), None, "expected no negative values"),
        (np.full((9, 11, 3), 2.0), None, r"floats in \[0, 1\], got float64 from 2.0 to 2.0"),
        (np.full((9, 11, 3), 2, np.uint32), None, "expected colours of 8 or 16 bits"),
        (COLOUR, ["red", "green", "contrast"], "channels: expected 3 different names"),
    ],
)
def test_unusable_input_is_refused(image_pixels, names, message):
    with pytest.raises(InputError, match=message):
        property_moments(MASKS.mean(axis=0), image_pixels, names=names)


@pytest.mark.parametrize(
    ("channels", "wanted", "message"),
    [
        (("red", "green"), None, "channels: expected 4 different names"),
        ("abcd", ["e"], "channels: expected some of a, b, c, d, each once, got 'e'"),
        ("abcd", ["a", "a"], "each once, got 'a', 'a'"),
        ("abcd", {"a": 0}, "channels: expected names among a, b, c, d"),
        (None, {"nir": 4}, "channels: expected numbers from 0 to 3, each once"),
        (None, {"nir": 1, "red": 1}, "channels: expected numbers from 0 to 3, each once"),
        (None, ["nir"], "channels: expected 4 different names"),
    ],
)
def test_channels_that_an_image_does_not_have_are_refused(channels, wanted, message):
    names = None if channels is None else tuple(channels)
    given = {"image_pixels": np.zeros((1, 2, 4)), "channels": names}
    with pytest.raises(InputError, match=message):
        pixel_agreement([MaskStack.of([[[1, 0]], [[1, 1]]], **given)], channels=wanted)
