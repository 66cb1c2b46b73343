"""Plots of the fit of a noise model: residuals, directions, fragments, sizes, areas, class confusion (KαLOS §9.3)."""

from __future__ import annotations

import numpy as np
import scipy  # slow to import; submodules are loaded on first use
from numpy.typing import ArrayLike, NDArray

from kalos_core.display import RATER_COLOURS, alpha_text, number_of, p_text, statistic_text, with_interval
from kalos_core.errors import lookup
from kalos_core.figures.common import COLOURS, NEUTRAL, OWN, Layout, framed, shortened, titled
from kalos_core.figures.late import go
from kalos_core.figures.tables import text_rows
from kalos_core.figures.traces import curve, histogram, points
from kalos_core.noise.fidelity import Fidelity
from kalos_core.noise.fit.angles import angle_models
from kalos_core.noise.fit.goodness import FitTests, class_similarity, confusion_matrix, ks_of_shift
from kalos_core.noise.fit.observations import Observations, Shifts
from kalos_core.noise.fit.permutation import mantel
from kalos_core.noise.fit.shifts import ShiftFit, fit_normal, fit_student
from kalos_core.noise.model import NoiseModel, observations_of
from kalos_core.options import checked

SHIFTED = {
    "localization": "annotations of the same class",
    "category": "annotations of another class",
    "first": "larger fragments",
    "second": "smaller fragments",
}
"""Groups with their own distributions of changes of position and size."""

MEASURED = {
    "translation": "shift of the centre (share of the image)",
    "width": "change of width (|ln ratio|)",
    "height": "change of height (|ln ratio|)",
}

FIDELITY_LABELS = {
    "alpha": "mean alpha",
    "global_alpha": "global alpha",
    "correct": "correct",
    "merged": "merged",
    "merged_wrong_class": "merged, wrong class",
    "wrong_class": "wrong class",
    "unmatched": "unmatched",
    "unmatched_per_image": "unmatched per image",
    "ks_unmatched_per_image": "distance: unmatched per image",
    "ks_similarity": "distance: similarity of correct",
    "ks_translation": "distance: shift",
    "ks_angle": "distance: direction",
    "ks_width": "distance: change of width",
    "ks_height": "distance: change of height",
    "ks_unmatched_area": "distance: area of unmatched",
}
"""Display names of the quantities of `Fidelity`."""

LEAST_SHOWN = 2
"""Minimum number of observations for a figure."""

SHOWN_SHARE = 0.99
SHOWN_RESIDUALS = (0.0, 0.95)
"""Quantiles of the shown changes; values beyond them would compress the plot."""

DOUBTFUL = 0.05
"""P-value from which a difference may be due to chance."""

MOST_POINTS = 2000
MOST_CLASSES = 15
CURVE_POINTS = 200
HALVINGS = 40
ANGLE_BINS = 36

STUDENT_COLOUR, NORMAL_COLOUR = OWN, COLOURS["missing"]


@checked
def plot_residuals(model: NoiseModel, group: str = "localization", part: str = "translation") -> go.Figure:
    """Plot residuals of a trend with the fitted Student t and normal distributions.

    Parameters
    ----------
    model : NoiseModel
        Fitted with `NoiseModel.fit`.
    group : str
        One of `SHIFTED`.
    part : str
        ``"translation"``, ``"width"`` or ``"height"``.

    Raises
    ------
    InputError
        If the model has no observations, or the group or part is unknown.
    """
    shifts, size = _measured(model, group, part)
    subject = f"{part} of {SHIFTED[group]}"
    if len(size) < LEAST_SHOWN:
        return _empty(f"No residuals: {len(size)} {SHIFTED[group]}")
    fits = {"Student t": fit_student(size, shifts.area), "normal": fit_normal(size, shifts.area)}
    gaps = {name: ks_of_shift(found, size, shifts.area).statistic for name, found in fits.items()}
    best, other = sorted(gaps, key=lambda name: gaps[name])
    title = (
        f"Residuals of {subject}: {best} fits better (KS {alpha_text(gaps[best])}, {other} {alpha_text(gaps[other])})"
    )
    residual = size - fits["Student t"].intercept - fits["Student t"].slope * shifts.area
    low, high = np.quantile(residual, SHOWN_RESIDUALS)
    bars = _densities(residual, float(low), float(high) if high > low else float(low) + 1e-6)
    figure = _figure([bars], title, f"residual: {MEASURED[part]} less the trend", "density")
    at = np.linspace(low, high, CURVE_POINTS)
    for (name, found), colour in zip(fits.items(), (STUDENT_COLOUR, NORMAL_COLOUR), strict=True):
        density = _residual_density(found, fits["Student t"], at, shifts.area)
        figure.add_trace(curve(at, density, colour, f"{name}: KS {alpha_text(gaps[name])}, AIC {found.aic:,.0f}"))
    return figure


