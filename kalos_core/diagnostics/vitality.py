"""Rater vitality: contribution of each rater to agreement."""

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
    """Contribution of each of R raters to agreement: positive for raters close to the others, negative for outliers.

    Figures: ``"raters"``.

    Parameters
    ----------
    rater : (R,) object
        Names.
    vitality : (R,) float64
        Mean of alpha with all raters minus alpha without this one, rematched, over the images for which this rater
        and at least two others are assigned; NaN if there are none.
    vitality_interval : (R, 2) float64
        95 % bootstrap interval over images, alpha with and without the rater on the same draws.
    global_vitality : (R,) float64
        The same for all units in one matrix, with this rater's row dropped and without rematching. Units annotated
        only by this rater remain, as agreement of the others on absence.
    global_vitality_interval : (R, 2) float64
    global_rematched : (R,) float64
        The same for all units in one matrix, rematched without this rater on all images.
    global_rematched_interval : (R, 2) float64
    images : (R,) int
        Number of images behind `vitality`.

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
        """Summary of the result in one line."""
        return lowest("rater", self.rater, "vitality", self.vitality)


@checked
def rater_vitality(agreement: Agreement | Annotations | Sharded[Annotations]) -> RaterVitality:
    """Compute vitality V_r = alpha of all raters - alpha of all but r (KαLOS §13, Eq. 22, after Nassar et al.).

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute a default agreement from
        Its configuration also sets the bootstrap.

    Returns
    -------
    RaterVitality

    Raises
    ------
    InputError
        If there are fewer than three raters, since one rater alone cannot agree, or raters are local to their image.

    Examples
    --------
    Two agree; the third annotated elsewhere:

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
    """Cells for vitality: with all raters, rematched without each rater, and with each rater's row dropped.

    These are 1 + 2 R statistics in this order. The value of rematched cells is the loss of the image's alpha.
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
    """Check that there are at least three raters who are the same on every image."""
    refuse_local_raters(annotations, "vitality")
    raters = len(annotations.raters)
    if raters < 3:
        raise InputError(
            f"vitality: expected at least three raters, since without one of them two must be left, got {raters}"
        )


def vitality_of(cells: Cells, annotations: Annotations, configuration: AgreementSettings) -> RaterVitality:
    """Compute `rater_vitality` from the cells of `left_out_cells`; the annotations need no shapes."""
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
    """For statistic 1 + r, the images that rater r is not assigned to, unchanged and excluded from r's mean."""
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
