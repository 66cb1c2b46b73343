"""What synthetic raters are generated from and with: reference, noise model, classes, false positives, as named."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypedDict

import fiftyone.core.models as fom
import fiftyone.core.utils as fou
import fiftyone.zoo as foz
import numpy as np

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed, lookup
from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.database import stream
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, LabelType
from kalos_core.fiftyone.dataset.objects import Labels, labels_of_field, read_labels
from kalos_core.fiftyone.dataset.raters import label_fields, rater_fields, rater_names, resolve_fields
from kalos_core.fiftyone.dataset.samples import check_sizes
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.noise import (
    ClassSource,
    ConfusionClasses,
    DetectedFalsePositives,
    EmbeddingClasses,
    FalsePositiveSource,
    ImageFalsePositives,
    NoiseModel,
    TaxonomyClasses,
    TransplantedFalsePositives,
)
from kalos_core.readers.files import load_json

READ_FOR = {"detections": "mask_iou", "polylines": "polygon_iou"}
"""List of labels -> the similarity they are read for: with their masks, where there are any, and outlines."""

CLASS_SOURCES = ("confusion", "embeddings", "taxonomy")
FALSE_POSITIVE_SOURCES = ("transplanted", "detections", "images")
"""Names of the sources; see `inject_noise`."""


class ReferenceSelection(TypedDict, total=False):
    """Keyword arguments that say which labels are read, besides those of whom; see `Selection`."""

    field: str | None
    rater_attribute: str
    classes: Sequence[str] | None
    min_area: float
    min_confidence: float
    assigned: str


@dataclass(frozen=True)
class Reference:
    """What raters are generated from.

    Parameters
    ----------
    names : tuple of str
        Of the reference raters, as the annotations have them.
    fields : tuple of str
        The label fields they are in.
    label_type : LabelType
        Of their labels: the synthetic ones are of the same.
    selection : Selection
        Which labels are read: the references', and those of the raters from whom is learned.
    similarity : str
        What the labels are read for.
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
        arguments: ReferenceSelection,
    ) -> Reference:
        """From a rater or field, or several of them; without any, the only rater there is.

        `others`: raters from whom is learned; None: all that are stored.

        Raises
        ------
        InputError
            If it is not clear who is meant, or their labels are neither detections nor polylines.
        """
        selection = Selection.of(arguments)
        names = _names(samples, reference, selection)
        found = resolve_fields(samples, names if selection.field is None else [selection.field], argument="reference")
        lists = {_list_of(samples, field) for field in found.values()}
        strange = sorted(lists - READ_FOR.keys())
        if strange or len(lists) > 1:
            raise InputError(
                f"reference: expected labels with boxes, all Detections or all Polylines, got {listed(sorted(lists))}"
            )
        (name,) = lists
        if selection.field is not None:
            raters = None if others is None else tuple(dict.fromkeys([*others, *names]))
            selection = replace(selection, raters=raters)
        else:
            names = list(found)
            fields = [*_fields(samples, _alike(samples, name) if others is None else others), *found.values()]
            selection = replace(selection, raters=tuple(dict.fromkeys(rater_names(samples, fields))))
            selection = _where_labelled(samples, selection, names)
        return cls(tuple(names), tuple(found.values()), LABEL_TYPES[name], selection, READ_FOR[name])

    def read(self, samples: Any) -> Labels:
        """Their labels; an error where the size of an image is not known."""
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
    """A reference that stands in no list of assigned raters was assigned where its labels are."""
    if selection.assigned != "auto" or not samples.has_field(ASSIGNED_FIELD):
        return selection
    listed_raters = set(samples.distinct(ASSIGNED_FIELD))
    return selection if listed_raters.issuperset(references) else replace(selection, assigned="labelled")


def _alike(samples: Any, name: str) -> list[str]:
    """All stored raters whose labels are of one type."""
    return [rater for rater, field in rater_fields(samples).items() if _list_of(samples, field) == name]


