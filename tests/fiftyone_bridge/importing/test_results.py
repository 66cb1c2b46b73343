"""Results of loading and comparing display like all results."""

import json

import plotly.graph_objects as go

import kalos_core.fiftyone as kf
from kalos_core import Annotations, LabelTable
from kalos_core.results import MOST_LINES

HOSTILE = "<script>alert(1)</script>"
IMAGES = ("a.png", "b.png")
ROWS = [
    {"image": image, "rater": rater, "category": "cat", "box": [5, 5, 20, height]}
    for image in IMAGES
    for rater, height in ((HOSTILE, 20), ("bob", 15))
]
LABELS = [{"item": name, "rater": rater, "label": "x"} for name in IMAGES for rater in ("ann", "bob")]


def test_results_of_the_bridge_show_themselves(tmp_path):
    table = Annotations.from_rows(ROWS, image_size=dict.fromkeys(IMAGES, (50, 50)))
    loaded = kf.load_raters(table, canvas=tmp_path, persistent=False)
    for key, threshold in (("loose", 0.5), ("strict", 0.9)):
        kf.compute_agreement(loaded.dataset, key, threshold=threshold, bootstrap=0)
    compared = kf.compare_runs(loaded.dataset, "loose", "strict", bootstrap=0)
    for found in (loaded, compared, kf.load_label_table(LabelTable.from_rows(LABELS), loaded.dataset)):
        assert len(found.to_pandas())
        assert 1 <= len(repr(found).splitlines()) <= MOST_LINES
        assert "<script" not in found._repr_html_()
        assert json.loads(found.to_json())["result"] == type(found).__name__
        for plot in (None, *found.plots):
            assert isinstance(found.plot(*[plot] if plot else []), go.Figure)
