"""Similarities of poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, repr_of
from kalos_core.options import checked
from kalos_core.shapes import Keypoints
from kalos_core.similarity.base import Similarity, check_image_sizes, ratio

COCO_SIGMAS = (
    *(0.026, 0.025, 0.025, 0.035, 0.035),  # nose, eyes, ears
    *(0.079, 0.079, 0.072, 0.072, 0.062, 0.062),  # shoulders, elbows, wrists
    *(0.107, 0.107, 0.087, 0.087, 0.089, 0.089),  # hips, knees, ankles
)
"""Spread of COCO's raters at each of its 17 keypoints, relative to the square root of the object's area."""

USUAL_SIGMA = sum(COCO_SIGMAS) / len(COCO_SIGMAS)
"""Sigma for keypoints without measured values: the mean of COCO's sigmas."""

WITH_AREA = ("polygon", "mask", "box")
"""Shape kinds whose area sets the scale of a pose, the most exact first."""


@checked
def pose(
    left: Keypoints,
    left_rows: NDArray[np.intp],
    right: Keypoints,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - part of the `Compare` signature
) -> NDArray[np.float64]:
    """Compute 1 - N-MPJPE, the mean error of keypoints in relative coordinates (KαLOS §14, Eq. 30, 31).

    The mean runs over the keypoints that either rater has labelled. A keypoint labelled by both contributes its
    distance, in coordinates relative to the width and height of its image, divided by sqrt(2). A keypoint labelled by
    only one contributes 1. Eq. 30 prints a stray "1 -"; the distance is the mean itself.

    Parameters
    ----------
    left, right : Keypoints
        With the size of every image.
    left_rows, right_rows : (P,) int
    floor : float
        Ignored: poses are cheap to compare.

    Returns
    -------
    (P,) float64 in [0, 1]
        1 where neither has a labelled keypoint; 0 where the mean error exceeds 1, as for points far outside the image.

    Examples
    --------
    >>> points = np.array([[[0.0, 0.0], [50.0, 50.0]], [[30.0, 40.0], [np.nan, np.nan]]])
    >>> poses = Keypoints(points, ~np.isnan(points[..., 0]), np.full((2, 2), 100.0), np.array([True, True]))
    >>> pose(poses, np.array([0, 0]), poses, np.array([0, 1])).round(4).tolist()
    [1.0, 0.3232]
    """
    a, b = (column.points / column.size[:, None] for column in (left, right))
    error = np.zeros(len(left_rows))
    count = np.zeros(len(left_rows))
    for joint in range(a.shape[1]):  # a loop over few keypoints keeps the arrays small
        seen_left, seen_right = left.visible[left_rows, joint], right.visible[right_rows, joint]
        away = np.hypot(*(a[left_rows, joint] - b[right_rows, joint]).T) / np.sqrt(2)
        error += np.where(seen_left & seen_right, away, seen_left ^ seen_right)
        count += seen_left | seen_right
    return np.maximum(1 - ratio(error, count), 0.0)


def with_image_sizes(annotations: Annotations, column: Keypoints) -> Keypoints:
    """Check that the size of every annotated image is known, and return the poses."""
    check_image_sizes("pose", annotations)
    return column


@dataclass(frozen=True, eq=False)
class ScaledPoses:
    """N poses with the areas and sigmas that scale their distances.

    Parameters
    ----------
    poses : Keypoints
    scale : (N,) float64
        Area of each annotation in square pixels.
    sigmas : (J,) float64
    """

    poses: Keypoints
    scale: NDArray[np.float64]
    sigmas: NDArray[np.float64]

    @classmethod
    def of(cls, annotations: Annotations, column: Keypoints, sigmas: NDArray[np.float64] | None) -> ScaledPoses:
        """Return poses with the area of the annotation's polygon, else mask, else box, else keypoint bounds."""
        joints = column.points.shape[1]
        if sigmas is None:
            sigmas = np.array(COCO_SIGMAS) if joints == len(COCO_SIGMAS) else np.full(joints, USUAL_SIGMA)
        elif len(sigmas) != joints:
            raise InputError(f"sigmas: expected {joints}, one a keypoint, got {len(sigmas)}")
        scale = column.area()
        for kind in reversed(WITH_AREA):
            if kind in annotations.shapes:
                other = annotations.shapes[kind]
                scale = np.where(other.absent(), scale, other.area())
        return cls(column, scale, sigmas)


def oks(sigmas: Sequence[float] | NDArray[np.float64] | None = None, name: str = "oks") -> Similarity:
    """Return a symmetric object keypoint similarity (OKS, COCO) with the given sigmas and name.

    OKS is the mean of exp(-d² / (2 s² k²)) over the keypoints that either rater has labelled, with k = 2 sigma. s² is
    the geometric mean of both annotations' areas: of their polygons, else masks, else boxes, else keypoint bounds. COCO
    compares a detection, which has all keypoints, with the ground truth and takes the area of the ground truth. Here, a
    keypoint labelled by only one rater contributes 0; in `pose`, it contributes an error of 1.

    Parameters
    ----------
    sigmas : (J,) floats, optional
        Spread of the raters at each keypoint, relative to the square root of the area. The default is COCO's sigmas for
        17 keypoints, and the mean of COCO's sigmas, 0.067, for any other number.
    name : str
        Name that distinguishes it from "oks" in the table `SIMILARITIES`.

    Returns
    -------
    Similarity
        1 where neither has a labelled keypoint, and otherwise 0 where an annotation has no area.

    Raises
    ------
    InputError
        If sigmas are not positive, or, on use, if their number is not the number of keypoints.

    Examples
    --------
    >>> rows = [
    ...     {"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 10, 10], "keypoints": [[x, 5], [9, 9]]}
    ...     for rater, x in [("ann", 5), ("bob", 7)]
    ... ]
    >>> measure = oks([0.1, 0.1], "close")
    >>> column = measure.column(Annotations.from_rows(rows))
    >>> measure.values(column, np.array([0]), column, np.array([1])).round(4).tolist()
    [0.8033]
    """
    given = None if sigmas is None else np.asarray(sigmas, dtype=np.float64)
    if given is not None and not (given.ndim == 1 and (given > 0).all() and np.isfinite(given).all()):
        raise InputError(f"sigmas: expected positive numbers, one a keypoint, got {repr_of(sigmas)}")
    return Similarity(
        name,
        "keypoints",
        "object keypoint similarity",
        _oks,
        merges=False,
        prepare=partial(ScaledPoses.of, sigmas=given),
        help="the COCO measure, which is more tolerant on large objects",
    )


def _oks(
    left: ScaledPoses,
    left_rows: NDArray[np.intp],
    right: ScaledPoses,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,  # noqa: ARG001 - part of the `Compare` signature
) -> NDArray[np.float64]:
    """Return (P,) object keypoint similarities; see `oks`."""
    scale = np.sqrt(left.scale[left_rows] * right.scale[right_rows])
    near = np.zeros(len(left_rows))
    count = np.zeros(len(left_rows))
    for joint, sigma in enumerate(left.sigmas.tolist()):
        seen_left, seen_right = left.poses.visible[left_rows, joint], right.poses.visible[right_rows, joint]
        away = left.poses.points[left_rows, joint] - right.poses.points[right_rows, joint]
        near += np.where(seen_left & seen_right, np.exp(-ratio((away**2).sum(axis=1), 2 * scale * (2 * sigma) ** 2)), 0)
        count += seen_left | seen_right
    return np.where(count > 0, np.where(scale > 0, ratio(near, count), 0.0), 1.0)
