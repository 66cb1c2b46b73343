"""A figure of the library as the view draws it, with the App's own Plotly."""

from dataclasses import dataclass
from typing import Any

from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.captions import Caption


@dataclass(frozen=True)
class Figure:
    """The finding as the title, how to read it, the formula behind "?", and plotly's traces and layout."""

    title: str
    reading: str
    formula: str
    traces: Any
    layout: Any


def figure_of(part: Part, caption: Caption) -> Figure:
    """A part of a run that has a figure."""
    plain = part.figure.to_plotly_json()
    plain["layout"].pop("template", None)  # the App brings its theme; plotly's own is white, and 7 kB
    return Figure(part.title, f"{caption.read} {part.note}".strip(), caption.formula, plain["data"], plain["layout"])
