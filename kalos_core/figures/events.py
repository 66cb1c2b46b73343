"""Figures of synthetic raters: what happened to the marks they were drawn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kalos_core.figures.common import BAR_HEIGHT, COLOURS, PALE, WHISKER, significant
from kalos_core.noise import GeneratedRaters
from kalos_core.noise.events import EVENTS, OUTCOMES

if TYPE_CHECKING:
    import plotly.graph_objects as go

EVENT_LABELS = {
    "deletion": "missed",
    "addition": "added",
    "split": "split",
    "merge": "merged",
    "wrong_class": "wrong class",
    "shift": "moved",
}
"""Events as people read them."""

EVENT_COLOURS = {
    "deletion": COLOURS["missing"],
    "addition": COLOURS["additional"],
    "split": COLOURS["merged_wrong_class"],
    "merge": COLOURS["merged"],
    "wrong_class": COLOURS["wrong_class"],
}
"""The colours of the variations that events turn up as; a split is the darker one of the two of topology."""

OUTCOME_LABELS = {"done": "done", "lost": "lost: too late for its mark", "impossible": "impossible"}

LONGEST_NAME = 26
"""Characters of a file name beside a bar."""


def events_title(references: Sequence[str], raters: int, changed: int, drawn: int, signal_loss: float | None) -> str:
    """What was drawn, in one line: how much of the reference is changed, and what came too late.

    Examples
    --------
    >>> events_title(["ann"], 3, 60, 900, 0.013)
    '3 raters drawn from ann: 60 changes to 900 marks (6.67 %), signal loss 1.30 %'
    >>> events_title(["ann"], 1, 0, 3, None)
    '1 rater drawn from ann: 0 changes to 3 marks (0.00 %)'
    """
    who = f"{raters:,} {'rater' if raters == 1 else 'raters'} drawn from {', '.join(references)}"
    text = f"{who}: {changed:,} changes to {drawn:,} marks ({significant(100 * changed / max(drawn, 1))} %)"
    return text if signal_loss is None else f"{text}, signal loss {significant(100 * signal_loss)} %"


def event_bars(events: Mapping[str, Mapping[str, int]]) -> go.Figure:
    """How many events of each kind were done, were lost, and were impossible; shifts, which every mark has, left out.

    Parameters
    ----------
    events : mapping
        Kind -> outcome -> number, as of `Events.counts`.
    """
    import plotly.graph_objects as go

    kinds = list(EVENT_COLOURS)
    total = {kind: sum(events[kind].values()) for kind in kinds}
    colours: list[Any] = [list(EVENT_COLOURS.values()), PALE, WHISKER]
    figure = go.Figure(
        [
            go.Bar(
                x=[events[kind][outcome] for kind in kinds],
                y=[EVENT_LABELS[kind] for kind in kinds],
                orientation="h",
                name=OUTCOME_LABELS[outcome],
                marker={"color": colour},
                hovertemplate=f"%{{y}}: %{{x:,}} {outcome}<extra>click to see the labels</extra>",
            )
            for outcome, colour in zip(OUTCOMES, colours, strict=True)
        ]
    )
    figure.data[-1].update(
        text=[_counted(events[kind]) for kind in kinds], textposition="outside", textfont={"size": 11}, cliponaxis=False
    )
    figure.update_layout(
        barmode="stack",
        xaxis={"title": {"text": "events"}, "range": [0, 1.6 * max(*total.values(), 1)], "fixedrange": True},
        yaxis={"autorange": "reversed", "fixedrange": True, "ticklabelstandoff": 6},
        margin={"t": 10, "b": 45, "l": 100, "r": 10},
        height=300,
        showlegend=False,
    )
    return figure


def _counted(outcomes: Mapping[str, int]) -> str:
    """What became of the events of a kind, in one or two lines."""
    others = ", ".join(f"{outcomes[outcome]:,} {outcome}" for outcome in OUTCOMES[1:] if outcomes[outcome])
    return f"{outcomes[OUTCOMES[0]]:,} done" + (f"<br>{others}" if others else "")


def image_event_bars(files: Sequence[str], counts: Sequence[Mapping[str, int]]) -> go.Figure:
    """How many events of each kind there are on images, a bar an image.

    Parameters
    ----------
    files : (I,) names
    counts : (I,) mappings
        Kind -> number, of all kinds but shifts.
    """
    import plotly.graph_objects as go

    places = list(range(len(files)))
    figure = go.Figure(
        [
            go.Bar(
                x=[own[kind] for own in counts],
                y=places,
                orientation="h",
                name=EVENT_LABELS[kind],
                marker={"color": colour},
                customdata=list(files),
                hovertemplate=f"%{{customdata}}: %{{x}} {EVENT_LABELS[kind]}<extra>click to open it</extra>",
            )
            for kind, colour in EVENT_COLOURS.items()
        ]
    )
    shown = [name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}" for name in files]
    figure.update_layout(
        barmode="stack",
        xaxis={"title": {"text": "events"}, "fixedrange": True, "rangemode": "tozero"},
        yaxis={
            "autorange": "reversed",
            "fixedrange": True,
            "tickvals": places,
            "ticktext": shown,
            "ticklabelstandoff": 6,
        },
        showlegend=True,  # the App leaves it out otherwise
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        margin={"t": 40, "b": 45, "l": 170, "r": 10},
        height=110 + BAR_HEIGHT * len(files),
    )
    return figure


def plot_events(result: GeneratedRaters) -> go.Figure:
    """The events of generated raters, titled with what they amount to."""
    counts = result.events.counts()
    changed = sum(own["done"] for kind, own in counts.items() if kind != EVENTS[-1])
    drawn = sum(int((result.reference.rater == code).sum()) for code in result.reference_rater)
    loss = result.signal_loss().ratio
    title = events_title(
        [str(name) for name in result.original.raters],
        len(result.magnitude),
        changed,
        drawn,
        loss if loss == loss else None,
    )
    figure = event_bars(counts)
    figure.update_layout(title={"text": title, "font": {"size": 14}}, margin={"t": 40})
    return figure
