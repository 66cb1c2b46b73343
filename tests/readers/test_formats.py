"""Detection of file formats, and the files in folders."""

import errno
import os
import re
from pathlib import Path

import pytest

from kalos_core import InputError, read_coco, readers
from kalos_core.files import files_below, not_a_file
from kalos_core.readers import FORMATS, read_labels
from kalos_core.readers.folders import rater_folders
from kalos_core.readers.formats import guess_format
from tests.readers.cases import differing, lines, write

GUESSED = [
    ("train.csv", "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max\n", "vindr"),
    ("TRAIN.CSV", '\ufeff"x_min","y_min","x_max","y_max","rad_id","image_id"', "vindr"),
    ("train.csv", "image_id,rad_id,x,y,width,height", "boxes"),
    ("train.csv.gz", "photo,user,x,y,w,h", "boxes"),
    ("pets.csv", "user_name,workflow_id,subject_ids,subject_data,annotations,metadata", "zooniverse"),
    ("069.xml", '<?xml version="1.0"?><LidcReadMessage/>', "lidc"),
    ("ann.xml", "<annotations/>", "cvat"),
    ("a.xml", "<annotation><folder/></annotation>", "voc"),
    ("task.zip", "PK", "cvat"),
    ("a.json", '{"version": "5.0", "flags": {}, "shapes": []}', "labelme"),
    ("task.json", '{"id": 1, "annotations": [{"id": 1, "completed_by": 1}]}', "label_studio"),
    ("export.json", '\ufeff [{"id": 1}]', "label_studio"),
    ("labels.json", '{"images": []}', "coco"),
    ("scans.json.gz", '{"info": "", "scans": []}', "lidc"),
    ("anything", "", "coco"),
]
FOLDERS = [
    ({"ann.json": '{"info": {}, "images": []}', "bob.json": '{"images": []}'}, "coco"),
    ({"images/a.jpg": "", "labels.json": '{"licenses": [], "categories": []}'}, "coco"),
    ({"ann/a.json": '{"shapes": []}', "ann/a.jpg": ""}, "labelme"),
    ({"ann.zip": "PK"}, "cvat"),
    ({"ann/labelTxt/P1.txt": "imagesource:GoogleEarth"}, "dota"),
    ({"ann.json": '{"info": {}, "categories": {"label": {"labels": []}}}'}, "datumaro"),
    ({"ann.csv": "filename,region_shape_attributes"}, "via"),
    ({"ann.json": '{"project": {"pid": "1"}}'}, "via"),
    ({"notes.json": '{"info": {}, "categories": []}', "classes.txt": "cat", "labels/a.txt": ""}, "yolo"),
    ({"a/b/1.xml": "<IdriReadMessage/>"}, "lidc"),
    ({"ann/a.xml": "<annotation><folder/></annotation>"}, "voc"),
]


def test_by_its_name_and_its_beginning(tmp_path):
    cases = [(write(tmp_path / str(n), text, name), expected) for n, (name, text, expected) in enumerate(GUESSED)]
    cases += [(write(tmp_path / f"folder {n}", files), expected) for n, (files, expected) in enumerate(FOLDERS)]
    wrong = [(path, found, expected) for path, expected in cases if (found := guess_format(path)) != expected]
    assert wrong == []
    absent = {"a.jpg": "pixels", "notes.txt": "", "t.csv": "give the table", "e.json": "give the JSON file"}
    for number, (name, words) in enumerate(absent.items()):
        folder = write(tmp_path / f"none {number}", {name: "[]"})
        with pytest.raises(InputError, match=rf"expected XML files .* got {Path(name).suffix} \({name}\).*{words}"):
            guess_format(folder)
    (tmp_path / "broken.json.gz").write_bytes(b"no such thing")
    assert guess_format(tmp_path / "broken.json.gz") == "coco"


