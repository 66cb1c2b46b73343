"""Options of a command, made from the arguments of the library functions it calls, and what was given for them."""

from __future__ import annotations

import argparse
import ast
import builtins
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin

from kalos_core.errors import InputError, listed, repr_of
from kalos_core.files import read_text
from kalos_core.options import settings_of

SCALARS = {int: "a whole number", float: "a number", str: "text", bool: "true or false"}
"""Types that an option can have, in the order in which text is read as one of them, and what an error calls them."""

KINDS = ("single", "several", "mapping", "nothing")
"""Kinds of values an option can have."""

NULL = "null"
"""On the command line, no value at all, as in YAML."""


@dataclass(frozen=True)
class Option:
    """An argument of a library function that can be given on the command line or in a configuration file.

    Parameters
    ----------
    name : str
        That of the argument, such as ``on_invalid``; on the command line ``--on-invalid``.
    types : tuple of type
        Of a value, or of each of several: some of `SCALARS`.
    single, several, mapping, nothing : bool
        Whether it can be one value, a list of them, a mapping, or None.
    words : tuple of str
        The texts that are accepted; empty if any is.
    help : str
    default : object
        For the help only: what is not given is left to the function.
    of_mapping : Option, optional
        What the values of a mapping can be; anything unless given.

    Examples
    --------
    >>> Option("threshold", (float,)).checked(1, "options.yaml: threshold"), Option("seed", (int,)).read(["3"], "seed")
    (1.0, 3)
    >>> Option("seed", (int,)).checked("3", "options.yaml: seed")
    Traceback (most recent call last):
    kalos_core.errors.InputError: options.yaml: seed: expected a whole number, got '3'
    """

    name: str
    types: tuple[type, ...]
    single: bool = True
    several: bool = False
    mapping: bool = False
    nothing: bool = False
    words: tuple[str, ...] = ()
    help: str = ""
    default: object = None
    of_mapping: Option | None = None

    @property
    def flag(self) -> str:
        """As it is written on the command line."""
        return "--" + self.name.replace("_", "-")

    @property
    def is_switch(self) -> bool:
        """Whether it is given on the command line without a value."""
        return self.types == (bool,) and not self.several

    @property
    def expected(self) -> str:
        """What an error says of its values."""
        one = " or ".join([repr(word) for word in self.words] or [SCALARS[kind] for kind in self.types])
        kinds = [one] if self.single and one else []
        kinds += [f"a list, each {one}"] if self.several else []
        kinds += ["a mapping"] if self.mapping else []
        return " or ".join([*kinds, *([NULL] if self.nothing else [])])

    def checked(self, value: object, where: str) -> Any:
        """A value of a configuration file; whole numbers serve as numbers.

        Raises
        ------
        InputError
            If it is of another type.
        """
        if value is None and self.nothing:
            return None
        if isinstance(value, Mapping) and self.mapping:
            inner = self.of_mapping
            return {key: inner.checked(of, f"{where}: {key}") if inner else of for key, of in value.items()}
        if isinstance(value, list) and self.several and all(self._is_one(entry) for entry in value):
            return [self._as_one(entry) for entry in value]
        if self.single and self._is_one(value):
            return self._as_one(value)
        raise InputError(f"{where}: expected {self.expected}, got {repr_of(value)}")

    def _is_one(self, value: object) -> bool:
        if isinstance(value, str) and self.words:
            return value in self.words
        whole = type(value) is int and float in self.types
        return whole or type(value) in self.types

    def _as_one(self, value: Any) -> Any:
        return float(value) if type(value) is int and int not in self.types else value

    def read(self, texts: Sequence[str], where: str) -> Any:
        """The value that words of the command line stand for.

        Raises
        ------
        InputError
            If they stand for none.
        """
        if list(texts) == [NULL] and self.nothing:
            return None
        if self.mapping and len(texts) == 1 and texts[0].lstrip().startswith("{"):
            return self.checked(read_yaml(texts[0], where), where)
        values = [self._from_text(text) for text in texts]
        return self.checked(values[0] if len(values) == 1 and self.single else values, where)

    def _from_text(self, text: str) -> Any:
        for kind in (kind for kind in (int, float) if kind in self.types):
            try:
                return kind(text)
            except ValueError:
                continue
        return text

    def or_else(self, other: Option) -> Option:
        """One that takes the values of both; the help and the default are its own."""
        of_both = {name: getattr(self, name) or getattr(other, name) for name in KINDS}
        types = tuple(kind for kind in SCALARS if kind in {*self.types, *other.types})
        has_words = all(option.words or str not in option.types for option in (self, other))
        words = tuple(dict.fromkeys([*self.words, *other.words])) if has_words else ()
        inner = self.of_mapping if not other.mapping or other.of_mapping == self.of_mapping else None
        return replace(
            self, types=types, words=words, of_mapping=inner if self.mapping else other.of_mapping, **of_both
        )

    def add_to(self, parser: argparse._ArgumentGroup) -> None:
        """Make it known to a parser."""
        default = "" if self.default in (None, "", (), False) else f" (default: {_shown(self.default)})"
        text = f"{self.help}{default}".replace("%", "%%")
        if self.is_switch:
            parser.add_argument(self.flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
        else:
            count = "+" if self.several else 1
            name = self.name.upper()
            parser.add_argument(self.flag, nargs=count, default=argparse.SUPPRESS, metavar=name, help=text)


def _shown(default: object) -> str:
    return (
        " ".join(x if isinstance(x, str) else f"{x:g}" for x in default) if isinstance(default, tuple) else str(default)
    )


def joined(options: Iterable[Option]) -> tuple[Option, ...]:
    """Each name once."""
    found: dict[str, Option] = {}
    for option in options:
        found[option.name] = found[option.name].or_else(option) if option.name in found else option
    return tuple(found.values())


def options_of(
    *functions: Callable[..., Any], only: Iterable[str] | None = None, without: Iterable[str] = ()
) -> tuple[Option, ...]:
    """An option for each argument of functions that text, YAML's numbers, lists and mappings can give.

    Parameters
    ----------
    *functions : callable
        Annotated and documented as this library's are. An argument that two have takes the values of
        both; the help is that of the first.
    only, without : iterables of str
        The arguments that become options, and those that do not.

    Examples
    --------
    >>> def count(items: str, least: int = 2, names: list[str] | None = None) -> int:
    ...     '''Count.
    ...
    ...     Parameters
    ...     ----------
    ...     least : int
    ...         Of each item.
    ...     '''
    ...     return least
    >>> [(option.flag, option.expected, option.help) for option in options_of(count)]
    [('--least', 'a whole number', 'Of each item.'), ('--names', 'a list, each text or null', '')]
    """
    found = []
    for function in functions:
        names = vars(sys.modules[function.__module__])
        for name, hint, default, text, words in _arguments(function):
            if name not in without and (only is None or name in only):
                found.append(_option(name, hint, names, text, default, words))
    return joined(option for option in found if option.types or option.mapping)


def _arguments(function: Callable[..., Any]) -> Iterator[tuple[str, Any, Any, str, tuple[str, ...]]]:
    """Name, type, default, help and choices of each argument with a default: as declared, or as documented."""
    settings = settings_of(function)
    if settings is not None:
        for entry in settings.declared():
            yield entry.name, entry.kind, entry.default, entry.option.about, entry.option.values
        return
    texts = _documented(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty:
            yield name, parameter.annotation, parameter.default, texts.get(name, ""), ()


def _option(
    name: str,
    hint: Any,
    names: Mapping[str, Any],
    text: str = "",
    default: object = None,
    choices: tuple[str, ...] = (),
) -> Option:
    parts = list(_parts(hint, names))
    of_mapping = [_option(name, get_args(part)[1], names) for part in parts if _is(part, Mapping)]
    lists = [kind for part in parts if _is(part, Sequence) for kind in _parts(get_args(part)[0], names)]
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    types = {*parts, *lists, *([str] if words else [])}
    single = any(kind in parts for kind in SCALARS)
    return Option(
        name=name,
        types=tuple(kind for kind in SCALARS if kind in types),
        single=single or bool(words),
        several=any(kind in lists for kind in SCALARS),
        mapping=any(_is(part, Mapping) for part in parts),
        nothing=None in parts or NoneType in parts,
        words=choices or (() if str in parts or str in lists else words),
        help=text,
        default=default,
        of_mapping=of_mapping[0] if of_mapping and (of_mapping[0].types or of_mapping[0].mapping) else None,
    )


def _parts(hint: Any, names: Mapping[str, Any]) -> Iterator[Any]:
    """The types that an annotation names, apart by `|`; of one that only a type checker knows, nothing."""
    if isinstance(hint, ForwardRef):
        hint = hint.__forward_arg__
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _parts(part, names)
    elif isinstance(hint, str):
        yield from _named(ast.parse(hint, mode="eval").body, names)
    else:
        yield hint


def _named(node: ast.expr, names: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(node, ast.BinOp):
        yield from _named(node.left, names)
        yield from _named(node.right, names)
    elif isinstance(node, ast.Constant):
        yield from _parts(node.value, names)
    elif isinstance(node, ast.Name):
        yield from _parts(names.get(node.id, vars(builtins).get(node.id, object)), names)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inside = ast.unparse(node.slice)
        if node.value.id in ("Sequence", "list"):
            yield Sequence[inside]  # type: ignore[valid-type] # its type as text, which `_parts` reads
        elif node.value.id == "Mapping" and isinstance(node.slice, ast.Tuple):
            yield Mapping[str, ast.unparse(node.slice.elts[1])]  # type: ignore[misc] # likewise
        elif node.value.id == "Literal":
            yield Literal[ast.literal_eval(inside)]


def _is(hint: Any, kind: type) -> bool:
    origin = get_origin(hint)
    return inspect.isclass(origin) and issubclass(origin, kind) and bool(get_args(hint))


def _documented(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each argument, as one line: its type if nothing else."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL)
    found, names = dict[str, list[str]](), list[str]()
    for line in section[1].splitlines() if section else ():
        if line and not line.startswith(" "):
            head, _, kind = line.partition(" : ")
            names = [name.strip(" *") for name in head.split(",")]
            found |= {name: [kind] for name in names}
        elif line.strip():
            for name in names:
                found[name].append(line.strip())
    return {name: re.sub(r"`+", "", " ".join(lines[1:] or lines)) for name, lines in found.items()}


# ---- what was given ----


@dataclass(frozen=True)
class Given:
    """What a user gave for a command: paths and options by name. What was not given is not there.

    Parameters
    ----------
    values : mapping of str to object
        The options.
    paths : mapping of str to Path
        The inputs.
    progress : callable, optional
        ``progress(share, label)`` for a function that takes one; None where nobody wants to see it.
    read : dict
        Input -> what its reader left out, did not use or assumed; filled as inputs are read.

    Examples
    --------
    >>> from kalos_core import agreement
    >>> given = Given({"threshold": 0.7, "on_invalid": "skip"})
    >>> given.of(agreement), given.get("seed", 0)
    ({'threshold': 0.7}, 0)
    """

    values: Mapping[str, Any]
    paths: Mapping[str, Path] = field(default_factory=dict)
    progress: Callable[[float, str], None] | None = None
    read: dict[str, Any] = field(default_factory=dict)

    def of(self, *functions: Callable[..., Any], without: Iterable[str] = ()) -> dict[str, Any]:
        """The options that are arguments of one of some functions."""
        known = {name for function in functions for name in inspect.signature(function).parameters}
        return {name: value for name, value in self.values.items() if name in known - set(without)}

    def __getitem__(self, name: str) -> Any:
        return self.paths[name] if name in self.paths else self.values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """An option, or the default."""
        return self.values.get(name, default)


def read_config(path: Path, options: Sequence[Option]) -> dict[str, Any]:
    """The options in a YAML file: a mapping of the names of arguments to their values.

    Raises
    ------
    InputError
        If the file cannot be read, for a name that is not that of an option, or a value of another type.

    Examples
    --------
    >>> _ = Path("options.yaml").write_text("threshold: 0.7")
    >>> read_config(Path("options.yaml"), [Option("threshold", (float,))])
    {'threshold': 0.7}
    >>> read_config(Path("options.yaml"), [Option("seed", (int,))])
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
    """The content of YAML text; a key that stands twice is an error.

    Raises
    ------
    InputError
        If it is not YAML.

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

    try:
        return yaml.load(text, Loader)  # a safe loader
    except (yaml.YAMLError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: expected YAML, got {' '.join(str(error).split())}") from error
