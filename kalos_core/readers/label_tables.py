"""Readers of tables of item-level labels: long, with one row per label, and wide, with one column per rater."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Account, as_name
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, listed, repr_of, warn
from kalos_core.files import as_path
from kalos_core.nominal import LabelTable, RawLabels, build_table
from kalos_core.nominal.build import CodedLabels, Items, RaterNames, TableSettings, Unlabelled, check_codes
from kalos_core.options import Option, takes
from kalos_core.readers.answers import RepeatableSettings
from kalos_core.readers.cells import MISSING, Missing, as_cell_text, equal_numbers, is_missing, missing_texts
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
from kalos_core.readers.settings import reading
from kalos_core.readers.tables import MOST_NAMES, check_header, read_table

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class ColumnSettings(RepeatableSettings):
    """Options of both readers of tables of labels."""

    item: Annotated[
        str | None, Option("Column of items", "Column with the items; by default found by common spellings.")
    ] = None
    separator: Annotated[str | None, Option("Separator", "Text between several labels in one cell.")] = None
    missing: Missing = MISSING


@dataclass(frozen=True, kw_only=True)
class LongSettings(ColumnSettings):
    """Options of `read_long_labels`."""

    rater: Annotated[
        str | None, Option("Column of raters", "Column with the raters; by default found by common spellings.")
    ] = None
    label: Annotated[
        str | None, Option("Column of labels", "Column with the labels; by default found by common spellings.")
    ] = None
    time: Annotated[
        str | None,
        Option(
            "Column of times",
            "Column with the time of an answer: numbers, or ISO 8601 dates (UTC unless they have a time zone; stored "
            "as seconds since 1970).",
        ),
    ] = None
    items: Items = None
    raters: RaterNames = None
    on_empty: Unlabelled = "raise"


@dataclass(frozen=True, kw_only=True)
class WideSettings(ColumnSettings):
    """Options of `read_wide_labels`."""

    raters: Annotated[
        Sequence[str] | None,
        Option(
            "Columns of raters",
            "Columns of raters. By default all columns except that of the item and the ignored ones; columns with "
            "names such as comment or timestamp are then an error.",
            type="sequence of str, optional",
        ),
    ] = None
    ignore: Annotated[
        Sequence[str],
        Option("Ignored columns", "Columns that are not of a rater, such as a reference.", type="sequence of str"),
    ] = ()


@takes(LongSettings)
@reading
def read_long_labels(table: str | os.PathLike[str] | pd.DataFrame, settings: LongSettings) -> LabelTable:
    r"""Read labels of several raters from a table with one row per label.

    Parameters
    ----------
    table : path or pandas DataFrame
        A UTF-8 file with a header (``.gz`` is unpacked), separated by commas, semicolons, tabs or ``|``; a pandas
        table, or any object with ``to_pandas()``. Other columns are ignored. Decimal commas are not supported.

        Columns are found by common names: "image", "file" or "id"; "annotator", "worker" or "user"; "class", "answer"
        or "value". If two columns match and differ, an error is raised. By default, each row is an answer, and all
        labels exclude each other. With `groups` that are a mapping or None, the rows of a rater and item (and time) are
        one answer.

    Returns
    -------
    LabelTable
        Labels are text. If all are numbers, equal numbers are the same label: 1.0 is "1".

    Warns
    -----
    KalosWarning
        If answers are left out because of `on_repeat`, or labels "None" because they mean no answer. If 1 and 1.0 are
        two classes, as other labels are text, or labels differ only in case. If there are different scores, or answers
        marked as rejected, which are not used.

    Raises
    ------
    InputError
        If the file cannot be read, lacks a column, or has invalid lines (all are listed).

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
    empty = missing_texts(settings.missing)
    source, columns, name_of = _columns(table)
    named = {name: getattr(settings, name) for name in ("item", "rater", "label")}
    found = _long_columns(source, columns, named)
    account = Account(notes=say_columns([(name, (name,), (column,)) for name, column in found.items()], named.values()))
    needed = [*found.values()] + ([] if settings.time is None else [settings.time])
    _check_columns(source, columns, needed)
    account.unused |= _not_used(columns, needed, empty)
    fields = _coded_fields([columns[name] for name in needed], settings, empty)
    if fields is not None:
        return _coded_table(fields, source, account)
    cells = columns[found["label"]]  # row by row, to report invalid rows
    raw = RawLabels(
        item=_names(columns[found["item"]], empty),
        rater=_names(columns[found["rater"]], empty),
        label=[_parted(cell, settings.separator, empty) for cell in cells],
        time=[None] * len(cells)
        if settings.time is None
        else _times(source, settings.time, columns[settings.time], name_of, empty),
    )
    return _build(raw, cells, source, name_of, settings, account, items=settings.items, raters=settings.raters)


