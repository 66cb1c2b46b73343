"""An operator that is told no more than its function stores the same run, and what its form offers reaches it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.runs.records import plain
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.fiftyone_bridge.test_kinds import MADE_OF_RUNS
from tests.operators.calls import notices, run
from tests.plugin import form, refused

OBJECTS = ("agreement", "variations", "calibration", "convergence")
IMAGE_LABELS = ("image_labels", "ranking")
MASKS = ("pixels", "truth", "detectors")

SAMPLES: dict[str, Callable[[], list[fo.Sample]]] = {
    **dict.fromkeys((*OBJECTS, "noise"), lambda: lively(8)),
    **dict.fromkeys(IMAGE_LABELS, quiz),
    **dict.fromkeys(MASKS, small),
}

REQUIRED: dict[str, dict[str, Any]] = {
    "convergence": {"subsets": 20, "fraction": 0.5},  # too few images for a tenth of them
    "noise": {"reference": "ann"},
    "ranking": {"systems": ["net", "svm"]},
    "detectors": {"detectors": ["good", "poor"]},
}
"""Kind -> what has to be said."""

COMPARED = {"similarity": "centroid_box", "threshold_of_centroid_box": 0.25}
INTERVAL = {"bootstrap": 5, "seed": 3}

TWO_TEAMS = {"compare_teams": True, "first_team": ["ann"], "second_team": ["bob"], "second_name": "others"}

OFFERED: dict[str, dict[str, Any]] = {
    "agreement": {**COMPARED, "advanced": True, "solver": "shm", "cost": "neg", **INTERVAL},
    "variations": {**COMPARED, "max_merge": 2},
    "calibration": {"similarities": ["centroid_box"], "repeats": 2, "coordinates": "pixels", **INTERVAL},
    "convergence": {
        "similarity": "centroid_box",
        "least": 0.6,
        "greatest": 0.65,
        "subsets": 30,
        "fraction": 0.25,
        "seed": 3,
        "models": "YOLO 0.4",
        "predictions": "net",
        "tags": True,
    },
    "noise": {
        "reference": "bob",
        "raters": 2,
        "magnitude": "0.5, 2",
        "seed": 3,
        "more": True,
        "model": "fit",
        "preset": "paper",
        "rate": "power",
        "shifts": "matched",
        "class_source": "embeddings",
        "embeddings": "vector",
        "false_positive_source": "detections",
        "detections": "net",
    },
    "image_labels": {
        "quorum": 0.6,
        "width": 0.2,
        "weights": "flat",
        "metric": "ordinal",
        "order": "dog, cat",
        "bootstrap": 5,
        "exclusive": False,
        "own_group_0": ["cat", "dog"],
        "estimate": True,
        "truth": "one_coin",
        "reject": True,
        "reject_broken": True,
        "most_breaches": 0.9,
        "least_accuracy": 0.1,
        **TWO_TEAMS,
    },
    "ranking": {
        "systems": ["svm", "net"],
        "missing": "skip",
        "tree": "pet: cat, dog",
        "exclusive": False,
        "own_group_0": ["cat", "dog"],
        **TWO_TEAMS,
    },
    "pixels": {
        "ignore_value": 7,
        "images": True,
        "channels": "red, nir",
        "raters_are_local": True,
        "regions": True,
        "region_area": 9,
        "region_width": 2,
        "boundaries": True,
        "tolerance": 1.5,
        "divisions": True,
    },
    "truth": {"methods": ["any", "0.75"], "ignore_value": 7, "raters_are_local": True, "maps": True},
    "detectors": {
        "detectors": ["poor"],
        "methods": ["0.5"],
        "truths": ["truth_any"],
        "ignore_value": 7,
        "raters_are_local": True,
        "all_shares": True,
        "choose_skew": True,
        "skew_low": 0.1,
        "skew_high": 0.5,
        "contours": True,
        "tolerance": 0.01,
        "thin": False,
        "berkeley": True,
        "boundaries": 5,
        **INTERVAL,
    },
}
"""Kind -> all that its form offers besides the selection, with other values than the defaults."""

THREE = {"raters": list(RATERS), "reference": "cid"}
SELECTED: dict[str, dict[str, Any]] = {
    **{name: {**THREE, "more": True, "classes": ["cat"], "min_area": 5.0, "min_confidence": 0.5} for name in OBJECTS},
    **{name: {**THREE, "more": True, "classes": ["cat", "dog"], "min_confidence": 0.5} for name in IMAGE_LABELS},
    **dict.fromkeys(MASKS, THREE),
    "noise": {},
}
"""Kind -> the selection that its form offers."""

PETS = {"groups": {"cat / dog": ["cat", "dog"]}, "teams": {"experts": ["ann"], "others": ["bob"]}}
GIVEN: dict[str, dict[str, Any]] = {
    "agreement": {"threshold": 0.25},
    "variations": {"threshold": 0.25},
    "convergence": {"thresholds": pytest.approx([0.6, 0.65])},
    "noise": {"magnitude": [0.5, 2.0]},
    "image_labels": {**PETS, "order": ["dog", "cat"]},
    "pixels": {"channels": ["red", "nir"]},
    "ranking": {**PETS, "tree": {"cat": "pet", "dog": "pet"}},
    "detectors": {"skew": [0.1, 0.5], "shares": "all"},
}
"""Kind -> the arguments that the form has in another form."""

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")
every_kind = pytest.mark.parametrize("kind", [name for name in kf.KINDS if name not in MADE_OF_RUNS])


@pytest.fixture
def dataset(kind: str) -> Iterator[fo.Dataset]:
    """With all that the form of a kind can name."""
    made = fo.Dataset(persistent=True)
    made.add_samples(SAMPLES[kind](), progress=False)
    if kind in MASKS:
        add_maps(made)
    else:
        store_raters(made, {name: name for name in RATERS})
    yield made
    for key in kf.list_runs(made):
        kf.delete_run(made, key)  # with the files it wrote


def written(dataset: fo.Dataset, key: str) -> dict[str, list[Any]]:
    """What a run wrote in samples, labels and files."""
    dataset.reload()
    schema = dataset.get_field_schema(flat=True)
    inner = [path for path in schema if not any(other.startswith(f"{path}.") for other in schema)]
    values = {path: dataset.values(path) for path in inner if key in path and not path.endswith(".id")}
    return {
        path: [Path(entry).read_bytes() if isinstance(entry, str) else entry for entry in column]
        if path.endswith("_path")
        else column
        for path, column in values.items()
    }


@every_kind
def test_an_operator_stores_what_the_function_stores(dataset: fo.Dataset, kind: str) -> None:
    required, operator = REQUIRED.get(kind, {}), kf.KINDS[kind].operator
    answer = run(operator, dataset, run_key="asked", **required)
    found, of_operator = kf.load_details(dataset, "asked"), written(dataset, "asked")
    kf.delete_run(dataset, "asked")
    own = getattr(kf, operator)(dataset, "asked", **required)
    assert found.kind == own.kind == kind
    for name in ("settings", "selection", "metrics", "details", "label_fields", "images", "written"):
        assert plain(getattr(found, name)) == plain(getattr(own, name)), name
    assert answer.items() >= {"run_key": "asked", **own.metrics, "text": answer["text"]}.items()
    assert of_operator == written(dataset, "asked")


@pytest.fixture
def received(kind: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The arguments that the function of a kind was given; it runs with those it needs."""
    name, given = kf.KINDS[kind].operator, {}
    function = getattr(kf, name)

    @wraps(function)
    def note(samples: Any, run_key: str, **arguments: Any) -> Any:
        given.update(arguments)
        return function(samples, run_key, **REQUIRED.get(kind, {}))

    monkeypatch.setattr(kf, name, note)
    return given


