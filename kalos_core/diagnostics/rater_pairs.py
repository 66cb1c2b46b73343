"""Collaboration: agreement of every two raters, and clusters of similar raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, agreement_of
from kalos_core.annotations import Annotations
from kalos_core.diagnostics.parts import estimate_cells, where_seen
from kalos_core.diagnostics.rematching import refuse_local_raters, rematch, taking_part
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import checked
from kalos_core.resampling import Cells, Estimates
from kalos_core.results import Result, of_pairs
from kalos_core.sharding import Sharded

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Collaboration(Result):
    """Agreement of every two of R raters, matched on these two alone. All matrices are symmetric.

    Figures: ``"raters"``.

    Parameters
    ----------
    raters : (R,) object
        Names.
    alpha : (R, R) float64
        Mean over the images both are assigned to; NaN if undefined on all of them. The diagonal is 1 by convention, and
        NaN for a rater who is assigned to no image.
    alpha_interval : (R, R, 2) float64
        95 % bootstrap interval over images, all pairs on the same draws; NaN on the diagonal.
    global_alpha : (R, R) float64
        Alpha of all units of the two in one matrix; the diagonal is as in `alpha`.
    global_alpha_interval : (R, R, 2) float64
    images : (R, R) int
        Number of images behind the mean; on the diagonal, number of images assigned to the rater.
    linkage : (R - 1, 4) float64
        Clustering in SciPy's format: average linkage on 1 - `alpha`. Two raters without an alpha get distance 1, that
        of chance agreement, so that they neither attract nor repel.
    order : (R,) int
        Raters in the order of the leaves of that tree; similar ones are as close as the tree allows.

    Examples
    --------
    >>> from kalos_core import Annotations, collaboration
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> frame = collaboration(agreement(Annotations.from_rows(rows))).to_pandas()
    >>> frame[["rater_a", "rater_b", "alpha"]].to_dict("list")
    {'rater_a': ['ann'], 'rater_b': ['bob'], 'alpha': [1.0]}
    """

    _call = "collaboration(agreement(annotations))"

    raters: NDArray[np.object_]
    alpha: NDArray[np.float64]
    alpha_interval: NDArray[np.float64]
    global_alpha: NDArray[np.float64]
    global_alpha_interval: NDArray[np.float64]
    images: NDArray[np.intp]
    linkage: NDArray[np.float64]
    order: NDArray[np.intp]

    def with_pairs(self, pairs: Estimates, assigned: NDArray[np.intp]) -> Collaboration:
        """Replace the values of all pairs, ordered as in `numpy.triu_indices`, and keep the raters and their order.

        Parameters
        ----------
        pairs : Estimates
            P statistics.
        assigned : (R,) int
            Number of images assigned to each rater.
        """
        each = np.arange(len(self.raters))
        names = ("alpha", "alpha_interval", "global_alpha", "global_alpha_interval")
        numbers = {name: _symmetric(getattr(pairs, name), getattr(self, name)[each, each]) for name in names}
        return replace(self, **numbers, images=_symmetric(pairs.images, assigned))

    @property
    def side_by_side(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(R, R) alpha and its (R, R, 2) interval, in `order`; NaN on the diagonal.

        The mean over images is above the diagonal, `global_alpha` below it.
        """
        order, above = np.ix_(self.order, self.order), np.triu(np.ones_like(self.alpha, np.bool_), 1)
        alpha = np.where(above, self.alpha[order], self.global_alpha[order])
        np.fill_diagonal(alpha, np.nan)
        interval = np.where(above[..., None], self.alpha_interval[order], self.global_alpha_interval[order])
        return alpha, interval

    def least_pair(self, raters: NDArray[np.intp]) -> tuple[str, str] | None:
        """Return the two of these raters with the lowest alpha; None if no pair has one."""
        alpha = np.where(np.eye(len(raters), dtype=np.bool_), np.nan, self.alpha[np.ix_(raters, raters)])
        if not np.isfinite(alpha).any():
            return None
        first, second = self.raters[raters[list(np.unravel_index(np.nanargmin(alpha), alpha.shape))]]
        return str(first), str(second)

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return f"Alpha of each pair of {number_of(len(self.raters), 'rater')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each pair of raters."""
        return of_pairs(
            self.raters,
            alpha=self.alpha,
            global_alpha=self.global_alpha,
            alpha_interval=self.alpha_interval,
            global_alpha_interval=self.global_alpha_interval,
            images=self.images,
        )


