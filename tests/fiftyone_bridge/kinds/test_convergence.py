"""Runs of label convergence: numbers of the library from stored replicates, and models on the curve."""

import json
import re
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, check_convergence, label_convergence
from kalos_core.convergence import PUBLISHED_LINE, Line, map_of_predictions
from kalos_core.fiftyone.kinds.convergence.compute import place_predictions
from kalos_core.fiftyone.kinds.convergence.kind import poolable_runs, pooled_replicates, view_of_tag
from kalos_core.fiftyone.runs.table import Run
from kalos_core.figures import plot_regression
from kalos_core.results import plain_values
from tests.fiftyone_bridge.lively import LEVELS, RATERS, lively, unsure
from tests.fiftyone_bridge.scenes import detection, untouched

IMAGES = 60
"""Number of images; fewer than 50 have no interval."""


@pytest.fixture(scope="module")
def estimated(make_once):
    """Return a data set with a complete run, for tests that only read."""
    made = make_once(lambda: lively(IMAGES))
    return made, run_it(made, "kept", models="YOLO 0.05, DETR 0.99", predictions="net", tags=True)


@pytest.fixture
def dataset(estimated):
    """Return the same for tests that add runs to it."""
    yield estimated[0]
    for key in kf.list_runs(estimated[0]):
        if key != "kept":
            kf.delete_run(estimated[0], key)


@pytest.fixture
def small(make):
    """Return a data set for tests that change labels."""
    return make(lively(8))


def run_it(dataset: fo.Dataset, key: str = "run", **options: Any) -> Run:
    given = {"raters": RATERS, "thresholds": LEVELS, "subsets": 30, "fraction": 0.5, **options}
    return kf.estimate_convergence(dataset, key, **given)


def own(dataset: fo.Dataset, **options: Any) -> Any:
    """Compute the same with the core."""
    annotations = kf.read_annotations(dataset, raters=options.pop("raters", RATERS))
    return label_convergence(annotations, 30, 0.5, **{"thresholds": LEVELS, **options})