def _build(
    raw: RawLabels,
    cells: Sequence[Any],
    source: str,
    name_of: Callable[[int], str],
    settings: ColumnSettings,
    account: Account,
    **names: Any,
) -> LabelTable:
    """Build the table from records, one per cell, with warnings."""
    empty = missing_texts(settings.missing)
    if settings.on_empty == "raise":
        _refuse_missing(source, cells, empty, name_of)
    raw.label, same = _same_numbers(raw.label, _named(settings), source)
    made = build_table(
        raw,
        source=source,
        groups=_renamed(settings.groups, same),
        concepts=_renamed(settings.concepts, same),
        on_repeat=settings.on_repeat,
        on_empty=settings.on_empty,
        on_unknown=settings.on_unknown,
        describe=name_of,
        account=account,
        **names,
    )
    _warn_of_twins(made.concepts, source)
    _warn_of_none(cells, empty, source)
    return made


@takes(WideSettings)
@reading
def read_wide_labels(table: str | os.PathLike[str] | pd.DataFrame, settings: WideSettings) -> LabelTable:
    r"""Read labels of several raters from a table with one row per item and one column per rater.

    Parameters
    ----------
    table : path or pandas DataFrame
        As in `read_long_labels`. An item in two rows is answered twice. By default, an empty cell means that the rater
        did not answer.

    Returns
    -------
    LabelTable
        As returned by `read_long_labels`; labels are numbers only if the columns of all raters are.

    Warns
    -----
    KalosWarning
        As in `read_long_labels`; also for columns with several labels that no other column has.

    Raises
    ------
    InputError
        As raised by `read_long_labels`; also if no column is left for a rater, or if the table looks like one with one
        row per label.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"item": ["a", "b"], "gt": [1, 0], "ann": [1, 0], "bob": [1, None]})
    >>> table = read_wide_labels(frame, ignore=["gt"])
    >>> table.values().tolist(), table.options()
    ([[0, 0], [1, -2]], ('1', '0'))
    """
    empty, raters = missing_texts(settings.missing), settings.raters
    source, columns, name_of = _columns(table)
    of_items = _item_column(source, columns, settings.item, raters, settings.ignore)
    left_out = {of_items, *settings.ignore}
    spelled = " ".join(LABEL_SPELLINGS["item"]).split()  # other names of the item are not raters
    named = [name for name in columns if name not in left_out and plain_name(name) not in spelled]
    names = named if raters is None else list(raters)
    _check_columns(source, columns, [of_items, *settings.ignore, *names])
    if raters is None:
        _refuse_other_columns(source, names, columns[of_items])
    if not names:
        raise InputError(f"{source}: expected a column for each rater, got {listed(columns, MOST_NAMES)}")
    taken: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = [("item", ("item",), (of_items,))]
    taken += [("raters", (), (listed(names, MOST_NAMES),))] if raters is None else []
    account = Account(notes=[*say_columns(taken, [settings.item]), *_truths(names if raters is None else ())])
    fields = _coded_cells(columns[of_items], {name: columns[name] for name in names}, settings, empty)
    if fields is not None:
        made = _coded_table(fields, source, account)
        if raters is None:
            _warn_of_strangers(made, source)
        return made
    items = _names(columns[of_items], empty)
    cells = [columns[name][row] for row in range(len(items)) for name in names]  # one by one, as above
    raw = RawLabels(
        item=[item for item in items for _ in names],
        rater=names * len(items),
        label=[_parted(cell, settings.separator, empty) for cell in cells],
        time=[None] * len(cells),
    )
    of_cell: Callable[[int], str] = lambda at: f"{name_of(at // len(names))}, column {names[at % len(names)]}"  # noqa: E731
    made = _build(raw, cells, source, of_cell, settings, account, raters=names)
    if raters is None:
        _warn_of_strangers(made, source)
    return made


