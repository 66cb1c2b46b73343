"""Queue of units in dispute: the next sample, its units, the number of open decisions, and views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bson import ObjectId
from fiftyone import ViewField as F

from kalos_core.decisions import Decision
from kalos_core.errors import InputError, check_whole, listed, lookup, repr_of
from kalos_core.fiftyone.dataset.database import check_columns, collection, stored_sample
from kalos_core.fiftyone.deciding.decide import decision_of, is_split, latest
from kalos_core.fiftyone.deciding.kinds import DecidableRun, deciding_of, load_decidable
from kalos_core.fiftyone.deciding.stored import decisions_of, queue_of
from kalos_core.fiftyone.deciding.units import MatchedUnits
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun
from kalos_core.fiftyone.kinds.agreement.values import DECIDED, OPEN, WAITING

MOST_LABELS = 150
"""Maximum number of ids in a view. The App sends them with every request: less than 10 KB."""

QUEUED = {OPEN: "Not decided", WAITING: "Waiting for the guideline", DECIDED: "Decided"}
"""State of a unit in dispute -> text for users."""


def next_dispute(
    samples: Any, key: str, after: str | None = None, category: str | None = None, rater: str | None = None
) -> str | None:
    """Return the id of the next sample with open decisions, lowest agreement first; None if none is left.

    This is an indexed query on values that the run stored: it takes milliseconds at any size.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an agreement run on objects or image-level labels, or of a run on pixels that wrote its regions in
        dispute.
    after : str, optional
        Id of the sample that was seen last. The queue wraps around at its end, possibly to the same sample.
    category : str, optional
        Only units to which a rater gave this class.
    rater : str, optional
        Only units where this rater differs from the majority, or where there is no majority.
    """
    run = load_decidable(samples, key)
    names, stored, measure = run.names, collection(samples), deciding_of(samples, run).measure
    wanted = {names.disputes: {"$gt": 0}, names.queue: {"$elemMatch": _wanted(run, OPEN, category, rater)}}
    if category is None and rater is None:
        del wanted[names.queue]  # the index on open decisions is enough
    parts: list[dict[str, Any]] = [wanted]
    if after is not None:
        parts = [*({**wanted, **part} for part in _behind(samples, run, after)["$or"]), wanted]
    order = [(measure, 1), ("_id", 1)]
    found = (stored.find_one(part, {"_id": True}, sort=order) for part in parts)
    return next((str(document["_id"]) for document in found if document is not None), None)


@dataclass(frozen=True)
class DisputedUnit:
    """A unit in dispute, or a whole and its parts, as the run matched it, with its current labels.

    Parameters
    ----------
    labels : tuple of str
        Ids of all its labels, as `decide` takes them; empty if all of them were deleted.
    values : dict
        Assigned rater -> classes of their annotations; empty for no object.
    decisions : tuple of str
        Possible decisions, from `DECISIONS` or `LABEL_DECISIONS`.
    decision : Decision or None
        The latest decision.
    state : str
        "open"; "waiting" for the guideline; or "decided".
    units : tuple of int
        Numbers of the units in the run; several for a whole and its parts.
    against : tuple of str
        Raters who differ from the majority, or all raters if there is no majority.
    question : str
        Question, for image-level labels.
    said : dict
        Rater -> comparison of their answer with the others, for image-level labels.
    """

    labels: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    decisions: tuple[str, ...]
    decision: Decision | None
    state: str
    units: tuple[int, ...]
    against: tuple[str, ...]
    question: str = ""
    said: dict[str, str] = field(default_factory=dict)

    def fits(self, category: str | None = None, rater: str | None = None) -> bool:
        """Return whether it is one of the units that `next_dispute` looks for."""
        given = {name for of_rater in self.values.values() for name in of_rater}
        return category in {None, *given} and rater in {None, *self.against}


def disputed_units(samples: Any, key: str, sample_id: str) -> list[DisputedUnit]:
    """Return the units in dispute of a sample, including decided ones, in the order to decide them.

    Units come first whose class has the largest share of all disputes of the run. Only this sample is read.

    Raises
    ------
    NotInRun
        If the sample is not part of the run.
    """
    run = load_decidable(samples, key)
    return disputes_of(samples, run, sample_id, deciding_of(samples, run).of_sample(sample_id))


def disputes_of(samples: Any, run: DecidableRun, sample_id: str, matched: MatchedUnits) -> list[DisputedUnit]:
    """Return the units in dispute as `disputed_units` does, for units of a sample that were already read."""
    names, deciding = run.names, deciding_of(samples, run)
    stored = stored_sample(samples, sample_id, names.queue, names.decisions)
    if stored.get(names.queue) is None:
        raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
    queue, before = queue_of(stored, run), decisions_of(stored, run)
    code = {number: unit for unit, number in enumerate(matched.number.tolist())}
    made = {unit: entry for entry in latest(before) for unit in matched.units_of(entry["labels"])}
    seen: set[int] = set()
    found = []
    for entry in queue:
        unit = code.get(entry["unit"])
        if unit is None:
            found.append(DisputedUnit((), {}, (), None, entry["state"], (entry["unit"],), tuple(entry["raters"])))
        elif unit not in seen:
            units = matched.together([unit])
            together = units if is_split(matched, units) else [unit]
            seen.update(together)
            entries = [other for other in queue if code.get(other["unit"]) in together]
            states = [other["state"] for other in entries]
            found.append(
                DisputedUnit(
                    labels=tuple(matched.labels(together)),
                    values=matched.values(together),
                    decisions=deciding.offered(entry.get("question", ""), len(together) > 1),
                    decision=decision_of(made[unit]) if unit in made else None,
                    state=next(state for state in QUEUED if state in states),
                    units=tuple(matched.number[together].tolist()),
                    against=tuple(dict.fromkeys(rater for other in entries for rater in other["raters"])),
                    question=entry.get("question", ""),
                    said=deciding.said(entry),
                )
            )
    return found


@dataclass(frozen=True)
class DisputeCount:
    """Number of decisions: ``all`` is the sum of ``decided``, ``waiting`` (for the guideline) and ``open``.

    A whole and its parts count as one decision, as in `decide`.
    """

    all: int
    decided: int
    waiting: int
    open: int


def count_disputes(samples: Any, key: str) -> DisputeCount:
    """Count the decisions that a run needs, by state; the database counts them."""
    queue = load_decidable(samples, key).names.queue
    is_open, is_waiting = (_together(queue, state) for state in (OPEN, WAITING))
    waiting = {"$size": {"$setDifference": [is_waiting, is_open]}}
    of_sample = {"all": {"$size": _together(queue)}, "open": {"$size": is_open}, "waiting": waiting}
    stages = [
        {"$project": {queue: True}},
        {"$match": {f"{queue}.0": {"$exists": True}}},
        {"$project": of_sample},
        {"$group": {"_id": None, **{name: {"$sum": f"${name}"} for name in of_sample}}},
    ]
    found = next(iter(collection(samples).aggregate(stages)), dict.fromkeys(of_sample, 0))
    decided = found["all"] - found["open"] - found["waiting"]
    return DisputeCount(found["all"], decided, found["waiting"], found["open"])


def _together(queue: str, state: str | None = None) -> dict[str, Any]:
    """Return an expression for the distinct decisions of a sample: all, or those with a unit in a state."""
    entries: Any = f"${queue}"
    if state is not None:
        entries = {"$filter": {"input": entries, "as": "entry", "cond": {"$eq": ["$$entry.state", state]}}}
    return {"$setUnion": {"$map": {"input": entries, "as": "entry", "in": "$$entry.together"}}}


def view_of_queue(
    samples: Any, key: str, category: str | None = None, rater: str | None = None, state: str = OPEN
) -> Any:
    """Return the samples with units in dispute, lowest agreement first, with only the labels of these units.

    Parameters
    ----------
    samples, key, category, rater
        As in `next_dispute`.
    state : str
        "open", "waiting" or "decided".
    """
    run = load_decidable(samples, key)
    view, names, wanted = run.view, run.names, _wanted(run, state, category, rater)
    view = view.mongo([{"$match": {names.queue: {"$elemMatch": wanted}}}])
    view = view.sort_by([(deciding_of(samples, run).measure, 1), ("id", 1)])
    of_state = F(f"${names.queue}").filter(F("state") == state)
    for path in deciding_of(view, run).paths:
        view = view.filter_labels(path, of_state.map(F("unit")).contains([F(names.unit)]), only_matches=False)
    return view


@dataclass(frozen=True)
class QueuedImage:
    """An image of the queue, its alpha (for regions of pixels, its mean F1), and its number of ``open`` decisions."""

    sample_id: str
    file: str
    alpha: float | None
    open: int


def queued_images(
    samples: Any,
    key: str,
    count: int,
    category: str | None = None,
    rater: str | None = None,
    *,
    after: str | None = None,
) -> list[QueuedImage]:
    """Return the next images of the queue, in the order of `next_dispute`; no label is read.

    Parameters
    ----------
    samples, key, category, rater
        As in `next_dispute`; only matching units are counted.
    count : int
        Maximum number of images.
    after : str, optional
        Only images after this sample in the queue, which itself may be decided.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement
    >>> dataset, box = fo.Dataset(), [0.1, 0.1, 0.5, 0.5]
    >>> cat, dog = (fo.Detections(detections=[fo.Detection(label=n, bounding_box=box)]) for n in ("cat", "dog"))
    >>> _ = dataset.add_sample(fo.Sample("/a.jpg", ann=cat, bob=dog))
    >>> _ = compute_agreement(dataset, "first", raters=("ann", "bob"), assigned="all")
    >>> [(image.file, image.alpha, image.open) for image in queued_images(dataset, "first", 25)]
    [('a.jpg', 0.0, 1)]
    >>> dataset.delete()
    """
    run = load_decidable(samples, key)
    names, wanted = run.names, _wanted(run, OPEN, category, rater)
    fits = [{"$eq": ["$$entry.state", wanted["state"]]}]
    for name in ("classes", "raters"):
        if name in wanted:
            fits.append({"$in": [{"$literal": wanted[name]}, f"$$entry.{name}"]})
    there = {"$filter": {"input": f"${names.queue}", "as": "entry", "cond": {"$and": fits}}}
    distinct = {"$setUnion": {"$map": {"input": there, "as": "entry", "in": "$$entry.together"}}}
    behind = [] if after is None else [{"$match": _behind(samples, run, after)}]
    stages = [
        {"$match": {names.disputes: {"$gt": 0}, names.queue: {"$elemMatch": wanted}}},
        *behind,
        {"$sort": {deciding_of(samples, run).measure: 1, "_id": 1}},
        {"$limit": check_whole(count, "count", 1)},
        {"$project": {"filepath": True, "alpha": f"${deciding_of(samples, run).measure}", "open": {"$size": distinct}}},
    ]
    images = list(collection(samples).aggregate(stages))
    check_columns({"id": [of["_id"] for of in images], "filepath": [of["filepath"] for of in images]})
    return [QueuedImage(str(of["_id"]), Path(of["filepath"]).name, of["alpha"], of["open"]) for of in images]


def _behind(samples: Any, run: DecidableRun, sample_id: str) -> dict[str, Any]:
    """Return a query for the samples after a given one in the queue, where samples without a measure come first."""
    measure, names = deciding_of(samples, run).measure, run.names
    seen = stored_sample(samples, sample_id, measure, names.disputes)
    if seen.get(names.disputes) is None:
        raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
    value = seen[measure]
    greater = {"$ne": None} if value is None else {"$gt": value}
    return {"$or": [{measure: value, "_id": {"$gt": seen["_id"]}}, {measure: greater}]}


def view_of_units(samples: Any, key: str, labels: Sequence[str]) -> Any:
    """Return the samples with some decided units, with only the first `MOST_LABELS` of the given labels.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of a run with units in dispute.
    labels : sequence of str
        Ids of labels of these units, such as those of a row of `training_list`.
    """
    run = load_decidable(samples, key)
    view = run.view
    chosen = list(labels)[:MOST_LABELS]
    fields = list(deciding_of(view, run).paths)
    unknown = [label for label in chosen if fields and not ObjectId.is_valid(label)]
    if unknown:
        raise InputError(f"labels: expected ids of labels, got {listed(map(repr_of, unknown))}")
    decided = {f"{run.names.decisions}.labels": {"$in": chosen}}
    view = view.mongo([{"$match": decided}])
    return view.select_labels(ids=chosen, fields=fields) if fields else view


def _wanted(run: DecidableRun, state: str, category: str | None, rater: str | None) -> dict[str, Any]:
    lookup(QUEUED, state, "state")
    raters = run.metrics["raters"]
    if rater is not None and rater not in raters:
        raise InputError(f"rater: expected one of {listed(map(repr, raters), 20)}, got {rater!r}")
    if category is not None and not isinstance(category, str):
        raise InputError(f"category: expected the name of a class, got {category!r}")
    given = {"classes": category, "raters": rater}
    return {"state": state, **{name: value for name, value in given.items() if value is not None}}
