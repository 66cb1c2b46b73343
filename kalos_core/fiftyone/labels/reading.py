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
from kalos_core.fiftyone.labels.pixels import Fault, shapes_of
from kalos_core.fiftyone.labels.samples import check_samples, every_sample, is_3d, settle
from kalos_core.fiftyone.labels.sources import Source, default_similarity, kinds_compared, sources_of
from kalos_core.fiftyone.raters import (
    ASSIGNED_FIELD,
    RaterFacts,
    check_assigned_field,
    rater_facts,
)

WITH_AREA = ("polygon", "mask", "box")
"""Shape kinds by whose area labels are chosen, the most exact first."""


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
    confidence : tuple of float, one for each annotation
        None where a label has none.
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
    confidence: tuple[float | None, ...]
    hashes: NDArray[np.object_]
    view: Any


def read_annotations(
    samples: Any, choice: LabelChoice | None = None, *, similarity: str | None = None, **options: Any
) -> Annotations:
    """The labels of a data set or view as `Annotations`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    choice : LabelChoice, optional
    similarity : name in `SIMILARITIES`, optional
        What the labels are read for: masks and cuboids of detections are only read for a similarity that compares
        them (masks of 5,000 pictures are gigabytes). By default `default_similarity`.
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
    check_samples(samples)
    chosen = LabelChoice.of(choice, options)
    return read_labels(samples, chosen, [similarity or default_similarity(samples, chosen)]).annotations


def read_labels(
    samples: Any, choice: LabelChoice, similarities: Sequence[str] = ("box_iou",), *, again: bool = False
) -> Labels:
    """The chosen labels of a view, with where they are stored. One query reads them all.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    choice : LabelChoice
    similarities : names in `SIMILARITIES`
        What will be compared: masks and cuboids of detections are only read if one of these compares them; outlines,
        keypoints and boxes always are.
    again : bool
        The choice is that of a stored run, so names that no label has any more are no mistake.

    Returns
    -------
    Labels
    """
    check_samples(samples)
    kinds = kinds_compared(similarities).union(["cuboid" if is_3d(samples) else "box"])
    sources = sources_of(samples, choice)
    view = settle(samples)
    columns = _query(view, sources, choice, kinds)
    rows = _flatten(columns, sources, kinds)
    if any(mask is not None for mask in rows.table.mask):
        _check_sizes(columns, "masks")
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
    known = rater_facts(samples)
    facts = [known.get(name, RaterFacts(name)) for name in raters]
    annotations = _build(rows, raters, who, columns, sources, facts, choice.classes)
    path_of, confidence = np.array(rows.source, dtype=np.intp), rows.confidence
    if choice.min_area > 0:
        area = _area(annotations)
        _check_sizes(columns, "min_area")
        kept = np.flatnonzero(area >= choice.min_area)
        annotations, path_of = annotations.select(rows=kept), path_of[kept]
        confidence = [confidence[row] for row in kept]
    return Labels(
        annotations=annotations,
        choice=replace(choice, raters=tuple(raters)),
        fields=tuple(source.field for source in sources),
        paths=tuple(source.path for source in sources),
        path_of=path_of,
        confidence=tuple(confidence),
        hashes=digests(annotations),
        view=view,
    )


@dataclass
class _Rows:
    """Labels of all sources, one entry a label."""

    table: RawTable
    confidence: list[float | None]
    source: list[int]
    sample: list[int]
    fault: list[Fault | None]

    def keep(self, chosen: Sequence[bool]) -> _Rows:
        if all(chosen):
            return self

        def cut(values: list[Any]) -> list[Any]:
            return [value for value, kept in zip(values, chosen, strict=True) if kept]

        table = RawTable(**{name: cut(values) for name, values in vars(self.table).items()})
        return _Rows(table, cut(self.confidence), cut(self.source), cut(self.sample), cut(self.fault))


def _query(samples: Any, sources: list[Source], choice: LabelChoice, kinds: frozenset[str]) -> dict[str, list[Any]]:
    paths = ["id", "filepath", "metadata.width", "metadata.height"]
    if choice.assigned == "auto" and samples.has_field(ASSIGNED_FIELD):
        check_assigned_field(samples)
        paths.append(ASSIGNED_FIELD)
    if choice.assigned != "all":
        present = [source for source in sources if choice.assigned == "labelled" or source.is_synthetic]
        paths += [f"{source.field}._cls" for source in present]
    paths += [f"{source.path}.{attribute}" for source in sources for attribute in source.attributes(kinds)]
    # raw: FiftyOne's own parsing copies every coordinate of a polyline one by one, and changes none
    return dict(zip(paths, samples.values(paths, _raw=True), strict=True))


def _flatten(columns: Mapping[str, list[Any]], sources: list[Source], kinds: frozenset[str]) -> _Rows:
    rows = _Rows(RawTable(), [], [], [], [])
    table, ids, sizes = rows.table, columns["id"], _sizes(columns, unknown=1.0)
    shapes = {name: column for name, column in vars(table).items() if name not in ("image", "rater", "category", "id")}
    for number, source in enumerate(sources):
        names = source.attributes(kinds)
        lists = [columns[f"{source.path}.{name}"] for name in names]
        for sample, per_attribute in enumerate(zip(*lists, strict=True)):
            if not per_attribute[0]:
                continue
            count = len(per_attribute[0])
            nothing = [None] * count
            # an attribute that no label of a sample has comes as None, not as a list
            stored = {name: values or nothing for name, values in zip(names, per_attribute, strict=True)}
            drawn, faults = shapes_of(source.labels, stored, sizes[sample])
            for kind, column in shapes.items():
                column += drawn.get(kind, nothing)
            table.id += stored["id"]
            table.image += [ids[sample]] * count
            table.category += stored["label"]
            table.rater += (
                [_name(name) for name in stored[source.attribute]] if source.attribute else [source.rater] * count
            )
            rows.fault += faults
            rows.confidence += [_confidence(value) for value in stored["confidence"]]
            rows.source += [number] * count
            rows.sample += [sample] * count
    return rows


def _confidence(value: Any) -> Any:
    """That of a label; keypoints have one of every point, of which the mean counts."""
    if not isinstance(value, list):
        return value
    given = [number for number in value if number is not None and number == number]
    return sum(given) / len(given) if given else None


def _name(rater: object) -> str | None:
    name = as_name(rater)
    return None if name is None else str(name)


def _sizes(columns: Mapping[str, list[Any]], unknown: float) -> list[tuple[float, float]]:
    return [
        (width, height) if width and height else (unknown, unknown)
        for width, height in zip(columns["metadata.width"], columns["metadata.height"], strict=True)
    ]


def _rater_vocabulary(
    rows: _Rows, columns: Mapping[str, list[Any]], sources: list[Source], choice: LabelChoice, again: bool
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


def _check_classes(view: Any, rows: _Rows, sources: list[Source], classes: Sequence[str]) -> None:
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
    sources: list[Source],
    facts: Sequence[RaterFacts],
    chosen: Sequence[str] | None,
) -> Annotations:
    files = [Path(path).name for path in columns["filepath"]]

    def describe(row: int) -> str:
        return f"{files[rows.sample[row]]}, field {sources[rows.source[row]].field!r}, label {rows.table.id[row]}"

    problems = Problems("view")
    for row, fault in enumerate(rows.fault):
        if fault is not None:
            problems.add(describe(row), *fault)
    limits = {name: about.classes for name, about in zip(raters, facts, strict=True) if about.classes is not None}
    asked_for = {name for names in limits.values() for name in names if chosen is None or name in chosen}
    known = asked_for.union(name for name in rows.table.category if name is not None)
    return build_annotations(
        rows.table,
        source="view",
        images=columns["id"],
        files=files,
        raters=raters,
        categories={name: name for name in sorted(known)},
        image_size=_sizes(columns, unknown=float("nan")),
        assigned=assigned,
        assigned_categories={name: [label for label in asked if label in known] for name, asked in limits.items()},
        person=[about.person for about in facts],
        session=[about.session for about in facts],
        raters_are_local=any(about.is_local for about in facts),
        describe=describe,
        problems=problems,
        stacklevel=5,
    )


def _assigned(
    rows: _Rows, raters: list[str], columns: Mapping[str, list[Any]], sources: list[Source], choice: LabelChoice
) -> list[list[str] | None]:
    made = [source for source in sources if source.is_synthetic]
    if choice.assigned == "labelled" or (choice.assigned == "auto" and made and len(made) == len(sources)):
        return _labelled(rows, raters, columns, sources)
    if ASSIGNED_FIELD in columns:
        asked = [set(names or ()) for names in columns[ASSIGNED_FIELD]]
        for source in made:  # who was generated stands in no list
            for names, kind in zip(asked, columns[f"{source.field}._cls"], strict=True):
                if kind is not None:
                    names.add(source.rater)
        return [[name for name in raters if name in names] for names in asked]
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
    rows: _Rows, raters: list[str], columns: Mapping[str, list[Any]], sources: list[Source]
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


def _check_sizes(columns: Mapping[str, list[Any]], who: str) -> None:
    sizes = _sizes(columns, unknown=float("nan"))
    files = [Path(path).name for path, (width, _) in zip(columns["filepath"], sizes, strict=True) if width != width]
    if files:
        raise InputError(
            f"{who}: the size of {len(files):,} of {len(sizes):,} pictures is unknown "
            f"({listed(files)}); run compute_metadata() on the data set first"
        )


def _area(annotations: Annotations) -> NDArray[np.float64]:
    """Of the most exact shape with an area that every label has: one measure for all raters."""
    columns = [annotations.shapes[kind] for kind in WITH_AREA if kind in annotations.shapes]
    whole = [column for column in columns if not column.absent().any()]
    if not whole and len(annotations):
        raise InputError("min_area: expected shapes that have an area, got none that every label has")
    return whole[0].area() if whole else np.zeros(0)
