"""The simulated raters: valid labels, and every habit visible in numbers."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
import shapely
from numpy.typing import NDArray
from PIL import Image

from demo.files import write
from demo.outlines import tidy
from demo.raters import RATERS, Labels, simulate
from demo.scenes import CATEGORIES, Scene, draw_scenes

NAMES = ["ana", "ben", "chen", "dara"]


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    return draw_scenes()


@pytest.fixture(scope="module")
def labels(scenes: list[Scene]) -> Labels:
    return simulate(scenes)


def shape_of(annotation: Labels) -> shapely.Polygon:
    (ring,) = annotation["segmentation"]
    return shapely.Polygon(np.reshape(ring, (-1, 2)))


def best_similarities(scenes: list[Scene], labels: Labels) -> dict[str, list[float]]:
    """For each rater and each true object of the assigned images, the best IoU of an annotation."""
    outlines = defaultdict(list)
    for annotation in labels["annotations"]:
        outlines[annotation["image_id"], annotation["rater_id"]].append(shape_of(annotation))
    best = defaultdict(list)
    for scene, image in zip(scenes, labels["images"], strict=True):
        for rater in image["rater_list"]:
            annotated = np.array(outlines[image["id"], rater], dtype=object)
            for one in scene.objects:
                truth = shapely.Polygon(one.polygon)
                overlap = shapely.area(shapely.intersection(truth, annotated))
                union = truth.area + shapely.area(annotated) - overlap
                best[rater].append(float((overlap / union).max(initial=0)))
    return best


def sources(labels: Labels, rater: str) -> Counter[str]:
    return Counter(a["source"] for a in labels["annotations"] if a["rater_id"] == rater)


def test_same_seed_same_labels(scenes: list[Scene], labels: Labels) -> None:
    assert simulate(scenes) == labels
    assert simulate(scenes, seed=1)["annotations"] != labels["annotations"]


def test_every_mark_is_by_an_assigned_rater(labels: Labels) -> None:
    assigned = {image["id"]: image["rater_list"] for image in labels["images"]}
    for annotation in labels["annotations"]:
        assert annotation["rater_id"] in assigned[annotation["image_id"]]
        assert 1 <= annotation["category_id"] <= len(CATEGORIES)
        assert annotation["source"] in {"as drawn", "wrong class", "merged", "additional"}


def test_every_polygon_is_valid_rounded_and_inside_the_image(labels: Labels) -> None:
    for annotation in labels["annotations"]:
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
        expected = [left, top, right - left, bottom - top]
        assert annotation["bbox"] == pytest.approx(expected, abs=0.006)


def test_rater_lists_differ_by_image(labels: Labels) -> None:
    lists = [image["rater_list"] for image in labels["images"]]
    counts = Counter(rater for raters in lists for rater in raters)
    assert counts == {"ana": 72, "ben": 72, "chen": 60, "dara": 48}
    assert len({tuple(raters) for raters in lists}) == 4
    assert [rater.name for rater in RATERS] == NAMES


def test_nobody_annotates_anything_in_an_empty_scene(scenes: list[Scene], labels: Labels) -> None:
    empty = {number for number, scene in enumerate(scenes, start=1) if not scene.objects}
    assert len(empty) == 4
    assert not empty & {annotation["image_id"] for annotation in labels["annotations"]}


def test_ana_draws_closest_and_ben_loosest(scenes: list[Scene], labels: Labels) -> None:
    best = best_similarities(scenes, labels)
    found = {rater: [iou for iou in best[rater] if iou > 0.3] for rater in NAMES}
    typical = {rater: float(np.median(ious)) for rater, ious in found.items()}
    assert typical["ana"] > typical["chen"] > typical["ben"]
    assert typical["ana"] > 0.9
    assert 0.65 < typical["ben"] < 0.85


def test_ben_misses_small_objects(scenes: list[Scene], labels: Labels) -> None:
    best = np.array(best_similarities(scenes, labels)["ben"])
    areas = np.array([shapely.Polygon(o.polygon).area for s in scenes for o in s.objects])
    missed = best < 0.2
    assert missed[areas < 900].mean() > 0.25
    assert missed[areas > 2500].mean() < 0.06


def test_chen_confuses_look_alikes(labels: Labels) -> None:
    share = {rater: sources(labels, rater)["wrong class"] / sources(labels, rater).total() for rater in NAMES}
    assert 0.1 < share["chen"] < 0.3
    assert max(share["ana"], share["ben"], share["dara"]) < 0.05


def test_dara_merges_neighbours_and_annotates_what_is_not_there(scenes: list[Scene], labels: Labels) -> None:
    assert [sources(labels, rater)["merged"] for rater in NAMES[:3]] == [0, 0, 0]
    assert sources(labels, "dara")["merged"] >= 20
    added = [sources(labels, rater)["additional"] for rater in NAMES]
    assert added[3] >= 8
    assert added[3] == max(added)
    assert added[0] == 0
    for annotation in labels["annotations"]:
        shares = covered_shares(annotation, scenes[annotation["image_id"] - 1])
        if annotation["source"] == "merged":
            assert (shares > 0.6).sum() >= 2
        if annotation["source"] == "additional":
            assert shares.max() < 0.1


def covered_shares(annotation: Labels, scene: Scene) -> NDArray[np.float64]:
    """For each object of the category of the annotation, the share of it that the annotation covers."""
    name = CATEGORIES[annotation["category_id"] - 1]
    shapes = [shapely.Polygon(one.polygon) for one in scene.objects if one.category == name]
    return np.array([(shape_of(annotation) & shape).area / shape.area for shape in shapes])


def test_tidy_cuts_at_the_edge_and_drops_what_is_too_small() -> None:
    cut = tidy(shapely.box(-10, -10, 10, 10), (100, 100))
    assert cut is not None
    assert cut.equals(shapely.box(0, 0, 10, 10))
    assert tidy(shapely.box(200, 0, 210, 10), (100, 100)) is None
    assert tidy(shapely.box(0, 0, 1, 1), (100, 100)) is None


def test_write_saves_images_and_labels(tmp_path: Path) -> None:
    scenes = draw_scenes(2)
    labels = simulate(scenes)
    folder = write(tmp_path / "a" / "demo", scenes, labels)
    assert json.loads((folder / "labels.json").read_text(encoding="utf-8")) == labels
    for image in labels["images"]:
        with Image.open(folder / "images" / image["file_name"]) as image_file:
            assert image_file.size == (image["width"], image["height"])
    assert write(folder, scenes[:1], simulate(scenes[:1])) == folder  # an earlier demo is replaced
    assert [path.name for path in (folder / "images").iterdir()] == ["street-000.jpg"]
    assert [path.name for path in folder.parent.iterdir()] == ["demo"]


def test_a_failed_write_leaves_nothing_and_keeps_an_earlier_demo(tmp_path: Path) -> None:
    scenes = draw_scenes(1)
    labels = simulate(scenes)
    broken = {**labels, "info": {"description": float("nan")}}
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "demo", scenes, broken)
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "demo", scenes, labels)
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "demo", scenes, broken)
    assert [path.name for path in tmp_path.iterdir()] == ["demo"]
    assert json.loads((tmp_path / "demo" / "labels.json").read_text(encoding="utf-8")) == labels


def test_write_refuses_a_folder_with_other_files(tmp_path: Path) -> None:
    scenes = draw_scenes(1)
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(FileExistsError, match="not an earlier demo"):
        write(tmp_path, scenes, simulate(scenes))
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(NotADirectoryError, match="is a file"):
        write(tmp_path / "notes.txt", scenes, simulate(scenes))
