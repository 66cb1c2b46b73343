"""Synthetic raters in label fields: written labels, stored facts, and complete cleanup after failures."""

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.core.models as fom
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, KalosWarning, NoiseModel, agreement
from kalos_core.fiftyone.dataset.raters import synthetic_fields
from kalos_core.fiftyone.kinds.noise.views import CHANGES, noisy_images, view_of_changes, view_of_event
from kalos_core.fiftyone.runs.table import Run
from kalos_core.noise import InjectedNoise
from kalos_core.noise.parameters import Chance, EventRate, SizeCurve
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.noisy import CLASSES, FIELDS, IMAGES, annotated, samples
from tests.fiftyone_bridge.scenes import detection, documents, polyline, untouched, without
from tests.tiers import extended

DEFAULT = NoiseModel.default()
MODEL = replace(
    DEFAULT,
    topology=replace(DEFAULT.topology, susceptibility=SizeCurve(intercept=-1.0, slope=0.0), split=Chance(0.5)),
    category=replace(DEFAULT.category, occurrence=Chance(0.2)),
    unmatched=replace(DEFAULT.unmatched, rate=EventRate(-0.5, 0.0), added=EventRate(-0.5, 0.0)),
)
"""Raters with frequent events, independent of the shipped parameters."""


def inject(dataset: Any, key: str = "noise", **options: Any) -> Run:
    """Inject one rater from the reference, by default."""
    return kf.inject_noise(dataset, key, **{"reference": "truth", "raters": 1, **options})


@pytest.fixture(scope="module")
def injected(make_once: Make) -> tuple[fo.Dataset, Run]:
    """Return three raters of different magnitude, for tests that only read."""
    dataset = make_once(samples)
    return dataset, inject(dataset, raters=3, magnitude=[0, 1, 2], seed=16, model=MODEL)


