"""Reading and parsing of files, and atomic writing; unreadable files raise an `InputError` that names them."""

from __future__ import annotations

import codecs
import errno
import gzip
import io
import json
import os
import socket
import stat
import struct
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import msgspec
import psutil

from kalos_core.errors import InputError, repr_of
from kalos_core.limits import check_packing, check_pixels, check_unpacked

if TYPE_CHECKING:
    from PIL import Image


LONGEST_NAME = 255
"""Bytes of a name that usual file systems hold."""

LONGEST_PATH = 4095
"""Bytes of a path that usual systems accept."""


def as_path(value: object, argument: str, expected: str = "a path") -> Path:
    """Return an argument as a path; raise an error that names the argument if it is none.

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
    path = Path(os.fsdecode(value))
    if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in path.parts):
        raise InputError(f"{argument}: expected names of at most {LONGEST_NAME} bytes, got {repr_of(str(path))}")
    if len(str(path).encode(errors="replace")) > LONGEST_PATH or "\0" in str(path):
        expected = f"a path of at most {LONGEST_PATH:,} bytes, without NUL"
        raise InputError(f"{argument}: expected {expected}, got {repr_of(str(path))}")
    return path


MOST_VALUES = 10
"""Maximum number of values in YAML for each character of its text."""


@contextmanager
def open_file(path: Path, what: str, *, unpacked: bool = True) -> Iterator[Any]:
    """Open a file for reading, unpacked if its name ends in ``.gz``; `what` names its kind in messages.

    Raises
    ------
    InputError
        If it cannot be read, here or within the ``with``, is a pipe or a device, which may never end, or unpacks to
        more than is allowed.
    """
    try:
        _check_regular(path, what)
        with _Unpacked(path, "rb") if unpacked and path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except InputError:
        raise
    except (OSError, ValueError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: expected a readable {what}, got {reason(error)}") from error


UNPACKED = 1 << 20
"""Bytes that are unpacked at a time."""


class _Unpacked(gzip.GzipFile):
    """The content of a packed file, which is counted while it is unpacked, before memory is taken for more."""

    def read(self, size: int | None = -1) -> bytes:
        packed, where = os.fstat(self.fileno()).st_size, str(self.name)
        if size is not None and size >= 0:
            block = super().read(size)
            check_packing(self.tell(), packed, where)
            return block
        whole = io.BytesIO()
        while block := self.read(UNPACKED):  # asked for all, gzip makes room for all
            whole.write(block)
            check_unpacked(whole.tell(), packed, where)
        return whole.getvalue()


def _check_regular(path: Path, what: str) -> None:
    actual = not_a_file(path)
    if actual:
        raise InputError(f"{path}: expected a readable {what}, got {actual}")


def not_a_file(path: Path) -> str:
    """Return what is at a path in place of a regular file, for messages; "" for a regular file.

    Examples
    --------
    >>> not_a_file(Path(".")), not_a_file(Path("absent.json"))
    ('a folder', 'No such file or directory')
    """
    try:
        mode = path.stat().st_mode
    except OSError as error:
        is_broken = error.errno in (errno.ENOENT, errno.ELOOP) and os.path.islink(path)
        return "a broken link" if is_broken else reason(error)
    if stat.S_ISREG(mode):
        return ""
    return "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"


def entries_of(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders in a folder, and its other entries, both sorted by name.

    Links are followed, except those to a folder on the way to them: they lead to files that are found anyway. Names
    that begin with a dot are left out.

    Raises
    ------
    InputError
        If the folder cannot be listed.
    """
    folders, others = [], []
    try:
        with os.scandir(folder) as found:
            for entry in sorted(found, key=lambda entry: entry.name):
                path = folder / entry.name
                if entry.name.startswith("."):
                    continue
                if not (_is_folder(path) if entry.is_symlink() else entry.is_dir()):
                    others.append(path)
                elif not (entry.is_symlink() and _leads_back(folder, path)):
                    folders.append(path)
    except OSError as error:
        raise InputError(f"{folder}: expected a folder that can be listed, got {reason(error)}") from error
    return folders, others


def _leads_back(folder: Path, link: Path) -> bool:
    """Return whether a link leads to a folder through which its own folder was reached, perhaps by another link."""
    target = link.resolve()
    return any(home.resolve().is_relative_to(target) for home in (folder, *folder.parents))


def _is_folder(link: Path) -> bool:
    try:
        return stat.S_ISDIR(link.stat().st_mode)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ELOOP):
            raise
        return False  # a broken link


