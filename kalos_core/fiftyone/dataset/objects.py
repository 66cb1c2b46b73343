"""Reader of a view and its raters as `Annotations`: one query, in blocks of samples, every record checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, RawTable, as_name
from kalos_core.annotations import Source as Origin
from kalos_core.annotations.blocks import ByImage
from kalos_core.annotations.build import check_records, reaching_outside
from kalos_core.annotations.columns import TEXT
from kalos_core.annotations.counting import overview as overview_of
from kalos_core.annotations.joining import join
from kalos_core.arrays import give_back_memory, uncollected
from kalos_core.errors import InputError, Problems, check_iterable, check_text, listed, repr_of, warn
from kalos_core.fiftyone.dataset.coordinates import CROWD, Fault, is_crowd, shapes_of
from kalos_core.fiftyone.dataset.database import Columns, stream
from kalos_core.fiftyone.dataset.digests import digests
from kalos_core.fiftyone.dataset.document import RaterRecord
from kalos_core.fiftyone.dataset.opened import Opened, attributes_of, what_to_read
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.samples import SIZE, check_samples, check_sizes, fill_sizes
from kalos_core.fiftyone.dataset.selection import Selection

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments

WITH_AREA = ("polygon", "mask", "box")
"""Shape kinds whose area `min_area` applies to, the most exact first."""

NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels of a view as annotations, with the place where each is stored.

    Parameters
    ----------
    annotations : Annotations
        Images are sample ids. Ids are label ids, unique within a list of labels; a cloned field has the ids of the
        original. Coordinates are pixels, or fractions of the image if its size is unknown and its file cannot be
        measured.
    selection : Selection
        The requested selection, with the raters that were found.
    fields, paths : tuple of str
        Label fields that were read, and the paths of their lists, such as ``"r1.detections"``.
    path_of : (N,) int
        Index into `paths` of each annotation.
    confidence : (N,) float64
        NaN for a label without confidence.
    view : fiftyone.core.collections.SampleCollection
        The view that was read, see `pinned`.
    read_at : datetime
        Time of reading; later edits are not included.
    similarities : tuple of str
        Names of the similarities that the labels were read for.
    facts : list of RaterRecord
        Stored facts about each rater.
    """

    annotations: Annotations
    selection: Selection
    fields: tuple[str, ...]
    paths: tuple[str, ...]
    path_of: NDArray[np.unsignedinteger[Any]]
    confidence: NDArray[np.float64]
    view: Any
    read_at: datetime
    similarities: tuple[str, ...]
    facts: list[RaterRecord]

    @property
    def images(self) -> NDArray[np.object_]:
        """Sample ids (I,)."""
        return self.annotations.images

    @cached_property
    def by_image(self) -> ByImage:
        """Rows of the annotations by image."""
        return ByImage(self.annotations)

    @cached_property
    def hashes(self) -> NDArray[np.object_]:
        """Digest (I,) of the labels read and the assigned raters of each image."""
        return digests(self.by_image, limits_of(self.facts))

    @property
    def scores(self) -> list[float | None]:
        """Confidence (N,) of each annotation; None if it has none."""
        return [None if value != value else value for value in self.confidence.tolist()]


