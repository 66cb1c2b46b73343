"""A reference as the stages of generation see it: positions and sizes relative to the image."""

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
"""Share of the image that counts as the area of a box without any: it has a logarithm."""


@dataclass(frozen=True, eq=False)
class Scene:
    """N reference annotations of one rater on I images, and what could be added to them.

    Parameters
    ----------
    image, category : (N,) int
    corners : (N, 4) float64
        In pixels.
    image_size : (I, 2) float64
    assigned : (I,) bool
        Images that the rater is assigned to: nothing is added to others.
    transitions : Transitions
    proposals : Proposals
    free : (F,) int
        The proposals that are none of the annotations, nor one another, on assigned images.
    seen : (I,) bool
        Images on which anybody has annotated anything.
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
        """(I,) how many annotations each image has."""
        return np.bincount(self.image, minlength=len(self.image_size))

    @cached_property
    def classes(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Codes of the distinct classes of one image after the other, and (I + 1,) where each image begins there."""
        count = len(self.transitions.categories)
        image, category = np.divmod(np.unique(self.image * count + self.category), count)
        return category, run_starts(np.bincount(image, minlength=len(self.image_size)))

    def has(self, image: NDArray[np.intp], category: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(M,) whether images have an annotation of a class."""
        count = len(self.transitions.categories)
        return np.isin(image * count + category, self.image * count + self.category)

    @cached_property
    def proposed_area(self) -> NDArray[np.float64]:
        """(F,) areas of the free proposals as shares of their image."""
        corners = self.proposals.corners[self.free]
        size = (corners[:, 2:] - corners[:, :2]) / self.image_size[self.proposals.image[self.free]]
        return np.asarray(np.maximum(size.prod(axis=1), LEAST_AREA))

    def overlap(self, rows: NDArray[np.intp], corners: NDArray[np.float64]) -> NDArray[np.float64]:
        """(M,) IoU of boxes (M, 4) in pixels with annotations; 1 for an annotation without area, which has none."""
        index = np.arange(len(rows))
        found = box_iou(Boxes(self.corners), rows, Boxes(corners), index)
        return np.where((self.size[rows] > 0).all(axis=1), found, 1.0)

    def moved(
        self, rows: NDArray[np.intp], shift: NDArray[np.float64], scale: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Annotations (M,) moved by shares of their image (M, 2), and scaled (M, 2), within what an image allows.

        A centre outside of the image is moved to its edge (KαLOS §9.3.1). A side becomes no longer than that of the
        image, and no shorter than a pixel if it was not before.

        Returns
        -------
        corners : (M, 4) float64
            In pixels.
        shift, scale : (M, 2) float64
            What remains of them.
        """
        pixels, centre, size = self.image_size[self.image[rows]], self.centre[rows], self.size[rows]
        to = np.clip(centre + shift, 0, 1)
        sides = np.clip(size * scale, np.minimum(size, 1 / pixels), 1)
        middle, half = to * pixels, sides * pixels / 2
        remaining = np.divide(sides, size, out=np.ones_like(sides), where=size > 0)
        return np.concatenate([middle - half, middle + half], axis=1), to - centre, remaining
