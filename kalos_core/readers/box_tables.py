"""Tables of boxes, one row a box, from any program: CSV, Parquet, or a table in memory."""

from __future__ import annotations

import io
import os
import re
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import (
    Annotations,
    OnInvalid,
    RawTable,
    Source,
    as_name,
    build_annotations,
    object_array,
    warn_of_silent_raters,
)
from kalos_core.arguments import check_arguments
from kalos_core.errors import InputError, KalosWarning, Problems, as_number, check_choice, listed, repr_of
from kalos_core.files import as_float, as_path, open_file, read_text
from kalos_core.readers.column_names import FORMS, Columns, find_columns
from kalos_core.readers.sizes import Sizes, read_sizes
from kalos_core.readers.vocabulary import Aliases, Vocabulary, reconcile_all

if TYPE_CHECKING:
    import pandas as pd

Assigned: TypeAlias = "Mapping[Hashable, Sequence[str]] | Literal['all', 'drew'] | None"
"""Image -> raters, or a rule, or nothing said; as in `Annotations.from_rows`."""

Coordinates = Literal["auto", "pixels", "relative"]

BLANK = ("", "nan", "na", "n/a", "<na>", "none", "null")
"""How programs write that there is no number, in small letters."""

ONE_CLASS = "object"
"""The class of all boxes of a table without classes."""

ROUNDED = 1e-3
"""By how much a fraction may pass 0 or 1: some programs round to three digits."""

SEPARATORS = (",", ";", "\t", "|")

PARQUET = (".parquet", ".pq")


def read_boxes(
    table: str | os.PathLike[str] | Mapping[str, Any] | Any,
    columns: Mapping[str, Any] | None = None,
    *,
    coordinates: Coordinates = "auto",
    sizes: Sizes = None,
    assigned: Assigned = None,
    aliases: Aliases | None = None,
    raters_are_local: bool = False,
    on_invalid: OnInvalid = "raise",
) -> Annotations:
    r"""Boxes of several raters from a table: CSV, Parquet, pandas. One row a box.

    Parameters
    ----------
    table : path, DataFrame or mapping
        A file of comma-, semicolon- or tab-separated values with a header, which may end in ``.gz``; a Parquet file; a
        pandas table, anything with ``to_pandas()``, or a mapping column -> values.

        A row without any coordinate says that its rater saw the image and annotated nothing in this row, as the rows
        "No finding" of VinDr-CXR do.
    columns : mapping, optional
        Our name -> the table's column: ``image``, ``rater``, ``category``, and one of ``x_min``, ``y_min``, ``x_max``,
        ``y_max``; ``x``, ``y``, ``width``, ``height`` (first corner and sides); ``x_center``, ``y_center``, ``width``,
        ``height``. One column may hold all four, as a list or as text such as "[10, 20, 30, 40]": ``box`` (x, y, width,
        height, as in a ``bbox`` of COCO) or ``box_corners`` (x_min, y_min, x_max, y_max). Optional are ``image_width``,
        ``image_height`` (in pixels), ``id``, ``person`` and ``session``. What is not named is found by its usual
        spellings (`kalos_core.readers.column_names`). ``category: None``: the table has no classes, all boxes are of
        the class "object". A ``session`` without a ``person`` makes every session of a rater a rater of its own, named
        "ann (S1)".
    coordinates : "auto", "pixels" or "relative"
        Relative ones are fractions of width and height of the image, which are needed then. Auto: relative if all lie
        between 0 and 1 and not all are 0 or 1.
    sizes : path or mapping, optional
        Width and height of the images: a CSV file, a folder of the images, or a mapping image -> (width, height), as in
        `read_vindr`. They go before columns of the table.
    assigned : mapping image -> rater names, "all" or "drew", optional
        Who was assigned. A mapping may name images and raters that the table does not. ``"all"``: every rater to every
        image; ``"drew"``: on each image those who have a box there. Unless given: those who have a row of the image,
        where at least one row of the table has no coordinates; else every rater to every image, with a warning.
    aliases : mapping, optional
        What raters wrote -> class, as in `read_coco`.
    raters_are_local : bool
        Whether a rater means nothing beyond its image.
    on_invalid : "raise" or "skip"
        Boxes that cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Images, raters and classes are text, in order of first occurrence. Ids are those of the ``id`` column where each
        is there once, else the numbers of the lines (of the rows, from 1, where the table is no text file).

    Warns
    -----
    KalosWarning
        If nothing says who was assigned and some raters of an image have no box there, a class has no alias, or boxes
        reach beyond their image.

    Raises
    ------
    InputError
        If the file cannot be read, a column is not found (the error names those that are there), relative coordinates
        come without sizes, or a Parquet file without the package that reads it (``pip install
        kalos-fiftyone[parquet]``); or listing all rows that cannot be used.

    See Also
    --------
    read_vindr : the same for VinDr-CXR's own tables, with all of their checks.

    Examples
    --------
    >>> text = "photo,annotator,label,xmin,ymin,xmax,ymax"
    >>> text += "\na.jpg,ann,cat,10,20,30,50\na.jpg,bob,,,,,\nb.jpg,bob,dog,5,5,9,9"
    >>> _ = Path("boxes.csv").write_text(text)
    >>> annotations = read_boxes("boxes.csv")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[10.0, 20.0, 20.0, 30.0], [5.0, 5.0, 4.0, 4.0]], [[True, True], [False, True]])

    Columns of other names, and fractions of images of 100 x 50 pixels:

    >>> table = {"scan": ["s1"], "who": ["ann"], "what": ["cat"], "x": [0.1], "y": [0.2], "w": [0.5], "h": [0.5]}
    >>> names = {"rater": "who", "category": "what"}
    >>> read_boxes(table, names, sizes={"s1": (100, 50)}).shapes["box"].xywh().tolist()
    [[10.0, 10.0, 50.0, 25.0]]

    One column with all of a box, as text or as lists:

    >>> table = {"image": ["a", "a"], "rater": ["ann", "bob"], "label": ["cat", "cat"]}
    >>> table["bbox"] = ["[10, 20, 30, 40]", [11, 20, 30, 40]]
    >>> read_boxes(table).shapes["box"].xywh().tolist()
    [[10.0, 20.0, 30.0, 40.0], [11.0, 20.0, 30.0, 40.0]]
    """
    check_arguments(read_boxes, locals(), but=("columns",))
    check_choice(coordinates, "coordinates", "auto", "pixels", "relative")
    loaded = _load(table)
    found = _Boxes.find(loaded, columns, on_invalid)
    found.measure(sizes, coordinates)
    vocabulary = Vocabulary.from_aliases(aliases or {})
    result = found.build(assigned, vocabulary if aliases else None, raters_are_local)
    if vocabulary.unmapped:
        warnings.warn(f"{loaded.name}: {vocabulary.describe_unmapped()}", KalosWarning, stacklevel=2)
    return result


