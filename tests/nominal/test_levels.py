"""Alpha of questions by another metric than the nominal one."""

import numpy as np
import pytest

from kalos_core import (
    InputError,
    LabelTable,
    grade_agreement,
    intraclass_correlation,
    label_agreement,
    nominal_alpha,
)
from kalos_core.cli import main
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
    [
        {"item": row["item"], "rater": row["rater"], "label": [row["label"], place, "sharp"]}
        for row, place in zip(rows(NAMES), ["in", "out"] * 72, strict=False)
    ],
    groups={"grade": NAMES, "place": ["in", "out"]},
)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_of_a_question_is_that_of_its_numbers(metric):
    numbers = [float(name) for name in NUMBERS.options()]
    values = [[None if code < 0 else numbers[code] for code in row] for row in NUMBERS.values()]
    found = label_agreement(NUMBERS, bootstrap=0, metric=metric)
    assert found.alpha[0] == pytest.approx(nominal_alpha(values, metric), abs=1e-12)
    assert found.metric.tolist() == [metric]
    nominal = label_agreement(NUMBERS, bootstrap=0)
    assert (found.fleiss, found.spa) == (nominal.fleiss, nominal.spa)


def test_alpha_of_a_question_in_a_stated_order():
    values = [[None if code < 0 else NAMED.options()[code] for code in row] for row in NAMED.values()]
    expected = nominal_alpha(values, "ordinal", order=NAMES)
    for order in (NAMES, {"grade": NAMES}):
        found = label_agreement(NAMED, bootstrap=0, metric="ordinal", order=order)
        assert found.alpha[0] == pytest.approx(expected, abs=1e-12)
    assert label_findings(NAMED, bootstrap=0, metric="ordinal", order=NAMES).agreement.alpha == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["ordinal", "interval", "ratio"])
def test_weighted_coefficients_of_a_question_are_those_of_its_numbers(metric):
    numbers = [float(name) for name in NUMBERS.options()]
    values = [[None if code < 0 else numbers[code] for code in row] for row in NUMBERS.values()]
    (found,) = label_findings(NUMBERS, bootstrap=30, seed=5, metric=metric).grades
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


def test_weighted_coefficients_in_a_stated_order_count_its_empty_grades():
    values = [[None if code < 0 else NAMED.options()[code] for code in row] for row in NAMED.values()]
    places = [[None if name is None else NAMES.index(name) for name in row] for row in values]
    (found,) = label_findings(NAMED, bootstrap=0, metric="ordinal", order=NAMES).grades
    expected = grade_agreement(values, "ordinal", order=NAMES, bootstrap=0)
    assert found.weighted.value == pytest.approx(expected.value)
    assert found.correlation.value == pytest.approx(intraclass_correlation(places, 0).value, nan_ok=True)
    fewer = NAMED.without_answers(np.isin(NAMED.answered(), [NAMED.options().index("none")]))
    of_order = label_findings(fewer, bootstrap=0, metric="ordinal", order=NAMES).grades[0].weighted
    kept = [[None if name == "none" else name for name in row] for row in values]
    expected = grade_agreement([row for row in kept if any(row)], "ordinal", order=NAMES, bootstrap=0)
    assert of_order.value == pytest.approx(expected.value)
    assert [question.question for question in label_findings(TWO, bootstrap=0, metric={"grade": "ordinal"},
                                                             order=NAMES).grades] == ["grade"]  # fmt: skip
    assert label_findings(NAMED, bootstrap=0).grades == ()


def test_groups_with_metrics_of_their_own():
    plain = label_agreement(TWO, bootstrap=0)
    found = label_agreement(TWO, bootstrap=0, metric={"grade": "ordinal"}, order=NAMES)
    assert dict(zip(found.question, found.metric, strict=True)) == {
        "grade": "ordinal", "place": "nominal", "sharp": "nominal"
    }  # fmt: skip
    assert found.alpha[1:].tolist() == pytest.approx(plain.alpha[1:].tolist(), nan_ok=True)
    assert found.alpha[0] != plain.alpha[0]


@pytest.mark.parametrize(
    ("table", "more", "message"),
    [
        (NAMED, {"metric": "ordinal"}, "different numbers for 'ordinal' of grade, got 'none': order={'grade'"),
        (NAMED, {"metric": "ratio", "order": NAMES}, "no group with an ordinal metric"),
        (TWO, {"metric": "ordinal", "order": NAMES}, "expected a mapping of groups"),
        (TWO, {"metric": {"colour": "ordinal"}}, "metric: expected"),
        (TWO, {"metric": {"grade": "cardinal"}}, "cardinal"),
        (NAMED, {"metric": "ordinal", "order": NAMES[:3]}, "expected the categories of grade"),
        (NAMED, {"metric": "ordinal", "order": {"grade": 5}}, "from lowest to highest"),
        (NUMBERS, {"metric": "ordinal", "order": {"place": ["9"]}}, "order: expected"),
    ],
)
def test_metrics_that_do_not_fit(table, more, message):
    with pytest.raises(InputError, match=message):
        label_agreement(table, **more)


def test_metric_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "labels.csv"
    path.write_text("item,rater,label\n" + "".join(f"{r['item']},{r['rater']},{r['label']}\n" for r in rows(NAMES)))
    assert main(["labels", str(path), "--metric", "ordinal", "--order", *NAMES, "--bootstrap", "0"]) == 0
    values = [[None if code < 0 else NAMED.options()[code] for code in row] for row in NAMED.values()]
    assert f"mean alpha {nominal_alpha(values, 'ordinal', order=NAMES):.3f}" in capsys.readouterr().out
    assert main(["labels", str(path), "--metric", "ordinal", "--bootstrap", "0"]) == 2
    assert "order=" in capsys.readouterr().err
