"""Masks of raters, ground truth and detectors as runs: numbers by hand, and files and fields deleted with the run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
import tifffile
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, KalosWarning, agreement, instance_consensus, unit_truth
from kalos_core.consensus import estimate_truths
from kalos_core.fiftyone.dataset.raters import MASKS, label_fields, store_raters
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes
from kalos_core.fiftyone.kinds.pixels.views import pixel_images, view_of_mask_rater
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.fiftyone.runs.table import Run
from kalos_core.nominal import SKILL_MODELS
from kalos_core.pixels import MaskStack, pixel_agreement
from kalos_core.ranking import boundary_evaluation, rank_models
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.scenes import (
    FIVE,
    detection,
    documents,
    in_fields,
    make_sample,
    objects,
    polyline,
    seen_by_five,
    untouched,
    without,
)
from tests.fiftyone_bridge.stacks import IMAGES, RATER_COUNTS, RATERS, RATIO, mapped, row, small
from tests.tiers import first

BOX = [10, 20, 10, 10]
RANKED: dict[str, Any] = {"detectors": ["good", "poor"], "skew": (0.1, 0.5)}


def home(dataset: fo.Dataset) -> Path:
    """Return the folder where runs write, next to FiftyOne's data sets."""
    return Path(fo.config.default_dataset_dir) / "kalos" / str(dataset._doc.id)


@pytest.fixture(autouse=True)
def no_file_stays() -> Iterator[None]:
    """Delete files of runs with the data set of the test; deleting a run has separate tests."""
    before = set(fo.list_datasets())
    yield
    for name in set(fo.list_datasets()) - before:
        shutil.rmtree(home(fo.load_dataset(name)), ignore_errors=True)


@pytest.fixture
def stack(make: Make) -> fo.Dataset:
    """Return the three images, with score maps of two detectors, for tests that change them."""
    return make(mapped)


@pytest.fixture(scope="module")
def made(make_once: Make) -> Iterator[tuple[fo.Dataset, dict[str, Run]]]:
    """Return the same with a run of each kind, for tests that only read."""
    dataset = make_once(mapped)
    runs = {
        "pixels": kf.compute_pixel_agreement(dataset, "pixels"),
        "truth": kf.estimate_truth(dataset, "truth", methods=["any", "0.5", "staple", "lsml"], maps=True),
        "ranks": kf.rank_detectors(dataset, "ranks", truths=["truth_staple"], boundaries=9, tolerance=0.01, **RANKED),
    }
    yield dataset, runs
    for key in runs:
        kf.delete_run(dataset, key)
    assert not files(dataset)


def files(dataset: fo.Dataset) -> list[Path]:
    return [path for path in home(dataset).rglob("*") if path.is_file()]


def stacks() -> list[MaskStack]:
    """Return the three images for the library."""
    return [
        MaskStack.of({name: None if marks is None else [marks] for name, marks in masks.items()}) for masks in IMAGES
    ]


@pytest.fixture
def classes(make: Make) -> Any:
    """Return a function for data sets of one image with masks of several classes."""

    def dataset_of(masks: dict[str, list[int]], targets: dict[int, str]) -> fo.Dataset:
        rows = {name: row(marks) for name, marks in masks.items()}
        dataset = make([make_sample(0, {}, raters=list(masks), **rows)])
        dataset.default_mask_targets = targets
        dataset.save()
        return dataset

    return dataset_of


def to_disk(dataset: fo.Dataset, folder: Path) -> fo.Dataset:
    """Return the same with masks in files."""
    for name in RATERS:
        for sample in dataset.iter_samples(autosave=True):
            if sample[name] is not None:
                sample[name].export_mask(str(folder / f"{name}{sample.id}.png"), update=True)
    return dataset


# ---- reading ----


def test_masks_of_the_database_and_of_the_disk_are_the_same(make, tmp_path):
    stored, on_disk = make(small(255)), to_disk(make(small(255)), tmp_path)
    found = [[each.stacks["marked"].masks.tolist() for each in kf.read_masks(dataset)] for dataset in (stored, on_disk)]
    assert found[0] == found[1] == [each.masks.tolist() for each in stacks()]
    assert on_disk.first().ann.mask is None


def test_one_who_is_assigned_and_has_no_mask_marked_nothing(stack):
    masks = kf.read_masks(stack)
    assert masks.assigned.tolist() == [[True] * 3, [True] * 3, [True, False, False]]
    assert [each.stacks["marked"].raters.tolist() for each in masks][2] == ["ann"]
    assert kf.read_masks(stack, assigned="labelled").assigned.tolist()[1] == [True, True, False]
    stack.delete_sample_field("raters")
    with pytest.warns(KalosWarning, match="every rater counts as assigned to every sample"):
        assert kf.read_masks(stack).assigned.all()


