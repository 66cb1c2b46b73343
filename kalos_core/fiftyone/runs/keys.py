"""Run keys: the names derived from a key, and checks of new keys."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, listed, repr_of
from kalos_core.fiftyone.dataset.database import FieldArguments, collection
from kalos_core.fiftyone.dataset.document import own_runs, read_info, refresh, stored_document
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, derive_field_names, label_fields
from kalos_core.fiftyone.internals import LISTS, attributes_of, root_of

LONGEST_KEY = 200
"""Maximum number of characters of a run key, from which the names of about 60 fields are derived."""

ROOM = 50
"""Number of characters at the end of a key that are left for a number, and for the names of the runs of an analysis."""

NUMBER: FieldArguments = {"ftype": fo.FloatField}
WHOLE: FieldArguments = {"ftype": fo.IntField}
TEXT: FieldArguments = {"ftype": fo.StringField}
NUMBERS: FieldArguments = {"ftype": fo.ListField}
TEXTS: FieldArguments = {"ftype": fo.ListField, "subfield": fo.StringField}
DOCUMENTS: FieldArguments = {"ftype": fo.ListField, "subfield": fo.DictField}
READ_ONLY: FieldArguments = {"read_only": True}


def _sample(how: FieldArguments | None, description: str | None = None) -> Any:
    """Declare a sample field and its arguments; None: its kind of run provides them."""
    return field(init=False, metadata={"of": "samples", "how": how and {**how, "description": description}})


def _label(how: FieldArguments) -> Any:
    """Declare a label attribute and its arguments; FiftyOne's *Annotate* shows it read-only."""
    return field(init=False, metadata={"of": "labels", "how": {**how, **READ_ONLY}})


@dataclass(frozen=True)
class RunNames:
    """Names of all fields and attributes of a run key, with their declarations; names are derived only here.

    Examples
    --------
    >>> names = RunNames("first")
    >>> names.alpha, names.unit, names.main
    ('first_alpha', 'first_unit', 'first')
    >>> names.declared(names.unit)["first_unit"]["ftype"].__name__
    'IntField'
    """

    key: str
    # agreement
    alpha: str = _sample(NUMBER)
    class_names: str = _sample(TEXTS)
    class_alphas: str = _sample(NUMBERS)
    rater_alphas: str = _sample(NUMBERS)
    class_rater_alphas: str = _sample(NUMBERS)
    pair_alphas: str = _sample(NUMBERS)
    threshold_alphas: str = _sample(NUMBERS)
    attributes: str = _sample(NUMBERS)
    unit: str = _label(WHOLE)
    # units in dispute: each with its state, number of open decisions, and all decisions
    queue: str = _sample(DOCUMENTS, "Units in dispute, each with its classes, the raters who differ, and its state")
    disputes: str = _sample(WHOLE, "How many decisions about units in dispute are still open")
    decisions: str = _sample(DOCUMENTS, "Decisions about units, the latest last")
    next: str = _sample(WHOLE, "Order of the images for one more rater")
    # resolved labels: note of the decision, and who decided
    note: str = _label(TEXT)
    who: str = _label(TEXT)
    # variations: type, other rater, their class and similarity of each finding; all raters who annotated a whole where
    # others have parts; all raters who missed it
    all: str = _label(TEXTS)
    raters: str = _label(TEXTS)
    classes: str = _label(TEXTS)
    similarities: str = _label(NUMBERS)
    similarity: str = _label(NUMBER)
    match: str = _label(TEXTS)
    merged_by: str = _label(TEXTS)
    missed_by: str = _label(TEXTS)
    # estimated objects: probability of existence, raters who disagree, and labels that are no object
    existence: str = _label(NUMBER)
    against: str = _label(TEXTS)
    left_out: str = _sample(TEXTS)
    # synthetic raters: outcome and rater's field of each event of a label
    outcomes: str = _label(TEXTS)
    fields: str = _label(TEXTS)
    changes: str = _sample(WHOLE)
    # image-level labels
    agreement: str = _sample(NUMBER)
    accuracy: str = _sample(NUMBER)
    to_reference: str = _sample(NUMBER)
    disputed: str = _sample({"ftype": fo.BooleanField})
    questions: str = _sample(TEXTS)
    concepts: str = _sample(TEXTS)
    majority: str = _sample(None)
    tied: str = _sample(TEXTS)
    truth: str = _sample(None)
    confidence: str = _sample(NUMBER)
    # pixels
    rater_count: str = _sample(None)
    f1: str = _sample(NUMBER)
    regions: str = _sample(None)
    boundary: str = _sample(NUMBER)
    adjusted_rand: str = _sample(NUMBER)

    def __post_init__(self) -> None:
        for entry in dataclass_fields(self):
            if entry.metadata:
                object.__setattr__(self, entry.name, f"{self.key}_{entry.name}")

    @property
    def main(self) -> str:
        """Label attribute with the most serious variation type, or the event that made a synthetic label."""
        return self.key

    def _named(self, of: str) -> dict[str, FieldArguments]:
        entries = [entry for entry in dataclass_fields(self) if entry.metadata.get("of") == of]
        return {getattr(self, entry.name): entry.metadata["how"] for entry in entries}

    @property
    def of_samples(self) -> list[str]:
        """Names of all sample fields."""
        return list(self._named("samples"))

    @property
    def of_labels(self) -> list[str]:
        """Names of all label attributes."""
        return [self.main, *self._named("labels")]

    def declared(self, *names: str) -> dict[str, FieldArguments]:
        """Return the declarations of some fields and attributes by name."""
        known = {self.main: {**TEXT, **READ_ONLY}, **self._named("samples"), **self._named("labels")}
        return {name: known[name] for name in names}

    def fields_for(self, samples: Any, names: Iterable[str]) -> dict[str, str]:
        """Return a new, unused field under the key for each name."""
        wanted = {name: f"{self.key}_{name}" for name in names}
        taken = [*root_of(samples).get_field_schema(), ASSIGNED_FIELD, *self.of_samples]
        fields = derive_field_names(wanted.values(), taken)
        return {name: fields[field_name] for name, field_name in wanted.items()}


