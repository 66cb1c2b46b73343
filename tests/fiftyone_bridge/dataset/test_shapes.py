"""Masks, keypoints and cuboids: exact positions, suitable similarities, and storage as for other labels."""

from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from fiftyone.utils.utils3d import compute_cuboid_iou
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import SIMILARITIES, InputError
from kalos_core.fiftyone.dataset.opened import default_similarity, fitting_similarities
from kalos_core.fiftyone.kinds.agreement.sample import sample_report
from kalos_core.fiftyone.runs.keys import check_run_key
from kalos_core.readers.fractions import mask_in_pixels
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import CAT, SCENES, detection, detections, make_sample, make_samples, polylines

RATERS = ("ann", "bob")
NAN = float("nan")
POSE = [(0.25, 0.5), (0.5, 0.5), (NAN, NAN)]
NEAR = [(0.25, 0.6), (0.5, 0.5), (NAN, NAN)]


def decoded(run_lengths: dict[str, Any]) -> np.ndarray:
    """Decode run lengths, which follow columns, into pixels."""
    height, width = run_lengths["size"]
    flat: list[bool] = []
    for number, count in enumerate(run_lengths["counts"]):
        flat += [number % 2 == 1] * int(count)
    return np.array(flat).reshape(width, height).T


def pixels(box: list[int], width: int = 20, height: int = 10) -> np.ndarray:
    """Return an image with one filled box."""
    mask = np.zeros((height, width), np.bool_)
    x, y, w, h = box
    mask[y : y + h, x : x + w] = True
    return mask


def image_sample(number: int, ann: Any, bob: Any, **metadata: Any) -> fo.Sample:
    size = fo.ImageMetadata(**{"width": 20, "height": 10, **metadata})
    return fo.Sample(f"/pictures/{number}.jpg", raters=list(RATERS), ann=ann, bob=bob, metadata=size)


def masked(*masks: np.ndarray) -> fo.Detections:
    return fo.Detections(detections=[fo.Detection.from_mask(mask, label="cat") for mask in masks])


def poses(*points: list[tuple[float, float]], **attributes: Any) -> fo.Keypoints:
    return fo.Keypoints(keypoints=[fo.Keypoint(label="mouse", points=each, **attributes) for each in points])


def cuboid(location: list[float], rotation: list[float] | None = None, **attributes: Any) -> fo.Detection:
    turned = {} if rotation is None else {"rotation": rotation}
    return fo.Detection(label="car", location=location, dimensions=[4.0, 2.0, 2.0], **turned, **attributes)


def scene(number: int, ann: list[fo.Detection], bob: list[fo.Detection]) -> fo.Sample:
    labels = {"ann": fo.Detections(detections=ann), "bob": fo.Detections(detections=bob)}
    return fo.Sample(f"/scenes/{number}.fo3d", raters=list(RATERS), **labels)


