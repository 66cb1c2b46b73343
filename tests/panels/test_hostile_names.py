"""Names from data in every section of the panels: their Markdown shows them as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.deciding.queue import queued_images
from tests.fiftyone_bridge.lively import lively
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.operators.hostile import CLASSES, RATERS, hostile
from tests.panels.operations import at, opened
from tests.plugin import Workbench
from tests.tiers import extended

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")

QUICK = {"calibration": {"bootstrap": 5}, "convergence": {"subsets": 20, "fraction": 0.5, "tags": True}}


SIGNS = ("<b>**", "<i>", "<img", "\u202e", "_y_ ~~", "$x|")
"""Parts of a hostile name that plotly would interpret; React shows all other text literally."""


def in_plotly(entry: Any) -> Iterator[Any]:
    """Yield everything in a record of the view that plotly receives."""
    if isinstance(entry, dict) and {"traces", "layout"} <= set(entry):
        yield [entry["traces"], entry["layout"]]
    elif isinstance(entry, (dict, list)):
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from in_plotly(part)


def check(panel: Workbench, least: int) -> None:
    """Check every page of every section, at least `least` of them."""
    seen = set()
    for section in panel.state["sections"]:
        at(panel, section)
        if panel.record is None:
            continue
        pages = panel.record.get("pages") if isinstance(panel.record, dict) else None
        for page in pages or [None]:
            record = panel.choose(page=page).record if page else panel.record
            assert not panel.state.get("problem"), (section, page, panel.state["problem"])
            drawn = json.dumps(list(in_plotly(record)), ensure_ascii=False)
            assert [sign for sign in SIGNS if sign in drawn] == [], (section, page)
            seen.add((section, page))
    assert len(seen) >= least, seen


def test_names_of_objects_are_text_in_every_section() -> None:
    dataset = hostile(lively(8))
    kf.analyse(dataset, "agreement", settings=QUICK)
    kf.inject_noise(dataset, "noise", reference=RATERS["ann"])
    first, second = (image.sample_id for image in queued_images(dataset, "agreement", 2))
    asked, settled = (kf.disputed_units(dataset, "agreement", sample)[0] for sample in (first, second))
    kf.decide(dataset, "agreement", asked.labels, "guideline", note=f"~~~~\n{CLASSES['owl']}", who=RATERS["cid"])
    kf.decide(dataset, "agreement", settled.labels, "take", RATERS["bob"])
    check(Workbench(dataset).load(), 8)
    assert "~~~~" not in opened(dataset, "Guideline").record["markdown"]  # which would end its block


@extended
def test_names_of_image_labels_are_text_in_every_section() -> None:
    dataset = hostile(quiz())
    kf.compute_label_agreement(dataset, "labels")
    kf.rank_systems(dataset, "ranking", systems=["net", "svm"])
    check(Workbench(dataset).load(), 5)


@extended
def test_names_of_raters_of_masks_are_text_in_every_section() -> None:
    dataset = add_maps(hostile(small()))
    kf.compute_pixel_agreement(dataset, "pixels")
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5"])
    kf.rank_detectors(dataset, "detectors", detectors=["good", "poor"], skew=(0.1, 0.5), boundaries=9)
    check(Workbench(dataset).load(), 5)
