"""The fitted model as a whole: distributions from their own observations, defaults where few, tests of fit."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from kalos_core import Annotations, InputError, NoiseModel
from kalos_core.noise import DISTRIBUTIONS
from kalos_core.noise.fit.distributions import CONSTANTS, KAPPA, LEAST_ROWS, estimate_distributions
from kalos_core.noise.fit.goodness import confusion_matrix
from kalos_core.noise.fit.observations import Observations, Shifts
from kalos_core.noise.parameters import CARDINAL, Shift, SizeCurve

ROWS = 1000
TRUE = NoiseModel.default()


def sizes(distribution, area, rng):
    """Sizes of changes by the distribution's definition."""
    low, high = distribution.limits
    residual = np.clip(distribution.mu + distribution.sigma * rng.standard_t(distribution.nu, len(area)), low, high)
    return np.abs(distribution.intercept + distribution.slope * area + residual)


def shifts(translation, width, height, angle, rng, enlarged=0.0):
    area = rng.uniform(0.001, 0.3, ROWS)
    across, down = (np.maximum(0, sizes(distribution, area, rng) - enlarged) for distribution in (width, height))
    return Shifts(area, sizes(translation, area, rng), angle, across, down)


def cardinal(rng):
    distribution = rng.choice(4, ROWS, p=(0.4, 0.2, 0.3, 0.1))
    return np.array(CARDINAL)[distribution] + rng.vonmises(0, 10, ROWS)


MOVED = Shift(0.05, 0.2, 3.0, 0.0, 0.01)
SCALED = Shift(0.6, -0.5, 5.0, 0.0, 0.05)


@pytest.fixture(scope="module")
def drawn():
    """Observations of a model that is known."""
    rng = np.random.default_rng(0)
    along = 0.4 + rng.vonmises(0, 2, ROWS) / 2 + np.pi * rng.integers(0, 2, ROWS)
    annotations = rng.integers(0, 40, ROWS).reshape(-1, 2)
    area = rng.uniform(0.0005, 0.3, 4 * ROWS)
    unmatched = rng.random(len(area)) < 1 / (1 + np.exp(3 + 0.5 * np.log(area)))
    # one parent for an annotation that the reference holds, among the annotations of both raters
    parent = rng.random(len(area)) < 0.5 / (1 + np.exp(1 - 0.5 * np.log(area)))
    wrong = rng.random(ROWS) < 0.1
    category = rng.integers(0, 5, ROWS)
    return Observations(
        correct=shifts(MOVED, SCALED, SCALED, cardinal(rng), rng),
        wrong_class=shifts(MOVED, SCALED, SCALED, along, rng),
        category_a=category,
        category_b=np.where(wrong, (category + 1) % 5, category),
        categories=np.array(list("abcde"), dtype=object),
        events=rng.poisson(np.exp(0.5 + 0.04 * annotations)),
        annotations_per_rater=annotations,
        matched_area=area[~unmatched],
        unmatched_area=area[unmatched],
        parent_area=area[parent],
        other_area=area[~parent],
        first=shifts(MOVED, SCALED, SCALED, cardinal(rng), rng, enlarged=KAPPA),
        second=shifts(MOVED, SCALED, SCALED, cardinal(rng), rng),
        opposition=rng.beta(4.53, 0.53, ROWS),
    )


@pytest.fixture(scope="module")
def estimates(drawn):
    return estimate_distributions(drawn, "exponential", paper=True)


@pytest.mark.parametrize(
    ("distribution", "true"),
    [(f"{group}.translation", MOVED) for group in ("localization", "category")]
    + [("topology.first_translation", MOVED), ("topology.second_distance", MOVED)]
    + [
        (f"{group}{side}", SCALED)
        for group in ("localization.", "category.", "topology.first_", "topology.second_")
        for side in ("width", "height")
    ],
)
def test_each_shift_comes_back(estimates, distribution, true):
    found = estimates[distribution].distribution
    assert found.intercept == pytest.approx(true.intercept, abs=0.2 * true.sigma)
    assert found.slope == pytest.approx(true.slope, abs=1.2 * true.sigma)
    assert found.sigma == pytest.approx(true.sigma, rel=0.15)
    assert found.nu == pytest.approx(true.nu, rel=0.5)


