"""What is shown of resolved labels: where they come from."""

from __future__ import annotations

from kalos_core.decisions import DECISIONS, LABEL_DECISIONS
from kalos_core.display import number_of
from kalos_core.fiftyone.kinds.resolved.kind import ResolvedRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.bars import count_bars, row_bars
from kalos_core.figures.common import NEUTRAL

ORIGINS = {"agreed": "Raters agree", **DECISIONS, **LABEL_DECISIONS, "undecided": "Undecided: what most have"}


def figures(run: ResolvedRun) -> dict[str, Part]:
    """``origins``: how many labels are agreed, decided in which way, or undecided."""
    metrics, counts = run.metrics, run.metrics["origins"]
    unit = "unit" if run.settings["of"] == "agreement" else "dispute"
    title = (
        f"{number_of(metrics['labels'], 'label')}, {number_of(metrics['decided'], unit)} decided, "
        f"{metrics['open']:,} open"
    )
    names = [name for name in ORIGINS if name in counts]
    if not names:
        return {"origins": Part(title)}
    bars = row_bars(
        [counts[name] for name in names],
        [ORIGINS[name] for name in names],
        NEUTRAL,
        "%{x:,} labels<extra></extra>",
        "origins",
    )
    return {"origins": Part(title, count_bars([bars], "labels"))}
