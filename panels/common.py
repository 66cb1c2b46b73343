"""What the panels share: choosing a run, inviting to make one, menus, figures, tables, and errors without traceback."""

import base64
import functools
import logging
import time
from dataclasses import replace

import fiftyone.operators as foo
import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import KalosError
from kalos_core.display import bold

logger = logging.getLogger(__name__)

PLUGIN = "@kalos/variation"

LOADED_TWICE = 1.5
"""Seconds within which a panel that was loaded is loaded again only because the App sends the event twice."""

CROWDED = 5
"""More columns than this share the width of a panel only in smaller letters."""

EVENLY = {"tabs": {"variant": "fullWidth"}, "tab": {"sx": {"minWidth": 0, "padding": "12px 2px"}}}
"""Tabs that share the width of the panel; by default the last ones are out of sight."""


def guarded(handler):
    """A panel's handler whose errors are shown in the panel instead of replacing it with a traceback."""

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


def choose_run(ctx, kind):
    """The run a panel shows: the one chosen, or the newest if it is new to the panel; None where there is none."""
    keys = kf.list_runs(ctx.dataset, kind)
    seen = ctx.panel.state.run_keys or []
    chosen = ctx.panel.state.run
    newest = next(iter(keys), None)
    key = chosen if chosen in keys and newest in seen else newest
    ctx.panel.state.run = key
    ctx.panel.state.run_keys = keys
    return key


def dropdown(entries):
    """A drop-down of values with their labels, or of values that are their own labels."""
    view = types.DropdownView()
    labels = entries if isinstance(entries, dict) else {entry: entry for entry in entries}
    for value, label in labels.items():
        view.add_choice(value, label=label)
    return view


def add_menu(panel, name, entries, on_change, label=None):
    """A drop-down, only where there is more than one entry."""
    if len(entries or ()) > 1:
        view = dropdown(entries)
        panel.enum(name, view.values(), view=view, label=label, on_change=on_change)


# ---- what a click leads to ----


def show_view(ctx, view, content):
    """Set the view of the grid, and notify how many samples with that content are in it."""
    ctx.ops.set_view(view)
    ctx.ops.notify(f"{len(view):,} {content}")


def open_sample(ctx, sample_id):
    ctx.ops.open_sample(id=str(sample_id))


def select_labels(ctx, sample_id, labels):
    """Select labels, pairs of an id and its field, of the open sample."""
    ctx.ops.set_selected_labels(
        [{"sample_id": str(sample_id), "label_id": str(label_id), "field": field} for label_id, field in labels]
    )


class RunPanel(foo.Panel):
    """A panel that shows one stored run of a kind, or invites to make one.

    A subclass says how it is called (`NAME`, `LABEL`, `HELP`, `ICON`), what it shows and makes (`KIND`, `OPERATOR`,
    `BUTTON`, `NOTHING_YET`), its tabs if it has any (`SECTIONS`, the first of which it opens with), puts a run into the
    panel's state (with its `headline`) and data in `load_run`, and shows the rest in `render_run`. No name in the state
    is one of a table or a figure: with a change of a menu or a tab the App sends their data back in its place.
    """

    NAME = LABEL = HELP = ICON = ""
    KIND = OPERATOR = BUTTON = NOTHING_YET = ""
    SECTIONS = ()
    SURFACE = "grid"

    @property
    def config(self):
        return foo.PanelConfig(
            name=self.NAME, label=self.LABEL, icon=self.ICON, surfaces=self.SURFACE, help_markdown=self.HELP
        )

    def on_load(self, ctx):
        """The App sends the event again as soon as the first answer arrives; that is not answered.

        It would come late, and show what was there before over what has been chosen meanwhile.
        """
        loaded = ctx.panel.state.loaded
        if loaded is None or not 0 <= time.time() - loaded < LOADED_TWICE:
            self.reload(ctx)

    @guarded
    def reload(self, ctx):
        ctx.panel.state.problem = None
        key = choose_run(ctx, self.KIND)
        if self.SECTIONS and not ctx.panel.state.section:  # else it may just be changing in the App
            ctx.panel.state.section = self.SECTIONS[0]
        if key is not None:
            self.load_run(ctx, key)
        ctx.panel.state.loaded = time.time()

    @guarded
    def on_change_run(self, ctx):
        ctx.panel.state.run = ctx.params["value"]
        ctx.panel.state.run_keys = kf.list_runs(ctx.dataset, self.KIND)  # none of them is news any more
        self.reload(ctx)

    @guarded
    def on_change_section(self, ctx):
        """The App has changed the tab itself: set again, it sends another event, and two that cross never end."""
        if ctx.panel.state.section != ctx.params["value"]:
            ctx.panel.state.section = ctx.params["value"]

    @guarded
    def show_all(self, ctx):
        view = kf.load_run_view(ctx.dataset, ctx.panel.state.run)
        if view.view() == ctx.dataset.view():  # without a stage it is no view that the App could set
            ctx.ops.clear_view()
        else:
            ctx.ops.set_view(view)

    def compute(self, ctx):
        ctx.prompt(f"{PLUGIN}/{self.OPERATOR}", on_success=self.reload)

    def render(self, ctx):
        panel = types.Object()
        if ctx.panel.state.problem:
            add_problem(panel, ctx, self.reload)
        elif not ctx.panel.state.run:
            self.render_nothing(panel, ctx)
        else:
            panel.md(ctx.panel.state.headline or "", name="headline")
            add_menu(panel, "run", ctx.panel.state.run_keys, self.on_change_run, label="Run")
            self.add_filters(panel, ctx)
            if self.SECTIONS:
                add_tabs(panel, self.SECTIONS, self.on_change_section)
            self.render_run(panel, ctx)
        return stacked(panel)

    def add_filters(self, panel, ctx):
        """What narrows the run down, above the tabs; nothing by default."""

    def add_buttons(self, panel, content, *more):
        """Below everything else: what the panel adds (name, label, icon, handler), back to the whole run, a new run."""
        row = panel.h_stack("buttons", align_x="left", gap=2)
        for name, label, icon, handler in more:
            row.btn(name, label=label, icon=icon, on_click=handler)
        row.btn("show_all", label=f"Show all {content}", icon="clear_all", on_click=self.show_all)
        row.btn("again", label="New run", icon="play_arrow", on_click=self.compute)

    def render_nothing(self, panel, ctx):  # others show more than the invitation
        """Where there is no run: what one would show, and how to make it."""
        panel.md(self.NOTHING_YET, name="invitation")
        panel.btn("compute", label=self.BUTTON, icon="play_arrow", on_click=self.compute, variant="contained")


