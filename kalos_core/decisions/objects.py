"""Units of objects in dispute, and the annotations that follow from decisions about them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, check_agreement
from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import rows_by_group
from kalos_core.consensus.fusing import Members, fused_annotations
from kalos_core.decisions.decision import DECISIONS, OPEN, UNDECIDED, Decision, Undecided
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, lookup, repr_of
from kalos_core.options import checked
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED, Units
from kalos_core.results import Result
from kalos_core.similarity import get_similarity
from kalos_core.variation import TOUCHING, Variations, variations

if TYPE_CHECKING:
    import pandas as pd

DIVIDED = ("one object", "several objects")
"""Decision against raters who divided the same class into objects differently."""

NAME = "resolved"
"""Name of the rater that holds resolved annotations."""


class Matched(Protocol):
    """Annotations in units: an `Agreement`, or the stored part of one."""

    @property
    def annotations(self) -> Annotations:
        """N annotations."""

    @property
    def unit_of(self) -> NDArray[np.intp]:
        """(N,) unit of each annotation."""

    @property
    def units(self) -> Units:
        """Units, with the value from each rater."""


@dataclass(frozen=True, eq=False, repr=False)
class Disputes(Result):
    """D units that raters disagree about: not all annotated it, or they gave it different classes.

    Figures: ``"images"``.

    Parameters
    ----------
    unit, image : (D,) int
        Codes, in the order in which to decide.
    agreement : Agreement

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> disputes(agreement(Annotations.from_rows(rows, raters=["ann", "bob"], assigned="all"))).to_pandas().to_dict(
    ...     "list"
    ... )
    {'image': [1], 'alpha': [0.0], 'unit': [0], 'ann': ['cat'], 'bob': ['no object']}
    """

    _call = "disputes(agreement(annotations))"

    unit: NDArray[np.intp]
    image: NDArray[np.intp]
    agreement: Agreement

    def __len__(self) -> int:
        return len(self.unit)

    def labels(self, number: int) -> list[Any]:
        """Return the ids of the annotations of one disputed unit, by its position."""
        found: list[Any] = self.agreement.annotations.id[self.agreement.unit_of == self.unit[number]].tolist()
        return found

    @property
    def headline(self) -> str:
        """Finding, in words."""
        images = len(np.unique(self.image))
        return (
            f"{len(self):,} of {number_of(len(self.agreement.units), 'unit')} in dispute, on "
            f"{number_of(images, 'image')}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per dispute: image, its alpha, and each rater's value for the unit ("" if not assigned)."""
        import pandas as pd

        annotations, values = self.agreement.annotations, self.agreement.units.values[self.unit]
        names = np.append(annotations.categories, ["no object", ""])  # -1 and -2 count from the end
        place = np.where(values == NO_OBJECT, len(names) - 2, np.where(values == NOT_ASSIGNED, len(names) - 1, values))
        columns = {f"{name}": names[place[:, rater]] for rater, name in enumerate(annotations.raters)}
        alpha = self.agreement.image_alpha[self.image]
        return pd.DataFrame({"image": annotations.images[self.image], "alpha": alpha, "unit": self.unit, **columns})


@checked
def disputes(agreement: Agreement, decisions: Iterable[Decision] = ()) -> Disputes:
    """Find the undecided units in dispute, those on the images with the lowest alpha first.

    Within an image, units whose class has the most disputes come first.

    Parameters
    ----------
    agreement : Agreement
    decisions : iterable of Decision
        A later decision overrides earlier ones.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in [("ann", "cat"), ("bob", "dog")]
    ... ]
    >>> result = agreement(Annotations.from_rows(rows))
    >>> open_ = disputes(result)
    >>> (
    ...     open_.labels(0),
    ...     len(disputes(result, [Decision((1, 2), "none")])),
    ...     len(disputes(result, [Decision((1,), "skip")])),
    ... )
    ([1, 2], 0, 1)
    """
    check_agreement(agreement)
    majority = _majority(agreement)
    count = np.bincount(majority[_in_dispute(agreement)], minlength=len(agreement.annotations.categories))
    unit = np.flatnonzero(_still_open(agreement, _settled(agreement, decisions)))
    image, category = agreement.units.image[unit], majority[unit]
    order = np.lexsort((unit, -count[category], image, np.nan_to_num(agreement.image_alpha[image], nan=np.inf)))
    return Disputes(unit[order], image[order], agreement)


