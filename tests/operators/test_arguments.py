"""What operators take: no argument that nobody knows, and the defaults of the functions of their names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import fiftyone.operators.types as types
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.stacks import add_maps
from tests.fiftyone_bridge.test_kinds import MADE_OF_RUNS
from tests.operators.calls import coco, last_line
from tests.operators.test_same_as_functions import REQUIRED, SAMPLES
from tests.plugin import form, uri

KINDS = sorted(set(kf.KINDS) - MADE_OF_RUNS)

each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def dataset(kind: str) -> Iterator[fo.Dataset]:
    made = fo.Dataset()
    made.add_samples(SAMPLES[kind](), progress=False)
    if kind == "detectors":
        add_maps(made)
    yield made
    made.delete()


@each_kind
def test_an_unknown_argument_is_refused_and_the_known_are_listed(kind: str, dataset: fo.Dataset) -> None:
    operator = kf.KINDS[kind].operator
    params = {**REQUIRED.get(kind, {}), "run_key": "run", "quorumm": 0.1}
    with pytest.raises(foo.executor.ExecutionError) as error:
        foo.execute_operator(uri(operator), {"dataset": dataset}, params=params)
    assert f"{operator}: expected arguments among" in last_line(error)
    assert " raters," in last_line(error)
    assert last_line(error).endswith("got quorumm")
    assert dataset.list_runs() == []


@pytest.mark.parametrize("kind", ["agreement"])
def test_of_the_others_too(dataset: fo.Dataset, tmp_path: Path) -> None:
    labels = tmp_path / "labels.json"
    labels.write_text(json.dumps(coco()))
    (tmp_path / "a.jpg").write_bytes(b"")
    kf.calibrate_threshold(dataset, "run", raters=("ann", "bob"), similarities=["box_iou"])
    for operator, params in (
        ("load_raters", {"labels": str(labels), "image": "folder"}),
        ("delete_run", {"run_key": "run", "all": True}),
        ("analyse", {"key": "first", "run_key": "first"}),
        ("update_run", {"key": "run", "threshold": 0.5}),
        ("rename_run", {"run_key": "run", "new_key": "other", "kind": "calibration"}),
        ("describe_run", {"run_key": "run", "notes": "seen"}),
        ("choose_threshold", {"run_key": "run", "tau": 0.5}),
    ):
        with pytest.raises(foo.executor.ExecutionError) as error:
            foo.execute_operator(uri(operator), {"dataset": dataset}, params=params)
        assert f"{operator}: expected arguments among" in last_line(error)
    assert dataset.list_runs() == ["run"]


@each_kind
def test_the_form_begins_with_the_defaults_of_the_function(kind: str, dataset: fo.Dataset) -> None:
    operator = kf.KINDS[kind].operator
    inputs = form(operator, dataset, REQUIRED.get(kind, {}))
    switches = {name: True for name, entry in inputs.items() if isinstance(entry.type, types.Boolean)}
    inputs = form(operator, dataset, REQUIRED.get(kind, {}) | switches) | inputs
    shared = {
        name: (as_typed(inputs[name].default), as_typed(entry.default))
        for name, entry in signature(getattr(kf, operator)).parameters.items()
        if entry.kind is Parameter.KEYWORD_ONLY and name in inputs
    }
    said = {name: both for name, both in shared.items() if None not in both and Parameter.empty not in both}
    assert said
    assert {name: both for name, both in said.items() if both[0] != both[1]} == {}


def as_typed(value: Any) -> Any:
    """Numbers as a form's text has them, several with commas between them."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, map(as_typed, value)))
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else value
