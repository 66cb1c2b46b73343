"""Plots of the fit of a noise model: titles say the finding, and curves are densities of what is drawn."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid

from kalos_core import Annotations, InputError, NoiseModel
from kalos_core.figures import (
    fidelity_rows,
    fit_rows,
    loss_rows,
    plot_angles,
    plot_areas,
    plot_confusions,
    plot_fidelity,
    plot_loss,
    plot_residuals,
    plot_size_errors,
)
from kalos_core.noise import Fidelity, FitTests
from kalos_core.noise.experiments import SignalLossTable
from kalos_core.noise.fit.observations import Shifts, observe

PLOTS = [plot_residuals, plot_angles, plot_size_errors, plot_areas, plot_confusions]


def pair(image, category, box, other_category, other_box):
    return [
        {"image": image, "rater": "ann", "category": category, "box": box},
        {"image": image, "rater": "bob", "category": other_category, "box": other_box},
    ]


@pytest.fixture(scope="module")
def model():
    """Right and left shifts with heavy tails, two confusions, a small unmatched mark and one annotated as two."""
    rng = np.random.default_rng(0)
    rows = pair(0, "cat", [10, 10, 20, 20], "dog", [11, 10, 20, 20])
    rows += pair(0, "cat", [50, 10, 20, 20], "fox", [50, 11, 20, 20])
    rows += [{"image": 0, "rater": "ann", "category": "cat", "box": [80, 80, 4, 4]}]
    rows += [{"image": 1, "rater": "ann", "category": "dog", "box": [10, 40, 50, 20]}]
    rows += [
        {"image": 1, "rater": "bob", "category": "dog", "box": box} for box in ([10, 40, 24, 20], [36, 40, 24, 20])
    ]
    seen = observe(Annotations.from_rows(rows, image_size={0: (100, 100), 1: (100, 100)}))
    area = rng.uniform(0.01, 0.3, 300)
    size = np.abs(0.02 + 0.1 * area + 0.005 * rng.standard_t(2, 300))
    angle = np.pi * rng.integers(0, 2, 300) + rng.vonmises(0, 10, 300)
    moved = Shifts(area, size, angle, 0.3 - 0.5 * area + size, size)
    return replace(NoiseModel.default(), observations=replace(seen, correct=moved))


def named(figure, start):
    return next(trace for trace in figure.data if trace.name.startswith(start))


@pytest.mark.parametrize("plot", PLOTS)
def test_a_figure_is_plain_json_with_a_finding_and_named_axes(plot, model):
    figure = plot(model)
    plain = figure.to_plotly_json()
    assert json.loads(json.dumps(plain["data"])) == plain["data"]
    json.dumps(plain["layout"])
    assert figure.layout.title.text
    assert figure.layout.xaxis.title.text
    assert figure.layout.xaxis.fixedrange


@pytest.mark.parametrize("plot", PLOTS)
def test_a_model_without_observations_has_no_figure(plot):
    with pytest.raises(InputError, match=r"expected one from NoiseModel\.fit"):
        plot(NoiseModel.default())


def test_residuals_and_their_distributions_are_densities(model):
    figure = plot_residuals(model)
    assert figure.layout.title.text.startswith(
        "Residuals of translation of annotations of the same class: Student t fits bet"
    )
    bars = figure.data[0]
    drawn = sum(bars.customdata) / 300
    assert sum(np.array(bars.y) * np.array(bars.width)) == pytest.approx(drawn)
    student = named(figure, "Student t")
    assert trapezoid(student.y, student.x) == pytest.approx(drawn, abs=0.03)
    assert "AIC" in student.name
    heights = np.interp(bars.x, student.x, student.y)
    normal = named(figure, "normal")
    other = np.interp(bars.x, normal.x, normal.y)
    assert np.abs(heights - bars.y).sum() < np.abs(other - bars.y).sum()


def test_directions_name_the_distribution_that_fits_best(model):
    figure = plot_angles(model)
    assert figure.layout.title.text.startswith("Directions of annotations of the same class: axial fits best")
    assert sum(figure.data[0].customdata) == 300
    for curve in figure.data[1:]:
        assert trapezoid(curve.y, curve.x) == pytest.approx(1, abs=1e-3)
    assert [curve.line.dash for curve in figure.data[1:]].count("solid") == 1


def test_the_trend_over_areas_and_its_medians(model):
    figure = plot_size_errors(model)
    assert figure.layout.title.text.startswith("Changes of width fall with the area (Spearman −0.")
    medians, trend = named(figure, "medians"), named(figure, "median of the")
    assert len(medians.x) == 10
    assert list(medians.x) == sorted(medians.x)
    assert trend.y[0] > trend.y[-1]
    assert np.interp(medians.x, trend.x, trend.y) == pytest.approx(np.array(medians.y), abs=0.02)


def test_areas_as_distribution_functions(model):
    figure = plot_areas(model)
    assert figure.layout.title.text.startswith("Unmatched annotations may be of any size (Mann-Whitney U, p = ")
    matched = named(figure, "matched")
    assert (matched.y[0], matched.y[-1]) == (0, 1)
    assert max(matched.x) == pytest.approx(0.1)
    assert plot_areas(model, "parents").layout.title.text.startswith(
        "Wholes annotated as two by another may be of any size"
    )
    with pytest.raises(InputError, match="of: expected one of 'parents', 'unmatched', got 'all'"):
        plot_areas(model, "all")


def test_a_difference_of_areas_is_sure_from_enough_annotations(model):
    small = replace(model.observations, unmatched_area=np.full(30, 0.001), matched_area=np.linspace(0.01, 0.1, 30))
    title = plot_areas(replace(model, observations=small)).layout.title.text
    assert title == "Unmatched annotations are smaller (Mann-Whitney U, p < 0.001)"


def test_confusions_next_to_similarity(model):
    figure = plot_confusions(model)
    assert figure.layout.title.text == "2 of 2 annotations matched one to one were given two classes"
    assert np.array(figure.data[0].z).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    alike = np.array([[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]])
    both = plot_confusions(model, alike, permutations=19)
    assert len(both.data) == 2
    over = np.triu_indices(3, 1)
    r = np.corrcoef([1, 1, 0], alike[over])[0, 1]
    assert f"Mantel r = {r:.2f}, p = " in both.layout.title.text


@pytest.mark.parametrize(
    ("make", "title"),
    [
        (lambda model: plot_residuals(model, "first"), "No residuals: 1 larger fragments"),
        (lambda model: plot_angles(model, "second"), "No directions: 1 smaller fragments moved"),
        (lambda model: plot_size_errors(model, "second"), "No changes: 1 smaller fragments"),
    ],
)
def test_too_little_to_draw_is_said(model, make, title):
    assert make(model).layout.title.text == title


def test_nothing_to_compare_is_said(model):
    nothing = replace(model.observations, unmatched_area=np.zeros(0), category_b=model.observations.category_a)
    bare = replace(model, observations=nothing)
    assert plot_areas(bare).layout.title.text.startswith("No areas to compare: 0 and ")
    assert plot_confusions(bare).layout.title.text == "No class was taken for another"


def test_an_unknown_group_or_part_lists_the_known(model):
    with pytest.raises(InputError, match="group: expected one of 'category', 'first', 'localization', 'second'"):
        plot_residuals(model, "all")
    with pytest.raises(InputError, match="part: expected one of 'height', 'translation', 'width'"):
        plot_residuals(model, "localization", "depth")


def test_fidelity_says_how_much_lies_inside():
    numbers = np.array([0.7, 100.0, 0.0])
    quantity = np.array(["alpha", "unmatched", "ks_angle"], dtype=object)
    by_draw = np.array([[0.75, 150.0, 0.02], [0.75, 150.0, 0.02]])
    found = Fidelity(quantity, numbers, np.array([0.6, 80.0, 0.0]), np.array([0.8, 120.0, 0.0]), by_draw, 1, 9)
    figure = plot_fidelity(found)
    title = (
        "1 of 3 quantities of generated raters lies in the interval of the real raters; mean alpha 0.750, real 0.700"
    )
    assert figure.layout.title.text == title
    inside, outside = figure.data[1:]
    assert (list(inside.y), inside.x[0]) == (["mean alpha"], pytest.approx(0.75))
    assert list(outside.y) == ["distance: direction", "unmatched"]
    assert outside.x[1] == pytest.approx(70 / 40)
    assert "150 against 100" in outside.customdata[1]


def test_rows_of_fidelity_and_of_tests_read_as_numbers_are_written():
    """Counts in full, as in the `repr`; not in powers of ten."""
    rows = np.array([[1398.0, -0.0694], [1145.0, -0.114], [1665.0, -0.0294]])
    found = Fidelity(np.array(["correct", "global_alpha"]), *rows, np.array([[1420.0, -0.2]]), 1, 9)
    assert [list(row.values()) for row in fidelity_rows(found)] == [
        ["correct", "1,398\xa0[1,145,\xa01,665]", "1,420", "yes"],
        ["global alpha", "−0.069\xa0[−0.114,\xa0−0.029]", "−0.200", "no"],
    ]
    nan = float("nan")
    tests = FitTests(
        *(np.array([text] * 2) for text in ("unmatched.rate", "AIC", "power")),
        np.array([986.6, 1.2]),
        np.array([nan, 0.0004]),
        np.array([400, 400]),
        np.array(["fits better", ""]),
    )
    assert [(row["statistic"], row["p"], row["note"]) for row in fit_rows(tests)] == [
        ("987", "", "fits better"),
        ("1.200", "< 0.001", ""),
    ]


def test_signal_loss_is_named_beside_the_papers():
    found = SignalLossTable(
        *np.array([[0.5, 1.0, 1.5], [float("nan"), 0.0346, 0.05]]),
        np.array([0, 9, 9]),
        np.array([0.013, 0.042, float("nan")]),
    )
    assert loss_rows(found) == [
        {"magnitude": "0.5", "here": "none attempted", "paper": "1.3\u00a0%"},
        {"magnitude": "1", "here": "3.5\u00a0%", "paper": "4.2\u00a0%"},
        {"magnitude": "1.5", "here": "5\u00a0%", "paper": "not printed"},
    ]
    assert plot_loss(found).layout.title.text == "Signal loss at λ = 1: 3.5\xa0%, the paper 4.2\xa0%"
