"""`read_coco`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from operator import not_
from typing import Annotated, Any

import numpy as np

from kalos_core.annotations import Account, Annotations, RawTable, Source, as_name, build_annotations
from kalos_core.annotations.build import ATTRIBUTE, check_records
from kalos_core.annotations.shapes.faults import decoded
from kalos_core.errors import InputError, Problems, as_number, is_hashable, text_of, warn
from kalos_core.files import load_json
from kalos_core.options import Option, takes
from kalos_core.readers.coco.columns import NOT_USED, Records
from kalos_core.readers.coco.crowds import CrowdMarks, Crowds, rule_of
from kalos_core.readers.coco.joining import files_of, join_files
from kalos_core.readers.coco.raters import (
    Assignment,
    Raters,
    class_limits,
    find_rater_field,
    find_raters,
    info_of,
    without_raters,
)
from kalos_core.readers.coco.records import (
    NotExhaustive,
    annotation_ids,
    category_names,
    check_images,
    counts_of_images,
    exclusions,
    has_source_ids,
    joint_counts,
    load,
    record_list,
    record_name,
    size,
    source_ids,
)
from kalos_core.readers.settings import AliasSettings, CategoryField, ReaderSettings
from kalos_core.readers.shapes import box_or_polygon, rectangle
from kalos_core.readers.vocabulary import Vocabulary, reconcile_all

WITHOUT_LIST = (
    "{source}: no rater_list on {count} of {total} images: every rater of the file is taken as assigned to them, so "
    "that an image a rater never saw counts as 'saw it and annotated nothing', which lowers alpha. "
    "Pass assigned='drew' to count only those who drew in an image (then agreement on absence is lost)."
)

OWN_ID = "an id of its own; on_invalid='skip' numbers all anew"
"""What is expected of an annotation, for messages."""

CROWDS = (
    "{source}: {count} crowd regions on {images} images are kept out of agreement, as each stands for many objects and "
    "corresponds to none: objects in it that other raters annotated one by one count as theirs alone, which lowers "
    "alpha. In mAP they are ignored regions, as in COCO{unusable}."
)


@dataclass(frozen=True, kw_only=True)
class CocoFileSettings(ReaderSettings):
    """Options of `read_coco` and `stream_coco`.

    Annotations that share an id are refused; with ``on_invalid="skip"`` all are numbered anew.
    """

    assigned: Assignment = "all"
    not_exhaustive: NotExhaustive = "ignore"
    crowds: Crowds = "auto"


@dataclass(frozen=True, kw_only=True)
class CocoSettings(CocoFileSettings, AliasSettings):
    """Options of `read_coco`."""

    rater_field: Annotated[
        str | None,
        Option(
            "Field of the rater",
            "Field of an annotation that holds its rater, such as created_by or attributes.annotator; by default "
            "rater_id and the like.",
            type="str, optional",
        ),
    ] = None
    category_field: CategoryField = None

    @property
    def by_id(self) -> bool:
        """Whether classes are those of ``category_id``."""
        return self.category_field is None and not self.aliases

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.not_exhaustive == "exclude" and not self.by_id:
            raise InputError("not_exhaustive: expected 'ignore' where classes are text or have aliases, got 'exclude'")


@takes(CocoSettings)
def read_coco(
    path_or_dict: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, Any], settings: CocoSettings
) -> Annotations:
    """Annotations of a COCO file, or of its parsed content.

    Parameters
    ----------
    path_or_dict : path, paths or mapping
        ``images`` (``id``, ``file_name``, ``width``, ``height``, ``rater_list``), ``annotations`` (``image_id``,
        ``category_id``, ``bbox``, ``segmentation``, ``keypoints``, ``attributes`` as CVAT writes them (name ->
        number, truth value or text), and the rater under one of `KNOWN_FIELDS`),
        ``categories``. Or several paths, or a folder, with one file a rater: these name the raters, images are joined
        by ``file_name`` and classes by name.
        A segmentation is a list of rings (a polygon) or run lengths (a mask); boxes that are absent are
        the bounds of the other shape. A ``rater_list`` that maps persons to their sessions, as KaLOS files have it
        (``{"ann": [1, 2]}``, and a ``session_id`` on every annotation), makes every session a rater of its own, named
        "ann (S1)". ``info.rater_categories`` (rater or person -> class names or ids) limits the classes a rater was
        assigned to; ``info.raters`` (names) gives raters and their order. Annotations that share an id are refused;
        with ``on_invalid="skip"`` all are numbered anew.

    Returns
    -------
    Annotations
        Boxes that are turned (``attributes.rotation`` in degrees clockwise about their centre, as CVAT writes it) are
        polygons; where there are any, every other box is one, too.
        Crowd regions (``iscrowd``) are kept out, counted in `crowds`, and those that can be compared are in
        `crowd_regions`. A region stands for many objects and corresponds to none of them, so agreement does not read
        it: where one rater marked a crowd and others annotated its objects one by one, these objects count as theirs
        alone, and a rater with a crowd region only as one who annotated nothing. Both lower alpha. In mAP
        (`modified_map`, `map_of_predictions`) crowd regions of the ground truth are ignored regions, as in pycocotools.

    Warns
    -----
    KalosWarning
        If a ``rater_list`` is absent, there are crowd regions, a name has no alias, or annotations reach beyond their
        image.

    Raises
    ------
    InputError
        If the file is not JSON or not COCO; or listing all records that cannot be used.

    Examples
    --------
    >>> annotations = read_coco(
    ...     {
    ...         "images": [{"id": 7, "width": 20, "height": 20, "rater_list": ["ann", "bob"]}],
    ...         "categories": [{"id": 1, "name": "cat"}],
    ...         "annotations": [
    ...             {
    ...                 "id": 1,
    ...                 "image_id": 7,
    ...                 "category_id": 1,
    ...                 "rater_id": "ann",
    ...                 "segmentation": [[0, 0, 8, 0, 8, 4]],
    ...             }
    ...         ],
    ...     }
    ... )
    >>> annotations.shapes["box"].xywh().tolist()
    [[0.0, 0.0, 8.0, 4.0]]
    """
    return build_content(Content.read(path_or_dict, settings), settings)


def build_content(content: Content, settings: CocoSettings) -> Annotations:
    """The table of what a file holds, and warnings of what was assumed."""
    raters = content.find_raters()
    table = _raw_table(content.kept, content.kept_positions, raters)
    if settings.on_invalid == "skip":
        _number_anew(table, content)
    _turn_boxes(table)
    for name in filter(content.kept.has, NOT_USED):
        content.account.unused[name] += sum(map(bool, content.kept.column(name)))
    field_of_class = settings.category_field
    categories = category_names(content.data, content.name, content.problems) if field_of_class is None else {}
    _check_joints(content)
    limits, classes = _limits(content, raters, categories), categories
    who = raters.assigned(table.image, content.image_ids, settings.assigned)
    vocabulary = Vocabulary.from_aliases(settings.aliases)
    excluded: list[tuple[int, str, str]] = []
    if settings.by_id:  # as exclusions are written
        excluded = exclusions(
            content.images,
            who,
            raters.names,
            categories,
            settings.not_exhaustive,
            content.problems,
            content.first_image,
        )
    else:
        table.category = _written_names(content.kept, field_of_class, categories)
        if settings.aliases:
            table.category = reconcile_all(vocabulary, table.rater, table.category, raters.names, content.name)
        used = [*table.category, *(name for names in (limits or {}).values() for name in names)]
        categories = {name: name for name in used if isinstance(name, str)}
    image_ids = _restore_ids(table, content)
    source = Source(
        **content.facts(),
        **raters.facts(),
        images=image_ids,
        categories=categories,
        assigned=who,
        assigned_categories=limits,
        exclusions=[(image_ids[position], rater, name) for position, rater, name in excluded],
        on_invalid=settings.on_invalid,
    )
    result = build_annotations(table, source)
    if content.crowds:
        crowds = _crowd_table(content, result, classes, field_of_class, vocabulary)
        result = replace(result, crowd_regions=crowds)
    for message in _assumptions(content, raters, settings.assigned, vocabulary, result):
        warn(message)
    return result


@dataclass(eq=False)
class Content:
    """The records of a COCO file, or some of them; images are checked.

    Parameters
    ----------
    data : mapping
        All of the file.
    name : str
        Of the file, for messages.
    images : list of mappings
    annotations : Records
    positions : sequence of int
        Where each annotation stands in the file.
    rater_field : str
        Of an annotation, which holds its rater.
    marks : CrowdMarks
        Of all annotations of the file.
    rule : "auto", "regions" or "objects"
        Meaning of these marks.
    first_image : int
        Where the first of the images stands.
    names : sequence of str
        What messages call each annotation, where it is not by its position.
    repeats : bool, optional
        Whether annotations of the file share ids; None: these are all of them.
    """

    data: Mapping[str, Any]
    name: str
    images: list[Mapping[str, Any]]
    annotations: Records
    positions: Sequence[int]
    rater_field: str
    marks: CrowdMarks
    rule: Crowds
    first_image: int = 0
    names: Sequence[str] = ()
    repeats: bool | None = None

    def __post_init__(self) -> None:
        self.problems = Problems(self.name)
        check_images(self.images, self.problems, self.first_image)
        numbered = enumerate(self.images, self.first_image)
        self.image_size = [size(image, position, self.problems) for position, image in numbered]
        self.crowd = self.marks.regions(self.annotations, self.rater_field, self.rule)
        self.account = Account(notes=[note] if (note := self.marks.note(self.rule)) else [])

    @classmethod
    def read(cls, path_or_dict: Any, settings: CocoSettings) -> Content:
        """The records of a file, of several, or of parsed content."""
        names: Sequence[str] = ()
        paths = files_of(path_or_dict)
        if paths:
            path_or_dict, names = join_files(paths)
        data, name = load(path_or_dict, settings.category_field, settings.rater_field)
        images, annotations = record_list(data, "images", name), data.get("annotations")
        if not isinstance(annotations, Records):
            annotations = Records(record_list(data, "annotations", name))
        if not images:
            raise InputError(f"{name}: expected at least one image, got none")
        own, marks = settings.rater_field or find_rater_field(annotations), CrowdMarks()
        if len(annotations) and not annotations.has(own):
            written = (
                annotations.rows if annotations.are_mappings else load_json(path_or_dict, "COCO file")["annotations"]
            )
            raise InputError(f"{name}: {without_raters(written, settings.rater_field)}")
        marks.add(annotations, own)
        rule = rule_of(data, settings.crowds)
        return cls(data, name, images, annotations, range(len(annotations)), own, marks, rule, names=names)

    @cached_property
    def kept(self) -> Records:
        """(N,) annotations other than crowd regions."""
        return self.annotations.where(map(not_, self.crowd)) if any(self.crowd) else self.annotations

    @cached_property
    def crowds(self) -> Records:
        """The crowd regions."""
        return self.annotations.where(self.crowd)

    @cached_property
    def kept_positions(self) -> Sequence[int]:
        """(N,) where each of `kept` stands in the file."""
        return list(compress(self.positions, map(not_, self.crowd))) if any(self.crowd) else self.positions

    @cached_property
    def _ids(self) -> list[Any]:
        return self.kept.column("id")

    def record_name(self, row: int) -> str:
        """One of `kept`, for messages."""
        position = self.kept_positions[row]
        return self.names[position] if self.names else record_name("annotations", position, self._ids[row])

    @property
    def image_ids(self) -> list[Any]:
        """(I,) ids by which annotations refer to images."""
        return [image.get("id") for image in self.images]

    def find_raters(self) -> Raters:
        """The raters of the file."""
        return find_raters(self.data, self.images, self.kept, self.rater_field, self.record_name, self.problems)

    def facts(self) -> dict[str, Any]:
        """The fields of `Source` that nothing else decides."""
        return {
            "name": self.name,
            "files": ["" if image.get("file_name") is None else text_of(image["file_name"]) for image in self.images],
            "image_size": self.image_size,
            "raters_are_local": info_of(self.data).get("raters_are_local") is True,
            "crowds": counts_of_images(self.images, self.crowds),
            "describe": self.record_name,
            "problems": self.problems,
            "account": self.account,
            "own_id": OWN_ID,
        }


def _crowd_table(
    content: Content,
    result: Annotations,
    categories: Mapping[Any, str],
    category_field: str | None,
    vocabulary: Vocabulary,
) -> Annotations | None:
    """The crowd regions that can be compared: of a known image, rater and class, and with a shape that can be used."""
    regions = content.crowds
    ignored = Problems(content.name)
    raters = find_raters(content.data, content.images, regions, content.rater_field, lambda _: "", ignored)
    table = _raw_table(regions, list(compress(content.positions, content.crowd)), raters)
    names = _written_names(regions, category_field, categories)
    words = replace(vocabulary, unmapped=Counter())
    table.category = [
        words.reconcile(rater, name) if isinstance(rater, str) and isinstance(name, str) else None
        for rater, name in zip(table.rater, names, strict=True)
    ]
    image_of = dict(zip(content.image_ids, result.images, strict=True))
    table.image = [_get(image_of, key) for key in table.image]
    known = [set(entries) for entries in (image_of.values(), result.raters, result.categories)]
    kept = [
        row
        for row, keys in enumerate(zip(table.image, table.rater, table.category, strict=True))
        if all(is_hashable(key) and key in entries for key, entries in zip(keys, known, strict=True))
    ]
    restored = source_ids(regions.column("source_id"), table.id)
    ids = [restored[row] for row in kept]
    if not all(is_hashable(key) and key is not None for key in ids) or len(set(ids)) < len(ids):
        ids = list(range(1, len(kept) + 1))
    shapes = {kind: [getattr(table, kind)[row] for row in kept] for kind in ("box", "polygon", "mask")}
    codes = {name: [getattr(table, name)[row] for row in kept] for name in ("image", "rater", "category")}
    source = Source(
        name=content.name,
        images=result.images.tolist(),
        files=result.files.tolist(),
        raters=result.raters.tolist(),
        categories={name: name for name in result.categories},
        image_size=content.image_size,
        assigned=[None] * len(result.images),
        on_invalid="skip",
    )
    fields, _ = check_records(RawTable(**codes, id=ids, **shapes), source)
    return Annotations(**fields)


def _raw_table(annotations: Records, positions: Sequence[int], raters: Raters) -> RawTable:
    polygons, masks = annotations.outlines()
    return RawTable(
        image=annotations.column("image_id"),
        rater=raters.of_annotation,
        category=annotations.column("category_id"),
        id=annotation_ids(annotations, positions),
        box=annotations.column("bbox"),
        polygon=polygons,
        mask=masks,
        keypoints=annotations.column("keypoints"),
        attributes=[None if entry is None else _attributes(entry) for entry in annotations.column("attributes")],
    )


def _number_anew(table: RawTable, content: Content) -> None:
    """Ids by the place in the file where two annotations have the same, as in a file that was joined of two."""
    if content.repeats or (content.repeats is None and _repeated(table.id)):
        table.id = [position + 1 for position in content.kept_positions]
        content.account.notes.append("annotations share ids, and are numbered anew, as they stand in the file")


def _repeated(ids: list[Any]) -> bool:
    known = [key for key in ids if is_hashable(key)]
    return len(set(known)) < len(known)


def _turn_boxes(table: RawTable) -> None:
    """Polygons of boxes without an outline, where any has an attribute that turns it, as CVAT writes it."""
    angle = list(map(_rotation, table.attributes)) if any(table.attributes) else []
    if not any(angle):
        return
    for row, (turn, given) in enumerate(zip(angle, map(decoded, table.box), strict=True)):
        sides = given if isinstance(given, (list, tuple)) else ()
        box = [side for side in map(as_number, sides) if side is not None]
        if table.polygon[row] or table.mask[row] or not len(box) == len(sides) == 4:
            continue
        ring = box_or_polygon(box, turn)["polygon"][0] if turn else rectangle(box)
        table.polygon[row] = [[number for point in ring for number in point]]
        table.box[row] = None if turn else given


def _rotation(entry: Any) -> float:
    value = as_number(entry.get("rotation")) if isinstance(entry, Mapping) else None
    return (value or 0.0) % 360


def _attributes(entry: Any) -> dict[str, Any] | None:
    """Those of an annotation that are numbers, truth values or text: other files keep something else there."""
    found = entry.items() if isinstance(entry, Mapping) else ()
    return {name: value for name, value in found if isinstance(name, str) and isinstance(value, ATTRIBUTE)} or None


def _check_joints(content: Content) -> None:
    """An annotation has as many keypoints as its category names."""
    joints = joint_counts(content.data)
    if not joints:
        return
    rows = zip(content.kept.column("category_id"), content.kept.column("keypoints"), strict=True)
    for row, (category, points) in enumerate(rows):
        expected = joints.get(category) if is_hashable(category) else None
        if not (expected and isinstance(points, (list, tuple)) and points) or len(points) % 3:
            continue  # nothing to count, or no keypoints at all, which is reported where they are read
        if len(points) != 3 * expected:
            content.problems.add(
                content.record_name(row), f"{expected} keypoints, as its category names", len(points) // 3
            )


def _limits(content: Content, raters: Raters, categories: Mapping[Any, str]) -> dict[str, list[Any]] | None:
    """Rater -> names of the classes the rater is assigned to."""
    limits = class_limits(info_of(content.data), content.name)
    if limits is None:
        return None
    return {
        name: [_get(categories, key) for key in keys]
        for rater, keys in limits.items()
        for name in raters.rows_of(rater)
    }


def _written_names(annotations: Records, category_field: str | None, categories: Mapping[Any, str]) -> list[Any]:
    """Class names as written; what is no name stays as it is, to be refused."""
    if category_field is None:
        keys = annotations.column("category_id")
        # an unknown id is no name, though it may be text
        return [categories.get(key, (key,)) if isinstance(key, str) else _get(categories, key) for key in keys]
    names = annotations.column(category_field)
    return [as_name(name.strip() if isinstance(name, str) else name) for name in names]


def _get(entries: Mapping[Any, Any], key: Any) -> Any:
    return entries.get(key, key) if is_hashable(key) else key


def _restore_ids(table: RawTable, content: Content) -> list[Any]:
    """(I,) ids of the images; those that `write_coco` replaced by numbers are again what they were, also in the table.

    What other files keep under ``source_id`` is their own business.
    """
    image_ids = content.image_ids
    if not has_source_ids(content.data):
        return image_ids
    own = source_ids([image.get("source_id") for image in content.images], image_ids)
    restored = dict(zip(image_ids, own, strict=True))
    table.image = [_get(restored, key) for key in table.image]
    table.id = source_ids(content.kept.column("source_id"), table.id)
    return own


def _assumptions(
    content: Content, raters: Raters, assigned: Assignment, vocabulary: Vocabulary, result: Annotations
) -> Iterator[str]:
    """What to warn of."""
    yield from (f"{content.name}: {note}" for note in content.account.notes)
    if result.crowds.any():
        lost = int(result.crowds.sum()) - len(result.crowd_regions or ())
        yield CROWDS.format(
            source=content.name,
            count=f"{result.crowds.sum():,}",
            images=f"{np.count_nonzero(result.crowds):,}",
            unusable=f", but for {lost:,} without a shape, rater or class that can be used" if lost else "",
        )
    unlisted = sum(names is None for names in raters.listed)
    if unlisted and assigned == "all" and len(raters.names) > 1:
        yield WITHOUT_LIST.format(source=content.name, count=f"{unlisted:,}", total=f"{len(content.images):,}")
    if vocabulary.unmapped:
        yield f"{content.name}: {vocabulary.describe_unmapped()}"
