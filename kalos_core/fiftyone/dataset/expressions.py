"""Questions to the labels of a view that the database answers by itself, whatever the size of the data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.fiftyone.dataset.raters import label_fields

Row = TypeVar("Row")


def text(value: str) -> ViewExpression:
    """A text as it is: one that begins with a dollar sign would else be the name of a field."""
    return ViewExpression.literal(value)


def list_of(name: str) -> ViewExpression:
    """A list that may be absent, which counts as empty."""
    return F(name).if_null([])


def together(*names: str) -> ViewExpression:
    """The lists of some attributes of a label as one list of tuples: of each finding its type, its rater and so on."""
    return ViewExpression.zip(*(list_of(name) for name in names))


def any_of(tuples: ViewExpression, condition: ViewExpression) -> ViewExpression:
    """Whether some of the tuples of `together` fulfil a condition, in which ``F()[0]`` is the first of a tuple."""
    return tuples.filter(condition).length() > 0


def only_labels(view: Any, fields: Iterable[str], condition: Any) -> Any:
    """Only the labels of some fields that fulfil a condition, and the samples that have any.

    `condition`: one for all fields, or a mapping of field to condition; a field that is not there is passed over.
    """
    paths = label_fields(view)
    conditions = dict.fromkeys(fields, condition) if not isinstance(condition, dict) else condition
    there = {field: each for field, each in conditions.items() if field in paths}
    if not there:
        return view.limit(0)
    has = [list_of(paths[field]).filter(each).length() > 0 for field, each in there.items()]
    found = view.match(ViewExpression.any(has))  # nested, as by `|`, the database takes some 60 of them
    for field, each in there.items():
        found = found.filter_labels(field, each, only_matches=False)
    return found


def files_of(view: Any, ids: Sequence[str]) -> dict[str, str]:
    """Sample id -> path of its file, of those of some ids that are there."""
    if not ids:
        return {}
    return dict(zip(*view.select(list(ids)).values(["id", "filepath"]), strict=True))


def with_files(
    view: Any, rows: Iterable[Row], sample_of: Callable[[Row], str], limit: int | None
) -> list[tuple[Row, str]]:
    """The first rows about samples that are still there, at most `limit`, with the names of their files."""
    waiting, found = iter(rows), list[tuple[Row, str]]()
    while part := list(islice(waiting, limit)):  # a sample that was deleted makes room for the next
        files = files_of(view, list(map(sample_of, part)))
        found += [(row, Path(files[sample_of(row)]).name) for row in part if sample_of(row) in files]
        if limit is not None and len(found) >= limit:
            break
    return found[:limit]
