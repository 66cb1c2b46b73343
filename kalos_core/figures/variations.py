"""Plots of variations: number of findings by type."""

from __future__ import annotations

from collections.abc import Mapping

from kalos_core.display import VARIATION_LABELS, count_and_share, count_text, number_of, percent_text
from kalos_core.figures.bars import count_bars, row_bars
from kalos_core.figures.common import COLOURS
from kalos_core.figures.late import go
from kalos_core.options import checked
from kalos_core.statements import DIFFERENCE_TEXTS, most_frequent
from kalos_core.text import plain
from kalos_core.variation import VARIATION_TYPES, Confusions, Variations

ALARMING = 0.05
"""Smallest share of correct findings with identical outlines that suggests copies."""


def variations_title(counts: Mapping[str, int]) -> str:
    r"""Summarise a search for variations in one line.

    Examples
    --------
    >>> variations_title({"correct": 70, "missing": 20, "additional": 10})
    '30\xa0% of 100 findings are differences, most often: only one of two raters annotated an object (30)'
    """
    total = sum(counts.values())
    differences = {name: count for name, count in counts.items() if name != "correct" and count}
    if not total:
        return "No findings: no rater annotated anything"
    if not differences:
        return f"All {number_of(total, 'finding is', 'findings are')} correct"
    kind, most = most_frequent(counts)
    share = percent_text(sum(differences.values()) / total)
    findings = number_of(total, "finding is a difference", "findings are differences")
    return f"{share} of {findings}, most often: {DIFFERENCE_TEXTS[kind]} ({most:,})"


def divided_title(merged_by: Mapping[str, int], split_by: Mapping[str, int]) -> str:
    """Summarise how often one annotation of a rater is several of another's, and who merges and splits most often.

    Examples
    --------
    >>> divided_title({"ann": 2, "bob": 1}, {"ann": 1, "bob": 2})
    "3 times several annotations of one rater are one of another's: most often ann merges (2), bob splits (2)"
    """
    total = sum(split_by.values())
    if not total:
        return "No annotation was split into parts by another rater"
    merges, splits = max(merged_by, key=merged_by.__getitem__), max(split_by, key=split_by.__getitem__)
    return (
        f"{count_text(total)} time{'s' * (total > 1)} several annotations of one rater are one of another's: "
        f"most often {plain(merges)} merges ({count_text(merged_by[merges])}), "
        f"{plain(splits)} splits ({count_text(split_by[splits])})"
    )


def copies_warning(identical_share: float) -> str:
    r"""Warn if so many correct pairs have identical outlines that labels may have been copied; else return "".

    Examples
    --------
    >>> copies_warning(0.12), copies_warning(0.01), copies_warning(float("nan"))
    ('12\xa0% of the correct pairs are identical: were labels copied?', '', '')
    """
    if not identical_share >= ALARMING:  # NaN without a correct finding
        return ""
    return f"{percent_text(identical_share)} of the correct pairs are identical: were labels copied?"


def confusions_title(found: Confusions) -> str:
    """Summarise how many findings give one object two classes, and the most frequent pair."""
    if not len(found.count):
        return "No class was taken for another"
    total = int(found.count.sum())
    return (
        f"{count_text(total)} finding{'s' * (total > 1)} of two classes for one object, most often "
        f"{plain(found.category_a[0])} and {plain(found.category_b[0])} ({count_text(int(found.count[0]))})"
    )


def variation_bars(counts: Mapping[str, int], title: str = "") -> go.Figure:
    """Plot the number of findings of each variation type."""
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
    """Plot the counts of a result, titled with its finding."""
    counts = result.counts()
    return variation_bars(counts, variations_title(counts))
