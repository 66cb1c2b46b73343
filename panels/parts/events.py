"""What happens after a click: errors without traceback, views in the grid and back, open samples, selected labels."""

import functools
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import fiftyone as fo

from kalos_core import KalosError
from kalos_core.fiftyone.app import set_view
from kalos_core.fiftyone.internals import root_of, stages_of, view_of

logger = logging.getLogger(__name__)

PLUGIN = "@kalos/variation"

WORKBENCH = f"{PLUGIN}/raters"
"""The panel that all sections are part of."""

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


def handlers(owner: Any) -> dict[str, Callable[[Context], None]]:
    """The handlers of an object by name."""
    names = [name for name in dir(type(owner)) if getattr(getattr(type(owner), name), "is_handler", False)]
    return {name: getattr(owner, name) for name in names}


def _fail(ctx: Context, message: str) -> None:
    ctx.panel.state.problem = message
    ctx.ops.notify(message.splitlines()[0], variant="error")


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
