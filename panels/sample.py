"""Beside the open sample: its alpha, and what every rater gave each unit."""

import kalos_core.fiftyone as kf
from kalos_core.figures import VARIATION_LABELS, band, significant

from .common import (
    RunPanel,
    add_caption,
    add_run_menu,
    add_table,
    guarded,
)

MOST_UNITS = 100

MERGED_COLUMNS = (("whole", "One mark"), ("parts", "In parts"))

NOTHING_YET = (
    "**Agreement on this image**\n\nNothing is computed yet. Match the raters to see which of their labels mean the "
    "same object."
)

CAPTION = (
    "One row an object (unit), one column a rater: the class they gave it, the variation towards the others, and the "
    "least similarity to a partner (0 to 1). *no object*: asked, drew nothing there. *not assigned*: not asked. "
    "**Choose a row to select its labels in the picture.**"
)


class SamplePanel(RunPanel):
    NAME, LABEL, ICON, SURFACE = "sample", "Raters on this sample", "/assets/agreement.svg", "modal"
    HELP = "Alpha of the open sample, and what every rater gave each unit"
    KIND, OPERATOR, BUTTON = "agreement", "compute_agreement", "Match raters and compute agreement"
    NOTHING_YET = NOTHING_YET

    def load_run(self, ctx, key):
        if ctx.current_sample is None:
            return
        variations = next(iter(kf.list_runs(ctx.dataset, "variations")), None)
        try:
            report = kf.sample_report(ctx.dataset, ctx.current_sample, key, variations)
        except kf.NotInRun:
            ctx.panel.state.headline = f"This sample is not part of the run **{key}**."
            ctx.panel.state.raters = []
            return
        ctx.panel.state.headline = headline(report)
        ctx.panel.state.raters = list(report.raters)
        ctx.panel.state.labels = [
            [{"label_id": cell.label_id, "field": cell.field} for cell in unit if cell.label_id]
            for unit in report.cells[:MOST_UNITS]
        ]
        ctx.panel.state.sample = ctx.current_sample
        ctx.panel.set_data("units", [_row(number, unit) for number, unit in enumerate(report.cells[:MOST_UNITS], 1)])
        ctx.panel.state.merged = [
            [{"label_id": cell.label_id, "field": cell.field} for cell in (found.whole, *found.parts)]
            for found in report.merged
        ]
        ctx.panel.set_data("merged", [_merged_row(found) for found in report.merged])

    @guarded
    def on_change_current_sample(self, ctx):
        if ctx.current_sample is not None:
            self.reload(ctx)

    @guarded
    def on_click_unit(self, ctx):
        self._select(ctx, ctx.panel.state.labels[ctx.params["row"]])

    @guarded
    def on_click_merged(self, ctx):
        self._select(ctx, ctx.panel.state.merged[ctx.params["row"]])

    def _select(self, ctx, labels):
        ctx.ops.set_selected_labels([{"sample_id": ctx.panel.state.sample, **label} for label in labels])

    def render_run(self, panel, ctx):
        panel.md(ctx.panel.state.headline or "", name="headline")
        add_run_menu(panel, ctx, self.on_change_run)
        raters = ctx.panel.state.raters
        if not raters:
            panel.btn("again", label="New run", icon="play_arrow", on_click=self.compute, variant="contained")
            return
        columns = [("unit", "#"), *((f"rater_{number}", rater) for number, rater in enumerate(raters))]
        add_table(panel, "units", "Units: choose one to select its labels", columns, self.on_click_unit)
        add_caption(panel, CAPTION)
        if ctx.panel.state.merged:
            label = "Drawn in parts: choose one to select the mark and its parts"
            add_table(panel, "merged", label, MERGED_COLUMNS, self.on_click_merged)


def headline(report):
    """Alpha of the image, in words too."""
    if report.alpha is None:
        return f"###### No alpha for this image\n\n{len(report.units)} units; fewer than two raters can be compared."
    shown = f", the first {MOST_UNITS} below" if len(report.units) > MOST_UNITS else ""
    if not report.units:
        return "###### alpha 1: the raters agree that there is nothing here"
    return f"###### alpha {significant(report.alpha)} ({band(report.alpha)})\n\n{len(report.units)} units{shown}."


def _row(number, unit):
    return {"unit": number, **{f"rater_{place}": _text(cell) for place, cell in enumerate(unit)}}


def _text(cell):
    """What the rater gave, and below it what that is towards the others."""
    first = cell.category if cell.state == "drawn" else cell.state
    second = [VARIATION_LABELS[cell.variation]] if cell.variation else []
    if cell.similarity is not None:
        second.append(f"{cell.similarity:.2f}")
    return "\n".join([first, *([" ".join(second)] if second else [])])


def _merged_row(found):
    """Who drew one mark, and who its parts, with their classes."""
    return {
        "whole": f"{found.whole_rater}: {found.whole.category}",
        "parts": f"{found.parts_rater}: {len(found.parts)} × {found.parts[0].category}",
    }
