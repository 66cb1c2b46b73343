"""Crowd regions of a COCO file in a data set: stored as labels, excluded from agreement, ignored regions in mAP."""

import warnings
from dataclasses import replace
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations, KalosWarning, agreement, label_convergence, modified_map, read_coco
from tests.fiftyone_bridge.scenes import detection, in_fields

CROWD = "iscrowd"
SIZE = 64
RATERS = ("ann", "bob", "cid")
KINDS = {
    "box": ("box_iou", "Detections"),
    "polygon": ("polygon_iou", "Polylines"),
    "mask": ("mask_iou", "Detections"),
}
"""Kind of outline -> similarity that compares it, and its label type in FiftyOne."""


def rle(left: int, top: int, right: int, bottom: int) -> dict[str, Any]:
    """Return the pixels of a rectangle without every third row, as COCO writes a crowd."""
    mask = np.zeros((SIZE, SIZE), bool)
    mask[top:bottom, left:right] = True
    mask[::3] = False
    flat = np.concatenate([[False], mask.T.ravel()])
    edges = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]), [SIZE * SIZE]])
    return {"size": [SIZE, SIZE], "counts": np.diff(edges).tolist()}


def corners(left: int, top: int, right: int, bottom: int) -> list[list[int]]:
    return [[left, top, right, top, right, bottom, left, bottom]]


def coco(kind: str, images: int = 8) -> dict[str, Any]:
    """Return random objects by all raters, and crowds of ann and bob around some: as pixels, outlines and boxes."""
    rng = np.random.default_rng(5)
    annotations: list[dict[str, Any]] = []

    def add(image: int, rater: str, category: int, sides: list[int], outline: Any, crowd: int = 0) -> None:
        left, top, right, bottom = sides
        box = [left, top, right - left, bottom - top]
        record = {"id": len(annotations) + 1, "image_id": image, "rater_id": rater, "category_id": category}
        annotations.append({**record, "bbox": box, "iscrowd": crowd, **({} if outline is None else outline)})

    for image in range(images):
        for number in range(5):
            left, top = rng.integers(0, SIZE - 20, 2).tolist()
            crowd = rng.random() < 0.4
            for rater in RATERS:
                shift_x, shift_y, width, height = rng.integers([0, 0, 8, 8], [4, 4, 14, 14]).tolist()
                sides = [left + shift_x, top + shift_y, left + shift_x + width, top + shift_y + height]
                if crowd and rater != "cid":
                    around = [max(left - 6, 0), max(top - 6, 0), left + 14, top + 14]
                    shapes = ({"segmentation": rle(*around)}, {"segmentation": corners(*around)}, None)
                    add(image, rater, 1 + number % 2, around, shapes[number % 3], crowd=1)
                else:
                    outline = {"polygon": corners(*sides), "mask": rle(*sides)}.get(kind)
                    add(image, rater, 1 + number % 2, sides, None if outline is None else {"segmentation": outline})
    names = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
    records = [
        {"id": image, "file_name": f"{image}.png", "width": SIZE, "height": SIZE, "rater_list": list(RATERS)}
        for image in range(images)
    ]
    return {"images": records, "categories": names, "annotations": annotations}


@pytest.fixture(scope="module", params=list(KINDS))
def crowded(request, tmp_path_factory):
    """Return the similarity, the table of a file, and the data set that it was loaded into."""
    data = coco(request.param)
    with pytest.warns(KalosWarning, match="crowd regions"):
        table = read_coco(data)
    with pytest.warns(KalosWarning, match="crowd regions"):
        loaded = kf.load_raters(data, canvas=tmp_path_factory.mktemp("canvas"), persistent=False)
    assert loaded.crowds == table.crowds.sum() > 20
    similarity, label_type = KINDS[request.param]
    assert type(loaded.dataset.first()["ann"]).__name__ == label_type
    yield similarity, table, loaded.dataset
    loaded.dataset.delete()


def test_the_map_of_a_data_set_is_that_of_its_file(crowded):
    similarity, table, dataset = crowded
    images = np.count_nonzero(table.crowds)
    with pytest.warns(KalosWarning, match=rf"crowd regions \(labels with a true 'iscrowd'\) on {images} images"):
        read = kf.read_annotations(dataset, similarity=similarity)
    assert read.crowds.tolist() == table.crowds.tolist()
    assert len(read) == len(table)
    assert read.crowd_regions is not None
    expected = modified_map(table, similarity)
    assert modified_map(read, similarity).directions == pytest.approx(expected.directions, nan_ok=True)
    without = modified_map(replace(table, crowd_regions=None), similarity)
    assert np.nanmean(without.directions) < np.nanmean(expected.directions) - 0.001  # crowds make a difference here


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_label_convergence_of_a_data_set_is_that_of_its_file(crowded):
    similarity, table, dataset = crowded
    expected = label_convergence(table, 5, 0.5, similarity=similarity)
    run = kf.estimate_convergence(dataset, "ceiling", similarity=similarity, subsets=5, fraction=0.5)
    for result in (run.result, kf.load_run(dataset, "ceiling").result):  # the latter from stored results
        assert result.whole.mean == pytest.approx(expected.whole.mean, nan_ok=True)
        assert result.summary()["whole"].tolist() == pytest.approx(expected.summary()["whole"].tolist())
    dataset = dataset.clone()
    sample = next(sample for sample in dataset if crowds(sample["ann"]))
    crowds(sample["ann"])[0][CROWD] = False
    sample.save()
    assert kf.stale_samples(dataset, "ceiling") == [sample.id]


def crowds(field: fo.Detections | fo.Polylines) -> list[Any]:
    """Return the labels of a field that are crowd regions."""
    labels = field.detections if isinstance(field, fo.Detections) else field.polylines
    return [label for label in labels if label.to_dict().get(CROWD)]


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_agreement_reads_none(crowded):
    similarity, table, dataset = crowded
    run = kf.compute_agreement(dataset, "run", similarity=similarity, bootstrap=0)
    assert run.result.image_alpha == pytest.approx(agreement(table, similarity, bootstrap=0).image_alpha, nan_ok=True)
    assert run.metrics["annotations"] == len(table)
    found = [label for sample in dataset for name in RATERS for label in crowds(sample[name])]
    assert len(found) == sum(table.crowds)
    assert all("run_unit" not in label.to_dict() for label in found)


def test_labels_that_somebody_else_marked_as_crowds(make):
    """FiftyOne's own importer writes numbers; ann's crowd contains bob's cat, which does not count."""
    cat, near, around = [0, 0, 10, 10], [50, 50, 10, 10], [40, 40, 40, 40]

    def read(crowd: int) -> Annotations:
        given = [detection("cat", cat, iscrowd=0), detection("cat", around, iscrowd=crowd)]
        scene = {"ann": given, "bob": [detection("cat", near), detection("cat", cat)]}
        return kf.read_annotations(make([in_fields(0, scene)]), raters=("ann", "bob"))

    with pytest.warns(KalosWarning, match="1 crowd regions"):
        found = read(1)
    assert len(found) == 3
    assert modified_map(found).directions[0, 0, 1] == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error", KalosWarning)
        assert modified_map(read(0)).directions[0, 0, 1] < 1
