"""COCO files of several raters: what is read, what is refused and how that is said, and the way back."""

import contextlib
import copy
import json
import os
import re
import stat
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, KalosWarning, agreement, read_coco, variations, write_coco
from tests.readers.spoiling import junk, near, spoiled
from tests.strategies import tables

RING = [0, 0, 8, 0, 8, 4]


def document(**changes):
    """A file that is right: two images, two raters, two annotations."""
    content = {
        "info": {},
        "images": [
            {"id": 7, "file_name": "seven.jpg", "width": 20, "height": 10, "rater_list": ["ann", "bob"]},
            {"id": 5, "file_name": "five.jpg", "width": 20, "height": 10, "rater_list": ["bob"]},
        ],
        "categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
        "annotations": [
            {
                "id": 1,
                "image_id": 7,
                "category_id": 1,
                "rater_id": "ann",
                "bbox": [0, 0, 8, 4],
                "segmentation": [[*RING]],
            },
            {"id": 2, "image_id": 7, "category_id": 3, "rater_id": "bob", "bbox": [0, 0, 8, 5]},
        ],
    }
    return content | changes


def with_mark(**changes):
    """The same file, its first annotation changed; None takes a field out."""
    content = document()
    mark = content["annotations"][0] | changes
    content["annotations"][0] = {key: value for key, value in mark.items() if value is not None}
    return content


def with_image(**changes):
    content = document()
    content["images"][0] |= changes
    return content


# ---- what is read


def test_a_file_in_its_own_order():
    annotations = read_coco(document())
    assert annotations.images.tolist() == [7, 5]
    assert annotations.files.tolist() == ["seven.jpg", "five.jpg"]
    assert annotations.image_size.tolist() == [[20, 10], [20, 10]]
    assert annotations.raters.tolist() == ["ann", "bob"]
    assert annotations.categories.tolist() == ["dog", "cat"]
    assert annotations.assigned.tolist() == [[True, True], [False, True]]
    assert annotations.id.tolist() == [1, 2]
    assert annotations.image.tolist() == [0, 0]
    assert annotations.rater.tolist() == [0, 1]
    assert annotations.category.tolist() == [1, 0]
    assert annotations.shapes["box"].xywh().tolist() == [[0, 0, 8, 4], [0, 0, 8, 5]]
    assert annotations.shapes["polygon"].area().tolist() == [16, 0]
    assert annotations.shapes["polygon"].absent().tolist() == [False, True]


CROWD = {"id": 3, "image_id": 5, "category_id": 1, "rater_id": "bob", "iscrowd": 1}
RUNS = {"size": [10, 20], "counts": [0, 50, 150]}  # the first five columns of twenty


def with_crowds(*changes):
    content = document()
    content["annotations"] += [{**CROWD, "segmentation": RUNS, **change} for change in changes]
    return content


def test_crowds_are_kept_out_and_their_regions_kept():
    with pytest.warns(KalosWarning, match=r"2 crowd regions on 2 images are kept out of agreement, .* as in COCO\.$"):
        annotations = read_coco(with_crowds({}, {"id": 9, "image_id": 7, "rater_id": "ann", "category_id": 3}))
    assert annotations.crowds.tolist() == [1, 1]
    assert annotations.id.tolist() == [1, 2]
    crowds = annotations.crowd_regions
    assert (crowds.id.tolist(), crowds.shapes["mask"].area().tolist()) == ([3, 9], [50, 50])
    assert crowds.shapes["box"].xywh().tolist() == [[0, 0, 5, 10]] * 2
    assert [crowds.images[crowds.image].tolist(), crowds.raters[crowds.rater].tolist()] == [[5, 7], ["bob", "ann"]]
    assert crowds.categories[crowds.category].tolist() == ["cat", "dog"]


