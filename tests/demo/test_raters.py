"""Simulated raters: valid labels, with every habit visible in numbers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import shapely
from PIL import Image

from demo.files import write
from demo.raters import RATERS, Labels, simulate
from demo.scenes import CATEGORIES, draw_scenes, objects_of, plan_scene

NAMES = ["ana", "ben", "chen", "dara"]
Scenes = list[SimpleNamespace]


@pytest.fixture(scope="module")
def scenes() -> Scenes:
    """Return scenes without paint, which is slow, and which the simulated raters do not use."""
    plans = [plan_scene(index) for index in range(72)]
    images = [SimpleNamespace(size=plan.size) for plan in plans]
    return [
        SimpleNamespace(name=plan.name, theme=plan.theme.name, image=image, objects=objects_of(plan))
        for plan, image in zip(plans, images, strict=True)
    ]


@pytest.fixture(scope="module")
def labels(scenes: Scenes) -> Labels:
    return simulate(scenes)


@pytest.fixture(scope="module")
def sources(labels: Labels) -> dict[str, Counter[str]]:
    """Count the origins of each rater's annotations."""
    return {name: Counter(a["source"] for a in labels["annotations"] if a["rater_id"] == name) for name in NAMES}


def shape_of(annotation: Labels) -> shapely.Polygon:
    (ring,) = annotation["segmentation"]
    return shapely.Polygon(np.reshape(ring, (-1, 2)))


@pytest.fixture(scope="module")
def best(scenes: Scenes, labels: Labels) -> dict[str, np.ndarray]:
    """Return, for each rater and each true object of the assigned images, the best IoU of an annotation."""
    outlines = defaultdict(list)
    for annotation in labels["annotations"]:
        outlines[annotation["image_id"], annotation["rater_id"]].append(shape_of(annotation))
    found = defaultdict(list)
    for scene, image in zip(scenes, labels["images"], strict=True):
        for rater in image["rater_list"]:
            annotated = np.array(outlines[image["id"], rater], dtype=object)
            for one in scene.objects:
                truth = shapely.Polygon(one.polygon)
                overlap = shapely.area(shapely.intersection(truth, annotated))
                union = truth.area + shapely.area(annotated) - overlap
                found[rater].append(float((overlap / union).max(initial=0)))
    return {rater: np.array(values) for rater, values in found.items()}


def test_the_same_seed_gives_the_same_sound_coco(scenes: Scenes, labels: Labels) -> None:
    few = simulate(scenes[:9])
    assert simulate(scenes[:9]) == few
    assert simulate(scenes[:9], seed=1)["annotations"] != few["annotations"]
    assert [c["name"] for c in labels["categories"]] == list(CATEGORIES)
    for records in ("categories", "images", "annotations"):
        assert [record["id"] for record in labels[records]] == list(range(1, len(labels[records]) + 1))
    assert len(labels["images"]) == len(scenes)
    json.dumps(labels, allow_nan=False)  # finite, and plain Python numbers


def test_every_mark_is_by_an_assigned_rater_valid_rounded_and_inside_its_image(labels: Labels) -> None:
    assigned = {image["id"]: image["rater_list"] for image in labels["images"]}
    for annotation in labels["annotations"]:
        assert annotation["rater_id"] in assigned[annotation["image_id"]]
        assert 1 <= annotation["category_id"] <= len(CATEGORIES)
        assert annotation["source"] in {"as drawn", "wrong class", "merged", "additional"}
        (ring,) = annotation["segmentation"]
        outline = shape_of(annotation)
        assert len(ring) >= 6
        assert ring == [round(value, 2) for value in ring]
        assert outline.is_valid
        assert min(ring) >= 0
        assert max(ring[::2]) <= 640
        assert max(ring[1::2]) <= 480
        assert annotation["area"] == pytest.approx(outline.area, abs=0.006)
        assert annotation["area"] >= 4
        left, top, right, bottom = outline.bounds
        assert annotation["bbox"] == pytest.approx([left, top, right - left, bottom - top], abs=0.006)


