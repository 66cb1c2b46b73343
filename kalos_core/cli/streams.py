"""Standard input as a file, and standard output that may be closed early."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path

from kalos_core.cli.options import STREAM
from kalos_core.errors import InputError
from kalos_core.files import as_path

STARTS = (
    (b"{", ".json"),
    (b"[", ".json"),
    (b"<", ".xml"),
    (b"PK\x03\x04", ".zip"),
    (b"PAR1", ".parquet"),
    (b"MATLAB", ".mat"),
)
"""First bytes of a file -> extension of its name."""

PACKED = b"\x1f\x8b"
"""First bytes of a gzip file."""


@contextmanager
def received(given: Mapping[str, str]) -> Iterator[tuple[dict[str, Path], Callable[[str], str]]]:
    """Yield the paths of inputs, with standard input saved to a file, and a function that removes its path from texts.

    The file is named ``stdin`` with an extension that matches its content, so that formats are recognised. It is
    deleted at the end.

    Raises
    ------
    InputError
        If a path is too long, two inputs are standard input, or standard input is a terminal.

    Examples
    --------
    >>> with received({"labels": "labels.json"}) as (paths, named):
    ...     print(paths["labels"], named("labels.json: expected a file"))
    labels.json labels.json: expected a file
    """
    streamed = [name for name, path in given.items() if path == STREAM]
    paths = {name: as_path(path, name) for name, path in given.items()}
    if not streamed:
        yield paths, str
        return
    if len(streamed) > 1:
        raise InputError(f"{' and '.join(streamed)}: expected one input from standard input (-), got {len(streamed)}")
    if sys.stdin.isatty():
        raise InputError(
            f"{streamed[0]}: expected a file on standard input, such as kalos-core ... - < labels.json, got a terminal"
        )
    with tempfile.TemporaryDirectory() as folder:

        def named(text: str) -> str:
            return text.replace(f"{folder}{os.sep}", "")

        paths[streamed[0]] = _received(Path(folder))
        try:
            yield paths, named
        except InputError as error:
            raise InputError(named(str(error))) from error


def _received(folder: Path) -> Path:
    path = folder / "stdin"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    with path.open("rb") as file:
        return path.rename(path.with_suffix(ending_of(file.read(4096))))


def ending_of(start: bytes) -> str:
    r"""Return the file extension that matches the first bytes of a file; by default that of a CSV table.

    Examples
    --------
    >>> import gzip
    >>> ending_of(b' {"images": []}'), ending_of(b"item,rater"), ending_of(gzip.compress(b"<a/>"))
    ('.json', '.csv', '.xml.gz')
    """
    packed = start.startswith(PACKED)
    if packed:
        try:
            start = zlib.decompressobj(31).decompress(start, len(start))
        except zlib.error:  # the reader says so
            start = b""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return next((ending for beginning, ending in STARTS if text.startswith(beginning)), ".csv") + ".gz" * packed


def prepare_output() -> None:
    """Let standard output and standard error accept any text, as the encoding of a terminal may lack Greek letters."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def show(text: str) -> None:
    """Print to standard output; do nothing if the reader, such as `head`, has closed it."""
    try:
        print(text, flush=True)
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Discard further standard output, so that nothing fails when the process ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
