"""How the raters differ: by type and rater, over thresholds, in outlines, in parts, and by class."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.display import alpha_text, bold, count_and_share, count_text, percent_text, significant
from kalos_core.figures import (
    VARIATION_LABELS,
    variations_title,
)

from .common import (
    RunPanel,
    add_menu,
    add_part,
    add_table,
    changed_since,
    guarded,
    open_sample,
    put_parts,
    put_rows,
    show_view,
)

SECTIONS = ("Types", "Thresholds", "Boundaries", "Merged", "Confusions")

CONFUSIONS, MERGED = 25, 50
"""Rows of the tables."""

ALARMING = 0.05
"""Share of correct findings with the very same outline from which on copies are suspected."""

CONFUSION_COLUMNS = (("category_a", "Class"), ("category_b", "and class"), ("count", "Findings"))

RATER_COLUMNS = (("rater", "Rater"), *((name, VARIATION_LABELS[name]) for name in VARIATION_TYPES))

MERGED_COLUMNS = (("file", "Image"), ("whole", "One annotation"), ("parts", "In parts"), ("similarity", "Similarity"))

NOTHING_YET = (
    "**Variations between raters**\n\nNothing is computed yet. Every difference between two raters gets a name: wrong "
    "class, merged, missing or additional, and is tagged on the labels."
)

CAPTIONS = {
    "counts": (
        "For each two raters of an image, every annotation is in exactly one finding: *correct* (same object and "
        "class), *merged* (several annotations of one for one of the other), *wrong class*, *missing* (only the first "
        "rater annotated it) or *additional* (only the second did). **Click a bar to see only those labels.**"
    ),
    "shares": (
        "Share of each type when two annotations need at least this similarity to be the same object; dotted: from "
        "there on missing and additional outnumber all others. What turns into these on the way is imprecise outlines, "
        "what is there at the left already other objects and classes. **Click a threshold to read its counts below** "
        "(solid line); labels are tagged at this run's."
    ),
    "boundary": (
        "1 − similarity of the two annotations of each correct finding. 0: the very same outline; farthest right: what "
        "this run's threshold just allows. Near 0 everywhere means careful raters, or copied labels. **Click a bar to "
        "see only those labels.**"
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


class VariationsPanel(RunPanel):
    NAME, LABEL, ICON = "variations", "Variations", "/assets/variations.svg"
    HELP = "Differences between raters by type and rater, over thresholds, in outlines, in parts, and by class"
    KIND, OPERATOR, BUTTON = "variations", "find_variations", "Find variations between raters"
    NOTHING_YET, SECTIONS = NOTHING_YET, SECTIONS

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, key)
        state.headline = headline(run.metrics) + changed_since(ctx, key)
        state.alarm = alarm(run.metrics["identical_share"])
        state.copies = run.details.boundary.identical
        self._load_parts(ctx, run)
        self._load_merged(ctx, run)
        state.confused_title = _confused_title(run.metrics["confusions"])
        confusions = run.metrics["confusions"][:CONFUSIONS]
        state.confused = [(row["category_a"], row["category_b"]) for row in confusions]
        put_rows(ctx, "confusions", confusions)
        put_rows(ctx, "by_rater", [{"rater": name, **counts} for name, counts in run.metrics["by_rater"].items()])

    def _load_parts(self, ctx, run):
        """The figures, and the counts at the threshold that is chosen: at first the run's own."""
        state = ctx.panel.state
        shares = run.details.shares
        state.edges = run.details.boundary.edges.tolist()
        state.thresholds = [] if isinstance(shares, kf.Undefined) else [str(value) for value in shares.threshold]
        if state.thresholds:
            state.own = str(run.settings["threshold"])
            if state.threshold not in state.thresholds:
                state.threshold = state.own
            counts = dict(zip(state.thresholds, shares.counts.tolist(), strict=True))
            put_rows(ctx, "at_threshold", _threshold_rows(counts[state.own], counts[state.threshold]))
        put_parts(ctx, kf.figures_of(run, threshold=float(state.threshold) if state.thresholds else None))

    def _load_merged(self, ctx, run):
        state, found = ctx.panel.state, kf.merged_findings(ctx.dataset, run.key, MERGED)
        state.merged_title = _merged_title(run.details.split_by)
        state.merged_ids = [[row.finding, row.sample_id] for row in found]
        put_rows(ctx, "merged", [_merged_row(row) for row in found])

    # ---- the threshold ----

    @guarded
    def on_change_threshold(self, ctx):
        self._set_threshold(ctx, ctx.params["value"])

    @guarded
    def on_click_threshold(self, ctx):
        nearest = min(ctx.panel.state.thresholds, key=lambda threshold: abs(float(threshold) - ctx.params["x"]))
        self._set_threshold(ctx, nearest)

    def _set_threshold(self, ctx, threshold):
        state = ctx.panel.state
        state.threshold = threshold
        self._load_parts(ctx, kf.load_details(ctx.dataset, state.run))

    # ---- what a click leads to ----

    @guarded
    def on_click_bar(self, ctx):
        kind = VARIATION_TYPES[ctx.params["idx"]]
        view = kf.view_of_variation(ctx.dataset, ctx.panel.state.run, kind)
        show_view(ctx, view, f"images with labels in findings of type {VARIATION_LABELS[kind]}")

    @guarded
    def on_click_boundary(self, ctx):
        state, index = ctx.panel.state, ctx.params["idx"]
        low, high = state.edges[index : index + 2]
        view = kf.view_of_boundary(ctx.dataset, state.run, low, high)
        show_view(
            ctx, view, f"images with correct labels whose outlines are {significant(low)} to {significant(high)} apart"
        )

    @guarded
    def show_copies(self, ctx):
        view = kf.view_of_copies(ctx.dataset, ctx.panel.state.run)
        show_view(ctx, view, "images with labels of the very same outline")

    @guarded
    def on_click_merged(self, ctx):
        """Only the whole and its parts, in the image they are of."""
        state = ctx.panel.state
        finding, sample = state.merged_ids[ctx.params["row"]]
        ctx.ops.set_view(kf.view_of_merged(ctx.dataset, state.run, finding))
        open_sample(ctx, sample)

    @guarded
    def show_merged(self, ctx):
        view = kf.view_of_merged(ctx.dataset, ctx.panel.state.run)
        show_view(ctx, view, "images with annotations that another rater split into parts")

    @guarded
    def on_click_confusion(self, ctx):
        first, second = ctx.panel.state.confused[ctx.params["row"]]
        view = kf.view_of_confusion(ctx.dataset, ctx.panel.state.run, first, second)
        show_view(ctx, view, f"images where {first} and {second} were taken for one another")

    # ---- layout ----

    def add_filters(self, panel, ctx):
        """No filter, but what every section is to be read with."""
        if ctx.panel.state.alarm:
            panel.view("alarm", types.Warning(label=ctx.panel.state.alarm))
            self._add_copies(panel, ctx)

    def render_run(self, panel, ctx):
        sections = (self._add_types, self._add_thresholds, self._add_boundaries, self._add_merged, self._add_confusions)
        dict(zip(SECTIONS, sections, strict=True))[ctx.panel.state.section](panel, ctx)
        self.add_buttons(panel, "labels")

    def _add_types(self, panel, ctx):
        add_part(panel, ctx, "counts", CAPTIONS["counts"], self.on_click_bar)
        add_table(panel, ctx, "by_rater", "Findings as each rater sees them", RATER_COLUMNS)

    def _add_thresholds(self, panel, ctx):
        add_part(panel, ctx, "shares", CAPTIONS["shares"], self.on_click_threshold)
        state = ctx.panel.state
        if not state.thresholds:
            return
        labels = {
            value: f"threshold {float(value):g}" + " (this run)" * (value == state.own) for value in state.thresholds
        }
        add_menu(panel, "threshold", labels, self.on_change_threshold)
        columns = [("type", "Type"), ("own", f"At {float(state.own):g} (this run)")]
        if state.threshold != state.own:
            columns += [("chosen", f"At {float(state.threshold):g}"), ("change", "Change")]
        add_table(panel, ctx, "at_threshold", "Findings of each type", columns)

    def _add_boundaries(self, panel, ctx):
        add_part(panel, ctx, "boundary", CAPTIONS["boundary"], self.on_click_boundary)
        if not ctx.panel.state.alarm:  # else they stand with it
            self._add_copies(panel, ctx)

    def _add_copies(self, panel, ctx):
        copies = ctx.panel.state.copies
        if copies:
            label = f"Show the labels of {copies:,} identical pair" + "s" * (copies > 1)
            panel.btn("show_copies", label=label, icon="content_copy", on_click=self.show_copies)

    def _add_merged(self, panel, ctx):
        state = ctx.panel.state
        panel.md(bold(state.merged_title), name="merged_title")
        if not state.merged_ids:
            return
        panel.btn("show_merged", label="Show all of them in the grid", icon="grid_view", on_click=self.show_merged)
        label = "One annotation, and its parts by another rater: click a row to see just these on their image"
        add_table(panel, ctx, "merged", label, MERGED_COLUMNS, self.on_click_merged)

    def _add_confusions(self, panel, ctx):
        panel.md(bold(ctx.panel.state.confused_title), name="confused_title")
        if not ctx.panel.state.confused:
            return
        label = "Classes taken for one another: click a row to see those labels"
        add_table(panel, ctx, "confusions", label, CONFUSION_COLUMNS, self.on_click_confusion)


