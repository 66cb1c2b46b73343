"""Operators, one file per user action: a form, one call into `kalos_core.fiftyone`, and an output."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import fiftyone.operators as foo

from kalos_core.fiftyone.internals import guard_operators

from .base import PLUGIN


def register(plugin: Any) -> None:
    """Register the operators of all files, except base classes, which have no name."""
    guard_operators(f"{PLUGIN}/")
    for file in iter_modules(__path__):
        module = import_module(f".{file.name}", __name__)
        for found in vars(module).values():
            is_own = isinstance(found, type) and found.__module__ == module.__name__
            if is_own and issubclass(found, foo.Operator) and getattr(found, "NAME", found):
                plugin.register(found)