def files_below(folder: Path) -> list[Path]:
    """Return all files at any depth of a folder, sorted; see `entries_of`.

    Examples
    --------
    >>> Path("deep/er").mkdir(parents=True)
    >>> for name in ("deep/b.txt", "deep/er/a.txt", "deep/.hidden"):
    ...     Path(name).touch()
    >>> [path.as_posix() for path in files_below(Path("deep"))]
    ['deep/b.txt', 'deep/er/a.txt']
    """
    waiting, files = [folder], list[Path]()
    while waiting:
        folders, others = entries_of(waiting.pop())
        waiting += folders
        files += others
    return sorted(files)


def reason(error: Exception) -> str:
    """Return the reason of an error, without the path, which the message names already."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__


def read_bytes(path: Path, what: str) -> bytes:
    """Read a file, unpacked if its name ends in ``.gz``; `what` names its kind in messages."""
    with open_file(path, f"{what} in UTF-8") as file:
        return bytes(file.read())


def read_text(path: Path, what: str) -> str:
    """Read a file as UTF-8 text; see `read_bytes`."""
    return _text(path, read_bytes(path, what), what)


def _text(path: Path, data: bytes, what: str) -> str:
    try:
        text = data.decode("utf-8-sig")
    except ValueError as error:
        raise InputError(f"{path}: expected a readable {what} in UTF-8, got {error}") from error
    if "\0" in text:  # UTF-16 without a mark is valid UTF-8, with NUL after each letter
        raise InputError(f"{path}: expected a readable {what} in UTF-8, got NUL characters, as in UTF-16")
    return text


def load_json(path: Path, what: str) -> Any:
    """Read a JSON file (see `read_bytes`) as Python's `json` does: NaN and numbers of any length are allowed."""
    return parse_json(path, read_bytes(path, what), what)


def parse_json(path: Path, data: bytes, what: str) -> Any:
    """Parse the content of a JSON file; see `load_json`."""
    with suppress(msgspec.MsgspecError, ValueError, RecursionError):
        return msgspec.json.decode(data.removeprefix(codecs.BOM_UTF8))
    text = _text(path, data, what)  # Python's `json` accepts more than msgspec, and reports errors more clearly
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        several = getattr(error, "msg", "") == "Extra data"
        actual = "several (JSON Lines is not supported: convert it to COCO, or to a table)" if several else error
        raise InputError(f"{path}: expected {'one JSON value' if several else 'JSON'}, got {actual}") from error


def parse_yaml(text: str, where: str, loader: Any = None) -> Any:
    """Parse YAML without Python objects; `where` names it in messages, and `loader` is a subclass of `SafeLoader`.

    A few lines with references to references can stand for endlessly many values. So at most `MOST_VALUES` are
    accepted for each character.

    Examples
    --------
    >>> parse_yaml("{car: auto}", "aliases")
    {'car': 'auto'}
    >>> parse_yaml("names: &all [*all]", "data.yaml")
    Traceback (most recent call last):
    kalos_core.errors.InputError: data.yaml: expected YAML of few values, got references that stand for too many
    """
    import yaml  # only such files need it

    try:
        loading = (loader or yaml.SafeLoader)(text)
        root = loading.get_single_node()
        if root is None:
            return None
        waiting: list[Iterator[Any]] = [iter([root])]
        node: Any
        for _ in range(MOST_VALUES * len(text)):
            while waiting and (node := next(waiting[-1], None)) is None:
                waiting.pop()
            if not waiting:
                return loading.construct_document(root)
            pairs = isinstance(node, yaml.MappingNode)
            if not isinstance(node, yaml.ScalarNode):
                waiting.append(chain.from_iterable(node.value) if pairs else iter(node.value))
    except InputError:
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # or numbers of very many digits
        raise InputError(f"{where}: expected YAML, got {' '.join(str(error).split())}") from error
    raise InputError(f"{where}: expected YAML of few values, got references that stand for too many")


