"""LIDC-IDRI: reading sessions as raters local to their scan, in XML and in JSON."""

import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from kalos_core import InputError, KalosWarning, agreement, read_lidc
from tests.readers.spoiling import spoiled, spoiled_xml

SQUARE = [[10, 10], [14, 10], [14, 14], [10, 14]]
HOLE = [[11, 11], [13, 11], [13, 13], [11, 13]]


def scan(series="1.2.3", **changes):
    """Session 1 outlines a nodule with a hole in two slices, session 2 sees nothing but a dot, session 3 no nodule."""
    nodule = {
        "nodule_id": "Nodule 001",
        "contours": [
            {"z": -5.0, "incl": 1, "pts": SQUARE},
            {"z": -2.5, "incl": 1, "pts": SQUARE},
            {"z": -2.5, "incl": 0, "pts": HOLE},
            {"z": 0.0, "incl": 1, "pts": [[12, 12]]},
        ],
    }
    return {
        "series_uid": series,
        "patient_id": "LIDC-IDRI-0001",
        "width": 512,
        "height": 512,
        "pixel_spacing": 0.5,
        "slice_z": [0.0, -2.5, -5.0, 2.5],
        "sessions": [
            {"session": 1, "nodules": [nodule], "small_nodules": [], "non_nodules": []},
            {"session": 2, "nodules": [], "small_nodules": [[-5.0, 9, 9]], "non_nodules": [[0.0, 1, 1], [0.0, 2, 2]]},
            {"session": 3, "nodules": []},
        ],
    } | changes


def edges(points):
    return "".join(f"<edgeMap><xCoord>{x}</xCoord><yCoord>{y}</yCoord></edgeMap>" for x, y in points)


def roi(z, points, inclusion="TRUE"):
    return (
        f"<roi><imageZposition>{z} </imageZposition><imageSOP_UID>1.9</imageSOP_UID>"
        f"<inclusion>{inclusion}</inclusion>{edges(points)}</roi>"
    )


def xml(series="1.2.3", namespace=' xmlns="http://www.nih.gov"'):
    """The same scan as the public schema has it: a small nodule is one of a single point."""
    contours = roi(-5.0, SQUARE) + roi(-2.5, SQUARE) + roi(-2.5, HOLE, "FALSE") + roi(0.0, [[12, 12]])
    locus = "<locus><xCoord>1</xCoord><yCoord>1</yCoord></locus>"
    none = f"<nonNodule><nonNoduleID>n</nonNoduleID><imageZposition>5.0</imageZposition>{locus}</nonNodule>"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><LidcReadMessage uid="1.3"{namespace}>'
        f"<ResponseHeader><SeriesInstanceUid>{series}</SeriesInstanceUid></ResponseHeader>"
        "<readingSession><servicingRadiologistID>540461523</servicingRadiologistID>"
        "<unblindedReadNodule><noduleID>Nodule 001</noduleID>"
        f"<characteristics><malignancy>5</malignancy></characteristics>{contours}</unblindedReadNodule></readingSession>"
        "<readingSession><unblindedReadNodule><noduleID>7</noduleID>"
        f"{roi(-5.0, [[9, 9]])}</unblindedReadNodule>{none}{none}</readingSession>"
        "<readingSession><servicingRadiologistID>1</servicingRadiologistID></readingSession></LidcReadMessage>"
    )


@pytest.fixture
def written(tmp_path):
    def write(content, name="scans.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = (
            content
            if isinstance(content, bytes)
            else (content if isinstance(content, str) else json.dumps(content)).encode()
        )
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
        return path

    return write


@pytest.fixture(params=["scans.json", "scans.json.gz", "069.xml", "XML without namespace"])
def one(request, written):
    if request.param.endswith("xml"):
        return read_lidc(written(xml(), request.param))
    if request.param.startswith("XML"):
        return read_lidc(written(xml(namespace=""), "a.xml"))
    return read_lidc(written({"scans": [scan()]}, request.param))


def test_one_scan(one):
    assert one.images.tolist() == ["1.2.3"]
    assert one.raters.tolist() == ["session 1", "session 2", "session 3"]
    assert one.raters_are_local
    assert one.categories.tolist() == ["nodule"]
    assert one.assigned.tolist() == [[True, True, True]]
    assert one.rater.tolist() == [0]
    assert one.skipped.tolist() == [3]  # a nodule under 3 mm and two that are none
    assert one.image_size.tolist() == [[512, 512]]
    volumes = one.shapes["volume"]
    assert volumes.area().tolist() == [16 + 16 - 4]
    assert volumes.flat_contours == 1


