"""Ranking of image classifiers under the truth of each rater and of the majority (Nowak & Rüger §5.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_weights
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.inference import FEWEST_IMAGES
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Replicates, Seed, Settings, takes
from kalos_core.ranking.concepts import (
    as_distances,
    concept_measures,
    exact_ontology_mean,
    ontology_scores,
    tree_edges,
)
from kalos_core.ranking.detectors import sureness_text
from kalos_core.ranking.ranks import Rankings
from kalos_core.ranking.redrawn import deciding_images, value_replicates
from kalos_core.ranking.scores import ConceptTruths, SystemScores
from kalos_core.ranking.ties import means_of_ratios, settle
from kalos_core.reliability import NOT_ASSIGNED
from kalos_core.resampling import Draws
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd

Missing = Literal["raise", "skip"]
"""Handling of an image without a score of some classifier: raise an error, or leave it out for all classifiers."""


@dataclass(frozen=True, eq=False, repr=False)
class SystemRanking(Result):
    """The result of `rank_systems`. T truths, S classifiers, I images, K concepts.

    Figures: ``"ranking"``, ``"tau"``, ``"shared"``.

    Parameters
    ----------
    truths, systems, images, concepts : (T,), (S,), (I,), (K,) object
        Names; the images are those used.
    auc, eer : (T, S, K) float64
        AUC and EER of each concept; NaN for a concept that a truth finds in no image, or in all of them.
    ontology : (T, S, I) float64 or None
        Ontology score of each image, None without a tree; NaN where the truth has no decision.
    means : dict of (T, S) float64
        By measure, the values that are ranked: ``"AUC"`` and ``"EER"`` are means over the concepts, ``"ontology
        score"`` (with a tree) over the images. Means that are equal in exact arithmetic are equal, for any order of
        concepts or images.
    skipped_images : int
        Number of images left out because a classifier has no score for them.
    unknown_images, unknown_concepts : int
        Number of images and concepts of the scores that no truth has; they are ignored.
    replicates : dict of (B, T, S) float64
        By measure, `means` in each bootstrap replicate over images, all from the same draws; B is 0 without a
        bootstrap.
    deciding_images : (T,) int
        Number of images that determine AUC and EER under each truth, those of the rarer answer (see `rank_systems`).

    Examples
    --------
    A classifier that mistakes the dog for a cat, with one truth and a tree of concepts:

    >>> truths = ConceptTruths(["ann"], [1, 2], ["cat", "dog", "oak"], [[[1, 0, 0], [0, 1, 0]]])
    >>> scores = SystemScores(["a"], [1, 2], ["cat", "dog", "oak"], [[[0.9, 0, 0], [0.8, 0, 0]]])
    >>> result = rank_systems(scores, truths, tree={"cat": "animal", "dog": "animal", "oak": "plant"})
    >>> result.auc[0, 0].tolist(), result.left_out[0].tolist(), result.ontology[0, 0].tolist()
    ([1.0, 0.5, nan], [False, False, True], [1.0, 0.5])
    >>> result.to_pandas()["value"].tolist()
    [0.75, 0.25, 0.75]
    """

    _call = "rank_systems(scores, references)"

    truths: NDArray[np.object_]
    systems: NDArray[np.object_]
    images: NDArray[np.object_]
    concepts: NDArray[np.object_]
    auc: NDArray[np.float64]
    eer: NDArray[np.float64]
    ontology: NDArray[np.float64] | None
    means: Mapping[str, NDArray[np.float64]]
    skipped_images: int
    unknown_images: int
    unknown_concepts: int
    replicates: Mapping[str, NDArray[np.float64]]
    deciding_images: NDArray[np.intp]

    @property
    def left_out(self) -> NDArray[np.bool_]:
        """(T, K) concepts that AUC and EER leave out, as the truth finds them in no image or in all images."""
        return np.asarray(np.isnan(self.auc).all(axis=1))

    @cached_property
    def rankings(self) -> dict[str, Rankings]:
        """Rankings by each measure.

        ``"AUC"`` and ``"EER"`` are means over the concepts, ``"ontology score"`` over the images.
        """
        by_concept = "no concept is in some of the images and not in others"
        reasons = {"AUC": by_concept, "EER": by_concept, "ontology score": "no image can be scored"}
        return {measure: self._ranked(measure, means, reasons[measure]) for measure, means in self.means.items()}

    def _ranked(self, measure: str, means: NDArray[np.float64], reason: str) -> Rankings:
        without = self.truths[np.isnan(means).all(axis=1)]
        over_images = measure == "ontology score"
        images = self._scored_images if over_images else self.deciding_images
        return Rankings(
            measure=measure,
            truths=self.truths,
            systems=self.systems,
            values=means,
            less_is_better=measure == "EER",
            undefined=(
                *(f"{measure} is undefined under {truth}: {reason}" for truth in without),
                *self._without_interval(measure, means, images),
            ),
            replicates=self.replicates[measure],
            images=len(self.images),
            deciding_images=images,
            skewed=not over_images,
        )

    @property
    def _scored_images(self) -> NDArray[np.intp]:
        """(T,) number of images with an ontology score."""
        scores = np.zeros((len(self.truths), 1, 0)) if self.ontology is None else self.ontology
        return np.asarray(np.isfinite(scores).any(axis=1).sum(axis=1))

    def _without_interval(self, measure: str, means: NDArray[np.float64], images: NDArray[np.intp]) -> Iterator[str]:
        """Yield the reason why a requested interval is missing."""
        few = np.isfinite(means).any(axis=1) & (images < FEWEST_IMAGES)
        if few.any() and len(self.replicates[measure]):
            whose = "images" if measure == "ontology score" else "images of the rarer answer"
            yield f"{measure} has no interval under {listed(self.truths[few])}: fewer than {FEWEST_IMAGES} {whose}"

    @property
    def headline(self) -> str:
        """One-line summary of the result."""
        counted = (
            f"{number_of(len(self.systems), 'classifier')} ranked under {number_of(len(self.truths), 'reference')}"
        )
        return "; ".join(filter(None, [counted, sureness_text(next(iter(self.rankings.values())))]))

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per truth, classifier and measure: value and rank with intervals, and `best_share`."""
        import pandas as pd

        tables = [ranking.to_pandas() for ranking in self.rankings.values()]
        for name, table in zip(self.rankings, tables, strict=True):
            table.insert(0, "measure", name)
        return pd.concat(tables, ignore_index=True)

    def by_concept(self) -> pd.DataFrame:
        """Return one row per truth, classifier and concept that is not left out."""
        axes = {"truth": self.truths, "system": self.systems, "concept": self.concepts}
        return crossed(axes, auc=self.auc, eer=self.eer).dropna(subset="auc", ignore_index=True)


