"""Messages to the App can be read by a Python session connected to it."""

from __future__ import annotations

import asyncio
from typing import Any

import fiftyone as fo
import pytest
from bson import ObjectId
from fiftyone.core.session.events import LabelData
from fiftyone.operators.executor import ExecutionContext, Executor
from fiftyone.server.events.state import Listener, get_listeners

from kalos_core.fiftyone import app
from kalos_core.fiftyone.internals import requests_of
from tests import messages


def context(dataset: fo.Dataset, view: Any = ()) -> ExecutionContext:
    request = {"dataset_name": dataset.name, "view": list(view), "params": {}}
    return ExecutionContext(request_params=request, executor=Executor())


def asked(ctx: ExecutionContext) -> list[str]:
    return [request.operator_uri for request in requests_of(ctx)]


def test_a_selection_reaches_the_windows_and_sessions_with_all_that_they_read(unchanged: fo.Dataset) -> None:
    ctx, sample, label = context(unchanged), ObjectId(), ObjectId()
    app.open_sample(ctx, sample)
    app.select_labels(ctx, sample, [(label, "ann")])  # type: ignore[list-item]

    async def sent() -> Any:
        listener = Listener(asyncio.LifoQueue(), "a window")
        get_listeners()["select_labels"].add(listener)
        await app.send_selections(ctx)
        get_listeners()["select_labels"].discard(listener)
        return listener.queue.get_nowait()[1]

    event = asyncio.run(sent())
    assert messages.received(event).labels == [
        LabelData(label_id=str(label), field="ann", sample_id=str(sample), type="default")
    ]
    assert asked(ctx) == ["open_sample"]  # the App does not see what the server has sent
    assert requests_of(ctx)[0].params == {"id": str(sample), "group_id": None}


@pytest.mark.parametrize(("field", "expected"), [("gone", ["clear_view"]), ("ann", ["reload_dataset"])])
def test_a_view_that_needs_a_deleted_field_is_left(unchanged: fo.Dataset, field: str, expected: list[str]) -> None:
    stage = {"_cls": "fiftyone.core.stages.SelectFields", "kwargs": [["field_names", [field]]]}
    ctx = context(unchanged, [stage])
    app.reload_dataset(ctx)
    assert asked(ctx) == expected


def test_a_view_is_set_and_the_whole_data_set_is_no_view(unchanged: fo.Dataset) -> None:
    ctx = context(unchanged)
    app.set_view(ctx, unchanged.limit(2))
    assert ctx.view == unchanged.limit(2)
    app.set_view(ctx, unchanged)
    assert ctx.view == unchanged.view()
    assert asked(ctx) == ["set_view", "clear_view"]
