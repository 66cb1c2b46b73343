"""Which images to rate once more: by hand, and against all answers of a further rater written out one by one."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from kalos_core import NO_OBJECT, InputError, agreement, next_to_rate
from kalos_core.diagnostics import rerating
from tests.diagnostics.naive import alpha_of, columns, marks, mean
from tests.tiers import extended

THREE = ("ann", "bob", "cid")


def answered(*images, **more):
    """Each image is a text: classes that ann, bob, ... gave to its units, "-" for nothing, units apart by blanks."""
    rows = [
        (THREE[at], name, 50 * unit, image)
        for image, units in enumerate(images)
        for unit, answers in enumerate(units.split())
        for at, name in enumerate(answers)
        if name != "-"
    ]
    raters = THREE[: max(len(word) for units in images for word in units.split())]
    return agreement(marks(*rows, raters=raters, images=range(len(images)), **more), bootstrap=200)


def variance(interval, images):
    """Of a statistic, as Student's t reads its interval."""
    return (np.diff(interval)[0] / 2 / stats.t.ppf(0.975, images - 1)) ** 2


def test_by_hand():
    # c c | d d | c d, three times: n = 18, D_o = 6/18, D_e = (324 - 162)/306 = 9/17, alpha = 1 - (1/3)/(9/17) = 10/27,
    # k = (17/27)/(10/27) = 17/10. c c: a third says d with (17/10)/(2 + 17/10) * 1/2 = 17/74; c c d has one unit, so
    # D_o = D_e: alpha goes from 1 to 0. d d: likewise. c d: alpha is 0 already, c c d and c d d have 0, too.
    result = answered(*["cc", "dd", "cd"] * 3)
    draws = 2960  # 17/74 of them are a whole number, and the first unit of every image has one draw of each
    found = next_to_rate(result, 9, "alpha", draws=draws)
    assert found.image.tolist() == [0, 1, 3, 4, 6, 7]
    np.testing.assert_allclose(found.shift, -17 / 74 / 9, atol=1 / draws)
    np.testing.assert_allclose(found.share, 17 / 74 / 81 / variance(result.alpha_interval, 9), rtol=0.01)
    np.testing.assert_allclose(found.narrowing, found.width - np.sqrt(found.width**2 * (1 - found.share)))
    assert found.reducible == pytest.approx(found.share.sum())
    assert found.expected_width == pytest.approx(found.width * np.sqrt(1 - found.share.sum()))
    assert found.labels.tolist() == [1] * 6


def test_by_hand_of_the_whole():
    # the same. With c c c: n = 19, o = 3 + 10, n_c = 10, 9: D_o = 6/19, D_e = (361 - 181)/342 = 10/19: alpha 2/5.
    # c c d: o = 1 + 10, n_c = 9, 10: D_o = 8/19: alpha 1/5. Before: 10/27.
    # c d c: o = 12 + 1, n_c = 10, 9: as c c c, alpha 2/5; c d d the same by symmetry.
    result, before = answered(*["cc", "dd", "cd"] * 3), 10 / 27
    found = next_to_rate(result, 9, "global_alpha", draws=2960)
    assert sorted(found.image.tolist()) == list(range(9))
    disputed = found.image % 3 == 2
    shift = np.where(disputed, 2 / 5 - before, 57 / 74 * (2 / 5 - before) + 17 / 74 * (1 / 5 - before))
    np.testing.assert_allclose(found.shift, shift, atol=1 / 2960)
    squares = np.where(
        disputed, (2 / 5 - before) ** 2, 57 / 74 * (2 / 5 - before) ** 2 + 17 / 74 * (1 / 5 - before) ** 2
    )
    np.testing.assert_allclose(found.share * variance(result.global_alpha_interval, 9), squares, atol=1 / 2960)


def written_out(result, statistic):
    """Mean and mean square of the change for each image: every answer of a further rater, with its probability."""
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

    def chance(unit, answer):
        own = unit[np.isfinite(unit)]
        anywhere = (values == answer).mean()
        return anywhere if np.isinf(k) else ((own == answer).sum() + k * anywhere) / (len(own) + k)

    def of(tables):
        if statistic == "global_alpha":
            return alpha_of(np.concatenate(list(tables.values())))
        return mean([alpha_of(table) for table in tables.values()])

    start, found = of(before), []
    for image in images:
        total = square = 0.0
        for answers in product(np.unique(values), repeat=len(before[image])):
            p = np.prod([chance(unit, answer) for unit, answer in zip(before[image], answers, strict=True)])
            after = {
                at: np.column_stack([table, answers if at == image else np.full(len(table), np.nan)])
                for at, table in before.items()
            }
            change = of(after) - start
            total, square = total + p * change, square + p * change**2
        found.append((total, square))
    return np.array(found).T


def check(result, statistic):
    shift, square = written_out(result, statistic)
    changes = np.array(list(rerating._Further(result).changes(statistic, 4000, seed=1)))
    np.testing.assert_allclose(changes.mean(axis=0), shift, atol=0.01)
    np.testing.assert_allclose((changes**2).mean(axis=0), square, atol=0.01)


@pytest.mark.parametrize(
    ("statistic", "images"),
    [
        ("alpha", ("cc dd c-", "cd d-", "ee -c cc")),
        ("global_alpha", ("ccc cdd", "dd- c-c --e", "ddd")),
        ("alpha", ("cd", "dc", "cc")),  # alpha below 0: nothing is repeated
        pytest.param("global_alpha", ("cd", "dc", "cc"), marks=extended),
    ],
)
def test_beside_every_answer(statistic, images):
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
    assert (len(found), found.width, found.expected_width, found.reducible) == (0, 0, 0, 0)
    what = rerating.SAID[statistic]
    assert found.headline == f"No image is expected to narrow the interval on {what} with one more rater"


def test_bad_input():
    result = answered(*["cc", "dd", "cd"] * 3)
    with pytest.raises(InputError, match="of 8 images or more, got one with bootstrap=0"):
        next_to_rate(agreement(result.annotations, bootstrap=0))
    with pytest.raises(InputError, match="of 8 images or more, got one of 7 images"):
        next_to_rate(answered(*["cc"] * 7))
    with pytest.raises(InputError, match="statistic"):
        next_to_rate(result, statistic="kappa")
    with pytest.raises(InputError, match="n: expected a whole number of at least 1, got 0"):
        next_to_rate(result, 0)
    with pytest.raises(InputError, match="agreement: expected Agreement, the result of agreement"):
        next_to_rate(5)
