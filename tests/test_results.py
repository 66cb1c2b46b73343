"""Every result shows itself: text, table, HTML, figures and JSON, whatever the names in the data are."""

import importlib
import json
import pkgutil
import re
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

import kalos_core
from kalos_core import (
    Annotations,
    ConceptTruths,
    DetectorAccumulator,
    InputError,
    KalosWarning,
    LabelStack,
    LabelTable,
    NoiseModel,
    SystemScores,
    agreement,
    boundary_agreement,
    boundary_distance,
    calibrate,
    check_convergence,
    class_difficulty,
    class_pixel_agreement,
    class_truth,
    collaboration,
    compare,
    compare_teams,
    compute_pairs,
    dawid_skene,
    disputed_regions,
    distributed,
    estimate_truth,
    estimate_truths,
    figures,
    find_disputes,
    grade_agreement,
    instance_consensus,
    intra_rater,
    intraclass_correlation,
    item_accuracy,
    label_agreement,
    label_convergence,
    label_counts,
    majority_agreement,
    majority_vote,
    map_of_predictions,
    modified_map,
    next_to_rate,
    pixel_agreement,
    rank_models,
    rank_systems,
    rater_accuracy,
    rater_vitality,
    region_agreement,
    reject_answers,
    removal_experiment,
    run_experiments,
    running_agreement,
    sensitivity,
    sparse_agreement,
    staple_classes,
    suggest_groups,
    team_agreement,
    unit_agreement,
    unit_truth,
    variation_shares,
    variations,
)
from kalos_core.consensus import CountedTruth
from kalos_core.consensus.study import Truths
from kalos_core.convergence import convergence_study
from kalos_core.decisions import disputes, resolve
from kalos_core.diagnostics import diagnose, narrowed
from kalos_core.noise import InjectedNoise
from kalos_core.nominal import check_groups, label_findings, majority_labels
from kalos_core.nominal.suggestions import SuggestedGroups
from kalos_core.ranking import boundary_evaluation, concordance
from kalos_core.report import study
from kalos_core.results import MOST_LINES, Result, Results
from kalos_core.sparse import check_independence
from kalos_core.variation import boundary_quality, narrowed_variations, rater_scorecards

PLAIN = ("ann", "bob", "cid")
HOSTILE = ("<script>alert(1)</script>", "*_x_*\u202e\x1b[31m\nb", "[a](http://b)" + "y" * 100)


