"""Plots of synthetic raters: events on the annotations of their reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kalos_core.display import EVENT_LABELS, OUTCOME_LABELS, STAGE_LABELS, count_text, number_of, percent_text
from kalos_core.figures.bars import BAR_HEIGHT, count_bars, row_bars
from kalos_core.figures.common import COLOURS, PALE, TITLE_HEIGHT, WHISKER
from kalos_core.figures.late import go
from kalos_core.figures.tables import text_rows
from kalos_core.noise import GeneratedRaters, RaterEvents, SignalLoss
from kalos_core.noise.events import OUTCOMES
from kalos_core.options import checked
from kalos_core.text import MOST_LETTERS, names_shown

EVENT_COLOURS = {
    "deletion": COLOURS["missing"],
    "addition": COLOURS["additional"],
    "split": COLOURS["merged_wrong_class"],
    "merge": COLOURS["merged"],
    "wrong_class": COLOURS["wrong_class"],
}
"""Colours of the variations that events lead to; a split has the darker of the two for merges."""

COUNTED = ("attempted", "done", "lost", "impossible")
"""Counts of the events of a stage."""

LONGEST_NAME = 26
"""Maximum number of characters of a file name next to a bar."""


def events_title(
    references: Sequence[str], raters: int, changed: int, annotations: int, signal_loss: float | None
) -> str:
    r"""Summarise changes to the reference in one line: their number, and the share that came too late.

    Examples
    --------
    >>> events_title(["ann"], 3, 60, 900, 0.013)
    '3 synthetic raters from ann: 60 changes to 900 annotations (6.7\xa0%); 1.3\xa0% of changes came too late'
    >>> events_title(["ann"], 1, 0, 3, None)
    '1 synthetic rater from ann: 0 changes to 3 annotations (0\xa0%)'
    """
    references = names_shown(references, MOST_LETTERS)
    who = f"{raters:,} synthetic {'rater' if raters == 1 else 'raters'} from {', '.join(references)}"
    share = percent_text(changed / max(annotations, 1))
    text = f"{who}: {number_of(changed, 'change')} to {number_of(annotations, 'annotation')} ({share})"
    return text if signal_loss is None else f"{text}; {percent_text(signal_loss)} of changes came too late"


def event_bars(events: Mapping[str, Mapping[str, int]], title: str = "") -> go.Figure:
    """Plot numbers of events that were done, lost and impossible, by kind; without shifts, which are everywhere.

    Parameters
    ----------
    events : mapping
        Kind -> outcome -> number, as in `Events.counts`.
    title : str
    """
    kinds = list(EVENT_COLOURS)
    colours: list[str | list[str]] = [list(EVENT_COLOURS.values()), PALE, WHISKER]
    bars = [
        row_bars(
            [events[kind][outcome] for kind in kinds],
            [EVENT_LABELS[kind] for kind in kinds],
            colour,
            f"%{{y}}: %{{x:,}} {outcome}<extra>click to see the labels</extra>",
            OUTCOME_LABELS[outcome],
        )
        for outcome, colour in zip(OUTCOMES, colours, strict=True)
    ]
    bars[-1].update(
        text=[_counted(events[kind]) for kind in kinds], textposition="outside", textfont={"size": 11}, cliponaxis=False
    )
    most = max(sum(events[kind].values()) for kind in kinds)
    return count_bars(bars, "events", title).update_layout(xaxis_range=[0, 1.6 * max(most, 1)], margin_l=100)


def _counted(outcomes: Mapping[str, int]) -> str:
    """Return the counts by outcome of one kind of events, in one or two lines."""
    others = ", ".join(f"{outcomes[outcome]:,} {outcome}" for outcome in OUTCOMES[1:] if outcomes[outcome])
    return f"{outcomes[OUTCOMES[0]]:,} done" + (f"<br>{others}" if others else "")


def image_event_bars(files: Sequence[str], counts: Sequence[Mapping[str, int]]) -> go.Figure:
    """Plot numbers of events by kind, with one bar for each image.

    Parameters
    ----------
    files : (I,) names
    counts : (I,) mappings
        Kind -> number, for all kinds except shifts.
    """
    rows = range(len(files))
    bars = [
        row_bars(
            [own[kind] for own in counts],
            rows,
            colour,
            f"%{{customdata}}: %{{x}} {EVENT_LABELS[kind]}<extra>click to open it</extra>",
            EVENT_LABELS[kind],
            customdata=names_shown(files),
        )
        for kind, colour in EVENT_COLOURS.items()
    ]
    ends = [name if len(name) <= LONGEST_NAME else f"…{name[1 - LONGEST_NAME :]}" for name in files]
    return count_bars(bars, "events").update_layout(
        yaxis={"tickvals": list(rows), "ticktext": names_shown(ends)},
        showlegend=True,  # hidden in the App by default
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0, "traceorder": "normal"},
        margin={"t": TITLE_HEIGHT, "l": 170},
        height=110 + BAR_HEIGHT * len(files),
    )


@checked
def plot_events(result: GeneratedRaters) -> go.Figure:
    """Plot the events of generated raters, titled with their numbers."""
    return plot_rater_events(result.by_rater(), result.signal_loss())


def rater_events_title(raters: RaterEvents, loss: SignalLoss) -> str:
    """Summarise the events of all raters in one line."""
    return events_title(
        [str(name) for name in raters.original],
        len(raters.rater),
        raters.changed,
        int(raters.given.sum()),
        None if np.isnan(loss.ratio) else loss.ratio,
    )


@checked
def plot_rater_events(raters: RaterEvents, loss: SignalLoss) -> go.Figure:
    """Plot the events of all raters together, as `plot_events`."""
    return event_bars(raters.by_kind(), rater_events_title(raters, loss))


def stage_rows(loss: SignalLoss) -> list[dict[str, str]]:
    r"""Return formatted rows by stage: ``stage``, ``attempted``, ``done``, ``lost``, ``impossible``, ``share``.

    Examples
    --------
    >>> one = np.array([1])
    >>> stage_rows(SignalLoss(("first three",), done=3 * one, lost=one, impossible=0 * one))[0]["share"]
    '25\xa0%'
    """
    counts = {name: map(count_text, getattr(loss, name).tolist()) for name in COUNTED}
    shares = ["none attempted" if np.isnan(share) else percent_text(share) for share in loss.share.tolist()]
    return text_rows(stage=[STAGE_LABELS[stage] for stage in loss.stage], **counts, share=shares)
