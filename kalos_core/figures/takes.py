"""What a figure is drawn from: anything else is refused, with the call that makes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from types import UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

from kalos_core.results import check_result

Given = ParamSpec("Given")
Drawn = TypeVar("Drawn")


def takes_result(function: Callable[Given, Drawn]) -> Callable[Given, Drawn]:
    """A function that refuses a first argument of another class than its annotation says, and names the right call.

    Examples
    --------
    >>> from kalos_core.figures import plot_agreement
    >>> plot_agreement(5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    kalos_core.errors.InputError: plot_agreement: expected Agreement, ..., got int
    """
    first = next(iter(signature(function).parameters))

    @lru_cache(maxsize=1)
    def kinds() -> tuple[type, ...]:
        hint = get_type_hints(function)[first]
        parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        # to Python 3.10 a list of something is a type, too
        return tuple(part for part in parts if isinstance(part, type) and get_origin(part) is None)

    @wraps(function)
    def checked(*args: Given.args, **kwargs: Given.kwargs) -> Drawn:
        given: Any = args[0] if args else kwargs.get(first)
        if (args or first in kwargs) and kinds():
            check_result(given, function.__name__, *kinds())
        return function(*args, **kwargs)

    return checked
