"""Synthetic raters: number of annotations that the noise model samples per second."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.tables import Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import Annotations, NoiseModel, read_coco
from kalos_core.noise import ConfusionClasses

AT_LEAST = 20_000
"""Claimed number of boxes sampled per second."""

RATERS = 10


def speed(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure the time per annotation sampled from the first rater, boxes only and with polygons."""
    annotations = read_coco(coco)
    reference = annotations.select(raters=[0])
    boxes = replace(reference, shapes={"box": reference.shapes["box"]})
    subjects = [_sampling(each, annotations) for each in (boxes, reference)]
    outcomes = alternate(subjects, repeats)
    rows, notes = [], []
    for what, outcome in zip(("boxes", "boxes and polygons"), outcomes, strict=True):
        made, source = outcome.answer
        rows.append(Row(f"{what}, one annotation", outcome.took.per(made)))
        notes.append(f"{what}: {made / outcome.took.median:,.0f} annotations per second, {made:,} sampled; {source}")
    notes.append(f"goal: at least {AT_LEAST:,} boxes per second")
    title = f"generation, {name}: {len(reference):,} reference annotations, {RATERS} raters, magnitude 1"
    return Table(title, tuple(rows), notes=tuple(notes))


def _sampling(reference: Annotations, annotations: Annotations) -> Subject:
    model, confusions = NoiseModel.default(), ConfusionClasses.of(annotations)

    def work(_: None) -> tuple[int, str]:
        made = model.generate(reference, raters=RATERS, magnitude=np.ones(RATERS).tolist(), class_source=confusions)
        return len(made.annotations), made.false_positive_source

    return Subject(work)
