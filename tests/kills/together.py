"""Two concurrent acts on one data set: the second completes while the first waits at one of its steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import fiftyone as fo

import kalos_core.fiftyone as kf
from kalos_core import KalosError
from tests.fiftyone_bridge.lively import lively
from tests.kills import acts
from tests.kills.acts import Doing
from tests.kills.processes import Ended, run
from tests.kills.snapshots import compared, difference
from tests.kills.trial import Trial, no_answer, not_ours
from tests.kills.trouble import Pause


def _decide_more(samples: Any, _: Any) -> Any:
    sample_id, labels = acts.next_unit(samples)
    return kf.decide(samples, "run", labels, "guideline", note="?", who="bob", sample_id=sample_id)


def _rename_dataset(samples: Any, _: Any) -> None:
    samples.name = "renamed"


OTHERS: dict[str, Doing] = {
    "the same key": acts.agreement,
    "another key": lambda samples, _: kf.find_variations(samples, "more", raters=acts.RATERS),
    "decide": _decide_more,
    "next to rate": acts.order_next,
    "rename": acts.rename,
    "delete": acts.delete,
    "note": acts.describe,
    "field renamed": lambda samples, _: samples.rename_sample_field("ann", "anna"),
    "samples added": lambda samples, _: samples.add_samples(lively(2), progress=False),
    "samples deleted": lambda samples, _: samples.delete_samples(samples.limit(2).values("id")),
    "data set renamed": _rename_dataset,
    "data set deleted": lambda samples, _: samples.delete(),
}
"""Acts of another user."""

CHANGES = ("field renamed", "samples added", "samples deleted", "data set renamed", "data set deleted")
"""Acts that change labels, so that a run of these may have to be repeated."""

TAGS = re.compile(r"samples\.[0-9a-f<>]+\[\d+\]\.tags")
"""Rest of an order after its run is deleted."""

FIRST = (
    "analyse", "agreement", "noise", "truth of objects", "resolved", "decide", "note and status", "next to rate",
    "update", "rename agreement", "rename analysis", "delete agreement", "delete analysis",
)  # fmt: skip
"""Acts that are interrupted by another one."""


@dataclass
class Pair:
    """Two acts on one data set.

    Parameters
    ----------
    trial : Trial
        Trial of the first.
    other : name in `OTHERS`
    """

    trial: Trial
    other: str

    def at(self, step: int) -> tuple[str, list[str]]:
        """Return the outcomes if the second runs while the first is at a step, and all problems."""
        trial = self.trial
        trial.put_back()
        pause = Pause()
        process = trial.begin(step, then=pause)
        came = pause.wait()
        second = self._other()
        pause.go_on()
        first = process.wait()
        wrong = [] if came else [f"did not come to the step: {first}"]
        wrong += [
            f"{which}: {line}" for which, ended in (("first", first), ("second", second)) for line in not_ours(ended)
        ]
        word = f"{_word(first)}, {_word(second)}"
        return word, wrong + self._left(self._decided(first, second))

    def _other(self) -> Ended:
        do, folder = OTHERS[self.other], self.trial.place.folder
        return run(self.trial.place, lambda: no_answer(do(acts.dataset(), folder)))

    def _decided(self, first: Ended, second: Ended) -> set[str]:
        """Return the notes of the decisions that must exist in the end."""
        act = self.trial.act
        if act.name.startswith("delete") or self.other in ("delete", "samples deleted", "data set deleted"):
            return set()
        made = {"no"} if acts.decide in act.before or (act.do is acts.decide and first.error is None) else set()
        return made | ({"?"} if self.other == "decide" and second.error is None else set())

    def _left(self, decided: set[str]) -> list[str]:
        """Return problems with the result of both: lost decisions, runs that do not load, and leftovers."""
        trial = self.trial
        ended = run(trial.place, lambda: _load_and_delete(self.other in CHANGES))
        if ended.code or ended.error:
            return [f"afterwards: {ended.code} {ended.error}\n{ended.said[-1500:]}"]
        wrong, notes = ended.answer
        now = compared(trial.snapshot(), trial.bare)
        lines = [line for line in difference(self.expected, now) if not TAGS.match(line)]
        return [*wrong, *(f"lost: {note}" for note in decided - notes), *(f"left: {line}" for line in lines[:12])]

    @cached_property
    def expected(self) -> dict[str, Any]:
        """Return the content without runs, if only permanent changes of the second were made."""
        trial = self.trial
        now = trial.snapshot()
        trial.bare.put_back(trial.database, trial.place.folder)
        if self.other in CHANGES:
            self._other()
        found = compared(trial.snapshot(), trial.bare)
        trial.bare.put_back(trial.database, trial.place.folder)
        now.put_back(trial.database, trial.place.folder)
        return found


def _word(ended: Ended) -> str:
    return "done" if ended.error is None else "refused"


def _load_and_delete(may_be_stale: bool) -> tuple[list[str], set[str]]:
    """Return problems with the runs of all data sets, which are then deleted, and the notes of all decisions.

    Leftovers of a deleted data set are removed by the next run that is written.
    """
    wrong: list[str] = []
    notes: set[str] = set()
    for dataset in map(fo.load_dataset, fo.list_datasets()):
        for key in kf.list_runs(dataset, "agreement"):
            notes |= {found.note for found in kf.decisions(dataset, key, history=True)}
        for key in kf.list_runs(dataset):
            fields = dataset.get_run_info(key).config.fields
            missing = [path for path in fields if not dataset.has_field(path)]
            wrong += [f"{key}: {path} is gone" for path in missing if not (may_be_stale and path.startswith("ann."))]
            kf.load_details(dataset, key)
            try:
                kf.load_run(dataset, key)
            except KalosError as error:
                wrong += [] if may_be_stale else [f"{key}: {error}"]
        while found := kf.list_runs(dataset):
            kf.delete_run(dataset, found[0])
    if not fo.list_datasets():
        dataset = fo.Dataset("last")
        dataset.add_samples(lively(2), progress=False)
        kf.delete_run(dataset, acts.agreement(dataset, None).key)
        dataset.delete()
    return wrong, notes
