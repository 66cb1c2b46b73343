"""Views behind the numbers of an estimated truth: labels on which a rater disagrees with it."""

from __future__ import annotations

from typing import Any

from fiftyone import VALUE, ViewExpression
from fiftyone import ViewField as F

from kalos_core.errors import InputError, index_of, lookup
from kalos_core.fiftyone.dataset.expressions import list_of, only_labels, text
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.kinds.labelled import estimates
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_metrics


def view_of_objections(samples: Any, run_key: str, rater: str, consensus: str | None = None) -> Any:
    """Return a view of only the labels on which a rater differs from an estimated truth of objects.

    Of the estimate, the view shows objects that the rater missed or gave another class. Of the rater, it shows labels
    that are part of no object, or of an object with another class. Labels that were added after the run, and labels of
    other raters, are left out.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of a run on objects that estimated who is right.
    rater : str
    consensus : str, optional
        Name of the estimate, such as ``"confusion 0.5"``; by default the first.

    Raises
    ------
    InputError
        If the run did not estimate who is right, or if the rater or the estimate is unknown.
    """
    run = load_metrics(samples, run_key, "truth")
    if not estimates(run):
        raise InputError(f"run key: expected a run made with model=..., got {run.key!r}, which estimated nothing")
    number, fields = index_of(run.metrics["raters"], rater, "rater"), run.metrics["fields"]
    name = next(iter(fields)) if consensus is None else consensus
    lookup(fields, name, "consensus")
    view = run.view
    is_shared = run.selection.field is not None
    own = run.label_fields[0 if is_shared else number]
    missed = list_of(run.names.against).contains([text(rater)])
    differs = _differs(label_fields(view), run.names, fields, name, ~missed)
    if is_shared:
        differs &= F(run.selection.rater_attribute).to_string() == text(rater)
    # filter labels first, because they are compared with all objects
    found = only_labels(view, [own, fields[name]], {own: differs, fields[name]: missed})
    others = [field for field in run.label_fields if field != own and found.has_field(field)]
    return found.exclude_fields(others) if others else found


def _differs(
    paths: dict[str, str], names: RunNames, fields: dict[str, str], name: str, right: ViewExpression
) -> ViewExpression:
    """Return whether a label was read and is part of no object of an estimate on which its rater is `right`."""
    objects = {truth: list_of(f"${paths[field]}") for truth, field in fields.items() if field in paths}
    read = [list_of(f"${names.left_out}"), *(_parts(of, names) for of in objects.values())]
    kept = _parts(objects[name].filter(right), names) if name in objects else ViewExpression.literal([])
    label = F("_id").to_string()
    return ViewExpression.any([each.contains([label]) for each in read]) & ~kept.contains([label])


def _parts(objects: ViewExpression, names: RunNames) -> ViewExpression:
    """Return the ids of the source labels of objects."""
    return objects.map(list_of(names.match)).reduce(VALUE.extend(F()), init_val=[])
