"""Decisions of people about units in dispute: checked, written so that none is lost, read, carried over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bson import ObjectId

from kalos_core.decisions import Decision
from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.database import collection, journaled, now, reload_samples
from kalos_core.fiftyone.deciding.kinds import SPLIT, DecidableRun, decidable_runs, deciding_of, load_decidable
from kalos_core.fiftyone.deciding.units import MatchedUnits
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from kalos_core.fiftyone.kinds.agreement.values import DECIDED, OPEN, WAITING, open_decisions
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.table import CARRIED
from kalos_core.fiftyone.runs.upkeep import writing_beside

STATES = {"skip": OPEN, "guideline": WAITING}
"""How far a unit is after a decision; `DECIDED` after all others."""


def decide(
    samples: Any,
    key: str,
    labels: Sequence[str],
    decision: str,
    rater: str | None = None,
    note: str = "",
    who: str = "",
    *,
    category: str | None = None,
    sample_id: str | None = None,
) -> Decision:
    """Decide about a unit of an agreement, a region or image-level labels in dispute; no label is changed.

    Only its sample is read.

    The decision is added to all that was decided before, so that several people can decide at once. Of the decisions
    about a unit the latest counts: ``skip`` takes an earlier one back, so that the unit is open again; with
    ``guideline`` it waits for an answer, which is neither open (it does not come up again) nor decided, until somebody
    decides otherwise. The run does not become stale.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement of objects or of image-level labels, or of a run on pixels that wrote its regions in dispute
        (``regions=True``).
    labels : sequence of str
        Ids of labels of one unit (of a region: that of its label in ``<key>_regions``; of image-level labels: those of
        `disputed_units`, one for an image and a question), or of a whole and its parts.
        The decision is of all labels of the unit; ``whole`` and ``parts``, and labels of several units, of the whole
        and all of its parts.
    decision : name in `DECISIONS`, of image-level labels in `LABEL_DECISIONS`
    rater : str, optional
        With ``take``: who is right, also by having nothing there.
    note, who : str
    category : str, optional
        With ``label``: which label of the question is right.
    sample_id : str, optional
        Of the labels' sample, which is looked for without it.

    Returns
    -------
    Decision
        As it was stored: with the ids of all labels of the unit, and when.

    Raises
    ------
    InputError
        For labels that the run did not match, or of several units that are no whole and its parts; for a rater who was
        not assigned to the unit; and for ``whole`` and ``parts`` where there is neither.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement
    >>> dataset, box = fo.Dataset(), [0.1, 0.1, 0.5, 0.5]
    >>> cat, dog = (fo.Detection(label=name, bounding_box=box) for name in ("cat", "dog"))
    >>> _ = dataset.add_sample(
    ...     fo.Sample("a.jpg", ann=fo.Detections(detections=[cat]), bob=fo.Detections(detections=[dog]))
    ... )
    >>> _ = compute_agreement(dataset, "first", raters=("ann", "bob"), assigned="all")
    >>> decide(dataset, "first", [cat.id], "take", "bob", "a tail").labels == (cat.id, dog.id)
    True
    >>> dataset.first()["first_disputes"], decisions(dataset, "first")[0].note
    (0, 'a tail')
    >>> dataset.delete()
    """
    asked = Decision(_given(labels), decision, rater, note, who, category=category)
    return _decide(samples, key, labels, asked, sample_id)


class DecidedMeanwhile(InputError):
    """Somebody decided about a unit since whoever decides now has seen it."""


def decide_as_seen(samples: Any, key: str, sample_id: str, asked: Decision, seen: datetime | None) -> Decision:
    """Decide about a unit, unless somebody has decided otherwise since it was shown.

    The same decision again, such as one whose answer was lost, is the one that is stored.

    Parameters
    ----------
    samples, key, sample_id
        As in `decide`.
    asked : Decision
        With ids of labels of one unit, or of a whole and its parts.
    seen : datetime, optional
        When the decision was made that was shown; None where there was none.

    Raises
    ------
    DecidedMeanwhile
        If it was not the latest any more.
    """
    return _decide(samples, key, asked.labels, asked, sample_id, lambda last: _as_seen(last, asked, seen))


def _as_seen(last: Decision | None, asked: Decision, seen: datetime | None) -> Decision | None:
    """The decision if it is made already; None where it is to be made."""
    if (last.when if last else None) == seen:
        return None
    if last is not None and _content(last) == _content(asked):
        return last
    raise DecidedMeanwhile("Somebody has decided about this unit meanwhile")


def _content(decision: Decision) -> tuple[Any, ...]:
    return decision.decision, decision.rater, decision.note, decision.who, decision.category


def _given(labels: Sequence[str]) -> tuple[str, ...]:
    return (labels,) if isinstance(labels, str) else tuple(labels)


Made = Callable[[Decision | None], Decision | None]
"""The latest decision about a unit -> what stands for the one that is to be made; None where it is to be added."""


def _decide(
    samples: Any,
    key: str,
    labels: Sequence[Any],
    asked: Decision,
    sample_id: str | None,
    is_made: Made = lambda _: None,
) -> Decision:
    run = load_decidable(samples, key)
    given = _given(labels)
    found = _sample_of(samples, run, given) if sample_id is None else sample_id
    matched = deciding_of(samples, run).of_sample(found)
    made = replace(asked, labels=_labels_of(matched, asked, run.key))
    for unit in matched.units_of(map(str, made.labels)):
        deciding_of(samples, run).check(made, matched.questions.get(int(matched.number[unit]), ""))
    with explained(samples, "nothing is decided"), writing_beside(samples, run.key):
        (stored,) = add(samples, run, found, matched, [made], is_made)
    return stored


def decisions(samples: Any, key: str, *, history: bool = False) -> list[Decision]:
    """What was decided about the units of an agreement, the earliest first.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement.
    history : bool
        All that was ever decided, in place of the latest about each unit.
    """
    found = [entry for _, stored in stored_decisions(samples, key) for entry in (stored if history else latest(stored))]
    return [decision_of(entry) for entry in sorted(found, key=lambda entry: entry["when"])]


def stored_decisions(samples: Any, key: str) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    """Sample id and all decisions about its units, as they are stored; of the samples that have any."""
    field = load_decidable(samples, key).names.decisions
    for document in collection(samples).find({f"{field}.0": {"$exists": True}}, {field: True}):
        yield str(document["_id"]), document[field]
    load_decidable(samples, key)  # says so if somebody renamed or deleted the run while they were read


@dataclass(frozen=True)
class CarriedDecisions:
    """What `carry_decisions` did: the decisions that the new run has, and those it cannot have."""

    carried: tuple[Decision, ...]
    left: tuple[Decision, ...]


def carry_decisions(samples: Any, from_key: str, to_key: str) -> CarriedDecisions:
    """Give an agreement the decisions of another one that read the same labels, with their history.

    A decision is carried over where its labels are units of the new run, too. Where labels are gone, or are in other
    units now, it is left with the old run, and so is all that it had replaced: somebody has to decide again. What the
    new run has already is not added twice. No label is read.

    Returns
    -------
    CarriedDecisions
        Of the decisions that count.
    """
    run = load_decidable(samples, to_key)
    matched = deciding_of(samples, run).of_all()
    known = {(one.labels, one.when) for one in decisions(samples, to_key, history=True)}
    carried: list[Decision] = []
    left: list[Decision] = []
    for sample_id, stored in list(stored_decisions(samples, from_key)):
        gone: set[str] = set()
        kept = []
        for one in map(decision_of, reversed(stored)):
            labels = [str(key) for key in one.labels]
            if matched.are_units(labels) and gone.isdisjoint(labels):
                kept.append(one)
            else:
                gone.update(labels)
        count = [decision_of(entry) for entry in latest(stored)]
        carried += [one for one in count if one in kept]
        left += [one for one in count if one not in kept]
        new = [one for one in reversed(kept) if (one.labels, one.when) not in known]
        if new:
            with explained(samples, "some are not carried over"), writing_beside(samples, run.key):
                add(samples, run, sample_id, matched, new)
    return CarriedDecisions(tuple(carried), tuple(left))


def _follow(samples: Any, key: str, new_key: str) -> None:
    if {key, new_key} <= {run.key for run in decidable_runs(samples)}:
        carry_decisions(samples, key, new_key)


CARRIED.append(_follow)


def latest(stored: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of the decisions about the units of one sample those that count, the earliest first, as `resolve` takes them."""
    taken: set[str] = set()
    found = []
    for entry in reversed(stored):
        if taken.isdisjoint(entry["labels"]):
            taken.update(entry["labels"])
            found.append(entry)
    return found[::-1]


