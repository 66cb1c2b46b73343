"""One image with the reference dashed and a synthetic rater solid, as an SVG that any browser shows."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kalos_core.annotations import Annotations
from kalos_core.display import EVENT_LABELS
from kalos_core.fiftyone.dataset.raters import rater_fields
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.kinds.noise.labels import UNCHANGED
from kalos_core.fiftyone.kinds.noise.sources import Reference, class_source_of, false_positive_source_of, model_of
from kalos_core.noise import GeneratedRaters, NoiseModel
from kalos_core.noise.events import DONE, OUTCOMES
from kalos_core.shapes import Polygons

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.kinds.noise.sources import ReferenceSelection

OTHERS = 24
"""Images that are read besides the one that is shown: additions come from their annotations."""

LONGEST_SIDE = 520
"""Pixels of the preview."""

RATER = 'stroke="#E69F00" stroke-width="2.6"'
BELOW_RATER = 'stroke="#222" stroke-width="4"'
REFERENCE = 'stroke="#FFF" stroke-width="1.6" stroke-dasharray="5 5"'
BELOW_REFERENCE = 'stroke="#222" stroke-width="2.8" stroke-dasharray="5 5"'
"""Lines of the outlines, each above a dark one that sets it off from any image."""

MISSING = (105, 112, 122)
"""Canvas where the image cannot be opened."""


@dataclass(frozen=True)
class NoisePreview:
    """One image with the annotations of the reference and of a rater generated from it.

    Parameters
    ----------
    image : str
        An SVG as a data URI.
    width, height : int
        In pixels.
    file : str
        Name of its file.
    message : str
        What the rater did there.
    """

    image: str
    width: int
    height: int
    file: str
    message: str


def preview_noise(
    samples: Any,
    *,
    reference: str,
    magnitude: float = 1.0,
    seed: int = 0,
    model: NoiseModel | str = "default",
    sample_id: str | None = None,
    **selection: Unpack[ReferenceSelection],
) -> NoisePreview:
    """What a rater of `inject_noise` may look like on one image; nothing is written.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    reference, magnitude, seed, model, **selection
        As in `inject_noise`; one reference, one magnitude. Of the samples only a few are read, so the run itself, which
        has the chances of all of them, gives other annotations.
    sample_id : str, optional
        The image; by default, and where it has no annotations of the reference, the first that has some.

    Raises
    ------
    InputError
        For what `inject_noise` refuses.
    """
    check_samples(samples)
    few = _few(samples, reference, sample_id)
    origin = Reference.of(few, reference, (), selection)
    labels = origin.read(few)
    result = model_of(model, labels)[0].generate(
        labels.annotations,
        raters=1,
        magnitude=magnitude,
        seed=seed,
        reference=list(origin.names),
        class_source=class_source_of("confusion", labels, origin),
        false_positive_source=false_positive_source_of("transplanted", labels, origin),
    )
    images, annotated = result.original.images, np.unique(result.original.image)
    image = int(next((code for code in annotated if images[code] == sample_id), annotated[0]))
    paths = dict(zip(*few.values(["id", "filepath"]), strict=True))
    return _draw(result, image, paths[images[image]])


def _few(samples: Any, reference: str, sample_id: str | None) -> Any:
    """The image that is shown and some others, all with the reference's labels where it has a field."""
    field = rater_fields(samples).get(reference, reference)
    view = samples.exists(field) if field in samples.get_field_schema() else samples
    ids = view.limit(OTHERS + 1).values("id")
    if sample_id is not None:
        ids = [sample_id, *(key for key in ids if key != sample_id)]
    return samples.select(ids) if ids else samples


def _draw(result: GeneratedRaters, image: int, path: str) -> NoisePreview:
    original, made = result.original, result.annotations
    size = original.image_size[image]
    scale = LONGEST_SIDE / size.max()
    width, height = (max(round(side), 1) for side in (size * scale).tolist())
    lines = [  # the dashes above, so that both are seen where they nearly agree
        *_outlines(made, np.flatnonzero(made.image == image), scale, BELOW_RATER, RATER),
        *_outlines(original, np.flatnonzero(original.image == image), scale, BELOW_REFERENCE, REFERENCE),
    ]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f'<image href="{_background(path, width, height)}" width="{width}" height="{height}"/>{"".join(lines)}</svg>'
    )
    encoded = base64.b64encode(svg.encode()).decode("ascii")
    return NoisePreview(f"data:image/svg+xml;base64,{encoded}", width, height, Path(path).name, _message(result, image))


def _outlines(annotations: Annotations, rows: NDArray[np.intp], scale: float, below: str, stroke: str) -> Iterator[str]:
    """Every annotation as a path with its class."""
    polygons = annotations.shapes.get("polygon")
    bounds = annotations.shapes["box"].bounds()
    for row in rows.tolist():
        if isinstance(polygons, Polygons) and len(polygons.rings(row)):
            rings = polygons.rings(row)
        else:
            left, top, right, bottom = bounds[row]
            rings = [np.array([[left, top], [right, top], [right, bottom], [left, bottom]])]
        path = " ".join(f"M{' L'.join(f'{x:.1f},{y:.1f}' for x, y in ring * scale)} Z" for ring in rings)
        name = escape(str(annotations.categories[annotations.category[row]]))
        yield f'<g fill="none"><title>{name}</title><path d="{path}" {below}/><path d="{path}" {stroke}/></g>'


def _background(path: str, width: int, height: int) -> str:
    """The image in the size of the preview, or a canvas where it cannot be opened."""
    try:
        with Image.open(path) as opened:
            small = opened.convert("RGB").resize((width, height))
    except (OSError, ValueError, Image.DecompressionBombError):
        small = Image.new("RGB", (width, height), MISSING)
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=70)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _message(result: GeneratedRaters, image: int) -> str:
    """The events on the image, in words."""
    events = result.events
    here = (events.image == image) & (events.outcome == OUTCOMES[DONE])
    names, counts = np.unique(events.event[here], return_counts=True)
    counted = [f"{count:,} {EVENT_LABELS[name]}" for name, count in zip(names.tolist(), counts.tolist(), strict=True)]
    return ", ".join(counted) if counted else UNCHANGED
