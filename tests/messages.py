"""Messages to Python sessions when the App executes an operation, parsed as sessions parse them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from bson import json_util
from fiftyone.core.session.events import Event, dict_factory

Told = Callable[[str, Mapping[str, Any]], list[tuple[str, Any]]]
"""Data set and parameters of an operation -> names and data of the resulting events."""


def nothing(dataset: str, params: Mapping[str, Any]) -> list[tuple[str, Any]]:  # noqa: ARG001
    return []


def view(dataset: str, params: Mapping[str, Any]) -> list[tuple[str, Any]]:
    state = {"dataset": dataset, "view": params.get("view"), "view_name": params.get("name"), "config": {}}
    return [("state_update", {"state": state})]


def sample(dataset: str, params: Mapping[str, Any]) -> list[tuple[str, Any]]:  # noqa: ARG001
    return [("set_sample", {"sample_id": params["id"], "group_id": params.get("group_id")})]


def panel(dataset: str, params: Mapping[str, Any]) -> list[tuple[str, Any]]:  # noqa: ARG001
    state = params.get("state") or {}
    kept = {"_cls": "Panel", "component_id": params.get("id", "p"), "type": "raters", "state": state}
    return [("set_spaces", {"spaces": {"_cls": "Space", "component_id": "root", "children": [kept]}})]


OPERATIONS: dict[str, Told] = {
    "set_view": view,
    "clear_view": view,
    "reload_dataset": nothing,
    "open_dataset": nothing,
    "open_sample": sample,
    "open_panel": panel,
    "patch_panel_state": panel,
    "patch_panel_data": nothing,
    "set_panel_data": nothing,
    "clear_panel_data": nothing,
    "set_panel_title": nothing,
    "set_active_fields": nothing,
    "show_panel_output": nothing,
    "prompt_user_for_operation": nothing,
    "register_panel": nothing,
    "notify": nothing,
    "set_progress": nothing,
    "show_output": nothing,
    "browser_download": nothing,
}
"""All operations of FiftyOne that operators and panels may trigger."""


def check(dataset: str, operation: str, params: Mapping[str, Any]) -> None:
    """Fail on an operation that is not known to be safe, or whose events a Python session cannot read."""
    json.dumps(params, allow_nan=False)
    if operation.startswith("@kalos/"):  # our panel, which is to reload
        return
    assert operation in OPERATIONS, f"{operation}: which events does the App send to Python sessions for it?"
    for name, data in OPERATIONS[operation](dataset, params):
        Event.from_data(name, json_util.dumps(data))


def received(event: Any) -> Any:
    """Parse an event that the server sends, as a session does."""
    return Event.from_data(event.get_event_name(), json_util.dumps(asdict(event, dict_factory=dict_factory)))
