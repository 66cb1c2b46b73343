"""Reader of COCO files, `read_coco`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from kalos_core.annotations import Account, Annotations, RawTable, Source, build_annotations
from kalos_core.annotations.build import check_records
from kalos_core.annotations.shapes.faults import decoded
from kalos_core.errors import Problems, as_number, is_hashable, text_of, warn
from kalos_core.options import takes
from kalos_core.readers.coco.classes import Classes
from kalos_core.readers.coco.columns import Records
from kalos_core.readers.coco.content import Content
from kalos_core.readers.coco.raters import Raters, assigned_raters
from kalos_core.readers.coco.settings import CocoSettings
from kalos_core.readers.findings import attributes_in
from kalos_core.readers.settings import reading
from kalos_core.readers.shapes import box_or_polygon, rectangle
from kalos_core.readers.vocabulary import Vocabulary

WITHOUT_LIST = (
    "no rater_list on {count} of {total} images: every rater of the file is taken as assigned to them, so "
    "that an image a rater never saw counts as 'saw it and annotated nothing', which lowers alpha. "
    "Pass assigned='drew' to count only those who drew in an image (then agreement on absence is lost)."
)

OWN_ID = "an id of its own; on_invalid='skip' renumbers all"
"""Expected id of an annotation, for messages."""

CROWDS = (
    "{count} crowd regions on {images} images are kept out of agreement, as each stands for many objects and "
    "corresponds to none: objects in it that other raters annotated one by one count as theirs alone, which lowers "
    "alpha. In mAP they are ignored regions, as in COCO{unusable}."
)


@takes(CocoSettings)
@reading
def read_coco(
    path_or_dict: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Mapping[str, Any], settings: CocoSettings
) -> Annotations:
    """Read annotations from a COCO file, or from its parsed content.

    Parameters
    ----------
    path_or_dict : path, paths or mapping
        A file, or its content, with ``images`` (``id``, ``file_name``, ``width``, ``height``, ``rater_list``),
        ``annotations`` (``image_id``, ``category_id``, ``bbox``, ``segmentation``, ``keypoints``, ``attributes`` (name
        -> number, boolean or text, as written by CVAT), and the rater in one of `KNOWN_FIELDS`), and ``categories``. Or
        several paths, or a folder, with one file per rater: the files name the raters, images are matched by
        ``file_name`` and classes by name.

        A segmentation is a list of rings (a polygon) or run lengths (a mask); missing boxes are the bounds of the other
        shape. If a ``rater_list`` maps persons to their sessions, as in KaLOS files (``{"ann": [1, 2]}``, and a
        ``session_id`` on every annotation), every session is a separate rater, named "ann (S1)".
        ``info.rater_categories`` (rater or person -> class names or ids) limits the classes that a rater was assigned
        to; ``info.raters`` (names) defines raters and their order. Annotations that share an id are an error; with
        ``on_invalid="skip"``, all are renumbered.

    Returns
    -------
    Annotations
        Rotated boxes (``attributes.rotation`` in degrees clockwise about their centre, as written by CVAT) are
        polygons; if there are any, every other box becomes a polygon, too.

        Crowd regions (``iscrowd``) are left out and counted in `crowds`; valid ones are in `crowd_regions`. A region
        contains many objects and corresponds to none of them, so agreement ignores it. If other raters annotated its
        objects one by one, these objects count as theirs alone. A rater with only a crowd region counts as having
        annotated nothing. Both lower alpha. In mAP (`modified_map`, `map_of_predictions`), crowd regions of the ground
        truth are ignored regions, as in pycocotools.

    Warns
    -----
    KalosWarning
        If a ``rater_list`` is missing, there are crowd regions, a name has no alias, or annotations reach beyond their
        image.

    Raises
    ------
    InputError
        If the file is not JSON, is not COCO, or has invalid records (all are listed).

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
    """Build the table from the content of a file, and warn of assumptions."""
    objects, keys = content.objects, content.keys
    raters = Raters(content.info, content.problems)
    listed = raters.listed(content.images)
    annotators = raters.annotators(objects, content.rater_field, content.images)
    assigned = assigned_raters(listed, keys, annotators, objects.keys("image_id"), settings.assigned)
    classes = Classes(content, raters, annotators, settings)
    table = _raw_table(content, objects, annotators, classes.of_objects)
    _turn_boxes(table)
    if settings.on_invalid == "skip" and _share_ids(content, table.id):
        table.id = [position + 1 for position in objects.positions]
        content.account.notes.append("annotations share ids, and are renumbered in the order of the file")
    source = Source(
        name=content.name,
        images=content.image_ids,
        files=["" if image.get("file_name") is None else text_of(image["file_name"]) for image in content.images],
        image_size=content.image_size,
        **raters.facts(),
        raters_are_local=content.info.raters_are_local,
        categories=classes.names,
        assigned=assigned,
        assigned_categories=classes.limits,
        exclusions=classes.exclusions(content, assigned, raters),
        crowds=content.counts_of_crowds(),
        account=content.account,
        on_invalid=settings.on_invalid,
        own_id=OWN_ID,
        describe=objects.name_of,
        problems=content.problems,
    )
    result = build_annotations(table, source)
    if content.crowds:
        result = replace(result, crowd_regions=_crowd_table(content, classes, raters, source))
    unlisted = listed.count(None) if settings.assigned == "all" and len(result.raters) > 1 else 0
    for message in _assumptions(content, classes.vocabulary, result, unlisted):
        warn(f"{content.name}: {message}")
    return result