@pytest.mark.parametrize(
    "change",
    [
        {"segmentation": {"counts": [1]}},
        {"rater_id": "eve"},
        {"rater_id": "ann"},  # not assigned to the image
        {"category_id": 8},
        {"category_id": [8]},
        {"segmentation": None},
    ],
)
def test_a_crowd_region_that_cannot_be_compared_is_counted_only(change):
    with pytest.warns(KalosWarning, match="in COCO, but for 1 without a shape, rater or class that can be used"):
        annotations = read_coco(with_crowds({}, {"id": 9, **change}))
    assert annotations.crowds.sum() == 2
    assert len(annotations.crowd_regions) == 1


def test_crowd_regions_are_written_and_read_again(tmp_path):
    with pytest.warns(KalosWarning):
        annotations = read_coco(with_crowds({"id": 1}, {"id": 9, "segmentation": {"counts": [1]}}))
    path = write_coco(annotations, tmp_path / "labels.json")
    with pytest.warns(KalosWarning, match="2 crowd regions .* but for 1 without"):
        again = read_coco(path)
    assert again.crowds.tolist() == [0, 2]
    assert again.crowd_regions.id.tolist() == annotations.crowd_regions.id.tolist() == [1]
    assert again.crowd_regions.shapes["mask"].area().tolist() == [50]


def test_crowds_of_classes_in_words():
    content = with_crowds({"label": " cats "})
    for annotation, name in zip(content["annotations"], ("cat", "dog"), strict=False):
        annotation["label"] = name
    with pytest.warns(KalosWarning, match="1 crowd regions"):
        annotations = read_coco(content, category_field="label", aliases={"cats": "cat", "cat": "cat", "dog": "dog"})
    assert annotations.categories[annotations.crowd_regions.category].tolist() == ["cat"]


def test_from_a_path_a_text_and_a_mapping(tmp_path):
    path = tmp_path / "labels.json"
    for encoding in ("utf-8", "utf-8-sig"):
        path.write_text(json.dumps(document()), encoding=encoding)
        assert read_coco(path).id.tolist() == read_coco(str(path)).id.tolist() == read_coco(document()).id.tolist()


@pytest.mark.parametrize("name", ["rater_id", "rater", "annotator", "rad_id"])
def test_the_rater_under_any_of_its_names(name):
    content = document()
    for mark in content["annotations"]:
        mark[name] = mark.pop("rater_id")
    assert read_coco(content).rater.tolist() == [0, 1]


@pytest.mark.parametrize(("first", "listed"), [(1, 1), (1, "1"), (1.0, 1), ("1", 1)])
def test_raters_that_are_numbers(first, listed):
    content = with_mark(rater_id=first)
    content["images"][0]["rater_list"] = [listed, "bob"]
    assert read_coco(content).raters.tolist() == ["1", "bob"]


def test_a_box_that_is_absent_is_derived_from_the_polygon():
    assert read_coco(with_mark(bbox=None)).shapes["box"].xywh()[0].tolist() == [0, 0, 8, 4]
    assert read_coco(with_mark(bbox=[])).shapes["box"].xywh()[0].tolist() == [0, 0, 8, 4]


def test_a_box_that_is_there_is_kept():
    assert read_coco(with_mark(bbox=[1, 1, 2, 2])).shapes["box"].xywh()[0].tolist() == [1, 1, 2, 2]


def test_annotations_without_ids_are_numbered():
    content = document()
    for mark in content["annotations"]:
        del mark["id"]
    assert read_coco(content).id.tolist() == [1, 2]


def test_a_file_name_that_is_not_there_is_no_name():
    assert read_coco(with_image(file_name=None)).files.tolist() == ["", "five.jpg"]


def test_an_image_of_unknown_size():
    assert np.isnan(read_coco(with_image(width=None)).image_size[0]).all()


def test_classes_a_rater_was_assigned_to_by_name_or_id():
    content = document(info={"rater_categories": {"ann": ["cat"], "bob": [3, 1]}})
    assert read_coco(content).assigned_categories.tolist() == [[False, True], [True, True]]


