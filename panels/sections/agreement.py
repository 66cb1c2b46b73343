"""Images and classes: where the raters disagree."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, number_of, with_interval
from kalos_core.errors import Undefined
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_alpha, view_of_class, view_worst_first
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.figures.agreement import alpha_bins
from kalos_core.figures.classes import hardest_classes
from kalos_core.text import plain

from ..parts.events import Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_row, add_table
from .base import Section

WORST = 25

COLUMNS = (("rank", "#"), ("file", "Image"), ("alpha", "α"), ("labels", "Labels"))

NOTHING_YET = (
    "**Agreement of raters**\n\nNothing is computed yet. Matching finds which labels of different raters mean the "
    "same object; alpha then says how far they agree about the objects' existence and class, corrected for chance."
)


class ImagesSection(Section):
    """The distribution of alpha, and the images that the raters agree on least."""

    NAME, KIND, NOTHING_YET = "Images", "agreement", NOTHING_YET
    FOLLOWS = ("category", "rater", "tag", "view")

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, analysis.runs["agreement"].key)
        lens = self.lens(ctx)
        found = narrowed_metrics(ctx.dataset, run.key, lens)
        state.run = run.key
        alpha = with_interval(found.alpha, found.alpha_interval, why=found.why_no_interval)
        state.found = f"α {alpha} over {number_of(found.images, 'image')}, {number_of(found.units, 'unit')}"
        parts = kf.figures_of(run, part=found)
        put_parts(ctx, {"histogram": parts["histogram"]})
        state.edges = alpha_bins(found.image_alpha)[0].tolist()
        rows = kf.worst_images(ctx.dataset, run.key, WORST, lens=lens)
        state.worst_ids = [row.sample_id for row in rows]
        ctx.panel.set_data(
            "worst",
            [
                {"rank": rank, "file": plain(row.file), "alpha": alpha_text(row.alpha, 3), "labels": row.labels}
                for rank, row in enumerate(rows, 1)
            ],
        )

    def render(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        panel.md(f"**{state.found}**", name="found_text")
        add_part(panel, ctx, "histogram", "Click a bar to see its images.", self.to(self.click_bar))
        if state.worst_ids:
            row = add_row(panel, "worst_row")
            label = f"{len(state.worst_ids):,} worst in the grid"
            row.btn("show_worst", label=label, icon="grid_view", on_click=self.to(self.show_worst))
            add_table(panel, "worst", "Worst images: click one to open it", COLUMNS, self.to(self.click_worst))

    @guarded
    def click_bar(self, ctx: Context) -> None:
        low, high = ctx.panel.state.edges[ctx.params["idx"] : ctx.params["idx"] + 2]
        lens = self.lens(ctx)
        view = view_of_alpha(ctx.dataset, ctx.panel.state.run, low, high, category=lens.category, rater=lens.rater)
        self.show(ctx, view, f"images with α from {low:.1f} to {high:.1f}")

    @guarded
    def click_worst(self, ctx: Context) -> None:
        open_sample(ctx, ctx.panel.state.worst_ids[ctx.params["row"]])

    @guarded
    def show_worst(self, ctx: Context) -> None:
        lens = self.lens(ctx)
        view = view_worst_first(ctx.dataset, ctx.panel.state.run, WORST, category=lens.category, rater=lens.rater)
        self.show(ctx, view, f"images, {by_alpha(lens.category, lens.rater)}")


class ClassesSection(Section):
    """Which classes the raters agree on least; the one that the lens shows stands out."""

    NAME, KIND, NOTHING_YET = "Classes", "agreement", NOTHING_YET
    FOLLOWS = ("rater", "tag", "view")

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, analysis.runs["agreement"].key)
        found = narrowed_metrics(ctx.dataset, run.key, self.lens(ctx))
        state.run, classes = run.key, found.class_difficulty
        put_parts(ctx, {"classes": kf.figures_of(run, part=found)["classes"]})
        state.shown_classes = []
        if not isinstance(classes, Undefined):
            order = hardest_classes(classes.alpha, classes.images.tolist())
            state.shown_classes = classes.category[order].tolist()

    def render(self, panel: types.Object, ctx: Context) -> None:
        click = "Click a class to see its images, worst first."
        add_part(panel, ctx, "classes", click, self.to(self.click_class))

    @guarded
    def click_class(self, ctx: Context) -> None:
        """Its images, and it alone in the other sections."""
        name = ctx.panel.state.shown_classes[ctx.params["idx"]]
        self.look_at(ctx, "category", name)
        view = view_of_class(ctx.dataset, ctx.panel.state.run, name)
        self.show(ctx, view, f"images with {plain(name)}, {by_alpha(name)}")


def by_alpha(*of: str | None) -> str:
    """By which alpha images are sorted: that of a class or a rater, where they show that of all their labels."""
    names = " and ".join(plain(name) for name in of if name is not None)
    return f"worst first by α of {names} (on an image stands α of all labels)" if names else "the lowest α first"
