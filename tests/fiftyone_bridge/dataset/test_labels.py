"""From a view to `Annotations`: both ways to store raters, every selection, collection and invalid label."""

import warnings
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from bson import ObjectId
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, KalosWarning, agreement
from kalos_core.fiftyone.dataset.opened import default_similarity
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun, sample_report
from kalos_core.fiftyone.kinds.agreement.views import image_alphas
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import (
    ALPHAS,
    CAT,
    MEAN,
    RATERS,
    SCENES,
    detection,
    detections,
    in_fields,
    in_one_field,
    make_sample,
    make_samples,
    polyline,
    polylines,
    untouched,
)

GOLD = [{**scene, "gold": [("cat", CAT)]} for scene in SCENES]


def read(samples: Any, **options: Any) -> Annotations:
    return kf.read_annotations(samples, **{"raters": RATERS, **options})


def of_field(samples: Any, **options: Any) -> Annotations:
    return kf.read_annotations(samples, **{"field": "marks", **options})


def alphas_of(table: Annotations, similarity: str = "box_iou") -> list[float | None]:
    result = agreement(table, similarity, bootstrap=0)
    return [None if np.isnan(value) else value for value in result.image_alpha]


def name_raters(dataset: fo.Dataset, fields: dict[str, str]) -> None:
    """Store raters, as a load does."""
    store_raters(dataset, fields, Annotations.from_rows([], images=["a.png"], raters=list(fields)))


def rows_of(table: Annotations) -> list[tuple[str, str, str]]:
    return [
        (table.files[image], table.raters[rater], table.categories[category])
        for image, rater, category in zip(table.image, table.rater, table.category, strict=True)
    ]


class TestStorage:
    def test_a_field_per_rater(self, unchanged):
        table = read(unchanged)
        assert list(table.raters) == ["ann", "bob"]
        assert list(table.images) == unchanged.values("id")
        assert list(table.files) == [f"{number}.jpg" for number in range(6)]
        assert table.assigned.tolist() == [[True, True]] * 5 + [[True, False]]
        assert table.shapes["box"].xywh()[0].tolist() == pytest.approx(CAT)
        ids = [unchanged.values(f"{field}.detections.id", unwind=True) for field in RATERS]
        assert sorted(table.id) == sorted(label for own in ids for label in own if label)
        for raters in (RATERS, ["bob", "ann"]):
            assert alphas_of(read(unchanged, raters=raters)) == pytest.approx(ALPHAS)

    def test_one_field_with_an_attribute(self, make):
        dataset = make(in_one_field(SCENES))
        assert not dataset.has_field("marks.detections.rater")  # read without a declaration
        assert alphas_of(of_field(dataset)) == pytest.approx(ALPHAS)
        with pytest.raises(InputError, match=r"rater_attribute: expected an attribute .* got 'annotator'"):
            of_field(dataset, rater_attribute="annotator")
        dataset.rename_sample_field("marks", "other")
        dataset.add_dynamic_sample_fields()
        assert alphas_of(of_field(dataset, field="other", rater_attribute="rater")) == pytest.approx(ALPHAS)

    def test_raters_of_one_field_are_sorted_and_can_be_chosen(self, make):
        dataset = make(in_one_field([{"zoe": [("cat", CAT)], "ann": [("cat", CAT)], "bob": [("dog", CAT)]}]))
        assert list(of_field(dataset).raters) == ["ann", "bob", "zoe"]
        chosen = of_field(dataset, raters=("zoe", "bob"))
        assert rows_of(chosen) == [("0.jpg", "zoe", "cat"), ("0.jpg", "bob", "dog")]
        with pytest.raises(InputError, match=r"raters: expected names among ann, bob, zoe, got eve"):
            of_field(dataset, raters=("zoe", "eve"))

    def test_numbers_as_raters_are_names_and_a_label_without_its_rater_is_named(self, make):
        def marked(*raters: Any) -> fo.Sample:
            marks = [detection("cat", CAT, **({} if rater == "-" else {"rater": rater})) for rater in raters]
            return make_sample(0, {}, marks=fo.Detections(detections=marks), raters=["ann"])

        assert list(of_field(make([marked(7, 8.0)]), assigned="all").raters) == ["7", "8"]
        for missing in (None, ""):
            dataset = make([marked("ann", missing, "-")])
            message = r"(?s)2 records cannot be used.*0\.jpg.*expected a rater.*got nothing"
            with pytest.raises(InputError, match=message) as caught:
                of_field(dataset)
            assert dataset.first().marks.detections[1].id in str(caught.value)

    def test_boxes_of_polylines_and_a_mixture(self, make):
        dataset = make(make_samples(SCENES, polylines))
        table = read(dataset)
        assert table.shapes["box"].xywh()[0].tolist() == pytest.approx(CAT)
        assert agreement(table, "polygon_iou", bootstrap=0).alpha == pytest.approx(MEAN)
        assert default_similarity(dataset, kf.Selection(raters=RATERS)) == "polygon_iou"
        dataset.set_values("cid", [detections(scene["bob"]) for scene in SCENES])
        assert default_similarity(dataset, kf.Selection(raters=("ann", "cid"))) == "box_iou"
        assert alphas_of(read(dataset, raters=("ann", "cid"), assigned="labelled")) == pytest.approx(ALPHAS)