def test_the_other_distributions_come_back(estimates):
    np.testing.assert_allclose(estimates["localization.angle"].distribution.weights, (0.4, 0.2, 0.3, 0.1), atol=0.05)
    np.testing.assert_allclose(estimates["topology.first_angle"].distribution.kappas, 10, rtol=0.5)
    assert estimates["category.angle"].distribution.axis == pytest.approx(0.4, abs=0.08)
    assert estimates["category.angle"].distribution.kappa == pytest.approx(2, rel=0.15)
    assert estimates["topology.opposition"].distribution.alpha == pytest.approx(4.53, rel=0.2)
    assert estimates["topology.opposition"].distribution.beta == pytest.approx(0.53, rel=0.15)


@pytest.mark.parametrize(
    ("distribution", "true"),
    [
        ("category.occurrence", (0.1,)),
        ("unmatched.rate", (0.5, 0.04)),
        ("unmatched.selection", (-3.0, -0.5)),
        ("topology.susceptibility", (-1.0, 0.5)),
    ],
)
def test_chances_come_back_within_their_intervals(estimates, distribution, true):
    found = estimates[distribution]
    values = list(vars(found.distribution).values())[: len(found.interval)]
    for value, (low, high), truth in zip(values, found.interval, true, strict=True):
        margin = (high - low) / 4  # 95 % intervals of seven numbers: a little wider, so that all hold at once
        assert low < value < high
        assert low - margin < truth < high + margin


def test_the_occurrence_is_a_share_with_wilsons_interval(drawn, estimates):
    wrong, z = (drawn.category_a != drawn.category_b).sum(), stats.norm.ppf(0.975)
    share = wrong / ROWS
    found = estimates["category.occurrence"]
    assert found.distribution.probability == share
    middle, half = share + z**2 / (2 * ROWS), z * np.sqrt(share * (1 - share) / ROWS + z**2 / (4 * ROWS**2))
    ends = (np.array([middle - half, middle + half])) / (1 + z**2 / ROWS)
    np.testing.assert_allclose(found.interval, [ends])


def two_raters(rng, images=30, annotations=6):
    """Two raters who differ by a pixel or two; every tenth annotation has another class or is missing."""
    rows = []
    for image in range(images):
        for index in range(annotations):
            box = np.array([10 + 15 * index, rng.uniform(5, 70), rng.uniform(8, 14), rng.uniform(8, 20)])
            name = "cat" if index % 2 else "dog"
            rows.append({"image": image, "rater": "ann", "category": name, "box": box.tolist()})
            if rng.random() < 0.9:
                other = "fox" if rng.random() < 0.1 else name
                noisy = box + np.append(np.clip(rng.standard_t(3, 2) / 4, -3, 3), np.zeros(2))
                rows.append({"image": image, "rater": "bob", "category": other, "box": noisy.tolist()})
    return Annotations.from_rows(rows, image_size=dict.fromkeys(range(images), (100, 100)))


@pytest.fixture(scope="module")
def fitted():
    return NoiseModel.fit(two_raters(np.random.default_rng(0)))


def test_a_distribution_with_too_few_rows_keeps_its_default_and_says_so(fitted):
    for distribution in DISTRIBUTIONS:
        origin = fitted.provenance[distribution]
        if distribution in CONSTANTS:
            assert origin.source == "paper"
        elif distribution == "localization.overlap":
            assert origin.source == "chosen"
        elif origin.source == "default":
            assert fitted.distribution(distribution) == TRUE.distribution(distribution)
        else:
            assert origin.source == "fitted"
            assert origin.rows >= LEAST_ROWS
    assert fitted.provenance["localization.translation"].source == "fitted"
    assert fitted.provenance["topology.opposition"].source == "default"
    assert fitted.provenance["topology.opposition"].reason == "only 0 pairs of fragments, 30 are needed"
    assert fitted.provenance["category.width"].reason.startswith("only ")