def test_text_classes_may_be_assigned_to_though_nobody_annotated_them():
    content = document(info={"rater_categories": {"ann": ["cat", "emu"]}})
    for mark, name in zip(content["annotations"], ["cat", " dog "], strict=True):
        mark["label"] = name
    annotations = read_coco(content, category_field="label")
    assert annotations.categories.tolist() == ["cat", "dog", "emu"]
    assert annotations.assigned_categories.tolist() == [[True, False, True], [True, True, True]]


def test_aliases_work_on_category_names_too():
    with pytest.warns(KalosWarning, match="1 written name has no alias .*'dog'"):
        annotations = read_coco(document(), aliases={"cat": "animal"})
    assert annotations.categories[annotations.category].tolist() == ["animal", "dog"]


def test_named_raters_come_first_and_in_their_order():
    content = document(info={"raters": ["cid", "bob"]})
    assert read_coco(content).raters.tolist() == ["cid", "bob", "ann"]
    assert read_coco(document(info={"raters": {"something": "else"}})).raters.tolist() == ["ann", "bob"]


def test_the_files_own_data_is_not_written_on():
    content = document()
    before = copy.deepcopy(content)
    read_coco(content)
    assert content == before


# ---- without rater_list


def without_lists():
    content = document()
    for image in content["images"]:
        del image["rater_list"]
    return content


def test_without_rater_list_everybody_is_assigned_and_a_warning_says_what_that_does():
    with pytest.warns(KalosWarning, match=r"no rater_list on 2 of 2 images.*lowers alpha.*assigned='drew'") as caught:
        annotations = read_coco(without_lists())
    assert annotations.assigned.all()
    assert [warning.filename for warning in caught] == [__file__]


def test_without_rater_list_those_who_annotated_may_be_chosen():
    assert read_coco(without_lists(), assigned="drew").assigned.tolist() == [[True, True], [False, False]]


def test_one_rater_needs_no_warning():
    content = without_lists()
    content["annotations"] = content["annotations"][:1]
    assert read_coco(content).raters.tolist() == ["ann"]


def test_some_lists_are_kept_where_others_are_absent():
    content = document()
    del content["images"][0]["rater_list"]
    with pytest.warns(KalosWarning, match="no rater_list on 1 of 2 images"):
        annotations = read_coco(content)
    assert [set(annotations.raters[row]) for row in annotations.assigned] == [{"ann", "bob"}, {"bob"}]


def test_annotations_beyond_the_image_are_reported_at_the_callers_line():
    with pytest.warns(KalosWarning, match=r"COCO data: 1 annotations reach beyond .*\(ids 1\)") as caught:
        read_coco(with_mark(bbox=[15, 0, 8, 4]))
    assert [warning.filename for warning in caught] == [__file__]


def test_an_error_is_told_and_not_the_warnings_before_it():
    content = without_lists()
    content["annotations"][0]["bbox"] = [0, 0, -1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError):
            read_coco(content, aliases={"a": "b"})


# ---- what is refused

