"""Krippendorff's alpha vs. the `krippendorff` package, published tables, and by hand."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kalos_core import NO_OBJECT, NOT_ASSIGNED, Annotations
from kalos_core.chance import alpha_of_sums
from kalos_core.reliability import alpha_by_group, alpha_of_all, build_units, coincidences
from tests.strategies import tables


@st.composite
def matrices(draw):
    """Draw reliability matrices (U, R) with missing values, and a group for every unit."""
    shape = draw(st.tuples(st.integers(0, 12), st.integers(1, 6)))
    values = draw(arrays(np.int32, shape, elements=st.integers(NOT_ASSIGNED, draw(st.integers(NO_OBJECT, 4)))))
    return values, draw(arrays(np.intp, shape[0], elements=st.integers(0, 2)))


def second_witness(values):
    """Compute alpha of values (U, R) by the `krippendorff` package, with our conventions where it has no result."""
    paired = values[(values != NOT_ASSIGNED).sum(axis=1) >= 2]
    given_values = paired[paired != NOT_ASSIGNED]
    if not len(given_values):
        return np.nan
    if len(set(given_values.tolist())) == 1:
        return 1.0
    table = np.where(paired == NOT_ASSIGNED, np.nan, paired.astype(float)).T
    return krippendorff.alpha(reliability_data=table, level_of_measurement="nominal")


@given(matrices())
def test_alpha_of_everything_and_of_each_group_equals_the_krippendorff_package(matrix):
    values, group = matrix
    sums = coincidences(values, group, 3)
    np.testing.assert_allclose(alpha_of_all(sums), second_witness(values), atol=1e-12)
    expected = [second_witness(values[group == g]) for g in range(3)]
    np.testing.assert_allclose(alpha_by_group(sums), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "key"),
    [("krippendorff_wikipedia_3x15", "alpha_nominal"), ("gwet_raw_4raters_12x4", "krippendorff_alpha_nominal")],
)
def test_published_tables(nominal_tables, name, key):
    entry = nominal_tables[name]
    values = np.array([[NOT_ASSIGNED if v is None else v for v in row] for row in entry["data"]], np.int32)
    if entry["kind"] == "ratings_raters_x_units":
        values = values.T
    ours = alpha_of_all(coincidences(values, np.zeros(len(values), np.intp), 1))
    digits = len(str(entry["expected"][key]).split(".")[1])
    assert round(ours, digits) == entry["expected"][key]


def test_coincidences_by_hand():
    # units   cat cat | cat none | dog dog dog | cat (alone: no pair)
    # n = 2 + 2 + 3; on the diagonal 2·1/1 + 0 + 3·2/2; cat 3, none 1, dog 3
    cat, dog, missing = 0, 1, NOT_ASSIGNED
    values = np.array([[cat, cat, missing], [cat, NO_OBJECT, missing], [dog, dog, dog], [cat, missing, missing]])
    sums = coincidences(values.astype(np.int32), np.zeros(4, np.intp), 1)
    assert sums.pairable.tolist() == [7]
    assert sums.agreeing.tolist() == [5]
    assert dict(zip(sums.value.tolist(), sums.count.tolist(), strict=True)) == {NO_OBJECT: 1, cat: 3, dog: 3}
    # D_o = 2/7, D_e = (49 - 9 - 1 - 9) / 42 = 30/42: alpha = 1 - (2/7)(42/30)
    assert alpha_of_all(sums) == pytest.approx(1 - 0.4)


def test_the_formula_by_hand():
    n, agreeing, squares, expected = zip(
        (4, 2, 10, 0.0),  # 0 0 | 0 none
        (2, 2, 4, 1.0),  # all equal
        (2, 0, 2, 0.0),  # one pair, different: D_o = D_e
        (4, 0, 8, -0.5),  # 0 1 | 1 0: systematic
        (0, 0, 0, np.nan),  # nothing pairable
        strict=True,
    )
    np.testing.assert_array_equal(alpha_of_sums(*np.array([n, agreeing, squares], float)), expected)


def test_a_thousand_values_and_a_hundred_thousand_units_stay_exact():
    values = np.tile(np.arange(1200, dtype=np.int32)[:, None], (90, 2))
    assert alpha_of_all(coincidences(values, np.zeros(len(values), np.intp), 1)) == 1


@given(tables(limits=True))
def test_a_cell_says_drawn_seen_or_not_assigned(annotations):
    units = build_units(annotations, np.arange(len(annotations)))  # each annotation is a unit
    assert units.values.shape == (len(annotations), len(annotations.raters))
    limits = annotations.assigned_categories
    for row in range(len(annotations)):
        for rater in range(len(annotations.raters)):
            asked = annotations.assigned[annotations.image[row], rater] and (
                limits is None or limits[rater, annotations.category[row]]
            )
            drew = annotations.rater[row] == rater
            expected = annotations.category[row] if drew else NO_OBJECT if asked else NOT_ASSIGNED
            assert units.values[row, rater] == expected


def test_one_class_of_a_unit_is_enough_to_have_been_assigned():
    # ann: cat, bob: dog in one unit; cid is assigned to dogs only, dan to foxes only
    rows = [
        {"image": 1, "rater": rater, "category": name, "box": [0, 0, 9, 9]}
        for rater, name in [("ann", "cat"), ("bob", "dog")]
    ]
    annotations = Annotations.from_rows(
        rows,
        raters=["ann", "bob", "cid", "dan"],
        categories=["cat", "dog", "fox"],
        assigned="all",
        assigned_categories={"cid": ["dog"], "dan": ["fox"]},
    )
    assert build_units(annotations, np.array([0, 0])).values.tolist() == [[0, 1, NO_OBJECT, NOT_ASSIGNED]]