@dataclass(frozen=True, kw_only=True)
class RankingSettings(Settings):
    """Settings of `rank_systems`, without the weights of concepts."""

    tree: Annotated[
        Mapping[str, str | None] | None,
        Option(
            "Tree of the labels",
            "Tree of the concepts: the parent of each node (`tree_distances`). It adds the ontology score.",
            type="mapping of node to its parent, optional",
        ),
    ] = None
    decision: Annotated[
        float,
        Option("Decision", "For the ontology score, a classifier names the concepts with at least this score."),
    ] = 0.5
    missing: Annotated[
        Missing,
        Option(
            "Images without scores",
            "Images of a truth for which a classifier has no score.",
            choices={"raise": "raise an error that counts them", "skip": "leave them out for all classifiers"},
            flag="missing_scores",
        ),
    ] = "raise"
    bootstrap: Replicates = 1000
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class RankingArguments(RankingSettings):
    """Arguments of `rank_systems`: its settings, and weights of concepts."""

    weights: ArrayLike | None = None


@takes(RankingArguments)
def rank_systems(scores: SystemScores, truths: ConceptTruths, settings: RankingArguments) -> SystemRanking:
    """Rank image classifiers under each truth.

    Computes AUC and equal error rate (EER) of each concept, and their means over the concepts (Nowak & Rüger §4.2).
    With a tree of the concepts, it also computes the ontology score of each image, and its mean. A concept that a truth
    finds in no image, or in all images, is left out under that truth; a concept without a decision in an image is left
    out there.

    Intervals resample the images with replacement; a replicate leaves out a concept that is in none or all of its
    images. Intervals of AUC and EER are Student's t intervals of log(1 - AUC) and log(EER), as values from few images
    accumulate at 1 and 0. Their degrees of freedom depend on the number of images of the rarer answer
    (`docs/intervals.md`).

    Parameters
    ----------
    scores : SystemScores
    truths : ConceptTruths
        Images and concepts are matched with `scores` by name; those that only `scores` has are ignored.
    weights : (K,) float, optional
        Weight of each concept of `truths` in the ontology score, such as the agreement of raters about it
        (``majority_agreement(table).concept_all``); all 1 by default.

    Returns
    -------
    SystemRanking

    Raises
    ------
    InputError
        If an image or concept of the truths has no score, no image is left, weights are not one non-negative number per
        concept, or a concept is not in the tree.

    Examples
    --------
    >>> truths = ConceptTruths(["ann", "bob"], [1, 2, 3], ["cat"], [[[1], [0], [0]], [[1], [1], [0]]])
    >>> systems = {"a": {1: 0.9, 2: 0.2, 3: 0.4}, "b": {1: 0.5, 2: 0.6, 3: 0.1}}
    >>> scores = {name: {image: {"cat": s} for image, s in table.items()} for name, table in systems.items()}
    >>> result = rank_systems(SystemScores.from_tables(scores), truths)
    >>> auc = result.rankings["AUC"]
    >>> auc.values.tolist(), auc.ranks.tolist(), auc.best_changes
    ([[1.0, 0.5], [0.5, 1.0]], [[1.0, 2.0], [2.0, 1.0]], 1.0)
    """
    edges = None if settings.tree is None else tree_edges(settings.tree, truths.concepts.tolist())
    weight = as_weights(settings.weights, len(truths.concepts), "concept")
    values = _aligned(scores, truths)
    needed = (truths.decisions != NOT_ASSIGNED).any(axis=0)  # (I, K)
    gone = (np.isnan(values) & needed).any(axis=2)
    if gone.any() and settings.missing == "raise":
        raise InputError(_without_scores(gone, scores.systems, truths.images))
    kept = ~gone.any(axis=0) & needed.any(axis=1)
    if not kept.any():
        raise InputError("scores: expected an image with scores of every classifier and a truth, got none")
    values, decisions, images = values[:, kept], truths.decisions[:, kept], truths.images[kept]
    measures = [concept_measures(values, of_truth == 1, of_truth != NOT_ASSIGNED) for of_truth in decisions]
    means = {
        name: np.stack([means_of_ratios(*of_truth[measure]) for of_truth in measures])
        for measure, name in enumerate(("AUC", "EER"))
    }
    ontology = None
    if edges is not None:
        ontology, means["ontology score"] = _ontology(values >= settings.decision, decisions, edges, weight)
    order = sorted(range(len(images)), key=lambda at: repr(images[at]))
    drawn = Draws(np.arange(len(images)), check_replicates(settings.bootstrap, len(images)), settings.seed)
    in_order = None if ontology is None else ontology[..., order]
    return SystemRanking(
        truths=truths.truths,
        systems=scores.systems,
        images=images,
        concepts=truths.concepts,
        auc=np.stack([auc.values for auc, _ in measures]),
        eer=np.stack([eer.values for _, eer in measures]),
        ontology=ontology,
        means=means,
        skipped_images=int(gone.any(axis=0).sum()),
        unknown_images=len(set(scores.images) - set(truths.images)),
        unknown_concepts=len(set(scores.concepts) - set(truths.concepts)),
        replicates=value_replicates(values[:, order], decisions[:, order], in_order, drawn),
        deciding_images=deciding_images(decisions),
    )


