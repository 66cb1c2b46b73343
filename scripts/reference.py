"""Docstrings of the reference as Python has them: what settings declare is not written a second time.

An extension of griffe, which reads source: of functions that take settings, and of settings, it takes the docstring and
the parameters that exist at run time.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import griffe

from kalos_core.options import Settings, settings_of, with_parameters


def _object(path: str) -> Any:
    """What a dotted path names, None of what only exists while types are checked."""
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            found = getattr(found, name, None)
        return found
    return None


class Declared(griffe.Extension):
    """Takes the docstring of what is made of declared options."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """A function that takes the fields of settings."""
        if not any("takes(" in str(decorator.value) for decorator in func.decorators):
            return
        made = _object(func.path)
        if func.docstring is None or settings_of(made) is None:
            return
        func.docstring.value = inspect.cleandoc(made.__doc__)
        signature = inspect.signature(made)
        kinds = {"POSITIONAL_OR_KEYWORD": griffe.ParameterKind.positional_or_keyword}
        func.parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    name,
                    kind=kinds.get(entry.kind.name, griffe.ParameterKind.keyword_only),
                    default=None if entry.default is entry.empty else repr(entry.default),
                )
                for name, entry in signature.parameters.items()
            )
        )

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Settings: their options as parameters."""
        if cls.docstring is None or not any("Settings" in str(base) for base in cls.bases):
            return
        made = _object(cls.path)
        if inspect.isclass(made) and issubclass(made, Settings):
            cls.docstring.value = with_parameters(cls.docstring.value, made)
