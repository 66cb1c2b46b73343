"""Options, each declared once as a field of the settings of its analysis.

A field declares its type, its range or choices, its label and one sentence of help. This module derives everything
else from it: checks of arguments, signatures, command-line flags, form fields, records of runs, the methods section
of reports, and rows of the reference.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, fields
from functools import cache, wraps
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    Literal,
    ParamSpec,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from kalos_core.arguments import check_type
from kalos_core.errors import InputError, as_number, check_iterable, check_number, check_whole, listed, lookup
from kalos_core.limits import check_replicates

P = ParamSpec("P")
First = TypeVar("First")
Second = TypeVar("Second")
Third = TypeVar("Third")
Chosen = TypeVar("Chosen", bound="Settings")
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Option:
    """Declaration of a field of settings, in addition to its type and default.

    Parameters
    ----------
    label : str
        Label in forms.
    help : str
        One or two sentences for users, with the unit.
    low, high : float, optional
        Range, both ends included; for a sequence of numbers, the range of each.
    above, below : float, optional
        Ends of the range that are not included.
    required : bool
        Whether a sequence must have at least one entry.
    ordered : bool
        Whether to sort the entries of a sequence and drop duplicates.
    choices : mapping of str to str, optional
        Value -> meaning. Values are looked up in `known` instead, if given.
    known : mapping of str, optional
        Table of allowed values that can be extended, such as `SOLVERS`; otherwise only the choices are allowed.
    type : str, optional
        Type in words, if its name in Python says too little.
    check : callable, optional
        ``check(value, name)`` -> checked value; replaces the check of type and range.
    flag : str
        Name on the command line, if a command has another option with the argument's name.

    Examples
    --------
    >>> share = Option("Share", "Of the images.", low=0, high=1)
    >>> share.checked(1, "share", float)
    1.0
    >>> share.checked(2, "share", float)
    Traceback (most recent call last):
    kalos_core.errors.InputError: share: expected a number from 0 to 1, got 2
    """

    label: str
    help: str
    low: float | None = None
    high: float | None = None
    above: float | None = None
    below: float | None = None
    required: bool = False
    ordered: bool = False
    choices: Mapping[Any, str] | None = None
    known: Mapping[Any, Any] | None = None
    type: str = ""
    check: Callable[[Any, str], Any] | None = None
    flag: str = ""

    @property
    def about(self) -> str:
        """Help, with the meaning of each choice."""
        return " ".join([self.help, *(f"{value}: {meaning}." for value, meaning in (self.choices or {}).items())])

    @property
    def values(self) -> tuple[str, ...]:
        """All values to choose from; empty if it is not a choice."""
        return tuple(self.choices or self.known or ())

    def checked(self, value: Any, name: str, kind: Any) -> Any:
        """Check a value and return it in its final form.

        Raises
        ------
        InputError
            If it has another type, is out of range, or is not one of the choices.
        """
        if self.check is not None:
            return self.check(value, name)
        parts = set(get_args(kind)) if get_origin(kind) in (Union, UnionType) else {kind}
        if value is None and NoneType in parts:
            return None
        if self.values:
            lookup(self.known or self.choices or {}, value, name)
            return value
        if parts <= {int, NoneType}:
            return self._whole(value, name)
        if parts <= {float, NoneType}:
            return self._number(value, name)
        if Sequence[int] in parts or Sequence[float] in parts:
            one, words = (self._whole, "whole numbers") if Sequence[int] in parts else (self._number, "numbers")
            if float in parts and as_number(value) is not None:
                return self._number(value, name)
            found = [one(entry, name) for entry in check_iterable(value, name, f"several {words}")]
            if self.required and not found:
                raise InputError(f"{name}: expected at least one, got none")
            return tuple(sorted(set(found)) if self.ordered else found)
        check_type(name, kind, value)
        return value

    def _whole(self, value: Any, name: str) -> int:
        return check_whole(value, name, int(self.low or 0), None if self.high is None else int(self.high))

    def _number(self, value: Any, name: str) -> float:
        return check_number(value, name, self.low, self.high, self.above, self.below)


Replicates = Annotated[
    int,
    Option(
        "Bootstrap replicates",
        "Bootstrap replicates for intervals (images are drawn with replacement); 0 for none.",
        low=0,
        check=lambda value, name: check_replicates(value, name=name),
    ),
]
Seed = Annotated[int, Option("Seed", "Seed of all random draws: the same seed gives the same numbers.", low=0)]


@dataclass(frozen=True)
class Declared:
    """Field of settings: its name, type, default and declaration."""

    name: str
    kind: Any
    default: Any
    option: Option

    def told(self, settings: Settings) -> str:
        """Return the value in some settings, with its meaning, as a sentence."""
        value = getattr(settings, self.name)
        text = f"{value:g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
        return f"{self.name} = {text}: {(self.option.choices or {}).get(text, self.option.help)}".rstrip(".") + "."


@dataclass(frozen=True)
class Settings:
    """Base class of settings of an analysis: frozen dataclasses whose fields are ``Annotated[type, Option]``.

    Fields without an `Option` can be passed in Python only, for example results computed earlier.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Drawing(Settings):
    ...     bootstrap: Replicates = 1000
    ...     seed: Seed = 0
    >>> Drawing.of({"seed": 3}).record()
    {'bootstrap': 1000, 'seed': 3}
    >>> Drawing.of({"sed": 3})
    Traceback (most recent call last):
    kalos_core.errors.InputError: unknown argument sed (did you mean seed?): expected one of bootstrap, seed
    """

    def __post_init__(self) -> None:
        own: Any = type(self)
        hints = _hints(own)
        for entry in fields(self):
            value = _value(entry.name, _apart(hints[entry.name]), getattr(self, entry.name))
            object.__setattr__(self, entry.name, value)

    @classmethod
    def of(cls: type[Chosen], given: Mapping[str, Any]) -> Chosen:
        """Create settings from arguments by name.

        Raises
        ------
        InputError
            If a name is unknown (the message suggests the nearest one), or a value cannot be used.
        """
        refuse_unknown(given, [entry.name for entry in fields(cls)])
        return cls(**given)

    @classmethod
    def declared(cls) -> tuple[Declared, ...]:
        """Return the options, in their order."""
        own: Any = cls
        found: tuple[Declared, ...] = _declared(own)
        return found

    def part(self, kind: type[Chosen], **other: Any) -> Chosen:
        """Create settings of another class from the fields it shares, overridden by `other` values."""
        names = [entry.name for entry in fields(kind) if entry.name not in other]
        return kind(**{name: getattr(self, name) for name in names}, **other)

    def record(self) -> dict[str, Any]:
        """Return name -> value of each option, as stored with a run; `of` reads it back."""
        return {entry.name: getattr(self, entry.name) for entry in self.declared()}


def refuse_unknown(given: Mapping[str, Any], known: list[str]) -> None:
    """Raise an error that names the first unknown argument and suggests the nearest known one."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f"unknown argument {name}{hint}: expected one of {listed(known, 40)}")


