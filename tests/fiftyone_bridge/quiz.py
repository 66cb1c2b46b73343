"""Image-level labels with metrics worked out by hand.

=====  ===  ===  ===  ==========================  =========
image  ann  bob  cid  pairs of raters that agree  in dispute
=====  ===  ===  ===  ==========================  =========
0      cat  cat  cat  1                           no
1      cat  cat  dog  1/3                         yes, 2/3
2      dog  dog  dog  1                           no
3      cat  dog  -    0                           yes, 1/2
4      dog  -    -    none                        not known
5      cat  dog  owl  0                           yes, 1/3
=====  ===  ===  ===  ==========================  =========

Sparse agreement with weights n - 1: (2 + 2/3 + 2 + 0 + 0) / (2 + 2 + 2 + 1 + 2) = 14/27.
"""

from __future__ import annotations

from typing import Any

import fiftyone as fo

RATERS = ("ann", "bob", "cid")
ANSWERS: list[list[str | None]] = [
    ["cat", "cat", "cat"],
    ["cat", "cat", "dog"],
    ["dog", "dog", "dog"],
    ["cat", "dog", None],
    ["dog", None, None],
    ["cat", "dog", "owl"],
]
VALUES = [[{"cat": 0, "dog": 1, "owl": 2, None: -2}[name] for name in row] for row in ANSWERS]
"""Answers as codes of a table of labels; -2 for raters who were not assigned."""
AGREEMENT = [1.0, 1 / 3, 1.0, 0.0, None, 0.0]
DISPUTED = [False, True, False, True, None, True]
SPA = 14 / 27

NET = [0.9, 0.8, 0.1, 0.6, 0.4, 0.7]
"""Confidence of a classifier that the image shows a cat."""
SVM = [0.5, 0.9, 0.6, 0.2, 0.1, 0.3]


def label(name: str | None, **attributes: Any) -> fo.Classification | None:
    return None if name is None else fo.Classification(label=name, **attributes)


def several(names: list[str] | None, **attributes: Any) -> fo.Classifications | None:
    made = None if names is None else [fo.Classification(label=name, **attributes) for name in names]
    return None if made is None else fo.Classifications(classifications=made)


def scored(score: float) -> fo.Classifications:
    """Return scores of all three labels."""
    parts = {"cat": score, "dog": 1 - score, "owl": score * (1 - score)}
    return fo.Classifications(classifications=[label(name, confidence=value) for name, value in parts.items()])


def sample(number: int, **fields: Any) -> fo.Sample:
    return fo.Sample(f"/pictures/{number}.jpg", metadata=fo.ImageMetadata(width=100, height=100), **fields)


def _assigned(answers: list[str | None]) -> list[str]:
    return [name for name, answer in zip(RATERS, answers, strict=True) if answer]


def quiz() -> list[fo.Sample]:
    """Return one field per rater, and two classifiers; the field `raters` lists who answered."""
    return [
        sample(
            number,
            net=scored(NET[number]),
            svm=scored(SVM[number]),
            raters=_assigned(answers),
            **{name: label(answer) for name, answer in zip(RATERS, answers, strict=True)},
        )
        for number, answers in enumerate(ANSWERS)
    ]


def quiz_in_one_field() -> list[fo.Sample]:
    """Return all answers in the field `answers`, identified by the attribute `rater`."""
    return [
        sample(
            number,
            raters=_assigned(row),
            answers=fo.Classifications(
                classifications=[label(name, rater=rater) for rater, name in zip(RATERS, row, strict=True) if name]
            ),
        )
        for number, row in enumerate(ANSWERS)
    ]


def table_rows() -> list[dict[str, Any]]:
    """Return the same as rows of a table, with the time of each answer."""
    return [
        {"item": f"{number}.jpg", "rater": rater, "label": name, "time": 10 * number + index}
        for number, row in enumerate(ANSWERS)
        for index, (rater, name) in enumerate(zip(RATERS, row, strict=True))
        if name
    ]
