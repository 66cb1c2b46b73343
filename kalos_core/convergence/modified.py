"""Modified mAP: mAP of one rater's annotations as detections, with another rater's as ground truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import AgreementSettings, agreement, check_comparable
from kalos_core.annotations import Annotations
from kalos_core.convergence.counting import Counted, Matches, Order, join_matches, match, orders_of
from kalos_core.convergence.crowds import crowd_overlaps
from kalos_core.convergence.matching import ALMOST_ONE
from kalos_core.display import number_of
from kalos_core.errors import InputError, repr_of
from kalos_core.options import Option, Seed, Settings, takes
from kalos_core.pairs import Pairs, pairs_from
from kalos_core.reliability import alpha_by_group, image_coincidences
from kalos_core.results import Result
from kalos_core.sharding import Sharded, kinds_of, known_of, parts_of, starts_of
from kalos_core.similarity import Similarity, get_similarity
from kalos_core.similarity.fitting import ComparedBy, measure_for, sent

if TYPE_CHECKING:
    import pandas as pd

THRESHOLDS = tuple(np.linspace(0.5, 0.95, 10).tolist())
"""COCO thresholds: .5 to .95 in steps of .05, with the floats of pycocotools.

Its .9 is one bit below .9, which decides ties.
"""


HitThresholds = Annotated[
    Sequence[float] | NDArray[np.float64],
    Option(
        "Thresholds τ_s",
        "Smallest similarities at which a detection hits; mAP is the mean over them.",
        above=0,
        high=1,
        required=True,
        type="(T,) floats in (0, 1]",
    ),
]
Ties = Annotated[
    Literal["coco", "shuffle", "joint"],
    Option(
        "Order of detections",
        "All detections have the same score; this decides which comes first.",
        choices={
            "coco": "by ascending image id, then by row, as in pycocotools",
            "shuffle": "the mean over random orders",
            "joint": "all enter at once, each matched to its most similar free annotation: one operating point, "
            "independent of order",
        },
    ),
]
Orders = Annotated[int, Option("Random orders", "Number of random orders to average over.", low=1)]

SIZES: dict[str, tuple[float, float]] = {
    "all": (0.0, float("inf")),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, float("inf")),
}
"""COCO sizes: smallest and largest area in square pixels."""


@dataclass(frozen=True)
class ModifiedMapSettings(Settings):
    """Settings of modified mAP."""

    similarity: ComparedBy = "auto"
    thresholds: HitThresholds = THRESHOLDS
    ties: Ties = "coco"
    _: KW_ONLY
    size: Annotated[
        Literal["all", "small", "medium", "large"],
        Option(
            "Size",
            "COCO size, by the area of the shapes compared; other annotations count neither for nor against.",
            known=SIZES,
            type="name in `SIZES`",
        ),
    ] = "all"
    orders: Orders = 10
    seed: Seed = 0


@dataclass(frozen=True)
class ModifiedMapArguments(ModifiedMapSettings):
    """Arguments of `modified_map`: its settings and precomputed pairs."""

    pairs: Pairs | None = field(default=None, kw_only=True)


@dataclass(frozen=True, eq=False, repr=False)
class ModifiedMap(Result):
    """The result of `modified_map`.

    Figures: ``"directions"``.

    Parameters
    ----------
    similarity_name : str
    thresholds : (T,) float64
        Smallest similarities at which a detection is a hit.
    ties : str
    size : str
    raters : (R,) object
    categories : (K,) object
    directions : (T, R, R) float64
        mAP with the row rater as ground truth and the column rater as detections, over the images that both are
        assigned to. NaN if there are none, or if the ground truth has no annotation.
    images : (R, R) int
        Number of images that both raters are assigned to.
    class_truth, class_found, class_category : (G,) int
        Ground-truth rater, detecting rater and class of each entry of `class_precision`.
    class_precision : (T, G) float64
        Average precision of each class.
    orders : (K,) float64
        With ``ties="shuffle"``, the mean over thresholds, directions and pairs for each random order. Their spread
        shows the effect of the order alone.

    Examples
    --------
    >>> from kalos_core import Annotations, modified_map
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("a", 10), ("b", 8)]]
    >>> result = modified_map(Annotations.from_rows(rows), thresholds=(0.75, 0.85))
    >>> result.per_threshold.tolist(), result.mean
    ([1.0, 0.0], 0.5)
    >>> print(result)
    mmAP(box_iou, ties=coco, size=all) = 0.500 over 1 image, thresholds 0.75 to 0.85
    """

    _call = "modified_map(annotations)"
    _shows_table = False

    similarity_name: str
    thresholds: NDArray[np.float64]
    ties: Ties
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
        """(T,) mean of both directions for two raters; for more, the matrix (T, R, R) of ordered pairs."""
        return mean_of_directions(self.directions) if len(self.raters) == 2 else self.directions

    @property
    def mean(self) -> float | NDArray[np.float64]:
        """Mean over the thresholds: one number for two raters; for more, the matrix (R, R)."""
        means = self.per_threshold.mean(axis=0)
        return float(means) if len(self.raters) == 2 else np.asarray(means)

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each ground-truth rater, detecting rater and threshold."""
        import pandas as pd

        threshold, truth, found = np.nonzero(np.isfinite(self.directions))
        return pd.DataFrame(
            {
                "ground_truth": self.raters[truth],
                "detections": self.raters[found],
                "threshold": self.thresholds[threshold],
                "map": self.directions[threshold, truth, found],
                "images": self.images[truth, found],
            }
        )

    def classes(self) -> pd.DataFrame:
        """Return one row for each class: its average precision, mean over thresholds and ordered pairs of raters."""
        import pandas as pd

        table = pd.DataFrame(
            {"category": self.categories[self.class_category], "ap": self.class_precision.mean(axis=0)}
        )
        return table.groupby("category", sort=False, as_index=False).mean()

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        about = f"mmAP({self.similarity_name}, ties={self.ties}, size={self.size})"
        if len(self.raters) == 2:
            return f"{about} = {self.mean:.3f} over {number_of(self.images[0, 1], 'image')}, thresholds {self.span}"
        each = np.asarray(self.mean)[~np.eye(len(self.raters), dtype=bool)]
        each = each[np.isfinite(each)]
        values = f" from {each.min():.3f} to {each.max():.3f}, mean {each.mean():.3f}," if len(each) else ""
        return f"{about}{values} over every ordered pair of {len(self.raters)} raters, thresholds {self.span}"

    @property
    def span(self) -> str:
        """Range of the thresholds as text, lowest to highest."""
        return f"{self.thresholds.min():g} to {self.thresholds.max():g}"


