"""Mapping of fields to raters."""

import fiftyone as fo
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kalos_core.fiftyone as kf
from kalos_core import agreement, distributed
from kalos_core.fiftyone.dataset.raters import derive_field_names, forget_raters, rater_names, store_raters

TAKEN = ["id", "filepath", "tags", "metadata", "created_at", "last_modified_at", "raters"]
FIELDS = {
    "ann": "ann",
    "Dr. Ann B.": "Dr_Ann_B",
    "a.b": "a_b",
    "$where": "where",
    "_hidden": "hidden",
    "Anna (2)": "Anna_2",
    "李雷": "李雷",
    "Ольга": "Ольга",
    "😀": "rater",
    " ": "rater",
    "1st": "rater_1st",
    **{name: f"rater_{name}" for name in ("id", "tags", "raters", "metadata", "save", "class")},
}


def test_a_field_is_an_identifier_that_nothing_else_uses():
    assert {rater: derive_field_names([rater], TAKEN)[rater] for rater in FIELDS} == FIELDS
    assert derive_field_names(["first_alpha"], [*TAKEN, "first_alpha"]) == {"first_alpha": "rater_first_alpha"}
    shared = {"a b": "a_b", "a.b": "a_b_2", "a_b": "a_b_3", "a_b_2": "a_b_2_2"}
    assert derive_field_names(list(shared), TAKEN) == shared


@given(st.lists(st.text(min_size=1), unique=True), st.lists(st.sampled_from(["a", "rater_a", "a_2", "save"])))
def test_any_names(raters, taken):
    names = derive_field_names(raters, [*TAKEN, *taken])
    assert list(names) == raters
    assert len(set(names.values())) == len(raters)
    for field in names.values():
        assert field.isidentifier()
        assert "__" not in f"_{field}_"  # FiftyOne's database layer splits names there
        assert field not in [*TAKEN, *taken]
        assert not hasattr(fo.Sample, field)


def test_names_are_stored_and_forgotten(dataset):
    before = dict(dataset.info)
    store_raters(dataset, {"Ann.": "ann"})
    store_raters(dataset, {"$Bob": "bob", "gone": "no_field"})
    dataset.reload()
    assert kf.rater_fields(dataset) == {"Ann.": "ann", "$Bob": "bob"}
    assert rater_names(dataset.limit(1), ["ann", "bob", "else"]) == ["Ann.", "$Bob", "else"]
    forget_raters(dataset, ["ann"])
    assert kf.rater_fields(dataset) == {"$Bob": "bob"}
    forget_raters(dataset, ["bob", "no_field"])
    assert dataset.info == before


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_data_set_and_a_view_are_written_as_shards(dataset, tmp_path):
    store_raters(dataset, {"ann": "ann", "bob": "bob"})
    for name, samples in (("whole", dataset), ("view", dataset[:4])):
        shards = distributed.write_shards(samples, tmp_path / name, 2)
        expected = agreement(kf.read_annotations(samples), bootstrap=20)
        found = agreement(shards, bootstrap=20)
        assert found.image_alpha.tolist() == pytest.approx(expected.image_alpha.tolist(), nan_ok=True)
        assert found.alpha_interval.tolist() == pytest.approx(expected.alpha_interval.tolist(), abs=1e-12, nan_ok=True)
        assert found.image_alpha[:4].tolist() == pytest.approx([1, 0, 0, -2 / 3])  # worked out in scenes.py
