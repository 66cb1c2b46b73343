"""Images of two objects that three raters mostly see, each slightly displaced, with a model and tags."""

from typing import Any

import fiftyone as fo
import numpy as np

from tests.fiftyone_bridge.scenes import detection

RATERS = ("ann", "bob", "cid")
LEVELS = (0.5, 0.7, 0.9)
"""Thresholds of runs on these images."""
IMAGES = 24


def lively(images: int = IMAGES, raters: tuple[str, ...] = RATERS, **more: Any) -> list[fo.Sample]:
    """Return samples with two objects; each rater sees most of them, slightly displaced. A model `net`, and tags."""
    rng = np.random.default_rng(0)

    def boxes(**sure: Any) -> fo.Detections:
        labels = [
            detection(name, [x + rng.uniform(0, 4), 10, 30 + rng.uniform(0, 3), 40], **sure)
            for x, name in ((5, "cat"), (55, "dog"))
            if rng.random() < 0.85
        ]
        return fo.Detections(detections=labels)

    return [
        fo.Sample(
            f"/images/{number}.jpg",
            metadata=fo.ImageMetadata(width=100, height=100),
            raters=list(raters),
            tags=["night" if number % 3 else "day"] + (["rare"] if number == 1 else []),
            net=boxes(confidence=0.1 + 0.03 * number),
            **{name: boxes() for name in raters},
            **more,
        )
        for number in range(images)
    ]


def unsure(samples: list[fo.Sample]) -> list[fo.Sample]:
    """Remove the confidence of the model."""
    for sample in samples:
        for label in sample.net.detections:
            label.confidence = None
    return samples
