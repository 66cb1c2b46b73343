"""LIDC-IDRI: reading sessions as raters local to their scan, in XML and in JSON."""

import gzip
import json

import numpy as np
import pytest

from kalos_core import KalosWarning, read_lidc
from tests.readers.cases import LeftOut, Warned, differing, lines, write

SQUARE = [[10, 10], [14, 10], [14, 14], [10, 14]]
HOLE = [[11, 11], [13, 11], [13, 13], [11, 13]]
CONTOURS = [(-5.0, 1, SQUARE), (-2.5, 1, SQUARE), (-2.5, 0, HOLE), (0.0, 1, [[12, 12]])]
"""Position, whether it is included, and points."""


def scan(series="1.2.3", **changes):
    """Session 1 outlines a nodule with a hole in two slices, session 2 marks only a dot, session 3 no nodule."""
    contours = [dict(zip(("z", "incl", "pts"), contour, strict=True)) for contour in CONTOURS]
    nodule = {"nodule_id": "Nodule 001", "contours": contours}
    grid = {"width": 512, "height": 512, "pixel_spacing": 0.5}
    return (
        grid
        | {
            "series_uid": series,
            "patient_id": "LIDC-IDRI-0001",
            "slice_z": [0.0, -2.5, -5.0, 2.5],
            "sessions": [
                {"session": 1, "nodules": [nodule], "small_nodules": [], "non_nodules": []},
                {
                    "session": 2,
                    "nodules": [],
                    "small_nodules": [[-5.0, 9, 9]],
                    "non_nodules": [[0.0, 1, 1], [0.0, 2, 2]],
                },
                {"session": 3, "nodules": []},
            ],
        }
        | changes
    )


def roi(z, points, inclusion="TRUE"):
    edges = "".join(f"<edgeMap><xCoord>{x}</xCoord><yCoord>{y}</yCoord></edgeMap>" for x, y in points)
    return f"<roi><imageZposition>{z} </imageZposition><inclusion>{inclusion}</inclusion>{edges}</roi>"


def xml(series="1.2.3", namespace=' xmlns="http://www.nih.gov"'):
    """Return the same scan in the public schema, in which a small nodule has a single point."""
    contours = "".join(roi(z, points, "TRUE" if part else "FALSE") for z, part, points in CONTOURS)
    locus = "<locus><xCoord>1</xCoord><yCoord>1</yCoord></locus>"
    none = f"<nonNodule><nonNoduleID>n</nonNoduleID><imageZposition>5.0</imageZposition>{locus}</nonNodule>"
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><LidcReadMessage uid="1.3"{namespace}>'
        f"<ResponseHeader><SeriesInstanceUid>{series}</SeriesInstanceUid></ResponseHeader>"
        "<readingSession><servicingRadiologistID>540461523</servicingRadiologistID>"
        "<unblindedReadNodule><noduleID>Nodule 001</noduleID>"
        f"<characteristics>{SCORES}</characteristics>{contours}</unblindedReadNodule></readingSession>"
        "<readingSession><unblindedReadNodule><noduleID>7</noduleID>"
        f"{roi(-5.0, [[9, 9]])}</unblindedReadNodule>{none}{none}</readingSession>"
        "<readingSession><servicingRadiologistID>1</servicingRadiologistID></readingSession></LidcReadMessage>"
    )


SCORES = "<malignancy>5</malignancy><subtlety>4</subtlety><texture>0</texture><calcification>6</calcification>"
SESSIONS = "session 1 session 2 session 3"


def one(file, series="1.2.3"):
    """Return the lines of the scan: 28 pixels in two slices."""
    return [f"{series}={file} 512x512 {SESSIONS}: session 1 nodule volume of 28"]


