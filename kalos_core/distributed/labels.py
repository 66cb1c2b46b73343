"""Agreement on image-level labels over shards: counts of each question, joined in the order of items or added up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kalos_core.distributed.label_shards import open_label_shards
from kalos_core.distributed.work import Progress, over_shards
from kalos_core.errors import check_whole, lookup
from kalos_core.limits import check_replicates
from kalos_core.nominal.groups import check_groups
from kalos_core.nominal.levels import Metric, Order, question_levels
from kalos_core.nominal.questions import (
    LabelAgreement,
    QuestionPart,
    agreement_of_parts,
    check_two_raters,
    question_parts,
)
from kalos_core.nominal.table import LabelTable
from kalos_core.sparse import WEIGHTS


@dataclass(frozen=True, eq=False)
class LabelPart:
    """What one shard adds to an agreement on labels."""

    questions: tuple[QuestionPart, ...]
    breaches: int


def label_part(table: LabelTable) -> LabelPart:
    """What the shard of a table adds."""
    return LabelPart(tuple(question_parts(table)), len(check_groups(table)))


def label_agreement(
    folder: Any,
    client: Any = None,
    bootstrap: int = 1000,
    seed: int = 0,
    weights: str = "annotations_m1",
    *,
    metric: Metric = "nominal",
    order: Order | None = None,
    progress: Progress | None = None,
) -> LabelAgreement:
    """As `kalos_core.label_agreement`, of a folder of shards of image-level labels, with the same numbers.

    Parameters
    ----------
    folder : path, address of `fsspec`, or LabelShards
        Made by `write_shards` of tables of labels.
    client, progress
        As of `kalos_core.distributed.agreement`.
    bootstrap, seed, weights, metric, order
        As of `kalos_core.label_agreement`.

    Returns
    -------
    LabelAgreement

    Raises
    ------
    InputError
        As `kalos_core.label_agreement`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"item": i, "rater": r, "label": "cat" if i else "dog"} for i in range(4) for r in ("ann", "bob")]
    >>> result = label_agreement(write_shards(LabelTable.from_rows(rows), "labels of pets", images_per_shard=2))
    >>> result.question.tolist(), result.alpha.tolist(), result.cohen.tolist()
    (['label'], [1.0], [1.0])
    """
    bootstrap, seed = check_replicates(bootstrap), check_whole(seed, "seed")
    lookup(WEIGHTS, weights, "weights")
    shards = open_label_shards(folder)
    known = check_two_raters(shards.vocabulary.empty())
    levels = question_levels(known, metric, order)
    parts = over_shards(shards, label_part, client, progress, "Label agreement")
    questions = zip(*(part.questions for part in parts), strict=True)
    breaches = sum(part.breaches for part in parts)
    return agreement_of_parts(known, questions, breaches, bootstrap, seed, weights, levels)
