"""Answers of both panels during decisions: the next disputes, a decision, and the open sample."""

from datetime import datetime

import kalos_core.fiftyone as kf
from kalos_core.decisions import Decision
from kalos_core.fiftyone.app import open_sample, select_labels
from kalos_core.fiftyone.deciding.decide import DecidedMeanwhile, decide_as_seen
from kalos_core.fiftyone.deciding.kinds import load_decidable
from kalos_core.fiftyone.deciding.shown import shown_sample

from ..data.disputes import AHEAD, Record, dispute_of, made_of, next_disputes, queue_of
from .answers import question
from .events import Context, recalled_queue, remember_queue


class Deciding:
    """Questions of the decision component: each has the `run`, and the `part` of its disputes (class, rater)."""

    @question
    def queue(self, ctx: Context) -> Record:
        """Return the queue from the beginning, including skipped disputes."""
        asked, part = ctx.params, ctx.params["part"]
        disputes = next_disputes(ctx.dataset, asked["run"], AHEAD, asked["variations"], **part)
        return queue_of(ctx.dataset, load_decidable(ctx.dataset, asked["run"]), asked["variations"], disputes, **part)

    @question
    def disputes(self, ctx: Context) -> Record:
        """Return the disputes after a sample of the queue; none at its end."""
        asked, part = ctx.params, ctx.params["part"]
        found = next_disputes(ctx.dataset, asked["run"], AHEAD, asked["variations"], asked["after"], **part)
        return {"disputes": found, "counts": kf.count_disputes(ctx.dataset, asked["run"])}

    @question
    def decide(self, ctx: Context) -> Record:
        """Store a decision; return it, or the decision that another user made in the meantime as `meanwhile`."""
        asked = ctx.params
        seen = datetime.fromisoformat(asked["when"]) if asked["when"] else None
        labels, note, who = tuple(asked["labels"]), asked["note"].strip(), asked["who"].strip()
        wanted = Decision(labels, asked["decision"], asked["rater"], note, who, category=asked.get("category"))
        try:
            return {"made": made_of(decide_as_seen(ctx.dataset, asked["run"], asked["sample"], wanted, seen))}
        except DecidedMeanwhile:
            shown = shown_sample(ctx.dataset, asked["run"], asked["sample"], asked["variations"])
            now = [unit for unit in shown.disputes if not set(labels).isdisjoint(unit.labels)]
            return {"meanwhile": dispute_of(shown, now[0], **asked["part"]) if now else None}

    @question
    def open(self, ctx: Context) -> None:
        """Open a sample of the queue, or edit it; the panel next to it continues with the same part."""
        asked = ctx.params
        remember_queue(ctx, asked["run"], **asked["part"])
        open_sample(ctx, asked["sample"], annotates=asked.get("annotates", False))

    @question
    def following(self, ctx: Context) -> Record:
        """Open the next sample of the queue with an open dispute; return None if there is none."""
        asked = ctx.params
        found = kf.next_dispute(ctx.dataset, asked["run"], asked["after"], **recalled_queue(ctx, asked["run"]))
        if found is not None:
            open_sample(ctx, found)
        return {"sample": found}

    @question
    def select(self, ctx: Context) -> None:
        """Select labels in the open sample: pairs of an id and its field."""
        select_labels(ctx, ctx.params["sample"], ctx.params["labels"])
