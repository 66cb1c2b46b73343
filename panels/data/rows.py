"""Results of the library as plain values: numbers with intervals, and rows of a table given by its columns."""

from collections.abc import Iterable, Sequence
from typing import Any

from kalos_core.display import has_interval

Row = dict[str, Any]


def value_of(value: Any, interval: Any = None, reason: str = "") -> Row:
    """Return a number with its interval, as in `look/value.tsx`; `reason`: why it is undefined."""
    low, high = interval if interval is not None and has_interval(interval) else (None, None)
    return {"value": value, "low": low, "high": high, "reason": reason}


def values_of(values: Any, intervals: Any, reasons: Sequence[str] | None = None) -> list[Row]:
    """Return the numbers (N,) of a column with their intervals (N, 2), as a column for `rows_of`."""
    why = [""] * len(values) if reasons is None else reasons
    return [value_of(*one) for one in zip(values, intervals, why, strict=True)]


def measured(found: Any, *names: str) -> Row:
    """Return numbers of a result, each with its interval."""
    return {name: value_of(getattr(found, name), getattr(found, f"{name}_interval")) for name in names}


def row_of(found: Any, *same: str, **renamed: str) -> Row:
    """Return attributes of a result as a record, some of them under another name.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> row_of(SimpleNamespace(name="cat", items=3), "name", units="items")
    {'name': 'cat', 'units': 3}
    """
    return {name: getattr(found, own) for name, own in {**dict(zip(same, same, strict=True)), **renamed}.items()}


def rows_of(order: Iterable[Any] | None = None, **columns: Any) -> list[Row]:
    """Return the rows at these positions, in this order, of columns of N entries; by default all rows.

    Examples
    --------
    >>> rows_of([1, 0], name=["cat", "dog"], count=[3, 5])
    [{'name': 'dog', 'count': 5}, {'name': 'cat', 'count': 3}]
    """
    places = range(len(next(iter(columns.values())))) if order is None else order
    return [{name: column[at] for name, column in columns.items()} for at in places]
