"""The answer of a command and its output formats: text, Markdown, JSON, and CSV tables."""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.files import reason
from kalos_core.results import strict
from kalos_core.text import markdown_source, visible, write_csv
from kalos_core.text import plain as plain_text

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 12
"""Number of rows of a table on the terminal and in a summary; `--top` overrides it."""


@dataclass(frozen=True)
class Order:
    """The sort order of the rows of a table.

    Parameters
    ----------
    by : str
        Column to sort by; "" for the table's own order.
    largest_first : bool
        Whether to sort in descending order.
    least_images : int
        Rows on fewer images come last, as their values are due to chance.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"category": ["cat", "dog", "cow"], "alpha": [0.9, 0.2, 0.5], "images": [30, 1, 20]})
    >>> Order("alpha", least_images=10).sorted(table)["category"].tolist()
    ['cow', 'cat', 'dog']
    >>> Order("alpha", least_images=10).said(table), Order("alpha", largest_first=True).said(table), Order().said(table)
    (', smallest alpha first, those on fewer than 10 images last', ', largest alpha first', '')
    """

    by: str = ""
    largest_first: bool = False
    least_images: int = 0

    def sorted(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the table in this order."""
        if not self.by:
            return table
        ordered = table.sort_values(self.by, ascending=not self.largest_first, kind="stable")
        few = self._few(ordered)
        return ordered if few is None else ordered.iloc[few.argsort(kind="stable")]

    def said(self, table: pd.DataFrame) -> str:
        """Describe the order for the heading of the table."""
        if not self.by or len(table) < 2:
            return ""
        few = self._few(table)
        some = few is not None and few.any()
        which = "all" if few is None or few.all() else "those"
        last = f", {which} on fewer than {self.least_images} images{' last' * (which == 'those')}" if some else ""
        return f", {'largest' if self.largest_first else 'smallest'} {self.by} first{last}"

    def _few(self, table: pd.DataFrame) -> NDArray[np.bool_] | None:
        if not self.least_images:
            return None
        return np.asarray(table["images"] < self.least_images)


@dataclass(frozen=True)
class Rows:
    """The number and order of the rows of tables that are shown.

    Parameters
    ----------
    order : Order
        Order of tables that have its column; other tables keep their usual order.
    top : int
        Number of rows shown; 0 for all.
    """

    order: Order = Order()
    top: int = SHOWN_ROWS

    def order_of(self, table: pd.DataFrame, usual: Order) -> Order:
        """Return the order of a table."""
        return self.order if self.order.by in table.columns else usual


@dataclass(frozen=True, eq=False)
class Answer:
    """The results of a command.

    Parameters
    ----------
    text : str
        Text at the top of the terminal output.
    results : mapping of str to object
        Results for the whole input, for JSON: numbers, text, arrays, lists and mappings of them.
    tables : mapping of str to DataFrame
        Name of a CSV file, without its extension, -> its content.
    shown : mapping of str to Order
        Name of a table whose first rows are shown on the terminal and in a summary -> its order.
    score : float, optional
        Value that ``--fail-under`` checks.
    files : mapping of str to callable
        Name of a further file of the folder -> function that writes it to a path.
    failed : tuple of str
        Reasons why the command's own checks failed, one sentence each.
    printed : mapping of str to str
        Name of an option that was given as ``-`` -> its text for standard output.
    summary : str
        Markdown that replaces the text and the tables in a summary.

    Examples
    --------
    >>> import pandas as pd
    >>> raters = pd.DataFrame({"rater": ["bob", "ann"], "alpha": [0.75, 0.5]})
    >>> answer = Answer("Two raters.", {"alpha": float("nan")}, {"raters": raters}, {"raters": Order("alpha")})
    >>> print(answer.as_text(Rows(top=1)))
    Two raters.
    <BLANKLINE>
    raters, smallest alpha first
    rater  alpha
      ann  0.500
    ... 1 row left out; --top 2 shows all
    >>> answer.as_record()["results"], answer.as_record()["tables"]["raters"][0]
    ({'alpha': None}, {'rater': 'bob', 'alpha': 0.75})
    """

    text: str
    results: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    shown: Mapping[str, Order] = field(default_factory=dict)
    score: float | None = None
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)
    summary: str = ""

    def as_text(self, rows: Rows = Rows()) -> str:
        """Return the terminal output: the text and the first rows of the shown tables."""
        return visible("\n\n".join([self.text, *(self._section(name, rows, _as_text) for name in self.shown)]))

    def as_markdown(self, title: str, rows: Rows = Rows(), failed: Sequence[str] = ()) -> str:
        r"""Return Markdown for a pull request: heading, failed checks, text, and the first rows of the shown tables.

        Examples
        --------
        >>> print(
        ...     Answer("One rater.", {}, {}).as_markdown("kalos-core agreement", failed=["mean alpha: too low"]), end=""
        ... )
        ## kalos\-core agreement
        <BLANKLINE>
        **Failed:** mean alpha\: too low
        <BLANKLINE>
        One rater.
        """
        parts = [f"## {markdown_source(title, None)}", *(f"**Failed:** {_prose(reason)}" for reason in failed)]
        if self.summary:
            return "\n\n".join([*parts[1:], self.summary.rstrip("\n")]) + "\n"
        parts += [_prose(line) for line in self.text.splitlines() if line]
        parts += [self._section(name, rows, _as_markdown, "### ") for name in self.shown]
        return "\n\n".join(parts) + "\n"

    def _section(self, name: str, rows: Rows, write: Callable[[pd.DataFrame], str], mark: str = "") -> str:
        """Return a table with a heading for its name and order, and the number of rows left out."""
        table, end = self.tables[name], "\n" if mark else ""
        order = rows.order_of(table, self.shown[name])
        shown = order.sorted(table)
        shown = shown if rows.top == 0 else shown.head(rows.top)
        left_out = len(table) - len(shown)
        more = f"\n{end}... {number_of(left_out, 'row')} left out; --top {len(table)} shows all" if left_out else ""
        return f"{mark}{name}{order.said(table)}\n{end}{write(shown)}{more}"

    def as_record(self) -> dict[str, Any]:
        """Return all results and tables for JSON, with undefined values as None (see `strict`)."""
        tables = {name: [strict(row) for row in table.to_dict("records")] for name, table in self.tables.items()}
        return {"results": strict(self.results), "tables": tables}


def numbers_of(found: object, *names: str) -> dict[str, Any]:
    """Return attributes of a result by name, for `Answer.results`."""
    return {name: getattr(found, name) for name in names}


def _cells(table: pd.DataFrame, text: Callable[[str], str]) -> pd.DataFrame:
    """Return a table with all texts escaped by a function."""
    return table.rename(columns=text).map(lambda cell: text(cell) if isinstance(cell, str) else cell)


def _as_text(table: pd.DataFrame) -> str:
    if table.empty:
        return "(none)"
    return _cells(table, plain_text).to_string(index=False, float_format="{:.3f}".format, na_rep="-")


def _as_markdown(table: pd.DataFrame) -> str:
    if table.empty:
        return "(none)"
    rows = [list(table.columns), *([_cell(value) for value in row] for row in table.itertuples(index=False))]
    numbers = [kind.kind in "iuf" for kind in table.dtypes]
    lines = [f"| {' | '.join(markdown_source(str(cell)) for cell in row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'|'.join('---:' if number else '---' for number in numbers)}|", *lines[1:]])


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def _prose(text: str) -> str:
    return markdown_source(text, None)


def as_json(record: Mapping[str, Any], ascii: bool = False) -> str:
    r"""Return strict JSON with a line break at the end; with `ascii`, for a stream of any encoding.

    Examples
    --------
    >>> as_json({"alpha": None})
    '{\n "alpha": null\n}\n'
    >>> as_json({"rater": "Zoë"}, ascii=True)
    '{\n "rater": "Zo\\u00eb"\n}\n'
    """
    return json.dumps(record, ensure_ascii=ascii, indent=1, allow_nan=False) + "\n"


# ---- files ----


@contextmanager
def _reported(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RecursionError) as error:
        raise InputError(f"{path}: expected {what} to write to, got {reason(error)}") from error


def write_folder(folder: Path, record: str, answer: Answer) -> None:
    """Write ``results.json``, a CSV file for each table, and further files: all of them or none.

    Files of the same names are replaced; other files in the folder are kept.

    Raises
    ------
    InputError
        If the folder cannot be written to.

    Examples
    --------
    >>> import pandas as pd
    >>> write_folder(Path("found"), "{}", Answer("", {}, {"raters": pd.DataFrame({"rater": ["ann"]})}))
    >>> sorted(path.name for path in Path("found").iterdir())
    ['raters.csv', 'results.json']
    """
    draft = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}")
    with _reported(folder, "a folder"):
        draft.mkdir(parents=True)
        try:
            (draft / "results.json").write_text(record, encoding="utf-8")
            for name, table in answer.tables.items():
                write_csv(table, draft / f"{name}.csv")
            for name, write in answer.files.items():
                write(draft / name)
            if not folder.exists():
                draft.rename(folder)
                return
            files = {file: folder / file.name for file in sorted(draft.iterdir())}
            taken = [path for path in files.values() if path.is_dir() and not path.is_symlink()]
            if taken:  # before anything is replaced
                raise InputError(f"{taken[0]}: expected a file to write to, got a folder")
            for file, path in files.items():
                file.replace(path)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


# ---- progress ----


@contextmanager
def progress_bar(wanted: bool) -> Iterator[Callable[[float, str], None] | None]:
    """Show a progress bar on standard error and yield its ``progress(share, label)``; yield None unless wanted."""
    if not wanted:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=100, bar_format="{desc} {bar} {percentage:.0f} % {elapsed}") as bar:

        def progress(share: float, label: str) -> None:
            bar.set_description_str(label)
            bar.update(100 * share - bar.n)

        yield progress
