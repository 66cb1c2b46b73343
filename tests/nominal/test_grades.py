"""Alpha of grades, weighted kappas, and intraclass correlations."""

import math
from collections import Counter
from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import cohen_kappa_score
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from kalos_core import NOT_ASSIGNED, InputError, cohen_kappa, grade_agreement, intraclass_correlation, nominal_alpha
from kalos_core.chance import KAPPA_WEIGHTS, coefficients, disagreement, distances, weight_distance
from kalos_core.chance import counts as entries
from kalos_core.nominal import FORMS, METRICS, alpha_of_counts, cohen_matrix, conger_kappa, label_counts
from kalos_core.nominal.coefficients import gwet_ac1, gwet_ac2
from kalos_core.resampling import draws
from tests.expanded import expanded
from tests.nominal.test_coefficients import counts_of, ratings

OTHERS = ("ordinal", "interval", "ratio")

# four raters, twelve units (Krippendorff 2011, example C), and the values he prints for each metric
OBSERVERS = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
EXAMPLE = [[None if letter == "." else int(letter) for letter in unit] for unit in zip(*OBSERVERS, strict=True)]
PRINTED = {"nominal": 0.743, "ordinal": 0.815, "interval": 0.849, "ratio": 0.797}

# six targets, four judges (Shrout & Fleiss 1979, Table 2), and the values they print in Table 4
JUDGED = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]

tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([None, 0, 1, 2, 5]), min_size=raters, max_size=raters), min_size=4, max_size=8
    )
)


def by_pairs(values, metric):
    """Compute alpha by its definition, value by value."""
    units = [[value for value in row if value is not None] for row in values]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]
    often = Counter(pooled)

    def apart(c, k):
        if metric == "nominal":
            return c != k
        if metric == "ordinal":
            between = sum(often[g] for g in often if min(c, k) <= g <= max(c, k))
            return (between - (often[c] + often[k]) / 2) ** 2
        if metric == "interval":
            return (c - k) ** 2
        return ((c - k) / (c + k)) ** 2 if c + k else 0

    observed = sum(2 * apart(c, k) / (len(unit) - 1) for unit in units for c, k in combinations(unit, 2))
    expected = sum(2 * apart(c, k) for c, k in combinations(pooled, 2))
    if len(often) < 2:
        return 1.0 if pooled else math.nan
    return 1 - (len(pooled) - 1) * observed / expected


# ---- alpha ----


@pytest.mark.parametrize("metric", METRICS)
def test_alpha_as_krippendorff_prints_it(metric):
    assert nominal_alpha(EXAMPLE, metric) == pytest.approx(PRINTED[metric], abs=5e-4)


def test_alpha_by_hand():
    # 1 1 | 2 4: pairs of all four differ by 1, 1, 3, 3, 2 and 0, squares 24; the second item by 2, square 4
    assert nominal_alpha([[1, 1], [2, 4]], "interval") == pytest.approx(1 - 3 * 4 / 24)
    # mean ranks 1, 1, 2.5, 3.5: squares 2.25 twice, 6.25 twice, 1
    assert nominal_alpha([[1, 1], [2, 4]], "ordinal") == pytest.approx(1 - 3 * 1 / 18)
    # (1/3)² twice, (3/5)² twice, (2/6)²
    assert nominal_alpha([[1, 1], [2, 4]], "ratio") == pytest.approx(1 - 3 * (1 / 9) / (2 / 9 + 18 / 25 + 1 / 9))


@pytest.mark.parametrize("metric", METRICS)
@given(values=tables)
def test_alpha_is_what_its_definition_and_the_package_say(metric, values):
    expected = pytest.approx(by_pairs(values, metric), abs=1e-12, nan_ok=True)
    assert nominal_alpha(values, metric) == expected
    table, levels = np.array(values, float), [0, 1, 2, 5]
    counts = sparse.csr_array(np.stack([(table == level).sum(axis=1) for level in levels], axis=1))
    assert alpha_of_counts(counts, metric, levels=None if metric == "nominal" else levels) == expected
    pairable = table[(~np.isnan(table)).sum(axis=1) >= 2]
    if len(set(pairable[~np.isnan(pairable)].tolist())) > 1:
        assert krippendorff.alpha(reliability_data=table.T, level_of_measurement=metric) == expected


