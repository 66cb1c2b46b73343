"""Conversion of volumes: lists of contours, each in a slice of the annotation's scan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.shapes.faults import ShapeFaults, Surroundings, as_numbers
from kalos_core.arrays import run_starts
from kalos_core.errors import InputError, as_number, listed, repr_of
from kalos_core.shapes import Volumes
from kalos_core.shapes.volumes import Scans

SLICE_TOLERANCE = 0.01
"""Maximum distance in mm between a contour and its slice, due to rounding of positions in text."""


class _Contour(NamedTuple):
    row: int
    z: float
    points: NDArray[np.float64]
    inclusion: bool


def build_volumes(given: list[Any], rows: NDArray[np.intp], surroundings: Surroundings, faults: ShapeFaults) -> Volumes:
    """Build volumes of the given rows, lists of contours with `z`, `points` and `inclusion`; other rows have none."""
    contours: list[_Contour] = []
    for row in rows:
        parts = [_contour(row, value) for value in given[row]] if _is_list(given[row]) else [None]
        read = [contour for contour in parts if contour is not None]
        if len(read) < len(parts):
            faults.add(row, 'contours {"z": mm, "points": [[x, y], ...], "inclusion": True}', repr_of(given[row]))
        else:
            contours.extend(read)
    row_of = np.array([contour.row for contour in contours], np.intp)
    count = np.array([len(contour.points) for contour in contours], np.intp)
    points = np.concatenate([contour.points for contour in contours]) if contours else np.zeros((0, 2))
    _check_points(points, np.repeat(row_of, count), surroundings, faults)
    position, start = _slice_positions(surroundings)
    z = np.array([contour.z for contour in contours], np.float64)
    slice_ = _slices(position, start, surroundings.image[row_of], z, row_of, faults)
    scan = np.maximum(surroundings.image, 0)  # annotations without a known image are reported separately
    sound = ~np.isin(row_of, list(faults.rows)) & (surroundings.image[row_of] >= 0)
    scans = Scans(
        position,
        start,
        _pixel_spacing(surroundings),
        surroundings.image_size,
        _span(scan[row_of[sound]], z[sound], len(start) - 1),
    )
    inclusion = np.array([contour.inclusion for contour in contours], np.bool_)
    annotation_start = run_starts(np.bincount(row_of, minlength=len(given)))
    return Volumes(points, run_starts(count), slice_, inclusion, annotation_start, scan, scans)


def _is_list(value: object) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping))


def _contour(row: int, value: object) -> _Contour | None:
    """Read a contour with at least one point; None if it is invalid."""
    if not isinstance(value, Mapping):
        return None
    z, points, inclusion = as_number(value.get("z")), as_numbers(value.get("points")), value.get("inclusion", True)
    if z is None or points is None or points.ndim != 2 or points.shape[1] != 2 or inclusion not in (True, False):
        return None
    return _Contour(row, z, points, bool(inclusion))


def _slice_positions(surroundings: Surroundings) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Concatenated ascending slice positions of all scans, and the start of each scan; empty if unknown."""
    images = len(surroundings.image_size)
    known = surroundings.slice_positions or [None] * images
    positions = [np.zeros(0) if entry is None else np.unique(entry[np.isfinite(entry)]) for entry in known]
    return np.concatenate([np.zeros(0), *positions]), run_starts([len(entry) for entry in positions])


def _pixel_spacing(surroundings: Surroundings) -> NDArray[np.float64]:
    spacing = surroundings.pixel_spacing
    if spacing is None:
        return np.full(len(surroundings.image_size), np.nan)
    wrong = ~(np.isnan(spacing) | ((spacing > 0) & np.isfinite(spacing)))
    if wrong.any():
        raise InputError(f"pixel_spacing: expected positive mm per pixel, got {listed(spacing[wrong])}")
    return spacing


def _span(scan: NDArray[np.intp], z: NDArray[np.float64], scans: int) -> NDArray[np.float64]:
    """(S, 2) lowest and highest annotated position in each scan; NaN if there is none."""
    span = np.tile([np.inf, -np.inf], (scans, 1))
    np.minimum.at(span[:, 0], scan, z)
    np.maximum.at(span[:, 1], scan, z)
    return np.where(np.isfinite(span), span, np.nan)


def _check_points(
    points: NDArray[np.float64], row: NDArray[np.intp], surroundings: Surroundings, faults: ShapeFaults
) -> None:
    finite = np.isfinite(points).all(axis=1)
    faults.add_all(
        np.unique(row[~finite]),
        "contours of finite coordinates",
        lambda this: f"a point at {points[~finite & (row == this)][0].tolist()}",
    )
    size = surroundings.size[row]
    outside = finite & ((points < 0) | (points > size)).any(axis=1)  # unknown sizes are NaN
    faults.add_all(
        np.unique(row[outside]),
        "contours inside of their slice",
        lambda this: f"a point at {points[outside & (row == this)][0].tolist()} in {_size(surroundings, this)} pixels",
    )


def _size(surroundings: Surroundings, row: int) -> str:
    return " x ".join(f"{side:g}" for side in surroundings.size[row])


def _slices(
    position: NDArray[np.float64],
    start: NDArray[np.intp],
    image: NDArray[np.intp],
    z: NDArray[np.float64],
    row: NDArray[np.intp],
    faults: ShapeFaults,
) -> NDArray[np.intp]:
    """(G,) index of the slice of each contour in its scan; a contour outside all slices is a fault of its row."""
    slice_ = np.zeros(len(z), np.intp)
    known = np.flatnonzero(image >= 0)
    unknown = known[np.diff(start)[image[known]] == 0]
    faults.add_all(np.unique(row[unknown]), "an image of known slice positions (`slice_positions`)", lambda _: "none")
    for scan in np.unique(image[np.setdiff1d(known, unknown)]):
        here = np.flatnonzero(image == scan)
        slices = position[start[scan] : start[scan + 1]]
        after = np.minimum(np.searchsorted(slices, z[here]), len(slices) - 1)
        before = np.maximum(after - 1, 0)
        nearest = np.where(np.abs(slices[before] - z[here]) < np.abs(slices[after] - z[here]), before, after)
        slice_[here] = nearest
        off = ~(np.abs(slices[nearest] - z[here]) <= SLICE_TOLERANCE)  # NaN fails the comparison
        for one, nearest_slice in zip(here[off], slices[nearest[off]], strict=True):
            gap = f"one at z = {z[one]:g}, the nearest slice being at {nearest_slice:g}"
            faults.add(row[one], "contours that lie in a slice of their scan", gap)
    return slice_
