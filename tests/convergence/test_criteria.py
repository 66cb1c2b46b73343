"""Checklist of exclusion criteria, on tables made to fail it."""

from dataclasses import replace

import numpy as np
import pytest

from kalos_core import Annotations, InputError, check_convergence


def table(images=10, second=10, copies=0, **more):
    """Return ann on all images, and bob on the first `second`, with identical annotations on the first `copies`."""
    given = [(image, "ann", 10) for image in range(images)]
    given += [(image, "bob", 10 if image < copies else 9) for image in range(second)]
    rows = [{"image": image, "rater": r, "category": "cat", "box": [0, 0, 10, height]} for image, r, height in given]
    asked = {image: ["ann", "bob"] if image < second else ["ann"] for image in range(images)}
    return Annotations.from_rows(rows, assigned=asked, **more)


def verdicts(annotations):
    return {line.criterion: line for line in check_convergence(annotations)}


def test_a_sound_table():
    found = verdicts(table())
    assert [line.verdict for line in found.values()] == ["cannot know", "cannot know", "ok", "ok", "ok", "ok"]
    assert found["no copied labels"].finding == "0 of 10 correct findings have similarity 1."
    assert "0 of 10 images are empty" in found["images chosen without regard to their labels"].finding
    assert "ann 10 images and 10 annotations, bob 10 images" in found["raters contribute equally"].finding


def test_copies():
    line = verdicts(table(copies=3))["no copied labels"]
    assert line.verdict == "warn"
    assert line.finding.startswith("3 of 10 correct findings have similarity 1: ")
    nobody_agrees = table().select(rows=np.arange(10))
    assert verdicts(nobody_agrees)["no copied labels"].verdict == "cannot know"


def test_images_of_one_rater():
    line = verdicts(table(second=8))["every image has two raters"]
    assert line.verdict == "warn"
    assert line.finding == "2 of 10 images have fewer than two raters (8, 9)."
    skipped = replace(table(), skipped=np.eye(1, 10, dtype=int)[0])
    assert verdicts(skipped)["every image has two raters"].finding == "1 annotation could not be used and was left out."


def test_raters_contribute_unequally():
    pairs = {0: ["ann", "bob"], 1: ["ann", "cid"], 2: ["ann", "cid"], 3: ["ann", "cid"]}
    rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i, team in pairs.items() for r in team]
    annotations = Annotations.from_rows(rows, assigned=pairs)
    line = verdicts(annotations)["raters contribute equally"]
    assert line.verdict == "warn"
    assert line.finding.startswith("Raters contribute unequally: ann has 4 images, bob 1.")
    local = replace(annotations, raters_are_local=True)
    assert verdicts(local)["raters contribute equally"].verdict == "cannot know"


def test_classes_covered():
    line = verdicts(table(categories=["cat", "dog", "emu"]))["classes covered"]
    assert line.verdict == "warn"
    assert line.finding.startswith("Of 3 classes, 1 is annotated and 1 by two raters or more.")


def test_lvis(lvis):
    assert [line.verdict for line in check_convergence(lvis)] == ["cannot know"] * 2 + ["ok"] * 3 + ["warn"]


def test_raters_who_share_nothing():
    with pytest.raises(InputError, match="an image that two raters were assigned to"):
        check_convergence(table(second=0, raters=["ann", "bob"]))
