"""What is shown of an estimated truth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kalos_core.consensus import CountedTruth
from kalos_core.consensus.methods import WITHOUT_OUTLIERS
from kalos_core.display import percent_text
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.truth.kind import TruthRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.pixels import performance_dots
from kalos_core.report import Block, Text, captioned, masks
from kalos_core.text import plain, shown


def figures(run: TruthRun, consensus: str | None = None, rater: str | None = None) -> dict[str, Part]:
    """``against``: each rater against one consensus.

    ``skill`` and ``confusion``, of a rater or of all, of objects of which it was estimated who is right.

    Parameters
    ----------
    run : Run
        With its details.
    consensus : str, optional
        One of the truths of the details; by default the first.
    rater : str, optional
        The rater of the confusion; by default all.
    """
    truths, raters = run.details.truths, run.metrics["raters"]
    name = next(iter(truths)) if consensus is None else consensus
    found, more = lookup(truths, name, "consensus"), dict[str, Part]()
    if not raters:
        return {"against": Part(f"Against {shown(name)}: raters without names over the images cannot be compared")}
    if isinstance(found, CountedTruth):
        part = Part.of(found.performance, note=_who_stands_out(run) if WITHOUT_OUTLIERS in name else "")
    else:
        shares = {"objects found": found.sensitivity, "are objects": found.ppv}
        dots = performance_dots(raters, shares, axis="share of objects")
        part = Part(_object_title(raters, found.sensitivity), dots)
        if found.estimate is not None:
            more["skill"] = Part.of(found.estimate)
            more["confusion"] = Part.of(found.estimate, "confusion", rater=rater)
    return {"against": replace(part, title=f"Against {shown(name)}: {part.title}"), **more}


def _who_stands_out(run: TruthRun) -> str:
    """Whom the method leaves out, class by class."""
    outliers = run.details.outliers
    found = [", ".join(names) or "nobody" for names in outliers.values()]
    if len(run.metrics["classes"]) > 1:
        found = [f"{names} ({name})" for names, name in zip(found, outliers, strict=True)]
    return f"Over all images stand out, and are left out: {'; '.join(found)}."


def _object_title(raters: Sequence[str], shares: NDArray[np.float64]) -> str:
    """Who annotated the most and the fewest of the objects, in one line."""
    if np.isnan(shares).all():
        return "nobody annotated an object"
    best, least = int(np.nanargmax(shares)), int(np.nanargmin(shares))
    most, fewest = (percent_text(shares[row]) for row in (best, least))
    return f"{shown(raters[best])} annotated most of its objects ({most}), {shown(raters[least])} fewest ({fewest})"


def drawn(run: TruthRun) -> Iterator[Block]:
    """Each rater against the first consensus, as a report draws it."""
    raters, (name, found) = run.metrics["raters"], next(iter(run.details.truths.items()))
    before = f"Against {plain(name)}: "
    if not raters:
        yield Text(f"{before}raters without names over the images cannot be compared", soft=True)
    elif isinstance(found, CountedTruth):
        yield masks.against(found.performance, "against", before)
    else:
        shares = {"objects found": found.sensitivity, "are objects": found.ppv}
        title = f"{before}{_object_title(raters, found.sensitivity)}"
        plot = partial(performance_dots, raters, shares, axis="share of objects")
        yield captioned("against", masks.measured(raters, shares), title, plot=plot)