def test_nobody_unmatched_is_a_rate_of_zero_and_equal_numbers_tell_a_constant_one():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [10, 10, 20, 20]}
        for image in range(LEAST_ROWS)
        for rater in ("ann", "bob")
    ]
    sizes = dict.fromkeys(range(LEAST_ROWS), (100, 100))
    alike = NoiseModel.fit(Annotations.from_rows(rows, image_size=sizes))
    origin = alike.provenance["unmatched.rate"]
    assert origin.source == "fitted"
    # 60 images and raters without an event: Poisson's exact 95 % ends at -ln(.025) / 60 = .0615
    assert (
        origin.reason
        == "no annotation is unmatched on 30 images of two raters: 0, at most 0.061 an image and rater (95 %)"
    )
    assert alike.unmatched.rate.expected([1, 5, 100]) == pytest.approx(0, abs=1e-40)
    assert alike.unmatched.selection == TRUE.unmatched.selection
    alone = [{**row, "box": [60, 60, 10, 10]} for row in rows if row["rater"] == "bob"]
    more = NoiseModel.fit(Annotations.from_rows(rows + alone, image_size=sizes))
    assert "show no trend over the number of annotations" in more.provenance["unmatched.rate"].reason
    assert more.unmatched.rate.expected([1, 2]) == pytest.approx([0.5, 0.5])  # 30 on 60 images and raters
    assert "one area separates them" in more.provenance["unmatched.selection"].reason


def test_fewer_than_30_images_that_anybody_annotated_tell_no_rate():
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [10, 10, 20, 20]}
        for image in range(LEAST_ROWS - 1)
        for rater in ("ann", "bob")
    ]
    sizes = dict.fromkeys(range(100), (100, 100))
    few = NoiseModel.fit(Annotations.from_rows(rows, images=range(100), image_size=sizes, assigned="all"))
    origin = few.provenance["unmatched.rate"]
    assert (origin.source, origin.rows) == ("default", LEAST_ROWS - 1)
    assert few.unmatched == TRUE.unmatched
    assert few.topology.susceptibility == TRUE.topology.susceptibility


def test_few_wholes_annotated_as_two_tell_how_often_but_not_by_which_area(drawn):
    small, large = np.full(100, 0.01), np.full(100, 0.04)
    given = replace(drawn, parent_area=small[:9], other_area=np.concatenate([small, large]))
    shape = SizeCurve(-4.0, 0.1)
    found = estimate_distributions(given, fragmented=shape)["topology.susceptibility"]
    assert found.distribution.slope == shape.slope
    assert found.rows == 209
    # nine of the annotations of one rater: the nine, and half of all others, are as many as there are wholes
    area = np.concatenate([small[:9], small, large])
    expected = np.average(found.distribution.probability(area), weights=np.repeat([1, 0.5], [9, 200])) * 109
    assert expected == pytest.approx(9)
    # 9 of 109 is a log odds of -2.408; the slope makes up for areas of about .02
    at = stats.logistic.ppf(9 / 109) - 0.1 * np.log(0.02)
    assert found.distribution.intercept == pytest.approx(at, abs=0.03)
    none = estimate_distributions(replace(given, parent_area=small[:0]), fragmented=shape)["topology.susceptibility"]
    assert none.distribution.probability([1e-4, 0.5]) == pytest.approx([0, 0], abs=1e-40)
    assert none.reason == "none of 200 annotations is annotated as two: never"
    # 60 of either rater or fewer are no 30 of one
    assert (
        estimate_distributions(replace(given, parent_area=small[:0], other_area=small[:59]), fragmented=shape)[
            "topology.susceptibility"
        ].distribution
        is None
    )


def test_one_area_shows_no_curve(drawn):
    one = np.full(40, 0.0016)
    given = replace(drawn, unmatched_area=one + 1e-17, matched_area=one, parent_area=one, other_area=one - 1e-17)
    found = estimate_distributions(given, fragmented=SizeCurve(-4.0, 0.1))
    assert found["unmatched.selection"].reason == "all annotations are of one area, which fits no curve"
    # 40 of 40 wholes and half of 40 others are two thirds, whatever the slope
    assert found["topology.susceptibility"].distribution.probability(0.0016) == pytest.approx(2 / 3)


def test_a_model_is_fitted_to_annotations_only():
    for ask in (NoiseModel.fit, TRUE.fidelity):
        with pytest.raises(InputError, match="annotations: expected Annotations, got int"):
            ask(5)


def test_a_fitted_model_goes_to_json_without_its_observations(fitted):
    back = NoiseModel.from_json(fitted.to_json())
    assert back == fitted
    assert back.observations is None
    with pytest.raises(InputError, match=r"expected one from NoiseModel\.fit"):
        back.tests()


