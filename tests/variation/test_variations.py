"""Variation types vs. worked cases, a plain loop, and the values of a real data set."""

import functools
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from kalos_core import SIMILARITIES, Annotations, InputError, variations
from kalos_core.pairs import compute_pairs
from kalos_core.similarity import Similarity
from kalos_core.variation import VARIATION_TYPES
from tests.strategies import SIMILARITIES_OF_TABLES, reordered, tables


def table(*marks, **more):
    """Return boxes of height 10 given as rater, class, x, width; in image 1. Raters in the order ann, bob, cid."""
    rows = [{"image": 1, "rater": rater, "category": name, "box": [x, 0, w, 10]} for rater, name, x, w in marks]
    return Annotations.from_rows(rows, **{"images": [1], "raters": ["ann", "bob"], "assigned": "all"} | more)


def outlined(*marks):
    """Return polygons of rectangles given as rater, class, x, y, width, height; in image 1."""
    return Annotations.from_rows(
        {"image": 1, "rater": rater, "category": name, "polygon": [[x, y, x + w, y, x + w, y + h, x, y + h]]}
        for rater, name, x, y, w, h in marks
    )


def found(annotations, *arguments, **more):
    """Return type, rows of side a, rows of side b."""
    result = variations(annotations, *arguments, **more)
    return list(zip(result.type.tolist(), result.rows_a, result.rows_b, strict=True))


# ---- by hand

CAT = ("ann", "cat", 0, 20)


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([("bob", "cat", 0, 18)], [("correct", (0,), (1,))]),
        ([("bob", "dog", 0, 18)], [("wrong_class", (0,), (1,))]),
        #   |--------20--------|    either half alone covers .45, the box around both all of it
        #   |---9---|  |---9---|
        ([("bob", "cat", 0, 9), ("bob", "cat", 11, 9)], [("merged", (0,), (1, 2))]),
        ([("bob", "dog", 0, 9), ("bob", "dog", 11, 9)], [("merged_wrong_class", (0,), (1, 2))]),
        (
            [("bob", "dog", 0, 9), ("bob", "cat", 11, 9)],
            [("missing", (0,), ()), ("additional", (), (1,)), ("additional", (), (2,))],
        ),
        #   |------20------|             the third cat would widen the box, but does not overlap ann's
        #   |--10--||--9--|   |-2-|
        (
            [("bob", "cat", 0, 9), ("bob", "cat", 11, 9), ("bob", "cat", 22, 2)],
            [("merged", (0,), (1, 2)), ("additional", (), (3,))],
        ),
        #   |---------20---------|    bob's outer two enclose everything, the third lies between them
        #   |-6-|  |--4--|   |-6-|
        ([("bob", "cat", 0, 6), ("bob", "cat", 14, 6), ("bob", "cat", 8, 4)], [("merged", (0,), (1, 2, 3))]),
        #   bob's first covers .9, his second .95: ann has one annotation only, so the first is additional
        ([("bob", "cat", 0, 18), ("bob", "cat", 0, 19)], [("correct", (0,), (2,)), ("additional", (), (1,))]),
        #   the same class goes before a better overlap of another, and a merge before a wrong class
        ([("bob", "dog", 0, 20), ("bob", "cat", 0, 12)], [("correct", (0,), (2,)), ("additional", (), (1,))]),
        (
            [("bob", "cat", 0, 9), ("bob", "cat", 11, 9), ("bob", "dog", 0, 20)],
            [("merged", (0,), (1, 2)), ("additional", (), (3,))],
        ),
    ],
)
def test_types_next_to_a_cat_of_ann(marks, expected):
    assert found(table(CAT, *marks)) == expected


