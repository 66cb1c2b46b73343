"""The panel *Raters*: one analysis, one lens, and a section for each question."""

import json
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import fiftyone.operators as foo
import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, number_of
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import count_changes, find_analysis
from kalos_core.text import shown

from .parts.events import LOADED_TWICE, PLUGIN, Context, Panel, add_problem, go_back, guarded, handlers, remember
from .parts.layout import add_choice, add_menu, add_row, stacked
from .sections import SECTIONS
from .sections.base import ALL, LENS, WHOLE, Section, chosen_lens, set_lens
from .start import add_start, load_start

HELP = "How good are our labels, who or what is the problem, and what do we do now?"

BY_NAME = {section.NAME: section for section in SECTIONS}

CHOSEN = ("dataset", "analysis", "analyses", "section", "lens", "lens_row", "pages", "before")
"""What a user has chosen, of the state of a panel."""

LAST: dict[str, dict[str, Any]] = {}
"""Id of a panel -> what was chosen in it last. An operator that lets a panel load anew cannot send its state."""

FOLLOWED: dict[str, tuple[Any, float]] = {}
"""Id of a panel -> the change of the view that it followed last (data set, view before, view after), and when."""

FOLLOWING = threading.Lock()
"""The App sends one change of the view three times at once: one is answered."""


