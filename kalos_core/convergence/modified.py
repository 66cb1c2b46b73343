"""Modified mAP: how well the marks of one rater would do as detections of another's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.agreement import check_comparable
from kalos_core.annotations import Annotations
from kalos_core.convergence.counting import Counted, count
from kalos_core.errors import InputError, check_whole, lookup
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.similarity import Rows, Similarity, check_threshold, get_similarity

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = tuple(round(0.5 + 0.05 * step, 2) for step in range(10))
"""COCO's: .5 to .95 in steps of .05."""

Ties = Literal["coco", "shuffle", "joint"]
"""Which of the detections, that all have the same score, comes first: see `modified_map`."""

SIZES: dict[str, tuple[float, float]] = {
    "all": (0.0, float("inf")),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, float("inf")),
}
"""COCO's sizes: least and greatest area in square pixels."""


@dataclass(frozen=True, eq=False)
class ModifiedMap:
    """The result of `modified_map`.

    Parameters
    ----------
    similarity_name : str
    thresholds : (T,) float64
        Least similarities at which a detection hits.
    ties : str
    size : str
    raters : (R,) object
    categories : (K,) object
    directions : (T, R, R) float64
        mAP with the rater of the line as ground truth and the rater of the column as detections; NaN where they share
        no image or the ground truth has no mark.
    images : (R, R) int
        Images both were assigned to.
    class_truth, class_found, class_category : (G,) int
        Ground-truth rater, detecting rater and class of each entry of `class_precision`.
    class_precision : (T, G) float64
        Average precision of a class.
    orders : (K,) float64
        With ``ties="shuffle"``, the mean over thresholds, directions and pairs of each random order: their spread is
        what the order alone decides.
    """

    similarity_name: str
    thresholds: NDArray[np.float64]
    ties: str
    size: str
    raters: NDArray[np.object_]
    categories: NDArray[np.object_]
    directions: NDArray[np.float64]
    images: NDArray[np.intp]
    class_truth: NDArray[np.intp]
    class_found: NDArray[np.intp]
    class_category: NDArray[np.intp]
    class_precision: NDArray[np.float64]
    orders: NDArray[np.float64]

    @property
    def per_threshold(self) -> NDArray[np.float64]:
        """(T,) mean of both directions for two raters; for more, the matrix (T, R, R) of every ordered pair."""
        return both_directions(self.directions) if len(self.raters) == 2 else self.directions

    @property
    def mean(self) -> float | NDArray[np.float64]:
        """Mean over the thresholds: one number for two raters; for more, the matrix (R, R)."""
        means = self.per_threshold.mean(axis=0)
        return float(means) if len(self.raters) == 2 else np.asarray(means)

    def to_pandas(self) -> pd.DataFrame:
        """One row for each ground-truth rater, detecting rater and threshold."""
        import pandas as pd

        level, truth, found = np.nonzero(np.isfinite(self.directions))
        return pd.DataFrame(
            {
                "ground_truth": self.raters[truth],
                "detections": self.raters[found],
                "threshold": self.thresholds[level],
                "map": self.directions[level, truth, found],
                "images": self.images[truth, found],
            }
        )

    def classes(self) -> pd.DataFrame:
        """One row a class: its average precision, mean over thresholds and ordered pairs of raters."""
        import pandas as pd

        table = pd.DataFrame({"category": self.categories[self.class_category], "ap": self.class_precision.mean(axis=0)})
        return table.groupby("category", sort=False, as_index=False).mean()

    def __str__(self) -> str:
        about = f"mmAP({self.similarity_name}, ties={self.ties}, size={self.size})"
        if len(self.raters) == 2:
            return f"{about} = {self.mean:.3f} over {self.images[0, 1]:,} images, thresholds {self._span}"
        return f"{about}: {len(self.raters)} raters, every ordered pair, thresholds {self._span}"

    @property
    def _span(self) -> str:
        return f"{self.thresholds.min():g} to {self.thresholds.max():g}"


