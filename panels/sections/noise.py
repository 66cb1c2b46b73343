"""Synthetic raters: what happened to the annotations of the reference, by kind, stage, image and rater."""

from collections.abc import Sequence
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import NoiseModel
from kalos_core.display import EVENT_LABELS, OUTCOME_LABELS, STAGE_LABELS, number_of
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.kinds.noise.views import CHANGES, noisy_images, view_of_changes, view_of_event
from kalos_core.figures.events import stage_rows
from kalos_core.figures.experiments import loss_rows
from kalos_core.figures.noise import fidelity_rows, fit_rows, origin_rows
from kalos_core.text import names_shown, shown

from ..parts.events import Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_table
from .one_run import RunSection, take_title

MOST_IMAGES = 20
"""Bars of images."""

OUTCOMES = tuple(OUTCOME_LABELS)

STAGE_EVENTS = {
    "unmatched": ("deletion", "addition"),
    "topology": ("split", "merge"),
    "category": ("wrong_class",),
    "first three": CHANGES,
    "localization": ("shift",),
}

STAGE_COLUMNS = (
    ("stage", "Stage"),
    ("done", "Done"),
    ("lost", "Too late"),
    ("impossible", "Impossible"),
    ("share", "Share too late"),
)

RATER_COLUMNS = (
    ("field", "Rater (field)"),
    ("magnitude", "Strength (λ)"),
    ("annotations", "Labels"),
    *((kind, EVENT_LABELS[kind]) for kind in CHANGES),
    ("lost", "too late"),
)

DISTRIBUTION_COLUMNS = (("distribution", "Distribution"), ("source", "From"), ("reason", "Why"))

FIDELITY_COLUMNS = (
    ("quantity", "Quantity"),
    ("real", "Real raters [95 %]"),
    ("generated", "Generated"),
    ("inside", "Inside"),
)

RATE_COLUMNS = (("test", "Test"), ("model", "Rate"), ("statistic", "Value"), ("p", "p"), ("note", "Says"))

LOSS_COLUMNS = (("magnitude", "Strength (λ)"), ("here", "Too late here"), ("paper", "Too late in the paper"))


