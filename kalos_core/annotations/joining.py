"""Concatenation of annotation tables, and their conversion to flat arrays for storage."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.account import Account
from kalos_core.annotations.columns import AXES, CODES, NAMES, TEXT, object_array
from kalos_core.annotations.table import Annotations
from kalos_core.results import plain_values
from kalos_core.shapes.joining import column_arrays, column_of, join_columns

OTHERS = ("image_size", "assigned", "crowds", "skipped", "excluded")
CROWD = "crowd_"
"""Prefix of the arrays of crowd regions."""

ATTRIBUTES = "attributes.json"
"""Name of the array of attributes, which holds JSON as bytes; has a dot, like names of shape arrays."""


def join(tables: Sequence[Annotations]) -> Annotations:
    """Concatenate tables of different images with the same raters in the same order; sorts classes if they differ.

    Examples
    --------
    >>> def one(image, category):
    ...     row = {"image": image, "rater": "ann", "category": category, "box": [0, 0, 9, 9], "id": image}
    ...     return Annotations.from_rows([row], raters=["ann", "bob"], assigned="all")
    >>> both = join([one(1, "dog"), one(2, "cat")])
    >>> both.images.tolist(), both.categories.tolist(), both.category.tolist(), both.shapes["box"].area().tolist()
    ([1, 2], ['cat', 'dog'], [1, 0], [81.0, 81.0])
    """
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    categories = first.categories.tolist()
    if any(table.categories.tolist() != categories for table in tables):
        categories = sorted({name for table in tables for name in table.categories})
    code = {name: number for number, name in enumerate(categories)}
    recoded = [np.array([code[name] for name in table.categories], dtype=np.intp) for table in tables]
    before = np.cumsum([0, *(len(table.images) for table in tables)])
    limits = None
    if any(table.assigned_categories is not None for table in tables):
        limits = np.ones((len(first.raters), len(categories)), np.bool_)
        for table, codes in zip(tables, recoded, strict=True):
            if table.assigned_categories is not None:
                limits[:, codes] &= table.assigned_categories
    kinds = dict.fromkeys(kind for table in tables for kind in table.shapes)
    excluded = [
        np.column_stack([table.excluded[:, 0] + start, table.excluded[:, 1], codes[table.excluded[:, 2]]])
        for table, start, codes in zip(tables, before, recoded, strict=False)
    ]
    unchanged = [name for name, axes in AXES.items() if axes[0] in "NI" and name not in ("image", "category")]
    return Annotations(
        **{name: np.concatenate([getattr(table, name) for table in tables]) for name in unchanged},
        image=np.concatenate([table.image + start for table, start in zip(tables, before, strict=False)]),
        category=np.concatenate([codes[table.category] for table, codes in zip(tables, recoded, strict=True)]),
        shapes={kind: join_columns(kind, [table.shapes.get(kind, len(table)) for table in tables]) for kind in kinds},
        raters=first.raters,
        categories=object_array(categories),
        assigned_categories=limits,
        person=first.person,
        session=first.session,
        raters_are_local=first.raters_are_local,
        excluded=np.concatenate(excluded),
        crowd_regions=_join_crowds(tables),
        account=Account.of_parts(table.account for table in tables),
        attributes={
            name: np.concatenate(
                [table.attributes.get(name, np.full(len(table), None, dtype=object)) for table in tables]
            )
            for name in dict.fromkeys(name for table in tables for name in table.attributes)
        },
    )


def _join_crowds(tables: Sequence[Annotations]) -> Annotations | None:
    if all(table.crowd_regions is None for table in tables):
        return None
    return join([table.select(rows=[]) if table.crowd_regions is None else table.crowd_regions for table in tables])


def to_arrays(annotations: Annotations) -> dict[str, NDArray[Any]]:
    """Convert a table with flat shapes and text or number ids to arrays for `from_arrays`.

    Examples
    --------
    >>> row = {"image": "a.jpg", "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}
    >>> again = from_arrays(to_arrays(Annotations.from_rows([row])))
    >>> again.categories.tolist(), again.shapes["box"].area().tolist()
    (['cat'], [81.0])
    """
    arrays: dict[str, NDArray[Any]] = {name: getattr(annotations, name) for name in CODES}
    arrays |= {name: getattr(annotations, name).astype(str) for name in NAMES}
    arrays |= {name: getattr(annotations, name) for name in OTHERS}
    arrays["id"] = _storable(annotations.id)
    arrays["raters_are_local"] = np.array(annotations.raters_are_local)
    if annotations.assigned_categories is not None:
        arrays["assigned_categories"] = annotations.assigned_categories
    if annotations.crowd_regions is not None:
        arrays |= {f"{CROWD}{name}": array for name, array in to_arrays(annotations.crowd_regions).items()}
    for kind, column in annotations.shapes.items():
        arrays |= {f"{kind}.{name}": array for name, array in column_arrays(column).items()}
    if annotations.attributes:
        values = {name: column.tolist() for name, column in annotations.attributes.items()}
        arrays[ATTRIBUTES] = np.frombuffer(json.dumps(plain_values(values)).encode(), np.uint8)
    return arrays


def from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Annotations:
    """Rebuild the table from the arrays of `to_arrays`."""
    kinds: dict[str, dict[str, NDArray[Any]]] = {}
    crowds = {name[len(CROWD) :]: array for name, array in arrays.items() if name.startswith(CROWD)}
    arrays = {name: array for name, array in arrays.items() if not name.startswith(CROWD)}
    for name in arrays:
        kind, dot, part = name.partition(".")
        if dot and name != ATTRIBUTES:
            kinds.setdefault(kind, {})[part] = arrays[name]
    ids = arrays["id"]
    columns: dict[str, Any] = {name: arrays[name] for name in (*CODES, *OTHERS)}
    columns |= {name: object_array(arrays[name].tolist()) for name in NAMES}
    return Annotations(
        **columns,
        id=ids if ids.dtype.kind == "i" else ids.astype(TEXT),
        shapes={kind: column_of(kind, parts) for kind, parts in kinds.items()},
        assigned_categories=arrays.get("assigned_categories"),
        raters_are_local=bool(arrays["raters_are_local"]),
        crowd_regions=from_arrays(crowds) if crowds else None,
        attributes=attributes_from(arrays[ATTRIBUTES]) if ATTRIBUTES in arrays else {},
    )


def attributes_from(stored: NDArray[np.uint8]) -> dict[str, Any]:
    """Name -> (N,) values, from the array of attributes."""
    found: dict[str, Any] = json.loads(stored.tobytes())
    return found


def _storable(ids: NDArray[Any]) -> NDArray[Any]:
    """Convert ids to numbers, or to fixed-length text."""
    if ids.dtype.kind == "i":
        return ids
    return ids.astype("S") if ids.dtype == object else ids.astype(f"S{int(np.strings.str_len(ids).max(initial=1))}")