class TestTheRun:
    def test_stores_the_results_of_the_library(self, estimated):
        dataset, run = estimated
        expected = own(dataset)
        assert run.metrics["whole"] == pytest.approx(expected.whole_convergence, abs=1e-12)
        assert run.metrics["mean"] == pytest.approx(expected.convergence.mean, abs=1e-12)
        np.testing.assert_allclose(run.metrics["interval"], expected.interval, atol=1e-12)
        assert run.metrics["route"] == expected.route
        assert (run.metrics["images"], run.metrics["images_per_subset"], run.metrics["subsets"]) == (IMAGES, 30, 30)
        summary = expected.summary().to_dict("records")
        for row, other in zip(run.metrics["summary"], summary, strict=True):
            assert row == {**other, **{name: pytest.approx(other[name], abs=1e-12) for name in list(other)[3:]}}
        checks = check_convergence(kf.read_annotations(dataset, raters=RATERS))
        assert [line["verdict"] for line in run.metrics["checklist"]] == [line.verdict for line in checks]
        np.testing.assert_allclose(run.details.matrix, expected.whole.directions.mean(axis=0), atol=1e-12)

    def test_sizes_lead_to_all_images(self, estimated):
        dataset, run = estimated
        stored, expected = kf.load_details(dataset, "kept").details.sizes, own(dataset).by_size()
        assert [row.images for row in stored] == expected["images"].tolist() == [6, 15, 30, 60]
        assert stored[-1].convergence == run.metrics["whole"]
        assert [stored[-1].low, stored[-1].high] == run.metrics["interval"]
        for name in ("convergence", "low", "std", "map", "alpha"):
            np.testing.assert_allclose([getattr(row, name) for row in stored], expected[name], atol=1e-12)

    def test_replicates_give_the_metrics_of_some_thresholds(self, estimated):
        dataset, run = estimated
        assert plain_values(kf.convergence_metrics(dataset, "kept")) == json.loads(
            json.dumps(plain_values(run.details))
        )
        found = kf.convergence_metrics(dataset, "kept", least=0.6, greatest=0.9)
        whole, summary = found.whole, found.whole.summary()
        alone = own(dataset, thresholds=LEVELS[1:])
        assert whole.thresholds.tolist() == [0.7, 0.9]
        assert whole.whole_convergence == summary["whole"][1] == pytest.approx(alone.whole_convergence)
        assert plain_values(found.sizes) == plain_values(run.details.sizes)
        np.testing.assert_allclose(whole.convergence.interval, alone.convergence.interval, atol=1e-12)
        np.testing.assert_allclose((whole.halves_map, whole.halves_alpha), (alone.halves_map, alone.halves_alpha))
        naive = 0.836 * alone.alpha.mean(axis=1) + 0.197  # Eq. 1 of the paper
        assert whole.convergence.mean == pytest.approx(naive.mean())
        assert whole.convergence.std == pytest.approx(naive.std(ddof=1))
        assert whole.route == alone.route
        np.testing.assert_allclose((whole.map, whole.alpha), (alone.map, alone.alpha), atol=1e-12)

    def test_each_tag_is_a_run_on_its_images_alone(self, estimated):
        dataset, run = estimated
        whole, day, night, rare = run.details.parts
        assert [part.name for part in (whole, day, night, rare)] == ["all images", "day", "night", "rare"]
        assert whole.replicates.convergence.mean == run.metrics["mean"]
        assert whole.replicates.whole_convergence == run.metrics["whole"]
        for part in (day, night):
            view = dataset.match_tags(part.name)
            alone = own(view)
            np.testing.assert_allclose(part.replicates.convergence.interval, alone.convergence.interval, atol=1e-12)
            assert part.replicates.whole_convergence == pytest.approx(alone.whole_convergence, abs=1e-12)
            assert (part.images, part.replicates.images_per_replicate) == (len(view), alone.images_per_replicate)
            other = run_it(view, part.name, predictions="net")
            assert part.models["net"] == pytest.approx(other.metrics["models"][0]["map"], abs=1e-12)
            kf.delete_run(dataset, part.name)
            assert view_of_tag(dataset, "kept", part.name).values("id") == view.values("id")
        assert rare.replicates is None
        assert rare.reason == "fraction: expected at least one image in a subset, got 0.5 of 1 images"

    def test_two_raters_are_measured_and_have_a_line_of_their_own(self, dataset):
        run, expected = run_it(dataset, raters=RATERS[:2]), own(dataset, raters=RATERS[:2])
        assert run.metrics["route"] == "measured: modified mAP of both directions"
        assert run.metrics["mean"] == pytest.approx(expected.map.mean())
        lines = run.details.whole.lines
        fitted, published = lines.values()
        slope, intercept = np.polyfit(expected.alpha.ravel(), expected.map.ravel(), 1)
        assert list(lines) == ["fitted here", "published"]
        assert (fitted.slope, fitted.intercept) == (pytest.approx(slope), pytest.approx(intercept))
        assert (published.slope, published.source) == (PUBLISHED_LINE.slope, PUBLISHED_LINE.source)

    def test_a_line_of_ones_own(self, dataset):
        line = Line(0.5, 0.25, 0.9, "measured elsewhere", np.zeros(0))
        run = run_it(dataset, line=line)
        assert run.metrics["mean"] == pytest.approx((0.5 * own(dataset).alpha.mean(axis=1) + 0.25).mean())
        assert run.metrics["route"].endswith("with measured elsewhere")
        assert list(run.details.whole.lines) == ["given"]
        assert kf.load_run(dataset, "run").result.interval.tolist() == run.metrics["interval"]

    def test_is_computed_again_where_labels_changed(self, small):
        run = run_it(small, models={"a.b $": 0.5})
        np.testing.assert_array_equal(kf.load_run(small, "run").result.map, run.result.map)
        sample = small.skip(2).first()
        sample.ann.detections = [detection("cat", [70, 70, 9, 9])]
        sample.save()
        loaded = kf.load_run(small, "run")
        assert loaded.stale == (sample.id,)
        np.testing.assert_allclose(loaded.result.map, own(small).map, atol=1e-12)


