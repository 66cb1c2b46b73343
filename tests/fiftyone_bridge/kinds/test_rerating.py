"""Images for one more rater: stored under a run, in order, and deleted with it."""

from __future__ import annotations

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, next_to_rate
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.fiftyone.runs.stored import count_changes
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import THREE, crowded, documents, make_samples

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture(scope="module")
def once(make_once: Make) -> fo.Dataset:
    dataset = make_once(make_samples(crowded(0)))
    kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=50)
    return dataset


@pytest.fixture
def rated(once: fo.Dataset) -> fo.Dataset:
    return once.clone()


def test_the_order_equals_the_library_and_is_stored_on_samples(rated):
    expected = next_to_rate(kf.load_run(rated, "run").result, 5)
    before = rated.values("last_modified_at")
    found = kf.next_to_rate(rated, "run", 5, write=True)
    assert found.image.tolist() == expected.image.tolist()
    assert found.shift.tolist() == pytest.approx(expected.shift.tolist())
    assert len(found) == 2
    view = view_of_next(rated, "run")
    assert view.values(["id", "run_next"]) == (expected.image.tolist(), [1, 2])
    assert sum(place is not None for place in rated.values("run_next")) == 2
    assert rated.values("last_modified_at") == before
    assert count_changes(rated, "run") == 0
    rated.delete_samples([found.image[0]])
    kf.next_to_rate(rated, "run", 5, write=True)  # the first is still in the list, which leaves a gap
    assert view_of_next(rated, "run").values("run_next") == [2]


def test_a_later_call_takes_its_place_and_all_of_it_goes_with_the_run(rated):
    kf.next_to_rate(rated, "run", 5, write=True)
    found = kf.next_to_rate(rated, "run", 2, statistic="alpha", tag="$again").image.tolist()
    assert view_of_next(rated, "run").values("id") == found
    assert set(rated.match_tags("$again").values("id")) == set(found)
    kf.next_to_rate(rated, "run", 2, statistic="alpha", tag="$again")
    assert rated.count_values("tags")["$again"] == 2  # once per image
    kf.rename_run(rated, "run", "other")
    assert view_of_next(rated, "other").values("id") == found
    assert not rated.has_field("run_next")
    assert any("other_next" in sample for sample in documents(rated).values())
    kf.delete_run(rated, "other")
    assert not rated.has_field("other_next")
    assert rated.count_values("tags")["$again"] == 2
    assert all("other_next" not in sample for sample in documents(rated).values())


def test_invalid_input_is_refused(rated):
    with pytest.raises(InputError, match="with images selected by next_to_rate, got 'run'"):
        view_of_next(rated, "run")
    with pytest.raises(InputError, match="n: expected a whole number of at least 1, got 0"):
        kf.next_to_rate(rated, "run", n=0)
