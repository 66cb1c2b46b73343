"""Shapes grouped by a tool: one object in several parts, or in joints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import numpy as np

from kalos_core.display import number_of
from kalos_core.errors import listed
from kalos_core.options import Option
from kalos_core.readers.findings import Findings
from kalos_core.readers.shapes import rectangle, run_lengths

Grouped = Annotated[
    Literal["one", "apart"],
    Option(
        "Grouped shapes",
        "Meaning of shapes that the tool grouped, of one class, image and rater, and of points of one annotation.",
        choices={
            "one": "they are parts or joints of one object",
            "apart": "each is an object",
        },
    ),
]


@dataclass(frozen=True)
class Part:
    """A shape that may be part of an object; its group is None if it is a separate object."""

    record: str
    image: Hashable
    rater: str
    category: str
    group: Hashable
    shape: Mapping[str, Any]
    attributes: Mapping[str, Any] | None = None


@dataclass
class Parts:
    """Collection of shapes of a tool in which several may be one object.

    Parameters
    ----------
    findings : Findings
    parts : list of Part
    points : set of int
        Rows of `parts` that are points drawn together.
    """

    findings: Findings
    parts: list[Part] = field(default_factory=list)
    points: set[int] = field(default_factory=set)

    def add(self, part: Part, *, are_points: bool = False) -> None:
        """Add a shape."""
        if are_points:
            self.points.add(len(self.parts))
        self.parts.append(part)

    def finish(self, grouped: Grouped) -> None:
        """Add the annotations to the findings."""
        add_grouped(self.findings, separate_points(self.findings, self.parts, self.points, grouped), grouped)


def add_grouped(findings: Findings, parts: Sequence[Part], grouped: Grouped) -> None:
    """Add annotations to findings; with "one", the parts of a group become one annotation if they can be joined.

    Examples
    --------
    >>> findings = Findings("export.xml")
    >>> findings.add_image("a.jpg", "image 1", size=(20, 10))
    >>> findings.assign("a.jpg", "ann")
    >>> boxes = [[0, 0, 8, 4], [10, 0, 8, 4]]
    >>> parts = [Part(f"box {n}", "a.jpg", "ann", "cat", 3, {"box": box}) for n, box in enumerate(boxes)]
    >>> add_grouped(findings, parts, "one")
    >>> findings.build().shapes["box"].xywh().tolist(), findings.account.notes
    ([[0.0, 0.0, 18.0, 4.0]], ['2 shapes of 1 group are one object a group; grouped="apart" keeps them apart'])
    """
    together: dict[Hashable, list[Part]] = {}
    for number, part in enumerate(parts):
        alone = grouped == "apart" or part.group is None
        key = number if alone else (part.image, part.rater, part.category, part.group)
        together.setdefault(key, []).append(part)
    joined = []
    for members in together.values():
        first = members[0]
        shape = join_shapes([part.shape for part in members]) if len(members) > 1 else None
        if shape is None:
            for part in members:
                findings.add_annotation(
                    part.record, part.image, part.rater, part.category, attributes=part.attributes, **part.shape
                )
            if len(members) > 1:
                findings.account.unused["the group (only polygons and boxes, or masks, can be joined)"] += len(members)
        else:
            joined.append(len(members))
            record = f"{first.record} and {len(members) - 1} more of its group"
            findings.add_annotation(
                record, first.image, first.rater, first.category, attributes=first.attributes, **shape
            )
    if joined:
        findings.account.notes.append(
            f"{sum(joined):,} shapes of {number_of(len(joined), 'group')} are one object a group; "
            'grouped="apart" keeps them apart'
        )


def join_shapes(shapes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the shape of an object from its parts, None if they cannot be joined.

    Polygons and boxes become one polygon of several rings, masks of one size their union.

    Examples
    --------
    >>> join_shapes([{"box": [0, 0, 2, 1]}, {"polygon": [[[4, 0], [6, 0], [6, 1]]]}])
    {'polygon': [[[0, 0], [2, 0], [2, 1], [0, 1]], [[4, 0], [6, 0], [6, 1]]]}
    >>> join_shapes([{"mask": {"size": (2, 2), "counts": [3, 1]}}, {"mask": {"size": (2, 2), "counts": [0, 1, 3]}}])
    {'mask': {'size': (2, 2), 'counts': array([0, 1, 2, 1])}}
    >>> join_shapes([{"box": [0, 0, 2, 1]}, {"keypoints": [[1, 1, 2]]}])
    """
    kinds = {kind for shape in shapes for kind in shape}
    if kinds <= {"box", "polygon"}:
        return {"polygon": [ring for shape in shapes for ring in shape.get("polygon") or [rectangle(shape["box"])]]}
    if kinds != {"mask"}:
        return None
    height, width = shapes[0]["mask"]["size"]
    canvas = np.zeros(height * width, np.bool_)
    for shape in shapes:
        counts = shape["mask"]["counts"]
        canvas |= np.repeat(np.arange(len(counts)) % 2 == 1, counts)
    return {"mask": run_lengths(canvas.reshape(width, height).T)}


# ---- points drawn together ----

MOST = 0.8
"""Minimum share of a label's records that must have the same number of points, at least `LANDMARKS`, to be joints."""

LANDMARKS = 3


def separate_points(findings: Findings, parts: Sequence[Part], points: Collection[int], grouped: Grouped) -> list[Part]:
    """Split points that were drawn together into objects if they are not the joints of one object.

    They are joints if each record of a label has the same number of points, and separate objects if the number differs,
    or with "apart". If most records of a label have the same number of at least 3 points, other numbers are a fault.
    The account of the findings describes how points were interpreted.

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
    """Return the number of points of a label's records; None if each point is an object."""
    ((number, times),) = counts.most_common(1)
    landmarks = number >= LANDMARKS and times >= MOST * counts.total()
    return number if grouped == "one" and (len(counts) == 1 or landmarks) else None
