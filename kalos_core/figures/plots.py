"""The figures of every class of results, by the names that `Result.plot` knows; the usual one of each stands first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go

from kalos_core import (
    calibration,
    consensus,
    convergence,
    decisions,
    diagnostics,
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
from kalos_core.display import alpha_text, percent_text, with_interval
from kalos_core.figures.agreement import plot_agreement, plot_next_to_rate
from kalos_core.figures.bars import value_bars
from kalos_core.figures.boundaries import plot_rater_pairs, plot_tolerances
from kalos_core.figures.calibration import plot_calibration
from kalos_core.figures.classes import plot_class_difficulty
from kalos_core.figures.common import NEUTRAL
from kalos_core.figures.convergence import (
    plot_boundaries,
    plot_convergence,
    plot_directions,
    plot_regression,
    plot_shares,
    plot_sizes,
    plot_study,
)
from kalos_core.figures.events import plot_events
from kalos_core.figures.experiments import (
    plot_accuracy,
    plot_cases,
    plot_loss,
    plot_rater_return,
    plot_response,
    plot_schools,
)
from kalos_core.figures.labels import (
    plot_cohen,
    plot_confusion,
    plot_label_agreement,
    plot_majority,
    plot_rater_accuracy,
    plot_rejection,
    plot_skill,
    plot_teams,
)
from kalos_core.figures.noise import (
    plot_angles,
    plot_areas,
    plot_confusions,
    plot_fidelity,
    plot_residuals,
    plot_size_errors,
)
from kalos_core.figures.pixels import (
    plot_correlations,
    plot_performance,
    plot_rater_performance,
    plot_rater_tree,
    plot_ratio,
)
from kalos_core.figures.ranking import (
    plot_agreement_curves,
    plot_boundary_evaluation,
    plot_bounds,
    plot_concordance,
    plot_curves,
    plot_detector_correlations,
    plot_ranking,
    plot_reference,
    plot_shared_rankings,
    plot_tau,
)
from kalos_core.figures.raters import plot_collaboration, plot_intra_rater, plot_team, plot_vitality
from kalos_core.figures.sensitivity import plot_sensitivity
from kalos_core.figures.sparse import plot_independence, plot_removal, plot_running, plot_weights
from kalos_core.figures.tables import count_bars_of, plot_counts, plot_histogram, plot_values, title_of
from kalos_core.figures.variations import plot_variations
from kalos_core.noise import experiments
from kalos_core.nominal.suggestions import SuggestedGroups
from kalos_core.pairs import Pairs
from kalos_core.text import shown

Plot = Callable[..., go.Figure]


def values(value: str, name: str | None = None, **more: Any) -> Plot:
    """`plot_values` of a column."""
    return partial(plot_values, value=value, name=name, **more)


def with_ends(name: str, axis: str) -> Plot:
    """The values of a table with the columns "value", "value_low" and "value_high", and their intervals."""

    def plot(result: Any) -> go.Figure:
        table = result.to_pandas()
        ends = table[["value_low", "value_high"]].to_numpy()
        names, texts = table[name].tolist(), [alpha_text(number) for number in table["value"]]
        found = zip(names, table["value"], ends, strict=True)
        hover = [f"{shown(row)}: {with_interval(number, interval)}" for row, number, interval in found]
        kwargs: dict[str, Any] = {"axis": axis, "name": "value", "colours": NEUTRAL, "intervals": ends}
        return value_bars(names, table["value"].tolist(), hover, texts, title=title_of(result), **kwargs)

    return plot


def histogram(value: str, **more: Any) -> Plot:
    """`plot_histogram` of a column."""
    return partial(plot_histogram, value=value, **more)


def counted(column: str, axis: str) -> Plot:
    """How often each entry of a column of a result's `to_pandas` occurs."""

    def plot(result: Any) -> go.Figure:
        names, counts = np.unique(list(map(str, result.to_pandas().get(column, ()))), return_counts=True)
        return count_bars_of(dict(zip(names.tolist(), counts.tolist(), strict=True)), title_of(result), axis)

    return plot


def of(part: Callable[[Any], Any], plot: Plot) -> Plot:
    """A figure of a part of a result."""

    def drawn(result: Any, **options: Any) -> go.Figure:
        return plot(part(result), **options)

    return drawn


def observed(model: noise.NoiseModel) -> go.Figure:
    """How many observations stand behind each distribution of a noise model."""
    rows = {name: origin.rows for name, origin in model.provenance.items()}
    return count_bars_of(rows, title_of(model), "observations")


def rater_accuracies(result: consensus.ClassStaple) -> go.Figure:
    """How likely each rater is right, by the confusions that STAPLE estimates."""
    raters, texts = result.raters.tolist(), [percent_text(value) for value in result.accuracy.tolist()]
    hover = [f"{shown(name)}: {text}" for name, text in zip(raters, texts, strict=True)]
    kwargs: dict[str, Any] = {"axis": "share of pixels", "name": "accuracy", "colours": NEUTRAL}
    return value_bars(raters, result.accuracy.tolist(), hover, texts, title=title_of(result), **kwargs)