class TestNames:
    def test_stored_names_and_fields_are_both_known(self, dataset):
        name_raters(dataset, {"Ann A.": "ann", "bob": "bob"})
        for raters in [None, ("Ann A.", "bob"), ("ann", "bob")]:
            assert list(read(dataset, raters=raters, assigned="labelled").raters) == ["Ann A.", "bob"]
        with pytest.raises(InputError, match=r"every rater once, got 'Ann A.' twice"):
            read(dataset, raters=("ann", "Ann A."))
        name_raters(dataset, {"ann": "ann", "bob": "bob"})
        hidden = dataset.select_fields("ann")  # hidden raters are not read
        assert list(read(hidden, raters=None).raters) == ["ann"]
        with pytest.raises(InputError, match="got 'bob'"):
            read(hidden)

    def test_a_reference_is_left_out(self, make):
        """A reference is identified by its field and name, or by the attribute of its labels."""
        dataset = make(make_samples(GOLD))
        for raters in (("ann", "bob", "gold"), RATERS):
            assert alphas_of(read(dataset, raters=raters, reference="gold")) == pytest.approx(ALPHAS)
        name_raters(dataset, {"ann": "ann", "bob": "bob", "The Gold": "gold"})
        for reference in ("gold", "The Gold"):
            assert list(read(dataset, raters=None, reference=reference).raters) == ["ann", "bob"]
        marked = make(in_one_field(GOLD))
        assert alphas_of(of_field(marked, reference="gold")) == pytest.approx(ALPHAS)
        with pytest.raises(InputError, match="reference: expected names among ann, bob, gold, got silver"):
            of_field(marked, reference="silver")

    def test_invalid_input_is_refused(self, dataset, make):
        dataset.set_values("kind", [fo.Classification(label="x")] * 6)
        video = make([fo.Sample("/pictures/film.mp4", ann=fo.Detections(), bob=fo.Detections())])
        rows: list[tuple[dict[str, Any], str]] = [
            ({"raters": None}, r"no stored raters of objects; .*label fields: ann, bob"),
            ({"raters": ("ann", "eve")}, r"expected a rater, or a field of Detections, .* got 'eve'"),
            ({"raters": ("ann", "kind")}, "field of Detections, Polylines or Keypoints, got 'kind'"),
            ({"raters": "ann"}, "raters: expected a list of names"),
            ({"treshold": 0.3}, "unknown argument treshold: expected one of .*raters"),
            ({"classes": ("cat", "kat")}, "classes: expected classes among bench, cat, dog, got kat"),
            ({"assigned": "some"}, "assigned: expected one of 'all', 'auto', 'labelled', got 'some'"),
            ({"min_area": float("nan")}, "min_area: expected a number of at least 0"),
            ({"min_confidence": -1}, "min_confidence: expected a number of at least 0"),
            ({"samples": dataset.limit(0)}, "expected at least one sample, got an empty view"),
            ({"samples": video}, "expected images or 3D scenes, got samples of type 'video'"),
            ({"samples": dataset.group_by("filepath")}, "is grouped and has no active slice"),
        ]
        for options, message in rows:
            with pytest.raises(InputError, match=message):
                read(**{"samples": dataset, **options})