def joined_units(found: Variations, unit_of: NDArray[np.intp], units: int) -> NDArray[np.intp]:
    """Return (U,) a group number for each unit; a whole and its parts form one group, other units are alone.

    Examples
    --------
    >>> from kalos_core import Annotations, variations
    >>> boxes = [("ann", [0, 0, 8, 4]), ("bob", [0, 0, 4, 4]), ("bob", [4, 0, 4, 4]), ("bob", [50, 0, 4, 4])]
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
    >>> found = variations(Annotations.from_rows(rows), threshold=0.6)
    >>> joined_units(found, np.arange(4), 4).tolist()
    [0, 0, 0, 1]
    """
    finding, row, other = found.members()
    joined = found.is_merged[finding]
    ends = unit_of[row[joined]], unit_of[other[joined]]
    edges = scipy.sparse.csr_array((np.ones(len(ends[0])), ends), shape=(units, units))
    return np.asarray(scipy.sparse.csgraph.connected_components(edges, directed=False)[1], dtype=np.intp)


def decided_together(agreement: Agreement) -> NDArray[np.intp]:
    """Return (U,) the first unit of those that are decided together: a whole with its parts, or the unit alone.

    Units are decided together if one rater has one annotation in them and another has several.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> boxes = [("ann", [0, 0, 8, 4]), ("bob", [0, 0, 4, 4]), ("bob", [4, 0, 4, 4]), ("bob", [50, 0, 4, 4])]
    >>> rows = [{"image": 1, "rater": rater, "category": "cat", "box": box} for rater, box in boxes]
    >>> decided_together(agreement(Annotations.from_rows(rows), threshold=0.6)).tolist()
    [0, 0, 0, 3]
    """
    table, how, units = agreement.annotations, agreement.configuration, len(agreement.units)
    pairs = agreement.pairs if agreement.pairs.floor <= TOUCHING else None  # parts may be below the threshold
    found = variations(table, get_similarity(how.measure), how.threshold, pairs=pairs)
    group = joined_units(found, agreement.unit_of, units)
    own = np.bincount(
        group[agreement.unit_of] * len(table.raters) + table.rater, minlength=units * len(table.raters)
    ).reshape(units, len(table.raters))
    divided = (own == 1).any(axis=1) & (own > 1).any(axis=1)
    _, first = np.unique(group, return_index=True)
    every = np.arange(units)
    return np.where(divided[group], first[group], every)


