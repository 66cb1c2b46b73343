"""The noise model of the raters of a data set: what they show, the likeliest distributions, and how well these fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.noise.fit.distributions import CONSTANTS, Estimate, estimate_distributions
from kalos_core.noise.fit.goodness import FitTests, fit_tests
from kalos_core.noise.fit.observations import Observations, Shifts, observe
from kalos_core.noise.model import NoiseModel
from kalos_core.noise.parameters import DISTRIBUTIONS, GROUPS, Parameters, Provenance

__all__ = ["FitTests", "Observations", "Shifts", "assemble", "fit_noise", "fit_tests", "observe"]


def fit_noise(annotations: Annotations) -> NoiseModel:
    """See `NoiseModel.fit`."""
    seen = observe(annotations)
    estimates = estimate_distributions(seen)
    default = NoiseModel.default()
    distributions: dict[str, Parameters] = {}
    provenance: dict[str, Provenance] = {}
    for name in DISTRIBUTIONS:
        if name in CONSTANTS:
            distributions[name], reason = CONSTANTS[name]
            provenance[name] = Provenance("paper", reason)
        else:
            distributions[name], provenance[name] = _or_default(estimates[name], default.distribution(name))
    return assemble(distributions, provenance, seen)


def _or_default(found: Estimate, default: Parameters) -> tuple[Parameters, Provenance]:
    if found.distribution is None:
        return default, Provenance("default", found.reason, found.rows)
    return found.distribution, Provenance("fitted", found.reason, found.rows, found.interval)


def assemble(
    distributions: Mapping[str, Parameters], provenance: Mapping[str, Provenance], seen: Observations | None = None
) -> NoiseModel:
    """A model from its distributions by name."""
    groups: dict[str, Any] = {
        group: record(
            **{name.partition(".")[2]: distributions[name] for name in DISTRIBUTIONS if name.startswith(f"{group}.")}
        )
        for group, record in GROUPS.items()
    }
    return NoiseModel(**groups, provenance=provenance, observations=seen)
