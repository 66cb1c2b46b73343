"""How far raters agree about pixels, their consensus, and which detector is best against which reference."""

import time

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf

from .common import (
    PLUGIN,
    RunPanel,
    add_menu,
    add_part,
    add_problem,
    add_table,
    add_tabs,
    changed_since,
    guarded,
    open_sample,
    put_parts,
    put_rows,
    show_view,
    stacked,
    take_title,
)
from .truth_texts import (
    AGAINST_COLUMNS,
    CAPTIONS,
    CONSENSUS_COLUMNS,
    IMAGE_COLUMNS,
    MOST_ROWS,
    NOTHING_YET,
    OBJECT_COLUMNS,
    OBJECT_CONSENSUS_COLUMNS,
    RATER_COLUMNS,
    against_rows,
    consensus_headline,
    consensus_rows,
    detector_text,
    image_row,
    notes,
    pixel_headline,
    rank_rows,
    rater_rows,
)

KIND_OF = {"Raters": "pixels", "Counts": "pixels", "Consensus": "truth", "Ranking": "detectors", "Curves": "detectors"}
"""Tab -> the kind of run it shows."""

KINDS = tuple(dict.fromkeys(KIND_OF.values()))

OPERATORS = {"pixels": "compute_pixel_agreement", "truth": "estimate_truth", "detectors": "rank_detectors"}

BUTTONS = {
    "pixels": "Compute agreement about pixels",
    "truth": "Estimate the truth",
    "detectors": "Rank detectors",
}


