"""Sparse agreement of the units of an `agreement`: how many of its assigned raters agree on each object."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement_of
from kalos_core.annotations import Annotations
from kalos_core.arrays import total
from kalos_core.chance import tally_of_codes
from kalos_core.display import number_of, with_interval
from kalos_core.options import Settings, takes
from kalos_core.reliability import NO_OBJECT, with_empty_images
from kalos_core.results import Result
from kalos_core.sharding import Sharded
from kalos_core.sparse.estimate import ratio_interval
from kalos_core.sparse.independence import Independence, independence_of
from kalos_core.sparse.weights import WeightName, item_weights


@dataclass(frozen=True, eq=False, repr=False)
class UnitAgreement(Result):
    """Result of `unit_agreement`.

    Figures: ``"units"``.

    Parameters
    ----------
    value : float
        Probability that two assigned raters agree on an object, including its existence; NaN if no unit has two raters.
    interval : (2,) float64
        95 % bootstrap interval over images; NaN without a bootstrap.
    alpha, global_alpha : float
        Chance-corrected agreement for comparison: mean over images, and over the same units as `value`.
    image : (U,) int
        Code of the image of each unit: units of the agreement, then one for each image empty by agreement.
    images : (I,) object
        Ids of the images.
    assigned : (U,) int
        Number of assigned raters.
    agreeing : (U,) int
        Number of raters with the most frequent value.
    unit_agreement : (U,) float64
        Probability that two of the raters agree; NaN with fewer than two.
    weights : (U,) float64
    weighting : str

    Examples
    --------
    Three raters, one object that two of them annotated:

    >>> from kalos_core import Annotations, agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> result = unit_agreement(agreement(Annotations.from_rows(rows, raters=["ann", "bob", "cid"], assigned="all")))
    >>> result.assigned.tolist(), result.agreeing.tolist(), result.unit_agreement.round(3).tolist()
    ([3], [2], [0.333])
    """

    _call = "unit_agreement(agreement(annotations))"
    _columns = "image:images[image] assigned agreeing agreement:unit_agreement weight:weights"

    value: float
    interval: NDArray[np.float64]
    alpha: float
    global_alpha: float
    image: NDArray[np.intp]
    images: NDArray[np.object_]
    assigned: NDArray[np.int64]
    agreeing: NDArray[np.int64]
    unit_agreement: NDArray[np.float64]
    weights: NDArray[np.float64]
    weighting: str

    def __len__(self) -> int:
        return len(self.image)

    @cached_property
    def independence(self) -> Independence:
        """Test whether agreement on objects depends on the number of raters of their images (`check_independence`)."""
        return independence_of(self.assigned, self.unit_agreement, np.ones(len(self), np.int64))

    @property
    def headline(self) -> str:
        """Finding, in words."""
        found = with_interval(self.value, self.interval)
        return f"Sparse agreement {found} over {number_of(len(self.image), 'unit')}, weights {self.weighting}"


@dataclass(frozen=True)
class UnitSettings(Settings):
    """Settings of unit agreement."""

    weights: WeightName = "annotations_m1"


@takes(UnitSettings)
def unit_agreement(agreement: Agreement | Annotations | Sharded[Annotations], settings: UnitSettings) -> UnitAgreement:
    """Compute sparse probability of agreement over units: that two assigned raters agree on an object.

    "Assigned and annotated nothing" is a value like any class: a rater who missed an object disagrees with one who
    annotated it. Images empty by agreement are one unit each, as in `Agreement.global_alpha`.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute the usual one of
        The configuration of the agreement also gives the replicates and seed of the interval.

    Returns
    -------
    UnitAgreement

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> table = Annotations.from_rows(rows, images=[1, 2], raters=["ann", "bob"], assigned="all")
    >>> result = unit_agreement(agreement(table))
    >>> result.value, result.global_alpha
    (0.5, 0.0)
    """
    agreement, weights = agreement_of(agreement), settings.weights
    units = agreement.units
    if units.compare_objects:  # otherwise there is no evidence that these raters annotate at all
        units, _ = with_empty_images(agreement.annotations, units)
    codes = units.values.astype(np.intp) - NO_OBJECT  # "annotated nothing" is a category like any other
    found = tally_of_codes(codes, len(agreement.annotations.categories) + 1)
    made = item_weights(found, weights, None)
    usable = found.usable
    rank = agreement.annotations.image_rank[units.image[usable]]  # so that the order of images does not matter
    images = len(agreement.annotations.images)
    numerator = total(rank, (made * found.item_agreement)[usable], images)
    denominator = total(rank, made[usable], images)
    known = denominator > 0
    most = np.zeros(len(units), np.int64)
    np.maximum.at(most, found.item, found.count)
    with np.errstate(invalid="ignore"):  # 0 / 0 if no unit has two raters
        value = float(numerator.sum() / denominator.sum())
    chosen = agreement.configuration
    return UnitAgreement(
        value=value,
        interval=ratio_interval(numerator[known], denominator[known], chosen.bootstrap, chosen.seed),
        alpha=agreement.alpha,
        global_alpha=agreement.global_alpha,
        image=units.image,
        images=agreement.annotations.images,
        assigned=found.annotations,
        agreeing=most,
        unit_agreement=found.item_agreement,
        weights=made,
        weighting=weights,
    )
