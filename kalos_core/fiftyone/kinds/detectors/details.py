"""What a run that ranks detectors stores: settings, metrics and details."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from kalos_core.fiftyone.runs.records import plain
from kalos_core.ranking import BoundaryEvaluation, DetectorRanking, ModelRanking, Rankings

Numbers = list[float | None]
"""None where undefined."""


class ScoreMapSettings(TypedDict):
    """How score maps were ranked.

    `truths`: further references; `shares`: thresholds of agreement that are references; `boundaries`: thresholds of the
    Berkeley evaluation; `raters_are_local`: whether raters have no names over the images; `classes`: name -> value in
    label maps.
    """

    of: Literal["pixels"]
    detectors: list[str]
    methods: list[str]
    truths: list[str]
    skew: list[float] | None
    tolerance: float
    thin: bool
    shares: str | list[float]
    boundaries: int
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

    `values` and `ranks`: (T, S); `undefined`: sentences.
    """

    of: Literal["pixels", "objects"]
    detectors: list[str]
    truths: list[str]
    raters: list[str]
    measure: str
    values: list[Numbers]
    ranks: list[Numbers]
    undefined: list[str]


@dataclass(frozen=True, eq=False)
class DetectorDetails:
    """The ranking, and the Berkeley evaluation of boundaries where it was asked for."""

    ranking: DetectorRanking | ModelRanking
    boundaries: BoundaryEvaluation | None = None


def ranking_metrics(settings: DetectorSettings, ranking: Rankings, raters: list[str]) -> DetectorMetrics:
    """The summary of a ranking as plain values."""
    return {
        "of": settings["of"],
        "detectors": ranking.systems.tolist(),
        "truths": ranking.truths.tolist(),
        "raters": raters,
        "measure": ranking.measure,
        "values": plain(ranking.values),
        "ranks": plain(ranking.ranks),
        "undefined": list(ranking.undefined),
    }
