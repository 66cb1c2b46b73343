"""Tables of labels of whole items: long ones, a row a label, and wide ones, a column a rater."""

from __future__ import annotations

import csv
import os
import warnings
from codecs import BOM_UTF8
from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime, timezone
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.arguments import check_arguments
from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import as_path, read_bytes, read_text
from kalos_core.nominal import LabelTable, OnEmpty, OnRepeat, OnUnknown, RawLabels, build_table
from kalos_core.nominal.build import CodedLabels, check_choices, check_codes
from kalos_core.nominal.grouping import Groups

if TYPE_CHECKING:
    import pandas as pd

WORTH_PANDAS = 1 << 20
"""Bytes of a CSV file: less are read in the time that it takes to import pandas."""

LONGEST_BEGINNING = 1 << 16
"""Bytes of the header and the first row."""

MOST_NAMES = 20
"""Names of columns that a message lists."""


def read_long_labels(
    table: str | os.PathLike[str] | pd.DataFrame,
    *,
    item: str = "item",
    rater: str = "rater",
    label: str = "label",
    time: str | None = None,
    groups: Groups = "label",
    items: Sequence[Hashable] | None = None,
    raters: Sequence[str] | None = None,
    concepts: Sequence[str] | None = None,
    separator: str | None = None,
    on_repeat: OnRepeat = "raise",
    on_empty: OnEmpty = "raise",
    on_unknown: OnUnknown = "raise",
) -> LabelTable:
    r"""Labels of several raters from a table with a row for each label.

    Parameters
    ----------
    table : path or pandas DataFrame
        A CSV file with a header, in UTF-8 (``.gz`` is unpacked), or a frame; other columns are ignored.
    item, rater, label : str
        Names of the columns.
    time : str, optional
        Column with the time of an answer: numbers, or dates as ISO 8601 writes them (read as UTC unless they say
        otherwise, and kept as seconds since 1970).
    groups : str, mapping or None
        See `LabelTable.from_rows`: by default each row is an answer, and all labels exclude each other. With a mapping
        or None, the rows of a rater and item (and time) are one answer together.
    items, raters, concepts : sequences, optional
        The vocabularies; what occurs unless given.
    separator : str, optional
        Parts several labels in one cell.
    on_repeat : "raise", "first" or "last"
        A rater who answers an item again: an error that names them, or their first or last answer, by time where all
        rows have one, else by row.
    on_empty : "raise", "none" or "skip"
        An empty label: an error, "looked and chose nothing", or the row is left out.
    on_unknown : "raise" or "skip"
        A label that is not among `concepts`: an error, or left out with a warning.

    Returns
    -------
    LabelTable

    Raises
    ------
    InputError
        If the file cannot be read or lacks a column; or naming the lines that cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.csv"
    ...     _ = path.write_text("item,rater,label\na.jpg,ann,cat\na.jpg,bob,dog\n")
    ...     table = read_long_labels(path)
    >>> table.values().tolist(), table.options()
    ([[0, 1]], ('cat', 'dog'))
    """
    check_arguments(read_long_labels, locals())
    check_choices(groups, on_repeat, on_empty, on_unknown)
    needed = [item, rater, label] + ([] if time is None else [time])
    coded = _coded(table, needed, separator)
    fields = None if coded is None else check_codes(coded, groups, items, raters, concepts, on_empty)
    if fields is not None:
        return LabelTable(**fields)
    source, columns, name_of = _columns(table)  # row by row, to name those that cannot be used
    _check_columns(source, columns, needed)
    raw = RawLabels(
        item=columns[item],
        rater=columns[rater],
        label=[_parted(cell, separator) for cell in columns[label]],
        time=[None] * len(columns[item]) if time is None else _times(source, time, columns[time], name_of),
    )
    return build_table(
        raw,
        source=source,
        groups=groups,
        items=items,
        raters=raters,
        concepts=concepts,
        on_repeat=on_repeat,
        on_empty=on_empty,
        on_unknown=on_unknown,
        describe=name_of,
    )


