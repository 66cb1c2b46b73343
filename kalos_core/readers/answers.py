"""Image-level answers of raters in exports of annotation tools."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from kalos_core.annotations import Account
from kalos_core.errors import Problems, listed, repr_of
from kalos_core.nominal import LabelTable, RawLabels, build_table
from kalos_core.nominal.build import Concepts, Repeats, Unknown, Unlabelled
from kalos_core.nominal.grouping import Grouping, Groups
from kalos_core.options import Settings


@dataclass(frozen=True, kw_only=True)
class AnswerSettings(Settings):
    """Options of all readers of image-level labels."""

    groups: Grouping = "label"
    concepts: Concepts = None
    on_empty: Unlabelled = "skip"
    on_unknown: Unknown = "raise"


@dataclass(frozen=True, kw_only=True)
class RepeatableSettings(AnswerSettings):
    """Options of readers of formats in which a rater may answer an item more than once."""

    on_repeat: Repeats = "raise"


@dataclass
class Answers:
    """Answers collected record by record.

    Parameters
    ----------
    groups : str, mapping or None
        As in `AnswerSettings`.
    noun : str
        Word for a label in messages.
    problems : Problems
        Collects records with several labels that exclude each other.

    Examples
    --------
    >>> answers = Answers("label", "choice", Problems("export.json"))
    >>> answers.add("task 7, annotation 1", 7, "ann", ["cat"])
    >>> answers.add("task 7, annotation 2", 7, "bob", [])
    >>> answers.build("export.json", AnswerSettings(), Account()).values().tolist()
    [[0, -2]]
    """

    groups: Groups
    noun: str
    problems: Problems
    raw: RawLabels = field(default_factory=RawLabels)
    records: list[str] = field(default_factory=list)

    def add(self, record: str, item: Hashable, rater: Any, labels: Sequence[Any], time: float | None = None) -> None:
        """Record the labels that a rater gave an item."""
        if isinstance(self.groups, str) and len(labels) > 1:
            expected = f"one {self.noun} (groups=None makes each {self.noun} a question of its own)"
            self.problems.add(record, expected, listed(map(repr_of, labels)))
        self.raw.item.append(item)
        self.raw.rater.append(rater)
        self.raw.label.append(list(labels) or None)
        self.raw.time.append(time)
        self.records.append(record)

    def build(self, source: str, settings: AnswerSettings, account: Account, question: str = "label") -> LabelTable:
        """Return the checked table; `question` names the group if all labels exclude each other."""
        self.problems.raise_if_any()
        return build_table(
            self.raw,
            source=source,
            groups=question if settings.groups == "label" else settings.groups,
            concepts=settings.concepts,
            on_repeat=settings.on_repeat if isinstance(settings, RepeatableSettings) else "raise",
            on_empty=settings.on_empty,
            on_unknown=settings.on_unknown,
            describe=self.records.__getitem__,
            account=account,
        )