def test_the_tests_of_fit_stand_in_one_table(fitted):
    table = fitted.tests(permutations=49).to_pandas()
    assert set(table["distribution"]) <= set(DISTRIBUTIONS)
    shift = table[table["distribution"] == "localization.translation"]
    assert shift["test"].tolist() == ["KS", "KS", "AIC", "AIC", "trend"]
    assert shift["model"].tolist()[:2] == ["Student t", "normal"]
    angle = table[table["distribution"] == "localization.angle"]
    assert angle["test"].tolist() == ["Rayleigh", "Kuiper"] + ["AIC"] * 4
    assert angle["note"].tolist().count("fits best") == 1
    few = table[table["distribution"] == "topology.first_width"].iloc[0]
    assert np.isnan(few["statistic"])
    assert few["note"] == "not applicable: fewer than 30 observations"
    mantel = table[table["test"] == "Mantel"].iloc[0]
    assert "no similarity of classes given" in mantel["note"]


RING = np.roll(np.eye(5), 1, axis=1)
"""How alike five classes are: each is like the next, which it is always taken for."""


@pytest.fixture(scope="module")
def tested(drawn):
    return replace(TRUE, observations=drawn).tests(RING, permutations=99).to_pandas()


def test_known_distributions_pass_and_others_do_not(drawn, tested):
    ks = tested[(tested["distribution"] == "localization.translation") & (tested["test"] == "KS")].set_index("model")
    assert ks.loc["Student t", "p_value"] > 0.05
    assert ks.loc["normal", "p_value"] < 0.01
    aic = tested[(tested["distribution"] == "category.angle") & (tested["test"] == "AIC")].set_index("model")[
        "statistic"
    ]
    assert aic.idxmin() == "axial"
    sizes = tested[tested["distribution"] == "unmatched.selection"].iloc[0]
    expected = stats.mannwhitneyu(drawn.unmatched_area, drawn.matched_area)
    assert (sizes["statistic"], sizes["p_value"]) == pytest.approx((expected.statistic, expected.pvalue))
    trend = tested[(tested["distribution"] == "localization.width") & (tested["test"] == "trend")].iloc[0]
    assert trend["statistic"] == pytest.approx(np.polyfit(drawn.correct.area, drawn.correct.width, 1)[0])
    dependent = tested[tested["test"] == "chi-squared, permuted"].iloc[0]
    assert dependent["p_value"] == pytest.approx(1 / 100)


def test_mantel_takes_a_similarity_of_the_classes(drawn, tested):
    row = tested[tested["test"] == "Mantel"].iloc[0]
    wrong = drawn.category_a != drawn.category_b
    counts = confusion_matrix(drawn.category_a[wrong], drawn.category_b[wrong], 5)
    over = np.triu_indices(5, 1)
    assert row["statistic"] == pytest.approx(np.corrcoef(counts[over], ((RING + RING.T) / 2)[over])[0, 1])
    assert row["p_value"] == pytest.approx(12 / 120, abs=0.1)  # as many orders of five classes keep their ring


@pytest.mark.parametrize("similarity", [np.eye(3), np.full((5, 5), np.nan), "alike", [[1, 2], [3]]])
def test_a_similarity_that_does_not_fit_is_refused(drawn, similarity):
    with pytest.raises(InputError, match=r"similarity: expected (finite )?numbers"):
        replace(TRUE, observations=drawn).tests(similarity)


def test_the_same_seed_gives_the_same_table(fitted):
    one, other = (fitted.tests(permutations=19, seed=3).to_pandas() for _ in range(2))
    assert one.equals(other)


def test_lvis_agrees_with_the_paper_where_it_can(lvis):
    """KαLOS §9.3: heavy tails, cardinal directions, and small annotations that are missed; 200 of its images."""
    model = NoiseModel.fit(lvis)
    table = model.tests(permutations=9).to_pandas()
    for part in ("translation", "width", "height"):
        rows = table[table["distribution"] == f"localization.{part}"].set_index(["test", "model"])["statistic"]
        assert rows["KS", "Student t"] < rows["KS", "normal"]
        assert rows["AIC", "Student t"] < rows["AIC", "normal"]
    angle = table[(table["distribution"] == "localization.angle") & (table["test"] == "AIC")].set_index("model")[
        "statistic"
    ]
    assert angle.idxmin() == "axis-centred"
    assert model.unmatched.selection.slope < 0
    assert 0.02 < NoiseModel.fit(lvis, preset="paper").unmatched.rate.slope < 0.06  # the paper: .021 over all of LVIS
