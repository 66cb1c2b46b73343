"""Folders, texts and tables on disk."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kalos_core.errors import InputError
from kalos_core.readers.files import write_whole

if TYPE_CHECKING:
    import pandas as pd


def make_folder(path: Path) -> None:
    """Make a folder to write to, with those above it; to be called before long work.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: expected a folder to write to, got {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file, which is there whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.

    Examples
    --------
    >>> write_text(Path("note.txt"), "a")
    >>> write_text(Path("note.txt") / "in", "a")
    Traceback (most recent call last):
    kalos_core.errors.InputError: note.txt/in: expected a folder to write into, got note.txt, which is none
    """
    try:
        write_whole(path, text)
    except OSError as error:
        raise InputError(f"{path}: expected a file to write to, got {error.strerror}") from error


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write each table to ``<name>.csv`` in a folder.

    Examples
    --------
    >>> import pandas as pd
    >>> write_tables(Path("."), {"loss": pd.DataFrame({"ratio": [0.1]})})
    >>> pd.read_csv("loss.csv")["ratio"].tolist()
    [0.1]
    """
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)
