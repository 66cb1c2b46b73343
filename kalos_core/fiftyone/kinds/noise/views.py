"""Views behind the numbers of synthetic raters: the labels of some events, and the images with the most of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fiftyone import ViewField as F

from kalos_core.errors import lookup
from kalos_core.fiftyone.dataset.expressions import any_of, only_labels, text, together
from kalos_core.fiftyone.runs.arrays import as_texts
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.noise.events import DONE, EVENTS, OUTCOMES, SHIFT

PREFIX = "noise/"
"""What the names of the stored arrays begin with."""

CHANGES = tuple(name for name in EVENTS if name != EVENTS[SHIFT])
"""Events that change more than the outline of an annotation: every annotation that is left is shifted."""


@dataclass(frozen=True)
class NoisyImage:
    """An image and what was done to its annotations: sample, file name, and how many events of each of `CHANGES`."""

    sample_id: str
    file: str
    events: dict[str, int]

    @property
    def changed(self) -> int:
        """Of all kinds."""
        return sum(self.events.values())


def view_of_event(
    samples: Any, run_key: str, event: str | Sequence[str], outcome: str = OUTCOMES[DONE], rater: str | None = None
) -> Any:
    """Only the labels that events are about: those they led to, and those of the reference before.

    Parameters
    ----------
    samples, run_key
    event : str or sequence of str
        Of `kalos_core.noise.events.EVENTS`.
    outcome : str
        "done", "lost" or "impossible".
    rater : str, optional
        The field of a synthetic rater: only what happened to theirs.
    """
    run = load_metrics(samples, run_key, "noise")
    kinds = [event] if isinstance(event, str) else list(event)
    for kind in kinds:
        lookup(dict.fromkeys(EVENTS), kind, "event")
    lookup(dict.fromkeys(OUTCOMES), outcome, "outcome")
    condition = F()[0].is_in(kinds) & (F()[1] == outcome)
    if rater is not None:
        lookup(dict.fromkeys(run.metrics["fields"]), rater, "rater")
        condition &= F()[2] == text(rater)
    about = any_of(together(run.names.all, run.names.outcomes, run.names.fields), condition)
    fields = [*run.metrics["fields"], *run.settings["reference_fields"]]
    return only_labels(run.view, fields, about)


def view_of_changes(samples: Any, run_key: str) -> Any:
    """The samples of a run with annotations missed, added, split, merged or misnamed, those with most first."""
    run = load_metrics(samples, run_key, "noise")
    changes = run.names.changes
    found = run.view.match(F(changes) > 0)
    return found.sort_by([(changes, -1), ("id", 1)])  # of as many the first, whatever the limit


def noisy_images(samples: Any, run_key: str, limit: int | None = None) -> list[NoisyImage]:
    """The images of a run with events other than shifts, those with most first."""
    view = view_of_changes(samples, run_key)
    ids, files = (view if limit is None else view.limit(limit)).values(["id", "filepath"])
    stored = load_metrics(samples, run_key, "noise").arrays
    counts = dict(zip(as_texts(stored["image_ids"]), stored[f"{PREFIX}counts"].tolist(), strict=True))
    return [
        NoisyImage(key, Path(file).name, dict(zip(CHANGES, counts[key], strict=False)))  # shifts are the last
        for key, file in zip(ids, files, strict=True)
    ]
