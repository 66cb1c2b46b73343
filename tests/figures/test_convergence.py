"""Plots of label convergence: positions and titles."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace

import numpy as np
import pytest

from kalos_core import Annotations, InputError, figures, label_convergence, variations
from kalos_core.convergence import convergence_study
from kalos_core.convergence.regression import Line
from kalos_core.figures import convergence
from kalos_core.variation import BoundaryQuality, VariationShares, boundary_quality, variation_shares
from tests.figures.plain import names, notes, plain, title


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (convergence.convergence_title(0.72, [0.637, 0.804]), "Label convergence 72.0\xa0[63.7,\xa080.4] mAP"),
        (convergence.convergence_title(math.nan, [math.nan, math.nan]), "Label convergence is undefined"),
        (convergence.convergence_title(0.7, [None, None], 20), "Label convergence 70.0 mAP on 20 images"),
        (convergence.shares_title(None), "No equilibrium"),
        (convergence.shares_title(0.75), "From threshold 0.75 on, more annotations are unmatched than matched"),
        (convergence.boundary_title(0, math.nan, 0), "No finding is correct: there are no boundaries to compare"),
        (convergence.boundary_title(10, 0.1, 0), "Half of 10 correct findings differ by 0.10 or less"),
    ],
)
def test_titles(said, expected):
    assert said == expected


def test_points_and_lines_are_where_they_belong():
    lines = {"own": Line(0.5, 0.25, 1, "", np.zeros(0)), "published": Line(0.8, -0.1, 1, "", np.zeros(0))}
    points, own, published = convergence.replicate_scatter(
        [0.0, 0.5, None], [0.2, 0.6, 0.9], [0.5, 0.75, 0.9], lines
    ).data
    assert (points.x, points.y, points.customdata) == ((0.0, 0.5), (20.0, 60.0), (0.5, 0.75))
    assert points.name == "2 points"
    assert (own.x, own.y, own.line.dash) == ((0.0, 0.5), (25.0, 50.0), "solid")
    assert published.y == pytest.approx((-10, 30))
    assert (published.line.dash, published.name) == ("dash", "published: mAP = 80.0 α − 10.0")


def test_shares_are_stacked_with_their_counts():
    counts = np.array([[3, 0, 0, 0, 1, 0], [1, 0, 0, 0, 2, 1]])
    shares = VariationShares(np.array([0.5, 0.75]), counts)
    figure = figures.plot_shares(shares)
    assert figure.data[0].y == (75, 25)
    assert figure.data[4].customdata == (1, 2)
    assert {trace.stackgroup for trace in figure.data} == {"types"}
    assert figure.layout.shapes[0].x0 == shares.equilibrium
    assert notes(figure)[0] == f"equilibrium: {shares.equilibrium:.2f}"
    assert not figures.plot_shares(VariationShares(np.array([0.5]), counts[:1])).layout.shapes


def converged(rows, **given):
    annotations = Annotations.from_rows([{"rater": "ann", "category": "cat"} | row for row in rows], **given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return annotations, label_convergence(annotations, 30, 0.5, thresholds=(0.5, 0.75))


def test_results_are_drawn():
    shifts = (("ann", 0), ("bob", 2))
    rows = [{"image": n, "rater": r, "box": [0, 0, 10, 10 - by * (n % 4)]} for n in range(60) for r, by in shifts]
    annotations, result = converged(rows)
    figure = figures.plot_convergence(result)
    assert names(figure) == ["60 points", "fitted here", "published"]
    expected = convergence.convergence_title(result.whole.mean, result.interval, 60)
    assert title(figure) == expected
    study = figures.plot_study(convergence_study(annotations, result).with_models({"<b>net": 0.5}))
    span, whole, models = study.data
    assert (whole.name, whole.x[0]) == ("label convergence of these images", pytest.approx(100 * result.whole.mean))
    assert (span.base[0], span.base[0] + span.x[0]) == pytest.approx(tuple(100 * result.interval))
    assert span.customdata[0].startswith(f"all images: {whole.x[0]:.1f}\xa0[")
    assert (models.x, models.customdata) == ((50,), ("&#60;b&#62;net",))
    shares = variation_shares(annotations, (0.3, 0.7))
    assert title(figures.plot_shares(shares)) == convergence.shares_title(shares.equilibrium, shares.no_equilibrium)
    boundaries = figures.plot_boundaries(boundary_quality(variations(annotations)))
    assert title(boundaries).startswith("15 of 45 correct findings have the very same outline")
    for drawn in (figure, study, figures.plot_shares(shares), boundaries):
        plain(drawn)


@pytest.fixture(scope="module")
def two():
    """Return the convergence of two raters on two data sets."""
    found = []
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        marks = [(image, k, rater) for image in range(20) for k in range(4) for rater in ("ann", "bob")]
        boxes = [(n, rater, [60 * k, 0, 40 + rng.uniform(0, 30), 40]) for n, k, rater in marks if rng.random() < 0.9]
        rows = [{"image": n, "rater": rater, "box": box} for n, rater, box in boxes]
        found.append(converged(rows, images=range(20), raters=("ann", "bob"))[1])
    return found


def test_a_regression_over_several_data_sets_has_one_line_and_tells_them_apart(two):
    figure = figures.plot_regression(dict(zip(("LVIS", "COCO"), two, strict=True)))
    assert names(figure) == ["LVIS", "COCO", "pooled", "published"]
    assert len({trace.marker.symbol for trace in figure.data[:2]}) == 2
    alpha, mean = (np.concatenate([getattr(result, name).ravel() for result in two]) for name in ("alpha", "map"))
    slope, intercept = np.polyfit(alpha, mean, 1)
    (x0, x1), (y0, y1) = figure.data[2].x, figure.data[2].y
    assert ((y1 - y0) / (x1 - x0), y0 - 100 * slope * x0) == pytest.approx((100 * slope, 100 * intercept))
    assert title(figure).startswith(f"mAP = {100 * slope:.1f} α ")
    assert "over 2 data sets" in title(figure)
    plain(figure)
    with pytest.raises(InputError, match="results of two raters each, got none"):
        figures.plot_regression({})
    other = replace(two[0], configuration=replace(two[0].configuration, solver="greedy"))
    with pytest.raises(InputError, match="alphas of one solver and cost"):
        figures.plot_regression({"a": two[0], "b": other})


def test_the_curve_over_sizes_ends_with_all_images(two):
    result = two[0]
    figure = figures.plot_sizes(result.sizes((0.25, 0.5)))
    band, curve = figure.data
    table = result.by_size((0.25, 0.5))
    assert list(curve.x) == table["images"].tolist() == [5, 10, 20]
    np.testing.assert_allclose(curve.y, 100 * table["convergence"])
    assert len(band.x) == 4  # of subsets
    assert curve.customdata[-1] == f"all 20 images: {100 * result.whole.mean:.1f} mAP"
    assert title(figure).startswith(f"Label convergence {100 * result.whole.mean:.1f} mAP on all 20 images")
    plain(figure)


def test_bins_have_their_width():
    (bars,) = figures.plot_boundaries(BoundaryQuality(np.array([0, 0.2, 0.4]), np.array([3, 1]), 0.1, 0)).data
    assert bars.x == pytest.approx((0.1, 0.3))
    assert bars.width == pytest.approx((0.2, 0.2))
    assert bars.y == (3, 1)
