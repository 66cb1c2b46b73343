"""Label convergence: every replicate is modified mAP and alpha of its images; the regression line; errors."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from kalos_core import Annotations, InputError, agreement, label_convergence, modified_map
from kalos_core.convergence import MEANINGS, PUBLISHED_LINE, Spread, fit_line
from kalos_core.convergence.spread import interval_of_all, meaning_of, position_of
from tests.strategies import reordered

LEVELS = (0.5, 0.75, 0.9)
SAME = {"rtol": 0, "atol": 1e-12}


def noisy(images=40, raters=("ann", "bob"), seed=0, **more):
    """Return raters who each see four of five objects, slightly displaced."""
    rng = np.random.default_rng(seed)
    rows = []
    for image in range(images):
        for x in range(0, 500, 100):
            name = "cat" if rng.random() < 0.6 else "dog"
            for rater in raters:
                if rng.random() < 0.8:
                    rows.append({"image": image, "rater": rater, "category": name,
                                 "box": [x + rng.uniform(0, 8), 0, 40 + rng.uniform(0, 4), 40]})  # fmt: skip
    return Annotations.from_rows(rows, images=list(range(images)), raters=raters, **more)


@pytest.fixture(scope="module")
def of_lvis(lvis):
    return label_convergence(lvis, 1000, similarity="box_iou")


@pytest.mark.parametrize(("raters", "ties"), [(("ann", "bob"), "coco"), (("ann", "bob", "cid"), "joint")])
def test_a_replicate_is_what_its_images_alone_give(raters, ties):
    annotations = noisy(raters=raters)
    result = label_convergence(annotations, 6, 0.3, thresholds=LEVELS, ties=ties)
    assert result.drawn.shape == (6, 12)
    for number, images in enumerate(result.drawn):
        part = annotations.select(images=images)
        expected = modified_map(part, thresholds=LEVELS, ties=ties).directions
        np.testing.assert_allclose(result.pair_map[number], expected, **SAME)
        alphas = [agreement(part, "box_iou", level, "shm", "neg", bootstrap=0).alpha for level in LEVELS]
        np.testing.assert_allclose(result.alpha[number], alphas, **SAME)


def test_images_are_drawn_without_replacement_from_those_of_two_raters():
    table = noisy()
    assigned = np.array([[True, image % 2 == 1] for image in range(40)])
    part = replace(table.select(rows=assigned[table.image, table.rater]), assigned=assigned)
    result = label_convergence(part, 30, 0.5, thresholds=LEVELS)
    assert (result.images, result.images_per_replicate) == (20, 10)
    assert (result.drawn % 2 == 1).all()
    assert all(len(set(images)) == 10 for images in result.drawn.tolist())
    assert len({tuple(images) for images in result.drawn.tolist()}) > 25
    again, other = (label_convergence(part, 30, 0.5, seed, thresholds=LEVELS) for seed in (0, 1))
    np.testing.assert_array_equal(result.map, again.map)
    assert (result.drawn != other.drawn).any()
    alone = agreement(part, "box_iou", 0.75, "shm", "neg", bootstrap=0)
    assert result.whole_alpha[1] == pytest.approx(alone.alpha, abs=1e-12)


def test_the_order_of_the_table_does_not_matter():
    annotations = noisy(12, raters=("ann", "bob", "cid"))
    other = reordered(annotations, 5)
    ours, theirs = (label_convergence(table, 5, 0.5, thresholds=LEVELS, ties="joint") for table in (annotations, other))
    for mine, their in zip(ours.drawn, theirs.drawn, strict=True):
        assert set(annotations.images[mine]) == set(other.images[their])
    np.testing.assert_allclose(ours.map, theirs.map, **SAME)
    np.testing.assert_allclose(ours.alpha, theirs.alpha, **SAME)


def test_the_columns_of_table_3_and_the_line():
    result = label_convergence(noisy(), 200, 0.3, thresholds=LEVELS)
    values = result.map.mean(axis=1)
    row = result.summary().query("is_convergence").iloc[0]
    assert row["figure"] == "modified mAP"
    assert (row["images"], row["sample_size"]) == (40, 12)
    assert row["whole"] == pytest.approx(modified_map(noisy(), thresholds=LEVELS).mean, abs=1e-12)
    half = 1.96 * values.std(ddof=1)
    expected = [values.mean(), values.std(ddof=1), values.min(), values.max(), values.mean() - half,
                values.mean() + half, *np.quantile(values, [0.025, 0.975])]  # fmt: skip
    np.testing.assert_allclose(row.iloc[5:].to_numpy(float), expected, **SAME)
    assert np.isnan(result.interval).all()  # of 40 images
    frame = result.to_pandas()
    assert frame.shape == (600, 4)
    np.testing.assert_allclose(frame.groupby("replicate")["map"].mean(), values, **SAME)
    x, y = result.alpha.ravel(), result.map.ravel()
    slope, intercept = np.polyfit(x, y, 1)
    assert result.fitted.slope == pytest.approx(slope, abs=1e-9)
    assert result.fitted.intercept == pytest.approx(intercept, abs=1e-9)
    assert result.fitted.correlation == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-12)
    assert result.fitted.explained == pytest.approx(np.corrcoef(x, y)[0, 1] ** 2, abs=1e-12)
    np.testing.assert_allclose(result.fitted.residuals, y - slope * x - intercept, atol=1e-9)
    assert result.fitted.source.endswith("200 subsets x 3 thresholds, α = KαLOS(box_iou, τ_s=0.5, S=shm, ψ_neg)")


def test_the_published_line_belongs_to_the_papers_alpha_alone():
    annotations = noisy()
    result = label_convergence(annotations, 5, 0.3, thresholds=LEVELS)
    assert result.line is PUBLISHED_LINE
    np.testing.assert_allclose(result.inferred.replicates, 0.836 * result.alpha.mean(axis=1) + 0.197, **SAME)
    greedy = label_convergence(annotations, 5, 0.3, thresholds=LEVELS, solver="greedy", cost="soft")
    assert greedy.line is None
    assert greedy.inferred is None
    assert greedy.summary()["figure"].tolist() == ["modified mAP", "alpha"]


def test_three_raters_are_inferred_with_a_line_of_ones_own():
    two = label_convergence(noisy(), 40, 0.3, thresholds=LEVELS, solver="greedy", cost="soft")
    three = noisy(raters=("ann", "bob", "cid"))
    result = label_convergence(three, 40, 0.3, thresholds=LEVELS, solver="greedy", cost="soft", line=two.fitted)
    np.testing.assert_allclose(result.map, np.nanmean(result.pair_map, axis=(2, 3)), **SAME)
    assert result.fitted is None
    expected = two.fitted.slope * result.alpha + two.fitted.intercept
    np.testing.assert_allclose(result.convergence.replicates, expected.mean(axis=1), **SAME)
    assert "from alpha of all raters, KαLOS(box_iou, τ_s=0.5, S=greedy, ψ_soft), with fit" in result.route
    # raters with the same errors: measured pairs are close to the value from alpha
    assert result.measured.mean == pytest.approx(result.convergence.mean, abs=0.05)
    assert result.summary()["is_convergence"].tolist() == [False, True, False]
    assert result.replicates.how.startswith("inferred from alpha with a given line; pairs of the 3 raters reach ")
    published = label_convergence(three, 5, 0.3, thresholds=LEVELS)
    assert published.replicates.how.startswith(
        "inferred from alpha with the line of the paper (LVIS, COCO, Open Images); pairs"
    )
    assert "label convergence Eq. 1" in published.route
    again = published.inferred_with(two.fitted).replicates
    np.testing.assert_allclose(again, two.fitted.map_of(published.alpha).mean(axis=1), **SAME)
    without = label_convergence(three, 5, 0.3, thresholds=LEVELS, solver="greedy")
    assert without.convergence.mean == without.measured.mean
    assert without.replicates.how == "measured, mean over pairs of the 3 raters"
    assert "no line belongs to KαLOS(box_iou, τ_s=0.5, S=greedy, ψ_neg)" in without.route


def test_the_line_of_photographs_is_not_applied_to_volumes():
    square = [[0, 0], [9, 0], [9, 9], [0, 9]]
    rows = [
        {
            "image": scan,
            "rater": rater,
            "category": "nodule",
            "volume": [{"z": z, "points": square} for z in range(2 + scan % 2 * (rater == "cid"))],
        }
        for scan in range(8)
        for rater in ("ann", "bob", "cid")
    ]
    table = Annotations.from_rows(rows, slice_positions={scan: [0.0, 1.0, 2.0] for scan in range(8)})
    found = label_convergence(table, 3, 0.5, thresholds=(0.5,))
    assert found.line is None
    assert found.whole_convergence == found.replicates.whole_map.mean()
    assert found.replicates.how == "measured, mean over pairs of the 3 raters"


def test_raters_who_never_differ_have_no_line():
    rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(20) for r in ("ann", "bob")]
    result = label_convergence(Annotations.from_rows(rows), 5, 0.5)
    assert (result.fitted, result.whole_convergence) == (None, 1)
    assert np.isnan(result.interval).all()
    assert "(no interval: fewer than 50 images)" in str(result)


def test_shuffled_replicates_are_means_over_orders():
    annotations = noisy(8)
    one, many = (label_convergence(annotations, 3, 0.5, ties="shuffle", orders=k, thresholds=LEVELS) for k in (1, 30))
    fixed = label_convergence(annotations, 3, 0.5, thresholds=LEVELS)
    assert (one.map != many.map).any()
    np.testing.assert_allclose(many.map, fixed.map, atol=0.1)


@pytest.mark.parametrize("raters", [("ann", "bob"), ("ann", "bob", "cid", "dan")])
def test_raters_by_other_names_give_the_same_numbers_to_the_last_bit(raters):
    one = noisy(60, raters)
    for names in permutations(raters):
        other = replace(one, raters=np.array(names, object))
        a, b = (label_convergence(each, 10, 0.5, thresholds=LEVELS, orders=2) for each in (one, other))
        assert (a.whole_convergence, *a.interval) == (b.whole_convergence, *b.interval)


def test_the_interval_of_all_images_by_hand():
    # halves .66 and .70 of 50 of 101 images: mean .68, deviation .02828, times sqrt(50 / 51) = .02801; the value of all
    # is .64: .04 below, to many images 1.2071 times that: .04828. Both together .05582, times t (100) 1.98397.
    low, high = interval_of_all(0.64, np.array([0.66, 0.70]), 50, 101)
    reach = 1.98397 * math.hypot(math.sqrt(0.0008) * math.sqrt(50 / 51), 1.2071068 * 0.04)
    assert (low, high) == pytest.approx((0.64 - 0.0482843 - reach, 0.64 - 0.0482843 + reach), abs=1e-5)
    assert np.isnan(interval_of_all(0.64, np.array([0.66, 0.70]), 24, 49)).all()
    assert np.isnan(interval_of_all(0.64, np.array([0.64, 0.64]), 50, 101)).all()


def test_halves_are_what_their_images_alone_give():
    annotations = noisy(60)
    result = label_convergence(annotations, 200, 0.5, seed=3, thresholds=LEVELS)
    drawn = np.sort(result.halves_map.mean(axis=1))
    assert drawn.shape == (200,)
    assert drawn.mean() == pytest.approx(result.map.mean(), abs=4 * result.convergence.std / np.sqrt(200))
    assert drawn.std() == pytest.approx(result.convergence.std, rel=0.2)
    low, high = result.interval
    assert low < result.whole_convergence < high


# ---- whole set, and dependence on size ----


def test_the_whole_set_leads(lvis, of_lvis):
    result = of_lvis
    # pycocotools, mean of both directions over .5:.95: .66068 (formulas.md §13)
    assert result.whole_convergence == result.whole.mean == pytest.approx(0.66068, abs=5e-6)
    low, high = 100 * result.interval
    said = f"label convergence 66.07 mAP@0.5 to 0.95 on all 200 images [{low:.2f}, {high:.2f}], measured: "
    assert str(result).startswith(said)
    assert "on average over 1,000 subsets of 20 of them" in str(result)
    alphas = [agreement(lvis, "box_iou", level, "shm", "neg", bootstrap=0).alpha for level in result.thresholds]
    np.testing.assert_allclose(result.whole_alpha, alphas, **SAME)
    assert result.fitted.correlation == pytest.approx(0.93, abs=0.02)
    summary = result.summary().set_index("figure")["whole"]
    expected = [0.66068, 0.836 * np.mean(alphas) + 0.197, np.mean(alphas)]
    np.testing.assert_allclose(summary, expected, atol=5e-6)
    half = result.replicates.between(0.5, 0.5)
    assert half.whole_convergence == pytest.approx(0.81142, abs=5e-6)  # pycocotools at .5


@pytest.mark.parametrize("raters", [("ann", "bob"), ("ann", "bob", "cid")])
def test_a_size_is_what_a_run_of_that_size_gives(raters):
    annotations = noisy(60, raters=raters)
    result = label_convergence(annotations, 30, 0.2, thresholds=LEVELS)
    found = result.by_size((0.5,), samples=400).set_index("images")
    assert found.index.tolist() == [12, 30, 60]
    assert found.loc[12, "convergence"] == result.convergence.mean
    assert found.loc[12, ["low", "high"]].tolist() == result.convergence.interval.tolist()
    assert found.loc[60, ["low", "high"]].tolist() == result.interval.tolist()
    other = label_convergence(annotations, 400, 0.5, seed=7, thresholds=LEVELS)
    assert found.loc[30, "convergence"] == pytest.approx(other.convergence.mean, abs=4 * other.convergence.std / 20)
    assert found.loc[30, "std"] == pytest.approx(other.convergence.std, rel=0.2)
    assert found.loc[60, "convergence"] == result.whole_convergence
    assert found.loc[60, "alpha"] == pytest.approx(result.whole_alpha.mean())
    measured = np.nanmean(modified_map(annotations, thresholds=LEVELS).directions)
    assert found.loc[60, "map"] == pytest.approx(measured, abs=1e-12)
    with pytest.raises(InputError, match="shares: expected"):
        result.by_size((1.0,))
    if len(raters) > 2:
        assert result.whole_convergence == pytest.approx(PUBLISHED_LINE.map_of(result.whole_alpha).mean())


def with_few_marks():
    rows = [{"image": 0, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    return Annotations.from_rows(rows, images=list(range(20)))


@pytest.mark.parametrize(
    ("annotations", "arguments", "message"),
    [
        (noisy(raters=("ann",)), {}, "at least two raters, got 1"),
        (with_few_marks(), {"fraction": 0.1}, r"got \d+ of 20 subsets of 2 images without any; choose a larger"),
        (noisy(4), {"fraction": 0.1}, r"at least one image in a subset, got 0\.1 of 4 images"),
        (noisy(4), {"samples": 1}, "samples: expected a whole number of at least 2"),
        (noisy(4), {"line": (1, 0)}, "line: expected a Line"),
    ],
)
def test_undefined_results_are_reported(annotations, arguments, message):
    with pytest.raises(InputError, match=message):
        label_convergence(annotations, **{"samples": 20, **arguments})


def test_a_spread_by_hand():
    spread = Spread(np.array([0.2, 0.4, 0.6]))
    assert (spread.mean, spread.least, spread.greatest) == pytest.approx((0.4, 0.2, 0.6))
    assert spread.std == pytest.approx(0.2)
    np.testing.assert_allclose(spread.interval, [0.4 - 0.392, 0.4 + 0.392])
    np.testing.assert_allclose(spread.percentiles, [0.21, 0.59])


def test_a_model_is_placed_with_both_ends_inside():
    interval = np.array([0.304, 0.696])
    places = [position_of(value, interval) for value in (0, 0.304, 0.5, 0.696, 1)]
    assert places == ["below", "inside", "inside", "inside", "above"]
    assert meaning_of(0.9, interval).startswith("90.0 mAP is above label convergence [30.4,\xa069.6]. The model agrees")
    assert meaning_of(0.9, np.full(2, np.nan)) == f"90.0 mAP. {MEANINGS['unknown']}"
    with pytest.raises(InputError, match="expected an mAP from 0 to 1"):
        position_of(66.8, interval)


def test_a_line_of_several_data_sets_is_that_of_all_their_pairs():
    rng = np.random.default_rng(0)
    alpha = {"LVIS": rng.uniform(0, 1, (50, 3)), "COCO": rng.uniform(0, 1, (20, 3)), "Open": rng.uniform(0, 1, 9)}
    precision = {name: 0.8 * x + 0.2 + rng.normal(0, 0.05, x.shape) for name, x in alpha.items()}
    alpha["COCO"][0, 0] = np.nan
    line = fit_line(alpha, precision, "three data sets")
    x, y = (np.concatenate([values.ravel() for values in side.values()]) for side in (alpha, precision))
    known = np.isfinite(x)
    np.testing.assert_allclose([line.slope, line.intercept], np.polyfit(x[known], y[known], 1))
    assert line.correlation == pytest.approx(np.corrcoef(x[known], y[known])[0, 1])
    assert line.source == "three data sets: LVIS (150 pairs), COCO (59 pairs), Open (9 pairs)"


# ---- replicates without annotations ----
