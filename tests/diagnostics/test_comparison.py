"""Comparison of two agreements: by hand, by pandas and SciPy, and properties for any two."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from kalos_core import InputError, agreement, class_difficulty, compare
from kalos_core.diagnostics import class_image_alpha
from kalos_core.diagnostics.parts import Part
from tests.diagnostics.naive import marks
from tests.strategies import tables

# image     0, 4, ...    1, 5, ...       2, ... 3, ...
# before    both a cat   only ann a cat  empty  cat by ann, dog by bob
# after     both a cat   both a cat      empty  not read
BEFORE = [("ann", "cat", 0, 0), ("bob", "cat", 0, 0), ("ann", "cat", 0, 1), ("ann", "cat", 0, 3), ("bob", "dog", 0, 3)]
AFTER = [("ann", "cat", 0, 0), ("bob", "cat", 0, 0), ("ann", "cat", 0, 1), ("bob", "cat", 0, 1)]


def five_times(rows, images):
    starts = range(0, 20, 4)
    rows = [(*row, start + image) for start in starts for *row, image in rows]
    return agreement(marks(*rows, images=[start + image for start in starts for image in images]), bootstrap=0)


def test_worked_out_by_hand():
    found = compare(five_times(BEFORE, (0, 1, 2, 3)), five_times(AFTER, (0, 1, 2)), bootstrap=10_000)
    assert found.image.tolist() == [image for image in range(20) if image % 4 < 3]
    assert found.image_alpha.tolist() == [[1, 1], [0, 1], [1, 1]] * 5
    assert found.difference == pytest.approx(1 / 3)
    assert (found.whole.alpha_a[0], found.whole.alpha_b[0]) == (pytest.approx(2 / 3), 1)
    assert found.whole.images.tolist() == [15]
    assert (found.improved.tolist(), found.worsened.tolist()) == ([1, 5, 9, 13, 17], [])
    # k of 15 draws of an image that improved, each a third: k <= 1 is .0194, k = 0 .0023, k >= 9 .0308, k >= 10 .0085;
    # of 15 images t(.025, 14) = 2.1448, times sqrt(15 / 14) 2.2201, below which .0132 lie
    assert found.interval.tolist() == pytest.approx([1 / 15, 9 / 15])
    assert found.whole.is_clear.tolist() == [True]
    # (9/15 - 1/15) / (2 · 2.1448) = .12433; found in four of five studies of 15 images: times 2.1448 + .8681
    assert found.whole.detectable == pytest.approx([0.3746], abs=1e-4)
    assert found.to_pandas()["detectable"][0] == found.whole.detectable[0]
    # over all units: before cat cat | cat none | none none, five times: n = 30, D_o = 1/3, D_e = (900 - 450)/870
    assert found.whole.global_difference[0] == pytest.approx(29 / 45)
    assert found.by_class().category.tolist() == ["cat"]  # nobody drew a dog afterwards
    assert found.by_class().difference.tolist() == [0.5]  # image 0: 1 to 1; image 1: 0 to 1
    assert found.by_rater().rater.tolist() == ["ann", "bob"]
    assert found.by_rater().difference.tolist() == pytest.approx([1 / 3, 1 / 3])  # of two, each one's pairs are all
    assert found.notes == (
        "Only one of the two has the classes 'dog'.",
        "The first has 20 images, the second 15; only the 15 in both are compared.",
    )
    # studies of 50: .12433 sqrt(15/50) (2.0096 + .8490); of 200: .12433 sqrt(15/200) (1.9720 + .8434); of 1,000: ...
    assert repr(found).startswith(
        "mean alpha 0.667 -> 1.000: +0.333 [+0.067, +0.600] over 15 images; better on 5, worse on 0\n"
        "four of five such studies find a difference of 0.375 or more "
        "(0.195 with 50 images, 0.096 with 200 images, 0.043 with 1,000 images)\n"
    )


def test_an_image_that_is_undefined_in_one_is_left_out_of_both_means():
    both = [("ann", "cat", 0, 0), ("bob", "cat", 0, 0)]
    alone = agreement(marks(*both, images=(0, 1), assigned={0: ["ann", "bob"], 1: ["ann"]}))
    found = compare(alone, agreement(marks(("ann", "cat", 0, 0), ("ann", "cat", 0, 1), images=(0, 1))))
    assert np.isnan(found.image_alpha[1, 0])
    assert (found.whole.alpha_a[0], found.whole.alpha_b[0], found.whole.images[0]) == (1, 0, 1)


def of_files(*files, ids):
    rows = [(rater, "cat", place, key) for place, key in enumerate(ids) for rater in ("ann", "bob")]
    table = marks(*rows, images=ids)
    return agreement(replace(table, files=np.array(files, object)), bootstrap=0)


def test_images_are_paired_by_file_name():
    first, second = of_files("a.jpg", "b.jpg", ids=(0, 1)), of_files("x/b.jpg", "x/a.jpg", ids=(0, 1))
    found = compare(first, second, bootstrap=0)
    assert found.image.tolist() == [0, 1]
    assert found.notes == ("Images are paired by file name without its folder: 2 images with other ids, such as 0, 1.",)
    with pytest.raises(InputError, match=r"the same file for the same id, got 'a\.jpg' and 'c\.jpg'"):
        compare(first, of_files("c.jpg", "d.jpg", ids=(0, 1)), bootstrap=0)


def test_on_real_raters(lvis):
    """Compare the mean with NumPy's, and the interval with SciPy's percentile bootstrap of the differences."""
    a, b = (agreement(lvis, threshold=threshold, bootstrap=0) for threshold in (0.5, 0.75))
    found = compare(a, b, bootstrap=2000)
    change = (b.image_alpha - a.image_alpha)[np.isfinite(a.image_alpha) & np.isfinite(b.image_alpha)]
    assert found.difference == pytest.approx(change.mean())
    drawn = bootstrap((change,), np.mean, n_resamples=5000, method="percentile", random_state=np.random.default_rng(1))
    assert found.interval == pytest.approx(np.array(drawn.confidence_interval), abs=0.006)
    assert found.whole.is_clear.all()
    assert found.whole.global_difference[0] == pytest.approx(b.global_alpha - a.global_alpha)
    for row, name in enumerate(found.classes.name[:5]):
        expected = np.nanmean(class_image_alpha(b, name) - class_image_alpha(a, name))
        assert found.classes.difference[row] == pytest.approx(expected)
    assert set(found.classes.name) == set(class_difficulty(a).category)


@settings(max_examples=12)
@given(tables(), tables(), st.sampled_from([0.3, 0.5]))
def test_laws(first, second, threshold):
    if not (len(first.raters) > 1 and len(second.raters) > 1 and set(first.images) & set(second.images)):
        return
    a, b = agreement(first, threshold=threshold, bootstrap=0), agreement(second, threshold=threshold, bootstrap=0)
    assume(np.isfinite([a.alpha, b.alpha]).all())
    same, there, back = (compare(*pair, bootstrap=20) for pair in ((a, a), (a, b), (b, a)))
    for part in (same.whole, same.classes, same.raters):
        assert not np.nan_to_num(part.difference).any()
        assert not np.nan_to_num(part.interval).any()
    assert same.notes == ()
    assert there.difference == pytest.approx(-back.difference, nan_ok=True)
    np.testing.assert_allclose(there.raters.alpha_a, back.raters.alpha_b[_order(there.raters, back.raters)])
    rater = there.raters.name.tolist()
    for row, name in enumerate(rater):
        alphas = [Part.of(x).of_rater(x.annotations.raters.tolist().index(name)).cells().value for x in (a, b)]
        of_image = [
            dict(zip(x.annotations.images.tolist(), v, strict=True)) for x, v in zip((a, b), alphas, strict=True)
        ]
        change = np.array([of_image[1][image] - of_image[0][image] for image in there.image.tolist()])
        known = change[np.isfinite(change)]
        expected = known.mean() if len(known) else np.nan
        assert there.raters.difference[row] == pytest.approx(expected, nan_ok=True)


def _order(wanted, given):
    return [given.name.tolist().index(name) for name in wanted.name.tolist()]
