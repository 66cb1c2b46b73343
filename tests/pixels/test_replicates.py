"""Intervals of agreement about pixels: by hand, and against whole data sets of the images that were drawn."""

import numpy as np
import pytest

from kalos_core.pixels import MaskStack, pixel_agreement
from kalos_core.resampling import draws


def test_two_images_by_hand():
    # image a: both give the same pixel of 2: F1 1, nobody errs. b: one of 2 each, another: F1 0, each errs on one half.
    # drawn are a a, a b, b b: the ends of 1,000 replicates are those of a a and b b
    images = [{"ann": [[1, 0]], "bob": [[1, 0]]}, {"ann": [[1, 0]], "bob": [[0, 1]]}]
    found = pixel_agreement(images)
    assert found.mean_f1_interval.tolist() == [0, 1]
    assert found.smyth_interval.tolist() == [0, 0.5]
    ignored = MaskStack.of(images[0], ignore=[[True, True]])  # is not drawn
    assert pixel_agreement([*images, ignored]).mean_f1_interval.tolist() == [0, 1]
    assert pixel_agreement([images[0], ignored], bootstrap=50).mean_f1_interval.tolist() == [1, 1]
    assert found.f1_interval[0, 1].tolist() == found.f1_interval[1, 0].tolist() == [0, 1]
    assert np.isnan(found.f1_interval[[0, 1], [0, 1]]).all()


def test_large_images_weigh_as_much_as_their_pixels():
    # b has 4 pixels of which one is disputed: drawn with a (2 pixels, none disputed) the bound is (0.5 * 1) / 6
    images = [{"ann": [[1, 0]], "bob": [[1, 0]]}, {"ann": [[1, 1, 0, 0]], "bob": [[1, 0, 0, 0]]}]
    found = pixel_agreement(images)
    assert found.smyth_bound == pytest.approx(0.5 / 6)
    assert found.smyth_interval.tolist() == [0, 0.5 / 4]
    assert found.mean_f1_interval.tolist() == [pytest.approx(2 / 3), 1]  # b b: 2 * 1 / (2 + 1)


def images_of(seed, count=6, raters=4, local=False):
    """Images of several sizes; all are on the first; else two are missing now and then, and some give nothing."""
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
def test_beside_the_data_sets_that_were_drawn(seed, local):
    images = images_of(seed, local=local)
    if local:
        images = [[mask for mask in image if mask is not None] for image in images]
    names = None if local else [f"r{at}" for at in range(4)]
    found = pixel_agreement(images, names, raters_are_local=local, bootstrap=40, seed=seed)
    (times,) = draws(len(images), 40, seed)
    repeated = ([images[at] for at in np.repeat(np.arange(len(images)), row.astype(int))] for row in times)
    drawn = [pixel_agreement(of, names, raters_are_local=local, bootstrap=0) for of in repeated]

    def ends(values):
        return np.nanpercentile(np.array(values), [2.5, 97.5], axis=0)

    np.testing.assert_allclose(found.mean_f1_interval, ends([each.mean_f1 for each in drawn]))
    np.testing.assert_allclose(found.smyth_interval, ends([each.smyth_bound for each in drawn]))
    if not local:
        first, second = np.triu_indices(4, 1)
        expected = ends([each.f1[first, second] for each in drawn]).T
        np.testing.assert_allclose(found.f1_interval[first, second], expected)
        np.testing.assert_allclose(found.f1_interval[second, first], expected)
