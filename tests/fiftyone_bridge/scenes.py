"""Six scenes of 100 x 100 pixels, and annotations of two raters; all numbers are worked out here.

=====  =========================================  ==============================  =====================
scene  ann and bob                                units (ann, bob)                alpha
=====  =========================================  ==============================  =====================
0      the same cat                               (cat, cat)                      1
1      one box: cat, dog                          (cat, dog)                      1 - 1 / 1 = 0
2      a cat by ann only                          (cat, -)                        0
3      a bench, and its two halves (IoU .475)     (bench, -) (-, bench) (-,bench) 1 - 1 / .6 = -2/3
4      nothing                                    (-, -)                          1, empty by agreement
5      a cat by ann; bob was not assigned         (cat, not assigned)             none
=====  =========================================  ==============================  =====================

Scene 3: three benches, three absences, no unit agrees: expected (36 - 9 - 9) / (6 * 5) = .6.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import fiftyone as fo
import numpy as np
from fiftyone.core.odm import get_db_conn

from kalos_core.results import plain_values

Box = tuple[str, list[float]]
"""Class and box of an annotation."""
Scene = dict[str, list[Box] | None]

CAT = [10, 10, 40, 40]
BENCH, LEFT_HALF, RIGHT_HALF = [10, 10, 80, 20], [10, 10, 38, 20], [52, 10, 38, 20]

SCENES: list[Scene] = [
    {"ann": [("cat", CAT)], "bob": [("cat", CAT)]},
    {"ann": [("cat", CAT)], "bob": [("dog", CAT)]},
    {"ann": [("cat", CAT)], "bob": []},
    {"ann": [("bench", BENCH)], "bob": [("bench", LEFT_HALF), ("bench", RIGHT_HALF)]},
    {"ann": [], "bob": []},
    {"ann": [("cat", CAT)], "bob": None},
]
RATERS = ("ann", "bob")
THREE = ("ann", "bob", "cid")
ALPHAS = [1.0, 0.0, 0.0, -2 / 3, 1.0, None]
MEAN = (1 + 0 + 0 - 2 / 3 + 1) / 5
WITHOUT_EMPTY = (1 + 0 + 0 - 2 / 3) / 4
UNITS = [[[0], [1], [2], [3], [], [6]], [[0], [1], [], [4, 5], [], None]]
"""Units of the labels of ann and of bob, scene by scene."""
VARIATIONS = [
    [["correct"], ["wrong_class"], ["additional"], ["merged"], [], [None]],
    [["correct"], ["wrong_class"], [], ["merged", "merged"], [], None],
]
COUNTS = {"correct": 1, "merged": 1, "merged_wrong_class": 0, "wrong_class": 1, "missing": 1, "additional": 0}


def detection(name: str | None, box: list[float], **attributes: Any) -> fo.Detection:
    """Return a box in pixels of an image of 100 x 100."""
    return fo.Detection(label=name, bounding_box=[value / 100 for value in box], **attributes)


def polyline(name: str, box: list[float], **attributes: Any) -> fo.Polyline:
    """Return the same as an outline."""
    x, y, width, height = (value / 100 for value in box)
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    return fo.Polyline(label=name, points=[corners], **{"closed": True, "filled": True, **attributes})


def detections(given: list[Box] | None) -> fo.Detections | None:
    return None if given is None else fo.Detections(detections=[detection(*entry) for entry in given])


def polylines(given: list[Box] | None) -> fo.Polylines | None:
    return None if given is None else fo.Polylines(polylines=[polyline(*entry) for entry in given])


def make_sample(number: int, scene: Scene, make: Any = detections, listed: bool = True, **fields: Any) -> fo.Sample:
    """Return a field per rater; `raters` lists the assigned: those whose annotations are not None."""
    assigned = {"raters": [name for name, given in scene.items() if given is not None]} if listed else {}
    labels = {name: make(given) for name, given in scene.items()}
    metadata = fo.ImageMetadata(width=100, height=100)
    return fo.Sample(f"/pictures/{number}.jpg", **{"metadata": metadata, **assigned, **labels, **fields})


def make_samples(scenes: list[Scene], make: Any = detections, listed: bool = True) -> list[fo.Sample]:
    return [make_sample(number, scene, make, listed) for number, scene in enumerate(scenes)]


def six_scenes() -> list[fo.Sample]:
    return make_samples(SCENES)


def crowded(seed: int, images: int = 12) -> list[Scene]:
    """Return images with many overlapping annotations of three raters, on a grid so that ties are common.

    The third rater is not assigned to every third image.
    """
    rng = np.random.default_rng(seed)

    def given() -> list[Box]:
        boxes = rng.integers((0, 0, 2, 2), (8, 8, 8, 8), (rng.integers(2, 9), 4)) * 6
        return [(str(rng.choice(["cat", "dog"])), [int(value) for value in box]) for box in boxes]

    return [{"ann": given(), "bob": given(), "cid": given() if number % 3 else None} for number in range(images)]


FIVE = ("ann", "bob", "cid", "dan", "eve")


def in_fields(number: int, given: dict[str, list[fo.Detection]], **more: Any) -> fo.Sample:
    """Return an image of 100 x 100 pixels, with each rater's labels in a field of that name."""
    labels = {name: fo.Detections(detections=own) for name, own in given.items()}
    return make_sample(number, {}, raters=list(given), **labels, **more)