@checked
def plot_angles(model: NoiseModel, group: str = "localization") -> go.Figure:
    """Plot directions of shifts with the four distributions of the paper's Fig. 10 and their AIC.

    See `plot_residuals`.
    """
    shifts, _ = _measured(model, group, "translation")
    angles = np.mod(shifts.angles, 2 * np.pi)
    if len(angles) < LEAST_SHOWN:
        return _empty(f"No directions: {len(angles)} {SHIFTED[group]} moved")
    models = angle_models(angles)
    best = min(models, key=lambda found: found.aic)
    bars = _densities(np.degrees(angles), 0.0, 360.0, ANGLE_BINS)
    title = f"Directions of {SHIFTED[group]}: {best.name} fits best (AIC {best.aic:,.0f})"
    figure = _figure([bars], title, "direction of the shift (degrees from right, downwards)", "density")
    degrees = np.linspace(0, 360, 2 * CURVE_POINTS)
    for found, colour in zip(models, RATER_COLOURS, strict=False):
        density = found.density(np.radians(degrees)) * np.pi / 180
        width, dash = (3, "solid") if found is best else (1.5, "dot")
        name = f"{found.name}: AIC {found.aic:,.0f}"
        figure.add_trace(curve(degrees, density, colour, name, width=width, dash=dash))
    figure.update_xaxes(tickvals=[0, 90, 180, 270, 360], range=[0, 360])
    return figure


@checked
def plot_opposition(model: NoiseModel) -> go.Figure:
    """Plot the angle between two fragments of a whole with the model's Beta distribution, as densities (KαLOS Fig. 15).

    Parameters
    ----------
    model : NoiseModel
        Fitted with `NoiseModel.fit`.

    Raises
    ------
    InputError
        If the model has no observations.
    """
    shares, beta = observations_of(model).opposition, model.topology.opposition
    if len(shares) < LEAST_SHOWN:
        return _empty(f"No angles: {number_of(len(shares), 'pair')} of fragments")
    distribution = scipy.stats.beta(beta.alpha, beta.beta)
    gap = scipy.stats.kstest(shares, distribution.cdf).statistic
    fit = f"the Beta distribution: KS {alpha_text(float(gap))}"
    title = f"Fragments lie {180 * np.median(shares):.0f}° apart in the median; {fit}"
    bars = _densities(180 * shares, 0.0, 180.0, ANGLE_BINS)
    figure = _figure([bars], title, "angle between the fragments (degrees, from the centre of the whole)", "density")
    edges = np.linspace(0, 1, ANGLE_BINS + 1)  # mean density of each bar; at 180 degrees it may be undefined
    expected = np.diff(distribution.cdf(edges)) * ANGLE_BINS / 180
    name = f"Beta({beta.alpha:.3g}, {beta.beta:.3g}), {model.provenance['topology.opposition'].source}"
    figure.add_trace(curve(90 * (edges[1:] + edges[:-1]), expected, OWN, name, width=3))
    figure.update_xaxes(tickvals=[0, 45, 90, 135, 180], range=[0, 180])
    return figure


