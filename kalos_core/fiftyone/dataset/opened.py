"""Resolution of a selection in a data set, before labels are read: fields, raters, assigned raters, shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import fiftyone as fo
from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, listed, lookup, repr_of, warn
from kalos_core.fiftyone.dataset.coordinates import CROWD, REGION
from kalos_core.fiftyone.dataset.database import now
from kalos_core.fiftyone.dataset.document import RaterRecord
from kalos_core.fiftyone.dataset.raters import (
    ASSIGNED_FIELD,
    OBJECTS,
    Family,
    LabelSource,
    class_names,
    facts_of,
    sources_of,
)
from kalos_core.fiftyone.dataset.samples import SCENES, every_sample, pinned
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of
from kalos_core.similarity import SIMILARITIES
from kalos_core.similarity.fitting import AUTO, fitting_names, preferred_similarity, resolved
from kalos_core.similarity.table import SimilarityName


@dataclass(frozen=True, eq=False)
class Opened:
    """Labels of a selection, resolved in a data set.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
        The view to read, see `pinned`.
    selection : Selection
    family : Family
    sources : tuple of LabelSource
        The fields with the labels, without that of a reference.
    rule : "all", "listed" or "labelled"
        Rule for the assigned raters: all raters on all samples; those that the sample lists; those with labels there.
    again : bool
        Whether the selection is that of a stored run: names that no label has any more are then no error, and earlier
        warnings are not repeated.
    read_at : datetime
        Time of reading; later edits are not included.
    """

    view: Any
    selection: Selection
    family: Family
    sources: tuple[LabelSource, ...]
    rule: str
    again: bool
    read_at: datetime

    @classmethod
    def of(
        cls,
        samples: Any,
        selection: Selection,
        family: Family = OBJECTS,
        *,
        again: bool = False,
        sources: Sequence[LabelSource] | None = None,
    ) -> Opened:
        """Open the labels of a view. `sources`: their fields, if already known."""
        read_at, view = now(), pinned(samples)  # a pinned view hides no field
        found = tuple(sources_of(samples, selection, family) if sources is None else sources)
        return cls(view, selection, family, found, rule_of(view, selection, found), again, read_at)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Raters to read, in order: those of the fields, or those named by labels or lists of assigned raters.

        Raises
        ------
        InputError
            If no label names a rater, or a selected rater is not named anywhere.
        """
        if self.selection.field is not None:
            return self._named(*self.sources)
        return tuple(str(source.rater) for source in self.sources)

    def _named(self, source: LabelSource) -> tuple[str, ...]:
        selection = self.selection
        named = map(as_name, self.view.distinct(f"{source.path}.{source.attribute}"))
        labelled = sorted(str(name) for name in named if name is not None)
        known = sorted({*labelled, *(self.view.distinct(ASSIGNED_FIELD) if self.fields else ())})
        if not self.again and not labelled and self.view.count(f"{source.path}.label"):
            raise InputError(
                "rater_attribute: expected an attribute that names each label's rater, "
                f"got {source.attribute!r}, which no label of {source.field!r} has"
            )
        for argument, wanted in (("raters", selection.raters or ()), ("reference", (selection.reference,))):
            strangers = [name for name in wanted if name is not None and name not in known]
            if strangers and not self.again:
                raise InputError(f"{argument}: expected names among {listed(known, 20)}, got {listed(strangers)}")
        every = known if self.family is OBJECTS else labelled  # a listed rater without labels annotated nothing
        names = every if selection.raters is None else dict.fromkeys(selection.raters)
        return tuple(name for name in names if name != selection.reference)

    @cached_property
    def facts(self) -> list[RaterRecord]:
        """Stored facts about each rater."""
        return facts_of(self.view, self.raters)

    @property
    def fields(self) -> list[str]:
        """Sample fields that list the assigned raters."""
        return [ASSIGNED_FIELD] if self.rule == "listed" else []

    def assigned(self, listed: Iterable[str] | None, there: Iterable[str]) -> list[str] | None:
        """Return the raters who were assigned to a sample; None for all of them.

        Parameters
        ----------
        listed : names or None
            Raters that the sample's field lists.
        there : names
            Raters with a label field in the sample or, if an attribute names the rater, with a label.
        """
        if self.rule == "all":
            return None
        if self.rule == "labelled":
            names = set(there)
        elif not isinstance(listed, (list, tuple, type(None))):  # edited in the database
            raise InputError(
                f"samples: expected {ASSIGNED_FIELD!r} to list names on every sample, got {repr_of(listed)}"
            )
        else:  # synthetic raters are not listed
            made = {str(source.rater) for source in self.sources if source.is_synthetic}
            names = {*(listed or ()), *made.intersection(there)}
        return [name for name in self.raters if name in names]

    def check_classes(self, *references: LabelSource) -> None:
        """Refuse classes that occur neither in labels, including these references, nor in the data set or its raters.

        Such a class is a mistake, which would otherwise appear as perfect agreement on absence.
        """
        wanted, dataset = self.selection.classes, root_of(self.view)
        if wanted is None or self.again:
            return
        used = class_names(every_sample(dataset), self.family, [of.path for of in (*self.sources, *references)])
        assigned = [name for about in self.facts for name in about["classes"] or ()]
        known = {*used, *assigned, *dataset.default_classes}.union(*dataset.classes.values())
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise InputError(f"classes: expected classes among {listed(sorted(known), 20)}, got {listed(unknown)}")

    def warn(self) -> None:
        """Warn if all raters are treated as assigned because the assignment is unknown."""
        is_guessed = self.selection.assigned == "auto" and self.rule == "all"
        if is_guessed and len(self.raters) > 1 and not self.again:
            warn(
                f"samples: no field {ASSIGNED_FIELD!r} lists the assigned raters, so every rater counts as assigned to "
                "every sample. A sample that a rater never saw then counts as 'saw it and annotated nothing', which "
                "lowers alpha. Choose assigned='labelled' to count raters only on samples with labels of theirs."
            )


