"""Folders of shards are lossless, are checked with clear messages, and are written completely or not at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow.parquet as parquet
import pytest

from kalos_core import Annotations, InputError, read_coco, write_coco
from kalos_core.distributed import open_shards, write_shards
from tests.distributed.equality import assert_same
from tests.distributed.scenes import in_order, limited, scene


def all_shapes():
    shapes = [
        (1, "ann", {"polygon": [[0, 0, 4, 0, 4, 4], [6, 6, 8, 6, 8, 8]]}),
        (1, "bob", {"mask": {"size": [3, 2], "counts": [1, 2, 3]}}),
        (2, "ann", {"keypoints": [1, 2, 2, 3, 4, 0]}),
        (2, "bob", {"polygon": [[0, 0, 1, 0, 1, 1]]}),
        (3, "bob", {"cuboid": [0, 0, 0, 1, 1, 1, 0, 0, 0.5]}),
    ]
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [1, 2, 3, 4], **shape}
        for image, rater, shape in shapes
    ]
    return Annotations.from_rows(rows, images=[1, 2, 3, 4], raters=["ann", "bob", "cid"], assigned="all")


def crowded():
    table = scene()
    return replace(table.select(rows=table.id % 5 > 0), crowd_regions=table.select(rows=table.id % 5 == 0))


TABLES = {
    "boxes": scene,
    "limits": limited,
    "shapes": all_shapes,
    "empty": lambda: Annotations.from_rows([], images=[3, "a"], raters=["ann", "bob"], assigned="all"),
    "text": lambda: scene(ids="text"),
    "crowds": crowded,
}


@pytest.mark.parametrize("size", [2, 1000])
@pytest.mark.parametrize("name", TABLES)
def test_shards_are_the_table_in_pieces(tmp_path, name, size):
    table = in_order(TABLES[name]())
    shards = open_shards(write_shards(table, tmp_path / "s", size).folder)
    assert (shards.images, shards.rows) == (len(table.images), len(table))
    for number, shard in enumerate(shards):
        assert_same(table.select(images=range(size * number, min(size * (number + 1), shards.images))), shard.read())
    empty = table.select(rows=[]).select()
    assert_same(replace(empty, crowd_regions=None), replace(shards.known, shapes=empty.shapes))


def test_ids_of_several_types_keep_their_order(tmp_path):
    table = in_order(scene(ids="mixed"))
    assert table.id.dtype == object
    order = sorted(range(len(table)), key=lambda row: (str(table.id[row]), type(table.id[row]).__name__))
    shards = write_shards(table, tmp_path / "s", 4)
    assert shards.vocabulary.ids == "mixed"
    assert np.concatenate([shard.read().id for shard in shards]).tolist() == np.argsort(order).tolist()
    rows = parquet.read_table(tmp_path / "s" / "annotations-00001.parquet")
    first = shards.files[0].rows
    texts, are_text = rows["id"].to_pylist(), rows["id_is_text"].to_pylist()
    ids = [value if text else int(value) for value, text in zip(texts, are_text, strict=True)]
    assert ids == table.id.tolist()[first : first + len(ids)]


def test_a_file_of_coco_is_read_a_shard_at_a_time(tmp_path, monkeypatch):
    table = in_order(scene())
    write_coco(table, tmp_path / "labels.json")
    monkeypatch.setattr("kalos_core.distributed.writing.read_labels", None)
    shards = write_shards(tmp_path / "labels.json", tmp_path / "s", 7)
    whole = write_shards(read_coco(tmp_path / "labels.json"), tmp_path / "whole", 7)
    assert shards.files == whole.files
    assert shards.vocabulary == whole.vocabulary
    for one, other in zip(shards, whole, strict=True):
        assert_same(one.read(), other.read())


def test_a_stream_holds_one_shard_at_a_time(tmp_path):
    table = in_order(scene(40))
    written = []

    def pieces():
        for image in range(40):
            written.append(len(list((tmp_path / "s").glob("annotations-*"))))
            yield table.select(images=[image])

    write_shards(pieces(), tmp_path / "s", 10)
    assert written == [image // 10 for image in range(40)]


# ---- errors ----


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"expected a new or an empty folder, got 1 files \(notes.txt\)"):
        write_shards(scene(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(InputError, match="expected a folder, got a file"):
        write_shards(scene(), tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_unfinished_work_leaves_nothing(tmp_path):
    table = in_order(scene())

    def broken():
        yield table.select(images=[0, 1, 2])
        raise RuntimeError("the disk is gone")

    (tmp_path / "there").mkdir()
    for folder in ("s", "there"):
        with pytest.raises(RuntimeError, match="the disk is gone"):
            write_shards(broken(), tmp_path / folder, 1)
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def test_a_disk_that_is_full_leaves_nothing(tmp_path, monkeypatch):
    from fsspec.implementations.local import LocalFileOpener

    written = LocalFileOpener.write

    def full(file, data):
        if "annotations-00001" in file.path:
            raise OSError(28, "No space left on device")
        return written(file, data)

    monkeypatch.setattr(LocalFileOpener, "write", full)
    with pytest.raises(InputError, match=r"annotations-00001\.parquet: expected a file to write to, got .*No space"):
        write_shards(scene(), tmp_path / "s", 5)
    assert not (tmp_path / "s").exists()
    with pytest.raises(InputError, match="expected a folder to write to, got"):
        write_shards(scene(), "/proc/none/s")


def volumes():
    contour = [{"z": 0, "points": [[0, 0], [4, 0], [4, 4]]}]
    rows = [{"image": 1, "rater": r, "category": "nodule", "volume": contour} for r in ("ann", "bob")]
    return Annotations.from_rows(rows, slice_positions={1: [0, 1]}, pixel_spacing={1: 1.0})


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: 5, "source: expected annotations, a path, .* got int"),
        (lambda: [5], "source: expected Annotations as entry 0, got int"),
        (list, "source: expected at least one image, got none"),
        (lambda: [scene(), scene()], "images: expected each entry once, got '000.jpg', .* again"),
        (lambda: [scene(), scene().select(raters=["cid", "bob"])], "raters: expected those of the first table, .* got"),
        (volumes, "shapes: expected kinds among box, polygon, mask, keypoints, cuboid to .*, got 'volume'"),
        (
            lambda: Annotations.from_rows([], images=[(1, 2)], raters=["a", "b"], assigned="all"),
            r"images: expected ids that are whole numbers or text, got \(1, 2\)",
        ),
    ],
)
def test_a_source_that_cannot_be_written_is_refused(tmp_path, source, message):
    with pytest.raises(InputError, match=message):
        write_shards(source(), tmp_path / "s")
    with pytest.raises(InputError, match="images_per_shard: expected a whole number of at least 1, got 0"):
        write_shards(scene(), tmp_path / "s", 0)
    assert not (tmp_path / "s").exists()


def test_a_folder_without_a_list_is_none_of_shards(tmp_path):
    for folder in (tmp_path, tmp_path / "none", __file__):
        with pytest.raises(InputError, match=r"expected a folder of shards, .* got no dataset\.json"):
            open_shards(folder)
    with pytest.raises(InputError, match="nowhere://a: expected a folder, or an address that fsspec opens"):
        open_shards("nowhere://a")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "{", "expected the list of shards as JSON, got unreadable content"),
        (lambda _: "[]", r"expected a list of 'kalos shards' of version 1, got \[\]"),
        (lambda text: text.replace('"version": 1', '"version": 2'), r"of version 1, got \['kalos shards', 2\]"),
        (lambda text: text.replace('"raters"', '"who"'), "expected a list by write_shards, got KeyError: 'raters'"),
        (lambda text: text.replace('"ids": "int"', '"ids": "x"'), "expected ids of int, text, mixed"),
        (lambda text: text.replace('"first_image": 9', '"first_image": 8'), "a shard from image 9 on, got .* 8 on"),
    ],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path, change, message):
    write_shards(scene(), tmp_path / "s", 9)
    file = tmp_path / "s" / "dataset.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(InputError, match=message):
        open_shards(tmp_path / "s")


def with_first(table, name, value):
    return table.set_column(table.column_names.index(name), name, [[value, *table[name].to_pylist()[1:]]])


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("annotations", None, "expected a file that dataset.json lists, got none"),
        ("annotations", b"PAR1", "expected a Parquet file, got one that cannot be read"),
        ("annotations", lambda table: table.slice(1), "annotations, as dataset.json says, got "),
        ("annotations", lambda table: table.drop_columns("rater"), "expected a column 'rater', got image, "),
        ("images", lambda table: table.drop_columns("number"), "expected a column 'number', got image, "),
        ("images", lambda table: table.take([1, 0, *range(2, 9)]), "number: expected 9 to 17, one after the other"),
        ("annotations", lambda table: with_first(table, "rater", "eve"), "rater: expected names that .* got 'eve'"),
        ("annotations", lambda table: with_first(table, "rater", None), "rater: expected a value in .* got none in 1"),
        ("annotations", lambda table: with_first(table, "image", 0), "image: expected numbers 9 to 17, got 0 to "),
        ("annotations", lambda table: table.set_column(0, "image", [["x"] * len(table)]), "image: expected whole num"),
    ],
)
def test_a_bad_shard_is_named(tmp_path, file, change, message):
    write_shards(scene(), tmp_path / "s", 9)
    path = tmp_path / "s" / f"{file}-00001.parquet"
    if change is None:
        path.unlink()
    elif isinstance(change, bytes):
        path.write_bytes(change)
    else:
        parquet.write_table(change(parquet.read_table(path)), path)
    _, shard, _ = open_shards(tmp_path / "s")
    with pytest.raises(InputError, match=rf"-00001.parquet: .*{message}"):
        shard.read()


def test_the_schema_equals_the_page(tmp_path):
    write_shards(all_shapes(), tmp_path / "s")
    rows = parquet.read_schema(tmp_path / "s" / "annotations-00000.parquet")
    images = parquet.read_schema(tmp_path / "s" / "images-00000.parquet")
    assert images.names[:3] == ["number", "image", "image_is_text"]
    assert str(rows.field("box").type) == "fixed_size_list<element: double>[4]"
    assert str(rows.field("polygon").type) == "list<element: list<element: double>>"
