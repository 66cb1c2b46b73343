"""Figures of a calibration: observed and expected distances of each similarity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kalos_core.display import number_of
from kalos_core.fiftyone.kinds.calibration.kind import CalibrationRun
from kalos_core.fiftyone.runs.table import Maker, Part
from kalos_core.report import Block, objects

COMPARED = {
    "relative": "Annotations of two images are compared relative to the size of each image.",
    "pixels": "Annotations of two images are compared in pixels.",
    "own": "How annotations of two images are compared is part of this similarity.",
}
"""Coordinates -> how annotations of two images are compared for the expected distances."""


def figures(run: CalibrationRun) -> dict[str, Maker]:
    """Return name of a similarity -> figure, best separation first; the note says how annotations were compared."""
    return {found.name: partial(Part.of, found, note=COMPARED[found.coordinates]) for found in run.details}


def over_what(run: CalibrationRun) -> str:
    """Describe the data of a calibration, and its random draws."""
    metrics, settings = run.metrics, run.settings
    return (
        f"Over {number_of(metrics['images'], 'image')}, {number_of(metrics['annotations'], 'annotation')}, "
        f"{number_of(len(metrics['raters']), 'rater')}; {number_of(settings['repeats'], 'draw of chance')}, "
        f"seed {settings['seed']}."
    )


def drawn(run: CalibrationRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report."""
    return map(objects.separated, run.details)
