"""Synthetic raters as a kind of run."""

from __future__ import annotations

from typing import Any

from kalos_core.fiftyone.kinds.matched import read_compared
from kalos_core.fiftyone.kinds.noise.details import NoiseDetails
from kalos_core.fiftyone.kinds.noise.views import PREFIX, view_of_changes, view_of_event
from kalos_core.fiftyone.runs.arrays import as_texts, part_of
from kalos_core.fiftyone.runs.table import Changes, Kind, Run, register
from kalos_core.noise import InjectedNoise

NoiseRun = Run[dict[str, Any], dict[str, Any], NoiseDetails, InjectedNoise]


def _restore(changes: Changes) -> InjectedNoise:
    return InjectedNoise.from_arrays(part_of(changes.arrays, PREFIX), as_texts(changes.arrays["image_ids"]))


NOISE: Kind[dict[str, Any], dict[str, Any], NoiseDetails, InjectedNoise] = register(
    Kind(
        name="noise",
        title="Synthetic raters",
        operator="inject_noise",
        section="Noise",
        read=read_compared,
        restore=_restore,
        details=NoiseDetails,
        views={"event": view_of_event, "changes": view_of_changes},
        fixed_because="whose fields are raters of other runs; the same settings give the same labels under another key",
    )
)
