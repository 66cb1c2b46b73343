"""Distances between the boundaries of two masks or polygons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.arrays import as_array, as_floats
from kalos_core.display import significant
from kalos_core.errors import InputError, as_number, repr_of
from kalos_core.options import Option, checked
from kalos_core.pixels.stack import as_binary
from kalos_core.results import Result
from kalos_core.shapes.boundaries import Outline, Spacing, borders, nearest, outline_distances, pixels_on

if TYPE_CHECKING:
    import pandas as pd

ROUNDING = 1e-9
"""Relative excess at which a distance still counts as within the tolerance, since sums of squares are rounded."""

TOLERANCE = 2.0
"""Default tolerance of the surface Dice."""

LARGEST = 1e100
"""Limit of coordinates and spacings, beyond which their squares may overflow."""

DIRECTIONS = ("a to b", "b to a", "both")
"""Rows of the table of a `BoundaryDistance`."""


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryDistance(Result):
    """Distances between two boundaries, see `boundary_distance`. A, B: number of places sampled on each.

    If neither shape has a boundary (both masks are empty), everything is NaN. If one of them has none, distances are
    infinite and the surface Dice is 0, as in MONAI.

    Figures: ``"tolerances"``.

    Parameters
    ----------
    to_b : (A,) float64
        Distance of each place on the boundary of `a` from that of `b`.
    to_a : (B,) float64
        Distance of each place on the boundary of `b` from that of `a`.
    furthest : (2,) float64
        Largest distance of any point of `a` from `b`, and of any point of `b` from `a`.
    length : (2,) float64
        Length of the boundary of `a` and of `b`: pixels of a mask, length of an outline.

    Examples
    --------
    >>> found = boundary_distance([[1, 1, 1, 0, 0]], [[1, 1, 1, 1, 1]])
    >>> found.to_a.tolist(), found.hausdorff, found.average, found.surface_dice(1)
    ([0.0, 0.0, 0.0, 1.0, 2.0], 2.0, 0.375, 0.875)
    """

    _call = "boundary_distance(a, b)"

    to_b: NDArray[np.float64]
    to_a: NDArray[np.float64]
    furthest: NDArray[np.float64]
    length: NDArray[np.float64]

    @property
    def hausdorff(self) -> float:
        """Hausdorff distance: largest distance of a place of either boundary from the other one."""
        return float(self.furthest.max()) if self.length.all() else self._without()

    @property
    def hausdorff95(self) -> float:
        """Hausdorff distance without the worst 5 % of each boundary: the larger of both directed 95th percentiles.

        This is the definition of MONAI; medpy takes the 95th percentile of the distances of both directions together.
        """
        return float(self._percentiles().max()) if self.length.all() else self._without()

    @property
    def average(self) -> float:
        """Average symmetric surface distance: the mean over both boundaries together (Heimann et al. 2009).

        This is the definition of MONAI and medpy; a long boundary counts more than a short one.
        """
        return float(self.length @ self._means() / self.length.sum()) if self.length.all() else self._without()

    @checked
    def surface_dice(self, tolerance: Tolerance) -> float:
        """Compute the share of both boundaries within a tolerance of the other, in [0, 1] (Nikolov et al. 2018).

        It is also called normalised surface Dice. Each pixel of a boundary counts the same, as in MONAI; the
        surface-distance package of the authors weights pixels by the area of their surface.

        Parameters
        ----------
        tolerance : float, at least 0
            Tolerance in the unit of the spacing.
        """
        return self._within(tolerance)

    def _within(self, tolerance: float) -> float:
        if not self.length.any():
            return np.nan
        reach = tolerance * (1 + ROUNDING)
        shares = self._each(lambda distance: (distance <= reach).mean())
        return float(np.nansum(self.length * shares) / self.length.sum())

    def _without(self) -> float:
        """Return the distance if one boundary is missing, or both are."""
        return np.inf if self.length.any() else np.nan

    def _each(self, of: Callable[[NDArray[np.float64]], Any]) -> NDArray[np.float64]:
        """Compute a statistic of the distances in each direction (2,); NaN if there are none."""
        return np.array([of(distance) if len(distance) else np.nan for distance in (self.to_b, self.to_a)])

    def _means(self) -> NDArray[np.float64]:
        return self._each(np.mean)

    def _percentiles(self) -> NDArray[np.float64]:
        """Compute 95th percentiles; infinite if the distances are, in which case all of them are."""
        return self._each(
            lambda distance: np.percentile(distance, 95, method="linear" if self.length.all() else "higher")
        )

    @property
    def headline(self) -> str:
        """The finding, in words."""
        if not self.length.all():
            return f"{'One' if self.length.any() else 'Neither'} of two shapes has a boundary"
        return (
            f"Boundaries are {significant(self.average)} apart on average, 95 % within "
            f"{significant(self.hausdorff95)}, all within {significant(self.hausdorff)}"
        )

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per direction and one for both: length, average, and maximum of 95 % and of all distances."""
        import pandas as pd

        columns = {
            "length": [*self.length, self.length.sum()],
            "average": [*self._means(), self.average],
            "hausdorff95": [*self._percentiles(), self.hausdorff95],
            "hausdorff": [*self.furthest, self.hausdorff],
        }
        return pd.DataFrame({"direction": DIRECTIONS} | columns)


