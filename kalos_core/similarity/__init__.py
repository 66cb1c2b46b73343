"""Similarity of two shapes: 1 = the same place, 0 = apart. The table `SIMILARITIES` names what there is.

A similarity compares rows of two columns of one shape kind. It is given the smallest value that matters (`floor`) and
may answer 0 for a pair that is certain to stay below.
"""

from __future__ import annotations

from kalos_core.errors import InputError, lookup
from kalos_core.similarity.base import ROUNDING, Bound, Compare, Rows, Similarity, check_threshold
from kalos_core.similarity.boxes import box_iou
from kalos_core.similarity.polygons import polygon_bound, polygon_iou

__all__ = [
    "ROUNDING",
    "SIMILARITIES",
    "Bound",
    "Compare",
    "Rows",
    "Similarity",
    "box_iou",
    "check_threshold",
    "get_similarity",
    "polygon_iou",
    "register_similarity",
]

SIMILARITIES: dict[str, Similarity] = {
    measure.name: measure
    for measure in (
        Similarity("box_iou", "box", "IoU of boxes", box_iou),
        Similarity("polygon_iou", "polygon", "IoU of polygons", polygon_iou, additive=True, bound=polygon_bound),
    )
}
"""Name -> similarity; the App's drop-downs and the laws in the tests read this table. `register_similarity` adds."""


def get_similarity(similarity: str | Similarity | Rows) -> Similarity:
    """The similarity of that name, the one given, or one made of a function ``function(annotations, left, right)``."""
    if isinstance(similarity, Similarity):
        return similarity
    return (
        Similarity.of_function(similarity) if callable(similarity) else lookup(SIMILARITIES, similarity, "similarity")
    )


def register_similarity(similarity: Similarity | Rows) -> Similarity:
    """Add a similarity to `SIMILARITIES`, so that it can be asked for by name, in the App too.

    Parameters
    ----------
    similarity : Similarity or callable
        As everywhere: a `Similarity`, or a function ``function(annotations, left, right)`` -> (P,).

    Returns
    -------
    Similarity

    Raises
    ------
    InputError
        If the name is taken.

    Examples
    --------
    >>> def same_class(annotations, left, right):
    ...     return (annotations.category[left] == annotations.category[right]).astype(float)
    >>> register_similarity(same_class).name, "same_class" in SIMILARITIES
    ('same_class', True)
    >>> del SIMILARITIES["same_class"]
    """
    measure = get_similarity(similarity)
    if measure.name in SIMILARITIES:
        raise InputError(f"similarity: expected a name of its own, got {measure.name!r}, which is taken")
    SIMILARITIES[measure.name] = measure
    return measure
