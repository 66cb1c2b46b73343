"""Heatmap of modified mAP of every ordered pair of raters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kalos_core.display import points_text
from kalos_core.figures.common import Matrix, as_matrix
from kalos_core.figures.heatmaps import square_heatmap
from kalos_core.figures.late import go
from kalos_core.text import MOST_LETTERS, names_shown


def directions_title(raters: Sequence[str], matrix: Matrix) -> str:
    """Summarise modified mAP in one line: the two raters with the lowest value.

    Examples
    --------
    >>> directions_title(["ann", "bob"], [[None, 0.4], [0.5, None]])
    'Lowest: 40.0 mAP for bob as detections of ann'
    """
    raters = names_shown(raters, MOST_LETTERS)
    values = as_matrix(matrix)
    if not np.isfinite(values).any():
        return "No two raters can be compared"
    reference, found = divmod(int(np.nanargmin(values)), len(raters))
    return (
        f"Lowest: {points_text(values[reference, found])} mAP for {raters[found]} as detections of {raters[reference]}"
    )


def directions_heatmap(raters: Sequence[str], matrix: Matrix, title: str = "") -> go.Figure:
    """Plot modified mAP with the row rater as ground truth and the column rater as detections.

    Parameters
    ----------
    raters : (R,) str
    matrix : (R, R) mAP in [0, 1], None or NaN where undefined
    title : str
    """
    raters = names_shown(raters)
    figure = square_heatmap(raters, 100 * as_matrix(matrix), "mAP", title, digits=1)
    pairs = [[f"{found} as detections of {reference}" for found in raters] for reference in raters]
    figure.update_traces(customdata=pairs, hovertemplate="%{customdata}: %{z:.1f} mAP<extra></extra>")
    figure.update_layout(xaxis_title_text="detections", yaxis_title_text="ground truth", margin_l=140)
    return figure