def _fields(samples: Any, raters: Sequence[str]) -> list[str]:
    known = rater_fields(samples)
    return [known.get(rater, rater) for rater in raters]


def _list_of(samples: Any, field: str) -> str:
    return label_fields(samples)[field].rpartition(".")[2]


# ---- model ----


def model_of(
    model: NoiseModel | str | os.PathLike[str],
    labels: Labels,
    rate: str = "auto",
    preset: str = "faithful",
    shifts: str | None = None,
) -> tuple[NoiseModel, str]:
    """A noise model, and what to call it: one as such, "default", "fit" (on the labels), or JSON or its path.

    `rate`, `preset`, `shifts`: how it is fitted.
    """
    for name, value, usual in (("rate", rate, "auto"), ("preset", preset, "faithful")):
        if value != usual and model != "fit":
            raise InputError(f"{name}: expected {usual!r} unless the model is fitted (model='fit'), got {value!r}")
    if isinstance(model, NoiseModel):
        return model, "a model of your own"
    if model == "default":
        return NoiseModel.default(), "default"
    if model == "fit":
        raters = labels.annotations.raters
        if len(raters) < 2:
            raise InputError(f"model: expected two real raters or more to fit one, got {listed(raters)}")
        return NoiseModel.fit(labels.annotations, rate, shifts=shifts, preset=preset), f"fitted on {listed(raters, 20)}"
    if isinstance(model, str) and model.lstrip().startswith("{"):
        return NoiseModel.from_json(model), "JSON"
    if not isinstance(model, (str, os.PathLike)):
        raise InputError(f"model: expected 'default', 'fit', a NoiseModel or a path of its JSON, got {model!r}")
    return NoiseModel.from_json(Path(model)), Path(model).name


# ---- classes ----


def class_source_of(
    source: ClassSource | str,
    labels: Labels,
    origin: Reference,
    embeddings: Any = None,
    taxonomy: Mapping[str, Any] | str | os.PathLike[str] | None = None,
) -> ClassSource:
    """What says which classes are taken for one another, from its name in `CLASS_SOURCES` or as such."""
    if not isinstance(source, str):
        return source
    lookup(dict.fromkeys(CLASS_SOURCES), source, "class_source")
    if source == "confusion":
        return ConfusionClasses.of(labels.annotations)
    if source == "taxonomy":
        return _taxonomy(taxonomy)
    if embeddings is None:
        raise InputError(
            "embeddings: expected an attribute of the reference's labels with vectors, or a model that embeds patches, "
            "got none"
        )
    return _embeddings(embeddings, labels, origin)


def _taxonomy(given: Mapping[str, Any] | str | os.PathLike[str] | None) -> TaxonomyClasses:
    if given is None:
        raise InputError("taxonomy: expected a tree of classes, or the path of its JSON, got none")
    tree = given if isinstance(given, Mapping) else load_json(Path(given), "taxonomy")
    if not isinstance(tree, Mapping):
        raise InputError(f"taxonomy: expected a tree of groups with classes, got {type(tree).__name__}")
    return TaxonomyClasses.from_tree(tree)


def _embeddings(given: Any, labels: Labels, origin: Reference) -> EmbeddingClasses:
    """Of the reference's labels: stored in an attribute, or computed by a model."""
    paths = [label_fields(labels.view)[field] for field in origin.fields]
    if isinstance(given, str) and _is_attribute(labels.view, paths, given):
        return _stored_vectors(given, labels, paths)
    model = _zoo_model(given, paths) if isinstance(given, str) else given
    if not isinstance(model, fom.Model) or not model.has_embeddings:
        raise InputError(f"embeddings: expected a FiftyOne model that embeds images, got {given!r}")
    return _computed_vectors(model, labels, origin)


