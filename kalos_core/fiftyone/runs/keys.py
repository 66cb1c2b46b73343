"""Run keys: every name a key gives rise to, and which keys may be taken."""

from __future__ import annotations

import keyword
from dataclasses import dataclass
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.labels import every_sample
from kalos_core.fiftyone.raters import label_fields

METHOD = "kalos"
"""Runs of this plugin have the method ``kalos/<kind>``."""


@dataclass(frozen=True)
class RunNames:
    """Every name a run key gives rise to, made here and nowhere else.

    Examples
    --------
    >>> RunNames("first").alpha, RunNames("first").unit
    ('first_alpha', 'first_unit')
    """

    key: str

    @property
    def alpha(self) -> str:
        """Sample field: alpha of the image."""
        return f"{self.key}_alpha"

    @property
    def level(self) -> str:
        """Sample field: map of how many raters marked each pixel."""
        return f"{self.key}_level"

    def of_truth(self, name: str) -> str:
        """What the field of a truth is to be called; one may be in the way."""
        return f"{self.key}_{name}"

    @property
    def agreement(self) -> str:
        """Sample field: how likely two raters of the image give it the same label."""
        return f"{self.key}_agreement"

    @property
    def disputed(self) -> str:
        """Sample field: whether raters leave the labels of the image in dispute."""
        return f"{self.key}_disputed"

    @property
    def variation(self) -> str:
        """Label attribute: variation type."""
        return self.key

    @property
    def similarity(self) -> str:
        """Label attribute: least similarity to a partner."""
        return f"{self.key}_similarity"

    @property
    def match(self) -> str:
        """Label attribute: ids of the partners."""
        return f"{self.key}_match"

    @property
    def unit(self) -> str:
        """Label attribute: number of the unit."""
        return f"{self.key}_unit"

    @property
    def event(self) -> str:
        """Label attribute: the event that a label of a synthetic rater comes from."""
        return self.key

    def of_rater(self, name: str) -> str:
        """What the field of a synthetic rater is to be called; one may be in the way."""
        return f"{self.key}_{name}"

    @property
    def of_samples(self) -> list[str]:
        """All sample fields."""
        return [self.alpha, self.agreement, self.disputed, self.level]

    @property
    def of_labels(self) -> list[str]:
        """All label attributes."""
        return [self.variation, self.similarity, self.match, self.unit]


def is_ours(config: Any) -> bool:
    """Whether a run is one of this plugin."""
    return str(config.method).startswith(f"{METHOD}/")


def free_run_key(samples: Any, base: str) -> str:
    """`base`, or `base` with the first number that makes it free."""
    _check_spelling(base)
    number, key = 1, base
    while True:
        try:
            check_run_key(samples, key)
            return key
        except InputError:
            number += 1
            key = f"{base}{number}"


def check_run_key(samples: Any, run_key: object) -> None:
    """Refuse a key that is no identifier, is taken, or whose names would overwrite anything.

    Raises
    ------
    InputError
        Saying which name is in the way.
    """
    run_key = _check_spelling(run_key)
    dataset = samples._root_dataset
    dataset.reload()
    taken = {*dataset.list_runs(), *dataset.list_evaluations(), *dataset.list_brain_runs()}
    if run_key in taken or run_key in dataset.list_annotation_runs():
        raise InputError(f"run key: {run_key!r} is the key of another run; choose another or delete that run first")
    names = RunNames(run_key)
    in_the_way = _reserved(names) + _existing(dataset, names) + _of_other_runs(dataset, names)
    if in_the_way:
        raise InputError(f"run key: {run_key!r} would overwrite {listed(in_the_way)}; choose another key")


def _check_spelling(run_key: object) -> str:
    name = run_key if isinstance(run_key, str) else ""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise InputError(
            f"run key: expected a name of letters, digits and underscores that starts with a letter, got {run_key!r}"
        )
    return name


def _reserved(names: RunNames) -> list[str]:
    found = [f"the attribute {name!r} of samples" for name in names.of_samples if hasattr(fo.Sample, name)]
    for label in (fo.Detection, fo.Polyline, fo.Keypoint):
        own = {*label._fields, *label._fields_ordered}
        clashes = [name for name in names.of_labels if name in own or hasattr(label, name)]
        found += [f"the attribute {name!r} of a {label.__name__}" for name in clashes]
    return found


def _existing(dataset: Any, names: RunNames) -> list[str]:
    schema = dataset.get_field_schema()
    found = [f"the field {name!r}" for name in names.of_samples if name in schema]
    paths = [f"{path}.{name}" for path in label_fields(dataset).values() for name in names.of_labels]
    declared = dataset.get_field_schema(flat=True)
    undeclared = [path for path in paths if path not in declared]
    counts = every_sample(dataset).aggregate([fo.Count(path) for path in undeclared]) if undeclared else []
    used = {path for path, count in zip(undeclared, counts, strict=True) if count}
    return found + [f"the attribute {path!r}" for path in paths if path in declared or path in used]


def _of_other_runs(dataset: Any, names: RunNames) -> list[str]:
    wanted = {*names.of_samples, *names.of_labels}
    others = {key: RunNames(key) for key in dataset.list_runs() if is_ours(dataset.get_run_info(key).config)}
    return [
        f"the names of the run {key!r}"
        for key, theirs in others.items()
        if not wanted.isdisjoint([*theirs.of_samples, *theirs.of_labels])
    ]
