"""Selection of a similarity for annotations that all have certain kinds of shapes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, TypeVar, cast

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, repr_of, warn
from kalos_core.options import Option
from kalos_core.similarity.base import SIMILARITIES, Rows, Similarity, get_similarity, lacking
from kalos_core.similarity.table import SimilarityName

AUTO = "auto"
"""The similarity of the most exact shape that every annotation has; the default everywhere."""

Given = TypeVar("Given")


def check_similarity(value: Any, name: str) -> Any:
    """Check a similarity, a function, or a name; names are looked up when annotations are compared."""
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

PREFERRED: dict[str, SimilarityName] = {
    "polygon": "polygon_iou",
    "mask": "mask_iou",
    "keypoints": "pose",
    "cuboid": "cuboid_iou",
    "volume": "volume_iou",
}
"""Kind -> similarity proposed if all annotations have that kind. The first match wins; the fallback is `box_iou`."""

OF_IMAGES = ("centroid",)
"""Similarities of any shape kind that require 2D images, not scans or scenes."""

OF_SPACE = frozenset({"cuboid", "volume"})
"""Shape kinds that the similarities in `OF_IMAGES` do not compare."""

NOT_OFFERED = ("polygon_raster_iou",)
"""Similarities that forms do not list but that can be used by name, such as `polygon_raster_iou` for COCO's numbers."""


def preferred_similarity(kinds: Collection[str]) -> SimilarityName:
    """Return the name of the similarity for the most exact of some shape kinds.

    Examples
    --------
    >>> preferred_similarity({"box", "polygon"}), preferred_similarity({"box"})
    ('polygon_iou', 'box_iou')
    """
    return next((name for kind, name in PREFERRED.items() if kind in kinds and name in SIMILARITIES), "box_iou")


def fitting_names(kinds: Collection[str]) -> list[SimilarityName]:
    """List the names of the similarities that compare any of some shape kinds, the preferred one first.

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
    return cast("list[SimilarityName]", sorted(fitting, key=lambda name: name != first))  # or registered names


def fitting_similarities(annotations: Annotations) -> list[SimilarityName]:
    """List the names of the similarities that can compare all annotations, the preferred one first.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
    >>> fitting = fitting_similarities(Annotations.from_rows(rows))
    >>> fitting[0], "centroid" in fitting, "polygon_iou" in fitting
    ('box_iou', True, False)
    """
    kinds = complete_kinds(annotations)
    return fitting_names(kinds) if kinds else [preferred_similarity(kinds)]


def complete_kinds(annotations: Annotations) -> set[str]:
    """Return the shape kinds that every annotation has.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
    >>> complete_kinds(Annotations.from_rows(rows))
    {'box'}
    """
    return {kind for kind in annotations.shapes if not lacking(annotations, kind).any()}


def resolved(similarity: Given | None, of: Annotations | Collection[str]) -> Given | str:
    """Replace "auto" by the name of the similarity for these annotations or shape kinds; keep any other value.

    Examples
    --------
    >>> resolved("auto", {"box", "polygon"}), resolved("box_iou", {"box", "polygon"})
    ('polygon_iou', 'box_iou')
    """
    if similarity is not None and (not isinstance(similarity, str) or similarity != AUTO):
        return similarity
    return preferred_similarity(complete_kinds(of) if isinstance(of, Annotations) else of)


def measure_for(similarity: Similarity | Rows | str | None, of: Annotations | Collection[str]) -> Similarity:
    """Return the given similarity or, for "auto", the one for these annotations or shape kinds.

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
    """Return the form of a similarity that is sent to workers: its name if it is in `SIMILARITIES`."""
    return measure.name if SIMILARITIES.get(measure.name) is measure else measure


def _warn_of_poses(annotations: Annotations) -> None:
    """Warn that "auto" compares keypoints by the boxes around them, because other annotations have no keypoints."""
    poses = annotations.shapes.get("keypoints")
    count = 0 if poses is None else int((~poses.absent()).sum())
    if count:
        warn(
            f"similarity: {count:,} of {len(annotations):,} annotations have key points and are compared by the boxes "
            "around them, as the others have none; use similarity='centroid' to compare positions"
        )