MARK = r"annotations\[0\] \(id 1\)"
IMAGE = r"images\[0\] \(id 7\)"
BAD = {
    "no rater": (with_mark(rater_id=None), MARK, "a rater of the source, got nothing"),
    "empty rater": (with_mark(rater_id=""), MARK, "a rater of the source, got nothing"),
    "NaN rater": (with_mark(rater_id=float("nan")), MARK, "a rater of the source, got nothing"),
    "rater is a list": (with_mark(rater_id=["ann"]), MARK, r"a rater of the source, got \['ann'\]"),
    "rater is true": (with_mark(rater_id=True), MARK, "a rater of the source, got True"),
    "rater not in the list": (with_mark(rater_id="zoe"), MARK, "a rater in its image's list, got rater 'zoe'"),
    "no image": (with_mark(image_id=None), MARK, "an image of the source, got nothing"),
    "unknown image": (with_mark(image_id=99), MARK, "an image of the source, got 99"),
    "image is a list": (with_mark(image_id=[7]), MARK, r"an image of the source, got \[7\]"),
    "no category": (with_mark(category_id=None), MARK, "a category of the source, got nothing"),
    "unknown category": (with_mark(category_id=99), MARK, "a category of the source, got 99"),
    "category -1": (with_mark(category_id=-1), MARK, "a category of the source, got -1"),
    "category is a list": (with_mark(category_id=[1]), MARK, r"a category of the source, got \[1\]"),
    "NaN in a box": (with_mark(bbox=[0, 0, float("nan"), 4]), MARK, "a box of finite numbers"),
    "infinite box": (with_mark(bbox=[0, 0, float("inf"), 4]), MARK, "a box of finite numbers"),
    "both infinities": (with_mark(bbox=[1e400, 0, -1e400, 4]), MARK, "a box of finite numbers"),
    "no width": (with_mark(bbox=[0, 0, 0, 4]), MARK, r"a box of positive width and height, got \[0, 0, 0, 4\]"),
    "negative height": (with_mark(bbox=[0, 0, 8, -4]), MARK, "a box of positive width and height"),
    "text in a box": (with_mark(bbox="0 0 8 4"), MARK, "a box of four numbers x, y, width, height, got '0 0 8 4'"),
    "five numbers": (with_mark(bbox=[0, 0, 8, 4, 1]), MARK, "a box of four numbers"),
    "two points": (with_mark(segmentation=[[0, 0, 8, 0]]), MARK, "rings of at least 3 points, got a ring of 2"),
    "run lengths": (with_mark(segmentation={"counts": [3]}), MARK, r"a mask with a size \[height, width\], got None"),
    "NaN in a ring": (with_mark(segmentation=[[0, 0, 8, float("nan"), 8, 4]]), MARK, "finite coordinates"),
    "no shape": (with_mark(bbox=None, segmentation=None), MARK, r"a shape \(box, polygon, .*\), got none"),
    "annotation id is a list": (with_mark(id=[1]), r"annotations\[0\] \(id \[1\]\)", r"an id, got \[1\]"),
    "not asked for": (
        document(info={"rater_categories": {"ann": ["dog"]}}),
        MARK, "a class its rater is assigned to, got 'cat' by 'ann'",
    ),
    "unknown class asked for": (
        document(info={"rater_categories": {"ann": ["cat", "emu"]}}),
        "classes assigned to rater 'ann'", "known classes, got 'emu'",
    ),
    "unknown rater asked": (
        document(info={"rater_categories": {"zoe": ["cat"]}}),
        "classes assigned to rater 'zoe'", "a rater among ann, bob",
    ),
    "no image id": (with_image(id=None), r"images\[0\] \(id None\)", "an id, got nothing"),
    "image id is a list": (with_image(id=[7]), r"images\[0\] \(id \[7\]\)", r"an id, got \[7\]"),
    "image id is true": (with_image(id=True), r"images\[0\] \(id True\)", "an id, got True"),
    "image id twice": (with_image(id=5), r"images\[1\] \(id 5\)", "an id of its own, got 5 a second time"),
    "list of lists": (with_image(rater_list=[["ann"]]), IMAGE, r"a rater_list of names, got \[\['ann'\]\]"),
    "list is text": (with_image(rater_list="ann"), IMAGE, "a rater_list of names, got 'ann'"),
    "nobody in the list": (with_image(rater_list=["ann", None]), IMAGE, "a rater_list of names"),
    "empty name in the list": (with_image(rater_list=["ann", ""]), IMAGE, "a rater_list of names"),
    "negative width": (with_image(width=-20), IMAGE, "a positive width and height, got -20 x 10"),
    "NaN height": (with_image(height=float("nan")), IMAGE, "a positive width and height, got 20 x nan"),
    "width is text": (with_image(width="20"), IMAGE, "a positive width and height, got '20' x 10"),
    "huge width": (with_image(width=10**400), IMAGE, "a positive width and height"),
    "category id -1": (
        document(categories=[{"id": -1, "name": "cat"}, *document()["categories"]]),
        r"categories\[0\] \(id -1\)", "an id that is not -1, which means 'no category', got -1",
    ),
    "category id twice": (
        document(categories=[*document()["categories"], {"id": 1, "name": "emu"}]),
        r"categories\[2\] \(id 1\)", "an id of its own, got 1 a second time",
    ),
    "category name twice": (
        document(categories=[*document()["categories"], {"id": 2, "name": "cat"}]),
        r"categories\[2\] \(id 2\)", "a name of its own, got 'cat' a second time",
    ),
    "category without a name": (
        document(categories=[*document()["categories"], {"id": 2}]), r"categories\[2\] \(id 2\)", "a name, got None",
    ),
    "category id is a list": (
        document(categories=[*document()["categories"], {"id": [2], "name": "emu"}]),
        r"categories\[2\] \(id \[2\]\)", r"an id, got \[2\]",
    ),
    "an annotation that is no object": (
        document(annotations=[*document()["annotations"], "mark"]), r"annotations\[2\]", "an object, got 'mark'",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("content", "record", "message"), BAD.values(), ids=BAD)
def test_a_record_that_cannot_be_used_is_named_with_file_and_position(content, record, message, tmp_path):
    expected = rf"records? cannot be used\.\n(.*\n)*  {record}: (.*; )?expected {message}"
    with pytest.raises(InputError, match="^COCO data: 1 " + expected):
        read_coco(content)
    path = tmp_path / "labels.json"
    try:
        path.write_text(json.dumps(content), encoding="utf-8")
    except ValueError:  # a number too long to be written
        return
    with pytest.raises(InputError, match=r"^labels\.json: 1 " + expected):
        read_coco(path)


@pytest.mark.parametrize("count", [1, 5, 6, 1234])
def test_all_offending_records_are_counted_and_five_shown(count):
    content = document()
    mark = content["annotations"][0] | {"bbox": [0, 0, 0, 0]}
    content["annotations"] += [mark | {"id": number} for number in range(10, 10 + count)]
    with pytest.raises(InputError) as caught:
        read_coco(content)
    lines = str(caught.value).splitlines()
    assert lines[0] == f"COCO data: {count:,} record{'s' * (count > 1)} cannot be used."
    assert [line.split(":")[0] for line in lines[1:6]] == [
        f"  annotations[{number + 2}] (id {number + 10})" for number in range(min(count, 5))
    ]
    assert lines[6:] == ([f"  ... and {count - 5:,} more"] if count > 5 else [])


def test_an_annotation_id_used_twice():
    content = document()
    content["annotations"].append(content["annotations"][0])
    with pytest.raises(InputError, match=r"annotations\[2\] \(id 1\): expected an id of its own, got 1 a second time"):
        read_coco(content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "COCO data: expected COCO with a list 'images', got nothing"),
        ({"a": 1, "b": 2}, "expected COCO with a list 'images', got a, b"),
        (document(images={}), "expected COCO with a list 'images', got 'images' as dict"),
        (document(annotations="none"), "expected COCO with a list 'annotations', got 'annotations' as str"),
        (document(categories=None), "expected COCO with a list 'categories', got 'categories' as NoneType"),
        (document(images=[], annotations=[]), "COCO data: expected at least one image, got none"),
        (document(info={"rater_categories": ["cat"]}), "expected info.rater_categories to map raters to lists"),
        (document(info={"rater_categories": {"ann": "cat"}}), "expected info.rater_categories to map raters to lists"),
        (7, "path_or_dict: expected a path or the mapping a COCO file holds, got int"),
        (None, "path_or_dict: expected a path or the mapping a COCO file holds, got NoneType"),
        ([document()], "path_or_dict: expected a path or the mapping a COCO file holds, got list"),
    ],
)
def test_what_is_not_coco(content, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_coco(content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "expected JSON, got"),
        (b'{"images": [', "expected JSON, got"),
        (b"\xff\xfe\x00", "expected a readable COCO file in UTF-8, got"),
        (b"[]", "expected a COCO object, got a JSON list"),
        (b'"labels"', "expected a COCO object, got a JSON str"),
        (b"[" * 100_000, "expected JSON, got"),
        (b'{"images": ' + b"9" * 5000 + b"}", "expected JSON, got"),
    ],
)
def test_what_is_not_json_is_reported_with_its_path(text, message, tmp_path):
    path = tmp_path / "labels.json"
    path.write_bytes(text)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        read_coco(path)