def decision_of(entry: Mapping[str, Any]) -> Decision:
    """A decision that is stored."""
    return Decision(**{**entry, "labels": tuple(entry["labels"])})


def _sample_of(samples: Any, run: DecidableRun, labels: Sequence[str]) -> str:
    places = deciding_of(samples, run).places(labels)
    found = collection(run.view).find_one({"$or": places}, {"_id": True}) if places else None
    if found is None:
        raise InputError(f"labels: expected ids of labels that the run {run.key!r} matched, got {_shown(labels)}")
    return str(found["_id"])


def _labels_of(matched: MatchedUnits, asked: Decision, run_key: str) -> tuple[str, ...]:
    """All labels that a decision is of, those that were named first."""
    unknown = [key for key in asked.labels if key not in matched.rows_of]
    if unknown:
        raise InputError(
            f"labels: expected ids of labels of one sample that the run {run_key!r} matched, got {_shown(unknown)}"
        )
    units = matched.units_of(map(str, asked.labels))
    if len(units) > 1 or asked.decision in SPLIT:
        together = matched.together(units)
        if len(set(matched.group[sorted(units)])) > 1:
            raise InputError(
                f"labels: expected those of one unit, or of a whole and its parts, got {_shown(asked.labels)} "
                f"of {len(units)} units"
            )
        units = set(together)
    if asked.decision in SPLIT and not is_split(matched, units):
        raise InputError(
            f"decision: expected one other than {asked.decision!r} where no rater has a whole and another its parts"
        )
    raters = list(matched.values(units))
    if asked.rater is not None and asked.rater not in raters:
        raise InputError(
            f"rater: expected one who was assigned to this unit, {listed(map(repr, raters), 20)}, got {asked.rater!r}"
        )
    return tuple(dict.fromkeys([*map(str, asked.labels), *matched.labels(units)]))


