"""Conversion of keypoints: COCO's x, y, v, or points some of which are missing."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers
from kalos_core.errors import repr_of
from kalos_core.shapes import Keypoints
from kalos_core.shapes.boxes import LARGEST

FORMS = "keypoints x1, y1, v1, ... or a list of (x, y) or (x, y, v)"


def build_keypoints(
    given: list[Any], rows: NDArray[np.intp], surroundings: Surroundings, faults: ShapeFaults
) -> Keypoints:
    """Build keypoints of the given rows; all annotations of a class must have the same number of them.

    Classes may have different numbers. Those with fewer are padded with unlabelled keypoints.

    Keypoints are COCO's flat list x1, y1, v1, x2, ... or a list of (x, y, v) or (x, y). Points with v = 1 (hidden) and
    v = 2 (visible) are labelled, those with v = 0 are not: KαLOS §14 compares whether and where a rater placed a joint,
    and its authors' code also uses v > 0. Without v, a missing point (None, or NaN for both coordinates) is
    unlabelled.
    """
    read: dict[int, NDArray[np.float64]] = {}
    for row in rows.tolist():
        points = _points(given[row])
        if points is None:
            faults.add(row, FORMS, repr_of(given[row]))
            continue
        fault = _fault(points)
        if fault:
            faults.add(row, fault, repr_of(given[row]))
        else:
            read[row] = points
    usual = _usual_counts(read, surroundings.category)
    for row, points in list(read.items()):
        expected = usual[surroundings.category[row]]
        if len(points) != expected:
            faults.add(row, f"{expected} keypoints, as most annotations of its class have", len(read.pop(row)))
    count = max(map(len, read.values()), default=0)
    kept = np.array(list(read), dtype=np.intp)
    points = np.full((len(given), count, 2), np.nan)
    visible = np.zeros((len(given), count), np.bool_)
    present = np.zeros(len(given), np.bool_)
    if len(kept):
        missing = np.zeros((count, 3))  # v is 0
        together = np.stack([np.concatenate([points, missing[len(points) :]]) for points in read.values()])
        visible[kept] = together[..., 2] > 0
        points[kept] = np.where(visible[kept, :, None], together[..., :2], np.nan)
        present[kept] = True
    return Keypoints(points, visible, surroundings.size, present)


def _points(value: Any) -> NDArray[np.float64] | None:
    """(J, 3) x, y, v of keypoints in any supported form; None for anything else."""
    numbers = as_numbers(value)
    if numbers is None and isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        points = list(value)
        pairs = [(None, None) if point is None else point for point in points]
        if all(isinstance(point, Iterable) for point in pairs):
            numbers = as_numbers([[np.nan if number is None else number for number in point] for point in pairs])
    if numbers is None or numbers.ndim not in (1, 2) or not numbers.size:
        return None
    if numbers.ndim == 1:
        return numbers.reshape(-1, 3) if len(numbers) % 3 == 0 else None
    if numbers.shape[1] == 2:
        labelled = ~np.isnan(numbers).all(axis=1)
        return np.column_stack([numbers, 2.0 * labelled])
    return numbers if numbers.shape[1] == 3 else None


def _fault(points: NDArray[np.float64]) -> str:
    """Describe the expected keypoints x, y, v; empty if they are valid."""
    labelled = points[:, 2] > 0
    if not np.isin(points[:, 2], (0, 1, 2)).all():
        return "keypoints with v of 0, 1 or 2"
    if not (np.abs(points[labelled, :2]) <= LARGEST).all():  # NaN fails the comparison
        return f"keypoints of finite coordinates up to {LARGEST:.0e}"
    return ""


def _usual_counts(read: dict[int, NDArray[np.float64]], category: NDArray[np.intp]) -> dict[int, int]:
    """Class -> number of keypoints that most of its annotations have; the first one if tied."""
    counts: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for row, points in read.items():
        counts[category[row]][len(points)] += 1
    return {code: max(found, key=found.__getitem__) for code, found in counts.items()}
