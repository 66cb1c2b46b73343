"""Exported names of a package, collected from its imports."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import ismodule
from typing import Any


def public_names(namespace: Mapping[str, Any]) -> list[str]:
    """Return the names of a package for its ``__all__``: no modules, no private names, not this function.

    Examples
    --------
    >>> public_names({"__doc__": "", "_fit": 1, "inspect": __import__("inspect"), "agreement": len})
    ['agreement']
    """
    public = {name: found for name, found in namespace.items() if not name.startswith("_") and not ismodule(found)}
    return [name for name, found in public.items() if found is not public_names]
