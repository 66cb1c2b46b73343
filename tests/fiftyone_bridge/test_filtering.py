"""Metrics of one class or one rater of a run, and the images behind them, from what the run stored alone."""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import fiftyone as fo
import numpy as np
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, agreement, class_difficulty, rater_vitality
from kalos_core.diagnostics import class_image_alpha, image_alphas, narrowed, pair_image_alpha
from kalos_core.diagnostics.thresholds import THRESHOLDS
from kalos_core.fiftyone.runs.records import plain
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED
from tests.fiftyone_bridge.scenes import ALPHAS, RATERS, THREE, crowded, make_samples, metrics_of

Make = Callable[..., fo.Dataset]


@pytest.fixture(scope="module")
def dataset() -> Iterator[fo.Dataset]:
    dataset = fo.Dataset()
    dataset.add_samples(make_samples(crowded(6)), progress=False)
    kf.compute_agreement(dataset, "run", raters=THREE, bootstrap=20)
    yield dataset
    dataset.delete()


@pytest.fixture(scope="module")
def result(dataset: fo.Dataset) -> Any:
    return agreement(kf.read_annotations(dataset, raters=THREE), bootstrap=20)


def naive_alpha(units: list[list[Any]]) -> float:
    """Krippendorff's nominal alpha, value by value; None is missing."""
    paired = [[value for value in unit if value is not None] for unit in units]
    values = [value for unit in paired if len(unit) > 1 for value in unit]
    n = len(values)
    if not n:
        return float("nan")
    expected = sum(a != b for i, a in enumerate(values) for j, b in enumerate(values) if i != j) / (n * (n - 1))
    if not expected:
        return 1.0
    observed = sum(
        sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j) / (len(unit) - 1)
        for unit in paired
        if len(unit) > 1
    )
    return 1 - observed / n / expected


def numbers(values: list[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def units(result: Any, image: int) -> list[list[Any]]:
    rows = result.units.values[result.units.image == image].tolist()
    return [[None if value == NOT_ASSIGNED else value for value in row] for row in rows]


def test_nothing_selected_is_the_run(dataset: fo.Dataset, result: Any) -> None:
    found = metrics_of(kf.narrowed_metrics(dataset, "run"))
    summary = kf.load_metrics(dataset, "run").metrics
    for name in ("alpha", "global_alpha", "alpha_interval", "global_alpha_interval", "units"):
        assert found[name] == pytest.approx(summary[name]), name
    assert numbers(found["image_alpha"]) == pytest.approx(result.image_alpha, nan_ok=True)
    stored = plain(kf.load_details(dataset, "run").details)
    assert (found["class_difficulty"], found["collaboration"]) == (
        stored["class_difficulty"],
        stored["collaboration"],
    )


@pytest.mark.parametrize("category", ["cat", "dog"])
def test_a_class(dataset: fo.Dataset, result: Any, category: str) -> None:
    found = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(category=category)))
    code = result.annotations.categories.tolist().index(category)
    by_hand = [
        naive_alpha([unit for unit in units(result, image) if code in unit]) for image in range(len(result.image_alpha))
    ]
    assert numbers(found["image_alpha"]) == pytest.approx(by_hand, nan_ok=True)
    assert numbers(found["image_alpha"]) == pytest.approx(class_image_alpha(result, category), nan_ok=True)
    row = class_difficulty(result).category.tolist().index(category)
    expected = plain(class_difficulty(result))
    for name in ("alpha", "global_alpha", "images", "units"):
        assert found[name] == pytest.approx(expected[name][row])


@pytest.mark.parametrize("rater", THREE)
@pytest.mark.parametrize("category", [None, "cat"])
def test_a_rater(dataset: fo.Dataset, result: Any, rater: str, category: str | None) -> None:
    """All pairs of one rater with another, one after the other."""
    found = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(category, rater)))
    me = THREE.index(rater)
    code = None if category is None else result.annotations.categories.tolist().index(category)
    expected = []
    for image in range(len(result.image_alpha)):
        pairs = [
            [unit[me], unit[other]]
            for unit in units(result, image)
            for other in range(3)
            if other != me and None not in (unit[me], unit[other]) and {unit[me], unit[other]} != {NO_OBJECT}
        ]
        expected.append(naive_alpha([pair for pair in pairs if code is None or code in pair]))
    assert numbers(found["image_alpha"]) == pytest.approx(expected, nan_ok=True)
    assert found["alpha"] == pytest.approx(np.nanmean(expected))


