"""How far the raters agree: mean alpha, what it is worth, and what lies behind it, by image, class and rater."""

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from kalos_core.figures import agreement_title, alpha_bins, with_interval

from . import agreement_parts
from .common import (
    RunPanel,
    add_part,
    add_table,
    changed_since,
    dropdown,
    guarded,
    open_sample,
    put_parts,
    put_rows,
    show_view,
)

WORST = 25

COLUMNS = (("rank", "#"), ("file", "Image"), ("alpha", "α"), ("labels", "Labels"))

ALL = "0"
"""In the menus of classes and raters; the others are numbers from 1: a name might be anything."""

NOTHING_YET = (
    "**Agreement of raters**\n\nNothing is computed yet. Matching finds which labels of different raters mean the "
    "same object; alpha then says how far they agree about the objects' existence and class, corrected for chance."
)


class AgreementPanel(RunPanel):
    NAME, LABEL, ICON = "agreement", "Agreement", "/assets/agreement.svg"
    HELP = "Mean alpha of the raters, what it is worth, and what lies behind it: images, classes, raters"
    KIND, OPERATOR, BUTTON = "agreement", "compute_agreement", "Match raters and compute agreement"
    NOTHING_YET, SECTIONS = NOTHING_YET, agreement_parts.SECTIONS

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, key)
        stored = run.details
        if state.filtered_run != key:
            state.filtered_run = key
            state.filter = {"category": ALL, "rater": ALL}
        state.thresholds = run.metrics["thresholds"]
        state.headline = headline(run.metrics) + changed_since(ctx, key)
        state.categories = agreement_parts.names_of(stored.class_difficulty, "category")
        state.raters = agreement_parts.names_of(stored.collaboration, "raters")
        self._load_part(ctx, run)

    def _load_part(self, ctx, run):
        """The parts of what the filter leaves."""
        state = ctx.panel.state
        category, rater = _filter(state)
        part = None
        if category or rater:
            part = kf.narrowed_metrics(ctx.dataset, run.key, kf.Lens(category, rater))
        state.part = _part(category, rater, part) if part else ""
        put_parts(ctx, kf.figures_of(run, part=part))
        shown = part or run.details
        state.edges = alpha_bins(shown.image_alpha)[0].tolist()
        state.shown_classes = agreement_parts.shown_classes(shown.class_difficulty)
        state.shown_raters = agreement_parts.shown_raters(shown.collaboration)
        put_rows(ctx, "published", agreement_parts.published_rows(run))
        self._load_worst(ctx, run.key, category, rater)

    def _load_worst(self, ctx, key, category, rater):
        rows = kf.worst_images(ctx.dataset, key, WORST, kf.Lens(category, rater))
        ctx.panel.state.worst_ids = [row.sample_id for row in rows]
        put_rows(
            ctx,
            "worst",
            [
                {"rank": rank, "file": row.file, "alpha": alpha_text(row.alpha, 3), "labels": row.labels}
                for rank, row in enumerate(rows, 1)
            ],
        )

    # ---- the filter ----

    @guarded
    def on_change_category(self, ctx):
        self._filter_by(ctx, category=ctx.params["value"])

    @guarded
    def on_change_rater(self, ctx):
        self._filter_by(ctx, rater=ctx.params["value"])

    @guarded
    def clear_filter(self, ctx):
        self._filter_by(ctx, category=ALL, rater=ALL)
        self.show_all(ctx)

    def _filter_by(self, ctx, **changes):
        state = ctx.panel.state
        state.filter = {**state.filter, **changes}
        self._load_part(ctx, kf.load_details(ctx.dataset, state.run))

    # ---- what a click leads to ----

    @guarded
    def on_click_bar(self, ctx):
        state, index = ctx.panel.state, ctx.params["idx"]
        low, high = state.edges[index : index + 2]
        category, rater = _filter(state)
        view = kf.view_of_alpha(ctx.dataset, state.run, low, high, category=category, rater=rater)
        show_view(ctx, view, f"images with alpha from {low:.1f} to {high:.1f}")

    @guarded
    def on_click_worst(self, ctx):
        open_sample(ctx, ctx.panel.state.worst_ids[ctx.params["row"]])

    @guarded
    def show_worst(self, ctx):
        category, rater = _filter(ctx.panel.state)
        ctx.ops.set_view(kf.view_worst_first(ctx.dataset, ctx.panel.state.run, WORST, category=category, rater=rater))

    @guarded
    def on_click_threshold(self, ctx):
        """The curve's points; nothing is known of the images at the anchor and the strict threshold."""
        state = ctx.panel.state
        if (threshold := ctx.params["x"]) in state.thresholds:
            view = kf.view_of_threshold(ctx.dataset, state.run, threshold)
            show_view(ctx, view, f"images, the lowest alpha at similarity {threshold:g} first")

    @guarded
    def on_click_class(self, ctx):
        state = ctx.panel.state
        name = state.shown_classes[ctx.params["idx"]]
        self._filter_by(ctx, category=str(1 + state.categories.index(name)))
        show_view(ctx, kf.view_of_class(ctx.dataset, state.run, name), f"images with {name}, worst first")

    @guarded
    def on_click_rater(self, ctx):
        self._filter_by(ctx, rater=str(1 + ctx.params["idx"]))

    @guarded
    def on_click_pair(self, ctx):
        state = ctx.panel.state
        row, column = ctx.params["idx"]
        if row == column:  # a rater with themselves: the cell is empty
            return
        first, second = state.shown_raters[row], state.shown_raters[column]
        view = kf.view_of_pair(ctx.dataset, state.run, first, second)
        show_view(ctx, view, f"images of {first} and {second}, those first where they disagree most")

    # ---- layout ----

    def render_run(self, panel, ctx):
        state = ctx.panel.state
        for name in agreement_parts.PARTS[state.section]:
            add_part(panel, ctx, name, agreement_parts.CAPTIONS[name], self._handler(name))
        if state.section == "Images" and state.worst_ids:
            label = f"The {len(state.worst_ids):,} worst images: click one to open it"
            add_table(panel, ctx, "worst", label, COLUMNS, self.on_click_worst)
        if state.section == "Reading":
            add_table(panel, ctx, "published", "Published values", agreement_parts.PUBLISHED_COLUMNS)
        worst = ("show_worst", "Show these in the grid", "grid_view", self.show_worst)
        self.add_buttons(panel, "images", *[worst] * (state.section == "Images" and bool(state.worst_ids)))

    def _handler(self, name):
        handlers = {
            "histogram": self.on_click_bar,
            "sensitivity": self.on_click_threshold,
            "classes": self.on_click_class,
            "vitality": self.on_click_rater,
            "collaboration": self.on_click_pair,
        }
        return handlers.get(name)

    def add_filters(self, panel, ctx):
        """Menus of classes and raters, what they leave, and a way back."""
        state = ctx.panel.state
        entries = []
        if state.categories:
            entries.append(("category", "all classes", state.categories, self.on_change_category))
        if len(state.raters) > 2:  # of two, each one's pairs are all there are
            entries.append(("rater", "all raters", state.raters, self.on_change_rater))
        if not entries:
            return
        wide = f"repeat({len(entries)}, minmax(0, 1fr))" + (" auto" if state.part else "")
        columns = {"gridTemplateColumns": wide, "justifyContent": "stretch", "alignItems": "center"}
        row = panel.h_stack("filter", gap=2, componentsProps={"grid": {"sx": columns}})
        for name, everything, names, on_change in entries:
            view = dropdown({str(number): entry for number, entry in enumerate([everything, *names])})
            row.enum(name, view.values(), view=view, on_change=on_change)
        if state.part:
            row.btn("clear", label="Clear", icon="filter_alt_off", on_click=self.clear_filter)
            panel.md(state.part, name="part")