class TestWhatIsRead:
    def test_classes(self, dataset):
        found = rows_of(read(dataset, classes=("dog", "bench")))
        assert sorted(found) == [("1.jpg", "bob", "dog"), *[("3.jpg", name, "bench") for name in ("ann", "bob", "bob")]]
        dataset.default_classes = ["cat", "horse"]
        for name in ("dog", "horse"):  # of other samples, or of none
            assert len(read(dataset.limit(1), classes=(name,))) == 0

    def test_min_area(self, make):
        """The halves of the bench have 38 * 20 = 760 square pixels, all else 1600; mixtures use the areas of boxes."""
        for make_labels in (detections, polylines):
            dataset = make(make_samples(SCENES[:4], make_labels))
            for least, left in [(759, 8), (761, 6), (1599, 6), (1601, 0)]:
                assert len(read(dataset, min_area=least)) == left
        mixed = make(
            [make_sample(0, {}, raters=list(RATERS), ann=detections([("cat", CAT)]), bob=polylines([("cat", CAT)]))]
        )
        assert len(read(mixed, min_area=1500)) == 2

    def test_images_of_unknown_size(self, dataset):
        dataset.match(F("filepath").ends_with("/1.jpg")).set_values("metadata", [None])
        assert alphas_of(read(dataset)) == pytest.approx(ALPHAS)  # IoU needs no sizes
        with pytest.raises(InputError, match=r"size of 1 of 6 images is unknown \(1.jpg\); their files are missing"):
            read(dataset, min_area=10)
        dataset.set_values("metadata", [None] * 6)
        table = read(dataset)
        assert np.isnan(table.image_size).all()
        assert table.shapes["box"].xywh()[0].tolist() == pytest.approx([0.1, 0.1, 0.4, 0.4])

    def test_min_confidence_keeps_labels_without_one(self, make):
        own = [detection(name, CAT, confidence=value) for name, value in [("a", 0.2), ("b", 0.5), ("c", None)]]
        dataset = make([in_fields(0, {"ann": own, "bob": []})])
        for least, names in [(0.0, "abc"), (0.2, "abc"), (0.3, "bc"), (0.9, "c")]:
            assert [name for _, _, name in rows_of(read(dataset, min_confidence=least))] == list(names)