class _NoDeclarations(ElementTree.TreeBuilder):
    """Tree builder that refuses document types; they declare entities, which may read other files or grow endlessly."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:  # noqa: ARG002 - the parser's call
        raise ValueError(f"a document type declaration ({name}), which exports do not have")


def load_xml(path: Path, what: str) -> ElementTree.Element:
    """Read an XML file and return its root; tags lose their namespace. `what` names its kind in messages."""
    with open_file(path, what, unpacked=False) as file:
        return parse_xml(path, file.read())


def parse_xml(path: Path, data: bytes) -> ElementTree.Element:
    """Parse the content of an XML file; see `load_xml`."""
    try:
        root = ElementTree.fromstring(data, ElementTree.XMLParser(target=_NoDeclarations()))
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise InputError(f"{path}: expected XML, got {error}") from error
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


def as_float(text: str | None) -> float | None:
    """Return a number from text; None if it is missing or no number, or groups digits by underscores as in Python.

    Examples
    --------
    >>> as_float(" 2.5 "), as_float("many"), as_float("1_0"), as_float(None)
    (2.5, None, None, None)
    """
    try:
        return float(text) if text is not None and "_" not in text else None
    except ValueError:
        return None


OPENING = Lock()
BROKEN = (OSError, ValueError, SyntaxError, EOFError, TypeError, LookupError, ArithmeticError, struct.error, zlib.error)
"""Errors that Pillow raises for broken files."""


@contextmanager
def open_image(path: str | os.PathLike[str]) -> Iterator[Image.Image]:
    """Open an image file within our limit of pixels; errors of reading it within the ``with`` are ours, too.

    Raises
    ------
    InputError
        If it cannot be read, or has more pixels than ``KALOS_MOST_PIXELS``.
    """
    from PIL import Image  # slow to import, and needed here only

    try:
        _check_regular(Path(path), "image")
        with OPENING:  # Pillow's own limit is global, so it is lifted only while opening
            usual, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
            try:
                opened = Image.open(path)
            finally:
                Image.MAX_IMAGE_PIXELS = usual
        with opened:
            check_pixels(opened.width, opened.height, os.fsdecode(path))
            yield opened
    except InputError:
        raise
    except BROKEN as error:
        raise InputError(f"{os.fsdecode(path)}: expected a readable image, got {reason(error)}") from error


def make_folder(folder: Path) -> None:
    """Create a folder, with the folders that it is in, unless it exists.

    Raises
    ------
    InputError
        If it cannot be created.

    Examples
    --------
    >>> Path("report").touch()
    >>> make_folder(Path("report"))
    Traceback (most recent call last):
    kalos_core.errors.InputError: report: expected a folder to write to, got File exists
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder}: expected a folder to write to, got {reason(error)}") from error


def write_whole(path: Path, content: str | bytes, mark: str = "", *, overwrite: bool = False) -> None:
    """Write a file atomically; its folder must exist.

    Drafts of the same file that a dead process left are removed. Links are not followed.

    Parameters
    ----------
    path : path
    content : str or bytes
    mark : str
        Beginning of all files of this kind that this library writes: an existing file is replaced if it begins with
        it, or is empty. Without a mark, only an empty file is replaced.
    overwrite : bool
        Replace any existing file.

    Raises
    ------
    InputError
        If it cannot be written, or would replace another file.

    Examples
    --------
    >>> write_whole(Path("found.json"), "{}")
    >>> write_whole(Path("found.json"), "[]")
    Traceback (most recent call last):
    kalos_core.errors.InputError: found.json: expected a new file, or one that this library wrote, got another; \
choose another name, or pass overwrite=True
    >>> write_whole(Path("."), "{}")
    Traceback (most recent call last):
    kalos_core.errors.InputError: .: expected a file to write to, got a folder
    """
    if not os.path.isdir(path.parent):
        raise InputError(f"{path}: expected an existing folder to write into, got {path.parent}")
    if os.path.isdir(path):
        raise InputError(f"{path}: expected a file to write to, got a folder")
    try:
        data = content if isinstance(content, bytes) else content.encode()
        if path.exists() and not path.is_file():  # a device or a pipe
            path.write_bytes(data)
            return
        if not overwrite and os.path.lexists(path) and not _is_like(path, mark):
            raise InputError(
                f"{path}: expected a new file, or one that this library wrote, got another; choose another name, or "
                "pass overwrite=True"
            )
        name, host = (f"{zlib.crc32(of.encode(errors='surrogatepass')):x}" for of in (path.name, socket.gethostname()))
        for left in path.parent.glob(f".{name}-{host}-*-*"):
            if not psutil.pid_exists(int(left.name.split("-")[2])):  # that process died while writing
                left.unlink(missing_ok=True)
        draft = path.parent / f".{name}-{host}-{os.getpid()}-{uuid.uuid4().hex}"  # `tempfile` makes private files
        try:
            draft.write_bytes(data)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: expected a file to write to, got {reason(error)}") from error


def _is_like(path: Path, mark: str) -> bool:
    """Return whether an existing file is empty or begins with a mark; links never do."""
    if path.is_symlink():
        return False
    with path.open("rb") as file:
        begins = file.read(max(len(mark.encode()), 1))
    return not begins or (bool(mark) and begins == mark.encode())
