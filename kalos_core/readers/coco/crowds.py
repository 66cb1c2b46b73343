"""Interpretation of ``iscrowd``: a region of many objects, as in COCO, or a flag that a tool sets on every mask."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from itertools import compress

from kalos_core.errors import listed, repr_of
from kalos_core.readers.coco.columns import Records
from kalos_core.readers.coco.settings import Crowds

OCCLUDED = "occluded"
"""Attribute that CVAT and Datumaro write for each annotation; these tools set ``iscrowd`` on every mask."""


@dataclass
class CrowdMarks:
    """Counts of annotations with ``iscrowd`` by rater.

    Parameters
    ----------
    annotations, marked : Counter
        Rater, as written -> number of annotations, and number of those with the mark.
    exported : bool
        Whether marked annotations have the attributes of a tool that marks every mask.

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
    >>> objects, regions = marks.parted(Records(rows), "rater_id", "auto")
    >>> objects.positions, regions.positions
    ([0, 1, 3], [2])
    """

    annotations: Counter[Hashable] = field(default_factory=Counter)
    marked: Counter[Hashable] = field(default_factory=Counter)
    exported: bool = False

    def add(self, records: Records, rater_field: str) -> None:
        """Add the counts of some annotations."""
        raters = records.keys(rater_field)
        crowd = records.column("iscrowd")
        self.annotations.update(raters)
        if not any(crowd):
            return
        self.marked.update(compress(raters, crowd))
        if not self.exported:
            pairs = zip(records.column("attributes"), crowd, strict=True)
            self.exported = any(mark and isinstance(given, Mapping) and OCCLUDED in given for given, mark in pairs)

    def objects_of(self, rule: Crowds) -> set[Hashable]:
        """Return the raters whose marks are no crowds: most of their annotations or all of their masks have one."""
        if rule != "auto":
            return set(self.marked) if rule == "objects" else set()
        return {rater for rater, count in self.marked.items() if self.exported or 2 * count > self.annotations[rater]}

    def parted(self, records: Records, rater_field: str, rule: Crowds) -> tuple[Records, Records]:
        """Split annotations into single objects and crowd regions."""
        crowd = list(map(bool, records.column("iscrowd")))
        single = self.objects_of(rule) if any(crowd) else ()
        if single:
            raters = records.keys(rater_field)
            crowd = [mark and rater not in single for mark, rater in zip(crowd, raters, strict=True)]
        return records.parted(crowd)

    def note(self, rule: Crowds) -> str | None:
        """Return a note on the assumed meaning of the marks; None without an assumption."""
        single = self.objects_of(rule) if rule == "auto" else ()
        if not single:
            return None
        count = sum(self.marked[rater] for rater in single)
        return (
            f"iscrowd is set on {count:,} annotations of {listed(sorted(map(repr_of, single)))}, more often than "
            "expected for regions of many objects: it is assumed that the tool sets it on every mask, and they are "
            "compared like any other annotation. Pass crowds='regions' to leave them out"
        )
