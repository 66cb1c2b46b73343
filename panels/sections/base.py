"""What every section of the workbench has."""

from collections.abc import Callable
from typing import Any, ClassVar

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import OBJECTS
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import find_analysis

from ..data.base import WHOLE, Asked, is_there
from ..parts.events import PLUGIN, WORKBENCH, Context, show_view
from ..parts.layout import add_choice


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
        return is_there(ctx, self.KIND, self.FAMILY, analysis)

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
        return self._asked(ctx).lens

    def show(self, ctx: Context, view: Any, content: str) -> None:
        """Set the view of the grid to what a click leads to, within the tag and the view that the lens follows."""
        ctx.panel.state.grid = show_view(ctx, self._asked(ctx).within(view), content)

    def _asked(self, ctx: Context) -> Asked:
        return Asked(ctx, self.analysis(ctx), self.FOLLOWS, ctx.panel.state.lens)

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


NOT_IN_LENS = "Of all images and raters: the lens does not reach here."
"""Said by what the lens cannot narrow."""