@dataclass(frozen=True)
class _Loaded:
    """A table as it was found.

    Parameters
    ----------
    frame : DataFrame (M rows)
    name : str
        For messages.
    number : (M,) int
        Of the line or row.
    noun : "line" or "row"
    decimal : str
        What stands between a whole number and its fraction.
    """

    frame: pd.DataFrame
    name: str
    number: NDArray[np.intp]
    noun: str
    decimal: str = "."

    def record(self, row: int) -> str:
        return f"{self.noun} {self.number[row]}"


def _load(table: Any) -> _Loaded:
    import pandas as pd  # slow to import, and needed here only

    if isinstance(table, (str, os.PathLike)):
        path = as_path(table, "table")
        if path.suffix.lower() in PARQUET:
            frame = _read_parquet(path)
            loaded = _Loaded(frame, path.name, np.arange(1, len(frame) + 1), "row")
        else:
            loaded = _read_separated(path)
    else:
        if isinstance(table, Mapping):
            try:
                table = pd.DataFrame(dict(table))
            except (TypeError, ValueError) as error:
                raise InputError(f"table: expected columns of one length, got {error}") from error
        elif not isinstance(table, pd.DataFrame) and callable(getattr(table, "to_pandas", None)):
            table = table.to_pandas()
        if not isinstance(table, pd.DataFrame):
            raise InputError(
                f"table: expected a path, a pandas table or a mapping of columns, got {type(table).__name__}"
            )
        loaded = _Loaded(table, "table", np.arange(1, len(table) + 1), "row")
    names = list(loaded.frame.columns)
    twice = sorted({str(name) for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"{loaded.name}: expected columns of different names, got {listed(twice)} twice")
    if not len(loaded.frame) and len(names):
        raise InputError(f"{loaded.name}: expected at least one row, got none")
    return loaded


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        with open_file(path, "Parquet file", unpacked=False) as file:
            return pd.read_parquet(file)
    except ImportError:
        raise InputError(
            f"{path}: expected the optional package pyarrow for Parquet, got none: pip install kalos-fiftyone[parquet]"
        ) from None
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:  # pyarrow's own errors are among these
        raise InputError(f"{path}: expected a readable Parquet file, got {error}") from error


def _read_separated(path: Path) -> _Loaded:
    """Every cell as text; the number of a line is that of the file, unless cells go over several lines."""
    import pandas as pd

    text = read_text(path, "table of boxes (CSV or Parquet)")
    header = text.lstrip().partition("\n")[0]
    separator = max(SEPARATORS, key=header.count)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # cells beyond the header
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                dtype=object,
                keep_default_na=False,
                skip_blank_lines=False,
                index_col=False,
                header=None,
                low_memory=False,
            )
    except pd.errors.EmptyDataError:
        raise InputError(f"{path}: expected a table with a header, got nothing") from None
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise InputError(f"{path}: expected CSV, got {str(error).strip()}") from error
    cells = np.where(frame.isna(), "", frame.to_numpy(object))
    filled = np.flatnonzero((cells != "").any(axis=1))
    if not len(filled):
        raise InputError(f"{path}: expected a table with a header, got nothing")
    names, rows = [str(name).strip() for name in cells[filled[0]]], filled[1:]
    named = [position for position, name in enumerate(names) if name]
    in_lines = len(cells) == len(text.splitlines())
    return _Loaded(
        pd.DataFrame(cells[rows][:, named], columns=[names[position] for position in named], dtype=object),
        path.name,
        rows + 1 if in_lines else np.arange(1, len(rows) + 1),
        "line" if in_lines else "row",
        "," if separator == ";" else ".",
    )


