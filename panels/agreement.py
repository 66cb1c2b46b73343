"""How far the raters agree: mean alpha, what it is worth, and what lies behind it, by image, class and rater."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.figures import agreement_title, alpha_bins, significant, with_interval

from . import sections
from .common import RunPanel, add_part, add_run_menu, add_table, add_tabs, changed_since, guarded, put_parts

WORST = 25

COLUMNS = (("rank", "#"), ("file", "Image"), ("alpha", "α"), ("labels", "Labels"))

ALL = "0"
"""In the drop-downs of classes and raters; the others are numbers from 1: a name might be anything."""

NOTHING_YET = (
    "**Agreement of raters**\n\nNothing is computed yet. Matching finds which labels of different raters mean the "
    "same object; alpha then says how far they agree about the objects' existence and class, corrected for chance."
)


class AgreementPanel(RunPanel):
    NAME, LABEL, ICON = "agreement", "Agreement", "/assets/agreement.svg"
    HELP = "Mean alpha of the raters, what it is worth, and what lies behind it: images, classes, raters"
    KIND, OPERATOR, BUTTON = "agreement", "compute_agreement", "Match raters and compute agreement"
    NOTHING_YET, SECTIONS = NOTHING_YET, sections.NAMES

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_figures(ctx.dataset, key)
        stored = sections.diagnostics_of(ctx.dataset, key)
        if state.filtered_run != key:
            state.filtered_run = key
            state.filter = {"category": ALL, "rater": ALL}
        state.headline = headline(run.figures) + changed_since(ctx, key)
        state.categories = stored["class_difficulty"].get("category", [])
        state.raters = run.figures["raters"] if "reason" not in stored["collaboration"] else []
        self._load_part(ctx, run, stored)

    def _load_part(self, ctx, run, stored):
        """The figures of what the filter leaves."""
        state = ctx.panel.state
        category, rater = _filter(state)
        figures = {**run.figures, **stored}
        _, alphas = kf.image_alphas(ctx.dataset, run.key)
        state.part = ""
        if category or rater:
            found = kf.filtered_figures(ctx.dataset, run.key, category=category, rater=rater)
            state.part, alphas = _part(category, rater, found), found["image_alpha"]
            figures |= {name: found[name] for name in ("class_difficulty", "collaboration")}
        parts = sections.build(run, figures, alphas, category, rater)
        put_parts(ctx, parts)
        state.edges = alpha_bins(alphas)[0].tolist()
        state.shown_classes = sections.shown_classes(figures["class_difficulty"])
        state.shown_raters = sections.shown_raters(figures["collaboration"])
        ctx.panel.set_data("published", sections.published_rows(run))
        self._load_worst(ctx, run.key, category, rater)

    def _load_worst(self, ctx, key, category, rater):
        rows = kf.worst_images(ctx.dataset, key, WORST, category=category, rater=rater)
        ctx.panel.state.worst = [row.sample_id for row in rows]
        ctx.panel.set_data(
            "worst",
            [
                {"rank": rank, "file": row.file, "alpha": significant(row.alpha), "labels": row.labels}
                for rank, row in enumerate(rows, 1)
            ],
        )

    # ---- what is chosen ----

    @guarded
    def on_change_category(self, ctx):
        self._choose(ctx, category=ctx.params["value"])

    @guarded
    def on_change_rater(self, ctx):
        self._choose(ctx, rater=ctx.params["value"])

    @guarded
    def clear_filter(self, ctx):
        self._choose(ctx, category=ALL, rater=ALL)
        self.show_all(ctx)

    def _choose(self, ctx, **choices):
        state = ctx.panel.state
        state.filter = {**state.filter, **choices}
        run = kf.load_figures(ctx.dataset, state.run)
        self._load_part(ctx, run, sections.diagnostics_of(ctx.dataset, run.key))

    # ---- what a click leads to ----

    @guarded
    def on_click_bar(self, ctx):
        state, place = ctx.panel.state, ctx.params["idx"]
        low, high = state.edges[place : place + 2]
        category, rater = _filter(state)
        view = kf.view_of_alpha(ctx.dataset, state.run, low, high, category=category, rater=rater)
        _show(ctx, view, f"images with alpha from {low:.1f} to {high:.1f}")

    @guarded
    def on_click_worst(self, ctx):
        ctx.ops.open_sample(id=ctx.panel.state.worst[ctx.params["row"]])

    @guarded
    def show_worst(self, ctx):
        category, rater = _filter(ctx.panel.state)
        ctx.ops.set_view(kf.view_worst_first(ctx.dataset, ctx.panel.state.run, WORST, category=category, rater=rater))

    @guarded
    def on_click_class(self, ctx):
        state = ctx.panel.state
        name = state.shown_classes[ctx.params["idx"]]
        self._choose(ctx, category=str(1 + state.categories.index(name)))
        _show(ctx, kf.view_of_class(ctx.dataset, state.run, name), f"images with {name}, worst first")

    @guarded
    def on_click_rater(self, ctx):
        self._choose(ctx, rater=str(1 + ctx.params["idx"]))

    @guarded
    def on_click_pair(self, ctx):
        state = ctx.panel.state
        row, column = ctx.params["idx"]
        if row == column:  # a rater with themselves: the cell is empty
            return
        first, second = state.shown_raters[row], state.shown_raters[column]
        view = kf.view_of_pair(ctx.dataset, state.run, first, second)
        _show(ctx, view, f"images of {first} and {second}, those first where they disagree most")

    # ---- layout ----

    def render_run(self, panel, ctx):
        state = ctx.panel.state
        panel.md(state.headline, name="headline")
        add_run_menu(panel, ctx, self.on_change_run)
        self._add_filter(panel, ctx)
        add_tabs(panel, sections.NAMES, self.on_change_section)
        for name in sections.FIGURES[state.section]:
            add_part(panel, ctx, name, sections.CAPTIONS[name], self._handler(name))
        if state.section == "Images" and state.worst:
            label = f"The {len(state.worst):,} worst images: click one to open it"
            add_table(panel, "worst", label, COLUMNS, self.on_click_worst)
        if state.section == "Reading":
            add_table(panel, "published", "Published values", sections.PUBLISHED_COLUMNS)
        buttons = panel.h_stack("buttons", align_x="left", gap=2)
        if state.section == "Images" and state.worst:
            buttons.btn("show_worst", label="Show these in the grid", icon="grid_view", on_click=self.show_worst)
        buttons.btn("show_all", label="Show all images", icon="clear_all", on_click=self.show_all)
        buttons.btn("again", label="New run", icon="play_arrow", on_click=self.compute)

    def _handler(self, name):
        handlers = {
            "histogram": self.on_click_bar,
            "classes": self.on_click_class,
            "vitality": self.on_click_rater,
            "collaboration": self.on_click_pair,
        }
        return handlers.get(name)

    def _add_filter(self, panel, ctx):
        """Drop-downs side by side; what they leave, with a way back."""
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
            choices = types.DropdownView()
            for number, entry in enumerate([everything, *names]):
                choices.add_choice(str(number), label=entry)
            row.enum(name, choices.values(), view=choices, on_change=on_change)
        if state.part:
            row.btn("clear", label="Clear", icon="filter_alt_off", on_click=self.clear_filter)
            panel.md(state.part, name="part")


def _filter(state):
    """The class and the rater that are chosen, None for all."""
    chosen = []
    for choice, names in ((state.filter["category"], state.categories), (state.filter["rater"], state.raters)):
        number = int(choice or ALL)
        chosen.append(names[number - 1] if 0 < number <= len(names) else None)
    return tuple(chosen)


def _part(category, rater, found):
    """What the filter leaves, in a line."""
    names = [f"class **{category}**"] * bool(category) + [f"rater **{rater}** with each of the others"] * bool(rater)
    return (
        f"Filtered by {' and '.join(names)}: alpha {with_interval(found['alpha'], found['alpha_interval'])} over "
        f"{found['images']:,} images, {found['units']:,} units."
    )


def _show(ctx, view, what):
    ctx.ops.set_view(view)
    ctx.ops.notify(f"{len(view):,} {what}")


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
