"""Score maps of detectors and further references, read from FiftyOne."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import InputError, check_name, listed
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.masks import RaterMasks, field_pixels
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.dataset.samples import every_sample
from kalos_core.pixels.stack import as_binary


def heatmap_fields(samples: Any) -> list[str]:
    """Return the `Heatmap` fields, which may hold the score maps of a detector."""
    return list(samples.get_field_schema(ftype=fo.EmbeddedDocumentField, embedded_doc_type=fo.Heatmap))


def are_score_maps(samples: Any, detectors: Sequence[str]) -> bool:
    """Return whether detectors are fields of score maps, not of detections.

    Raises
    ------
    InputError
        If there is no detector, a duplicate, a field of neither kind, or a mix of both kinds.
    """
    if not detectors or len({check_name(name, "detectors") for name in detectors}) < len(detectors):
        raise InputError(f"detectors: expected fields, each once, got {listed(map(repr, detectors), 20) or 'none'}")
    maps, labels = heatmap_fields(samples), label_fields(samples)
    strange = [field for field in detectors if field not in maps and field not in labels]
    if strange:
        raise InputError(
            f"detectors: expected fields of Heatmap score maps ({listed(maps, 20) or 'there are none'}) or of labels "
            f"with confidence ({listed(labels, 20) or 'there are none'}), got {listed(map(repr, strange), 20)}"
        )
    kinds = {field in maps for field in detectors}
    if len(kinds) > 1:
        raise InputError("detectors: expected score maps or detections, got both: rank them one after the other")
    return kinds.pop()


def read_scores(masks: RaterMasks, image: int, detectors: Sequence[str]) -> dict[str, NDArray[np.float64]]:
    """Read the score maps of one image, each rescaled from its own range to [0, 1].

    Raises
    ------
    InputError
        If a detector has no map of the image, or if a file cannot be read.
    """
    stored = _stored(masks, image, detectors, ("map", "map_path", "range"))
    scores = {}
    for field in detectors:
        values = field_pixels(stored[f"{field}.map"], stored[f"{field}.map_path"])
        if values is None:
            raise InputError(f"{masks.name(image)}: expected a score map of {field!r}, got none")
        scores[field] = _stretched(values, stored[f"{field}.range"])
    return scores


def _stretched(values: NDArray[Any], limits: Sequence[float] | None) -> NDArray[np.float64]:
    """Rescale scores to [0, 1], by `limits`, or else by the range of an integer type; floats are then unchanged."""
    if limits is None:
        low, high = 0.0, float(np.iinfo(values.dtype).max) if np.issubdtype(values.dtype, np.integer) else 1.0
    else:
        low, high = limits
    return np.asarray((values.astype(np.float64) - low) / (high - low))


def read_references(masks: RaterMasks, image: int, fields: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Read the existing masks of further references on one image; there is one class."""
    if not fields:
        return {}
    (value,) = masks.values.values()
    stored = _stored(masks, image, fields, ("mask", "mask_path"))
    pixels = {field: field_pixels(stored[f"{field}.mask"], stored[f"{field}.mask_path"]) for field in fields}
    return {
        field: as_binary(mask, field) if masks.is_binary else mask == value
        for field, mask in pixels.items()
        if mask is not None
    }


def _stored(masks: RaterMasks, image: int, fields: Sequence[str], names: Sequence[str]) -> Mapping[str, Any]:
    """Return path -> stored value for some fields of one image."""
    paths = [f"{field}.{name}" for field in fields for name in names]
    columns = next(stream(every_sample(masks.view).select(masks.images[image]), paths), {})
    return {path: columns[path][0] if columns else None for path in paths}
