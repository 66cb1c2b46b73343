"""Figures of an estimated truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus import CountedTruth
from kalos_core.consensus.methods import WITHOUT_OUTLIERS
from kalos_core.display import count_text, number_of, percent_text, significant
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.truth.kind import TruthRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.pixels import performance_dots
from kalos_core.nominal import LabelTruth
from kalos_core.nominal.skill import TOO_SURE
from kalos_core.report import Block, Text, captioned, masks
from kalos_core.text import plain, shown

FEW_RATERS = 4
"""Minimum number of raters to distinguish their skills on objects."""


def figures(run: TruthRun, consensus: str | None = None, rater: str | None = None) -> dict[str, Part]:
    """Return the figures of a run.

    ``against`` compares each rater with one consensus. ``skill`` and ``confusion``, of one rater or of all, need a run
    on objects that estimated who is right.

    Parameters
    ----------
    run : Run
        A run with its details.
    consensus : str, optional
        Name of an estimate in the details; by default the first.
    rater : str, optional
        Rater of the confusion; by default all raters.
    """
    truths, raters = run.details.truths, run.metrics["raters"]
    name = next(iter(truths)) if consensus is None else consensus
    found, more = lookup(truths, name, "consensus"), dict[str, Part]()
    if not raters:
        return {"against": Part(f"Against {shown(name)}: raters without names across images cannot be compared")}
    if isinstance(found, CountedTruth):
        part = Part.of(found.performance, note=_who_stands_out(run) if WITHOUT_OUTLIERS in name else "")
    else:
        shares = {"objects found": found.sensitivity, "are objects": found.ppv}
        dots = performance_dots(raters, shares, axis="share of objects")
        part = Part(_object_title(raters, found.sensitivity), dots)
        if found.estimate is not None:
            more["skill"] = Part.of(found.estimate, note=_how_estimated(run, found.overruled))
            more["confusion"] = Part.of(found.estimate, "confusion", rater=rater)
    return {"against": replace(part, title=f"Against {shown(name)}: {part.title}"), **more}


def consensus_title(metrics: Mapping[str, Any], truths: Mapping[str, Any]) -> str:
    """Describe the size of the estimates, and how much it depends on the method."""
    if metrics["of"] == "objects":
        name, found = next(iter(truths.items()))
        of = f"of {number_of(sum(found.counts.values()), 'annotated unit')}"
        return f"{number_of(found.counts['kept'], f'{of} is an object', f'{of} are objects')} at {name}"
    pixels = {name: found.pixels for name, found in truths.items()}
    least, most = min(pixels, key=lambda name: pixels[name]), max(pixels, key=lambda name: pixels[name])
    if len(pixels) < 2 or not pixels[least]:
        return f"{number_of(pixels[most], 'pixel is', 'pixels are')} true by {most}"
    times = significant(pixels[most] / pixels[least], 2)
    if times == significant(1, 2):
        range_of = f"{count_text(pixels[least])} to {count_text(pixels[most])}"
        return f"All methods find about the same number of true pixels ({range_of})"
    return f"The method matters: {most} marks {times} times as many pixels as {least}"


def over_what(metrics: Mapping[str, Any]) -> str:
    """Describe the data and the fields of an estimate."""
    raters = number_of(len(metrics["raters"]), "rater") if metrics["raters"] else "unnamed raters"
    fields = ", ".join([*metrics["fields"].values(), *metrics["maps"].values()])
    return f"{number_of(metrics['images'], 'image')}, {raters}. Fields: {fields}"


def truth_doubts(estimate: LabelTruth) -> Iterator[str]:
    """Return reasons not to use an estimated truth of objects."""
    if len(estimate.raters) < FEW_RATERS:
        yield f"Fewer than {FEW_RATERS} raters can hardly be told apart: votes are right more often."
    if estimate.overturned:
        have = number_of(estimate.overturned, "has", "have")
        yield (
            f"Do not use it: {have} a class that none of their raters gave, or no class. Classes were probably "
            "confused with each other."
        )
    if estimate.errs_together:
        yield TOO_SURE
    if not estimate.converged:
        yield "Not converged: the estimation was stopped before its values settled."


def _how_estimated(run: TruthRun, overruled: int) -> str:
    return (
        "Who is right is estimated: the confidence of a label is the probability that it is an object of its class, "
        f"{run.names.existence} that of any. {number_of(overruled, 'is', 'are')} decided against most of their raters."
    )


def _who_stands_out(run: TruthRun) -> str:
    """Describe the raters that the method excludes, by class."""
    outliers = run.details.outliers
    found = [", ".join(names) or "none" for names in outliers.values()]
    if len(run.metrics["classes"]) > 1:
        found = [f"{names} ({name})" for names, name in zip(found, outliers, strict=True)]
    return f"Excluded raters (outliers over all images): {'; '.join(found)}."


def _object_title(raters: Sequence[str], shares: NDArray[np.float64]) -> str:
    """Describe in one line the raters who annotated the most and the fewest of the objects."""
    if np.isnan(shares).all():
        return "no rater annotated an object"
    best, least = int(np.nanargmax(shares)), int(np.nanargmin(shares))
    most, fewest = (percent_text(shares[row]) for row in (best, least))
    return f"{shown(raters[best])} annotated most of its objects ({most}), {shown(raters[least])} fewest ({fewest})"


def drawn(run: TruthRun) -> Iterator[Block]:
    """Return the comparison of each rater with the first consensus, as blocks of a report."""
    raters, (name, found) = run.metrics["raters"], next(iter(run.details.truths.items()))
    before = f"Against {plain(name)}: "
    if not raters:
        yield Text(f"{before}raters without names across images cannot be compared", soft=True)
    elif isinstance(found, CountedTruth):
        yield masks.against(found.performance, "against", before)
    else:
        shares = {"objects found": found.sensitivity, "are objects": found.ppv}
        title = f"{before}{_object_title(raters, found.sensitivity)}"
        plot = partial(performance_dots, raters, shares, axis="share of objects")
        yield captioned("against", masks.measured(raters, shares), title, plot=plot)
