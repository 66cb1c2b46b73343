"""One HTML page that needs no network: sections of texts, tables, figures and drawings.

Text from data is text: the template escapes all of it. plotly's script is in the page once, if it has a figure.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from kalos_core.text import visible

if TYPE_CHECKING:
    import jinja2
    import plotly.graph_objects as go

    from kalos_core.drawing import Drawing

QUALITY = 82
"""Of the drawings, which are stored as JPEG: a photograph as PNG is six times as large."""


@dataclass(frozen=True)
class Text:
    """A paragraph; `soft`: a remark."""

    kind: ClassVar = "text"
    text: str
    soft: bool = False


@dataclass(frozen=True)
class Items:
    """A list."""

    kind: ClassVar = "items"
    texts: Sequence[str]


@dataclass(frozen=True)
class Code:
    """Lines to copy."""

    kind: ClassVar = "code"
    text: str


@dataclass(frozen=True)
class Table:
    """Rows of texts below a header; `numbers`: the columns that are aligned at the right."""

    kind: ClassVar = "table"
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    numbers: Sequence[int] = ()


@dataclass(frozen=True)
class Plot:
    """A plotly figure below its finding and how to read it; the formula is folded in."""

    kind: ClassVar = "plot"
    figure: go.Figure
    title: str = ""
    reading: str = ""
    formula: str = ""

    @property
    def height(self) -> int:
        """Pixels."""
        return int(self.figure.layout.height or 420)

    @property
    def json(self) -> Any:
        """What plotly draws; plotly writes it so that nothing in it can end the script that holds it."""
        from markupsafe import Markup
        from plotly.io.json import to_json_plotly

        content = self.figure.to_plotly_json()
        content["layout"].pop("template", None)  # the page brings its theme
        return Markup(to_json_plotly({"data": content["data"], "layout": content["layout"]}))


@dataclass(frozen=True)
class Drawings:
    """Drawings side by side, each above its title."""

    kind: ClassVar = "drawings"
    drawings: Sequence[Drawing]

    @property
    def sources(self) -> Iterator[tuple[str, str]]:
        """The title of each, and its address, which holds all of it."""
        from PIL import Image

        from kalos_core.drawing.drawing import data_uri

        for drawing in self.drawings:
            image = Image.open(io.BytesIO(drawing.png())).convert("RGB")
            yield drawing.title, data_uri(image, "JPEG", quality=QUALITY)


Block: TypeAlias = Text | Items | Code | Table | Plot | Drawings
"""What a section is made of."""


@dataclass(frozen=True)
class Section:
    """Blocks below a heading; `level` 3 is part of the section before it."""

    title: str
    blocks: Sequence[Block] = field(default_factory=tuple)
    level: int = 2
    on_new_page: bool = False


def page(title: str, sections: Sequence[Section], below: Sequence[str] = ()) -> str:
    """A page as HTML.

    Parameters
    ----------
    title : str
    sections : sequence of Section
    below : sequence of str
        Lines below the title.

    Examples
    --------
    >>> made = page("<b>", [Section("A & B", [Text("1 < 2"), Table(["a"], [["<i>"]])])])
    >>> [text in made for text in ("<h1>&lt;b&gt;</h1>", "A &amp; B", "1 &lt; 2", "<td>&lt;i&gt;</td>", "Plotly")]
    [True, True, True, True, False]
    """
    plots = any(block.kind == "plot" for section in sections for block in section.blocks)
    return _template().render(
        title=title, sections=sections, below=below, plots=plots, plotly=_plotly() if plots else ""
    )


@cache
def _template() -> jinja2.Template:
    import jinja2  # only pages need it

    loader = jinja2.PackageLoader("kalos_core.report", ".")
    surroundings = jinja2.Environment(
        loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    surroundings.finalize = _visible
    return surroundings.get_template("page.html")


def _visible(value: Any) -> Any:
    """Characters without a shape are left out."""
    from markupsafe import Markup

    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _plotly() -> Any:
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
