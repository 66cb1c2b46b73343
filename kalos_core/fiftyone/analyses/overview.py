"""*Overview*: the sentences that matter about an analysis, from what its runs stored."""

from __future__ import annotations

from typing import Any

from kalos_core.errors import InputError
from kalos_core.fiftyone.dataset.lens import Lens
from kalos_core.fiftyone.deciding.queue import count_disputes
from kalos_core.fiftyone.kinds.agreement.lens import narrowed_metrics
from kalos_core.fiftyone.runs.stored import count_changes, find_analysis
from kalos_core.statements import Statement, statements


def overview_of(samples: Any, key: str, lens: Lens = Lens()) -> list[Statement]:  # noqa: B008  frozen
    """What an analysis found, in a few sentences; see `kalos_core.statements`. No label is read.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an analysis with an agreement.
    lens : Lens
        Differences by type, the ceiling and the disputes are those of all labels: they are left out with a lens.

    Raises
    ------
    InputError
        For an analysis without an agreement.
    """
    analysis = find_analysis(samples, key)
    run = analysis.run("agreement")
    if run is None:
        raise InputError(f"analysis: expected one with an agreement, got {key!r} with {', '.join(analysis.runs)}")
    found = narrowed_metrics(samples, run.key, lens)
    if not lens.is_whole:
        return statements(found)
    named, ceiling = analysis.run("variations"), analysis.run("convergence")
    disputes = count_disputes(samples, run.key)
    return statements(
        found,
        None if named is None else named.metrics["counts"],
        None if ceiling is None else ceiling.metrics["whole"],
        (disputes.all, disputes.decided),
        count_changes(samples, run.key),
    )
