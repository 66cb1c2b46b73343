"""Decisions of several people about the same units at once: each is stored, and the latest counts."""

from __future__ import annotations

from typing import Any

import fiftyone as fo

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.deciding.decide import STATES
from kalos_core.fiftyone.kinds.agreement.values import DECIDED
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.kills.acts import NAME
from tests.kills.processes import Place, Process, run
from tests.kills.snapshots import Snapshot, connect, labels_of
from tests.kills.trial import Tally, no_answer

PEOPLE = ("eva", "leo", "mia", "tom")
ANSWERS = ("none", "skip", "consensus", "guideline")
"""Decisions that each person makes about each unit, one after the other."""

IMAGES = 40
"""Images by default."""


def decide_at_once(place: Place, images: int) -> Tally:
    """Let several people decide about all units in dispute of some images; count the decisions that were kept."""
    database = connect(place.uri, place.database)
    database.client.drop_database(place.database)
    ended = run(place, lambda: _analysed(images))
    assert ended.error is None, ended.said
    fields = (*RATERS, "raters", "tags")
    units, before = ended.answer, labels_of(Snapshot.of(database, place.folder), fields)
    every = [Process(place, lambda who=who: no_answer(_decide_all(units, who))) for who in PEOPLE]
    ends = zip(PEOPLE, [one.wait() for one in every], strict=True)
    wrong = [f"{who}: {ended.error}\n{ended.said[-1500:]}" for who, ended in ends if ended.code or ended.error]
    ended = run(place, lambda: _lost(units))
    assert ended.error is None, ended.said
    made, lost = ended.answer
    after = labels_of(Snapshot.of(database, place.folder), fields)
    changed = [f"changed: {key}" for key, value in before.items() if after.get(key) != value]
    tally = Tally("decisions at once", made, wrong=[*wrong, *lost, *changed])
    tally.left["kept"] = made
    database.client.close()
    return tally


def _analysed(images: int) -> list[tuple[str, list[str]]]:
    """Return the sample and the labels of each unit in dispute of a new data set with a run."""
    dataset = fo.Dataset(NAME, persistent=True)
    dataset.add_samples(lively(images), progress=False)
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
    disputed = ((key, kf.disputed_units(dataset, "run", key)) for key in dataset.values("id"))
    return [(key, list(unit.labels)) for key, units in disputed for unit in units]


def _decide_all(units: list[tuple[str, list[str]]], who: str) -> None:
    dataset = fo.load_dataset(NAME)
    for key, labels in units:
        for answer in ANSWERS:
            kf.decide(dataset, "run", labels, answer, who=who, sample_id=key)


def _lost(units: list[tuple[str, list[str]]]) -> tuple[int, list[str]]:
    """Return the number of decisions, and those that are missing, or do not show in the state of their unit."""
    dataset: Any = fo.load_dataset(NAME)
    made = kf.decisions(dataset, "run", history=True)
    stored = [(one.labels[0], one.decision, one.who) for one in made]
    wanted = [(labels[0], answer, who) for _, labels in units for answer in ANSWERS for who in PEOPLE]
    lost = [f"lost: {one}" for one in wanted if stored.count(one) != 1]
    last = {one.labels[0]: one.decision for one in made}
    states = {unit.labels: unit.state for key, _ in units for unit in kf.disputed_units(dataset, "run", key)}
    for _, labels in units:
        right = STATES.get(last[labels[0]], DECIDED)
        lost += [f"state of {own}: {is_now}" for own, is_now in states.items() if labels[0] in own and is_now != right]
    return len(wanted), lost
