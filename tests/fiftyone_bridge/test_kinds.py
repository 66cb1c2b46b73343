"""Every kind of run, walked through the table: what each promises, and what a look at it reads."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
import yaml
from fiftyone.core.odm import get_db_conn

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.runs.records import plain
from panels.sections import SECTIONS
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.quiz import RATERS as QUIZ_RATERS
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import THREE, crowded, documents, make_samples
from tests.fiftyone_bridge.stacks import add_maps, small

MANIFEST = yaml.safe_load((Path(__file__).parents[2] / "fiftyone.yml").read_text(encoding="utf-8"))

KEY = "run"


def _with_next(run: kf.Run, data: fo.Dataset) -> kf.Run:
    kf.next_to_rate(data, KEY)
    return run


QUIZ: dict[str, Any] = {"raters": QUIZ_RATERS, "groups": "label"}

SAMPLES: dict[str, Callable[[], list[fo.Sample]]] = {
    **dict.fromkeys(
        ("agreement", "variations", "calibration", "convergence", "noise"), lambda: make_samples(crowded(0, 40))
    ),
    **dict.fromkeys(("image_labels", "ranking"), quiz),
    **dict.fromkeys(("pixels", "truth", "detectors"), small),
}
MAKE: dict[str, Callable[[fo.Dataset], kf.Run]] = {
    "agreement": lambda data: _with_next(kf.compute_agreement(data, KEY, raters=THREE), data),
    "variations": lambda data: kf.find_variations(data, KEY, raters=THREE),
    "calibration": lambda data: kf.calibrate_threshold(data, KEY, raters=THREE, similarities=["box_iou"]),
    "convergence": lambda data: kf.estimate_convergence(data, KEY, raters=THREE, subsets=4, fraction=0.5),
    "noise": lambda data: kf.inject_noise(data, KEY, reference="ann", raters=2),
    "image_labels": lambda data: kf.compute_label_agreement(data, KEY, truth="one_coin", **QUIZ),
    "ranking": lambda data: kf.rank_systems(data, KEY, systems=["net", "svm"], **QUIZ),
    "pixels": lambda data: kf.compute_pixel_agreement(data, KEY),
    "truth": lambda data: kf.estimate_truth(data, KEY, methods=["any", "0.5"]),
    "detectors": lambda data: kf.rank_detectors(data, KEY, detectors=["good", "poor"], skew=(0.1, 0.5)),
}
ARGUMENTS: dict[tuple[str, str], tuple[Any, ...]] = {
    ("agreement", "alpha"): (-1.0, 0.5),
    ("agreement", "worst first"): (),
    ("agreement", "class"): ("cat",),
    ("agreement", "pair"): ("ann", "bob"),
    ("agreement", "threshold"): (0.9,),
    ("agreement", "next to rate"): (),
    ("variations", "variation"): ("additional",),
    ("variations", "confusion"): ("cat", "dog"),
    ("variations", "boundary"): (0.5, 0.9),
    ("variations", "copies"): (),
    ("variations", "findings"): (("missing", "wrong_class"),),
    ("variations", "merged"): (),
    ("convergence", "tag"): ("empty",),
    ("image_labels", "disputes"): (),
    ("image_labels", "difference"): ("ann", "bob"),
    ("image_labels", "least sure first"): (),
    ("ranking", "difference"): ("ann", "bob"),
    ("pixels", "rater"): ("ann",),
    ("noise", "event"): ("shift",),
    ("noise", "changes"): (),
}

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")
MADE_OF_RUNS = {"resolved"}
"""Kinds that are made of another run, not of the labels of a view: tests/fiftyone_bridge/test_deciding.py has them."""

every_kind = pytest.mark.parametrize("kind", [name for name in kf.KINDS if name not in MADE_OF_RUNS])


@pytest.fixture
def made(make: Make, kind: str) -> Iterator[tuple[fo.Dataset, dict[str, Any], kf.Run]]:
    """A data set with a run of a kind, and what the data set held before."""
    dataset = make(SAMPLES[kind]())
    if kind == "detectors":
        add_maps(dataset)
    before = documents(dataset)
    yield dataset, before, MAKE[kind](dataset)
    if KEY in kf.list_runs(dataset):
        kf.delete_run(dataset, KEY)  # with the files it wrote


@contextmanager
def counting(dataset: fo.Dataset) -> Iterator[dict[str, int]]:
    """Count the answers and the bytes of samples that the database itself says it has sent."""
    database, counted = get_db_conn(), {"answers": 0, "bytes": 0}
    database.command("profile", 0)
    database.drop_collection("system.profile")
    database.command("profile", 2)
    try:
        yield counted
    finally:
        database.command("profile", 0)
        asked = {"ns": f"{database.name}.{dataset._sample_collection_name}"}
        for entry in database["system.profile"].find(asked):
            counted["answers"] += entry.get("nreturned", 0)
            counted["bytes"] += entry.get("responseLength", 0)
        database.drop_collection("system.profile")


def test_what_is_read_is_counted(make: Make) -> None:
    dataset = make()
    with counting(dataset) as read:
        dataset.values("ann.detections.id")
    assert read["answers"] == len(dataset)
    assert read["bytes"] > 500


def test_the_table_names_what_there_is() -> None:
    """Every kind has an operator and a panel, a function with the operator's name, and every view its name here."""
    for name, kind in kf.KINDS.items():
        assert kind.name == name
        assert kind.title
        assert kind.operator in MANIFEST["operators"]
        assert kind.section in {*MANIFEST["panels"], *(section.NAME for section in SECTIONS)}
        assert callable(getattr(kf, kind.operator))
        assert "run" in inspect.signature(importlib.import_module(kind.figures).figures).parameters
    views = {(name, view) for name, kind in kf.KINDS.items() for view in kind.views}
    assert views == set(ARGUMENTS)
    assert set(kf.KINDS) - MADE_OF_RUNS == set(MAKE)