def test_labels_are_rasterised_as_the_library_does(make):
    """Ten by ten pixels of an image of 100 x 100, as an outline by ann and as an instance mask by bob."""
    masked = fo.Detections(detections=[detection("cat", BOX, mask=np.ones((10, 10), bool))])
    outline = fo.Polylines(polylines=[polyline("cat", BOX)])
    dataset = make([make_sample(0, {}, raters=list(RATERS), ann=outline, bob=masked, cid=fo.Polylines())])
    (found,) = kf.read_masks(dataset, raters=RATERS)
    wanted = np.zeros((100, 100), bool)
    wanted[20:30, 10:20] = True
    np.testing.assert_array_equal(found.stacks["marked"].masks, [wanted, wanted, np.zeros_like(wanted)])
    (cats,) = kf.read_masks(dataset, raters=RATERS, classes=("cat",))
    assert cats.stacks["cat"].masks.sum() == 200


def test_assignment_to_a_class_does_not_depend_on_other_images(make):
    """Bob is assigned to dogs only: he did not miss the cats, even if 16 adjacent images have none."""
    names = ["ann", "bob"]
    samples = [make_sample(number, {}, raters=names, ann=fo.Polylines(), bob=fo.Polylines()) for number in range(18)]
    samples[0]["ann"] = fo.Polylines(polylines=[polyline("cat", [10, 10, 10, 10])])
    samples[17]["bob"] = fo.Polylines(polylines=[polyline("dog", [10, 10, 10, 10])])
    dataset = make(samples)
    table = Annotations.from_rows([], raters=names, categories=["cat", "dog"], assigned_categories={"bob": ["dog"]})
    store_raters(dataset, {"ann": "ann", "bob": "bob"}, table)
    found = [each.stacks for each in kf.read_masks(dataset, classes=("cat", "dog"))]
    assert {tuple(stacks["cat"].raters) for stacks in found} == {("ann",)}
    assert {tuple(stacks["dog"].raters) for stacks in found} == {("ann", "bob")}
    assert [int(stacks["cat"].masks.sum()) for stacks in found] == [100] + 17 * [0]


def test_classes_by_the_names_of_mask_targets_and_a_value_to_ignore(classes):
    dataset = classes({"ann": [0, 1, 2, 9], "bob": [0, 2, 2, 2]}, {0: "nothing", 1: "road", 2: "car"})
    with pytest.raises(InputError, match=r"0.jpg: image '0.jpg': expected 0 or the values of classes 1, 2, got 9"):
        list(kf.read_masks(dataset))
    (found,) = kf.read_masks(dataset, ignore_value=9)
    assert {name: stack.masks.astype(int).tolist() for name, stack in found.stacks.items()} == {
        "road": [[[0, 1, 0, 0]], [[0, 0, 0, 0]]],
        "car": [[[0, 0, 1, 0]], [[0, 1, 1, 0]]],
    }
    assert found.stacks["car"].ignore.tolist() == [[0, 0, 0, 1]]
    assert kf.read_masks(dataset, classes=("car",)).values == {"car": 2}


