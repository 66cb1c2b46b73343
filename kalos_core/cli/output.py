"""Output of the answer of a command: files, a folder, and standard output."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kalos_core.cli.answers import Answer, Order, Rows, as_json, write_folder
from kalos_core.cli.options import STREAM, check_path
from kalos_core.cli.streams import show
from kalos_core.errors import InputError, listed
from kalos_core.files import write_whole
from kalos_core.text import write_csv


@dataclass(frozen=True)
class Output:
    """Destinations of an answer.

    Parameters
    ----------
    values : dict of str to object
        Values of the output options of `Command`, by name.
    out : Path, optional
        Default folder.
    streamed : list of str
        Options that write to standard output.
    """

    values: dict[str, Any]
    out: Path | None
    streamed: list[str]

    @property
    def folder(self) -> Path | None:
        """Folder for all results, or None."""
        given = self.values.get("out", self.out)
        return None if given is None else Path(given)

    @property
    def rows(self) -> Rows:
        """Number and order of the rows shown."""
        found = self.values
        return Rows(Order(found.get("sort", ""), bool(found.get("reverse"))), found.get("top", Rows().top))

    def check(self) -> None:
        """Check that the answer can be written and shown as requested, before long work.

        Raises
        ------
        InputError
        """
        if self.folder is not None:
            check_path(self.folder, "new folder", "--out")
        if len(self.streamed) > 1:
            flags = " and ".join(f"--{name}" for name in self.streamed)
            raise InputError(f"{flags}: expected one of them on standard output, got both; give the other a file")
        if self.rows.top < 0:
            raise InputError(f"--top: expected a whole number of at least 0, got {self.rows.top}")

    def write(self, record: dict[str, Any], answer: Answer, failed: Sequence[str], named: Callable[[str], str]) -> None:
        """Write an answer to its files, and print to standard output.

        Raises
        ------
        InputError
            If a file cannot be written.
        """
        texts: dict[str, str] = dict(answer.printed)
        if self.folder is not None or "json" in self.values:
            whole = {**record, **answer.as_record()}
            texts["json"] = named(as_json(whole, ascii=self.values.get("json") == STREAM))
        if "summary" in self.values:
            texts["summary"] = named(answer.as_markdown(f"kalos-core {record['command']}", self.rows, failed))
        if "csv" in self.values:
            texts["csv"] = _csv(answer, self.values["csv"])
        if self.folder is not None:
            write_folder(self.folder, texts["json"], answer)
        for name in ("json", "summary"):
            if self.values.get(name, STREAM) != STREAM:
                write_whole(Path(self.values[name]), texts[name], overwrite=True)
        if not self.streamed:
            _warn_of_column(self.rows.order.by, answer)
        text = texts[self.streamed[0]] if self.streamed else named(answer.as_text(self.rows))
        show(text.rstrip("\n"))


def _csv(answer: Answer, name: str) -> str:
    if name not in answer.tables:
        raise InputError(f"--csv: expected a table that this input has: {listed(answer.tables, 20)}, got {name}")
    stream = io.StringIO()
    write_csv(answer.tables[name], stream)
    return stream.getvalue()


def _warn_of_column(name: str, answer: Answer) -> None:
    """Print a warning to standard error if no shown table has the column to sort by."""
    columns = {column: None for table in answer.shown for column in answer.tables[table].columns}
    if name and name not in columns:
        print(f"warning: --sort: expected a column of a table, {listed(columns, 40)}, got {name}", file=sys.stderr)
