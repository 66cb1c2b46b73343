"""The plugin as found by FiftyOne, and its forms and panels driven as by the App, without a browser."""

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

from kalos_core.display import number_of
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
"""Layout of the panels, which only the App sends."""


def install() -> None:
    """Link this folder into the plugins of the tests' FiftyOne."""
    folder = Path(os.environ["FIFTYONE_PLUGINS_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "kalos-variation"
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)


def uri(name: str) -> str:
    return f"{NAME}/{name}"


def post(name: str, dataset: Any, params: dict[str, Any], **request: Any) -> ExecutionResult:
    """Return the server's response to a request of the App."""
    view = [] if "view" not in request else request.pop("view")._serialize()
    asked = {"dataset_name": dataset.name, "view": view, "params": params, "spaces": SPACES, **request}
    told: list[Any] = []

    async def dispatch(*event: Any) -> None:  # an AsyncMock is slower than most responses
        told.append(event)

    with patch("kalos_core.fiftyone.app.dispatch", dispatch):
        result = asyncio.run(execute_or_delegate_operator(uri(name), asked))
    result.selections = [messages.received(event[0]).labels for event in told]
    for operation in result.executor.to_json()["requests"] if result.executor else ():
        messages.check(dataset.name, operation["operator_uri"], operation["params"])
    return result


def stream(name: str, dataset: Any, params: dict[str, Any], **request: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the operations that an operator streams to the App: names with their parameters."""
    result = post(name, dataset, params, **request)
    assert result.is_generator
    found = [(message.body.operator_uri, message.body.params) for message in result.result]
    for operation, given in found:
        messages.check(dataset.name, operation, given)
    return found


def form(name: str, dataset: Any, params: dict[str, Any] | None = None, **request: Any) -> dict[str, Any]:
    """Return the inputs of an operator's form for the current values."""
    view = [] if "view" not in request else request.pop("view")._serialize()
    asked = {"dataset_name": getattr(dataset, "name", None), "view": view, "params": params or {}, "spaces": SPACES}
    context = ExecutionContext(request_params={**asked, **request}, operator_uri=uri(name))
    found = foo.get_operator(uri(name)).resolve_input(context)
    json.dumps(found.to_json())  # as the App receives it
    resolved: dict[str, Any] = found.type.properties
    return resolved


def refused(inputs: dict[str, Any]) -> dict[str, str]:
    """Return the inputs of a form that are marked as invalid, with their messages."""
    return {name: prop.error_message for name, prop in inputs.items() if prop.invalid}


def defaults(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return what the App sends without changes."""
    return {name: prop.default for name, prop in inputs.items() if prop.default is not None}


PANELS = Path(__file__).resolve().parents[1] / "panels"
FILES = [file for file in PANELS.rglob("*.py") if "node_modules" not in file.parts]
STATES = {name for file in FILES for name in re.findall(r"state\.(\w+)", file.read_text("utf-8"))}
"""State names of panels, in any section."""


class Panel:
    """Panel on a data set, called as by its view in the App."""

    def __init__(self, name: str, dataset: Any, **request: Any) -> None:
        self.name, self.dataset, self.request = name, dataset, request
        self.state: dict[str, Any] = {}
        self.data: dict[str, Any] = {}
        self.operations: list[tuple[str, dict[str, Any]]] = []

    def post(self, method: str, **params: Any) -> tuple[Any, list[tuple[str, dict[str, Any]]]]:
        """Return the result of a method, and the operations that it requests."""
        result = post(self.name, self.dataset, {"panel_id": "p", "__method__": method, **params}, **self.request)
        result.raise_exceptions()
        json.dumps(result.result, allow_nan=False)
        asked = [(one["operator_uri"], one["params"]) for one in result.executor.to_json()["requests"]]
        selected = [("select_labels", {"labels": [asdict(label) for label in labels]}) for labels in result.selections]
        for name, given in asked:
            if name.endswith("panel_data"):
                self.data.update(given["data"])
        return result.result, [*selected, *asked]

    def ask(self, question: str, **params: Any) -> Any:
        """Return the response to a question; problems go into the state."""
        answer, self.operations = self.post(question, **params)
        self.state["problem"] = (answer or {}).get("problem")
        return None if self.state["problem"] else answer

    def send(self, method: str, **params: Any) -> list[tuple[str, dict[str, Any]]]:
        """Send an event of a user or the App; return the operations requested from the App."""
        self.operations = []
        own = getattr(self, f"_{method}", None)
        if own is not None:
            own(**params)
        else:
            _, self.operations = self.post(method, **params)
        return [one for one in self.operations if not one[0].endswith("panel_data")]


class Workbench(Panel):
    """Panel *Raters* with a view that works like the one in the App: it keeps choices, and sends requests.

    `record` is the content of a section, `invitation` the text if it has no run.
    """

    def __init__(self, dataset: Any, **request: Any) -> None:
        super().__init__("raters", dataset, **request)
        self.frame: dict[str, Any] = {}
        self.filter: dict[str, Any] = {"category": None, "rater": None, "tag": None, "follow": False}
        self.record: Any = None
        self.invitation: Any = None
        self.changed = 0
        self.grids: list[dict[str, Any]] = []

    def load(self) -> Workbench:
        """Load the first time as the App does; later, as after a change."""
        self.send("reload" if self.state else "on_load")
        return self

    def act(self, click: str, **given: Any) -> list[tuple[str, dict[str, Any]]]:
        """Click in the current section."""
        answer = self.ask("act", section=self.state["section"], click=click, given=given, **self._chosen())
        if (answer or {}).get("grid"):
            self.grids.append(answer["grid"])
        return self.operations

    def choose(self, **given: Any) -> Workbench:
        """Choose a page of the current section, and settings on it."""
        self._choose_section(self.state["section"], **given)
        return self

    def look_through(self, **parts: Any) -> Workbench:
        """Set parts of the filter."""
        self.filter |= parts
        self._choose_section(self.state["section"])
        return self

    def text(self) -> str:
        """Return everything sent to a section, with its surroundings."""
        invited = [self.invitation["title"], self.invitation["text"]] if self.invitation else []
        changed = f"{number_of(self.changed, 'image was', 'images were')} edited or deleted since this run"
        found = json.dumps(self.frame["start"] or self.record or {}, ensure_ascii=False)
        return "\n".join([*invited, found, changed if self.changed else ""])

    def _chosen(self) -> dict[str, Any]:
        return {"analysis": self.state["analysis"], "filter": self.filter}

    def _on_load(self) -> None:
        _, self.operations = self.post("on_load")
        self._framed(json.loads(self.data["frame"]))

    def _reload(self, section: str | None = None) -> None:
        """Reload after a change: the view is notified, and repeats its request."""
        _, asked = self.post("reload", section=section)
        assert [name for name, _ in asked] == ["patch_panel_data"]
        known = [key for key, _ in self.frame.get("analyses", [])]
        wanted = {"section": section or self.state.get("section"), "analysis": self.state.get("analysis")}
        self._framed(self.ask("frame", **wanted, filter=self.filter, known=known))

    def _on_change_dataset(self) -> None:
        self.state = {}
        self._framed(self.ask("frame"))

    def _on_change_analysis(self, value: str) -> None:
        self._framed(self.ask("frame", analysis=value, section=self.state["section"], remembers=True))

    def _choose_section(self, value: str, **given: Any) -> None:
        self._answered(value, self.ask("section", name=value, given=given, **self._chosen()))

    def _clear_filter(self) -> None:
        self.look_through(category=None, rater=None, tag=None, follow=False)

    def _prompt(self, **params: Any) -> None:
        self.ask("prompt", **params)

    def _back(self) -> None:
        self.ask("back", before=self.grids.pop()["before"])

    def _framed(self, frame: Any) -> None:
        if frame is None or frame.get("problem"):
            self.state["problem"] = (frame or self.state)["problem"]
            return
        self.frame, self.filter = frame, frame["filter"]
        self.state |= {"analysis": frame["analysis"], "section": frame["section"]}
        self.state["sections"] = [section["name"] for section in frame["sections"]]
        if frame["section"]:
            self._answered(frame["section"], frame["first"])

    def _answered(self, name: str, answer: Any) -> None:
        if answer is None:
            return
        self.record, self.invitation, self.changed = answer.get("record"), answer.get("invitation"), answer["changed"]
        kept = {part: self.state[part] for part in ("analysis", "sections")}
        self.state = {**kept, "section": name, "choices": self.frame["choices"]}
