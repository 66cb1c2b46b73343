"""Raters of a data set and the fields that hold their labels: objects, image-level labels and masks."""

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
from kalos_core.options import checked

SYNTHETIC = "kalos_synthetic"
"""Key in the info of a label field with generated labels; its rater was assigned wherever the field is present."""

ESTIMATED = "kalos_truth"
"""Key in the info of a field that the run of this name estimated from several raters; it belongs to no rater."""


DECIDED = "kalos_decided"
"""Key in the info of a field with decided labels: a reference that raters can be compared with."""

DISPUTED = "kalos_disputed"
"""Key in the info of a field with regions that raters differ about: neither labels of a rater nor a reference."""


@dataclass(frozen=True)
class Family:
    """Family of label types that raters can give.

    Parameters
    ----------
    name : str
    types : dict
        Label type -> the attribute that holds its list of labels; "" for a single label.
    one_each : bool
        Whether every field counts as a rater if no raters are stored.
    """

    name: str
    types: Mapping[type, str]
    one_each: bool = False

    @property
    def expected(self) -> str:
        """Names of its label types, for messages."""
        *first, last = [kind.__name__ for kind in self.types]
        return f"{', '.join(first)} or {last}" if first else last


OBJECTS = Family("objects", {fo.Detections: "detections", fo.Polylines: "polylines", fo.Keypoints: "keypoints"})
IMAGE_LABELS = Family("image-level labels", {fo.Classification: "", fo.Classifications: "classifications"})
MASKS = Family("masks", {fo.Segmentation: ""}, one_each=True)


@dataclass(frozen=True)
class LabelSource:
    """Label field of one rater, or of several raters told apart by an attribute of the labels.

    Parameters
    ----------
    field, path : str
        The field and the path of its labels, such as ``"r1"`` and ``"r1.detections"``; equal for a single label.
    rater, attribute : str, optional
    is_synthetic : bool
        Whether the labels were generated or decided; the rater is then assigned wherever the field is present.
    """

    field: str
    path: str
    rater: str | None
    attribute: str | None
    is_synthetic: bool = False

    @property
    def labels(self) -> str:
        """Attribute that holds its list of labels; "" for a single label."""
        return self.path[len(self.field) + 1 :]


