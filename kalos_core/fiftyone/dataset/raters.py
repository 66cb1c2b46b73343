"""Who the raters of a data set are, and which fields hold their labels: objects, image-level labels and masks alike."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import fiftyone as fo

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.document import RaterRecord, read_info, update_info
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of

SYNTHETIC = "kalos_synthetic"
"""Key in what a label field says of itself: its labels were generated, and where it is there its rater was assigned."""

ESTIMATED = "kalos_truth"
"""Key in what a field says of itself: a run of this name estimated it from several raters, so it is no rater's."""


DECIDED = "kalos_decided"
"""The same of a field of labels that people decided: a truth that raters can be compared with."""

DISPUTED = "kalos_disputed"
"""The same of a field of regions that raters differ about: nobody's labels, and no truth either."""


@dataclass(frozen=True)
class Family:
    """A kind of labels that several raters give: its label types, each with the attribute that holds their list.

    Parameters
    ----------
    name : str
    types : dict
        Label type -> the attribute that holds its list; "" for a single label.
    one_each : bool
        Whether every field is a rater of its own where no raters are stored.
    """

    name: str
    types: Mapping[type, str]
    one_each: bool = False

    @property
    def expected(self) -> str:
        """Its label types, for messages."""
        *first, last = [kind.__name__ for kind in self.types]
        return f"{', '.join(first)} or {last}" if first else last


OBJECTS = Family("objects", {fo.Detections: "detections", fo.Polylines: "polylines", fo.Keypoints: "keypoints"})
IMAGE_LABELS = Family("image-level labels", {fo.Classification: "", fo.Classifications: "classifications"})
MASKS = Family("masks", {fo.Segmentation: ""}, one_each=True)


@dataclass(frozen=True)
class LabelSource:
    """One field of labels and its owner: one rater, or `attribute` tells.

    Parameters
    ----------
    field, path : str
        The field and the path of its labels, such as ``"r1"`` and ``"r1.detections"``; equal for a single label.
    rater, attribute : str, optional
    is_synthetic : bool
        Whether the rater was generated, or is what people decided: assigned wherever the field is there.
    """

    field: str
    path: str
    rater: str | None
    attribute: str | None
    is_synthetic: bool = False

    @property
    def labels(self) -> str:
        """The attribute that holds its list of labels; "" for a single label."""
        return self.path[len(self.field) + 1 :]


def label_fields(samples: Any, family: Family = OBJECTS) -> dict[str, str]:
    """Fields of a collection that hold labels of a family, with the path of these labels; none that a run estimated.

    Of objects these, too: a consensus can be compared with raters. So can what people decided, of any family.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> dataset.add_sample_field("ann", fo.EmbeddedDocumentField, embedded_doc_type=fo.Detections)
    >>> dataset.add_sample_field("bob", fo.EmbeddedDocumentField, embedded_doc_type=fo.Classification)
    >>> label_fields(dataset), label_fields(dataset, IMAGE_LABELS)
    ({'ann': 'ann.detections'}, {'bob': 'bob'})
    >>> dataset.delete()
    """
    found = {}
    for name, field in samples.get_field_schema(ftype=fo.EmbeddedDocumentField).items():
        labels = family.types.get(field.document_type)
        about = field.info or {}
        is_estimated = ESTIMATED in about and family is not OBJECTS and DECIDED not in about
        if labels is not None and DISPUTED not in about and not is_estimated:
            found[name] = f"{name}.{labels}" if labels else name
    return found


def rater_fields(samples: Any, family: Family = OBJECTS) -> dict[str, str]:
    """Rater name -> label field, as they were loaded; fields that are gone are left out.

    Of masks, where no raters are stored, every field by its own name.
    """
    fields = label_fields(samples, family)
    known = {name: field for field, name in read_info(samples).get("raters", {}).items() if field in fields}
    return known or ({field: field for field in fields} if family.one_each else {})


def marked_fields(samples: Any, mark: str) -> list[str]:
    """Fields that say of themselves to be `SYNTHETIC`, `ESTIMATED` or `DECIDED`."""
    schema = samples.get_field_schema(ftype=fo.EmbeddedDocumentField)
    return [name for name, field in schema.items() if mark in (field.info or {})]


def synthetic_fields(samples: Any) -> list[str]:
    """Label fields that `inject_noise` wrote: each is a rater of its own, assigned wherever it is there at all."""
    return marked_fields(samples, SYNTHETIC)


def estimated_fields(samples: Any) -> list[str]:
    """Fields that `estimate_truth` wrote."""
    return marked_fields(samples, ESTIMATED)


