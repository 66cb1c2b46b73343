"""Points drawn together: the joints of one object, or an object each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from kalos_core.display import number_of
from kalos_core.errors import listed
from kalos_core.readers.findings import Findings
from kalos_core.readers.groups import Grouped, Part

MOST = 0.8
"""Share of a label's records from which on their number of points is the right one, if it is `LANDMARKS` or more."""

LANDMARKS = 3


def separate_points(findings: Findings, parts: Sequence[Part], points: Collection[int], grouped: Grouped) -> list[Part]:
    """Make an object of each point, where points that were drawn together are not the joints of one object.

    They are joints where each record of a label has the same number of them, and objects of their own where their
    number differs, or with "apart". A record of another number than most of its label, which is 3 or more, is a fault.
    The account of the findings says how points were taken.

    Parameters
    ----------
    findings : Findings
    parts : sequence of Part
    points : set of int
        Rows of `parts` that are such points.
    grouped : "one" or "apart"

    Examples
    --------
    >>> findings, point = Findings("export.xml"), [5.0, 5.0, 2]
    >>> parts = [Part(f"points {n}", "a.jpg", "ann", "cell", None, {"keypoints": [point] * n}) for n in (1, 2)]
    >>> [part.record for part in separate_points(findings, parts, {0, 1}, "one")]
    ['points 1', 'points 2, point 1', 'points 2, point 2']
    >>> findings.account.notes
    ["2 records of 'cell' have 1, 2 points: each is an object"]
    """
    counts: dict[str, Counter[int]] = {}
    for row in sorted(points):
        counts.setdefault(parts[row].category, Counter())[len(parts[row].shape["keypoints"])] += 1
    usual = {label: _usual(found, grouped) for label, found in counts.items()}
    for label, found in counts.items():
        each = f"{number_of(found.total(), 'record')} of {label!r} have"
        if usual[label] is None and max(found) > 1:
            findings.account.notes.append(f"{each} {listed(sorted(found), 10)} points: each is an object")
        elif max(found) > 1:
            joints = f'{usual[label]} points, which are joints in their order; grouped="apart" makes each an object'
            findings.account.notes.append(f"{each} {joints}")
    made = []
    for row, part in enumerate(parts):
        if row not in points or usual[part.category] == len(part.shape["keypoints"]):
            made.append(part)
        elif usual[part.category] is None:
            one = [replace(part, shape={"keypoints": [point]}) for point in part.shape["keypoints"]]
            several = [replace(each, record=f"{part.record}, point {number}") for number, each in enumerate(one, 1)]
            made += several if len(one) > 1 else one
        else:
            expected = f"{usual[part.category]} points, as most of {part.category!r} have"
            remedy = '; if each point is an object, pass grouped="apart"'
            findings.fault(part.record, part.image, expected, f"{len(part.shape['keypoints'])}{remedy}")
    return made


def _usual(counts: Counter[int], grouped: Grouped) -> int | None:
    """The number of points that a record of a label has; None where each point is an object."""
    ((number, times),) = counts.most_common(1)
    landmarks = number >= LANDMARKS and times >= MOST * counts.total()
    return number if grouped == "one" and (len(counts) == 1 or landmarks) else None
