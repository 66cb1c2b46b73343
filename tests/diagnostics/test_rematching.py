"""Matching again among some raters equals selecting them and starting over."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kalos_core import (
    InputError,
    agreement,
    class_difficulty,
    collaboration,
    intra_rater,
    rater_vitality,
    read_coco,
    sensitivity,
    team_agreement,
)
from kalos_core.correspondence import COSTS, SOLVERS
from kalos_core.diagnostics import rematching
from kalos_core.diagnostics.parts import Part, where_seen
from kalos_core.diagnostics.rematching import rematch
from tests.diagnostics.naive import among, marks, several_raters
from tests.strategies import reordered, tables

NEEDS = {"mgm": "pylibmgm"}

every_cost = pytest.mark.parametrize("cost", COSTS)


@pytest.fixture(params=SOLVERS)
def solver(request, peer_package):
    if request.param in NEEDS:
        peer_package(NEEDS[request.param])
    return request.param


def some_groups(annotations, seed):
    rng = np.random.default_rng(seed)
    return rng.random((5, len(annotations.raters))) < 0.6


def values_of(cells, groups, annotations):
    """Return (G, I) values, NaN if there is no cell."""
    values = np.full((len(groups), len(annotations.images)), np.nan)
    values[cells.statistic, cells.image] = cells.value
    return values


def check_against_selection(result, groups):
    cells = where_seen(rematch(result, groups), result.units)
    values, whole = values_of(cells, groups, result.annotations), cells.whole(len(groups))
    for number, group in enumerate(groups):
        if group.sum() < 2:
            assert np.isnan(values[number]).all()
            assert np.isnan(whole[number])
            continue
        alone = among(result, np.flatnonzero(group))
        np.testing.assert_allclose(values[number], alone.image_alpha, atol=1e-12)
        np.testing.assert_allclose(whole[number], alone.global_alpha, atol=1e-12)


@every_cost
@given(annotations=tables(limits=True, exclusions=True), seed=st.integers(0, 99))
def test_a_group_is_what_selecting_its_raters_gives(cost, annotations, seed):
    result = agreement(annotations, "polygon_iou", 0.25, cost=cost, bootstrap=0)
    check_against_selection(result, some_groups(annotations, seed))


def test_a_group_is_what_selecting_its_raters_gives_with_any_solver(solver):
    annotations = read_coco(several_raters(sparse=True, images=12))
    result = agreement(annotations, solver=solver, bootstrap=0)
    check_against_selection(result, some_groups(annotations, 5))


@given(tables(limits=True, exclusions=True))
def test_all_raters_as_one_group_are_the_agreement_itself(annotations):
    result = agreement(annotations, threshold=0.25, bootstrap=0)
    assume(np.isfinite(result.alpha))
    cells = rematch(result, np.ones((1, len(annotations.raters)), bool))
    np.testing.assert_allclose(values_of(cells, [0], annotations)[0], result.image_alpha, atol=1e-12)
    np.testing.assert_allclose(Part.of(result).cells().whole(1), [result.global_alpha])
    np.testing.assert_allclose(Part.of(result).cells().mean(1), [result.alpha])


@given(tables(limits=True, exclusions=True), st.integers(0, 99), st.sampled_from([1, 20, 60]))
def test_blocks_of_any_size_and_some_images_give_the_same(annotations, seed, largest):
    result, groups = agreement(annotations, threshold=0.25, bootstrap=0), some_groups(annotations, seed)
    at_once = rematch(result, groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rematching, "LARGEST_BLOCK", largest)
        in_blocks = rematch(result, groups)
    np.testing.assert_array_equal(in_blocks.statistic, at_once.statistic)
    np.testing.assert_array_equal(in_blocks.image, at_once.image)
    np.testing.assert_array_equal(in_blocks.value, at_once.value)
    np.testing.assert_allclose(in_blocks.whole(5), at_once.whole(5), atol=1e-12)
    wanted = np.random.default_rng(seed).random((5, len(annotations.images))) < 0.5
    part, chosen = rematch(result, groups, wanted), wanted[at_once.statistic, at_once.image]
    np.testing.assert_array_equal(part.statistic, at_once.statistic[chosen])
    np.testing.assert_array_equal(part.value, at_once.value[chosen])


@pytest.mark.parametrize("diagnostic", [class_difficulty, rater_vitality, collaboration, intra_rater, team_agreement])
def test_other_input_and_local_raters_are_refused(diagnostic):
    table = marks(("ann", "cat", 0), ("bob", "cat", 0))
    with pytest.raises(InputError, match=r"agreement: expected Agreement, the result of .* got int"):
        diagnostic(5)
    if diagnostic is not class_difficulty:
        message = r"(vitality|collaboration|sessions): expected raters who .* local to their image"
        with pytest.raises(InputError, match=message):
            diagnostic(agreement(replace(table, raters_are_local=True), bootstrap=0))


def frames(annotations):
    """Return the table of each diagnostic, with rows by name."""
    result = agreement(annotations, bootstrap=20)
    yield class_difficulty(result).to_pandas().set_index("category")
    yield rater_vitality(result).to_pandas().set_index("rater")
    yield sensitivity(annotations, bootstrap=20).to_pandas().set_index("threshold")


def test_intervals_do_not_depend_on_the_order_of_anything():
    annotations = read_coco(several_raters(sparse=True))
    for one, two in zip(frames(annotations), frames(reordered(annotations, 1)), strict=True):
        np.testing.assert_allclose(two.loc[one.index], one, atol=1e-12)
    one, two = (collaboration(agreement(table, bootstrap=20)) for table in (annotations, reordered(annotations, 1)))
    place = [one.raters.tolist().index(name) for name in two.raters]
    np.testing.assert_allclose(two.alpha_interval, one.alpha_interval[np.ix_(place, place)], atol=1e-12)
