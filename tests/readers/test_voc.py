"""Pascal VOC files, a folder a rater."""

import re

import pytest
from hypothesis import HealthCheck, given, settings

from kalos_core import InputError, KalosWarning
from kalos_core.readers import read_labels, read_voc
from kalos_core.readers.formats import guess_format
from tests.readers.spoiling import spoiled_xml

LABELIMG = """<annotation>
\t<folder>images</folder>
\t<filename>000012.jpg</filename>
\t<path>/data/images/000012.jpg</path>
\t<source>
\t\t<database>Unknown</database>
\t</source>
\t<size>
\t\t<width>500</width>
\t\t<height>333</height>
\t\t<depth>3</depth>
\t</size>
\t<segmented>0</segmented>
\t<object>
\t\t<name>car</name>
\t\t<pose>Rear</pose>
\t\t<truncated>0</truncated>
\t\t<difficult>0</difficult>
\t\t<bndbox>
\t\t\t<xmin>156</xmin>
\t\t\t<ymin>97</ymin>
\t\t\t<xmax>351</xmax>
\t\t\t<ymax>270</ymax>
\t\t</bndbox>
\t</object>
</annotation>
"""
"""As LabelImg 1.8 writes it; the object is that of VOC2007's 000012.xml."""

POLYGON = """<annotation><filename>b.jpg</filename><size><width>90</width><height>60</height><depth>3</depth></size>
<object><name>leaf</name><pose>Unspecified</pose><truncated>0</truncated><difficult>0</difficult><occluded>0</occluded>
<bndbox><xmin>10</xmin><xmax>30</xmax><ymin>20</ymin><ymax>40</ymax></bndbox>
<polygon><x1>10</x1><y1>20</y1><x2>30</x2><y2>20</y2><x3>10</x3><y3>40</y3></polygon></object></annotation>"""
"""As Roboflow exports a polygon as Pascal VOC: corners in another order."""


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for place, text in files.items():
            path = tmp_path / (place.replace("__", "/") + ".xml")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    return write


def test_two_raters(folder):
    empty = re.sub(r"\t<object>.*</object>\n", "", LABELIMG, flags=re.DOTALL)
    found = folder(ann__000012=LABELIMG, bob__Annotations__000012=empty, ann__b=POLYGON)
    (found / "JPEGImages").mkdir()
    table = read_voc(found)
    assert table.images.tolist() == ["000012", "b"]
    assert table.files.tolist() == ["000012.jpg", "b.jpg"]
    assert table.raters.tolist() == ["ann", "bob"]
    assert table.categories.tolist() == ["car", "leaf"]
    assert table.shapes["box"].xywh().tolist() == [[156, 97, 195, 173], [10, 20, 20, 20]]
    assert table.shapes["polygon"].area().tolist()[1] == 200
    assert table.image_size.tolist() == [[500, 333], [90, 60]]
    assert table.assigned.tolist() == [[True, True], [True, False]]
    assert guess_format(found) == "voc"
    assert read_labels(found).id.tolist() == table.id.tolist()


def test_who_was_assigned(folder):
    found = folder(ann__a=LABELIMG, bob__b=LABELIMG)
    assert read_voc(found).assigned.tolist() == [[True, False], [False, True]]
    assert read_voc(found, assigned="all").assigned.all()
    assert read_voc(found, assigned={"a": ["ann", "bob"]}).assigned.tolist() == [[True, True], [False, True]]
    with pytest.raises(InputError, match="assigned: expected images and raters with files, got 'c', 'cid'"):
        read_voc(found, assigned={"c": ["ann"], "a": ["cid", "ann"]})
    with pytest.raises(InputError, match="expected 'files', 'all' or lists of raters by image, got 'drew'"):
        read_voc(found, assigned="drew")
    with pytest.raises(InputError, match="object 1: expected a rater in its image's list, got rater 'ann'"):
        read_voc(found, assigned={"a": ["bob"]})


