"""Image-level scores of classifiers and decisions of raters, as tables."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import distinct, object_array
from kalos_core.arrays import as_array, as_floats
from kalos_core.errors import InputError, Problems, as_number, listed, repr_of
from kalos_core.nominal import MERGED, LabelTable, merge_raters
from kalos_core.nominal.grouping import Teams
from kalos_core.options import Option, Settings, takes
from kalos_core.ranking.ranks import check_names
from kalos_core.reliability import NOT_ASSIGNED

Unlisted = Annotated[
    float | None,
    Option(
        "Score of labels that are not listed",
        "Score of a label that a classifier leaves out in an image for which it has other scores; None: missing.",
    ),
]


@dataclass(frozen=True)
class ScoreSettings(Settings):
    """Settings of `SystemScores.from_tables`."""

    unlisted: Unlisted = None
    images: Sequence[Hashable] | None = None
    concepts: Sequence[str] | None = None


@dataclass(frozen=True)
class TruthSettings(Settings):
    """Settings of `ConceptTruths.from_labels`: truths in addition to those of raters."""

    majority: Annotated[
        str,
        Option("Majority", "Name of the majority of all raters as a reference (`merge_raters`); no rater may have it."),
    ] = MERGED
    teams: Teams = None


@dataclass(frozen=True, eq=False)
class SystemScores:
    """Scores of S classifiers for K concepts in I images.

    Parameters
    ----------
    systems, images, concepts : (S,), (I,), (K,) object
        Unique names.
    values : (S, I, K) float64
        Scores, higher for more confidence; NaN where a classifier gives no score.

    Raises
    ------
    InputError
        If lengths differ or a name is used twice.

    Examples
    --------
    >>> SystemScores.from_tables({"net": {"a.jpg": {"cat": 0.9, "dog": 0.2}}}).values.tolist()
    [[[0.9, 0.2]]]
    """

    systems: NDArray[np.object_]
    images: NDArray[np.object_]
    concepts: NDArray[np.object_]
    values: NDArray[np.float64]

    def __post_init__(self) -> None:
        values = as_floats(self.values, "scores")
        if values.ndim != 3:
            raise InputError(f"scores: expected systems x images x concepts, got shape {values.shape}")
        for name, size in zip(("systems", "images", "concepts"), values.shape, strict=True):
            object.__setattr__(self, name, check_names(getattr(self, name), size, name))
        object.__setattr__(self, "values", values)

    @classmethod
    @takes(ScoreSettings)
    def from_tables(
        cls, tables: Mapping[str, Mapping[Hashable, Mapping[str, float]]], settings: ScoreSettings
    ) -> SystemScores:
        """Return scores from nested mappings: by classifier, image and concept.

        Parameters
        ----------
        tables : mapping of classifier to mapping of image to mapping of concept to score
        images, concepts : sequences, optional
            Images and concepts to keep, in this order; by default all that occur.

        Raises
        ------
        InputError
            For a score that is not a number.

        Examples
        --------
        >>> tables = {"a": {1: {"cat": 0.9, "dog": 0.2}}, "b": {1: {"cat": 0.4}, 2: {"dog": 0.7}}}
        >>> SystemScores.from_tables(tables, unlisted=0).values.tolist()
        [[[0.9, 0.2], [nan, nan]], [[0.4, 0.0], [0.0, 0.7]]]
        """
        blank, images, concepts = settings.unlisted, settings.images, settings.concepts
        if images is None:
            images = distinct(image for table in tables.values() for image in table)
        if concepts is None:
            concepts = distinct(name for table in tables.values() for row in table.values() for name in row)
        image_code = {image: code for code, image in enumerate(images)}
        concept_code = {name: code for code, name in enumerate(concepts)}
        values = np.full((len(tables), len(images), len(concepts)), np.nan)
        problems = Problems("scores")
        for system, (system_name, table) in enumerate(tables.items()):
            for image, row in table.items():
                if image not in image_code:
                    continue
                values[system, image_code[image]] = np.nan if blank is None else blank
                for name, score in row.items():
                    number = as_number(score)
                    if number is None:
                        problems.add(f"{system_name}, image {image!r}, {name}", "a number", repr_of(score))
                    elif name in concept_code:
                        values[system, image_code[image], concept_code[name]] = number
        problems.raise_if_any()
        return cls(object_array(tables), object_array(images), object_array(concepts), values)


@dataclass(frozen=True, eq=False)
class ConceptTruths:
    """Decisions of T truths on K concepts in I images.

    Parameters
    ----------
    truths, images, concepts : (T,), (I,), (K,) object
        Unique names.
    decisions : (T, I, K) int8
        1 chosen, 0 not chosen, `NOT_ASSIGNED` if a truth has no decision.

    Raises
    ------
    InputError
        If lengths differ, a name is used twice or a decision has any other value.

    Examples
    --------
    >>> ConceptTruths(["ann", "bob"], ["a.jpg"], ["cat", "dog"], [[[1, 0]], [[1, 1]]]).decisions.tolist()
    [[[1, 0]], [[1, 1]]]
    """

    truths: NDArray[np.object_]
    images: NDArray[np.object_]
    concepts: NDArray[np.object_]
    decisions: NDArray[np.int8]

    def __post_init__(self) -> None:
        given = as_array(self.decisions, "decisions")
        if given.ndim != 3:
            raise InputError(f"decisions: expected truths x images x concepts, got shape {given.shape}")
        known = np.isin(given, (0, 1, NOT_ASSIGNED))
        if not known.all():
            actual = listed(distinct(given[~known].tolist()))
            raise InputError(f"decisions: expected 1 (chosen), 0 (not) or NOT_ASSIGNED ({NOT_ASSIGNED}), got {actual}")
        for name, size in zip(("truths", "images", "concepts"), given.shape, strict=True):
            object.__setattr__(self, name, check_names(getattr(self, name), size, name))
        object.__setattr__(self, "decisions", given.astype(np.int8))

    @classmethod
    @takes(TruthSettings)
    def from_labels(cls, labels: LabelTable, settings: TruthSettings) -> ConceptTruths:
        """Return the decisions of every rater of a table, of each team's majority, and of the majority of all raters.

        A majority has no decision at a tie.

        Parameters
        ----------
        labels : LabelTable

        Raises
        ------
        InputError
            If a rater has the name of a majority, or a team has no rater or an unknown one.

        Examples
        --------
        >>> rows = [("ann", ["cat", "dog"]), ("bob", ["cat"]), ("eve", ["cat", "owl"])]
        >>> rows = [{"item": "a.jpg", "rater": rater, "label": label} for rater, label in rows]
        >>> truths = ConceptTruths.from_labels(LabelTable.from_rows(rows, groups=None))
        >>> truths.truths.tolist(), truths.decisions[:, 0].tolist()
        (['ann', 'bob', 'eve', 'majority'], [[1, 1, 0], [1, 0, 0], [1, 0, 1], [1, 0, 0]])
        """
        teams = {name: labels.select(raters=list(of)) for name, of in (settings.teams or {}).items()}
        merged = {**teams, settings.majority: labels}
        for name, of in merged.items():
            if name in labels.raters.tolist():
                raise InputError(f"majority: expected a name that no rater has, got {repr_of(name)}")
            if not len(of.raters):
                raise InputError(f"teams: expected a rater at least in {name!r}, got none")
        decisions = [labels.decisions(rater) for rater in labels.raters]
        decisions += [merge_raters(of, name).decisions(name) for name, of in merged.items()]
        return cls(object_array([*labels.raters, *merged]), labels.items, labels.concepts, np.stack(decisions))
