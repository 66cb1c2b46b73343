"""What is shown of agreement about pixels."""

from __future__ import annotations

from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.pixels.details import SHARE_LABELS
from kalos_core.fiftyone.kinds.pixels.kind import PixelRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import (
    correlation_bars,
    correlation_title,
    performance_dots,
    performance_title,
    rater_tree,
    ratio_curve,
    ratio_title,
    tree_title,
)


def figures(run: PixelRun, category: str | None = None) -> dict[str, Part]:
    """``tree``, ``ratio``, ``performance`` and, where images were read, ``properties``; of one class.

    Parameters
    ----------
    run : Run
        With its details.
    category : str, optional
        By default the first class.
    """
    by_name = {found["name"]: found for found in run.details["classes"]}
    found = lookup(by_name, next(iter(by_name)) if category is None else category, "category")
    raters = run.metrics["raters"]
    shares = {SHARE_LABELS[name]: found[name] for name in SHARE_LABELS}  # type: ignore[literal-required]
    parts = {
        "tree": Part(tree_title(raters, found["outliers"]), rater_tree(raters, found["linkage"], found["outliers"])),
        "ratio": Part(ratio_title(found["ratio"]), ratio_curve([found["ratio"]])),
        "performance": Part(performance_title(raters, found["kappa"]), performance_dots(raters, shares)),
    }
    if found["correlations"]:
        names, r, reasons = ([record[name] for record in found["correlations"]] for name in ("name", "r", "reason"))
        parts["properties"] = Part(correlation_title(names, r), correlation_bars(names, r, reasons))
    return parts