@dataclass(eq=False)
class _Boxes:
    """The rows of a table. M rows, I images, R raters.

    Parameters
    ----------
    loaded : _Loaded
    columns : Columns
    on_invalid : "raise" or "skip"
    problems, broken : Problems
        Rows that cannot be used; those of them that may be left out.
    images, raters : lists of str
    image, rater : (M,) int
        Codes, -1 where a row has none.
    category : (M,) object
        Text or None.
    box : (M, 4) float64
        x, y, width, height; NaN where it cannot be read.
    blank : (M,) bool
        Rows without coordinates.
    usable : (M,) bool
        Rows with a box.
    skipped : (I,) int
        Rows of each image that were left out.
    image_size : (I, 2) float64
    identity : dict
        Rater -> person and session, where there are sessions.
    """

    loaded: _Loaded
    columns: Columns
    on_invalid: OnInvalid
    problems: Problems
    broken: Problems
    images: list[str]
    raters: list[str]
    image: NDArray[np.intp]
    rater: NDArray[np.intp]
    category: NDArray[np.object_]
    box: NDArray[np.float64]
    blank: NDArray[np.bool_]
    usable: NDArray[np.bool_]
    skipped: NDArray[np.intp]
    image_size: NDArray[np.float64]
    identity: dict[str, tuple[str, str]]

    @classmethod
    def find(cls, loaded: _Loaded, given: Mapping[str, Any] | None, on_invalid: OnInvalid) -> _Boxes:
        columns = find_columns(list(loaded.frame.columns), given, loaded.name)
        problems, broken = Problems(loaded.name), Problems(loaded.name)
        cells = [loaded.frame[column] for column in columns.box]
        in_one = len(cells) == 1
        four = _taken_apart(cells[0]) if in_one else cells
        numbers, absent = zip(*(_numbers(column, loaded.decimal) for column in four), strict=True)
        values, missing = np.stack(numbers, axis=1), np.stack(absent, axis=1)
        blank = np.asarray(missing.all(axis=1))
        unread = np.isnan(values)
        faults = np.flatnonzero(unread.any(axis=1) & ~blank)
        at = np.zeros(len(unread), np.intp) if in_one else unread.argmax(axis=1)
        (problems if on_invalid == "raise" else broken).add_all(
            faults,
            lambda row: f"{loaded.record(row)}, column {columns.box[at[row]]}",
            f"four numbers ({', '.join(FORMS[columns.form])})" if in_one else "a number",
            lambda row: (
                "nothing" if missing[row, at[row]] and not in_one else f"{cells[at[row]].to_list()[row]!r:.100}"
            ),
        )
        image, images = _codes(loaded, columns.other["image"], problems)
        person, persons = _codes(loaded, columns.other["rater"], problems)
        rater, raters, identity = _sessions(loaded, columns, person, persons)
        category = object_array([ONE_CLASS] * len(blank))
        if "category" in columns.other:
            code, names = _codes(loaded, columns.other["category"], problems, needed=~blank)
            category = object_array([*names, None])[code]
        named = np.array([name is not None for name in category], np.bool_)
        usable = np.asarray(~unread.any(axis=1) & (image >= 0) & (rater >= 0) & named)
        box = _as_sides(values, columns.form)
        size = np.full((len(images), 2), np.nan)
        skipped = np.bincount(image[faults][image[faults] >= 0], minlength=len(images))
        return cls(
            loaded, columns, on_invalid, problems, broken, images, raters, image, rater, category, box, blank, usable,
            skipped, size, identity,
        )  # fmt: skip

    def measure(self, sizes: Sizes, coordinates: Coordinates) -> None:
        """Find the sizes of the images, and bring the boxes to pixels."""
        self._sizes_of_columns()
        size_of = read_sizes(sizes)
        for row, image in enumerate(self.images):
            given = size_of(image)
            if given == (None, None):
                continue
            numbers = _positive(given)
            if numbers is None:
                text = f"{given[0]!r} x {given[1]!r}"
                self.problems.add(f"size of {image!r}", "a positive width and height", text)
            else:
                self.image_size[row] = numbers
        boxes = self.box[self.usable]
        inside = bool(len(boxes)) and bool(((boxes >= -ROUNDED) & (boxes <= 1 + ROUNDED)).all())
        if coordinates == "pixels" or (coordinates == "auto" and not (inside and (boxes % 1).any())):
            return
        size = np.append(self.image_size, [[np.nan] * 2], axis=0)[self.image]
        unknown = np.flatnonzero(self.usable & np.isnan(size).any(axis=1))
        if len(unknown):
            names = list(dict.fromkeys(self.images[code] for code in self.image[unknown]))
            raise InputError(
                f"{self.loaded.name}: expected width and height of every image, as coordinates are fractions of them, "
                f"got none for {len(names):,}, such as {names[0]!r}: pass sizes={{image: (width, height)}}, name the "
                "columns image_width and image_height, or say coordinates='pixels'"
            )
        self.box = self.box * np.tile(size, 2)

    def _sizes_of_columns(self) -> None:
        other = self.columns.other
        if "image_width" not in other or "image_height" not in other:
            return
        names = [other["image_width"], other["image_height"]]
        columns = [_numbers(self.loaded.frame[name], self.loaded.decimal) for name in names]
        values, missing = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        used = self.usable & ~missing.any(axis=1)
        if self.columns.guessed_size and np.allclose(values[used], self.box[used, 2:], rtol=0, atol=1.5):
            return  # width and height of the boxes, beside their corners
        known = (self.image >= 0) & ~missing.any(axis=1)
        wrong = known & ~((values > 0) & np.isfinite(values)).all(axis=1)
        rows = np.flatnonzero(known & ~wrong)[::-1]
        self.image_size[self.image[rows]] = values[rows]  # the first row of each image decides
        other_size = rows[::-1][(self.image_size[self.image[rows[::-1]]] != values[rows[::-1]]).any(axis=1)]

        def by(pair: NDArray[Any]) -> str:
            return f"{pair[0]:g} x {pair[1]:g}"

        for found, expected in ((np.flatnonzero(wrong), "a positive width and height"), (other_size, "")):
            for row in found.tolist():
                text = expected or f"the size {by(self.image_size[self.image[row]])} that its image has elsewhere"
                self.problems.add(self.loaded.record(row), text, by(values[row]))

    def build(self, assigned: Assigned, vocabulary: Vocabulary | None, raters_are_local: bool) -> Annotations:
        """The table, with a warning where nothing says who was assigned."""
        loaded, rows = self.loaded, np.flatnonzero(self.usable)
        lists = self._assigned(assigned)
        images = list(dict.fromkeys([*self.images, *lists]))
        raters = list(dict.fromkeys([*self.raters, *(name for names in lists.values() for name in names)]))
        names = [self.raters[code] for code in self.rater[rows]]
        written = self.category[rows].tolist()
        if vocabulary is not None:
            written = reconcile_all(vocabulary, names, written, raters, loaded.name)
        category = dict.fromkeys(written)
        table = RawTable(
            image=[self.images[code] for code in self.image[rows]],
            rater=names,
            category=written,
            id=self._ids()[rows].tolist(),
            box=self.box[rows].tolist(),
        )
        size = np.full((len(images), 2), np.nan)
        size[: len(self.image_size)] = self.image_size
        persons = [self.identity.get(name, (name, "")) for name in raters]
        source = Source(
            name=loaded.name,
            images=images,
            files=images,
            raters=raters,
            categories={name: name for name in category},
            image_size=[(width, height) for width, height in size.tolist()],
            assigned=[lists.get(image) for image in images],
            person=[person for person, _ in persons],
            session=[session for _, session in persons],
            raters_are_local=raters_are_local,
            on_invalid=self.on_invalid,
            describe=lambda row: loaded.record(rows[row]),
            problems=self.problems,
        )
        made = build_annotations(table, source, stacklevel=4)
        if self.broken.count:
            warnings.warn(f"{self.broken.text()}\nThey are left out.", KalosWarning, stacklevel=3)
        more = np.append(self.skipped, np.zeros(len(images) - len(self.skipped), np.intp))
        made = replace(made, skipped=made.skipped + more)
        if assigned is None or isinstance(assigned, Mapping):
            unsaid = np.array([image not in lists for image in images], np.bool_)
            warn_of_silent_raters(made, unsaid, loaded.name, stacklevel=4)
        return made

    def _assigned(self, assigned: Assigned) -> dict[str, list[str]]:
        """Image -> names of raters, as far as it is said."""
        if isinstance(assigned, Mapping):
            given = {as_name(image): [as_name(name) for name in names] for image, names in assigned.items()}
        elif assigned in (None, "all", "drew"):
            given = {}
        else:
            raise InputError(
                f"assigned: expected a mapping of images to raters, 'all' or 'drew', got {repr_of(assigned)}"
            )
        known = (self.image >= 0) & (self.rater >= 0)
        if assigned == "all" or (assigned != "drew" and not (self.blank & known).any()):
            return given
        rows = np.flatnonzero(known & ~self.blank if assigned == "drew" else known)
        found: dict[str, list[str]] = {image: [] for image in self.images}
        for image, rater in np.unique(np.stack([self.image[rows], self.rater[rows]], axis=1), axis=0).tolist():
            found[self.images[image]].append(self.raters[rater])
        return found | given

    def _ids(self) -> NDArray[np.object_]:
        """(M,) the ids of the table where each is there once, else the numbers of the records."""
        numbers: NDArray[np.object_] = self.loaded.number.astype(object)
        if "id" not in self.columns.other:
            return numbers
        ids = self.loaded.frame[self.columns.other["id"]].to_numpy(object)
        used = ids[self.usable].tolist()
        try:
            usual = len(set(used)) == len(used) and not any(key is None or key == "" or key != key for key in used)
        except (TypeError, ValueError):
            return numbers
        if not usual:
            return numbers
        whole = all(isinstance(key, str) and key.isascii() and key.isdigit() and len(key) < 19 for key in used)
        if whole and len({int(key) for key in used}) == len(used):
            ids = np.array([int(key) if ready else None for key, ready in zip(ids, self.usable, strict=True)], object)
        return ids


