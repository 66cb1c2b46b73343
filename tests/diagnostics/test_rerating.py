"""Images to rate again: by hand, and vs. all possible answers of a further rater, enumerated."""

from itertools import product

import numpy as np
import pytest

from kalos_core import NO_OBJECT, InputError, agreement, next_to_rate
from kalos_core.diagnostics import rerating
from tests.diagnostics.naive import alpha_of, columns, marks, mean
from tests.tiers import extended

THREE = ("ann", "bob", "cid")


def answered(*images, **more):
    """Return images given as text: classes that ann, bob, ... gave to its units, "-" for none, separated by spaces."""
    rows = [
        (THREE[at], name, 50 * unit, image)
        for image, units in enumerate(images)
        for unit, answers in enumerate(units.split())
        for at, name in enumerate(answers)
        if name != "-"
    ]
    raters = THREE[: max(len(word) for units in images for word in units.split())]
    return agreement(marks(*rows, raters=raters, images=range(len(images)), **more), bootstrap=200)


def test_by_hand():
    # c c | d d | c d, three times: alphas 1, 1 and 0, mean 2/3, squared residuals 1/9, 1/9 and 4/9. n = 18, D_o = 6/18,
    # D_e = (324 - 162)/306 = 9/17, alpha = 1 - (1/3)/(9/17) = 10/27, k = (17/27)/(10/27) = 17/10. c c: a third says d
    # with (17/10)/(2 + 17/10) * 1/2 = 17/74; c c d has one unit, so D_o = D_e: alpha goes from 1 to 0, its square to
    # 4/9. d d: likewise. c d: alpha is 0 already, c c d and c d d have 0, too. So no rater takes variance away.
    result = answered(*["cc", "dd", "cd"] * 3)
    draws = 2960  # 17/74 of them are a whole number, and the first unit of every image has one draw of each
    found = rerating._Further(result).expected("alpha", draws, 0)
    np.testing.assert_allclose(found.shift, np.tile([-17 / 74 / 9, -17 / 74 / 9, 0], 3), atol=1 / draws)
    np.testing.assert_allclose(found.more_squares, np.tile([17 / 222, 17 / 222, 0], 3), atol=1 / draws)
    assert (found.squares, found.size, found.more_size.tolist()) == (pytest.approx(2), 9, [0] * 9)
    assert (len(next_to_rate(result, 9, "alpha", draws=draws)), next_to_rate(result, 9, "alpha").reducible) == (0, 0)


def test_by_hand_of_the_whole():
    # the same. n = 18, n_c = 9: D_o = 1/3, D_e = 1/2 without the correction; an image of p values, o of which agree,
    # has 3 (p - o) + p - 4 p / 2 times 17/27: c c and d d 2 - 4 = -2, c d 6 + 2 - 4 = 4; squares 6 * 4 + 3 * 16 = 72.
    # c c c: 3 - 6 = -3; c c d has o = 1: 6 + 3 - 6 = 3: 5 more. c d c and c d d: 3, 7 fewer. n grows by 1.
    # alpha: with c c c n = 19, o = 3 + 10, n_c = 10, 9: D_o = 6/19, D_e = (361 - 181)/342 = 10/19: alpha 2/5.
    # c c d: o = 1 + 10, n_c = 9, 10: D_o = 8/19: alpha 1/5. Before: 10/27.
    # c d c: o = 12 + 1, n_c = 10, 9: as c c c, alpha 2/5; c d d the same by symmetry.
    result, before = answered(*["cc", "dd", "cd"] * 3), 10 / 27
    found = next_to_rate(result, 9, "global_alpha", draws=2960)
    assert found.image.tolist() == [2, 5, 8, 0, 1, 3, 4, 6, 7]
    shift = np.repeat([2 / 5 - before, 57 / 74 * (2 / 5 - before) + 17 / 74 * (1 / 5 - before)], [3, 6])
    np.testing.assert_allclose(found.shift, shift, atol=1 / 2960)
    share = np.repeat([1 - 65 / 72 * (18 / 19) ** 2, 1 - 77 / 72 * (18 / 19) ** 2], [3, 6])
    np.testing.assert_allclose(found.share, share)
    assert found.reducible == pytest.approx(1 - 81 / 72 * (18 / 27) ** 2)  # 72 + 6 * 5 - 3 * 7 = 81
    assert found.expected_width == pytest.approx(found.width * np.sqrt(0.5))
    np.testing.assert_allclose(found.narrowing, found.width - np.sqrt(found.width**2 * (1 - found.share)))
    assert found.labels.tolist() == [1] * 9


def sums_of(table):
    """Return (2 + C,) pairable values, agreeing values, and counts of each value in a table of units."""
    units = [unit[np.isfinite(unit)] for unit in table]
    units = [np.bincount(unit.astype(int) - NO_OBJECT, minlength=9) for unit in units if len(unit) > 1]
    agreeing = sum((unit * (unit - 1)).sum() / (unit.sum() - 1) for unit in units)
    return np.concatenate([[sum(unit.sum() for unit in units), agreeing], np.sum(units, axis=0) if units else [0] * 9])


def influence(whole, one, alpha):
    """Return (1 - alpha) n d log(D_o / D_e) in the direction of one image, by differences."""

    def log_ratio(step):
        n, agreeing, *counts = whole + step * one
        return np.log((1 - agreeing / n) / (1 - ((np.array(counts) / n) ** 2).sum()))

    return (1 - alpha) * whole[0] * (log_ratio(1e-5) - log_ratio(-1e-5)) / 2e-5