def _threshold_rows(own, chosen):
    """How many findings of each type there are at the run's own threshold and at the chosen one."""
    return [
        {
            "type": VARIATION_LABELS[name],
            "own": _with_share(own, index),
            "chosen": _with_share(chosen, index),
            "change": _change(chosen[index] - own[index]),
        }
        for index, name in enumerate(VARIATION_TYPES)
    ]


def _change(count):
    return f"+{count_text(count)}" if count > 0 else count_text(count)


def _with_share(counts, index):
    return count_and_share(counts[index], sum(counts))


def _merged_title(split_by):
    """`split_by`: how many annotations of others each rater split into parts."""
    total = sum(split_by.values())
    if not total:
        return "No annotation was split into parts by another rater"
    rater = max(split_by, key=split_by.__getitem__)
    shown = f"; {MERGED} of them below" if total > MERGED else ""
    findings = "finding" if total == 1 else "findings"
    return (
        f"{total:,} {findings} of one annotation split into parts, most often by {rater} ({split_by[rater]:,}){shown}"
    )


def _merged_row(row):
    return {
        "file": row.file,
        "whole": f"{row.whole_rater}: {row.whole_category}",
        "parts": f"{row.parts_rater}: {row.parts} × {row.parts_category}",
        "similarity": alpha_text(row.similarity, 3),
    }


def _confused_title(found):
    if not found:
        return "No class was taken for another"
    total, most = sum(row["count"] for row in found), found[0]
    findings = "finding" if total == 1 else "findings"
    return (
        f"{total:,} {findings} of two classes for one object, most often {most['category_a']} and "
        f"{most['category_b']} ({most['count']:,})"
    )


def headline(metrics):
    """The finding first, then what it is over."""
    text = f"###### {variations_title(metrics['counts'])}\n\n{metrics['images']:,} images, "
    return text + f"raters {', '.join(metrics['raters'])}."


def alarm(share):
    """The warning of identical outlines, None where there are few."""
    if share is None or share < ALARMING:
        return None
    return f"{percent_text(share)} of the correct pairs are identical: were labels copied?"
