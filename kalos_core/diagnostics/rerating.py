"""Which images to give to one more rater, so that the interval on alpha narrows most for each label."""

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
"""Statistic -> what it is called in a sentence."""

INTERVALS = {"alpha": "alpha_interval", "global_alpha": "global_alpha_interval"}
"""Statistic -> the field of an agreement with its interval."""

IN_TRIALS = {
    "alpha": "in trials 87 to 109 % of that narrowing was reached, more than with as many labels of random images",
    "global_alpha": "in trials 7 to 92 % of that narrowing was reached, more than with as many labels of random images",
}
"""Statistic -> what came of the expectation where withheld or generated raters were given back."""

LEAST_SHARE = 1e-12
"""A share of the variance below it is rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class NextToRate(Result):
    """Images for one more rater, those first that narrow the interval most for each label; n of them.

    Figures: ``"images"``.

    Parameters
    ----------
    image, file : (n,) object
        Ids and files.
    alpha : (n,) float64
        Of the image as it is; NaN where it has one rater.
    raters : (n,) int
        How many raters each has.
    labels : (n,) float64
        How many annotations one more rater is expected to make: the mean of those it has, at least 1, since an
        image costs a look.
    share : (n,) float64
        Share of the variance of the statistic that one more rater on this image alone is expected to take away.
    shift : (n,) float64
        How far that is expected to move the statistic itself.
    statistic : str
        ``"alpha"`` or ``"global_alpha"``.
    width : float
        Of its interval as it is; NaN without one.
    taken : float
        Share of the variance that one more rater on all n images is expected to take away.
    reducible : float
        Share of the variance that one more rater on every image is expected to take away. The rest lies between
        images; only more images narrow it.

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
        """(n,) by how much one more rater on this image alone is expected to narrow the interval."""
        return np.asarray(self.width * (1 - np.sqrt(1 - np.minimum(self.share, 1))))

    @property
    def narrowing_per_label(self) -> NDArray[np.float64]:
        """(n,) `narrowing` for each of `labels`."""
        return self.narrowing / self.labels

    @property
    def expected_width(self) -> float:
        """Width of the interval to expect after one more rater on all n images; NaN without one."""
        return float(self.width * np.sqrt(1 - self.taken))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        what = SAID[self.statistic]
        if not len(self):
            return f"No image is expected to narrow the interval on {what} with one more rater"
        rest = "; the rest lies between images: only more images narrow it" if self.reducible < 1 else ""
        images = f"{number_of(len(self), 'image')} (labels: about {round(float(self.labels.sum())):,})"
        moves = f"and alpha to move by {signed(self.shift.sum())}"
        found = f"the variance of {what} is expected to fall by {percent_text(self.taken)}, {moves}"
        if not np.isnan(self.width):
            widths = f"{self.expected_width:.3f} wide, now {self.width:.3f}"
            found = f"the interval on {what} is expected to be {widths}, {moves}; {IN_TRIALS[self.statistic]}"
        return (
            f"One more rater on {images}: {found}\n"
            f"One more on all images takes away about {percent_text(min(self.reducible, 1.0))} of its variance{rest}"
        )


@dataclass(frozen=True)
class NextSettings(Settings):
    """Which images are looked for."""

    n: Annotated[int, Option("How many images, at most", "Fewer where fewer help.", low=1)] = 10
    statistic: Statistic = "global_alpha"


@dataclass(frozen=True)
class NextArguments(NextSettings):
    """What `next_to_rate` takes."""

    draws: Annotated[int, Option("Further raters", "How many further raters are imagined.", low=1)] = 200
    seed: Seed = 0


