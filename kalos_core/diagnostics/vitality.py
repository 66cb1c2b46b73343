"""Rater vitality: what agreement gains by having a rater, or loses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, agreement_of
from kalos_core.annotations import Annotations
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rematching import refuse_local_raters, rematch, taking_part
from kalos_core.errors import InputError
from kalos_core.inference import intervals
from kalos_core.options import checked
from kalos_core.reliability import NOT_ASSIGNED, coincidences, with_empty_images
from kalos_core.resampling import Cells, join_cells, resample
from kalos_core.results import Result, lowest
from kalos_core.sharding import Sharded


@dataclass(frozen=True, eq=False, repr=False)
class RaterVitality(Result):
    """What each of R raters adds to agreement: above 0 a rater who brings the others together, below 0 one who differs.

    Figures: ``"raters"``.

    Parameters
    ----------
    rater : (R,) object
        Names.
    vitality : (R,) float64
        Mean of alpha with all raters minus alpha without this one, matched again, over the images for which this rater
        and at least two others were assigned; NaN where there is none.
    vitality_interval : (R, 2) float64
        95 % bootstrap interval over images, alpha with and without the rater on the same draws.
    global_vitality : (R,) float64
        The same of all units in one matrix whose row of this rater is dropped, nothing matched again: what only this
        rater annotated stays, as agreement of the others on absence.
    global_vitality_interval : (R, 2) float64
    global_rematched : (R,) float64
        The same of all units in one matrix, matched again without this rater on all images.
    global_rematched_interval : (R, 2) float64
    images : (R,) int
        Over how many images `vitality` is the mean.

    Examples
    --------
    >>> from kalos_core import Annotations, rater_vitality
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob", "cid")]
    >>> frame = rater_vitality(agreement(Annotations.from_rows(rows))).to_pandas()
    >>> frame["vitality"].tolist()
    [0.0, 0.0, 0.0]
    """

    _call = "rater_vitality(agreement(annotations))"
    _columns = (
        "rater vitality global_vitality global_rematched vitality_interval global_vitality_interval "
        "global_rematched_interval images"
    )

    rater: NDArray[np.object_]
    vitality: NDArray[np.float64]
    vitality_interval: NDArray[np.float64]
    global_vitality: NDArray[np.float64]
    global_vitality_interval: NDArray[np.float64]
    global_rematched: NDArray[np.float64]
    global_rematched_interval: NDArray[np.float64]
    images: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rater)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return lowest("rater", self.rater, "vitality", self.vitality)


@checked
def rater_vitality(agreement: Agreement | Annotations | Sharded[Annotations]) -> RaterVitality:
    """Vitality V_r = alpha of all raters - alpha of all but r (KαLOS §13, Eq. 22, after Nassar et al.).

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute the usual one of
        Its configuration also says how intervals are drawn.

    Returns
    -------
    RaterVitality

    Raises
    ------
    InputError
        For fewer than three raters: without one of two there is nobody left to agree. For raters that are local to
        their image.

    Examples
    --------
    Two agree, the third annotated elsewhere:

    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("ann", 0), ("bob", 0), ("cid", 50)]
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in given]
    >>> found = rater_vitality(agreement(Annotations.from_rows(rows)))
    >>> dict(zip(found.rater.tolist(), found.vitality.round(3).tolist()))
    {'ann': 0.389, 'bob': 0.389, 'cid': -1.111}
    """
    agreement = agreement_of(agreement, check_left_out)
    return vitality_of(left_out_cells(agreement), agreement.annotations, agreement.configuration)


def left_out_cells(agreement: Agreement) -> Cells:
    """What each image holds for vitality: of everybody, matched again without each rater, with the rater's row dropped.

    1 + 2 R statistics in this order; the value of those matched again is what the image's alpha loses.
    """
    annotations = agreement.annotations
    check_left_out(annotations)
    raters = len(annotations.raters)
    everyone = Part.of(agreement).cells()
    rematched = rematch(agreement, ~np.eye(raters, dtype=np.bool_), taking_part(annotations).T)
    rematched = replace(
        rematched, statistic=1 + rematched.statistic, value=everyone.value[rematched.image] - rematched.value
    )
    return join_cells([everyone, rematched, *_unchanged(agreement, everyone), *_dropped(agreement)])


def check_left_out(annotations: Annotations) -> None:
    """Vitality needs three raters who are the same on every image."""
    refuse_local_raters(annotations, "vitality")
    raters = len(annotations.raters)
    if raters < 3:
        raise InputError(
            f"vitality: expected at least three raters, since without one of them two must be left, got {raters}"
        )


def vitality_of(cells: Cells, annotations: Annotations, configuration: AgreementSettings) -> RaterVitality:
    """The `rater_vitality` of what `left_out_cells` answered for some annotations; shapes are not needed."""
    raters, cells = len(annotations.raters), cells.seen()
    statistics = 1 + 2 * raters
    drawn = resample(cells, statistics, configuration.bootstrap, configuration.seed, annotations.image_rank)
    mean, whole = cells.mean(statistics), cells.whole(statistics)
    count, pairable = cells.count(statistics), cells.pairable(statistics)
    without, dropped = slice(1, 1 + raters), slice(1 + raters, statistics)
    return RaterVitality(
        rater=annotations.raters,
        vitality=mean[without],
        vitality_interval=intervals(drawn.mean[:, without], count[without]),
        global_vitality=whole[0] - whole[dropped],
        global_vitality_interval=intervals(drawn.whole[:, :1] - drawn.whole[:, dropped], pairable[dropped]),
        global_rematched=whole[0] - whole[without],
        global_rematched_interval=intervals(drawn.whole[:, :1] - drawn.whole[:, without], pairable[without]),
        images=count[without],
    )


def _unchanged(agreement: Agreement, everyone: Cells) -> list[Cells]:
    """For statistic 1 + r, the images to which rater r was not assigned: as they are, and not part of r's mean."""
    parts = []
    for rater, part in enumerate(taking_part(agreement.annotations).T):
        cells = everyone.take(np.flatnonzero(~part))
        parts.append(replace(cells, statistic=np.full(len(cells), 1 + rater), value=np.full(len(cells), np.nan)))
    return parts


def _dropped(agreement: Agreement) -> list[Cells]:
    """For statistic 1 + R + r, all images with the row of rater r dropped from the reliability matrix."""
    annotations = agreement.annotations
    images, raters = annotations.assigned.shape
    whole, _ = with_empty_images(annotations, agreement.units)
    parts = []
    for rater in range(raters):
        values = whole.values.copy()
        values[:, rater] = NOT_ASSIGNED
        statistic = np.full(images, 1 + raters + rater)
        sums = coincidences(values, whole.image, images)
        parts.append(Cells(statistic, np.arange(images), sums, np.full(images, np.nan)))
    return parts
