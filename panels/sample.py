"""Next to the open sample: its alpha, and what every rater gave each unit."""

from dataclasses import replace

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.display import alpha_text, bold
from kalos_core.figures import BAND_SOURCES, VARIATION_LABELS, band

from .common import RunPanel, add_caption, add_drawing, add_table, guarded, put_drawing, put_rows, select_labels

MOST_UNITS = 100

CROP = 320
"""Pixels of the longer side of a unit that is drawn."""

MERGED_COLUMNS = (("whole", "One annotation"), ("parts", "In parts"))

NOTHING_YET = (
    "**Agreement on this image**\n\nNothing is computed yet. Match the raters to see which of their labels mean the "
    "same object."
)

CAPTION = (
    "One row an object (unit), one column a rater: the class they gave it, the variation towards the others, and the "
    "least similarity to a partner (0 to 1). *no object*: assigned, annotated nothing there. *not assigned*: the rater "
    "was not to annotate this image. **Click a row to select its labels in the image and to see them drawn.** "
    f"Words for alpha: {BAND_SOURCES}"
)


class SamplePanel(RunPanel):
    NAME, LABEL, ICON, SURFACE = "sample", "Raters on this sample", "/assets/agreement.svg", "modal"
    HELP = "Alpha of the open sample, and what every rater gave each unit"
    KIND, OPERATOR, BUTTON = "agreement", "compute_agreement", "Match raters and compute agreement"
    NOTHING_YET = NOTHING_YET

    def load_run(self, ctx, key):
        if ctx.current_sample is None:
            return
        variations, which = _variations(ctx.dataset, kf.load_metrics(ctx.dataset, key))
        put_drawing(ctx, "crop", None)
        try:
            report = kf.sample_report(ctx.dataset, ctx.current_sample, key, variations)
        except kf.NotInRun:
            ctx.panel.state.headline = f"This sample is not part of the run **{key}**."
            ctx.panel.state.raters = []
            return
        state, units = ctx.panel.state, report.cells[:MOST_UNITS]
        state.headline, state.raters = f"{headline(report)} {which}", list(report.raters)
        state.sample = ctx.current_sample
        state.labels = [_labels(unit) for unit in units]
        state.merged_labels = [_labels([found.whole, *found.parts]) for found in report.merged]
        put_rows(ctx, "units", [_row(number, unit) for number, unit in enumerate(units, 1)])
        put_rows(ctx, "merged", [_merged_row(found) for found in report.merged])

    @guarded
    def on_change_current_sample(self, ctx):
        if ctx.current_sample is not None:
            self.reload(ctx)

    @guarded
    def on_click_unit(self, ctx):
        """Its labels are selected in the image, and drawn."""
        state, row = ctx.panel.state, ctx.params["row"]
        select_labels(ctx, state.sample, state.labels[row])
        try:
            label_id, _ = state.labels[row][0]
            drawing = kf.draw_unit(ctx.dataset, state.run, label_id, state.sample, longest_side=CROP)
            put_drawing(ctx, "crop", replace(drawing, title=f"Unit {1 + row}"))
        except InputError as error:  # labels of volumes, or gone since
            put_drawing(ctx, "crop", None)
            ctx.ops.notify(str(error), variant="warning")

    @guarded
    def on_click_merged(self, ctx):
        select_labels(ctx, ctx.panel.state.sample, ctx.panel.state.merged_labels[ctx.params["row"]])

    def render_run(self, panel, ctx):
        raters = ctx.panel.state.raters
        if not raters:
            panel.btn("again", label="New run", icon="play_arrow", on_click=self.compute, variant="contained")
            return
        add_drawing(panel, ctx, "crop")
        columns = [("unit", "#"), *((f"rater_{number}", rater) for number, rater in enumerate(raters))]
        add_table(
            panel,
            ctx,
            "units",
            "Units: click one to select its labels and to see them drawn",
            columns,
            self.on_click_unit,
        )
        add_caption(panel, CAPTION)
        if ctx.panel.state.merged_labels:
            label = "Annotated in parts: click one to select the annotation and its parts"
            add_table(panel, ctx, "merged", label, MERGED_COLUMNS, self.on_click_merged)


def _variations(dataset, run):
    """The newest variations of the same labels, similarity and threshold, else the newest; which, in a sentence."""
    runs = kf.list_runs(dataset, "variations", info=True)
    alike = [found for found in runs if _compared(found) == _compared(run)]
    if not runs:
        return None, ""
    chosen, doubt = (alike or runs)[0], "" if alike else ", of other labels or another similarity or threshold"
    return chosen.key, f"Findings of the run {bold(chosen.key)}{doubt}."


def _compared(run):
    return run.selection, run.settings["similarity"], run.settings["threshold"]


def headline(report):
    """Alpha of the image, in words too."""
    if report.alpha is None:
        return f"###### No alpha for this image\n\n{len(report.units)} units; fewer than two raters can be compared."
    shown = f", the first {MOST_UNITS} below" if len(report.units) > MOST_UNITS else ""
    if not report.units:
        return "###### alpha 1: the raters agree that there is nothing here"
    return f"###### alpha {alpha_text(report.alpha)} ({band(report.alpha)})\n\n{len(report.units)} units{shown}."


def _row(number, unit):
    return {"unit": number, **{f"rater_{index}": _text(cell) for index, cell in enumerate(unit)}}


def _labels(cells):
    """Ids and fields of the labels of these cells."""
    return [(cell.label_id, cell.field) for cell in cells if cell.label_id]


def _text(cell):
    """The value that the rater gave, below it the variation towards the others, and the least similarity.

    Raters are named where one value is several variations.
    """
    towards = {}
    for finding in cell.findings:
        towards.setdefault(VARIATION_LABELS[finding.variation], []).append(finding.rater)
    similarities = [finding.similarity for finding in cell.findings if finding.similarity is not None]
    least = [alpha_text(min(similarities))] if similarities else []
    value = cell.category if cell.state == "annotated" else cell.state
    if len(towards) > 1:
        return "\n".join([value, *(f"{name}: {', '.join(raters)}" for name, raters in towards.items()), *least])
    return f"{value}\n{' '.join([*towards, *least])}".rstrip()


def _merged_row(found):
    """Who made one annotation, and who its parts, with their classes."""
    return {
        "whole": f"{found.whole_rater}: {found.whole.category}",
        "parts": f"{found.parts_rater}: {len(found.parts)} × {found.parts[0].category}",
    }
