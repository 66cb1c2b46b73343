"""Which masks or labels a selection means, and which classes these masks know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.dataset.raters import MASKS, LabelSource, label_fields, rater_fields, sources_of
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of


def mask_sources(samples: Any, selection: Selection) -> list[LabelSource] | None:
    """The mask fields of the selected raters; None where labels to be rasterised are selected.

    Stored masks are preferred where no raters are selected.

    Raises
    ------
    InputError
        For names of masks and of labels at once, for a name twice, and where there are neither masks nor stored raters.
    """
    if selection.field is not None:
        return None
    masks, fields = rater_fields(samples, MASKS), label_fields(samples, MASKS)
    if selection.raters is None:
        if len(masks) > 1:
            return sources_of(samples, selection, MASKS)
        if rater_fields(samples):
            return None
        labels = listed(label_fields(samples), 20) or "none"
        raise InputError(
            "raters: expected at least two fields of Segmentation masks, or stored raters with polygons or instance "
            f"masks; got {listed(masks, 20) or 'no mask field'} (label fields: {labels})"
        )
    others = [entry for entry in selection.raters if masks.get(entry, entry) not in fields]
    if len(others) == len(selection.raters):
        return None
    if others:
        raise InputError(
            f"raters: expected fields of Segmentation masks only, got also {listed(map(repr, others), 20)}"
        )
    return sources_of(samples, selection, MASKS)


def mask_classes(samples: Any, fields: Sequence[str], ignore_value: int | None = None) -> dict[int, str]:
    """Value -> name of the classes that the mask targets of the data set name; 0 and what is ignored are none.

    Raises
    ------
    InputError
        If fields call one value by different names, or for masks of colours.
    """
    dataset = root_of(samples)
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
