"""Loading a table of image-level labels into a data set: one field per rater, or one of all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fiftyone as fo
import numpy as np
from bson import ObjectId

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.image_labels import TIME_ATTRIBUTE
from kalos_core.fiftyone.dataset.names import derive_field_names
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, rater_fields, store_raters
from kalos_core.fiftyone.dataset.samples import every_sample
from kalos_core.fiftyone.dataset.writing import write_documents
from kalos_core.fiftyone.importing.files import match_items
from kalos_core.fiftyone.importing.life import existing_dataset, loading
from kalos_core.nominal import LabelTable
from kalos_core.readers import read_long_labels

if TYPE_CHECKING:
    import pandas as pd

RATER_ATTRIBUTE = "rater"
"""Attribute that names the rater where all labels stand in one field."""

TEMPLATE: dict[str, Any] = dict(fo.Classification(label="").to_dict())
"""The document of a label, of this version of FiftyOne."""


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
    """Write a table of image-level labels into a data set.

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
    target = existing_dataset(dataset)
    if isinstance(table, LabelTable):
        if options:
            raise InputError(f"options: expected none for a table that is read already, got {listed(options)}")
        labels, source = table, "table"
    else:
        labels = read_long_labels(table, **options)
        source = "table" if hasattr(table, "columns") else os.path.basename(os.fsdecode(table))
    return _Loading(target, labels, field, source).run()


class _Loading:
    """One table on its way into one data set."""

    def __init__(self, dataset: Any, table: LabelTable, field: str | None, source: str) -> None:
        self.dataset, self.table, self.everything = dataset, table, every_sample(dataset)
        known = rater_fields(dataset, IMAGE_LABELS)
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
        kind = fo.Classification if self.single else fo.Classifications
        declared: dict[str, Any] = {
            name: {"ftype": fo.EmbeddedDocumentField, "embedded_doc_type": kind} for name in self.fields.values()
        }
        prefix = "" if self.single else ".classifications"
        attributes: dict[str, Any] = {}
        if np.isfinite(self.table.time).any():
            attributes[TIME_ATTRIBUTE] = {"ftype": fo.FloatField}
        if self.one_field is not None:
            attributes[RATER_ATTRIBUTE] = {"ftype": fo.StringField}
        declared |= {f"{name}{prefix}.{what}": how for name in declared for what, how in attributes.items()}
        with loading(self.dataset, declared, is_new=False):
            documents = self._documents()
            write_documents(self.dataset, documents.items(), len(documents))
            if self.one_field is None:
                store_raters(self.dataset, self.fields)
        return LoadedLabels(self.dataset, self.fields, len(self.sample_of), len(self.table))

    def _documents(self) -> dict[str, dict[str, Any]]:
        """Sample id -> field -> labels: empty for who looked and chose nothing, none for who did not answer."""
        table = self.table
        before = dict(zip(*self.everything.values(["id", ASSIGNED_FIELD]), strict=True))
        chosen: list[list[str]] = [[] for _ in range(len(table))]
        for answer, concept in zip(table.answer.tolist(), table.concept.tolist(), strict=True):
            chosen[answer].append(str(table.concepts[concept]))
        made: dict[str, dict[str, Any]] = {}
        for answer, (item, rater) in enumerate(zip(table.item.tolist(), table.rater.tolist(), strict=True)):
            key, name = self.sample_of[item], str(table.raters[rater])
            fields = made.setdefault(key, {ASSIGNED_FIELD: list(before[key] or ())})
            if name not in fields[ASSIGNED_FIELD]:
                fields[ASSIGNED_FIELD].append(name)
            labels = [self._label(answer, concept) for concept in chosen[answer]]
            if not self.single:
                of_field = fields.setdefault(self.fields[name], {"_cls": "Classifications", "classifications": []})
                of_field["classifications"] += labels
            elif labels:
                fields[self.fields[name]] = labels[0]
        return made

    def _label(self, answer: int, name: str) -> dict[str, Any]:
        """The document of a label."""
        time = float(self.table.time[answer])
        attributes: dict[str, Any] = {} if time != time else {TIME_ATTRIBUTE: time}
        if self.one_field is not None:
            attributes[RATER_ATTRIBUTE] = str(self.table.raters[self.table.rater[answer]])
        return {**TEMPLATE, "_id": ObjectId(), "label": name, **attributes}
