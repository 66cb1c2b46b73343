"""Distances between the boundaries of several raters: per pair, per class and per image of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, check_agreement
from kalos_core.annotations.columns import object_array
from kalos_core.annotations.table import Annotations
from kalos_core.display import number_of, percent_text, significant
from kalos_core.errors import InputError
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Replicates, Seed, Settings, takes
from kalos_core.pixels.boundaries import (
    TOLERANCE,
    BoundaryDistance,
    Spacings,
    check_spacing,
    of_pixels,
)
from kalos_core.pixels.classes import masks_of_classes
from kalos_core.pixels.outlined import OUTLINED, OutlinedShapes
from kalos_core.pixels.paired import PairedRaters, check_images
from kalos_core.pixels.stack import LabelStack, Stacks
from kalos_core.shapes import Masks, Polygons
from kalos_core.shapes.boundaries import Spacing, borders, nearest, pixels_on

if TYPE_CHECKING:
    import pandas as pd

MEASURES = ("hausdorff", "hausdorff95", "average", "surface_dice")
"""Measures of each pair of boundaries."""


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryAgreement(PairedRaters):
    """Distances between the boundaries of every two raters. P pairs of boundaries, I images, K classes, R raters.

    Means are over images, where the value of an image is the mean of its pairs. Distances are finite if both boundaries
    exist. Pairs with one boundary missing count only for the surface Dice (0); pairs without any are ignored.

    Figures: ``"distances"``, ``"dice"``, ``"raters"``.

    Parameters
    ----------
    images, raters, image, rater_a, rater_b, bootstrap, seed, raters_are_local
        As in `PairedRaters`.
    classes : (K,) object
        Names; None for masks without classes.
    category : (P,) int
        Code of the class; -1 if the raters gave different classes.
    unit : (P,) int
        Unit of the agreement that contains both annotations; -1 for masks.
    values : (P, 4) float64
        `MEASURES` of each pair, as in `BoundaryDistance`.
    tolerance : float
        Tolerance of the surface Dice, in the unit of the spacing.

    Examples
    --------
    >>> masks = {"ann": [[1, 1, 1, 0, 0]], "bob": [[1, 1, 1, 1, 1]], "cid": [[0, 0, 0, 0, 0]]}
    >>> found = boundary_agreement([masks], tolerance=1, bootstrap=0)
    >>> found.hausdorff.tolist(), found.surface_dice.tolist()
    ([2.0, inf, inf], [0.875, 0.0, 0.0])
    >>> found.by_rater_pair()[["rater_a", "rater_b", "average", "one_missing"]].values.tolist()
    [['ann', 'bob', 0.375, 0], ['ann', 'cid', nan, 1], ['bob', 'cid', nan, 1]]
    """

    _call = "boundary_agreement(stacks)"
    measures = MEASURES

    classes: NDArray[np.object_]
    category: NDArray[np.intp]
    unit: NDArray[np.intp]
    tolerance: float

    @property
    def hausdorff(self) -> NDArray[np.float64]:
        """(P,) Hausdorff distances."""
        return self.values[:, 0]

    @property
    def hausdorff95(self) -> NDArray[np.float64]:
        """(P,) 95th percentiles, the larger of both directions."""
        return self.values[:, 1]

    @property
    def average(self) -> NDArray[np.float64]:
        """(P,) average symmetric surface distances."""
        return self.values[:, 2]

    @property
    def surface_dice(self) -> NDArray[np.float64]:
        """(P,) shares of both boundaries within the tolerance."""
        return self.values[:, 3]

    def by_class(self) -> pd.DataFrame:
        """Return one row per class, for pairs where both raters gave it: means with intervals, and numbers of pairs."""
        import pandas as pd

        return pd.DataFrame({"class": self.classes} | self._means(self.category, len(self.classes)))

    def _numbers_of_pairs(self) -> dict[str, NDArray[np.bool_]]:
        furthest = self.hausdorff
        return {"pairs": np.isfinite(furthest), "one_missing": np.isinf(furthest), "both_missing": np.isnan(furthest)}

    @property
    def headline(self) -> str:
        """The finding, in words."""
        found = self._whole
        missing = (
            f"; one of two boundaries is missing in {number_of(found['one_missing'], 'pair')}"
            if found["one_missing"]
            else ""
        )
        if not found["pairs"]:
            return f"No two raters have a boundary each in {number_of(len(self.images), 'image')}{missing}"
        return (
            f"Boundaries of two raters are {significant(found['average'])} apart on average, 95 % of them within "
            f"{significant(found['hausdorff95'])}; {percent_text(found['surface_dice'])} within "
            f"{significant(self.tolerance)}\nMeans over {number_of(found['images'], 'image')}, "
            f"{number_of(found['pairs'], 'pair')}{missing}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per pair of boundaries."""
        found = super().to_pandas()
        found.insert(1, "class", object_array([*self.classes, None])[self.category])
        found.insert(4, "unit", self.unit)
        return found


