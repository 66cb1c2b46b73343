"""Overview of image-level labels and masks for data sets without objects: key findings with links to sections."""

from typing import Any

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.runs.analyses import Analysis

from ..parts.events import Context
from .base import Asked
from .overview import OverviewSection

WITHOUT_OBJECTS = ("image_labels", "pixels")
"""Kinds of runs with sentences."""


class OverviewOfAny(OverviewSection):
    """Overview of objects, or without objects the sentences of `kf.overview_of`."""

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return super().is_shown(ctx, analysis) or bool(analysis and _kinds(analysis))

    def run_kind(self, asked: Asked) -> str:
        return next(iter(_kinds(asked.analysis)), self.KIND)

    def send(self, asked: Asked) -> Any:
        if not _kinds(asked.analysis):
            return super().send(asked)
        said = kf.overview_of(asked.dataset, asked.analysis.key)
        return {"said": [{"text": one.text, "leads_to": one.leads_to} for one in said]}


def _kinds(analysis: Analysis) -> list[str]:
    """Return the kinds of its runs if it has no run of objects."""
    return [] if "agreement" in analysis.runs else [kind for kind in WITHOUT_OBJECTS if kind in analysis.runs]