class TruthPanel(RunPanel):
    NAME, LABEL, ICON = "truth", "Truth", "/assets/truth.svg"
    HELP = "Agreement about pixels, estimated truth, and detectors under each reference"

    # ---- which run ----

    @guarded
    def reload(self, ctx):
        state = ctx.panel.state
        state.problem = None
        keys = kf.list_runs(ctx.dataset, KINDS)
        newest = next(iter(keys), None)
        if not state.section or (newest is not None and newest not in (state.all_keys or [])):
            kind = KINDS[0] if newest is None else kf.load_metrics(ctx.dataset, newest).kind
            if KIND_OF.get(state.section) != kind:
                state.section = next(name for name, shown in KIND_OF.items() if shown == kind)
        state.all_keys = keys
        self._load_kind(ctx)
        state.loaded = time.time()

    def _load_kind(self, ctx):
        """The run of the kind that the tab shows: the one chosen before, or one that is new."""
        state, kind = ctx.panel.state, KIND_OF[ctx.panel.state.section]
        keys = kf.list_runs(ctx.dataset, kind)
        chosen, known = (state.chosen or {}).get(kind), (state.known or {}).get(kind, [])
        key = chosen if chosen in keys and keys[0] in known else next(iter(keys), None)
        state.chosen, state.known = {**(state.chosen or {}), kind: key}, {**(state.known or {}), kind: keys}
        state.run, state.run_keys, state.kind = key, keys, kind
        if key is not None:
            self.load_run(ctx, key)

    @guarded
    def on_change_run(self, ctx):
        state = ctx.panel.state
        state.chosen = {**state.chosen, state.kind: ctx.params["value"]}
        state.known = {**state.known, state.kind: kf.list_runs(ctx.dataset, state.kind)}  # none is news any more
        self._load_kind(ctx)

    @guarded
    def on_change_section(self, ctx):
        """The App has changed the tab itself, but not what is loaded; of a run that is new it may not know yet."""
        state, section = ctx.panel.state, ctx.params["value"]
        if state.section != section:
            state.section = section
        if KIND_OF[section] != state.kind or not state.run:
            self._load_kind(ctx)

    def load_run(self, ctx, key):
        run = kf.load_details(ctx.dataset, key)
        load = {"pixels": self._load_pixels, "truth": self._load_consensus, "detectors": self._load_detectors}[run.kind]
        load(ctx, run, changed_since(ctx, key))

    # ---- agreement about pixels ----

    def _load_pixels(self, ctx, run, changed):
        state, metrics, classes = ctx.panel.state, run.metrics, kf.pixel_classes(run.details)
        state.categories = list(classes)
        if state.category not in classes:
            state.category = state.categories[0]
        found, raters = classes[state.category], metrics["raters"]
        parts = kf.figures_of(run, category=state.category)
        of_class = state.category if len(classes) > 1 else ""
        state.headline = pixel_headline(parts.pop("agreement"), metrics, found, of_class) + changed
        state.leaves = found.raters[found.order].tolist()
        state.rater_names = raters
        state.performance = parts.pop("performance").title if raters else None  # its figure is the table
        put_parts(ctx, parts)
        put_rows(ctx, "raters", rater_rows(found))
        images = kf.pixel_images(ctx.dataset, run.key, MOST_ROWS)
        state.image_ids = [image.sample_id for image in images]
        put_rows(ctx, "images", [image_row(image) for image in images])

    @guarded
    def on_change_category(self, ctx):
        ctx.panel.state.category = ctx.params["value"]
        self.load_run(ctx, ctx.panel.state.run)

    @guarded
    def on_click_tree(self, ctx):
        state = ctx.panel.state
        self._show_rater(ctx, state.leaves[round(ctx.params["y"])])

    @guarded
    def on_click_rater(self, ctx):
        self._show_rater(ctx, ctx.panel.state.rater_names[ctx.params["row"]])

    def _show_rater(self, ctx, rater):
        view = kf.view_of_mask_rater(ctx.dataset, ctx.panel.state.run, rater)
        show_view(ctx, view, f"images assigned to {rater}, least agreement first")

    @guarded
    def on_click_image(self, ctx):
        open_sample(ctx, ctx.panel.state.image_ids[ctx.params["row"]])

    # ---- consensus ----

    def _load_consensus(self, ctx, run, changed):
        state, metrics, truths = ctx.panel.state, run.metrics, run.details.truths
        state.names, state.of = list(truths), metrics["of"]
        if state.consensus not in truths:
            state.consensus = state.names[0]
        state.headline = consensus_headline(metrics, truths) + changed
        state.notes = notes(run.details.notes)
        put_parts(ctx, kf.figures_of(run, consensus=state.consensus))
        put_rows(ctx, "consensus_rows", consensus_rows(metrics, truths))
        put_rows(ctx, "against_rows", against_rows(metrics, truths[state.consensus]))

    @guarded
    def on_click_consensus(self, ctx):
        ctx.panel.state.consensus = ctx.panel.state.names[ctx.params["row"]]
        self.load_run(ctx, ctx.panel.state.run)

    # ---- detectors ----

    def _load_detectors(self, ctx, run, changed):
        state, metrics = ctx.panel.state, run.metrics
        state.of, state.detectors = metrics["of"], metrics["detectors"]
        if state.detector not in state.detectors:
            state.detector = state.detectors[0]
        state.references = metrics["truths"]
        if state.reference not in state.references:
            state.reference = state.references[0]
        parts = kf.figures_of(run, detector=state.detector, reference=state.reference)
        undefined = "".join(f"\n\n- {reason}" for reason in metrics["undefined"])
        text = detector_text(metrics, run.details.ranking)
        state.headline = f"###### {take_title(parts, 'bump')}\n\n{text}{undefined}{changed}"
        put_parts(ctx, parts)
        state.columns = [("reference", "Reference"), *((f"d{at}", name) for at, name in enumerate(state.detectors))]
        put_rows(ctx, "ranks", rank_rows(metrics))

    @guarded
    def on_change_detector(self, ctx):
        ctx.panel.state.detector = ctx.params["value"]
        self.load_run(ctx, ctx.panel.state.run)

    @guarded
    def on_change_reference(self, ctx):
        ctx.panel.state.reference = ctx.params["value"]
        self.load_run(ctx, ctx.panel.state.run)

    # ---- layout ----

    def compute(self, ctx):
        ctx.prompt(f"{PLUGIN}/{OPERATORS[ctx.panel.state.kind]}", on_success=self.reload)

    def render(self, ctx):
        panel, state = types.Object(), ctx.panel.state
        if state.problem:
            add_problem(panel, ctx, self.reload)
        elif state.section:
            if state.run:
                panel.md(state.headline, name="headline")
                add_menu(panel, "run", state.run_keys, self.on_change_run, label="Run")
            add_tabs(panel, tuple(KIND_OF), self.on_change_section)
            if state.run:
                self._render_section(panel, ctx)
            else:
                panel.md(NOTHING_YET[state.kind], name="invitation")
                button = BUTTONS[state.kind]
                panel.btn("compute", label=button, icon="play_arrow", on_click=self.compute, variant="contained")
        return stacked(panel)

    def _render_section(self, panel, ctx):
        state = ctx.panel.state
        render = {
            "Raters": self._render_raters,
            "Counts": self._render_counts,
            "Consensus": self._render_consensus,
            "Ranking": self._render_ranking,
            "Curves": self._render_curves,
        }
        render[state.section](panel, ctx)
        self.add_buttons(panel, "images")

    def _render_raters(self, panel, ctx):
        state = ctx.panel.state
        add_menu(panel, "category", state.categories, self.on_change_category, label="Class")
        add_part(panel, ctx, "tree", CAPTIONS["tree"], self.on_click_tree)
        if state.performance:
            add_table(panel, ctx, "raters", state.performance, RATER_COLUMNS, self.on_click_rater)
        else:
            panel.md("Raters without names over the images cannot stand out: see *Counts*.", name="no_raters")

    def _render_counts(self, panel, ctx):
        state = ctx.panel.state
        add_menu(panel, "category", state.categories, self.on_change_category, label="Class")
        add_part(panel, ctx, "ratio", CAPTIONS["ratio"])
        add_part(panel, ctx, "properties", CAPTIONS["properties"])
        add_table(
            panel, ctx, "images", "Images with the least agreement; click to open", IMAGE_COLUMNS, self.on_click_image
        )

    def _render_consensus(self, panel, ctx):
        state = ctx.panel.state
        of_pixels = state.of == "pixels"
        columns = CONSENSUS_COLUMNS if of_pixels else OBJECT_CONSENSUS_COLUMNS
        add_table(
            panel,
            ctx,
            "consensus_rows",
            "Click a consensus to compare raters with it",
            columns,
            self.on_click_consensus,
        )
        add_part(panel, ctx, "against", CAPTIONS["against" if of_pixels else "against_objects"])
        add_table(
            panel,
            ctx,
            "against_rows",
            f"Raters against {state.consensus}",
            AGAINST_COLUMNS if of_pixels else OBJECT_COLUMNS,
        )
        if state.notes:
            panel.md(state.notes, name="notes")

    def _render_ranking(self, panel, ctx):
        add_part(panel, ctx, "bump", CAPTIONS["bump"])
        add_table(
            panel,
            ctx,
            "ranks",
            "Area and rank" if ctx.panel.state.of == "pixels" else "mAP and rank",
            self._columns(ctx),
        )
        add_part(panel, ctx, "shared", CAPTIONS["shared"])
        add_part(panel, ctx, "tau", CAPTIONS["tau"])

    def _columns(self, ctx):
        return [tuple(column) for column in ctx.panel.state.columns]

    def _render_curves(self, panel, ctx):
        state = ctx.panel.state
        if state.of != "pixels":
            panel.md("Curves are of score maps: this run ranks models by mAP.", name="no_curves")
            return
        add_menu(panel, "detector", state.detectors, self.on_change_detector, label="Detector")
        add_part(panel, ctx, "curves", CAPTIONS["curves"])
        add_part(panel, ctx, "agreement", CAPTIONS["agreement"])
        add_menu(panel, "reference", state.references, self.on_change_reference, label="Reference")
        add_part(panel, ctx, "under", CAPTIONS["under"])
        add_part(panel, ctx, "correlations", CAPTIONS["correlations"])
        add_part(panel, ctx, "bounds", CAPTIONS["bounds"])
        add_part(panel, ctx, "boundaries", CAPTIONS["boundaries"])