def _numbers(column: pd.Series[Any], decimal: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(M,) numbers, NaN where there is none, and where a cell is empty."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(np.float64, na_value=np.nan)
        return values, np.isnan(values)
    cells = column.astype(object).where(column.notna(), None).to_list()
    found = [_number(cell, decimal) for cell in cells]
    missing = np.array([number is None for number in found], np.bool_)
    return np.array([np.nan if number is None else number for number in found], np.float64), missing


def _taken_apart(column: pd.Series[Any]) -> list[pd.Series[Any]]:
    """A column of lists of four, or of such lists as text, as four columns; "?" for what is neither.

    Examples
    --------
    >>> import pandas as pd
    >>> [part.tolist() for part in _taken_apart(pd.Series(["[1, 2.5 3;4]", (5, 6, 7, 8), None, [1, 2]]))]
    [['1', 5, None, '?'], ['2.5', 6, None, '?'], ['3', 7, None, '?'], ['4', 8, None, '?']]
    """
    import pandas as pd

    rows = [_four(cell) for cell in column.to_list()]
    return [pd.Series(part, dtype=object) for part in zip(*rows, strict=True)]


def _four(cell: object) -> Sequence[object]:
    """The four entries of a cell: None where it is empty, "?" where there are not four."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, str):
        text = cell.strip()
        inner = text[1:-1] if text[:1] + text[-1:] in ("[]", "()", "{}") else text
        cell = [] if inner.lower() in BLANK else re.split(r"\s*[,;]\s*|\s+", inner.strip())
    if isinstance(cell, (list, tuple)):
        return cell if len(cell) == 4 else ("?" if len(cell) else None,) * 4
    return (None if cell is None or cell != cell else "?",) * 4


def _number(cell: object, decimal: str) -> float | None:
    """The number in a cell; None for an empty one, NaN for what is no number.

    Examples
    --------
    >>> _number(" 2,5", ","), _number("NA", "."), _number("many", ".")
    (2.5, None, nan)
    """
    if isinstance(cell, str):
        text = cell.strip()
        if text.lower() in BLANK:
            return None
        found = as_float(text if decimal == "." else text.replace(decimal, "."))
        return np.nan if found is None else found
    if cell is None:
        return None
    number = as_number(cell)
    return np.nan if number is None else number


def _codes(
    loaded: _Loaded, column: Hashable, problems: Problems, needed: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.intp], list[str]]:
    """(M,) code of the name in each row, -1 for none, and the names; a problem where one is needed and absent."""
    import pandas as pd

    cells = loaded.frame[column]
    try:
        code, found = pd.factorize(cells.to_numpy(object))
    except TypeError:
        raise InputError(f"{loaded.name}, column {column}: expected names, got lists or mappings") from None
    names = [as_name(entry.strip() if isinstance(entry, str) else entry) for entry in found.tolist()]
    vocabulary = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    number = {name: position for position, name in enumerate(vocabulary)}
    of_name = np.array([*(number[name] if isinstance(name, str) else -1 for name in names), -1], np.intp)
    codes: NDArray[np.intp] = of_name[code]
    lacking = codes < 0 if needed is None else (codes < 0) & needed
    problems.add_all(
        np.flatnonzero(lacking),
        lambda row: f"{loaded.record(row)}, column {column}",
        "a name",
        lambda row: "nothing" if code[row] < 0 or names[code[row]] is None else repr_of(cells.to_list()[row]),
    )
    return codes, vocabulary


def _sessions(
    loaded: _Loaded, columns: Columns, person: NDArray[np.intp], persons: list[str]
) -> tuple[NDArray[np.intp], list[str], dict[str, tuple[str, str]]]:
    """Raters by row, their names, and name -> person and session."""
    if "session" not in columns.other:
        return person, persons, {}
    ignored, every = Problems(loaded.name), np.zeros(len(person), np.bool_)
    session, sessions = _codes(loaded, columns.other["session"], ignored, every)
    named: Callable[[str, str], str] = lambda name, turn: f"{name} (S{turn})" if turn else name  # noqa: E731
    people, owner = persons, person
    if "person" in columns.other:
        owner, people = _codes(loaded, columns.other["person"], ignored, every)
        named = lambda name, turn: name  # noqa: ARG005, E731
    triples, inverse = np.unique(np.stack([person, owner, session], axis=1), axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)
    first = np.full(len(triples), len(person), np.intp)
    np.minimum.at(first, inverse, np.arange(len(person)))
    raters: dict[str, int] = {}
    identity: dict[str, tuple[str, str]] = {}
    code = np.full(len(triples), -1, np.intp)
    for row in np.argsort(first):
        rater, of, turn = triples[row]
        if rater < 0:
            continue
        text = sessions[turn] if turn >= 0 else ""
        name = named(persons[rater], text)
        code[row] = raters.setdefault(name, len(raters))
        identity.setdefault(name, (people[of] if of >= 0 else persons[rater], text))
    return code[inverse], list(raters), identity


def _as_sides(values: NDArray[np.float64], form: str) -> NDArray[np.float64]:
    """(M, 4) x, y, width, height of boxes in one of `FORMS`."""
    with np.errstate(all="ignore"):  # what is not finite is refused with its record
        first, second = values[:, :2], values[:, 2:]
        if form == "corners":
            return np.concatenate([first, second - first], axis=1)
        return np.concatenate([first - second / 2, second], axis=1) if form == "centre" else values


def _positive(pair: tuple[object, object]) -> tuple[float, float] | None:
    try:
        width, height = (float(side) for side in pair)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return (width, height) if 0 < width < np.inf and 0 < height < np.inf else None
