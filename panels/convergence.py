"""How far any model can get, given how the raters differ: the interval, models against it, and what it rests on."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError, read_models
from kalos_core.convergence import FEW_IMAGES
from kalos_core.display import alpha_text, points_text

from .common import (
    RunPanel,
    add_menu,
    add_part,
    add_table,
    changed_since,
    guarded,
    put_parts,
    put_rows,
    show_view,
    take_title,
)

SECTIONS = ("Interval", "Subsets", "Raters", "Checks")

MOST_ROWS = 100
"""Rows of the table of tags."""

ALONE, ALL = "this data set alone", "all of them"
"""Entries of the menu of data sets."""

PART_COLUMNS = (
    ("name", "Images"),
    ("images", "Number"),
    ("whole", "All at once"),
    ("size", "In a subset"),
    ("mean", "Mean"),
    ("ends", "95 %"),
)

SUMMARY_COLUMNS = (
    ("figure", "Metric"),
    ("whole", "All images"),
    ("mean", "Mean"),
    ("std", "Std"),
    ("min", "Min"),
    ("max", "Max"),
    ("ends", "95 % interval"),
)

CHECK_COLUMNS = (("verdict", ""), ("criterion", "Can the data carry this?"), ("finding", "Finding"))

VERDICTS = {"ok": "✓", "warn": "⚠ warning", "cannot know": "? cannot know"}

NOTHING_YET = (
    "**Label convergence**\n\nNothing is computed yet. Raters who differ put a ceiling on any model, whose mAP is "
    "measured against labels that others would have placed differently. Label convergence is the mAP that raters reach "
    "against one another, over many subsets of the images; a model inside that interval cannot be told from a rater."
)

CAPTIONS = {
    "bars": (
        "Thick line: all images at once, in mAP from 0 to 100, the number to quote; bars: mean ∓ 1.96 standard "
        "deviations over the subsets; thin tick: their mean; diamonds: models. "
        "Intervals belong to subsets of their size: compare the means of tags, not the widths. **Click the bar of a "
        "tag to see its images.**"
    ),
    "sizes": (
        "Mean over subsets of that many images with their 95 % interval; diamond: all images, the number to quote. mAP "
        "depends on how many images it is computed on: compare data sets at one size."
    ),
    "scatter": (
        "A point for each subset and threshold: modified mAP over mean α (S=shm, ψ_neg). The published line is that of "
        "LVIS, COCO and Open Images; for more than two raters it turns α of all of them into mAP, because modified mAP "
        "knows two sides only."
    ),
    "matrix": (
        "Modified mAP of all images with the rater of the row as ground truth and the rater of the column as "
        "detections, 0 to 100, mean over the thresholds and over the classes of the ground truth."
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""

PAIR = {"gridTemplateColumns": "repeat(2, minmax(0, 1fr))", "justifyContent": "stretch", "marginY": "-24px"}
"""Side by side, without the room that the App leaves above and below a slider."""

NARROWER = {"width": "calc(100% - 24px)"}
"""Of a slider: its thumb would reach beyond the right end."""

FIELD = {"gridTemplateColumns": "minmax(0, 1fr) auto", "justifyContent": "stretch", "alignItems": "end"}


class ConvergencePanel(RunPanel):
    NAME, LABEL, ICON = "convergence", "Convergence", "/assets/convergence.svg"
    HELP = "The mAP that disagreement lets any model reach, and where models stand"
    KIND, OPERATOR, BUTTON = "convergence", "estimate_convergence", "Estimate label convergence"
    NOTHING_YET, SECTIONS = NOTHING_YET, SECTIONS

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_metrics(ctx.dataset, key)
        if state.shown != key:
            thresholds = run.settings["thresholds"]
            state.shown, state.thresholds = key, thresholds
            state.limits = {"least": min(thresholds), "greatest": max(thresholds)}
            state.more, state.placed, state.wrong, state.pool = {"typed": ""}, "", "", ALONE
        state.changed = changed_since(ctx, key)
        others = kf.poolable_runs(ctx.dataset) if len(run.metrics["raters"]) == 2 else {}
        state.poolable = [[name, other] for name, other in others.items()]
        self._load_thresholds(ctx)

    def _load_thresholds(self, ctx):
        """All that depends on the thresholds and the models, from the replicates of the run."""
        state = ctx.panel.state
        found = kf.convergence_metrics(ctx.dataset, state.run, **state.limits, models=state.placed)
        parts = kf.figures_of(kf.load_metrics(ctx.dataset, state.run), found=found, pooled=self._pooled(ctx))
        state.headline = headline(take_title(parts, "bars"), found) + state.changed
        state.models = _models(found, state)
        state.tags = [part.name for part in found.largest()]
        put_parts(ctx, parts)
        state.has_tags = len(found.parts) > 1
        put_rows(ctx, "parts", [_part_row(part) for part in found.parts[: 1 + MOST_ROWS]])
        put_rows(ctx, "summary", [_summary_row(row) for row in found.whole.summary().to_dict("records")])
        put_rows(ctx, "checks", [{**vars(line), "verdict": VERDICTS[line.verdict]} for line in found.checklist])

    def _pooled(self, ctx):
        """What the scatter shows beside this data set; None for nothing."""
        state = ctx.panel.state
        others = {name: key for name, key in state.poolable if state.pool in (name, ALL)}
        return kf.pooled_replicates(ctx.dataset, state.run, others, **state.limits) if others else None

    # ---- menus, sliders and clicks ----

    @guarded
    def on_change_section(self, ctx):
        ctx.panel.state.section = ctx.params["value"]

    @guarded
    def on_change_least(self, ctx):
        least = _nearest(ctx.panel.state.thresholds, ctx.params["value"])
        self._narrow(ctx, least, max(least, ctx.panel.state.limits["greatest"]))

    @guarded
    def on_change_greatest(self, ctx):
        greatest = _nearest(ctx.panel.state.thresholds, ctx.params["value"])
        self._narrow(ctx, min(greatest, ctx.panel.state.limits["least"]), greatest)

    def _narrow(self, ctx, least, greatest):
        ctx.panel.state.limits = {"least": least, "greatest": greatest}
        self._load_thresholds(ctx)

    @guarded
    def on_change_pool(self, ctx):
        ctx.panel.state.pool = ctx.params["value"]
        self._load_thresholds(ctx)

    @guarded
    def place(self, ctx):
        """Models that are typed, next to those of the run."""
        state = ctx.panel.state
        typed = state.more["typed"]
        try:
            read_models(typed)
        except InputError as error:
            state.wrong = str(error)
            return
        state.placed, state.wrong = typed, ""
        self._load_thresholds(ctx)

    @guarded
    def on_click_bar(self, ctx):
        index = round(ctx.params["y"])
        if not index:  # all images
            self.show_all(ctx)
            return
        tag = ctx.panel.state.tags[index]
        show_view(ctx, kf.view_of_tag(ctx.dataset, ctx.panel.state.run, tag), f"images with the tag {tag}")

    # ---- layout ----

    def render_run(self, panel, ctx):
        state = ctx.panel.state
        if state.section == "Interval":
            add_part(panel, ctx, "bars", CAPTIONS["bars"], self.on_click_bar)
            self._add_models(panel, state)
            if state.has_tags:
                add_table(panel, ctx, "parts", "All images and each tag", PART_COLUMNS)
        elif state.section == "Subsets":
            add_part(panel, ctx, "sizes", CAPTIONS["sizes"])
            add_part(panel, ctx, "scatter", CAPTIONS["scatter"])
            if state.poolable:
                names = [name for name, _ in state.poolable]
                entries = [ALONE, *names, *([ALL] if len(names) > 1 else [])]
                add_menu(panel, "pool", entries, self.on_change_pool, label="One line over several data sets")
            add_table(panel, ctx, "summary", "Over the subsets; ▸ marks label convergence", SUMMARY_COLUMNS)
        elif state.section == "Raters":
            add_part(panel, ctx, "matrix", CAPTIONS["matrix"])
        else:
            add_table(panel, ctx, "checks", "Criteria of the paper's Appendix A", CHECK_COLUMNS)
        self.add_buttons(panel, "images")

    def add_filters(self, panel, ctx):
        """Two sliders; none where there is one threshold."""
        state = ctx.panel.state
        if len(state.thresholds) < 2:
            return
        low, high = min(state.thresholds), max(state.thresholds)
        row = panel.h_stack("limits", gap=2, componentsProps={"grid": {"sx": PAIR}})
        for name, label, on_change in (
            ("least", "Least threshold", self.on_change_least),
            ("greatest", "Greatest threshold", self.on_change_greatest),
        ):
            slider = types.SliderView(
                label=f"{label}: {alpha_text(state.limits[name])}",
                label_position="top",
                value_label_display="off",  # it would cover the label, which has the value
                min=low,
                max=high,
                view_multiple_of=(high - low) / (len(state.thresholds) - 1),
                value_precision=2,
                componentsProps={"slider": {"sx": NARROWER}},
            )
            row.float(name, view=slider, on_change=on_change)

    def _add_models(self, panel, state):
        """What the mAP of each model means, and a field for more of them."""
        if state.models:
            panel.md(state.models, name="models")
        row = panel.h_stack("more", gap=2, componentsProps={"grid": {"sx": FIELD}})
        row.str("typed", label="Place models: names with their mAP, such as YOLO 0.412, DETR 0.437")
        row.btn("place", label="Place", icon="add_location", on_click=self.place, variant="contained")
        if state.wrong:
            panel.view("wrong", types.Error(label="These models could not be placed", description=state.wrong))


def headline(title, found):
    """All images first, then the subsets, then how it came about and what it is over."""
    whole = found.whole
    low, high = whole.thresholds[0], whole.thresholds[-1]
    text = (
        f"###### {title}\n\n{len(whole.map):,} subsets of {whole.images:,} images, {whole.raters} raters, "
        f"thresholds {alpha_text(low)} to {alpha_text(high)}; {_route(whole)}. "
        "It depends on how many images it is computed on: **quote the value of all images**; the interval belongs to "
        "subsets of its size."
    )
    if whole.images_per_replicate < FEW_IMAGES:
        text += (
            f" **Subsets of fewer than {FEW_IMAGES} images** have wider intervals: compare means, not widths, with "
            "those of larger ones."
        )
    return text


def _route(whole):
    """How the interval came about, in short; the summary of the run says it in full."""
    if whole.is_measured:
        return whole.route
    return f"inferred from α of all raters with the {list(whole.lines)[-1]} line (more than two raters have no one mAP)"


def _models(found, state):
    """A sentence for each model."""
    lines = [f"- **{model.name}**: {model.meaning}{_by_rater(model)}" for model in found.placed]
    if len(found.whole.thresholds) < len(state.thresholds) and found.models:
        lines.append("- Typed values stay as they are: they belong to the thresholds they were measured at.")
    return "\n".join(lines)


def _by_rater(model):
    values = [f"{name} {points_text(value)}" for name, value in model.by_rater.items()]
    return f" With each rater as ground truth: {', '.join(values)}." if values else ""


def _part_row(part):
    found = part.replicates
    row = {"name": part.name, "images": f"{part.images:,}"}
    if found is None:
        return row | {"size": "", "whole": points_text(None), "mean": points_text(None), "ends": part.reason}
    spread = found.convergence
    return row | {
        "size": f"{found.images_per_replicate:,}",
        "whole": points_text(found.whole_convergence),
        "mean": points_text(spread.mean),
        "ends": _ends(*spread.interval),
    }


def _summary_row(row):
    shown = alpha_text if row["figure"] == "alpha" else points_text
    name = f"▸ {row['figure']}" if row["is_convergence"] else row["figure"]
    numbers = {key: shown(row[key]) for key in ("whole", "mean", "std", "min", "max")}
    return {"figure": name, **numbers, "ends": f"{shown(row['low'])} to {shown(row['high'])}"}


def _ends(low, high):
    return f"{points_text(low)} to {points_text(high)}"


def _nearest(thresholds, value):
    return min(thresholds, key=lambda threshold: abs(threshold - value))
