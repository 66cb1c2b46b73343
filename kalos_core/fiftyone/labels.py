"""From a view and its raters to `Annotations`, and per-label values back."""

from __future__ import annotations

import hashlib
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.clips as foc
import fiftyone.core.patches as fop
import fiftyone.core.video as fov
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray
from pymongo import UpdateOne

from kalos_core.annotations import Annotations, RawTable, build_annotations, object_array
from kalos_core.errors import InputError, KalosError, KalosWarning, Problems, listed
from kalos_core.fiftyone.raters import ASSIGNED_FIELD, label_fields, resolve_fields
from kalos_core.shapes import Polygons

ASSIGNMENTS = ("auto", "all", "labelled")
"""How it is known who was asked: the sample field `raters` (else as "all"), everybody everywhere, or those whose
label field is there, be it empty (one field per rater), or who drew (a rater attribute)."""


@dataclass(frozen=True)
class LabelChoice:
    """Which labels of a view an analysis reads; a run stores it as a record.

    Parameters
    ----------
    raters : tuple of str, optional
        Label fields or stored rater names, one per rater; with `field`, names to keep. None: all that are known.
    field : str, optional
        One field that holds the labels of all raters, told apart by `rater_attribute`.
    rater_attribute : str
        Only read with `field`.
    reference : str, optional
        A gold or reference rater, kept out of agreement.
    classes : tuple of str, optional
        Classes to read; None: all.
    min_area : float
        Smallest area of a mark, in square pixels. A mark just above it whose partner is just below stays alone.
    min_confidence : float
        Labels with a lower confidence are left out; labels without one are kept.
    assigned : str
        One of `ASSIGNMENTS`.
    """

    raters: tuple[str, ...] | None = None
    field: str | None = None
    rater_attribute: str = "rater"
    reference: str | None = None
    classes: tuple[str, ...] | None = None
    min_area: float = 0.0
    min_confidence: float = 0.0
    assigned: str = "auto"

    def record(self) -> dict[str, Any]:
        """As plain values, for storing."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> LabelChoice:
        """The choice a stored record describes."""
        values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record.items()}
        return cls(**values)


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a view as annotations, and where each of them is stored.

    Parameters
    ----------
    annotations : Annotations
        Images are sample ids, ids are label ids, coordinates are pixels (fractions of the picture where its size is
        unknown).
    choice : LabelChoice
        What was asked for.
    fields, paths : tuple of str
        Label fields that were read, and the paths of their lists, such as ``"r1.detections"``.
    path_of : (N,) int
        Which of `paths` each annotation lies in.
    hashes : (I,) object
        A digest per image of the labels that were read and of who was asked.
    stored : fiftyone.core.collections.SampleCollection
        The samples as they are stored, no label filtered out.
    """

    annotations: Annotations
    choice: LabelChoice
    fields: tuple[str, ...]
    paths: tuple[str, ...]
    path_of: NDArray[np.intp]
    hashes: NDArray[np.object_]
    stored: Any


def read_annotations(samples: Any, choice: LabelChoice | None = None, **options: Any) -> Annotations:
    """The labels of a data set or view as `Annotations`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    choice : LabelChoice, optional
    **options
        Fields of `LabelChoice`, instead of `choice`.

    Returns
    -------
    Annotations

    Raises
    ------
    InputError
        For an empty view, a video, a grouped data set without an active slice, a view of patches, a field that is
        not there or is not a label field, open polylines, and every record that cannot be used.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> box = fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.5, 0.5])
    >>> _ = dataset.add_sample(
    ...     fo.Sample(
    ...         "a.jpg",
    ...         ann=fo.Detections(detections=[box]),
    ...         bob=fo.Detections(),
    ...         raters=["ann", "bob"],
    ...         metadata=fo.ImageMetadata(width=100, height=80),
    ...     )
    ... )
    >>> annotations = read_annotations(dataset, raters=("ann", "bob"))
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[10.0, 8.0, 50.0, 40.0]], [[True, True]])
    >>> dataset.delete()
    """
    return read_labels(samples, choice or LabelChoice(**options)).annotations


def default_similarity(samples: Any, choice: LabelChoice) -> str:
    """Polygons where every field holds polylines, boxes otherwise."""
    paths = label_fields(samples)
    fields = [choice.field] if choice.field else list(resolve_fields(samples, choice.raters).values())
    return "polygon_iou" if all(paths.get(field, "").endswith(".polylines") for field in fields) else "box_iou"