def test_the_first_rater_of_the_vocabulary_is_the_reference():
    #   only ann annotated: bob misses it; only bob annotated: it is additional
    assert found(table(CAT)) == [("missing", (0,), ())]
    assert found(table(("bob", "cat", 0, 20))) == [("additional", (), (0,))]
    assert found(table(CAT, raters=["bob", "ann"])) == [("additional", (), (0,))]
    halves = [("ann", "cat", 0, 9), ("ann", "cat", 11, 9), ("bob", "cat", 0, 20)]
    assert found(table(*halves)) == [("merged", (0, 1), (2,))]


@pytest.mark.parametrize(("most", "merged"), [(1, 0), (2, 2), (3, 3), (4, 4), (9, 5)])
def test_a_merge_grows_up_to_its_limit(most, merged):
    #   one of 50, drawn as five of 10: two cover .4, three .6, ...
    parts = [("bob", "cat", 10 * place, 0, 10, 9) for place in range(5)]
    result = variations(outlined(("ann", "cat", 0, 0, 50, 9), *parts), "polygon_iou", 0.4, max_merge=most)
    assert [len(parts) for parts in result.rows_b[result.type == "merged"]] == [merged] * bool(merged)


def test_each_two_raters_are_compared():
    marks = [CAT, ("bob", "cat", 0, 20), ("cid", "dog", 0, 20)]
    result = variations(table(*marks, raters=["ann", "bob", "cid"]))
    rows = list(zip(result.rater_a.tolist(), result.rater_b.tolist(), result.type.tolist(), strict=True))
    assert rows == [(0, 1, "correct"), (0, 2, "wrong_class"), (1, 2, "wrong_class")]


def test_who_was_not_assigned_misses_nothing():
    assert found(table(CAT, assigned={1: ["ann"]})) == []
    assert found(table(CAT, categories=["cat", "dog"], assigned_categories={"bob": ["dog"]})) == []


def test_nothing_drawn_nothing_found():
    result = variations(table())
    assert len(result) == 0
    assert result.counts() == dict.fromkeys(VARIATION_TYPES, 0)
    assert np.isnan(result.identical_share)
    assert len(result.to_pandas()) == len(result.confusions().to_pandas()) == 0
    assert len(result.of_annotations().type) == 0


def test_similarity_of_a_finding():
    marks = [CAT, ("bob", "cat", 0, 9), ("bob", "cat", 10, 9), ("ann", "dog", 90, 10), ("bob", "emu", 90, 8)]
    result = variations(table(*marks))
    assert dict(zip(result.type.tolist(), result.similarity.tolist(), strict=True)) == {
        "merged": 0.95,
        "wrong_class": 0.8,
    }
    assert np.isnan(variations(table(CAT)).similarity).all()


def test_polygons_merge_by_their_union_and_boxes_by_the_box_around():
    #   ann's L of three squares; bob draws its lower bar and its upper square
    corner = [[0, 0, 20, 0, 20, 10, 10, 10, 10, 20, 0, 20]]
    parts = [[x, y, x + w, y, x + w, y + 10, x, y + 10] for x, y, w in ((0, 0, 8), (10, 0, 10), (0, 10, 10))]
    shapes = [("ann", corner), *(("bob", [part]) for part in parts)]
    rows = [{"image": 1, "rater": rater, "category": "cat", "polygon": shape} for rater, shape in shapes]
    result = variations(Annotations.from_rows(rows), "polygon_iou", 0.75)
    assert result.type.tolist() == ["merged"]
    assert sorted(result.rows_b[0]) == [1, 2, 3]
    assert result.similarity[0] == pytest.approx(280 / 300)


# ---- plain loop, written from the definition


def same_similarity(name, annotations, single, members):
    """Return the similarity of one annotation and a union, bit-identical to the library, so that ties are equal."""
    column = annotations.shapes[SIMILARITIES[name].kind]
    other = column.union(np.array([members])) if len(members) > 1 else column.take(np.array(members))
    return float(SIMILARITIES[name].compare(other, np.array([0]), column, np.array([single]), 0.0)[0])


