"""The section *Variations*: what each page shows, and what a click leads to."""

from __future__ import annotations

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import VARIATION_TYPES, InputError, unit_boundaries
from kalos_core.display import significant
from kalos_core.figures import COLOURS, boundary_title, variations_title
from tests.fiftyone_bridge.scenes import COUNTS, RATERS
from tests.operators.calls import run as run_operator
from tests.panels.operations import at, given, ids, names, plots, view_of
from tests.plugin import Panel, form

PAGES = ["Types", "Outlines", "Merged", "Confusions", "Attributes"]


def on(page: str, dataset: fo.Dataset) -> Panel:
    return at(Panel("raters", dataset).load(), "Variations", page)


@pytest.fixture
def found(dataset: fo.Dataset) -> fo.Dataset:
    """The six scenes with a search for variations."""
    kf.find_variations(dataset, "variations", raters=RATERS)
    return dataset


def test_a_page_shows_its_figures_each_with_how_to_read_it(found):
    shown = {page: plots(on(page, found)) for page in PAGES}
    assert shown == {"Types": ["counts"], "Outlines": ["boundary"], "Merged": [], "Confusions": [], "Attributes": []}
    for page, figures in shown.items():
        assert all(f"{figure}_reading" in on(page, found).shown for figure in figures)


def test_raters_are_compared_by_rates(trio):
    # cid takes every cat for a dog: of 36 images 6 have one cat of ann and bob, and so on, six times over
    kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))
    run = kf.load_run(trio, "variations")
    panel = on("Types", trio)
    rows = {row["rater"]: row for row in panel.rows("by_rater")}
    rates = run.result.rates()
    for rater, row in rows.items():
        for kind in ("wrong_class", "missing", "additional"):
            assert row[kind] == significant(rates[rater][kind], 2)
    own = dict(zip(run.result.annotations.raters, np.bincount(run.result.annotations.rater), strict=True))
    merges, splits = run.result.merged_by(), run.result.split_by()
    assert {rater: row["merges"] for rater, row in rows.items()} == {
        rater: significant(100 * merges[rater] / own[rater], 2) for rater in rows
    }
    assert {rater: row["splits"] for rater, row in rows.items()} == {
        rater: significant(100 * splits[rater] / own[rater], 2) for rater in rows
    }
    sums = [sum(share for kind, share in rates[rater].items() if kind != "correct") for rater in rows]
    assert sums == sorted(sums, reverse=True)


@pytest.mark.parametrize(("column", "kinds"), [(0, None), (1, ["wrong_class"]), (5, ["additional"])])
def test_a_number_of_a_rater_leads_to_its_labels(trio, column, kinds):
    kf.find_variations(trio, "variations", raters=(*RATERS, "cid"))
    panel = on("Types", trio)
    row = [entry["rater"] for entry in panel.rows("by_rater")].index("cid")
    view = view_of(trio, panel.send("variations_click_rater", row=row, column=column))
    expected = kf.view_of_findings(trio, "variations", *([kinds] if kinds else []), rater="cid")
    assert len(view) > 0
    for rater in (*RATERS, "cid"):
        path = f"{rater}.detections.id"
        assert view.values(path) == expected.values(path)


def test_a_bar_of_outlines_sets_a_view_of_its_labels(found):
    panel = on("Outlines", found)
    boundary = kf.load_details(found, "variations").details.boundary
    (bars,) = panel.data["boundary"]
    assert bars["y"] == boundary.counts.tolist()
    assert boundary_title(boundary.findings, boundary.median, boundary.identical) in panel.text()
    operations = panel.send("variations_click_boundary", idx=0)
    assert view_of(found, operations).values("id") == ids(found, 0)
    assert panel.state["in_grid"] == "1 image with correct labels whose outlines are 0 to 0.025 apart"
    assert view_of(found, panel.send("variations_click_boundary", idx=1)).values("id") == []


def test_copies_raise_an_alarm_in_every_section_that_leads_to_their_labels(found):
    for page in PAGES:
        panel = on(page, found)
        assert panel.shown["alarm"]["view"]["label"].startswith("100\xa0% of the correct pairs are identical")
        assert panel.shown["show_copies"]["view"]["label"] == "Show the labels of 1 identical pair"
    view = view_of(found, panel.send("variations_show_copies"))
    assert view.values("id") == ids(found, 0)
    assert [view.first()[rater].detections[0].label for rater in RATERS] == ["cat", "cat"]


