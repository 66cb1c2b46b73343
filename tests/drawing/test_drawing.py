"""Images with outlines: position, colour, pixels, and errors."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import shapely
from PIL import Image
from scipy import ndimage

from kalos_core import Annotations, InputError, KalosWarning, agreement, draw_image
from kalos_core.display import RATER_COLOURS
from kalos_core.drawing import Outline, draw_unit, outlines_of
from kalos_core.drawing.draw import CANVAS

ANN, BOB = (tuple(bytes.fromhex(colour[1:])) for colour in RATER_COLOURS[:2])


def table(*shapes, size=(100, 80), raters=("ann", "bob", "cid"), **more):
    """Return annotations of one image given as (rater, class, shape)."""
    rows = [{"image": "a.jpg", "rater": rater, "category": name, **shape} for rater, name, shape in shapes]
    sizes = {"a.jpg": size} if size else None
    return Annotations.from_rows(rows, images=["a.jpg"], raters=raters, image_size=sizes, **{"assigned": "all"} | more)


def box(*xywh):
    return {"box": list(xywh)}


CAT = table(("ann", "cat", box(10, 20, 30, 40)))


def read(png):
    return np.asarray(Image.open(io.BytesIO(png)))


def of_colour(image, colour, tolerance=0):
    return (np.abs(image.astype(int) - colour) <= tolerance).all(axis=2)


# ---- outlines ----


def test_each_kind_has_its_outline():
    mask = np.zeros((80, 100), bool)
    mask[10:20, 30:50] = True
    annotations = table(
        ("ann", "cat", {"polygon": [[0, 0, 9, 0, 9, 9], [20, 20, 30, 20, 30, 30]]}),
        ("ann", "cat", {"mask": mask}),
        ("bob", "dog", {"keypoints": [[1, 2, 2], [0, 0, 0]]}),
        ("bob", "dog", box(5, 6, 7, 8)),
    )
    polygon, pixels, pose, corners = outlines_of(annotations, np.arange(4))
    assert [ring.tolist() for ring in polygon.rings] == [[[0, 0], [9, 0], [9, 9]], [[20, 20], [30, 20], [30, 30]]]
    assert shapely.Polygon(pixels.rings[0]).equals(shapely.box(30, 10, 50, 20))
    assert (pose.points.tolist(), list(pose.rings)) == ([[1, 2]], [])
    assert corners.bounds.tolist() == [5, 6, 12, 14]
    assert [outline.category for outline in (polygon, pose)] == ["cat", "dog"]
    assert np.isnan(Outline(0, 0, "cat", [], np.zeros((0, 2))).bounds).all()
    assert outlines_of(annotations, np.arange(4), "box")[0].bounds.tolist() == [0, 0, 30, 30]


def test_the_edges_of_a_mask_enclose_its_pixels_and_no_others():
    rng = np.random.default_rng(0)
    mask = ndimage.binary_opening(rng.random((40, 50)) < 0.7)
    (outline,) = outlines_of(table(("ann", "cat", {"mask": mask}), size=(50, 40)), np.array([0]))
    middle = np.stack(np.meshgrid(np.arange(50) + 0.5, np.arange(40) + 0.5), axis=-1)
    inside = np.zeros((40, 50), int)
    for ring in outline.rings:  # count edges that a line to the left crosses: odd inside
        for (x0, y0), (x1, y1) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            crosses = (y0 > middle[..., 1]) != (y1 > middle[..., 1])
            inside += crosses & (middle[..., 0] > x0) if x0 == x1 else 0
    np.testing.assert_array_equal(inside % 2 == 1, mask)


# ---- a whole image ----


def test_outlines_are_drawn_at_the_annotations():
    image = read(draw_image(CAT, "a.jpg").png(legend=False))
    assert image.shape == (80, 100, 3)
    drawn = of_colour(image, ANN)
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    #  lines of 2 pixels around x = 10, 40 and y = 20, 60
    np.testing.assert_allclose([columns[0], columns[-1], rows[0], rows[-1]], [10, 40, 20, 60], atol=1.5)
    assert not drawn[25:55, 15:35].any()
    assert of_colour(image, CANVAS)[25:55, 15:35].all()
    # equal outlines of two raters are both visible
    both = table(("ann", "cat", box(20, 20, 50, 40)), ("bob", "cat", box(20, 20, 50, 40)))
    image = read(draw_image(both, "a.jpg").png())
    assert min(of_colour(image, ANN).sum(), of_colour(image, BOB).sum()) > 100


def test_the_image_lies_under_the_outlines(tmp_path):
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (80, 100, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    file = tmp_path / "a.png"
    for given in (pixels, file, str(file), pixels.tolist(), np.dstack([pixels, pixels[..., 0]])):
        drawing = draw_image(CAT, "a.jpg", given)
        np.testing.assert_array_equal(drawing.pixels, pixels)
        assert not drawing.is_canvas
    grey = draw_image(CAT, "a.jpg", pixels[..., 0] / 255)
    np.testing.assert_array_equal(grey.pixels, np.repeat(pixels[..., :1], 3, axis=2))
    Image.fromarray(pixels).save(tmp_path / "a.jpg", "PNG")
    assert not draw_image(CAT, "a.jpg", tmp_path).is_canvas  # the file with that name in the folder


def test_a_missing_image_is_a_canvas_of_its_size_or_around_the_outlines():
    for pixels in (None, "nowhere.jpg", Path("nowhere")):
        drawing = draw_image(CAT, "a.jpg", pixels)
        assert drawing.is_canvas
        assert (drawing.pixels == CANVAS).all()
        assert drawing.pixels.shape == (80, 100, 3)
    drawing = draw_image(table(("ann", "cat", box(10, 20, 300, 40)), size=None), "a.jpg")
    height, width = drawing.pixels.shape[:2]
    assert width > 310
    assert height > 60
    assert draw_image(table(size=None), "a.jpg").pixels.shape == (480, 640, 3)


# ---- one unit ----


@pytest.fixture(scope="module")
def pair():
    """Return a cat that ann and bob annotated with different classes, and an owl of ann's."""
    cat = table(
        ("ann", "cat", box(40, 30, 20, 10)), ("bob", "dog", box(40, 30, 20, 8)), ("ann", "owl", box(5, 5, 8, 8))
    )
    return agreement(cat, bootstrap=0)


