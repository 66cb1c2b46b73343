"""Agreement of raters on regions without names: which pixels belong together, regardless of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.chance import chance_corrected
from kalos_core.display import alpha_text, number_of, significant
from kalos_core.errors import check_iterable
from kalos_core.limits import check_replicates
from kalos_core.options import BootstrapSettings, takes
from kalos_core.pixels.paired import PairedRaters, check_images
from kalos_core.pixels.stack import LabelStack

Regions = LabelStack | Mapping[str, ArrayLike | None]
"""Regions of the raters of an image: a stack, or input of `LabelStack.of`."""


@dataclass(frozen=True, eq=False, repr=False)
class RegionAgreement(PairedRaters):
    """Similarity of the regions into which every two raters divide images. P pairs, I images, R raters.

    Means are over images, where the value of an image is the mean of its pairs.

    Figures: ``"regions"``, ``"raters"``.

    Parameters
    ----------
    images, raters, image, rater_a, rater_b, bootstrap, seed, raters_are_local
        As in `PairedRaters`.
    values : (P, 3) float64
        Adjusted Rand index, variation of information and covering of each pair; NaN if all pixels are ignored.

    Examples
    --------
    >>> found = region_agreement([{"ann": [[1, 1, 2, 2]], "bob": [[7, 7, 5, 5]], "cid": [[1, 1, 1, 1]]}], bootstrap=0)
    >>> found.adjusted_rand.tolist(), found.variation_of_information.tolist(), found.covering.tolist()
    ([1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.5, 0.5])
    """

    _call = "region_agreement(stacks)"
    measures = ("adjusted_rand", "variation_of_information", "covering")

    @property
    def adjusted_rand(self) -> NDArray[np.float64]:
        """(P,) adjusted Rand indices, at most 1; 0 for agreement by chance."""
        return self.values[:, 0]

    @property
    def variation_of_information(self) -> NDArray[np.float64]:
        """(P,) variations of information in bits; 0 for equal regions."""
        return self.values[:, 1]

    @property
    def covering(self) -> NDArray[np.float64]:
        """(P,) segmentation coverings in (0, 1], the mean of both directions."""
        return self.values[:, 2]

    @property
    def headline(self) -> str:
        """The finding, in words."""
        found = self._whole
        return (
            f"Regions of two raters: adjusted Rand index {alpha_text(found['adjusted_rand'])}, variation of "
            f"information {significant(found['variation_of_information'])} bits, "
            f"covering {alpha_text(found['covering'])}\n"
            f"Means over {number_of(found['images'], 'image')}, {number_of(found['pairs'], 'pair')}"
        )


@takes(BootstrapSettings)
def region_agreement(
    stacks: Iterable[Regions] | Callable[[], Iterable[Regions]], settings: BootstrapSettings
) -> RegionAgreement:
    """Compare the regions into which every two raters divide images, such as segmentations without classes.

    The number of a region only says which pixels belong together; 0 is a region like any other. A region may consist of
    several parts.

    * `adjusted_rand`: share of all pairs of pixels that both raters keep together or both separate, corrected for
    chance
      (Hubert & Arabie 1985). 1 for equal regions, also if both raters have one region each.
    * `variation_of_information`: information in the regions of either rater that those of the other do not have, in
    bits
      (Meilă 2007).
    * `covering`: for each region of one rater, the IoU with the best-fitting region of the other, weighted by its
    pixels
      (Arbeláez et al. 2011, who compare one way); the mean of both directions.

    Parameters
    ----------
    stacks : iterable of LabelStack, or function without arguments that returns one
        One per image, read one at a time, or input of `LabelStack.of`, such as `BsdsFiles.label_stacks`. Ignored pixels
        are left out, and so are images with fewer than two assigned raters.

    Returns
    -------
    RegionAgreement
        One row for every two raters of an image; see `summary`, `by_image` and `by_rater_pair` for means.

    Raises
    ------
    InputError
        If no image has two raters, or labels are not integers.

    Examples
    --------
    >>> found = region_agreement([{"ann": [[1, 1, 2, 2]], "bob": [[1, 1, 1, 2]]}], bootstrap=0)
    >>> found.to_pandas().round(3).values.tolist()
    [[None, 'ann', 'bob', 0.0, 1.189, 0.604]]
    """
    given = stacks() if callable(stacks) else stacks
    images: list[Any] = []
    codes: dict[Any, int] = {}
    rows: list[tuple[int, int, int]] = []
    values: list[tuple[float, float, float]] = []
    local = False
    one = [given] if isinstance(given, (LabelStack, Mapping)) else given
    alone = 0
    for entry in check_iterable(
        one, "stacks", "regions of one image or more, such as read_mask_folders(path).label_stacks"
    ):
        stack = entry if isinstance(entry, LabelStack) else LabelStack.of(entry)
        if len(stack.raters) < 2:
            alone += 1
            continue
        image = len(images)
        images.append(stack.image)
        local = local or stack.raters_are_local
        who = [codes.setdefault(name, len(codes)) for name in stack.raters.tolist()]
        regions = [_numbered(labels, stack.ignore) for labels in stack.labels]
        for a, b in combinations(range(len(who)), 2):
            rows.append((image, who[a], who[b]))
            values.append(compare_regions(regions[a], regions[b]))
    check_images(len(images), alone)
    of_image, rater_a, rater_b = np.array(rows, np.intp).reshape(-1, 3).T
    return RegionAgreement(
        images=object_array(images),
        raters=object_array(list(codes)),
        image=of_image,
        rater_a=rater_a,
        rater_b=rater_b,
        values=np.array(values, np.float64).reshape(-1, 3),
        bootstrap=check_replicates(settings.bootstrap, len(images)),
        seed=settings.seed,
        raters_are_local=local,
    )


def _numbered(labels: NDArray[np.integer[Any]], ignore: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Return the region, counted from 0, of each pixel that is not ignored."""
    kept = labels.ravel() if ignore is None else labels[~ignore]
    return np.asarray(np.unique(kept, return_inverse=True)[1].reshape(-1))


