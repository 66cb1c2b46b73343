"""Commands on other input than annotations of objects, and the choice of a reader."""

import json

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from kalos_core import (
    agreement,
    boundary_agreement,
    dawid_skene,
    disputed_regions,
    label_agreement,
    map_of_predictions,
    next_to_rate,
    pixel_agreement,
    read_coco,
    read_long_labels,
    read_mask_folders,
    read_wide_labels,
    region_agreement,
    sparse_agreement,
    staple_classes,
    unit_agreement,
    unit_boundaries,
    unit_truth,
)
from kalos_core.cli import main
from kalos_core.cli.ranks import read_predictions


def found_by(arguments, capsys):
    assert main([*map(str, arguments), "--json", "-"]) == 0
    return json.loads(capsys.readouterr().out)


def test_images_for_one_more_rater(labels, capsys):
    document = found_by(
        ["agreement", labels, "--next", 2, "--statistic", "alpha", "--bootstrap", 20, "--seed", 3], capsys
    )
    expected = next_to_rate(agreement(read_coco(labels), bootstrap=20, seed=3), 2, "alpha", seed=3)
    assert len(expected) == 2
    assert [row["image"] for row in document["tables"]["next"]] == expected.image.tolist()
    assert [row["narrowing"] for row in document["tables"]["next"]] == pytest.approx(expected.narrowing.tolist())
    assert "next" not in found_by(["agreement", labels], capsys)["tables"]


def test_boundaries_of_matched_annotations(outlined, labels, capsys):
    options = ["--similarity", "polygon_iou", "--tolerance", "1", "--spacing", "0.5", "1", "--bootstrap", "20"]
    document = found_by(["agreement", outlined, "--boundaries", *options], capsys)
    matched = agreement(read_coco(outlined), "polygon_iou", bootstrap=20)
    expected = unit_boundaries(matched, spacing=[0.5, 1], tolerance=1, bootstrap=20)
    assert document["results"]["boundaries"] == pytest.approx(expected.summary())
    rows = document["tables"]["boundaries"]
    assert [row["hausdorff"] for row in rows] == pytest.approx(
        [0.5, 1, 0.5] * 3
    )  # ann and bob, ann and cid, bob and cid
    assert "boundaries" not in found_by(["agreement", outlined], capsys)["results"]
    assert main(["agreement", str(labels), "--boundaries"]) == 2
    assert "expected a polygon or a mask of every annotation" in capsys.readouterr().err


def test_no_images_without_an_interval(labels, capsys):
    assert main(["agreement", str(labels), "--next", "2", "--bootstrap", "0"]) == 2
    assert "expected one with an interval" in capsys.readouterr().err


def test_who_is_right_about_objects(labels, capsys):
    document = found_by(["agreement", labels, "--truth", "one_coin", "--bootstrap", 0], capsys)
    expected = unit_truth(agreement(read_coco(labels), bootstrap=0), "one_coin")
    tables = document["tables"]
    assert [row["existence"] for row in tables["truth"]] == pytest.approx(expected.existence.tolist())
    assert {row["unit"] for row in tables["annotations"]} == {row["unit"] for row in tables["truth"]}
    assert [row["skill"] for row in tables["skill"]] == pytest.approx(expected.estimate.skill.tolist())
    confusion = [row["probability"] for row in tables["confusion"]]
    assert confusion == pytest.approx(expected.estimate.confusion.ravel().tolist())
    assert f"who is right: {expected.headline}" in document["results"]["notes"]
    assert "truth" not in found_by(["agreement", labels, "--bootstrap", 0], capsys)["tables"]
    assert main(["agreement", str(labels), "--truth", "glad"]) == 2
    assert "truth: expected" in capsys.readouterr().err


def test_labels_of_a_long_table(table, capsys):
    document = found_by(["labels", table, "--bootstrap", 20], capsys)
    expected = label_agreement(read_long_labels(table), bootstrap=20)
    assert document["results"]["mean_alpha"] == expected.alpha[0]
    assert document["tables"]["questions"][0]["free_marginal_low"] == expected.free_marginal_interval[0, 0]
    assert document["results"]["disputes"] == 3  # those of cid


def test_labels_of_a_wide_table_with_a_reference(wide, capsys):
    document = found_by(["labels", wide, "--reference", "ann"], capsys)
    assert [(row["rater"], row["to_reference"]) for row in document["tables"]["raters"]] == [
        ("bob", 2 / 3),
        ("cid", 2 / 3),
    ]
    assert document["results"]["alpha"] == {"label": 1.0}  # of bob and cid: the reference is kept out


