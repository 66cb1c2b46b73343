"""Tables of labels of whole items: long ones, a row a label, and wide ones, a column a rater."""

from __future__ import annotations

import csv
import os
import re
import warnings
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Account, as_name, object_array
from kalos_core.arguments import check_arguments
from kalos_core.display import number_of
from kalos_core.errors import InputError, KalosWarning, Problems, listed, repr_of
from kalos_core.files import as_path, open_file, read_bytes, read_text
from kalos_core.nominal import LabelTable, OnEmpty, OnRepeat, OnUnknown, RawLabels, build_table
from kalos_core.nominal.build import CodedLabels, TableSettings, check_codes
from kalos_core.nominal.grouping import Groups
from kalos_core.readers.cells import (
    MISSING,
    as_cell_text,
    equal_numbers,
    is_missing,
    missing_texts,
    records,
    separator_of,
    without_mark,
)
from kalos_core.readers.column_names import (
    LABEL_SPELLINGS,
    NO_RATERS,
    REJECTED,
    TRUTHS,
    UNUSED,
    find_label_columns,
    holds_boxes,
    plain_name,
    say_columns,
)

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
    item: str | None = None,
    rater: str | None = None,
    label: str | None = None,
    time: str | None = None,
    groups: Groups = "label",
    items: Sequence[Hashable] | None = None,
    raters: Sequence[str] | None = None,
    concepts: Sequence[str] | None = None,
    separator: str | None = None,
    missing: Sequence[str] = MISSING,
    on_repeat: OnRepeat = "raise",
    on_empty: OnEmpty = "raise",
    on_unknown: OnUnknown = "raise",
) -> LabelTable:
    r"""Labels of several raters from a table with a row for each label.

    Parameters
    ----------
    table : path or pandas DataFrame
        A file with a header, in UTF-8 (``.gz`` is unpacked), its cells separated by commas, semicolons, tabs or ``|``;
        a pandas table, or anything with ``to_pandas()``. Other columns are ignored. Decimal commas are not read.
    item, rater, label : str, optional
        Names of the columns. Unless given, they are found by their usual spellings: "image", "file" or "id";
        "annotator", "worker" or "user"; "class", "answer" or "value". Two columns that fit and differ are refused.
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
    missing : sequence of str
        Texts of a cell that mean no answer, in capitals or small letters; a blank cell always does. Leave "None" out
        where it is a class.
    on_repeat : "raise", "first" or "last"
        A rater who answers an item again: an error that names them, or their first or last answer, by time where all
        rows have one, else by row, with a warning that counts the others.
    on_empty : "raise", "none" or "skip"
        An empty label: an error, "looked and chose nothing", or the row is left out.
    on_unknown : "raise" or "skip"
        A label that is not among `concepts`: an error, or left out with a warning.

    Returns
    -------
    LabelTable
        Labels are text. Where all are numbers they are equal as numbers: 1.0 is "1".

    Warns
    -----
    KalosWarning
        If answers are left out because of `on_repeat`, labels "None" because they mean no answer, or if 1 and 1.0 are
        two classes, as other labels are text, or labels that differ in capitals. For scores that differ and answers
        marked as rejected, which are not used.

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
    TableSettings(groups=groups, on_repeat=on_repeat, on_empty=on_empty, on_unknown=on_unknown)
    empty = missing_texts(missing)
    table = _as_frame(table)
    named = {"item": item, "rater": rater, "label": label}
    found = _long_columns(table, named)
    account = Account(notes=say_columns([(name, (name,), (column,)) for name, column in found.items()], named.values()))
    needed = [*found.values()] + ([] if time is None else [time])
    unused = _unused_columns(table, needed)
    coded = _coded(table, needed, separator, empty, _named(concepts, groups), list(unused))
    fields = None
    if coded is not None:
        new, same, further = coded
        told = TableSettings(
            groups=_renamed(groups, same),
            items=items,
            raters=raters,
            concepts=_renamed(concepts, same),
            on_empty=on_empty,
        )
        fields = check_codes(new, told)
    if fields is not None:
        _warn_of_twins(fields["concepts"], _source(table))
        account.read = len(fields["item"])
        cells = [object_array(texts)[code].tolist() for code, texts in further]
        account.unused |= _not_used(dict(zip(unused, cells, strict=True)), unused, empty)
        if said := account.passed_over():
            text = " ".join([f"{_source(table)}: {account.read:,} answers are read.", *said])
            warnings.warn(text, KalosWarning, stacklevel=2)
        return LabelTable(**fields, account=account)
    source, columns, name_of = _columns(table)  # row by row, to name those that cannot be used
    _check_columns(source, columns, needed)
    account.unused |= _not_used(columns, unused, empty)
    labels = [_parted(cell, separator, empty) for cell in columns[found["label"]]]
    if on_empty == "raise":
        _refuse_missing(source, columns[found["label"]], empty, name_of)
    labels, same = _same_numbers(labels, _named(concepts, groups), source)
    raw = RawLabels(
        item=_names(columns[found["item"]], empty),
        rater=_names(columns[found["rater"]], empty),
        label=labels,
        time=[None] * len(labels) if time is None else _times(source, time, columns[time], name_of, empty),
    )
    made = build_table(
        raw,
        source=source,
        groups=_renamed(groups, same),
        items=items,
        raters=raters,
        concepts=_renamed(concepts, same),
        on_repeat=on_repeat,
        on_empty=on_empty,
        on_unknown=on_unknown,
        describe=name_of,
        account=account,
    )
    _warn_of_twins(made.concepts, source)
    _warn_of_none(columns[found["label"]], empty, source)
    return made


def read_wide_labels(
    table: str | os.PathLike[str] | pd.DataFrame,
    *,
    item: str | None = None,
    raters: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    groups: Groups = "label",
    concepts: Sequence[str] | None = None,
    separator: str | None = None,
    missing: Sequence[str] = MISSING,
    on_repeat: OnRepeat = "raise",
    on_empty: OnEmpty = "skip",
    on_unknown: OnUnknown = "raise",
) -> LabelTable:
    r"""Labels of several raters from a table with a row for each item and a column for each rater.

    Parameters
    ----------
    table : path or pandas DataFrame
        As in `read_long_labels`.
    item : str, optional
        Name of the column with the items; found by its usual spellings unless given.
    raters : sequence, optional
        Names of the columns of raters; all columns but `item` and `ignore` unless given, of which those are refused
        whose names say that they hold no labels ("comment", "timestamp"). A column such as "gt" is noted in `account`.
    ignore : sequence
        Columns of no rater, such as a reference.
    groups, concepts, separator, missing, on_repeat, on_unknown
        As in `read_long_labels`; an item in two rows is answered twice.
    on_empty : "raise", "none" or "skip"
        An empty cell: the rater did not answer ("skip", the default), looked and chose nothing ("none"), or an error.

    Returns
    -------
    LabelTable
        As `read_long_labels`; the columns of all raters together are numbers, or text.

    Warns
    -----
    KalosWarning
        As `read_long_labels`; for columns of several labels of which no other column has one.

    Raises
    ------
    InputError
        As `read_long_labels`, if no column is left for a rater, or if the table looks like one with a row a label.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["a", "b"], "gt": [1, 0], "ann": [1, 0], "bob": [1, None]})
    >>> table = read_wide_labels(frame, ignore=["gt"])
    >>> table.values().tolist(), table.options()
    ([[0, 0], [1, -2]], ('1', '0'))
    """
    check_arguments(read_wide_labels, locals())
    empty = missing_texts(missing)
    source, columns, name_of = _columns(_as_frame(table))
    of_items = _item_column(source, columns, item, raters, ignore)
    left_out = {of_items, *ignore}
    spelled = " ".join(LABEL_SPELLINGS["item"]).split()  # further names of the item are no raters
    named = [name for name in columns if name not in left_out and plain_name(name) not in spelled]
    names = named if raters is None else list(raters)
    _check_columns(source, columns, [of_items, *ignore, *names])
    if raters is None:
        _refuse_other_columns(source, names, columns[of_items])
    if not names:
        raise InputError(f"{source}: expected a column for each rater, got {listed(columns, MOST_NAMES)}")
    taken: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [("item", ("item",), (of_items,))]
    taken += [("raters", (), (listed(names, MOST_NAMES),))] if raters is None else []
    rows = range(len(columns[of_items]))
    items = _names(columns[of_items], empty)
    cells = [columns[name][row] for row in rows for name in names]
    of_cell: Callable[[int], str] = lambda at: f"{name_of(at // len(names))}, column {names[at % len(names)]}"  # noqa: E731
    if on_empty == "raise":
        _refuse_missing(source, cells, empty, of_cell)
    labels, same = _same_numbers([_parted(cell, separator, empty) for cell in cells], _named(concepts, groups), source)
    raw = RawLabels(
        item=[items[row] for row in rows for _ in names],
        rater=[name for _ in rows for name in names],
        label=labels,
        time=[None] * len(labels),
    )
    made = build_table(
        raw,
        source=source,
        groups=_renamed(groups, same),
        raters=names,
        concepts=_renamed(concepts, same),
        on_repeat=on_repeat,
        on_empty=on_empty,
        on_unknown=on_unknown,
        describe=of_cell,
        account=Account(notes=[*say_columns(taken, [item]), *_truths(names if raters is None else ())]),
    )
    _warn_of_twins(made.concepts, source)
    _warn_of_none(cells, empty, source)
    if raters is None:
        _warn_of_strangers(labels, names, source)
    return made


def header_of(table: Any) -> list[str]:
    """Names of the columns of a file or frame."""
    if _is_frame(table):
        return [str(name) for name in table.columns]
    with open_file(as_path(table, "table", "a path or a pandas DataFrame"), "CSV file in UTF-8") as file:
        start: str = file.read(LONGEST_BEGINNING).removeprefix(BOM_UTF8).decode(errors="replace")
    try:
        return [name.strip() for name in _header(records(without_mark(start), separator_of(without_mark(start))))]
    except csv.Error:
        return []  # the reader says why


def looks_long(path: Path, given: Mapping[str, str | None]) -> bool:
    """Whether a file has the columns of a table with a row for each label, and none of boxes.

    Parameters
    ----------
    path : path
    given : mapping
        "item", "rater", "label" -> the column, None for one to be found.

    Raises
    ------
    InputError
        If the file cannot be read, or two columns fit and differ.
    """
    header = header_of(path)
    if holds_boxes(header) or not {name for name in given.values() if name is not None} <= set(header):
        return False
    return find_label_columns(header, given, path.name, lambda name: _columns(path)[1][str(name)]) is not None


def _as_frame(table: Any) -> Any:
    """A frame from anything with ``to_pandas()``, such as a table of pyarrow."""
    return table.to_pandas() if not hasattr(table, "iloc") and callable(getattr(table, "to_pandas", None)) else table


def _source(table: Any) -> str:
    """What messages call a table."""
    return "table" if _is_frame(table) else as_path(table, "table", "a path or a pandas DataFrame").name


def _long_columns(table: Any, given: Mapping[str, str | None]) -> dict[str, str]:
    """The columns of items, raters and labels."""
    source = _source(table)
    if all(given.values()):
        return {name: str(column) for name, column in given.items()}
    header = [name for name in header_of(table) if _is_named(name)]
    found = find_label_columns(header, given, source, lambda name: _columns(table)[1][str(name)])
    if found is None:
        missing = [name for name, column in given.items() if column is None]
        raise InputError(
            f"{source}: expected the columns {listed(given)}, got {listed(header, MOST_NAMES) or 'nothing'}: "
            f"name them by {', '.join(f'{name}=' for name in missing)}; found by themselves are usual names, such as "
            "image, file or id; annotator, worker or user; class, answer or value"
        )
    return found


def _unused_columns(table: Any, taken: Sequence[str]) -> dict[str, str]:
    """Columns of scores and of rejections -> what they hold."""
    meant = {"score": UNUSED["score"], "rejection": REJECTED[0]}
    spelled = {spelling: what for what, spellings in meant.items() for spelling in spellings.split()}
    header = [name for name in header_of(table) if name not in taken]
    return {name: spelled[plain_name(name)] for name in header if plain_name(name) in spelled}


def _not_used(columns: Mapping[str, Sequence[Any]], unused: Mapping[str, str], empty: frozenset[str]) -> Counter[str]:
    """Count rows with a score, where scores differ, and rows with a rejection."""
    found: Counter[str] = Counter()
    for name, what in unused.items():
        texts = [str(as_cell_text(cell)).strip().casefold() for cell in columns[name] if not is_missing(cell, empty)]
        if what == "score":
            found[f"{name} (score)"] = len(texts) if len(set(texts)) > 1 else 0
        else:
            found[f"{name} (rejection)"] = sum(text in REJECTED[1] for text in texts)
    return +found


def _item_column(
    source: str, columns: Mapping[str, Any], item: str | None, raters: Sequence[str] | None, ignore: Sequence[str]
) -> str:
    """The column of items in a wide table, which must not look like a long one."""
    rest = [name for name in columns if name not in ignore and name not in (raters or ())]
    cells: Callable[[Hashable], Sequence[Any]] = lambda name: columns[str(name)]  # noqa: E731
    if raters is None:
        long = find_label_columns(rest, {"item": item}, source, lambda _: ["one"])  # by names only
        if long is not None:
            kind, reader = "a row for each label", "read_long_labels (--format long)"
            if holds_boxes(rest):
                kind, reader = "boxes", "read_boxes (kalos-core agreement)"
            raise InputError(
                f"{source}: expected a column for each rater, got {listed(long.values())}, as a table with {kind} has: "
                f"read it with {reader}, or name the raters by raters="
            )
    if item is not None:
        return item
    placed = find_label_columns(rest, {"rater": "", "label": ""}, source, cells)
    if placed is None:
        raise InputError(
            f"{source}: expected a column for the item, got {listed(columns, MOST_NAMES) or 'nothing'}: "
            "name it by item= (--item), or add one with the number of each row"
        )
    return placed["item"]


def _refuse_other_columns(source: str, names: Sequence[str], items: Sequence[Any]) -> None:
    """Refuse columns that are no rater's, by their names."""
    people = [name for name in names if plain_name(name) in LABEL_SPELLINGS["rater"][0].split()]
    if people and len(set(map(str, items))) < len(items):
        raise InputError(
            f"{source}: expected a row for each item, got items in several rows and {listed(people)}, as a table with "
            "a row for each label has: name its column of labels by label= (--label)"
        )
    others = [name for name in names if plain_name(name) in NO_RATERS.split()]
    if others:
        option = f"ignore={others!r} (--ignore {' '.join(others)})"
        raise InputError(
            f"{source}: expected a column for each rater, got {listed(others, MOST_NAMES)}: leave out what no rater "
            f"said with {option}, or name the raters by raters="
        )
    labelled = [name for name in names if plain_name(name) in LABEL_SPELLINGS["label"][0].split()]
    if labelled and len(names) > len(labelled):
        raise InputError(
            f"{source}: expected a column for each rater, got {listed(labelled)}, as a table with a row for each label "
            "has: name its column of raters by rater= (--rater), or the columns of raters by raters="
        )


