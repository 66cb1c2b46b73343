"""Solvers and alpha where the truth is known: scores by hand, by naive loops, and the experiments as a whole."""

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
from kalos_core.noise.experiments import (
    Truth,
    magnitude_response,
    permutation_stability,
    return_on_raters,
    run_experiments,
    school_impact,
    signal_loss_table,
    solver_accuracy,
)
from kalos_core.noise.experiments.truth import pairs_of_groups

MODEL = NoiseModel.default()


def scene(images=6, annotations=4):
    """Annotations of one rater, apart from one another."""
    rows = [
        {
            "image": image,
            "rater": "ann",
            "category": "cat" if annotation % 2 else "dog",
            "box": [10 + 50 * annotation, 20, 30, 30],
        }
        for image in range(images)
        for annotation in range(annotations)
    ]
    return Annotations.from_rows(rows, image_size=dict.fromkeys(range(images), (240, 100)))


def row_of(*boxes):
    """One rater for each list of boxes on one image."""
    return Annotations.from_rows(
        [
            {"image": 1, "rater": rater, "category": "cat", "box": [x, 0, 10, 10]}
            for rater, drawn in zip("abc", boxes, strict=False)
            for x in drawn
        ]
    )


class TestTruth:
    #  a   [0]      [30]
    #  b     [2]      [32]   [60]
    # rows: a 0, 30 -> 0, 1; b 2, 32, 60 -> 2, 3, 4
    table = row_of([0, 30], [2, 32, 60])
    objects = np.array([[0], [1], [0], [1], [2]])

    def test_a_perfect_solver(self):
        truth = Truth.of(self.table, self.objects)
        score = truth.score(np.array([0, 1, 0, 1, 2]))
        assert (score.tp, score.fp, score.fn, score.tn) == (2, 0, 0, 0)
        assert score.rand_index == score.f1 == 1

    def test_a_solver_that_swaps_and_one_that_does_nothing(self):
        truth = Truth.of(self.table, self.objects)
        swapped = truth.score(np.array([0, 1, 1, 0, 2]))
        assert (swapped.tp, swapped.fp, swapped.fn, swapped.tn) == (0, 2, 2, 0)
        nothing = truth.score(np.arange(5))
        assert (nothing.tp, nothing.fp, nothing.fn, nothing.tn) == (0, 0, 2, 0)
        assert nothing.recall == 0
        assert np.isnan(nothing.precision)

    def test_pairs_below_the_threshold_are_out_of_reach(self):
        truth = Truth.of(row_of([0], [6]), np.array([[0], [0]]))  # IoU 4/16
        assert truth.out_of_reach == 1
        assert truth.score(np.array([0, 1])).fn == 1

    def test_a_match_that_took_anothers_place_is_a_cuckoo_egg(self):
        # a 0 and b 2 are the same object, but b 1, of another, lies nearer and is matched
        table = row_of([0], [1, 2])
        truth = Truth.of(table, np.array([[0], [1], [0]]))
        names, values = truth.cases(np.array([0, 0, 1]))
        assert names.tolist() == ["missed", "cuckoo egg"]
        np.testing.assert_allclose(values, [8 / 12, 9 / 11])

    def test_a_wrong_match_with_nothing_to_displace_is_a_false_positive(self):
        truth = Truth.of(row_of([0], [1]), np.array([[0], [1]]))
        names, values = truth.cases(np.array([0, 0]))
        assert names.tolist() == ["false positive"]
        np.testing.assert_allclose(values, [9 / 11])

    def test_a_annotation_of_two_objects_is_of_each(self):
        table = row_of([0], [0, 3])
        left, right = pairs_of_groups(table, np.array([[0, 1], [0, -1], [1, -1]]))
        assert (left.tolist(), right.tolist()) == ([0, 0], [1, 2])

    def test_no_annotations(self):
        empty = Annotations.from_rows([])
        left, right = pairs_of_groups(empty, np.zeros((0, 1), np.intp))
        assert len(left) == len(right) == 0


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 40), st.integers(0, 3)), min_size=1, max_size=9))
def test_scores_equal_a_naive_loop(annotations):
    table = Annotations.from_rows(
        [{"image": 1, "rater": rater, "category": "cat", "box": [x, 0, 10, 10]} for rater, x, _ in annotations]
    )
    objects = np.array([[object_] for _, _, object_ in annotations])
    units = agreement(table, bootstrap=0).unit_of if len(table.raters) > 1 else np.arange(len(table))
    score = Truth.of(table, objects).score(units)
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for one, other in itertools.combinations(range(len(annotations)), 2):
        if annotations[one][0] == annotations[other][0]:
            continue
        same, together = annotations[one][2] == annotations[other][2], units[one] == units[other]
        if same or together or abs(annotations[one][1] - annotations[other][1]) < 10:
            counts[("t" if same == together else "f") + ("p" if together else "n")] += 1
    assert {name: getattr(score, name) for name in counts} == counts


