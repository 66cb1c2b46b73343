"""Regions where raters differ most: connected pixels in dispute, their areas, and the class each rater gave them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import scipy  # slow to import: each part is loaded when it is first used
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import Option, Settings, checked, takes
from kalos_core.pixels.classes import masks_of_classes
from kalos_core.pixels.paired import check_images
from kalos_core.pixels.stack import LabelStack, MaskStack, Stacks
from kalos_core.pixels.stored import MARKED
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

LEAST_AREA, LEAST_WIDTH = 16, 3
"""Default minimum number of pixels of a region, and of its narrowest part."""


@dataclass(frozen=True, eq=False)
class Region:
    """Region in dispute of one image.

    Parameters
    ----------
    box : (4,) tuple of int
        x, y, width, height in pixels.
    mask : (height, width) bool
        Pixels of the region within the box.
    given : dict
        Assigned rater -> class that they gave at least half of its pixels, the most frequent of several; None if they
        gave none.
    share : dict
        Assigned rater -> share of its pixels that agree with `given`.

    Examples
    --------
    >>> (found,) = regions_in_dispute({"cat": MaskStack.of({"ann": [[1, 1, 0]], "bob": [[0, 0, 0]]})}, 1, 1)
    >>> found.area, found.mask.tolist(), found.share, found.has_sides
    (2, [[True, True]], {'ann': 1.0, 'bob': 1.0}, True)
    """

    box: tuple[int, int, int, int]
    mask: NDArray[np.bool_]
    given: dict[str, str | None]
    share: dict[str, float]

    @property
    def area(self) -> int:
        """Number of pixels."""
        return int(self.mask.sum())

    @property
    def has_sides(self) -> bool:
        """Whether two raters gave most of the region different classes."""
        return len(set(self.given.values())) > 1


@checked
def regions_in_dispute(
    stacks: Mapping[str, MaskStack], min_area: int = LEAST_AREA, min_width: int = LEAST_WIDTH
) -> list[Region]:
    """Return the regions in dispute of one image, largest first; see `disputed_regions`.

    Parameters
    ----------
    stacks : mapping
        Class -> masks of the raters who are assigned to it.
    min_area, min_width
        As in `disputed_regions`.

    Examples
    --------
    >>> (found,) = regions_in_dispute({"cat": MaskStack.of({"ann": [[1, 1, 0]], "bob": [[1, 0, 0]]})}, 1, 1)
    >>> found.box, found.given
    ((1, 0, 1, 1), {'ann': 'cat', 'bob': None})
    """
    if not stacks:
        raise InputError("stacks: expected at least one class, got none")
    disputed = np.zeros(next(iter(stacks.values())).masks.shape[1:], np.bool_)
    for stack in stacks.values():
        differs = stack.masks.any(axis=0) & ~stack.masks.all(axis=0)
        disputed |= differs if stack.ignore is None else differs & ~stack.ignore
    if min_width > 1:
        width = min(min_width, 1 + max(disputed.shape))  # anything wider than the image removes all
        disputed = scipy.ndimage.grey_opening(disputed.view(np.uint8), (width, width), mode="constant").view(np.bool_)
    label, count = scipy.ndimage.label(disputed, np.ones((3, 3)))
    area = np.bincount(label.ravel(), minlength=count + 1)
    pixel = np.flatnonzero(label)
    number = label.ravel()[pixel]
    said = {
        (name, rater): np.bincount(number[mask.ravel()[pixel]], minlength=count + 1)
        for name, stack in stacks.items()
        for rater, mask in zip(stack.raters.tolist(), stack.masks, strict=True)
    }
    slices = scipy.ndimage.find_objects(label)
    order = sorted(np.flatnonzero(area[1:] >= min_area).tolist(), key=lambda place: (-area[place + 1], place))
    return [_region(stacks, label, slices[place], place + 1, int(area[place + 1]), said) for place in order]


def _region(
    stacks: Mapping[str, MaskStack],
    label: NDArray[Any],
    place: tuple[slice, ...],
    number: int,
    area: int,
    said: Mapping[tuple[str, str], NDArray[np.intp]],
) -> Region:
    """Build one region of an image. `said`: pixels of every region that a rater gave a class."""
    there = {name for (name, _), pixels in said.items() if pixels[number]}
    given: dict[str, str | None] = {}
    share: dict[str, float] = {}
    for rater in dict.fromkeys(rater for _, rater in said):
        if any((name, rater) not in said for name in there):
            continue  # a rater who is not assigned to a class in question
        pixels = {name: int(said[name, rater][number]) for name in stacks if (name, rater) in said}
        most = max(pixels, key=lambda name: pixels[name])
        nothing = area - min(area, sum(pixels.values()))
        given[rater] = most if pixels[most] >= nothing else None
        share[rater] = max(pixels[most], nothing) / area
    rows, columns = place
    box = (columns.start, rows.start, columns.stop - columns.start, rows.stop - rows.start)
    return Region(box, label[place] == number, given, share)


@dataclass(frozen=True, eq=False, repr=False)
class DisputedRegions(Result):
    """Regions of pixels in dispute. M regions, I images, R raters, K classes.

    Figures: ``"areas"``.

    Parameters
    ----------
    images, raters, classes : (I,), (R,), (K,) object
        Names; the class of masks without classes is called "marked".
    image : (M,) int
        Code of the image; within an image, the largest region comes first.
    area : (M,) int
        Number of pixels.
    box : (M, 4) int
        x, y, width, height in pixels.
    values : (M, R) int
        Code of the class that each rater gave most of the region; `NO_OBJECT` if they gave none, or `NOT_ASSIGNED`.
    share : (M, R) float64
        Share of its pixels that agree with `values`; NaN if a rater was not assigned.

    Examples
    --------
    >>> masks = {"ann": [[1, 1, 1, 0, 1]], "bob": [[1, 0, 0, 0, 1]], "cid": [[1, 0, 0, 0, 0]]}
    >>> found = disputed_regions([masks], min_area=1, min_width=1)
    >>> found.area.tolist(), found.box.tolist(), found.values.tolist()
    ([2, 1], [[1, 0, 2, 1], [4, 0, 1, 1]], [[0, -1, -1], [0, 0, -1]])
    """

    _call = "disputed_regions(stacks)"

    images: NDArray[np.object_]
    raters: NDArray[np.object_]
    classes: NDArray[np.object_]
    image: NDArray[np.intp]
    area: NDArray[np.intp]
    box: NDArray[np.intp]
    values: NDArray[np.intp]
    share: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.area)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        if not len(self):
            return f"No region is in dispute in {number_of(len(self.images), 'image')}"
        there = len(np.unique(self.image))
        return (
            f"{number_of(len(self), 'region')} in dispute on {there:,} of {number_of(len(self.images), 'image')}; the "
            f"largest has {number_of(int(self.area.max()), 'pixel')}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per region, largest first: image, area, box, class of each rater ("" if not assigned)."""
        import pandas as pd

        names = object_array([*self.classes.tolist(), "", "nothing"])  # -2 and -1 count from the end
        order = np.argsort(-self.area, kind="stable")
        box = dict(zip(("x", "y", "width", "height"), self.box[order].T, strict=True))
        about = pd.DataFrame({"image": self.images[self.image[order]], "area": self.area[order], **box})
        given = pd.DataFrame(names[self.values[order]], columns=[f"{rater}" for rater in self.raters])
        return pd.concat([about, given], axis=1)  # the name of a rater may equal that of a column