def _truths(names: Sequence[str]) -> list[str]:
    """Say which columns may hold the truth."""
    found = [name for name in names if plain_name(name) in TRUTHS.split()]
    return [
        f"{name} is taken for a rater; if it holds the truth, ignore= (--ignore {name}) leaves it out" for name in found
    ]


def _warn_of_strangers(labels: Sequence[Any], names: Sequence[str], source: str) -> None:
    """Name columns of several labels of which no other column has one."""
    said: dict[str, set[str]] = {name: set() for name in names}
    for at, label in enumerate(labels):
        said[names[at % len(names)]] |= set(label if isinstance(label, list) else [label] if label is not None else [])
    shared = Counter(label for own in said.values() for label in own)
    alone = [name for name, own in said.items() if len(own) > 1 and all(shared[label] == 1 for label in own)]
    if len(said) > 2 and alone and len(alone) < len(said) - 1:
        actual = f"{source}: no other column has a label of {listed(alone)}"
        warnings.warn(f"{actual}: ignore= (--ignore) leaves out columns of no rater", KalosWarning, stacklevel=3)


def _is_named(name: str) -> bool:
    """Whether a column is not the index that pandas or R writes."""
    return bool(name) and not re.fullmatch(r"Unnamed: \d+", name)


def _names(cells: Sequence[Any], empty: frozenset[str]) -> list[Any]:
    """Items or raters: None for none, and whole numbers equal as numbers where all are."""
    names = [None if is_missing(cell, empty) else cell for cell in cells]
    same = equal_numbers((name for name in names if isinstance(name, str)), names=True)
    return [same.get(name, name) if isinstance(name, str) else name for name in names]


