"""An agreement narrowed down to a class, a rater, some images, or all of these; nothing is matched again.

A *class* stands for the units in which somebody chose it, as in `class_difficulty`. A *rater* stands for the pairs of
this rater with each other rater who was assigned: each unit becomes one pair of values for every other rater, unless
neither of the two annotated it.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """The numbers of a part of an agreement; what lies behind them is computed when it is asked for.

    Figures: ``"images"``, ``"classes"``.

    Parameters
    ----------
    category, rater : str, optional
        What the part is of.
    sums : ImageSums
        All units of the images it is of.

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
        """Those of the agreement on the images of the part; shapes may be gone."""
        return self.sums.part.annotations

    @property
    def headline(self) -> str:
        """The finding, in words."""
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
        """Why `alpha` has no interval, in words; "" where it has one, or none was asked for."""
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
        """Of all units of the part in one matrix."""
        return float(self._whole.global_alpha[0])

    @property
    def global_alpha_interval(self) -> NDArray[np.float64]:
        """(2,) as `alpha_interval`."""
        return np.asarray(self._whole.global_alpha_interval[0])

    @property
    def images(self) -> int:
        """How many images have an alpha."""
        return int(np.isfinite(self.image_alpha).sum())

    @property
    def units(self) -> int:
        """How many units there are; of a rater's, the pairs."""
        return len(self._part.units)

    @property
    def image_alpha(self) -> NDArray[np.float64]:
        """(I,) alpha of each image; NaN where undefined."""
        return self._cells.value

    @cached_property
    def class_difficulty(self) -> ClassDifficulty:
        """Of the rater's pairs if there is a rater; never cut down to one class."""
        if self.rater is None:
            return self.sums.class_difficulty
        return class_difficulty_of(self._of_rater(self.sums.part), self.sums.configuration)

    @cached_property
    def collaboration(self) -> Collaboration | Undefined:
        """Of the units with the class if there is a class, as they were matched by all; never cut down to one rater.

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
        """Of all classes and raters: it is never cut down to one of them."""
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
    """The numbers of one class, of one rater, of some images, of all of these together, or of all of an agreement.

    Parameters
    ----------
    agreement : Agreement or ImageSums
        Its configuration also says how intervals are drawn.
    category, rater : str, optional
        Names of the agreement.
    images : (J,) int, optional
        Codes of images, each once; all unless given.

    Returns
    -------
    NarrowedAgreement

    Raises
    ------
    InputError
        For a class or rater that it does not know.

    Examples
    --------
    Three raters, one object; the third calls it a dog. Of the pairs of the third, none agrees: n = 4, D_o = 1,
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
