"""Threshold: from which similarity on two annotations may be the same object, and what depends on it."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import KalosWarning
from kalos_core.display import VARIATION_LABELS, alpha_text, count_and_share, count_text, number_of
from kalos_core.errors import Undefined
from kalos_core.fiftyone.analyses.advice import threshold_advice
from kalos_core.fiftyone.kinds.agreement.views import view_of_threshold
from kalos_core.fiftyone.kinds.calibration.kind import CalibrationRun
from kalos_core.fiftyone.kinds.variations.kind import VariationRun
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.table import Part
from kalos_core.fiftyone.runs.thresholds import default_threshold
from kalos_core.figures.published import PUBLISHED_CALIBRATIONS
from kalos_core.text import bold, shown
from kalos_core.variation import VARIATION_TYPES

from ..parts.events import WORKBENCH, Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_menu, add_row, add_table, in_two_lines
from .base import Section

CALIBRATION, SENSITIVITY, TYPES, PUBLISHED = "Calibration", "Sensitivity", "Types", "Published"

KINDS = {CALIBRATION: "calibration", SENSITIVITY: "agreement", TYPES: "variations", PUBLISHED: ""}
"""Page -> the kind of run it shows."""

NUMBERS = (("ks", "KS"), ("threshold", "Threshold"))

COLUMNS = (("name", "Similarity"), *NUMBERS)

SIZE_COLUMNS = (("size", "Size"), *NUMBERS)

PUBLISHED_COLUMNS = (("dataset", "Data set"), *COLUMNS, ("tau", "τ*"), ("source", "Source"))

NOTHING_YET = (
    "**From which similarity on are two annotations the same object?**\n\nNothing is computed yet. Calibration "
    "compares each annotation with the nearest one of another rater of its image, and with that of a rater of another "
    "image, which is chance. Where chance becomes the likelier explanation is the threshold."
)


class ThresholdSection(Section):
    NAME, KIND, NOTHING_YET, PAGES = "Threshold", "calibration", NOTHING_YET, tuple(KINDS)

    def kind(self, ctx: Context) -> str:
        return KINDS[self.page(ctx)]

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state, kind = ctx.panel.state, self.kind(ctx)
        lead = analysis.run("agreement")
        state.in_use = None if lead is None else [lead.settings["similarity"], lead.settings["threshold"]]
        if not kind:
            ctx.panel.set_data("published", _published(state.in_use and state.in_use[0]))
            return
        run = kf.load_details(ctx.dataset, analysis.runs[kind].key)
        state.run = run.key
        if kind == "calibration":
            self._load_calibration(ctx, run)
        elif kind == "agreement":
            put_parts(ctx, {"sensitivity": kf.figures_of(run)["sensitivity"]})
            state.thresholds = run.metrics["thresholds"]
        else:
            self._load_types(ctx, run)

    def _load_calibration(self, ctx: Context, run: CalibrationRun) -> None:
        """The similarity that is in use, until another one is chosen."""
        state = ctx.panel.state
        state.names = run.details.names
        if state.similarity_of != run.key or state.similarity not in state.names:
            used = state.in_use and state.in_use[0]
            state.similarity = used if used in state.names else state.names[0]
            state.similarity_of, state.asked = run.key, None
        chosen = run.details[state.similarity]
        stored = {entry["name"]: entry for entry in run.metrics["similarities"]}[chosen.name]
        state.calibrated, state.doubt = stored["threshold"], stored["why"]
        state.defaults = {name: default_threshold(ctx.dataset, name) for name in state.names}
        state.found = _in_words(stored, state.in_use)
        known = bool(state.in_use) and state.in_use[0] in state.names
        state.advice = shown(threshold_advice(ctx.dataset, state.analysis).text, None) if known else ""
        part = kf.figures_of(run)[chosen.name]
        put_parts(ctx, {"calibration": Part("", part.figure, part.note)})  # its title is said above
        ctx.panel.set_data(
            "similarities", [_row(entry, chosen.name, state.defaults[entry.name]) for entry in run.details]
        )
        state.has_sizes = bool(chosen.strata)
        ctx.panel.set_data("sizes", [{"size": size, **_row(stratum)} for size, stratum in chosen.strata.items()])
        metrics, repeats = run.metrics, run.settings["repeats"]
        state.over = (
            f"Over {number_of(metrics['images'], 'image')}, {number_of(metrics['annotations'], 'annotation')}, "
            f"{number_of(len(metrics['raters']), 'rater')}; {number_of(repeats, 'draw of chance')}, "
            f"seed {run.settings['seed']}."
        )

    def _load_types(self, ctx: Context, run: VariationRun) -> None:
        """The shares, and the counts at the threshold that is chosen: at first the run's own."""
        state, shares = ctx.panel.state, run.details.shares
        state.levels = []
        if not isinstance(shares, Undefined):
            state.levels = [str(value) for value in shares.threshold]
            state.own = str(run.settings["threshold"])
            if state.level not in state.levels:
                state.level = state.own
            counts = dict(zip(state.levels, shares.counts.tolist(), strict=True))
            ctx.panel.set_data("at_threshold", _threshold_rows(counts[state.own], counts[state.level]))
        figures = kf.figures_of(run, threshold=float(state.level) if state.levels else None)
        put_parts(ctx, {"shares": figures["shares"]})

    # ---- events ----

    @guarded
    def click_similarity(self, ctx: Context) -> None:
        ctx.panel.state.similarity, ctx.panel.state.asked = ctx.panel.state.names[ctx.params["row"]], None
        self.load_again(ctx)

    @guarded
    def use(self, ctx: Context) -> None:
        """Make it the default of later forms; one that is not to be trusted has to be asked for twice."""
        state = ctx.panel.state
        if state.doubt and state.calibrated is not None and not state.asked:
            state.asked = True
            return
        state.asked = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # it was said
            kf.choose_threshold(ctx.dataset, state.run, state.similarity)
        self.load_again(ctx)
        text = f"Later forms offer {alpha_text(state.calibrated)} for {state.similarity}"
        ctx.ops.notify(text, variant="success")

    @guarded
    def click_alpha(self, ctx: Context) -> None:
        """The curve's points; nothing is known of the images at the anchor and the strict threshold."""
        state = ctx.panel.state
        if (threshold := ctx.params["x"]) in state.thresholds:
            view = view_of_threshold(ctx.dataset, state.run, threshold)
            self.show(ctx, view, f"images, the lowest alpha at threshold {alpha_text(threshold)} first")

    @guarded
    def on_change_level(self, ctx: Context) -> None:
        self._set_level(ctx, ctx.params["value"])

    @guarded
    def click_level(self, ctx: Context) -> None:
        levels = ctx.panel.state.levels
        self._set_level(ctx, min(levels, key=lambda level: abs(float(level) - ctx.params["x"])))

    def _set_level(self, ctx: Context, level: str) -> None:
        ctx.panel.state.level = level
        self._load_types(ctx, kf.load_details(ctx.dataset, ctx.panel.state.run))

    # ---- layout ----

    def render(self, panel: types.Object, ctx: Context) -> None:
        page = self.page(ctx)
        self.add_not_in_lens(panel, ctx)
        if page == CALIBRATION:
            self._add_calibration(panel, ctx)
        elif page == SENSITIVITY:
            click = "Click a point to see its images, worst first."
            add_part(panel, ctx, "sensitivity", click, self.to(self.click_alpha))
        elif page == TYPES:
            self._add_types(panel, ctx)
        else:
            label = "Published calibrations, those of the similarity in use first"
            add_table(panel, "published", label, PUBLISHED_COLUMNS)

    def _add_calibration(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        panel.md(bold(state.found), name="found_text")
        if state.advice:
            panel.md(state.advice, name="advice_text")
        if state.calibrated is not None:
            self._add_buttons(panel, ctx)
        add_part(panel, ctx, "calibration")
        label = "Similarities, the one that tells the same object from chance best first: click one to see it"
        add_table(panel, "similarities", label, COLUMNS, self.to(self.click_similarity))
        if state.has_sizes:
            label = (
                f"{state.similarity} by the size of the annotation (small to 32², large from 96² of 640 × 480 pixels)"
            )
            add_table(panel, "sizes", label, SIZE_COLUMNS)
        panel.md(state.over, name="over_text")

    def _add_buttons(self, panel: types.Object, ctx: Context) -> None:
        """A new analysis with the threshold, and the threshold as the default of later forms."""
        state, value = ctx.panel.state, alpha_text(ctx.panel.state.calibrated)
        if state.asked:
            panel.view("doubt", types.Warning(label="Not to be trusted", description=state.doubt))
        row = add_row(panel, "use_row", "320px")
        row.btn(
            "again",
            label=f"New analysis with {state.similarity} from {value} on",
            icon="play_arrow",
            on_click=f"{WORKBENCH}#prompt",
            params={
                "operator": "analyse",
                "given": {
                    "similarity": state.similarity,
                    "threshold": round(state.calibrated, 3),
                    "view_target": "DATASET",  # a click may have narrowed the grid
                },
            },
            variant="contained",
        )
        if state.defaults[state.similarity] == state.calibrated:
            text = f"{value} is what later forms offer as the threshold of {state.similarity}."
            row.md(text, name="is_default")
        else:
            label = f"Use {value} as the default threshold of {state.similarity}" + " all the same" * bool(state.asked)
            row.btn("use", label=label, icon="check", on_click=self.to(self.use), variant="outlined")

    def _add_types(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        add_part(panel, ctx, "shares", "Click a threshold to read its counts below.", self.to(self.click_level))
        if not state.levels:
            return
        labels = {value: f"threshold {float(value):.2f}" + " (in use)" * (value == state.own) for value in state.levels}
        add_menu(panel, "level", labels, self.to(self.on_change_level))
        columns = [("type", "Type"), ("own", f"At {float(state.own):.2f} (in use)")]
        if state.level != state.own:
            columns += [("chosen", f"At {float(state.level):.2f}"), ("change", "Change")]
        add_table(panel, "at_threshold", "Findings of each type", columns)


def _in_words(found: Mapping[str, Any], in_use: Sequence[Any] | None) -> str:
    """What a calibration says of a similarity, and what is in use."""
    name, threshold = found["name"], found["threshold"]
    if threshold is None:
        text = f"No threshold for {name}: {found['reason']}"
    elif found["why"]:
        text = f"Threshold {alpha_text(threshold)} for {name} is not to be trusted: {found['why']}"
    else:
        text = f"From {name} {alpha_text(threshold)} on, two annotations are more likely the same object than chance"
    if in_use is None:
        return text
    similarity, used = in_use
    return f"{text}; in use: {'' if similarity == name else f'{similarity} '}{alpha_text(used)}"


def _row(found: Any, chosen: str = "", default: float | None = None) -> dict[str, str]:
    """What a calibration found, as texts; why there is no threshold, or what speaks against it."""
    threshold = found.reason or in_two_lines(found.threshold, found.threshold_interval)
    if not found.reason and not found.trusted:
        threshold = f"{threshold}\n⚠ not to be trusted: {found.why}"
    row = {"ks": in_two_lines(found.ks, found.ks_interval), "tau": in_two_lines(found.tau, found.tau_interval)}
    return {
        "name": f"▸ {found.name}" if found.name == chosen else found.name,
        **row,
        "threshold": f"{threshold}\n✓ default" if default is not None and default == found.threshold else threshold,
    }


def _published(similarity: str | None) -> list[dict[str, str]]:
    """Published calibrations, those of a similarity first."""
    records = sorted(PUBLISHED_CALIBRATIONS, key=lambda record: record.similarity != similarity)
    return [
        {
            "dataset": record.dataset,
            "name": record.similarity,
            "ks": in_two_lines(record.ks, record.ks_interval),
            "tau": in_two_lines(record.tau, record.tau_interval),
            "threshold": alpha_text(record.threshold, 3),
            "source": f"{record.source}\n{record.note}".rstrip(),
        }
        for record in records
    ]


def _threshold_rows(own: Sequence[int], chosen: Sequence[int]) -> list[dict[str, str]]:
    """How many findings of each type there are at the run's own threshold and at the chosen one."""
    return [
        {
            "type": VARIATION_LABELS[name],
            "own": count_and_share(own[index], sum(own)),
            "chosen": count_and_share(chosen[index], sum(chosen)),
            "change": "+" * (chosen[index] > own[index]) + count_text(chosen[index] - own[index]),
        }
        for index, name in enumerate(VARIATION_TYPES)
    ]
