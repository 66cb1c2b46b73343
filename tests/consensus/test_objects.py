"""Models of objects and raters: one step by hand, loops over answers, synthetic ground truth, limits."""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from kalos_core import (
    NO_OBJECT,
    NOT_ASSIGNED,
    Annotations,
    InputError,
    NoiseModel,
    agreement,
    instance_consensus,
    unit_truth,
)
from kalos_core.nominal import SKILL_MODELS
from tests.nominal_tables import dawid_skene_by_loops
from tests.strategies import tables

PLACES = {"a": [0, 0, 9, 9], "b": [30, 0, 9, 9], "c": [60, 0, 9, 9]}


def scene(**given_by):
    """Return a table of one image: rater -> class at each position, a letter such as ``"C D"``, or none."""
    rows = [
        {"image": 1, "rater": rater, "category": {"C": "cat", "D": "dog"}[letter], "box": box}
        for rater, letters in given_by.items()
        for letter, box in zip(letters, PLACES.values(), strict=True)
        if letter != " "
    ]
    return Annotations.from_rows(rows, images=[1], raters=list(given_by), assigned="all")


THREE = scene(ann="CC ", bob="CC ", cid="C C")
"""ann and bob see the first two cats, cid the first and another one."""


def by_place(result, values):
    """Return the values of units in the order of their positions."""
    left = np.zeros(len(result.units))
    left[result.unit_of] = result.annotations.shapes["box"].corners[:, 0]
    return np.asarray(values)[np.argsort(left)]


# ---- one step, by hand ----


def test_one_step_by_hand():
    """Votes: the three are objects with 1, 2/3 and 1/3, so that 2/3 of the units are.

    Of objects ann gave (1 + 2/3) / 2 a class, of nothing 1/3; cid (1 + 1/3) / 2 and 2/3. Then the first unit has
    2/3 * 5/6 * 5/6 * 2/3 against 1/3 * 1/3 * 1/3 * 2/3, which is 25 to 2; the second the same, as cid is silent on 1/3
    of either; the third 2/3 * 1/6 * 1/6 * 2/3 against 1/3 * 2/3 * 2/3 * 2/3, which is 1 to 8.
    """
    result = agreement(THREE, bootstrap=0)
    found = unit_truth(result, added=0, iterations=1)
    assert by_place(result, found.existence) == pytest.approx([25 / 27, 25 / 27, 1 / 9])
    assert by_place(result, found.confidence) == pytest.approx([25 / 27, 25 / 27, 1 / 9])
    assert found.estimate.classes.tolist() == ["no object", "cat"]
    assert found.code.tolist() == [NO_OBJECT, 0]
    ann, bob, cid = found.estimate.confusion
    assert ann.tolist() == pytest.approx(np.array([[2 / 3, 1 / 3], [1 / 6, 5 / 6]]))
    assert bob.tolist() == ann.tolist()
    assert cid.ravel() == pytest.approx([1 / 3, 2 / 3, 1 / 3, 2 / 3])
    assert found.estimate.skill == pytest.approx([74 / 81, 74 / 81, 30 / 81])
    assert "NOT SETTLED" in found.headline
    assert found.overruled.tolist() == [False] * 3


def test_the_consensus_of_it_by_hand():
    result = agreement(THREE, bootstrap=0)
    truth = unit_truth(result, added=0, iterations=1)
    found = instance_consensus(result, truth=truth)
    left = found.annotations.shapes["box"].corners[:, 0].tolist()
    assert found.counts() == {"kept": 2, "below quorum": 1, "tied class": 0}
    assert found.score == pytest.approx([25 / 27, 25 / 27])
    assert left == [0, 30]
    assert found.fields()["existence"] == pytest.approx([25 / 27, 25 / 27])
    assert sorted(found.to_pandas()["existence"].round(3)) == [0.111, 0.926, 0.926]
    assert len(instance_consensus(result, 0.95, truth=truth).annotations) == 0
    assert instance_consensus(result, 0.1, truth=truth).counts()["kept"] == 3
    assert "existence" not in instance_consensus(result).fields()
    assert (found.against(0), found.against(1)) == ([], ["cid"])
    assert instance_consensus(result).against(0) == []
    third = THREE.shapes["box"].corners[:, 0] == 60  # only by cid: probability of an object is a ninth
    assert found.is_part.tolist() == (~third).tolist()