class TestAssignment:
    def test_the_list_of_the_sample_decides(self, dataset):
        everywhere = pytest.approx([*ALPHAS[:5], 0.0])
        assert alphas_of(read(dataset, assigned="all")) == everywhere
        dataset.set_values("raters", [["ann", "bob", "stranger"]] * 5 + [["ann", "bob"]])
        assert alphas_of(read(dataset)) == everywhere
        dataset.set_values("raters", [["ann"]] + [["ann", "bob"]] * 5)
        with pytest.raises(InputError, match=r"field 'bob'.*expected a rater in its image's list, got rater 'bob'"):
            read(dataset)

    def test_labelled_tells_nothing_annotated_from_no_list(self, dataset):
        dataset.delete_sample_field("raters")
        assert alphas_of(read(dataset, assigned="labelled")) == pytest.approx(ALPHAS)
        dataset.match(F("filepath").ends_with("/4.jpg")).set_values("bob", [None])
        assert read(dataset, assigned="labelled").assigned[4:].tolist() == [[True, False], [True, False]]
        for name in RATERS:
            dataset.set_values(name, [None] * 6)
        assert alphas_of(read(dataset, assigned="labelled")) == [None] * 6
        assert alphas_of(read(dataset, assigned="all")) == [None] * 6  # there is no agreement if no rater saw anything

    def test_without_a_list_auto_warns(self, make):
        dataset = make(make_samples(SCENES, listed=False))
        with pytest.warns(KalosWarning, match=r"no field 'raters' lists the assigned raters.*lowers alpha"):
            assert read(dataset).assigned.all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            read(dataset, assigned="all")
            read(dataset, raters=("ann",))

    def test_labelled_with_an_attribute_means_who_annotated(self, make):
        dataset = make(in_one_field(SCENES))
        annotated = [[True, True], [True, True], [True, False], [True, True], [False, False], [True, False]]
        assert of_field(dataset, assigned="labelled").assigned.tolist() == annotated
        # bob annotated a dog, so he was looking for the cat, too
        assert of_field(dataset, assigned="labelled", classes=("cat",)).assigned.tolist() == annotated

    @pytest.mark.parametrize("value", ["ann, bob", 2, [1, 2], fo.Classification(label="ann")])
    def test_a_field_of_that_name_that_is_something_else(self, make, value):
        dataset = make([make_sample(0, SCENES[0], listed=False, raters=value)])
        with pytest.raises(InputError, match="expected the field 'raters' to list the names of the assigned raters"):
            read(dataset)
        assert alphas_of(read(dataset, assigned="labelled")) == [1.0]


VIEWS: list[tuple[Callable[[fo.Dataset], Any], list[float | None]]] = [
    (lambda data: data.limit(2), ALPHAS[:2]),
    (lambda data: data.match(F("bob") == None), [None]),  # noqa: E711
    (lambda data: data.sort_by("filepath", reverse=True), ALPHAS[::-1]),
    (lambda data: data.select(data.values("id")[3]), [ALPHAS[3]]),
    (lambda data: data.select(data.values("id")[3:1:-1], ordered=True), ALPHAS[3:1:-1]),
    (lambda data: data.select_by("filepath", ["/pictures/3.jpg", "/pictures/0.jpg"]), [1.0, -2 / 3]),
    (lambda data: data.limit(1).concat(data.skip(3).limit(1)), [1.0, -2 / 3]),
    (lambda data: data.select_fields(["ann", "bob"]), ALPHAS),
    (lambda data: data.exclude_fields("raters"), ALPHAS),
    (lambda data: data.filter_labels("bob", F("label") == "dog", only_matches=False), [0, 0, 0, 0, 1, None]),
    (lambda data: data.filter_labels("bob", F("label") == "dog"), [0]),
    (lambda data: data.map_labels("bob", {"dog": "cat"}), [1, 1, 0, -2 / 3, 1, None]),
]


def test_only_what_a_view_shows(unchanged):
    for number, (make_view, expected) in enumerate(VIEWS):
        assert alphas_of(read(make_view(unchanged))) == pytest.approx(expected), number
    by_file = dict(zip(unchanged.values("id"), ALPHAS, strict=True))
    shuffled = unchanged.shuffle(seed=5)
    assert alphas_of(read(shuffled)) == pytest.approx([by_file[sample_id] for sample_id in shuffled.values("id")])


