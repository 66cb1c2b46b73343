"""Base classes of results: text, table, HTML for notebooks, figures, and JSON."""

from __future__ import annotations

import base64
import hashlib
import inspect
import json
import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache, partial
from importlib import import_module
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, get_args, get_origin

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import object_array
from kalos_core.display import NO_BREAK, alpha_text, number_of
from kalos_core.errors import InputError, Undefined, lookup
from kalos_core.files import as_path, read_text
from kalos_core.limits import check_pixels
from kalos_core.options import Settings
from kalos_core.text import plain as plain_text
from kalos_core.text import shown

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

Made = TypeVar("Made")
Entry = TypeVar("Entry")
ResultType = TypeVar("ResultType", bound="Result")

MOST_LINES = 20
"""Maximum number of lines of a `repr`."""

MOST_ROWS = 20
"""Maximum number of rows of the table in `_repr_html_`."""

MOST_WIDE = 120
"""Maximum number of characters in a line of a `repr`."""

MOST_COLUMNS = 12
"""Maximum number of columns of the table in `_repr_html_`."""

PLOTS = "kalos_core.figures.plots"
"""Module with the figures of each class of results, imported when a figure is requested."""


class Result:
    """Base class of results, with a headline, a table, figures, HTML and JSON.

    A class defines its headline and its table; its figures are in `kalos_core.figures.plots`.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement, class_difficulty
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = class_difficulty(agreement(Annotations.from_rows(rows)))
    >>> found.plots, type(found.plot()).__name__
    (('classes',), 'Figure')
    >>> type(found).from_json(found.to_json()).alpha.tolist()
    [1.0]
    """

    _columns: ClassVar[str] = ""
    """Columns of the table, separated by spaces: names of fields, or ``column:field``; by default all fields.

    A field may be ``part.field``, or ``names[codes]`` for the name of each code. An interval (N, 2) makes two columns.
    """

    _call: ClassVar[str] = ""
    """Call that creates it, for messages."""

    _shows_table: ClassVar[bool] = True
    """Whether the table is part of the `repr`."""

    _stays_outside: ClassVar[bool] = False
    """Whether JSON of other results stores its fingerprint instead of its content."""

    @property
    def _instead(self) -> str:
        """Hint for messages if it is passed where another result is expected."""
        return f"it is drawn by .plot({self.plots[0]!r})" if self.plots else ""

    @property
    def headline(self) -> str:
        """Finding, in one or a few lines."""
        rows = len(self._table())
        return f"{type(self).__name__} of {number_of(rows, 'row')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return the result as a table."""
        return self._frame(self._columns or " ".join(entry.name for entry in _own_fields(self)))

    def _frame(self, columns: str) -> pd.DataFrame:
        """Return a table of fields, in the format of `_columns`."""
        import pandas as pd

        pairs = (entry.partition(":") for entry in columns.split())
        return pd.DataFrame(with_ends({column: self._column(source or column) for column, _, source in pairs}))

    def _column(self, source: str) -> Any:
        field, _, codes = source.partition("[")
        values = attrgetter(field)(self)
        return values[self._column(codes.removesuffix("]"))] if codes else values

    def _table(self) -> pd.DataFrame:
        """Return the table for `repr` and HTML."""
        return self.to_pandas()

    def _plots(self) -> Mapping[str, Callable[..., Any]]:
        """Return name -> function that draws the figure."""
        table: Mapping[type, Mapping[str, Callable[..., Any]]] = import_module(PLOTS).PLOTS
        return next((table[kind] for kind in type(self).__mro__ if kind in table), {})

    @property
    def plots(self) -> tuple[str, ...]:
        """Names for `plot`, the default first."""
        return tuple(self._plots())

    def plot(self, name: str | None = None, **options: Any) -> go.Figure:
        """Draw the result as a plotly figure.

        Parameters
        ----------
        name : str, optional
            One of `plots`; the first by default.
        **options
            Passed to the function of `kalos_core.figures` that draws it.

        Returns
        -------
        plotly.graph_objects.Figure

        Raises
        ------
        InputError
            If there is no figure of that name; the message lists the known ones.
        """
        known = self._plots()
        return lookup(known, next(iter(known)) if name is None else name, "plot")(self, **options)

    def to_json(self) -> str:
        """Return the result as strict JSON: undefined numbers are null; annotations are stored as a fingerprint only.

        `from_json` restores the result.
        """
        content = strict({"result": type(self).__name__, "headline": self.headline, **self._content()})
        if "values" in content:
            content["check"] = _check(content["values"])
        return json.dumps(content, ensure_ascii=False, allow_nan=False)

    def _content(self) -> dict[str, Any]:
        return {"values": {entry.name: _named(getattr(self, entry.name)) for entry in _own_fields(self)}}

    @classmethod
    def from_json(cls: type[ResultType], source: str | os.PathLike[str], *annotations: Any) -> ResultType:
        """Restore a result written by `to_json`, without computing anything.

        Parameters
        ----------
        source : text of JSON, or a path
        *annotations : Annotations
            Annotations that it was computed from, if it holds any; they are not part of the JSON.

        Raises
        ------
        InputError
            If the JSON is of another result, its values were changed, the result cannot be restored, or its annotations
            are missing.
        """
        try:
            text = (
                source
                if isinstance(source, str) and "{" in source
                else read_text(as_path(source, "source"), "JSON file")
            )
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"source: expected JSON of {cls.__name__}.to_json, or its path: {error}") from None
        kind = content.get("result") if isinstance(content, dict) else None
        if kind != cls.__name__:
            raise InputError(f"source: expected JSON of {cls.__name__}.to_json, got one of {kind or 'something else'}")
        if "values" not in content:
            raise InputError(f"source: expected a result that JSON restores, got {cls.__name__}: call {cls._call}")
        known = {fingerprint(given): given for given in annotations}

        def outside(stored: Any, _: Any) -> Any:
            if stored is None or stored.get(FINGERPRINT) not in known:
                call = f"{cls.__name__}.from_json(source, annotations)"
                raise InputError(f"annotations: expected those the result was computed from: call {call}")
            return known[stored[FINGERPRINT]]

        try:
            if content.get("check") != _check(content["values"]):
                raise InputError(f"source: expected JSON of {cls.__name__}.to_json, got one whose values were changed")
            made: ResultType = cls._made(content["values"], _converter(outside))
            return made
        except InputError:
            raise
        except Exception as error:  # an exception group with errors of the fields
            found = list(_causes(error))
            reason = next((each for each in found if isinstance(each, InputError)), found[0])
            raise InputError(f"source: expected JSON of {cls.__name__}.to_json: {reason}") from None

    @classmethod
    def _made(cls, values: Any, converter: Any) -> Any:
        return converter.structure(values, cls)

    def __repr__(self) -> str:
        lines = _printable(self.headline)
        if self._shows_table:
            lines += _text_of(self._table(), MOST_LINES - len(lines))
        if len(lines) > MOST_LINES:
            lines = [*lines[: MOST_LINES - 1], f"... and {len(lines) - MOST_LINES + 1:,} more"]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        headline = "<br>".join(shown(line, None) for line in _printable(self.headline)[:MOST_LINES])
        return f"<div><p><b>{type(self).__name__}</b><br>{headline}</p>{_html_of(self._table())}</div>"


