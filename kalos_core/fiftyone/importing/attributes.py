"""Attributes of annotations, besides the class, as attributes of FiftyOne labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import fiftyone as fo
import numpy as np

from kalos_core.annotations import Annotations, object_array
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.encoding import LabelType
from kalos_core.fiftyone.dataset.raters import derive_field_names
from kalos_core.fiftyone.internals import attributes_of

FIELDS: tuple[tuple[set[type], type], ...] = (
    ({bool}, fo.BooleanField),
    ({int}, fo.IntField),
    ({int, float}, fo.FloatField),
    ({str}, fo.StringField),
)
"""Types of values, and the field type that holds them; other values are stored as text."""


def label_attributes(
    annotations: Annotations, kind: LabelType, taken: Iterable[str]
) -> tuple[dict[str, FieldArguments], dict[str, Any]]:
    """Return the declarations of the annotations' attributes and their (N,) values, by names valid for labels.

    `taken`: names of other attributes that are written.

    Examples
    --------
    >>> from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES
    >>> row = {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}
    >>> said = [{"is hurt": True, "age": 2, "index": "a"}, {"age": 2.5, "index": 3}]
    >>> table = Annotations.from_rows([{**row, "id": n, "attributes": of} for n, of in enumerate(said)])
    >>> declared, values = label_attributes(table, LABEL_TYPES["detections"], ())
    >>> {name: values[name].tolist() for name in declared}
    {'is_hurt': [True, None], 'age': [2, 2.5], 'attribute_index': ['a', '3']}
    """
    names = derive_field_names(annotations.attributes, [*attributes_of(kind.label), *taken], prefix="attribute")
    declared: dict[str, FieldArguments] = {}
    columns: dict[str, Any] = {}
    for name, column in annotations.attributes.items():
        values = [value.item() if isinstance(value, np.generic) else value for value in column.tolist()]
        given = {type(value) for value in values if value is not None}
        field = next((field for types, field in FIELDS if given <= types), None)
        if field is None:
            values = [None if value is None else str(value) for value in values]
        declared[names[name]], columns[names[name]] = {"ftype": field or fo.StringField}, object_array(values)
    return declared, columns
