"""Communication between panels, and views in the grid and back."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import fiftyone as fo

from kalos_core import InputError
from kalos_core.arguments import check_sent
from kalos_core.fiftyone.app import set_view
from kalos_core.fiftyone.internals import root_of, stages_of, view_of

PLUGIN = "@kalos/variation"

Context: TypeAlias = Any
"""FiftyOne's `ExecutionContext`; FiftyOne ships no types."""

# ---- requests of the view ----


def sent(params: Mapping[str, Any], name: str, kind: Any = str, *, optional: bool = False) -> Any:
    """Return an entry of a request; raise an error if it has another type, or is missing and not `optional`."""
    value = params.get(name)
    if value is None and not optional:
        raise InputError(f"{name}: expected a value, got none")
    check_sent(name, kind, value)
    return value


def sent_part(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of the disputes in a request: a class and a rater."""
    part = sent(params, "part", Mapping[str, Any])
    return {name: sent(part, name, optional=True) for name in ("category", "rater")}


# ---- state that panels share ----

STORE, ANALYSIS, QUEUE = "kalos", "analysis", "queue"
"""Name of a FiftyOne store per data set, and its keys: the analysis selected last, and the queue of disputes."""


def remember(ctx: Context, key: str) -> None:
    """Store the selected analysis for the panel next to the open sample; panels cannot read each other's state."""
    ctx.store(STORE).set(ANALYSIS, key)


def recalled(ctx: Context) -> str | None:
    key: str | None = ctx.store(STORE).get(ANALYSIS)
    return key


def remember_queue(ctx: Context, run: str, category: str | None = None, rater: str | None = None) -> None:
    """Store the part of the disputes to which the queue is limited, for the panel next to the open sample."""
    ctx.store(STORE).set(QUEUE, {"run": run, "category": category, "rater": rater})


def recalled_queue(ctx: Context, run: str) -> dict[str, str]:
    """Return class and rater of that part, as arguments of `next_dispute`; empty for all disputes."""
    found = ctx.store(STORE).get(QUEUE) or {}
    if found.get("run") != run:
        return {}
    return {name: found[name] for name in ("category", "rater") if found[name] is not None}


def recalled_run(ctx: Context) -> str | None:
    """Return the run of the queue that was opened last."""
    return (ctx.store(STORE).get(QUEUE) or {}).get("run")


# ---- targets of clicks ----


MOST_SORTED = 1_000
"""Maximum number of images of a sorted view. The App sends the database several queries per view, and each would sort
all images with their labels on disk: eight seconds for 20,000 images."""


def show_view(ctx: Context, view: Any, content: str) -> dict[str, Any]:
    """Set the view of the grid; return its description, and the previous view for *Back*.

    `content` is in the plural, as in "images in dispute"; for a single image it becomes "image".
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
    """Restore the view before a click, as `show_view` returned it."""
    set_view(ctx, view_of(ctx.dataset, before))
