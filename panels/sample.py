"""Beside the open sample: its alpha, what every rater gave each unit, and the decision about the units in dispute."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import fiftyone.operators as foo

import kalos_core.fiftyone as kf
from kalos_core._agreement import band
from kalos_core.display import alpha_text, number_of
from kalos_core.fiftyone.deciding.shown import SampleDisputes, shown_sample
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import plain

from .data.disputes import Dispute, Queue, decidable_in, dispute_of, findings_of, found_text, queue_of
from .parts.answers import View, answered, as_text, question
from .parts.deciding import Deciding
from .parts.events import PLUGIN, Context, recalled, recalled_queue, recalled_run, remember, remember_queue

MOST_UNITS = 100


@dataclass(frozen=True)
class Cell:
    """What a rater gave a unit, in words, and what that is towards the others."""

    text: str
    found: str


@dataclass(frozen=True)
class UnitRow:
    """A unit with a cell for each rater; `dispute` is the one it belongs to, `labels` are ids with their fields."""

    number: int
    dispute: str | None
    cells: tuple[Cell, ...]
    labels: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Beside:
    """All that the panel draws; without a `queue` where there is no analysis, or the sample is not part of it.

    `part` are class and rater that the queue was opened with, `note` says which findings are shown.
    """

    analyses: tuple[str, ...]
    analysis: str | None
    sample: str | None
    headline: str
    queue: Queue | None = None
    raters: tuple[str, ...] = ()
    rows: tuple[UnitRow, ...] = ()
    part: tuple[str, ...] = ()
    note: str = ""


class SamplePanel(Deciding, View):
    """The view is told what stands beside each sample that is opened."""

    COMPONENT = "KalosSample"

    @property
    def config(self) -> foo.PanelConfig:
        return foo.PanelConfig(
            name="sample",
            label="Raters on this sample",
            icon="/assets/agreement.svg",
            surfaces="modal",
            help_markdown="What every rater gave each unit of the open sample, and the decision where they differ",
        )

    def on_load(self, ctx: Context) -> None:
        ctx.panel.set_data("beside", as_text(answered(partial(beside, ctx, ctx.current_sample))))

    def on_change_current_sample(self, ctx: Context) -> None:
        """Answered without a redraw; the App sends only events that a panel has a method for."""

    def answer(self, ctx: Context) -> Any:
        if ctx.params.get("__method__") not in {"on_change_current_sample", "reload"}:
            return super().answer(ctx)
        if ctx.current_sample is not None:  # else it is closed
            text = as_text(answered(partial(beside, ctx, ctx.current_sample)))
            ctx.ops.patch_panel_data({"beside": text})
        return None

    @question
    def beside(self, ctx: Context) -> Beside:
        """Of another analysis, or read again."""
        if ctx.params.get("analysis"):
            remember(ctx, ctx.params["analysis"])
        return beside(ctx, ctx.params["sample"])

    @question
    def compute(self, ctx: Context) -> None:
        """The form that analyses, where nothing is yet."""
        ctx.prompt(f"{PLUGIN}/analyse")

    @question
    def everything(self, ctx: Context) -> Beside:
        """No longer only the disputes that the queue was opened with."""
        remember_queue(ctx, ctx.params["run"])
        return beside(ctx, ctx.params["sample"])


def beside(ctx: Context, sample: str | None) -> Beside:
    """What stands beside a sample, of the analysis chosen last, here or in the workbench, else the newest."""
    found = {entry.key: entry for entry in kf.list_analyses(ctx.dataset) if decidable_in(entry)}
    key = next((key for key in (recalled(ctx), *found) if key in found), None)
    if key is None or sample is None:
        return Beside(tuple(found), key, sample, "")
    run = _run_of(ctx, found[key])
    variations, is_same = findings_of(ctx.dataset, run, found[key].run("variations"))
    try:
        shown = shown_sample(ctx.dataset, run.key, sample, variations)
    except NotInRun:
        return Beside(tuple(found), key, sample, f"This sample is not part of the analysis {plain(key)}.")
    part = recalled_queue(ctx, run.key)
    disputes = [dispute_of(shown, unit, **part) for unit in shown.disputes]
    doubt = "" if is_same or not variations else f"Findings of {plain(variations)}, of other labels or settings."
    return Beside(
        analyses=tuple(found),
        analysis=key,
        sample=sample,
        headline=headline(shown, run.kind),
        queue=queue_of(ctx.dataset, run, variations, disputes, **part),
        raters=shown.report.raters,
        rows=tuple(_rows(shown, disputes)),
        part=tuple(part.values()),
        note=doubt,
    )


def _run_of(ctx: Context, analysis: Analysis) -> Any:
    """The run whose units are decided here: that of the queue that was opened last, else of objects, else of masks."""
    runs, opened = decidable_in(analysis), recalled_run(ctx)
    return next((run for run in runs if run.key == opened), runs[0])


def headline(shown: SampleDisputes, kind: str) -> str:
    """Alpha of the image, in words too, and of how many units or regions."""
    alpha, count = shown.report.alpha, len(shown.report.units)
    if kind == "pixels":
        shared = "" if alpha is None else f"Shared (F1) {alpha_text(alpha)}, "
        return shared + number_of(len(shown.disputes), "region") + " in dispute"
    if alpha is None:
        return f"No alpha for this image: fewer than two raters can be compared. {number_of(count, 'unit')}."
    if not count:
        return "α 1: the raters agree that there is nothing here."
    cut = f", the first {MOST_UNITS} below" if count > MOST_UNITS else ""
    return f"α {alpha_text(alpha)} ({band(alpha)}), {number_of(count, 'unit')}{cut}"


def _rows(shown: SampleDisputes, disputes: list[Dispute]) -> Iterator[UnitRow]:
    report = shown.report
    of_unit = {number: one.id for one, unit in zip(disputes, shown.disputes, strict=True) for number in unit.units}
    for place, (unit, cells) in enumerate(zip(report.units[:MOST_UNITS], report.cells, strict=False), 1):
        own = (Cell(plain(cell.category) or cell.state, found_text(cell.findings)) for cell in cells)
        labels = tuple((cell.label_id, cell.field) for cell in cells if cell.label_id)
        yield UnitRow(place, of_unit.get(unit), tuple(own), labels)
