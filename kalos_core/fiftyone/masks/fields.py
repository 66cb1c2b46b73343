"""Which fields hold the masks of whose rater, and which classes these masks know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.labels import LabelChoice
from kalos_core.fiftyone.raters import INFO_KEY, label_fields, rater_fields, rater_names

TRUTH = "kalos_truth"
"""Key in what a field says of itself: it was estimated by a run of this name, so it is no rater's."""

MARKED = "marked"
"""What the one class of binary masks is called."""


def mask_fields(samples: Any) -> list[str]:
    """Fields of `Segmentation` that may hold a rater's masks: all but the truths that runs wrote.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> dataset.add_sample_field("ann", fo.EmbeddedDocumentField, embedded_doc_type=fo.Segmentation)
    >>> mask_fields(dataset)
    ['ann']
    >>> dataset.delete()
    """
    schema = samples.get_field_schema(ftype=fo.EmbeddedDocumentField, embedded_doc_type=fo.Segmentation)
    return [name for name, field in schema.items() if TRUTH not in (field.info or {})]


def mask_raters(samples: Any) -> dict[str, str]:
    """Rater name -> field of their masks, as `load_mask_folders` stored it; else every mask field by its own name."""
    stored: Mapping[str, str] = samples._root_dataset.info.get(INFO_KEY, {}).get("raters", {})
    fields = mask_fields(samples)
    known = {name: field for field, name in stored.items() if field in fields}
    return known or {field: field for field in fields}


def fields_of_masks(samples: Any, choice: LabelChoice) -> dict[str, str] | None:
    """Rater name -> mask field of the raters chosen; None where the choice is of labels, whose shapes are rasterised.

    Raises
    ------
    InputError
        For names of masks and labels at once, for a name twice, and where there are neither masks nor stored raters.
    """
    if choice.field is not None:
        return None
    masks = mask_raters(samples)
    if choice.raters is None:
        if len(masks) > 1:
            return _without(masks, rater_names(samples, [choice.reference])[0] if choice.reference else None)
        if rater_fields(samples):
            return None
        labels = listed(label_fields(samples), 20) or "none"
        raise InputError(
            "raters: expected at least two fields of Segmentation masks, or stored raters with polygons or instance "
            f"masks; got {listed(masks, 20) or 'no mask field'} (label fields: {labels})"
        )
    drawn = set(mask_fields(samples))
    of_masks = {entry: masks.get(entry, entry) for entry in choice.raters if masks.get(entry, entry) in drawn}
    if not of_masks:
        return None
    others = [entry for entry in choice.raters if entry not in of_masks]
    if others:
        raise InputError(
            f"raters: expected fields of Segmentation masks only, got also {listed(map(repr, others), 20)}"
        )
    chosen: dict[str, str] = {}
    for field in of_masks.values():
        name = rater_names(samples, [field])[0]
        if name in chosen:
            raise InputError(f"raters: expected every rater once, got {name!r} twice")
        chosen[name] = field
    if len(of_masks) < len(choice.raters):
        raise InputError(f"raters: expected every rater once, got {listed(map(repr, choice.raters), 20)}")
    return _without(chosen, rater_names(samples, [choice.reference])[0] if choice.reference else None)


def _without(fields: dict[str, str], reference: str | None) -> dict[str, str]:
    return {name: field for name, field in fields.items() if name != reference}


def mask_classes(samples: Any, fields: Sequence[str], ignore_value: int | None = None) -> dict[int, str]:
    """Value -> name of the classes that the mask targets of the data set name; 0 and what is ignored are none.

    Raises
    ------
    InputError
        If fields call one value by different names, or for masks of colours.
    """
    dataset = samples._root_dataset
    found: dict[int, str] = {}
    for field in fields:
        for value, name in (dataset.mask_targets.get(field) or dataset.default_mask_targets or {}).items():
            if not isinstance(value, int):
                raise InputError(f"masks: expected values of one number a class, got the colour {value!r} in {field!r}")
            if value in (0, ignore_value):
                continue
            if found.setdefault(value, str(name)) != str(name):
                raise InputError(f"masks: expected one name of the value {value}, got {found[value]!r} and {name!r}")
    return found


def chosen_classes(known: Mapping[int, str], names: Sequence[str] | None) -> dict[int, str]:
    """Value -> name of the classes chosen by name or value; all that are known; none where masks are binary.

    Examples
    --------
    >>> chosen_classes({1: "road", 2: "car"}, ["car"]), chosen_classes({}, ["3"]), chosen_classes({}, None)
    ({2: 'car'}, {3: '3'}, {})
    """
    if names is None:
        return dict(known)
    value_of = {name: value for value, name in known.items()}
    chosen = {}
    for name in names:
        value = value_of.get(name, int(name) if name.isdecimal() else 0)
        if not value or (known and value not in known):
            offered = listed(known.values(), 20) or "whole numbers above 0, as these masks have no named values"
            raise InputError(f"classes: expected classes among {offered}, got {name!r}")
        chosen[value] = known.get(value, name)
    return chosen


def truth_fields(samples: Any) -> list[str]:
    """Fields that `estimate_truth` wrote."""
    schema = samples.get_field_schema(ftype=fo.EmbeddedDocumentField)
    return [name for name, field in schema.items() if TRUTH in (field.info or {})]
