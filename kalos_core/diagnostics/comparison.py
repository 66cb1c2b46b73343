"""Comparison of two agreements, paired over the images they share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement_of
from kalos_core.annotations import Annotations, object_array
from kalos_core.diagnostics.parts import Part
from kalos_core.display import alpha_text, bracketed, has_interval, number_of, signed
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.inference import clear_of_chance, detectable, intervals, why_no_interval
from kalos_core.limits import check_replicates
from kalos_core.options import BootstrapSettings, takes
from kalos_core.resampling import Cells, join_cells, resample
from kalos_core.results import Result
from kalos_core.sharding import Sharded

if TYPE_CHECKING:
    import pandas as pd

STUDIES = (50, 200, 1000)
"""Study sizes, in images, for which a comparison reports detectable differences."""

OF_RESULTS = ("similarity", "threshold", "solver", "cost")
"""Settings that determine alpha; the others determine its interval."""


@dataclass(frozen=True, eq=False, repr=False)
class Differences(Result):
    """F statistics of two agreements, a and b, and their changes from a to b.

    Figures: ``"changes"``.

    Parameters
    ----------
    name : (F,) object
    alpha_a, alpha_b : (F,) float64
        Mean over the images on which both are defined; NaN if there are none.
    difference : (F,) float64
        `alpha_b` - `alpha_a`: above 0 if raters agree better in b.
    interval : (F, 2) float64
        95 % bootstrap interval of the difference over these images, both agreements on the same draws; NaN without a
        bootstrap.
    global_difference, global_interval : (F,), (F, 2) float64
        The same for alpha of all units in one matrix, over all images that both agreements contain.
    images : (F,) int
        Number of images behind the means.

    Examples
    --------
    >>> from kalos_core import Annotations, compare
    >>> from kalos_core._agreement import agreement
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9 - x]} for r, x in [("ann", 0), ("bob", 3)]
    ... ]
    >>> loose, strict = (agreement(Annotations.from_rows(rows), threshold=value) for value in (0.5, 0.9))
    >>> compare(loose, strict, bootstrap=0).classes.to_pandas()[["name", "alpha_a", "difference"]].to_dict("list")
    {'name': ['cat'], 'alpha_a': [1.0], 'difference': [-1.5]}
    """

    _call = "compare(a, b).whole"
    _columns = "name alpha_a alpha_b difference difference_interval:interval images detectable clear:is_clear"

    name: NDArray[np.object_]
    alpha_a: NDArray[np.float64]
    alpha_b: NDArray[np.float64]
    difference: NDArray[np.float64]
    interval: NDArray[np.float64]
    global_difference: NDArray[np.float64]
    global_interval: NDArray[np.float64]
    images: NDArray[np.intp]

    @property
    def is_clear(self) -> NDArray[np.bool_]:
        """(F,) whether the difference exceeds chance. One in twenty clear ones of a table is a false positive."""
        return clear_of_chance(self.difference, self.interval, self.images)

    @property
    def is_worse(self) -> NDArray[np.bool_]:
        """(F,) whether raters agree clearly less in b than in a, see `is_clear`."""
        return self.is_clear & (self.difference < 0)

    @property
    def detectable(self) -> NDArray[np.float64]:
        """(F,) least difference that four of five studies of the same size detect; NaN if unknown."""
        return detectable(self.interval, self.images, self.images)

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return f"{number_of(len(self.name), 'difference')}, {int(self.is_clear.sum()):,} of them clear"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result):
    """Changes from an agreement a to an agreement b; the result of `compare`.

    Figures: ``"changes"``, ``"classes"``, ``"raters"``.

    Parameters
    ----------
    whole : Differences
        One row: all units of both.
    classes, raters : Differences
        One row for each class and each rater (the pairs of this rater with every other rater) in both.
    image : (M,) object
        Ids of the images in both.
    image_alpha : (M, 2) float64
        Alpha of each image in a and in b; NaN if undefined.
    notes : tuple of str
        Reasons why the two may not be comparable; empty if there are none.
    bootstrap : int
        Number of bootstrap replicates.

    Examples
    --------
    >>> from kalos_core import Annotations, compare
    >>> from kalos_core._agreement import agreement
    >>> rows = [
    ...     {"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9 - x]} for r, x in [("ann", 0), ("bob", 3)]
    ... ]
    >>> loose, strict = (agreement(Annotations.from_rows(rows), threshold=value) for value in (0.5, 0.9))
    >>> found = compare(loose, strict, bootstrap=0)
    >>> found.worsened.tolist(), found.notes[0][:29]
    ([1], 'Not comparable: threshold is ')
    """

    _call = "compare(agreement_a, agreement_b)"
    _shows_table = False

    whole: Differences
    classes: Differences
    raters: Differences
    image: NDArray[np.object_]
    image_alpha: NDArray[np.float64]
    notes: tuple[str, ...]
    bootstrap: int

    @property
    def difference(self) -> float:
        """Difference of mean alpha, b - a, over the images on which both are defined."""
        return float(self.whole.difference[0])

    @property
    def interval(self) -> NDArray[np.float64]:
        """(2,) 95 % interval of `difference`, paired over these images."""
        found: NDArray[np.float64] = self.whole.interval[0]
        return found

    @property
    def is_worse(self) -> bool:
        """Whether the whole interval of the difference is below 0; False without an interval.

        For classes and raters see `Differences.is_worse`, which corrects for their number.
        """
        return bool(self.interval[1] < 0)

    @property
    def image_difference(self) -> NDArray[np.float64]:
        """(M,) change of alpha of each image; NaN if undefined in either."""
        return self.image_alpha[:, 1] - self.image_alpha[:, 0]

    @property
    def improved(self) -> NDArray[np.object_]:
        """Ids of the images on which alpha rose, largest rise first."""
        return self._falling(-self.image_difference)

    @property
    def worsened(self) -> NDArray[np.object_]:
        """Ids of the images on which alpha fell, largest fall first."""
        return self._falling(self.image_difference)

    def _falling(self, change: NDArray[np.float64]) -> NDArray[np.object_]:
        order = np.argsort(change, kind="stable")
        return self.image[order[change[order] < 0]]

    def by_image(self) -> pd.DataFrame:
        """Return one row for each image in both."""
        import pandas as pd

        alpha_a, alpha_b = self.image_alpha.T
        columns = {"image": self.image, "alpha_a": alpha_a, "alpha_b": alpha_b, "difference": self.image_difference}
        return pd.DataFrame(columns)

    def by_class(self) -> pd.DataFrame:
        """Return one row for each class in both."""
        return self.classes.to_pandas().rename(columns={"name": "category"})

    def by_rater(self) -> pd.DataFrame:
        """Return one row for each rater in both."""
        return self.raters.to_pandas().rename(columns={"name": "rater"})

    @property
    def headline(self) -> str:
        """Summary of the result, with notes on comparability."""
        interval = bracketed(self.interval, "+.3f", self.why_no_interval)
        before, after = (alpha_text(value[0], 3) for value in (self.whole.alpha_a, self.whole.alpha_b))
        images = self.whole.images[0]
        return "\n".join(
            [
                f"mean alpha {before} -> {after}: {signed(self.difference)}{interval} over "
                f"{number_of(images, 'image')}; "
                f"better on {len(self.improved):,}, worse on {len(self.worsened):,}",
                *([self._power] if has_interval(self.interval) else []),
                *self.notes,
            ]
        )

    @property
    def why_no_interval(self) -> str:
        """Reason why the difference has no interval; "" if it has one, or none was requested."""
        return why_no_interval(self.interval, int(self.whole.images[0]), self.bootstrap)

    @property
    def _power(self) -> str:
        """Size of the difference of mean alpha that such studies detect."""
        whole = self.whole
        found = {of: float(detectable(whole.interval, whole.images, of)[0]) for of in STUDIES}
        shown = ", ".join(f"{alpha_text(value, 3)} with {of:,} images" for of, value in found.items())
        least = alpha_text(whole.detectable[0], 3)
        return f"four of five such studies find a difference of {least} or more ({shown})"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for all units and for each class and rater in both; column `part` says which."""
        import pandas as pd

        parts = {"all": self.whole, "class": self.classes, "rater": self.raters}
        tables = [found.to_pandas().assign(part=name) for name, found in parts.items() if len(found.name)]
        return pd.concat(tables, ignore_index=True)


@takes(BootstrapSettings)
def compare(
    agreement_a: Agreement | Annotations | Sharded[Annotations],
    agreement_b: Agreement | Annotations | Sharded[Annotations],
    settings: BootstrapSettings,
) -> Comparison:
    """Compare two agreements, for example before and after labels were corrected or a guideline was rewritten.

    Paired over the images in both: each bootstrap draw uses an image's alpha in both agreements.

    Parameters
    ----------
    agreement_a, agreement_b : Agreement, or annotations or shards to compute a default agreement from
        Before and after. Images, classes and raters are matched by id or name.

    Returns
    -------
    Comparison
        All differences are b - a. `notes` say why the two may not be comparable.

    Raises
    ------
    InputError
        If the two have no image in common.

    Examples
    --------
    Two raters; in the second study bob also found the dog on the last four of eight images:

    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> def study(*images_of_bob):
    ...     drawn = {"ann": range(8), "bob": images_of_bob}
    ...     rows = [
    ...         {"image": i, "rater": rater, "category": "dog", "box": [0, 0, 9, 9]}
    ...         for rater, images in drawn.items()
    ...         for i in images
    ...     ]
    ...     return agreement(Annotations.from_rows(rows, images=range(8), raters=["ann", "bob"], assigned="all"))
    >>> found = compare(study(0, 1, 2, 3), study(*range(8)), bootstrap=100)
    >>> found.difference, found.interval.tolist(), found.improved.tolist()
    (0.5, [0.125, 0.875], [4, 5, 6, 7])
    >>> found.by_image()[3:5].to_dict("list")
    {'image': [3, 4], 'alpha_a': [1.0, 0.0], 'alpha_b': [1.0, 1.0], 'difference': [0.0, 1.0]}
    """
    agreement_a, agreement_b = agreement_of(agreement_a), agreement_of(agreement_b)
    check_replicates(settings.bootstrap, len(agreement_a.annotations.images))
    in_b, how = _paired(agreement_a.annotations, agreement_b.annotations)
    shared = np.flatnonzero(in_b >= 0)
    pairing = _Pairing(agreement_a, agreement_b, in_b, settings.bootstrap, settings.seed)
    return Comparison(
        whole=pairing.differences(_of_all),
        classes=pairing.differences(_of_classes),
        raters=pairing.differences(_of_raters),
        image=agreement_a.annotations.images[shared],
        image_alpha=np.column_stack([agreement_a.image_alpha[shared], agreement_b.image_alpha[in_b[shared]]]),
        notes=(*_notes(agreement_a, agreement_b, len(shared)), *how),
        bootstrap=settings.bootstrap,
    )


def _paired(a: Annotations, b: Annotations) -> tuple[NDArray[np.intp], list[str]]:
    """(I,) code in b of each image of a, -1 if there is none, and notes on the pairing.

    Pairs by file name if every image has its own, ignoring folders if necessary, because exports may change ids.
    """
    for names, what in ((_names(a), "file name"), (_names(a, short=True), "file name without its folder")):
        others = _names(b, short=what != "file name")
        if names and others and not set(names).isdisjoint(others):
            in_b = _codes(names, others)
            moved = [
                x for x, code in zip(a.images.tolist(), in_b.tolist(), strict=True) if code >= 0 and x != b.images[code]
            ]
            said = f": {number_of(len(moved), 'image')} with other ids, such as {listed(map(repr_of, moved), 3)}"
            return in_b, [f"Images are paired by {what}{said}."] if moved else []
    in_b = _codes(a.images.tolist(), b.images.tolist())
    shared = np.flatnonzero(in_b >= 0)
    if not len(shared):
        raise InputError("images: expected two agreements that share an image, got none in common")
    files = [(x, y) for x, y in zip(a.files[shared], b.files[in_b[shared]], strict=True) if x and y and x != y]
    if files:
        raise InputError(
            f"images: expected the same file for the same id, got {files[0][0]!r} and {files[0][1]!r}, and "
            f"{number_of(len(files), 'such pair')} in all. Give each image a unique file name, to pair them by"
        )
    return in_b, []


def _names(annotations: Annotations, short: bool = False) -> list[str]:
    """File names of all images; empty if an image has none or two share one."""
    names = [re.split(r"[/\\]", name)[-1] if short else name for name in annotations.files.tolist()]
    return names if all(names) and len(set(names)) == len(names) else []


def _codes(names: list[Any], others: list[Any]) -> NDArray[np.intp]:
    code_of = {name: code for code, name in enumerate(others)}
    return np.array([code_of.get(name, -1) for name in names], dtype=np.intp)


Statistics = Callable[[Part], tuple[Cells, Sequence[str]]]
"""Cells of some statistics, and the names of the statistics."""


def _of_all(part: Part) -> tuple[Cells, Sequence[str]]:
    return part.cells(), ["all"]


def _of_classes(part: Part) -> tuple[Cells, Sequence[str]]:
    cells, _, codes = part.class_cells()
    return cells, part.annotations.categories[codes].tolist()


def _of_raters(part: Part) -> tuple[Cells, Sequence[str]]:
    names = [] if part.annotations.raters_are_local else part.annotations.raters.tolist()
    found = [part.of_rater(rater).cells() for rater in range(len(names))]
    numbered = [replace(cells, statistic=cells.statistic + number) for number, cells in enumerate(found)]
    return join_cells(numbered) if numbered else part.cells().take(np.zeros(0, np.intp)), names


@dataclass(frozen=True, eq=False)
class _Pairing:
    """Two agreements over the images they share. `in_b`: (I,) code in b of each image of a, -1 if there is none."""

    a: Agreement
    b: Agreement
    in_b: NDArray[np.intp]
    bootstrap: int
    seed: int

    def differences(self, of: Statistics) -> Differences:
        """Compute differences of the statistics in both, first of a and then of b, on the same draws of images."""
        (cells_a, names_a), (cells_b, names_b) = of(Part.of(self.a)), of(Part.of(self.b))
        shared = [name for name in names_a if name in set(names_b)]
        code, count = {name: number for number, name in enumerate(shared)}, len(shared)
        in_a = np.full(len(self.b.annotations.images), -1, np.intp)
        in_a[self.in_b[self.in_b >= 0]] = np.flatnonzero(self.in_b >= 0)
        every = np.where(self.in_b >= 0, np.arange(len(self.in_b)), -1)
        a = _renamed(cells_a.seen(), [code.get(name, -1) for name in names_a], every)
        b = _renamed(cells_b.seen(), [code.get(name, -1) for name in names_b], in_a)
        index_a, index_b = (cells.statistic * len(self.in_b) + cells.image for cells in (a, b))
        known = np.intersect1d(index_a[np.isfinite(a.value)], index_b[np.isfinite(b.value)])
        a = replace(a, value=np.where(np.isin(index_a, known), a.value, np.nan))
        b = replace(b, statistic=b.statistic + count, value=np.where(np.isin(index_b, known), b.value, np.nan))
        cells = join_cells([a, b])
        drawn = resample(cells, 2 * count, self.bootstrap, self.seed, self.a.annotations.image_rank)
        mean, whole = cells.mean(2 * count), cells.whole(2 * count)
        images, pairable = cells.count(2 * count)[:count], cells.pairable(2 * count).reshape(2, -1).min(axis=0)
        return Differences(
            name=object_array(shared),
            alpha_a=mean[:count],
            alpha_b=mean[count:],
            difference=mean[count:] - mean[:count],
            interval=intervals(drawn.mean[:, count:] - drawn.mean[:, :count], images),
            global_difference=whole[count:] - whole[:count],
            global_interval=intervals(drawn.whole[:, count:] - drawn.whole[:, :count], pairable),
            images=images,
        )


def _renamed(cells: Cells, statistics: Sequence[int], images: NDArray[np.intp]) -> Cells:
    """Recode statistics and images of cells, without those whose code is -1."""
    statistic, image = np.array(statistics, dtype=np.intp)[cells.statistic], images[cells.image]
    kept = np.flatnonzero((statistic >= 0) & (image >= 0))
    return replace(cells.take(kept), statistic=statistic[kept], image=image[kept])


def _notes(a: Agreement, b: Agreement, shared: int) -> Iterator[str]:
    """Yield reasons why two agreements may not be comparable."""
    for name in OF_RESULTS:
        of_a, of_b = getattr(a.configuration, name), getattr(b.configuration, name)
        if of_a != of_b:
            yield f"Not comparable: {name} is {of_a} in the first and {of_b} in the second, which is another question."
    for what, names_a, names_b in (
        ("raters", a.annotations.raters, b.annotations.raters),
        ("classes", a.annotations.categories, b.annotations.categories),
    ):
        other = sorted(set(names_a.tolist()) ^ set(names_b.tolist()), key=str)
        if other:
            yield f"Only one of the two has the {what} {listed(map(repr_of, other), 10)}."
    images = len(a.image_alpha), len(b.image_alpha)
    if images != (shared, shared):
        yield (
            f"The first has {number_of(images[0], 'image')}, the second {images[1]:,}; only the {shared:,} in both "
            "are compared."
        )