@dataclass(frozen=True, kw_only=True)
class BoundarySettings(Settings):
    """Settings of the comparison of boundaries."""

    spacing: Spacings = 1
    tolerance: Annotated[
        float, Option("Tolerance", "Tolerance of the surface Dice, in the unit of the spacing.", low=0)
    ] = TOLERANCE
    bootstrap: Replicates = 1000
    seed: Seed = 0


@dataclass
class _Rows:
    """Collector of the pairs of a result."""

    tolerance: float
    codes: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, image: int, category: int, a: int, b: int, unit: int, found: BoundaryDistance) -> None:
        self.codes.append((image, category, a, b, unit))
        self.values.append((found.hausdorff, found.hausdorff95, found.average, found.surface_dice(self.tolerance)))

    def result(
        self, images: Sequence[Any] | NDArray[Any], classes: Any, raters: Any, settings: BoundarySettings, local: bool
    ) -> BoundaryAgreement:
        image, category, a, b, unit = np.array(self.codes, np.intp).reshape(-1, 5).T
        return BoundaryAgreement(
            images=object_array(images),
            classes=object_array(classes),
            raters=object_array(raters),
            image=image,
            category=category,
            rater_a=a,
            rater_b=b,
            unit=unit,
            values=np.array(self.values, np.float64).reshape(-1, len(MEASURES)),
            tolerance=self.tolerance,
            bootstrap=check_replicates(settings.bootstrap, len(images)),
            seed=settings.seed,
            raters_are_local=local,
        )


@dataclass(frozen=True)
class BoundaryArguments(BoundarySettings):
    """Arguments of `boundary_agreement`: its settings, and the classes of label maps."""

    classes: Mapping[int, str] | None = None


@takes(BoundaryArguments)
def boundary_agreement(
    stacks: Stacks | Iterable[LabelStack | Mapping[str, Any]], settings: BoundaryArguments
) -> BoundaryAgreement:
    """Compute the distances between the boundaries of the masks of every two raters, see `boundary_distance`.

    Parameters
    ----------
    stacks : iterable, or function without arguments that returns one
        One `MaskStack` per image, or input of `MaskStack.of`; with classes, one `LabelStack` per image, or input of
        `LabelStack.of`. Read one at a time. Boundaries in ignored pixels are not counted; an image with fewer than two
        assigned raters is left out.
    classes : mapping of int to str, optional
        Value in the label maps -> name, as in `class_pixel_agreement`; without it stacks hold masks.

    Returns
    -------
    BoundaryAgreement
        One row for every two raters of an image and each class; see `by_class`, `by_image` and `by_rater_pair` for
        means.

    Raises
    ------
    InputError
        If no image has two raters, a value has no class, and for the reasons of `boundary_distance`.

    Examples
    --------
    >>> labels = {"ann": [[0, 1, 1, 2]], "bob": [[1, 1, 1, 0]]}
    >>> found = boundary_agreement([labels], {1: "road", 2: "car"}, tolerance=1, bootstrap=0)
    >>> found.to_pandas()[["class", "hausdorff", "surface_dice"]].values.tolist()
    [['road', 1.0, 1.0], ['car', inf, 0.0]]
    """
    classes, steps, rows = settings.classes, check_spacing(settings.spacing, 2), _Rows(settings.tolerance)
    images: list[Any] = []
    codes: dict[Any, int] = {}
    local = False
    alone = 0
    for stack, masks in masks_of_classes(stacks, classes):
        if len(stack.raters) < 2:
            alone += 1
            continue
        image = len(images)
        images.append(stack.image)
        local = local or stack.raters_are_local
        who = [codes.setdefault(name, len(codes)) for name in stack.raters.tolist()]
        for category, arrays in enumerate(masks):
            for (a, b), found in _pairwise(list(arrays), stack.ignore, steps):
                rows.add(image, category, who[a], who[b], -1, found)
    check_images(len(images), alone)
    names = [None] if classes is None else list(classes.values())
    return rows.result(images, names, list(codes), settings, local)


