"""Pixel-wise agreement of raters on one image, or on a data set read one image at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import mean_of_defined
from kalos_core.display import number_of
from kalos_core.errors import InputError, is_hashable, listed, repr_of
from kalos_core.options import Option, Replicates, Seed, Settings, checked, takes
from kalos_core.pixels.moments import Correlation, Moments, correlation
from kalos_core.pixels.patterns import Patterns, find_patterns
from kalos_core.pixels.performance import RaterPerformance
from kalos_core.pixels.properties import Channels, property_moments
from kalos_core.pixels.replicates import ImageCounts, pixel_intervals
from kalos_core.pixels.stack import Masks3D, MaskStack, Stacks, as_stack, each_stack
from kalos_core.pixels.sums import PixelSums
from kalos_core.results import Result

LIMIT = 0.1
"""Limit of Smyth; data with a larger bound are unfit for experiments."""

FEWEST_FOR_OUTLIERS = 3
"""Minimum number of raters for outliers."""

UNNAMED = (
    "Raters have no names: the first rater of one image need not be the first of the next. There are no metrics of "
    "single raters and no outliers; pairs of raters are compared within images."
)
"""Note on results with local raters."""

ROUNDING = 1e-12
"""Tolerance: raters who exceed the limit of outliers by less are not outliers."""


@dataclass(frozen=True, eq=False, repr=False)
class PixelAgreement(Result):
    """Pixel-wise agreement of raters (Lampert et al., §III-B). R raters, I images.

    Table: one row per image.

    If raters have no names (`raters_are_local`), there are no metrics of single raters and no outliers. R is then 0,
    and `ratio` has one entry for each rater of the image with the most raters. Pairs are compared within images only,
    see `image_f1` and `mean_f1`; `notes` explains this.

    Figures: ``"tree"``, ``"ratio"``, ``"performance"``, ``"correlations"``.

    Parameters
    ----------
    raters : (R,) object
    sums : PixelSums
        Sums over all images.
    images : (I,) object
        Images with at least two raters.
    image_bound : (I,) float64
        Smyth's bound of each image; NaN if all its pixels are ignored.
    image_f1 : (I,) float64
        Mean F1 of the pairs of raters of the image.
    image_pixels, image_marked : (I,) int64
        Number of pixels that are not ignored, and of those that any rater marked.
    alone : int
        Number of images left out because fewer than two raters are assigned to them.
    correlations : tuple of Correlation
        Correlations of the share of raters who marked a pixel with properties of the image; empty without image pixels.
    raters_are_local : bool
        Whether a name means a rater within one image only.
    mean_f1_interval, smyth_interval : (2,) float64
        95 % bootstrap intervals over images of `mean_f1` and `smyth_bound`; NaN without a bootstrap.
    f1_interval : (R, R, 2) float64
        Intervals of `f1`, all on the same draws; NaN on the diagonal, which is trivial, and without a bootstrap.

    Examples
    --------
    >>> found = pixel_agreement([{"ann": [[0, 0, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 0, 0, 1]]}])
    >>> round(found.smyth_bound, 4), found.ratio.round(4).tolist()
    (0.1667, [1.0, 0.6667, 0.3333])
    >>> found.f1.round(2).tolist(), round(found.mean_f1, 2)
    ([[1.0, 0.8, 0.67], [0.8, 1.0, 0.5], [0.67, 0.5, 1.0]], 0.66)
    """

    _call = "pixel_agreement(masks)"
    _columns = "image:images smyth_bound:image_bound mean_f1:image_f1 pixels:image_pixels marked:image_marked"
    _shows_table = False

    raters: NDArray[np.object_]
    sums: PixelSums
    images: NDArray[np.object_]
    image_bound: NDArray[np.float64]
    image_f1: NDArray[np.float64]
    image_pixels: NDArray[np.int64]
    image_marked: NDArray[np.int64]
    alone: int
    correlations: tuple[Correlation, ...]
    raters_are_local: bool = False
    mean_f1_interval: NDArray[np.float64] = field(default_factory=lambda: np.full(2, np.nan))
    smyth_interval: NDArray[np.float64] = field(default_factory=lambda: np.full(2, np.nan))
    f1_interval: NDArray[np.float64] = field(default_factory=lambda: np.full((0, 0, 2), np.nan))

    @cached_property
    def mean_f1(self) -> float:
        """Mean F1 of the pairs of raters, each over all their images; without names, the mean of `image_f1`."""
        pairs = self.image_f1 if self.raters_are_local else self.f1[np.triu_indices(len(self.raters), 1)]
        return float(mean_of_defined(pairs))

    @property
    def raters_per_image(self) -> tuple[int, int]:
        """Smallest and largest number of raters of an image that has pixels."""
        assigned = np.flatnonzero(self.sums.by_rater_count.any(axis=1))
        return int(assigned[0]), int(assigned[-1])

    @property
    def rater_count(self) -> str:
        """Number of raters; if they have no names, the number per image, such as "4 to 7"."""
        least, most = self.raters_per_image
        if not self.raters_are_local:
            return str(len(self.raters))
        return f"{least} to {most}" if least < most else str(most)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the result: metrics that are not available."""
        return (UNNAMED,) if self.raters_are_local else ()

    @cached_property
    def smyth_bound(self) -> float:
        """Minimum mean error of the raters, in [0, .5], whatever the ground truth (Eq. 1); see `smyth_notes`."""
        return self.sums.smyth_bound()

    @property
    def within_limit(self) -> bool:
        """Whether the bound is at most 10 %, as Smyth requires of data for experiments."""
        return self.smyth_bound <= LIMIT

    @property
    def smyth_notes(self) -> tuple[str, ...]:
        """Two caveats for comparing the bound with that of other data (Discussion, §V-A)."""
        assigned = [number for number, row in enumerate(self.sums.by_rater_count) if row.any()]
        notes = []
        if 2 in assigned:
            notes.append(
                "With two raters every disagreement counts one half, the maximum: the bound is high even where F1 is."
            )
        odd = [number for number in assigned if number % 2]
        if odd:
            most = " or ".join(f"{(number - 1) / (2 * number):.3f}" for number in odd)
            notes.append(
                f"With an odd number of raters ({listed(odd, 20)}) a pixel counts at most {most}, not one half: "
                "each disagreement counts less than with two raters."
            )
        return tuple(notes)

    @cached_property
    def ratio(self) -> NDArray[np.float64]:
        """(R,) share of the pixels marked by any rater that at least 1, ..., R raters marked (Eq. 3)."""
        return self.sums.ratio()

    @cached_property
    def f1(self) -> NDArray[np.float64]:
        """(R, R) F1 of every two raters (Eq. 6); NaN if they share no image, 1 if neither marked anything."""
        return self.sums.f1()

    @cached_property
    def mean_difference(self) -> NDArray[np.float64]:
        """(R,) mean of 1 - F1 between each rater and the others; NaN for raters who share no image with another."""
        others = 1 - self.f1
        np.fill_diagonal(others, np.nan)
        return mean_of_defined(others.T) if len(others) else np.zeros(0)

    @property
    def outliers(self) -> NDArray[np.bool_]:
        """(R,) raters with a mean difference above the mean of all plus one standard deviation (ddof 1).

        With fewer than three raters there are no outliers. An outlier is not necessarily wrong: the paper warns that
        the one rater who is right may be the one who differs.
        """
        return outliers(self.mean_difference)

    @cached_property
    def linkage(self) -> NDArray[np.float64]:
        """(R - 1, 4) Ward's tree on 1 - F1, in the format of `scipy.cluster.hierarchy`; 1 if raters share no image."""
        if not len(self.raters):
            return np.zeros((0, 4))
        from scipy.cluster import hierarchy  # slow to import, and needed here only

        apart = 1 - self.f1[np.triu_indices(len(self.raters), 1)]
        return hierarchy.linkage(np.where(np.isnan(apart), 1.0, apart), "ward", optimal_ordering=True)

    @property
    def order(self) -> NDArray[np.intp]:
        """(R,) raters in the order of the leaves of the tree."""
        if not len(self.raters):
            return np.zeros(0, np.intp)
        from scipy.cluster import hierarchy

        return hierarchy.leaves_list(self.linkage).astype(np.intp)

    @property
    def performance(self) -> RaterPerformance:
        """Each rater against the consensus of half of the raters, including their own vote (Table II)."""
        return RaterPerformance(self.raters, self.sums.confusion)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        who = f"{self.rater_count} raters{' an image' if self.raters_are_local else ''}"
        outliers = "without names" if self.raters_are_local else number_of(int(self.outliers.sum()), "outlier")
        return (
            f"PixelAgreement({who}, {number_of(len(self.images), 'image')}, {number_of(self.sums.pixels, 'pixel')}: "
            f"mean F1 {self.mean_f1:.3f}, Smyth bound {self.smyth_bound:.2%}, {outliers})"
        )