def compare_regions(a: NDArray[np.intp], b: NDArray[np.intp]) -> tuple[float, float, float]:
    """Compute adjusted Rand index, variation of information and covering of two divisions of the same pixels.

    Parameters
    ----------
    a, b : (pixels,) int
        Number of the region of each pixel, from 0.

    Examples
    --------
    >>> [round(value, 3) for value in compare_regions(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))]
    [-0.5, 2.0, 0.333]
    """
    pixels = len(a)
    if not pixels:
        return np.nan, np.nan, np.nan
    table = scipy.sparse.coo_array((np.ones(pixels), (a, b))).tocsr().tocoo()  # sums equal positions
    shared, (row, column) = table.data, (place.astype(np.intp) for place in table.coords)
    in_a, in_b = np.bincount(a).astype(np.float64), np.bincount(b).astype(np.float64)
    return (
        _adjusted_rand(shared, in_a, in_b, pixels),
        float((shared * np.log2(in_a[row] * in_b[column] / shared**2)).sum() / pixels),
        _covering(shared, row, column, in_a, in_b),
    )


def _adjusted_rand(
    shared: NDArray[np.float64], in_a: NDArray[np.float64], in_b: NDArray[np.float64], pixels: int
) -> float:
    """Compute the index from the pairs of pixels that are together: in both, in one, in the other, and all."""
    both, one, other = (float((count * (count - 1)).sum()) / 2 for count in (shared, in_a, in_b))
    every = pixels * (pixels - 1) / 2
    chance = one * other / every if every else 0.0
    most = (one + other) / 2
    return float(chance_corrected(most - both, most - chance, if_none_expected=1.0))


def _covering(
    shared: NDArray[np.float64], row: NDArray[np.intp], column: NDArray[np.intp], in_a: Any, in_b: Any
) -> float:
    """Compute the covering as the mean of both directions."""
    iou = shared / (in_a[row] + in_b[column] - shared)
    found = []
    for region, count in ((row, in_a), (column, in_b)):
        best = np.zeros(len(count))
        np.maximum.at(best, region, iou)
        found.append(float(best @ count / count.sum()))
    return (found[0] + found[1]) / 2
