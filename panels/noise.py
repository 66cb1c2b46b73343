"""Synthetic raters: what happened to the annotations of the reference, by kind, stage, image and rater."""

import kalos_core.fiftyone as kf
from kalos_core import NoiseModel
from kalos_core.figures import (
    EVENT_LABELS,
    OUTCOME_LABELS,
    STAGE_LABELS,
    fidelity_rows,
    fit_rows,
    loss_rows,
    origin_rows,
    stage_rows,
)

from .common import (
    RunPanel,
    add_part,
    add_table,
    changed_since,
    guarded,
    open_sample,
    put_parts,
    put_rows,
    show_view,
    take_title,
)

SECTIONS = ("Events", "Images", "Raters", "Fidelity", "Loss", "Used")

MOST_IMAGES = 20
"""Bars of images."""

OUTCOMES = tuple(OUTCOME_LABELS)

STAGE_EVENTS = {
    "unmatched": ("deletion", "addition"),
    "topology": ("split", "merge"),
    "category": ("wrong_class",),
    "first three": kf.CHANGES,
    "localization": ("shift",),
}

STAGE_COLUMNS = (
    ("stage", "Stage"),
    ("done", "Done"),
    ("lost", "Lost"),
    ("impossible", "Impossible"),
    ("share", "Share lost"),
)

RATER_COLUMNS = (
    ("field", "Rater (field)"),
    ("magnitude", "λ"),
    ("annotations", "Labels"),
    *((kind, EVENT_LABELS[kind]) for kind in kf.CHANGES),
    ("lost", "lost"),
)

DISTRIBUTION_COLUMNS = (("distribution", "Distribution"), ("source", "From"), ("reason", "Why"))

FIDELITY_COLUMNS = (
    ("quantity", "Quantity"),
    ("real", "Real raters [95 %]"),
    ("generated", "Generated"),
    ("inside", "Inside"),
)

RATE_COLUMNS = (("test", "Test"), ("model", "Rate"), ("statistic", "Value"), ("p", "p"), ("note", "Says"))

LOSS_COLUMNS = (("magnitude", "λ"), ("here", "Lost here"), ("paper", "Lost in the paper"))

NOTHING_YET = (
    "**Synthetic raters**\n\nNothing is computed yet. Synthetic raters start from a reference: they miss, add, split, "
    "merge, misname and move annotations as real raters do, as strongly as you choose, and what happened to which "
    "label is known. So any measure of agreement can be tried where the ground truth is known."
)

CAPTIONS = {
    "events": (
        "What happened to annotations, all raters together. *Lost*: an earlier stage had taken it already; "
        "*impossible*: there was nothing to add, merge with or become. All that are left are moved and scaled. "
        "**Click a bar to see those labels, and the reference's they come from.**"
    ),
    "images": (
        "Images with the most events, moved annotations not counted. **Click a bar to open the image.** Every "
        "synthetic label says in its attribute which event it comes from."
    ),
    "fidelity": (
        "(Reference, generated rater) against (reference, other real rater), at magnitude 1. Grey: the 95 % interval "
        "of the real raters, from 0 to 1; a dot outside: generated raters differ otherwise. Distances are "
        "Kolmogorov-Smirnov's of two distributions, 0 to 1."
    ),
    "loss": (
        "Events that came too late for their annotation, of raters made by the same model at five magnitudes; dashed: "
        "the paper's Table 3, on the whole of LVIS. On 200 images of LVIS, a model fitted with the paper's "
        "distributions (preset `paper`) and one with free shifts are within a percentage point of it at λ = 0.5 and 1 "
        "and lose less at 2 and 5. Where matched annotations stay matched less is lost at any λ: nothing is missed "
        "twice."
    ),
}
"""Below each figure: what is shown, and how to read it."""