def changed_since(ctx, key):
    """A sentence on labels that have changed since a run, "" where none have."""
    changed = kf.count_changes(ctx.dataset, key)
    images = "image was" if changed == 1 else "images were"
    return f"\n\n**{changed:,} {images} edited or deleted since this run: make a new one.**" if changed else ""


def add_problem(panel, ctx, retry):
    """What went wrong, with a button that tries again."""
    panel.view("failed", types.Error(label="This could not be shown", description=ctx.panel.state.problem))
    panel.btn("retry", label="Try again", icon="refresh", on_click=retry, variant="contained")


def add_caption(panel, text, name="caption"):
    """One line under a figure: what is shown, formula, range, how to read it."""
    panel.md(text, name=name)


def put_figures(ctx, figures):
    """Plotly figures by name, for `add_figure`."""
    layouts = {}
    for name, figure in figures.items():
        traces, layouts[name] = to_data(figure)
        ctx.panel.set_data(name, traces)
    ctx.panel.state.layouts = layouts


def add_figure(panel, ctx, name, on_click=None):
    """A figure of `put_figures`."""
    handler = {"on_click": on_click} if on_click else {}
    panel.plot(name, layout=ctx.panel.state.layouts[name], config={"displayModeBar": False}, **handler)


def take_title(parts, name):
    """The finding of a part that is shown above the tabs, and not again above its figure."""
    title = parts[name].title
    parts[name] = replace(parts[name], title="")
    return title


def put_parts(ctx, parts):
    """Parts by name, for `add_part`."""
    put_figures(ctx, {name: part.figure for name, part in parts.items() if part.figure})
    ctx.panel.state.titles = {name: [part.title, part.note] for name, part in parts.items()}


def add_part(panel, ctx, name, caption, on_click=None):
    """A part of `put_parts`: its finding, its figure, and how to read it below; nothing where the run has none."""
    if name not in ctx.panel.state.titles:
        return
    title, note = ctx.panel.state.titles[name]
    if title:
        panel.md(bold(title), name=f"{name}_title")
    if name in ctx.panel.state.layouts:
        add_figure(panel, ctx, name, on_click)
        add_caption(panel, f"{caption} {note}".rstrip(), name=f"{name}_caption")


def add_tabs(panel, names, on_change):
    """Tabs that choose `section` in the panel's state."""
    tabs = types.TabsView(componentsProps=EVENLY)
    for name in names:
        tabs.add_choice(name, label=name)
    panel.enum("section", tabs.values(), view=tabs, on_change=on_change)


def put_rows(ctx, name, rows):
    """The rows of a table, for `add_table`, under a name for each length.

    The App lays new rows over old ones, and would keep what a shorter list leaves.
    """
    place = f"{name}_of_{len(rows)}"
    ctx.panel.set_state(f"{name}_table", place)
    ctx.panel.set_data(place, rows)


def add_table(panel, ctx, name, label, columns, on_click_row=None):
    """A table of `put_rows` as wide as the panel (FiftyOne's own minimum of 650 pixels would cut columns off)."""
    row = {"hover": True, "sx": {"cursor": "pointer"}} if on_click_row else {}
    cell = {"whiteSpace": "pre-line", "fontSize": "0.9rem"}
    if len(columns) > CROWDED:
        cell |= {"fontSize": "0.8rem", "padding": "6px"}
    parts = {
        "table": {"sx": {"minWidth": 0}},
        "tableHeadCell": {"sx": cell},
        "tableBodyRow": row,
        "tableBodyCell": {"sx": cell},
    }
    handler = {"on_click_row": on_click_row} if on_click_row else {}
    view = types.TableView(**handler, componentsProps=parts)
    for key, title in columns:
        view.add_column(key, label=title)
    panel.list(ctx.panel.get_state(f"{name}_table"), types.Object(), view=view, label=label)


def put_drawing(ctx, name, drawing):
    """A drawing, for `add_drawing`; None takes it away."""
    ctx.panel.set_state(f"{name}_title", drawing and drawing.title)
    png = base64.b64encode(drawing.png()).decode("ascii") if drawing else ""
    ctx.panel.set_data(name, f"data:image/png;base64,{png}")


def add_drawing(panel, ctx, name):
    """A drawing of `put_drawing` below its title, where there is one."""
    if title := ctx.panel.get_state(f"{name}_title"):
        panel.md(bold(title), name=f"{name}_heading")
        panel.view(name, types.ImageView(alt=title))


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
