"""Runs: list of all runs with time and settings, and comparison of two analyses."""

from datetime import datetime
from typing import Any, ClassVar

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.diagnostics import Differences
from kalos_core.errors import lookup
from kalos_core.fiftyone.analyses.comparing import view_of_change
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.stored import count_changes

from .base import Asked, Led, click
from .paged import Page, PagedSection, choice
from .rows import Row, row_of, rows_of, value_of

ACTIONS = {"update_run": "key", "rename_run": "run_key", "describe_run": "run_key", "delete_run": "run_key"}
"""Operator -> the argument that takes the key."""

MOST_ROWS = 25


def listing(asked: Asked) -> Row:
    together = dict[str, list[AnyRun]]()
    for run in kf.list_runs(asked.dataset, info=True):
        together.setdefault(run.analysis or run.key, []).insert(0, run)  # the one that leads was made first
    return {"analysis": asked.analysis.key, "runs": [_listed(asked.dataset, runs) for runs in together.values()]}


def comparison(asked: Asked) -> Row | None:
    """Return the changes from `against` to the analysis; None without another analysis with agreement."""
    key = asked.analysis.key
    found = [one.key for one in kf.list_analyses(asked.dataset) if one.run("agreement") and one.key != key]
    if not found or asked.analysis.run("agreement") is None:
        return None
    against = choice(asked, "against", found)
    result = kf.compare_runs(asked.dataset, against, key)
    compared = result.comparison
    settings = [row for row in result.settings if row.differs]
    return {
        "analysis": key,
        "against": against,
        "comparable": found,
        "change": value_of(compared.difference, compared.interval, compared.why_no_interval),
        "images": {"improved": len(compared.improved), "worsened": len(compared.worsened)},
        "doubts": result.notes,
        "classes": _differences(compared.classes),
        "raters": _differences(compared.raters),
        "settings": [{"name": row.name, "before": _text(row.a), "after": _text(row.b)} for row in settings],
    }


class RunsSection(PagedSection):
    NAME = "Runs"
    PAGES: ClassVar = {"List": Page("", listing), "Compare": Page("", comparison)}

    @click
    def do(self, asked: Asked) -> Led:
        """Open the form of an action on a run."""
        operator, key = asked.value("operator"), asked.value("key")
        return Led(operator=operator, given={lookup(ACTIONS, operator, "operator"): key})

    @click
    def change(self, asked: Asked) -> Led:
        which, against = asked.value("which"), asked.value("against")
        view = view_of_change(asked.dataset, against, asked.analysis.key, which)
        return Led(view, f"{which} images, largest change first")


def _listed(dataset: Any, runs: list[AnyRun]) -> Row:
    """Return the runs of one analysis, or a single run; `said`: their status and notes, and why one cannot be read."""
    lead = next((run for run in runs if not run.unreadable), runs[0])
    return {
        **row_of(lead, "key", "images"),
        "made": f"{lead.made_at:%Y-%m-%d %H:%M}",
        "what": [run.title for run in runs],
        "notation": lead.metrics.get("notation", ""),
        "alpha": lead.metrics.get("alpha"),
        "changed": None if lead.unreadable else count_changes(dataset, lead.key),
        "said": [text for run in runs for text in (run.unreadable, run.status, run.note) if text],
    }


def _text(value: Any) -> str:
    return f"{value:%Y-%m-%d %H:%M:%S}" if isinstance(value, datetime) else str(value)


def _differences(found: Differences) -> list[Row]:
    """Return the differences, largest first."""
    order = np.argsort(-np.abs(found.difference), kind="stable")[:MOST_ROWS]  # undefined last
    numbers = {"before": found.alpha_a, "after": found.alpha_b, "change": found.difference}
    return rows_of(order, name=found.name, **numbers, is_clear=found.is_clear, images=found.images)
