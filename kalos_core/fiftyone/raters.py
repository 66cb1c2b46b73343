"""Which label field holds whose labels. Field names are derived from rater names once, stored, and never parsed."""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import fiftyone as fo

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed

INFO_KEY = "kalos"
"""Key under which `dataset.info` holds what this plugin knows about the data set."""

FACTS = "rater_facts"
"""Key in there of what is known of raters beyond their names."""

ASSIGNED_FIELD = "raters"
"""Sample field listing the names of the raters who were asked, so that 'looked and drew nothing' survives."""

SYNTHETIC = "kalos_synthetic"
"""Key in what a label field says of itself: its labels were generated, and where it is there its rater was asked."""

LABEL_LISTS: dict[type, str] = {fo.Detections: "detections", fo.Polylines: "polylines", fo.Keypoints: "keypoints"}
"""Label types that are read, and the attribute that holds their list."""


@dataclass(frozen=True)
class RaterFacts:
    """What is known of a rater beyond their labels.

    Parameters
    ----------
    person, session : str
        Who is behind the rater, and in which pass over the data; the rater's own name and "" unless known.
    classes : tuple of str, optional
        The classes they were asked for; None: all.
    is_local : bool
        Whether the rater means nothing beyond an image.
    """

    person: str
    session: str = ""
    classes: tuple[str, ...] | None = None
    is_local: bool = False


def label_fields(samples: Any) -> dict[str, str]:
    """Fields of a collection that hold labels of the kinds that are read, with the path of their list.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> dataset.add_sample_field("ann", fo.EmbeddedDocumentField, embedded_doc_type=fo.Detections)
    >>> label_fields(dataset)
    {'ann': 'ann.detections'}
    >>> dataset.delete()
    """
    schema = samples.get_field_schema(ftype=fo.EmbeddedDocumentField)
    return {
        name: f"{name}.{LABEL_LISTS[field.document_type]}"
        for name, field in schema.items()
        if field.document_type in LABEL_LISTS
    }


def rater_fields(samples: Any) -> dict[str, str]:
    """Rater name -> label field, as `load_raters` stored it; fields that are gone are left out."""
    stored = _dataset(samples).info.get(INFO_KEY, {}).get("raters", {})
    fields = label_fields(samples)
    return {name: field for field, name in stored.items() if field in fields}


def synthetic_fields(samples: Any) -> list[str]:
    """Label fields that `inject_noise` wrote: each is a rater of its own, asked wherever it is there at all."""
    schema = samples.get_field_schema()
    return [field for field in label_fields(samples) if SYNTHETIC in (schema[field].info or {})]


def class_names(samples: Any) -> list[str]:
    """The classes that occur in the stored raters' fields (in all label fields where none are stored), sorted."""
    fields = label_fields(samples)
    chosen = [fields[field] for field in rater_fields(samples).values()] or list(fields.values())
    found = samples.aggregate([fo.Distinct(f"{path}.label") for path in chosen]) if chosen else []
    return sorted({name for names in found for name in names})


def rater_names(samples: Any, fields: Iterable[str]) -> list[str]:
    """The rater behind each field; a field nobody was stored for is its own rater."""
    stored: Mapping[str, str] = _dataset(samples).info.get(INFO_KEY, {}).get("raters", {})
    return [stored.get(field, field) for field in fields]


def store_rater_fields(dataset: Any, fields: Mapping[str, str]) -> None:
    """Remember rater name -> field, beside what is stored already."""
    info = dict(dataset.info.get(INFO_KEY, {}))
    info["raters"] = {**info.get("raters", {}), **{field: name for name, field in fields.items()}}
    dataset.info[INFO_KEY] = info
    dataset.save()


def store_rater_facts(dataset: Any, annotations: Annotations) -> None:
    """Remember of each rater what labels do not say: person and session, and which classes they were asked for.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> raters = {"raters": ["a1", "a2"], "person": ["ann", "ann"], "session": ["1", "2"], "categories": ["cat", "dog"]}
    >>> store_rater_facts(dataset, Annotations.from_rows([], **raters, assigned_categories={"a2": ["dog"]}))
    >>> rater_facts(dataset)["a2"]
    RaterFacts(person='ann', session='2', classes=('dog',), is_local=False)
    >>> dataset.delete()
    """
    known = rater_facts(dataset)
    limits = annotations.assigned_categories
    for code, name in enumerate(annotations.raters):
        given = None if limits is None else tuple(annotations.categories[limits[code]])
        known[name] = RaterFacts(
            person=annotations.person[code],
            session=annotations.session[code],
            classes=None if given is None or len(given) == len(annotations.categories) else given,
            is_local=annotations.raters_are_local,
        )
    # a list: names of raters may hold what keys of a database may not
    told = [{"rater": name, **asdict(facts)} for name, facts in known.items() if facts != RaterFacts(name)]
    others = {key: value for key, value in dataset.info.get(INFO_KEY, {}).items() if key != FACTS}
    if told or len(others) < len(dataset.info.get(INFO_KEY, {})):
        dataset.info[INFO_KEY] = {**others, **({FACTS: told} if told else {})}
        dataset.save()


