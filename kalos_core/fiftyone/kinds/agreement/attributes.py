"""What raters said of the same object besides its class: agreement on an attribute of the labels of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from numpy.typing import ArrayLike

from kalos_core.annotations import object_array
from kalos_core.errors import InputError, check_text, listed
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.kinds.agreement.stored import stored_agreement
from kalos_core.fiftyone.runs.stored import load_metrics, load_run_view
from kalos_core.nominal import GradeAgreement
from kalos_core.nominal import attribute_agreement as of_attribute


def attribute_agreement(
    samples: Any,
    key: str,
    attribute: str,
    metric: str = "ordinal",
    *,
    order: Sequence[str | float] | None = None,
    weights: str | ArrayLike = "quadratic",
    bootstrap: int = 1000,
    seed: int = 0,
) -> GradeAgreement:
    """Agreement on an attribute of labels that a run matched, such as the malignancy of a nodule.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement: labels are matched as it stored them.
    attribute : str
        Of the labels, as they are now: numbers, truth values or text.
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
    view = load_run_view(samples, run.key)
    there = label_fields(view)
    given: dict[str, Any] = {}
    for path in [there[field] for field in run.label_fields if field in there]:
        for columns in stream(view, [f"{path}.id", f"{path}.{attribute}"]):
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
        metric,
        order=order,
        weights=weights,
        bootstrap=bootstrap,
        seed=seed,
    )
