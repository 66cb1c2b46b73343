"""Measures of every two raters of an image, and their means over the images of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kalos_core.arrays import total
from kalos_core.errors import InputError
from kalos_core.inference import intervals
from kalos_core.reliability import Coincidences
from kalos_core.resampling import Cells, resample
from kalos_core.results import Result, with_ends

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class PairedRaters(Result):
    """Measures of every two raters of each image. P pairs, I images, R raters, M measures.

    Means are over images, where the value of an image is the mean of its pairs. Values that are not finite are left
    out.

    Parameters
    ----------
    images, raters : (I,), (R,) object
        Names.
    image, rater_a, rater_b : (P,) int
        Codes of the image and the raters.
    values : (P, M) float64
        Measures of each pair, see `measures`.
    bootstrap, seed : int
        Number of bootstrap replicates of the intervals, and their seed.
    raters_are_local : bool
        Whether a name means a rater within one image only.

    Examples
    --------
    >>> from kalos_core import region_agreement
    >>> found = region_agreement([{"ann": [[1, 1, 2, 2]], "bob": [[7, 7, 5, 5]]}] * 2, bootstrap=9)
    >>> found.by_rater_pair()[["rater_a", "rater_b", "adjusted_rand", "images", "pairs"]].values.tolist()
    [['ann', 'bob', 1.0, 2, 2]]
    """

    _shows_table = False

    measures: ClassVar[tuple[str, ...]]
    """Columns of `values`."""

    images: NDArray[np.object_]
    raters: NDArray[np.object_]
    image: NDArray[np.intp]
    rater_a: NDArray[np.intp]
    rater_b: NDArray[np.intp]
    values: NDArray[np.float64]
    bootstrap: int
    seed: int
    raters_are_local: bool

    def __len__(self) -> int:
        return len(self.values)

    def summary(self) -> dict[str, Any]:
        """Return the means over images with 95 % intervals, and the number of pairs, by name."""
        row = self._means(np.zeros(len(self), np.intp), 1)
        return {name: column[0].item() for name, column in row.items()}

    @cached_property
    def _whole(self) -> dict[str, Any]:
        return self.summary()

    def by_image(self) -> pd.DataFrame:
        """Return one row per image: means over its pairs, and the number of pairs."""
        import pandas as pd

        found = self._means(self.image, len(self.images), bootstrap=0)
        kept = {*self.measures, *self._numbers_of_pairs()}
        return pd.DataFrame({"image": self.images} | {name: found[name] for name in found if name in kept})

    def by_rater_pair(self) -> pd.DataFrame:
        """Return one row for every two raters: means over their images with intervals, and the number of pairs.

        Raises
        ------
        InputError
            If raters have no names across images (`raters_are_local`).
        """
        import pandas as pd

        if self.raters_are_local:
            raise InputError(
                "raters: expected raters who are the same on every image, got raters that are local to their image"
            )
        a, b = np.triu_indices(len(self.raters), 1)
        number = np.zeros((len(self.raters),) * 2, np.intp)
        number[a, b] = number[b, a] = np.arange(len(a))
        names = {"rater_a": self.raters[a], "rater_b": self.raters[b]}
        return pd.DataFrame(names | self._means(number[self.rater_a, self.rater_b], len(a)))

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per pair."""
        codes = self._frame("image:images[image] rater_a:raters[rater_a] rater_b:raters[rater_b]")
        return codes.assign(**dict(zip(self.measures, self.values.T, strict=True)))

    def _numbers_of_pairs(self) -> dict[str, NDArray[np.bool_]]:
        """Return which pairs (P,) are counted under each name."""
        return {"pairs": np.asarray(np.isfinite(self.values).all(axis=1))}

    def _means(self, group: NDArray[np.intp], groups: int, bootstrap: int | None = None) -> dict[str, NDArray[Any]]:
        """Compute the columns of G groups of pairs; pairs of group -1 are left out."""
        statistics = len(self.measures) * groups
        pair, measure = np.nonzero(np.isfinite(self.values) & (group >= 0)[:, None])
        key = (measure * groups + group[pair]) * len(self.images) + self.image[pair]
        cell, index, count = np.unique(key, return_inverse=True, return_counts=True)
        mean = total(index.reshape(-1), self.values[pair, measure], len(cell)) / count
        statistic, image = np.divmod(cell, max(len(self.images), 1))
        zero, none = np.zeros(len(cell)), np.zeros(0, np.intp)
        cells = Cells(statistic, image, Coincidences(zero, zero, none, none, np.zeros(0)), mean)
        drawn = resample(cells, statistics, self.bootstrap if bootstrap is None else bootstrap, self.seed)
        count = cells.count(statistics)
        means, bounds = cells.mean(statistics).reshape(-1, groups), intervals(drawn.mean, count).reshape(-1, groups, 2)
        columns: dict[str, NDArray[Any]] = {}
        for place, name in enumerate(self.measures):
            columns |= with_ends({name: means[place], f"{name}_interval": bounds[place]})
        columns["images"] = count.reshape(-1, groups)[-1]
        for name, counted in self._numbers_of_pairs().items():
            columns[name] = np.bincount(group[counted & (group >= 0)], minlength=groups)
        return columns


def check_images(compared: int, alone: int) -> None:
    """Check that at least one image has two raters.

    Examples
    --------
    >>> check_images(0, 3)
    Traceback (most recent call last):
    kalos_core.errors.InputError: stacks: expected an image with at least two assigned raters, got none in 3 images
    """
    if not compared:
        raise InputError(f"stacks: expected an image with at least two assigned raters, got none in {alone:,} images")
