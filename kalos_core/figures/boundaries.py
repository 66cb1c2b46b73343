"""Plots of distances of boundaries: what is within which tolerance, and which raters' outlines are alike."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from kalos_core.figures.common import OWN, as_plain, framed
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.tables import title_of
from kalos_core.figures.takes import takes_result
from kalos_core.pixels import BoundaryAgreement, BoundaryDistance

STEPS = 200
"""Tolerances that are drawn."""


@takes_result
def plot_tolerances(result: BoundaryDistance) -> go.Figure:
    """The share of two boundaries within a tolerance of each other, over the tolerance: the surface Dice.

    Examples
    --------
    >>> from kalos_core import boundary_distance
    >>> plot_tolerances(boundary_distance([[1, 1, 0]], [[0, 1, 1]])).data[0].y[0]
    0.5
    """
    furthest = result.hausdorff if np.isfinite(result.hausdorff) else 0.0
    tolerances = np.linspace(0, furthest, STEPS)
    curve = go.Scatter(
        x=tolerances.tolist(),
        y=as_plain(np.array([result.surface_dice(tolerance) for tolerance in tolerances.tolist()])),
        mode="lines",
        line={"color": OWN, "width": 2},
        hovertemplate="within %{x:.3g}: %{y:.1%}<extra></extra>",
        name="surface Dice",
    )
    return framed([curve], title_of(result), "tolerance", "share of both boundaries", 320, yaxis_range=[0, 1.04])


@takes_result
def plot_rater_boundaries(result: BoundaryAgreement) -> go.Figure:
    """How much of the boundaries of every two raters is within the tolerance of each other.

    Raises
    ------
    InputError
        Where raters have no names over the images (`raters_are_local`).

    Examples
    --------
    >>> from kalos_core import boundary_agreement
    >>> found = boundary_agreement([{"ann": [[1, 1, 0]], "bob": [[0, 1, 1]]}], tolerance=0, bootstrap=0)
    >>> plot_rater_boundaries(found).data[0].z
    ([None, 0.5], [0.5, None])
    """
    table = result.by_rater_pair()
    size = len(result.raters)
    values = np.full((size, size), np.nan)
    a, b = np.triu_indices(size, 1)
    values[a, b] = values[b, a] = table["surface_dice"].to_numpy(dtype=np.float64)
    return square_heatmap(result.raters.tolist(), values, "surface Dice", title_of(result))
