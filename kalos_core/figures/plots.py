"""Figures of every result class, by the names used in `Result.plot`; the default figure is first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from kalos_core import (
    calibration,
    consensus,
    convergence,
    decisions,
    diagnostics,
    figures,
    noise,
    nominal,
    pixels,
    ranking,
    sparse,
    variation,
)
from kalos_core._agreement import Agreement
from kalos_core.annotations import Annotations
from kalos_core.consensus.study import Truths
from kalos_core.convergence.criteria import Criteria
from kalos_core.display import percent_text
from kalos_core.figures.bars import value_bars
from kalos_core.figures.late import go
from kalos_core.figures.tables import count_bars_of, title_of
from kalos_core.noise import experiments
from kalos_core.nominal.suggestions import SuggestedGroups
from kalos_core.pairs import Pairs

Plot = Callable[..., go.Figure]


def values(value: str, name: str | None = None, **more: Any) -> Plot:
    """Return `plot_values` for a column."""
    return partial(figures.plot_values, value=value, name=name, **more)


def with_ends(name: str, axis: str) -> Plot:
    """Return a plot of a table with the columns "value", "value_low" and "value_high"."""

    def plot(result: Any) -> go.Figure:
        table = result.to_pandas()
        ends = table[["value_low", "value_high"]].to_numpy()
        names, numbers = table[name].tolist(), table["value"].tolist()
        return value_bars(names, numbers, ends, axis=axis, name="value", title=title_of(result))

    return plot


def histogram(value: str, **more: Any) -> Plot:
    """Return `plot_histogram` for a column."""
    return partial(figures.plot_histogram, value=value, **more)


def counted(column: str, axis: str) -> Plot:
    """Return a plot of the frequencies of entries in a column of a result's `to_pandas`."""

    def plot(result: Any) -> go.Figure:
        names, counts = np.unique(list(map(str, result.to_pandas().get(column, ()))), return_counts=True)
        return count_bars_of(dict(zip(names.tolist(), counts.tolist(), strict=True)), title_of(result), axis)

    return plot


def of(part: Callable[[Any], Any], plot: Plot) -> Plot:
    """Return a plot that draws a part of a result."""

    def drawn(result: Any, **options: Any) -> go.Figure:
        return plot(part(result), **options)

    return drawn


def observed(model: noise.NoiseModel) -> go.Figure:
    """Plot the number of observations behind each distribution of a noise model."""
    rows = {name: origin.rows for name, origin in model.provenance.items()}
    return count_bars_of(rows, title_of(model), "observations")


def rater_accuracies(result: consensus.ClassStaple) -> go.Figure:
    """Plot the probability that each rater is right, from the confusions estimated by STAPLE."""
    raters, shares, title = result.raters.tolist(), result.accuracy.tolist(), title_of(result)
    texts = [percent_text(share) for share in shares]
    return value_bars(raters, shares, axis="share of pixels", name="accuracy", title=title, hover=texts, texts=texts)


RANKED: dict[str, Plot] = {
    "ranking": figures.plot_ranking,
    "tau": figures.plot_tau,
    "shared": figures.plot_shared_rankings,
}
"""Figures of `Rankings`."""


def ranked(part: Callable[[Any], Any]) -> dict[str, Plot]:
    """Return the figures for the rankings in a result."""
    return {name: of(part, plot) for name, plot in RANKED.items()}


REPLICATES: dict[str, Plot] = {
    "replicates": figures.plot_convergence,
    "regression": lambda found: figures.plot_regression({"this data set": found}),
}

TABLES: dict[str, tuple[str, Plot]] = {
    "accuracy": ("rand index", partial(figures.plot_accuracy, metric="rand_index", name="filtered Rand index")),
    "cases": ("cases", figures.plot_cases),
    "stability": ("stability", values("mean", "solver", axis="adjusted Rand index")),
    "raters": ("raters", figures.plot_rater_return),
    "schools": ("schools", figures.plot_schools),
    "response": ("response", figures.plot_response),
    "loss": ("loss", figures.plot_loss),
}
"""Field of `Experiments` -> name of its figure, and function that draws it."""

