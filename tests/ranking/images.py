"""Images with score maps of detectors and masks of raters, and their results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kalos_core import DetectorAccumulator
from kalos_core.ranking import DetectorRanking


def counted(*images: dict[str, Any], skew: Any = (0.1, 0.5), **arguments: Any) -> DetectorRanking:
    """Count images, without replicates unless `bootstrap` is passed."""
    accumulator = DetectorAccumulator(**{"bootstrap": 0, **arguments})
    for image in images:
        accumulator.add(**image)
    return accumulator.result(skew)


def random_images(
    seed: int, images: int = 2, detectors: Sequence[str] = ("net", "edge"), gaps: bool = False
) -> Iterator[dict[str, Any]]:
    """Return images of three raters, of different sizes, with ties; with gaps, the first ones lack one rater each."""
    rng = np.random.default_rng(seed)
    for index in range(images):
        size = (4 + index, 5)
        yield {
            "scores": {name: rng.integers(0, 11, size) / 10 for name in detectors},
            "masks": {f"r{rater}": rng.random(size) < 0.4 for rater in range(3) if not gaps or rater != index},
            "ignore": rng.random(size) < 0.1,
        }
