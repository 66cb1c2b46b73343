"""What a run of a ranking stores: the rankings, how far they agree, and the scores they come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError, as_number
from kalos_core.fiftyone.runs.records import plain
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.fiftyone.runs.table import Arrays
from kalos_core.nominal import LabelTable, OnRepeat
from kalos_core.nominal.grouping import GroupsRecord
from kalos_core.ranking import ConceptTruths, Rankings, SystemRanking, SystemScores, concordance, rank_systems
from kalos_core.ranking.systems import Missing

PERMUTATIONS = 1000
"""Random orders with which concordance is compared."""

Tree = Mapping[str, str | None]
"""Node -> the node above it."""

Matrix = list[list[float | None]]


class SystemRecord(TypedDict):
    """A classifier, and the field of its scores; None where they were given."""

    system: str
    field: str | None


class NodeRecord(TypedDict):
    """A node of a tree: names may hold what keys of a database may not."""

    node: str
    above: str | None


class RankingSettings(TypedDict):
    """As in `rank_systems`."""

    systems: list[SystemRecord]
    groups: GroupsRecord
    tree: list[NodeRecord] | None
    decision: float
    unlisted: float | None
    missing: Missing
    seed: int
    on_repeat: OnRepeat


class MeasureMetrics(TypedDict):
    """`Rankings` by one measure as plain values. T truths x S systems."""

    measure: str
    less_is_better: bool
    values: Matrix
    ranks: Matrix
    times_best: list[int]
    best_changes: float | None
    undefined: list[str]


class LeftOut(TypedDict):
    """Concepts that a truth finds in no image, or in all of them."""

    truth: str
    concepts: list[str]


class RankingMetrics(TypedDict):
    """The summary of a ranking."""

    truths: list[str]
    systems: list[str]
    images: int
    concepts: int
    skipped_images: int
    unknown_concepts: int
    measures: list[MeasureMetrics]
    left_out: list[LeftOut]


class MeasureDetails(TypedDict):
    """How far the rankings by one measure agree: `Rankings.tau` and `Concordance` as plain values. T x T truths."""

    measure: str
    tau: Matrix
    tau_p: Matrix
    distance: Matrix
    distance_p: Matrix


class RankingDetails(TypedDict):
    """What lies behind a ranking; areas and equal error rates of T truths x S systems x K concepts."""

    measures: list[MeasureDetails]
    auc: list[Matrix]
    eer: list[Matrix]


def rank(table: LabelTable, scores: SystemScores, settings: RankingSettings) -> SystemRanking:
    """The ranking of classifiers under each rater and the majority, with the settings of a run."""
    tree = settings["tree"]
    return rank_systems(
        scores,
        ConceptTruths.from_labels(table),
        None if tree is None else {edge["node"]: edge["above"] for edge in tree},
        decision=settings["decision"],
        missing=settings["missing"],
    )


def score_arrays(scores: SystemScores) -> dict[str, NDArray[Any]]:
    """What `stored_scores` reads back, with the images, the table and the settings of the run."""
    return {"scores": scores.values}


def stored_scores(arrays: Arrays, table: LabelTable, settings: RankingSettings) -> SystemScores:
    """The scores a run stored. `table`: the labels it read."""
    systems = object_array([entry["system"] for entry in settings["systems"]])
    return SystemScores(systems, table.items, table.concepts, arrays["scores"])


def ranking_metrics(result: SystemRanking, unknown: int) -> RankingMetrics:
    """The summary of a ranking."""
    return {
        "truths": result.truths.tolist(),
        "systems": result.systems.tolist(),
        "images": len(result.images),
        "concepts": len(result.concepts),
        "skipped_images": result.skipped_images,
        "unknown_concepts": unknown,
        "measures": [
            {
                "measure": name,
                "less_is_better": ranking.less_is_better,
                "values": plain(ranking.values),
                "ranks": plain(ranking.ranks),
                "times_best": plain(ranking.times_best),
                "best_changes": plain(ranking.best_changes),
                "undefined": list(ranking.undefined),
            }
            for name, ranking in result.rankings.items()
        ],
        "left_out": [
            {"truth": truth, "concepts": result.concepts[gone].tolist()}
            for truth, gone in zip(result.truths.tolist(), result.left_out, strict=True)
            if gone.any()
        ],
    }


def ranking_details(result: SystemRanking, seed: int) -> RankingDetails:
    """How far the rankings agree, by measure: Kendall's tau and concordance."""
    found: list[MeasureDetails] = []
    for name, ranking in result.rankings.items():
        near = concordance(ranking, PERMUTATIONS, seed)
        found.append(
            {
                "measure": name,
                "tau": plain(ranking.tau),
                "tau_p": plain(ranking.tau_p),
                "distance": plain(near.distance),
                "distance_p": plain(near.p),
            }
        )
    return {"measures": found, "auc": plain(result.auc), "eer": plain(result.eer)}


def rankings_of(metrics: RankingMetrics) -> dict[str, Rankings]:
    """The rankings by each measure, from the numbers of a run."""
    names = object_array(metrics["truths"]), object_array(metrics["systems"])
    return {
        row["measure"]: Rankings(
            row["measure"],
            *names,
            np.array(row["values"], np.float64),
            row["less_is_better"],
            tuple(row["undefined"]),
        )
        for row in metrics["measures"]
    }


def stored_rankings(samples: Any, run_key: str) -> dict[str, Rankings]:
    """The rankings of a run by each measure, as they were stored."""
    return rankings_of(load_metrics(samples, run_key, "ranking").metrics)


def tree_record(tree: Tree | None) -> list[NodeRecord] | None:
    """A tree as records.

    Examples
    --------
    >>> tree_record({"cat": "animal"})
    [{'node': 'cat', 'above': 'animal'}]
    """
    return None if tree is None else [NodeRecord(node=node, above=above) for node, above in tree.items()]


def check_unlisted(unlisted: object) -> float | None:
    """The score of a label that a classifier does not name; None where it is missing."""
    number = as_number(unlisted)
    if unlisted is not None and (number is None or number != number):
        raise InputError(f"unlisted: expected a number or None, got {unlisted!r}")
    return number
