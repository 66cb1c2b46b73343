"""Loading a table of labels of whole images into a data set: one field per rater, or one of all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fiftyone as fo

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.image_labels.matching import match_items
from kalos_core.fiftyone.image_labels.sources import TIME_ATTRIBUTE, image_rater_fields
from kalos_core.fiftyone.labels import every_sample
from kalos_core.fiftyone.raters import (
    ASSIGNED_FIELD,
    check_assigned_field,
    derive_field_names,
    forget_rater_fields,
    store_rater_fields,
)
from kalos_core.nominal import LabelTable
from kalos_core.readers import read_long_labels

if TYPE_CHECKING:
    import pandas as pd

RATER_ATTRIBUTE = "rater"
"""Attribute that names the rater where all labels stand in one field."""


@dataclass(frozen=True)
class LoadedLabels:
    """What `load_label_table` did.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    fields : dict
        Rater name -> field; all raters have the one field if there is one.
    samples : int
        How many got answers.
    answers : int
    """

    dataset: Any
    fields: dict[str, str]
    samples: int
    answers: int


def load_label_table(
    table: str | os.PathLike[str] | pd.DataFrame | LabelTable,
    dataset: Any,
    *,
    field: str | None = None,
    **options: Any,
) -> LoadedLabels:
    """Write a table of labels of whole images into a data set.

    Each rater gets a field of `Classification` where every answer is one label of those that exclude each other, else
    of `Classifications`. Who answered for a sample is added to its list field `raters`, so that "looked and chose
    nothing" survives; times stand in the attribute `answered_at` of each label.

    Parameters
    ----------
    table : path, pandas DataFrame or LabelTable
        A row for each label, as `kalos_core.read_long_labels` reads it; or the table of any reader, such as
        `kalos_core.read_wide_labels`. Items are sample ids or file names, with as many of their folders as tell them
        apart.
    dataset : str or fiftyone.core.dataset.Dataset
        One that exists.
    field : str, optional
        One field of `Classifications` for all raters, whose labels name them in the attribute `rater`: for a crowd.
    **options
        Of `kalos_core.read_long_labels`: ``item``, ``rater``, ``label``, ``time``, ``groups``, ``separator``,
        ``on_repeat``, ``on_empty``, ``on_unknown`` and the vocabularies.

    Returns
    -------
    LoadedLabels

    Raises
    ------
    InputError
        Naming the items that are no sample, and raters whose labels the data set has already. Nothing is kept then.

    Examples
    --------
    >>> import pandas as pd
    >>> dataset = fo.Dataset()
    >>> _ = dataset.add_samples([fo.Sample("a.jpg"), fo.Sample("b.jpg")], progress=False)
    >>> rows = pd.DataFrame({"item": ["a.jpg", "a.jpg", "b"], "rater": ["ann", "bob", "ann"], "label": ["x", "y", "x"]})
    >>> load_label_table(rows, dataset).fields
    {'ann': 'ann', 'bob': 'bob'}
    >>> list(dataset.values(["ann.label", "bob.label", "raters"]))
    [['x', 'x'], ['y', None], [['ann', 'bob'], ['ann']]]
    >>> dataset.delete()
    """
    target = _open(dataset)
    if isinstance(table, LabelTable):
        if options:
            raise InputError(f"options: expected none for a table that is read already, got {listed(options)}")
        labels, source = table, "table"
    else:
        labels = read_long_labels(table, **options)
        source = "table" if hasattr(table, "columns") else os.path.basename(os.fsdecode(table))
    return _Loading(target, labels, field, source).run()


def _open(dataset: Any) -> Any:
    if isinstance(dataset, str):
        if not fo.dataset_exists(dataset):
            raise InputError(f"dataset: expected one that exists, got {dataset!r}")
        return fo.load_dataset(dataset)
    if not isinstance(dataset, fo.Dataset):
        raise InputError(f"dataset: expected a name or a data set, got {type(dataset).__name__}")
    return dataset


class _Loading:
    """One table on its way into one data set."""

    def __init__(self, dataset: Any, table: LabelTable, field: str | None, source: str) -> None:
        self.dataset, self.table, self.everything = dataset, table, every_sample(dataset)
        self.has_assigned = dataset.has_field(ASSIGNED_FIELD)
        if self.has_assigned:
            check_assigned_field(dataset)
        known = image_rater_fields(dataset)
        again = [f"{name!r} (field {known[name]!r})" for name in table.raters if name in known]
        if again:
            raise InputError(f"raters: the data set {dataset.name!r} already holds image labels of {listed(again)}")
        answered = sorted(set(table.item.tolist()))
        matched = match_items(self.everything, [table.items[item] for item in answered], source)
        self.sample_of = {item: matched[table.items[item]] for item in answered}
        self.one_field = field
        one_group = len(table.questions) == len(table.groups) == 1
        self.single = field is None and one_group and len(set(table.answer.tolist())) == len(table.answer)
        self.fields = self._name_fields(field)

    def _name_fields(self, field: str | None) -> dict[str, str]:
        taken = [*self.dataset.get_field_schema(), ASSIGNED_FIELD]
        if field is None:
            return derive_field_names(self.table.raters, taken)
        derived = derive_field_names([field], taken)[field]
        if field != derived:
            raise InputError(f"field: expected the name of a new field, such as {derived!r}, got {field!r}")
        return dict.fromkeys(map(str, self.table.raters), field)

    def run(self) -> LoadedLabels:
        """Write everything, or nothing."""
        asked_before = self._asked()
        names = list(dict.fromkeys(self.fields.values()))
        try:
            for name in names:
                kind = fo.Classification if self.single else fo.Classifications
                self.dataset.add_sample_field(name, fo.EmbeddedDocumentField, embedded_doc_type=kind)
            if not self.has_assigned:
                self.dataset.add_sample_field(ASSIGNED_FIELD, fo.ListField, subfield=fo.StringField)
            for name, labels in self._labels().items():
                self.everything.set_values(name, labels, key_field="id", dynamic=True)
            self.everything.set_values(ASSIGNED_FIELD, self._asked_now(asked_before), key_field="id")
            if self.one_field is None:
                store_rater_fields(self.dataset, self.fields)
        except BaseException:
            self.dataset.delete_sample_fields([name for name in names if self.dataset.has_field(name)])
            if self.has_assigned:
                self.everything.set_values(ASSIGNED_FIELD, asked_before, key_field="id")
            elif self.dataset.has_field(ASSIGNED_FIELD):
                self.dataset.delete_sample_field(ASSIGNED_FIELD)
            forget_rater_fields(self.dataset, names)
            raise
        return LoadedLabels(self.dataset, self.fields, len(self.sample_of), len(self.table))

    def _asked(self) -> dict[str, Any]:
        """Who was asked before, of the samples that the table speaks of."""
        if not self.has_assigned:
            return dict.fromkeys(self.sample_of.values())
        asked = dict(zip(*self.everything.values(["id", ASSIGNED_FIELD]), strict=True))
        return {key: asked[key] for key in self.sample_of.values()}

    def _asked_now(self, before: dict[str, Any]) -> dict[str, list[str]]:
        found = {key: list(names or ()) for key, names in before.items()}
        for item, rater in zip(self.table.item.tolist(), self.table.rater.tolist(), strict=True):
            names, name = found[self.sample_of[item]], str(self.table.raters[rater])
            if name not in names:
                names.append(name)
        return found

    def _labels(self) -> dict[str, dict[str, Any]]:
        """Field -> sample id -> labels: empty for who looked and chose nothing, none for who did not answer."""
        table = self.table
        chosen: list[list[Any]] = [[] for _ in range(len(table))]
        for answer, concept in zip(table.answer.tolist(), table.concept.tolist(), strict=True):
            chosen[answer].append(self._label(answer, str(table.concepts[concept])))
        made: dict[str, dict[str, Any]] = {name: {} for name in self.fields.values()}
        for answer, (item, rater) in enumerate(zip(table.item.tolist(), table.rater.tolist(), strict=True)):
            of_field = made[self.fields[str(table.raters[rater])]]
            of_field.setdefault(self.sample_of[item], []).extend(chosen[answer])
        if self.single:
            return {
                name: {key: labels[0] for key, labels in of_field.items() if labels} for name, of_field in made.items()
            }
        return {
            name: {key: fo.Classifications(classifications=labels) for key, labels in of_field.items()}
            for name, of_field in made.items()
        }

    def _label(self, answer: int, name: str) -> Any:
        time = float(self.table.time[answer])
        attributes: dict[str, Any] = {} if time != time else {TIME_ATTRIBUTE: time}
        if self.one_field is not None:
            attributes[RATER_ATTRIBUTE] = str(self.table.raters[self.table.rater[answer]])
        return fo.Classification(label=name, **attributes)