def written_out(result, statistic):
    """Return the mean change for each image, and the increase of squared residual and size, over all answers."""
    annotations, images = result.annotations, range(len(result.image_alpha))
    before = {image: columns(result, [image]) for image in images}
    for image in images:
        raters = annotations.assigned[image].sum()
        if not (annotations.image == image).any() and raters == 1:
            before[image] = np.where(annotations.assigned[[image]], float(NO_OBJECT), np.nan)
    everything = np.concatenate(list(before.values()))
    values = everything[np.isfinite(everything)]
    whole = alpha_of(columns(result, images))
    k = (1 - whole) / whole if whole > 0 else np.inf
    start = mean([alpha_of(table) for table in before.values()])

    def chance(unit, answer):
        own = unit[np.isfinite(unit)]
        anywhere = (values == answer).mean()
        return anywhere if np.isinf(k) else ((own == answer).sum() + k * anywhere) / (len(own) + k)

    def of(tables):
        if statistic == "global_alpha":
            return alpha_of(np.concatenate(list(tables.values())))
        return mean([alpha_of(table) for table in tables.values()])

    def residual(table):
        if statistic == "global_alpha":
            sums = sums_of(table)
            return influence(sums_of(everything), sums, whole) ** 2, sums[0]
        alpha = alpha_of(table)
        return (0, 0) if np.isnan(alpha) else ((alpha - start) ** 2, 1)

    found = []
    for image in images:
        rows = []
        for answers in product(np.unique(values), repeat=len(before[image])):
            p = np.prod([chance(unit, answer) for unit, answer in zip(before[image], answers, strict=True)])
            after = {
                at: np.column_stack([table, answers if at == image else np.full(len(table), np.nan)])
                for at, table in before.items()
            }
            more = np.subtract(residual(after[image]), residual(before[image]))
            rows.append(p * np.array([of(after) - of(before), *more]))
        found.append(np.sum(rows, axis=0))
    return np.array(found).T, np.sum([residual(table) for table in before.values()], axis=0)


def check(result, statistic):
    (shift, more_squares, more_size), (squares, size) = written_out(result, statistic)
    found = rerating._Further(result).expected(statistic, 4000, seed=1)
    np.testing.assert_allclose(found.shift, shift, atol=0.01)
    np.testing.assert_allclose(found.more_squares, more_squares, atol=0.01 * max(squares, 1))
    np.testing.assert_allclose(found.more_size, more_size, atol=0.01)
    assert (found.squares, found.size) == pytest.approx((squares, size), rel=1e-5)


@pytest.mark.parametrize(
    ("statistic", "images"),
    [
        ("alpha", ("cc dd c-", "cd d-", "ee -c cc")),
        ("global_alpha", ("ccc cdd", "dd- c-c --e", "ddd")),
        ("alpha", ("cd", "dc", "cc")),  # alpha below 0: no repetition
        pytest.param("global_alpha", ("cd", "dc", "cc"), marks=extended),
    ],
)
def test_with_every_answer(statistic, images):
    check(answered(*images), statistic)


@pytest.mark.parametrize("statistic", ["alpha", "global_alpha"])
def test_images_of_one_rater_and_of_none(statistic):
    #  image 0, 1: two raters; 2: ann alone, with an object; 3: ann alone, who found nothing; 4: nobody; 5: two, nothing
    rows = [
        ("ann", "c", 0, 0), ("bob", "c", 0, 0), ("ann", "d", 50, 0), ("bob", "d", 50, 0), ("ann", "c", 0, 1),
        ("bob", "d", 0, 1), ("ann", "d", 50, 1), ("bob", "d", 50, 1), ("ann", "c", 0, 2),
    ]  # fmt: skip
    assigned = {0: ["ann", "bob"], 1: ["ann", "bob"], 2: ["ann"], 3: ["ann"], 4: [], 5: ["ann", "bob"]}
    check(agreement(marks(*rows, images=range(6), assigned=assigned), bootstrap=0), statistic)
    rows += [(name, "cd"[at % 2 and name == "bob"], 0, at) for at in range(6, 12) for name in ("ann", "bob")]
    assigned |= {at: ["ann", "bob"] for at in range(6, 12)}
    found = next_to_rate(agreement(marks(*rows, images=range(12), assigned=assigned), bootstrap=200), 12, statistic)
    assert 4 not in found.image.tolist()
    assert {2, 3} <= set(found.image.tolist())
    assert found.raters[found.image == 2].tolist() == [1]
    assert np.isnan(found.alpha[found.image == 2]).all()


@pytest.mark.parametrize("statistic", ["alpha", "global_alpha"])
def test_where_all_agree_nothing_narrows(statistic):
    found = next_to_rate(answered(*["cc", "dd"] * 4), statistic=statistic)
    assert (len(found), found.taken, found.reducible) == (0, 0, 0)
    what = rerating.SAID[statistic]
    assert found.headline == f"No image is expected to narrow the interval on {what} with one more rater"


def test_bad_input():
    result = answered(*["cc", "dd", "cd"] * 3)
    without = next_to_rate(agreement(result.annotations, bootstrap=0), 1)
    assert (np.isnan(without.width), without.taken) == (True, next_to_rate(result, 1).taken)
    assert "the variance of the alpha of all units is expected to fall by 19\xa0%" in without.headline
    with pytest.raises(InputError, match="statistic"):
        next_to_rate(result, statistic="kappa")
    with pytest.raises(InputError, match="n: expected a whole number of at least 1, got 0"):
        next_to_rate(result, 0)
    with pytest.raises(InputError, match="agreement: expected Agreement, the result of agreement"):
        next_to_rate(5)
