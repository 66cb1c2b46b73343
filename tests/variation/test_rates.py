"""Rates per object: vs. planted differences, and vs. plain loops over findings."""

import numpy as np
import pytest
from scipy import stats

from kalos_core import Annotations, variations
from kalos_core.statements import statements
from kalos_core.variation import RATES, RaterRates, narrowed_variations, rater_rates
from kalos_core.variation.rates import ADDITIONAL, HABITS, MISSING, rows_counted
from tests.variation.scenes import random_table


def planted(raters: int) -> Annotations:
    """10 images of 7 bottles; r0 misses 17 of the 70, r1 merges 10 pairs of persons, the others see all."""
    rows = []
    for image in range(10):
        for rater in range(raters):
            about = {"image": image, "rater": f"r{rater}"}
            persons = [[0, 50, 8, 4]] if rater == 1 else [[0, 50, 4, 4], [4, 50, 4, 4]]
            rows += [{**about, "category": "person", "box": box} for box in persons]
            missed = 0 if rater else 2 if image < 7 else 1
            rows += [{**about, "category": "bottle", "box": [20 * at, 0, 9, 9]} for at in range(missed, 7)]
    return Annotations.from_rows(rows)


@pytest.mark.parametrize("raters", [3, 4, 7])
def test_a_planted_truth_is_found_however_many_raters_there_are(raters):
    found = variations(planted(raters), threshold=0.6)
    others = 53 if raters == 3 else 70  # with two others, both must have it, and r0 is one of them
    counts = rater_rates(found, found.annotations.categories[found.annotations.category] == "bottle").counts
    assert [counts[f"r{rater}"]["missing"] for rater in range(raters)] == [(17, 70)] + [(0, others)] * (raters - 1)
    assert counts == narrowed_variations(found, "bottle").rater_rates.counts
    of_all = rater_rates(found).counts
    assert of_all["r1"]["merges"] == (10, 80)
    assert [of_all[f"r{rater}"]["merges"][0] for rater in range(raters) if rater != 1] == [0] * (raters - 1)
    assert all(counts[name]["additional"][0] == 0 for name in counts)  # each bottle has at least two raters


def side_of(kind, others, ids):
    """Return whether a rater has the whole in a finding, or the parts."""
    sides = [(len(others), "merges"), (len(ids), "splits")]
    return next((name for count, name in sides if kind.startswith("merged") and count > 1), "")


def naive(found, rater):
    """Return count and total by `RATES`, by loops over the table of findings."""
    table = found.annotations
    rater_of = dict(zip(table.id.tolist(), table.raters[table.rater].tolist(), strict=True))
    towards = {key: {} for key in rater_of}  # annotation -> other rater -> (type, its partners, own side)
    for row in found.to_pandas().itertuples():
        for ids, others, other in ((row.ids_a, row.ids_b, row.rater_b), (row.ids_b, row.ids_a, row.rater_a)):
            for key in ids:
                towards[key][other] = ("additional" if not others else row.type, others, ids)
    result = {}
    own = [key for key in rater_of if rater_of[key] == rater and towards[key]]
    for name in RATES:
        if name == "missing":
            continue
        counted = 0
        for key in own:
            kinds = [
                name == kind
                or (
                    kind.startswith("merged")
                    and ((name == "merges" and len(others) > 1) or (name == "splits" and len(ids) > 1))
                )
                for kind, others, ids in towards[key].values()
            ]
            counted += all(kinds) if name == "additional" else 2 * sum(kinds) > len(kinds)
        result[name] = (counted, len(own))
    missed = of = 0
    left = {key for key in rater_of if rater_of[key] != rater}
    while left:
        group, waiting = set(), [left.pop()]
        while waiting:
            key = waiting.pop()
            group.add(key)
            for other, (_, others, ids) in towards[key].items():
                if other != rater and len(others) == len(ids) == 1:
                    waiting += [entry for entry in others if entry not in group]
        left -= group
        drawn = {rater_of[key] for key in group}
        known = drawn | {other for key in group for other in towards[key] if other != rater}
        seen = [towards[key][rater][0] for key in group if rater in towards[key]]
        if seen and 2 * len(drawn) > len(known):
            of += 1
            missed += all(kind == "additional" for kind in seen)
    return result | {"missing": (missed, of)}


