"""Parameters of the noise model: one small frozen record per distribution, grouped by the kind of difference.

Lengths and areas are relative to the image (KαLOS §9.3): a shift along x in widths of the image, one along y in
heights, an area as a share of the image area. Angles are in radians from the x axis towards growing y.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.arguments import check_type
from kalos_core.errors import InputError, as_number, check_number, check_text, listed, lookup, repr_of
from kalos_core.options import Option, Settings

if TYPE_CHECKING:
    from typing_extensions import Self

CARDINAL = (0.0, np.pi / 2, np.pi, 3 * np.pi / 2)
"""Directions of the four von Mises distributions of a `CardinalAngle`: right, down, left, up."""

CLIP = (0.001, 0.999)
"""Quantiles at which a drawn residual is clipped (Eq. 12)."""


MOST_VARIANCE = 0.95
"""Maximum variance of a share, relative to that of a share that is always 0 or 1."""

Form = Literal["exponential", "power", "each"]
FORMS: tuple[Form, ...] = get_args(Form)
"""Growth of the expected number of events with the number of annotations: exponential as in the paper, a power, or one
number for the first annotation and one for each further one."""

RateForm = Form | Literal["auto"]
"""Names in `FORMS`, or "auto" for the form with the lowest AIC."""


def _four(value: Any, name: str, high: float | None = None) -> tuple[float, ...]:
    """Check that there is one number of at least 0 for each of `CARDINAL`."""
    if not isinstance(value, (list, tuple)) or len(value) != len(CARDINAL):
        raise InputError(f"{name}: expected {len(CARDINAL)} numbers, got {repr_of(value)}")
    return tuple(check_number(part, name, 0, high) for part in value)


Number = Annotated[float, Option("Number", "A finite number.")]
NotNegative = Annotated[float, Option("Number", "A finite number.", low=0)]
Positive = Annotated[float, Option("Number", "A finite number.", above=0)]
Share = Annotated[float, Option("Share", "A share.", low=0, high=1)]
Shares = Annotated[tuple[float, ...], Option("Shares", "Four that add up to 1.", check=partial(_four, high=1))]
Concentrations = Annotated[tuple[float, ...], Option("Concentrations", "Four numbers.", check=_four)]


@dataclass(frozen=True)
class Parameters(Settings):
    """Base class of distributions: numbers that are checked against the ranges of their fields.

    Raises
    ------
    InputError
        For a value that is not a finite number, or out of range.
    """

    with_interval: ClassVar[tuple[str, ...] | None] = None
    """Parameters for which a fit gives an interval, in order; None for all."""


@dataclass(frozen=True)
class Shift(Parameters):
    """Size of a change: |(intercept + slope · area) + T| · area^growth, where T is Student t and clipped.

    KαLOS Eq. 12 and 14 have growth 0. There only the trend depends on the area, but in data the residual does, too.

    Parameters
    ----------
    intercept, slope : float
        Trend over the area of the annotation.
    nu : float, above 0
        Degrees of freedom of the residual; the lower, the heavier its tails.
    mu, sigma : float
        Centre and scale (above 0) of the residual.
    growth : float
        Power of the area that everything grows with.

    Examples
    --------
    >>> shift = Shift(intercept=0.1, slope=2.0, nu=4.0, mu=0.0, sigma=0.01)
    >>> shift.trend(0.05), [round(float(end), 4) for end in shift.limits]
    (np.float64(0.2), [-0.0717, 0.0717])
    """

    intercept: Number
    slope: Number
    nu: Positive
    mu: Number
    sigma: Positive
    growth: Annotated[float, Option("Growth", "A power of the area.", low=-2, high=2)] = 0.0

    def scale(self, area: ArrayLike) -> NDArray[np.float64]:
        """Return the factor of trend and residual: area^growth."""
        return np.asarray(np.asarray(area, dtype=np.float64) ** self.growth)[()]

    def trend(self, area: ArrayLike) -> NDArray[np.float64]:
        """Return the part explained by the area, before `scale`."""
        return np.asarray(self.intercept + self.slope * np.asarray(area, dtype=np.float64))[()]

    @cached_property
    def limits(self) -> NDArray[np.float64]:
        """(2,) smallest and largest residual: its quantiles at `CLIP`."""
        return np.asarray(scipy.stats.t.ppf(CLIP, self.nu, self.mu, self.sigma))

    def log_density(self, size: ArrayLike, area: ArrayLike) -> NDArray[np.float64]:
        """Return the log density of a change of the given size, summed over both signs."""
        scale, trend = self.scale(area), self.trend(area)
        change = np.asarray(size, dtype=np.float64) / scale
        sides = [scipy.stats.t.logpdf(sign * change - trend, self.nu, self.mu, self.sigma) for sign in (1, -1)]
        return np.where(change < 0, -np.inf, np.logaddexp(*sides) - np.log(scale))[()]


@dataclass(frozen=True)
class CardinalAngle(Parameters):
    """Direction of a shift: four von Mises distributions at `CARDINAL` (KαLOS Eq. 13).

    Parameters
    ----------
    weights : 4 floats in [0, 1]
        Shares of the four distributions; they add up to 1.
    kappas : 4 floats, at least 0
        Their concentrations.

    Examples
    --------
    >>> flat = CardinalAngle(weights=(0.25, 0.25, 0.25, 0.25), kappas=(0, 0, 0, 0))
    >>> round(float(flat.density(1.0)), 4)  # 1 / 2 pi
    0.1592
    """

    weights: Shares
    kappas: Concentrations

    def __post_init__(self) -> None:
        super().__post_init__()
        if not np.isclose(sum(self.weights), 1, atol=1e-6):
            raise InputError(f"weights: expected numbers that add up to 1, got {self.weights}")

    def density(self, angle: ArrayLike) -> NDArray[np.float64]:
        """Return the density at angles in radians."""
        angles = np.asarray(angle, dtype=np.float64)
        parts = zip(self.weights, self.kappas, CARDINAL, strict=True)
        return np.asarray(sum(weight * _von_mises(angles - centre, kappa) for weight, kappa, centre in parts))


@dataclass(frozen=True)
class AxialAngle(Parameters):
    """Direction of a shift along one axis, either way: von Mises on the doubled angle (KαLOS §9.3.2).

    Parameters
    ----------
    axis : float in [-pi, pi]
        Direction of the axis.
    kappa : float, at least 0
        Concentration of the doubled angle.

    Examples
    --------
    >>> axial = AxialAngle(axis=0.0, kappa=2.0)
    >>> bool(np.isclose(axial.density(0.3), axial.density(0.3 + np.pi)))
    True
    """

    axis: Annotated[float, Option("Axis", "Its direction in radians.", low=-np.pi, high=np.pi)]
    kappa: NotNegative

    def density(self, angle: ArrayLike) -> NDArray[np.float64]:
        """Return the density at angles in radians."""
        return _von_mises(2 * (np.asarray(angle, dtype=np.float64) - self.axis), self.kappa)


def _von_mises(angle: NDArray[np.float64], kappa: float) -> NDArray[np.float64]:
    """Return the density at an angle from the centre; scipy does not accept a concentration of 0."""
    return np.asarray(scipy.stats.vonmises.pdf(angle, kappa) if kappa > 0 else np.full_like(angle, 1 / (2 * np.pi)))


@dataclass(frozen=True)
class SizeCurve(Parameters):
    """Probability of choosing an annotation by its area: sigmoid(intercept + slope · ln area) (KαLOS Eq. 17 and 18).

    Examples
    --------
    >>> SizeCurve(intercept=0.0, slope=-1.0).probability([1.0, 0.5]).round(3).tolist()
    [0.5, 0.667]
    """

    intercept: Number
    slope: Number

    def probability(self, area: ArrayLike) -> NDArray[np.float64]:
        """Return the probability for areas relative to the image, above 0."""
        return np.asarray(scipy.special.expit(self.intercept + self.slope * np.log(np.asarray(area, dtype=np.float64))))


@dataclass(frozen=True)
class EventRate(Parameters):
    """Expected number of annotations of a rater that another rater lacks, where the rater has n.

    Numbers are those of a class in an image, since objects of a class are easy or hard together. In the paper they are
    those of an image, whatever the classes (see `OwnClass`).

    Parameters
    ----------
    intercept, slope : float
        Line that the logarithm of the number follows; for ``"each"``, the logarithms of the two numbers.
    form : str
        One of `FORMS`: ``"exponential"``, exp(intercept + slope · n) (KαLOS Eq. 16), ``"power"``,
        exp(intercept) · (1 + n)^slope, or ``"each"``, exp(intercept) + exp(slope) · (n - 1).
    dispersion, class_dispersion : float, at least 0
        Variance of two factors of mean 1: difficulty of an image, and of a class in it. Both raters of a pair have the
        same factors. 0 gives a Poisson distribution, as in the paper.
    empty : float, at least 0, or None
        Expected number on an image where the rater has no annotation and another rater has some; nothing is added where
        no rater has any. None: as `form` gives, wherever n is 0 (as in the paper).

    Examples
    --------
    >>> EventRate(intercept=0.0, slope=0.1).expected([0, 10]).round(3).tolist()
    [1.0, 2.718]
    >>> EventRate(intercept=-3.0, slope=1.5, form="power", empty=0.0).expected([0, 1, 10]).round(3).tolist()
    [0.0, 0.141, 1.816]
    >>> EventRate(intercept=-3.0, slope=-1.3, form="each", empty=0.0).expected([0, 1, 10]).round(3).tolist()
    [0.0, 0.05, 2.503]
    """

    with_interval: ClassVar[tuple[str, ...]] = ("intercept", "slope")

    intercept: Number
    slope: Number
    form: Annotated[Form, Option("Form", "How the rate grows.", known=dict.fromkeys(FORMS))] = "exponential"
    dispersion: NotNegative = 0.0
    class_dispersion: NotNegative = 0.0
    empty: Annotated[float | None, Option("On empty images", "A finite number.", low=0)] = None

    def expected(self, annotations: ArrayLike) -> NDArray[np.float64]:
        """Return the expected number for given numbers of annotations of the rater on an image."""
        count = np.asarray(annotations, dtype=np.float64)
        if self.form == "each":
            found = np.exp(self.intercept) + np.exp(self.slope) * np.maximum(count - 1, 0)
        else:
            found = np.exp(self.intercept + self.slope * rate_measure(self.form, count))
        return np.asarray(found if self.empty is None else np.where(count == 0, self.empty, found))

    @property
    def whole_dispersion(self) -> float:
        """Variance of the combined factor of an image and a class in it."""
        return (1 + self.dispersion) * (1 + self.class_dispersion) - 1


def rate_measure(form: str, annotations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the variable in which the logarithm of a rate of one of `FORMS` is linear."""
    return np.log1p(annotations) if form == "power" else annotations


