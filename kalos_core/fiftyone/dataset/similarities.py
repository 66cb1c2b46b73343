"""Which shapes the labels of a selection have, and what can compare those."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.errors import lookup
from kalos_core.fiftyone.dataset.coordinates import CROWD, REGION
from kalos_core.fiftyone.dataset.opened import Opened
from kalos_core.fiftyone.dataset.raters import LabelSource, sources_of
from kalos_core.fiftyone.dataset.samples import SCENES, pinned
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.similarity import SIMILARITIES
from kalos_core.similarity.fitting import AUTO, fitting_names, preferred_similarity

STORED: dict[str, tuple[str, ...]] = {
    "box": ("bounding_box",),
    "mask": ("bounding_box", "mask", "mask_path"),
    "cuboid": ("location", "dimensions", "rotation"),
}
"""Kind of shape of a detection -> the attributes that hold it."""

OF_LISTS: dict[str, tuple[str, ...]] = {"polylines": ("polygon", "box"), "keypoints": ("keypoints", "box")}
"""List of labels of one kind -> the kinds each has; a box is the bounds of the other shape."""


def attributes_of(source: LabelSource, kinds: Iterable[str]) -> list[str]:
    """What is read of each label: id, label, confidence, what holds its shape, and last who its rater is.

    `kinds`: of the shapes of detections, those that are read.
    """
    if source.labels == "polylines":
        shape = ["points", "closed", *REGION]
    elif source.labels == "keypoints":
        shape = ["points", *REGION]
    else:
        shape = list(dict.fromkeys(name for kind in STORED if kind in kinds for name in STORED[kind]))
    return ["id", "label", "confidence", CROWD, *shape, *([source.attribute] if source.attribute else [])]


def similarity_to_store(samples: Any, selection: Selection, similarity: Any) -> str:
    """The name of the similarity given, or of the default; only one that has a name can be found again."""
    if similarity is None or similarity == AUTO:
        return default_similarity(samples, selection)
    return lookup(SIMILARITIES, similarity, "similarity").name


def what_to_read(opened: Opened, similarities: Iterable[Any]) -> tuple[tuple[str, ...], set[str]]:
    """The names of similarities, of the default for None and "auto", and the kinds of shapes that these compare.

    One that compares anything needs all kinds.
    """
    names = [AUTO if similarity is None else similarity for similarity in similarities]
    default = preferred_similarity(_kinds(opened.view, opened.sources)) if AUTO in names else ""
    found = [lookup(SIMILARITIES, default if name == AUTO else name, "similarity") for name in names]
    kinds = {similarity.kind for similarity in found}
    more = STORED if "" in kinds else ["cuboid" if is_3d(opened.view) else "box"]
    return tuple(similarity.name for similarity in found), kinds.union(more)


def default_similarity(samples: Any, selection: Selection) -> str:
    """What is compared unless another is given: the most exact shape that every label has.

    Polygons where every field holds polylines, poses where every field holds keypoints, masks and cuboids where every
    detection has one, boxes otherwise.
    """
    return preferred_similarity(_kinds(pinned(samples), sources_of(samples, selection)))


def fitting_similarities(samples: Any, selection: Selection) -> list[str]:
    """Names of the similarities that every label of a selection has a shape for, the default first.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> box = fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.5, 0.5])
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", ann=fo.Detections(detections=[box]), bob=fo.Detections()))
    >>> fitting = fitting_similarities(dataset, Selection(raters=("ann", "bob")))
    >>> fitting[0], "polygon_iou" in fitting
    ('box_iou', False)
    >>> dataset.delete()
    """
    return fitting_names(_kinds(pinned(samples), sources_of(samples, selection)))


def _kinds(view: Any, sources: Sequence[LabelSource]) -> set[str]:
    """The kinds of shapes that every label of these sources has."""
    lists = {source.labels for source in sources}
    found = [set(OF_LISTS[name]) for name in lists if name in OF_LISTS]
    detections = [source.path for source in sources if source.labels == "detections"]
    if detections:
        found.append(_kinds_of_detections(view, detections))
    return set.intersection(*found)


def _kinds_of_detections(samples: Any, paths: Sequence[str]) -> set[str]:
    """Each question stops at the first label that answers it, so that a form can ask while one types."""
    located = F("location").exists() & F("dimensions").exists()
    if _all_have(samples, paths, located):
        flat = not is_3d(samples) and _all_have(samples, paths, F("bounding_box").length() == 4)
        return {"box", "cuboid"} if flat else {"cuboid"}
    masked = F("mask").exists() | F("mask_path").exists()
    return {"box", "mask"} if _all_have(samples, paths, masked) else {"box"}


def _all_have(samples: Any, paths: Sequence[str], has: Any) -> bool:
    return not _any_label(samples, paths, ~has) and _any_label(samples, paths, has)


def _any_label(samples: Any, paths: Sequence[str], what: Any) -> bool:
    one = ~F(CROWD).is_in([1, True])
    there = ViewExpression.any([F(path).filter(one & what).length() > 0 for path in paths])
    return bool(samples.match(there).limit(1))


def is_3d(samples: Any) -> bool:
    """Whether the samples are scenes, whose detections are cuboids and no boxes."""
    media = samples.media_type
    return (samples.group_media_types.get(samples.group_slice) if media == "group" else media) in SCENES
