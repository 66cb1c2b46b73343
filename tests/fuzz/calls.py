"""Every public function, class and method, from the exports of every package."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from typing import Any

import pandas as pd
from hypothesis import strategies as st
from typing_extensions import Self

import kalos_core
from kalos_core.arguments import MADE_BY_MANY
from tests.fuzz import values as v

NOT_FOUND_HERE = ("kalos_core.cli", "kalos_core.fiftyone")
"""Packages that `tests.fuzz.bridge` calls: flags are text, and the bridge needs a database."""

NOT_CALLED = {
    "InputError": "an error",
    "KalosError": "an error",
    "KalosWarning": "a warning",
}
"""Public names that are not called here, with the reason."""

CHEAP: dict[str, dict[str, Any]] = {
    "noise.experiments.run_experiments": {"counts": (2,), "repeats": 1, "magnitudes": (1.0,)},
    "removal_experiment": {"rounds": 3, "steps": 3},
    "label_convergence": {"samples": 5},
    "check_independence": {"permutations": 20},
    "NoiseModel.tests": {"permutations": 5},
    "NoiseModel.rate_tests": {"permutations": 5},
    "NoiseModel.fidelity": {"draws": 1},
}
"""Arguments that replace slow defaults."""

BLOCKS = ("annotations.", "calibration.", "chance.", "correspondence.", "shapes.", "similarity.", "noise.sources.")
BLOCKS += ("report.graded_table",)
"""Packages of internal array functions, which get arrays from the library."""

DOORS = (
    *("Annotations", "LabelTable", "LabelStack", "MaskStack", "NoiseModel", "ConceptTruths", "DetectorAccumulator"),
    *("pixels.PixelAccumulator", "sparse.RunningAgreement", "ranking.SystemScores", "Agreement"),
)
"""Classes whose methods users call with their own values."""

FROM_ARRAYS = (
    *(TypeError, ValueError, LookupError, AttributeError, OverflowError, MemoryError),
    pd.errors.InvalidIndexError,
)
"""Errors of Python, NumPy and pandas for arrays that do not fit, or sizes that no memory holds."""


def trusts(name: str) -> bool:
    """Return whether a call gets its arguments from the library, so that NumPy's errors are sufficient."""
    owner, _, method = name.rpartition(".")
    is_method = bool(owner) and owner.rpartition(".")[2][:1].isupper()
    is_class = method[:1].isupper()
    return name.startswith(BLOCKS) or ((is_method or is_class) and (owner if is_method else name) not in DOORS)


RENAMED = {
    ("pixels.class_pixel_agreement", "stacks"): "label_stacks",
    ("region_agreement", "stacks"): "label_stacks",
    ("consensus.staple_classes", "labels"): "label_maps",
    ("noise.experiments.run_experiments", "counts"): "counts_of_raters",
}
"""Parameters of another kind than the same name elsewhere."""


def packages() -> Iterator[Any]:
    """Yield every package that defines exports, the library itself first."""
    yield kalos_core
    for found in pkgutil.walk_packages(kalos_core.__path__, "kalos_core."):
        if found.ispkg and not found.name.startswith(NOT_FOUND_HERE):
            module = importlib.import_module(found.name)
            if hasattr(module, "__all__"):
                yield module


@cache
def public() -> dict[str, Any]:
    """Return name (with its package outside of the top level) -> function or class, each once."""
    found: dict[int, tuple[str, Any]] = {}
    for module in packages():
        place = module.__name__.partition(".")[2]
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) or _is_called(thing):
                found.setdefault(id(thing), (f"{place}.{name}".lstrip("."), thing))
    return dict(found.values())


def _is_called(thing: Any) -> bool:
    return inspect.isclass(thing) and not getattr(thing, "_is_protocol", False) and not hasattr(thing, "__members__")


@cache
def hints(function: Any) -> dict[str, Any]:
    """Return the types of a function's parameters and result, as far as they can be evaluated here."""
    if inspect.isclass(function):
        return hints_of_fields(function)
    bare = inspect.unwrap(function)
    found = {}
    written = dict(getattr(bare, "__annotations__", {}))
    if bare is not function or hasattr(function, "__signature__"):
        entries = inspect.signature(function).parameters.values()
        written = {entry.name: entry.annotation for entry in entries} | {"return": written.get("return")}
    for name, hint in written.items():
        try:
            found[name] = eval(hint, dict(bare.__globals__)) if isinstance(hint, str) else hint  # annotations are ours
        except (NameError, TypeError, AttributeError):  # imported for types only
            found[name] = None
    return found


@cache
def made(kind: type) -> Any:
    """Return one instance of a public class: from `values`, or from the results of functions with valid arguments."""
    failed = []
    for make in [v.INSTANCES[kind]] if kind in v.INSTANCES else _makers(kind):
        try:
            found = _inside(make(), kind)
        except Exception as error:  # unexpected errors are found where the call is tested
            failed.append(str(error))
            continue
        if found is not None:
            return found
    raise LookupError(f"values.INSTANCES: expected a {kind.__name__}, got none: {'; '.join(failed[:3])}")