class PlainLoop:
    """Variation types of two raters in one image, one candidate at a time."""

    def __init__(self, annotations, similarity, threshold, max_merge):
        self.a, self.kind = annotations, SIMILARITIES[similarity].kind
        self.threshold, self.max_merge = threshold, max_merge
        self.similarity = functools.partial(same_similarity, similarity, annotations)

    def name(self, row):
        return self.a.categories[self.a.category[row]]

    def key(self, row):
        if self.kind == "box":
            shape = tuple(self.a.shapes["box"].corners[row])
        else:
            geometry = self.a.shapes["polygon"].geometries[row]
            shape = (*geometry.bounds, geometry.area, shapely.to_wkb(geometry.normalize()))
        return (*shape, self.name(row), self.a.raters[self.a.rater[row]], self.a.id[row])

    def touch(self, one, other):
        """Return whether the boxes around two annotations overlap."""
        around = [shapely.box(*self.a.shapes[self.kind].bounds()[row]) for row in (one, other)]
        return around[0].intersection(around[1]).area > 0

    def ones(self, left, right, same):
        pairs = [(x, y) for x in left for y in right if (self.name(x) == self.name(y)) == same]
        candidates = [(-self.similarity(x, (y,)), *sorted((self.key(x), self.key(y))), x, (y,)) for x, y in pairs]
        return [entry for entry in candidates if -entry[0] >= self.threshold]

    def merges(self, left, right, same):
        candidates = []
        for singles, others in ((left, right), (right, left)):
            for single in singles:
                near = [row for row in others if self.similarity(single, (row,)) > 0 and self.touch(single, row)]
                near = [row for row in near if (self.name(row) == self.name(single)) == same]
                for name in {self.name(row) for row in near}:
                    parts = [row for row in near if self.name(row) == name]
                    for members in self.unions(single, parts):
                        value = self.similarity(single, members)
                        if value >= self.threshold:
                            keys = sorted(map(self.key, members), reverse=True)
                            candidates.append((-value, -len(members), self.key(single), keys, single, members))
        return candidates

    def unions(self, single, parts):
        """Yield every couple, and extensions of the best couple of each part."""
        couples = list(combinations(parts, 2)) if self.max_merge >= 2 else []
        yield from couples
        for part in parts:
            own = [couple for couple in couples if part in couple]
            if own:
                partner = {couple: next(row for row in couple if row != part) for couple in own}
                yield from self.grow(
                    single, min(own, key=lambda c: (-self.similarity(single, c), self.key(partner[c]))), parts
                )

    def grow(self, single, members, parts):
        while len(members) < self.max_merge:
            value = self.similarity(single, members)
            more = [
                (-self.similarity(single, (*members, row)), self.key(row), row) for row in parts if row not in members
            ]
            if not more or -min(more)[0] < value:
                return
            members = (*members, min(more)[2])
            yield members

    def findings(self, left, right):
        """Return findings between the annotations of two raters: (type, ids of a, ids of b)."""
        steps = [("correct", self.ones, True), ("merged", self.merges, True)]
        steps += [("wrong_class", self.ones, False), ("merged_wrong_class", self.merges, False)]
        free, mine = {*left, *right}, set(left)
        for kind, candidates, same in steps:
            for *_, single, members in sorted(candidates(*(sorted(free & {*side}) for side in (left, right)), same)):
                if {single, *members} <= free:
                    free -= {single, *members}
                    sides = ((single,), members) if single in mine else (members, (single,))
                    yield (kind, *(frozenset(self.a.id[list(side)].tolist()) for side in sides))
        for row in free:
            alone = frozenset([int(self.a.id[row])])
            yield ("missing", alone, frozenset()) if row in mine else ("additional", frozenset(), alone)


