"""Raters who annotated twice, by hand and in a plain loop."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import InputError, agreement, intra_rater, team_agreement
from tests.diagnostics.naive import among, marks
from tests.strategies import tables

TWICE = {"raters": ("a1", "b1", "a2", "b2"), "person": ["ann", "bob", "ann", "bob"], "session": ["1", "1", "2", "2"]}


def test_two_people_twice():
    #  images 0-3   a1 cat, a2 cat; b1 cat, b2 dog, in one place    ann 1, bob cat dog: 0; session 1: 1, session 2: 0
    #  images 4-7   nobody annotated: 1 for everybody
    given_ = zip(TWICE["raters"], ("cat", "cat", "cat", "dog"), strict=True)
    rows = [(rater, name, 0, image) for rater, name in given_ for image in range(4)]
    result = agreement(marks(*rows, images=range(8), **TWICE), bootstrap=10_000)
    own = intra_rater(result)
    assert own.person.tolist() == ["ann", "bob"]
    assert own.sessions.tolist() == [2, 2]
    assert own.alpha.tolist() == [1, 0.5]
    # bob: cat dog | none none, four times: n = 16, diagonal 8, 1 - (8/16)/((256 - 96)/240) = 1/4
    np.testing.assert_allclose(own.global_alpha, [1, 0.25])
    assert own.images.tolist() == [8, 8]
    # k of eight draws of an empty image is none in .0039, at most one in .0352; of 8 images .0057 lie outside
    np.testing.assert_array_equal(own.alpha_interval, [[np.nan] * 2, [1 / 8, 7 / 8]])
    assert own.to_pandas().loc[1].tolist() == ["bob", 2, 0.5, 0.25, 1 / 8, 7 / 8, *own.global_alpha_interval[1], 8]
    team = team_agreement(result)
    assert team.to_pandas()["raters"].tolist() == [2, 2]
    assert team.session.tolist() == ["1", "2"]
    assert team.raters.tolist() == [2, 2]
    assert team.alpha.tolist() == [1, 0.5]
    np.testing.assert_allclose(team.global_alpha, [1, 0.25])


def test_one_session_only_is_undefined():
    people = {"raters": ("a1", "a2", "b1"), "person": ["ann", "ann", "bob"], "session": ["1", "2", "1"]}
    result = agreement(marks(("a1", "cat", 0), ("a2", "cat", 0), ("b1", "cat", 0), **people))
    own, team = intra_rater(result), team_agreement(result)
    np.testing.assert_array_equal(own.alpha, [1, np.nan])
    assert (own.sessions.tolist(), own.images.tolist()) == ([2, 1], [1, 0])
    np.testing.assert_array_equal(team.alpha, [1, np.nan])
    assert (team.raters.tolist(), team.images.tolist()) == ([2, 1], [1, 0])
    for diagnostic in (intra_rater, team_agreement):
        with pytest.raises(InputError, match=r"sessions: expected at least one person with two sessions .* got 2 r"):
            diagnostic(agreement(marks(("ann", "cat", 0))))


def with_sessions(annotations, seed):
    """Return the same annotations, with raters as sessions of two people."""
    rng = np.random.default_rng(seed)
    raters = len(annotations.raters)
    person = ["ann", "ann", *rng.choice(["ann", "bob"], raters - 2)]
    session = [str(place) for place in rng.integers(1, 3, raters)]
    return replace(annotations, person=np.array(person, object), session=np.array(session, object))


@settings(max_examples=12)
@given(tables(images=4, limits=True, exclusions=True), st.integers(0, 99))
def test_every_number_as_a_plain_loop(annotations, seed):
    result = agreement(with_sessions(annotations, seed), "polygon_iou", 0.25, bootstrap=0)
    for found, labels, names in (
        (intra_rater(result), result.annotations.person, "person"),
        (team_agreement(result), result.annotations.session, "session"),
    ):
        assert sorted(getattr(found, names)) == sorted(set(labels))
        for row, name in enumerate(getattr(found, names)):
            members = np.flatnonzero(labels == name)
            if len(members) < 2:
                assert np.isnan([found.alpha[row], found.global_alpha[row]]).all()
                continue
            alone = among(result, members)
            np.testing.assert_allclose(found.alpha[row], alone.alpha, atol=1e-12)
            np.testing.assert_allclose(found.global_alpha[row], alone.global_alpha, atol=1e-12)
            assert found.images[row] == alone.defined_images


def test_intervals_are_those_of_the_people_alone():
    rows = [("a1", "cat", 0, 0), ("a2", "cat", 0, 0), ("a1", "cat", 0, 1), ("b1", "cat", 0, 1), ("b2", "cat", 0, 1)]
    rows = [(*row, start + image) for start in range(0, 8, 2) for *row, image in rows]
    result = agreement(marks(*rows, images=range(8), **TWICE))
    alone = agreement(result.annotations.select(raters=["a1", "a2"]))
    assert np.isfinite([alone.alpha_interval, alone.global_alpha_interval]).all()
    np.testing.assert_array_equal(intra_rater(result).alpha_interval[0], alone.alpha_interval)
    np.testing.assert_array_equal(intra_rater(result).global_alpha_interval[0], alone.global_alpha_interval)
