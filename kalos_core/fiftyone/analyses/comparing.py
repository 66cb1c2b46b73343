"""Comparison of two agreement runs of a data set: what changed, and whether the runs are comparable."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from fiftyone import ViewField as F

from kalos_core.diagnostics.comparison import Comparison, compare
from kalos_core.errors import lookup
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun
from kalos_core.fiftyone.kinds.agreement.stored import stored_agreement
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.options import BootstrapSettings, takes
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd


CHANGES = {"improved": -1, "worsened": 1}
"""Type of change -> sort order of the change of alpha: largest change first."""

NOTED = ("raters", "classes", "field", "rater_attribute")
"""Entries of a selection that `compare` checks itself or that do not matter."""


@dataclass(frozen=True)
class SettingRow:
    """One setting of two runs, or one property of the labels they read.

    Examples
    --------
    >>> SettingRow("threshold", 0.5, 0.75).differs
    True
    """

    name: str
    a: Any
    b: Any

    @property
    def differs(self) -> bool:
        """Whether the two values differ."""
        return bool(self.a != self.b)


@dataclass(frozen=True, eq=False, repr=False)
class RunComparison(Result):
    """Comparison of two agreement runs, a and b, of a data set.

    Parameters
    ----------
    a, b : Run
        The runs, with their metrics only.
    comparison : Comparison
        All differences are b - a, for the labels as each run read them.
    """

    _call = "kf.compare_runs(samples, a, b)"
    _shows_table = False

    a: AgreementRun
    b: AgreementRun
    comparison: Comparison

    @property
    def settings(self) -> list[SettingRow]:
        """Settings and selection of both runs, when the labels were read, and the number of images."""
        of_a, of_b = _told(self.a), _told(self.b)
        return [SettingRow(name, of_a[name], of_b[name]) for name in of_a]

    @property
    def notes(self) -> tuple[str, ...]:
        """Reasons why the two may not be comparable; empty if there are none."""
        return (*self.comparison.notes, *_of_selections(self.a.selection, self.b.selection))

    @property
    def headline(self) -> str:
        """Finding in words."""
        return f"{self.a.key} -> {self.b.key}: {self.comparison!r}"

    def to_pandas(self) -> pd.DataFrame:
        """Return the table of `comparison`."""
        return self.comparison.to_pandas()

    def _plots(self) -> Mapping[str, Callable[..., Any]]:
        return {name: partial(_drawn, name) for name in self.comparison.plots}

    def _content(self) -> dict[str, Any]:
        return {"comparison": json.loads(self.comparison.to_json())}


def _drawn(name: str, found: RunComparison, **options: Any) -> Any:
    return found.comparison.plot(name, **options)


@takes(BootstrapSettings)
def compare_runs(samples: Any, a: str, b: str, settings: BootstrapSettings) -> RunComparison:
    """Compare two agreement runs, such as before and after labels were corrected, with `kalos_core.compare`.

    Uses the units as both runs matched and stored them; no label is read.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    a, b : str
        Keys of agreement runs or of analyses, before and after.

    Returns
    -------
    RunComparison

    Raises
    ------
    InputError
        If there is no such run, or the two have no image in common.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement
    >>> dataset = fo.Dataset()
    >>> def boxes(*heights):
    ...     made = [fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.5, height]) for height in heights]
    ...     return fo.Detections(detections=made)
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", raters=["ann", "bob"], ann=boxes(0.5), bob=boxes(0.35)))
    >>> for key, threshold in (("loose", 0.5), ("strict", 0.9)):
    ...     _ = compute_agreement(dataset, key, raters=("ann", "bob"), threshold=threshold)
    >>> found = compare_runs(dataset, "loose", "strict")
    >>> found.comparison.difference, [row.name for row in found.settings if row.differs][:1], len(found.notes)
    (-1.5, ['threshold'], 1)
    >>> view_of_change(dataset, "loose", "strict", "worsened").values("filepath") == dataset.values("filepath")
    True
    >>> dataset.delete()
    """
    before, after = (load_metrics(samples, key, "agreement") for key in (a, b))
    agreement_a, agreement_b = (stored_agreement(samples, run.key) for run in (before, after))
    return RunComparison(before, after, compare(agreement_a, agreement_b, **settings.record()))


def view_of_change(samples: Any, a: str, b: str, which: str) -> Any:
    """Return the images on which alpha rose ("improved") or fell ("worsened"), sorted by the largest change.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    a, b : str
        As in `compare_runs`.
    which : name in `CHANGES`
    """
    order = lookup(CHANGES, which, "which")
    before, after = (F(load_metrics(samples, key, "agreement").names.alpha) for key in (a, b))
    change = after - before
    found = root_of(samples).match((before != None) & (after != None))  # noqa: E711
    return found.match(change * -order > 0).sort_by([(change, order), ("id", 1)])


def _told(run: AgreementRun) -> dict[str, Any]:
    return {**run.settings, **run.selection.record(), "labels read": run.read_at, "images": run.images}


def _of_selections(a: Selection, b: Selection) -> Iterator[str]:
    """Yield a note for each entry in which the selections differ, except those in `NOTED`."""
    of_a, of_b = a.record(), b.record()
    for name in of_a:
        if name not in NOTED and of_a[name] != of_b[name]:
            yield f"Not comparable: {name} is {of_a[name]} in the first and {of_b[name]} in the second."