class NoiseSection(RunSection):
    """What synthetic raters changed, and whether they differ as the real ones do."""

    NAME, KIND, FAMILY = "Noise", "noise", None
    PAGES = ("Events", "Images", "Raters", "Fidelity", "Loss", "Used")

    def load_run(self, ctx: Context, run: Any) -> None:
        state, details, page = ctx.panel.state, run.details, self.page(ctx)
        images = noisy_images(ctx.dataset, run.key, MOST_IMAGES)
        parts = dict(kf.figures_of(run, images=images))
        state.is_compared = bool(parts["fidelity"].figure)
        titles = [take_title(parts, "events"), *([parts["fidelity"].title] * state.is_compared)]
        self.put_headline(ctx, titles[0], "\n\n".join([*titles[1:], written(run.metrics)]))
        put_parts(ctx, parts)
        state.image_ids = [image.sample_id for image in images]
        state.noise_fields, state.stage_names = run.metrics["fields"], list(details.loss.stage)
        if page == "Events":
            ctx.panel.set_data("stages", stage_rows(details.loss))
        elif page == "Raters":
            ctx.panel.set_data("noise_raters", rater_rows(run))
        elif page == "Loss":
            ctx.panel.set_data("losses", loss_rows(details.loss_by_magnitude))
        elif page == "Used":
            state.used = used(run)
            ctx.panel.set_data("distributions", origin_rows(NoiseModel.from_json(details.model)))
        elif page == "Fidelity" and state.is_compared:
            ctx.panel.set_data("quantities", fidelity_rows(details.fidelity))
            ctx.panel.set_data("rates", fit_rows(details.rate_tests))

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, page = ctx.panel.state, self.page(ctx)
        row = self.add_headline(panel, ctx)
        if state.image_ids:
            row.btn("most_events", label="Most events first", icon="sort", on_click=self.to(self.show_changed))
        if page == "Events":
            click = "Click a bar to see those labels, and the reference's they come from."
            add_part(panel, ctx, "events", click, self.to(self.click_event))
            label = "Stages in their order: click a row to see those labels"
            add_table(panel, "stages", label, STAGE_COLUMNS, self.to(self.click_stage))
        elif page == "Images":
            add_part(panel, ctx, "images", "Click a bar to open the image.", self.to(self.click_image))
        elif page == "Raters":
            label = "Events of each rater: click a row to see what they changed"
            add_table(panel, "noise_raters", label, RATER_COLUMNS, self.to(self.click_rater))
        elif page == "Fidelity":
            add_part(panel, ctx, "fidelity")
            if state.is_compared:
                add_table(panel, "quantities", "Quantities of generated and of real raters", FIDELITY_COLUMNS)
                add_table(panel, "rates", "Tests of the number of unmatched annotations", RATE_COLUMNS)
        elif page == "Loss":
            add_part(panel, ctx, "loss")
            add_table(panel, "losses", "Changes that came too late, beside the paper's Table 3", LOSS_COLUMNS)
        else:
            panel.md(state.used, name="used_text")
            add_table(panel, "distributions", "Where each distribution of the model is from", DISTRIBUTION_COLUMNS)

    @guarded
    def click_event(self, ctx: Context) -> None:
        kind, outcome = CHANGES[ctx.params["idx"]], OUTCOMES[ctx.params["trace_idx"]]
        view = view_of_event(ctx.dataset, ctx.panel.state.run, kind, outcome)
        self.show(ctx, view, f"images with annotations {EVENT_LABELS[kind]}: {outcome}")

    @guarded
    def click_stage(self, ctx: Context) -> None:
        stage = ctx.panel.state.stage_names[ctx.params["row"]]
        view = view_of_event(ctx.dataset, ctx.panel.state.run, STAGE_EVENTS[stage])
        self.show(ctx, view, f"images with events of the stage {STAGE_LABELS[stage]}")

    @guarded
    def click_image(self, ctx: Context) -> None:
        open_sample(ctx, ctx.panel.state.image_ids[round(ctx.params["y"])])

    @guarded
    def click_rater(self, ctx: Context) -> None:
        field = ctx.panel.state.noise_fields[ctx.params["row"]]
        view = view_of_event(ctx.dataset, ctx.panel.state.run, CHANGES, rater=field)
        self.show(ctx, view, f"images with what {shown(field)} changed")

    @guarded
    def show_changed(self, ctx: Context) -> None:
        view = view_of_changes(ctx.dataset, ctx.panel.state.run)
        self.show(ctx, view, "images with events, those with most first")


def written(metrics: Any) -> str:
    """How many labels were made, and where they are."""
    first, *rest = names_shown(metrics["fields"])
    fields = f"fields {first} to {rest[-1]}" if len(rest) > 1 else f"fields {', '.join([first, *rest])}"
    return f"{number_of(metrics['annotations'], 'label')} on {number_of(metrics['images'], 'image')}; {fields}."


def rater_rows(run: Any) -> Sequence[dict[str, Any]]:
    """A row a rater, with their field."""
    table = run.details.raters.to_pandas().assign(field=run.metrics["fields"])
    rows: Sequence[dict[str, Any]] = table.assign(magnitude=table.magnitude.map("{:g}".format)).to_dict("records")
    return rows


def used(run: Any) -> str:
    """Model, sources, seed and magnitudes."""
    metrics = run.metrics
    raters = (
        f"{shown(row['field'])} from {shown(row['reference'])} with λ = {row['magnitude']}" for row in rater_rows(run)
    )
    model, classes, added = names_shown(metrics[name] for name in ("model", "class_source", "false_positive_source"))
    return (
        f"- **Model:** {model}\n- **Classes are mistaken by:** {classes}\n- **Annotations are added from:** {added}\n"
        f"- **Seed:** {metrics['seed']}\n- **Raters:** {', '.join(raters)}"
    )
