"""Stored runs are restored unchanged, and only changed labels are compared again."""

from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import Agreement, Annotations, agreement, variations
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.kinds import matched
from kalos_core.fiftyone.kinds.agreement.settings import matching
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_class, view_of_pair, view_worst_first
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.pairs import compute_pairs
from kalos_core.variation import Variations
from tests.fiftyone_bridge.scenes import (
    CAT,
    RATERS,
    SCENES,
    THREE,
    crowded,
    detection,
    in_one_field,
    make_sample,
    make_samples,
    metrics_of,
    polylines,
)

ANALYSES = {"agreement": kf.compute_agreement, "variations": kf.find_variations}
every_analysis = pytest.mark.parametrize("kind", ANALYSES)


def assert_same(first: Any, second: Any) -> None:
    """Check bit-identity, in any order of annotations."""
    assert type(first) is type(second)
    for name in ("images", "raters", "categories"):
        assert list(getattr(first.annotations, name)) == list(getattr(second.annotations, name))
    np.testing.assert_array_equal(first.annotations.assigned, second.annotations.assigned)
    assert contents(first) == contents(second)
    if isinstance(first, Agreement):
        assert first.configuration == second.configuration
        for name in ("image_alpha", "alpha", "alpha_interval", "global_alpha", "global_alpha_interval"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def contents(result: Any) -> dict[str, list[Any]]:
    """Return annotations by their ids, and their pairs with units or findings."""
    annotations, pairs = result.annotations, result.pairs
    ids = annotations.id.tolist()
    about = (annotations.image, annotations.rater, annotations.category)
    found = {
        "annotations": sorted(zip(ids, *(column.tolist() for column in about), strict=True)),
        "pairs": sorted(
            (ids[a], ids[b], value) for a, b, value in zip(pairs.left, pairs.right, pairs.similarity, strict=True)
        ),
    }
    if isinstance(result, Agreement):
        members: list[list[str]] = [[] for _ in range(len(result.units))]
        for key, unit in sorted(zip(ids, result.unit_of.tolist(), strict=True)):
            members[unit].append(key)
        found["units"] = sorted(zip(members, result.units.image.tolist(), result.units.values.tolist(), strict=True))
    if isinstance(result, Variations):
        findings = zip(
            result.image.tolist(),
            result.rater_a.tolist(),
            result.rater_b.tolist(),
            result.type.tolist(),
            [sorted(ids[row] for row in rows) for rows in result.rows_a],
            [sorted(ids[row] for row in rows) for rows in result.rows_b],
            map(repr, result.similarity.tolist()),
            strict=True,
        )
        found["findings"] = sorted(findings)
    return found


def fresh(kind: str, annotations: Annotations, settings: Any) -> Any:
    if kind == "variations":
        return variations(annotations, **{name: settings[name] for name in ("similarity", "threshold", "max_merge")})
    pairs = compute_pairs(annotations, settings["similarity"], 0.1)  # the lowest threshold of the sensitivity curve
    return agreement(annotations, **matching(settings).record(), pairs=pairs)


@pytest.fixture(scope="module")
def analysed(make_once):
    """Return overlapping annotations of three raters with a run of each analysis."""
    dataset = make_once(make_samples(crowded(3)))
    return dataset, {kind: compute(dataset, kind, raters=THREE) for kind, compute in ANALYSES.items()}


class TestLoadedRuns:
    @every_analysis
    def test_equal_the_run(self, analysed, kind):
        dataset, runs = analysed
        loaded, run = kf.load_run(dataset, kind), runs[kind]
        assert loaded.stale == ()
        assert_same(loaded.result, run.result)
        assert (loaded.metrics, loaded.settings, loaded.selection) == (run.metrics, run.settings, run.selection)

    @every_analysis
    def test_read_only_what_changed_and_equal_a_fresh_computation(self, analysed, monkeypatch, kind):
        dataset = analysed[0].clone()
        ids, samples = dataset.values("id"), list(dataset)
        samples[0].ann.detections[0].label = "horse"
        samples[1].bob.detections = samples[1].bob.detections[::-1]  # another order is not a change
        samples[2].ann.detections, samples[2].bob.detections = [], samples[2].bob.detections[1:]
        samples[4].bob.detections.append(detection("cat", CAT))
        samples[6].bob.detections[0].bounding_box = [0.2, 0.2, 0.3, 0.3]
        samples[7]["cid"], samples[7]["raters"] = None, ["ann", "bob"]
        for sample in samples[:8]:
            sample.save()
        dataset.tag_samples("seen")
        dataset.limit(3).tag_labels("checked", label_fields="ann")
        dataset.set_values("mine", list(range(len(dataset))))
        dataset.delete_samples([ids[9], ids[8]])
        (new,) = dataset.add_samples([make_sample(99, {**SCENES[3], "cid": None})], progress=False)
        compared: list[Any] = []
        original = matched.pairs_of

        def counting(annotations: Annotations, *arguments: Any) -> Any:
            compared.extend(set(annotations.images[annotations.image]))
            return original(annotations, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(matched, "pairs_of", counting)
            loaded = kf.load_run(dataset, kind)
        changed = {new, *(ids[number] for number in (0, 2, 4, 6, 7))}
        assert set(compared) == changed
        assert set(loaded.stale) == {*changed, ids[8], ids[9]}
        annotations = kf.read_annotations(dataset, raters=THREE)
        assert_same(loaded.result, fresh(kind, annotations, loaded.settings))

    @every_analysis
    def test_polygons(self, make, kind):
        dataset = make(make_samples(crowded(4, images=5), polylines))
        run = ANALYSES[kind](dataset, "run", raters=("ann", "bob"), threshold=0.3)
        assert run.settings["similarity"] == "polygon_iou"
        loaded = kf.load_run(dataset, "run")
        assert loaded.stale == ()
        assert_same(loaded.result, run.result)

    def test_rings_apart(self, make):
        corners = [(0.1, 0.1), (0.4, 0.1), (0.4, 0.4), (0.6, 0.6), (0.9, 0.6), (0.9, 0.9)]
        label = fo.Polyline(label="cat", points=[corners], closed=True)
        dataset = make([fo.Sample("/p/0.jpg", raters=["a", "b"], a=fo.Polylines(polylines=[label]), b=fo.Polylines())])
        kf.compute_agreement(dataset, "run", raters=("a", "b"))
        dataset.set_values("a.polylines.points", [[[corners[:3], corners[3:]]]])
        assert kf.load_run(dataset, "run").stale == (dataset.first().id,)

    @pytest.mark.parametrize("raters", [None, ("ann", "bob")])
    def test_a_rater_who_came_later_is_not_part_of_it(self, make, raters):
        dataset = make()
        store_raters(dataset, {name: name for name in RATERS})
        kf.compute_agreement(dataset, "run", raters=raters)
        dataset.set_values("eve", [fo.Detections(detections=[detection("cat", CAT)])] * 6)
        dataset.set_values("raters", [[*names, "eve"] for names in dataset.values("raters")])
        store_raters(dataset, {"eve": "eve"})
        loaded = kf.load_run(dataset, "run")
        assert (list(loaded.result.annotations.raters), loaded.stale) == (["ann", "bob"], ())


def test_undefined_metrics_are_none(make):
    dataset = make(make_samples(SCENES[4:]))
    dataset.delete_samples(dataset.first())
    run = kf.compute_agreement(dataset, "run", raters=RATERS)
    metrics = kf.load_metrics(dataset, "run").metrics
    assert metrics == run.metrics
    assert [metrics[name] for name in ("alpha", "global_alpha", "alpha_without_empty")] == [None] * 3
    assert metrics["alpha_interval"] == [None, None]
    assert (metrics["defined_images"], metrics["undefined_images"], metrics["band"]) == (0, 1, "undefined")
    assert dataset.values("run_alpha") == [None]


# ---- labels and raters of any kind ----


@pytest.fixture(scope="module")
def cloned(make_once):
    dataset = make_once()
    dataset.clone_sample_field("ann", "cid")
    dataset.set_values("raters", [[*names, "cid"] for names in dataset.values("raters")])
    assert dataset.values("ann.detections.id") == dataset.values("cid.detections.id")
    kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=0)
    kf.find_variations(dataset, "found", raters=THREE)
    return dataset


class TestAClonedField:
    """Labels of two raters with the same ids: cid is a copy of ann."""

    def test_has_units_and_findings_of_its_own(self, cloned):
        units = [[0], [1], [2], [3], [], [6]]
        assert cloned.values("ann.detections.run_unit") == cloned.values("cid.detections.run_unit") == units
        assert cloned.values("bob.detections.run_unit") == [[0], [1], [], [4, 5], [], None]
        types = [["correct"], ["wrong_class"], ["additional"], ["merged"], [], ["correct"]]
        assert cloned.values("ann.detections.found") == cloned.values("cid.detections.found") == types
        towards = {field: cloned.values(f"{field}.detections.found_raters") for field in THREE}
        assert [sorted(names) for (names,) in towards["ann"][:4]] == [["bob", "cid"]] * 4
        assert [sorted(names) for (names,) in towards["cid"][:4]] == [["ann", "bob"]] * 4
        assert [sorted(names) for names in towards["bob"][3]] == [["ann", "cid"]] * 2
        assert (towards["ann"][5], towards["cid"][5]) == ([["cid"]], [["ann"]])

    def test_is_restored_where_one_of_them_changes(self, cloned):
        dataset = cloned.clone()
        sample = dataset.first()
        sample.cid.detections[0].label = "dog"
        sample.save()
        annotations = kf.read_annotations(dataset, raters=THREE)
        for kind, key in (("agreement", "run"), ("variations", "found")):
            loaded = kf.load_run(dataset, key)
            assert loaded.stale == (sample.id,)
            assert_same(loaded.result, fresh(kind, annotations, loaded.settings))


def test_raters_of_any_name_from_the_file_to_the_view(tmp_path):
    """This includes samples that are in memory meanwhile."""
    weiss, anna = names = ("Dr. Weiss", "Anna (2)")
    Image.new("RGB", (100, 100)).save(tmp_path / "0.png")
    coco = {
        "images": [{"id": 0, "file_name": "0.png", "width": 100, "height": 100, "rater_list": list(names)}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": 1, "image_id": 0, "category_id": 1, "rater_id": weiss, "bbox": CAT},
            {"id": 2, "image_id": 0, "category_id": 2, "rater_id": anna, "bbox": CAT},
            {"id": 3, "image_id": 0, "category_id": 1, "rater_id": weiss, "bbox": [70, 70, 20, 20]},
        ],
    }
    dataset = kf.load_raters(coco, images=tmp_path).dataset
    assert kf.rater_fields(dataset) == {weiss: "Dr_Weiss", anna: "Anna_2"}
    sample = dataset.first()
    run = kf.compute_agreement(dataset, "run", bootstrap=0)
    found = kf.find_variations(dataset, "found")
    assert run.metrics["raters"] == found.metrics["raters"] == [weiss, anna]
    assert list(kf.load_metrics(dataset, "found").metrics["by_rater"]) == [weiss, anna]
    assert sample["run_alpha"] == run.result.image_alpha[0]
    assert [label["run_unit"] for label in sample["Dr_Weiss"].detections] == [0, 1]
    assert [label["found_raters"] for label in sample["Dr_Weiss"].detections] == [[anna], [anna]]
    assert sample["Anna_2"].detections[0]["found"] == "wrong_class"
    view = kf.view_of_variation(dataset, "found", "missing", rater=anna)
    assert (view.count("Dr_Weiss.detections"), view.count("Anna_2.detections")) == (1, 0)
    assert len(kf.view_of_variation(dataset, "found", "missing", rater=weiss)) == 0
    assert view_of_confusion(dataset, "found", "cat", "dog").count("Anna_2.detections") == 1
    for of_rater in (view_worst_first(dataset, "run", rater=anna), view_of_pair(dataset, "run", anna, weiss)):
        assert of_rater.values("id") == [sample.id]
    assert metrics_of(narrowed_metrics(dataset, "run", kf.Filter(rater=anna)))["image_alpha"] == [sample["run_alpha"]]
    kf.delete_run(dataset, "run")
    assert not sample.has_field("run_alpha")


def test_a_name_that_looks_like_a_field(make):
    """Text that begins with a dollar sign is a field in the database's language."""
    dataset = make(in_one_field([{"$ann": [("$cat", CAT)], "$$ROOT": [("dog", CAT)], "cid": [("dog", CAT)]}]))
    kf.compute_agreement(dataset, "run", field="marks", bootstrap=0)
    kf.find_variations(dataset, "found", field="marks")
    assert view_of_pair(dataset, "run", "$ann", "$$ROOT").values("marks.detections.label") == [["$cat", "dog"]]
    assert view_of_class(dataset, "run", "$cat").values("marks.detections.label") == [["$cat"]]
    assert view_of_confusion(dataset, "found", "dog", "$cat").count("marks.detections") == 3
    assert kf.view_of_variation(dataset, "found", "wrong_class", rater="$ann").count("marks.detections") == 2
    assert len(kf.worst_images(dataset, "run", filter=kf.Filter("$cat", "$$ROOT"))) == 1
