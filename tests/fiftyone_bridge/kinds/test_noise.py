"""Synthetic raters in label fields: what is written, what is known of it, what is left of what went wrong: nothing."""

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.models as fom
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, KalosWarning, NoiseModel, agreement
from kalos_core.fiftyone.runs.stored import load_arrays
from kalos_core.figures import fidelity_title
from kalos_core.figures.experiments import loss_title
from kalos_core.noise import ConfusionClasses
from kalos_core.noise.experiments import signal_loss_table
from kalos_core.noise.parameters import Chance, EventRate, SizeCurve
from tests.fiftyone_bridge.scenes import detection, documents, polyline, without

Make = Callable[..., fo.Dataset]
IMAGES = 30
CLASSES = ("cat", "dog", "cow")


DEFAULT = NoiseModel.default()
MODEL = replace(
    DEFAULT,
    topology=replace(DEFAULT.topology, susceptibility=SizeCurve(intercept=-1.0, slope=0.0), split=Chance(0.5)),
    category=replace(DEFAULT.category, occurrence=Chance(0.2)),
    unmatched=replace(DEFAULT.unmatched, rate=EventRate(intercept=-0.5, slope=0.0)),
)
"""Raters to whom everything happens often enough, whatever the shipped parameters are."""


def annotated(make: Any = detection, **more: Any) -> list[list[Any]]:
    """Four objects on each image but the last, which has none, and the first, which nobody was assigned to."""
    rng = np.random.default_rng(3)
    found = []
    for image in range(IMAGES):
        corners = [(5, 5), (55, 5), (5, 55), (55, 55)] if image < IMAGES - 1 else []
        found.append(
            [
                make(
                    CLASSES[(image + place) % 3],
                    [*(np.array(corner) + rng.uniform(0, 5, 2)), 30 + 2 * place, 25],
                    **{name: value() for name, value in more.items()},
                )
                for place, corner in enumerate(corners)
            ]
        )
    return found


def samples(folder: str = "/pictures", truth: Any = None, **more: Any) -> list[fo.Sample]:
    truth = [fo.Detections(detections=own) for own in annotated()] if truth is None else truth
    truth = [None, *truth[1:]]
    return [
        fo.Sample(
            f"{folder}/{number}.png",
            metadata=fo.ImageMetadata(width=100, height=100),
            truth=truth[number],
            raters=["truth"] if number else [],
            **{name: values[number] for name, values in more.items()},
        )
        for number in range(IMAGES)
    ]


@pytest.fixture(scope="module")
def injected() -> Iterator[tuple[fo.Dataset, kf.Run]]:
    """Three raters of different magnitude, for tests that only read."""
    dataset = fo.Dataset()
    dataset.add_samples(samples(), progress=False)
    yield dataset, kf.inject_noise(dataset, "noise", reference="truth", magnitude=[0, 1, 2], seed=4, model=MODEL)
    dataset.delete()


@pytest.fixture(autouse=True)
def nothing_stays(injected: Any) -> Iterator[None]:  # noqa: ARG001  # made before what is there is counted
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        fo.delete_dataset(name)


