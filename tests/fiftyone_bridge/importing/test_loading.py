"""Files of several raters into data sets: everything arrives, or nothing does."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, KalosError, KalosWarning, agreement, read_coco
from kalos_core.fiftyone.dataset.opened import default_similarity
from kalos_core.fiftyone.importing import life, objects
from kalos_core.shapes.masks import count_pixels
from tests.fiftyone_bridge.scenes import ALPHAS, CAT, SCENES, documents, raising, untouched

Coco = dict[str, Any]
CLASSES = ["cat", "dog", "bench"]
ANNOTATED = [
    (number, rater, *entry)
    for number, scene in enumerate(SCENES)
    for rater, given in scene.items()
    for entry in given or ()
]
SIZES = {"a.png": (20, 20)}
ROW = {"image": "a.png", "category": "cat", "box": [0, 0, 9, 9]}
ROWS = [{**ROW, "rater": rater} for rater in ("ann", "bob")]
TWO = Annotations.from_rows(ROWS, image_size=SIZES)
ASSIGNED = [["ann", "bob"]] * 5 + [["ann"]]
OTHERS = {"ann": "cid", "bob": "dan"}


def ring(box: list[float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def coco(annotated: list[tuple[Any, ...]] = ANNOTATED, polygons: bool = True) -> Coco:
    """Return the scenes, or other annotations of the six images."""
    return {
        "images": [
            {"id": number, "file_name": f"{number}.png", "width": 100, "height": 100, "rater_list": assigned}
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
    """Return the same file with other raters."""
    text = json.dumps(data)
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    return dict(json.loads(text))


def draw(path: Path, size: tuple[int, int] = (100, 100)) -> None:
    path.parent.mkdir(exist_ok=True)
    Image.new("RGB", size).save(path)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    for number in range(6):
        draw(tmp_path / "images" / f"{number}.png")
    return tmp_path / "images"


@pytest.fixture
def loaded(images: Path) -> fo.Dataset:
    return kf.load_raters(coco(), images=images).dataset


class TestNewDataset:
    def test_written_fields(self, images):
        done = kf.load_raters(coco(), "named", images=images, persistent=False)
        dataset = done.dataset
        assert (dataset.name, dataset.persistent, len(dataset)) == ("named", False, 6)
        assert (done.fields, done.annotations, done.images) == ({"ann": "ann", "bob": "bob"}, 9, 6)
        assert (done.added_samples, done.missing_images, done.crowds) == (6, (), 0)
        assert dataset.values("filepath") == [str(images / f"{number}.png") for number in range(6)]
        assert dataset.values("metadata.width") == [100] * 6
        assert dataset.values("raters") == ASSIGNED
        assert dataset.default_classes == CLASSES
        assert kf.rater_fields(dataset) == {"ann": "ann", "bob": "bob"}
        assert dataset.values("ann.polylines.label")[3] == ["bench"]
        assert dataset.values("ann.polylines.annotation_id")[3] == ["105"]
        # annotating nothing differs from not being assigned
        assert dataset.values("bob")[4].polylines == []
        assert dataset.values("bob")[5] is None

    @pytest.mark.parametrize("label_type", ["auto", "detections"])
    def test_alphas_of_the_file_and_of_the_data_set_are_the_same(self, images, label_type):
        dataset = kf.load_raters(coco(), images=images, label_type=label_type).dataset
        similarity = "box_iou" if label_type == "detections" else "polygon_iou"
        assert default_similarity(dataset, kf.Selection()) == similarity
        expected = agreement(read_coco(coco()), similarity, bootstrap=0).image_alpha.tolist()
        assert expected[:5] == pytest.approx(ALPHAS[:5])
        got = agreement(kf.read_annotations(dataset), similarity, bootstrap=0).image_alpha.tolist()
        assert got == pytest.approx(expected, nan_ok=True)

    def test_boxes_where_a_polygon_is_absent(self, images):
        data = coco()
        del data["annotations"][3]["segmentation"]
        assert kf.label_fields(kf.load_raters(data, images=images).dataset)["ann"] == "ann.detections"
        with pytest.raises(InputError, match="label_type: polylines need a polygon for every annotation, 1 have none"):
            kf.load_raters(data, "strict", images=images, label_type="polylines")
        assert not fo.dataset_exists("strict")

    def test_annotations_and_vocabularies(self, images):
        data = coco()
        for mark in data["annotations"]:
            mark["said"] = {"cat": "Katze", "dog": "cat?", "bench": "bench"}[CLASSES[mark["category_id"]]]
        said: Any = {
            "category_field": "said",
            "aliases": {"Katze": "cat", "bob": {"/cat.+/": "cat"}, "bench": "bench"},
        }
        for given, options in ((data, said), (read_coco(data, **said), {})):
            dataset = kf.load_raters(given, images=images, **options).dataset
            assert dataset.distinct("bob.polylines.label") == ["bench", "cat"]

    def test_who_was_assigned_where_no_list_says(self, images):
        data = coco()
        for image in data["images"]:
            del image["rater_list"]
        dataset = kf.load_raters(data, images=images, assigned="drew").dataset
        assert dataset.values("raters") == [["ann", "bob"], ["ann", "bob"], ["ann"], ["ann", "bob"], [], ["ann"]]

    def test_names_and_values_that_cannot_be_stored(self, dataset, tmp_path):
        half = "half \ud800"
        with untouched(dataset):
            for name in ("", " ", "é ü", half):
                with pytest.raises(InputError, match="dataset: expected a name that FiftyOne takes, got"):
                    kf.load_raters(TWO, name, canvas=tmp_path)
            with pytest.raises(InputError, match="text: expected text that UTF-8 can encode, got 'half"):
                kf.load_raters(replace(TWO, attributes={"note": [half] * 2}), None, canvas=tmp_path)

    def test_dropped_exclusions_give_a_warning(self, tmp_path):
        said: Any = {"raters": ["ann", "bob"], "assigned": "all", "exclusions": [("a.png", "bob", "cat")]}
        table = Annotations.from_rows(ROWS[:1], image_size=SIZES, **said)
        with pytest.warns(KalosWarning, match="1 exclusions .* are not stored in FiftyOne"):
            kf.load_raters(table, canvas=tmp_path, persistent=False)


class TestExistingDataset:
    def test_a_second_file_with_other_raters(self, loaded, images):
        """Load by the name of the data set."""
        before = loaded.values(["id", "ann.polylines.id"])
        done = kf.load_raters(renamed(coco(), OTHERS), loaded.name, images=images)
        assert (done.dataset.name, done.added_samples, len(loaded)) == (loaded.name, 0, 6)
        assert loaded.values(["id", "ann.polylines.id"]) == before
        assert loaded.values("raters")[4:] == [["ann", "bob", "cid", "dan"], ["ann", "cid"]]
        annotations = kf.read_annotations(loaded)
        assert list(annotations.raters) == ["ann", "bob", "cid", "dan"]
        assert len(annotations) == 18
        alphas = agreement(annotations.select(raters=["cid", "dan"]), bootstrap=0).image_alpha.tolist()
        assert alphas[:5] == pytest.approx(ALPHAS[:5])

    def test_some_samples_new_and_some_there(self, images, make):
        own = [fo.Sample(str(images / f"{number}.png"), mine=number) for number in (3, 1)]
        own.append(fo.Sample("/elsewhere/other.png", mine=7))
        dataset = make(own)
        done = kf.load_raters(coco(), dataset, images=images)
        assert (done.added_samples, len(dataset)) == (4, 7)
        assert dataset.values("mine") == [3, 1, 7, None, None, None, None]
        labels, raters = (
            dict(zip(dataset.values("filepath"), dataset.values(path), strict=True))
            for path in ("ann.polylines.label", "raters")
        )
        assert labels[str(images / "3.png")] == ["bench"]
        assert labels["/elsewhere/other.png"] is None
        assert raters["/elsewhere/other.png"] is None

    def test_fields_that_are_taken(self, loaded, make, images):
        """Labels of a rater occupy a field, loaded or not; fields of other types are not changed."""
        with untouched(loaded), pytest.raises(InputError, match=r"holds objects of 'ann' \(field 'ann'\), 'bob'"):
            kf.load_raters(coco(), loaded, images=images)
        dataset = make([fo.Sample(str(images / "0.png"), ann=fo.Detections())])
        with pytest.raises(InputError, match=r"already holds objects of 'ann' \(field 'ann'\)"):
            kf.load_raters(coco(), dataset, images=images)
        dataset = make([fo.Sample(str(images / "0.png"), ann=1.5)])
        assert kf.load_raters(coco(), dataset, images=images).fields == {"ann": "rater_ann", "bob": "bob"}
        assert dataset.first().ann == 1.5

    def test_the_same_file_name_in_several_folders(self, tmp_path):
        data = coco(ANNOTATED[:2])
        data["images"] = [
            {**image, "file_name": f"{folder}/x.png"} for image, folder in zip(data["images"], "ab", strict=False)
        ]
        for folder in "ab":
            draw(tmp_path / folder / "x.png")
        dataset = kf.load_raters(data, images=tmp_path).dataset
        done = kf.load_raters(renamed(data, OTHERS), dataset)
        assert (done.added_samples, len(dataset)) == (0, 2)
        assert dataset.values("cid.polylines.label") == [["cat"], []]
        ambiguous = renamed(coco(ANNOTATED[:1]), {"ann": "eve", "bob": "fay"})
        ambiguous["images"] = [{**ambiguous["images"][0], "file_name": "x.png"}]
        with pytest.raises(InputError, match=r"image 0: expected one .* file name 'x.png'"):
            kf.load_raters(ambiguous, dataset)


MASK = np.zeros((100, 100), bool)
MASK[10:30, 40:45] = MASK[12, 20:60] = True


class TestShapes:
    """Data sets have the content of files."""

    @pytest.mark.parametrize("box", [None, [20, 10, 40, 20], [0, 0, 60, 50], [20.5, 10, 10, 9], [90, 5, 40, 40]])
    def test_masks(self, images, box):
        data = coco([(0, "ann", "cat", CAT), (0, "bob", "cat", CAT)])
        data["annotations"][1] |= {"segmentation": {"size": [100, 100], "counts": count_pixels(MASK).tolist()}}
        data["annotations"][1]["bbox"] = box
        del data["annotations"][0]["segmentation"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)  # a box outside of the image
            expected = read_coco(data).shapes["mask"]
            dataset = kf.load_raters(data, images=images).dataset
        assert dataset.first()["bob"].detections[0].mask.sum() == MASK.sum()
        assert dataset.first()["ann"].detections[0].mask is None
        got = kf.read_annotations(dataset, similarity="mask_iou").shapes["mask"].take(np.array([1]))
        assert (got.first.tolist(), got.length.tolist()) == (expected.first.tolist(), expected.length.tolist())

    def test_keypoints(self, images):
        data = coco([(0, "ann", "cat", CAT)], polygons=False)
        data["annotations"][0]["keypoints"] = [10, 20, 2, 0, 0, 0, 50, 25, 1]
        dataset = kf.load_raters(data, images=images).dataset
        points = np.array(dataset.first()["ann"].keypoints[0].points, float)
        np.testing.assert_array_equal(points, [[0.1, 0.2], [np.nan, np.nan], [0.5, 0.25]])
        poses = kf.read_annotations(dataset, raters=("ann", "bob")).shapes["keypoints"]
        assert poses.visible.tolist() == [[True, False, True]]
        boxes = kf.load_raters(data, images=images, label_type="detections").dataset
        assert boxes.first()["ann"].detections[0].bounding_box == [value / 100 for value in CAT]
        with pytest.raises(InputError, match="keypoints need a keypoints for every annotation, 9 have none"):
            kf.load_raters(coco(), images=images, label_type="keypoints")


class TestFormats:
    """One test per way of loading; readers have their own tests."""

    def test_a_file_and_the_folder_next_to_it(self, images, tmp_path):
        path = tmp_path / "labels.json"
        path.write_text(json.dumps(coco()), encoding="utf-8")
        assert kf.load_raters(path).dataset.first().filepath == str(images / "0.png")

    def test_a_table_of_boxes_without_sizes_and_endings(self, images, tmp_path):
        path = tmp_path / "train.csv"
        text = "image_id,class_name,rad_id,x_min,y_min,x_max,y_max\n0,cat,R1,10,20,30,60\n1,No finding,R1,,,,"
        path.write_text(text, encoding="utf-8")
        done = kf.load_raters(path)
        assert done.dataset.values("filepath") == [str(images / "0.png"), str(images / "1.png")]
        assert done.dataset.values("R1.detections.bounding_box")[0] == [pytest.approx([0.1, 0.2, 0.2, 0.4])]
        assert done.dataset.values("raters") == [["R1"], ["R1"]]
        path.write_text(text.replace("R1", "R2"), encoding="utf-8")
        again = kf.load_raters(path, done.dataset)
        assert (again.added_samples, len(again.dataset)) == (0, 2)

    def test_marks_that_cannot_be_used_are_left_out_on_request(self, images):
        data = coco()
        data["annotations"][0]["segmentation"] = [[1, 1, 2, 2]]
        with pytest.raises(InputError, match="rings of at least 3 points"):
            kf.load_raters(data, "new", images=images)
        with pytest.warns(KalosWarning, match="They are skipped"):
            done = kf.load_raters(data, "new", images=images, on_invalid="skip")
        assert (done.annotations, done.skipped) == (8, 1)


class TestImages:
    def test_missing_images_are_one_sentence(self, images):
        for number in (1, 4):
            (images / f"{number}.png").unlink()
        with pytest.raises(InputError) as caught:
            kf.load_raters(coco(), "new", images=images)
        assert str(caught.value) == (
            "images: expected a folder with all 6 images of annotations, got none for 2, such as '1.png' (looked in: "
            f"{images}); to use grey canvases in their place, pass a folder as canvas"
        )
        assert not fo.dataset_exists("new")

    def test_missing_images_are_known_before_loading(self, loaded, images):
        path = images / "labels.json"
        path.write_text(json.dumps(coco()))
        kf.check_images(path)
        (images / "1.png").unlink()
        with pytest.raises(InputError, match=r"images: expected a folder with all 6 images of labels.json, got none"):
            kf.check_images(path)
        kf.check_images(path, loaded)  # existing samples need no file
        path.write_text("[]")  # invalid if read again
        with pytest.raises(InputError, match=r"labels.json: expected"):
            kf.check_images(path)

    def test_canvases_stand_in(self, images, tmp_path):
        (images / "2.png").unlink()
        data = coco()
        data["images"][2] |= {"file_name": "deep/2.png", "width": 60, "height": 50}
        done = kf.load_raters(data, images=images, canvas=tmp_path / "canvas")
        assert done.missing_images == ("deep/2.png",)
        path = tmp_path / "canvas" / "deep" / "2.png"
        assert done.dataset.values("filepath")[2] == str(path)
        with Image.open(path) as canvas:
            assert canvas.size == (60, 50)
            assert canvas.getpixel((9, 9)) == (222, 222, 222)

    def test_canvases_are_images_within_their_folder(self, tmp_path):
        for file in ("../../outside.png", "scan", "notes.txt", "film.mp4"):
            data = coco()
            data["images"][0]["file_name"] = file
            with pytest.raises(InputError, match="image 0: expected a file name"):
                kf.load_raters(data, "new", canvas=tmp_path / "a" / "b")
            assert list(tmp_path.rglob("*")) == []
            assert not fo.dataset_exists("new")

    def test_a_name_with_line_breaks_undoes_no_other_file(self, tmp_path, meanwhile):
        own, data = tmp_path / "own.png", coco()
        own.touch()
        data["images"][0]["file_name"] = f"a\n{own}"
        meanwhile(Image, "new", before=raising(TypeError()), call=2)
        with pytest.raises(TypeError):
            kf.load_raters(data, "new", canvas=tmp_path / "canvas")
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [own]

    def test_a_canvas_larger_than_memory_is_refused_before_the_work(self, tmp_path):
        data = coco()
        data["images"][0] |= {"width": 10**9, "height": 1000}
        with pytest.raises(InputError, match=r"image 0: expected a canvas of at most 1,073,741,824 pixels"):
            kf.load_raters(data, "new", canvas=tmp_path)
        assert list(tmp_path.rglob("*")) == []

    @pytest.mark.parametrize(
        ("error", "kind", "message"),
        [(MemoryError(), KalosError, "memory: this machine"), (TypeError("of its own"), TypeError, "of its own")],
    )
    def test_the_failure_is_reported_instead_of_the_deleted_data_set(self, tmp_path, meanwhile, error, kind, message):
        meanwhile(Image, "new", before=raising(error), call=1)
        with pytest.raises(kind, match=message):
            kf.load_raters(coco(), "new", canvas=tmp_path)
        assert not fo.dataset_exists("new")

    def test_a_size_that_the_file_does_not_say_is_that_of_the_image(self, images, tmp_path):
        data = coco()
        del data["images"][3]["width"]
        draw(images / "3.png", (200, 50))
        dataset = kf.load_raters(data, images=images).dataset
        assert dataset.values("metadata.width")[3] == 200
        assert dataset.values("ann.polylines.points")[3][0][0][1] == [0.45, 0.2]
        (images / "3.png").unlink()
        with pytest.raises(InputError, match="image 3: expected a width and height"):
            kf.load_raters(data, "new", images=images, canvas=tmp_path)

    @pytest.mark.parametrize("canvas", [None, "canvas"])
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("/etc/passwd", r"a file in the folder of the images \(.*images\), got '/etc/passwd': outside_images=True"),
            ("../secret.png", r"a file in the folder of the images .*, got '../secret.png': outside_images=True"),
            ("linked.png", r"a file in the folder of the images .*, got 'linked.png': outside_images=True"),
            ("linked/secret.png", r"a file in the folder of the images .*, got 'linked/secret.png': outside"),
            ("notes.txt", "an image, got 'notes.txt': expected a readable image, got"),
            ("0.png", r"a file of its own, got '0.png', which is that of image 0, too"),
            ("./0.png", r"a file of its own, got './0.png', which is that of image 0, too"),
            ("e\0.png", r"a file_name that a file can have, got 'e\\x00.png'"),
            (f"{'e' * 300}.png", "a file_name that a file can have, got 'eee"),
            ("e\ud800.png", "a file_name that a file can have, got 'e"),
        ],
    )
    def test_files_that_are_not_read(self, images, tmp_path, name, expected, canvas):
        draw(tmp_path / "secret.png")
        (images / "notes.txt").write_text("no image")
        (images / "linked.png").symlink_to(tmp_path / "secret.png")
        (images / "linked").symlink_to(tmp_path)
        data = coco()
        data["images"][3]["file_name"] = name
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(InputError, match=f"image 3: expected {expected}"):
            kf.load_raters(data, "new", images=images, canvas=canvas and tmp_path / canvas)
        assert sorted(tmp_path.rglob("*")) == before
        assert not fo.dataset_exists("new")

    def test_files_outside_are_read_where_that_is_asked_for(self, images, tmp_path):
        draw(tmp_path / "secret.png")
        data = coco()
        data["images"][3]["file_name"] = "../secret.png"
        done = kf.load_raters(data, images=images, outside_images=True)
        assert done.dataset.values("filepath")[3] == str(tmp_path / "secret.png")

    def test_a_folder_that_is_a_link_is_the_folder_of_the_images(self, images, tmp_path):
        (tmp_path / "link").symlink_to(images)
        assert len(kf.load_raters(coco(), images=tmp_path / "link").dataset) == 6

    def test_no_link_in_a_folder_of_canvases_is_followed(self, images, tmp_path):
        canvas = tmp_path / "canvas"
        canvas.mkdir()
        for link in ("2.png", "deep"):  # a dangling link, and a folder
            (canvas / link).symlink_to(tmp_path / ("away.png" if link == "2.png" else "."))
        (images / "2.png").unlink()
        for name in ("2.png", "deep/2.png"):
            data = coco()
            data["images"][2]["file_name"] = name
            with pytest.raises(InputError, match=f"image 2: expected a file name within {canvas}, got '{name}'"):
                kf.load_raters(data, "new", images=images, canvas=canvas)
        assert not (tmp_path / "away.png").exists()
        assert not (tmp_path / "2.png").exists()


def test_arguments_that_cannot_be(dataset, images, tmp_path):
    nameless = coco()
    nameless["images"][3]["file_name"] = ""
    rows: list[tuple[dict[str, Any], str]] = [
        ({"labels": "/nowhere/labels.json"}, "expected a readable COCO file"),
        ({"labels": nameless}, "image 3: expected a file_name, got nothing"),
        ({"labels": Annotations.from_rows([], images=["a.png"])}, "expected at least one rater, got none"),
        ({"images": tmp_path / "nowhere"}, "images: expected a folder"),
        ({"format": "excel"}, "format: expected one of 'boxes', 'coco', .*, got 'excel'"),
        (
            {"labels": tmp_path / "train.csv", "format": "vindr", "aliases": {"a": "b"}},
            "format 'vindr': expected options among on_invalid, sizes, got aliases",
        ),
    ]
    with untouched(dataset):
        for arguments, message in rows:
            with pytest.raises(InputError, match=message):
                kf.load_raters(**{"labels": coco(), "images": images, **arguments})


def state(dataset: fo.Dataset | None) -> Any:
    """Return the complete state of a data set; FiftyOne treats an absent value and None as equal."""
    if dataset is None:
        return fo.list_datasets()
    dataset.reload()
    fields = [path for path in dataset.get_field_schema(flat=True) if not path.startswith("metadata.")]
    held = {key: {k: v for k, v in document.items() if v is not None} for key, document in documents(dataset).items()}
    return held, fields, dataset.info, dataset.default_classes


class TestNothingIsLeftBehind:
    @pytest.mark.parametrize(
        ("start", "owner", "name", "call"),
        [
            ("new", fo.Dataset, "add_samples", 1),
            ("some samples", fo.Dataset, "add_samples", 1),
            ("empty", life, "declare", 1),
            ("some samples", objects, "store_raters", 1),
            ("new", Image.Image, "save", 1),
            ("empty", Image.Image, "save", 2),
            ("new", life, "write_documents", 1),
            ("empty", life, "write_documents", 1),
            ("some samples", life, "write_documents", 1),
        ],
    )
    def test_whatever_fails(self, make, images, tmp_path, meanwhile, start, owner, name, call):
        for number in (4, 5):
            (images / f"{number}.png").unlink()  # two canvases
        dataset = None
        if start != "new":
            own = [fo.Sample(str(images / f"{n}.png"), raters=["cid"], cid=fo.Polylines()) for n in range(3)]
            dataset = make(own if start == "some samples" else [])
            if not len(dataset):
                dataset.add_sample_field("raters", fo.ListField, subfield=fo.StringField)
            dataset.info["mine"] = 1
            dataset.default_classes = ["own"]
            dataset.save()
        before, there, canvas = state(dataset), fo.list_datasets(), tmp_path / "canvas"
        meanwhile(owner, name, after=raising(KeyboardInterrupt()), call=call)
        with pytest.raises(KeyboardInterrupt):
            kf.load_raters(coco(), dataset, images=images, canvas=canvas)
        assert state(dataset) == before
        assert not list(canvas.rglob("*.png"))
        assert fo.list_datasets() == there

    def test_samples_already_added_when_it_fails_midway(self, loaded, images, monkeypatch, meanwhile):
        """Two samples had been added."""
        loaded.delete_samples(loaded.values("id")[2:])
        monkeypatch.setattr(fo.config, "default_batcher", "static")
        monkeypatch.setattr(fo.config, "batcher_static_size", 1)
        before = state(loaded)
        meanwhile(fo.Dataset, "_add_samples_batch", before=raising(KeyboardInterrupt()), call=3)
        with pytest.raises(KeyboardInterrupt):
            kf.load_raters(renamed(coco(), OTHERS), loaded, images=images)
        assert state(loaded) == before
