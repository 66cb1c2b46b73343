"""Opening a panel and clicking in it read no labels: views are stages, and numbers are stored by runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from pymongo.collection import Collection

import kalos_core.fiftyone as kf
import panels
from kalos_core import KalosWarning
from kalos_core.fiftyone.dataset.objects import read_labels
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import SCENES, make_samples
from tests.fiftyone_bridge.stacks import GOOD, small
from tests.plugin import Panel, Workbench

RATERS = ("ann", "bob", "cid")
TEAMS = {"experts": ["ann"], "others": ["bob", "cid"]}

IMAGES, FEWER = 300, 120
"""More than all values of the samples in the sample panel, and than those of the tables of a panel."""

Click = tuple[str, dict[str, Any]]
"""Event of the App."""

ACTS: dict[str, dict[str, dict[str, Any]]] = {
    "Raters": {
        "rater": {"rater": "bob"},
        "rate": {"rater": "bob", "kind": "splits"},
        "pair": {"raters": ["ann", "bob"]},
        "confusion": {"own": "cat", "other": "dog"},
        "person": {"name": "bob"},
    },
    "Variations": {
        "kind": {"name": "unmatched"},
        "rate": {"rater": "bob", "kind": "missing"},
        "copies": {},
        "apart": {"low": 0, "high": 0.1},
        "whole": {"finding": 0},
        "divided": {},
    },
    "Classes": {"category": {"name": "cat"}, "confusion": {"classes": ["cat", "dog"]}},
    "Images": {"alpha": {"low": 0, "high": 0.1}, "worst": {}, "open": {}},
}
"""Section drawn by the view -> its clicks, with what was clicked besides a sample."""
OF_MATCHED: dict[str, dict[str, Any]] = {"furthest": {}, "attribute": {"name": "grade"}, "open": {}}
"""Clicks in *Differences* that need a run with boundaries and attributes."""
FORMS = {"find", "load", "agree", "sheet"}
"""Clicks that open a form, or draw a few examples."""
FOLLOWS = ("Training list", "Guideline", "Results")
"""Sections with results of decisions."""
MOST_OF_ONE = 200
"""More than all values of a sample, as often as it is read for a dispute."""


DRAWN: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("objects", "Threshold"): [
        {"page": "Calibration", "similarity": "centroid_box"},
        {"click": "use", "similarity": "box_iou"},
        {"page": "Sensitivity"},
        {"click": "alpha", "threshold": 0.9},
        {"page": "Types", "level": 0.3},
    ],
    ("objects", "Ceiling"): [
        {"page": "Interval", "least": 0.7},
        {"click": "images"},
        {"click": "images", "tag": "day"},
        *({"page": page} for page in ("Subsets", "Raters", "Checks")),
    ],
    ("labels", "Questions"): [
        {"page": "Agreement"},
        {"click": "question", "name": "label"},
        {"page": "Concepts"},
        {"click": "concept", "name": "owl"},
        {"page": "Images"},
        {"click": "disputes"},
        {"page": "Raters", "question": "label"},
        {"click": "difference", "one": "ann", "other": "majority"},
        {"page": "Who is right", "rater": "bob"},
        {"click": "least_sure"},
        {"page": "Over time"},
    ],
    ("objects", "Noise"): [
        {"page": "Events"},
        {"click": "event", "kind": "split", "outcome": "done"},
        {"click": "stage", "name": "first three"},
        {"page": "Images"},
        {"click": "changed"},
        {"page": "Raters"},
        {"click": "rater", "field": "noise_synthetic_2"},
        *({"page": page} for page in ("Fidelity", "Loss", "Used")),
    ],
    ("truth", "Masks"): [
        {"page": "Raters", "category": "marked"},
        {"click": "rater", "name": "ann"},
        {"page": "Images"},
        *({"page": page} for page in ("Boundaries", "Divisions")),
        *({"click": click} for click in ("furthest", "least_alike")),
    ],
    ("labels", "Ranking"): [
        {"measure": "EER"},
        {"click": "difference", "one": "ann", "other": "bob"},
    ],
    ("truth", "Ranking"): [{"page": "Detectors"}, {"page": "Curves", "detector": "poor", "reference": "ann"}],
    ("truth", "Truth"): [{"consensus": "0.5"}],
    ("objects", "Truth"): [
        {"rater": "bob"},
        {"click": "rater", "name": "bob", "consensus": "one_coin 0.5"},
        *({"click": name} for name in ("least_sure", "estimate")),
    ],
    ("labels", "Teams"): [{}, {"click": "question", "name": "label"}],
}
"""Data set and section drawn by the view -> choices on its pages, and clicks."""


@pytest.fixture(scope="module")
def many() -> dict[str, fo.Dataset]:
    """Return a data set of each family of labels, with a run of each kind."""
    objects, labels, masks = (fo.Dataset() for _ in range(3))
    scenes = [{**scene, "cid": scene["ann"]} for scene in SCENES]
    objects.add_samples(make_samples(scenes * (IMAGES // len(scenes))), progress=False)
    objects.tag_samples("day")
    labels.add_samples([sample for _ in range(FEWER // 6) for sample in quiz()], progress=False)
    masks.add_samples([sample for _ in range(FEWER // 3) for sample in small()], progress=False)
    scores = [np.array([own]) for own in GOOD] * (FEWER // 3)
    masks.set_values("good", [fo.Heatmap(map=own) for own in scores])
    masks.set_values("poor", [fo.Heatmap(map=1 - own) for own in scores])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        kf.compute_agreement(objects, "agreement", raters=RATERS, bootstrap=20)
        kf.find_variations(objects, "variations", raters=RATERS)
        for number, (decision, rater) in enumerate((("take", "bob"), ("guideline", None))):
            (sample_id,) = objects.skip(1 + 6 * number).limit(1).values("id")
            (unit,) = kf.disputed_units(objects, "agreement", sample_id)
            kf.decide(objects, "agreement", unit.labels, decision, rater)
        kf.calibrate_threshold(objects, "calibration", raters=RATERS, similarities=["box_iou", "centroid_box"])
        kf.estimate_convergence(objects, "convergence", raters=RATERS, subsets=3, tags=True)
        kf.estimate_truth(objects, "right", raters=RATERS, model="one_coin")
        kf.inject_noise(objects, "noise", reference="ann", magnitude=[2, 5], raters=2)
        graded = {"metric": "ordinal", "order": ["cat", "dog", "owl"], "truth": "one_coin"}
        kf.compute_label_agreement(labels, "image_labels", raters=RATERS, bootstrap=20, teams=TEAMS, **graded)
        kf.rank_systems(labels, "ranking", systems=["net", "svm"], raters=RATERS)
        kf.compute_pixel_agreement(masks, "pixels", boundaries=True, divisions=True)
        kf.estimate_truth(masks, "truth", methods=["any", "0.5"])
        kf.rank_detectors(masks, "detectors", detectors=["good", "poor"])
    return {"labels": labels, "truth": masks, "objects": objects}


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record the number of values that each query for samples reads from the database."""
    found: list[int] = []
    aggregate, find = Collection.aggregate, Collection.find

    def counted(query: Any) -> Any:
        def ask(self: Any, *args: Any, **options: Any) -> Any:
            cursor = query(self, *args, **options)
            if not self.name.startswith("samples."):
                return cursor
            documents = list(cursor)
            found.append(sum(map(_values, documents)))
            return Documents(documents)

        return ask

    def find_one(self: Any, *args: Any, **options: Any) -> Any:
        document = next(iter(find(self, *args, **options).limit(1)), None)
        if self.name.startswith("samples."):
            found.append(_values(document))
        return document

    monkeypatch.setattr(Collection, "find_one", find_one)
    monkeypatch.setattr(Collection, "aggregate", counted(aggregate))
    monkeypatch.setattr(Collection, "find", counted(find))
    return found


