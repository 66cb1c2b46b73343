"""Thirty images of four objects each, for synthetic raters."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import numpy as np

from tests.fiftyone_bridge.scenes import detection

IMAGES = 30
CLASSES = ("cat", "dog", "cow")
FIELDS = ("noise_synthetic_1", "noise_synthetic_2", "noise_synthetic_3")
"""Fields of three raters of the run `noise`."""


def annotated(make: Any = detection, **more: Any) -> list[list[Any]]:
    """Return four objects on each image; the last has none; `more` sets their attributes."""
    rng = np.random.default_rng(3)
    found = []
    for image in range(IMAGES):
        corners = [(5, 5), (55, 5), (5, 55), (55, 55)] if image < IMAGES - 1 else []
        found.append(
            [
                make(
                    CLASSES[(image + place) % 3],
                    [*(np.array(corner) + rng.uniform(0, 5, 2)), 30 + 2 * place, 25],
                    **{name: value() for name, value in more.items()},
                )
                for place, corner in enumerate(corners)
            ]
        )
    return found


def samples(folder: str = "/pictures", truth: Any = None, **more: Any) -> list[fo.Sample]:
    """Return the images with a reference `truth`; no rater is assigned to the first one."""
    truth = [fo.Detections(detections=own) for own in annotated()] if truth is None else truth
    truth = [None, *truth[1:]]
    return [
        fo.Sample(
            f"{folder}/{number}.png",
            metadata=fo.ImageMetadata(width=100, height=100),
            truth=truth[number],
            raters=["truth"] if number else [],
            **{name: values[number] for name, values in more.items()},
        )
        for number in range(IMAGES)
    ]