def share_law(mean: NDArray[np.float64], dispersion: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both parameters of Beta distributions of shares with these means (n,), above 0 and below 1.

    Their variance is `dispersion` times the squared mean, as far as a share can vary so much.

    Examples
    --------
    >>> [parameter.tolist() for parameter in share_law(np.array([0.5]), 1 / 3)]
    [[1.0], [1.0]]
    """
    variance = np.minimum(dispersion * mean**2, MOST_VARIANCE * mean * (1 - mean))
    size = mean * (1 - mean) / variance - 1
    return mean * size, (1 - mean) * size


@dataclass(frozen=True)
class Chance(Parameters):
    """Probability of an event."""

    probability: Share


@dataclass(frozen=True)
class OwnClass(Parameters):
    """Classes of added annotations; without a share, as in the paper.

    Raters mostly differ in how many annotations they have of classes that both see. Of the additions of LVIS-200, 98 %
    are of a class that the rater has in the image. A class whose annotations are all missed is nearly always added,
    elsewhere or too far away to be matched. The paper counts events of an image whatever their classes. It gives an
    addition a class that is confused with one of the image, never that class itself (KαLOS §9.3.3).

    Parameters
    ----------
    share : float in [0, 1], or None
        Share of the added annotations that are of a class that the rater has in the image.
    stays : float in [0, 1]
        Probability that a class whose annotations are all missed is added in the image.
    """

    with_interval: ClassVar[tuple[str, ...]] = ()

    share: Annotated[float | None, Option("Share", "A share.", low=0, high=1)] = None
    stays: Share = 0.0


@dataclass(frozen=True)
class Opposition(Parameters):
    """Angle between the two fragments, seen from the centre of their whole: pi · Beta(alpha, beta) (KαLOS Eq. 19)."""

    alpha: Positive
    beta: Positive

    def log_density(self, share: ArrayLike) -> NDArray[np.float64]:
        """Return the log density of an angle, given as a share of pi."""
        return np.asarray(scipy.stats.beta.logpdf(np.asarray(share, dtype=np.float64), self.alpha, self.beta))


@dataclass(frozen=True)
class Enlargement(Parameters):
    """Term added to the ln scale of the first fragment: kappa = ½ ln(median area ratio, real / synthetic)."""

    kappa: Number


@dataclass(frozen=True)
class Overlap(Parameters):
    """Minimum IoU with its reference that an annotation keeps at magnitude 1; a change below it is drawn again.

    Matched annotations are those that overlap by at least .5, and all others count as unmatched. A change that
    separates an annotation from its reference would be counted twice. 0 keeps every change, as in the paper.
    """

    least: Share


@dataclass(frozen=True)
class Coupling(Parameters):
    """Share of annotations whose residuals of shift, width and height have a common heavy tail.

    An annotation that is far off is then so in all three; each keeps its distribution. 0: independent, as in the paper.
    """

    share: Share


@dataclass(frozen=True)
class Localization:
    """Difference in position and size of an annotation that is otherwise right, by its area (KαLOS §9.3.1).

    Parameters
    ----------
    translation : Shift
        Distance that the centre moves.
    angle : CardinalAngle
        Direction in which the centre moves.
    width, height : Shift
        Absolute ln scale of either side, which grows or shrinks with equal probability.
    overlap : Overlap
        Overlap that all changes of position and size keep, including those of another class and of fragments.
    coupling : Coupling
        Coupling of the changes of one annotation, including one of another class.
    """

    translation: Shift
    angle: CardinalAngle
    width: Shift
    height: Shift
    overlap: Overlap
    coupling: Coupling


@dataclass(frozen=True)
class Category:
    """Frequency of wrong classes, and the difference in position and size of such annotations (KαLOS §9.3.2).

    Parameters
    ----------
    occurrence : Chance
        Probability that an annotation gets another class.
    translation, width, height : Shift
        As in `Localization`.
    angle : AxialAngle
    """

    occurrence: Chance
    translation: Shift
    angle: AxialAngle
    width: Shift
    height: Shift


@dataclass(frozen=True)
class Unmatched:
    """Frequency of missed and added annotations, and which annotations they are (KαLOS §9.3.3).

    Parameters
    ----------
    rate, added : EventRate
        Events on an image by its number of reference annotations. If changes keep an `Overlap`, these are annotations
        of one rater: `rate` counts missed annotations of the reference, and `added` counts added ones of its class; in
        total there are as many of either. Otherwise, as in the paper, `rate` counts missed and added annotations
        together, and `added` is not used: changes that separate annotations make the others.
    own_class : OwnClass
        Class of an added annotation, and whether events are counted per image or per class in it.
    selection : SizeCurve
        Weight of an annotation, or of a proposal, by its area.
    deletion : Chance
        Probability that an event is a missed annotation, not an added one.
    """

    rate: EventRate
    added: EventRate
    own_class: OwnClass
    selection: SizeCurve
    deletion: Chance


@dataclass(frozen=True)
class Topology:
    """Split or merged annotations, and the geometry of fragments; areas are those of the whole (KαLOS §9.3.4).

    Parameters
    ----------
    susceptibility : SizeCurve
        Probability that an annotation is split or merged, by its area.
    split : Chance
        Probability that it is split, not merged.
    first_translation : Shift
        Distance of the centre of the first fragment from that of the whole.
    first_angle : CardinalAngle
        Direction of the first fragment from the centre of the whole.
    first_width, first_height : Shift
        -ln scale of its sides relative to the whole, before `enlargement`.
    enlargement : Enlargement
        ln scale = min(0, kappa - shift) for either side of the first fragment.
    second_distance : Shift
        Distance of the centre of the second fragment from that of the whole.
    second_width, second_height : Shift
        -ln scale of its sides relative to the whole.
    opposition : Opposition
        Angle between the two fragments.
    """

    susceptibility: SizeCurve
    split: Chance
    first_translation: Shift
    first_angle: CardinalAngle
    first_width: Shift
    first_height: Shift
    enlargement: Enlargement
    second_distance: Shift
    second_width: Shift
    second_height: Shift
    opposition: Opposition


SourceName = Literal["fitted", "default", "paper", "chosen"]
SOURCES: tuple[SourceName, ...] = get_args(SourceName)
"""Possible sources of parameters."""


def _intervals(value: Any, name: str) -> tuple[tuple[float, float], ...]:
    ends = np.asarray(value, dtype=object)
    if ends.size and (ends.ndim != 2 or ends.shape[1] != 2 or any(as_number(end) is None for end in ends.flat)):
        raise InputError(f"{name}: expected pairs of numbers, got {repr_of(value)}")
    return tuple((float(low), float(high)) for low, high in value)


@dataclass(frozen=True)
class Provenance(Settings):
    """Source of the parameters of one distribution.

    Parameters
    ----------
    source : str
        One of `SOURCES`: ``"fitted"`` to the data, ``"default"``: from the shipped model, ``"paper"``: a constant
        printed there, or ``"chosen"``: by the caller, or by definition.
    reason : str
        Data that it was fitted on, why it was not fitted, or where it is printed.
    rows : int
        Number of observations.
    interval : tuples (low, high)
        95 % interval of each parameter that has one (of a rate: intercept and slope), in the order of the fields; empty
        if none was computed.
    """

    source: Annotated[SourceName, Option("Source", "Source of the parameters.", known=dict.fromkeys(SOURCES))]
    reason: Annotated[str, Option("Reason", "Why.", check=check_text)]
    rows: Annotated[int, Option("Rows", "Observations.", low=0)] = 0
    interval: Annotated[
        tuple[tuple[float, float], ...], Option("Intervals", "Pairs of numbers.", check=_intervals)
    ] = ()


GROUPS = {"localization": Localization, "category": Category, "unmatched": Unmatched, "topology": Topology}
"""Kinds of difference, and the record with the distributions of each."""

DISTRIBUTIONS = tuple(f"{group}.{entry.name}" for group, record in GROUPS.items() for entry in fields(record))
"""Names of all distributions, such as ``"localization.translation"``."""


@dataclass(frozen=True)
class NoiseParameters:
    """Distributions of all four kinds of difference, from which raters are generated."""

    localization: Localization
    category: Category
    unmatched: Unmatched
    topology: Topology

    @classmethod
    def of(cls, distributions: Mapping[str, Parameters], **more: Any) -> Self:
        """Build from distributions by name (see `DISTRIBUTIONS`); `more` holds the further fields of a subclass."""
        check_type("distributions", Mapping[str, object], distributions)
        missing = [name for name in DISTRIBUTIONS if name not in distributions]
        if missing:
            raise InputError(f"distributions: expected all of `DISTRIBUTIONS`, got none for {listed(missing)}")
        groups: dict[str, Any] = {
            group: record(**{entry.name: distributions[f"{group}.{entry.name}"] for entry in fields(record)})
            for group, record in GROUPS.items()
        }
        return cls(**groups, **more)

    def distribution(self, name: str) -> Parameters:
        """Return the distribution with a name from `DISTRIBUTIONS`."""
        lookup(dict.fromkeys(DISTRIBUTIONS), name, "name")
        group, _, part = name.partition(".")
        found: Parameters = getattr(getattr(self, group), part)
        return found