# ---- folders ----


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Write the masks to folders of raters, next to images of grey value 7."""
    for number, masks in enumerate(IMAGES):
        for name, marks in {"images": [7, 7, 7, 7], **{f"masks/{name}": own for name, own in masks.items()}}.items():
            if marks is not None:
                (tmp_path / name).mkdir(parents=True, exist_ok=True)
                Image.fromarray(np.array([marks], np.uint8) * 255).save(tmp_path / name / f"{number}.png")
    return tmp_path


def test_folders_become_fields_whose_files_stay(folder):
    """Images of one constant intensity: there is no correlation with it, which is reported."""
    assigned = {"0": list(RATERS), "1": list(RATERS), "2": ["ann"]}
    loaded = kf.load_mask_folders(folder / "masks", images=folder / "images", assigned=assigned, persistent=False)
    found = [each.stacks["marked"].masks.tolist() for each in kf.read_masks(loaded.dataset)]
    assert found == [each.masks.tolist() for each in stacks()]
    assert (loaded.images, loaded.added_samples, loaded.annotations) == (3, 3, 6)
    with pytest.raises(InputError, match=r"already holds masks of 'ann' .*, 'bob' .*, 'cid'"):
        kf.load_mask_folders(folder / "masks", loaded.dataset)
    run = kf.compute_pixel_agreement(loaded.dataset, "pixels", images=True)
    named = {each.name: each.reason for each in run.details.correlations}
    assert named["intensity"] == "intensity is the same on all pixels"


# ---- agreement on pixels ----


def test_agreement_is_that_of_the_library_with_a_map_for_each_image(made):
    dataset, runs = made
    run = runs["pixels"]
    np.testing.assert_allclose(run.result.ratio, RATIO)
    assert run.metrics["smyth_bound"] == pytest.approx(4 / 24)  # 1 of 3 raters differs on 2 + 2 of 8 pixels
    assert run.result.f1[0].tolist() == pytest.approx([1, 6 / 8, 2 / 5])
    direct = pixel_agreement(stacks(), raters=RATERS)
    np.testing.assert_array_equal(run.result.sums.by_rater_count, direct.sums.by_rater_count)
    np.testing.assert_array_equal(run.result.linkage, direct.linkage)
    maps = dataset.values("pixels_rater_count")
    assert [each.get_map().tolist() for each in maps] == RATER_COUNTS
    assert {tuple(each.range) for each in maps} == {(0.0, 3.0)}
    assert {Path(each.map_path) for each in maps} <= set(files(dataset))
    loaded = kf.load_run(dataset, "pixels")
    assert repr(loaded.result) == repr(run.result)
    np.testing.assert_array_equal(loaded.result.f1, run.result.f1)


def test_a_file_that_was_written_anew_is_noticed_though_no_sample_was_edited(stack, tmp_path):
    to_disk(stack, tmp_path)
    kf.compute_pixel_agreement(stack, "pixels")
    kf.rank_detectors(stack, "ranks", **RANKED)
    assert kf.stale_samples(stack, "pixels") == kf.stale_samples(stack, "ranks") == []
    assert count_changes(stack, "ranks") == 0
    changed, gone = stack.skip(1).first(), stack.last()
    Image.fromarray(np.array([[1, 1, 1, 0]], np.uint8)).save(changed.bob.mask_path)
    Path(gone.ann.mask_path).unlink()
    for key in ("pixels", "ranks"):
        assert kf.stale_samples(stack, key) == [changed.id, gone.id]
    assert kf.load_run(stack, "pixels").stale == (changed.id, gone.id)
    assert count_changes(stack, "ranks") == 2


def test_the_images_of_a_rater_the_least_agreement_first(stack):
    """F1 of image 0: .8, .67 and .5; of image 1: .67, 0 and 0; image 2 has one rater, so none."""
    kf.compute_pixel_agreement(stack, "pixels")
    zero, one, two = stack.values("id")
    means = [(4 / 5 + 2 / 3 + 1 / 2) / 3, (2 / 3) / 3]
    assert stack.values("pixels_f1") == [*map(pytest.approx, means), None]
    assert view_of_mask_rater(stack, "pixels", "ann").values("id") == [one, zero, two]
    assert view_of_mask_rater(stack, "pixels", "cid").values("id") == [one, zero]
    rows = pixel_images(stack, "pixels")
    assert [(row.sample_id, row.file) for row in rows] == [(one, "1.png"), (zero, "0.png")]
    assert [row.f1 for row in rows] == pytest.approx(means[::-1])
    assert [row.bound for row in rows] == pytest.approx([2 / 3 / 4, 2 / 3 / 4])
    kf.compute_pixel_agreement(stack, "labelled", assigned="labelled")
    assert view_of_mask_rater(stack, "labelled", "cid").values("id") == [zero]
    kf.compute_pixel_agreement(stack.limit(2), "everybody", assigned="all")
    assert view_of_mask_rater(stack, "everybody", "cid").values("id") == [one, zero]


def test_the_images_of_a_rater_whom_an_attribute_names(make):
    lists = [fo.Polylines(polylines=[polyline("cat", BOX, rater=name) for name in own]) for own in (["$x", "b"], ["b"])]
    dataset = make([make_sample(number, {}, raters=["$x", "b"], all=own) for number, own in enumerate(lists)])
    for key, assigned, images in [("listed", "auto", 2), ("labelled", "labelled", 1)]:
        kf.compute_pixel_agreement(dataset, key, field="all", assigned=assigned)
        assert len(view_of_mask_rater(dataset, key, "$x")) == images


def test_rasterised_labels_that_changed_make_a_run_stale(make):
    raters = ["ann", "bob"]
    outlines = {name: fo.Polylines(polylines=[polyline("cat", BOX)]) for name in raters}
    dataset = make([make_sample(number, {}, raters=raters, **outlines) for number in range(20)])
    kf.compute_pixel_agreement(dataset, "pixels", raters=raters)
    sample = dataset.skip(17).first()  # of the second batch
    sample.tags.append("looked at")
    sample.save()
    assert kf.stale_samples(dataset, "pixels") == []
    sample.bob.polylines[0].points = [[(0.1, 0.2), (0.2, 0.2), (0.2, 0.3)]]
    sample.save()
    assert kf.stale_samples(dataset, "pixels") == [sample.id]
    assert kf.load_run(dataset, "pixels").result.f1[0, 1] == 1


def test_deleting_a_run_takes_its_files_and_nothing_else(stack):
    with untouched(stack):
        kf.compute_pixel_agreement(stack, "pixels")
        kf.estimate_truth(stack, "truth", methods=["any"], maps=True)
        assert len(files(stack)) == 3 + 2 * 3  # the image with a single rater has a map, but no truth
        copy = stack.clone()
        kf.delete_run(copy, "pixels")
        copy.delete()
        assert len(files(stack)) == 3 + 2 * 3
        kf.rename_run(stack, "pixels", "other")
        assert stack.first()["other_rater_count"].get_map().tolist() == RATER_COUNTS[0]
        kf.delete_run(stack, "other")
        assert len(files(stack)) == 2 * 3
        kf.delete_run(stack, "truth")
        assert not files(stack)


@pytest.mark.parametrize("compute", [kf.compute_pixel_agreement, kf.estimate_truth])
def test_a_run_that_fails_or_is_stopped_half_way_leaves_nothing(stack, compute):
    def stop(_share: float, label: str) -> None:
        if label.startswith("2.png"):
            assert files(stack)  # of the previous images
            raise KeyboardInterrupt

    with untouched(stack), pytest.raises(KeyboardInterrupt):
        compute(stack, "stopped", progress=stop)
    assert not files(stack)
    stack.skip(1).limit(1).set_values("bob", [row([1, 0, 0])])
    with untouched(stack), pytest.raises(InputError, match=r"1.png: masks: expected one size, got .* of 'bob'"):
        compute(stack, "half")
    assert not files(stack)


def test_channels_of_16_bits_are_named_and_chosen(stack, tmp_path):
    """The fourth channel is the share of raters in 30,000ths: more than 8 bits, and a correlation of 1."""
    for number, (sample, counts) in enumerate(zip(stack.iter_samples(autosave=True), RATER_COUNTS, strict=True)):
        sample.filepath = str(tmp_path / f"{number}.tif")
        shares = np.array(counts) * 30_000 // [3, 3, 1][number]
        noise = np.random.default_rng(number).integers(0, 60_000, (1, 4, 3))
        tifffile.imwrite(sample.filepath, np.dstack([noise, shares]).astype(np.uint16), photometric="rgb")
    colours = ["red", "green", "blue", "nir"]
    for key, channels, names in [
        ("numbered", None, ["channel 1", "channel 2", "channel 3", "channel 4"]),
        ("named", colours, [*colours, "intensity", "contrast"]),
        ("chosen", {"nir": 3}, ["nir"]),
    ]:
        run = kf.compute_pixel_agreement(stack, key, images=True, channels=channels)
        found = {each.name: each.r for each in run.details.correlations}
        assert list(found) == names == [each.name for each in run.result.correlations]
        assert found[names[3] if len(names) > 3 else "nir"] == pytest.approx(1)
        assert run.settings["channels"] == channels
    with pytest.raises(InputError, match=r"0.tif: channels: expected"):
        kf.compute_pixel_agreement(stack, "bad", images=True, channels={"nir": 4})


# ---- ground truth ----


def test_truths_of_pixels(made):
    dataset, runs = made
    run, sample = runs["truth"], dataset.first()
    names = {"any": "truth_any", "0.5": "truth_0_5", "staple": "truth_staple", "lsml": "truth_lsml"}
    assert run.metrics["fields"] == names
    assert sample["truth_any"].get_mask().tolist() == [[0, 255, 255, 255]]
    assert sample["truth_0_5"].get_mask().tolist() == [[0, 0, 255, 255]]
    assert dataset.last()["truth_any"] is None  # one rater gives no truth
    truths = run.details.truths
    assert truths["any"].performance.sensitivity == pytest.approx([4 / 5, 4 / 5, 1 / 5])
    assert truths["0.5"].pixels == 3
    assert truths["0.5"].performance.ppv == pytest.approx([3 / 4, 3 / 4, 1])
    again = kf.load_run(dataset, "truth")
    assert list(again.result) == list(run.result) == list(names)
    for name, found in run.result.items():
        for field in fields(found):
            np.testing.assert_array_equal(getattr(again.result[name], field.name), getattr(found, field.name))
    with pytest.raises(InputError, match="a run that can be renamed, got 'truth', whose fields may be references"):
        kf.rename_run(dataset, "truth", "other")
    assert list(label_fields(dataset, MASKS)) == list(RATERS)  # truths are not masks of raters


def test_maps_of_probability_and_entropy(made):
    """Votes of 0, 1/3, 2/3 and all of three: entropies 0, h, h and 0 with h = log2 3 - 2/3 = .918."""
    dataset, runs = made
    run = runs["truth"]
    assert run.metrics["maps"]["0.5 entropy"] == "truth_0_5_entropy"
    sample = dataset.first()
    maps = {name: sample[field].get_map().tolist() for name, field in run.metrics["maps"].items()}
    assert maps["0.5 probability"] == [[0, 85, 170, 255]]
    unknown = round(255 * (np.log2(3) - 2 / 3))
    assert maps["0.5 entropy"] == [[0, unknown, unknown, 0]] == [[0, 234, 234, 0]]
    assert maps["lsml entropy"] == [[0, 0, 0, 0]]
    assert dataset.last()["truth_0_5_entropy"] is None
    assert sample["truth_0_5_entropy"].range == [0, 255]
    assert all(field in run.written for field in run.metrics["maps"].values())


def test_a_truth_of_several_classes_is_one_map(classes):
    dataset = classes({"ann": [0, 1, 2, 2], "bob": [0, 1, 2, 1], "cid": [1, 1, 2, 1]}, {1: "road", 2: "car"})
    kf.estimate_truth(dataset, "truth", methods="0.5")
    assert dataset.first()["truth_0_5"].get_mask().tolist() == [[0, 1, 2, 1]]
    run = kf.compute_pixel_agreement(dataset, "pixels")
    assert list(pixel_classes(run.details)) == ["road", "car"]
    assert dataset.first()["pixels_rater_count"].get_map().tolist() == [[1, 3, 3, 2]]
    assert kf.load_run(dataset, "pixels").result.classes.tolist() == ["road", "car"]


def test_the_consensus_of_objects_is_a_ground_truth(make):
    dataset = make(objects)
    before = without(documents(dataset), {"last_modified_at"})  # which FiftyOne's evaluation sets
    run = kf.estimate_truth(dataset, "truth", quorum=[0.5, 1.0], raters=RATERS)
    assert run.metrics["fields"] == {"quorum 0.5": "truth_quorum_0_5", "quorum 1": "truth_quorum_1"}
    sample = dataset.first()
    (cat,) = sample.truth_quorum_0_5.detections
    assert cat.bounding_box == pytest.approx([0.1, 0.1, 0.4, 0.38])
    assert cat.confidence == pytest.approx(2 / 3)
    assert sorted(cat["truth_match"]) == sorted([sample.ann.detections[0].id, sample.bob.detections[0].id])
    assert sample.truth_quorum_1.detections == []
    assert dataset.last().truth_quorum_0_5.detections == []
    half, whole = run.details.truths.values()
    assert (half.counts["kept"], half.counts["below quorum"], whole.counts["kept"]) == (1, 1, 0)
    assert half.sensitivity.tolist() == [1, 1, 0]
    assert half.ppv.tolist() == [1, 1, 0]
    options: dict[str, Any] = {"eval_key": "ev", "compute_mAP": True, "progress": False}
    assert dataset.evaluate_detections("net", gt_field="truth_quorum_0_5", **options).mAP() == pytest.approx(1)
    dataset.delete_evaluation("ev")  # IoU with the mean of both boxes was 1
    kf.delete_run(dataset, "truth")
    assert without(documents(dataset), {"last_modified_at"}) == before


def test_a_stored_consensus_of_objects_takes_up_what_has_changed(make):
    dataset = make(objects)
    kf.estimate_truth(dataset, "truth", raters=RATERS)
    assert kf.stale_samples(dataset, "truth") == []
    sample = dataset.first()
    sample["cid"] = fo.Detections(detections=[detection("cat", [10, 10, 40, 40])])
    sample.save()
    loaded = kf.load_run(dataset, "truth")
    assert loaded.stale == (sample.id,)
    assert loaded.result["quorum 0.5"].score.tolist() == [1]


# ---- over all images ----


def test_outliers_are_found_over_all_images_unless_raters_are_local(make):
    """dan is an outlier over both images; on each image alone, the outliers differ."""
    marks = {"ann": [0, 1, 1, 1], "bob": [0, 1, 1, 1], "cid": [0, 1, 1, 1], "dan": [1, 0, 0, 0]}
    second = {"ann": [1, 1, 0, 0], "bob": [0, 1, 1, 0], "cid": [0, 1, 1, 0], "dan": [0, 1, 1, 0]}
    given = [{name: row(own) for name, own in of_image.items()} for of_image in (marks, second)]
    dataset = make([make_sample(number, {}, raters=list(masks), **masks) for number, masks in enumerate(given)])
    maps = ([0.1, 0.8, 0.7, 0.9], [0.2, 0.9, 0.8, 0.1])
    dataset.set_values("net", [fo.Heatmap(map=np.array([scores])) for scores in maps])
    masks = [found.stacks["marked"] for found in kf.read_masks(dataset)]
    run = kf.estimate_truth(dataset, "truth", methods="excl-0.5")
    assert run.details.outliers == {"marked": ["dan"]}
    written = [(sample["truth_excl_0_5"].get_mask() > 0).tolist() for sample in dataset]
    assert written == [truth.mask.tolist() for truth in estimate_truths(masks, "excl-0.5")]
    options: dict[str, Any] = {"detectors": "net", "methods": ["excl-0.5"], "skew": (0.1, 0.5)}
    kf.rank_detectors(dataset, "ranks", **options)
    assert kf.load_run(dataset, "ranks").result.outliers == ("dan",)
    local = kf.compute_pixel_agreement(dataset, "pixels", raters_are_local=True)
    assert (local.metrics["raters"], local.metrics["rater_count"]) == ([], "4")
    assert local.metrics["f1"] == pytest.approx(pixel_agreement(masks, raters_are_local=True).mean_f1)
    assert kf.load_run(dataset, "pixels").result.raters_are_local
    truth = kf.estimate_truth(dataset, "local", methods=["any", "excl-0.5"], raters_are_local=True)
    assert (truth.metrics["raters"], truth.metrics["images"], truth.details.outliers) == ([], 2, {})
    ranks = kf.rank_detectors(dataset, "more", raters_are_local=True, **options)
    assert ranks.metrics["truths"] == ["excl-0.5"]


# ---- detectors ----


def test_detectors_under_every_truth(made):
    dataset, runs = made
    run = runs["ranks"]
    assert run.metrics["truths"] == [*RATERS, "any", "0.5", "0.75", "truth_staple"]
    assert run.metrics["values"][0][0] == pytest.approx(1)  # pixels that ann marked score higher than all others
    assert run.metrics["ranks"][0] == [1, 2]
    again = kf.load_run(dataset, "ranks").result
    np.testing.assert_allclose(again.area, run.result.area)
    np.testing.assert_allclose(again.bounds, run.result.bounds)
    assert again.ranking.ranks.tolist() == run.result.ranking.ranks.tolist()


def test_boundaries_have_their_berkeley_evaluation(made):
    """Compare with the library's evaluation; per image, the best F1 of the detector that is best overall."""
    dataset, runs = made
    images = zip(*[dataset.values(f"{name}.map") for name in RANKED["detectors"]], stacks(), strict=True)
    direct = boundary_evaluation([({"good": good, "poor": poor}, masks) for good, poor, masks in images], 9, 0.01)
    for found in (runs["ranks"].details.boundaries, kf.load_details(dataset, "ranks").details.boundaries):
        np.testing.assert_array_equal(found.f1, direct.f1)
        np.testing.assert_array_equal(found.image_f1, direct.image_f1)
        assert (found.tolerance, found.images.tolist()) == (0.01, dataset.values("id"))
    assert direct.ods[0] > direct.ods[1]
    assert dataset.values("ranks_f1") == direct.image_best[0].tolist()