SAME = "1 that repeat the content of a scan"
RADIOGRAPHS = [
    "<IdriReadMessage/>",
    "<LidcReadMessage><ResponseHeader><CXRSeriesInstanceUid>1</CXRSeriesInstanceUid></ResponseHeader></LidcReadMessage>",
    f"<LidcReadMessage><ResponseHeader>{' ' * 5000}</ResponseHeader><CXRreadingSession/></LidcReadMessage>",
]
READ = {
    "two sessions of one of two scans": (
        {"scans": [scan(), scan("1.2.4", sessions=scan()["sessions"][:2])]},
        [*one("LIDC-IDRI-0001"), one("LIDC-IDRI-0001", "1.2.4")[0].replace(" session 3:", ":")],
    ),
    "a scan twice": ({"scans": [scan(), scan()]}, Warned(f"{SAME} (scans[1]", one("LIDC-IDRI-0001"))),
}
FOLDERS = {
    "at any depth": (
        {"LIDC-1/b/069.xml": xml("1.2.3"), "LIDC-2/071.XML": xml("1.2.4")},
        [*one("LIDC-1/b/069.xml"), *one("LIDC-2/071.XML", "1.2.4")],
    ),
    "radiographs of every kind": (
        {"a.xml": xml()} | {f"{number}/cxr.xml": text for number, text in enumerate(RADIOGRAPHS)},
        Warned("ignored: 3 of radiographs (0/cxr.xml, 1/cxr.xml, 2/cxr.xml)", one("a.xml")),
    ),
    "a scan twice": (
        {"157/158.xml": xml(), "189/158.xml": xml().replace('uid="1.3"', 'uid="1.4"')},
        Warned(f"{SAME} (189/158.xml)", one("157/158.xml")),
    ),
    "no scan": ({"a.xml": xml(), "z.xml": "<annotations/>"},
                "z.xml: expected <LidcReadMessage> with a SeriesInstanceUid in its header"),
    "no file": ({"a.txt": ""}, "expected XML files of LIDC-IDRI scans, got 0 files"),
}  # fmt: skip

CONTOUR = {"z": -5.0, "incl": 1, "pts": SQUARE}


def with_contour(**changes):
    return scan(sessions=[{"session": 1, "nodules": [{"nodule_id": "N", "contours": [CONTOUR | changes]}]}])


SCAN = "scans[0] (series 1.2.3)"
NODULE = f"{SCAN}, session 1, nodule 'N': expected contours"
RECORDS = [
    (with_contour(z=-4.0), LeftOut(f"{NODULE} that lie in a slice of their scan")),
    (with_contour(pts=[[0, 0], [600, 0], [0, 9]]), LeftOut(f"{NODULE} inside of their")),
    (with_contour(incl=2), LeftOut(NODULE)),
    (scan(slice_z=[]), f"{SCAN}, session 1, nodule 'Nodule 001': expected an image of known slice positions"),
    (scan(slice_z=[0, "x"]), f"{SCAN}: expected a list 'slice_z' of positions in mm"),
    (scan(pixel_spacing=-1), f"{SCAN}: expected a positive 'pixel_spacing' in mm, got -1"),
    (scan(sessions=[{"session": 2, "nodules": []}]), f"{SCAN}: expected sessions numbered 1 to 1"),
    (scan(sessions=[{"session": 1, "nodules": []}] * 2), f"{SCAN}: expected sessions with numbers of their own"),
    (scan(sessions=[{"session": 1}]), f"{SCAN}, session 1: expected a list 'nodules', got None"),
    (scan(sessions=[{"session": 1, "nodules": [3]}]), f"{SCAN}, session 1, nodules[0]: expected an object with a list"),
    (scan(series_uid=None), "scans[0]: expected an object with a 'series_uid'"),
]
CHANGED = [
    ("TRUE", "MAYBE", "a.xml, session 1, nodule 'Nodule 001': expected TRUE or FALSE as inclusion, got 'MAYBE'"),
    ("-5.0 ", "high", "a.xml, session 1, nodule 'Nodule 001': expected a number as imageZposition, got 'high'"),
    ("-5.0 ", "1e9", "a.xml: expected at most 10,000 slices in a scan, got z from -5 to 1e+09, some only 2.5 apart"),
    ("<xCoord>14<", "<xCoord>x<", "expected numbers as xCoord and yCoord"),
]
"""Text of a valid file, its replacement, and the result."""