def _is_attribute(view: Any, paths: Sequence[str], name: str) -> bool:
    if not name.isidentifier():
        return False
    return any(view.count(f"{path}.{name}") for path in paths)


def _stored_vectors(name: str, labels: Labels, paths: Sequence[str]) -> EmbeddingClasses:
    class_of = _classes(labels.annotations)
    vectors, classes = [], []
    for path in paths:
        for columns in stream(labels.view, [f"{path}.id", f"{path}.{name}"]):
            for ids, values in zip(*columns.values(), strict=True):
                for label_id, vector in zip(ids or (), values or (), strict=True):
                    if vector is not None and label_id in class_of:
                        vectors.append(fou.deserialize_numpy_array(vector) if isinstance(vector, bytes) else vector)
                        classes.append(class_of[label_id])
    return _mean_vectors(vectors, classes, f"embeddings in {name!r}")


def _computed_vectors(model: Any, labels: Labels, origin: Reference) -> EmbeddingClasses:
    class_of = _classes(labels.annotations)
    vectors, classes = [], []
    for field in origin.fields:
        path = label_fields(labels.view)[field]
        found = labels.view.compute_patch_embeddings(model, field, skip_failures=False, progress=False)
        for sample, ids in zip(*labels.view.values(["id", f"{path}.id"]), strict=True):
            for label_id, vector in zip(ids or (), () if found.get(sample) is None else found[sample], strict=False):
                if label_id in class_of:
                    vectors.append(vector)
                    classes.append(class_of[label_id])
    return _mean_vectors(vectors, classes, f"embeddings by {type(model).__name__}")


def _mean_vectors(vectors: list[Any], classes: list[str], name: str) -> EmbeddingClasses:
    try:
        table = np.array(vectors, dtype=np.float64).reshape(len(classes), -1)
    except (TypeError, ValueError):
        raise InputError(f"{name}: expected vectors of numbers, all of one length, got others") from None
    if not len(table):
        raise InputError(f"{name}: expected a vector for labels of the reference, got none")
    return EmbeddingClasses(table, classes, name)


def _classes(annotations: Annotations) -> dict[str, str]:
    """Label id -> class."""
    return dict(zip(annotations.id.tolist(), annotations.categories[annotations.category].tolist(), strict=True))


def _zoo_model(name: str, paths: Sequence[str]) -> Any:
    """A model of FiftyOne's zoo, only where it is downloaded already: nothing here needs the network."""
    known = foz.list_downloaded_zoo_models()
    if name not in known:
        raise InputError(
            f"embeddings: expected an attribute of the labels in {listed(paths)} that has vectors, or a zoo model that "
            f"is downloaded ({listed(known, 20) or 'none is'}), got {name!r}"
        )
    return foz.load_zoo_model(name)


# ---- false positives ----


def false_positive_source_of(
    source: FalsePositiveSource | str, labels: Labels, origin: Reference, detections: str | None = None
) -> FalsePositiveSource:
    """What says where annotations are added, from its name in `FALSE_POSITIVE_SOURCES` or as such."""
    if not isinstance(source, str):
        return source
    lookup(dict.fromkeys(FALSE_POSITIVE_SOURCES), source, "false_positive_source")
    if source == "transplanted":
        return TransplantedFalsePositives()
    view: Any = labels.view
    if source == "images":
        return ImageFalsePositives(dict(zip(*view.values(["id", "filepath"]), strict=True)))
    fields = label_fields(view)
    if detections is None:
        raise InputError(f"detections: expected a field of detections, one of {listed(fields, 20)}, got none")
    lookup(fields, detections, "detections")
    if _list_of(view, detections) not in READ_FOR:
        raise InputError(f"detections: expected a field of Detections or Polylines, got {_list_of(view, detections)}")
    if detections in origin.fields:
        raise InputError(f"detections: expected another field than the reference's, got {detections!r}")
    return DetectedFalsePositives(labels_of_field(labels, detections, origin.similarity).annotations)
