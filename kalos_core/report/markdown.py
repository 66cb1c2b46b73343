"""Study as Markdown, for a pull request: results, next steps, and short tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalos_core.diagnostics import ClassDifficulty
from kalos_core.diagnostics.classes import LEAST_IMAGES, hardest_first
from kalos_core.display import VARIATION_LABELS, count_text, percent_text, with_interval
from kalos_core.options import checked
from kalos_core.report.chapters import rates_of
from kalos_core.report.front import Source, short_of, steps_of
from kalos_core.report.pages import Table
from kalos_core.report.studies import LOCAL, Study
from kalos_core.text import markdown_source
from kalos_core.variation import NarrowedVariations

FEW = 5
"""Maximum number of rows in the table of classes."""


@checked
def summary_of(found: Study, title: str, source: Source | None = None) -> str:
    """Summarise a study in Markdown.

    Parameters
    ----------
    found : Study
    title : str
    source : Source, optional
        Origin of the data, for the last lines.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core.report import study
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in (1, 2) for r in "abc"]
    >>> print(summary_of(study(Annotations.from_rows(rows)), "Two cats").splitlines()[0])
    ## Two cats
    """
    lines = [f"## {_text(title)}", "", *_items([one.text for one in short_of(found)]), ""]
    lines += ["### What to do next", "", *_items(steps_of(found)), ""]
    for table in _tables(found):
        lines += [f"### {_text(table.caption)}", "", *_rows(table), ""]
    if found.raters_are_local:
        lines += [_text(LOCAL), ""]
    if found.doubts:
        lines += ["### Limitations", "", *_items(found.doubts), ""]
    lines += [_text(line) for line in (source.lines() if source else [])]
    return "\n".join(lines).rstrip() + "\n"


def _text(text: str) -> str:
    return markdown_source(text, None)


def _items(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield f"- {_text(text)}"


def _tables(found: Study) -> Iterator[Table]:
    """Tables of variation types, hardest classes and rates of raters, if they are defined."""
    if isinstance(found.variations, NarrowedVariations):
        counts = found.variations.counts
        total = sum(counts.values())
        rows = [
            (VARIATION_LABELS[name], count_text(count), percent_text(count / total))
            for name, count in counts.items()
            if count
        ]
        yield Table(("type", "findings", "share"), rows, "Findings by type", (1, 2))
    classes = found.diagnosis.class_difficulty
    if isinstance(classes, ClassDifficulty) and len(order := hardest_first(classes.alpha, classes.images)[:FEW]):
        rows = [
            (
                str(classes.category[at]),
                with_interval(classes.alpha[at], classes.alpha_interval[at]),
                count_text(int(classes.images[at])),
            )
            for at in order.tolist()
        ]
        caption = f"Hardest classes, of those on at least {LEAST_IMAGES} images"
        yield Table(("class", "alpha", "images"), rows, caption, (1, 2))
    if not found.raters_are_local and len(found.cards):
        yield rates_of(list(found.cards))


def _rows(table: Table) -> Iterator[str]:
    yield f"| {' | '.join(map(_text, table.header))} |"
    yield f"|{'|'.join('---:' if at in table.numbers else '---' for at in range(len(table.header)))}|"
    for row in table.rows:
        yield f"| {' | '.join(map(_text, row))} |"
