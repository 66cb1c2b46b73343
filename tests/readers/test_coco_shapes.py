"""COCO files with run lengths, keypoints and sessions: read, refused, written and read again."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from kalos_core import Annotations, InputError, KalosWarning, agreement, read_coco, write_coco
from tests.strategies import rings

# 4 x 3 pixels (height 3); read down the columns: 3 off, 2 on, 1 off, 3 on, 3 off
#   . # # .
#   . # # .
#   . . # .
PIXELS = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]], dtype=np.uint8)
COUNTS = [3, 2, 1, 3, 3]


def document(*marks, joints=None, raters=("ann", "bob"), **image):
    category = {"id": 1, "name": "cat"} | ({"keypoints": joints} if joints else {})
    return {
        "images": [{"id": 7, "file_name": "a.png", "width": 4, "height": 3, "rater_list": list(raters)} | image],
        "categories": [category],
        "annotations": [
            {"id": place, "image_id": 7, "category_id": 1, "rater_id": raters[0]} | mark
            for place, mark in enumerate(marks, start=1)
        ],
    }


def compressed(pixels):
    made = coco_mask.encode(np.asfortranarray(pixels))
    return {"size": made["size"], "counts": made["counts"].decode()}


# ---- run lengths


@pytest.mark.parametrize("shape", [{"size": [3, 4], "counts": COUNTS}, compressed(PIXELS)], ids=["counts", "text"])
def test_run_lengths_are_masks(shape):
    annotations = read_coco(document({"segmentation": shape}))
    assert list(annotations.shapes) == ["box", "mask"]
    assert annotations.shapes["mask"].area().tolist() == [5]
    assert annotations.shapes["box"].xywh().tolist() == [[1, 0, 2, 3]]


def test_each_segmentation_is_read_as_it_is():
    polygon = {"segmentation": [[0, 0, 2, 0, 2, 2]]}
    mask = {"segmentation": {"size": [3, 4], "counts": COUNTS}}
    annotations = read_coco(document(polygon, mask, {"bbox": [0, 0, 1, 1]}))
    assert annotations.shapes["polygon"].absent().tolist() == [False, True, True]
    assert annotations.shapes["mask"].absent().tolist() == [True, False, True]
    assert annotations.shapes["box"].xywh().tolist() == [[0, 0, 2, 2], [1, 0, 2, 3], [0, 0, 1, 1]]
    with pytest.raises(InputError, match="polygon"):  # where one kind is needed it is said which annotations lack it
        agreement(annotations, "polygon_iou")


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"size": [4, 3], "counts": COUNTS}, "a mask of its image's size 3 x 4, got 4 x 3"),
        ({"size": [3, 4], "counts": [3, 2]}, "counts of 0 or more that sum to height x width"),
        ({"size": [3, 4], "counts": [13, -1]}, "counts of 0 or more"),
        ({"size": [3, 4], "counts": "?!"}, "counts"),
        ({"size": [3, 4]}, "a mask"),
        ({"counts": COUNTS}, r"a mask with a size \[height, width\], got None"),
    ],
)
def test_masks_that_cannot_be_used(shape, message):
    with pytest.raises(InputError, match=rf"annotations\[0\] \(id 1\): expected {message}"):
        read_coco(document({"segmentation": shape}))


def test_broken_shapes_are_left_out_on_request():
    marks = [
        {"segmentation": {"size": [4, 3], "counts": COUNTS}},
        {"bbox": [0, 0, 2, 2]},
        {"segmentation": [[0, 0, 1, 1]]},
    ]
    with pytest.warns(KalosWarning, match=r"2 records cannot be used(.|\n)*They are left out") as caught:
        annotations = read_coco(document(*marks), on_invalid="skip")
    assert [warning.filename for warning in caught] == [__file__]
    assert annotations.id.tolist() == [2]
    assert annotations.skipped.tolist() == [2]
    with pytest.raises(InputError, match="on_invalid: expected 'raise' or 'skip', got 'ignore'"):
        read_coco(document(*marks), on_invalid="ignore")


# ---- keypoints

POSE = [0, 0, 0, 1, 2, 1, 3, 1, 2]


def test_keypoints():
    annotations = read_coco(document({"keypoints": POSE}, joints=["nose", "ear", "eye"]))
    poses = annotations.shapes["keypoints"]
    assert poses.visible.tolist() == [[False, True, True]]
    assert poses.points[0, 1:].tolist() == [[1, 2], [3, 1]]
    assert np.isnan(poses.points[0, 0]).all()
    assert annotations.shapes["box"].xywh().tolist() == [[1, 1, 2, 1]]


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (POSE[:6], "3 keypoints, as its category names, got 2"),
        (POSE[:8], "keypoints x1, y1, v1"),
        ([*POSE[:8], 7], "keypoints of which v is 0, 1 or 2"),
        ("nose", "keypoints x1, y1, v1"),
        (7, "keypoints x1, y1, v1"),
        ([None, *POSE[1:]], "keypoints x1, y1, v1"),
    ],
)
def test_keypoints_that_cannot_be_used(points, message):
    with pytest.raises(InputError, match=rf"annotations\[0\] \(id 1\): (.*; )?expected {message}"):
        read_coco(document({"keypoints": points}, joints=["nose", "ear", "eye"]))


def test_a_category_that_names_keypoints_and_has_no_id():
    content = document({"keypoints": POSE}, joints=["nose", "ear", "eye"])
    del content["categories"][0]["id"]
    with pytest.raises(InputError, match=r"categories\[0\].*: expected an id, got nothing"):
        read_coco(content)


def test_annotations_with_different_numbers_of_keypoints():
    with pytest.raises(InputError, match=r"annotations\[2\].*3 keypoints, as most annotations have, got 2"):
        read_coco(document({"keypoints": POSE}, {"keypoints": POSE}, {"keypoints": POSE[:6]}))


# ---- sessions


def in_sessions(*marks, rater_list=None, **info):
    content = document(*marks)
    content["images"][0]["rater_list"] = rater_list or {"ann": [1, 2], "bob": ["a"]}
    return content | {"info": info}


BOX = {"bbox": [0, 0, 2, 2]}


def test_sessions_are_raters_of_their_own():
    content = in_sessions({**BOX, "session_id": 2}, {**BOX, "rater_id": "bob", "session_id": "a"})
    annotations = read_coco(content)
    assert annotations.raters.tolist() == ["ann (S1)", "ann (S2)", "bob (Sa)"]
    assert annotations.person.tolist() == ["ann", "ann", "bob"]
    assert annotations.session.tolist() == ["1", "2", "a"]
    assert annotations.rater.tolist() == [1, 2]
    assert annotations.assigned.tolist() == [[True, True, True]]


def test_sessions_as_the_authors_code_reads_them(peer_package):
    data_loading = peer_package("kalos.utils.data_loading")
    content = in_sessions({**BOX, "session_id": 2}, {**BOX, "rater_id": "bob", "session_id": "a"})
    ours = read_coco(content)
    theirs = data_loading.preprocess_data(content)[7]
    assert theirs["rater_list"] == ours.raters.tolist()
    drew = {rater: len(marks) for rater, marks in theirs["annotations_by_rater"].items()}
    assert drew == {ours.raters[code]: int((ours.rater == code).sum()) for code in np.unique(ours.rater)}


def test_a_session_that_is_missing_or_not_listed():
    with pytest.raises(InputError, match=r"annotations\[0\].*a session_id, as its image lists sessions, got nothing"):
        read_coco(in_sessions(BOX))
    with pytest.raises(InputError, match=r"annotations\[0\].*a session_id, as its image lists sessions, got \[1\]"):
        read_coco(in_sessions({**BOX, "session_id": [1]}))
    with pytest.raises(InputError, match=r"annotations\[0\].*a rater in its image's list, got rater 'ann \(S3\)'"):
        read_coco(in_sessions({**BOX, "session_id": 3}))


@pytest.mark.parametrize("rater_list", [{"ann": 1}, {"": [1]}, {"ann": [None]}, {"ann": [[1]]}])
def test_a_list_of_sessions_that_is_none(rater_list):
    with pytest.raises(InputError, match="expected a rater_list of names"):
        read_coco(in_sessions(BOX, rater_list=rater_list))


def test_where_an_image_lists_names_a_session_is_not_needed():
    content = document({**BOX, "session_id": 2})
    assert read_coco(content).raters.tolist() == ["ann", "bob"]
    del content["images"][0]["rater_list"]
    annotations = read_coco(content)
    assert (annotations.raters.tolist(), annotations.session.tolist()) == (["ann (S2)"], ["2"])


def test_a_name_that_is_also_a_session():
    content = in_sessions({**BOX, "session_id": 1})
    content["images"].append({"id": 8, "rater_list": ["ann (S1)"]})
    with pytest.raises(InputError, match=r"rater 'ann \(S1\)': expected a name of its own"):
        read_coco(content)


def test_classes_assigned_to_a_person_are_assigned_in_all_sessions():
    content = in_sessions({**BOX, "session_id": 1}, rater_categories={"ann": ["cat"], "bob (Sa)": []})
    assert read_coco(content).assigned_categories.tolist() == [[True], [True], [False]]


# ---- the way back


@st.composite
def rich_tables(draw):
    """Small tables of every shape COCO holds, whose raters may be sessions."""
    images = draw(st.lists(st.sampled_from([3, 1, "a.jpg", "b", 10]), min_size=1, max_size=3, unique=True))
    raters = draw(st.permutations(["ann", "bob", "ann 2", "3"]))[: draw(st.integers(1, 4))]
    person = [draw(st.sampled_from(["ann", "bob"])) for _ in raters] if draw(st.booleans()) else None
    session = [draw(st.sampled_from(["", "1", "2", "x"])) for _ in raters] if person else None
    joints = draw(st.integers(1, 3))
    joint = st.one_of(st.just((0, 0, 0)), st.tuples(st.integers(0, 8), st.integers(0, 6), st.sampled_from([1, 2])))
    kinds = {
        "polygon": st.lists(rings(), min_size=1, max_size=2),
        "mask": st.lists(st.booleans(), min_size=48, max_size=48).map(lambda bits: np.reshape(bits, (6, 8))),
        "keypoints": st.lists(joint, min_size=joints, max_size=joints),
        "box": st.just([1.25, 2, 3, 4.5]),
    }
    rows = []
    for place in range(draw(st.integers(0, 6))):
        chosen = draw(st.sampled_from(["polygon", "mask", "keypoints", "box", "box and keypoints", "box and mask"]))
        rows.append(
            {
                "id": place if draw(st.booleans()) else f"mark {place}",
                "image": draw(st.sampled_from(images)),
                "rater": draw(st.sampled_from(raters)),
                "category": draw(st.sampled_from(["cat", "dog"])),
                **{kind: draw(kinds[kind]) for kind in chosen.split(" and ")},
            }
        )
    table = Annotations.from_rows(
        rows,
        images=images,
        raters=raters,
        categories=["dog", "cat"],
        image_size=dict.fromkeys(images, (8, 6)),
        assigned={
            image: sorted(
                {row["rater"] for row in rows if row["image"] == image} | draw(st.sets(st.sampled_from(raters)))
            )
            for image in images
        },
        person=person,
        session=session,
        raters_are_local=draw(st.booleans()),
        exclusions=draw(
            st.lists(st.tuples(*map(st.sampled_from, (images, raters, ["cat", "dog"]))), max_size=3, unique=True)
        ),
    )
    return replace(table, crowds=np.array([draw(st.integers(0, 2)) for _ in images]))


def assert_same(one, other):
    for name in (
        "image", "rater", "category", "id", "images", "files", "raters", "categories", "image_size", "assigned",
        "person", "session", "raters_are_local", "crowds", "excluded",
    ):  # fmt: skip
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert set(one.shapes) == set(other.shapes)
    for kind, column in one.shapes.items():
        for name, values in vars(column).items():
            if name == "corners":
                np.testing.assert_allclose(values, other.shapes[kind].corners, rtol=1e-15, atol=1e-12)
            elif isinstance(values, np.ndarray) and values.dtype != object and not name.startswith("_"):
                np.testing.assert_array_equal(values, getattr(other.shapes[kind], name), err_msg=f"{kind} {name}")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rich_tables())
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_written_and_read_again_is_the_same_table(tmp_path, annotations):
    path = write_coco(annotations, tmp_path / "labels.json")
    assert_same(read_coco(path), annotations)


def test_sessions_are_written_as_the_authors_code_has_them(tmp_path):
    annotations = read_coco(in_sessions({**BOX, "session_id": 2}))
    content = json.loads(write_coco(annotations, tmp_path / "labels.json").read_text())
    assert content["images"][0]["rater_list"] == {"ann": ["1", "2"], "bob": ["a"]}
    assert (content["annotations"][0]["rater_id"], content["annotations"][0]["session_id"]) == ("ann", "2")


def test_masks_are_written_as_pycocotools_writes_them(tmp_path):
    annotations = read_coco(document({"segmentation": {"size": [3, 4], "counts": COUNTS}}))
    content = json.loads(write_coco(annotations, tmp_path / "labels.json").read_text())
    assert content["annotations"][0]["segmentation"] == compressed(PIXELS)
    assert content["annotations"][0]["area"] == 5


def test_what_a_coco_file_cannot_hold(tmp_path):
    volume = [{"z": 0.0, "points": [[0, 0], [4, 0], [4, 4]], "inclusion": True}]
    row = {"image": "a", "rater": "ann", "category": "cat"}
    table = Annotations.from_rows([row | {"volume": volume}], slice_positions={"a": [0.0, 1.0]})
    with pytest.raises(InputError, match="expected shapes among box, polygon, mask, keypoints, got volume"):
        write_coco(table, tmp_path / "labels.json")
    both = Annotations.from_rows([row | {"polygon": [[0, 0, 4, 0, 4, 4]], "mask": PIXELS == 1}])
    with pytest.raises(InputError, match="a polygon or a mask of each annotation, got both for 1"):
        write_coco(both, tmp_path / "labels.json")
    assert list(tmp_path.iterdir()) == []


def test_ids_that_are_text_come_back_only_from_our_own_files(tmp_path):
    table = Annotations.from_rows(
        [{"id": "x", "image": "a.jpg", "rater": "bob", "category": "cat", "box": [0, 0, 4, 2]}]
    )
    path = write_coco(table, tmp_path / "labels.json")
    assert (read_coco(path).images.tolist(), read_coco(path).id.tolist()) == (["a.jpg"], ["x"])
    content = json.loads(path.read_text())
    del content["info"]["ids"]
    assert (read_coco(content).images.tolist(), read_coco(content).id.tolist()) == ([1], [1])


# ---- LVIS: classes of which not every object was marked


def test_classes_that_are_not_exhaustive_are_excluded_on_request():
    content = document({"bbox": [0, 0, 2, 2]}, not_exhaustive_category_ids=[1])
    assert len(read_coco(content).excluded) == 0
    annotations = read_coco(content, not_exhaustive="exclude")
    assert annotations.excluded.tolist() == [[0, 0, 0], [0, 1, 0]]
    # bob is not assigned to every cat: that he annotated none says nothing
    assert np.isnan(agreement(annotations, bootstrap=0).image_alpha).all()
    assert agreement(read_coco(content), bootstrap=0).image_alpha[0] <= 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"not_exhaustive_category_ids": 1}, "a list not_exhaustive_category_ids, got 1"),
        ({"not_exhaustive_category_ids": [[1]]}, "a list not_exhaustive_category_ids, got"),
        ({"excluded_category_ids": [1]}, "lists of category ids as excluded_category_ids, got"),
        ({"excluded_category_ids": {"ann": 1}}, "lists of category ids as excluded_category_ids, got"),
        ({"excluded_category_ids": {"ann": [7]}}, "lists of category ids as excluded_category_ids, got"),
    ],
)
def test_classes_that_cannot_be_excluded(change, message):
    with pytest.raises(InputError, match=rf"images\[0\] \(id 7\): expected {message}"):
        read_coco(document(BOX, **change), not_exhaustive="exclude")


def test_exclusions_of_somebody_else():
    with pytest.raises(InputError, match="expected a rater of the source, got 'zoe'"):
        read_coco(document(BOX, excluded_category_ids={"zoe": [1]}))


def test_what_becomes_of_such_classes_is_one_of_two_words():
    with pytest.raises(InputError, match="not_exhaustive: expected 'ignore' or 'exclude', got 'leave'"):
        read_coco(document(BOX), not_exhaustive="leave")
    with pytest.raises(InputError, match="not_exhaustive: expected 'ignore' where classes are text or have aliases"):
        read_coco(document(BOX), not_exhaustive="exclude", aliases={"cat": "dog"})


def test_exclusions_of_the_real_file(lvis_path):
    content = json.loads(lvis_path.read_text())
    known = {category["id"] for category in content["categories"]}
    expected = sum(len(known & set(image["not_exhaustive_category_ids"])) for image in content["images"])
    assert len(read_coco(lvis_path, not_exhaustive="exclude").excluded) == 2 * expected > 0
