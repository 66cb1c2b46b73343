"""The panels as the App drives them: what they put into state and data, and where a click leads."""

import json

import fiftyone as fo
import fiftyone.operators as foo
import pytest

import kalos_core.fiftyone as kf
from tests.fiftyone_bridge.scenes import ALPHAS, COUNTS

PLUGIN = "@kalos/variation"


class Panel:
    """One open panel: keeps its state between events, like the App."""

    def __init__(self, name, dataset, sample=None):
        self.uri, self.dataset, self.sample = f"{PLUGIN}/{name}", dataset, sample
        self.state, self.data, self.output, self.operations = {}, {}, {}, []

    def event(self, method, **params):
        context = {"dataset": self.dataset, "current_sample": self.sample}
        asked = {"panel_id": "p", "__method__": method, "panel_state": self.state, **params}
        result = foo.execute_operator(self.uri, context, params=asked)
        self.operations = []
        for request in result.executor.to_json()["requests"]:
            name, given = request["operator_uri"].split("/")[-1], request["params"]
            if name == "patch_panel_state":
                self.state = {**self.state, **given["state"]}
            elif name == "patch_panel_data":
                self.data |= given["data"]
            elif name == "show_panel_output":
                self.output = given["output"]["type"]["properties"]
            else:
                self.operations.append((name, given))
        return self

    def view(self):
        """The samples of the view that was set."""
        given = dict(self.operations)["set_view"]
        return fo.DatasetView._build(self.dataset, given["view"])


@pytest.fixture
def analysed(dataset):
    kf.compute_agreement(dataset, "agree")
    kf.find_variations(dataset, "differ")
    return dataset


@pytest.mark.parametrize("name", ["agreement", "variations", "sample"])
def test_with_nothing_computed_a_panel_says_what_to_do(dataset, name):
    panel = Panel(name, dataset, dataset.first().id).event("on_load")
    assert set(panel.output) == {"invitation", "compute"}
    panel.event("compute")
    assert [name for name, _ in panel.operations] == ["prompt_user_for_operation"]


def test_agreement_shows_mean_histogram_and_worst(analysed):
    panel = Panel("agreement", analysed).event("on_load")
    assert "0.267" in panel.state["headline"]  # (1 + 0 + 0 - 2/3 + 1) / 5
    assert sum(panel.data["histogram"][0]["y"]) == sum(alpha is not None for alpha in ALPHAS)
    assert [row["alpha"] for row in panel.data["worst"]] == ["-0.667", "0.00", "0.00", "1.00", "1.00"]


def test_a_bar_leads_to_exactly_its_images(analysed):
    panel = Panel("agreement", analysed).event("on_load")
    bars = panel.data["histogram"][0]["y"]
    for place, count in enumerate(bars):
        panel.event("on_click_bar", idx=place)
        low, high = panel.state["edges"][place : place + 2]
        alphas = panel.view().values("agree_alpha")
        assert len(alphas) == count
        assert all(low <= alpha <= high for alpha in alphas)
    assert sum(bars) == 5


def test_a_row_of_the_worst_opens_that_sample(analysed):
    panel = Panel("agreement", analysed).event("on_load").event("on_click_worst", row=0)
    assert panel.operations == [("open_sample", {"id": analysed[3:4].first().id, "group_id": None})]


def test_variations_lead_to_exactly_their_labels(analysed):
    panel = Panel("variations", analysed).event("on_load")
    assert dict(zip(("correct", "merged", "merged_wrong_class", "wrong_class", "missing", "additional"),
                    panel.data["counts"][0]["x"], strict=True)) == COUNTS  # fmt: skip
    panel.event("on_click_bar", idx=1)  # merged: ann's bench and bob's two halves
    view = panel.view()
    assert (len(view), view.count("ann.detections"), view.count("bob.detections")) == (1, 1, 2)


def test_a_pair_of_classes_leads_to_its_labels(analysed):
    panel = Panel("variations", analysed).event("on_load").event("on_click_confusion", row=0)
    assert panel.data["confusions"] == [{"category_a": "cat", "category_b": "dog", "count": 1}]
    assert panel.view().values("bob.detections.label") == [["dog"]]


def test_the_open_sample_shows_what_each_rater_gave(analysed):
    third, fourth = analysed[2:3].first().id, analysed[3:4].first().id
    panel = Panel("sample", analysed, third).event("on_load")
    assert "alpha 0.00" in panel.state["headline"]
    assert panel.data["units"] == [{"unit": 1, "rater_0": "cat\nadditional", "rater_1": "no object\nmissing"}]
    panel.sample = fourth
    panel.event("on_change_current_sample")
    assert [row["unit"] for row in panel.data["units"]] == [1, 2, 3]
    panel.event("on_click_unit", row=0)
    (operation, given), = panel.operations  # fmt: skip
    assert operation == "set_selected_labels"
    assert [label["field"] for label in given["labels"]] == ["ann"]


def test_a_sample_outside_the_run_says_so(dataset):
    kf.compute_agreement(dataset[:2], "agree")
    panel = Panel("sample", dataset, dataset.last().id).event("on_load")
    assert "not part of the run" in panel.state["headline"]


def test_changed_labels_are_said(analysed):
    sample = analysed.first()
    sample.bob.detections[0].label = "dog"
    sample.save()
    for name in ("agreement", "variations"):
        panel = Panel(name, analysed).event("on_load")
        assert "Labels of 1 image have changed" in panel.state["headline"]


def test_a_new_run_is_shown_and_an_older_one_can_be_chosen(analysed):
    panel = Panel("agreement", analysed).event("on_load")
    kf.compute_agreement(analysed, "newer")
    assert panel.event("on_load").state["run"] == "newer"
    assert panel.event("on_change_run", value="agree").state["run"] == "agree"
    assert panel.event("on_load").state["run"] == "agree"


def test_a_failure_is_said_with_a_way_to_go_on(analysed, monkeypatch):
    def broken(*_):
        raise RuntimeError("out of order")

    monkeypatch.setattr(kf, "image_alphas", broken)
    panel = Panel("agreement", analysed).event("on_load")
    assert set(panel.output) == {"failed", "retry"}
    assert "out of order" in panel.state["problem"]
    monkeypatch.undo()
    assert "headline" in panel.event("on_load").output


def test_what_goes_to_the_browser_stays_small():
    """2,000 images: state travels with every event."""
    import numpy as np

    alphas = np.random.default_rng(0).random(2000)
    dataset = fo.Dataset()
    try:
        box = fo.Detection(label="cat", bounding_box=[0.1, 0.1, 0.2, 0.2])
        samples = [
            fo.Sample(
                f"{number}.jpg",
                raters=["ann", "bob"],
                ann=fo.Detections(detections=[box.copy()]),
                bob=fo.Detections(detections=[box.copy()] if alpha > 0.5 else []),
            )
            for number, alpha in enumerate(alphas)
        ]
        dataset.add_samples(samples, progress=False)
        del samples
        dataset.info["kalos"] = {"raters": {"ann": "ann", "bob": "bob"}}
        dataset.save()
        kf.compute_agreement(dataset, "agree")
        kf.find_variations(dataset, "differ")
        for name in ("agreement", "variations"):
            panel = Panel(name, dataset).event("on_load")
            assert len(json.dumps([panel.state, panel.data])) < 50_000
    finally:
        dataset.delete()
