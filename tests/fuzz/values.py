"""Values for public functions: valid ones for each parameter, and invalid ones of every kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import cache
from inspect import Parameter
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray
from PIL import Image

import kalos_core as k
from kalos_core.annotations import Account
from kalos_core.annotations.shapes import ShapeFaults
from kalos_core.chance import Distance, Unequal
from kalos_core.consensus import TRUTH_METHODS
from kalos_core.convergence import (
    ConvergenceStudy,
    LabelConvergence,
    PredictionMap,
    convergence_study,
    map_of_predictions,
)
from kalos_core.correspondence import COSTS, SOLVERS
from kalos_core.diagnostics import AlphasByImage, IntraRater, TeamAgreement
from kalos_core.distributed import Shard, Shards, open_shards, write_shards
from kalos_core.errors import Problems
from kalos_core.noise import (
    ConfusionClasses,
    DetectedFalsePositives,
    EmbeddingClasses,
    FitTests,
    GeneratedRaters,
    ImageFalsePositives,
    InjectedNoise,
    Proposals,
    TaxonomyClasses,
    TransplantedFalsePositives,
)
from kalos_core.noise.experiments import Truth
from kalos_core.noise.sources import Transitions
from kalos_core.nominal import SKILL_MODELS, QuestionGrades, Rejection, label_findings, reject_answers
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.pixels import PixelAccumulator
from kalos_core.ranking import BoundaryEvaluation, ModelRanking, SystemScores, boundary_evaluation, rank_models
from kalos_core.readers import MaskFolders
from kalos_core.report import Card, Source
from kalos_core.shapes import Boxes, Cuboids, Keypoints, Masks, Polygons, Volumes
from kalos_core.sparse import WEIGHTS, RunningAgreement
from kalos_core.variation import Habit
from tests.readers import test_lidc
from tests.readers.spoiling import spoiled
from tests.readers.test_coco import document

BOX = {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 10, 10]}
ROWS = [
    {**BOX, "image": image, "rater": rater, "category": category, "box": [place, 0, 10, 10 + place]}
    for image in (1, 2, 3)
    for rater, place in (("ann", 0), ("bob", 1), ("cid", 3))
    for category in ("cat", "dog")
]
OUTLINES = [{**row, "polygon": [[0, 0, 9, 0, 9, 9, 0, 9]]} for row in ROWS]
LABEL_ROWS = [
    {"item": item, "rater": rater, "label": label}
    for item in (1, 2, 3, 4)
    for rater, label in (("ann", "x"), ("bob", "xy"[item % 2]), ("cid", "y"))
]
SIZES = dict.fromkeys((1, 2, 3), (40, 30))
ANNOTATIONS = k.Annotations.from_rows(ROWS, image_size=SIZES)
TWO = ANNOTATIONS.select(raters=["ann", "bob"])
ONE = k.Annotations.from_rows([{**BOX, "rater": "net"}], images=[1, 2, 3], image_size=SIZES)
SESSIONS = k.Annotations.from_rows(ROWS, person=["a", "a", "c"], session=["1", "2", "1"])
GRADES = k.LabelTable.from_rows(
    [{"item": i, "rater": r, "label": str((i + n) % 3)} for i in range(6) for n, r in enumerate("ab")],
    groups={"q": ["0", "1", "2"]},
)
POLYGONS = k.Annotations.from_rows(OUTLINES, image_size=SIZES)
TABLES = [ANNOTATIONS, TWO, POLYGONS, ANNOTATIONS.select(images=[0]), k.Annotations.from_rows([])]
TABLES += [k.Annotations.from_rows(ROWS, raters_are_local=True), ANNOTATIONS.select(raters=["ann"])]
AGREEMENT = k.agreement(ANNOTATIONS, bootstrap=3)
GRADED = k.Annotations.from_rows(
    [{**row, "attributes": {"malignancy": place % 3 + 1, "form": "round"}} for place, row in enumerate(ROWS)]
)
AGREEMENTS = [AGREEMENT, k.agreement(GRADED, bootstrap=0), k.agreement(POLYGONS, "polygon_iou", bootstrap=2)]
AGREEMENTS += [k.agreement(TWO, bootstrap=0)]
PAIRS = compute_pairs(ANNOTATIONS, floor=0.1)
VARIATIONS = k.variations(ANNOTATIONS)
LABELS = k.LabelTable.from_rows(LABEL_ROWS)
ONE_ANSWER = k.LabelTable.from_rows(LABEL_ROWS, groups={"q": ["x", "y"]})
MASKS = {"ann": [[0, 1, 1]], "bob": [[1, 1, 0]], "cid": [[0, 1, 0]]}
STACK = k.MaskStack.of(MASKS, image="a")
REGIONS = {"ann": [[0, 1, 2]], "bob": [[1, 1, 2]]}
LABEL_STACK = k.LabelStack.of(REGIONS, image="a")
COUNTS = np.array([[3, 0], [2, 1], [0, 3], [1, 1]])
SCORES = SystemScores(["net", "svm"], [1, 2], ["x", "y"], [[[0.9, 0.1], [0.2, 0.7]], [[0.5, 0.4], [0.6, 0.1]]])
TRUTHS = k.ConceptTruths.from_labels(LABELS.select(items=[0, 1]))
MODEL = k.NoiseModel.default()
CALIBRATION = k.calibrate(ANNOTATIONS)
PREDICTED = {"net": (TWO, [0.5] * len(TWO)), "svm": (TWO, np.linspace(0, 1, len(TWO)))}
COCO = document()


def ranking() -> k.DetectorAccumulator:
    made = k.DetectorAccumulator()
    made.add({"net": np.array([[0.1, 0.9, 0.3]])}, MASKS)
    return made


def counting() -> PixelAccumulator:
    made = PixelAccumulator()
    made.add(STACK)
    return made


def deep(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _each(names: str, good: list[Any]) -> dict[str, list[Any]]:
    return dict.fromkeys(names.split(), good)


GOOD: dict[str, list[Any]] = {
    **_each("bins bootstrap draws iterations longest_side max_merge n orders permutations points", [0, 1, np.int64(3)]),
    **_each("repeats rounds samples seed steps unit value", [0, 1, np.int64(3)]),
    **_each(
        "anchor decision floor fraction least_accuracy margin most_breaches prior", [0.0, 0.5, 1, np.float32(0.25)]
    ),
    **_each("quorum share strict threshold tolerance", [0.0, 0.5, 1, np.float32(0.25)]),
    **_each("on_invalid on_repeat on_empty on_unknown", ["raise", "skip", "first", "last", "none"]),
    **_each("agreement agreement_a agreement_b", AGREEMENTS),
    "annotations": TABLES,
    "pairs": [PAIRS],
    "found": [VARIATIONS],
    "table": [LABELS, ONE_ANSWER],
    "labels": [LABELS, ONE_ANSWER, COCO],
    "similarity": [*k.SIMILARITIES, lambda annotations, left, right: np.ones(len(left))],
    "similarities": ["box_iou", ["box_iou", "centroid"], ["polygon_iou"]],
    "thresholds": [[0.5], (0.1, 0.9), np.array([0.5, 0.75])],
    "solver": [*SOLVERS],
    "cost": [*COSTS],
    "statistic": ["alpha", "global_alpha"],
    "masks": [MASKS, list(MASKS.values()), np.zeros((2, 3, 4), bool)],
    "stack": [STACK],
    "stacks": [[STACK], [MASKS], [STACK, STACK]],
    "label_maps": [LABEL_STACK, REGIONS, np.zeros((2, 3, 4, 5), int)],
    "label_stacks": [[LABEL_STACK], [REGIONS]],
    "classes": [{1: "road", 2: "car"}, {1: "road"}, ["road", "car"]],
    "counts": [COUNTS, COUNTS.tolist(), scipy.sparse.csr_array(COUNTS)],
    "values": [[[0, 1, 0], [1, 1, -1]], np.zeros((3, 2), int), LABELS, ONE_ANSWER],
    "a": [[[0, 1, 1]], np.zeros((3, 4, 5), bool), [[0, 0], [9, 0], [9, 9]]],
    "b": [[[1, 1, 0]], np.ones((3, 4, 5), bool), [[0, 0], [9, 0], [9, 8]]],
    "spacing": [1, 0.5, (1, 2), [1, 1, 2.5]],
    "first": [[0, 1, 1]],
    "second": [[0, 1, 0]],
    "method": [*TRUTH_METHODS],
    "weights": [*WEIGHTS, None, [1.0, 2.0, 1.0], ["flat", "edges"], "linear", [[1, 0.5], [0.5, 1]]],
    "image": [1, 2, "a"],
    "images": [[1, 2], None, [0], [True, False, True]],
    "items": [[1, 1, 2, 2], [0, 1]],
    "categories": [["a", "a", "b", "a"], ["cat", "dog"]],
    "raters": [["ann", "bob"], None, 2],
    "rater": ["ann", "zoe"],
    "rows": [ROWS, OUTLINES, LABEL_ROWS, [0, 2], []],
    "teams": [{"a": ["ann", "bob"], "b": ["cid"]}],
    "groups": ["label", "item", {"q": ["x", "y"]}, None],
    "scores": [SCORES, [0.5] * len(TWO), {"net": np.array([[0.1, 0.9, 0.3]])}],
    "truths": [TRUTHS, {"real": [[1, 1, 0]]}],
    "models": [PREDICTED, "net: 50\nsvm: 40", {"net": 50.0}],
    "predictions": [TWO],
    "consensus": [{"all": TWO.select(raters=["ann"])}],
    "by_class": [{"cat": ranking().result()}],
    "tables": [{"net": {1: {"x": 0.9}, 2: {"x": 0.2}}}],
    "size": ["all", "small"],
    "ties": ["coco", "apart"],
    "calibration": [CALIBRATION],
    "model": [MODEL, *SKILL_MODELS],
    "added": [0, 4, 0.5],
    "magnitude": [1.0, [0.5, 1, 2]],
    "reference": ["ann", {1: "x"}, ["ann"]],
    "aliases": [{}, {"cat": "dog"}, {"ann": {"/c.*/": "dog"}}],
    "assigned": ["all", "files", "drew", {1: ["ann", "bob"]}, None],
    "assigned_categories": [{"ann": ["cat"]}],
    "exclusions": [[(1, "ann", "dog")]],
    "image_size": [SIZES],
    "person": [["a", "a", "b"]],
    "session": [["1", "2", "1"]],
    "outliers": [["bob"], []],
    "truth": [k.unit_truth(AGREEMENT)],
    "region": ["vote", "staple"],
    "category": ["cat", None],
    "shape": ["box"],
    "pixels": [np.zeros((30, 40, 3), np.uint8)],
    "time": [[1.0, 2.0, 3.0, 4.0]],
    "per_item": [[2], (2, 3)],
    "levels": [16, 1024, [0, 1], None],
    "metric": ["nominal", "ordinal", "interval", "ratio"],
    "order": [[0, 1], ["low", "high"]],
    "methods": [("any", "0.5")],
    "shares": ["all", [0.5]],
    "skew": [(0.1, 0.5)],
    "ignore": [[[True, False, False]], ["gt"]],
    "channels": [["red"]],
    "tree": [{"x": None, "y": "x"}],
    "coordinates": ["relative", "pixels", "auto"],
    "class_share": [[0.5, 0.5]],
    "path": ["out.json"],
    "path_or_dict": [COCO],
    "detections": [{"ann": {"a.jpg": []}, "bob": {"a.jpg": []}}],
    "concepts": [["x", "y"], None],
    "concept": ["x"],
    "question": ["q", "label"],
    "gone": [np.zeros(len(LABEL_ROWS), bool)],
    "source": [MODEL.to_json()],
    "shifts": ["matched"],
    "schools": [[2, 1]],
    "counts_of_raters": [[2]],
    "name": ["own", "malignancy"],
    "kind": ["box"],
    "label": ["IoU of my own"],
    "compare": [lambda left, left_rows, right, right_rows, floor: np.ones(len(left_rows))],
    "written": ["cat"],
}
"""Name of a parameter -> values that are valid for it somewhere, besides its default."""

INSTANCES: dict[type, Callable[[], Any]] = {
    k.Annotations: lambda: ANNOTATIONS,
    k.Agreement: lambda: AGREEMENT,
    k.LabelTable: lambda: LABELS,
    k.LabelStack: lambda: LABEL_STACK,
    k.NoiseModel: lambda: MODEL,
    k.DetectorAccumulator: ranking,
    PixelAccumulator: counting,
    RunningAgreement: RunningAgreement,
    Account: Account,
    ShapeFaults: lambda: ShapeFaults(Problems("rows"), str),
    Distance: lambda: Distance(lambda left, right: (left != right).astype(float)),
    Unequal: Unequal,
    AlphasByImage: lambda: AlphasByImage(AGREEMENT),
    LabelConvergence: lambda: k.label_convergence(ANNOTATIONS, samples=5, fraction=0.5),
    ConvergenceStudy: lambda: convergence_study(ANNOTATIONS, k.label_convergence(ANNOTATIONS, samples=5, fraction=0.5)),
    Truth: lambda: Truth.of(ANNOTATIONS, np.arange(len(ANNOTATIONS))[:, None] // 3),
    DetectedFalsePositives: lambda: DetectedFalsePositives(ANNOTATIONS),
    EmbeddingClasses: lambda: EmbeddingClasses(np.eye(2), ["cat", "dog"]),
    TaxonomyClasses: lambda: TaxonomyClasses({"animal": None, "cat": "animal", "dog": "animal"}),
    TransplantedFalsePositives: TransplantedFalsePositives,
    Boxes: lambda: Boxes(np.array([[0.0, 0, 9, 9], [1, 1, 5, 5]])),
    Polygons: lambda: Polygons.from_rings([[[0, 0, 9, 0, 9, 9]], [[0, 0, 5, 0, 5, 5]]]),
    Masks: lambda: Masks.from_counts(np.array([[3, 2]]), np.array([2, 3, 1]), np.array([0, 3])),
    Keypoints: lambda: Keypoints(np.zeros((2, 3, 2)), np.ones((2, 3), bool), np.ones(2), np.ones(2, bool)),
    Cuboids: lambda: Cuboids(np.zeros((2, 3)), np.ones((2, 3)), np.zeros((2, 3))),
    Volumes: lambda: volumes(),
    GeneratedRaters: lambda: MODEL.generate(ANNOTATIONS, 2, reference="ann"),
    InjectedNoise: lambda: injected(),
    FitTests: lambda: k.NoiseModel.fit(ANNOTATIONS).tests(permutations=5),
    IntraRater: lambda: k.intra_rater(SESSIONS),
    TeamAgreement: lambda: k.team_agreement(SESSIONS),
    PredictionMap: lambda: map_of_predictions(ANNOTATIONS, ONE, [0.5] * len(ONE)),
    Shards: lambda: open_shards(shards()),
    Shard: lambda: next(iter(open_shards(shards()))),
    Proposals: lambda: TransplantedFalsePositives().propose(ANNOTATIONS, np.random.default_rng(0)),
    Transitions: lambda: Transitions.of(ConfusionClasses.of(ANNOTATIONS), ANNOTATIONS),
    ImageFalsePositives: lambda: ImageFalsePositives({}),
    QuestionGrades: lambda: label_findings(GRADES, metric="interval", bootstrap=0).grades[0],
    Rejection: lambda: reject_answers(LABELS, least_accuracy=0.5),
    Source: lambda: Source("kalos-core report", "0" * 64, "labels.json"),
    Card: lambda: Card("2", "images"),
    BoundaryEvaluation: lambda: boundary_evaluation([({"net": np.array([[0.1, 0.9, 0.3]])}, MASKS)], thresholds=3),
    ModelRanking: lambda: rank_models({"net": (ONE, [0.5] * len(ONE))}, ANNOTATIONS),
    MaskFolders: lambda: k.read_mask_folders(masks()),
    Habit: lambda: Habit("ann", "missed", 1, 2, 0.5, 0.1),
}
"""Class of which no call with valid arguments creates an instance -> function that creates one."""


def injected() -> InjectedNoise:
    made_of = MODEL.generate(ANNOTATIONS, 2, reference="ann")
    return InjectedNoise.of(made_of, made_of.annotations.raters, list(map(str, range(len(made_of.annotations)))))


@cache
def shards() -> str:
    """Write a folder of shards."""
    folder = mkdtemp()
    write_shards(ANNOTATIONS, folder, images_per_shard=2)
    return folder


@cache
def volumes() -> Volumes:
    """Return the nodules of a scan."""
    file = Path(mkdtemp(), "scan.json")
    file.write_text(json.dumps({"scans": [test_lidc.scan()]}))
    return k.read_lidc(file).shapes["volume"]


@cache
def masks() -> str:
    """Write a folder of masks of two raters."""
    folder = Path(mkdtemp())
    for rater in ("ann", "bob"):
        (folder / rater).mkdir()
        Image.fromarray(np.array(MASKS[rater], np.uint8)).save(folder / rater / "a.png")
    return str(folder)


BY_HINT: list[tuple[Any, list[Any]]] = [
    (NDArray[np.float64], [np.array([0.5, 1.0]), np.array([[0.5, 1.0, 2.0], [0.0, 1.0, 0.0]]), np.zeros(0)]),
    (NDArray[np.intp], [np.array([0, 1]), np.array([[0, 1, 0], [1, 1, -1]]), np.zeros(0, int)]),
    (NDArray[np.bool_], [np.array([True, False]), np.array([[True, False], [False, True]]), np.zeros(0, bool)]),
    (NDArray[np.object_], [np.array(["cat", "dog"], object)]),
    (ArrayLike, [[0.5, 1.0], [[0, 1], [1, 0]]]),
    (Pairs, [PAIRS]),
    (np.random.Generator, [np.random.default_rng(0)]),
    (float, [0.5, 1.0]),
    (int, [0, 1, 3]),
    (bool, [True]),
    (str, ["a", "ann"]),
    (Path, [Path("out.json")]),
]
"""Type -> valid values for parameters of that type whose name has none."""

SEVERAL = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
"""Parameters that take any number of arguments."""

LONG = 10**5000
"""Number that Python refuses to write out."""

PLAIN = [
    None, True, False, 0, 1, -1, 5, 2**63, 10**9, 10**15, 10**400, 0.5, -0.5, 1e-320, 1e308, float("nan"),
    float("inf"), float("-inf"), 1 + 2j, "", " ", "a", "a\0b", "\ud800", "x" * 100_000, "nan", "ann", "cat", b"bytes",
    Decimal("NaN"), Fraction(1, 3), np.int64(5), np.float32(0.5), np.bool_(True), np.str_("a"), np.datetime64("2020"),
    (), (1, 2), frozenset({5}), range(3), Ellipsis, object(), int, Path("nowhere"), pd.NA, pd.Timestamp("2020"),
]  # fmt: skip
"""Values of all kinds that can be shared, because they are immutable."""

MADE = [
    list, dict, lambda: set(), lambda: [[]], lambda: [None], lambda: [float("nan")], lambda: ["a", "a"],
    lambda: [[1], [2, 3]], lambda: deep(2_000), lambda: {"a": {"a": {}}}, lambda: {1: None}, lambda: {None: 5},
    lambda: iter([1, 2]), lambda: (n for n in "ab"), lambda: np.zeros(0), lambda: np.zeros((2, 2)),
    lambda: np.zeros((0, 3)), lambda: np.full((2, 3), np.nan), lambda: np.array(["a", "b"]), lambda: np.array([1 + 2j]),
    lambda: np.zeros((1, 1, 1, 1)), lambda: np.array(5), lambda: np.array([None, 1], object), lambda: np.ma.array([1]),
    lambda: np.array([10**300, -(10**300)], float), lambda: np.array(["2020"], "datetime64[D]"), lambda: pd.DataFrame(),
    lambda: pd.DataFrame({"a": [1, None]}), lambda: pd.Series([1, 2]), lambda: scipy.sparse.csr_array((2, 2)),
    lambda: bytearray(b"ab"), lambda: ["x" * 100_000] * 3, lambda: {"x" * 100_000: 1}, lambda: [0.5] * 100_000,
    lambda: LONG, lambda: [10**400, LONG], lambda: np.array([2**63], np.uint64), lambda: [-1, 10**12],
]  # fmt: skip

wrong = st.one_of(
    st.sampled_from(PLAIN),
    st.sampled_from(MADE).map(lambda make: make()),
    st.sampled_from([ANNOTATIONS, AGREEMENT, LABELS, STACK, MODEL, VARIATIONS, PAIRS]),
)
nested = st.recursive(
    wrong,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from([1, 2, "a", "ann", "x", "cat", None, "a\0"]), inner, max_size=3),
        st.tuples(inner, inner),
    ),
    max_leaves=4,
)


def nearly(good: Any) -> st.SearchStrategy[Any]:
    """Return containers that are valid except in one place, at any depth."""
    value = list(good) if isinstance(good, tuple) else good
    return spoiled(value, nested, least=1, most=1) if isinstance(value, (list, dict)) and value else nested


def argument(right: list[Any], default: Any) -> st.SearchStrategy[Any]:
    """Return values for a parameter: valid, almost valid, or invalid."""
    good = [*right, *([] if default is Parameter.empty else [default])]
    if not good:
        return nested
    usual = st.sampled_from(good)
    return st.one_of(usual, usual, usual, usual.flatmap(nearly), nested)