@pytest.fixture(autouse=True)
def _annotations_may_reach_beyond_their_image() -> Iterator[None]:
    """Those of raters: their centres stay inside."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* annotations reach beyond their image", KalosWarning)
        yield


@pytest.fixture
def fresh(make: Make) -> fo.Dataset:
    return make(samples())


FIELDS = ("noise_synthetic_1", "noise_synthetic_2", "noise_synthetic_3")


class TestTheFields:
    def test_each_rater_has_one(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        assert kf.noise_raters(dataset, "noise") == FIELDS
        assert kf.synthetic_fields(dataset) == list(FIELDS)
        assert kf.list_runs(dataset, "noise") == ["noise"]
        assert run.written == (
            "the fields 'noise_synthetic_1', 'noise_synthetic_2', 'noise_synthetic_3'; 'noise_changes' on samples, and "
            "'noise_all', 'noise_outcomes' and 'noise_fields' on labels of the reference"
        )
        schema = dataset.get_field_schema(flat=True)
        assert isinstance(schema["noise_synthetic_1.detections.noise"], fo.StringField)
        assert schema["noise_synthetic_2"].description == "synthetic 2, a synthetic rater of the run 'noise'"

    def test_they_hold_what_the_library_generates(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, _ = injected
        reference = kf.read_annotations(dataset, raters=("truth",))
        own = MODEL.generate(reference, 3, [0, 1, 2], seed=4).annotations
        read = kf.read_annotations(dataset, raters=FIELDS)
        assert len(read) == len(own)
        order = [np.lexsort((*table.shapes["box"].bounds().T, table.rater, table.image)) for table in (read, own)]
        for name in ("image", "rater", "category"):
            np.testing.assert_array_equal(getattr(read, name)[order[0]], getattr(own, name)[order[1]])
        boxes = [table.shapes["box"].bounds()[rows] for table, rows in zip((read, own), order, strict=True)]
        np.testing.assert_allclose(*boxes, atol=1e-9)

    def test_at_magnitude_0_they_are_the_reference(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, _ = injected
        ours, theirs = dataset.values([f"{field}.detections.label" for field in ("noise_synthetic_1", "truth")])
        assert ours == theirs
        boxes = dataset.values("noise_synthetic_1.detections.bounding_box")
        expected = dataset.values("truth.detections.bounding_box")
        for ours, theirs in zip(boxes[1:], expected[1:], strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-12)
        assert set(dataset.distinct("noise_synthetic_1.detections.noise")) == {"unchanged"}
        matched = dataset.values("noise_synthetic_1.detections.noise_match")
        assert matched[1:] == [[[label] for label in own] for own in dataset.values("truth.detections.id")[1:]]

    def test_who_was_not_assigned_has_no_labels_and_who_annotated_nothing_has_none_in_a_list(
        self, injected: tuple[fo.Dataset, kf.Run]
    ) -> None:
        dataset, _ = injected
        first, last = dataset.first(), dataset.last()
        assert first["noise_synthetic_1"] is None  # `raters` says that nobody was assigned there
        assert last["noise_synthetic_1"] == fo.Detections()

    def test_labels_say_their_event(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        """Counted again from the labels themselves."""
        dataset, run = injected
        events = run.result.to_pandas()
        done = events[events.outcome == "done"]
        for field in FIELDS[1:]:
            own = Counter(name for names in dataset.values(f"{field}.detections.noise") for name in names or ())
            theirs = Counter(done[done.field == field].event)
            expected = {"split": 2 * theirs["split"], "addition": theirs["addition"], "merge": theirs["merge"]}
            for name, count in expected.items():
                assert own[name] == count, (field, name)
            assert own["wrong_class"] == theirs["wrong_class"]
            false_positives = [
                match
                for names, matches in zip(
                    *dataset.values([f"{field}.detections.noise", f"{field}.detections.noise_match"]), strict=True
                )
                for name, match in zip(names or (), matches or (), strict=True)
                if name == "addition"
            ]
            assert all(match == [] for match in false_positives)

    def test_each_label_lists_the_events_that_are_about_it(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        about: dict[str, list[tuple[str, str, str]]] = {}
        for row in run.result.to_pandas().itertuples():
            for label in {*row.labels, *row.reference_labels}:
                about.setdefault(label, []).append((row.event, row.outcome, row.field))
        names = ("id", "noise_all", "noise_outcomes", "noise_fields")
        for field in (*FIELDS, "truth"):
            paths = [f"{field}.detections.{name}" for name in names]
            of_samples = zip(*dataset.values(paths), strict=True)
            of_labels = [own for lists in of_samples if lists[0] for own in zip(*lists, strict=True)]
            for label, events, outcomes, fields in of_labels:
                assert list(zip(events, outcomes, fields, strict=True)) == about.get(label, [])
            if field != "truth":
                assert [events or ["unchanged"] for _, events, *_ in of_labels] == [
                    [event] for event in dataset.values(f"{field}.detections.noise", unwind=True)
                ]

    def test_wrong_classes_are_wrong(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, _ = injected
        class_of = dict(
            zip(
                dataset.values("truth.detections.id", unwind=True),
                dataset.values("truth.detections.label", unwind=True),
                strict=True,
            )
        )
        field = FIELDS[2]
        paths = [f"{field}.detections.{name}" for name in ("label", "noise", "noise_match")]
        seen = Counter()
        for label, event, (*matched,) in zip(
            *(dataset.values(path, unwind=True) for path in paths[:2]), _lists(dataset, paths[2]), strict=True
        ):
            if event in ("wrong_class", "shift"):
                assert (label != class_of[matched[0]]) is (event == "wrong_class")
                seen[event] += 1
        assert seen["wrong_class"] > 3


def _lists(dataset: fo.Dataset, path: str) -> list[list[str]]:
    return [entry for own in dataset.values(path) for entry in own or ()]


class TestTheRun:
    def test_a_stage_without_events_has_no_loss(self, fresh: fo.Dataset) -> None:
        run = kf.inject_noise(fresh, "noise", reference="truth", raters=1, magnitude=0)
        assert np.isnan(run.details.loss.share).tolist() == [True] * 5
        assert run.metrics["signal_loss"] is None

    def test_the_metrics_are_those_of_the_events(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        _, run = injected
        table = run.result.to_pandas()
        metrics = run.metrics
        for kind, outcomes in metrics["events"].items():
            for outcome, count in outcomes.items():
                assert count == ((table.event == kind) & (table.outcome == outcome)).sum()
        early = table[table.stage != "localization"]
        assert metrics["signal_loss"] == pytest.approx((early.outcome == "lost").mean())
        assert metrics["changed"] == ((table.event != "shift") & (table.outcome == "done")).sum()
        assert metrics["reference_annotations"] == 4 * (IMAGES - 2)
        assert metrics["generated_from"] == 3 * metrics["reference_annotations"]
        assert metrics["changed_images"] == (run.result.changes > 0).sum()
        assert metrics["class_source"] == "class frequency"
        assert run.details.raters.magnitude.tolist() == [0, 1, 2]
        assert run.details.raters.to_pandas().deletion.sum() == metrics["events"]["deletion"]["done"]
        assert NoiseModel.from_json(run.details.model) == MODEL
        assert metrics["model"] == "a model of your own"

    def test_it_is_stored_with_its_truth(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        loaded = kf.load_run(dataset, "noise")
        assert loaded.stale == ()
        assert loaded.metrics == json.loads(json.dumps(run.metrics))
        for name in kf.InjectedNoise.__dataclass_fields__:
            np.testing.assert_array_equal(getattr(loaded.result, name), getattr(run.result, name), name)
        assert {array.dtype.kind for array in load_arrays(dataset, "noise").values()} <= set("iufS")
        assert loaded.result.to_pandas().equals(run.result.to_pandas())

    def test_labels_that_share_an_object_are_of_the_same_reference(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        noise = run.result
        matched = dict(
            zip(
                [label for field in FIELDS for label in dataset.values(f"{field}.detections.id", unwind=True)],
                [ids for field in FIELDS for ids in _lists(dataset, f"{field}.detections.noise_match")],
                strict=True,
            )
        )
        assert set(matched) == set(noise.label_ids.tolist())
        for label, objects in zip(noise.label_ids.tolist(), noise.object.tolist(), strict=True):
            own = [noise.original_ids[row] for row in objects if 0 <= row < len(noise.original_ids)]
            assert sorted(matched[label]) == sorted(own)

    def test_changed_reference_labels_are_found(self, fresh: fo.Dataset) -> None:
        kf.inject_noise(fresh, "noise", reference="truth", raters=1)
        sample = fresh.last()
        sample.truth = fo.Detections(detections=[detection("cat", [1, 1, 9, 9])])
        sample.save()
        assert kf.stale_samples(fresh, "noise") == [sample.id]
        assert kf.load_run(fresh, "noise").stale == (sample.id,)

    def test_the_same_seed_gives_the_same_raters(self, fresh: fo.Dataset) -> None:
        for key in ("one", "two"):
            kf.inject_noise(fresh, key, reference="truth", raters=["ann b"], magnitude=2, seed=9)
        one, two = (fresh.values(f"{key}_ann_b.detections.bounding_box") for key in ("one", "two"))
        assert one == two

    def test_it_cannot_be_renamed(self, fresh: fo.Dataset) -> None:
        kf.inject_noise(fresh, "noise", reference="truth", raters=1)
        with pytest.raises(InputError, match="expected a run that can be renamed, got 'noise'"):
            kf.rename_run(fresh, "noise", "other")
        assert kf.noise_raters(fresh, "noise") == ("noise_synthetic_1",)


class TestOtherAnalyses:
    def test_they_are_raters(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset = injected[0].clone()
        run = kf.compute_agreement(dataset, "agreement", raters=kf.noise_raters(dataset, "noise"))
        assert run.metrics["images"] == IMAGES
        assert run.result.annotations.assigned.sum() == 3 * (IMAGES - 1)
        kf.compute_agreement(dataset, "calm", raters=[*FIELDS[:1], "truth"])
        assert kf.load_metrics(dataset, "calm").metrics["alpha"] == 1
        found = kf.find_variations(dataset, "found", raters=["truth", FIELDS[1]])
        assert found.metrics["counts"]["correct"] > 30

    def test_reference_and_synthetic_raters_are_one_table(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, _ = injected
        raters = kf.noise_raters(dataset, "noise", with_reference=True)
        assert raters == ("truth", *FIELDS)
        both = kf.read_annotations(dataset, raters=raters)
        own = MODEL.generate(kf.read_annotations(dataset, raters=("truth",)), 3, [0, 1, 2], seed=4).with_reference()
        assert both.raters.tolist() == list(raters)
        assert np.bincount(both.rater).tolist() == np.bincount(own.rater).tolist()
        assert agreement(both, bootstrap=0).alpha == pytest.approx(agreement(own, bootstrap=0).alpha)

    def test_everybody_is_assigned_where_no_field_says_otherwise(self, make: Make) -> None:
        dataset = make(samples())
        dataset.delete_sample_field("raters")
        kf.inject_noise(dataset, "noise", reference="truth", raters=2)
        read = kf.read_annotations(dataset, raters=kf.noise_raters(dataset, "noise"))  # a warning would be an error
        assert read.assigned.all()

    def test_deleting_removes_the_fields_and_nothing_else(self, fresh: fo.Dataset) -> None:
        before, schema = documents(fresh), set(fresh.get_field_schema(flat=True))
        kf.inject_noise(fresh, "noise", reference="truth", magnitude=2)
        kf.compute_agreement(fresh, "agreement", raters=kf.noise_raters(fresh, "noise"))
        kf.delete_run(fresh, "noise")
        kf.delete_run(fresh, "agreement")
        assert without(documents(fresh), {"agreement_alpha"}) == before
        assert set(fresh.get_field_schema(flat=True)) == schema
        assert fresh.list_runs() == []

    def test_the_reference_is_given_lists_of_events_and_nothing_else(self, fresh: fo.Dataset) -> None:
        before = documents(fresh)
        kf.inject_noise(fresh, "noise", reference="truth", magnitude=3)
        given = {"noise_all", "noise_outcomes", "noise_fields"}
        assert without(documents(fresh), {*FIELDS, "noise_changes", *given}) == before
        of_images = [document["truth"]["detections"] for document in documents(fresh).values() if document.get("truth")]
        assert all(given < label.keys() for labels in of_images for label in labels)
        assert kf.stale_samples(fresh, "noise") == []
        assert kf.count_changes(fresh, "noise") == 0

    def test_a_rater_may_be_called_like_a_field_of_the_run(self, fresh: fo.Dataset) -> None:
        kf.inject_noise(fresh, "noise", reference="truth", raters=["changes"])
        assert kf.noise_raters(fresh, "noise") == ("rater_noise_changes",)

    def test_a_field_that_is_there_is_left_alone(self, fresh: fo.Dataset) -> None:
        fresh.add_sample_field("noise_synthetic_1", fo.StringField)
        fresh.set_values("noise_synthetic_1", ["mine"] * IMAGES)
        kf.inject_noise(fresh, "noise", reference="truth", raters=1)
        assert kf.noise_raters(fresh, "noise") == ("rater_noise_synthetic_1",)
        kf.delete_run(fresh, "noise")
        assert fresh.values("noise_synthetic_1") == ["mine"] * IMAGES


class TestKinds:
    def test_masks(self, make: Make) -> None:
        own = annotated(mask=lambda: np.tri(25, 30, dtype=bool))
        dataset = make(samples(truth=[fo.Detections(detections=labels) for labels in own]))
        kf.inject_noise(dataset, "noise", reference="truth", magnitude=[0, 2], raters=2)
        same, other = kf.noise_raters(dataset, "noise")
        read = kf.read_annotations(dataset, similarity="mask_iou", raters=("truth", same))
        areas = [np.sort(read.shapes["mask"].area()[read.rater == code]) for code in (0, 1)]
        np.testing.assert_allclose(areas[0], areas[1])
        assert all(label.mask is not None for label in dataset.values(f"{other}.detections", unwind=True))

    def test_polylines(self, make: Make) -> None:
        own = [labels[: 1 + number % 4] for number, labels in enumerate(annotated(polyline))]  # room to add some
        dataset = make(samples(truth=[fo.Polylines(polylines=labels) for labels in own]))
        run = kf.inject_noise(dataset, "noise", reference="truth", magnitude=4, false_positive_source="transplanted")
        field, *_ = kf.noise_raters(dataset, "noise")
        labels = dataset.values(f"{field}.polylines", unwind=True)
        assert {type(label) for label in labels} == {fo.Polyline}
        assert all(label.closed and label.points for label in labels)
        assert run.metrics["events"]["addition"]["done"] > 0
        kf.compute_agreement(dataset, "agreement", raters=kf.noise_raters(dataset, "noise"))

    def test_one_field_whose_labels_name_their_rater(self, make: Make) -> None:
        both = [
            fo.Detections(detections=[*own, *(detection("cat", [40, 40, 9, 9], rater="bob") for _ in own[:1])])
            for own in annotated(rater=lambda: "ann")
        ]
        dataset = make(samples(truth=both))
        dataset.delete_sample_field("raters")
        run = kf.inject_noise(dataset, "noise", reference="ann", raters=1, magnitude=0, field="truth", assigned="all")
        assert run.metrics["references"] == ["ann"]
        with pytest.raises(InputError, match="with_reference: expected a reference in a field of its own, got 'truth'"):
            kf.noise_raters(dataset, "noise", with_reference=True)
        assert run.metrics["annotations"] == 4 * (IMAGES - 2)

    def test_a_reference_that_is_in_no_list_was_assigned_where_its_labels_are(self, fresh: fo.Dataset) -> None:
        fresh.set_values("raters", [["ann"]] * IMAGES)
        kf.inject_noise(fresh, "noise", reference="truth", raters=1)
        assert fresh.exists("noise_synthetic_1").values("id") == fresh.exists("truth").values("id")

    def test_a_view(self, fresh: fo.Dataset) -> None:
        view = fresh[5:15]
        run = kf.inject_noise(view, "noise", reference="truth", raters=1)
        assert run.metrics["images"] == 10
        assert fresh.exists("noise_synthetic_1").values("id") == view.values("id")

    def test_a_grouped_data_set(self) -> None:
        dataset = fo.Dataset()
        dataset.add_group_field("group", default="left")
        grouped = []
        for sample in samples():
            group = fo.Group()
            sample["group"] = group.element("left")
            grouped += [sample, fo.Sample(f"{sample.filepath}.right.png", group=group.element("right"))]
        dataset.add_samples(grouped, progress=False)
        kf.inject_noise(dataset, "noise", reference="truth", raters=1)
        assert dataset.count("noise_synthetic_1.detections") > 50
        dataset.group_slice = "right"
        assert dataset.count("noise_synthetic_1") == 0
        kf.delete_run(dataset, "noise")
        assert "noise_synthetic_1" not in dataset.get_field_schema()


class Colour(fom.Model):  # type: ignore[misc]
    """Embeds a patch as its mean colour."""

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken

    media_type = "image"
    has_embeddings = True
    ragged_batches = True

    @property
    def transforms(self) -> None:
        return None

    @property
    def preprocess(self) -> bool:
        return False

    def predict(self, arg: Any) -> Any:
        self._last = np.asarray(arg).reshape(-1, 3).mean(axis=0)
        return None

    def embed(self, arg: Any) -> Any:
        self.predict(arg)
        return self.get_embeddings()

    def get_embeddings(self) -> Any:
        return np.full(3, np.nan) if self.broken else self._last + 1


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Grey images, each with a bright square in the middle."""
    folder = tmp_path_factory.mktemp("images")
    pixels = np.full((100, 100, 3), 120, np.uint8)
    pixels[42:55, 42:55] = (250, 240, 20)
    for number in range(IMAGES):
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


