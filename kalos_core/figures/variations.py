"""Plots of variations: how many findings there are of each type."""

from __future__ import annotations

from collections.abc import Mapping

from kalos_core.display import VARIATION_LABELS, count_and_share, number_of, percent_text
from kalos_core.figures.bars import count_bars, row_bars
from kalos_core.figures.common import COLOURS
from kalos_core.figures.late import go
from kalos_core.options import checked
from kalos_core.statements import DIFFERENCE_TEXTS, most_frequent
from kalos_core.variation import VARIATION_TYPES, Variations


def variations_title(counts: Mapping[str, int]) -> str:
    r"""A search for variations in one line.

    Examples
    --------
    >>> variations_title({"correct": 70, "missing": 20, "additional": 10})
    '30\xa0% of 100 findings are differences, most often: only one of two raters annotated an object (30)'
    """
    total = sum(counts.values())
    differences = {name: count for name, count in counts.items() if name != "correct" and count}
    if not total:
        return "No findings: nobody annotated anything"
    if not differences:
        return f"All {number_of(total, 'finding is', 'findings are')} correct"
    kind, most = most_frequent(counts)
    share = percent_text(sum(differences.values()) / total)
    findings = number_of(total, "finding is a difference", "findings are differences")
    return f"{share} of {findings}, most often: {DIFFERENCE_TEXTS[kind]} ({most:,})"


def variation_bars(counts: Mapping[str, int], title: str = "") -> go.Figure:
    """How many findings there are of each variation type."""
    names = list(VARIATION_TYPES)
    total = max(sum(counts.values()), 1)
    values = [counts.get(name, 0) for name in names]
    bars = row_bars(
        values,
        [VARIATION_LABELS[name] for name in names],
        [COLOURS[name] for name in names],
        "%{text} findings<extra>click to see the labels</extra>",
        "findings",
        text=[count_and_share(value, total) for value in values],
        textposition="outside",
        cliponaxis=False,
    )
    return count_bars([bars], "findings", title).update_layout(xaxis_range=[0, 1.55 * max(*values, 1)])


@checked
def plot_variations(result: Variations) -> go.Figure:
    """The counts of a result, titled with its finding."""
    counts = result.counts()
    return variation_bars(counts, variations_title(counts))
