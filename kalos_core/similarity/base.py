"""Definition of a similarity: a name, the shape kind it compares, and a function of rows of two columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, lookup, repr_of
from kalos_core.options import Option, checked
from kalos_core.shapes import ShapeColumn

Compare = Callable[[Any, NDArray[np.intp], Any, NDArray[np.intp], float], NDArray[np.float64]]
"""``compare(left, left_rows, right, right_rows, floor)`` -> (P,) similarities in [0, 1]."""

Bound = Callable[[Any, NDArray[np.intp], Any, NDArray[np.intp]], NDArray[np.float64]]
"""``bound(left, left_rows, right, right_rows)`` -> (P,) quick upper bounds on the similarity."""

Rows = Callable[[Annotations, NDArray[np.intp], NDArray[np.intp]], Any]
"""A user-defined function: ``function(annotations, left, right)`` -> (P,) similarities of rows `left` and `right`."""

ROUNDING = 1e-9
"""Tolerance far above rounding errors. In upper bounds it is relative, so that they never drop a pair at the floor. In
the range check of user-defined similarities it is absolute."""


@dataclass(frozen=True)
class Similarity:
    """A named similarity of annotations of one shape kind.

    Parameters
    ----------
    name : str
    kind : str
        Key of `Annotations.shapes`; "" for the most exact shape that every annotation has.
    label : str
        Human-readable name of the measure.
    compare : callable
        ``compare(left, left_rows, right, right_rows, floor)`` -> (P,) similarities in [0, 1] of P rows of two columns.
        Symmetric to the last bit, so that no result depends on the order of raters. It may return 0 for a pair that
        is certain to stay below `floor`: this makes exact polygons affordable.
    additive : bool
        Whether the overlap of a union of shapes is at most the sum of the overlaps of its parts, as for IoU. If so,
        merges can be ruled out early.
    merges : bool
        Whether several annotations can be merged into one that is compared again. Poses cannot.
    bound : callable, optional
        ``bound(left, left_rows, right, right_rows)`` -> (P,) quick upper bounds. With them, a search for the best
        partner of an annotation skips most pairs.
    prepare : callable, optional
        ``prepare(annotations, column)`` -> the column passed to `compare`, if it needs more than the shapes, such as
        image sizes. The column must have those methods of a shape column that are called: `union` if annotations can
        be merged.
    help : str
        How the measure is computed, for the choices in forms.

    Examples
    --------
    A user-defined similarity: the ratio of the heights of two boxes, at any distance.

    >>> def same_height(left, left_rows, right, right_rows, floor):
    ...     a, b = left.xywh()[left_rows, 3], right.xywh()[right_rows, 3]
    ...     return np.minimum(a, b) / np.maximum(a, b)
    >>> height = Similarity("height", "box", "ratio of heights", same_height)
    >>> cat = {"image": 1, "category": "cat"}
    >>> annotations = Annotations.from_rows(
    ...     [{**cat, "rater": "ann", "box": [0, 0, 9, 10]}, {**cat, "rater": "bob", "box": [70, 0, 9, 8]}]
    ... )
    >>> boxes = height.column(annotations)
    >>> height.values(boxes, np.array([0]), boxes, np.array([1])).tolist()
    [0.8]
    """

    name: str
    kind: str
    label: str
    compare: Compare
    additive: bool = False
    merges: bool = True
    bound: Bound | None = None
    prepare: Callable[[Annotations, Any], Any] | None = None
    help: str = ""

    def __post_init__(self) -> None:
        for name in ("name", "kind", "label", "help"):
            if not isinstance(getattr(self, name), str):
                raise InputError(f"{name}: expected a text, got {repr_of(getattr(self, name))}")
        for name in ("compare", "bound", "prepare"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                raise InputError(f"{name}: expected a function, got {repr_of(getattr(self, name))}")

    @classmethod
    def of_function(cls, function: Rows) -> Similarity:
        """Return a similarity named after a function ``function(annotations, left, right)`` -> (P,)."""
        name = getattr(function, "__name__", type(function).__name__)

        def compare(
            left: Annotations,
            left_rows: NDArray[np.intp],
            right: Annotations,  # noqa: ARG001 - the same table as `left`: annotations are not merged
            right_rows: NDArray[np.intp],
            floor: float,  # noqa: ARG001 - part of the `Compare` signature
        ) -> NDArray[np.float64]:
            answer: NDArray[np.float64] = function(left, left_rows, right_rows)
            return answer

        return cls(name, "", name, compare, merges=False, prepare=lambda annotations, _: annotations)

    @checked
    def kind_in(self, annotations: Annotations) -> str:
        """Return the shape kind that is compared in these annotations."""
        if self.kind:
            return self.kind
        whole = [kind for kind, column in annotations.shapes.items() if not column.absent().any()]
        if not whole:
            raise InputError(f"{self.name}: expected a kind of shape that every annotation has, got none")
        return min(whole, key=EXACTNESS.index)

    @checked
    def column(self, annotations: Annotations) -> Any:
        """Return the column to compare; the error lists the annotations that lack such a shape."""
        kind = self.kind_in(annotations)
        column = annotations.shapes.get(kind)
        if column is None:
            raise InputError(
                f"similarity: {self.name} compares shapes of kind {kind!r}: expected annotations with one, got "
                f"{_named(annotations.shapes)}"
            )
        absent = lacking(annotations, kind) if self.kind else column.absent()
        if absent.any():
            ids = annotations.id[absent]
            both = kind == "box" and "keypoints" in annotations.shapes
            points = " To compare points with boxes, use similarity='centroid'." if both else ""
            raise InputError(
                f"similarity: {self.name} compares shapes of kind {kind!r}: expected annotations with one, got "
                f"{len(ids):,} of {len(annotations):,} annotations without (ids {listed(ids)}).{points}"
            )
        return column if self.prepare is None else self.prepare(annotations, column)

    def values(
        self,
        left: Any,
        left_rows: NDArray[np.intp],
        right: Any,
        right_rows: NDArray[np.intp],
        floor: float = 0.0,
    ) -> NDArray[np.float64]:
        """Return (P,) checked similarities in [0, 1]; values outside by at most `ROUNDING` are clipped."""
        answer = self.compare(left, left_rows, right, right_rows, floor)
        try:
            values = np.asarray(answer)
        except ValueError:  # ragged lists
            values = np.empty((), object)
        if values.shape != left_rows.shape or values.dtype.kind not in "fiu":
            actual = f"{values.dtype} of shape {values.shape}"
            raise InputError(f"{self.name}: expected numbers of shape {left_rows.shape}, one a pair, got {actual}")
        least, most = values.min(initial=0), values.max(initial=1)
        if not (least >= -ROUNDING and most <= 1 + ROUNDING):  # also true for NaN
            outside = np.flatnonzero(~((values >= -ROUNDING) & (values <= 1 + ROUNDING)))
            pair = int(outside[0])
            raise InputError(
                f"{self.name}: expected similarities from 0 to 1, got {values[pair]} for the annotations of rows "
                f"{left_rows[pair]} and {right_rows[pair]} ({len(outside):,} of {len(values):,} pairs)"
            )
        floats = values.astype(np.float64, copy=False)
        return floats if least >= 0 and most <= 1 else np.clip(floats, 0.0, 1.0)


EXACTNESS = ("volume", "cuboid", "polygon", "mask", "keypoints", "box")
"""Shape kinds, the most exact first."""


def lacking(annotations: Annotations, kind: str) -> NDArray[np.bool_]:
    """Return an (N,) mask of annotations without a comparable shape of a kind.

    The box around a single keypoint has no area, so it is not comparable.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "tip", "keypoints": [[5, 5]]} for r in ("ann", "bob")]
    >>> points = Annotations.from_rows(rows)
    >>> lacking(points, "box").tolist(), lacking(points, "keypoints").tolist()
    ([True, True], [False, False])
    """
    absent = annotations.shapes[kind].absent()
    poses = annotations.shapes.get("keypoints") if kind == "box" else None
    if poses is None:
        return absent
    return np.asarray(absent | (~poses.absent() & ~(annotations.shapes["box"].area() > 0)))


def check_image_sizes(name: str, annotations: Annotations) -> None:
    """Raise an error that lists the annotated images of unknown size, for a similarity that needs the size."""
    unknown = np.asarray(np.isnan(annotations.image_size).any(axis=1))
    needed = np.unique(annotations.image[unknown[annotations.image]])
    if len(needed):
        raise InputError(
            f"{name}: expected the size of every image that has annotations, got none for {len(needed):,} images "
            f"({listed(annotations.images[needed])})"
        )


Threshold = Annotated[
    float,
    Option(
        "Threshold τ_s",
        "Smallest similarity, from 0 to 1, at which two annotations may be of the same object.",
        low=0,
        high=1,
    ),
]
"""Minimum similarity. τ_s is the notation of the papers; τ without index is a distance."""


Thresholds = Annotated[
    Sequence[float] | NDArray[np.float64],
    Option(
        "Thresholds",
        "Smallest similarities at which alpha is computed.",
        low=0,
        high=1,
        type="(T,) floats in [0, 1]",
    ),
]


def ratio(part: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide elementwise, with 0 where the denominator is not positive."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


@checked
def iou_bound(
    left: ShapeColumn, left_rows: NDArray[np.intp], right: ShapeColumn, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return (P,) upper bounds on the IoU of two flat shapes, from their areas and bounds alone.

    The overlap is at most ``u``, the minimum of both areas and of the overlap of their bounds: IoU <= u / (A + B - u).

    Examples
    --------
    >>> from kalos_core.shapes import Polygons
    >>> polygons = Polygons.from_rings([[[0, 0, 2, 0, 0, 2]], [[0, 0, 2, 0, 2, 2, 0, 2]]])
    >>> iou_bound(polygons, np.array([0]), polygons, np.array([1])).round(6).tolist()
    [0.5]
    """
    limits_a, limits_b = left.bounds(), right.bounds()
    width = np.minimum(limits_a[left_rows, 2], limits_b[right_rows, 2]) - np.maximum(
        limits_a[left_rows, 0], limits_b[right_rows, 0]
    )
    near = np.flatnonzero(width > 0)  # few; excludes NaN, the bounds of empty shapes
    rows_a, rows_b = left_rows[near], right_rows[near]
    height = np.minimum(limits_a[rows_a, 3], limits_b[rows_b, 3]) - np.maximum(limits_a[rows_a, 1], limits_b[rows_b, 1])
    area_a, area_b = left.area()[rows_a], right.area()[rows_b]
    most = np.minimum(np.minimum(area_a, area_b), width[near] * np.maximum(height, 0.0))
    bound = np.zeros(len(left_rows))
    bound[near] = ratio(most, area_a + area_b - most) * (1 + ROUNDING)
    return bound