def test_the_likeliest_class_is_that_of_raters_who_know_it():
    """Three of five raters distinguish cats from dogs, two guess; where all see something, nothing is no answer."""
    rows = [
        {"image": image, "rater": rater, "category": category, "box": [0, 0, 9, 9]}
        for image in range(30)
        for place, rater in enumerate(["ann", "bob", "cid", "dan", "eve"])
        for category in [("cat", "dog")[image % 2 if place > 1 else image // (place + 2) % 2]]
    ]
    result = agreement(Annotations.from_rows(rows), cost="neg", bootstrap=0)
    found = unit_truth(result)
    assert found.to_pandas()["category"].tolist() == [("cat", "dog")[image % 2] for image in found.units.image]
    assert found.existence.tolist() == [1] * 30
    assert found.estimate.classes.tolist() == ["cat", "dog"]
    assert found.estimate.skill[:2] == pytest.approx([1 / 2, 2 / 3], abs=0.01)  # as often as the guesses are right
    assert found.estimate.skill[2:] == pytest.approx([1, 1, 1], abs=0.01)


def test_tied_classes_are_left_out_or_the_first():
    result = agreement(scene(ann="C  ", bob="D  "), cost="neg", bootstrap=0)
    truth = unit_truth(result)
    assert truth.tied.tolist() == [True]
    assert instance_consensus(result, truth=truth).counts()["tied class"] == 1
    assert instance_consensus(result, ties="first", truth=truth).annotations.category.tolist() == [0]
    assert truth.overruled.tolist() == [False]


# ---- against loops over plain answers ----


def plain_answers(result):
    """Return (image, unit) -> rater -> class or None for assigned raters, from annotations, not from the matrix."""
    table = result.annotations
    answers = {}
    for row, unit in enumerate(result.unit_of.tolist()):
        image = int(table.image[row])
        everybody = {r: None for r in range(len(table.raters)) if table.assigned[image, r]}
        answers.setdefault(unit, everybody)[int(table.rater[row])] = int(table.category[row])
    return [answers[unit] for unit in range(len(result.units))]


@given(tables(raters=4, marks=10))
def test_units_are_items_and_no_object_is_a_class(table):
    if len(table.raters) < 2 or not len(table):
        return
    result = agreement(table, "box_iou", 0.25, bootstrap=0)
    found = unit_truth(result, added=4, iterations=5)
    values = np.full((len(result.units), len(table.raters)), NOT_ASSIGNED)
    for unit, by_rater in enumerate(plain_answers(result)):
        for rater, answer in by_rater.items():
            values[unit, rater] = NO_OBJECT if answer is None else answer
    used = np.unique(values[values >= NO_OBJECT])
    codes = np.where(values >= NO_OBJECT, np.searchsorted(used, values), NOT_ASSIGNED)
    chances = dawid_skene_by_loops(codes, 4, found.estimate.iterations, coin=False)[0]
    objects = used >= 0
    assert found.existence == pytest.approx(chances[:, objects].sum(axis=1), abs=1e-9)
    assert found.confidence == pytest.approx(chances[:, objects].max(axis=1), abs=1e-9)
    of_category = chances[np.arange(len(values)), np.searchsorted(used, found.category)]
    assert of_category == pytest.approx(found.confidence, abs=1e-9)


# ---- synthetic raters ----


def drawn(images, seed):
    rng = np.random.default_rng(seed)
    rows = [
        {
            "image": image,
            "rater": "reference",
            "category": str(rng.choice(["cat", "dog", "owl"])),
            "box": [60 * x + rng.uniform(0, 8), 60 * y + rng.uniform(0, 8), *rng.uniform(30, 45, 2)],
        }
        for image, x, y in product(range(images), range(4), range(3))
        if rng.random() < 0.5
    ]
    size = dict.fromkeys(range(images), (256, 192))
    return Annotations.from_rows(rows, images=range(images), raters=["reference"], assigned="all", image_size=size)


# ---- vs. crowd-kit ----


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what crowd-kit 1.4 calls in pandas 3
def test_the_same_as_crowd_kit_to_whom_no_object_is_a_class(peer_package):
    """We add no prior counts, as crowd-kit. Its rates and shares are those of its final probabilities, with which our
    next step begins. It replaces 0 by 1e-10, hence the tolerance.
    """
    peer = peer_package("crowdkit.aggregation")
    table = NoiseModel.default().generate(drawn(40, 5), 5, [0.5, 0.5, 1, 2, 3], 5).annotations
    result = agreement(table, bootstrap=0)
    answers = [
        (unit, table.raters[rater], "no object" if answer is None else table.categories[answer])
        for unit, by_rater in enumerate(plain_answers(result))
        for rater, answer in by_rater.items()
    ]
    frame = pd.DataFrame(answers, columns=["task", "worker", "label"])
    theirs = peer.DawidSkene(n_iter=4, tol=-math.inf).fit(frame)
    found, after = (unit_truth(result, added=0, iterations=steps) for steps in (4, 5))
    classes = ["no object", *table.categories]
    assert found.estimate.classes.tolist() == classes
    chances = theirs.probas_.loc[range(len(found.units)), classes].to_numpy(dtype=float)
    assert found.existence == pytest.approx(1 - chances[:, 0], abs=1e-6)
    assert found.confidence == pytest.approx(chances[:, 1:].max(axis=1), abs=1e-6)
    assert after.estimate.prior == pytest.approx(theirs.priors_[classes].to_numpy(dtype=float), abs=1e-6)
    rates = theirs.errors_.reindex(pd.MultiIndex.from_product([table.raters, classes]), fill_value=0)[classes]
    confusion = rates.to_numpy(dtype=float).reshape(5, 4, 4).swapaxes(1, 2)  # theirs: answers by true class
    assert after.estimate.confusion == pytest.approx(confusion, abs=1e-6)


# ---- assignments, doubts and limits ----


def test_who_is_not_assigned_gives_no_answer():
    row = {"image": 2, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}
    alone = Annotations.from_rows([row], raters=["ann", "bob", "cid"], assigned={2: ["ann"]})
    found = unit_truth(agreement(alone, bootstrap=0))
    assert found.estimate.rater_answers.tolist() == [1, 0, 0]
    assert np.isnan(found.estimate.skill).tolist() == [False, True, True]
    assert found.to_pandas()[["annotated", "assigned"]].to_numpy().tolist() == [[1, 1]]
    assert unit_truth(agreement(THREE, bootstrap=0)).to_pandas()["assigned"].tolist() == [3, 3, 3]


def test_estimates_that_all_raters_contradict_are_doubtful():
    """Six objects are too few for three classes; both of the two with the same class from several raters change."""
    given_by_image = ["ccc", "ccd", "ddd", "cd", "d", "cdo"]
    rows = [
        {"image": image, "rater": rater, "category": letter, "box": [0, 0, 9, 9]}
        for image, letters in enumerate(given_by_image)
        for rater, letter in zip("abc", letters, strict=False)
    ]
    assigned = {image: list("abc"[: len(letters)]) for image, letters in enumerate(given_by_image)}
    found = unit_truth(agreement(Annotations.from_rows(rows, assigned=assigned), cost="neg", bootstrap=0))
    assert found.estimate.overturned == 2
    assert found.headline.endswith("DOUBTFUL: 2 have another label than all of their raters gave")
    assert found.overruled[[0, 2]].all()
    assert "DOUBTFUL" not in unit_truth(agreement(THREE, bootstrap=0)).headline


def test_no_annotations_at_all():
    empty = agreement(Annotations.from_rows([], images=[1], raters=["ann", "bob"]), bootstrap=0)
    for model in SKILL_MODELS:
        found = unit_truth(empty, model=model)
        assert (len(found.existence), len(found.to_pandas()), found.overruled.tolist()) == (0, 0, [])
        assert "mean posterior undefined" in found.headline
        assert instance_consensus(empty, truth=found).counts()["kept"] == 0


LOCAL = Annotations.from_rows(
    [{"image": 1, "rater": "1", "category": "cat", "box": [0, 0, 9, 9]}],
    raters=["1", "2"],
    assigned="all",
    raters_are_local=True,
)
OTHER = scene(ann="CC ", bob="C  ", cid="C C")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda result: unit_truth(result, model="glad"), "model: .* 'confusion', 'one_coin', 'weighted', got 'glad'"),
        (lambda _: unit_truth(THREE), "agreement: expected Agreement, the result of"),
        (lambda result: unit_truth(result, added=-1), "added: expected a number of at least 0, got -1"),
        (lambda _: unit_truth(agreement(LOCAL, bootstrap=0)), "expected raters who are the same person on every image"),
        (
            lambda result: instance_consensus(result, truth=unit_truth(agreement(OTHER, bootstrap=0))),
            "truth: expected unit_truth of the same agreement, got one of other units",
        ),
        (lambda result: instance_consensus(result, truth="confusion"), "truth: expected"),
    ],
)
def test_unusable_input_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(agreement(THREE, bootstrap=0))