@pytest.mark.parametrize("name", ["absent.json", ".", "a\0b"])
def test_what_is_no_file(name, tmp_path):
    with pytest.raises(InputError, match="expected a readable COCO file in UTF-8, got"):
        read_coco(os.path.join(tmp_path, name))


@pytest.mark.parametrize("assigned", ["none", None, True])
def test_who_is_assigned_is_one_of_two_words(assigned):
    with pytest.raises(InputError, match="assigned: expected 'all' or 'drew', got"):
        read_coco(document(), assigned=assigned)


@pytest.mark.parametrize("label", [None, "", "  ", ["cat"], {"name": "cat"}, True, float("nan")])
def test_text_classes_that_are_no_text(label):
    content = document()
    for mark in content["annotations"]:
        mark["label"] = "cat"
    content["annotations"][0]["label"] = label
    with pytest.raises(InputError, match=rf"{MARK}: expected a category of the source, got "):
        read_coco(content, category_field="label")
    with pytest.raises(InputError, match=rf"{MARK}: expected a category of the source, got "):
        read_coco(content, category_field="label", aliases={"cat": "animal"})


def test_a_class_field_that_is_not_there():
    with pytest.raises(InputError, match="COCO data: 2 records cannot be used"):
        read_coco(document(), category_field="label_raw")


