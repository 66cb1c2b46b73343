"""Detectors under each reference as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.masked import MaskSettings, newer_files, read_masks_or_objects
from kalos_core.fiftyone.kinds.truth.details import ConsensusSettings
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.ranking import BoundaryEvaluation, DetectorRanking, ModelRanking, Rankings
from kalos_core.results import plain_values

Numbers = list[float | None]
"""None where undefined."""


class ScoreMapSettings(MaskSettings):
    """How score maps were ranked.

    `truths`: further references; `shares`: thresholds of agreement that are references; `boundaries`: thresholds of the
    Berkeley evaluation.
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
    bootstrap: int
    seed: int


class ModelSettings(ConsensusSettings):
    """How models were ranked, and how raters were matched for the consensus."""

    detectors: list[str]
    truths: list[str]
    thresholds: list[float]


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
        "values": plain_values(ranking.values),
        "ranks": plain_values(ranking.ranks),
        "undefined": list(ranking.undefined),
    }


Result = DetectorRanking | ModelRanking
DetectorRun = Run[DetectorSettings, DetectorMetrics, DetectorDetails, Result]


def _restore(changes: Changes) -> Result:
    """As it was stored: what detectors scored under the references of then."""
    details: DetectorDetails = changes.run.details
    return details.ranking


DETECTORS: Kind[DetectorSettings, DetectorMetrics, DetectorDetails, Result] = register(
    Kind(
        name="detectors",
        title="Ranking of detectors",
        operator="rank_detectors",
        section="Ranking",
        family=MASKS,
        read=read_masks_or_objects,
        restore=_restore,
        written=lambda run: (
            f"{run.names.f1!r} on samples" if run.settings.get("boundaries") else "nothing on samples or labels"
        ),
        details=DetectorDetails,
        newer=newer_files,
    )
)