def test_without_copies_there_is_no_alarm(found):
    panel = on("Outlines", found)
    assert "alarm" in panel.shown
    found.limit(1).set_values("bob.detections.bounding_box", [[[0.1, 0.1, 0.4, 0.3]]])
    kf.delete_run(found, "variations")
    kf.find_variations(found, "other", raters=RATERS)
    assert not {"alarm", "show_copies"} & set(on("Outlines", found).shown)


def test_a_row_opens_an_annotation_with_its_parts(found):
    panel = on("Merged", found)
    assert "1 time several annotations of one rater are one of another's" in panel.text()
    assert "ann merges (1), bob splits (1)" in panel.text()
    assert panel.rows("merged") == [
        {"file": "3.jpg", "whole": "ann: bench", "parts": "bob: 2 × bench", "similarity": "1.000"}
    ]
    operations = panel.send("variations_click_merged", row=0)
    assert names(operations) == ["set_view", "open_sample"]
    view = view_of(found, operations)
    assert [len(view.first()[rater].detections) for rater in RATERS] == [1, 2]
    assert given(operations, "open_sample")["id"] == ids(found, 3)[0]
    assert view_of(found, panel.send("variations_show_merged")).values("id") == ids(found, 3)


def test_variations_shows_its_figures(analysed):
    panel = on("Types", analysed)
    assert variations_title(COUNTS) in panel.text()
    (bars,) = panel.data["counts"]
    assert bars["x"] == [COUNTS[name] for name in VARIATION_TYPES]
    assert bars["marker"]["color"] == [COLOURS[name] for name in VARIATION_TYPES]
    assert sorted(row["rater"] for row in panel.rows("by_rater")) == ["ann", "bob"]


@pytest.mark.parametrize("kind", VARIATION_TYPES)
def test_a_bar_sets_a_view_of_exactly_its_labels(analysed, kind):
    panel = on("Types", analysed)
    view = view_of(analysed, panel.send("variations_click_bar", idx=VARIATION_TYPES.index(kind)))
    expected = kf.view_of_variation(analysed, "variations", kind)
    for field in RATERS:
        path = f"{field}.detections.id"
        assert view.values(path) == expected.values(path)
    scene = {"correct": [0], "wrong_class": [1], "missing": [2], "merged": [3]}.get(kind, [])
    assert view.values("id") == ids(analysed, *scene)


def test_a_row_of_confused_classes_sets_a_view_of_its_labels(analysed):
    panel = on("Confusions", analysed)
    assert panel.rows("confusions") == [{"first": "cat\nann 1", "second": "dog\nbob 1", "count": "1"}]
    assert "1 finding of two classes for one object, most often cat and dog (1)" in panel.text()
    view = view_of(analysed, panel.send("variations_click_confusion", row=0))
    assert view.values("id") == ids(analysed, 1)
    assert view.values("ann.detections.label") == [["cat"]]
    assert view.values("bob.detections.label") == [["dog"]]


def test_copied_labels_raise_an_alarm(analysed):
    # the one correct pair of the six scenes is the same box twice
    assert "100\xa0% of the correct pairs are identical: were labels copied?" in on("Types", analysed).text()


def test_a_run_without_findings_is_shown(dataset):
    kf.find_variations(dataset.skip(4).limit(1), "nothing", raters=RATERS)
    for page, text in (
        ("Types", "No findings: nobody annotated anything"),
        ("Outlines", "No finding is correct: there are no boundaries to compare"),
        ("Merged", "No annotation was split into parts by another rater"),
        ("Confusions", "No class was taken for another"),
    ):
        panel = on(page, dataset)
        assert text in panel.text()
        assert not {"boundary", "merged", "confusions"} & set(panel.shown)
    panel = at(Panel("raters", dataset).load(), "Threshold", "Types")
    assert "No equilibrium: there are no findings" in panel.text()


def square(label, x, size=40):
    """A closed line around a square of an image of 100 x 100 pixels."""
    left, right, low, high = x / 100, (x + size) / 100, 0.1, (10 + size) / 100
    points = [[(left, low), (right, low), (right, high), (left, high)]]
    return fo.Polylines(polylines=[fo.Polyline(label=label, points=points, closed=True, filled=True)])


@pytest.fixture
def outlined():
    """Two raters: squares of one image are 3 pixels apart, of the next equal, of the third only one is there."""
    dataset = fo.Dataset()
    given_ = [(square("cat", 10), square("cat", 13)), (square("dog", 10), square("dog", 10)), (square("cat", 10), None)]
    dataset.add_samples(
        [
            fo.Sample(
                f"/{number}.jpg",
                metadata=fo.ImageMetadata(width=100, height=100),
                raters=["ann", "bob"],
                ann=ann,
                bob=bob,
            )
            for number, (ann, bob) in enumerate(given_)
        ]
    )
    yield dataset
    dataset.delete()