def test_models_on_objects_as_the_library_ranks_them(make):
    dataset = make(objects)
    run = kf.rank_detectors(dataset, "ranks", detectors="net", quorum=[0.5, 1.0], raters=RATERS, thresholds=[0.5, 0.97])
    assert run.metrics["truths"] == [*RATERS, "quorum 0.5", "quorum 1"]
    # IoU .95 with ann and 36/38 with bob: found at .5 only; equal to the consensus: found at both; cid's not found
    assert run.metrics["values"] == [[0.5], [0.5], [0.0], [1.0], [None]]
    assert run.metrics["undefined"] == ["mAP is undefined under quorum 1: it has no annotation"]
    annotations = kf.read_annotations(dataset, raters=RATERS)
    model = kf.read_annotations(dataset, raters=("net",), assigned="all")
    consensus = instance_consensus(agreement(annotations, bootstrap=0)).annotations
    direct = rank_models({"net": (model, [0.9])}, annotations, {"half": consensus}, thresholds=[0.5, 0.97])
    assert direct.ranking.values[:, 0].tolist() == [0.5, 0.5, 0, 1]
    restored = kf.load_run(dataset, "ranks").result
    assert restored.ranking.values[:4].tolist() == direct.ranking.values.tolist()
    np.testing.assert_array_equal(restored.means, run.result.means)