def _named(concepts: Sequence[str] | None, groups: Groups) -> list[Any]:
    """Labels that the caller names."""
    of_groups = [name for of in groups.values() for name in of] if isinstance(groups, Mapping) else []
    return [as_name(name) for name in (*(concepts or ()), *of_groups)]


def _renamed(names: Any, same: Mapping[str, str]) -> Any:
    """Names of the caller with numbers as the labels have them."""
    if isinstance(names, Mapping):
        return {group: _renamed(of, same) for group, of in names.items()}
    if names is None or isinstance(names, str) or not same:
        return names
    return [same.get(str(as_name(name)), name) for name in names]


def _same_numbers(labels: list[Any], named: Iterable[Any], source: str) -> tuple[list[Any], dict[str, str]]:
    """Labels of rows or lists of them, as text, equal numbers being one text; and how those were changed."""
    lists = [[as_cell_text(part) for part in label] if isinstance(label, (list, tuple)) else None for label in labels]
    found = [as_cell_text(label) if of is None else of for label, of in zip(labels, lists, strict=True)]
    said = [part for label in found if label is not None for part in (label if isinstance(label, list) else [label])]
    texts = dict.fromkeys(part for part in (*said, *named) if isinstance(part, str) and part.strip())
    same = equal_numbers(texts)
    commas = [text for text in texts if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text)]
    if commas and equal_numbers(text.replace(",", ".") for text in texts):
        actual = f"{commas[0]!r} (if these are several labels in a cell: separator=',')"
        raise InputError(f"{source}: expected numbers with a decimal point, got {actual}")
    if same:
        plain: Callable[[Any], Any] = lambda part: same.get(part, part) if isinstance(part, str) else part  # noqa: E731
        found = [list(map(plain, label)) if isinstance(label, list) else plain(label) for label in found]
    return found, same


