"""Texts on disk."""

from __future__ import annotations

from pathlib import Path

from kalos_core.errors import InputError
from kalos_core.readers.files import write_whole


def write_text(path: Path, text: str) -> None:
    """Write a file, which is there whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.

    Examples
    --------
    >>> write_text(Path("found.json"), "{}")
    >>> write_text(Path("."), "{}")
    Traceback (most recent call last):
    kalos_core.errors.InputError: .: expected a file to write to, got Is a directory
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a device or a pipe
            path.write_text(text, encoding="utf-8")
        else:
            write_whole(path.absolute(), text)
    except OSError as error:
        raise InputError(f"{path}: expected a file to write to, got {error.strerror}") from error
