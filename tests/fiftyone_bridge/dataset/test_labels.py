"""From a view to `Annotations`: both ways to store raters, every selection, every collection and every bad label."""

import warnings
from collections.abc import Callable
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from bson import ObjectId
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, KalosWarning, agreement, attribute_agreement, nominal_alpha
from kalos_core.fiftyone.dataset.expressions import only_labels
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.dataset.similarities import _kinds_of_detections
from tests.fiftyone_bridge.scenes import (
    ALPHAS,
    CAT,
    MEAN,
    RATERS,
    SCENES,
    detection,
    detections,
    in_one_field,
    make_sample,
    make_samples,
    polyline,
    polylines,
)


def alphas_of(samples: Any, **options: Any) -> list[float | None]:
    result = agreement(kf.read_annotations(samples, **options), options.get("similarity", "box_iou"), bootstrap=0)
    return [None if np.isnan(value) else value for value in result.image_alpha]


def name_raters(dataset: fo.Dataset, fields: dict[str, str]) -> None:
    """Store raters, as a load does."""
    store_raters(dataset, fields, Annotations.from_rows([], images=["a.png"], raters=list(fields)))


def annotations_of(annotations: Any) -> list[tuple[str, str, str]]:
    return [
        (annotations.files[image], annotations.raters[rater], annotations.categories[category])
        for image, rater, category in zip(annotations.image, annotations.rater, annotations.category, strict=True)
    ]