@every_kind
def test_what_a_form_offers_reaches_the_function(dataset: fo.Dataset, kind: str, received: dict[str, Any]) -> None:
    name = kf.KINDS[kind].operator
    if kind == "detectors":
        kf.estimate_truth(dataset, "truth", methods=["any"])
    params = OFFERED[kind] | SELECTED[kind]
    inputs = form(name, dataset, params)
    assert refused(inputs) == {}
    assert params.keys() <= inputs.keys()
    arguments = signature(getattr(kf, name)).parameters
    own = {entry for entry, about in arguments.items() if about.kind is Parameter.KEYWORD_ONLY} & inputs.keys()
    assert own <= params.keys()  # all that is offered is tried
    run(name, dataset, run_key="asked", **params)
    selection = kf.Selection.__dataclass_fields__.keys()
    expected = {entry: value for entry, value in params.items() if entry in own or entry in selection}
    expected |= GIVEN.get(kind, {})
    assert {entry: _listed(received.get(entry)) for entry in expected} == expected
    assert received.keys() - expected.keys() <= {"progress"}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@every_kind
def test_what_a_switch_hides_again_does_not_reach_it(dataset: fo.Dataset, kind: str, received: dict[str, Any]) -> None:
    name, params = kf.KINDS[kind].operator, OFFERED[kind] | SELECTED[kind]
    off = params | {
        switch: False for switch in ("advanced", "more", "choose_skew", "contours", "reject") if switch in params
    }
    hidden = form(name, dataset, params).keys() - form(name, dataset, off).keys()
    assert hidden or off == params
    run(name, dataset, run_key="asked", **off)
    assert not received.keys() & {"skew" if entry.startswith("skew") else entry for entry in hidden}


@every_kind
def test_the_form_that_deletes_runs_says_what_they_are_as_the_table_does(dataset: fo.Dataset, kind: str) -> None:
    about = kf.KINDS[kind]
    made = getattr(kf, about.operator)(dataset, "asked", **REQUIRED.get(kind, {}))
    inputs = form("delete_run", dataset)
    assert [(entry.value, entry.description) for entry in inputs["run_key"].view.choices] == [("asked", about.title)]
    assert f"Deletes {made.written}" in notices(inputs)
