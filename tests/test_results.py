"""Every result displays as text, table, HTML, figures and JSON, with any names in the data."""

import base64
import importlib
import json
import pkgutil
import re
import sys
import tracemalloc
import warnings
import zlib
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

import kalos_core as k
from kalos_core import Annotations, InputError, NoiseModel, agreement, figures
from kalos_core.consensus import CountedTruth, class_truth, staple_classes
from kalos_core.consensus.study import Truths
from kalos_core.convergence import convergence_study, map_of_predictions
from kalos_core.decisions import disputes, resolve, resolve_labels
from kalos_core.diagnostics import diagnose, narrowed
from kalos_core.noise import InjectedNoise
from kalos_core.noise.experiments import run_experiments
from kalos_core.nominal import (
    check_groups,
    find_disputes,
    grade_direction,
    item_accuracy,
    label_findings,
    majority_labels,
    reject_answers,
    suggest_groups,
)
from kalos_core.nominal.suggestions import SuggestedGroups
from kalos_core.pairs import compute_pairs
from kalos_core.pixels import class_pixel_agreement, disputed_regions
from kalos_core.ranking import SystemScores, boundary_evaluation, concordance, rank_models
from kalos_core.report import study
from kalos_core.results import MOST_LINES, Result, restored
from kalos_core.sparse import check_independence, running_agreement
from kalos_core.variation import boundary_quality, narrowed_variations, rater_scorecards

NAMES = ("<script>alert(1)</script>", "*_x_*\u202e\x1b[31m\nb", "[a](http://b)" + "y" * 100)
"""Names of raters, classes and labels."""


# ---- data: small, of three raters and three classes ----


def annotated(images=14, raters=NAMES, **more):
    rng = np.random.default_rng(0)
    rows = [
        {
            "image": image,
            "rater": rater,
            "category": NAMES[(x + (rng.random() < 0.15)) % 3],
            "box": [30 * x + rng.uniform(0, 2), 5, 14 + rng.uniform(0, 2), 14 + 4 * (place == 2)],
        }
        for image in range(images)
        for x in range(1 + image % 3)
        for place, rater in enumerate(NAMES)
        if rng.random() < 0.9
    ]
    rows = [row for row in rows if row["rater"] in raters]
    size = dict.fromkeys(range(images), (100, 100))
    return Annotations.from_rows(rows, images=range(images), raters=raters, image_size=size, assigned="all", **more)


TABLE = annotated()
TWO = annotated(40, NAMES[:2])
AGREEMENT = agreement(TABLE, bootstrap=20)
VARIATIONS = k.variations(TABLE)


def sessions():
    same_person = [NAMES[0], NAMES[0], NAMES[1]]
    return agreement(annotated(person=same_person, session=["1", "2", "1"]), bootstrap=0)


def labelled():
    rng = np.random.default_rng(0)
    return k.LabelTable.from_rows(
        {"item": item, "rater": rater, "label": NAMES[(item + (rng.random() < 0.2)) % 3], "time": item}
        for item in range(12)
        for rater in NAMES
    )


LABELS = labelled()
COUNTS = k.label_counts(LABELS.values())
FREE_LABELS = k.LabelTable.from_rows(
    (
        {"item": item, "rater": rater, "label": [NAMES[item % 2], *NAMES[2:][: place % 2]]}
        for item in range(12)
        for place, rater in enumerate(NAMES)
    ),
    groups=None,
)
RUNNING = [(item, (item + (item % 5 == 0)) % 3) for item in range(12) for _ in range(3)]
MASKS = dict(zip(NAMES, ([[0, 1, 1, 0]] * 3, [[0, 1, 1, 1]] * 3, [[1, 1, 0, 0]] * 3), strict=True))
STACK = k.LabelStack.of(dict(zip(NAMES, ([[1, 2, 0]], [[1, 2, 2]], [[1, 1, 0]]), strict=True)))
CLASSES = dict(enumerate(NAMES[:2], 1))


@cache
def converged():
    return k.label_convergence(TWO, samples=20, fraction=0.5, thresholds=(0.5, 0.75))


@cache
def fitted():
    return NoiseModel.fit(TABLE)


@cache
def noisy():
    return NoiseModel.default().generate(TABLE, 2, 1.0, 1, reference=NAMES[0])


def models():
    predictions = TABLE.select(raters=[NAMES[2]])
    return {NAMES[1]: (predictions, np.linspace(0.1, 0.9, len(predictions)))}


def detectors():
    accumulator = k.DetectorAccumulator(shares="all")
    for image in range(3):
        scores = np.array([[0.1, 0.9, 0.6 + image / 10, 0.4]] * 3)
        accumulator.add({name: scores + place / 20 for place, name in enumerate(NAMES)}, MASKS)
    return accumulator.result()