@cache
def _hints(settings: Any) -> dict[str, Any]:
    """Return the type of each field; `KW_ONLY` is left out because Python 3.10 cannot evaluate it."""
    hints: dict[str, Any] = {}
    for base in reversed(settings.__mro__):
        own = {name: hint for name, hint in vars(base).get("__annotations__", {}).items() if name != "_"}
        fields_of_base = type(base.__name__, (), {"__annotations__": own, "__module__": base.__module__})
        hints |= get_type_hints(fields_of_base, include_extras=True)
    return hints


def _apart(hint: Any) -> tuple[Any, Option | None]:
    """Split a type annotation into the type and its option, if any."""
    if get_origin(hint) is not Annotated:
        return hint, None
    kind, *said = get_args(hint)
    return kind, next((entry for entry in said if isinstance(entry, Option)), None)


@cache
def _declared(settings: Any) -> tuple[Declared, ...]:
    def default(entry: Field[Any]) -> Any:
        return entry.default_factory() if entry.default_factory is not MISSING else entry.default

    hints = {entry.name: (entry, *_apart(_hints(settings)[entry.name])) for entry in fields(settings)}
    return tuple(
        Declared(name, kind, default(entry), option)
        for name, (entry, kind, option) in hints.items()
        if option is not None
    )


@dataclass(frozen=True)
class BootstrapSettings(Settings):
    """Settings of intervals, for analyses with no other options."""

    bootstrap: Replicates = 1000
    seed: Seed = 0