def is_split(matched: MatchedUnits, units: Iterable[int]) -> bool:
    """Whether one rater has one annotation in some units and another several."""
    counts = {len(classes) for classes in matched.values(units).values()}
    return 1 in counts and max(counts, default=0) > 1


def _shown(labels: Iterable[object]) -> str:
    return listed(map(repr, labels), 5)


def add(
    samples: Any,
    run: DecidableRun,
    sample_id: str,
    matched: MatchedUnits,
    made: Sequence[Decision],
    is_made: Made = lambda _: None,
) -> list[Decision]:
    """Add decisions to a sample, with the states of its units: one step, done again where somebody was quicker.

    `is_made` is asked with the latest decision about the unit of the first one, each time.
    """
    names, stored = run.names, collection(samples)
    where = {"_id": ObjectId(sample_id)}
    while True:
        document = stored.find_one(where, {names.queue: True, names.decisions: True})
        if document is None or document.get(names.decisions) is None:
            load_decidable(samples, run.key)  # says so if the run is gone
            raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
        before, timed = document[names.decisions], [replace(one, when=one.when or now()) for one in made]
        counts = [decision_of(entry) for entry in latest(before)]
        last = next((one for one in counts if not set(one.labels).isdisjoint(made[0].labels)), None)
        if found := is_made(last):
            return [found]
        entries = [{**vars(one), "labels": list(one.labels)} for one in timed]
        states = _states(matched, [*before, *entries])
        queue = [{**entry, "state": states.get(entry["unit"], OPEN)} for entry in document[names.queue]]
        answer = journaled(stored).update_one(
            {**where, names.decisions: {"$size": len(before)}},  # nothing is ever taken out of it
            {
                "$push": {names.decisions: {"$each": entries}},
                "$set": {names.queue: queue, names.disputes: open_decisions(queue)},
            },
        )
        if answer.matched_count:
            reload_samples(samples)
            return timed


def _states(matched: MatchedUnits, stored: Sequence[Mapping[str, Any]]) -> dict[int, str]:
    return {
        int(matched.number[unit]): STATES.get(entry["decision"], DECIDED)
        for entry in latest(stored)
        for unit in matched.units_of(entry["labels"])
    }
