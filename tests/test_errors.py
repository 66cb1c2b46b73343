import numpy as np
import pytest

from kalos_core import InputError, KalosError
from kalos_core.errors import SHOWN, Problems, as_number, check_whole, lookup


def raised(problems):
    with pytest.raises(InputError) as caught:
        problems.raise_if_any()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, KalosError)
    return str(caught.value).splitlines()


def test_a_problem_names_source_record_expected_and_actual_value():
    problems = Problems("labels.json")
    problems.raise_if_any()  # no problems yet
    problems.add("annotations[3]", "a rater", "nothing")
    head, line = raised(problems)
    assert head == "labels.json: 1 record cannot be used."
    assert line == "  annotations[3]: expected a rater, got nothing"


@pytest.mark.parametrize("count", [1, SHOWN, SHOWN + 1, 1234])
def test_all_records_are_counted_and_five_are_shown(count):
    problems, asked = Problems("rows"), []
    problems.add_all(range(count), lambda row: f"record {row}", "a box", lambda row: asked.append(row) or row * 10)
    head, *lines = raised(problems)
    assert head == f"rows: {count:,} record{'s' * (count > 1)} cannot be used."
    assert lines[:SHOWN] == [f"  record {row}: expected a box, got {row * 10}" for row in range(min(count, SHOWN))]
    assert lines[SHOWN:] == ([f"  ... and {count - SHOWN:,} more"] if count > SHOWN else [])
    assert asked == list(range(min(count, SHOWN)))  # values that are not shown are not computed


def test_a_record_with_several_faults_counts_once():
    problems = Problems("rows")
    for fault in ("an image", "a rater"):
        problems.add_all(range(7), lambda row: f"record {row}", fault, lambda _: "nothing")
    lines = raised(problems)
    assert lines[0] == "rows: 7 records cannot be used."
    assert lines[1] == "  record 0: expected an image, got nothing; expected a rater, got nothing"
    assert lines[-1] == "  ... and 2 more"


def test_lookup_lists_what_there_is():
    for name in ("c", None, ["a"]):
        with pytest.raises(InputError, match="letter: expected one of 'a', 'b', got"):
            lookup({"b": 1, "a": 2}, name, "letter")
    assert lookup({"b": 1, "a": 2}, "a", "letter") == 2


def test_whole_numbers_pass_and_others_are_named():
    for value in (0, 3, 3.0, np.int64(3), 10**12):
        assert check_whole(value, "bootstrap") == value
        assert type(check_whole(value, "bootstrap")) is int
    for value in (-1, 2.5, "3", None, True, float("nan"), float("inf"), [3], 10**400):
        with pytest.raises(InputError, match="bootstrap: expected a whole number of at least 0, got"):
            check_whole(value, "bootstrap")


def test_values_that_are_no_number_are_none():
    assert [as_number(value) for value in ("1", None, True, [1], 1j)] == [None] * 5
    assert as_number(np.float32(1.5)) == 1.5
