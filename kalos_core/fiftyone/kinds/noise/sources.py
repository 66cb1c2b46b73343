"""Sources of synthetic raters, found by their names: the reference, confused classes, and false positives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import fiftyone.core.models as fom
import fiftyone.core.utils as fou
import fiftyone.zoo as foz
import numpy as np

from kalos_core.errors import InputError, listed, lookup, repr_of
from kalos_core.fiftyone.dataset.database import files_of, stream
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, LabelType
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, label_fields, rater_fields, rater_names, resolve_fields
from kalos_core.fiftyone.dataset.samples import check_sizes
from kalos_core.fiftyone.dataset.selection import LabelSelection, Selection
from kalos_core.fiftyone.kinds.noise.settings import NoiseArguments
from kalos_core.noise import (
    ClassSource,
    ConfusionClasses,
    DetectedFalsePositives,
    EmbeddingClasses,
    FalsePositiveSource,
    ImageFalsePositives,
    TaxonomyClasses,
    TransplantedFalsePositives,
)

READ_FOR = {"detections": "mask_iou", "polylines": "polygon_iou"}
"""Label list -> similarity for which labels are read, so that masks (if any) and outlines are included."""


@dataclass(frozen=True)
class Reference:
    """Reference from which raters are generated.

    Parameters
    ----------
    names : tuple of str
        Names of the reference raters in the annotations.
    fields : tuple of str
        Label fields of the reference.
    label_type : LabelType
        Type of the labels of the reference; synthetic labels have the same type.
    selection : Selection
        Labels to read: those of the reference, and those of the raters that a model is learned from.
    similarity : str
        Similarity for which labels are read.
    """

    names: tuple[str, ...]
    fields: tuple[str, ...]
    label_type: LabelType
    selection: Selection
    similarity: str

    @classmethod
    def of(
        cls,
        samples: Any,
        reference: str | Sequence[str] | None,
        others: Sequence[str] | None,
        labels: LabelSelection,
    ) -> Reference:
        """Find the reference by raters or fields; without any, use the only rater of the data set.

        `others` are the raters that a model is learned from; None for all stored raters.

        Raises
        ------
        InputError
            If the reference is ambiguous, or if its labels are neither detections nor polylines.
        """
        selection = labels.part(Selection, raters=None, reference=None)
        paths, stored = label_fields(samples), rater_fields(samples)
        names = _names(samples, reference, selection)
        found = resolve_fields(samples, names if selection.field is None else [selection.field], argument="reference")
        lists = sorted({_list_at(paths[field]) for field in found.values()})
        if len(lists) > 1 or lists[0] not in READ_FOR:
            raise InputError(
                f"reference: expected labels with boxes, all Detections or all Polylines, got {listed(lists)}"
            )
        (name,) = lists
        if selection.field is not None:
            raters = None if others is None else tuple(dict.fromkeys([*others, *names]))
            selection = replace(selection, raters=raters)
        else:
            names = list(found)
            alike = [field for field in stored.values() if _list_at(paths[field]) == name]
            fields = alike if others is None else [stored.get(rater, rater) for rater in others]
            raters = tuple(dict.fromkeys(rater_names(samples, [*fields, *found.values()])))
            selection = _where_labelled(samples, replace(selection, raters=raters), names)
        return cls(tuple(names), tuple(found.values()), LABEL_TYPES[name], selection, READ_FOR[name])

    def read(self, samples: Any) -> Labels:
        """Read the labels; raise an error if the size of an image is unknown."""
        labels = read_labels(samples, self.selection, [self.similarity])
        check_sizes(labels.annotations.files, labels.annotations.image_size)
        return labels


def _names(samples: Any, reference: str | Sequence[str] | None, selection: Selection) -> list[str]:
    if reference is not None:
        return [reference] if isinstance(reference, str) else list(reference)
    known = list(rater_fields(samples)) or list(label_fields(samples))
    if selection.field is not None or len(known) != 1:
        raise InputError(
            "reference: expected the rater or label field to generate raters from, one of "
            f"{listed(known, 20) or 'none'}, got none"
        )
    return known


def _where_labelled(samples: Any, selection: Selection, references: Sequence[str]) -> Selection:
    """Return a selection by labels if a reference is in no list of assigned raters."""
    if selection.assigned != "auto" or not samples.has_field(ASSIGNED_FIELD):
        return selection
    listed_raters = set(samples.distinct(ASSIGNED_FIELD))
    return selection if listed_raters.issuperset(references) else replace(selection, assigned="labelled")


def _list_at(path: str) -> str:
    return path.rpartition(".")[2]


# ---- classes ----


def class_source_of(settings: NoiseArguments, labels: Labels, origin: Reference) -> ClassSource:
    """Return the source that decides which classes are confused with each other."""
    source, embeddings, taxonomy = settings.class_source, settings.embeddings, settings.taxonomy
    if not isinstance(source, str):
        return source
    if source == "confusion":
        return ConfusionClasses.of(labels.annotations)
    if source == "taxonomy":
        if taxonomy is None:
            raise InputError("taxonomy: expected a tree of classes, or the path of its JSON, got none")
        return TaxonomyClasses.from_tree(taxonomy)
    if embeddings is None:
        raise InputError(
            "embeddings: expected an attribute of the reference's labels with vectors, or a model that embeds patches, "
            "got none"
        )
    return _embeddings(embeddings, labels, origin)


def _embeddings(given: Any, labels: Labels, origin: Reference) -> EmbeddingClasses:
    """Return embeddings of the reference's labels, stored in an attribute or computed by a model."""
    paths = {field: label_fields(labels.view)[field] for field in origin.fields}
    if isinstance(given, str) and _is_attribute(labels.view, paths.values(), given):
        name, found = f"embeddings in {repr_of(given)}", _stored_vectors(labels.view, paths, given)
    else:
        model = _zoo_model(given, list(paths.values())) if isinstance(given, str) else given
        if not isinstance(model, fom.Model) or not model.has_embeddings:
            raise InputError(f"embeddings: expected a FiftyOne model that embeds images, got {repr_of(given)}")
        name, found = f"embeddings by {type(model).__name__}", _computed_vectors(labels.view, paths, model)
    annotations = labels.annotations
    class_of = dict(zip(annotations.id.tolist(), annotations.categories[annotations.category].tolist(), strict=True))
    vectors = [
        (np.ravel(vector), class_of[label_id])
        for ids, own in found
        for label_id, vector in zip(ids or (), () if own is None else own, strict=False)
        if vector is not None and label_id in class_of
    ]
    if not vectors:
        raise InputError(f"{name}: expected a vector for labels of the reference, got none")
    return EmbeddingClasses([vector for vector, _ in vectors], [category for _, category in vectors], name)


