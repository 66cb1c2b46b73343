"""Accumulator of pixel counts by truth and score level, image by image, from which detectors are ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import as_floats, divide
from kalos_core.consensus import estimate_truth
from kalos_core.consensus.methods import WITHOUT_OUTLIERS, MethodName, Methods, check_methods
from kalos_core.consensus.voting import ROUNDING
from kalos_core.errors import InputError, as_number, check_iterable, check_number, listed, repr_of, warn
from kalos_core.limits import limit
from kalos_core.options import Option, Replicates, Seed, checked
from kalos_core.pixels.contours import DiagonalShare, near, thinned, tolerance_in_pixels
from kalos_core.pixels.moments import Moments, correlation
from kalos_core.pixels.stack import Masks3D, MaskStack, as_binary, as_stack, check_surroundings
from kalos_core.ranking.contours import highest_near
from kalos_core.ranking.detectors import DetectorRanking
from kalos_core.ranking.replicates import LevelCounts, area_replicates
from kalos_core.ranking.skew import Skew, skew_range

METHODS: tuple[MethodName, ...] = ("any", "0.5", "0.75")
"""Truths by vote whose areas bound those under single raters (Lampert et al. §V-B)."""

LEVELS = 1024
"""Number of levels that scores are rounded to; each is a point of a curve."""


def check_shares(shares: Any, name: str) -> str | list[float]:
    """Check thresholds of agreement: numbers in (0, 1], or "all"."""
    if isinstance(shares, str):
        if shares != "all":
            raise InputError(f"{name}: expected 'all' or shares of the raters, got {repr_of(shares)}")
        return shares
    return [
        check_number(share, name, above=0, high=1) for share in check_iterable(shares, name, "shares of the raters")
    ]


def _check_range(score_range: Any, name: str) -> tuple[float, float]:
    ends = [as_number(end) for end in check_iterable(score_range, name, "two numbers in order")]
    low, high = ends if len(ends) == 2 else (None, None)
    if low is None or high is None or not np.isfinite([low, high]).all() or low >= high:
        raise InputError(f"{name}: expected two numbers in order, got {repr_of(tuple(score_range))}")
    return low, high


Levels = Annotated[int, Option("Levels", "Number of equally spaced levels that scores are rounded to.", low=2)]
ScoreRange = Annotated[
    Sequence[float], Option("Range of scores", "Lowest and highest possible score.", check=_check_range)
]
AgreedShares = Annotated[
    str | Sequence[float],
    Option(
        "Thresholds of agreement, as references",
        "Pixels that at least this share of the raters marked (Eq. 5; the paper's Figs 5 and 6). 'all' is 1/N, 2/N, "
        "..., 1, and requires the same number N of raters on every image that has two or more.",
        type="'all' or sequence of float in (0, 1]",
        check=check_shares,
    ),
]


@dataclass
class TruthCounts:
    """Pixel counts of one truth by detector and level, over the images so far.

    Parameters
    ----------
    positives, negatives : (S, L) int64
        Positive and negative pixels by the level of their score, ascending.
    fractions : list of float
        Share of positives in each image.
    """

    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    fractions: list[float] = field(default_factory=list)

    @classmethod
    def nothing(cls, shape: tuple[int, ...]) -> TruthCounts:
        """Return counts of zero."""
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64))


class DetectorAccumulator:
    """Count the pixels of score maps under every truth, image by image, to rank detectors.

    For bootstrap intervals, the counts of each image are kept up to a limit (`docs/limits.md`). Beyond the limit, a
    `KalosWarning` is issued and there are no intervals. Without a bootstrap, only the sums are kept.

    The truths are each rater's mask, estimates from all raters, the consensus of increasing shares of raters, and any
    masks that the caller adds under other names. An image that a rater is not assigned to is ignored under that rater's
    truth; an image with a single assigned rater is ignored under an estimate. Raters without names
    (`MaskStack.raters_are_local`) are not truths, since they cannot be followed over several images.

    For contours with a tolerance, a pixel of the truth gets the highest score within the tolerance. A pixel within the
    tolerance of the truth, but not on it, is neither positive nor negative.

    Parameters
    ----------
    levels : int
        Number of equally spaced levels of `score_range` that scores are rounded to; 256 with (0, 255) is exact for maps
        of bytes.
    score_range : (2,) float
        Lowest and highest possible score.
    methods : sequence of names in `TRUTH_METHODS`
        Methods that estimate truth from the raters' masks.
    tolerance : float
        Maximum distance of matching contours, as a share of the image's diagonal; 0 for regions, .0075 in the paper.
    thin : bool
        Whether each truth is thinned to lines before it is used.
    shares : "all" or sequence of float in (0, 1]
        Thresholds of agreement, each a truth: the pixels that at least this share of the raters marked (Eq. 5; the
        paper's Figs 5 and 6). "all" is 1/N, 2/N, ..., 1, and requires the same number N of raters on every image that
        has two or more.
    outliers : iterable of str, optional
        Names of the raters that the method ``"excl-0.5"`` leaves out. Required if more than one image has two or more
        raters; `kalos_core.consensus.study_outliers` finds them.
    bootstrap : int
        Number of bootstrap replicates of the areas and ranks over images, for intervals; 0 for none.
    seed : int

    Raises
    ------
    InputError
        For an invalid range, tolerance or share, an unknown method, or too many replicates.

    Examples
    --------
    >>> accumulator = DetectorAccumulator()
    >>> scores = {"net": [[0.9, 0.6, 0.4, 0.1]], "edge": [[0.9, 0.1, 0.6, 0.2]]}
    >>> accumulator.add(scores, {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]})
    >>> result = accumulator.result(skew=(0.1, 0.5))
    >>> result.to_pandas().pivot(index="truth", columns="detector", values="rank").loc["ann"].to_dict()
    {'edge': 2.0, 'net': 1.0}

    The same at the thresholds of agreement 1/2 and 1:

    >>> accumulator = DetectorAccumulator(methods=(), shares="all")
    >>> accumulator.add(scores, {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]})
    >>> result = accumulator.result(skew=(0.1, 0.5))
    >>> result.truths.tolist(), result.least_share.tolist()
    (['ann', 'bob', 'at least 1/2', 'at least 2/2'], [nan, nan, 0.5, 1.0])
    """

    @checked
    def __init__(
        self,
        levels: Levels = LEVELS,
        score_range: ScoreRange = (0.0, 1.0),
        methods: Methods = METHODS,
        tolerance: DiagonalShare = 0.0,
        thin: bool = False,
        shares: AgreedShares = (),
        outliers: Iterable[str] | None = None,
        bootstrap: Replicates = 1000,
        seed: Seed = 0,
    ) -> None:
        self._levels, self._methods = levels, tuple(check_methods(methods))
        self._low, self._high = score_range
        self._tolerance, self._thin = tolerance, thin
        self._all_shares, given = shares == "all", () if isinstance(shares, str) else shares
        self._shares = {f"at least {share:.4g}": share for share in given}
        self._outliers = None if outliers is None else list(outliers)
        self._replicates, self._seed = bootstrap, seed
        self._estimated = 0
        self._are_local: bool | None = None
        self._local_fractions: list[float] = []
        self._detectors: list[str] = []
        self._raters: list[str] = []
        self._images: list[Any] = []
        self._drawn: dict[str, dict[int, LevelCounts]] = {}
        self._kept, self._no_intervals = 0, ""
        self._counts: dict[str, TruthCounts] = {}
        self._marked: list[Moments] = []
        self._everywhere: list[Moments] = []

    @checked
    def add(
        self,
        scores: Mapping[str, ArrayLike],
        masks: Masks3D,
        truths: Mapping[str, ArrayLike] | None = None,
        ignore: ArrayLike | None = None,
        image: Any = None,
    ) -> None:
        """Count one image.

        Parameters
        ----------
        scores : mapping of detector to (H, W) float
            Score maps of the same detectors for every image.
        masks : `MaskStack`, or mapping of rater to (H, W) mask
            Masks of the raters assigned to this image; None for a rater who marked nothing.
        truths : mapping of name to (H, W) mask, optional
            Further truths, such as an estimate.
        ignore : (H, W) mask, optional
            Pixels to ignore; by default those of the stack.
        image : object, optional
            Name of the image in errors, and its sort key for the bootstrap; by default the stack's image, or a running
            number.

        Raises
        ------
        InputError
            For different detectors than before, different sizes, a score that is missing, NaN or out of range, a mask
            that is not binary, or a truth with the name of another. Nothing of the image is counted then.
        """
        stack = masks if isinstance(masks, MaskStack) else as_stack(MaskStack.of(masks), least=1)
        size = stack.masks.shape[1:]
        if ignore is not None:
            stack = replace(stack, ignore=check_surroundings(size, ignore, None)[0])
        valid = np.ones(size, np.bool_) if stack.ignore is None else ~stack.ignore
        called = stack.image if image is None else image
        called = len(self._images) + 1 if called is None else called
        name = f"image {called}"
        by_detector = self._check_scores(scores, valid, name)
        agreeing = stack.masks.sum(axis=0, dtype=np.uint8)  # of at most 64 raters
        shares = self._shares_of(stack, name)
        found = self._truths_of(stack, agreeing, shares, truths or {}, valid, name)
        levels = [self._to_levels(map_, valid) for map_ in by_detector]
        self._detectors = self._detectors or list(scores)
        self._images.append(called)
        self._shares, self._are_local = shares, stack.raters_are_local
        self._estimated += len(stack.raters) > 1
        if self._are_local:
            self._local_fractions += [_share_of(self._used(mask, valid), valid) for mask in stack.masks]
        else:
            self._raters = list(dict.fromkeys([*self._raters, *stack.raters]))
        for truth, (positives, negatives) in self._counts_of(found, levels, valid).items():
            counts = self._counts.setdefault(truth, TruthCounts.nothing(positives.shape))
            counts.positives += positives
            counts.negatives += negatives
            counts.fractions.append(_share_of(found[truth], valid))
            if self._replicates:
                self._keep(truth, LevelCounts.of(positives, negatives))
        self._correlate(by_detector, agreeing / len(stack.raters), valid)

    def _keep(self, truth: str, counts: LevelCounts) -> None:
        """Keep the counts of the last image for the bootstrap; drop all counts if they exceed the limit."""
        self._drawn.setdefault(truth, {})[len(self._images) - 1] = counts
        self._kept += len(counts.place)
        most = limit("KALOS_MOST_KEPT")
        if self._kept > most:
            self._drawn, self._replicates = {}, 0
            self._no_intervals = (
                f"intervals are undefined: {len(self._images):,} images have more than {most:,} counts; "
                "KALOS_MOST_KEPT in the environment raises the limit"
            )
            warn(self._no_intervals)

    def _check_scores(
        self, scores: Mapping[str, ArrayLike], valid: NDArray[np.bool_], name: str
    ) -> list[NDArray[np.float64]]:
        if not scores or (self._detectors and set(scores) != set(self._detectors)):
            expected = listed(self._detectors, 20) or "at least one"
            raise InputError(f"{name}: expected score maps of detectors {expected}, got {listed(scores, 20) or 'none'}")
        maps = []
        for detector in self._detectors or scores:
            called = f"{name}, scores of {detector!r}"
            map_ = _of_size(as_floats(scores[detector], called), valid.shape, called)
            within = map_[valid]
            bad = ~((within >= self._low) & (within <= self._high))
            if bad.any():
                raise InputError(
                    f"{called}: expected numbers from {self._low:g} to {self._high:g}, got {bad.sum():,} others, such "
                    f"as {listed(np.unique(within[bad]), 3)}"
                )
            maps.append(map_)
        return maps

    def _shares_of(self, stack: MaskStack, name: str) -> dict[str, float]:
        """Return thresholds of agreement by name of the truth; the first image of several raters defines "all"."""
        raters = len(stack.raters)
        if not self._all_shares or raters < 2:
            return self._shares
        if self._shares and len(self._shares) != raters:
            raise InputError(
                f"{name}: expected {len(self._shares)} raters as on the images before, since shares='all' takes 1/N to "
                f"1 of them, got {raters}; give shares as numbers"
            )
        return {f"at least {number}/{raters}": number / raters for number in range(1, raters + 1)}

    def _truths_of(
        self,
        stack: MaskStack,
        agreeing: NDArray[np.uint8],
        shares: Mapping[str, float],
        further: Mapping[str, ArrayLike],
        valid: NDArray[np.bool_],
        name: str,
    ) -> dict[str, NDArray[np.bool_]]:
        """Return masks by name of truth, without ignored pixels."""
        if self._are_local not in (None, stack.raters_are_local):
            raise InputError(f"{name}: expected raters that are local on all images or on none, got a mixture")
        raters = {} if stack.raters_are_local else dict(zip(stack.raters, stack.masks, strict=True))
        estimated: dict[str, NDArray[np.bool_]] = {}
        if len(stack.raters) > 1:
            estimated = {method: self._estimate(stack, method, name) for method in self._methods}
            estimated |= {truth: agreeing >= share * len(stack.raters) - ROUNDING for truth, share in shares.items()}
        added = {
            truth: _of_size(as_binary(np.asarray(mask), truth), valid.shape, f"{name}, truth {truth!r}")
            for truth, mask in further.items()
        }
        computed = {*self._methods, *shares}
        all_raters = {*self._raters, *raters}
        added_before = {*self._counts} - {*self._raters, *computed}
        twice = (all_raters & {*computed, *added, *added_before}) | (computed & {*added})
        twice |= {*self._methods} & {*shares}
        if twice:
            raise InputError(f"{name}: expected truths of different names, got {listed(sorted(twice))} twice")
        return {truth: self._used(mask, valid) for truth, mask in {**raters, **estimated, **added}.items()}

    def _estimate(self, stack: MaskStack, method: MethodName, name: str) -> NDArray[np.bool_]:
        """Return the (H, W) truth of an image, estimated by one method."""
        if method == WITHOUT_OUTLIERS and self._outliers is None and self._estimated and not stack.raters_are_local:
            raise InputError(
                f"outliers: expected the names that `study_outliers` finds, because {method} excludes raters who are "
                f"outliers over all images, got none at {name}"
            )
        return estimate_truth(stack, method, None if stack.raters_are_local else self._outliers).mask

    def _used(self, mask: NDArray[np.bool_], valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a truth, thinned if requested, without ignored pixels."""
        return (thinned(mask) if self._thin else mask) & valid

    def _to_levels(self, scores: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.int32]:
        """Return the (H, W) level of each score, -1 for ignored pixels."""
        step = (self._levels - 1) / (self._high - self._low)
        levels = np.full(scores.shape, -1, np.int32)
        levels[valid] = np.rint((scores[valid] - self._low) * step)
        return levels

    def _counts_of(
        self, truths: dict[str, NDArray[np.bool_]], levels: list[NDArray[np.int32]], valid: NDArray[np.bool_]
    ) -> dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return the (S, L) positive and negative pixels of each truth by detector and level."""
        distance = tolerance_in_pixels(valid.shape, self._tolerance)
        nearby = [highest_near(of_detector, distance) for of_detector in levels]
        everywhere = self._by_level(levels, valid)
        return {
            truth: (self._by_level(nearby, mask), everywhere - self._by_level(levels, near(mask, distance) & valid))
            for truth, mask in truths.items()
        }

    def _by_level(self, levels: list[NDArray[np.int32]], where: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the (S, L) pixel counts of a region by detector and level."""
        chosen = np.flatnonzero(where)
        return np.stack([np.bincount(map_.ravel()[chosen], minlength=self._levels) for map_ in levels])

    def _correlate(
        self, scores: list[NDArray[np.float64]], agreeing: NDArray[np.float64], valid: NDArray[np.bool_]
    ) -> None:
        """Update the moments of each detector's scores and the share of raters, on marked and on all pixels."""
        for totals, where in ((self._marked, valid & (agreeing > 0)), (self._everywhere, valid)):
            share = agreeing[where]
            new = [Moments.of(share, map_[where]) for map_ in scores]
            totals[:] = [old.joined(other) for old, other in zip(totals or [Moments()] * len(new), new, strict=True)]

    @checked
    def result(self, skew: Skew = None) -> DetectorRanking:
        """Return curves, areas and ranks under every truth, over the images so far.

        Parameters
        ----------
        skew : (2,) float, optional
            Range of the fraction of positives over which precision is averaged; by default `skew_range` of the share
            of each image that each rater marked.

        Raises
        ------
        InputError
            Without an image or a truth, for a range that is not in order, or if no range is given and there is no
            positive.
        """
        if not self._images:
            raise InputError("images: expected at least one, got none")
        if not self._counts:
            raise InputError(
                "methods, shares: expected a reference, as raters that are local to an image cannot be one, got none"
            )
        fractions = [share for rater in self._raters for share in self._counts[rater].fractions]
        fractions += self._local_fractions
        ends = skew_range(fractions) if skew is None else (skew[0], skew[1])
        shown = [*self._raters, *(truth for truth in self._counts if truth not in self._raters)]
        rates = [
            np.stack([_rates(getattr(self._counts[truth], side)) for truth in shown])
            for side in ("positives", "negatives")
        ]
        drawn = [[self._drawn.get(truth, {}).get(at) for at in range(len(self._images))] for truth in shown]
        sizes = len(self._detectors), self._levels
        return DetectorRanking(
            truths=object_array(shown),
            detectors=object_array(self._detectors),
            raters=object_array(self._raters),
            bounding=object_array([method for method in self._methods if method in METHODS]),
            thresholds=np.linspace(self._high, self._low, self._levels),
            tpr=rates[0],
            fpr=rates[1],
            skew=np.array(ends),
            images=np.array([len(self._counts[truth].fractions) for truth in shown], np.intp),
            cco=tuple(correlation(name, sums) for name, sums in zip(self._detectors, self._marked, strict=True)),
            cci=tuple(correlation(name, sums) for name, sums in zip(self._detectors, self._everywhere, strict=True)),
            least_share=np.array([self._shares.get(truth, np.nan) for truth in shown]),
            raters_are_local=bool(self._are_local),
            outliers=None if self._outliers is None else tuple(self._outliers),
            image_ids=object_array(sorted(self._images, key=repr)),
            seed=self._seed,
            replicates=area_replicates(self._images, drawn, *sizes, ends, self._replicates, self._seed),
            no_intervals=self._no_intervals,
        )


def _share_of(part: NDArray[np.bool_], whole: NDArray[np.bool_]) -> float:
    """Return the share of pixels that lie in a part; 0 without pixels."""
    return float(part.sum() / max(whole.sum(), 1))


def _rates(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the (S, L) share of pixels at or above each level, from the highest down; NaN without pixels."""
    above = np.cumsum(counts[:, ::-1], axis=1)
    return divide(above, np.broadcast_to(above[:, -1:], above.shape))


def _of_size(array: NDArray[Any], size: tuple[int, ...], what: str) -> NDArray[Any]:
    if array.shape != size:
        raise InputError(f"{what}: expected the size of the masks {size}, got {array.shape}")
    return array
