"""Agreement narrowed to a class, a rater, some images, or all of these, without matching again.

A *class* selects the units in which a rater chose it, as in `class_difficulty`. A *rater* selects the pairs of this
rater with every other assigned rater: each unit becomes one pair of values for each other rater, unless neither of the
two annotated it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement_of, undefined_text
from kalos_core.annotations import Annotations
from kalos_core.diagnostics.classes import ClassDifficulty, class_difficulty_of
from kalos_core.diagnostics.parts import Part, estimate_cells, where_seen
from kalos_core.diagnostics.rater_pairs import Collaboration
from kalos_core.diagnostics.sums import ImageSums
from kalos_core.diagnostics.vitality import RaterVitality
from kalos_core.display import bracketed, number_of
from kalos_core.errors import Undefined, index_of
from kalos_core.inference import why_no_interval
from kalos_core.options import checked
from kalos_core.resampling import Cells, Estimates
from kalos_core.results import Result, part_text


@dataclass(frozen=True, eq=False, repr=False)
class NarrowedAgreement(Result):
    """Agreement of a part, computed lazily.

    Figures: ``"images"``, ``"classes"``.

    Parameters
    ----------
    category, rater : str, optional
        Class and rater of the part.
    sums : ImageSums
        All units on the images of the part.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = narrowed(agreement(Annotations.from_rows(rows)), category="cat")
    >>> found.alpha, found.images, found.units
    (1.0, 1, 1)
    """

    _call = "narrowed(agreement)"
    _columns = "image:annotations.images file:annotations.files alpha:image_alpha"
    _shows_table = False

    category: str | None
    rater: str | None
    sums: ImageSums

    @property
    def annotations(self) -> Annotations:
        """Annotations of the agreement on the images of the part; shapes may be missing."""
        return self.sums.part.annotations

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        if np.isnan(self.alpha):
            return undefined_text(self.sums.configuration, part_text(self.category, self.rater))
        interval = bracketed(self.alpha_interval, why=self.why_no_interval)
        return (
            f"{self.sums.configuration.notation} = {self.alpha:.3f}{interval}{part_text(self.category, self.rater)}, "
            f"mean over {number_of(self.images, 'image')}; {self.global_alpha:.3f} over all "
            f"{number_of(self.units, 'unit')}"
        )

    @property
    def why_no_interval(self) -> str:
        """Reason why `alpha` has no interval; "" if it has one, or none was requested."""
        return why_no_interval(self.alpha_interval, self.images, self.sums.configuration.bootstrap)

    @property
    def alpha(self) -> float:
        """Mean of the defined image alphas, as in `Agreement`."""
        return float(self._whole.alpha[0])

    @property
    def alpha_interval(self) -> NDArray[np.float64]:
        """(2,) 95 % bootstrap interval over images; NaN without one."""
        return np.asarray(self._whole.alpha_interval[0])

    @property
    def global_alpha(self) -> float:
        """Alpha of all units of the part in one matrix."""
        return float(self._whole.global_alpha[0])

    @property
    def global_alpha_interval(self) -> NDArray[np.float64]:
        """(2,) 95 % bootstrap interval of `global_alpha`; see `alpha_interval`."""
        return np.asarray(self._whole.global_alpha_interval[0])

    @property
    def images(self) -> int:
        """Number of images that have an alpha."""
        return int(np.isfinite(self.image_alpha).sum())

    @property
    def units(self) -> int:
        """Number of units; for a rater, number of pairs."""
        return len(self._part.units)

    @property
    def image_alpha(self) -> NDArray[np.float64]:
        """(I,) alpha of each image; NaN if undefined."""
        return self._cells.value

    @property
    def by_rater(self) -> Estimates:
        """Estimates for each rater, narrowed to the class, if there is one, and not to `rater`; computed once."""
        made, names = self.sums.by_rater, self.sums.part.annotations.raters.tolist()
        if self.category not in made:
            each = [narrowed(self.sums, self.category, name)._whole for name in names]
            columns = ([getattr(one, entry.name) for one in each] for entry in fields(Estimates))
            made[self.category] = Estimates(*map(np.concatenate, columns))
        return made[self.category]

    @cached_property
    def class_difficulty(self) -> ClassDifficulty:
        """Class difficulty, from the rater's pairs if there is a rater; never narrowed to one class."""
        if self.rater is None:
            return self.sums.class_difficulty
        return class_difficulty_of(self._of_rater(self.sums.part), self.sums.configuration)

    @cached_property
    def collaboration(self) -> Collaboration | Undefined:
        """Collaboration on the units with the class, if there is one, as matched by all; never narrowed to one rater.

        `Undefined` for raters that are local to their image.
        """
        pairs = self.sums.collaboration
        if self.category is None or isinstance(pairs, Undefined):
            return pairs
        annotations, own = self.sums.part.annotations, self.sums.part.with_class(self._category)
        count = len(np.triu_indices(len(annotations.raters), 1)[0])
        made = estimate_cells(annotations, self.sums.configuration, own.pair_cells(self._category), count)
        return pairs.with_pairs(made, annotations.assigned.sum(axis=0))

    @property
    def vitality(self) -> RaterVitality | Undefined:
        """Vitality over all classes and raters; never narrowed to one of them."""
        return self.sums.vitality

    @cached_property
    def _category(self) -> int:
        return index_of(self.sums.part.annotations.categories.tolist(), str(self.category), "category")

    @cached_property
    def _part(self) -> Part:
        part = self.sums.part if self.category is None else self.sums.part.with_class(self._category)
        part = part if self.rater is None else self._of_rater(part)
        return part if self.category is None or self.rater is None else part.with_class(self._category)

    def _of_rater(self, part: Part) -> Part:
        return part.of_rater(index_of(part.annotations.raters.tolist(), str(self.rater), "rater"))

    @cached_property
    def _cells(self) -> Cells:
        cells = self._part.cells() if self.category is None else self._part.bare_cells()
        return where_seen(cells, self.sums.part.units)

    @cached_property
    def _whole(self) -> Estimates:
        return estimate_cells(self.sums.part.annotations, self.sums.configuration, self._cells, 1)


