"""Calls with names that mypy accepts or refuses; `make lint` checks this file, and nothing runs it.

An ignored error that no longer occurs is an error of mypy's (`warn_unused_ignores`).
"""

from kalos_core import (
    Annotations,
    agreement,
    calibrate,
    estimate_truth,
    grade_agreement,
    modified_map,
    nominal_alpha,
    read_coco,
    sparse_agreement,
    unit_truth,
    variations,
)
from kalos_core.nominal import gwet_ac2
from kalos_core.similarity import SIMILARITIES, Rows, Similarity
from kalos_core.similarity.fitting import fitting_similarities


def accepted(annotations: Annotations, own: Similarity, function: Rows) -> None:
    for similarity in ("auto", "box_iou"):
        agreement(annotations, similarity=similarity)
    for usable in fitting_similarities(annotations):
        agreement(annotations, similarity=usable)
    agreement(annotations, similarity=own, solver="ahc", cost="neg", empty="exclude")
    agreement(annotations, similarity=SIMILARITIES["my_own"])
    variations(annotations, similarity=function)
    calibrate(annotations, similarities=["box_iou", own, function])
    sparse_agreement([[2, 0], [1, 1]], weights="edges")
    estimate_truth([[[0, 1]], [[1, 1]]], "any")
    nominal_alpha([[1, 2]], "interval")
    gwet_ac2([[2, 0]], "linear")
    gwet_ac2([[2, 0]], [[1, 0], [0, 1]])
    read_coco("labels.json", on_invalid="skip")


def refused(annotations: Annotations) -> None:
    agreement(annotations, similarity="iou")  # type: ignore[arg-type]
    agreement(annotations, solver="hungarian")  # type: ignore[arg-type]
    agreement(annotations, cost="hard")  # type: ignore[arg-type]
    agreement(annotations, empty="skip")  # type: ignore[arg-type]
    variations(annotations, similarity="iou")  # type: ignore[arg-type]
    calibrate(annotations, similarities="iou")  # type: ignore[arg-type]
    calibrate(annotations, similarities=["box_iou", "iou"])  # type: ignore[list-item]
    modified_map(annotations, size="tiny")  # type: ignore[arg-type]
    unit_truth(annotations, model="majority")  # type: ignore[arg-type]
    sparse_agreement([[2, 0], [1, 1]], weights="edge")  # type: ignore[arg-type]
    estimate_truth([[[0, 1]], [[1, 1]]], "majority")  # type: ignore[arg-type]
    nominal_alpha([[1, 2]], "cardinal")  # type: ignore[arg-type]
    grade_agreement([[1, 2]], metric="cardinal")  # type: ignore[arg-type]
    gwet_ac2([[2, 0]], "cubic")  # type: ignore[arg-type]
    read_coco("labels.json", on_invalid="ignore")  # type: ignore[arg-type]