def objects() -> list[fo.Sample]:
    """Return a cat that two of three annotated, one by cid alone, and an image without annotations."""
    boxes = {"ann": [[10, 10, 40, 40]], "bob": [[10, 10, 40, 36]], "cid": [[60, 60, 20, 20]]}
    given = {name: [detection("cat", box) for box in own] for name, own in boxes.items()}
    net = fo.Detections(detections=[detection("cat", [10, 10, 40, 38], confidence=0.9)])
    return [in_fields(0, given, net=net), in_fields(1, {name: [] for name in boxes})]


def seen_by_five() -> list[fo.Sample]:
    """Return twelve images: a cat that four see; on the first six, an object that only eve sees; on the last, a dog of
    ann and bob.
    """
    near, far = [10, 10, 40, 40], [60, 60, 20, 20]
    samples = []
    for number in range(12):
        given = {name: [detection("cat", near)] for name in FIVE[:4]}
        given["eve"] = [detection("cat", far)] if number < 6 else []
        if number == 11:
            for name in FIVE[:2]:
                given[name].append(detection("dog", far))
        samples.append(in_fields(number, given))
    return samples


def in_one_field(scenes: list[Scene]) -> list[fo.Sample]:
    """Return all labels in the field `marks`, identified by the attribute `rater`."""
    samples = []
    for number, scene in enumerate(scenes):
        labels = [detection(*entry, rater=rater) for rater, given in scene.items() for entry in given or ()]
        assigned = [name for name, given in scene.items() if given is not None]
        samples.append(
            fo.Sample(
                f"/pictures/{number}.jpg",
                metadata=fo.ImageMetadata(width=100, height=100),
                marks=fo.Detections(detections=labels),
                raters=assigned,
            )
        )
    return samples


def documents(dataset: fo.Dataset) -> dict[str, dict[str, Any]]:
    """Return the database content by sample; our code never sets the time of the last change."""
    return {str(document["_id"]): document for document in dataset._sample_collection.find({})}


@contextmanager
def untouched(dataset: fo.Dataset) -> Iterator[None]:
    """Check that all content of a data set is unchanged afterwards, and that there is no new data set."""
    before = _state(dataset)
    yield
    assert _state(dataset) == before


def _state(dataset: fo.Dataset) -> Any:
    fields, runs = list(dataset.get_field_schema(flat=True)), dataset.list_runs()  # FiftyOne's list, without cleanup
    return documents(dataset), fields, runs, dict(dataset.info), list(dataset.default_classes), fo.list_datasets()


@contextmanager
def counting(dataset: fo.Dataset) -> Iterator[dict[str, int]]:
    """Count the responses and bytes of samples that the database reports as sent."""
    database, counted = get_db_conn(), {"answers": 0, "bytes": 0}
    database.command("profile", 0)
    database.drop_collection("system.profile")
    database.command("profile", 2)
    try:
        yield counted
    finally:
        database.command("profile", 0)
        asked = {"ns": f"{database.name}.{dataset._sample_collection_name}"}
        for entry in database["system.profile"].find(asked):
            counted["answers"] += entry.get("nreturned", 0)
            counted["bytes"] += entry.get("responseLength", 0)
        database.drop_collection("system.profile")


def raising(error: BaseException) -> Callable[..., Any]:
    """Return a function that raises."""

    def fails(*_: Any, **__: Any) -> None:
        raise error

    return fails


def stop_at(share: float) -> Callable[[float, str], None]:
    """Return a progress callback that stops the work at a given fraction."""

    def stop(done: float, _: str) -> None:
        if done >= share:
            raise KeyboardInterrupt

    return stop


def without(document: Any, names: set[str]) -> Any:
    """Return a document without the given keys, at any depth."""
    if isinstance(document, dict):
        return {key: without(value, names) for key, value in document.items() if key not in names}
    return [without(value, names) for value in document] if isinstance(document, list) else document


def metrics_of(found: Any) -> dict[str, Any]:
    """Return all numbers of a part of an agreement, as plain values."""
    numbers = ("alpha", "alpha_interval", "global_alpha", "global_alpha_interval", "image_alpha", "images", "units")
    names = ("category", "rater", *numbers, "class_difficulty", "collaboration", "vitality")
    return {name: plain_values(getattr(found, name)) for name in names}
