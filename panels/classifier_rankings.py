"""The section on classifiers of the Labels panel: how they rank under each rater, and how alike the rankings are."""

import kalos_core.fiftyone as kf
from kalos_core.figures import bump_chart, ranking_title, tau_heatmap, tau_title

from .common import PLUGIN, Part, add_menu, add_part, changed_since, guarded, show_view

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
    "tau": (
        "Kendall's τ between the rankings under every two references: 1 the same order, −1 the reverse. **Click a cell "
        "to see the images that the two answered differently.**"
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
        state = ctx.panel.state
        rankings = kf.stored_rankings(ctx.dataset, state.ranking)
        state.measures = list(rankings)
        if state.measure not in state.measures:
            state.measure = state.measures[0]
        ranking = rankings[state.measure]
        state.references = references = ranking.truths.tolist()
        stored = kf.load_diagnostics(ctx.dataset, state.ranking)["measures"]
        found = next(row for row in stored if row["measure"] == state.measure)
        state.ranking_text = _ranking_text(kf.load_figures(ctx.dataset, state.ranking).figures, ranking)
        state.ranking_text += changed_since(ctx, state.ranking)
        chart = bump_chart(references, ranking.systems.tolist(), ranking.ranks, ranking.values, state.measure)
        return {
            "bump": Part(ranking_title(ranking), chart),
            "tau": Part(tau_title(references, found["tau"]), tau_heatmap(references, found["tau"])),
        }

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
            add_part(panel, ctx, "tau", CAPTIONS["tau"], self.on_click_tau)
        panel.btn("rank", label="Rank classifiers", icon="leaderboard", on_click=self.rank)


def _ranking_text(figures, ranking):
    """What a ranking is over, and what could not be ranked."""
    text = f"{len(figures['systems'])} classifiers on {figures['images']:,} images and {figures['concepts']:,} labels."
    if figures["skipped_images"]:
        text += f" {figures['skipped_images']:,} images without scores are left out."
    alone = sorted({name for entry in figures["left_out"] for name in entry["concepts"]})
    if alone:
        shown = ", ".join(alone[:5]) + (f" and {len(alone) - 5:,} more" if len(alone) > 5 else "")
        text += f" Left out under some reference, which finds them nowhere or everywhere: {shown}."
    return " ".join([text, *(f"{reason}." for reason in ranking.undefined)])