class TestStorage:
    def test_a_field_per_rater(self, unchanged: fo.Dataset) -> None:
        annotations = kf.read_annotations(unchanged, raters=RATERS)
        assert list(annotations.raters) == ["ann", "bob"]
        assert list(annotations.images) == unchanged.values("id")
        assert list(annotations.files) == [f"{number}.jpg" for number in range(6)]
        assert annotations.assigned.tolist() == [[True, True]] * 5 + [[True, False]]
        assert annotations.shapes["box"].xywh()[0].tolist() == pytest.approx(CAT)
        assert sorted(annotations.id) == sorted(
            label for field in RATERS for labels in unchanged.values(f"{field}.detections.id") for label in labels or ()
        )

    @pytest.mark.parametrize("options", [{"raters": RATERS}, {"raters": ["bob", "ann"]}])
    def test_gives_the_alphas_worked_out_by_hand(self, unchanged: fo.Dataset, options: dict[str, Any]) -> None:
        assert alphas_of(unchanged, **options) == pytest.approx(ALPHAS)

    def test_one_field_with_an_attribute(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(in_one_field(SCENES))
        assert not dataset.has_field("marks.detections.rater")  # read although nobody declared it
        assert alphas_of(dataset, field="marks") == pytest.approx(ALPHAS)
        dataset.rename_sample_field("marks", "other")
        dataset.add_dynamic_sample_fields()
        assert alphas_of(dataset, field="other", rater_attribute="rater") == pytest.approx(ALPHAS)

    def test_raters_of_one_field_are_sorted_and_can_be_chosen(self, make: Callable[..., fo.Dataset]) -> None:
        scene = {"zoe": [("cat", CAT)], "ann": [("cat", CAT)], "bob": [("dog", CAT)]}
        dataset = make(in_one_field([scene]))
        assert list(kf.read_annotations(dataset, field="marks").raters) == ["ann", "bob", "zoe"]
        chosen = kf.read_annotations(dataset, field="marks", raters=("zoe", "bob"))
        assert annotations_of(chosen) == [("0.jpg", "zoe", "cat"), ("0.jpg", "bob", "dog")]
        with pytest.raises(InputError, match=r"raters: expected names among ann, bob, zoe, got eve"):
            kf.read_annotations(dataset, field="marks", raters=("zoe", "eve"))

    def test_numbers_as_raters_are_names(self, make: Callable[..., fo.Dataset]) -> None:
        marks = fo.Detections(detections=[detection("cat", CAT, rater=rater) for rater in (7, 8.0)])
        dataset = make([make_sample(0, {}, marks=marks, listed=False)])
        annotations = kf.read_annotations(dataset, field="marks", assigned="all")
        assert list(annotations.raters) == ["7", "8"]

    @pytest.mark.parametrize("missing", [None, ""])
    def test_a_label_without_its_rater_is_named(self, make: Callable[..., fo.Dataset], missing: Any) -> None:
        labels = [detection("cat", CAT, rater="ann"), detection("cat", CAT, rater=missing), detection("cat", CAT)]
        dataset = make([make_sample(0, {"ann": None}, marks=fo.Detections(detections=labels), raters=["ann"])])
        with pytest.raises(InputError, match=r"(?s)2 records cannot be used.*expected a rater.*got nothing") as caught:
            kf.read_annotations(dataset, field="marks")
        assert dataset.first().marks.detections[1].id in str(caught.value)
        assert "0.jpg" in str(caught.value)

    def test_an_attribute_nobody_has(self, make: Callable[..., fo.Dataset]) -> None:
        with pytest.raises(InputError, match=r"rater_attribute: expected an attribute .* got 'annotator'"):
            kf.read_annotations(make(in_one_field(SCENES[:4])), field="marks", rater_attribute="annotator")

    def test_boxes_of_polylines_and_a_mixture(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(make_samples(SCENES, polylines))
        annotations = kf.read_annotations(dataset, raters=RATERS)
        assert annotations.shapes["box"].xywh()[0].tolist() == pytest.approx(CAT)
        assert agreement(annotations, "polygon_iou", bootstrap=0).alpha == pytest.approx(MEAN)
        assert kf.default_similarity(dataset, kf.Selection(raters=RATERS)) == "polygon_iou"
        dataset.set_values("cid", [detections(scene["bob"]) for scene in SCENES])
        assert kf.default_similarity(dataset, kf.Selection(raters=("ann", "cid"))) == "box_iou"
        assert alphas_of(dataset, raters=("ann", "cid"), assigned="labelled") == pytest.approx(ALPHAS)

    def test_more_raters_than_the_database_takes_conditions_within_one_another(
        self, make: Callable[..., fo.Dataset]
    ) -> None:
        """Which is a hundred levels: what is asked of the labels of each rater stands side by side."""
        dataset = make()
        assert _kinds_of_detections(dataset, ["ann.detections", "bob.detections"] * 101) == {"box"}
        (match, *_) = only_labels(dataset, RATERS, F("label") == "dog")._pipeline()
        assert len(match["$match"]["$expr"]["$or"]) == len(RATERS)


class TestNames:
    def test_stored_names_and_fields_are_both_known(self, dataset: fo.Dataset) -> None:
        name_raters(dataset, {"Ann A.": "ann", "bob": "bob"})
        for raters in [None, ("Ann A.", "bob"), ("ann", "bob")]:
            assert list(kf.read_annotations(dataset, raters=raters, assigned="labelled").raters) == ["Ann A.", "bob"]
        with pytest.raises(InputError, match=r"every rater once, got 'Ann A.' twice"):
            kf.read_annotations(dataset, raters=("ann", "Ann A."))

    def test_without_stored_raters_fields_have_to_be_named(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match=r"no stored raters of objects; .*label fields: ann, bob"):
            kf.read_annotations(unchanged)

    def test_a_field_that_is_not_there(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match=r"expected a rater, or a field of Detections, .* got 'eve'"):
            kf.read_annotations(unchanged, raters=("ann", "eve"))
        with pytest.raises(InputError, match="got 'eve'"):
            kf.read_annotations(unchanged, field="eve")

    @pytest.mark.parametrize("field", ["filepath", "raters", "metadata", "kind", "spot"])
    def test_a_field_that_holds_no_boxes(self, dataset: fo.Dataset, field: str) -> None:
        dataset.set_values("kind", [fo.Classification(label="x")] * 6)
        dataset.set_values("spot", [fo.GeoLocation(point=[0, 0])] * 6)
        with pytest.raises(InputError, match=f"field of Detections, Polylines or Keypoints, got '{field}'"):
            kf.read_annotations(dataset, raters=("ann", field))

    @pytest.mark.parametrize("raters", ["ann", (1, 2)])
    def test_raters_are_a_list_of_names(self, unchanged: fo.Dataset, raters: Any) -> None:
        with pytest.raises(InputError, match="raters: expected a list of names"):
            kf.read_annotations(unchanged, raters=raters)

    def test_unknown_arguments_are_a_slip(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match=r"unknown argument treshold: expected one of raters, "):
            kf.read_annotations(unchanged, treshold=0.3)


class TestReference:
    @pytest.fixture
    def dataset(self, make: Callable[..., fo.Dataset]) -> fo.Dataset:
        return make(make_samples([{**scene, "gold": [("cat", CAT)]} for scene in SCENES]))

    @pytest.mark.parametrize("raters", [("ann", "bob", "gold"), ("ann", "bob")])
    def test_is_left_out(self, dataset: fo.Dataset, raters: tuple[str, ...]) -> None:
        assert alphas_of(dataset, raters=raters, reference="gold") == pytest.approx(ALPHAS)

    def test_is_known_by_field_and_by_name(self, dataset: fo.Dataset) -> None:
        name_raters(dataset, {"ann": "ann", "bob": "bob", "The Gold": "gold"})
        for reference in ("gold", "The Gold"):
            assert list(kf.read_annotations(dataset, reference=reference).raters) == ["ann", "bob"]

    def test_has_to_be_there(self, dataset: fo.Dataset) -> None:
        with pytest.raises(InputError, match=r"^reference: .*got 'silver'"):
            kf.read_annotations(dataset, raters=RATERS, reference="silver")

    def test_of_one_field(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(in_one_field([{**scene, "gold": [("cat", CAT)]} for scene in SCENES]))
        assert alphas_of(dataset, field="marks", reference="gold") == pytest.approx(ALPHAS)
        with pytest.raises(InputError, match="reference: expected names among ann, bob, gold, got silver"):
            kf.read_annotations(dataset, field="marks", reference="silver")


class TestWhatIsRead:
    def test_classes(self, unchanged: fo.Dataset) -> None:
        annotations = kf.read_annotations(unchanged, raters=RATERS, classes=("dog", "bench"))
        assert sorted(annotations_of(annotations)) == [
            ("1.jpg", "bob", "dog"),
            ("3.jpg", "ann", "bench"),
            ("3.jpg", "bob", "bench"),
            ("3.jpg", "bob", "bench"),
        ]

    def test_a_class_nobody_annotated_is_a_slip(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match="classes: expected classes among bench, cat, dog, got kat"):
            kf.read_annotations(unchanged, raters=RATERS, classes=("cat", "kat"))
        with pytest.raises(InputError, match="classes: expected a list of names, got 'cat'"):
            kf.read_annotations(unchanged, raters=RATERS, classes="cat")

    def test_a_class_of_other_samples_is_none(self, dataset: fo.Dataset) -> None:
        dataset.default_classes = ["cat", "horse"]
        for name in ("dog", "horse"):
            assert len(kf.read_annotations(dataset.limit(1), raters=RATERS, classes=(name,))) == 0

    @pytest.mark.parametrize("make_labels", [detections, polylines])
    @pytest.mark.parametrize(("least", "left"), [(759, 8), (761, 6), (1599, 6), (1601, 0)])
    def test_min_area(self, make: Callable[..., fo.Dataset], make_labels: Any, least: float, left: int) -> None:
        # the halves of the bench have 38 * 20 = 760 square pixels, all else 1600
        annotations = kf.read_annotations(make(make_samples(SCENES[:4], make_labels)), raters=RATERS, min_area=least)
        assert len(annotations) == left

    def test_min_area_of_a_mixture_is_that_of_boxes(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make([make_sample(0, {"ann": [("cat", CAT)]}, raters=["ann", "bob"], bob=polylines([("cat", CAT)]))])
        assert len(kf.read_annotations(dataset, raters=RATERS, min_area=1500)) == 2

    def test_min_area_needs_sizes(self, dataset: fo.Dataset) -> None:
        dataset.match(F("filepath").ends_with("/1.jpg")).set_values("metadata", [None])
        assert alphas_of(dataset, raters=RATERS) == pytest.approx(ALPHAS)  # IoU does not
        with pytest.raises(InputError, match=r"size of 1 of 6 images is unknown \(1.jpg\); run compute_metadata"):
            kf.read_annotations(dataset, raters=RATERS, min_area=10)

    def test_min_confidence_keeps_labels_without_one(self, make: Callable[..., fo.Dataset]) -> None:
        labels = [detection(name, CAT, confidence=value) for name, value in [("a", 0.2), ("b", 0.5), ("c", None)]]
        dataset = make([make_sample(0, {"bob": []}, ann=fo.Detections(detections=labels), raters=["ann", "bob"])])
        for least, names in [(0.0, "abc"), (0.2, "abc"), (0.3, "bc"), (0.9, "c")]:
            kept = kf.read_annotations(dataset, raters=RATERS, min_confidence=least)
            assert [name for _, _, name in annotations_of(kept)] == list(names)

    @pytest.mark.parametrize("name", ["min_area", "min_confidence"])
    @pytest.mark.parametrize("value", [-1, float("nan"), "much", None, True])
    def test_limits_are_numbers(self, name: str, value: Any) -> None:
        with pytest.raises(InputError, match=f"{name}: expected a number of at least 0"):
            kf.Selection(**{name: value})

    def test_pictures_of_unknown_size(self, dataset: fo.Dataset) -> None:
        dataset.set_values("metadata", [None] * 6)
        annotations = kf.read_annotations(dataset, raters=RATERS)
        assert np.isnan(annotations.image_size).all()
        assert annotations.shapes["box"].xywh()[0].tolist() == pytest.approx([0.1, 0.1, 0.4, 0.4])


class TestAssignment:
    def test_the_list_of_the_sample_decides(self, dataset: fo.Dataset) -> None:
        dataset.set_values("raters", [["ann", "bob", "stranger"]] * 5 + [["ann", "bob"]])
        assert alphas_of(dataset, raters=RATERS) == pytest.approx([*ALPHAS[:5], 0.0])

    def test_everybody_everywhere(self, unchanged: fo.Dataset) -> None:
        assert alphas_of(unchanged, raters=RATERS, assigned="all") == pytest.approx([*ALPHAS[:5], 0.0])

    def test_labelled_tells_nothing_annotated_from_no_list(self, dataset: fo.Dataset) -> None:
        dataset.delete_sample_field("raters")
        assert alphas_of(dataset, raters=RATERS, assigned="labelled") == pytest.approx(ALPHAS)
        dataset.match(F("filepath").ends_with("/4.jpg")).set_values("bob", [None])
        annotations = kf.read_annotations(dataset, raters=RATERS, assigned="labelled")
        assert annotations.assigned[4:].tolist() == [[True, False], [True, False]]

    def test_without_a_list_auto_warns(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(make_samples(SCENES, listed=False))
        with pytest.warns(KalosWarning, match=r"no sample field 'raters'.*lowers alpha"):
            assert kf.read_annotations(dataset, raters=RATERS).assigned.all()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kf.read_annotations(dataset, raters=RATERS, assigned="all")
            kf.read_annotations(dataset, raters=("ann",))

    def test_labelled_with_an_attribute_means_who_annotated(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(in_one_field(SCENES))
        annotations = kf.read_annotations(dataset, field="marks", assigned="labelled")
        annotated = [[True, True], [True, True], [True, False], [True, True], [False, False], [True, False]]
        assert annotations.assigned.tolist() == annotated
        # bob annotated a dog, so he looked for the cat as well
        only_cats = kf.read_annotations(dataset, field="marks", assigned="labelled", classes=("cat",))
        assert only_cats.assigned.tolist() == annotated

    def test_an_annotation_of_somebody_who_was_not_assigned(self, dataset: fo.Dataset) -> None:
        dataset.set_values("raters", [["ann"]] + [["ann", "bob"]] * 5)
        with pytest.raises(InputError, match=r"field 'bob'.*expected a rater in its image's list, got rater 'bob'"):
            kf.read_annotations(dataset, raters=RATERS)

    @pytest.mark.parametrize("value", ["ann, bob", 2, [1, 2], fo.Classification(label="ann")])
    def test_a_field_of_that_name_that_is_something_else(self, make: Callable[..., fo.Dataset], value: Any) -> None:
        dataset = make([make_sample(0, SCENES[0], listed=False, raters=value)])
        with pytest.raises(InputError, match="expected the field 'raters' to list the names of the assigned raters"):
            kf.read_annotations(dataset, raters=RATERS)
        assert alphas_of(dataset, raters=RATERS, assigned="labelled") == [1.0]

    def test_unknown_ways(self) -> None:
        with pytest.raises(InputError, match="assigned: expected one of auto, all, labelled, got 'some'"):
            kf.Selection(assigned="some")


VIEWS: dict[str, tuple[Callable[[fo.Dataset], Any], list[float | None]]] = {
    "limit": (lambda data: data.limit(2), ALPHAS[:2]),
    "match": (lambda data: data.match(F("bob") == None), [None]),  # noqa: E711
    "sort": (lambda data: data.sort_by("filepath", reverse=True), ALPHAS[::-1]),
    "select": (lambda data: data.select(data.values("id")[3]), [ALPHAS[3]]),
    "select in order": (lambda data: data.select(data.values("id")[3:1:-1], ordered=True), ALPHAS[3:1:-1]),
    "select_by": (lambda data: data.select_by("filepath", ["/pictures/3.jpg", "/pictures/0.jpg"]), [1.0, -2 / 3]),
    "concat": (lambda data: data.limit(1).concat(data.skip(3).limit(1)), [1.0, -2 / 3]),
    "fields": (lambda data: data.select_fields(["ann", "bob"]), ALPHAS),
    "no list": (lambda data: data.exclude_fields("raters"), ALPHAS),
    "labels": (lambda data: data.filter_labels("bob", F("label") == "dog", only_matches=False), [0, 0, 0, 0, 1, None]),
    "matches": (lambda data: data.filter_labels("bob", F("label") == "dog"), [0]),
    "mapped": (lambda data: data.map_labels("bob", {"dog": "cat"}), [1, 1, 0, -2 / 3, 1, None]),
}


class TestViews:
    @pytest.mark.parametrize("name", VIEWS)
    def test_only_what_the_view_shows(self, unchanged: fo.Dataset, name: str) -> None:
        make_view, expected = VIEWS[name]
        assert alphas_of(make_view(unchanged), raters=RATERS) == pytest.approx(expected)

    def test_shuffled(self, unchanged: fo.Dataset) -> None:
        by_file = dict(zip(unchanged.values("id"), ALPHAS, strict=True))
        shuffled = unchanged.shuffle(seed=5)
        assert alphas_of(shuffled, raters=RATERS) == [
            pytest.approx(by_file[sample_id]) for sample_id in shuffled.values("id")
        ]

    def test_a_hidden_rater_is_not_read(self, dataset: fo.Dataset) -> None:
        name_raters(dataset, {"ann": "ann", "bob": "bob"})
        assert list(kf.read_annotations(dataset.select_fields("ann")).raters) == ["ann"]
        with pytest.raises(InputError, match="got 'bob'"):
            kf.read_annotations(dataset.select_fields("ann"), raters=RATERS)

    def test_empty(self, dataset: fo.Dataset, make: Callable[..., fo.Dataset]) -> None:
        for empty in (dataset.limit(0), make([])):
            with pytest.raises(InputError, match="expected at least one sample, got an empty view"):
                kf.read_annotations(empty, raters=RATERS)

    def test_patches(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match="expected a view of samples, got a PatchesView"):
            kf.read_annotations(unchanged.to_patches("ann"), raters=RATERS)

    def test_video(self, make: Callable[..., fo.Dataset]) -> None:
        video = make([fo.Sample("/pictures/film.mp4", ann=fo.Detections(), bob=fo.Detections())])
        with pytest.raises(InputError, match="expected images or 3D scenes, got samples of type 'video'"):
            kf.read_annotations(video, raters=RATERS)

    def test_something_else(self) -> None:
        with pytest.raises(InputError, match="samples: expected a data set or a view, got str"):
            kf.read_annotations("my-dataset", raters=RATERS)

    def test_all_lists_absent(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make([make_sample(n, {"ann": None, "bob": None}, listed=False, ann=None, bob=None) for n in range(2)])
        for name in RATERS:
            dataset.add_sample_field(name, fo.EmbeddedDocumentField, embedded_doc_type=fo.Detections)
        assert alphas_of(dataset, raters=RATERS, assigned="labelled") == [None, None]
        assert alphas_of(dataset, raters=RATERS, assigned="all") == [1.0, 1.0]


def grouped() -> list[fo.Sample]:
    """The scenes as the slice `left`; on the slice `right` both raters always annotated the same."""
    samples = []
    for number, scene in enumerate(SCENES):
        group = fo.Group()
        samples.append(make_sample(number, scene, group=group.element("left")))
        same = {"ann": [("cat", CAT)], "bob": [("cat", CAT)]}
        samples.append(make_sample(number + 100, same, group=group.element("right")))
    return samples


class TestGroups:
    @pytest.fixture
    def dataset(self, make: Callable[..., fo.Dataset]) -> fo.Dataset:
        dataset = make([])
        dataset.add_group_field("group", default="left")
        dataset.add_samples(grouped(), progress=False)
        return dataset

    def test_the_active_slice_is_read(self, dataset: fo.Dataset) -> None:
        assert alphas_of(dataset, raters=RATERS) == pytest.approx(ALPHAS)
        view = dataset.limit(2)
        view.group_slice = "right"
        assert alphas_of(view, raters=RATERS) == [1.0, 1.0]
        dataset.group_slice = "right"
        assert alphas_of(dataset, raters=RATERS) == [1.0] * 6
        assert alphas_of(dataset.select_group_slices("left"), raters=RATERS) == pytest.approx(ALPHAS)

    def test_labels_filtered_before_and_after(self, dataset: fo.Dataset) -> None:
        view = dataset.filter_labels("bob", F("label") == "dog")
        assert alphas_of(view, raters=RATERS) == [0.0]

    def test_without_slices(self, make: Callable[..., fo.Dataset]) -> None:
        with pytest.raises(InputError, match="is grouped and has no active slice"):
            kf.read_annotations(make().group_by("filepath"), raters=RATERS)

    def test_runs_stay_with_their_slice(self, dataset: fo.Dataset) -> None:
        dataset.group_slice = "right"
        kf.compute_agreement(dataset, "run", raters=RATERS)
        dataset.group_slice = "left"
        assert dataset.values("run_alpha") == [None] * 6
        loaded = kf.load_run(dataset, "run")
        assert (loaded.result.alpha, loaded.stale) == (1.0, ())
        assert kf.image_alphas(dataset, "run")[1] == [1.0] * 6
        assert len(kf.view_of_alpha(dataset, "run", 0.9, 1.0)) == 6
        right = dataset.select_group_slices("right")
        assert kf.sample_report(dataset, right.first().id, "run").alpha == 1.0
        with pytest.raises(kf.NotInRun):
            kf.sample_report(dataset, dataset.first().id, "run")
        kf.delete_run(dataset, "run")

    def test_several_slices_at_once(self, dataset: fo.Dataset) -> None:
        both = dataset.select_group_slices(["left", "right"])
        run = kf.compute_agreement(both, "run", raters=RATERS)
        assert run.result.alpha == pytest.approx((5 * MEAN + 6) / 11)
        assert kf.load_run(dataset, "run").stale == ()

    def test_an_attribute_of_another_slice_is_in_the_way(self, dataset: fo.Dataset) -> None:
        right = dataset.select_group_slices("right")
        label = right.first().bob.detections[0].id
        dataset._sample_collection.update_one(
            {"bob.detections._id": ObjectId(label)},
            {"$set": {"bob.detections.0.mine": 1}},
        )
        assert not dataset.has_field("bob.detections.mine")
        with pytest.raises(InputError, match=r"'mine' would overwrite the attribute 'bob\.detections\.mine'"):
            kf.compute_agreement(dataset, "mine", raters=RATERS)


class TestBadLabels:
    @pytest.mark.parametrize(
        ("label", "expected"),
        [
            (detection(None, CAT), "expected a category of the source, got nothing"),
            (fo.Detection(label="cat"), "expected a shape (box, polygon, "),
            (fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.2]), "expected a box of four numbers"),
            (detection("cat", [10, 10, 0, 40]), "expected a box of positive width and height"),
            (detection("cat", [10, 10, 40, -1]), "expected a box of positive width and height"),
            (detection("cat", [10, float("nan"), 40, 40]), "expected a box of finite numbers"),
            (detection("cat", [10, 10, float("inf"), 40]), "expected a box of finite numbers"),
            (polyline("cat", CAT, closed=False), "expected a closed polyline, got an open one"),
            (fo.Polyline(label="cat", closed=True), "expected a shape (box, polygon, "),
            (fo.Polyline(label="cat", closed=True, points=[[]]), "expected rings of at least 3 points"),
            (fo.Polyline(label="cat", closed=True, points=[[(0.1, 0.1), (0.2, 0.2)]]), "rings of at least 3 points"),
            (
                fo.Polyline(label="cat", closed=True, points=[[(0.1, 0.1), (0.2, float("nan")), (0.2, 0.1)]]),
                "expected finite coordinates",
            ),
        ],
    )
    def test_each_is_named_and_nothing_is_written(
        self, make: Callable[..., fo.Dataset], label: Any, expected: str
    ) -> None:
        bad = fo.Polylines(polylines=[label]) if isinstance(label, fo.Polyline) else fo.Detections(detections=[label])
        dataset = make([make_sample(7, {"bob": []}, ann=bad, raters=["ann", "bob"])])
        fields = list(dataset.get_field_schema(flat=True))
        for call in (kf.read_annotations, lambda data, **options: kf.compute_agreement(data, "run", **options)):
            with pytest.raises(InputError) as caught:
                call(dataset, raters=RATERS)
            message = str(caught.value)
            assert expected in message
            assert "7.jpg" in message
            assert "field 'ann'" in message
            assert label.id in message
        assert list(dataset.get_field_schema(flat=True)) == fields
        assert dataset.list_runs() == []

    def test_all_are_counted_and_five_are_shown(self, make: Callable[..., fo.Dataset]) -> None:
        flat = fo.Detections(detections=[detection("cat", [10, 10, 0, 40]) for _ in range(8)])
        dataset = make([make_sample(0, {"bob": []}, ann=flat, raters=["ann", "bob"])])
        with pytest.raises(InputError, match=r"(?s)8 records cannot be used.*and 3 more") as caught:
            kf.read_annotations(dataset, raters=RATERS)
        assert str(caught.value).count("0.jpg") == 5

    def test_an_annotation_beyond_its_image_is_kept_with_a_warning(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(make_samples([{"ann": [("cat", [90, 90, 20, 20])], "bob": []}]))
        with pytest.warns(KalosWarning, match="1 annotations reach beyond their image"):
            assert len(kf.read_annotations(dataset, raters=RATERS)) == 1


class TestAttributes:
    def graded(self, make: Callable[..., fo.Dataset]) -> fo.Dataset:
        grades = {"ann": [1, 3, 5, 4], "bob": [2, 3, 5, None]}
        return make(
            [
                fo.Sample(
                    f"/images/{number}.jpg",
                    metadata=fo.ImageMetadata(width=100, height=100),
                    raters=list(grades),
                    **{
                        rater: fo.Detections(
                            detections=[
                                fo.Detection(
                                    label="cat",
                                    bounding_box=[0.1, 0.1, 0.5, 0.5],
                                    **({} if given[number] is None else {"malignancy": given[number], "form": "round"}),
                                )
                            ]
                        )
                        for rater, given in grades.items()
                    },
                )
                for number in range(4)
            ]
        )

    def test_attributes_of_labels_are_compared(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = self.graded(make)
        table = kf.read_annotations(dataset, raters=RATERS, attributes=["malignancy", "form"])
        assert sorted(table.attributes) == ["form", "malignancy"]
        found = attribute_agreement(agreement(table, bootstrap=0), "malignancy", bootstrap=0)
        assert found.alpha == pytest.approx(nominal_alpha([[1, 2], [3, 3], [5, 5], [4, None]], "ordinal"))
        assert kf.read_annotations(dataset, raters=RATERS).attributes == {}
        few = kf.read_annotations(dataset, raters=RATERS, attributes=["malignancy"], classes=["cat"], min_area=1)
        assert few.attributes["malignancy"].tolist() == table.attributes["malignancy"].tolist()

    def test_an_attribute_that_no_label_has(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = self.graded(make)
        with pytest.raises(InputError, match="attributes: expected attributes that labels have, got 'texture'"):
            kf.read_annotations(dataset, raters=RATERS, attributes=["texture"])
        with pytest.raises(InputError, match="attributes: expected names"):
            kf.read_annotations(dataset, raters=RATERS, attributes="texture")
        with pytest.raises(InputError, match="numbers, truth values or text"):
            kf.read_annotations(dataset, raters=RATERS, attributes=["bounding_box"])
