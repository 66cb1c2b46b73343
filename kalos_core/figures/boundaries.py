"""Plots of boundaries and regions: share of boundary within a tolerance, and similarity of raters."""

from __future__ import annotations

import numpy as np

from kalos_core.figures.common import OWN, framed
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.late import go
from kalos_core.figures.tables import title_of
from kalos_core.figures.traces import curve
from kalos_core.options import checked
from kalos_core.pixels import BoundaryAgreement, BoundaryDistance, RegionAgreement

SIMILAR = {"surface_dice": "surface Dice", "adjusted_rand": "adjusted Rand index"}
"""Measures that grow with the similarity of two raters, and their display names."""

STEPS = 200
"""Number of plotted tolerances."""


@checked
def plot_tolerances(result: BoundaryDistance) -> go.Figure:
    """Plot the surface Dice: the share of two boundaries within a tolerance of each other, by tolerance.

    Examples
    --------
    >>> from kalos_core import boundary_distance
    >>> plot_tolerances(boundary_distance([[1, 1, 0]], [[0, 1, 1]])).data[0].y[0]
    0.5
    """
    furthest = result.hausdorff if np.isfinite(result.hausdorff) else 0.0
    tolerances = np.linspace(0, furthest, STEPS)
    shares = [result.surface_dice(tolerance) for tolerance in tolerances.tolist()]
    drawn = curve(tolerances, shares, OWN, "surface Dice", "within %{x:.3g}: %{y:.1%}")
    return framed([drawn], title_of(result), "tolerance", "share of both boundaries", 320, yaxis_range=[0, 1.04])


@checked
def plot_rater_pairs(result: BoundaryAgreement | RegionAgreement) -> go.Figure:
    """Plot the surface Dice of every two raters, or the adjusted Rand index of their regions; mean over images.

    Raises
    ------
    InputError
        If raters have no names across images (`raters_are_local`).

    Examples
    --------
    >>> from kalos_core import boundary_agreement
    >>> found = boundary_agreement([{"ann": [[1, 1, 0]], "bob": [[0, 1, 1]]}], tolerance=0, bootstrap=0)
    >>> plot_rater_pairs(found).data[0].z
    ([None, 0.5], [0.5, None])
    """
    measure = next(name for name in SIMILAR if name in result.measures)
    table = result.by_rater_pair()
    size = len(result.raters)
    values = np.full((size, size), np.nan)
    a, b = np.triu_indices(size, 1)
    values[a, b] = values[b, a] = table[measure].to_numpy(dtype=np.float64)
    return square_heatmap(result.raters.tolist(), values, SIMILAR[measure], title_of(result))
