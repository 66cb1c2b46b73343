"""Answers of both panels during decisions: the next disputes, a decision, and the open sample."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.decisions import Decision
from kalos_core.errors import repr_of
from kalos_core.fiftyone.app import open_sample, select_labels
from kalos_core.fiftyone.deciding.decide import DecidedMeanwhile, decide_as_seen
from kalos_core.fiftyone.deciding.kinds import load_decidable
from kalos_core.fiftyone.deciding.shown import shown_sample

from ..data.disputes import AHEAD, Record, dispute_of, made_of, next_disputes, queue_of
from .answers import question
from .events import Context, recalled_queue, remember_queue, sent, sent_part


class Deciding:
    """Questions of the decision component: each has the `run`, and the `part` of its disputes (class, rater)."""

    @question
    def queue(self, ctx: Context) -> Record:
        """Return the queue from the beginning, including skipped disputes."""
        run, variations, part = _queue_in(ctx.params)
        disputes = next_disputes(ctx.dataset, run, AHEAD, variations, **part)
        return queue_of(ctx.dataset, load_decidable(ctx.dataset, run), variations, disputes, **part)

    @question
    def disputes(self, ctx: Context) -> Record:
        """Return the disputes after a sample of the queue; none at its end."""
        (run, variations, part), after = _queue_in(ctx.params), sent(ctx.params, "after", optional=True)
        found = next_disputes(ctx.dataset, run, AHEAD, variations, after, **part)
        return {"disputes": found, "counts": kf.count_disputes(ctx.dataset, run)}

    @question
    def decide(self, ctx: Context) -> Record:
        """Store a decision; return it, or the decision that another user made in the meantime as `meanwhile`."""
        asked, (run, variations, part) = ctx.params, _queue_in(ctx.params)
        sample, seen, labels = sent(asked, "sample"), _time_in(asked), tuple(sent(asked, "labels", Sequence[str]))
        note, who = (sent(asked, name).strip() for name in ("note", "who"))
        rater, category = (sent(asked, name, optional=True) for name in ("rater", "category"))
        wanted = Decision(labels, sent(asked, "decision"), rater, note, who, category=category)
        try:
            return {"made": made_of(decide_as_seen(ctx.dataset, run, sample, wanted, seen))}
        except DecidedMeanwhile:
            shown = shown_sample(ctx.dataset, run, sample, variations)
            now = [unit for unit in shown.disputes if not set(labels).isdisjoint(unit.labels)]
            return {"meanwhile": dispute_of(shown, now[0], **part) if now else None}

    @question
    def open(self, ctx: Context) -> None:
        """Open a sample of the queue, or edit it; the panel next to it continues with the same part."""
        asked = ctx.params
        remember_queue(ctx, sent(asked, "run"), **sent_part(asked))
        open_sample(ctx, sent(asked, "sample"), annotates=asked.get("annotates", False))

    @question
    def following(self, ctx: Context) -> Record:
        """Open the next sample of the queue with an open dispute; return None if there is none."""
        run, after = sent(ctx.params, "run"), sent(ctx.params, "after", optional=True)
        found = kf.next_dispute(ctx.dataset, run, after, **recalled_queue(ctx, run))
        if found is not None:
            open_sample(ctx, found)
        return {"sample": found}

    @question
    def select(self, ctx: Context) -> None:
        """Select labels in the open sample: pairs of an id and its field."""
        labels = sent(ctx.params, "labels", Sequence[Sequence[str]])
        if any(isinstance(pair, str) or len(pair) != 2 for pair in labels):
            raise InputError(f"labels: expected pairs of an id and its field, got {repr_of(labels)}")
        select_labels(ctx, sent(ctx.params, "sample"), labels)


def _time_in(params: Mapping[str, Any]) -> datetime | None:
    """Return the time of the decision that the view showed; None if there was none."""
    text = sent(params, "when", optional=True)
    try:
        return datetime.fromisoformat(text) if text else None
    except ValueError:
        raise InputError(f"when: expected a time in ISO format, got {repr_of(text)}") from None


def _queue_in(params: Mapping[str, Any]) -> tuple[str, str | None, dict[str, Any]]:
    """Return the run of a request, the run of its findings, and the part of the disputes."""
    return sent(params, "run"), sent(params, "variations", optional=True), sent_part(params)