def read_annotations(
    samples: Any,
    *,
    similarity: str | None = None,
    attributes: Sequence[str] = (),
    **selection: Unpack[SelectionArguments],
) -> Annotations:
    """Read the labels of a data set or view as `Annotations`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    similarity : name in `SIMILARITIES`, optional
        Similarity that the labels will be compared with. Masks and cuboids of detections are read only for a similarity
        that compares them (masks of 5,000 images are gigabytes). By default `default_similarity`.
    attributes : sequence of str
        Attributes of the labels to read into `Annotations.attributes`, such as a malignancy: numbers, truth values or
        text. See `kalos_core.attribute_agreement`.
    **selection
        Labels to read: ``raters``, ``field``, ``rater_attribute``, ``reference``, ``classes``, ``min_area``,
        ``min_confidence``, ``assigned``, as in `Selection`.

    Returns
    -------
    Annotations

    Raises
    ------
    InputError
        For an empty view, a video, a grouped data set without an active slice, a view of patches, a field that does not
        exist or is not a label field, open polylines, an attribute that no label has, and any invalid record.

    Examples
    --------
    >>> import fiftyone as fo
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
    chosen = Selection.of(selection)
    names = [check_text(name, "attributes") for name in check_iterable(attributes, "attributes", "names")]
    return read_labels(samples, chosen, [similarity], attributes=names).annotations


def overview(samples: Any, **reading: Any) -> pd.DataFrame:
    """Return the counts of a data set or view as one row; see `kalos_core.overview`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    **reading
        Labels to read, as in `read_annotations`.
    """
    return overview_of(read_annotations(samples, **reading))


def read_labels(
    samples: Any,
    selection: Selection,
    similarities: Sequence[Any] = ("box_iou",),
    *,
    again: bool = False,
    attributes: Sequence[str] = (),
) -> Labels:
    """Read the selected labels of a view and where they are stored, with one query, block by block.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    selection : Selection
    similarities : names in `SIMILARITIES`
        Masks and cuboids of detections are read only if one of these compares them; outlines, keypoints and boxes
        always are. None and "auto" mean the default, see `default_similarity`.
    again : bool
        Whether the selection is that of a stored run: names that no label has any more are then no error, and earlier
        warnings are not repeated.
    attributes : names
        Further attributes of labels to read.

    Returns
    -------
    Labels
    """
    reading = _Reading(samples, selection, similarities, again, attributes)
    with uncollected():  # every point of an outline is a list
        blocks = [reading.block(columns) for columns in stream(reading.opened.view, reading.paths)]
    found = reading.joined(blocks or [reading.block({path: [] for path in reading.paths})])
    absent = [name for name in attributes if name not in found.annotations.attributes]
    if absent and not again:
        raise InputError(f"attributes: expected attributes that labels have, got {listed(map(repr_of, absent))}")
    if len(blocks) > 10:  # enough memory was used to be worth returning
        blocks.clear()
        give_back_memory()
    return found


@dataclass
class _Block:
    """Labels of some samples, one entry per label."""

    table: RawTable
    columns: Columns
    confidence: list[float | None] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    sample: list[int] = field(default_factory=list)
    fault: list[Fault | None] = field(default_factory=list)
    crowd: list[bool] = field(default_factory=list)

    def keep(self, chosen: Sequence[bool]) -> _Block:
        if all(chosen):
            return self

        def cut(values: list[Any]) -> list[Any]:
            return [value for value, kept in zip(values, chosen, strict=True) if kept]

        table = RawTable(**{name: cut(values) for name, values in vars(self.table).items()})
        others = {name: cut(getattr(self, name)) for name in ("confidence", "source", "sample", "fault", "crowd")}
        return _Block(table, self.columns, **others)

    def there(self, raters: Mapping[str, str]) -> list[set[str]]:
        """Return the raters with a field or annotation in each sample. `raters`: path of a field's type -> rater."""
        found: list[set[str]] = [set() for _ in self.columns["id"]]
        for path, rater in raters.items():
            for sample, kind in enumerate(self.columns[path]):
                if kind is not None:
                    found[sample].add(rater)
        for sample, rater_of_label in zip(self.sample, self.table.rater, strict=True):
            if rater_of_label is not None:
                found[sample].add(rater_of_label)  # also if all their labels are left out later: they saw it
        return found


@dataclass(frozen=True, eq=False)
class _Made:
    annotations: Annotations
    path_of: NDArray[np.unsignedinteger[Any]]
    confidence: NDArray[np.float64]


