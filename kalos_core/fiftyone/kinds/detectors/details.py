"""What a run that ranks detectors stores: settings, metrics, details and arrays, and the result made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.fiftyone.runs.arrays import as_texts, text_array
from kalos_core.fiftyone.runs.records import plain
from kalos_core.fiftyone.runs.table import Arrays, Run
from kalos_core.pixels import Correlation
from kalos_core.ranking import DetectorRanking, ModelRanking, Rankings

POINTS = 100
"""Of a stored curve."""

Numbers = list[float | None]
"""None where undefined."""


class ScoreMapSettings(TypedDict):
    """How score maps were ranked.

    `truths`: further references; `shares`: thresholds of agreement that are references; `raters_are_local`: whether
    raters have no names over the images; `classes`: name -> value in label maps.
    """

    of: Literal["pixels"]
    detectors: list[str]
    methods: list[str]
    truths: list[str]
    skew: list[float] | None
    tolerance: float
    thin: bool
    shares: str | list[float]
    ignore_value: int | None
    raters_are_local: bool
    classes: dict[str, int]


class ModelSettings(TypedDict):
    """How models were ranked, and how raters were matched for the consensus."""

    of: Literal["objects"]
    detectors: list[str]
    truths: list[str]
    similarity: str
    thresholds: list[float]
    threshold: float
    solver: str
    cost: str
    ties: str
    region: str
    quorum: list[float]


DetectorSettings = ScoreMapSettings | ModelSettings


class DetectorMetrics(TypedDict):
    """The summary of a ranking. S detectors, T references, of which R are `raters`.

    `values` and `ranks`: (T, S); `times_best`: (S,); `undefined`: sentences.
    """

    of: Literal["pixels", "objects"]
    detectors: list[str]
    truths: list[str]
    raters: list[str]
    measure: str
    values: list[Numbers]
    ranks: list[Numbers]
    times_best: list[int]
    best_changes: bool | None
    undefined: list[str]


class DetectorDetails(TypedDict, total=False):
    """All other numbers. P points of a curve, L thresholds.

    `tau`: (T, T). Of score maps ``bounds`` (S, 2), ``raters_outside`` and ``raters_compared`` (S,), ``recall`` (P,),
    ``precision`` (T, S, P), ``skew`` (2,), ``images`` (T,), ``cco`` and ``cci`` (records of correlations),
    ``least_share`` (T,) of the thresholds of agreement, ``outliers`` whom ``"excl-0.5"`` leaves out (None: not used)
    and ``notes`` on the bounds. Of models ``unknown_classes`` (S,) and ``thresholds`` (L,).
    """

    tau: list[Numbers]
    bounds: list[Numbers]
    raters_outside: list[int]
    raters_compared: list[int]
    recall: list[float]
    precision: list[list[Numbers]]
    skew: list[float]
    images: list[int]
    cco: list[dict[str, Any]]
    cci: list[dict[str, Any]]
    least_share: Numbers
    outliers: list[str] | None
    notes: list[str]
    unknown_classes: list[int]
    thresholds: list[float]


def ranking_metrics(result: DetectorRanking | ModelRanking, raters: Sequence[str]) -> DetectorMetrics:
    """The summary of a ranking as plain values."""
    ranking = result.ranking
    return {
        "of": "pixels" if isinstance(result, DetectorRanking) else "objects",
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


def stored_ranking(metrics: DetectorMetrics) -> Rankings:
    """The ranking of a summary."""
    values = np.array(metrics["values"], dtype=np.float64)  # None becomes NaN
    references, detectors = object_array(metrics["truths"]), object_array(metrics["detectors"])
    return Rankings(metrics["measure"], references, detectors, values, undefined=tuple(metrics["undefined"]))


def ranking_details(result: DetectorRanking | ModelRanking, outliers: Sequence[str] | None = None) -> DetectorDetails:
    """All other numbers as plain values. `outliers`: the raters whom ``"excl-0.5"`` leaves out."""
    if isinstance(result, ModelRanking):
        return {
            "tau": plain(result.ranking.tau),
            "unknown_classes": result.unknown_classes.tolist(),
            "thresholds": result.thresholds.tolist(),
        }
    recall, precision = result.sampled(POINTS)
    return {
        "tau": plain(result.ranking.tau),
        "bounds": plain(result.bounds),
        "raters_outside": result.raters_outside.tolist(),
        "raters_compared": result.raters_compared.tolist(),
        "recall": recall.round(4).tolist(),
        "precision": plain(precision.round(4)),
        "skew": result.skew.tolist(),
        "images": result.images.tolist(),
        "cco": [plain(each) for each in result.cco],
        "cci": [plain(each) for each in result.cci],
        "least_share": plain(result.least_share),
        "outliers": None if outliers is None else list(outliers),
        "notes": list(result.notes),
    }


def ranking_arrays(result: DetectorRanking | ModelRanking) -> dict[str, NDArray[Any]]:
    """What `stored_result` reads back."""
    if isinstance(result, ModelRanking):
        return {"by_threshold": result.by_threshold, "means": result.means}
    return {
        "tpr": result.tpr,
        "fpr": result.fpr,
        "levels": result.thresholds,
        "bounding": text_array(result.bounding),
    }


def stored_result(
    run: Run[DetectorSettings, DetectorMetrics, DetectorDetails, Any], arrays: Arrays
) -> DetectorRanking | ModelRanking:
    """The result of a stored run."""
    settings, metrics, details = run.settings, run.metrics, run.details
    references, detectors = object_array(metrics["truths"]), object_array(metrics["detectors"])
    if settings["of"] == "objects":
        return ModelRanking(
            similarity_name=settings["similarity"],
            thresholds=np.array(details["thresholds"]),
            truths=references,
            models=detectors,
            by_threshold=arrays["by_threshold"],
            unknown_classes=np.array(details["unknown_classes"], dtype=np.intp),
            means=arrays["means"],
        )
    return DetectorRanking(
        truths=references,
        detectors=detectors,
        raters=object_array(metrics["raters"]),
        bounding=object_array(as_texts(arrays["bounding"])),
        thresholds=arrays["levels"],
        tpr=arrays["tpr"],
        fpr=arrays["fpr"],
        skew=np.array(details["skew"]),
        images=np.array(details["images"], dtype=np.intp),
        cco=tuple(Correlation(**record) for record in details["cco"]),
        cci=tuple(Correlation(**record) for record in details["cci"]),
        least_share=np.array(details["least_share"], dtype=np.float64),
        raters_are_local=settings["raters_are_local"],
    )
