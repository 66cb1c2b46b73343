"""What a command answers, and how it is shown and written: text, JSON, and a folder of CSV tables."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalos_core.errors import InputError
from kalos_core.results import strict
from kalos_core.text import plain as plain_text
from kalos_core.text import visible, write_csv

if TYPE_CHECKING:
    import pandas as pd

SHOWN_ROWS = 12
"""Rows of a table on the terminal."""


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
    shown : tuple of str
        The tables that the terminal shows the beginning of.
    score : float, optional
        What ``--fail-under`` looks at.
    files : mapping of str to callable
        Name of a further file of the folder -> what writes it to a path.
    summary : str
        What ``--summary`` writes: Markdown.

    Examples
    --------
    >>> import pandas as pd
    >>> answer = Answer(
    ...     "One rater.", {"alpha": float("nan")}, {"raters": pd.DataFrame({"rater": ["ann"]})}, ("raters",)
    ... )
    >>> print(answer.as_text())
    One rater.
    <BLANKLINE>
    raters
    rater
      ann
    >>> answer.as_record()
    {'results': {'alpha': None}, 'tables': {'raters': [{'rater': 'ann'}]}}
    """

    text: str
    results: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame]
    shown: tuple[str, ...] = ()
    score: float | None = None
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    summary: str = ""

    def as_text(self) -> str:
        """For a terminal: the text and the first rows of the tables to be shown."""
        return visible("\n\n".join([self.text, *(f"{name}\n{_as_text(self.tables[name])}" for name in self.shown)]))

    def as_record(self) -> dict[str, Any]:
        """For JSON: everything, what is undefined as None, as `strict` says."""
        tables = {name: [strict(row) for row in table.to_dict("records")] for name, table in self.tables.items()}
        return {"results": strict(self.results), "tables": tables}


def numbers_of(found: object, *names: str) -> dict[str, Any]:
    """Numbers and words about the whole by their names in a result, for `Answer.results`."""
    return {name: getattr(found, name) for name in names}


def _as_text(table: pd.DataFrame) -> str:
    if table.empty:
        return "(none)"
    first = table.head(SHOWN_ROWS).rename(columns=plain_text)
    head = first.map(lambda cell: plain_text(cell) if isinstance(cell, str) else cell)
    text = head.to_string(index=False, float_format="{:.3f}".format, na_rep="-")
    more = len(table) - SHOWN_ROWS
    return f"{text}\n... and {more:,} more" if more > 0 else text


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


def check_file(path: Path) -> None:
    """Whether a file can be written; to be asked before long work.

    Raises
    ------
    InputError
        If it cannot.

    Examples
    --------
    >>> check_file(Path("none/found.json"))
    Traceback (most recent call last):
    kalos_core.errors.InputError: none/found.json: expected a file in a folder that is there, got none
    """
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(
            f"{path}: expected a file in a folder that is there, got {'a folder' if path.is_dir() else 'none'}"
        )


def check_folder(path: Path) -> None:
    """Whether a folder can be made and written to; to be asked before long work.

    Raises
    ------
    InputError
        If it cannot.

    Examples
    --------
    >>> check_folder(Path("new/folder"))
    """
    nearest = next(folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder))
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise InputError(f"{path}: expected a folder to write to, got {nearest}, which is none")


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
