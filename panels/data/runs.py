"""Runs: all that was computed, when and how, and two analyses side by side."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.diagnostics import Differences
from kalos_core.fiftyone.analyses.comparing import view_of_change
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.stored import count_changes

from .base import Asked, Led, click
from .paged import Page, PagedSection, Value, choice

ACTIONS = {"update_run": "key", "rename_run": "run_key", "describe_run": "run_key", "delete_run": "run_key"}
"""Operator -> the argument that takes the key."""

MOST_ROWS = 25


@dataclass(frozen=True)
class Listed:
    """The runs of one analysis, or a lone one; `said`: their status and notes."""

    key: str
    made: str
    what: tuple[str, ...]
    notation: str
    images: int
    alpha: float | None
    changed: int
    said: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    analysis: str
    runs: tuple[Listed, ...]


@dataclass(frozen=True)
class Difference:
    name: str
    before: float | None
    after: float | None
    change: float | None
    is_clear: bool
    images: int


@dataclass(frozen=True)
class Setting:
    name: str
    before: str
    after: str


@dataclass(frozen=True)
class Comparison:
    """What changed from `against` to `analysis`; `images`: how many improved and worsened."""

    analysis: str
    against: str
    comparable: tuple[str, ...]
    change: Value
    images: dict[str, int]
    doubts: tuple[str, ...]
    classes: tuple[Difference, ...]
    raters: tuple[Difference, ...]
    settings: tuple[Setting, ...]


def listing(asked: Asked) -> Listing:
    together = dict[str, list[AnyRun]]()
    for run in kf.list_runs(asked.dataset, info=True):
        together.setdefault(run.analysis or run.key, []).insert(0, run)  # the one that leads was made first
    return Listing(asked.analysis.key, tuple(_listed(asked, runs) for runs in together.values()))


def comparison(asked: Asked) -> Comparison | None:
    """None where there is no other analysis with agreement."""
    key = asked.analysis.key
    found = [one.key for one in kf.list_analyses(asked.dataset) if one.run("agreement") and one.key != key]
    if not found or asked.analysis.run("agreement") is None:
        return None
    against = choice(asked, "against", found)
    result = kf.compare_runs(asked.dataset, against, key)
    compared = result.comparison
    return Comparison(
        analysis=key,
        against=against,
        comparable=tuple(found),
        change=Value.of(compared.difference, compared.interval, compared.why_no_interval),
        images={"improved": len(compared.improved), "worsened": len(compared.worsened)},
        doubts=tuple(result.notes),
        classes=tuple(_differences(compared.classes)),
        raters=tuple(_differences(compared.raters)),
        settings=tuple(Setting(row.name, _text(row.a), _text(row.b)) for row in result.settings if row.differs),
    )


class RunsSection(PagedSection):
    NAME = "Runs"
    PAGES: ClassVar = {"List": Page("", listing), "Compare": Page("", comparison)}

    @click
    def do(self, asked: Asked) -> Led:
        """The form of what is to be done with a run."""
        operator, key = asked.given["operator"], asked.given["key"]
        return Led(operator=operator, given={ACTIONS[operator]: key})

    @click
    def change(self, asked: Asked) -> Led:
        which, against = asked.given["which"], asked.given["against"]
        view = view_of_change(asked.dataset, against, asked.analysis.key, which)
        return Led(view, f"{which} images, the most first")


def _listed(asked: Asked, runs: list[AnyRun]) -> Listed:
    lead = runs[0]
    return Listed(
        key=lead.key,
        made=f"{lead.made_at:%Y-%m-%d %H:%M}",
        what=tuple(kf.KINDS[run.kind].title for run in runs),
        notation=lead.metrics.get("notation", ""),
        images=lead.images,
        alpha=lead.metrics.get("alpha"),
        changed=count_changes(asked.dataset, lead.key),
        said=tuple(text for run in runs for text in (run.status, run.note) if text),
    )


def _text(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else str(value)


def _differences(found: Differences) -> Iterator[Difference]:
    """Those that changed most first."""
    order = np.argsort(-np.abs(found.difference), kind="stable")[:MOST_ROWS]  # undefined last
    for row in order.tolist():
        change, images = found.difference[row], int(found.images[row])
        yield Difference(
            str(found.name[row]), found.alpha_a[row], found.alpha_b[row], change, bool(found.is_clear[row]), images
        )