LeastArea = Annotated[int, Option("Least area", "Smallest area of a region, in pixels.", low=1, high=1_000_000)]
LeastWidth = Annotated[
    int,
    Option(
        "Least width",
        "Side of the squares that cover a region, in pixels; 1 keeps thin rims between outlines.",
        low=1,
        high=1_000_000,
    ),
]


@dataclass(frozen=True)
class DisputeArguments(Settings):
    """Arguments of `disputed_regions`: the classes of label maps, and the minimum size of a region."""

    classes: Mapping[int, str] | None = None
    min_area: LeastArea = LEAST_AREA
    min_width: LeastWidth = LEAST_WIDTH


@takes(DisputeArguments)
def disputed_regions(
    stacks: Stacks | Iterable[LabelStack | Mapping[str, Any]], settings: DisputeArguments
) -> DisputedRegions:
    """Find where raters differ most: connected regions of pixels that assigned raters gave different classes.

    Pixels in dispute form a region if they touch, also at a corner (8-connected components). Only the parts that
    squares of `min_width` pixels can cover are kept (morphological opening by that square). Thin rims between outlines
    are therefore not counted as regions. Within a region other raters may differ about some pixels; the class of a
    rater is the one they gave at least half of it.

    Parameters
    ----------
    stacks : iterable, or function without arguments that returns one
        One `MaskStack` per image, or input of `MaskStack.of`; with classes, one `LabelStack` per image, or input of
        `LabelStack.of`. Read one at a time. Ignored pixels are not in dispute; an image with fewer than two assigned
        raters is left out.
    classes : mapping of int to str, optional
        Value in the label maps -> name; other values are no class. Without it, stacks hold masks.

    Returns
    -------
    DisputedRegions

    Raises
    ------
    InputError
        If no image has two raters, or a value has no class.

    Examples
    --------
    >>> labels = {"ann": [[0, 1, 1, 2]], "bob": [[1, 1, 1, 1]]}
    >>> found = disputed_regions([labels], {1: "road", 2: "car"}, min_area=1, min_width=1)
    >>> found.to_pandas()[["area", "x", "ann", "bob"]].values.tolist()
    [[1, 0, 'nothing', 'road'], [1, 3, 'car', 'road']]
    """
    classes, least, width = settings.classes, settings.min_area, settings.min_width
    names = [MARKED] if classes is None else list(classes.values())
    if len(set(names)) != len(names):
        raise InputError(f"classes: expected different names, got {listed(map(repr_of, names), 20)}")
    images: list[Any] = []
    found: list[tuple[int, Region]] = []
    raters: dict[Any, int] = {}
    alone = 0
    for stack, masks in masks_of_classes(stacks, classes):
        if len(stack.raters) < 2:
            alone += 1
            continue
        for name in stack.raters.tolist():
            raters.setdefault(name, len(raters))
        by_class = {name: MaskStack(of, stack.raters, stack.ignore) for name, of in zip(names, masks, strict=True)}
        found += [(len(images), region) for region in regions_in_dispute(by_class, least, width)]
        images.append(stack.image)
    check_images(len(images), alone)
    code = {name: number for number, name in enumerate(names)}
    values = np.full((len(found), len(raters)), NOT_ASSIGNED, np.intp)
    share = np.full(values.shape, np.nan)
    for row, (_, region) in enumerate(found):
        for rater, name in region.given.items():
            values[row, raters[rater]] = NO_OBJECT if name is None else code[name]
            share[row, raters[rater]] = region.share[rater]
    return DisputedRegions(
        images=object_array(images),
        raters=object_array(list(raters)),
        classes=object_array(names),
        image=np.array([image for image, _ in found], dtype=np.intp),
        area=np.array([region.area for _, region in found], dtype=np.intp),
        box=np.array([region.box for _, region in found], dtype=np.intp).reshape(-1, 4),
        values=values,
        share=share,
    )