@takes(ModifiedMapArguments)
def modified_map(annotations: Annotations | Sharded[Annotations], settings: ModifiedMapArguments) -> ModifiedMap:
    """Compute modified mAP of every two raters, each as ground truth and as detections (label convergence §4.1).

    Follows the COCO protocol: 101 recall points, at most 1,000 detections per image and class, mean over the classes of
    the ground truth. An annotation counts if both raters are assigned to its class. All scores are 0.99, so the order
    of detections decides how precision falls with recall.

    Crowd regions (`Annotations.crowd_regions`) are ignored regions, as in pycocotools. A detection counts neither for
    nor against if it matches no ground-truth annotation and the share of its area in a crowd region of its class
    reaches the threshold. Crowd regions never count as detections.

    Parameters
    ----------
    annotations : Annotations, or shards of them
        With shards, the detections of all shards are held in memory, in one order. ``ties="shuffle"`` then draws the
        orders of one table whose rows are sorted by image, as in shards.
    pairs : Pairs, optional
        Precomputed pairs of these annotations, at the least threshold or lower; not supported for shards.

    Returns
    -------
    ModifiedMap

    Raises
    ------
    InputError
        If there are fewer than two raters, no two raters are assigned to a common image or class, there is no
        annotation to compare, a threshold is outside (0, 1], or a name is unknown.

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
    hits bob's only box: AP 1.

    >>> result = modified_map(annotations, thresholds=(0.5, 0.7, 0.75))
    >>> result.directions[:, 0, 1].round(3).tolist(), result.directions[:, 1, 0].tolist()
    ([0.505, 0.505, 0.0], [1.0, 1.0, 0.0])
    >>> result.per_threshold.round(3).tolist()
    [0.752, 0.752, 0.0]
    """
    known, measure = known_of(annotations, settings.pairs), measure_for(settings.similarity, kinds_of(annotations))
    usable_images(known)
    task = MatchTask(sent(measure), settings.thresholds, settings.ties, settings.size, settings.pairs)
    found, _ = count_in_orders(annotations, task, settings.orders, settings.seed, "Modified mAP")
    return map_of(found, known, measure.name, np.array(settings.thresholds), settings.ties, settings.size)


def map_of(
    found: Sequence[Counted],
    annotations: Annotations,
    similarity: str,
    checked: NDArray[np.float64],
    ties: Ties,
    size: str = "all",
) -> ModifiedMap:
    """Build a `ModifiedMap` from matches in one or several orders; reads only the assignment of `annotations`."""
    precisions = np.stack([counted.class_precision() for counted in found])
    groups = found[0]  # the same in every order
    assigned = annotations.assigned.astype(np.intp)
    directions = groups.by_direction(precisions, len(annotations.raters))
    if np.isnan(directions).all():
        raise InputError(
            f"annotations: expected annotations of size {repr_of(size)} on images of two raters, got none to compare"
        )
    return ModifiedMap(
        similarity_name=similarity,
        thresholds=checked,
        ties=ties,
        size=size,
        raters=annotations.raters,
        categories=annotations.categories,
        directions=directions.mean(axis=0),
        images=assigned.T @ assigned,
        class_truth=groups.truth,
        class_found=groups.found,
        class_category=groups.category,
        class_precision=precisions.mean(axis=0),
        orders=np.nanmean(directions, axis=(1, 2, 3)) if ties == "shuffle" else np.zeros(0),
    )