def looks_long(path: Path, given: Mapping[str, str | None]) -> bool:
    """Check whether a file has the columns of a table with one row per label, and no columns of boxes.

    Parameters
    ----------
    path : path
    given : mapping
        "item", "rater", "label" -> column, None for a column to be found.

    Raises
    ------
    InputError
        If two columns match and differ.
    """
    try:
        source, columns, _ = _columns(path)
    except InputError:
        return False  # the reader raises the error later
    if holds_boxes(list(columns)) or not {name for name in given.values() if name is not None} <= columns.keys():
        return False
    return find_label_columns(list(columns), given, source, lambda name: columns[str(name)]) is not None


def _long_columns(source: str, columns: Mapping[str, list[Any]], given: Mapping[str, str | None]) -> dict[str, str]:
    """Return the columns of items, raters and labels."""
    found = find_label_columns(list(columns), given, source, lambda name: columns[str(name)])
    if all(given.values()):
        return {name: str(column) for name, column in given.items()}
    if found is None:
        missing = [name for name, column in given.items() if column is None]
        raise InputError(
            f"{source}: expected the columns {listed(given)}, got {listed(columns, MOST_NAMES) or 'nothing'}: "
            f"name them by {', '.join(f'{name}=' for name in missing)}, or use common names, such as "
            "image, file or id; annotator, worker or user; class, answer or value"
        )
    return found


def _not_used(columns: Mapping[str, list[Any]], taken: Sequence[str], empty: frozenset[str]) -> Counter[str]:
    """Count rows with a score, if scores differ, and rows with a rejection."""
    spelled = dict.fromkeys(UNUSED["score"].split(), "score") | dict.fromkeys(REJECTED[0].split(), "rejection")
    found: Counter[str] = Counter()
    for name in [name for name in columns if name not in taken and plain_name(name) in spelled]:
        texts = [str(as_cell_text(cell)).strip().casefold() for cell in columns[name] if not is_missing(cell, empty)]
        if spelled[plain_name(name)] == "score":
            found[f"{name} (score)"] = len(texts) if len(set(texts)) > 1 else 0
        else:
            found[f"{name} (rejection)"] = sum(text in REJECTED[1] for text in texts)
    return +found


def _item_column(
    source: str, columns: Mapping[str, Any], item: str | None, raters: Sequence[str] | None, ignore: Sequence[str]
) -> str:
    """Return the column of items in a wide table, and check that it does not look like a long one."""
    given = [] if raters is None else list(raters)
    rest = [name for name in columns if name not in ignore and name not in given]
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
    """Raise an error for columns whose names are not those of raters."""
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
            f"{source}: expected a column for each rater, got {listed(others, MOST_NAMES)}: leave out columns that "
            f"are not of a rater with {option}, or name the raters by raters="
        )
    labelled = [name for name in names if plain_name(name) in LABEL_SPELLINGS["label"][0].split()]
    if labelled and len(names) > len(labelled):
        raise InputError(
            f"{source}: expected a column for each rater, got {listed(labelled)}, as a table with a row for each label "
            "has: name its column of raters by rater= (--rater), or the columns of raters by raters="
        )


def _truths(names: Sequence[str]) -> list[str]:
    """Return a note for each column that may contain the ground truth."""
    found = [name for name in names if plain_name(name) in TRUTHS.split()]
    return [
        f"{name} is read as a rater; if it is the ground truth, leave it out with ignore= (--ignore {name})"
        for name in found
    ]


def _warn_of_strangers(table: LabelTable, source: str) -> None:
    """Warn of columns with several labels that no other column has."""
    said = np.zeros((len(table.raters), len(table.concepts)), np.bool_)
    said[table.rater[table.answer], table.concept] = True
    is_alone = (said.sum(axis=1) > 1) & ~(said & (said.sum(axis=0) > 1)).any(axis=1)
    alone = table.raters[is_alone].tolist()
    if len(said) > 2 and alone and len(alone) < len(said) - 1:
        actual = f"{source}: no other column has a label of {listed(alone)}"
        warn(f"{actual}: leave out columns that are not of a rater with ignore= (--ignore)")


def _is_named(name: str) -> bool:
    """Check that a column is not the index that pandas or R writes."""
    return bool(name) and not re.fullmatch(r"Unnamed: \d+", name)


