"""Labels as documents, equal to those of FiftyOne's own objects in any version."""

from typing import Any

import bson
import fiftyone as fo
import numpy as np

from kalos_core import Annotations
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, LabelType

WIDTH, HEIGHT = 80, 50
BOX = [8, 10, 16, 20]
RINGS = [[8, 10, 24, 10, 24, 30], [40, 10, 60, 10, 60, 25]]
POINTS = [8, 10, 2, 0, 0, 0, 40, 25, 2]
RLE = {"size": [HEIGHT, WIDTH], "counts": [10 + 50 * 8, 20, 30, 20, 50 * WIDTH - 50 * 8 - 80]}


def table(*shapes: dict[str, Any]) -> Annotations:
    rows = [
        {"image": f"image {number}", "rater": "ann", "category": "cat", "id": f"a{number}", **shape}
        for number, shape in enumerate(shapes)
    ]
    return Annotations.from_rows(rows, image_size={row["image"]: (WIDTH, HEIGHT) for row in rows})


def stored(document: Any) -> dict[str, Any]:
    """Return a document as the database returns it."""
    found: dict[str, Any] = bson.decode(bson.encode(document))
    return found


def same(label_type: LabelType, annotations: Annotations, *labels: Any) -> None:
    """Check that the documents equal those of FiftyOne's own labels."""
    expected = [label.to_dict() for label in labels]
    attributes = [label["annotation_id"] for label in labels]
    ids = [document["_id"] for document in expected]
    made = label_type.labels(annotations, np.arange(len(labels)), lambda _: {"_id": ids, "annotation_id": attributes})
    for ours, theirs in zip(made, expected, strict=True):
        own, fiftyones = stored(ours), stored(theirs)
        assert repr(sorted(own.items())) == repr(sorted(fiftyones.items()))  # NaN is not equal to NaN


class TestDocuments:
    def test_detections_with_and_without_a_mask(self):
        annotations = table({"box": BOX, "mask": RLE}, {"box": BOX})
        mask = np.zeros((20, 16), bool)
        mask[:, :2] = True
        box = [8 / WIDTH, 10 / HEIGHT, 16 / WIDTH, 20 / HEIGHT]
        with_mask = fo.Detection(label="cat", bounding_box=box, mask=mask, annotation_id="a0")
        without = fo.Detection(label="cat", bounding_box=box, annotation_id="a1")
        same(LABEL_TYPES["detections"], annotations, with_mask, without)

    def test_polylines(self):
        rings = [[(x / WIDTH, y / HEIGHT) for x, y in zip(ring[::2], ring[1::2], strict=True)] for ring in RINGS]
        label = fo.Polyline(label="cat", points=rings, closed=True, filled=False, annotation_id="a0")
        same(LABEL_TYPES["polylines"], table({"polygon": RINGS}), label)

    def test_keypoints(self):
        points = [(8 / WIDTH, 10 / HEIGHT), (float("nan"), float("nan")), (40 / WIDTH, 25 / HEIGHT)]
        label = fo.Keypoint(label="cat", points=points, annotation_id="a0")
        same(LABEL_TYPES["keypoints"], table({"keypoints": POINTS}), label)


class TestFields:
    def test_nothing_annotated_and_not_assigned_differ(self, monkeypatch):
        """Three images, two per block, last image first."""
        monkeypatch.setattr("kalos_core.fiftyone.dataset.encoding.BLOCK", 2)
        rows = [
            {"image": image, "rater": rater, "category": "cat", "box": [x, 0, 4, 5]}
            for image, rater, x in (("b", "bob", 8), ("a", "ann", 0), ("b", "ann", 16), ("a", "ann", 24))
        ]
        annotations = Annotations.from_rows(
            rows,
            images=["a", "b", "c"],
            image_size=dict.fromkeys("abc", (WIDTH, HEIGHT)),
            assigned={"a": ["ann", "bob"], "b": ["ann", "bob"], "c": ["bob"]},
        )
        names = [f"field_{name}" for name in annotations.raters]
        found = LABEL_TYPES["detections"].fields(
            annotations, names, lambda rows: {"x": annotations.shapes["box"].bounds()[rows, 0].tolist()}, [2, 0, 1]
        )
        assert [{name: [label["x"] for label in held["detections"]] for name, held in of.items()} for of in found] == [
            {"field_bob": []},
            {"field_ann": [0, 24], "field_bob": []},
            {"field_ann": [16], "field_bob": [8]},
        ]

    def test_without_annotations(self):
        """Empty lists are FiftyOne's own."""
        annotations = Annotations.from_rows([], images=["a"], raters=["ann"], image_size={"a": (WIDTH, HEIGHT)})
        for label_type in LABEL_TYPES.values():
            assert list(label_type.fields(annotations, ["ann"])) == [{"ann": dict(label_type.document().to_dict())}]