# ---- functions that take them ----


def checked(function: Callable[P, Answer]) -> Callable[P, Answer]:
    """Check the arguments of a function against its annotations before each call.

    An `Option` in the annotation checks its parameter. Types of numbers, texts and arrays are not checked here; the
    function checks their range and shape.

    Examples
    --------
    >>> @checked
    ... def heights(sizes: Mapping[str, float], sorted: bool = False) -> list[float]:
    ...     return list(sizes.values())
    >>> heights({"ann": 3})
    [3]
    >>> heights([3])
    Traceback (most recent call last):
    kalos_core.errors.InputError: sizes: expected a mapping, got [3]
    >>> heights({}, sorted="no")
    Traceback (most recent call last):
    kalos_core.errors.InputError: sorted: expected True or False, got 'no'
    """
    of_checked: Callable[..., Answer] = function

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> Answer:
        rules = _rules(function)
        placed = [_value(name, rules[name], value) for name, value in zip(rules, arguments, strict=False)]
        given = {name: _value(name, rules[name], value) if name in rules else value for name, value in named.items()}
        return of_checked(*placed, *arguments[len(placed) :], **given)

    return call


Rule = tuple[Any, "Option | None"]
"""Type of a parameter or field, and its option."""


def _value(name: str, rule: Rule, value: Any) -> Any:
    """Check an argument and return it in its final form."""
    kind, option = rule
    if option is not None:
        return option.checked(value, name, kind)
    check_type(name, kind, value)
    return value


@cache
def _rules(function: Callable[..., Any]) -> dict[str, Rule]:
    """Return parameter -> rule of a function; types from libraries that are imported late are not checked."""
    names = getattr(inspect.unwrap(function), "__globals__", {})
    found: dict[str, Rule] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            break
        hint = object if parameter.annotation is parameter.empty else parameter.annotation
        with suppress(NameError, TypeError):
            hint = eval(hint, dict(names)) if isinstance(hint, str) else hint  # annotations are ours, so `eval` is safe
        found[parameter.name] = _apart(str if hint == "str" else hint)
    return found


class takes(Generic[P, Chosen]):
    """Decorator: a function whose last parameter is `settings` takes their fields as its own arguments.

    The settings define the signature, the checks of arguments, and the parameters in the docstring.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Drawing(Settings):
    ...     seed: Seed = 0
    >>> @takes(Drawing)
    ... def drawn(images: int, settings: Drawing) -> tuple[int, int]:
    ...     return images, settings.seed
    >>> drawn(5, seed=3), drawn(5, 2), list(inspect.signature(drawn).parameters)
    ((5, 3), (5, 2), ['images', 'seed'])
    """

    def __init__(self, settings: Callable[P, Chosen]) -> None:
        self._settings = settings

    @overload
    def __call__(self, function: Callable[[First, Chosen], Answer]) -> Callable[Concatenate[First, P], Answer]: ...

    @overload
    def __call__(
        self, function: Callable[[First, Second, Chosen], Answer]
    ) -> Callable[Concatenate[First, Second, P], Answer]: ...

    @overload
    def __call__(
        self, function: Callable[[First, Second, Third, Chosen], Answer]
    ) -> Callable[Concatenate[First, Second, Third, P], Answer]: ...

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with the fields as arguments."""
        settings: Any = self._settings
        whole = inspect.signature(function)
        first = list(whole.parameters.values())[:-1]
        own = list(inspect.signature(settings).parameters.values())
        hints = _hints(settings)
        own = [entry.replace(annotation=_apart(hints[entry.name])[0]) for entry in own]
        signature = whole.replace(parameters=[*first, *own])
        names = [entry.name for entry in (*first, *own)]

        @wraps(function)
        def call(*arguments: Any, **named: Any) -> Any:
            refuse_unknown(named, names)
            bound = signature.bind(*arguments, **named).arguments
            rules = _rules(function)
            leading = {
                entry.name: _value(entry.name, rules[entry.name], bound.pop(entry.name))
                for entry in first
                if entry.name in bound
            }
            return function(**leading, settings=settings(**bound))

        call.__signature__ = signature  # type: ignore[attr-defined]
        call.settings = settings  # type: ignore[attr-defined]
        call.__doc__ = with_parameters(function.__doc__ or "", settings)
        return call


def arguments_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return name -> default of each argument of a function; `inspect.Parameter.empty` if it has none.

    Examples
    --------
    >>> list(arguments_of(takes.__call__))
    ['self', 'function']
    """
    return {name: entry.default for name, entry in inspect.signature(function).parameters.items()}