@pytest.fixture(autouse=True)
def _annotations_may_reach_beyond_their_image() -> Iterator[None]:
    """Ignore warnings about annotations outside of their image, which these raters have; their centres are inside."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* annotations reach beyond their image", KalosWarning)
        yield


@pytest.fixture
def fresh(make: Make) -> fo.Dataset:
    return make(samples)


def in_rows(dataset: fo.Dataset, field: str, *names: str) -> list[tuple[Any, ...]]:
    """Return attributes of each label of a field."""
    columns = dataset.values([f"{field}.detections.{name}" for name in names])
    return [row for own in zip(*columns, strict=True) if own[0] for row in zip(*own, strict=True)]


# ---- fields ----


def test_each_rater_has_a_field(injected):
    dataset, _ = injected
    assert kf.noise_raters(dataset, "noise") == FIELDS
    assert synthetic_fields(dataset) == list(FIELDS)
    assert kf.list_runs(dataset, "noise") == ["noise"]
    first, last = dataset.first(), dataset.last()
    assert first["noise_synthetic_1"] is None  # `raters` says that no rater is assigned there
    assert last["noise_synthetic_1"] == fo.Detections()


def test_fields_hold_what_the_library_generates(injected):
    dataset, _ = injected
    made = MODEL.generate(kf.read_annotations(dataset, raters=("truth",)), 3, [0, 1, 2], seed=16)
    own, read = made.annotations, kf.read_annotations(dataset, raters=FIELDS)
    assert len(read) == len(own)
    order = [np.lexsort((*table.shapes["box"].bounds().T, table.rater, table.image)) for table in (read, own)]
    for name in ("image", "rater", "category"):
        np.testing.assert_array_equal(getattr(read, name)[order[0]], getattr(own, name)[order[1]])
    boxes = [table.shapes["box"].bounds()[rows] for table, rows in zip((read, own), order, strict=True)]
    np.testing.assert_allclose(*boxes, atol=1e-9)
    raters = kf.noise_raters(dataset, "noise", with_reference=True)
    assert raters == ("truth", *FIELDS)
    both, expected = kf.read_annotations(dataset, raters=raters), made.with_reference()
    assert both.raters.tolist() == list(raters)
    assert np.bincount(both.rater).tolist() == np.bincount(expected.rater).tolist()
    assert agreement(both, bootstrap=0).alpha == pytest.approx(agreement(expected, bootstrap=0).alpha)


def test_labels_say_their_event(injected):
    """Recount from labels; a wrong class differs, a shifted label keeps its class."""
    dataset, run = injected
    events = run.result.to_pandas()
    done = events[events.outcome == "done"]
    class_of = dict(in_rows(dataset, "truth", "id", "label"))
    for field in FIELDS[1:]:
        rows = in_rows(dataset, field, "label", "noise", "noise_match")
        own, theirs = Counter(event for _, event, _ in rows), Counter(done[done.field == field].event)
        assert own["split"] == 2 * theirs["split"]
        for name in ("addition", "merge", "wrong_class"):
            assert own[name] == theirs[name], (field, name)
        assert not any(match for _, event, match in rows if event == "addition")
        for label, event, match in rows:
            if event in ("wrong_class", "shift"):
                assert (label != class_of[match[0]]) is (event == "wrong_class")
    assert own["wrong_class"] > 3


def test_a_field_that_is_there_is_left_alone(fresh):
    """A rater may also have the name of a field of the run."""
    fresh.add_sample_field("noise_synthetic_1", fo.StringField)
    fresh.set_values("noise_synthetic_1", ["mine"] * IMAGES)
    inject(fresh, raters=["synthetic 1", "changes"])
    assert kf.noise_raters(fresh, "noise") == ("rater_noise_synthetic_1", "rater_noise_changes")
    kf.delete_run(fresh, "noise")
    assert fresh.values("noise_synthetic_1") == ["mine"] * IMAGES


# ---- runs ----


def test_the_metrics_are_those_of_the_events(injected):
    _, run = injected
    table, metrics = run.result.to_pandas(), run.metrics
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


def test_it_is_stored_with_its_truth(injected):
    dataset, run = injected
    loaded = kf.load_run(dataset, "noise")
    for name in InjectedNoise.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(loaded.result, name), getattr(run.result, name), name)
    matched = dict(row for field in FIELDS for row in in_rows(dataset, field, "id", "noise_match"))
    noise = run.result
    assert set(matched) == set(noise.label_ids.tolist())
    for label, numbers in zip(noise.label_ids.tolist(), noise.object.tolist(), strict=True):
        own = [noise.original_ids[row] for row in numbers if 0 <= row < len(noise.original_ids)]
        assert sorted(matched[label]) == sorted(own)


def test_who_was_assigned(fresh):
    """A reference in no list is assigned where its labels are; without a list, all raters are assigned everywhere."""
    fresh.set_values("raters", [["ann"]] * IMAGES)
    inject(fresh)
    assert fresh.exists("noise_synthetic_1").values("id") == fresh.exists("truth").values("id")
    kf.delete_run(fresh, "noise")
    fresh.delete_sample_field("raters")
    inject(fresh, raters=2)
    assert kf.read_annotations(fresh, raters=kf.noise_raters(fresh, "noise")).assigned.all()


def test_the_reference_is_given_lists_of_events_and_all_of_it_goes_with_the_run(fresh):
    with untouched(fresh):
        before = documents(fresh)
        inject(fresh, raters=3, magnitude=3)
        given = {"noise_all", "noise_outcomes", "noise_fields"}
        assert without(documents(fresh), {*FIELDS, "noise_changes", *given}) == before
        truths = [row["truth"]["detections"] for row in documents(fresh).values() if row.get("truth")]
        assert all(given < label.keys() for labels in truths for label in labels)
        kf.delete_run(fresh, "noise")


# ---- kinds of labels and data sets ----


def test_masks(make):
    own = annotated(mask=lambda: np.tri(25, 30, dtype=bool))
    dataset = make(samples(truth=[fo.Detections(detections=labels) for labels in own]))
    inject(dataset, magnitude=[0, 2], raters=2)
    same, other = kf.noise_raters(dataset, "noise")
    read = kf.read_annotations(dataset, similarity="mask_iou", raters=("truth", same))
    areas = [np.sort(read.shapes["mask"].area()[read.rater == code]) for code in (0, 1)]
    np.testing.assert_allclose(*areas)
    assert all(mask is not None for (mask,) in in_rows(dataset, other, "mask"))


def test_polylines(make):
    own = [labels[: 1 + number % 4] for number, labels in enumerate(annotated(polyline))]  # space to add some
    dataset = make(samples(truth=[fo.Polylines(polylines=labels) for labels in own]))
    run = inject(dataset, magnitude=4, false_positive_source="transplanted")
    labels = dataset.values("noise_synthetic_1.polylines", unwind=True)
    assert {type(label) for label in labels} == {fo.Polyline}
    assert all(label.closed and label.points for label in labels)
    assert run.metrics["events"]["addition"]["done"] > 0


def test_one_field_whose_labels_name_their_rater(make):
    both = [
        fo.Detections(detections=[*own, *(detection("cat", [40, 40, 9, 9], rater="bob") for _ in own[:1])])
        for own in annotated(rater=lambda: "ann")
    ]
    dataset = make(samples(truth=both))
    dataset.delete_sample_field("raters")
    run = inject(dataset, reference="ann", magnitude=0, field="truth", assigned="all")
    assert run.metrics["references"] == ["ann"]
    assert run.metrics["annotations"] == 4 * (IMAGES - 2)


# ---- sources ----


class Colour(fom.Model):  # type: ignore[misc]
    """Embed a patch as its mean colour."""

    media_type = "image"
    has_embeddings = True
    ragged_batches = True
    transforms = None
    preprocess = False

    def __init__(self, broken: bool = False) -> None:
        self.broken = broken

    def predict(self, arg: Any) -> Any:
        self._last = np.asarray(arg).reshape(-1, 3).mean(axis=0)

    def embed(self, arg: Any) -> Any:
        self.predict(arg)
        return self.get_embeddings()

    def get_embeddings(self) -> Any:
        return np.full(3, np.nan) if self.broken else self._last + 1


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write grey images, each with a bright square in the centre."""
    folder = tmp_path_factory.mktemp("images")
    pixels = np.full((100, 100, 3), 120, np.uint8)
    pixels[42:55, 42:55] = (250, 240, 20)
    for number in range(IMAGES):
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def test_where_wrong_classes_come_from(make, tmp_path):
    """Bob labels each cat as a dog; cats and dogs have similar embeddings, and are pets in the taxonomy."""
    vectors = {"cat": [1.0, 0.0], "dog": [0.95, 0.05], "cow": [0.0, 1.0]}
    (tmp_path / "tree.json").write_text(json.dumps({"pet": ["cat", "dog"], "farm": ["cow"]}))
    truth, bob = annotated(), annotated()
    for label in (label for own in truth for label in own):
        label["vector"] = np.array(vectors[label.label])
    for label in (label for own in bob for label in own if label.label == "cat"):
        label.label = "dog"
    own, theirs = ([fo.Detections(detections=labels) for labels in given] for given in (truth, bob))
    dataset = make(samples(truth=own, bob=theirs))
    dataset.set_values("raters", [["truth", "bob"]] * IMAGES)
    for key, said, options in [
        ("confused", "confusions of classes (", {"real_raters": ("truth", "bob")}),
        ("embedded", "embeddings in 'vector' of 3 classes", {"class_source": "embeddings", "embeddings": "vector"}),
        ("tree", "taxonomy of 5 names", {"class_source": "taxonomy", "taxonomy": tmp_path / "tree.json"}),
    ]:
        run = inject(dataset, key, raters=3, schools=[2, 1], model=MODEL, **options)
        assert run.metrics["class_source"].startswith(said)
        table = run.result.to_pandas()
        cats = table[(table.event == "wrong_class") & (table.outcome == "done") & (table.class_from == "cat")]
        assert len(cats) > 3
        assert (cats.class_to == "dog").mean() > 0.7, key
        assert run.details.raters.reference.tolist() == ["school 1"] * 2 + ["school 2"]
        assert set(run.result.original_ids) == set(dataset.values("truth.detections.id", unwind=True))