class Results(Result, tuple[Entry, ...]):
    """Several results of one kind, which form a table.

    Examples
    --------
    >>> from kalos_core import estimate_truths
    >>> found = estimate_truths([{"ann": [[1, 0]], "bob": [[1, 0]]}], "0.5")
    >>> len(found), found.to_pandas()["method"].tolist()
    (1, ['vote 0.5'])
    """

    _entry: ClassVar[type[Any]]
    """Class of the entries."""

    def to_pandas(self) -> pd.DataFrame:
        """Return a table with one row per entry."""
        import pandas as pd

        return pd.DataFrame([self._row(entry) for entry in self])

    def _row(self, entry: Any) -> dict[str, Any]:
        return {part.name: getattr(entry, part.name) for part in fields(entry)}

    def _content(self) -> dict[str, Any]:
        return {"values": [_named(entry) for entry in self]}

    @classmethod
    def _made(cls, values: Any, converter: Any) -> Any:
        return cls(converter.structure(entry, cls._entry) for entry in values)


class Parts(Result):
    """Result that consists of several others; `Undefined` for those that the input does not allow.

    Each defined part has its default figure, under its own name.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> from kalos_core.diagnostics import diagnose
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = diagnose(agreement(Annotations.from_rows(rows)), [])
    >>> found.plots, list(found.parts())[-2:]
    (('class_difficulty', 'collaboration'), ['intra_rater', 'team_agreement'])
    """

    _shows_table = False

    def parts(self) -> dict[str, Result | Undefined]:
        """Return name -> result, or the reason why it is undefined."""
        found = {entry.name: getattr(self, entry.name) for entry in _own_fields(self)}
        return {name: part for name, part in found.items() if isinstance(part, (Result, Undefined))}

    @property
    def headline(self) -> str:
        """Finding of each part, one per line."""
        return "\n".join(f"{name.replace('_', ' ')}: {_finding(part)}" for name, part in self.parts().items())

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per part: its name, whether it is defined, and its finding or the reason why not."""
        import pandas as pd

        rows = [(name, isinstance(part, Result), _finding(part)) for name, part in self.parts().items()]
        return pd.DataFrame(rows, columns=["part", "defined", "finding"])

    def _plots(self) -> Mapping[str, Callable[..., Any]]:
        defined = {name: part for name, part in self.parts().items() if isinstance(part, Result)}
        return {name: partial(_plot_of, part) for name, part in defined.items()}


def _finding(part: Result | Undefined) -> str:
    return part.reason if isinstance(part, Undefined) else part.headline.partition("\n")[0]


def _plot_of(part: Result, _: Result, **options: Any) -> go.Figure:
    return part.plot(**options)


def with_ends(columns: Mapping[str, Any], axes: int = 1) -> dict[str, Any]:
    """Split arrays with more than `axes` axes, which are intervals, into columns ``<name>_low`` and ``<name>_high``.

    Examples
    --------
    >>> {name: column.tolist() for name, column in with_ends({"alpha_interval": np.array([[0.1, 0.2]])}).items()}
    {'alpha_low': [0.1], 'alpha_high': [0.2]}
    """
    made: dict[str, Any] = {}
    for name, values in columns.items():
        if np.ndim(values) > axes:
            begin = name.removesuffix("_interval")
            made |= {f"{begin}_low": values[..., 0], f"{begin}_high": values[..., 1]}
        else:
            made[name] = values
    return made


def crossed(axes: Mapping[str, Any], **values: NDArray[Any]) -> pd.DataFrame:
    """Return a table of arrays with the same axes, one row per cell; intervals (one more axis) become two columns.

    Examples
    --------
    >>> crossed({"rater": ["ann", "bob"], "class": ["cat", "dog"]}, skill=np.eye(2)).values.tolist()[:2]
    [['ann', 'cat', 1.0], ['ann', 'dog', 0.0]]
    """
    import pandas as pd

    index = np.indices([len(names) for names in axes.values()])
    columns = {name: np.asarray(of)[at.ravel()] for (name, of), at in zip(axes.items(), index, strict=True)}
    return pd.DataFrame(columns | {name: of.ravel() for name, of in with_ends(values, len(axes)).items()})


def of_pairs(names: Any, **matrices: NDArray[Any]) -> pd.DataFrame:
    """Return a table with one row per pair of raters, from the upper triangles of matrices; intervals are two columns.

    Examples
    --------
    >>> of_pairs(np.array(["ann", "bob"]), alpha=np.array([[1, 0.5], [0.5, 1]])).values.tolist()
    [['ann', 'bob', 0.5]]
    """
    import pandas as pd

    a, b = np.triu_indices(len(names), 1)
    columns = {"rater_a": names[a], "rater_b": names[b], **{name: matrix[a, b] for name, matrix in matrices.items()}}
    return pd.DataFrame(with_ends(columns))


def lowest(what: str, names: NDArray[np.object_], of: str, values: NDArray[np.float64]) -> str:
    """Return a sentence about which of several has the lowest value.

    Examples
    --------
    >>> lowest("class", np.array(["cat", "dog"]), "alpha", np.array([0.5, 0.25]))
    'Lowest alpha of 2: class dog, 0.25'
    >>> lowest("class", np.array(["cat"]), "alpha", np.array([np.nan]))
    'alpha of 1, undefined for every class'
    """
    if not np.isfinite(values).any():
        return f"{of} of {len(values):,}, undefined for every {what}"
    at = int(np.nanargmin(values))
    return f"Lowest {of} of {len(values):,}: {what} {plain_text(str(names[at]))}, {alpha_text(values[at])}"


def part_text(category: str | None, rater: str | None) -> str:
    """Return the class and rater that a part of a result is restricted to, as the end of a sentence.

    Examples
    --------
    >>> part_text("cat", "ann"), part_text(None, "ann"), part_text(None, None)
    (' of class cat and rater ann', ' of rater ann', '')
    """
    given = [f"{kind} {plain_text(name)}" for kind, name in (("class", category), ("rater", rater)) if name is not None]
    return f" of {' and '.join(given)}" if given else ""


# ---- plain values ----


def plain_values(value: Any, special: Callable[[Any], Any] | None = None) -> Any:
    """Convert to plain values for storage: arrays to lists, dataclasses to dicts, NaN to None, at any depth.

    `special` converts some values itself; it returns None for all others.

    Examples
    --------
    >>> plain_values(np.array([[0.5, np.nan]])), plain_values((1, "a")), plain_values({"std": np.float64("nan")})
    ([[0.5, None]], [1, 'a'], {'std': None})
    """
    found = special(value) if special else None
    if found is not None:
        return found
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: plain_values(getattr(value, entry.name), special) for entry in _own_fields(value)}
    if isinstance(value, Mapping):
        return {key: plain_values(entry, special) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(entry, special) for entry in value]
    if isinstance(value, np.ndarray) and value.ndim > 1 and not value.size:
        return {"shape": list(value.shape)}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain_values(value.tolist(), special)
    return None if isinstance(value, float) and value != value else value


def restored(kind: type[Made], stored: Any) -> Made:
    """Restore a dataclass from its `plain_values`; fields that are missing get their defaults.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Curve:
    ...     alpha: NDArray[np.float64]
    ...     best: float
    >>> restored(Curve, plain_values(Curve(np.array([0.5, np.nan]), float("nan"))))
    Curve(alpha=array([0.5, nan]), best=nan)
    """
    made: Made = _shared().structure(stored, kind)
    return made


@lru_cache(maxsize=1)
def _shared() -> Any:
    return _converter()


def _converter(outside: Callable[[Any, Any], Any] | None = None) -> Any:
    from cattrs import Converter

    made = Converter()
    made.register_structure_hook(float, lambda stored, _: float("nan") if stored is None else float(stored))
    made.register_structure_hook_func(_is_settings, lambda stored, kind: kind.of(stored))
    made.register_structure_hook_func(_is_array, _array)
    if outside is not None:
        made.register_structure_hook_func(_is_outside, outside)
    return made


def _is_settings(kind: Any) -> bool:
    return inspect.isclass(kind) and issubclass(kind, Settings)


ABSTRACT: dict[Any, type[np.generic]] = {np.unsignedinteger: np.uint32, np.integer: np.int64, np.floating: np.float64}
"""Abstract types of arrays -> concrete type for restoring; NumPy must accept integers as an index."""


def _is_array(kind: Any) -> bool:
    return get_origin(kind) is np.ndarray


def _is_outside(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Result) and kind._stays_outside


def _array(stored: Any, kind: Any) -> NDArray[Any]:
    (dtype,) = get_args(get_args(kind)[1])
    if isinstance(stored, Mapping):
        size, packed = math.prod(stored["shape"]), base64.b64decode(stored.get("zlib", ""))
        check_pixels(size, 1, "a picture in a result")
        content = zlib.decompressobj().decompress(packed, size + 1)  # a byte too many, and the shape does not fit
        return np.frombuffer(content, dtype).reshape(stored["shape"])
    if isinstance(stored, np.ndarray) and stored.dtype.kind == "S":
        stored = np.char.decode(stored, "utf-8").tolist()
    if dtype is np.object_ or dtype is Any:
        return object_array(stored)
    return np.array(stored, dtype=ABSTRACT.get(get_origin(dtype) or dtype, dtype))


# ---- references from JSON to annotations ----

FINGERPRINT = "fingerprint"


def fingerprint(value: Any) -> str:
    """Return a short text that is equal for tables of annotations with equal content.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> row = {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}
    >>> one, other = (Annotations.from_rows([{**row, "rater": rater}]) for rater in ("ann", "bob"))
    >>> fingerprint(one) == fingerprint(one), fingerprint(one) == fingerprint(other)
    (True, False)
    """
    return digest_of(value)[:16]


def digest_of(value: Any) -> str:
    """Return the SHA-256 of the content of a table of annotations.

    Examples
    --------
    >>> len(digest_of(np.arange(3))), digest_of(np.arange(3)) == digest_of(np.arange(4))
    (64, False)
    """
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(part)
    return digest.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    if is_dataclass(value):
        for entry in fields(value):
            yield entry.name.encode()
            yield from _parts(getattr(value, entry.name))
    elif isinstance(value, np.ndarray) and value.dtype.kind not in "OT":
        yield f"{value.shape}".encode()
        yield np.ascontiguousarray(value).tobytes()
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield str(key).encode()
            yield from _parts(part)
    elif isinstance(value, (np.ndarray, list, tuple)):
        for part in value:
            yield from _parts(part)
    else:
        yield repr(value).encode()


def _named(value: Any) -> Any:
    """Return plain values; results with `_stays_outside` become their fingerprint, and images are compressed."""

    def special(part: Any) -> Any:
        if isinstance(part, Result) and part._stays_outside:
            return {FINGERPRINT: fingerprint(part)}
        if isinstance(part, np.ndarray) and part.dtype == np.uint8 and part.ndim == 3:  # the pixels of an image
            return {"shape": list(part.shape), "zlib": base64.b64encode(zlib.compress(part.tobytes())).decode("ascii")}
        return None

    return plain_values(value, special)


def _check(values: Any) -> str:
    """Return a digest of JSON values, which does not depend on the order of keys or on how numbers are written."""
    read = json.loads(json.dumps(values), parse_int=float)
    return hashlib.sha256(json.dumps(read, sort_keys=True).encode()).hexdigest()[:16]


def _own_fields(value: Any) -> list[Any]:
    return [entry for entry in fields(value) if entry.init]


def strict(value: Any) -> Any:
    """Convert to types of strict JSON: NaN to None, infinity to text that `float` reads, other values to text.

    Examples
    --------
    >>> from pathlib import Path
    >>> strict({"alpha": np.float64("nan"), 1: (np.int64(2), np.array([0.5, -np.inf])), "file": Path("a.jpg")})
    {'alpha': None, '1': [2, [0.5, '-inf']], 'file': 'a.jpg'}
    """
    if isinstance(value, Mapping):
        return {str(key): strict(entry) for key, entry in value.items()}
    if isinstance(value, (np.ndarray, np.generic)):
        return strict(value.tolist())
    if isinstance(value, (list, tuple)):
        return [strict(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors in an exception group."""
    parts = getattr(error, "exceptions", ())
    for part in parts:
        yield from _causes(part)
    if not parts:
        yield error