def _raw_table(content: Content, records: Records, annotators: list[Any], classes: list[Any]) -> RawTable:
    images = records.column("image_id")
    if content.info.own_ids:
        own = dict(zip(content.keys, content.image_ids, strict=True))
        images = [own.get(key, key) if is_hashable(key) else key for key in images]
    polygons, masks = records.outlines()
    return RawTable(
        image=images,
        rater=annotators,
        category=classes,
        id=records.ids(content.info.own_ids),
        box=records.column("bbox"),
        polygon=polygons,
        mask=masks,
        keypoints=records.column("keypoints"),
        attributes=[None if entry is None else attributes_in(entry) for entry in records.column("attributes")],
    )


def _share_ids(content: Content, ids: list[Any]) -> bool:
    if content.repeats is not None:
        return content.repeats
    known = [key for key in ids if is_hashable(key)]
    return len(set(known)) < len(known)


def _crowd_table(content: Content, classes: Classes, raters: Raters, source: Source) -> Annotations:
    """Return the valid crowd regions: with a known image, rater and class, and a valid shape."""
    regions = content.crowds
    annotators = Raters(content.info, Problems(content.name)).annotators(regions, content.rater_field, content.images)
    words = replace(classes.vocabulary, unmapped=Counter())
    table = _raw_table(content, regions, annotators, classes.of(regions, annotators, words, raters))
    table.id = regions.ids(replaced=True)
    known = [set(keys) for keys in (source.images, source.raters, source.categories)]
    rows = [
        row
        for row, keys in enumerate(zip(table.image, table.rater, table.category, strict=True))
        if all(is_hashable(key) and key in entries for key, entries in zip(keys, known, strict=True))
    ]
    columns = ("id", "image", "rater", "category", "box", "polygon", "mask")
    kept = RawTable(**{name: [getattr(table, name)[row] for row in rows] for name in columns})
    if not all(is_hashable(key) and key is not None for key in kept.id) or len(set(kept.id)) < len(rows):
        kept.id = list(range(1, len(rows) + 1))
    alone = replace(
        source,
        assigned=[None] * len(source.images),
        assigned_categories=None,
        exclusions=(),
        crowds=(),
        account=Account(),
        on_invalid="skip",
        describe=None,
        problems=None,
    )
    fields, _ = check_records(kept, alone)
    return Annotations(**fields)


def _turn_boxes(table: RawTable) -> None:
    """Convert boxes without an outline to polygons if any has CVAT's attribute ``rotation``."""
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


def _assumptions(content: Content, vocabulary: Vocabulary, result: Annotations, unlisted: int) -> Iterator[str]:
    """Yield warnings about assumptions; `unlisted` is the number of images without a list of raters."""
    yield from content.account.notes
    if result.crowds.any():
        lost = int(result.crowds.sum()) - len(result.crowd_regions or ())
        yield CROWDS.format(
            count=f"{result.crowds.sum():,}",
            images=f"{np.count_nonzero(result.crowds):,}",
            unusable=f", but for {lost:,} without a shape, rater or class that can be used" if lost else "",
        )
    if unlisted:
        yield WITHOUT_LIST.format(count=f"{unlisted:,}", total=f"{len(content.images):,}")
    if vocabulary.unmapped:
        yield vocabulary.describe_unmapped()
