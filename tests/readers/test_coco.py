"""COCO files of several raters: results from a mapping, a file or a stream, and errors."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pycocotools import mask as coco_mask

from kalos_core import InputError, KalosWarning, agreement, read_coco, variations, write_coco
from kalos_core.readers.coco import stream_coco
from tests.readers.cases import LeftOut, Warned, differing, lines, write
from tests.readers.spoiling import spoiled


def document(**changes):
    """Return a valid file: two images, two raters, two annotations."""
    image = {"width": 20, "height": 10}
    box, ring = {"bbox": [0, 0, 8, 4]}, {"segmentation": [[0, 0, 8, 0, 8, 4]]}
    first = {"id": 1, "image_id": 7, "category_id": 1, "rater_id": "ann", **box, **ring}
    content = {
        "info": {},
        "images": [
            {"id": 7, "file_name": "seven.jpg", **image, "rater_list": ["ann", "bob"]},
            {"id": 5, "file_name": "five.jpg", **image, "rater_list": ["bob"]},
        ],
        "categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
        "annotations": [first, {"id": 2, "image_id": 7, "category_id": 3, "rater_id": "bob", "bbox": [0, 0, 8, 5]}],
    }
    return content | changes


def changed(key, row=0, /, **changes):
    """Return the same file with one record changed; None removes a field."""
    content = document()
    record = content[key][row] | changes
    content[key][row] = {name: value for name, value in record.items() if value is not None}
    return content


def with_mark(**changes):
    return changed("annotations", **changes)


def with_image(**changes):
    return changed("images", **changes)


def with_all(key, *places, **changes):
    """Return the same file with the same change (one value, or one each) in all records."""
    content = document()
    for row, record in enumerate(content[key]):
        for name in places:
            record.pop(name, None)
        record |= {name: value[row] if isinstance(value, list) else value for name, value in changes.items()}
    return content


def with_category(**category):
    return document(categories=[*document()["categories"], category])


def small(*marks, joints=None, raters=("ann", "bob"), info=None, **image):
    """Return an image of 4 x 3 pixels with annotations of the first rater."""
    category = {"id": 1, "name": "cat"} | ({"keypoints": joints} if joints else {})
    return {
        "info": info or {},
        "images": [{"id": 7, "file_name": "a.png", "width": 4, "height": 3, "rater_list": list(raters)} | image],
        "categories": [category],
        "annotations": [
            {"id": place, "image_id": 7, "category_id": 1, "rater_id": raters[0]} | mark
            for place, mark in enumerate(marks, start=1)
        ],
    }


ANN, BOB = "ann cat polygon 0,0 8,0 8,4", "bob dog box 0 0 8 5"
OTHER_ORDER = [f"7=seven.jpg 20x10 bob ann: {ANN}; {BOB}", "5=five.jpg 20x10 bob:"]
BOTH = [f"7=seven.jpg 20x10 ann bob: {ANN}; {BOB}", "5=five.jpg 20x10 bob:"]


def small_lines(*marks, who="ann bob"):
    return [f"7=a.png 4x3 {who}: " + "; ".join(f"{who.split()[0]} cat {mark}" for mark in marks)]


# 4 x 3 pixels (height 3); read down the columns: 3 off, 2 on, 1 off, 3 on, 3 off
#   . # # .
#   . # # .
#   . . # .
PIXELS = np.array([[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]], dtype=np.uint8)
COUNTS = {"size": [3, 4], "counts": [3, 2, 1, 3, 3]}
RLE = coco_mask.encode(np.asfortranarray(PIXELS))
TEXT = {"size": [3, 4], "counts": RLE["counts"].decode()}
MASK = "mask at 1,0 11/11/01"
POSE = [0, 0, 0, 1, 2, 1, 3, 1, 2]
JOINTS = ["nose", "ear", "eye"]
BOX = {"bbox": [0, 0, 2, 2]}
SESSIONS = {"ann": [1, 2], "bob": ["a"]}
IN_SESSIONS = "ann (S1) ann (S2) bob (Sa)"
OF_SESSIONS = [{**BOX, "session_id": 2}, {**BOX, "rater_id": "bob", "session_id": "a"}]
NO_LISTS = with_all("images", "rater_list")
NO_LIST_OF_ONE = changed("images", rater_list=None)
ALL_ASSIGNED = [line.replace("20x10 bob", "20x10 ann bob") for line in BOTH]
WORDS = with_all("annotations", label=["cat", " dog "])

MASKS = "assumed that the tool sets it on every mask"

READ = {
    "in its own order": (document(), BOTH),
    "a box that is absent": (with_mark(bbox=None), BOTH),
    "a box that is there": (
        with_mark(bbox=[1, 1, 2, 2]), [BOTH[0].replace("cat polygon", "cat box 1 1 2 2 polygon"), BOTH[1]],
    ),
    "no file name": (with_image(file_name=None), [BOTH[0].replace("7=seven.jpg", "7="), BOTH[1]]),
    "an unknown size": (with_image(width=None), [BOTH[0].replace("20x10", "?"), BOTH[1]]),
    "named raters come first": (
        document(info={"raters": ["bob"]}), OTHER_ORDER,
    ),
    "a rater that is a number": (
        with_mark(rater_id=1) | {"images": with_image(rater_list=["1", "bob"])["images"]},
        [BOTH[0].replace("ann", "1"), BOTH[1]],
    ),
    "no lists of raters": (NO_LISTS, Warned("no rater_list on 2 of 2 images", ALL_ASSIGNED)),
    "no lists, those who annotated": (
        NO_LISTS, {"assigned": "drew"}, [BOTH[0], BOTH[1].replace("20x10 bob", "20x10 ")],
    ),
    "a list on one of two": (NO_LIST_OF_ONE, Warned("no rater_list on 1 of 2 images", OTHER_ORDER)),
    "one rater and no list": (
        NO_LISTS | {"annotations": NO_LISTS["annotations"][:1]},
        [f"7=seven.jpg 20x10 ann: {ANN}", "5=five.jpg 20x10 ann:"],
    ),
    "beyond the image": (
        with_mark(bbox=[15, 0, 8, 4]),
        Warned("1 annotations reach beyond their image", [BOTH[0].replace("cat", "cat box 15 0 8 4"), BOTH[1]]),
    ),
    "counts": (small({"segmentation": COUNTS}), small_lines(MASK)),
    "counts as text": (small({"segmentation": TEXT}), small_lines(MASK)),
    "each segmentation as it is": (
        small({"segmentation": [[0, 0, 2, 0, 2, 2]]}, {"segmentation": COUNTS}, BOX),
        small_lines("polygon 0,0 2,0 2,2", MASK, "box 0 0 2 2"),
    ),
    "keypoints": (small({"keypoints": POSE}, joints=JOINTS), small_lines("keypoints - 1,2 3,1")),
    "sessions": (
        small(*OF_SESSIONS, rater_list=SESSIONS),
        [f"7=a.png 4x3 {IN_SESSIONS}: ann (S2) cat box 0 0 2 2; bob (Sa) cat box 0 0 2 2"],
    ),
    "a session where names are listed": (small(OF_SESSIONS[0]), small_lines("box 0 0 2 2")),
    "a session without a list": (
        small(OF_SESSIONS[0], rater_list=None), ["7=a.png 4x3 ann (S2): ann (S2) cat box 0 0 2 2"],
    ),
    "classes in words": (WORDS, {"category_field": "label"}, BOTH),
    "aliases of classes": (
        document(), {"aliases": {"cat": "animal"}},
        Warned("1 written name has no alias and is kept", [BOTH[0].replace("cat", "animal"), BOTH[1]]),
    ),
    "a class of two ids": (with_category(id=2, name="cat"), BOTH),
    "ids that are not unique": (
        changed("annotations", 1, id=1), {"on_invalid": "skip"}, Warned("share ids, and are renumbered", BOTH),
    ),
    "raters in attributes": (
        with_all("annotations", "rater_id", attributes=[{"annotator": "ann"}, {"annotator": "bob"}]), BOTH,
    ),
    "groups, which are not used": (
        changed("annotations", 0, group_id=3), Warned("Not used: group_id of 1 record", BOTH),
    ),
    "every mask marked as a crowd": (small({"segmentation": COUNTS, "iscrowd": 1}), Warned(MASKS, small_lines(MASK))),
    "some masks marked by a tool": (
        small(BOX, BOX, {"segmentation": COUNTS, "iscrowd": 1, "attributes": {"occluded": False}}),
        Warned(MASKS, small_lines("box 0 0 2 2", "box 0 0 2 2", MASK)),
    ),
    "crowds as objects": (
        small(BOX, BOX, {"segmentation": COUNTS, "iscrowd": 1}), {"crowds": "objects"},
        small_lines("box 0 0 2 2", "box 0 0 2 2", MASK),
    ),
    "a turned box beside an upright one": (
        small({"bbox": [0, 1, 2, 1], "attributes": {"rotation": 90.0}}, BOX),
        small_lines("polygon 1.5,0.5 1.5,2.5 0.5,2.5 0.5,0.5", "polygon 0,0 2,0 2,2 0,2"),
    ),
    "faults go before warnings": (NO_LISTS | {"categories": []}, {"aliases": {"a": "b"}}, "2 records cannot be used"),
}  # fmt: skip

M, I = "annotations[0] (id 1): expected ", "images[0] (id 7): expected "
S = I + "lists of category "
LIMITS = "info.rater_categories to map raters to lists"
REFUSED = [
    (with_mark(rater_id=None), M + "a rater of the source, got nothing"),
    (with_mark(rater_id="zoe"), M + "a rater in its image's list, got rater 'zoe'"),
    (with_mark(image_id=99), M + "an image of the source, got 99"),
    (with_mark(category_id=-1), M + "a category of the source, got -1"),
    (with_mark(bbox=[1e400, 0, -1e400, 4]), LeftOut(M + "a box of finite numbers")),
    (with_mark(bbox=[0, 0, 8, -4]), LeftOut(M + "a box of positive width and height, got [0, 0, 8, -4]")),
    (with_mark(bbox=None, segmentation=None), LeftOut(M + "a shape (box, polygon, ")),
    (small({"keypoints": POSE[:6]}, joints=JOINTS), M + "3 keypoints, as its category names, got 2"),
    (with_mark(id=[1]), "annotations[0] (id [1]): expected an id, got [1]"),
    (changed("annotations", 1, id=1), "annotations[1] (id 1): expected an id of its own; on_invalid='skip' renumbers"),
    (with_all("annotations", "rater_id"), "labeler_id, or attributes of these names; annotations have id, image_id"),
    (document(annotations=["mark"]), "annotations[0]: expected an object, got 'mark'"),
    (document(info={"rater_categories": {"ann": ["dog"]}}), M + "a class its rater is assigned to, got 'cat' by 'ann'"),
    (document(info={"rater_categories": {"ann": ["cat", "emu"]}}), "to rater 'ann': expected known classes, got 'emu'"),
    (document(info={"rater_categories": {"zoe": ["cat"]}}), "assigned to rater 'zoe': expected a rater among ann, bob"),
    (document(info={"rater_categories": {"ann": "cat"}}), LIMITS),
    (with_image(id=None), "images[0] (id None): expected an id, got nothing"),
    (with_image(id=5), "images[1] (id 5): expected an id of its own, got 5 a second time"),
    (with_image(rater_list="ann"), I + "a rater_list of names, got 'ann'"),
    (with_image(rater_list={"ann": 1}), I + "a rater_list of names"),
    (with_image(width=-20), I + "a positive width and height, got -20 x 10"),
    (with_image(width="20"), I + "a positive width and height, got '20' x 10"),
    (with_category(id=-1, name="emu"), "(id -1): expected an id that is not -1, which means 'no category', got -1"),
    (with_category(id=1, name="emu"), "categories[2] (id 1): expected an id of its own, got 1 a second time"),
    (with_category(id=2), "categories[2] (id 2): expected a name, got None"),
    (small(BOX, rater_list=SESSIONS), M + "a session_id, as its image lists sessions, got nothing"),
    (small({**BOX, "session_id": 3}, rater_list=SESSIONS), M + "a rater in its image's list, got rater 'ann (S3)'"),
    (small(BOX, excluded_category_ids={"ann": 1}), S + "ids as excluded_category_ids, got"),
    (small(BOX, excluded_category_ids={"ann": [7]}), S + "ids as excluded_category_ids, got"),
    (small(BOX, excluded_category_ids={"zoe": [1]}), "expected a rater of the source, got 'zoe'"),
    (small(BOX, not_exhaustive_category_ids=1), {"not_exhaustive": "exclude"},
     I + "a list not_exhaustive_category_ids, got 1"),
    ({}, "expected COCO with a list 'images', got nothing"),
    (document(images={}), "expected COCO with a list 'images', got 'images' as dict"),
    (document(images=[], annotations=[]), "expected at least one image, got none"),
    (document(), {"assigned": "none"}, "assigned: expected one of 'all', 'drew', got 'none'"),
    (document(), {"on_invalid": "ignore"}, "on_invalid: expected one of 'raise', 'skip', got 'ignore'"),
    (document(), {"not_exhaustive": "leave"}, "not_exhaustive: expected one of 'exclude', 'ignore', got 'leave'"),
    (document(), {"not_exhaustive": "exclude", "aliases": {"cat": "dog"}},
     "not_exhaustive: expected 'ignore' where classes are text or have aliases"),
]  # fmt: skip
NO_LABELS = [None, "  ", ["cat"], True]
NOT_JSON = [
    (b"", "labels.json: expected JSON, got"),
    (b'{"images": [{"id": 1},], "annotations": []}', "expected JSON, got"),
    (b"[]", "expected a COCO object, got a JSON list"),
    (b"[" * 100_000, "expected JSON, got"),
    (b'{"images": ' + b"9" * 5000 + b"}", "expected JSON, got"),
]


def read_mapping(path, **options):
    return read_coco(json.loads(path.read_text()), **options)


def streamed(path, **options):
    return next(stream_coco(path, **options))


@pytest.mark.parametrize("read", [read_coco, read_mapping, streamed])
def test_files(read, tmp_path):
    words = M + "a category of the source, "
    labels = [
        (with_all("annotations", label=[label, "cat"]), {"category_field": "label"} | more, words)
        for label in NO_LABELS
        for more in ({}, {"aliases": {"cat": "animal"}})
    ]
    cases = [*READ.values(), *REFUSED, *labels, *([] if read is read_mapping else NOT_JSON)]
    if read is streamed:
        cases = [case for case in cases if not {"category_field", "aliases"} & set(case[1] if len(case) > 2 else ())]
    assert differing(read, tmp_path, cases, "labels.json") == []


def test_arguments(tmp_path):
    words = "path_or_dict: expected a path, several paths, or the content of a COCO file as a mapping, got "
    wrong = [(7, words + "int"), (None, words + "NoneType"), ([document()], "path_or_dict: expected a path")]
    files = [(tmp_path / "absent.json", "expected a readable COCO file in UTF-8, got No such file or directory")]
    files.append((tmp_path / "a\0b", "path_or_dict: expected a path of at most 4,095 bytes, without NUL, got"))
    files.append((tmp_path, "expected one COCO file for each of several raters, got labels.json"))
    path = write(tmp_path, json.dumps(document()).encode("utf-8-sig"), "labels.json")
    assert differing(read_coco, None, [*wrong, *files, (path, BOTH), (str(path), BOTH)]) == []
    content = document()
    read_coco(content)
    assert content == document()


def test_the_vocabularies_of_a_file():
    annotations = read_coco(
        document(info={"raters": ["cid", "bob"], "rater_categories": {"ann": ["cat"], "bob": [3, 1]}})
    )
    assert annotations.raters.tolist() == ["cid", "bob", "ann"]
    assert annotations.categories.tolist() == ["dog", "cat"]
    assert annotations.id.tolist() == [1, 2]
    assert annotations.assigned_categories.tolist() == [[True, True], [True, True], [False, True]]
    assert read_coco(with_all("annotations", "id")).id.tolist() == [1, 2]


@pytest.mark.parametrize("name", ["rater_id", "rater", "annotator", "rad_id"])
def test_the_rater_under_any_of_its_names(name):
    assert lines(read_coco(with_all("annotations", "rater_id", **{name: ["ann", "bob"]}))) == BOTH


def test_the_rater_in_a_field_that_is_named(tmp_path):
    named = with_all("annotations", "rater_id", who=["ann", "bob"], attributes=[{"by": "ann"}, {"by": "bob"}])
    for field in ("who", "attributes.by"):
        for source in (named, write(tmp_path, named, "labels.json")):
            assert lines(read_coco(source, rater_field=field)) == BOTH


def of_one_rater(image_id, box, *names, **image):
    """Return a file with one image and one box, of the first class named."""
    return {
        "images": [{"id": image_id, "file_name": "a.png", "width": 9, "height": 9} | image],
        "categories": [{"id": number, "name": name} for number, name in enumerate(names)],
        "annotations": [{"id": 1, "image_id": image_id, "category_id": 0, "bbox": box}],
    }


def test_one_file_a_rater_is_joined_by_names(tmp_path):
    """Ids of images and classes are local to each file; only ann has the second image."""
    ann, bob = of_one_rater(1, [0, 0, 2, 2], "cat", "dog"), of_one_rater(7, [0, 0, 2, 1], "dog", "cat")
    ann["images"].append({"id": 2, "file_name": "b.png"})
    folder = write(tmp_path, {"ann.json": ann, "bob.json": bob})
    expected = ["1=a.png 9x9 ann bob: ann cat box 0 0 2 2; bob dog box 0 0 2 1", "2=b.png ? ann:"]
    for source in (folder, [folder / "ann.json", folder / "bob.json"]):
        assert lines(read_coco(source)) == expected
    write(tmp_path, {"bob.json": of_one_rater(7, [0, 0, -2, 1], "dog", width=8)})
    with pytest.raises(InputError, match=r"bob.json, images\[0\] \(id 7\): expected the size \(9, 9\)"):
        read_coco(folder)
    write(tmp_path, {"bob.json": of_one_rater(7, [0, 0, -2, 1], "dog")})
    with pytest.raises(InputError, match=r"bob.json, annotations\[0\] \(id 1\): expected a box of positive width"):
        read_coco(folder)


def test_text_classes_without_annotations_can_be_assigned():
    content = WORDS | {"info": {"rater_categories": {"ann": ["cat", "emu"]}}}
    annotations = read_coco(content, category_field="label")
    assert annotations.categories.tolist() == ["cat", "dog", "emu"]
    assert annotations.assigned_categories.tolist() == [[True, False, True], [True, True, True]]


# ---- crowd regions

RUNS = {"size": [10, 20], "counts": [0, 50, 150]}  # the first five columns of twenty
CROWD = {"id": 3, "image_id": 5, "category_id": 1, "rater_id": "bob", "iscrowd": 1, "segmentation": RUNS}


def with_crowds(*changes):
    content = document()
    content["annotations"] += [CROWD | change for change in changes]
    return content


def test_crowds_are_kept_out_and_their_regions_kept():
    with pytest.warns(KalosWarning, match=r"2 crowd regions on 2 images are kept out of agreement, .* as in COCO\.$"):
        annotations = read_coco(with_crowds({}, {"id": 9, "image_id": 7, "rater_id": "ann", "category_id": 3}))
    assert (annotations.crowds.tolist(), lines(annotations)) == ([1, 1], BOTH)
    crowds = annotations.crowd_regions
    assert (crowds.id.tolist(), crowds.shapes["mask"].area().tolist()) == ([3, 9], [50, 50])
    assert crowds.shapes["box"].xywh().tolist() == [[0, 0, 5, 10]] * 2
    assert [crowds.images[crowds.image].tolist(), crowds.raters[crowds.rater].tolist()] == [[5, 7], ["bob", "ann"]]
    assert crowds.categories[crowds.category].tolist() == ["cat", "dog"]


def test_a_crowd_region_that_cannot_be_compared_is_counted_only():
    for change in ({"segmentation": {"counts": [1]}}, {"rater_id": "eve"}, {"rater_id": "ann"},  # not assigned
                   {"category_id": 8}, {"category_id": [8]}, {"segmentation": None}):  # fmt: skip
        with pytest.warns(KalosWarning, match="in COCO, but for 1 without a shape, rater or class that can be used"):
            annotations = read_coco(with_crowds({}, {"id": 9, **change}), crowds="regions")
        assert (annotations.crowds.sum(), len(annotations.crowd_regions)) == (2, 1), change


def test_crowds_of_classes_in_words():
    content = with_crowds({"label": " cats "})
    for annotation, name in zip(content["annotations"], ("cat", "dog"), strict=False):
        annotation["label"] = name
    with pytest.warns(KalosWarning, match="1 crowd regions"):
        annotations = read_coco(content, category_field="label", aliases={"cats": "cat", "cat": "cat", "dog": "dog"})
    assert annotations.categories[annotations.crowd_regions.category].tolist() == ["cat"]


# ---- sessions


def test_persons_and_sessions(tmp_path):
    content = small(*OF_SESSIONS, rater_list=SESSIONS, info={"rater_categories": {"ann": ["cat"], "bob (Sa)": []}})
    content["annotations"].pop()
    annotations = read_coco(content)
    assert (annotations.person.tolist(), annotations.session.tolist()) == (["ann", "ann", "bob"], ["1", "2", "a"])
    assert annotations.assigned_categories.tolist() == [[True], [True], [False]]
    # as written by the authors' code
    content = json.loads(write_coco(annotations, tmp_path / "labels.json").read_text())
    assert content["images"][0]["rater_list"] == {"ann": ["1", "2"], "bob": ["a"]}
    assert (content["annotations"][0]["rater_id"], content["annotations"][0]["session_id"]) == ("ann", "2")


def test_sessions_as_the_authors_code_reads_them(peer_package):
    data_loading = peer_package("kalos.utils.data_loading")
    content = small(*OF_SESSIONS, rater_list=SESSIONS)
    ours = read_coco(content)
    theirs = data_loading.preprocess_data(content)[7]
    assert theirs["rater_list"] == ours.raters.tolist()
    drew = {rater: len(marks) for rater, marks in theirs["annotations_by_rater"].items()}
    assert drew == {ours.raters[code]: int((ours.rater == code).sum()) for code in np.unique(ours.rater)}


def test_a_name_that_is_also_a_session(tmp_path):
    content = small({**BOX, "session_id": 1}, rater_list=SESSIONS)
    content["images"].append({"id": 8, "rater_list": ["ann (S1)"]})
    words = "rater 'ann (S1)': expected a name of its own, got also session"
    for read in (read_coco, streamed):
        assert differing(read, tmp_path, [(content, words)], "labels.json") == []


# ---- LVIS: classes that are not annotated exhaustively


def test_classes_that_are_not_exhaustive_are_excluded_on_request():
    content = small(BOX, not_exhaustive_category_ids=[1])
    assert len(read_coco(content).excluded) == 0
    annotations = read_coco(content, not_exhaustive="exclude")
    assert annotations.excluded.tolist() == [[0, 0, 0], [0, 1, 0]]
    # bob is not assigned to every cat, so the absence of his annotation has no meaning
    assert np.isnan(agreement(annotations, bootstrap=0).image_alpha).all()
    assert agreement(read_coco(content), bootstrap=0).image_alpha[0] <= 0


# ---- any input gives a table or an InputError, nothing else


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(
    spoiled(with_crowds({})),
    st.sampled_from([None, "category_id", "rater_id", "bbox"]),
    st.sampled_from([None, {"cat": "animal"}, {"ann": {"/c.*/": "cat"}}]),
    st.sampled_from(["all", "drew"]),
)
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_file_is_read_or_refused(tmp_path, content, category_field, aliases, assigned):
    try:
        annotations = read_coco(content, category_field=category_field, aliases=aliases, assigned=assigned)
    except InputError:
        return
    for use in (agreement, variations):  # the result is usable
        if len(annotations.raters) < 2:
            with pytest.raises(InputError, match="at least two raters"):
                use(annotations)
        else:
            use(annotations)
    again = read_coco(write_coco(annotations, tmp_path / "again.json"))
    np.testing.assert_array_equal(again.image, annotations.image)


def test_another_field_of_raters_in_a_file_named_by_text(tmp_path):
    record = {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "rater_id": "ann"}
    data = {"images": [{"id": 1}], "annotations": [record], "categories": [{"id": 1, "name": "cat"}]}
    (tmp_path / "a.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"^a.json: expected the rater of each annotation under 'nobody'"):
        read_coco(str(tmp_path / "a.json"), rater_field="nobody")