@checked
def boundary_distance(a: ArrayLike, b: ArrayLike, spacing: float | Sequence[float] = 1) -> BoundaryDistance:
    """Compute the distances between the boundaries of two masks or of two polygons.

    The boundary of a mask consists of its pixels with a neighbour outside it: above, below, left or right, and in a
    volume also before and behind. Everything outside the array is outside the mask. Distances are Euclidean, from the
    centre of a pixel to that of the nearest pixel of the other boundary. MONAI and medpy use the same boundary
    (``mask ^ binary_erosion(mask)``).

    The boundary of a polygon is its outline, a closed line. Distances are from points of one outline to the nearest
    point of the other. `BoundaryDistance.hausdorff` is exact; the other statistics use 4,096 places at equal steps on
    both outlines together.

    Parameters
    ----------
    a, b : (H, W) or (D, H, W) binary, or (P, 2) float
        Two masks of one size, as booleans, 0 and 1, or 0 and 255; or the corners x, y of two polygons. An array with
        two columns that are not booleans holds corners. A mask without pixels, or no corner, is an empty boundary.
    spacing : float or sequence of float
        Distance of neighbouring pixels, one for each axis of the array (rows, then columns) if they differ; for
        polygons x, then y.

    Returns
    -------
    BoundaryDistance
        `hausdorff`, `hausdorff95`, `average` and `surface_dice(tolerance)`.

    Raises
    ------
    InputError
        For masks that are not binary or differ in size, a polygon of one or two points or of points in one place, a
        mask and a polygon, or a spacing that is not above 0.

    Examples
    --------
    Two squares of 3 x 3 pixels, one of them shifted right by a column; then in millimetres:

    >>> one, other = np.zeros((2, 5, 6), bool)
    >>> one[1:4, 1:4], other[1:4, 2:5] = True, True
    >>> found = boundary_distance(one, other)
    >>> found.hausdorff, found.hausdorff95, found.average, found.surface_dice(0)
    (1.0, 1.0, 0.5, 0.5)
    >>> boundary_distance(one, other, spacing=(3, 0.5)).hausdorff
    0.5

    Two polygons:

    >>> boundary_distance([[0, 0], [9, 0], [9, 9]], [[0, 0], [9, 0], [9, 12]]).hausdorff
    3.0

    Both empty, and one of them empty:

    >>> found = boundary_distance([[False]], [[False]])
    >>> found.hausdorff, boundary_distance([[True]], [[False]]).average
    (nan, inf)
    """
    first, second = _as_shape(a, "a"), _as_shape(b, "b")
    if (first.dtype == np.bool_) != (second.dtype == np.bool_):
        raise InputError(f"b: expected the same kind as a, a mask or a polygon, got {repr_of(b)}")
    steps = check_spacing(spacing, first.ndim if first.dtype == np.bool_ else 2)
    if first.dtype != np.bool_:
        origin = np.concatenate([first, second, np.zeros((1, 2))])[0]
        return distance_of_outlines(*(Outline.of([each - origin], steps) for each in (first, second)))
    if first.shape != second.shape:
        raise InputError(f"b: expected the size of a {first.shape}, got {second.shape}")
    one, other = borders([first, second])
    return distance_of_borders(one, other, steps)


