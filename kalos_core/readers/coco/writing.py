"""Writer of COCO files, `write_coco`."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kalos_core.annotations import Annotations
from kalos_core.errors import InputError, listed
from kalos_core.files import as_path, write_whole
from kalos_core.options import checked
from kalos_core.readers.coco.classes import EXCLUDED_FIELD
from kalos_core.readers.coco.columns import RATER_FIELDS, SESSION_FIELD
from kalos_core.results import plain_values
from kalos_core.shapes import Boxes, Keypoints, Masks, Polygons

SHAPES = ("box", "polygon", "mask", "keypoints")
"""Shape kinds that a COCO file can contain."""

OWN_FIELDS = frozenset(
    {"id", "image_id", "category_id", "iscrowd", "area", "bbox", "segmentation", "keypoints", "num_keypoints"}
    | {"source_id", SESSION_FIELD, *RATER_FIELDS}
)
"""Fields of an annotation that already have a meaning."""

DESCRIPTION = "Labels of several raters, one rater_id per annotation"
"""First entry of every file written here; it identifies files that may be replaced."""

Fields = dict[str, Any]


@checked
def write_coco(
    annotations: Annotations,
    path: str | os.PathLike[str],
    fields: Mapping[str, Sequence[Any]] | None = None,
    *,
    overwrite: bool = False,
) -> Path:
    """Write annotations as a COCO file that `read_coco` reads back as the same table.

    The file is written completely or not at all. Masks are written as run lengths, keypoints as x, y, v with v = 2 if
    labelled. If every rater is a session of a person, ``rater_list`` maps persons to sessions, as in KaLOS files. Image
    and annotation ids are kept if all are whole numbers; otherwise they are numbered from 1 and, if they are text or
    whole numbers, kept under ``source_id``. Categories are numbered from 1 in the order of the vocabulary. Crowd
    regions are written as such. `skipped` is not written.

    Parameters
    ----------
    annotations : Annotations
    path : path
        Path of the file; an existing file that was written by this function is replaced.
    fields : mapping of str to (N,) values, optional
        Further fields of each annotation, such as the ``score`` of a consensus; values of JSON types, and names that
        are not COCO's own.
    overwrite : bool
        Whether to replace any other existing file, too.

    Returns
    -------
    Path
        Path of the file.

    Raises
    ------
    InputError
        If the folder does not exist, or an existing file was not written by this function. Also for shapes that COCO
        does not support: volumes, cuboids, a polygon and a mask of one annotation.

    Examples
    --------
    >>> import tempfile
    >>> from kalos_core import read_coco
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 4, 2]}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_coco(Annotations.from_rows(rows), Path(folder) / "labels.json")
    ...     read_coco(path)
    Annotations(1 annotation of 1 rater on 1 image, 1 category, shapes: box)
    """
    target = as_path(path, "path")
    _check_shapes(annotations)
    if annotations.crowd_regions is not None:
        _check_shapes(annotations.crowd_regions)
    _check_fields(fields or {}, len(annotations))
    image_ids, annotation_ids = _whole_ids(annotations.images), _whole_ids(annotations.id)
    in_sessions = _are_sessions(annotations)
    info: Fields = {
        "description": DESCRIPTION,
        "raters": _described(annotations),
    }
    if annotations.raters_are_local:
        info["raters_are_local"] = True
    if image_ids != list(annotations.images) or annotation_ids != list(annotations.id):
        info["ids"] = "source_id"
    if annotations.assigned_categories is not None:
        info["rater_categories"] = {
            rater: list(annotations.categories[allowed])
            for rater, allowed in zip(annotations.raters, annotations.assigned_categories, strict=True)
        }
    crowd_ids = _crowd_ids(annotations.crowd_regions, annotation_ids)
    if annotations.crowd_regions is not None:
        info["crowds"] = "regions"
    if annotations.crowd_regions is not None and crowd_ids != list(annotations.crowd_regions.id):
        info["ids"] = "source_id"
    records = _annotation_records(annotations, annotation_ids, image_ids, in_sessions)
    for name, values in (fields or {}).items():
        for record, value in zip(records, values, strict=True):
            record[name] = value
    if annotations.crowd_regions is not None:
        regions = _annotation_records(annotations.crowd_regions, crowd_ids, image_ids, in_sessions)
        records += [record | {"iscrowd": 1} for record in regions]
    content = {
        "info": info,
        "images": [_image_record(annotations, row, image_id, in_sessions) for row, image_id in enumerate(image_ids)],
        "categories": _category_records(annotations),
        "annotations": records,
    }
    mark = json.dumps({"info": {"description": DESCRIPTION}}).rstrip("}")
    write_whole(target, json.dumps(content, allow_nan=False), mark, overwrite=overwrite)
    return target


def _check_shapes(annotations: Annotations) -> None:
    others = [kind for kind in annotations.shapes if kind not in SHAPES]
    if others:
        raise InputError(f"annotations: expected shapes among {listed(SHAPES, 10)}, got {listed(others, 10)}")
    present = [~annotations.shapes[kind].absent() for kind in ("polygon", "mask") if kind in annotations.shapes]
    both = np.flatnonzero(np.logical_and.reduce(present))
    if len(present) == 2 and len(both):
        ids = listed(annotations.id[both])
        raise InputError(
            f"annotations: expected a polygon or a mask of each annotation, got both for {len(both):,} (ids {ids})"
        )


def _check_fields(fields: Mapping[str, Sequence[Any]], count: int) -> None:
    for name, values in fields.items():
        if name in OWN_FIELDS or len(values) != count:
            actual = f"one of COCO's own, {name!r}" if name in OWN_FIELDS else f"{len(values)} of {name!r}"
            raise InputError(
                f"fields: expected a value for each of {count} annotations in fields of other names, got {actual}"
            )


def _whole_ids(ids: Any) -> list[int]:
    entries = list(ids)
    if all(isinstance(entry, (int, np.integer)) and not isinstance(entry, bool) for entry in entries):
        return [int(entry) for entry in entries]
    return list(range(1, len(entries) + 1))


def _crowd_ids(crowds: Annotations | None, annotation_ids: list[int]) -> list[int]:
    """Return ids of the crowd regions: their own if all are whole numbers that no annotation has, else new ones."""
    if crowds is None:
        return []
    own = _whole_ids(crowds.id)
    if own == list(crowds.id) and not set(own) & set(annotation_ids):
        return own
    first = max(annotation_ids, default=0) + 1
    return list(range(first, first + len(crowds)))


def _are_sessions(annotations: Annotations) -> bool:
    """Check whether every rater is a session of a person, without duplicates."""
    pairs = set(zip(annotations.person, annotations.session, strict=True))
    return all(annotations.session) and len(pairs) == len(annotations.raters) > 0


def _described(annotations: Annotations) -> list[Any]:
    persons = zip(annotations.raters, annotations.person, annotations.session, strict=True)
    if (annotations.person == annotations.raters).all() and not any(annotations.session):
        return list(annotations.raters)
    return [{"name": name, "person": person, "session": session} for name, person, session in persons]


def _image_record(annotations: Annotations, row: int, image_id: int, in_sessions: bool) -> Fields:
    raters = np.flatnonzero(annotations.assigned[row])
    who: Any = list(annotations.raters[raters])
    if in_sessions:
        who = {}
        for person, session in zip(annotations.person[raters], annotations.session[raters], strict=True):
            who.setdefault(person, []).append(session)
    record: Fields = {"id": image_id, "file_name": annotations.files[row], "rater_list": who}
    width, height = annotations.image_size[row]
    if np.isfinite(width) and np.isfinite(height):
        record |= {"width": _plain(width), "height": _plain(height)}
    regions = annotations.crowd_regions
    left_out = int(annotations.crowds[row]) - (0 if regions is None else int((regions.image == row).sum()))
    if left_out > 0:  # regions that are counted but not in the table
        record["crowds"] = left_out
    excluded = annotations.excluded[annotations.excluded[:, 0] == row]
    if len(excluded):
        record[EXCLUDED_FIELD] = {
            annotations.raters[rater]: (excluded[excluded[:, 1] == rater, 2] + 1).tolist()
            for rater in np.unique(excluded[:, 1])
        }
    return record | _source_id(annotations.images[row], image_id)


def _category_records(annotations: Annotations) -> list[Fields]:
    records: list[Fields] = [{"id": code + 1, "name": name} for code, name in enumerate(annotations.categories)]
    poses = annotations.shapes.get("keypoints")
    if isinstance(poses, Keypoints):
        joints = [str(number + 1) for number in range(poses.points.shape[1])]
        for code in np.unique(annotations.category[poses.present]):
            records[code]["keypoints"] = joints
    return records


def _annotation_records(
    annotations: Annotations, annotation_ids: list[int], image_ids: list[int], in_sessions: bool
) -> list[Fields]:
    areas = np.full(len(annotations), np.nan)
    for kind in ("polygon", "mask", "box"):
        if kind in annotations.shapes:
            column = annotations.shapes[kind]
            areas = np.where(np.isnan(areas) & ~column.absent(), column.area(), areas)
    writers = [_WRITERS[kind](column) for kind, column in annotations.shapes.items()]
    records = []
    for row, annotation_id in enumerate(annotation_ids):
        rater = annotations.rater[row]
        record: Fields = {
            "id": annotation_id,
            "image_id": image_ids[annotations.image[row]],
            "category_id": int(annotations.category[row]) + 1,
            "rater_id": annotations.person[rater] if in_sessions else annotations.raters[rater],
            "iscrowd": 0,
        }
        if in_sessions:
            record[SESSION_FIELD] = annotations.session[rater]
        if np.isfinite(areas[row]):
            record["area"] = float(areas[row])
        for write in writers:
            record |= write(row)
        attributes = {name: plain_values(values[row]) for name, values in annotations.attributes.items()}
        if any(value is not None for value in attributes.values()):
            record["attributes"] = {name: value for name, value in attributes.items() if value is not None}
        records.append(record | _source_id(annotations.id[row], annotation_id))
    return records


def _box_writer(boxes: Boxes) -> Callable[[int], Fields]:
    """Return a writer that omits boxes without area, around shapes without area; they are derived on reading."""
    xywh, solid = boxes.xywh().tolist(), boxes.area() > 0
    return lambda row: {"bbox": xywh[row]} if solid[row] else {}


def _polygon_writer(polygons: Polygons) -> Callable[[int], Fields]:
    absent = polygons.absent()
    return lambda row: {} if absent[row] else {"segmentation": [ring.ravel().tolist() for ring in polygons.rings(row)]}


def _mask_writer(masks: Masks) -> Callable[[int], Fields]:
    absent = masks.absent()
    return lambda row: {} if absent[row] else {"segmentation": masks.rle(row)}


def _keypoint_writer(poses: Keypoints) -> Callable[[int], Fields]:
    numbers = np.dstack([np.nan_to_num(poses.points), 2 * poses.visible]).reshape(len(poses), -1).tolist()
    count = poses.visible.sum(axis=1).tolist()
    return lambda row: {"keypoints": numbers[row], "num_keypoints": count[row]} if poses.present[row] else {}


_WRITERS: dict[str, Callable[[Any], Callable[[int], Fields]]] = {
    "box": _box_writer,
    "polygon": _polygon_writer,
    "mask": _mask_writer,
    "keypoints": _keypoint_writer,
}


def _source_id(source_id: Any, written_id: int) -> Fields:
    if source_id == written_id or not isinstance(source_id, (str, int, np.integer)):
        return {}
    return {"source_id": source_id if isinstance(source_id, str) else int(source_id)}


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() else float(number)