def rater_facts(samples: Any) -> dict[str, RaterFacts]:
    """Rater name -> what is stored of them; nothing of raters about whom there is nothing to say."""
    found = {}
    for record in _dataset(samples).info.get(INFO_KEY, {}).get(FACTS, []):
        facts = dict(record)
        name, classes = facts.pop("rater"), facts.pop("classes")
        found[name] = RaterFacts(**facts, classes=None if classes is None else tuple(classes))
    return found


def forget_rater_fields(dataset: Any, fields: Iterable[str]) -> None:
    """Undo `store_rater_fields` and `store_rater_facts` for these fields."""
    info = dict(dataset.info.pop(INFO_KEY, {}))
    gone = set(fields)
    known = info.pop("raters", {})
    stored = {field: name for field, name in known.items() if field not in gone}
    if stored:
        info["raters"] = stored
    nameless = {name for field, name in known.items() if field in gone}
    facts = [record for record in info.pop(FACTS, []) if record["rater"] not in nameless]
    if facts:
        info[FACTS] = facts
    if info:
        dataset.info[INFO_KEY] = info
    dataset.save()


def derive_field_names(raters: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A field name of its own for every rater: an identifier that is not taken.

    Examples
    --------
    >>> derive_field_names(["r1", "Dr. Weiß", "dr weiß", "id", "7"], taken=["id"])
    {'r1': 'r1', 'Dr. Weiß': 'Dr__Weiß', 'dr weiß': 'dr_weiß', 'id': 'rater_id', '7': 'rater_7'}
    >>> derive_field_names(["a b", "a.b"], taken=[])
    {'a b': 'a_b', 'a.b': 'a_b_2'}
    """
    used = set(taken)
    names: dict[str, str] = {}
    for rater in raters:
        text = unicodedata.normalize("NFKC", rater)  # as Python reads identifiers
        base = "".join(character if f"_{character}".isidentifier() else "_" for character in text)
        if not _fit_for_field(base) or base in taken or hasattr(fo.Sample, base):
            base = f"rater_{base.lstrip('_')}"
        name, number = base, 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        names[rater] = name
    return names


def resolve_fields(samples: Any, raters: Iterable[str] | None) -> dict[str, str]:
    """Rater name -> field for raters named by field or by name; None: all that are stored."""
    known = rater_fields(samples)
    if raters is None:
        if not known:
            raise InputError(
                "raters: this data set has no stored raters; pass the label fields, one per rater, or one field and "
                f"its rater attribute (label fields: {listed(label_fields(samples), 20) or 'none'})"
            )
        return known
    fields = label_fields(samples)
    schema = samples.get_field_schema()
    chosen: dict[str, str] = {}
    for entry in raters:
        field = known.get(entry, entry)
        if field not in schema:
            raise InputError(f"raters: expected a label field or a rater, got {entry!r} ({_offer(fields, known)})")
        if field not in fields:
            kind = getattr(schema[field], "document_type", type(schema[field])).__name__
            raise InputError(
                f"raters: expected a field of Detections, Polylines or Keypoints, got {field!r} of type {kind}"
            )
        name = rater_names(samples, [field])[0]
        if name in chosen:
            raise InputError(f"raters: expected every rater once, got {name!r} twice")
        chosen[name] = field
    return chosen


def reference_name(samples: Any, reference: str | None) -> str | None:
    """The name of a reference rater given by name or by field."""
    if reference is None:
        return None
    try:
        (name,) = resolve_fields(samples, [reference])
    except InputError as error:
        raise InputError(str(error).replace("raters:", "reference:", 1)) from None
    return name


def check_assigned_field(samples: Any) -> None:
    """Refuse a field of the name we use that holds something else."""
    field = samples.get_field(ASSIGNED_FIELD)
    if not isinstance(field, fo.ListField) or not isinstance(field.field, (fo.StringField, type(None))):
        raise InputError(
            f"samples: expected the field {ASSIGNED_FIELD!r} to list the names of who was asked, got a {field}; "
            "rename it, or choose assigned='all' or 'labelled'"
        )


def _offer(fields: Mapping[str, str], known: Mapping[str, str]) -> str:
    return f"label fields: {listed(fields, 20) or 'none'}; stored raters: {listed(known, 20) or 'none'}"


def _fit_for_field(name: str) -> bool:
    return name.isidentifier() and not name.startswith("_") and not keyword.iskeyword(name)


def _dataset(samples: Any) -> Any:
    return getattr(samples, "_root_dataset", samples)
