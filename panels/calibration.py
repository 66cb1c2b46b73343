"""From which similarity on two annotations may be the same object: annotations of one image against chance."""

import warnings

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.display import NO_BREAK, alpha_text, bold
from kalos_core.figures import PUBLISHED_CALIBRATIONS, with_interval

from .common import RunPanel, add_caption, add_figure, add_table, changed_since, guarded, put_figures, put_rows

COLUMNS = (
    ("name", "Similarity"),
    ("ks", "KS"),
    ("tau", "τ* (distance)"),
    ("threshold", "τ*_s (similarity, 1 − τ*)"),
)

SIZE_COLUMNS = (("size", "Size"), *COLUMNS[1:])

PUBLISHED_COLUMNS = (
    ("dataset", "Data set"),
    *COLUMNS,
    ("source", "Source"),
)

NOTHING_YET = (
    "**Calibration of the threshold**\n\nNothing is computed yet. Calibration compares each annotation with the "
    "nearest one of another rater of its image, and with that of a rater of another image, which is chance. Where "
    "chance becomes the likelier explanation is the threshold; the similarity with the larger gap (KS) tells the two "
    "apart better."
)

CAPTION = (
    "Distance (1 − similarity) of each annotation to the nearest one of another rater: of the same image (*observed*), "
    "of another image (*expected* by chance). KS: largest gap of the two distribution functions, 0 to 1. τ*: where "
    "their densities cross; annotations that are farther apart are as likely chance."
)


class CalibrationPanel(RunPanel):
    NAME, LABEL, ICON = "calibration", "Calibration", "/assets/calibration.svg"
    HELP = "Observed against expected distances, and the threshold that parts them"
    KIND, OPERATOR, BUTTON = "calibration", "calibrate_threshold", "Calibrate the threshold"
    NOTHING_YET = NOTHING_YET

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, key)
        found = run.metrics["similarities"]
        state.names = run.details.names
        if state.similarity not in state.names:
            state.similarity = state.names[0]
        state.headline = _headline(run) + changed_since(ctx, key)
        state.defaults = {name: kf.default_threshold(ctx.dataset, name) for name in state.names}
        state.thresholds = {entry["name"]: entry["threshold"] for entry in found}
        state.doubts = {entry["name"]: entry["why"] for entry in found}
        put_rows(ctx, "similarities", [_row(entry, state) for entry in run.details])
        part = kf.figures_of(run)[state.similarity]
        state.finding, state.note = part.title, part.note
        put_figures(ctx, {"distances": part.figure})
        sizes = run.details[state.similarity].strata
        state.has_sizes = bool(sizes)
        put_rows(ctx, "sizes", [{"size": size, **_row(stratum)} for size, stratum in sizes.items()])
        put_rows(ctx, "published", _published(state.similarity))

    @guarded
    def on_click_similarity(self, ctx):
        ctx.panel.state.similarity, ctx.panel.state.asked = ctx.panel.state.names[ctx.params["row"]], None
        self.load_run(ctx, ctx.panel.state.run)

    @guarded
    def use_threshold(self, ctx):
        state = ctx.panel.state
        shown = [state.run, state.similarity]
        if state.doubts[state.similarity] and state.thresholds[state.similarity] is not None and state.asked != shown:
            state.asked = shown  # once more
            return
        state.asked = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # it was said
            kf.choose_threshold(ctx.dataset, state.run, state.similarity)
        self.load_run(ctx, state.run)
        value = alpha_text(state.defaults[state.similarity])
        ctx.ops.notify(f"Later forms offer {value} for {state.similarity}", variant="success")

    def render_run(self, panel, ctx):
        state = ctx.panel.state
        label = "Similarities, the one that tells signal from chance best first: click one to see it"
        add_table(panel, ctx, "similarities", label, COLUMNS, self.on_click_similarity)
        panel.md(bold(state.finding), name="found")
        self._add_threshold(panel, state)
        add_figure(panel, ctx, "distances")
        add_caption(panel, f"{CAPTION} {state.note}")
        if state.has_sizes:
            label = (
                f"{state.similarity} by the size of the annotation (small to 32², large from 96² of 640 × 480 pixels)"
            )
            add_table(panel, ctx, "sizes", label, SIZE_COLUMNS)
        add_table(panel, ctx, "published", "Published calibrations", PUBLISHED_COLUMNS)
        panel.btn("again", label="New run", icon="play_arrow", on_click=self.compute)

    def _add_threshold(self, panel, state):
        """The button that makes the threshold the default; what is the default already."""
        threshold = state.thresholds[state.similarity]
        if threshold is None:
            return
        if state.defaults[state.similarity] == threshold:
            panel.md(
                f"{alpha_text(threshold)} is what later forms offer as the threshold of {state.similarity}.",
                name="is_default",
            )
            return
        label = f"Use {alpha_text(threshold)} as the default threshold of {state.similarity}"
        if state.asked == [state.run, state.similarity]:
            doubt = types.Warning(label="Not to be trusted", description=state.doubts[state.similarity])
            panel.view("doubt", doubt)
            label += " all the same"
        panel.btn(
            "use",
            label=label,
            icon="check",
            on_click=self.use_threshold,
            variant="contained",
        )


def _headline(run):
    """The best similarity first, then what it is over."""
    metrics, settings, best = run.metrics, run.settings, run.details.best
    title = f"{best.name} tells signal from chance best: KS {with_interval(best.ks, best.ks_interval)}"
    if np.isnan(best.ks):
        title = "No similarity could be calibrated"
    draws = "1 draw of chance" if settings["repeats"] == 1 else f"{settings['repeats']:,} draws of chance"
    over = f"over {metrics['images']:,} images, {metrics['annotations']:,} annotations, {len(metrics['raters'])} raters"
    return f"###### {title}\n\n{over}; {draws}, seed {settings['seed']}."


def _row(found, state=None):
    """What a calibration found, as texts; why there is no threshold, or what speaks against it."""
    threshold = found.reason or _stacked(found.threshold, found.threshold_interval)
    if not found.reason and not found.trusted:
        threshold = f"{threshold}\n⚠ not to be trusted: {found.why}"
    shown = state is not None and found.name == state.similarity
    default = state is not None and state.defaults[found.name] == found.threshold
    return {
        "name": f"▸ {found.name}" if shown else found.name,
        "ks": _stacked(found.ks, found.ks_interval),
        "tau": _stacked(found.tau, found.tau_interval),
        "threshold": f"{threshold}\n✓ default" if default else threshold,
    }


def _stacked(value, interval):
    """A value with its interval below: a narrow column."""
    return with_interval(value, interval, 3).replace(f"{NO_BREAK}[", "\n[")


def _published(similarity):
    """Published calibrations, those of the similarity that is shown first."""
    records = sorted(PUBLISHED_CALIBRATIONS, key=lambda record: record.similarity != similarity)
    return [
        {
            "dataset": record.dataset,
            "name": record.similarity,
            "ks": _stacked(record.ks, record.ks_interval),
            "tau": _stacked(record.tau, record.tau_interval),
            "threshold": alpha_text(record.threshold, 3),
            "source": f"{record.source}\n{record.note}".rstrip(),
        }
        for record in records
    ]
