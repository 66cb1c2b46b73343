"""Metrics of one class, rater or some samples of a run, and their images, from what the run stored."""

from itertools import pairwise, product
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, agreement, class_difficulty, diagnostics, rater_vitality
from kalos_core.diagnostics import class_image_alpha, narrowed, pair_image_alpha
from kalos_core.diagnostics.thresholds import THRESHOLDS
from kalos_core.fiftyone.kinds.agreement import views
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.reliability import NO_OBJECT
from kalos_core.results import plain_values
from tests.diagnostics.naive import alpha_of, columns
from tests.fiftyone_bridge.scenes import THREE, crowded, make_samples, metrics_of


@pytest.fixture(scope="module")
def dataset(make_once):
    dataset = make_once(make_samples(crowded(6)))
    kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=20)
    return dataset


@pytest.fixture(scope="module")
def result(dataset):
    return agreement(kf.read_annotations(dataset, raters=THREE), bootstrap=20)


def metrics(dataset: fo.Dataset, **filter: Any) -> dict[str, Any]:
    return metrics_of(narrowed_metrics(dataset, "run", kf.Filter(**filter)))


def numbers(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def worst_first(dataset: fo.Dataset, alphas: Any) -> list[str]:
    ids = dataset.values("id")
    return [ids[row] for row in np.argsort(alphas, kind="stable") if np.isfinite(alphas[row])]


def test_without_a_filter_they_are_those_of_the_run(dataset, result):
    found = metrics(dataset)
    summary = kf.load_metrics(dataset, "run").metrics
    for name in ("alpha", "global_alpha", "alpha_interval", "global_alpha_interval", "units"):
        assert found[name] == pytest.approx(summary[name]), name
    assert numbers(found["image_alpha"]) == pytest.approx(result.image_alpha, nan_ok=True)
    stored = plain_values(kf.load_details(dataset, "run").details)
    for name in ("class_difficulty", "collaboration"):
        assert found[name] == stored[name]


def test_a_class_is_that_of_class_difficulty(dataset, result):
    expected = plain_values(class_difficulty(result))
    for row, category in enumerate(expected["category"]):
        found = metrics(dataset, category=category)
        assert numbers(found["image_alpha"]) == pytest.approx(class_image_alpha(result, category), nan_ok=True)
        for name in ("alpha", "global_alpha", "images", "units"):
            assert found[name] == pytest.approx(expected[name][row])


def test_pairs_of_a_rater_by_the_krippendorff_package(dataset, result):
    """Units are those of the rater's pairs with each other rater, without pairs of two absences."""
    codes = {name: code for code, name in enumerate(result.annotations.categories)}
    for category, rater in product((None, "cat"), range(3)):
        expected = []
        for image in range(len(dataset)):
            units = columns(result, [image])
            pairs = np.concatenate([units[:, [rater, other]] for other in range(3) if other != rater])
            pairs = pairs[np.isfinite(pairs).all(axis=1) & (pairs != NO_OBJECT).any(axis=1)]
            if category is not None:
                pairs = pairs[(pairs == codes[category]).any(axis=1)]
            expected.append(alpha_of(pairs))
        found = metrics(dataset, category=category, rater=THREE[rater])
        assert numbers(found["image_alpha"]) == pytest.approx(expected, nan_ok=True)
        assert found["alpha"] == pytest.approx(np.nanmean(expected))


PARTS = [{}, {"category": "cat"}, {"rater": "bob"}, {"category": "dog", "rater": "cid"}]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("names", [(), ("tag",), ("samples",), ("tag", "samples")])
def test_some_samples_have_the_numbers_of_their_own_annotations(dataset, result, part, names):
    """Numbers are as if the run had read only these images, including intervals; a tag is found by the database."""
    ids = dataset.values("id")
    limits = {"tag": ids[1:9], "samples": ids[5:]}
    dataset.select(limits["tag"]).tag_samples("mine")
    chosen = [row for row, key in enumerate(ids) if all(key in limits[name] for name in names)]
    filter = {"tag": "mine", "samples": limits["samples"]}
    found = metrics(dataset, **part, **{name: filter[name] for name in names})
    dataset.untag_samples("mine")
    assert 3 < len(chosen) <= len(ids)
    alone = agreement(result.annotations.select(images=chosen), bootstrap=20)
    expected = metrics_of(narrowed(alone, **part))
    for name in expected:
        assert flat(found[name]) == pytest.approx(flat(expected[name]), nan_ok=True), name
    if not part:
        assert flat(found["alpha_interval"]) == pytest.approx(flat(plain_values(alone.alpha_interval)), nan_ok=True)
        assert flat(found["vitality"]) == pytest.approx(flat(plain_values(rater_vitality(alone))), nan_ok=True)


def flat(value: Any) -> dict[Any, Any]:
    """Return all numbers of plain values by their path; NaN if undefined."""
    if isinstance(value, (dict, list)):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        return {(key, *path): entry for key, inner in entries for path, entry in flat(inner).items()}
    return {(): float("nan") if value is None else value}


def test_views_lead_to_the_worst_first(dataset, result):
    expected = worst_first(dataset, class_image_alpha(result, "cat"))
    assert views.view_of_class(dataset, "run", "cat").values("id") == expected
    for pair in [("ann", "bob"), ("cid", "ann")]:
        expected = worst_first(dataset, pair_image_alpha(result, *pair))
        assert views.view_of_pair(dataset, "run", *pair).values("id") == expected
        assert views.view_of_pair(dataset, "run", *reversed(pair)).values("id") == expected
    of_cid = views.view_worst_first(dataset, "run", rater="cid").values("id")
    assert set(of_cid) == {key for number, key in enumerate(dataset.values("id")) if number % 3}


@pytest.mark.parametrize("part", [{"category": "dog"}, {"rater": "cid"}, {"category": "dog", "rater": "cid"}])
def test_a_click_on_a_bar_leads_to_the_images_it_counts(dataset, part):
    alphas = metrics(dataset, **part)["image_alpha"]
    assert views.image_alphas(dataset, "run", **part)[1] == alphas
    defined = {key: alpha for key, alpha in zip(dataset.values("id"), alphas, strict=True) if alpha is not None}
    for low, high in pairwise(np.linspace(-1, 1, 11)):
        inside = {key for key, alpha in defined.items() if low <= alpha < high or alpha == high == 1}
        assert set(views.view_of_alpha(dataset, "run", low, high, **part).values("id")) == inside
    worst = kf.worst_images(dataset, "run", 5, kf.Filter(**part))
    assert [row.alpha for row in worst] == sorted(defined.values())[:5]
    assert [row.sample_id for row in worst] == views.view_worst_first(dataset, "run", 5, **part).values("id")


def test_alpha_of_images_at_each_threshold(dataset, result):
    thresholds = kf.load_metrics(dataset, "run").metrics["thresholds"]
    assert thresholds == pytest.approx(THRESHOLDS)
    by_threshold = diagnostics.image_alphas(result, thresholds)
    assert len({tuple(plain_values(alphas)) for alphas in by_threshold}) > 1
    for threshold, alphas in zip(thresholds, by_threshold, strict=True):
        assert numbers(views.image_alphas(dataset, "run", threshold=threshold)[1]) == pytest.approx(alphas, nan_ok=True)
        worst = worst_first(dataset, alphas)
        assert views.view_of_threshold(dataset, "run", threshold).values("id") == worst
        assert [row.sample_id for row in kf.worst_images(dataset, "run", 3, threshold=threshold)] == worst[:3]


@pytest.mark.parametrize(
    ("call", "arguments", "message"),
    [
        (metrics, {"category": "bird"}, "category: expected one of 'cat', 'dog', got 'bird'"),
        (views.view_of_pair, {"rater_a": "ann", "rater_b": "ann"}, "raters: expected two raters, got 'ann' twice"),
        (views.view_of_threshold, {"threshold": 0.123}, r"threshold: expected one of .*, got 0\.123"),
        (views.image_alphas, {"threshold": 0.5, "rater": "ann"}, "threshold: expected it for all classes and raters"),
    ],
)
def test_invalid_input_is_refused(dataset, call, arguments, message):
    key = {} if call is metrics else {"run_key": "run"}
    with pytest.raises(InputError, match=message):
        call(dataset, **key, **arguments)
