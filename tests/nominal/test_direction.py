"""Raters who grade higher or lower than others: by hand, vs. pandas, and vs. Student's interval."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kalos_core import InputError
from kalos_core.nominal import LabelTable, grade_direction, label_findings

NAN = float("nan")


def some_grades(items: int = 60, shift: float = -0.4) -> np.ndarray:
    """Return grades of four raters; the mean of the last is shifted; a fifth of the grades are missing."""
    rng = np.random.default_rng(5)
    grades = rng.integers(1, 6, (items, 1)) + rng.normal(0, 0.5, (items, 4)) + [0, 0, 0, shift]
    return np.where(rng.random(grades.shape) < 0.2, np.nan, grades)


def test_by_hand():
    """ann and bob agree; cora is one lower on the first item; on the last, with bob only, she agrees."""
    grades = [[3, 3, 2], [NAN, 5, 5], [4, NAN, NAN]]
    found = grade_direction(grades, ["ann", "bob", "cora"], bootstrap=0)
    #  ann: 3 - 2.5 of one item; bob: (3 - 2.5 + 5 - 5) / 2; cora: (2 - 3 + 0) / 2; the third item has one grade
    assert found.difference.tolist() == [0.5, 0.25, -0.5]
    assert found.items.tolist() == [1, 2, 2]
    assert found.clear == []
    assert np.isnan(found.interval).all()
    assert found.headline == "No rater grades clearly higher or lower than the others"


def test_against_pandas():
    grades = some_grades()
    table = pd.DataFrame(grades).melt(ignore_index=False, var_name="rater", value_name="grade").dropna()
    table["item"] = table.index
    of_item = table.groupby("item")["grade"]
    table["others"] = (of_item.transform("sum") - table["grade"]) / (of_item.transform("count") - 1)
    table = table[of_item.transform("count") > 1]
    expected = (table["grade"] - table["others"]).groupby(table["rater"]).agg(["mean", "count"])
    found = grade_direction(grades, bootstrap=0)
    assert found.difference == pytest.approx(expected["mean"].to_numpy())
    assert found.items.tolist() == expected["count"].tolist()


def test_the_interval_is_about_that_of_student():
    grades = some_grades(400)
    found = grade_direction(grades, ["ann", "bob", "dan", "cora"], bootstrap=2000, seed=1)
    others = np.stack([pd.DataFrame(np.delete(grades, rater, axis=1)).mean(axis=1) for rater in range(4)], axis=1)
    for rater in range(4):
        apart = (grades - others)[:, rater]
        apart = apart[np.isfinite(apart)]
        low, high = stats.t.interval(0.95, len(apart) - 1, apart.mean(), stats.sem(apart))
        assert found.interval[rater] == pytest.approx([low, high], abs=0.012)
    assert found.clear[0] == 3
    assert found.text(3).startswith("cora grades lower by 0.")
    assert found.headline == found.text(3)


def test_labels_that_are_numbers_have_a_direction_by_themselves():
    rows = [
        {"item": item, "rater": rater, "label": str(item % 4 + 1 - (rater == "cora" and item % 4 > 0))}
        for item in range(40)
        for rater in ("ann", "bob", "cora")
    ]
    (direction,) = label_findings(LabelTable.from_rows(rows), bootstrap=50).directions
    assert direction.difference.tolist() == pytest.approx([0.375, 0.375, -0.75])
    assert "cora grades lower by 0.75" in direction.headline
    names = [{**row, "label": f"kind {row['label']}"} for row in rows]
    assert label_findings(LabelTable.from_rows(names), bootstrap=0).directions == ()


def test_input_that_is_no_table_of_grades():
    with pytest.raises(InputError, match=r"grades: expected a column for each rater, got an array of shape \(2,\)"):
        grade_direction([1, 2])