def rule_of(samples: Any, selection: Selection, sources: Iterable[LabelSource]) -> str:
    """Return the rule for the assigned raters, see `Opened`."""
    if selection.assigned != "auto":
        return selection.assigned
    if all(source.is_synthetic for source in sources):
        return "labelled"
    if not samples.has_field(ASSIGNED_FIELD):
        return "all"
    check_assigned_field(samples)
    return "listed"


def check_assigned_field(samples: Any) -> None:
    """Refuse a field `ASSIGNED_FIELD` that does not hold lists of names."""
    field = samples.get_field(ASSIGNED_FIELD)
    if not isinstance(field, fo.ListField) or not isinstance(field.field, (fo.StringField, type(None))):
        raise InputError(
            f"samples: expected the field {ASSIGNED_FIELD!r} to list the names of the assigned raters, got a {field}; "
            "rename it, or choose assigned='all' or 'labelled'"
        )


# ---- shapes and what compares them ----

STORED: dict[str, tuple[str, ...]] = {
    "box": ("bounding_box",),
    "mask": ("bounding_box", "mask", "mask_path"),
    "cuboid": ("location", "dimensions", "rotation"),
}
"""Kind of shape of a detection -> attributes that hold it."""

OF_LISTS: dict[str, tuple[str, ...]] = {"polylines": ("polygon", "box"), "keypoints": ("keypoints", "box")}
"""List of labels -> kinds of shapes that each label has; the box is the bounds of the other shape."""


def attributes_of(source: LabelSource, kinds: Iterable[str]) -> list[str]:
    """Return the attributes to read of each label: id, label, confidence, crowd mark, shape, and last its rater.

    `kinds`: the kinds of shapes of detections to read.
    """
    if source.labels == "polylines":
        shape = ["points", "closed", *REGION]
    elif source.labels == "keypoints":
        shape = ["points", *REGION]
    else:
        shape = list(dict.fromkeys(name for kind in STORED if kind in kinds for name in STORED[kind]))
    return ["id", "label", "confidence", CROWD, *shape, *([source.attribute] if source.attribute else [])]


def similarity_to_store(samples: Any, selection: Selection, similarity: Any) -> str:
    """Return the name of a similarity, or of the default; only named similarities can be stored."""
    if similarity is None or similarity == AUTO:
        return default_similarity(samples, selection)
    return lookup(SIMILARITIES, similarity, "similarity").name


def what_to_read(opened: Opened, similarities: Iterable[Any]) -> tuple[tuple[str, ...], set[str]]:
    """Return the names of similarities and the kinds of shapes that they compare; None and "auto" mean the default.

    A similarity without a fixed kind needs all kinds.
    """
    given = [AUTO if similarity is None else similarity for similarity in similarities]
    there = _kinds(opened.view, opened.sources) if AUTO in given else ()
    usual = "cuboid" if is_3d(opened.view) else "box"
    names = [resolved(similarity, there) for similarity in given]
    found = [lookup(SIMILARITIES, name, "similarity") for name in names]
    kinds = {similarity.kind for similarity in found}
    return tuple(similarity.name for similarity in found), kinds.union(STORED if "" in kinds else [usual])


def default_similarity(samples: Any, selection: Selection) -> str:
    """Return the default similarity, which compares the most exact shape that every label has.

    These are polygons if every field holds polylines, poses if every field holds keypoints, masks or cuboids if every
    detection has one, and boxes otherwise.
    """
    return preferred_similarity(_kinds(pinned(samples), sources_of(samples, selection)))


def fitting_similarities(samples: Any, selection: Selection) -> list[SimilarityName]:
    """Return the names of the similarities that all labels of a selection have shapes for, the default first.

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
    """Return the kinds of shapes that every label of these sources has."""
    lists = {source.labels for source in sources}
    found = [set(OF_LISTS[name]) for name in lists if name in OF_LISTS]
    detections = [source.path for source in sources if source.labels == "detections"]
    if detections:
        found.append(_kinds_of_detections(view, detections))
    return set.intersection(*found)


def _kinds_of_detections(samples: Any, paths: Sequence[str]) -> set[str]:
    """Return the kinds of shapes that every detection has; queries stop early, so that forms stay responsive."""
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
    """Return whether the samples are 3D scenes, whose detections are cuboids instead of boxes."""
    media = samples.media_type
    return (samples.group_media_types.get(samples.group_slice) if media == "group" else media) in SCENES