def read_labels(samples: Any, choice: LabelChoice) -> Labels:
    """The chosen labels of a view, with where they are stored. One query reads them all."""
    check_samples(samples)
    if choice.assigned not in ASSIGNMENTS:
        raise InputError(f"assigned: expected one of {', '.join(ASSIGNMENTS)}, got {choice.assigned!r}")
    sources = _sources(samples, choice)
    columns = _query(samples, sources, choice)
    rows = _flatten(columns, sources)
    raters = _rater_vocabulary(rows, columns, sources, choice)
    rows = rows.keep([rater in raters or rater is None for rater in rows.table.rater])
    if choice.min_confidence > 0:
        rows = rows.keep([value is None or value >= choice.min_confidence for value in rows.confidence])
    if choice.classes is not None:
        rows = rows.keep([name in set(choice.classes) for name in rows.table.category])
    annotations = _build(rows, raters, columns, sources, choice)
    path_of = np.array(rows.source, dtype=np.intp)
    if choice.min_area > 0:
        _check_sizes(annotations)
        kept = np.flatnonzero(_area(annotations) >= choice.min_area)
        annotations, path_of = annotations.select(rows=kept), path_of[kept]
    return Labels(
        annotations=annotations,
        choice=choice,
        fields=tuple(source.field for source in sources),
        paths=tuple(source.path for source in sources),
        path_of=path_of,
        hashes=_digests(annotations),
        stored=_as_stored(samples),
    )


def check_samples(samples: Any) -> None:
    """Refuse collections whose samples are not pictures that labels can be written back to."""
    if isinstance(samples, (fop.PatchesView, foc.ClipsView, fov.FramesView)):
        raise InputError(f"samples: expected a view of samples, got a {type(samples).__name__}")
    media = samples.media_type
    if media == "group":
        active = samples.group_slice
        if active is None:
            raise InputError("samples: this data set is grouped and has no active slice; choose one first")
        media = samples.group_media_types[active]
    if len(samples) == 0:
        raise InputError("samples: expected at least one sample, got an empty view")
    if media != "image":
        raise InputError(f"samples: expected pictures, got samples of type {media!r}")


def _as_stored(samples: Any) -> Any:
    dataset = samples._root_dataset
    return dataset.select_group_slices(samples.group_slice) if samples.media_type == "group" else dataset


@dataclass(frozen=True)
class _Source:
    """One label list and whose labels it holds: one rater, or `attribute` tells."""

    path: str
    field: str
    rater: str | None
    attribute: str | None

    @property
    def is_polyline(self) -> bool:
        return self.path.endswith(".polylines")

    @property
    def attributes(self) -> list[str]:
        shape = ["points", "closed"] if self.is_polyline else ["bounding_box"]
        return ["id", "label", "confidence", *shape, *([self.attribute] if self.attribute else [])]


@dataclass
class _Rows:
    """Labels of all sources, one entry a label."""

    table: RawTable
    confidence: list[float | None]
    source: list[int]
    sample: list[int]
    open_: list[bool]

    def keep(self, chosen: Sequence[bool]) -> _Rows:
        if all(chosen):
            return self

        def cut(values: list[Any]) -> list[Any]:
            return [value for value, kept in zip(values, chosen, strict=True) if kept]

        table = RawTable(**{name: cut(values) for name, values in vars(self.table).items()})
        return _Rows(table, cut(self.confidence), cut(self.source), cut(self.sample), cut(self.open_))


def _sources(samples: Any, choice: LabelChoice) -> list[_Source]:
    paths = label_fields(samples)
    if choice.field is None:
        fields = resolve_fields(samples, choice.raters)
        return [_Source(paths[field], field, name, None) for name, field in fields.items()]
    resolve_fields(samples, [choice.field])  # refuses what is no label field
    return [_Source(paths[choice.field], choice.field, None, choice.rater_attribute)]


def _query(samples: Any, sources: list[_Source], choice: LabelChoice) -> dict[str, list[Any]]:
    paths = ["id", "filepath", "metadata.width", "metadata.height"]
    if choice.assigned == "auto" and samples.has_field(ASSIGNED_FIELD):
        paths.append(ASSIGNED_FIELD)
    if choice.assigned == "labelled":
        paths += [f"{source.field}._cls" for source in sources]
    paths += [f"{source.path}.{attribute}" for source in sources for attribute in source.attributes]
    return dict(zip(paths, samples.values(paths), strict=True))


def _flatten(columns: Mapping[str, list[Any]], sources: list[_Source]) -> _Rows:
    rows = _Rows(RawTable(), [], [], [], [])
    table, ids, sizes = rows.table, columns["id"], _sizes(columns, unknown=1.0)
    for number, source in enumerate(sources):
        lists = [columns[f"{source.path}.{attribute}"] for attribute in source.attributes]
        for sample, per_attribute in enumerate(zip(*lists, strict=True)):
            if not per_attribute[0]:
                continue
            width, height = sizes[sample]
            # an attribute that no label of a sample has comes as None, not as a list
            filled = [values or [None] * len(per_attribute[0]) for values in per_attribute]
            for label_id, name, confidence, *shape in zip(*filled, strict=True):
                table.id.append(label_id)
                table.image.append(ids[sample])
                table.category.append(name)
                table.rater.append(_name(shape.pop() if source.attribute else source.rater))
                table.box.append(None if source.is_polyline else _scaled_box(shape[0], width, height))
                table.polygon.append(_scaled_rings(shape[0], width, height) if source.is_polyline else None)
                rows.open_.append(source.is_polyline and not shape[1])
                rows.confidence.append(confidence)
                rows.source.append(number)
                rows.sample.append(sample)
    return rows