class NoisePanel(RunPanel):
    NAME, LABEL, ICON = "noise", "Noise", "/assets/noise.svg"
    HELP = "Synthetic raters: what happened to the annotations of the reference"
    KIND, OPERATOR, BUTTON = "noise", "inject_noise", "Create synthetic raters"
    NOTHING_YET, SECTIONS = NOTHING_YET, SECTIONS

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, key)
        details, images = run.details, kf.noisy_images(ctx.dataset, key, MOST_IMAGES)
        parts = kf.figures_of(run, images=images)
        titles = [take_title(parts, name) for name in ("events", "fidelity") if parts[name].figure]
        state.headline = headline(titles, run.metrics) + changed_since(ctx, key)
        put_parts(ctx, parts)
        state.image_ids = [image.sample_id for image in images]
        state.fields, state.stage_names = run.metrics["fields"], list(details.loss.stage)
        state.used = used(run)
        put_rows(ctx, "stages", stage_rows(details.loss))
        put_rows(ctx, "raters", rater_rows(run))
        put_rows(ctx, "losses", loss_rows(details.loss_by_magnitude))
        put_rows(ctx, "distributions", origin_rows(NoiseModel.from_json(details.model)))
        state.is_compared = bool(parts["fidelity"].figure)
        if state.is_compared:
            put_rows(ctx, "quantities", fidelity_rows(details.fidelity))
            put_rows(ctx, "rates", fit_rows(details.rate_tests))

    # ---- what a click leads to ----

    @guarded
    def on_click_event(self, ctx):
        kind, outcome = kf.CHANGES[ctx.params["idx"]], OUTCOMES[ctx.params["trace_idx"]]
        view = kf.view_of_event(ctx.dataset, ctx.panel.state.run, kind, outcome)
        show_view(ctx, view, f"images with annotations {EVENT_LABELS[kind]}: {outcome}")

    @guarded
    def on_click_stage(self, ctx):
        stage = ctx.panel.state.stage_names[ctx.params["row"]]
        view = kf.view_of_event(ctx.dataset, ctx.panel.state.run, STAGE_EVENTS[stage])
        show_view(ctx, view, f"images with events of the stage {STAGE_LABELS[stage]}")

    @guarded
    def on_click_image(self, ctx):
        open_sample(ctx, ctx.panel.state.image_ids[round(ctx.params["y"])])

    @guarded
    def on_click_rater(self, ctx):
        field = ctx.panel.state.fields[ctx.params["row"]]
        view = kf.view_of_event(ctx.dataset, ctx.panel.state.run, kf.CHANGES, rater=field)
        show_view(ctx, view, f"images with what {field} changed")

    @guarded
    def show_changed(self, ctx):
        view = kf.view_of_changes(ctx.dataset, ctx.panel.state.run)
        show_view(ctx, view, "images with events, those with most first")

    # ---- layout ----

    def render_run(self, panel, ctx):
        state = ctx.panel.state
        if state.section == "Events":
            add_part(panel, ctx, "events", CAPTIONS["events"], self.on_click_event)
            label = "Stages in their order: click a row to see those labels"
            add_table(panel, ctx, "stages", label, STAGE_COLUMNS, self.on_click_stage)
        elif state.section == "Images":
            add_part(panel, ctx, "images", CAPTIONS["images"], self.on_click_image)
        elif state.section == "Raters":
            label = "Events of each rater: click a row to see what they changed"
            add_table(panel, ctx, "raters", label, RATER_COLUMNS, self.on_click_rater)
        elif state.section == "Fidelity":
            add_part(panel, ctx, "fidelity", CAPTIONS["fidelity"])
            if state.is_compared:
                add_table(panel, ctx, "quantities", "Quantities of generated and of real raters", FIDELITY_COLUMNS)
                add_table(panel, ctx, "rates", "Tests of the number of unmatched annotations", RATE_COLUMNS)
        elif state.section == "Loss":
            add_part(panel, ctx, "loss", CAPTIONS["loss"])
            add_table(panel, ctx, "losses", "Signal loss beside the paper's Table 3", LOSS_COLUMNS)
        else:
            panel.md(state.used, name="used")
            add_table(panel, ctx, "distributions", "Where each distribution of the model is from", DISTRIBUTION_COLUMNS)
        changed = ("show_changed", "Most events first", "sort", self.show_changed)
        self.add_buttons(panel, "labels", *[changed] * bool(state.image_ids))


def headline(titles, metrics):
    """What was changed, how much of it took effect, and whether generated raters differ as the real ones do."""
    title, *more = titles
    first, *rest = metrics["fields"]
    fields = f"fields {first} to {rest[-1]}" if len(rest) > 1 else f"fields {', '.join([first, *rest])}"
    written = f"{metrics['annotations']:,} labels on {metrics['images']:,} images; {fields}."
    return "\n\n".join([f"###### {title}", *more, written])


def rater_rows(run):
    """A row a rater, with their field."""
    table = run.details.raters.to_pandas().assign(field=run.metrics["fields"])
    return table.assign(magnitude=table.magnitude.map("{:g}".format)).to_dict("records")


def used(run):
    """Model, sources, seed and magnitudes."""
    metrics = run.metrics
    raters = ", ".join(f"{row['field']} from {row['reference']} with λ = {row['magnitude']}" for row in rater_rows(run))
    return (
        f"- **Model:** {metrics['model']}\n- **Classes are mistaken by:** {metrics['class_source']}\n"
        f"- **Annotations are added from:** {metrics['false_positive_source']}\n- **Seed:** {metrics['seed']}\n"
        f"- **Raters:** {raters}"
    )