def _is_attribute(view: Any, paths: Iterable[str], name: str) -> bool:
    if not name.isidentifier():
        return False
    return any(view.count(f"{path}.{name}") for path in paths)


def _stored_vectors(view: Any, paths: Mapping[str, str], name: str) -> Iterator[tuple[Any, Any]]:
    """Iterate over the ids and vectors of the labels of each sample and field."""
    for path in paths.values():
        for columns in stream(view, [f"{path}.id", f"{path}.{name}"]):
            for ids, own in zip(*columns.values(), strict=True):
                yield (
                    ids,
                    [fou.deserialize_numpy_array(each) if isinstance(each, bytes) else each for each in own or ()],
                )


def _computed_vectors(view: Any, paths: Mapping[str, str], model: Any) -> Iterator[tuple[Any, Any]]:
    """Iterate like `_stored_vectors`, but compute the vectors."""
    for field, path in paths.items():
        found = view.compute_patch_embeddings(model, field, skip_failures=False, progress=False)
        for sample, ids in zip(*view.values(["id", f"{path}.id"]), strict=True):
            yield ids, found.get(sample)


def _zoo_model(name: str, paths: Sequence[str]) -> Any:
    """Load a model of FiftyOne's zoo if it is already downloaded, so that no network access is needed."""
    known = foz.list_downloaded_zoo_models()
    if name not in known:
        raise InputError(
            f"embeddings: expected an attribute of the labels in {listed(paths)} that has vectors, or a zoo model that "
            f"is downloaded ({listed(known, 20) or 'none is'}), got {name!r}"
        )
    return foz.load_zoo_model(name)


# ---- false positives ----


def false_positive_source_of(settings: NoiseArguments, labels: Labels, origin: Reference) -> FalsePositiveSource:
    """Return the source that decides where false positives are added."""
    source, detections = settings.false_positive_source, settings.detections
    if not isinstance(source, str):
        return source
    if source == "transplanted":
        return TransplantedFalsePositives()
    view: Any = labels.view
    if source == "images":
        files: Mapping[Any, Any] = files_of(view)
        return ImageFalsePositives(files)
    fields = label_fields(view)
    if detections is None:
        raise InputError(f"detections: expected a field of detections, one of {listed(fields, 20)}, got none")
    lookup(fields, detections, "detections")
    if (kind := _list_at(fields[detections])) not in READ_FOR:
        raise InputError(f"detections: expected a field of Detections or Polylines, got {kind}")
    if detections in origin.fields:
        raise InputError(f"detections: expected another field than the reference's, got {detections!r}")
    return DetectedFalsePositives(labels_of_field(labels, detections, origin.similarity).annotations)
