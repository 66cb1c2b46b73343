"""Plots of sparse agreement: what is drawn where, and what a title says."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalos_core import removal_experiment, running_agreement
from kalos_core.figures import plot_removal, plot_running, plot_weights, running_title
from tests.figures.plain import names, plain, title


def test_running_curves_have_bands_and_the_point_wanted():
    rng = np.random.default_rng(0)
    curve = running_agreement(np.tile(np.arange(60), 4), rng.integers(0, 2, 240), points=8)
    width = float(np.diff(curve.spa_interval[-1])[0]) + 0.01
    figure = plot_running(curve, width)
    lines = plain(figure)
    assert lines[2]["y"] == [None if math.isnan(value) else value for value in curve.spa]
    assert lines[0]["y"][-1] == curve.spa_interval[-1, 0]
    step = curve.narrow_from(width)
    assert figure.layout.shapes[0].x0 == curve.annotations[step]
    assert f"narrow enough from {curve.annotations[step]} on" in title(figure)
    assert running_title([1], [None], [[None, None]], None) == "No item has two annotations yet"
    assert not plot_running(curve).layout.shapes


def test_removal_and_weights():
    counts = np.random.default_rng(0).multinomial(5, [0.6, 0.3, 0.1], 30)
    result = removal_experiment(counts, ["flat", "edges"], steps=4, rounds=20)
    figure = plot_removal(result)
    assert names(figure) == ["2 per item", "3 per item", "5 per item", "any number, flat"]
    assert plain(figure)[-1]["y"][-1] is None  # all annotations: nothing varies
    assert figure.layout.yaxis.type == "log"
    flat, edges = plain(plot_weights(result))
    assert flat["y"] == [0.0] * 4
    assert edges["y"] == pytest.approx(result.against_flat[1].tolist())
