"""What a run of agreement about pixels stores: metrics, details and arrays, and the result made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.fiftyone.runs.arrays import as_texts
from kalos_core.fiftyone.runs.changes import part_of
from kalos_core.fiftyone.runs.records import plain
from kalos_core.fiftyone.runs.table import Arrays, Run
from kalos_core.pixels import ClassPixelAgreement, Correlation, PixelAgreement, PixelSums, RaterPerformance
from kalos_core.pixels.stored import MARKED
from kalos_core.pixels.sums import mean_of_defined

Numbers = list[float | None]
"""None where undefined."""

SHARE_LABELS = {"sensitivity": "Sens.", "specificity": "Spec.", "ppv": "PPV", "npv": "NPV", "kappa": "κ"}
"""What is known of a rater against a consensus -> how it is called in a table or figure."""

OF_IMAGES = ("image_bound", "image_f1", "image_pixels", "image_marked")


class PixelSettings(TypedDict):
    """How masks were compared.

    `images`: whether with the images themselves; `raters_are_local`: whether only raters of one image were compared;
    `classes`: name -> value in label maps.
    """

    ignore_value: int | None
    images: bool
    raters_are_local: bool
    classes: dict[str, int]


class ClassMetrics(TypedDict):
    """The summary of a class. `f1`: mean over pairs of raters; `all_agree`: share of what anybody marked."""

    name: str
    smyth_bound: float | None
    f1: float | None
    all_agree: float | None
    outliers: list[str]


class PixelMetrics(TypedDict):
    """The summary of a run.

    `raters`: none where they have no names over the images; `rater_count`: how many there are, then such as "4 to 7";
    `smyth_bound`: mean over the classes; `f1`: mean over pairs of raters.
    """

    raters: list[str]
    rater_count: str
    images: int
    pixels: int
    smyth_bound: float | None
    f1: float | None
    classes: list[ClassMetrics]


class Shares(TypedDict):
    """Each rater against a consensus or an estimated truth, pixel by pixel."""

    sensitivity: Numbers
    specificity: Numbers
    ppv: Numbers
    npv: Numbers
    kappa: Numbers


class ClassDetails(Shares):
    """All other numbers of a class. `alone`: images with a single rater."""

    name: str
    smyth_notes: list[str]
    ratio: Numbers
    f1: list[Numbers]
    mean_difference: Numbers
    outliers: list[bool]
    linkage: list[list[float]]
    order: list[int]
    correlations: list[dict[str, Any]]
    alone: int
    notes: list[str]


class PixelDetails(TypedDict):
    """What lies behind the summary."""

    classes: list[ClassDetails]


def pixel_metrics(by_class: Mapping[str, PixelAgreement]) -> PixelMetrics:
    """The summary of agreement by class, as plain values."""
    rows = [
        ClassMetrics(
            name=name,
            smyth_bound=plain(found.smyth_bound),
            f1=plain(found.mean_f1),
            all_agree=plain(found.ratio[-1]),
            outliers=found.raters[found.outliers].tolist(),
        )
        for name, found in by_class.items()
    ]
    first = next(iter(by_class.values()))
    count, ends = len(first.raters), [found.raters_per_image for found in by_class.values()]
    least, most = min(low for low, _ in ends), max(high for _, high in ends)
    return {
        "raters": first.raters.tolist(),
        "rater_count": f"{least} to {most}" if first.raters_are_local and least < most else f"{count or most}",
        "images": max(len(found.images) for found in by_class.values()),
        "pixels": first.sums.pixels,
        "smyth_bound": _mean([row["smyth_bound"] for row in rows]),
        "f1": plain(result_of(by_class).mean_f1),
        "classes": rows,
    }


def pixel_details(by_class: Mapping[str, PixelAgreement]) -> PixelDetails:
    """What lies behind it as plain values, None for what is undefined."""
    return {"classes": [_class_details(name, found) for name, found in by_class.items()]}


def _class_details(name: str, found: PixelAgreement) -> ClassDetails:
    return ClassDetails(
        name=name,
        smyth_notes=list(found.smyth_notes),
        ratio=plain(found.ratio),
        f1=plain(found.f1),
        mean_difference=plain(found.mean_difference),
        outliers=found.outliers.tolist(),
        linkage=found.linkage.tolist(),
        order=found.order.tolist(),
        correlations=[plain(each) for each in found.correlations],
        alone=found.alone,
        notes=list(found.notes),
        **shares_of(found.performance),
    )


def shares_of(table: RaterPerformance) -> Shares:
    """The shares of a table as plain values."""
    return Shares(
        sensitivity=plain(table.sensitivity),
        specificity=plain(table.specificity),
        ppv=plain(table.ppv),
        npv=plain(table.npv),
        kappa=plain(table.kappa),
    )


def pixel_arrays(by_class: Mapping[str, PixelAgreement], images: Sequence[str]) -> dict[str, NDArray[Any]]:
    """What `stored_agreement` reads back; images by their index among `images`."""
    index = {image: number for number, image in enumerate(images)}
    arrays: dict[str, NDArray[Any]] = {}
    for number, found in enumerate(by_class.values()):
        own = {field.name: getattr(found.sums, field.name) for field in fields(PixelSums)}
        own |= {name: getattr(found, name) for name in OF_IMAGES}
        own["image"] = np.array([index[image] for image in found.images], dtype=np.intp)
        arrays |= {f"{_prefix(number)}{name}": array for name, array in own.items()}
    return arrays


def _prefix(number: int) -> str:
    """What the names of the arrays of a class begin with."""
    return f"class {number}/"


def stored_agreement(
    run: Run[PixelSettings, PixelMetrics, PixelDetails, Any], arrays: Arrays
) -> PixelAgreement | ClassPixelAgreement:
    """The result of a run: of binary masks, or class by class."""
    ids = object_array(as_texts(arrays["image_ids"]))
    found = {}
    for number, details in enumerate(run.details["classes"]):
        own = part_of(arrays, _prefix(number))
        found[details["name"]] = PixelAgreement(
            raters=object_array(run.metrics["raters"]),
            sums=PixelSums(**{field.name: own[field.name] for field in fields(PixelSums)}),
            images=ids[own["image"]],
            image_bound=own["image_bound"],
            image_f1=own["image_f1"],
            image_pixels=own["image_pixels"],
            image_marked=own["image_marked"],
            alone=details["alone"],
            correlations=tuple(Correlation(**record) for record in details["correlations"]),
            raters_are_local=run.settings["raters_are_local"],
        )
    return result_of(found)


def result_of(by_class: Mapping[str, PixelAgreement]) -> PixelAgreement | ClassPixelAgreement:
    """One agreement where masks are binary."""
    if list(by_class) == [MARKED]:
        return by_class[MARKED]
    return ClassPixelAgreement(object_array(list(by_class)), tuple(by_class.values()))


def by_image(arrays: Arrays, name: str, images: int) -> NDArray[np.float64]:
    """(I,) one of `OF_IMAGES`, mean over the classes; NaN of an image without two raters."""
    columns: list[NDArray[np.float64]] = []
    while f"{_prefix(len(columns))}{name}" in arrays:
        prefix = _prefix(len(columns))
        column = np.full(images, np.nan)
        column[arrays[f"{prefix}image"]] = arrays[f"{prefix}{name}"]
        columns.append(column)
    return mean_of_defined(np.array(columns))


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