def test_embeddings_of_a_model(make, files):
    dataset = make(samples(str(files)))
    with (
        untouched(dataset),
        pytest.raises(InputError, match="embeddings: expected finite numbers, got NaN or infinity"),
    ):
        inject(dataset, class_source="embeddings", embeddings=Colour(broken=True))
    run = inject(dataset, class_source="embeddings", embeddings=Colour())
    assert run.metrics["class_source"] == "embeddings by Colour of 3 classes"


def added(dataset: fo.Dataset) -> list[tuple[str, list[float]]]:
    """Return the class and box of each label that one rater added."""
    rows = in_rows(dataset, "noise_synthetic_1", "label", "bounding_box", "noise")
    return [(label, box) for label, box, event in rows if event == "addition"]


def test_findings_of_a_detector(make):
    net = [fo.Detections(detections=[detection("thing", [43, 43, 8, 8])]) for _ in range(IMAGES)]
    dataset = make(samples(net=net))
    run = inject(dataset, magnitude=9, false_positive_source="detections", detections="net")
    found = added(dataset)
    assert len(found) == run.metrics["events"]["addition"]["done"] > 0
    for label, box in found:
        assert box == pytest.approx([0.43, 0.43, 0.08, 0.08])
        assert label in CLASSES


def test_regions_of_the_images(make, files):
    dataset = make(samples(str(files)))
    run = inject(dataset, magnitude=9, false_positive_source="images")
    assert run.metrics["false_positive_source"] == "regions of the images (scikit-image)"
    found = added(dataset)
    assert found
    for _, box in found:  # the bright square
        assert box == pytest.approx([0.42, 0.42, 0.13, 0.13], abs=0.02)


