"""COCO files: written, and read again."""

import json
import stat
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, KalosWarning, read_coco, write_coco
from tests.readers.cases import contents
from tests.readers.test_coco import COUNTS, PIXELS, TEXT, document, small, with_crowds
from tests.strategies import rings, tables

ROW = {"image": "a.jpg", "rater": "bob", "category": "cat"}
BOX = {"box": [0, 0, 4, 2]}


def written(annotations, folder):
    return json.loads(write_coco(annotations, folder / "labels.json").read_text(encoding="utf-8"))


def assert_read_again(annotations, folder):
    assert contents(read_coco(write_coco(annotations, folder / "labels.json")), 9) == contents(annotations, 9)


@st.composite
def rich_tables(draw):
    """Draw small tables of every shape that COCO supports, with raters that may be sessions."""
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
        row = {"image": st.sampled_from(images), "rater": st.sampled_from(raters)}
        row |= {"category": st.sampled_from(["cat", "dog"])} | {kind: kinds[kind] for kind in chosen.split(" and ")}
        rows.append({"id": place if draw(st.booleans()) else f"mark {place}"} | {k: draw(v) for k, v in row.items()})
    drew = {image: {row["rater"] for row in rows if row["image"] == image} for image in images}
    exclusion = st.tuples(*map(st.sampled_from, (images, raters, ["cat", "dog"])))
    table = Annotations.from_rows(
        rows,
        images=images,
        raters=raters,
        categories=["dog", "cat"],
        image_size=dict.fromkeys(images, (8, 6)),
        assigned={image: sorted(drew[image] | draw(st.sets(st.sampled_from(raters)))) for image in images},
        person=person,
        session=session,
        raters_are_local=draw(st.booleans()),
        exclusions=draw(st.lists(exclusion, max_size=3, unique=True)),
    )
    return replace(table, crowds=np.array([draw(st.integers(0, 2)) for _ in images]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(rich_tables() | tables(limits=True))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_written_and_read_again_is_the_same_table(tmp_path, annotations):
    assert_read_again(annotations, tmp_path)


def test_round_trip_of_special_cases(tmp_path):
    """Raters in another order or assigned nowhere, a polygon without area, assignments to classes."""
    rows = [ROW | {"image": 1} | BOX, ROW | {"image": 1, "polygon": [[0, 0, 4, 0, 8, 0]]}]
    limits = {"ann": [], "bob": ["cat"]}
    table = Annotations.from_rows(
        rows, raters=["zoe", "bob", "ann"], assigned={1: ["ann", "bob"]}, assigned_categories=limits
    )
    assert_read_again(table, tmp_path)


def test_crowd_regions_are_written_and_read_again(tmp_path):
    with pytest.warns(KalosWarning):
        annotations = read_coco(with_crowds({"id": 1}, {"id": 9, "segmentation": {"counts": [1]}}), crowds="regions")
    path = write_coco(annotations, tmp_path / "labels.json")
    with pytest.warns(KalosWarning, match="2 crowd regions .* but for 1 without"):
        again = read_coco(path)
    assert again.crowds.tolist() == [0, 2]
    assert again.crowd_regions.id.tolist() == annotations.crowd_regions.id.tolist() == [1]
    assert again.crowd_regions.shapes["mask"].area().tolist() == [50]


def test_written_files_are_plain_coco(tmp_path):
    content = written(read_coco(document()), tmp_path)
    assert content["annotations"][0] == {
        "id": 1, "image_id": 7, "category_id": 2, "rater_id": "ann", "iscrowd": 0, "area": 16.0,
        "bbox": [0.0, 0.0, 8.0, 4.0], "segmentation": [[0.0, 0.0, 8.0, 0.0, 8.0, 4.0]],
    }  # fmt: skip
    assert content["images"][0] == {
        "id": 7, "file_name": "seven.jpg", "rater_list": ["ann", "bob"], "width": 20, "height": 10,
    }  # fmt: skip
    assert content["categories"] == [{"id": 1, "name": "dog"}, {"id": 2, "name": "cat"}]


def test_masks_are_written_as_pycocotools_writes_them(tmp_path):
    (record,) = written(read_coco(small({"segmentation": COUNTS})), tmp_path)["annotations"]
    assert (record["segmentation"], record["area"]) == (TEXT, 5)


def test_ids_that_are_text_are_numbered_and_come_back_only_from_our_own_files(tmp_path):
    content = written(Annotations.from_rows([ROW | BOX | {"id": "x"}]), tmp_path)
    for key, own in (("images", "a.jpg"), ("annotations", "x")):
        assert (content[key][0]["id"], content[key][0]["source_id"]) == (1, own)
    assert (read_coco(content).images.tolist(), read_coco(content).id.tolist()) == (["a.jpg"], ["x"])
    del content["info"]["ids"]
    assert (read_coco(content).images.tolist(), read_coco(content).id.tolist()) == ([1], [1])


def test_annotations_that_coco_cannot_store(tmp_path):
    volume = [{"z": 0.0, "points": [[0, 0], [4, 0], [4, 4]], "inclusion": True}]
    table = Annotations.from_rows([ROW | {"volume": volume}], slice_positions={"a.jpg": [0.0, 1.0]})
    with pytest.raises(InputError, match="expected shapes among box, polygon, mask, keypoints, got volume"):
        write_coco(table, tmp_path / "labels.json")
    both = Annotations.from_rows([ROW | {"polygon": [[0, 0, 4, 0, 4, 4]], "mask": PIXELS == 1}])
    with pytest.raises(InputError, match="a polygon or a mask of each annotation, got both for 1"):
        write_coco(both, tmp_path / "labels.json")
    with pytest.raises(InputError, match=r"labels\.json: expected an existing folder to write into, got .*absent"):
        write_coco(read_coco(document()), tmp_path / "absent" / "labels.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("before", [None, "kept"])
def test_nothing_is_written_when_writing_fails(before, tmp_path, monkeypatch):
    path = tmp_path / "labels.json"
    if before:
        path.write_text(before)

    def full(*_arguments, **_more):
        raise OSError("no space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(InputError, match=r"labels.json: expected a file to write to, got no space left on device"):
        write_coco(read_coco(document()), path, overwrite=True)
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == ({path.name: before} if before else {})


def test_others_may_read_what_is_written(tmp_path):
    (tmp_path / "plain").write_text("")
    path = write_coco(read_coco(document()), tmp_path / "labels.json")
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((tmp_path / "plain").stat().st_mode)
