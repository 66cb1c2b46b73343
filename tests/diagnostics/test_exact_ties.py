"""Values that are equal in exact arithmetic are bit-identical, in any order of images, raters and classes."""

from itertools import product

import numpy as np
import pytest

from kalos_core import Annotations, agreement, class_difficulty, collaboration, rater_vitality
from tests.strategies import reordered
from tests.tiers import first


def crowd(seed):
    """Return forty images of four raters who miss, move and confuse objects."""
    rng = np.random.default_rng(seed)
    rows = [
        {"image": image, "rater": rater, "category": str(rng.choice(["x", "y", "z"], p=[0.6, 0.3, 0.1])), "box": box}
        for image in range(40)
        for x in range(0, 50 * int(rng.integers(1, 6)), 50)
        for rater, box in ((rater, [x + float(rng.uniform(0, 3)), 0, 20, 20]) for rater in "abcd")
        if rng.random() < 0.85
    ]
    return Annotations.from_rows(rows, raters=list("abcd"), assigned="all")


def numbers(annotations):
    """Return every mean by name."""
    result = agreement(annotations, bootstrap=0)
    classes, vitality, pairs = class_difficulty(result), rater_vitality(result), collaboration(result)
    numbers = {"all": result.alpha} | dict(zip(classes.category, classes.alpha, strict=True))
    numbers |= dict(zip(vitality.rater, vitality.vitality, strict=True))
    return numbers | dict(zip(product(pairs.raters, repeat=2), pairs.alpha.ravel(), strict=True))


@pytest.mark.parametrize("seed", first(range(8), 3))
def test_the_order_of_the_table_changes_no_bit(seed):
    annotations = crowd(seed)
    assert numbers(reordered(annotations, seed + 1)) == numbers(annotations)


@pytest.mark.parametrize("seed", first(range(8), 3))
def test_mirrored_raters_tie(seed):
    """Repeat every image with a and b exchanged, so that both have equal results."""
    given = crowd(seed).to_pandas()
    boxes = crowd(seed).shapes["box"].xywh().tolist()
    exchanged = {"a": "b", "b": "a", "c": "c", "d": "d"}
    rows = [
        {"image": (copy, image), "rater": name(rater), "category": category, "box": box}
        for copy, name in enumerate([str, exchanged.get])
        for image, rater, category, box in zip(given.image, given.rater, given.category, boxes, strict=True)
    ]
    found = numbers(Annotations.from_rows(rows, raters=list("abcd"), assigned="all"))
    assert found["a"] == found["b"]
    assert found["a", "c"] == found["b", "c"]
