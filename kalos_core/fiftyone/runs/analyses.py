"""Grouping of runs into analyses: runs made for one analysis, and separate runs on the same labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kalos_core.fiftyone.runs.table import KINDS, Run

AnyRun = Run[Any, Any, Any, Any]


@dataclass(frozen=True)
class Analysis:
    """Runs that are shown together.

    Parameters
    ----------
    key : str
        Key of the analysis and of its leading run.
    runs : dict
        Kind -> run, with settings and metrics only: the runs made for the analysis and, for other kinds, the newest
        separate run on the same labels.

    Examples
    --------
    >>> Analysis("first", {}).run("agreement") is None
    True
    """

    key: str
    runs: dict[str, AnyRun]

    def run(self, kind: str) -> AnyRun | None:
        """Return the run of a kind; None if there is none."""
        return self.runs.get(kind)


def analyses_of(runs: Sequence[AnyRun]) -> list[Analysis]:
    """Group runs into analyses, newest first.

    A separate run of the leading kind is an analysis of its own; so is a separate run of another kind that fits none.

    Parameters
    ----------
    runs : sequence of Run
        Runs of one data set, the newest first.
    """
    leading = next(kind.name for kind in KINDS.values() if kind.suffix)
    lone = [run for run in runs if run.analysis is None]
    found: dict[str, dict[str, AnyRun]] = {}
    for run in runs:
        if run.analysis is not None or run.kind == leading:
            found.setdefault(run.analysis or run.key, {}).setdefault(run.kind, run)
    for run in lone:
        if run.kind != leading and not any(_fits(run, members) for members in found.values()):
            found[run.key] = {run.kind: run}
    for members in found.values():
        for run in lone:
            if run.kind != leading and run.kind not in members and _fits(run, members):
                members[run.kind] = run
    made = [Analysis(key, {kind: members[kind] for kind in KINDS if kind in members}) for key, members in found.items()]
    return sorted(made, key=_age, reverse=True)


def _age(analysis: Analysis) -> tuple[datetime, str]:
    """Return the time of the first run of an analysis, ignoring runs that were not made for it."""
    own = (run.made_at for run in analysis.runs.values() if analysis.key in (run.analysis, run.key))
    return min(own), analysis.key


def _fits(run: AnyRun, members: Mapping[str, AnyRun]) -> bool:
    """Return whether a separate run fits an analysis; if its kind is part of analyses, it must have the same labels."""
    if not KINDS[run.kind].suffix:
        return True
    family = KINDS[run.kind].family
    others = [other for other in members.values() if KINDS[other.kind].suffix and KINDS[other.kind].family is family]
    return all(_labels_of(run) == _labels_of(other) for other in others if other is not run)


def _labels_of(run: AnyRun) -> tuple[Any, ...]:
    return run.selection, sorted(run.label_fields), run.images
