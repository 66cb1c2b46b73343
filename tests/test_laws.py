"""Laws over the tables of similarities, solvers, statistics and truths: new entries are tested automatically.

Laws that do not hold for a subject are in `LEFT_OUT` with the reason. More laws of similarities (symmetry, range,
translation, floors) are in `tests/similarity/test_similarities.py`, and comparisons of shards with one table in
`tests/distributed`. Boundaries, regions without names and images to rate next are compared with other
implementations in `tests/pixels` and `tests/diagnostics`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.sparse import csr_array

from kalos_core import NOT_ASSIGNED, Annotations, KalosWarning, agreement, sparse_agreement
from kalos_core.consensus import TRUTH_METHODS, class_truth, estimate_truth, instance_consensus, unit_truth
from kalos_core.correspondence import COSTS, correspond, usable_solvers
from kalos_core.nominal import METRICS, coefficients
from kalos_core.pairs import compute_pairs
from kalos_core.sparse.weights import WEIGHTS
from tests.similarity.test_similarities import LAWS as SIMILARITY_LAWS
from tests.similarity.test_similarities import compare, every_pair, kind_of
from tests.strategies import SIMILARITIES_OF_TABLES, partition, reordered, tables

Drawn = Any
Holds = Callable[[str, Drawn], bool]
Law = tuple[st.SearchStrategy[Any], Holds]
"""Strategy, and whether the law holds for a subject and a drawn value."""


def same(one: float | np.ndarray, other: float | np.ndarray) -> bool:
    """Return whether values are equal up to rounding, or both undefined."""
    return np.allclose(one, other, rtol=0, atol=1e-9, equal_nan=True)


def quietly(call: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        return call(*arguments, **options)


# ---- similarities of shapes ----

shapes = st.tuples(st.integers(0, 10**6), st.integers(1, 8), st.integers(1, 8))
"""Seed of the shapes, and their number on both sides."""


def drawn_shapes(name: str, drawn: Drawn) -> tuple[Any, np.random.Generator, np.ndarray, np.ndarray]:
    seed, n, m = drawn
    rng = np.random.default_rng(seed)
    left, right = every_pair(n, m)
    return kind_of(name).random(rng, n + m), rng, left, right + n


def shapes_in_any_order(name: str, drawn: Drawn) -> bool:
    column, rng, left, right = drawn_shapes(name, drawn)
    order = rng.permutation(len(column))
    other, place = column.take(order), np.argsort(order)
    expected = compare(name, column, left, column, right)
    return bool((compare(name, other, place[left], other, place[right]) == expected).all())


def shapes_alone(name: str, drawn: Drawn) -> bool:
    """Shards: the similarity of a pair does not depend on other pairs."""
    column, rng, left, right = drawn_shapes(name, drawn)
    at = rng.integers(len(left))
    zero, two = np.zeros(1, np.intp), column.take(np.array([left[at], right[at]]))
    return bool(compare(name, two, zero, two, zero + 1)[0] == compare(name, column, left, column, right)[at])


def shapes_twice(name: str, drawn: Drawn) -> bool:
    column, _, left, right = drawn_shapes(name, drawn)
    doubled = column.take(np.tile(np.arange(len(column)), 2))
    expected = compare(name, column, left, column, right)
    return bool((compare(name, doubled, left + len(column), doubled, right) == expected).all())


# ---- changed tables ----

annotated = tables(limits=True, exclusions=True)
Change = Callable[[Annotations], Annotations]


def renamed(annotations: Annotations) -> Annotations:
    """Return other names of classes, in the same order."""
    return replace(annotations, categories=np.array([f"x {name}" for name in annotations.categories], object))


def with_empty_image(annotations: Annotations) -> Annotations:
    """Add an image on which all raters are assigned and see nothing."""
    fields = {
        "images": np.array([*annotations.images, "none.jpg"], object),
        "files": np.array([*annotations.files, "none.jpg"], object),
        "image_size": np.vstack([annotations.image_size, [[np.nan, np.nan]]]),
        "assigned": np.vstack([annotations.assigned, np.ones((1, len(annotations.raters)), bool)]),
        "crowds": np.append(annotations.crowds, 0),
        "skipped": np.append(annotations.skipped, 0),
    }
    return replace(annotations, **fields)


def with_silent_rater(annotations: Annotations) -> Annotations:
    """Add a rater without assignments."""
    limits = annotations.assigned_categories
    fields = {
        "raters": np.array([*annotations.raters, "zoe"], object),
        "person": np.array([*annotations.person, "zoe"], object),
        "session": np.array([*annotations.session, ""], object),
        "assigned": np.column_stack([annotations.assigned, np.zeros(len(annotations.images), bool)]),
        "assigned_categories": None if limits is None else np.vstack([limits, np.ones(limits.shape[1], bool)]),
    }
    return replace(annotations, **fields)


def by_image(annotations: Annotations) -> list[Annotations]:
    return [annotations.select(images=[image]) for image in range(len(annotations.images))]


# ---- pairs of tables ----


def found_pairs(annotations: Annotations, similarity: str, threshold: float = 0.1) -> dict[frozenset[Any], float]:
    pairs = compute_pairs(annotations, similarity, threshold)
    ids = annotations.id
    keys = (frozenset((ids[a], ids[b])) for a, b in zip(pairs.left, pairs.right, strict=True))
    return {key: value for key, value in zip(keys, pairs.similarity.tolist(), strict=True) if value >= threshold}


def same_pairs(change: Change) -> Holds:
    return lambda name, table: found_pairs(change(table), name) == found_pairs(table, name)


def pairs_of_shards(name: str, table: Drawn) -> bool:
    parts: dict[frozenset[Any], float] = {}
    for part in by_image(table):
        parts |= found_pairs(part, name)
    return parts == found_pairs(table, name)


def pairs_above_higher(name: str, table: Drawn) -> bool:
    """Monotonicity: a higher threshold keeps the pairs above it, with the same similarity."""
    low, high = found_pairs(table, name, 0.25), found_pairs(table, name, 0.5)
    return high == {key: value for key, value in low.items() if value >= 0.5}


# ---- solvers ----

solved = st.tuples(annotated, st.sampled_from([0.1, 0.25, 0.5]), st.sampled_from(SIMILARITIES_OF_TABLES))
SOLVED = [f"{solver} {cost}" for solver in usable_solvers() for cost in COSTS]


def units(name: str, table: Annotations, threshold: float, similarity: str) -> set[frozenset[Any]]:
    solver, cost = name.split()
    return partition(table, correspond(table, compute_pairs(table, similarity, threshold), threshold, solver, cost))


def alphas(name: str, table: Annotations, threshold: float, similarity: str) -> dict[str, float]:
    solver, cost = name.split()
    found = quietly(agreement, table, similarity, threshold, solver, cost, bootstrap=0)
    return dict(zip(table.images.tolist(), found.image_alpha.tolist(), strict=True))


def same_units_and_alphas(change: Change) -> Holds:
    def holds(name: str, drawn: Drawn) -> bool:
        table, *how = drawn
        other = change(table)
        before, after = alphas(name, table, *how), alphas(name, other, *how)
        is_same = all(same(value, after[image]) for image, value in before.items())
        return is_same and units(name, other, *how) == units(name, table, *how)

    return holds


def units_of_shards(name: str, drawn: Drawn) -> bool:
    table, *how = drawn
    return set().union(*(units(name, part, *how) for part in by_image(table))) == units(name, table, *how)


def units_split_higher(name: str, drawn: Drawn) -> bool:
    """Monotonicity: a higher threshold only splits units."""
    table, _, similarity = drawn
    coarse = units(name, table, 0.25, similarity)
    return all(any(unit <= other for other in coarse) for unit in units(name, table, 0.6, similarity))


# ---- statistics ----

ratings = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([NOT_ASSIGNED, 0, 1, 2]), min_size=raters, max_size=raters),
        min_size=2 * raters,
        max_size=10,
    ).map(np.array)
)
"""(I, R) codes of three classes; fewer items than raters (after doubling) may be refused as raters x items."""


def counts_of(values: np.ndarray, classes: int = 3) -> np.ndarray:
    """Return sparse counts, which are never mistaken for labels; dense ones of raters who never agree may be."""
    return np.stack([(values == code).sum(axis=1) for code in range(classes)], axis=1)


def of_counts(statistic: Callable[[Any], float]) -> Callable[[np.ndarray, int], float]:
    return lambda values, classes: statistic(csr_array(counts_of(values, classes)))


def of_values(statistic: Callable[[Any], float]) -> Callable[[np.ndarray, int], float]:
    return lambda values, classes: statistic(values)  # noqa: ARG005


def sparse(weights: str) -> Callable[[np.ndarray, int], float]:
    """Weights by class shares are not defined for one class: that is refused, and counts as undefined here."""

    def statistic(values: np.ndarray, classes: int) -> float:
        counts = counts_of(values, classes)
        if weights == "inv_var_class" and (counts.sum(axis=0) > 0).sum() < 2:
            return math.nan
        return sparse_agreement(csr_array(counts), weights, bootstrap=0).value

    return statistic


OF_COUNTS = ("alpha_of_counts", "fleiss_kappa", "free_marginal_kappa", "gwet_ac1", "observed_agreement", "gwet_ac2")
STATISTICS: dict[str, Callable[[np.ndarray, int], float]] = {
    **{name: of_counts(getattr(coefficients, name)) for name in OF_COUNTS},
    "nominal_alpha": of_values(coefficients.nominal_alpha),
    **{
        f"nominal_alpha {metric}": of_values(partial(coefficients.nominal_alpha, metric=metric))
        for metric in METRICS
        if metric != "nominal"
    },
    "conger_kappa": of_values(coefficients.conger_kappa),
    "conger_kappa quadratic": of_values(partial(coefficients.conger_kappa, weights="quadratic")),
    "cohen_kappa": of_values(lambda values: coefficients.cohen_kappa(values[:, 0], values[:, 1])),
    **{f"sparse_agreement {weights}": sparse(weights) for weights in WEIGHTS},
}


def value(name: str, values: np.ndarray, classes: int = 3) -> float:
    return quietly(STATISTICS[name], values, classes)


def same_value(change: Callable[[np.ndarray], np.ndarray], classes: int = 3) -> Holds:
    return lambda name, values: same(value(name, change(values), classes), value(name, values))


def no_lower(before: float, after: float) -> bool:
    return math.isnan(before) or after >= before - 1e-9


def turned_classes(values: np.ndarray) -> np.ndarray:
    return np.where(values == NOT_ASSIGNED, NOT_ASSIGNED, (values + 1) % 3)


def every_rater_twice(name: str, values: Drawn) -> bool:
    """Monotonicity: copies agree with each other, so agreement does not decrease; single-label items are excluded."""
    alone = (values != NOT_ASSIGNED).sum(axis=1) == 1
    values = np.repeat(np.where(alone[:, None], NOT_ASSIGNED, values), 10, axis=0)  # else it seems transposed
    return no_lower(value(name, values), value(name, np.column_stack([values, values])))


def unanimous_item(name: str, values: Drawn) -> bool:
    """Monotonicity: one more item with full agreement does not lower it."""
    return no_lower(value(name, values), value(name, np.vstack([values, np.zeros(values.shape[1], int)])))


def all_agree(name: str, values: Drawn) -> bool:
    """Full agreement on every item is 1, or undefined if there is only one class."""
    classes = np.abs(values[:, :1]) % 3
    found = value(name, np.repeat(classes, values.shape[1], axis=1))
    return same(found, 1.0) or (math.isnan(found) and len(set(classes.ravel())) == 1)


# ---- truths of masks ----

masks = arrays.arrays(bool, st.tuples(st.integers(2, 5), st.integers(1, 5), st.integers(1, 6)))


def truth(method: str, stack: np.ndarray) -> np.ndarray:
    return estimate_truth(stack, method).mask


def same_truth(
    change: Callable[[np.ndarray], np.ndarray], expected: Callable[[np.ndarray], np.ndarray] = lambda mask: mask
) -> Holds:
    """`expected` maps the truth before the change to the truth after it."""
    return lambda method, stack: bool((truth(method, change(stack)) == expected(truth(method, stack))).all())


def one_mask_of_all(method: str, stack: Drawn) -> bool:
    return bool((truth(method, np.repeat(stack[:1], len(stack), axis=0)) == stack[0]).all())


def halves_of_images(method: str, stack: Drawn) -> bool:
    """Shards of pixels."""
    half = max(stack.shape[2] // 2, 1)
    parts = [truth(method, part) for part in (stack[:, :, :half], stack[:, :, half:]) if part.size]
    return bool((np.concatenate(parts, axis=1) == truth(method, stack)).all())


def more_pixels_of_one(method: str, stack: Drawn) -> bool:
    """Monotonicity: additional pixels of a rater remove no pixel from the truth."""
    more = stack.copy()
    more[0] = True
    return bool((truth(method, more) >= truth(method, stack)).all())


label_maps = arrays.arrays(
    np.int64, st.tuples(st.integers(2, 4), st.integers(1, 4), st.integers(1, 5)), elements=st.integers(0, 2)
)


def classes_of_pixels_relabelled(method: str, drawn: Drawn) -> bool:
    named = {f"r{number}": part for number, part in enumerate(drawn)}
    turned = {name: np.array([0, 2, 1])[part] for name, part in named.items()}
    one, other = class_truth(named, {1: "a", 2: "b"}, method), class_truth(turned, {2: "a", 1: "b"}, method)
    clear = ~(one.tied | other.tied)
    return bool((np.array([0, 2, 1])[one.labels][clear] == other.labels[clear]).all())


# ---- consensus of objects ----


def consensus_of(table: Annotations) -> set[Any]:
    if not len(table):
        return set()
    boxes = replace(table, shapes={"box": table.shapes["box"]})
    found = instance_consensus(quietly(agreement, boxes, "box_iou", 0.25, bootstrap=0))
    made = found.annotations
    corners = np.round(made.shapes["box"].xywh(), 9).tolist()
    classes = made.categories[made.category].tolist()
    return {
        (made.images[image], kind, *box, frozenset(found.sources(row)))
        for row, (image, kind, box) in enumerate(zip(made.image, classes, corners, strict=True))
    }


def truth_of_units(table: Annotations) -> dict[frozenset[Any], tuple[float, float]]:
    """Return ids of a unit -> probabilities that it is an object, and of its class, after four steps."""
    result = quietly(agreement, table, threshold=0.25, bootstrap=0)
    found = unit_truth(result, iterations=4)
    numbers = zip(found.existence.tolist(), found.confidence.tolist(), strict=True)
    return {frozenset(table.id[result.unit_of == unit].tolist()): both for unit, both in enumerate(numbers)}


# ---- the tables of laws ----

LAWS: dict[str, tuple[Sequence[str], dict[str, Law]]] = {
    "similarity": (
        tuple(SIMILARITY_LAWS),
        {
            "order": (shapes, shapes_in_any_order),
            "shards": (shapes, shapes_alone),
            "duplication": (shapes, shapes_twice),
        },
    ),
    "pairs": (
        SIMILARITIES_OF_TABLES,
        {
            "order": (annotated, same_pairs(partial(reordered, seed=1))),
            "relabelling": (annotated, same_pairs(renamed)),
            "empty image": (annotated, same_pairs(with_empty_image)),
            "shards": (annotated, pairs_of_shards),
            "monotony": (annotated, pairs_above_higher),
        },
    ),
    "solver": (
        SOLVED,
        {
            "order": (solved, same_units_and_alphas(partial(reordered, seed=7))),
            "relabelling": (solved, same_units_and_alphas(renamed)),
            "empty image": (solved, same_units_and_alphas(with_empty_image)),
            "silent rater": (solved, same_units_and_alphas(with_silent_rater)),
            "shards": (solved, units_of_shards),
            "monotony": (solved, units_split_higher),
        },
    ),
    "statistic": (
        tuple(STATISTICS),
        {
            "order of items": (ratings, same_value(lambda values: values[::-1])),
            "order of raters": (
                ratings,
                same_value(lambda values: np.column_stack([values[:, 1::-1], values[:, 2:]])),
            ),
            "relabelling": (ratings, same_value(turned_classes)),
            "item of nobody": (
                ratings,
                same_value(lambda values: np.vstack([values, np.full(values.shape[1], NOT_ASSIGNED)])),
            ),
            "rater of nothing": (
                ratings,
                same_value(lambda values: np.column_stack([values, np.full(len(values), NOT_ASSIGNED)])),
            ),
            "class of nobody": (ratings, same_value(lambda values: values, classes=4)),
            "items twice": (ratings, same_value(lambda values: np.vstack([values, values]))),
            "raters twice": (ratings, every_rater_twice),
            "unanimous item": (ratings, unanimous_item),
            "unanimity": (ratings, all_agree),
        },
    ),
    "truth": (
        tuple(TRUTH_METHODS),
        {
            "order": (masks, same_truth(lambda stack: stack[::-1])),
            "mirror": (masks, same_truth(lambda stack: stack[:, ::-1, ::-1], lambda mask: mask[::-1, ::-1])),
            "duplication": (masks, same_truth(lambda stack: np.concatenate([stack, stack]))),
            "unanimity": (masks, one_mask_of_all),
            "shards": (masks, halves_of_images),
            "monotony": (masks, more_pixels_of_one),
            "relabelling": (label_maps, classes_of_pixels_relabelled),
        },
    ),
}
"""Family -> its subjects, and its laws."""

Excepted = tuple[str, str, Iterable[str], str]
"""Family, law, subjects, and the reason why the law does not hold for them."""

NEXT = "the order of candidates depends on their classes, too: a pair of the same class goes before a more similar one"
COPIES = "copies count as evidence of their own"
WHOLE = "it looks at the whole image, not at one pixel after the other"
CAMPS = "two camps that mirror each other explain as much, and rounding decides between them"
ALPHAS = ["nominal_alpha ordinal", "nominal_alpha interval", "nominal_alpha ratio"]
LOCAL = {"any", "0.5", "0.75"}
"""Truths computed pixel by pixel."""

LEFT_OUT: list[Excepted] = [
    ("solver", "monotony", ["greedy soft"], NEXT),
    (
        "solver",
        "monotony",
        ["shm neg", "shm_by_name neg"],
        "which rater comes next depends on how many candidates there are",
    ),
    ("statistic", "class of nobody", ["free_marginal_kappa"], "chance is one in as many as there are columns"),
    ("statistic", "class of nobody", ["gwet_ac1", "gwet_ac2"], "chance is spread over as many as there are columns"),
    ("statistic", "items twice", ["alpha_of_counts", "nominal_alpha", *ALPHAS], "chance is without replacement"),
    ("statistic", "unanimous item", ["conger_kappa", "conger_kappa quadratic"], "shares of raters come closer by it"),
    ("statistic", "unanimous item", ["nominal_alpha ordinal"], "more ratings of a grade move it away from the others"),
    ("statistic", "unanimous item", ["gwet_ac2"], "shares of the grades may spread by it, and chance grows with them"),
    ("statistic", "relabelling", [*ALPHAS, "conger_kappa quadratic", "gwet_ac2"], "the order of grades has a meaning"),
    ("truth", "duplication", ["staple", "staple-classes", "lsml"], COPIES),
    ("truth", "shards", ["excl-0.5", "staple", "staple-classes"], WHOLE),
    ("truth", "monotony", [method for method in TRUTH_METHODS if method not in LOCAL], WHOLE),
    ("solver", "monotony", ["shm soft", "shm_by_name soft", "ahc soft", "mgm soft"], NEXT),
    ("solver", "monotony", ["mgm neg"], "what is best of all is not found pair by pair"),
    ("truth", "duplication", ["excl-0.5", "simple"], COPIES),
    ("truth", "shards", ["simple", "lsml"], WHOLE),
    ("truth", "order", ["staple", "staple-classes"], CAMPS),
]
"""Exceptions: the law does not hold, or theory does not say."""

EXCEPTED = {(family, law, subject) for family, law, subjects, _ in LEFT_OUT for subject in subjects}
TRIED = {
    (family, law): [subject for subject in subjects if (family, law, subject) not in EXCEPTED]
    for family, (subjects, laws) in LAWS.items()
    for law in laws
}


@pytest.mark.parametrize(("family", "law"), TRIED)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_a_law_holds(family: str, law: str, data: Any) -> None:
    """Use one example for all subjects, because drawing a table is slower than testing most of them."""
    strategy, holds = LAWS[family][1][law]
    drawn = data.draw(strategy)
    assert TRIED[family, law]
    assert [subject for subject in TRIED[family, law] if not holds(subject, drawn)] == []


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 3, 1]])
def test_of_two_camps_that_mirror_each_other_staple_takes_one(order: list[int]) -> None:
    stack = np.zeros((4, 5, 2), np.bool_)
    for rater, cells in enumerate([[(0, 1), (3, 1)], [(0, 0), (1, 0)], [(3, 1)], [(0, 0)]]):
        for cell in cells:
            stack[(rater, *cell)] = True
    found = truth("staple", stack[order]).tolist()
    assert found in [(stack[one] | stack[other]).tolist() for one, other in ((0, 2), (1, 3))]
    lead = np.concatenate([stack, stack[:1]])  # one more of the first group, so that order does not matter
    assert truth("staple", lead[[*order, 4]]).tolist() == (stack[0] | stack[2]).tolist()


@given(tables(raters=4, marks=10))
def test_a_consensus_of_objects_keeps_the_laws(table: Annotations) -> None:
    """Order, relabelling, an empty image, and shards."""
    expected = consensus_of(table)
    assert consensus_of(reordered(table, 3)) == expected
    assert consensus_of(with_empty_image(table)) == expected
    assert {(image, kind[2:], *rest) for image, kind, *rest in consensus_of(renamed(table))} == expected
    assert set().union(*(consensus_of(part) for part in by_image(table))) == expected


@given(tables(raters=4, marks=10))
def test_who_is_right_about_objects_keeps_the_laws(table: Annotations) -> None:
    """Order, relabelling, an empty image, and a rater without assignments."""
    expected = truth_of_units(table)
    for other in (reordered(table, 3), renamed(table), with_empty_image(table), with_silent_rater(table)):
        found = truth_of_units(other)
        assert found.keys() == expected.keys()
        assert all(same(numbers, expected[unit]) for unit, numbers in found.items())
