"""Files of several raters into data sets: everything arrives, or nothing does."""

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, KalosWarning, agreement, read_coco
from kalos_core.fiftyone.importing import life, objects
from kalos_core.shapes.masks import count_pixels
from tests.fiftyone_bridge.scenes import ALPHAS, BENCH, CAT, LEFT_HALF, RIGHT_HALF, documents

Coco = dict[str, Any]
CLASSES = ["cat", "dog", "bench"]
ANNOTATED = [  # the scenes of `scenes.py`
    (0, "ann", "cat", CAT),
    (0, "bob", "cat", CAT),
    (1, "ann", "cat", CAT),
    (1, "bob", "dog", CAT),
    (2, "ann", "cat", CAT),
    (3, "ann", "bench", BENCH),
    (3, "bob", "bench", LEFT_HALF),
    (3, "bob", "bench", RIGHT_HALF),
    (5, "ann", "cat", CAT),
]
SIZES = {"a.png": (20, 20)}
TWO_ROWS = [{"image": "a.png", "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
TWO = Annotations.from_rows(TWO_ROWS, image_size=SIZES)
ASSIGNED = [["ann", "bob"]] * 5 + [["ann"]]


def ring(box: list[float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def coco(
    annotated: list[tuple[int, str, str, list[float]]] = ANNOTATED, polygons: bool = True, folder: str = ""
) -> Coco:
    return {
        "images": [
            {"id": number, "file_name": f"{folder}{number}.png", "width": 100, "height": 100, "rater_list": assigned}
            for number, assigned in enumerate(ASSIGNED)
        ],
        "categories": [{"id": code, "name": name} for code, name in enumerate(CLASSES)],
        "annotations": [
            {
                "id": 100 + place,
                "image_id": image,
                "rater_id": rater,
                "category_id": CLASSES.index(name),
                "bbox": box,
                **({"segmentation": [ring(box)]} if polygons else {}),
            }
            for place, (image, rater, name, box) in enumerate(annotated)
        ],
    }


def renamed(data: Coco, names: dict[str, str]) -> Coco:
    """The same file with other raters."""
    text = json.dumps(data)
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    return dict(json.loads(text))


@pytest.fixture
def image_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(6):
        Image.new("RGB", (100, 100)).save(folder / f"{number}.png")
    return folder


@pytest.fixture
def loaded(image_folder: Path) -> fo.Dataset:
    return kf.load_raters(coco(), images=image_folder).dataset


class TestNewDataset:
    def test_what_is_written(self, image_folder: Path) -> None:
        done = kf.load_raters(coco(), "named", images=image_folder, persistent=False)
        dataset = done.dataset
        assert (dataset.name, dataset.persistent, len(dataset)) == ("named", False, 6)
        assert (done.fields, done.annotations, done.images) == ({"ann": "ann", "bob": "bob"}, 9, 6)
        assert (done.added_samples, done.missing_images, done.crowds) == (6, (), 0)
        assert dataset.values("filepath") == [str(image_folder / f"{number}.png") for number in range(6)]
        assert dataset.values("metadata.width") == [100] * 6
        assert dataset.values("raters") == ASSIGNED
        assert dataset.default_classes == CLASSES
        assert kf.rater_fields(dataset) == {"ann": "ann", "bob": "bob"}
        assert dataset.values("ann.polylines.label")[3] == ["bench"]
        assert dataset.values("ann.polylines.annotation_id")[3] == ["105"]
        # looked and annotated nothing is not the same as was not assigned
        assert dataset.values("bob")[4].polylines == []
        assert dataset.values("bob")[5] is None

    @pytest.mark.parametrize("label_type", ["auto", "detections", "polylines"])
    def test_alphas_of_the_file_and_of_the_data_set_are_the_same(self, image_folder: Path, label_type: Any) -> None:
        dataset = kf.load_raters(coco(), images=image_folder, label_type=label_type).dataset
        similarity = "box_iou" if label_type == "detections" else "polygon_iou"
        assert kf.default_similarity(dataset, kf.Selection()) == similarity
        expected = agreement(read_coco(coco()), similarity, bootstrap=0).image_alpha.tolist()
        assert expected[:5] == pytest.approx(ALPHAS[:5])
        got = agreement(kf.read_annotations(dataset), similarity, bootstrap=0).image_alpha.tolist()
        assert got == pytest.approx(expected, nan_ok=True)

    def test_boxes_where_a_polygon_is_absent(self, image_folder: Path) -> None:
        data = coco()
        del data["annotations"][3]["segmentation"]
        assert kf.label_fields(kf.load_raters(data, images=image_folder).dataset)["ann"] == "ann.detections"
        with pytest.raises(InputError, match="label_type: polylines need a polygon for every annotation, 1 have none"):
            kf.load_raters(data, "strict", images=image_folder, label_type="polylines")
        assert not fo.dataset_exists("strict")

    def test_a_file_and_the_folder_beside_it(self, image_folder: Path, tmp_path: Path) -> None:
        path = tmp_path / "labels.json"
        path.write_text(json.dumps(coco()), encoding="utf-8")
        assert kf.load_raters(path).dataset.first().filepath == str(image_folder / "0.png")

    def test_annotations_and_vocabularies(self, image_folder: Path) -> None:
        data = coco()
        for mark in data["annotations"]:
            mark["said"] = {"cat": "Katze", "dog": "cat?", "bench": "bench"}[CLASSES[mark["category_id"]]]
        aliases = {"Katze": "cat", "bob": {"/cat.+/": "cat"}, "bench": "bench"}
        dataset = kf.load_raters(data, images=image_folder, category_field="said", aliases=aliases).dataset
        assert dataset.distinct("bob.polylines.label") == ["bench", "cat"]
        again = kf.load_raters(read_coco(data, category_field="said", aliases=aliases), images=image_folder).dataset
        assert again.values("bob.polylines.label") == dataset.values("bob.polylines.label")

    def test_who_was_assigned_where_no_list_says(self, image_folder: Path) -> None:
        data = coco()
        for image in data["images"]:
            del image["rater_list"]
        dataset = kf.load_raters(data, images=image_folder, assigned="drew").dataset
        assert dataset.values("raters") == [["ann", "bob"], ["ann", "bob"], ["ann"], ["ann", "bob"], [], ["ann"]]

    @pytest.mark.parametrize(
        "names",
        [("a b", "a.b"), ("$id", "id"), ("李雷", "raters")],
    )
    def test_any_rater_name(self, image_folder: Path, names: tuple[str, str]) -> None:
        data = renamed(coco(), dict(zip(["ann", "bob"], names, strict=True)))
        done = kf.load_raters(data, images=image_folder)
        assert tuple(done.fields) == names
        assert tuple(kf.read_annotations(done.dataset).raters) == names
        run = kf.compute_agreement(done.dataset, "run", bootstrap=0)
        assert run.result.image_alpha.tolist()[:5] == pytest.approx(ALPHAS[:5])
        found = kf.find_variations(done.dataset, "found")
        assert tuple(kf.load_run(done.dataset, "found").metrics["by_rater"]) == names
        assert found.result.counts()["merged"] == 1

    @pytest.mark.parametrize("name", ["", " ", "é ü", "half a letter \ud800"])
    def test_a_name_that_no_data_set_can_have(self, name: str, tmp_path: Path) -> None:
        before = set(fo.list_datasets())
        with pytest.raises(InputError, match="dataset: expected a name that FiftyOne takes, got"):
            kf.load_raters(TWO, name, canvas=tmp_path)
        assert set(fo.list_datasets()) == before

    @pytest.mark.parametrize("part", ["rater", "category"])
    def test_halves_of_letters_in_names(self, part: str, tmp_path: Path) -> None:
        before = set(fo.list_datasets())
        rows = [*TWO_ROWS, {**TWO_ROWS[0], "image": "a.png", part: "half \ud800"}]
        with pytest.raises(InputError, match="expected text that UTF-8 can hold, got 'half"):
            kf.load_raters(Annotations.from_rows(rows, image_size=SIZES), None, canvas=tmp_path)
        assert set(fo.list_datasets()) == before

    def test_halves_of_letters_in_values(self, tmp_path: Path) -> None:
        before = set(fo.list_datasets())
        table = replace(TWO, attributes={"note": ["half \ud800"] * len(TWO)})
        with pytest.raises(InputError, match="text: expected what UTF-8 can hold, got 'half"):
            kf.load_raters(table, None, canvas=tmp_path)
        assert set(fo.list_datasets()) == before

    def test_existing_name_is_that_data_set(self, loaded: fo.Dataset, image_folder: Path) -> None:
        done = kf.load_raters(renamed(coco(), {"ann": "cid", "bob": "dan"}), loaded.name, images=image_folder)
        assert (done.dataset.name, done.added_samples, len(loaded)) == (loaded.name, 0, 6)


class TestExistingDataset:
    def test_a_second_file_with_other_raters(self, loaded: fo.Dataset) -> None:
        before = loaded.values(["id", "ann.polylines.id"])
        done = kf.load_raters(renamed(coco(), {"ann": "cid", "bob": "dan"}), loaded)
        assert done.added_samples == 0
        assert loaded.values(["id", "ann.polylines.id"]) == before
        assert loaded.values("raters")[4:] == [["ann", "bob", "cid", "dan"], ["ann", "cid"]]
        annotations = kf.read_annotations(loaded)
        assert list(annotations.raters) == ["ann", "bob", "cid", "dan"]
        assert len(annotations) == 18
        alphas = agreement(annotations.select(raters=["cid", "dan"]), bootstrap=0).image_alpha.tolist()
        assert alphas[:5] == pytest.approx(ALPHAS[:5])

    def test_some_samples_new_and_some_there(self, image_folder: Path, make: Callable[..., fo.Dataset]) -> None:
        own = [fo.Sample(str(image_folder / f"{number}.png"), mine=number) for number in (3, 1)]
        own.append(fo.Sample("/elsewhere/other.png", mine=7))
        dataset = make(own)
        done = kf.load_raters(coco(), dataset, images=image_folder)
        assert (done.added_samples, len(dataset)) == (4, 7)
        assert dataset.values("mine") == [3, 1, 7, None, None, None, None]
        by_name = dict(zip(dataset.values("filepath"), dataset.values("ann.polylines.label"), strict=True))
        assert by_name[str(image_folder / "3.png")] == ["bench"]
        assert by_name["/elsewhere/other.png"] is None
        assert dict(zip(dataset.values("filepath"), dataset.values("raters"), strict=True))[own[2].filepath] is None

    def test_the_same_raters_again(self, loaded: fo.Dataset, image_folder: Path) -> None:
        before = documents(loaded)
        with pytest.raises(InputError, match=r"already holds objects of 'ann' \(field 'ann'\), 'bob'"):
            kf.load_raters(coco(), loaded, images=image_folder)
        assert documents(loaded) == before

    def test_a_label_field_of_the_raters_name(self, make: Callable[..., fo.Dataset], image_folder: Path) -> None:
        dataset = make([fo.Sample(str(image_folder / "0.png"), ann=fo.Detections())])
        with pytest.raises(InputError, match=r"already holds objects of 'ann' \(field 'ann'\)"):
            kf.load_raters(coco(), dataset, images=image_folder)

    def test_another_field_of_the_raters_name(self, make: Callable[..., fo.Dataset], image_folder: Path) -> None:
        dataset = make([fo.Sample(str(image_folder / "0.png"), ann=1.5)])
        assert kf.load_raters(coco(), dataset, images=image_folder).fields == {"ann": "rater_ann", "bob": "bob"}
        assert dataset.first().ann == 1.5

    def test_the_same_file_name_in_several_folders(self, tmp_path: Path) -> None:
        first = coco(ANNOTATED[:2])
        first["images"] = [
            {**image, "file_name": f"{folder}/x.png"} for image, folder in zip(first["images"], "ab", strict=False)
        ]
        for folder in "ab":
            (tmp_path / folder).mkdir()
            Image.new("RGB", (100, 100)).save(tmp_path / folder / "x.png")
        dataset = kf.load_raters(first, images=tmp_path).dataset
        done = kf.load_raters(renamed(first, {"ann": "cid", "bob": "dan"}), dataset)
        assert (done.added_samples, len(dataset)) == (0, 2)
        assert dataset.values("cid.polylines.label") == [["cat"], []]
        ambiguous = renamed(coco(ANNOTATED[:1]), {"ann": "eve", "bob": "fay"})
        ambiguous["images"] = [{**ambiguous["images"][0], "file_name": "x.png"}]
        with pytest.raises(InputError, match=r"image 0: expected one .* file name 'x.png'"):
            kf.load_raters(ambiguous, dataset)

    def test_two_images_for_one_sample(self, loaded: fo.Dataset) -> None:
        data = renamed(coco(ANNOTATED[:1]), {"ann": "cid", "bob": "dan"})
        data["images"][1]["file_name"] = "0.png"
        with pytest.raises(InputError, match=r"image 1: expected one image for one sample of the file name '0\.png'"):
            kf.load_raters(data, loaded)

    @pytest.mark.parametrize("kind", ["video", "group"])
    def test_only_image_folder(self, make: Callable[..., fo.Dataset], image_folder: Path, kind: str) -> None:
        dataset = make([])
        if kind == "video":
            dataset.media_type = "video"
        else:
            dataset.add_group_field("group", default="left")
        fields = list(dataset.get_field_schema())
        with pytest.raises(InputError, match=f"expected a data set of images, got one of type '{kind}'"):
            kf.load_raters(coco(), dataset, images=image_folder)
        assert list(dataset.get_field_schema()) == fields

    def test_a_raters_field_of_another_kind(self, make: Callable[..., fo.Dataset], image_folder: Path) -> None:
        dataset = make([fo.Sample(str(image_folder / "0.png"), raters="ann and bob")])
        with pytest.raises(InputError, match="expected the field 'raters' to list"):
            kf.load_raters(coco(), dataset, images=image_folder)
        assert list(dataset.get_field_schema())[-1] == "raters"


MASK = np.zeros((100, 100), bool)
MASK[10:30, 40:45] = MASK[12, 20:60] = True


class TestShapes:
    """What is in a data set is what was in the file."""

    @pytest.mark.parametrize("box", [None, [20, 10, 40, 20], [0, 0, 60, 50], [20.5, 10, 10, 9], [90, 5, 40, 40]])
    def test_masks(self, image_folder: Path, box: list[float] | None) -> None:
        data = coco([(0, "ann", "cat", CAT), (0, "bob", "cat", CAT)])
        data["annotations"][1] |= {"segmentation": {"size": [100, 100], "counts": count_pixels(MASK).tolist()}}
        data["annotations"][1]["bbox"] = box
        del data["annotations"][0]["segmentation"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # a box beyond the image
            expected = read_coco(data).shapes["mask"]
            dataset = kf.load_raters(data, images=image_folder).dataset
        held = dataset.first()["bob"].detections[0]
        assert held.mask.sum() == MASK.sum()
        assert dataset.first()["ann"].detections[0].mask is None
        got = kf.read_annotations(dataset, similarity="mask_iou").shapes["mask"].take(np.array([1]))
        assert (got.first.tolist(), got.length.tolist()) == (expected.first.tolist(), expected.length.tolist())

    def test_a_mask_without_a_pixel(self, image_folder: Path) -> None:
        data = coco([(0, "ann", "cat", CAT), (0, "bob", "cat", [99.5, 120, 3, 3])])
        for mark in data["annotations"]:
            mark["segmentation"] = {"size": [100, 100], "counts": [10_000]}
        with pytest.warns(KalosWarning, match="beyond"):
            dataset = kf.load_raters(data, images=image_folder).dataset
        assert not dataset.first()["bob"].detections[0].mask.any()
        del data["annotations"][1]["bbox"]
        with pytest.raises(InputError, match="detections need a box for every annotation, 1 have none"):
            kf.load_raters(data, images=image_folder)

    def test_keypoints(self, image_folder: Path) -> None:
        data = coco([(0, "ann", "cat", CAT)], polygons=False)
        data["annotations"][0]["keypoints"] = [10, 20, 2, 0, 0, 0, 50, 25, 1]
        dataset = kf.load_raters(data, images=image_folder).dataset
        points = np.array(dataset.first()["ann"].keypoints[0].points, float)
        np.testing.assert_array_equal(points, [[0.1, 0.2], [np.nan, np.nan], [0.5, 0.25]])
        poses = kf.read_annotations(dataset, raters=("ann", "bob")).shapes["keypoints"]
        assert poses.visible.tolist() == [[True, False, True]]
        boxes = kf.load_raters(data, images=image_folder, label_type="detections").dataset
        assert boxes.first()["ann"].detections[0].bounding_box == [value / 100 for value in CAT]
        with pytest.raises(InputError, match="keypoints need a keypoints for every annotation, 9 have none"):
            kf.load_raters(coco(), images=image_folder, label_type="keypoints")

    def test_volumes_cannot_be_shown_on_an_image(self, tmp_path: Path) -> None:
        contour = {"z": 0.0, "incl": 1, "pts": [[1, 1], [5, 1], [5, 5]]}
        scan = {"series_uid": "1", "slice_z": [0.0], "sessions": [{"session": 1, "nodules": [{"contours": [contour]}]}]}
        (tmp_path / "scans.json").write_text(json.dumps({"scans": [scan]}), encoding="utf-8")
        before = fo.list_datasets()
        with pytest.raises(InputError, match="got volume, which cannot be shown on an image"):
            kf.load_raters(tmp_path / "scans.json")
        assert fo.list_datasets() == before


class TestFormats:
    def test_a_table_of_boxes_without_sizes_and_endings(self, image_folder: Path) -> None:
        rows = ["image_id,class_name,rad_id,x_min,y_min,x_max,y_max", "0,cat,R1,10,20,30,60", "1,No finding,R1,,,,"]
        path = image_folder.parent / "train.csv"
        path.write_text("\n".join(rows), encoding="utf-8")
        done = kf.load_raters(path)
        assert done.dataset.values("filepath") == [str(image_folder / "0.png"), str(image_folder / "1.png")]
        assert done.dataset.values("R1.detections.bounding_box")[0] == [pytest.approx([0.1, 0.2, 0.2, 0.4])]
        assert done.dataset.values("raters") == [["R1"], ["R1"]]
        path.write_text("\n".join(rows).replace("R1", "R2"), encoding="utf-8")
        again = kf.load_raters(path, done.dataset)
        assert (again.added_samples, len(again.dataset)) == (0, 2)

    def test_a_table_of_boxes_of_any_program(self, image_folder: Path) -> None:
        path = image_folder.parent / "boxes.csv"
        path.write_text("photo,user,species,left,top,width,height\n0.png,R1,cat,10,20,20,40\n1.png,R2,,,,,\n")
        done = kf.load_raters(path, aliases={"cat": "animal"})
        assert done.dataset.values("R1.detections.bounding_box")[0] == [pytest.approx([0.1, 0.2, 0.2, 0.4])]
        assert done.dataset.values("R1.detections.label")[0] == ["animal"]
        assert done.dataset.values("raters") == [["R1"], ["R2"]]

    def test_folders_of_text_files_as_yolo_has_them(self, image_folder: Path) -> None:
        folder = image_folder.parent / "yolo"
        for rater, line in {"ann": "0 0.2 0.4 0.2 0.4", "bob": ""}.items():
            (folder / rater / "labels").mkdir(parents=True)
            (folder / rater / "labels" / "0.txt").write_text(line)
        (folder / "classes.txt").write_text("cat")
        kf.check_images(folder, images=image_folder)
        dataset = kf.load_raters(folder, images=image_folder).dataset
        assert dataset.values("ann.detections.bounding_box") == [[pytest.approx([0.1, 0.2, 0.2, 0.4])]]
        assert dataset.values("raters") == [["ann", "bob"]]
        assert dataset.first().filepath == str(image_folder / "0.png")

    def test_a_folder_of_exports(self, image_folder: Path) -> None:
        folder = image_folder.parent / "exports"
        folder.mkdir()
        box = '<box label="cat" xtl="10" ytl="20" xbr="30" ybr="60"/>'
        text = f'<annotations><image name="2.png" width="100" height="100">{box}</image></annotations>'
        for name in ("ann", "bob"):
            (folder / f"{name}.xml").write_text(text, encoding="utf-8")
        dataset = kf.load_raters(folder, images=image_folder).dataset
        assert agreement(kf.read_annotations(dataset), bootstrap=0).alpha == 1
        assert list(kf.rater_fields(dataset)) == ["ann", "bob"]

    def test_an_export_of_tasks(self, image_folder: Path) -> None:
        value = {"x": 10, "y": 20, "width": 20, "height": 40, "rectanglelabels": ["cat"]}
        annotated = {"type": "rectanglelabels", "original_width": 100, "original_height": 100, "value": value}
        tasks = [{"id": 1, "data": {"image": "3.png"}, "annotations": [{"completed_by": 4, "result": [annotated]}]}]
        path = image_folder.parent / "export.json"
        path.write_text(json.dumps(tasks), encoding="utf-8")
        dataset = kf.load_raters(path, format="label_studio").dataset
        assert kf.rater_fields(dataset) == {"4": dataset_field(dataset)}

    def test_marks_that_cannot_be_used_are_left_out_on_request(self, image_folder: Path) -> None:
        data = coco()
        data["annotations"][0]["segmentation"] = [[1, 1, 2, 2]]
        with pytest.raises(InputError, match="rings of at least 3 points"):
            kf.load_raters(data, "new", images=image_folder)
        with pytest.warns(KalosWarning, match="They are left out"):
            done = kf.load_raters(data, "new", images=image_folder, on_invalid="skip")
        assert (done.annotations, done.skipped) == (8, 1)

    def test_options_are_those_of_the_format(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="format 'vindr': expected options among sizes, on_invalid, got aliases"):
            kf.load_raters(tmp_path / "train.csv", format="vindr", aliases={"a": "b"})


def dataset_field(dataset: fo.Dataset) -> str:
    return next(name for name in dataset.get_field_schema() if "4" in name)


class TestPictures:
    def test_missing_images_are_one_sentence(self, image_folder: Path) -> None:
        for number in (1, 4):
            (image_folder / f"{number}.png").unlink()
        with pytest.raises(InputError) as caught:
            kf.load_raters(coco(), "new", images=image_folder)
        assert str(caught.value) == (
            "images: expected a folder with all 6 images of annotations, got none for 2, such as '1.png' (looked in: "
            f"{image_folder}); grey canvases stand in for them where canvas names a folder to put them in"
        )
        assert not fo.dataset_exists("new")

    def test_what_would_be_missing_is_known_before_loading(self, loaded: fo.Dataset, image_folder: Path) -> None:
        path = image_folder / "labels.json"
        path.write_text(json.dumps(coco()))
        kf.check_images(path)
        (image_folder / "1.png").unlink()
        with pytest.raises(
            InputError, match=r"images: expected a folder with all 6 images of labels.json, got none fo"
        ):
            kf.check_images(path)
        kf.check_images(path, loaded)  # samples that are there need no file
        path.write_text("[]")  # is read again
        with pytest.raises(InputError, match=r"labels.json: expected"):
            kf.check_images(path)

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="images: expected a folder"):
            kf.load_raters(coco(), "new", images=tmp_path / "nowhere")
        assert not fo.dataset_exists("new")

    def test_canvases_stand_in(self, image_folder: Path, tmp_path: Path) -> None:
        (image_folder / "2.png").unlink()
        data = coco()
        data["images"][2] |= {"file_name": "deep/2.png", "width": 60, "height": 50}
        done = kf.load_raters(data, images=image_folder, canvas=tmp_path / "canvas")
        assert done.missing_images == ("deep/2.png",)
        path = tmp_path / "canvas" / "deep" / "2.png"
        assert done.dataset.values("filepath")[2] == str(path)
        with Image.open(path) as canvas:
            assert canvas.size == (60, 50)
            assert canvas.getpixel((9, 9)) == (222, 222, 222)

    @pytest.mark.parametrize("file", ["../../outside.png", "scan", "notes.txt", "film.mp4"])
    def test_canvases_are_image_folder_within_their_folder(self, tmp_path: Path, file: str) -> None:
        data = coco()
        data["images"][0]["file_name"] = file
        with pytest.raises(InputError, match="image 0: expected a file name"):
            kf.load_raters(data, "new", canvas=tmp_path / "a" / "b")
        assert list(tmp_path.rglob("*")) == []
        assert not fo.dataset_exists("new")

    def test_an_image_without_a_name(self, image_folder: Path) -> None:
        data = coco()
        data["images"][3]["file_name"] = ""
        with pytest.raises(InputError, match="image 3: expected a file_name, got nothing"):
            kf.load_raters(data, images=image_folder)

    def test_a_size_that_the_file_does_not_say_is_that_of_the_image(self, image_folder: Path, tmp_path: Path) -> None:
        data = coco()
        del data["images"][3]["width"]
        Image.new("RGB", (200, 50)).save(image_folder / "3.png")
        dataset = kf.load_raters(data, images=image_folder).dataset
        assert dataset.values("metadata.width")[3] == 200
        assert dataset.values("ann.polylines.points")[3][0][0][1] == [0.45, 0.2]
        (image_folder / "3.png").write_text("no image")
        with pytest.raises(InputError, match="image 3: expected a width and height"):
            kf.load_raters(data, "new", images=image_folder)
        (image_folder / "3.png").unlink()
        with pytest.raises(InputError, match="image 3: expected a width and height"):
            kf.load_raters(data, "new", images=image_folder, canvas=tmp_path)


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"labels": 3}, "expected a path, or the mapping"),
            ({"labels": "/nowhere/labels.json"}, "expected a readable COCO file"),
            ({"labels": {}}, "expected COCO with a list 'images'"),
            ({"dataset": 3}, "dataset: expected a name or a data set, got int"),
            (
                {"label_type": "masks"},
                "label_type: expected one of 'auto', 'detections', 'keypoints', 'polylines', got 'masks'",
            ),
            ({"assigned": "some"}, "assigned: expected 'all' or 'drew'"),
            ({"format": "excel"}, "format: expected one of 'boxes', 'coco', .*, got 'excel'"),
        ],
    )
    def test_that_cannot_be(self, image_folder: Path, arguments: dict[str, Any], expected: str) -> None:
        before = fo.list_datasets()
        with pytest.raises(InputError, match=expected):
            kf.load_raters(**{"labels": coco(), "images": image_folder, **arguments})
        assert fo.list_datasets() == before

    def test_no_rater_at_all(self) -> None:
        before = fo.list_datasets()
        with pytest.raises(InputError, match="expected at least one rater, got none"):
            kf.load_raters(Annotations.from_rows([], images=["a.png"]), "new")
        assert fo.list_datasets() == before


