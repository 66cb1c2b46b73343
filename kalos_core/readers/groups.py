"""Shapes that a tool has grouped: one object in several parts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np

from kalos_core.display import number_of
from kalos_core.options import Option
from kalos_core.readers.findings import Findings
from kalos_core.readers.shapes import rectangle, run_lengths

Grouped = Annotated[
    Literal["one", "apart"],
    Option(
        "Grouped shapes",
        "Shapes that the tool has grouped, of one class, image and rater, and points of one annotation.",
        choices={
            "one": "they are parts or joints of one object",
            "apart": "each is an object",
        },
    ),
]


@dataclass(frozen=True)
class Part:
    """A shape that may be part of an object; its group is None if it is an object of its own."""

    record: str
    image: Hashable
    rater: str
    category: str
    group: Hashable
    shape: Mapping[str, Any]
    attributes: Mapping[str, Any] | None = None


def add_grouped(findings: Findings, parts: Sequence[Part], grouped: Grouped) -> None:
    """Add annotations to findings: with "one", the parts of one group are one annotation where they can be joined.

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
