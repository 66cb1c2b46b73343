"""From a view and its raters to `Annotations`: one query, every record checked."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, RawTable, as_name, build_annotations
from kalos_core.errors import InputError, KalosWarning, Problems, listed
from kalos_core.fiftyone.labels.choice import LabelChoice
from kalos_core.fiftyone.labels.digests import digests
from kalos_core.fiftyone.labels.samples import check_samples, every_sample, settle
from kalos_core.fiftyone.raters import (
    ASSIGNED_FIELD,
    check_assigned_field,
    label_fields,
    reference_name,
    resolve_fields,
)
from kalos_core.shapes import Polygons


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a view as annotations, and where each of them is stored.

    Parameters
    ----------
    annotations : Annotations
        Images are sample ids, ids are label ids, coordinates are pixels (fractions of the picture where its size is
        unknown).
    choice : LabelChoice
        What was asked for, with the raters that were found.
    fields, paths : tuple of str
        Label fields that were read, and the paths of their lists, such as ``"r1.detections"``.
    path_of : (N,) int
        Which of `paths` each annotation lies in.
    hashes : (I,) object
        A digest per image of the labels that were read and of who was asked.
    view : fiftyone.core.collections.SampleCollection
        What was read, see `settle`.
    """

    annotations: Annotations
    choice: LabelChoice
    fields: tuple[str, ...]
    paths: tuple[str, ...]
    path_of: NDArray[np.intp]
    hashes: NDArray[np.object_]
    view: Any


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
    return read_labels(samples, LabelChoice.of(choice, options)).annotations


def default_similarity(samples: Any, choice: LabelChoice) -> str:
    """Polygons where every field holds polylines, boxes otherwise."""
    return "polygon_iou" if all(source.is_polyline for source in _sources(samples, choice)) else "box_iou"


def read_labels(samples: Any, choice: LabelChoice, *, again: bool = False) -> Labels:
    """The chosen labels of a view, with where they are stored. One query reads them all.

    `again`: the choice is that of a stored run, so names that no label has any more are no mistake.
    """
    check_samples(samples)
    sources = _sources(samples, choice)
    view = settle(samples)
    columns = _query(view, sources, choice)
    rows = _flatten(columns, sources)
    raters = _rater_vocabulary(rows, columns, sources, choice, again)
    who = _assigned(rows, raters, columns, sources, choice)
    wanted = set(raters)
    rows = rows.keep([rater in wanted or rater is None for rater in rows.table.rater])
    if choice.min_confidence > 0:
        rows = rows.keep([value is None or value >= choice.min_confidence for value in rows.confidence])
    if choice.classes is not None:
        if not again:
            _check_classes(view, rows, sources, choice.classes)
        classes = set(choice.classes)
        rows = rows.keep([name in classes for name in rows.table.category])
    annotations = _build(rows, raters, who, columns, sources)
    path_of = np.array(rows.source, dtype=np.intp)
    if choice.min_area > 0:
        _check_sizes(annotations)
        kept = np.flatnonzero(_area(annotations) >= choice.min_area)
        annotations, path_of = annotations.select(rows=kept), path_of[kept]
    return Labels(
        annotations=annotations,
        choice=replace(choice, raters=tuple(raters)),
        fields=tuple(source.field for source in sources),
        paths=tuple(source.path for source in sources),
        path_of=path_of,
        hashes=digests(annotations),
        view=view,
    )


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
        reference = reference_name(samples, choice.reference)
        return [_Source(paths[field], field, name, None) for name, field in fields.items() if name != reference]
    resolve_fields(samples, [choice.field])  # refuses what is no label field
    return [_Source(paths[choice.field], choice.field, None, choice.rater_attribute)]


def _query(samples: Any, sources: list[_Source], choice: LabelChoice) -> dict[str, list[Any]]:
    paths = ["id", "filepath", "metadata.width", "metadata.height"]
    if choice.assigned == "auto" and samples.has_field(ASSIGNED_FIELD):
        check_assigned_field(samples)
        paths.append(ASSIGNED_FIELD)
    if choice.assigned == "labelled":
        paths += [f"{source.field}._cls" for source in sources]
    paths += [f"{source.path}.{attribute}" for source in sources for attribute in source.attributes]
    # raw: FiftyOne's own parsing copies every coordinate of a polyline one by one, and changes none
    return dict(zip(paths, samples.values(paths, _raw=True), strict=True))


