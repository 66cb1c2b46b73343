"""Which fields hold labels of whole images, and whose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, listed
from kalos_core.fiftyone.labels import LabelChoice
from kalos_core.fiftyone.raters import INFO_KEY, rater_names

IMAGE_LABELS: dict[type, str] = {fo.Classification: "", fo.Classifications: "classifications"}
"""Label types of whole images, and the attribute that holds their list; "" for a single label."""

TIME_ATTRIBUTE = "answered_at"
"""Attribute of a label that says when it was given: a number or a date."""


@dataclass(frozen=True)
class LabelSource:
    """One field of image-level labels and whose they are: one rater's, or `attribute` tells.

    Parameters
    ----------
    field, path : str
        The field, and the path of its labels, such as ``"ann"`` and ``"ann.classifications"``.
    rater, attribute : str, optional
    """

    field: str
    path: str
    rater: str | None
    attribute: str | None

    @property
    def is_list(self) -> bool:
        """Whether a sample has a list of labels there."""
        return self.path != self.field


def image_label_fields(samples: Any) -> dict[str, str]:
    """Fields of a collection that hold labels of whole images, with the path of these labels.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> dataset.add_sample_field("ann", fo.EmbeddedDocumentField, embedded_doc_type=fo.Classification)
    >>> dataset.add_sample_field("bob", fo.EmbeddedDocumentField, embedded_doc_type=fo.Classifications)
    >>> image_label_fields(dataset)
    {'ann': 'ann', 'bob': 'bob.classifications'}
    >>> dataset.delete()
    """
    schema = samples.get_field_schema(ftype=fo.EmbeddedDocumentField)
    found = {name: IMAGE_LABELS[field.document_type] for name, field in schema.items() if _is_image_label(field)}
    return {name: f"{name}.{labels}" if labels else name for name, labels in found.items()}


def image_rater_fields(samples: Any) -> dict[str, str]:
    """Rater name -> field of image-level labels, as `load_label_table` stored it; fields that are gone are left out."""
    stored = samples._root_dataset.info.get(INFO_KEY, {}).get("raters", {})
    fields = image_label_fields(samples)
    return {name: field for field, name in stored.items() if field in fields}


def image_label_names(samples: Any) -> list[str]:
    """The labels that occur in the stored raters' fields (in all such fields where none are stored), sorted."""
    fields = image_label_fields(samples)
    chosen = [fields[field] for field in image_rater_fields(samples).values()] or list(fields.values())
    found = samples.aggregate([fo.Distinct(f"{path}.label") for path in chosen]) if chosen else []
    return sorted({name for names in found for name in names})


def scored_fields(samples: Any) -> list[str]:
    """Fields of image-level labels with a confidence or logits, as systems give them."""
    fields = image_label_fields(samples)
    paths = [(name, path) for name, label in fields.items() for path in (f"{label}.confidence", f"{name}.logits")]
    counts = samples.aggregate([fo.Count(path) for _, path in paths]) if paths else []
    return list(dict.fromkeys(name for (name, _), count in zip(paths, counts, strict=True) if count))


def label_sources(samples: Any, choice: LabelChoice) -> list[LabelSource]:
    """The fields that hold the labels of a choice, one per rater or one of all; without those of a reference."""
    paths = image_label_fields(samples)
    if choice.field is None:
        reference = None if choice.reference is None else next(iter(_resolve(samples, [choice.reference], "reference")))
        fields = _resolve(samples, choice.raters, "raters")
        return [LabelSource(field, paths[field], name, None) for name, field in fields.items() if name != reference]
    _resolve(samples, [choice.field], "field")
    if choice.field == paths[choice.field]:
        raise InputError(
            f"field: expected Classifications, each label with its rater, got {choice.field!r}, "
            "which has one label a sample"
        )
    return [LabelSource(choice.field, paths[choice.field], None, choice.rater_attribute)]


def _resolve(samples: Any, entries: Iterable[str] | None, what: str) -> dict[str, str]:
    """Rater name -> field for raters named by field or by name; None: all that are stored."""
    known, fields = image_rater_fields(samples), image_label_fields(samples)
    offer = f"label fields: {listed(fields, 20) or 'none'}; stored raters: {listed(known, 20) or 'none'}"
    if entries is None:
        if not known:
            raise InputError(
                "raters: this data set has no stored raters of whole images; pass the fields, one per rater, or one "
                f"field and its rater attribute ({offer})"
            )
        return known
    chosen: dict[str, str] = {}
    for entry in entries:
        field = known.get(entry, entry)
        if field not in fields:
            raise InputError(
                f"{what}: expected a field of Classification or Classifications, or a rater, got {entry!r} ({offer})"
            )
        (name,) = rater_names(samples, [field])
        if name in chosen:
            raise InputError(f"{what}: expected every rater once, got {name!r} twice")
        chosen[name] = field
    return chosen


def _is_image_label(field: Any) -> bool:
    return field.document_type in IMAGE_LABELS