class _Reading:
    def __init__(
        self,
        samples: Any,
        selection: Selection,
        similarities: Sequence[Any],
        again: bool,
        more: Sequence[str] = (),
    ) -> None:
        self.opened = opened = Opened.of(samples, selection, again=again)
        self.selection, self.sources, self.more = selection, opened.sources, more
        self.similarities, kinds = what_to_read(opened, similarities)
        types = {f"{source.field}._cls": source for source in self.sources if source.rater is not None}
        self.types = {
            path: str(source.rater)
            for path, source in types.items()
            if opened.rule == "labelled" or source.is_synthetic
        }
        self.attributes = [list(dict.fromkeys([*attributes_of(source, kinds), *more])) for source in self.sources]
        self.paths = ["id", "filepath", *SIZE, *opened.fields, *self.types]
        for source, names in zip(self.sources, self.attributes, strict=True):
            self.paths += [f"{source.path}.{name}" for name in names]
        self.limits = limits_of(opened.facts)
        self.known = {name for names in self.limits.values() for name in names if self._is_wanted(name)}
        opened.check_classes()
        opened.warn()

    def _is_wanted(self, category: str) -> bool:
        return self.selection.classes is None or category in self.selection.classes

    # ---- one block ----

    def block(self, columns: Columns) -> _Made:
        """Return the annotations of a block of samples."""
        fill_sizes(columns)
        rows = self._flat(columns)
        if any(mask is not None for mask in rows.table.mask):
            check_sizes(columns["filepath"], _sizes(columns, NAN), "masks")
        lists = columns.get(ASSIGNED_FIELD) if self.opened.fields else None
        there = rows.there(self.types) if self.types or self.opened.rule == "labelled" else None
        assigned = [
            self.opened.assigned(None if lists is None else lists[sample], () if there is None else there[sample])
            for sample in range(len(columns["id"]))
        ]
        wanted = set(self.opened.raters)
        rows = rows.keep([rater in wanted or rater is None for rater in rows.table.rater])
        if self.selection.min_confidence > 0:
            least = self.selection.min_confidence
            rows = rows.keep([value is None or value >= least for value in rows.confidence])
        if self.selection.classes is not None:
            rows = rows.keep([self._is_wanted(name) for name in rows.table.category])
        named = zip(rows.crowd, rows.fault, rows.table.rater, rows.table.category, strict=True)
        regions = rows.keep([crowd and fault is None and None not in names for crowd, fault, *names in named])
        rows = rows.keep([not crowd for crowd in rows.crowd])
        annotations = self._table(rows, assigned)
        if regions.sample:
            counts = np.bincount(regions.sample, minlength=len(assigned))
            annotations = replace(annotations, crowds=counts, crowd_regions=self._table(regions))
        path_of = np.array(rows.source, dtype=np.min_scalar_type(len(self.sources)))
        confidence = np.array([NAN if value is None else value for value in rows.confidence], dtype=np.float64)
        return _Made(annotations, path_of, confidence)

    def _flat(self, columns: Columns) -> _Block:
        rows = _Block(RawTable(), columns)
        table, ids, sizes = rows.table, columns["id"], _sizes(columns, unknown=1.0)
        others = ("image", "rater", "category", "id", "attributes")
        shapes = {name: column for name, column in vars(table).items() if name not in others}
        for number, (source, names) in enumerate(zip(self.sources, self.attributes, strict=True)):
            lists = [columns[f"{source.path}.{name}"] for name in names]
            for sample, per_attribute in enumerate(zip(*lists, strict=True)):
                if not per_attribute[0]:
                    continue
                count = len(per_attribute[0])
                stored = dict(zip(names, per_attribute, strict=True))
                made, faults = shapes_of(source.labels, stored, sizes[sample])
                for kind, column in shapes.items():
                    column += made.get(kind, [None] * count)
                given = zip(*(stored[name] for name in self.more), strict=True)
                table.attributes += [_attributes(self.more, values) for values in given] or [None] * count
                table.id += stored["id"]
                table.image += [ids[sample]] * count
                table.category += stored["label"]
                table.rater += (
                    [_name(name) for name in stored[source.attribute]] if source.attribute else [source.rater] * count
                )
                rows.fault += faults
                rows.crowd += [is_crowd(value) for value in stored[CROWD]]
                rows.confidence += [_confidence(value) for value in stored["confidence"]]
                rows.source += [number] * count
                rows.sample += [sample] * count
        return rows

    def _table(self, rows: _Block, assigned: list[list[str] | None] | None = None) -> Annotations:
        """Return the table of some labels; without `assigned`, of crowd regions, without invalid ones."""
        columns = rows.columns
        files = [Path(path).name for path in columns["filepath"]]

        def describe(row: int) -> str:
            field_name = self.sources[rows.source[row]].field
            return f"{files[rows.sample[row]]}, field {field_name!r}, label {rows.table.id[row]}"

        problems = Problems("view")
        for row, fault in enumerate(rows.fault):
            if fault is not None:
                problems.add(describe(row), *fault)
        known = sorted(self.known.union(name for name in rows.table.category if name is not None))
        origin = Origin(
            name="view",
            images=columns["id"],
            files=files,
            raters=list(self.opened.raters),
            categories={name: name for name in known},
            image_size=_sizes(columns, NAN),
            assigned=[None] * len(files) if assigned is None else assigned,
            assigned_categories={
                name: [label for label in names if label in known]
                for name, names in self.limits.items()
                if assigned is not None
            },
            on_invalid="raise" if assigned is not None else "skip",
            person=[about["person"] for about in self.opened.facts],
            session=[about["session"] for about in self.opened.facts],
            raters_are_local=any(about["is_local"] for about in self.opened.facts),
            describe=describe,
            problems=problems,
        )
        ids, table = rows.table.id, rows.table
        if len(set(ids)) < len(ids) == len(set(zip(rows.sample, rows.source, ids, strict=True))):
            table = replace(table, id=list(range(len(ids))))  # ids are unique within a list; cloned fields share them
        return Annotations(**{**check_records(table, origin)[0], "id": np.array(ids, dtype=TEXT)})

    # ---- all blocks ----

    def joined(self, blocks: list[_Made]) -> Labels:
        """Join all blocks."""
        annotations = join([block.annotations for block in blocks])
        path_of = np.concatenate([block.path_of for block in blocks])
        confidence = np.concatenate([block.confidence for block in blocks])
        if self.selection.min_area > 0:
            area = _area(annotations)
            check_sizes(annotations.files, annotations.image_size, "min_area")
            kept = np.flatnonzero(area >= self.selection.min_area)
            annotations, path_of, confidence = annotations.select(rows=kept), path_of[kept], confidence[kept]
        if not self.opened.again:
            self._warn_of_outside(annotations)
            _warn_of_crowds(annotations)
        return Labels(
            annotations=annotations,
            selection=replace(self.selection, raters=self.opened.raters),
            fields=tuple(source.field for source in self.sources),
            paths=tuple(source.path for source in self.sources),
            path_of=path_of,
            confidence=confidence,
            view=self.opened.view,
            read_at=self.opened.read_at,
            similarities=self.similarities,
            facts=self.opened.facts,
        )

    def _warn_of_outside(self, annotations: Annotations) -> None:
        outside = reaching_outside(annotations.shapes, annotations.image_size[annotations.image])
        if outside.any():
            warn(
                f"view: {outside.sum():,} annotations reach beyond their image and are kept as they are "
                f"(ids {listed(annotations.id[outside])})"
            )


