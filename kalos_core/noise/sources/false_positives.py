"""Where false positives are added: places that could be mistaken for an object (KαLOS §9.3.3, "visual ghosts")."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import blocks_of_runs, run_starts
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, check_whole, listed, repr_of
from kalos_core.files import open_image
from kalos_core.shapes import Boxes, ShapeColumn
from kalos_core.similarity.boxes import box_iou

FREE_BELOW = 0.1
"""IoU with every annotation below which a proposal is free (KαLOS §9.3.3)."""

ALIKE_FROM = 0.5
"""IoU from which two proposals are the same: raters who add either would be matched (KαLOS §9.2)."""

LONGEST_SIDE = 256
"""Length in pixels to which the longer side of an image is reduced before the search for regions."""

LEAST_SIDE = 5
"""Minimum width and height of a region, in pixels of the reduced image."""

REGION_SHARES = (0.0005, 0.5)
"""Minimum and maximum share of the image that the box of a region may cover."""

LEAST_FILL = 0.4
"""Minimum share of its box that a region fills; it rejects the rims of objects, which are regions too."""


@dataclass(frozen=True, eq=False)
class Proposals:
    """P places where an annotation could be added.

    Parameters
    ----------
    image : (P,) int
        Code of the image in the reference.
    corners : (P, 4) float64
        x_min, y_min, x_max, y_max in pixels.
    donors : mapping kind -> shape column
        Sources of the outlines, including boxes; an outline is moved and scaled with its box.
    donor : (P,) int
        Row of each proposal in `donors`.

    Raises
    ------
    InputError
        For corners that are not finite, or a box without width or height.

    Examples
    --------
    >>> rows = [{"image": i, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9 * i]} for i in (1, 2)]
    >>> reference = Annotations.from_rows(rows, image_size={1: (90, 90), 2: (90, 90)})
    >>> proposals = TransplantedFalsePositives(per_image=1).propose(reference, np.random.default_rng(0))
    >>> proposals.corners.tolist(), proposals.free_of(reference).tolist()
    ([[0.0, 0.0, 9.0, 18.0], [0.0, 0.0, 9.0, 9.0]], [False, False])
    """

    image: NDArray[np.intp]
    corners: NDArray[np.float64]
    donors: Mapping[str, ShapeColumn]
    donor: NDArray[np.intp]

    def __post_init__(self) -> None:
        finite = np.isfinite(self.corners).all(axis=1)
        wide = (self.corners[:, 2:] > self.corners[:, :2]).all(axis=1)
        if not (finite & wide).all():
            bad = self.corners[~(finite & wide)]
            raise InputError(
                f"proposals: expected finite corners of boxes with width and height, got {listed(bad.tolist())}"
            )

    def __len__(self) -> int:
        return len(self.image)

    def free_of(self, reference: Annotations) -> NDArray[np.bool_]:
        """Check whether the centre is on the image and the IoU with every annotation there is below 0.1 (P,)."""
        order = np.argsort(reference.image, kind="stable")
        count = np.bincount(reference.image, minlength=len(reference.images))
        first = run_starts(count)[self.image]
        centre = (self.corners[:, :2] + self.corners[:, 2:]) / 2
        inside = (centre >= 0) & (centre <= reference.image_size[self.image])
        free: NDArray[np.bool_] = np.all(inside, axis=1)
        annotated, boxes = Boxes(reference.shapes["box"].bounds()), Boxes(self.corners)
        for proposal, position in blocks_of_runs(first, count[self.image]):
            taken = box_iou(boxes, proposal, annotated, order[position]) >= FREE_BELOW
            free[proposal[taken]] = False
        return free

    def apart(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the given proposals without duplicates, by ascending row; of two similar proposals the first is kept.

        Otherwise annotations that two raters add at nearly the same place would be of two objects.

        Examples
        --------
        >>> rows = [{"image": 1, "rater": "net", "category": "thing", "box": [x, 0, 9, 9]} for x in (0, 1, 40)]
        >>> table = Annotations.from_rows(rows)
        >>> found = DetectedFalsePositives(table).propose(table, np.random.default_rng(0))
        >>> found.apart(np.arange(3)).tolist(), found.apart(np.array([1])).tolist(), found.apart(np.arange(0)).tolist()
        ([0, 2], [1], [])
        """
        rows = rows[np.argsort(self.image[rows], kind="stable")]
        image, after = self.image[rows], np.arange(1, len(rows) + 1)
        boxes, pairs = Boxes(self.corners), [np.zeros((2, 0), np.intp)]
        for one, other in blocks_of_runs(after, np.searchsorted(image, image, side="right") - after):
            alike = box_iou(boxes, rows[one], boxes, rows[other]) >= ALIKE_FROM
            pairs.append(np.stack([one[alike], other[alike]]))
        early, late = np.concatenate(pairs, axis=1)
        kept = np.ones(len(rows), np.bool_)
        while len(early):
            first = np.ones(len(rows), np.bool_)
            first[late] = False
            kept[late[first[early]]] = False
            undecided = kept[early] & kept[late]
            early, late = early[undecided], late[undecided]
        return np.sort(rows[kept])


