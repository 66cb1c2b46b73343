"""Consensus annotations from matched units: existence, class, position and confidence of objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core._agreement import Agreement, check_agreement
from kalos_core.annotations import Annotations
from kalos_core.arrays import as_weights, divide, run_starts
from kalos_core.consensus.fusing import Members, fused_annotations
from kalos_core.consensus.objects import UnitTruth
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.options import Option, Settings, takes
from kalos_core.reliability import NOT_ASSIGNED, Units
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

NAME = "consensus"
"""Name of the rater of consensus annotations."""

OUTCOMES = ("kept", "below quorum", "tied class")
"""Possible outcomes of a unit."""

KEPT, BELOW, TIED = range(3)

Ties = Annotated[
    Literal["apart", "first"],
    Option(
        "Ties",
        "What happens to units in which several classes have the most votes, or are equally likely. "
        "`InstanceConsensus.tied` has the units tied by votes in any case.",
        choices={"apart": "excluded as 'tied class'", "first": "first of the classes in the vocabulary"},
    ),
]
Region = Annotated[
    Literal["vote", "staple"],
    Option(
        "Region",
        "Pixels of a fused polygon or mask; the result is a mask.",
        choices={
            "vote": "pixels that at least half of the raters of the unit marked",
            "staple": "pixels with a STAPLE probability of at least one half, within the bounds of all shapes",
        },
    ),
]
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class InstanceConsensus(Result):
    """The result of `instance_consensus`. U units, C of them kept.

    Figures: ``"outcomes"``.

    Parameters
    ----------
    annotations : Annotations
        C annotations of one rater, "consensus", on all images, with ids 1, 2, ...
    score : (C,) float64
        Share of the assigned raters who annotated the unit. With a `truth`, the probability that it is an object of its
        class. Written as a detector's confidence.
    unit : (C,) int
        Unit of each annotation.
    outcome : (U,) int
        Index in `OUTCOMES`.
    annotated, assigned : (U,) int
        Number of raters who annotated the unit, and who were assigned to its image and classes.
    class_votes : (U, K) int
        Number of raters who gave the unit each class.
    member_start : (U + 1,) int
    member_row : (N,) int
        Unit u consists of the annotations ``member_row[member_start[u]:member_start[u + 1]]`` of `source`.
    source : Annotations
        Annotations that were fused.
    truth : UnitTruth or None
        Estimate that decided existence and classes; None if the votes of the raters did.

    Examples
    --------
    >>> from kalos_core._agreement import agreement
    >>> cat = {"image": 1, "category": "cat"}
    >>> rows = [
    ...     {**cat, "rater": "ann", "box": [0, 0, 10, 10]},
    ...     {**cat, "rater": "bob", "box": [0, 0, 10, 8]},
    ...     {**cat, "rater": "cid", "box": [50, 0, 10, 10]},
    ... ]
    >>> found = instance_consensus(agreement(Annotations.from_rows(rows)))
    >>> found.annotations.shapes["box"].corners.tolist(), found.score.round(2).tolist(), found.sources(0)
    ([[0.0, 0.0, 10.0, 9.0]], [0.67], [1, 2])
    >>> found.counts()
    {'kept': 1, 'below quorum': 1, 'tied class': 0}
    """

    _call = "instance_consensus(agreement(annotations))"

    annotations: Annotations
    score: NDArray[np.float64]
    unit: NDArray[np.intp]
    outcome: NDArray[np.intp]
    annotated: NDArray[np.intp]
    assigned: NDArray[np.intp]
    class_votes: NDArray[np.intp]
    member_start: NDArray[np.intp]
    member_row: NDArray[np.intp]
    source: Annotations
    truth: UnitTruth | None = None

    def sources(self, row: int) -> list[Any]:
        """Return the ids of the annotations behind one row of the consensus."""
        return self.members_of_unit(int(self.unit[row]))

    def members_of_unit(self, unit: int) -> list[Any]:
        """Return the ids of the annotations of one unit."""
        rows = self.member_row[self.member_start[unit] : self.member_start[unit + 1]]
        ids: list[Any] = self.source.id[rows].tolist()
        return ids

    @cached_property
    def tied(self) -> NDArray[np.bool_]:
        """(U,) whether several classes have the most votes, whatever the outcome."""
        most = self.class_votes.max(axis=1, initial=0)
        return np.asarray((self.class_votes == most[:, None]).sum(axis=1) > 1)

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """(R,) share of the objects on each rater's assigned images that the rater annotated."""
        return divide(self._annotated(), self.source.assigned[self.annotations.image].sum(axis=0))

    @property
    def ppv(self) -> NDArray[np.float64]:
        """(R,) share of each rater's annotations that became part of an object."""
        return divide(self._annotated(), np.bincount(self.source.rater, minlength=len(self.source.raters)))

    @property
    def is_part(self) -> NDArray[np.bool_]:
        """(N,) whether each annotation of `source` is part of an object, whatever its class."""
        unit = np.repeat(np.arange(len(self.outcome)), np.diff(self.member_start))
        found = np.zeros(len(self.source), np.bool_)
        found[self.member_row] = np.isin(unit, self.unit)
        return found

    def _annotated(self) -> NDArray[np.intp]:
        """(R,) number of each rater's annotations that are part of an object."""
        return np.bincount(self.source.rater[self.is_part], minlength=len(self.source.raters))

    def against(self, row: int) -> list[str]:
        """Return raters who disagree with a row of the consensus, by class or by no annotation.

        Empty unless a `truth` decided.
        """
        if self.truth is None:
            return []
        values = self.truth.units.values[self.unit[row]]
        otherwise = (values != NOT_ASSIGNED) & (values != self.annotations.category[row])
        return list(map(str, self.source.raters[otherwise]))

    def counts(self) -> dict[str, int]:
        """Return the number of units for each outcome."""
        numbers = np.bincount(self.outcome, minlength=len(OUTCOMES)).tolist()
        return dict(zip(OUTCOMES, numbers, strict=True))

    def fields(self) -> dict[str, list[Any]]:
        """Return further fields of each annotation for COCO: ``write_coco(found.annotations, path, found.fields())``.

        ``score``; ``sources``, the ids of the source annotations; and with a `truth` ``existence``, the probability
        that it is an object of any class.
        """
        found = {"score": self.score.tolist(), "sources": [self.sources(row) for row in range(len(self.unit))]}
        return found if self.truth is None else {**found, "existence": self.truth.existence[self.unit].tolist()}

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        counts = ", ".join(f"{name} {count:,}" for name, count in self.counts().items())
        return f"Consensus of {number_of(len(self.outcome), 'unit')}: {counts}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each unit: image, outcome, votes, classes with the most votes, and source annotations.

        With a `truth` also the likeliest class, its probability, and the probability of existence.
        """
        import pandas as pd

        most = self.class_votes.max(axis=1, initial=0)
        leading = self.class_votes == np.maximum(most, 1)[:, None]
        image = np.zeros(len(self.outcome), np.intp)
        owner = np.repeat(np.arange(len(self.outcome)), np.diff(self.member_start))
        image[owner] = self.source.image[self.member_row]
        names = ["category", "confidence", "existence"]
        decided = pd.DataFrame() if self.truth is None else self.truth.to_pandas()[names]
        return pd.DataFrame(
            {
                "image": self.source.images[image],
                "outcome": np.array(OUTCOMES, dtype=object)[self.outcome],
                "annotated": self.annotated,
                "assigned": self.assigned,
                "score": self.annotated / self.assigned,
                "classes": [", ".join(self.source.categories[row]) for row in leading],
                "annotations": [self.members_of_unit(unit) for unit in range(len(self.outcome))],
                **decided.to_dict("series"),
            }
        )


@dataclass(frozen=True)
class ConsensusSettings(Settings):
    """Settings of `instance_consensus`."""

    quorum: Annotated[
        float,
        Option(
            "Quorum",
            "Smallest share of assigned raters who annotated a unit; with `truth`, smallest probability it exists.",
            above=0,
            high=1,
        ),
    ] = 0.5
    ties: Ties = "apart"
    region: Region = "vote"


@dataclass(frozen=True)
class ConsensusArguments(ConsensusSettings):
    """Arguments of `instance_consensus`: its settings, weights of raters, and a `UnitTruth`."""

    weights: ArrayLike | None = None
    truth: UnitTruth | None = None


@takes(ConsensusArguments)
def instance_consensus(agreement: Agreement, settings: ConsensusArguments) -> InstanceConsensus:
    """Build one annotation for each unit that enough raters annotated, or that is likely enough to be an object.

    Its class is the one most raters gave, or the likeliest. Its shape is fused from all members, whatever their class:

    * boxes: mean,
    * polygons and masks: pixels by vote or by STAPLE,
    * keypoints: median of each keypoint that at least half of the raters labelled.

    Parameters
    ----------
    agreement : Agreement
        Agreement that groups the annotations into units.
    weights : (R,) float, optional
        Weight of each rater in the mean of boxes; equal by default.
    truth : UnitTruth, optional
        Result of `unit_truth` for the same agreement. It then decides in place of votes.

    Returns
    -------
    InstanceConsensus

    Raises
    ------
    InputError
        If an option is unknown, weights are not positive numbers for all raters, `truth` is of other units, shapes are
        volumes or cuboids, or polygons are on an image of unknown size.

    Examples
    --------
    Two raters, one object, two classes: no majority.

    >>> from kalos_core._agreement import agreement
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in [("ann", "cat"), ("bob", "dog")]
    ... ]
    >>> result = agreement(Annotations.from_rows(rows))
    >>> instance_consensus(result).counts()
    {'kept': 0, 'below quorum': 0, 'tied class': 1}
    >>> instance_consensus(result, ties="first").annotations.category.tolist()
    [0]
    """
    check_agreement(agreement)
    source, truth = agreement.annotations, settings.truth
    weight = as_weights(settings.weights, len(source.raters), "rater", above_zero=True)
    units = agreement.units
    unit_of, count = agreement.unit_of, len(units)
    annotated = np.bincount(unit_of, minlength=count)
    assigned = (units.values != NOT_ASSIGNED).sum(axis=1)
    votes = np.zeros((count, len(source.categories)), np.intp)
    np.add.at(votes, (unit_of, source.category), 1)
    found = _by_votes(votes, annotated / assigned) if truth is None else _by_truth(truth, units)
    outcome = np.full(count, KEPT, np.intp)
    if settings.ties == "apart":
        outcome[found.tied] = TIED
    outcome[found.existence < settings.quorum - ROUNDING] = BELOW
    unit = np.flatnonzero(outcome == KEPT)
    order = np.argsort(unit_of, kind="stable")
    members = Members.of(source, unit_of, unit, weight)
    return InstanceConsensus(
        annotations=fused_annotations(members, units.image[unit], found.category[unit], NAME, settings.region),
        score=found.score[unit],
        unit=unit,
        outcome=outcome,
        annotated=annotated,
        assigned=assigned,
        class_votes=votes,
        member_start=run_starts(annotated),
        member_row=order,
        source=source,
        truth=truth,
    )


class _Decided(NamedTuple):
    """Decision on U units: probability of existence, class, probability of the class, and ties between classes."""

    existence: NDArray[np.float64]
    category: NDArray[np.intp]
    score: NDArray[np.float64]
    tied: NDArray[np.bool_]


def _by_votes(votes: NDArray[np.intp], share: NDArray[np.float64]) -> _Decided:
    """Decide by votes (U, K) and the share of raters (U,) who annotated the unit."""
    most = votes.max(axis=1, initial=0)
    category = votes.argmax(axis=1) if votes.size else np.zeros(len(votes), np.intp)
    return _Decided(share, category, share, (votes == most[:, None]).sum(axis=1) > 1)


def _by_truth(truth: UnitTruth, units: Units) -> _Decided:
    if not np.array_equal(truth.units.values, units.values) or not np.array_equal(truth.units.image, units.image):
        raise InputError("truth: expected unit_truth of the same agreement, got one of other units")
    return _Decided(truth.existence, truth.category, truth.confidence, truth.tied)