class TestSources:
    def test_confusions_of_the_other_raters(self, make: Make) -> None:
        """Bob takes each cat for a dog; so does a synthetic rater, nearly always."""
        swapped = annotated()
        for own in swapped:
            for label in own:
                label.label = {"cat": "dog"}.get(label.label, label.label)
        dataset = make(samples(bob=[fo.Detections(detections=own) for own in swapped]))
        dataset.set_values("raters", [["truth", "bob"]] * IMAGES)
        run = kf.inject_noise(
            dataset,
            "noise",
            reference="truth",
            raters=4,
            model=MODEL,
            real_raters=("truth", "bob"),
        )
        assert run.metrics["class_source"].startswith("confusions of classes (")
        assert run.label_fields == ("truth", "bob")
        table = run.result.to_pandas()
        wrong = table[(table.event == "wrong_class") & (table.outcome == "done") & (table.class_from == "cat")]
        assert len(wrong) > 3
        assert (wrong.class_to == "dog").mean() > 0.9

    def test_embeddings_in_an_attribute(self, make: Make) -> None:
        """Cats are dogs, nearly; cows are far away."""
        vectors = {"cat": [1.0, 0.0], "dog": [0.95, 0.05], "cow": [0.0, 1.0]}
        own = annotated()
        for labels in own:
            for label in labels:
                label["vector"] = np.array(vectors[label.label])
        dataset = make(samples(truth=[fo.Detections(detections=labels) for labels in own]))
        run = kf.inject_noise(
            dataset, "noise", reference="truth", raters=4, model=MODEL, class_source="embeddings", embeddings="vector"
        )
        assert run.metrics["class_source"] == "embeddings in 'vector' of 3 classes"
        table = run.result.to_pandas()
        cats = table[(table.event == "wrong_class") & (table.outcome == "done") & (table.class_from == "cat")]
        assert len(cats) > 3
        assert set(cats.class_to) == {"dog"}

    def test_embeddings_of_a_model(self, make: Make, files: Path) -> None:
        dataset = make(samples(str(files)))
        run = kf.inject_noise(
            dataset, "noise", reference="truth", raters=1, class_source="embeddings", embeddings=Colour()
        )
        assert run.metrics["class_source"] == "embeddings by Colour of 3 classes"

    def test_a_taxonomy(self, fresh: fo.Dataset, tmp_path: Path) -> None:
        tree = {"pet": ["cat", "dog"], "farm": ["cow"]}
        (tmp_path / "tree.json").write_text(json.dumps(tree))
        for key, given in (("one", tree), ("two", tmp_path / "tree.json")):
            run = kf.inject_noise(
                fresh, key, reference="truth", raters=1, magnitude=9, class_source="taxonomy", taxonomy=given
            )
            assert run.metrics["class_source"] == "taxonomy of 5 names"
        one, two = (fresh.values(f"{key}_synthetic_1.detections.label") for key in ("one", "two"))
        assert one == two

    def test_what_a_detector_found(self, make: Make) -> None:
        net = [fo.Detections(detections=[detection("thing", [43, 43, 8, 8])]) for _ in range(IMAGES)]
        dataset = make(samples(net=net))
        run = kf.inject_noise(
            dataset,
            "noise",
            reference="truth",
            raters=1,
            magnitude=9,
            false_positive_source="detections",
            detections="net",
        )
        (field,) = kf.noise_raters(dataset, "noise")
        added = dataset.filter_labels(field, fo.ViewField("noise") == "addition").values(
            f"{field}.detections", unwind=True
        )
        assert len(added) == run.metrics["events"]["addition"]["done"] > 0
        for label in added:
            assert label.bounding_box == pytest.approx([0.43, 0.43, 0.08, 0.08])
            assert label.label in CLASSES

    def test_regions_of_the_images(self, make: Make, files: Path) -> None:
        dataset = make(samples(str(files)))
        run = kf.inject_noise(
            dataset, "noise", reference="truth", raters=1, magnitude=9, false_positive_source="images"
        )
        assert run.metrics["false_positive_source"] == "regions of the images (scikit-image)"
        (field,) = kf.noise_raters(dataset, "noise")
        added = dataset.filter_labels(field, fo.ViewField("noise") == "addition").values(
            f"{field}.detections", unwind=True
        )
        assert added
        for label in added:  # the bright square
            assert label.bounding_box == pytest.approx([0.42, 0.42, 0.13, 0.13], abs=0.02)

    def test_a_source_of_ones_own(self, fresh: fo.Dataset) -> None:
        source = ConfusionClasses(["cat", "cow"], [[0, 9], [9, 0]])
        run = kf.inject_noise(fresh, "noise", reference="truth", raters=1, class_source=source)
        assert run.metrics["class_source"] == source.name

    def test_a_model_from_a_file_and_one_of_the_data(self, fresh: fo.Dataset, tmp_path: Path) -> None:
        (tmp_path / "model.json").write_text(NoiseModel.default().to_json())
        run = kf.inject_noise(fresh, "noise", reference="truth", raters=2, model=tmp_path / "model.json")
        assert run.metrics["model"] == "model.json"
        fitted = kf.inject_noise(
            fresh,
            "again",
            reference="truth",
            raters=1,
            model="fit",
            real_raters=run.metrics["fields"],
        )
        assert fitted.metrics["model"] == "fitted on noise_synthetic_1, noise_synthetic_2, truth"
        model = NoiseModel.from_json(fitted.details.model)
        assert model != NoiseModel.default()
        assert "fitted" in {origin.source for origin in model.provenance.values()}

    def test_a_fitted_model_says_whether_its_raters_differ_as_the_real_ones(self, fresh: fo.Dataset) -> None:
        real = kf.inject_noise(fresh, "noise", reference="truth", raters=2)
        assert real.details.fidelity == real.details.rate_tests
        assert real.details.fidelity.reason.endswith("two or more: only truth here")
        assert kf.figures_of(real)["fidelity"].figure is None
        options = {"reference": "truth", "real_raters": real.metrics["fields"], "model": "fit", "preset": "paper"}
        run = kf.inject_noise(fresh, "again", raters=1, rate="exponential", shifts="matched", **options)
        model = NoiseModel.from_json(run.details.model)
        assert model.shifts == "matched"
        assert model.unmatched.rate.form == "exponential"
        stored = kf.load_details(fresh, "again")
        found = stored.details.fidelity
        labels = kf.read_annotations(fresh, similarity="mask_iou", raters=(*real.metrics["fields"], "truth"))
        expected = model.fidelity(labels, 10)
        assert found.quantity.tolist() == expected.quantity.tolist()
        assert found.synthetic.tolist() == pytest.approx(expected.synthetic.tolist())
        assert found.inside.tolist() == expected.inside.tolist()
        fitted = NoiseModel.fit(labels, rate="exponential", shifts="matched", preset="paper")
        assert stored.details.rate_tests.to_pandas().equals(fitted.rate_tests().to_pandas())
        part = kf.figures_of(stored)["fidelity"]
        assert part.title == fidelity_title(expected)
        assert len(part.figure.data) == 3

    def test_signal_loss_stands_beside_the_papers(self, fresh: fo.Dataset) -> None:
        run = kf.inject_noise(fresh, "noise", reference="truth", raters=1, shifts="free", seed=3)
        model = NoiseModel.default().with_shifts("free")
        assert NoiseModel.from_json(run.details.model) == model
        expected = signal_loss_table(model, kf.read_annotations(fresh, raters=("truth",)), raters=5, seed=3)
        stored = kf.load_details(fresh, "noise")
        assert stored.details.loss_by_magnitude.to_pandas().equals(expected.to_pandas())
        part = kf.figures_of(stored)["loss"]
        assert part.title == loss_title(expected)
        assert list(part.figure.data[0].y) == pytest.approx((100 * expected.ratio).tolist())
        assert list(part.figure.data[1].y) == pytest.approx([0.2, 1.3, 4.2, 10.1, 28.3])

    def test_schools(self, fresh: fo.Dataset) -> None:
        run = kf.inject_noise(fresh, "noise", reference="truth", raters=4, schools=[3, 1], seed=2)
        assert run.details.raters.reference.tolist() == ["school 1"] * 3 + ["school 2"]
        assert run.settings["schools"] == [3, 1]
        known = set(fresh.values("truth.detections.id", unwind=True))
        matched = {
            label for ids in _lists(fresh, f"{run.metrics['fields'][0]}.detections.noise_match") for label in ids
        }
        assert matched <= known
        assert set(run.result.original_ids) == known
        assert all(set(ids) <= known for ids in run.result.to_pandas().reference_labels)


