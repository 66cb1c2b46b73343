"""Intervals of pixel agreement: by hand, and vs. whole data sets of the drawn images."""

import itertools

import numpy as np
import pytest

from kalos_core.pixels import MaskStack, PixelAccumulator, pixel_agreement
from kalos_core.resampling import draws
from tests.expanded import expanded


def test_two_kinds_of_images_by_hand():
    # image a: both give the same pixel of 2: F1 1, nobody errs. b: one of 2 each, another: F1 0, each errs on one half.
    # drawn are k of a and 8 - k of b; k = 0 in .0039 of draws, k <= 1 in .0352, and of 8 images .0057 lie outside
    images = [{"ann": [[1, 0]], "bob": [[1, 0]]}, {"ann": [[1, 0]], "bob": [[0, 1]]}] * 4
    found = pixel_agreement(images, bootstrap=10_000)
    assert found.mean_f1_interval.tolist() == [1 / 8, 7 / 8]
    assert found.smyth_interval.tolist() == [1 / 16, 7 / 16]
    ignored = MaskStack.of(images[0], ignore=[[True, True]])  # is not drawn
    assert pixel_agreement([*images, ignored], bootstrap=10_000).mean_f1_interval.tolist() == [1 / 8, 7 / 8]
    assert found.f1_interval[0, 1].tolist() == found.f1_interval[1, 0].tolist() == [1 / 8, 7 / 8]
    few, alike = pixel_agreement([*images[1:], ignored], bootstrap=50), pixel_agreement(images[:1] * 8, bootstrap=50)
    for undefined in (found.f1_interval[[0, 1], [0, 1]], few.mean_f1_interval, few.f1_interval, alike.f1_interval):
        assert np.isnan(undefined).all()


def test_large_images_weigh_as_much_as_their_pixels():
    # b has 4 pixels of which one is disputed: drawn with a (2 pixels, none disputed) the bound is (0.5 * 1) / 6; drawn
    # are j of b and 8 - j of a: .5 j / (16 + 2 j), and F1 16 / (16 + j), j from 1 to 7
    images = [{"ann": [[1, 0]], "bob": [[1, 0]]}, {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]}] * 4
    found = pixel_agreement(images, bootstrap=10_000)
    assert found.smyth_bound == pytest.approx(0.5 / 6)
    assert found.smyth_interval.tolist() == pytest.approx([0.5 / 18, 3.5 / 30])
    assert found.mean_f1_interval.tolist() == pytest.approx([16 / 23, 16 / 17])


def images_of(seed, count=12, raters=4, local=False):
    """Return images of several sizes; the first has all raters, others may lack two, and some raters mark nothing."""
    rng = np.random.default_rng(seed)
    images = []
    for number in range(count):
        shape = tuple(rng.integers(2, 6, 2))
        common = rng.random(shape) < 0.5
        names = ["r0", "r1", *(f"r{at}" for at in range(2, raters) if not number or rng.random() < 0.6)]
        masks = {
            name: common ^ (rng.random(shape) < 0.2) if not number or rng.random() < 0.9 else None for name in names
        }
        images.append(list(masks.values()) if local else masks)
    return [image for image in images if sum(mask is not None for mask in (image if local else image.values())) > 1]


@pytest.mark.parametrize(("seed", "local"), [(0, False), (1, False), (2, True)])
def test_against_resampled_data_sets(seed, local):
    images = images_of(seed, local=local)
    if local:
        images = [[mask for mask in image if mask is not None] for image in images]
    names = None if local else [f"r{at}" for at in range(4)]
    found = pixel_agreement(images, names, raters_are_local=local, bootstrap=40, seed=seed)
    (times,) = draws(len(images), 40, seed)
    repeated = ([images[at] for at in np.repeat(np.arange(len(images)), row.astype(int))] for row in times)
    drawn = [pixel_agreement(of, names, raters_are_local=local, bootstrap=0) for of in repeated]

    np.testing.assert_allclose(found.mean_f1_interval, expanded([each.mean_f1 for each in drawn], len(images)))
    np.testing.assert_allclose(found.smyth_interval, expanded([each.smyth_bound for each in drawn], len(images)))
    for one, other in () if local else itertools.permutations(range(4), 2):
        both = sum(names[one] in image and names[other] in image for image in images)
        expected = expanded([each.f1[one, other] for each in drawn], both)
        np.testing.assert_allclose(found.f1_interval[one, other], expected)


def test_raters_as_images_bring_them():
    """The first image lacks two of the four raters, and has the others in another order than the data set."""
    images = images_of(3)
    images[0] = {name: images[0][name] for name in ("r2", "r1")}
    images = [images[0], *images_of(4)]
    names = [f"r{at}" for at in range(4)]
    found, named = pixel_agreement(images), pixel_agreement(images, names)
    order = [found.raters.tolist().index(name) for name in names]
    assert found.raters.tolist()[:2] == ["r2", "r1"]
    assert order != [0, 1, 2, 3]
    for field in ("f1", "f1_interval"):
        np.testing.assert_array_equal(getattr(found, field)[np.ix_(order, order)], getattr(named, field))
    for field in ("mean_f1", "mean_f1_interval", "smyth_bound", "smyth_interval", "image_f1"):
        np.testing.assert_allclose(getattr(found, field), getattr(named, field), rtol=1e-12)
    np.testing.assert_array_equal(found.performance.confusion[order], named.performance.confusion)
    bare = PixelAccumulator()
    for image in images:
        bare.add(MaskStack.of(image))
    assert (repr(bare.result()), bare.result().raters.tolist()) == (repr(found), found.raters.tolist())