def many_raters():
    """Return 9 loose annotations of each of 30 objects: some objects fall apart without one of their raters."""
    rng = np.random.default_rng(0)
    rows = []
    for image, rater in np.argwhere(rng.random((30, 9)) < 0.8).tolist():
        left, top = (image % 5 + rng.normal(30, 4, 2)).tolist()
        rows.append({"image": image, "rater": f"r{rater}", "category": "cat", "box": [left, top, 20, 20]})
    return Annotations.from_rows(rows, assigned="all")


@pytest.mark.parametrize("seed", [*range(6), None])
def test_rates_are_plain_loops(seed):
    found = variations(many_raters() if seed is None else random_table(seed))
    assert seed is not None or 0.1 < found.by_others.is_firm.mean() < 0.9
    counts = found.rater_rates.counts
    for number, rater in enumerate(found.annotations.raters.tolist()):
        assert counts[rater] == naive(found, rater)
        rows = rows_counted(found, number)
        assert {name: len(rows[name]) for name in RATES} == {name: counts[rater][name][0] for name in RATES}
        others = found.annotations.rater[rows["missing"]]
        assert not np.isin(number, others)


def test_shards_count_the_same(tmp_path):
    from kalos_core.distributed import open_shards, write_shards

    table = random_table(2)
    write_shards(table, tmp_path / "shards", 3)
    shards = open_shards(tmp_path / "shards")
    assert variations(shards).rater_rates.counts == variations(table).rater_rates.counts


def test_a_rater_of_other_images_has_no_rates():
    given = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in (("ann", 0), ("bob", 50))]
    about = {"raters": ["ann", "bob", "cid"], "images": [1, 2], "assigned": {1: ["ann", "bob"], 2: ["cid"]}}
    counts = rater_rates(variations(Annotations.from_rows(given, **about))).counts
    assert set(counts["cid"].values()) == {(0, 0)}
    assert counts["ann"]["missing"] == (1, 1)


def test_without_objects_there_are_no_habits():
    names = np.array(["ann", "bob", "cid"], object)
    assert RaterRates(names, *np.zeros((2, 3, len(RATES)), int)).habits() == []


def test_habits_are_what_fisher_and_benjamini_and_hochberg_call_clear():
    rng = np.random.default_rng(5)
    of = rng.integers(30, 90, (4, len(RATES)))
    count = rng.binomial(of, 0.05)
    count[1, RATES.index("missing")], count[2, RATES.index("merges")] = 24, 15
    found = RaterRates(np.array(list("abcd"), object), count, of)
    p = {}
    for (rater, name), column in zip(np.ndindex(4, len(HABITS)), [*map(RATES.index, HABITS)] * 4, strict=True):
        own, others = [count[rater, column], of[rater, column]], [count[:, column].sum(), of[:, column].sum()]
        rest = np.subtract(others, own)
        table = [[own[0], own[1] - own[0]], [rest[0], rest[1] - rest[0]]]
        p["abcd"[rater], list(HABITS)[name]] = stats.fisher_exact(table, alternative="greater").pvalue
    adjusted = dict(zip(p, stats.false_discovery_control(list(p.values())), strict=True))
    clear = {of for of, value in adjusted.items() if value <= 0.05}
    assert {(habit.rater, habit.rate) for habit in found.habits()} == clear >= {("b", "missing"), ("c", "merges")}


@pytest.mark.parametrize("raters", [3, 4])
def test_an_overview_names_both_planted_habits(raters):
    found = variations(planted(raters), threshold=0.6)
    said = [said for said in statements(None, narrowed_variations(found)) if said.leads_to == "Raters"]
    kinds = [dict(of.arguments) for of in said]
    assert kinds == [{"rater": "r0", "kind": "missing"}, {"rater": "r1", "kind": "merges"}]
    every, others = found.rater_rates.of[0, MISSING], found.rater_rates.of[1:, MISSING].sum()
    misses, merges = (of.text for of in said)
    assert misses == f"r0 misses 17 of {every} objects, mostly bottle; the others 0 of {others}."
    others = 73 + 90 * (raters - 2)
    assert merges == f"r1 draws several objects as one in 10 of 80 own labels, mostly person; the others 0 of {others}."


def test_of_two_raters_a_habit_is_said_once():
    count, of = np.zeros((2, 2, len(RATES)), int)
    of += 70
    count[0, MISSING] = count[1, ADDITIONAL] = 17
    assert [habit.text("bottle") for habit in RaterRates(np.array(["ann", "bob"], object), count, of).habits()] == [
        "ann misses 17 of 70 objects, mostly bottle; the others 0 of 70"
    ]