def test_a_unit_is_cut_out_with_a_margin_and_the_pixels_that_lie_there(pair):
    unit = int(pair.unit_of[0])
    pixels = np.zeros((80, 100, 3), np.uint8)
    pixels[30:40, 40:60] = (10, 200, 30)
    drawing = draw_unit(pair, unit, pixels, margin=0.5, longest_side=400)
    #  x 40 to 60, y 30 to 40; half of 20 around: x 30 to 70, y 20 to 50, ten pixels of the drawing to one
    assert drawing.corner.tolist() == [30, 20]
    assert drawing.scale.tolist() == [10, 10]
    assert drawing.pixels.shape == (300, 400, 3)
    assert drawing.legend == {0: "ann: cat", 1: "bob: dog", 2: "cid: annotated nothing here"}
    assert sorted(outline.row for outline in drawing.outlines) == [0, 1]
    assert drawing.title == f"a.jpg, unit {unit}"
    inside = of_colour(drawing.pixels, (10, 200, 30))
    assert inside[105:195, 105:295].all()
    assert not inside[:95].any()
    assert not inside[:, :95].any()


def test_at_an_edge_the_part_ends_with_the_image(pair):
    drawing = draw_unit(pair, int(pair.unit_of[2]), margin=2.0)
    assert drawing.corner.tolist() == [0, 0]
    with pytest.warns(KalosWarning, match="reach beyond their image"):
        annotations = table(("ann", "cat", box(90, 70, 30, 30)), ("bob", "cat", box(90, 70, 30, 28)))
    outside = agreement(annotations, bootstrap=0)
    far = draw_unit(outside, 0, np.full((80, 100, 3), 7, np.uint8))
    size = np.array(far.pixels.shape[1::-1]) / far.scale
    assert (far.corner + size >= [120, 100]).all()  # parts outside of the image are shown, on canvas
    assert of_colour(far.pixels, CANVAS).any()
    assert of_colour(far.pixels, (7, 7, 7)).any()