class TestViews:
    @pytest.mark.parametrize("event", ["addition", "wrong_class", "merge", "split", "deletion"])
    def test_an_event_leads_to_its_labels(self, injected: tuple[fo.Dataset, kf.Run], event: str) -> None:
        dataset, run = injected
        table = run.result.to_pandas()
        rows = table[(table.event == event) & (table.outcome == "done")]
        assert len(rows)
        view = kf.view_of_event(dataset, "noise", event)
        assert set(view.values("id")) == set(rows["sample"])
        shown = {label for field in (*FIELDS, "truth") for label in view.values(f"{field}.detections.id", unwind=True)}
        expected = {label for name in ("labels", "reference_labels") for ids in rows[name] for label in ids}
        assert shown - {None} == expected
        assert len(json.dumps(view._serialize())) < 10_000

    def test_lost_events_lead_to_the_reference(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        table = run.result.to_pandas()
        lost = table[(table.event == "wrong_class") & (table.outcome == "lost")]
        view = kf.view_of_event(dataset, "noise", "wrong_class", "lost")
        assert set(view.values("id")) == set(lost["sample"])
        assert not any(view.values(f"{FIELDS[2]}.detections.id"))

    def test_of_one_rater(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        table = run.result.to_pandas()
        own = table[(table.field == FIELDS[1]) & (table.event != "shift") & (table.outcome == "done")]
        view = kf.view_of_event(dataset, "noise", kf.CHANGES, rater=FIELDS[1])
        assert set(view.values("id")) == set(own["sample"])
        shown = {label for field in FIELDS for label in view.values(f"{field}.detections.id", unwind=True)}
        assert shown - {None} == {label for ids in own["labels"] for label in ids}
        assert len(json.dumps(view._serialize())) < 10_000
        assert len(kf.view_of_event(dataset, "noise", kf.CHANGES, rater=FIELDS[0])) == 0

    def test_images_with_the_most_events_come_first(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        table = run.result.to_pandas()
        counts = Counter(table[(table.event != "shift") & (table.outcome == "done")]["sample"])
        found = kf.noisy_images(dataset, "noise")
        assert {image.sample_id: image.changed for image in found} == counts
        assert [image.changed for image in found] == sorted(counts.values(), reverse=True)
        first = table[(table.event != "shift") & (table.outcome == "done") & (table["sample"] == found[0].sample_id)]
        assert {kind: count for kind, count in found[0].events.items() if count} == Counter(first.event)
        changes = dict(zip(*dataset.values(["id", "noise_changes"]), strict=True))
        assert {key: count for key, count in changes.items() if count} == counts
        view = kf.view_of_changes(dataset, "noise")
        assert view.values("id") == [image.sample_id for image in found]
        assert len(json.dumps(view._serialize())) < 1_000
        assert kf.noisy_images(dataset, "noise", 3) == found[:3]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("jump",), "event: expected one of 'addition', 'deletion'"),
            (("split", "gone"), "outcome: expected one of 'done', 'impossible', 'lost', got 'gone'"),
            (("split", "done", "truth"), "rater: expected one of 'noise_synthetic_1'"),
        ],
    )
    def test_what_is_unknown_is_refused(
        self, injected: tuple[fo.Dataset, kf.Run], arguments: tuple[str, ...], message: str
    ) -> None:
        with pytest.raises(InputError, match=re.escape(message)):
            kf.view_of_event(injected[0], "noise", *arguments)


