"""What a command answers, and how it is shown and written: text, Markdown, JSON, and CSV tables."""

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

from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.results import strict
from kalos_core.text import markdown_source, visible, write_csv
from kalos_core.text import plain as plain_text

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 12
"""Rows of a table on the terminal and in a summary, unless `--top` says otherwise."""


@dataclass(frozen=True)
class Rows:
    """Which rows of a table are shown, and in which order.

    Parameters
    ----------
    by : str
        The column they are sorted by, where a table has it; else each table has its own order.
    largest_first : bool
        Only with `by`.
    top : int
        How many are shown; 0 for all.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"category": ["cat", "dog", "cow"], "alpha": [0.9, 0.2, 0.5]})
    >>> shown, left_out = Rows(top=2).of(table, "alpha")
    >>> shown["category"].tolist(), left_out
    (['dog', 'cow'], 1)
    >>> Rows(by="category").of(table, "-alpha")[0]["alpha"].tolist()
    [0.9, 0.5, 0.2]
    """

    by: str = ""
    largest_first: bool = False
    top: int = SHOWN_ROWS

    def of(self, table: pd.DataFrame, usual: str) -> tuple[pd.DataFrame, int]:
        """The rows to show, and how many are left out; `usual` is the order of `Answer.shown`."""
        column, falls = usual.removeprefix("-"), usual.startswith("-")
        if self.by in table.columns:
            column, falls = self.by, self.largest_first
        if column in table.columns:
            table = table.sort_values(column, ascending=not falls, kind="stable")
        shown = table if self.top == 0 else table.head(self.top)
        return shown, len(table) - len(shown)


@dataclass(frozen=True, eq=False)
class Answer:
    """What a command found.

    Parameters
    ----------
    text : str
        What stands first on the terminal.
    results : mapping of str to object
        Numbers and words about the whole, for JSON: numbers, text, arrays, lists and mappings of them.
    tables : mapping of str to DataFrame
        Name of a CSV file, without its ending, -> what stands in it.
    shown : mapping of str to str
        The tables that the terminal and a summary show the beginning of -> the column that puts first what matters,
        smallest value first, or largest with a minus before it; "" where the table is in that order.
    score : float, optional
        What ``--fail-under`` looks at.
    files : mapping of str to callable
        Name of a further file of the folder -> what writes it to a path.
    failed : tuple of str
        Why a check of the command's own failed, a sentence each.
    printed : mapping of str to str
        Name of an option that was given as ``-`` -> what stands on standard output for it.

    Examples
    --------
    >>> import pandas as pd
    >>> raters = pd.DataFrame({"rater": ["bob", "ann"], "alpha": [0.75, 0.5]})
    >>> answer = Answer("Two raters.", {"alpha": float("nan")}, {"raters": raters}, {"raters": "alpha"})
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
    shown: Mapping[str, str] = field(default_factory=dict)
    score: float | None = None
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    failed: tuple[str, ...] = ()
    printed: Mapping[str, str] = field(default_factory=dict)

    def as_text(self, rows: Rows = Rows()) -> str:
        """For a terminal: the text and the first rows of the tables to be shown."""
        return visible("\n\n".join([self.text, *(self._section(name, rows, _as_text) for name in self.shown)]))

    def as_markdown(self, title: str, rows: Rows = Rows(), failed: Sequence[str] = ()) -> str:
        r"""For a pull request: a heading, which checks failed, the text, and the first rows of the tables.

        Examples
        --------
        >>> print(Answer("One rater.", {}, {}).as_markdown("kalos-core agreement", failed=["mean alpha: too low"]))
        ## kalos\-core agreement
        <BLANKLINE>
        **Failed:** mean alpha: too low
        <BLANKLINE>
        One rater\.
        """
        parts = [f"## {markdown_source(title, None)}", *(f"**Failed:** {_prose(reason)}" for reason in failed)]
        parts += [_prose(line) for line in self.text.splitlines() if line]
        parts += [self._section(name, rows, _as_markdown, "### ") for name in self.shown]
        return "\n\n".join(parts) + "\n"

    def _section(self, name: str, rows: Rows, write: Callable[[pd.DataFrame], str], mark: str = "") -> str:
        """A table under its name and order; it says how many rows are left out."""
        table, usual = self.tables[name], self.shown[name]
        shown, left_out = rows.of(table, usual)
        own = rows.by in table.columns
        by, falls = (rows.by, rows.largest_first) if own else (usual.removeprefix("-"), usual.startswith("-"))
        order = f", {'largest' if falls else 'smallest'} {by} first" if by and len(table) > 1 else ""
        end = "\n" if mark else ""
        more = f"\n{end}... {number_of(left_out, 'row')} left out; --top {len(table)} shows all" if left_out else ""
        return f"{mark}{name}{order}\n{end}{write(shown)}{more}"

    def as_record(self) -> dict[str, Any]:
        """For JSON: everything, what is undefined as None, as `strict` says."""
        tables = {name: [strict(row) for row in table.to_dict("records")] for name, table in self.tables.items()}
        return {"results": strict(self.results), "tables": tables}


def numbers_of(found: object, *names: str) -> dict[str, Any]:
    """Numbers and words about the whole by their names in a result, for `Answer.results`."""
    return {name: getattr(found, name) for name in names}


def _cells(table: pd.DataFrame, text: Callable[[str], str]) -> pd.DataFrame:
    """A table whose texts are safe for where they go."""
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
    r"""Strict JSON, with a line break at the end; for a stream of any encoding with ASCII only.

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
    except OSError as error:
        raise InputError(f"{path}: expected {what} to write to, got {error.strerror}") from error


def write_folder(folder: Path, record: str, answer: Answer) -> None:
    """Write ``results.json``, a CSV file for each table, and further files: all of them or none.

    Files of the same names are replaced; others in the folder stay.

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
    with _reported(folder, "a folder"):
        draft = folder.absolute().with_name(f".{folder.absolute().name}.{os.getpid()}")
        try:
            draft.mkdir(parents=True)
            (draft / "results.json").write_text(record, encoding="utf-8")
            for name, table in answer.tables.items():
                write_csv(table, draft / f"{name}.csv")
            for name, write in answer.files.items():
                write(draft / name)
            if folder.exists():
                for file in sorted(draft.iterdir()):
                    file.replace(folder / file.name)
            else:
                draft.rename(folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


# ---- progress ----


@contextmanager
def progress_bar(wanted: bool) -> Iterator[Callable[[float, str], None] | None]:
    """A bar on standard error for functions that take ``progress(share, label)``; None unless it is wanted."""
    if not wanted:
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=100, bar_format="{desc} {bar} {percentage:.0f} % {elapsed}") as bar:

        def progress(share: float, label: str) -> None:
            bar.set_description_str(label)
            bar.update(100 * share - bar.n)

        yield progress
