"""What is shown of a ranking of classifiers: sentences with the findings, and plots."""

from __future__ import annotations

from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.ranking.details import rankings_of
from kalos_core.fiftyone.kinds.ranking.kind import RankingRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import bump_chart, ranking_title, shared_chart, shared_title, tau_heatmap, tau_title
from kalos_core.ranking import shared_rankings


def figures(run: RankingRun, measure: str | None = None) -> dict[str, Part]:
    """``bump``, ranks by a measure (the first), ``shared``, the different rankings, and ``tau``, how alike they are."""
    rankings = rankings_of(run.metrics)
    ranking = lookup(rankings, measure or next(iter(rankings)), "measure")
    references = ranking.truths.tolist()
    (tau,) = (row["tau"] for row in run.details["measures"] if row["measure"] == ranking.measure)
    chart = bump_chart(references, ranking.systems.tolist(), ranking.ranks, ranking.values, ranking.measure)
    shared = shared_rankings(ranking)
    note = " ".join([_over_what(run), *(f"{reason}." for reason in ranking.undefined)])
    return {
        "bump": Part(ranking_title(ranking), chart, note),
        "shared": Part(shared_title(shared), shared_chart(shared) if shared else None),
        "tau": Part(tau_title(references, tau), tau_heatmap(references, tau)),
    }


def _over_what(run: RankingRun) -> str:
    """What a ranking is over, and what it leaves out."""
    metrics = run.metrics
    text = f"{len(metrics['systems'])} classifiers on {metrics['images']:,} images and {metrics['concepts']:,} labels."
    if metrics["skipped_images"]:
        text += f" {metrics['skipped_images']:,} images without scores are left out."
    alone = sorted({name for entry in metrics["left_out"] for name in entry["concepts"]})
    if alone:
        shown = ", ".join(alone[:5]) + (f" and {len(alone) - 5:,} more" if len(alone) > 5 else "")
        text += f" Left out under some reference, which finds them nowhere or everywhere: {shown}."
    return text
