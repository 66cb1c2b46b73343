"""Classifiers ranked by each rater: scores from fields, logits and mappings are stored, or refused with a reason."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.fiftyone.runs.stored import load_arrays
from kalos_core.ranking import concordance
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.quiz import ANSWERS, NET, RATERS, SVM, label, quiz, sample
from tests.fiftyone_bridge.scenes import untouched


@pytest.fixture
def answered(make: Make) -> fo.Dataset:
    return make(quiz)


def rank(dataset: Any, key: str = "ranked", **options: Any) -> Any:
    return kf.rank_systems(dataset, key, **{"systems": ["net", "svm"], "raters": RATERS, **options})


def test_scores_of_fields(answered):
    with untouched(answered):
        run = rank(answered)
        assert run.metrics["truths"] == [*RATERS, "majority"]
        truth = np.array([row[0] for row in ANSWERS])
        for system, scores in enumerate((NET, SVM)):
            assert run.result.auc[0, system, 0] == pytest.approx(roc_auc_score(truth == "cat", scores))
        means = run.details.rankings["AUC"]
        assert means.measure == "AUC"
        assert means.values == pytest.approx(np.nanmean(run.result.auc, axis=2))
        assert run.metrics["left_out"][0] == {"truth": "ann", "concepts": ["owl"]}
        stored = kf.load_details(answered, "ranked")
        np.testing.assert_array_equal(stored.details.rankings["AUC"].tau, run.result.rankings["AUC"].tau)
        np.testing.assert_array_equal(stored.details.concordance["AUC"].p, concordance(run.result.rankings["AUC"]).p)
        assert answered.values("ranked_majority.label") == ["cat", "cat", "dog", None, "dog", None]
        kf.delete_run(answered, "ranked")


def test_scores_of_a_mapping(answered):
    ids = answered.values("id")
    named = {
        "first": "net",
        "second": {f"{number}.jpg": {"cat": s, "dog": 1 - s, "owl": s * (1 - s)} for number, s in enumerate(SVM)},
        "third": {ids[number]: {"cat": s} for number, s in enumerate(NET)},
    }
    run = rank(answered, systems=named)
    plain = rank(answered, "plain")
    np.testing.assert_allclose(run.result.auc[:, :2], plain.result.auc)
    assert run.result.auc[0, 2, 0] == run.result.auc[0, 0, 0]  # the same for cats
    assert run.result.auc[0, 2, 1] == 0.5  # the others have no name: 0 each
    assert list(run.settings["systems"].values()) == ["net", {}, {}]


def logits(values: list[float]) -> fo.Classification:
    return fo.Classification(label="cat", logits=np.array(values))


def test_one_label_with_its_confidence_or_logits(make):
    rows = [("cat", 0.9, [2.0, 0.0]), ("dog", 0.8, [0.0, 3.0])]
    labels = [
        {"ann": label(name), "bob": label(name), "one": label(name, confidence=sure), "two": logits(values)}
        for name, sure, values in rows
    ]
    dataset = make([sample(number, raters=["ann", "bob"], **given) for number, given in enumerate(labels)])
    dataset.classes = {"two": ["cat", "dog"]}
    run = kf.rank_systems(dataset, "ranked", systems=["one", "two"], raters=("ann", "bob"))
    assert run.result.auc[0].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    one, two = load_arrays(dataset, "ranked")["scores"]
    assert one.tolist() == [[0.9, 0.0], [0.0, 0.8]]
    np.testing.assert_allclose(two, 1 / (1 + np.exp([[-2, 2], [3, -3]])))


def test_it_is_loaded_with_the_labels_of_today(answered):
    rank(answered)
    first = answered.first()
    first.ann = label("dog")
    first.save()
    loaded = kf.load_run(answered, "ranked")
    assert loaded.stale == (first.id,)
    truth = np.array(["dog", *(row[0] for row in ANSWERS[1:])])
    assert loaded.result.auc[0, 0, 0] == pytest.approx(roc_auc_score(truth == "cat", NET))
    ids = answered.values("id")  # current labels
    for names, images in ((("ann", "bob"), [0, 3, 5]), (("cid", "majority"), [1])):
        view = view_of_difference(answered, "ranked", *names)
        assert view.values("id") == [ids[image] for image in images]


def test_images_without_scores(answered):
    answered.set_values("net", {answered.first().id: None}, key_field="id")
    with pytest.raises(InputError, match=r"got images without in net: 1"):
        rank(answered)
    run = rank(answered, missing="skip")
    assert (run.metrics["images"], run.metrics["skipped_images"]) == (5, 1)


def named(scores: Any) -> dict[str, Any]:
    return {"systems": {"a": "net", "b": scores}}


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"systems": ["net"]}, "a ranking needs at least two, got 1"),
    ({"systems": ["net", "ann"]}, "expected a field of scores .net, svm., got 'ann'"),
    (named({}), "expected scores of 'b' for some image, got none"),
    (named({"0.jpg": {"cat": "x"}}), "image '0.jpg', cat: expected a number, got 'x'"),
    ({"unlisted": None, **named({"0.jpg": {"cat": 1}})}, "expected those of every classifier"),
    ({"tree": {"cat": "pet", "dog": "pet"}}, "tree: expected all concepts in it, got none of 'owl'"),
]


def test_bad_input_leaves_nothing(answered):
    with untouched(answered):
        for options, message in REFUSED:
            with pytest.raises(InputError, match=message):
                rank(answered, **options)


@pytest.mark.parametrize(
    ("net", "message"),
    [
        (label("cat"), "0.jpg: expected a label with its confidence, or logits, got 'cat', None"),
        (logits([1.0]), "their classes are unknown"),
    ],
)
def test_fields_without_scores(make, net, message):
    svm, names = label("cat", confidence=0.5), ["ann", "bob"]
    dataset = make([sample(0, raters=names, ann=label("cat"), bob=label("dog"), svm=svm, net=net)])
    with pytest.raises(InputError, match=message):
        rank(dataset, raters=names)
