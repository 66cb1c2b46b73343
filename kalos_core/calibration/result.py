"""Result of `calibrate`: separation of observed and expected distances for each similarity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.calibration.relative import Compared, Coordinates
from kalos_core.calibration.shares import Shares
from kalos_core.display import bracketed, number_of
from kalos_core.errors import lookup
from kalos_core.inference import why_no_interval
from kalos_core.results import Result, with_ends

if TYPE_CHECKING:
    import pandas as pd


LEAST_KS = 0.5
"""KS below which the two distributions are not separated; the least in the paper is .524 (Table 5)."""

WIDEST_INTERVAL = 0.2
"""Maximum width of a conclusive interval of tau*; the widest in the paper is .12 (Table 5)."""

LEAST_DISTANCES = 20
"""Minimum number of observed distances for a trusted tau*."""

ENDS = (0.005, 0.95)
"""Limits of tau* outside which it is at an end of its scale: five grid steps, and an overlap of at least .05."""


@dataclass(frozen=True, eq=False, repr=False)
class Separation(Result):
    """Observed and expected distances of one similarity, for all annotations or those of one size.

    Figures: ``"distances"``.

    Parameters
    ----------
    name : str
        Name of the similarity.
    size : str
        ``"all"``, or the size of the target annotations: ``"small"``, ``"medium"`` or ``"large"``.
    observed : (n,) float64 in [0, 1]
        Distance (1 - similarity) of each annotation to each other rater of its image.
    expected : (m,) float64 in [0, 1]
        Distance of each annotation to a rater on another image, drawn at random; represents chance.
    ks : float in [0, 1]
        Largest excess of the observed over the expected distribution function; NaN without distances.
    ks_at : float in [0, 1]
        Distance at which `ks` is reached.
    tau : float in [0, 1]
        Distance from which chance is the likelier explanation; NaN if undefined.
    reason : str
        Reason why `tau` is NaN; "" if it is defined.
    ks_interval, tau_interval : (2,) float64
        95 % bootstrap interval over images; NaN without a bootstrap.
    strata : mapping size -> Separation
        The same with annotations of one size as targets, against annotations of any size; empty within a stratum.
    coordinates : "relative", "pixels" or "own"
        Coordinates for comparing annotations of two images; "own" if the similarity defines them.
    crosses : bool
        Whether the densities cross at `tau`; otherwise it is the valley between their modes.
    plotted : tuple of Shares
        `shares` if the distances themselves were dropped (`without_distances`), otherwise empty.
    ks_replicates : (B,) float64
        KS of each bootstrap replicate; all similarities of a calibration use the same draws of images.
    images : int
        Number of images with both observed and expected distances of these targets; intervals are based on them.

    Examples
    --------
    >>> found = Separation("box_iou", "all", np.array([0.1]), np.array([0.9]), 1.0, 0.1, 0.4, "")
    >>> found.threshold, found.threshold_interval.tolist()
    (0.6, [nan, nan])
    """

    _call = "calibrate(annotations)['box_iou']"
    _shows_table = False

    name: str
    size: str
    observed: NDArray[np.float64]
    expected: NDArray[np.float64]
    ks: float
    ks_at: float
    tau: float
    reason: str
    ks_interval: NDArray[np.float64] = field(default_factory=lambda: np.full(2, np.nan))
    tau_interval: NDArray[np.float64] = field(default_factory=lambda: np.full(2, np.nan))
    strata: Mapping[str, Separation] = field(default_factory=dict)
    coordinates: Compared = "relative"
    crosses: bool = True
    plotted: tuple[Shares, ...] = ()
    ks_replicates: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    images: int = 0

    @property
    def shares(self) -> tuple[Shares, ...]:
        """Histograms and densities of the observed and the expected distances."""
        return self.plotted or (Shares.of(self.observed), Shares.of(self.expected))

    def without_distances(self) -> Separation:
        """Replace the distances by `shares`: a few hundred numbers for data of any size."""
        nothing = np.zeros(0)
        strata = {size: part.without_distances() for size, part in self.strata.items()}
        return replace(self, observed=nothing, expected=nothing, strata=strata, plotted=self.shares)

    @property
    def threshold(self) -> float:
        """Smallest similarity at which annotations may correspond, τ*_s = 1 - τ*."""
        return 1 - self.tau

    @property
    def trusted(self) -> bool:
        """Whether tau* can be used, that is, `why` is empty."""
        return not self.why

    @property
    def why(self) -> str:
        """Reasons not to trust `tau`, in one line; "" if there are none.

        The reasons are:

        * there is no tau*
        * the two distributions are not separated (KS below `LEAST_KS`)
        * their densities do not cross, so tau* is the valley between their modes
        * tau* is at an end of its scale (outside of `ENDS`)
        * its interval is wide (more than `WIDEST_INTERVAL`) or reaches such an end; not checked without a bootstrap
        * there are few observed distances (fewer than `LEAST_DISTANCES`)

        Examples
        --------
        >>> near, far = np.linspace(0.1, 0.2, 20), np.array([0.99, 1.0])
        >>> Separation("box_iou", "all", near, far, 1.0, 0.2, 0.995, "").why
        'τ* = 0.995 is at the end of its scale: any overlap at all would count as the same object'
        """
        if not np.isfinite(self.tau):
            return f"there is no τ*: {self.reason}"
        low, high = ENDS
        least, most = self.tau_interval
        count = self.plotted[0].count if self.plotted else len(self.observed)
        found = [
            (
                self.ks < LEAST_KS,
                f"observed and expected distances hardly part: KS = {self.ks:.3f}, below {LEAST_KS:g}",
            ),
            (
                not self.crosses,
                f"the densities do not cross: τ* = {self.tau:.3f} is the valley between their modes",
            ),
            (
                self.tau > high,
                f"τ* = {self.tau:.3f} is at the end of its scale: any overlap at all would count as the same object",
            ),
            (
                self.tau < low,
                f"τ* = {self.tau:.3f} is at the end of its scale: only nearly identical shapes would count as the "
                "same object",
            ),
            (
                most - least > WIDEST_INTERVAL,
                f"the interval of τ* is wide: {least:.3f} to {most:.3f}",
            ),
            (
                most > high or least < low,
                f"the interval of τ*, {least:.3f} to {most:.3f}, reaches an end of its scale",
            ),
            (
                count < LEAST_DISTANCES,
                f"there are only {number_of(count, 'observed distance')}",
            ),
        ]
        return "; ".join(text for holds, text in found if holds)

    @property
    def threshold_interval(self) -> NDArray[np.float64]:
        """(2,) interval of `threshold`, from that of tau."""
        return 1 - self.tau_interval[::-1]

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        why = why_no_interval(self.ks_interval, self.images, len(self.ks_replicates))
        size = "" if self.size == "all" else f" of {self.size} annotations"
        tau = f"τ* = {self.tau:.3f}{bracketed(self.tau_interval)} (as a similarity: τ*_s = {self.threshold:.3f})"
        doubt = "" if self.trusted else f"; not to be trusted: {self.why}"
        found = f"{tau}{doubt}" if np.isfinite(self.tau) else f"no τ*: {self.reason}"
        ks = f"KS = {self.ks:.3f}{bracketed(self.ks_interval, why=why)} at {self.ks_at:.3f}"
        return f"{self.name}{size}: {ks}, {found}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row, with the columns of `Calibration.to_pandas`."""
        return _table([self])


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """The result of `calibrate`: a `Separation` for each similarity, the largest KS first.

    Figures: ``"distances"``, ``"similarities"``.

    Parameters
    ----------
    separations : sequence of Separation
    repeats : int
        Number of draws of the expected distances.
    bootstrap, seed : int
    coordinates : "relative" or "pixels"
        As requested; each `Separation` reports the coordinates it used.

    Examples
    --------
    >>> near, far = np.array([0.1, 0.3]), np.array([0.8, 1.0])
    >>> result = Calibration([Separation("box_iou", "all", near, far, 1.0, 0.3, 0.6, "")])
    >>> result["box_iou"].threshold, result.best.name, [found.ks for found in result]
    (0.4, 'box_iou', [1.0])
    >>> result.names, "box_iou" in result, "polygon_iou" in result
    (['box_iou'], True, False)
    >>> result.to_pandas()[["similarity", "ks", "tau"]].values.tolist()
    [['box_iou', 1.0, 0.6]]
    """

    _call = "calibrate(annotations)"
    _shows_table = False

    separations: Sequence[Separation]
    repeats: int = 1
    bootstrap: int = 0
    seed: int = 0
    coordinates: Coordinates = "relative"

    @property
    def best(self) -> Separation:
        """Similarity that separates signal from chance best."""
        return self.separations[0]

    @property
    def names(self) -> list[str]:
        """Names of the similarities, in the same order."""
        return [found.name for found in self.separations]

    def __len__(self) -> int:
        return len(self.separations)

    def __contains__(self, name: object) -> bool:
        """Return whether a similarity of that name was calibrated."""
        return name in self.names

    def __iter__(self) -> Iterator[Separation]:
        return iter(self.separations)

    def __getitem__(self, name: str) -> Separation:
        """Return the separation of the similarity of that name."""
        return lookup({found.name: found for found in self.separations}, name, "similarity")

    def without_distances(self) -> Calibration:
        """Replace all distances by their histograms and densities; see `Separation.without_distances`."""
        return replace(self, separations=[found.without_distances() for found in self])

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each similarity, largest KS first."""
        return _table(self.separations)

    def strata_to_pandas(self) -> pd.DataFrame:
        """Return one row for each similarity and size of targets."""
        return _table([found for whole in self.separations for found in whole.strata.values()])

    @property
    def headline(self) -> str:
        """Summary of all separations, one line each."""
        return "\n".join(map(str, self.separations))


def _table(separations: Sequence[Separation]) -> pd.DataFrame:
    import pandas as pd

    ends = {
        name: np.array([getattr(found, name) for found in separations]).reshape(-1, 2)
        for name in ("ks_interval", "tau_interval", "threshold_interval")
    }
    return pd.DataFrame(
        {
            "similarity": [found.name for found in separations],
            "size": [found.size for found in separations],
            **{
                name: [getattr(found, name) for found in separations]
                for name in ("ks", "ks_at", "tau", "threshold", "reason", "trusted", "why", "coordinates")
            },
            **with_ends(ends),
            "observed": [len(found.observed) for found in separations],
            "expected": [len(found.expected) for found in separations],
        }
    )
