"""Ground truths of all images of a study, with outliers decided over all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import distinct
from kalos_core.consensus.methods import TRUTH_METHODS, WITHOUT_OUTLIERS, MethodName
from kalos_core.consensus.truth import Truth
from kalos_core.consensus.voting import find_outliers, outliers_of, vote_of, vote_of_study
from kalos_core.display import number_of
from kalos_core.errors import InputError, lookup
from kalos_core.options import checked
from kalos_core.pixels.patterns import Patterns, find_patterns
from kalos_core.pixels.stack import Stacks, each_stack, image_name
from kalos_core.pixels.sums import PixelSums
from kalos_core.results import Results

LOCAL = "raters have no names: outliers are decided within the image"


class Truths(Results[Truth]):
    """Ground truths estimated from the masks of several images, one `Truth` for each image.

    Figures: ``"images"``.

    Examples
    --------
    >>> Truths().headline
    'References of 0 images'
    """

    _entry = Truth
    _call = "estimate_truths(stacks)"

    def _row(self, entry: Truth) -> dict[str, Any]:
        size = {"method": entry.method, "pixels": int(entry.mask.sum()), "of": entry.patterns.pixels}
        return size | {"raters": len(entry.raters), "note": entry.note}

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return f"References of {number_of(len(self), 'image')}"


@checked
def estimate_truths(stacks: Stacks, method: MethodName = "staple", raters_are_local: bool | None = None) -> Truths:
    """Estimate the ground truth of each image of a study with a method in `TRUTH_METHODS`.

    It differs from `estimate_truth` only for ``"excl-0.5"``: outliers are decided once over all images, as in the paper
    (Lampert et al., §III-B, D), and excluded from the vote on each image. An image whose raters are all outliers keeps
    all votes, and its `note` says so. Other methods work image by image.

    Every image is read once. A ground truth holds the votes on its image, about 2 bytes a pixel, and so does the
    result. If a study does not fit in memory, `study_outliers` reads it once, and `estimate_truth` or
    `vote_without_outliers` uses its result image by image.

    Parameters
    ----------
    stacks : iterable, or function without arguments that returns one
        One `MaskStack` for each image, or input of `MaskStack.of`, each with at least two raters. May be a list, a
        generator, or for example ``read_mask_folders(...).stacks``. A single stack is one image.
    method : name in `TRUTH_METHODS`
    raters_are_local : bool, optional
        Whether a rater name is valid within one image only; by default as in the stacks. There are then no outliers of
        the study: ``"excl-0.5"`` decides within each image, and `note` says so.

    Returns
    -------
    Truths
        In the order of the images.

    Raises
    ------
    InputError
        If there is no image, an image has fewer than two raters, `MaskStack.of` rejects masks, or the method is
        unknown. The message names the image.

    Examples
    --------
    Dan differs on the first image and is an outlier of the study. On the second image alone, it would be cid:

    >>> first = {"ann": [[0, 1, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 1, 1, 1]], "dan": [[1, 0, 0, 0]]}
    >>> second = {"ann": [[1, 1]], "bob": [[1, 1]], "cid": [[1, 0]], "dan": [[1, 1]]}
    >>> truths = estimate_truths([first, second], "excl-0.5")
    >>> [truth.raters[~truth.kept].tolist() for truth in truths]
    [['dan'], ['dan']]
    >>> estimate_truths([second], "excl-0.5")[0].kept.tolist()
    [True, True, False, True]
    """
    estimate = lookup(TRUTH_METHODS, method, "method")
    if method != WITHOUT_OUTLIERS:
        truths = [estimate(stack) for stack in each_stack(stacks)]
    else:
        read: list[tuple[NDArray[np.object_], Patterns]] = []
        local = bool(raters_are_local)
        for stack in each_stack(stacks):
            read.append((stack.raters, find_patterns(stack)))
            local |= stack.raters_are_local and raters_are_local is None
        if local:
            truths = [vote_of(raters, votes, ~find_outliers(votes), [LOCAL]) for raters, votes in read]
        else:
            outliers = _outliers((raters, _sums_of(votes)) for raters, votes in read)
            truths = [vote_of_study(raters, votes, outliers) for raters, votes in read]
    if not truths:
        raise InputError("stacks: expected at least one image, got none")
    return Truths(truths)


@checked
def study_outliers(stacks: Stacks) -> list[str]:
    """Find raters whose mean 1 - F1 to the others exceeds the mean of all raters plus one standard deviation.

    Decided once over all images (Lampert et al., §III-B). F1 of two raters is computed over all images that both
    annotated, and the standard deviation is that of the sample (ddof 1). Fewer than three raters have no outliers. The
    result equals ``found.raters[found.outliers]`` of a `pixel_agreement`; images of one rater are ignored.

    Parameters
    ----------
    stacks : iterable, or function without arguments that returns one
        As in `estimate_truths`; read once, without keeping images.

    Raises
    ------
    InputError
        If raters are local to an image (`MaskStack.raters_are_local`), since they have no other images.

    Examples
    --------
    >>> first = {"ann": [[0, 1, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 1, 1, 1]], "dan": [[1, 0, 0, 0]]}
    >>> study_outliers([first, {"ann": [[1, 1]], "cid": [[1, 0]]}])
    ['dan']
    """
    counted = []
    for number, stack in enumerate(each_stack(stacks, least=1), start=1):
        if stack.raters_are_local:
            name = image_name(stack, number)
            raise InputError(
                f"{name}: expected raters who are the same on every image, got raters that are local to it"
            )
        counted.append((stack.raters, _sums_of(find_patterns(stack))))
    return _outliers(counted)


def _sums_of(votes: Patterns) -> PixelSums:
    """Count the pixels of an image over its own raters."""
    raters = np.arange(votes.votes.shape[1])
    return PixelSums.of(votes, raters, len(raters))


def _outliers(images: Iterable[tuple[NDArray[np.object_], PixelSums]]) -> list[str]:
    """Names of the outliers, from the raters and counts of each image."""
    counted = list(images)
    names = distinct(name for raters, _ in counted for name in raters)
    code = {name: index for index, name in enumerate(names)}
    whole = PixelSums.nothing(len(names))
    for raters, sums in counted:
        if len(raters) > 1:
            cells = np.ix_(*2 * [[code[name] for name in raters]])
            for total, part in ((whole.common, sums.common), (whole.marked, sums.marked), (whole.both, sums.both)):
                total[cells] += part
    return [name for name, out in zip(names, outliers_of(whole), strict=True) if out]
