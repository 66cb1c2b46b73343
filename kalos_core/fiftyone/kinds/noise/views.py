"""Views behind the numbers of synthetic raters: labels of some events, and images with the most events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fiftyone import ViewField as F

from kalos_core.errors import lookup
from kalos_core.fiftyone.dataset.database import files_of
from kalos_core.fiftyone.dataset.expressions import any_of, only_labels, text, together
from kalos_core.fiftyone.runs.arrays import as_texts
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.noise.events import DONE, EVENTS, OUTCOMES, SHIFT

PREFIX = "noise/"
"""Prefix of the names of the stored arrays."""

CHANGES = tuple(name for name in EVENTS if name != EVENTS[SHIFT])
"""Events other than shifts; shifts apply to all remaining annotations and change only their outlines."""


@dataclass(frozen=True)
class NoisyImage:
    """An image with its sample id, file name, and number of events of each kind of `CHANGES`."""

    sample_id: str
    file: str
    events: dict[str, int]

    @property
    def changed(self) -> int:
        """Number of events of all kinds."""
        return sum(self.events.values())


def view_of_event(
    samples: Any, run_key: str, event: str | Sequence[str], outcome: str = OUTCOMES[DONE], rater: str | None = None
) -> Any:
    """Return a view of only the labels of some events: the resulting labels, and the original ones in the reference.

    Parameters
    ----------
    samples, run_key
    event : str or sequence of str
        Kinds of events, from `kalos_core.noise.events.EVENTS`.
    outcome : str
        "done", "lost" or "impossible".
    rater : str, optional
        Field of a synthetic rater; only the events of this rater are shown.
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
    """Return the samples of a run with missed, added, split, merged or misclassified annotations, most events first."""
    run = load_metrics(samples, run_key, "noise")
    changes = run.names.changes
    found = run.view.match(F(changes) > 0)
    return found.sort_by([(changes, -1), ("id", 1)])  # ties by id, so that limits are deterministic


def noisy_images(samples: Any, run_key: str, limit: int | None = None) -> list[NoisyImage]:
    """Return the images of a run with events other than shifts, most events first."""
    view = view_of_changes(samples, run_key)
    files = files_of(view if limit is None else view.limit(limit))
    stored = load_metrics(samples, run_key, "noise").arrays
    counts = dict(zip(as_texts(stored["image_ids"]), stored[f"{PREFIX}counts"].tolist(), strict=True))
    return [
        NoisyImage(key, Path(file).name, dict(zip(CHANGES, counts[key], strict=False)))  # shifts come last
        for key, file in files.items()
    ]
