"""Drawings of samples and units: the library's own, of one sample's labels and with its own file."""

from collections.abc import Callable
from pathlib import Path

import fiftyone as fo
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import InputError, agreement, draw_image, draw_unit, overview
from tests.fiftyone_bridge.scenes import BENCH, LEFT_HALF, RATERS, RIGHT_HALF, SCENES, THREE, crowded, make_samples

Make = Callable[..., fo.Dataset]


@pytest.fixture
def dataset(make: Make) -> fo.Dataset:
    dataset = make(make_samples(SCENES))
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
    return dataset


def test_a_sample_is_drawn_as_the_library_draws_its_annotations(dataset: fo.Dataset) -> None:
    annotations = kf.read_annotations(dataset, raters=RATERS)
    for sample_id in dataset.values("id"):
        assert kf.draw_sample(dataset, "run", sample_id).png() == draw_image(annotations, sample_id).png()
    only = kf.draw_sample(dataset, "run", dataset.first().id, raters=["bob"])
    assert list(only.legend.values()) == ["bob: 1 annotation"]
    assert only.is_canvas


def test_a_unit_is_drawn_as_the_library_draws_it(make: Make) -> None:
    dataset = make(make_samples(crowded(3)))
    kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=0)
    result = agreement(kf.read_annotations(dataset, raters=THREE), bootstrap=0)
    for row, label_id in enumerate(result.annotations.id[:8]):
        expected = draw_unit(result, result.unit_of[row], margin=0.5)
        sample_id = result.annotations.images[result.annotations.image[row]]
        for where in (None, sample_id):
            drawing = kf.draw_unit(dataset, "run", label_id, where, margin=0.5)
            assert (drawing.png(), drawing.legend) == (expected.png(), expected.legend)


def test_a_whole_is_drawn_with_its_parts(dataset: fo.Dataset) -> None:
    sample = dataset.skip(3).first()
    (whole,), parts = sample.ann.detections, sample.bob.detections
    drawing = kf.draw_unit(dataset, "run", [whole.id, *(part.id for part in parts)], margin=0.5)
    assert drawing.legend == {0: "ann: bench", 1: "bob: 2 × bench"}
    boxes = sorted(outline.bounds.tolist() for outline in drawing.outlines)
    assert boxes == [[x, y, x + w, y + h] for x, y, w, h in sorted([LEFT_HALF, BENCH, RIGHT_HALF], key=_right)]
    assert drawing.pixels.shape == (336, 480, 3)  # 40 pixels around the whole, as far as the image goes: 100 x 70
    with pytest.raises(InputError, match="expected at least one, got none"):
        kf.draw_unit(dataset, "run", [], sample.id)


def _right(box: list[int]) -> tuple[int, int]:
    return box[0], box[0] + box[2]


def test_the_file_of_the_sample_lies_below(dataset: fo.Dataset, tmp_path: Path) -> None:
    sample = dataset.first()
    Image.fromarray(np.full((100, 100, 3), 7, np.uint8)).save(tmp_path / "7.png")
    sample.filepath = str(tmp_path / "7.png")
    sample.save()
    for drawing in (
        kf.draw_sample(dataset, "run", sample.id),
        kf.draw_unit(dataset, "run", sample.ann.detections[0].id),
    ):
        assert not drawing.is_canvas
        assert np.unique(drawing.pixels).tolist() == [7]


def test_what_the_run_does_not_know(dataset: fo.Dataset) -> None:
    with pytest.raises(kf.NotInRun, match="not part of the run 'run'"):
        kf.draw_sample(dataset, "run", "nowhere")
    with pytest.raises(kf.NotInRun, match="not part of the run 'run'"):
        kf.draw_unit(dataset, "run", "0" * 24)
    with pytest.raises(InputError, match="label: expected one that the run 'run' matched, got 'nothing'"):
        kf.draw_unit(dataset, "run", "nothing", dataset.first().id)


def test_the_overview_is_that_of_the_annotations(dataset: fo.Dataset) -> None:
    found = kf.overview(dataset, raters=RATERS)
    assert found.equals(overview(kf.read_annotations(dataset, raters=RATERS)))
    assert (found["images"][0], found["raters"][0]) == (len(dataset), 2)