def test_unfiltered_the_rand_index_is_scikit_learns():
    """Where every two annotations overlap and each rater annotated one, nothing is filtered."""
    table = row_of([0], [1], [2])
    units = np.array([0, 0, 1])
    score = Truth.of(table, np.array([[0], [1], [1]])).score(units)
    assert score.rand_index == pytest.approx(rand_score([0, 1, 1], units))


def test_without_noise_every_solver_is_right():
    accuracy, cases = solver_accuracy(MODEL, scene(), magnitudes=[0], raters=[1, 3])
    assert (accuracy.f1 == 1).all()
    assert set(cases.case) == {"true positive"}
    assert (cases.similarity == 1).all()
    assert cases.to_pandas()["count"].sum() == len(cases.similarity)
    assert accuracy.tp.tolist() == [24 if raters == 1 else 72 for raters in accuracy.raters]  # 24 annotations; 3 pairs


def test_accuracy_of_one_setting_is_that_of_its_units():
    accuracy, _ = solver_accuracy(MODEL, scene(), magnitudes=[1], raters=[3], seed=4)
    drawn = MODEL.generate(scene(), 3, 1.0, 4)
    score = Truth.of(drawn.annotations, drawn.object).score(agreement(drawn.annotations, bootstrap=0).unit_of)
    row = (accuracy.solver == "greedy") & (accuracy.cost == "soft")
    assert accuracy.tp[row].tolist() == [score.tp]
    assert accuracy.f1[row].tolist() == [score.f1]


def test_units_do_not_depend_on_any_order():
    drawn = MODEL.generate(scene(), 4, 2.0, 1).annotations
    table = permutation_stability({"drawn": drawn}, 3)
    assert (table.least == 1).all()
    assert table.claims()[0].holds


def test_alpha_of_more_raters_is_that_of_their_selection():
    table = return_on_raters(MODEL, scene(), counts=[2, 4], magnitudes=[1], seed=2)
    drawn = MODEL.generate(scene(), 4, 1.0, 2).annotations
    assert table.alpha.tolist() == [agreement(drawn.select(raters=[0, 1])).alpha, agreement(drawn).alpha]


def test_without_noise_alpha_is_one_and_no_signal_is_lost():
    assert magnitude_response(MODEL, scene(), magnitudes=[0]).alpha.tolist() == [1]
    schools = school_impact(MODEL, scene(), schools=[(2, 1)], magnitude=0)
    assert schools.raters.tolist() == [3]
    loss = signal_loss_table(MODEL, scene(20), magnitudes=[0.25, 5.0])
    assert loss.ratio[0] < loss.ratio[1]
    assert loss.paper.tolist() == [0.002, 0.283]


