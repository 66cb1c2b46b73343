import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from statsmodels.stats import inter_rater

from kalos_core import InputError, cohen_kappa, fleiss_kappa, nominal_alpha
from kalos_core.nominal import alpha_of_counts, conger_kappa, encode_values, landis_koch, observed_agreement
from kalos_core.nominal.coefficients import free_marginal_kappa, gwet_ac1

OF_COUNTS = {
    "fleiss": fleiss_kappa,
    "bp": free_marginal_kappa,
    "gwet": gwet_ac1,
    "krippendorff": alpha_of_counts,
    "pa": observed_agreement,
}
PRINTED = {
    "fleiss_kappa": "fleiss",
    "fleiss_kappa_gwet_missing": "fleiss",
    "gwet_ac1": "gwet",
    "krippendorff_alpha_nominal": "krippendorff",
    "alpha_nominal": "krippendorff",
    "brennan_prediger_free_marginal": "bp",
    "brennan_prediger": "bp",
    "pa": "pa",
}


def counts_of(values):
    codes = encode_values(values)
    categories = max(int(codes.max(initial=0)) + 1, 1)
    return np.stack([(codes == code).sum(axis=1) for code in range(categories)], axis=1)


def ratings(table):
    """Return items by raters of a published table."""
    data = np.array(table["data"], dtype=object)
    if table["kind"] == "contingency":
        rows, columns = np.nonzero(data)
        times = data[rows, columns].astype(int)
        return np.column_stack([np.repeat(rows, times), np.repeat(columns, times)])
    return data.T if table["kind"].endswith("raters_x_units") else data


def decimals(number):
    return len(str(number).partition(".")[2])


def test_every_nominal_coefficient_that_the_sources_print(nominal_tables):
    checked = 0
    for name, table in nominal_tables.items():
        printed = {key: value for key, value in table["expected"].items() if key in PRINTED}
        printed |= {
            key: value
            for key, value in table.get("irrcac_test_values_3dp", {}).items()
            if key.endswith("/identity") and key.split("/")[0] in OF_COUNTS
        }
        counts = table["data"] if table["kind"] == "counts" else counts_of(ratings(table))
        for key, value in printed.items():
            found = OF_COUNTS[PRINTED.get(key, key.split("/")[0])](counts)
            assert found == pytest.approx(value, abs=0.51 * 10 ** -decimals(value)), (name, key)
            checked += 1
    assert checked == 34


def test_cohen_conger_and_scott_as_printed(nominal_tables):
    tables_of = {name: ratings(table) for name, table in nominal_tables.items() if table["kind"] != "counts"}
    assert cohen_kappa(*tables_of["sas_3x3"].T) == pytest.approx(0.4842, abs=5e-5)
    assert cohen_kappa(*tables_of["gwet_3x3_abstractors"].T) == pytest.approx(0.79641, abs=5e-6)
    assert cohen_kappa(*tables_of["gwet_4x4_diagnosis"].T) == pytest.approx(0.432, abs=5e-4)
    assert cohen_kappa(*tables_of["irr_anxiety_20x3"][:, 1:].T) == pytest.approx(-0.006289308, abs=1e-8)
    checked = 0
    for name, values in tables_of.items():
        printed = nominal_tables[name].get("irrcac_test_values_3dp", {})
        if "conger/identity" in printed:
            assert conger_kappa(values) == pytest.approx(printed["conger/identity"], abs=5.1e-4)
            checked += 1
        if "scott/identity" in printed:  # Fleiss' kappa of two raters
            assert fleiss_kappa(counts_of(values)) == pytest.approx(printed["scott/identity"], abs=5.1e-4)
            checked += 1
    assert checked == 7


def test_fleiss_by_hand():
    # four items, two raters: P = 3 / 4; shares 5/8 and 3/8, so P_e = 34 / 64
    counts = [[2, 0], [0, 2], [1, 1], [2, 0]]
    assert observed_agreement(counts) == 0.75
    assert fleiss_kappa(counts) == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64))
    assert free_marginal_kappa(counts) == pytest.approx(0.5)
    # AC1: P_e = 2 * 5/8 * 3/8 = 30 / 64
    assert gwet_ac1(counts) == pytest.approx((0.75 - 30 / 64) / (1 - 30 / 64))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(2, 5))
def test_fleiss_and_free_marginal_are_those_of_statsmodels(seed, raters, categories):
    counts = np.random.default_rng(seed).multinomial(raters, np.full(categories, 1 / categories), 9)
    assert fleiss_kappa(counts) == pytest.approx(inter_rater.fleiss_kappa(counts))
    assert free_marginal_kappa(counts) == pytest.approx(inter_rater.fleiss_kappa(counts, method="randolph"))


def test_dense_and_sparse_counts():
    counts = np.random.default_rng(0).multinomial(4, [0.5, 0.3, 0.2], 40)
    for coefficient in OF_COUNTS.values():
        assert coefficient(sparse.csr_array(counts)) == coefficient(counts)
        assert coefficient([[3, 0], [0, 3]]) == 1


def test_undefined_is_nan():
    nothing, one_class = [[1, 0], [0, 1]], [[2, 0], [3, 0]]
    undefined = [coefficient(counts) for coefficient in OF_COUNTS.values() for counts in (nothing, np.zeros((0, 2)))]
    undefined += [coefficient([[2], [3]]) for coefficient in (free_marginal_kappa, gwet_ac1)]
    undefined += [fleiss_kappa(one_class), cohen_kappa([1, 1], [1, 1]), cohen_kappa([1, None], [None, 1])]
    undefined += [conger_kappa([[1, None], [None, 1]]), nominal_alpha(np.zeros((0, 2), int))]
    assert np.isnan(undefined).all()
    assert alpha_of_counts(one_class) == free_marginal_kappa(one_class) == 1


def test_bands_of_landis_and_koch():
    bounds = {0.81: "almost perfect", 0.61: "substantial", 0.41: "moderate", 0.21: "fair", 0.0: "slight", -0.1: "poor"}
    assert {value: landis_koch(value) for value in bounds} == bounds


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nominal_alpha([1, 2]), "values: expected items x raters"),
        (lambda: nominal_alpha([[1, 2], [1]]), "rows of unequal length"),
        (lambda: nominal_alpha([[1, -3]]), "at least -2, got -3"),
        (lambda: nominal_alpha([[{}, {}]]), "can be compared, got unhashable type"),
        (lambda: cohen_kappa([1, 2], [1]), "as many values as in first"),
    ],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call()