def test_classes_of_a_rater(dataset: fo.Dataset) -> None:
    found = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(rater="cid")))["class_difficulty"]
    for row, category in enumerate(found["category"]):
        alone = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(category, "cid")))
        for name in ("alpha", "global_alpha", "images", "units"):
            assert found[name][row] == pytest.approx(alone[name])


def test_pairs_of_a_class(dataset: fo.Dataset, result: Any) -> None:
    found = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(category="dog")))["collaboration"]
    code = result.annotations.categories.tolist().index("dog")
    for a in range(3):
        for b in range(3):
            if a == b:
                assert found["alpha"][a][b] == 1
                continue
            per_image = [
                naive_alpha([[unit[a], unit[b]] for unit in units(result, image) if code in (unit[a], unit[b])])
                for image in range(len(result.image_alpha))
                if result.annotations.assigned[image, [a, b]].all()
            ]
            assert found["alpha"][a][b] == pytest.approx(np.nanmean(per_image))
            assert found["images"][a][b] == np.isfinite(per_image).sum()
    assert found["order"] == plain(kf.load_details(dataset, "run").details)["collaboration"]["order"]


@pytest.mark.parametrize(
    ("part", "message"),
    [({"category": "bird"}, "category: expected one of 'cat', 'dog', got 'bird'"), ({"rater": "eve"}, "rater: ")],
)
def test_what_the_run_does_not_know(dataset: fo.Dataset, part: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(**part)))


PARTS = [{}, {"category": "cat"}, {"rater": "bob"}, {"category": "dog", "rater": "cid"}]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("names", [{"tag"}, {"samples"}, {"tag", "samples"}])
def test_some_samples_have_the_numbers_of_their_own_annotations(
    dataset: fo.Dataset, result: Any, part: dict[str, str], names: set[str]
) -> None:
    """As if the run had read no other image, intervals included; those of a tag are found by the database."""
    ids = dataset.values("id")
    limits = {"tag": ids[2:9], "samples": ids[5:]}
    dataset.select(limits["tag"]).tag_samples("mine")
    chosen = [row for row, key in enumerate(ids) if all(key in limits[name] for name in names)]
    lens = kf.Lens(
        **part, tag="mine" if "tag" in names else None, samples=limits["samples"] if "samples" in names else None
    )
    found = metrics_of(kf.narrowed_metrics(dataset, "run", lens))
    dataset.untag_samples("mine")
    assert 3 < len(chosen) < len(ids)
    alone = agreement(result.annotations.select(images=chosen), bootstrap=20)
    expected = metrics_of(narrowed(alone, **part))
    for name in expected:
        assert flat(found[name]) == pytest.approx(flat(expected[name]), nan_ok=True), name
    if not part:
        assert flat(found["alpha_interval"]) == pytest.approx(flat(plain(alone.alpha_interval)))
        assert flat(found["vitality"]) == pytest.approx(flat(plain(rater_vitality(alone))), nan_ok=True)


def flat(value: Any) -> dict[Any, Any]:
    """All that lies in plain values by where it lies, numbers that are undefined as NaN."""
    if isinstance(value, (dict, list)):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
        return {(key, *path): entry for key, inner in entries for path, entry in flat(inner).items()}
    return {(): float("nan") if value is None else value}


def test_labels_are_not_read(dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fo.Dataset, "values", None)
    monkeypatch.setattr(fo.DatasetView, "values", None)
    metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens("cat", "ann")))


def test_views_lead_to_the_worst_first(dataset: fo.Dataset, result: Any) -> None:
    ids = dataset.values("id")

    def ordered(values: Any) -> list[str]:
        return [ids[row] for row in np.argsort(values, kind="stable") if np.isfinite(values[row])]

    assert kf.view_of_class(dataset, "run", "cat").values("id") == ordered(class_image_alpha(result, "cat"))
    for pair in [("ann", "bob"), ("cid", "ann")]:
        expected = ordered(pair_image_alpha(result, *pair))
        assert kf.view_of_pair(dataset, "run", *pair).values("id") == expected
        assert kf.view_of_pair(dataset, "run", *reversed(pair)).values("id") == expected
    of_cid = kf.view_worst_first(dataset, "run", rater="cid").values("id")
    assert set(of_cid) == {ids[number] for number in range(len(ids)) if number % 3}


