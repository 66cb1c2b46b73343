"""Estimated labels of samples: the likeliest class of each image, and its confidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.arrays import by_item
from kalos_core.fiftyone.dataset.database import FieldArguments, label_field
from kalos_core.fiftyone.dataset.raters import ESTIMATED
from kalos_core.fiftyone.kinds.labelled import label_documents
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.nominal import LabelTable, LabelTruth
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.grouping import Groups
from kalos_core.results import plain_values


def truth_schema(names: RunNames, groups: Groups) -> dict[str, FieldArguments]:
    """Declare the fields of `truth_values`."""
    about = f"Who is right, estimated by the run {names.key!r}; confidence: its probability"
    document = fo.Classification if isinstance(groups, str) else fo.Classifications
    return {names.truth: label_field(document, about, {ESTIMATED: names.key}), **names.declared(names.confidence)}


def truth_values(
    found: Sequence[LabelTruth], table: LabelTable, names: RunNames, groups: Groups
) -> dict[str, Iterable[Any]]:
    """Return the likeliest labels of each image with their probability, and the confidence of its weakest question."""
    parts = [_likeliest(truth, table) for truth in found]
    item, label, share = (np.concatenate(column) for column in zip(*parts, strict=True))
    pairs = object_array(list(zip(label.tolist(), share.tolist(), strict=True)))
    sure = np.fmin.reduce([truth.confidence for truth in found])
    documents = label_documents(by_item(item, pairs, len(sure)), np.isfinite(sure).tolist(), groups)
    return {names.truth: documents, names.confidence: plain_values(sure)}


def _likeliest(truth: LabelTruth, table: LabelTable) -> tuple[NDArray[Any], ...]:
    """Return items, their labels and their probabilities; a concept that is likely absent is not a label."""
    concepts = table.concepts_of(truth.question)
    is_optional = table.group_of[concepts[0]] == OPTIONAL
    codes = truth.label_codes - is_optional
    item = np.flatnonzero(codes >= 0)
    return item, table.concepts[concepts[codes[item]]], truth.confidence[item]
