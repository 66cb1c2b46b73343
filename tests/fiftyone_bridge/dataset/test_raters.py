"""Which field holds the labels of which rater."""

import fiftyone as fo
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.names import derive_field_names
from kalos_core.fiftyone.dataset.raters import forget_raters, store_raters

TAKEN = ["id", "filepath", "tags", "metadata", "created_at", "last_modified_at", "raters"]


@pytest.mark.parametrize(
    ("rater", "field"),
    [
        ("ann", "ann"),
        ("Dr. Ann B.", "Dr_Ann_B"),
        ("a.b", "a_b"),
        ("$where", "where"),
        ("李雷", "李雷"),
        ("Ольга", "Ольга"),
        ("id", "rater_id"),
        ("tags", "rater_tags"),
        ("raters", "rater_raters"),
        ("metadata", "rater_metadata"),
        ("save", "rater_save"),
        ("class", "rater_class"),
        ("_hidden", "hidden"),
        ("Anna (2)", "Anna_2"),
        ("1st", "rater_1st"),
        ("😀", "rater"),
        (" ", "rater"),
    ],
)
def test_a_field_is_an_identifier_that_nothing_else_uses(rater: str, field: str) -> None:
    assert derive_field_names([rater], TAKEN) == {rater: field}


def test_raters_never_share_a_field() -> None:
    assert derive_field_names(["a b", "a.b", "a_b", "a_b_2"], TAKEN) == {
        "a b": "a_b",
        "a.b": "a_b_2",
        "a_b": "a_b_3",
        "a_b_2": "a_b_2_2",
    }


def test_a_field_of_the_data_set_is_not_taken_over() -> None:
    assert derive_field_names(["first_alpha"], [*TAKEN, "first_alpha"]) == {"first_alpha": "rater_first_alpha"}


@given(st.lists(st.text(min_size=1), unique=True), st.lists(st.sampled_from(["a", "rater_a", "a_2", "save"])))
def test_any_names(raters: list[str], taken: list[str]) -> None:
    names = derive_field_names(raters, [*TAKEN, *taken])
    assert list(names) == raters
    assert len(set(names.values())) == len(raters)
    for field in names.values():
        assert field.isidentifier()
        assert "__" not in f"_{field}_"  # FiftyOne's database layer takes names apart there
        assert field not in [*TAKEN, *taken]
        assert not hasattr(fo.Sample, field)


def test_names_are_stored_and_forgotten(dataset: fo.Dataset) -> None:
    before = dict(dataset.info)
    store_raters(dataset, {"Ann.": "ann"})
    store_raters(dataset, {"$Bob": "bob", "gone": "no_field"})
    dataset.reload()
    assert kf.rater_fields(dataset) == {"Ann.": "ann", "$Bob": "bob"}
    assert kf.rater_names(dataset.limit(1), ["ann", "bob", "else"]) == ["Ann.", "$Bob", "else"]
    forget_raters(dataset, ["ann"])
    assert kf.rater_fields(dataset) == {"$Bob": "bob"}
    forget_raters(dataset, ["bob", "no_field"])
    assert dataset.info == before


def test_fields_that_hold_boxes_or_polygons(dataset: fo.Dataset) -> None:
    dataset.set_values("kind", [fo.Classification(label="x")] * 6)
    dataset.set_values("line", [fo.Polylines()] * 6)
    assert kf.label_fields(dataset) == {
        "ann": "ann.detections",
        "bob": "bob.detections",
        "line": "line.polylines",
    }
