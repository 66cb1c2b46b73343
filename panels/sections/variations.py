"""Variations: how the raters differ, by type and rater, in outlines, in parts, and by class."""

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.display import VARIATION_LABELS, alpha_text, count_text, percent_text, significant
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.kinds.variations import views
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import bold, plain, shown
from kalos_core.variation import VARIATION_TYPES, Confusions, NarrowedVariations

from ..parts.events import Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_table
from .attributes import add_attributes, put_attributes
from .base import Section
from .one_run import chooses
from .paired import DISTANCES, PairedPage, add_paired, put_paired

TYPES, OUTLINES, MERGED, CONFUSIONS, ATTRIBUTES = "Types", "Outlines", "Merged", "Confusions", "Attributes"

FIGURES = {TYPES: "counts", OUTLINES: "boundary"}
"""Page -> its figure."""

MOST_ROWS = 25
"""Rows of a table."""

ALARMING = 0.05
"""Share of correct findings with the very same outline from which on copies are suspected."""

ALL_KINDS = tuple(kind for kind in VARIATION_TYPES if kind != "correct")

OF_PARTS = ("merged", "merged_wrong_class")

BY_RATER: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("rater", "Rater", ALL_KINDS),
    ("wrong_class", "Wrong class", ("wrong_class",)),
    ("merges", "Merges", OF_PARTS),
    ("splits", "Splits", OF_PARTS),
    ("missing", "Missing", ("missing",)),
    ("additional", "Additional", ("additional",)),
)
"""Columns of the table of raters: key, title, and the types of findings behind a number."""

CONFUSION_COLUMNS = (("first", "Class"), ("second", "and class"), ("count", "Findings"))

MERGED_COLUMNS = (("file", "Image"), ("whole", "One annotation"), ("parts", "In parts"), ("similarity", "Similarity"))

NOTHING_YET = (
    "**Variations between raters**\n\nNothing is computed yet. Every difference between two raters gets a name: wrong "
    "class, merged, missing or additional, and is tagged on the labels."
)


BOUNDARIES = PairedPage(
    name="unit_boundaries",
    load=kf.unit_boundaries_of,
    view=kf.view_of_unit_boundaries,
    columns=DISTANCES,
    low_is_worse=False,
    worst="outlines furthest apart",
    invitation=(
        "**How far apart in pixels?** The run of *Agreement* did not compare boundaries. Where labels are polygons or "
        "instance masks, a new one with *Compare boundaries* switched on says how far the outlines of the same object "
        "by two raters are apart, by pair of raters, class and image."
    ),
    reading="Of objects that both raters annotated. Distances are in pixels, means over images with 95 % intervals.",
)
"""What the page of outlines shows of matched labels."""


