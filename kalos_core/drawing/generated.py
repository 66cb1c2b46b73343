"""Preview of one image as SVG, with the reference dashed and a synthetic rater solid."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from kalos_core.annotations import Annotations
from kalos_core.display import EVENT_LABELS
from kalos_core.drawing.drawing import data_uri
from kalos_core.drawing.outlines import outlines_of
from kalos_core.errors import InputError
from kalos_core.files import open_image
from kalos_core.noise import GeneratedRaters
from kalos_core.noise.events import DONE, EVENTS
from kalos_core.text import shown

LONGEST_SIDE = 520
"""Longer side of the preview in pixels."""

RATER = 'stroke="#E69F00" stroke-width="2.6"'
BELOW_RATER = 'stroke="#222" stroke-width="4"'
REFERENCE = 'stroke="#FFF" stroke-width="1.6" stroke-dasharray="5 5"'
BELOW_REFERENCE = 'stroke="#222" stroke-width="2.8" stroke-dasharray="5 5"'
"""Styles of the outlines, each above a dark line for contrast on any image."""

MISSING = (105, 112, 122)
"""Background colour if the image cannot be opened."""

UNCHANGED = "unchanged"


@dataclass(frozen=True)
class NoisePreview:
    """Image with the annotations of the reference and of a rater generated from it.

    Parameters
    ----------
    image : str
        SVG as a data URI.
    width, height : int
        Size in pixels.
    file : str
        Name of the image file.
    message : str
        Summary of the rater's changes to the image.
    """

    image: str
    width: int
    height: int
    file: str
    message: str


def preview_generated(result: GeneratedRaters, image: int, path: str | PathLike[str]) -> NoisePreview:
    """Draw the annotations of a generated rater on an image.

    Parameters
    ----------
    result : GeneratedRaters
        From `NoiseModel.generate`.
    image : int
        Code of the image.
    path : str or path
        Image file; if it cannot be opened, the outlines are drawn on a canvas.

    Examples
    --------
    >>> from kalos_core import NoiseModel
    >>> row = {"image": 1, "rater": "ann", "category": "cat", "box": [10, 20, 30, 40]}
    >>> reference = Annotations.from_rows([row], image_size={1: (100, 80)})
    >>> shown = preview_generated(NoiseModel.default().generate(reference, 1, 0), 0, "a.jpg")
    >>> shown.width, shown.height, shown.file, shown.message, shown.image[:26]
    (520, 416, 'a.jpg', 'unchanged', 'data:image/svg+xml;base64,')
    """
    original, made = result.original, result.annotations
    size = original.image_size[image]
    scale = LONGEST_SIDE / size.max()
    width, height = (max(round(side), 1) for side in (size * scale).tolist())
    lines = [  # dashes on top, so that both are visible where they nearly agree
        *_outlines(made, image, scale, BELOW_RATER, RATER),
        *_outlines(original, image, scale, BELOW_REFERENCE, REFERENCE),
    ]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<image href="{_background(path, width, height)}" width="{width}" height="{height}"/>{"".join(lines)}</svg>'
    )
    uri = f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}"
    done = result.events.tally(result.events.image, len(original.images))[image, :, DONE].tolist()
    counted = [f"{count:,} {EVENT_LABELS[name]}" for name, count in zip(EVENTS, done, strict=True) if count]
    return NoisePreview(uri, width, height, Path(path).name, ", ".join(counted) or UNCHANGED)


def _outlines(annotations: Annotations, image: int, scale: float, below: str, stroke: str) -> Iterator[str]:
    """Yield every annotation of an image as a path with its class."""
    for outline in outlines_of(annotations, np.flatnonzero(annotations.image == image)):
        rings = [ring * scale for ring in outline.rings]
        path = " ".join(f"M{' L'.join(f'{x:.1f},{y:.1f}' for x, y in ring)} Z" for ring in rings)
        name = shown(outline.category)
        yield f'<g fill="none"><title>{name}</title><path d="{path}" {below}/><path d="{path}" {stroke}/></g>'


def _background(path: str | PathLike[str], width: int, height: int) -> str:
    """Return the image in the size of the preview, or a canvas if it cannot be opened."""
    from PIL import Image  # slow to import, and needed here only

    try:
        with open_image(path) as opened:
            small = opened.convert("RGB").resize((width, height))
    except InputError:
        small = Image.new("RGB", (width, height), MISSING)
    return data_uri(small, "JPEG", quality=70)
