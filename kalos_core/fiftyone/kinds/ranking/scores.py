"""Scores of classifiers for images, from label fields or mappings."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kalos_core.errors import InputError, Problems, as_number, listed, repr_of
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, label_fields
from kalos_core.fiftyone.importing.life import known_images
from kalos_core.fiftyone.internals import root_of

Scores = Mapping[str, float]
"""Label -> score of a classifier for an image."""


def read_scores(
    view: Any, systems: Mapping[str, str | Mapping[Hashable, Scores]], used: Sequence[str]
) -> dict[str, dict[Hashable, Scores]]:
    """Return classifier -> sample id -> scores, for all samples of a view with scores.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
    systems : mapping
        Classifiers as returned by `name_systems`.
    used : field names
        Fields of raters, which cannot be classifiers.
    """
    fields = label_fields(view, IMAGE_LABELS)
    tables: dict[str, dict[Hashable, Scores]] = {}
    for name, source in systems.items():
        if not isinstance(source, str):
            tables[name] = dict(_of_mapping(view, name, source))
        elif source in fields and source not in used:
            tables[name] = dict(_of_field(view, source, fields[source]))
        else:
            offered = listed((field for field in fields if field not in used), 20) or "none"
            raise InputError(f"systems: expected a field of scores ({offered}), got {source!r}")
        if not tables[name]:
            raise InputError(f"systems: expected scores of {name!r} for some image, got none")
    return tables


def _of_field(view: Any, field: str, path: str) -> Iterator[tuple[str, Scores]]:
    """Iterate over sample ids with scores, from logits if a sample has them, else from the confidence of labels."""
    names = ("id", "filepath", f"{field}._cls", f"{field}.logits", f"{path}.label", f"{path}.confidence")
    problems, chances_of = Problems(f"field {field!r}"), None
    for columns in stream(view, names):
        for image, file, kind, logits, label, confidence in zip(*columns.values(), strict=True):
            if kind is None:
                continue
            record = os.path.basename(file)
            if logits is not None:
                chances_of = chances_of or _Logits(view, field, is_list=path != field)
                yield image, chances_of(logits, record, problems)
                continue
            pairs = zip(label or (), confidence or (), strict=True) if path != field else ((label, confidence),)
            scores = {}
            for name, score in pairs:
                if not name or _score(score) is None:
                    problems.add(record, "a label with its confidence, or logits", f"{name!r}, {repr_of(score)}")
                else:
                    scores[name] = float(score)
            yield image, scores
    problems.raise_if_any()


class _Logits:
    """Conversion of the logits of a field to scores."""

    def __init__(self, view: Any, field: str, is_list: bool) -> None:
        from scipy.special import expit, softmax  # slow to import

        dataset = root_of(view)
        self.classes = list(dataset.classes.get(field) or dataset.default_classes)
        if not self.classes:
            raise InputError(
                f"field {field!r}: has logits, but their classes are unknown; set dataset.classes[{field!r}]"
            )
        self.decode = view.get_field(f"{field}.logits").to_python
        self.chances: Callable[[Any], Any] = expit if is_list else softmax

    def __call__(self, stored: Any, record: str, problems: Problems) -> Scores:
        logits = np.asarray(self.decode(stored), np.float64)
        if len(logits) != len(self.classes):
            problems.add(record, f"{len(self.classes)} logits, one for each class", len(logits))
            return {}
        return dict(zip(self.classes, self.chances(logits).tolist(), strict=True))


def _score(value: object) -> float | None:
    number = as_number(value)
    return None if number is None or number != number else number


def _of_mapping(view: Any, name: str, given: Mapping[Hashable, Any]) -> Iterator[tuple[str, Scores]]:
    """Iterate over sample ids with scores, for images given by id or file name."""
    problems = Problems(f"scores of {name!r}")
    for item, image in known_images(view).match(list(given), f"scores of {name!r}").items():
        scores = given[item]
        if not isinstance(scores, Mapping):
            problems.add(f"image {item!r}", "a mapping of labels to scores", repr_of(scores))
            continue
        for concept, score in scores.items():
            if _score(score) is None:
                problems.add(f"image {item!r}, {concept}", "a number", repr_of(score))
        yield image, {str(concept): score for concept, score in scores.items() if _score(score) is not None}
    problems.raise_if_any()
