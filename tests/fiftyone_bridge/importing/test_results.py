"""What loads and compares shows itself like every result."""

import json

import fiftyone as fo
import plotly.graph_objects as go
import pytest

import kalos_core.fiftyone as kf
from kalos_core import Annotations, LabelTable
from kalos_core.results import MOST_LINES

HOSTILE = "<script>alert(1)</script>"
ROWS = [
    {"image": image, "rater": rater, "category": "cat", "box": [5, 5, 20, height]}
    for image in ("a.png", "b.png")
    for rater, height in ((HOSTILE, 20), ("bob", 15))
]


@pytest.fixture
def loaded(tmp_path):
    size = dict.fromkeys(("a.png", "b.png"), (50, 50))
    return kf.load_raters(Annotations.from_rows(ROWS, image_size=size), canvas=tmp_path, persistent=False)


@pytest.fixture
def compared(loaded):
    for key, threshold in (("loose", 0.5), ("strict", 0.9)):
        kf.compute_agreement(loaded.dataset, key, threshold=threshold, bootstrap=0)
    return kf.compare_runs(loaded.dataset, "loose", "strict", bootstrap=0)


@pytest.fixture
def labelled(loaded):
    rows = [{"item": name, "rater": rater, "label": "x"} for name in ("a.png", "b.png") for rater in ("ann", "bob")]
    return kf.load_label_table(LabelTable.from_rows(rows), loaded.dataset)


@pytest.mark.parametrize("name", ["loaded", "compared", "labelled"])
def test_a_result_of_the_bridge_shows_itself(name, request):
    found = request.getfixturevalue(name)
    assert len(found.to_pandas())
    assert 1 <= len(repr(found).splitlines()) <= MOST_LINES
    assert "<script" not in found._repr_html_()
    assert json.loads(found.to_json())["result"] == type(found).__name__
    for plot in found.plots:
        assert isinstance(found.plot(plot), go.Figure)
    assert isinstance(found.plot(), go.Figure)
    assert isinstance(fo.load_dataset(request.getfixturevalue("loaded").dataset.name), fo.Dataset)