def read_wide_labels(
    table: str | os.PathLike[str] | pd.DataFrame,
    *,
    item: str = "item",
    raters: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    groups: Groups = "label",
    concepts: Sequence[str] | None = None,
    separator: str | None = None,
    on_repeat: OnRepeat = "raise",
    on_empty: OnEmpty = "skip",
    on_unknown: OnUnknown = "raise",
) -> LabelTable:
    r"""Labels of several raters from a table with a row for each item and a column for each rater.

    Parameters
    ----------
    table : path or pandas DataFrame
        A CSV file with a header, in UTF-8 (``.gz`` is unpacked), or a frame.
    item : str
        Name of the column with the items.
    raters : sequence, optional
        Names of the columns of raters; all columns but `item` and `ignore` unless given.
    ignore : sequence
        Columns of no rater, such as a reference.
    groups, concepts, separator, on_repeat, on_unknown
        As in `read_long_labels`; an item in two rows is answered twice.
    on_empty : "raise", "none" or "skip"
        An empty cell: the rater did not answer ("skip", the default), looked and chose nothing ("none"), or an error.

    Returns
    -------
    LabelTable

    Raises
    ------
    InputError
        As `read_long_labels`, and if no column is left for a rater.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["a", "b"], "gt": [1, 0], "ann": [1, 0], "bob": [1, None]})
    >>> table = read_wide_labels(frame, ignore=["gt"])
    >>> table.values().tolist(), table.options()
    ([[0, 0], [1, -2]], ('1', '0'))
    """
    check_arguments(read_wide_labels, locals())
    source, columns, name_of = _columns(table)
    left_out = {item, *ignore}
    names = [name for name in columns if name not in left_out] if raters is None else list(raters)
    _check_columns(source, columns, [item, *ignore, *names])
    if not names:
        raise InputError(f"{source}: expected a column for each rater, got {listed(columns, MOST_NAMES)}")
    rows = range(len(columns[item]))
    raw = RawLabels(
        item=[columns[item][row] for row in rows for _ in names],
        rater=[name for _ in rows for name in names],
        label=[_parted(columns[name][row], separator) for row in rows for name in names],
        time=[None] * (len(rows) * len(names)),
    )
    return build_table(
        raw,
        source=source,
        groups=groups,
        raters=names,
        concepts=concepts,
        on_repeat=on_repeat,
        on_empty=on_empty,
        on_unknown=on_unknown,
        describe=lambda position: f"{name_of(position // len(names))}, column {names[position % len(names)]}",
    )


def _coded(table: Any, needed: Sequence[str], separator: str | None) -> CodedLabels | None:
    """Items, raters, labels and times, if needed, as codes; None where that takes a look at every row."""
    columns = _frame_texts(table, needed) if _is_frame(table) else _file_texts(table, needed)
    if columns is None:
        return None
    (item, items), (rater, raters), (label, labels), *timed = columns
    times = np.full(len(item), np.nan)
    for code, texts in timed:
        read = [_time(text) for text in texts]
        if not all(known for known, _ in read):
            return None
        times = np.array([np.nan if time is None else time for _, time in read])[code]
    parted = [_parted(text, separator) for text in labels]
    parts = [part if isinstance(part, list) else [part] for part in parted]
    return CodedLabels(item, rater, label, items, raters, labels, parts, times)


Texts = list[tuple[NDArray[np.intp], list[str]]]
"""Of several columns, the code of each row and the texts they stand for, in the order of first occurrence."""