class FalsePositiveSource(Protocol):
    """Source of places where an annotation could be added."""

    @property
    def name(self) -> str:
        """Human-readable description, kept in the result."""
        ...

    def propose(self, reference: Annotations, rng: np.random.Generator) -> Proposals:
        """Propose places on the images of a reference; those that it has annotated already are left out later."""
        ...


@dataclass(frozen=True)
class TransplantedFalsePositives:
    """Annotations of other images, at the same place relative to the image; needs no image files.

    Parameters
    ----------
    per_image : int, at least 1
        Number of annotations sampled for each image, uniformly from those of all other images.

    Examples
    --------
    >>> TransplantedFalsePositives().name
    'annotations of other images (64 per image)'
    """

    per_image: int = 64

    def __post_init__(self) -> None:
        object.__setattr__(self, "per_image", check_whole(self.per_image, "per_image", least=1))

    @property
    def name(self) -> str:
        """Description with the number per image."""
        return f"annotations of other images ({self.per_image} per image)"

    def propose(self, reference: Annotations, rng: np.random.Generator) -> Proposals:
        """Propose the places of annotations sampled from other images; none if no other image has any."""
        bounds = reference.shapes["box"].bounds()
        wide = np.flatnonzero((bounds[:, 2:] > bounds[:, :2]).all(axis=1))
        order = wide[np.argsort(reference.image[wide], kind="stable")]
        count = np.bincount(reference.image[wide], minlength=len(reference.images))
        image = np.repeat(np.flatnonzero(count < len(order)), self.per_image)
        position = rng.integers(0, len(order) - count[image])
        own_begin = run_starts(count)[image]
        donor = order[np.where(position < own_begin, position, position + count[image])]
        ratio = reference.image_size[image] / reference.image_size[reference.image[donor]]
        corners = bounds[donor] * np.tile(ratio, 2)
        return Proposals(image, corners, reference.shapes, donor)


@dataclass(frozen=True, eq=False)
class DetectedFalsePositives:
    """Boxes of a detector, or any other annotations; their classes and raters are ignored.

    Parameters
    ----------
    detections : Annotations
        Boxes, optionally with outlines, on images with the ids of the reference, in pixels of these images.

    Raises
    ------
    InputError
        If a detection has no box; if none of the images is in the reference.

    Examples
    --------
    >>> rows = [{"image": 1, "rater": "detector", "category": "thing", "box": [5, 5, 9, 9]}]
    >>> DetectedFalsePositives(Annotations.from_rows(rows)).name
    'detections (1 on 1 image)'
    """

    detections: Annotations

    def __post_init__(self) -> None:
        boxes = self.detections.shapes.get("box")
        if boxes is None or boxes.absent().any():
            raise InputError("detections: expected a box for each, got none or some without")

    @property
    def name(self) -> str:
        """Description with the number of detections."""
        return f"detections ({len(self.detections):,} on {number_of(len(self.detections.images), 'image')})"

    def propose(self, reference: Annotations, rng: np.random.Generator) -> Proposals:  # noqa: ARG002 - nothing is drawn
        """Propose all detections on images of the reference."""
        code = {key: index for index, key in enumerate(reference.images)}
        image_code = np.array([code.get(key, -1) for key in self.detections.images], dtype=np.intp)
        if not (image_code >= 0).any():
            actual = listed(map(repr_of, self.detections.images)) or "none"
            raise InputError(f"detections: expected images of the reference, got {actual}")
        image = image_code[self.detections.image]
        donor = np.flatnonzero(image >= 0)
        corners = self.detections.shapes["box"].bounds()[donor]
        return Proposals(image[donor], corners, self.detections.shapes, donor)


