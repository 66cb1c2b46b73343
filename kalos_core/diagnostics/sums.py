"""Coincidence sums of each image of an agreement, sufficient for statistics of any images without rematching."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core._agreement import Agreement, AgreementSettings
from kalos_core.annotations.columns import new_codes, positions
from kalos_core.diagnostics.classes import ClassDifficulty, class_difficulty_of
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rater_pairs import Collaboration, collaboration_of, pair_cells
from kalos_core.diagnostics.vitality import RaterVitality, left_out_cells, vitality_of
from kalos_core.errors import Undefined, or_reason
from kalos_core.reliability import Units
from kalos_core.resampling import Cells, Estimates


@dataclass(frozen=True, eq=False)
class ImageSums:
    """Units of an agreement, and cells from rematching some of its raters on each image.

    Parameters
    ----------
    part : Part
        All units; shapes are not needed.
    configuration : AgreementSettings
    pairs, left_out : Cells
        Results of `pair_cells` and `left_out_cells`; `Undefined` if raters do not allow them.
    by_rater : dict of str or None to Estimates
        Results of `NarrowedAgreement.by_rater`: class, None for all -> estimates of all raters.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in (1, 2) for r in "abc"]
    >>> sums = ImageSums.of(agreement(Annotations.from_rows(rows)))
    >>> sums.pair_alphas.tolist(), len(sums.of_images([1]).part.units)
    ([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], 1)
    """

    part: Part
    configuration: AgreementSettings
    pairs: Cells | Undefined
    left_out: Cells | Undefined
    by_rater: dict[str | None, Estimates] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def of(cls, agreement: Agreement) -> ImageSums:
        """Compute the sums of an agreement."""
        pairs, left_out = or_reason(pair_cells, agreement), or_reason(left_out_cells, agreement)
        return cls(Part.of(agreement), agreement.configuration, pairs, left_out)

    @cached_property
    def class_difficulty(self) -> ClassDifficulty:
        """See the function `class_difficulty`."""
        return class_difficulty_of(self.part, self.configuration)

    @cached_property
    def collaboration(self) -> Collaboration | Undefined:
        """See the function `collaboration`; `Undefined` if there is no result."""
        if isinstance(self.pairs, Undefined):
            return self.pairs
        return collaboration_of(self.pairs, self.part.annotations, self.configuration)

    @cached_property
    def vitality(self) -> RaterVitality | Undefined:
        """See `rater_vitality`; `Undefined` if there is no result."""
        if isinstance(self.left_out, Undefined):
            return self.left_out
        return vitality_of(self.left_out, self.part.annotations, self.configuration)

    @property
    def pair_alphas(self) -> NDArray[np.float64]:
        """(I, P) alpha of all images for every two raters, matched on these alone, ordered as `numpy.triu_indices`.

        NaN if undefined; no columns for raters who are local.
        """
        if isinstance(self.pairs, Undefined):
            return np.empty((self.part.images, 0))
        raters = len(self.part.annotations.raters)
        found = np.full((self.part.images, raters * (raters - 1) // 2), np.nan)
        found[self.pairs.image, self.pairs.statistic] = self.pairs.seen().value
        return found

    def of_images(self, images: ArrayLike) -> ImageSums:
        """Select images (J,) in the order given; the result equals that of an agreement of these images alone."""
        images = positions(images, self.part.images, "images")
        code = new_codes(images, self.part.images)

        def kept(cells: Cells | Undefined) -> Cells | Undefined:
            if isinstance(cells, Undefined):
                return cells
            taken = cells.take(np.flatnonzero(code[cells.image] >= 0))
            return replace(taken, image=code[taken.image])

        units, annotations = self.part.units, self.part.annotations.select(images=images)
        own = code[units.image] >= 0
        part = Part(annotations, Units(code[units.image[own]], units.values[own]))
        return replace(self, part=part, pairs=kept(self.pairs), left_out=kept(self.left_out))