def plain_loop(annotations, similarity, threshold, max_merge):
    loop = PlainLoop(annotations, similarity, threshold, max_merge)
    limits = annotations.assigned_categories
    everything = []
    for image in range(len(annotations.images)):
        for a, b in combinations(range(len(annotations.raters)), 2):
            if not annotations.assigned[image, [a, b]].all():
                continue
            sides = []
            for own, other in ((a, b), (b, a)):
                rows = np.flatnonzero((annotations.image == image) & (annotations.rater == own))
                if limits is not None:
                    rows = rows[limits[other, annotations.category[rows]]]
                sides.append(rows.tolist())
            everything += [(image, a, b, *entry) for entry in loop.findings(*sides)]
    return sorted(everything, key=str)


def as_loop(result):
    ids = result.annotations.id
    columns = result.image, result.rater_a, result.rater_b, result.type, result.rows_a, result.rows_b
    rows = [
        (int(image), int(a), int(b), str(kind), *(frozenset(ids[list(side)].tolist()) for side in sides))
        for image, a, b, kind, *sides in zip(*columns, strict=True)
    ]
    return sorted(rows, key=str)


@pytest.mark.parametrize("similarity", SIMILARITIES_OF_TABLES)
@given(
    tables(images=2, raters=3, categories=2, marks=14, limits=True),
    st.sampled_from([0.2, 0.35, 0.5, 0.75]),
    st.sampled_from([4, 2]),
)
def test_array_steps_equal_the_plain_loop(similarity, annotations, threshold, most):
    for max_merge in (1, most):
        ours = variations(annotations, similarity, threshold, max_merge)
        assert as_loop(ours) == plain_loop(annotations, similarity, threshold, max_merge)
    assert as_loop(variations(annotations, similarity, threshold, most, pairs=ours.pairs)) == as_loop(ours)
    types = [VARIATION_TYPES.index(name) for name in ours.type]
    columns = ours.image, ours.rater_a, ours.rater_b, types, -np.nan_to_num(ours.similarity)
    order = list(zip(*columns, strict=True))
    assert order == sorted(order)


def crowded(seed, parts=6):
    """Return objects that one rater splits into parts, some of another class: many merges, no ties."""
    rng = np.random.default_rng(seed)
    marks = []
    for _ in range(3):
        x, y, w, h = *rng.random(2) * 40, *(rng.random(2) * 20 + 20)
        first, second = map(str, rng.permutation(["ann", "bob"]))
        marks.append((first, "cat", x, y, w, h))
        for _ in range(parts):
            (u, v), (a, b) = rng.random(2) * 0.6, rng.random(2) * 0.2 + 0.3
            marks.append((second, str(rng.choice(["cat", "cat", "dog"])), x + u * w, y + v * h, w * a, h * b))
    return outlined(*marks)


@pytest.mark.parametrize("similarity", ["box_iou", "polygon_iou"])
def test_crowded_positions_equal_the_plain_loop_in_any_order(similarity):
    for seed, max_merge in ((0, 2), (1, 3), (2, 5)):
        annotations = crowded(seed)
        ours = variations(annotations, similarity, 0.3, max_merge)
        assert as_loop(ours) == plain_loop(annotations, similarity, 0.3, max_merge)
        assert by_name(ours) == by_name(variations(reordered(annotations, seed + 1), similarity, 0.3, max_merge))


# ---- laws


def by_name(result):
    """Return findings without any order: image, raters and ids by name, pairs of raters in alphabetical order."""
    turned = {"missing": "additional", "additional": "missing"}
    entries = set()
    for row in result.to_pandas().itertuples():
        sides = [(row.rater_a, frozenset(row.ids_a)), (row.rater_b, frozenset(row.ids_b))]
        kind = row.type
        if row.rater_a > row.rater_b:
            sides, kind = sides[::-1], turned.get(kind, kind)
        entries.add((row.image, *sides, kind, None if np.isnan(row.similarity) else row.similarity))
    return entries


some_similarity = st.sampled_from(SIMILARITIES_OF_TABLES)


