"""STAPLE of several classes at once: one ground truth, and the class confusions of each rater."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import as_array
from kalos_core.consensus._staple import ITERATIONS, SETTLED
from kalos_core.consensus.methods import JOINTLY
from kalos_core.consensus.truth import ROUNDING, Truth, entropy_bits, truth_of_patterns
from kalos_core.display import number_of, percent_text
from kalos_core.errors import InputError, as_number, repr_of
from kalos_core.options import Option, Settings, checked, takes
from kalos_core.pixels.classes import check_classes, check_values
from kalos_core.pixels.patterns import Patterns
from kalos_core.pixels.stack import LabelStack, Masks3D, MaskStack
from kalos_core.results import Result, crossed

if TYPE_CHECKING:
    import pandas as pd

BACKGROUND = "background"
"""Default name of the value 0."""

TABLE = 1 << 20
"""Maximum range of values for which a lookup table is used."""

LARGEST = 1 << 62
"""Upper bound of pattern numbers."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassStaple(Result):
    """Ground truth of several classes at once. N raters, K classes, P patterns of rater answers.

    Figures: ``"raters"``.

    Parameters
    ----------
    raters, classes : (N,), (K,) object
        Names; the background is a class too.
    values : (K,) int
        Values of the classes in label maps.
    pattern : (H, W) or (D, H, W) int
        Pattern of each pixel; -1 for ignored pixels.
    votes : (P, N) int
        Class number that each rater gave.
    probability : (P, K) float64
        Probability of each class at pixels with the pattern.
    confusion : (N, K, K) float64
        Probability that a rater gives a class (last axis) if another one is true. Rows sum to 1.
    prior : (K,) float64
    iterations : int
    converged : bool

    Examples
    --------
    >>> found = staple_classes({"ann": [[0, 1, 1, 2]], "bob": [[0, 1, 1, 2]], "cid": [[0, 1, 2, 1]]})
    >>> found.labels.tolist(), found.tied.any().item()
    ([[0, 1, 1, 2]], False)
    >>> found.confusion[2].round(2).tolist()  # of what is 1, cid calls half 2
    [[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.0, 1.0, 0.0]]
    """

    _call = "staple_classes(labels)"

    raters: NDArray[np.object_]
    classes: NDArray[np.object_]
    values: NDArray[np.int64]
    pattern: NDArray[np.intp]
    votes: NDArray[np.intp]
    probability: NDArray[np.float64]
    confusion: NDArray[np.float64]
    prior: NDArray[np.float64]
    iterations: int
    converged: bool

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """(H, W) or (D, H, W) likeliest value, the first if `tied`; 0 for ignored pixels."""
        return np.append(self.values[self._likeliest.argmax(axis=1)], 0)[self.pattern]

    @cached_property
    def tied(self) -> NDArray[np.bool_]:
        """(H, W) or (D, H, W) whether several classes are equally likely."""
        return np.append(self._likeliest.sum(axis=1) > 1, False)[self.pattern]

    @property
    def _likeliest(self) -> NDArray[np.bool_]:
        """(P, K) whether a class is the likeliest of a pattern; several are if equally likely."""
        return np.asarray(self.probability >= self.probability.max(axis=1, keepdims=True) - ROUNDING)

    @checked
    def probability_of(self, name: str) -> NDArray[np.float64]:
        """(H, W) or (D, H, W) probability of one class; 0 for ignored pixels.

        Examples
        --------
        >>> staple_classes({"ann": [[0, 1]], "bob": [[0, 1]]}, {1: "road"}).probability_of("road").tolist()
        [[0.0, 1.0]]
        """
        return np.append(self.probability[:, self._number(name)], 0.0)[self.pattern]

    @cached_property
    def entropy(self) -> NDArray[np.float64]:
        """(H, W) or (D, H, W) entropy of each pixel's class in bits, from 0 to log2 K; 0 for ignored pixels.

        Examples
        --------
        >>> staple_classes({"ann": [[0, 0]], "bob": [[0, 1]]}, iterations=1).entropy.round(3).tolist()
        [[0.0, 0.0]]
        """
        return np.append(entropy_bits(self.probability), 0.0)[self.pattern]

    @checked
    def truth_of(self, name: str) -> Truth:
        """Return one class against all others; true where it is the likeliest, ties included.

        A rater's sensitivity is that of the class. Their specificity is the probability of not giving the class where
        another one is true, weighted by the frequency of the others.

        Examples
        --------
        >>> found = staple_classes({"ann": [[0, 1, 1, 2]], "bob": [[0, 1, 1, 2]], "cid": [[0, 1, 2, 1]]}).truth_of("1")
        >>> found.mask.tolist(), found.sensitivity.round(2).tolist(), found.specificity.round(2).tolist()
        ([[False, True, True, False]], [1.0, 1.0, 0.5], [1.0, 1.0, 0.5])
        """
        kind, count = self._number(name), np.bincount(self.pattern[self.pattern >= 0], minlength=len(self.votes))
        ignored = self.pattern < 0
        patterns = Patterns(
            votes=self.votes == kind,
            count=count,
            slot=np.arange(len(count)),
            slots=len(count),
            slot_of_pixel=np.maximum(self.pattern, 0).astype(np.uint32),
            ignore=ignored if ignored.any() else None,
        )
        others = np.delete(np.arange(len(self.classes)), kind)
        often = (count @ self.probability)[others]
        wrongly = self.confusion[:, others, kind] @ often / often.sum() if often.any() else np.zeros(len(self.raters))
        return truth_of_patterns(
            JOINTLY,
            self.raters,
            patterns,
            self._likeliest[:, kind],
            self.probability[:, kind],
            iterations=self.iterations,
            converged=self.converged,
            estimates=(self.sensitivity[:, kind], 1 - wrongly),
            why_empty="it is nowhere the likeliest class",
        )

    def _number(self, name: str) -> int:
        names: list[str] = self.classes.tolist()
        if name not in names:
            raise InputError(f"name: expected one of {', '.join(map(repr_of, names))}, got {repr_of(name)}")
        return names.index(name)

    @property
    def sensitivity(self) -> NDArray[np.float64]:
        """(N, K) probability that a rater gives a class where it is true."""
        return np.diagonal(self.confusion, axis1=1, axis2=2).copy()

    @property
    def accuracy(self) -> NDArray[np.float64]:
        """(N,) probability that a rater is right at a pixel: sensitivities weighted by the prior."""
        return self.sensitivity @ self.prior

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        pixels = int((self.pattern >= 0).sum())
        tied = int(self.tied.sum())
        settled = "" if self.converged else f"; not settled after {number_of(self.iterations, 'iteration')}"
        worst, best = (percent_text(float(end)) for end in (self.accuracy.min(), self.accuracy.max()))
        return (
            f"Truth of {number_of(len(self.classes), 'class')} at {number_of(pixels, 'pixel')}, {tied:,} of them "
            "tied; raters are right at "
            f"{worst} to {best}{settled}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each rater, true class and given class, with the probability."""
        axes = {"rater": self.raters, "true": self.classes, "said": self.classes}
        return crossed(axes, probability=self.confusion)


@dataclass(frozen=True)
class ClassStapleSettings(Settings):
    """Settings of `staple_classes`."""

    classes: Annotated[
        Mapping[int, str] | None,
        Option(
            "Classes",
            "Names of the classes by number; by default all values that occur, under their number. 0 is the background "
            "unless it has a name.",
            flag="class_names",
        ),
    ] = None
    prior: Annotated[
        Mapping[int, float] | None,
        Option(
            "Prior",
            "Probability of each class before any vote, by its number; by default the shares of all votes.",
            type="mapping of int to float, optional",
        ),
    ] = None
    iterations: Annotated[int, Option("Iterations", "Largest number of iterations.", low=1)] = ITERATIONS


@takes(ClassStapleSettings)
def staple_classes(labels: LabelStack | Masks3D, settings: ClassStapleSettings) -> ClassStaple:
    """STAPLE of several classes at once (Warfield, Zou & Wells 2004, for more than two labels), in 2-D or 3-D.

    Each rater has a confusion matrix instead of one sensitivity and specificity, so a rater who mistakes one class for
    another is evidence of the other. In contrast, `class_truth` estimates each class against all others.

    A pixel matters only through the raters' answers, so the estimation runs on the few distinct answer patterns. It
    starts from the shares of votes. With two classes it equals `staple`.

    Parameters
    ----------
    labels : LabelStack, or label maps (H, W) or (D, H, W) in a mapping by rater or a sequence
        Every value is a class, including 0.

    Returns
    -------
    ClassStaple

    Raises
    ------
    InputError
        If there are fewer than two raters, a value is not a class, or the prior has other classes or a share of 0.

    Examples
    --------
    >>> found = staple_classes({"ann": [[0, 1, 2]], "bob": [[0, 1, 2]], "cid": [[0, 2, 1]]}, {1: "road", 2: "car"})
    >>> found.labels.tolist(), found.classes.tolist(), found.accuracy.round(2).tolist()
    ([[0, 1, 2]], ['background', 'road', 'car'], [1.0, 1.0, 0.33])
    """
    classes, prior = settings.classes, settings.prior
    stack, shape = _as_stack(labels)
    if len(stack.raters) < 2:
        raise InputError(f"labels: expected those of at least 2 raters, got {len(stack.raters)}")
    rows = [part.ravel() if stack.ignore is None else part[~stack.ignore] for part in stack.labels]
    if classes is None:
        classes = {
            value: BACKGROUND if value == 0 else str(value)
            for value in np.unique(np.concatenate([np.unique(row) for row in rows])).tolist()
        }
    else:
        check_classes(classes)
        check_values(stack, classes)
        classes = dict(classes) if 0 in classes else {0: BACKGROUND, **classes}
        check_classes(classes)
    values = np.array(sorted(classes), dtype=np.int64)
    if not len(rows[0]):
        raise InputError("labels: expected a pixel that is not ignored, got none")
    codes = [_coded(row, values) for row in rows]
    first, pattern, count = _patterns(codes, len(values))
    votes = np.stack([row[first] for row in codes], axis=1).astype(np.intp)
    said = np.stack([(votes == kind).sum(axis=1) for kind in range(len(values))], axis=1)
    before = count @ said / (len(rows) * len(rows[0])) if prior is None else _prior(prior, values)
    probability, confusion, taken, converged = estimate_confusions(votes, count, before, settings.iterations)
    everywhere = np.full(stack.labels.shape[1:], -1, np.intp)
    everywhere[... if stack.ignore is None else ~stack.ignore] = (
        pattern.reshape(everywhere.shape) if stack.ignore is None else pattern
    )
    return ClassStaple(
        raters=stack.raters,
        classes=object_array([classes[value] for value in values.tolist()]),
        values=values,
        pattern=everywhere.reshape(shape),
        votes=votes,
        probability=probability,
        confusion=confusion,
        prior=before,
        iterations=taken,
        converged=converged,
    )


def estimate_confusions(
    votes: NDArray[np.intp], count: NDArray[np.intp], prior: NDArray[np.float64], iterations: int = ITERATIONS
) -> tuple[NDArray[np.float64], NDArray[np.float64], int, bool]:
    """Run expectation-maximisation on answer patterns.

    Parameters
    ----------
    votes : (P, N) int
        Class number that each rater gave.
    count : (P,) int
        Number of pixels with each pattern.
    prior : (K,) float64
    iterations : int

    Returns
    -------
    probability : (P, K) float64
    confusion : (N, K, K) float64
        Probability by rater, true class and given class.
    iterations : int
    converged : bool

    Examples
    --------
    >>> found = estimate_confusions(np.array([[0, 0], [1, 1]]), np.array([9, 1]), np.array([0.9, 0.1]))
    >>> found[0].round(6).tolist(), found[3]
    ([[1.0, 0.0], [0.0, 1.0]], True)
    """
    raters, kinds = votes.shape[1], len(prior)
    probability = np.stack([(votes == kind).mean(axis=1) for kind in range(kinds)], axis=1)
    confusion = np.tile(np.eye(kinds), (raters, 1, 1))
    for iteration in range(1, iterations + 1):
        previous, weight = confusion, count[:, None] * probability
        whole = weight.sum(axis=0)
        said = np.array(
            [
                [np.bincount(votes[:, rater], weights=weight[:, kind], minlength=kinds) for kind in range(kinds)]
                for rater in range(raters)
            ]
        )
        there = whole > 0  # a class that is true nowhere keeps its confusions
        confusion = np.where(there[:, None], said / np.where(there, whole, 1)[:, None], previous)
        probability = _probability(votes, prior, confusion, probability)
        if iteration > 1 and np.abs(confusion - previous).max() <= SETTLED:
            return probability, confusion, iteration, True
    return probability, confusion, iterations, False


def _probability(
    votes: NDArray[np.intp],
    prior: NDArray[np.float64],
    confusion: NDArray[np.float64],
    otherwise: NDArray[np.float64],
) -> NDArray[np.float64]:
    """(P, K) probability of each class given the answers; unchanged if no class is possible."""
    with np.errstate(divide="ignore"):  # log 0 is an impossible class
        likely = np.tile(np.log(prior), (len(votes), 1))
        for rater, own in enumerate(np.log(confusion)):
            likely += own[:, votes[:, rater]].T
    most = likely.max(axis=1, keepdims=True)
    possible = most > -np.inf
    odds = np.exp(likely - np.where(possible, most, 0))
    return np.where(possible, odds / np.where(possible, odds.sum(axis=1, keepdims=True), 1), otherwise)


def _patterns(codes: Sequence[NDArray[Any]], kinds: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return a pixel of each answer pattern, the pattern of each pixel, and the pixels per pattern."""
    import pandas as pd  # slow to import, and needed here only

    number, most = codes[0].astype(np.int64), kinds
    for row in codes[1:]:
        if most * kinds >= LARGEST:
            number, distinct = pd.factorize(number)
            most = len(distinct)
        number, most = number * kinds + row, most * kinds
    pattern, distinct = pd.factorize(number)  # hash table, no sorting
    first = np.empty(len(distinct), np.intp)
    first[pattern[::-1]] = np.arange(len(pattern))[::-1]  # the first pixel is written last
    return first, pattern, np.bincount(pattern)


def _coded(labels: NDArray[np.integer[Any]], values: NDArray[np.int64]) -> NDArray[Any]:
    """Position of each label among ascending values; uses a lookup table if the range is small."""
    low, span = int(values[0]), int(values[-1]) - int(values[0]) + 1
    if span > TABLE:
        return np.searchsorted(values, labels)
    table = np.zeros(span, np.min_scalar_type(len(values)))
    table[values - low] = np.arange(len(values))
    return np.asarray(table[labels.astype(np.intp) - low])


def _as_stack(labels: Any) -> tuple[LabelStack, tuple[int, ...]]:
    """Return label maps as a stack, and the shape of one map; volumes become stacked maps."""
    if isinstance(labels, MaskStack):
        labels = LabelStack(labels.masks.view(np.uint8), labels.raters, labels.ignore, labels.image)
    if isinstance(labels, LabelStack):
        return labels, labels.labels.shape[1:]
    if isinstance(labels, (Mapping, Sequence, np.ndarray)) and not isinstance(labels, str) and len(labels):
        entries: Any = labels.values() if isinstance(labels, Mapping) else labels
        parts = [None if part is None else as_array(part, "labels") for part in entries]
        shapes = {part.shape for part in parts if part is not None}
        shape = next(iter(shapes), ())
        if len(shapes) == 1 and len(shape) == 3:
            flat: Any = [None if part is None else part.reshape(-1, shape[-1]) for part in parts]
            stack = LabelStack.of(dict(zip(labels, flat, strict=True)) if isinstance(labels, Mapping) else flat)
            return stack, shape
    stack = LabelStack.of(labels)
    return stack, stack.labels.shape[1:]


def _prior(prior: Any, values: NDArray[np.int64]) -> NDArray[np.float64]:
    """(K,) prior shares of the classes, normalised to sum to 1."""
    given = dict(prior) if isinstance(prior, Mapping) else {}
    shares = [as_number(given.get(value)) for value in values.tolist()]
    if set(given) != set(values.tolist()) or any(share is None or not 0 < share < np.inf for share in shares):
        wanted = ", ".join(map(str, values.tolist()))
        raise InputError(f"prior: expected a share above 0 of each of the classes {wanted}, got {repr_of(prior)}")
    found = np.array(shares, np.float64)
    return np.asarray(found / found.sum())
