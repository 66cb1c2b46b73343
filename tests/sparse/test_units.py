import itertools

import numpy as np
import pytest
from hypothesis import given

from kalos_core import NOT_ASSIGNED, Annotations, InputError, agreement, unit_agreement
from tests.strategies import tables


def naive(units):
    """Compute the share of agreeing pairs of assigned raters, with weight n - 1 per unit."""
    above = below = 0.0
    for row in units:
        values = [value for value in row if value != NOT_ASSIGNED]
        if len(values) < 2:
            continue
        pairs = list(itertools.combinations(values, 2))
        above += (len(values) - 1) * sum(a == b for a, b in pairs) / len(pairs)
        below += len(values) - 1
    return above / below if below else np.nan


@given(tables())
def test_every_pair_of_raters_of_every_unit(annotations):
    found = agreement(annotations, bootstrap=0)
    result = unit_agreement(found)
    rows = found.units.values.tolist()
    annotated = set(annotations.image.tolist())
    for image in [] if np.isnan(found.alpha) else range(len(annotations.images)):
        if image not in annotated and annotations.assigned_any_class[image].sum() >= 2:
            rows.append([-1 if assigned else NOT_ASSIGNED for assigned in annotations.assigned_any_class[image]])
    assert len(result) == len(rows)
    assert result.value == pytest.approx(naive(rows), nan_ok=True)
    assert (result.agreeing <= result.assigned).all()


def test_hand_worked_case():
    annotated_boxes = [("ann", "cat", 0), ("bob", "cat", 0), ("cid", "dog", 0), ("ann", "cat", 50)]
    rows = [
        {"image": image, "rater": r, "category": c, "box": [x, 0, 9, 9]}
        for image in range(4)
        for r, c, x in annotated_boxes
    ]
    found = agreement(Annotations.from_rows(rows, images=range(8)), bootstrap=10_000)
    result = unit_agreement(found)
    # four times cat cat dog; cat - -; and four images that are empty by agreement
    assert result.assigned.tolist() == [3] * 12
    assert result.agreeing.tolist() == [2] * 8 + [3] * 4
    assert result.unit_agreement == pytest.approx([1 / 3] * 8 + [1] * 4)
    assert result.value == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)
    assert (result.alpha, result.global_alpha) == (found.alpha, found.global_alpha)
    assert result.to_pandas()["image"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7]
    # k of eight draws of an image with units, of 2 · 2/3 of weight 2 · 2: k = 0 in .0039, k <= 1 in .0352, and of 8
    # images .0057 lie outside
    assert result.interval == pytest.approx([(4 / 3 * k + 2 * (8 - k)) / (4 * k + 2 * (8 - k)) for k in (7, 1)])


def test_against_alpha_on_real_data(lvis):
    result = unit_agreement(agreement(lvis, "box_iou", bootstrap=100))
    # two raters, so a unit agrees or does not: 1,398 correct units of 2,136 and 14 empty images
    assert result.value == pytest.approx((1398 + 14) / len(result))
    assert result.interval[0] < result.value < result.interval[1]
    with pytest.raises(InputError, match="agreement: expected Agreement, the result of"):
        unit_agreement("labels.json")
