"""Reference solvers as in the paper, one annotation at a time; and tables for testing them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import shapely

from kalos_core import Annotations
from kalos_core.correspondence.order import rank_contents
from kalos_core.pairs import Pairs

Candidate = tuple[float, int, int]  # cost, row, row


def in_strict_order(annotations: Annotations, pairs: Pairs, cost: str) -> list[Candidate]:
    """Return candidates by cost, similarity, and then geometry, class, rater and id of both annotations."""

    def rank(row):
        if pairs.kind == "box":
            shape = tuple(annotations.shapes["box"].corners[row])
        else:
            geometry = annotations.shapes["polygon"].geometries[row]
            shape = (*geometry.bounds, geometry.area, shapely.to_wkb(geometry.normalize()))
        category, rater = annotations.categories[annotations.category[row]], annotations.raters[annotations.rater[row]]
        return (*shape, category, rater, annotations.id[row])

    candidates = []
    for a, b, similarity in zip(pairs.left.tolist(), pairs.right.tolist(), pairs.similarity.tolist(), strict=True):
        same = annotations.category[a] == annotations.category[b]
        price = -similarity - 1 if same and cost == "soft" else -similarity
        candidates.append((price, -similarity, *sorted((rank(a), rank(b))), a, b))
    return [(line[0], *line[-2:]) for line in sorted(candidates)]


def as_ids(annotations: Annotations, members: Iterable[Iterable[int]]) -> set[frozenset]:
    """Convert units from rows to ids."""
    return {frozenset(annotations.id[sorted(rows)].tolist()) for rows in members}


def greedy_one_by_one(annotations: Annotations, pairs: Pairs, cost: str) -> set[frozenset]:
    """Process the list in order, joining two clusters that share no rater."""
    members = {row: {row} for row in range(len(annotations))}
    cluster = {row: row for row in members}
    for _, a, b in in_strict_order(annotations, pairs, cost):
        one, two = cluster[a], cluster[b]
        raters = [{annotations.rater[row] for row in members[place]} for place in (one, two)]
        if one != two and raters[0].isdisjoint(raters[1]):
            for row in members[two]:
                cluster[row] = one
            members[one] |= members.pop(two)
    return as_ids(annotations, members.values())


def ahc_one_by_one(annotations: Annotations, pairs: Pairs, cost: str) -> set[frozenset]:
    """Join the two clusters whose worst cross pair is first, until no two have all cross pairs."""
    place = {frozenset(line[1:]): k for k, line in enumerate(in_strict_order(annotations, pairs, cost))}
    clusters = [(row,) for row in range(len(annotations))]
    while True:
        joins = []
        for k, one in enumerate(clusters):
            for other in clusters[:k]:
                across = [place.get(frozenset((a, b))) for a in one for b in other]
                if None not in across:
                    joins.append((max(across), one, other))
        if not joins:
            return as_ids(annotations, clusters)
        _, one, other = min(joins)
        clusters = [cluster for cluster in clusters if cluster not in (one, other)] + [one + other]


def best_value(pairs: list[Candidate]) -> tuple[int, Fraction]:
    """Return minus the maximum number of disjoint pairs, and their minimum cost, without rounding."""
    of_first: dict[int, list[tuple[int, Fraction]]] = {}
    for price, a, b in pairs:
        of_first.setdefault(a, []).append((b, Fraction(price)))
    reached: dict[frozenset[int], tuple[int, Fraction]] = {frozenset(): (0, Fraction(0))}  # used -> best
    for choices in of_first.values():
        before = dict(reached)
        for taken, (count, total) in before.items():
            for b, price in choices:
                if b not in taken:
                    found, with_b = (count - 1, total + price), taken | {b}
                    reached[with_b] = min(reached.get(with_b, found), found)
    return min(reached.values())


def first_best(pairs: list[Candidate]) -> list[Candidate]:
    """Return the best of all assignments: most pairs, lowest cost, first in the given order."""
    best, chosen, open_ = best_value(pairs), [], pairs
    while open_:
        line, *rest = open_
        free = [other for other in rest if line[1] not in other[1:] and line[2] not in other[1:]]
        count, total = best_value(free)
        if (count - 1, total + Fraction(line[0])) == best:  # some optimal assignment contains it
            chosen.append(line)
            best, open_ = (count, total), free
        else:
            open_ = rest
    return chosen


def by_name(annotations: Annotations, *_: object) -> list[str]:
    """Return all raters, in the order of the peer."""
    return sorted(annotations.raters)


def by_overlap(annotations: Annotations, pairs: Pairs, cost: str, image: int) -> list[str]:
    """Return the raters of an image by descending sum of similarities, ties by what they annotated."""
    names, inside = annotations.raters[annotations.rater], annotations.image == image
    sums = dict.fromkeys(sorted(set(names[inside])), 0.0)
    similarity = {(a, b): s for a, b, s in zip(pairs.left, pairs.right, pairs.similarity.tolist(), strict=True)}
    for _, a, b in in_strict_order(annotations, pairs, cost):
        for row in (a, b) if inside[a] else ():
            sums[names[row]] += similarity[a, b]
    tied = [name for name, value in sums.items() if value and list(sums.values()).count(value) > 1]
    rows = np.flatnonzero(inside & np.isin(names, tied))
    content = dict.fromkeys(sums, 0)  # any number that identifies what they annotated, but not the rater
    numbers = rank_contents(annotations, rows, pairs.kind).tolist() if len(rows) else []
    for row, number in zip(rows, numbers, strict=True):
        content[names[row]] += number
    return sorted(sums, key=lambda name: (-sums[name], content[name] % (1 << 64), name))


def shm_one_by_one(annotations: Annotations, pairs: Pairs, cost: str, turns: Callable = by_overlap) -> set[frozenset]:
    """Match one rater after another with the free units of every earlier one, trying all assignments."""
    candidates = in_strict_order(annotations, pairs, cost)
    names = annotations.raters[annotations.rater]
    unit_of: dict[int, set[int]] = {row: {row} for row in range(len(annotations))}
    for image in range(len(annotations.images)):
        inside = np.flatnonzero(annotations.image == image).tolist()
        order = turns(annotations, pairs, cost, image)
        for new, placed in ((new, placed) for k, new in enumerate(order) for placed in order[:k]):
            own = {row for row in inside if names[row] == new and len(unit_of[row]) == 1}
            before = [row for row in inside if names[row] == placed]
            free = {row for row in before if new not in {names[other] for other in unit_of[row]}}
            open_ = [(c, *sorted((a, b), key=own.__contains__)) for c, a, b in candidates]
            for _, old, mark in first_best([(c, a, b) for c, a, b in open_ if a in free and b in own]):
                unit_of[old].add(mark)
                unit_of[mark] = unit_of[old]
    return as_ids(annotations, unit_of.values())


def best_cliques(annotations: Annotations, pairs: Pairs, cost: str) -> float:
    """Return the minimum sum of costs over all partitions in which every two annotations of a unit are a candidate."""
    price = {frozenset((a, b)): c for c, a, b in in_strict_order(annotations, pairs, cost)}

    def least(row: int, cliques: list[list[int]]) -> float:
        if row == len(annotations):
            return 0.0
        best = least(row + 1, [*cliques, [row]])
        for k, clique in enumerate(cliques):
            added = [price.get(frozenset((row, other))) for other in clique]
            if None not in added:
                best = min(best, sum(added) + least(row + 1, [*cliques[:k], [*clique, row], *cliques[k + 1 :]]))
        return best

    return least(0, [])


def total_cost(annotations: Annotations, pairs: Pairs, cost: str, unit_of: np.ndarray) -> float:
    """Return the sum of costs over all pairs within units."""
    return sum(c for c, a, b in in_strict_order(annotations, pairs, cost) if unit_of[a] == unit_of[b])


def by_peer(match: Callable, annotations: Annotations, pairs: Pairs, cost: str) -> set[frozenset]:
    """Return the units of a solver of the public `kalos` package, in one image."""
    # raters as whole numbers: the peer iterates over a set of them, which is then in ascending order
    marks = [
        {"id": int(key), "rater_id": int(rater), "category_id": int(category)}
        for key, rater, category in zip(annotations.id, annotations.rater, annotations.category, strict=True)
    ]
    raters = range(len(annotations.raters))
    scores = {
        tuple(sorted((marks[a]["id"], marks[b]["id"]))): (similarity, marks[a], marks[b])
        for a, b, similarity in zip(pairs.left, pairs.right, pairs.similarity.tolist(), strict=True)
    }

    def peer_cost(similarity, one, other):
        return -similarity - (cost == "soft" and one["category_id"] == other["category_id"] if one else 0)

    of_raters = {rater: [mark for mark in marks if mark["rater_id"] == rater] for rater in raters}
    image = {"annotations_by_rater": of_raters, "rater_list": list(raters)}
    return set(map(frozenset, match(image, scores, peer_cost, pairs.floor)))


def alike(annotations: Annotations, unit_of: np.ndarray) -> Counter:
    """Return the units, with annotations identified by everything except their ids."""
    images, raters = annotations.images[annotations.image], annotations.raters[annotations.rater]
    classes, corners = annotations.categories[annotations.category], annotations.shapes["box"].corners.tolist()
    marks = list(zip(images, raters, classes, map(tuple, corners), strict=True))
    return Counter(tuple(sorted(marks[row] for row in np.flatnonzero(unit_of == unit))) for unit in np.unique(unit_of))


def table(*marks: tuple[str, str, float, float]) -> Annotations:
    """Return boxes of height 10 in one image, given as rater, class, x, width."""
    return Annotations.from_rows(
        [{"image": 1, "rater": rater, "category": name, "box": [x, 0, width, 10]} for rater, name, x, width in marks]
    )


def crowd(raters: int, marks: int, seed: int, *, images: int = 1, step: float | None = 1.0) -> Annotations:
    """Return every rater's copy of the same annotations, slightly moved; a step gives exact ties, None gives none."""
    rng = np.random.default_rng(seed)

    def moved(place: float) -> float:
        shift = rng.normal(0, 2)
        return place + (shift if step is None else step * round(shift / step))

    places = rng.integers(20, 20 + 6 * marks, (images, marks, 2))
    rows = []
    for rater, image, number in product(range(raters), range(images), range(marks)):
        x, y = places[image, number]
        if rng.random() < 0.9:
            category, box = "cat" if rng.random() < 0.8 else "dog", [moved(x), moved(y), moved(20), moved(20)]
            rows.append({"image": image, "rater": f"r{rater:03}", "category": category, "box": box})
    return Annotations.from_rows(rows, assigned="all")


Solve = Callable[[Annotations, Pairs, str], set[frozenset]]
ONE_BY_ONE: dict[str, Solve] = {
    "greedy": greedy_one_by_one,
    "shm": shm_one_by_one,
    "shm_by_name": partial(shm_one_by_one, turns=by_name),
    "ahc": ahc_one_by_one,
}
