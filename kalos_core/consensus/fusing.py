"""Fusion of the boxes, regions and poses of several raters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.arrays import total
from kalos_core.consensus._staple import expectation_maximisation
from kalos_core.errors import InputError, listed
from kalos_core.pixels.patterns import find_patterns
from kalos_core.pixels.rasterisation import canvas_sizes, masks_of
from kalos_core.pixels.stack import MaskStack
from kalos_core.shapes import Boxes, Keypoints, Masks, ShapeColumn
from kalos_core.shapes.raster import pixels_of

ITERATIONS = 1000
"""Maximum number of STAPLE iterations on one unit; with two raters, the mask settles long before probabilities."""

FUSED = ("box", "polygon", "mask", "keypoints")


@dataclass(frozen=True, eq=False)
class Members:
    """M annotations that C consensus annotations are fused from.

    Parameters
    ----------
    source : Annotations
    row : (M,) int
        Rows of the annotations, grouped by result.
    owner : (M,) int
        Result that each annotation belongs to, ascending.
    count : int
        C.
    weight : (M,) float64
    """

    source: Annotations
    row: NDArray[np.intp]
    owner: NDArray[np.intp]
    count: int
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls, source: Annotations, unit_of: NDArray[np.intp], units: NDArray[np.intp], weight: NDArray[np.float64]
    ) -> Members:
        """Select the annotations of the given units, in the order of units; `weight` (R,) is by rater."""
        index = np.full(int(unit_of.max(initial=-1)) + 1, -1, np.intp)
        index[units] = np.arange(len(units))
        owner = index[unit_of]
        row = np.argsort(owner, kind="stable")[(owner < 0).sum() :]
        return cls(source, row, owner[row], len(units), weight[source.rater[row]])

    def where(self, present: NDArray[np.bool_]) -> Members:
        """Keep the members for which `present` (M,) is True."""
        return Members(self.source, self.row[present], self.owner[present], self.count, self.weight[present])


def fuse(members: Members, region: str) -> dict[str, ShapeColumn]:
    """Fuse each kind of shape in the source into a column of C shapes; polygons and masks become masks."""
    shapes = members.source.shapes
    strange = [kind for kind in shapes if kind not in FUSED]
    if strange:
        raise InputError(f"annotations: expected shapes among {listed(FUSED)}, got {listed(strange)}")
    fused: dict[str, ShapeColumn] = {}
    boxes, poses = shapes.get("box"), shapes.get("keypoints")
    if "polygon" in shapes or "mask" in shapes:
        fused["mask"] = fuse_regions(members, region)
    if isinstance(boxes, Boxes):
        fused["box"] = fuse_boxes(boxes, members)
    if isinstance(poses, Keypoints):
        fused["keypoints"] = fuse_poses(poses, members)
    return fused


def fused_annotations(
    members: Members, image: NDArray[np.intp], category: NDArray[np.intp], rater: str, region: str = "vote"
) -> Annotations:
    """Return the C fused annotations of one rater, on all images of the source, with ids 1, 2, ..."""
    source = members.source
    return Annotations(
        image=image,
        rater=np.zeros(members.count, np.intp),
        category=category,
        id=np.arange(1, members.count + 1),
        shapes=fuse(members, region),
        images=source.images,
        files=source.files,
        raters=object_array([rater]),
        categories=source.categories,
        image_size=source.image_size,
        assigned=np.asarray(source.assigned.any(axis=1))[:, None],
    )


def fuse_boxes(boxes: Boxes, members: Members) -> Boxes:
    """Return the weighted mean of each corner; no box if no member has one."""
    given = members.where(~boxes.absent()[members.row])
    corners = boxes.corners[given.row]
    # relative to the first box of each result, so that equal boxes stay exactly equal
    first = np.zeros((members.count, 4))
    first[given.owner[::-1]] = corners[::-1]
    weight = total(given.owner, given.weight, members.count)
    moved = (corners - first[given.owner]).T * given.weight
    sums = np.stack([total(given.owner, side, members.count) for side in moved])
    with np.errstate(invalid="ignore"):  # 0 / 0 means no box
        return Boxes(first + (sums / weight).T)


def fuse_poses(poses: Keypoints, members: Members) -> Keypoints:
    """Return the median of each keypoint over the raters who labelled it, if at least half of the poses have it."""
    given = members.where(poses.present[members.row])
    starts = np.searchsorted(given.owner, np.arange(members.count + 1))
    joints = poses.points.shape[1]
    points, visible = np.full((members.count, joints, 2), np.nan), np.zeros((members.count, joints), np.bool_)
    size = np.full((members.count, 2), np.nan)
    for unit, (begin, end) in enumerate(pairwise(starts.tolist())):
        rows = given.row[begin:end]
        if not len(rows):
            continue
        size[unit] = poses.size[rows[0]]
        labelled = poses.visible[rows]
        visible[unit] = 2 * labelled.sum(axis=0) >= len(rows)
        visible[unit] &= labelled.any(axis=0)
        for joint in np.flatnonzero(visible[unit]):
            points[unit, joint] = np.median(poses.points[rows[labelled[:, joint]], joint], axis=0)
    return Keypoints(points, visible, size, np.diff(starts) > 0)


def fuse_regions(members: Members, region: str) -> Masks:
    """Fuse the members with a region into pixels by vote or STAPLE; no mask if no member has a region."""
    shapes = members.source.shapes
    absent = [shapes[kind].absent()[members.row] for kind in ("polygon", "mask") if kind in shapes]
    given = members.where(~np.logical_and.reduce(absent))
    sizes = canvas_sizes(members.source)
    unknown = np.flatnonzero((sizes[members.source.image[given.row]] == 0).any(axis=1))
    if len(unknown):
        images = listed(dict.fromkeys(members.source.images[members.source.image[given.row[unknown]]]))
        raise InputError(
            f"annotations: expected the width and height of every image with polygons, got none of {images}"
        )
    masks = masks_of(members.source, given.row, sizes)
    size = np.zeros((members.count, 2), np.intp)
    size[given.owner] = masks.size
    if region == "staple":
        return _likely_pixels(masks, given.owner, size)
    return voted_pixels(masks, given.owner, size)


def voted_pixels(masks: Masks, owner: NDArray[np.intp], size: NDArray[np.intp]) -> Masks:
    """Return C masks of the pixels in at least half of each owner's masks, without rasterising.

    Parameters
    ----------
    masks : Masks
        M masks.
    owner : (M,) int
    size : (C, 2) int
        Canvas size of each owner, the same for all its masks.

    Examples
    --------
    >>> masks = Masks.from_arrays([[[1, 1, 1, 0]], [[0, 1, 1, 0]], [[0, 0, 1, 1]]])
    >>> pixels_of(voted_pixels(masks, np.array([0, 0, 0]), np.array([[4, 1]])), 0).astype(int).tolist()
    [[0, 1, 1, 0]]
    """
    runs = np.diff(masks.run_start)
    owner_of_run = np.repeat(owner, runs)
    first = masks.first.astype(np.intp)
    # one event at the start and one at the end of each run; the number of masks is constant between two events
    index = np.concatenate([first, first + masks.length])
    change = np.repeat([1, -1], len(first))
    owner_of_event = np.tile(owner_of_run, 2)
    order = np.lexsort((index, owner_of_event))
    index, owner_of_event = index[order], owner_of_event[order]
    masks_there = np.cumsum(change[order])  # returns to 0 at the end of each owner
    members = np.bincount(owner, minlength=len(size))
    inside = 2 * masks_there >= members[owner_of_event]
    inside &= masks_there > 0
    start = np.flatnonzero(inside)
    return Masks.from_spans(size, owner_of_event[start], index[start], index[start + 1])


def _likely_pixels(masks: Masks, owner: NDArray[np.intp], size: NDArray[np.intp]) -> Masks:
    """C masks of pixels with a STAPLE probability of at least one half, within the bounds of an owner's masks."""
    bounds = np.nan_to_num(masks.bounds()).astype(np.intp)
    starts = np.searchsorted(owner, np.arange(len(size) + 1))
    spans = []
    for unit, (begin, end) in enumerate(pairwise(starts.tolist())):
        with_pixels = [index for index in range(begin, end) if masks.run_start[index + 1] > masks.run_start[index]]
        if not with_pixels:
            continue
        left, top = bounds[with_pixels, :2].min(axis=0)
        right, bottom = bounds[with_pixels, 2:].max(axis=0)
        stack = np.stack([pixels_of(masks, index)[top:bottom, left:right] for index in range(begin, end)])
        column, row = np.nonzero(_likely(stack).T)
        pixel = (column + left) * size[unit, 1] + row + top
        spans.append(np.stack([np.full(len(pixel), unit), pixel, pixel + 1], axis=1))
    which, start, stop = np.concatenate([np.zeros((0, 3), np.intp), *spans]).T
    return Masks.from_spans(size, which, start, stop)


def _likely(stack: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """(H, W) pixels of masks (N, H, W) with a STAPLE probability of at least one half; a single mask is returned."""
    if len(stack) == 1:
        return np.asarray(stack[0])
    patterns = find_patterns(MaskStack(stack, np.arange(len(stack)).astype(object)))
    found = expectation_maximisation(patterns.votes, patterns.count, iterations=ITERATIONS)
    return np.asarray(patterns.at_pixels(found.probability >= 0.5))
