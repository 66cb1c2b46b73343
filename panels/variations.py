"""How the raters differ: counts by type, confused classes, counts by rater."""

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES
from kalos_core.figures import VARIATION_LABELS, significant, variation_bars, variations_title

from .common import (
    RunPanel,
    add_caption,
    add_figure,
    add_run_menu,
    add_table,
    changed_since,
    guarded,
    put_figures,
)

CONFUSIONS = 25

CONFUSION_COLUMNS = (("category_a", "Class"), ("category_b", "and class"), ("count", "Findings"))

RATER_COLUMNS = (("rater", "Rater"), *((name, VARIATION_LABELS[name]) for name in VARIATION_TYPES))

NOTHING_YET = (
    "**Variations between raters**\n\nNothing is computed yet. Every difference between two raters gets a name: wrong "
    "class, merged, missing or additional, and is tagged on the labels."
)

CAPTION = (
    "For each two raters of an image, every mark is in exactly one finding: *correct* (same place and class), *merged* "
    "(several marks of one for one mark of the other), *wrong class*, *missing* (only the first rater drew it) or "
    "*additional* (only the second did). **Click a bar to see only those labels.**"
)


class VariationsPanel(RunPanel):
    NAME, LABEL, ICON = "variations", "Variations", "/assets/variations.svg"
    HELP = "Differences between raters by type, class and rater"
    KIND, OPERATOR, BUTTON = "variations", "find_variations", "Find variations between raters"
    NOTHING_YET = NOTHING_YET

    def load_run(self, ctx, key):
        figures = kf.load_figures(ctx.dataset, key).figures
        confusions = figures["confusions"][:CONFUSIONS]
        ctx.panel.state.headline = headline(figures) + changed_since(ctx, key)
        ctx.panel.state.confused = [(row["category_a"], row["category_b"]) for row in confusions]
        put_figures(ctx, {"counts": variation_bars(figures["counts"])})
        ctx.panel.set_data("confusions", confusions)
        ctx.panel.set_data("by_rater", [{"rater": name, **counts} for name, counts in figures["by_rater"].items()])

    @guarded
    def on_click_bar(self, ctx):
        kind = VARIATION_TYPES[ctx.params["idx"]]
        view = kf.view_of_variation(ctx.dataset, ctx.panel.state.run, kind)
        ctx.ops.set_view(view)
        ctx.ops.notify(f"{len(view):,} images with labels in findings of type {VARIATION_LABELS[kind]}")

    @guarded
    def on_click_confusion(self, ctx):
        first, second = ctx.panel.state.confused[ctx.params["row"]]
        view = kf.view_of_confusion(ctx.dataset, ctx.panel.state.run, first, second)
        ctx.ops.set_view(view)
        ctx.ops.notify(f"{len(view):,} images where {first} and {second} were taken for one another")

    def render_run(self, panel, ctx):
        panel.md(ctx.panel.state.headline, name="headline")
        add_run_menu(panel, ctx, self.on_change_run)
        add_figure(panel, ctx, "counts", self.on_click_bar)
        add_caption(panel, CAPTION)
        if ctx.panel.state.confused:
            label = "Classes taken for one another: click a row to see those labels"
            add_table(panel, "confusions", label, CONFUSION_COLUMNS, self.on_click_confusion)
        add_table(panel, "by_rater", "Findings as each rater sees them", RATER_COLUMNS)
        buttons = panel.h_stack("buttons", align_x="left", gap=2)
        buttons.btn("show_all", label="Show all labels", icon="clear_all", on_click=self.show_all)
        buttons.btn("again", label="New run", icon="play_arrow", on_click=self.compute)


def headline(figures):
    """The finding first, then what it is over, and the alarm for copied labels."""
    text = f"###### {variations_title(figures['counts'])}\n\n{figures['images']:,} images, "
    text += f"raters {', '.join(figures['raters'])}."
    share = figures["identical_share"]
    if share is not None and share >= 0.05:
        text += f" **{significant(100 * share)} % of the correct pairs are identical: were labels copied?**"
    return text