def test_folders_by_name_aliases_and_unknown_sizes(folder):
    unknown = LABELIMG.replace("<width>500", "<width>0").replace("<height>333", "<height>0")
    found = folder(x__a=unknown, y__a=LABELIMG.replace("car", "auto"))
    table = read_voc({"ann": found / "x", "bob": found / "y"}, aliases={"auto": "car"})
    assert (table.raters.tolist(), table.categories.tolist()) == (["ann", "bob"], ["car"])
    assert table.image_size.tolist() == [[500, 333]]
    with pytest.warns(KalosWarning, match=r"'car' \(1 by ann\)") as caught:
        read_voc({"ann": found / "x", "bob": found / "y"}, aliases={"auto": "bus"})
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<xmin>156</xmin>", "", "object 1: expected a number as xmin, got nothing"),
        ("<xmin>156<", "<xmin>left<", "object 1: expected a number as xmin, got 'left'"),
        ("<xmin>156<", "<xmin>400<", "object 1: expected a box of positive width and height"),
        ("<name>car</name>", "<name> </name>", "object 1: expected a name, got nothing"),
        ("bndbox>", "robndbox>", "object 1: expected a bndbox or a polygon, got neither"),
        ("<width>500<", "<width>wide<", "ann/a.xml: expected numbers as width and height, got 'wide' x '333'"),
        ("<width>500<", "<width>-5<", "ann/a.xml: expected a positive width and height, got -5.0 x 333.0"),
    ],
)
def test_records_that_cannot_be_used(folder, old, new, message):
    with pytest.raises(InputError, match=re.escape(message)):
        read_voc(folder(ann__a=LABELIMG.replace(old, new)))


def test_objects_that_cannot_be_used_are_left_out_on_request(folder):
    found = folder(ann__a=LABELIMG.replace("<xmin>156<", "<xmin>left<"), bob__a=LABELIMG)
    with pytest.warns(KalosWarning, match="They are left out") as caught:
        table = read_voc(found, on_invalid="skip")
    assert (table.skipped.tolist(), table.rater.tolist()) == ([1], [1])
    assert [warning.filename for warning in caught] == [__file__]


def test_what_is_no_pascal_voc(folder, tmp_path):
    with pytest.raises(InputError, match="expected a folder for each rater, got none"):
        read_voc(tmp_path)
    with pytest.raises(InputError, match=r"folders: expected a folder, got .*absent, which is none"):
        read_voc(tmp_path / "absent")
    (tmp_path / "bob").mkdir()
    with pytest.raises(InputError, match=r"rater 'bob': expected XML files in .*bob, got none"):
        read_voc(tmp_path)
    with pytest.raises(InputError, match=r"a\.xml: expected Pascal VOC with <annotation>, got <annotations>"):
        read_voc(folder(bob__a="<annotations/>"))
    with pytest.raises(InputError, match=r"a\.xml: expected XML, got a document type declaration"):
        read_voc(folder(bob__a='<!DOCTYPE a [<!ENTITY b "c">]><annotation>&b;</annotation>'))
    with pytest.raises(InputError, match=r"image 'a' in .*: expected one file, got"):
        read_voc(folder(bob__Annotations__a=LABELIMG))


def test_an_image_of_two_sizes(folder):
    found = folder(ann__a=LABELIMG, bob__a=LABELIMG.replace("<width>500", "<width>400"))
    with pytest.raises(InputError, match=r"bob/a.*: expected the size 500 x 333 that it has elsewhere, got 400 x 333"):
        read_voc(found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
@given(spoiled_xml(LABELIMG))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_spoiled_file_is_read_or_refused(tmp_path, data):
    (tmp_path / "ann").mkdir(exist_ok=True)
    (tmp_path / "ann" / "a.xml").write_bytes(data)
    for on_invalid in ("raise", "skip"):
        try:
            assert read_voc(tmp_path, on_invalid=on_invalid).images.tolist() == ["a"]
        except InputError:
            continue
