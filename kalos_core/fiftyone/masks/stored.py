"""Agreement about pixels as a run stores it, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import object_array
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.masks.fields import MARKED
from kalos_core.pixels import ClassPixelAgreement, Correlation, PixelAgreement, PixelSums

SHARES = ("sensitivity", "specificity", "ppv", "npv", "kappa")
"""What is known of a rater beside a consensus or a truth."""

OF_IMAGES = ("image_bound", "image_f1", "image_pixels", "image_marked")


def pixel_figures(by_class: Mapping[str, PixelAgreement]) -> dict[str, Any]:
    """The summary of a run as plain values.

    Returns
    -------
    dict
        ``raters``, ``images``, ``pixels``; ``smyth_bound`` and ``f1``, means over the classes; ``classes``: rows of
        ``name``, ``smyth_bound``, ``f1`` (mean over pairs of raters), ``all_agree`` (share of what anybody marked) and
        ``outliers`` (names).
    """
    rows = [
        {
            "name": name,
            "smyth_bound": plain(found.smyth_bound),
            "f1": plain(_mean_f1(found)),
            "all_agree": plain(found.ratio[-1]),
            "outliers": found.raters[found.outliers].tolist(),
        }
        for name, found in by_class.items()
    ]
    first = next(iter(by_class.values()))
    return {
        "raters": first.raters.tolist(),
        "images": max(len(found.images) for found in by_class.values()),
        "pixels": first.sums.pixels,
        "smyth_bound": _mean([row["smyth_bound"] for row in rows]),
        "f1": _mean([row["f1"] for row in rows]),
        "classes": rows,
    }


def pixel_diagnostics(by_class: Mapping[str, PixelAgreement]) -> dict[str, Any]:
    """All other figures as plain values, None for what is undefined.

    Returns
    -------
    dict
        ``classes``: of each class ``name``, ``smyth_notes``, ``ratio`` (R,), ``f1`` (R, R), ``mean_difference``,
        ``outliers`` (R,), ``linkage`` (R - 1, 4), ``order`` (R,), the five `SHARES` (R,), ``correlations`` (records)
        and ``alone``, images of a single rater.
    """
    return {"classes": [{"name": name, **_details(found)} for name, found in by_class.items()]}


def _details(found: PixelAgreement) -> dict[str, Any]:
    performance = found.performance
    return {
        "smyth_notes": list(found.smyth_notes),
        "ratio": plain(found.ratio),
        "f1": plain(found.f1),
        "mean_difference": plain(found.mean_difference),
        "outliers": found.outliers.tolist(),
        "linkage": found.linkage.tolist(),
        "order": found.order.tolist(),
        **{name: plain(getattr(performance, name)) for name in SHARES},
        "correlations": [plain(each) for each in found.correlations],
        "alone": found.alone,
    }


def pixel_arrays(by_class: Mapping[str, PixelAgreement], images: Sequence[str]) -> dict[str, NDArray[Any]]:
    """What `stored_agreement` reads back; images by their place among `images`."""
    place = {image: number for number, image in enumerate(images)}
    arrays: dict[str, NDArray[Any]] = {}
    for number, found in enumerate(by_class.values()):
        arrays |= {f"{field.name}_{number}": getattr(found.sums, field.name) for field in fields(PixelSums)}
        arrays |= {f"{name}_{number}": getattr(found, name) for name in OF_IMAGES}
        arrays[f"image_{number}"] = np.array([place[image] for image in found.images], dtype=np.intp)
    return arrays


def stored_agreement(
    names: Sequence[str],
    raters: Sequence[str],
    diagnostics: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
) -> PixelAgreement | ClassPixelAgreement:
    """The result of a run: of binary masks, or class by class. `names`: of the classes."""
    found = []
    for number, details in enumerate(diagnostics["classes"]):
        sums = PixelSums(**{field.name: arrays[f"{field.name}_{number}"] for field in fields(PixelSums)})
        found.append(
            PixelAgreement(
                raters=object_array(list(raters)),
                sums=sums,
                images=object_array(arrays["image_ids"][arrays[f"image_{number}"]].tolist()),
                **{name: arrays[f"{name}_{number}"] for name in OF_IMAGES},
                alone=details["alone"],
                correlations=tuple(Correlation(**record) for record in details["correlations"]),
            )
        )
    return result_of(dict(zip(names, found, strict=True)))


def result_of(by_class: Mapping[str, PixelAgreement]) -> PixelAgreement | ClassPixelAgreement:
    """One agreement where masks are binary."""
    if list(by_class) == [MARKED]:
        return by_class[MARKED]
    return ClassPixelAgreement(object_array(list(by_class)), tuple(by_class.values()))


def _mean_f1(found: PixelAgreement) -> float:
    pairs = found.f1[np.triu_indices(len(found.raters), 1)]
    return float(np.nanmean(pairs)) if np.isfinite(pairs).any() else np.nan


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
