"""Commands on pixels: pixels, divisions, truth."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from kalos_core import InputError, LabelStack, boundary_agreement, pixel_agreement, region_agreement
from kalos_core.cli.answers import Answer, Order, numbers_of
from kalos_core.cli.commands import Command
from kalos_core.cli.options import MORE, Flag, Given, options_of
from kalos_core.cli.reading import OF_LABEL_MAPS, OF_MASKS, label_stacks_of, stacks_of
from kalos_core.consensus import ClassStaple, staple_classes
from kalos_core.display import number_of, percent_text
from kalos_core.pixels import DisputedRegions, disputed_regions
from kalos_core.pixels.paired import check_images
from kalos_core.reliability import NO_OBJECT
from kalos_core.results import of_pairs

if TYPE_CHECKING:
    import pandas as pd

LOCAL = ("raters_are_local",)
"""Arguments that the reader supplies."""

REGIONS = Flag("regions", bool, "Also list the regions where raters differ most, with their area.", group=MORE)
BOUNDARIES = Flag(
    "boundaries", bool, "Also measure the distance between the boundaries of every two raters.", group=MORE
)


def _pixels(given: Given) -> Answer:
    import pandas as pd

    found = pixel_agreement(stacks_of(given, given["masks"]), **given.of(pixel_agreement, without=LOCAL))
    tables, notes = {"images": found.to_pandas()}, [*found.notes]
    if not found.raters_are_local:
        raters = found.performance.to_pandas()
        raters.insert(1, "mean_difference", found.mean_difference)
        raters.insert(2, "outlier", found.outliers)
        tables |= {"raters": raters, "pairs": of_pairs(found.raters, f1=found.f1, f1_interval=found.f1_interval)}
    if found.correlations:
        tables["properties"] = pd.DataFrame(map(asdict, found.correlations))
    results: dict[str, Any] = {
        **numbers_of(found, "mean_f1", "mean_f1_interval", "smyth_bound", "smyth_interval", "within_limit", "ratio"),
        "pixels": found.sums.pixels,
        "images": len(found.images),
        "alone": found.alone,
        "notes": [*found.notes, *found.smyth_notes],
    }
    if given.get("boundaries"):
        apart = boundary_agreement(stacks_of(given, given["masks"]), **given.of(boundary_agreement))
        results["boundaries"] = apart.summary()
        tables["boundaries"] = apart.to_pandas().drop(columns=["class", "unit"])
        notes += apart.headline.splitlines()
    if given.get("regions"):
        regions = disputed_regions(stacks_of(given, given["masks"]), **given.of(disputed_regions))
        results["regions"] = {"count": len(regions), "area": regions.area.sum()}
        tables["regions"] = _sides(regions)
        notes.append(regions.headline)
    least_first = {"raters": Order("kappa"), "pairs": Order("f1"), "properties": Order()}
    shown = {name: by for name, by in least_first.items() if name in tables}
    return Answer("\n".join([repr(found), *notes]), results, tables, shown, found.mean_f1)


def _sides(found: DisputedRegions) -> pd.DataFrame:
    """Return one row per region, largest first: who marked most of it, and who left most of it."""
    table = found.to_pandas().iloc[:, : -len(found.raters)].copy()
    order = np.argsort(-found.area, kind="stable")
    for name, side in (("marked_by", found.values >= 0), ("left_by", found.values == NO_OBJECT)):
        table[name] = [", ".join(map(str, found.raters[row])) for row in side[order]]
    return table


def _divisions(given: Given) -> Answer:
    found = region_agreement(label_stacks_of(given, given["masks"]), **given.of(region_agreement))
    tables = {"images": found.by_image(), "image_pairs": found.to_pandas()}
    if not found.raters_are_local:
        tables["pairs"] = found.by_rater_pair()
    summary = found.summary()
    shown = {"pairs": Order("adjusted_rand")} if "pairs" in tables else {}
    return Answer(repr(found), summary, tables, shown, summary["adjusted_rand"])


def _truth(given: Given) -> Answer:
    import pandas as pd

    options = given.of(staple_classes)
    options["classes"] = _by_value(options.get("classes"), "classes")
    options["prior"] = _by_value(options.get("prior"), "prior")
    parts: dict[str, list[pd.DataFrame]] = {"classes": [], "raters": [], "confusion": []}
    files, alone, tied, unsettled = {}, 0, 0, 0
    for stack in label_stacks_of(given, given["masks"]):
        if len(stack.raters) < 2:
            alone += 1
            continue
        found = staple_classes(stack, **options)
        files[f"{Path(str(stack.image)).name}.png"] = partial(_write, png=_png(found.labels, stack))
        for name, table in _tables_of(found).items():
            table.insert(0, "image", stack.image)
            parts[name].append(table)
        tied, unsettled = tied + int(found.tied.sum()), unsettled + (not found.converged)
    check_images(len(files), alone)
    tables = {name: pd.concat(each, ignore_index=True) for name, each in parts.items()}
    means = tables["raters"].groupby("rater", sort=False)["accuracy"].mean()
    results = {"images": len(files), "alone": alone, "tied": tied, "unsettled": unsettled, "accuracy": means.to_dict()}
    text = (
        f"Truth of {number_of(len(files), 'image')} by STAPLE of all classes at once: raters are right at "
        f"{percent_text(means.min())} to {percent_text(means.max())} of pixels"
    )
    return Answer(text, results, tables, {"raters": Order("accuracy")}, files=files)


def _tables_of(found: ClassStaple) -> dict[str, pd.DataFrame]:
    """Return tables of one image: pixels of each class, accuracy of each rater, and confusion."""
    import pandas as pd

    pixels = [int(((found.labels == value) & (found.pattern >= 0)).sum()) for value in found.values]
    return {
        "classes": pd.DataFrame({"class": found.classes, "value": found.values, "pixels": pixels}),
        "raters": pd.DataFrame({"rater": found.raters, "accuracy": found.accuracy}),
        "confusion": found.to_pandas(),
    }


def _by_value(given: Mapping[Any, Any] | None, name: str) -> dict[int, Any] | None:
    """Convert keys that are values of label maps to integers, as JSON and YAML may have them as text."""
    if given is None:
        return None
    wrong = [key for key in given if not str(key).isdigit()]
    if wrong:
        raise InputError(f"{name}: expected values of label maps, whole numbers from 0, got {wrong[0]!r}")
    return {int(key): value for key, value in given.items()}


def _png(labels: NDArray[np.int64], stack: LabelStack) -> bytes:
    """Encode a label map as a PNG file of 8 or 16 bits."""
    if labels.min() < 0 or labels.max() > np.iinfo(np.uint16).max:
        raise InputError(
            f"image {stack.image!r}: expected values from 0 to 65,535, got {labels.min():,} to {labels.max():,}"
        )
    buffer = io.BytesIO()
    Image.fromarray(labels.astype(np.uint8 if labels.max() < 256 else np.uint16)).save(buffer, "PNG")
    return buffer.getvalue()


def _write(path: Path, png: bytes) -> None:
    path.write_bytes(png)


COMMANDS = (
    Command(
        "pixels",
        "how far raters agree on pixels: F1, outliers, and the lowest error that the labels allow",
        _pixels,
        (("masks", "folder of masks with one folder per rater, or annotations with polygons or masks in any format"),),
        (
            *options_of(pixel_agreement, without=LOCAL),
            BOUNDARIES,
            *options_of(boundary_agreement, without=("classes", "bootstrap", "seed"), group=MORE),  # common to both
            REGIONS,
            *options_of(disputed_regions, without=("classes",), group=MORE),
            *OF_MASKS,
        ),
        score="mean F1",
        example="masks --boundaries",
        tables=("images", "raters", "pairs", "properties", "boundaries", "regions"),
    ),
    Command(
        "divisions",
        "how similar the segmentations of raters are, ignoring region names: adjusted Rand index, information",
        _divisions,
        (("masks", "folder of label maps with one folder per rater, or files of BSDS"),),
        (*options_of(region_agreement), *OF_LABEL_MAPS),
        score="mean adjusted Rand index",
        example="masks --bootstrap 100",
        tables=("images", "image_pairs", "pairs"),
    ),
    Command(
        "truth",
        "class of each pixel, estimated by STAPLE of all classes at once; --out writes a label map per image",
        _truth,
        (("masks", "folder of label maps with one folder per rater, or files of BSDS"),),
        (*options_of(staple_classes), *OF_LABEL_MAPS),
        example="masks --class-names '{1: cat}' --out truth",
        tables=("classes", "raters", "confusion"),
    ),
)
