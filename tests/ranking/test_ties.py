"""Quantities that are equal in exact arithmetic have equal ranks in any order: vs. fractions."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kalos_core import Annotations, ConceptTruths, rank_systems
from kalos_core.ranking import SystemScores, rank_models
from kalos_core.ranking.ties import as_ratio, exact_mean, means_of_ratios, settle

TREE = {"c0": "animal", "c1": "animal", "c2": "plant", "c3": "plant"}


def exact_ranks(values, less_is_better=False):
    """Compute mean ranks of fractions by counting better and equal ones."""
    signed = values if less_is_better else [-value for value in values]
    return [
        sum(other < own for other in signed) + Fraction(sum(other == own for other in signed) + 1, 2) for own in signed
    ]


def exact_auc(scores, truth):
    pairs = [(scores[p], scores[n]) for p in np.flatnonzero(truth) for n in np.flatnonzero(~truth)]
    return sum(Fraction(1 if p > n else 0) + (Fraction(1, 2) if p == n else 0) for p, n in pairs) / len(pairs)


def exact_eer(scores, truth):
    """Find the point on the curve, in fractions, where false alarms equal misses."""
    points = [(Fraction(0), Fraction(1))]  # false alarms, misses
    for least in sorted(set(scores), reverse=True):
        above = scores >= least
        alarms = Fraction(int((above & ~truth).sum()), int((~truth).sum()))
        points.append((alarms, 1 - Fraction(int((above & truth).sum()), int(truth.sum()))))
    for (x0, y0), (x1, y1) in pairwise(points):
        if x1 >= y1:
            share = (y0 - x0) / ((x1 - x0) + (y0 - y1))
            return x0 + share * (x1 - x0)
    raise AssertionError


def exact_ontology(scores, truth):
    """Compute the mean over images of 1 - mean cost of the concepts that are true or named."""
    names = list(TREE)[: scores.shape[1]]
    apart = [[len({a, TREE[a]} ^ {b, TREE[b]}) for b in names] for a in names]
    longest = max(map(max, apart)) or 1
    images = []
    for row, chosen in zip(scores >= 0.5, truth, strict=True):
        named, true = set(np.flatnonzero(row)), set(np.flatnonzero(chosen))
        cost = Fraction(0)
        for concept in named ^ true:
            others = true if concept in named else named
            cost += Fraction(min((apart[concept][other] for other in others), default=longest), longest)
        images.append(1 - cost / len(named | true) if named | true else Fraction(1))
    return sum(images) / len(images)


@st.composite
def studies(draw):
    systems, images, concepts = draw(st.integers(2, 5)), draw(st.integers(3, 7)), draw(st.integers(2, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = rng.integers(1, draw(st.integers(3, 9)), (systems, images, concepts)) / 8
    truth = rng.random((images, concepts)) < 0.5
    truth[0], truth[1] = True, False  # every concept is in some of the images, but not in all
    return scores, truth


def ranked(scores, truth):
    systems, images, concepts = scores.shape
    names = [f"s{s}" for s in range(systems)], list(range(images)), [f"c{k}" for k in range(concepts)]
    tree = {name: TREE[name] for name in names[2]}
    truths = ConceptTruths(["ann"], *names[1:], truth[None])
    return rank_systems(SystemScores(*names, scores), truths, tree=tree, bootstrap=0).rankings


@settings(max_examples=60, deadline=None)
@given(studies())
def test_ranks_of_classifiers_are_those_of_fractions(study):
    scores, truth = study
    result = ranked(scores, truth)
    concepts = range(scores.shape[2])
    for name, one in (("AUC", exact_auc), ("EER", exact_eer)):
        exact = [sum(one(own[:, k], truth[:, k]) for k in concepts) / Fraction(len(concepts)) for own in scores]
        assert result[name].ranks[0].tolist() == [float(rank) for rank in exact_ranks(exact, name == "EER")]
        best = (min if name == "EER" else max)(exact)
        assert result[name].is_best[0].tolist() == [value == best for value in exact]
        assert result[name].values[0] == pytest.approx([float(value) for value in exact], abs=1e-15)
    exact = [exact_ontology(own, truth) for own in scores]
    assert result["ontology score"].ranks[0].tolist() == [float(rank) for rank in exact_ranks(exact)]


@given(studies(), st.randoms(use_true_random=False))
def test_the_order_of_concepts_decides_nothing_under_weights_that_are_no_whole_numbers(study, random):
    scores, truth = study
    found = []
    for order in (list(range(scores.shape[2])), random.sample(range(scores.shape[2]), scores.shape[2])):
        names = [f"c{k}" for k in order]
        tables = SystemScores(range(len(scores)), range(len(truth)), names, scores[:, :, order])
        truths = ConceptTruths(["ann"], range(len(truth)), names, truth[None][:, :, order])
        weights = np.array([0.1, 0.2, 0.7, 1 / 3])[order]
        result = rank_systems(tables, truths, tree=TREE, weights=weights, bootstrap=0)
        found.append(result.rankings["ontology score"].ranks[0].tolist())
    assert found[0] == found[1]


def exact_map(hits, truths):
    """Compute the mean AP over classes from lists of hits at COCO's 101 recall points, with exact precision."""
    sums = Fraction(0)
    for flags, positives in zip(hits, truths, strict=True):
        found = [(Fraction(sum(flags[:n]), n), sum(flags[:n]) / positives) for n in range(1, len(flags) + 1)]
        for point in np.linspace(0, 1, 101):
            sums += max((precision for precision, recall in found if recall >= point), default=Fraction(0)) / 101
    return sums / len(truths)


