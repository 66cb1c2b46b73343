"""Commands on all kinds of input give the numbers of the library, or those worked out by hand."""

import shlex

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

import kalos_core as k
from kalos_core.cli import main
from kalos_core.cli.ranks import read_predictions
from kalos_core.consensus import staple_classes
from kalos_core.convergence import map_of_predictions
from kalos_core.pixels import disputed_regions, unit_boundaries
from tests.readers.cases import write


def found_at(document, place):
    """Return the value at a path such as "tables/raters/alpha"; of tables, the column."""
    for key in place.split("/"):
        document = [row[key] for row in document] if isinstance(document, list) else document[key]
    return document


def without_null(found):
    """Return NaN for null, which JSON has instead, for example for intervals of few images."""
    if isinstance(found, dict):
        return {name: without_null(value) for name, value in found.items()}
    return [*map(without_null, found)] if isinstance(found, list) else np.nan if found is None else found


@pytest.fixture
def check(files, found_by):
    """Return a function that runs a line with short file names, and compares values in its document ("__" is "/")."""

    def run(line, **expected):
        document = found_by(*shlex.split(line.format(**files)))
        for place, values in expected.items():
            values = values.tolist() if isinstance(values, np.ndarray) else values
            found = without_null(found_at(document, place.replace("__", "/")))
            assert found == pytest.approx(values, nan_ok=True), place
        return document

    return run


def test_images_for_one_more_rater(labels, check):
    expected = k.next_to_rate(k.agreement(k.read_coco(labels), bootstrap=20, seed=3), 2, "alpha", seed=3)
    assert len(expected)
    check(
        "agreement {labels} --next 2 --statistic alpha --bootstrap 20 --seed 3",
        tables__next__image=expected.image,
        tables__next__narrowing=expected.narrowing,
    )
    assert "next" not in check("agreement {labels}")["tables"]


def test_boundaries_of_matched_annotations(files, check):
    matched = k.agreement(k.read_coco(files["outlined"]), "polygon_iou", bootstrap=20)
    expected = unit_boundaries(matched, spacing=[0.5, 1], tolerance=1, bootstrap=20)
    options = "--similarity polygon_iou --tolerance 1 --spacing 0.5 1 --bootstrap 20"
    check(
        "agreement {outlined} --boundaries " + options,
        results__boundaries=expected.summary(),
        tables__boundaries__hausdorff=[0.5, 1, 0.5] * 8,  # ann and bob, ann and cid, bob and cid
    )
    assert "boundaries" not in check("agreement {outlined}")["results"]


def test_who_is_right_about_objects(labels, check):
    expected = k.unit_truth(k.agreement(k.read_coco(labels), bootstrap=0), model="one_coin")
    document = check(
        "agreement {labels} --truth one_coin --bootstrap 0",
        tables__truth__existence=expected.existence,
        tables__skill__skill=expected.estimate.skill,
        tables__confusion__probability=expected.estimate.confusion.ravel(),
    )
    tables = document["tables"]
    assert {row["unit"] for row in tables["annotations"]} == {row["unit"] for row in tables["truth"]}
    assert f"who is right: {expected.headline}" in document["results"]["notes"]
    assert "truth" not in check("agreement {labels} --bootstrap 0")["tables"]


def test_labels_of_tables(files, check):
    expected = k.label_agreement(k.read_long_labels(files["table"]), bootstrap=20)
    check(
        "labels {table} --bootstrap 20",
        results__mean_alpha=expected.alpha[0],
        tables__questions__free_marginal_low=expected.free_marginal_interval[:, 0],
        results__disputes=3,  # those of cid
    )
    check(
        "labels {wide} --reference ann",
        tables__raters__rater=["bob", "cid"],
        tables__raters__to_reference=[2 / 3, 2 / 3],
        results__alpha={"label": 1.0},  # of bob and cid; the reference is excluded
    )


def test_the_truth_of_labels_is_estimated_where_it_is_asked_for(files, check):
    assert "truth" not in check("labels {table}")["tables"]
    expected = k.dawid_skene(k.read_long_labels(files["table"]), model="one_coin")
    check(
        "labels {table} --truth one_coin",
        tables__truth__label=expected.labels,
        tables__truth__confidence=expected.confidence,
        tables__skill__skill=expected.skill,
        tables__confusion__probability=expected.confusion.ravel(),
    )


def test_teams_groups_and_other_names_of_columns(files, tmp_path, check):
    (tmp_path / "labels.yaml").write_text("teams: {experts: [ann, bob], crowd: [cid]}\ngroups: null\n")
    document = check(
        f"labels {{table}} --config {tmp_path / 'labels.yaml'}", tables__questions__question=["cat", "dog"]
    )
    assert document["tables"]["teams"]
    text = files["table"].read_text(encoding="utf-8")
    (tmp_path / "other.data").write_text(text.replace("item,rater,label", "file,who,what"), encoding="utf-8")
    options = "--format long --item file --rater who --label what"
    expected = check("labels {table}")["results"]
    assert check(f"labels {tmp_path / 'other.data'} {options}")["results"] == expected


