"""Agreement about pixels as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.kinds.masked import masks_again, newer_files
from kalos_core.fiftyone.kinds.pixels.details import PixelDetails, PixelMetrics, PixelSettings, stored_agreement
from kalos_core.fiftyone.kinds.pixels.views import view_of_mask_rater
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.pixels import ClassPixelAgreement, PixelAgreement

PixelRun = Run[PixelSettings, PixelMetrics, PixelDetails, PixelAgreement | ClassPixelAgreement]


def _restore(changes: Changes) -> PixelAgreement | ClassPixelAgreement:
    """As it was stored: pixels are not counted again."""
    return stored_agreement(changes.run, changes.arrays)


def _written(run: Run[Any, Any, Any, Any]) -> str:
    return f"{run.names.rater_count!r}, with files of its own, and {run.names.f1!r} on samples"


PIXELS: Kind[PixelSettings, PixelMetrics, PixelDetails, PixelAgreement | ClassPixelAgreement] = register(
    Kind(
        name="pixels",
        title="Agreement about pixels",
        operator="compute_pixel_agreement",
        section="truth",
        read=masks_again,
        restore=_restore,
        written=_written,
        figures="kalos_core.fiftyone.kinds.pixels.figures",
        views={"rater": view_of_mask_rater},
        newer=newer_files,
    )
)
