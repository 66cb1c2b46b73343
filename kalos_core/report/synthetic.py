"""Figures of synthetic raters and of counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kalos_core.display import (
    EVENT_LABELS,
    OUTCOME_LABELS,
    count_text,
)
from kalos_core.noise import Fidelity, RaterEvents, SignalLoss
from kalos_core.noise.experiments import SignalLossTable
from kalos_core.report.axes import Line, Lines, percent_axis, series
from kalos_core.report.look import Ranked, Row
from kalos_core.report.objects import DASHED, captioned
from kalos_core.report.pages import Figure, Table

if TYPE_CHECKING:
    import plotly.graph_objects as go


def events(found: RaterEvents, loss: SignalLoss) -> Figure:
    """Events on the reference's annotations, by kind."""
    from kalos_core.figures import plot_rater_events
    from kalos_core.figures.events import EVENT_COLOURS, rater_events_title

    counts = found.by_kind()
    rows = [
        Row(
            EVENT_LABELS[kind],
            count_text(counts[kind]["done"]),
            float(counts[kind]["done"]),
            beside=[count_text(counts[kind][outcome]) for outcome in ("lost", "impossible")],
            colour=colour,
        )
        for kind, colour in EVENT_COLOURS.items()
    ]
    heads = ("event", *OUTCOME_LABELS.values())
    form = Ranked("Events by kind", heads, rows, (0.0, max(row.value for row in rows) or 1.0))
    return captioned("events", form, rater_events_title(found, loss), plot=partial(plot_rater_events, found, loss))


def lost(found: SignalLossTable) -> Figure:
    """Signal loss by magnitude, compared with the paper."""
    from kalos_core.figures import plot_loss
    from kalos_core.figures.experiments import loss_title

    every = np.concatenate([found.ratio, found.paper])
    lines = [
        Line("here", found.magnitude, found.ratio),
        Line("paper, whole LVIS", found.magnitude, found.paper, None, series(1)[0], DASHED),
    ]
    form = Lines(
        "Signal loss over the magnitude",
        lines,
        "magnitude of noise, λ",
        "share of events lost",
        (0.0, float(found.magnitude.max())),
        (0.0, float(np.nanmax(every, initial=0.01))),
        show_y=percent_axis,
    )
    return captioned("loss", form, loss_title(found), plot=partial(plot_loss, found))


def faithful(found: Fidelity) -> Figure:
    """Comparison of generated and real raters."""
    from kalos_core.figures import plot_fidelity
    from kalos_core.figures.noise import fidelity_rows, fidelity_title

    rows = [list(row.values()) for row in fidelity_rows(found)]
    heads = ("quantity", "real, with its 95 % interval", "generated", "inside")
    form = Table(heads, rows, "Generated and real raters", (1, 2))
    return captioned("fidelity", form, fidelity_title(found), plot=partial(plot_fidelity, found))


def of_counts(
    name: str, label: str, title: str, counts: Mapping[str, int], plot: Callable[[], go.Figure] | None = None
) -> Figure:
    """Ranked list of counts of a few kinds."""
    rows = [Row(kind, count_text(count), float(count)) for kind, count in counts.items()]
    most = max((row.value for row in rows), default=1.0) or 1.0
    return captioned(name, Ranked(label, ("kind", "labels"), rows, (0.0, most)), title, plot=plot)