@given(some_similarity, tables(limits=True), st.integers(0, 999), st.sampled_from([0.2, 0.5]))
def test_the_same_findings_in_any_order(similarity, annotations, seed, threshold):
    one, two = (variations(each, similarity, threshold) for each in (annotations, reordered(annotations, seed)))
    assert by_name(one) == by_name(two)


@given(some_similarity, tables(limits=True), st.sampled_from([1, 2, 4]))
def test_every_annotation_is_in_exactly_one_finding_of_each_pair_it_is_assigned_to(similarity, annotations, max_merge):
    result = variations(annotations, similarity, 0.25, max_merge)
    limits = annotations.assigned_categories
    seen = Counter()
    for a, b, rows_a, rows_b in zip(result.rater_a, result.rater_b, result.rows_a, result.rows_b, strict=True):
        assert a < b
        for own, other, rows in ((a, b, rows_a), (b, a, rows_b)):
            assert (annotations.rater[list(rows)] == own).all()
            seen.update((row, int(other)) for row in rows)
    assert seen == {
        (row, other): 1
        for row in range(len(annotations))
        for other in range(len(annotations.raters))
        if other != annotations.rater[row]
        and annotations.assigned[annotations.image[row], other]
        and (limits is None or limits[other, annotations.category[row]])
    }


@pytest.mark.parametrize("similarity", ["box_giou", "centroid"])
def test_only_annotations_whose_bounds_overlap_are_parts_of_one(similarity):
    #  ann  +---------cat---------+
    #  bob  +-cat---+    +---cat--+                  +-cat-+    any two annotations are a little alike, anywhere
    marks = [CAT, ("bob", "cat", 0, 9), ("bob", "cat", 11, 9), ("bob", "cat", 60, 9)]
    there = table(*marks, image_size={1: (100, 20)})
    assert found(there, similarity, 0.97) == [("merged", (0,), (1, 2)), ("additional", (), (3,))]
    apart = table(CAT, ("bob", "cat", 40, 9), ("bob", "cat", 60, 9), image_size={1: (100, 20)})
    assert {kind for kind, *_ in found(apart, similarity, 0.97)} == {"missing", "additional"}


def test_a_similarity_of_ones_own_breaks_ties_by_its_shapes():
    same = Similarity("same", "box", "always one", lambda _a, rows, _b, _r, _f: np.ones(len(rows)))
    marks = [CAT, ("bob", "cat", 50, 10), ("bob", "cat", 90, 10)]
    assert found(table(*marks), same) == [("correct", (0,), (1,)), ("additional", (), (2,))]


# ---- errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"threshold": 0}, "threshold: expected a number above 0 and at most 1, got 0"),
        ({"threshold": "0.5"}, "threshold: expected a number above 0 and at most 1, got '0.5'"),
        ({"similarity": "iou"}, "similarity: expected one of"),
        ({"max_merge": 0}, "max_merge: expected a whole number of at least 1, got 0"),
        ({"annotations": table(CAT, raters=["ann"])}, r"at least two raters, got 1 \(ann\)"),
        ({"pairs": compute_pairs(table(CAT))}, r"expected at least 0\.5, from which these pairs"),
        (
            {"similarity": "polygon_iou", "pairs": compute_pairs(table(CAT))},
            "expected pairs of 'polygon_iou', got 'box_iou'",
        ),
    ],
)
def test_an_argument_that_cannot_be_used_is_named(arguments, message):
    with pytest.raises(InputError, match=message):
        variations(**{"annotations": table(CAT)} | arguments)


# ---- values of a real data set


@pytest.mark.parametrize("max_merge", [1, 4])
def test_lvis200_correct_one_to_one(lvis, max_merge):
    # the authors' plugin finds 1,405 at .5, because it may match an annotation twice
    for threshold, correct in ((0.5, 1398), (0.75, 1222)):
        assert variations(lvis, "box_iou", threshold, max_merge=max_merge).counts()["correct"] == correct
