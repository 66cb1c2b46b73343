"""Table of methods that estimate a ground truth from masks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, Final, Literal

from kalos_core.consensus._lsml import lsml
from kalos_core.consensus._simple import simple
from kalos_core.consensus._staple import staple
from kalos_core.consensus.truth import Truth
from kalos_core.consensus.voting import vote, vote_any, vote_of_study, vote_without_outliers
from kalos_core.errors import check_iterable, lookup
from kalos_core.options import Option, checked
from kalos_core.pixels.patterns import find_patterns
from kalos_core.pixels.stack import Masks3D, as_stack

WITHOUT_OUTLIERS: Final = "excl-0.5"
"""Method that needs the whole study."""

JOINTLY: Final = "staple-classes"
"""Method that estimates all classes of a label map at once; for one class it is `staple`."""

MethodName = Literal["any", "0.5", "0.75", "excl-0.5", "staple", "staple-classes", "simple", "lsml"]
"""Names in `TRUTH_METHODS`."""

TRUTH_METHODS: dict[MethodName, Callable[[Masks3D], Truth]] = {
    "any": vote_any,
    "0.5": vote,
    "0.75": lambda masks: vote(masks, 0.75),
    WITHOUT_OUTLIERS: vote_without_outliers,
    "staple": staple,
    JOINTLY: staple,
    "simple": simple,
    "lsml": lsml,
}
"""Name -> method that estimates a ground truth from masks: those in Lampert et al. (§III-D), and `JOINTLY`."""


def check_methods(methods: Any, name: str = "methods") -> list[MethodName]:
    """Check one or several names in `TRUTH_METHODS` and remove duplicates."""
    several: Any = [methods] if isinstance(methods, str) else check_iterable(methods, name, "names of methods")
    found: list[MethodName] = list(several)
    for method in found:
        lookup(TRUTH_METHODS, method, name)
    return list(dict.fromkeys(found))


Methods = Annotated[
    MethodName | Sequence[MethodName],
    Option(
        "Methods",
        "Method that estimates the ground truth of pixels. 'excl-0.5' excludes raters who are outliers over all "
        "images, which are read twice. 'staple-classes' estimates all classes of label maps at once, the others each "
        "class against the rest.",
        type="names in `TRUTH_METHODS`",
        check=check_methods,
    ),
]


@checked
def estimate_truth(masks: Masks3D, method: MethodName = "staple", outliers: Iterable[str] | None = None) -> Truth:
    """Estimate the ground truth of one image with a method in `TRUTH_METHODS`.

    For all images of a study use `estimate_truths`.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    method : name in `TRUTH_METHODS`
    outliers : iterable of str, optional
        Outliers of the study, from `study_outliers`. Used only by ``"excl-0.5"``, which otherwise treats the image as
        the whole study.

    Examples
    --------
    >>> estimate_truth([[[0, 1]], [[1, 1]]], "any").mask.tolist()
    [[True, True]]
    >>> list(TRUTH_METHODS)
    ['any', '0.5', '0.75', 'excl-0.5', 'staple', 'staple-classes', 'simple', 'lsml']
    """
    estimate = lookup(TRUTH_METHODS, method, "method")
    if method == WITHOUT_OUTLIERS and outliers is not None:
        stack = as_stack(masks)
        return vote_of_study(stack.raters, find_patterns(stack), outliers)
    return estimate(masks)
