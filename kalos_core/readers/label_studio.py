"""Readers of Label Studio's exports JSON and JSON-MIN: regions of images, and image-level choices."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Account, Annotations, as_name
from kalos_core.errors import InputError, Problems, as_number, listed, repr_of
from kalos_core.files import as_path
from kalos_core.limits import limit
from kalos_core.nominal import LabelTable
from kalos_core.options import Option, takes
from kalos_core.readers.answers import Answers, RepeatableSettings
from kalos_core.readers.findings import Findings, shapes_not_read
from kalos_core.readers.label_studio_tasks import (
    ANSWERS,
    FIELD,
    Annotation,
    Pages,
    Task,
    has_several_tags,
    is_located,
    load_tasks,
    page_of,
    pages_of,
    shape_of,
)
from kalos_core.readers.settings import ReaderSettings, reading
from kalos_core.readers.shapes import (
    ELLIPSE_CORNERS,
    UnusableError,
    angle_in,
    box_or_polygon,
    ellipse,
    numbers_in,
    points_in,
    run_lengths,
)

CHOICES = ("choices", "taxonomy", "rating", "number", "pairwise")
"""Types of results that `read_label_studio_choices` reads."""

READ_BY = "(kalos-core labels reads them)"

LEFT_OUT = {
    "choices": f"choices {READ_BY}",
    "taxonomy": f"taxonomy answers {READ_BY}",
    "rating": f"ratings {READ_BY}",
    "number": f"numbers {READ_BY}",
    "pairwise": f"pairwise choices {READ_BY}",
    "textarea": "texts",
    "datetime": "dates",
    "relation": "relations",
    "ranker": "rankings",
    "labels": "labels of text, sound or video",
    "videorectangle": "keyframes of video regions",
    FIELD: "fields of text (if they are choices, kalos-core labels reads them)",
}
"""Types of results that are not regions of an image -> their description in the account."""

HALF = 128
"""Minimum opacity (of 255) of a pixel that counts as covered by a brush."""


@dataclass(frozen=True, kw_only=True)
class LabelStudioSettings(ReaderSettings):
    """Options of `read_label_studio`."""

    image_field: Annotated[
        str,
        Option(
            "Field of the image",
            "Field of a task's data with the image or the list of pages; if a task has only a different field with "
            "one, that field is used.",
        ),
    ] = "image"
    on_several_labels: Annotated[
        Literal["raise", "join"],
        Option(
            "Regions of several labels",
            "Handling of a region with several labels.",
            choices={
                "raise": "raise an error that names it",
                "join": "join the names, in alphabetical order, to one class (black, cat)",
            },
        ),
    ] = "raise"


@takes(LabelStudioSettings)
@reading
def read_label_studio(path: str | os.PathLike[str], settings: LabelStudioSettings) -> Annotations:
    """Read regions of several annotators from an export of Label Studio.

    Parameters
    ----------
    path : path
        The export JSON: one or more tasks, each with ``annotations``, one per annotator (``completed_by``: an e-mail,
        an id or a record with either). An empty annotation means that the annotator saw the image without marking
        anything. Or the export JSON-MIN: one record per annotation, with ``annotator``. Several annotations of a task
        by one annotator are an error; with ``on_invalid="skip"``, the one updated last is read.

    Returns
    -------
    Annotations
        Images are the tasks' ids. In tasks of several pages, each page is an image (``7#2``); in tasks of several Image
        tags, each tag (``7#left``). Annotators of a task are assigned to all of its images. All shapes are in pixels:
        rectangles are boxes; rotated ones and ellipses (64 corners) are polygons; brush strokes are masks (pixels at
        least half opaque); a keypoint is a pose of one joint. Results of one region are joined: a `Rectangle` takes its
        class from `Labels`, and answers about a region are attributes. Cancelled annotations, drafts, predictions, and
        results that are not regions (choices, ratings, texts, relations, video) are left out and counted in `account`.

    Raises
    ------
    InputError
        If the file cannot be read or is a different export, an annotator has two annotations of one task, or a record
        is invalid: a region without a class or with several, an image rotated in Label Studio.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> value = {"x": 10, "y": 50, "width": 20, "height": 25, "rectanglelabels": ["cat"]}
    >>> drawn = {"type": "rectanglelabels", "original_width": 200, "original_height": 100, "value": value}
    >>> annotations = [{"completed_by": 1, "result": [drawn]}, {"completed_by": 2, "result": []}]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([{"id": 7, "data": {"image": "a.jpg"}, "annotations": annotations}]))
    ...     table = read_label_studio(path)
    >>> table.raters.tolist(), table.assigned.tolist(), table.shapes["box"].xywh().tolist()
    (['1', '2'], [[True, True]], [[20.0, 50.0, 40.0, 25.0]])
    """
    source, skips = as_path(path, "path"), settings.on_invalid == "skip"
    findings = Findings(source.name, settings.on_invalid)
    account = findings.account
    remedy = 'on_invalid="skip" reads the one updated last'
    tasks = load_tasks(source, findings.problems, account, "last" if skips else "raise", remedy)
    several_tags = has_several_tags(tasks, account)
    for task in tasks:
        pages = pages_of(task, several_tags, settings.image_field)
        for image, file in pages.images.values():
            findings.add_image(image, task.record, file=file)
        for annotation in task.annotations:
            for image, _ in pages.images.values():
                findings.assign(image, annotation.rater)
            _read_annotation(findings, annotation, pages, settings)
    if findings.records:
        account.left_out.pop(LEFT_OUT[FIELD], None)  # data of the task
    return findings.build()


@dataclass(frozen=True, kw_only=True)
class LabelStudioChoicesSettings(RepeatableSettings):
    """Options of `read_label_studio_choices`."""

    control: Annotated[
        str | None,
        Option(
            "Question",
            "Name of the question's control tag (from_name); required if annotators answered several questions.",
        ),
    ] = None


@takes(LabelStudioChoicesSettings)
@reading
def read_label_studio_choices(path: str | os.PathLike[str], settings: LabelStudioChoicesSettings) -> LabelTable:
    """Read image-level choices, taxonomies, ratings and numbers of several annotators from an export of Label Studio.

    Parameters
    ----------
    path : path
        As in `read_label_studio`.

    Returns
    -------
    LabelTable
        Items are the tasks' ids, or pages ``7#2``. Ratings and numbers are text; an entry of a taxonomy is its path
        ("animal / cat"). Answers about a region are not read; `read_label_studio` reads them as attributes.

    Raises
    ------
    InputError
        As raised by `read_label_studio`; if there is no answer, several questions and no `control`, or several choices
        in one answer that exclude each other.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> def annotation(rater, choice):
    ...     result = {"id": "r", "type": "choices", "from_name": "animal", "value": {"choices": [choice]}}
    ...     return {"completed_by": rater, "result": [result]}
    >>> task = {"id": 7, "data": {"image": "a.jpg"}, "annotations": [annotation(1, "cat"), annotation(2, "dog")]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "export.json"
    ...     _ = path.write_text(json.dumps([task]))
    ...     table = read_label_studio_choices(path)
    >>> table.questions, table.values().tolist()
    (('animal',), [[0, 1]])
    """
    source = as_path(path, "path")
    problems, account = Problems(source.name), Account()
    tasks = load_tasks(source, problems, account, settings.on_repeat, 'on_repeat="last" reads the one updated last')
    problems.raise_if_any()
    found = {id(annotation): _answers(annotation) for task in tasks for annotation in task.annotations}
    name = _control(source.name, settings.control, found.values(), tasks)
    answers = Answers(settings.groups, "choice", problems)
    for task in tasks:
        asked = [
            (annotation, [result for result in found[id(annotation)] if str(result.get("from_name")) == name])
            for annotation in task.annotations
        ]
        numbers = {page for _, results in asked for of in results if (page := page_of(of)) is not None}
        pages: list[int | None] = [*sorted(numbers)] or [None]
        for annotation, results in asked:
            for page in pages:
                parts = [part for of in results if page_of(of) == page for part in _answer(of)]
                labels = [text for text in map(_text, parts) if text is not None]
                item = task.key if page is None else f"{task.key}#{page + 1}"
                answers.add(annotation.record, item, annotation.rater, labels)
    account.notes += shapes_not_read(sum(len(_region_ids(of)) for task in tasks for of in task.annotations))
    return answers.build(source.name, settings, account, question=name)


# ---- answers ----


def _answers(annotation: Annotation) -> list[Mapping[str, Any]]:
    """Return the results of an annotation that are image-level answers."""
    regions = _region_ids(annotation)
    return [
        result
        for record, result in annotation.results
        if _type(result) in (*CHOICES, FIELD) and _id(record, result) not in regions
    ]


def _region_ids(annotation: Annotation) -> set[str]:
    return {_id(record, result) for record, result in annotation.results if _type(result) not in ANSWERS}


def _control(source: str, control: str | None, found: Iterable[list[Mapping[str, Any]]], tasks: list[Task]) -> str:
    """Return the name of the control to read: the given one, or the only one."""
    results = [result for several in found for result in several]
    texts = [str(result.get("from_name")) for result in results if _type(result) == FIELD]
    names = dict.fromkeys(str(result.get("from_name")) for result in results if _type(result) != FIELD)
    if control is not None and control in {*names, *texts}:
        return control
    names = names or dict.fromkeys(texts)
    if not names:
        kinds = Counter(_type(of) or "no type" for task in tasks for each in task.annotations for _, of in each.results)
        actual = listed(f"{count:,} {kind}" for kind, count in kinds.items()) or "no result"
        raise InputError(f"{source}: expected choices, ratings, numbers or a taxonomy of whole images, got {actual}")
    if control is not None or len(names) > 1:
        actual = "none" if control is None else repr_of(control)
        raise InputError(f"control: expected one of {listed(map(repr_of, names), 20)}, got {actual}")
    return next(iter(names))


def _type(result: Mapping[str, Any]) -> str:
    kind = result.get("type")
    return kind if isinstance(kind, str) else ""


def _answer(result: Mapping[str, Any]) -> list[Any]:
    """Return the parts of an answer: texts and numbers; an entry of a taxonomy is one text."""
    value = result.get("value")
    given = value.get(ANSWERS[_type(result)]) if isinstance(value, Mapping) else None
    parts = given if isinstance(given, list) else [] if given is None else [given]
    return [" / ".join(map(str, part)) if isinstance(part, list) else part for part in parts]


def _text(part: Any) -> Any:
    name = as_name(part)
    return f"{name:g}" if isinstance(name, float) else name


# ---- regions ----


@dataclass
class _Region:
    """One shape, with all labels and answers of results with the same id."""

    record: str
    kind: str
    result: Mapping[str, Any]
    labels: list[Any]
    attributes: dict[str, Any] = field(default_factory=dict)


def _read_annotation(findings: Findings, annotation: Annotation, pages: Pages, settings: LabelStudioSettings) -> None:
    regions: dict[str, list[_Region]] = {}
    ids, left_out = _region_ids(annotation), findings.account.left_out
    for record, result in annotation.results:
        if (kind := _type(result).removesuffix("labels")) in SHAPES:
            _add_shape(regions, record, kind, result)
    for record, result in annotation.results:
        kind, id = _type(result), _id(record, result)
        if kind.removesuffix("labels") in SHAPES:
            continue
        if kind == "labels" and is_located(result):
            shape = shape_of(result.get("value"))
            if id not in regions and shape is not None:
                _add_shape(regions, record, shape, result)
            elif not any(_id(where, of) == id and _type(of) != "labels" for where, of in annotation.results):
                findings.fault(record, pages.of(result), "a shape with the same id", "none")
            for region in regions.get(id, ()):
                region.labels += _labels(result) if region.result is not result else []
        elif kind in ANSWERS and id in regions:
            for region in regions[id]:
                region.attributes[str(result.get("from_name", kind))] = _attribute(kind, _answer(result))
        elif kind in ANSWERS and id in ids:
            left_out["answers about regions that are not read"] += 1
        elif kind not in LEFT_OUT and (not kind or is_located(result)):
            expected = f"a result of a type among {listed((f'{shape}labels' for shape in SHAPES), 10)}"
            findings.fault(record, pages.of(result), expected, repr_of(result.get("type")))
        else:
            left_out[LEFT_OUT.get(kind, f"results of the type {kind!r}")] += _count(kind, result)
    for region in (each for several in regions.values() for each in several):
        _read_region(findings, annotation.rater, region, pages.of(region.result), settings)


def _id(record: str, result: Mapping[str, Any]) -> str:
    id = as_name(result.get("id"))
    return id if isinstance(id, str) else record


def _add_shape(regions: dict[str, list[_Region]], record: str, kind: str, result: Mapping[str, Any]) -> None:
    """Add a new region, or add the labels of another control to an existing region."""
    several = regions.setdefault(_id(record, result), [])
    place = _place(result)
    same = next((region for region in several if region.kind == kind and _place(region.result) == place), None)
    if same is None:
        several.append(_Region(record, kind, result, _labels(result)))
    else:
        same.labels += _labels(result)


def _place(result: Mapping[str, Any]) -> Any:
    value = result.get("value")
    if not isinstance(value, Mapping):
        return value
    return {name: entry for name, entry in value.items() if not name.endswith("labels")}, result.get("item_index")


def _labels(result: Mapping[str, Any]) -> list[Any]:
    value = result.get("value")
    given = value.get(_type(result)) if isinstance(value, Mapping) else None
    return given if isinstance(given, list) else [] if given is None else [given]


def _attribute(kind: str, parts: list[Any]) -> Any:
    if len(parts) == 1 and isinstance(parts[0], (str, int, float)):
        return parts[0]
    texts = list(map(str, parts))
    return ", ".join(texts if kind == "textarea" else sorted(texts)) or None


def _count(kind: str, result: Mapping[str, Any]) -> int:
    value = result.get("value")
    sequence = value.get("sequence") if isinstance(value, Mapping) and kind == "videorectangle" else None
    return len(sequence) if isinstance(sequence, list) else 1


def _read_region(
    findings: Findings, rater: str, region: _Region, image: int | str, settings: LabelStudioSettings
) -> None:
    result, where = region.result, region.record
    width, height = (as_number(result.get(f"original_{side}")) for side in ("width", "height"))
    size = findings.size_from(width, height, where)
    findings.add_image(image, where, size=size)
    value = result.get("value")
    with findings.annotation(where, image):
        if not isinstance(value, Mapping):
            raise UnusableError("a value", repr_of(value))
        if result.get("image_rotation"):
            raise UnusableError(
                "an image that was not rotated in Label Studio", f"{result['image_rotation']!r} degrees"
            )
        if np.isnan(size).any():
            raise UnusableError("original_width and original_height, which coordinates are percents of", "neither")
        label, shape = _class(region.labels, settings.on_several_labels), SHAPES[region.kind](value, size)
        findings.add_annotation(where, image, rater, label, attributes=region.attributes or None, **shape)
        account = findings.account
        if region.kind == "ellipse":
            account.note(f"ellipses are polygons of {ELLIPSE_CORNERS} corners")
        if len(set(region.labels)) > 1:
            account.note("regions with several labels have one class of all their names")
        if value.get("closed") is False:
            account.note("polygons that were left open are closed")


def _class(labels: list[Any], on_several_labels: str) -> str:
    names = [as_name(label) for label in labels]
    if not names:
        raise UnusableError("a class: a label, or a result of the type 'labels' with the id of the region", "none")
    if not all(isinstance(name, str) for name in names):
        raise UnusableError("names of classes", listed(map(repr_of, labels)))
    distinct = sorted(set(names))
    if len(distinct) > 1 and on_several_labels == "raise":
        raise UnusableError('one class (on_several_labels="join" joins several)', listed(map(repr_of, distinct)))
    return ", ".join(distinct)


def _pixels(value: Mapping[str, Any], names: tuple[str, ...], size: tuple[float, float]) -> list[float]:
    """Return fields in pixels; they alternate between percentages of the image's width and height."""
    numbers = numbers_in(value, *names)
    return [number * size[position % 2] / 100 for position, number in enumerate(numbers)]


def _rectangle(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    box = _pixels(value, ("x", "y", "width", "height"), size)
    return box_or_polygon(box, angle_in(value), pivot=(box[0], box[1]))


def _ellipse(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    x, y, radius_x, radius_y = _pixels(value, ("x", "y", "radiusX", "radiusY"), size)
    return {"polygon": [ellipse(x, y, radius_x, radius_y, angle_in(value))]}


def _polygon(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    ring = [[x * size[0] / 100, y * size[1] / 100] for x, y in points_in(value.get("points"))]
    return {"polygon": [ring]}


def _key_point(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    return {"keypoints": [[*_pixels(value, ("x", "y"), size), 2]]}


def _brush(value: Mapping[str, Any], size: tuple[float, float]) -> dict[str, Any]:
    """Read a mask from the opacity (fourth value) of each pixel, in row-major order."""
    given, (width, height) = value.get("rle"), size
    if not (width.is_integer() and height.is_integer()):
        raise UnusableError("an image of whole pixels", f"{width} x {height}")
    if value.get("format") != "rle" or not isinstance(given, list) or 4 * width * height > limit("KALOS_MOST_PIXELS"):
        raise UnusableError(
            "a brush with the format 'rle' and a list 'rle'", f"{value.get('format')!r}, {repr_of(given)}"
        )
    try:
        data = np.array(given, dtype=np.uint8)
    except (ValueError, TypeError, OverflowError):
        raise UnusableError("an rle of bytes", repr_of(given)) from None
    colours = unpack(data, int(width * height * 4))
    if colours is None:
        raise UnusableError(f"an rle of {width:g} x {height:g} pixels of four bytes", repr_of(given))
    return {"mask": run_lengths(colours.reshape(int(height), int(width), 4)[:, :, 3] >= HALF)}


def unpack(data: NDArray[np.uint8], count: int) -> NDArray[np.uint8] | None:
    """Unpack bytes packed by Label Studio (format of thi.ng/rle-pack); None if they are not `count` packed bytes.

    The data is a stream of bits. Its header has the number of values (32 bits), the number of bits of a value minus 1
    (5 bits), and four numbers of bits of a run length, each minus 1 (4 bits). Runs follow: whether one value is
    repeated (1 bit), which of the four sizes applies (2 bits), the length minus 1, and one value or all values.

    Examples
    --------
    The value 7 three times, with runs of at most 2, 4, 8 or 16 (1, 2, 3 or 4 bits):

    >>> bits = f"{3:032b}{7:05b}{0:04b}{1:04b}{2:04b}{3:04b}" + "1" + "01" + f"{2:02b}" + f"{7:08b}"
    >>> packed = np.packbits([int(bit) for bit in bits])
    >>> unpack(packed, 3).tolist(), unpack(packed, 4)
    ([7, 7, 7], None)
    """
    bits = np.unpackbits(data)
    text = bits.tobytes().translate(_DIGITS).decode("ascii")
    if len(text) < 53 or int(text[:32], 2) != count or int(text[32:37], 2) != 7:
        return None
    lengths = [int(text[position : position + 4], 2) + 1 for position in range(37, 53, 4)]
    values = np.zeros(count, np.uint8)
    done, position = 0, 53
    while done < count:
        if position + 3 > len(text):
            return None
        repeated, width = text[position] == "1", lengths[int(text[position + 1 : position + 3], 2)]
        position += 3
        run = int(text[position : position + width] or "0", 2) + 1
        position += width
        end = position + (8 if repeated else 8 * run)
        if end > len(text) or done + run > count:
            return None
        values[done : done + run] = np.packbits(bits[position:end])
        done, position = done + run, end
    return values


_DIGITS = bytes.maketrans(b"\x00\x01", b"01")

Shape = Callable[[Mapping[str, Any], tuple[float, float]], dict[str, Any]]
"""``shape(value, size of the image)`` -> the shape's field of a record."""

SHAPES: dict[str, Shape] = {
    "rectangle": _rectangle,
    "ellipse": _ellipse,
    "polygon": _polygon,
    "keypoint": _key_point,
    "brush": _brush,
}
"""Types of results that are regions of an image; with a class in the same result, the type ends in ``labels``."""
