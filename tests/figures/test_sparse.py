"""Plots of sparse agreement: positions and titles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kalos_core import removal_experiment
from kalos_core.figures import plot_independence, plot_removal, plot_running, plot_weights
from kalos_core.figures.sparse import running_title
from kalos_core.sparse import check_independence, running_agreement
from tests.figures.plain import names, plain, title


def test_running_curves_have_bands_and_the_point_wanted():
    rng = np.random.default_rng(0)
    curve = running_agreement(np.tile(np.arange(60), 4), rng.integers(0, 2, 240), points=8)
    width = float(np.diff(curve.spa_interval[-1])[0]) + 0.01
    figure = plot_running(curve, width)
    lines = plain(figure)
    assert lines[1]["y"] == [None if math.isnan(value) else value for value in curve.spa]
    assert curve.spa_interval[-1, 0] in lines[0]["y"]
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
    assert plain(figure)[-1]["y"][-1] is None  # all annotations: no variance
    flat, edges = plain(plot_weights(result))
    assert flat["y"] == [0.0] * 4
    assert edges["y"] == pytest.approx(result.against_flat[1].tolist())


def test_agreement_by_number_of_annotations():
    result = check_independence([[1, 1], [2, 0]] * 20 + [[8, 0], [7, 1]] * 20)
    figure = plot_independence(result)
    (dots,) = plain(figure)
    assert (dots["x"], dots["y"]) == ([2, 8], [0.5, 0.875])  # P of 7 and 1: 42 of 56 pairs, 3/4
    assert dots["error_y"]["array"][0] == pytest.approx(1.96 * np.std([0, 1] * 20, ddof=1) / math.sqrt(40))
    assert figure.layout.shapes[0].y0 == pytest.approx((0.5 + 0.875) / 2)
    assert title(figure).startswith("Raters agree more on items with more annotations")
    assert plain(plot_independence(check_independence([[1, 0]])))[0]["y"] == []
