"""Time and memory of every reader: cost per byte of a file, for few and for many records."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image
from scipy.io import savemat

from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate, peak_memory
from kalos_core import readers

COPIES = (500, 5_000)
"""Number of copies of a record in the file."""

MOST_BYTES = 60.0
"""Maximum bytes of memory per byte of a file, including the result, see `size_of`."""

Files = dict[str, str | bytes]
"""Content of files by path."""

Make = Callable[[int], Files]
"""Number of records -> files."""

RATERS = ("ann", "bob")
OUTLINE = [[10, 10], [60, 10], [60, 40], [35, 50], [10, 40]]
FLAT = [side for point in OUTLINE for side in point]


def _coco(count: int) -> Files:
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


def _voc(count: int) -> Files:
    box = (
        "<object><name>cat</name><bndbox><xmin>10</xmin><ymin>10</ymin><xmax>60</xmax><ymax>50</ymax></bndbox></object>"
    )
    size = "<size><width>640</width><height>480</height><depth>3</depth></size>"
    text = f"<annotation><filename>{{}}.png</filename>{size}{10 * box}</annotation>"
    return {f"{rater}/{n}.xml": text.format(n) for n in range(count // 10) for rater in RATERS}


def _yolo(count: int) -> Files:
    texts = {f"{rater}/{n}.txt": 10 * "0 0.5 0.5 0.25 0.125\n" for n in range(count // 10) for rater in RATERS}
    sizes = "".join(f"{n},640,480\n" for n in range(count // 10))
    return texts | {"data.yaml": "names: [cat]\n", "sizes.csv": f"image,width,height\n{sizes}"}


def _dota(count: int) -> Files:
    line = "10.0 10.0 60.0 10.0 60.0 40.0 10.0 40.0 plane 0\n"
    return {f"{rater}/{n}.txt": 10 * line for n in range(count // 10) for rater in RATERS}


def _cvat(count: int) -> Files:
    box = '<box label="cat" xtl="10" ytl="10" xbr="60" ybr="50" occluded="0" z_order="0"/>'
    images = "".join(f'<image id="{n}" name="{n}.png" width="640" height="480">{box}</image>' for n in range(count))
    return {f"{rater}.xml": f"<annotations><version>1.1</version>{images}</annotations>" for rater in RATERS}


def _labelme(count: int) -> Files:
    shape = {"label": "cat", "points": OUTLINE, "shape_type": "polygon", "flags": {}}
    about = {"version": "5", "imageData": None, "imageHeight": 480, "imageWidth": 640}
    return {
        f"{rater}/{n}.json": json.dumps({**about, "imagePath": f"{n}.png", "shapes": [shape] * 10})
        for n in range(count // 10)
        for rater in RATERS
    }


def _lidc(count: int) -> Files:
    contour = {"z": 2.5, "incl": 1, "pts": OUTLINE}
    nodules = [{"nodule_id": f"nodule {n}", "contours": [contour]} for n in range(count)]
    sessions = [{"session": number, "nodules": nodules} for number in (1, 2)]
    scan = {"series_uid": "1.2.3", "slice_z": [0.0, 2.5, 5.0], "pixel_spacing": 0.7, "sessions": sessions}
    return {"f.json": json.dumps({"scans": [scan]})}


def _label_studio(count: int) -> Files:
    place = {"x": 10, "y": 10, "width": 20, "height": 20, "rotation": 0, "rectanglelabels": ["cat"]}
    result = {"type": "rectanglelabels", "from_name": "label", "to_name": "image", "value": place}
    result |= {"original_width": 640, "original_height": 480}
    done = [{"completed_by": number, "result": [result]} for number in (1, 2)]
    return {"f.json": json.dumps([{"id": n, "data": {"image": f"{n}.png"}, "annotations": done} for n in range(count)])}


def _via(count: int) -> Files:
    place = {"name": "rect", "x": 10, "y": 10, "width": 50, "height": 40}
    region = {"shape_attributes": place, "region_attributes": {"class": "cat"}}
    files = {
        f"{n}.png": {"filename": f"{n}.png", "size": -1, "regions": [region], "file_attributes": {}}
        for n in range(count)
    }
    return {f"{rater}.json": json.dumps({"_via_img_metadata": files}) for rater in RATERS}


def _datumaro(count: int) -> Files:
    box = {"id": 0, "type": "bbox", "attributes": {"occluded": False}, "group": 0, "label_id": 0, "bbox": [1, 2, 8, 6]}
    items = [
        {"id": f"{n}", "annotations": [box], "image": {"path": f"{n}.png", "size": [480, 640]}} for n in range(count)
    ]
    content = {"categories": {"label": {"labels": [{"name": "cat"}]}}, "items": items}
    return {f"{rater}.json": json.dumps(content) for rater in RATERS}


def _zooniverse(count: int) -> Files:
    size = {"clientWidth": 700, "clientHeight": 525, "naturalWidth": 1000, "naturalHeight": 750}
    about = json.dumps({"session": "e4be12", "user_language": "en", "subject_dimensions": [size]})
    mark = {"x": 205.5, "y": 97, "width": 60, "height": 40, "tool": 0, "frame": 0, "details": [], "tool_label": "cat"}
    drawn = json.dumps([{"task": "T0", "task_label": "Outline every cat", "value": [mark]}])
    file = io.StringIO()
    table = csv.writer(file)
    table.writerow(["user_name", "workflow_id", "metadata", "annotations", "subject_data", "subject_ids"])
    for n in range(count):
        subject = json.dumps({str(n): {"retired": None, "#image_name": f"{n}.png"}})
        table.writerows([rater, 1, about, drawn, subject, n] for rater in RATERS)
    return {"f.csv": file.getvalue()}


def _lidc_xml(count: int) -> Files:
    edges = "".join(f"<edgeMap><xCoord>{x}</xCoord><yCoord>{y}</yCoord></edgeMap>" for x, y in OUTLINE)
    rois = "".join(f"<roi><imageZposition>{z}</imageZposition>{edges}</roi>" for z in (0.0, 2.5))
    nodules = "".join(f"<unblindedReadNodule><noduleID>{n}</noduleID>{rois}</unblindedReadNodule>" for n in range(10))
    sessions = 2 * f"<readingSession>{nodules}</readingSession>"
    header = "<ResponseHeader><SeriesInstanceUid>1.{}</SeriesInstanceUid></ResponseHeader>"
    text = f"<LidcReadMessage>{header}{sessions}</LidcReadMessage>"
    return {f"{n}/f.xml": text.format(n) for n in range(count // 10)}


def _parquet(count: int) -> Files:
    rows = [(f"{n}.png", rater, "cat", 10, 10, 60, 50) for n in range(count) for rater in RATERS]
    return {
        "f.parquet": pd.DataFrame(rows, columns=["image", "rater", "category", "x1", "y1", "x2", "y2"]).to_parquet()
    }


PIXELS = np.tile(np.repeat(np.array([0, 1], np.uint8), 500), (500, 1))


def _masks(ending: str, pixels: np.ndarray = PIXELS, **more: str) -> Make:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, ending)
    return lambda count: (
        {f"{rater}/{n}.{ending}": file.getvalue() for n in range(-(-count // 500)) for rater in RATERS} | more
    )


def _bsds(count: int) -> Files:
    cells = np.empty((1, len(RATERS)), object)
    cells[0, :] = [{"Segmentation": PIXELS.astype(np.uint16) + 1, "Boundaries": PIXELS > 0} for _ in RATERS]
    file = io.BytesIO()
    savemat(file, {"groundTruth": cells})
    return {f"{n}.mat": file.getvalue() for n in range(-(-count // 500))}


def _packed(make: Make) -> Make:
    return lambda count: {
        f"{path}.gz": gzip.compress(text.encode() if isinstance(text, str) else text)
        for path, text in make(count).items()
    }


VINDR = "image_id,class_name,class_id,rad_id,x_min,y_min,x_max,y_max"
BOXES = _lines("image,rater,category,x1,y1,x2,y2", "{n}.png,{r},cat,10,10,60,50")
LABELS = _lines("item,rater,label", "item {n},{r},cat")
READERS: dict[str, tuple[Make, Callable[[Path], Any]]] = {
    "COCO": (_coco, lambda at: readers.read_coco(at / "f.json")),
    "streamed COCO": (_coco, lambda at: sum(1 for _ in readers.stream_coco(at / "f.json"))),
    "packed COCO": (_packed(_coco), lambda at: readers.read_coco(at / "f.json.gz")),
    "packed and streamed COCO": (_packed(_coco), lambda at: sum(1 for _ in readers.stream_coco(at / "f.json.gz"))),
    "tables of boxes": (BOXES, lambda at: readers.read_boxes(at / "f.csv")),
    "packed tables of boxes": (_packed(BOXES), lambda at: readers.read_boxes(at / "f.csv.gz")),
    "tables of boxes in Parquet": (_parquet, lambda at: readers.read_boxes(at / "f.parquet")),
    "VinDr": (_lines(VINDR, "{n},cat,0,{r},10.0,10.0,60.0,50.0"), lambda at: readers.read_vindr(at / "f.csv")),
    "Pascal VOC": (_voc, readers.read_voc),
    "YOLO": (_yolo, lambda at: readers.read_yolo(at, sizes=at / "sizes.csv")),
    "DOTA": (_dota, readers.read_dota),
    "CVAT": (_cvat, readers.read_cvat),
    "labelme": (_labelme, readers.read_labelme),
    "VIA": (_via, lambda at: readers.read_via(at, category_field="class")),
    "Label Studio": (_label_studio, lambda at: readers.read_label_studio(at / "f.json")),
    "LIDC-IDRI": (_lidc, lambda at: readers.read_lidc(at / "f.json")),
    "LIDC-IDRI in XML": (_lidc_xml, readers.read_lidc),
    "Datumaro": (_datumaro, readers.read_datumaro),
    "Zooniverse": (_zooniverse, lambda at: readers.read_zooniverse(at / "f.csv")),
    "long tables of labels": (LABELS, lambda at: readers.read_long_labels(at / "f.csv")),
    "packed long tables of labels": (_packed(LABELS), lambda at: readers.read_long_labels(at / "f.csv.gz")),
    "wide tables of labels": (
        lambda count: {"f.csv": "item,ann,bob\n" + "".join(f"item {n},cat,dog\n" for n in range(count))},
        lambda at: readers.read_wide_labels(at / "f.csv"),
    ),
    "masks in PNG": (_masks("png"), lambda at: list(readers.read_mask_folders(at).stacks())),
    "masks in TIFF": (_masks("tiff"), lambda at: list(readers.read_mask_folders(at).stacks())),
    "label maps in PNG": (_masks("png"), lambda at: list(readers.read_mask_folders(at).label_stacks())),
    "label maps in colours": (
        _masks("png", np.stack([PIXELS] * 3, -1), **{"labelmap.txt": "background:0,0,0::\ncat:1,1,1::\n"}),
        lambda at: list(readers.read_mask_folders(at).label_stacks()),
    ),
    "BSDS500": (_bsds, lambda at: list(readers.read_bsds(at).label_stacks())),
}
"""Format -> function that makes files of some records, and the call that reads their folder."""


def of_readers(repeats: int, copies: tuple[int, ...] = COPIES) -> tuple[Table, Table]:
    """Measure seconds per megabyte and bytes of memory per byte, for every reader and size."""
    seconds, memory = [], []
    for name, (make, read) in READERS.items():
        folders = {count: _written(make(count)) for count in copies}
        try:
            sizes = {count: sum(map(size_of, at.rglob("*.*"))) for count, at in folders.items()}
            subjects = [Subject(lambda at, read=read: read(at), lambda at=at: at) for at in folders.values()]
            took = [outcome.took for outcome in alternate(subjects, repeats)]
            rates = [each.times(1e6 / sizes[count]) for each, count in zip(took, copies, strict=True)]
            few, many = rates[0], rates[-1]
            seconds.append(Row(f"{name}, {sizes[copies[-1]] / 1e6:.1f} MB", many, few, 1.2))
            peak = _peak(subjects[-1]).per(sizes[copies[-1]])
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
            notes=(
                "measured by Python's tracemalloc and by pyarrow; files of two raters",
                "packed files count with the bytes that they unpack to; Parquet: 8 bytes per cell; masks: 1 per pixel",
            ),
        ),
    )


def _peak(subject: Subject) -> Measured:
    """Return `peak_memory` with that of pyarrow, which Python does not count."""
    import pyarrow as pa  # an optional package

    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        peak = peak_memory(subject)
    finally:
        pa.set_memory_pool(usual)
    return Measured((peak.median + counted.max_memory(),), "B")


def size_of(path: Path) -> int:
    """Bytes that a file holds: those it unpacks to, of Parquet 8 for each cell, of a mask one for each pixel."""
    if path.suffix == ".gz":
        return len(gzip.decompress(path.read_bytes()))
    if path.suffix == ".parquet":
        from pyarrow.parquet import read_metadata  # an optional package

        about = read_metadata(path)
        return 8 * about.num_rows * about.num_columns
    if path.suffix in (".png", ".tiff"):
        with Image.open(path) as image:
            return image.width * image.height
    return path.stat().st_size


def _written(files: Files) -> Path:
    folder = Path(tempfile.mkdtemp())
    for name, content in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder
