"""Check of the reference that raters are generated from, and the table of the generated raters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, object_array
from kalos_core.errors import InputError, Problems, listed, repr_of, warn
from kalos_core.noise.moving import KINDS
from kalos_core.shapes import ShapeColumn


def prepare_reference(annotations: Annotations, reference: str | Sequence[str] | None, schools: int) -> Annotations:
    """Return the annotations of the reference raters, with the shapes that noise is defined for.

    Raises
    ------
    InputError
        If the reference raters are ambiguous, one has no annotations, an annotation has no box, or an image size is
        unknown.
    """
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations: expected Annotations, got {type(annotations).__name__}")
    names = _names(annotations, reference)
    if len(names) not in (1, schools):
        raise InputError(f"reference: expected one rater, or one for each of {schools} schools, got {listed(names)}")
    chosen = annotations.select(raters=names)
    for code, name in enumerate(chosen.raters):
        if not (chosen.rater == code).any():
            raise InputError(f"reference: expected a rater with annotations, got {repr_of(name)}, who has none")
    boxes = chosen.shapes.get("box")
    problems = Problems("reference")
    bare = np.ones(len(chosen), np.bool_) if boxes is None else boxes.absent()
    problems.add_all(np.flatnonzero(bare), lambda row: f"annotation {chosen.id[row]}", "a box", lambda _: "none")
    unknown = np.flatnonzero(np.isnan(chosen.image_size).any(axis=1))
    problems.add_all(unknown, lambda row: f"image {chosen.images[row]!r}", "a width and a height", lambda _: "none")
    problems.raise_if_any()
    other = [kind for kind in chosen.shapes if kind not in KINDS]
    if other:
        text = f"reference: noise is defined for {', '.join(KINDS)}; left out: {', '.join(other)}"
        warn(text)
    return replace(chosen, shapes={kind: column for kind, column in chosen.shapes.items() if kind in KINDS})


def _names(annotations: Annotations, reference: str | Sequence[str] | None) -> list[str]:
    if isinstance(reference, str):
        return [reference]
    if reference is not None:
        if not isinstance(reference, Iterable):
            raise InputError(f"reference: expected the name of a rater, or several, got {repr_of(reference)}")
        return list(reference)
    present = np.unique(annotations.rater)
    if not len(present):
        raise InputError("annotations: expected annotations to generate raters from, got none")
    if len(present) > 1:
        raise InputError(
            "reference: expected the name of the rater to generate from, one of "
            f"{listed(annotations.raters, 20)}, got none"
        )
    return [str(annotations.raters[present[0]])]


def cast_of(
    reference: Annotations,
    reference_rater: NDArray[np.intp],
    names: Sequence[str],
    *,
    image: NDArray[np.intp],
    rater: NDArray[np.intp],
    category: NDArray[np.intp],
    shapes: Mapping[str, ShapeColumn],
) -> Annotations:
    """Build a table of raters with the assignment of those they were generated from."""
    limits = reference.assigned_categories
    excluded = [
        np.stack([lines[:, 0], np.full(len(lines), number), lines[:, 2]], axis=1)
        for number, code in enumerate(reference_rater.tolist())
        for lines in [reference.excluded[reference.excluded[:, 1] == code]]
    ]
    return Annotations(
        image=image,
        rater=rater,
        category=category,
        id=np.arange(1, len(image) + 1),
        shapes=shapes,
        images=reference.images,
        files=reference.files,
        raters=object_array(names),
        categories=reference.categories,
        image_size=reference.image_size,
        assigned=reference.assigned[:, reference_rater],
        assigned_categories=None if limits is None else limits[reference_rater],
        excluded=np.concatenate([np.zeros((0, 3), np.intp), *excluded]),
    )
