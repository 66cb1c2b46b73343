"""What is shown of an estimated truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kalos_core.consensus.methods import WITHOUT_OUTLIERS
from kalos_core.display import significant
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.pixels.details import SHARE_LABELS
from kalos_core.fiftyone.kinds.truth.details import consensus_names
from kalos_core.fiftyone.kinds.truth.kind import TruthRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import performance_dots, performance_title


def figures(run: TruthRun, consensus: str | None = None) -> dict[str, Part]:
    """``against``: each rater against one consensus.

    Parameters
    ----------
    run : Run
        With its details.
    consensus : one of `consensus_names`, optional
        By default the first.
    """
    names, raters = consensus_names(run.metrics, run.details), run.metrics["raters"]
    rows: Sequence[Mapping[str, Any]] = run.details["truths"]
    name = names[0] if consensus is None else consensus
    row = lookup(dict(zip(names, rows, strict=True)), name, "consensus")
    if not raters:
        return {"against": Part(f"Against {name}: raters without names over the images cannot be compared")}
    title = performance_title(raters, row["kappa"]) if "kappa" in row else _object_title(raters, row["sensitivity"])
    shares = {label: row[share] for share, label in SHARE_LABELS.items() if share in row}
    note = _who_stands_out(run) if row["truth"] == WITHOUT_OUTLIERS else ""
    return {"against": Part(f"Against {name}: {title}", performance_dots(raters, shares), note)}


def _who_stands_out(run: TruthRun) -> str:
    """Whom the method leaves out, class by class."""
    several = len(run.metrics["classes"]) > 1
    found = [
        (", ".join(row["raters"]) or "nobody") + (f" ({row['category']})" if several else "")
        for row in run.details["outliers"]
    ]
    return f"Over all images stand out, and are left out: {'; '.join(found)}."


def _object_title(raters: Sequence[str], shares: Sequence[float | None]) -> str:
    """Who annotated the most and the fewest of the objects, in one line."""
    known = {name: share for name, share in zip(raters, shares, strict=True) if share is not None}
    if not known:
        return "nobody annotated an object"
    best, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    most, fewest = (f"{significant(100 * known[name])} %" for name in (best, least))
    return f"{best} annotated most of its objects ({most}), {least} fewest ({fewest})"
