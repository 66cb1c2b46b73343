"""Figures of a ranking of classifiers, each with its finding."""

from __future__ import annotations

from collections.abc import Iterator

from kalos_core.display import number_of
from kalos_core.errors import lookup
from kalos_core.fiftyone.kinds.ranking.kind import RankingRun
from kalos_core.fiftyone.runs.table import Part
from kalos_core.report import Block, rankings
from kalos_core.text import MOST_LETTERS, names_shown


def figures(run: RankingRun, measure: str | None = None) -> dict[str, Part]:
    """Return the figures of a measure (by default the first): ``bump``, ``shared``, ``tau`` and ``concordance``.

    ``bump`` shows the ranks, and ``shared`` the different rankings.
    """
    rankings = run.details.rankings
    ranking = lookup(rankings, measure or next(iter(rankings)), "measure")
    note = " ".join([_over_what(run), *(f"{reason}." for reason in names_shown(ranking.undefined))])
    return {
        "bump": Part.of(ranking, note=note),
        "shared": Part.of(ranking, "shared"),
        "tau": Part.of(ranking, "tau"),
        "concordance": Part.of(run.details.concordance[ranking.measure]),
    }


def _over_what(run: RankingRun) -> str:
    """Describe the data of a ranking, and what it leaves out."""
    metrics = run.metrics
    text = (
        f"{number_of(len(metrics['systems']), 'classifier')} on {number_of(metrics['images'], 'image')} and "
        f"{number_of(metrics['concepts'], 'label')}."
    )
    if metrics["skipped_images"]:
        text += f" {number_of(metrics['skipped_images'], 'image')} without scores are left out."
    alone = sorted({name for entry in metrics["left_out"] for name in entry["concepts"]})
    if alone:
        named = ", ".join(names_shown(alone[:5], MOST_LETTERS)) + (
            f" and {len(alone) - 5:,} more" if len(alone) > 5 else ""
        )
        text += f" Left out under references that find them in no or in all images: {named}."
    return text


def drawn(run: RankingRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report, for each measure."""
    for measure, ranking in run.details.rankings.items():
        yield rankings.ranks(ranking, " ".join([_over_what(run), *(f"{reason}." for reason in ranking.undefined)]))
        yield rankings.shared(ranking)
        yield rankings.alike_rankings(ranking)
        yield rankings.concordant(run.details.concordance[measure])