def _flatten(columns: Mapping[str, list[Any]], sources: list[_Source]) -> _Rows:
    rows = _Rows(RawTable(), [], [], [], [])
    table, ids, sizes = rows.table, columns["id"], _sizes(columns, unknown=1.0)
    for number, source in enumerate(sources):
        scale = _scaled_rings if source.is_polyline else _scaled_box
        lists = [columns[f"{source.path}.{attribute}"] for attribute in source.attributes]
        for sample, (label_ids, *per_attribute) in enumerate(zip(*lists, strict=True)):
            if not label_ids:
                continue
            count, (width, height) = len(label_ids), sizes[sample]
            nothing = [None] * count
            # an attribute that no label of a sample has comes as None, not as a list
            names, confidences, shapes, *others = (values or nothing for values in per_attribute)
            shapes = [scale(shape, width, height) for shape in shapes]
            table.id += label_ids
            table.image += [ids[sample]] * count
            table.category += names
            table.rater += [_name(name) for name in others.pop()] if source.attribute else [source.rater] * count
            table.box += nothing if source.is_polyline else shapes
            table.polygon += shapes if source.is_polyline else nothing
            rows.open_ += [not closed for closed in others[0]] if source.is_polyline else [False] * count
            rows.confidence += confidences
            rows.source += [number] * count
            rows.sample += [sample] * count
    return rows


def _name(rater: object) -> str | None:
    name = as_name(rater)
    return None if name is None else str(name)


def _scaled_box(box: Any, width: float, height: float) -> Any:
    """Pixels; what is no box stays as it came, to be refused."""
    try:
        x, y, w, h = box
        return [x * width, y * height, w * width, h * height]
    except (TypeError, ValueError):
        return box


def _scaled_rings(rings: Any, width: float, height: float) -> Any:
    try:
        return [[(x * width, y * height) for x, y in ring] for ring in rings]
    except (TypeError, ValueError):
        return rings


def _sizes(columns: Mapping[str, list[Any]], unknown: float) -> list[tuple[float, float]]:
    return [
        (width, height) if width and height else (unknown, unknown)
        for width, height in zip(columns["metadata.width"], columns["metadata.height"], strict=True)
    ]


def _rater_vocabulary(
    rows: _Rows, columns: Mapping[str, list[Any]], sources: list[_Source], choice: LabelChoice, again: bool
) -> list[str]:
    if choice.field is None:
        return [source.rater for source in sources if source.rater is not None]
    asked = [name for names in columns.get(ASSIGNED_FIELD, ()) for name in names or ()]
    drawn = [name for name in rows.table.rater if name is not None]
    known = sorted({*asked, *drawn})
    if not again:
        if not drawn and len(rows.table.rater):
            raise InputError(
                "rater_attribute: expected an attribute that names each label's rater, "
                f"got {choice.rater_attribute!r}, which no label of {choice.field!r} has"
            )
        strangers = [name for name in choice.raters or () if name not in known]
        if strangers:
            raise InputError(f"raters: expected names among {listed(known, 20)}, got {listed(strangers)}")
        if choice.reference is not None and choice.reference not in known:
            raise InputError(f"reference: expected one of {listed(known, 20)}, got {choice.reference!r}")
    names = known if choice.raters is None else list(dict.fromkeys(choice.raters))
    return [name for name in names if name != choice.reference]


def _check_classes(view: Any, rows: _Rows, sources: list[_Source], classes: Sequence[str]) -> None:
    """A class that nobody has ever drawn is a slip, which would otherwise read as perfect agreement on absence."""
    drawn = {name for name in rows.table.category if name is not None}
    if set(classes) <= drawn:
        return
    dataset = view._root_dataset
    everywhere = every_sample(view).aggregate([fo.Distinct(f"{source.path}.label") for source in sources])
    known = drawn.union(dataset.default_classes, *everywhere, *dataset.classes.values())
    unknown = [name for name in classes if name not in known]
    if unknown:
        raise InputError(f"classes: expected classes among {listed(sorted(known), 20)}, got {listed(unknown)}")


def _build(
    rows: _Rows,
    raters: list[str],
    assigned: list[list[str] | None],
    columns: Mapping[str, list[Any]],
    sources: list[_Source],
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
        assigned=assigned,
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
            stacklevel=5,
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
            who[sample].add(rater)  # also who drew nothing but what is left out: they looked
    return [[name for name in raters if name in names] for names in who]


def _check_sizes(annotations: Annotations) -> None:
    unknown: NDArray[np.bool_] = np.any(np.isnan(annotations.image_size), axis=1)
    if unknown.any():
        raise InputError(
            f"min_area: the size of {unknown.sum():,} of {len(unknown):,} pictures is unknown "
            f"({listed(annotations.files[unknown])}); run compute_metadata() on the data set first"
        )


def _area(annotations: Annotations) -> NDArray[np.float64]:
    """Of the polygons where every label is one, else of the boxes: one measure for all raters."""
    polygons = annotations.shapes.get("polygon")
    whole = isinstance(polygons, Polygons) and not polygons.absent().any()
    return annotations.shapes["polygon" if whole else "box"].area()
