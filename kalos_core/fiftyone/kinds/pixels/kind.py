"""Agreement about pixels as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.kinds.masked import newer_files, read_masks_or_objects
from kalos_core.fiftyone.kinds.pixels.details import PixelMetrics, PixelSettings
from kalos_core.fiftyone.kinds.pixels.views import view_of_mask_rater
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.pixels import ClassPixelAgreement, PixelAgreement

Result = PixelAgreement | ClassPixelAgreement
PixelRun = Run[PixelSettings, PixelMetrics, Result, Result]


def _written(run: Run[Any, Any, Any, Any]) -> str:
    return f"{run.names.rater_count!r}, with files of its own, and {run.names.f1!r} on samples"


PIXELS: Kind[PixelSettings, PixelMetrics, Result, Result] = register(
    Kind(
        name="pixels",
        title="Agreement about pixels",
        operator="compute_pixel_agreement",
        section="truth",
        read=read_masks_or_objects,
        restore=None,
        written=_written,
        figures="kalos_core.fiftyone.kinds.pixels.figures",
        views={"rater": view_of_mask_rater},
        details=Result,  # type: ignore[arg-type]
        newer=newer_files,
    )
)