def _refuse_missing(source: str, cells: Sequence[Any], empty: frozenset[str], name_of: Callable[[int], str]) -> None:
    """Name texts that mean no answer where there has to be one."""
    problems = Problems(source)
    rows = [row for row, cell in enumerate(cells) if isinstance(cell, str) and cell.strip() and is_missing(cell, empty)]
    expected = "a label (on_empty='skip' leaves out those without; missing= says which texts mean no answer)"
    problems.add_all(rows, name_of, expected, lambda row: repr_of(cells[row]))
    problems.raise_if_any()


def _warn_of_twins(concepts: Iterable[str], source: str) -> None:
    """Name numbers that stay two classes because other labels are text, and labels that differ in capitals."""
    names = set(concepts)
    spelled: dict[str, list[str]] = {}
    for name in sorted(names):
        spelled.setdefault(name.casefold(), []).append(name)
    several = next((found for found in spelled.values() if len(found) > 1), None)
    if several is not None:
        text = f"{source}: labels {listed(map(repr, several))} are classes of their own, though only capitals differ"
        warnings.warn(text, KalosWarning, stacklevel=3)
    twins = sorted(name for name in names if name.endswith(".0") and name[:-2] in names)
    if twins:
        text = f"{source}: labels {twins[0][:-2]!r} and {twins[0]!r} are two classes, as not all labels are numbers"
        warnings.warn(text, KalosWarning, stacklevel=3)


