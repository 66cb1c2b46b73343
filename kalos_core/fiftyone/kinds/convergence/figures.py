"""What is shown of label convergence: figures, each with its finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from kalos_core.fiftyone.kinds.convergence.metrics import (
    ConvergenceDetails,
    LineMetrics,
    ModelMetrics,
    PartMetrics,
    SizeMetrics,
    shown_parts,
)
from kalos_core.fiftyone.runs.table import Part, Run
from kalos_core.figures import (
    NamedLine,
    directions_heatmap,
    directions_title,
    interval_bars,
    replicate_scatter,
    significant,
    size_curve,
)


def figures(
    run: Run[Any, Any, Any, Any],
    found: ConvergenceDetails | None = None,
    points: Mapping[str, NDArray[Any]] | None = None,
) -> dict[str, Part]:
    """``bars``, ``sizes``, ``matrix`` and, where the points of the replicates are given, ``scatter``.

    Parameters
    ----------
    run : Run
    found : dict, optional
        Of `convergence_metrics`, of some thresholds; by default what the run stored, of all.
    points : dict, optional
        Of `replicate_points`.
    """
    shown: ConvergenceDetails = run.details if found is None else found
    parts = {
        "bars": Part("", _bars(shown_parts(shown["parts"]), shown["models"])),
        "sizes": _sizes(shown["sizes"], len(shown["thresholds"]) < len(run.settings["thresholds"])),
        "matrix": Part(
            directions_title(shown["raters"], shown["matrix"]), directions_heatmap(shown["raters"], shown["matrix"])
        ),
    }
    if points is not None:
        parts["scatter"] = Part(_fit(shown["lines"]), _scatter(points, shown["lines"]))
    return parts


def _bars(parts: Sequence[PartMetrics], models: Sequence[ModelMetrics]) -> Any:
    """Intervals with the models on all images; on a tag only the mAP that is known there."""
    field = next((model["name"] for model in models if "by_rater" in model), "")
    diamonds: list[dict[str, float]] = [{model["name"]: model["map"] for model in models}]
    diamonds += [{} if part["predicted"] is None else {field: part["predicted"]} for part in parts[1:]]
    names = [part["name"] for part in parts]
    means, wholes = ([part[name] for part in parts] for name in ("mean", "whole"))
    return interval_bars(names, means, [part["interval"] for part in parts], diamonds, wholes=wholes)


def _sizes(rows: Sequence[SizeMetrics], narrowed: bool) -> Part:
    """Label convergence over the size of subsets, all images last; stored is that of all thresholds."""
    first, last = rows[0], rows[-1]
    return Part(
        f"{100 * last['convergence']:.1f} mAP on all {last['images']:,} images, {100 * first['convergence']:.1f} on "
        f"subsets of {first['images']:,}",
        size_curve(
            [row["images"] for row in rows],
            [row["convergence"] for row in rows],
            [(row["low"], row["high"]) for row in rows],
        ),
        "Over all thresholds of the run." if narrowed else "",
    )


def _scatter(points: Mapping[str, NDArray[Any]], lines: Sequence[LineMetrics]) -> Any:
    """Rounded, as all data of a panel travels with every click."""
    named = [NamedLine(line["name"], line["slope"], line["intercept"]) for line in lines]
    return replicate_scatter(points["alpha"].round(4), points["map"].round(4), points["threshold"].round(4), named)


def _fit(lines: Sequence[LineMetrics]) -> str:
    """How well the line that was fitted here explains the subsets."""
    fitted = next((line for line in lines if line["name"] == "fitted here"), None)
    if fitted is None:
        return "No line is fitted: that takes two raters and subsets whose alpha differs"
    return (
        f"α explains {100 * fitted['explained']:.0f} % of the spread of mAP "
        f"(ρ = {significant(fitted['correlation'])}; published: ρ = 0.92)"
    )