def systems():
    rng = np.random.default_rng(0)
    items, concepts = list(range(12)), list(NAMES)
    scores = SystemScores(concepts, items, concepts, rng.random((3, 12, 3)))
    return k.rank_systems(scores, k.ConceptTruths(concepts, items, concepts, rng.integers(0, 2, (3, 12, 3))))


@cache
def experiments():
    rows = [{"image": 1, "rater": NAMES[0], "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    table = Annotations.from_rows(rows, image_size={1: (100, 100)})
    return run_experiments(table, magnitudes=[0.5, 1], counts=[2, 7], repeats=1)


def counted():
    found = CountedTruth.nothing(NAMES, 1)
    found.add(0, k.estimate_truth(MASKS, "0.5"))
    return found


def boundaries_of_scores():
    scores = {name: np.array([[0.1, 0.9, 0.2]] * 3) for name in NAMES}
    return boundary_evaluation([(scores, {"a": [[0, 1, 0]] * 3, "b": [[0, 1, 0]] * 3})])


def scorecards():
    return rater_scorecards(narrowed(AGREEMENT), narrowed_variations(VARIATIONS))


def compared_teams():
    return k.compare_teams(LABELS, {NAMES[1]: NAMES[:1], NAMES[2]: NAMES[1:]}, bootstrap=10)


OF_AGREEMENT = (
    k.class_difficulty, k.collaboration, disputes, k.instance_consensus, k.next_to_rate, k.rater_vitality, resolve,
    k.unit_agreement, k.unit_truth,
)  # fmt: skip
OF_TABLE = (k.check_convergence, k.modified_map, compute_pairs, k.variation_shares)
OF_LABELS = (
    check_groups, item_accuracy, k.label_agreement, find_disputes, k.majority_agreement, majority_labels,
    k.rater_accuracy,
)  # fmt: skip
OF_COUNTS = (check_independence, k.majority_vote, k.sparse_agreement)
OF_EXPERIMENTS = ("response", "stability", "raters", "schools", "loss", "accuracy", "cases")
MAKERS = {
    **{call.__name__: partial(call, AGREEMENT) for call in OF_AGREEMENT},
    **{call.__name__: partial(call, TABLE) for call in OF_TABLE},
    **{call.__name__: partial(call, LABELS) for call in OF_LABELS},
    **{call.__name__: partial(call, COUNTS) for call in OF_COUNTS},
    **{name: lambda name=name: getattr(experiments(), name) for name in OF_EXPERIMENTS},
    "Agreement": lambda: AGREEMENT,
    "Annotations": lambda: TABLE,
    "GradeDirection": lambda: grade_direction([[1, 2, 2], [2, 3, 2], [1, 1, 2]] * 4),
    "BoundaryAgreement": lambda: k.boundary_agreement([STACK] * 2, CLASSES, bootstrap=9),
    "BoundaryDistance": lambda: k.boundary_distance([[0, 1, 1, 0]] * 3, [[0, 1, 1, 1]] * 3),
    "BoundaryEvaluation": boundaries_of_scores,
    "BoundaryQuality": lambda: boundary_quality(VARIATIONS),
    "Calibration": lambda: k.calibrate(TABLE, "box_iou", bootstrap=0),
    "ClassPixelAgreement": lambda: class_pixel_agreement([STACK], CLASSES),
    "ClassStaple": lambda: staple_classes(STACK, CLASSES),
    "ClassTruth": lambda: class_truth(STACK, CLASSES, "0.5"),
    "Comparison": lambda: k.compare(AGREEMENT, agreement(TABLE, threshold=0.8), bootstrap=10),
    "Concordance": lambda: concordance(systems().rankings["AUC"], 20),
    "Confusions": lambda: VARIATIONS.confusions(),
    "ConvergenceStudy": lambda: convergence_study(TWO, converged()),
    "CountedTruth": counted,
    "DetectorRanking": detectors,
    "Diagnosis": lambda: diagnose(AGREEMENT, [0.3, 0.6]),
    "Differences": lambda: k.compare(AGREEMENT, AGREEMENT, bootstrap=0).raters,
    "DisputedRegions": lambda: disputed_regions([STACK], CLASSES, min_area=1, min_width=1),
    "Events": lambda: noisy().events,
    "Experiments": experiments,
    "Fidelity": lambda: NoiseModel.default().fidelity(TABLE, draws=2),
    "FitTests": lambda: fitted().tests(permutations=1),
    "GeneratedRaters": noisy,
    "GradeAgreement": lambda: k.grade_agreement(LABELS.values().tolist(), order=[0, 1, 2, *NAMES], bootstrap=20),
    "InjectedNoise": lambda: InjectedNoise.of(noisy(), ["made", "up"], list(map(str, range(len(noisy().annotations))))),
    "IntraclassCorrelation": lambda: k.intraclass_correlation(LABELS.values()),
    "IntraRater": lambda: k.intra_rater(sessions()),
    "LabelConvergence": converged,
    "LabelFindings": lambda: label_findings(LABELS, bootstrap=10),
    "LabelTable": lambda: LABELS,
    "LabelTruth": lambda: k.dawid_skene(LABELS, LABELS.questions[0]),
    "Merged": lambda: VARIATIONS.merged,
    "ModelRanking": lambda: rank_models(models(), TABLE),
    "NarrowedAgreement": lambda: narrowed(AGREEMENT, NAMES[1], NAMES[0], [0, 1, 2, 4]),
    "NarrowedVariations": lambda: narrowed_variations(VARIATIONS, NAMES[1]),
    "NoiseModel": fitted,
    "PixelAgreement": lambda: k.pixel_agreement([MASKS, MASKS, MASKS]),
    "PredictionMap": lambda: map_of_predictions(TABLE, *models()[NAMES[1]]),
    "QuestionCurve": lambda: label_findings(LABELS).curves[0],
    "QuestionGrades": lambda: label_findings(LABELS, metric="ordinal", order=list(NAMES), bootstrap=10).grades[0],
    "Rankings": lambda: systems().rankings["AUC"],
    "RaterEvents": lambda: noisy().by_rater(),
    "RaterPerformance": lambda: k.estimate_truth(MASKS, "0.5").performance,
    "RegionAgreement": lambda: k.region_agreement([STACK] * 2, bootstrap=9),
    "ResolvedLabels": lambda: resolve_labels(find_disputes(LABELS), undecided="drop"),
    "Rejection": lambda: reject_answers(LABELS, least_accuracy=0.9),
    "RemovalExperiment": lambda: k.removal_experiment([[3, 0], [2, 2], [1, 3], [4, 0]] * 5, rounds=5),
    "Replicates": lambda: converged().replicates,
    "RunningCurve": lambda: running_agreement(*zip(*RUNNING, strict=True), bootstrap=5),
    "Scorecard": scorecards,
    "Sensitivity": lambda: k.sensitivity(TABLE, bootstrap=10),
    "Separation": lambda: k.calibrate(TABLE, "box_iou", bootstrap=0)["box_iou"],
    "SignalLoss": lambda: noisy().signal_loss(),
    "Study": lambda: study(TABLE, bootstrap=10, samples=20),
    "SuggestedGroups": lambda: suggest_groups(FREE_LABELS),
    "SystemRanking": systems,
    "TeamAgreement": lambda: k.team_agreement(sessions()),
    "TeamComparison": compared_teams,
    "Truth": lambda: k.estimate_truth(MASKS),
    "Truths": lambda: k.estimate_truths([MASKS, MASKS], "0.5"),
    "Variations": lambda: VARIATIONS,
}
"""Result of each class, by its name or by the call or part that creates it."""

NOT_RESTORED = (Annotations, NoiseModel)
"""Exceptions to restoring from JSON: a table is read again, a model has its own format."""


@cache
def made(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", k.KalosWarning)
        return MAKERS[name]()


# ---- each class ----


@pytest.mark.parametrize("name", MAKERS)
def test_a_result_shows_itself(name):
    found = made(name)
    assert isinstance(found.to_pandas(), pd.DataFrame)
    assert found.headline
    check_text(found)
    check_figures(found)
    check_json(found)


def check_text(found):
    lines = repr(found).splitlines()
    assert 1 <= len(lines) <= MOST_LINES
    assert str(found) == repr(found)
    assert all(line.isprintable() for line in lines)
    page = found._repr_html_()
    assert type(found).__name__ in page
    assert "<script" not in page.lower()
    assert len(re.findall("<tr", page)) <= 22
    assert "\u202e" not in repr(found) + page


def check_figures(found):
    assert found.plots
    assert isinstance(found.plot(), go.Figure)
    for plot in found.plots:
        drawn = json.dumps(found.plot(plot).to_plotly_json(), ensure_ascii=False, default=str)
        assert "<script" not in drawn
        assert "\u202e" not in drawn
    in_docstring = re.findall(r"``\"([\w ]+)\"``", (type(found).__doc__ or "").partition("Figures:")[2])
    assert tuple(in_docstring[: len(found.plots)]) == found.plots
    with pytest.raises(InputError, match=rf"plot: expected one of .*'{sorted(found.plots)[0]}'.*got 'nothing'"):
        found.plot("nothing")


def check_json(found):
    def refuse(constant):
        raise AssertionError(constant)

    text = found.to_json()
    json.loads(text, parse_constant=refuse)
    if type(found) in NOT_RESTORED:
        return
    outside = [getattr(found, part, None) for part in ("annotations", "reference", "source", "agreement")]
    outside = [part.annotations if hasattr(part, "annotations") else part for part in outside]
    again = type(found).from_json(text, *(part for part in outside if isinstance(part, Annotations)))
    assert again.to_json() == text
    assert repr(again) == repr(found)
    assert again.to_pandas().equals(found.to_pandas())


def library_classes():
    """Return all classes of the library without the bridge and the programs."""
    for found in pkgutil.walk_packages(k.__path__, "kalos_core."):
        if not found.name.startswith("kalos_core.fiftyone") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("kalos_core.") and module]
    kinds = {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    bridge = "kalos_core.fiftyone"
    return {
        kind for kind in kinds if kind.__module__.startswith("kalos_core.") and not kind.__module__.startswith(bridge)
    }


def test_every_class_with_a_table_is_a_result_and_is_made_here():
    found = library_classes()
    results = {kind for kind in found if issubclass(kind, Result)}
    bases = {base for kind in results for base in kind.__mro__[1:]}
    assert results - bases == {type(made(name)) for name in MAKERS}
    assert {kind for kind in found if hasattr(kind, "to_pandas")} <= results


# ---- JSON ----


def test_json_comes_from_a_file_and_restores_the_figures(tmp_path):
    for name in ("Agreement", "Calibration", "LabelConvergence", "Variations"):
        found = made(name)
        (tmp_path / "found.json").write_text(found.to_json(), encoding="utf-8")
        outside = [found.annotations] if hasattr(found, "annotations") else []
        assert type(found).from_json(tmp_path / "found.json", *outside).plot().data == found.plot().data


def test_json_of_another_result_or_other_annotations_is_refused(tmp_path):
    text, other = made("Agreement").to_json(), type(made("class_difficulty"))
    for given in ([], [annotated(15)]):
        with pytest.raises(InputError, match="annotations: expected those the result was computed from"):
            k.Agreement.from_json(text, *given)
    with pytest.raises(InputError, match=r"expected JSON of ClassDifficulty\.to_json, got one of Agreement"):
        other.from_json(text)
    with pytest.raises(InputError, match="expected a result that JSON restores, got Annotations: call read_labels"):
        Annotations.from_json(TABLE.to_json())
    content = json.loads(
        made("class_difficulty").to_json(),
        parse_float=lambda text: int(float(text)) if text.endswith(".0") else float(text),
    )
    other.from_json(json.dumps(content, sort_keys=True))  # as other programs write the same numbers
    for name, value in (("check", None), ("values", {**content["values"], "alpha": [0.123]})):
        with pytest.raises(InputError, match="got one whose values were changed"):
            other.from_json(json.dumps({**content, name: value}))
    for broken in ("{", "[1]", str(tmp_path / "missing.json"), '{"result": "ClassDifficulty", "values": {"alpha": 5}}'):
        with pytest.raises(InputError, match=r"source: expected JSON of ClassDifficulty\.to_json"):
            other.from_json(broken)


def test_infinite_numbers_are_strict_json():
    found = replace(made("class_difficulty"), alpha=np.array([np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(type(found).from_json(found.to_json()).alpha, found.alpha)


# ---- long, empty, and of another type ----


def test_a_result_without_rows_shows_itself():
    rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    empty = agreement(Annotations.from_rows(rows, raters=["ann", "bob"], assigned="all"), bootstrap=0)
    for found in (empty, k.class_difficulty(empty), k.variations(empty.annotations), SuggestedGroups(), Truths()):
        assert repr(found)
        assert found._repr_html_()
        assert isinstance(found.plot(), go.Figure)
        json.loads(found.to_json())


NO_AGREEMENT = r"expected Agreement, the result of agreement\(ann"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures.plot_agreement(result=5), "result: expected Agreement, .* got int"),
        (lambda: boundary_quality(TABLE), "found: expected Variations, the result of vari"),
        (lambda: k.rater_vitality(5), f"agreement: {NO_AGREEMENT}"),
        (lambda: figures.plot_calibration(made("Calibration"), "mask_iou"), "similarity: expected one of 'box_iou'"),
    ],
)
def test_a_result_of_another_type_names_the_right_call(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("shape", [[2, 2, 3], [10**6, 10**6, 3]])
def test_a_picture_does_not_unpack_to_more_than_its_shape(shape):
    content = base64.b64encode(zlib.compress(bytes(1 << 24))).decode()
    tracemalloc.start()
    with pytest.raises(Exception, match="Drawn"):
        restored(Drawn, {"pixels": {"shape": shape, "zlib": content}})
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1 << 23


@dataclass(frozen=True)
class Drawn:
    pixels: NDArray[np.uint8]
