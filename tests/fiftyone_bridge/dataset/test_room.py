"""Samples that would be too large are refused with the number before anything is written; many labels at once."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from bson import ObjectId
from fiftyone.core.odm import get_db_conn
from pymongo.errors import BulkWriteError, DocumentTooLarge, OperationFailure

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, KalosError
from kalos_core.fiftyone.dataset import writing
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, rough_bytes
from kalos_core.fiftyone.importing import objects
from kalos_core.shapes import Masks
from tests.fiftyone_bridge.scenes import RATERS, make_sample, untouched

BOX = {"box": [1, 1, 9, 9]}
OUTLINE = {"polygon": [[1, 1, 30, 1, 30, 30, 1, 30, 1, 15]]}


def table(count: int, **shape: Any) -> Annotations:
    """Return this many labels of each of two raters on one image."""
    row = {"image": "0.jpg", "category": "cat", **shape}
    rows = [{"rater": rater, **row} for rater in ("dan", "eve") for _ in range(count)]
    return Annotations.from_rows(rows, image_size={"0.jpg": (100, 100)})


def lower(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(writing, "MOST", most)
    monkeypatch.setattr(objects, "MOST", most)


class TestLoading:
    @pytest.mark.parametrize("is_new", [True, False])
    def test_labels_that_a_sample_cannot_hold_are_refused(self, make, monkeypatch, tmp_path, is_new):
        dataset = make([make_sample(0, {}, listed=False)])
        lower(monkeypatch, 4000)
        message = r"expected at most 4,000 bytes in a sample, got [45],\d{3} for 0.jpg: this limit"
        with untouched(dataset), pytest.raises(InputError, match=message):
            kf.load_raters(table(12, **BOX), "new" if is_new else dataset, canvas=tmp_path / "canvas")
        assert list(tmp_path.iterdir()) == []

    def test_stored_values_of_a_sample_count(self, make, monkeypatch):
        """Each half fits, both together do not."""
        dataset = make([make_sample(0, {}, listed=False, more="x" * 3000)])
        lower(monkeypatch, 5500)
        with pytest.raises(InputError, match="expected at most 5,500 bytes in a sample"):
            kf.load_raters(table(8, **BOX), dataset)
        dataset.delete_sample_field("more")
        kf.load_raters(table(8, **BOX), dataset)
        assert len(dataset.first().dan.detections) == 8

    @pytest.mark.parametrize("shape", [BOX, OUTLINE, {**BOX, "mask": np.ones((100, 100), bool)}])
    def test_the_rough_number_is_not_less_than_the_bytes(self, shape):
        annotations = table(3, **{name: value for name, value in shape.items() if name != "mask"})
        kind = LABEL_TYPES["polylines" if "polygon" in shape else "detections"]
        if "mask" in shape:
            noise = np.random.default_rng(0).random((len(annotations), 100, 100)) < 0.5
            shapes = {**annotations.shapes, "mask": Masks.from_arrays(list(noise))}
            annotations = replace(annotations, shapes=shapes)
        made = kind.labels(annotations, np.arange(len(annotations)))
        assert (rough_bytes(annotations) >= [writing.bytes_of(document) for document in made]).all()


class TestRuns:
    def test_values_that_a_sample_cannot_hold_are_refused(self, dataset, monkeypatch):
        """Nothing is written; with a limit of 0, even the first sample is measured."""
        original, blocks = writing.write_samples, []
        monkeypatch.setattr(writing, "MANY", 0)
        monkeypatch.setattr(writing, "write_samples", lambda *given: blocks.append(1) or original(*given))
        lower(monkeypatch, 1200)
        message = r"expected at most 1,200 bytes in a sample, got \d,\d{3} for "
        with untouched(dataset), pytest.raises(InputError, match=message):
            kf.find_variations(dataset, "run", raters=RATERS)
        assert not blocks

    @pytest.mark.parametrize("compute", [kf.compute_agreement, kf.find_variations])
    def test_many_labels_are_written_as_few_are(self, make, monkeypatch, compute):
        few, many = make(), make()
        compute(few, "run", raters=RATERS)
        monkeypatch.setattr(writing, "MANY", 0)
        compute(many, "run", raters=RATERS)
        assert plain(many) == plain(few)
        kf.delete_run(many, "run")
        kf.delete_run(few, "run")
        assert plain(many) == plain(few)

    def test_a_list_of_many_labels_that_changed_is_not_written_to(self, dataset, monkeypatch):
        """Another user adds a label between reading and updating a list."""
        monkeypatch.setattr(writing, "MANY", 0)
        original = writing.write_samples

        def changed(samples: Any, updates: Any) -> int:
            found = list(updates)
            sample = dataset.match(fo.ViewField("ann.detections").length() > 0).first()
            sample.ann.detections.append(fo.Detection(label="late", bounding_box=[0, 0, 1, 1]))
            sample.save()
            return original(samples, iter(found))

        monkeypatch.setattr(writing, "write_samples", changed)
        with pytest.raises(KalosError, match="1 sample was changed while this run was computed"):
            kf.find_variations(dataset, "run", raters=RATERS)
        assert not [path for path in dataset.get_field_schema(flat=True) if "run" in path]

    def test_refusals_of_the_database_are_explained(self, dataset):
        """The real limit: a sample almost fills it; a run with few labels is not measured first."""

        def leave(spare: int) -> None:
            sample = dataset.first()
            for more in (0, writing.MOST - spare):
                sample["more"] = "x" * (more and more - stored_bytes(dataset, sample.id))
                sample.save()
            assert stored_bytes(dataset, sample.id) == writing.MOST - spare

        leave(20)
        message = re.escape("would exceed 16,777,216 bytes: this limit of MongoDB")
        with untouched(dataset), pytest.raises(KalosError, match=message):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        leave(40_000)
        assert kf.compute_agreement(dataset, "run", raters=RATERS).key == "run"


def stored_bytes(dataset: fo.Dataset, sample_id: str) -> int:
    return writing._stored_bytes(dataset._sample_collection, [sample_id])[sample_id]


def plain(dataset: fo.Dataset) -> list[dict[str, Any]]:
    """Return all samples as stored, with numbers instead of ids."""
    found = list(get_db_conn()[dataset._sample_collection_name].find().sort("_id"))
    number: dict[str, int] = {}

    def without_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_ids(entry) for key, entry in value.items()}
        if isinstance(value, list):
            return [without_ids(entry) for entry in value]
        return number.setdefault(str(value), len(number)) if ObjectId.is_valid(value) else value

    own = ("_rand", "_dataset_id", "created_at", "last_modified_at")
    return [{name: without_ids(value) for name, value in stored.items() if name not in own} for stored in found]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (DocumentTooLarge("'update' command document too large"), True),
        (OperationFailure("BSONObj size", 10334), True),
        (OperationFailure("no", 11000), False),
        (BulkWriteError({"writeErrors": [{"code": 17419}]}), True),
        (BulkWriteError({"writeErrors": [{"code": 11000}]}), False),
        (ValueError("BSONObj size"), False),
    ],
)
def test_errors_of_documents_that_are_too_large(error: Exception, expected: bool) -> None:
    assert writing.is_too_large(error) is expected
