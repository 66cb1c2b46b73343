"""Detectors and models under each truth: their scores as FiftyOne stores them, and what a run keeps of a ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import object_array
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.labels import every_sample
from kalos_core.fiftyone.labels.pixels import stored_mask
from kalos_core.fiftyone.masks import RaterMasks
from kalos_core.fiftyone.raters import label_fields
from kalos_core.pixels import Correlation
from kalos_core.ranking import DetectorRanking, ModelRanking, Rankings
from kalos_core.readers.mask_folders import read_mask

POINTS = 100
"""Of a stored curve."""


def heatmap_fields(samples: Any) -> list[str]:
    """Fields of `Heatmap`, which may hold the score maps of a detector."""
    return list(samples.get_field_schema(ftype=fo.EmbeddedDocumentField, embedded_doc_type=fo.Heatmap))


def are_score_maps(samples: Any, detectors: Sequence[str]) -> bool:
    """Whether detectors are fields of score maps, not of detections.

    Raises
    ------
    InputError
        For no detector, one twice, a field that is neither, and both kinds at once.
    """
    if not detectors or len(set(detectors)) < len(detectors):
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
    """The score maps of one image, from 0 to 1: a map's own range is stretched to it.

    Raises
    ------
    InputError
        For a detector without a map of the image, or a file that cannot be read.
    """
    names = [f"{field}.{name}" for field in detectors for name in ("map", "map_path", "range")]
    one = every_sample(masks.view).select([masks.images[image]])
    columns = [column[0] for column in one.values(names, _raw=True)]
    scores = {}
    for place, field in enumerate(detectors):
        stored, path, limits = columns[3 * place : 3 * place + 3]
        if stored is None and path is None:
            raise InputError(f"{masks.name(image)}: expected a score map of {field!r}, got none")
        values = read_mask(Path(path)) if stored is None else np.asarray(stored_mask(stored, None)[0])
        scores[field] = _stretched(values, limits)
    return scores


def _stretched(values: NDArray[Any], limits: Sequence[float] | None) -> NDArray[np.float64]:
    """Scores from 0 to 1: floats are as they are unless a range is given, whole numbers go up to their type's most."""
    if limits is None:
        low, high = 0.0, float(np.iinfo(values.dtype).max) if np.issubdtype(values.dtype, np.integer) else 1.0
    else:
        low, high = limits
    return np.asarray((values.astype(np.float64) - low) / (high - low))


def read_truth(view: Any, sample: str, field: str) -> NDArray[Any] | None:
    """The mask of a further truth on one image; None where it has none."""
    one = every_sample(view).select([sample])
    stored, path = (column[0] for column in one.values([f"{field}.mask", f"{field}.mask_path"], _raw=True))
    if stored is None:
        return None if path is None else read_mask(Path(path))
    return np.asarray(stored_mask(stored, None)[0])


# ---- what a run stores ----


def ranking_figures(ranking: Rankings, raters: Sequence[str]) -> dict[str, Any]:
    """The summary of a ranking as plain values.

    ``detectors`` (S,), ``truths`` (T,), ``raters`` (R,) the truths that are raters, ``measure``, ``values`` and
    ``ranks`` (T, S), ``times_best`` (S,), ``best_changes``, ``undefined`` (sentences).
    """
    return {
        "detectors": ranking.systems.tolist(),
        "truths": ranking.truths.tolist(),
        "raters": list(raters),
        "measure": ranking.measure,
        "values": plain(ranking.values),
        "ranks": plain(ranking.ranks),
        "times_best": ranking.times_best.tolist(),
        "best_changes": plain(ranking.best_changes),
        "undefined": list(ranking.undefined),
    }


def stored_ranking(figures: Mapping[str, Any]) -> Rankings:
    """The ranking of a summary."""
    values = np.array(figures["values"], dtype=np.float64)  # None becomes NaN
    truths, detectors = object_array(figures["truths"]), object_array(figures["detectors"])
    return Rankings(figures["measure"], truths, detectors, values, undefined=tuple(figures["undefined"]))


def detector_diagnostics(result: DetectorRanking) -> dict[str, Any]:
    """All other figures as plain values.

    ``tau`` (T, T), ``bounds`` (S, 2), ``raters_outside`` (S,), ``recall`` (P,), ``precision`` (T, S, P), ``skew`` (2,),
    ``images`` (T,), ``cco`` and ``cci`` (records of correlations).
    """
    recall, precision = result.sampled(POINTS)
    return {
        "tau": plain(result.ranking.tau),
        "bounds": plain(result.bounds),
        "raters_outside": result.raters_outside.tolist(),
        "recall": recall.round(4).tolist(),
        "precision": plain(precision.round(4)),
        "skew": result.skew.tolist(),
        "images": result.images.tolist(),
        "cco": [asdict(each) for each in result.cco],
        "cci": [asdict(each) for each in result.cci],
    }


def model_diagnostics(result: ModelRanking) -> dict[str, Any]:
    """All other figures as plain values: ``tau`` (T, T), ``unknown_classes`` (S,), ``thresholds`` (L,)."""
    return {
        "tau": plain(result.ranking.tau),
        "unknown_classes": result.unknown_classes.tolist(),
        "thresholds": result.thresholds.tolist(),
    }


def ranking_arrays(result: DetectorRanking | ModelRanking) -> dict[str, NDArray[Any]]:
    """What `stored_result` reads back."""
    if isinstance(result, ModelRanking):
        return {"by_threshold": result.by_threshold}
    return {"tpr": result.tpr, "fpr": result.fpr, "levels": result.thresholds, "bounding": result.bounding.astype(str)}


def stored_result(
    settings: Mapping[str, Any],
    figures: Mapping[str, Any],
    diagnostics: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> DetectorRanking | ModelRanking:
    """The result of a stored run."""
    truths, detectors = object_array(figures["truths"]), object_array(figures["detectors"])
    if settings["of"] == "objects":
        return ModelRanking(
            similarity_name=settings["similarity"],
            thresholds=np.array(diagnostics["thresholds"]),
            truths=truths,
            models=detectors,
            by_threshold=arrays["by_threshold"],
            unknown_classes=np.array(diagnostics["unknown_classes"], dtype=np.intp),
        )
    return DetectorRanking(
        truths=truths,
        detectors=detectors,
        raters=object_array(figures["raters"]),
        bounding=object_array(arrays["bounding"].tolist()),
        thresholds=arrays["levels"],
        tpr=arrays["tpr"],
        fpr=arrays["fpr"],
        skew=np.array(diagnostics["skew"]),
        images=np.array(diagnostics["images"], dtype=np.intp),
        cco=tuple(Correlation(**record) for record in diagnostics["cco"]),
        cci=tuple(Correlation(**record) for record in diagnostics["cci"]),
    )
