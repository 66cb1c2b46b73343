"""The noise model of the raters of a data set: what they show, the likeliest laws, and how well these fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalos_core.annotations import Annotations
from kalos_core.noise.fit.goodness import FitTests, fit_tests
from kalos_core.noise.fit.laws import CONSTANTS, Estimate, estimate_laws
from kalos_core.noise.fit.observations import Observations, Shifts, observe
from kalos_core.noise.model import NoiseModel
from kalos_core.noise.parameters import GROUPS, LAWS, Parameters, Provenance

__all__ = ["FitTests", "Observations", "Shifts", "assemble", "fit_noise", "fit_tests", "observe"]


def fit_noise(annotations: Annotations) -> NoiseModel:
    """See `NoiseModel.fit`."""
    seen = observe(annotations)
    estimates = estimate_laws(seen)
    default = NoiseModel.default()
    laws: dict[str, Parameters] = {}
    provenance: dict[str, Provenance] = {}
    for name in LAWS:
        if name in CONSTANTS:
            laws[name], reason = CONSTANTS[name]
            provenance[name] = Provenance("paper", reason)
        else:
            laws[name], provenance[name] = _or_default(estimates[name], default.law(name))
    return assemble(laws, provenance, seen)


def _or_default(found: Estimate, default: Parameters) -> tuple[Parameters, Provenance]:
    if found.law is None:
        return default, Provenance("default", found.reason, found.rows)
    return found.law, Provenance("fitted", found.reason, found.rows, found.interval)


def assemble(
    laws: Mapping[str, Parameters], provenance: Mapping[str, Provenance], seen: Observations | None = None
) -> NoiseModel:
    """A model from its laws by name."""
    groups: dict[str, Any] = {
        group: record(**{name.partition(".")[2]: laws[name] for name in LAWS if name.startswith(f"{group}.")})
        for group, record in GROUPS.items()
    }
    return NoiseModel(**groups, provenance=provenance, observations=seen)