def test_all_experiments_report_progress_and_claims():
    shares = []
    result = run_experiments(
        scene(), magnitudes=[0.5, 2], counts=[2, 8], repeats=1, progress=lambda share, _: shares.append(share)
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert all(len(table) for table in result.tables().values())
    assert all(claim.verdict in str(claim) for claim in result.claims())
    assert {claim.source for claim in result.claims()} >= {"Table 3", "Fig. 1d", "§10"}


def test_experiments_without_annotations_are_refused():
    with pytest.raises(InputError, match="expected annotations to generate raters from"):
        run_experiments(Annotations.from_rows([]))


def test_on_lvis_the_papers_main_findings_hold(lvis):
    annotations = lvis.select(images=np.arange(60))
    accuracy, _ = solver_accuracy(MODEL, annotations, annotations.raters[0], magnitudes=[1], raters=[5])
    greedy = accuracy.mean("f1", solver="greedy", cost="soft")
    assert greedy > max(accuracy.mean("f1", solver=name, cost="soft") for name in ("shm", "ahc"))
    response = magnitude_response(MODEL, annotations, annotations.raters[0], magnitudes=[0, 0.5, 1, 2, 5])
    assert all(claim.holds for claim in response.claims())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"repeats": 0}, "repeats: expected a whole number of at least 1, got 0"),
        ({"repeats": "many"}, "repeats: expected a whole number"),
        ({"counts": []}, "counts: expected at least one, got none"),
        ({"counts": [1, 2]}, "counts: expected a whole number of at least 2, got 1"),
        ({"magnitudes": []}, "magnitudes: expected at least one, got none"),
        ({"magnitudes": [0]}, "magnitudes: expected one above 0, got only 0"),
        ({"magnitudes": [1, -1]}, "magnitudes: expected finite numbers of 0 or more"),
        ({"magnitudes": [float("nan")]}, "magnitudes: expected finite numbers of 0 or more"),
        ({"magnitudes": ["much"]}, "magnitudes: expected finite numbers of 0 or more"),
        ({"seed": -1}, "seed: expected a whole number"),
    ],
)
def test_settings_that_cannot_be_used(wrong, message):
    with pytest.raises(InputError, match=message):
        run_experiments(scene(1, 1), **{"magnitudes": [1], "counts": [2], "repeats": 1} | wrong)


def test_solvers_without_a_setting_are_refused():
    with pytest.raises(InputError, match="raters: expected at least one, got none"):
        solver_accuracy(MODEL, scene(1), raters=[])
    with pytest.raises(InputError, match="permutations: expected a whole number of at least 1"):
        permutation_stability({"scene": scene(1)}, 0)


def test_settings_in_any_order_give_the_same_tables_and_verdicts():
    annotations = scene(2, 3)
    for forth, back in (
        (
            return_on_raters(MODEL, annotations, counts=[2, 7, 9], magnitudes=[0.5, 2]),
            return_on_raters(MODEL, annotations, counts=[9, 2, 7, 2], magnitudes=[2, 0.5]),
        ),
        (
            magnitude_response(MODEL, annotations, magnitudes=[0, 1]),
            magnitude_response(MODEL, annotations, magnitudes=[1, 0, 1]),
        ),
        (
            signal_loss_table(MODEL, annotations, magnitudes=[0.25, 5.0]),
            signal_loss_table(MODEL, annotations, magnitudes=[5.0, 0.25]),
        ),
    ):
        assert forth.to_pandas().equals(back.to_pandas())
        assert forth.claims() == back.claims()


def test_what_one_setting_cannot_tell_is_not_said_to_hold():
    raters = return_on_raters(MODEL, scene(), counts=[2], magnitudes=[1])
    assert [claim.holds for claim in raters.claims()] == [None, None]
    assert magnitude_response(MODEL, scene(), magnitudes=[1]).claims()[0].holds is None
    # Table 3 prints nothing for 1.5
    assert [claim.holds for claim in signal_loss_table(MODEL, scene(), magnitudes=[1.5]).claims()] == [None, None]
    assert [claim.holds for claim in school_impact(MODEL, scene(), schools=[(2, 1)]).claims()] == [None]


def test_figures_of_more_magnitudes_than_colours():
    result = run_experiments(scene(1, 2), magnitudes=[1], counts=[2], repeats=1)
    raters = return_on_raters(MODEL, scene(1, 2), counts=[2], magnitudes=np.arange(1, 11) / 10)
    assert len(plot_experiments(replace(result, raters=raters))["More and more raters"].data) == 10
