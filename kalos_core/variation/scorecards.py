"""Scorecard for each rater: how much the others agree with them, and where they differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.diagnostics import IntraRater, NarrowedAgreement
from kalos_core.diagnostics.rematching import taking_part
from kalos_core.display import number_of
from kalos_core.errors import Undefined, index_of
from kalos_core.options import checked
from kalos_core.results import Result
from kalos_core.variation.narrowing import NarrowedVariations
from kalos_core.variation.rates import RATES, VARIATION_TYPES, rows_counted

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES, CONFUSIONS = 3, 5
"""Number of example annotations per variation type, and of confusions per rater."""

NOBODY = (math.nan, math.nan)


@dataclass(frozen=True)
class Confused:
    """Pair of classes that a rater calls `own` and others call `other`, with the number of findings."""

    own: str
    other: str
    count: int


@dataclass(frozen=True, eq=False)
class RaterCard:
    """Statistics of one rater compared with the others.

    Parameters
    ----------
    rater : str
    images, labels : int
        Number of images assigned to the rater, and number of the rater's annotations.
    alpha : float
        Alpha of the pairs of the rater with each other rater, mean over images; NaN if undefined, as for all numbers
        here.
    alpha_interval, vitality_interval, sessions_interval : (float, float)
        95 % bootstrap interval over images.
    vitality : float
        Alpha with all raters minus alpha without this rater.
    rates : dict
        Name in `RATES` -> rate per 100 objects. `additional`: own annotations that no other rater has; `missing`:
        objects that most of the others have, but not this rater.
    counts : dict
        Name in `RATES` -> count and total.
    merges, splits : float
        Values of `rates`: own annotations that most others split into several, and those that are parts of one of
        theirs.
    merges_with, splits_with : dict
        Other rater -> number of such findings.
    confusions : tuple of Confused
        Most frequent confusions.
    sessions : float
        Alpha of the rater's own sessions; NaN without several sessions.
    examples : dict
        Variation type -> ids of up to three annotations, clearest cases first; the rater's own, or those of others for
        `missing`.
    """

    rater: str
    images: int
    labels: int
    alpha: float
    alpha_interval: tuple[float, float]
    vitality: float
    vitality_interval: tuple[float, float]
    rates: dict[str, float]
    counts: dict[str, tuple[int, int]]
    merges: float
    splits: float
    merges_with: dict[str, int]
    splits_with: dict[str, int]
    confusions: tuple[Confused, ...]
    sessions: float
    sessions_interval: tuple[float, float]
    examples: dict[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False, repr=False)
class Scorecard(Result):
    """Scorecards of R raters, in the order of the vocabulary.

    Figures: ``"raters"``.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement, variations
    >>> from kalos_core.diagnostics import narrowed
    >>> from kalos_core.variation import narrowed_variations
    >>> given = [("ann", 0), ("bob", 0), ("bob", 50)]
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in given]
    >>> table = Annotations.from_rows(rows)
    >>> cards = rater_scorecards(narrowed(agreement(table)), narrowed_variations(variations(table)))
    >>> cards.to_pandas()[["rater", "labels", "missing", "additional"]].values.tolist()
    [['ann', 1, 50.0, 0.0], ['bob', 2, 0.0, 50.0]]
    """

    _call = "rater_scorecards(narrowed(agreement), narrowed_variations(variations))"

    cards: tuple[RaterCard, ...]

    def __len__(self) -> int:
        return len(self.cards)

    def __iter__(self) -> Iterator[RaterCard]:
        return iter(self.cards)

    @property
    def headline(self) -> str:
        """Finding, in words."""
        return f"Scorecards of {number_of(len(self.cards), 'rater')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per rater: the numbers of `RaterCard`, one rate column per type, the rest as text."""
        import pandas as pd

        return pd.DataFrame(
            {
                "rater": card.rater,
                "images": card.images,
                "labels": card.labels,
                "alpha": card.alpha,
                "alpha_low": card.alpha_interval[0],
                "alpha_high": card.alpha_interval[1],
                "vitality": card.vitality,
                "vitality_low": card.vitality_interval[0],
                "vitality_high": card.vitality_interval[1],
                **card.rates,
                "confusions": ", ".join(f"{pair.own} / {pair.other} ({pair.count:,})" for pair in card.confusions),
                "sessions": card.sessions,
            }
            for card in self.cards
        )


