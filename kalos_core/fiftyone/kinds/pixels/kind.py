"""Agreement about pixels as a kind of run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kalos_core.annotations import object_array
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.masked import newer_files, read_masks
from kalos_core.fiftyone.kinds.pixels.views import view_of_mask_rater
from kalos_core.fiftyone.runs.table import Kind, Run, register
from kalos_core.pixels import ClassPixelAgreement, PixelAgreement
from kalos_core.pixels.stored import MARKED
from kalos_core.results import plain_values


def pixel_metrics(result: PixelAgreement | ClassPixelAgreement, regions: int | None = None) -> dict[str, Any]:
    """Return the summary of an agreement, as plain values.

    ``raters`` is empty if raters have no names across images; ``rater_count`` is then a range such as "4 to 7".
    ``smyth_bound`` is the mean over classes, and ``f1`` the mean over pairs of raters. ``regions`` is the number of
    written regions in dispute, None if they were not requested.
    """
    found = list(pixel_classes(result).values())
    return {
        "raters": found[0].raters.tolist(),
        "rater_count": max((each.rater_count for each in found), key=len),
        "images": len(result.images),
        "pixels": found[0].sums.pixels,
        "smyth_bound": plain_values(result.smyth_bound),
        "f1": plain_values(result.mean_f1),
        "regions": regions,
    }


def pixel_classes(result: PixelAgreement | ClassPixelAgreement) -> dict[str, PixelAgreement]:
    """Return class -> agreement; binary masks have one class."""
    if isinstance(result, PixelAgreement):
        return {MARKED: result}
    return dict(zip(result.classes.tolist(), result.by_class, strict=True))


def result_of(found: Mapping[str, PixelAgreement]) -> PixelAgreement | ClassPixelAgreement:
    """Combine agreements by class into one result; binary masks keep their single agreement."""
    if list(found) == [MARKED]:
        return found[MARKED]
    return ClassPixelAgreement(object_array(list(found)), tuple(found.values()))


def has_regions(run: Run[Any, Any, Any, Any]) -> bool:
    """Return whether a run wrote regions in dispute."""
    return bool(run.settings["regions"])


Result = PixelAgreement | ClassPixelAgreement
PixelRun = Run[dict[str, Any], dict[str, Any], Result, Result]


PIXELS: Kind[dict[str, Any], dict[str, Any], Result, Result] = register(
    Kind(
        name="pixels",
        title="Agreement about pixels",
        operator="compute_pixel_agreement",
        section="Masks",
        suffix="pixels",
        in_analysis=lambda *_: {"regions": True},
        again=lambda run: {name: value for name, value in run.settings.items() if name != "classes"},
        family=MASKS,
        read=read_masks,
        restore=None,
        views={"rater": view_of_mask_rater},
        details=Result,  # type: ignore[arg-type]
        newer=newer_files,
    )
)
