"""Modified mAP and its subsets vs. pycocotools, and hotcoco if installed; all tables are loaded before."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.agreement import COPIES, SAME, copies_of, without_cache
from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate, peak_memory
from kalos_core import Annotations, KalosWarning, label_convergence, modified_map, read_coco
from kalos_core.convergence import THRESHOLDS
from kalos_core.convergence.modified import MatchTask, count_in_orders

FASTER_THAN_COCO = 30.0
FASTER_THAN_HOTCOCO = {1: 5.0, COPIES[-1]: 2.0}
"""Claimed speedup over hotcoco, which is written in Rust, by number of copies of the images."""

FASTER_REPLICATES = 1000.0
REPLICATES = 1000
FRACTION = 0.1
MEASURED = 3
"""Replicates measured with pycocotools; the others would take hours and are extrapolated."""

MOST_MEMORY = 500 * (1 << 20)


class Sides:
    """Boxes of two raters as our table, and as pairs of ground truth and detections for a COCO tool."""

    def __init__(self, coco: Mapping[str, Any]) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # annotations outside of their image do not matter here
            self.annotations = read_coco(coco)
        self.coco = coco

    def directions(self, module: str) -> list[tuple[Any, Any]]:
        """Return ground truth and detections, loaded and indexed, in both directions."""
        coco_class = importlib.import_module(module).COCO
        raters = sorted({annotation["rater_id"] for annotation in self.coco["annotations"]})
        sides = [
            [annotation for annotation in self.coco["annotations"] if annotation["rater_id"] == rater]
            for rater in raters
        ]
        with contextlib.redirect_stdout(io.StringIO()):
            return [self._load(coco_class, *pair) for pair in (sides, sides[::-1])]  # two raters

    def _load(self, coco_class: Any, reference: list[Any], found: list[Any]) -> tuple[Any, Any]:
        table = coco_class()
        table.dataset = {
            "images": self.coco["images"],
            "categories": self.coco["categories"],
            "annotations": [
                {
                    "id": number,  # from 1, because pycocotools treats a match with annotation 0 as none
                    "image_id": annotation["image_id"],
                    "category_id": annotation["category_id"],
                    "bbox": annotation["bbox"],
                    "area": annotation["bbox"][2] * annotation["bbox"][3],
                    "iscrowd": 0,
                }
                for number, annotation in enumerate(reference, start=1)
            ],
        }
        table.createIndex()
        keys = ("image_id", "category_id", "bbox")
        return table, table.loadRes([{key: annotation[key] for key in keys} | {"score": 0.99} for annotation in found])


def coco_map(evaluator: Any, directions: list[tuple[Any, Any]], images: list[Any] | None = None) -> float:
    """Compute the mean over thresholds and both directions."""
    means = []
    with contextlib.redirect_stdout(io.StringIO()):
        for reference, found in directions:
            run = evaluator(reference, found, "bbox")
            run.params.maxDets, run.params.areaRng, run.params.areaRngLbl = [1000], [[0, 1e10]], ["all"]
            if images is not None:
                run.params.imgIds = images
            run.evaluate()
            run.accumulate()
            precision = np.asarray(run.eval["precision"])[:, :, :, 0, 0]
            means.append(np.mean([values[values > -1].mean() for values in precision]))
    return float(np.mean(means))


def against_coco(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure one modified mAP: ten thresholds, both directions."""
    sides = Sides(coco)
    tools = [("pycocotools", sides, "pycocotools.coco", "pycocotools.cocoeval", FASTER_THAN_COCO)]
    if importlib.util.find_spec("hotcoco") is not None:
        for copies, claim in FASTER_THAN_HOTCOCO.items():
            more = sides if copies == 1 else Sides(copies_of(coco, copies))
            tools.append(("hotcoco", more, "hotcoco", "hotcoco", claim))
    rows, notes = [], []
    for tool, given, module, evaluators, claim in tools:
        mine, theirs = alternate([_ours(given), _coco(given, module, evaluators)], repeats)
        images = len(given.annotations.images)
        rows.append(
            Row(
                f"{images:,} images, against {tool}",
                mine.took,
                theirs.took,
                claim,
                f"modified mAP of {images:,} images, vs. {tool}",
            )
        )
        difference = abs(mine.answer - theirs.answer)
        verdict = "same mAP" if difference <= SAME else "NOT THE SAME mAP"
        notes.append(f"{tool}, {images:,} images: {verdict}, {mine.answer:.6f}, difference {difference:.1e}")
    if len(tools) == 1:
        notes.append("hotcoco is not installed: pip install hotcoco (`make bench` does it)")
    boxes = len(sides.annotations)
    return Table(f"modified mAP, {name}: {boxes:,} boxes, both directions", tuple(rows), notes=tuple(notes))


