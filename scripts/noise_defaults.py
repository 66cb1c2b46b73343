"""Create the shipped parameters of the noise model from data, or from the paper if data are too few.

python scripts/noise_defaults.py lvis200.json > kalos_core/noise/defaults.json
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.noise.fit.angles import MOST_KAPPA, fit_axial
from kalos_core.noise.fit.distributions import (
    CONSTANTS,
    KAPPA,
    LEAST_ROWS,
    MEASURES,
    Estimate,
    estimate_distributions,
    size_curve,
)
from kalos_core.noise.fit.observations import Observations, observe
from kalos_core.noise.fit.shifts import NU_RANGE, fit_tails
from kalos_core.noise.model import OVERLAPS, NoiseModel
from kalos_core.noise.parameters import (
    DISTRIBUTIONS,
    CardinalAngle,
    Opposition,
    Parameters,
    Provenance,
    Shift,
)
from kalos_core.readers import read_labels

DIGITS = 5
"""Significant digits of a shipped number, which every machine reproduces."""

PRINTED = {
    "topology.opposition": (Opposition(4.53, 0.53), "KαLOS Eq. 19"),
}
"""Distributions for which two careful raters give too few data, with parameters from the paper.

The probability of another class is not among them, although the paper prints .026 (§9.3.2). That value is for LVIS,
TexBiG and VinDr-CXR together; 1,400 matched annotations of LVIS-200 give .0014 (95 %: .0004 to .0052). All parameters
that data can determine come from one data set.
"""


def default_model(annotations: Annotations, name: str) -> NoiseModel:
    """Return the model to ship, fitted on annotations called `name`, with numbers rounded to `DIGITS`.

    Distributions in `PRINTED` come from the paper. If other distributions have too few rows, those of annotations with
    another class use the distributions of localization, and those of fragments have fewer parameters.

    Parameters
    ----------
    annotations : Annotations
    name : str
        Name of the data, for the provenance.

    Raises
    ------
    InputError
        If the data are too few even for that.
    """
    seen = observe(annotations)
    estimates = estimate_distributions(seen)
    translation = estimates["localization.translation"].distribution
    if not isinstance(translation, Shift) or not len(seen.parent_area):
        raise InputError(
            f"{name}: expected at least {LEAST_ROWS} matched annotations and a whole annotated as two, got "
            f"{len(seen.correct)} and {len(seen.parent_area)}"
        )
    few = _from_few(seen, translation.nu) | _as_same_class(seen, estimates)
    sourced = {
        part: (constant, Provenance("paper", reason)) for part, (constant, reason) in (CONSTANTS | PRINTED).items()
    }
    overlap, reason = OVERLAPS["matched"]
    sourced["localization.overlap"] = (overlap, Provenance("chosen", reason))
    for part in DISTRIBUTIONS:
        if part not in sourced:
            sourced[part] = _sourced(estimates[part] if estimates[part].distribution else few[part], name)
    return NoiseModel.of(
        {part: _rounded(sourced[part][0]) for part in DISTRIBUTIONS},
        provenance={part: sourced[part][1] for part in DISTRIBUTIONS},
    )


def _sourced(found: Estimate, data: str) -> tuple[Parameters, Provenance]:
    if found.distribution is None:
        raise InputError(f"{data}: expected data that determine each distribution, got {found.reason}")
    ends = tuple((_short(low), _short(high)) for low, high in found.interval)
    return found.distribution, Provenance("fitted", f"{found.reason} ({data})", found.rows, ends)


def _from_few(seen: Observations, tails: float) -> dict[str, Estimate]:
    """Return distributions with one or two parameters less than those fitted to many rows, each with its reason."""
    wholes = len(seen.parent_area)
    what = f"only {number_of(wholes, 'whole annotated as two')}"
    found = {
        "topology.susceptibility": size_curve(seen.parent_area, seen.other_area, "whole annotated as two", 0.5),
        "topology.first_angle": Estimate(_even_angle(seen.first.angles), wholes, f"{what}, so four even distributions"),
    }
    for rank, shifts, distance in (("first", seen.first, "translation"), ("second", seen.second, "distance")):
        moved = _shift(shifts.translation, shifts.area, tails)
        found[f"topology.{rank}_{distance}"] = Estimate(moved, wholes, f"{what}, so with the tails of localization")
        enlarged = KAPPA if rank == "first" else 0.0
        for part in ("width", "height"):
            normal = _shift(getattr(shifts, part) + enlarged, np.zeros(wholes), NU_RANGE[1])
            found[f"topology.{rank}_{part}"] = Estimate(normal, wholes, f"{what}, so normal without a trend")
    return found


def _as_same_class(seen: Observations, estimates: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return distributions for annotations with another class, from those of annotations with the same class."""
    few = number_of(len(seen.wrong_class), "annotation matched with one of another class")
    reason = f"only {few}, so as for those of one class"
    rows = len(seen.correct)
    distributions = {
        f"category.{part}": Estimate(estimates[f"localization.{part}"].distribution, rows, reason) for part in MEASURES
    }
    return {**distributions, "category.angle": Estimate(fit_axial(seen.correct.angles), rows, reason)}


def _shift(size: NDArray[np.float64], area: NDArray[np.float64], nu: float) -> Shift:
    found = fit_tails(size, area, nu)
    return Shift(found.intercept, found.slope, nu, 0.0, found.sigma)


def _even_angle(angles: NDArray[np.float64]) -> CardinalAngle:
    """Fit the mixture with equal weights and one concentration by maximum likelihood."""

    def misfit(kappa: float) -> float:
        return -float(np.log(_even(kappa).density(angles)).sum())

    return _even(float(scipy.optimize.minimize_scalar(misfit, bounds=(0, MOST_KAPPA), method="bounded").x))


def _even(kappa: float) -> CardinalAngle:
    return CardinalAngle((0.25,) * 4, (kappa,) * 4)


def _rounded(distribution: Parameters) -> Parameters:
    return type(distribution)(
        **{entry.name: _round(getattr(distribution, entry.name)) for entry in fields(distribution)}
    )


def _round(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, tuple):
        return tuple(_short(part) for part in value)
    return _short(value)


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


if __name__ == "__main__":
    source = Path(sys.argv[1])
    print(default_model(read_labels(source), source.name).to_json(), end="")