def test_outlines_of_matched_labels_by_pair_class_and_image(outlined):
    options = {"raters": ("ann", "bob"), "similarity": "polygon_iou", "bootstrap": 50}
    kf.find_variations(outlined, "first_variations", raters=("ann", "bob"), similarity="polygon_iou")
    kf.compute_agreement(outlined, "first", **options)
    assert "did not compare boundaries" in on("Outlines", outlined).text()
    with pytest.raises(InputError, match="expected a run that compared boundaries, got 'first'"):
        kf.unit_boundaries_of(outlined, "first")
    assert not outlined.has_field("first_boundary")
    kf.delete_run(outlined, "first")
    run = kf.compute_agreement(outlined, "first", boundaries=True, tolerance=1, **options)
    expected = unit_boundaries(run.result, tolerance=1, bootstrap=50)
    apart = kf.unit_boundaries_of(outlined, "first")
    for name in ("images", "category", "rater_a", "rater_b", "unit", "values", "classes", "raters"):
        np.testing.assert_array_equal(getattr(apart, name), getattr(expected, name))
    assert apart.summary() == expected.summary()
    assert apart.hausdorff.tolist() == pytest.approx([3, 0])
    # of the 160 of either: 40 are 3 apart, 34 as well and 2 x 3 up to 3, 2 x 37 on the other and 2 x 3 up to 3
    assert apart.average.tolist() == pytest.approx([(120 + 102 + 9 + 9) / 160, 0], abs=0.01)
    # within 1 of the other: 37 + 1 of either side across, both corners of the side within the other, none of the fourth
    assert apart.surface_dice.tolist() == pytest.approx([(38 + 38 + 2) / 160, 1], abs=0.01)
    distances = expected.by_image()["average"]
    assert outlined.values("first_boundary") == [pytest.approx(distances[0]), pytest.approx(0), None]
    assert "'first_boundary'" in run.written
    assert kf.view_of_unit_boundaries(outlined, "first").values("id") == outlined.values("id")[:2]
    panel = on("Outlines", outlined)
    assert not panel.state.get("problem")
    assert apart.headline.splitlines()[1] in panel.text()
    assert [row["class"] for row in panel.rows("paired_classes")] == ["cat", "dog"]
    assert [row["rater_b"] for row in panel.rows("paired_raters")] == ["bob"]
    assert [row["file"] for row in panel.rows("paired_images")] == ["0.jpg", "1.jpg"]
    assert given(panel.send("variations_click_image", row=1), "open_sample")["id"] == outlined.values("id")[1]
    assert view_of(outlined, panel.send("variations_show_worst")).values("id") == outlined.values("id")[:2]
    assert "the lens does not reach here" not in panel.text()
    panel.look_through(rater=str(panel.state["choices"]["rater"].index("ann")))
    assert "the lens does not reach here" in panel.text()
    again = kf.KINDS["agreement"].again(kf.load_details(outlined, "first"))
    assert (again["boundaries"], again["tolerance"]) == (True, 1)
    kf.delete_run(outlined, "first")
    assert not outlined.has_field("first_boundary")


def test_boundaries_need_outlines_and_sizes(dataset, outlined):
    with pytest.raises(InputError, match="expected a polygon or a mask of every annotation, got shapes of kind box"):
        kf.compute_agreement(dataset, "first", raters=RATERS, boundaries=True)
    with pytest.raises(InputError, match="tolerance: expected a distance of at least 0, got -1"):
        kf.compute_agreement(outlined, "first", raters=("ann", "bob"), boundaries=True, tolerance=-1)
    assert kf.list_runs(dataset) == kf.list_runs(outlined) == []


def test_the_form_offers_boundaries_of_outlines(dataset, outlined):
    params = {"raters": ["ann", "bob"], "boundaries": True, "tolerance": 1.5}
    inputs = form("compute_agreement", outlined, {**params, "similarity": "polygon_iou"})
    assert {"boundaries", "tolerance"} <= inputs.keys()
    assert "boundaries" not in form("compute_agreement", dataset, {"raters": list(RATERS)})
    run_operator("compute_agreement", outlined, run_key="asked", similarity="polygon_iou", **params)
    assert kf.unit_boundaries_of(outlined, "asked").tolerance == 1.5