@dataclass(frozen=True, eq=False)
class ImageFalsePositives:
    """Regions of the images themselves: even patches found by scikit-image (Felzenszwalb and Huttenlocher 2004).

    The paper uses the proposals of a detector (OWL-ViT); this source needs no model.

    Parameters
    ----------
    images : folder, or mapping image id -> path
        A folder with the files named by the reference, or the path of each image.

    Raises
    ------
    InputError
        If they are neither; when proposing, if images are missing or cannot be opened.

    Examples
    --------
    >>> ImageFalsePositives("images").name
    'regions of the images (scikit-image)'
    """

    images: str | os.PathLike[str] | Mapping[Hashable, str | os.PathLike[str]]

    def __post_init__(self) -> None:
        if not isinstance(self.images, (str, os.PathLike, Mapping)):
            raise InputError(
                f"images: expected a folder, or a mapping from images to paths, got {repr_of(self.images)}"
            )

    @property
    def name(self) -> str:
        """Description of the source."""
        return "regions of the images (scikit-image)"

    def propose(self, reference: Annotations, rng: np.random.Generator) -> Proposals:  # noqa: ARG002 - nothing is drawn
        """Propose the boxes of the regions of every image."""
        paths = self._paths(reference)
        boxes = [image_regions(path) * np.tile(size, 2) for path, size in zip(paths, reference.image_size, strict=True)]
        corners = np.concatenate([np.zeros((0, 4)), *boxes])
        image = np.repeat(np.arange(len(boxes)), [len(part) for part in boxes])
        return Proposals(image, corners, {"box": Boxes(corners)}, np.arange(len(corners)))

    def _paths(self, reference: Annotations) -> list[Path]:
        problems = Problems("images")
        paths = []
        for key, file in zip(reference.images, reference.files, strict=True):
            path = Path(self.images.get(key) or "") if isinstance(self.images, Mapping) else Path(self.images) / file
            if not os.path.isfile(path):
                problems.add(f"image {key!r}", "an image file", "nothing" if str(path) == "." else f"no file {path}")
            paths.append(path)
        problems.raise_if_any()
        return paths


def image_regions(path: Path) -> NDArray[np.float64]:
    """Find the boxes (Q, 4) of the even regions of an image, relative to its width and height.

    Raises
    ------
    InputError
        If the file cannot be opened as an image.
    """
    from scipy import ndimage
    from skimage.segmentation import felzenszwalb  # slow to import, and only needed here

    with open_image(path) as opened:
        opened.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        pixels = np.asarray(opened.convert("RGB"))
    regions = felzenszwalb(pixels, scale=100, sigma=0, min_size=LEAST_SIDE**2)  # the reduction smoothed it already
    found = [(across.start, down.start, across.stop, down.stop) for down, across in ndimage.find_objects(regions + 1)]
    corners = np.array(found, dtype=np.float64).reshape(-1, 4)
    sides = corners[:, 2:] - corners[:, :2]
    area = sides.prod(axis=1)
    filled = np.bincount(regions.ravel(), minlength=len(corners)) / area
    least, largest = (share * regions.size for share in REGION_SHARES)
    kept = (area >= least) & (area <= largest) & (filled >= LEAST_FILL) & (sides >= LEAST_SIDE).all(axis=1)
    height, width = regions.shape
    return np.asarray(corners[kept] / (width, height, width, height))