@checked
def narrowed(
    agreement: Agreement | ImageSums,
    category: str | None = None,
    rater: str | None = None,
    images: NDArray[np.intp] | list[int] | None = None,
) -> NarrowedAgreement:
    """Narrow an agreement to one class, one rater, some images, or a combination of these.

    Parameters
    ----------
    agreement : Agreement or ImageSums
        Its configuration also sets the bootstrap.
    category, rater : str, optional
        Names in the agreement.
    images : (J,) int, optional
        Codes of distinct images; by default all.

    Returns
    -------
    NarrowedAgreement

    Raises
    ------
    InputError
        If the agreement does not contain the class or rater.

    Examples
    --------
    Three raters, one object; the third calls it a dog. None of the third's pairs agrees: n = 4, D_o = 1,
    D_e = 8 / 12.

    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", "cat"), ("bob", "cat"), ("cid", "dog")]
    >>> rows = [{"image": 1, "rater": r, "category": c, "box": [0, 0, 9, 9]} for r, c in given]
    >>> found = narrowed(agreement(Annotations.from_rows(rows)), rater="cid")
    >>> found.alpha, found.units, found.class_difficulty.category.tolist()
    (-0.5, 2, ['cat', 'dog'])
    """
    if not isinstance(agreement, ImageSums):
        agreement = ImageSums.of(agreement_of(agreement))
    annotations = agreement.part.annotations
    if category is not None:
        index_of(annotations.categories.tolist(), category, "category")
    if rater is not None:
        index_of(annotations.raters.tolist(), rater, "rater")
    return NarrowedAgreement(category, rater, agreement if images is None else agreement.of_images(images))
