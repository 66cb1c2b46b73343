"""Which images to rate once more: by hand, and against all answers of a further rater written out one by one."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from kalos_core import NO_OBJECT, InputError, agreement, next_to_rate
from kalos_core.diagnostics import rerating
from tests.diagnostics.naive import alpha_of, columns, marks, mean
from tests.tiers import extended

DEVIATIONS = 2 * 1.959963984540054
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


def test_by_hand():
    # c c | d d | c d: n = 6, D_o = 2/6, D_e = (36 - 18)/30, alpha = 1 - (1/3)/(3/5) = 4/9, k = (5/9)/(4/9) = 5/4.
    # c c: a third says d with (5/4)/(2 + 5/4) * 1/2 = 5/26; c c d has one unit, so D_o = D_e: alpha goes from 1 to 0.
    # d d: likewise. c d: alpha is 0 already, c c d and c d d have 0, too.
    result = answered("cc", "dd", "cd")
    draws = 2600  # 5/26 of them are a whole number, and the first unit of every image has one draw of each
    found = next_to_rate(result, 3, "alpha", draws=draws)
    assert found.image.tolist() == [0, 1]
    np.testing.assert_allclose(found.shift, -5 / 26 / 3, atol=1 / draws)
    variance = (np.diff(result.alpha_interval)[0] / DEVIATIONS) ** 2
    np.testing.assert_allclose(found.share, 5 / 26 / 9 / variance, rtol=0.01)
    np.testing.assert_allclose(found.narrowing, found.width - np.sqrt(found.width**2 * (1 - found.share)))
    assert found.reducible == pytest.approx(found.share.sum())
    assert found.expected_width == pytest.approx(found.width * np.sqrt(1 - found.share.sum()))
    assert found.labels.tolist() == [1, 1]


def test_by_hand_of_the_whole():
    # the same images. With c c c: n = 7, o = 3 + 2 + 0, n_c = 4, 3: D_o = 2/7, D_e = (49 - 25)/42 = 4/7: alpha 1/2.
    # c c d: o = 2 (1)/2 + 2 + 0 = 3, n_c = 3, 4: D_o = 4/7: alpha 0. Before: 4/9.
    # c d c: o = 2 + 2 + 1 = 5, n_c = 4, 3: as c c c, alpha 1/2; c d d the same by symmetry.
    result = answered("cc", "dd", "cd")
    found = next_to_rate(result, 3, "global_alpha", draws=2600)
    assert sorted(found.image.tolist()) == [0, 1, 2]
    expected = [21 / 26 * (1 / 2 - 4 / 9) - 5 / 26 * 4 / 9] * 2 + [1 / 2 - 4 / 9]
    np.testing.assert_allclose(found.shift, expected, atol=1 / 2600)
    variance = (np.diff(result.global_alpha_interval)[0] / DEVIATIONS) ** 2
    squares = np.array([21 / 26 / 18**2 + 5 / 26 * 16 / 81] * 2 + [1 / 18**2])
    np.testing.assert_allclose(found.share * variance, squares, atol=1 / 2600)


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
    annotations = marks(
        ("ann", "c", 0, 0), ("bob", "c", 0, 0), ("ann", "d", 50, 0), ("bob", "d", 50, 0), ("ann", "c", 0, 1),
        ("bob", "d", 0, 1), ("ann", "d", 50, 1), ("bob", "d", 50, 1), ("ann", "c", 0, 2),
        images=range(6), assigned={0: ["ann", "bob"], 1: ["ann", "bob"], 2: ["ann"], 3: ["ann"], 4: [],
                                   5: ["ann", "bob"]},
    )  # fmt: skip
    result = agreement(annotations, bootstrap=200)
    check(result, statistic)
    found = next_to_rate(result, 6, statistic)
    assert 4 not in found.image.tolist()
    assert {2, 3} <= set(found.image.tolist())
    assert found.raters[found.image == 2].tolist() == [1]
    assert np.isnan(found.alpha[found.image == 2]).all()


@pytest.mark.parametrize("statistic", ["alpha", "global_alpha"])
def test_where_all_agree_nothing_narrows(statistic):
    found = next_to_rate(answered("cc", "dd"), statistic=statistic)
    assert (len(found), found.width, found.expected_width, found.reducible) == (0, 0, 0, 0)
    what = rerating.SAID[statistic]
    assert found.headline == f"No image is expected to narrow the interval on {what} with one more rater"


def test_bad_input():
    result = answered("cc", "dd", "cd")
    with pytest.raises(InputError, match="agreement: expected one with an interval"):
        next_to_rate(replace(result, global_alpha_interval=np.full(2, np.nan)))
    with pytest.raises(InputError, match="statistic"):
        next_to_rate(result, statistic="kappa")
    with pytest.raises(InputError, match="n: expected a whole number of at least 1, got 0"):
        next_to_rate(result, 0)
    with pytest.raises(InputError, match="agreement: expected Agreement, the result of agreement"):
        next_to_rate(5)
