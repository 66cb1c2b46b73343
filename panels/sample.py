"""Panel next to the open sample: its alpha, the labels of each rater by unit, and decisions about disputes."""

from collections.abc import Iterator, Sequence
from typing import Any

import fiftyone.operators as foo

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.deciding.kinds import DECIDABLE, deciding_of
from kalos_core.fiftyone.deciding.shown import SampleDisputes, shown_sample
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from kalos_core.text import plain

from .data.disputes import Record, decidable_in, dispute_of, findings_of, found_text, queue_of
from .parts.answers import View, answered, as_text, question
from .parts.deciding import Deciding
from .parts.events import PLUGIN, Context, recalled, recalled_queue, recalled_run, remember, remember_queue, sent

MOST_UNITS = 100

NOTHING: Record = {"headline": "", "queue": None, "raters": [], "rows": [], "part": [], "note": ""}
"""Record of a sample that is part of no analysis; `view/src/sample.tsx` declares its type."""


class SamplePanel(Deciding, View):
    """Panel that sends the record of each opened sample to the view."""

    COMPONENT = "KalosSample"

    @property
    def config(self) -> foo.PanelConfig:
        return foo.PanelConfig(
            name="sample",
            label="Raters on this sample",
            icon="/assets/agreement.svg",
            surfaces="modal",
            help_markdown="Labels of each rater for the units of the open sample, and decisions where they differ",
        )

    def on_load(self, ctx: Context) -> None:
        ctx.panel.set_data("beside", _text_beside(ctx))

    def on_change_current_sample(self, ctx: Context) -> None:
        """No-op: `answer` handles the event; the App sends an event only to panels with its method."""

    def answer(self, ctx: Context) -> Any:
        if ctx.params.get("__method__") not in {"on_change_current_sample", "reload"}:
            return super().answer(ctx)
        if ctx.current_sample is not None:  # None if the sample is closed
            ctx.ops.patch_panel_data({"beside": _text_beside(ctx)})
        return None

    @question
    def beside(self, ctx: Context) -> Record:
        """Return the record of the sample, again or for another analysis."""
        if analysis := sent(ctx.params, "analysis", optional=True):
            remember(ctx, analysis)
        return beside(ctx, sent(ctx.params, "sample", optional=True))

    @question
    def compute(self, ctx: Context) -> None:
        """Open the form that makes an analysis."""
        ctx.prompt(f"{PLUGIN}/analyse")

    @question
    def everything(self, ctx: Context) -> Record:
        """Return the record with all disputes, not only those with which the queue was opened."""
        remember_queue(ctx, sent(ctx.params, "run"))
        return beside(ctx, sent(ctx.params, "sample"))


def beside(ctx: Context, sample: str | None) -> Record:
    """Return the record of a sample, for the analysis chosen last in either panel, else for the newest."""
    found = {entry.key: entry for entry in kf.list_analyses(ctx.dataset) if decidable_in(entry)}
    key = next((key for key in (recalled(ctx), *found) if key in found), None)
    record = {"analyses": list(found), "analysis": key, "sample": sample, **NOTHING}
    if key is None or sample is None:
        return record
    runs, opened = decidable_in(found[key]), recalled_run(ctx)
    run = next((run for run in runs if run.key == opened), runs[0])
    variations, is_same = findings_of(ctx.dataset, run, found[key].run("variations"))
    try:
        shown = shown_sample(ctx.dataset, run.key, sample, variations)
    except NotInRun:
        return record | {"headline": f"This sample is not part of the analysis {plain(key)}."}
    part = recalled_queue(ctx, run.key)
    disputes = [dispute_of(shown, unit, **part) for unit in shown.disputes]
    said = deciding_of(ctx.dataset, run).headline(shown.report, len(disputes))
    cut = f", the first {MOST_UNITS} below" if len(shown.report.units) > MOST_UNITS else ""
    doubt = "" if is_same or not variations else f"Findings of {plain(variations)}, with other labels or settings."
    return record | {
        "headline": said + cut,
        "queue": queue_of(ctx.dataset, run, variations, disputes, **part),
        "raters": shown.report.raters,
        "rows": list(_rows(shown, disputes)),
        "part": list(part.values()),
        "note": doubt,
    }


def _text_beside(ctx: Context) -> str:
    """Return the record of the open sample as panel data."""

    def record() -> Record:
        return beside(ctx, sent(ctx.request_params, "current_sample", optional=True))

    return as_text(answered(record, ctx.dataset))


def _rows(shown: SampleDisputes, disputes: Sequence[Record]) -> Iterator[Record]:
    """Iterate over units, with a cell for each rater, the dispute, and the ids and fields of the labels."""
    report, nothing = shown.report, DECIDABLE[shown.kind].LISTED
    of_unit = {number: one for one, unit in zip(disputes, shown.disputes, strict=True) for number in unit.units}
    for place, (unit, cells) in enumerate(zip(report.units[:MOST_UNITS], report.cells, strict=False), 1):
        dispute = of_unit.get(unit)
        words = {"no object": nothing}
        yield {
            "number": place,
            "dispute": dispute and dispute["id"],
            "question": dispute["question"] if dispute else "",
            "cells": [
                {"text": plain(cell.category) or words.get(cell.state, cell.state), "found": found_text(cell.findings)}
                for cell in cells
            ],
            "labels": [(cell.label_id, cell.field) for cell in cells if cell.field],
        }