def test_slices_and_spacing_of_json(written):
    volumes = read_lidc(written({"scans": [scan()]})).shapes["volume"]
    assert volumes.scans.position.tolist() == [-5, -2.5, 0, 2.5]
    assert volumes.volume().tolist() == [28 * 0.5 * 0.5 * 2.5]


def test_slices_that_nobody_marked_are_laid_between(written):
    volumes = read_lidc(written(xml(), "a.xml")).shapes["volume"]
    assert volumes.scans.position.tolist() == [-5, -2.5, 0, 2.5, 5]  # 2.5 is nobody's
    assert volumes.scans.slice_spacing.tolist() == [2.5]
    assert np.isnan(volumes.scans.pixel_spacing).all()


def test_a_folder_at_any_depth_without_the_radiographs(written, tmp_path):
    written(xml("1.2.3"), "LIDC-IDRI-0001/b/069.xml")
    written(xml("1.2.4"), "LIDC-IDRI-0002/071.XML")
    written("<IdriReadMessage/>", "LIDC-IDRI-0002/cxr/072.xml")
    with pytest.warns(KalosWarning, match=r"passed over: 1 of radiographs \(LIDC-IDRI-0002/cxr/072\.xml\)") as caught:
        annotations = read_lidc(tmp_path)
    assert [warning.filename for warning in caught] == [__file__]
    assert annotations.images.tolist() == ["1.2.3", "1.2.4"]
    assert [Path(file).name for file in annotations.files] == ["069.xml", "071.XML"]
    assert all((tmp_path / file).is_file() for file in annotations.files)


def test_scans_with_fewer_sessions(written):
    annotations = read_lidc(written({"scans": [scan(), scan("1.2.4", sessions=scan()["sessions"][:2])]}))
    assert annotations.assigned.tolist() == [[True, True, True], [True, True, False]]
    assert annotations.id.tolist() == [1, 2]


def test_a_scan_that_says_the_same_twice_is_passed_over(written, tmp_path):
    written(xml(), "157/158.xml")
    written(xml().replace('uid="1.3"', 'uid="1.4"'), "189/158.xml")
    with pytest.warns(KalosWarning, match=r"1 that say the same of a scan as one before \(189/158\.xml\)"):
        annotations = read_lidc(tmp_path)
    assert (annotations.files.tolist(), len(annotations)) == (["157/158.xml"], 1)
    with pytest.warns(KalosWarning, match=r"1 that say the same of a scan as one before \(scans\[1\]"):
        assert len(read_lidc(written({"scans": [scan(), scan()]})).images) == 1


def test_two_files_that_differ_about_a_scan(written, tmp_path):
    written(xml(), "157/158.xml")
    written(xml().replace(">14<", ">15<"), "189/158.xml")
    expected = r"189/158\.xml: expected a scan of its own, got series 1\.2\.3 a second time, with other"
    with pytest.raises(InputError, match=expected):
        read_lidc(tmp_path)
    with pytest.warns(KalosWarning, match=expected):
        assert len(read_lidc(tmp_path, on_invalid="skip").images) == 1


RADIOGRAPHS = [
    "<IdriReadMessage/>",
    "<LidcReadMessage><ResponseHeader><CXRSeriesInstanceUid>1</CXRSeriesInstanceUid></ResponseHeader></LidcReadMessage>",
    f"<LidcReadMessage><ResponseHeader>{' ' * 5000}</ResponseHeader><CXRreadingSession/></LidcReadMessage>",
]


def test_radiographs_of_every_kind_are_passed_over_and_counted(written, tmp_path):
    written(xml(), "a.xml")
    for number, text in enumerate(RADIOGRAPHS):
        written(text, f"{number}/cxr.xml")
    with pytest.warns(KalosWarning, match=r"passed over: 3 of radiographs \(0/cxr\.xml, 1/cxr\.xml, 2/cxr\.xml\)"):
        assert len(read_lidc(tmp_path).images) == 1


def test_what_is_no_scan_is_found_before_the_first_scan_is_parsed(written, tmp_path, monkeypatch):
    written(xml(), "a.xml")
    written("<annotations/>", "z.xml")
    monkeypatch.setattr("kalos_core.readers.lidc._read_folder", lambda *_: pytest.fail("a scan was parsed"))
    with pytest.raises(InputError, match=r"z\.xml: expected <LidcReadMessage> with a SeriesInstanceUid in its header"):
        read_lidc(tmp_path)


