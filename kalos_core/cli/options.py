"""Options of a command, derived from the arguments of the library functions it calls, and their given values."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from kalos_core.errors import InputError, listed, repr_of
from kalos_core.files import as_path, not_a_file, parse_yaml, read_text
from kalos_core.options import Declared, arguments_of, declared_by

SCALARS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
"""Types that an option can have, in the order in which text is parsed as one of them, with their names in errors."""

NULL = "null"
"""Text for None on the command line, as in YAML."""

STREAM = "-"
"""File name that means standard input or standard output."""

ANALYSIS, INTERVALS, MORE, INPUT, OUTPUT, CHECKS = (
    "analysis",
    "intervals",
    "further results",
    "input",
    "output",
    "checks",
)
GROUPS = (ANALYSIS, INTERVALS, MORE, INPUT, OUTPUT, CHECKS)
"""Groups of options, in the order of the help."""

OF_DRAWS = ("bootstrap", "seed", "samples", "fraction", "permutations")
"""Options of the group `INTERVALS`."""


@dataclass(frozen=True)
class Flag:
    """An argument of a library function that can be given on the command line or in a configuration file.

    Parameters
    ----------
    name : str
        Name such as ``on_invalid``; on the command line ``--on-invalid``.
    kind : type
        One of `SCALARS`, a literal, a list or a dict of them, None, or a union of these.
    help : str
        One or two sentences.
    default : object
        Default, for the help only; the function has its own.
    group : str
        One of `GROUPS`.
    argument : str
        Name of the function's argument, if different.
    choices : mapping of str to str
        Values and their meanings, for the help; "" for a value whose name is clear.
    formats : mapping of str to Flag
        Input formats that have the option, with the option of each; empty if it applies to all.
    declared : tuple of Declared
        Declarations that check the range of a value; one of them must accept it.
    path : str
        "file" or "folder" for a path that must exist; "new" or "new folder" for output.

    Examples
    --------
    >>> Flag("threshold", float).checked(1, "options.yaml: threshold"), Flag("seed", int).read(["3"], "seed")
    (1.0, 3)
    >>> Flag("seed", int).checked("3", "options.yaml: seed")
    Traceback (most recent call last):
    kalos_core.errors.InputError: options.yaml: seed: expected a whole number, got '3'
    """

    name: str
    kind: Any
    help: str = ""
    default: object = None
    group: str = ANALYSIS
    argument: str = ""
    choices: Mapping[str, str] = field(default_factory=dict)
    formats: Mapping[str, Flag] = field(default_factory=dict)
    declared: tuple[Declared, ...] = ()
    path: Literal["", "file", "folder", "new", "new folder"] = ""

    @property
    def flag(self) -> str:
        """Name on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_switch(self) -> bool:
        """Whether it is given on the command line without a value."""
        return self.kind is bool

    @property
    def expected(self) -> str:
        """Description of valid values in errors."""
        return _expected(self.kind)

    def checked(self, value: object, where: str) -> Any:
        """Return the checked value of a configuration file; whole numbers are accepted as numbers.

        Raises
        ------
        InputError
            If it is of the wrong type, out of range, or a path that cannot be read or written.
        """
        found = _converted(value, self.kind, where)
        _check_range(self.declared, found, where)
        if self.path and isinstance(found, str) and found != STREAM:
            check_path(Path(found), self.path, where)
        return found

    def read(self, texts: Sequence[str], where: str) -> Any:
        """Parse words of the command line.

        Raises
        ------
        InputError
            If they are not a valid value.
        """
        parts = parts_of(self.kind)
        if list(texts) == [NULL] and NoneType in parts:
            return None
        if any(get_origin(part) is dict for part in parts) and len(texts) == 1 and texts[0].lstrip().startswith("{"):
            return self.checked(read_yaml(texts[0], where), where)
        lists = [part for part in parts if get_origin(part) is list]
        kinds = {*parts}.union(*(parts_of(get_args(part)[0]) for part in lists))
        first, *more = values = [_number(text, kinds) for text in texts]
        is_one = not lists or any(type(first) is part or get_origin(part) is Literal for part in parts)
        return self.checked(first if is_one and not more else values, where)

    def or_else(self, other: Flag) -> Flag:
        """Return an option that takes the values of both, with the help and default of this one."""
        return replace(
            self,
            kind=plain_kind(self.kind, other.kind),
            choices={**self.choices, **other.choices} if self.choices else {},
            formats={**self.formats, **other.formats} if self.formats and other.formats else {},
            declared=(*self.declared, *other.declared) if self.declared and other.declared else (),
        )