BREAKS = ("\x00", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
"""Where Python's `csv` ends a line or stops, and pandas does neither."""


def _is_frame(table: Any) -> bool:
    """Without importing pandas for a file."""
    return hasattr(table, "columns") and hasattr(table, "__getitem__")


def _frame_texts(table: Any, needed: Sequence[str]) -> Texts | None:
    """Columns of a frame; None where they hold anything but text."""
    names = [str(name) for name in table.columns]
    if len(set(names)) != len(names) or not set(needed) <= set(names):
        return None
    import pandas as pd

    columns = [table.iloc[:, names.index(name)].to_numpy(object) for name in needed]
    if any(pd.api.types.infer_dtype(column, skipna=False) != "string" for column in columns):
        return None
    return [_factorized(column) for column in columns]


def _file_texts(table: Any, needed: Sequence[str]) -> Texts | None:
    """Columns of a CSV file, without spaces around; None for a small one, or where pandas may read other than `csv`."""
    data = read_bytes(as_path(table, "table", "a path or a pandas DataFrame"), "CSV file").removeprefix(BOM_UTF8)
    if len(data) < WORTH_PANDAS:
        return None
    import pandas as pd

    lines = data[:LONGEST_BEGINNING].splitlines(keepends=True)[:-1]
    if not lines or any(mark.encode() in data for mark in BREAKS):
        return None
    try:
        beginning = csv.reader([line.decode() for line in lines])
        header = [name.strip() for name in next(beginning)]
        if beginning.line_num > 1 or len(set(header)) != len(header) or not set(needed) <= set(header):
            return None
        first = next(filter(None, beginning), None)
        if first is None or len(first) > len(header):  # pandas looks at the rows after it
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # too many cells
            frame = pd.read_csv(
                BytesIO(data),
                header=None,
                skiprows=1,
                names=list(range(len(header))),
                index_col=False,
                dtype=object,
                keep_default_na=False,
                na_filter=False,
            )
    except (ValueError, csv.Error, pd.errors.ParserWarning):
        return None
    del data
    found = []
    for name in needed:
        code, values = _factorized(frame.iloc[:, header.index(name)].to_numpy())
        again, texts = _factorized(object_array(text.strip() for text in values))
        found.append((again[code], texts))
    return found


def _factorized(values: NDArray[np.object_]) -> tuple[NDArray[np.intp], list[Any]]:
    import pandas as pd

    code, distinct = pd.factorize(values)
    return code, distinct.tolist()


def _columns(table: Any) -> tuple[str, dict[str, list[Any]], Any]:
    """What to call the table, its columns, and how to call a row."""
    if _is_frame(table):
        names = [str(name) for name in table.columns]
        if len(set(names)) != len(names):
            raise InputError(f"table: expected each column once, got {listed(names, MOST_NAMES)}")
        index = table.index.tolist()
        given = table.notna()  # frames have several ways to say that a cell is empty
        values = [table.iloc[:, k].astype(object).where(given.iloc[:, k], None).tolist() for k in range(len(names))]
        return "table", dict(zip(names, values, strict=True)), lambda row: f"row {index[row]!r}"
    path = as_path(table, "table", "a path or a pandas DataFrame")
    lines, header, cells = _csv(path)
    columns = {name: [row[position] for row in cells] for position, name in enumerate(header)}
    return path.name, columns, lambda row: f"line {lines[row]}"


def _csv(path: Any) -> tuple[list[int], list[str], list[list[str]]]:
    """Numbers of the lines, the header, and the cells of every row."""
    reader = csv.reader(read_text(path, "CSV file").splitlines(keepends=True))
    lines, rows = [], []
    try:
        header = [name.strip() for name in next(reader, [])]
        for row in reader:
            if len(row) > len(header):
                raise InputError(f"{path}: line {reader.line_num}: expected {len(header)} cells, got {len(row)}")
            if any(cell.strip() for cell in row):
                lines.append(reader.line_num)
                rows.append([cell.strip() for cell in row] + [""] * (len(header) - len(row)))
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV, got {error} in line {reader.line_num}") from error
    if len(set(header)) != len(header):
        raise InputError(f"{path}: expected each column once, got {listed(header, MOST_NAMES)}")
    return lines, header, rows


def _check_columns(source: str, columns: Mapping[str, Any], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in columns]
    if missing:
        actual = listed(columns, MOST_NAMES) or "nothing"
        raise InputError(f"{source}: expected the columns {listed(missing, MOST_NAMES)}, got {actual}")


def _parted(cell: Any, separator: str | None) -> Any:
    """Several labels of one cell as a list; anything else as it is."""
    if separator == "":
        raise InputError("separator: expected what stands between two labels, got ''")
    if separator is None or not isinstance(cell, str) or not cell.strip():
        return cell
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _times(source: str, column: str, cells: Sequence[Any], name_of: Any) -> list[float | None]:
    problems = Problems(source)
    times = []
    for row, cell in enumerate(cells):
        known, time = _time(cell)
        if not known:
            problems.add(f"{name_of(row)}, column {column}", "a number or a date in ISO 8601", repr_of(cell))
        times.append(time)
    problems.raise_if_any()
    return times


def _time(cell: Any) -> tuple[bool, float | None]:
    """Whether a cell can be read as a time, and the time: a number as it is, a date as seconds since 1970."""
    if cell is None or cell == "" or cell != cell:
        return True, None
    moment = cell
    if not isinstance(cell, datetime):  # pandas' own are datetimes, too
        try:
            return True, float(cell)
        except (TypeError, ValueError):
            try:
                moment = datetime.fromisoformat(str(cell).replace("Z", "+00:00"))  # Python 3.10 knows no Z
            except ValueError:
                return False, None
    zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
    return True, zoned.timestamp()