def test_rater_lists_differ_by_image_and_empty_scenes_have_no_annotations(scenes: Scenes, labels: Labels) -> None:
    lists = [image["rater_list"] for image in labels["images"]]
    counts = Counter(rater for raters in lists for rater in raters)
    assert counts == {"ana": 72, "ben": 72, "chen": 60, "dara": 48}
    assert len({tuple(raters) for raters in lists}) == 4
    assert [rater.name for rater in RATERS] == NAMES
    empty = {number for number, scene in enumerate(scenes, start=1) if not scene.objects}
    assert len(empty) == 4
    assert not empty & {annotation["image_id"] for annotation in labels["annotations"]}


def test_ana_draws_closest_and_ben_loosest_and_misses_small_objects(scenes: Scenes, best: dict) -> None:
    typical = {rater: float(np.median(ious[ious > 0.3])) for rater, ious in best.items()}
    assert typical["ana"] > typical["chen"] > typical["ben"]
    assert typical["ana"] > 0.9
    assert 0.65 < typical["ben"] < 0.85
    found = {rater: float((best[rater] >= 0.5).mean()) for rater in NAMES}
    assert found["ana"] > 0.95
    assert 0.75 < found["ben"] < 0.93
    assert 0.55 < found["dara"] < 0.85
    areas = np.array([shapely.Polygon(one.polygon).area for scene in scenes for one in scene.objects])
    missed = best["ben"] < 0.2
    assert missed[areas < 900].mean() > 0.25
    assert missed[areas > 2500].mean() < 0.06


def test_dara_merges_neighbours_and_adds_false_positives(scenes: Scenes, labels: Labels, sources: dict) -> None:
    assert [sources[rater]["merged"] for rater in NAMES[:3]] == [0, 0, 0]
    assert sources["dara"]["merged"] >= 20
    added = [sources[rater]["additional"] for rater in NAMES]
    assert (added[0], added[3]) == (0, max(added))
    assert added[3] >= 8
    for annotation in labels["annotations"]:
        # share of each object of its category that the annotation covers
        name, outline = CATEGORIES[annotation["category_id"] - 1], shape_of(annotation)
        objects = [one for one in scenes[annotation["image_id"] - 1].objects if one.category == name]
        shapes = [shapely.Polygon(one.polygon) for one in objects]
        shares = np.array([(outline & shape).area / shape.area for shape in shapes])
        assert annotation["source"] != "merged" or (shares > 0.6).sum() >= 2
        assert annotation["source"] != "additional" or shares.max() < 0.1


def test_write_saves_images_and_labels_and_a_failure_keeps_an_earlier_demo(tmp_path: Path) -> None:
    scenes = draw_scenes(2)
    labels = simulate(scenes)
    folder = write(tmp_path / "a" / "demo", scenes, labels)
    assert json.loads((folder / "labels.json").read_text(encoding="utf-8")) == labels
    for image in labels["images"]:
        with Image.open(folder / "images" / image["file_name"]) as image_file:
            assert image_file.size == (image["width"], image["height"])
    one = simulate(scenes[:1])
    assert write(folder, scenes[:1], one) == folder  # an earlier demo is replaced
    assert [path.name for path in (folder / "images").iterdir()] == ["street-000.jpg"]
    for target in (folder, folder.parent / "new"):
        with pytest.raises(ValueError, match="JSON"):
            write(target, scenes, {**labels, "info": {"description": float("nan")}})
    assert [path.name for path in folder.parent.iterdir()] == ["demo"]
    assert json.loads((folder / "labels.json").read_text(encoding="utf-8")) == one


def test_write_refuses_a_folder_with_other_files(tmp_path: Path) -> None:
    scenes = draw_scenes(1)
    labels = simulate(scenes)
    folder = write(tmp_path / "demo", scenes, labels)
    (folder / "images" / "mine.jpg").write_bytes(b"mine")
    for target in (folder, tmp_path):
        with pytest.raises(FileExistsError, match="not an earlier demo"):
            write(target, scenes, labels)
    with pytest.raises(NotADirectoryError, match="is a file"):
        write(folder / "labels.json", scenes, labels)
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert (folder / "images" / "mine.jpg").read_bytes() == b"mine"
