"""Figures of the library as plain values: for the App's own Plotly, or as a matrix."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.captions import CAPTIONS, Caption
from kalos_core.text import unshown

from .rows import Row


def figure_of(part: Part, caption: Caption) -> Row:
    """Return a part of a run that has a figure, as `look/plot.tsx` draws it."""
    plain = part.figure.to_plotly_json()
    plain["layout"].pop("template", None)  # the App brings its theme; plotly's own is white, and 7 kB
    said = _said(part, caption)
    return {**said, "formula": caption.formula, "traces": plain["data"], "layout": plain["layout"]}


def figures_in(parts: Mapping[str, Part], *names: str) -> list[Row]:
    """Return those of the figures that the run has."""
    return [figure_of(parts[name], CAPTIONS[name]) for name in names if name in parts and parts[name].figure]


def figure_in(parts: Mapping[str, Part], name: str) -> Row | None:
    """Return a figure if the run has it."""
    return next(iter(figures_in(parts, name)), None)


def matrix_in(parts: Mapping[str, Part], name: str, entries: Iterable[Any]) -> Row | None:
    """Return a matrix of pairs of entries, as `look/heat.tsx` draws it, if the run has it."""
    if name not in parts or not parts[name].figure:
        return None
    names = list(map(str, entries))
    values = np.array(parts[name].figure.data[0].z, float).reshape(len(names), len(names))
    return {**_said(parts[name], CAPTIONS[name]), "rows": names, "columns": names, "values": values}


def _said(part: Part, caption: Caption) -> Row:
    return {"title": unshown(part.title), "reading": unshown(f"{caption.read} {part.note}".strip())}
