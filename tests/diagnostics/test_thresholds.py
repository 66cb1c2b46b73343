"""Localization sensitivity by hand, in a plain loop, and on a real data set."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, InputError, agreement, sensitivity
from kalos_core.calibration import Calibration, Separation
from kalos_core.diagnostics import image_alphas
from kalos_core.pairs import compute_pairs
from tests.expanded import expanded
from tests.strategies import tables


def heights(*rows):
    """Return boxes with equal corner and width as (rater, height, image): their IoU is the ratio of heights."""
    rows = [{"image": i, "rater": rater, "category": "cat", "box": [0, 0, 10, height]} for rater, height, i in rows]
    return Annotations.from_rows(rows)


def test_a_worked_curve():
    #  images 0-3: IoU .8; images 4-7: IoU .6. Matched 1; apart cat none | none cat: -1/2
    #  all in one: all matched 1; half apart: n = 24, diagonal 8, cat 16, none 8: 1 - (2/3)/((576 - 320)/552) = -7/16;
    #  all apart: n = 32, cat 16, none 16: 1 - 1/((1024 - 512)/992) = -15/16
    marks = heights(*[(*each, image) for image in range(8) for each in (("ann", 10), ("bob", 8 if image < 4 else 6))])
    curve = sensitivity(marks, [0.9, 0.5, 0.7], anchor=0.5, strict=0.8, bootstrap=10_000)
    assert curve.threshold.tolist() == [0.9, 0.5, 0.7]
    assert curve.alpha.tolist() == [-0.5, 1, 0.25]
    np.testing.assert_allclose(curve.global_alpha, [-15 / 16, 1, -7 / 16])
    assert curve.images.tolist() == [8, 8, 8]
    assert curve.delta == 0.75  # at .8 the first pair still matches
    assert curve.global_delta == pytest.approx(23 / 16)
    np.testing.assert_allclose(curve.image_alpha, np.repeat([[-0.5, -0.5], [1, 1], [1, -0.5]], 4, axis=1))
    np.testing.assert_allclose(image_alphas(agreement(marks, bootstrap=0), [0.7, 0.9]), curve.image_alpha[[2, 0]])
    frame = curve.to_pandas()
    assert frame["threshold"].tolist() == [0.9, 0.5, 0.7]
    assert sensitivity(replace(marks, raters_are_local=True), [0.7], bootstrap=0).alpha.tolist() == [0.25]
    before = sensitivity(marks, [0.7], bootstrap=0, pairs=compute_pairs(marks, floor=0.2))
    assert before.alpha.tolist() == [0.25]
    # k of eight draws of an image apart is none in .0039, at most one in .0352; of 8 images .0057 lie outside
    np.testing.assert_array_equal(frame["alpha_low"], [np.nan, np.nan, 1 - 1.5 * 7 / 8])
    assert curve.delta_interval.tolist() == [1.5 / 8, 1.5 * 7 / 8]


@settings(max_examples=12)
@given(tables(images=4, limits=True, exclusions=True), st.sampled_from([0.2, 0.6]), st.sampled_from(["greedy", "ahc"]))
def test_every_row_is_the_agreement_at_its_threshold(annotations, start, solver):
    levels = [0.7, 0.1, 0.4]  # below and above the floor of image_alphas
    options = {"similarity": "polygon_iou", "solver": solver, "cost": "neg", "bootstrap": 0}
    curve = sensitivity(annotations, levels, **options)
    for row, threshold in enumerate(levels):
        result = agreement(annotations, threshold=threshold, **options)
        np.testing.assert_allclose(curve.alpha[row], result.alpha, atol=1e-12)
        np.testing.assert_allclose(curve.global_alpha[row], result.global_alpha, atol=1e-12)
        np.testing.assert_array_equal(curve.image_alpha[row], result.image_alpha)
        assert curve.images[row] == result.defined_images
    found = image_alphas(agreement(annotations, threshold=start, **options), levels)
    np.testing.assert_array_equal(found, curve.image_alpha)
    anchor, strict = (agreement(annotations, threshold=threshold, **options) for threshold in (0.5, 0.9))
    np.testing.assert_allclose(curve.delta, anchor.alpha - strict.alpha, atol=1e-12)
    np.testing.assert_allclose(curve.global_delta, anchor.global_alpha - strict.global_alpha, atol=1e-12)


@given(tables(images=4, everyone=True, copies=4), st.integers(0, 9))
def test_all_thresholds_share_their_draws(annotations, seed):
    curve = sensitivity(annotations, [0.25, 0.75], anchor=0.25, strict=0.75, bootstrap=8, seed=seed)
    count = len(annotations.images)
    rng = np.random.default_rng(seed)
    draws = [rng.integers(0, count, count) for _ in range(8)]
    loose, tight = (agreement(annotations, threshold=level, bootstrap=8, seed=seed) for level in (0.25, 0.75))
    np.testing.assert_allclose(curve.alpha_interval, [loose.alpha_interval, tight.alpha_interval], atol=1e-12)
    np.testing.assert_allclose(
        curve.global_alpha_interval, [loose.global_alpha_interval, tight.global_alpha_interval], atol=1e-12
    )
    lost = [(loose.image_alpha - tight.image_alpha)[images].mean() for images in draws]
    np.testing.assert_allclose(curve.delta_interval, expanded(lost, np.isfinite(loose.image_alpha).sum()), atol=1e-12)


ONE = heights(("ann", 10, 1), ("bob", 8, 1))


@pytest.mark.parametrize(
    ("thresholds", "more", "message"),
    [
        ([], {}, "thresholds: expected at least one, got none"),
        (0.5, {}, "thresholds: expected several numbers, got 0.5"),
        ([0.5, 1.5], {}, "thresholds: expected a number from 0 to 1, got 1.5"),
        ([0.5], {"strict": 0.3}, "strict: expected a threshold of at least the anchor 0.5, got 0.3"),
        ([0.5], {"anchor": "half"}, "anchor: expected a number from 0 to 1, got 'half'"),
        ([0.1], {"pairs": compute_pairs(ONE)}, r"expected at least 0\.5, from which these pairs were .*, got 0\.1"),
    ],
)
def test_arguments_that_cannot_be_used_are_named(thresholds, more, message):
    with pytest.raises(InputError, match=message):
        sensitivity(ONE, thresholds, **more)
    with pytest.raises(InputError, match="thresholds: expected at least one, got none"):
        image_alphas(agreement(ONE, bootstrap=0), [])


# ---- from a calibrated threshold ----


def calibrated(threshold=0.7, name="box_iou", **changed):
    """Return a calibration whose tau* is 1 - threshold."""
    fields = {"ks": 0.9, "ks_at": 0.4, "tau": 1 - threshold, "reason": "", **changed}
    return Separation(name, "all", np.full(20, 0.1), np.array([0.9]), **fields)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"anchor": 0.5, "calibration": calibrated()}, r"from the calibration or as a number, got both \(0.5\)"),
        ({"calibration": 0.7}, "calibration: expected Calibration, the result of .*, got float"),
        ({"calibration": calibrated(name="centroid")}, "calibration: expected one of 'box_iou', got 'centroid'"),
        ({"calibration": Calibration([calibrated(name="centroid")])}, "similarity: expected one of 'centroid'"),
        ({"calibration": calibrated(tau=np.nan, reason="no chance")}, "a τ\\* of box_iou, got none: no chance"),
        ({"calibration": calibrated(0.92)}, "strict: expected a threshold of at least the anchor 0.92, got 0.9"),
    ],
)
def test_a_calibration_that_does_not_fit_is_refused(more, message):
    with pytest.raises(InputError, match=message):
        sensitivity(ONE, [0.5], **more)


# ---- each image ----


def test_lvis200_as_kalos_gives_it(lvis, monkeypatch):
    # computed with the public `kalos` package 0.8.0
    known = {0.1: 0.790964, 0.3: 0.750339, 0.5: 0.688879, 0.6: 0.658877, 0.7: 0.613014, 0.8: 0.515299, 0.9: 0.319607}
    curve = sensitivity(lvis, list(known), similarity="box_iou", bootstrap=0)
    np.testing.assert_allclose(curve.alpha, list(known.values()), atol=1e-6)
    assert curve.delta == pytest.approx(0.688879 - 0.319607, abs=2e-6)
    result = agreement(lvis, "box_iou", 0.3, bootstrap=0)
    monkeypatch.setattr("kalos_core.diagnostics.thresholds.compute_pairs", None)  # above it, no comparison is repeated
    found = image_alphas(result, [0.3, 0.5, 0.9])
    np.testing.assert_allclose(np.nanmean(found, axis=1), [0.750339, 0.688879, 0.319607], atol=1e-6)
