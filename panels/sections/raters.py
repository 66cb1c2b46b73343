"""A scorecard for each rater, and how they stand to one another."""

import base64
import math
import re
from collections.abc import Iterator
from dataclasses import replace

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.display import VARIATION_LABELS, alpha_text, count_text
from kalos_core.drawing import Drawing
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_pair
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.report import card_lines, feedback_sheet, side_of
from kalos_core.text import plain, shown
from kalos_core.variation import VARIATION_TYPES, RaterCard

from ..parts.events import Context, guarded
from ..parts.figures import add_drawing, add_part, put_drawing, put_parts
from ..parts.layout import add_menu, add_row, add_table
from .base import NOT_IN_LENS, Section

SORTED_BY = {
    "rater": "Name",
    "labels": "Labels",
    "alpha": "α",
    "missing": "Misses",
    "additional": "Adds",
    "wrong_class": "Wrong class",
    "merges": "Merges",
    "splits": "Splits",
}
"""Column of a scorecard -> its head; what is bad comes first."""

LINES = (("name", ""), ("value", ""))

CONFUSED = (("own", "Says"), ("other", "Others say"), ("count", "Findings"))

CROP = 220
"""Pixels of the longer side of an example."""

NOTHING_YET = (
    "**Who differs, and on what?**\n\nNothing is computed yet: *Analyse* compares every rater with each other one."
)


