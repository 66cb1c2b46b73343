"""What happens after a click: errors without traceback, views in the grid and back, open samples, selected labels."""

import asyncio
import functools
import logging
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import fiftyone as fo
import fiftyone.operators as foo
import fiftyone.operators.types as types

from kalos_core import KalosError
from kalos_core.fiftyone.app import send_selections, set_view
from kalos_core.fiftyone.internals import requests_of, root_of, stages_of, view_of

logger = logging.getLogger(__name__)

PLUGIN = "@kalos/variation"

WORKBENCH = f"{PLUGIN}/raters"
"""The panel that all sections are part of."""

LOADED_TWICE = 1.5
"""Seconds within which a panel that was loaded is loaded again only because the App sends the event twice."""

Context: TypeAlias = Any
"""FiftyOne's `ExecutionContext`; FiftyOne ships no types."""

Owner = TypeVar("Owner")

Handler: TypeAlias = Callable[[Owner, Context], None]


def guarded(handler: Handler[Owner]) -> Handler[Owner]:
    """A handler of a panel whose errors are shown in the panel instead of replacing it with a traceback."""

    @functools.wraps(handler)
    def call(self: Owner, ctx: Context) -> None:
        try:
            if ctx.panel.state.problem:  # each change of the state makes the App send all its events again
                ctx.panel.state.problem = None
            handler(self, ctx)
        except KalosError as error:
            _fail(ctx, str(error))
        except Exception as error:
            logger.exception("The panel %s failed", type(self).__name__)
            _fail(ctx, f"{type(error).__name__}: {error}")

    call.is_handler = True  # type: ignore[attr-defined]
    return call


class Panel(foo.Panel):
    """A panel with a `reload`, whose answers reach the App as a whole."""

    def on_load(self, ctx: Context) -> None:
        """Load it, unless that was just done: the App asks again as soon as the first answer arrives.

        A second answer would come late, and show what was there before over what has been chosen meanwhile.
        """
        loaded = ctx.panel.state.loaded
        if loaded is None or not 0 <= time.time() - loaded < LOADED_TWICE:
            self.reload(ctx)

    def reload(self, ctx: Context) -> None:
        raise NotImplementedError

    async def execute(self, ctx: Context) -> Any:
        """Answer an event in a thread, then select the labels it points at."""
        result = await asyncio.to_thread(self.answer, ctx)
        await send_selections(ctx)
        return result

    def answer(self, ctx: Context) -> Any:
        """All that changes goes into one request for the state and one for the data.

        The App carries out one request after the other and draws anew after each: a menu that is set sends its event
        while the rest is still on its way, and the answer to that event would show what was there before.

        With a choice in a menu the App copies the data into the state, and lays new data over that copy, entry by
        entry: of a figure with fewer bars the last bars of the one before would stay. So the copies go.
        """
        result = foo.Panel.execute(self, ctx)
        state: dict[str, Any] = {}
        data: dict[str, Any] = {}
        rest: list[Any] = []
        put_data = ctx.ops.patch_panel_data
        requests = requests_of(ctx)
        for request in requests:
            if request.operator_uri == "patch_panel_state":
                state |= request.params["state"]
            elif request.operator_uri == "patch_panel_data":
                data |= request.params["data"]
            elif request.operator_uri == "clear_panel_data":
                data, put_data = {}, ctx.ops.set_panel_data
            else:
                rest.append(request)
        requests.clear()
        state = dict.fromkeys(data) | state
        if data or put_data == ctx.ops.set_panel_data:
            put_data(data)
        if state:
            ctx.ops.patch_panel_state(state)
        requests += rest
        return result


def handlers(owner: Any) -> dict[str, Callable[[Context], None]]:
    """The handlers of an object by name."""
    names = [name for name in dir(type(owner)) if getattr(getattr(type(owner), name), "is_handler", False)]
    return {name: getattr(owner, name) for name in names}


def _fail(ctx: Context, message: str) -> None:
    ctx.panel.state.problem = message
    ctx.ops.notify(message.splitlines()[0], variant="error")


def add_problem(panel: types.Object, ctx: Context, retry: Any) -> None:
    """What went wrong, with a button that tries again."""
    panel.view("failed", types.Error(label="This could not be shown", description=ctx.panel.state.problem))
    panel.btn("retry", label="Try again", icon="refresh", on_click=retry, variant="contained")


# ---- what panels know of each other ----

STORE, ANALYSIS, QUEUE = "kalos", "analysis", "queue"
"""A store of FiftyOne for each data set; in it the analysis chosen last, and which of its disputes are gone through."""


def remember(ctx: Context, key: str) -> None:
    """The panel beside the open sample begins with the analysis chosen last: no panel sees the state of another."""
    ctx.store(STORE).set(ANALYSIS, key)


def recalled(ctx: Context) -> str | None:
    key: str | None = ctx.store(STORE).get(ANALYSIS)
    return key


def remember_queue(ctx: Context, run: str, category: str | None = None, rater: str | None = None) -> None:
    """The panel beside the open sample goes on within the part of the disputes that the queue was opened with."""
    ctx.store(STORE).set(QUEUE, {"run": run, "category": category, "rater": rater})


def recalled_queue(ctx: Context, run: str) -> dict[str, str]:
    """Class and rater of that part, as arguments of `next_dispute`; nothing where it is all of them."""
    found = ctx.store(STORE).get(QUEUE) or {}
    if found.get("run") != run:
        return {}
    return {name: found[name] for name in ("category", "rater") if found[name] is not None}


def recalled_run(ctx: Context) -> str | None:
    """The run of the queue that was opened last."""
    return (ctx.store(STORE).get(QUEUE) or {}).get("run")


# ---- where clicks lead ----


MOST_SORTED = 1_000
"""Images of a sorted view. The App asks the database several questions of a view; for each of them it would sort all
images with all their labels, on its disk: of 20,000 images for eight seconds."""


def show_view(ctx: Context, view: Any, content: str) -> dict[str, Any]:
    """Set the view of the grid; what is in it then, in words, and the view before, for *Back*.

    `content` is in the plural, as in "images in dispute": of one it says "image".
    """
    before = ctx.request_params.get("view") or []
    view = view.view()
    unsorted = root_of(view).view()
    for stage in stages_of(view):
        if not isinstance(stage, fo.SortBy):
            unsorted = unsorted.add_stage(stage)
    count = len(unsorted)
    which = f"{count:,}"
    if count == 1:
        content = re.sub(r"\b(image|object)s\b", r"\1", content, count=1)
    if count > MOST_SORTED and len(stages_of(unsorted)) < len(stages_of(view)):
        view, which = view.limit(MOST_SORTED), f"the first {MOST_SORTED:,} of {count:,}"
    set_view(ctx, view)
    return {"text": f"{which} {content}", "before": before}


def go_back(ctx: Context, before: Sequence[Mapping[str, Any]]) -> None:
    """The view that was in the grid before a click, as `show_view` answered it."""
    set_view(ctx, view_of(ctx.dataset, before))
