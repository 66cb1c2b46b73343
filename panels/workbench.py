"""Panel *Raters*: one analysis, one filter, and a section for each question."""

import json
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import fiftyone.operators as foo

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, number_of, rater_colour
from kalos_core.errors import Undefined, lookup
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import count_changes, find_analysis
from kalos_core.figures.common import COLOURS

from .data.base import WHOLE, Asked, Led
from .data.disputes import choices_in
from .parts.answers import View, answered, as_text, question
from .parts.deciding import Deciding
from .parts.events import PLUGIN, Context, go_back, remember, sent, show_view
from .table import BY_NAME, GROUPS

NOTHING: Mapping[str, Any] = {}

HELP = "How good are our labels, who or what is the problem, and what do we do now?"


class WorkbenchPanel(Deciding, View):
    """The panel; the view keeps its state and sends it with each question."""

    COMPONENT = "KalosRaters"

    @property
    def config(self) -> foo.PanelConfig:
        return foo.PanelConfig(
            name="raters",
            label="Raters",
            icon="groups",
            help_markdown=HELP,
            allow_multiple=True,
            category=foo.Categories.ANALYZE,
            priority=1_000,
        )

    # ---- events of the App ----

    def on_load(self, ctx: Context) -> None:
        chosen = (ctx.panel_state or {}).get("chosen") or {}
        ctx.panel.set_data("frame", as_text(answered(partial(frame_of, ctx, chosen), ctx.dataset)))

    def answer(self, ctx: Context) -> Any:
        """Send events from elsewhere to the view as data, so that it redraws only what changed."""
        name = ctx.params.get("__method__", "")
        if name == "reload":
            ctx.ops.patch_panel_data({"changed": as_text({"at": time.time(), "section": ctx.params.get("section")})})
        elif name == "on_change_dataset":
            ctx.ops.patch_panel_data({"dataset": ctx.dataset.name if ctx.dataset is not None else ""})
        elif name == "on_change_view":
            ctx.ops.patch_panel_data({"view": seen_view(ctx)})
        else:
            return super().answer(ctx)
        return None

    def on_change_dataset(self, ctx: Context) -> None:
        """No-op: `answer` handles the event; the App sends an event only to panels with its method."""

    def on_change_view(self, ctx: Context) -> None:
        """No-op, for the same reason."""

    # ---- questions of the view ----

    @question
    def frame(self, ctx: Context) -> dict[str, Any]:
        if ctx.params.get("remembers"):
            remember(ctx, sent(ctx.params, "analysis"))
        return frame_of(ctx, ctx.params)

    @question
    def section(self, ctx: Context) -> dict[str, Any]:
        asked = ctx.params
        analysis = find_analysis(ctx.dataset, sent(asked, "analysis"))
        return section_of(ctx, analysis, sent(asked, "name"), filter_in(asked), given_in(asked))

    @question
    def act(self, ctx: Context) -> dict[str, Any]:
        """Carry out a click, and return what the grid shows."""
        params = ctx.params
        section = lookup(BY_NAME, params.get("section"), "section")
        analysis = find_analysis(ctx.dataset, sent(params, "analysis"))
        asked = Asked(ctx, analysis, section.FOLLOWS, filter_in(params), given_in(params))
        return follow(asked, section.act(sent(params, "click"), asked))

    @question
    def back(self, ctx: Context) -> None:
        go_back(ctx, sent(ctx.params, "before", Sequence[Mapping[str, Any]]))

    @question
    def prompt(self, ctx: Context) -> None:
        """Open the form of an operator of this plugin, with the given params."""
        ctx.prompt(
            f"{PLUGIN}/{sent(ctx.params, 'operator')}",
            params=sent(ctx.params, "given", Mapping[str, Any], optional=True),
        )