class RatersSection(Section):
    NAME, KIND, NOTHING_YET = "Raters", "agreement", NOTHING_YET
    FOLLOWS = ("category", "rater", "tag", "view")
    PAGES = ("Scorecards", "Pairs", "Sessions")

    def load(self, ctx: Context, analysis: Analysis) -> None:
        ctx.panel.state.run = analysis.runs["agreement"].key
        if self.page(ctx) == "Scorecards":
            self._load_cards(ctx, analysis)
        else:
            self._load_pairs(ctx)

    # ---- scorecards ----

    def _load_cards(self, ctx: Context, analysis: Analysis) -> None:
        state = ctx.panel.state
        cards = list(kf.rater_scorecard(ctx.dataset, analysis.key, self.lens(ctx)))
        state.sorted_by = state.sorted_by or "alpha"
        cards.sort(key=lambda card: _rank(card, state.sorted_by))
        state.carded = [card.rater for card in cards]
        ctx.panel.set_data("cards", [_card_row(card) for card in cards])
        chosen = self.lens(ctx).rater
        card = next((entry for entry in cards if entry.rater == chosen), None)
        state.card = None if card is None else shown(card.rater)
        for kind in VARIATION_TYPES[1:]:
            put_drawing(ctx, f"example_{kind}", None)
        if card is None:
            return
        ctx.panel.set_data(
            "card_lines", [{"name": plain(name), "value": plain(value)} for name, value in card_lines(card)]
        )
        state.confused = [[pair.own, pair.other] for pair in card.confusions]
        rows = [{"own": plain(pair.own), "other": plain(pair.other), "count": pair.count} for pair in card.confusions]
        ctx.panel.set_data("confused_with", rows)
        state.variations = analysis.runs["variations"].key if "variations" in analysis.runs else None
        state.kinds = list(card.examples)
        for kind, drawing in self._examples(ctx, card, 1):
            put_drawing(ctx, f"example_{kind}", replace(drawing, title=side_of(kind)))

    @staticmethod
    def _examples(ctx: Context, card: RaterCard, number: int) -> Iterator[tuple[str, Drawing]]:
        """The unit of some labels of each type, drawn; none of labels that are gone or have no outline."""
        for kind, labels in card.examples.items():
            for label in labels[:number]:
                try:
                    yield kind, kf.draw_unit(ctx.dataset, ctx.panel.state.run, label, longest_side=CROP)
                except InputError as error:
                    ctx.ops.notify(str(error), variant="warning")

    @guarded
    def on_change_sorted_by(self, ctx: Context) -> None:
        ctx.panel.state.sorted_by = ctx.params["value"]
        self._load_cards(ctx, self.analysis(ctx))

    @guarded
    def click_card(self, ctx: Context) -> None:
        self.look_at(ctx, "rater", ctx.panel.state.carded[ctx.params["row"]])
        self._load_cards(ctx, self.analysis(ctx))

    @guarded
    def click_confused(self, ctx: Context) -> None:
        state = ctx.panel.state
        own, other = state.confused[ctx.params["row"]]
        view = view_of_confusion(ctx.dataset, state.variations, own, other)
        self.show(ctx, view, f"images where {plain(own)} and {plain(other)} were taken for one another")

    @guarded
    def show_kind(self, ctx: Context) -> None:
        """The labels of a rater's findings of one type; those that others have and the rater lacks are others'."""
        state, kind, rater = ctx.panel.state, ctx.params["kind"], self.lens(ctx).rater
        view = kf.view_of_variation(ctx.dataset, state.variations, kind, rater=rater)
        self.show(ctx, view, f"images with findings of {plain(str(rater))}: {VARIATION_LABELS[kind]}")

    @guarded
    def print_sheet(self, ctx: Context) -> None:
        rater = str(self.lens(ctx).rater)
        cards = kf.rater_scorecard(ctx.dataset, ctx.panel.state.analysis, self.lens(ctx))
        card = next(entry for entry in cards if entry.rater == rater)
        drawings: dict[str, list[Drawing]] = {}
        for kind, drawing in self._examples(ctx, card, 2):
            drawings.setdefault(kind, []).append(drawing)
        page = base64.b64encode(feedback_sheet(card, drawings).encode()).decode("ascii")
        name = "feedback-" + re.sub(r"[^\w.-]+", "-", rater) + ".html"
        ctx.ops.browser_download(f"data:text/html;charset=utf-8;base64,{page}", filename=name)
        ctx.ops.notify(f"Saved with the downloads of the browser: {name}", variant="success")

    # ---- pairs and sessions ----

    def _load_pairs(self, ctx: Context) -> None:
        state, lens = ctx.panel.state, self.lens(ctx)
        found = narrowed_metrics(ctx.dataset, state.run, lens)
        parts = kf.figures_of(kf.load_details(ctx.dataset, state.run), part=found)
        names = ("vitality", "collaboration") if self.page(ctx) == "Pairs" else ("intra_rater", "team")
        put_parts(ctx, {name: parts[name] for name in names if name in parts})
        state.has_parts = any(name in parts for name in names)
        together = found.collaboration
        state.shown_raters = [] if isinstance(together, Undefined) else together.raters[together.order].tolist()
        state.whole_sessions = not lens.is_whole and self.page(ctx) == "Sessions"

    @guarded
    def click_rater(self, ctx: Context) -> None:
        """The scorecard of a rater."""
        state = ctx.panel.state
        self.look_at(ctx, "rater", state.choices["rater"][ctx.params["idx"]])
        state.pages = {**(state.pages or {}), self.NAME: "Scorecards"}
        self._load_cards(ctx, self.analysis(ctx))

    @guarded
    def click_pair(self, ctx: Context) -> None:
        state = ctx.panel.state
        row, column = ctx.params["idx"]
        if row == column:  # a rater with themselves: the cell is empty
            return
        first, second = state.shown_raters[row], state.shown_raters[column]
        view = view_of_pair(ctx.dataset, state.run, first, second)
        self.show(ctx, view, f"images of {plain(first)} and {plain(second)}, those first where they disagree most")

    # ---- layout ----

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, page = ctx.panel.state, self.page(ctx)
        if page == "Scorecards":
            self._add_cards(panel, ctx)
        elif page == "Pairs":
            add_part(panel, ctx, "vitality", "Click a bar for the scorecard.", self.to(self.click_rater))
            click = "Click a cell to see the images where these two disagree most."
            add_part(panel, ctx, "collaboration", click, self.to(self.click_pair))
        elif state.has_parts:
            if state.whole_sessions:
                panel.md(NOT_IN_LENS, name="not_in_lens")
            add_part(panel, ctx, "intra_rater")
            add_part(panel, ctx, "team")
        else:
            panel.md("**No rater has several sessions**: nobody annotated the same images again.", name="no_sessions")

    def _add_cards(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        columns = tuple(SORTED_BY.items())
        label = "Findings for every 100 own labels: click a rater for all there is to say"
        add_table(panel, "cards", label, columns, self.to(self.click_card))
        menu = {name: f"sorted by {head}" for name, head in columns}
        add_menu(panel, "sorted_by", menu, self.to(self.on_change_sorted_by))
        if state.card is None:
            return
        panel.md(f"**{state.card}**", name="card_name")
        row = add_row(panel, "card_row", "150px")
        row.btn("sheet", label="Feedback sheet", icon="print", on_click=self.to(self.print_sheet), variant="contained")
        for kind in state.kinds if state.variations else ():
            label, on_click = f"Show: {VARIATION_LABELS[kind]}", self.to(self.show_kind)
            row.btn(f"kind_{kind}", label=label, icon="grid_view", on_click=on_click, params={"kind": kind})
        add_table(panel, "card_lines", "", LINES)
        if state.confused and state.variations:
            label = "Typical confusions: click one to see its labels"
            add_table(panel, "confused_with", label, CONFUSED, self.to(self.click_confused))
        for kind in state.kinds:
            add_drawing(panel, ctx, f"example_{kind}")


def _rank(card: RaterCard, column: str) -> tuple[float | str, ...]:
    """Lowest alpha first, highest rate first; undefined last."""
    if column == "rater":
        return (card.rater,)
    value = _value(card, column)
    return (math.isnan(value), value if column == "alpha" else -value, card.rater)


def _value(card: RaterCard, column: str) -> float:
    return card.rates[column] if column in card.rates else float(getattr(card, column))


def _card_row(card: RaterCard) -> dict[str, str]:
    row = {"rater": plain(card.rater), "labels": count_text(card.labels), "alpha": alpha_text(card.alpha, 3)}
    rates = {name: _value(card, name) for name in SORTED_BY if name not in row}
    return row | {name: "" if math.isnan(rate) else f"{rate:.1f}" for name, rate in rates.items()}