@checked
def rater_scorecards(
    agreement: NarrowedAgreement | None,
    found: NarrowedVariations | None,
    sessions: IntraRater | Undefined | None = None,
) -> Scorecard:
    """Create the scorecards of all raters for a part of an agreement and of its variations.

    Parameters
    ----------
    agreement : NarrowedAgreement, optional
        Without it, numbers of agreement are NaN.
    found : NarrowedVariations, optional
        Variations of the same images; without it, findings are NaN or empty.
    sessions : IntraRater, optional

    Returns
    -------
    Scorecard
        See `Scorecard` for an example.
    """
    given = agreement.sums.part.annotations if agreement else found.found.annotations if found else None
    if given is None:
        return Scorecard(())
    return Scorecard(tuple(_card(name, agreement, found, sessions) for name in given.raters.tolist()))


def _card(
    name: str,
    agreement: NarrowedAgreement | None,
    found: NarrowedVariations | None,
    sessions: IntraRater | Undefined | None,
) -> RaterCard:
    alpha, of_alpha, vitality, of_vitality, images = math.nan, NOBODY, math.nan, NOBODY, 0
    if agreement is not None:
        annotations, code = agreement.sums.part.annotations, agreement.sums.part.annotations.raters.tolist().index(name)
        images = int(taking_part(annotations)[:, code].sum())
        pairs = agreement.by_rater
        alpha, of_alpha = float(pairs.alpha[code]), _ends(pairs.alpha_interval[code])
        left_out = agreement.vitality
        if not isinstance(left_out, Undefined):
            vitality, of_vitality = float(left_out.vitality[code]), _ends(left_out.vitality_interval[code])
    again, of_again = math.nan, NOBODY
    if isinstance(sessions, IntraRater) and agreement is not None:
        at = index_of(sessions.person.tolist(), annotations.person[code], "sessions")
        again, of_again = float(sessions.alpha[at]), _ends(sessions.alpha_interval[at])
    rates = dict.fromkeys(RATES, math.nan)
    counts = dict.fromkeys(RATES, (0, 0))
    labels, merges_with, splits_with = 0, Counter[str](), Counter[str]()
    confusions: tuple[Confused, ...] = ()
    examples: dict[str, tuple[str, ...]] = {}
    if found is not None:
        code = found.found.annotations.raters.tolist().index(name)
        labels, rates, merged = int(found.own[code]), found.rates[name], found.merged
        counts = found.rater_rates.counts[name]
        merges_with = Counter(merged.parts_rater[merged.whole_rater == name].tolist())
        splits_with = Counter(merged.whole_rater[merged.parts_rater == name].tolist())
        confusions, examples = _confusions(found, code), _examples(found, code)
        if agreement is None:
            images = int(taking_part(found.found.annotations)[found.images, code].sum())
    return RaterCard(
        rater=name,
        images=images,
        labels=labels,
        alpha=alpha,
        alpha_interval=of_alpha,
        vitality=vitality,
        vitality_interval=of_vitality,
        rates=rates,
        counts=counts,
        merges=rates["merges"],
        splits=rates["splits"],
        merges_with=dict(merges_with.most_common()),
        splits_with=dict(splits_with.most_common()),
        confusions=confusions,
        sessions=again,
        sessions_interval=of_again,
        examples=examples,
    )


def _ends(interval: NDArray[np.float64]) -> tuple[float, float]:
    return float(interval[0]), float(interval[1])


def _confusions(part: NarrowedVariations, rater: int) -> tuple[Confused, ...]:
    """Return the classes that a rater gave where others gave another, most frequent first."""
    found, table = part.found, part.found.annotations
    chosen = part.confused[(found.rater_a[part.confused] == rater) | (found.rater_b[part.confused] == rater)]
    leads = found.side_row[found.side_start[2 * chosen[:, None] + (0, 1)]]
    is_b = found.rater_b[chosen] == rater
    classes = table.category[np.where(is_b[:, None], leads[:, ::-1], leads)]
    keys, count = np.unique(classes[:, 0] * len(table.categories) + classes[:, 1], return_counts=True)
    order = np.argsort(-count, kind="stable")[:CONFUSIONS]
    own, other = np.divmod(keys[order], max(len(table.categories), 1))
    names = table.categories
    return tuple(
        Confused(str(names[a]), str(names[b]), int(n)) for a, b, n in zip(own, other, count[order], strict=True)
    )


def _examples(part: NarrowedVariations, rater: int) -> dict[str, tuple[str, ...]]:
    """Return the annotations that the rate of each type except `correct` counts, least similar first."""
    found, table = part.of_everybody, part.found.annotations
    least, counted = part.least_similarity, rows_counted(found, rater)
    examples = {}
    for name in VARIATION_TYPES[1:]:
        rows = counted[name]
        if part.category is not None:
            rows = rows[table.categories[table.category[rows]] == part.category]
        first = np.lexsort((rows, least[rows]))[:EXAMPLES]
        if len(first):
            examples[name] = tuple(str(key) for key in table.id[rows[first]])
    return examples
