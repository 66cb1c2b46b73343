"""Self-contained HTML page without scripts: sections of texts, tables, figures and drawings.

The templates escape all text from data. Only interactive pages contain scripts: plotly, once, and the plots of figures.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from kalos_core.display import rater_colour
from kalos_core.options import Option, Settings, checked
from kalos_core.report.axes import Form
from kalos_core.report.look import Cards, Scale
from kalos_core.text import visible

if TYPE_CHECKING:
    import jinja2
    import plotly.graph_objects as go

    from kalos_core.drawing import Drawing

QUALITY = 82
"""JPEG quality of drawings; a photograph as PNG is six times as large."""

CLICK = re.compile(r"<extra>click[^<]*</extra>")
"""Hint in hover texts of figures that works only in the App, not on a page."""

LONG = 20
"""Rows of a figure above which it may break across printed pages."""


@dataclass(frozen=True)
class ReportSettings(Settings):
    """Settings of a report: title, interactive plots, and whether to replace an existing file.

    Examples
    --------
    >>> ReportSettings("Cats").record()
    {'title': 'Cats', 'interactive': False}
    """

    title: Annotated[str | None, Option("Title", "Title of the page; by default it names the data.")] = None
    _: KW_ONLY
    interactive: Annotated[
        bool,
        Option("Interactive", "Add plots to zoom into: they need a browser that runs scripts, and some 5 MB."),
    ] = False
    overwrite: bool = False


MARK = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="kalos_core">
"""
"""Beginning of every page, by which existing reports are recognised before they are replaced."""


@dataclass(frozen=True)
class Text:
    """Paragraph; `soft` for a remark."""

    kind: ClassVar[str] = "text"
    text: str
    soft: bool = False


@dataclass(frozen=True)
class Items:
    """List of texts."""

    kind: ClassVar[str] = "items"
    texts: Sequence[str]


@dataclass(frozen=True)
class Heading:
    """Heading within a section."""

    kind: ClassVar[str] = "heading"
    text: str


@dataclass(frozen=True)
class Code:
    """Lines of code to copy."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True)
class Table:
    """Table of texts with a header; `numbers` are the right-aligned columns."""

    kind: ClassVar[str] = "table"
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Figure:
    """Form with its finding and a reading aid; its formula is at the end of the page.

    Parameters
    ----------
    form : Form or Table
    title : str
        Finding.
    reading, formula : str
        How to read the figure, and what is computed.
    plot : callable, optional
        Creates the same figure with plotly, for interactive pages.
    """

    kind: ClassVar[str] = "figure"
    form: Form | Table
    title: str = ""
    reading: str = ""
    formula: str = ""
    plot: Callable[[], go.Figure] | None = None

    @property
    def is_long(self) -> bool:
        """Whether the figure may break across printed pages."""
        rows = getattr(self.form, "rows", ())
        return len(rows) > LONG

    @property
    def plotted(self) -> Plotted | None:
        """Plotly version of the figure for interactive pages, if there is one."""
        return None if self.plot is None else Plotted.of(self.plot())


@dataclass(frozen=True)
class Plotted:
    """Plotly figure on a page: its height in pixels, and its JSON, which cannot close a script element."""

    height: int
    json: Any

    @classmethod
    def of(cls, figure: go.Figure) -> Plotted:
        """Convert a figure, without its title and theme, which the page supplies."""
        from markupsafe import Markup
        from plotly.io.json import to_json_plotly

        from kalos_core.figures.common import untitled

        _, bare = untitled(figure)
        content = bare.to_plotly_json()
        content["layout"].pop("template", None)
        for trace in content["data"]:
            if isinstance(trace.get("hovertemplate"), str):
                trace["hovertemplate"] = CLICK.sub("<extra></extra>", trace["hovertemplate"])
        text = to_json_plotly({"data": content["data"], "layout": content["layout"]})
        return cls(int(bare.layout.height or 420), Markup(text))


@dataclass(frozen=True)
class Shown:
    """Drawing on a page: a data URI, its size, and a description."""

    title: str
    source: str
    width: int
    height: int
    legend: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, drawing: Drawing) -> Shown:
        """Convert a drawing; the legend becomes text of the page, which follows the theme, not part of the image."""
        from PIL import Image

        from kalos_core.drawing.drawing import data_uri

        image = Image.open(io.BytesIO(drawing.png(legend=False))).convert("RGB")
        legend = [(rater_colour(rater), text) for rater, text in drawing.legend.items()]
        source = data_uri(image, "JPEG", quality=QUALITY)
        return cls(drawing.title, source, image.width, image.height, legend)

    @property
    def alternative(self) -> str:
        """Alternative text."""
        return f"Crop of {self.title} with outlines. {'; '.join(text for _, text in self.legend)}"


@dataclass(frozen=True)
class Drawings:
    """Drawings side by side, each with its title and legend."""

    kind: ClassVar[str] = "drawings"
    drawings: Sequence[Drawing]

    @property
    def drawn(self) -> Iterator[Shown]:
        """Drawings converted for the page."""
        return map(Shown.of, self.drawings)


Block: TypeAlias = Text | Heading | Items | Code | Table | Figure | Drawings | Cards | Scale
"""Blocks of a section."""


@dataclass(frozen=True)
class Section:
    """Blocks with a heading; a section of `level` 3 belongs to the section before it."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    level: int = 2
    on_new_page: bool = False


@checked
def page(title: str, sections: Sequence[Section], below: Sequence[str] = (), *, interactive: bool = False) -> str:
    """Build an HTML page.

    Parameters
    ----------
    title : str
    sections : sequence of Section
    below : sequence of str
        Lines below the title.
    interactive : bool
        Whether to add the plotly figures, which need scripts.

    Examples
    --------
    >>> made = page("<b>", [Section("A & B", [Text("1 < 2"), Table(["a"], [["<i>"]])])])
    >>> [text in made for text in ("<h1>&lt;b&gt;</h1>", "A &amp; B", "1 &lt; 2", ">&lt;i&gt;<", "<script")]
    [True, True, True, True, False]
    """
    figures = [block for section in sections for block in section.blocks if isinstance(block, Figure)]
    formulas = list(dict.fromkeys(figure.formula for figure in figures if figure.formula))
    is_interactive = interactive and any(figure.plot for figure in figures)
    return _template().render(
        title=title,
        sections=sections,
        below=below,
        formulas=formulas,
        interactive=is_interactive,
        plotly=_plotly() if is_interactive else "",
    )


@cache
def _template() -> jinja2.Template:
    import jinja2  # needed for pages only

    loader = jinja2.PackageLoader("kalos_core.report", ".")
    surroundings = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    surroundings.finalize = _visible
    return surroundings.get_template("page.html")


def _visible(value: Any) -> Any:
    """Remove invisible characters from text."""
    from markupsafe import Markup

    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _plotly() -> Any:
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
