"""Communication between panels, and views in the grid and back."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import fiftyone as fo

from kalos_core.fiftyone.app import set_view
from kalos_core.fiftyone.internals import root_of, stages_of, view_of

PLUGIN = "@kalos/variation"

Context: TypeAlias = Any
"""FiftyOne's `ExecutionContext`; FiftyOne ships no types."""

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
