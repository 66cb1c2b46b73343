"""Alpha of questions with metrics other than nominal."""

import numpy as np
import pytest

from kalos_core import InputError, LabelTable, grade_agreement, intraclass_correlation, label_agreement, nominal_alpha
from kalos_core.nominal import conger_kappa, label_findings


def rows(names):
    rng = np.random.default_rng(0)
    return [
        {"item": item, "rater": rater, "label": names[int(np.clip(item % 4 + rng.integers(-1, 2), 0, len(names) - 1))]}
        for item in range(24)
        for rater in ("ann", "bob", "cid")
        if rng.random() < 0.9
    ]


NUMBERS = LabelTable.from_rows(rows(["9", "10", "12.5", "20"]), groups="grade")
NAMES = ["none", "mild", "severe", "fatal"]
NAMED = LabelTable.from_rows(rows(NAMES), groups="grade")
TWO = LabelTable.from_rows(
    [{**row, "label": [row["label"], ("in", "out")[at % 2], "sharp"]} for at, row in enumerate(rows(NAMES))],
    groups={"grade": NAMES, "place": ["in", "out"]},
)


def answers(table):
    """Return items x raters of the answers' names; None if there is none."""
    names = [*table.options(), None]
    return [[names[max(code, -1)] for code in row] for row in table.values()]


def numbers(table):
    return [[None if name is None else float(name) for name in row] for row in answers(table)]


@pytest.mark.parametrize("metric", ["ordinal", "interval", "ratio"])
def test_weighted_coefficients_of_a_question_are_those_of_its_numbers(metric):
    values = numbers(NUMBERS)
    findings = label_findings(NUMBERS, bootstrap=30, seed=5, metric=metric)
    nominal = label_agreement(NUMBERS, bootstrap=0)
    assert findings.agreement.alpha[0] == pytest.approx(nominal_alpha(values, metric), abs=1e-12)
    assert findings.agreement.metric.tolist() == [metric]
    assert (findings.agreement.fleiss, findings.agreement.spa) == (nominal.fleiss, nominal.spa)
    (found,) = findings.grades
    of = dict(found.to_pandas()[["coefficient", "value"]].to_numpy().tolist())
    assert of[f"alpha, {metric}"] == pytest.approx(nominal_alpha(values, metric), abs=1e-12)
    assert of["Conger's kappa, quadratic"] == pytest.approx(conger_kappa(values, "quadratic"), abs=1e-12)
    forms = intraclass_correlation(values, 30, 5)
    assert [of[form] for form in forms.form] == pytest.approx(forms.value.tolist(), nan_ok=True)
    np.testing.assert_array_equal(found.correlation.interval, forms.interval)
    again = grade_agreement(values, metric, bootstrap=30, seed=5)
    np.testing.assert_allclose(found.weighted.value, again.value)
    np.testing.assert_allclose(found.weighted.interval, again.interval)
    assert found.headline.startswith(f"grade: {metric} alpha ")


def test_coefficients_in_a_stated_order_count_its_empty_grades():
    values = answers(NAMED)
    alpha = nominal_alpha(values, "ordinal", order=NAMES)
    for order in (NAMES, {"grade": NAMES}):
        found = label_findings(NAMED, bootstrap=0, metric="ordinal", order=order)
        assert found.agreement.alpha == pytest.approx(alpha, abs=1e-12)
    places = [[None if name is None else NAMES.index(name) for name in row] for row in values]
    expected = grade_agreement(values, "ordinal", order=NAMES, bootstrap=0)
    assert found.grades[0].weighted.value == pytest.approx(expected.value)
    assert found.grades[0].correlation.value == pytest.approx(intraclass_correlation(places, 0).value, nan_ok=True)
    fewer = NAMED.without_answers(np.isin(NAMED.answered(), [NAMED.options().index("none")]))
    of_order = label_findings(fewer, bootstrap=0, metric="ordinal", order=NAMES).grades[0].weighted
    kept = [[None if name == "none" else name for name in row] for row in values]
    expected = grade_agreement([row for row in kept if any(row)], "ordinal", order=NAMES, bootstrap=0)
    assert of_order.value == pytest.approx(expected.value)
    graded = label_findings(TWO, bootstrap=0, metric={"grade": "ordinal"}, order=NAMES).grades
    assert [question.question for question in graded] == ["grade"]
    assert label_findings(NAMED, bootstrap=0).grades == ()


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        (NAMED, {"metric": "ordinal"}, "different numbers for 'ordinal' of grade, got 'none': order={'grade'"),
        (NAMED, {"metric": "ratio", "order": NAMES}, "no group with an ordinal metric"),
        (TWO, {"metric": "ordinal", "order": NAMES}, "expected a mapping of groups"),
        (TWO, {"metric": {"colour": "ordinal"}}, "metric: expected"),
        (TWO, {"metric": {"grade": "cardinal"}}, "cardinal"),
        (NAMED, {"metric": "ordinal", "order": NAMES[:3]}, "expected the categories of grade"),
        (NAMED, {"metric": "ordinal", "order": {"grade": 5}}, "order: expected"),
        (NUMBERS, {"metric": "ordinal", "order": {"place": ["9"]}}, "order: expected"),
    ],
)
def test_metrics_that_do_not_fit(table, more, message):
    with pytest.raises(InputError, match=message):
        label_agreement(table, **more)
