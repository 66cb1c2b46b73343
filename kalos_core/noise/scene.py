"""Reference in the form that the stages of generation use: positions and sizes relative to the image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import run_starts
from kalos_core.noise.sources import Proposals, Transitions
from kalos_core.shapes import Boxes
from kalos_core.similarity.boxes import box_iou

LEAST_AREA = 1e-9
"""Share of the image that replaces an area of 0, which has no logarithm."""


@dataclass(frozen=True, eq=False)
class Scene:
    """N reference annotations of one rater on I images, and possible additions.

    Parameters
    ----------
    image, category : (N,) int
    corners : (N, 4) float64
        Corners of the boxes in pixels.
    image_size : (I, 2) float64
    assigned : (I,) bool
        Images that the rater is assigned to; nothing is added to others.
    transitions : Transitions
    proposals : Proposals
    free : (F,) int
        Proposals on assigned images that coincide neither with an annotation nor with one another.
    seen : (I,) bool
        Images with an annotation of any rater.
    """

    image: NDArray[np.intp]
    category: NDArray[np.intp]
    corners: NDArray[np.float64]
    image_size: NDArray[np.float64]
    assigned: NDArray[np.bool_]
    transitions: Transitions
    proposals: Proposals
    free: NDArray[np.intp]
    seen: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.image)

    @cached_property
    def centre(self) -> NDArray[np.float64]:
        """(N, 2) centres of the boxes, in widths and heights of the image."""
        return np.asarray((self.corners[:, :2] + self.corners[:, 2:]) / 2 / self.image_size[self.image])

    @cached_property
    def size(self) -> NDArray[np.float64]:
        """(N, 2) widths and heights of the boxes, relative to those of the image."""
        return np.asarray((self.corners[:, 2:] - self.corners[:, :2]) / self.image_size[self.image])

    @cached_property
    def area(self) -> NDArray[np.float64]:
        """(N,) areas of the boxes as shares of the image."""
        return np.asarray(np.maximum(self.size.prod(axis=1), LEAST_AREA))

    @cached_property
    def annotation_count(self) -> NDArray[np.intp]:
        """(I,) number of annotations of each image."""
        return np.bincount(self.image, minlength=len(self.image_size))

    @cached_property
    def classes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Codes of the distinct classes, image by image, and (I + 1,) where each image begins in them."""
        count = len(self.transitions.categories)
        image, category = np.divmod(np.unique(self.image * count + self.category), count)
        return category, run_starts(np.bincount(image, minlength=len(self.image_size)))

    def has(self, image: NDArray[np.intp], category: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Check whether images have an annotation of a class (M,)."""
        count = len(self.transitions.categories)
        return np.isin(image * count + category, self.image * count + self.category)

    @cached_property
    def proposed_area(self) -> NDArray[np.float64]:
        """(F,) areas of the free proposals as shares of their image."""
        corners = self.proposals.corners[self.free]
        size = (corners[:, 2:] - corners[:, :2]) / self.image_size[self.proposals.image[self.free]]
        return np.asarray(np.maximum(size.prod(axis=1), LEAST_AREA))

    def overlap(self, rows: NDArray[np.intp], corners: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the IoU (M,) of boxes (M, 4) in pixels with annotations; 1 for an annotation without area."""
        index = np.arange(len(rows))
        found = box_iou(Boxes(self.corners), rows, Boxes(corners), index)
        return np.where((self.size[rows] > 0).all(axis=1), found, 1.0)

    def moved(
        self, rows: NDArray[np.intp], shift: NDArray[np.float64], scale: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Move annotations (M,) by shares of their image (M, 2), and scale them (M, 2), within the limits of the image.

        A centre outside of the image is moved to its edge (KαLOS §9.3.1). A side becomes no longer than that of the
        image, and no shorter than a pixel unless it was shorter before.

        Returns
        -------
        corners : (M, 4) float64
            Corners in pixels.
        shift, scale : (M, 2) float64
            Shift and scale after applying the limits.
        """
        pixels, centre, size = self.image_size[self.image[rows]], self.centre[rows], self.size[rows]
        to = np.clip(centre + shift, 0, 1)
        sides = np.clip(size * scale, np.minimum(size, 1 / pixels), 1)
        middle, half = to * pixels, sides * pixels / 2
        remaining = np.divide(sides, size, out=np.ones_like(sides), where=size > 0)
        return np.concatenate([middle - half, middle + half], axis=1), to - centre, remaining