@checked
def collaboration(agreement: Agreement | Annotations | Sharded[Annotations]) -> Collaboration:
    """Compute collaboration clusters (KαLOS §13): alpha of each pair of raters, rematched, and a clustering of raters.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute a default agreement from
        Its configuration also sets the bootstrap.

    Returns
    -------
    Collaboration

    Raises
    ------
    InputError
        If raters are local to their image.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", 0), ("bob", 50), ("cid", 0)]
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in given]
    >>> found = collaboration(agreement(Annotations.from_rows(rows)))
    >>> found.alpha.round(2).tolist()
    [[1.0, -0.5, 1.0], [-0.5, 1.0, -0.5], [1.0, -0.5, 1.0]]
    >>> found.raters[found.order].tolist()
    ['bob', 'cid', 'ann']
    """
    agreement = agreement_of(agreement, check_pairs)
    return collaboration_of(pair_cells(agreement), agreement.annotations, agreement.configuration)


def check_pairs(annotations: Annotations) -> None:
    """Check that raters are the same on every image."""
    refuse_local_raters(annotations, "collaboration")


def pair_cells(agreement: Agreement) -> Cells:
    """Cells of every two raters, matched on these alone; one statistic each, ordered as `numpy.triu_indices`."""
    check_pairs(agreement.annotations)
    raters = len(agreement.annotations.raters)
    first, second = np.triu_indices(raters, 1)
    groups = np.zeros((len(first), raters), np.bool_)
    groups[np.arange(len(first)), first] = groups[np.arange(len(first)), second] = True
    return rematch(agreement, groups)


def collaboration_of(cells: Cells, annotations: Annotations, configuration: AgreementSettings) -> Collaboration:
    """Compute `collaboration` from the cells of `pair_cells`; the annotations need no shapes."""
    from scipy.cluster import hierarchy  # slow to import, and needed here only

    raters = len(annotations.raters)
    made = estimate_cells(annotations, configuration, cells.seen(), raters * (raters - 1) // 2)
    assigned = taking_part(annotations).sum(axis=0)
    alone = np.where(assigned > 0, 1.0, np.nan)
    linkage = hierarchy.linkage(np.where(np.isnan(made.alpha), 1.0, 1 - made.alpha), "average", optimal_ordering=True)
    return Collaboration(
        raters=annotations.raters,
        alpha=_symmetric(made.alpha, alone),
        alpha_interval=_symmetric(made.alpha_interval, np.full((raters, 2), np.nan)),
        global_alpha=_symmetric(made.global_alpha, alone),
        global_alpha_interval=_symmetric(made.global_alpha_interval, np.full((raters, 2), np.nan)),
        images=_symmetric(made.images, assigned),
        linkage=linkage,
        order=hierarchy.leaves_list(linkage).astype(np.intp),
    )


@checked
def pair_image_alpha(agreement: Agreement, rater_a: str, rater_b: str) -> NDArray[np.float64]:
    """(I,) alpha of each image for two raters alone, rematched; NaN if undefined.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", 0), ("bob", 50), ("cid", 0)]
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in given]
    >>> pair_image_alpha(agreement(Annotations.from_rows(rows)), "ann", "cid").tolist()
    [1.0]
    """
    refuse_local_raters(agreement.annotations, "collaboration")
    names = agreement.annotations.raters.tolist()
    unknown = [name for name in (rater_a, rater_b) if name not in names]
    if unknown or rater_a == rater_b:
        actual = listed(map(repr_of, unknown or (rater_a, rater_b)))
        raise InputError(f"raters: expected two of {listed(map(repr_of, names), 20)}, got {actual}")
    group = np.isin(np.arange(len(names)), [names.index(rater_a), names.index(rater_b)])
    cells = where_seen(rematch(agreement, group[None]), agreement.units)
    values = np.full(len(agreement.image_alpha), np.nan)
    values[cells.image] = cells.value
    return values


def _symmetric(values: NDArray[Any], diagonal: NDArray[Any]) -> NDArray[Any]:
    """(P, ...) values of all pairs of R raters and (R, ...) diagonal -> (R, R, ...) matrix."""
    raters = len(diagonal)
    matrix = np.empty((raters, *diagonal.shape), diagonal.dtype)
    first, second = np.triu_indices(raters, 1)
    matrix[first, second] = matrix[second, first] = values
    matrix[np.arange(raters), np.arange(raters)] = diagonal
    return matrix