@dataclass(frozen=True)
class Data:
    """What makers make results of: small, of three raters and three classes with these names."""

    names: tuple

    def rows(self, images=14):
        rng = np.random.default_rng(0)
        return [
            {
                "image": image,
                "rater": rater,
                "category": self.names[(x + (rng.random() < 0.15)) % 3],
                "box": [30 * x + rng.uniform(0, 2), 5, 14 + rng.uniform(0, 2), 14 + 4 * (place == 2)],
            }
            for image in range(images)
            for x in range(1 + image % 3)
            for place, rater in enumerate(self.names)
            if rng.random() < 0.9
        ]

    def annotations(self, images=14, **more):
        size = dict.fromkeys(range(images), (100, 100))
        return Annotations.from_rows(
            self.rows(images), images=range(images), raters=self.names, image_size=size, assigned="all", **more
        )

    def two(self, images=40):
        rows = [row for row in self.rows(images) if row["rater"] != self.names[2]]
        size = dict.fromkeys(range(images), (100, 100))
        return Annotations.from_rows(rows, images=range(images), raters=self.names[:2], image_size=size, assigned="all")

    @cache  # noqa: B019
    def agreement(self, **more):
        return agreement(self.annotations(**more), bootstrap=20)

    def sessions(self):
        return agreement(
            self.annotations(person=[self.names[0], self.names[0], self.names[1]], session=["1", "2", "1"]), bootstrap=0
        )

    def labels(self):
        rng = np.random.default_rng(0)
        rows = [
            {"item": item, "rater": rater, "label": self.names[(item + (rng.random() < 0.2)) % 3], "time": item}
            for item in range(12)
            for rater in self.names
        ]
        return LabelTable.from_rows(rows)

    def free_labels(self):
        rows = [
            {"item": item, "rater": rater, "label": [self.names[item % 2], *self.names[2:][: place % 2]]}
            for item in range(12)
            for place, rater in enumerate(self.names)
        ]
        return LabelTable.from_rows(rows, groups=None)

    def counts(self):
        return label_counts(self.labels().values())

    def masks(self):
        return dict(zip(self.names, ([[0, 1, 1, 0]] * 3, [[0, 1, 1, 1]] * 3, [[1, 1, 0, 0]] * 3), strict=True))

    def classes(self):
        names = dict(enumerate(self.names[:2], 1))
        return LabelStack.of(dict(zip(self.names, ([[1, 2, 0]], [[1, 2, 2]], [[1, 1, 0]]), strict=True))), names

    @cache  # noqa: B019
    def convergence(self):
        return label_convergence(self.two(), samples=20, fraction=0.5, thresholds=(0.5, 0.75))

    @cache  # noqa: B019
    def noisy(self):
        return NoiseModel.default().generate(self.annotations(), 2, 1.0, 1, reference=self.names[0])

    def models(self):
        predictions = self.annotations().select(raters=[self.names[2]])
        return {self.names[1]: (predictions, np.linspace(0.1, 0.9, len(predictions)))}

    def detectors(self):
        accumulator = DetectorAccumulator(shares="all")
        for image in range(3):
            scores = np.array([[0.1, 0.9, 0.6 + image / 10, 0.4]] * 3)
            accumulator.add({name: scores + place / 20 for place, name in enumerate(self.names)}, self.masks())
        return accumulator.result()

    def systems(self):
        rng = np.random.default_rng(0)
        items, concepts = list(range(12)), list(self.names)
        scores = SystemScores(concepts, items, concepts, rng.random((3, 12, 3)))
        return rank_systems(scores, ConceptTruths(concepts, items, concepts, rng.integers(0, 2, (3, 12, 3))))

    @cache  # noqa: B019
    def experiments(self):
        rows = [{"image": 1, "rater": self.names[0], "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
        table = Annotations.from_rows(rows, image_size={1: (100, 100)})
        return run_experiments(table, magnitudes=[0.5, 1], counts=[2, 7], repeats=1)


def counted(data):
    found = CountedTruth.nothing(data.names, 1)
    found.add(0, estimate_truth(data.masks(), "0.5"))
    return found


def over_shards(data, call, **more):
    """What a call answers for the annotations in shards."""
    with tempfile.TemporaryDirectory() as folder:
        return call(distributed.write_shards(data.annotations(), folder, images_per_shard=5), **more)


MAKERS = {
    "ShardedAgreement": lambda data: over_shards(data, distributed.agreement, bootstrap=20),
    "ShardedVariations": lambda data: over_shards(data, distributed.variations),
    "Agreement": lambda data: data.agreement(),
    "Annotations": lambda data: data.annotations(),
    "BoundaryAgreement": lambda data: boundary_agreement([data.classes()[0]] * 2, data.classes()[1], bootstrap=9),
    "BoundaryDistance": lambda _: boundary_distance([[0, 1, 1, 0]] * 3, [[0, 1, 1, 1]] * 3),
    "BoundaryEvaluation": lambda data: boundary_evaluation(
        [({name: np.array([[0.1, 0.9, 0.2]] * 3) for name in data.names}, {"a": [[0, 1, 0]] * 3, "b": [[0, 1, 0]] * 3})]
    ),
    "DisputedRegions": lambda data: disputed_regions([data.classes()[0]], data.classes()[1], min_area=1, min_width=1),
    "BoundaryQuality": lambda data: boundary_quality(variations(data.annotations())),
    "Calibration": lambda data: calibrate(data.annotations(), "box_iou", bootstrap=0),
    "ClassDifficulty": lambda data: class_difficulty(data.agreement()),
    "ClassPixelAgreement": lambda data: class_pixel_agreement([data.classes()[0]], data.classes()[1]),
    "ClassStaple": lambda data: staple_classes(*data.classes()),
    "ClassTruth": lambda data: class_truth(*data.classes(), "0.5"),
    "Collaboration": lambda data: collaboration(data.agreement()),
    "Comparison": lambda data: compare(data.agreement(), agreement(data.annotations(), threshold=0.8), bootstrap=10),
    "Concordance": lambda data: concordance(data.systems().rankings["AUC"], 20),
    "Confusions": lambda data: variations(data.annotations()).confusions(),
    "ConvergenceStudy": lambda data: convergence_study(data.two(), data.convergence()),
    "CountedTruth": counted,
    "Criteria": lambda data: check_convergence(data.annotations()),
    "DetectorRanking": lambda data: data.detectors(),
    "Diagnosis": lambda data: diagnose(data.agreement(), [0.3, 0.6]),
    "Differences": lambda data: compare(data.agreement(), data.agreement(), bootstrap=0).raters,
    "Disputes": lambda data: disputes(data.agreement()),
    "Events": lambda data: data.noisy().events,
    "Experiments": lambda data: data.experiments(),
    "Fidelity": lambda data: NoiseModel.default().fidelity(data.annotations(), draws=2),
    "FitTests": lambda data: NoiseModel.fit(data.annotations()).tests(permutations=19),
    "GeneratedRaters": lambda data: data.noisy(),
    "GradeAgreement": lambda data: grade_agreement(
        data.labels().values().tolist(), order=[0, 1, 2, *data.names], bootstrap=20
    ),
    "GroupBreaches": lambda data: check_groups(data.labels()),
    "Independence": lambda data: check_independence(data.counts()),
    "InjectedNoise": lambda data: InjectedNoise.of(
        data.noisy(), ["made", "up"], list(map(str, range(len(data.noisy().annotations))))
    ),
    "InstanceConsensus": lambda data: instance_consensus(data.agreement()),
    "IntraclassCorrelation": lambda data: intraclass_correlation(data.labels().values()),
    "IntraRater": lambda data: intra_rater(data.sessions()),
    "ItemAccuracy": lambda data: item_accuracy(data.labels()),
    "LabelAgreement": lambda data: label_agreement(data.labels()),
    "LabelConvergence": lambda data: data.convergence(),
    "LabelDisputes": lambda data: find_disputes(data.labels()),
    "LabelFindings": lambda data: label_findings(data.labels(), bootstrap=10),
    "LabelTable": lambda data: data.labels(),
    "LabelTruth": lambda data: dawid_skene(data.labels(), data.labels().questions[0]),
    "MagnitudeResponse": lambda data: data.experiments().response,
    "Majority": lambda data: majority_vote(data.counts()),
    "MajorityAgreement": lambda data: majority_agreement(data.labels()),
    "MajorityLabels": lambda data: majority_labels(data.labels()),
    "Merged": lambda data: variations(data.annotations()).merged,
    "ModelRanking": lambda data: rank_models(data.models(), data.annotations()),
    "ModifiedMap": lambda data: modified_map(data.annotations()),
    "NarrowedAgreement": lambda data: narrowed(data.agreement(), data.names[1], data.names[0], [0, 1, 2, 4]),
    "NarrowedVariations": lambda data: narrowed_variations(variations(data.annotations()), data.names[1]),
    "NextToRate": lambda data: next_to_rate(data.agreement()),
    "NoiseModel": lambda data: NoiseModel.fit(data.annotations()),
    "Pairs": lambda data: compute_pairs(data.annotations()),
    "PermutationStability": lambda data: data.experiments().stability,
    "PixelAgreement": lambda data: pixel_agreement([data.masks(), data.masks(), data.masks()]),
    "PredictionMap": lambda data: map_of_predictions(data.annotations(), *data.models()[data.names[1]]),
    "QuestionCurve": lambda data: label_findings(data.labels()).curves[0],
    "Rankings": lambda data: data.systems().rankings["AUC"],
    "QuestionGrades": lambda data: label_findings(
        data.labels(), metric="ordinal", order=list(data.names), bootstrap=10
    ).grades[0],
    "RaterAccuracy": lambda data: rater_accuracy(data.labels()),
    "RaterEvents": lambda data: data.noisy().by_rater(),
    "RaterPerformance": lambda data: estimate_truth(data.masks(), "0.5").performance,
    "RaterReturn": lambda data: data.experiments().raters,
    "RaterVitality": lambda data: rater_vitality(data.agreement()),
    "RegionAgreement": lambda data: region_agreement([data.classes()[0]] * 2, bootstrap=9),
    "Rejection": lambda data: reject_answers(data.labels(), least_accuracy=0.9),
    "RemovalExperiment": lambda _: removal_experiment([[3, 0], [2, 2], [1, 3], [4, 0]] * 5, rounds=5),
    "Replicates": lambda data: data.convergence().replicates,
    "RunningCurve": lambda _: running_agreement(
        [row["item"] for row in LABELS], [row["label"] for row in LABELS], bootstrap=5
    ),
    "Resolved": lambda data: resolve(data.agreement()),
    "SchoolImpact": lambda data: data.experiments().schools,
    "Scorecard": lambda data: rater_scorecards(
        narrowed(data.agreement()), narrowed_variations(variations(data.annotations()))
    ),
    "Sensitivity": lambda data: sensitivity(data.annotations(), bootstrap=10),
    "Separation": lambda data: calibrate(data.annotations(), "box_iou", bootstrap=0)["box_iou"],
    "SignalLoss": lambda data: data.noisy().signal_loss(),
    "SignalLossTable": lambda data: data.experiments().loss,
    "SolverAccuracy": lambda data: data.experiments().accuracy,
    "SolverCases": lambda data: data.experiments().cases,
    "SparseAgreement": lambda data: sparse_agreement(data.counts()),
    "Study": lambda data: study(data.annotations(), bootstrap=10, samples=20),
    "SuggestedGroups": lambda data: suggest_groups(data.free_labels()),
    "SystemRanking": lambda data: data.systems(),
    "TeamAgreement": lambda data: team_agreement(data.sessions()),
    "TeamComparison": lambda data: compare_teams(
        data.labels(), {data.names[1]: data.names[:1], data.names[2]: data.names[1:]}, bootstrap=10
    ),
    "Truth": lambda data: estimate_truth(data.masks()),
    "Truths": lambda data: estimate_truths([data.masks(), data.masks()], "0.5"),
    "UnitAgreement": lambda data: unit_agreement(data.agreement()),
    "UnitTruth": lambda data: unit_truth(data.agreement()),
    "VariationShares": lambda data: variation_shares(data.annotations()),
    "Variations": lambda data: variations(data.annotations()),
}
"""A result of each class."""

LABELS = [{"item": item, "label": (item + (item % 5 == 0)) % 3} for item in range(12) for _ in range(3)]


ROOT = Path(__file__).resolve().parent.parent
LOOKING = (Annotations, NoiseModel)
"""Not restored from their JSON as the others are: a table is read again, a model has a format of its own."""


@cache
def made(name, names=PLAIN):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        return MAKERS[name](Data(names))


each_result = pytest.mark.parametrize("name", MAKERS)
each_result_and_names = pytest.mark.parametrize("names", [PLAIN, HOSTILE], ids=["plain", "hostile"])


def classes():
    """All classes of results of the library without the bridge that have no subclass in it."""
    for found in pkgutil.walk_packages(kalos_core.__path__, "kalos_core."):
        if not found.name.startswith("kalos_core.fiftyone") and not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    waiting, found = [Result], set()
    while waiting:
        one = waiting.pop()
        own = [kind for kind in one.__subclasses__() if kind.__module__.startswith("kalos_core.")]
        below = [kind for kind in own if not kind.__module__.startswith("kalos_core.fiftyone")]
        waiting += below
        if not below:
            found.add(one)
    return found


def test_every_class_of_results_is_looked_at():
    assert {type(made(name)) for name in MAKERS} == classes()


def test_everything_with_a_table_is_a_result():
    classes()
    modules = [module for name, module in sys.modules.items() if name.startswith("kalos_core.") and module]
    kinds = {thing for module in modules for thing in vars(module).values() if isinstance(thing, type)}
    tables = {kind for kind in kinds if kind.__module__.startswith("kalos_core.") and hasattr(kind, "to_pandas")}
    assert not {kind for kind in tables if not issubclass(kind, Result)}


@each_result
def test_a_result_is_a_table(name):
    found = made(name)
    assert isinstance(found.to_pandas(), pd.DataFrame)
    assert found.headline


@each_result_and_names
@each_result
def test_a_repr_is_short_and_of_printable_letters(name, names):
    found = made(name, names)
    lines = repr(found).splitlines()
    assert 1 <= len(lines) <= MOST_LINES
    assert str(found) == repr(found)
    assert all(line.isprintable() for line in lines)
    assert "\u202e" not in repr(found)


@each_result_and_names
@each_result
def test_html_shows_names_as_text(name, names):
    shown = made(name, names)._repr_html_()
    assert type(made(name)).__name__ in shown
    assert "<script" not in shown.lower()
    assert "\u202e" not in shown
    assert len(re.findall("<tr", shown)) <= 22


@each_result_and_names
@each_result
def test_every_figure_is_drawn(name, names):
    found = made(name, names)
    assert found.plots
    assert isinstance(found.plot(), go.Figure)
    for plot in found.plots:
        drawn = json.dumps(found.plot(plot).to_plotly_json(), ensure_ascii=False, default=str)
        assert "<script" not in drawn
        assert "\u202e" not in drawn


@each_result
def test_the_docstring_names_the_figures(name):
    found = made(name)
    words = re.findall(r"``\"([\w ]+)\"``", (type(found).__doc__ or "").partition("Figures:")[2])
    assert tuple(words[: len(found.plots)]) == found.plots


@each_result
def test_an_unknown_figure_is_refused_with_the_known_ones(name):
    found = made(name)
    with pytest.raises(InputError, match=rf"plot: expected one of .*'{sorted(found.plots)[0]}'.*got 'nothing'"):
        found.plot("nothing")


@each_result_and_names
@each_result
def test_json_is_strict_and_restores_the_result(name, names):
    found = made(name, names)
    text = found.to_json()

    def refuse(constant):
        raise AssertionError(constant)

    json.loads(text, parse_constant=refuse)
    if type(found) in LOOKING:
        return
    outside = [getattr(found, part, None) for part in ("annotations", "reference", "source", "agreement")]
    outside = [part.annotations if hasattr(part, "annotations") else part for part in outside]
    again = type(found).from_json(text, *(part for part in outside if isinstance(part, Annotations)))
    assert again.to_json() == text
    assert repr(again) == repr(found)
    assert again.to_pandas().equals(found.to_pandas())


@pytest.mark.parametrize("name", ["Agreement", "Calibration", "LabelConvergence", "Variations"])
def test_json_comes_from_a_file_too(name, tmp_path):
    found = made(name)
    (tmp_path / "found.json").write_text(found.to_json(), encoding="utf-8")
    outside = [found.annotations] if hasattr(found, "annotations") else []
    assert type(found).from_json(tmp_path / "found.json", *outside).plot().data == found.plot().data


def test_json_of_another_result_or_other_annotations_is_refused(tmp_path):
    found = made("Agreement")
    with pytest.raises(InputError, match="annotations: expected those the result was computed from"):
        type(found).from_json(found.to_json())
    with pytest.raises(InputError, match="annotations: expected those the result was computed from"):
        type(found).from_json(found.to_json(), Data(PLAIN).annotations(images=15))
    with pytest.raises(InputError, match=r"expected JSON of ClassDifficulty\.to_json, got one of Agreement"):
        type(made("ClassDifficulty")).from_json(found.to_json())
    with pytest.raises(InputError, match="expected a result that JSON restores, got Annotations: call read_labels"):
        Annotations.from_json(made("Annotations").to_json())
    for text in ("{", "[1]", str(tmp_path / "missing.json"), '{"result": "ClassDifficulty", "values": {"alpha": 5}}'):
        with pytest.raises(InputError, match=r"source: expected JSON of ClassDifficulty\.to_json"):
            type(made("ClassDifficulty")).from_json(text)


def test_numbers_without_end_are_strict_json():
    found = replace(made("ClassDifficulty"), alpha=np.array([np.inf, -np.inf, np.nan]))
    again = type(found).from_json(found.to_json())
    np.testing.assert_array_equal(again.alpha, found.alpha)


def test_a_thousand_classes_are_twenty_lines():
    rows = [
        {"image": image, "rater": rater, "category": f"class {image}", "box": [0, 0, 9, 9]}
        for image in range(1000)
        for rater in ("ann", "bob")
    ]
    found = class_difficulty(agreement(Annotations.from_rows(rows), bootstrap=0))
    lines = repr(found).splitlines()
    assert len(lines) == MOST_LINES
    assert re.search(r"^\.\.\. and 983 more", lines[-1])
    assert "980 more rows" in found._repr_html_()


def test_a_result_that_is_a_tuple_stays_one():
    found = made("Criteria")
    assert isinstance(found, tuple)
    assert found == tuple(found)
    assert Results() == ()
    assert [line.verdict for line in found] == found.to_pandas()["verdict"].tolist()


def test_a_result_without_rows_shows_itself():
    rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    empty = agreement(Annotations.from_rows(rows, raters=["ann", "bob"], assigned="all"), bootstrap=0)
    for found in (empty, class_difficulty(empty), variations(empty.annotations), SuggestedGroups(), Truths()):
        assert repr(found)
        assert found._repr_html_()
        assert isinstance(found.plot(), go.Figure)
        json.loads(found.to_json())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: figures.plot_agreement(made("Annotations")), r"expected Agreement, the result of agreement\(anno"),
        (
            lambda: figures.plot_sensitivity(made("Agreement")),
            r"expected Sensitivity, the result of sens",
        ),
        (lambda: figures.plot_agreement(result=5), "plot_agreement: expected Agreement, .* got int"),
        (
            lambda: boundary_quality(made("Annotations")),
            "found: expected Variations, the result of vari",
        ),
        (lambda: class_difficulty(made("Annotations")), r"agreement: expected Agreement, the result of agreement\(ann"),
        (lambda: rater_vitality(made("Annotations")), r"agreement: expected Agreement, the result of agreement\(ann"),
        (lambda: disputes(made("Variations")), r"agreement: expected Agreement, the result of agreement\(ann"),
        (lambda: variation_shares(made("Variations")), "annotations: expected Annotations, got Variations"),
        (lambda: agreement(made("Agreement")), "annotations: expected Annotations, got Agreement"),
        (lambda: figures.plot_calibration(made("Calibration"), "mask_iou"), "similarity: expected one of 'box_iou'"),
    ],
)
def test_a_figure_of_something_else_names_the_right_call(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_a_calibration_is_drawn_as_its_best_similarity():
    found = made("Calibration")
    assert figures.plot_calibration(found) == figures.plot_calibration(found.separations[0])


def test_looking_at_results_imports_plotly_for_figures_only():
    code = "; ".join(
        [
            "import sys, kalos_core",
            "found = kalos_core.sparse_agreement([[3, 0], [2, 1]])",
            "repr(found), found._repr_html_(), found.to_json()",
            "assert 'plotly' not in sys.modules",
            "found.plot()",
            "assert 'plotly' in sys.modules",
        ]
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