@extended
def test_models_of_a_file_and_of_the_data_and_whether_raters_differ_as_the_real_ones(fresh, tmp_path):
    (tmp_path / "model.json").write_text(NoiseModel.default().to_json())
    real = inject(fresh, raters=2, model=tmp_path / "model.json")
    assert real.metrics["model"] == "model.json"
    assert real.details.fidelity == real.details.rate_tests
    assert real.details.fidelity.reason.endswith("of this data set: only truth here")
    options = {"model": "fit", "preset": "paper", "rate": "exponential", "shifts": "matched"}
    run = inject(fresh, "again", real_raters=real.metrics["fields"], **options)
    assert run.metrics["model"] == "fitted on noise_synthetic_1, noise_synthetic_2, truth"
    model = NoiseModel.from_json(run.details.model)
    assert (model.shifts, model.unmatched.rate.form) == ("matched", "exponential")
    assert "fitted" in {origin.source for origin in model.provenance.values()}
    stored = kf.load_details(fresh, "again")
    found = stored.details.fidelity
    labels = kf.read_annotations(fresh, similarity="mask_iou", raters=(*real.metrics["fields"], "truth"))
    expected = model.fidelity(labels, 10)
    assert found.quantity.tolist() == expected.quantity.tolist()
    assert found.synthetic.tolist() == pytest.approx(expected.synthetic.tolist())
    assert found.inside.tolist() == expected.inside.tolist()
    fitted = NoiseModel.fit(labels, rate="exponential", shifts="matched", preset="paper")
    assert stored.details.rate_tests.to_pandas().equals(fitted.rate_tests().to_pandas())


# ---- views, plots and the preview ----


def shown_in(view: Any, *fields: str) -> set[str]:
    return {label for field in fields for label in view.values(f"{field}.detections.id", unwind=True)} - {None}


def test_an_event_leads_to_its_labels(injected):
    dataset, run = injected
    table = run.result.to_pandas()
    for event in ("addition", "wrong_class", "merge", "split", "deletion"):
        rows = table[(table.event == event) & (table.outcome == "done")]
        assert len(rows), event
        view = view_of_event(dataset, "noise", event)
        assert set(view.values("id")) == set(rows["sample"]), event
        expected = {label for name in ("labels", "reference_labels") for ids in rows[name] for label in ids}
        assert shown_in(view, *FIELDS, "truth") == expected, event
    lost = table[(table.event == "wrong_class") & (table.outcome == "lost")]
    view = view_of_event(dataset, "noise", "wrong_class", "lost")
    assert set(view.values("id")) == set(lost["sample"])
    assert not any(view.values(f"{FIELDS[2]}.detections.id"))
    own = table[(table.field == FIELDS[1]) & (table.event != "shift") & (table.outcome == "done")]
    view = view_of_event(dataset, "noise", CHANGES, rater=FIELDS[1])
    assert set(view.values("id")) == set(own["sample"])
    assert shown_in(view, *FIELDS) == {label for ids in own["labels"] for label in ids}
    assert len(view_of_event(dataset, "noise", CHANGES, rater=FIELDS[0])) == 0


def test_images_with_the_most_events_come_first(injected):
    dataset, run = injected
    table = run.result.to_pandas()
    done = table[(table.event != "shift") & (table.outcome == "done")]
    counts = Counter(done["sample"])
    found = noisy_images(dataset, "noise")
    assert {image.sample_id: image.changed for image in found} == counts
    first = done[done["sample"] == found[0].sample_id]
    assert {kind: count for kind, count in found[0].events.items() if count} == Counter(first.event)
    changes = dict(zip(*dataset.values(["id", "noise_changes"]), strict=True))
    assert {key: count for key, count in changes.items() if count} == counts
    view = view_of_changes(dataset, "noise")
    assert view.values("id") == [image.sample_id for image in found]


