"""The Berkeley evaluation of boundaries: thinned, matched one to one within a tolerance, best F over thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import as_floats, divide
from kalos_core.display import number_of
from kalos_core.errors import InputError, as_number, check_iterable, listed, lookup, repr_of
from kalos_core.options import checked
from kalos_core.pixels.contours import TOLERANCE, DiagonalShare, near, thinned, tolerance_in_pixels
from kalos_core.pixels.stack import Masks3D, MaskStack, as_stack
from kalos_core.ranking.ranks import Rankings
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = 99
"""The benchmark's number of thresholds: 1/100, ..., 99/100."""

MEASURE = "best F1 of boundaries"

BATCH = 1000
"""Number of points assigned at a time, as the time of one assignment grows faster than linearly."""

Matching = Literal["one_to_one", "near"]
MATCHINGS: tuple[Matching, ...] = get_args(Matching)
"""Methods that match pixels, see `boundary_evaluation`."""


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryEvaluation(Result):
    """The result of `boundary_evaluation`. S detectors, I images, L thresholds.

    Figures: ``"detectors"``.

    Parameters
    ----------
    detectors, images : (S,), (I,) object
    thresholds : (L,) float64
        Ascending; a pixel is marked if its score is at least the threshold.
    found, matched_found : (S, I, L) int64
        Pixels of the detector's boundary, and those matched to a boundary of any rater.
    true : (I,) int64
        Pixels of the raters' boundaries, summed over raters.
    matched_true : (S, I, L) int64
        Pixels of the raters' boundaries that are matched to the detector's boundary, summed over raters.
    tolerance : float
        Share of the images' diagonal.
    matching : str

    Examples
    --------
    >>> scores = np.zeros((30, 40))
    >>> scores[10], scores[20] = 0.8, 0.3
    >>> line = scores > 0.5
    >>> found = boundary_evaluation([({"edge": scores}, {"ann": line})], thresholds=[0.2, 0.5])
    >>> found.precision.tolist(), found.recall.tolist(), found.ods.tolist(), found.ods_threshold.tolist()
    ([[0.5, 1.0]], [[1.0, 1.0]], [1.0], [0.5])
    """

    _call = "boundary_evaluation(detectors, references)"
    _shows_table = False

    detectors: NDArray[np.object_]
    images: NDArray[np.object_]
    thresholds: NDArray[np.float64]
    found: NDArray[np.int64]
    matched_found: NDArray[np.int64]
    true: NDArray[np.int64]
    matched_true: NDArray[np.int64]
    tolerance: float
    matching: str

    @property
    def precision(self) -> NDArray[np.float64]:
        """(S, L) share of the detector's pixels on all images that are matched; NaN where nothing is found."""
        return divide(self.matched_found.sum(axis=1), self.found.sum(axis=1))

    @property
    def recall(self) -> NDArray[np.float64]:
        """(S, L) share of the raters' pixels on all images that are matched; NaN where no rater marked any."""
        return divide(self.matched_true.sum(axis=1), np.broadcast_to(self.true.sum(), self.matched_true[:, 0].shape))

    @property
    def f1(self) -> NDArray[np.float64]:
        """(S, L) harmonic mean of precision and recall.

        0 where nothing is matched; NaN where neither detector nor raters marked a pixel.
        """
        return _f1(
            self.matched_found.sum(axis=1), self.found.sum(axis=1), self.matched_true.sum(axis=1), self.true.sum()
        )

    @cached_property
    def image_f1(self) -> NDArray[np.float64]:
        """(S, I, L) F1 of each image."""
        return _f1(self.matched_found, self.found, self.matched_true, self.true[:, None])

    @property
    def ods(self) -> NDArray[np.float64]:
        """(S,) best F1 at one threshold for all images (optimal data set scale); NaN where undefined.

        The benchmark also interpolates precision and recall linearly between two thresholds: with its 99 thresholds,
        that adds some thousandths at most.
        """
        return _best(self.f1)[0]

    @property
    def ods_threshold(self) -> NDArray[np.float64]:
        """(S,) threshold of the best F1 in `ods`, the highest if there are several; NaN where undefined."""
        best, index = _best(self.f1)
        return np.where(np.isnan(best), np.nan, self.thresholds[index])

    @property
    def ois(self) -> NDArray[np.float64]:
        """(S,) F1 of the summed counts of all images, each at its own best threshold (optimal image scale).

        If several thresholds of an image are equally good, the highest is used; the benchmark uses the lowest.
        """
        _, index = _best(self.image_f1)
        matched_found, found, matched_true = (
            np.take_along_axis(each, index[..., None], axis=2)[..., 0].sum(axis=1)
            for each in (self.matched_found, self.found, self.matched_true)
        )
        return _f1(matched_found, found, matched_true, self.true.sum())

    @property
    def image_best(self) -> NDArray[np.float64]:
        """(S, I) F1 of each image at its own best threshold; NaN where undefined."""
        return _best(self.image_f1)[0]

    @property
    def image_threshold(self) -> NDArray[np.float64]:
        """(S, I) best threshold of each image, the highest if there are several; NaN where undefined."""
        best, index = _best(self.image_f1)
        return np.where(np.isnan(best), np.nan, self.thresholds[index])

    @property
    def ranking(self) -> Rankings:
        """Detectors ranked by ODS and by OIS; the ranking by ODS is that of the Berkeley framework in Table IVa."""
        return Rankings(MEASURE, object_array(["ODS", "OIS"]), self.detectors, np.stack([self.ods, self.ois]))

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per detector and threshold."""
        axes = {"detector": self.detectors, "threshold": self.thresholds}
        return crossed(axes, precision=self.precision, recall=self.recall, f1=self.f1)

    def by_detector(self) -> pd.DataFrame:
        """Return one row per detector: ODS with its threshold, precision and recall, and OIS."""
        import pandas as pd

        row, best = np.arange(len(self.detectors)), _best(self.f1)[1]
        return pd.DataFrame(
            {
                "detector": self.detectors,
                "ods": self.ods,
                "threshold": self.ods_threshold,
                "precision": self.precision[row, best],
                "recall": self.recall[row, best],
                "ois": self.ois,
            }
        )

    @property
    def headline(self) -> str:
        """One-line summary of the result."""
        shown = zip(self.detectors, self.ods, self.ois, strict=True)
        scores = listed((f"{name} ODS {ods:.3f}, OIS {ois:.3f}" for name, ods, ois in shown), 10)
        return (
            f"BoundaryEvaluation({number_of(len(self.images), 'image')}, "
            f"{number_of(len(self.thresholds), 'threshold')}: {scores})"
        )


@checked
def boundary_evaluation(
    images: Iterable[tuple[Mapping[str, ArrayLike], Masks3D]],
    thresholds: int | Sequence[float] = THRESHOLDS,
    tolerance: DiagonalShare = TOLERANCE,
    thin: bool = True,
    matching: Matching = "one_to_one",
) -> BoundaryEvaluation:
    """Evaluate boundary detectors by the best F1 over thresholds, as in the Berkeley benchmark.

    Lampert et al. use the benchmark in §IV-D and Table IVa; it is due to Martin, Fowlkes & Malik (2004) and Arbelaez et
    al. (2011). At each threshold, the marked pixels are thinned to lines and matched to the boundary of each rater in
    turn, one to one and within the tolerance. The matching has the maximum number of pixels and, among those, the
    minimum sum of distances. Recall is the share of all raters' pixels that are matched; precision is the share of the
    detector's pixels that are matched to any rater. Raters need no names, as it does not matter who drew a boundary.

    If several matchings have the same sum, it is arbitrary which pixels of the detector remain unmatched, as in the
    benchmark. With several raters, precision may therefore differ by a few pixels from other implementations. With five
    raters, a threshold takes about a sixth of a second on an image of 481 x 321 pixels.

    Parameters
    ----------
    images : iterable of (scores, masks)
        One pair per image, read one at a time. Scores map each detector to (H, W) float, the same detectors on every
        image. Masks are the raters' boundaries, as in `MaskStack.of`; its `ignore` applies to both.
    thresholds : int or sequence of float
        Number of equally spaced thresholds between 0 and 1, as in the benchmark; scores must then be in [0, 1]. Or the
        thresholds themselves.
    tolerance : float
        Maximum distance of matched pixels, from centre to centre, as a share of the image's diagonal.
    thin : bool
        Whether boundaries of detectors and raters are thinned to lines one pixel wide, see `kalos_core.pixels.thinned`.
    matching : "one_to_one" or "near"
        "near" counts a pixel as matched if any pixel of the other boundary lies within the tolerance, as
        `kalos_core.pixels.match_contours` does. It never matches fewer pixels, and is ten times as fast.

    Returns
    -------
    BoundaryEvaluation

    Raises
    ------
    InputError
        Without an image, for different detectors than before, different sizes, a score that is missing, NaN or not in
        [0, 1] if thresholds are a number, or an unknown matching. The message names the image.

    Examples
    --------
    A line that is found two pixels too low, and a shorter line that is a false alarm:

    >>> truth, scores = np.zeros((300, 400), bool), np.zeros((300, 400))
    >>> truth[100, 50:350] = True
    >>> scores[102, 50:350], scores[200, 50:150] = 0.6, 0.6
    >>> boundary_evaluation([({"edge": scores}, {"ann": truth})])
    BoundaryEvaluation(1 image, 99 thresholds: edge ODS 0.857, OIS 0.857)
    """
    lookup(dict.fromkeys(MATCHINGS), matching, "matching")
    levels = _check_thresholds(thresholds)
    detectors: list[str] = []
    names: list[Any] = []
    rows: list[list[NDArray[np.int64]]] = []
    totals: list[int] = []
    for number, pair in enumerate(check_iterable(images, "images", "pairs of scores and masks"), start=1):
        try:
            scores, masks = pair
        except (TypeError, ValueError):
            raise InputError(f"image {number}: expected a pair of scores and masks, got {repr_of(pair)}") from None
        stack = masks if isinstance(masks, MaskStack) else as_stack(masks, least=1)
        name = f"image {number if stack.image is None else stack.image}"
        if not scores or (detectors and set(scores) != set(detectors)):
            expected = listed(detectors, 20) or "at least one"
            raise InputError(f"{name}: expected score maps of detectors {expected}, got {listed(scores, 20) or 'none'}")
        detectors = detectors or list(scores)
        valid = np.ones(stack.masks.shape[1:], np.bool_) if stack.ignore is None else ~stack.ignore
        maps = [_check_map(scores[each], valid, f"{name}, scores of {each!r}", thresholds) for each in detectors]
        truths = [(thinned(mask) if thin else mask) & valid for mask in stack.masks]
        match = _Matching(truths, tolerance_in_pixels(valid.shape, tolerance), matching)
        rows.append([_counts(map_, levels, valid, thin, match) for map_ in maps])
        totals.append(sum(int(truth.sum()) for truth in truths))
        names.append(number - 1 if stack.image is None else stack.image)
    if not rows:
        raise InputError("images: expected at least one, got none")
    counts = np.array(rows).transpose(2, 1, 0, 3)  # what, detector, image, threshold
    return BoundaryEvaluation(
        detectors=object_array(detectors),
        images=object_array(names),
        thresholds=levels,
        found=counts[0],
        matched_found=counts[1],
        true=np.array(totals, np.int64),
        matched_true=counts[2],
        tolerance=float(tolerance),
        matching=matching,
    )


def _check_thresholds(thresholds: int | Sequence[float]) -> NDArray[np.float64]:
    steps = as_number(thresholds)
    if steps is not None:
        if not (steps.is_integer() and steps > 0):
            raise InputError(
                f"thresholds: expected a number of at least 1, or the thresholds, got {repr_of(thresholds)}"
            )
        return np.arange(1, int(steps) + 1) / (int(steps) + 1)
    given = as_floats(thresholds, "thresholds")
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all() or (np.diff(given) <= 0).any():
        raise InputError(f"thresholds: expected finite numbers, ascending, got {repr_of(thresholds)}")
    return given


def _check_map(
    scores: ArrayLike, valid: NDArray[np.bool_], called: str, thresholds: int | Sequence[float]
) -> NDArray[np.float64]:
    map_ = as_floats(scores, called)
    if map_.shape != valid.shape:
        raise InputError(f"{called}: expected the size of the masks {valid.shape}, got {map_.shape}")
    within = map_[valid]
    bad = ~np.isfinite(within)
    if as_number(thresholds) is not None:
        bad |= ~((within >= 0) & (within <= 1))
    if bad.any():
        expected = "numbers from 0 to 1" if as_number(thresholds) is not None else "finite numbers"
        raise InputError(
            f"{called}: expected {expected}, got {bad.sum():,} others, such as {listed(np.unique(within[bad]), 3)}"
        )
    return map_


def _counts(
    scores: NDArray[np.float64],
    thresholds: NDArray[np.float64],
    valid: NDArray[np.bool_],
    thin: bool,
    match: _Matching,
) -> NDArray[np.int64]:
    """Return (3, L) found, matched found and matched true pixels; equal masks are matched once."""
    counts = np.zeros((3, len(thresholds)), np.int64)
    above = np.searchsorted(thresholds, scores[valid], side="right")  # number of thresholds that a pixel reaches
    changes = np.bincount(above, minlength=len(thresholds) + 1)[1:] > 0
    for index in range(len(thresholds) - 1, -1, -1):
        if index + 1 < len(thresholds) and not changes[index]:
            counts[:, index] = counts[:, index + 1]
            continue
        marked = (scores >= thresholds[index]) & valid
        boundary = thinned(marked) if thin else marked
        counts[:, index] = (int(boundary.sum()), *match(boundary))
    return counts


class _Matching:
    """Matches a detector's boundary to those of all raters of an image."""

    def __init__(self, truths: Sequence[NDArray[np.bool_]], distance: float, matching: str) -> None:
        self._truths, self._distance, self._near = truths, distance, matching == "near"
        if self._near:
            self._reach = [near(truth, distance) for truth in truths]
        else:
            self._points = [np.argwhere(truth) for truth in truths if truth.any()]

    def __call__(self, found: NDArray[np.bool_]) -> tuple[int, int]:
        """Return the numbers of detector pixels matched to any rater, and of all raters' pixels matched."""
        if not found.any():
            return 0, 0
        if self._near:
            nearby = near(found, self._distance)
            matched = found & np.logical_or.reduce(self._reach)
            return int(matched.sum()), sum(int((truth & nearby).sum()) for truth in self._truths)
        own = np.argwhere(found)
        of_raters = [assigned(own, points, self._distance) for points in self._points]
        return int(np.logical_or.reduce([np.zeros(len(own), np.bool_), *of_raters]).sum()), int(
            sum(map(np.sum, of_raters))
        )


