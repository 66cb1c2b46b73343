"""Reader of tables of boxes, one row per box, from any program: CSV, Parquet, or a table in memory."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import (
    Account,
    Annotations,
    RawTable,
    Source,
    as_name,
    object_array,
    warn_of_silent_raters,
)
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, as_number, repr_of
from kalos_core.extras import optional
from kalos_core.files import as_float, as_path, open_file
from kalos_core.limits import check_unpacked
from kalos_core.options import Option, takes
from kalos_core.readers.cells import MISSING, Missing, as_cell_text, equal_numbers, is_missing, missing_texts
from kalos_core.readers.column_names import FORMS, Columns, find_columns
from kalos_core.readers.findings import build_reconciled, have_four_corners
from kalos_core.readers.outlines import Rings, as_list, bounds_of, corners_of, interleaved, rings_in
from kalos_core.readers.settings import AliasSettings, RatersAreLocal, reading
from kalos_core.readers.sizes import Sizes, read_sizes
from kalos_core.readers.tables import check_header, read_table
from kalos_core.shapes.boxes import LARGEST

if TYPE_CHECKING:
    import pandas as pd

BLANK = missing_texts(MISSING)

ONE_CLASS = "object"
"""Class of all boxes in a table without classes."""

ROUNDED = 1e-3
"""Amount by which a fraction may lie outside [0, 1], as some programs round to three digits."""

PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, kw_only=True)
class BoxSettings(AliasSettings):
    """Options of `read_boxes`."""

    columns: Annotated[
        Mapping[str, Any] | None,
        Option(
            "Columns",
            "Mapping of standard names to the table's columns. Other columns are found by common spellings, which "
            "`account` lists; None leaves a column out.",
            type="mapping, optional",
        ),
    ] = field(default=None, kw_only=False)
    coordinates: Annotated[
        Literal["auto", "pixels", "relative"],
        Option(
            "Coordinates",
            "Unit of coordinates.",
            choices={
                "auto": "relative if all lie between 0 and 1 and not all are 0 or 1",
                "pixels": "pixels",
                "relative": "fractions of the image's width and height, which are then required",
            },
        ),
    ] = "auto"
    sizes: Sizes = None
    assigned: Annotated[
        Mapping[Hashable, Sequence[str]] | Literal["all", "drew"] | None,
        Option(
            "Assigned raters",
            "Who was assigned: a mapping image -> raters, which may have further images and raters; "
            '"all", every rater to every image; "drew", to each image the raters with a box in it. By default, if any '
            "row of the table has no coordinates, the raters with a row for the image; otherwise every rater to every "
            "image, with a warning.",
            type='mapping, "all" or "drew", optional',
        ),
    ] = None
    angles: Annotated[
        Literal["auto", "degrees", "radians"],
        Option(
            "Angles",
            "Unit of a column of rotations.",
            choices={
                "auto": "degrees; an error if the unit is unclear: all values within 2 pi and some fractional",
                "degrees": "degrees",
                "radians": "radians",
            },
        ),
    ] = "auto"
    missing: Missing = MISSING
    raters_are_local: RatersAreLocal = False


@takes(BoxSettings)
@reading
def read_boxes(table: str | os.PathLike[str] | Mapping[str, Any] | Any, settings: BoxSettings) -> Annotations:
    r"""Read boxes and outlines of several raters from a table (CSV, Parquet, pandas) with one row per annotation.

    Parameters
    ----------
    table : path, DataFrame or mapping
        A file of comma-, semicolon- or tab-separated values with a header, optionally ``.gz``; a Parquet file; a
        pandas table, any object with ``to_pandas()``, or a mapping column -> values.

        A row without coordinates means that its rater saw the image without annotating anything in this row, like the
        rows "No finding" of VinDr-CXR.

    Returns
    -------
    Annotations
        Images, raters and classes are text, in order of first occurrence. Ids are those of the ``id`` column if it is
        unique, else line numbers (row numbers from 1 if the table is not a text file). Rotated boxes are polygons. If
        all outlines have four corners, upright boxes become polygons, too.

    Warns
    -----
    KalosWarning
        For scores, groups and crowds, which are not used; if it is unknown who was assigned and some raters of an image
        have no box there, a class has no alias, or boxes reach beyond their image.

    Raises
    ------
    InputError
        If the file cannot be read, a column is not found (the error lists the existing ones), relative coordinates
        come without sizes, pyarrow is not installed for a Parquet file, or rows are invalid (all are listed).

    See Also
    --------
    read_vindr : Reads VinDr-CXR's own tables, with all of their checks.

    Notes
    -----
    Names of columns: ``image``, ``rater``, ``category``, and one of ``x_min``, ``y_min``, ``x_max``,
    ``y_max``; ``x``, ``y``, ``width``, ``height`` (first corner and sides); ``x_center``, ``y_center``, ``width``,
    ``height``. One column may hold all four, as a list or as text such as "[10, 20, 30, 40]": ``box`` (x, y, width,
    height, as in a ``bbox`` of COCO) or ``box_corners`` (x_min, y_min, x_max, y_max). Optional columns are
    ``image_width``, ``image_height`` (in pixels), ``frame`` (or page: each is a separate image, "a.mp4#2"),
    ``rotation`` (of the box about its centre, clockwise), ``id``, ``person`` and ``session``. Outlines, with boxes or
    without, are in ``outline`` ("1,2;3,4;5,6", a JSON list, or a POLYGON of WKT), in ``outline_x`` and ``outline_y``
    (lists), or in columns x1, y1, x2, y2, x3, y3, ...

    Columns that are not given are found by common spellings (`kalos_core.readers.column_names`) and listed in
    `account`. If two columns match and differ, an error is raised. None leaves a column out; with ``category: None``
    all boxes have the class "object". With a ``session`` but no ``person``, every session of a rater is a separate
    rater, named "ann (S1)".

    Examples
    --------
    >>> text = "photo,annotator,label,xmin,ymin,xmax,ymax"
    >>> text += "\na.jpg,ann,cat,10,20,30,50\na.jpg,bob,,,,,\nb.jpg,bob,dog,5,5,9,9"
    >>> _ = Path("boxes.csv").write_text(text)
    >>> annotations = read_boxes("boxes.csv")
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[10.0, 20.0, 20.0, 30.0], [5.0, 5.0, 4.0, 4.0]], [[True, True], [False, True]])

    Columns with other names, and coordinates relative to images of 100 x 50 pixels:

    >>> table = {"scan": ["s1"], "who": ["ann"], "what": ["cat"], "x": [0.1], "y": [0.2], "w": [0.5], "h": [0.5]}
    >>> names = {"rater": "who", "category": "what"}
    >>> read_boxes(table, names, sizes={"s1": (100, 50)}).shapes["box"].xywh().tolist()
    [[10.0, 10.0, 50.0, 25.0]]

    One column with all four numbers of a box, as text or as lists:

    >>> table = {"image": ["a", "a"], "rater": ["ann", "bob"], "label": ["cat", "cat"]}
    >>> table["bbox"] = ["[10, 20, 30, 40]", [11, 20, 30, 40]]
    >>> read_boxes(table).shapes["box"].xywh().tolist()
    [[10.0, 20.0, 30.0, 40.0], [11.0, 20.0, 30.0, 40.0]]

    Four corners are an outline:

    >>> corners = dict(zip("x1 y1 x2 y2 x3 y3 x4 y4".split(), [[1], [1], [5], [2], [4], [6], [0], [5]], strict=True))
    >>> read_boxes({"image": ["a"], "rater": ["ann"], "label": ["ship"]} | corners).shapes["polygon"].area().tolist()
    [17.0]
    """
    loaded = replace(_load(table), missing=missing_texts(settings.missing))
    found = _Boxes(loaded, settings)
    found.measure(settings)
    found.turn(settings.angles)
    found.outline_upright()
    found.name_unused()
    found.note_repeats()
    return found.build(settings)


@dataclass(frozen=True)
class _Loaded:
    """A table as loaded.

    Parameters
    ----------
    frame : DataFrame (M rows)
    name : str
        Name in messages.
    number : (M,) int
        Number of each line or row.
    noun : "line" or "row"
    decimal : str
        Decimal separator.
    missing : frozenset of str
        Texts that mean no answer.
    """

    frame: pd.DataFrame
    name: str
    number: NDArray[np.intp]
    noun: str
    decimal: str = "."
    missing: frozenset[str] = BLANK

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
    check_header(loaded.name, names)
    if not len(loaded.frame) and len(names):
        raise InputError(f"{loaded.name}: expected at least one row, got none")
    return loaded


CELL = 8
"""Bytes of a value of Parquet in memory, at least; in the file a column of one value takes next to none."""

SHARING = "DELTA_BYTE_ARRAY"
"""Encoding of texts that stores only how each differs from the one before, so that any number of long ones is small."""


def _read_parquet(path: Path) -> pd.DataFrame:
    parquet = optional("pyarrow.parquet", "parquet", str(path))
    try:
        with open_file(path, "Parquet file", unpacked=False) as file:
            about = parquet.read_metadata(file)
            groups = [about.row_group(number) for number in range(about.num_row_groups)]
            chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
            unpacked = max(sum(group.total_byte_size for group in groups), CELL * sum(of.num_values for of in chunks))
            check_unpacked(unpacked, path.stat().st_size, str(path))
            for of in chunks:
                if SHARING in of.encodings:
                    raise InputError(
                        f"{path}: expected columns whose size is known before they are read, got "
                        f"{of.path_in_schema!r} in the encoding {SHARING}; write it in another one, such as PLAIN"
                    )
            texts = sorted({of.path_in_schema for of in chunks if of.physical_type == "BYTE_ARRAY"})
            table = parquet.read_table(file, read_dictionary=texts, use_threads=False)  # holds equal texts once
            frame: pd.DataFrame = table.to_pandas(use_threads=False)
            categorical = frame.select_dtypes("category").columns
            return frame.astype(dict.fromkeys(categorical, object))
    except InputError:
        raise
    except (OSError, ValueError, KeyError) as error:  # pyarrow's own errors are among these
        raise InputError(f"{path}: expected a readable Parquet file, got {error}") from error


def _read_separated(path: Path) -> _Loaded:
    """Read every cell as text, with line numbers of the file."""
    import pandas as pd

    table = read_table(path, "table of boxes (CSV or Parquet)")
    if not table.columns:
        raise InputError(f"{path}: expected a table with a header, got nothing")
    frame = pd.DataFrame(table.columns, dtype=object)
    return _Loaded(frame, path.name, np.asarray(table.lines), "line", "," if table.separator == ";" else ".")


class _Boxes:
    """The rows of a table, M of them; I images.

    Attributes
    ----------
    problems, broken : Problems
        Invalid rows that raise an error; invalid rows that may be left out.
    whole : dict
        Frame -> its image.
    image, rater : (M,) int
        Codes, -1 where a row has none.
    category : (M,) object
        Text or None.
    box : (M, 4) float64
        x, y, width, height, also around an outline; NaN where it cannot be read.
    own_box : (M,) bool
        Whether a row has a box in the table.
    outline : list (M,)
        Rings x1, y1, x2, y2, ...; None for rows without an outline.
    blank : (M,) bool
        Whether a row has no shape.
    usable : (M,) bool
        Whether a row has a valid shape.
    skipped : (I,) int
        Number of rows of each image that were left out.
    image_size : (I, 2) float64
    identity : dict
        Rater -> person and session, if there are sessions.
    """

    def __init__(self, loaded: _Loaded, settings: BoxSettings) -> None:
        self.loaded = loaded
        self.columns = columns = find_columns(
            list(loaded.frame.columns), settings.columns, loaded.name, lambda column: loaded.frame[column].to_list()
        )
        self.account = Account(notes=list(columns.notes))
        self.problems, self.broken = Problems(loaded.name), Problems(loaded.name)
        unusable = self.problems if settings.on_invalid == "raise" else self.broken
        values, no_box, of_box = _box_values(loaded, columns.form, columns.box, unusable)
        self.outline, no_outline, of_outline = _outlines(loaded, columns.outline, unusable)
        self.box, self.own_box = _as_sides(values, columns.form), ~no_box
        _check_same(loaded, columns, self.box)
        around = np.flatnonzero(no_box & ~no_outline & ~of_outline)
        self.box[around] = bounds_of([self.outline[row] or [] for row in around])
        self.blank = no_box & no_outline
        image, images = _codes(loaded, columns.other["image"], unusable, names_only=True)
        person, persons = _codes(loaded, columns.other["rater"], unusable, names_only=True)
        self.image, self.images, self.whole = _frames(loaded, columns, image, images, self.account)
        self.rater, self.raters, self.identity = _sessions(loaded, columns, person, persons)
        self.category = object_array([ONE_CLASS] * len(image))
        if "category" in columns.other:
            code, names = _codes(loaded, columns.other["category"], unusable, needed=~self.blank)
            self.category = object_array([*names, None])[code]
        lost = of_box | of_outline | self._lacking()
        self.usable = ~self.blank & ~lost
        saw = int((self.blank & ~lost).sum())
        if saw:
            noun = number_of(saw, "row has no shape and says", "rows have no shape and say")
            self.account.note(f"{noun} that a rater saw the image")
        self.skipped = np.bincount(self.image[lost & (self.image >= 0)], minlength=len(self.images))
        self.image_size = np.full((len(self.images), 2), np.nan)

    def _lacking(self) -> NDArray[np.bool_]:
        """Count rows without an image, a rater or a class, and return their (M,) mask."""
        lacking = {
            "an image": self.image < 0,
            "a rater": self.rater < 0,
            "a class": ~self.blank & np.array([name is None for name in self.category], np.bool_),
        }
        for what, rows in lacking.items():
            if rows.any():
                self.account.left_out[f"rows without {what}"] += int(rows.sum())
        return np.asarray(np.logical_or.reduce(list(lacking.values())))

    def measure(self, settings: BoxSettings) -> None:
        """Find the sizes of the images, and convert the shapes to pixels."""
        self._sizes_of_columns()
        size_of, coordinates = read_sizes(settings.sizes), settings.coordinates
        for row, image in enumerate(self.images):
            given = size_of(image)
            if given == (None, None) and image in self.whole:
                given = size_of(self.whole[image])
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
                "columns image_width and image_height, or pass coordinates='pixels'"
            )
        self.box = self.box * np.tile(size, 2)
        for row, (rings, pair) in enumerate(zip(self.outline, size.tolist(), strict=True)):
            if rings is not None:
                self.outline[row] = [
                    [number * side for number, side in zip(ring, cycle(pair), strict=False)] for ring in rings
                ]

    def turn(self, angles: str) -> None:
        """Convert rotated boxes to polygons."""
        if "rotation" not in self.columns.other:
            return
        column = self.columns.other["rotation"]
        values, missing = _numbers(self.loaded.frame[column], self.loaded)
        wrong = np.flatnonzero(self.usable & ~missing & ~np.isfinite(values))
        cells = self.loaded.frame[column].to_list()
        self.problems.add_all(
            wrong,
            lambda row: f"{self.loaded.record(row)}, column {column}",
            "a number",
            lambda row: repr_of(cells[row]),
        )
        turned = self.usable & np.isfinite(values) & (values != 0)
        outlined = np.array([rings is not None for rings in self.outline], np.bool_)
        if (turned & outlined).any():
            self.account.unused[f"{column} (rotation) of rows with an outline"] += int((turned & outlined).sum())
        if not (turned & ~outlined).any():
            return
        degrees, unit = values, angles
        if angles == "auto":
            named = re.sub(r"[^a-z]", "", str(column).lower())
            unit = "radians" if "rad" in named else "degrees"
            small = bool((np.abs(values[turned]) <= 2 * np.pi).all())
            if "rad" not in named and "deg" not in named and small and (values[turned] % 1).any():
                raise InputError(
                    f"{self.loaded.name}, column {column}: expected angles with a clear unit, got only values "
                    "within 2 pi, some of them fractional: pass angles='radians' or angles='degrees'"
                )
        if unit == "radians":
            degrees = np.degrees(values)
        self.account.notes.append(f"boxes are rotated by {column}, in {unit}, clockwise about their centre")
        self._outline(np.flatnonzero(turned & ~outlined), degrees)
        self.own_box[turned & ~outlined] = False

    def outline_upright(self) -> None:
        """Convert upright boxes to polygons if all outlines have four corners, as rotated boxes do."""
        drawn = [self.outline[row] or [] for row in np.flatnonzero(self.usable) if self.outline[row] is not None]
        if have_four_corners([len(ring) // 2 for ring in rings] for rings in drawn):
            sound = (np.abs(self.box) <= LARGEST).all(axis=1) & (self.box[:, 2:] >= 0).all(axis=1)
            bare = np.array([rings is None for rings in self.outline], np.bool_)
            self._outline(np.flatnonzero(self.usable & sound & bare))

    def _outline(self, rows: NDArray[np.intp], degrees: NDArray[np.float64] | None = None) -> None:
        """Set the outlines of rows to the corners of their boxes, rotated by (M,) degrees."""
        corners = corners_of(self.box[rows], None if degrees is None else degrees[rows])
        for row, ring in zip(rows.tolist(), corners.tolist(), strict=True):
            self.outline[row] = [ring]

    def name_unused(self) -> None:
        """Count records with unused fields that have a meaning in other tools, if they may matter."""
        rows = np.flatnonzero(self.usable)
        for name, column in self.columns.unused.items():
            cells = self.loaded.frame[column].to_list()
            texts = {
                row: str(as_name(cells[row])).strip().lower() for row in rows.tolist() if not is_missing(cells[row])
            }
            if name == "score":
                count = len(texts) if len(set(texts.values())) > 1 else 0
            elif name == "iscrowd":
                count = sum(text in ("1", "1.0", "true", "yes") for text in texts.values())
            else:
                keys = Counter((self.image[row], self.rater[row], text) for row, text in texts.items() if text != "0")
                count = sum(times for times in keys.values() if times > 1)
            if count:
                self.account.unused[name] += count

    def note_repeats(self) -> None:
        """Count duplicate rows, as in a table that was exported twice."""
        import pandas as pd

        rows = np.flatnonzero(self.usable & self.own_box)
        rows = rows[[self.outline[row] is None for row in rows]]
        keys = pd.DataFrame(self.box[rows]).assign(
            image=self.image[rows], rater=self.rater[rows], category=self.category[rows]
        )
        count = int(keys.duplicated().sum())
        if count:
            noun = number_of(count, "row repeats", "rows repeat")
            self.account.notes.append(f"{noun} the image, rater, class and box of another row: all are kept")

    def _sizes_of_columns(self) -> None:
        other = self.columns.other
        if "image_width" not in other or "image_height" not in other:
            return
        names = [other["image_width"], other["image_height"]]
        columns = [_numbers(self.loaded.frame[name], self.loaded) for name in names]
        values, missing = (np.stack(part, axis=1) for part in zip(*columns, strict=True))
        used = self.usable & ~missing.any(axis=1)
        if self.columns.guessed_size and np.allclose(values[used], self.box[used, 2:], rtol=0, atol=1.5):
            return  # width and height of the boxes, in addition to their corners
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

    def build(self, settings: BoxSettings) -> Annotations:
        """Return the table, with a warning if it is unknown who was assigned."""
        loaded, rows = self.loaded, np.flatnonzero(self.usable)
        lists = self._assigned(settings.assigned)
        images = list(dict.fromkeys([*self.images, *lists]))
        raters = list(dict.fromkeys([*self.raters, *(name for names in lists.values() for name in names)]))
        names = [self.raters[code] for code in self.rater[rows]]
        boxes = [box if own else None for box, own in zip(self.box[rows].tolist(), self.own_box[rows], strict=True)]
        table = RawTable(
            image=[self.images[code] for code in self.image[rows]],
            rater=names,
            category=self.category[rows].tolist(),
            id=self._ids()[rows].tolist(),
            box=boxes,
            polygon=[self.outline[row] for row in rows],
        )
        size = np.full((len(images), 2), np.nan)
        size[: len(self.image_size)] = self.image_size
        persons = [self.identity.get(name, (name, "")) for name in raters]
        source = Source(
            name=loaded.name,
            images=images,
            files=images,
            raters=raters,
            categories={name: name for name in table.category},
            image_size=[(width, height) for width, height in size.tolist()],
            assigned=[lists.get(image) for image in images],
            person=[person for person, _ in persons],
            session=[session for _, session in persons],
            raters_are_local=settings.raters_are_local,
            on_invalid=settings.on_invalid,
            describe=lambda row: loaded.record(rows[row]),
            problems=self.problems,
            account=self.account,
        )
        skipped = np.append(self.skipped, np.zeros(len(images) - len(self.skipped), np.intp))
        made = build_reconciled(table, source, settings.aliases, self.broken, skipped)
        if settings.assigned is None or isinstance(settings.assigned, Mapping):
            unsaid = np.array([image not in lists for image in images], np.bool_)
            warn_of_silent_raters(made, unsaid, loaded.name)
        return made

    def _assigned(self, assigned: Mapping[Hashable, Sequence[str]] | str | None) -> dict[str, list[str]]:
        """Return image -> names of assigned raters, where known."""
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
        """Return (M,) ids: those of the table if unique, else the numbers of the records."""
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


def _box_values(
    loaded: _Loaded, form: str, names: Sequence[Hashable], faults: Problems
) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (M, 4) numbers of boxes, NaN if missing, and (M,) masks of rows without any and of invalid rows."""
    if not names:
        count = len(loaded.frame)
        return np.full((count, 4), np.nan), np.ones(count, np.bool_), np.zeros(count, np.bool_)
    cells = [loaded.frame[column] for column in names]
    in_one = len(cells) == 1
    four = _taken_apart(cells[0]) if in_one else cells
    numbers, absent = zip(*(_numbers(column, loaded) for column in four), strict=True)
    values, missing = np.stack(numbers, axis=1), np.stack(absent, axis=1)
    blank = np.asarray(missing.all(axis=1))
    unread = np.isnan(values)
    wrong = np.asarray(unread.any(axis=1) & ~blank)
    at = np.zeros(len(unread), np.intp) if in_one else unread.argmax(axis=1)
    faults.add_all(
        np.flatnonzero(wrong),
        lambda row: f"{loaded.record(row)}, column {names[at[row]]}",
        f"four numbers ({', '.join(FORMS[form])})" if in_one else "a number",
        lambda row: "nothing" if missing[row, at[row]] and not in_one else f"{cells[at[row]].to_list()[row]!r:.100}",
    )
    return values, blank, wrong


