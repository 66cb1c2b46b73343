"""plotly's graph objects, imported when the first plot is drawn: titles and captions do without."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["go"]


class _Late:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import plotly.graph_objects as go
else:
    go = _Late("plotly.graph_objects")