def _filter(state):
    """The class and the rater of the filter, None for all."""
    found = []
    for value, names in ((state.filter["category"], state.categories), (state.filter["rater"], state.raters)):
        number = int(value or ALL)
        found.append(names[number - 1] if 0 < number <= len(names) else None)
    return tuple(found)


def _part(category, rater, found):
    """What the filter leaves, in a line."""
    names = [f"class **{category}**"] * bool(category) + [f"rater **{rater}** with each of the others"] * bool(rater)
    return (
        f"Filtered by {' and '.join(names)}: alpha {with_interval(found.alpha, found.alpha_interval)} over "
        f"{found.images:,} images, {found.units:,} units."
    )


def headline(metrics):
    """The most important number first, then what it is over."""
    title = agreement_title(metrics["alpha"], metrics["alpha_interval"])
    parts = [
        f"over {metrics['defined_images']:,} images, {metrics['units']:,} units, {len(metrics['raters'])} raters",
        f"median {alpha_text(metrics['median_alpha'])}",
        f"all units at once: {with_interval(metrics['global_alpha'], metrics['global_alpha_interval'])}",
    ]
    if metrics["empty_images"]:
        without = alpha_text(metrics["alpha_without_empty"])
        parts.append(f"{metrics['empty_images']:,} images empty by agreement lift the mean; without them {without}")
    if metrics["undefined_images"]:
        parts.append(f"{metrics['undefined_images']:,} images have no alpha (fewer than two raters compared)")
    note = f"\n\n{metrics['note']}".rstrip()
    return f"###### {title}\n\n{'; '.join(parts)}. {metrics['notation']}{note}"
