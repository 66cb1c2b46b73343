"""How far the raters agree: mean alpha, its spread over images, the worst images."""

import fiftyone.operators as foo

import kalos_core.fiftyone as kf
from kalos_core.figures import agreement_title, alpha_bins, alpha_histogram, significant, with_interval

from .common import (
    RunPanel,
    add_caption,
    add_run_menu,
    add_table,
    changed_since,
    guarded,
    to_data,
)

WORST = 25

COLUMNS = (("rank", "#"), ("file", "Image"), ("alpha", "α"), ("labels", "Labels"))

NOTHING_YET = (
    "**Agreement of raters**\n\nNothing is computed yet. Matching finds which labels of different raters mean the "
    "same object; alpha then says how far they agree about the objects' existence and class, corrected for chance."
)

CAPTION = (
    "α = 1 − observed / expected disagreement (Krippendorff), mean over images; at most 1. 1: the same objects and "
    "classes. 0: no better than chance. Below 0: systematic disagreement. **Click a bar to see its images.**"
)


class AgreementPanel(RunPanel):
    KIND, OPERATOR, BUTTON = "agreement", "compute_agreement", "Match raters and compute agreement"
    NOTHING_YET = NOTHING_YET

    @property
    def config(self):
        return foo.PanelConfig(
            name="agreement",
            label="Agreement",
            icon="/assets/agreement.svg",
            surfaces="grid",
            help_markdown="Mean alpha of the raters, per-image alpha, and the worst images",
        )

    def load_run(self, ctx, key):
        _, alphas = kf.image_alphas(ctx.dataset, key)
        traces, layout = to_data(alpha_histogram(alphas))
        ctx.panel.state.headline = headline(kf.load_figures(ctx.dataset, key).figures) + changed_since(ctx, key)
        ctx.panel.state.layout = layout
        ctx.panel.state.edges = alpha_bins(alphas)[0].tolist()
        ctx.panel.set_data("histogram", traces)
        self._load_worst(ctx, key)

    def _load_worst(self, ctx, key):
        rows = kf.worst_images(ctx.dataset, key, WORST)
        ctx.panel.state.worst = [row.sample_id for row in rows]
        ctx.panel.set_data(
            "worst",
            [
                {"rank": rank, "file": row.file, "alpha": significant(row.alpha), "labels": row.labels}
                for rank, row in enumerate(rows, 1)
            ],
        )

    @guarded
    def on_click_bar(self, ctx):
        edges = ctx.panel.state.edges
        place = ctx.params["idx"]
        view = kf.view_of_alpha(ctx.dataset, ctx.panel.state.run, edges[place], edges[place + 1])
        ctx.ops.set_view(view)
        ctx.ops.notify(f"{len(view):,} images with alpha from {edges[place]:.1f} to {edges[place + 1]:.1f}")

    @guarded
    def on_click_worst(self, ctx):
        ctx.ops.open_sample(id=ctx.panel.state.worst[ctx.params["row"]])

    @guarded
    def show_worst(self, ctx):
        ctx.ops.set_view(kf.view_worst_first(ctx.dataset, ctx.panel.state.run, WORST))

    def render_run(self, panel, ctx):
        panel.md(ctx.panel.state.headline, name="headline")
        add_run_menu(panel, ctx, self.on_change_run)
        panel.plot(
            "histogram",
            layout=ctx.panel.state.layout,
            config={"displayModeBar": False},
            on_click=self.on_click_bar,
        )
        add_caption(panel, CAPTION)
        worst = len(ctx.panel.state.worst)
        if worst:
            label = f"The {worst:,} worst images: click one to open it"
            add_table(panel, "worst", label, COLUMNS, self.on_click_worst)
        buttons = panel.h_stack("buttons", align_x="left", gap=2)
        if worst:
            buttons.btn("show_worst", label="Show these in the grid", icon="grid_view", on_click=self.show_worst)
        buttons.btn("show_all", label="Show all images", icon="clear_all", on_click=self.show_all)
        buttons.btn("again", label="New run", icon="play_arrow", on_click=self.compute)


def headline(figures):
    """The most important number first, then what it is over."""
    title = agreement_title(figures["alpha"], figures["alpha_interval"])
    parts = [
        f"over {figures['defined_images']:,} images, {figures['units']:,} units, {len(figures['raters'])} raters",
        f"all units at once: {with_interval(figures['global_alpha'], figures['global_alpha_interval'])}",
    ]
    if figures["empty_images"]:
        without = significant(figures["alpha_without_empty"])
        parts.append(f"{figures['empty_images']:,} images empty by agreement lift the mean; without them {without}")
    if figures["undefined_images"]:
        parts.append(f"{figures['undefined_images']:,} images have no alpha (fewer than two raters compared)")
    return f"###### {title}\n\n{'; '.join(parts)}. {figures['notation']}"