def _warn_of_none(cells: Sequence[Any], empty: frozenset[str], source: str) -> None:
    """Count cells "None", which are a class to some."""
    none = sum(isinstance(cell, str) and cell.strip().casefold() == "none" for cell in cells) if "none" in empty else 0
    if none:
        text = f"{source}: {number_of(none, 'cell')} 'None' taken for no answer; if it is a class, use missing=['NA']"
        warnings.warn(text, KalosWarning, stacklevel=3)


def _coded(
    table: Any,
    needed: Sequence[str],
    separator: str | None,
    empty: frozenset[str],
    concepts: Sequence[Any],
    further: Sequence[str] = (),
) -> tuple[CodedLabels, dict[str, str], Texts] | None:
    """Items, raters, labels and times, if needed, as codes, equal numbers, and further columns as they are.

    None where each row has to be read.
    """
    every = [*needed, *further]
    columns = _frame_texts(table, every) if _is_frame(table) else _file_texts(table, every)
    if columns is None:
        return None
    (item, items), (rater, raters), (label, labels), *timed = columns[: len(needed)]
    times = np.full(len(item), np.nan)
    for code, texts in timed:
        read = [_time(text, empty) for text in texts]
        if not all(known for known, _ in read):
            return None
        times = np.array([np.nan if time is None else time for _, time in read])[code]
    if any(text.strip().casefold() == "none" and is_missing(text, empty) for text in labels):
        return None  # a warning counts them
    (item, items), (rater, raters) = _recoded(item, items, empty), _recoded(rater, raters, empty)
    try:
        parted = [_parted(text, separator, empty) for text in labels]
        parts, same = _same_numbers([part if isinstance(part, list) else [part] for part in parted], concepts, "table")
    except InputError:
        return None  # refused with the name of the file
    texts = ["" if part is None else text for text, part in zip(labels, parted, strict=True)]
    return CodedLabels(item, rater, label, items, raters, texts, parts, times), same, columns[len(needed) :]


