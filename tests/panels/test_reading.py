"""Neither opening a panel nor a click in it reads labels: views are stages, and numbers are those that runs stored."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from pymongo.collection import Collection

import kalos_core.fiftyone as kf
import panels
from kalos_core import KalosWarning
from panels.parts.events import handlers
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import SCENES, make_samples
from tests.fiftyone_bridge.stacks import GOOD, small
from tests.plugin import Panel

RATERS = ("ann", "bob", "cid")
TEAMS = {"experts": ["ann"], "others": ["bob", "cid"]}

IMAGES = 300
"""More than all values that the tables of a panel show."""

Click = tuple[str, dict[str, Any]]

OUTLINES: list[Click] = [("variations_click_image", {"row": 0}), ("variations_show_worst", {})]

ATTRIBUTES: list[Click] = [
    ("choose_page", {"value": "Attributes"}),
    ("variations_click_attribute", {"row": 0}),
    ("variations_change_attribute", {"value": "grade"}),
    ("variations_show_attribute", {}),
]

SECTIONS: dict[str, list[Click]] = {
    "Variations": [
        ("variations_click_bar", {"idx": 0}),
        ("variations_click_rater", {"row": 0, "column": 2}),
        ("choose_page", {"value": "Outlines"}),
        ("variations_click_boundary", {"idx": 0}),
        ("variations_show_copies", {}),
        *OUTLINES,
        ("choose_page", {"value": "Merged"}),
        ("variations_click_merged", {"row": 0}),
        ("variations_show_merged", {}),
        ("choose_page", {"value": "Confusions"}),
        ("variations_click_confusion", {"row": 0}),
        *ATTRIBUTES,
    ],
    "Threshold": [
        ("threshold_click_similarity", {"row": 1}),
        ("threshold_use", {}),
        ("choose_page", {"value": "Sensitivity"}),
        ("threshold_click_alpha", {"x": 0.9}),
        ("choose_page", {"value": "Types"}),
        ("threshold_on_change_level", {"value": "0.3"}),
        ("threshold_click_level", {"x": 0.7}),
    ],
    "Ceiling": [
        ("ceiling_on_change_least", {"value": 0.7}),
        ("ceiling_on_change_greatest", {"value": 0.8}),
        ("ceiling_place", {}),
        ("ceiling_click_bar", {"y": 1}),
        ("ceiling_click_part", {"row": 1}),
        ("choose_page", {"value": "Subsets"}),
        ("ceiling_on_change_pool", {"value": "this data set alone"}),
        ("choose_page", {"value": "Checks"}),
    ],
    "Noise": [
        ("choose_page", {"value": "Images"}),
        ("noise_click_event", {"idx": 4, "trace_idx": 0}),
        ("noise_click_stage", {"row": 0}),
        ("noise_click_image", {"y": 0}),
        ("choose_page", {"value": "Raters"}),
        ("noise_click_rater", {"row": 1}),
        ("noise_show_changed", {}),
    ],
    "Questions": [
        ("questions_click_kappa", {"y": 0}),
        ("questions_click_row", {"row": 0}),
        ("questions_click_grades", {"row": 0}),
        ("choose_page", {"value": "Concepts"}),
        ("questions_click_concept", {"y": 0}),
        ("choose_page", {"value": "Images"}),
        ("questions_show_disputes", {}),
        ("questions_click_dot", {"y": 0}),
        ("questions_click_image", {"row": 0}),
        ("choose_page", {"value": "Raters"}),
        ("questions_click_accuracy", {"x": 0, "y": 3}),
        ("questions_change_question", {"value": "label"}),
        ("choose_page", {"value": "Who is right"}),
        ("questions_click_skill", {"y": 0}),
        ("questions_show_least_sure", {}),
        ("questions_change_judge", {"value": "1"}),
        ("questions_estimate", {}),
    ],
    "Teams": [
        ("teams_change_team_question", {"value": "label"}),
        ("teams_click_row", {"row": 0}),
        ("teams_click_bar", {"idx": 0}),
    ],
    "Masks": [
        ("masks_change_mask_class", {"value": "marked"}),
        ("masks_click_tree", {"y": 0}),
        ("masks_click_rater", {"row": 0}),
        ("choose_page", {"value": "Images"}),
        ("masks_click_image", {"row": 0}),
        ("choose_page", {"value": "Boundaries"}),
        ("masks_show_worst", {}),
        ("choose_page", {"value": "Divisions"}),
        ("masks_show_worst", {}),
    ],
    "Truth": [("truth_click_consensus", {"row": 1})],
    "Decide": [
        ("decide_change_kind", {"value": "agreement"}),
        ("decide_open_next", {}),
        ("decide_click_queued", {"row": 0}),
        ("decide_show_queue", {"which": "open"}),
        ("decide_show_queue", {"which": "waiting"}),
        ("choose_page", {"value": "Training list"}),
        ("decide_click_trained", {"row": 0}),
        ("choose_page", {"value": "Guideline"}),
        ("decide_click_asked", {"row": 0}),
        ("choose_page", {"value": "Results"}),
    ],
    "Ranking": [
        ("ranking_change_measure", {"value": "EER"}),
        ("ranking_click_tau", {"x": 0, "y": 1}),
        ("ranking_click_reference", {"x": 0}),
    ],
}
"""Section -> what can be clicked."""
OBJECTS: list[Click] = [
    ("truth_change_truth_rater", {"value": "1"}),
    ("truth_click_skill", {"y": 0}),
    ("truth_show_least_sure", {}),
    ("truth_estimate", {}),
]
DETECTORS: list[Click] = [
    ("choose_page", {"value": "Curves"}),
    ("ranking_change_detector", {"value": "poor"}),
    ("ranking_change_reference", {"value": "ann"}),
]
SAMPLE: list[Click] = [
    ("on_change_current_sample", {}),
    ("click_unit", {"row": 0}),
    ("click_merged", {"row": 0}),
    ("choose_dispute", {"place": 0}),
    ("decide", {"decision": "none"}),
]
GOING_ON: list[Click] = [
    ("on_change_current_sample", {}),
    ("undo", {}),
    ("all_disputes", {}),
    ("next", {}),
    ("on_change_analysis", {"value": "agreement"}),
]
"""On the sample that the decision has opened."""


@pytest.fixture(scope="module")
def many() -> Iterator[dict[str, fo.Dataset]]:
    """A data set of each family of labels, with a run of each kind."""
    objects, labels, masks = (fo.Dataset() for _ in range(3))
    scenes = [{**scene, "cid": scene["ann"]} for scene in SCENES]
    objects.add_samples(make_samples(scenes * (IMAGES // len(scenes))), progress=False)
    objects.tag_samples("day")
    labels.add_samples([sample for _ in range(IMAGES // 6) for sample in quiz()], progress=False)
    masks.add_samples([sample for _ in range(IMAGES // 3) for sample in small()], progress=False)
    scores = [np.array([own]) for own in GOOD] * (IMAGES // 3)
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
    yield {"labels": labels, "truth": masks, "objects": objects}
    for dataset in (objects, labels, masks):
        for key in kf.list_runs(dataset):
            kf.delete_run(dataset, key)
        dataset.delete()


@pytest.fixture(autouse=True)
def nothing_stays(many: dict[str, fo.Dataset]) -> None:
    """What is made for all tests here goes at the end."""
    assert len(many["objects"]) == len(many["labels"]) == len(many["truth"]) == IMAGES


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
    kf.read_labels(many["objects"], kf.Selection(raters=RATERS))
    assert sum(read) >= IMAGES


@pytest.mark.parametrize(
    ("name", "section", "clicks"),
    [
        ("objects", "Noise", SECTIONS["Noise"]),
        ("objects", "Decide", SECTIONS["Decide"]),
        ("labels", "Questions", SECTIONS["Questions"]),
        ("labels", "Teams", SECTIONS["Teams"]),
        ("labels", "Ranking", SECTIONS["Ranking"]),
        ("truth", "Masks", SECTIONS["Masks"]),
        ("truth", "Truth", SECTIONS["Truth"]),
        ("objects", "Truth", OBJECTS),
        ("truth", "Ranking", DETECTORS),
    ],
)
def test_a_section_reads_no_labels(
    name: str, section: str, clicks: list[Click], many: dict[str, fo.Dataset], read: list[int]
) -> None:
    panel = Panel("raters", many[name])
    _send(panel, [("on_load", {}), ("choose_section", {"value": section}), *clicks], read)
    assert panel.state["run"]
    assert panel.state["section"] == section


@pytest.fixture
def outlined() -> Iterator[fo.Dataset]:
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
            for number in range(IMAGES)
        ],
        progress=False,
    )
    options = {"raters": ("ann", "bob"), "similarity": "polygon_iou"}
    attributes = ["grade", "side"]
    kf.compute_agreement(dataset, "first", boundaries=True, attributes=attributes, bootstrap=20, **options)
    kf.find_variations(dataset, "first_variations", **options)
    yield dataset
    dataset.delete()


def test_outlines_are_compared_without_reading_a_label(outlined: fo.Dataset, read: list[int]) -> None:
    steps = [("on_load", {}), ("choose_section", {"value": "Variations"}), ("choose_page", {"value": "Outlines"})]
    panel = Panel("raters", outlined)
    _send(panel, [*steps, *OUTLINES], read)
    assert len(panel.rows("paired_images")) == 25


def test_attributes_are_compared_without_reading_a_label(outlined: fo.Dataset, read: list[int]) -> None:
    panel = Panel("raters", outlined)
    _send(panel, [("on_load", {}), ("choose_section", {"value": "Variations"}), *ATTRIBUTES], read)
    assert len(panel.rows("attribute_images")) == 25


@pytest.mark.parametrize("name", SECTIONS)
def test_every_handler_of_a_section_is_tried(name: str) -> None:
    (section,) = [each for each in panels.workbench.SECTIONS if name == each.NAME]
    clicks = SECTIONS[name] + DETECTORS * (name == "Ranking") + OBJECTS * (name == "Truth")
    assert {f"{name.lower()}_{own}" for own in handlers(section)} == {method for method, _ in clicks} - {"choose_page"}


def test_the_panel_of_a_sample_reads_that_one(many: dict[str, fo.Dataset], read: list[int]) -> None:
    sample = many["objects"].skip(3).first().id
    panel = Panel("sample", many["objects"], current_sample=sample)
    _send(panel, [("on_load", {}), *SAMPLE], read)
    panel.request["current_sample"] = many["objects"].skip(7).first().id
    _send(panel, GOING_ON, read)


def test_every_handler_of_the_panel_of_a_sample_is_tried() -> None:
    tried = {method for method, _ in SAMPLE + GOING_ON}
    assert set(handlers(panels.SamplePanel())) == tried | {"reload", "compute"}  # loaded by `on_load`; a form


def _send(panel: Panel, steps: list[Click], read: list[int]) -> None:
    for method, params in steps:
        read.clear()
        panel.send(method, **params)
        assert not panel.state.get("problem"), method
        assert sum(read) < IMAGES, method
