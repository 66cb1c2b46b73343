"""An agreement narrowed down to one class, one rater, or one rater's view of one class; nothing is matched again.

A *class* stands for the units in which somebody chose it, as in `class_difficulty`. A *rater* stands for the pairs of
this rater with each other rater who was assigned: each unit becomes one pair of values for every other rater, unless
neither of the two annotated it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, Configuration, check_agreement
from kalos_core.diagnostics.classes import ClassDifficulty, class_difficulty
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rater_pairs import Collaboration, collaboration
from kalos_core.errors import InputError, Undefined, listed, or_reason
from kalos_core.resampling import Cells, Estimates, estimate


@dataclass(frozen=True, eq=False)
class NarrowedAgreement:
    """The numbers of a part of an agreement. I images.

    Parameters
    ----------
    category, rater : str, optional
        What the part is of.
    alpha, alpha_interval, global_alpha, global_alpha_interval : float, (2,) float
        As in `Agreement`.
    images, units : int
        How many have an alpha, and how many there are.
    image_alpha : (I,) float64
        NaN where undefined.
    class_difficulty : ClassDifficulty
        Of the rater's pairs if there is a rater; never cut down to one class.
    collaboration : Collaboration
        Of the units with the class if there is a class, as they were matched by all; never cut down to one rater.
        `Undefined` for raters that are local to their image.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = narrowed(agreement(Annotations.from_rows(rows)), category="cat")
    >>> found.alpha, found.images, found.units
    (1.0, 1, 1)
    """

    category: str | None
    rater: str | None
    alpha: float
    alpha_interval: NDArray[np.float64]
    global_alpha: float
    global_alpha_interval: NDArray[np.float64]
    images: int
    units: int
    image_alpha: NDArray[np.float64]
    class_difficulty: ClassDifficulty | Undefined
    collaboration: Collaboration | Undefined


def narrowed(agreement: Agreement, category: str | None = None, rater: str | None = None) -> NarrowedAgreement:
    """The numbers of one class, of one rater, of both, or of all of an agreement.

    Parameters
    ----------
    agreement : Agreement
        Its configuration also says how intervals are drawn.
    category, rater : str, optional
        Names of the agreement.

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
    check_agreement(agreement)
    classes, pairs = or_reason(class_difficulty, agreement), or_reason(collaboration, agreement)
    return narrowed_part(Part.of(agreement), agreement.configuration, classes, pairs, category, rater)


def narrowed_part(
    everyone: Part,
    configuration: Configuration,
    classes: ClassDifficulty | Undefined,
    pairs: Collaboration | Undefined,
    category: str | None = None,
    rater: str | None = None,
) -> NarrowedAgreement:
    """As `narrowed`, of the units of an agreement (`everyone`) with its `class_difficulty` and its `collaboration`."""
    annotations = everyone.annotations

    def estimated(cells: Cells, statistics: int) -> Estimates:
        return estimate(cells, statistics, configuration.bootstrap, configuration.seed, annotations.image_rank)

    part = everyone if rater is None else everyone.of_rater(_code(annotations.raters, rater, "rater"))
    cells, units = part.cells(), len(part.units)
    if rater is not None:
        of_classes, counts, codes = part.class_cells()
        made = estimated(of_classes, len(codes))
        classes = ClassDifficulty(**vars(made), category=annotations.categories[codes], units=counts)
    if category is not None:
        code = _code(annotations.categories, category, "category")
        chosen = part.with_class(code)
        cells, units = chosen.bare_cells(), len(chosen.units)
        if isinstance(pairs, Collaboration):
            made = estimated(everyone.pair_cells(code), len(np.triu_indices(len(annotations.raters), 1)[0]))
            pairs = pairs.with_pairs(made, annotations.assigned.sum(axis=0))
    whole = estimated(cells, 1)
    return NarrowedAgreement(
        category=category,
        rater=rater,
        alpha=float(whole.alpha[0]),
        alpha_interval=whole.alpha_interval[0],
        global_alpha=float(whole.global_alpha[0]),
        global_alpha_interval=whole.global_alpha_interval[0],
        images=int(whole.images[0]),
        units=units,
        image_alpha=cells.value,
        class_difficulty=classes,
        collaboration=pairs,
    )


def _code(names: NDArray[np.object_], name: str, what: str) -> int:
    known = names.tolist()
    if name not in known:
        raise InputError(f"{what}: expected one of {listed(map(repr, known), 20)}, got {name!r}")
    return int(known.index(name))
