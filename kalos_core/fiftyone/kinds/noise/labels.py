"""Labels of synthetic raters, and attributes of the labels of the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import Owned
from kalos_core.drawing.generated import UNCHANGED
from kalos_core.fiftyone.dataset.database import FieldArguments
from kalos_core.fiftyone.dataset.encoding import LabelType
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.dataset.raters import SYNTHETIC
from kalos_core.fiftyone.dataset.writing import Values, nested
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.noise import GeneratedRaters, InjectedNoise


def declared_fields(
    names: RunNames, fields: Mapping[str, str], label_type: LabelType, reference: Labels
) -> dict[str, FieldArguments]:
    """Return path -> declaration for all written paths; `fields` maps a rater to its field."""
    lists = names.declared(names.all, names.outcomes, names.fields)
    own, declared = names.declared(names.main, names.match) | lists, names.declared(names.changes)
    declared |= {f"{path}.{name}": how for path in reference.paths for name, how in lists.items()}
    for rater, field in fields.items():
        about = f"{rater}, a synthetic rater of the run {names.key!r}"
        declared |= label_type.declared(field, about, {SYNTHETIC: rater}, own)
    return declared


def synthetic_labels(
    names: RunNames, result: GeneratedRaters, noise: InjectedNoise, label_type: LabelType
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Iterate over sample ids with field -> labels, in blocks of images; `inject_noise` lists the attributes."""
    event_of = noise.event_of

    def attributes(rows: NDArray[np.intp]) -> dict[str, Sequence[Any]]:
        event, truth = event_of[rows], result.truth[rows]
        about = _about(names, noise, event[event >= 0], (event >= 0).astype(np.intp))
        return {
            "_id": [ObjectId(key) for key in noise.label_ids[rows].tolist()],
            names.main: [own[0] if own else UNCHANGED for own in about[names.all]],
            names.match: nested(noise.original_ids[truth[truth >= 0]], (truth >= 0).sum(axis=1)),
            **about,
        }

    fields = label_type.fields(result.annotations, noise.fields.tolist(), attributes)
    return zip(noise.images.tolist(), fields, strict=True)


def labels_of_reference(labels: Labels, original: Annotations) -> Labels:
    """Select the labels that raters are generated from, the annotations of `GeneratedRaters.original`."""
    annotations = labels.annotations
    codes = [annotations.raters.tolist().index(name) for name in original.raters]
    rows = np.flatnonzero(np.isin(annotations.rater, codes))
    paths, path_of = np.unique(labels.path_of[rows], return_inverse=True)
    return replace(
        labels,
        annotations=original,
        paths=tuple(labels.paths[path] for path in paths),
        path_of=path_of,
        confidence=labels.confidence[rows],
    )


def reference_values(names: RunNames, noise: InjectedNoise) -> Values:
    """Return attributes of labels: kind, outcome and rater's field of each event on a label."""
    row, event = noise.about_originals()
    owned = Owned(row, len(noise.original_ids))

    def values(rows: NDArray[np.intp]) -> dict[str, list[list[str]]]:
        entries, count = owned.of(rows)
        return _about(names, noise, event[entries], count)

    return values


def _about(
    names: RunNames, noise: InjectedNoise, event: NDArray[np.intp], count: NDArray[np.intp]
) -> dict[str, list[list[str]]]:
    """Return the events of labels, grouped by label; `count` is the number of events of each label."""
    columns = {names.all: noise.event, names.outcomes: noise.outcome, names.fields: noise.fields[noise.rater]}
    return {name: nested(column[event], count) for name, column in columns.items()}
