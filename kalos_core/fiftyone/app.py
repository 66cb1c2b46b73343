"""Messages to the App that carry views, samples or labels, in the form that FiftyOne's own code sends.

The App forwards them to every Python session. A session that cannot read a message loses its connection. Ten seconds
later it resets the App to the data set that the session began with. Operators and panels send such messages only
through this module.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from .internals import dispatch, forget_view, label_selection, requests_of, view_of

SELECTION = "@kalos/variation/selection"
"""URI that marks a selection among the requests of an event; the server sends it, not the App."""


def set_view(ctx: Any, view: Any) -> None:
    """Show a view in the grid; everything loaded later for the same event already uses it."""
    if view.view() == ctx.dataset.view():  # the App cannot set a view without stages
        ctx.ops.clear_view()
    else:
        ctx.ops.set_view(view)
    ctx.request_params["view"] = requests_of(ctx)[-1].params.get("view", [])
    forget_view(ctx)


def reload_dataset(ctx: Any) -> Any:
    """Reload the data set in the App; clear the current view if it needs a field that no longer exists."""
    try:
        view_of(ctx.dataset, ctx.request_params.get("view") or [])
    except ValueError:
        return (
            ctx.ops.clear_view()
        )  # also reloads the data set; if both were requested, the App might still ask for the old view
    return ctx.ops.reload_dataset()


ARRANGED = "spaces"
"""Key of the panel layout in the request parameters; only the App knows the layout."""


def open_panels(ctx: Any) -> list[tuple[str, str]]:
    """Return the names and ids of all open panels in the App's layout."""
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
    # a URL would depend on the proxies in between
    ctx.ops.browser_download(f"data:{media};charset=utf-8;base64,{encoded}", filename=name)


def open_sample(ctx: Any, sample_id: Any, *, annotates: bool = False) -> None:
    """Open a sample, in annotation mode if `annotates`.

    `sample_id` may be an `ObjectId`, which the App itself would silently refuse.
    """
    if annotates:
        ctx.trigger("open_sample", {"id": str(sample_id), "mode": "annotate"})
    else:
        ctx.ops.open_sample(id=str(sample_id))


def select_labels(ctx: Any, sample_id: Any, labels: Iterable[tuple[str, str]]) -> None:
    """Select labels of the open sample, given as (id, field) pairs; they replace the previous selection.

    The panel must call `send_selections` afterwards. FiftyOne's own `ctx.ops.set_selected_labels` cannot be used: the
    App drops the type of each label, without which a Python session cannot read the message.
    """
    chosen = [{"sample_id": str(sample_id), "label_id": str(label), "field": field} for label, field in labels]
    ctx.trigger(SELECTION, params={"labels": chosen})


async def send_selections(ctx: Any) -> None:
    """Send the selections made by `select_labels`, and remove them from the requests that the App will see."""
    requests = requests_of(ctx)
    chosen = [request.params["labels"] for request in requests if request.operator_uri == SELECTION]
    requests[:] = [request for request in requests if request.operator_uri != SELECTION]
    for labels in chosen:
        await dispatch(label_selection(labels))