def test_the_truth_of_labels_is_estimated_where_it_is_asked_for(table, capsys):
    assert "truth" not in found_by(["labels", table], capsys)["tables"]
    tables = found_by(["labels", table, "--truth", "one_coin"], capsys)["tables"]
    expected = dawid_skene(read_long_labels(table), model="one_coin")
    assert [row["label"] for row in tables["truth"]] == expected.labels.tolist()
    assert [row["confidence"] for row in tables["truth"]] == pytest.approx(expected.confidence.tolist())
    assert [row["skill"] for row in tables["skill"]] == pytest.approx(expected.skill.tolist())
    assert [row["probability"] for row in tables["confusion"]] == pytest.approx(expected.confusion.ravel().tolist())
    assert main(["labels", str(table), "--truth", "glad"]) == 2
    assert "truth: expected" in capsys.readouterr().err


def test_teams_and_groups_come_from_a_configuration(table, tmp_path, capsys):
    config = tmp_path / "labels.yaml"
    config.write_text("teams: {experts: [ann, bob], crowd: [cid]}\ngroups: null\n")
    document = found_by(["labels", table, "--config", config], capsys)
    assert [row["question"] for row in document["tables"]["questions"]] == ["cat", "dog"]
    assert document["tables"]["teams"]


def test_columns_have_other_names(table, capsys, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(table.read_text(encoding="utf-8").replace("item,rater,label", "file,who,what"), encoding="utf-8")
    names = ["--item", "file", "--rater", "who", "--label", "what"]
    renamed = found_by(["labels", other, *names], capsys)
    assert renamed["results"] == found_by(["labels", table], capsys)["results"]


def test_an_option_of_another_table_is_an_error(wide, capsys):
    assert main(["labels", str(wide), "--time", "when"]) == 2
    assert "format 'wide': expected no option time" in capsys.readouterr().err


def test_sparse_agreement_of_labels_and_of_objects(table, wide, labels, capsys):
    of_table = found_by(["sparse", table], capsys)
    assert of_table["results"]["value"] == sparse_agreement(read_long_labels(table).counts()).value
    of_wide = found_by(["sparse", wide, "--format", "wide", "--weights", "flat"], capsys)
    assert of_wide["results"]["value"] == sparse_agreement(read_wide_labels(wide).counts(), "flat").value
    assert of_wide["results"]["value"] == pytest.approx((1 + 1 + 1 / 3) / 3)  # of the third item's pairs one agrees
    of_objects = found_by(["sparse", labels, "--threshold", 0.6], capsys)
    assert of_objects["results"]["value"] == unit_agreement(agreement(read_coco(labels), threshold=0.6)).value


def test_pixels_of_folders(masks, capsys):
    document = found_by(["pixels", masks], capsys)
    expected = pixel_agreement(read_mask_folders(masks).stacks())
    assert document["results"]["mean_f1"] == expected.mean_f1
    # ann has 8 columns, bob 7 and cid 6 of them: F1 is twice the shared ones by all
    assert [row["f1"] for row in document["tables"]["pairs"]] == pytest.approx([14 / 15, 12 / 14, 12 / 13])


def test_boundaries_of_folders(masks, capsys):
    options = ["--boundaries", "--tolerance", "0.5", "--spacing", "1", "0.5", "--bootstrap", "20"]
    document = found_by(["pixels", masks, *options], capsys)
    stacks = list(read_mask_folders(masks).stacks())
    expected = boundary_agreement(stacks, spacing=[1, 0.5], tolerance=0.5, bootstrap=20)
    assert document["results"]["boundaries"] == pytest.approx(expected.summary())
    rows = document["tables"]["boundaries"]
    assert [row["average"] for row in rows] == pytest.approx(expected.average.tolist())
    assert "boundaries" not in found_by(["pixels", masks], capsys)["results"]


def test_regions_of_folders(masks, capsys):
    document = found_by(["pixels", masks, "--regions", "--min-area", "2", "--min-width", "1"], capsys)
    expected = disputed_regions(read_mask_folders(masks).stacks(), min_area=2, min_width=1)
    assert document["results"]["regions"] == {"count": len(expected), "area": int(expected.area.sum())}
    rows = document["tables"]["regions"]  # two columns of five pixels on each image, one of which bob has, too
    assert [list(row.values()) for row in rows] == [[n, 10, 0, 2, 2, 5, "ann, bob", "cid"] for n in ("0", "1")]


def test_divisions_of_label_maps(tmp_path, capsys):
    # bob numbers ann's halves otherwise; cid divides them into thirds: 2 of 6 columns are elsewhere
    maps = {"ann": [1, 1, 1, 2, 2, 2], "bob": [7, 7, 7, 5, 5, 5], "cid": [1, 1, 2, 2, 3, 3]}
    for rater, row in maps.items():
        (tmp_path / "maps" / rater).mkdir(parents=True)
        for image in "ab":
            Image.fromarray(np.array([row], np.uint8)).save(tmp_path / "maps" / rater / f"{image}.png")
    document = found_by(["divisions", tmp_path / "maps", "--bootstrap", "5"], capsys)
    expected = region_agreement(read_mask_folders(tmp_path / "maps").label_stacks, bootstrap=5)
    assert document["results"] == pytest.approx(expected.summary())
    pairs = document["tables"]["pairs"]
    unknown = 2 / 3 * np.log2(3 / 2) + 1 / 3 * np.log2(6)
    assert [row["adjusted_rand"] for row in pairs] == pytest.approx([1, 8 / 33, 8 / 33])
    assert [row["variation_of_information"] for row in pairs] == pytest.approx([0, unknown, unknown])
    assert [row["covering"] for row in pairs] == pytest.approx([1, 43 / 72, 43 / 72])
    assert {row["image"] for row in document["tables"]["image_pairs"]} == {"a", "b"}
    local = found_by(["divisions", tmp_path / "maps", "--raters-are-local"], capsys)
    assert "pairs" not in local["tables"]


@pytest.fixture
def label_maps(tmp_path):
    """Three raters of which cid calls half of what is 1 otherwise; on the second image ann is alone."""
    maps = {"ann": [0, 1, 1, 2], "bob": [0, 1, 1, 2], "cid": [0, 1, 2, 1]}
    for rater, row in maps.items():
        (tmp_path / "maps" / rater).mkdir(parents=True)
        for image in "ab" if rater == "ann" else "a":
            Image.fromarray(np.array([row], np.uint8)).save(tmp_path / "maps" / rater / f"{image}.png")
    return tmp_path / "maps"


def test_truth_of_label_maps(label_maps, tmp_path, capsys):
    out = tmp_path / "out"
    options = ["--classes", "{1: road, 2: car}"]
    document = found_by(["truth", label_maps, *options, "--out", out], capsys)
    expected = staple_classes(next(read_mask_folders(label_maps).label_stacks()), {1: "road", 2: "car"})
    assert np.asarray(Image.open(out / "a.png")).tolist() == expected.labels.tolist() == [[0, 1, 1, 2]]
    assert not (out / "b.png").exists()
    assert document["results"] == {
        "images": 1,
        "alone": 1,
        "tied": 0,
        "unsettled": 0,
        "accuracy": pytest.approx(dict(zip(expected.raters, expected.accuracy, strict=True))),
    }
    tables = document["tables"]
    assert [(row["class"], row["value"], row["pixels"]) for row in tables["classes"]] == [
        ("background", 0, 1),
        ("road", 1, 2),
        ("car", 2, 1),
    ]
    # of what is a road cid calls half a car, and every car a road
    of_cid = {(row["true"], row["said"]): row["probability"] for row in tables["confusion"] if row["rater"] == "cid"}
    assert of_cid["road", "car"] == pytest.approx(0.5)
    assert of_cid["car", "road"] == pytest.approx(1)
    assert [row["image"] for row in tables["raters"]] == ["a"] * 3


def test_truth_of_large_values_and_with_a_prior(label_maps, tmp_path, capsys):
    for file in label_maps.glob("*/*.png"):
        Image.fromarray(np.asarray(Image.open(file)).astype(np.uint16) * 300).save(file)
    out = tmp_path / "out"
    prior = "{0: 0.2, 300: 0.4, 600: 0.4}"
    found_by(["truth", label_maps, "--prior", prior, "--out", out], capsys)
    assert np.asarray(Image.open(out / "a.png")).tolist() == [[0, 300, 300, 600]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--classes", "{1: road}"], "image 'a': expected 0 or the values of classes 1, got 2"),
        (["--classes", "{road: 1}"], "classes: road: expected text, got 1"),
        (["--prior", "{x: 0.5}"], "prior: expected values of label maps, whole numbers from 0, got 'x'"),
        (["--iterations", "0"], "iterations: expected a whole number of at least 1"),
    ],
)
def test_truth_refuses(label_maps, capsys, options, message):
    assert main(["truth", str(label_maps), *options]) == 2
    assert message in capsys.readouterr().err


