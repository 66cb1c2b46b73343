"""Files of every format with changed values or bytes, and the calls that read them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from kalos_core import readers
from tests.fuzz import values as v
from tests.fuzz.harness import Target
from tests.readers import (
    spoiling,
    test_box_tables,
    test_bsds,
    test_cvat,
    test_label_studio,
    test_labelme,
    test_lidc,
    test_via,
    test_voc,
    test_yolo,
)
from tests.readers import test_coco_json as coco
from tests.readers import test_vindr as vindr
from tests.readers import test_zooniverse as zooniverse
from tests.readers.cases import as_bytes

Content = str | bytes | list[Any] | dict[str, Any]
"""A table or XML, bytes, or a value to write as JSON."""


def _zooniverse() -> str:
    row = zooniverse.row(annotations=[zooniverse.drawn(zooniverse.RECTANGLE), zooniverse.QUESTION])
    return pd.DataFrame([row, row | {"user_name": "bob"}]).to_csv(index=False)


TASKS = [test_label_studio.task(test_label_studio.by(n, test_label_studio.BOX)) for n in (1, 2)]
BOXES = pd.DataFrame(
    [{"image": "a", "rater": "ann", "category": "cat", "x1": 0.0, "y1": 0.0, "x2": 5.0, "y2": 5.0}] * 3
)

IMAGES = (("ann", "png"), ("bob", "tif"))

FILES: dict[str, tuple[dict[str, Content], Callable[[Path], Any]]] = {
    "COCO": ({"f.json": coco.full_document()}, lambda at: readers.read_coco(at / "f.json")),
    "packed COCO": (
        {"f.json.gz": gzip.compress(json.dumps(coco.full_document()).encode(), mtime=0)},
        lambda at: readers.read_labels(at / "f.json.gz", on_invalid="skip"),
    ),
    "streamed COCO": (
        {"f.json": coco.full_document()},
        lambda at: list(readers.stream_coco(at / "f.json")),
    ),
    "VinDr": ({"f.csv": vindr.TABLE}, lambda at: readers.read_vindr(at / "f.csv")),
    "boxes": ({"f.csv": test_box_tables.TENSORFLOW}, lambda at: readers.read_boxes(at / "f.csv")),
    "Parquet": (
        {"f.parquet": BOXES.to_parquet()},
        lambda at: readers.read_boxes(at / "f.parquet"),
    ),
    "Pascal VOC": ({"ann/a.xml": test_voc.LABELIMG, "bob/b.xml": test_voc.POLYGON}, readers.read_voc),
    "YOLO": (
        {
            "ann/9.txt": test_yolo.DETECTION,
            "bob/9.txt": test_yolo.SEGMENTATION.splitlines()[0],
            "data.yaml": test_yolo.DATA_YAML,
        },
        lambda at: readers.read_yolo(at, sizes={"9": (640, 480)}),
    ),
    "CVAT": (
        {"ann.xml": test_cvat.export(test_cvat.BOX), "bob.xml": test_cvat.export(test_cvat.MASK, test_cvat.SKELETON)},
        readers.read_cvat,
    ),
    "labelme": ({"ann/a.json": test_labelme.labelme(test_labelme.MASK, *test_labelme.TRIANGLES)}, readers.read_labelme),
    "VIA": ({"f.json": test_via.via(test_via.RECT, test_via.TRIANGLE)}, readers.read_via),
    "Label Studio": ({"f.json": TASKS}, lambda at: readers.read_label_studio(at / "f.json")),
    "LIDC": ({"f.json": {"scans": [test_lidc.scan()]}}, lambda at: readers.read_lidc(at / "f.json")),
    "LIDC's XML": ({"f.xml": test_lidc.xml()}, readers.read_lidc),
    "Zooniverse": ({"f.csv": _zooniverse()}, lambda at: readers.read_zooniverse(at / "f.csv")),
    "long labels": (
        {"f.csv": "item,rater,label\na,ann,x\na,bob,y\nb,ann,x\n"},
        lambda at: readers.read_long_labels(at / "f.csv"),
    ),
    "wide labels": ({"f.csv": "item,ann,bob\na,x,y\nb,x,\n"}, lambda at: readers.read_wide_labels(at / "f.csv")),
    "masks": (
        {f"{rater}/a.{end}": as_bytes(np.array(v.MASKS[rater], np.uint8), f".{end}") for rater, end in IMAGES},
        lambda at: list(readers.read_mask_folders(at).stacks()),
    ),
    "BSDS": (
        {"a.mat": test_bsds.regions(test_bsds.LEFT_RIGHT, test_bsds.THREE)},
        lambda at: list(readers.read_bsds(at).label_stacks()),
    ),
}
"""Format -> path -> valid content, and the call that reads the folder."""


@st.composite
def changed(draw: st.DrawFn, files: dict[str, Content]) -> dict[str, bytes]:
    """Draw files of which one has another value, other bytes, or both."""
    name = draw(st.sampled_from(sorted(files)))
    written = {each: as_bytes(content) for each, content in files.items()}
    if draw(st.booleans()):
        written[name] = as_bytes(draw(_spoiled(files[name])))
    if isinstance(files[name], bytes) or not draw(st.integers(0, 3)):
        written[name] = draw(spoiling.spoiled_bytes(written[name]))
    return written


def _spoiled(content: Content) -> st.SearchStrategy[Content]:
    if isinstance(content, bytes):
        return st.just(content)
    if isinstance(content, str):
        return spoiling.spoiled_xml(content) if content.lstrip().startswith("<") else spoiling.spoiled_lines(content)
    return spoiling.spoiled(content)


def _reader(read: Callable[[Path], Any]) -> Callable[..., Any]:
    def call(files: dict[str, bytes]) -> Any:
        with TemporaryDirectory() as folder:
            for name, content in files.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            return read(Path(folder))

    return call


READERS: dict[str, Target] = {
    f"a file of {name}": Target(_reader(read), st.builds(dict, files=changed(files)))
    for name, (files, read) in FILES.items()
}
