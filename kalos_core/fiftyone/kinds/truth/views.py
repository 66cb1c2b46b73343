"""Views behind the numbers of an estimated truth: where a rater says otherwise."""

from __future__ import annotations

from typing import Any

from kalos_core.errors import InputError, index_of, lookup
from kalos_core.fiftyone.dataset.expressions import list_of, only_labels, text
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view


def view_of_objections(samples: Any, run_key: str, rater: str, consensus: str | None = None) -> Any:
    """The objects of a truth that a rater missed or gave another class, and the samples that have any.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Of a truth of objects that estimated who is right.
    rater : str
    consensus : str, optional
        One of the truths of the run, such as ``"confusion 0.5"``; by default the first.

    Raises
    ------
    InputError
        For a run that did not estimate who is right, or an unknown rater or truth.
    """
    run = load_metrics(samples, run_key, "truth")
    if run.settings.get("model") is None:
        raise InputError(f"run key: expected a run made with model=..., got {run.key!r}, which estimated nothing")
    index_of(run.metrics["raters"], rater, "rater")
    fields = run.metrics["fields"]
    name = next(iter(fields)) if consensus is None else consensus
    lookup(fields, name, "consensus")
    otherwise = list_of(run.names.against).contains([text(rater)])
    return only_labels(load_run_view(samples, run.key, "truth"), [fields[name]], otherwise)
