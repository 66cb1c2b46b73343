"""A scorecard for each rater: how far the others agree with them, and on what they differ."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.diagnostics import IntraRater, NarrowedAgreement, narrowed
from kalos_core.diagnostics.rematching import taking_part
from kalos_core.display import number_of
from kalos_core.errors import Undefined, index_of
from kalos_core.options import checked
from kalos_core.results import Result
from kalos_core.variation.narrowing import NarrowedVariations
from kalos_core.variation.rates import MERGED_WRONG_CLASS, RATES, VARIATION_TYPES, WRONG_CLASS, rows_counted

if TYPE_CHECKING:
    import pandas as pd

EXAMPLES, CONFUSIONS = 3, 5
"""How many labels are shown of each variation type, and how many confusions of each rater."""

NOBODY = (math.nan, math.nan)


@dataclass(frozen=True)
class Confused:
    """What a rater calls `own` and others call `other`, and in how many findings."""

    own: str
    other: str
    count: int


@dataclass(frozen=True, eq=False)
class RaterCard:
    """One rater among the others.

    Parameters
    ----------
    rater : str
    images, labels : int
        To how many images the rater was assigned, and how many annotations are the rater's own.
    alpha : float
        Of the rater's pairs with each other rater, mean over images; NaN where undefined, as all numbers here.
    alpha_interval, vitality_interval, sessions_interval : (float, float)
        95 % bootstrap interval over images.
    vitality : float
        Alpha with all raters minus alpha without this one.
    rates : dict
        Name in `RATES` -> how often, for every 100 objects. `additional`: own annotations that no other rater has;
        `missing`: objects that most of the others have and this rater has not.
    counts : dict
        The same -> (how many, of how many).
    merges, splits : float
        Of `rates`: own annotations that are several of most others, and those that are parts of one of theirs.
    merges_with, splits_with : dict
        Other rater -> how many such findings.
    confusions : tuple of Confused
        The most frequent.
    sessions : float
        Alpha of the person with themselves over sessions; NaN without.
    examples : dict
        Variation type -> ids of up to three annotations, the clearest cases first: the rater's own, for `missing`
        those of others.
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
    """A card for each of R raters, in the order of the vocabulary.

    Figures: ``"raters"``.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement, variations
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
        """The finding, in words."""
        return f"Scorecards of {number_of(len(self.cards), 'rater')}"

    def to_pandas(self) -> pd.DataFrame:
        """One row a rater: the numbers of `RaterCard`, a column for the rate of each type, and the rest as text."""
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
    """The scorecards of all raters of a part of an agreement and of its variations.

    Parameters
    ----------
    agreement : NarrowedAgreement, optional
        Without it, numbers of agreement are NaN.
    found : NarrowedVariations, optional
        Of the same images; without it, findings are NaN or empty.
    sessions : IntraRater, optional

    Returns
    -------
    Scorecard
        See there for an example.
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
        pairs = narrowed(agreement.sums, agreement.category, name)
        alpha, of_alpha = pairs.alpha, _ends(pairs.alpha_interval)
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
    """The classes a rater gave where others gave another one, most often first."""
    found, table = part.found, part.found.annotations
    wrong = np.isin(found.type_code, (WRONG_CLASS, MERGED_WRONG_CLASS))
    chosen = np.flatnonzero(wrong & ((found.rater_a == rater) | (found.rater_b == rater)))
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
    """Of each type but `correct` the annotations that its rate counts, the least similar ones first."""
    found, table = part.of_everybody, part.found.annotations
    finding, row, _ = found.members()
    least = np.full(len(table), np.inf)
    np.fmin.at(least, row, found.similarity[finding])
    counted = rows_counted(found, rater)
    examples = {}
    for name in VARIATION_TYPES[1:]:
        rows = counted[name]
        if part.category is not None:
            rows = rows[table.categories[table.category[rows]] == part.category]
        first = np.lexsort((rows, least[rows]))[:EXAMPLES]
        if len(first):
            examples[name] = tuple(str(key) for key in table.id[rows[first]])
    return examples