# ---- whatever comes: a table or an InputError, never anything else


def read_or_refuse(content, **arguments):
    try:
        return read_coco(content, **arguments)
    except InputError:
        return None


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    spoiled(with_crowds({})),
    st.sampled_from([None, "category_id", "rater_id", "bbox"]),
    st.sampled_from([None, {"cat": "animal"}, {"ann": {"/c.*/": "cat"}}]),
    st.sampled_from(["all", "drew"]),
)
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_file_is_read_or_refused(tmp_path, content, category_field, aliases, assigned):
    annotations = read_or_refuse(content, category_field=category_field, aliases=aliases, assigned=assigned)
    if annotations is None:
        return
    for use in (agreement, variations):  # what was read can be worked with
        if len(annotations.raters) < 2:
            with pytest.raises(InputError, match="at least two raters"):
                use(annotations)
        else:
            use(annotations)
    again = read_coco(write_coco(annotations, tmp_path / "again.json"))
    np.testing.assert_array_equal(again.image, annotations.image)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(["images", "annotations", "categories", "info"]), junk | st.lists(junk, max_size=3))
)
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_anything_at_all_is_read_or_refused(content):
    read_or_refuse(content)


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["image", "rater", "category", "id", "box", "polygon"]), junk | near) | junk
    )
)
def test_any_rows_are_taken_or_refused(rows):
    with contextlib.suppress(InputError):
        Annotations.from_rows(rows)


# ---- the way back


def assert_same(one, other):
    for name in (
        "id",
        "image",
        "rater",
        "category",
        "images",
        "files",
        "raters",
        "categories",
        "assigned",
        "image_size",
    ):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    limits = [table.assigned_categories for table in (one, other)]
    assert (limits[0] is None) == (limits[1] is None)
    if limits[0] is not None:
        np.testing.assert_array_equal(*limits)
    assert list(one.shapes) == list(other.shapes)
    np.testing.assert_allclose(one.shapes["box"].corners, other.shapes["box"].corners, rtol=1e-15, atol=1e-12)
    if "polygon" in one.shapes:
        np.testing.assert_array_equal(one.shapes["polygon"].points, other.shapes["polygon"].points)
        np.testing.assert_array_equal(one.shapes["polygon"].part_start, other.shapes["polygon"].part_start)
        np.testing.assert_array_equal(one.shapes["polygon"].ring_start, other.shapes["polygon"].ring_start)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(limits=True))