def test_skip_reaches_files_scans_and_nodules(written, tmp_path):
    written(xml(), "a.xml")
    written("<annotations/>", "b.xml")
    written("<LidcReadMessage><cut", "c.xml")
    written(xml("2").replace("-5.0 ", "1e9", 1), "d.xml")
    written(xml("3").replace("TRUE", "MAYBE", 1), "e.xml")
    with pytest.raises(InputError):
        read_lidc(tmp_path)
    with pytest.warns(KalosWarning, match="They are left out") as caught:
        annotations = read_lidc(tmp_path, on_invalid="skip")
    text = str(caught[0].message)
    for name in ("b.xml: ", "c.xml: ", "d.xml: ", "e.xml, session 1, nodule 'Nodule 001': "):
        assert name in text
    assert annotations.images.tolist() == ["1.2.3", "3"]
    assert annotations.skipped.tolist() == [3, 4]
    with pytest.warns(KalosWarning, match="They are left out"):
        read_lidc(written({"scans": [3, scan(pixel_spacing=-1), scan("4")]}), on_invalid="skip")
    with pytest.raises(InputError, match="2 records cannot be used"):
        read_lidc(written({"scans": [3, scan(pixel_spacing=-1)]}), on_invalid="skip")


CONTOUR = {"z": -5.0, "incl": 1, "pts": SQUARE}


def with_contour(**changes):
    return scan(sessions=[{"session": 1, "nodules": [{"nodule_id": "N", "contours": [CONTOUR | changes]}]}])


RECORD = r"scans\[0\] \(series 1\.2\.3\)"


@pytest.mark.parametrize(
    ("entry", "record", "message"),
    [
        (with_contour(z=-4.0), rf"{RECORD}, session 1, nodule 'N'", "contours that lie in a slice of their scan"),
        (with_contour(pts=[[0, 0], [600, 0], [0, 9]]), rf"{RECORD}, session 1, nodule 'N'", "contours inside of their"),
        (with_contour(pts="?"), rf"{RECORD}, session 1, nodule 'N'", "contours"),
        (with_contour(incl=2), rf"{RECORD}, session 1, nodule 'N'", "contours"),
        (scan(slice_z=[]), rf"{RECORD}, session 1, nodule 'Nodule 001'", "an image of known slice positions"),
        (scan(slice_z=[0, "x"]), RECORD, "a list 'slice_z' of positions in mm"),
        (scan(pixel_spacing=-1), RECORD, "a positive 'pixel_spacing' in mm, got -1"),
        (scan(width=0), RECORD, "a positive width and height, got 0 x 512"),
        (scan(sessions=None), RECORD, "a list 'sessions', got None"),
        (scan(sessions=[{"session": 2, "nodules": []}]), RECORD, "sessions numbered 1 to 1"),
        (scan(sessions=[{"session": 1, "nodules": []}] * 2), RECORD, "sessions with numbers of their own"),
        (scan(sessions=[{"session": 1}]), rf"{RECORD}, session 1", "a list 'nodules', got None"),
        (
            scan(sessions=[{"session": 1, "nodules": [3]}]),
            rf"{RECORD}, session 1, nodules\[0\]",
            "an object with a list",
        ),
        (scan(series_uid=None), r"scans\[0\]", "an object with a 'series_uid'"),
        ("scan", r"scans\[0\]", "an object with a 'series_uid', got 'scan'"),
    ],
)
def test_records_of_json_that_cannot_be_used(written, entry, record, message):
    with pytest.raises(InputError, match=rf"scans\.json: \d records?(.|\n)*  {record}: (.*; )?expected {message}"):
        read_lidc(written({"scans": [entry]}))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("TRUE", "MAYBE", "TRUE or FALSE as inclusion, got 'MAYBE'"),
        ("-5.0 ", "high", "a number as imageZposition, got 'high'"),
        ("-5.0 ", "1e9", "at most 10,000 slices in a scan, got z from -5 to 1e+09, some only 2.5 apart"),
        ("<xCoord>14<", "<xCoord>x<", "numbers as xCoord and yCoord"),
    ],
)
def test_records_of_xml_that_cannot_be_used(written, old, new, message):
    with pytest.raises(
        InputError, match=rf"a\.xml(, session 1, nodule 'Nodule 001')?: (.*; )?expected {re.escape(message)}"
    ):
        read_lidc(written(xml().replace(old, new, 1), "a.xml"))


