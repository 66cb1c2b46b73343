"""Rankings of classifiers as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.annotations import object_array
from kalos_core.fiftyone.kinds.labelled import read_compared, stored_table, table_again, view_of_difference
from kalos_core.fiftyone.kinds.ranking.details import (
    RankingDetails,
    RankingMetrics,
    RankingSettings,
    rank,
)
from kalos_core.fiftyone.runs.changes import Changes
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.nominal.answers import split_reference
from kalos_core.ranking import SystemRanking, SystemScores

RankingRun = Run[RankingSettings, RankingMetrics, RankingDetails, SystemRanking]


def _restore(changes: Changes) -> SystemRanking:
    """The scores are those that the run read."""
    settings = changes.run.settings
    read, systems = stored_table(changes.arrays), object_array([entry["system"] for entry in settings["systems"]])
    scores = SystemScores(systems, read.items, read.concepts, changes.arrays["scores"])
    table, _ = split_reference(table_again(changes), changes.run.selection.reference)
    return rank(table, scores, settings)


def _written(run: Run[Any, Any, Any, Any]) -> str:
    return f"{run.names.majority!r} and {run.names.tied!r} on samples"


RANKING: Kind[RankingSettings, RankingMetrics, RankingDetails, SystemRanking] = register(
    Kind(
        name="ranking",
        title="Ranking of classifiers",
        operator="rank_systems",
        section="labels",
        read=read_compared,
        restore=_restore,
        written=_written,
        figures="kalos_core.fiftyone.kinds.ranking.figures",
        views={"difference": view_of_difference},
        details=RankingDetails,
    )
)
