"""STAPLE and boundary distances vs. SimpleITK, and agreement of a stack of masks."""

from __future__ import annotations

import importlib.util
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import MaskStack, boundary_agreement, pixel_agreement, staple
from kalos_core.consensus import estimate_truth

SIDE = 2048
STAPLE_RATERS = 8
AGREEMENT_RATERS = 5
FASTER_THAN_ITK = 40.0
MOST_SECONDS = 0.5
FASTER_THAN_ITK_AT_BOUNDARIES = 10.0
MOST_SECONDS_OF_BOUNDARIES = 2.0


def random_masks(raters: int, side: int, seed: int = 0) -> NDArray[np.bool_]:
    """Return discs that every rater marks slightly differently or misses."""
    rng = np.random.default_rng(seed)
    y, x = np.ogrid[:side, :side]
    masks = np.zeros((raters, side, side), np.bool_)
    for centre_x, centre_y, size in rng.uniform(0.1, 0.9, (20, 3)) * side:
        for mask in masks:
            if rng.random() < 0.85:
                dx, dy, grown = rng.normal(0, side / 200, 3)
                mask |= (x - centre_x - dx) ** 2 + (y - centre_y - dy) ** 2 < (size / 12 + grown) ** 2
    return masks


def staple_against_itk(repeats: int, side: int = SIDE) -> Table:
    """Measure one STAPLE of eight masks, with the same prior."""
    masks = random_masks(STAPLE_RATERS, side)
    title = f"STAPLE, {STAPLE_RATERS} raters x {side} x {side} pixels"
    ours = Subject(lambda _: staple(masks))
    if importlib.util.find_spec("SimpleITK") is None:
        (mine,) = alternate([ours], repeats)
        note = "SimpleITK is not installed: pip install SimpleITK (`make bench` does it)"
        return Table(title, (Row("mask and performance", mine.took),), other="SimpleITK", notes=(note,))
    import SimpleITK as itk

    images = [itk.GetImageFromArray(mask.astype(np.uint8)) for mask in masks]

    def theirs(_: Any) -> Any:
        tool = itk.STAPLEImageFilter()
        tool.SetForegroundValue(1)
        return itk.GetArrayFromImage(tool.Execute(images))

    mine, other = alternate([ours, Subject(theirs)], repeats, warm_up=False)
    difference = np.abs(mine.answer.probability - other.answer).max()
    verdict = "same mask" if (mine.answer.mask == (other.answer >= 0.5)).all() else "NOT THE SAME mask"
    return Table(
        title,
        (Row("mask and performance", mine.took, other.took, FASTER_THAN_ITK, title + " vs. SimpleITK"),),
        other=f"SimpleITK {itk.Version.VersionString()}",
        notes=(f"{verdict}, largest difference of a probability {difference:.1e}",),
    )


def boundaries_against_itk(repeats: int, side: int = SIDE) -> Table:
    """Measure boundary distances of every two of eight masks; SimpleITK computes Hausdorff distances only."""
    masks = random_masks(STAPLE_RATERS, side)
    pairs = list(combinations(range(STAPLE_RATERS), 2))
    title = f"boundary distances, {len(pairs)} pairs of {STAPLE_RATERS} raters x {side} x {side} pixels"
    ours = Subject(lambda _: boundary_agreement([masks], bootstrap=0))
    name = "Hausdorff, 95 %, average, surface Dice"
    if importlib.util.find_spec("SimpleITK") is None:
        (mine,) = alternate([ours], repeats)
        limit = Measured((MOST_SECONDS_OF_BOUNDARIES,))
        return Table(title, (Row(name, mine.took, limit, 1.0),), other="limit")
    import SimpleITK as itk

    def theirs(_: Any) -> list[float]:
        images = [itk.GetImageFromArray(np.pad(mask, 1).astype(np.uint8)) for mask in masks]
        contours = [itk.LabelContour(image, fullyConnected=False) for image in images]
        tool, found = itk.HausdorffDistanceImageFilter(), []
        for a, b in pairs:
            tool.Execute(contours[a], contours[b])
            found.append(tool.GetHausdorffDistance())
        return found

    mine, other = alternate([ours, Subject(theirs)], repeats, warm_up=False)
    difference = np.abs(mine.answer.hausdorff - other.answer).max()
    return Table(
        title,
        (Row(name, mine.took, other.took, FASTER_THAN_ITK_AT_BOUNDARIES, title + " vs. SimpleITK"),),
        other=f"SimpleITK {itk.Version.VersionString()}",
        notes=(f"SimpleITK computes Hausdorff distances alone; largest difference of one {difference:.1e}",),
    )


def agreement_of_stacks(repeats: int, side: int = SIDE) -> Table:
    """Measure bound, ratio, F1, outliers and raters vs. the consensus; with an image, correlations too."""
    masks = random_masks(AGREEMENT_RATERS, side)
    image = np.random.default_rng(0).integers(0, 256, (side, side, 3), np.uint8)
    subjects = [
        Subject(lambda _: pixel_agreement([masks]).outliers),
        Subject(lambda _: pixel_agreement([MaskStack.of(masks, image_pixels=image)]).correlations),
        *(Subject(lambda _, name=name: estimate_truth(masks, name)) for name in ("0.5", "excl-0.5", "simple")),
    ]
    plain, coloured, *estimates = alternate(subjects, repeats)
    limit = Measured((MOST_SECONDS,))
    return Table(
        f"agreement and consensus, {AGREEMENT_RATERS} raters x {side} x {side} pixels",
        (
            Row("agreement", plain.took, limit, 1.0),
            Row("agreement and correlations with a colour image", coloured.took),
            *(Row(f"consensus by {each.answer.method}", each.took) for each in estimates),
        ),
        other="limit",
    )