def _name(rater: object) -> str | None:
    return None if rater is None or rater == "" else str(rater)


def _scaled_box(box: Sequence[float] | None, width: float, height: float) -> list[float] | None:
    return None if box is None else [box[0] * width, box[1] * height, box[2] * width, box[3] * height]


def _scaled_rings(rings: list[list[Sequence[float]]] | None, width: float, height: float) -> list[Any] | None:
    return [[(x * width, y * height) for x, y in ring] for ring in rings] if rings else None


def _sizes(columns: Mapping[str, list[Any]], unknown: float) -> list[tuple[float, float]]:
    return [
        (width, height) if width and height else (unknown, unknown)
        for width, height in zip(columns["metadata.width"], columns["metadata.height"], strict=True)
    ]


def _rater_vocabulary(
    rows: _Rows, columns: Mapping[str, list[Any]], sources: list[_Source], choice: LabelChoice
) -> list[str]:
    if choice.field is None:
        names = [source.rater for source in sources if source.rater is not None]
    else:
        listed_names = [name for names in columns.get(ASSIGNED_FIELD, ()) for name in names or ()]
        drawn = [name for name in rows.table.rater if name is not None]
        names = sorted(dict.fromkeys([*listed_names, *drawn]))
        if choice.raters is not None:
            strangers = [name for name in choice.raters if name not in names]
            if strangers:
                raise InputError(f"raters: expected names among {listed(names, 20)}, got {listed(strangers)}")
            names = list(choice.raters)
    if choice.reference is not None and choice.reference not in names:
        raise InputError(f"reference: expected one of {listed(names, 20)}, got {choice.reference!r}")
    return [name for name in names if name != choice.reference]


def _build(
    rows: _Rows, raters: list[str], columns: Mapping[str, list[Any]], sources: list[_Source], choice: LabelChoice
) -> Annotations:
    files = [Path(path).name for path in columns["filepath"]]

    def describe(row: int) -> str:
        return f"{files[rows.sample[row]]}, field {sources[rows.source[row]].field!r}, label {rows.table.id[row]}"

    problems = Problems("view")
    problems.add_all(np.flatnonzero(rows.open_), describe, "a closed polyline", lambda _: "an open one")
    classes = sorted({name for name in rows.table.category if name is not None})
    return build_annotations(
        rows.table,
        source="view",
        images=columns["id"],
        files=files,
        raters=raters,
        categories={name: name for name in classes},
        image_size=_sizes(columns, unknown=float("nan")),
        assigned=_assigned(rows, raters, columns, sources, choice),
        describe=describe,
        problems=problems,
        stacklevel=5,
    )


def _assigned(
    rows: _Rows, raters: list[str], columns: Mapping[str, list[Any]], sources: list[_Source], choice: LabelChoice
) -> list[list[str] | None]:
    if choice.assigned == "labelled":
        return _labelled(rows, raters, columns, sources)
    if ASSIGNED_FIELD in columns:
        wanted = set(raters)
        return [[name for name in names or () if name in wanted] for names in columns[ASSIGNED_FIELD]]
    if choice.assigned == "auto" and len(raters) > 1:
        warnings.warn(
            f"no sample field {ASSIGNED_FIELD!r} says who was asked: every rater is taken as assigned to every sample, "
            "so that a sample a rater never saw counts as 'saw it and drew nothing', which lowers alpha. "
            "Choose assigned='labelled' to count a rater only where their labels are there.",
            KalosWarning,
            stacklevel=6,
        )
    return [None] * len(columns["id"])


def _labelled(
    rows: _Rows, raters: list[str], columns: Mapping[str, list[Any]], sources: list[_Source]
) -> list[list[str] | None]:
    who: list[set[str]] = [set() for _ in columns["id"]]
    for source in sources:
        if source.rater in raters:
            for sample, kind in enumerate(columns[f"{source.field}._cls"]):
                if kind is not None:
                    who[sample].add(str(source.rater))
    for sample, rater in zip(rows.sample, rows.table.rater, strict=True):
        if rater is not None:
            who[sample].add(rater)
    return [[name for name in raters if name in names] for names in who]