@takes(NextArguments)
def next_to_rate(agreement: Agreement | Annotations | Sharded[Annotations], settings: NextArguments) -> NextToRate:
    """Which images to give to one more rater, so that the interval on alpha narrows most for each label.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute the usual one of
        Without intervals nothing is said of their width.

    Returns
    -------
    NextToRate

    Notes
    -----
    *What one more rater takes away.* Images are random, and so is what a further rater says of each. The variance
    behind the interval is S / N², S being the sum of squared residuals of the images. Of the mean a residual is the
    image's alpha less the mean, and N the number of images; of the whole it is the image's influence on D_o / D_e (the
    infinitesimal jackknife, Jaeckel 1972), and N the number of pairable values. One more rater on an image changes
    both, all else being as it is: the image is worth that rater as far as (S + ΔS) / (N + ΔN)² is expected to fall.

    *Who that rater is.* The values of a unit are draws from a distribution which is itself drawn from a Dirichlet
    distribution around the shares of all values, with concentration k. Two raters then differ k / (1 + k) times as
    often as two unrelated values do: alpha = 1 / (1 + k), so k = (1 - alpha) / alpha, by `global_alpha`. Given m values
    of a unit, a further rater repeats one of them, drawn at random, with probability m / (m + k), and else answers as
    any rater anywhere (the urn of Blackwell & MacQueen 1973). `draws` such raters are imagined, stratified and the same
    for all images: equal images are equal, and ties keep the order of images.

    *What it assumes.* Raters are alike, units independent, and a further rater finds no object that nobody has found.

    *When it does not help.* Where images differ more than raters do, `reducible` is small: label more images instead.
    Chosen images are no sample of all: alpha moves with them (`shift`), as it depends on how many raters an image has
    where existence is in dispute. Tried by giving withheld raters back (`benchmarks/rerating.py`), chosen images
    narrowed either interval with fewer labels than random images. Choosing for `global_alpha` came nearer to alpha of
    all raters on LIDC scans, and made hardly a difference on generated raters. Choosing for `alpha` left the mean
    further from that of all raters on the scans, and nearer on generated raters.

    Raises
    ------
    InputError
        For another statistic.

    Examples
    --------
    Both raters say cat, both say dog, one says each, of three images each: D_o = 1/3 and D_e = 1/2, so that residuals
    are as 2, 2 and 4, and S as 72. A third rater makes that of an image of one each 3, and N 19 for 18:

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
    """What one more rater is expected to change, image by image.

    Parameters
    ----------
    shift : (I,) float64
        Of the statistic itself.
    squares, more_squares : float, (I,) float64
        Sum of the squared residuals of images as they are, and what it grows by.
    size, more_size : float, (I,) float64
        What the variance is over, as it is, and what it grows by: images, or pairable values.
    """

    shift: NDArray[np.float64]
    squares: float
    more_squares: NDArray[np.float64]
    size: float
    more_size: NDArray[np.float64]

    def share(self, chosen: NDArray[np.intp]) -> float:
        """Share of the variance that one more rater on all chosen images takes away; below 0 where it grows."""
        if not self.squares > 0:  # images are alike, or alpha is undefined
            return 0.0
        squares = max(1 + self.more_squares[chosen].sum() / self.squares, 0.0)
        return float(1 - squares * (self.size / (self.size + self.more_size[chosen].sum())) ** 2)


class _Images(NamedTuple):
    """The images with or without one more rater, each by itself: the change, the residual and the size, (I,) each."""

    change: NDArray[np.float64]
    residual: NDArray[np.float64]
    size: NDArray[np.float64]


class _Further:
    """An agreement, and how it changes if an image is given to one further rater."""

    def __init__(self, agreement: Agreement) -> None:
        self.image, values = _units(agreement)
        self.images = len(agreement.image_alpha)
        self.values = values
        self.given = (values != NOT_ASSIGNED).sum(axis=1)
        per_image = np.bincount(self.image, minlength=self.images)
        self.position, self.most = np.arange(len(values)) - run_starts(per_image)[self.image], int(per_image.max())
        self.any = np.sort(values[values != NOT_ASSIGNED])
        whole = agreement.global_alpha
        self.repeats = np.zeros(len(values))  # alpha of at most 0: values of a unit say nothing about the next one
        if whole > 0:
            self.repeats = self.given / (self.given + (1 - whole) / whole)
        self.same = np.sum([self._match(column) for column in values.T], axis=0) - self.given  # sum of n_c (n_c - 1)
        self.sums = coincidences(values, self.image, self.images)
        self.span = int(values.max()) - NO_OBJECT + 1
        self.alone = self.given == 1  # pairable with any further rater

    def expected(self, statistic: str, draws: int, seed: int) -> _Expected:
        """The mean over draws of a further rater."""
        start, after = self._of_mean() if statistic == "alpha" else self._of_whole()
        shift, more_squares, more_size = np.zeros((3, self.images))
        for answers in self.draws(draws, seed):
            change, residual, size = after(answers)
            shift += change / draws
            more_squares += (residual**2 - start.residual**2) / draws
            more_size += (size - start.size) / draws
        return _Expected(shift, float((start.residual**2).sum()), more_squares, float(start.size.sum()), more_size)

    def draws(self, draws: int, seed: int) -> Iterator[NDArray[np.int32]]:
        """(U,) what a further rater gives each unit, once for each draw."""
        rng = np.random.default_rng(seed)
        strata = rng.permuted(np.tile(np.arange(draws), (self.most, 1)), axis=1)
        for stratum in strata.T:
            drawn = (stratum + rng.random(self.most)) / draws
            yield self._answers(drawn[self.position])

    def _answers(self, drawn: NDArray[np.float64]) -> NDArray[np.int32]:
        """(U,) what the further rater gives each unit, by numbers (U,) in [0, 1)."""
        repeats = drawn < self.repeats
        share = np.where(repeats, drawn, drawn - self.repeats) / np.where(repeats, self.repeats, 1 - self.repeats)
        which = np.minimum((share * self.given).astype(np.intp), self.given - 1)
        other = np.minimum((share * len(self.any)).astype(np.intp), len(self.any) - 1)
        return np.where(repeats, self.values[np.arange(len(which)), which], self.any[other])

    def _of_mean(self) -> tuple[_Images, Callable[[NDArray[np.int32]], _Images]]:
        """Each image as it is, and after answers (U,) of a further rater."""
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
        """Each image as it is, and after answers (U,) of a further rater."""
        sums = self.sums
        counts = total(sums.value - NO_OBJECT, sums.count, self.span)
        whole = sums.pairable.sum(), sums.agreeing.sum(), (counts**2).sum()
        before = alpha_of_sums(*(np.array([number]) for number in whole))
        other = 1 - counts / max(whole[0], 1)  # of each value, the share of the others
        chance = total(sums.group, sums.count * other[sums.value - NO_OBJECT], self.images)

        def residual(pairable: NDArray[Any], agreeing: NDArray[Any], chance: NDArray[Any]) -> NDArray[np.float64]:
            """Influence of each image on 1 - alpha = D_o / D_e, times all pairable values."""
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
        """What the answers (U,) add to each image: to n, to the sum of o_cc, and to which n_c how much."""
        agreeing = (self.same + 2 * self._match(answers)) / self.given - self.same / np.maximum(self.given - 1, 1)
        new, first = self._key(self.image, answers), self._key(self.image, self.values[:, 0])[self.alone]
        key, more = np.unique(np.concatenate([new, first]), return_counts=True)
        return total(self.image, 1 + self.alone, self.images), total(self.image, agreeing, self.images), key, more

    def _key(self, image: NDArray[np.intp], value: NDArray[Any]) -> NDArray[np.intp]:
        return np.asarray(image * self.span + value - NO_OBJECT)

    def _match(self, answers: NDArray[np.int32]) -> NDArray[np.intp]:
        """(U,) how many values of each unit an answer (U,) equals; 0 where it is none."""
        return np.asarray((self.values == answers[:, None]).sum(axis=1) * (answers != NOT_ASSIGNED))


def _units(agreement: Agreement) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """(U,) image and (U, R) values of units, the same for any order of annotations, raters and classes.

    Classes are numbered by their names. An image of which its only rater found nothing has a unit of `NO_OBJECT`, too.
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
