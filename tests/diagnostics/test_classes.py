"""Class difficulty by hand, in a plain loop, and vs. the peer (see test_peer)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import InputError, agreement, class_difficulty
from kalos_core.diagnostics import class_image_alpha
from kalos_core.reliability import NOT_ASSIGNED
from tests.diagnostics.naive import alpha_of, marks, mean
from tests.expanded import expanded
from tests.strategies import tables


def with_class(result, code, images):
    """Return the values of the units with a class in some images, one image after the other."""
    values = result.units.values[np.isin(result.units.image, images)]
    return np.where(values == NOT_ASSIGNED, np.nan, values.astype(float))[(values == code).any(axis=1)]


def in_turn(result, code, images):
    """Return the same, with images drawn twice included twice."""
    return [row for image in images for row in with_class(result, code, [image])]


def test_two_worked_images():
    #  image 1   0     50    90          image 2   0
    #  ann       cat   dog   none        ann       cat
    #  bob       cat   dog   dog         bob       none
    #  cat: image 1 all equal, 1; image 2 cat none, 0; together cat cat | cat none: D_o = 2/4, D_e = (16 - 10)/12, 0
    #  dog: image 1 dog dog | none dog: 0 likewise
    result = agreement(
        marks(("ann", "cat", 0), ("bob", "cat", 0), ("ann", "dog", 50), ("bob", "dog", 50), ("bob", "dog", 90),
              ("ann", "cat", 0, 2), images=(1, 2, 3)),
        bootstrap=0,
    )  # fmt: skip
    found = class_difficulty(result)
    assert found.category.tolist() == ["cat", "dog"]
    assert found.alpha.tolist() == [0.5, 0]
    assert found.global_alpha.tolist() == [0, 0]
    assert found.images.tolist() == [2, 1]
    assert found.units.tolist() == [2, 2]
    np.testing.assert_array_equal(class_image_alpha(result, "cat"), [1, 0, np.nan])
    np.testing.assert_array_equal(class_image_alpha(result, "dog"), [0, np.nan, np.nan])


def test_a_unit_of_two_classes_counts_for_both():
    result = agreement(marks(("ann", "cat", 0), ("bob", "dog", 0)), bootstrap=9)
    found = class_difficulty(result)
    # cat dog: n = 2, D_o = 1, D_e = (4 - 2) / 2 = 1
    assert (found.alpha.tolist(), found.units.tolist()) == ([0, 0], [1, 1])
    figures = ["alpha", "global_alpha", "alpha_low", "alpha_high", "global_alpha_low", "global_alpha_high"]
    frame = found.to_pandas()
    assert list(frame) == ["category", *figures, "images", "units"]
    np.testing.assert_array_equal(frame.loc[0, figures].tolist(), [0, 0, *[np.nan] * 4])  # of one image
    assert frame.loc[0, ["category", "images", "units"]].tolist() == ["cat", 1, 1]
    with pytest.raises(InputError, match=r"category: expected one of 'cat', 'dog', got 'emu'"):
        class_image_alpha(result, "emu")


def test_a_class_only_one_rater_was_assigned_to_is_undefined_and_not_one():
    limits = {"ann": ["cat", "dog"], "bob": ["dog"]}
    found = class_difficulty(agreement(marks(("ann", "cat", 0), ("ann", "dog", 50), assigned_categories=limits)))
    np.testing.assert_array_equal(found.alpha, [np.nan, 0])
    np.testing.assert_array_equal(found.global_alpha, [np.nan, 0])
    assert (found.images.tolist(), found.units.tolist()) == ([0, 1], [1, 1])
    assert np.isnan(found.alpha_interval[0]).all()


def test_nothing_drawn_has_no_rows():
    found = class_difficulty(agreement(marks(images=(1, 2), categories=["cat"])))
    assert len(found) == 0
    assert found.alpha_interval.shape == (0, 2)
    assert len(found.to_pandas()) == 0


@given(tables(images=4, limits=True, exclusions=True, copies=4), st.integers(0, 9))
def test_every_number_as_a_plain_loop(annotations, seed):
    result = agreement(annotations, "polygon_iou", 0.25, bootstrap=8, seed=seed)
    found = class_difficulty(result)
    drawn = sorted({int(code) for code in annotations.category})
    assert found.category.tolist() == [annotations.categories[code] for code in drawn]
    images = range(len(annotations.images))
    of_images = {code: [alpha_of(with_class(result, code, [image])) for image in images] for code in drawn}
    for row, code in enumerate(drawn):
        np.testing.assert_allclose(class_image_alpha(result, found.category[row]), of_images[code], atol=1e-12)
        np.testing.assert_allclose(found.alpha[row], mean(of_images[code]), atol=1e-12)
        np.testing.assert_allclose(found.global_alpha[row], alpha_of(with_class(result, code, images)), atol=1e-12)
        assert found.images[row] == np.isfinite(of_images[code]).sum()
        assert found.units[row] == len(with_class(result, code, images))
    pool = np.flatnonzero(np.isfinite(list(of_images.values())).any(axis=0)) if drawn else []
    if not len(pool):
        return
    rng = np.random.default_rng(seed)
    draws = [pool[rng.integers(0, len(pool), len(pool))] for _ in range(8)]
    for row, code in enumerate(drawn):
        means = [mean(np.array(of_images[code])[images]) for images in draws]
        np.testing.assert_allclose(found.alpha_interval[row], expanded(means, found.images[row]), atol=1e-12)
        wholes = [alpha_of(in_turn(result, code, images)) for images in draws]
        pairable = sum(np.isfinite(of_images[code]))
        np.testing.assert_allclose(found.global_alpha_interval[row], expanded(wholes, pairable), atol=1e-9)
