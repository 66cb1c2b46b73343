"""The section on systems of the Labels panel: how they rank under each rater, and how alike the rankings are."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.figures import bump_chart, ranking_title, tau_heatmap, tau_title

from .common import PLUGIN, Part, add_part, changed_since, guarded

MAJORITY = "majority"

NO_RANKING = (
    "**No systems are ranked yet.** Where fields hold the scores of several systems, this shows whether the best of "
    "them depends on whose labels are the truth."
)

CAPTIONS = {
    "bump": (
        "The rank of each system under each rater's labels and the majority's; lines that cross are systems whose "
        "order depends on the truth. **Click a truth to see the images where it is not the majority's.**"
    ),
    "tau": (
        "Kendall's τ between the rankings under every two truths: 1 the same order, −1 the reverse. **Click a cell to "
        "see the images that the two answered differently.**"
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


class SystemsSection:
    """What a panel shows of the rankings of a data set, the newest unless one is chosen.

    The panel draws its parts anew in `load_parts`.
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
        state.truths = truths = ranking.truths.tolist()
        stored = kf.load_diagnostics(ctx.dataset, state.ranking)["measures"]
        found = next(row for row in stored if row["measure"] == state.measure)
        state.ranking_said = _ranking_said(kf.load_figures(ctx.dataset, state.ranking).figures, ranking)
        state.ranking_said += changed_since(ctx, state.ranking)
        chart = bump_chart(truths, ranking.systems.tolist(), ranking.ranks, ranking.values, state.measure)
        return {
            "bump": Part(ranking_title(ranking), chart),
            "tau": Part(tau_title(truths, found["tau"]), tau_heatmap(truths, found["tau"])),
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
        truths = ctx.panel.state.truths
        pair = truths[round(ctx.params["y"])], truths[round(ctx.params["x"])]
        self.show_difference(ctx, ctx.panel.state.ranking, *pair)

    @guarded
    def on_click_truth(self, ctx):
        truth = ctx.panel.state.truths[round(ctx.params["x"])]
        self.show_difference(ctx, ctx.panel.state.ranking, truth, MAJORITY)

    def show_difference(self, ctx, run, one, other):
        if one == other:  # nobody differs from themselves
            return
        view = kf.view_of_difference(ctx.dataset, run, one, other)
        show_view(ctx, view, f"images that {one} and {other} answered differently")

    def add_systems(self, panel, ctx):
        state = ctx.panel.state
        if state.ranking is None:
            panel.md(NO_RANKING, name="no_ranking")
        else:
            add_menu(panel, "ranking", "Ranking", state.rankings, self.on_change_ranking)
            add_menu(panel, "measure", "Measure", state.measures, self.on_change_measure)
            panel.md(state.ranking_said, name="ranking_said")
            add_part(panel, ctx, "bump", CAPTIONS["bump"], self.on_click_truth)
            add_part(panel, ctx, "tau", CAPTIONS["tau"], self.on_click_tau)
        panel.btn("rank", label="Rank systems", icon="leaderboard", on_click=self.rank)


def _ranking_said(figures, ranking):
    """What a ranking is over, and what could not be ranked."""
    text = f"{len(figures['systems'])} systems on {figures['images']:,} images and {figures['concepts']:,} labels."
    if figures["skipped_images"]:
        text += f" {figures['skipped_images']:,} images without scores are left out."
    alone = sorted({name for entry in figures["left_out"] for name in entry["concepts"]})
    if alone:
        shown = ", ".join(alone[:5]) + (f" and {len(alone) - 5:,} more" if len(alone) > 5 else "")
        text += f" Left out under some truth, which finds them nowhere or everywhere: {shown}."
    return " ".join([text, *(f"{reason}." for reason in ranking.undefined)])


def add_menu(panel, name, label, entries, on_change):
    """A drop-down, only where there is a choice."""
    if len(entries or ()) < 2:
        return
    choices = types.DropdownView()
    for entry in entries:
        choices.add_choice(entry, label=entry)
    panel.enum(name, choices.values(), view=choices, label=label, on_change=on_change)


def show_view(ctx, view, what):
    ctx.ops.set_view(view)
    ctx.ops.notify(f"{len(view):,} {what}")
