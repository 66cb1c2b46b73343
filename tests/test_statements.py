"""Statements, with numbers worked out by hand."""

from __future__ import annotations

from kalos_core import Annotations, agreement, variations
from kalos_core._agreement import NOTHING_SHARED
from kalos_core.diagnostics import narrowed
from kalos_core.display import NO_BREAK
from kalos_core.statements import Statement, statements
from kalos_core.variation import narrowed_variations


def plain(said: list[Statement]) -> list[str]:
    return [statement.text.replace(NO_BREAK, " ") for statement in said]


def scene(images: int = 12) -> Annotations:
    """Return images with a cat that all see, and an object that ann and bob call a dog and cid a cat."""
    rows = [
        {"image": image, "rater": rater, "category": category, "box": [x, 0, 9, 9]}
        for image in range(images)
        for rater in ("ann", "bob", "cid")
        for category, x in (("cat", 0), ("cat" if rater == "cid" else "dog", 50))
    ]
    return Annotations.from_rows(rows)


def test_of_an_analysis_by_hand() -> None:
    """Alpha: n = 6, o = 3 + 1, D_o = 1 / 3, D_e = (36 - 16 - 4) / 30: 1 - 10 / 16 = .375; images alike: no interval.

    Dog: its one unit has two dogs and a cat, n = 3, o = 1, D_o = 2 / 3, D_e = 4 / 6: 0. Of cid and each
    other: n = 8, o = 4, D_o = 1 / 2, D_e = (64 - 36 - 4) / 56 = 3 / 7: -1 / 6. Findings: 6 pairs of
    annotations, 2 of them of different classes.
    """
    table = scene()
    kinds = narrowed(agreement(table)), narrowed_variations(variations(table))
    said = statements(*kinds, ceiling=0.6607, disputes=(12, 3), changed=1402)
    assert plain(said) == [
        "Raters agree little, alpha 0.38: not reliable enough to draw conclusions from.",
        "Hardest class: dog, alpha 0.00 on 12 images (of those on at least 10 images).",
        "cid is furthest from the others: alpha −0.17.",
        "cid gives another class to 12 of 24 own labels, mostly cat; the others 0 of 48.",
        "Most frequent difference: two raters gave an object different classes, 24 (33 %) of all findings.",
        "Ceiling for a model: mAP 66.1, measured between raters. Above it these labels cannot tell which model is "
        "better.",
        "3 (25 %) of 12 decisions about disputes are made.",
        "1,402 samples were edited since.",
    ]
    sections = ["Images", "Classes", "Raters", "Raters", "Variations", "Ceiling", "Decide", "Runs"]
    assert [statement.leads_to for statement in said] == sections
    of_cid = {"rater": "cid"}
    selected = [{"category": "dog"}, of_cid, {**of_cid, "kind": "wrong_class"}, {"kind": "wrong_class"}]
    assert [dict(statement.arguments) for statement in said[1:5]] == selected


def test_systematic_disagreement_is_said_as_such() -> None:
    """Each object is annotated by one rater only: n = 4, o = 4 (cat, no object), D_o = 1, D_e = 8 / 12: 1 - 3 / 2."""
    rows = [
        {"image": 1, "rater": rater, "category": "cat", "box": [x, 0, 9, 9]} for rater, x in (("ann", 0), ("bob", 50))
    ]
    (said,) = plain(statements(narrowed(agreement(Annotations.from_rows(rows), bootstrap=0))))
    assert said.startswith("Raters disagree systematically, alpha −0.5")


def test_a_class_on_few_images_is_not_called_the_hardest() -> None:
    said = plain(statements(narrowed(agreement(scene(9)))))
    assert not any("Hardest" in text for text in said)


def test_undefined_results_have_no_sentence() -> None:
    assert statements(ceiling=float("nan")) == []
    rows = [{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in ("ann", "bob")]
    alone = Annotations.from_rows(rows[:1], raters=["ann", "bob"], assigned={1: ["ann"]})
    assert plain(statements(narrowed(agreement(alone)))) == [f"Alpha is undefined: {NOTHING_SHARED}."]
    same = narrowed_variations(variations(Annotations.from_rows(rows)))
    assert plain(statements(found=same)) == ["No two raters differ in any finding."]
