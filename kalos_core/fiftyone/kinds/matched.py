"""Annotations and pairs of a run, stored and current; only changed images are compared again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.joining import from_arrays, join, to_arrays
from kalos_core.fiftyone.dataset.objects import Labels, read_labels
from kalos_core.fiftyone.kinds.columns import columns_of, made_from
from kalos_core.fiftyone.runs.arrays import part_of
from kalos_core.fiftyone.runs.table import Arrays, Changes, Run
from kalos_core.pairs import Pairs, pairs_of
from kalos_core.similarity import SIMILARITIES

TABLE, PAIRS = "table/", "pairs/"
"""Prefixes of the names of the arrays of a table and of its pairs."""


def matched_arrays(labels: Labels, pairs: Pairs) -> dict[str, NDArray[Any]]:
    """Return the arrays that `matched_again` reads."""
    return table_arrays(labels.annotations) | columns_of(pairs, PAIRS)


def stored_pairs(arrays: Arrays, similarity: str) -> Pairs:
    """Return the pairs that a run stored; they refer to rows of the stored table."""
    return made_from(Pairs, arrays, PAIRS, name=similarity)


def table_arrays(annotations: Annotations) -> dict[str, NDArray[Any]]:
    """Return the arrays that `stored_table` and `annotations_again` read."""
    return {f"{TABLE}{name}": array for name, array in to_arrays(annotations).items()}


def stored_table(arrays: Arrays, *, with_shapes: bool = True) -> Annotations:
    """Return the annotations that a run stored."""
    return from_arrays(part_of(arrays, TABLE) if with_shapes else part_of(arrays, TABLE, without="."))


def read_compared(view: Any, run: Run[Any, Any, Any, Any]) -> Labels:
    """Read the labels of samples with the settings of a run."""
    settings = run.settings
    compared = settings["similarities"] if "similarities" in settings else [settings["similarity"]]
    attributes = [of["name"] for of in run.settings.get("attributes", ())]
    return read_labels(view, run.selection, compared, again=True, attributes=attributes)


def annotations_again(changes: Changes) -> Annotations:
    """Return the current annotations of a run; those of unchanged images come from the stored table."""
    return _again(changes)[0]


def matched_again(changes: Changes, similarity: str) -> tuple[Annotations, Pairs]:
    """Return the current annotations of a run and their pairs; only those of changed images are compared again."""
    annotations, old_rows, fresh_rows = _again(changes)
    stored = stored_pairs(changes.arrays, similarity)
    left, right, floor = old_rows[stored.left], old_rows[stored.right], stored.floor
    kept = (left >= 0) & (right >= 0)
    if not len(fresh_rows) and kept.all():
        return annotations, Pairs(left, right, stored.similarity, similarity, floor)
    fresh = pairs_of(annotations.select(rows=fresh_rows), SIMILARITIES[similarity], floor)
    left = np.concatenate([left[kept], fresh_rows[fresh.left]])
    right = np.concatenate([right[kept], fresh_rows[fresh.right]])
    values = np.concatenate([stored.similarity[kept], fresh.similarity])
    place = np.empty(len(annotations), np.intp)
    place[np.lexsort((annotations.rater, annotations.image))] = np.arange(len(annotations))
    order = np.lexsort((place[right], place[left]))  # the same order as a new run
    return annotations, Pairs(left[order], right[order], values[order], similarity, floor)


def _again(changes: Changes) -> tuple[Annotations, NDArray[np.intp], NDArray[np.intp]]:
    """Return the current annotations, the row of each stored one in them (-1: removed), and the rows of fresh ones."""
    stored = stored_table(changes.arrays)
    rows = np.arange(len(stored))
    if not changes.all and stored.images.tolist() == changes.images:
        return stored, rows, np.zeros(0, np.intp)
    fresh: Labels | None = changes.fresh  # type: ignore[assignment]
    code_of = {image: code for code, image in enumerate(stored.images)}
    replaced = {*changes.stale, *changes.gone}
    kept_images = [code for image, code in code_of.items() if image not in replaced]
    kept_rows = rows[np.isin(stored.image, kept_images)]
    parts = [stored.select(images=kept_images)]
    if fresh is not None and changes.stale:
        parts.append(fresh.annotations.select(images=changes.is_stale))
    joined = join(parts) if len(parts[0].images) else parts[-1]
    number = {image: code for code, image in enumerate(joined.images)}
    ordered = [number[image] for image in changes.images if image in number]
    annotations = _with_used_classes(joined.select(images=ordered))
    old_rows = np.full(len(stored), -1, np.intp)
    old_rows[kept_rows] = np.arange(len(kept_rows))
    return annotations, old_rows, np.arange(len(kept_rows), len(annotations))


def _with_used_classes(annotations: Annotations) -> Annotations:
    """Remove unused classes, unless raters are assigned to certain classes."""
    limits = annotations.assigned_categories
    used = np.zeros(len(annotations.categories), np.bool_)
    used[annotations.category] = True
    if limits is not None:
        used |= ~limits.all(axis=0)
    if used.all():
        return annotations
    code = np.cumsum(used) - 1
    return replace(
        annotations,
        category=code[annotations.category],
        categories=annotations.categories[used],
        assigned_categories=None if limits is None else limits[:, used],
    )
