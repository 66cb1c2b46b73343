"""Cost of clicks on a large data set, and time and memory of long work.

Every data set is synthetic: images without files, boxes of a first rater at random positions, and boxes of the
others next to them. One in ten labels of the other raters is elsewhere, and one in twenty has another class.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import fiftyone as fo
import numpy as np
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate
from benchmarks.watching import measured
from kalos_core import Annotations, KalosWarning, boundary_quality, variation_shares, variations
from kalos_core.fiftyone.kinds.agreement.views import view_of_alpha, view_of_class
from kalos_core.fiftyone.kinds.variations.kind import THRESHOLDS
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.shapes import Boxes

SAMPLES, MANY_SAMPLES, LABELS, SIDE, CLASSES = 20_000, 100_000, 9, 640, 10
MANY_RATERS, FEW_SAMPLES = 66, 53

SORTED = ("view: worst first, one class",)
"""Views that sort all samples and filter both raters; there is no claim for them."""

OF_A_BARE_COUNT, OF_A_FULL_RUN, OF_THE_LIBRARY = 5.0, 0.1, 3.0
"""Maximum factors over a count of a filtered field, the whole run, and the library's own work."""

MEBIBYTES = 600
"""Maximum memory beyond what the process held before."""


def all_tables(repeats: int, large: bool, say: Callable[[str], None]) -> Iterator[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        say(f"clicks on {SAMPLES:,} samples")
        yield clicks(SAMPLES, repeats)
        say(f"{MANY_RATERS} raters")
        yield raters(MANY_RATERS, FEW_SAMPLES, repeats)
        say(f"long work on {SAMPLES:,} samples")
        yield work(SAMPLES)
        if large:
            say(f"long work on {MANY_SAMPLES:,} samples: takes minutes")
            yield work(MANY_SAMPLES)


def table_of(samples: int, raters: int = 2, labels: int = LABELS, seed: int = 0) -> Annotations:
    """Return a table with the given number of labels of each rater on each image."""
    rng, count = np.random.default_rng(seed), samples * labels
    first = np.column_stack([rng.uniform(0, SIDE - 80, (count, 2)), rng.uniform(20, 80, (count, 2))])
    classes = rng.integers(0, CLASSES, count)
    boxes, categories = [first], [classes]
    for _ in range(raters - 1):
        own = first + np.column_stack([rng.normal(0, 4, (count, 2)), rng.normal(0, 3, (count, 2))])
        elsewhere, other = rng.random(count) < 0.1, rng.random(count) < 0.05
        own[elsewhere, :2] = rng.uniform(0, SIDE - 80, (np.count_nonzero(elsewhere), 2))
        boxes.append(np.column_stack([own[:, :2].clip(0, SIDE - 80), own[:, 2:].clip(5, 79)]))
        categories.append(np.where(other, rng.integers(0, CLASSES, count), classes))
    files = np.array([f"{image}.jpg" for image in range(samples)], dtype=object)
    return Annotations(
        image=np.tile(np.repeat(np.arange(samples), labels), raters),
        rater=np.repeat(np.arange(raters), count),
        category=np.concatenate(categories),
        id=np.arange(raters * count),
        shapes={"box": Boxes.from_xywh(np.concatenate(boxes))},
        images=files,
        files=files,
        raters=np.array([f"r{code}" for code in range(raters)], dtype=object),
        categories=np.array([f"c{code}" for code in range(CLASSES)], dtype=object),
        image_size=np.full((samples, 2), float(SIDE)),
        assigned=np.ones((samples, raters), np.bool_),
    )


@contextmanager
def dataset_of(annotations: Annotations, load: bool = True) -> Iterator[Any]:
    """Yield a data set with the images of a table, and its labels."""
    dataset = fo.Dataset()
    try:
        size = fo.ImageMetadata(width=SIDE, height=SIDE)
        samples = (fo.Sample(filepath=f"/images/{file}", metadata=size.copy()) for file in annotations.files)
        dataset.add_samples(samples, num_samples=len(annotations.files), progress=False)
        if load:
            kf.load_raters(annotations, dataset)
        yield dataset
    finally:
        dataset.delete()


def clicks(samples: int, repeats: int) -> Table:
    """Measure requests of a panel when it opens and on clicks, vs. the count of one filtered field."""
    with dataset_of(table_of(samples)) as dataset:
        kf.compute_agreement(dataset, "agreement")
        kf.find_variations(dataset, "variations")
        bare = Subject(lambda _: dataset.filter_labels("r0", F("label") == "c1").count())
        asked: dict[str, Callable[[], Any]] = {
            "list of runs": lambda: kf.list_runs(dataset, info=True),
            "whether labels changed since": lambda: count_changes(dataset, "agreement"),
            "numbers of the agreement panel": lambda: kf.load_details(dataset, "agreement"),
            "numbers of the variations panel": lambda: kf.load_details(dataset, "variations"),
            "25 worst images": lambda: kf.worst_images(dataset, "agreement", 25),
            "view: worst first, one class": lambda: len(view_of_class(dataset, "agreement", "c3")),
            "view: alpha from .2 to .4": lambda: len(view_of_alpha(dataset, "agreement", 0.2, 0.4)),
            **{
                f"view: {kind}": partial(_count_variation, dataset, kind)
                for kind in kf.load_metrics(dataset, "variations").metrics["counts"]
            },
            "view: confusion of two classes": lambda: len(view_of_confusion(dataset, "variations", "c1", "c2")),
        }
        rows = []
        for name, look in asked.items():
            ours, other = alternate([Subject(partial(_call, look)), bare], repeats)
            rows.append(Row(name, ours.took, other.took, None if name in SORTED else OF_A_BARE_COUNT))
    title = f"clicks on {samples:,} samples with {LABELS} labels of each of 2 raters"
    return Table(title, tuple(rows), other="count of a filtered field", speedup=False)


def _count_variation(dataset: Any, kind: str) -> int:
    return len(kf.view_of_variation(dataset, "variations", kind))


def _call(look: Callable[[], Any], _: Any) -> Any:
    return look()


def raters(count: int, samples: int, repeats: int) -> Table:
    """Measure variations of many raters through FiftyOne vs. the same work in the library."""
    with dataset_of(table_of(samples, raters=count)) as dataset:
        annotations = kf.read_annotations(dataset)
        ours, other = alternate(
            [
                Subject(lambda _: kf.find_variations(dataset, "run"), tidy=lambda _: kf.delete_run(dataset, "run")),
                Subject(lambda _: _in_the_library(annotations)),
            ],
            repeats,
        )
    title = f"variations of {count} raters on {samples} images: {len(annotations):,} labels"
    return Table(
        title, (Row("find_variations", ours.took, other.took, OF_THE_LIBRARY),), other="library", speedup=False
    )


def _in_the_library(annotations: Annotations) -> None:
    """Do the same work without a database."""
    found = variations(annotations)
    variation_shares(annotations, THRESHOLDS, pairs=found.pairs)
    boundary_quality(found)


def work(samples: int) -> Table:
    """Measure time and memory of long work, and of loading a run in which 10 images have changed."""
    annotations = table_of(samples)
    with dataset_of(annotations, load=False) as dataset:
        done = {
            "load_raters": measured(lambda: kf.load_raters(annotations, dataset)),
            "compute_agreement": measured(lambda: kf.compute_agreement(dataset, "agreement")),
            "find_variations": measured(lambda: kf.find_variations(dataset, "variations")),
        }
        edited = dataset.limit(10)
        edited.set_values("r0.detections.label", [["c1"] * LABELS] * 10)
        again = {
            name: measured(partial(kf.load_run, dataset, key))
            for name, key in (("compute_agreement", "agreement"), ("find_variations", "variations"))
        }
    allowed = Measured((float(MEBIBYTES << 20),), "B")
    rows = []
    for name, cost in done.items():
        rows += [Row(name, cost.took), Row(f"{name}: memory", cost.memory, allowed, 1.0)]
        rows.append(Row(f"{name}: memory a label", cost.memory.per(len(annotations))))
    rows += [Row(f"load_run, 10 changed: {name}", again[name].took, done[name].took, OF_A_FULL_RUN) for name in again]
    title = f"long work on {samples:,} samples with {LABELS} labels of each of 2 raters"
    return Table(title, tuple(rows), other="the whole run, or what is allowed", speedup=False)
