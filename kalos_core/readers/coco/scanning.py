"""Scanner for the records of a JSON file larger than memory, which finds brackets some megabytes at a time."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalos_core.files import open_file

BYTES_AT_ONCE = 1 << 22
"""Number of bytes read in one step. A longer record takes more steps, each twice as long as the one before."""

QUOTE, BACKSLASH, OPENING, CLOSING, AS_BRACE = 34, 92, 123, 125, 32
"""ASCII codes; the bit `AS_BRACE` turns a bracket into a brace."""

LONGEST_KEY = 200
"""Number of bytes before a list that are searched for its key."""


class Batch(NamedTuple):
    """Some records of a list: objects (or lists) at ``text[start[i]:end[i]]``, separated by commas."""

    key: str
    text: bytes
    start: NDArray[np.intp]
    end: NDArray[np.intp]

    @property
    def together(self) -> bytes:
        """JSON list of the records."""
        return b"[" + self.text[self.start[0] : self.end[-1]] + b"]"

    def each(self) -> list[bytes]:
        """Return the JSON of each record."""
        return [self.text[start:end] for start, end in zip(self.start.tolist(), self.end.tolist(), strict=True)]


def scan(path: Path, lists: Sequence[str], rest: bytearray) -> Iterator[Batch]:
    """Yield batches of the records in some lists of a file's top-level object, in the order of the file.

    Parameters
    ----------
    path : Path
        File in UTF-8, compressed if its name ends in ``.gz``.
    lists : sequence of str
        Keys of the lists.
    rest : bytearray
        Receives the rest of the file as JSON, with ``{}`` in place of each batch.

    Examples
    --------
    >>> import tempfile
    >>> rest = bytearray()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.json"
    ...     _ = path.write_text('{"info": {"year": 26}, "images": [{"id": "a]"}, {"id": 2}]}')
    ...     [batch.each() for batch in scan(path, ["images"], rest)], rest.decode()
    ([[b'{"id": "a]"}', b'{"id": 2}']], '{"info": {"year": 26}, "images": [{}]}')
    """
    begins = re.compile(rb'(?<!\\)"(' + "|".join(map(re.escape, lists)).encode() + rb')"\s*:\s*\[$')
    key, depth, waiting = "", 0, bytearray()
    for block in _blocks(path, waiting):
        text = bytes(waiting) + block
        at, step, after = _brackets(text, depth)
        values, ends = at[(step > 0) & (after == 2)], at[(step < 0) & (after == 1)]
        starts, stops = at[(step > 0) & (after == 3)], at[(step < 0) & (after == 2)]
        done = 0
        while True:
            if not key:
                for value in values[np.searchsorted(values, done) :].tolist():
                    rest += text[done : value + 1]
                    done = value + 1
                    found = begins.search(rest, max(0, len(rest) - LONGEST_KEY))
                    if found:
                        key = found[1].decode()
                        break
                else:
                    last = int(at[-1]) + 1 if len(at) else 0
                    rest += text[done:last]
                    done = max(done, last)
                    break
            closing = ends[np.searchsorted(ends, done) :][:1].tolist()
            limit = closing[0] if closing else len(text)
            stop = stops[np.searchsorted(stops, done) : np.searchsorted(stops, limit)]
            start = starts[np.searchsorted(starts, done) :][: len(stop)]
            if len(stop):
                rest += text[done : start[0]] + b"{}"
                yield Batch(key, text, start, stop + 1)
                done = int(stop[-1]) + 1
            if not closing:
                break
            rest += text[done : limit + 1]
            done, key = limit + 1, ""
        passed = int(np.searchsorted(at, done))
        depth = int(after[passed - 1]) if passed else depth
        waiting[:] = text[done:]
    rest += waiting


def _blocks(path: Path, waiting: bytearray) -> Iterator[bytes]:
    """Yield the file in blocks as long as the record that waits for its end, so that time is linear in the file."""
    with open_file(path, "COCO file in UTF-8") as file:
        yield file.read(BYTES_AT_ONCE).removeprefix(BOM_UTF8)
        while block := file.read(max(BYTES_AT_ONCE, len(waiting))):
            yield block


def _brackets(text: bytes, depth: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    r"""Return positions of brackets and braces outside strings, 1 (opening) or -1 (closing), and the depth after each.

    Parameters
    ----------
    text : bytes
        Text that begins outside a string.
    depth : int
        Nesting depth at the beginning of the text.

    Examples
    --------
    >>> [array.tolist() for array in _brackets(rb'[{"\"}": 1}]', 0)]
    [[0, 1, 10, 11], [1, 1, -1, -1], [1, 2, 1, 0]]
    """
    letters = np.frombuffer(text, np.uint8)
    quotes = letters == QUOTE
    slashes = np.flatnonzero(letters == BACKSLASH)
    if len(slashes):
        first = np.append(True, np.diff(slashes) != 1)
        last = np.append(first[1:], True)
        escaping = slashes[last][(slashes[last] - slashes[first]) % 2 == 0]  # the last of an odd number
        quotes[escaping[escaping + 1 < len(letters)] + 1] = False
    braces = letters | AS_BRACE
    brackets = (braces == OPENING) | (braces == CLOSING)
    outside = np.cumsum(quotes, dtype=np.uint8) % 2 == 0
    at = np.flatnonzero(brackets & outside)
    step = np.where(braces[at] == OPENING, 1, -1)
    return at, step, depth + np.cumsum(step)
