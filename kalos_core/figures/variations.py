"""Figures of variations: how many findings there are of each type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kalos_core.figures.common import COLOURS, significant
from kalos_core.variation import VARIATION_TYPES, Variations

if TYPE_CHECKING:
    import plotly.graph_objects as go

VARIATION_LABELS = {
    "correct": "correct",
    "wrong_class": "wrong class",
    "merged": "merged",
    "merged_wrong_class": "merged, wrong class",
    "missing": "missing",
    "additional": "additional",
}
"""Variation types as people read them."""


def variations_title(counts: Mapping[str, int]) -> str:
    """What a search for variations says, in one line.

    Examples
    --------
    >>> variations_title({"correct": 70, "missing": 20, "additional": 10})
    '30.0 % of 100 findings are differences, most often missing (20)'
    """
    total = sum(counts.values())
    differences = {name: count for name, count in counts.items() if name != "correct" and count}
    if not total:
        return "No findings: nobody marked anything"
    if not differences:
        return f"All {total:,} findings are correct"
    most = max(differences, key=lambda name: differences[name])
    share = 100 * sum(differences.values()) / total
    return (
        f"{significant(share)} % of {total:,} findings are differences, most often "
        f"{VARIATION_LABELS[most]} ({differences[most]:,})"
    )


def variation_bars(counts: Mapping[str, int], title: str = "") -> go.Figure:
    """How many findings there are of each variation type."""
    import plotly.graph_objects as go

    names = list(VARIATION_TYPES)
    total = max(sum(counts.values()), 1)
    values = [counts.get(name, 0) for name in names]
    figure = go.Figure(
        go.Bar(
            x=values,
            y=[VARIATION_LABELS[name] for name in names],
            orientation="h",
            marker={"color": [COLOURS[name] for name in names]},
            text=[f"{value:,} ({significant(100 * value / total)} %)" for value in values],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{text} findings<extra>click to see the labels</extra>",
            name="findings",
        )
    )
    figure.update_layout(
        title={"text": title, "font": {"size": 14}},
        xaxis={"title": {"text": "findings"}, "range": [0, 1.55 * max(*values, 1)], "fixedrange": True},
        yaxis={"autorange": "reversed", "fixedrange": True, "ticklabelstandoff": 6},
        margin={"t": 40 if title else 10, "b": 45, "l": 140, "r": 10},
        height=300,
        showlegend=False,
    )
    return figure


def plot_variations(result: Variations) -> go.Figure:
    """The counts of a result, titled with its finding."""
    counts = result.counts()
    return variation_bars(counts, variations_title(counts))