def _warn_of_crowds(annotations: Annotations) -> None:
    if annotations.crowds.any():
        warn(
            f"view: {annotations.crowds.sum():,} crowd regions (labels with a true {CROWD!r}) on "
            f"{np.count_nonzero(annotations.crowds):,} images are kept out of agreement, as each stands for many "
            "objects and corresponds to none; in mAP they are ignored regions, as in COCO."
        )


def limits_of(facts: Iterable[RaterRecord]) -> dict[str, list[str]]:
    """Return the assigned classes of each rater who was not assigned to all, by name."""
    return {about["rater"]: about["classes"] for about in facts if about["classes"] is not None}


def _attributes(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any] | None:
    return {name: value for name, value in zip(names, values, strict=True) if value is not None} or None


def _confidence(value: Any) -> Any:
    """Return the confidence of a label; for keypoints, the mean over their points."""
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
        for width, height in zip(*(columns[name] for name in SIZE), strict=True)
    ]


def _area(annotations: Annotations) -> NDArray[np.float64]:
    """Return the area of the most exact shape that every label has, so that all raters are measured alike."""
    columns = [annotations.shapes[kind] for kind in WITH_AREA if kind in annotations.shapes]
    whole = [column for column in columns if not column.absent().any()]
    if not whole and len(annotations):
        raise InputError("min_area: expected shapes that have an area, got none that every label has")
    return whole[0].area() if whole else np.zeros(0)


def labels_of_field(labels: Labels, field_name: str, similarity: str) -> Labels:
    """Read the labels of another field, such as a model's, on the same samples; its rater is assigned to all."""
    return read_labels(labels.view, Selection(raters=(field_name,), assigned="all"), [similarity])