# ---- invalid input ----


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bob": row([0, 0, 0, 1])}, "mask of 'ann': expected 0 and 1, or 0 and 255, got values"),
        ({"ann": fo.Segmentation(mask_path="/no/such.png")}, "such.png: expected a readable"),
    ],
)
def test_masks_that_cannot_be_used(make, given, message):
    masks = {"ann": row([0, 1, 2, 3]), "bob": row([1, 0, 0, 0]), **given}
    dataset = make([make_sample(0, {}, raters=["ann", "bob"], **masks)])
    for compute in (kf.compute_pixel_agreement, kf.estimate_truth):
        with pytest.raises(InputError, match=message):
            compute(dataset, "bad")
    assert kf.list_runs(dataset) == []
    assert not files(dataset)


def test_raters_and_detectors_that_cannot_be_used(stack):
    sample = stack.first()
    sample["poor"] = fo.Heatmap(map=np.array([[0.1, np.nan, 0.2, 0.3]]))
    sample["other"] = fo.Heatmap(map=np.array([[0.1, 0.1, 0.2, 0.3]]))
    sample.save()
    for raters, message in [
        (("ann",), "raters: expected at least two, got ann"),
        (("nobody", "none"), "raters: expected a rater, or a field of Detections, .* got 'nobody'"),
    ]:
        with pytest.raises(InputError, match=message):
            kf.compute_pixel_agreement(stack, "bad", raters=raters)
    for options, message in [
        ({"detectors": []}, "detectors: expected fields, each once, got none"),
        ({"detectors": ["poor"]}, "0.png, scores of 'poor': expected numbers from 0 to 1, got 1 others, such as nan"),
        ({"detectors": ["other"]}, "1.png: expected a score map of 'other', got none"),
        ({"skew": (0.5, 0.1)}, "skew"),
        ({"truths": ["nothing"]}, "truths: expected fields of Segmentation masks, got 'nothing'"),
    ]:
        with pytest.raises(InputError, match=message):
            kf.rank_detectors(stack, "bad", **{"detectors": ["good"], **options})
    assert kf.list_runs(stack) == []