def written_fields(dataset: Any, run_key: str, fields: Iterable[str] = (), read: Iterable[str] = ()) -> list[str]:
    """Return the fields that a run declared, and its attributes in all current label fields.

    Label fields may have been renamed or cloned since the run. A record may be damaged: of fields of raters, and of
    those that the run `read`, only the attributes of the run are returned.
    """
    paths, names = label_fields(dataset).values(), RunNames(run_key).of_labels
    there = [found for path in paths for name in names if dataset.has_field(found := f"{path}.{name}")]
    foreign = {*read_info(dataset).get("raters", {}), *read}
    declared = [path for path in fields if path.partition(".")[0] not in foreign or path.rpartition(".")[2] in names]
    return list(dict.fromkeys([*declared, *there]))


def free_run_key(samples: Any, base: str, check: Callable[[Any, str], None] | None = None) -> str:
    """Return `base`, or `base` with the first number that makes it free; `check` raises for a key that is taken."""
    _check_spelling(base)
    number, key = 1, base
    while True:
        try:
            (check or check_run_key)(samples, key)
            return key
        except InputError:
            number += 1
            key = f"{base[: LONGEST_KEY - ROOM]}{number}"


def check_run_key(samples: Any, run_key: object) -> None:
    """Refuse a key that is not an identifier, is taken, or whose names would overwrite anything.

    Raises
    ------
    InputError
        The message names what would be overwritten.
    """
    run_key = _check_spelling(run_key)
    dataset = root_of(samples)
    refresh(dataset)
    if any(run_key in of for of in stored_document(dataset, *LISTS).values() if isinstance(of, dict)):
        raise InputError(f"run key: {run_key!r} is the key of another run; choose another or delete that run first")
    names = RunNames(run_key)
    wanted = {*names.of_samples, *names.of_labels}
    in_the_way = _reserved(names) + [
        f"the names of the run {key!r}"
        for key in own_runs(dataset)
        if not wanted.isdisjoint([*RunNames(key).of_samples, *RunNames(key).of_labels])
    ]
    in_the_way += _existing(dataset, names)
    if in_the_way:
        raise InputError(f"run key: {run_key!r} would overwrite {listed(in_the_way)}; choose another key")


def _check_spelling(run_key: object) -> str:
    name = run_key if isinstance(run_key, str) else ""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InputError(
            "run key: expected a name of letters, digits and underscores that starts with a letter, "
            f"got {repr_of(run_key)}"
        )
    if len(name) > LONGEST_KEY:
        raise InputError(f"run key: expected at most {LONGEST_KEY} characters, got {len(name):,}: {repr_of(name)}")
    if "__" in f"{name}_":  # FiftyOne's database layer splits names there
        raise InputError(f"run key: expected no underscore at the end and no two in a row, got {run_key!r}")
    return name


def _reserved(names: RunNames) -> list[str]:
    found = [f"the attribute {name!r} of samples" for name in names.of_samples if hasattr(fo.Sample, name)]
    for label in (fo.Detection, fo.Polyline, fo.Keypoint):
        own = attributes_of(label)
        clashes = [name for name in names.of_labels if name in own or hasattr(label, name)]
        found += [f"the attribute {name!r} of a {label.__name__}" for name in clashes]
    return found


def _existing(dataset: Any, names: RunNames) -> list[str]:
    schema = dataset.get_field_schema()
    found = [f"the field {name!r}" for name in names.of_samples if name in schema]
    paths = [f"{path}.{name}" for path in label_fields(dataset).values() for name in names.of_labels]
    declared = dataset.get_field_schema(flat=True)
    undeclared = [path for path in paths if path not in declared]
    used: set[str] = set()
    stored = collection(dataset)
    if undeclared and stored.find_one({"$or": [{path: {"$exists": True}} for path in undeclared]}, {}):
        used = {path for path in undeclared if stored.find_one({path: {"$exists": True}}, {})}
    return found + [f"the attribute {path!r}" for path in paths if path in declared or path in used]
