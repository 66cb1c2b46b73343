"""Reader of text tables whose cells are separated by commas, semicolons, tabs or vertical bars."""

from __future__ import annotations

import csv
from collections import Counter, deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from kalos_core.errors import InputError, listed
from kalos_core.files import read_text
from kalos_core.readers.cells import records, separator_of, without_mark
from kalos_core.readers.column_names import looks_like_data

LONGEST_CELL = 1 << 27
"""Maximum number of characters in a cell, which may contain all marks of an image."""

MOST_NAMES = 20
"""Maximum number of column names listed in a message."""


@dataclass(frozen=True, eq=False)
class Table:
    """A table of text, with stripped cells and without columns that have no name.

    Parameters
    ----------
    columns : dict of str to list of str
    lines : sequence of int
        Line number at which each record begins.
    separator : str
    """

    columns: dict[str, list[str]]
    lines: Sequence[int]
    separator: str

    def rows(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield line number and cells of each record."""
        for line, *cells in zip(self.lines, *self.columns.values(), strict=True):
            yield line, dict(zip(self.columns, cells, strict=True))


def read_table(path: Path, what: str, needed: Sequence[str] = ()) -> Table:
    r"""Read the table in a file with a header; `what` describes the file in messages.

    Raises
    ------
    InputError
        If it cannot be read, a column name occurs twice, a `needed` column is missing, or a row has too many cells.

    Examples
    --------
    >>> path = Path("table.csv")
    >>> _ = path.write_text('item;label\na.jpg; cat\n\n"b;c.jpg";dog')
    >>> table = read_table(path, "CSV file")
    >>> table.columns, list(table.lines)
    ({'item': ['a.jpg', 'b;c.jpg'], 'label': ['cat', 'dog']}, [2, 4])
    """
    text = without_mark(read_text(path, what)).replace("\r\n", "\n")
    separator = separator_of(text)
    header, columns, lines = _plain(text, separator) or _parsed(path, text, separator)
    names = [name for name in header if name]
    check_header(path.name, names)
    missing = [name for name in needed if name not in names]
    if missing:
        raise InputError(
            f"{path}: expected the columns {listed(needed, MOST_NAMES)}, got {listed(names, MOST_NAMES) or 'nothing'}"
        )
    named = {name: column for name, column in zip(header, columns, strict=True) if name}
    return Table(named, lines, separator)


def check_header(source: str, names: Sequence[Hashable]) -> None:
    """Raise an error for duplicate names of columns."""
    twice = sorted(str(name) for name, count in Counter(names).items() if count > 1)
    if twice:
        hint = looks_like_data(names)
        raise InputError(f"{source}: expected columns of different names, got {listed(twice)} twice{hint}")


def _plain(text: str, separator: str) -> tuple[list[str], list[list[str]], Sequence[int]] | None:
    """Return the columns of a table without quotes whose rows have the same number of cells; None for other tables."""
    text = text.rstrip("\n")
    if any(mark in text for mark in '"\r\0') or text[:1] == "\n":
        return None
    letters = np.frombuffer(f"{text}\n".encode(), np.uint8)
    ends, apart = (np.flatnonzero(letters == ord(mark)) for mark in ("\n", separator))
    cells = np.diff(apart.searchsorted(ends), prepend=0) + 1
    if cells[0] < 2 or (cells != cells[0]).any():
        return None
    flat = text.replace("\n", separator).split(separator)
    if " " in text or "\t" in text:
        flat = [cell.strip() for cell in flat]
    count = int(cells[0])
    empty = [row for row, cell in enumerate(flat[::count]) if not cell] if "" in flat[::count] else []
    if any(not any(flat[row * count : (row + 1) * count]) for row in empty):
        return None
    return flat[:count], [flat[start::count] for start in range(count, 2 * count)], range(2, len(ends) + 1)


def _parsed(path: Path, text: str, separator: str) -> tuple[list[str], list[list[str]], Sequence[int]]:
    """Return the columns of any table, record by record."""
    before = csv.field_size_limit(LONGEST_CELL)
    header, rows, lines, line = list[str](), list[list[str]](), list[int](), 1
    try:
        for line, row in records(text, separator):
            cells = [cell.strip() for cell in row]
            if not any(cells):
                continue
            if not header:
                header = cells
                continue
            if len(cells) > len(header):
                raise InputError(f"{path}: line {line}: expected {len(header)} cells, got {len(cells)}")
            rows.append(cells)
            lines.append(line)
        if text.count('"') % 2:  # a quote may not be closed
            deque(csv.reader(text.split("\n")[line - 1 :], delimiter=separator, strict=True), 0)
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV, got {error} after line {line}") from error
    finally:
        csv.field_size_limit(before)
    columns = [list(column) for column in zip_longest(header, *rows, fillvalue="")]
    return header, [column[1:] for column in columns], lines
