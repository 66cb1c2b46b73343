"""Ceiling: how far any model can get, given how the raters differ; models against it, and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.convergence import ConvergenceStudy, PlacedModel, TagConvergence, read_models
from kalos_core.convergence.spread import FEWEST_IMAGES
from kalos_core.display import alpha_text, count_text, ends_text, number_of, points_text
from kalos_core.fiftyone.kinds.convergence.kind import poolable_runs, pooled_replicates, view_of_tag
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import bold, plain, shown

from ..parts.events import Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_menu, add_table
from .base import Section

INTERVAL, SUBSETS, RATERS, CHECKS = "Interval", "Subsets", "Raters", "Checks"

FIGURES = {INTERVAL: ("bars",), SUBSETS: ("sizes", "scatter"), RATERS: ("matrix",), CHECKS: ()}
"""Page -> its figures."""

MOST_ROWS = 25
"""Rows of the table of tags."""

ALONE, ALL_SETS = "this data set alone", "all of them"
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
    "**The ceiling for any model**\n\nNothing is computed yet. Raters who differ put a ceiling on any model, whose mAP "
    "is measured against labels that others would have placed differently. Label convergence is the mAP that raters "
    "reach against one another; a model inside its interval cannot be told from a rater."
)

PAIRS = " Each pair below is measured by itself, the ceiling is inferred from α of all: they need not be the same."

PAIR = {"gridTemplateColumns": "repeat(2, minmax(0, 1fr))", "justifyContent": "stretch", "marginY": "-24px"}
"""Side by side, without the room that the App leaves above and below a slider."""

NARROWER = {"width": "calc(100% - 24px)"}
"""Of a slider: its thumb would reach beyond the right end."""

FIELD = {"gridTemplateColumns": "minmax(0, 1fr) auto", "justifyContent": "stretch", "alignItems": "end"}


class CeilingSection(Section):
    NAME, KIND, NOTHING_YET, PAGES = "Ceiling", "convergence", NOTHING_YET, tuple(FIGURES)

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state, run = ctx.panel.state, analysis.runs["convergence"]
        if state.ceiling_of != run.key:
            thresholds = run.settings["thresholds"]
            state.ceiling_of, state.levels = run.key, thresholds
            state.limits = {"least": min(thresholds), "greatest": max(thresholds)}
            state.more, state.placed, state.wrong, state.pool = {"typed": ""}, "", "", ALONE
        state.run, state.levels = run.key, run.settings["thresholds"]
        others = poolable_runs(ctx.dataset) if len(run.metrics["raters"]) == 2 else {}
        state.poolable = [[name, other] for name, other in others.items()]
        self._load_levels(ctx)

    def _load_levels(self, ctx: Context) -> None:
        """All that depends on the thresholds and the models, from the replicates of the run."""
        state, page = ctx.panel.state, self.page(ctx)
        found = kf.convergence_metrics(ctx.dataset, state.run, **state.limits, models=state.placed)
        pooled = self._pooled(ctx) if page == SUBSETS else None
        parts = kf.figures_of(kf.load_metrics(ctx.dataset, state.run), found=found, pooled=pooled)
        bars = parts["bars"]
        state.found, state.basis, state.caveat = _headline(found), _basis(bars.title, found), _caveat(found)
        if page == RATERS and not found.whole.is_measured:
            state.basis += PAIRS
        said_above = {"bars": replace(bars, title="")}
        put_parts(ctx, {name: said_above.get(name) or parts[name] for name in FIGURES[page]})
        state.models = _models(found, state.levels)
        state.tags = [part.name for part in found.largest()]
        state.part_names = [part.name for part in found.parts]
        ctx.panel.set_data("parts", [_part_row(part) for part in found.parts[: 1 + MOST_ROWS]])
        ctx.panel.set_data("summary", [_summary_row(row) for row in found.whole.summary().to_dict("records")])
        ctx.panel.set_data("checks", [{**vars(line), "verdict": VERDICTS[line.verdict]} for line in found.checklist])

    def _pooled(self, ctx: Context) -> Any:
        """What the scatter shows beside this data set; None for nothing."""
        state = ctx.panel.state
        others = {name: key for name, key in state.poolable if state.pool in (name, ALL_SETS)}
        return pooled_replicates(ctx.dataset, state.run, others, **state.limits) if others else None

    # ---- menus, sliders and clicks ----

    @guarded
    def on_change_least(self, ctx: Context) -> None:
        least = _nearest(ctx.panel.state.levels, ctx.params["value"])
        self._narrow(ctx, least, max(least, ctx.panel.state.limits["greatest"]))

    @guarded
    def on_change_greatest(self, ctx: Context) -> None:
        greatest = _nearest(ctx.panel.state.levels, ctx.params["value"])
        self._narrow(ctx, min(greatest, ctx.panel.state.limits["least"]), greatest)

    def _narrow(self, ctx: Context, least: float, greatest: float) -> None:
        ctx.panel.state.limits = {"least": least, "greatest": greatest}
        self._load_levels(ctx)

    @guarded
    def on_change_pool(self, ctx: Context) -> None:
        ctx.panel.state.pool = ctx.params["value"]
        self._load_levels(ctx)

    @guarded
    def place(self, ctx: Context) -> None:
        """Models that are typed, next to those of the run."""
        state = ctx.panel.state
        typed = state.more["typed"]
        try:
            read_models(typed)
        except InputError as error:
            state.wrong = str(error)
            return
        state.placed, state.wrong = typed, ""
        self._load_levels(ctx)

    @guarded
    def click_bar(self, ctx: Context) -> None:
        self._show_images(ctx, ctx.panel.state.tags, round(ctx.params["y"]))

    @guarded
    def click_part(self, ctx: Context) -> None:
        self._show_images(ctx, ctx.panel.state.part_names, ctx.params["row"])

    def _show_images(self, ctx: Context, tags: Sequence[str], index: int) -> None:
        """Those of a tag; the first of all are all images."""
        key = ctx.panel.state.run
        view = view_of_tag(ctx.dataset, key, tags[index]) if index else kf.load_run_view(ctx.dataset, key)
        self.show(ctx, view, f"images with the tag {plain(tags[index])}" if index else "images of this analysis")

    # ---- layout ----

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, page = ctx.panel.state, self.page(ctx)
        self.add_not_in_lens(panel, ctx)
        panel.md(bold(state.found), name="found_text")
        panel.md(state.caveat if page == CHECKS else state.basis, name="basis_text")
        if page != CHECKS and len(state.levels) > 1:
            self._add_sliders(panel, ctx)
        click, to = ("Click the bar of a tag to see its images.", self.to(self.click_bar))
        for name in FIGURES[page]:
            add_part(panel, ctx, name, *((click, to) if name == "bars" else ()))
        if page == INTERVAL:
            self._add_models(panel, ctx)
            if len(state.part_names) > 1:
                label = "All images and each tag: click a row to see its images"
                add_table(panel, "parts", label, PART_COLUMNS, self.to(self.click_part))
        elif page == SUBSETS:
            if state.poolable:
                names = [name for name, _ in state.poolable]
                entries = [ALONE, *names, *([ALL_SETS] if len(names) > 1 else [])]
                label = "One line over several data sets"
                add_menu(panel, "pool", entries, self.to(self.on_change_pool), label=label)
            add_table(panel, "summary", "Over the subsets; ▸ marks label convergence", SUMMARY_COLUMNS)
        elif page == CHECKS:
            add_table(panel, "checks", "Criteria of the paper's Appendix A", CHECK_COLUMNS)

    def _add_sliders(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        low, high = min(state.levels), max(state.levels)
        row = panel.h_stack("limits", gap=2, componentsProps={"grid": {"sx": PAIR}})
        for name, label, on_change in (
            ("least", "Least threshold", self.to(self.on_change_least)),
            ("greatest", "Greatest threshold", self.to(self.on_change_greatest)),
        ):
            slider = types.SliderView(
                label=f"{label}: {alpha_text(state.limits[name])}",
                label_position="top",
                value_label_display="off",  # it would cover the label, which has the value
                min=low,
                max=high,
                view_multiple_of=(high - low) / (len(state.levels) - 1),
                value_precision=2,
                componentsProps={"slider": {"sx": NARROWER}},
            )
            row.float(name, view=slider, on_change=on_change)

    def _add_models(self, panel: types.Object, ctx: Context) -> None:
        """What the mAP of each model means, and a field for more of them."""
        state = ctx.panel.state
        if state.models:
            panel.md(state.models, name="models_text")
        row = panel.h_stack("more", gap=2, componentsProps={"grid": {"sx": FIELD}})
        row.str("typed", label="Place models: names with their mAP, such as YOLO 0.412, DETR 0.437")
        row.btn("place", label="Place", icon="add_location", on_click=self.to(self.place), variant="contained")
        if state.wrong:
            panel.view("wrong", types.Error(label="These models could not be placed", description=state.wrong))


def _headline(found: ConvergenceStudy) -> str:
    """The ceiling in words."""
    whole = found.whole.whole_convergence
    if np.isnan(whole):
        return "How far a model can get on these labels is undefined"
    return f"No model can be expected to pass {points_text(whole, 0)} mAP on these labels"


def _basis(title: str, found: ConvergenceStudy) -> str:
    """The interval, how it came about and what it is over."""
    whole = found.whole
    low, high = whole.thresholds[0], whole.thresholds[-1]
    return (
        f"{title}. {number_of(len(whole.map), 'subset')} of {number_of(whole.images, 'image')}, "
        f"{number_of(whole.raters, 'rater')}, "
        f"thresholds {alpha_text(low)} to {alpha_text(high)}; {_route(found)}."
    )


def _caveat(found: ConvergenceStudy) -> str:
    """What the interval is not."""
    if np.isnan(found.whole.interval).any():
        return f"There is no interval of fewer than {FEWEST_IMAGES} images."
    return "The interval is meant for data sets as large as this one and for larger ones, which reach somewhat less."


def _route(found: ConvergenceStudy) -> str:
    """How the interval came about, in short; the summary of the run says it in full."""
    whole = found.whole
    if whole.is_measured:
        return whole.route
    return f"inferred from α of all raters with the {list(whole.lines)[-1]} line (more than two raters have no one mAP)"


def _models(found: ConvergenceStudy, levels: Sequence[float]) -> str:
    """A sentence for each model."""
    lines = [f"- **{shown(model.name)}**: {model.meaning}{_by_rater(model)}" for model in found.placed]
    if len(found.whole.thresholds) < len(levels) and found.models:
        lines.append("- Typed values stay as they are: they belong to the thresholds they were measured at.")
    return "\n".join(lines)


def _by_rater(model: PlacedModel) -> str:
    values = [f"{shown(name)} {points_text(value)}" for name, value in model.by_rater.items()]
    return f" With each rater as ground truth: {', '.join(values)}." if values else ""


def _part_row(part: TagConvergence) -> dict[str, str]:
    found = part.replicates
    row = {"name": plain(part.name), "images": count_text(part.images)}
    if found is None:
        return row | {"size": "", "whole": points_text(None), "mean": points_text(None), "ends": part.reason}
    return row | {
        "size": count_text(found.images_per_replicate),
        "whole": points_text(found.whole_convergence),
        "mean": points_text(found.convergence.mean),
        "ends": ends_text(found.interval, points_text),
    }


def _summary_row(row: Mapping[Any, Any]) -> dict[str, str]:
    text = alpha_text if row["figure"] == "alpha" else points_text
    name = f"▸ {row['figure']}" if row["is_convergence"] else row["figure"]
    numbers = {key: text(row[key]) for key in ("whole", "mean", "std", "min", "max")}
    return {"figure": name, **numbers, "ends": ends_text((row["low"], row["high"]), text)}


def _nearest(thresholds: Sequence[float], value: float) -> float:
    return min(thresholds, key=lambda threshold: abs(threshold - value))
