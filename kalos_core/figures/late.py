"""Lazy import of plotly's graph objects, since titles and captions do not need plotly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["go"]


class _Late:
    """Module that is imported on first attribute access."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


if TYPE_CHECKING:
    import plotly.graph_objects as go
else:
    go = _Late("plotly.graph_objects")
