"""How the shipped parameters came about: fitted on data, with what the paper prints where the data are too few."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from kalos_core.annotations import Annotations
from kalos_core.noise.fit import assemble, observe
from kalos_core.noise.fit.angles import MOST_KAPPA, fit_axial
from kalos_core.noise.fit.laws import CONSTANTS, KAPPA, MEASURES, counted, estimate_laws, size_curve
from kalos_core.noise.fit.observations import Observations
from kalos_core.noise.fit.shifts import NU_RANGE, fit_normal
from kalos_core.noise.model import NoiseModel
from kalos_core.noise.parameters import (
    LAWS,
    CardinalAngle,
    Chance,
    Opposition,
    Parameters,
    Provenance,
    Shift,
)

DIGITS = 5
"""Significant digits of a shipped number: what any machine finds again."""

PRINTED = {
    "category.occurrence": (Chance(0.026), "pairwise error rate over LVIS, TexBiG and VinDr-CXR (KαLOS §9.3.2)"),
    "topology.opposition": (Opposition(4.53, 0.53), "KαLOS Eq. 19"),
}
"""Laws of which data of two careful raters hold too little, and the paper prints the parameters."""

Sourced = tuple[Parameters, Provenance]


def default_model(annotations: Annotations, name: str) -> NoiseModel:
    """The model to ship, fitted on annotations called `name`; its numbers rounded to `DIGITS`.

    What the paper prints is taken from there. Where other laws have too few rows: those of marks with another class are
    the laws of localization; those of fragments have fewer parameters.

    Parameters
    ----------
    annotations : Annotations
        With at least 30 marks matched, and at least 3 fragments of wholes.
    name : str
        Of the data, for the provenance.
    """
    seen = observe(annotations)
    sourced: dict[str, Sourced] = {
        law: (constant, Provenance("paper", reason)) for law, (constant, reason) in (CONSTANTS | PRINTED).items()
    }
    for law, found in estimate_laws(seen).items():
        if law not in sourced and found.law is not None:
            sourced[law] = (found.law, Provenance("fitted", f"{found.reason} ({name})", found.rows))
    for law, (few, reason, rows) in _from_few(seen, sourced).items():
        sourced.setdefault(law, (few, Provenance("fitted", f"{reason} ({name})", rows)))
    return assemble(
        {law: _rounded(sourced[law][0]) for law in LAWS},
        {law: sourced[law][1] for law in LAWS},
    )


def _from_few(seen: Observations, sourced: dict[str, Sourced]) -> dict[str, tuple[Parameters, str, int]]:
    """Laws with a parameter or two less than those that are fitted to many rows, each with its reason."""
    laws: dict[str, tuple[Parameters, str, int]] = {}
    same_class = len(seen.correct)
    instead = f"only {counted(len(seen.wrong_class), 'mark matched with one of another class')}, so as for those of one"
    for part in MEASURES:
        laws[f"category.{part}"] = (sourced[f"localization.{part}"][0], instead, same_class)
    laws["category.angle"] = (fit_axial(seen.correct.angles), instead, len(seen.correct.angles))
    wholes = len(seen.parent_area)
    chance = size_curve(seen.parent_area, seen.other_area, "whole drawn as two", 0.5)
    if chance.law is not None:
        laws["topology.susceptibility"] = (chance.law, chance.reason, wholes)
    what = f"only {counted(wholes, 'whole drawn as two')}"
    laws["topology.first_angle"] = (_even_angle(seen.first.angles), f"{what}, so four even laws", wholes)
    for rank, shifts, distance in (("first", seen.first, "translation"), ("second", seen.second, "distance")):
        laws[f"topology.{rank}_{distance}"] = (_normal(shifts.translation, shifts.area), f"{what}, so normal", wholes)
        enlarged = KAPPA if rank == "first" else 0.0
        for part in ("width", "height"):
            law = _normal(getattr(shifts, part) + enlarged, np.zeros(wholes))
            laws[f"topology.{rank}_{part}"] = (law, f"{what}, so normal without a trend", wholes)
    return laws


def _normal(size: NDArray[np.float64], area: NDArray[np.float64]) -> Shift:
    """A law with normal residuals: as many degrees of freedom as are told apart."""
    found = fit_normal(size, area)
    return Shift(found.intercept, found.slope, NU_RANGE[1], 0.0, found.sigma)


def _even_angle(angles: NDArray[np.float64]) -> CardinalAngle:
    """The likeliest mixture with equal weights and one concentration."""

    def misfit(kappa: float) -> float:
        return -float(np.log(_even(kappa).density(angles)).sum())

    return _even(float(optimize.minimize_scalar(misfit, bounds=(0, MOST_KAPPA), method="bounded").x))


def _even(kappa: float) -> CardinalAngle:
    return CardinalAngle((0.25,) * 4, (kappa,) * 4)


def _rounded(law: Parameters) -> Parameters:
    return type(law)(**{entry.name: _round(getattr(law, entry.name)) for entry in fields(law)})


def _round(value: float | tuple[float, ...]) -> float | tuple[float, ...]:
    if isinstance(value, tuple):
        return tuple(float(f"{part:.{DIGITS}g}") for part in value)
    return float(f"{value:.{DIGITS}g}")
