"""Which format a file is of."""

import gzip
import json
import re
from pathlib import Path

import pytest

from kalos_core import InputError, read_coco, readers
from kalos_core.readers import FORMATS, read_labels
from kalos_core.readers.formats import guess_format


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("train.csv", "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max\n", "vindr"),
        ("TRAIN.CSV", '\ufeff"x_min","y_min","x_max","y_max","rad_id","image_id"', "vindr"),
        ("train.csv", "image_id,rad_id,x,y,width,height", "boxes"),
        ("empty.csv", "", "boxes"),
        ("train.csv.gz", gzip.compress(b"photo,user,x,y,w,h", mtime=0), "boxes"),
        ("boxes.TSV", "photo\tuser", "boxes"),
        ("boxes.parquet", "PAR1", "boxes"),
        ("069.xml", '<?xml version="1.0"?><LidcReadMessage/>', "lidc"),
        ("ann.xml", "<annotations/>", "cvat"),
        ("export.json", '\ufeff [{"id": 1}]', "label_studio"),
        ("labels.json", '{"images": []}', "coco"),
        ("scans.json", '{"scans": []}', "lidc"),
        ("scans.json.gz", gzip.compress(b'{"info": "", "scans": []}', mtime=0), "lidc"),
        ("labels.json.gz", gzip.compress(b'{"images": []}', mtime=0), "coco"),
        ("broken.json.gz", b"no such thing", "coco"),
        ("anything", "", "coco"),
    ],
)
def test_by_its_name_and_its_beginning(tmp_path, name, content, expected):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert guess_format(path) == expected


def test_folders_by_what_lies_in_them(tmp_path):
    assert guess_format(tmp_path) == "cvat"  # whose reader says what it expected
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "1.xml").write_text("<IdriReadMessage/>")
    assert guess_format(tmp_path) == "lidc"
    (tmp_path / "a" / "b" / "1.xml").write_text("<annotations/>")
    assert guess_format(tmp_path) == "cvat"


def test_the_real_files(lvis_path, lidc_path):
    assert (guess_format(lvis_path), guess_format(lidc_path)) == ("coco", "lidc")


def test_options_go_to_the_reader(tmp_path):
    content = {
        "images": [{"id": 1}],
        "categories": [],
        "annotations": [{"image_id": 1, "rater_id": "ann", "said": "cat", "bbox": [0, 0, 1, 1]}],
    }
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(content))
    for labels in (content, path, str(path)):
        assert read_labels(labels, category_field="said").categories.tolist() == ["cat"]
    assert read_coco(content, category_field="said").categories.tolist() == ["cat"]
    with pytest.raises(InputError, match=r"format 'coco': expected options among category_field, .*, got sizes"):
        read_labels(path, sizes={})


@pytest.mark.parametrize("name", FORMATS)
def test_every_reader_says_what_it_cannot_read(tmp_path, name):
    path = tmp_path / "file"
    path.write_text("nothing of the kind")
    with pytest.raises(InputError, match="expected"):
        read_labels(path, format=name)


@pytest.mark.parametrize("labels", [3, None, ["a.json"]])
def test_what_is_no_path(labels):
    with pytest.raises(InputError, match="labels: expected a path, or the mapping a COCO file holds, got"):
        read_labels(labels)


def test_the_page_of_formats_names_every_format_and_every_reader():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    assert rows[0] == ["format", "file", "reader", "what is read", "who was assigned"]
    assert all(all(row[1:]) for row in rows)
    told = {row[0].strip("`"): row[2].strip("`") for row in rows[1:] if row[0]}
    assert told == {name: reader.__name__ for name, reader in FORMATS.items()}
    public = {name for name in readers.__all__ if name.startswith("read_")} - {"read_labels"}
    assert {name for row in rows[1:] for name in re.findall(r"\bread_\w+", row[2])} == public
