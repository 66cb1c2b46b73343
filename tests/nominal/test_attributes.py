"""Attributes of annotations: read, stored, written, and agreement on them."""

import math
from collections import Counter
from itertools import combinations

import krippendorff
import numpy as np
import pytest

from kalos_core import Annotations, InputError, agreement, attribute_agreement, grade_agreement, nominal_alpha
from kalos_core.annotations.blocks import ByImage
from kalos_core.annotations.joining import from_arrays, join, to_arrays
from tests.expanded import expanded


def row(image, rater, place, **attributes):
    return {"image": image, "rater": rater, "category": "nodule", "box": [place, 0, 9, 9], "attributes": attributes}


ROWS = [
    row(1, "ann", 0, malignancy=1, margin="sharp"),
    row(1, "bob", 0, malignancy=2),
    row(1, "cid", 1, margin="sharp"),
    row(1, "ann", 50, malignancy=4),  # of ann alone
    row(2, "ann", 0, malignancy=5, margin="poor"),
    row(2, "bob", 1, malignancy=5, margin="sharp"),
    {key: value for key, value in row(2, "cid", 0).items() if key != "attributes"},
    row(2, "bob", 50, malignancy=3),
    row(2, "cid", 50, malignancy=1),
]
TABLE = Annotations.from_rows(ROWS, assigned="all")
RESULT = agreement(TABLE, bootstrap=0)


PLAIN = Annotations.from_rows([{**each, "attributes": None} for each in ROWS], assigned="all")


def lists(table):
    return {name: values.tolist() for name, values in table.attributes.items()}


def test_units_with_two_grades_count_by_hand():
    found = attribute_agreement(RESULT, "malignancy", metric="interval", bootstrap=0)
    # 1 2 | 5 5 | 3 1, and 4 alone: squares within 1, 0, 4; of all pairs of 1 2 5 5 3 1
    apart = sum((c - k) ** 2 for c, k in combinations([1, 2, 5, 5, 3, 1], 2))
    assert found.alpha == pytest.approx(1 - 5 * (1 + 0 + 4) / apart)
    assert found.items == 3
    assert sorted(found.values[~np.isnan(found.values)].tolist()) == [1, 1, 2, 3, 4, 5, 5]
    names = attribute_agreement(RESULT, "margin", order=["sharp", "poor"], bootstrap=0)
    assert (names.items, names.metric) == (2, "ordinal")
    assert names.alpha == pytest.approx(nominal_alpha([["s", "s"], ["p", "s"]]))
    assert attribute_agreement(RESULT, "margin", bootstrap=0).metric == "nominal"
    assert attribute_agreement(RESULT, "malignancy", bootstrap=0).metric == "ordinal"


def test_an_attribute_is_graded_as_values_of_its_units_are():
    rng = np.random.default_rng(0)
    rows = [
        row(image, rater, 20 * place, grade=int(np.clip(image % 4 + place + rng.integers(-1, 2), 1, 5)))
        for image in range(20)
        for place in range(2)
        for rater in "abc"
        if rng.random() < 0.8
    ]
    result = agreement(Annotations.from_rows(rows, assigned="all"), bootstrap=0)
    found = attribute_agreement(result, "grade", bootstrap=200)
    assert found.value == pytest.approx(grade_agreement(found.values, bootstrap=0).value)
    theirs = krippendorff.alpha(reliability_data=found.values.T, level_of_measurement="ordinal")
    assert found.alpha == pytest.approx(theirs)
    rows_of = [np.flatnonzero(result.units.image == image) for image in range(20)]
    draws = [rng.integers(0, 20, 20) for _ in range(200)]  # whole images
    draws = [nominal_alpha(found.values[np.concatenate([rows_of[at] for at in drawn])], "ordinal") for drawn in draws]
    assert found.alpha_interval == pytest.approx(expanded(draws, 20), abs=0.07)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval"])
def test_differences_are_those_of_every_two_raters(metric):
    rng = np.random.default_rng(5)
    values = np.where(rng.random((60, 5)) < 0.4, np.nan, rng.integers(0, 4, (60, 5)) * 1.5)
    found = grade_agreement(values, metric, bootstrap=0).differences
    for row, own in zip(values, found, strict=True):
        pairs = list(combinations(row[~np.isnan(row)], 2))
        apart = [abs(a - b) if metric != "nominal" else a != b for a, b in pairs]
        assert own == pytest.approx(np.mean(apart)) if pairs else np.isnan(own)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attribute_agreement(RESULT, "subtlety"), "malignancy"),
        (lambda: attribute_agreement(RESULT, "margin", metric="ordinal"), "pass order="),
        (lambda: attribute_agreement(TABLE, "margin"), "the result of agreement"),
        (lambda: attribute_agreement(agreement(PLAIN, bootstrap=0), "a"), "expected annotations with attributes"),
        (lambda: Annotations.from_rows([{**ROWS[0], "attributes": 5}]), "attributes that are numbers"),
        (lambda: Annotations.from_rows([{**ROWS[0], "attributes": {"a": [1]}}]), "attributes that are numbers"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_attributes_stay_with_their_annotations():
    assert TABLE.attributes["malignancy"].tolist() == [1, 2, None, 4, 5, 5, None, 3, 1]
    assert TABLE.select(images=[1]).attributes["margin"].tolist() == ["poor", "sharp", None, None, None]
    assert TABLE.select(raters=["cid"]).attributes["malignancy"].tolist() == [None, None, 1]
    assert ByImage(TABLE).table(1, 2).attributes["malignancy"].tolist() == [5, 5, None, 3, 1]
    other = Annotations.from_rows([{**row(3, "ann", 0, subtlety=True), "id": 99}], raters=TABLE.raters, assigned="all")
    both = join([TABLE, other])
    assert both.attributes["subtlety"].tolist() == [None] * 9 + [True]
    assert lists(from_arrays(to_arrays(both))) == lists(both)
    assert TABLE.to_pandas()["malignancy"].tolist()[3] == 4
    broken = [*ROWS, {**row(1, "ann", 0, malignancy=7), "box": [0, 0, -1, 5]}]
    with pytest.warns(match="They are skipped"):
        kept = Annotations.from_rows(broken, assigned="all", on_invalid="skip")
    assert lists(kept) == lists(TABLE)


def test_malignancy_on_lidc(lidc):
    scores = lidc.attributes["malignancy"].tolist()
    assert Counter(scores) == {3: 330, 2: 231, 4: 155, 5: 147, 1: 96}
    result = agreement(lidc, "volume_iou", bootstrap=0)
    found = attribute_agreement(result, "malignancy", bootstrap=100)
    theirs = krippendorff.alpha(reliability_data=found.values.T, level_of_measurement="ordinal")
    assert found.alpha == pytest.approx(theirs)
    assert math.isnan(found.value[2])
    assert "local" in found.reason[2]
    # AC2, unit by unit
    grades = [np.array(scores)[result.unit_of == unit] for unit in range(len(result.units))]
    several = [unit for unit in grades if len(unit) > 1]
    assert found.items == len(several)
    apart = [np.mean([(c - k) ** 2 for c, k in combinations(unit, 2)]) / 16 for unit in several]
    share = np.mean([[np.mean(unit == grade) for grade in range(1, 6)] for unit in grades], axis=0)
    weight = sum(1 - (c - k) ** 2 / 16 for c in range(5) for k in range(5))
    chance = weight * (share * (1 - share)).sum() / 20
    assert found.value[1] == pytest.approx((1 - np.mean(apart) - chance) / (1 - chance))