def _check_same(loaded: _Loaded, columns: Columns, box: NDArray[np.float64]) -> None:
    """Raise an error if further columns of boxes differ from the boxes."""
    for form, names in columns.others:
        values, _, _ = _box_values(loaded, form, names, Problems(loaded.name))
        both = np.isfinite(values).all(axis=1) & np.isfinite(box).all(axis=1)
        rounding = 1.5 if (np.abs(box[both]) > 1.5).any() else 0.01
        forms = ("sides", "centre") if form == "sides" else (form,)
        if not any(np.allclose(_as_sides(values[both], each), box[both], rtol=0, atol=rounding) for each in forms):
            one = {"box": columns.box[0]} if columns.form == "sides" else {"box_corners": columns.box[0]}
            option = one if len(columns.box) == 1 else dict(zip(FORMS[columns.form], columns.box, strict=True))
            raise InputError(
                f"{loaded.name}: expected one box in a row, got {' '.join(map(str, columns.box))} and "
                f"{' '.join(map(str, names))}, which differ: name one by columns={option!r}"
            )


def _outlines(
    loaded: _Loaded, names: Sequence[Hashable], faults: Problems
) -> tuple[list[Rings | None], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return M outlines, and (M,) masks of rows without one and of invalid rows."""
    cells = list(zip(*(loaded.frame[name].to_list() for name in names), strict=True))
    found: list[Rings | None] = [None] * len(loaded.frame)
    wrong = np.zeros(len(found), np.bool_)
    if len(names) > 2:
        found, wrong = _rings_of_corners(loaded, names)
    for row, of_row in enumerate(cells if len(names) <= 2 else ()):
        try:
            found[row] = _outline_of(of_row, loaded)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            OverflowError,
            RecursionError,
            shapely.errors.ShapelyError,
        ):
            wrong[row] = True
    faults.add_all(
        np.flatnonzero(wrong),
        lambda row: f"{loaded.record(row)}, column {' '.join(map(str, names))}",
        "an outline of at least three points, without holes (columns={'outline': None} leaves the column out)",
        lambda row: repr_of(cells[row][0] if len(names) == 1 else cells[row]),
    )
    return found, np.array([rings is None for rings in found], np.bool_) & ~wrong, wrong


def _outline_of(cells: Sequence[Any], loaded: _Loaded) -> Rings | None:
    """Return the rings in one cell, or in two cells with lists of x and y; None for empty cells."""
    if all(not hasattr(cell, "__len__") or isinstance(cell, str) for cell in cells) and all(
        is_missing(cell, loaded.missing) for cell in cells
    ):
        return None
    rings = rings_in(cells[0]) if len(cells) == 1 else [interleaved(*map(as_list, cells))]
    for ring in rings:
        if len(ring) < 6 or len(ring) % 2 or np.isnan(ring).any():
            raise ValueError
    return rings or None


def _rings_of_corners(loaded: _Loaded, names: Sequence[Hashable]) -> tuple[list[Rings | None], NDArray[np.bool_]]:
    """Return M outlines from columns x1, y1, x2, y2, ... (the last may be empty), and an (M,) mask of invalid rows."""
    numbers, absent = zip(*(_numbers(loaded.frame[name], loaded) for name in names), strict=True)
    points = np.stack(numbers, axis=1).reshape(len(loaded.frame), -1, 2)
    given = ~np.stack(absent, axis=1).reshape(points.shape).all(axis=2)
    count = np.where(given, np.arange(1, given.shape[1] + 1), 0).max(axis=1)
    within = np.arange(given.shape[1]) < count[:, None]
    wrong = (count > 0) & ((count < 3) | (np.isnan(points).any(axis=2) & within).any(axis=1))
    found: list[Rings | None] = [None] * len(points)
    for corners in np.unique(count[(count > 0) & ~wrong]).tolist():
        rows = np.flatnonzero((count == corners) & ~wrong)
        for row, ring in zip(rows.tolist(), points[rows, :corners].reshape(len(rows), -1).tolist(), strict=True):
            found[row] = [ring]
    return found, wrong


def _frames(
    loaded: _Loaded, columns: Columns, image: NDArray[np.intp], images: list[str], account: Account
) -> tuple[NDArray[np.intp], list[str], dict[str, str]]:
    """Return image codes by row, image names, and name -> whole image; frames are images if an image has several."""
    if "frame" not in columns.other:
        return image, images, {}
    column = columns.other["frame"]
    frame, frames = _codes(loaded, column, Problems(loaded.name), np.zeros(len(image), np.bool_), names_only=True)
    several = {pair for pair in zip(image.tolist(), frame.tolist(), strict=True) if min(pair) >= 0}
    if len(several) == len({code for code, _ in several}):
        return image, images, {}
    account.notes.append(f"image = {columns.other['image']}#{column}: each frame is a separate image")
    number: dict[tuple[int, int], int] = {}
    pairs = zip(image.tolist(), frame.tolist(), strict=True)
    codes = [number.setdefault(pair, len(number)) if pair[0] >= 0 else -1 for pair in pairs]
    names = [f"{images[code]}#{frames[at]}" if at >= 0 else images[code] for code, at in number]
    return np.array(codes, np.intp), names, {name: images[code] for name, (code, _) in zip(names, number, strict=True)}


def _numbers(column: pd.Series[Any], loaded: _Loaded) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return (M,) numbers, NaN where there is none, and a mask of empty cells."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(np.float64, na_value=np.nan)
        return values, np.isnan(values)
    cells = column.to_list()
    if loaded.decimal == ".":
        with suppress(TypeError, ValueError):  # columns with empty cells or non-numbers are read cell by cell below
            values = np.array(list(map(float, cells)) if "_" not in "".join(cells) else [np.nan])
            if not np.isnan(values).any():
                return values, np.zeros(len(values), np.bool_)
    cells = column.astype(object).where(column.notna(), None).to_list()
    found = [_number(cell, loaded) for cell in cells]
    missing = np.array([number is None for number in found], np.bool_)
    return np.array([np.nan if number is None else number for number in found], np.float64), missing


def _taken_apart(column: pd.Series[Any]) -> list[pd.Series[Any]]:
    """Split a column of lists of four, or of such lists as text, into four columns; "?" for other cells.

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
    """Return the four entries of a cell: None if it is empty, "?" if there are not four."""
    if isinstance(cell, np.ndarray):
        cell = cell.tolist()
    if isinstance(cell, str):
        text = cell.strip()
        inner = text[1:-1] if text[:1] + text[-1:] in ("[]", "()", "{}") else text
        cell = [] if is_missing(inner) else re.split(r"\s*[,;]\s*|\s+", inner.strip())
    if isinstance(cell, (list, tuple)):
        return cell if len(cell) == 4 else ("?" if len(cell) else None,) * 4
    return (None if is_missing(cell) else "?",) * 4


def _number(cell: object, loaded: _Loaded) -> float | None:
    """Return the number in a cell; None for an empty cell, NaN for other text.

    Examples
    --------
    >>> loaded = _load({"x": [1]})
    >>> _number(" 2.5", loaded), _number("NA", loaded), _number("many", loaded)
    (2.5, None, nan)
    """
    if is_missing(cell, loaded.missing):
        return None
    if isinstance(cell, str):
        found = as_float(cell if loaded.decimal == "." else cell.replace(loaded.decimal, "."))
        return np.nan if found is None else found
    number = as_number(cell)
    return np.nan if number is None else number


def _codes(
    loaded: _Loaded,
    column: Hashable,
    problems: Problems,
    needed: NDArray[np.bool_] | None = None,
    *,
    names_only: bool = False,
) -> tuple[NDArray[np.intp], list[str]]:
    """Return the (M,) code of the name in each row, -1 for none, and the names; a missing needed name is a problem.

    Texts of equal numbers are one name; with `names_only`, only those of equal whole numbers.
    """
    import pandas as pd

    cells = loaded.frame[column]
    try:
        code, found = pd.factorize(cells.to_numpy(object))
    except TypeError:
        raise InputError(f"{loaded.name}, column {column}: expected names, got lists or mappings") from None
    names = [None if is_missing(entry, loaded.missing) else as_name(entry) for entry in found.tolist()]
    names = [name.strip() if isinstance(name, str) else name if names_only else as_cell_text(name) for name in names]
    same = equal_numbers([name for name in names if isinstance(name, str)], names=names_only)
    names = [same.get(name, name) if isinstance(name, str) else name for name in names]
    vocabulary = list(dict.fromkeys(name for name in names if isinstance(name, str)))
    number = {name: position for position, name in enumerate(vocabulary)}
    of_name = np.array([*(number[name] if isinstance(name, str) else -1 for name in names), -1], np.intp)
    codes: NDArray[np.intp] = of_name[code]
    lacking = codes < 0 if needed is None else (codes < 0) & needed
    problems.add_all(
        np.flatnonzero(lacking),
        lambda row: f"{loaded.record(row)}, column {column}",
        "a name",
        lambda row: _nothing_or(cells.to_list()[row]),
    )
    return codes, vocabulary


def _nothing_or(cell: object) -> str:
    """Format a cell for a message; text that means no answer comes with a hint at the option `missing`."""
    if not is_missing(cell):
        return repr_of(cell)
    return f"{cell!r} (no name; see missing=)" if isinstance(cell, str) and cell.strip() else "nothing"


def _sessions(
    loaded: _Loaded, columns: Columns, person: NDArray[np.intp], persons: list[str]
) -> tuple[NDArray[np.intp], list[str], dict[str, tuple[str, str]]]:
    """Return rater codes by row, rater names, and name -> person and session."""
    if "session" not in columns.other:
        return person, persons, {}
    ignored, every = Problems(loaded.name), np.zeros(len(person), np.bool_)
    session, sessions = _codes(loaded, columns.other["session"], ignored, every)
    owner, people, has_persons = person, persons, "person" in columns.other
    if has_persons:
        owner, people = _codes(loaded, columns.other["person"], ignored, every)
    triples = list(zip(person.tolist(), owner.tolist(), session.tolist(), strict=True))
    raters: dict[str, int] = {}
    identity: dict[str, tuple[str, str]] = {}
    code_of: dict[tuple[int, int, int], int] = {}
    for rater, of, turn in dict.fromkeys(triples):
        if rater >= 0:
            text = sessions[turn] if turn >= 0 else ""
            name = f"{persons[rater]} (S{text})" if text and not has_persons else persons[rater]
            code_of[rater, of, turn] = raters.setdefault(name, len(raters))
            identity.setdefault(name, (people[of] if of >= 0 else persons[rater], text))
    return np.array([code_of.get(triple, -1) for triple in triples], np.intp), list(raters), identity


def _as_sides(values: NDArray[np.float64], form: str) -> NDArray[np.float64]:
    """Return (M, 4) x, y, width, height of boxes in one of `FORMS`."""
    with np.errstate(all="ignore"):  # values that are not finite are reported later, with their record
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
