"""Plots of the fit of a noise model: titles are findings, and curves are densities of the bars."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import trapezoid

from kalos_core import InputError, NoiseModel, figures
from kalos_core.figures.experiments import loss_rows
from kalos_core.figures.noise import fidelity_rows, fit_rows
from kalos_core.noise import Fidelity, FitTests
from kalos_core.noise.experiments import SignalLossTable
from kalos_core.noise.fit.observations import Shifts, observe
from tests.figures.plain import plain, title
from tests.noise.models import by_raters


@pytest.fixture(scope="module")
def model():
    """Return right and left shifts with heavy tails, two confusions, a small unmatched annotation and a split one."""
    rng = np.random.default_rng(0)
    marks = [
        *((0, "ann", "cat", [10, 10, 20, 20]), (0, "bob", "dog", [11, 10, 20, 20])),
        *((0, "ann", "cat", [50, 10, 20, 20]), (0, "bob", "fox", [50, 11, 20, 20])),
        (0, "ann", "cat", [80, 80, 4, 4]),
        (1, "ann", "dog", [10, 40, 50, 20]),
        *((1, "bob", "dog", [x, 40, 24, 20]) for x in (10, 36)),
    ]
    seen = observe(by_raters(*marks, size=(100, 100)))
    area = rng.uniform(0.01, 0.3, 300)
    size = np.abs(0.02 + 0.1 * area + 0.005 * rng.standard_t(2, 300))
    angle = np.pi * rng.integers(0, 2, 300) + rng.vonmises(0, 10, 300)
    moved = Shifts(area, size, angle, 0.3 - 0.5 * area + size, size)
    apart = rng.beta(4.53, 0.53, 400)
    return replace(NoiseModel.default(), observations=replace(seen, correct=moved, opposition=apart))


def named(figure, start):
    return next(trace for trace in figure.data if trace.name.startswith(start))


@pytest.mark.parametrize("name", ["residuals", "angles", "opposition", "size_errors", "areas", "confusions"])
def test_a_figure_is_plain_json_with_a_finding_and_needs_observations(name, model):
    plot = getattr(figures, f"plot_{name}")
    figure = plot(model)
    plain(figure)
    assert title(figure)
    with pytest.raises(InputError, match=r"expected one from NoiseModel\.fit"):
        plot(NoiseModel.default())


def test_residuals_and_their_distributions_are_densities(model):
    figure = figures.plot_residuals(model)
    expected = "Residuals of translation of annotations of the same class: Student t fits bet"
    assert title(figure).startswith(expected)
    bars = figure.data[0]
    drawn = sum(bars.customdata) / 300
    assert sum(np.array(bars.y) * np.array(bars.width)) == pytest.approx(drawn)
    student, normal = named(figure, "Student t"), named(figure, "normal")
    assert trapezoid(student.y, student.x) == pytest.approx(drawn, abs=0.03)
    assert "AIC" in student.name
    misfits = [np.abs(np.interp(bars.x, curve.x, curve.y) - bars.y).sum() for curve in (student, normal)]
    assert misfits[0] < misfits[1]


def test_confusions_next_to_similarity(model):
    figure = figures.plot_confusions(model)
    assert title(figure) == "2 of 2 annotations matched one to one were given two classes"
    assert np.array(figure.data[0].z).tolist() == [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    alike = np.array([[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]])
    both = figures.plot_confusions(model, alike, permutations=19)
    assert len(both.data) == 2
    r = np.corrcoef([1, 1, 0], alike[np.triu_indices(3, 1)])[0, 1]
    assert f"Mantel r = {r:.2f}, p = " in title(both)


def test_angles_between_fragments_are_densities_beside_the_distribution(model):
    figure = figures.plot_opposition(model)
    bars, beta = figure.data
    share = model.observations.opposition
    assert sum(np.array(bars.y) * np.array(bars.width)) == pytest.approx(1)
    assert bars.customdata[-1] == (share >= 35 / 36).sum()
    inside = np.linspace(0.5, 35 / 36, 4001)  # up to the bar that ends at 180 degrees, where the density is unbounded
    area = trapezoid(np.exp(model.topology.opposition.log_density(inside)), inside)
    assert 5 * sum(beta.y[18:35]) == pytest.approx(area, rel=1e-4)
    assert 5 * sum(beta.y) == pytest.approx(1)
    assert title(figure).startswith(f"Fragments lie {180 * np.median(share):.0f}° apart in the median")


def test_too_little_to_draw_is_said_and_the_unknown_refused(model):
    none = {"unmatched_area": np.zeros(0), "opposition": np.zeros(1)}
    nothing = replace(model.observations, **none, category_b=model.observations.category_a)
    bare = replace(model, observations=nothing)
    for figure, expected in (
        (figures.plot_residuals(model, "first"), "No residuals: 1 larger fragments"),
        (figures.plot_angles(model, "second"), "No directions: 1 smaller fragments moved"),
        (figures.plot_opposition(bare), "No angles: 1 pair of fragments"),
        (figures.plot_size_errors(model, "second"), "No changes: 1 smaller fragments"),
        (figures.plot_areas(bare), "No areas to compare: 0 and "),
        (figures.plot_confusions(bare), "No class was taken for another"),
    ):
        assert title(figure).startswith(expected)
    for call, message in (
        (lambda: figures.plot_residuals(model, "all"), "group: expected one of 'category', 'first', 'localization'"),
        (lambda: figures.plot_residuals(model, "localization", "depth"), "part: expected one of 'height', 'trans"),
        (lambda: figures.plot_areas(model, "all"), "of: expected one of 'parents', 'unmatched', got 'all'"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_fidelity_says_how_much_lies_inside():
    quantity = np.array(["alpha", "unmatched", "ks_angle"], dtype=object)
    numbers, low, high = np.array([[0.7, 100.0, 0.0], [0.6, 80.0, 0.0], [0.8, 120.0, 0.0]])
    figure = figures.plot_fidelity(Fidelity(quantity, numbers, low, high, np.array([[0.75, 150.0, 0.02]] * 2), 1, 9))
    inside = "1 of 3 quantities of generated raters lies in the interval of the real raters"
    assert title(figure) == f"{inside}; mean alpha 0.750, real 0.700"
    inside, outside = figure.data[1:]
    assert (list(inside.y), inside.x[0]) == (["mean alpha"], pytest.approx(0.75))
    assert list(outside.y) == ["distance: direction", "unmatched"]
    assert outside.x[1] == pytest.approx(70 / 40)
    assert "150 against 100" in outside.customdata[1]


def test_signal_loss_is_compared_with_the_paper():
    here, paper = np.array([[np.nan, 0.0346, 0.05], [0.013, 0.042, np.nan]])
    found = SignalLossTable(np.array([0.5, 1.0, 1.5]), here, np.array([0, 9, 9]), paper)
    assert [tuple(row.values()) for row in loss_rows(found)] == [
        ("0.5", "none attempted", "1.3\u00a0%"),
        ("1", "3.5\u00a0%", "4.2\u00a0%"),
        ("1.5", "5\u00a0%", "not printed"),
    ]
    assert title(figures.plot_loss(found)) == "Signal loss at λ = 1: 3.5\xa0%, the paper 4.2\xa0%"


def test_rows_of_fidelity_and_of_tests_read_as_numbers_are_written():
    """Counts are written in full, as in the `repr`; not in powers of ten."""
    rows = np.array([[1398.0, -0.0694], [1145.0, -0.114], [1665.0, -0.0294]])
    found = Fidelity(np.array(["correct", "global_alpha"]), *rows, np.array([[1420.0, -0.2]]), 1, 9)
    assert [list(row.values()) for row in fidelity_rows(found)] == [
        ["correct", "1,398\xa0[1,145,\xa01,665]", "1,420", "yes"],
        ["global alpha", "−0.069\xa0[−0.114,\xa0−0.029]", "−0.200", "no"],
    ]
    names = (np.array([text] * 2) for text in ("unmatched.rate", "AIC", "power"))
    values = np.array([[986.6, 1.2], [np.nan, 0.0004]])
    tests = FitTests(*names, *values, np.array([400, 400]), np.array(["fits better", ""]))
    read = [(row["statistic"], row["p"], row["note"]) for row in fit_rows(tests)]
    assert read == [("987", "", "fits better"), ("1.200", "< 0.001", "")]
