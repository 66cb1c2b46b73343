"""The table of methods that estimate a truth from masks."""

from __future__ import annotations

from collections.abc import Callable

from kalos_core.consensus._lsml import lsml
from kalos_core.consensus._simple import simple
from kalos_core.consensus._staple import staple
from kalos_core.consensus.truth import Truth
from kalos_core.consensus.voting import vote, vote_any, vote_without_outliers
from kalos_core.errors import lookup
from kalos_core.pixels.stack import Masks3D

TRUTH_METHODS: dict[str, Callable[[Masks3D], Truth]] = {
    "any": vote_any,
    "0.5": vote,
    "0.75": lambda masks: vote(masks, 0.75),
    "excl-0.5": vote_without_outliers,
    "staple": staple,
    "simple": simple,
    "lsml": lsml,
}
"""Name -> method that estimates a truth from masks: those that Lampert et al. compare (§III-D)."""


def estimate_truth(masks: Masks3D, method: str = "staple") -> Truth:
    """The truth of masks by the name of a method in `TRUTH_METHODS`.

    Examples
    --------
    >>> estimate_truth([[[0, 1]], [[1, 1]]], "any").mask.tolist()
    [[True, True]]
    >>> list(TRUTH_METHODS)
    ['any', '0.5', '0.75', 'excl-0.5', 'staple', 'simple', 'lsml']
    """
    return lookup(TRUTH_METHODS, method, "method")(masks)
