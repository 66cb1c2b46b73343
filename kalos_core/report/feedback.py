"""Feedback sheet for one rater, to print or send: differences from the other raters, with drawn examples."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from kalos_core.display import VARIATION_LABELS, count_text, number_of, percent_text, with_interval
from kalos_core.drawing import Drawing
from kalos_core.errors import lookup
from kalos_core.options import checked
from kalos_core.report.pages import Drawings, Section, Table, page
from kalos_core.variation import RaterCard

SIDES = {
    "missing": "most others annotated it, {} did not",
    "additional": "{} annotated it, no other rater did",
    "wrong_class": "{} gave it another class than most others",
    "merged": "{} and most others divided it differently",
    "merged_wrong_class": "{} and most others divided it differently, with other classes",
}

OBJECTS = {"missing": ("object that most others have", "objects that most others have")}
"""Denominator of a rate, if it is not the rater's own labels."""


@checked
def side_of(kind: str, rater: str = "you") -> str:
    """Describe a variation type from a rater's perspective; by default that of the reader.

    Examples
    --------
    >>> side_of("missing"), side_of("merged", "ann")
    ('Missing: most others annotated it, you did not', 'Merged: ann and most others divided it differently')
    """
    side = lookup(SIDES, kind, "kind")
    return f"{VARIATION_LABELS[kind].capitalize()}: {side.format(rater)}"


@checked
def card_lines(card: RaterCard) -> Iterator[tuple[str, str]]:
    """Yield the numbers of a card with their names, without undefined ones.

    Names are as in the data; escape them on display.
    """
    yield "Images and labels", f"{number_of(card.images, 'image')}, {number_of(card.labels, 'label')}"
    if not math.isnan(card.alpha):
        yield "Agreement with the others", f"α {with_interval(card.alpha, card.alpha_interval)}"
    if not math.isnan(card.vitality):
        yield "α with all raters minus α without this rater", with_interval(card.vitality, card.vitality_interval)
    if not math.isnan(card.sessions):
        yield "Agreement with themselves", f"α {with_interval(card.sessions, card.sessions_interval)}"
    for name in ("missing", "additional", "wrong_class"):
        if card.counts[name][0]:
            yield VARIATION_LABELS[name].capitalize(), rate_text(card, name)
    for name, others in (("merges", card.merges_with), ("splits", card.splits_with)):
        if card.counts[name][0]:
            who = ", ".join(f"{other} {count_text(count)}" for other, count in others.items())
            yield f"{name.capitalize()} what most others divide differently", f"{rate_text(card, name)} ({who})"
    for pair in card.confusions:
        yield (
            f"Says {pair.own} where others say {pair.other}",
            number_of(pair.count, "finding"),
        )


def rate_text(card: RaterCard, name: str) -> str:
    """Format a rate of a card with its count, such as "17 of 70 objects that most others have (24 %)"."""
    count, of = card.counts[name]
    return f"{count_text(count)} of {number_of(of, *OBJECTS.get(name, ('own label',)))} ({percent_text(count / of)})"


@checked
def feedback_sheet(card: RaterCard, drawings: Mapping[str, Sequence[Drawing]] | None = None) -> str:
    """Build a self-contained HTML page with the numbers of a rater and examples of differences.

    Parameters
    ----------
    card : RaterCard
    drawings : mapping of str to sequence of Drawing, optional
        Variation type -> drawn examples.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement, variations
    >>> from kalos_core.diagnostics import narrowed
    >>> from kalos_core.variation import narrowed_variations, rater_scorecards
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("<ann>", "bob")]
    >>> table = Annotations.from_rows(rows)
    >>> (card, _) = rater_scorecards(narrowed(agreement(table)), narrowed_variations(variations(table)))
    >>> "<h1>&lt;ann&gt;</h1>" in feedback_sheet(card)
    True
    """
    examples = [Section(side_of(kind), [Drawings(drawn)]) for kind, drawn in (drawings or {}).items()]
    return page(card.rater, [Section("", [Table((), list(card_lines(card)))]), *examples])
