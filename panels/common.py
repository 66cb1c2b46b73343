"""What the panels share: choosing a run, saying what to do where there is none, and never showing a traceback."""

import functools
import logging

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import KalosError

logger = logging.getLogger(__name__)

PLUGIN = "@kalos/variation"


def guarded(handler):
    """A panel's handler whose errors are said in the panel instead of replacing it with a traceback."""

    @functools.wraps(handler)
    def call(self, ctx):
        try:
            handler(self, ctx)
        except KalosError as error:
            _fail(ctx, str(error))
        except Exception as error:
            logger.exception("The panel %s failed", type(self).__name__)
            _fail(ctx, f"{type(error).__name__}: {error}")

    return call


def _fail(ctx, message):
    ctx.panel.state.problem = message
    ctx.ops.notify(message.splitlines()[0], variant="error")


def choose_run(ctx, kind, state="run"):
    """The run a panel shows: the one chosen, or the newest if it is new to the panel; None where there is none."""
    keys = kf.list_runs(ctx.dataset, kind)
    seen = ctx.panel.get_state(f"{state}_keys") or []
    chosen = ctx.panel.get_state(state)
    newest = next(iter(keys), None)
    key = chosen if chosen in keys and newest in seen else newest
    ctx.panel.set_state(state, key)
    ctx.panel.set_state(f"{state}_keys", keys)
    return key


def take_run(ctx, kind, state="run"):
    """The run chosen in the menu, also where a newer one has come up meanwhile."""
    ctx.panel.set_state(state, ctx.params["value"])
    ctx.panel.set_state(f"{state}_keys", kf.list_runs(ctx.dataset, kind))


def add_run_menu(panel, ctx, on_change, state="run", label="Run"):
    """A drop-down of the runs, only where there is a choice."""
    keys = ctx.panel.get_state(f"{state}_keys") or []
    if len(keys) < 2:
        return
    choices = types.DropdownView()
    for key in keys:
        choices.add_choice(key, label=key)
    panel.enum(state, choices.values(), view=choices, label=label, on_change=on_change)


def add_problem(panel, ctx, retry):
    """What went wrong, with a button that tries again."""
    panel.view("failed", types.Error(label="This could not be shown", description=ctx.panel.get_state("problem")))
    panel.btn("retry", label="Try again", icon="refresh", on_click=retry, variant="contained")


def add_invitation(panel, what, label, on_click):
    """What to do where nothing was computed yet, with the button that does it."""
    panel.md(what, name="invitation")
    panel.btn("compute", label=label, icon="play_arrow", on_click=on_click, variant="contained")


def add_caption(panel, text, name="caption"):
    """One line under a figure: what is shown, formula, range, how to read it."""
    panel.md(text, name=name)


def add_table(panel, name, label, columns, on_click_row=None):
    """A table as wide as the panel (FiftyOne's own minimum of 650 pixels would cut columns off)."""
    row = {"hover": True, "sx": {"cursor": "pointer"}} if on_click_row else {}
    cell = {"sx": {"whiteSpace": "pre-line", "fontSize": "0.9rem"}}
    parts = {"table": {"sx": {"minWidth": 0}}, "tableBodyRow": row, "tableBodyCell": cell}
    handler = {"on_click_row": on_click_row} if on_click_row else {}
    view = types.TableView(**handler, componentsProps=parts)
    for key, title in columns:
        view.add_column(key, label=title)
    panel.list(name, types.Object(), view=view, label=label)


def stacked(panel):
    """One column as wide as the panel: by default a wide table would push the rest out of sight."""
    column = {"gridTemplateColumns": "minmax(0, 1fr)", "justifyContent": "stretch"}
    view = types.GridView(orientation="vertical", gap=1, pad=2, componentsProps={"grid": {"sx": column}})
    return types.Property(panel, view=view)


def to_data(figure):
    """A plotly figure as a panel takes it: traces and layout as plain values."""
    plain = figure.to_plotly_json()
    plain["layout"].pop("template", None)  # the App brings its theme; plotly's own is white, and 7 kB of state
    return plain["data"], plain["layout"]
