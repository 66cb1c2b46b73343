"""Attributes of labels: loaded from files with the labels, and agreement on them for matched labels."""

from typing import Any

import fiftyone as fo
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, agreement, attribute_agreement
from kalos_core.fiftyone.kinds.agreement.attributes import attributes_to_compare
from tests.fiftyone_bridge.scenes import untouched

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")

GRADES = {"ann": [1, 3, 5, 4, 2], "bob": [2, 3, 5, 5, None]}
"""Grades of one nodule per image; bob did not grade the last one."""


@pytest.fixture(scope="module")
def table():
    rows = [
        {"image": f"{number}.png", "rater": rater, "category": "nodule", "box": [0, 0, 9, 9]}
        | {"attributes": {"is hurt": number > 1} | ({} if grade is None else {"malignancy": grade, "index": grade / 2})}
        for rater, grades in GRADES.items()
        for number, grade in enumerate(grades)
    ]
    return Annotations.from_rows(rows, image_size={f"{number}.png": (9, 9) for number in range(5)})


@pytest.fixture(scope="module")
def loaded_once(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("images")
    for name in table.images:
        Image.new("L", (9, 9)).save(folder / name)
    dataset = kf.load_raters(table, images=folder).dataset
    yield dataset
    dataset.delete()


@pytest.fixture
def loaded(loaded_once):
    return loaded_once.clone()


def given(dataset: fo.Dataset, rater: str, name: str) -> list[Any]:
    return [value for (value,) in dataset.values(f"{rater}.detections.{name}")]


def test_attributes_are_stored_on_loaded_labels(loaded):
    for rater, grades in GRADES.items():
        assert given(loaded, rater, "malignancy") == grades
        assert given(loaded, rater, "is_hurt") == [False, False, True, True, True]
        assert given(loaded, rater, "attribute_index") == [None if of is None else of / 2 for of in grades]
        assert given(loaded, rater, "index") == [None] * 5  # detections have their own `index`
    kinds = {name: type(loaded.get_field(f"ann.detections.{name}")) for name in ("malignancy", "is_hurt")}
    assert kinds == {"malignancy": fo.IntField, "is_hurt": fo.BooleanField}
    assert attributes_to_compare(loaded) == ["attribute_index", "is_hurt", "malignancy"]
    read = kf.read_annotations(loaded, attributes=["malignancy"])
    assert sorted(map(str, read.attributes["malignancy"])) == sorted(map(str, GRADES["ann"] + GRADES["bob"]))


def test_agreement_on_an_attribute_is_that_of_the_library(loaded, table):
    kf.compute_agreement(loaded, "run", bootstrap=0)
    found = kf.attribute_agreement(loaded, "run", "malignancy", bootstrap=50, seed=3)
    own = attribute_agreement(agreement(table, bootstrap=0), "malignancy", bootstrap=50, seed=3)
    assert found.to_pandas().equals(own.to_pandas())
    assert (found.items, round(found.alpha, 3)) == (4, 0.889)  # as in the library's hand-worked example
    nominal = kf.attribute_agreement(loaded, "run", "malignancy", "nominal", bootstrap=0)
    assert nominal.coefficient.tolist() == ["alpha, nominal", "AC1", "Conger's kappa"]


def test_a_run_compares_attributes_as_it_is_told(loaded):
    asked = {"malignancy": "interval", "is_hurt": [False, True], "attribute_index": None}
    run = kf.compute_agreement(loaded, "run", attributes=asked, bootstrap=50)
    stored = kf.load_details(loaded, "run").details.attributes
    assert [of.coefficient[0] for of in stored] == ["alpha, interval", "alpha, ordinal", "alpha, ordinal"]
    own = kf.attribute_agreement(loaded, "run", "malignancy", "interval", bootstrap=50)
    assert stored[0].to_pandas().equals(own.to_pandas())
    assert stored[0].without_items().items == own.items == 4
    # bob did not grade the last one; its index is half of it
    assert loaded.values("run_attributes") == [[1, 0, 0.5], [0, 0, 0], [0, 0, 0], [1, 0, 0.5], [None, 0, None]]
    rows = kf.attribute_rows(loaded, "run", "malignancy")
    assert [(row.file, row.category, dict(row.values)) for row in rows] == [
        ("0.png", "nodule", {"ann": 1, "bob": 2}),
        ("3.png", "nodule", {"ann": 4, "bob": 5}),
    ]
    assert run.settings["attributes"][1] == {"name": "is_hurt", "metric": None, "order": [False, True]}
    kf.rename_run(loaded, "run", "other")
    assert kf.view_of_attribute(loaded, "other", "malignancy").values("id") == [row.sample_id for row in rows]
    assert run.result.annotations.attributes.keys() == asked.keys()


def test_attributes_are_those_of_now_and_matches_those_of_the_run(loaded):
    kf.analyse(loaded, "first", kinds=["agreement"], settings={"agreement": {"attributes": ["malignancy"]}})
    sample = loaded.first()
    sample.bob.detections[0]["malignancy"] = 1
    sample.bob.detections[0].bounding_box = [0, 0, 0.9, 0.9]
    sample.save()
    assert kf.attribute_agreement(loaded, "first", "malignancy", bootstrap=0).codes[0].tolist() == [0, 0]
    for key in ("first", kf.update_analysis(loaded, "first").key):
        values = kf.load_run(loaded, key).result.annotations.attributes["malignancy"].tolist()
        assert sorted(map(str, values)) == sorted(["None", *map(str, [1, 3, 5, 4, 2, 1, 3, 5, 5])])
    assert loaded.values("first_attributes")[0] == [1]
    assert loaded.values("first2_attributes")[0] == [0]


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (["age"], "attributes: expected attributes that labels have, got 'age'"),
        ({"malignancy": "cardinal"}, "metric: expected one of"),
        ({"malignancy": [1, 2, 3]}, "values: expected categories of the order 1, 2, 3, got 5, 4"),
    ],
)
def test_attributes_that_cannot_be_compared(loaded, attributes, message):
    with untouched(loaded), pytest.raises(InputError, match=message):
        kf.compute_agreement(loaded, "run", attributes=attributes, bootstrap=0)