# ---- PNG and plotly ----


def test_the_figure_has_a_trace_for_each_rater_and_the_image_below():
    both = ("ann", "cat", box(10, 20, 30, 40)), ("ann", "dog", box(50, 20, 30, 40))
    annotations = table(*both, ("bob", "cat", box(10, 20, 30, 38)))
    figure = draw_image(annotations, "a.jpg").figure()
    ann, bob, cid = figure.data
    assert [trace.line.color for trace in figure.data] == list(RATER_COLOURS[:3])
    assert list(ann.x[:6]) == [10, 40, 40, 10, 10, None]
    assert ann.text[0] == "<b>cat</b>, ann: 2 annotations"
    assert list(cid.x) == [None]
    assert (bob.mode, figure.layout.images[0].sizex, figure.layout.images[0].sizey) == ("lines", 100, 80)
    assert list(figure.layout.yaxis.range) == [80, 0]
    assert figure.layout.images[0].source.startswith("data:image/png;base64,")
    json.dumps(figure.to_plotly_json()["layout"])


def test_text_of_the_data_is_shown_as_text():
    name = "<b>x</b>\u202e" + "y" * 80
    annotations = Annotations.from_rows([{"image": 1, "rater": name, "category": "<i>c</i>", "box": [0, 0, 9, 9]}])
    drawing = draw_image(annotations, 1)
    (trace,) = drawing.figure().data
    assert trace.name.startswith("&#60;b&#62;x&#60;/b&#62;yyy")
    assert trace.name.endswith("…")
    assert "\u202e" not in trace.name + trace.text[0]
    assert "&#60;i&#62;c&#60;/i&#62;" in trace.text[0]
    assert drawing.png().startswith(b"\x89PNG")


# ---- errors ----


def test_input_that_cannot_be_drawn_is_refused(tmp_path):
    (tmp_path / "a.jpg").write_text("no image")
    shape = "pixels: expected numbers of shape"
    for given, message in (
        ({"image": "b.jpg"}, "image: expected an id or a file among 'a.jpg', got 'b.jpg'"),
        ({"raters": ["eve"]}, "raters: expected names among ann, bob, cid, got eve"),
        ({"shape": "polygon"}, "shape: expected one of 'box', got 'polygon'"),
        ({"longest_side": 0}, "longest_side: expected a whole number of at least 1"),
        ({"pixels": np.zeros(3)}, rf"{shape} .* got float64 of shape \(3,\)"),
        ({"pixels": np.zeros((0, 3, 3))}, shape),
        ({"pixels": [[1, 2], [3]]}, "pixels: expected an array"),
        ({"pixels": np.full((80, 100), 255.0)}, "pixels: expected numbers from 0 to 1, or whole numbers to 255"),
        ({"pixels": np.array([["a"]])}, shape),
        ({"pixels": tmp_path / "a.jpg"}, r"a\.jpg: expected a readable image, got cannot identify"),
    ):
        with pytest.raises(InputError, match=message):
            draw_image(CAT, **{"image": "a.jpg"} | given)
    cuboid = {"image": 1, "rater": "ann", "category": "car", "cuboid": [0, 0, 0, 1, 1, 1, 0, 0, 0]}
    with pytest.raises(InputError, match="polygons, masks, keypoints or boxes to draw, got cuboid"):
        draw_image(Annotations.from_rows([cuboid]), 1)


def test_a_unit_that_is_none_is_refused(pair):
    for given, message in (
        ({"unit": 2}, "unit: expected a row of the 2 units, 0 to 1, got 2"),
        ({"unit": -1}, "unit: expected a whole number of at least 0, got -1"),
        ({"unit": 0, "margin": -1}, "margin: expected a share of at least 0, got -1"),
        ({"unit": 0, "margin": "wide"}, "margin: expected a number, got 'wide'"),
        ({"unit": 0, "agreement": table()}, "agreement: expected Agreement, the result of"),
    ):
        with pytest.raises(InputError, match=message):
            draw_unit(**{"agreement": pair} | given)