class VariationsSection(Section):
    NAME, KIND, NOTHING_YET = "Variations", "variations", NOTHING_YET
    FOLLOWS = ("category", "rater", "tag", "view")
    PAGES = (TYPES, OUTLINES, MERGED, CONFUSIONS, ATTRIBUTES)

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state, page, lens = ctx.panel.state, self.page(ctx), self.lens(ctx)
        state.run = analysis.runs["variations"].key
        matched = analysis.runs.get("agreement")
        part = narrowed_variations(ctx.dataset, state.run, kf.Lens() if page == MERGED else lens)
        state.alarm = _alarm(part.identical_share)
        state.copies = part.boundary.identical
        if page in FIGURES:
            figures = kf.figures_of(kf.load_details(ctx.dataset, state.run), part=part)
            put_parts(ctx, {FIGURES[page]: figures[FIGURES[page]]})
        if page == TYPES:
            names = [name for name, own in zip(part.rates, part.own, strict=True) if own]
            state.rater_names = sorted(names, key=lambda name: -sum(part.rates[name][kind] for kind in ALL_KINDS))
            ctx.panel.set_data("by_rater", _rater_rows(part, state.rater_names))
        elif page == OUTLINES:
            state.edges = part.boundary.edges.tolist()
            compared = matched is not None and matched.settings["boundaries"]
            state.matched = matched.key if matched is not None and compared else None
            put_paired(ctx, BOUNDARIES, state.matched)
        elif page == ATTRIBUTES:
            state.matched = None if matched is None else matched.key
            put_attributes(ctx, matched)
        elif page == MERGED:
            found = views.merged_findings(ctx.dataset, state.run, MOST_ROWS)
            state.merged_title = _merged_title(part.found.merged_by(), part.found.split_by())
            state.merged_ids = [[row.finding, row.sample_id] for row in found]
            ctx.panel.set_data("merged", [_merged_row(row) for row in found])
        else:
            rows = _confusion_rows(part)
            state.confused_title = _confused_title(part.confusions)
            state.confused = part.confusions.to_pandas()[["category_a", "category_b"]].values.tolist()[:MOST_ROWS]
            ctx.panel.set_data("confusions", rows)

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, page = ctx.panel.state, self.page(ctx)
        if page in (MERGED, ATTRIBUTES):
            self.add_not_in_lens(panel, ctx)
        if state.alarm:
            panel.view("alarm", types.Warning(label=state.alarm))
        if state.copies and (state.alarm or page == OUTLINES):
            label = f"Show the labels of {state.copies:,} identical pair" + "s" * (state.copies > 1)
            panel.btn("show_copies", label=label, icon="content_copy", on_click=self.to(self.show_copies))
        if page == TYPES:
            add_part(panel, ctx, "counts", "Click a bar to see only those labels.", self.to(self.click_bar))
            label = "For every 100 annotations of one's own: click a number to see the labels"
            columns = [(key, title) for key, title, _ in BY_RATER]
            add_table(panel, "by_rater", label, columns, on_click_cell=self.to(self.click_rater))
        elif page == OUTLINES:
            click = "Click a bar to see only those labels."
            add_part(panel, ctx, "boundary", click, self.to(self.click_boundary))
            if state.paired_title:
                self.add_not_in_lens(panel, ctx)
            add_paired(panel, ctx, BOUNDARIES, self.to(self.show_worst), self.to(self.click_image))
        elif page == MERGED:
            self._add_merged(panel, ctx)
        elif page == ATTRIBUTES:
            clicks = (self.change_attribute, self.click_attribute, self.show_attribute, self.click_image)
            add_attributes(panel, ctx, *map(self.to, clicks))
        else:
            panel.md(bold(state.confused_title), name="confused_title_text")
            if state.confused:
                label = "Classes taken for one another, and by whom: click a row to see those labels"
                add_table(panel, "confusions", label, CONFUSION_COLUMNS, self.to(self.click_confusion))

    def _add_merged(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        panel.md(bold(state.merged_title), name="merged_title_text")
        if state.merged_ids:
            label = "Show all of them in the grid"
            panel.btn("show_merged", label=label, icon="grid_view", on_click=self.to(self.show_merged))
            label = "One annotation, and its parts by another rater: click a row to see just these on their image"
            add_table(panel, "merged", label, MERGED_COLUMNS, self.to(self.click_merged))

    # ---- what a click leads to ----

    @guarded
    def click_bar(self, ctx: Context) -> None:
        kind = VARIATION_TYPES[ctx.params["idx"]]
        self._show_findings(ctx, (kind,), self.lens(ctx).rater, f"findings of type {VARIATION_LABELS[kind]}")

    @guarded
    def click_rater(self, ctx: Context) -> None:
        _, title, kinds = BY_RATER[ctx.params["column"]]
        rater = ctx.panel.state.rater_names[ctx.params["row"]]
        what = {ALL_KINDS: "differences", OF_PARTS: "merged or split annotations"}.get(kinds, title.lower())
        self._show_findings(ctx, kinds, rater, f"{what} of {plain(rater)} and the others")

    def _show_findings(self, ctx: Context, kinds: Sequence[str], rater: str | None, what: str) -> None:
        category = self.lens(ctx).category
        view = views.view_of_findings(ctx.dataset, ctx.panel.state.run, kinds, rater=rater, category=category)
        self.show(ctx, view, f"images with {what}")

    @guarded
    def click_boundary(self, ctx: Context) -> None:
        low, high = ctx.panel.state.edges[ctx.params["idx"] : ctx.params["idx"] + 2]
        view = views.view_of_boundary(ctx.dataset, ctx.panel.state.run, low, high)
        self.show(ctx, view, f"images with correct labels whose outlines are {low:.3g} to {high:.3g} apart")

    @guarded
    def show_worst(self, ctx: Context) -> None:
        view = kf.view_of_unit_boundaries(ctx.dataset, ctx.panel.state.matched)
        self.show(ctx, view, f"images, {BOUNDARIES.worst} first")

    @guarded
    def click_image(self, ctx: Context) -> None:
        open_sample(ctx, ctx.panel.state.image_ids[ctx.params["row"]])

    change_attribute = chooses("attribute")

    @guarded
    def click_attribute(self, ctx: Context) -> None:
        ctx.panel.state.attribute = ctx.panel.state.attribute_names[ctx.params["row"]]
        self.load_again(ctx)

    @guarded
    def show_attribute(self, ctx: Context) -> None:
        view = kf.view_of_attribute(ctx.dataset, ctx.panel.state.matched, ctx.panel.state.attribute)
        self.show(ctx, view, f"images, those first that differ most on {shown(ctx.panel.state.attribute)}")

    @guarded
    def show_copies(self, ctx: Context) -> None:
        view = views.view_of_copies(ctx.dataset, ctx.panel.state.run)
        self.show(ctx, view, "images with labels of the very same outline")

    @guarded
    def click_merged(self, ctx: Context) -> None:
        """Only the whole and its parts, in the image they are of."""
        finding, sample = ctx.panel.state.merged_ids[ctx.params["row"]]
        self.show(
            ctx, views.view_of_merged(ctx.dataset, ctx.panel.state.run, finding), "image with a whole and its parts"
        )
        open_sample(ctx, sample)

    @guarded
    def show_merged(self, ctx: Context) -> None:
        view = views.view_of_merged(ctx.dataset, ctx.panel.state.run)
        self.show(ctx, view, "images with annotations that another rater split into parts")

    @guarded
    def click_confusion(self, ctx: Context) -> None:
        first, second = ctx.panel.state.confused[ctx.params["row"]]
        view = views.view_of_confusion(ctx.dataset, ctx.panel.state.run, first, second)
        self.show(ctx, view, f"images where {plain(first)} and {plain(second)} were taken for one another")


def _rater_rows(part: NarrowedVariations, raters: Sequence[str]) -> list[dict[str, str]]:
    """Findings for every 100 annotations of one's own; of parts, who drew the whole and who drew the parts."""
    own = dict(zip(part.rates, part.own.tolist(), strict=True))
    merges, splits = part.found.merged_by(), part.found.split_by()
    rows = []
    for name in raters:
        rates = {kind: part.rates[name][kind] for kind in ("wrong_class", "missing", "additional")}
        rates |= {"merges": 100 * merges[name] / own[name], "splits": 100 * splits[name] / own[name]}
        rows.append({"rater": plain(name), **{key: significant(value, 2) for key, value in rates.items()}})
    return rows


def _merged_title(merged_by: Mapping[str, int], split_by: Mapping[str, int]) -> str:
    """How many annotations of each rater others split into parts, and how many of others' each rater splits."""
    total = sum(split_by.values())
    if not total:
        return "No annotation was split into parts by another rater"
    (merges, wholes), (splits, parts) = (
        max(counts.items(), key=lambda entry: entry[1]) for counts in (merged_by, split_by)
    )
    return (
        f"{count_text(total)} time{'s' * (total > 1)} several annotations of one rater are one of another's: "
        f"most often {shown(merges)} merges ({count_text(wholes)}), {shown(splits)} splits ({count_text(parts)})"
    )


def _merged_row(row: views.MergedFinding) -> dict[str, str]:
    return {
        "file": plain(row.file),
        "whole": f"{plain(row.whole_rater)}: {plain(row.whole_category)}",
        "parts": f"{plain(row.parts_rater)}: {row.parts} × {plain(row.parts_category)}",
        "similarity": alpha_text(row.similarity, 3),
    }


def _confusion_rows(part: NarrowedVariations) -> list[dict[str, str]]:
    """Two classes, and who took objects for each of them how often."""
    found, raters = part.confusions, part.found.annotations.raters

    def said(category: str, counts: Any) -> str:
        order = np.argsort(-counts, kind="stable")
        names = [f"{plain(raters[rater])} {count_text(int(counts[rater]))}" for rater in order if counts[rater]]
        return f"{plain(category)}\n{', '.join(names)}"

    return [
        {
            "first": said(found.category_a[row], found.by_rater[row, 0]),
            "second": said(found.category_b[row], found.by_rater[row, 1]),
            "count": count_text(int(found.count[row])),
        }
        for row in range(min(MOST_ROWS, len(found.count)))
    ]


def _confused_title(found: Confusions) -> str:
    if not len(found.count):
        return "No class was taken for another"
    total = int(found.count.sum())
    return (
        f"{count_text(total)} finding{'s' * (total > 1)} of two classes for one object, most often "
        f"{shown(found.category_a[0])} and {shown(found.category_b[0])} ({count_text(int(found.count[0]))})"
    )


def _alarm(share: float | None) -> str | None:
    """The warning of identical outlines, None where there are few."""
    if share is None or share < ALARMING:
        return None
    return f"{percent_text(share)} of the correct pairs are identical: were labels copied?"