# ---- models of raters and objects ----


@pytest.mark.parametrize("model", first(sorted(SKILL_MODELS)))
def test_who_is_right_about_objects_is_as_the_library_says(make, model):
    dataset = make(seen_by_five)
    before = without(documents(dataset), {"last_modified_at"})
    run = kf.estimate_truth(dataset, "right", model=model, quorum=[0.5, 0.99], raters=FIVE)
    field, strict = f"right_{model}_0_5", f"right_{model}_0_99"
    assert run.metrics["fields"] == {f"{model} 0.5": field, f"{model} 0.99": strict}
    result = agreement(kf.read_annotations(dataset, raters=FIVE), bootstrap=0)
    truth = unit_truth(result, model=model)
    expected = instance_consensus(result, truth=truth)
    assert dataset.count(f"{field}.detections") == len(expected.annotations) >= 12
    by_image = np.argsort(expected.annotations.image, kind="stable")
    score, existence = expected.score[by_image], truth.existence[expected.unit][by_image]
    assert dataset.values(f"{field}.detections.confidence", unwind=True) == pytest.approx(score.tolist())
    assert dataset.values(f"{field}.detections.right_existence", unwind=True) == pytest.approx(existence.tolist())
    boxes = expected.annotations.shapes["box"].xywh()[by_image] / 100
    written = [box for own in dataset.values(f"{field}.detections.bounding_box") for box in own]
    np.testing.assert_allclose(written, boxes)
    assert dataset.count(f"{strict}.detections") == (truth.existence >= 0.99).sum()
    sure = [truth.estimate.confidence[truth.units.image == image].min() for image in range(12)]
    assert dataset.values("right_confidence") == pytest.approx(sure)
    ids = dataset.values("id")
    least = sorted(range(12), key=lambda image: (sure[image], ids[image]))
    assert kf.view_least_sure_first(dataset, "right").values("id") == [ids[image] for image in least]
    missed = kf.view_of_objections(dataset, "right", "eve")
    assert missed.values("id") == dataset.values("id")  # eve saw none of the objects
    assert missed.count(f"{field}.detections") == len(expected.annotations)
    alone = ~expected.is_part & (result.annotations.raters[result.annotations.rater] == "eve")
    assert missed.values("eve.detections.id", unwind=True) == result.annotations.id[alone].tolist()
    assert alone.sum() == 6
    agreed = kf.view_of_objections(dataset, "right", "ann", f"{model} 0.99")
    assert agreed.count(f"{strict}.detections") == sum("ann" in expected.against(row) for row in range(len(score)))
    stored = kf.load_details(dataset, "right").details.truths[f"{model} 0.5"]
    for name in ("skill", "skill_interval", "confusion"):
        np.testing.assert_allclose(getattr(stored.estimate, name), getattr(truth.estimate, name))
    assert (stored.overruled, len(stored.estimate.items)) == (truth.overruled.sum(), 0)
    restored = kf.load_run(dataset, "right").result[f"{model} 0.5"]
    np.testing.assert_allclose(restored.score, expected.score)
    kf.delete_run(dataset, "right")
    assert without(documents(dataset), {"last_modified_at"}) == before