RANKED: dict[str, Plot] = {"ranking": plot_ranking, "tau": plot_tau, "shared": plot_shared_rankings}
"""The figures of `Rankings`."""


def ranked(part: Callable[[Any], Any]) -> dict[str, Plot]:
    """The figures of the rankings in a result."""
    return {name: of(part, plot) for name, plot in RANKED.items()}


REPLICATES: dict[str, Plot] = {
    "replicates": plot_convergence,
    "regression": lambda found: plot_regression({"this data set": found}),
}

TABLES: dict[str, tuple[str, Plot]] = {
    "accuracy": ("rand index", partial(plot_accuracy, metric="rand_index", name="filtered Rand index")),
    "cases": ("cases", plot_cases),
    "stability": ("stability", values("mean", "solver", axis="adjusted Rand index")),
    "raters": ("raters", plot_rater_return),
    "schools": ("schools", plot_schools),
    "response": ("response", plot_response),
    "loss": ("loss", plot_loss),
}
"""Field of `Experiments` -> the name of its figure, and what draws it."""

PLOTS: Mapping[type, Mapping[str, Plot]] = {
    # agreement
    Agreement: {"images": plot_agreement},
    Annotations: {"raters": values("annotations", "rater")},
    Pairs: {"similarities": histogram("similarity")},
    decisions.Resolved: {"origins": counted("origin", "annotations")},
    decisions.Disputes: {"images": histogram("alpha", axis="alpha of the image")},
    # diagnostics
    diagnostics.ClassDifficulty: {"classes": plot_class_difficulty},
    diagnostics.Collaboration: {"raters": plot_collaboration},
    diagnostics.Comparison: {
        "changes": values("difference", "name", axis="change of alpha"),
        "classes": of(lambda found: found.classes, values("difference", "name", axis="change of alpha")),
        "raters": of(lambda found: found.raters, values("difference", "name", axis="change of alpha")),
    },
    diagnostics.Differences: {"changes": values("difference", "name", axis="change of alpha")},
    diagnostics.IntraRater: {"people": plot_intra_rater},
    diagnostics.NarrowedAgreement: {
        "images": plot_agreement,
        "classes": of(lambda found: found.class_difficulty, plot_class_difficulty),
    },
    diagnostics.NextToRate: {"images": plot_next_to_rate},
    diagnostics.RaterVitality: {"raters": plot_vitality},
    diagnostics.Sensitivity: {"thresholds": plot_sensitivity},
    diagnostics.TeamAgreement: {"sessions": plot_team},
    # calibration
    calibration.Calibration: {"distances": plot_calibration, "similarities": values("ks", "similarity", axis="KS")},
    calibration.Separation: {"distances": plot_calibration},
    # variations
    variation.BoundaryQuality: {"distances": plot_boundaries},
    variation.Confusions: {"classes": values("count", "category_a", axis="findings")},
    variation.Merged: {"similarities": histogram("similarity")},
    variation.NarrowedVariations: {"types": of(lambda found: found.found, plot_variations)},
    variation.Scorecard: {"raters": values("alpha", "rater")},
    variation.VariationShares: {"thresholds": plot_shares},
    variation.Variations: {"types": plot_variations},
    # label convergence
    Criteria: {"verdicts": counted("verdict", "criteria")},
    convergence.ConvergenceStudy: {"study": plot_study, "directions": plot_directions},
    convergence.LabelConvergence: {
        **REPLICATES,
        "sizes": of(lambda found: found.sizes(), plot_sizes),
        "directions": of(lambda found: found.whole, plot_directions),
    },
    convergence.ModifiedMap: {"directions": plot_directions},
    convergence.PredictionMap: {"raters": values("map", "ground_truth", axis="mAP")},
    convergence.Replicates: REPLICATES,
    # consensus
    Truths: {"images": values("pixels", axis="pixels of the reference")},
    consensus.ClassStaple: {"raters": rater_accuracies},
    consensus.ClassTruth: {"classes": values("pixels", "class")},
    consensus.CountedTruth: {"raters": of(lambda found: found.performance, plot_performance)},
    consensus.InstanceConsensus: {"outcomes": partial(plot_counts, axis="units")},
    consensus.Truth: {"raters": of(lambda found: found.performance, plot_performance)},
    consensus.UnitTruth: {
        "skill": of(lambda found: found.estimate, plot_skill),
        "confusion": of(lambda found: found.estimate, plot_confusion),
        "existence": histogram("existence", axis="probability that the unit is an object"),
    },
    # image-level labels
    SuggestedGroups: {"groups": values("supporting", "name", axis="answers")},
    nominal.Disputes: {"shares": histogram("share", axis="share of the majority")},
    nominal.GradeAgreement: {"coefficients": with_ends("coefficient", "agreement")},
    nominal.GroupBreaches: {"raters": lambda found: count_bars_of(found.by_rater(), title_of(found), "answers")},
    nominal.IntraclassCorrelation: {"forms": with_ends("form", "intraclass correlation")},
    nominal.ItemAccuracy: {"items": histogram("accuracy")},
    nominal.LabelAgreement: {"questions": plot_label_agreement},
    nominal.LabelTruth: {"skill": plot_skill, "confusion": plot_confusion},
    nominal.LabelTable: {"raters": values("answers", "rater")},
    nominal.Majority: {"shares": lambda found: plot_histogram(found, "share")},
    nominal.MajorityAgreement: {"concepts": plot_majority},
    nominal.MajorityLabels: {"shares": histogram("share")},
    nominal.QuestionCurve: {
        "cohen": plot_cohen,
        "running": of(lambda found: found.curve, plot_running),
        "independence": of(lambda found: found.independence, plot_independence),
    },
    nominal.QuestionGrades: {"coefficients": with_ends("coefficient", "agreement")},
    nominal.RaterAccuracy: {"raters": plot_rater_accuracy},
    nominal.Rejection: {"questions": plot_rejection},
    nominal.TeamComparison: {"teams": plot_teams},
    # sparse agreement
    sparse.Independence: {"numbers": plot_independence},
    sparse.RemovalExperiment: {"removal": plot_removal, "weights": plot_weights},
    sparse.RunningCurve: {"running": plot_running},
    sparse.SparseAgreement: {"items": histogram("agreement", axis="agreement of the item")},
    sparse.UnitAgreement: {"units": histogram("agreement", axis="agreement of the unit")},
    # pixels
    pixels.BoundaryAgreement: {
        "distances": histogram("average", axis="average distance of two boundaries"),
        "dice": histogram("surface_dice", axis="surface Dice of two boundaries"),
        "raters": plot_rater_pairs,
    },
    pixels.BoundaryDistance: {"tolerances": plot_tolerances},
    pixels.ClassPixelAgreement: {"classes": values("mean_f1", "class", axis="mean F1")},
    pixels.PixelAgreement: {
        "tree": plot_rater_tree,
        "ratio": plot_ratio,
        "performance": plot_rater_performance,
        "correlations": plot_correlations,
    },
    pixels.DisputedRegions: {"areas": histogram("area", axis="pixels of a region in dispute")},
    pixels.RegionAgreement: {
        "regions": histogram("adjusted_rand", axis="adjusted Rand index of two raters"),
        "raters": plot_rater_pairs,
    },
    pixels.RaterPerformance: {"raters": plot_performance},
    # rankings
    ranking.BoundaryEvaluation: {"detectors": plot_boundary_evaluation},
    ranking.Concordance: {"references": plot_concordance},
    ranking.DetectorRanking: {
        **ranked(lambda found: found.ranking),
        "bounds": plot_bounds,
        "correlations": plot_detector_correlations,
        "curves": plot_curves,
        "agreement": plot_agreement_curves,
        "reference": plot_reference,
    },
    ranking.ModelRanking: ranked(lambda found: found.ranking),
    ranking.Rankings: RANKED,
    ranking.SystemRanking: ranked(lambda found: next(iter(found.rankings.values()))),
    # noise
    experiments.Experiments: {
        name: of(partial(lambda found, field: getattr(found, field), field=entry.name), plot)
        for entry in fields(experiments.Experiments)
        for name, plot in [TABLES[entry.name]]
    },
    experiments.MagnitudeResponse: {"response": plot_response},
    experiments.PermutationStability: {"stability": TABLES["stability"][1]},
    experiments.RaterReturn: {"raters": plot_rater_return},
    experiments.SchoolImpact: {"schools": plot_schools},
    experiments.SignalLossTable: {"loss": plot_loss},
    experiments.SolverAccuracy: {
        "rand index": TABLES["accuracy"][1],
        "f1": partial(plot_accuracy, metric="f1", name="F1"),
    },
    experiments.SolverCases: {"cases": plot_cases},
    noise.Events: {"kinds": counted("event", "events")},
    noise.Fidelity: {"quantities": plot_fidelity},
    noise.FitTests: {"tests": values("p_value", "distribution", axis="p")},
    noise.GeneratedRaters: {"events": plot_events},
    noise.InjectedNoise: {"kinds": counted("event", "events")},
    noise.NoiseModel: {
        "observations": observed,
        "residuals": plot_residuals,
        "angles": plot_angles,
        "sizes": plot_size_errors,
        "areas": plot_areas,
        "confusions": plot_confusions,
    },
    noise.RaterEvents: {"raters": values("annotations", "rater")},
    noise.SignalLoss: {"stages": values("share_lost", "stage", axis="share of events lost")},
}
"""Class of results -> name -> function that draws it."""