def _makers(kind: type) -> Iterator[Callable[[], Any]]:
    """Yield public functions, then the class's own class methods, then fields, properties and methods of others."""
    classes = [thing for thing in public().values() if inspect.isclass(thing)]
    for name, thing in public().items():
        if inspect.isfunction(thing) and kind in _kinds(hints(thing).get("return")):
            yield partial(answer, name, thing)
    for method, held in vars(kind).items():
        if isinstance(held, classmethod) and hints(held.__func__).get("return") in (kind, Self):
            yield partial(answer, f"{kind.__name__}.{method}", getattr(kind, method))
    for owner in classes:
        if owner is kind or owner in UNDERWAY:
            continue
        for name, held in _methods(owner):
            of = getattr(held, "fget", None) or getattr(held, "func", None)  # of plain and cached properties
            if of is not None and kind in _kinds(hints(of).get("return")):
                yield partial(_attribute, owner, name)
            elif inspect.isfunction(held) and name[0] != "_" and kind in _kinds(hints(held).get("return")):
                yield partial(answer, f"{owner.__name__}.{name}", _of_instance(owner, name, held))
        for name, hint in hints_of_fields(owner).items():
            if kind in _kinds(hint):
                yield partial(_attribute, owner, name)


UNDERWAY: set[type] = set()
"""Classes for which an instance is being searched; prevents recursion."""


def _attribute(owner: type, name: str) -> Any:
    return getattr(_apart(owner), name)


def _apart(kind: type) -> Any:
    if kind in UNDERWAY:
        raise LookupError(f"{kind.__name__} needs itself")
    UNDERWAY.add(kind)
    try:
        return made(kind)
    finally:
        UNDERWAY.discard(kind)


def hints_of_fields(kind: type) -> dict[str, Any]:
    """Return the types of a dataclass's fields."""
    found = {}
    for base in kind.__mro__:
        for name, hint in vars(base).get("__annotations__", {}).items():
            try:
                found[name] = eval(hint, dict(vars(sys.modules[base.__module__]))) if isinstance(hint, str) else hint
            except (NameError, TypeError, AttributeError):
                found[name] = None
    return found


def _kinds(hint: Any) -> list[Any]:
    """Return all types within a type."""
    if isinstance(hint, list):  # parameters of a function
        return []
    return [hint, *(kind for inner in typing.get_args(hint) for kind in _kinds(inner))]


def _inside(value: Any, kind: type) -> Any:
    if isinstance(value, kind):
        return value
    entries = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return next((found for entry in entries if (found := _inside(entry, kind)) is not None), None)


def answer(name: str, function: Callable[..., Any]) -> Any:
    """Return the result of a function for valid arguments."""
    given = dict(CHEAP.get(name, {}))
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind not in v.SEVERAL:
            good = good_for(name, function, parameter)
            if not good:
                raise LookupError(f"{name}: expected a value for {parameter.name!r} in values.GOOD")
            given[parameter.name] = good[0]
    return function(**given)


def good_for(name: str, function: Callable[..., Any], parameter: inspect.Parameter) -> list[Any]:
    """Return valid values of a parameter: by its type if that is a class of ours, otherwise by its name."""
    hint = hints(function).get(parameter.name)
    own = [kind for kind in _kinds(hint) if inspect.isclass(kind) and kind in BY_TYPE()]
    renamed = RENAMED.get((name, parameter.name), parameter.name)
    by_name = v.GOOD.get(renamed, [])
    by_name = by_name or next((good for kind, good in v.BY_HINT if kind in _kinds(hint)), [])
    fitting = [value for value in by_name if any(isinstance(value, kind) for kind in own)]
    if own and not fitting and renamed == parameter.name:
        with suppress(LookupError):  # it cannot be created from valid arguments alone
            return [_apart(own[0]), *by_name]
    return fitting + [value for value in by_name if not any(value is other for other in fitting)]


@cache
def BY_TYPE() -> frozenset[type]:
    return frozenset(thing for thing in public().values() if inspect.isclass(thing))


def _is_record(kind: type) -> bool:
    """Return whether only the library creates a class, or the class has no checks of its own."""
    if getattr(kind, "_call", "") and kind.__name__ not in MADE_BY_MANY:
        return True
    own = [base for base in kind.__mro__ if base.__module__.startswith("kalos_core")]
    return not any("__post_init__" in vars(base) or _is_written(vars(base).get("__init__")) for base in own)


def _is_written(method: Any) -> bool:
    return inspect.isfunction(method) and method.__code__.co_filename != "<string>"


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    for base in kind.__mro__:
        if base.__module__.startswith("kalos_core"):
            yield from vars(base).items()


@cache
def calls() -> dict[str, Callable[..., Any]]:
    """Return name -> callable."""
    found: dict[str, Callable[..., Any]] = {}
    for name, thing in public().items():
        if name in NOT_CALLED:
            continue
        if not inspect.isclass(thing):
            found[name] = thing
            continue
        if not _is_record(thing):
            found[name] = thing
        for method, held in _methods(thing):
            if not method.startswith("_") and inspect.isfunction(getattr(held, "__func__", held)):
                is_of_class = isinstance(held, (classmethod, staticmethod))
                call = getattr(thing, method) if is_of_class else _of_instance(thing, method, held)
                found.setdefault(f"{name}.{method}", call)
    return found


def _of_instance(kind: type, method: str, held: Any) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        return getattr(made(kind), method)(**given)

    signature = inspect.signature(held)
    call.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    call.__wrapped__ = held  # type: ignore[attr-defined]
    return call


CALLS = calls()


@st.composite
def arguments(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Draw the arguments of one call: the required ones, and some others."""
    cheap = CHEAP.get(name, {})
    given = dict(cheap)
    for parameter in inspect.signature(CALLS[name]).parameters.values():
        if parameter.kind in v.SEVERAL:
            continue
        if parameter.default is parameter.empty or not draw(st.integers(0, 3)):
            default = cheap.get(parameter.name, parameter.default)
            given[parameter.name] = draw(v.argument(good_for(name, CALLS[name], parameter), default))
    return given
