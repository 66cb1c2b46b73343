"""Experiments 5 and 6, and response of alpha to noise: raters, schools, magnitudes (KαLOS §5.2, Fig. 1d)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement
from kalos_core.annotations import Annotations
from kalos_core.display import number_of
from kalos_core.noise.experiments.tables import Claim, Magnitudes, RaterCounts, rises
from kalos_core.noise.model import NoiseModel
from kalos_core.options import checked
from kalos_core.results import Result

COUNTS = tuple(range(2, 19))
COUNTED_AT = (0.5, 1.0, 2.0)
SCHOOLS = ((5, 1), (4, 2), (3, 3), (4, 1), (3, 2), (3, 1), (2, 2), (2, 1))
RESPONSE = (0.0, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0)
LOSS = {0.25: 0.002, 0.5: 0.013, 1.0: 0.042, 2.0: 0.101, 5.0: 0.283}
"""Magnitude -> signal-loss ratio of Table 3, on LVIS."""

BOOTSTRAP = 200
NEARLY_ALL, NEARLY_NONE = 0.999, 0.1
"""Alpha at or above which, and at or below which, the upper and lower end of the range counts as reached."""

SOURCE_5, SOURCE_6 = "§5, experiment 5", "§5, experiment 6"

MAJORITY, OPPOSED = "5-1", ("3-3", "3-2", "2-2")
"""Sizes of schools that experiment 6 contrasts."""

STRICT_UP_TO = 5.0
"""Magnitude up to which alpha must fall strictly: the largest in the paper (Table 3)."""

STEEP = 7
"""Number of raters beyond which the paper reports little gain (6 to 8)."""


@dataclass(frozen=True, eq=False, repr=False)
class AlphaTable(Result):
    """Base class of tables of alpha."""

    raters: NDArray[np.intp]
    magnitude: NDArray[np.float64]
    alpha: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    global_alpha: NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class RaterReturn(AlphaTable):
    """One row per magnitude and number of raters (KαLOS §5.2, experiment 5).

    Figures: ``"raters"``.
    """

    def claims(self) -> list[Claim]:
        """Judge the statements of experiment 5."""
        curves = [self.alpha[self.magnitude == lam] for lam in np.unique(self.magnitude)]
        few = max(int((np.unique(self.raters) <= STEEP).sum()), 1) - 1
        first = [curve[few] - curve[0] for curve in curves]
        then = [curve[-1] - curve[few] for curve in curves]
        summary = "; ".join(
            f"lambda {lam:g}: {curve[0]:.3f}, {curve[few]:.3f}, {curve[-1]:.3f}"
            for lam, curve in zip(np.unique(self.magnitude), curves, strict=True)
        )
        rising = [rises(curve) for curve in curves]
        counts = np.unique(self.raters)
        found = f"with {counts[0]}, {counts[few]} and {number_of(counts[-1], 'rater')}, {summary}"
        return [
            Claim(SOURCE_5, "alpha rises with every further rater", None if None in rising else all(rising), found),
            Claim(
                SOURCE_5,
                "the first few raters gain most, beyond 6 to 8 little is gained",
                all(early > max(late, 0) for early, late in zip(first, then, strict=True))
                if counts[0] < counts[few] < counts[-1]
                else None,
                found,
            ),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class SchoolImpact(AlphaTable):
    """One row per division into two schools of thought (KαLOS §5.2, experiment 6).

    Figures: ``"schools"``.
    """

    schools: NDArray[np.str_]

    def claims(self) -> list[Claim]:
        """Judge the statement of experiment 6, with only the schools that the paper contrasts."""
        found = dict(zip(self.schools.tolist(), self.alpha.tolist(), strict=True))
        there = {name: found[name] for name in (MAJORITY, *OPPOSED) if name in found}
        holds = None
        if len(there) == 1 + len(OPPOSED):
            holds = all(there[MAJORITY] > there[name] for name in OPPOSED)
        return [
            Claim(
                SOURCE_6,
                f"a large majority against one ({MAJORITY}) agrees more than sizable opposing schools "
                f"({', '.join(OPPOSED)})",
                holds,
                ", ".join(f"{name} {value:.3f}" for name, value in there.items()) or "none of these schools",
            ),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class MagnitudeResponse(AlphaTable):
    """One row per magnitude (KαLOS Fig. 1d).

    Figures: ``"response"``.
    """

    def claims(self) -> list[Claim]:
        """Judge strict monotonicity up to `STRICT_UP_TO` (beyond it only noise is left), and use of the full range."""
        judged = self.magnitude <= STRICT_UP_TO
        summary = ", ".join(f"{lam:g}: {value:.3f}" for lam, value in zip(self.magnitude, self.alpha, strict=True))
        whole = bool(self.alpha.max() >= NEARLY_ALL and self.alpha.min() <= NEARLY_NONE)
        return [
            Claim(
                "Fig. 1d",
                f"alpha falls strictly with noise up to lambda {STRICT_UP_TO:g}",
                rises(-self.alpha[judged]),
                summary,
            ),
            Claim("Fig. 1d", "it uses its full range, from 1 down to about 0", whole, summary),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class SignalLossTable(Result):
    """One row per magnitude (KαLOS Table 3); `paper` is the value printed for the whole of LVIS, or NaN.

    Figures: ``"loss"``.
    """

    magnitude: NDArray[np.float64]
    ratio: NDArray[np.float64]
    attempted: NDArray[np.intp]
    paper: NDArray[np.float64]

    def claims(self) -> list[Claim]:
        """Judge growth with magnitude, and the ratios themselves."""
        summary = ", ".join(
            f"{lam:g}: {ratio:.1%} ({paper:.1%})"
            for lam, ratio, paper in zip(self.magnitude, self.ratio, self.paper, strict=True)
        )
        printed = ~np.isnan(self.paper)
        near = (np.abs(self.ratio - self.paper) <= np.maximum(0.25 * self.paper, 0.005))[printed]
        return [
            Claim("Table 3", "signal loss grows with noise", rises(self.ratio), summary),
            Claim(
                "Table 3",
                "its ratios are within a quarter of the paper's",
                bool(near.all()) if len(near) else None,
                f"ours (paper): {summary}",
            ),
        ]


@checked
def return_on_raters(
    model: NoiseModel,
    annotations: Annotations,
    reference: str | None = None,
    *,
    counts: RaterCounts = COUNTS,
    magnitudes: Magnitudes = COUNTED_AT,
    seed: int = 0,
) -> RaterReturn:
    """Compute alpha for nested sets of more and more synthetic raters (KαLOS §5.2, experiment 5).

    Examples
    --------
    >>> table = return_on_raters(NoiseModel.default(), _three_annotations(), counts=[2, 3], magnitudes=[0])
    >>> table.raters.tolist(), table.alpha.tolist()
    ([2, 3], [1.0, 1.0])
    """
    lines = []
    for magnitude in magnitudes:
        generated = model.generate(annotations, counts[-1], magnitude, seed, reference=reference).annotations
        for count in counts:
            lines.append((count, magnitude, *_alphas(generated.select(raters=np.arange(count)), seed)))
    return RaterReturn(*map(np.array, zip(*lines, strict=True)))


@checked
def school_impact(
    model: NoiseModel,
    annotations: Annotations,
    reference: str | Sequence[str] | None = None,
    *,
    schools: Sequence[Sequence[int]] = SCHOOLS,
    magnitude: float = 1.0,
    seed: int = 0,
) -> SchoolImpact:
    """Compute alpha for two schools of thought of several sizes (KαLOS §5.2, experiment 6).

    Parameters
    ----------
    reference : two names, or one
        Two real raters, each the reference of one school, as in the paper. If one, each school is generated from it.

    Examples
    --------
    >>> table = school_impact(NoiseModel.default(), _three_annotations(), schools=[(2, 1)], magnitude=0)
    >>> table.schools.tolist(), table.raters.tolist()
    (['2-1'], [3])
    """
    lines = []
    for sizes in schools:
        generated = model.generate(
            annotations, sum(sizes), magnitude, seed, reference=reference, schools=sizes
        ).annotations
        lines.append((sum(sizes), magnitude, *_alphas(generated, seed), "-".join(map(str, sizes))))
    return SchoolImpact(*map(np.array, zip(*lines, strict=True)))


@checked
def magnitude_response(
    model: NoiseModel,
    annotations: Annotations,
    reference: str | None = None,
    *,
    magnitudes: Magnitudes = RESPONSE,
    raters: int = 3,
    seed: int = 0,
) -> MagnitudeResponse:
    """Compute alpha as a function of the magnitude of noise (KαLOS Fig. 1d).

    Examples
    --------
    >>> magnitude_response(NoiseModel.default(), _three_annotations(), magnitudes=[0]).alpha.tolist()
    [1.0]
    """
    lines = []
    for magnitude in magnitudes:
        generated = model.generate(annotations, raters, magnitude, seed, reference=reference).annotations
        lines.append((raters, magnitude, *_alphas(generated, seed)))
    return MagnitudeResponse(*map(np.array, zip(*lines, strict=True)))


@checked
def signal_loss_table(
    model: NoiseModel,
    annotations: Annotations,
    reference: str | None = None,
    *,
    magnitudes: Magnitudes = tuple(LOSS),
    raters: int = 5,
    seed: int = 0,
) -> SignalLossTable:
    """Compute the share of events lost because an earlier one changed their annotation (KαLOS Table 3).

    Examples
    --------
    >>> signal_loss_table(NoiseModel.default(), _three_annotations(), magnitudes=[0.25]).paper.tolist()
    [0.002]
    """
    lines = []
    for magnitude in magnitudes:
        loss = model.generate(annotations, raters, magnitude, seed, reference=reference).signal_loss()
        attempted = int(loss.attempted[loss.stage.index("first three")])
        lines.append((magnitude, loss.ratio, attempted, LOSS.get(magnitude, np.nan)))
    return SignalLossTable(*map(np.array, zip(*lines, strict=True)))


def _alphas(annotations: Annotations, seed: int) -> tuple[float, float, float, float]:
    found: Agreement = agreement(annotations, "box_iou", bootstrap=BOOTSTRAP, seed=seed)
    return found.alpha, float(found.alpha_interval[0]), float(found.alpha_interval[1]), found.global_alpha


def _three_annotations() -> Annotations:
    rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    return Annotations.from_rows(rows, image_size={1: (100, 100)})