class PixelAccumulator:
    """Accumulator of pixel-wise agreement for a stream of images; each image is discarded once it is counted.

    Parameters
    ----------
    raters : sequence of str, optional
        All raters of the data set, in order; by default in order of first appearance. A rater who is not among those of
        an image is not assigned to it, and is ignored there. A rater who is assigned and marked nothing has an empty
        mask.
    channels : sequence of str, or mapping of str to int, optional
        Channels of the images to compare, see `pixel_agreement`.
    raters_are_local : bool, optional
        Whether a name means a rater within one image only; by default as specified by the stacks.

    Examples
    --------
    >>> accumulator = PixelAccumulator()
    >>> accumulator.add(MaskStack.of({"ann": [[0, 1]], "bob": [[1, 1]]}))  # cid is not assigned
    >>> accumulator.add(MaskStack.of({"ann": [[0, 1]], "bob": [[0, 1]], "cid": None}))
    >>> accumulator.result().f1.round(2).tolist()
    [[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    @checked
    def __init__(
        self,
        raters: Sequence[str] | None = None,
        channels: Channels | None = None,
        raters_are_local: bool | None = None,
    ) -> None:
        names = raters or ()
        self._code = {name: index for index, name in enumerate(names) if is_hashable(name)}
        self._grows, self._are_local = raters is None, raters_are_local
        if len(self._code) != len(names) or (raters is not None and len(names) < 2 and not raters_are_local):
            raise InputError(f"raters: expected at least two names, each once, got {listed(map(repr_of, names), 20)}")
        self._channels = channels
        self._sums = PixelSums.nothing(0 if raters_are_local else len(names))
        self._rows: list[tuple[Any, float, float, int, int]] = []
        self._counted: list[ImageCounts] = []
        self._alone = 0
        self._moments: dict[str, Moments] = {}

    @checked
    def add(self, stack: MaskStack) -> None:
        """Count one image."""
        local = self._is_local(stack)
        strangers = [] if local else [name for name in stack.raters.tolist() if name not in self._code]
        if self._grows:
            self._code |= {name: len(self._code) + number for number, name in enumerate(strangers)}
        elif strangers:
            raise InputError(
                f"image {stack.image!r}: expected raters among {listed(self._code, 20)}, got {listed(strangers, 20)}"
            )
        if len(stack.raters) < 2:
            self._alone += 1
            return
        assigned = (
            np.array([self._code[name] for name in stack.raters], dtype=np.intp)
            if not local
            else (np.arange(len(stack.raters)))
        )
        patterns = find_patterns(stack)
        sums = PixelSums.of(patterns, assigned, len(assigned) if local else len(self._code))
        self._rows.append(_image_row(stack.image, sums, assigned))
        if patterns.pixels:
            self._counted.append(ImageCounts.of(stack.image, sums, self._rows[-1][2], not local))
        self._sums = self._sums + (sums.without_raters() if local else sums)
        if stack.image_pixels is not None and patterns.pixels:
            self._correlate(stack, patterns)

    def _is_local(self, stack: MaskStack) -> bool:
        """Check whether raters have names within an image only; this is the same for all images."""
        if self._are_local is None:
            self._are_local = stack.raters_are_local
            if self._are_local:
                self._sums = self._sums.without_raters()
        if stack.raters_are_local and not self._are_local:
            raise InputError(
                f"image {stack.image!r}: expected raters of one name to be the same on every image, got an image whose "
                "raters are local"
            )
        return self._are_local

    def _correlate(self, stack: MaskStack, patterns: Patterns) -> None:
        share = patterns.at_pixels(patterns.votes.mean(axis=1))
        assert stack.image_pixels is not None
        found = property_moments(share, stack.image_pixels, stack.ignore, stack.channels, self._channels)
        for name, moments in found.items():
            self._moments[name] = self._moments.get(name, Moments()).joined(moments)

    def result(self, bootstrap: int = 1000, seed: int = 0) -> PixelAgreement:
        """Return the agreement over all images counted so far; `bootstrap` and `seed` as in `pixel_agreement`."""
        if not self._sums.pixels:
            raise InputError(
                f"masks: expected an image with pixels and at least two assigned raters, got none in "
                f"{len(self._rows) + self._alone:,} images"
            )
        images, bound, f1, pixels, marked = zip(*self._rows, strict=True)
        raters = object_array([] if self._are_local else list(self._code))
        drawn = pixel_intervals(self._counted, len(raters), bootstrap, seed)
        return PixelAgreement(
            raters=raters,
            sums=self._sums,
            images=object_array(images),
            image_bound=np.array(bound),
            image_f1=np.array(f1),
            image_pixels=np.array(pixels, dtype=np.int64),
            image_marked=np.array(marked, dtype=np.int64),
            alone=self._alone,
            correlations=tuple(correlation(name, moments) for name, moments in self._moments.items()),
            raters_are_local=bool(self._are_local),
            mean_f1_interval=drawn.mean_f1,
            smyth_interval=drawn.smyth_bound,
            f1_interval=drawn.f1,
        )


def _image_row(image: Any, sums: PixelSums, assigned: NDArray[np.intp]) -> tuple[Any, float, float, int, int]:
    f1 = sums.f1()[np.ix_(assigned, assigned)][np.triu_indices(len(assigned), 1)]
    marked = int(sums.by_rater_count[:, 1:].sum())
    return image, sums.smyth_bound(), float(f1.mean()), sums.pixels, marked


ChosenChannels = Annotated[
    Channels | None,
    Option(
        "Channels",
        "Channels of the images to compare, such as an infrared one; all by default. Names select among the "
        "channels that the stacks name (`MaskStack.channels`) or, if they name none, name every channel in order. A "
        "mapping of names to numbers, from 0, selects channels without names. Intensity and contrast are computed if "
        "an image has channels named red, green and blue, or one channel.",
        type="sequence of str, or mapping of str to int, optional",
    ),
]


@dataclass(frozen=True)
class PixelSettings(Settings):
    """Settings of pixel-wise agreement."""

    raters: Annotated[
        Sequence[str] | None,
        Option(
            "Raters",
            "All raters in the desired order; by default in order of first appearance.",
            check=lambda given, _: given,
        ),
    ] = None
    channels: ChosenChannels = None
    raters_are_local: Annotated[
        bool | None,
        Option(
            "Raters have no names",
            "Whether a name means a rater within one image only, as in the Berkeley data, where segmenter 1 of one "
            "image is not segmenter 1 of the next. By default as specified by the stacks. If so, there are no metrics "
            "of single raters.",
        ),
    ] = None
    bootstrap: Replicates = 1000
    seed: Seed = 0


@takes(PixelSettings)
def pixel_agreement(stacks: Stacks, settings: PixelSettings) -> PixelAgreement:
    """Compute the pixel-wise agreement of raters: F1, outliers, performance against the consensus, Smyth's bound.

    Parameters
    ----------
    stacks : iterable, or function without arguments that returns one
        One `MaskStack` per image, or input of `MaskStack.of`; read one at a time. A single stack is one image.

    Returns
    -------
    PixelAgreement

    Raises
    ------
    InputError
        If there is no image or none with two raters, a rater is not among `raters`, or images lack the channels.

    Examples
    --------
    >>> pixel_agreement([{"ann": [[0, 1]], "bob": [[1, 1]]}])
    PixelAgreement(2 raters, 1 image, 2 pixels: mean F1 0.667, Smyth bound 25.00%, 0 outliers)
    >>> pixel_agreement([[[[0, 1]], [[1, 1]]], [[[1, 0]], [[1, 0]], [[0, 1]]]], raters_are_local=True)
    PixelAgreement(2 to 3 raters an image, 2 images, 4 pixels: mean F1 0.500, Smyth bound 29.17%, without names)
    """
    accumulator, images = PixelAccumulator(settings.raters, settings.channels, settings.raters_are_local), 0
    for stack in each_stack(stacks, least=1):
        accumulator.add(stack)
        images += 1
    if not images:
        raise InputError("stacks: expected at least one image, got none")
    return accumulator.result(settings.bootstrap, settings.seed)


@checked
def rater_count_map(masks: Masks3D) -> NDArray[np.uint8]:
    """Count how many raters marked each pixel (H, W) (A of Eq. 2); 0 where pixels are ignored.

    Examples
    --------
    >>> rater_count_map([[[0, 1, 1]], [[0, 0, 1]]]).tolist()
    [[0, 1, 2]]
    """
    stack = as_stack(masks, least=1)
    count: NDArray[np.uint8] = stack.masks.sum(axis=0, dtype=np.uint8)
    if stack.ignore is not None:
        count[stack.ignore] = 0
    return count


def outliers(mean_difference: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which values (R,) are above the mean plus one standard deviation (ddof 1) of the defined ones.

    Examples
    --------
    Values from the Segmentation study, where the paper names the fifth rater an outlier:

    >>> outliers(np.array([0.59, 0.59, 0.59, 0.59, 0.6454])).tolist()
    [False, False, False, False, True]
    """
    known = mean_difference[np.isfinite(mean_difference)]
    if len(known) < FEWEST_FOR_OUTLIERS:
        return np.zeros(len(mean_difference), np.bool_)
    limit = known.mean() + known.std(ddof=1) + ROUNDING
    return np.asarray(np.nan_to_num(mean_difference, nan=-np.inf) > limit)