class TestWhereAMaskLies:
    @given(st.data())
    def test_a_mask_cut_out_by_fiftyone_comes_back_pixel_by_pixel(self, data):
        width, height = data.draw(st.tuples(st.integers(1, 40), st.integers(1, 40)))
        bits = data.draw(st.lists(st.booleans(), min_size=width * height, max_size=width * height))
        mask = np.array(bits).reshape(height, width)
        if not mask.any():
            mask[height // 2, width // 2] = True
        label = fo.Detection.from_mask(mask)
        placed = mask_in_pixels(label.mask, label.bounding_box, width, height)
        np.testing.assert_array_equal(decoded(placed), mask)

    def test_as_fiftyones_own_pasting_where_that_is_exact(self):
        mask = pixels([4, 2, 8, 5]) & ~pixels([6, 3, 2, 2])
        label = fo.Detection(bounding_box=[0.25, 0.25, 0.5, 0.5], mask=mask[2:7, 4:12])  # corners at half pixels
        whole = fo.Detection(bounding_box=[4 / 16, 2 / 16, 8 / 16, 5 / 16], mask=label.mask)
        pasted = whole.to_segmentation(frame_size=(16, 16)).mask > 0
        np.testing.assert_array_equal(decoded(mask_in_pixels(whole.mask, whole.bounding_box, 16, 16)), pasted)

    @pytest.mark.parametrize("drawn", [True, False])
    def test_a_whole_image_and_an_empty_crop(self, drawn):
        """Columns as high as the image form one run."""
        placed = mask_in_pixels(np.full((3, 4), drawn), [0, 0, 1, 1], 4, 3)
        assert placed["counts"].tolist() == ([0, 12, 0] if drawn else [12])

    @pytest.mark.parametrize(
        ("box", "columns"),
        [
            ([2.4, 0, 3, 1], [2, 3, 4]),  # as FiftyOne's COCO importer crops: corners rounded, 2.4 and 5.4
            ([2.6, 0, 3, 1], [3, 4, 5]),
            ([-1, 0, 4, 1], [0, 1, 2]),  # cropped at the edge of the image
            ([8, 0, 4, 1], [8, 9]),
        ],
    )
    def test_boxes_between_pixels(self, box, columns):
        crop = np.ones((1, len(columns)))
        placed = decoded(mask_in_pixels(crop, [value / 10 for value in box], 10, 10))
        assert np.flatnonzero(placed[0]).tolist() == columns
        assert not placed[1:].any()

    def test_a_crop_of_another_size_is_stretched(self):
        placed = decoded(mask_in_pixels(np.array([[1, 0]]), [0, 0, 0.4, 0.2], 10, 10))
        assert placed[:2, :4].tolist() == [[True, True, False, False]] * 2
        assert placed.sum() == 4


class TestMasks:
    @pytest.fixture
    def dataset(self, make: Make) -> fo.Dataset:
        """Return samples with IoU of masks 12 / 24 = .5 and of boxes 24 / 24 = 1; the same again; and none by bob."""
        full, half = pixels([4, 2, 6, 4]), pixels([4, 2, 6, 4]) & ~pixels([5, 2, 4, 3])
        return make(
            [
                image_sample(0, masked(full), masked(half)),
                image_sample(1, masked(half, full), masked(full, half)),
                image_sample(2, masked(full), fo.Detections()),
            ]
        )

    def test_masks_are_compared_where_all_have_one(self, dataset, tmp_path):
        """Masks are in the database or in files."""
        fitting = fitting_of(dataset, "mask_iou")
        assert {"box_iou", "mask_iou"} <= fitting
        assert not {"polygon_iou", "pose", "oks", "cuboid_iou"} & fitting
        inside = kf.read_annotations(dataset, raters=RATERS).shapes["mask"]
        assert inside.area().tolist() == [24, 12, 24, 24, 12, 24, 12]
        for sample in dataset:
            for label in [*sample.ann.detections, *sample.bob.detections]:
                path = tmp_path / f"{label.id}.png"
                Image.fromarray(label.mask.astype(np.uint8) * 255).save(path)
                label.mask, label.mask_path = None, str(path)
            sample.save()
        outside = kf.read_annotations(dataset, raters=RATERS).shapes["mask"]
        np.testing.assert_array_equal(outside.first, inside.first)
        np.testing.assert_array_equal(outside.length, inside.length)

    def test_alphas_worked_out_by_hand(self, dataset):
        """A pair below the threshold becomes (cat, -) (-, cat): 1 - 1 / ((16 - 4 - 4) / 12) = -.5."""
        for key, threshold, first in (("at", 0.5, 1.0), ("above", 0.51, -0.5)):
            run = kf.compute_agreement(dataset, key, raters=RATERS, threshold=threshold, bootstrap=0)
            assert run.settings["similarity"] == "mask_iou"
            assert dataset.values(f"{key}_alpha") == pytest.approx([first, 1.0, 0.0])
            assert kf.load_run(dataset, key).result.image_alpha == pytest.approx([first, 1.0, 0.0])

    def test_a_mask_that_changed_is_stale_only_for_runs_on_masks(self, dataset):
        assert "mask" not in kf.read_annotations(dataset, raters=RATERS, similarity="box_iou").shapes
        for similarity in ("mask_iou", "box_iou"):
            kf.compute_agreement(dataset, similarity, raters=RATERS, similarity=similarity)
        assert dataset.values("box_iou_alpha") == [1.0, 1.0, 0.0]
        sample = dataset.first()
        mask = sample.bob.detections[0].mask.copy()
        mask[0, 0] = not mask[0, 0]
        sample.bob.detections[0].mask = mask
        sample.save()
        assert kf.stale_samples(dataset, "mask_iou") == [sample.id]
        assert kf.stale_samples(dataset, "box_iou") == []
        assert kf.load_run(dataset, "mask_iou").result.image_alpha[0] == -0.5  # 11 of 24 pixels are below one half

    @pytest.mark.filterwarnings("ignore")
    def test_a_file_that_is_gone(self, make, tmp_path):
        gone = fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.2, 0.2], mask_path=str(tmp_path / "gone.png"))
        dataset = make([image_sample(0, fo.Detections(detections=[gone]), fo.Detections())])
        message = r"(?s)0.jpg, field 'ann', label .*expected a mask that can be read.*gone\.png"
        with pytest.raises(InputError, match=message):
            kf.read_annotations(dataset, raters=RATERS)

    def test_images_of_unknown_size_and_labels_without_a_mask(self, dataset):
        dataset.limit(1).set_values("metadata", [None])
        with pytest.raises(InputError, match=r"masks: the size of 1 of 3 images is unknown \(0.jpg\)"):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        kf.compute_agreement(dataset, "run", raters=RATERS, similarity="box_iou")  # boxes are independent of it
        dataset.limit(1).set_values("metadata", [fo.ImageMetadata(width=20, height=10)])
        sample = dataset.last()
        sample.bob.detections = [detection("cat", CAT)]
        sample.save()
        assert "mask_iou" not in fitting_of(dataset, "box_iou")
        with pytest.raises(InputError, match=r"mask_iou compares shapes of kind 'mask': .* 1 of 8 annotations without"):
            kf.compute_agreement(dataset, "masks", raters=RATERS, similarity="mask_iou")

    def test_smallest_area_is_that_of_masks(self, dataset):
        for least, left in [(12, 7), (13, 4), (25, 0)]:
            assert len(kf.read_annotations(dataset, raters=RATERS, min_area=least)) == left
            boxes = kf.read_annotations(dataset, raters=RATERS, min_area=least, similarity="box_iou")
            assert len(boxes) == (0 if least == 25 else 7)  # all are 6 x 4 pixels


