"""Operations that events of a panel request from the App, and access to its sections."""

from __future__ import annotations

from typing import Any

import fiftyone as fo

import kalos_core.fiftyone as kf
from tests.operators.calls import send
from tests.plugin import Workbench, form

Operations = list[tuple[str, dict[str, Any]]]


def names(operations: Operations) -> list[str]:
    return [name for name, _ in operations]


def given(operations: Operations, name: str) -> dict[str, Any]:
    (params,) = [params for operation, params in operations if operation == name]
    return params


def prompted(operations: Operations) -> tuple[str, dict[str, Any] | None]:
    """Return the operator whose form an event opens, and its prefilled inputs."""
    asked = given(operations, "prompt_user_for_operation")
    return asked["operator_uri"].rpartition("/")[2], asked.get("params")


def made_again(dataset: fo.Dataset, operator: str, filled: dict[str, Any] | None) -> Any:
    """Return the run created by sending a prefilled form."""
    assert filled is not None
    assert set(filled) <= set(form(operator, dataset, filled))
    send(operator, dataset, **filled, run_key="again")
    return kf.load_metrics(dataset, "again")


def view_of(dataset: fo.Dataset, operations: Operations) -> fo.DatasetView:
    return fo.DatasetView._build(dataset, given(operations, "set_view")["view"])


def samples_of(dataset: fo.Dataset, operations: Operations) -> list[str]:
    """Return the ids of the samples in the view that an event sets, in order."""
    found: list[str] = view_of(dataset, operations).values("id")
    return found


def sample_of(operations: Operations) -> str:
    """Return the id of the sample that an event opens."""
    found: str = given(operations, "open_sample")["id"]
    return found


def ids(dataset: fo.Dataset, *numbers: int) -> list[str]:
    everything = dataset.values("id")
    return [everything[number] for number in numbers]


def opened(dataset: fo.Dataset, section: str, page: str | None = None) -> Workbench:
    """Open the workbench with a section, and a page of it."""
    panel = Workbench(dataset)
    panel.send("on_load")
    at(panel, section, page)
    assert panel.state["section"] == section
    return panel


def at(panel: Workbench, section: str, page: str | None = None) -> Workbench:
    """Choose a section, and a page of it, in an open workbench."""
    panel.send("choose_section", value=section)
    if page:
        panel.choose(page=page)
    assert not panel.state.get("problem"), (section, page, panel.state["problem"])
    return panel


def look_at(panel: Workbench, **filter: str) -> Workbench:
    """Set the filter as its menus do."""
    return panel.look_through(**filter)
