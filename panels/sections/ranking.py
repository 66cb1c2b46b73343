"""Which classifier or detector is best, and whether that depends on whose labels it is measured against."""

from dataclasses import replace
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import number_of, percent_text
from kalos_core.fiftyone.dataset.image_labels import scored_fields
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, MASKS
from kalos_core.fiftyone.kinds.detectors.scores import heatmap_fields
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.figures.ranking import rank_text
from kalos_core.text import names_shown, plain

from ..data.base import is_rated
from ..parts.events import PLUGIN, WORKBENCH, Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_choice, add_menu, add_table
from .one_run import RunSection, chooses, take_title
from .questions import MAJORITY, show_difference

CLASSIFIERS, DETECTORS, CURVES = "Classifiers", "Detectors", "Curves"

KIND_OF = {CLASSIFIERS: "ranking", DETECTORS: "detectors", CURVES: "detectors"}
"""Page -> the kind of run it shows."""

MEASURES = {"AUC": "area under the curve (AUC)", "EER": "equal error rate (EER)"}

DRAWN = "[95 % interval] (rank, share of replicates in which best)"
"""What is beside a value where images were drawn again."""

NOTHING_YET = {
    "ranking": (
        "**No classifiers are ranked yet.** Where fields hold the scores of several classifiers, this shows whether "
        "the best of them depends on the labels it is measured against."
    ),
    "detectors": (
        "**Nothing is ranked yet.** The best detector under one rater's labels may not be the best under another's. "
        "Score maps (Heatmap fields) or labels with a confidence are ranked under every rater and under each "
        "estimated truth."
    ),
}


