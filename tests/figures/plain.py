"""Content of plots for tests."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go


def plain(figure: go.Figure) -> list[dict[str, Any]]:
    """Return traces as the App receives them: JSON without NaN."""
    return json.loads(json.dumps(figure.to_plotly_json()["data"], allow_nan=False))


def title(figure: go.Figure) -> str:
    return figure.layout.title.text


def notes(figure: go.Figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def names(figure: go.Figure) -> list[str]:
    """Return the names of its traces, up to a colon."""
    return [trace.name.split(":")[0] for trace in figure.data]