PLOTS: Mapping[type, Mapping[str, Plot]] = {
    # agreement
    Agreement: {"images": figures.plot_agreement},
    Annotations: {"raters": values("annotations", "rater")},
    Pairs: {"similarities": histogram("similarity")},
    decisions.Resolved: {"origins": counted("origin", "annotations")},
    decisions.ResolvedLabels: {"origins": counted("origin", "labels")},
    decisions.Disputes: {"images": histogram("alpha", axis="alpha of the image")},
    # diagnostics
    diagnostics.ClassDifficulty: {"classes": figures.plot_class_difficulty},
    diagnostics.Collaboration: {"raters": figures.plot_collaboration},
    diagnostics.Comparison: {
        "changes": values("difference", "name", axis="change of alpha"),
        "classes": of(lambda found: found.classes, values("difference", "name", axis="change of alpha")),
        "raters": of(lambda found: found.raters, values("difference", "name", axis="change of alpha")),
    },
    diagnostics.Differences: {"changes": values("difference", "name", axis="change of alpha")},
    diagnostics.IntraRater: {"people": figures.plot_intra_rater},
    diagnostics.NarrowedAgreement: {
        "images": figures.plot_agreement,
        "classes": of(lambda found: found.class_difficulty, figures.plot_class_difficulty),
    },
    diagnostics.NextToRate: {"images": figures.plot_next_to_rate},
    diagnostics.RaterVitality: {"raters": figures.plot_vitality},
    diagnostics.Sensitivity: {"thresholds": figures.plot_sensitivity},
    diagnostics.TeamAgreement: {"sessions": figures.plot_team},
    # calibration
    calibration.Calibration: {
        "distances": figures.plot_calibration,
        "similarities": values("ks", "similarity", axis="KS"),
    },
    calibration.Separation: {"distances": figures.plot_calibration},
    # variations
    variation.BoundaryQuality: {"distances": figures.plot_boundaries},
    variation.Confusions: {"classes": values("count", "category_a", axis="findings")},
    variation.Merged: {"similarities": histogram("similarity")},
    variation.NarrowedVariations: {"types": of(lambda found: found.found, figures.plot_variations)},
    variation.Scorecard: {"raters": values("alpha", "rater")},
    variation.VariationShares: {"thresholds": figures.plot_shares},
    variation.Variations: {"types": figures.plot_variations},
    # label convergence
    Criteria: {"verdicts": counted("verdict", "criteria")},
    convergence.ConvergenceStudy: {"study": figures.plot_study, "directions": figures.plot_directions},
    convergence.LabelConvergence: {
        **REPLICATES,
        "sizes": of(lambda found: found.sizes(), figures.plot_sizes),
        "directions": of(lambda found: found.whole, figures.plot_directions),
    },
    convergence.ModifiedMap: {"directions": figures.plot_directions},
    convergence.PredictionMap: {"raters": values("map", "ground_truth", axis="mAP")},
    convergence.Replicates: REPLICATES,
    # consensus
    Truths: {"images": values("pixels", axis="pixels of the reference")},
    consensus.ClassStaple: {"raters": rater_accuracies},
    consensus.ClassTruth: {"classes": values("pixels", "class")},
    consensus.CountedTruth: {"raters": of(lambda found: found.performance, figures.plot_performance)},
    consensus.InstanceConsensus: {"outcomes": partial(figures.plot_counts, axis="units")},
    consensus.Truth: {"raters": of(lambda found: found.performance, figures.plot_performance)},
    consensus.UnitTruth: {
        "skill": of(lambda found: found.estimate, figures.plot_skill),
        "confusion": of(lambda found: found.estimate, figures.plot_confusion),
        "existence": histogram("existence", axis="probability that the unit is an object"),
    },
    # image-level labels
    SuggestedGroups: {"groups": values("supporting", "name", axis="answers")},
    nominal.Disputes: {"shares": histogram("share", axis="share of the majority")},
    nominal.GradeAgreement: {"coefficients": with_ends("coefficient", "agreement")},
    nominal.GradeDirection: {"raters": values("difference", "rater")},
    nominal.GroupBreaches: {"raters": lambda found: count_bars_of(found.by_rater(), title_of(found), "answers")},
    nominal.IntraclassCorrelation: {"forms": with_ends("form", "intraclass correlation")},
    nominal.ItemAccuracy: {"items": histogram("accuracy")},
    nominal.LabelAgreement: {"questions": figures.plot_label_agreement},
    nominal.LabelTruth: {"skill": figures.plot_skill, "confusion": figures.plot_confusion},
    nominal.LabelTable: {"raters": values("answers", "rater")},
    nominal.Majority: {"shares": lambda found: figures.plot_histogram(found, "share")},
    nominal.MajorityAgreement: {"concepts": figures.plot_majority},
    nominal.MajorityLabels: {"shares": histogram("share")},
    nominal.QuestionCurve: {
        "cohen": figures.plot_cohen,
        "running": of(lambda found: found.curve, figures.plot_running),
        "independence": of(lambda found: found.independence, figures.plot_independence),
    },
    nominal.QuestionGrades: {"coefficients": with_ends("coefficient", "agreement")},
    nominal.RaterAccuracy: {"raters": figures.plot_rater_accuracy},
    nominal.Rejection: {"questions": figures.plot_rejection},
    nominal.TeamComparison: {"teams": figures.plot_teams},
    # sparse agreement
    sparse.Independence: {"numbers": figures.plot_independence},
    sparse.RemovalExperiment: {"removal": figures.plot_removal, "weights": figures.plot_weights},
    sparse.RunningCurve: {"running": figures.plot_running},
    sparse.SparseAgreement: {"items": histogram("agreement", axis="agreement of the item")},
    sparse.UnitAgreement: {"units": histogram("agreement", axis="agreement of the unit")},
    # pixels
    pixels.BoundaryAgreement: {
        "distances": histogram("average", axis="average distance of two boundaries"),
        "dice": histogram("surface_dice", axis="surface Dice of two boundaries"),
        "raters": figures.plot_rater_pairs,
    },
    pixels.BoundaryDistance: {"tolerances": figures.plot_tolerances},
    pixels.ClassPixelAgreement: {"classes": values("mean_f1", "class", axis="mean F1")},
    pixels.PixelAgreement: {
        "tree": figures.plot_rater_tree,
        "ratio": figures.plot_ratio,
        "performance": figures.plot_rater_performance,
        "correlations": figures.plot_correlations,
    },
    pixels.DisputedRegions: {"areas": histogram("area", axis="pixels of a region in dispute")},
    pixels.RegionAgreement: {
        "regions": histogram("adjusted_rand", axis="adjusted Rand index of two raters"),
        "raters": figures.plot_rater_pairs,
    },
    pixels.RaterPerformance: {"raters": figures.plot_performance},
    # rankings
    ranking.BoundaryEvaluation: {"detectors": figures.plot_boundary_evaluation},
    ranking.Concordance: {"references": figures.plot_concordance},
    ranking.DetectorRanking: {
        **ranked(lambda found: found.ranking),
        "bounds": figures.plot_bounds,
        "correlations": figures.plot_detector_correlations,
        "curves": figures.plot_curves,
        "agreement": figures.plot_agreement_curves,
        "reference": figures.plot_reference,
    },
    ranking.ModelRanking: ranked(lambda found: found.ranking),
    ranking.Rankings: RANKED,
    ranking.SystemRanking: ranked(lambda found: next(iter(found.rankings.values()))),
    # noise
    experiments.Experiments: {
        name: of(partial(lambda found, field: getattr(found, field), field=entry.name), plot)
        for entry in fields(experiments.Experiments)
        if entry.name in TABLES
        for name, plot in [TABLES[entry.name]]
    },
    experiments.MagnitudeResponse: {"response": figures.plot_response},
    experiments.PermutationStability: {"stability": TABLES["stability"][1]},
    experiments.RaterReturn: {"raters": figures.plot_rater_return},
    experiments.SchoolImpact: {"schools": figures.plot_schools},
    experiments.SignalLossTable: {"loss": figures.plot_loss},
    experiments.SolverAccuracy: {
        "rand index": TABLES["accuracy"][1],
        "f1": partial(figures.plot_accuracy, metric="f1", name="F1"),
    },
    experiments.SolverCases: {"cases": figures.plot_cases},
    noise.Events: {"kinds": counted("event", "events")},
    noise.Fidelity: {"quantities": figures.plot_fidelity},
    noise.FitTests: {"tests": values("p_value", "distribution", axis="p")},
    noise.GeneratedRaters: {"events": figures.plot_events},
    noise.InjectedNoise: {"kinds": counted("event", "events")},
    noise.NoiseModel: {
        "observations": observed,
        "residuals": figures.plot_residuals,
        "angles": figures.plot_angles,
        "opposition": figures.plot_opposition,
        "sizes": figures.plot_size_errors,
        "areas": figures.plot_areas,
        "confusions": figures.plot_confusions,
    },
    noise.RaterEvents: {"raters": values("annotations", "rater")},
    noise.SignalLoss: {"stages": values("share_lost", "stage", axis="share of events lost")},
}
"""Class of results -> name -> function that draws it."""