def test_written_and_read_again_is_the_same_table(tmp_path, annotations):
    numbered = Annotations.from_rows([], images=range(len(annotations.images))).images
    annotations = Annotations(
        **{name: getattr(annotations, name) for name in (
            "image", "rater", "category", "id", "shapes", "files", "raters", "categories", "image_size", "assigned",
            "assigned_categories",
        )},
        images=numbered,
    )  # fmt: skip
    assert_same(read_coco(write_coco(annotations, tmp_path / "labels.json")), annotations)


def test_real_data_written_and_read_again_is_the_same_table(lvis, tmp_path):
    assert_same(read_coco(write_coco(lvis, tmp_path / "labels.json")), lvis)


def test_raters_keep_their_order_and_those_assigned_nowhere_stay(tmp_path):
    annotations = Annotations.from_rows(
        [{"image": 1, "rater": "bob", "category": "cat", "box": [0, 0, 4, 2]}],
        raters=["zoe", "bob", "ann"],
        assigned={1: ["ann", "bob"]},
    )
    assert_same(read_coco(write_coco(annotations, tmp_path / "labels.json")), annotations)


def test_a_polygon_without_area_survives_the_way_back(tmp_path):
    line = [{"image": 1, "rater": "bob", "category": "cat", "polygon": [[0, 0, 4, 0, 8, 0]]}]
    annotations = Annotations.from_rows(line)
    assert_same(read_coco(write_coco(annotations, tmp_path / "labels.json")), annotations)


def test_what_is_written_is_plain_coco(tmp_path):
    content = json.loads(write_coco(read_coco(document()), tmp_path / "labels.json").read_text(encoding="utf-8"))
    assert content["annotations"][0] == {
        "id": 1,
        "image_id": 7,
        "category_id": 2,
        "rater_id": "ann",
        "iscrowd": 0,
        "area": 16.0,
        "bbox": [0.0, 0.0, 8.0, 4.0],
        "segmentation": [[0.0, 0.0, 8.0, 0.0, 8.0, 4.0]],
    }
    assert content["images"][0] == {
        "id": 7, "file_name": "seven.jpg", "rater_list": ["ann", "bob"], "width": 20, "height": 10,
    }  # fmt: skip
    assert content["categories"] == [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}]


def test_ids_that_are_no_numbers_are_numbered_and_kept_as_source_ids(tmp_path):
    rows = [{"id": "x", "image": "a.jpg", "rater": "bob", "category": "cat", "box": [0, 0, 4, 2]}]
    content = json.loads(write_coco(Annotations.from_rows(rows), tmp_path / "l.json").read_text(encoding="utf-8"))
    assert (content["images"][0]["id"], content["images"][0]["source_id"]) == (1, "a.jpg")
    assert (content["annotations"][0]["id"], content["annotations"][0]["source_id"]) == (1, "x")


@pytest.mark.parametrize("before", [None, "kept"])
def test_nothing_is_written_when_writing_fails(before, tmp_path, monkeypatch):
    path = tmp_path / "labels.json"
    if before:
        path.write_text(before)

    def full(*_arguments, **_more):
        raise OSError("no space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InputError, match=r"labels.json: expected a file to write to, got no space left on device"):
        write_coco(read_coco(document()), path)
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == (
        {"labels.json": before} if before else {}
    )


def test_a_folder_that_is_not_there_is_an_error_and_stays_away(tmp_path):
    with pytest.raises(InputError, match=r"labels\.json: expected a folder to write into, got .*absent, which is none"):
        write_coco(read_coco(document()), tmp_path / "absent" / "labels.json")
    assert list(tmp_path.iterdir()) == []


def test_others_may_read_what_is_written(tmp_path):
    (tmp_path / "plain").write_text("")
    path = write_coco(read_coco(document()), tmp_path / "labels.json")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
