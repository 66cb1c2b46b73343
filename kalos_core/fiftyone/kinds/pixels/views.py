"""Views behind the numbers of masks: images of a rater, and images with the lowest agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from fiftyone import ViewField as F

from kalos_core.errors import lookup
from kalos_core.fiftyone.dataset.expressions import list_of, text, with_files
from kalos_core.fiftyone.dataset.opened import rule_of
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, mask_sources, sources_of
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.runs.stored import load_details, load_metrics

MOST = 2.0
"""A value above every F1, so that images with an undefined F1 come last."""


@dataclass(frozen=True)
class PixelImage:
    """An image of a run on pixels, with its sample id, file name, mean F1 of its raters and Smyth's bound."""

    sample_id: str
    file: str
    f1: float
    bound: float


def pixel_images(samples: Any, run_key: str, limit: int | None = None) -> list[PixelImage]:
    """Return the images of a run with a defined F1 (averaged over classes), lowest first."""
    run = load_details(samples, run_key, "pixels")
    found = run.details
    ids, f1, bound = found.images.tolist(), found.image_f1, found.image_bound
    order = np.argsort(f1, kind="stable")[: int(np.isfinite(f1).sum())].tolist()
    there = with_files(run.view, order, ids.__getitem__, limit)
    return [PixelImage(ids[row], file, float(f1[row]), float(bound[row])) for row, file in there]


def view_of_mask_rater(samples: Any, run_key: str, rater: str) -> Any:
    """Return the samples of a run to which a rater is assigned, lowest F1 first."""
    run = load_metrics(samples, run_key, "pixels")
    lookup(dict.fromkeys(run.metrics["raters"]), rater, "rater")
    return _assigned_to(run.view, run.selection, rater).sort_by(F(run.names.f1).if_null(MOST))


def _assigned_to(view: Any, selection: Selection, rater: str) -> Any:
    """Return the samples to which a rater is assigned, by the rules of `Opened`."""
    sources = mask_sources(view, selection) or sources_of(view, selection)
    rule = rule_of(view, selection, sources)
    if rule == "all":
        return view
    own = next((source for source in sources if source.rater == rater), None)
    if rule == "listed" and not (own and own.is_synthetic):
        return view.match(list_of(ASSIGNED_FIELD).contains([text(rater)]))
    if own:
        return view.exists(own.field)
    (source,) = sources
    theirs = F(source.attribute).to_string() == text(rater)
    return view.match(list_of(source.path).filter(theirs).length() > 0)