def usable_images(annotations: Annotations) -> NDArray[np.bool_]:
    """(I,) images on which two raters can be compared; raises `InputError` with the reason if there are none."""
    check_comparable(annotations)
    if (annotations.assigned.sum(axis=1) < 2).all():
        raise InputError("annotations: expected an image that two raters were assigned to, got none")
    if not annotations.comparable_images.any():
        raise InputError("annotations: expected two raters assigned to a common class, got no class in common")
    return annotations.comparable_images


@dataclass(frozen=True, eq=False)
class MatchTask:
    """Match one table in each order of detections, and compute image alphas if there are settings for them.

    Parameters
    ----------
    similarity : str or Similarity
    thresholds : (T,) floats
    ties, size : str
        See `modified_map`.
    pairs : Pairs, optional
        Precomputed pairs of the table.
    alpha : AgreementSettings, optional
        Settings of the image alphas.
    tell : callable
        Called as ``tell(index)`` before the alphas at each threshold.
    orders : tuple of Order
    """

    similarity: str | Similarity
    thresholds: Sequence[float] | NDArray[np.float64]
    ties: Ties
    size: str = "all"
    pairs: Pairs | None = None
    alpha: AgreementSettings | None = None
    tell: Callable[[int], None] | None = None
    orders: tuple[Order, ...] = ()

    def __call__(self, annotations: Annotations) -> tuple[list[Matches], NDArray[np.float64]]:
        """Return matches in each order, and (I, T) alphas; (I, 0) without settings for them."""
        measure, thresholds = get_similarity(self.similarity), np.array(self.thresholds)
        floor = min(float(thresholds.min()), ALMOST_ONE)
        same_class = self.alpha is None  # pairs of different classes have no effect
        pairs = pairs_from(annotations, measure, floor, self.pairs, same_class=same_class).at_least(floor)
        in_size = _in_size(annotations, measure, SIZES[self.size])
        crowds = crowd_overlaps(annotations.crowd_regions, annotations, pairs.name, pairs.kind, floor)
        found = [match(annotations, pairs, thresholds, self.ties, in_size, order, crowds) for order in self.orders]
        return found, self._alphas(annotations, measure, pairs)

    def _alphas(self, annotations: Annotations, measure: Similarity, pairs: Pairs) -> NDArray[np.float64]:
        """(I, T) alpha of each image at each threshold; 1 where raters left it empty, whatever they did elsewhere."""
        if self.alpha is None:
            return np.zeros((len(annotations.images), 0))
        columns = []
        for index, threshold in enumerate(self.thresholds):
            if self.tell is not None:
                self.tell(index)
            chosen = {**self.alpha.record(), "similarity": measure, "threshold": threshold}
            found = agreement(annotations, **chosen, pairs=pairs)
            columns.append(alpha_by_group(image_coincidences(annotations, found.units)[0]))
        return np.stack(columns, axis=1)


def count_in_orders(
    annotations: Annotations | Sharded[Annotations], task: MatchTask, orders: int, seed: int, label: str
) -> tuple[list[Counted], NDArray[np.float64]]:
    """Return matches in the orders of `ties` (several if random), and the alphas of all images."""
    known = known_of(annotations)
    starts = starts_of(annotations, len(known.images))
    rows = annotations.row_starts if isinstance(annotations, Sharded) else np.array([0, len(known)])
    every = orders_of(known, int(rows[-1]), task.ties, orders, seed)
    owns = [
        tuple(Order(order.images[images], order.annotations[own]) for order in every)
        for images, own in zip(map(slice, starts, starts[1:]), map(slice, rows, rows[1:]), strict=False)
    ]
    parts = parts_of(annotations, [replace(task, orders=own) for own in owns], label)
    sizes = len(known.images), len(known.raters), len(known.categories)
    counted = []
    for number in range(len(every)):
        matches = join_matches([found[number] for found, _ in parts], starts)
        counted.append(matches.counted(*sizes, joint=task.ties == "joint"))
    return counted, np.concatenate([alphas for _, alphas in parts])


def _in_size(annotations: Annotations, measure: Similarity, limits: tuple[float, float]) -> NDArray[np.bool_]:
    """(N,) whether the area of each annotation lies within limits, both included."""
    if limits == SIZES["all"] or not len(annotations):
        return np.ones(len(annotations), np.bool_)
    area = measure.column(annotations).area()
    return np.asarray((area >= limits[0]) & (area <= limits[1]))


def mean_of_directions(directions: NDArray[np.float64]) -> NDArray[np.float64]:
    """(..., R, R) -> (...) mean of all defined directions; NaN if there are none."""
    defined = np.isfinite(directions)
    times = defined.sum(axis=(-2, -1))
    return np.asarray(np.nansum(directions, axis=(-2, -1)) / np.where(times, times, np.nan))
