"""All runs of the data set, and two analyses side by side."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeAlias

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.diagnostics import Differences
from kalos_core.display import NO_BREAK, alpha_text, count_text, number_of, with_interval
from kalos_core.fiftyone.analyses.comparing import view_of_change
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.fiftyone.runs.table import Run
from kalos_core.text import plain, shown

from ..parts.events import WORKBENCH, Context, guarded
from ..parts.layout import add_menu, add_row, add_table
from .base import Section

COLUMNS = (("key", "Run"), ("made", "Made"), ("what", "What"), ("size", "Images"), ("alpha", "α"), ("state", "State"))

DIFFERENCES = (
    ("name", ""),
    ("a", "α before"),
    ("b", "α after"),
    ("difference", "Change (✓: clear)"),
    ("images", "Images"),
)

SETTINGS = (("name", "Setting"), ("a", "Before"), ("b", "After"))

AnyRun: TypeAlias = "Run[Any, Any, Any, Any]"

ACTIONS = {
    "update_run": ("Update", "update", "key"),
    "rename_run": ("Rename", "edit", "run_key"),
    "describe_run": ("Note and status", "sticky_note_2", "run_key"),
    "delete_run": ("Delete", "delete", "run_key"),
}
"""Operator -> its button, the icon, and the argument that takes the key."""

MOST_ROWS = 25


class RunsSection(Section):
    """What was computed, when and how; what changed from one analysis to another."""

    NAME, PAGES = "Runs", ("List", "Compare")

    def load(self, ctx: Context, analysis: Analysis) -> None:
        if self.page(ctx) == "List":
            self._load_list(ctx, analysis)
        else:
            self._load_comparison(ctx, analysis)

    def _load_list(self, ctx: Context, analysis: Analysis) -> None:
        state, together = ctx.panel.state, dict[str, list[AnyRun]]()
        for run in kf.list_runs(ctx.dataset, info=True):
            together.setdefault(run.analysis or run.key, []).insert(0, run)  # the one that leads was made first
        state.run_keys_listed = [runs[0].key for runs in together.values()]
        if state.picked not in state.run_keys_listed:
            state.picked = analysis.key
        ctx.panel.set_data("runs", [_row(ctx, runs, runs[0].key == state.picked) for runs in together.values()])

    def _load_comparison(self, ctx: Context, analysis: Analysis) -> None:
        state = ctx.panel.state
        found = [entry.key for entry in kf.list_analyses(ctx.dataset) if entry.run("agreement")]
        state.comparable = [key for key in found if key != analysis.key]
        if state.against not in state.comparable:
            state.against = next(iter(state.comparable), None)
        if state.against is None or analysis.run("agreement") is None:
            state.against = None
            return
        result = kf.compare_runs(ctx.dataset, state.against, analysis.key)
        comparison = result.comparison
        state.change = (
            f"From {shown(state.against)} to {shown(analysis.key)} α changed by "
            f"{with_interval(comparison.difference, comparison.interval, why=comparison.why_no_interval)}"
        )
        state.changed_images = [len(comparison.improved), len(comparison.worsened)]
        state.doubts = list(result.notes)
        ctx.panel.set_data("by_class", list(_differences(comparison.classes)))
        ctx.panel.set_data("by_rater", list(_differences(comparison.raters)))
        rows = [
            {"name": row.name, "a": _setting_text(row.a), "b": _setting_text(row.b)}
            for row in result.settings
            if row.differs
        ]
        ctx.panel.set_data("settings", rows)
        state.differing = len(rows)

    @guarded
    def on_change_against(self, ctx: Context) -> None:
        ctx.panel.state.against = ctx.params["value"]
        self._load_comparison(ctx, self.analysis(ctx))

    @guarded
    def click_run(self, ctx: Context) -> None:
        state = ctx.panel.state
        state.picked = state.run_keys_listed[ctx.params["row"]]
        self._load_list(ctx, self.analysis(ctx))

    @guarded
    def show_change(self, ctx: Context) -> None:
        state, which = ctx.panel.state, ctx.params["which"]
        view = view_of_change(ctx.dataset, state.against, state.analysis, which)
        self.show(ctx, view, f"{which} images, the most first")

    def render(self, panel: types.Object, ctx: Context) -> None:
        if self.page(ctx) == "List":
            self._render_list(panel, ctx)
        else:
            self._render_comparison(panel, ctx)

    def _render_list(self, panel: types.Object, ctx: Context) -> None:
        row = add_row(panel, "actions", "120px")
        for operator, (label, icon, argument) in ACTIONS.items():
            given = {"operator": operator, "given": {argument: ctx.panel.state.picked}}
            row.btn(operator, label=label, icon=icon, on_click=f"{WORKBENCH}#prompt", params=given)
        label = "All runs, the newest first, an analysis in a row: click one, then what to do with it"
        add_table(panel, "runs", label, COLUMNS, self.to(self.click_run))

    def _render_comparison(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        if state.against is None:
            panel.md("There is only one analysis. *Update* makes it again with the labels as they are now.", name="one")
            given = {"operator": "update_run", "given": {"key": state.analysis}}
            panel.btn("update", label="Update", icon="update", on_click=f"{WORKBENCH}#prompt", params=given)
            return
        add_menu(panel, "against", state.comparable, self.to(self.on_change_against), label="Before")
        panel.md(f"**{state.change}**", name="change_text")
        for number, doubt in enumerate(state.doubts):
            panel.view(f"doubt_{number}", types.Warning(label=doubt))
        row = add_row(panel, "changes", "150px")
        for which, count in zip(("improved", "worsened"), state.changed_images, strict=True):
            label = f"{count_text(count)} {which}"
            row.btn(which, label=label, icon="grid_view", on_click=self.to(self.show_change), params={"which": which})
        add_table(panel, "by_class", "By class", DIFFERENCES)
        add_table(panel, "by_rater", "By rater (their pairs with each other one)", DIFFERENCES)
        if state.differing:
            add_table(panel, "settings", "What the two were told", SETTINGS)


def _row(ctx: Context, runs: list[AnyRun], is_picked: bool) -> dict[str, str]:
    """Runs of one analysis, of which the first leads, or a lone one."""
    lead, changes = runs[0], count_changes(ctx.dataset, runs[0].key)
    state = [
        f"{number_of(changes, 'image')} edited since" if changes else "up to date",
        *(text for run in runs for text in (run.status, run.note)),
    ]
    return {
        "key": f"{f'▸{NO_BREAK}' * is_picked}{lead.key}",
        "made": f"{lead.made_at:%Y-%m-%d %H:%M}",
        "what": f"{', '.join(kf.KINDS[run.kind].title for run in runs)}\n{lead.metrics.get('notation', '')}".strip(),
        "size": count_text(lead.images),
        "alpha": alpha_text(lead.metrics["alpha"]) if "alpha" in lead.metrics else "",
        "state": "\n".join(plain(line) for line in state if line),
    }


def _setting_text(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else plain(str(value))


def _differences(found: Differences) -> Iterator[dict[str, str]]:
    """Those that changed most first."""
    order = np.argsort(-np.abs(found.difference), kind="stable")[:MOST_ROWS]  # undefined last
    for row in order.tolist():
        clear = " ✓" if found.is_clear[row] else ""
        yield {
            "name": plain(str(found.name[row])),
            "a": alpha_text(found.alpha_a[row], 3),
            "b": alpha_text(found.alpha_b[row], 3),
            "difference": f"{alpha_text(found.difference[row], 3)}{clear}",
            "images": count_text(int(found.images[row])),
        }
