"""Ground truth by vote: of any rater, of a share of raters, or of raters who are not outliers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import names_of
from kalos_core.arrays import mean_of_defined
from kalos_core.consensus.truth import Truth, truth_of_patterns
from kalos_core.errors import InputError, check_number, listed
from kalos_core.options import checked
from kalos_core.pixels.agreement import FEWEST_FOR_OUTLIERS
from kalos_core.pixels.agreement import outliers as above_limit
from kalos_core.pixels.patterns import Patterns, find_patterns
from kalos_core.pixels.stack import Masks3D, as_stack
from kalos_core.pixels.sums import PixelSums

ROUNDING = 1e-9
"""Tolerance within which a share times the number of raters is a whole number."""

NOBODY_LEFT = "all raters of this image are outliers of the study: all of them vote"


@checked
def vote(masks: Masks3D, share: float = 0.5) -> Truth:
    """Return pixels that at least a share of the raters marked: A / N >= share (Lampert et al., Eq. 5).

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    share : float in (0, 1]
        .5 is the majority, including ties.

    Returns
    -------
    Truth

    Examples
    --------
    >>> stack = [[[0, 1, 1, 1]], [[0, 0, 1, 1]], [[0, 0, 0, 1]]]
    >>> [vote(stack, share).mask.astype(int).tolist() for share in (1 / 3, 0.5, 0.75)]
    [[[0, 1, 1, 1]], [[0, 0, 1, 1]], [[0, 0, 0, 1]]]
    """
    stack = as_stack(masks)
    wanted = check_number(share, "share", above=0, high=1)
    patterns = find_patterns(stack)
    share_of_votes = patterns.votes.mean(axis=1)
    enough = patterns.votes.sum(axis=1) >= wanted * len(stack.raters) - ROUNDING
    return truth_of_patterns(f"vote {wanted:.4g}", stack.raters, patterns, enough, share_of_votes)


@checked
def vote_any(masks: Masks3D) -> Truth:
    """Return pixels that any rater marked: Any-GT, a lower bound on detector performance (Lampert et al., §V-B).

    Examples
    --------
    >>> vote_any([[[0, 0, 1]], [[0, 1, 0]]]).mask.astype(int).tolist()
    [[0, 1, 1]]
    """
    stack = as_stack(masks)
    return vote(stack, 1 / len(stack.raters))


@checked
def vote_without_outliers(masks: Masks3D, outliers: Iterable[str] | None = None) -> Truth:
    """Return pixels that at least half of the non-outliers marked: Excl-0.5-GT (Lampert et al., §III-D).

    An outlier is a rater whose mean 1 - F1 to the others exceeds the mean of all raters plus one standard deviation.
    Two raters have no outliers; the result is then the majority. The paper decides over all images of a study:
    `study_outliers` finds them, and `estimate_truths` applies them.

    Parameters
    ----------
    masks : MaskStack or (N, H, W)
    outliers : iterable of str, optional
        Names, such as those from `study_outliers`. By default outliers are decided within these masks, as if they were
        the whole study. Names that the stack does not have are ignored.

    Returns
    -------
    Truth
        `kept` marks the raters who voted.

    Raises
    ------
    InputError
        If no rater is left.

    Examples
    --------
    >>> stack = {"ann": [[0, 1, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 1, 1, 1]], "dan": [[1, 0, 0, 1]]}
    >>> found = vote_without_outliers(stack)
    >>> found.mask.astype(int).tolist(), found.raters[~found.kept].tolist()
    ([[0, 1, 1, 1]], ['dan'])
    """
    stack = as_stack(masks)
    patterns = find_patterns(stack)
    kept = ~(
        find_outliers(patterns) if outliers is None else np.isin(stack.raters, names_of(list(outliers), [], "outliers"))
    )
    if not kept.any():
        raise InputError(f"outliers: expected not to list all raters {listed(stack.raters, 20)}, got them all")
    return vote_of(stack.raters, patterns, kept)


def vote_of(
    raters: NDArray[np.object_], patterns: Patterns, kept: NDArray[np.bool_], notes: Sequence[str] = ()
) -> Truth:
    """Return pixels that at least half of the kept raters (N,) marked; at least one rater is kept.

    Examples
    --------
    >>> patterns = find_patterns(as_stack({"ann": [[0, 1]], "bob": [[1, 1]]}))
    >>> vote_of(np.array(["ann", "bob"], object), patterns, np.array([True, False])).mask.tolist()
    [[False, True]]
    """
    share_of_votes = patterns.votes[:, kept].mean(axis=1)
    enough = 2 * patterns.votes[:, kept].sum(axis=1) >= kept.sum()
    method = "vote 0.5 without outliers"
    return truth_of_patterns(method, raters, patterns, enough, share_of_votes, kept=kept, notes=notes)


def vote_of_study(raters: NDArray[np.object_], patterns: Patterns, outliers: Iterable[str]) -> Truth:
    """Vote of raters who are not outliers of the study; if none is left, vote of all raters of the image.

    Examples
    --------
    >>> patterns = find_patterns(as_stack({"ann": [[0, 1]], "bob": [[0, 1]]}))
    >>> vote_of_study(np.array(["ann", "bob"], object), patterns, ["ann", "bob"]).note
    'all raters of this image are outliers of the study: all of them vote'
    """
    kept = ~np.isin(raters, names_of(list(outliers), [], "outliers"))
    return vote_of(raters, patterns, kept) if kept.any() else vote_of(raters, patterns, ~kept, [NOBODY_LEFT])


def find_outliers(patterns: Patterns) -> NDArray[np.bool_]:
    """(N,) outliers among the raters of one stack, see `PixelAgreement.outliers`; none below three raters."""
    raters = np.arange(patterns.votes.shape[1])
    return outliers_of(PixelSums.of(patterns, raters, len(raters)))


def outliers_of(sums: PixelSums) -> NDArray[np.bool_]:
    """(R,) outliers from the counts of any number of images; none below three raters.

    Examples
    --------
    >>> masks = {"ann": [[0, 1, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[0, 1, 1, 1]], "dan": [[1, 0, 0, 1]]}
    >>> outliers_of(PixelSums.of(find_patterns(as_stack(masks)), np.arange(4), 4)).tolist()
    [False, False, False, True]
    """
    if len(sums.common) < FEWEST_FOR_OUTLIERS:
        return np.zeros(len(sums.common), np.bool_)
    apart = 1 - sums.f1()
    np.fill_diagonal(apart, np.nan)
    return above_limit(mean_of_defined(apart))