def class_names(samples: Any, family: Family = OBJECTS, more: Sequence[str] = ()) -> list[str]:
    """The classes that occur in the stored raters' fields (in all fields where none are stored), sorted.

    `more`: paths of further labels to look at.
    """
    fields = label_fields(samples, family)
    paths = [fields[field] for field in rater_fields(samples, family).values()] or list(fields.values())
    found = samples.aggregate([fo.Distinct(f"{path}.label") for path in dict.fromkeys([*paths, *more])])
    return sorted({name for names in found for name in names})


def new_fields(dataset: Any, raters: Collection[str], family: Family) -> dict[str, str]:
    """Rater -> the name of a field for their labels; of raters whose labels are there already an error."""
    held = label_fields(dataset, family)
    known = dict(zip(rater_names(dataset, held), held, strict=True))
    again = [f"{name!r} (field {known[name]!r})" for name in raters if name in known]
    if again:
        raise InputError(
            f"raters: the data set {dataset.name!r} already holds {family.name} of {listed(again)}; name another data "
            f"set, or delete this one (fiftyone.delete_dataset({dataset.name!r})) or these fields first"
        )
    return derive_field_names(raters, [*dataset.get_field_schema(), ASSIGNED_FIELD])


def rater_names(samples: Any, fields: Iterable[str]) -> list[str]:
    """The rater behind each field; a field for which nobody was stored is its own rater."""
    stored = read_info(samples).get("raters", {})
    return [stored.get(field, field) for field in fields]


def resolve_fields(
    samples: Any, raters: Iterable[str] | None, family: Family = OBJECTS, argument: str = "raters"
) -> dict[str, str]:
    """Rater name -> field for raters named by field or by name; None: all that are stored."""
    known, fields = rater_fields(samples, family), label_fields(samples, family)
    offer = f"label fields: {listed(fields, 20) or 'none'}; stored raters: {listed(known, 20) or 'none'}"
    if raters is None:
        if not known:
            raise InputError(
                f"{argument}: this data set has no stored raters of {family.name}; pass the label fields, one per "
                f"rater, or one field and its rater attribute ({offer})"
            )
        return known
    schema = samples.get_field_schema()
    chosen: dict[str, str] = {}
    for entry in raters:
        field = known.get(entry, entry)
        if field not in fields:
            kind = schema.get(field)
            of_type = f" of type {getattr(kind, 'document_type', type(kind)).__name__}" if kind is not None else ""
            raise InputError(
                f"{argument}: expected a rater, or a field of {family.expected}, got {entry!r}{of_type} ({offer})"
            )
        (name,) = rater_names(samples, [field])
        if name in chosen:
            raise InputError(f"{argument}: expected every rater once, got {name!r} twice")
        chosen[name] = field
    return chosen


def sources_of(samples: Any, selection: Selection, family: Family = OBJECTS) -> list[LabelSource]:
    """The fields that hold the labels of a selection, one per rater or one of all; without those of a reference."""
    paths = label_fields(samples, family)
    if selection.field is not None:
        resolve_fields(samples, [selection.field], family, "field")  # refuses what is no label field
        if selection.field == paths[selection.field]:
            raise InputError(
                f"field: expected labels with a rater each, in a list, got {selection.field!r}, which has one a sample"
            )
        return [LabelSource(selection.field, paths[selection.field], None, selection.rater_attribute)]
    fields = resolve_fields(samples, selection.raters, family)
    reference: str | None = None
    if selection.reference is not None:
        (reference,) = resolve_fields(samples, [selection.reference], family, "reference")
    made = {*synthetic_fields(samples), *marked_fields(samples, DECIDED)}
    return [
        LabelSource(field, paths[field], name, None, field in made)
        for name, field in fields.items()
        if name != reference
    ]


# ---- what is remembered ----


def store_raters(dataset: Any, fields: Mapping[str, str], annotations: Annotations | None = None) -> None:
    """Remember rater name -> field, and of each rater what labels do not say, beside what is stored already.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> raters = {"raters": ["a1", "a2"], "person": ["ann", "ann"], "session": ["1", "2"], "categories": ["cat", "dog"]}
    >>> table = Annotations.from_rows([], **raters, assigned_categories={"a2": ["dog"]})
    >>> store_raters(dataset, {"a1": "a1", "a2": "a2"}, table)
    >>> rater_facts(dataset)["a2"]["classes"]
    ['dog']
    >>> dataset.delete()
    """
    info, facts = read_info(dataset), rater_facts(dataset)
    for code, name in enumerate(annotations.raters if annotations is not None else ()):
        assert annotations is not None
        limits = annotations.assigned_categories
        classes = None if limits is None or limits[code].all() else annotations.categories[limits[code]].tolist()
        facts[name] = RaterRecord(
            rater=name,
            person=annotations.person[code],
            session=annotations.session[code],
            classes=classes,
            is_local=annotations.raters_are_local,
        )
    update_info(
        dataset,
        raters={**info.get("raters", {}), **{field: name for name, field in fields.items()}},
        # a list: names of raters may hold what keys of a database may not
        rater_facts=[facts[name] for name in facts if facts[name] != _nothing_known(name)],
    )


