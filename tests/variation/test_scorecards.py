"""Scorecards by hand, with each number equal to that of its own function."""

from __future__ import annotations

import math

import pytest

from kalos_core import agreement, intra_rater, rater_vitality, variations
from kalos_core.diagnostics import narrowed
from kalos_core.variation import Confused, narrowed_variations, rater_scorecards
from tests.variation.scenes import random_table, two_raters


def cards_of(table, **part):
    result = agreement(table, bootstrap=20)
    return rater_scorecards(narrowed(result, **part), narrowed_variations(variations(table), **part), None)


def test_by_hand():
    """Findings: merged (the bench), wrong class (cat and dog), and a dog that ann misses; ann has 2 labels, bob 4."""
    ann, bob = cards_of(two_raters())
    assert (ann.images, ann.labels, bob.images, bob.labels) == (2, 2, 2, 4)
    of_ann = {"merged": 50, "merges": 50, "wrong_class": 50, "missing": 25}  # of the 4 objects of bob, the other rater
    assert {name: rate for name, rate in ann.rates.items() if rate} == of_ann
    assert (ann.counts["missing"], ann.counts["merges"], bob.counts["splits"]) == ((1, 4), (1, 2), (2, 4))
    assert {name: rate for name, rate in bob.rates.items() if rate} == {
        "merged": 50,
        "splits": 50,
        "wrong_class": 25,
        "additional": 25,
    }
    assert (ann.merges, ann.splits, ann.merges_with, ann.splits_with) == (50, 0, {"bob": 1}, {})
    assert (bob.merges, bob.splits, bob.merges_with, bob.splits_with) == (0, 50, {}, {"ann": 1})
    assert (ann.confusions, bob.confusions) == ((Confused("cat", "dog", 1),), (Confused("dog", "cat", 1),))
    assert ann.examples == {"merged": ("whole",), "wrong_class": ("cat",), "missing": ("alone",)}
    assert bob.examples == {"merged": ("left", "right"), "wrong_class": ("dog",), "additional": ("alone",)}
    assert math.isnan(ann.vitality)
    assert math.isnan(ann.sessions)


@pytest.mark.parametrize("part", [{}, {"category": "cat"}, {"images": [1, 2, 3, 4, 5, 6, 7, 8]}])
def test_every_number_is_that_of_its_function(part):
    table = random_table(1)
    images = part.get("images", list(range(9)))
    chosen = table.select(images=images)
    result = agreement(chosen, bootstrap=20)
    whole = rater_vitality(result)
    for row, card in enumerate(cards_of(table, **part)):
        alone = narrowed(result, part.get("category"), card.rater)
        assert card.alpha == pytest.approx(alone.alpha)
        assert card.alpha_interval == pytest.approx(tuple(alone.alpha_interval))
        assert card.vitality == pytest.approx(whole.vitality[row])
        assert card.vitality_interval == pytest.approx(tuple(whole.vitality_interval[row]))
        assert card.images == len(images)
        own = chosen.rater == row
        if "category" in part:
            own &= chosen.categories[chosen.category] == part["category"]
        else:
            assert card.rates == variations(chosen).rates()[card.rater]
        assert card.labels == own.sum()


def test_the_clearest_examples_come_first():
    """Three raters: objects that both others miss come before those that one of them misses."""
    found = narrowed_variations(variations(random_table(3, images=40)))
    card = next(iter(rater_scorecards(None, found)))
    kinds = found.found.to_pandas()
    lacking = {
        key: sum(
            row.type in ("missing", "additional") and key in [*row.ids_a, *row.ids_b] for row in kinds.itertuples()
        )
        for key in found.found.annotations.id[found.found.annotations.rater == 0]
    }
    shown = [lacking[key] for key in card.examples["additional"]]
    assert shown == sorted(lacking.values(), reverse=True)[: len(shown)]
    assert len(shown) == 3


def test_sessions_are_of_a_person():
    from kalos_core import Annotations

    rows = [
        {"image": 1, "rater": rater, "category": category, "box": [0, 0, 9, 9]}
        for rater, category in (("a", "cat"), ("b", "cat"), ("c", "dog"))
    ]
    table = Annotations.from_rows(rows, person=["ann", "ann", "cid"], session=["1", "2", "1"])
    result = agreement(table)
    cards = rater_scorecards(narrowed(result), None, intra_rater(result))
    assert [card.sessions for card in cards][:2] == [1, 1]
    assert math.isnan(cards.cards[2].sessions)
    assert cards.to_pandas()["rater"].tolist() == ["a", "b", "c"]
