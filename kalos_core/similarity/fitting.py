"""Which similarity to propose for annotations that all have certain kinds of shapes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal, TypeVar

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, repr_of, warn
from kalos_core.options import Option
from kalos_core.similarity.base import SIMILARITIES, Rows, Similarity, get_similarity, lacking

AUTO = "auto"
"""The similarity of the most exact shape that every annotation has: the default everywhere."""

Given = TypeVar("Given")

SimilarityName = Literal[
    "auto",
    "box_iou",
    "box_giou",
    "centroid_box",
    "polygon_iou",
    "polygon_giou",
    "polygon_raster_iou",
    "mask_iou",
    "centroid",
    "pose",
    "oks",
    "volume_iou",
    "volume_iou_128",
    "cuboid_iou",
]
"""Names that a type checker knows; `register_similarity` answers one that it takes, too."""


def check_similarity(value: Any, name: str) -> Any:
    """A similarity, a function, or a name, which is looked up where annotations are compared."""
    if isinstance(value, (str, Similarity)) or callable(value):
        if value == "":
            raise InputError(f"{name}: expected a name, got ''")
        return value
    if value is None:
        return AUTO
    raise InputError(f"{name}: expected a name, a Similarity or a function, got {repr_of(value)}")


ComparedBy = Annotated[
    SimilarityName | Similarity | Rows | None,
    Option(
        "Similarity",
        "How two annotations are compared; 'auto' takes the most exact shape that every annotation has.",
        type="name in `SIMILARITIES`, `Similarity`, or ``function(annotations, left, right)``",
        check=check_similarity,
    ),
]

PREFERRED = {
    "polygon": "polygon_iou",
    "mask": "mask_iou",
    "keypoints": "pose",
    "cuboid": "cuboid_iou",
    "volume": "volume_iou",
}
"""Kind -> the similarity proposed where all annotations have it, the first that fits; otherwise boxes are compared."""

OF_IMAGES = ("centroid",)
"""Similarities of any kind of shape that need an image, which scans and scenes are not."""

OF_SPACE = frozenset({"cuboid", "volume"})
"""Kinds of shapes that these do not compare."""

NOT_OFFERED = ("polygon_raster_iou",)
"""Not worth offering in a form: `polygon_iou` on whole pixels, for COCO's numbers. By name it can be used."""


def preferred_similarity(kinds: Collection[str]) -> str:
    """The similarity of the most exact of some kinds of shapes.

    Examples
    --------
    >>> preferred_similarity({"box", "polygon"}), preferred_similarity({"box"})
    ('polygon_iou', 'box_iou')
    """
    return next((name for kind, name in PREFERRED.items() if kind in kinds and name in SIMILARITIES), "box_iou")


def fitting_names(kinds: Collection[str]) -> list[str]:
    """Names of the similarities that have a shape to compare among some kinds, the preferred first.

    Examples
    --------
    >>> fitting_names({"cuboid"}), fitting_names({"volume"})
    (['cuboid_iou'], ['volume_iou', 'volume_iou_128'])
    """
    offered = {name: measure for name, measure in SIMILARITIES.items() if name not in NOT_OFFERED}
    fitting = [name for name, measure in offered.items() if not measure.kind or measure.kind in kinds]
    if kinds and OF_SPACE.issuperset(kinds):
        fitting = [name for name in fitting if name not in OF_IMAGES]
    first = preferred_similarity(kinds)
    return sorted(fitting, key=lambda name: name != first)


def fitting_similarities(annotations: Annotations) -> list[str]:
    """Names of the similarities that every annotation has a shape for, the preferred first.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
    >>> fitting_similarities(Annotations.from_rows(rows))
    ['box_iou', 'box_giou', 'centroid_box', 'centroid']
    """
    kinds = complete_kinds(annotations)
    return fitting_names(kinds) if kinds else [preferred_similarity(kinds)]


def complete_kinds(annotations: Annotations) -> set[str]:
    """Kinds of shapes that every annotation has.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
    >>> complete_kinds(Annotations.from_rows(rows))
    {'box'}
    """
    return {kind for kind in annotations.shapes if not lacking(annotations, kind).any()}


def resolved(similarity: Given | None, of: Annotations | Collection[str]) -> Given | str:
    """A similarity as it is; for "auto" the name of the one for these annotations, or for kinds that all have.

    Examples
    --------
    >>> resolved("auto", {"box", "polygon"}), resolved("box_iou", {"box", "polygon"})
    ('polygon_iou', 'box_iou')
    """
    if similarity is not None and (not isinstance(similarity, str) or similarity != AUTO):
        return similarity
    return preferred_similarity(complete_kinds(of) if isinstance(of, Annotations) else of)


def measure_for(similarity: Similarity | Rows | str | None, of: Annotations | Collection[str]) -> Similarity:
    """The similarity that compares annotations, or those of kinds of shapes: the one given, or that of "auto".

    Examples
    --------
    >>> measure_for("auto", {"box", "polygon"}).name
    'polygon_iou'
    """
    if similarity is not None and similarity != AUTO:
        return get_similarity(similarity)
    kinds = complete_kinds(of) if isinstance(of, Annotations) else of
    measure = get_similarity(preferred_similarity(kinds))
    if isinstance(of, Annotations) and measure.kind == "box" and "box" in kinds:
        _warn_of_poses(of)
    return measure


def sent(measure: Similarity) -> Any:
    """A similarity as it is sent to workers: by name where they know it."""
    return measure.name if SIMILARITIES.get(measure.name) is measure else measure


def _warn_of_poses(annotations: Annotations) -> None:
    """That key points beside other shapes are compared by the boxes around them, though nobody asked for boxes."""
    poses = annotations.shapes.get("keypoints")
    count = 0 if poses is None else int((~poses.absent()).sum())
    if count:
        warn(
            f"similarity: {count:,} of {len(annotations):,} annotations have key points and are compared by the boxes "
            "around them, as the others have none; similarity='centroid' compares where they are"
        )
