"""Observations of LVIS, and models fitted to it, which many tests read."""

from __future__ import annotations

import pytest

from kalos_core import Annotations, NoiseModel
from kalos_core.noise.fit.observations import Observations, observe


@pytest.fixture(scope="session")
def lvis_seen(lvis: Annotations) -> Observations:
    return observe(lvis)


@pytest.fixture(scope="session")
def lvis_model(lvis: Annotations) -> NoiseModel:
    return NoiseModel.fit(lvis)


@pytest.fixture(scope="session")
def paper_model(lvis: Annotations) -> NoiseModel:
    return NoiseModel.fit(lvis, preset="paper")
