"""Time and memory of every reader: cost per byte of a file, for few and for many records."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate, peak_memory
from kalos_core import readers

COPIES = (500, 5_000)
"""Number of copies of a record in the file."""

MOST_BYTES = 60.0
"""Maximum bytes of memory per byte of a file, including the result."""

Make = Callable[[int], dict[str, str]]
"""Number of records -> path -> content of each file."""

RATERS = ("ann", "bob")
OUTLINE = [[10, 10], [60, 10], [60, 40], [35, 50], [10, 40]]
FLAT = [side for point in OUTLINE for side in point]


def _coco(count: int) -> dict[str, str]:
    images = [
        {"id": n, "file_name": f"{n}.png", "width": 640, "height": 480, "rater_list": RATERS} for n in range(count)
    ]
    annotations = [
        {
            "id": 2 * n + r,
            "image_id": n,
            "category_id": 1,
            "rater_id": rater,
            "bbox": [10, 10, 50, 40],
            "segmentation": [FLAT],
        }
        for n in range(count)
        for r, rater in enumerate(RATERS)
    ]
    return {
        "f.json": json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "cat"}]})
    }


def _lines(header: str, *lines: str) -> Make:
    return lambda count: {
        "f.csv": "\n".join(
            [header, *(line.format(n=n, r=rater) for n in range(count) for rater in RATERS for line in lines)]
        )
    }


def _voc(count: int) -> dict[str, str]:
    box = (
        "<object><name>cat</name><bndbox><xmin>10</xmin><ymin>10</ymin><xmax>60</xmax><ymax>50</ymax></bndbox></object>"
    )
    size = "<size><width>640</width><height>480</height><depth>3</depth></size>"
    text = f"<annotation><filename>{{}}.png</filename>{size}{10 * box}</annotation>"
    return {f"{rater}/{n}.xml": text.format(n) for n in range(count // 10) for rater in RATERS}


def _yolo(count: int) -> dict[str, str]:
    texts = {f"{rater}/{n}.txt": 10 * "0 0.5 0.5 0.25 0.125\n" for n in range(count // 10) for rater in RATERS}
    sizes = "".join(f"{n},640,480\n" for n in range(count // 10))
    return texts | {"data.yaml": "names: [cat]\n", "sizes.csv": f"image,width,height\n{sizes}"}


def _dota(count: int) -> dict[str, str]:
    line = "10.0 10.0 60.0 10.0 60.0 40.0 10.0 40.0 plane 0\n"
    return {f"{rater}/{n}.txt": 10 * line for n in range(count // 10) for rater in RATERS}


def _cvat(count: int) -> dict[str, str]:
    box = '<box label="cat" xtl="10" ytl="10" xbr="60" ybr="50" occluded="0" z_order="0"/>'
    images = "".join(f'<image id="{n}" name="{n}.png" width="640" height="480">{box}</image>' for n in range(count))
    return {f"{rater}.xml": f"<annotations><version>1.1</version>{images}</annotations>" for rater in RATERS}


def _labelme(count: int) -> dict[str, str]:
    shape = {"label": "cat", "points": OUTLINE, "shape_type": "polygon", "flags": {}}
    about = {"version": "5", "imageData": None, "imageHeight": 480, "imageWidth": 640}
    return {
        f"{rater}/{n}.json": json.dumps({**about, "imagePath": f"{n}.png", "shapes": [shape] * 10})
        for n in range(count // 10)
        for rater in RATERS
    }


def _lidc(count: int) -> dict[str, str]:
    contour = {"z": 2.5, "incl": 1, "pts": OUTLINE}
    nodules = [{"nodule_id": f"nodule {n}", "contours": [contour]} for n in range(count)]
    sessions = [{"session": number, "nodules": nodules} for number in (1, 2)]
    scan = {"series_uid": "1.2.3", "slice_z": [0.0, 2.5, 5.0], "pixel_spacing": 0.7, "sessions": sessions}
    return {"f.json": json.dumps({"scans": [scan]})}


def _label_studio(count: int) -> dict[str, str]:
    place = {"x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["cat"]}
    result = {"type": "rectanglelabels", "from_name": "label", "to_name": "image", "value": place}
    result |= {"original_width": 640, "original_height": 480}
    done = [{"completed_by": number, "result": [result]} for number in (1, 2)]
    return {"f.json": json.dumps([{"id": n, "data": {"image": f"{n}.png"}, "annotations": done} for n in range(count)])}


def _via(count: int) -> dict[str, str]:
    place = {"name": "rect", "x": 10, "y": 10, "width": 50, "height": 40}
    region = {"shape_attributes": place, "region_attributes": {"class": "cat"}}
    files = {
        f"{n}.png": {"filename": f"{n}.png", "size": -1, "regions": [region], "file_attributes": {}}
        for n in range(count)
    }
    return {f"{rater}.json": json.dumps({"_via_img_metadata": files}) for rater in RATERS}


VINDR = "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max"
READERS: dict[str, tuple[Make, Callable[[Path], Any]]] = {
    "COCO": (_coco, lambda at: readers.read_coco(at / "f.json")),
    "streamed COCO": (_coco, lambda at: sum(1 for _ in readers.stream_coco(at / "f.json"))),
    "tables of boxes": (
        _lines("image,rater,category,x1,y1,x2,y2", "{n}.png,{r},cat,10,10,60,50"),
        lambda at: readers.read_boxes(at / "f.csv"),
    ),
    "VinDr": (_lines(VINDR, "{n},cat,0,{r},10.0,10.0,60.0,50.0"), lambda at: readers.read_vindr(at / "f.csv")),
    "Pascal VOC": (_voc, readers.read_voc),
    "YOLO": (_yolo, lambda at: readers.read_yolo(at, sizes=at / "sizes.csv")),
    "DOTA": (_dota, readers.read_dota),
    "CVAT": (_cvat, readers.read_cvat),
    "labelme": (_labelme, readers.read_labelme),
    "VIA": (_via, lambda at: readers.read_via(at, category_field="class")),
    "Label Studio": (_label_studio, lambda at: readers.read_label_studio(at / "f.json")),
    "LIDC-IDRI": (_lidc, lambda at: readers.read_lidc(at / "f.json")),
    "long tables of labels": (
        _lines("item,rater,label", "item {n},{r},cat"),
        lambda at: readers.read_long_labels(at / "f.csv"),
    ),
}
"""Format -> function that makes files of some records, and the call that reads their folder."""


def of_readers(repeats: int, copies: tuple[int, ...] = COPIES) -> tuple[Table, Table]:
    """Measure seconds per megabyte and bytes of memory per byte, for every reader and size."""
    seconds, memory = [], []
    for name, (make, read) in READERS.items():
        folders = {count: _written(make(count)) for count in copies}
        try:
            sizes = {count: sum(path.stat().st_size for path in at.rglob("*.*")) for count, at in folders.items()}
            subjects = [Subject(lambda at, read=read: read(at), lambda at=at: at) for at in folders.values()]
            took = [outcome.took for outcome in alternate(subjects, repeats)]
            rates = [each.times(1e6 / sizes[count]) for each, count in zip(took, copies, strict=True)]
            few, many = rates[0], rates[-1]
            seconds.append(Row(f"{name}, {sizes[copies[-1]] / 1e6:.1f} MB", many, few, 1.2))
            peak = peak_memory(subjects[-1]).per(sizes[copies[-1]])
            memory.append(Row(name, peak, Measured((MOST_BYTES,), "B"), 1.0))
        finally:
            for at in folders.values():
                shutil.rmtree(at)
    return (
        Table("seconds per megabyte", tuple(seconds), "many records", "few records", speedup=False),
        Table(
            "bytes of peak memory per byte of the file, including the result",
            tuple(memory),
            "measured",
            "limit",
            speedup=False,
            notes=("measured by Python's tracemalloc; files of two raters",),
        ),
    )


def _written(files: dict[str, str]) -> Path:
    folder = Path(tempfile.mkdtemp())
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