class Stop(BaseException):
    """As unexpected as an interrupt."""


ADDING, DECLARING = (fo.Dataset, "add_samples"), (life, "declare")
STORING, PAINTING = (objects, "store_raters"), (Image.Image, "save")
LABELLING = (life, "write_documents")
WHERE = [(ADDING, 1), (DECLARING, 1), (STORING, 1), (PAINTING, 1), (PAINTING, 2), (LABELLING, 1)]
STARTS = ("new", "empty", "some samples")
FAILURES = [(start, *where) for start in STARTS for where in WHERE]


class TestNothingIsLeftBehind:
    @pytest.mark.parametrize(("start", "where", "call"), FAILURES)
    def test_whatever_fails(
        self,
        make: Callable[..., fo.Dataset],
        image_folder: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        start: str,
        where: tuple[Any, str],
        call: int,
    ) -> None:
        for number in (4, 5):
            (image_folder / f"{number}.png").unlink()  # two canvases
        dataset = None
        if start != "new":
            own = [fo.Sample(str(image_folder / f"{n}.png"), raters=["cid"], cid=fo.Polylines()) for n in range(3)]
            dataset = make(own if start == "some samples" else [])
            if not len(dataset):
                dataset.add_sample_field("raters", fo.ListField, subfield=fo.StringField)
            dataset.info["mine"] = 1
            dataset.default_classes = ["own"]
            dataset.save()
        before, there = state(dataset), fo.list_datasets()
        owner, method = where
        original, calls = getattr(owner, method), []

        def failing(*arguments: Any, **options: Any) -> None:
            calls.append(1)
            original(*arguments, **options)  # the harm is done, then it fails
            if len(calls) == call:
                monkeypatch.setattr(owner, method, original)
                raise Stop

        monkeypatch.setattr(owner, method, failing)
        canvas = tmp_path / "canvas"
        with pytest.raises(Stop):
            kf.load_raters(coco(), dataset, images=image_folder, canvas=canvas)
        assert state(dataset) == before
        assert not list(canvas.rglob("*.png"))
        assert fo.list_datasets() == there

    def test_samples_already_added_when_it_fails_midway(
        self, loaded: fo.Dataset, image_folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded.delete_samples(loaded.values("id")[2:])
        monkeypatch.setattr(fo.config, "default_batcher", "static")
        monkeypatch.setattr(fo.config, "batcher_static_size", 1)
        before, write, calls = state(loaded), fo.Dataset._add_samples_batch, []

        def failing(*arguments: Any, **options: Any) -> Any:
            calls.append(1)
            if len(calls) == 3:
                raise Stop
            return write(*arguments, **options)

        monkeypatch.setattr(fo.Dataset, "_add_samples_batch", failing)
        with pytest.raises(Stop):
            kf.load_raters(renamed(coco(), {"ann": "cid", "bob": "dan"}), loaded, images=image_folder)
        assert len(calls) == 3  # two samples had arrived
        assert state(loaded) == before


def state(dataset: fo.Dataset | None) -> Any:
    """All there is to a data set; an absent value and None are the same to FiftyOne."""
    if dataset is None:
        return fo.list_datasets()
    dataset.reload()
    fields = [path for path in dataset.get_field_schema(flat=True) if not path.startswith("metadata.")]
    held = {key: {k: v for k, v in document.items() if v is not None} for key, document in documents(dataset).items()}
    return held, fields, dataset.info, dataset.default_classes


def test_exclusions_do_not_vanish_unsaid(tmp_path):
    row = {"image": "a.png", "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}
    annotations = Annotations.from_rows(
        [row],
        raters=["ann", "bob"],
        image_size={"a.png": (20, 20)},
        assigned="all",
        exclusions=[("a.png", "bob", "cat")],
    )
    with pytest.warns(KalosWarning, match="1 exclusions .* are not kept in FiftyOne"):
        loaded = kf.load_raters(annotations, canvas=tmp_path, persistent=False)
    loaded.dataset.delete()