def modified_map(
    annotations: Annotations,
    similarity: str | Similarity | Rows = "box_iou",
    thresholds: Sequence[float] = THRESHOLDS,
    ties: Ties = "coco",
    *,
    size: str = "all",
    orders: int = 10,
    seed: int = 0,
    pairs: Pairs | None = None,
) -> ModifiedMap:
    """Modified mAP of every two raters, each as ground truth and as detections (label convergence §4.1).

    The protocol of COCO: 101 recall points, at most 1,000 detections of an image and class, mean over the classes of
    the ground truth. All scores are 0.99, so the order of detections decides how precision falls with recall.

    Parameters
    ----------
    annotations : Annotations
    similarity : name in `SIMILARITIES`, a `Similarity`, or a function ``function(annotations, left, right)``
    thresholds : sequence of float in (0, 1]
    ties : "coco", "shuffle" or "joint"
        ``"coco"``: by ascending image id, then by row, as pycocotools walks. ``"shuffle"``: the mean over `orders`
        random orders. ``"joint"``: all detections enter at once, one operating point; depends on no order.
    size : name in `SIZES`
        COCO's sizes, by the area of the shapes compared; other marks count neither for nor against.
    orders, seed : int
        Only with ``ties="shuffle"``.
    pairs : Pairs, optional
        Pairs already computed from the least threshold or lower, of these annotations.

    Returns
    -------
    ModifiedMap

    Raises
    ------
    InputError
        For fewer than two raters, raters of whom no two share an image, no class with a ground truth, a threshold
        outside (0, 1], or an unknown name.

    Examples
    --------
    >>> cat = {"image": 1, "category": "cat"}
    >>> annotations = Annotations.from_rows(
    ...     [
    ...         {**cat, "rater": "ann", "box": [0, 0, 10, 10]},
    ...         {**cat, "rater": "ann", "box": [50, 0, 10, 10]},
    ...         {**cat, "rater": "bob", "box": [0, 0, 10, 7]},
    ...     ]
    ... )

    At .5 and .7, bob's one box hits one of ann's two: precision 1 up to recall 1/2, 51 of 101 points. Ann's first box
    hits bob's only one: AP 1.

    >>> result = modified_map(annotations, thresholds=(0.5, 0.7, 0.75))
    >>> result.directions[:, 0, 1].round(3).tolist(), result.directions[:, 1, 0].tolist()
    ([0.505, 0.505, 0.0], [1.0, 1.0, 0.0])
    >>> result.per_threshold.round(3).tolist()
    [0.752, 0.752, 0.0]
    """
    measure = get_similarity(similarity)
    levels = check_thresholds(thresholds)
    orders, seed = check_whole(orders, "orders", least=1), check_whole(seed, "seed")
    if ties not in ("coco", "shuffle", "joint"):
        raise InputError(f"ties: expected 'coco', 'shuffle' or 'joint', got {ties!r}")
    limits = lookup(SIZES, size, "size")
    check_comparable(annotations)
    shared = annotations.asked.T.astype(np.intp) @ annotations.asked.astype(np.intp)
    if not np.triu(shared, 1).any():
        raise InputError("annotations: expected two raters assigned to one image, got none")
    pairs = comparable_pairs(annotations, measure, float(levels.min()), pairs)
    area = measure.column(annotations).area() if len(annotations) else np.zeros(0)
    in_size = (area >= limits[0]) & (area <= limits[1])
    rng = np.random.default_rng(seed)
    found: list[Counted] = [
        count(annotations, pairs, levels, ties, in_size, rng) for _ in range(orders if ties == "shuffle" else 1)
    ]
    precisions = np.stack([counted.precision()[0] for counted in found])
    groups = found[0]
    directions = np.stack([groups.by_direction(precision, len(annotations.raters)) for precision in precisions])
    if np.isnan(directions).all():
        raise InputError("annotations: expected marks of a rater in an image of another, got none to compare")
    return ModifiedMap(
        similarity_name=measure.name,
        thresholds=levels,
        ties=ties,
        size=size,
        raters=annotations.raters,
        categories=annotations.categories,
        directions=directions.mean(axis=0),
        images=shared,
        class_truth=groups.truth,
        class_found=groups.found,
        class_category=groups.category,
        class_precision=precisions.mean(axis=0),
        orders=np.nanmean(directions, axis=(1, 2, 3)) if ties == "shuffle" else np.zeros(0),
    )


def comparable_pairs(annotations: Annotations, measure: Similarity, floor: float, pairs: Pairs | None) -> Pairs:
    """The pairs from `floor` upwards, computed unless given."""
    if pairs is None:
        return compute_pairs(annotations, measure, floor)
    if pairs.name != measure.name:
        raise InputError(f"pairs: expected pairs of {measure.name!r}, got {pairs.name!r}")
    return pairs.at_least(floor)


def check_thresholds(thresholds: Sequence[float]) -> NDArray[np.float64]:
    """(T,) thresholds above 0, at least one."""
    levels = np.array([check_threshold(value, "thresholds") for value in np.atleast_1d(thresholds)])
    if not len(levels) or (levels == 0).any():
        raise InputError(f"thresholds: expected similarities above 0, at least one, got {list(thresholds)!r}")
    return levels


def both_directions(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., 2, 2) -> (...) mean of the two directions, of the one that is defined, or NaN."""
    pair = np.stack([directions[..., 0, 1], directions[..., 1, 0]])
    defined = np.isfinite(pair).sum(axis=0)
    return np.asarray(np.nansum(pair, axis=0) / np.where(defined, defined, np.nan))
