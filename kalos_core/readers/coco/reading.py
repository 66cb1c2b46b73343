"""`read_coco`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from kalos_core.annotations import Annotations, RawTable, as_name, build_annotations
from kalos_core.annotations.build import OnInvalid
from kalos_core.errors import InputError, KalosWarning, Problems, is_hashable
from kalos_core.readers.coco.raters import Assignment, Raters, class_limits, find_raters, rater_field
from kalos_core.readers.coco.records import (
    NotExhaustive,
    category_names,
    check_images,
    counts_of_images,
    exclusions,
    is_crowd,
    joint_counts,
    load,
    records,
    size,
)
from kalos_core.readers.vocabulary import Aliases, Vocabulary, reconcile_all

WITHOUT_LIST = (
    "{source}: no rater_list on {count} of {total} images: every rater of the file is taken as assigned to them, so "
    "that an image a rater never saw counts as 'saw it and drew nothing', which lowers alpha. "
    "Pass assigned='drew' to count only those who drew in an image (then agreement on absence is lost)."
)


def read_coco(
    path_or_dict: str | os.PathLike[str] | Mapping[str, Any],
    *,
    category_field: str | None = None,
    aliases: Aliases | None = None,
    assigned: Assignment = "all",
    not_exhaustive: NotExhaustive = "ignore",
    on_invalid: OnInvalid = "raise",
) -> Annotations:
    """Annotations of a COCO file, or of its parsed content.

    Parameters
    ----------
    path_or_dict : path or mapping
        ``images`` (``id``, ``file_name``, ``width``, ``height``, ``rater_list``), ``annotations`` (``image_id``,
        ``category_id``, ``bbox``, ``segmentation``, ``keypoints``, and the rater under one of `RATER_FIELDS`),
        ``categories``. A segmentation is a list of rings (a polygon) or run lengths (a mask); boxes that are absent are
        the bounds of the other shape. A ``rater_list`` that maps persons to their sessions, as KaLOS files have it
        (``{"ann": [1, 2]}``, and a ``session_id`` on every mark), makes every session a rater of its own, named
        "ann (S1)". ``info.rater_categories`` (rater or person -> class names or ids) limits the classes a rater was
        asked for; ``info.raters`` (names) gives raters and their order.
    category_field : str, optional
        Annotation field that holds the class as text, instead of ``category_id``.
    aliases : mapping, optional
        What raters wrote -> class (`kalos_core.readers.vocabulary.Aliases`). Names without an alias stay and are
        listed in a warning.
    assigned : "all" or "drew"
        For images without ``rater_list``: every rater of the file, or those who drew in it.
    not_exhaustive : "ignore" or "exclude"
        Of LVIS files, by category id: whether a rater who drew nothing of a class counts as not asked in the images
        whose ``not_exhaustive_category_ids`` names it (`Annotations.excluded`). The published figures ignore it.
    on_invalid : "raise" or "skip"
        Marks whose shape cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Crowd regions (``iscrowd``) are kept out and counted in `crowds`.

    Warns
    -----
    KalosWarning
        If a ``rater_list`` is absent, a name has no alias, or marks reach beyond their picture.

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
    if assigned not in ("all", "drew"):
        raise InputError(f"assigned: expected 'all' or 'drew', got {assigned!r}")
    if not_exhaustive not in ("ignore", "exclude"):
        raise InputError(f"not_exhaustive: expected 'ignore' or 'exclude', got {not_exhaustive!r}")
    if not_exhaustive == "exclude" and (category_field is not None or aliases):
        raise InputError("not_exhaustive: expected 'ignore' where classes are text or have aliases, got 'exclude'")
    data, source = load(path_or_dict)
    images, marks = records(data, "images", source), records(data, "annotations", source)
    if not images:
        raise InputError(f"{source}: expected at least one image, got none")
    problems = Problems(source)
    check_images(images, problems)
    sizes = [size(image, position, problems) for position, image in enumerate(images)]
    places = [position for position, mark in enumerate(marks) if not is_crowd(mark)]
    kept = [marks[position] for position in places]
    names = [f"annotations[{position}] (id {marks[position].get('id')!r})" for position in places]
    raters = find_raters(data, images, kept, rater_field(marks), names, problems)
    table = _raw_table(kept, raters)
    categories = category_names(data, source, problems) if category_field is None else {}
    _check_joints(kept, joint_counts(data), names, problems)
    limits = _limits(data, raters, categories, source)
    asked = raters.assigned(table.image, [image.get("id") for image in images], assigned)
    by_id = category_field is None and not aliases  # exclusions are written by id
    left = exclusions(images, asked, raters.names, categories, not_exhaustive, problems) if by_id else []
    vocabulary = Vocabulary.from_aliases(aliases or {})
    if category_field is not None or aliases:
        written = _written_names(kept, category_field, categories)
        table.category = reconcile_all(vocabulary, table.rater, written, raters.names, source) if aliases else written
        used = [*table.category, *(name for asked in (limits or {}).values() for name in asked)]
        categories = {name: name for name in used if isinstance(name, str)}
    image_keys: Sequence[Any] = [image.get("id") for image in images]
    if _has_source_ids(data):
        own = {key: _source_id(image, key) for key, image in zip(image_keys, images, strict=True)}
        image_keys = list(own.values())
        table.image = [_get(own, key) for key in table.image]
        table.id = [_source_id(mark, key) for key, mark in zip(table.id, kept, strict=True)]
    person, session = zip(*raters.identity.values(), strict=True) if raters.identity else ((), ())
    annotations = build_annotations(
        table,
        source=source,
        images=image_keys,
        files=["" if image.get("file_name") is None else str(image["file_name"]) for image in images],
        raters=raters.names,
        categories=categories,
        image_size=sizes,
        assigned=asked,
        assigned_categories=limits,
        exclusions=[(image_keys[position], rater, name) for position, rater, name in left],
        person=person,
        session=session,
        raters_are_local=_are_local(data),
        crowds=counts_of_images(images, marks),
        on_invalid=on_invalid,
        describe=lambda row: names[row],
        problems=problems,
    )
    unlisted = sum(names is None for names in raters.listed)
    if unlisted and assigned == "all" and len(raters.names) > 1:
        text = WITHOUT_LIST.format(source=source, count=f"{unlisted:,}", total=f"{len(images):,}")
        warnings.warn(text, KalosWarning, stacklevel=2)
    if vocabulary.unmapped:
        warnings.warn(f"{source}: {vocabulary.describe_unmapped()}", KalosWarning, stacklevel=2)
    return annotations