def test_nodules_that_cannot_be_used_are_left_out_on_request(written):
    with pytest.warns(KalosWarning, match="They are left out") as caught:
        annotations = read_lidc(written({"scans": [with_contour(z=-4.0), scan("1.2.4")]}), on_invalid="skip")
    assert [warning.filename for warning in caught] == [__file__]
    assert annotations.image.tolist() == [1]
    assert annotations.skipped.tolist() == [1, 3]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", "", "expected XML, got no element found"),
        ("a.xml", "<LidcReadMessage>", "expected XML, got"),
        ("a.xml", "<LidcReadMessage/>", "expected <LidcReadMessage> with a SeriesInstanceUid in its header, got none"),
        (
            "a.xml",
            "<annotations/>",
            "expected <LidcReadMessage> with a SeriesInstanceUid in its header, got <annotations>",
        ),
        ("a.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "expected XML, got a document type declaration (a)"),
        ("a.xml", '<!DOCTYPE a SYSTEM "file:///etc/hostname"><a/>', "expected XML, got a document type declaration"),
        ("a.xml", '<?xml version="1.0" encoding="ebcdic-nowhere"?><a/>', "expected XML, got"),
        ("a.json", "[]", "expected an object with a list 'scans', got list"),
        ("a.json", "{}", "expected an object with a list 'scans', got an object with nothing"),
        ("a.json", '{"images": []}', "expected an object with a list 'scans', got an object with images"),
        ("a.json", "{", "expected JSON, got"),
        ("a.json", b"\xff", "expected a readable LIDC-IDRI file in UTF-8, got"),
    ],
)
def test_what_is_not_lidc(written, name, content, message):
    path = written(content, name)
    with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
        read_lidc(path)


def test_what_is_no_file_or_an_empty_folder(tmp_path):
    for name in ("absent.xml", "absent.json", "absent.json.gz"):
        with pytest.raises(InputError, match=r"absent\..*: expected a readable LIDC-IDRI file"):
            read_lidc(tmp_path / name)
    with pytest.raises(InputError, match="expected XML files of LIDC-IDRI scans, got 0 files"):
        read_lidc(tmp_path)
    with pytest.raises(InputError, match="path: expected a path, got int"):
        read_lidc(3)
    (tmp_path / "cut.json.gz").write_bytes(gzip.compress(b'{"scans": []}')[:-9])
    with pytest.raises(InputError, match="expected a readable LIDC-IDRI file"):
        read_lidc(tmp_path / "cut.json.gz")


def test_the_real_scans(lidc, lidc_path):
    scans = json.loads(gzip.decompress(lidc_path.read_bytes()))["scans"]
    assert (len(lidc.images), len(lidc), lidc.raters.tolist()) == (120, 959, [f"session {n}" for n in range(1, 5)])
    assert lidc.assigned.all()
    points = [sum(len(s["small_nodules"]) + len(s["non_nodules"]) for s in scan["sessions"]) for scan in scans]
    assert lidc.skipped.tolist() == points
    contours = [c for scan in scans for s in scan["sessions"] for n in s["nodules"] for c in n["contours"]]
    volumes = lidc.shapes["volume"]
    assert len(volumes.slice) == len(contours) == 5214
    assert volumes.flat_contours == sum(len(contour["pts"]) < 3 for contour in contours) == 7
    np.testing.assert_array_equal(volumes.z, [contour["z"] for contour in contours])
    assert (~volumes.inclusion).sum() == 126


def test_the_real_scans_written_as_xml_give_the_same_alpha(lidc, lidc_path, tmp_path):
    """The first scans with contours as XML: other slices, no pixel spacing, the same overlaps."""
    scans = json.loads(gzip.decompress(lidc_path.read_bytes()))["scans"][:12]
    for number, entry in enumerate(scans):
        sessions = "".join(
            "<readingSession>"
            + "".join(
                f"<unblindedReadNodule><noduleID>{nodule['nodule_id']}</noduleID>"
                + "".join(roi(c["z"], c["pts"], "TRUE" if c["incl"] else "FALSE") for c in nodule["contours"])
                + "</unblindedReadNodule>"
                for nodule in session["nodules"]
            )
            + "</readingSession>"
            for session in entry["sessions"]
        )
        header = f"<ResponseHeader><SeriesInstanceUid>{entry['series_uid']}</SeriesInstanceUid></ResponseHeader>"
        (tmp_path / f"{number:03}.xml").write_text(f"<LidcReadMessage>{header}{sessions}</LidcReadMessage>")
    expected = agreement(lidc.select(images=np.arange(12)), "volume_iou", bootstrap=0)
    got = agreement(read_lidc(tmp_path), "volume_iou", bootstrap=0)
    np.testing.assert_allclose(got.image_alpha, expected.image_alpha, atol=1e-12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spoiled({"scans": [scan(), scan("1.2.4")]}))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_spoiled_json_is_read_or_refused(tmp_path, content):
    path = tmp_path / "scans.json"
    try:
        path.write_text(json.dumps(content))
    except ValueError:  # a number too long to be written
        return
    read_or_refuse(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(spoiled_xml(xml()))
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_spoiled_xml_is_read_or_refused(tmp_path, data):
    path = tmp_path / "scan.xml"
    path.write_bytes(data)
    read_or_refuse(path)


def read_or_refuse(path):
    for on_invalid in ("raise", "skip"):
        try:
            annotations = read_lidc(path, on_invalid=on_invalid)
        except InputError:
            continue
        if len(annotations):
            annotations.shapes["volume"].area()
