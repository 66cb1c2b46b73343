"""Decisions about disputes, and their options."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kalos_core.errors import InputError, check_text, lookup, repr_of

DECISIONS = {
    "take": "One rater is right",
    "consensus": "All of them together",
    "whole": "One object, the whole",
    "parts": "Several objects, the parts",
    "none": "No object there",
    "both": "Both readings are legitimate",
    "guideline": "The guideline must settle it",
    "skip": "Not decided now",
}
"""Decision about a unit -> its text on buttons."""

LABEL_DECISIONS = {
    "take": "One rater is right",
    "label": "Another label is right",
    "none": "No label is right",
    "guideline": "The guideline must settle it",
    "skip": "Not decided now",
}
"""Decision about a disputed answer to a question on an image -> its text on buttons."""

OPEN = ("guideline", "skip")
"""Decisions that leave a unit open."""

Undecided = Literal["majority", "drop"]
"""Names in `UNDECIDED`."""

UNDECIDED: dict[Undecided, str] = {"majority": "The majority's annotation", "drop": "Nothing"}
"""Resolution of undecided units in dispute -> text."""


@dataclass(frozen=True)
class Decision:
    """Decision of a person about the annotations of one unit.

    Parameters
    ----------
    labels : tuple of ids
        Ids of annotations of the unit, or of a whole and its parts.
    decision : name in `DECISIONS` or `LABEL_DECISIONS`
    rater : str, optional
        Rater who is right; required by ``"take"``.
    note, who : str
    when : datetime, optional
    category : str, optional
        Label that is right; required by ``"label"``.

    Examples
    --------
    >>> Decision((1, 2), "take", "ann").rater
    'ann'
    >>> Decision((1, 2), "take")
    Traceback (most recent call last):
    kalos_core.errors.InputError: rater: expected the rater who is right, as the decision is 'take', got None
    """

    labels: tuple[Hashable, ...]
    decision: str
    rater: str | None = None
    note: str = ""
    who: str = ""
    when: datetime | None = None
    category: str | None = None

    def __post_init__(self) -> None:
        lookup(DECISIONS | LABEL_DECISIONS, self.decision, "decision")
        for name in ("note", "who"):
            check_text(getattr(self, name), name)
        if self.category is not None:
            check_text(self.category, "category")
        if not self.labels:
            raise InputError("labels: expected the id of at least one annotation, got none")
        if self.decision == "take" and self.rater is None:
            raise InputError("rater: expected the rater who is right, as the decision is 'take', got None")
        if self.decision != "take" and self.rater is not None:
            raise InputError(f"rater: expected none, as the decision is {self.decision!r}, got {repr_of(self.rater)}")
        if (self.decision == "label") != bool(self.category):
            expected = "the label that is right" if self.decision == "label" else "none"
            got = repr_of(self.category)
            raise InputError(f"category: expected {expected}, as the decision is {self.decision!r}, got {got}")
