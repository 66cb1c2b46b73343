"""Drawing of an image or a crop with the outlines of raters, as PNG and as a plotly figure."""

from __future__ import annotations

import base64
import importlib.util
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import number_of, rater_colour
from kalos_core.drawing.outlines import Outline
from kalos_core.text import plain, shown

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from PIL import Image, ImageDraw, ImageFont

LINE = 2.0
"""Width of an outline in pixels of the drawing."""

WIDER = 3.0
"""Extra width of the outline of each rater relative to the next, so that equal outlines are all visible."""

MOST_RINGS = 5
"""Number of raters with different widths; earlier raters share the widest."""

POINT = 4.0
"""Radius of a keypoint in pixels of the drawing."""

HALO = (255, 255, 255)

LEGEND_ROW, LEGEND_FONT = 20, 13
"""Height of a line of the legend, and font size, in pixels."""


@dataclass(frozen=True, eq=False)
class Drawing:
    r"""Image, or a part of it, with the annotations of raters.

    Parameters
    ----------
    pixels : (H, W, 3) uint8
        Background pixels, at the size of the drawing.
    corner : (2,) float64
        x, y of the upper left corner in pixels of the image.
    scale : (2,) float64
        Pixels of the drawing per pixel of the image, in x and y.
    outlines : sequence of Outline
        In pixels of the image.
    legend : mapping of rater codes to text
        Text for each rater's colour, in the order of the vocabulary.
    title : str
    is_canvas : bool
        Whether the image has no pixels to show.

    Examples
    --------
    >>> from kalos_core import Annotations, draw_image
    >>> row = {"image": 1, "rater": "ann", "category": "cat", "box": [10, 20, 30, 40]}
    >>> drawing = draw_image(Annotations.from_rows([row], image_size={1: (100, 80)}), 1)
    >>> drawing.pixels.shape, drawing.is_canvas, drawing.legend, drawing.png()[:4]
    ((80, 100, 3), True, {0: 'ann: 1 annotation'}, b'\x89PNG')
    """

    pixels: NDArray[np.uint8]
    corner: NDArray[np.float64]
    scale: NDArray[np.float64]
    outlines: Sequence[Outline]
    legend: Mapping[int, str]
    title: str
    is_canvas: bool

    def placed(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert (V, 2) pixels of the image to pixels of the drawing."""
        return np.asarray((points - self.corner) * self.scale)

    def png(self, legend: bool = True) -> bytes:
        """Render the drawing as a PNG file.

        Parameters
        ----------
        legend : bool
            Whether to add a line for each rater below the image.
        """
        from PIL import Image, ImageDraw  # slow to import, and needed here only

        image = Image.fromarray(self.pixels)
        width = self._widths()
        pen = ImageDraw.Draw(image)
        below_first = sorted(self.outlines, key=lambda one: -width[one.rater])
        for colour in (HALO, None):  # all halos first, so that none hides another rater's line
            for outline in below_first:
                self._outline(pen, outline, width[outline.rater], colour)
        if legend and self.legend:
            image = self._with_legend(image)
        buffer = io.BytesIO()
        image.save(buffer, "PNG")
        return buffer.getvalue()

    def figure(self) -> go.Figure:
        """Render the drawing as a plotly figure with one trace per rater, which a click on the legend hides."""
        import plotly.graph_objects as go
        from PIL import Image

        height, width = self.pixels.shape[:2]
        size = np.array([width, height]) / self.scale
        left, top = self.corner.tolist()
        right, bottom = (self.corner + size).tolist()
        widths = self._widths()
        figure = go.Figure([self._trace(rater, text, widths.get(rater, LINE)) for rater, text in self.legend.items()])
        hidden = {"visible": False}
        return figure.update_layout(
            title={"text": shown(self.title, None), "font": {"size": 14}},
            images=[
                {
                    "source": data_uri(Image.fromarray(self.pixels)),
                    "xref": "x",
                    "yref": "y",
                    "x": left,
                    "y": top,
                    "sizex": right - left,
                    "sizey": bottom - top,
                    "sizing": "stretch",
                    "layer": "below",
                }
            ],
            xaxis={"range": [left, right], "constrain": "domain", **hidden},
            yaxis={
                "range": [bottom, top],
                "scaleanchor": "x",
                "scaleratio": float(self.scale[1] / self.scale[0]),
                "constrain": "domain",
                **hidden,
            },
            margin={"t": 40 if self.title else 10, "l": 10, "r": 10, "b": 10},
            height=int(np.clip(height * 700 / max(width, 1), 250, 700)) + 60,
            legend={"orientation": "h", "y": 0, "yanchor": "top", "x": 0},
            showlegend=True,
            hovermode="closest",
        )

    def _repr_png_(self) -> bytes:
        return self.png()

    def __repr__(self) -> str:
        height, width = self.pixels.shape[:2]
        under = "canvas" if self.is_canvas else "image"
        return f"Drawing({self.title!r}: {number_of(len(self.outlines), 'outline')} on {under} of {width} x {height})"

    def _widths(self) -> dict[int, float]:
        """Return rater -> width of the outlines; later raters are drawn on top with narrower ones."""
        raters = [rater for rater in self.legend if any(outline.rater == rater for outline in self.outlines)]
        below = [min(number, MOST_RINGS) for number in reversed(range(len(raters)))]
        return {rater: LINE + WIDER * count for rater, count in zip(raters, below, strict=True)}

    def _outline(
        self, pen: ImageDraw.ImageDraw, outline: Outline, width: float, halo: tuple[int, int, int] | None
    ) -> None:
        """Draw an outline in its rater's colour, or the halo around it."""
        colour = rater_colour(outline.rater) if halo is None else halo
        wider = 0 if halo is None else 2
        for ring in outline.rings:
            path = [tuple(point) for point in self.placed(np.concatenate([ring, ring[:2]])).tolist()]
            pen.line(path, fill=colour, width=round(width) + wider, joint="curve")
        for x, y in self.placed(outline.points).tolist():
            radius = POINT + (width - LINE + wider) / 2
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill=colour)

    def _with_legend(self, image: Image.Image) -> Image.Image:
        from PIL import Image, ImageDraw

        font = _legend_font()
        texts = [plain(text) for text in self.legend.values()]
        needed = max(int(font.getlength(text)) for text in texts) + LEGEND_ROW + 8
        whole = Image.new("RGB", (max(image.width, needed), image.height + LEGEND_ROW * len(texts) + 4), HALO)
        whole.paste(image)
        pen = ImageDraw.Draw(whole)
        for row, (rater, text) in enumerate(zip(self.legend, texts, strict=True)):
            y = image.height + 2 + LEGEND_ROW * row
            pen.rectangle((4, y + 4, 4 + LEGEND_ROW - 8, y + LEGEND_ROW - 4), fill=rater_colour(rater))
            pen.text((LEGEND_ROW + 4, y + LEGEND_ROW / 2), text, fill=(20, 20, 20), font=font, anchor="lm")
        return whole

    def _trace(self, rater: int, text: str, width: float) -> go.Scatter:
        """Return the outlines of one rater: closed lines separated by None, and points."""
        import plotly.graph_objects as go

        name = shown(text)
        x: list[float | None] = []
        y: list[float | None] = []
        hover: list[str] = []
        own = [outline for outline in self.outlines if outline.rater == rater]
        for outline in own:
            label = f"<b>{shown(outline.category)}</b>, {name}"
            closed = [np.concatenate([ring, ring[:1]]) for ring in outline.rings]
            for part in [*closed, *outline.points[:, None]]:
                x += [*part[:, 0].tolist(), None]
                y += [*part[:, 1].tolist(), None]
                hover += [label] * (len(part) + 1)
        kinds = ("lines", any(outline.rings for outline in own)), ("markers", any(len(one.points) for one in own))
        return go.Scatter(
            x=x or [None],
            y=y or [None],
            line={"color": rater_colour(rater), "width": width},
            marker={"color": rater_colour(rater), "size": 2 * POINT},
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            name=name,
            mode="+".join(kind for kind, there in kinds if there) or "lines",
        )


def data_uri(image: Image.Image, kind: str = "PNG", **options: int) -> str:
    """Return an image as a data URI; `options` are passed to Pillow."""
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _legend_font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return a font with letters beyond ASCII; Pillow's own draws "é" and "×" as boxes."""
    from PIL import ImageFont

    found = importlib.util.find_spec("matplotlib")  # find its folder without importing it
    for folder in (found and found.submodule_search_locations) or ():
        path = Path(folder, "mpl-data", "fonts", "ttf", "DejaVuSans.ttf")
        if path.is_file():
            return ImageFont.truetype(path, LEGEND_FONT)
    return ImageFont.load_default(LEGEND_FONT)