class TestKeypoints:
    @pytest.fixture
    def dataset(self, make: Make) -> fo.Dataset:
        return make([image_sample(0, poses(POSE), poses(NEAR)), image_sample(1, poses(POSE), poses())])

    def test_poses_are_compared(self, dataset):
        """One of two joints is off by .1 of the height: 1 - .1 / sqrt(2) / 2 = .9646; NaN is not labelled."""
        column = kf.read_annotations(dataset, raters=RATERS).shapes["keypoints"]
        np.testing.assert_allclose(column.points[0], [[5, 5], [10, 5], [NAN, NAN]])
        assert column.visible[0].tolist() == [True, True, False]
        fitting = fitting_of(dataset, "pose")
        assert "oks" in fitting
        assert not {"polygon_iou", "mask_iou", "cuboid_iou"} & fitting
        run = kf.compute_agreement(dataset, "run", raters=RATERS, threshold=0.9)
        assert run.result.pairs.similarity == pytest.approx([1 - 0.1 / np.sqrt(2) / 2])
        assert dataset.values("run_alpha") == [1.0, 0.0]
        assert dataset.values("ann.keypoints.run_unit") == [[0], [1]]
        assert kf.load_run(dataset, "run").stale == ()
        sample = dataset.first()
        sample.bob.keypoints[0].points = [(0.25, 0.6), (0.5, 0.5), (0.5, 0.5)]
        sample.save()
        assert kf.stale_samples(dataset, "run") == [sample.id]
        kf.delete_run(dataset, "run")
        assert not dataset.has_field("ann.keypoints.run_unit")
        for name in ("points", "confidence", "index"):
            with pytest.raises(InputError, match=f"the attribute '{name}' of a Keypoint"):
                check_run_key(dataset, name)

    def test_confidence_is_the_mean_of_the_points(self, make):
        sure, unsure = ({"confidence": values} for values in ([0.9, 0.8, NAN], [0.1, 0.3, NAN]))
        dataset = make([image_sample(0, poses(POSE, **sure), poses(NEAR, **unsure))])
        for least, left in [(0.0, 2), (0.2, 2), (0.21, 1), (0.86, 0)]:
            assert len(kf.read_annotations(dataset, raters=RATERS, min_confidence=least)) == left


