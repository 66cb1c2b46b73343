"""Modified mAP by pycocotools, with one rater's annotations as ground truth and another's as detections."""

from __future__ import annotations

import contextlib
import io
from typing import Any

import numpy as np
from pycocotools import mask as coco_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from kalos_core import Annotations


def coco_precision(
    annotations: Annotations,
    truth: int,
    found: int,
    thresholds: Any,
    kind: str = "box",
    limits: tuple[float, float] = (0, 1e10),
) -> np.ndarray:
    """Return (T, K) average precision of each class; NaN if the ground truth has no annotation of it."""
    rows = np.arange(len(annotations))
    askable = annotations.assigned_per_annotation
    both = annotations.assigned[:, [truth, found]].all(axis=1)[annotations.image]
    sides = [rows[both & (annotations.rater == own) & askable[:, truth] & askable[:, found]] for own in (truth, found)]
    images = np.flatnonzero(annotations.assigned[:, [truth, found]].all(axis=1))
    return evaluate(annotations, sides[0], annotations, sides[1], np.full(len(sides[1]), 0.99), images, thresholds,
                    kind, limits, crowd_rows(annotations, truth))  # fmt: skip


def crowd_rows(annotations: Annotations, rater: int) -> np.ndarray:
    """Return the rows of the crowd regions of a rater."""
    crowds = annotations.crowd_regions
    return np.zeros(0, int) if crowds is None else np.flatnonzero(crowds.rater == rater)


def evaluate(
    annotations: Annotations,
    marks: np.ndarray,
    predictions: Annotations,
    detections: np.ndarray,
    scores: np.ndarray,
    images: np.ndarray,
    thresholds: Any,
    kind: str = "box",
    limits: tuple[float, float] = (0, 1e10),
    crowds: np.ndarray = np.zeros(0, int),  # noqa: B008
) -> np.ndarray:
    """Evaluate rows `marks` of a table as ground truth, and rows `detections` of another with the same vocabularies.

    `crowds` are rows of the crowd regions of the first table.

    Ids are counted from 1, because pycocotools treats a match with annotation 0 as none.
    """
    truth, found = (
        _coco(annotations, images, table, rows, kind)
        for table, rows in ((annotations, marks), (predictions, detections))
    )
    if len(crowds):
        regions = _coco(annotations, images, annotations.crowd_regions, crowds, kind).dataset["annotations"]
        known = {image["id"] for image in truth.dataset["images"]}
        truth.dataset["annotations"] += [
            {**record, "id": len(marks) + record["id"], "iscrowd": 1}
            for record in regions
            if record["image_id"] in known
        ]
    for record, score in zip(found.dataset["annotations"], scores.tolist(), strict=True):
        record["score"] = score
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        found.createIndex()
        run = COCOeval(truth, found, "bbox" if kind == "box" else "segm")
        run.params.iouThrs = np.asarray(thresholds, float)
        run.params.maxDets = [1000]
        run.params.areaRng, run.params.areaRngLbl = [list(limits)], ["chosen"]
        run.evaluate()
        run.accumulate()
    precision = run.eval["precision"][:, :, :, 0, 0].mean(axis=1)
    return np.where(precision < 0, np.nan, precision)


def _coco(annotations: Annotations, images: np.ndarray, table: Annotations, rows: np.ndarray, kind: str) -> COCO:
    ids = image_ids(annotations)
    size = np.nan_to_num(annotations.image_size, nan=64).astype(int)
    coco = COCO()
    coco.dataset = {
        "images": [{"id": ids[i], "width": int(size[i, 0]), "height": int(size[i, 1])} for i in images.tolist()],
        "categories": [{"id": code + 1, "name": name} for code, name in enumerate(annotations.categories)],
        "annotations": [
            {
                "id": number + 1,
                "image_id": ids[int(table.image[row])],
                "category_id": int(table.category[row]) + 1,
                "iscrowd": 0,
                **_shape(table, row, kind, size[table.image[row]]),
            }
            for number, row in enumerate(rows.tolist())
        ],
    }
    return coco


def image_ids(annotations: Annotations) -> list[int]:
    """Return the source's ids if they are numbers, otherwise positions."""
    given = annotations.images.tolist()
    return given if all(isinstance(key, int) for key in given) else list(range(1, len(given) + 1))


def _shape(table: Annotations, row: int, kind: str, size: np.ndarray) -> dict[str, Any]:
    if kind == "box":
        x, y, width, height = table.shapes["box"].xywh()[row].tolist()
        return {"bbox": [x, y, width, height], "area": width * height}
    if kind == "mask":
        code = table.shapes["mask"].rle(row)
    else:
        width, height = size.tolist()
        rings = [ring.ravel().tolist() for ring in table.shapes["polygon"].rings(row)]
        code = coco_mask.merge(coco_mask.frPyObjects(rings, height, width))
    return {"segmentation": code, "area": float(coco_mask.area(code))}
