"""A folder of shards holds what it was written from, says what is wrong with it, and is there whole or not at all."""

from __future__ import annotations

import json
from dataclasses import replace

import fsspec
import numpy as np
import pyarrow.parquet as parquet
import pytest

from kalos_core import Annotations, InputError, read_coco, write_coco
from kalos_core.distributed import open_shards, write_shards
from kalos_core.shapes.joining import column_arrays
from tests.distributed.scenes import limited, scene

NAMES = ("images", "files", "image_size", "assigned", "crowds", "skipped")
VOCABULARIES = ("raters", "person", "session", "categories", "assigned_categories", "raters_are_local")


def assert_same(one, other):
    """Two tables hold the same, row for row."""
    for name in (*NAMES, *VOCABULARIES, "image", "rater", "category", "excluded"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.shapes.keys() == other.shapes.keys()
    for kind, column in one.shapes.items():
        for name, array in column_arrays(column).items():
            read = column_arrays(other.shapes[kind])[name]
            np.testing.assert_array_equal(read, array, err_msg=f"{kind}.{name}")
            assert read.dtype == array.dtype
    assert (one.crowd_regions is None) == (other.crowd_regions is None)
    if one.crowd_regions is not None:
        assert_same(one.crowd_regions, other.crowd_regions)


def by_image(table):
    """The same table with the rows of an image side by side, as shards have them."""
    crowds = table.crowd_regions
    sorted_ = table.select(rows=np.argsort(table.image, kind="stable"))
    if crowds is None:
        return sorted_
    return replace(sorted_, crowd_regions=crowds.select(rows=np.argsort(crowds.image, kind="stable")))


def all_shapes():
    box = {"category": "cat", "box": [1, 2, 3, 4]}
    rows = [
        {**box, "image": 1, "rater": "ann", "polygon": [[0, 0, 4, 0, 4, 4], [6, 6, 8, 6, 8, 8]]},
        {**box, "image": 1, "rater": "bob", "mask": {"size": [3, 2], "counts": [1, 2, 3]}},
        {**box, "image": 2, "rater": "ann", "keypoints": [1, 2, 2, 3, 4, 0]},
        {**box, "image": 2, "rater": "bob", "polygon": [[0, 0, 1, 0, 1, 1]]},
        {**box, "image": 3, "rater": "bob", "cuboid": [0, 0, 0, 1, 1, 1, 0, 0, 0.5]},
    ]
    return Annotations.from_rows(rows, images=[1, 2, 3, 4], raters=["ann", "bob", "cid"], assigned="all")


TABLES = {
    "boxes": scene,
    "limits": limited,
    "shapes": all_shapes,
    "empty": lambda: Annotations.from_rows([], images=[3, "a"], raters=["ann", "bob"], assigned="all"),
    "text": lambda: scene(ids="text"),
}


@pytest.mark.parametrize("name", TABLES)
def test_one_shard_is_the_table(tmp_path, name):
    table = TABLES[name]()
    (shard,) = write_shards(table, tmp_path / "s", 1000)
    read = shard.read()
    assert_same(by_image(table), read)
    np.testing.assert_array_equal(by_image(table).id.tolist(), read.id.tolist())


@pytest.mark.parametrize("name", TABLES)
def test_shards_are_the_table_in_pieces(tmp_path, name):
    table = by_image(TABLES[name]())
    shards = open_shards(write_shards(table, tmp_path / "s", 2).folder)
    assert shards.images == len(table.images)
    assert shards.annotations == len(table)
    for number, shard in enumerate(shards):
        assert_same(table.select(images=np.arange(len(table.images))[2 * number : 2 * number + 2]), shard.read())
    assert_same(
        table.select(rows=[]).select(), replace(shards.without_annotations(), shapes=table.select(rows=[]).shapes)
    )


def test_ids_of_several_types_keep_their_order(tmp_path):
    table = scene(ids="mixed")
    assert table.id.dtype == object
    order = sorted(range(len(table)), key=lambda row: (str(table.id[row]), type(table.id[row]).__name__))
    place = dict(zip(order, range(len(table)), strict=True))
    by_rows = np.argsort(table.image, kind="stable")
    shards = write_shards(table, tmp_path / "s", 4)
    assert shards.vocabulary.ids == "mixed"
    found = np.concatenate([shard.read().id for shard in shards])
    assert found.tolist() == [place[row] for row in by_rows.tolist()]
    rows = parquet.read_table(tmp_path / "s" / "annotations-00001.parquet")
    first = shards.files[0].annotations
    ids = [
        value if text else int(value)
        for value, text in zip(rows["id"].to_pylist(), rows["id_is_text"].to_pylist(), strict=True)
    ]
    assert ids == table.id[by_rows].tolist()[first : first + len(ids)]


def test_crowd_regions_stay(tmp_path):
    coco = {
        "images": [{"id": n, "rater_list": ["ann", "bob"]} for n in (1, 2, 3)],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": n, "image_id": image, "category_id": 1, "rater": rater, "bbox": [0, 0, 9, 9], "iscrowd": crowd}
            for n, (image, rater, crowd) in enumerate(
                [(1, "ann", 0), (1, "bob", 1), (2, "bob", 0), (3, "ann", 1), (3, "bob", 0)]
            )
        ],
    }
    file = tmp_path / "labels.json"
    file.write_text(json.dumps(coco))
    with pytest.warns(UserWarning, match="crowd"):
        shards = write_shards(file, tmp_path / "s", 1)
    assert [files.crowds for files in shards.files] == [1, 0, 1]
    regions = [shard.read().crowd_regions for shard in shards]
    assert [None if found is None else found.raters[found.rater].tolist() for found in regions] == [
        ["bob"],
        None,
        ["ann"],
    ]