def _ontology(
    named: NDArray[np.bool_], decisions: NDArray[np.int8], edges: NDArray[np.intp], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the (T, S, I) ontology score of each image, and the (T, S) means."""
    distances, scores, means = as_distances(edges), [], []
    for of_truth in decisions:
        truth, known = of_truth == 1, of_truth != NOT_ASSIGNED

        def exact(classifier: int, truth: NDArray[np.bool_] = truth, known: NDArray[np.bool_] = known) -> float:
            return exact_ontology_mean(named[classifier], truth, known, edges, weights)

        scores.append(ontology_scores(named, truth, known, distances, weights))
        means.append(settle(_means(scores[-1]), exact))
    return np.stack(scores), np.stack(means)


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (S,) means of the defined scores (S, I), rounded once."""
    defined = [row[np.isfinite(row)].tolist() for row in scores]
    return np.array([math.fsum(row) / len(row) if row else math.nan for row in defined], np.float64)


def _aligned(scores: SystemScores, truths: ConceptTruths) -> NDArray[np.float64]:
    """Return the (S, I, K) scores for the images and concepts of the truths, NaN for images without scores."""
    concept_code = {name: code for code, name in enumerate(scores.concepts)}
    strange = [name for name in truths.concepts if name not in concept_code]
    if strange:
        raise InputError(f"scores: expected every concept of the truths, got none of {listed(map(repr_of, strange))}")
    concepts = [concept_code[name] for name in truths.concepts]
    image_code = {image: code for code, image in enumerate(scores.images)}
    index = np.array([image_code.get(image, -1) for image in truths.images], np.intp)
    values = np.full((len(scores.systems), len(index), len(concepts)), np.nan)
    values[:, index >= 0] = scores.values[:, index[index >= 0]][:, :, concepts]
    return values


def _without_scores(gone: NDArray[np.bool_], systems: NDArray[np.object_], images: NDArray[np.object_]) -> str:
    """Return a message that lists the classifiers and the images (S, I) for which they lack scores."""
    rows = np.flatnonzero(gone.any(axis=1))
    lacks = [f"{systems[row]}: {gone[row].sum():,} ({listed(map(repr_of, images[gone[row]]), 3)})" for row in rows]
    return (
        "scores: expected those of every classifier for every image of the truths, got images without in "
        f"{listed(lacks)}; missing='skip' leaves these images out for all systems"
    )
