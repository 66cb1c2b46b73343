"""Assignments of raters to images and classes, and single exclusions, by hand and in plain loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import NO_OBJECT, NOT_ASSIGNED, Annotations, InputError, agreement, variations
from tests.strategies import tables

HERE, THERE = [0, 0, 10, 10], [50, 0, 10, 10]


def table(*marks, exclusions=(), raters=("ann", "bob"), categories=("cat", "dog"), images=(1,), **more):
    rows = [{"image": images[-1], "rater": rater, "category": name, "box": box} for rater, name, box in marks]
    more = {"assigned": "all", "exclusions": exclusions} | more
    return Annotations.from_rows(rows, images=images, raters=raters, categories=categories, **more)


# ---- by hand


def test_absences_of_excluded_classes_are_no_values():
    #        HERE          bob is not assigned to annotate every cat: nothing to pair with
    #  ann   cat
    result = agreement(table(("ann", "cat", HERE), exclusions=[(1, "bob", "cat")]), bootstrap=0)
    assert result.units.values.tolist() == [[0, NOT_ASSIGNED]]
    assert np.isnan(result.alpha)
    # another class is still assigned
    result = agreement(table(("ann", "dog", HERE), exclusions=[(1, "bob", "cat")]), bootstrap=0)
    assert result.units.values.tolist() == [[1, NO_OBJECT]]


def test_annotations_without_assignment_are_values():
    marks = ("ann", "cat", HERE), ("bob", "cat", HERE), ("bob", "cat", THERE)
    result = agreement(table(*marks, exclusions=[(1, "bob", "cat")]), bootstrap=0)
    assert result.units.values.tolist() == [[0, 0], [NO_OBJECT, 0]]
    assert agreement(table(*marks), bootstrap=0).alpha == result.alpha


def test_a_unit_of_two_classes_asks_for_either():
    marks = ("ann", "cat", HERE), ("bob", "dog", HERE)
    result = agreement(table(*marks, raters=("ann", "bob", "cid"), exclusions=[(1, "cid", "cat")]), bootstrap=0)
    assert result.units.values.tolist() == [[0, 1, NO_OBJECT]]


@pytest.mark.parametrize(
    ("exclusions", "alpha"),
    [([], 1), ([(1, "bob", "cat")], 1), ([(1, "bob", "cat"), (1, "bob", "dog")], np.nan),
     ([(1, "bob", "cat"), (1, "ann", "dog")], np.nan), ([(1, "bob", "cat")] * 2, 1)],
)  # fmt: skip
def test_an_empty_image_needs_a_class_two_were_assigned_to(exclusions, alpha):
    seen = table(("ann", "cat", HERE), ("bob", "cat", HERE), exclusions=exclusions, images=(1, 2))
    np.testing.assert_array_equal(agreement(seen, bootstrap=0).image_alpha, [alpha, 1])


def test_who_was_assigned_to_no_class_is_not_counted_on_an_empty_image():
    three = {"raters": ("ann", "bob", "cid")}
    marks, not_cid = [(rater, "cat", HERE) for rater in three["raters"]], [(1, "cid", "cat"), (1, "cid", "dog")]
    result = agreement(table(*marks, exclusions=not_cid, images=(1, 2), **three), bootstrap=0)
    assert result.annotations.assigned_any_class[0].tolist() == [True, True, False]
    assert result.image_alpha.tolist() == [1, 1]


def test_an_excluded_class_is_not_missing_but_may_match():
    marks = ("ann", "cat", HERE), ("ann", "cat", THERE), ("bob", "cat", HERE)
    kinds = variations(table(*marks, exclusions=[(1, "bob", "cat")])).type.tolist()
    assert kinds == ["correct"]
    assert variations(table(*marks)).type.tolist() == ["correct", "missing"]
    found = variations(table(("bob", "cat", HERE), exclusions=[(1, "bob", "cat")]))
    assert found.type.tolist() == ["additional"]


# ---- as plain loops


def asks(annotations, image, rater, category):
    """Return whether a rater is assigned to every object of a class on an image."""
    limits = annotations.assigned_categories
    return bool(
        annotations.assigned[image, rater]
        and (limits is None or limits[rater, category])
        and [image, rater, category] not in annotations.excluded.tolist()
    )


@given(tables(limits=True, exclusions=True))
def test_who_was_assigned_as_plain_loops(annotations):
    raters, classes = range(len(annotations.raters)), range(len(annotations.categories))
    for image in range(len(annotations.images)):
        asked = [[asks(annotations, image, rater, category) for category in classes] for rater in raters]
        assert annotations.assigned_any_class[image].tolist() == [any(row) for row in asked]
        common = any(sum(column) >= 2 for column in zip(*asked, strict=True))
        assert annotations.comparable_images[image] == common
    expected = [
        [asks(annotations, image, rater, category) for rater in raters]
        for image, category in zip(annotations.image, annotations.category, strict=True)
    ]
    assert annotations.assigned_per_annotation.tolist() == expected


@given(tables(limits=True, exclusions=True))
def test_units_as_plain_loops(annotations):
    result = agreement(annotations, threshold=0.25, bootstrap=0)
    for unit, values in enumerate(result.units.values):
        rows = np.flatnonzero(result.unit_of == unit)
        drawn = {annotations.rater[row]: annotations.category[row] for row in rows}
        for rater, value in enumerate(values):
            asked = any(asks(annotations, result.units.image[unit], rater, category) for category in drawn.values())
            assert value == drawn.get(rater, NO_OBJECT if asked else NOT_ASSIGNED)


@given(tables(limits=True, exclusions=True))
def test_no_finding_says_that_an_excluded_class_is_missing(annotations):
    found = variations(annotations)
    for image, one, two, own, other in zip(
        found.image, found.rater_a, found.rater_b, found.rows_a, found.rows_b, strict=True
    ):
        if not own or not other:
            silent = two if own else one
            assert asks(annotations, image, silent, annotations.category[(own or other)[0]])


@given(tables(exclusions=True), st.data())
def test_a_selection_keeps_its_exclusions(annotations, data):
    images = data.draw(st.lists(st.integers(0, len(annotations.images) - 1), unique=True))
    raters = data.draw(st.lists(st.integers(0, len(annotations.raters) - 1), unique=True))
    part = annotations.select(images=np.array(images, np.intp), raters=np.array(raters, np.intp))
    expected = [
        [images.index(image), raters.index(rater), category]
        for image, rater, category in annotations.excluded.tolist()
        if image in images and rater in raters
    ]
    assert part.excluded.tolist() == sorted(expected)


# ---- what cannot be used


def test_an_exclusion_of_an_unknown_rater_is_named():
    with pytest.raises(InputError, match=r"exclusion 2: expected a rater of the source, got 'eve'"):
        table(exclusions=[(1, "ann", "cat"), (1, "eve", "cat")])
    with pytest.raises(InputError, match=r"exclusion 1: expected an image of the source, got 7; expected a category"):
        table(exclusions=[(7, "ann", "emu")])
    for strange in ("abc", (1, "ann"), 7):
        with pytest.raises(InputError, match="exclusions: expected triples of image, rater and class, got"):
            table(exclusions=[strange])
