"""Findings of a class, a rater and some images: by hand, in a plain loop, and vs. a search among these images."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kalos_core import InputError, variations
from kalos_core.variation import narrowed_variations
from tests.variation.scenes import random_table, two_raters


def test_by_hand():
    found = variations(two_raters())
    assert narrowed_variations(found, images=[1]).by_rater["ann"]["missing"] == 1
    assert sum(narrowed_variations(found, images=[1]).counts.values()) == 1
    dog = narrowed_variations(found, category="dog")
    assert {name: count for name, count in dog.counts.items() if count} == {"wrong_class": 1, "additional": 1}
    assert dog.own.tolist() == [0, 2]
    assert dog.rater_rates.counts["ann"]["missing"] == (1, 2)  # of the objects that bob calls dogs
    assert np.isnan(dog.rates["ann"]["additional"])
    alone = narrowed_variations(found, "dog", "ann")
    assert alone.rater_rates.counts == dog.rater_rates.counts  # a rate of one rater needs those of the others
    assert dog.rates["bob"]["additional"] == 50
    assert narrowed_variations(found, "bench").merged.whole_rater.tolist() == ["ann"]


@pytest.mark.parametrize("seed", range(2))
def test_some_images_are_searched_alone(seed):
    table = random_table(seed)
    images = np.random.default_rng(seed).permutation(len(table.images))[:5]
    part = narrowed_variations(variations(table), images=images)
    alone = variations(table.select(images=np.sort(images)))
    assert (part.counts, part.by_rater, part.rates) == (alone.counts(), alone.counts_by_rater(), alone.rates())
    assert part.confusions.to_pandas().values.tolist() == alone.confusions().to_pandas().values.tolist()
    np.testing.assert_array_equal(np.sort(part.merged.whole), np.sort(alone.merged.whole))
    assert part.boundary.counts.sum() == alone.counts()["correct"]
    assert part.boundary.median == pytest.approx(narrowed_variations(alone).boundary.median, nan_ok=True)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("category", "rater"), [("cat", None), (None, "r1"), ("dog", "r2")])
def test_a_class_and_a_rater_are_a_plain_loop(seed, category, rater):
    table = random_table(seed)
    found = variations(table)
    class_of = dict(zip(table.id.tolist(), table.categories[table.category].tolist(), strict=True))
    rows = [
        row
        for row in found.to_pandas().itertuples()
        if (category is None or category in {class_of[key] for key in [*row.ids_a, *row.ids_b]})
        and rater in (None, row.rater_a, row.rater_b)
    ]
    part = narrowed_variations(found, category, rater)
    assert part.found.to_pandas()[["image", "rater_a", "ids_a", "ids_b"]].values.tolist() == [
        [row.image, row.rater_a, row.ids_a, row.ids_b] for row in rows
    ]
    own = table.raters[table.rater[[category in (None, name) for name in class_of.values()]]].tolist()
    assert part.own.tolist() == [own.count(name) for name in table.raters]


@pytest.mark.parametrize(("part", "said"), [({"category": "owl"}, "category: expected"), ({"rater": "eve"}, "rater: ")])
def test_unknown_names(part, said):
    with pytest.raises(InputError, match=said):
        narrowed_variations(variations(two_raters()), **part)


def test_rates_do_not_depend_on_who_comes_first():
    table = random_table(0)
    turned = replace(
        table,
        rater=2 - table.rater,
        **{name: getattr(table, name)[::-1] for name in ("raters", "person", "session")},
        assigned=table.assigned[:, ::-1],
    )
    mine, theirs = (narrowed_variations(variations(given)).rates for given in (table, turned))
    for rater in table.raters:
        for name in ("missing", "additional"):
            assert mine[rater][name] == theirs[rater][name]