def distance_of_borders(a: NDArray[np.bool_], b: NDArray[np.bool_], spacing: Spacing) -> BoundaryDistance:
    """Compute the distances between two boundaries of pixels.

    Examples
    --------
    >>> distance_of_borders(np.array([[True, False]]), np.array([[False, True]]), (1.0, 2.0)).hausdorff
    2.0
    """
    pixels = pixels_on(a), pixels_on(b)
    (to_b,) = nearest(pixels[:1], pixels[1], a.shape, spacing)
    (to_a,) = nearest(pixels[1:], pixels[0], a.shape, spacing)
    return of_pixels(to_b, to_a)


def of_pixels(to_b: NDArray[np.float64], to_a: NDArray[np.float64]) -> BoundaryDistance:
    """Build a `BoundaryDistance` from the distances of boundary pixels, with equal weights.

    Examples
    --------
    >>> of_pixels(np.array([1.0, 2.0]), np.array([0.0])).hausdorff
    2.0
    """
    furthest = [distance.max() if len(distance) else np.nan for distance in (to_b, to_a)]
    return BoundaryDistance(to_b, to_a, np.array(furthest), np.array([len(to_b), len(to_a)], np.float64))


def distance_of_outlines(a: Outline, b: Outline) -> BoundaryDistance:
    """Compute the distances between two outlines.

    Examples
    --------
    >>> side, other = (Outline.of([np.array([[0.0, y], [4.0, y]])]) for y in (0, 3))
    >>> distance_of_outlines(side, other).average
    3.0
    """
    to_b, to_a = outline_distances(a, b)
    length = np.array([a.length, b.length])
    if length.all():
        furthest = [a.furthest_from(b), b.furthest_from(a)]
    else:
        furthest = [distance.max() if len(distance) else np.nan for distance in (to_b, to_a)]
    return BoundaryDistance(to_b, to_a, np.array(furthest), length)


def _as_shape(value: ArrayLike, name: str) -> NDArray[Any]:
    """Return the booleans of a mask, or the numbers (P, 2) of a polygon."""
    given = as_array(value, name)
    is_polygon = given.dtype != np.bool_ and ((given.ndim == 2 and given.shape[1] == 2) or not given.size)
    if not is_polygon:
        if given.ndim not in (2, 3):
            raise InputError(
                f"{name}: expected a mask, height x width or depth x height x width, or a polygon, points x 2, "
                f"got shape {given.shape}"
            )
        return as_binary(given, name)
    points = as_floats(given, name).reshape(-1, 2)
    if not (np.abs(points) < LARGEST).all():  # NaN is not
        raise InputError(f"{name}: expected coordinates of points, got {repr_of(points[~(np.abs(points) < LARGEST)])}")
    if len(points) and (len(points) < 3 or not (points != points[0]).any()):
        raise InputError(f"{name}: expected at least 3 points of a polygon, not all in one place, got {repr_of(value)}")
    return points


def check_spacing(spacing: object, axes: int) -> Spacing:
    """Return a spacing for each axis.

    Examples
    --------
    >>> check_spacing(2, 3), check_spacing([1, 0.5], 2)
    ((2.0, 2.0, 2.0), (1.0, 0.5))
    >>> check_spacing([1, 0], 2)
    Traceback (most recent call last):
    kalos_core.errors.InputError: spacing: expected a number above 0, or 2 of them, got [1, 0]
    """
    number = as_number(spacing)
    steps = np.full(axes, number) if number is not None else as_array(spacing, "spacing")
    if steps.dtype.kind not in "fiu" or steps.shape != (axes,) or not ((steps > 0) & (steps < LARGEST)).all():
        raise InputError(f"spacing: expected a number above 0, or {axes} of them, got {repr_of(spacing)}")
    return tuple(map(float, steps))


Tolerance = Annotated[
    float,
    Option("Tolerance", "Maximum distance in pixels at which boundaries count as the same.", low=0),
]


Spacings = Annotated[
    float | Sequence[float],
    Option(
        "Spacing",
        "Distance of neighbouring pixels: of rows, then of columns, if they differ; for polygons x, then y.",
        type="float or sequence of 2 float",
        check=lambda spacing, _: check_spacing(spacing, 2),
    ),
]
