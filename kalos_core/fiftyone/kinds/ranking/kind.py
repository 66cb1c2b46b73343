"""Ranking of classifiers as a kind of run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.kinds.labelled import read_compared, stored_table, table_again, view_of_difference
from kalos_core.fiftyone.kinds.ranking.settings import RankingRunSettings
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register
from kalos_core.nominal import LabelTable
from kalos_core.nominal.answers import split_reference
from kalos_core.ranking import (
    ConceptTruths,
    Concordance,
    Rankings,
    SystemRanking,
    SystemScores,
    concordance,
    rank_systems,
)
from kalos_core.ranking.systems import RankingSettings
from kalos_core.results import plain_values

PERMUTATIONS = 1000
"""Number of random orders with which concordance is compared."""


@dataclass(frozen=True, eq=False)
class RankingDetails:
    """Details of a ranking, by measure, with areas and equal error rates (T truths, S systems, K concepts)."""

    rankings: dict[str, Rankings]
    concordance: dict[str, Concordance]
    auc: NDArray[np.float64]
    eer: NDArray[np.float64]


def rank(table: LabelTable, scores: SystemScores, settings: RankingRunSettings) -> SystemRanking:
    """Rank classifiers under each rater, each team and the majority, with the settings of a run."""
    truths = ConceptTruths.from_labels(table, teams=settings.teams)
    return rank_systems(scores, truths, **settings.part(RankingSettings).record())


def ranking_metrics(result: SystemRanking, unknown: int) -> dict[str, Any]:
    """Return the summary of a ranking; ``left_out`` lists concepts that a reference finds in no or in all images."""
    return {
        "truths": result.truths.tolist(),
        "systems": result.systems.tolist(),
        "images": len(result.images),
        "concepts": len(result.concepts),
        "skipped_images": result.skipped_images,
        "unknown_concepts": unknown,
        "best_changes": {name: plain_values(ranking.best_changes) for name, ranking in result.rankings.items()},
        "left_out": [
            {"truth": truth, "concepts": result.concepts[gone].tolist()}
            for truth, gone in zip(result.truths.tolist(), result.left_out, strict=True)
            if gone.any()
        ],
    }


def ranking_details(result: SystemRanking, seed: int) -> RankingDetails:
    """Return the rankings and their concordance."""
    rankings = result.rankings
    near = {name: concordance(ranking, PERMUTATIONS, seed) for name, ranking in rankings.items()}
    return RankingDetails(rankings, near, result.auc, result.eer)


RankingRun = Run[dict[str, Any], dict[str, Any], RankingDetails, SystemRanking]


def _restore(changes: Changes) -> SystemRanking:
    """Rank again under the current labels, with the scores that the run stored."""
    settings = RankingRunSettings.of(changes.run.settings)
    read, systems = stored_table(changes.arrays), object_array(list(settings.systems))
    scores = SystemScores(systems, read.items, read.concepts, changes.arrays["scores"])
    table, _ = split_reference(table_again(changes), changes.run.selection.reference)
    return rank(table, scores, settings)


RANKING: Kind[dict[str, Any], dict[str, Any], RankingDetails, SystemRanking] = register(
    Kind(
        name="ranking",
        title="Ranking of classifiers",
        operator="rank_systems",
        section="Ranking",
        family=IMAGE_LABELS,
        read=read_compared,
        restore=_restore,
        views={"difference": view_of_difference},
        details=RankingDetails,
    )
)