@pytest.mark.parametrize("part", [{"category": "dog"}, {"rater": "cid"}, {"category": "dog", "rater": "cid"}])
def test_a_click_on_a_bar_leads_to_the_images_it_counts(dataset: fo.Dataset, part: dict[str, str]) -> None:
    ids = dataset.values("id")
    alphas = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(**part)))["image_alpha"]
    assert kf.image_alphas(dataset, "run", **part)[1] == alphas
    for low, high in pairwise(np.linspace(-1, 1, 11)):
        inside = {
            key
            for key, alpha in zip(ids, alphas, strict=True)
            if alpha is not None and (low <= alpha < high or alpha == high == 1)
        }
        assert set(kf.view_of_alpha(dataset, "run", low, high, **part).values("id")) == inside
    worst = kf.worst_images(dataset, "run", 5, kf.Lens(**part))
    assert [row.alpha for row in worst] == sorted(alpha for alpha in alphas if alpha is not None)[:5]
    assert [row.sample_id for row in worst] == kf.view_worst_first(dataset, "run", 5, **part).values("id")


def test_alpha_of_images_at_each_threshold(dataset: fo.Dataset, result: Any) -> None:
    run = kf.load_metrics(dataset, "run")
    thresholds = run.metrics["thresholds"]
    assert thresholds == pytest.approx(THRESHOLDS)
    by_threshold = image_alphas(result, thresholds)
    assert len({tuple(plain(alphas)) for alphas in by_threshold}) > 1
    ids = dataset.values("id")
    for threshold, alphas in zip(thresholds, by_threshold, strict=True):
        assert numbers(kf.image_alphas(dataset, "run", threshold=threshold)[1]) == pytest.approx(alphas, nan_ok=True)
        worst = [ids[row] for row in np.argsort(alphas, kind="stable") if np.isfinite(alphas[row])]
        assert kf.view_of_threshold(dataset, "run", threshold).values("id") == worst
        assert [row.sample_id for row in kf.worst_images(dataset, "run", 3, threshold=threshold)] == worst[:3]
    with pytest.raises(InputError, match=r"threshold: expected one of .*, got 0\.123"):
        kf.view_of_threshold(dataset, "run", 0.123)
    with pytest.raises(InputError, match="threshold: expected it for all classes and raters"):
        kf.image_alphas(dataset, "run", threshold=thresholds[0], rater="ann")


def test_alphas_at_thresholds_go_with_their_run(make: Make) -> None:
    dataset = make()
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0, thresholds=[0.5, 0.9])
    before = dataset.values("run_threshold_alphas")
    assert [len(alphas) for alphas in before] == [2] * len(dataset)
    kf.rename_run(dataset, "run", "renamed")
    assert dataset.values("renamed_threshold_alphas") == before
    kf.delete_run(dataset, "renamed")
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0, thresholds=[])
    assert not [name for name in dataset.get_field_schema() if name.endswith("threshold_alphas")]
    with pytest.raises(InputError, match=r"threshold: expected one of no threshold, got 0\.5"):
        kf.image_alphas(dataset, "run", threshold=0.5)


def test_a_pair_is_of_two(dataset: fo.Dataset) -> None:
    with pytest.raises(InputError, match="raters: expected two raters, got 'ann' twice"):
        kf.view_of_pair(dataset, "run", "ann", "ann")
    with pytest.raises(InputError, match="rater: expected one of 'ann', 'bob', 'cid', got 'eve'"):
        kf.view_of_pair(dataset, "run", "ann", "eve")


def test_two_raters_have_one_pair(make: Make) -> None:
    dataset = make()
    kf.compute_agreement(dataset, "run", raters=RATERS)
    whole = metrics_of(kf.narrowed_metrics(dataset, "run"))
    for rater in RATERS:
        of_rater = metrics_of(kf.narrowed_metrics(dataset, "run", kf.Lens(rater=rater)))
        assert of_rater["rater"] == rater
        for name in ("alpha", "alpha_interval", "global_alpha", "image_alpha"):
            assert of_rater[name] == whole[name], name
        for name in ("category", "alpha", "alpha_interval", "global_alpha", "images"):
            assert of_rater["class_difficulty"][name] == whole["class_difficulty"][name], name
        assert of_rater["class_difficulty"]["units"] == [3, 3, 1]  # not the cat of the scene bob was not assigned to
    assert whole["image_alpha"] == pytest.approx(ALPHAS)