def _check_sizes(annotations: Annotations) -> None:
    unknown: NDArray[np.bool_] = np.any(np.isnan(annotations.image_size), axis=1)
    if unknown.any():
        raise InputError(
            f"min_area: the size of {unknown.sum():,} of {len(unknown):,} pictures is unknown "
            f"({listed(annotations.files[unknown])}); run compute_metadata() on the data set first"
        )


def _area(annotations: Annotations) -> NDArray[np.float64]:
    column = annotations.shapes.get("polygon", annotations.shapes["box"])
    return column.area()


def _digests(annotations: Annotations) -> NDArray[np.object_]:
    """(I,) a digest of who was asked and of every label read, whatever the vocabularies and their order."""

    def crc(texts: NDArray[np.object_]) -> NDArray[np.int64]:
        return np.array([zlib.crc32(str(text).encode()) for text in texts], dtype=np.int64)

    box = annotations.shapes["box"].bounds() if len(annotations) else np.zeros((0, 4))
    polygon = annotations.shapes.get("polygon")
    outline = np.zeros(len(annotations), np.int64)
    if isinstance(polygon, Polygons):
        outline[:] = [zlib.crc32(b"".join(ring.tobytes() for ring in polygon.rings(n))) for n in range(len(outline))]
    rows = np.column_stack(
        [
            crc(annotations.raters)[annotations.rater],
            crc(annotations.categories)[annotations.category],
            crc(annotations.id),
            np.round(box, 6).view(np.int64),
            outline,
        ]
    ).astype(np.int64)
    order = np.lexsort((*rows.T[::-1], annotations.image))
    ends = np.searchsorted(annotations.image[order], np.arange(len(annotations.images) + 1))
    names = crc(annotations.raters)
    digests = []
    for image in range(len(annotations.images)):
        asked = np.sort(names[annotations.assigned[image]])
        content = asked.tobytes() + rows[order[ends[image] : ends[image + 1]]].tobytes()
        digests.append(hashlib.blake2b(content, digest_size=8).hexdigest())
    return object_array(digests)


@dataclass(frozen=True)
class LabelAttribute:
    """Values for every annotation, to be written under one attribute name; None where there is none."""

    name: str
    values: Sequence[Any]


def write_values(
    labels: Labels,
    attributes: Sequence[LabelAttribute],
    sample_field: str | None = None,
    sample_values: Sequence[Any] | None = None,
) -> None:
    """Write attributes of all labels, and a field of all samples, with one update per sample.

    The fields have to be declared already. FiftyOne's own setters write one attribute of one label per update, which
    for 80,000 labels takes seconds each. Every update names the ids of the labels it expects at their places and does
    nothing where they have moved; that is an error, so nothing is written to a wrong label.

    Raises
    ------
    KalosError
        If labels were added or removed by somebody else meanwhile.
    """
    annotations = labels.annotations
    now = datetime.now(timezone.utc).replace(tzinfo=None)
    now = now.replace(microsecond=now.microsecond // 1000 * 1000)  # the database keeps milliseconds
    conditions: list[dict[str, Any]] = [{"_id": ObjectId(sample)} for sample in annotations.images]
    values: list[dict[str, Any]] = [{"last_modified_at": now} for _ in annotations.images]
    if sample_field is not None and sample_values is not None:
        for update, value in zip(values, sample_values, strict=True):
            update[sample_field] = value
    places = _places(labels)
    columns = [(f".{attribute.name}", attribute.values) for attribute in attributes]
    for row, (image, label_id) in enumerate(zip(annotations.image.tolist(), annotations.id, strict=True)):
        place = places.get(label_id)
        if place is None:
            raise KalosError(f"label {label_id} is gone: the labels were changed while this run was computed")
        conditions[image][f"{place}._id"] = ObjectId(label_id)
        for suffix, column in columns:
            values[image][place + suffix] = column[row]
    updates = [UpdateOne(where, {"$set": new}) for where, new in zip(conditions, values, strict=True)]
    ids = list(annotations.images)
    labels.stored._root_dataset._bulk_write(updates, ids=ids, progress=False)
    written = labels.stored.select(ids).match(fo.ViewField("last_modified_at") >= now).count()
    if written < len(ids):
        raise KalosError(
            f"{len(ids) - written:,} samples were changed while this run was computed; nothing of it is kept, run again"
        )


def _places(labels: Labels) -> dict[str, str]:
    """Label id -> path of its place in the stored document, such as ``r1.detections.3``."""
    ids = list(labels.annotations.images)
    stored = labels.stored.select(ids, ordered=False).values([f"{path}.id" for path in labels.paths])
    return {
        label_id: f"{path}.{place}"
        for path, per_sample in zip(labels.paths, stored, strict=True)
        for label_ids in per_sample
        for place, label_id in enumerate(label_ids or ())
    }