def test_divisions_of_annotations_are_refused(labels, capsys):
    assert main(["divisions", str(labels)]) == 2
    assert "expected" in capsys.readouterr().err


def test_pixels_of_annotations(tmp_path, capsys):
    image = {"id": 1, "file_name": "a.jpg", "width": 9, "height": 9, "rater_list": ["ann", "bob"]}
    rows = [
        {"id": n, "image_id": 1, "category_id": 1, "rater_id": rater, "segmentation": [[0, 0, x, 0, x, 4, 0, 4]]}
        for n, (rater, x) in enumerate((("ann", 4), ("bob", 8)), 1)
    ]
    path = tmp_path / "polygons.json"
    path.write_text(json.dumps({"images": [image], "categories": [{"id": 1, "name": "cat"}], "annotations": rows}))
    assert found_by(["pixels", path], capsys)["results"]["mean_f1"] == pytest.approx(2 * 16 / (16 + 32))


def test_models_are_ranked(labels, predictions, capsys):
    document = found_by(["rank", labels, "--models", f"net={predictions}"], capsys)
    expected = map_of_predictions(read_coco(labels), *read_predictions(predictions, labels, "net"))
    assert [row["map"] for row in document["tables"]["models"]] == pytest.approx(
        expected.by_rater.mean(axis=0).tolist()
    )
    assert document["tables"]["models"][0] == {"truth": "ann", "model": "net", "map": 1.0, "rank": 1.0}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([{"image_id": 1}], "prediction 1: expected a score, got none"),
        ([3], "expected records of COCO, got 3"),
        ({"images": []}, "expected COCO with a list 'annotations', got none"),
        ("net", "expected COCO with a list 'annotations', got none"),
    ],
)
def test_predictions_that_cannot_be_used_are_named(labels, tmp_path, capsys, content, message):
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(content))
    assert main(["rank", str(labels), "--models", str(path)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "bad.json" in error


def test_a_model_is_needed(labels, capsys):
    assert main(["rank", str(labels)]) == 2
    assert capsys.readouterr().err == "models: expected at least one, got none\n"


def test_image_level_labels_are_a_table(labels, table, capsys):
    assert main(["labels", str(labels)]) == 2
    assert "labels.json: expected a CSV file, or a format" in capsys.readouterr().err
    other = table.rename(table.with_suffix(".data"))
    assert main(["labels", str(other), "--format", "long"]) == 0


def test_nothing_parts_labels(table, capsys):
    assert main(["labels", str(table), "--separator", ""]) == 2
    assert capsys.readouterr().err.startswith("separator: expected what stands between two labels")


def test_pixels_of_bsds(tmp_path, capsys):
    """Boundaries of two segmenters: two pixels of both, one of the second only."""
    cells = np.empty((1, 2), object)
    for number, edges in enumerate(([[0, 1], [0, 1]], [[0, 1], [1, 1]])):
        cells[0, number] = {"Segmentation": np.ones((2, 2), np.uint16), "Boundaries": np.array(edges, bool)}
    savemat(tmp_path / "2018.mat", {"groundTruth": cells})
    document = found_by(["pixels", tmp_path], capsys)
    assert document["results"]["mean_f1"] == pytest.approx(2 * 2 / (2 + 3))
    assert list(document["tables"]) == ["images"]  # segmenters have no names


def test_classifiers_are_ranked(table, scores, capsys):
    """ann and bob say cat on even items, as the classifier does. cid's one cat is item 6, which it puts above four
    others and level with 0, 2 and 4: AUC is (4 + 3 / 2) / 7."""
    document = found_by(["rank", table, "--models", f"net={scores}"], capsys)
    auc = {row["truth"]: row["value"] for row in document["tables"]["classifiers"] if row["measure"] == "AUC"}
    assert auc == pytest.approx({"ann": 1, "bob": 1, "cid": (4 + 3 / 2) / 7, "majority": 1})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,score\n", "scores.csv: expected the columns label, got item, score"),
        ("item,label,score\n1,cat,high\n", "line 2: expected a number as score, got 'high'"),
        ("item,label,score\n1,cat,1\n1,cat,2\n", "line 3: expected one score of each label and item, got another"),
    ],
)
def test_scores_that_cannot_be_used_are_named(table, scores, capsys, text, message):
    scores.write_text(text, encoding="utf-8")
    assert main(["rank", str(table), "--models", str(scores)]) == 2
    assert message in capsys.readouterr().err
