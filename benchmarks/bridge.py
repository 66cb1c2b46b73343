"""Analyses on FiftyOne (read, compute, write) vs. a bare read and write of the same fields.

Every round uses a fresh clone of the data set, because a field is written faster the second time.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import numpy as np

import kalos_core.fiftyone as kf
from benchmarks.tables import Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import Annotations, KalosWarning, read_coco
from kalos_core.fiftyone.dataset.opened import default_similarity

ROOT = Path(__file__).resolve().parents[1]
OPERATORS = ("compute_agreement", "find_variations")
PLUGIN = "@kalos/variation"
KEY = "measured"
AT_MOST = 2.0
"""Maximum factor of time over the bare read and write."""

LARGE_SAMPLES, LARGE_LABELS, SIDE, LARGEST_BOX = 2000, 40, 100, 30
"""Large data set: samples, labels per rater and sample, side of images and longest side of boxes in pixels."""

READ = {
    "detections": ("id", "label", "confidence", "bounding_box"),
    "polylines": ("id", "label", "confidence", "points", "closed"),
}
"""Attributes that an analysis reads, by label type."""


def all_tables(
    coco: Mapping[str, Any], name: str, repeats: int, large: bool, say: Callable[[str], None]
) -> Iterator[Table]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # annotations outside of their image do not matter here
        annotations = read_coco(coco)
    everything, python = analyses(), [COMPUTE_AGREEMENT, FIND_VARIATIONS]
    missing = () if len(everything) > len(IN_PYTHON) else (f"the operators of {PLUGIN} are not registered: left out",)
    say(f"bridge, detections of {name}")
    yield table(annotations, f"{name}, detections", "detections", everything, repeats, missing)
    say(f"bridge, polylines of {name}")
    yield table(annotations, f"{name}, polylines", "polylines", python, repeats)
    if large:
        what = f"{LARGE_SAMPLES:,} samples with {LARGE_LABELS} labels"
        say(f"bridge, {what}: takes minutes")
        yield table(many_labels(LARGE_SAMPLES, LARGE_LABELS), f"{what}, detections", "detections", python, repeats)


def table(
    annotations: Annotations,
    name: str,
    label_type: str,
    selected: Sequence[Analysis],
    repeats: int,
    notes: tuple[str, ...] = (),
) -> Table:
    rows = []
    with tempfile.TemporaryDirectory() as images:
        dataset = kf.load_raters(annotations, canvas=images, label_type=label_type, persistent=False).dataset
        try:
            for analysis in selected:
                bare = BareWork.of(dataset, analysis, label_type)
                ours, other = alternate([_on_clone(dataset, analysis.run), _on_clone(dataset, bare.run)], repeats)
                rows.append(Row(analysis.name, ours.took, other.took, AT_MOST))
        finally:
            dataset.delete()
    title = f"read, compute and write on FiftyOne, {name}: {len(annotations):,} labels"
    return Table(title, tuple(rows), other="bare", speedup=False, notes=notes)


@dataclass(frozen=True)
class Analysis:
    """Analysis that reads a data set, computes, and writes the run `KEY`."""

    name: str
    run: Callable[[Any], Any]


COMPUTE_AGREEMENT = Analysis("compute_agreement", lambda samples: kf.compute_agreement(samples, KEY))
NO_BOOTSTRAP = Analysis("compute_agreement, no bootstrap", lambda given: kf.compute_agreement(given, KEY, bootstrap=0))
FIND_VARIATIONS = Analysis("find_variations", lambda samples: kf.find_variations(samples, KEY))
IN_PYTHON = (COMPUTE_AGREEMENT, NO_BOOTSTRAP, FIND_VARIATIONS)


def analyses() -> list[Analysis]:
    """Return analyses from Python, and by the plugin's operators if FiftyOne finds them."""
    folder = Path(fo.config.plugins_dir)
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "kalos-variation"
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)
    uris = {name: f"{PLUGIN}/{name}" for name in OPERATORS}
    called = [Analysis(f"operator {name}", _operator(uri)) for name, uri in uris.items() if foo.operator_exists(uri)]
    return [*IN_PYTHON, *called]


def _operator(uri: str) -> Callable[[Any], Any]:
    def run(samples: Any) -> Any:
        raters = list(kf.rater_fields(samples))
        similarity = default_similarity(samples, kf.Selection())
        params = {"run_key": KEY, "raters": raters, "similarity": similarity, "threshold": 0.5}
        answer = foo.execute_operator(uri, {"view": samples.view()}, params=params)
        answer.raise_exceptions()
        return answer.result

    return run


@dataclass(frozen=True)
class BareWork:
    """One `values([...])` call for the fields an analysis reads, and FiftyOne's setters for those it writes."""

    read: list[str]
    of_samples: dict[str, list[Any]]
    of_labels: dict[str, list[Any]]

    @classmethod
    def of(cls, dataset: Any, analysis: Analysis, label_type: str) -> BareWork:
        """Find what the analysis reads and writes by running it once on a clone."""
        lists = [f"{field}.{label_type}" for field in kf.rater_fields(dataset).values()]
        clone = dataset.clone()
        before = set(clone.get_field_schema(flat=True))
        analysis.run(clone)
        written = sorted(
            path for path in set(clone.get_field_schema(flat=True)) - before if path.rpartition(".")[0] in ("", *lists)
        )
        values = dict(zip(written, clone.values(written), strict=True))
        clone.delete()
        return cls(
            read=[
                "id",
                "filepath",
                "metadata.width",
                "metadata.height",
                "raters",
                *(f"{path}.{name}" for path in lists for name in READ[label_type]),
            ],
            of_samples={path: column for path, column in values.items() if "." not in path},
            of_labels={path: column for path, column in values.items() if "." in path},
        )

    def run(self, dataset: Any) -> None:
        dataset.values(self.read)
        for path, column in self.of_samples.items():
            if any(value is not None for value in column):  # FiftyOne does not create empty fields
                dataset.set_values(path, column)
        for path, column in self.of_labels.items():  # with checks, FiftyOne refuses None among numbers
            dataset.set_values(path, column, dynamic=True, validate=False)


def many_labels(samples: int, labels: int, seed: int = 0) -> Annotations:
    """Return boxes of one rater at random positions, and of a second rater next to them."""
    rng = np.random.default_rng(seed)
    boxes = np.empty((samples, labels, 4))
    half = labels // 2
    boxes[:, :half, :2] = rng.uniform(0, SIDE - LARGEST_BOX - 2, (samples, half, 2))
    boxes[:, :half, 2:] = rng.uniform(LARGEST_BOX / 3, LARGEST_BOX, (samples, half, 2))
    boxes[:, half:] = boxes[:, : labels - half] + rng.uniform(0, 1, (samples, labels - half, 4))
    return Annotations.from_rows(
        [
            {"image": f"{image}.png", "rater": "r1" if k < half else "r2", "category": f"c{k % 5}", "box": box}
            for image, of_image in enumerate(boxes.tolist())
            for k, box in enumerate(of_image)
        ],
        image_size={f"{image}.png": (SIDE, SIDE) for image in range(samples)},
    )


def _on_clone(dataset: Any, work: Callable[[Any], Any]) -> Subject:
    return Subject(work, dataset.clone, lambda clone: clone.delete())