class RankingSection(RunSection):
    """Classifiers and detectors, each with the newest run of its kind."""

    NAME, PAGES = "Ranking", tuple(KIND_OF)

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return bool(_pages(ctx, analysis))

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state = ctx.panel.state
        state.ranked_pages = _pages(ctx, analysis)
        run = analysis.runs.get(KIND_OF[self.page(ctx)])
        state.run = run and run.key
        if state.run:
            self.load_again(ctx)

    def load_run(self, ctx: Context, run: Any) -> None:
        (self._load_classifiers if run.kind == "ranking" else self._load_detectors)(ctx, run)

    def page(self, ctx: Context) -> str:
        page, there = super().page(ctx), ctx.panel.state.ranked_pages
        return page if page in there else str(there[0])

    def is_first_page(self, ctx: Context) -> bool:
        return self.page(ctx) != CURVES

    def add_pages(self, panel: types.Object, ctx: Context) -> None:
        pages = ctx.panel.state.ranked_pages
        if len(pages) > 1:
            add_choice(panel, "pages_row", pages, self.page(ctx), f"{WORKBENCH}#choose_page")

    def make(self, ctx: Context) -> None:
        operator = kf.KINDS[KIND_OF[self.page(ctx)]].operator
        ctx.prompt(f"{PLUGIN}/{operator}")

    def _load_classifiers(self, ctx: Context, run: Any) -> None:
        state, measures = ctx.panel.state, list(run.details.rankings)
        state.measures = {name: MEASURES.get(name, name) for name in measures}
        if state.measure not in measures:
            state.measure = measures[0]
        state.references = run.metrics["truths"]
        parts = dict(kf.figures_of(run, measure=state.measure))
        self.put_headline(ctx, take_title(parts, "bump"), parts["bump"].note)
        put_parts(ctx, parts | {"bump": replace(parts["bump"], note="")})  # above the figure
        self._put_ranks(ctx, run.details.rankings[state.measure])

    def _load_detectors(self, ctx: Context, run: Any) -> None:
        state, metrics = ctx.panel.state, run.metrics
        state.of_pixels = metrics["of"] == "pixels"
        state.detectors, state.references = metrics["detectors"], metrics["truths"]
        for name, known in (("detector", state.detectors), ("reference", state.references)):
            if ctx.panel.get_state(name) not in known:
                ctx.panel.set_state(name, known[0])
        parts = dict(kf.figures_of(run, detector=state.detector, reference=state.reference))
        undefined = "".join(f"\n\n- {reason}" for reason in names_shown(metrics["undefined"]))
        self.put_headline(ctx, take_title(parts, "bump"), f"{detector_text(metrics, run.details.ranking)}{undefined}")
        put_parts(ctx, parts)
        self._put_ranks(ctx, run.details.ranking.ranking)

    def _put_ranks(self, ctx: Context, ranking: Any) -> None:
        named = ((f"d{at}", plain(name)) for at, name in enumerate(ranking.systems))
        ctx.panel.state.columns = [("reference", "Reference"), *named]
        ctx.panel.set_data("ranks", rank_rows(ranking))

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, page = ctx.panel.state, self.page(ctx)
        if not state.run:
            panel.md(NOTHING_YET[KIND_OF[page]], name="invitation")
            label = f"Rank {'classifiers' if page == CLASSIFIERS else 'detectors'}"
            panel.btn("make", label=label, icon="leaderboard", on_click=f"{WORKBENCH}#make", variant="contained")
            return
        self.add_headline(panel, ctx)
        if page == CLASSIFIERS:
            self._render_classifiers(panel, ctx)
        elif page == DETECTORS:
            add_part(panel, ctx, "bump")
            self._add_ranks(panel, ctx, f"Area {DRAWN}" if state.of_pixels else "mAP (rank)")
            for name in ("bounds", "shared", "tau"):
                add_part(panel, ctx, name)
        else:
            self._render_curves(panel, ctx)

    def _add_ranks(self, panel: types.Object, ctx: Context, label: str) -> None:
        add_table(panel, "ranks", label, [tuple(column) for column in ctx.panel.state.columns])

    def _render_classifiers(self, panel: types.Object, ctx: Context) -> None:
        add_menu(panel, "measure", ctx.panel.state.measures, self.to(self.change_measure), label="Measure")
        click = "Click a reference to see the images where it is not the majority's."
        add_part(panel, ctx, "bump", click, self.to(self.click_reference))
        self._add_ranks(panel, ctx, f"{ctx.panel.state.measures[ctx.panel.state.measure]} {DRAWN}")
        add_part(panel, ctx, "shared")
        click = "Click a cell to see the images that the two answered differently."
        add_part(panel, ctx, "tau", click, self.to(self.click_tau))
        add_part(panel, ctx, "concordance")

    def _render_curves(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        if not state.of_pixels:
            panel.md("Curves are of score maps: this run ranks models by mAP.", name="no_curves")
            return
        add_menu(panel, "detector", state.detectors, self.to(self.change_detector), label="Detector")
        add_part(panel, ctx, "curves")
        add_part(panel, ctx, "agreement")
        add_menu(panel, "reference", state.references, self.to(self.change_reference), label="Reference")
        for name in ("under", "correlations", "boundaries"):
            add_part(panel, ctx, name)

    change_measure = chooses("measure")

    change_detector = chooses("detector")

    change_reference = chooses("reference")

    @guarded
    def click_tau(self, ctx: Context) -> None:
        one, other = (ctx.panel.state.references[round(ctx.params[axis])] for axis in ("y", "x"))
        show_difference(self, ctx, one, other)

    @guarded
    def click_reference(self, ctx: Context) -> None:
        show_difference(self, ctx, ctx.panel.state.references[round(ctx.params["x"])], MAJORITY)


def _pages(ctx: Context, analysis: Analysis | None) -> list[str]:
    """The pages that have a run, or labels that one could be made of."""
    runs, dataset = ({} if analysis is None else analysis.runs), ctx.dataset
    scored = is_rated(ctx, IMAGE_LABELS) and bool(scored_fields(dataset))
    mapped = is_rated(ctx, MASKS) and bool(heatmap_fields(dataset))
    there = {"ranking": "ranking" in runs or scored, "detectors": "detectors" in runs or mapped}
    return [page for page, kind in KIND_OF.items() if there[kind]]


def detector_text(metrics: Any, ranking: Any) -> str:
    """What a ranking is over, and by what."""
    are_raters = number_of(len(metrics["raters"]), "is a rater", "are raters")
    references = f"{number_of(len(metrics['truths']), 'reference')}, of which {are_raters}"
    text = f"{number_of(len(metrics['detectors']), 'detector')} under {references}; by {metrics['measure']}"
    if metrics["of"] == "objects":
        return text + "."
    low, high = ranking.skew
    return f"{text}; precision averaged over {percent_text(low)} to {percent_text(high)} positives."


def rank_rows(ranking: Any) -> list[dict[str, str]]:
    """A row for each reference."""
    return [
        {"reference": plain(reference)}
        | {f"d{detector}": rank_text(ranking, row, detector) for detector in range(len(ranking.systems))}
        for row, reference in enumerate(ranking.truths)
    ]
