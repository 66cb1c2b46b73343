"""A sheet for one rater: what others see differently, with drawn examples; to print or to send."""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from kalos_core.display import VARIATION_LABELS, count_text, with_interval
from kalos_core.drawing import Drawing
from kalos_core.report import STYLE
from kalos_core.variation import VARIATION_TYPES, RaterCard

SIDES = {
    "missing": "others annotated it, you did not",
    "additional": "you annotated it, others did not",
    "wrong_class": "you gave it another class than others",
    "merged": "you and others divided it differently",
    "merged_wrong_class": "you and others divided it differently, with other classes",
}
"""Variation type -> what it says of the rater who reads the sheet."""


def card_lines(card: RaterCard) -> Iterator[tuple[str, str]]:
    """What a card says, each number with its name; what is undefined is left out.

    Names are as in the data: show them as text.
    """
    yield "Images and labels", f"{count_text(card.images)} images, {count_text(card.labels)} labels"
    if not math.isnan(card.alpha):
        yield "Agreement with the others", f"α {with_interval(card.alpha, card.alpha_interval)}"
    if not math.isnan(card.vitality):
        yield "α with everybody minus α without this rater", with_interval(card.vitality, card.vitality_interval)
    if not math.isnan(card.sessions):
        yield "Agreement with themselves", f"α {with_interval(card.sessions, card.sessions_interval)}"
    for name in VARIATION_TYPES[1:]:
        if card.rates[name] > 0:
            yield f"{VARIATION_LABELS[name].capitalize()}, for every 100 own labels", f"{card.rates[name]:.1f}"
    for name, rate, others in (("Merges", card.merges, card.merges_with), ("Splits", card.splits, card.splits_with)):
        if rate > 0:
            who = ", ".join(f"{other} {count_text(count)}" for other, count in others.items())
            yield f"{name} what others draw otherwise, for every 100 own labels", f"{rate:.1f} ({who})"
    for pair in card.confusions:
        yield (
            f"Says {pair.own} where others say {pair.other}",
            f"{count_text(pair.count)} finding" + "s" * (pair.count != 1),
        )


def feedback_sheet(card: RaterCard, drawings: Mapping[str, Sequence[Drawing]] | None = None) -> str:
    """One page of HTML that needs no network: the numbers of a rater, and examples of what others see differently.

    Parameters
    ----------
    card : RaterCard
    drawings : mapping of str to sequence of Drawing, optional
        Variation type -> examples.

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
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in card_lines(card))
    examples = "".join(
        f"<h2>{escape(VARIATION_LABELS[kind])}: {escape(SIDES[kind])}</h2>{''.join(map(_picture, drawn))}"
        for kind, drawn in (drawings or {}).items()
    )
    name = escape(card.rater)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title><style>{STYLE}'
        f"img{{max-width:48%;margin:.5em}}h2{{break-after:avoid}}</style></head><body><h1>{name}</h1>"
        f"<table>{rows}</table>{examples}</body></html>\n"
    )


def _picture(drawing: Drawing) -> str:
    png = base64.b64encode(drawing.png()).decode("ascii")
    return f'<img alt="{escape(drawing.title)}" src="data:image/png;base64,{png}">'