def forget_raters(dataset: Any, fields: Iterable[str]) -> None:
    """Undo `store_raters` for these fields."""
    info, gone = read_info(dataset), set(fields)
    known = info.get("raters", {})
    nameless = {name for field, name in known.items() if field in gone}
    update_info(
        dataset,
        raters={field: name for field, name in known.items() if field not in gone},
        rater_facts=[record for record in info.get("rater_facts", []) if record["rater"] not in nameless],
    )


def rater_facts(samples: Any) -> dict[str, RaterRecord]:
    """Rater name -> what is stored of them; nothing of raters of whom there is nothing to say."""
    return {record["rater"]: record for record in read_info(samples).get("rater_facts", [])}


def facts_of(samples: Any, raters: Iterable[str]) -> list[RaterRecord]:
    """What is known of each rater."""
    known = rater_facts(samples)
    return [known.get(name, _nothing_known(name)) for name in raters]


def _nothing_known(rater: str) -> RaterRecord:
    return RaterRecord(rater=rater, person=rater, session="", classes=None, is_local=False)


ASSIGNED_FIELD = "raters"
"""Sample field listing the names of the assigned raters, so that 'looked and annotated nothing' survives."""


def derive_field_names(wanted: Iterable[str], taken: Iterable[str], prefix: str = "rater") -> dict[str, str]:
    """A field name of its own for every name: an identifier that is not taken.

    No two underscores in a row: FiftyOne's database layer takes a name apart at them. One that is taken, or is no
    identifier, gets the prefix.

    Examples
    --------
    >>> derive_field_names(["r1", "Dr. Weiß", "dr weiß", "id", "7"], taken=["id"])
    {'r1': 'r1', 'Dr. Weiß': 'Dr_Weiß', 'dr weiß': 'dr_weiß', 'id': 'rater_id', '7': 'rater_7'}
    >>> derive_field_names(["a b", "a.b", "Anna (2)"], taken=[])
    {'a b': 'a_b', 'a.b': 'a_b_2', 'Anna (2)': 'Anna_2'}
    """
    there = set(taken)
    used = set(there)
    names: dict[str, str] = {}
    for entry in wanted:
        text = unicodedata.normalize("NFKC", entry)  # as Python reads identifiers
        spelled = "".join(character if f"_{character}".isidentifier() else "_" for character in text)
        base = re.sub("_+", "_", spelled).strip("_")
        if not _fits(base) or base in there or hasattr(fo.Sample, base):
            base = f"{prefix}_{base}".rstrip("_")
        name, number = base, 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        names[entry] = name
    return names


def _fits(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)


def mask_sources(samples: Any, selection: Selection) -> list[LabelSource] | None:
    """The mask fields of the selected raters; None where labels to be rasterised are selected.

    Stored masks are preferred where no raters are selected.

    Raises
    ------
    InputError
        For names of masks and of labels at once, for a name twice, and where there are neither masks nor stored raters.
    """
    if selection.field is not None:
        return None
    masks, fields = rater_fields(samples, MASKS), label_fields(samples, MASKS)
    if selection.raters is None:
        if len(masks) > 1:
            return sources_of(samples, selection, MASKS)
        if rater_fields(samples):
            return None
        labels = listed(label_fields(samples), 20) or "none"
        raise InputError(
            "raters: expected at least two fields of Segmentation masks, or stored raters with polygons or instance "
            f"masks; got {listed(masks, 20) or 'no mask field'} (label fields: {labels})"
        )
    others = [entry for entry in selection.raters if masks.get(entry, entry) not in fields]
    if len(others) == len(selection.raters):
        return None
    if others:
        raise InputError(
            f"raters: expected fields of Segmentation masks only, got also {listed(map(repr, others), 20)}"
        )
    return sources_of(samples, selection, MASKS)


def mask_classes(samples: Any, fields: Sequence[str], ignore_value: int | None = None) -> dict[int, str]:
    """Value -> name of the classes that the mask targets of the data set name; 0 and what is ignored are none.

    Raises
    ------
    InputError
        If fields call one value by different names, or for masks of colours.
    """
    dataset = root_of(samples)
    found: dict[int, str] = {}
    for field in fields:
        for value, name in (dataset.mask_targets.get(field) or dataset.default_mask_targets or {}).items():
            if not isinstance(value, int):
                raise InputError(f"masks: expected values of one number a class, got the colour {value!r} in {field!r}")
            if value in (0, ignore_value):
                continue
            if found.setdefault(value, str(name)) != str(name):
                raise InputError(f"masks: expected one name of the value {value}, got {found[value]!r} and {name!r}")
    return found
