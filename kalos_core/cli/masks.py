"""The commands on pixels."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from kalos_core import boundary_agreement, disputed_regions, pixel_agreement, region_agreement
from kalos_core.cli.answers import Answer
from kalos_core.cli.commands import Command
from kalos_core.cli.options import Given, Option, options_of
from kalos_core.cli.reading import OF_LABEL_MAPS, OF_MASKS, label_stacks_of, stacks_of
from kalos_core.pixels import DisputedRegions, PixelAgreement
from kalos_core.reliability import NO_OBJECT
from kalos_core.resampling import interval_columns

if TYPE_CHECKING:
    import pandas as pd

LOCAL = ("raters_are_local",)
"""What the reader says already."""

REGIONS = Option("regions", (bool,), help="the regions where raters differ most, with their area, too")
BOUNDARIES = Option("boundaries", (bool,), help="how far the boundaries of every two raters are from each other, too")


def _pixels(given: Given) -> Answer:
    import pandas as pd

    found = pixel_agreement(stacks_of(given, given["masks"]), **given.of(pixel_agreement, without=LOCAL))
    tables, notes = {"images": found.to_pandas()}, [*found.notes]
    if not found.raters_are_local:
        raters = found.performance.to_pandas()
        raters.insert(1, "mean_difference", found.mean_difference)
        raters.insert(2, "outlier", found.outliers)
        tables |= {"raters": raters, "pairs": _pairs(found)}
    if found.correlations:
        tables["properties"] = pd.DataFrame(map(asdict, found.correlations))
    results: dict[str, Any] = {
        "mean_f1": found.mean_f1,
        "mean_f1_interval": found.mean_f1_interval,
        "smyth_bound": found.smyth_bound,
        "smyth_interval": found.smyth_interval,
        "within_limit": found.within_limit,
        "ratio": found.ratio,
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
    shown = tuple(name for name in tables if name not in ("images", "boundaries", "regions"))
    return Answer("\n".join([repr(found), *notes]), results, tables, shown, found.mean_f1)


def _sides(found: DisputedRegions) -> pd.DataFrame:
    """One row a region, the largest first: who marked most of it, and who left most of it."""
    table = found.to_pandas().iloc[:, : -len(found.raters)].copy()
    order = np.argsort(-found.area, kind="stable")
    for name, side in (("marked_by", found.values >= 0), ("left_by", found.values == NO_OBJECT)):
        table[name] = [", ".join(map(str, found.raters[row])) for row in side[order]]
    return table


def _pairs(found: PixelAgreement) -> pd.DataFrame:
    import pandas as pd

    a, b = np.triu_indices(len(found.raters), 1)
    bounds = interval_columns(f1=found.f1_interval[a, b])
    return pd.DataFrame({"rater_a": found.raters[a], "rater_b": found.raters[b], "f1": found.f1[a, b], **bounds})


def _divisions(given: Given) -> Answer:
    found = region_agreement(label_stacks_of(given, given["masks"]), **given.of(region_agreement))
    tables = {"images": found.by_image(), "image_pairs": found.to_pandas()}
    if not found.raters_are_local:
        tables["pairs"] = found.by_rater_pair()
    summary = found.summary()
    return Answer(
        repr(found), summary, tables, tuple(name for name in tables if name == "pairs"), summary["adjusted_rand"]
    )


COMMANDS = (
    Command(
        "pixels",
        "how far raters agree about pixels: F1, outliers, and the least error that labels allow",
        _pixels,
        (("masks", "folder of masks with one folder a rater, or annotations with polygons or masks in any format"),),
        (
            *options_of(pixel_agreement, without=LOCAL),
            BOUNDARIES,
            *options_of(boundary_agreement, without=("classes", "bootstrap", "seed")),  # those of both are the same
            REGIONS,
            *options_of(disputed_regions, without=("classes",)),
            *OF_MASKS,
        ),
        score="mean F1",
    ),
    Command(
        "divisions",
        "how alike raters divide images into regions, whatever these are called: adjusted Rand index, information",
        _divisions,
        (("masks", "folder of label maps with one folder a rater, or files of BSDS"),),
        (*options_of(region_agreement), *OF_LABEL_MAPS),
        score="mean adjusted Rand index",
    ),
)
