"""DOTA's text files, one folder per rater."""

from kalos_core.readers import read_dota
from tests.readers.cases import LeftOut, Warned, differing

ABOUT = "imagesource:GoogleEarth\ngsd:0.146343590398\n"
PLANE = "10.0 10.0 40.0 10.0 40.0 20.0 10.0 20.0 plane {}\n"
DRAWN = "ann plane polygon 10,10 40,10 40,20 10,20"
CASES = [
    ({"ann/labelTxt/P1.txt": ABOUT + PLANE.format(0), "bob/P1.txt": ABOUT}, [f"P1 ? ann bob: {DRAWN}"]),
    ({"labelTxt-v1.0/ann/P1.txt": PLANE.format(1)}, {"sizes": {"P1": (50, 40)}},
     Warned("Not used: difficult of 1 record", [f"P1 50x40 ann: {DRAWN}"])),
    ({"ann/P1.txt": PLANE.format("") + "1 2 3 4 5 6 7 plane\n"}, LeftOut("ann/P1.txt, line 2: expected x1 y1 x2 y2")),
]  # fmt: skip


def test_files(tmp_path):
    assert differing(read_dota, tmp_path, CASES) == []