def test_a_preview_shows_both_and_writes_nothing(fresh, make, files):
    options: dict[str, Any] = {"reference": "truth", "magnitude": 2, "seed": 1}
    with untouched(fresh):
        shown = kf.preview_noise(fresh, **options)
        assert shown.image.startswith("data:image/svg+xml;base64,")
        assert (shown.width, shown.height, shown.file) == (520, 520, "1.png")  # no rater is assigned to the first
        assert "moved" in shown.message
        assert kf.preview_noise(fresh, **options, sample_id=fresh.skip(9).first().id).file == "9.png"
        empty = kf.preview_noise(fresh, reference="truth", sample_id=fresh.last().id)
        assert empty.file == "1.png"  # the last has no labels
        assert kf.preview_noise(fresh, reference="truth", magnitude=0).message == "unchanged"
    assert len(kf.preview_noise(make(samples(str(files))), reference="truth").image) > 1000


# ---- invalid input ----


@pytest.fixture(scope="module")
def broken(make_once: Make) -> fo.Dataset:
    """Return embeddings that are NaN for one class and missing for others; and points."""
    own = annotated()
    for labels in own:
        for label in labels:
            label["nan"] = [1.0, math.nan if label.label == "cow" else 2.0]
            if label.label == "cat":
                label["half"] = [1.0, 2.0]
    points = [fo.Keypoints(keypoints=[fo.Keypoint(label="cat", points=[(0.1, 0.1)])]) for _ in range(IMAGES)]
    truth = [fo.Detections(detections=labels) for labels in own]
    return make_once(samples(truth=truth, points=points))


def embedded(by: Any) -> dict[str, Any]:
    return {"class_source": "embeddings", "embeddings": by}


def detected(by: str | None) -> dict[str, Any]:
    return {"false_positive_source": "detections", "detections": by}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"magnitude": [1, 2]}, "magnitude: expected one number, or one for each of 3 raters, got 2"),
    ({"reference": "points"}, "reference: expected labels with boxes, all Detections or all Polylines, got keypoints"),
    ({"class_source": "magic"}, "class_source: expected one of 'confusion', 'embeddings', 'taxonomy', got 'magic'"),
    ({"class_source": "taxonomy", "taxonomy": {"pet": ["cat", "dog"]}}, "taxonomy: expected every class of the refere"),
    (embedded(None), "embeddings: expected an attribute"),
    (embedded("no-such-model"), "or a zoo model that is downloaded"),
    (embedded("half"), "embeddings: expected every class of the reference, got nothing about"),
    (embedded("nan"), "embeddings: expected finite numbers, got NaN or infinity"),
    (detected("truth"), "detections: expected another field than the reference's"),
    ({"false_positive_source": "images"}, f"images: {IMAGES} records cannot be used"),
    ({"model": "fit"}, "model: expected two real raters or more to fit one, got truth"),
    ({"model": '{"format": "kalos noise model", "version": 99}'}, "noise model: expected version 3, got 99"),
]


def test_a_refusal_names_the_argument_and_leaves_nothing(broken):
    before, schema = repr(documents(broken)), set(broken.get_field_schema(flat=True))  # NaN is not equal to NaN
    for options, message in REFUSED:
        with pytest.raises(InputError, match=re.escape(message)):
            inject(broken, **{"raters": 3, **options})
        assert broken.list_runs() == [], message
    assert repr(documents(broken)) == before
    assert set(broken.get_field_schema(flat=True)) == schema


# ---- interruptions ----


def test_stopped_half_way_it_leaves_nothing(fresh, monkeypatch):
    """Stop during computation, and after some labels were written, 7 samples at a time; the first has no labels."""
    for module in ("database", "encoding", "writing"):
        monkeypatch.setattr(f"kalos_core.fiftyone.dataset.{module}.BLOCK", 7)
    seen: list[int] = []

    def look(share: float, done: float, _: str) -> None:
        if done > 0.6:
            written = {"noise_synthetic_1": {"$exists": True, "$ne": None}}
            seen.append(fresh._sample_collection.count_documents(written))
        if done >= share:
            raise KeyboardInterrupt

    for share in (0.55, 0.95):
        with untouched(fresh), pytest.raises(KeyboardInterrupt):
            inject(fresh, raters=3, progress=partial(look, share))
    assert seen == [0, 7, 14, 21]


@pytest.mark.parametrize(("share", "message"), [(0.5, "1 sample was changed"), (0.6, "1 sample was deleted")])
def test_samples_that_vanish_are_an_error(fresh, share, message):
    last = fresh.last().id

    def vanish(done: float, _: str) -> None:
        if done == share:
            fresh.delete_samples([last])

    with pytest.raises(KalosError, match=f"{message} while this run was computed"):
        inject(fresh, raters=3, progress=vanish)
    assert fresh.list_runs() == []
    assert synthetic_fields(fresh) == []