class Documents(Iterator[Any]):
    """Results of a query, in place of a cursor that was read."""

    def __init__(self, documents: list[Any]) -> None:
        self.left = iter(documents)

    def __next__(self) -> Any:
        return next(self.left)

    def batch_size(self, _: int) -> Documents:
        return self


def _values(document: Any) -> int:
    if isinstance(document, dict):
        return sum(map(_values, document.values()))
    return sum(map(_values, document)) if isinstance(document, list) else 1


def test_labels_that_are_read_are_counted(many: dict[str, fo.Dataset], read: list[int]) -> None:
    many["objects"].values("ann.detections.label")
    assert sum(read) >= IMAGES
    read.clear()
    many["objects"].limit(1).first()
    assert 0 < sum(read) < IMAGES
    read.clear()
    read_labels(many["objects"], kf.Selection(raters=RATERS))
    assert sum(read) >= IMAGES


@pytest.mark.parametrize(("name", "section"), DRAWN)
def test_a_page_reads_no_labels(name: str, section: str, many: dict[str, fo.Dataset], read: list[int]) -> None:
    panel = Workbench(many[name])
    panel.send("on_load")
    panel.send("choose_section", value=section)
    for given in DRAWN[name, section]:
        read.clear()
        named = dict(given)
        click = named.pop("click", None)
        if click:
            panel.act(click, **named)
        else:
            assert panel.choose(**named).record, given
        assert not panel.state.get("problem"), given
        assert sum(read) < len(panel.dataset), given