def _recoded(code: NDArray[np.intp], texts: list[str], empty: frozenset[str]) -> tuple[NDArray[np.intp], list[str]]:
    """Names as `_names` writes them, of distinct texts."""
    longest = max(map(len, empty), default=0)
    if not (
        any(len(text) <= longest and is_missing(text, empty) for text in texts) or equal_numbers(texts, names=True)
    ):
        return code, texts
    again, distinct = _factorized(object_array("" if name is None else name for name in _names(texts, empty)))
    return again[code], distinct


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
    between = separator_of(data[:LONGEST_BEGINNING].decode(errors="replace"))
    if not lines or not lines[0].strip() or any(mark.encode() in data for mark in BREAKS):
        return None
    try:
        beginning = csv.reader([line.decode() for line in lines], delimiter=between)
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
                sep=between,
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
        named = {name: cells for name, cells in zip(names, values, strict=True) if _is_named(name)}
        return "table", named, lambda row: f"row {index[row]!r}"
    path = as_path(table, "table", "a path or a pandas DataFrame")
    lines, header, cells = _csv(path)
    columns = {name: [row[at] for row in cells] for at, name in enumerate(header) if _is_named(name)}
    return path.name, columns, lambda row: f"line {lines[row]}"


def _csv(path: Any) -> tuple[list[int], list[str], list[list[str]]]:
    """Numbers of the lines, the header, and the cells of every row."""
    text = without_mark(read_text(path, "CSV file"))
    lines, rows, line = list[int](), list[list[str]](), 1
    try:
        of_file = records(text, separator_of(text))
        header = [name.strip() for name in _header(of_file)]
        for line, row in of_file:
            if len(row) > len(header):
                raise InputError(f"{path}: line {line}: expected {len(header)} cells, got {len(row)}")
            if any(cell.strip() for cell in row):
                lines.append(line)
                rows.append([cell.strip() for cell in row] + [""] * (len(header) - len(row)))
    except csv.Error as error:
        raise InputError(f"{path}: expected CSV, got {error} after line {line}") from error
    named = [name for name in header if name]
    if len(set(named)) != len(named):
        raise InputError(f"{path}: expected each column once, got {listed(header, MOST_NAMES)}")
    return lines, header, rows


def _header(of_file: Iterator[tuple[int, list[str]]]) -> list[str]:
    """The first record with something in it."""
    return next((row for _, row in of_file if any(cell.strip() for cell in row)), [])


def _check_columns(source: str, columns: Mapping[str, Any], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in columns]
    if missing:
        actual = listed(columns, MOST_NAMES) or "nothing"
        raise InputError(f"{source}: expected the columns {listed(missing, MOST_NAMES)}, got {actual}")


def _parted(cell: Any, separator: str | None, empty: frozenset[str]) -> Any:
    """Several labels of one cell as a list; None for no answer; anything else as it is."""
    if separator == "":
        raise InputError("separator: expected what stands between two labels, got ''")
    if not isinstance(cell, (list, tuple)) and is_missing(cell, empty):
        return None
    if separator is None or not isinstance(cell, str):
        return cell
    return [part.strip() for part in cell.split(separator) if not is_missing(part, empty)]


def _times(source: str, column: str, cells: Sequence[Any], name_of: Any, empty: frozenset[str]) -> list[float | None]:
    problems = Problems(source)
    times = []
    for row, cell in enumerate(cells):
        known, time = _time(cell, empty)
        if not known:
            problems.add(f"{name_of(row)}, column {column}", "a number or a date in ISO 8601", repr_of(cell))
        times.append(time)
    problems.raise_if_any()
    return times


def _time(cell: Any, empty: frozenset[str]) -> tuple[bool, float | None]:
    """Whether a cell can be read as a time, and the time: a number as it is, a date as seconds since 1970."""
    if is_missing(cell, empty):
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