def _check_range(declared: Sequence[Declared], value: Any, where: str) -> None:
    """Check that one of several declarations of an option accepts a value."""
    errors = []
    for entry in declared:
        try:
            entry.option.checked(value, where, entry.kind)
        except InputError as error:
            errors.append(error)
        else:
            return
    if errors:
        raise errors[0]


def check_new_file(path: Path) -> None:
    """Check that a file can be written, before long work.

    Raises
    ------
    InputError
        If it cannot.

    Examples
    --------
    >>> check_new_file(Path("none/found.json"))
    Traceback (most recent call last):
    kalos_core.errors.InputError: none/found.json: expected a file in an existing folder, got none
    """
    is_folder = os.path.isdir(path)
    if is_folder or not os.path.isdir(path.absolute().parent):
        raise InputError(f"{path}: expected a file in an existing folder, got {'a folder' if is_folder else 'none'}")


def check_new_folder(path: Path) -> None:
    """Check that a folder can be created and written to, before long work.

    Raises
    ------
    InputError
        If it cannot.

    Examples
    --------
    >>> check_new_folder(Path("new/folder"))
    """
    nearest = next(folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder))
    if not os.path.isdir(nearest) or not os.access(nearest, os.W_OK):
        raise InputError(f"{path}: expected a folder to write to, got {nearest}, which is not a writable folder")


def check_path(path: Path, kind: str, where: str) -> None:
    """Check that a path is of a kind as in `Flag`, before long work.

    Raises
    ------
    InputError

    Examples
    --------
    >>> check_path(Path("absent.json"), "file", "--model")
    Traceback (most recent call last):
    kalos_core.errors.InputError: --model: expected a file that can be read, got absent.json: No such file or directory
    """
    as_path(path, where)
    if kind == "new":
        check_new_file(path)
    elif kind == "new folder":
        check_new_folder(path)
    elif not os.access(path, os.R_OK) or os.path.isdir(path) != (kind == "folder"):
        raise InputError(f"{where}: expected a {kind} that can be read, got {path}: {not_a_file(path) or 'a file'}")


