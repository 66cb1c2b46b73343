"""Synthetic raters: what happened to the annotations of the reference, by kind, stage, image and rater."""

import kalos_core.fiftyone as kf
from kalos_core.figures import EVENT_LABELS, FIDELITY_LABELS, OUTCOME_LABELS, significant, with_interval

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

SECTIONS = ("Events", "Images", "Raters", "Used", "Fidelity")

MOST_IMAGES = 20
"""Bars of images."""

OUTCOMES = tuple(OUTCOME_LABELS)

STAGES = {
    "unmatched": ("1. missed and added", ("deletion", "addition")),
    "topology": ("2. split and merged", ("split", "merge")),
    "category": ("3. wrong class", ("wrong_class",)),
    "first three": ("together: signal loss", kf.CHANGES),
    "localization": ("4. moved and scaled", ("shift",)),
}
"""Stage -> how people read it, and its events."""

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
    ("labels", "Labels"),
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

NOT_FITTED = (
    "Whether generated raters differ as the real ones do is compared where the noise model is fitted on the raters of "
    "this data set: two of them or more."
)

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
}
"""Below each figure: what is shown, and how to read it."""


class NoisePanel(RunPanel):
    NAME, LABEL, ICON = "noise", "Noise", "/assets/noise.svg"
    HELP = "Synthetic raters: what happened to the annotations of the reference"
    KIND, OPERATOR, BUTTON = "noise", "inject_noise", "Create synthetic raters"
    NOTHING_YET, SECTIONS = NOTHING_YET, SECTIONS

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, key)
        raters, loss = run.details["raters"], run.metrics["loss"]
        images = kf.noisy_images(ctx.dataset, key, MOST_IMAGES)
        parts = kf.figures_of(run, images=images)
        state.headline = headline(take_title(parts, "events"), run.metrics) + changed_since(ctx, key)
        put_parts(ctx, parts)
        state.image_ids = [image.sample_id for image in images]
        state.fields = [row["field"] for row in raters]
        state.stage_names = [row["stage"] for row in loss]
        state.used = used(run.metrics, raters)
        put_rows(ctx, "stages", [_stage_row(row) for row in loss])
        put_rows(ctx, "raters", [{**row, "magnitude": f"{row['magnitude']:g}"} for row in raters])
        put_rows(ctx, "distributions", run.details["distributions"])
        put_rows(ctx, "quantities", _fidelity_rows(run.details["fidelity"]))

    # ---- what a click leads to ----

    @guarded
    def on_click_event(self, ctx):
        kind, outcome = kf.CHANGES[ctx.params["idx"]], OUTCOMES[ctx.params["trace_idx"]]
        view = kf.view_of_event(ctx.dataset, ctx.panel.state.run, kind, outcome)
        show_view(ctx, view, f"images with annotations {EVENT_LABELS[kind]}: {outcome}")

    @guarded
    def on_click_stage(self, ctx):
        stage = ctx.panel.state.stage_names[ctx.params["row"]]
        name, kinds = STAGES[stage]
        view = kf.view_of_event(ctx.dataset, ctx.panel.state.run, kinds)
        show_view(ctx, view, f"images with events of the stage {name}")

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
            if "fidelity" in state.titles:
                add_part(panel, ctx, "fidelity", CAPTIONS["fidelity"])
                add_table(panel, ctx, "quantities", "Quantities of generated and of real raters", FIDELITY_COLUMNS)
            else:
                panel.md(NOT_FITTED, name="not_fitted")
        else:
            panel.md(state.used, name="used")
            add_table(panel, ctx, "distributions", "Where each distribution of the model is from", DISTRIBUTION_COLUMNS)
        changed = ("show_changed", "Most events first", "sort", self.show_changed)
        self.add_buttons(panel, "labels", *[changed] * bool(state.image_ids))


def headline(title, metrics):
    """What was changed, and how much of it took effect."""
    return f"###### {title}\n\n{metrics['annotations']:,} labels on {metrics['images']:,} images; {_fields(metrics)}."


def used(metrics, raters):
    """Model, sources, seed and magnitudes."""
    raters_text = ", ".join(f"{row['field']} from {row['reference']} with λ = {row['magnitude']:g}" for row in raters)
    return (
        f"- **Model:** {metrics['model']}\n- **Classes are mistaken by:** {metrics['class_source']}\n"
        f"- **Annotations are added from:** {metrics['false_positive_source']}\n- **Seed:** {metrics['seed']}\n"
        f"- **Raters:** {raters_text}"
    )


def _fidelity_rows(found):
    if not found:
        return []
    columns = (found[name] for name in ("quantity", "real", "low", "high", "synthetic", "inside"))
    return [
        {
            "quantity": FIDELITY_LABELS.get(name, name),
            "real": with_interval(real, [low, high]),
            "generated": significant(synthetic),
            "inside": "yes" if inside else "no",
        }
        for name, real, low, high, synthetic, inside in zip(*columns, strict=True)
    ]


def _fields(metrics):
    first, *rest = metrics["fields"]
    return f"fields {first} to {rest[-1]}" if len(rest) > 1 else f"fields {', '.join([first, *rest])}"


def _stage_row(row):
    share = row["share_lost"]
    return {
        "stage": STAGES[row["stage"]][0],
        **{name: f"{row[name]:,}" for name in ("done", "lost", "impossible")},
        "share": "none attempted" if share is None else f"{significant(100 * share)}\u00a0%",
    }