def test_links_in_folders_are_followed_once(tmp_path):
    write(tmp_path, {"away/b.txt": "", "raters/ann/a.txt": "", "raters/ann/.c.txt": ""})
    raters = tmp_path / "raters"
    for link, target in (("ann/more", "../../away"), ("ann/again", ".."), ("again", ".."), ("ann/self", "self")):
        (raters / link).symlink_to(target)
    homes = rater_folders(raters, least=1)
    assert list(homes) == ["ann"]
    found = [path.relative_to(raters).as_posix() for path in files_below(homes["ann"])]
    assert found == ["ann/a.txt", "ann/more/b.txt", "ann/self"]
    for rater, other in (("ann", "bob"), ("bob", "ann")):
        (raters / rater).mkdir(exist_ok=True)
        (raters / rater / f"of_{other}").symlink_to(f"../{other}")
    assert len(files_below(raters)) == 6
    (raters / "cid").symlink_to("none")
    with pytest.raises(InputError, match="cid: expected the folder of a rater, or a file, got a broken link"):
        rater_folders(raters, least=1)
    (raters / "cid").unlink()
    os.mkfifo(raters / "cid")
    with pytest.raises(InputError, match="cid: expected the folder of a rater, or a file, got a pipe or a device"):
        rater_folders(raters, least=1)


def test_a_folder_that_cannot_be_listed_is_not_left_out(tmp_path, monkeypatch):
    write(tmp_path, {"ann/a.txt": "", "ann/locked/b.txt": ""})
    original = os.scandir

    def listed(folder):
        if Path(folder).name == "locked":
            raise PermissionError(errno.EACCES, "Permission denied")
        return original(folder)

    monkeypatch.setattr(os, "scandir", listed)
    with pytest.raises(InputError, match="locked: expected a folder that can be listed, got Permission denied"):
        read_labels(tmp_path, format="dota")


def test_a_folder_or_a_device_in_place_of_a_file_is_not_left_out(tmp_path):
    write(tmp_path, {"ann.xml": "<annotations><image/></annotations>", "bob.xml/a.txt": ""})
    with pytest.raises(InputError, match=r"bob\.xml: expected a readable CVAT export, got a folder"):
        read_labels(tmp_path, format="cvat")
    write(tmp_path / "yolo", {"ann/a.txt": "0 0.5 0.5 0.1 0.1"})
    (tmp_path / "yolo" / "data.yaml").symlink_to("/dev/null")
    with pytest.raises(InputError, match=r"data\.yaml: expected .* got a pipe or a dev"):
        read_labels(tmp_path / "yolo", format="yolo", sizes={"a": (9, 9)})


def test_entries_that_are_no_files_are_named(tmp_path):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    links = {"device": "/dev/null", "dangling": "none", "endless": "endless"}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    expected = {
        "folder": "a folder", "pipe": "a pipe or a device", "device": "a pipe or a device",
        "dangling": "a broken link", "endless": "a broken link", "none": "No such file or directory",
    }  # fmt: skip
    assert {name: not_a_file(tmp_path / name) for name in expected} == expected


def test_options_go_to_the_reader(tmp_path):
    said = {"image_id": 1, "rater_id": "ann", "said": "cat", "bbox": [0, 0, 1, 1]}
    content = {"images": [{"id": 1}], "categories": [], "annotations": [said]}
    path = write(tmp_path, content, "labels.json")
    expected = lines(read_coco(content, category_field="said"))
    words = "format 'coco': expected options among on_invalid, aliases, "
    cases = [(labels, {"category_field": "said"}, expected) for labels in (content, path, str(path))]
    assert differing(read_labels, None, [*cases, (path, {"sizes": {}}, words)]) == []


def test_every_reader_reports_unreadable_input(tmp_path):
    cases = [("nothing of the kind", {"format": name}, "expected") for name in FORMATS]
    assert differing(read_labels, tmp_path, cases, "file") == []
    words = "labels: expected a path, or the content of a COCO file as a mapping, got"
    assert differing(read_labels, None, [(labels, words) for labels in (3, None, ["a.json"])]) == []


def test_the_page_of_formats_names_every_format_and_every_reader():
    page = (
        (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8").partition("## All formats")[2]
    )
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    assert rows[0] == ["format", "file", "reader", "what is read", "who was assigned"]
    assert all(all(row[1:]) for row in rows)
    told = {row[0].strip("`"): row[2].strip("`") for row in rows[1:] if row[0]}
    assert told == {name: reader.__name__ for name, reader in FORMATS.items()}
    public = {name for name in readers.__all__ if name.startswith("read_")} - {"read_labels"}
    assert {name for row in rows[1:] for name in re.findall(r"\bread_\w+", row[2])} == public