PLACES = ([10, 10, 20, 20], [40, 10, 20, 20], [70, 10, 20, 20], [10, 60, 20, 20])


def differing() -> list[fo.Sample]:
    """Six images on which all see a cat and a dog; on the first, eve takes the cat for a dog, sees an owl alone, is
    not sure about another dog, and misses the dog.
    """
    cat, dog, owl, other = PLACES
    given = [{name: [detection("cat", cat), detection("dog", dog)] for name in FIVE} for _ in range(6)]
    given[0]["eve"] = [detection("dog", cat), detection("owl", owl), detection("dog", other, confidence=0.1)]
    return [in_fields(number, own) for number, own in enumerate(given)]


def labels_of(view: Any, path: str) -> list[tuple[str, list[int]]]:
    """Return class and box in pixels of each label."""
    labels, boxes = view.values([f"{path}.label", f"{path}.bounding_box"])
    return [
        (label, [round(100 * value) for value in box])
        for of_image in zip(labels, boxes, strict=True)
        for label, box in zip(*of_image, strict=True)
    ]


def test_where_a_rater_differs_from_the_objects(make):
    """Another class, a rejected object, and a missed one; labels that were not read and new labels do not count.

    Four of five saw the dog of the first image: at 0.9 it is not an object, so its labels belong to none.
    """
    cat, dog, owl, _ = PLACES
    dataset = make(differing)
    kf.estimate_truth(dataset, "right", model="weighted", raters=FIVE, min_confidence=0.5, quorum=[0.5, 0.9])
    sample = dataset.first()
    sample["eve"].detections.append(detection("owl", [70, 70, 20, 20]))
    sample.save()
    usual, strict = "right_weighted_0_5.detections", "right_weighted_0_9.detections"
    assert (dataset.count(usual), dataset.count(strict)) == (12, 11)
    view = kf.view_of_objections(dataset, "right", "eve")
    assert view.values("id") == [sample.id]
    assert labels_of(view, "eve.detections") == [("dog", cat), ("owl", owl)]
    assert labels_of(view, usual) == [("cat", cat), ("dog", dog)]
    assert len(kf.view_of_objections(dataset, "right", "ann")) == 0
    view = kf.view_of_objections(dataset, "right", "ann", "weighted 0.9")
    assert (labels_of(view, "ann.detections"), labels_of(view, strict)) == ([("dog", dog)], [])


def test_where_a_rater_differs_by_an_attribute_of_labels(make):
    """The same with all labels in one field."""
    samples = []
    for sample in differing():
        own = [(name, label) for name in FIVE for label in sample[name].detections]
        for name, label in own:
            label["by"] = name
        labels = fo.Detections(detections=[label for _, label in own])
        samples.append(fo.Sample(sample.filepath, metadata=sample.metadata, raters=sample.raters, all=labels))
    dataset = make(samples)
    kf.estimate_truth(dataset, "right", model="confusion", field="all", rater_attribute="by", min_confidence=0.5)
    view = kf.view_of_objections(dataset, "right", "eve")
    assert labels_of(view, "all.detections") == [("dog", PLACES[0]), ("owl", PLACES[2])]
    assert labels_of(view, "right_confusion_0_5.detections") == [("cat", PLACES[0]), ("dog", PLACES[1])]