def test_a_file_of_coco_is_read_a_shard_at_a_time(tmp_path, monkeypatch):
    table = by_image(scene())
    write_coco(table, tmp_path / "labels.json")
    monkeypatch.setattr("kalos_core.distributed.writing.read_labels", None)
    shards = write_shards(tmp_path / "labels.json", tmp_path / "s", 7)
    whole = write_shards(read_coco(tmp_path / "labels.json"), tmp_path / "whole", 7)
    assert shards.files == whole.files
    assert shards.vocabulary == whole.vocabulary
    for one, other in zip(shards, whole, strict=True):
        assert_same(one.read(), other.read())


def test_a_file_of_coco_and_a_table_of_boxes_are_read(tmp_path):
    table = scene()
    write_coco(table, tmp_path / "labels.json")
    read = write_shards(tmp_path / "labels.json", tmp_path / "coco", 10)
    assert (read.images, read.annotations) == (len(table.images), len(table))
    lines = ["image,rater,category,x,y,width,height", "a,ann,cat,0,0,9,9", "a,bob,cat,0,0,9,9"]
    (tmp_path / "boxes.csv").write_text("\n".join(lines))
    (shard,) = write_shards(tmp_path / "boxes.csv", tmp_path / "boxes")
    assert shard.read().raters.tolist() == ["ann", "bob"]


def test_tables_one_after_the_other_are_one_data_set(tmp_path):
    table = by_image(scene())
    pieces = [table.select(images=part) for part in np.array_split(np.arange(len(table.images)), 6)]
    stream = write_shards(iter(pieces), tmp_path / "stream", 5)
    whole = write_shards(table, tmp_path / "whole", 5)
    assert stream.files == whole.files
    assert stream.vocabulary == whole.vocabulary
    for one, other in zip(stream, whole, strict=True):
        assert_same(one.read(), other.read())


def test_a_stream_holds_one_shard_at_a_time(tmp_path):
    table = by_image(scene(40))
    taken, written = [], []
    folder = tmp_path / "s"

    def pieces():
        for image in range(40):
            taken.append(image)
            written.append(len(list(folder.glob("annotations-*"))))
            yield table.select(images=[image])

    write_shards(pieces(), folder, 10)
    assert written == [image // 10 for image in range(40)]


def test_any_address_of_fsspec():
    table = scene()
    shards = write_shards(table, "memory://study/shards", 9)
    try:
        assert sorted(
            path.rsplit("/", 1)[-1] for path in fsspec.filesystem("memory").ls("/study/shards", detail=False)
        ) == [
            *(f"annotations-{n:05}.parquet" for n in range(3)),
            "dataset.json",
            *(f"images-{n:05}.parquet" for n in range(3)),
        ]
        assert_same(by_image(table).select(images=range(9)), next(iter(open_shards("memory://study/shards"))).read())
        assert len(shards) == 3
    finally:
        fsspec.filesystem("memory").rm("/study", recursive=True)


# ---- what is refused ----


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"expected a new or an empty folder, got 1 files \(notes.txt\)"):
        write_shards(scene(), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    file = tmp_path / "notes.txt"
    with pytest.raises(InputError, match="expected a folder, got a file"):
        write_shards(scene(), file)
    assert file.read_text() == "mine"


def test_what_cannot_be_finished_leaves_nothing(tmp_path):
    table = by_image(scene())

    def broken():
        yield table.select(images=[0, 1, 2])
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        write_shards(broken(), tmp_path / "s", 1)
    assert not (tmp_path / "s").exists()
    (tmp_path / "there").mkdir()
    with pytest.raises(RuntimeError, match="the disk is gone"):
        write_shards(broken(), tmp_path / "there", 1)
    assert list((tmp_path / "there").iterdir()) == []


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


def local(table, rater):
    return replace(table, raters=np.array([*table.raters[:2], rater], object), person=[], session=[])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (lambda: 5, "source: expected annotations, a path, .* got int"),
        (lambda: [5], "source: expected Annotations as entry 0, got int"),
        (list, "source: expected at least one image, got none"),
        (lambda: [scene(), scene()], "images: expected each entry once, got '000.jpg', .* again"),
        (
            lambda: [scene(2), local(scene(3, 1), "eve")],
            "raters: expected those of the first table, .* got cid, ann, eve",
        ),
        (
            volumes,
            "shapes: expected kinds among box, polygon, mask, keypoints, cuboid to write shards of, got 'volume'",
        ),
        (
            lambda: Annotations.from_rows([], images=[(1, 2)], raters=["a", "b"], assigned="all"),
            r"images: expected ids that are whole numbers or text, got \(1, 2\)",
        ),
    ],
)
def test_a_source_that_cannot_be_written_is_refused(tmp_path, source, message):
    with pytest.raises(InputError, match=message):
        write_shards(source(), tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_images_per_shard_is_a_whole_number(tmp_path):
    with pytest.raises(InputError, match="images_per_shard: expected a whole number of at least 1, got 0"):
        write_shards(scene(), tmp_path / "s", 0)


def test_a_folder_without_a_list_is_none_of_shards(tmp_path):
    for folder in (tmp_path, tmp_path / "none", __file__):
        with pytest.raises(
            InputError, match=r"expected a folder of shards, as write_shards makes it, got no dataset\.json"
        ):
            open_shards(folder)
    with pytest.raises(InputError, match="nowhere://a: expected a folder, or an address that fsspec opens"):
        open_shards("nowhere://a")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: "{", "expected the list of shards as JSON, got what cannot be read"),
        (lambda _: "[]", r"expected a list of 'kalos shards' of version 1, got \[\]"),
        (lambda text: text.replace('"version": 1', '"version": 2'), r"of version 1, got \['kalos shards', 2\]"),
        (
            lambda text: text.replace('"raters"', '"people"'),
            "expected what write_shards writes, got KeyError: 'raters'",
        ),
        (lambda text: text.replace('"ids": "int"', '"ids": "x"'), "expected ids of int, text, mixed"),
        (
            lambda text: text.replace('"first_image": 9', '"first_image": 8'),
            "expected a shard from image 9 on, got .* 8 on",
        ),
    ],
)
def test_a_list_that_does_not_fit_is_refused(tmp_path, change, message):
    write_shards(scene(), tmp_path / "s", 9)
    file = tmp_path / "s" / "dataset.json"
    file.write_text(change(file.read_text()))
    with pytest.raises(InputError, match=message):
        open_shards(tmp_path / "s")


