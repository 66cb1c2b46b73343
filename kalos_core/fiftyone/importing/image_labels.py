"""Loading of a table of image-level labels into a data set: one field per rater, or a common field."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import fiftyone as fo
import numpy as np
from bson import ObjectId

from kalos_core.display import number_of
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.database import FieldArguments, label_field
from kalos_core.fiftyone.dataset.image_labels import TIME_ATTRIBUTE
from kalos_core.fiftyone.dataset.raters import (
    ASSIGNED_FIELD,
    IMAGE_LABELS,
    derive_field_names,
    new_fields,
    store_raters,
)
from kalos_core.fiftyone.dataset.samples import every_sample
from kalos_core.fiftyone.importing.life import Given, Loaded, find_dataset, known_images, loading
from kalos_core.fiftyone.runs.arranging import arrange_app
from kalos_core.files import as_path
from kalos_core.nominal import LabelTable
from kalos_core.readers import read_long_labels

if TYPE_CHECKING:
    import pandas as pd

RATER_ATTRIBUTE = "rater"
"""Attribute that names the rater if all labels are in one field."""

TEMPLATE: dict[str, Any] = dict(fo.Classification(label="").to_dict())
"""Document of an empty label, as the installed version of FiftyOne makes it."""


@dataclass(frozen=True, repr=False)
class LoadedLabels(Loaded):
    """Result of `load_label_table`.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
    fields : dict
        Rater name -> field; a common field is the field of all raters.
    samples : int
        Number of samples that got answers.
    answers : int
    """

    _call = "kf.load_label_table(path, dataset)"

    samples: int
    answers: int

    @property
    def headline(self) -> str:
        """Result in one sentence."""
        where = f"{number_of(self.samples, 'sample')} of {self.dataset.name}"
        return f"{number_of(self.answers, 'answer')} of {number_of(len(self.fields), 'rater')} for {where}"

    @property
    def counts(self) -> dict[str, int]:
        """Number of answers and samples that were loaded."""
        return {"answers": self.answers, "samples": self.samples}


def load_label_table(
    table: str | os.PathLike[str] | pd.DataFrame | LabelTable,
    dataset: Any,
    *,
    field: str | None = None,
    **options: Any,
) -> LoadedLabels:
    """Load a table of image-level labels into a data set.

    Each rater gets a field of `Classification` if every answer is one of several exclusive labels, and a field of
    `Classifications` otherwise. Raters who answered for a sample are added to its list field `raters`, which preserves
    "looked and chose nothing". Times are stored in the attribute `answered_at` of each label.

    Parameters
    ----------
    table : path, pandas DataFrame or LabelTable
        A row for each label, as `kalos_core.read_long_labels` reads it; or the table of any reader, such as
        `kalos_core.read_wide_labels`. Items are sample ids or file names, with as many folders as are needed to
        distinguish them.
    dataset : str or fiftyone.core.dataset.Dataset
        An existing data set.
    field : str, optional
        A common field of `Classifications` for all raters, whose labels name them in the attribute `rater`. Use it for
        a large number of raters.
    **options
        Options of `kalos_core.read_long_labels`: ``item``, ``rater``, ``label``, ``time``, ``groups``, ``separator``,
        ``on_repeat``, ``on_empty``, ``on_unknown`` and the vocabularies.

    Returns
    -------
    LoadedLabels

    Raises
    ------
    InputError
        If items are not samples, or the data set already has labels of a rater; the message names them. Nothing is kept
        then.

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
    target = find_dataset(dataset)
    if target is None:
        raise InputError(f"dataset: expected one that exists, got {dataset!r}")
    if not isinstance(table, LabelTable):
        source = "table" if hasattr(table, "columns") else as_path(table, "table").name
        labels = read_long_labels(table, **options)
    elif options:
        raise InputError(f"options: expected none for a table that was already read, got {listed(options)}")
    else:
        labels, source = table, "table"
    fields = new_fields(target, labels.raters, IMAGE_LABELS)
    if field is not None:
        _check_new(target, field)
        fields = dict.fromkeys(fields, field)
    answered = [labels.items[item] for item in sorted(set(labels.item.tolist()))]
    sample_of = known_images(every_sample(target)).match(answered, source)
    one_group = len(labels.questions) == len(labels.groups) == 1
    single = field is None and one_group and len(set(labels.answer.tolist())) == len(labels.answer)
    attributes: dict[str, FieldArguments] = {}
    if np.isfinite(labels.time).any():
        attributes[TIME_ATTRIBUTE] = {"ftype": fo.FloatField}
    if field is not None:
        attributes[RATER_ATTRIBUTE] = {"ftype": fo.StringField}
    kind, lists = (fo.Classification, "") if single else (fo.Classifications, ".classifications")
    declared = {name: label_field(kind) for name in fields.values()}
    declared |= {f"{name}{lists}.{what}": how for name in declared for what, how in attributes.items()}
    with loading(target, declared, is_new=False) as load:
        load.write(_given(labels, fields, sample_of, single, list(attributes)), len(sample_of))
        if field is None:
            store_raters(target, fields)
    arrange_app(target)
    return LoadedLabels(target, fields, len(sample_of), len(labels))


def _check_new(dataset: Any, field: str) -> None:
    (derived,) = derive_field_names([field], [*dataset.get_field_schema(), ASSIGNED_FIELD]).values()
    if field != derived:
        raise InputError(f"field: expected the name of a new field, such as {derived!r}, got {field!r}")


def _given(
    table: LabelTable,
    fields: Mapping[str, str],
    sample_of: Mapping[Hashable, str],
    single: bool,
    attributes: Sequence[str],
) -> list[Given]:
    """Return the labels of each sample by field, and its raters: empty for no choice, missing for no answer."""
    raters, times = table.raters.astype(str)[table.rater].tolist(), table.time.tolist()
    labels: list[list[dict[str, Any]]] = [[] for _ in range(len(table))]
    for answer, concept in zip(table.answer.tolist(), table.concept.tolist(), strict=True):
        told = {RATER_ATTRIBUTE: raters[answer], TIME_ATTRIBUTE: None if isnan(times[answer]) else times[answer]}
        own = {name: told[name] for name in attributes if told[name] is not None}
        labels[answer].append({**TEMPLATE, "_id": ObjectId(), "label": str(table.concepts[concept]), **own})
    made: dict[str, tuple[dict[str, Any], list[str]]] = {key: ({}, []) for key in sample_of.values()}
    for item, rater, chosen in zip(table.items[table.item], raters, labels, strict=True):
        of_sample, assigned = made[sample_of[item]]
        assigned.append(rater)
        if not single:
            held = of_sample.setdefault(fields[rater], {"_cls": "Classifications", "classifications": []})
            held["classifications"] += chosen
        elif chosen:
            of_sample[fields[rater]] = chosen[0]
    return [(key, *given) for key, given in made.items()]
