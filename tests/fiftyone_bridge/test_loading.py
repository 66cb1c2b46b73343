"""Files of several raters into data sets: everything arrives, or nothing does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import Annotations, InputError, agreement, read_coco
from tests.fiftyone_bridge.scenes import ALPHAS, BENCH, CAT, LEFT_HALF, RIGHT_HALF, documents

Coco = dict[str, Any]
CLASSES = ["cat", "dog", "bench"]
DRAWN = [  # the scenes of `scenes.py`
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
ASKED = [["ann", "bob"]] * 5 + [["ann"]]


def ring(box: list[float]) -> list[float]:
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def coco(drawn: list[tuple[int, str, str, list[float]]] = DRAWN, polygons: bool = True, folder: str = "") -> Coco:
    return {
        "images": [
            {"id": number, "file_name": f"{folder}{number}.png", "width": 100, "height": 100, "rater_list": asked}
            for number, asked in enumerate(ASKED)
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
            for place, (image, rater, name, box) in enumerate(drawn)
        ],
    }


def renamed(data: Coco, names: dict[str, str]) -> Coco:
    """The same file with other raters."""
    text = json.dumps(data)
    for old, new in names.items():
        text = text.replace(json.dumps(old), json.dumps(new))
    return dict(json.loads(text))


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(6):
        Image.new("RGB", (100, 100)).save(folder / f"{number}.png")
    return folder


@pytest.fixture
def loaded(pictures: Path) -> fo.Dataset:
    return kf.load_raters(coco(), images=pictures).dataset


class TestNewDataset:
    def test_what_is_written(self, pictures: Path) -> None:
        done = kf.load_raters(coco(), "named", images=pictures, persistent=False)
        dataset = done.dataset
        assert (dataset.name, dataset.persistent, len(dataset)) == ("named", False, 6)
        assert (done.fields, done.annotations, done.images) == ({"ann": "ann", "bob": "bob"}, 9, 6)
        assert (done.added_samples, done.missing_pictures, done.crowds) == (6, (), 0)
        assert dataset.values("filepath") == [str(pictures / f"{number}.png") for number in range(6)]
        assert dataset.values("metadata.width") == [100] * 6
        assert dataset.values("raters") == ASKED
        assert dataset.default_classes == CLASSES
        assert kf.rater_fields(dataset) == {"ann": "ann", "bob": "bob"}
        assert dataset.values("ann.polylines.label")[3] == ["bench"]
        assert dataset.values("ann.polylines.annotation_id")[3] == ["105"]
        # looked and drew nothing is not the same as was not asked
        assert dataset.values("bob")[4].polylines == []
        assert dataset.values("bob")[5] is None

    @pytest.mark.parametrize("label_type", ["auto", "detections", "polylines"])
    def test_alphas_of_the_file_and_of_the_data_set_are_the_same(self, pictures: Path, label_type: Any) -> None:
        dataset = kf.load_raters(coco(), images=pictures, label_type=label_type).dataset
        similarity = "box_iou" if label_type == "detections" else "polygon_iou"
        assert kf.default_similarity(dataset, kf.LabelChoice()) == similarity
        expected = agreement(read_coco(coco()), similarity, bootstrap=0).image_alpha.tolist()
        assert expected[:5] == pytest.approx(ALPHAS[:5])
        got = agreement(kf.read_annotations(dataset), similarity, bootstrap=0).image_alpha.tolist()
        assert got == pytest.approx(expected, nan_ok=True)

    def test_boxes_where_a_polygon_is_absent(self, pictures: Path) -> None:
        data = coco()
        del data["annotations"][3]["segmentation"]
        assert kf.label_fields(kf.load_raters(data, images=pictures).dataset)["ann"] == "ann.detections"
        with pytest.raises(InputError, match="label_type: polylines need a polygon for every annotation, 1 have none"):
            kf.load_raters(data, "strict", images=pictures, label_type="polylines")
        assert not fo.dataset_exists("strict")

    def test_a_file_and_the_folder_beside_it(self, pictures: Path, tmp_path: Path) -> None:
        path = tmp_path / "labels.json"
        path.write_text(json.dumps(coco()), encoding="utf-8")
        assert kf.load_raters(path).dataset.first().filepath == str(pictures / "0.png")

    def test_annotations_and_vocabularies(self, pictures: Path) -> None:
        data = coco()
        for mark in data["annotations"]:
            mark["said"] = {"cat": "Katze", "dog": "cat?", "bench": "bench"}[CLASSES[mark["category_id"]]]
        aliases = {"Katze": "cat", "bob": {"/cat.+/": "cat"}, "bench": "bench"}
        dataset = kf.load_raters(data, images=pictures, category_field="said", aliases=aliases).dataset
        assert dataset.distinct("bob.polylines.label") == ["bench", "cat"]
        again = kf.load_raters(read_coco(data, category_field="said", aliases=aliases), images=pictures).dataset
        assert again.values("bob.polylines.label") == dataset.values("bob.polylines.label")

    def test_who_was_asked_where_no_list_says(self, pictures: Path) -> None:
        data = coco()
        for image in data["images"]:
            del image["rater_list"]
        dataset = kf.load_raters(data, images=pictures, assigned="drew").dataset
        assert dataset.values("raters") == [["ann", "bob"], ["ann", "bob"], ["ann"], ["ann", "bob"], [], ["ann"]]

    @pytest.mark.parametrize(
        "names",
        [("a b", "a.b"), ("$id", "id"), ("李雷", "raters")],
    )
    def test_any_rater_name(self, pictures: Path, names: tuple[str, str]) -> None:
        data = renamed(coco(), dict(zip(["ann", "bob"], names, strict=True)))
        done = kf.load_raters(data, images=pictures)
        assert tuple(done.fields) == names
        assert tuple(kf.read_annotations(done.dataset).raters) == names
        run = kf.compute_agreement(done.dataset, "run", bootstrap=0)
        assert run.result.image_alpha.tolist()[:5] == pytest.approx(ALPHAS[:5])
        found = kf.find_variations(done.dataset, "found")
        assert tuple(kf.load_run(done.dataset, "found").figures["by_rater"]) == names
        assert found.result.counts()["merged"] == 1

    def test_existing_name_is_that_data_set(self, loaded: fo.Dataset, pictures: Path) -> None:
        done = kf.load_raters(renamed(coco(), {"ann": "cid", "bob": "dan"}), loaded.name, images=pictures)
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

    def test_some_samples_new_and_some_there(self, pictures: Path, make: Callable[..., fo.Dataset]) -> None:
        own = [fo.Sample(str(pictures / f"{number}.png"), mine=number) for number in (3, 1)]
        own.append(fo.Sample("/elsewhere/other.png", mine=7))
        dataset = make(own)
        done = kf.load_raters(coco(), dataset, images=pictures)
        assert (done.added_samples, len(dataset)) == (4, 7)
        assert dataset.values("mine") == [3, 1, 7, None, None, None, None]
        by_name = dict(zip(dataset.values("filepath"), dataset.values("ann.polylines.label"), strict=True))
        assert by_name[str(pictures / "3.png")] == ["bench"]
        assert by_name["/elsewhere/other.png"] is None
        assert dict(zip(dataset.values("filepath"), dataset.values("raters"), strict=True))[own[2].filepath] is None

    def test_the_same_raters_again(self, loaded: fo.Dataset, pictures: Path) -> None:
        before = documents(loaded)
        with pytest.raises(InputError, match=r"already holds labels of 'ann' \(field 'ann'\), 'bob'"):
            kf.load_raters(coco(), loaded, images=pictures)
        assert documents(loaded) == before

    def test_a_label_field_of_the_raters_name(self, make: Callable[..., fo.Dataset], pictures: Path) -> None:
        dataset = make([fo.Sample(str(pictures / "0.png"), ann=fo.Detections())])
        with pytest.raises(InputError, match=r"already holds labels of 'ann' \(field 'ann'\)"):
            kf.load_raters(coco(), dataset, images=pictures)

    def test_another_field_of_the_raters_name(self, make: Callable[..., fo.Dataset], pictures: Path) -> None:
        dataset = make([fo.Sample(str(pictures / "0.png"), ann=1.5)])
        assert kf.load_raters(coco(), dataset, images=pictures).fields == {"ann": "rater_ann", "bob": "bob"}
        assert dataset.first().ann == 1.5

    def test_the_same_file_name_in_several_folders(self, tmp_path: Path) -> None:
        first = coco(DRAWN[:2])
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
        ambiguous = renamed(coco(DRAWN[:1]), {"ann": "eve", "bob": "fay"})
        ambiguous["images"] = [{**ambiguous["images"][0], "file_name": "x.png"}]
        with pytest.raises(InputError, match=r"image 0: expected one .* file name 'x.png'"):
            kf.load_raters(ambiguous, dataset)

    def test_two_images_for_one_sample(self, loaded: fo.Dataset) -> None:
        data = renamed(coco(DRAWN[:1]), {"ann": "cid", "bob": "dan"})
        data["images"][1]["file_name"] = "0.png"
        with pytest.raises(InputError, match=r"image 1: expected one image for one sample of the file name '0\.png'"):
            kf.load_raters(data, loaded)

    @pytest.mark.parametrize("kind", ["video", "group"])
    def test_only_pictures(self, make: Callable[..., fo.Dataset], pictures: Path, kind: str) -> None:
        dataset = make([])
        if kind == "video":
            dataset.media_type = "video"
        else:
            dataset.add_group_field("group", default="left")
        fields = list(dataset.get_field_schema())
        with pytest.raises(InputError, match=f"expected a data set of pictures, got one of type '{kind}'"):
            kf.load_raters(coco(), dataset, images=pictures)
        assert list(dataset.get_field_schema()) == fields

    def test_a_raters_field_of_another_kind(self, make: Callable[..., fo.Dataset], pictures: Path) -> None:
        dataset = make([fo.Sample(str(pictures / "0.png"), raters="ann and bob")])
        with pytest.raises(InputError, match="expected the field 'raters' to list"):
            kf.load_raters(coco(), dataset, images=pictures)
        assert list(dataset.get_field_schema())[-1] == "raters"


class TestPictures:
    def test_missing_pictures_are_all_named(self, pictures: Path) -> None:
        for number in (1, 4):
            (pictures / f"{number}.png").unlink()
        with pytest.raises(InputError, match=r"2 records cannot be used") as caught:
            kf.load_raters(coco(), "new", images=pictures)
        for number in (1, 4):
            assert f"image {number}: expected the picture '{number}.png' (looked in: {pictures})" in str(caught.value)
        assert not fo.dataset_exists("new")

    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="images: expected a folder"):
            kf.load_raters(coco(), "new", images=tmp_path / "nowhere")
        assert not fo.dataset_exists("new")

    def test_canvases_stand_in(self, pictures: Path, tmp_path: Path) -> None:
        (pictures / "2.png").unlink()
        data = coco()
        data["images"][2] |= {"file_name": "deep/2.png", "width": 60, "height": 50}
        done = kf.load_raters(data, images=pictures, canvas=tmp_path / "canvas")
        assert done.missing_pictures == ("deep/2.png",)
        path = tmp_path / "canvas" / "deep" / "2.png"
        assert done.dataset.values("filepath")[2] == str(path)
        with Image.open(path) as canvas:
            assert canvas.size == (60, 50)
            assert canvas.getpixel((9, 9)) == (222, 222, 222)

    @pytest.mark.parametrize("file", ["../../outside.png", "scan", "notes.txt", "film.mp4"])
    def test_canvases_are_pictures_within_their_folder(self, tmp_path: Path, file: str) -> None:
        data = coco()
        data["images"][0]["file_name"] = file
        with pytest.raises(InputError, match="image 0: expected a file name"):
            kf.load_raters(data, "new", canvas=tmp_path / "a" / "b")
        assert list(tmp_path.rglob("*")) == []
        assert not fo.dataset_exists("new")

    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            ({"file_name": ""}, "expected a file_name, got nothing"),
            ({"width": None}, "expected a width and height"),
        ],
    )
    def test_what_the_file_has_to_say(self, pictures: Path, change: dict[str, Any], expected: str) -> None:
        data = coco()
        data["images"][3] |= change
        with pytest.raises(InputError, match=f"image 3: {expected}"):
            kf.load_raters(data, images=pictures)


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({"labels": 3}, "expected a path or the mapping"),
            ({"labels": "/nowhere/labels.json"}, "expected a readable COCO file"),
            ({"labels": {}}, "expected COCO with a list 'images'"),
            ({"dataset": 3}, "dataset: expected a name or a data set, got int"),
            ({"label_type": "masks"}, "label_type: expected 'auto', 'detections' or 'polylines', got 'masks'"),
            ({"assigned": "some"}, "assigned: expected 'all' or 'drew'"),
        ],
    )
    def test_that_cannot_be(self, pictures: Path, arguments: dict[str, Any], expected: str) -> None:
        with pytest.raises(InputError, match=expected):
            kf.load_raters(**{"labels": coco(), "images": pictures, **arguments})
        assert fo.list_datasets() == []

    def test_no_rater_at_all(self) -> None:
        with pytest.raises(InputError, match="expected at least one rater, got none"):
            kf.load_raters(Annotations.from_rows([], images=["a.png"]), "new")
        assert fo.list_datasets() == []


class Stop(BaseException):
    """As unexpected as an interrupt."""


ADDING, DECLARING = (fo.Dataset, "add_samples"), (fo.Dataset, "add_sample_field")
STORING, DRAWING = (kf.loading, "store_rater_fields"), (Image.Image, "save")
LABELLING = (fo.Dataset, "set_values")
STARTS = ("new", "empty", "some samples")
FAILURES = [
    *((start, *where) for start in STARTS for where in [(ADDING, 1), (DECLARING, 1), (DECLARING, 4), (STORING, 1)]),
    *((start, *where) for start in STARTS for where in [(DRAWING, 1), (DRAWING, 2)]),
    *(("some samples", LABELLING, call) for call in (1, 2, 3)),
]


class TestNothingIsLeftBehind:
    @pytest.mark.parametrize(("start", "where", "call"), FAILURES)
    def test_whatever_fails(
        self,
        make: Callable[..., fo.Dataset],
        pictures: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        start: str,
        where: tuple[Any, str],
        call: int,
    ) -> None:
        for number in (4, 5):
            (pictures / f"{number}.png").unlink()  # two canvases
        dataset = None
        if start != "new":
            own = [fo.Sample(str(pictures / f"{n}.png"), raters=["cid"], cid=fo.Polylines()) for n in range(3)]
            dataset = make(own if start == "some samples" else [])
            if not len(dataset):
                dataset.add_sample_field("raters", fo.ListField, subfield=fo.StringField)
            dataset.info["mine"] = 1
            dataset.default_classes = ["own"]
            dataset.save()
        before = state(dataset)
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
            kf.load_raters(coco(), dataset, images=pictures, canvas=canvas)
        assert state(dataset) == before
        assert not list(canvas.rglob("*.png"))
        assert fo.list_datasets() == ([] if dataset is None else [dataset.name])

    def test_samples_already_added_when_it_fails_midway(
        self, loaded: fo.Dataset, pictures: Path, monkeypatch: pytest.MonkeyPatch
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
            kf.load_raters(renamed(coco(), {"ann": "cid", "bob": "dan"}), loaded, images=pictures)
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