def _pairwise(
    masks: list[NDArray[np.bool_]], ignore: NDArray[np.bool_] | None, spacing: Spacing
) -> Iterator[tuple[tuple[int, int], BoundaryDistance]]:
    """Yield every two of N masks and the distances between their boundaries; each boundary is computed once."""
    found = borders(masks, ignore)
    pixels = [pixels_on(each) for each in found]
    to = [
        nearest([each if each is not target else each[:0] for each in pixels], target, found[0].shape, spacing)
        for target in pixels
    ]
    for a, b in combinations(range(len(masks)), 2):
        yield (a, b), of_pixels(to[b][a], to[a][b])


@takes(BoundarySettings)
def unit_boundaries(agreement: Agreement, settings: BoundarySettings) -> BoundaryAgreement:
    """Compute the distances between the boundaries of annotations of the same unit, see `boundary_distance`.

    Parameters
    ----------
    agreement : Agreement
        Agreement on polygons or masks. If annotations have both, the kind of its similarity is used, else polygons.

    Returns
    -------
    BoundaryAgreement
        One row for every two annotations of a unit. Missing annotations have no row.

    Raises
    ------
    InputError
        If annotations have neither a polygon each nor a mask each.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [
    ...     {"image": 1, "rater": rater, "category": "cat", "polygon": [[0, 0, x, 0, x, 9, 0, 9]]}
    ...     for rater, x in (("ann", 9), ("bob", 10))
    ... ]
    >>> found = unit_boundaries(agreement(Annotations.from_rows(rows), "polygon_iou", bootstrap=0), bootstrap=0)
    >>> found.to_pandas()[["class", "rater_a", "rater_b", "hausdorff", "surface_dice"]].values.tolist()
    [['cat', 'ann', 'bob', 1.0, 1.0]]
    """
    check_agreement(agreement)
    annotations = agreement.annotations
    steps, rows = check_spacing(settings.spacing, 2), _Rows(settings.tolerance)
    column = _column(agreement)
    left, right = _together(agreement.unit_of, annotations.rater)
    shapes = OutlinedShapes(column, column, steps)
    for a, b in zip(left.tolist(), right.tolist(), strict=True):
        found = shapes.distance(a, b)
        same = annotations.category[a] == annotations.category[b]
        category = int(annotations.category[a]) if same else -1
        who = int(annotations.rater[a]), int(annotations.rater[b])
        rows.add(int(annotations.image[a]), category, *who, int(agreement.unit_of[a]), found)
    return rows.result(
        annotations.images,
        annotations.categories,
        annotations.raters,
        settings,
        annotations.raters_are_local,
    )


def check_outlines(annotations: Annotations) -> list[str]:
    """Return the kinds of shapes with a boundary that every annotation has, at least one.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> row = {"image": 1, "rater": "ann", "category": "cat"}
    >>> check_outlines(Annotations.from_rows([{**row, "polygon": [[0, 0, 5, 0, 5, 9]]}]))
    ['polygon']
    >>> check_outlines(Annotations.from_rows([{**row, "box": [0, 0, 5, 5]}]))
    Traceback (most recent call last):
    kalos_core.errors.InputError: agreement: expected a polygon or a mask of every annotation, got shapes of kind box
    """
    shapes = annotations.shapes
    whole = [kind for kind in OUTLINED if kind in shapes and not shapes[kind].absent().any()]
    if not whole:
        there = ", ".join(shapes) or "none"
        raise InputError(f"agreement: expected a polygon or a mask of every annotation, got shapes of kind {there}")
    return whole


def _column(agreement: Agreement) -> Masks | Polygons:
    """Return the shapes with boundaries of all annotations of an agreement."""
    shapes, whole = agreement.annotations.shapes, check_outlines(agreement.annotations)
    preferred = agreement.configuration.measure.partition("_")[0]
    column = shapes[preferred if preferred in whole else whole[0]]
    assert isinstance(column, (Masks, Polygons))
    return column


def _together(unit_of: NDArray[np.intp], rater: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return every two annotations of a unit, that of the first rater before the other."""
    order = np.lexsort((rater, unit_of))
    unit = unit_of[order]
    left, right = [], []
    for apart in range(1, int(np.bincount(unit_of).max(initial=0))):
        same = np.flatnonzero(unit[apart:] == unit[:-apart])
        left.append(order[same])
        right.append(order[same + apart])
    pairs = [np.concatenate([np.zeros(0, np.intp), *each]) for each in (left, right)]
    sorted_by = np.lexsort((rater[pairs[1]], rater[pairs[0]], unit_of[pairs[0]]))
    return pairs[0][sorted_by], pairs[1][sorted_by]
