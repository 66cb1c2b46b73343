"""Counts of pixels by truth and level of score, image by image, from which detectors are ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import as_floats, divide
from kalos_core.consensus import estimate_truth
from kalos_core.consensus.methods import WITHOUT_OUTLIERS, Methods
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

METHODS = ("any", "0.5", "0.75")
"""Truths by vote that bound the areas under single raters (Lampert et al. §V-B)."""

LEVELS = 1024
"""Levels that scores are rounded to: points of a curve."""


def check_shares(shares: Any, name: str) -> str | list[float]:
    """Thresholds of agreement, or "all" of them."""
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


Levels = Annotated[int, Option("Levels", "Equal steps that scores are rounded to.", low=2)]
ScoreRange = Annotated[
    Sequence[float], Option("Range of scores", "The least and the greatest there can be.", check=_check_range)
]
AgreedShares = Annotated[
    str | Sequence[float],
    Option(
        "Thresholds of agreement, as references",
        "What at least that share of the raters marked (Eq. 5; the paper's Figs 5 and 6). 'all' is 1/N, 2/N, ..., 1, "
        "and wants the same number N of raters on every image that has two or more.",
        type="'all' or sequence of float in (0, 1]",
        check=check_shares,
    ),
]


@dataclass
class TruthCounts:
    """Pixels of one truth by detector and level, over the images so far.

    Parameters
    ----------
    positives, negatives : (S, L) int64
        Pixels that are to be found, and that are not to be, by the level of their score, ascending.
    fractions : list of float
        Share of positives in each image.
    """

    positives: NDArray[np.int64]
    negatives: NDArray[np.int64]
    fractions: list[float] = field(default_factory=list)

    @classmethod
    def nothing(cls, shape: tuple[int, ...]) -> TruthCounts:
        """Of no image."""
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64))


class DetectorAccumulator:
    """Counts pixels of score maps under every truth, image by image.

    Nothing of an image but such counts is kept, for intervals, and these up to a limit (`docs/limits.md`): past it a
    `KalosWarning` says so, and there are no intervals. Without a bootstrap no more than their sums are kept.

    The truths are each rater's mask, estimates from all of them, the consensus of growing shares of them, and whatever
    masks the caller adds under other names. An image that a rater is not assigned to counts for nothing under that
    rater's truth; one with a single assigned rater, for nothing under an estimate. Raters without names
    (`MaskStack.raters_are_local`) are no truths themselves, since there is none of one rater over several images.

    For contours, with a tolerance: a pixel of the truth is found at the highest score within reach; a pixel that is
    within reach of the truth, and not on it, is neither positive nor negative.

    Parameters
    ----------
    levels : int
        Scores are rounded to so many equal steps of `score_range`; 256 with (0, 255) is exact for maps of bytes.
    score_range : (2,) float
        The least and the greatest score there can be.
    methods : sequence of names in `TRUTH_METHODS`
        How truth is estimated from the raters' masks.
    tolerance : float
        How far a contour may be off, as a share of the image's diagonal; 0 for regions, .0075 is the paper's.
    thin : bool
        Whether each truth is thinned to lines before it is used.
    shares : "all" or sequence of float in (0, 1]
        Thresholds of agreement, each a truth: what at least that share of the raters marked (Eq. 5; the paper's Figs 5
        and 6). "all" is 1/N, 2/N, ..., 1, and wants the same number N of raters on every image that has two or more.
    outliers : iterable of str, optional
        Names of the raters that the method ``"excl-0.5"`` leaves out, which it has to know beforehand where there is
        more than one image with two raters or more: `kalos_core.consensus.study_outliers` finds them.
    bootstrap : int
        Replicates of the areas and ranks over images, for intervals; 0 for none.
    seed : int

    Raises
    ------
    InputError
        For a range or tolerance that is none, an unknown method, a share that is none, or more replicates than may be
        drawn.

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
        self._levels, self._methods = levels, tuple(methods)
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
            The same detectors for every image.
        masks : `MaskStack`, or mapping of rater to (H, W) mask
            Of the raters assigned to this image; None for one who marked nothing.
        truths : mapping of name to (H, W) mask, optional
            Further truths, such as an estimate.
        ignore : (H, W) mask, optional
            Pixels that count for nothing; by default those of the stack.
        image : object, optional
            Name of the image in an error, and its place among those drawn; by default that of the stack, or its number.

        Raises
        ------
        InputError
            For other detectors than before, sizes that differ, a score that is missing, NaN or out of range, a mask
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
        """Keep the counts of the last image, to be drawn; drop those of all where they become too many."""
        self._drawn.setdefault(truth, {})[len(self._images) - 1] = counts
        self._kept += len(counts.place)
        most = limit("KALOS_MOST_KEPT")
        if self._kept > most:
            self._drawn, self._replicates = {}, 0
            self._no_intervals = (
                f"intervals are undefined: the counts of {len(self._images):,} images are more than {most:,}; "
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
        """Thresholds of agreement by name of the truth; "all" of them are those of the first image of two raters."""
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
        """Masks by name of truth, without the pixels to ignore."""
        if self._are_local not in (None, stack.raters_are_local):
            raise InputError(f"{name}: expected raters that are local on all images or on none, got a mixture")
        raters = {} if stack.raters_are_local else dict(zip(stack.raters, stack.masks, strict=True))
        estimated = {}
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

    def _estimate(self, stack: MaskStack, method: str, name: str) -> NDArray[np.bool_]:
        """(H, W) the truth of an image by one method."""
        if method == WITHOUT_OUTLIERS and self._outliers is None and self._estimated and not stack.raters_are_local:
            raise InputError(
                f"outliers: expected the names that `study_outliers` finds, since {method} leaves out the outliers of "
                f"all images and cannot decide image by image, got none at {name}"
            )
        return estimate_truth(stack, method, None if stack.raters_are_local else self._outliers).mask

    def _used(self, mask: NDArray[np.bool_], valid: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A truth as it is used: thinned if need be, and without the pixels to ignore."""
        return (thinned(mask) if self._thin else mask) & valid

    def _to_levels(self, scores: NDArray[np.float64], valid: NDArray[np.bool_]) -> NDArray[np.int32]:
        """(H, W) the level of each score, -1 where it is ignored."""
        step = (self._levels - 1) / (self._high - self._low)
        levels = np.full(scores.shape, -1, np.int32)
        levels[valid] = np.rint((scores[valid] - self._low) * step)
        return levels

    def _counts_of(
        self, truths: dict[str, NDArray[np.bool_]], levels: list[NDArray[np.int32]], valid: NDArray[np.bool_]
    ) -> dict[str, tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """(S, L) pixels of each truth, and pixels away from it, by detector and level."""
        distance = tolerance_in_pixels(valid.shape, self._tolerance)
        nearby = [highest_near(of_detector, distance) for of_detector in levels]
        everywhere = self._by_level(levels, valid)
        return {
            truth: (self._by_level(nearby, mask), everywhere - self._by_level(levels, near(mask, distance) & valid))
            for truth, mask in truths.items()
        }

    def _by_level(self, levels: list[NDArray[np.int32]], where: NDArray[np.bool_]) -> NDArray[np.intp]:
        """(S, L) pixels of a region by detector and level."""
        chosen = np.flatnonzero(where)
        return np.stack([np.bincount(map_.ravel()[chosen], minlength=self._levels) for map_ in levels])

    def _correlate(
        self, scores: list[NDArray[np.float64]], agreeing: NDArray[np.float64], valid: NDArray[np.bool_]
    ) -> None:
        """Add to the moments of each detector's output and the share of raters, on marked pixels and on all."""
        for totals, where in ((self._marked, valid & (agreeing > 0)), (self._everywhere, valid)):
            share = agreeing[where]
            new = [Moments.of(share, map_[where]) for map_ in scores]
            totals[:] = [old.joined(other) for old, other in zip(totals or [Moments()] * len(new), new, strict=True)]

    @checked
    def result(self, skew: Skew = None) -> DetectorRanking:
        """Curves, areas and ranks under every truth, of the images so far.

        Parameters
        ----------
        skew : (2,) float, optional
            Range of the fraction of positives over which precision is averaged; by default `skew_range` of the share
            that each rater marked of each image.

        Raises
        ------
        InputError
            Without an image or a truth, for a range that is not in order, or none given and no positive anywhere.
        """
        if not self._images:
            raise InputError("images: expected at least one, got none")
        if not self._counts:
            raise InputError("methods, shares: expected a truth, got none, as raters without names are no truths")
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
    """The share of some pixels that is in a part of them; 0 of none."""
    return float(part.sum() / max(whole.sum(), 1))


def _rates(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """(S, L) share of the pixels (S, L) at or above each level, from the highest down; NaN without any."""
    above = np.cumsum(counts[:, ::-1], axis=1)
    return divide(above, np.broadcast_to(above[:, -1:], above.shape))


def _of_size(array: NDArray[Any], size: tuple[int, ...], what: str) -> NDArray[Any]:
    if array.shape != size:
        raise InputError(f"{what}: expected the size of the masks {size}, got {array.shape}")
    return array
