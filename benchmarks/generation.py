"""Synthetic raters: how many annotations a second the noise model draws."""

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
"""Boxes a second that are to be drawn."""

RATERS = 10


def speed(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Time for one annotation drawn from the first rater, boxes alone and with polygons."""
    marks = read_coco(coco)
    reference = marks.select(raters=[0])
    boxes = replace(reference, shapes={"box": reference.shapes["box"]})
    drawn = [_drawing(annotations, marks) for annotations in (boxes, reference)]
    outcomes = alternate(drawn, repeats)
    rows, notes = [], []
    for what, outcome in zip(("boxes", "boxes and polygons"), outcomes, strict=True):
        made, source = outcome.answer
        rows.append(Row(f"{what}, one annotation", outcome.took.per(made)))
        notes.append(f"{what}: {made / outcome.took.median:,.0f} annotations a second, {made:,} drawn; {source}")
    notes.append(f"wanted: at least {AT_LEAST:,} boxes a second")
    title = f"generation, {name}: {len(reference):,} reference marks, {RATERS} raters, magnitude 1"
    return Table(title, tuple(rows), notes=tuple(notes))


def _drawing(reference: Annotations, marks: Annotations) -> Subject:
    model, confusions = NoiseModel.default(), ConfusionClasses.of(marks)

    def work(_: None) -> tuple[int, str]:
        made = model.generate(reference, raters=RATERS, magnitude=np.ones(RATERS).tolist(), class_source=confusions)
        return len(made.annotations), made.false_positive_source

    return Subject(work)