# ---- text and HTML ----


def _printable(text: str) -> list[str]:
    """Return the lines of text from data, without terminal control characters."""
    return [_letters(line, None) for line in text.splitlines()]


def _letters(text: str, length: int | None) -> str:
    return plain_text(text.replace(NO_BREAK, " "), length)


def _cell(value: Any) -> Any:
    """Return a cell of a table; text from data is shortened and made printable, numbers are unchanged."""
    if isinstance(value, (int, float, np.number, np.bool_)) or value is None:
        return value
    return _letters(str(value), 40)


def _shown(frame: pd.DataFrame, rows: int) -> pd.DataFrame:
    """Return the first rows of a table, with text made safe to show."""
    first = frame.head(rows).rename(columns=_cell)
    for position, kind in enumerate(first.dtypes):
        if kind.kind not in "biufM":
            first.isetitem(position, object_array([_cell(value) for value in first.iloc[:, position]]))
    return first


def _text_of(frame: pd.DataFrame, lines: int) -> list[str]:
    """Return a table as at most `lines` lines, with as many columns as fit into a line."""
    if not len(frame.columns) or lines < 3:
        return []
    shown = _shown(frame, lines - 2)
    columns = len(shown.columns)
    while True:
        text = shown.iloc[:, :columns].to_string(index=False, na_rep="undefined", float_format="{:.4g}".format)
        found = text.splitlines() if len(shown) else []
        if columns == 1 or max(map(len, found), default=0) <= MOST_WIDE:
            break
        columns -= 1
    rest = []
    if len(frame) > len(shown):
        rest.append(f"{len(frame) - len(shown):,} more")
    if columns < len(frame.columns):
        names = len(frame.columns) - columns
        rest.append(number_of(names, "more column"))
    return [line.rstrip() for line in found] + ([f"... and {' and '.join(rest)}"] if rest else [])


def _html_of(frame: pd.DataFrame) -> str:
    """Return the first rows of a table as HTML; all text is escaped."""
    shown = _shown(frame, MOST_ROWS).iloc[:, :MOST_COLUMNS]
    if shown.empty:
        return ""
    more = len(frame) - len(shown)
    rest = f"<p>... and {number_of(more, 'more row')}: <code>.to_pandas()</code></p>" if more > 0 else ""
    return shown.to_html(index=False, border=0, escape=True, na_rep="undefined", float_format="{:.4g}".format) + rest
