"""Files in, parsed content out, and a file written whole: what cannot be read is an `InputError` that names it."""

from __future__ import annotations

import codecs
import gzip
import json
import os
import uuid
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec

from kalos_core.errors import InputError


def as_path(value: object, argument: str, expected: str = "a path") -> Path:
    """An argument that is a path; anything else is an error that names the argument.

    Examples
    --------
    >>> as_path("labels.json", "labels").name
    'labels.json'
    >>> as_path(3, "labels")
    Traceback (most recent call last):
    kalos_core.errors.InputError: labels: expected a path, got int
    """
    if not isinstance(value, (str, os.PathLike)):
        raise InputError(f"{argument}: expected {expected}, got {type(value).__name__}")
    return Path(os.fsdecode(value))


def read_bytes(path: Path, what: str) -> bytes:
    """The content of a file, unpacked if its name ends in ``.gz``; `what` it should be is for the message."""
    try:
        data = path.read_bytes()
        return gzip.decompress(data) if path.suffix == ".gz" else data
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: expected a readable {what} in UTF-8, got {error}") from error


def read_text(path: Path, what: str) -> str:
    """The text of a file in UTF-8, see `read_bytes`."""
    return _text(path, read_bytes(path, what), what)


def _text(path: Path, data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except ValueError as error:
        raise InputError(f"{path}: expected a readable {what} in UTF-8, got {error}") from error


def load_json(path: Path, what: str) -> Any:
    """The content of a JSON file, see `read_bytes`: as Python's `json` reads it, NaN and numbers of any length too."""
    return parse_json(path, read_bytes(path, what), what)


def parse_json(path: Path, data: bytes, what: str) -> Any:
    """As `load_json`, of the content of the file."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.json.decode(data.removeprefix(codecs.BOM_UTF8))
    text = _text(path, data, what)  # what that refuses may be JSON to Python, whose words are clearer where it is not
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: expected JSON, got {error}") from error


class _NoDeclarations(ElementTree.TreeBuilder):
    """Refuses a document type: entities, which may read other files or grow without end, are declared there."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:  # noqa: ARG002 - the parser's call
        raise ValueError(f"a document type declaration ({name}), which no export has")


def load_xml(path: Path, what: str) -> ElementTree.Element:
    """The root of an XML file, its tags without their namespace; `what` it should be is for the message."""
    try:
        root = ElementTree.fromstring(path.read_bytes(), ElementTree.XMLParser(target=_NoDeclarations()))
    except OSError as error:
        raise InputError(f"{path}: expected a readable {what}, got {error}") from error
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{path}: expected XML, got {error}") from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def as_float(text: str | None) -> float | None:
    """A number from text; None for what is no number, which includes nothing.

    Examples
    --------
    >>> as_float(" 2.5 "), as_float("many"), as_float(None)
    (2.5, None, None)
    """
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def write_whole(path: Path, text: str) -> None:
    """Write a text file so that it is there whole or not at all; its folder has to be there."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: expected a folder to write into, got {path.parent}, which is none")
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")  # not `tempfile`: others may read what is written
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
