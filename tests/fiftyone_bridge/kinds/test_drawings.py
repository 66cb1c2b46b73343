"""Drawings of samples and units are those of the library, for one sample's labels and file."""

import fiftyone as fo
import pytest
from PIL import Image
from PIL.ExifTags import Base

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


class TestImagesWithoutMetadata:
    """A plain `fo.Sample(path)` without metadata: sizes are read from the files."""

    @pytest.fixture
    def plain(self, make, tmp_path):
        """Return a cat of ann at (100, 40) to (140, 80), on an image of 400 x 200, and a rotated copy."""
        image = Image.new("RGB", (400, 200))
        image.save(tmp_path / "a.png")
        turned = image.getexif()
        turned[Base.Orientation] = 6
        image.save(tmp_path / "turned.jpg", exif=turned)
        box = fo.Detection(label="cat", bounding_box=[0.25, 0.2, 0.1, 0.2])
        labels = {"ann": fo.Detections(detections=[box]), "bob": fo.Detections(), "raters": list(RATERS)}
        return make([fo.Sample(str(tmp_path / name), **labels) for name in ("a.png", "turned.jpg")])

    def test_sizes_are_read_and_said_in_the_progress(self, plain):
        said = []
        kf.compute_agreement(plain, "run", raters=RATERS, bootstrap=0, progress=lambda _, label: said.append(label))
        assert said[0] == "Reading labels, and the size of 2 images that FiftyOne does not know"
        assert plain.values("metadata") == [None, None]  # data of the user is unchanged
        table = kf.read_annotations(plain, raters=RATERS)
        assert table.image_size.tolist() == [[400, 200], [200, 400]]
        assert table.shapes["box"].xywh()[0].tolist() == pytest.approx([100, 40, 40, 40])
        assert len(kf.read_annotations(plain, raters=RATERS, min_area=1700)) == 0

    def test_a_unit_is_cut_out_where_it_lies(self, plain):
        kf.compute_agreement(plain, "run", raters=RATERS, bootstrap=0)
        sample = plain.first()
        drawing = kf.draw_unit(plain, "run", sample.ann.detections[0].id, margin=0.5)
        assert (drawing.corner.tolist(), drawing.is_canvas) == ([80, 20], False)  # 20 pixels around 40 x 40
        assert drawing.pixels.shape[:2] == (480, 480)
        (outline,) = kf.draw_sample(plain, "run", sample.id).outlines
        assert outline.bounds.tolist() == pytest.approx([100, 40, 140, 80])
