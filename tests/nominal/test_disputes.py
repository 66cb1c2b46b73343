"""Disputes between raters: a case by hand, and every table vs. a loop over items, questions and raters."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from kalos_core import InputError, LabelTable
from kalos_core.nominal import find_disputes
from kalos_core.reliability import NOT_ASSIGNED
from tests.nominal_tables import table_of, tables_with_gaps


def naive(table: LabelTable) -> tuple[dict[tuple[int, int], Any], list[float]]:
    """Return share, tie and answers of each dispute by item and question, and the agreement of every item."""
    found, agreement = {}, []
    for item in range(len(table.items)):
        alike = []
        for number, question in enumerate(table.questions):
            answers = [value for value in table.values(question)[item] if value != NOT_ASSIGNED]
            if len(answers) < 2:
                continue
            times = sorted(Counter(answers).values())
            alike.append(np.mean([a == b for a, b in combinations(answers, 2)]))
            if len(times) > 1:
                share = pytest.approx(times[-1] / len(answers))
                found[item, number] = share, times[-1] == times[-2], len(answers)
        agreement.append(float(np.mean(alike)) if alike else float("nan"))
    return found, agreement


@given(tables_with_gaps())
@settings(max_examples=60)
def test_it_is_what_a_loop_finds(table: LabelTable) -> None:
    result = find_disputes(table)
    expected, agreement = naive(table)
    keys = zip(result.item.tolist(), result.question.tolist(), strict=True)
    values = zip(result.share.tolist(), result.tied.tolist(), result.answers.tolist(), strict=True)
    assert dict(zip(keys, values, strict=True)) == expected
    np.testing.assert_allclose(result.agreement, agreement, atol=1e-12)
    for quorum in (0.5, 0.75, 1.0):
        below = {item for item, share in zip(result.item.tolist(), result.share, strict=True) if share < quorum}
        assert set(np.flatnonzero(result.below(quorum)).tolist()) == below


def test_the_least_agreed_item_comes_first() -> None:
    result = find_disputes(table_of({"1": ["a", "a", "a"], "2": ["a", "a", "a"], "3": "bba", "4": [None, "b", None]}))
    assert result.table.items[result.of()].tolist() == [1, 0]
    assert result.of("label").tolist() == result.of().tolist()
    assert result.tied.tolist() == [False, True]
    with pytest.raises(InputError, match="question: expected one of 'label', got 'colour'"):
        result.of("colour")
    with pytest.raises(InputError, match=r"quorum: expected a number above 0 and at most 1, got 1\.5"):
        result.below(1.5)