class WorkbenchPanel(Panel):
    """State: the analysis, the section, the lens, and what the section has put there."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for section in SECTIONS:
            for name, handler in handlers(section).items():
                setattr(self, f"{section.NAME.lower()}_{name}", partial(self._handle, handler))

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

    def answer(self, ctx: Context) -> Any:
        """Nothing is drawn anew for an event that changes nothing: a change of the state makes the App send three."""
        news = {
            "on_change_view": self._follows_another_view,
            "on_change_dataset": _has_another_dataset,
            "on_change_lens": _has_another_lens,
        }
        is_news = news.get(ctx.params.get("__method__", ""))
        if is_news is not None and not is_news(ctx):
            return None
        result = super().answer(ctx)
        if ctx.panel.state.section:
            LAST[ctx.panel.id] = {name: ctx.panel.get_state(name) for name in CHOSEN}
        return result

    def _handle(self, handler: Callable[[Context], None], ctx: Context) -> None:
        """A handler of a section, and the section that it leads to."""
        before = ctx.panel.state.section
        if before is None:  # the App has lost the state: what was clicked is not known any more
            self.reload(ctx)
            return
        handler(ctx)
        if ctx.panel.state.section != before:
            self.follow(ctx)
        elif _sees_another_view(ctx):
            self.on_change_view(ctx)

    @guarded
    def follow(self, ctx: Context) -> None:
        self._show_section(ctx, ctx.panel.state.section)

    # ---- events ----

    @guarded
    def on_change_dataset(self, ctx: Context) -> None:
        """All that was chosen goes; not by clearing the state, which the App does after what is put there next."""
        ctx.panel.data.clear()
        ctx.panel.set_state(dict.fromkeys(("analysis", "analyses", "section", "lens", "pages", "before", "problem")))
        self._reload(ctx)

    @guarded
    def on_change_view(self, ctx: Context) -> None:
        self._load_section(ctx)

    @staticmethod
    def _follows_another_view(ctx: Context) -> bool:
        if not _sees_another_view(ctx):
            return False
        change, now = (ctx.dataset.name, ctx.panel.state.view_seen, _view_of(ctx)), time.time()
        with FOLLOWING:
            last, at = FOLLOWED.get(ctx.panel.id, (None, now))
            FOLLOWED[ctx.panel.id] = change, now
        return change != last or now - at > LOADED_TWICE

    @guarded
    def reload(self, ctx: Context) -> None:
        """After something has changed; a run that is new names the section that shows it."""
        self._recall(ctx)
        if section := ctx.params.get("section"):
            self._turn_to(ctx, section)
        self._reload(ctx)

    @guarded
    def on_change_analysis(self, ctx: Context) -> None:
        ctx.panel.state.analysis = ctx.params["value"]
        ctx.panel.state.lens = None
        remember(ctx, ctx.params["value"])
        self._reload(ctx)

    @guarded
    def choose_section(self, ctx: Context) -> None:
        self._show_section(ctx, ctx.params["value"])

    def _show_section(self, ctx: Context, name: str) -> None:
        self._turn_to(ctx, name)
        self._load_section(ctx)

    @staticmethod
    def _turn_to(ctx: Context, name: str) -> None:
        """Another section; what the last one put there goes."""
        ctx.panel.data.clear()
        ctx.panel.state.section = name
        ctx.panel.set_title(f"Raters: {name}")

    @guarded
    def choose_page(self, ctx: Context) -> None:
        state = ctx.panel.state
        state.pages = {**(state.pages or {}), state.section: ctx.params["value"]}
        self._load_section(ctx)

    @guarded
    def on_change_lens(self, ctx: Context) -> None:
        ctx.panel.state.lens = chosen_lens(ctx)
        self._load_section(ctx)

    @guarded
    def clear_lens(self, ctx: Context) -> None:
        ctx.panel.state.lens = None
        self._load_section(ctx)

    @guarded
    def explain(self, ctx: Context) -> None:
        """Show or hide the formula behind "?"."""
        state, name = ctx.panel.state, ctx.params["name"]
        state.explained = None if state.explained == name else name

    @guarded
    def back(self, ctx: Context) -> None:
        go_back(ctx)
        if _sees_another_view(ctx):
            self.on_change_view(ctx)

    @guarded
    def make(self, ctx: Context) -> None:
        BY_NAME[ctx.panel.state.section].make(ctx)

    @guarded
    def prompt(self, ctx: Context) -> None:
        """The form of an operator of ours, with what is already known."""
        ctx.prompt(f"{PLUGIN}/{ctx.params['operator']}", params=ctx.params.get("given"))

    # ---- loading ----

    @staticmethod
    def _recall(ctx: Context) -> None:
        """What was chosen in this panel last, if its state did not come along; a panel that opens begins anew."""
        last = LAST.get(ctx.panel.id, {})
        is_lost = ctx.panel.state.section is None and ctx.params.get("__method__") != "on_load"
        if is_lost and last.get("dataset") == ctx.dataset.name:
            ctx.panel.set_state(last)
            set_lens(ctx, last["lens"])

    def _reload(self, ctx: Context) -> None:
        state, found = ctx.panel.state, kf.list_analyses(ctx.dataset)
        state.dataset = ctx.dataset.name
        keys = [analysis.key for analysis in found]
        is_new = bool(keys) and state.analyses is not None and keys[0] not in state.analyses
        if is_new or state.analysis not in keys:
            state.analysis, state.lens = next(iter(keys), None), None
            if is_new:
                remember(ctx, keys[0])
        state.analyses = keys
        state.menu = {analysis.key: _in_menu(analysis) for analysis in found}
        analysis = next((entry for entry in found if entry.key == state.analysis), None)
        state.sections = [section.NAME for section in SECTIONS if section.is_shown(ctx, analysis)]
        if analysis is None:
            load_start(ctx)
        else:
            _load_choices(ctx, analysis)
            if state.section not in state.sections:
                state.section = state.sections[0]
            self._load_section(ctx, analysis)
        state.loaded = time.time()

    def _load_section(self, ctx: Context, analysis: Analysis | None = None) -> None:
        state = ctx.panel.state
        if state.section is None:  # the App has lost the state
            self._recall(ctx)
            self._reload(ctx)
            return
        section = BY_NAME[state.section]
        analysis = analysis or find_analysis(ctx.dataset, state.analysis)
        if state.lens is None:
            set_lens(ctx, WHOLE)
        if state.lens["follow"]:
            state.view_seen = _view_of(ctx)
        state.kind = section.kind(ctx)
        state.has_run = not state.kind or state.kind in analysis.runs
        run = analysis.run(state.kind)
        state.changed = count_changes(ctx.dataset, run.key) if run else 0
        if state.has_run:
            section.load(ctx, analysis)

    # ---- layout ----

    def render(self, ctx: Context) -> types.Property:
        panel, state = types.Object(), ctx.panel.state
        if state.problem:
            add_problem(panel, ctx, self.reload)
        elif not state.analysis:
            add_start(panel, ctx)
        else:
            self._add_head(panel, ctx)
            section = BY_NAME[state.section]
            if section.PAGES and (state.has_run or state.kind != section.KIND):
                section.add_pages(panel, ctx)
            if state.has_run:
                section.render(panel, ctx)
            else:
                panel.md(section.NOTHING_YET, name="invitation")
                label = kf.KINDS[state.kind].title
                panel.btn("make", label=f"{label}: new run", icon="play_arrow", on_click=self.make, variant="contained")
        return stacked(panel)

    def _add_head(self, panel: types.Object, ctx: Context) -> None:
        """Sections, the analysis, the lens, and what is in the grid."""
        state = ctx.panel.state
        add_choice(panel, "sections_row", state.sections, state.section, f"{PLUGIN}/raters#choose_section", "82px")
        add_menu(panel, "analysis", state.menu, self.on_change_analysis, label="Analysis")
        section = BY_NAME[state.section]
        if section.FOLLOWS:
            self._add_lens(panel, ctx, section)
        if state.changed:
            images = "image was" if state.changed == 1 else "images were"
            text = f"{state.changed:,} {images} edited or deleted since this run: make a new one"
            panel.view("changed_text", types.Warning(label=text))
        if state.before:
            row = add_row(panel, "grid_row")
            row.btn("back", label="Back", icon="arrow_back", on_click=self.back, variant="outlined")
            if state.in_grid:
                row.md(f"In the grid: {shown(state.in_grid, None)}", name="grid_text")

    def _add_lens(self, panel: types.Object, ctx: Context, section: Section) -> None:
        state = ctx.panel.state
        row = add_row(panel, state.lens_row, "140px")
        for name in LENS:
            if name in section.FOLLOWS or state.lens[name] != ALL:  # what is set is in sight
                numbered = {str(number): label for number, label in enumerate(state.choices[name])}
                add_menu(row, name, numbered, self.on_change_lens)
        if "view" in section.FOLLOWS:
            row.bool("follow", view=types.SwitchView(label="Follow view"), on_change=self.on_change_lens)
        if state.lens != WHOLE:
            row.btn("clear_lens", label="Clear", icon="clear_all", on_click=self.clear_lens)


def _load_choices(ctx: Context, analysis: Analysis) -> None:
    """What the lens can be set to."""
    run = analysis.runs.get("agreement")
    difficulty = None if run is None else kf.load_details(ctx.dataset, run.key).details.class_difficulty
    categories = getattr(difficulty, "category", np.array([])).tolist()
    raters = [] if run is None else run.metrics["raters"]
    tags = ctx.dataset.distinct("tags")
    ctx.panel.state.choices = {
        "category": ["all classes", *categories],
        "rater": ["all raters", *raters],
        "tag": ["all tags", *tags],
    }


def _in_menu(analysis: Analysis) -> str:
    """An analysis as the menu shows it: key, date, configuration, size, alpha."""
    lead = next(iter(analysis.runs.values()))
    parts = [analysis.key, f"{lead.made_at:%d %b %Y %H:%M}", number_of(lead.images, "image")]
    if "alpha" in lead.metrics:
        parts.append(f"α {alpha_text(lead.metrics['alpha'])}")
    return " · ".join([*parts, *filter(None, [lead.metrics.get("notation")])])


def _has_another_dataset(ctx: Context) -> bool:
    return ctx.dataset is not None and ctx.panel.state.dataset != ctx.dataset.name


def _has_another_lens(ctx: Context) -> bool:
    return bool(ctx.panel.state.lens != chosen_lens(ctx))


def _sees_another_view(ctx: Context) -> bool:
    """Whether the view that the section follows is not the one it shows."""
    state = ctx.panel.state
    return bool((state.lens or {}).get("follow")) and state.view_seen != _view_of(ctx)


def _view_of(ctx: Context) -> str:
    """The view and the filters of the App, as a text to compare."""
    asked = ctx.request_params
    return json.dumps([asked.get("view"), asked.get("filters"), asked.get("extended")], sort_keys=True, default=str)
