"""Plots of pixel agreement: tree of raters, shares by rater count, and raters vs. the consensus."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import scipy  # slow to import; submodules are loaded on first use

from kalos_core.display import Numbers, alpha_text, number_of, p_text, percent_text, rater_colour, signed
from kalos_core.errors import InputError
from kalos_core.figures.bars import BAR_HEIGHT, dotted_rows, value_bars
from kalos_core.figures.common import (
    NEUTRAL,
    OWN,
    PALE,
    WHISKER,
    as_numbers,
    extremes,
    framed,
    margin,
    shortened,
    value_range,
)
from kalos_core.figures.late import go
from kalos_core.figures.traces import curve, points
from kalos_core.options import checked
from kalos_core.pixels import LIMIT, SIGNIFICANT, PixelAgreement, RaterPerformance
from kalos_core.pixels.performance import SHARES
from kalos_core.text import MOST_LETTERS, names_shown


def pixel_title(mean_f1: float | None, raters: str | int) -> str:
    r"""Summarise pixel agreement in one line; add `smyth_note` below it.

    `raters` is the number of raters or, if they have no names, a range such as "4 to 7".

    Examples
    --------
    >>> pixel_title(0.5098, 6), pixel_title(None, 6)
    ('Two of 6 raters share 51\xa0% of their marked pixels (mean F1)', 'How far 6 raters agree is undefined')
    """
    if mean_f1 is None or np.isnan(mean_f1):
        return f"How far {raters} raters agree is undefined"
    return f"Two of {raters} raters share {percent_text(mean_f1)} of their marked pixels (mean F1)"


def smyth_note(bound: float | None, notes: Sequence[str] = ()) -> str:
    r"""Describe Smyth's bound in one or two sentences, with its limitations (`PixelAgreement.smyth_notes`).

    Examples
    --------
    >>> smyth_note(0.00919)  # doctest: +NORMALIZE_WHITESPACE
    "Smyth's bound: for any ground truth, raters err on at least 0.92\xa0% of all pixels (his limit for experiments:
    10\xa0%). Unmarked pixels count, so the bound is low if few pixels are marked."
    """
    if bound is None or np.isnan(bound):
        return "Smyth's bound is undefined."
    above = ", which this exceeds" if bound > LIMIT else ""
    text = (
        f"Smyth's bound: for any ground truth, raters err on at least {percent_text(bound)} of all pixels (his "
        f"limit for experiments: {percent_text(LIMIT)}{above}). Unmarked pixels count, so the bound is low if "
        "few pixels are marked."
    )
    return " ".join([text, *notes])


def tree_title(raters: Sequence[str], outliers: Sequence[bool]) -> str:
    """Summarise outliers in one line.

    Examples
    --------
    >>> tree_title(["ann", "bob", "cid"], [False, False, True]), tree_title(["ann", "bob"], [False, False])
    ('cid stands out among 3 raters', 'No rater can stand out among fewer than 3')
    """
    raters = names_shown(raters, MOST_LETTERS)
    names = [name for name, out in zip(raters, outliers, strict=True) if out]
    if len(raters) < 3:
        return "No rater can stand out among fewer than 3"
    if not names:
        return f"No rater stands out among {number_of(len(raters), 'rater')}"
    together = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{together} stand{'s' if len(names) == 1 else ''} out among {number_of(len(raters), 'rater')}"


def ratio_title(ratio: Numbers) -> str:
    r"""Summarise in one line how many of the marked pixels all raters marked.

    Examples
    --------
    >>> ratio_title([1.0, 0.4, 0.006979]), ratio_title([1.0, None])
    ('All 3 raters agree on 0.7\xa0% of the marked pixels', 'The pixels on which all 2 raters agree are undefined')
    """
    values = as_numbers(ratio)
    agree = number_of(len(values), "rater agrees", "raters agree")
    if not len(values) or np.isnan(values[-1]):
        return f"The pixels on which all {agree} are undefined"
    return f"All {agree} on {percent_text(values[-1])} of the marked pixels"


def performance_title(raters: Sequence[str], kappa: Numbers) -> str:
    """Summarise in one line which raters are closest to and furthest from the consensus.

    Examples
    --------
    >>> performance_title(["ann", "bob", "cid"], [0.8, 0.5, None])
    'ann is closest to the consensus (κ 0.80), bob furthest (κ 0.50)'
    """
    raters = names_shown(raters, MOST_LETTERS)
    values = as_numbers(kappa)
    found = extremes(values)
    if found is None:
        return "No rater can be compared with the consensus"
    best, least = found
    closest = f"{raters[best]} is closest to the consensus (κ {alpha_text(values[best])})"
    return closest if best == least else f"{closest}, {raters[least]} furthest (κ {alpha_text(values[least])})"


def performance_dots(
    raters: Sequence[str], shares: Mapping[str, Numbers], title: str = "", axis: str = "share of pixels; κ"
) -> go.Figure:
    """Plot each rater vs. the consensus, with one row for each rater and one dot for each share.

    Parameters
    ----------
    raters : (R,) str
    shares : mapping of a name, such as ``"sensitivity"``, to (R,) None or NaN where undefined
    title, axis : str
    """
    raters = names_shown(raters)
    rows = range(len(raters))
    dots = [
        points(values, rows, rater_colour(number), name, f"<b>%{{customdata}}</b>: {name} %{{x:.3f}}", texts=raters)
        for number, (name, values) in enumerate(shares.items())
    ]
    lowest, _ = value_range(*(as_numbers(each) for each in shares.values()))
    return dotted_rows(raters, dots, title, axis, (0.0, 1.0)).update_layout(xaxis_range=[lowest - 0.02, 1.02])


def significance(p: float | None) -> str:
    """Describe the significance of a correlation as a suffix; "" if p is undefined.

    Examples
    --------
    >>> significance(0.0), significance(0.0316), significance(None)
    (', significant (p < 0.001)', ', not significant (p = 0.032)', '')
    """
    if p is None or np.isnan(p):
        return ""
    return f", {'' if p < SIGNIFICANT else 'not '}significant ({p_text(p)})"


def correlation_title(names: Sequence[str], r: Numbers, p: Numbers = ()) -> str:
    """Summarise in one line which property is correlated with agreement most.

    Examples
    --------
    >>> correlation_title(["intensity", "contrast"], [-0.2245, 0.4027])
    'Agreement correlates most with contrast (r +0.403)'
    >>> correlation_title(["intensity"], [0.002], [0.0316])
    'Agreement correlates with no property of the images: none of 1 is significant'
    """
    values = as_numbers(r)
    known = np.flatnonzero(np.isfinite(values))
    if not len(known):
        return "No property of the images can be compared with agreement"
    if len(p):
        real = known[as_numbers(p)[known] < SIGNIFICANT]
        if not len(real):
            return f"Agreement correlates with no property of the images: none of {len(known)} is significant"
        known = real
    most = int(known[np.argmax(np.abs(values[known]))])
    return f"Agreement correlates most with {names[most]} (r {signed(values[most])})"


def _check_names(result: PixelAgreement) -> None:
    if result.raters_are_local:
        raise InputError(f"result: expected raters who are the same on every image, got local ones. {result.notes[0]}")


@checked
def plot_rater_tree(result: PixelAgreement) -> go.Figure:
    """Plot Ward's tree of raters on 1 - F1, with outliers highlighted; each leaf is a clickable point.

    Raises
    ------
    InputError
        If raters have no names (`raters_are_local`), since there are no outliers across images.
    """
    _check_names(result)
    raters, outliers, tree = names_shown(result.raters), result.outliers.tolist(), result.linkage
    title = tree_title(raters, outliers)
    layout = scipy.cluster.hierarchy.dendrogram(tree, no_plot=True)
    leaf_order = scipy.cluster.hierarchy.leaves_list(tree).tolist()
    row_of = {leaf: row for row, leaf in enumerate(leaf_order)}
    height = float(tree[:, 2].max()) or 1.0
    branches = [
        curve(heights, [(position - 5) / 10 for position in positions], WHISKER, showlegend=False)
        for positions, heights in zip(layout["icoord"], layout["dcoord"], strict=True)
    ]
    leaves = points(
        [0.0] * len(raters),
        [row_of[code] for code in range(len(raters))],
        [OWN if out else NEUTRAL for out in outliers],
        "raters",
        "%{text}",
        texts=raters,
        size=11,
        text=[f"{name}: stands out" if out else name for name, out in zip(raters, outliers, strict=True)],
    )
    space = margin(title, left=140)
    return framed(
        [*branches, leaves],
        title,
        "1 − F1 at which raters meet (Ward)",
        "",
        space["t"] + 55 + BAR_HEIGHT * max(len(raters), 3),
        xaxis_range=[-0.03 * height, 1.05 * height],  # room for the leaves at 0
        yaxis={
            "tickmode": "array",
            "tickvals": list(range(len(raters))),
            "ticktext": [shortened(raters[leaf]) for leaf in leaf_order],
            "showgrid": False,
            "zeroline": False,
        },
        margin=space,
    )


@checked
def plot_ratio(result: PixelAgreement) -> go.Figure:
    """Plot the share of the marked pixels that at least n raters marked, by n (Lampert et al., Fig. 3)."""
    at, hover = range(1, len(result.ratio) + 1), "at least %{x} raters: %{y:.2%}"
    return framed(
        [curve(at, result.ratio, rater_colour(0), "", hover, mode="lines+markers")],
        ratio_title(result.ratio),
        "minimum number of raters",
        "share of all marked pixels",
        320,
        xaxis={"dtick": 1, "zeroline": False},
        yaxis_range=[0, 1.04],
    )


@checked
def plot_rater_performance(result: PixelAgreement) -> go.Figure:
    """Plot each rater vs. the consensus of half of them, titled with the closest and the furthest.

    Raises
    ------
    InputError
        If raters have no names (`raters_are_local`).
    """
    _check_names(result)
    return plot_performance(result.performance)


@checked
def plot_performance(table: RaterPerformance) -> go.Figure:
    """Plot each rater vs. a reference, titled with the closest and the furthest."""
    raters = table.raters.tolist()
    shares: dict[str, Numbers] = {label: getattr(table, name) for name, label in SHARES.items()}
    return performance_dots(raters, shares, performance_title(raters, table.kappa))


@checked
def plot_correlations(result: PixelAgreement) -> go.Figure:
    """Plot correlations of agreement with image properties, titled with the strongest; insignificant ones are pale."""
    found = result.correlations
    names, values, p = [each.name for each in found], [each.r for each in found], as_numbers([each.p for each in found])
    return value_bars(
        names,
        values,
        axis="Pearson's r with agreement",
        name="properties",
        title=correlation_title(names, values, p),
        hover=[each.reason or f"r {signed(each.r)}{significance(each.p)}" for each in found],
        texts=[signed(value) for value in values],
        colours=[PALE if share >= SIGNIFICANT else NEUTRAL for share in p],
    )
