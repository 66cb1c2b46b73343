"""Agreement on boxes and polygons vs. the peer, on the same annotations, with a check that results are equal."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate, peak_memory
from kalos_core import Agreement, Annotations, KalosWarning, agreement, read_coco
from kalos_core.shapes import Boxes, Polygons

THRESHOLD = 0.5
COPIES = (1, 5, 25)
CROWDED = 10
"""Number of images whose annotations are put into one image, which gives about this factor of pairs."""

BOXES, POLYGONS = "box_iou", "polygon_iou"
PEER_NAMES = {BOXES: "bbox_iou_similarity", POLYGONS: "segm_iou_similarity"}
AT_LEAST = {BOXES: 8.0, POLYGONS: 30.0}
"""Claimed speedup over the peer."""

AT_LEAST_AGAIN = 40.0
"""Claimed speedup for polygons with geometry cached."""

FROM_FILE = {BOXES: 4.0, POLYGONS: 20.0}
"""Claimed speedup including reading the file."""

MANY_TIMES = 20.0
"""Claimed speedup for boxes on the largest of `COPIES`."""

GROWTH = 1.5
"""Maximum factor of time per pair on the largest input vs. the smallest; only cache misses may add to it."""

SAME = 1e-9

MOST_MEMORY = 1024.0
"""Maximum number of bytes per annotation at the peak, beyond the input."""


class SharedAnnotations:
    """Same annotations for both sides, loaded by each side's reader."""

    def __init__(self, coco: Mapping[str, Any]) -> None:
        from kalos.utils.data_loading import preprocess_data

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # annotations outside of their image do not matter here
            self.annotations = read_coco(coco)
        self.peer_data = preprocess_data(copy.deepcopy(dict(coco)))  # the peer modifies its input
        self.peer_categories = {category["id"]: category["name"] for category in coco["categories"]}
        self.peer_raters = sorted({name for image in self.peer_data.values() for name in image["rater_list"]})

    def ours(self, similarity: str) -> Subject:
        """Return the subject with new columns each time, so that no geometry is cached."""
        return Subject(lambda given: _agreement(given, similarity), lambda: without_cache(self.annotations))

    def ours_again(self, similarity: str) -> Subject:
        """Return the subject with the geometry of an earlier analysis, as in a sweep over thresholds."""
        return Subject(lambda given: _agreement(given, similarity), lambda: self.annotations)

    def peer(self, similarity: str) -> Subject:
        return Subject(lambda _: self.peer_agreement(similarity))

    def peer_agreement(
        self, similarity: str, threshold: float = THRESHOLD, diagnostics: bool = False, data: Any = None
    ) -> Any:
        from kalos.iaa import core

        with mock.patch.object(core, "tqdm", no_progress_bar):  # it would slow down the peer
            return core.calculate_iaa(
                processed_data=self.peer_data if data is None else data,
                categories=self.peer_categories,
                method="greedy",
                threshold_func=PEER_NAMES[similarity],
                cost_func="category_lenient",
                similarity_threshold=threshold,
                calculate_vitality=diagnostics,
                calculate_difficulty=diagnostics,
                collaboration_clusters=diagnostics,
                all_raters=self.peer_raters,
            )

    @property
    def pairs(self) -> int:
        """Number of pairs of annotations of two raters in one image."""
        found = self.annotations
        counts = np.zeros((len(found.images), len(found.raters)), np.int64)
        np.add.at(counts, (found.image, found.rater), 1)
        return int((counts.sum(axis=1) ** 2 - (counts**2).sum(axis=1)).sum() // 2)


def against_peer(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure one threshold, greedy, no bootstrap; polygons with and without cached geometry."""
    shared = SharedAnnotations(coco)
    cold_boxes, peer_boxes = alternate([shared.ours(BOXES), shared.peer(BOXES)], repeats)
    cold, warm, peer = alternate([shared.ours(POLYGONS), shared.ours_again(POLYGONS), shared.peer(POLYGONS)], repeats)
    return Table(
        f"agreement, {name}: {len(shared.annotations):,} annotations, {shared.pairs:,} pairs, threshold {THRESHOLD}, "
        "greedy, soft, no bootstrap",
        (
            Row("boxes", cold_boxes.took, peer_boxes.took, AT_LEAST[BOXES], "agreement on boxes"),
            Row(
                "polygons, first call (geometries built)",
                cold.took,
                peer.took,
                AT_LEAST[POLYGONS],
                "agreement on polygons, geometries built",
            ),
            Row(
                "polygons, second call (geometries cached)",
                warm.took,
                peer.took,
                AT_LEAST_AGAIN,
                "agreement on polygons, geometries cached",
            ),
        ),
        notes=(
            "boxes: " + same_work(cold_boxes.answer, peer_boxes.answer),
            "polygons: " + same_work(cold.answer, peer.answer),
        ),
    )


def reading(path: Path, repeats: int) -> Table:
    """Measure reading a file, which other tables exclude, and the time from file to alpha; ours includes all checks."""
    from kalos.utils.data_loading import load_and_preprocess_data

    shared = SharedAnnotations(json.loads(path.read_text(encoding="utf-8")))

    def ours(_: None) -> Annotations:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)
            return read_coco(path)

    def theirs(_: None) -> Any:
        return load_and_preprocess_data(path, "coco-json")

    def from_file(similarity: str) -> list[Subject]:
        return [
            Subject(lambda _: _agreement(ours(None), similarity)),
            Subject(lambda _: shared.peer_agreement(similarity, data=theirs(None)["processed_data"])),
        ]

    rows, notes = [], []
    images = len(shared.annotations.images)
    for what, subjects, claim in (
        ("read", [Subject(ours), Subject(theirs)], None),
        ("from file to alpha, boxes", from_file(BOXES), FROM_FILE[BOXES]),
        ("from file to alpha, polygons", from_file(POLYGONS), FROM_FILE[POLYGONS]),
    ):
        mine, peer = alternate(subjects, repeats)
        rows.append(Row(what, mine.took, peer.took, claim, what if claim else ""))
        if what == "read":
            rows.append(Row("    per image", mine.took.per(images), peer.took.per(images)))
        else:
            notes.append(f"{what}: {same_work(mine.answer, peer.answer)}")
    title = f"reading {path.name}: {images:,} images, {len(shared.annotations):,} annotations, all checks of the file"
    return Table(title, tuple(rows), notes=tuple(notes))


def scaling(coco: Mapping[str, Any], name: str, repeats: int, copies: Sequence[int] = COPIES) -> list[Table]:
    """Measure boxes for more images, and for fuller images; the time per pair stays constant."""
    inputs = {f"{times} x {name}": copies_of(coco, times) for times in copies}
    inputs[f"{name}, {CROWDED} images as one"] = crowded(coco, CROWDED)
    rows, notes, per_pair = [], [], {}
    for what, data in inputs.items():
        shared = SharedAnnotations(data)
        mine, peer = alternate([shared.ours(BOXES), shared.peer(BOXES)], repeats)
        claim = MANY_TIMES if data is inputs.get(f"{COPIES[-1]} x {name}") else None
        rows.append(
            Row(
                f"{what}: {len(shared.annotations):,} annotations, {shared.pairs:,} pairs",
                mine.took,
                peer.took,
                claim,
                f"agreement on boxes, {COPIES[-1]} copies of the images" if claim else "",
            )
        )
        rows.append(Row("    per pair", mine.took.per(shared.pairs), peer.took.per(shared.pairs)))
        notes.append(f"{what}: {same_work(mine.answer, peer.answer)}")
        per_pair[what] = mine.took.per(shared.pairs)
    (smallest, least), *larger = per_pair.items()
    growth = tuple(Row(f"time per pair, {what}", took, least, GROWTH) for what, took in larger)
    return [
        Table("agreement on boxes, by number of boxes", tuple(rows), notes=tuple(notes)),
        Table("growth of time with the number of pairs", growth, "larger", smallest, speedup=False),
    ]


def memory(coco: Mapping[str, Any], name: str, copies: Sequence[int] = COPIES) -> Table:
    """Measure the peak of memory beyond the input, in bytes per annotation."""
    rows = []
    for times in copies:
        shared = SharedAnnotations(copies_of(coco, times))
        count = len(shared.annotations)
        for what, similarity in (("boxes", BOXES), ("polygons", POLYGONS)):
            mine, most = peak_memory(shared.ours(similarity)), Measured((MOST_MEMORY,), "B")
            rows.append(Row(f"{what}, {times} x {name}: {count:,} annotations", mine.per(count), most, 1.0))
            # the peer takes seconds per copy for polygons, and needs no more per annotation if there are many
            if similarity == BOXES or times == copies[0]:
                rows.append(Row("    the peer", peak_memory(shared.peer(similarity)).per(count)))
    return Table(
        "peak memory in addition to the input, in bytes per annotation",
        tuple(rows),
        "measured",
        "limit",
        speedup=False,
        notes=(
            "measured by Python's tracemalloc, which does not include the vertices that GEOS keeps for geometries",
            "pairs are compared in blocks: 200 images fill a few blocks, which take 3 MB",
        ),
    )


def copies_of(coco: Mapping[str, Any], times: int) -> dict[str, Any]:
    """Return the data set `times` over, with images and annotations renumbered."""
    images, annotations = coco["images"], coco["annotations"]
    first_image = 1 + max(image["id"] for image in images)
    first_annotation = 1 + max(annotation["id"] for annotation in annotations)
    return {
        **coco,
        "images": [image | {"id": image["id"] + k * first_image} for k in range(times) for image in images],
        "annotations": [
            annotation
            | {"id": annotation["id"] + k * first_annotation, "image_id": annotation["image_id"] + k * first_image}
            for k in range(times)
            for annotation in annotations
        ],
    }


def crowded(coco: Mapping[str, Any], group: int) -> dict[str, Any]:
    """Put the annotations of every `group` images into the first of them."""
    images = coco["images"]
    first = {image["id"]: images[index // group * group]["id"] for index, image in enumerate(images)}
    annotations = [annotation | {"image_id": first[annotation["image_id"]]} for annotation in coco["annotations"]]
    return {**coco, "images": images[::group], "annotations": annotations}


def without_cache(annotations: Annotations) -> Annotations:
    """Return the same annotations in new columns."""
    fresh = {
        kind: Polygons(column.points, column.ring_start, column.part_start)
        if isinstance(column, Polygons)
        else Boxes(column.bounds())
        for kind, column in annotations.shapes.items()
    }
    return replace(annotations, shapes=fresh)


def largest_difference(result: Agreement, peer_answer: Any) -> float:
    """Return the largest difference of an image's alpha; the peer gives 1 if alpha is undefined."""
    theirs = np.array([peer_answer[6][image] for image in result.annotations.images])
    return float(np.abs(np.nan_to_num(result.image_alpha, nan=1.0) - theirs).max())


def same_work(result: Agreement, peer_answer: Any) -> str:
    difference = largest_difference(result, peer_answer)
    verdict = "same alpha" if difference <= SAME else "NOT THE SAME WORK: other alpha"
    return f"{verdict} on {len(result.image_alpha):,} images, largest difference {difference:.1e}"


def _agreement(annotations: Annotations, similarity: str) -> Agreement:
    return agreement(annotations, similarity, THRESHOLD, "greedy", "soft", bootstrap=0)


def no_progress_bar(images: Any, **_: Any) -> Any:
    return images
