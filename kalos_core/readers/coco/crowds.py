"""Whether ``iscrowd`` marks a region of many objects, as COCO means it, or is how a tool writes any mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import compress
from typing import Annotated, Any, Literal

from kalos_core.errors import is_hashable, listed, repr_of
from kalos_core.options import Option
from kalos_core.readers.coco.columns import Records
from kalos_core.readers.coco.raters import info_of

Crowds = Annotated[
    Literal["auto", "regions", "objects"],
    Option(
        "Annotations marked as a crowd",
        "Meaning of iscrowd.",
        choices={
            "auto": "regions, unless most of a rater's annotations carry the mark, or marked ones have the attribute "
            "occluded, as of a tool that marks every mask; the account says so",
            "regions": "regions of many objects, kept apart",
            "objects": "single objects like any other",
        },
    ),
]

OCCLUDED = "occluded"
"""An attribute that CVAT and Datumaro write on each annotation: they write ``iscrowd`` on each mask."""


@dataclass
class CrowdMarks:
    """How often raters' annotations carry ``iscrowd``.

    Parameters
    ----------
    annotations, marked : Counter
        Rater, as written -> how many annotations, and how many of them carry the mark.
    exported : bool
        Whether marked annotations have the attributes of an exporter that marks every mask.

    Examples
    --------
    >>> rows = [
    ...     {"rater_id": "ann", "iscrowd": 1},
    ...     {"rater_id": "bob"},
    ...     {"rater_id": "bob", "iscrowd": 1},
    ...     {"rater_id": "bob"},
    ... ]
    >>> marks = CrowdMarks()
    >>> marks.add(Records(rows), "rater_id")
    >>> marks.regions(Records(rows), "rater_id", "auto")
    [False, False, True, False]
    """

    annotations: Counter[Hashable] = field(default_factory=Counter)
    marked: Counter[Hashable] = field(default_factory=Counter)
    exported: bool = False

    def add(self, records: Records, rater_field: str) -> None:
        """Count those of some annotations."""
        raters = _raters(records, rater_field)
        crowd = records.column("iscrowd")
        self.annotations.update(raters)
        if not any(crowd):
            return
        self.marked.update(compress(raters, crowd))
        if not self.exported:
            pairs = zip(records.column("attributes"), crowd, strict=True)
            self.exported = any(mark and isinstance(given, Mapping) and OCCLUDED in given for given, mark in pairs)

    def objects_of(self, rule: Crowds) -> set[Hashable]:
        """The raters whose marks say nothing: most of their annotations carry it, or the exporter marks each mask."""
        if rule != "auto":
            return set(self.marked) if rule == "objects" else set()
        return {rater for rater, count in self.marked.items() if self.exported or 2 * count > self.annotations[rater]}

    def regions(self, records: Records, rater_field: str, rule: Crowds) -> list[bool]:
        """(N,) which annotations are regions of many objects."""
        crowd = list(map(bool, records.column("iscrowd")))
        single = self.objects_of(rule) if any(crowd) else ()
        if not single:
            return crowd
        raters = _raters(records, rater_field)
        return [mark and rater not in single for mark, rater in zip(crowd, raters, strict=True)]

    def note(self, rule: Crowds) -> str | None:
        """What was assumed of the marks; None where nothing was."""
        single = self.objects_of(rule) if rule == "auto" else ()
        if not single:
            return None
        count = sum(self.marked[rater] for rater in single)
        return (
            f"iscrowd stands on {count:,} annotations of {listed(sorted(map(repr_of, single)))}, more than regions of "
            "many objects are: it is taken for how the tool writes masks, and they are compared like any other. Pass "
            "crowds='regions' to keep them out"
        )


def rule_of(data: Mapping[str, Any], crowds: Crowds) -> Crowds:
    """What was asked for; of a file that `write_coco` wrote, what it says of itself."""
    return "regions" if crowds == "auto" and info_of(data).get("crowds") == "regions" else crowds


def _raters(records: Records, rater_field: str) -> list[Any]:
    raters = records.column(rater_field)
    if set(map(type, raters)) <= {str, int, type(None)}:
        return raters
    return [rater if is_hashable(rater) else None for rater in raters]