def _number(text: str, kinds: Iterable[Any]) -> Any:
    """Parse a text as a number if one of the kinds is a number."""
    for kind in (kind for kind in (int, float) if kind in kinds):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _converted(value: object, kind: Any, where: str) -> Any:
    import msgspec

    mappings = [part for part in parts_of(kind) if get_origin(part) is dict]
    if isinstance(value, Mapping) and mappings:
        inner = get_args(mappings[0])[1]
        return {key: _converted(entry, inner, f"{where}: {key}") for key, entry in value.items()}
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError):  # or a name whose bytes are not UTF-8
        near = difflib.get_close_matches(str(value), [str(word) for word in _words(kind)], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InputError(f"{where}: expected {_expected(kind)}, got {repr_of(value)}{hint}") from None


def _expected(kind: Any) -> str:
    parts = parts_of(kind)
    words = [repr(word) for part in parts if get_origin(part) is Literal for word in get_args(part)]
    found = [*words, *(text for scalar, text in SCALARS.items() if scalar in parts)]
    found += [f"a list, each {_expected(get_args(part)[0])}" for part in parts if get_origin(part) is list]
    found += ["a mapping"] if any(get_origin(part) is dict for part in parts) else []
    return " or ".join([*found, *([NULL] if NoneType in parts else [])])


# ---- options of functions ----


def joined(options: Iterable[Flag]) -> tuple[Flag, ...]:
    """Merge options of the same name."""
    found: dict[str, Flag] = {}
    for option in options:
        found[option.name] = found[option.name].or_else(option) if option.name in found else option
    return tuple(found.values())


def options_of(
    *functions: Callable[..., Any],
    only: Iterable[str] | None = None,
    without: Iterable[str] = (),
    group: str = ANALYSIS,
) -> tuple[Flag, ...]:
    """Return an option for each argument of functions that can be given as text, numbers, lists or mappings of YAML.

    Parameters
    ----------
    *functions : callable
        An argument of several functions takes the values of all; the help is that of the first.
    only, without : iterables of str
        Arguments that become options, and arguments that do not.
    group : str
        Group of all options except those of `OF_DRAWS`.

    Examples
    --------
    >>> from kalos_core import compare
    >>> [(option.flag, option.expected, option.default) for option in options_of(compare)]
    [('--bootstrap', 'a whole number', 1000), ('--seed', 'a whole number', 0)]
    """
    found = [flag for function in functions for flag in _flags(function, group)]
    return joined(
        flag
        for flag in found
        if flag.kind not in (None, NoneType)
        and flag.argument not in without
        and (only is None or flag.argument in only)
    )


def reader_options(readers: Mapping[str, Callable[..., Any]]) -> tuple[Flag, ...]:
    """Return the options of readers, each with the formats that have it.

    Examples
    --------
    >>> from kalos_core.readers import FORMATS
    >>> [list(option.formats) for option in reader_options(FORMATS) if option.flag == "--sixth"]
    [['yolo']]
    """
    found = ((name, option) for name, reader in readers.items() for option in options_of(reader, group=INPUT))
    return joined(replace(option, formats={name: option}) for name, option in found)


def _flags(function: Callable[..., Any], group: str) -> Iterator[Flag]:
    for entry in declared_by(function):
        option, choices = entry.option, entry.option.values
        kind = plain_kind(*_in_place_of_text(entry.kind, Literal[choices])) if choices else plain_kind(entry.kind)
        yield Flag(
            option.flag or entry.name,
            kind,
            option.help,
            entry.default,
            INTERVALS if entry.name in OF_DRAWS else group,
            argument=entry.name,
            choices=option.choices or dict.fromkeys(choices or _words(kind), ""),
            declared=(entry,),
        )


def _words(kind: Any) -> tuple[str, ...]:
    """Return the words of all literals in a type."""
    return tuple(word for part in parts_of(kind) if get_origin(part) is Literal for word in get_args(part))


def _in_place_of_text(kind: Any, words: Any) -> Iterator[Any]:
    yield words
    yield from (part for part in parts_of(kind) if part is not str)


def plain_kind(*hints: Any) -> Any:
    """Return the part of some types that text, numbers, lists and mappings can represent; None if there is none.

    Examples
    --------
    >>> plain_kind(Sequence[float] | float, Callable[[], int] | None)
    float | list[float] | None
    """
    parts = [part for hint in hints for part in parts_of(hint)]
    words = tuple(word for part in parts for word in _words(part))
    lists = [get_args(part)[0] for part in parts if _is(part, Sequence)]
    inside = [plain_kind(get_args(part)[1]) or Any for part in parts if _is(part, Mapping)]
    kinds: list[Any] = [kind for kind in SCALARS if kind in parts]
    if words and str not in parts:
        kinds.append(Literal[tuple(dict.fromkeys(words))])
    if lists and (each := plain_kind(*lists)) not in (None, NoneType):
        kinds.append(list[each])  # type: ignore[valid-type] # known at run time
    if inside:
        kinds.append(dict[Any, reduce(or_, inside)])  # type: ignore[misc] # likewise
    if NoneType in parts or None in parts:
        kinds.append(NoneType)
    return reduce(or_, kinds) if kinds else None


def parts_of(hint: Any) -> tuple[Any, ...]:
    """Return the member types of a union."""
    if get_origin(hint) is Annotated:
        return parts_of(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return tuple(part for each in get_args(hint) for part in parts_of(each))
    return (hint,)


def _is(hint: Any, kind: type) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, kind) and bool(get_args(hint))


# ---- what was given ----


@dataclass(frozen=True)
class Given:
    """Paths and options that a user gave for a command, by name, without defaults.

    Parameters
    ----------
    values : mapping of str to object
        Values of options.
    paths : mapping of str to Path
        Inputs.
    progress : callable, optional
        ``progress(share, label)`` for a function that takes one; None to show no progress.
    read : dict
        Input -> what its reader left out, did not use or assumed; filled as inputs are read.
    options : sequence of Flag
        All options of the command.

    Examples
    --------
    >>> from kalos_core import agreement, calibrate
    >>> given = Given({"threshold": 0.7, "on_invalid": "skip", "compare_in": "pixels"})
    >>> given.of(agreement), given.of(calibrate), given.get("seed", 0)
    ({'threshold': 0.7}, {'coordinates': 'pixels'}, 0)
    """

    values: Mapping[str, Any]
    paths: Mapping[str, Path] = field(default_factory=dict)
    progress: Callable[[float, str], None] | None = None
    read: dict[str, Any] = field(default_factory=dict)
    options: Sequence[Flag] = ()

    def of(self, *functions: Callable[..., Any], without: Iterable[str] = ()) -> dict[str, Any]:
        """Return the given options that are arguments of any of some functions, by argument name."""
        found = {}
        for function in functions:
            names = {entry.name: entry.option.flag or entry.name for entry in declared_by(function)}
            for argument in arguments_of(function):
                name = names.get(argument, argument)
                if name in self.values and argument not in without:
                    found[argument] = self.values[name]
        return found

    def check_format(self, format: str, path: Path) -> None:
        """Check that the reader of a format has the given options and accepts their values.

        Raises
        ------
        InputError
        """
        for option in self.options:
            if option.name not in self.values or not option.formats:
                continue
            if format in option.formats:
                option.formats[format].checked(self.values[option.name], f"{option.flag} of format {format}")
            else:
                raise InputError(
                    f"{option.flag}: expected input in a format that has it ({listed(option.formats, 20)}), got {path} "
                    f"in format {format}; use --format to select another"
                )

    def __getitem__(self, name: str) -> Any:
        return self.paths[name] if name in self.paths else self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an option, or the default."""
        return self.values.get(name, default)


def read_config(path: Path, options: Sequence[Flag]) -> dict[str, Any]:
    """Read options from a YAML file: a mapping of option names to values.

    Raises
    ------
    InputError
        If the file cannot be read, a name is not that of an option, or a value is of the wrong type.

    Examples
    --------
    >>> _ = Path("options.yaml").write_text("threshold: 0.7")
    >>> read_config(Path("options.yaml"), [Flag("threshold", float)])
    {'threshold': 0.7}
    >>> read_config(Path("options.yaml"), [Flag("seed", int)])
    Traceback (most recent call last):
    kalos_core.errors.InputError: options.yaml: threshold: expected one of seed
    """
    content = read_yaml(read_text(path, "YAML file"), str(path))
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a mapping of options to values, got {type(content).__name__}")
    known = {option.name: option for option in options}
    strange = [name for name in content if name not in known]
    if strange:
        raise InputError(f"{path}: {listed(strange)}: expected one of {listed(sorted(known), 60)}")
    return {name: known[name].checked(value, f"{path}: {name}") for name, value in content.items()}


def read_yaml(text: str, where: str) -> Any:
    """Parse YAML text; a duplicate key is an error.

    Raises
    ------
    InputError
        If it is not YAML, or a key occurs twice.

    Examples
    --------
    >>> read_yaml("{car: auto}", "aliases"), read_yaml("", "options.yaml")
    ({'car': 'auto'}, None)
    >>> read_yaml("{a: 1, a: 2}", "aliases")
    Traceback (most recent call last):
    kalos_core.errors.InputError: aliases: expected each key once, got 'a' twice in line 1
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [self.construct_object(key, deep=True) for key, _ in node.value]
            for at, key in enumerate(keys):
                if key in keys[:at]:
                    line = node.value[at][0].start_mark.line + 1
                    raise InputError(f"{where}: expected each key once, got {repr_of(key)} twice in line {line}")
            return super().construct_mapping(node, deep)

    return parse_yaml(text, where, Loader)
