"""`Annotations`: its checks, `from_rows`, and `select`."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, KalosWarning, agreement
from kalos_core.annotations import id_array, object_array
from kalos_core.shapes import Boxes
from tests.readers.cases import Warned, differing, lines, shapes
from tests.strategies import tables

BOX = [0, 0, 4, 2]


def row(**changes):
    """Return a valid record with changes; None removes a field."""
    record = {"image": 1, "rater": "ann", "category": "cat", "box": BOX} | changes
    return {key: value for key, value in record.items() if value is not None}


def small():
    rows = [
        row(id=7, image="b"), row(id=8, rater="bob", image="b"), row(id=9, category="dog", image="a"),
        row(id=5, rater="bob", image="c"), row(id=6, rater="cid", image="c"),
    ]  # fmt: skip
    return Annotations.from_rows(rows, assigned="all", assigned_categories={"bob": ["cat"]}, session=["1", "2", "3"])


# ---- from_rows


def test_vocabularies_in_order_of_first_occurrence():
    annotations = small()
    shape, who = "box 0 0 4 2", "? ann bob cid"
    assert lines(annotations) == [
        f"b {who}: ann cat {shape}; bob cat {shape}",
        f"a {who}: ann dog {shape}",
        f"c {who}: bob cat {shape}; cid cat {shape}",
    ]
    assert annotations.person.tolist() == ["ann", "bob", "cid"]
    assert annotations.categories.tolist() == ["cat", "dog"]
    assert annotations.id.tolist() == [7, 8, 9, 5, 6]
    assert annotations.assigned_categories.tolist() == [[True, True], [True, False], [True, True]]


def test_numbers_in_place_of_names_and_ids():
    vocabulary = {"raters": [3, np.int64(4)], "categories": [9], "assigned": {1: [3]}, "assigned_categories": {3: [9]}}
    table = Annotations.from_rows((row(rater=3, category=9) for _ in range(2)), **vocabulary)
    assert table.id.tolist() == [1, 2]
    assert (table.raters.tolist(), table.categories.tolist()) == (["3", "4"], ["9"])
    assert table.assigned.tolist() == [[True, False]]


def test_boxes_and_polygons_however_they_are_given():
    rows = [row(box=box) for box in (BOX, tuple(BOX), np.array(BOX), np.array(BOX, np.float32))]
    table = Annotations.from_rows(rows)
    assert (list(table.shapes), table.shapes["box"].xywh().tolist()) == (["box"], [BOX] * 4)
    rings = [[0, 0, 4, 0, 4, 2]], [[(0, 0), (4, 0), (4, 2)]], np.array([[0, 0, 4, 0, 4, 2]])
    table = Annotations.from_rows(row(box=None, polygon=polygon) for polygon in rings)
    assert table.shapes["polygon"].area().tolist() == [4] * 3
    rows = [row(box=None, polygon=[[1, 2, 5, 2, 3, 8], [7, 2, 9, 2, 9, 4]]), row(polygon=[[1, 2, 5, 2, 3, 8]])]
    assert Annotations.from_rows(rows).shapes["box"].xywh().tolist() == [[1, 2, 8, 6], BOX]  # bounds, or its own box


BAD_ROWS = [
    (row(image=None), "an image of the source, got nothing"),
    (row(rater=""), "a rater of the source, got nothing"),
    (row(category=None), "a category of the source, got nothing"),
    (row(box=None), "a shape (box, polygon, "),
    (row(image=[1]), "an image of the source, got [1]"),
    (row(rater=True), "a rater of the source, got True"),
    (row(id=True), "an id, got True"),
    *((row(box=[0, 0, bad, 1]), "a box of finite numbers up to ") for bad in (float("nan"), float("inf"))),
    *((row(box=[0, 0, *sides]), "a box of positive width and height, got [0, 0, ") for sides in ([0, 1], [1, -1])),
    *((row(box=box), "a box of four numbers x, y, width, height, got ")
      for box in ([0, 0, 1], "7", ["0", "0", "4", "2"], [0, 0, 4, None], [BOX], [0, 0, 10**400, 1])),
    (row(polygon=[[0, 0, 4, 0]]), "rings of at least 3 points, got a ring of 2"),
    (row(polygon=[[0, 0, 4, 0, 0, 0]]), "rings of at least 3 points, got a ring of 2"),  # it is closed
    *((row(polygon=rings), "rings of numbers x1, y1, x2, y2, ..., got ")
      for rings in ([[0, 0, 4, 0, 4]], [[[0, 0, 4], [0, 4, 4]]], [0, 0, 4, 0, 4, 4], "0 0 4", {"counts": [1]}, 7)),
    (row(polygon=[[0, 0, 4, 0, float("nan"), 4]]), "finite coordinates up to "),
]  # fmt: skip


def test_an_unusable_record_is_named_with_its_content():
    start = "rows: 1 record cannot be used.\n  record 2"
    cases = [
        ([row(id=99), record], f"{start} (id {record.get('id', 2)}): expected {words}") for record, words in BAD_ROWS
    ]
    cases.append(([row(), "ann"], f"{start}: expected a mapping, got 'ann'"))
    twice = "record 3 (id 4): expected an id of its own, got 4 a second time"
    cases.append(([row(id=4), row(id=5), row(id=4)], twice))
    assert differing(Annotations.from_rows, None, cases) == []


def test_all_faults_are_told_at_once():
    with pytest.raises(InputError) as caught:
        Annotations.from_rows([row(image=None, rater=None), row(box=[1]), row()])
    assert str(caught.value) == (
        "rows: 2 records cannot be used.\n"
        "  record 1 (id 1): expected an image of the source, got nothing; expected a rater of the source, got nothing\n"
        "  record 2 (id 2): expected a box of four numbers x, y, width, height, got [1]"
    )


VOCABULARIES = [
    ({"images": [2]}, "an image of the source, got 1"),
    ({"raters": ["ann", "bob"], "assigned": {1: ["bob"]}}, "a rater in its image's list, got rater 'ann'"),
    ({"assigned": {1: ["zoe"]}}, "image 1: expected known raters assigned to it, got 'zoe'"),
    ({"assigned": {9: ["ann"]}}, "assigned: expected images of the table, got 9"),
    ({"assigned": "some"}, "assigned: expected a mapping of images to raters, 'all' or 'drew', got 'some'"),
    ({"categories": ["cat", "dog"], "assigned_categories": {"ann": ["dog"]}},
     "record 1 (id 1): expected a class its rater is assigned to, got 'cat' by 'ann'"),
    ({"assigned_categories": {"zoe": ["cat"]}}, "assigned to rater 'zoe': expected a rater among ann, got 'zoe'"),
    ({"assigned_categories": {"ann": ["cat", "emu"]}}, "to rater 'ann': expected known classes, got 'emu'"),
    ({"raters": ["ann", "ann"]}, "raters: expected names, each once, got 'ann' again"),
    ({"images": [1, 1]}, "images: expected each entry once, got 1 again"),
    ({"image_size": {1: (0, 10)}}, "image_size: expected positive widths and heights"),
    ({"session": ["1", "2"]}, "session: expected shape (1,), got (2,)"),
]  # fmt: skip


def test_a_vocabulary_that_does_not_fit_is_reported():
    cases = [([row()], vocabulary, words) for vocabulary, words in VOCABULARIES]
    assert differing(Annotations.from_rows, None, cases) == []


def test_annotations_beyond_the_image_are_kept_counted_and_reported_at_the_callers_line():
    rows = [row(id=i, box=[90, 0, 20, 5]) for i in range(1, 8)] + [row(id=8), row(id=9, box=[-3, 0, 9, 9])]
    with pytest.warns(
        KalosWarning, match=r"rows: 8 annotations reach beyond their image .*\(ids 1, 2, 3, 4, 5 and 3 more\)"
    ) as w:
        annotations = Annotations.from_rows(rows, image_size={1: (100, 100)})
    assert len(annotations) == 9
    assert w[0].filename == __file__


# ---- the constructor


def parts():
    return {field.name: getattr(small(), field.name) for field in dataclasses.fields(Annotations)}


CHANGES = [
    ({"rater": [0, 0]}, "rater: expected shape (5,), got (2,)"),
    ({"category": [0, 0, 0, 0, 7]}, "category: expected codes 0 to 1, got 0 to 7"),
    ({"image": [0, 0, 0, 0, -1]}, "image: expected codes 0 to 2, got -1 to 0"),
    ({"assigned": np.ones((3, 2))}, "assigned: expected shape (3, 3), got (3, 2)"),
    ({"shapes": {"box": Boxes.from_xywh([BOX])}}, "shapes['box']: expected 5 shapes, got 1"),
    ({"assigned": np.zeros((3, 3))}, "annotations: 5 records cannot be used"),
    ({"assigned_categories": np.zeros((3, 2))}, "annotation 7: expected a class its rater is assigned to"),
    ({"excluded": [[0, 3, 0]]}, "excluded: expected codes of 3 images, 3 raters and 2 categories"),
]


def test_the_constructor_checks_that_everything_fits():
    assert differing(lambda changes: Annotations(**parts() | changes), None, CHANGES) == []


def test_columns_cannot_be_written_but_the_callers_arrays_can():
    codes = np.zeros(5, np.intp)
    annotations = Annotations(**parts() | {"category": codes, "assigned_categories": None})
    with pytest.raises(ValueError, match="read-only"):
        annotations.category[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        annotations.category = codes
    codes[0] = 1


def test_ids_are_whole_numbers_or_objects_and_tuples_stay_tuples():
    for ids, dtype in (([1, 2], np.int64), (["1", 2], object), ([True, 2], object), ([2**70, 1], object)):
        assert (id_array(ids).dtype, id_array(ids).tolist()) == (dtype, ids)
    for tuples in ([(1, 2), (3, 4)], [(1, 2)]):
        assert object_array(tuples).tolist() == tuples


# ---- select


def test_select_images_brings_their_annotations_and_cuts_the_vocabulary():
    part = small().select(images=[2, 0])
    assert part.images.tolist() == part.files.tolist() == ["c", "b"]
    assert part.id.tolist() == [7, 8, 5, 6]
    assert part.images[part.image].tolist() == ["b", "b", "c", "c"]
    assert part.categories.tolist() == ["cat", "dog"]


def test_select_raters_by_name_code_or_mask():
    for chosen in (["cid", "ann"], [2, 0], np.array(["cid", "ann"])):  # in the order given
        part = small().select(raters=chosen)
        assert (part.raters.tolist(), part.session.tolist()) == (["cid", "ann"], ["3", "1"])
        assert part.id.tolist() == [7, 9, 6]
        assert part.raters[part.rater].tolist() == ["ann", "ann", "cid"]
        assert part.assigned_categories.tolist() == [[True, True], [True, True]]
    for chosen in ("bob", [False, True, False]):
        assert small().select(raters=chosen).id.tolist() == [8, 5]


def test_select_rows_leaves_who_was_assigned():
    part = small().select(rows=[4, 0])
    assert part.id.tolist() == [6, 7]
    assert part.images.tolist() == ["b", "a", "c"]
    assert part.assigned.all()
    assert small().select(rows=[True, False, False, False, True]).id.tolist() == [7, 6]


def test_select_nothing_is_an_empty_table():
    for axis in ("rows", "images", "raters"):
        part = small().select(**{axis: []})
        assert len(part) == len(part.shapes["box"]) == 0


NOT_THERE = [
    ({"rows": [5]}, "rows: expected codes 0 to 4, got 5 to 5"),
    ({"images": [-1]}, "images: expected codes 0 to 2, got -1 to -1"),
    ({"images": [0, 0]}, "images: expected each code once, got 0 again"),
    ({"raters": ["zoe"]}, "raters: expected names among ann, bob, cid, got zoe"),
    ({"rows": [True, False]}, "rows: expected a mask of shape (5,), got (2,)"),
    ({"images": [0.5]}, "images: expected a mask or whole numbers, got 0.5"),
]


def test_select_names_unknown_entries():
    assert differing(lambda chosen: small().select(**chosen), None, NOT_THERE) == []


@given(tables(limits=True), st.data())
def test_select_keeps_every_row_together(annotations, data):
    def draw(size):
        return data.draw(st.none() | st.lists(st.integers(0, size - 1), unique=True) if size else st.none())

    rows, images, raters = (draw(size) for size in (len(annotations), len(annotations.images), len(annotations.raters)))
    part = annotations.select(rows, images, raters)

    def marks(table):
        columns = (table.images[table.image], table.raters[table.rater], table.categories[table.category])
        rows = zip(*columns, (shapes(table, row) for row in range(len(table))), strict=True)
        return dict(zip(table.id.tolist(), rows, strict=True))

    everything, kept = marks(annotations), marks(part)
    assert kept == {key: everything[key] for key in kept}
    expected = [
        row
        for row in (range(len(annotations)) if rows is None else rows)
        if (images is None or annotations.image[row] in images) and (raters is None or annotations.rater[row] in raters)
    ]
    assert part.id.tolist() == annotations.id[expected].tolist()
    order = (slice(None) if images is None else images), (slice(None) if raters is None else raters)
    np.testing.assert_array_equal(part.assigned, annotations.assigned[order[0]][:, order[1]])


# ---- who was assigned, if that is not stated


def said(words, *rows, warned="", **options):
    """Return a case of boxes of raters in images, and who is then assigned to each image."""
    expected = [f"{image} ? {who}:" for image, who in enumerate(words.split(", "), 1)]
    return (
        [row(image=image, rater=rater) for image, rater in rows],
        options,
        Warned(warned, expected) if warned else expected,
    )


def test_who_was_assigned_where_it_is_not_said():
    both, one = [(1, "ann"), (1, "bob")], (2, "ann")
    two, names = {"images": [1, 2]}, {"raters": ["ann", "bob"]}
    some = "annotations of some raters only"
    cases = [
        said("ann bob, ann bob, ann bob", *both, one, (3, "bob"), warned=f"2 of 3 images have {some}"),
        said("ann bob", both[0], **names, warned=f"1 of 1 images have {some}"),
        said(
            "ann bob, ",
            both[0],
            **two,
            **names,
            assigned={2: []},
            warned="assigned to 1 of 2 images, and 1 of 1 images",
        ),
        # it does not matter: nobody annotated the second image; one rater; empty table; assignments listed
        said("ann bob", *both),
        said("ann bob, ann bob", *both, **two),
        said("ann, ann", both[0], one),
        said("ann bob", images=[1], **names),
        said("ann", both[0], **names, assigned={1: ["ann"]}),
        said("ann bob, ann bob, ann bob", *both, one, images=[1, 2, 3], assigned="all"),
        said("ann bob, ann", *both, one, **two, assigned="drew"),
    ]
    assert differing(Annotations.from_rows, None, cases, show=who_is_assigned) == []


def who_is_assigned(table):
    return [line.partition(":")[0] + ":" for line in lines(table)]


def test_the_two_readings_by_hand():
    # ann and bob agree on image 1; on image 2 there is only ann. If bob saw it, image alphas are 1 and 0, else 1 alone
    rows = [row(), row(rater="bob"), row(image=2)]
    means = [agreement(Annotations.from_rows(rows, assigned=word), bootstrap=0).alpha for word in ("all", "drew")]
    assert means == [0.5, 1]