class TestPooled:
    def test_line_over_several_data_sets(self, make, small, dataset):
        first, second, third = small, make(lively(10)), dataset
        for dataset, key in ((first, "old"), (first, "one"), (second, "two")):
            run_it(dataset, key, raters=RATERS[:2])
        run_it(second, "later", raters=RATERS)  # three raters: no line
        run_it(second, "other", raters=RATERS[:2], thresholds=(0.5,))
        kf.delete_run(second, "other")
        found = poolable_runs(third)
        assert {name: found[name] for name in (first.name, second.name)} == {first.name: "one", second.name: "two"}
        assert first.name not in poolable_runs(first)
        pooled = pooled_replicates(first, "one", {second.name: "two"}, least=0.6)
        assert list(pooled) == [first.name, second.name]
        for replicates, dataset in zip(pooled.values(), (first, second), strict=True):
            expected = own(dataset, raters=RATERS[:2], thresholds=LEVELS[1:])
            np.testing.assert_allclose((replicates.map, replicates.alpha), (expected.map, expected.alpha), atol=1e-12)
        assert plot_regression(pooled).layout.title.text.startswith("mAP = ")
        with pytest.raises(InputError, match="thresholds: expected some from"):
            pooled_replicates(first, "one", {second.name: "two"}, least=0.95)


class TestModels:
    def test_each_is_placed_with_what_it_means(self, estimated):
        _, run = estimated
        low, high = (100 * end for end in run.metrics["interval"])
        yolo, detr, net = run.metrics["models"]
        assert (yolo["name"], yolo["map"], yolo["place"]) == ("YOLO", 0.05, "below")
        assert yolo["meaning"].startswith(f"5.0 mAP is below label convergence [{low:.1f},\xa0{high:.1f}]. The labels")
        assert (detr["name"], detr["place"]) == ("DETR", "above")
        assert net["name"] == "net"

    def test_predictions_are_evaluated_under_each_rater(self, estimated):
        dataset, run = estimated
        truth = kf.read_annotations(dataset, raters=RATERS)
        model = kf.read_annotations(dataset, raters=("net",), assigned="all")
        sure = {label.id: label.confidence for labels in dataset.values("net.detections") for label in labels}
        expected = map_of_predictions(truth, model, [sure[key] for key in model.id], thresholds=LEVELS)
        net = run.metrics["models"][-1]
        assert net["map"] == pytest.approx(expected.mean, abs=1e-12)
        assert net["by_rater"] == dict(zip(RATERS, map(pytest.approx, expected.per_rater.tolist()), strict=True))
        some = kf.convergence_metrics(dataset, "kept", least=0.7).placed[-1]
        assert some.map == pytest.approx(expected.by_rater[1:].mean())

    def test_a_model_is_placed_under_one_rater(self, estimated):
        dataset, run = estimated
        low, high = run.metrics["interval"]
        for rater in RATERS:
            found = place_predictions(dataset, "kept", "net", rater)
            assert found.map == pytest.approx(run.metrics["models"][-1]["by_rater"][rater], abs=1e-12)
            assert found.place == ("below" if found.map < low else "above" if found.map > high else "inside")

    def test_perfect_predictions_score_1_under_the_rater_they_copy(self, small):
        """By hand: all of ann's boxes are found, and no others: precision 1 at every recall."""
        for sample in small:
            sample["copy"] = sample.ann.copy()
            for label in sample["copy"].detections:
                label.confidence = 0.5
            sample.save()
        net = run_it(small, predictions="copy").metrics["models"][0]
        assert net["by_rater"]["ann"] == 1
        assert net["by_rater"]["bob"] < 1

    def test_more_of_them_without_a_new_run(self, estimated):
        dataset, run = estimated
        middle = run.metrics["mean"]
        found = kf.convergence_metrics(dataset, "kept", models={"mine": middle, "YOLO": 0.06}).placed
        assert [(model.name, model.map) for model in found[:3]] == [("YOLO", 0.06), ("DETR", 0.99), ("mine", middle)]
        assert found[2].place == "inside"
        assert kf.load_metrics(dataset, "kept").metrics["models"] == run.metrics["models"]


@pytest.mark.parametrize(
    ("spoil", "options", "said"),
    [
        (None, {"raters": ("ann",)}, "two raters"),
        (None, {"line": 0.8}, "line: expected a Line, such as `fitted` of another result, got 0.8"),
        (None, {"models": "YOLO 41"}, "models: expected the mAP of 'YOLO' from 0 to 1, got 41.0; 41 % is 0.41"),
        (unsure, {"predictions": "net"}, "predictions: those of 'net' cannot be evaluated: scores: expected the conf"),
        (None, {"predictions": "ann"}, "predictions: expected the field of a model, got 'ann', which holds labels of"),
    ],
)
def test_bad_input_leaves_nothing(make, estimated, spoil, options, said):
    dataset = make(spoil(lively(8))) if spoil else estimated[0]
    with untouched(dataset), pytest.raises(InputError, match=re.escape(said)):
        run_it(dataset, **options)
