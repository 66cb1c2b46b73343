"""Every kind of run: its operator equals its function, and its form passes all inputs to the function."""

from __future__ import annotations

import json
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.operators.types as types
import pytest
from fiftyone.operators.executor import ExecutionError

import kalos_core.fiftyone as kf
from kalos_core.results import plain_values
from tests.fiftyone_bridge.stacks import add_maps
from tests.operators.calls import last_line, notices, received, run, shares, summaries
from tests.operators.hostile import RATERS, hostile, is_text
from tests.operators.kinds import FAMILY, GIVEN, OFFERED, REQUIRED, SAMPLES, SELECTED, every_kind, rated
from tests.plugin import defaults, form, post, refused, stream

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


@pytest.fixture(scope="module")
def all_rated() -> dict[str, fo.Dataset]:
    return {family: rated(family) for family in SAMPLES}


@pytest.fixture(scope="module")
def all_hostile() -> dict[str, fo.Dataset]:
    made = {family: hostile(make()) for family, make in SAMPLES.items()}
    add_maps(made["masks"])
    return made


@pytest.fixture
def dataset(all_rated: dict[str, fo.Dataset], kind: str) -> fo.Dataset:
    return all_rated[FAMILY[kind]]


@pytest.fixture
def named(all_hostile: dict[str, fo.Dataset], kind: str) -> fo.Dataset:
    """Return the same with names that are shown as text only if they are escaped."""
    return all_hostile[FAMILY[kind]]


def required(kind: str) -> dict[str, Any]:
    """Return the required inputs, with hostile names."""
    given = REQUIRED.get(kind, {})
    return {name: RATERS.get(value, value) if isinstance(value, str) else value for name, value in given.items()}


def written(dataset: fo.Dataset, key: str) -> dict[str, list[Any]]:
    """Return the content that a run wrote to samples, labels and files."""
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


def test_every_kind_is_here() -> None:
    assert set(kf.KINDS) - set(FAMILY) == {"resolved"}  # made of another run, not of labels: test_deciding.py


@every_kind
def test_an_operator_stores_what_the_function_stores(named: fo.Dataset, kind: str) -> None:
    operator = kf.KINDS[kind].operator
    answer = run(operator, named, run_key="asked", **required(kind))
    found, of_operator = kf.load_details(named, "asked"), written(named, "asked")
    kf.delete_run(named, "asked")
    own = getattr(kf, operator)(named, "asked", **required(kind))
    assert found.kind == own.kind == kind
    for name in ("settings", "selection", "metrics", "details", "label_fields", "images", "written"):
        assert plain_values(getattr(found, name)) == plain_values(getattr(own, name)), name
    assert answer.items() >= {"run_key": "asked", **own.metrics}.items()
    assert json.loads(json.dumps(answer)) == answer
    is_text(answer["text"])
    assert of_operator == written(named, "asked")


@every_kind
def test_a_form_can_be_sent_as_it_comes_and_its_run_deleted(named: fo.Dataset, kind: str) -> None:
    """The App receives one bar, the panel with the new run, and a summary."""
    about, before = kf.KINDS[kind], set(named.get_field_schema(flat=True))
    params = defaults(form(about.operator, named, required(kind))) | required(kind)
    assert refused(form(about.operator, named, params)) == {}
    operations = stream(about.operator, named, params)
    progress, order = shares(operations), [name for name, _ in operations]
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == (0.0, 1.0)
    assert len(progress) >= 4
    assert [given["name"] for name, given in operations if name == "open_panel"] == ["raters"]
    assert order.index("reload_dataset") < order.index("open_panel")
    assert order[-1] == "show_output"
    (text,) = summaries(operations)
    assert "Nothing was written" not in text
    is_text(text)
    assert kf.list_runs(named, kind) == [params["run_key"]]
    assert form(about.operator, named, required(kind))["run_key"].default == f"{params['run_key']}2"

    inputs = form("delete_run", named)
    assert [(one.value, one.description) for one in inputs["run_key"].view.choices] == [
        (params["run_key"], about.title)
    ]
    assert f"Deletes {kf.load_details(named, params['run_key']).written}" in notices(inputs)
    assert post("delete_run", named, defaults(inputs)).error is None
    named.reload()
    assert (kf.list_runs(named), set(named.get_field_schema(flat=True))) == ([], before)


@every_kind
def test_an_unknown_argument_is_refused_and_the_known_are_listed(dataset: fo.Dataset, kind: str) -> None:
    operator = kf.KINDS[kind].operator
    with pytest.raises(ExecutionError) as error:
        run(operator, dataset, **REQUIRED.get(kind, {}), run_key="run", quorumm=0.1)
    assert last_line(error).startswith(f"kalos_core.errors.InputError: {operator}: expected arguments among")
    assert " raters," in last_line(error)
    assert last_line(error).endswith("got quorumm")
    assert dataset.list_runs() == []


@every_kind
def test_a_form_begins_with_the_defaults_of_the_function(dataset: fo.Dataset, kind: str) -> None:
    operator = kf.KINDS[kind].operator
    inputs = form(operator, dataset, REQUIRED.get(kind, {}))
    switches = {name: True for name, entry in inputs.items() if isinstance(entry.type, types.Boolean)}
    inputs = form(operator, dataset, REQUIRED.get(kind, {}) | switches) | inputs
    shared = {
        name: (as_typed(inputs[name].default), as_typed(entry.default))
        for name, entry in list(signature(getattr(kf, operator)).parameters.items())[2:]
        if name in inputs
    }
    unsaid = {None, Parameter.empty, "auto"}
    said = {name: both for name, both in shared.items() if unsaid.isdisjoint(both)}
    assert said
    assert {name: both for name, both in said.items() if both[0] != both[1]} == {}


def as_typed(value: Any) -> Any:
    """Convert numbers to the text of a form, several separated by commas."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, map(as_typed, value)))
    return f"{value:g}" if isinstance(value, (int, float)) and not isinstance(value, bool) else value


@every_kind
def test_options_of_a_form_reach_the_function(dataset: fo.Dataset, kind: str) -> None:
    """Inputs hidden by a switch do not."""
    name, params = kf.KINDS[kind].operator, OFFERED[kind] | SELECTED[kind]
    if kind == "detectors":
        kf.estimate_truth(dataset, "truth", methods=["any"])
    inputs = form(name, dataset, params)
    assert refused(inputs) == {}
    assert params.keys() <= inputs.keys()
    own = set(list(signature(getattr(kf, name)).parameters)[2:]) & inputs.keys()
    assert own <= params.keys()  # all inputs are tested
    selection = kf.Selection.__dataclass_fields__.keys()
    expected = {entry: value for entry, value in params.items() if entry in own or entry in selection}
    expected |= GIVEN.get(kind, {})
    given = received(name, dataset, params)
    assert {entry: given.get(entry) for entry in expected} == expected
    assert given.keys() - expected.keys() <= {"progress"}

    switches = {"advanced", "more", "choose_skew", "contours", "reject"} & params.keys()
    off = params | dict.fromkeys(switches, False)
    hidden = inputs.keys() - form(name, dataset, off).keys()
    assert hidden or not switches
    assert not received(name, dataset, off).keys() & {"skew" if entry.startswith("skew") else entry for entry in hidden}
