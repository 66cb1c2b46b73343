"""The plugin as FiftyOne finds it, and its forms and panels driven as the App drives them, without a browser."""

from __future__ import annotations

import asyncio
import json
import os
import re
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import fiftyone.operators as foo
from fiftyone.operators.executor import ExecutionContext, ExecutionResult, execute_or_delegate_operator

from tests import messages

ROOT = Path(__file__).resolve().parents[1]
NAME = "@kalos/variation"
SPACES = {
    "_cls": "Space",
    "component_id": "root",
    "children": [
        {"_cls": "Panel", "component_id": "grid", "type": "Samples", "pinned": True},
        {"_cls": "Space", "component_id": "right", "children": []},
    ],
}
"""How the panels are arranged: what only the App sends."""


def install() -> None:
    """Link this folder into the plugins of the tests' own FiftyOne."""
    folder = Path(os.environ["FIFTYONE_PLUGINS_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "kalos-variation"
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)


def uri(name: str) -> str:
    return f"{NAME}/{name}"


def post(name: str, dataset: Any, params: dict[str, Any], **request: Any) -> ExecutionResult:
    """What the server does with a request of the App."""
    view = [] if "view" not in request else request.pop("view")._serialize()
    asked = {"dataset_name": dataset.name, "view": view, "params": params, "spaces": SPACES, **request}
    told: list[Any] = []

    async def dispatch(*event: Any) -> None:  # an AsyncMock takes longer than most answers
        told.append(event)

    with patch("kalos_core.fiftyone.app.dispatch", dispatch):
        result = asyncio.run(execute_or_delegate_operator(uri(name), asked))
    result.selections = [messages.received(event[0]).labels for event in told]
    for operation in result.executor.to_json()["requests"] if result.executor else ():
        messages.check(dataset.name, operation["operator_uri"], operation["params"])
    return result


def stream(name: str, dataset: Any, params: dict[str, Any], **request: Any) -> list[tuple[str, dict[str, Any]]]:
    """The operations an operator streams to the App: names with their parameters."""
    result = post(name, dataset, params, **request)
    assert result.is_generator
    found = [(message.body.operator_uri, message.body.params) for message in result.result]
    for operation, given in found:
        messages.check(dataset.name, operation, given)
    return found


def form(name: str, dataset: Any, params: dict[str, Any] | None = None, **request: Any) -> dict[str, Any]:
    """The inputs of an operator's form for what is filled in so far."""
    view = [] if "view" not in request else request.pop("view")._serialize()
    asked = {"dataset_name": getattr(dataset, "name", None), "view": view, "params": params or {}, "spaces": SPACES}
    context = ExecutionContext(request_params={**asked, **request}, operator_uri=uri(name))
    found = foo.get_operator(uri(name)).resolve_input(context)
    json.dumps(found.to_json())  # as the App gets it
    resolved: dict[str, Any] = found.type.properties
    return resolved


def refused(inputs: dict[str, Any]) -> dict[str, str]:
    """The inputs of a form that are marked as wrong, with what is said about them."""
    return {name: prop.error_message for name, prop in inputs.items() if prop.invalid}


def defaults(inputs: dict[str, Any]) -> dict[str, Any]:
    """What the App sends if nothing is changed."""
    return {name: prop.default for name, prop in inputs.items() if prop.default is not None}


PANELS = Path(__file__).resolve().parents[1] / "panels"
STATES = {name for file in PANELS.rglob("*.py") for name in re.findall(r"state\.(\w+)", file.read_text("utf-8"))}
"""Names that panels keep something under, in whatever section."""


class Panel:
    """A panel on a data set, with the state and data it would have in the App."""

    def __init__(self, name: str, dataset: Any, **request: Any) -> None:
        self.name, self.dataset, self.request = name, dataset, request
        self.state: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.shown: dict[str, Any] = {}

    def send(self, method: str, **params: Any) -> list[tuple[str, dict[str, Any]]]:
        """Call a method, take up what it patches, and answer the other operations it asks for."""
        own = {"panel_id": "p", "__method__": method, "panel_state": self.state, **params}
        result = post(self.name, self.dataset, own, **self.request)
        result.raise_exceptions()
        others: list[tuple[str, dict[str, Any]]] = [
            ("select_labels", {"labels": [asdict(label) for label in labels]}) for labels in result.selections
        ]
        sent: set[str] = set()
        for asked in result.executor.to_json()["requests"]:
            operation, given = asked["operator_uri"], asked["params"]
            if operation.endswith("patch_panel_state"):
                self.state.update(given["state"])
            elif operation.endswith("patch_panel_data"):
                self.data.update(given["data"])
                sent |= given["data"].keys()
            elif operation.endswith("set_panel_data"):
                self.data = given["data"]
                sent |= given["data"].keys()
            elif operation.endswith("show_panel_output"):
                self.shown = given["output"]["type"]["properties"]
            else:
                others.append((operation, given))
        texts = {name for name, entry in self.shown.items() if entry["view"]["name"] == "MarkdownView"}
        assert not texts & STATES, "the App would show the state of that name in place of the text"
        both = {name for name in sent if self.state.get(name) is not None}
        assert not both, f"the App would lay the data of {both} over the state of that name"
        return others

    def load(self) -> Panel:
        """The first time as the App does; again, as after something has changed."""
        self.send("reload" if self.state else "on_load")
        return self

    def look_through(self, **parts: Any) -> Panel:
        """Set parts of the lens as its menus and its switch do: the App copies the data into the state then."""
        row = self.state["lens_row"]
        self.state |= {**self.data, row: {**self.state[row], **parts}}
        self.send("on_change_lens", value="")
        return self

    def rows(self, name: str) -> Any:
        """The rows of a table."""
        return self.data[name]

    def text(self) -> str:
        """All that is written in it, as one reads it: without the backslashes of Markdown."""
        found: list[str] = []
        waiting: list[Any] = [self.shown]
        while waiting:
            entry = waiting.pop(0)
            if isinstance(entry, dict):
                waiting += entry.values()
            elif isinstance(entry, list):
                waiting += entry
            elif isinstance(entry, str):
                found.append(entry)
        return "\n".join(found).replace("\\_", "_").replace("\\*", "*")
