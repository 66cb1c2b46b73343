"""Messages to the App that carry views, samples or labels, each in the form that FiftyOne's own code sends.

The App passes them on to every Python session. A session that cannot read one loses its connection, and ten seconds
later takes the App back to the data set that the session began with. Operators and panels send them only from here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from .internals import dispatch, forget_view, label_selection, requests_of, view_of

SELECTION = "@kalos/variation/selection"
"""Marks a selection among the requests of an event: the server sends it, not the App."""


def set_view(ctx: Any, view: Any) -> None:
    """Show a view in the grid; what is loaded for the same event sees it already."""
    if view.view() == ctx.dataset.view():  # without a stage it is no view that the App could set
        ctx.ops.clear_view()
    else:
        ctx.ops.set_view(view)
    ctx.request_params["view"] = requests_of(ctx)[-1].params.get("view", [])
    forget_view(ctx)


def reload_dataset(ctx: Any) -> Any:
    """Let the App read the data set again, without the current view if that needs a field which is gone."""
    try:
        view_of(ctx.dataset, ctx.request_params.get("view") or [])
    except ValueError:
        return (
            ctx.ops.clear_view()
        )  # reads the data set again, too: side by side, the App may still ask for the old view
    return ctx.ops.reload_dataset()


ARRANGED = "spaces"
"""Among what a request brings along, how the panels are arranged: only the App knows."""


def open_panels(ctx: Any) -> list[tuple[str, str]]:
    """Names and ids of the open panels, wherever in the App's layout."""
    found, waiting = [], [ctx.request_params.get(ARRANGED) or {}]
    while waiting:
        space = waiting.pop()
        if "type" in space:
            found.append((space["type"], space["component_id"]))
        waiting += space.get("children") or []
    return found


def download(ctx: Any, name: str, media: str, content: bytes) -> None:
    """Have the browser save a file of this name and media type."""
    encoded = base64.b64encode(content).decode("ascii")
    # an address would depend on proxies between
    ctx.ops.browser_download(f"data:{media};charset=utf-8;base64,{encoded}", filename=name)


def open_sample(ctx: Any, sample_id: Any, *, annotates: bool = False) -> None:
    """Open a sample, in the mode in which its labels are edited if asked for.

    Its id may be an `ObjectId`, which the App would refuse without a word.
    """
    if annotates:
        ctx.trigger("open_sample", {"id": str(sample_id), "mode": "annotate"})
    else:
        ctx.ops.open_sample(id=str(sample_id))


def select_labels(ctx: Any, sample_id: Any, labels: Iterable[tuple[str, str]]) -> None:
    """Select labels, pairs of an id and its field, of the open sample, in place of those selected before.

    The panel has to `send_selections` afterwards. FiftyOne's own `ctx.ops.set_selected_labels` cannot be used: the App
    drops the type of each label, without which a Python session cannot read the message.
    """
    chosen = [{"sample_id": str(sample_id), "label_id": str(label), "field": field} for label, field in labels]
    ctx.trigger(SELECTION, params={"labels": chosen})


async def send_selections(ctx: Any) -> None:
    """Send what `select_labels` selected, and take it from the requests that the App will see."""
    requests = requests_of(ctx)
    chosen = [request.params["labels"] for request in requests if request.operator_uri == SELECTION]
    requests[:] = [request for request in requests if request.operator_uri != SELECTION]
    for labels in chosen:
        await dispatch(label_selection(labels))