def _raw_table(marks: list[Mapping[str, Any]], raters: Raters) -> RawTable:
    drawn = [mark.get("segmentation") for mark in marks]
    return RawTable(
        image=[mark.get("image_id") for mark in marks],
        rater=raters.of_mark,
        category=[mark.get("category_id") for mark in marks],
        id=[mark.get("id", position + 1) for position, mark in enumerate(marks)],
        box=[mark.get("bbox") for mark in marks],
        polygon=[None if isinstance(shape, Mapping) else shape for shape in drawn],
        mask=[shape if isinstance(shape, Mapping) else None for shape in drawn],
        keypoints=[mark.get("keypoints") for mark in marks],
    )


def _check_joints(
    marks: list[Mapping[str, Any]], joints: Mapping[Any, int], names: list[str], problems: Problems
) -> None:
    """A mark has as many keypoints as its category names."""
    for mark, name in zip(marks, names, strict=True):
        category, points = mark.get("category_id"), mark.get("keypoints")
        expected = joints.get(category) if is_hashable(category) else None
        if not (expected and isinstance(points, (list, tuple)) and points) or len(points) % 3:
            continue  # nothing to count, or no keypoints at all, which is said where they are read
        if len(points) != 3 * expected:
            problems.add(name, f"{expected} keypoints, as its category names", len(points) // 3)


def _limits(
    data: Mapping[str, Any], raters: Raters, categories: Mapping[Any, str], source: str
) -> dict[str, list[Any]] | None:
    limits = class_limits(data, source)
    if limits is None:
        return None
    return {
        name: [_get(categories, key) for key in keys]
        for rater, keys in limits.items()
        for name in raters.rows_of(rater)
    }


def _written_names(
    marks: list[Mapping[str, Any]], category_field: str | None, categories: Mapping[Any, str]
) -> list[Any]:
    """Class names as written; what is no name stays as it came, to be refused."""
    if category_field is None:
        keys = [mark.get("category_id") for mark in marks]
        # an unknown id is no name, though it may be text
        return [categories.get(key, (key,)) if isinstance(key, str) else _get(categories, key) for key in keys]
    names = [mark.get(category_field) for mark in marks]
    return [as_name(name.strip() if isinstance(name, str) else name) for name in names]


def _get(entries: Mapping[Any, Any], key: Any) -> Any:
    return entries.get(key, key) if is_hashable(key) else key


def _has_source_ids(data: Mapping[str, Any]) -> bool:
    """Whether `write_coco` numbered the ids; what other files keep under ``source_id`` is their own business."""
    info = data.get("info")
    return isinstance(info, Mapping) and info.get("ids") == "source_id"


def _source_id(record: Mapping[str, Any], key: Any) -> Any:
    own = record.get("source_id")
    return own if isinstance(own, (str, int)) else key


def _are_local(data: Mapping[str, Any]) -> bool:
    info = data.get("info")
    return isinstance(info, Mapping) and info.get("raters_are_local") is True