class TestPreview:
    def test_it_shows_both_and_writes_nothing(self, fresh: fo.Dataset, files: Path) -> None:
        before = documents(fresh)
        shown = kf.preview_noise(fresh, reference="truth", magnitude=2, seed=1)
        assert shown.image.startswith("data:image/svg+xml;base64,")
        assert (shown.width, shown.height, shown.file) == (520, 520, "1.png")  # nobody was assigned to the first
        assert "moved" in shown.message
        assert documents(fresh) == before
        other = kf.preview_noise(fresh, reference="truth", magnitude=2, seed=1, sample_id=fresh.skip(9).first().id)
        assert other.file == "9.png"
        empty = kf.preview_noise(fresh, reference="truth", sample_id=fresh.last().id)
        assert empty.file == "1.png"  # on the last there is nothing to see
        assert kf.preview_noise(fresh, reference="truth", magnitude=0).message == "unchanged"
        with_pixels = fo.Dataset()
        with_pixels.add_samples(samples(str(files)), progress=False)
        assert len(kf.preview_noise(with_pixels, reference="truth").image) > 1000


class TestFigures:
    def test_events_and_the_images_with_most(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        dataset, run = injected
        found = kf.noisy_images(dataset, "noise", 2)
        parts = kf.figures_of(kf.load_details(dataset, "noise"), images=found)
        assert parts["events"].title.startswith("3 synthetic raters from truth: ")
        assert sum(sum(bars.x) for bars in parts["events"].figure.data) == sum(
            sum(outcomes.values()) for kind, outcomes in run.metrics["events"].items() if kind != "shift"
        )
        assert parts["images"].title == (
            f"{run.metrics['changed_images']} of {IMAGES} images have events; the most: {found[0].changed} on "
            f"{found[0].file}"
        )
        assert sum(sum(bars.x) for bars in parts["images"].figure.data) == found[0].changed + found[1].changed

    def test_without_events(self, injected: tuple[fo.Dataset, kf.Run]) -> None:
        shown = kf.figures_of(injected[1], images=[])["images"]
        assert shown.title == "On no image was an annotation missed, added, split, merged or misnamed"
        assert shown.figure is None


BROKEN_MODELS = {
    "another version": '{"format": "kalos noise model", "version": 99}',
    "missing parts": json.dumps({**json.loads(NoiseModel.default().to_json()), "topology": {}}),
}


@pytest.fixture(scope="module")
def broken() -> Iterator[fo.Dataset]:
    """Embeddings of one class that are NaN, and of others that are missing; points; a rater without annotations."""
    own = annotated()
    for labels in own:
        for label in labels:
            label["nan"] = [1.0, math.nan if label.label == "cow" else 2.0]
            if label.label == "cat":
                label["half"] = [1.0, 2.0]
    dataset = fo.Dataset()
    points = [fo.Keypoints(keypoints=[fo.Keypoint(label="cat", points=[(0.1, 0.1)])]) for _ in range(IMAGES)]
    bare = [fo.Detections() for _ in range(IMAGES)]
    truth = [fo.Detections(detections=labels) for labels in own]
    dataset.add_samples(samples(truth=truth, points=points, bare=bare), progress=False)
    yield dataset
    dataset.delete()


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"magnitude": -1}, "magnitude: expected finite numbers of 0 or more, got -1"),
            ({"magnitude": [1, math.nan, 1]}, "magnitude: expected finite numbers of 0 or more"),
            ({"magnitude": [1, 2]}, "magnitude: expected one number, or one for each of 3 raters, got 2"),
            ({"raters": 0}, "raters: expected a whole number of at least 1, got 0"),
            ({"raters": ["a", "a"]}, "raters: expected names, each once"),
            ({"schools": [1, 1]}, "schools: expected sizes that add up to 3 raters"),
            (
                {"reference": "nobody"},
                "reference: expected a rater, or a field of Detections, Polylines or Keypoints, got 'nobody'",
            ),
            (
                {"reference": "points"},
                "reference: expected labels with boxes, all Detections or all Polylines, got keypoints",
            ),
            ({"reference": "bare"}, "reference: expected a rater with annotations, got 'bare', who has none"),
            (
                {"class_source": "magic"},
                "class_source: expected one of 'confusion', 'embeddings', 'taxonomy', got 'magic'",
            ),
            ({"class_source": "taxonomy"}, "taxonomy: expected a tree of classes, or the path of its JSON, got none"),
            (
                {"class_source": "taxonomy", "taxonomy": {"pet": ["cat", "dog"]}},
                "taxonomy: expected every class of the reference, got nothing about 'cow'",
            ),
            ({"class_source": "taxonomy", "taxonomy": "/no/tree.json"}, "tree.json"),
            ({"class_source": "embeddings"}, "embeddings: expected an attribute"),
            ({"class_source": "embeddings", "embeddings": "no-such-model"}, "or a zoo model that is downloaded"),
            (
                {"class_source": "embeddings", "embeddings": "half"},
                "embeddings: expected every class of the reference, got nothing about",
            ),
            (
                {"class_source": "embeddings", "embeddings": "nan"},
                "embeddings: expected finite numbers, got NaN or infinity",
            ),
            (
                {"class_source": "embeddings", "embeddings": 7},
                "embeddings: expected a FiftyOne model that embeds images, got 7",
            ),
            ({"false_positive_source": "detections"}, "detections: expected a field of detections, one of"),
            (
                {"false_positive_source": "detections", "detections": "truth"},
                "detections: expected another field than the reference's",
            ),
            (
                {"false_positive_source": "detections", "detections": "points"},
                "detections: expected a field of Detections or Polylines, got keypoints",
            ),
            ({"false_positive_source": "images"}, "images: 30 records cannot be used"),
            ({"model": "/no/model.json"}, "model.json"),
            ({"model": 3}, "model: expected 'default', 'fit', a NoiseModel or a path of its JSON, got 3"),
            ({"rate": "power"}, "rate: expected 'auto' unless the model is fitted (model='fit'), got 'power'"),
            ({"shifts": "wild"}, "shifts: expected"),
            ({"model": "fit"}, "model: expected two real raters or more to fit one, got truth"),
            ({"model": BROKEN_MODELS["another version"]}, "noise model: expected version 2, got 99"),
            ({"model": BROKEN_MODELS["missing parts"]}, "topology: expected the parts"),
            ({"clases": ["cat"]}, "unknown argument clases: expected one of"),
        ],
        ids=lambda value: str(value)[:60] if isinstance(value, dict) else "",
    )
    def test_the_message_names_it_and_nothing_is_left(
        self, broken: fo.Dataset, options: dict[str, Any], message: str
    ) -> None:
        before, schema = repr(documents(broken)), set(broken.get_field_schema(flat=True))
        with pytest.raises(InputError, match=re.escape(message)):
            kf.inject_noise(broken, "noise", **{"reference": "truth", **options})
        assert repr(documents(broken)) == before  # one NaN is no other
        assert set(broken.get_field_schema(flat=True)) == schema
        assert broken.list_runs() == []

    def test_a_model_that_gives_nan(self, make: Make, files: Path) -> None:
        dataset = make(samples(str(files)))
        with pytest.raises(InputError, match="embeddings: expected finite numbers, got NaN or infinity for"):
            kf.inject_noise(
                dataset, "noise", reference="truth", class_source="embeddings", embeddings=Colour(broken=True)
            )
        assert dataset.list_runs() == []

    def test_images_of_unknown_size(self, make: Make) -> None:
        dataset = make(samples())
        dataset.set_values("metadata", [None] * IMAGES)
        with pytest.raises(InputError, match=r"the size of 30 of 30 images is unknown .* run compute_metadata\(\)"):
            kf.inject_noise(dataset, "noise", reference="truth")

    def test_without_a_reference_it_says_who_there_is(self, make: Make) -> None:
        dataset = make(samples(other=[fo.Detections() for _ in range(IMAGES)]))
        with pytest.raises(
            InputError, match="reference: expected the rater or label field to generate raters from, one of"
        ):
            kf.inject_noise(dataset, "noise")

    def test_a_key_that_is_taken(self, fresh: fo.Dataset) -> None:
        kf.inject_noise(fresh, "noise", reference="truth", raters=1)
        with pytest.raises(InputError, match="'noise' is the key of another run"):
            kf.inject_noise(fresh, "noise", reference="truth", raters=1)
        assert kf.noise_raters(fresh, "noise") == ("noise_synthetic_1",)


