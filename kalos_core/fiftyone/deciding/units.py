"""Units that a run matched: the values of each rater, and units that form a whole and its parts."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings
from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import rows_by_group
from kalos_core.decisions.objects import joined_units
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.kinds.agreement.sample import units_on
from kalos_core.fiftyone.kinds.agreement.settings import matching
from kalos_core.fiftyone.kinds.agreement.stored import stored_units
from kalos_core.fiftyone.runs.table import Run
from kalos_core.pairs import Pairs
from kalos_core.reliability import NOT_ASSIGNED, Units, build_units
from kalos_core.similarity import get_similarity
from kalos_core.variation import variations


@dataclass(frozen=True, eq=False)
class MatchedUnits:
    """N annotations in U units, of one or several images.

    Parameters
    ----------
    annotations : Annotations
    unit_of : (N,) int
        Unit of each annotation, 0 to U - 1.
    number : (U,) int
        Number of each unit in the run.
    configuration : AgreementSettings, optional
        How the run compares annotations; None if units cannot form wholes and parts.
    pairs : Pairs, optional
        Similarities of the annotations, if known.
    questions : dict
        Number of a unit -> question, for image-level labels.
    """

    annotations: Annotations
    unit_of: NDArray[np.intp]
    number: NDArray[np.intp]
    configuration: AgreementSettings | None = None
    pairs: Pairs | None = None
    questions: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of_labels(cls, labels: Labels, run: Run[Any, Any, Any, Any]) -> MatchedUnits:
        """Return the units of the labels read from one sample; labels added after the run are left out."""
        stored = units_on(labels, run.key)
        rows = [row for row, unit in enumerate(stored) if unit is not None]
        annotations = labels.annotations
        if len(rows) < len(stored):
            annotations = annotations.select(rows=np.array(rows, dtype=np.intp))
        number, unit_of = np.unique(np.array([stored[row] for row in rows], dtype=np.intp), return_inverse=True)
        return cls(annotations, unit_of, number, matching(run.settings))

    @classmethod
    def of_arrays(cls, run: Run[Any, Any, Any, Any]) -> MatchedUnits:
        """Return the units of all samples as an agreement run stored them, without shapes; no label is read."""
        annotations, unit_of = stored_units(run.arrays)
        return cls(annotations, unit_of, np.arange(unit_of.max(initial=-1) + 1), matching(run.settings))

    @classmethod
    def of_queue(cls, entries: Sequence[Mapping[str, Any]], raters: Sequence[str] = ()) -> MatchedUnits:
        """Return the units of complete queue entries; each rater with a class has an annotation of that class.

        Each unit is an image of its own, as raters may be assigned to some units only. Shapes are placeholders.

        Parameters
        ----------
        entries : sequence of dict
        raters : sequence of str
            Order of the raters; raters that are not listed come last.
        """
        rows, ids, units = list[dict[str, Any]](), list[str](), list[int]()
        for entry in entries:
            for rater, name in zip(entry["assigned"], entry["given"], strict=True):
                if name is not None:
                    rows.append({"image": entry["unit"], "rater": rater, "category": name, "box": [0, 0, 1, 1]})
                    ids.append(entry["label"])
                    units.append(entry["unit"])
        assigned: dict[Hashable, list[str]] = {entry["unit"]: entry["assigned"] for entry in entries}
        table = Annotations.from_rows(rows, raters=raters_in(entries, raters), images=list(assigned), assigned=assigned)
        number, unit_of = np.unique(np.array(units, dtype=np.intp), return_inverse=True)
        questions = {entry["unit"]: entry["question"] for entry in entries if "question" in entry}
        return cls(replace(table, id=object_array(ids)), unit_of, number, questions=questions)

    @classmethod
    def of_run(cls, agreement: Agreement) -> MatchedUnits:
        """Return the units of all samples of a run, from its result."""
        number = np.arange(len(agreement.units))
        return cls(agreement.annotations, agreement.unit_of, number, agreement.configuration, agreement.pairs)

    @cached_property
    def units(self) -> Units:
        """Values of each rater in each unit."""
        return build_units(self.annotations, self.unit_of)

    @cached_property
    def rows_of(self) -> dict[str, list[int]]:
        """Id of a label -> its rows; several if a field was cloned."""
        rows: dict[str, list[int]] = {}
        for row, key in enumerate(self.annotations.id.tolist()):
            rows.setdefault(key, []).append(row)
        return rows

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """Group (U,) of each unit: units of a whole and its parts share a group, any other unit has its own."""
        count, how = len(self.number), self.configuration
        if how is None:
            return np.arange(count)
        found = variations(self.annotations, get_similarity(how.measure), how.threshold, pairs=self.pairs)
        return joined_units(found, self.unit_of, count)

    def together(self, units: Iterable[int]) -> list[int]:
        """Return all units in the groups of some units."""
        return np.flatnonzero(np.isin(self.group, self.group[sorted(units)])).tolist()

    def units_of(self, labels: Iterable[str]) -> set[int]:
        """Return the units of some labels; unknown labels are ignored."""
        return {int(self.unit_of[row]) for key in labels for row in self.rows_of.get(key, ())}

    @cached_property
    def _rows(self) -> list[NDArray[np.intp]]:
        return rows_by_group(self.unit_of, len(self.number))

    def labels(self, units: Iterable[int]) -> list[str]:
        """Return the ids of all labels of some units."""
        return list(dict.fromkeys(key for unit in sorted(units) for key in self.annotations.id[self._rows[unit]]))

    def are_units(self, labels: Collection[str]) -> bool:
        """Return whether labels are exactly all labels of one or more units."""
        return set(labels) == set(self.labels(self.units_of(labels)))

    def values(self, units: Iterable[int]) -> dict[str, tuple[str, ...]]:
        """Return the classes that each assigned rater annotated in some units, by name; empty for no object."""
        chosen, table = sorted(units), self.annotations
        given: dict[str, tuple[str, ...]] = {}
        rows = np.array(sorted(row for unit in chosen for row in self._rows[unit]), dtype=np.intp)
        for rater, name in enumerate(table.raters.tolist()):
            if (self.units.values[chosen, rater] != NOT_ASSIGNED).any():
                own = table.category[rows[table.rater[rows] == rater]]
                given[name] = tuple(table.categories[own].tolist())
        return given


def raters_in(entries: Iterable[Mapping[str, Any]], order: Sequence[str] = ()) -> list[str]:
    """Return the raters of some queue entries, in a given order; raters that are not listed come last."""
    there = dict.fromkeys(rater for entry in entries for rater in entry["assigned"])
    return [*(rater for rater in order if rater in there), *(rater for rater in there if rater not in order)]
