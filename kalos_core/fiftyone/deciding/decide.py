"""Decisions about units in dispute: check them, write them without loss, read them, and carry them over."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bson import ObjectId

from kalos_core.decisions import Decision
from kalos_core.errors import InputError, check_iterable, check_name, listed
from kalos_core.fiftyone.dataset.database import collection, journaled, now, reload_samples
from kalos_core.fiftyone.deciding.kinds import SPLIT, DecidableRun, decidable_runs, deciding_of, load_decidable
from kalos_core.fiftyone.deciding.stored import decisions_of, queue_of
from kalos_core.fiftyone.deciding.units import MatchedUnits
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from kalos_core.fiftyone.kinds.agreement.values import DECIDED, OPEN, WAITING, open_decisions
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.table import CARRIED
from kalos_core.fiftyone.runs.upkeep import writing_beside

STATES = {"skip": OPEN, "guideline": WAITING}
"""Decision -> state of the unit afterwards; `DECIDED` for all other decisions."""


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
    """Decide about a unit, region or image-level question in dispute; no label is changed.

    Only the sample of the unit is read.

    The decision is added to all earlier ones, so that several users can decide at the same time. The latest decision
    about a unit counts. ``skip`` undoes an earlier decision and reopens the unit. With ``guideline`` the unit waits for
    an answer: it is neither open (it does not come up again) nor decided, until a later decision. The run does not
    become stale.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an agreement run on objects or image-level labels, or of a run on pixels that wrote its regions in
        dispute (``regions=True``).
    labels : sequence of str
        Ids of labels of one unit, or of a whole and its parts. For a region, the id of its label in ``<key>_regions``;
        for image-level labels, an id from `disputed_units`, one per image and question. The decision applies to all
        labels of the unit. ``whole`` and ``parts``, and labels of several units, apply to the whole and all its parts.
    decision : name in `DECISIONS`, for image-level labels in `LABEL_DECISIONS`
    rater : str, optional
        With ``take``: the rater who is right, possibly by having nothing there.
    note, who : str
    category : str, optional
        With ``label``: the correct label of the question.
    sample_id : str, optional
        Id of the labels' sample; searched for if not given.

    Returns
    -------
    Decision
        The stored decision, with the ids of all labels of the unit and its time.

    Raises
    ------
    InputError
        If the run did not match the labels, or they belong to several units that are not a whole and its parts; if the
        rater was not assigned to the unit; or for ``whole`` and ``parts`` if no rater has a whole that others divided.

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
    """Another decision about a unit was stored after the unit was shown."""


def decide_as_seen(samples: Any, key: str, sample_id: str, asked: Decision, seen: datetime | None) -> Decision:
    """Decide about a unit, unless a different decision was stored since it was shown.

    If the same decision was already stored, such as by a request whose response was lost, that one is returned.

    Parameters
    ----------
    samples, key, sample_id
        As in `decide`.
    asked : Decision
        With ids of labels of one unit, or of a whole and its parts.
    seen : datetime, optional
        Time of the decision that was shown; None if there was none.

    Raises
    ------
    DecidedMeanwhile
        If the decision that was shown is no longer the latest.
    """
    return _decide(samples, key, asked.labels, asked, sample_id, lambda last: _as_seen(last, asked, seen))


def _as_seen(last: Decision | None, asked: Decision, seen: datetime | None) -> Decision | None:
    """Return the stored decision if it is the same; None if the decision must be added."""
    if (last.when if last else None) == seen:
        return None
    if last is not None and _content(last) == _content(asked):
        return last
    raise DecidedMeanwhile("Another person decided about this unit in the meantime")


def _content(decision: Decision) -> tuple[Any, ...]:
    return decision.decision, decision.rater, decision.note, decision.who, decision.category


def _given(labels: Sequence[str]) -> tuple[str, ...]:
    given = [labels] if isinstance(labels, str) else check_iterable(labels, "labels", "ids of labels")
    return tuple(check_name(label, "labels") for label in given)