def _names(cells: Sequence[Any], empty: frozenset[str]) -> list[Any]:
    """Return items or raters: None if missing; if all are whole numbers, equal numbers get the same text."""
    names = [None if is_missing(cell, empty) else cell for cell in cells]
    same = equal_numbers((name for name in names if isinstance(name, str)), names=True)
    return [same.get(name, name) if isinstance(name, str) else name for name in names]


def _named(settings: ColumnSettings) -> list[Any]:
    """Return the labels that the caller named in groups and concepts."""
    groups = settings.groups
    of_groups = [name for of in groups.values() for name in of] if isinstance(groups, Mapping) else []
    return [as_name(name) for name in (*(settings.concepts or ()), *of_groups)]


def _renamed(names: Any, same: Mapping[str, str]) -> Any:
    """Replace numbers in the caller's names by the text that the labels use."""
    if isinstance(names, Mapping):
        return {group: _renamed(of, same) for group, of in names.items()}
    if names is None or isinstance(names, str) or not same:
        return names
    return [same.get(str(as_name(name)), name) for name in names]


def _same_numbers(labels: list[Any], named: Iterable[Any], source: str) -> tuple[list[Any], dict[str, str]]:
    """Return labels, or lists of them, as text with one text for equal numbers, and the mapping of changed texts."""
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
    """Raise an error for texts that mean no answer where an answer is required."""
    problems = Problems(source)
    rows = [row for row, cell in enumerate(cells) if isinstance(cell, str) and cell.strip() and is_missing(cell, empty)]
    expected = "a label (on_empty='skip' leaves out those without; missing= lists the texts that mean no answer)"
    problems.add_all(rows, name_of, expected, lambda row: repr_of(cells[row]))
    problems.raise_if_any()


def _warn_of_twins(concepts: Iterable[str], source: str) -> None:
    """Warn of equal numbers that are two classes because other labels are text, and of labels that differ in case."""
    names = set(concepts)
    spelled: dict[str, list[str]] = {}
    for name in sorted(names):
        spelled.setdefault(name.casefold(), []).append(name)
    several = next((found for found in spelled.values() if len(found) > 1), None)
    if several is not None:
        text = f"{source}: labels {listed(map(repr, several))} are different classes, although they differ only in case"
        warn(text)
    twins = sorted(name for name in names if name.endswith(".0") and name[:-2] in names)
    if twins:
        text = f"{source}: labels {twins[0][:-2]!r} and {twins[0]!r} are two classes, as not all labels are numbers"
        warn(text)


def _warn_of_none(cells: Sequence[Any], empty: frozenset[str], source: str) -> None:
    """Warn of cells "None", which may be meant as a class."""
    none = sum(isinstance(cell, str) and cell.strip().casefold() == "none" for cell in cells) if "none" in empty else 0
    if none:
        text = f"{source}: {number_of(none, 'cell')} 'None' read as no answer; if it is a class, use missing=['NA']"
        warn(text)


def _coded_fields(columns: Sequence[list[Any]], settings: LongSettings, empty: frozenset[str]) -> dict[str, Any] | None:
    """Return the coded fields of a table of items, raters, labels and times; None if it must be read row by row."""
    if any(set(map(type, cells)) != {str} for cells in columns):
        return None
    item, rater, label, *timed = map(_factorized, columns)
    times = np.full(len(item[0]), np.nan)
    for code, texts in timed:
        read = [_time(text, empty) for text in texts]
        if not all(known for known, _ in read):
            return None
        times = np.array([np.nan if time is None else time for _, time in read])[code]
    return _checked_fields(_recoded(*item, empty), _recoded(*rater, empty), label, times, settings, empty)


def _coded_cells(
    items: list[Any], columns: Mapping[str, list[Any]], settings: WideSettings, empty: frozenset[str]
) -> dict[str, Any] | None:
    """Return the coded fields of a table with one column per rater; None if it must be read row by row."""
    if any(set(map(type, cells)) != {str} for cells in (items, *columns.values())):
        return None
    item, names = _recoded(*_factorized(items), empty)
    raters = np.tile(np.arange(len(columns)), len(item)), list(columns)
    label = _factorized([cell for cells in zip(*columns.values(), strict=True) for cell in cells])
    item = np.repeat(item, len(columns))
    times = np.broadcast_to(np.nan, len(item))  # which takes no memory
    return _checked_fields((item, names), raters, label, times, settings, empty)