@checked
def plot_size_errors(model: NoiseModel, group: str = "localization", part: str = "width") -> go.Figure:
    """Plot changes by area, with the fitted trend and the medians of ten groups of annotations (Fig. 11)."""
    shifts, size = _measured(model, group, part)
    if len(size) < LEAST_SHOWN:
        return _empty(f"No changes: {len(size)} {SHIFTED[group]}")
    rank = float(scipy.stats.spearmanr(shifts.area, size).statistic) if np.ptp(size) and np.ptp(shifts.area) else 0.0
    word = "fall" if rank < 0 else "grow"
    title = f"Changes of {part} {word} with the area (Spearman {alpha_text(rank)}, {len(size):,} {SHIFTED[group]})"
    step = max(1, len(size) // MOST_POINTS)
    name = "annotations" if step == 1 else f"every {step}th annotation"
    hover = "area %{x:.3~g}: %{y:.3~g}"
    marks = points(shifts.area[::step], size[::step], NEUTRAL, name, hover, size=4, marker_opacity=0.4)
    figure = _figure([marks], title, "area (share of the image, log scale)", MEASURED[part])
    groups = np.array_split(np.argsort(shifts.area, kind="stable"), min(10, len(size)))
    middle = [float(np.median(shifts.area[rows])) for rows in groups]
    figure.add_trace(curve(middle, [float(np.median(size[rows])) for rows in groups], OWN, "medians of areas"))
    at = np.geomspace(max(shifts.area.min(), 1e-12), shifts.area.max(), CURVE_POINTS)
    medians = _medians(fit_student(size, shifts.area), at, float(size.max()))
    figure.add_trace(curve(at, medians, COLOURS["missing"], "median of the fitted distribution"))
    figure.update_xaxes(type="log")
    figure.update_yaxes(range=[0, float(np.quantile(size, SHOWN_SHARE)) * 1.05 or 1.0])
    return figure


def fidelity_title(found: Fidelity) -> str:
    """Summarise in one line whether generated raters differ as the real ones do.

    Examples
    --------
    >>> real, low, high = np.array([[0.7], [0.6], [0.8]])
    >>> fidelity_title(Fidelity(np.array(["alpha"]), real, low, high, np.array([[0.75]]), 1, 9))
    '1 of 1 quantity of generated raters lies in the interval of the real raters; mean alpha 0.750, real 0.700'
    """
    of = f"of {number_of(len(found), 'quantity of generated raters')}"
    title = f"{number_of(int(found.inside.sum()), f'{of} lies', f'{of} lie')} in the interval of the real raters"
    if "alpha" not in found.quantity.tolist():
        return title
    alpha = found["alpha"]
    return f"{title}; mean alpha {statistic_text(alpha.synthetic)}, real {statistic_text(alpha.real)}"


@checked
def plot_fidelity(found: Fidelity) -> go.Figure:
    """Plot each quantity of generated raters relative to the interval of the real data, scaled to 0 to 1."""
    width = np.where(found.high > found.low, found.high - found.low, 1.0)
    names = [FIDELITY_LABELS.get(str(name), str(name)) for name in found.quantity][::-1]
    band = go.Bar(
        x=[1.0] * len(names),
        y=names,
        orientation="h",
        marker={"color": NEUTRAL},
        opacity=0.35,
        hoverinfo="skip",
        name="95 % interval of the real raters",
    )
    traces: list[go.Bar | go.Scatter] = [band]
    for kept, colour, symbol, label in (
        (found.inside, COLOURS["correct"], "circle", "generated, inside"),
        (~found.inside, COLOURS["wrong_class"], "diamond", "generated, outside"),
    ):
        rows = np.flatnonzero(kept)[::-1]
        numbers = zip(found.synthetic[rows], found.real[rows], found.low[rows], found.high[rows], strict=True)
        at = ((found.synthetic - found.low) / width)[rows]
        own = [names[len(names) - 1 - row] for row in rows]
        texts = [f"{statistic_text(one)} against {_with_ends(real, low, high)}" for one, real, low, high in numbers]
        traces.append(points(at, own, colour, label, "%{y}: %{customdata}", texts=texts, symbol=symbol))
    figure = _figure(traces, fidelity_title(found), "interval of the real raters", "")
    figure.update_layout(height=140 + 24 * len(names), margin={"l": 220})
    return figure


def fidelity_rows(found: Fidelity) -> list[dict[str, str]]:
    r"""Return formatted rows by quantity: ``quantity``, ``real`` with its interval, ``generated``, ``inside``.

    Examples
    --------
    >>> real, low, high = np.array([[0.7], [0.6], [0.8]])
    >>> list(fidelity_rows(Fidelity(np.array(["alpha"]), real, low, high, np.array([[0.75]]), 1, 9))[0].values())
    ['mean alpha', '0.700\xa0[0.600,\xa00.800]', '0.750', 'yes']
    """
    table = found.to_pandas()
    ends = zip(table["real"], table["low"], table["high"], strict=True)
    return text_rows(
        quantity=[FIDELITY_LABELS.get(name, name) for name in table["quantity"]],
        real=[_with_ends(*of) for of in ends],
        generated=map(statistic_text, table["synthetic"]),
        inside=["yes" if inside else "no" for inside in table["inside"]],
    )


def fit_rows(tests: FitTests) -> list[dict[str, str]]:
    """Return formatted rows of tests of fit: ``test``, ``model``, ``statistic``, ``p`` and ``note``."""
    return text_rows(
        test=map(str, tests.test),
        model=map(str, tests.model),
        statistic=map(statistic_text, tests.statistic),
        p=["" if np.isnan(p) else p_text(p).removeprefix("p ").removeprefix("= ") for p in tests.p_value],
        note=map(str, tests.note),
    )


def origin_rows(model: NoiseModel) -> list[dict[str, str]]:
    """Return rows on the origin of each distribution of a noise model: ``distribution``, ``source``, ``reason``."""
    return [
        {"distribution": name, "source": origin.source, "reason": origin.reason}
        for name, origin in model.provenance.items()
    ]


@checked
def plot_areas(model: NoiseModel, of: str = "unmatched") -> go.Figure:
    """Plot distribution functions of areas: unmatched vs. matched (Fig. 13), or wholes vs. others (Fig. 14).

    Parameters
    ----------
    model : NoiseModel
        Fitted with `NoiseModel.fit`.
    of : str
        ``"unmatched"`` or ``"parents"``.
    """
    seen = observations_of(model)
    named = lookup(
        {
            "unmatched": (("unmatched annotations", seen.unmatched_area), ("matched annotations", seen.matched_area)),
            "parents": (
                ("wholes annotated as two by another", seen.parent_area),
                ("all other annotations", seen.other_area),
            ),
        },
        of,
        "of",
    )
    (name, own), (_, others) = named
    if not len(own) or not len(others):
        return _empty(f"No areas to compare: {len(own):,} and {number_of(len(others), 'annotation')}")
    test = scipy.stats.mannwhitneyu(own, others)
    larger = test.statistic / (len(own) * len(others))
    sure = "are larger" if larger > 0.5 else "are smaller"
    verb = sure if test.pvalue < DOUBTFUL else "may be of any size"
    title = f"{name.capitalize()} {verb} (Mann-Whitney U, {p_text(float(test.pvalue))})"
    figure = _figure([], title, "area (share of the image, log scale)", "share of annotations at most as large")
    for (label, areas), colour in zip(named, (COLOURS["wrong_class"], COLOURS["missing"]), strict=True):
        share = np.linspace(0, 1, min(len(areas), CURVE_POINTS) + 1)
        hover = "%{y:.1%} up to area %{x:.3~g}"
        figure.add_trace(curve(np.quantile(areas, share), share, colour, f"{label}: {len(areas):,}", hover))
    figure.update_xaxes(type="log")
    figure.update_yaxes(range=[0, 1.02], tickformat=".0%")
    return figure


@checked
def plot_confusions(
    model: NoiseModel, similarity: ArrayLike | None = None, permutations: int = 999, seed: int = 0
) -> go.Figure:
    """Plot class confusions (Fig. 12), and class similarities with Mantel's test if they are given.

    Parameters
    ----------
    model : NoiseModel
        Fitted with `NoiseModel.fit`.
    similarity : (K, K), optional
        Similarity of every two classes.
    permutations, seed : int
        Options of Mantel's test.
    """
    seen = observations_of(model)
    alike = class_similarity(similarity, len(seen.categories))
    wrong = seen.category_a != seen.category_b
    counts = confusion_matrix(seen.category_a[wrong], seen.category_b[wrong], len(seen.categories))
    total = counts.sum(axis=1)
    if not total.any():
        return _empty("No class was taken for another")
    shown = np.argsort(-total, kind="stable")[: min(MOST_CLASSES, int((total > 0).sum()))]
    names = [shortened(str(name)) for name in seen.categories[shown]]
    of = f"of {number_of(len(wrong), 'annotation matched one to one')}"
    title = f"{number_of(int(wrong.sum()), f'{of} was', f'{of} were')} given two classes"
    matrices = [("times", counts[np.ix_(shown, shown)].astype(np.float64), "confused")]
    if alike is not None:
        found = mantel(counts, alike, permutations, np.random.default_rng(seed))
        title += (
            "; Mantel not applicable"
            if found is None
            else (f"; Mantel r = {alpha_text(found.statistic)}, {p_text(found.p_value)}")
        )
        matrices.append(("similarity", alike[np.ix_(shown, shown)], "alike"))
    return _heatmaps(matrices, names, title)


def _measured(model: NoiseModel, group: str, part: str) -> tuple[Shifts, NDArray[np.float64]]:
    seen: Observations = observations_of(model)
    groups = {
        "localization": seen.correct,
        "category": seen.wrong_class,
        "first": seen.first,
        "second": seen.second,
    }
    shifts = lookup(groups, group, "group")
    sizes = {"translation": shifts.translation, "width": shifts.width, "height": shifts.height}
    return shifts, lookup(sizes, part, "part")


def _residual_density(
    found: ShiftFit, centre: ShiftFit, residual: NDArray[np.float64], area: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Density of residuals from the trend `centre` by the distribution `found`, averaged over the given areas."""
    step = max(1, len(area) // CURVE_POINTS)
    trend = centre.intercept + centre.slope * np.sort(area)[::step]
    size = residual[:, None] + trend
    return np.asarray(np.where(size < 0, 0.0, found.density(np.maximum(size, 0), np.sort(area)[::step])).mean(axis=1))


def _medians(found: ShiftFit, area: NDArray[np.float64], most: float) -> NDArray[np.float64]:
    """Median change of a distribution for each area, up to `most`, by bisection."""
    low, high = np.zeros_like(area), np.full_like(area, most)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = found.cumulative(middle, area) < 0.5
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.asarray((low + high) / 2)


def _densities(values: NDArray[np.float64], low: float, high: float, bins: int = 60) -> go.Bar:
    """Bars of density; values outside the range count in the total, but are not shown."""
    counts, edges = np.histogram(values, bins, (low, high))
    density = counts * bins / (len(values) * (high - low))
    hover, name = "%{customdata:,} at %{x:.3~g}", f"{len(values):,} observed"
    return histogram(edges, density, hover, counts.tolist(), name, opacity=0.55, marker_line_width=0)


def _figure(traces: list[go.Bar | go.Scatter], title: str, x: str, y: str) -> go.Figure:
    return framed(
        traces,
        title,
        x,
        y,
        380,
        xaxis_zeroline=False,
        yaxis_zeroline=False,
        margin={"t": 50, "b": 90, "l": 65, "r": 15},
        legend={"orientation": "h", "x": 0, "y": -0.22, "yanchor": "top"},
        showlegend=None,
        bargap=0,
    )


def _empty(title: str) -> go.Figure:
    return _figure([], title, "", "")


def _heatmaps(matrices: list[tuple[str, NDArray[np.float64], str]], names: list[str], title: str) -> go.Figure:
    """One or two square heatmaps of the same classes, side by side."""
    figure = go.Figure()
    layout: Layout = {}
    for number, (what, values, name) in enumerate(matrices):
        suffix = "" if number == 0 else "2"
        left, right = (0.0, 1.0) if len(matrices) == 1 else ((0.0, 0.42), (0.58, 1.0))[number]
        figure.add_trace(
            go.Heatmap(
                z=values.tolist(),
                x=list(range(len(names))),
                y=list(range(len(names))),
                xaxis=f"x{suffix}",
                yaxis=f"y{suffix}",
                colorscale="Cividis",
                showscale=False,
                customdata=[[f"{one} and {other}" for other in names] for one in names],
                hovertemplate=f"%{{customdata}}: {what} %{{z:.3~g}}<extra></extra>",
                name=name,
            )
        )
        ticks = {"tickvals": list(range(len(names))), "ticktext": names, "fixedrange": True, "showgrid": False}
        layout[f"xaxis{suffix}"] = {**ticks, "domain": [left, right], "title": {"text": name}, "anchor": f"y{suffix}"}
        layout[f"yaxis{suffix}"] = {**ticks, "autorange": "reversed", "anchor": f"x{suffix}"}
    margin = {"t": 50, "b": 110, "l": 120, "r": 15}
    figure.update_layout(title=titled(title), margin=margin, height=440, **layout)
    return figure


def _with_ends(value: float, low: float, high: float) -> str:
    return with_interval(value, (low, high), text=statistic_text)
