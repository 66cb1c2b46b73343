"""Units in dispute as shown for decisions: the outlines, values and findings of each rater."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.drawing import Drawing
from kalos_core.drawing.outlines import FLAT, outlines_of
from kalos_core.fiftyone.deciding.kinds import deciding_of, load_decidable
from kalos_core.fiftyone.deciding.queue import DisputedUnit, disputes_of, queued_images
from kalos_core.fiftyone.kinds.agreement.sample import draw_unit
from kalos_core.variation.reports import ImageReport

MANY_POINTS = 120
"""Maximum number of points of a ring; larger rings are simplified, with a deviation below half a pixel."""

CANVAS = 1000.0
"""Width and height assumed for an image of unknown size, whose labels are fractions."""


@dataclass(frozen=True)
class ShownOutline:
    """Annotation of one rater: rings, and points of poses, in pixels of the image."""

    label: str
    rater: str
    rings: tuple[Any, ...]
    points: Any


@dataclass(frozen=True)
class SampleDisputes:
    """A sample with its units in dispute.

    Parameters
    ----------
    kind : str
        Kind of the run.
    size : (float, float)
        Width and height of the coordinate system of the outlines.
    report : ImageReport
        All units x raters, with the alpha of the image. For regions of masks it has the mean F1 instead; for
        image-level labels, the probability that two raters agree.
    disputes : tuple of DisputedUnit
    outlines : dict
        Id of a label -> its outlines; for a region in dispute, the outlines of each rater around it.
    """

    kind: str
    sample_id: str
    path: str
    size: tuple[float, float]
    report: ImageReport
    disputes: tuple[DisputedUnit, ...]
    outlines: Mapping[str, Sequence[ShownOutline]]

    @property
    def file(self) -> str:
        """File name, without folders."""
        return Path(self.path).name


def shown_sample(samples: Any, key: str, sample_id: str, variations_key: str | None = None) -> SampleDisputes:
    """Return a sample with its units in dispute and their outlines; its labels are read once.

    Raises
    ------
    NotInRun
        If the sample is not part of the run.
    """
    run = load_decidable(samples, key)
    seen = deciding_of(samples, run).seen(sample_id, variations_key)
    disputes = disputes_of(samples, run, sample_id, seen.matched)
    size, scale = _canvas(seen.size)
    outlines: dict[str, list[ShownOutline]] = {}
    for table, labels in seen.marks:
        for one in _outlines(table, labels, scale):
            outlines.setdefault(one.label, []).append(one)
    return SampleDisputes(run.kind, sample_id, seen.path, size, seen.report, tuple(disputes), outlines)


def shown_ahead(
    samples: Any,
    key: str,
    count: int,
    category: str | None = None,
    rater: str | None = None,
    *,
    after: str | None = None,
    variations_key: str | None = None,
) -> list[SampleDisputes]:
    """Return the next samples of the queue, until they have a given number of matching open units.

    Parameters
    ----------
    samples, key, category, rater, after
        As in `queued_images`.
    count : int
        Minimum number of units; fewer if the queue ends.
    variations_key : str, optional
        Key of a run that names the variation of each annotation.
    """
    found: list[SampleDisputes] = []
    for image in queued_images(samples, key, count, category, rater, after=after):
        found.append(shown_sample(samples, key, image.sample_id, variations_key))
        count -= image.open
        if count <= 0:
            break
    return found


def _canvas(size: Any) -> tuple[tuple[float, float], float]:
    """Return the width and height to draw in, and the scale from label coordinates to these pixels."""
    known = np.isfinite(size).all()
    return (float(size[0]), float(size[1])) if known else (CANVAS, CANVAS), 1.0 if known else CANVAS


def _outlines(table: Annotations, labels: Sequence[str], scale: float) -> Iterator[ShownOutline]:
    """Yield the outlines of annotations of one image; volumes have none."""
    if not set(FLAT) & set(table.shapes):
        return
    for outline in outlines_of(table, np.arange(len(table))):
        rings = tuple((_fewer(ring) * scale).round(1).tolist() for ring in outline.rings)
        rater = str(table.raters[outline.rater])
        yield ShownOutline(str(labels[outline.row]), rater, rings, (outline.points * scale).round(1).tolist())


def _fewer(ring: NDArray[np.float64]) -> NDArray[np.float64]:
    if len(ring) <= MANY_POINTS:
        return ring
    return shapely.get_coordinates(shapely.simplify(shapely.LinearRing(ring), 0.5))[:-1]


def draw_together(samples: Any, key: str, label_id: str, sample_id: str | None = None, **options: Any) -> Drawing:
    """Draw the unit of a label with the whole and parts that it belongs to, all counted in the legend.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an agreement run.
    label_id : str
    sample_id : str, optional
        Id of its sample; searched for if not given.
    **options
        As in `draw_unit`.

    Raises
    ------
    InputError
        If the run did not match the label; `NotInRun` if the sample is not part of the run.
    """
    run = load_decidable(samples, key)
    deciding = deciding_of(samples, run)
    found = sample_id or deciding.sample_of([label_id]) or ""
    matched = deciding.of_sample(found)
    together = matched.labels(matched.together(matched.units_of([label_id])))
    return draw_unit(samples, run.key, together or label_id, found, **options)
