"""Neither opening a panel nor a click in it reads labels: views are stages, and numbers are those that runs stored."""

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
from panels.parts.events import handlers
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import SCENES, make_samples
from tests.fiftyone_bridge.stacks import GOOD, small
from tests.plugin import Panel, Workbench

RATERS = ("ann", "bob", "cid")
TEAMS = {"experts": ["ann"], "others": ["bob", "cid"]}

IMAGES, FEWER = 300, 120
"""More than all values of the samples that the panel beside them shows, and than those of the tables of a panel."""

Click = tuple[str, dict[str, Any]]
Page = list[str | Click]
"""Names of handlers, or names with what the App sends besides `ANYWHERE`."""

ANYWHERE = {"row": 0, "column": 2, "idx": 0, "trace_idx": 0, "x": 0, "y": 0, "place": 0}

SECTIONS: dict[str, dict[str, Page]] = {
    "Variations": {
        "Types": ["click_bar", "click_rater"],
        "Outlines": ["click_boundary", "show_copies"],
        "Merged": ["click_merged", "show_merged"],
        "Confusions": ["click_confusion"],
    },
    "Threshold": {
        "Calibration": [("click_similarity", {"row": 1}), "use"],
        "Sensitivity": [("click_alpha", {"x": 0.9})],
        "Types": [("on_change_level", {"value": "0.3"}), ("click_level", {"x": 0.7})],
    },
    "Ceiling": {
        "Interval": [
            ("on_change_least", {"value": 0.7}),
            ("on_change_greatest", {"value": 0.8}),
            ("click_bar", {"y": 1}),
            ("click_part", {"row": 1}),
            "place",
        ],
        "Subsets": [("on_change_pool", {"value": "this data set alone"})],
        "Checks": [],
    },
    "Noise": {
        "Events": [("click_event", {"idx": 4}), "click_stage"],
        "Images": ["click_image"],
        "Raters": [("click_rater", {"row": 1}), "show_changed"],
    },
    "Questions": {
        "Agreement": ["click_kappa", "click_row", "click_grades"],
        "Concepts": ["click_concept"],
        "Images": ["show_disputes", "click_dot", "click_image"],
        "Raters": [("click_accuracy", {"y": 3}), ("change_question", {"value": "label"})],
        "Who is right": ["click_skill", "show_least_sure", ("change_judge", {"value": "1"}), "estimate"],
    },
    "Teams": {"": [("change_team_question", {"value": "label"}), "click_row", "click_bar"]},
    "Masks": {
        "Raters": [("change_mask_class", {"value": "marked"}), "click_tree", "click_rater"],
        "Images": ["click_image"],
        "Boundaries": ["show_worst"],
        "Divisions": ["show_worst"],
    },
    "Truth": {"": [("click_consensus", {"row": 1})]},
    "Ranking": {"": [("change_measure", {"value": "EER"}), ("click_tau", {"y": 1}), "click_reference"]},
}
"""Section -> page -> what can be clicked."""
OBJECTS: dict[str, Page] = {"": [("change_truth_rater", {"value": "1"}), "click_skill", "show_least_sure", "estimate"]}
MATCHED: dict[str, Page] = {
    "Outlines": ["click_image", "show_worst"],
    "Attributes": ["click_attribute", ("change_attribute", {"value": "grade"}), "show_attribute"],
}
DETECTORS: dict[str, Page] = {
    "Curves": [("change_detector", {"value": "poor"}), ("change_reference", {"value": "ann"})]
}
FOLLOWS = ("Training list", "Guideline", "Results")
"""Sections of what was decided."""

MOST_OF_ONE = 200
"""More than all values of a sample, as often as it is read for a dispute."""


def clicks(page: Page, prefix: str = "") -> Iterator[Click]:
    for entry in page:
        name, more = (entry, {}) if isinstance(entry, str) else entry
        yield f"{prefix}{name}", {**ANYWHERE, **more}


def steps(section: str, pages: dict[str, Page]) -> Iterator[Click]:
    """A section is chosen, then each of its pages, on which everything is clicked."""
    yield "on_load", {}
    yield "choose_section", {"value": section}
    for page, own in pages.items():
        if page:
            yield "choose_page", {"value": page}
        yield from clicks(own, f"{section.lower()}_")


@pytest.fixture(scope="module")
def many() -> dict[str, fo.Dataset]:
    """A data set of each family of labels, with a run of each kind."""
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
    """How many values each query for samples brings from the database."""
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
    """What a query answered, in place of a cursor that was read."""

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


@pytest.mark.parametrize(
    ("name", "section", "pages"),
    [
        *(("objects", name, SECTIONS[name]) for name in ("Variations", "Threshold", "Ceiling", "Noise")),
        *(("labels", name, SECTIONS[name]) for name in ("Questions", "Teams", "Ranking")),
        *(("truth", name, SECTIONS[name]) for name in ("Masks", "Truth")),
        ("objects", "Truth", OBJECTS),
        ("truth", "Ranking", DETECTORS),
    ],
)
def test_a_section_reads_no_labels(
    name: str, section: str, pages: dict[str, Page], many: dict[str, fo.Dataset], read: list[int]
) -> None:
    panel = Workbench(many[name])
    _send(panel, steps(section, pages), read)
    assert panel.state["run"]
    assert panel.state["section"] == section


@pytest.fixture
def outlined() -> fo.Dataset:
    """Two raters with an outline each on every image, matched and compared."""
    dataset = fo.Dataset()
    points = [[(0.1, 0.1), (0.6, 0.1), (0.6, 0.6), (0.1, 0.6)]]
    size = fo.ImageMetadata(width=100, height=100)

    def outline(grade: int) -> fo.Polylines:
        given = {"closed": True, "filled": True, "grade": grade, "side": "left"}
        return fo.Polylines(polylines=[fo.Polyline(label="cat", points=points, **given)])

    dataset.add_samples(  # FiftyOne reads those again that a name keeps
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
    for page, table in (("Outlines", "paired_images"), ("Attributes", "attribute_images")):
        panel = Workbench(outlined)
        _send(panel, steps("Variations", {page: MATCHED[page]}), read)
        assert len(panel.rows(table)) == 25


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


def test_every_handler_is_tried() -> None:
    for section in panels.table.every_section():
        if section.NAME in SECTIONS:
            more = {"Variations": MATCHED, "Ranking": DETECTORS, "Truth": OBJECTS}.get(section.NAME, {})
            pages = [*SECTIONS[section.NAME].values(), *more.values()]
            assert set(handlers(section)) == {name for page in pages for name, _ in clicks(page)}


def _send(panel: Panel, steps: Iterable[Click], read: list[int]) -> None:
    images = len(panel.dataset)
    for method, params in steps:
        read.clear()
        panel.send(method, **params)
        assert not panel.state.get("problem"), method
        assert sum(read) < images, method
