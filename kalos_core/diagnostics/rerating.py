"""Selection of images for another rater, to narrow the interval on alpha most per label."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement_of
from kalos_core.annotations import Annotations
from kalos_core.arrays import divide, find_sorted, run_starts, total
from kalos_core.chance import alpha_of_sums
from kalos_core.display import number_of, percent_text, signed
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Seed, Settings, takes
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED, coincidences, with_empty_images
from kalos_core.results import Result
from kalos_core.sharding import Sharded

Statistic = Annotated[
    Literal["alpha", "global_alpha"],
    Option(
        "Narrow the interval",
        "The alpha whose interval one more rater should narrow.",
        choices={
            "global_alpha": "of the alpha of all units",
            "alpha": "of the mean alpha of images",
        },
    ),
]

SAID = {"alpha": "the mean alpha of images", "global_alpha": "the alpha of all units"}
"""Statistic -> its name in a sentence."""

INTERVALS = {"alpha": "alpha_interval", "global_alpha": "global_alpha_interval"}
"""Statistic -> field of an agreement with its interval."""

IN_TRIALS = {
    "alpha": "in trials, 87 to 109 % of it was reached, more than with as many labels on random images",
    "global_alpha": "in trials, 7 to 92 % of it was reached, more than with as many labels on random images",
}
"""Statistic -> accuracy of the expectation in trials that added withheld or generated raters."""

LEAST_SHARE = 1e-12
"""Shares of the variance below this are rounding errors."""


@dataclass(frozen=True, eq=False, repr=False)
class NextToRate(Result):
    """The n images for another rater that narrow the interval most per label, best first.

    Figures: ``"images"``.

    Parameters
    ----------
    image, file : (n,) object
        Image ids and file names.
    alpha : (n,) float64
        Current alpha of the image; NaN if it has one rater.
    raters : (n,) int
        Current number of raters.
    labels : (n,) float64
        Expected number of annotations by another rater: the mean over the current raters, but at least 1, since
        looking at an image has a cost.
    share : (n,) float64
        Share of the variance of the statistic expected to be removed by another rater on this image alone.
    shift : (n,) float64
        Expected shift of the statistic itself.
    statistic : str
        ``"alpha"`` or ``"global_alpha"``.
    width : float
        Current width of the interval; NaN without an interval.
    taken : float
        Share of the variance expected to be removed by another rater on all n images.
    reducible : float
        Share of the variance expected to be removed by another rater on every image. The rest is variance between
        images, which only more images reduce.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement, next_to_rate
    >>> given = [("cat", "cat"), ("dog", "dog"), ("cat", "dog")] * 3
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": category, "box": [0, 0, 9, 9]}
    ...     for image, both in enumerate(given)
    ...     for rater, category in zip(("ann", "bob"), both)
    ... ]
    >>> found = next_to_rate(agreement(Annotations.from_rows(rows)), n=2)
    >>> found.image.tolist(), found.raters.tolist(), found.labels.tolist()
    ([2, 5], [2, 2], [1.0, 1.0])
    """

    _call = "next_to_rate(agreement(annotations))"
    _columns = "image file alpha raters labels narrowing narrowing_per_label shift"

    image: NDArray[np.object_]
    file: NDArray[np.object_]
    alpha: NDArray[np.float64]
    raters: NDArray[np.intp]
    labels: NDArray[np.float64]
    share: NDArray[np.float64]
    shift: NDArray[np.float64]
    statistic: str
    width: float
    taken: float
    reducible: float

    def __len__(self) -> int:
        return len(self.image)

    @property
    def narrowing(self) -> NDArray[np.float64]:
        """(n,) expected narrowing of the interval by another rater on this image alone."""
        return np.asarray(self.width * (1 - np.sqrt(1 - np.minimum(self.share, 1))))

    @property
    def narrowing_per_label(self) -> NDArray[np.float64]:
        """(n,) `narrowing` divided by `labels`."""
        return self.narrowing / self.labels

    @property
    def expected_width(self) -> float:
        """Expected width of the interval after another rater on all n images; NaN without an interval."""
        return float(self.width * np.sqrt(1 - self.taken))

    @property
    def headline(self) -> str:
        """Summary of the result in two lines."""
        what = SAID[self.statistic]
        if not len(self):
            return f"No image is expected to narrow the interval on {what} with one more rater"
        rest = "; the rest is between images, and only more images reduce it" if self.reducible < 1 else ""
        images = f"{number_of(len(self), 'image')} (about {number_of(round(float(self.labels.sum())), 'label')})"
        moves = f"and alpha to change by {signed(self.shift.sum())}"
        found = f"the variance of {what} is expected to fall by {percent_text(self.taken)}, {moves}"
        if not np.isnan(self.width):
            widths = f"from {self.width:.3f} to {self.expected_width:.3f}"
            found = f"the interval on {what} is expected to narrow {widths}, {moves}; {IN_TRIALS[self.statistic]}"
        return (
            f"One more rater on {images}: {found}\n"
            f"One more rater on all images removes about {percent_text(min(self.reducible, 1.0))} of its variance{rest}"
        )


@dataclass(frozen=True)
class NextSettings(Settings):
    """Settings of the search for images."""

    n: Annotated[int, Option("Images, at most", "Maximum number of images; fewer if fewer help.", low=1)] = 10
    statistic: Statistic = "global_alpha"


@dataclass(frozen=True)
class NextArguments(NextSettings):
    """Arguments of `next_to_rate`."""

    draws: Annotated[int, Option("Further raters", "Number of further raters to simulate.", low=1)] = 200
    seed: Seed = 0


@takes(NextArguments)
def next_to_rate(agreement: Agreement | Annotations | Sharded[Annotations], settings: NextArguments) -> NextToRate:
    """Find the images for another rater that narrow the interval on alpha most per label.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute a default agreement from
        Without intervals, no width is reported.

    Returns
    -------
    NextToRate

    Notes
    -----
    *Effect of another rater.* Images are random, and so are the answers of a further rater on each. The variance behind
    the interval is S / N², where S is the sum of squared residuals of the images.

    * For mean alpha, a residual is the image's alpha minus the mean, and N is the number of images.
    * For global alpha, it is the image's influence on D_o / D_e (the infinitesimal jackknife, Jaeckel 1972), and N is
      the number of pairable values.

    Another rater on an image changes both, all else being equal. The benefit of the image is the expected decrease of
    (S + ΔS) / (N + ΔN)².

    *Model of that rater.* The values of a unit are drawn from a distribution that is itself drawn from a Dirichlet
    distribution around the shares of all values, with concentration k. Two raters then differ k / (1 + k) times as
    often as two unrelated values: alpha = 1 / (1 + k), so k = (1 - alpha) / alpha, from `global_alpha`. Given m values
    of a unit, a further rater repeats one of them at random with probability m / (m + k), and otherwise answers like a
    random value of the data (the urn of Blackwell & MacQueen 1973). `draws` such raters are simulated, stratified and
    the same for all images: equal images get equal values, and ties keep the order of images.

    *Assumptions.* Raters are alike, units are independent, and a further rater finds no new object.

    *Limitations.* If images differ more than raters do, `reducible` is small: label more images instead. Chosen images
    are not a random sample: alpha moves with them (`shift`), since it depends on the number of raters of an image where
    existence is in dispute. In trials that gave withheld raters back (`benchmarks/rerating.py`), chosen images narrowed
    either interval with fewer labels than random images. Choosing for `global_alpha` came nearer to the alpha of all
    raters on LIDC scans, and made hardly a difference with generated raters. Choosing for `alpha` left the mean further
    from that of all raters on the scans, and nearer with generated raters.

    Raises
    ------
    InputError
        If the statistic is unknown.

    Examples
    --------
    Three images each on which both raters say cat, both say dog, or one says each: D_o = 1/3 and D_e = 1/2.
    Residuals are proportional to 2, 2 and 4, and S to 72. A third rater makes that of an image with one each 3, and
    N 19 instead of 18:

    >>> from kalos_core import Annotations, agreement
    >>> given = [("cat", "cat"), ("dog", "dog"), ("cat", "dog")] * 3
    >>> rows = [
    ...     {"image": image, "rater": rater, "category": category, "box": [0, 0, 9, 9]}
    ...     for image, both in enumerate(given)
    ...     for rater, category in zip(("ann", "bob"), both)
    ... ]
    >>> found = next_to_rate(agreement(Annotations.from_rows(rows)), n=2)
    >>> found.image.tolist(), found.share.round(4).tolist(), round(1 - (72 - 7) / 72 * (18 / 19) ** 2, 4)
    ([2, 5], [0.1898, 0.1898], 0.1898)
    """
    agreement, statistic = agreement_of(agreement), settings.statistic
    interval, images = getattr(agreement, INTERVALS[statistic]), len(agreement.image_alpha)
    draws = check_replicates(settings.draws, images, "draws", 1)
    expected = _Further(agreement).expected(statistic, draws, settings.seed)
    share = np.array([expected.share(np.array([image])) for image in range(images)])
    share[share < LEAST_SHARE] = 0
    raters = agreement.annotations.assigned_any_class.sum(axis=1)
    labels = np.maximum(agreement.annotations_per_image / np.maximum(raters, 1), 1.0)
    chosen = np.argsort(-share / labels, kind="stable")[: settings.n]
    chosen = chosen[share[chosen] > 0]
    return NextToRate(
        image=agreement.annotations.images[chosen],
        file=agreement.annotations.files[chosen],
        alpha=agreement.image_alpha[chosen],
        raters=raters[chosen],
        labels=labels[chosen],
        share=share[chosen],
        shift=expected.shift[chosen],
        statistic=statistic,
        width=float(interval[1] - interval[0]),
        taken=expected.share(chosen),
        reducible=max(expected.share(np.arange(images)), 0.0),
    )


@dataclass(frozen=True, eq=False)
class _Expected:
    """Expected changes by another rater, for each image.

    Parameters
    ----------
    shift : (I,) float64
        Expected shift of the statistic.
    squares, more_squares : float, (I,) float64
        Sum of the squared residuals of all images, and its expected increase by image.
    size, more_size : float, (I,) float64
        Denominator of the variance, images or pairable values, and its expected increase by image.
    """

    shift: NDArray[np.float64]
    squares: float
    more_squares: NDArray[np.float64]
    size: float
    more_size: NDArray[np.float64]

    def share(self, chosen: NDArray[np.intp]) -> float:
        """Share of the variance removed by another rater on all chosen images; negative if it grows."""
        if not self.squares > 0:  # images are alike, or alpha is undefined
            return 0.0
        squares = max(1 + self.more_squares[chosen].sum() / self.squares, 0.0)
        return float(1 - squares * (self.size / (self.size + self.more_size[chosen].sum())) ** 2)


class _Images(NamedTuple):
    """Change, residual and size of each image by itself, (I,) each, with or without another rater."""

    change: NDArray[np.float64]
    residual: NDArray[np.float64]
    size: NDArray[np.float64]


class _Further:
    """Agreement, and its changes if an image is given to a further rater."""

    def __init__(self, agreement: Agreement) -> None:
        self.image, values = _units(agreement)
        self.images = len(agreement.image_alpha)
        self.values = values
        self.given = (values != NOT_ASSIGNED).sum(axis=1)
        per_image = np.bincount(self.image, minlength=self.images)
        self.position, self.most = np.arange(len(values)) - run_starts(per_image)[self.image], int(per_image.max())
        self.any = np.sort(values[values != NOT_ASSIGNED])
        whole = agreement.global_alpha
        self.repeats = np.zeros(len(values))  # for alpha <= 0, the values of a unit do not predict the next one
        if whole > 0:
            self.repeats = self.given / (self.given + (1 - whole) / whole)
        self.same = np.sum([self._match(column) for column in values.T], axis=0) - self.given  # sum of n_c (n_c - 1)
        self.sums = coincidences(values, self.image, self.images)
        self.span = int(values.max()) - NO_OBJECT + 1
        self.alone = self.given == 1  # pairable with any further rater

    def expected(self, statistic: str, draws: int, seed: int) -> _Expected:
        """Average the changes over draws of a further rater."""
        start, after = self._of_mean() if statistic == "alpha" else self._of_whole()
        shift, more_squares, more_size = np.zeros((3, self.images))
        for answers in self.draws(draws, seed):
            change, residual, size = after(answers)
            shift += change / draws
            more_squares += (residual**2 - start.residual**2) / draws
            more_size += (size - start.size) / draws
        return _Expected(shift, float((start.residual**2).sum()), more_squares, float(start.size.sum()), more_size)

    def draws(self, draws: int, seed: int) -> Iterator[NDArray[np.int32]]:
        """(U,) answers of a further rater to all units, once for each draw."""
        rng = np.random.default_rng(seed)
        strata = rng.permuted(np.tile(np.arange(draws), (self.most, 1)), axis=1)
        for stratum in strata.T:
            drawn = (stratum + rng.random(self.most)) / draws
            yield self._answers(drawn[self.position])

    def _answers(self, drawn: NDArray[np.float64]) -> NDArray[np.int32]:
        """(U,) answers of the further rater, from uniform numbers (U,) in [0, 1)."""
        repeats = drawn < self.repeats
        share = np.where(repeats, drawn, drawn - self.repeats) / np.where(repeats, self.repeats, 1 - self.repeats)
        which = np.minimum((share * self.given).astype(np.intp), self.given - 1)
        other = np.minimum((share * len(self.any)).astype(np.intp), len(self.any) - 1)
        return np.where(repeats, self.values[np.arange(len(which)), which], self.any[other])

    def _of_mean(self) -> tuple[_Images, Callable[[NDArray[np.int32]], _Images]]:
        """State of each image, and a function for its state after answers (U,) of a further rater."""
        sums = self.sums
        squares = total(sums.group, sums.count**2, self.images)
        before = alpha_of_sums(sums.pairable, sums.agreeing, squares)
        defined = np.isfinite(before)
        mean, images = before[defined].mean(), defined.sum()
        known = self._key(sums.group, sums.value)  # ascending
        start = _Images(np.zeros(self.images), np.where(defined, before - mean, 0.0), defined.astype(np.float64))

        def after(answers: NDArray[np.int32]) -> _Images:
            pairable, agreeing, key, more = self._added(answers)
            at = find_sorted(known, key)
            there = np.where(at >= 0, sums.count[at], 0)
            grown = total(key // self.span, more * (2 * there + more), self.images)
            alpha = alpha_of_sums(sums.pairable + pairable, sums.agreeing + agreeing, squares + grown)
            shift = np.where(defined, (alpha - before) / images, (alpha - mean) / (images + 1))
            seen = np.isfinite(alpha)
            return _Images(np.where(seen, shift, 0.0), np.where(seen, alpha - mean, 0.0), seen.astype(np.float64))

        return start, after

    def _of_whole(self) -> tuple[_Images, Callable[[NDArray[np.int32]], _Images]]:
        """State of each image, and a function for its state after answers (U,) of a further rater."""
        sums = self.sums
        counts = total(sums.value - NO_OBJECT, sums.count, self.span)
        whole = sums.pairable.sum(), sums.agreeing.sum(), (counts**2).sum()
        before = alpha_of_sums(*(np.array([number]) for number in whole))
        other = 1 - counts / max(whole[0], 1)  # for each value, the share of the other values
        chance = total(sums.group, sums.count * other[sums.value - NO_OBJECT], self.images)

        def residual(pairable: NDArray[Any], agreeing: NDArray[Any], chance: NDArray[Any]) -> NDArray[np.float64]:
            """Influence of each image on 1 - alpha = D_o / D_e, times the number of pairable values."""
            observed = divide(pairable - agreeing, (whole[0] - whole[1]) / max(whole[0], 1))
            expected = divide(chance, (counts * other).sum() / max(whole[0], 1))
            return np.asarray((1 - before) * (observed + pairable - 2 * expected))

        start = _Images(np.zeros(self.images), residual(sums.pairable, sums.agreeing, chance), 1.0 * sums.pairable)

        def after(answers: NDArray[np.int32]) -> _Images:
            pairable, agreeing, key, more = self._added(answers)
            grown = total(key // self.span, more * (2 * counts[key % self.span] + more), self.images)
            alpha = alpha_of_sums(whole[0] + pairable, whole[1] + agreeing, whole[2] + grown)
            by_chance = chance + total(key // self.span, more * other[key % self.span], self.images)
            pairable, agreeing = sums.pairable + pairable, sums.agreeing + agreeing
            return _Images(alpha - before, residual(pairable, agreeing, by_chance), 1.0 * pairable)

        return start, after

    def _added(self, answers: NDArray[np.int32]) -> tuple[NDArray[Any], ...]:
        """Additions of answers (U,) to each image: to n, to the sum of o_cc, and to n_c by key."""
        agreeing = (self.same + 2 * self._match(answers)) / self.given - self.same / np.maximum(self.given - 1, 1)
        new, first = self._key(self.image, answers), self._key(self.image, self.values[:, 0])[self.alone]
        key, more = np.unique(np.concatenate([new, first]), return_counts=True)
        return total(self.image, 1 + self.alone, self.images), total(self.image, agreeing, self.images), key, more

    def _key(self, image: NDArray[np.intp], value: NDArray[Any]) -> NDArray[np.intp]:
        return np.asarray(image * self.span + value - NO_OBJECT)

    def _match(self, answers: NDArray[np.int32]) -> NDArray[np.intp]:
        """(U,) number of values of each unit equal to an answer (U,); 0 if there is no answer."""
        return np.asarray((self.values == answers[:, None]).sum(axis=1) * (answers != NOT_ASSIGNED))


def _units(agreement: Agreement) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """(U,) image and (U, R) values of units, the same for any order of annotations, raters and classes.

    Classes are numbered by name. An image whose only rater found nothing also gets a unit of `NO_OBJECT`.
    """
    annotations = agreement.annotations
    by_name = np.argsort(np.argsort(annotations.categories.astype(np.str_), kind="stable"))
    units, _ = with_empty_images(annotations, agreement.units)
    assigned = annotations.assigned_any_class
    nothing = np.bincount(annotations.image, minlength=len(assigned)) == 0
    alone = np.flatnonzero(nothing & (assigned.sum(axis=1) == 1))
    silent = np.where(assigned[alone], np.int32(NO_OBJECT), np.int32(NOT_ASSIGNED))
    image, values = np.concatenate([units.image, alone]), np.concatenate([units.values, silent])
    values[values >= 0] = by_name[values[values >= 0]]
    values = -np.sort(-values, axis=1)  # `NOT_ASSIGNED` last
    order = np.lexsort((*values.T[::-1], image))
    return image[order], values[order]