def test_sparse_agreement_of_labels_and_of_objects(files, check):
    of_table = k.sparse_agreement(k.read_long_labels(files["table"]).counts())
    check("sparse {table}", results__value=of_table.value)
    of_wide = k.sparse_agreement(k.read_wide_labels(files["wide"]).counts(), "flat").value
    assert of_wide == pytest.approx((1 + 1 + 1 / 3) / 3)  # of the third item's pairs one agrees
    check("sparse {wide} --format wide --weights flat", results__value=of_wide)
    of_objects = k.unit_agreement(k.agreement(k.read_coco(files["labels"]), threshold=0.6))
    check("sparse {labels} --threshold 0.6", results__value=of_objects.value)


def test_choices_are_read_by_each_command_on_labels(tmp_path, check):
    result = {"type": "choices", "from_name": "q"}
    tasks = [
        {"id": task, "data": {}, "annotations": [
            {"completed_by": rater, "result": [result | {"value": {"choices": [said]}}]}
            for rater, said in enumerate(given)
        ]}
        for task, given in ((1, "aa"), (2, "ba"))
    ]  # fmt: skip
    path = write(tmp_path, tasks, "export.json")
    document = check(f"labels {path}", results__mean_alpha=0.0)  # 1 - (1 / 2) / (3 / 6)
    assert document["read"] == {str(path): {"read": 4, "left_out": {}, "unused": {}, "notes": []}}
    check(f"sparse {path} --weights flat", results__value=0.5)
    scores = write(tmp_path, "item,label,score\n1,a,.9\n1,b,.1\n2,a,.2\n2,b,.8\n", "scores.csv")
    rows = check(f"rank {path} --predictions net={scores} --missing-scores skip")["tables"]["classifiers"]
    assert {row["truth"] for row in rows} == {"0", "1", "majority"}


def test_guessed_columns_are_said_in_one_line(files, tmp_path, capsys):
    boxes = write(tmp_path, "file_name,who,label,x1,y1,x2,y2\na,ann,c,1,2,3,4\na,bob,c,1,2,3,4\n", "boxes.csv")
    words = "boxes.csv: image = file_name, rater = who, class = label, box (corners) = x1 y1 x2 y2\n"
    command = ["agreement", boxes, "--columns", "{rater: who}"]
    guessed = write(tmp_path, "photo,user,class\na,ann,x\na,bob,x\n", "t.csv")
    for line, said in (
        (command, words),
        ([*command, "--json", "-"], ""),
        (["labels", guessed], "t.csv: item = photo, rater = user, label = class\n"),
        (["labels", files["table"]], ""),
    ):
        assert main([*map(str, line)]) == 0
        assert capsys.readouterr().err == said


def test_pixels_of_folders(files, check):
    stacks = list(k.read_mask_folders(files["masks"]).stacks())
    # ann has 8 columns, bob 7 and cid 6 of them: F1 is twice the shared ones by all
    f1 = [14 / 15, 12 / 14, 12 / 13]
    check("pixels {masks}", results__mean_f1=k.pixel_agreement(stacks).mean_f1, tables__pairs__f1=f1)
    expected = k.boundary_agreement(stacks, spacing=[1, 0.5], tolerance=0.5, bootstrap=20)
    check(
        "pixels {masks} --boundaries --tolerance 0.5 --spacing 1 0.5 --bootstrap 20",
        results__boundaries=expected.summary(),
        tables__boundaries__average=expected.average,
    )
    regions = disputed_regions(stacks, min_area=2, min_width=1)
    document = check(
        "pixels {masks} --regions --min-area 2 --min-width 1",
        results__regions={"count": len(regions), "area": int(regions.area.sum())},
    )
    rows = document["tables"]["regions"]  # two columns of five pixels on each image, one of which bob has, too
    assert [list(row.values()) for row in rows] == [[n, 10, 0, 2, 2, 5, "ann, bob", "cid"] for n in ("0", "1")]
    assert "boundaries" not in document["results"]


def test_pixels_of_annotations_and_of_bsds(tmp_path, check):
    # of the 40 columns of each square two raters share 39, ann and cid 38
    check("pixels {outlined}", results__mean_f1=(39 + 39 + 38) / 3 / 40)
    # boundaries of two segmenters without names: two pixels of both, one of the second only
    cells = np.empty((1, 2), object)
    for number, edges in enumerate(([[0, 1], [0, 1]], [[0, 1], [1, 1]])):
        cells[0, number] = {"Segmentation": np.ones((2, 2), np.uint16), "Boundaries": np.array(edges, bool)}
    savemat(tmp_path / "2018.mat", {"groundTruth": cells})
    assert list(check(f"pixels {tmp_path}", results__mean_f1=2 * 2 / (2 + 3))["tables"]) == ["images"]


def strip_of(row):
    return np.array([row], np.uint8)


