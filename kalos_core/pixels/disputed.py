"""Where raters differ most about pixels: connected regions in dispute, their areas, and who says what of each."""

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
"""Pixels of a region, and of its narrowest part, where nothing else is asked for."""


@dataclass(frozen=True, eq=False)
class Region:
    """One region in dispute of one image.

    Parameters
    ----------
    box : (4,) tuple of int
        x, y, width, height in pixels.
    mask : (height, width) bool
        Its pixels within the box.
    given : dict
        Rater who was assigned -> the class they gave at least half of its pixels, of several the one with most; None
        where they gave none.
    share : dict
        Rater who was assigned -> the share of its pixels that say so.

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
        """Pixels."""
        return int(self.mask.sum())

    @property
    def has_sides(self) -> bool:
        """Whether two raters gave most of it different classes."""
        return len(set(self.given.values())) > 1


@checked
def regions_in_dispute(
    stacks: Mapping[str, MaskStack], min_area: int = LEAST_AREA, min_width: int = LEAST_WIDTH
) -> list[Region]:
    """The regions in dispute of one image, the largest first; see `disputed_regions`.

    Parameters
    ----------
    stacks : mapping
        Class -> the masks of the raters who are assigned to it.
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
        width = min(min_width, 1 + max(disputed.shape))  # wider than the image is wider than all
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
    """One of the regions of an image. `said`: pixels of every region that a rater gave a class."""
    there = {name for (name, _), pixels in said.items() if pixels[number]}
    given: dict[str, str | None] = {}
    share: dict[str, float] = {}
    for rater in dict.fromkeys(rater for _, rater in said):
        if any((name, rater) not in said for name in there):
            continue  # who was not to look for a class that is in question
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
    """The regions of pixels in dispute. M regions, I images, R raters, K classes.

    Figures: ``"areas"``.

    Parameters
    ----------
    images, raters, classes : (I,), (R,), (K,) object
        Names; the class of masks without classes is called "marked".
    image : (M,) int
        Code; of each image the largest region first.
    area : (M,) int
        Pixels.
    box : (M, 4) int
        x, y, width, height in pixels.
    values : (M, R) int
        Code of the class each rater gave most of the region; `NO_OBJECT` where they gave none, `NOT_ASSIGNED`.
    share : (M, R) float64
        Of its pixels that say so; NaN where a rater was not assigned.

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
        """One row a region, the largest first: image, area, box, and what each rater gave ("" where not assigned)."""
        import pandas as pd

        names = object_array([*self.classes.tolist(), "", "nothing"])  # -2 and -1 count from the end
        order = np.argsort(-self.area, kind="stable")
        box = dict(zip(("x", "y", "width", "height"), self.box[order].T, strict=True))
        about = pd.DataFrame({"image": self.images[self.image[order]], "area": self.area[order], **box})
        given = pd.DataFrame(names[self.values[order]], columns=[f"{rater}" for rater in self.raters])
        return pd.concat([about, given], axis=1)  # a rater may be called as a column is


LeastArea = Annotated[int, Option("Least area", "Smallest area of a region, in pixels.", low=1, high=1_000_000)]
LeastWidth = Annotated[
    int,
    Option(
        "Least width",
        "Side of the squares that cover a region, in pixels; 1 keeps thin rims between outlines, too.",
        low=1,
        high=1_000_000,
    ),
]


@dataclass(frozen=True)
class DisputeArguments(Settings):
    """What `disputed_regions` takes: the classes of label maps, and how large a region is at least."""

    classes: Mapping[int, str] | None = None
    min_area: LeastArea = LEAST_AREA
    min_width: LeastWidth = LEAST_WIDTH


@takes(DisputeArguments)
def disputed_regions(
    stacks: Stacks | Iterable[LabelStack | Mapping[str, Any]], settings: DisputeArguments
) -> DisputedRegions:
    """Where raters differ most: connected regions of pixels that two assigned raters gave different classes.

    Pixels in dispute belong together where they touch, also at a corner (8-connected components). Of these, only what
    squares of `min_width` pixels can cover counts (the morphological opening by that square), so that the rims along
    which all outlines differ are not regions. A region may hold pixels about which other raters differ: what a rater
    says of it is what they say of at least half of it.

    Parameters
    ----------
    stacks : iterable, or function without arguments that returns one
        One `MaskStack` an image, or what `MaskStack.of` makes one of; with classes one `LabelStack` an image, or what
        `LabelStack.of` makes one of. Read one at a time. Ignored pixels are in no dispute; an image with fewer than two
        assigned raters is left out.
    classes : mapping of int to str, optional
        Value in the label maps -> name; other values are nothing. Without them stacks hold masks.

    Returns
    -------
    DisputedRegions

    Raises
    ------
    InputError
        For no image with two raters, or a value that is no class.

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
