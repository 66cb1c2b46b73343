"""Solvers and alpha with known ground truth: scores by hand, by naive loops, and the experiments as a whole."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import rand_score

from kalos_core import Annotations, InputError, agreement
from kalos_core.figures.experiments import plot_experiments
from kalos_core.noise import NoiseModel
from kalos_core.noise.experiments import permutation_stability, run_experiments, solver_accuracy
from kalos_core.noise.experiments.response import magnitude_response, return_on_raters, school_impact, signal_loss_table
from kalos_core.noise.experiments.truth import Truth, pairs_of_groups
from tests.noise.models import by_raters, table

MODEL = NoiseModel.default()


def scene(images=6, annotations=4):
    """Return annotations of one rater that do not overlap."""
    marks = itertools.product(range(images), range(annotations))
    rows = [(image, "cat" if place % 2 else "dog", [10 + 50 * place, 20, 30, 30]) for image, place in marks]
    return table(*rows, size=(240, 100))


def row_of(*boxes):
    """Return one rater for each list of boxes, on one image."""
    return by_raters(*((1, rater, "cat", [x, 0, 10, 10]) for rater, xs in zip("abc", boxes, strict=False) for x in xs))


class TestTruth:
    #  a   [0]      [30]
    #  b     [2]      [32]   [60]
    # rows: a 0, 30 -> 0, 1; b 2, 32, 60 -> 2, 3, 4
    truth = Truth.of(row_of([0, 30], [2, 32, 60]), np.array([[0], [1], [0], [1], [2]]))

    @pytest.mark.parametrize(
        ("units", "counts", "rates"),
        [
            ([0, 1, 0, 1, 2], (2, 0, 0, 0), (1, 1, 1)),
            ([0, 1, 1, 0, 2], (0, 2, 2, 0), (0, 0, 0)),  # swapped
            (range(5), (0, 0, 2, 0), (0, np.nan, 0)),  # nothing is matched
        ],
    )
    def test_scores_by_hand(self, units, counts, rates):
        score = self.truth.score(np.array(units))
        assert (score.tp, score.fp, score.fn, score.tn) == counts
        assert (score.recall, score.precision, score.rand_index) == pytest.approx(rates, nan_ok=True)
        assert counts[0] == 0 or score.f1 == 1

    def test_pairs_below_the_threshold_are_out_of_reach(self):
        truth = Truth.of(row_of([0], [6]), np.array([[0], [0]]))  # IoU 4/16
        assert truth.out_of_reach == 1
        assert truth.score(np.array([0, 1])).fn == 1

    @pytest.mark.parametrize(
        ("boxes", "objects", "units", "names", "values"),
        [
            # a 0 and b 2 are the same object, but b 1, of another object, is nearer and matched
            (([0], [1, 2]), [[0], [1], [0]], [0, 0, 1], ["missed", "cuckoo egg"], [8 / 12, 9 / 11]),
            (([0], [1]), [[0], [1]], [0, 0], ["false positive"], [9 / 11]),  # with nothing to displace
        ],
    )
    def test_cases(self, boxes, objects, units, names, values):
        found, similarities = Truth.of(row_of(*boxes), np.array(objects)).cases(np.array(units))
        assert found.tolist() == names
        np.testing.assert_allclose(similarities, values)

    def test_a_annotation_of_two_objects_is_of_each(self):
        left, right = pairs_of_groups(row_of([0], [0, 3]), np.array([[0, 1], [0, -1], [1, -1]]))
        assert (left.tolist(), right.tolist()) == ([0, 0], [1, 2])
        left, right = pairs_of_groups(Annotations.from_rows([]), np.zeros((0, 1), np.intp))
        assert len(left) == len(right) == 0

    def test_unfiltered_the_rand_index_is_scikit_learns(self):
        """If every two annotations overlap and each rater has one, nothing is filtered."""
        units = np.array([0, 0, 1])
        score = Truth.of(row_of([0], [1], [2]), np.array([[0], [1], [1]])).score(units)
        assert score.rand_index == pytest.approx(rand_score([0, 1, 1], units))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=9))
def test_scores_equal_a_naive_loop(annotations):
    drawn = by_raters(*((1, rater, "cat", [x, 0, 10, 10]) for rater, x, _ in annotations))
    objects = np.array([[object_] for _, _, object_ in annotations])
    units = agreement(drawn, bootstrap=0).unit_of if len(drawn.raters) > 1 else np.arange(len(drawn))
    score = Truth.of(drawn, objects).score(units)
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for one, other in itertools.combinations(range(len(annotations)), 2):
        if annotations[one][0] == annotations[other][0]:
            continue
        same, together = annotations[one][2] == annotations[other][2], units[one] == units[other]
        if same or together or abs(annotations[one][1] - annotations[other][1]) < 10:
            counts[("t" if same == together else "f") + ("p" if together else "n")] += 1
    assert {name: getattr(score, name) for name in counts} == counts


def test_without_noise_every_solver_is_right():
    accuracy, cases = solver_accuracy(MODEL, scene(), magnitudes=[0], raters=[1, 3])
    assert (accuracy.f1 == 1).all()
    assert set(cases.case) == {"true positive"}
    assert (cases.similarity == 1).all()
    assert cases.to_pandas()["count"].sum() == len(cases.similarity)
    assert accuracy.tp.tolist() == [24 if raters == 1 else 72 for raters in accuracy.raters]  # 24 annotations; 3 pairs
    assert magnitude_response(MODEL, scene(), magnitudes=[0]).alpha.tolist() == [1]
    assert school_impact(MODEL, scene(), schools=[(2, 1)], magnitude=0).raters.tolist() == [3]


def test_accuracy_of_one_setting_is_that_of_its_units():
    accuracy, _ = solver_accuracy(MODEL, scene(), magnitudes=[1], raters=[3], seed=4)
    drawn = MODEL.generate(scene(), 3, 1.0, 4)
    score = Truth.of(drawn.annotations, drawn.object).score(agreement(drawn.annotations, bootstrap=0).unit_of)
    row = (accuracy.solver == "greedy") & (accuracy.cost == "soft")
    assert accuracy.tp[row].tolist() == [score.tp]
    assert accuracy.f1[row].tolist() == [score.f1]


def test_more_noise_loses_more_signal_beside_the_papers_table():
    loss = signal_loss_table(MODEL, scene(20), magnitudes=[0.25, 5.0])
    assert loss.ratio[0] < loss.ratio[1]
    assert loss.paper.tolist() == [0.002, 0.283]


def test_all_experiments_report_progress_claims_and_figures():
    shares = []
    result = run_experiments(
        scene(), magnitudes=[0.5, 2], counts=[2, 8], repeats=1, progress=lambda share, _: shares.append(share)
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert all(len(rows) for rows in result.tables().values())
    assert all(claim.verdict in str(claim) for claim in result.claims())
    assert {claim.source for claim in result.claims()} >= {"Table 3", "Fig. 1d", "§10"}
    raters = return_on_raters(MODEL, scene(1, 2), counts=[2], magnitudes=np.arange(1, 11) / 10)  # more than colours
    assert len(plot_experiments(replace(result, raters=raters))["More and more raters"].data) == 10


def test_on_lvis_the_papers_main_findings_hold(lvis):
    annotations = lvis.select(images=np.arange(60))
    accuracy, _ = solver_accuracy(MODEL, annotations, annotations.raters[0], magnitudes=[1], raters=[5])
    greedy = accuracy.mean("f1", solver="greedy", cost="soft")
    assert greedy > max(accuracy.mean("f1", solver=name, cost="soft") for name in ("shm", "ahc"))
    response = magnitude_response(MODEL, annotations, annotations.raters[0], magnitudes=[0, 0.5, 1, 2, 5])
    assert all(claim.holds for claim in response.claims())


def run(annotations=None, **given):
    return run_experiments(annotations or scene(1, 1), **{"magnitudes": [1], "counts": [2], "repeats": 1} | given)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: run_experiments(Annotations.from_rows([])), "expected annotations to generate raters from"),
        (lambda: run(counts=[1, 2]), "counts: expected a whole number of at least 2, got 1"),
        (lambda: run(magnitudes=[0]), "magnitudes: expected one above 0, got only 0"),
        (lambda: run(magnitudes=[1, -1]), "magnitudes: expected a number of at least 0, got -1"),
        (lambda: permutation_stability({"s": scene(1)}, 0), "permutations: expected a whole number of at least 1"),
    ],
)
def test_settings_that_cannot_be_used(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_alpha_of_more_raters_is_that_of_their_selection():
    found = return_on_raters(MODEL, scene(), counts=[2, 4], magnitudes=[1], seed=2)
    drawn = MODEL.generate(scene(), 4, 1.0, 2).annotations
    assert found.alpha.tolist() == [agreement(drawn.select(raters=[0, 1])).alpha, agreement(drawn).alpha]