HEADLESS = "expected <LidcReadMessage> with a SeriesInstanceUid in its header, got "
NOT_XML = [
    ("", "a.xml: expected XML, got no element found"),
    ("<LidcReadMessage/>", f"{HEADLESS}none"),
    ('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "expected XML, got a document type declaration (a)"),
]
NOT_JSON = [
    ("[]", "a.json: expected an object with a list 'scans', got list"),
    ('{"images": []}', "expected an object with a list 'scans', got images"),
]


def test_json(tmp_path):
    other = scan("1.2.4", sessions=[{"session": 1, "nodules": []}])
    records = [({"scans": [entry, other]}, expected) for entry, expected in RECORDS]
    assert differing(read_lidc, tmp_path, [*READ.values(), *records, *NOT_JSON], "a.json") == []


def test_xml(tmp_path):
    changed = [(xml().replace(old, new, 1), words) for old, new, words in CHANGED]
    assert differing(read_lidc, tmp_path, [*NOT_XML, *changed], "a.xml") == []
    assert differing(read_lidc, tmp_path / "folders", FOLDERS) == []
    absent = [(tmp_path / name, "expected a readable LIDC-IDRI file") for name in ("absent.xml", "absent.json.gz")]
    assert differing(read_lidc, None, [*absent, (3, "path: expected a path, got int")]) == []


def test_one_scan(tmp_path):
    contents = {"scans.json": {"scans": [scan()]}, "scans.json.gz": {"scans": [scan()]}, "069.xml": xml()}
    for name, content in (contents | {"a.xml": xml(namespace="")}).items():
        table = read_lidc(write(tmp_path, content, name))
        assert lines(table) == one("LIDC-IDRI-0001" if "json" in name else name)
        assert table.raters_are_local
        assert table.skipped.tolist() == [3]  # a nodule under 3 mm and two non-nodules
        assert table.shapes["volume"].flat_contours == 1


def test_slices_and_spacing(tmp_path):
    of_json = read_lidc(write(tmp_path, {"scans": [scan()]}, "a.json")).shapes["volume"]
    assert of_json.scans.position.tolist() == [-5, -2.5, 0, 2.5]
    assert of_json.volume().tolist() == [28 * 0.5 * 0.5 * 2.5]
    table = read_lidc(write(tmp_path, xml(), "a.xml"))
    scores = {name: scores.tolist() for name, scores in table.attributes.items()}
    assert scores == {"malignancy": [5], "subtlety": [4], "calcification": ["absent"]}
    of_xml = table.shapes["volume"]
    assert of_xml.scans.position.tolist() == [-5, -2.5, 0, 2.5, 5]  # 2.5 has no contour: interpolated
    assert of_xml.scans.slice_spacing.tolist() == [2.5]
    assert np.isnan(of_xml.scans.pixel_spacing).all()


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("calcification", ["popcorn", "laminated", "solid", "non-central", "central", "absent"]),
        ("internalStructure", ["soft tissue", "fluid", "fat", "air"]),
    ],
)
def test_scores_of_kinds_are_names(tmp_path, kind, names):
    contour = {"z": -5.0, "incl": 1, "pts": SQUARE}
    nodules = [
        {"nodule_id": str(number), "contours": [contour], "chars": {kind: number, "texture": number}}
        for number in range(len(names) + 1)  # 0 is no name
    ]
    table = read_lidc(write(tmp_path, {"scans": [scan(sessions=[{"session": 1, "nodules": nodules}])]}, "a.json"))
    assert table.attributes[kind].tolist() == [None, *names]
    assert table.attributes["texture"].tolist() == [None, *range(1, len(names) + 1)]


def test_skip_reaches_files_scans_and_nodules(tmp_path):
    files = {
        "a.xml": xml(),
        "b.xml": "<annotations/>",
        "c.xml": "<LidcReadMessage><cut",
        "d.xml": xml("2").replace("-5.0 ", "1e9", 1),
        "e.xml": xml("3").replace("TRUE", "MAYBE", 1),
        "f.xml": xml().replace(">14<", ">15<"),
    }
    assert differing(read_lidc, tmp_path, [(files, "b.xml: expected <LidcReadMessage>")]) == []
    with pytest.warns(KalosWarning, match="They are skipped") as caught:
        table = read_lidc(tmp_path / "0", on_invalid="skip")
    texts = "\n".join(str(warning.message) for warning in caught)
    again = "f.xml: expected a scan of its own, got series 1.2.3 a second time, with other"
    for words in ("b.xml: ", "c.xml: ", "d.xml: ", "e.xml, session 1, nodule 'Nodule 001': ", again):
        assert words in texts
    assert (table.images.tolist(), table.skipped.tolist()) == (["1.2.3", "3"], [3, 4])
    entries, skip = [3, scan(pixel_spacing=-1)], {"on_invalid": "skip"}
    left = Warned("They are skipped", one("LIDC-IDRI-0001", "4"))
    cases = [({"scans": [*entries, scan("4")]}, skip, left), ({"scans": entries}, skip, "2 records cannot be used")]
    assert differing(read_lidc, tmp_path / "scans", cases, "a.json") == []


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
