"""Drawings of samples and units: the library's own, of one sample's labels and with its own file."""

import pytest

import kalos_core.fiftyone as kf
from kalos_core import agreement, draw_image, overview
from kalos_core.drawing import draw_unit
from tests.fiftyone_bridge.scenes import RATERS, THREE, crowded, make_samples


@pytest.fixture(scope="module")
def dataset(make_once):
    dataset = make_once()
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0, thresholds=())
    return dataset


def test_a_sample_is_drawn_as_the_library_draws_its_annotations(dataset):
    annotations = kf.read_annotations(dataset, raters=RATERS)
    for sample_id in dataset.values("id"):
        assert kf.draw_sample(dataset, "run", sample_id).png() == draw_image(annotations, sample_id).png()
    only = kf.draw_sample(dataset, "run", dataset.first().id, raters=["bob"])
    assert list(only.legend.values()) == ["bob: 1 annotation"]
    assert only.is_canvas


def test_a_unit_is_drawn_as_the_library_draws_it(make):
    dataset = make(make_samples(crowded(3)))
    kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=0)
    result = agreement(kf.read_annotations(dataset, raters=THREE), bootstrap=0)
    for row, label_id in enumerate(result.annotations.id[:8]):
        expected = draw_unit(result, result.unit_of[row], margin=0.5)
        sample_id = result.annotations.images[result.annotations.image[row]]
        for where in (None, sample_id):
            drawing = kf.draw_unit(dataset, "run", label_id, where, margin=0.5)
            assert (drawing.png(), drawing.legend) == (expected.png(), expected.legend)


def test_the_overview_is_that_of_the_annotations(dataset):
    found = kf.overview(dataset, raters=RATERS)
    assert found.equals(overview(kf.read_annotations(dataset, raters=RATERS)))
    assert (found["images"][0], found["raters"][0]) == (len(dataset), 2)