@dataclass(frozen=True, eq=False, repr=False)
class Resolved(Result):
    """Result of `resolve`: C annotations, U units.

    Figures: ``"origins"``.

    Parameters
    ----------
    annotations : Annotations
        Annotations of one rater, "resolved", on all images; their ids are 1, 2, ...
    origin : (C,) object
        "agreed", a decision of `DECISIONS`, or "undecided" (in dispute, resolved by majority).
    sources : tuple of tuples
        Ids of the source annotations of each.
    note, who : (C,) object
        Note of the decision, and who decided; "" if there is none.
    open_units : (K,) int
        Units in dispute without a decision.
    decided : int
        Number of units that were decided.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = resolve(agreement(Annotations.from_rows(rows)))
    >>> found.origin.tolist(), found.sources, found.open_units.tolist(), found.decided
    (['agreed'], ((1, 2),), [], 0)
    """

    _call = "resolve(agreement(annotations))"

    annotations: Annotations
    origin: NDArray[np.object_]
    sources: tuple[tuple[Any, ...], ...]
    note: NDArray[np.object_]
    who: NDArray[np.object_]
    open_units: NDArray[np.intp]
    decided: int

    @property
    def headline(self) -> str:
        """Finding, in words."""
        return (
            f"{number_of(len(self.origin), 'resolved annotation')}: {number_of(self.decided, 'unit')} decided, "
            f"{len(self.open_units):,} open"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per annotation, with its origin, the note and who decided."""
        return self.annotations.to_pandas().assign(origin=self.origin, note=self.note, decided_by=self.who)

    def fields(self) -> dict[str, list[Any]]:
        """Return further fields of each annotation for a COCO file, as the last argument of `write_coco`."""
        texts = {"origin": self.origin.tolist(), "note": self.note.tolist(), "decided_by": self.who.tolist()}
        return {**texts, "sources": list(map(list, self.sources))}


@checked
def resolve(agreement: Agreement, decisions: Iterable[Decision] = (), undecided: Undecided = "majority") -> Resolved:
    """Resolve disputes into one table of annotations, by agreement, then decisions, then majority.

    Parameters
    ----------
    agreement : Agreement
        Defines which annotations are of the same object.
    decisions : iterable of Decision
        A later decision about a unit overrides earlier ones. A decision about a whole and its parts names annotations
        of several units, and applies to all of these.
    undecided : name in `UNDECIDED`
        How to resolve open disputes: keep units that at least half of the assigned raters annotated, or drop all.

    Returns
    -------
    Resolved
        Units with agreement are fused as in `instance_consensus`: mean of boxes, pixel vote for masks and polygons.
        ``take``: the rater's annotations as they are, possibly none. ``consensus``: one annotation per unit, with the
        most frequent class. ``whole``: annotations of the raters with one; ``parts``: those of the raters with several.
        ``both``: one annotation per class, or the whole and its parts.

    Raises
    ------
    InputError
        If an id belongs to no annotation, annotations are of several images, the agreement does not have the rater, or
        no rater has several for ``whole`` or ``parts``.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", "cat", 9), ("bob", "dog", 8)]
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [0, 0, 9, h]} for r, c, h in given]
    >>> result = agreement(Annotations.from_rows(rows))
    >>> found = resolve(result, [Decision((1, 2), "take", "bob", "a tail")])
    >>> names = found.annotations.categories[found.annotations.category]
    >>> names.tolist(), found.annotations.shapes["box"].xywh().tolist(), found.origin.tolist(), found.sources
    (['dog'], [[0.0, 0.0, 9.0, 8.0]], ['take'], ((2,),))
    """
    check_agreement(agreement)
    lookup(UNDECIDED, undecided, "undecided")
    source, settled = agreement.annotations, list(_settled(agreement, decisions))
    for one in settled:
        lookup(DECISIONS, one.decision.decision, "decision")
    made = sorted(_made(agreement, settled, undecided), key=lambda one: (one.unit, one.rows))
    row = np.array([row for one in made for row in one.rows], dtype=np.intp)
    owner = np.repeat(np.arange(len(made)), [len(one.rows) for one in made])
    return Resolved(
        annotations=fused_annotations(
            Members(source, row, owner, len(made), np.ones(len(row))),
            np.array([source.image[one.rows[0]] for one in made], dtype=np.intp),
            np.array([_most_given(source.category[list(one.rows)]) for one in made], dtype=np.intp),
            NAME,
        ),
        origin=object_array([one.origin for one in made]),
        sources=tuple(tuple(source.id[list(one.rows)].tolist()) for one in made),
        note=object_array([one.note for one in made]),
        who=object_array([one.who for one in made]),
        open_units=np.flatnonzero(_still_open(agreement, settled)),
        decided=sum(len(decision.units) for decision in settled),
    )


@checked
def decided_against(agreement: Agreement, decisions: Iterable[Decision]) -> pd.DataFrame:
    """Count how often each rater was decided against, on which classes; use it for training.

    For every decided unit, counts each rater whose annotation was not kept, or who has none although one was kept.

    Returns
    -------
    pandas.DataFrame
        ``rater``, ``category`` (their class, or "no object"), ``decided`` (the classes that were kept, or "no object";
        "one object" or "several objects" if only that differs), ``count``, ``units``: number of decided units assigned
        to the rater, ``rate``: `count` / `units`, and ``labels``: ids of the annotations of the units, for inspection.
        Sorted by descending count.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in [("ann", "cat"), ("bob", "dog")]
    ... ]
    >>> decided_against(agreement(Annotations.from_rows(rows)), [Decision((1,), "take", "bob")]).to_dict("list")
    {'rater': ['ann'], 'category': ['cat'], 'decided': ['dog'], 'count': [1], 'units': [1], 'rate': [1.0], 'labels': \
[[1, 2]]}
    """
    check_agreement(agreement)
    return against_in(agreement, decisions)


def against_in(agreement: Matched, decisions: Iterable[Decision], nothing: str = "no object") -> pd.DataFrame:
    """Compute `decided_against` for any object with units; `nothing` is the name for no annotation."""
    import pandas as pd

    annotations, values = agreement.annotations, agreement.units.values
    names = {NO_OBJECT: nothing, **dict(enumerate(annotations.categories.tolist()))}
    against: dict[tuple[str, str, str], list[list[Any]]] = {}
    asked = dict.fromkeys(annotations.raters.tolist(), 0)
    for decision in _settled(agreement, decisions):
        made = list(_outcomes(agreement, decision))
        kept = {row for one in made for row in one.rows}
        codes = sorted({int(annotations.category[row]) for row in kept})
        classes = (
            [names[code] for code in codes] if decision.decision.category is None else [decision.decision.category]
        )
        decided = ", ".join(classes) or nothing
        for rater, name in enumerate(annotations.raters.tolist()):
            own = decision.rows[annotations.rater[decision.rows] == rater]
            if (values[decision.units, rater] == NOT_ASSIGNED).all():
                continue
            asked[name] += 1
            agrees = bool(len(own)) == bool(classes) and {names[int(code)] for code in annotations.category[own]} <= {
                *classes
            }
            if not agrees or (len(own) and decision.is_split and not kept & set(own.tolist())):
                gave = names[int(annotations.category[own[0]])] if len(own) else names[NO_OBJECT]
                divided = decided == gave and (len(own) > 1) != (len(made) > 1)
                key = (name, gave, DIVIDED[len(made) > 1] if divided else decided)
                against.setdefault(key, []).append(annotations.id[decision.rows].tolist())
    table = pd.DataFrame(
        [
            (
                *key,
                len(found),
                asked[key[0]],
                len(found) / asked[key[0]],
                list(dict.fromkeys(label for labels in found for label in labels)),
            )
            for key, found in against.items()
        ],
        columns=["rater", "category", "decided", "count", "units", "rate", "labels"],
    )
    return table.sort_values(["count", "rater", "category"], ascending=[False, True, True], ignore_index=True)


# ---- implementation ----


@dataclass(frozen=True, eq=False)
class _Settled:
    """Decision that counts: its units, and the rows of all annotations in them."""

    decision: Decision
    units: NDArray[np.intp]
    rows: NDArray[np.intp]
    count: NDArray[np.intp]

    @cached_property
    def is_split(self) -> bool:
        """Whether it is about a whole and its parts."""
        return bool((self.count > 1).any() and (self.count == 1).any())


@dataclass(frozen=True)
class _Outcome:
    """One annotation to keep: its source rows, and the reason."""

    unit: int
    rows: tuple[int, ...]
    origin: str
    note: str = ""
    who: str = ""


def _in_dispute(agreement: Agreement) -> NDArray[np.bool_]:
    """Return (U,) whether units have two different values."""
    values = agreement.units.values
    there = values != NOT_ASSIGNED
    low = np.where(there, values, np.iinfo(values.dtype).max).min(axis=1, initial=np.iinfo(values.dtype).max)
    return np.asarray(np.where(there, values, NOT_ASSIGNED).max(axis=1, initial=NOT_ASSIGNED) > low)


def _still_open(agreement: Agreement, settled: Iterable[_Settled]) -> NDArray[np.bool_]:
    """Return (U,) whether units are in dispute and undecided."""
    found = _in_dispute(agreement)
    for decision in settled:
        found[decision.units] = False
    return found


def _majority(agreement: Agreement) -> NDArray[np.intp]:
    """Return (U,) the most frequent class of each unit; the first of the vocabulary if tied."""
    annotations = agreement.annotations
    votes = np.zeros((len(agreement.units), max(len(annotations.categories), 1)), np.intp)
    np.add.at(votes, (agreement.unit_of, annotations.category), 1)
    return np.asarray(votes.argmax(axis=1))


def _most_given(categories: NDArray[np.intp]) -> int:
    return int(np.bincount(categories).argmax())


def _settled(agreement: Matched, decisions: Iterable[Decision]) -> Iterator[_Settled]:
    """Yield the last decision about each unit, unless it leaves the unit open."""
    annotations, unit_of, made = agreement.annotations, agreement.unit_of, list(decisions)
    wanted = {key for decision in made for key in decision.labels}
    rows_of: dict[Hashable, list[int]] = {}
    for row, key in enumerate(annotations.id.tolist() if wanted else ()):
        if key in wanted:
            rows_of.setdefault(key, []).append(row)
    in_unit = rows_by_group(unit_of) if wanted else []
    taken: set[int] = set()
    found = []
    for decision in reversed(made):
        unknown = [key for key in decision.labels if key not in rows_of]
        if unknown:
            raise InputError(f"labels: expected ids of annotations of this run, got {listed(map(repr_of, unknown), 5)}")
        named = [row for key in decision.labels for row in rows_of[key]]
        if len(set(annotations.image[named].tolist())) > 1:
            raise InputError(
                f"labels: expected annotations of one image, got {listed(map(repr_of, decision.labels), 5)}"
            )
        if decision.rater is not None and decision.rater not in annotations.raters.tolist():
            known = listed(map(repr_of, annotations.raters.tolist()), 20)
            raise InputError(f"rater: expected one of {known}, got {repr_of(decision.rater)}")
        units = np.unique(unit_of[named])
        if taken & set(units.tolist()):
            continue  # overridden by a later decision
        taken |= set(units.tolist())
        if decision.decision in OPEN:
            continue
        rows = np.sort(np.concatenate([in_unit[unit] for unit in units.tolist()]))
        count = np.bincount(annotations.rater[rows], minlength=len(annotations.raters))
        found.append(_Settled(decision, units, rows, count))
        if decision.decision in ("whole", "parts") and not found[-1].is_split:
            raise InputError(
                f"decision: expected labels with one by a rater and several by another for {decision.decision!r}, "
                f"got {listed(map(repr_of, decision.labels), 5)}"
            )
    yield from reversed(found)


def _made(agreement: Agreement, settled: Sequence[_Settled], undecided: str) -> Iterator[_Outcome]:
    """Yield all annotations to keep."""
    unit_of, values = agreement.unit_of, agreement.units.values
    in_dispute, is_decided = _in_dispute(agreement), np.zeros(len(agreement.units), np.bool_)
    for decision in settled:
        is_decided[decision.units] = True
        yield from _outcomes(agreement, decision)
    annotated = np.bincount(unit_of, minlength=len(values))
    by_most = 2 * annotated >= (values != NOT_ASSIGNED).sum(axis=1)
    kept = ~is_decided & (~in_dispute | (by_most & (undecided == "majority")))
    for unit, rows in enumerate(rows_by_group(unit_of, len(values))):
        if kept[unit]:
            yield _Outcome(unit, tuple(rows.tolist()), "undecided" if in_dispute[unit] else "agreed")


def _outcomes(agreement: Matched, settled: _Settled) -> Iterator[_Outcome]:
    """Yield what is kept of a decided unit, or of a whole and its parts."""
    annotations, rows = agreement.annotations, settled.rows
    rater, decision = annotations.rater[rows], settled.decision
    is_whole = settled.count[rater] == 1
    groups: list[NDArray[np.intp]] = []
    if decision.decision == "take":
        groups = [rows[[at]] for at in np.flatnonzero(annotations.raters[rater] == decision.rater)]
    elif decision.decision == "consensus":
        groups = _apart(rows, agreement.unit_of[rows])
    elif decision.decision == "whole":
        groups = [rows[is_whole]]
    elif decision.decision == "parts":
        groups = _apart(rows[~is_whole], agreement.unit_of[rows[~is_whole]])
    elif decision.decision == "both" and settled.is_split:
        groups = [rows[is_whole], *_apart(rows[~is_whole], agreement.unit_of[rows[~is_whole]])]
    elif decision.decision == "both":
        groups = _apart(rows, annotations.category[rows])
    elif decision.decision == "label":
        chosen = rows[annotations.categories[annotations.category[rows]] == decision.category]
        groups = [chosen] if len(chosen) else []
    for group in groups:
        unit = int(agreement.unit_of[group[0]])
        yield _Outcome(unit, tuple(group.tolist()), decision.decision, decision.note, decision.who)


def _apart(rows: NDArray[np.intp], key: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Group rows by key."""
    return [rows[key == value] for value in np.unique(key)]
