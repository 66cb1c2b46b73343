import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from kalos_core import arrays
from kalos_core.arrays import SLICE, distinct_codes, expand_runs, find_sorted, in_slices, take_down, total

runs = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 5)), max_size=8)


@given(runs)
def test_expanded_runs_are_what_a_loop_gives(pairs):
    expected = [(m, first + step) for m, (first, count) in enumerate(pairs) for step in range(count)]
    first, count = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    owner, position = expand_runs(first, count)
    assert list(zip(owner.tolist(), position.tolist(), strict=True)) == expected


@given(st.lists(st.integers(0, 9) | st.integers(0, 10**6)) | st.lists(st.sampled_from([-0.5, 0.0, 0.5])))
def test_distinct_codes_are_those_of_a_sorted_set(codes):
    distinct, index = distinct_codes(np.array(codes, dtype=None if codes else np.intp))
    assert distinct.tolist() == sorted(set(codes))
    assert [distinct[at] for at in index] == codes


@given(st.sets(st.integers(-3, 30) | st.integers(0, 10**6)), st.lists(st.integers(-3, 40) | st.integers(0, 10**6)))
@example({2, 5, 7}, [7, 3, 2, 9])
def test_found_where_they_stand(known, wanted):
    ordered = sorted(known)  # close to one another, and far apart: looked up, and searched
    found = find_sorted(np.array(ordered, dtype=np.intp), np.array(wanted, dtype=np.intp))
    assert found.tolist() == [ordered.index(number) if number in known else -1 for number in wanted]


@given(st.lists(st.integers(0, 9)).map(sorted))
def test_run_ends_are_found_by_search(codes):
    ordered = np.array(codes, np.intp)
    assert arrays.run_ends(ordered).tolist() == np.searchsorted(ordered, ordered, side="right").tolist()


@given(st.lists(st.integers(0, 9)))
def test_run_starts_cut_a_list_into_its_runs(lengths):
    starts = arrays.run_starts(lengths)
    assert np.diff(starts).tolist() == lengths
    assert starts[0] == 0


@given(st.lists(st.integers(0, 3), max_size=20), st.lists(st.integers(1, 3), min_size=4, max_size=4))
def test_slices_take_every_candidate_once_and_of_a_group_in_order(group, places):
    slices = [chosen.tolist() for chosen in in_slices(np.array(group, np.intp), np.array(places))]
    assert sorted(at for chosen in slices for at in chosen) == list(range(len(group)))
    for number in range(4):
        own = [[at for at in chosen if group[at] == number] for chosen in slices]
        assert [at for part in own for at in part] == [at for at, entry in enumerate(group) if entry == number]
        assert all(len(part) <= SLICE * places[number] for part in own)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(0, 3)), max_size=40))
def test_down_the_list_as_a_loop_goes(candidates):
    lines = np.array([[4 * group + one, 4 * group + two] for group, one, two in candidates], np.intp).reshape(-1, 2)
    free, taken = [True] * 12, []
    for number, line in enumerate(lines.tolist()):
        if free[line[0]] and free[line[1]]:
            taken.append(number)
            free[line[0]] = free[line[1]] = False
    left = np.ones(12, np.bool_)
    assert take_down(lines, left, np.repeat(np.arange(3), 4)).tolist() == taken
    assert left.tolist() == free


def test_totals_by_hand():
    assert total(np.array([2, 0, 2]), np.array([1.0, 5.0, 2.0]), 4).tolist() == [5, 0, 3, 0]
    assert total(np.zeros(0, np.intp), np.zeros(0), 2).tolist() == [0, 0]
