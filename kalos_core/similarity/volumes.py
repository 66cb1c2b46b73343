"""Similarities of volumes, from exact areas per slice or from voxels of a grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import find_sorted, total
from kalos_core.errors import InputError, check_whole, repr_of
from kalos_core.options import checked
from kalos_core.shapes import Volumes
from kalos_core.shapes.volumes import COMMON_GRID
from kalos_core.shapes.voxels import Grid, Voxels
from kalos_core.similarity.base import ROUNDING, Similarity, ratio
from kalos_core.similarity.polygons import compare_outlines

if TYPE_CHECKING:
    from kalos_core.annotations import Annotations


@checked
def volume_iou(
    left: Volumes,
    left_rows: NDArray[np.intp],
    right: Volumes,
    right_rows: NDArray[np.intp],
    floor: float = 0.0,
) -> NDArray[np.float64]:
    """Compute the intersection over union of volumes (KαLOS Eq. 28), exact within a scan.

    Intersection and union are sums of polygon areas over slices; the size of a voxel cancels. The result is exact,
    whereas the paper counts voxels of a grid. Annotations of two scans, which only calibration compares, have no common
    slices. They are compared in relative coordinates on the common grid (see `Volumes.voxels`).

    Parameters
    ----------
    left, right : Volumes
        Columns of one table; columns of different tables have no scan in common.
    left_rows, right_rows : (P,) int
    floor : float
        Pairs certain to stay below this value get 0.

    Returns
    -------
    (P,) float64 in [0, 1]
        0 where a volume encloses nothing, even compared with itself.

    Examples
    --------
    A square in two slices, and half of it in one of them:

    >>> from kalos_core import Annotations
    >>> square, half = [[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 0], [4, 0], [4, 2], [0, 2]]
    >>> nodule = {"image": "scan", "category": "nodule"}
    >>> volumes = Annotations.from_rows(
    ...     [
    ...         {**nodule, "rater": "ann", "volume": [{"z": 0, "points": square}, {"z": 2, "points": square}]},
    ...         {**nodule, "rater": "bob", "volume": [{"z": 2, "points": half}]},
    ...     ],
    ...     slice_positions={"scan": [0, 2, 4]},
    ... ).shapes["volume"]
    >>> volume_iou(volumes, np.array([0, 0]), volumes, np.array([0, 1])).tolist()
    [1.0, 0.25]
    """
    iou = np.zeros(len(left_rows))
    within = _same_scan(left, left_rows, right, right_rows)
    iou[within] = _iou_within(left, left_rows[within], right, right_rows[within], floor)
    across = np.flatnonzero(~within)
    if len(across):
        iou[across] = voxel_iou(left.voxels(), left_rows[across], right.voxels(), right_rows[across], floor)
    return iou


def volume_bound(
    left: Volumes, left_rows: NDArray[np.intp], right: Volumes, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return (P,) upper bounds on the IoU of two volumes, from the areas and bounds of their sections alone."""
    bound = np.zeros(len(left_rows))
    within = np.flatnonzero(_same_scan(left, left_rows, right, right_rows))
    pair, _, _, most = _common_sections(left, left_rows[within], right, right_rows[within])
    shared = total(pair, most, len(within))
    both = left.area()[left_rows[within]] + right.area()[right_rows[within]]
    bound[within] = ratio(shared, both - shared) * (1 + ROUNDING)
    across = np.setdiff1d(np.arange(len(left_rows)), within)
    if len(across):
        bound[across] = voxel_bound(left.voxels(), left_rows[across], right.voxels(), right_rows[across])
    return bound


@checked
def volume_grid_iou(grid: Grid = COMMON_GRID) -> Similarity:
    """Return the volumetric IoU counted in voxels of a grid that spans each scan, as in the paper (KαLOS §14.2).

    Parameters
    ----------
    grid : (planes, rows, columns)
        The paper's code uses 128 of each.

    Returns
    -------
    Similarity
        Named after the grid. `Volumes.voxels` describes how volumes are rasterised.

    Raises
    ------
    InputError
        If the grid is not three whole numbers of at least 2.

    Examples
    --------
    >>> volume_grid_iou().name, volume_grid_iou((64, 256, 256)).name
    ('volume_iou_128', 'volume_iou_64x256x256')
    """
    if len(grid) != 3:
        raise InputError(f"grid: expected planes, rows and columns, got {repr_of(grid)}")
    planes, rows, columns = (check_whole(side, "grid", 2) for side in grid)

    def prepare(annotations: Annotations, volumes: Volumes) -> Voxels:  # noqa: ARG001 - volumes know their scans
        return volumes.voxels((planes, rows, columns))

    name = f"{planes}" if planes == rows == columns else f"{planes}x{rows}x{columns}"
    label = f"IoU of volumes on a grid of {planes} x {rows} x {columns}"
    return Similarity(
        f"volume_iou_{name}", "volume", label, voxel_iou, additive=True, bound=voxel_bound, prepare=prepare
    )