@every_kind
def test_its_life(made: tuple[fo.Dataset, dict[str, Any], kf.Run], kind: str) -> None:
    """Listed, loaded with the same numbers, and gone without a trace."""
    dataset, before, run = made
    assert kf.list_runs(dataset) == kf.list_runs(dataset, kind) == [KEY]
    assert [found.metrics for found in kf.list_runs(dataset, info=True)] == [run.metrics]
    loaded = kf.load_run(dataset, KEY)
    assert loaded.kind == kind
    assert loaded.stale == ()
    assert type(loaded.result) is type(run.result)
    assert json.loads(json.dumps(loaded.metrics)) == json.loads(json.dumps(run.metrics))
    assert plain(loaded.details) == json.loads(json.dumps(plain(run.details)))
    assert loaded.settings == run.settings
    assert loaded.written == run.written
    assert kf.stale_samples(dataset, KEY) == []
    if kf.KINDS[kind].fixed_because:
        with pytest.raises(InputError, match="can be renamed"):
            kf.rename_run(dataset, KEY, "other")
    else:
        kf.rename_run(dataset, KEY, "other")
        assert kf.load_metrics(dataset, "other").metrics == run.metrics
        kf.rename_run(dataset, "other", KEY)
    kf.delete_run(dataset, KEY)
    assert documents(dataset) == before
    assert dataset.list_runs() == []


@every_kind
def test_what_it_shows_and_leads_to_reads_no_labels(made: tuple[fo.Dataset, dict[str, Any], kf.Run], kind: str) -> None:
    """All that a panel asks for: its figures, the state of the run, and the views of its clicks with their counts."""
    dataset = made[0]
    sizes = {}
    with counting(dataset) as opened:
        kf.list_runs(dataset)
        parts = kf.figures_of(kf.load_details(dataset, KEY))
        assert kf.count_changes(dataset, KEY) == 0
    assert all(isinstance(part, kf.Part) and (part.figure is not None or part.title) for part in parts.values())
    with counting(dataset) as clicked:
        for name, view_of in kf.KINDS[kind].views.items():
            view = view_of(dataset, KEY, *ARGUMENTS[kind, name])
            sizes[name] = len(json.dumps(view._serialize(), default=str))
            assert len(view) <= len(dataset)
    assert opened["answers"] <= 2  # what was deleted or edited since is counted, in the database
    assert opened["bytes"] < 1_000
    assert clicked["answers"] <= len(sizes)  # the size of each view
    assert clicked["bytes"] <= 500 * len(sizes)
    assert all(size < 10_000 for size in sizes.values()), sizes


@every_kind
def test_a_label_that_was_edited_is_stale(made: tuple[fo.Dataset, dict[str, Any], kf.Run]) -> None:
    """Of one image, whatever was stored; a tag is no edit of a label."""
    dataset = made[0]
    dataset.limit(1).tag_samples("seen")
    assert kf.stale_samples(dataset, KEY) == []
    sample = dataset.first()
    label = sample["ann"]
    if isinstance(label, fo.Segmentation):
        label.mask = 1 - label.mask
    elif isinstance(label, fo.Detections):
        label.detections = label.detections[1:]
    else:
        label.label = "dog"
    sample.save()
    assert kf.count_changes(dataset, KEY) == 1
    assert kf.stale_samples(dataset, KEY) == [sample.id]
    assert kf.load_run(dataset, KEY).stale == (sample.id,)


@every_kind
def test_deleted_samples_are_stale(made: tuple[fo.Dataset, dict[str, Any], kf.Run]) -> None:
    dataset = made[0]
    gone = dataset.first().id
    dataset.delete_samples([gone])
    assert kf.count_changes(dataset, KEY) == 1
    assert kf.stale_samples(dataset, KEY) == [gone]