def assigned(own: NDArray[np.intp], theirs: NDArray[np.intp], distance: float, batch: int = BATCH) -> NDArray[np.bool_]:
    """Assign as many points as possible one to one to other points within a distance; return the (N,) assigned mask.

    Among all such assignments, the sum of distances is minimal. Points connected by steps of at most that distance are
    assigned together, in batches, which is far faster than all at once.

    Parameters
    ----------
    own, theirs : (N, 2), (M, 2) int
    distance : float
    batch : int
        Number of own points assigned at a time, or more if more are connected.

    Examples
    --------
    Both points reach only the first of the other points; the nearer one is assigned to it:

    >>> assigned(np.array([[0, 0], [0, 1]]), np.array([[0, 2], [9, 9]]), 2)
    array([False,  True])
    """
    from scipy.sparse import csr_array  # slow to import, and needed here only
    from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching
    from scipy.spatial import cKDTree

    found = np.zeros(len(own), np.bool_)
    pairs = cKDTree(own).sparse_distance_matrix(cKDTree(theirs), distance, output_type="ndarray")
    if not len(pairs):
        return found
    rows, columns, cost = pairs["i"], pairs["j"] + len(own), pairs["v"] + 1  # a cost of 0 would be no edge
    size = len(own) + len(theirs)
    count, component = connected_components(csr_array((cost, (rows, columns)), shape=(size, size)), directed=False)
    order = np.argsort(component, kind="stable")  # own points of a component, then the other points
    begins = np.searchsorted(component[order], np.arange(count + 1))
    points = np.cumsum(np.bincount(component[: len(own)], minlength=count))
    position = np.empty(size, np.intp)
    position[order] = np.arange(size)
    table = csr_array((cost, (position[rows], position[columns])), shape=(size, size))
    alone = size * (distance + 2)  # exceeds the cost of any assignment, so that no pair is dropped for shorter ones
    first = 0
    while first < count:
        reached = points[first - 1] if first else 0
        last = max(int(np.searchsorted(points, reached + batch, side="right")), first + 1)
        span = slice(begins[first], begins[last])
        part = table[span, span].tocoo()
        if part.nnz:
            mine = order[span] < len(own)
            row, column = (np.cumsum(side) - 1 for side in (mine, ~mine))
            height, width = int(mine.sum()), int((~mine).sum())
            each = np.arange(height)
            ends = np.concatenate([row[part.row], each]), np.concatenate([column[part.col], width + each])
            places = tuple(end.astype(np.int32) for end in ends)  # SciPy 1.13 requires int32 indices
            costs = np.concatenate([part.data, np.full(height, alone)])
            matrix = csr_array((costs, places), shape=(height, width + height))
            at, given = min_weight_full_bipartite_matching(matrix)
            found[order[span][mine][at]] = given < width
        first = last
    return found


def _f1(
    matched_found: NDArray[np.int64], found: NDArray[np.int64], matched_true: NDArray[np.int64], true: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return F1 from counts; 0 without a match, NaN without a pixel on either side."""
    precision, recall = divide(matched_found, found), divide(matched_true, np.broadcast_to(true, found.shape))
    product = np.nan_to_num(precision) * np.nan_to_num(recall)
    together = np.nan_to_num(precision) + np.nan_to_num(recall)
    mean = np.divide(2 * product, together, out=np.zeros(product.shape), where=together > 0)
    return np.where((found == 0) & (true == 0), np.nan, mean)


def _best(f1: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the maximum over the last axis, NaN where undefined, and the index of its last occurrence."""
    known = np.where(np.isnan(f1), -1.0, f1)
    best = known.max(axis=-1)
    index = f1.shape[-1] - 1 - np.argmax(known[..., ::-1], axis=-1)
    return np.where(best < 0, np.nan, best), index