@pytest.mark.parametrize("metric", OTHERS)
@pytest.mark.parametrize(("grades_used", "raters"), [(90, 3), (90, 15), (6, 2), (6, 12), (6, 13), (6, 40)])
def test_every_way_to_compare_grades(metric, grades_used, raters, monkeypatch):
    rng = np.random.default_rng(raters)
    values = rng.integers(0, grades_used, (50, 1)) + rng.integers(0, max(grades_used // 2, 3), (50, raters)).astype(
        float
    )
    values[rng.random(values.shape) < 0.2] = np.nan
    expected = krippendorff.alpha(reliability_data=values.T, level_of_measurement=metric)
    assert nominal_alpha(values, metric) == pytest.approx(expected, abs=1e-12)
    for module, name, size in [
        (entries, "PAIRS", 50), (distances, "ROWS", 2), (disagreement, "ITEMS", 7), (disagreement, "CROSSED", 7),
    ]:  # fmt: skip
        monkeypatch.setattr(module, f"{name}_AT_ONCE", size)
    assert nominal_alpha(values, metric) == pytest.approx(expected, abs=1e-12)
    for few in (0, 1000):
        monkeypatch.setattr(coefficients, "FEW_CATEGORIES", few)
        assert nominal_alpha(values, metric) == pytest.approx(expected, abs=1e-12)
    levels = np.unique(values[~np.isnan(values)])
    counts = label_counts(np.where(np.isnan(values), -2, values).astype(int))
    assert alpha_of_counts(counts, metric, levels=levels) == pytest.approx(expected, abs=1e-12)


def test_ordinal_of_names_is_that_of_their_positions():
    order = ["benign", "unsure", "malignant"]
    codes = np.array([[0, 0, 1], [2, 2, -2], [1, 0, 0], [2, 1, 2]])
    names = [[None if code < 0 else order[code] for code in row] for row in codes]
    for some_order in (order, order[::-1]):
        assert nominal_alpha(names, "ordinal", order=some_order) == pytest.approx(nominal_alpha(codes, "ordinal"))
    shuffled = nominal_alpha(names, "ordinal", order=["unsure", "benign", "malignant"])
    assert shuffled == pytest.approx(by_pairs([[(1, 0, 2)[c] for c in row if c >= 0] for row in codes], "ordinal"))


def test_alpha_of_one_grade_and_of_none():
    for metric in OTHERS:
        assert nominal_alpha([[3, 3], [3, None]], metric) == 1.0
        assert math.isnan(nominal_alpha([[3, None], [None, 4]], metric))
        assert math.isnan(nominal_alpha(np.zeros((0, 3)), metric))


TURNED = np.array([[0, 1, 2, 3, 4] * 8] * 3)
NAMES = [["a", "b"]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nominal_alpha(NAMES, "ordinal"), "text has no order of its own; pass order="),
        (lambda: nominal_alpha(NAMES, "ratio"), "'ratio' is for numbers only"),
        (lambda: nominal_alpha([["1", "2"]], "interval"), "expected numbers for 'interval', got '1'"),
        (lambda: nominal_alpha(NAMES, "interval", order=["a", "b"]), "needs numbers, not positions"),
        (lambda: nominal_alpha(NAMES, order=["a", "b"]), "expected none for 'nominal'"),
        (lambda: cohen_kappa([0, 1], [1, 0], "linear", order=5), "order: expected several entries, got 5"),
        (lambda: nominal_alpha(NAMES, "ordinal", order=["a", "c"]), "values: expected categories .* a, c, got 'b'"),
        (lambda: nominal_alpha(NAMES, "ordinal", order=["a", "a"]), "two or more categories, each once"),
        (lambda: nominal_alpha([[-1.0, 2.0]], "ratio"), "at least 0 for 'ratio'"),
        (
            lambda: nominal_alpha(np.array([[-2, -1]]), "interval"),
            "pass grades below 0 as floats, where only NaN is missing",
        ),
        (lambda: nominal_alpha([[np.inf, 1.0]], "interval"), "numbers of at most 1e\\+150"),
        (lambda: nominal_alpha([[1, 2]], "cardinal"), "metric"),
        (lambda: nominal_alpha(TURNED, "ordinal"), "pass values.T"),
        (lambda: conger_kappa(TURNED, "linear"), "pass values.T"),
        (lambda: grade_agreement(TURNED), "pass values.T"),
        (lambda: alpha_of_counts([[1, 1]], levels=[0, 1]), "expected none for 'nominal'"),
        (lambda: alpha_of_counts([[1, 1]], "ratio"), "expected the number of each column"),
        (lambda: alpha_of_counts([[1, 1]], "interval", levels=[1, 1]), "2 ascending numbers"),
        (lambda: conger_kappa([[1, 2]], "cubic"), "linear"),
        (lambda: conger_kappa([[0, 2]], "ratio"), "expected grades above 0 for 'ratio', got 0"),
        (lambda: conger_kappa([[1, 2]], np.eye(3)), "table of 2 x 2"),
        (lambda: conger_kappa([[1, 2]], [[1, -1], [-1, 1]]), "from 0 to 1, symmetric"),
        (lambda: conger_kappa([[1, 2]], [[1, 0.5], [0, 1]]), "from 0 to 1, symmetric"),
        (lambda: cohen_matrix([[1, 2]], order=[1, 2]), "expected none without weights"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()


# ---- weighted kappas ----


def test_weighted_coefficients_as_printed(nominal_tables):
    checked = 0
    for name in ("gwet_raw_4raters_12x4", "gwet_3x3_abstractors", "gwet_4x4_diagnosis"):
        table = nominal_tables[name]
        codes = ratings(table)
        counts = counts_of(codes)
        counts = counts[:, counts.any(axis=0)]
        for weights in ("linear", "quadratic"):
            printed = table["irrcac_test_values_3dp"]
            assert gwet_ac2(counts, weights) == pytest.approx(printed[f"gwet/{weights}"], abs=5.1e-4), name
            for kind in {"conger", "cohen"} & {key.split("/")[0] for key in printed}:
                found = conger_kappa(codes, weights)
                assert found == pytest.approx(printed[f"{kind}/{weights}"], abs=5.1e-4), (name, kind)
                checked += 1
    assert checked == 6
    assert cohen_kappa(*ratings(nominal_tables["sas_3x3"]).T, "linear") == pytest.approx(0.4701, abs=5e-5)
    printed = nominal_tables["irr_anxiety_20x3"]["expected"]
    anxiety = ratings(nominal_tables["irr_anxiety_20x3"])[:, 1:]
    ranks = np.searchsorted(np.unique(anxiety), anxiety)  # that package weights ranks of the levels that occur
    for weights in ("linear", "quadratic"):
        assert cohen_kappa(*ranks.T, weights) == pytest.approx(printed[f"cohen_kappa_r2_r3_{weights}"], abs=5e-8)


def test_weighted_kappa_by_hand():
    # grades 1 2 3, one apart of two: shares 1/4 1/4 1/2 and 1/4 1/2 1/4; D_o = 1/4 * 1/4
    # D_e = 1/4 (1/2 / 4 + 1/4) + 1/4 (1/4 + 1/4) / 4 + 1/2 (1/4 + 1/2 / 4) = 3/32 + 1/32 + 6/32
    assert cohen_kappa([1, 2, 3, 3], [1, 2, 2, 3], "quadratic") == pytest.approx(1 - (1 / 16) / (10 / 32))
    # one of four differs, by half: D_o = 1/8; D_e = 1/4 (1/4 + 1/4) + 1/4 * 1/4 + 1/2 (1/4 + 1/4)
    assert cohen_kappa([1, 2, 3, 3], [1, 2, 2, 3], "linear") == pytest.approx(1 - (1 / 8) / (7 / 16))
    # AC2, linear: P = 1 - 1/8; T = 5, shares 1/4 3/8 3/8: P_e = 5 / 6 * 21/32
    counts = label_counts([[0, 0], [1, 1], [2, 1], [2, 2]])
    assert gwet_ac2(counts, "linear") == pytest.approx((7 / 8 - 35 / 64) / (1 - 35 / 64))


WORKED = {  # grades 1, 2 and 4: weights of 1 and 2, of 2 and 4, of 1 and 4
    "linear": (2 / 3, 1 / 3, 0),
    "quadratic": (8 / 9, 5 / 9, 0),
    "linear_ranks": (1 / 2, 1 / 2, 0),
    "quadratic_ranks": (3 / 4, 3 / 4, 0),
    "ordinal": (2 / 3, 2 / 3, 0),  # one step is 1 of 3 pairs of neighbours and more, two are all
    "radical": (1 - (1 / 3) ** 0.5, 1 - (2 / 3) ** 0.5, 0),
    "ratio": (56 / 81, 56 / 81, 0),  # (1/3)² of (3/5)²
    "circular": (1 / 2, 0, 1 / 2),  # on a circle of four, 4 is next to 1: sin²(π/4), sin²(π/2), sin²(3π/4)
    "bipolar": (4 / 5, 1 / 2, 0),  # 1 / (1 · 5), 4 / (4 · 2), 9 / (3 · 3)
}


def weight_by_hand(name, grades, c, k):
    """Compute weights as in Gwet (2014) and irrCAC."""
    least, most, place = min(grades), max(grades), sorted(grades).index

    def apart(c, k):
        steps = abs(place(c) - place(k))
        if c == k:
            return 0
        if name == "ordinal":
            return math.comb(steps + 1, 2)
        if name in ("linear_ranks", "quadratic_ranks"):
            return steps ** (1 + name.startswith("q"))
        if name == "ratio":
            return ((c - k) / (c + k)) ** 2
        if name == "circular":
            return math.sin(math.pi * (c - k) / (most - least + 1)) ** 2
        if name == "bipolar":
            return (c - k) ** 2 / ((c + k - 2 * least) * (2 * most - c - k))
        return abs(c - k) ** {"linear": 1, "quadratic": 2, "radical": 0.5}[name]

    return 1 - apart(c, k) / max(apart(*pair) for pair in combinations(grades, 2))


@pytest.mark.parametrize("weights", KAPPA_WEIGHTS)
def test_weights_by_hand(weights):
    between = 1 - weight_distance(weights, np.array([1.0, 2.0, 4.0])).matrix(3)
    assert between[[0, 1, 0], [1, 2, 2]] == pytest.approx(WORKED[weights])
    assert np.diag(between).tolist() == [1, 1, 1]


@pytest.mark.parametrize("weights", KAPPA_WEIGHTS)
@given(values=st.lists(st.tuples(*[st.sampled_from([1, 2, 4, 7])] * 2), min_size=1, max_size=12))
def test_weighted_coefficients_are_those_of_a_loop(weights, values):
    grades = sorted({grade for pair in values for grade in pair})
    if len(grades) < 2:
        return
    agree = {(c, k): weight_by_hand(weights, grades, c, k) for c in grades for k in grades}
    observed = np.mean([agree[pair] for pair in values])
    crossed = np.mean([agree[one, other] for one, _ in values for _, other in values])
    kappa = (observed - crossed) / (1 - crossed) if crossed < 1 else math.nan
    for found in (cohen_kappa(*np.array(values).T, weights), conger_kappa(values, weights)):
        assert found == pytest.approx(kappa, abs=1e-9, nan_ok=True)
    share = [np.mean([(one == grade) + (other == grade) for one, other in values]) / 2 for grade in grades]
    guessed = sum(agree.values()) * sum(p * (1 - p) for p in share) / (len(grades) * (len(grades) - 1))
    ac = gwet_ac2(label_counts(values), weights, levels=grades)
    assert ac == pytest.approx((observed - guessed) / (1 - guessed), abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic", "linear_ranks", "quadratic_ranks"])
@given(values=st.lists(st.tuples(*[st.sampled_from([NOT_ASSIGNED, 0, 1, 2, 3])] * 2), min_size=1, max_size=12))
def test_cohen_is_that_of_scikit_learn(weights, values):
    first, second = np.array(values).T
    both = np.array([pair for pair in values if NOT_ASSIGNED not in pair], int).reshape(-1, 2)
    varied = len(np.unique(both)) > 1
    name, labels = (weights or "").removesuffix("_ranks") or None, range(4)
    if weights != name:  # steps between the grades that occur
        labels = sorted({grade for pair in values for grade in pair} - {NOT_ASSIGNED})
    theirs = cohen_kappa_score(*both.T, weights=name, labels=labels) if varied else math.nan
    expected = pytest.approx(theirs, nan_ok=True)
    assert cohen_kappa(first, second, weights) == expected
    matrix = cohen_matrix(values, weights)
    assert matrix[0, 1] == expected
    assert matrix[1, 0] == expected
    if len(both) == len(values):
        assert conger_kappa(values, weights) == expected
    each, power = np.arange(len(labels)), {None: 0, "linear": 1, "quadratic": 2}[name]
    if len(each) > 1:
        table = 1 - np.abs(each[:, None] - each) ** power / each[-1] ** power if power else np.eye(4)
        assert cohen_kappa(first, second, table, order=labels) == expected


@pytest.mark.parametrize("raters", [4, 16])  # the maximum that is compared in pairs, and more
def test_conger_is_the_mean_of_pairs_of_raters_who_graded_all(raters):
    values = np.tile(np.random.default_rng(0).integers(1, 6, (30, 4)), raters // 4)
    observed = expected = 0
    for a, b in combinations(range(raters), 2):
        observed += ((values[:, a] - values[:, b]) ** 2).mean()
        expected += ((values[:, a, None] - values[:, b]) ** 2).mean()
    assert conger_kappa(values, "quadratic") == pytest.approx(1 - observed / expected)


# ---- intraclass correlation ----


def test_intraclass_correlations_as_shrout_and_fleiss_print_them():
    found = intraclass_correlation(JUDGED)
    assert dict(zip(FORMS, found.value.round(2).tolist(), strict=True)) == {
        "ICC(1,1)": 0.17, "ICC(2,1)": 0.29, "ICC(3,1)": 0.71, "ICC(1,k)": 0.44, "ICC(2,k)": 0.62, "ICC(3,k)": 0.91,
    }  # fmt: skip
    # as printed by the package psych for R for this table
    low, high = [-0.133, 0.019, 0.342, -0.884, 0.071, 0.676], [0.72, 0.76, 0.95, 0.91, 0.93, 0.99]
    assert found.interval[:, 0] == pytest.approx(low, abs=5.1e-4)
    assert found.interval[:, 1] == pytest.approx(high, abs=5.1e-3)
    assert (found.method, found.items, found.raters) == ("F", 6, 4)


def test_intraclass_correlations_from_the_mean_squares_of_statsmodels():
    rng = np.random.default_rng(0)
    n, k = 9, 3
    values = rng.normal(0, 1, (n, 1)) + rng.normal(0, 0.5, (1, k)) + rng.normal(0, 0.7, (n, k))
    item, rater = np.indices(values.shape)
    frame = pd.DataFrame({"value": values.ravel(), "item": item.ravel(), "rater": rater.ravel()})
    two = anova_lm(ols("value ~ C(item) + C(rater)", frame).fit())["mean_sq"]
    one = anova_lm(ols("value ~ C(item)", frame).fit())
    rows, columns, error, within = two["C(item)"], two["C(rater)"], two["Residual"], one["mean_sq"]["Residual"]
    found = intraclass_correlation(values)
    assert found.value == pytest.approx(
        [
            (rows - within) / (rows + (k - 1) * within),
            (rows - error) / (rows + (k - 1) * error + k * (columns - error) / n),
            (rows - error) / (rows + (k - 1) * error),
            1 - within / rows,
            (rows - error) / (rows + (columns - error) / n),
            1 - error / rows,
        ]
    )
    low = one["F"]["C(item)"] / scipy.stats.f.ppf(0.975, n - 1, n * (k - 1))
    assert found.interval[[0, 3], 0] == pytest.approx([(low - 1) / (low + k - 1), 1 - 1 / low])


def test_one_way_of_unequal_numbers_of_grades_by_hand():
    # 1 3 | 4 | 5 6 7 | 8 8; the second item has one grade only. N = 7, sum k² = 17, k = (7 - 17 / 7) / 2 = 16 / 7
    # sums 4, 18, 16 of 2, 3, 2: between = (8 + 108 + 128 - 38² / 7) / 2; within = (2 + 2 + 0) / 4
    found = intraclass_correlation([[1, 3, None], [4, None, None], [5, 6, 7], [8, None, 8]])
    between, within, k = (244 - 38**2 / 7) / 2, 1, 16 / 7
    assert found.raters == pytest.approx(k)
    assert found.value[[0, 3]] == pytest.approx([(between - within) / (between + (k - 1) * within), 1 - 1 / between])
    assert np.isnan(found.value[[1, 2, 4, 5]]).all()
    assert [bool(reason) for reason in found.reason] == [False, True, True, False, True, True]
    assert found.method == "bootstrap"


def test_intervals_of_unequal_numbers_of_grades_are_those_of_drawn_items():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(12, 3)) + np.arange(12)[:, None] / 3
    values[4, 1] = np.nan
    found = intraclass_correlation(values, 1000, 0)
    drawn = [intraclass_correlation(values[rng.integers(0, 12, 12)], 0).value[[0, 3]] for _ in range(300)]
    assert found.interval[[0, 3]] == pytest.approx(
        np.array([expanded(each, 12) for each in np.transpose(drawn)]), abs=0.1
    )


def test_intraclass_correlations_that_are_undefined_or_one():
    for values in ([[1, 1], [1, 1]], [[1, None], [None, 2]], np.zeros((0, 3)), [[1, 2]]):
        found = intraclass_correlation(values)
        assert np.isnan(found.value).all()
        assert np.isnan(found.interval).all()
        assert all(found.reason)
    found = intraclass_correlation([[1, 1], [2, 2], [4, 4]])
    assert (found.value.tolist(), found.interval.tolist()) == ([1] * 6, [[1, 1]] * 6)


# ---- complete results ----


@pytest.mark.parametrize("metric", METRICS)
@given(values=tables)
def test_grade_agreement_is_what_the_functions_say(metric, values):
    found = grade_agreement(values, metric, bootstrap=0)
    weights = None if metric == "nominal" else "quadratic"
    codes = np.array([[-2 if value is None else value for value in row] for row in values])
    used = sorted({value for row in values for value in row if value is not None})
    counts = sparse.csr_array(np.stack([(codes == level).sum(axis=1) for level in used or [0]], axis=1))
    ac = gwet_ac1(counts) if weights is None else gwet_ac2(counts, weights, levels=used or [0])
    expected = [nominal_alpha(values, metric), ac, conger_kappa(values, weights)]
    assert found.value == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert [bool(reason) for reason in found.reason] == np.isnan(found.value).tolist()
    assert found.items == ((codes != -2).sum(axis=1) >= 2).sum()


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_are_those_of_drawn_items(metric, monkeypatch):
    rng = np.random.default_rng(1)
    values = np.clip(rng.integers(1, 6, (40, 1)) + rng.integers(-1, 2, (40, 3)), 0, 6).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    found = grade_agreement(values, metric, bootstrap=300, seed=3)
    weights, drawn, levels = None if metric == "nominal" else "quadratic", [], np.arange(7)
    used = values[(~np.isnan(values)).sum(axis=1) >= 2]
    for times in np.concatenate(list(draws(len(used), 300, 3))).astype(int):
        chosen = np.repeat(used, times, axis=0)
        counts = sparse.csr_array((chosen[:, :, None] == levels).sum(axis=1))
        ac = gwet_ac1(counts) if weights is None else gwet_ac2(counts, weights, levels=levels)
        drawn.append([nominal_alpha(chosen, metric), ac, conger_kappa(chosen, weights)])
    alpha, ac, kappa = np.transpose(drawn)
    assert found.interval[[0, 2]] == pytest.approx(np.array([expanded(each, len(used)) for each in (alpha, kappa)]))
    # Student's t of log(1 - AC), with the deviation of the replicates widened by sqrt(n / (n - 1))
    n = len(used)
    reach = scipy.stats.t.ppf(0.975, n - 1) * np.log(1 - ac).std() * (n / (n - 1)) ** 0.5
    assert found.interval[1] == pytest.approx(1 - (1 - found.value[1]) * np.exp([reach, -reach]))
    assert np.isnan(grade_agreement(used[:7], metric, bootstrap=300).interval).all()
    monkeypatch.setattr(coefficients, "FEW_CATEGORIES", 0)
    monkeypatch.setattr("kalos_core.nominal.graded.FEW_CATEGORIES", 0)
    again = grade_agreement(values, metric, bootstrap=300, seed=3)
    assert again.interval == pytest.approx(found.interval, abs=1e-12)
