"""Figure of resolved labels: their origins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from kalos_core.decisions import DECISIONS, LABEL_DECISIONS
from kalos_core.display import number_of
from kalos_core.fiftyone.kinds.resolved.kind import ResolvedRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.bars import count_bars, row_bars
from kalos_core.figures.common import NEUTRAL
from kalos_core.report import Block, synthetic

if TYPE_CHECKING:
    import plotly.graph_objects as go

ORIGINS = {"agreed": "Raters agree", **DECISIONS, **LABEL_DECISIONS, "undecided": "Undecided: the majority"}


def figures(run: ResolvedRun) -> dict[str, Part]:
    """Return the figure ``origins``: numbers of labels by agreement, kind of decision, or undecided."""
    counts = _counts(run)
    return {"origins": Part(_title(run), _bars(counts) if counts else None)}


def drawn(run: ResolvedRun) -> Iterator[Block]:
    """Return the same figure as a block of a report."""
    counts = _counts(run)
    yield synthetic.of_counts("origins", "Labels by their origin", _title(run), counts, partial(_bars, counts))


def _counts(run: ResolvedRun) -> dict[str, int]:
    """Return title of an origin -> number of labels."""
    found = run.metrics["origins"]
    return {ORIGINS[name]: found[name] for name in ORIGINS if name in found}


def _title(run: ResolvedRun) -> str:
    metrics, unit = run.metrics, "unit" if run.settings["of"] == "agreement" else "dispute"
    return (
        f"{number_of(metrics['labels'], 'label')}, {number_of(metrics['decided'], unit)} decided, "
        f"{metrics['open']:,} open"
    )


def _bars(counts: Mapping[str, int]) -> go.Figure:
    hover = "%{x:,} labels<extra></extra>"
    return count_bars([row_bars(list(counts.values()), list(counts), NEUTRAL, hover, "origins")], "labels")
