"""What is shown of a run on image-level labels: sentences with the findings, and plots."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core.display import significant, with_interval
from kalos_core.fiftyone.kinds.image_labels.details import CurveDetails, WithMajority
from kalos_core.fiftyone.kinds.image_labels.kind import LabelRun
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import (
    accuracy_heatmap,
    accuracy_title,
    kappa_bars,
    kappa_title,
    majority_dots,
    majority_title,
    running_figure,
    running_title,
    square_heatmap,
)


def figures(
    run: LabelRun, question: str | None = None, images: Sequence[DisputedImage] | None = None
) -> dict[str, Part]:
    """``kappas``, ``concepts``, ``accuracy``; ``curve`` and ``cohen`` of a question that has a curve (the first).

    ``images``: those of `disputed_images`, if given.
    """
    details, means = run.details, run.metrics["with_majority"]
    questions, concepts, accuracy = details["questions"], details["concepts"], details["accuracy"]
    names, kappas = [row["question"] for row in questions], [row["free_marginal"] for row in questions]
    curves = [curve for curve in details["curves"] if question in (None, curve["question"])]
    return {
        "kappas": Part(headline(run), kappa_bars(names, kappas, [row["interval"] for row in questions])),
        "concepts": Part(
            majority_title(means["concept_all"], means["concept_chosen"]),
            majority_dots(concepts["concept"], concepts["all"], concepts["chosen"]),
        ),
        "accuracy": Part(
            accuracy_title(accuracy["raters"], accuracy["accuracy"]),
            accuracy_heatmap(accuracy["raters"], accuracy["accuracy"], accuracy["to_majority"]),
        ),
        **({} if images is None else {"images": _images(images, means)}),
        **(_of_curve(curves[0], accuracy["raters"]) if curves else {}),
    }


def headline(run: LabelRun) -> str:
    """The finding on all questions in one line."""
    rows = run.details["questions"]
    if len(rows) == 1:
        (row,) = rows
        value = with_interval(row["free_marginal"], row["interval"])
        return f"Agreement is {row['bands']['free_marginal']}: free-marginal kappa {value}"
    return kappa_title([row["question"] for row in rows], [row["free_marginal"] for row in rows])


def _images(images: Sequence[DisputedImage], means: WithMajority) -> Part:
    title = majority_title(means["item_all"], means["item_chosen"], "image")
    if not images:
        return Part(f"{title}; no image is in dispute")
    numbers = [image.all_decisions for image in images], [image.chosen for image in images]
    return Part(title, majority_dots([image.file for image in images], *numbers))


def _of_curve(curve: CurveDetails, raters: Sequence[str]) -> dict[str, Part]:
    annotations, interval, narrow_from = curve["annotations"], curve["spa_interval"], curve["narrow_from"]
    title = running_title(annotations, curve["spa"], interval, narrow_from)
    if narrow_from is None:
        title += f"; the interval is not yet narrower than {curve['width']:g}"
    plot = running_figure(annotations, curve["spa"], interval, curve["alpha"], curve["alpha_interval"], narrow_from)
    cohen = np.array(curve["cohen"], np.float64)
    cohen_title = _cohen_title(curve["question"], raters, cohen)
    return {"curve": Part(title, plot), "cohen": Part(cohen_title, square_heatmap(raters, cohen, "Cohen's κ"))}


def _cohen_title(question: str, raters: Sequence[str], cohen: NDArray[np.float64]) -> str:
    first, second = np.triu_indices(len(raters), 1)
    pairs = cohen[first, second]
    if not np.isfinite(pairs).any():
        return f"No two raters can be compared on {question}"
    least = int(np.nanargmin(pairs))
    return (
        f"Cohen's κ on {question} is {significant(float(np.nanmean(pairs)))} on average; least between "
        f"{raters[first[least]]} and {raters[second[least]]} ({significant(float(pairs[least]))})"
    )
