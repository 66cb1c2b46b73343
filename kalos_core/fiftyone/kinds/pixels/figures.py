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
    pixel_title,
    rater_tree,
    ratio_curve,
    ratio_title,
    smyth_note,
    tree_title,
)


def figures(run: PixelRun, category: str | None = None) -> dict[str, Part]:
    """``agreement``, ``tree``, ``ratio``, ``performance`` and, where images were read, ``properties``; of one class.

    Raters without names over the images have neither ``tree`` nor ``performance``.

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
    (row,) = (row for row in run.metrics["classes"] if row["name"] == found["name"])
    note = smyth_note(row["smyth_bound"], [*found["smyth_notes"], *found["notes"]])
    parts = {
        "agreement": Part(pixel_title(row["f1"], run.metrics["rater_count"]), note=note),
        "ratio": Part(ratio_title(found["ratio"]), ratio_curve([found["ratio"]])),
    }
    if raters:
        shares = {SHARE_LABELS[name]: found[name] for name in SHARE_LABELS}  # type: ignore[literal-required]
        tree = rater_tree(raters, found["linkage"], found["outliers"])
        parts["tree"] = Part(tree_title(raters, found["outliers"]), tree)
        dots = performance_dots(raters, shares)
        parts["performance"] = Part(performance_title(raters, found["kappa"]), dots)
    if found["correlations"]:
        names, r, reasons, p = (
            [record[name] for record in found["correlations"]] for name in ("name", "r", "reason", "p")
        )
        parts["properties"] = Part(correlation_title(names, r, p), correlation_bars(names, r, reasons, p=p))
    return parts
