"""Label convergence of tags, models vs. convergence, and claims at several thresholds."""

import numpy as np
import pytest

from kalos_core import Annotations, InputError, label_convergence
from kalos_core.convergence import PlacedModel, convergence_study, map_of_predictions

LEVELS = (0.5, 0.7, 0.9)
NIGHT = np.arange(40) % 2 == 1


def table(raters=("ann", "bob"), images=40, seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [60 * k, 0, 40 + rng.uniform(0, 20), 40]}
        for image in range(images)
        for k in range(3)
        for rater in raters
        if rng.random() < 0.9
    ]
    return Annotations.from_rows(rows, images=range(images), raters=raters, assigned="all")


def converged(annotations, **options):
    return label_convergence(annotations, 20, 0.5, 7, **{"thresholds": LEVELS, **options})


def study(annotations, **options):
    return convergence_study(annotations, converged(annotations), **options)


@pytest.mark.parametrize("raters", [("ann", "bob"), ("ann", "bob", "cid")])
def test_a_tag_is_what_its_images_alone_give(raters):
    annotations = table(raters)
    whole, night = study(annotations, tags={"night": NIGHT}).parts
    alone = converged(annotations.select(images=NIGHT)).replicates
    assert (night.name, night.images) == ("night", 20)
    np.testing.assert_array_equal(night.replicates.map, alone.map)
    np.testing.assert_array_equal(night.replicates.alpha, alone.alpha)
    np.testing.assert_array_equal(whole.replicates.map, converged(annotations).map)


def test_a_tag_without_an_interval_says_why():
    found = study(table(), tags={"night": NIGHT, "one": np.arange(40) == 3, "few": NIGHT[::-1]})
    assert [part.name for part in found.parts] == ["all images", "night", "one", "few"]
    assert found.parts[2].replicates is None
    assert found.parts[2].reason == "fraction: expected at least one image in a subset, got 0.5 of 1 images"
    assert [part.name for part in found.largest()] == ["all images", "few", "night"]
    assert [part.name for part in found.largest(1)] == ["all images", "night"]


def test_models_are_placed_by_hand():
    ends = np.array([0.304, 0.696])
    assert [PlacedModel.of(ends, "net", value).place for value in (0.3, 0.4, 0.7)] == ["below", "inside", "above"]
    assert {model.place for model in study(table(), models="low 0.001, high 1").placed} == {"unknown"}
    found = study(table(images=60), models="low 0.001, high 1")
    assert [(model.name, model.place) for model in found.placed] == [("low", "below"), ("high", "above")]
    more = found.with_models({"low": 0.002, "own": 0.003})
    assert [(model.name, model.map) for model in more.placed] == [("low", 0.002), ("high", 1), ("own", 0.003)]


def test_predictions_are_evaluated_on_each_part():
    annotations = table()
    model = table(("net",), seed=5)
    sure = np.random.default_rng(1).random(len(model))
    found = study(annotations, tags={"night": NIGHT}, predictions={"net": (model, sure)})
    expected = map_of_predictions(annotations, model, sure, thresholds=LEVELS)
    (placed,) = found.placed
    assert placed.map == found.parts[0].models["net"] == pytest.approx(expected.mean)
    assert placed.by_rater == dict(zip(("ann", "bob"), map(pytest.approx, expected.per_rater), strict=True))
    inside = NIGHT[model.image]
    alone = map_of_predictions(
        annotations.select(images=NIGHT), model.select(images=NIGHT), sure[inside], thresholds=LEVELS
    )
    assert found.parts[1].models == {"net": pytest.approx(alone.mean)}
    some = found.between(0.7)
    assert some.placed[0].map == pytest.approx(expected.by_rater[1:].mean())


def test_input_that_cannot_be_evaluated_is_refused():
    annotations = table()
    with pytest.raises(InputError, match="predictions: those of 'net' cannot be evaluated: scores: expected the conf"):
        study(annotations, predictions={"net": (table(("net",)), None)})
    with pytest.raises(InputError, match="models: expected the mAP of 'net' from 0 to 1"):
        study(annotations, models={"net": 41})
