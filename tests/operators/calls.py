"""Operators called from Python, from their forms and by an executor; their results; and data sets for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import pytest
from fiftyone.operators.delegated import DelegatedOperationService
from fiftyone.operators.executor import ExecutionContext, ExecutionError

import kalos_core.fiftyone as kf
from kalos_core import InputError
from tests.fiftyone_bridge.conftest import build
from tests.plugin import defaults, form, refused, stream, uri

BOX = {"ann": [10, 10, 40, 40], "bob": [10, 10, 40, 40], "dr. c": [10, 12, 40, 40]}


def coco(raters: tuple[str, ...] = tuple(BOX)) -> dict[str, Any]:
    """Return one image of 100 x 80 pixels, on which every rater annotates a cat."""
    return {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 80, "rater_list": list(raters)}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [
            {"id": number, "image_id": 1, "category_id": 1, "rater_id": rater, "bbox": BOX[rater]}
            for number, rater in enumerate(raters, 1)
        ],
    }


def data_set(samples: Iterable[fo.Sample] | Callable[[], list[fo.Sample]]) -> fo.Dataset:
    """Create a data set of samples that the App can open by name; samples from a function are created once."""
    return build(samples if callable(samples) else list(samples), persistent=True)


def run(name: str, dataset: fo.Dataset, **params: Any) -> dict[str, Any]:
    """Return the result of a call from Python."""
    answer: dict[str, Any] = foo.execute_operator(uri(name), {"dataset": dataset}, params=params).result
    return answer


def received(name: str, dataset: fo.Dataset, params: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments for the function of an operator, without calling it."""
    given: dict[str, Any] = {}

    @wraps(getattr(kf, name))
    def note(*_: Any, **arguments: Any) -> None:
        given.update(arguments)
        raise InputError("noted")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kf, name, note)
        with pytest.raises(ExecutionError, match="noted"):
            run(name, dataset, run_key="asked", **params)
    return {entry: list(value) if isinstance(value, tuple) else value for entry, value in given.items()}


def last_line(error: pytest.ExceptionInfo[Exception]) -> str:
    return str(error.value).strip().splitlines()[-1]


def notices(inputs: dict[str, Any]) -> str:
    """Return the notices of a form."""
    return " ".join(f"{prop.view.label} {prop.view.description}" for prop in inputs.values() if prop.view)


def send(name: str, dataset: fo.Dataset, **changes: Any) -> dict[str, Any]:
    """Fill in a form as the App does: defaults, then changes, until nothing is new; then execute it."""
    params = defaults(form(name, dataset)) | changes
    params = defaults(form(name, dataset, params)) | params
    assert refused(form(name, dataset, params)) == {}
    operations = stream(name, dataset, params)
    assert not [given for operation, given in operations if operation == "notify" and given["variant"] == "error"]
    return params


def delegate(name: str, dataset: fo.Dataset, **params: Any) -> Any:
    """Return the operation after an executor has processed it."""
    result = foo.execute_operator(uri(name), {"dataset": dataset}, params=params, request_delegation=True)
    assert result.delegated
    service = DelegatedOperationService()
    service.execute_queued_operations(operator=uri(name), dataset_name=dataset.name)
    dataset.reload()
    return max(service.list_operations(dataset_name=dataset.name), key=lambda operation: operation.queued_at)


def is_delegated_by_default(name: str, dataset: fo.Dataset, **params: Any) -> bool:
    """Return whether scheduling is the form's first option."""
    request = {"dataset_name": dataset.name, "view": [], "params": params}
    options = foo.get_operator(uri(name)).resolve_execution_options(ExecutionContext(request, operator_uri=uri(name)))
    assert options.allow_immediate_execution
    assert options.allow_delegated_execution
    return bool(options.default_choice_to_delegated)


Operations = list[tuple[str, dict[str, Any]]]
"""Operations sent to the App: names with their parameters."""


def shares(operations: Operations) -> list[float]:
    """Return the progress values in the order they were sent; FiftyOne shows progress as an output, too."""
    found = []
    for name, given in operations:
        if name in ("set_progress", "show_output"):
            results = given.get("results") or given
            if "progress" in (results or {}):
                value = results["progress"]
                found.append(value["progress"] if isinstance(value, dict) else value)
    return found


def summaries(operations: Operations) -> list[str]:
    return [
        given["results"]["text"]
        for name, given in operations
        if name == "show_output" and "text" in (given.get("results") or {})
    ]
