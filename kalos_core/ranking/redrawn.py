"""Bootstrap replicates of the values of image classifiers: images are resampled with all their labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import divide
from kalos_core.inference import ROUNDING
from kalos_core.ranking.concepts import RocCounts
from kalos_core.ranking.replicates import DIGITS
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.resampling import Draws

AT_ONCE = 1 << 18
"""Number of images drawn in the replicates computed at a time, few enough to stay in the cache."""


def value_replicates(
    values: NDArray[np.float64],
    decisions: NDArray[np.integer],
    ontology: NDArray[np.float64] | None,
    drawn: Draws,
) -> dict[str, NDArray[np.float64]]:
    """Return by measure the (B, T, S) values under every truth in each replicate, all from the same draws.

    Parameters
    ----------
    values : (S, I, K) float64
        Scores.
    decisions : (T, I, K) int
    ontology : (T, S, I) float64 or None
        Ontology score of each image.
    drawn : Draws
        Draws of the I images.

    Returns
    -------
    dict of (B, T, S) float64
        ``"AUC"`` and ``"EER"``, each the mean over the concepts that are present in some images of a replicate and
        absent in others, and ``"ontology score"`` if given; NaN where undefined. Rounded, so that equal values tie.

    Examples
    --------
    The order of the scores is correct in every draw with images of both answers; the second draw has one answer only:

    >>> values, truth = np.array([[[0.9], [0.8], [0.2], [0.1]]]), np.array([[[1], [1], [0], [0]]])
    >>> value_replicates(values, truth, None, Draws(np.arange(4), replicates=3, seed=0))["AUC"].ravel().tolist()
    [1.0, nan, 1.0]
    """
    names = ("AUC", "EER") if ontology is None else ("AUC", "EER", "ontology score")
    parts: dict[str, list[NDArray[np.float64]]] = {name: [np.zeros((0, len(decisions), len(values)))] for name in names}
    for times in _some(drawn):
        by_measure = [*_over_concepts(values, decisions, times)]
        if ontology is not None:
            by_measure.append(_over_images(ontology, times))
        for name, found in zip(names, by_measure, strict=True):
            parts[name].append(found.round(DIGITS))
    return {name: np.concatenate(found) for name, found in parts.items()}


def deciding_images(decisions: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the (T,) numbers of images that determine the mean AUC under each truth (T, I, K).

    The uncertainty of an AUC depends on the number of images with the rarer answer. For a mean over concepts, it is the
    effective number of Welch and Satterthwaite, with a variance of 1 / n for a concept with n such images. It is at
    most the number of images that have the rarer answer for any concept.

    Examples
    --------
    A single concept in two of five images; then two concepts, each in two different images:

    >>> deciding_images(np.array([[[1], [1], [0], [0], [0]]])).tolist()
    [2]
    >>> deciding_images(np.array([[[1, 0], [1, 0], [0, 1], [0, 1], [0, 0]]])).tolist()
    [4]
    """
    chosen, known = decisions == 1, decisions != NOT_ASSIGNED
    is_rarer = 2 * chosen.sum(axis=1) <= known.sum(axis=1)  # (T, K)
    rarer = np.where(is_rarer[:, None], chosen, known & ~chosen)
    count = rarer.sum(axis=1)
    share = divide(np.ones(count.shape), count)
    share = np.where(count > 0, share, 0.0)
    joint = np.nan_to_num(divide(share.sum(axis=1) ** 2, (share**3).sum(axis=1)))
    return np.asarray(np.minimum(rarer.any(axis=2).sum(axis=1), np.floor(joint + ROUNDING)), np.intp)


def _some(drawn: Draws) -> Iterator[NDArray[np.float64]]:
    """Yield (I, B') counts of how often each image is drawn, some replicates at a time."""
    at_once = max(1, AT_ONCE // max(len(drawn.images), 1))
    for block in drawn:
        for first in range(0, len(block), at_once):
            yield np.ascontiguousarray(block[first : first + at_once].T, np.float64)


def _over_concepts(
    values: NDArray[np.float64], decisions: NDArray[np.integer], times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the (B, T, S) mean AUC and EER over the concepts for draws (I, B)."""
    systems, _, concepts = values.shape
    auc, eer = np.full((2, concepts, times.shape[1], len(decisions), systems), np.nan)
    for truth, concept in np.ndindex(len(decisions), concepts):
        known = np.flatnonzero(decisions[truth, :, concept] != NOT_ASSIGNED)
        chosen = decisions[truth, known, concept] == 1
        if not chosen.any() or chosen.all():
            continue
        often = times[known]
        for system in range(systems):
            curves = RocCounts.of_draws(values[system, known, concept], chosen, often)
            auc[concept, :, truth, system] = curves.areas().values
            eer[concept, :, truth, system] = curves.equal_error_rates().values
    return _mean(auc), _mean(eer)


def _mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of defined values over the first axis; NaN where none is defined."""
    known = np.isfinite(values)
    return divide(np.where(known, values, 0.0).sum(axis=0), known.sum(axis=0))


def _over_images(scores: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (B, T, S) means of scores (T, S, I) over the images for draws (I, B)."""
    known = np.isfinite(scores)
    return np.moveaxis(divide(np.where(known, scores, 0.0) @ times, known @ times), 2, 0)
