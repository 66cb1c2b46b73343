"""Beside the open sample: its alpha, what every rater gave each unit, and the decision about the units in dispute."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import fiftyone.operators as foo
import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core._agreement import band
from kalos_core.decisions import Decision
from kalos_core.display import VARIATION_LABELS, alpha_text, number_of
from kalos_core.fiftyone.app import open_panels, open_sample, select_labels
from kalos_core.fiftyone.deciding.queue import QUEUED, DisputedUnit
from kalos_core.fiftyone.deciding.units import draw_region, region_report
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun, sample_report
from kalos_core.fiftyone.kinds.pixels.kind import has_regions
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import bold, plain, shown

from .parts.events import (
    PLUGIN,
    WORKBENCH,
    Context,
    Panel,
    add_problem,
    guarded,
    recalled,
    recalled_queue,
    recalled_run,
    remember,
    remember_queue,
)
from .parts.figures import add_drawing, put_drawing
from .parts.layout import NARROW, add_menu, add_row, add_table, stacked

MOST_UNITS = 100

FEW_RATERS = 6
"""Buttons of more raters than these stand below those of the other decisions, which would be out of sight."""

CROP = 320
"""Pixels of the longer side of a unit that is drawn."""

UNFOCUSED = {"field": {"autoFocus": False}}
"""Of a text field: FiftyOne would put the cursor there, and the arrow keys would no longer lead to other samples."""

STEPS_BACK = 20
"""Decisions that can be taken back."""

PARTS = {"category": "the class", "rater": "the rater"}
"""What disputes are narrowed to -> in words."""

MERGED_COLUMNS = (("whole", "One annotation"), ("parts", "In parts"))

NOTHING_YET = (
    "**Raters on this sample**\n\nNothing is computed yet. Match the raters to see which of their labels mean the "
    "same object, and to decide where they differ."
)

READING = (
    "One row an object (unit), one column a rater: the class they gave it, and what it is towards each other rater, "
    "with the similarity (0 to 1). *no object*: assigned, annotated nothing there."
)

NOTHING = {"agreement": "no object", "pixels": "mostly nothing"}
"""Kind of run -> what it is called that a rater has nothing there."""

REGIONS_READING = (
    "One row a region in dispute, the largest first, one column a rater: the class they gave at least half of it. "
    "*no object*: they gave most of it none."
)


class SamplePanel(Panel):
    """State: the analysis, the sample with its units, the unit in dispute that is to be decided, what can be undone."""

    @property
    def config(self) -> foo.PanelConfig:
        return foo.PanelConfig(
            name="sample",
            label="Raters on this sample",
            icon="/assets/agreement.svg",
            surfaces="modal",
            help_markdown="What every rater gave each unit of the open sample, and the decision where they differ",
        )

    # ---- events ----

    @guarded
    def reload(self, ctx: Context) -> None:
        """The analysis chosen last, here or in the workbench, else the newest."""
        state = ctx.panel.state
        found = {entry.key: entry for entry in kf.list_analyses(ctx.dataset) if _decidable(ctx, entry)}
        state.analyses = list(found)
        state.analysis = next((key for key in (recalled(ctx), *found) if key in found), None)
        state.run = None
        if state.analysis is not None:
            entry = found[state.analysis]
            run = _decidable(ctx, entry)
            state.run, state.kind, state.variations, state.which = run.key, run.kind, None, ""
            if run.kind == "agreement":
                state.variations, state.which = _variations(ctx.dataset, run, entry.run("variations"))
            self._load_sample(ctx, ctx.current_sample)
        state.loaded = time.time()

    @guarded
    def on_change_analysis(self, ctx: Context) -> None:
        remember(ctx, ctx.params["value"])
        self.reload(ctx)

    @guarded
    def on_change_current_sample(self, ctx: Context) -> None:
        """What somebody else decided about it meanwhile is read, too."""
        state = ctx.panel.state
        ahead, state.ahead = state.ahead, False
        if ahead and state.sample == ctx.current_sample:
            select_labels(ctx, state.sample, _with_fields(state, state.shown_labels))  # none can be before it is open
        elif state.run:
            self._load_sample(ctx, ctx.current_sample)

    @guarded
    def click_unit(self, ctx: Context) -> None:
        """Its labels are selected in the image and drawn; if it is in dispute, it is the one to decide about."""
        state, row = ctx.panel.state, ctx.params["row"]
        places = [place for place, unit in enumerate(state.disputes) if state.units[row] in unit["units"]]
        state.place = next(iter(places), None)
        self._point_at(ctx, state.labels[row], f"Unit {1 + row}")

    @guarded
    def click_merged(self, ctx: Context) -> None:
        state, row = ctx.panel.state, ctx.params["row"]
        labels = state.merged_labels[row]
        found = (place for place, unit in enumerate(state.disputes) if labels[0][0] in unit["labels"])
        state.place = next(found, None)
        self._point_at(ctx, labels, "One annotation, and its parts")

    @guarded
    def choose_dispute(self, ctx: Context) -> None:
        self._show_dispute(ctx, ctx.params["place"])

    @guarded
    def decide(self, ctx: Context) -> None:
        self._decide(ctx, ctx.params["decision"], ctx.params.get("rater"))

    @guarded
    def next(self, ctx: Context) -> None:
        state = ctx.panel.state
        self._go_on(ctx, kf.disputed_units(ctx.dataset, state.run, state.sample) if state.raters else [])

    @guarded
    def all_disputes(self, ctx: Context) -> None:
        """No longer only those of the lens that the queue was opened with."""
        remember_queue(ctx, ctx.panel.state.run)
        self._load_sample(ctx, ctx.current_sample)

    @guarded
    def undo(self, ctx: Context) -> None:
        """What the last decision replaced counts again, unless somebody has decided otherwise since."""
        state = ctx.panel.state
        *earlier, last = state.done
        state.done = earlier
        unit = _unit_of(kf.disputed_units(ctx.dataset, state.run, last["sample"]), last["labels"])
        if _made_at(unit) != last["when"]:
            ctx.ops.notify("Somebody has decided about this unit since: nothing is undone.", variant="warning")
        else:
            before = last["before"] or {"decision": "skip"}
            kf.decide(ctx.dataset, state.run, last["labels"], **before, sample_id=last["sample"])
        _count_anew(ctx)
        state.wanted = last["labels"]
        if last["sample"] == ctx.current_sample:
            self._load_sample(ctx, last["sample"])
        else:
            open_sample(ctx, last["sample"])

    @guarded
    def compute(self, ctx: Context) -> None:
        """Where nothing is analysed yet."""
        ctx.prompt(f"{PLUGIN}/compute_agreement")

    # ---- deciding ----

    def _decide(self, ctx: Context, decision: str, rater: str | None) -> None:
        """Decide about the unit shown, unless somebody else has since it was shown; then the next one."""
        state = ctx.panel.state
        asked = state.disputes[state.place]
        disputes = kf.disputed_units(ctx.dataset, state.run, state.sample)
        unit = _unit_of(disputes, asked["labels"])
        before = unit.decision if unit else None
        if _made_at(unit) != asked["when"]:
            if before is None or (before.decision, before.rater) != (decision, rater):  # else a button pressed twice
                state.wanted = asked["labels"]
                self._load_sample(ctx, state.sample)
                text = "Somebody has decided about this unit meanwhile. Press the button again to replace it."
                ctx.ops.notify(text, variant="warning")
            return
        note, who = _written(ctx, _note(ctx)), _written(ctx, "who")
        made = kf.decide(ctx.dataset, state.run, asked["labels"], decision, rater, note, who, sample_id=state.sample)
        kept = before and {name: getattr(before, name) for name in ("decision", "rater", "note", "who")}
        done = {"sample": state.sample, "labels": list(made.labels), "when": _time(made), "before": kept}
        state.done = [*(state.done or []), done][-STEPS_BACK:]
        state.turn = (state.turn or 0) + 1
        self._go_on(ctx, disputes)
        _count_anew(ctx)

    def _go_on(self, ctx: Context, disputes: list[DisputedUnit]) -> None:
        """The next unit of this sample that is open, else the next sample with one."""
        state, place = ctx.panel.state, ctx.panel.state.place
        later = disputes if place is None else disputes[place + 1 :]
        part = recalled_queue(ctx, state.run)
        wanted = next((list(unit.labels) for unit in later if unit.state == "open" and unit.fits(**part)), None)
        seen = state.sample if state.raters else None  # not where the sample is not part of the analysis
        following = kf.next_dispute(ctx.dataset, state.run, seen, **part) if wanted is None else state.sample
        if following is None:
            where = f" of {_part(part)}" if part else ""
            ctx.ops.notify(f"No dispute{where} is open any more.", variant="success")
        elif following != state.sample:
            open_sample(ctx, following)
            state.ahead = True  # what stands beside it does not wait until it is open
        state.wanted = wanted
        self._load_sample(ctx, following or ctx.current_sample)

    # ---- loading ----

    def _load_sample(self, ctx: Context, sample: str | None) -> None:
        state = ctx.panel.state
        if sample is None:
            return
        state.sample, wanted, state.wanted = sample, state.wanted, None
        try:
            report = self._report(ctx)
        except NotInRun:
            state.headline = f"This sample is not part of the analysis {bold(shown(state.analysis))}."
            state.raters, state.disputes, state.place = [], [], None
            put_drawing(ctx, "crop", None)
            return
        disputes = kf.disputed_units(ctx.dataset, state.run, state.sample)
        units, part = report.cells[:MOST_UNITS], recalled_queue(ctx, state.run)
        found = {
            "headline": (headline if state.kind == "agreement" else headline_of_regions)(report, disputes),
            "raters": [plain(rater) for rater in report.raters],
            "units": list(report.units[:MOST_UNITS]),
            "labels": [_labels(unit) for unit in units],
            "merged_labels": [_labels([found.whole, *found.parts]) for found in report.merged],
            "field_of": {cell.label_id: cell.field for unit in report.cells for cell in unit if cell.label_id},
            "disputes": [_shown_dispute(unit, NOTHING[state.kind]) for unit in disputes],
            "part": _part(part),
        }
        ctx.panel.set_state(found)
        states = {number: unit.state for unit in disputes for number in unit.units}
        rows = enumerate(zip(report.units, units, strict=False), 1)
        ctx.panel.set_data("unit_rows", [_row(number, cells, states.get(unit)) for number, (unit, cells) in rows])
        ctx.panel.set_data("merged_rows", [_merged_row(found) for found in report.merged])
        still = [place for place, unit in enumerate(disputes) if unit.state == "open"]
        within = [place for place in still if disputes[place].fits(**part)]
        first = next(iter([*within, *still, *range(len(disputes))]), None)
        known = (place for place, unit in enumerate(disputes) if wanted and set(wanted) & set(unit.labels))
        self._show_dispute(ctx, next(known, first))

    @staticmethod
    def _report(ctx: Context) -> Any:
        """Units, or regions of masks, x raters."""
        state = ctx.panel.state
        if state.kind == "agreement":
            return sample_report(ctx.dataset, state.sample, state.run, state.variations)
        return region_report(ctx.dataset, state.sample, state.run)

    def _show_dispute(self, ctx: Context, place: int | None) -> None:
        """Make a unit in dispute the one to decide about."""
        state = ctx.panel.state
        labels = [] if place is None else state.disputes[place]["labels"]
        turn = (state.turn or 0) + (labels != state.shown_labels)
        ctx.panel.set_state({"place": place, "shown_labels": labels, "turn": turn})
        if place is not None and labels:
            self._point_at(ctx, _with_fields(state, labels), "What the raters annotated")
        else:
            put_drawing(ctx, "crop", None)

    def _point_at(self, ctx: Context, labels: list[tuple[str, str]], title: str) -> None:
        """Select labels in the image, and draw them."""
        state = ctx.panel.state
        select_labels(ctx, state.sample, labels)
        ids = [key for key, _ in labels]
        try:
            if state.kind == "agreement":
                drawing = kf.draw_unit(ctx.dataset, state.run, ids, state.sample, longest_side=CROP)
            else:
                drawing = draw_region(ctx.dataset, state.run, ids[0], state.sample, longest_side=CROP)
            put_drawing(ctx, "crop", replace(drawing, title=title))
        except InputError as error:  # labels of volumes, or gone since
            put_drawing(ctx, "crop", None)
            ctx.ops.notify(str(error), variant="warning")

    # ---- layout ----

    def render(self, ctx: Context) -> types.Property:
        panel, state = types.Object(), ctx.panel.state
        if state.problem:
            add_problem(panel, ctx, self.reload)
        elif not state.analysis:
            panel.md(NOTHING_YET, name="invitation")
            label = "Match raters and compute agreement"
            panel.btn("compute", label=label, icon="play_arrow", on_click=self.compute, variant="contained")
        else:
            panel.md(state.headline or "", name="title")
            if state.place is not None:
                self._add_decision(panel, ctx)
            self._add_ways(panel, ctx)
            add_drawing(panel, ctx, "crop")
            if state.raters:
                self._add_units(panel, ctx)
            add_menu(panel, "analysis", state.analyses, self.on_change_analysis, label="Analysis")
        return stacked(panel)

    def _add_decision(self, panel: types.Object, ctx: Context) -> None:
        """The unit that is to be decided: how far it is, and a button for all that can be decided about it."""
        state = ctx.panel.state
        unit = state.disputes[state.place]
        count = len(state.disputes)
        which = f"Dispute {state.place + 1} of {count} on this sample:" if count > 1 else "One dispute:"
        together = f"{number_of(len(unit['units']), 'unit')}, a whole and its parts; " if len(unit["units"]) > 1 else ""
        panel.md(f"{bold(which)} {together}{unit['decided']}", name="dispute")
        if not unit["labels"]:
            return
        few = len(unit["given"]) <= FEW_RATERS
        rows = {name: add_row(panel, name, "150px") for name in ("takes", "others")[:: 1 if few else -1]}
        for number, (rater, given) in enumerate(unit["given"]):
            self._add_button(rows["takes"], f"take_{number}", f"{plain(rater)} is right: {given}", "take", rater)
        for decision in unit["decisions"]:
            if decision != "take":
                self._add_button(rows["others"], decision, kf.DECISIONS[decision], decision)
        row = add_row(panel, "notes", "150px")
        for name, label in ((_note(ctx), "Note"), ("who", "Your name")):
            row.str(name, label=label, view=types.TextFieldView(label=label, compact=True, componentsProps=UNFOCUSED))

    def _add_button(self, row: types.Object, name: str, label: str, decision: str, rater: str | None = None) -> None:
        variant = "contained" if decision == "take" else "outlined"
        params = {"decision": decision, "rater": rater}
        row.btn(name, label=label, on_click=self.decide, params=params, variant=variant, componentsProps=NARROW)

    def _add_ways(self, panel: types.Object, ctx: Context) -> None:
        """To the other disputes, and back."""
        state = ctx.panel.state
        row = add_row(panel, "ways", "105px")
        if len(state.disputes) > 1:
            place = 0 if state.place is None else (state.place + 1) % len(state.disputes)
            row.btn("another", label="Another here", on_click=self.choose_dispute, params={"place": place})
        row.btn("next", label="Next dispute", icon="skip_next", on_click=self.next, variant="outlined")
        if state.done:
            row.btn("undo", label="Undo", icon="undo", on_click=self.undo, variant="outlined")
        if state.part:
            panel.md(f"Only disputes of {state.part}, as the lens was in *Decide*.", name="part_text")
            panel.btn("all_disputes", label="Go through all disputes", on_click=self.all_disputes)

    def _add_units(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        columns = [("unit", "#"), *((f"rater_{number}", rater) for number, rater in enumerate(state.raters))]
        if state.kind == "pixels":
            panel.md(REGIONS_READING, name="reading")
            label = "Regions: click one to select and draw it"
            add_table(panel, "unit_rows", label, columns, self.click_unit)
            return
        panel.md(f"{READING} {state.which}", name="reading")
        add_table(panel, "unit_rows", "Units: click one to select and draw its labels", columns, self.click_unit)
        if state.merged_labels:
            label = "Annotated in parts: click one to select and draw the annotation and its parts"
            add_table(panel, "merged_rows", label, MERGED_COLUMNS, self.click_merged)


def _count_anew(ctx: Context) -> None:
    """The open workbenches count decisions again."""
    for name, panel_id in open_panels(ctx):
        if name == "raters":
            ctx.trigger(WORKBENCH, params={"panel_id": panel_id, "__method__": "reload"})


def _decidable(ctx: Context, analysis: Analysis) -> Any:
    """The run whose units are decided here: of objects, else of masks; that of the queue that was opened last."""
    runs = [run for run in (analysis.run("agreement"), analysis.run("pixels")) if run]
    there = [run for run in runs if run.kind == "agreement" or has_regions(run)]
    opened = recalled_run(ctx)
    return next((run for run in there if run.key == opened), next(iter(there), None))


def headline_of_regions(report: Any, disputes: list[DisputedUnit]) -> str:
    """F1 of the image, and how many regions there are to decide."""
    shared = "" if report.alpha is None else f"**Shared (F1) {alpha_text(report.alpha)}** · "
    if not disputes:
        return f"{shared}no region in dispute"
    still = sum(unit.state == "open" for unit in disputes)
    return f"{shared}{len(disputes):,} region{'' if len(disputes) == 1 else 's'} in dispute, {still:,} open"


def _variations(dataset: Any, run: Any, own: Any) -> tuple[str | None, str]:
    """The variations of the same labels, similarity and threshold, else the newest; which, in a sentence."""
    runs = [*filter(None, [own]), *kf.list_runs(dataset, "variations", info=True)]
    alike = [found for found in runs if _compared(found) == _compared(run)]
    if not runs:
        return None, ""
    chosen, doubt = (alike or runs)[0], "" if alike else ", of other labels or another similarity or threshold"
    return chosen.key, f"Findings of the run {bold(chosen.key)}{doubt}."


def _compared(run: Any) -> Any:
    return run.selection, run.settings["similarity"], run.settings["threshold"]


def headline(report: Any, disputes: list[DisputedUnit]) -> str:
    """Alpha of the image, in words too, and how much there is to decide."""
    count = len(report.units)
    if report.alpha is None:
        return f"**No alpha for this image:** fewer than two raters can be compared. {_units(count)}."
    if not count:
        return "**α 1: the raters agree that there is nothing here.**"
    cut = f", the first {MOST_UNITS} below" if count > MOST_UNITS else ""
    every = sum(len(unit.units) for unit in disputes)  # as the queue counts: a whole and its parts are several
    still = sum(len(unit.units) for unit in disputes if unit.state == "open")
    in_dispute = f"{every:,} in dispute, {still:,} open" if disputes else "none in dispute"
    return f"**α {alpha_text(report.alpha)}** ({band(report.alpha)}) · {_units(count)}{cut} · {in_dispute}"


def _units(count: int) -> str:
    return f"{count:,} unit{'' if count == 1 else 's'}"


def _part(part: dict[str, str]) -> str:
    """A part of the disputes in words; nothing for all of them."""
    return " and ".join(f"{PARTS[name]} {shown(value)}" for name, value in part.items())


def _note(ctx: Context) -> str:
    """The field of the note, another one for each unit: the App would go on showing what was typed before."""
    return f"note_{ctx.panel.state.turn or 0}"


def _written(ctx: Context, name: str) -> str:
    return ((ctx.panel.state.notes or {}).get(name) or "").strip()


def _unit_of(disputes: list[DisputedUnit], labels: list[str]) -> DisputedUnit | None:
    """The unit in dispute of some labels, as it is now."""
    return next((unit for unit in disputes if set(labels) & set(unit.labels)), None)


def _made_at(unit: DisputedUnit | None) -> str | None:
    """When it was decided last."""
    return _time(unit.decision) if unit and unit.decision else None


def _time(decision: Decision) -> str | None:
    return decision.when.isoformat() if decision.when else None


def _shown_dispute(unit: DisputedUnit, nothing: str) -> dict[str, Any]:
    """A unit in dispute as the state keeps it."""
    given = {rater: _counted(classes) or nothing for rater, classes in unit.values.items()}
    return {
        "labels": list(unit.labels),
        "units": list(unit.units),
        "given": list(given.items()),
        "decisions": list(unit.decisions),
        "when": _made_at(unit),
        "decided": _decided(unit.decision) if unit.labels else "its labels were deleted since",
    }


def _counted(classes: Sequence[str]) -> str:
    """Classes with their numbers, each once."""
    counts = Counter(classes).items()
    return ", ".join(plain(name) if count == 1 else f"{count} × {plain(name)}" for name, count in counts)


def _decided(decision: Decision | None) -> str:
    """What was decided last, by whom, when, with its note; the first decision undone is none."""
    if decision is None or (decision.decision, decision.who, decision.note) == ("skip", "", ""):
        return QUEUED["open"].lower()
    what = kf.DECISIONS[decision.decision] if decision.rater is None else f"{shown(decision.rater)} is right"
    who = f" by {shown(decision.who)}" if decision.who else ""
    when = f", {decision.when:%d %b %H:%M} UTC" if decision.when else ""
    note = f". Note: {shown(decision.note)}" if decision.note else ""
    return f"{what}{who}{when}{note}"


def _with_fields(state: Any, labels: list[str]) -> list[tuple[str, str]]:
    return [(key, state.field_of.get(key, "")) for key in labels]


def _row(number: int, unit: Any, state: str | None) -> dict[str, str]:
    cells = {f"rater_{index}": _text(cell) for index, cell in enumerate(unit)}
    return {"unit": f"{number}\n{state}" if state else str(number), **cells}


def _labels(cells: Any) -> list[tuple[str, str]]:
    """Ids and fields of the labels of these cells."""
    return [(cell.label_id, cell.field) for cell in cells if cell.label_id]


def _text(cell: Any) -> str:
    """The class that the rater gave, below it what that is towards each other rater, with the similarity.

    Raters are named where it is not the same towards all.
    """
    towards: dict[str, list[Any]] = {}
    for finding in cell.findings:
        towards.setdefault(VARIATION_LABELS[finding.variation], []).append(finding)
    value = plain(cell.category) if cell.state == "annotated" else cell.state
    if len(towards) < 2:
        found = [f"{kind} {_similarities(findings)}".rstrip() for kind, findings in towards.items()]
    else:
        found = [f"{kind}: {', '.join(map(_towards, findings))}" for kind, findings in towards.items()]
    return "\n".join([value, *found])


def _towards(finding: Any) -> str:
    return f"{plain(finding.rater)} {_similarities([finding])}".rstrip()


def _similarities(findings: Any) -> str:
    """The least and the greatest similarity, once where they are equal."""
    values = sorted(alpha_text(one.similarity) for one in findings if one.similarity is not None)
    return "–".join(dict.fromkeys([values[0], values[-1]])) if values else ""


def _merged_row(found: Any) -> dict[str, str]:
    """Who made one annotation, and who its parts, with their classes."""
    return {
        "whole": f"{plain(found.whole_rater)}: {plain(found.whole.category)}",
        "parts": f"{plain(found.parts_rater)}: {len(found.parts)} × {plain(found.parts[0].category)}",
    }
