"""Estimated truth on FiftyOne: of pixels and of objects, and detectors under each truth."""

from kalos_core.fiftyone.truths.detectors import detector_diagnostics, model_diagnostics, ranking_figures
from kalos_core.fiftyone.truths.objects import (
    ObjectTruths,
    declared_fields,
    object_documents,
    object_rows,
    quorum_names,
)
from kalos_core.fiftyone.truths.table import PixelTruths, TruthCounter

__all__ = [
    "ObjectTruths",
    "PixelTruths",
    "TruthCounter",
    "declared_fields",
    "detector_diagnostics",
    "model_diagnostics",
    "object_documents",
    "object_rows",
    "quorum_names",
    "ranking_figures",
]