def types_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return name -> type of each argument of a function that is passed by name or position.

    Examples
    --------
    >>> @takes(BootstrapSettings)
    ... def drawn(images: int, settings: BootstrapSettings) -> None: ...
    >>> types_of(drawn)
    {'images': <class 'int'>, 'bootstrap': <class 'int'>, 'seed': <class 'int'>}
    """
    return {name: kind for name, (kind, _) in _rules(function).items()}


def declared_by(function: Callable[..., Any]) -> tuple[Declared, ...]:
    """Return the options of a function, in their order; empty if it does not take settings."""
    settings: type[Settings] | None = getattr(function, "settings", None)
    return () if settings is None else settings.declared()


def with_parameters(docstring: str, settings: type[Settings]) -> str:
    """Return a docstring with the parameters of settings added at the end of its list of parameters."""
    text = inspect.cleandoc(docstring)
    rows = "\n".join(line for entry in settings.declared() for line in _rows(entry))
    section = re.search(r"^Parameters\n-+\n.*?(?=\n\n\S[^\n]*\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL)
    if section is not None:
        return f"{text[: section.end()]}\n{rows}{text[section.end() :]}"
    about, _, more = text.partition("\n\n")
    return f"{about}\n\nParameters\n----------\n{rows}\n\n{more}"


def _rows(entry: Declared) -> Iterator[str]:
    yield f"{entry.name} : {said(entry)}"
    yield f"    {entry.option.help}"
    for value, meaning in (entry.option.choices or {}).items():
        yield f"    ``{value!r}``: {meaning}."


def said(entry: Declared) -> str:
    """Return the type and range of an option, in words.

    Examples
    --------
    >>> said(Declared("threshold", float, 0.5, Option("Threshold", "", low=0, high=1)))
    'float in [0, 1]'
    """
    option, kinds = entry.option, get_args(entry.kind) if get_origin(entry.kind) is not Literal else ()
    if get_origin(entry.kind) is Literal:
        return " or ".join(map(repr, get_args(entry.kind)))
    optional = ", optional" if NoneType in kinds else ""
    if option.choices is not None:
        return ", ".join(map(repr, option.choices)) + optional
    if option.type:
        return option.type
    named = [kind for kind in kinds or (entry.kind,) if kind is not NoneType]
    name = getattr(named[0], "__name__", "") if len(named) == 1 else str(entry.kind).replace("typing.", "")
    return f"{name or named[0]}{_bounds(option)}{optional}"


def _bounds(option: Option) -> str:
    low = option.low if option.above is None else option.above
    high = option.high if option.below is None else option.below
    if low is None:
        return ""
    if high is None:
        return f" of at least {low:g}" if option.above is None else f" above {low:g}"
    return f" in {'[' if option.above is None else '('}{low:g}, {high:g}{']' if option.below is None else ')'}"


def no_progress(share: float, label: str) -> None:
    """No-op progress callback."""