def voxel_iou(
    left: Voxels, left_rows: NDArray[np.intp], right: Voxels, right_rows: NDArray[np.intp], floor: float = 0.0
) -> NDArray[np.float64]:
    """Compute the intersection over union of sets of voxels of one grid.

    Examples
    --------
    >>> sets = Voxels(np.array([0, 1, 1, 2]), np.array([0, 2, 4, 4]), (1, 1, 3))
    >>> voxel_iou(sets, np.array([0, 0, 2]), sets, np.array([1, 0, 2])).tolist()
    [0.3333333333333333, 1.0, 0.0]
    """
    limit = voxel_bound(left, left_rows, right, right_rows)
    worth = np.flatnonzero((limit > 0) & (limit >= floor))
    rows_a, rows_b = left_rows[worth], right_rows[worth]
    shared = left.shared(rows_a, right, rows_b).astype(np.float64)
    iou = np.zeros(len(left_rows))
    iou[worth] = ratio(shared, left.area()[rows_a] + right.area()[rows_b] - shared)
    return iou


def voxel_bound(
    left: Voxels, left_rows: NDArray[np.intp], right: Voxels, right_rows: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return (P,) upper bounds on the IoU of two sets of voxels, from their sizes and bounds alone."""
    a, b = left.bounds[left_rows], right.bounds[right_rows]
    sides = np.maximum(np.minimum(a[:, 3:], b[:, 3:]) - np.maximum(a[:, :3], b[:, :3]), 0)
    size_a, size_b = left.area()[left_rows], right.area()[right_rows]
    most = np.minimum(np.minimum(size_a, size_b), sides.prod(axis=1))
    return ratio(most, size_a + size_b - most) * (1 + ROUNDING)


def _same_scan(
    left: Volumes, left_rows: NDArray[np.intp], right: Volumes, right_rows: NDArray[np.intp]
) -> NDArray[np.bool_]:
    if left.scans is not right.scans:
        return np.zeros(len(left_rows), np.bool_)
    return np.equal(left.scan[left_rows], right.scan[right_rows])


def _iou_within(
    left: Volumes, left_rows: NDArray[np.intp], right: Volumes, right_rows: NDArray[np.intp], floor: float
) -> NDArray[np.float64]:
    """Return the (P,) exact IoU of pairs of volumes in the same scan."""
    both = left.area()[left_rows] + right.area()[right_rows]
    pair, a, b, most = _common_sections(left, left_rows, right, right_rows)
    limit = total(pair, most, len(left_rows))
    worth = (ratio(limit, both - limit) * (1 + ROUNDING) >= floor)[pair] & (most > 0)
    pair, a, b = pair[worth], a[worth], b[worth]
    ours, theirs = left.sections, right.sections
    swap, same = compare_outlines(ours.geometry[a], theirs.geometry[b], ours.bounds[a], theirs.bounds[b])
    shared = ours.area[a]  # of identical sections
    for chosen, first, rows, second, others in (
        (~same & ~swap, ours, a, theirs, b),
        (~same & swap, theirs, b, ours, a),  # a fixed order, so that the result is symmetric
    ):
        shared[chosen] = first.edges.shared_area(rows[chosen], second.edges, others[chosen])
    overlap = total(pair, shared, len(left_rows))
    return np.clip(ratio(overlap, both - overlap), 0.0, 1.0)


def _common_sections(
    left: Volumes, left_rows: NDArray[np.intp], right: Volumes, right_rows: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return the sections of P pairs in common slices: pair, index of each section, upper bound on the shared area.

    Pairs whose bounds do not overlap are left out.
    """
    bounds_a, bounds_b = left.bounds()[left_rows], right.bounds()[right_rows]
    near = np.flatnonzero((_sides(bounds_a, bounds_b) > 0).all(axis=1))  # excludes NaN, the bounds of empty volumes
    ours, theirs = left.sections, right.sections
    pair, a = left.sections_of(left_rows[near])
    slices = 1 + max(ours.slice.max(initial=0), theirs.slice.max(initial=0))
    index = find_sorted(theirs.annotation * slices + theirs.slice, right_rows[near][pair] * slices + ours.slice[a])
    matched = index >= 0
    pair, a, b = near[pair[matched]], a[matched], index[matched]
    sides = np.maximum(_sides(ours.bounds[a], theirs.bounds[b]), 0)
    return pair, a, b, np.minimum(np.minimum(ours.area[a], theirs.area[b]), sides.prod(axis=1))


def _sides(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the (P, 2) width and height of the overlap of two bounds, negative where they are disjoint."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2]))