def filter_in(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the filter of a request; empty where it has none."""
    found = sent(params, "filter", Mapping[str, Any], optional=True) or {}
    kinds = {part: bool if part == "follow" else str for part in WHOLE}
    return {part: sent(found, part, kind, optional=True) for part, kind in kinds.items()}


def given_in(params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return further data of a request; empty where it has none."""
    found: Mapping[str, Any] | None = sent(params, "given", Mapping[str, Any], optional=True)
    return found or NOTHING


def seen_view(ctx: Context) -> str:
    """Return the view and the filters of the App as comparable text."""
    asked = ctx.request_params
    return json.dumps([asked.get("view"), asked.get("filters"), asked.get("extended")], sort_keys=True, default=str)


# ---- answers, as declared in `src/records.ts` ----


def frame_of(ctx: Context, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the frame around the sections and the answer of the shown section, so that one question opens the panel.

    `chosen` is the state of the view: `analysis`, `section`, `filter`, and the `known` keys. An analysis with an
    unknown key is shown.
    """
    found = kf.list_analyses(ctx.dataset)
    analysis = _shown(ctx, found, chosen)
    sections = listed_sections(ctx, analysis) if analysis else []
    names = [section["name"] for section in sections]
    section = chosen["section"] if chosen.get("section") in names else next(iter(names), None)
    choices = choices_of(ctx, analysis) if analysis else {}
    wanted = filter_in(chosen).items()
    kept = {part: None if part in choices and name not in choices[part] else name for part, name in wanted}
    raters = {name: rater_colour(number) for number, name in enumerate(choices.get("rater", ()))}
    return {
        "dataset": ctx.dataset.name,
        "analyses": [(entry.key, in_menu(entry)) for entry in found],
        "analysis": analysis and analysis.key,
        "section": section,
        "filter": kept,
        "sections": sections,
        "choices": choices,
        "colours": {"variations": COLOURS, "raters": raters},
        "start": None if analysis else start_of(ctx),
        "first": section_of(ctx, analysis, section, kept) if analysis and section else None,
    }


def _shown(ctx: Context, found: list[Analysis], chosen: Mapping[str, Any]) -> Analysis | None:
    """Return the chosen analysis, else the newest, which is remembered if it is new."""
    known, newest = sent(chosen, "known", Sequence[str], optional=True) or [], next(iter(found), None)
    analysis = next((entry for entry in found if entry.key == chosen.get("analysis")), None)
    if newest is None or (analysis and (not known or newest.key in known)):
        return analysis
    if known:
        remember(ctx, newest.key)
    return newest


def listed_sections(ctx: Context, analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {"name": section.NAME, "title": section.TITLE or section.NAME, "group": group, "follows": section.FOLLOWS}
        for group, sections in GROUPS.items()
        for section in sections
        if section.is_shown(ctx, analysis)
    ]


def choices_of(ctx: Context, analysis: Analysis) -> dict[str, list[str]]:
    """Return the classes, raters and tags of the filter."""
    run, tags = analysis.run("agreement"), ctx.dataset.distinct("tags")
    if run is None:
        return {**choices_in(ctx.dataset, analysis), "tag": tags}
    difficulty = kf.load_details(ctx.dataset, run.key).details.class_difficulty
    return {
        "category": [] if isinstance(difficulty, Undefined) else difficulty.category.tolist(),
        "rater": run.metrics["raters"],
        "tag": tags,
    }


def in_menu(analysis: Analysis) -> str:
    """Return the entry of an analysis in the menu: key, date, size, alpha and configuration."""
    lead = next(iter(analysis.runs.values()))
    alpha = f"α {alpha_text(lead.metrics['alpha'])}" if "alpha" in lead.metrics else ""
    when, size = f"{lead.made_at:%d %b %Y %H:%M}", number_of(lead.images, "image")
    return " · ".join(filter(None, [analysis.key, when, size, alpha, lead.metrics.get("notation")]))


def start_of(ctx: Context) -> dict[str, Any]:
    """Return the start page without an analysis: the raters found, their selection, and unreadable runs."""
    found = kf.found_raters(ctx.dataset)
    runs = [run for run in kf.list_runs(ctx.dataset, info=True) if run.unreadable]
    return {
        "found": list(map(str, found)),
        "given": _given(found[0].selection) if found else {},
        "unreadable": [{"key": run.key, "reason": run.unreadable} for run in runs],
    }


def _given(selection: kf.Selection) -> dict[str, Any]:
    if selection.field is not None:
        return {"field": selection.field, "rater_attribute": selection.rater_attribute}
    return {} if selection.raters is None else {"raters": selection.raters}


def section_of(
    ctx: Context, analysis: Analysis, name: str, chosen: Mapping[str, Any], given: Mapping[str, Any] = NOTHING
) -> dict[str, Any]:
    """Return the answer for one section: its `record`, or the `invitation` to make its run."""
    section = lookup(BY_NAME, name, "section")
    asked = Asked(ctx, analysis, section.FOLLOWS, chosen, given)
    kind = section.run_kind(asked)
    run = analysis.run(kind)
    answer = {"name": name, "changed": count_changes(ctx.dataset, run.key) if run else 0}
    if run is not None or not kind:
        return {**answer, "record": section.send(asked)}
    title, text = section.NOTHING_YET
    operator, label = kf.KINDS[kind].operator, f"{kf.KINDS[kind].title}: new run"
    return {**answer, "invitation": {"title": title, "text": text, "operator": operator, "label": label}}


def follow(asked: Asked, led: Led) -> dict[str, Any]:
    """Carry out the target of a click, and return what the grid shows, with the previous view."""
    ctx = asked.ctx
    if led.sample is not None:
        open_sample(ctx, led.sample)
    if led.operator is not None:
        ctx.prompt(f"{PLUGIN}/{led.operator}", params=dict(led.given))
    grid = None if led.view is None else show_view(ctx, asked.within(led.view), led.text)
    if led.fields:
        ctx.ops.set_active_fields(list(led.fields))
    return {"grid": grid, "said": led.said}
