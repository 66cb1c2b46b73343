"""Images: the distribution of alpha and the images at its lower end, with any filter."""

from __future__ import annotations

import sys

import fiftyone as fo
import pytest

from kalos_core.fiftyone.kinds.agreement.views import image_alphas, view_worst_first
from kalos_core.figures.agreement import alpha_bins
from tests.fiftyone_bridge.scenes import MEAN
from tests.panels.operations import ids, look_at, opened, sample_of, samples_of
from tests.tiers import first


def test_its_record_by_hand(analysed: fo.Dataset) -> None:
    record = opened(analysed, "Images").record
    assert record["alpha"] == pytest.approx(MEAN)
    assert (record["images"], record["undefined"]) == (5, 1)
    assert dict(map(tuple, record["middles"]))["median"] == 0
    filled = {round(edge, 1): count for edge, count in zip(record["edges"], record["counts"], strict=False) if count}
    assert filled == {-0.7: 1, 0: 2, 0.9: 2}
    worst = [(image["file"], image["alpha"], image["labels"]) for image in record["worst"]]
    assert worst[:2] == [("3.jpg", pytest.approx(-2 / 3), 3), ("1.jpg", 0, 2)]


def test_a_bar_leads_to_its_images(analysed: fo.Dataset) -> None:
    panel = opened(analysed, "Images")
    for low, high, scenes in ((-0.7, -0.6, (3,)), (0, 0.1, (1, 2)), (0.9, 1, (0, 4))):
        found = samples_of(analysed, panel.act("alpha", low=low, high=high))
        assert sorted(found) == sorted(ids(analysed, *scenes))
    assert panel.grids[-1]["text"] == "2 images with α from 0.9 to 1.0"
    assert sample_of(panel.act("open", sample=ids(analysed, 3)[0])) == ids(analysed, 3)[0]


@pytest.mark.parametrize("filter", first([{"category": "dog", "rater": "cid"}, {"rater": "bob"}]))
def test_all_of_it_follows_the_filter(trio: fo.Dataset, filter: dict[str, str]) -> None:
    panel = look_at(opened(trio, "Images"), **filter)
    alphas = dict(zip(*image_alphas(trio, "agreement", **filter), strict=True))
    edges, counts = alpha_bins(list(alphas.values()))
    assert (panel.record["edges"], panel.record["counts"]) == (edges.tolist(), counts.tolist())
    worst = [alphas[image["sample_id"]] for image in panel.record["worst"]]
    assert worst == sorted(alpha for alpha in alphas.values() if alpha is not None)[: len(worst)]
    view = view_worst_first(trio, "agreement", **filter)
    assert samples_of(trio, panel.act("worst")) == view.values("id")
    assert f"lowest α of {' and '.join(filter.values())} first (" in panel.grids[-1]["text"]


def test_of_a_long_sorted_view_the_first_images_are_shown(
    analysed: fo.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = opened(analysed, "Images")
    worst = view_worst_first(analysed, "agreement").values("id")
    (events,) = [module for name, module in sys.modules.items() if name.endswith(".panels.parts.events")]
    for most, said in ((2, "the first 2 of 5 images"), (5, "5 images")):
        monkeypatch.setattr(events, "MOST_SORTED", most)
        assert samples_of(analysed, panel.act("worst")) == worst[:most]
        assert panel.grids[-1]["text"].startswith(said)