def rewritten(file, change):
    parquet.write_table(change(parquet.read_table(file)), file)


def renamed(table, old, new):
    return table.rename_columns([new if name == old else name for name in table.column_names])


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("annotations", None, "expected a file, as dataset.json says, got none"),
        ("annotations", b"PAR1", "expected a Parquet file, got one that cannot be read"),
        ("annotations", lambda table: table.slice(1), "annotations, as dataset.json says, got "),
        ("annotations", lambda table: renamed(table, "rater", "who"), "expected a column 'rater', got image, who"),
        ("annotations", lambda table: renamed(table, "image", "id_"), "expected a column 'image'"),
        ("images", lambda table: renamed(table, "number", "n"), "expected a column 'number', got n, image"),
        ("images", lambda table: table.take([1, 0, *range(2, 9)]), "number: expected 9 to 17, one after the other"),
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
        rewritten(path, change)
    _, shard, _ = open_shards(tmp_path / "s")
    with pytest.raises(InputError, match=rf"-00001.parquet: .*{message}"):
        shard.read()


def test_values_that_the_data_set_does_not_have_are_refused(tmp_path):
    write_shards(scene(), tmp_path / "s", 9)
    path = tmp_path / "s" / "annotations-00002.parquet"
    table = parquet.read_table(path)
    names = table["rater"].to_pylist()
    at = table.column_names.index("rater")
    parquet.write_table(table.set_column(at, "rater", [["eve", *names[1:]]]), path)
    shard = list(open_shards(tmp_path / "s"))[2]
    with pytest.raises(
        InputError, match=r"annotations-00002\.parquet: rater: expected names that the data set has, got 'eve'"
    ):
        shard.read()
    parquet.write_table(table.set_column(0, "image", [[0] * len(table)]), path)
    with pytest.raises(InputError, match="image: expected numbers 18 to 22, got 0 to 0"):
        shard.read()
    parquet.write_table(table.set_column(at, "rater", [[None, *names[1:]]]), path)
    with pytest.raises(InputError, match="rater: expected a value in every row, got none in 1"):
        shard.read()
    parquet.write_table(table.set_column(0, "image", [["x"] * len(table)]), path)
    with pytest.raises(InputError, match="image: expected whole numbers, got string"):
        shard.read()


def test_the_schema_is_what_the_page_says(tmp_path):
    write_shards(all_shapes(), tmp_path / "s")
    rows = parquet.read_schema(tmp_path / "s" / "annotations-00000.parquet")
    images = parquet.read_schema(tmp_path / "s" / "images-00000.parquet")
    assert images.names[:3] == ["number", "image", "image_is_text"]
    assert str(rows.field("box").type) == "fixed_size_list<element: double>[4]"
    assert str(rows.field("polygon").type) == "list<element: list<element: double>>"
