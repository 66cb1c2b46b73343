"""The section on classifiers of the Labels panel: how they rank under each rater, and how alike the rankings are."""

from dataclasses import replace

import kalos_core.fiftyone as kf

from .common import PLUGIN, add_menu, add_part, changed_since, guarded, show_view

MAJORITY = "majority"

NO_RANKING = (
    "**No classifiers are ranked yet.** Where fields hold the scores of several classifiers, this shows whether the "
    "best of them depends on the labels it is measured against."
)

CAPTIONS = {
    "bump": (
        "The rank of each classifier against each rater's labels and the majority's; lines that cross are classifiers "
        "whose order depends on the reference. **Click a reference to see the images where it is not the majority's.**"
    ),
    "shared": "The different rankings there are, each with the references that give it.",
    "tau": (
        "Kendall's τ between the rankings under every two references: 1 the same order, −1 the reverse. **Click a cell "
        "to see the images that the two answered differently.**"
    ),
    "concordance": (
        "D: the largest gap between the ranks under one reference, added up in the order of the other, and the other's "
        "own, as a share of all (0: the same order); p: how often random orders are as near. Concordant: p below 0.05, "
        "which needs four classifiers or more."
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


class RankingSection:
    """What a panel shows of the rankings of a data set, the newest unless one is chosen.

    The panel builds its parts anew in `load_parts`.
    """

    def choose_ranking(self, ctx):
        """The ranking that is shown: the one chosen, or the newest if it is new to the panel."""
        state = ctx.panel.state
        before, state.rankings = state.rankings or [], kf.list_runs(ctx.dataset, "ranking")
        if state.ranking not in state.rankings or state.rankings[0] not in before:
            state.ranking = next(iter(state.rankings), None)

    def ranking_parts(self, ctx):
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, ctx.panel.state.ranking)
        state.measures = list(run.details.rankings)
        if state.measure not in state.measures:
            state.measure = state.measures[0]
        state.references = run.metrics["truths"]
        parts = kf.figures_of(run, measure=state.measure)
        state.ranking_text = parts["bump"].note + changed_since(ctx, run.key)
        return parts | {"bump": replace(parts["bump"], note="")}  # above the figure

    @guarded
    def on_change_measure(self, ctx):
        ctx.panel.state.measure = ctx.params["value"]
        self.load_parts(ctx)

    @guarded
    def on_change_ranking(self, ctx):
        ctx.panel.state.ranking = ctx.params["value"]
        self.load_parts(ctx)

    def rank(self, ctx):
        ctx.prompt(f"{PLUGIN}/rank_systems", on_success=self.reload)

    @guarded
    def on_click_tau(self, ctx):
        references = ctx.panel.state.references
        pair = references[round(ctx.params["y"])], references[round(ctx.params["x"])]
        self.show_difference(ctx, ctx.panel.state.ranking, *pair)

    @guarded
    def on_click_reference(self, ctx):
        reference = ctx.panel.state.references[round(ctx.params["x"])]
        self.show_difference(ctx, ctx.panel.state.ranking, reference, MAJORITY)

    def show_difference(self, ctx, run, one, other):
        if one == other:  # nobody differs from themselves
            return
        view = kf.view_of_difference(ctx.dataset, run, one, other)
        show_view(ctx, view, f"images that {one} and {other} answered differently")

    def add_classifiers(self, panel, ctx):
        state = ctx.panel.state
        if state.ranking is None:
            panel.md(NO_RANKING, name="no_ranking")
        else:
            add_menu(panel, "ranking", state.rankings, self.on_change_ranking, label="Ranking")
            add_menu(panel, "measure", state.measures, self.on_change_measure, label="Measure")
            panel.md(state.ranking_text, name="ranking_text")
            add_part(panel, ctx, "bump", CAPTIONS["bump"], self.on_click_reference)
            add_part(panel, ctx, "shared", CAPTIONS["shared"])
            add_part(panel, ctx, "tau", CAPTIONS["tau"], self.on_click_tau)
            add_part(panel, ctx, "concordance", CAPTIONS["concordance"])
        panel.btn("rank", label="Rank classifiers", icon="leaderboard", on_click=self.rank)
