"""What every section of the workbench has."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import OBJECTS
from kalos_core.fiftyone.internals import stages_of
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import find_analysis

from ..parts.events import PLUGIN, WORKBENCH, Context, show_view
from ..parts.layout import add_choice

ALL = "0"
"""In the menus of the lens; the others are numbers from 1: a name might be anything."""

LENS = ("category", "rater", "tag")
"""The menus of the lens."""


WHOLE: dict[str, Any] = {**dict.fromkeys(LENS, ALL), "follow": False}
"""A lens that shows all."""


def set_lens(ctx: Context, lens: Mapping[str, Any]) -> None:
    """Another lens, in menus of a new name.

    A menu whose value is set sends the event of a choice, with the state as it was before the answer that set it: the
    section of then would be shown.
    """
    state = ctx.panel.state
    state.lens = dict(lens)
    state.lens_row = f"lens_{1 + int((state.lens_row or 'lens_0').partition('_')[2])}"
    ctx.panel.set_state(state.lens_row, state.lens)


def chosen_lens(ctx: Context) -> dict[str, Any]:
    """The lens as its menus are set; the App sends back only those that it shows."""
    state = ctx.panel.state
    return {**(state.lens or WHOLE), **(ctx.panel.get_state(state.lens_row or "") or {})}


class Section:
    """One section: what it loads, draws, and where its clicks lead.

    A subclass says how it is called (`NAME`), of which kind the run is that it shows (`KIND`; "" where it shows the
    analysis as a whole), of which labels that run is (`FAMILY`; None where it is of no labels that are there before),
    which parts of the lens its figures follow (`FOLLOWS`), what stands where there is no run (`NOTHING_YET`), and its
    pages, if it has several (`PAGES`, chosen by buttons). It puts a run into the panel's state
    and data in `load`, and shows it in `render`. Handlers are `guarded` methods; `to` says how the App reaches one.
    No name in the state is one of a table or a figure: with a change of a menu the App sends their data back.
    """

    NAME: ClassVar[str]
    KIND: ClassVar[str] = ""
    FAMILY: ClassVar[Any] = OBJECTS
    FOLLOWS: ClassVar[tuple[str, ...]] = ()
    NOTHING_YET: ClassVar[str] = ""
    PAGES: ClassVar[tuple[str, ...]] = ()

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        """Whether a data set has such a run, or labels of several raters that one could be made of."""
        has_run = not self.KIND or (analysis is not None and self.KIND in analysis.runs)
        return has_run or (self.FAMILY is not None and is_rated(ctx, self.FAMILY))

    def load(self, ctx: Context, analysis: Analysis) -> None:
        raise NotImplementedError

    def render(self, panel: types.Object, ctx: Context) -> None:
        raise NotImplementedError

    def load_again(self, ctx: Context) -> None:
        """After something was chosen."""
        self.load(ctx, self.analysis(ctx))

    @staticmethod
    def analysis(ctx: Context) -> Analysis:
        """The one that is chosen."""
        return find_analysis(ctx.dataset, ctx.panel.state.analysis)

    def lens(self, ctx: Context) -> kf.Lens:
        """What the menus of the lens say, as far as this section follows them."""
        state = ctx.panel.state
        lens = state.lens
        followed = {name for name in LENS if name in self.FOLLOWS and lens[name] != ALL}
        chosen = {name: state.choices[name][int(lens[name])] for name in followed}
        follows_view = "view" in self.FOLLOWS and lens["follow"]
        return kf.Lens(**chosen, samples=ctx.view.values("id") if follows_view else None)

    def show(self, ctx: Context, view: Any, content: str) -> None:
        """Set the view of the grid to what a click leads to, within the tag and the view that the lens follows."""
        state = ctx.panel.state
        lens = state.lens
        if "tag" in self.FOLLOWS and lens["tag"] != ALL:
            view = view.match_tags(state.choices["tag"][int(lens["tag"])])
        if "view" in self.FOLLOWS and lens["follow"]:
            within, view = view, ctx.view
            for stage in stages_of(within):
                view = view.add_stage(stage)
        show_view(ctx, view, content)

    @staticmethod
    def look_at(ctx: Context, part: str, name: str) -> None:
        """Set a part of the lens to a class or a rater."""
        state = ctx.panel.state
        set_lens(ctx, {**state.lens, part: str(state.choices[part].index(name, 1))})

    @classmethod
    def to(cls, handler: Callable[[Context], None]) -> str:
        """The address of a handler of this section."""
        return f"{WORKBENCH}#{cls.NAME.lower()}_{handler.__name__}"

    def page(self, ctx: Context) -> str:
        """The page that is shown."""
        page: str = (ctx.panel.state.pages or {}).get(self.NAME) or next(iter(self.PAGES), "")
        return page

    def add_pages(self, panel: types.Object, ctx: Context) -> None:
        add_choice(panel, "pages_row", self.PAGES, self.page(ctx), f"{WORKBENCH}#choose_page")

    @staticmethod
    def go_to(ctx: Context, name: str) -> None:
        """Another section, where the data have it; the workbench loads it."""
        if name in ctx.panel.state.sections:
            ctx.panel.state.section = name

    def add_not_in_lens(self, panel: types.Object, ctx: Context) -> None:
        """Say that the lens does not reach here, where one is set."""
        if ctx.panel.state.lens != WHOLE:
            panel.md(NOT_IN_LENS, name="not_in_lens")

    def kind(self, ctx: Context) -> str:
        """Of which kind the run is that the page shows."""
        return self.KIND

    def make(self, ctx: Context) -> None:
        """The form that makes the run it shows."""
        ctx.prompt(f"{PLUGIN}/{kf.KINDS[self.kind(ctx)].operator}")


def is_rated(ctx: Context, family: Any) -> bool:
    """Whether fields hold labels of a family by several raters, or could: a list may say whose each label is."""
    fields = kf.label_fields(ctx.dataset, family)
    return len(kf.rater_fields(ctx.dataset, family) or fields) > 1 or any(name != path for name, path in fields.items())


NOT_IN_LENS = "Of all images and raters: the lens does not reach here."
"""Said by what the lens cannot narrow."""
