"""COCO files of any size: same tables and messages as `read_coco`, with only one block in memory."""

import json
import random
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kalos_core import InputError, KalosWarning, read_coco, write_coco
from kalos_core.readers.coco import scanning, stream_coco
from kalos_core.readers.coco.scanning import scan
from tests.readers.cases import contents, differing, lines, write
from tests.readers.spoiling import junk
from tests.strategies import tables
from tests.tiers import extended

LISTS = ["images", "annotations"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("stream")


STEPS = [1 << 22, 700, 31]


def several(images=7, seed=0, **info):
    """Return a file of three raters, with annotations in any order and texts with brackets and quotes."""
    draw = random.Random(seed)
    annotations = [
        {
            "id": 100 + number,
            "image_id": draw.randrange(images),
            "category_id": draw.choice([3, 1]),
            "rater_id": draw.choice(["ann", "bob", "cid"]),
            "segmentation": [[draw.uniform(0, 9) for _ in range(8)]],
            "bbox": [draw.uniform(0, 9), 1, 5, 5],
            "note": draw.choice(["", '"images": [{', "\\", '\\"]}', "é ]", "}"]),
        }
        for number in range(6 * images)
    ]
    listed = [{"id": key, "file_name": f"{key}.jpg", "width": 20, "height": 20} for key in range(images)]
    for image in listed:
        image["rater_list"] = ["ann", "bob", "cid"]
    categories = [{"id": 3, "name": "dog [1]"}, {"id": 1, "name": "cat"}]
    return {"annotations": annotations, "info": info, "categories": categories, "images": listed[::-1]}


def written(folder, content):
    return write(folder, json.dumps(content, ensure_ascii=False), "labels.json")


def in_twos(path):
    return list(stream_coco(path, 2))


def same_tables(path, size, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        whole = read_coco(path, **options)
        blocks = list(stream_coco(path, size, **options))
    assert [len(block.images) for block in blocks] == [
        min(size, len(whole.images) - first) for first in range(0, len(whole.images), size)
    ]
    for number, block in enumerate(blocks):
        part = whole.select(images=np.arange(number * size, number * size + len(block.images)))
        assert contents(block) == contents(part)


def test_each_block_is_that_part_of_the_whole(folder, monkeypatch):
    for step in STEPS:
        monkeypatch.setattr(scanning, "BYTES_AT_ONCE", step)
        for size in (1, 3, 7, 100):
            same_tables(written(folder, several()), size)


def test_by_hand(folder):
    """Two images, three annotations; that of the second image comes first."""
    mark = {"category_id": 1, "bbox": [0, 0, 4, 2], "rater_id": "ann"}
    rows = [{"id": 5, "image_id": "b", "rater_id": "bob"}, {"id": 6, "image_id": "a"}, {"id": 7, "image_id": "b"}]
    content = {
        "annotations": [mark | row for row in rows],
        "images": [{"id": "a", "rater_list": ["ann"]}, {"id": "b", "rater_list": ["ann", "bob"]}],
        "categories": [{"id": 2, "name": "dog"}, {"id": 1, "name": "cat"}],
    }
    first, second = stream_coco(written(folder, content), 1)
    assert (first.id.tolist(), second.id.tolist()) == ([6], [5, 7])
    assert first.raters.tolist() == second.raters.tolist() == ["ann", "bob"]
    assert lines(first) == ["a= ? ann: ann cat box 0 0 4 2"]
    assert lines(second) == ["b= ? ann bob: bob cat box 0 0 4 2; ann cat box 0 0 4 2"]


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(table=tables(), size=st.integers(1, 3))
def test_any_table(table, size, folder):
    same_tables(write_coco(table, folder / "any.json"), size)


def test_crowds_sessions_lists_and_limits(folder):
    content = several(9)
    for number, annotation in enumerate(content["annotations"]):
        annotation["iscrowd"] = int(number % 5 == 0)
        annotation["session_id"] = number % 2
    for number, image in enumerate(content["images"]):
        image["rater_list"] = {"ann": [1, 0], "bob": [0, 1], "cid": [0, 1]} if number % 2 else None
        image["not_exhaustive_category_ids"] = [3] if number % 3 else []
    same_tables(written(folder, content), 2)
    same_tables(written(folder, content), 4, assigned="drew", not_exhaustive="exclude")
    content["info"] = {"rater_categories": {"ann": [3, 1]}, "raters": ["cid", "eve"]}
    same_tables(written(folder, content), 4)


def test_ids_that_were_replaced(folder):
    content = several(4, ids="source_id")
    for record in (*content["images"], *content["annotations"]):
        record["source_id"] = f"own {record['id']}"
    same_tables(written(folder, content), 3)
    content["annotations"][9]["source_id"] = content["annotations"][2]["source_id"]
    words = "annotations[9] (id 109): expected an id of its own; on_invalid='skip'"
    assert differing(in_twos, folder / "again", [(content, words)], "labels.json") == []


def test_without_ids_and_with_another_field(folder):
    content = several(5)
    for annotation in content["annotations"]:
        del annotation["id"]
        annotation["annotator"] = annotation.pop("rater_id")
        annotation["rater"] = "bob"
    content["annotations"][-1]["rater"] = "zoe"  # the field that comes first is read everywhere
    for image in content["images"]:
        del image["rater_list"]
    same_tables(written(folder, content), 2)


def test_left_out_packed_and_only_json_to_python(folder):
    content = several(5)
    content["annotations"][3] |= {"note": float("nan"), "segmentation": [[0, 0, 1]]}
    content["annotations"][4]["id"] = 2**70
    same_tables(written(folder, content), 2, on_invalid="skip")
    with pytest.raises(InputError, match=r"labels\.json: expected JSON, got Exceeds the limit"):
        list(stream_coco(write(folder, json.dumps(content).replace(str(2**70), "9" * 5_000), "labels.json")))
    data = b"\xef\xbb\xbf" + json.dumps(content).encode()
    same_tables(write(folder, data, "packed.json.gz"), 2, on_invalid="skip")


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    content=st.dictionaries(
        st.sampled_from(["images", "info", "x", '"images', "annotations"]),
        st.lists(st.dictionaries(st.text(max_size=4), junk, max_size=3), max_size=4) | junk,
        max_size=5,
    ),
    indent=st.sampled_from([None, 1]),
    step=st.sampled_from(STEPS),
)
def test_any_json_is_taken_apart_and_nothing_lost(content, indent, step, folder, monkeypatch):
    monkeypatch.setattr(scanning, "BYTES_AT_ONCE", step)
    path = write(folder, json.dumps(content, indent=indent), "any.json")
    rest = bytearray()
    found = {key: [] for key in LISTS}
    for batch in scan(path, LISTS, rest):
        records = [entry for entry in json.loads(batch.together) if isinstance(entry, (dict, list))]  # others: refused
        assert repr(records) == repr([json.loads(record) for record in batch.each()])
        found[batch.key] += map(json.loads, batch.each())
    left = json.loads(bytes(rest))
    assert list(left) == list(content)
    for key, value in content.items():
        if key not in LISTS or not isinstance(value, list):
            assert repr(left[key]) == repr(json.loads(json.dumps(value)))
        elif all(isinstance(entry, (dict, list)) for entry in value):
            assert repr(found[key]) == repr(json.loads(json.dumps(value)))
            assert all(entry == {} for entry in left[key])


CHANGES = [
    (lambda c: c["images"].append(c["images"][0]), "images[5] (id 4): expected an id of its own, got 4 a second"),
    (lambda c: c["images"].append([7]), "images[5]: expected an object, got [7]"),
    (lambda c: c["annotations"].append([7]), "annotations[30]: expected an object, got [7]"),
    (lambda c: c["annotations"].extend([[7], {"iscrowd": 1}]), "annotations[30]: expected an object, got [7]"),
    (lambda c: c["annotations"][8].update(id=102), "annotations[8] (id 102): expected an id of its own; on_invalid="),
    (lambda c: c["annotations"][8].update(image_id=99), "annotations[8] (id 108): expected an image of the source"),
    (lambda c: c["annotations"][8].update(bbox=[1, 2, 0, 0]), "annotations[8] (id 108): expected a box of positive"),
    (lambda c: c["images"][3].update(width=-1), "labels.json, images 3 to 4: 1 record cannot be used.\n  images[3]"),
]


def test_records_are_named_by_their_place_in_the_file(folder):
    cases = []
    for change, words in CHANGES:
        content = several(5)
        change(content)
        cases.append((content, words))
    assert differing(in_twos, folder / "changed", cases, "labels.json") == []


def test_options_are_checked_at_once(folder):
    with pytest.raises(InputError, match="images_per_block: expected a whole number of at least 1, got 0"):
        stream_coco(folder / "labels.json", 0)


def test_warnings_name_their_images(folder):
    content = several(4)
    for image in content["images"]:
        del image["rater_list"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        list(stream_coco(written(folder, content), 2))
    for warning, images in zip(caught, ("1 to 2", "3 to 4"), strict=True):
        assert warning.category is KalosWarning
        assert f"labels.json, images {images}: no rater_list on 2 of 2 images" in str(warning.message)
        assert warning.filename == __file__


@extended
def test_no_more_than_a_block_is_held(folder, monkeypatch):
    """Ten times the file takes about as many bytes."""
    monkeypatch.setattr(scanning, "BYTES_AT_ONCE", 1 << 16)
    most = []
    for images in (20, 100, 1000):  # initial imports do not belong to a block
        content = several(images)
        for annotation in content["annotations"]:
            annotation["segmentation"] *= 5
        path = written(folder, content)
        tracemalloc.start()
        assert sum(map(len, stream_coco(path, 20))) == 6 * images
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert most[2] < most[1] + path.stat().st_size / 20 < path.stat().st_size / 4


def test_a_long_record_is_not_looked_at_again_and_again(tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "BYTES_AT_ONCE", 100)
    looked_at = []
    brackets = scanning._brackets
    monkeypatch.setattr(
        scanning, "_brackets", lambda text, depth: (looked_at.append(len(text)), brackets(text, depth))[1]
    )
    rest = bytearray()
    path = write(tmp_path, f'{{"a": "{"x" * 50_000}", "images": [{{"id": 1}}{" " * 50_000}]}}', "labels.json")
    assert [batch.each() for batch in scan(path, ["images"], rest)] == [[b'{"id": 1}']]
    assert path.stat().st_size < sum(looked_at) < 4 * path.stat().st_size
    assert len(rest) > 100_000
