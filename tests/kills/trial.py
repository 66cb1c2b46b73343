"""One act, killed at each of its steps: what is left after the next access, and after repeating the act."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.kills.acts import SCENES, Act, Doing, dataset, look, rater_fields
from tests.kills.processes import Ended, Place, Process, run
from tests.kills.server import Server
from tests.kills.snapshots import (
    Snapshot,
    compared,
    connect,
    counted,
    dangling,
    difference,
    labels_of,
    without_document,
)
from tests.kills.trouble import Pause, full_disk, no_more_trouble, restart

GONE, WHOLE = "nothing", "whole"
"""What is left of an act after the next access."""
DRAFT = "file .<draft>"
"""File waiting to be written: a draft beside it, which is never read."""

Known = dict[tuple[str | Doing, ...], Snapshot]
"""Scene and acts -> content after them."""


@dataclass
class Trial:
    """Act on its data set, which can be repeated any number of times.

    Parameters
    ----------
    act : Act
    place : Place
    known : dict
        Content after preparations in this place; used as a cache.
    """

    act: Act
    place: Place
    known: Known
    steps: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.database = connect(self.place.uri, self.place.database)
        self.database.client.drop_database(self.place.database)
        (self.place.folder / "datasets" / "kalos").mkdir(parents=True, exist_ok=True)  # empty folders are kept
        self.bare, *_, self.before = self._prepared()
        ended = self.do()
        assert (ended.code, ended.error) == (0, None), ended.said
        self.steps = ended.steps
        self.look()
        self.after = self.snapshot()
        self.done = self._compared(self.after)
        self.undone = self._compared(self.before)
        assert not (left := self.take_back()), left

    def _prepared(self) -> list[Snapshot]:
        """Return the scene, and the content after each preparation; the last twice. Uses the cache."""
        scene, folder = self.act.scene, self.place.folder
        works = [lambda: SCENES[scene](folder), *(lambda do=do: do(dataset(), folder) for do in self.act.before)]
        keys = [(scene, *self.act.before[:count]) for count in range(len(works))]
        done = max((count for count, key in enumerate(keys, 1) if key in self.known), default=0)
        before = self.known[keys[done - 1]] if done else Snapshot({}, {}, {"datasets": None, "datasets/kalos": None})
        before.put_back(self.database, folder)
        for key, work in zip(keys[done:], works[done:], strict=True):
            self._in_child(work)
            self.known[key] = self.snapshot()
        return [*map(self.known.__getitem__, keys), self.known[keys[-1]]]

    def snapshot(self) -> Snapshot:
        """Return the current content."""
        return Snapshot.of(self.database, self.place.folder)

    def _compared(self, snapshot: Snapshot) -> dict[str, Any]:
        return compared(snapshot, self.before, self.act.app)

    def put_back(self) -> None:
        """Restore the content before the act."""
        self.before.put_back(self.database, self.place.folder)

    def do(self, at: int | None = None, **then: Any) -> Ended:
        """Run the act in a separate process, up to a step."""
        return self.begin(at, **then).wait()

    def begin(self, at: int | None = None, **then: Any) -> Process:
        """Start the same without waiting for its end."""
        held: list[Any] = []
        act, folder = self.act.do, self.place.folder
        work = lambda: no_answer(act(held[0], folder))  # noqa: E731 - of the process
        return Process(self.place, work, at, prepare=lambda: held.append(dataset()), **then)

    def look(self) -> Ended:
        """Access all data sets once, in a separate process."""
        return self._in_child(look)

    def take_back(self) -> list[str]:
        """Return what is left of the act after undoing it; nothing if it cannot be undone."""
        if self.act.back is None:
            return []
        back = self.act.back
        self._in_child(lambda: back(dataset(), self.place.folder))
        return difference(self.undone, self._compared(self.snapshot()))

    def _in_child(self, work: Callable[[], Any]) -> Ended:
        ended = run(self.place, lambda: no_answer(work()))
        assert (ended.code, ended.error) == (0, None), ended.said
        return ended

    def close(self) -> None:
        """Disconnect from the database."""
        self.database.client.close()

    # ---- trouble ----

    def killed_at(self, at: int) -> tuple[str, list[str]]:
        """Return what is left of the act killed at a step, after the next access, and all problems."""
        self.put_back()
        ended = self.do(at)
        return self.after_trouble([] if ended.code == 9 else [f"not killed: {ended}"])

    def full_at(self, at: int, *, stays: bool = False) -> tuple[str, list[str]]:
        """Return the same for a disk that is full right after a step, or from then on."""
        self.put_back()
        ended = self.do(at, then=full_disk(self.place.uri, stays=stays))
        no_more_trouble(self.place.uri)
        return self._lived(ended)

    def restarted_by(self, server: Server) -> Callable[[int], tuple[str, list[str]]]:
        """Return the same for a database that crashes and restarts during the act."""

        def restarted_at(at: int) -> tuple[str, list[str]]:
            self.put_back()
            self.database.client.admin.command("fsync")  # nothing is lost if the server dies
            pause = Pause()
            process = self.begin(at, then=pause)
            if pause.wait():
                restart(server)
            pause.go_on()
            return self._lived(process.wait())

        return restarted_at

    def _lived(self, ended: Ended) -> tuple[str, list[str]]:
        """Return the same for an act that reported its outcome; success requires completeness."""
        word, wrong = self.after_trouble(not_ours(ended))
        is_lost = ended.code == 0 and ended.error is None and word != WHOLE
        return word, [*wrong, "said that it is done"] if is_lost else wrong

    # ---- what is left ----

    def left(self) -> tuple[str, list[str]]:
        """Return what is left of the act: a word, or the differences to the state before and the complete state."""
        snapshot = self.snapshot()
        now = {path: value for path, value in self._compared(snapshot).items() if not path.startswith(DRAFT)}
        nothing, whole = difference(self.undone, now), difference(self.done, now)
        if not nothing:
            return GONE, []
        if not whole:
            return WHOLE, []
        more = counted(snapshot) - counted(self.after if len(whole) < len(nothing) else self.before)
        lines = [f"before: {line}" for line in nothing[:12]] + [f"whole: {line}" for line in whole[:12]]
        return "half", [f"too many: {dict(more)}", *lines]

    def changed_labels(self) -> list[str]:
        """Return labels of raters that changed, byte by byte, except attributes written by runs."""
        fields, snapshot = rater_fields(self.act.scene), self.snapshot()
        before, allowed = labels_of(self.before, fields, self.before), labels_of(self.after, fields, self.before)
        now = labels_of(snapshot, fields, self.before)
        changed = [key for key, value in before.items() if now.get(key) not in (value, allowed.get(key))]
        given, still = labels_of(self.bare, fields, self.bare), labels_of(snapshot, fields, self.bare)
        return [
            key for key in changed if key not in given or still.get(key) != given[key]
        ]  # of several runs, some have

    def after_trouble(self, wrong: list[str]) -> tuple[str, list[str]]:
        """Return what is left of the act after trouble, and problems; then repeat the act."""
        wrong = wrong + [f"changed: {key}" for key in self.changed_labels()]
        wrong += [f"listed without its document: {key}" for key in without_document(self.snapshot())]
        found: tuple[str, list[str]]
        try:
            self.look()
            found = self.left()
            wrong += [f"shown, not there: {path}" for path in dangling(self.snapshot())]
        except AssertionError as error:
            found = "unreadable", [str(error)[-2000:]]
        word, more = found
        again = self.do()
        if again.code:
            more.append(f"again: died with {again.code}: {again.said[-1000:]}")
        if word == WHOLE and self.act.again == "refused":
            if not again.is_ours:
                more.append(f"again: expected to be refused, got {again.error}")
        elif again.error is not None:
            more.append(f"again: {again.error}\n{again.said[-1500:]}")
        if not (word == WHOLE and self.act.again == "more"):
            lines = difference(self.done, self._compared(self.snapshot()))
            more += [f"again: {line}" for line in lines[:12]]
        return word, wrong + more


@dataclass
class Tally:
    """Outcomes of an act.

    Parameters
    ----------
    act : str
    steps : int
        Number of steps.
    left : Counter
        Word -> number of steps at which a kill had this outcome.
    wrong : list of str
    """

    act: str
    steps: int
    left: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def everywhere(trial: Trial, trouble: Callable[[int], tuple[str, list[str]]], steps: Iterable[int]) -> Tally:
    """Collect the outcomes of trouble at some steps, each from the start."""
    tally = Tally(trial.act.name, len(trial.steps))
    for at in steps:
        word, wrong = trouble(at)
        tally.left[word] += 1
        tally.wrong += [f"step {at}, {trial.steps[at]}: {word}: {line}" for line in wrong]
    return tally


def not_ours(ended: Ended) -> list[str]:
    """Return problems with the outcome of an act that failed: it must survive, with an error of ours."""
    if ended.code or (ended.error is not None and not ended.is_ours):
        return [f"ended with {ended.code}, {ended.error}\n{ended.said[-1500:]}"]
    return []


def no_answer(_: Any) -> None:
    """Discard the result of an act, which stays in its process."""


def spread(count: int, most: int | None) -> list[int]:
    """Return at most `most` of the steps, including the first and the last."""
    return list(range(count)) if most is None else sorted({round(at) for at in np.linspace(0, count - 1, most)})