def test_divisions_of_label_maps(tmp_path, check):
    # bob numbers ann's halves differently; cid divides them into thirds: 2 of 6 columns differ
    maps = {"ann": [1, 1, 1, 2, 2, 2], "bob": [7, 7, 7, 5, 5, 5], "cid": [1, 1, 2, 2, 3, 3]}
    folder = write(tmp_path, {f"{rater}/{image}.png": strip_of(row) for rater, row in maps.items() for image in "ab"})
    expected = k.region_agreement(k.read_mask_folders(folder).label_stacks, bootstrap=5)
    unknown = 2 / 3 * np.log2(3 / 2) + 1 / 3 * np.log2(6)
    document = check(
        f"divisions {folder} --bootstrap 5",
        results=expected.summary(),
        tables__pairs__adjusted_rand=[1, 8 / 33, 8 / 33],
        tables__pairs__variation_of_information=[0, unknown, unknown],
        tables__pairs__covering=[1, 43 / 72, 43 / 72],
    )
    assert {row["image"] for row in document["tables"]["image_pairs"]} == {"a", "b"}
    assert "pairs" not in check(f"divisions {folder} --raters-are-local")["tables"]


@pytest.fixture
def label_maps(tmp_path):
    """Return three raters; cid splits class 1 into halves of two classes; on the second image, ann is alone."""
    maps = {"ann/a": [0, 1, 1, 2], "ann/b": [0, 1, 1, 2], "bob/a": [0, 1, 1, 2], "cid/a": [0, 1, 2, 1]}
    return write(tmp_path / "maps", {f"{name}.png": strip_of(row) for name, row in maps.items()})


def test_truth_of_label_maps(label_maps, tmp_path, check):
    expected = staple_classes(next(k.read_mask_folders(label_maps).label_stacks()), {1: "road", 2: "car"})
    counts = {"images": 1, "alone": 1, "tied": 0, "unsettled": 0}
    document = check(
        f"truth {label_maps} --class-names '{{{{1: road, 2: car}}}}' --out {tmp_path / 'out'}",
        tables__classes__class=["background", "road", "car"],
        tables__classes__value=[0, 1, 2],
        tables__classes__pixels=[1, 2, 1],
        tables__raters__image=["a"] * 3,
        results__accuracy=dict(zip(expected.raters, expected.accuracy, strict=True)),
    )
    assert {name: document["results"][name] for name in counts} == counts
    labels = np.asarray(Image.open(tmp_path / "out" / "a.png")).tolist()
    assert labels == expected.labels.tolist() == [[0, 1, 1, 2]]
    assert not (tmp_path / "out" / "b.png").exists()
    # of what is a road cid calls half a car, and every car a road
    rows = document["tables"]["confusion"]
    of_cid = {(row["true"], row["said"]): row["probability"] for row in rows if row["rater"] == "cid"}
    assert (of_cid["road", "car"], of_cid["car", "road"]) == pytest.approx((0.5, 1))


def test_truth_of_large_values_and_with_a_prior(label_maps, tmp_path, check):
    for file in label_maps.glob("*/*.png"):
        Image.fromarray(np.asarray(Image.open(file)).astype(np.uint16) * 300).save(file)
    check(f"truth {label_maps} --prior '{{{{0: 0.2, 300: 0.4, 600: 0.4}}}}' --out {tmp_path / 'out'}")
    assert np.asarray(Image.open(tmp_path / "out" / "a.png")).tolist() == [[0, 300, 300, 600]]


def test_models_are_ranked(files, check):
    predictions = read_predictions(files["predictions"], files["labels"], "net")
    means = map_of_predictions(k.read_coco(files["labels"]), *predictions).by_rater.mean(axis=0)
    document = check("rank {labels} --predictions net={predictions}", tables__models__map=means)
    assert document["tables"]["models"][0] == {"truth": "ann", "model": "net", "map": 1.0, "rank": 1.0}


def test_classifiers_are_ranked(check):
    """ann and bob say cat on even items, as the classifier does. cid's one cat is item 6, which it puts above four
    others and level with 0, 2 and 4: AUC is (4 + 3 / 2) / 7."""
    document = check("rank {table} --predictions net={scores}")
    auc = {row["truth"]: row["value"] for row in document["tables"]["classifiers"] if row["measure"] == "AUC"}
    assert auc == pytest.approx({"ann": 1, "bob": 1, "cid": (4 + 3 / 2) / 7, "majority": 1})


MODELS = [
    ("labels", '[{"image_id": 1}]', "prediction 1: expected a score, got none"),
    ("labels", '{"images": []}', "expected COCO with a list 'annotations', got none"),
    ("table", "item,score\n", "expected the columns label, got item, score"),
    ("table", "item,label,score\n1,cat,high\n", "line 2: expected a number as score, got 'high'"),
    ("table", "item,label,score\n1,cat,1\n1,cat,2\n", "line 3: expected one score of each label and item, got another"),
]


def test_predictions_and_scores_that_cannot_be_used_are_named(files, tmp_path, refusal):
    for truth, content, message in MODELS:
        path = tmp_path / ("bad.csv" if truth == "table" else "bad.json")
        path.write_text(content)
        error = refusal("rank", files[truth], "--predictions", path)
        assert message in error
        assert path.name in error
