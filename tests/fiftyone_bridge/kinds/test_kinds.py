"""Promises of every kind of run, and reads when it is opened."""

import importlib
import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import fiftyone as fo
import pytest
import yaml

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.fiftyone.runs.table import Part, Run
from kalos_core.results import plain_values
from panels.table import BY_NAME
from tests.fiftyone_bridge.quiz import RATERS as QUIZ_RATERS
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.scenes import THREE, counting, crowded, documents, make_samples
from tests.fiftyone_bridge.stacks import mapped, small

MANIFEST = yaml.safe_load((Path(__file__).parents[3] / "fiftyone.yml").read_text(encoding="utf-8"))

KEY = "run"
MADE_OF_RUNS = {"resolved"}
"""Kinds made from another run instead of labels; tests/fiftyone_bridge/deciding tests them."""

FROM_LABELS = [name for name in kf.KINDS if name not in MADE_OF_RUNS]

CROWD = ("agreement", "variations", "calibration", "convergence", "noise")
SAMPLES: dict[str, Callable[[], list[fo.Sample]]] = {
    **dict.fromkeys(CROWD, lambda: make_samples(crowded(0, 16))),
    **dict.fromkeys(("image_labels", "ranking"), quiz),
    **dict.fromkeys(("pixels", "truth"), small),
    "detectors": mapped,
}
QUIZ: dict[str, Any] = {"raters": QUIZ_RATERS, "groups": "label"}
SETTINGS: dict[str, dict[str, Any]] = {
    "agreement": {"raters": THREE},
    "variations": {"raters": THREE},
    "calibration": {"raters": THREE, "similarities": ["box_iou"]},
    "convergence": {"raters": THREE, "subsets": 4, "fraction": 0.5},
    "noise": {"reference": "ann", "raters": 2},
    "image_labels": {"truth": "one_coin", **QUIZ},
    "ranking": {"systems": ["net", "svm"], **QUIZ},
    "pixels": {},
    "truth": {"methods": ["any", "0.5"]},
    "detectors": {"detectors": ["good", "poor"], "skew": (0.1, 0.5)},
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


class Made(NamedTuple):
    kind: str
    dataset: fo.Dataset
    before: tuple[Any, Any]
    """Documents and fields before the run."""
    run: Run


@pytest.fixture(scope="module", params=FROM_LABELS)
def made(request, make_once):
    kind = request.param
    dataset = make_once(SAMPLES[kind])
    before = documents(dataset), dataset.get_field_schema(flat=True).keys()
    run = kf.KINDS[kind].compute(dataset, KEY, **SETTINGS[kind])
    if run.written == "nothing on samples or labels":
        assert documents(dataset) == before[0]
    if kind == "agreement":
        kf.next_to_rate(dataset, KEY, write=True)
    return Made(kind, dataset, before, run)


def test_records_that_are_read_are_counted(unchanged):
    with counting(unchanged) as read:
        unchanged.values("ann.detections.id")
    assert read["answers"] == len(unchanged)
    assert read["bytes"] > 500


def test_the_table_names_an_operator_a_section_figures_and_views():
    for name, kind in kf.KINDS.items():
        assert (kind.name, bool(kind.title)) == (name, True)
        assert kind.operator in MANIFEST["operators"]
        assert kind.section in {*MANIFEST["panels"], *BY_NAME}
        assert callable(getattr(kf, kind.operator))
        assert "run" in inspect.signature(importlib.import_module(kind.figures).figures).parameters
    assert {(name, view) for name, kind in kf.KINDS.items() for view in kind.views} == set(ARGUMENTS)
    assert set(FROM_LABELS) == set(SETTINGS)


def test_opening_it_reads_no_labels(made):
    """Test everything that a panel requests: plots, the state of the run, and views of its clicks with counts."""
    dataset, ids = made.dataset, made.dataset.values("id")
    with counting(dataset) as opened:
        kf.list_runs(dataset)
        parts = kf.figures_of(kf.load_details(dataset, KEY))
        assert count_changes(dataset, KEY) == 0
    assert all(isinstance(part, Part) and (part.figure is not None or part.title) for part in parts.values())
    views = kf.KINDS[made.kind].views
    with counting(dataset) as clicked:
        shown = {name: view_of(dataset, KEY, *ARGUMENTS[made.kind, name]) for name, view_of in views.items()}
        assert all(len(view) <= len(dataset) for view in shown.values())
    assert opened["answers"] <= 2  # the database counts deleted and edited labels
    assert opened["bytes"] < 1_000
    assert clicked["answers"] <= len(views) + 1  # the size of each view, and whether it is sorted
    assert clicked["bytes"] <= 500 * len(views)
    texts = {name: json.dumps(view._serialize(), default=str) for name, view in shown.items()}
    assert [name for name, text in texts.items() if len(text) > 10_000 or any(key in text for key in ids)] == []


def test_a_report_draws_it_with_and_without_scripts(made, tmp_path):
    path = kf.report(made.dataset, KEY, tmp_path / "report.html")
    still = path.read_text(encoding="utf-8")
    assert "<script" not in still
    assert made.kind == "agreement" or kf.KINDS[made.kind].title in still
    alive = kf.report(made.dataset, KEY, path, interactive=True).read_text(encoding="utf-8")
    assert alive.count('class="live"') == still.count("Formula and source") > 0


def test_edited_and_deleted_samples_are_stale(made):
    """This holds for any kind of results; a tag is not an edit of a label."""
    dataset = made.dataset.clone()
    dataset.limit(1).tag_samples("seen")
    assert kf.stale_samples(dataset, KEY) == []
    first, deleted = dataset.first(), dataset.last().id
    label = first["ann"]
    if isinstance(label, fo.Segmentation):
        label.mask = 1 - label.mask
    elif isinstance(label, fo.Detections):
        label.detections = label.detections[1:]
    else:
        label.label = "dog"
    first.save()
    assert count_changes(dataset, KEY) == 1
    assert kf.stale_samples(dataset, KEY) == [first.id]
    assert kf.load_run(dataset, KEY).stale == (first.id,)
    dataset.delete_samples([deleted])
    assert count_changes(dataset, KEY) == 2
    assert kf.stale_samples(dataset, KEY) == [first.id, deleted]


def test_it_is_listed_loaded_renamed_and_deleted(made):
    """Last test with the shared run, which it deletes completely."""
    kind, dataset, before, run = made
    assert kf.list_runs(dataset) == kf.list_runs(dataset, kind) == [KEY]
    assert [found.metrics for found in kf.list_runs(dataset, info=True)] == [run.metrics]
    loaded = kf.load_run(dataset, KEY)
    assert (loaded.kind, loaded.stale, type(loaded.result)) == (kind, (), type(run.result))
    assert json.loads(json.dumps(loaded.metrics)) == json.loads(json.dumps(run.metrics))
    assert plain_values(loaded.details) == json.loads(json.dumps(plain_values(run.details)))
    assert (loaded.settings, loaded.written) == (run.settings, run.written)
    if kf.KINDS[kind].fixed_because:
        with pytest.raises(InputError, match="can be renamed"):
            kf.rename_run(dataset, KEY, "other")
    else:
        kf.rename_run(dataset, KEY, "other")
        assert kf.load_metrics(dataset, "other").metrics == run.metrics
    kf.delete_run(dataset, *kf.list_runs(dataset))
    assert (documents(dataset), dataset.get_field_schema(flat=True).keys()) == before
    assert dataset.list_runs() == []
