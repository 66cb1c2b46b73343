"""Modified mAP and label convergence over shards: matched by shard, counted in one order of all images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.convergence import LabelConvergence, ModifiedMap
from kalos_core.convergence.counting import Counted, Matches, Order, join_matches, match, orders_of
from kalos_core.convergence.interval import ConvergenceSettings, Sampling, convergence_of, image_alpha_of
from kalos_core.convergence.modified import (
    SIZES,
    ModifiedMapSettings,
    Ties,
    annotations_in_size,
    comparable_pairs,
    crowds_of,
    map_of,
    usable_images,
)
from kalos_core.distributed.agreements import sent
from kalos_core.distributed.shards import Shards, open_shards
from kalos_core.distributed.work import Workers, over_shards
from kalos_core.options import takes
from kalos_core.similarity import Similarity, get_similarity
from kalos_core.similarity.fitting import measure_for


@dataclass(frozen=True, eq=False)
class MatchTask:
    """What modified mAP asks of the table of a shard; if there is a solver, alphas of its images, too."""

    similarity: Similarity | str
    thresholds: NDArray[np.float64]
    ties: Ties
    size: str
    orders: tuple[Order, ...]
    solver: str = ""
    cost: str = ""

    def __call__(self, annotations: Annotations) -> tuple[list[Matches], NDArray[np.float64]]:
        """Matches in each order, and (I, T) alphas."""
        measure, checked = get_similarity(self.similarity), self.thresholds
        pairs = comparable_pairs(annotations, measure, checked, None)
        in_size = annotations_in_size(annotations, measure, SIZES[self.size])
        crowds = crowds_of(annotations, pairs, checked)
        found = [match(annotations, pairs, checked, self.ties, in_size, order, crowds) for order in self.orders]
        if not self.solver:
            return found, np.zeros((0, 0))
        alphas = image_alpha_of(annotations, measure, checked, self.solver, self.cost, pairs, lambda *_: None)
        return found, alphas


@dataclass(frozen=True)
class ModifiedMapOverShards(ModifiedMapSettings, Workers):
    """What `modified_map` of shards takes."""


@dataclass(frozen=True)
class ConvergenceOverShards(ConvergenceSettings, Workers):
    """What `label_convergence` of shards takes."""


@takes(ModifiedMapOverShards)
def modified_map(folder: str | os.PathLike[str] | Shards, settings: ModifiedMapOverShards) -> ModifiedMap:
    """As `kalos_core.modified_map`, of a folder of shards.

    Detections are matched by shard and stand in one order of all images; ``ties="shuffle"`` draws the orders that it
    draws for one table with rows in the order of images, as shards have them.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    ModifiedMap

    Raises
    ------
    InputError
        As `kalos_core.modified_map`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "ab"]
    >>> modified_map(write_shards(Annotations.from_rows(rows), "ceiling", images_per_shard=2)).mean
    1.0
    """
    shards = open_shards(folder)
    measure, checked = measure_for(settings.similarity, shards.vocabulary.complete), np.array(settings.thresholds)
    known, ties = shards.without_annotations(), settings.ties
    usable_images(known)
    every = orders_of(known, shards.annotations, ties, settings.orders, settings.seed)
    task = MatchTask(sent(measure), checked, ties, settings.size, ())
    counted, _ = _counted(shards, known, settings, task, every, "Modified mAP")
    return map_of(counted, known, measure.name, checked, ties, settings.size)


@takes(ConvergenceOverShards)
def label_convergence(folder: str | os.PathLike[str] | Shards, settings: ConvergenceOverShards) -> LabelConvergence:
    """As `kalos_core.label_convergence`, of a folder of shards.

    Shards are matched by workers; subsets are accumulated here, from every detection of the data set.
    ``ties="shuffle"`` draws as `kalos_core.distributed.modified_map` does.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    LabelConvergence

    Warns
    -----
    KalosWarning
        As `kalos_core.label_convergence`.

    Raises
    ------
    InputError
        As `kalos_core.label_convergence`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10 - shift * (image % 3)]}
    ...     for image in range(200)
    ...     for rater, shift in (("ann", 0), ("bob", 2))
    ... ]
    >>> shards = write_shards(Annotations.from_rows(rows), "subsets", images_per_shard=60)
    >>> found = label_convergence(shards, samples=50, fraction=0.5, thresholds=(0.5, 0.75))
    >>> found.images_per_replicate, found.route
    (100, 'measured: modified mAP of both directions')
    """
    shards = open_shards(folder)
    measure, checked = measure_for(settings.similarity, shards.vocabulary.complete), np.array(settings.thresholds)
    known, chosen = shards.without_annotations(), settings.part(ConvergenceSettings, similarity=measure.name)
    plan = Sampling.of(known, chosen)
    every = orders_of(known, shards.annotations, chosen.ties, chosen.orders, chosen.seed)
    task = MatchTask(sent(measure), checked, chosen.ties, "all", (), chosen.solver, chosen.cost)
    counted, image_alpha = _counted(shards, known, settings, task, every, "Label convergence")
    whole = map_of(counted, known, measure.name, checked, chosen.ties)
    return convergence_of(plan, whole, counted, image_alpha, lambda *_: None)


def _counted(
    shards: Shards,
    known: Annotations,
    workers: Workers,
    task: MatchTask,
    orders: Sequence[Order],
    label: str,
) -> tuple[list[Counted], NDArray[np.float64]]:
    """The matches of all shards in each order, counted, and alphas of all images."""
    tasks, row = [], 0
    for files in shards.files:
        images = slice(files.first_image, files.first_image + files.images)
        rows = slice(row, row + files.annotations)
        row += files.annotations
        own = tuple(Order(order.images[images], order.annotations[rows]) for order in orders)
        tasks.append(MatchTask(task.similarity, task.thresholds, task.ties, task.size, own, task.solver, task.cost))
    parts = over_shards(shards, tasks, workers.client, workers.progress, label)
    sizes = len(known.images), len(known.raters), len(known.categories)
    counted = []
    for number in range(len(orders)):
        matches = [
            found[number].shifted(files.first_image) for (found, _), files in zip(parts, shards.files, strict=True)
        ]
        counted.append(join_matches(matches).counted(*sizes, joint=task.ties == "joint"))
    alphas = [part for _, part in parts]
    return counted, np.concatenate(alphas)
