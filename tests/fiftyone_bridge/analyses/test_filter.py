"""Findings, scorecards and statements of a filtered analysis, from what its runs stored."""

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from kalos_core import agreement, variations
from kalos_core.calibration import threshold_advice
from kalos_core.diagnostics import intra_rater, narrowed
from kalos_core.errors import InputError, or_reason
from kalos_core.fiftyone.analyses.summaries import threshold_advice as advice_of
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations as narrowed_variations_of
from kalos_core.fiftyone.runs.stored import count_changes
from kalos_core.results import plain_values
from kalos_core.statements import statements
from kalos_core.variation import narrowed_variations, rater_scorecards
from tests.fiftyone_bridge.scenes import THREE, crowded, make_samples
from tests.tiers import pairwise


@pytest.fixture(scope="module")
def dataset() -> Iterator[fo.Dataset]:
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(crowded(6)), progress=False)
    kinds = ["agreement", "variations"]
    kf.analyse(dataset, "first", kinds=kinds, raters=THREE, settings={"agreement": {"bootstrap": 20}})
    yield dataset
    dataset.delete()


@pytest.fixture(scope="module")
def table(dataset: fo.Dataset) -> Any:
    return kf.read_annotations(dataset, raters=THREE)


@pytest.mark.parametrize(
    ("category", "rater", "names"),
    pairwise([None, "cat"], [None, "bob"], [(), ("tag",), ("samples",), ("tag", "samples")]),
)
def test_findings(dataset, table, category, rater, names):
    """Findings equal those of a search among the annotations of these samples."""
    ids = dataset.values("id")
    limits = {"tag": ids[2:9], "samples": ids[5:]}
    dataset.select(limits["tag"]).tag_samples("mine")
    given = {name: {"tag": "mine", "samples": limits["samples"]}[name] for name in names}
    found = narrowed_variations_of(dataset, "first", kf.Filter(category, rater, **given))
    dataset.untag_samples("mine")
    images = [row for row, key in enumerate(ids) if all(key in limits[name] for name in names)]
    alone = narrowed_variations(variations(table.select(images=images)), category, rater)
    assert sum(alone.counts.values()) > 0
    assert (found.counts, found.by_rater) == (alone.counts, alone.by_rater)
    assert plain_values(found.rates) == plain_values(alone.rates)
    assert plain_values(found.confusions.to_pandas().to_dict("list")) == plain_values(
        alone.confusions.to_pandas().to_dict("list")
    )
    assert found.boundary.median == pytest.approx(alone.boundary.median, nan_ok=True)
    assert found.merged.whole.tolist() == alone.merged.whole.tolist()


@pytest.mark.parametrize("category", [None, "dog"])
def test_scorecards_and_sentences(dataset, table, category):
    filter = kf.Filter(category, samples=dataset.values("id")[3:])
    chosen = table.select(images=list(range(3, len(dataset))))
    part, found = narrowed(agreement(chosen, bootstrap=20), category), narrowed_variations(variations(chosen), category)
    expected = rater_scorecards(part, found, or_reason(intra_rater, agreement(table, bootstrap=20)))
    cards = kf.rater_scorecard(dataset, "first", filter)
    pd.testing.assert_frame_equal(cards.to_pandas(), expected.to_pandas())
    assert [card.examples for card in cards] == [card.examples for card in expected]
    shown = [key for card in cards for keys in card.examples.values() for key in keys]
    assert shown
    assert 0 < len(dataset.select_labels(ids=shown)) <= len(dataset)
    counted = kf.count_disputes(dataset, "first")
    said = kf.overview_of(dataset, "first", filter)
    assert said == statements(part, found, None, (counted.all, counted.decided), count_changes(dataset, "first"))


def test_no_label_is_read_and_what_is_unknown(dataset, monkeypatch):
    monkeypatch.setattr(fo.Dataset, "values", None)
    monkeypatch.setattr(fo.DatasetView, "values", None)
    assert len(kf.rater_scorecard(dataset, "first", kf.Filter("cat"))) == 3
    assert kf.overview_of(dataset, "first")
    with pytest.raises(InputError, match="category: expected one of 'cat', 'dog', got 'bird'"):
        kf.rater_scorecard(dataset, "first", kf.Filter("bird"))
    with pytest.raises(InputError, match="analysis: expected the key of one"):
        kf.overview_of(dataset, "third")


def test_advice_is_on_the_settings_in_use(dataset):
    with pytest.raises(InputError, match="analysis: expected one with calibration"):
        advice_of(dataset, "first")
    settings = {
        "calibration": {"similarities": ["box_iou", "box_giou"], "bootstrap": 10},
        "agreement": {"bootstrap": 0},
    }
    kf.analyse(dataset, "second", kinds=["agreement", "calibration"], raters=THREE, threshold=0.3, settings=settings)
    found = advice_of(dataset, "second")
    expected = threshold_advice(kf.load_run(dataset, "second_calibration").result, "box_iou", 0.3)
    assert (found.similarity, found.threshold) == ("box_iou", 0.3)
    assert (found.text, found.settings) == (expected.text, expected.settings)
    assert found.difference_interval == pytest.approx(expected.difference_interval, nan_ok=True)


def test_images_that_all_left_empty_are_excluded_in_the_run_its_parts_and_the_run_made_again(dataset):
    samples = dataset.clone()
    samples.add_sample(fo.Sample("empty.jpg", raters=list(THREE), **{name: fo.Detections() for name in THREE}))
    found = kf.compute_agreement(samples, "drawn", raters=THREE, empty="exclude", bootstrap=0)
    assert found.metrics["alpha"] == pytest.approx(found.metrics["alpha_without_empty"])
    assert narrowed_metrics(samples, "drawn", kf.Filter()).alpha == found.metrics["alpha"]
    again = kf.update_analysis(samples, "drawn").run("agreement")
    assert (again.settings["empty"], again.metrics["alpha"]) == ("exclude", found.metrics["alpha"])
    samples.delete()


@pytest.mark.parametrize(
    "given",
    [{"category": ["cat"]}, {"rater": 5}, {"tag": ["mine"]}, {"samples": 5}, {"samples": "one id"}],
)
def test_a_filter_of_wrong_types_is_refused(given):
    with pytest.raises(InputError, match=rf"{next(iter(given))}: expected"):
        kf.Filter(**given)


def test_what_is_no_filter_is_refused(dataset):
    for call in (kf.rater_scorecard, kf.overview_of, lambda *asked: kf.worst_images(*asked[:2], 5, asked[2])):
        with pytest.raises(InputError, match="filter: expected a Filter"):
            call(dataset, "first", "bob")


def test_a_filter_without_images(dataset):
    for none in (kf.Filter(tag="of no image"), kf.Filter(samples=["no id", "ä"])):
        assert [said.text for said in kf.overview_of(dataset, "first", none)]
        assert kf.worst_images(dataset, "first", filter=none) == []
    some = dataset.values("id")[:3]
    kept, again = (kf.overview_of(dataset, "first", kf.Filter(samples=ids)) for ids in (some, iter(some)))
    assert kept == again