@checked
def label_fields(samples: Any, family: Family = OBJECTS) -> dict[str, str]:
    """Return the fields of a collection that hold labels of a family, with the paths of these labels.

    Fields that a run estimated are included for objects only, as a consensus can be compared with raters. Fields of
    decided labels are included for every family.

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
    root_of(samples)  # refuses anything else
    for name, field in samples.get_field_schema(ftype=fo.EmbeddedDocumentField).items():
        labels = family.types.get(field.document_type)
        about = field.info or {}
        is_estimated = ESTIMATED in about and family is not OBJECTS and DECIDED not in about
        if labels is not None and DISPUTED not in about and not is_estimated:
            found[name] = f"{name}.{labels}" if labels else name
    return found


@checked
def rater_fields(samples: Any, family: Family = OBJECTS) -> dict[str, str]:
    """Return the label field of each stored rater by name; missing fields are left out.

    If no raters of masks are stored, every mask field is a rater with the name of the field.
    """
    return _rater_fields(samples, label_fields(samples, family), family)


def _rater_fields(samples: Any, fields: Iterable[str], family: Family) -> dict[str, str]:
    known = {name: field for field, name in read_info(samples).get("raters", {}).items() if field in fields}
    return known or ({field: field for field in fields} if family.one_each else {})


def marked_fields(samples: Any, *marks: str) -> list[str]:
    """Return the fields whose info has one of the keys `SYNTHETIC`, `ESTIMATED` and `DECIDED`."""
    root_of(samples)  # refuses anything else
    schema = samples.get_field_schema(ftype=fo.EmbeddedDocumentField)
    return [name for name, field in schema.items() if not (field.info or {}).keys().isdisjoint(marks)]


def synthetic_fields(samples: Any) -> list[str]:
    """Return the label fields that `inject_noise` wrote; each is a rater, assigned wherever the field is present."""
    return marked_fields(samples, SYNTHETIC)


def estimated_fields(samples: Any) -> list[str]:
    """Return the fields that `estimate_truth` wrote."""
    return marked_fields(samples, ESTIMATED)


def class_names(samples: Any, family: Family = OBJECTS, more: Sequence[str] = ()) -> list[str]:
    """Return the sorted classes in the fields of stored raters, or in all label fields if none are stored.

    `more`: paths of further labels to include.
    """
    fields = label_fields(samples, family)
    paths = [fields[field] for field in rater_fields(samples, family).values()] or list(fields.values())
    found = samples.aggregate([fo.Distinct(f"{path}.label") for path in dict.fromkeys([*paths, *more])])
    return sorted({name for names in found for name in names})


def new_fields(dataset: Any, raters: Collection[str], family: Family) -> dict[str, str]:
    """Return a new field name for each rater; raise an error if a rater already has labels."""
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
    """Return the rater of each field; a field without a stored rater is its own rater."""
    stored = read_info(samples).get("raters", {})
    return [stored.get(field, field) for field in fields]


def resolve_fields(
    samples: Any, raters: Iterable[str] | None, family: Family = OBJECTS, argument: str = "raters"
) -> dict[str, str]:
    """Return the field of each rater, given by name or field, by rater name; None: all stored raters."""
    fields = label_fields(samples, family)
    known = _rater_fields(samples, fields, family)
    offer = f"label fields: {listed(fields, 20) or 'none'}; stored raters: {listed(known, 20) or 'none'}"
    if raters is None:
        if not known:
            raise InputError(
                f"{argument}: this data set has no stored raters of {family.name}; pass the label fields, one per "
                f"rater, or one field and its rater attribute ({offer})"
            )
        return known
    names = dict(zip(fields, rater_names(samples, fields), strict=True))
    chosen: dict[str, str] = {}
    for entry in raters:
        field = known.get(entry, entry)
        if field not in fields:
            kind = samples.get_field_schema().get(field)
            of_type = f" of type {getattr(kind, 'document_type', type(kind)).__name__}" if kind is not None else ""
            raise InputError(
                f"{argument}: expected a rater, or a field of {family.expected}, got {entry!r}{of_type} ({offer})"
            )
        if names[field] in chosen:
            raise InputError(f"{argument}: expected every rater once, got {names[field]!r} twice")
        chosen[names[field]] = field
    return chosen


def sources_of(samples: Any, selection: Selection, family: Family = OBJECTS) -> list[LabelSource]:
    """Return the label fields of a selection, one per rater or a common one, without that of the reference."""
    paths = label_fields(samples, family)
    if selection.field is not None:
        resolve_fields(samples, [selection.field], family, "field")  # refuses fields without labels
        if selection.field == paths[selection.field]:
            raise InputError(
                f"field: expected a field with a list of labels, got {selection.field!r}, which has one per sample"
            )
        return [LabelSource(selection.field, paths[selection.field], None, selection.rater_attribute)]
    fields = resolve_fields(samples, selection.raters, family)
    reference: str | None = None
    if selection.reference is not None:
        (reference,) = resolve_fields(samples, [selection.reference], family, "reference")
    made = set(marked_fields(samples, SYNTHETIC, DECIDED))
    return [
        LabelSource(field, paths[field], name, None, field in made)
        for name, field in fields.items()
        if name != reference
    ]


# ---- stored raters ----


def store_raters(dataset: Any, fields: Mapping[str, str], annotations: Annotations | None = None) -> None:
    """Store the field of each rater, and the facts about raters in `annotations`; earlier entries are kept.

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
        # a list, as names of raters may contain characters that database keys may not
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
    """Return the stored facts about raters by name; raters without any are left out."""
    return {record["rater"]: record for record in read_info(samples).get("rater_facts", [])}


def facts_of(samples: Any, raters: Iterable[str]) -> list[RaterRecord]:
    """Return the facts about each rater, with defaults if none are stored."""
    known = rater_facts(samples)
    return [known.get(name, _nothing_known(name)) for name in raters]


def _nothing_known(rater: str) -> RaterRecord:
    return RaterRecord(rater=rater, person=rater, session="", classes=None, is_local=False)


ASSIGNED_FIELD = "raters"
"""Sample field listing the names of the assigned raters, which preserves 'looked and annotated nothing'."""


def derive_field_names(wanted: Iterable[str], taken: Iterable[str], prefix: str = "rater") -> dict[str, str]:
    """Derive a unique field name for every name: an identifier that is not taken.

    Names have no two underscores in a row, as FiftyOne's database layer splits names there. A name that is taken, or is
    not an identifier, gets the prefix.

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
    """Return the mask fields of the selected raters; None if labels to be rasterised are selected.

    If no raters are selected, stored masks are preferred.

    Raises
    ------
    InputError
        If masks and other labels are mixed, a name is repeated, or there are neither masks nor stored raters.
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
    """Return the classes in the mask targets of the data set, by value, without 0 and the ignored value.

    Raises
    ------
    InputError
        If fields have different names for one value, or masks are RGB.
    """
    dataset = root_of(samples)
    found: dict[int, str] = {}
    for field in fields:
        for value, name in (dataset.mask_targets.get(field) or dataset.default_mask_targets or {}).items():
            if not isinstance(value, int):
                raise InputError(f"masks: expected one integer value per class, got the colour {value!r} in {field!r}")
            if value in (0, ignore_value):
                continue
            if found.setdefault(value, str(name)) != str(name):
                raise InputError(f"masks: expected one name of the value {value}, got {found[value]!r} and {name!r}")
    return found
