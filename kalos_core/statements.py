"""The few sentences that matter about an analysis, in the words of whoever leads the labelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kalos_core._agreement import NOTHING_SHARED, convergence_band, verdict
from kalos_core.diagnostics import ClassDifficulty, Collaboration, NarrowedAgreement
from kalos_core.display import alpha_text, count_and_share, number_of, points_text, with_interval
from kalos_core.errors import Undefined
from kalos_core.variation import NarrowedVariations

LEAST_IMAGES = 10
"""Images on which a class has an alpha, for it to be called the hardest."""

WORTH = {
    "reliable": "reliable enough to train and evaluate on",
    "tentative": "good enough for tentative conclusions",
    "not reliable": "not reliable enough to draw conclusions from",
}
"""Band of label convergence App. B -> what such labels are worth."""

DIFFERENCES = {
    "unmatched": ("missing", "additional"),
    "wrong_class": ("wrong_class",),
    "merged": ("merged",),
    "merged_wrong_class": ("merged_wrong_class",),
}
"""Kinds of differences; missing and additional are one thing seen from two sides."""

DIFFERENCE_TEXTS = {
    "unmatched": "only one of two raters annotated an object",
    "wrong_class": "two raters gave an object different classes",
    "merged": "one rater drew as one what another drew as several",
    "merged_wrong_class": "one rater drew as one what another drew as several of another class",
}


@dataclass(frozen=True)
class Statement:
    """A sentence, the section that shows what lies behind it, and what is selected there.

    Parameters
    ----------
    text : str
        Plain text.
    leads_to : str
        ``"Images"``, ``"Classes"``, ``"Raters"``, ``"Variations"``, ``"Ceiling"``, ``"Decide"`` or ``"Runs"``.
    arguments : mapping
        Such as ``{"category": "dog"}``, ``{"rater": "ann"}`` or ``{"kind": "wrong_class"}``.
    """

    text: str
    leads_to: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def statements(
    agreement: NarrowedAgreement | None = None,
    found: NarrowedVariations | None = None,
    ceiling: float | None = None,
    disputes: tuple[int, int] | None = None,
    changed: int | None = None,
) -> list[Statement]:
    """What is to be said of a part of an agreement, of its variations, and of what else is known.

    Parameters
    ----------
    agreement : NarrowedAgreement, optional
    found : NarrowedVariations, optional
    ceiling : float in [0, 1], optional
        mAP of the raters against one another, of all images.
    disputes : (int, int), optional
        How many units are in dispute, and how many of them are decided.
    changed : int, optional
        How many samples were edited since.

    Returns
    -------
    list of Statement
        Nothing is said of what is not given or undefined.

    Examples
    --------
    >>> [(said.text, said.leads_to) for said in statements(disputes=(0, 0), changed=1)]
    [('No unit is in dispute.', 'Decide'), ('1 sample was edited since.', 'Runs')]
    """
    said: list[Statement | None] = []
    if agreement is not None:
        said += [_alpha(agreement), _hardest(agreement.class_difficulty), _furthest(agreement.collaboration)]
    if found is not None:
        said.append(_most_frequent(found))
    if ceiling is not None and not np.isnan(ceiling):
        text = f"Raters reach mAP {points_text(ceiling)} against one another, of all images: the ceiling for any model."
        said.append(Statement(text, "Ceiling"))
    if disputes is not None:
        every, decided = disputes
        are = "is" if decided == 1 else "are"
        text = f"{count_and_share(decided, every)} of {number_of(every, 'unit in dispute')} {are} decided."
        said.append(Statement(text if every else "No unit is in dispute.", "Decide"))
    if changed is not None:
        edited = number_of(changed, "sample was", "samples were")
        said.append(Statement(f"{edited if changed else 'No sample was'} edited since.", "Runs"))
    return [statement for statement in said if statement is not None]


def _alpha(part: NarrowedAgreement) -> Statement:
    if np.isnan(part.alpha):
        return Statement(f"Alpha is undefined: {NOTHING_SHARED}.", "Images")
    shown = with_interval(part.alpha, part.alpha_interval)
    found = verdict(part.alpha, part.alpha_interval)
    return Statement(f"{found}, alpha {shown}: {WORTH[convergence_band(part.alpha)]}.", "Images")


def _hardest(classes: ClassDifficulty | Undefined) -> Statement | None:
    if isinstance(classes, Undefined):
        return None
    enough = np.flatnonzero((classes.images >= LEAST_IMAGES) & np.isfinite(classes.alpha))
    if len(enough) < 2:
        return None
    worst = enough[np.argmin(classes.alpha[enough])]
    name = str(classes.category[worst])
    images = int(classes.images[worst])
    text = f"Hardest class: {name}, alpha {alpha_text(classes.alpha[worst])} on {number_of(images, 'image')}."
    return Statement(text, "Classes", {"category": name})


def _furthest(pairs: Collaboration | Undefined) -> Statement | None:
    if isinstance(pairs, Undefined) or len(pairs.raters) < 3:
        return None
    others = np.where(np.eye(len(pairs.raters), dtype=np.bool_), np.nan, pairs.alpha)
    count = np.isfinite(others).sum(axis=1)
    mean = np.nansum(others, axis=1) / np.where(count, count, np.nan)
    if not np.isfinite(mean).any() or np.nanmin(mean) == np.nanmax(mean):  # nobody stands apart
        return None
    worst = int(np.nanargmin(mean))
    name = str(pairs.raters[worst])
    text = f"{name} is furthest from the others: alpha {alpha_text(mean[worst])} with each of them on average."
    return Statement(text, "Raters", {"rater": name})


def _most_frequent(found: NarrowedVariations) -> Statement | None:
    counts, every = found.counts, len(found.found)
    if not every:
        return None
    sums = {kind: sum(counts[name] for name in names) for kind, names in DIFFERENCES.items()}
    kind = max(sums, key=lambda name: sums[name])
    if not sums[kind]:
        return Statement("No two raters differ in any finding.", "Variations")
    text = f"Most frequent difference: {DIFFERENCE_TEXTS[kind]}, {count_and_share(sums[kind], every)} of all findings."
    return Statement(text, "Variations", {"kind": DIFFERENCES[kind][0]})