Made = Callable[[Decision | None], Decision | None]
"""Function from the latest decision about a unit to the stored one to return; None if the new one must be added."""


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
    """Return the decisions about the units of a run, the earliest first.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of a run with units in dispute.
    history : bool
        Whether to return all decisions ever made, instead of the latest about each unit.
    """
    found = [entry for _, stored in stored_decisions(samples, key) for entry in (stored if history else latest(stored))]
    return [decision_of(entry) for entry in sorted(found, key=lambda entry: entry["when"])]


def stored_decisions(samples: Any, key: str) -> Iterable[tuple[str, list[dict[str, Any]]]]:
    """Yield the sample id and all stored decisions of each sample that has any."""
    run = load_decidable(samples, key)
    field = run.names.decisions
    for document in collection(samples).find({f"{field}.0": {"$exists": True}}, {field: True}):
        yield str(document["_id"]), decisions_of(document, run)
    load_decidable(samples, key)  # raises if the run was renamed or deleted meanwhile


@dataclass(frozen=True)
class CarriedDecisions:
    """Result of `carry_decisions`: decisions carried over to the new run, and decisions left behind."""

    carried: tuple[Decision, ...]
    left: tuple[Decision, ...]


def carry_decisions(samples: Any, from_key: str, to_key: str) -> CarriedDecisions:
    """Copy the decisions of a run, with their history, to another run on the same labels.

    A decision is carried over if its labels are units of the new run, too. If labels were deleted, or belong to other
    units now, the decision and all earlier ones that it replaced stay with the old run; the unit must be decided again.
    Decisions that the new run already has are not added twice. No label is read.

    Returns
    -------
    CarriedDecisions
        Only the decisions that count.
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
    """Return the decisions of one sample that count, the earliest first, as `resolve` expects them."""
    taken: set[str] = set()
    found = []
    for entry in reversed(stored):
        if taken.isdisjoint(entry["labels"]):
            taken.update(entry["labels"])
            found.append(entry)
    return found[::-1]


def decision_of(entry: Mapping[str, Any]) -> Decision:
    """Return a stored decision as a `Decision`."""
    return Decision(**{**entry, "labels": tuple(entry["labels"])})


def _sample_of(samples: Any, run: DecidableRun, labels: Sequence[str]) -> str:
    found = deciding_of(samples, run).sample_of(labels)
    if found is None:
        raise InputError(f"labels: expected ids of labels that the run {run.key!r} matched, got {_shown(labels)}")
    return found


def _labels_of(matched: MatchedUnits, asked: Decision, run_key: str) -> tuple[str, ...]:
    """Return all labels that a decision applies to, the given ones first."""
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
            f"decision: expected another than {asked.decision!r}, which needs a whole of one rater and its parts"
        )
    raters = list(matched.values(units))
    if asked.rater is not None and asked.rater not in raters:
        raise InputError(
            f"rater: expected one who was assigned to this unit, {listed(map(repr, raters), 20)}, got {asked.rater!r}"
        )
    return tuple(dict.fromkeys([*map(str, asked.labels), *matched.labels(units)]))


def is_split(matched: MatchedUnits, units: Iterable[int]) -> bool:
    """Return whether one rater has a single annotation in some units where another has several."""
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
    """Add decisions to a sample and update the states of its units atomically; retry if another user was faster.

    `is_made` is called on each attempt with the latest decision about the unit of the first one.
    """
    names, stored = run.names, collection(samples)
    where = {"_id": ObjectId(sample_id)}
    while True:
        document = stored.find_one(where, {names.queue: True, names.decisions: True})
        if document is None or document.get(names.decisions) is None:
            load_decidable(samples, run.key)  # raises if the run was deleted
            raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
        before, timed = decisions_of(document, run), [replace(one, when=one.when or now()) for one in made]
        counts = [decision_of(entry) for entry in latest(before)]
        last = next((one for one in counts if not set(one.labels).isdisjoint(made[0].labels)), None)
        if found := is_made(last):
            return [found]
        entries = [{**vars(one), "labels": list(one.labels)} for one in timed]
        states = _states(matched, [*before, *entries])
        queue = [{**entry, "state": states.get(entry["unit"], OPEN)} for entry in queue_of(document, run)]
        answer = journaled(stored).update_one(
            {**where, names.decisions: {"$size": len(before)}},  # decisions are never removed
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