@pytest.fixture
def outlined() -> fo.Dataset:
    """Return two raters with an outline each on every image, matched and compared."""
    dataset = fo.Dataset()
    points = [[(0.1, 0.1), (0.6, 0.1), (0.6, 0.6), (0.1, 0.6)]]
    size = fo.ImageMetadata(width=100, height=100)

    def outline(grade: int) -> fo.Polylines:
        given = {"closed": True, "filled": True, "grade": grade, "side": "left"}
        return fo.Polylines(polylines=[fo.Polyline(label="cat", points=points, **given)])

    dataset.add_samples(  # FiftyOne rereads those that a name keeps alive
        [
            fo.Sample(f"{number}.jpg", metadata=size, raters=["ann", "bob"], ann=outline(number % 3), bob=outline(1))
            for number in range(FEWER)
        ],
        progress=False,
    )
    options = {"raters": ("ann", "bob"), "similarity": "polygon_iou"}
    attributes = ["grade", "side"]
    kf.compute_agreement(dataset, "first", boundaries=True, attributes=attributes, bootstrap=20, **options)
    kf.find_variations(dataset, "first_variations", **options)
    return dataset


def test_outlines_and_attributes_are_compared_without_reading_a_label(outlined: fo.Dataset, read: list[int]) -> None:
    panel = Workbench(outlined)
    _act(panel, "Variations", OF_MATCHED, read)
    assert len(panel.record["outlines"]["in_pixels"]["images"]) == 25
    assert [len(of["rows"]) for of in panel.record["attributes"]] == [10, 0]


@pytest.mark.parametrize("section", ACTS)
def test_a_section_that_the_view_draws_reads_no_labels(
    section: str, many: dict[str, fo.Dataset], read: list[int]
) -> None:
    _act(Workbench(many["objects"]), section, ACTS[section], read)
    more = OF_MATCHED if section == "Variations" else {}
    own = type(panels.table.BY_NAME[section])
    clicks_of = {name for name in dir(own) if getattr(getattr(own, name), "is_click", False)}
    assert clicks_of == {*ACTS[section], *more, *(FORMS & clicks_of)}


def test_whoever_decides_reads_the_samples_that_are_shown(many: dict[str, fo.Dataset], read: list[int]) -> None:
    dataset = many["objects"]
    first, other = dataset.skip(3).first().id, dataset.skip(7).first().id
    panel = Workbench(dataset, current_sample=first)
    _send(panel, [("on_load", {}), *(("choose_section", {"value": name}) for name in FOLLOWS)], read)
    read.clear()
    panel.send("choose_section", value="Decide")
    queue = panel.record["queue"]
    asked = {"run": queue["run"], "variations": queue["variations"], "part": {"category": None, "rater": None}}
    assert sum(read) < MOST_OF_ONE * len(queue["disputes"])
    read.clear()
    disputes = panel.ask("disputes", **asked, after=other)["disputes"]
    assert sum(read) < MOST_OF_ONE * len(disputes)
    one = queue["disputes"][0]
    wanted = {"decision": "none", "rater": None, "note": "", "who": "", "when": None}
    for name, panel.name in (("decide", "raters"), ("on_load", "sample"), ("following", "sample")):
        read.clear()
        panel.post(name, **asked, **wanted, sample=one["sample"], labels=one["labels"], after=other)
        assert sum(read) < len(dataset), name


def _send(panel: Panel, steps: Iterable[Click], read: list[int]) -> None:
    images = len(panel.dataset)
    for method, params in steps:
        read.clear()
        panel.send(method, **params)
        assert not panel.state.get("problem"), method
        assert sum(read) < images, method


def _act(panel: Workbench, section: str, acts: dict[str, dict[str, Any]], read: list[int]) -> None:
    """Choose a section, then click everything in it."""
    images = len(panel.dataset)
    panel.load()
    sample = panel.dataset.first().id
    _send(panel, [("choose_section", {"value": section})], read)
    for click, clicked in acts.items():
        read.clear()
        panel.act(click, sample=sample, **clicked)
        assert not panel.state.get("problem"), (click, panel.state["problem"])
        assert sum(read) < images, click