@st.composite
def model_cases(draw):
    """Draw hits of each model and class, and the number of annotations of each class."""
    truths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    flags = st.lists(st.booleans(), max_size=7)
    models = draw(st.integers(2, 4))
    hits = [[draw(flags) for _ in truths] for _ in range(models)]
    # means of an order and its reverse are often equal
    hits += [hits[0][::-1]] if len(set(truths)) == 1 else []
    return [[row[: _until(row, p)] for row, p in zip(of_model, truths, strict=True)] for of_model in hits], truths


def _until(row, positives):
    """Return the positions before the first hit too many."""
    return next((n for n in range(len(row)) if sum(row[: n + 1]) > positives), len(row))


def of_boxes(rater, boxes, names):
    rows = [
        {"image": 1, "rater": rater, "category": names[k], "box": [x, 100 * k, 9, 9]}
        for k, places in enumerate(boxes)
        for x in places
    ]
    return Annotations.from_rows(rows, images=[1], raters=[rater], categories=names)


def models_of(hits, truths, names):
    """Return detections in order of confidence: each hit is on its own annotation, all others are on background."""
    found = {}
    for number, of_model in enumerate(hits):
        boxes = [[20 * sum(row[:n]) if hit else 5000 + 20 * n for n, hit in enumerate(row)] for row in of_model]
        scores = [1 / (n + 1) for row in of_model for n in range(len(row))]
        found[f"m{number}"] = (of_boxes("net", boxes, names), scores)
    truth = of_boxes("ann", [[20 * number for number in range(positives)] for positives in truths], names)
    return rank_models(found, truth, thresholds=(0.5, 0.75))


@given(model_cases())
def test_ranks_of_models_are_those_of_fractions(case):
    hits, truths = case
    names = [f"c{k}" for k in range(len(truths))]
    ranking = models_of(hits, truths, names).ranking
    exact = [exact_map(of_model, truths) for of_model in hits]
    assert ranking.values[0] == pytest.approx([float(value) for value in exact], abs=1e-14)
    assert ranking.ranks[0].tolist() == [float(rank) for rank in exact_ranks(exact)]
    assert ranking.is_best[0].tolist() == [value == max(exact) for value in exact]


def test_means_of_ratios_by_hand():
    above, below = np.array([[1, 1, 0], [2, 0, 5], [0, 0, 0]]), np.array([[2, 4, 0], [4, 2, 8], [0, 0, 0]])
    means = means_of_ratios(above, below)
    assert means[:2].tolist() == [3 / 8, 3 / 8]  # (1/2 + 1/4) / 2; (1/2 + 0 + 5/8) / 3
    assert np.isnan(means[2])


def test_nearly_equal_values_stay_different():
    third = Fraction(1, 3)
    values = np.array([float(third), float(third + Fraction(1, 10**13)), 0.5])
    exact = [third, third + Fraction(1, 10**13)]
    assert settle(values, lambda position: float(exact[position])).tolist() == values.tolist()
    assert np.isnan(settle(np.array([np.nan, np.nan]), lambda _: 0.0)).all()


@settings(max_examples=50)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 97)), max_size=9), st.integers(1, 9))
def test_exact_mean_is_that_of_fractions(terms, times):
    expected = sum((Fraction(a, b) for a, b in terms), Fraction(0)) / times
    assert exact_mean([a for a, _ in terms], [b for _, b in terms], times) == float(expected)


@settings(max_examples=50)
@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_quotient_is_found_again(a, b):
    above, below = min(a, b), max(a, b)
    assert Fraction(*as_ratio(above / below)) == Fraction(above, below)