def _ours(sides: Sides) -> Subject:
    return Subject(lambda given: modified_map(given).mean, lambda: without_cache(sides.annotations))


def _coco(sides: Sides, module: str, evaluators: str) -> Subject:
    evaluator, loaded = importlib.import_module(evaluators).COCOeval, sides.directions(module)
    return Subject(lambda _: coco_map(evaluator, loaded))


def replicates(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure a thousand subsets; we match once, pycocotools matches again for each."""
    from pycocotools.cocoeval import COCOeval

    sides = Sides(coco)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # subsets are small here
        result = label_convergence(sides.annotations, REPLICATES, FRACTION)
    loaded = sides.directions("pycocotools.coco")
    subsets = np.zeros((REPLICATES, len(sides.annotations.images)), np.bool_)
    subsets[np.arange(REPLICATES)[:, None], result.drawn] = True
    subsets_of_images = [sides.annotations.images[images].tolist() for images in result.drawn[:MEASURED]]

    def theirs(_: Any) -> list[float]:
        return [coco_map(COCOeval, loaded, images) for images in subsets_of_images]

    table = Subject(lambda given: _all_subsets(given, subsets), lambda: without_cache(sides.annotations))
    whole = Subject(_whole, lambda: without_cache(sides.annotations))
    mine, both, peer = alternate([table, whole, Subject(theirs)], repeats)
    extrapolated = peer.took.times(REPLICATES / MEASURED)
    difference = np.abs(mine.answer[:MEASURED] - peer.answer).max()
    verdict = "same mAP" if difference <= SAME else "NOT THE SAME mAP"
    return Table(
        f"label convergence, {name}: {REPLICATES:,} subsets of {result.images_per_replicate} images, boxes",
        (
            Row("modified mAP", mine.took, extrapolated, FASTER_REPLICATES, f"modified mAP of {REPLICATES:,} subsets"),
            Row("modified mAP and alpha", both.took, extrapolated),
        ),
        other="pycocotools, mAP only",
        notes=(
            f"{verdict} of {MEASURED} subsets, largest difference {difference:.1e}; pycocotools is measured on these "
            f"{MEASURED} and extrapolated to {REPLICATES:,}",
        ),
    )


def _all_subsets(annotations: Annotations, subsets: Any) -> Any:
    (counted,), _ = count_in_orders(annotations, MatchTask("box_iou", THRESHOLDS, "coco"), 1, 0, "")
    return np.nanmean(counted.directions(subsets, len(annotations.raters)), axis=(1, 2, 3))


def _whole(annotations: Annotations) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        return label_convergence(annotations, REPLICATES, FRACTION)


def memory(coco: Mapping[str, Any], name: str, copies: int = COPIES[-1]) -> Table:
    """Measure the peak of memory beyond the input, in bytes."""
    table = Sides(copies_of(coco, copies)).annotations
    used = peak_memory(Subject(_whole, lambda: without_cache(table)))
    what = f"label convergence, {copies} x {name}: {len(table.images):,} images, {len(table):,} annotations"
    return Table(
        "peak memory of label convergence in addition to the input",
        (Row(what, used, Measured((float(MOST_MEMORY),), "B"), 1.0),),
        "measured",
        "limit",
        speedup=False,
    )
