"""The sentences that matter about a study: which class, rater and difference they name, and what they say of alpha."""

from __future__ import annotations

import pytest

from kalos_core import Annotations, agreement
from kalos_core.diagnostics import NarrowedAgreement, narrowed
from kalos_core.statements import WORTH, statements

BOX = [0, 0, 9, 9]


def study(*images: dict[str, str]) -> NarrowedAgreement:
    """One object an image, with the class that each rater gave it."""
    rows = [
        {"image": number, "rater": rater, "category": category, "box": BOX}
        for number, given in enumerate(images)
        for rater, category in given.items()
    ]
    return narrowed(agreement(Annotations.from_rows(rows, assigned="all"), bootstrap=0))


TRIO = {"ann": "cat", "bob": "cat", "cid": "cat"}


def texts(found: NarrowedAgreement, **more: object) -> dict[str, str]:
    return {entry.about: entry.text for entry in statements(found, **more)}  # type: ignore[arg-type]


def test_agreement_leads_with_its_band_and_what_it_is_worth() -> None:
    found = study(TRIO, TRIO, TRIO)
    assert statements(found)[0].text == f"Raters agree at α 1.00 (near perfect): {WORTH['near perfect']}."


@pytest.mark.parametrize(("alpha", "name"), [(0.81, "near perfect"), (0.61, "substantial"), (0.41, "moderate")])
def test_every_band_has_a_worth(alpha: float, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NarrowedAgreement, "alpha", alpha)
    found = study(TRIO)
    assert f"α {alpha} ({name}): {WORTH[name]}" in texts(found)["agreement"]


def test_without_an_alpha_it_says_why() -> None:
    found = study({"ann": "cat"})
    assert texts(found)["agreement"] == "No image has an alpha: fewer than two raters can be compared."


def test_the_hardest_class_and_the_rater_furthest_from_the_others_are_named() -> None:
    # of each dog, cid says cat: of the two dogs' units alpha is the lower, and cid's pairs are the worst
    dog = {"ann": "dog", "bob": "dog", "cid": "cat"}
    found = study(TRIO, TRIO, TRIO, dog, dog, dog)
    made = {entry.about: entry for entry in statements(found)}
    assert made["rater"].name == "cid"
    assert made["class"].name == "dog"
    assert "on 3 images" in made["class"].text


def test_two_raters_are_equally_far_from_one_another() -> None:
    assert "rater" not in texts(study({"ann": "cat", "bob": "dog"}))


def test_a_class_on_two_images_is_not_called_the_hardest() -> None:
    dog = {"ann": "dog", "bob": "dog", "cid": "cat"}
    assert "class" not in texts(study(TRIO, TRIO, TRIO, dog, dog))


def test_missing_and_additional_are_one_difference() -> None:
    counts = {"correct": 10, "wrong_class": 4, "missing": 3, "additional": 2}
    assert texts(study(TRIO), counts=counts)["variations"] == (
        "The most frequent difference is missing or additional: 5 of 19 findings (26\u00a0%)."
    )
    assert "wrong class: 4 of 17" in texts(study(TRIO), counts={**counts, "missing": 1})["variations"]
    assert "variations" not in texts(study(TRIO), counts={"correct": 3})


@pytest.mark.parametrize(
    ("disputes", "text"),
    [((0, 0), "No unit is in dispute."), ((4, 1), "1 of 4 units in dispute is decided."), ((4, 2), "2 of 4 units")],
)
def test_disputes_are_counted(disputes: tuple[int, int], text: str) -> None:
    assert text in texts(study(TRIO), disputes=disputes)["disputes"]


def test_what_changed_since_is_said_only_where_something_did() -> None:
    assert "changes" not in texts(study(TRIO))
    assert texts(study(TRIO), changed=1)["changes"].startswith("1 image was edited or deleted since")
    assert texts(study(TRIO), changed=1200)["changes"].startswith("1,200 images were")


def test_the_ceiling_is_in_points() -> None:
    assert "66.1 mAP" in texts(study(TRIO), ceiling=0.6607)["ceiling"]
    assert "ceiling" not in texts(study(TRIO), ceiling=float("nan"))