class TestGroups:
    @pytest.fixture
    def dataset(self, make: Make) -> fo.Dataset:
        """Return the scenes as the slice `left`; on the slice `right`, both raters always annotated the same."""
        dataset = make([])
        dataset.add_group_field("group", default="left")
        samples = []
        for number, scene in enumerate(SCENES):
            group = fo.Group()
            samples.append(make_sample(number, scene, group=group.element("left")))
            same = {"ann": [("cat", CAT)], "bob": [("cat", CAT)]}
            samples.append(make_sample(number + 100, same, group=group.element("right")))
        dataset.add_samples(samples, progress=False)
        return dataset

    def test_the_active_slice_is_read(self, dataset):
        assert alphas_of(read(dataset)) == pytest.approx(ALPHAS)
        assert alphas_of(read(dataset.filter_labels("bob", F("label") == "dog"))) == [0.0]
        view = dataset.limit(2)
        view.group_slice = "right"
        assert alphas_of(read(view)) == [1.0, 1.0]
        dataset.group_slice = "right"
        assert alphas_of(read(dataset)) == [1.0] * 6
        assert alphas_of(read(dataset.select_group_slices("left"))) == pytest.approx(ALPHAS)

    def test_runs_stay_with_their_slice(self, dataset):
        dataset.group_slice = "right"
        kf.compute_agreement(dataset, "run", raters=RATERS)
        dataset.group_slice = "left"
        assert dataset.values("run_alpha") == [None] * 6
        loaded = kf.load_run(dataset, "run")
        assert (loaded.result.alpha, loaded.stale) == (1.0, ())
        assert image_alphas(dataset, "run")[1] == [1.0] * 6
        right = dataset.select_group_slices("right")
        assert sample_report(dataset, right.first().id, "run").alpha == 1.0
        with pytest.raises(NotInRun):
            sample_report(dataset, dataset.first().id, "run")
        both = dataset.select_group_slices(["left", "right"])
        run = kf.compute_agreement(both, "both", raters=RATERS)
        assert run.result.alpha == pytest.approx((5 * MEAN + 6) / 11)
        assert kf.load_run(dataset, "both").stale == ()
        kf.delete_run(dataset, "run")

    def test_an_attribute_of_another_slice_is_in_the_way(self, dataset):
        label = dataset.select_group_slices("right").first().bob.detections[0].id
        own, change = {"bob.detections._id": ObjectId(label)}, {"$set": {"bob.detections.0.mine": 1}}
        dataset._sample_collection.update_one(own, change)
        assert not dataset.has_field("bob.detections.mine")
        with pytest.raises(InputError, match=r"'mine' would overwrite the attribute 'bob\.detections\.mine'"):
            kf.compute_agreement(dataset, "mine", raters=RATERS)


def ring(*points: tuple[float, float]) -> fo.Polyline:
    return fo.Polyline(label="cat", closed=True, points=[list(points)])


BAD: list[tuple[Any, str]] = [
    (detection(None, CAT), "expected a category of the source, got nothing"),
    (fo.Detection(label="cat"), "expected a shape (box, polygon, "),
    (fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.2]), "expected a box of four numbers"),
    (detection("cat", [10, 10, 0, 40]), "expected a box of positive width and height"),
    (detection("cat", [10, float("nan"), 40, 40]), "expected a box of finite numbers"),
    (polyline("cat", CAT, closed=False), "expected a closed polyline, got an open one"),
    (ring((0.1, 0.1), (0.2, float("nan")), (0.2, 0.1)), "expected finite coordinates"),
    (ring((0.1, 0.1), (0.2, 0.2)), "rings of at least 3 points"),
]


class TestBadLabels:
    def test_each_is_named_and_nothing_is_written(self, make):
        for label, expected in BAD:
            kind, name = (
                (fo.Polylines, "polylines") if isinstance(label, fo.Polyline) else (fo.Detections, "detections")
            )
            dataset = make([make_sample(7, {}, ann=kind(**{name: [label]}), bob=fo.Detections(), raters=list(RATERS))])
            with pytest.raises(InputError) as caught:
                read(dataset)
            assert [
                part for part in (expected, "7.jpg", "field 'ann'", label.id) if part not in str(caught.value)
            ] == []
        with untouched(dataset), pytest.raises(InputError, match="rings of at least 3 points"):
            kf.compute_agreement(dataset, "run", raters=RATERS)

    def test_an_annotation_beyond_its_image_is_kept_with_a_warning(self, make):
        dataset = make(make_samples([{"ann": [("cat", [90, 90, 20, 20])], "bob": []}]))
        with pytest.warns(KalosWarning, match="1 annotations reach beyond their image"):
            assert len(read(dataset)) == 1
