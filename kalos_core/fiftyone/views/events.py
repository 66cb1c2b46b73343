"""Views behind the figures of synthetic raters: the labels of some events, and the images with the most of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.errors import lookup
from kalos_core.fiftyone.noise import InjectedNoise
from kalos_core.fiftyone.runs import load_arrays, load_figures, load_run_view
from kalos_core.noise.events import DONE, EVENTS, OUTCOMES, SHIFT

CHANGES = tuple(name for name in EVENTS if name != EVENTS[SHIFT])
"""Events that change more than the outline of a mark: every mark that is left is shifted."""


@dataclass(frozen=True)
class NoisyImage:
    """An image with what was done to its marks: its sample, file name, and how many events of each of `CHANGES`."""

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
    """Only the labels that events are about: those that came of them, and those of the reference before.

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
    kinds = [event] if isinstance(event, str) else list(event)
    for kind in kinds:
        lookup(dict.fromkeys(EVENTS), kind, "event")
    lookup(dict.fromkeys(OUTCOMES), outcome, "outcome")
    noise = _stored(samples, run_key)
    chosen = np.isin(noise.event, kinds) & (noise.outcome == outcome)
    if rater is not None:
        lookup(dict.fromkeys(noise.fields.tolist()), rater, "rater")
        chosen &= noise.fields[noise.rater] == rater
    return _view_of(samples, run_key, noise, chosen)


def view_of_changes(samples: Any, run_key: str) -> Any:
    """The samples of a run whose marks were missed, added, split, merged or misnamed, those with most first."""
    ids = [image.sample_id for image in noisy_images(samples, run_key)]
    view = load_run_view(samples, run_key)
    return view.select(ids, ordered=True) if ids else view.limit(0)


def noisy_images(samples: Any, run_key: str, limit: int | None = None) -> list[NoisyImage]:
    """The images of a run with events other than shifts, those with most first."""
    noise = _stored(samples, run_key)
    done = noise.outcome == OUTCOMES[DONE]
    counts = np.array(
        [np.bincount(noise.image[done & (noise.event == name)], minlength=len(noise.images)) for name in CHANGES]
    )
    total = counts.sum(axis=0)
    files = dict(zip(*load_run_view(samples, run_key).values(["id", "filepath"]), strict=True))
    order = [row for row in np.argsort(-total, kind="stable").tolist() if total[row] and noise.images[row] in files]
    return [
        NoisyImage(
            sample_id=str(noise.images[row]),
            file=Path(files[noise.images[row]]).name,
            events=dict(zip(CHANGES, counts[:, row].tolist(), strict=True)),
        )
        for row in order[:limit]
    ]


def _stored(samples: Any, run_key: str) -> InjectedNoise:
    load_figures(samples, run_key, "noise")
    return InjectedNoise.of(load_arrays(samples, run_key))


def _view_of(samples: Any, run_key: str, noise: InjectedNoise, chosen: NDArray[np.bool_]) -> Any:
    ids = noise.labels_of(chosen)
    run, view = load_figures(samples, run_key), load_run_view(samples, run_key)
    there = view.get_field_schema()
    fields = [name for name in (*run.figures["fields"], *run.settings["reference_fields"]) if name in there]
    return view.select_labels(ids=ids, fields=fields) if ids else view.limit(0)