@pytest.fixture
def graded():
    """Two nodules an image by two raters, with a malignancy, a margin, and who drew it."""
    dataset, size = fo.Dataset(), fo.ImageMetadata(width=100, height=100)
    grades = {"ann": [[1, 5], [3, 3], [2, 4]], "bob": [[2, 5], [3, 3], [5, 4]]}

    def nodules(rater, image):
        return fo.Detections(
            detections=[
                fo.Detection(
                    label="nodule",
                    bounding_box=[0.5 * place, 0.1, 0.3, 0.3],
                    malignancy=grade,
                    margin="sharp" if grade > 2 else "poor",
                    confidence=0.5,
                )
                for place, grade in enumerate(grades[rater][image])
            ]
        )

    for image in range(3):
        labels = {rater: nodules(rater, image) for rater in grades}
        dataset.add_sample(fo.Sample(f"{image}.jpg", metadata=size, raters=list(grades), **labels), dynamic=True)
    return dataset


def test_attributes_of_matched_labels_lead_to_the_images_that_differ(graded):
    options = {"raters": ("ann", "bob"), "bootstrap": 50}
    kf.find_variations(graded, "first_variations", raters=("ann", "bob"))
    kf.compute_agreement(graded, "first", **options)
    assert "compared no attributes" in on("Attributes", graded).text()
    with pytest.raises(InputError, match="expected a run that compared attributes, got 'first'"):
        kf.view_of_attribute(graded, "first", "malignancy")
    assert not graded.has_field("first_attributes")
    kf.delete_run(graded, "first")
    run = kf.compute_agreement(graded, "first", attributes=["malignancy", "margin"], **options)
    malignancy, margin = kf.load_details(graded, "first").details.attributes
    own = kf.attribute_agreement(graded, "first", "malignancy", bootstrap=50)
    assert malignancy.to_pandas().equals(own.to_pandas())
    assert (malignancy.metric, malignancy.items, margin.metric) == ("ordinal", 6, "nominal")
    # apart by 1 and 0, by nothing, by 3 and 0; poor where at most 2, so that of the last image one of two differs
    assert graded.values("first_attributes") == [[0.5, 0.0], [0.0, 0.0], [1.5, 0.5]]
    assert "'first_attributes'" in run.written
    samples = graded.values("id")
    assert kf.view_of_attribute(graded, "first", "malignancy").values("id") == [samples[2], samples[0]]
    panel = on("Attributes", graded)
    assert not panel.state.get("problem")
    assert [row["attribute"] for row in panel.rows("attributes")] == ["malignancy\n(ordinal)", "margin\n(nominal)"]
    panel.send("variations_click_attribute", row=1)
    assert panel.rows("attribute_images") == [{"file": "2.jpg", "category": "nodule", "values": "ann poor, bob sharp"}]
    panel.send("variations_click_attribute", row=0)
    assert malignancy.headline in panel.text()
    assert panel.rows("attribute_images") == [
        {"file": "2.jpg", "category": "nodule", "values": "ann 2, bob 5"},
        {"file": "0.jpg", "category": "nodule", "values": "ann 1, bob 2"},
    ]
    assert given(panel.send("variations_click_image", row=1), "open_sample")["id"] == samples[0]
    assert view_of(graded, panel.send("variations_show_attribute")).values("id") == [samples[2], samples[0]]
    panel.send("variations_change_attribute", value="margin")
    assert margin.headline in panel.text()
    assert "the lens does not reach here" not in panel.text()
    panel.look_through(rater=str(panel.state["choices"]["rater"].index("ann")))
    assert "the lens does not reach here" in panel.text()
    kf.delete_run(graded, "first")
    assert not graded.has_field("first_attributes")


def test_no_difference_in_an_attribute_is_said(graded):
    kf.find_variations(graded, "first_variations", raters=("ann", "bob"))
    for rater in ("ann", "bob"):
        graded.set_values(f"{rater}.detections.side", [["left", "right"]] * 3)
    graded.add_dynamic_sample_fields()
    kf.compute_agreement(graded, "first", raters=("ann", "bob"), attributes=["side"], bootstrap=0)
    panel = on("Attributes", graded)
    assert "No two raters differ on side" in panel.text()
    assert "attribute_images" not in panel.shown


def test_the_form_offers_attributes_that_labels_have(dataset, graded):
    kf.find_variations(graded, "differences", raters=("ann", "bob"))  # what runs write on labels is not offered
    assert kf.attributes_to_compare(graded) == ["malignancy", "margin"]
    assert "attributes" in form("compute_agreement", graded, {"raters": ["ann", "bob"]})
    assert "attributes" not in form("compute_agreement", dataset, {"raters": list(RATERS)})
    run_operator("compute_agreement", graded, run_key="asked", raters=["ann", "bob"], attributes=["margin"])
    (found,) = kf.load_details(graded, "asked").details.attributes
    assert (found.name, found.metric, found.items) == ("margin", "nominal", 6)
