"""Queries on the labels of a view that run entirely in the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.fiftyone.dataset.database import files_of
from kalos_core.fiftyone.dataset.raters import label_fields

Row = TypeVar("Row")


def text(value: str) -> ViewExpression:
    """Return a text as a literal expression; otherwise a leading dollar sign would make it a field name."""
    return ViewExpression.literal(value)


def list_of(name: str) -> ViewExpression:
    """Return an expression for a list attribute; an absent list, or a value that is no list, counts as empty."""
    return F(name).is_array().if_else(F(name), [])


def together(*names: str) -> ViewExpression:
    """Zip some list attributes of a label into a list of tuples, such as the type and rater of each finding."""
    return ViewExpression.zip(*(list_of(name) for name in names))


def any_of(tuples: ViewExpression, condition: ViewExpression) -> ViewExpression:
    """Return whether any tuple of `together` fulfils a condition; ``F()[0]`` is the first entry of a tuple."""
    return tuples.filter(condition).length() > 0


def only_labels(view: Any, fields: Iterable[str], condition: Any) -> Any:
    """Keep only the labels of some fields that fulfil a condition, and only samples with such labels.

    `condition`: one for all fields, or a mapping of field to condition; missing fields are skipped.
    """
    paths = label_fields(view)
    conditions = dict.fromkeys(fields, condition) if not isinstance(condition, dict) else condition
    there = {field: each for field, each in conditions.items() if field in paths}
    if not there:
        return view.limit(0)
    has = [list_of(paths[field]).filter(each).length() > 0 for field, each in there.items()]
    found = view.match(ViewExpression.any(has))  # nested by `|`, the database accepts only about 60
    for field, each in there.items():
        found = found.filter_labels(field, each, only_matches=False)
    return found


def with_files(
    view: Any, rows: Iterable[Row], sample_of: Callable[[Row], str], limit: int | None
) -> list[tuple[Row, str]]:
    """Return the first rows, at most `limit`, whose samples still exist, with their file names."""
    waiting, found = iter(rows), list[tuple[Row, str]]()
    while part := list(islice(waiting, limit)):  # a deleted sample makes room for the next row
        files = files_of(view, list(map(sample_of, part)))
        found += [(row, Path(files[sample_of(row)]).name) for row in part if sample_of(row) in files]
        if limit is not None and len(found) >= limit:
            break
    return found[:limit]