Coded = tuple[NDArray[np.intp], list[str]]
"""Codes, and the texts they stand for."""


def _checked_fields(
    item_of: Coded,
    rater_of: Coded,
    label_of: Coded,
    times: NDArray[np.float64],
    settings: LongSettings | WideSettings,
    empty: frozenset[str],
) -> dict[str, Any] | None:
    (item, items), (rater, raters), (label, labels) = item_of, rater_of, label_of
    if any(text.strip().casefold() == "none" and is_missing(text, empty) for text in labels):
        return None  # a warning counts them
    try:
        parted = [_parted(text, settings.separator, empty) for text in labels]
        lists = [part if isinstance(part, list) else [part] for part in parted]
        parts, same = _same_numbers(lists, _named(settings), "table")
    except InputError:
        return None  # reported later, with the name of the file
    texts = ["" if part is None else text for text, part in zip(labels, parted, strict=True)]
    coded = CodedLabels(item, rater, label, items, raters, texts, parts, times)
    groups, concepts = _renamed(settings.groups, same), _renamed(settings.concepts, same)
    names = {"items": None, "raters": raters} if isinstance(settings, WideSettings) else {}
    return check_codes(coded, settings.part(TableSettings, groups=groups, concepts=concepts, **names))


def _coded_table(fields: dict[str, Any], source: str, account: Account) -> LabelTable:
    """Build the table from its fields, with the warnings about them."""
    _warn_of_twins(fields["concepts"], source)
    account.read = len(fields["item"])
    if said := account.passed_over():
        warn(" ".join([f"{source}: {account.read:,} answers are read.", *said]))
    return LabelTable(**fields, account=account)


def _recoded(code: NDArray[np.intp], texts: list[str], empty: frozenset[str]) -> Coded:
    """Return codes and distinct names after the conversion of `_names`."""
    longest = max(map(len, empty), default=0)
    if not (
        any(len(text) <= longest and is_missing(text, empty) for text in texts) or equal_numbers(texts, names=True)
    ):
        return code, texts
    again, distinct = _factorized(["" if name is None else name for name in _names(texts, empty)])
    return again[code], distinct


def _factorized(cells: Sequence[str]) -> Coded:
    """Return the code of each cell and the distinct texts, in order of first occurrence."""
    number: defaultdict[str, int] = defaultdict()
    number.default_factory = number.__len__
    return np.fromiter(map(number.__getitem__, cells), np.intp, len(cells)), list(number)


def _columns(table: Any) -> tuple[str, dict[str, list[Any]], Callable[[int], str]]:
    """Return the name of the table, its columns, and a function that names a row."""
    if not hasattr(table, "iloc") and callable(getattr(table, "to_pandas", None)):
        table = table.to_pandas()
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        names, index = [str(name) for name in table.columns], table.index.tolist()
        check_header("table", names)
        given = table.notna()  # frames have several markers of empty cells
        values = [table.iloc[:, k].astype(object).where(given.iloc[:, k], None).tolist() for k in range(len(names))]
        columns, source = dict(zip(names, values, strict=True)), "table"
        name_of: Callable[[int], str] = lambda row: f"row {index[row]!r}"  # noqa: E731
    else:
        path = as_path(table, "table", "a path or a pandas DataFrame")
        read = read_table(path, "CSV file")
        columns, source = read.columns, path.name
        name_of = lambda row: f"line {read.lines[row]}"  # noqa: E731
    return source, {name: cells for name, cells in columns.items() if _is_named(name)}, name_of


def _check_columns(source: str, columns: Mapping[str, Any], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in columns]
    if missing:
        actual = listed(columns, MOST_NAMES) or "nothing"
        raise InputError(f"{source}: expected the columns {listed(missing, MOST_NAMES)}, got {actual}")


def _parted(cell: Any, separator: str | None, empty: frozenset[str]) -> Any:
    """Return several labels of one cell as a list; None for no answer; any other cell unchanged."""
    if separator == "":
        raise InputError("separator: expected the text between two labels, got ''")
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
    """Return whether a cell is a valid time, and the time: numbers unchanged, dates as seconds since 1970."""
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
