"""Where raters differ: a case by hand, and every table against a loop over items, questions and raters."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import InputError, LabelTable, find_disputes
from kalos_core.reliability import NOT_ASSIGNED

GROUPS = {"place": ["indoor", "outdoor", "unclear"]}
CONCEPTS = ["indoor", "outdoor", "unclear", "snow", "dog"]


@st.composite
def tables(draw: st.DrawFn) -> LabelTable:
    """Up to four raters on up to four items; some answers break the group, and some items nobody answered."""
    pairs = draw(st.sets(st.tuples(st.integers(0, 3), st.sampled_from("abcd")), min_size=1))
    chosen = st.lists(st.sampled_from(CONCEPTS), unique=True, max_size=3)
    rows = [{"item": item, "rater": rater, "label": draw(chosen)} for item, rater in sorted(pairs)]
    return LabelTable.from_rows(rows, groups=GROUPS, items=range(4), concepts=CONCEPTS)


def naive(table: LabelTable) -> tuple[dict[tuple[int, str], tuple[float, bool, int]], list[float]]:
    """Disputes by item and question, and the agreement of every item."""
    found, agreement = {}, []
    for item in range(len(table.items)):
        alike = []
        for question in table.questions:
            given_ = [value for value in table.values(question)[item] if value != NOT_ASSIGNED]
            if len(given_) < 2:
                continue
            times = Counter(given_)
            lead = max(times.values())
            alike.append(np.mean([a == b for a, b in combinations(given_, 2)]))
            if len(times) > 1:
                leaders = sum(count == lead for count in times.values())
                found[item, question] = lead / len(given_), leaders > 1, len(given_)
        agreement.append(float(np.mean(alike)) if alike else float("nan"))
    return found, agreement


@given(tables())
@settings(max_examples=60)
def test_it_is_what_a_loop_finds(table: LabelTable) -> None:
    result = find_disputes(table)
    expected, agreement = naive(table)
    rows = zip(result.item.tolist(), result.question.tolist(), strict=True)
    own = {
        (item, table.questions[question]): (share, tied, answers)
        for (item, question), share, tied, answers in zip(
            rows, result.share.tolist(), result.tied.tolist(), result.answers.tolist(), strict=True
        )
    }
    assert own == {key: (pytest.approx(share), tied, count) for key, (share, tied, count) in expected.items()}
    np.testing.assert_allclose(result.agreement, agreement, atol=1e-12)
    for quorum in (0.5, 0.75, 1.0):
        below = {item for (item, _), (share, _, _) in expected.items() if share < quorum}
        assert set(np.flatnonzero(result.below(quorum)).tolist()) == below


def test_the_least_agreed_item_comes_first() -> None:
    rows = [
        {"item": item, "rater": str(rater), "label": label}
        for item, labels in (("few", "aab"), ("half", "aabb"), ("none", "aaa"))
        for rater, label in enumerate(labels)
    ]
    result = find_disputes(LabelTable.from_rows(rows))
    assert result.table.items[result.of()].tolist() == ["half", "few"]
    assert result.of("label").tolist() == result.of().tolist()
    assert result.tied.tolist() == [False, True]
    with pytest.raises(InputError, match="question: expected one of 'label', got 'colour'"):
        result.of("colour")
    with pytest.raises(InputError, match=r"quorum: expected a share above 0 and at most 1, got 1\.5"):
        result.below(1.5)
