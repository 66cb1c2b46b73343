"""Sizes of units, and whether other kinds of solvers give different units."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from kalos_core import Annotations, agreement
from tests.correspondence.witnesses import table
from tests.strategies import tables


def boxes(*starts):
    return table(*((rater, "cat", x, 10) for rater, x in zip("abc", starts, strict=True)))


def crowd(raters, spread, images=4, objects=8, seed=0):
    """Return this many raters who annotate each object, off by a share of its size."""
    rng = np.random.default_rng(seed)
    rows = []
    for image, number, rater in product(range(images), range(objects), range(raters)):
        x, y = 100 * number + 40 * spread * rng.standard_normal(2)
        rows.append({"image": image, "rater": f"r{rater}", "category": "cat", "box": [x, y, 40, 40]})
    return Annotations.from_rows(rows)


def test_by_hand():
    # starts 0, 3, 6: IoU 7/13 of neighbours, 4/16 of the ends. One unit of three, not every two of which reach .5
    greedy, ahc = (agreement(boxes(0, 3, 6), solver=solver).unit_sizes for solver in ("greedy", "ahc"))
    assert (greedy.annotations_per_unit, greedy.raters_per_unit) == (3, 3)
    assert (greedy.open_share, greedy.cut_share) == (1, 0)
    # ahc: a pair and a single, which it separates from its neighbour
    assert (ahc.annotations_per_unit, ahc.raters_per_unit, ahc.open_share, ahc.cut_share) == (1.5, 3, 0, 0.5)
    together = agreement(boxes(0, 1, 2)).unit_sizes
    assert (together.open_share, together.cut_share, together.note) == (0, 0, "")


@settings(max_examples=15)
@given(tables(raters=5).filter(len))
def test_shares_are_those_of_a_loop(annotations):
    for solver in ("greedy", "shm", "ahc"):
        result = agreement(annotations, bootstrap=0, solver=solver)
        pairs = set(zip(result.pairs.left.tolist(), result.pairs.right.tolist(), strict=True))
        members = {unit: np.flatnonzero(result.unit_of == unit).tolist() for unit in set(result.unit_of.tolist())}
        partnered = [rows for rows in members.values() if len(rows) > 1]
        reach = pairs | {(b, a) for a, b in pairs}
        broken = [rows for rows in partnered if any((a, b) not in reach for a in rows for b in rows if a < b)]
        raters = {unit: set(annotations.rater[rows].tolist()) for unit, rows in members.items()}
        cut = [
            (a, b)
            for a, b in pairs
            if result.unit_of[a] != result.unit_of[b]
            and annotations.rater[a] not in raters[result.unit_of[b]]
            and annotations.rater[b] not in raters[result.unit_of[a]]
        ]
        sizes = result.unit_sizes
        if solver == "greedy" and len(annotations.raters) == 2:
            assert (sizes.open_share, sizes.cut_share, sizes.note) == (0, 0, "")
        assert sizes.open_share == pytest.approx(sum(map(len, broken)) / max(sum(map(len, partnered)), 1))
        assert sizes.cut_share == pytest.approx(len(cut) / max(len(pairs), 1))
        assert sizes.annotations_per_unit == pytest.approx(len(annotations) / len(members))


@pytest.mark.filterwarnings("ignore:.* reach beyond their image:kalos_core.KalosWarning")
@pytest.mark.parametrize(("spread", "apart"), [(0.01, False), (0.12, True)])
def test_with_53_raters_an_image_the_note_says_that_solvers_differ(spread, apart):
    results = {solver: agreement(crowd(53, spread), solver=solver, bootstrap=0) for solver in ("greedy", "shm", "ahc")}
    alphas = [result.alpha for result in results.values()]
    assert (max(alphas) - min(alphas) > 0.2) == apart
    assert [bool(result.unit_sizes.note) for result in results.values()] == [apart] * 3
    if apart:
        assert alphas == sorted(alphas, reverse=True)
        greedy, ahc = results["greedy"], results["ahc"]
        assert "of 53.0 raters on average" in repr(greedy)
        assert "a pair below the threshold. 'ahc'" in greedy.unit_sizes.note
        assert "'greedy' requires only one such pair, so it joins them" in ahc.unit_sizes.note