class TestCuboids:
    def test_scenes_are_read(self, make):
        """IoU of the first, moved by 1 along 4: 3 / 5 = .6."""
        dataset = make(
            [
                scene(0, [cuboid([0, 0, 0])], [cuboid([1, 0, 0])]),
                scene(1, [cuboid([0, 0, 0], [0.0, 0.0, 0.5])], [cuboid([0.2, 0.1, 0], [0.0, 0.0, 0.7])]),
                scene(2, [cuboid([0, 0, 0])], []),
            ]
        )
        assert dataset.media_type == "3d"
        assert not {"box_iou", "mask_iou", "pose", "centroid"} & fitting_of(dataset, "cuboid_iou")
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        assert dataset.values("run_alpha") == [1.0, 1.0, 0.0]
        first, second = run.result.pairs.similarity
        assert first == pytest.approx(0.6)
        turned = [dataset.skip(1).first()[name].detections[0] for name in RATERS]
        assert second == pytest.approx(compute_cuboid_iou(*turned), abs=1e-6)  # one axis: conventions agree
        assert kf.load_run(dataset, "run").result.image_alpha.tolist() == [1.0, 1.0, 0.0]
        assert sample_report(dataset, dataset.first().id, "run").units == (0,)
        sample = dataset.skip(1).first()
        sample.bob.detections[0].rotation = [0.0, 0.0, 0.8]
        sample.save()
        assert kf.stale_samples(dataset, "run") == [sample.id]
        with pytest.raises(InputError, match="min_area: expected shapes that have an area"):
            kf.read_annotations(dataset, raters=RATERS, min_area=1)


def fitting_of(dataset: fo.Dataset, default: str) -> set[str]:
    """Return the similarities that fit; the first is the default and is described as `default`."""
    selection = kf.Selection(raters=RATERS)
    found = fitting_similarities(dataset, selection)
    assert found[0] == default_similarity(dataset, selection) == default
    return set(found)


def test_similarities_that_fit_boxes_and_polygons(make):
    for make_labels, default, never in [
        (detections, "box_iou", "polygon_iou"),
        (polylines, "polygon_iou", "mask_iou"),
    ]:
        fitting = fitting_of(make(make_samples(SCENES, make_labels)), default)
        assert never not in fitting
        assert "box_iou" in fitting
    mixed = make([make_sample(0, {"ann": [("cat", CAT)]}, raters=list(RATERS), bob=polylines([("cat", CAT)]))])
    assert {SIMILARITIES[name].kind for name in fitting_of(mixed, "box_iou")} <= {"box", ""}
    fitting_of(make(make_samples([{"ann": [], "bob": []}])), "box_iou")
    with pytest.raises(InputError, match="similarity: expected one of"):
        kf.compute_agreement(mixed, "run", raters=RATERS, similarity=lambda *_: 1)