SIMILARITIES: dict[str, Similarity] = {}
"""Name -> similarity, as listed in the App's drop-downs; `register_similarity` adds to it."""


def get_similarity(similarity: str | Similarity | Rows) -> Similarity:
    """Return a similarity from its name, a `Similarity`, or a function ``function(annotations, left, right)``."""
    if isinstance(similarity, Similarity):
        return similarity
    return (
        Similarity.of_function(similarity) if callable(similarity) else lookup(SIMILARITIES, similarity, "similarity")
    )


@checked
def register_similarity(similarity: Similarity | Rows) -> Similarity:
    """Add a similarity to `SIMILARITIES`, so that it can be selected by name, also in the App.

    Parameters
    ----------
    similarity : Similarity or callable
        A `Similarity`, or a function ``function(annotations, left, right)`` -> (P,).

    Returns
    -------
    Similarity

    Raises
    ------
    InputError
        If the name is taken.

    Examples
    --------
    >>> def same_class(annotations, left, right):
    ...     return (annotations.category[left] == annotations.category[right]).astype(float)
    >>> register_similarity(same_class).name, "same_class" in SIMILARITIES
    ('same_class', True)
    >>> del SIMILARITIES["same_class"]
    """
    measure = get_similarity(similarity)
    if measure.name in SIMILARITIES:
        raise InputError(f"similarity: expected a new name, got {repr_of(measure.name)}, which is in use")
    SIMILARITIES[measure.name] = measure
    return measure


def _named(kinds: Iterable[str]) -> str:
    """List shape kinds with the similarities that compare them."""
    comparing = {kind: [name for name, of in SIMILARITIES.items() if of.kind == kind] for kind in kinds}
    return "; ".join(f"{kind} ({', '.join(names)})" for kind, names in comparing.items()) or "none"
