"""Agreement on attributes: values that raters gave the same object in addition to its class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
from fiftyone import ViewExpression
from fiftyone import ViewField as F

from kalos_core.annotations import object_array
from kalos_core.annotations.joining import ATTRIBUTES, attributes_from
from kalos_core.chance.distances import KappaWeights, MetricName
from kalos_core.errors import InputError, check_text, index_of, listed
from kalos_core.fiftyone.dataset.coordinates import CROWD, FILE_ID
from kalos_core.fiftyone.dataset.database import files_of, stream
from kalos_core.fiftyone.dataset.document import own_runs
from kalos_core.fiftyone.dataset.found import RATER_ATTRIBUTES
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.internals import attributes_of, root_of
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun
from kalos_core.fiftyone.kinds.agreement.stored import stored_agreement, stored_units
from kalos_core.fiftyone.kinds.matched import TABLE
from kalos_core.fiftyone.runs.keys import written_fields
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.nominal import GradeAgreement
from kalos_core.nominal import attribute_agreement as of_attribute

GRADED = (fo.IntField, fo.FloatField, fo.BooleanField, fo.StringField)
"""Field types whose values can be compared."""


def attribute_agreement(
    samples: Any,
    key: str,
    attribute: str,
    metric: MetricName | None = None,
    *,
    order: Sequence[str | float] | None = None,
    weights: KappaWeights = "quadratic",
    bootstrap: int = 1000,
    seed: int = 0,
) -> GradeAgreement:
    """Compute the agreement on an attribute of labels that a run matched, such as the malignancy of a nodule.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an agreement run; labels are matched as it stored them.
    attribute : str
        Attribute of the labels with their current values: numbers, truth values or text.
    metric, order, weights, bootstrap, seed
        As in `kalos_core.attribute_agreement`.

    Returns
    -------
    GradeAgreement

    Raises
    ------
    InputError
        For an unknown run, an attribute that none of its labels has, or values that do not fit the metric.

    Examples
    --------
    >>> import fiftyone as fo
    >>> from kalos_core.fiftyone import compute_agreement
    >>> dataset = fo.Dataset()
    >>> def nodule(grade):
    ...     return fo.Detections(detections=[fo.Detection(label="nodule", bounding_box=[0, 0, 1, 1], grade=grade)])
    >>> def image(number, one, other):
    ...     size = fo.ImageMetadata(width=9, height=9)
    ...     return fo.Sample(f"{number}.jpg", metadata=size, raters=["ann", "bob"], ann=nodule(one), bob=nodule(other))
    >>> grades = [(1, 2), (3, 3), (5, 5), (4, 5)]
    >>> _ = dataset.add_samples([image(n, *both) for n, both in enumerate(grades)], progress=False)
    >>> _ = compute_agreement(dataset, "first", raters=("ann", "bob"))
    >>> found = attribute_agreement(dataset, "first", "grade", bootstrap=0)
    >>> round(found.alpha, 3), found.items
    (0.889, 4)
    >>> dataset.delete()
    """
    check_text(attribute, "attribute")
    run = load_metrics(samples, key, "agreement")
    there = label_fields(run.view)
    given: dict[str, Any] = {}
    for path in [there[field] for field in run.label_fields if field in there]:
        for columns in stream(run.view, [f"{path}.id", f"{path}.{attribute}"]):
            ids, values = (chain.from_iterable(of or () for of in column) for column in columns.values())
            given |= {label: value for label, value in zip(ids, values, strict=True) if value is not None}
    matched = stored_agreement(samples, run.key)
    column = object_array([given.get(label) for label in matched.annotations.id.tolist()])
    if all(value is None for value in column):
        fields = listed(run.label_fields, 20)
        raise InputError(f"attribute: expected one that labels of the run have (in {fields}), got {attribute!r}")
    annotations = replace(matched.annotations, attributes={attribute: column})
    return of_attribute(
        replace(matched, annotations=annotations),
        attribute,
        metric=metric,
        order=order,
        weights=weights,
        bootstrap=bootstrap,
        seed=seed,
    )


def attributes_to_compare(samples: Any) -> list[str]:
    """Return the sorted names of the comparable attributes of object labels: numbers, truth values or text.

    These are left out: built-in attributes of a label type, such as the confidence, attributes that name a rater, ids
    from a loaded file, and attributes that runs wrote.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> nodule = fo.Detection(label="nodule", bounding_box=[0, 0, 1, 1], grade=3, confidence=0.5)
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", ann=fo.Detections(detections=[nodule])))
    >>> dataset.add_dynamic_sample_fields()
    >>> attributes_to_compare(dataset)
    ['grade']
    >>> dataset.delete()
    """
    dataset, found = root_of(samples), set()
    written = {path for key in own_runs(dataset) for path in written_fields(dataset, key)}
    for path in label_fields(dataset).values():
        labels = dataset.get_field(path)
        kind = getattr(labels, "field", labels)
        own = {*attributes_of(kind.document_type), *RATER_ATTRIBUTES, CROWD, FILE_ID}
        found |= {
            name
            for name, field in kind.get_field_schema(ftype=GRADED).items()
            if name not in own and f"{path}.{name}" not in written
        }
    return sorted(found)


# ---- views ----


def view_of_attribute(samples: Any, run_key: str, attribute: str) -> Any:
    """Return the samples of an agreement in which raters differ on a compared attribute, largest difference first."""
    run = load_metrics(samples, run_key, "agreement")
    return _differing(run.view, _apart(run, attribute))


@dataclass(frozen=True)
class AttributeRow:
    """The unit of an image with the largest difference in an attribute: its class, and rater -> value."""

    sample_id: str
    file: str
    category: str
    values: Mapping[str, Any]


def attribute_rows(samples: Any, run_key: str, attribute: str, limit: int = 25) -> list[AttributeRow]:
    """Return one unit of each image with the largest differences in an attribute; no label is read.

    Raises
    ------
    InputError
        If the run did not compare the attribute.
    """
    run = load_metrics(samples, run_key, "agreement")
    place = _place(run, attribute)
    worst = _differing(run.view, _apart(run, attribute)).limit(limit)
    annotations, unit_of = stored_units(run.arrays)
    values = attributes_from(run.arrays[f"{TABLE}{ATTRIBUTES}"])[attribute]
    code = {name: number for number, name in enumerate(annotations.images.tolist())}
    order = run.settings["attributes"][place]["order"]
    rows = []
    for sample_id, path in files_of(worst).items():
        here = np.flatnonzero(annotations.image == code[sample_id])
        units: dict[int, dict[int, Any]] = {}
        for row in here.tolist():
            if values[row] is not None:
                units.setdefault(int(unit_of[row]), {})[row] = values[row]
        unit = max(units.values(), key=lambda of: _spread(of.values(), order))
        first = next(iter(unit))
        raters = {str(annotations.raters[annotations.rater[row]]): value for row, value in unit.items()}
        category = str(annotations.categories[annotations.category[first]])
        rows.append(AttributeRow(sample_id, Path(path).name, category, raters))
    return rows


def _spread(values: Iterable[Any], order: Sequence[Any] | None) -> float:
    """Return the range of values, or for names without an order, the number of different names minus 1."""
    found = list(values) if order is None else [order.index(value) for value in values]
    if any(isinstance(value, (str, bool)) for value in found):
        return len(set(map(repr, found))) - 1
    return float(max(found) - min(found))


def _place(run: AgreementRun, attribute: str) -> int:
    compared = [of["name"] for of in run.settings["attributes"]]
    if not compared:
        raise InputError(
            f"run key: expected a run that compared attributes, got {run.key!r}; compute it again with them"
        )
    return index_of(compared, attribute, "attribute")


def _apart(run: AgreementRun, attribute: str) -> ViewExpression:
    """Return the database expression for the difference of an attribute on an image."""
    return F(run.names.attributes)[_place(run, attribute)]


def _differing(view: Any, apart: ViewExpression) -> Any:
    return view.match(apart > 0).sort_by([(apart, -1), ("id", 1)])