def write_few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("database", "encoding", "writing"):
        monkeypatch.setattr(f"kalos_core.fiftyone.dataset.{module}.BLOCK", 7)


class TestStopped:
    @pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.55, 0.6, 0.8])
    def test_half_way_it_leaves_nothing(self, fresh: fo.Dataset, monkeypatch: pytest.MonkeyPatch, share: float) -> None:
        write_few_at_once(monkeypatch)
        before, schema = documents(fresh), set(fresh.get_field_schema(flat=True))

        def stop(done: float, label: str) -> None:
            if done >= share:
                raise RuntimeError(f"stopped at {label}")

        with pytest.raises(RuntimeError, match="stopped at"):
            kf.inject_noise(fresh, "noise", reference="truth", progress=stop)
        assert documents(fresh) == before
        assert set(fresh.get_field_schema(flat=True)) == schema
        assert fresh.list_runs() == []

    def test_some_labels_are_there_when_it_is_stopped_in_between(
        self, fresh: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The test above would pass if nothing were ever written before the end."""
        write_few_at_once(monkeypatch)
        seen: list[int] = []

        def count(done: float, _: str) -> None:
            if done > 0.6:
                found = fresh._sample_collection.count_documents({"noise_synthetic_1": {"$exists": True, "$ne": None}})
                seen.append(found)

        kf.inject_noise(fresh, "noise", reference="truth", progress=count)
        assert seen == [0, 7, 14, 21, 29]  # written 7 samples at a time; the first of 30 has no labels

    @pytest.mark.parametrize(("share", "message"), [(0.5, "1 sample was changed"), (0.6, "1 sample was deleted")])
    def test_samples_that_vanish_are_an_error(self, fresh: fo.Dataset, share: float, message: str) -> None:
        last = fresh.last().id

        def vanish(done: float, _: str) -> None:
            if done == share:
                fresh.delete_samples([last])

        with pytest.raises(KalosError, match=f"{message} while this run was computed"):
            kf.inject_noise(fresh, "noise", reference="truth", progress=vanish)
        assert fresh.list_runs() == []
        assert kf.synthetic_fields(fresh) == []
