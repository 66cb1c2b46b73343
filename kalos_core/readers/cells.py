"""Rules for the cells of all tables: texts that mean no answer, equal numbers, and separators."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Annotated, Any

from kalos_core.annotations.columns import as_name
from kalos_core.errors import InputError, check_iterable, listed, repr_of
from kalos_core.options import Option

SEPARATORS = (",", ";", "\t", "|")

MISSING = ("NA", "N/A", "#N/A", "#NA", "<NA>", "NaN", "null", "None")
"""Texts of a cell without an answer, ignoring case, as written by R, pandas, Excel, SQL and Python."""

Missing = Annotated[
    Sequence[str],
    Option(
        "Texts of no answer",
        "Texts of a cell that mean no answer, ignoring case; a blank cell always means no answer. If None is a "
        'class, pass the list without "None".',
        type="sequence of str",
    ),
]

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")

NAMED_BY_NUMBER = re.compile(r"[0-9]+(\.0)?")
"""Names that are whole numbers, also with ".0", as pandas writes a column with gaps. "1.10" and "1.1" are different
names."""

LARGEST_EXACT = 1 << 53
"""Limit below which whole numbers are exact as floats. Columns with larger numbers hold ids, and stay text."""


def missing_texts(missing: Sequence[str]) -> frozenset[str]:
    """Return the texts that mean no answer, ready for `is_missing`."""
    given = [missing] if isinstance(missing, str) else check_iterable(missing, "missing", "texts")
    names = [as_name(text) for text in given]
    wrong = [text for text in names if not isinstance(text, str | None)]
    if wrong:
        raise InputError(f"missing: expected texts, got {listed(map(repr_of, wrong))}")
    return frozenset(text.strip().casefold() for text in names if text)


USUAL = missing_texts(MISSING)


def is_missing(cell: object, missing: frozenset[str] = USUAL) -> bool:
    """Check whether a cell has no answer: it is blank, one of the texts of `missing_texts`, None, NaN, NA or NaT.

    Examples
    --------
    >>> [is_missing(cell) for cell in (" ", "n/a", "None", float("nan"), None, "none of these", 0, False)]
    [True, True, True, True, True, False, False, False]
    >>> is_missing("None", missing_texts(["NA"]))
    False
    """
    if isinstance(cell, str):
        text = cell.strip()
        return not text or text.casefold() in missing
    if cell is None:
        return True
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):  # the NA of pandas is neither equal nor unequal; arrays are both
        return type(cell).__name__ == "NAType"


def as_cell_text(cell: Any) -> Any:
    """Return numbers and truth values as text, whole numbers without a point, and any other cell as it is.

    Examples
    --------
    >>> as_cell_text(2.0), as_cell_text(2.5), as_cell_text(True), as_cell_text("2.0"), as_cell_text([1])
    ('2', '2.5', 'True', '2.0', [1])
    """
    if type(cell).__name__ in ("bool", "bool_"):
        return str(cell)
    if isinstance(cell, Integral):
        return str(int(cell))
    if isinstance(cell, Real) and cell == cell:
        return _written(float(cell))
    return cell


def equal_numbers(texts: Iterable[str], *, names: bool = False) -> dict[str, str]:
    """Map each text of a column of numbers to a canonical form of its number; empty if any text is not a number.

    A number that is written in only one way, with leading zeros, keeps them. With `names`, only whole numbers count.
    TRUE of R and True of Python are equal as well.

    Examples
    --------
    >>> equal_numbers(["1", "1.0", "1e0", "2.50", "007"])
    {'1': '1', '1.0': '1', '1e0': '1', '2.50': '2.5', '007': '007'}
    >>> equal_numbers(["1", "1.0", "cat"]), equal_numbers(["1.1", "1.10"], names=True)
    ({}, {})
    >>> equal_numbers(["TRUE", "True", "FALSE"])
    {'TRUE': 'True', 'True': 'True', 'FALSE': 'False'}
    >>> equal_numbers(["1", "1.0"], names=True)
    {'1': '1', '1.0': '1'}
    """
    spellings: dict[float, list[str]] = {}
    texts = dict.fromkeys(texts)
    if not names and {text.strip().casefold() for text in texts} <= {"true", "false"}:
        return {text: text.strip().capitalize() for text in texts}
    for text in texts:
        if not (NAMED_BY_NUMBER if names else NUMBER).fullmatch(text.strip()):
            return {}
        value = float(text)
        if not abs(value) < LARGEST_EXACT:
            return {}
        spellings.setdefault(value, []).append(text)
    found: dict[str, str] = {}
    for value, several in spellings.items():
        kept = several[0].strip() if len({text.strip() for text in several}) == 1 else ""
        usual = _written(value)
        found |= dict.fromkeys(several, kept if kept[:1] == "0" and kept.isdigit() else usual)
    return found


def _written(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < LARGEST_EXACT else repr(value)


def separator_of(text: str) -> str:
    """Return the separator that the header of a table has most often.

    Examples
    --------
    >>> separator_of("item;rater;label"), separator_of("item"), separator_of('"a;b;c;d",rater,label')
    (';', ',', ',')
    """
    header = re.sub(r'"[^"]*"', "", text.lstrip("\r\n").split("\n", 1)[0])
    return max(SEPARATORS, key=header.count)


def without_mark(text: str) -> str:
    r"""Return a table without the line "sep=;" that Excel writes before the header, replaced by an empty line.

    Examples
    --------
    >>> without_mark("sep=;\nitem;rater\n"), without_mark("item;rater\n")
    ('\nitem;rater\n', 'item;rater\n')
    """
    return re.sub(r'\A"?sep=[,;|\t]"?[ \t]*(?=\r?\n)', "", text, flags=re.IGNORECASE)


def records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    r"""Yield each record of a table with the number of its first line, as counted by an editor.

    Examples
    --------
    >>> list(records('item,label\n\n"a\nb",cat\nc,dog', ","))
    [(1, ['item', 'label']), (2, []), (3, ['a\nb', 'cat']), (5, ['c', 'dog'])]
    """
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    line = 1
    for row in reader:
        yield line, row
        line = reader.line_num + 1
