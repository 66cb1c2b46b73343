"""Models ranked by mAP for each rater and for the consensus."""

import numpy as np
import pytest

from kalos_core import Annotations, InputError, agreement
from kalos_core.consensus import instance_consensus
from kalos_core.convergence import map_of_predictions
from kalos_core.ranking import rank_models


def of(rater, *heights, category="cat", image=1):
    rows = [
        {"image": image, "rater": rater, "category": category, "box": [20 * index, 0, 10, height]}
        for index, height in enumerate(heights)
    ]
    return Annotations.from_rows(rows, images=[image], raters=[rater])


RATERS = Annotations.from_rows(
    [{"image": 1, "rater": name, "category": "cat", "box": [0, 0, 10, h]} for name, h in (("ann", 10), ("bob", 6))]
)
WIDE = {"wide": (of("w", 10), [0.9])}


def of_places(starts):
    """Return rater -> start of the boxes."""
    rows = [
        {"image": 1, "rater": name, "category": "cat", "box": [x, 0, 9, 9]} for name in starts for x in starts[name]
    ]
    return Annotations.from_rows(rows)


def test_by_hand():
    # IoU of heights 10 and 6 is .6: found at .5, not at .75; a box of 8 has .8 and .75, found under both
    models = {**WIDE, "low": (of("l", 6), [0.9]), "middle": (of("m", 8), [0.9])}
    result = rank_models(models, RATERS, {"quorum 2": of("consensus", 8)}, thresholds=(0.5, 0.75))
    assert result.truths.tolist() == ["ann", "bob", "quorum 2"]
    rankings = result.ranking
    assert rankings.values.tolist() == [[1, 0.5, 1], [0.5, 1, 1], [1, 1, 1]]
    assert rankings.ranks.tolist() == [[1.5, 3, 1.5], [3, 1.5, 1.5], [2, 2, 2]]
    assert rankings.times_best.tolist() == [2, 2, 3]
    assert rankings.best_changes == 0  # middle is always among the best
    assert np.isnan(rankings.tau[0, 2])  # all tie for the quorum
    assert result.to_pandas().columns.tolist() == ["truth", "model", "map", "rank"]
    assert result.unknown_classes.tolist() == [0, 0, 0]
    emu = {"wide": (of("w", 10, 6, category="emu"), [0.9, 0.8])}
    assert rank_models(emu, RATERS).unknown_classes.tolist() == [2]


def test_consensus_at_several_quorums():
    # a box of all three raters, one of two, one of one rater: a higher quorum leaves fewer to find
    table = of_places({"ann": [0, 100, 200], "bob": [0, 100], "cid": [0]})
    result = agreement(table, bootstrap=0)
    consensus = {f"quorum {q}": instance_consensus(result, quorum=q / 3).annotations for q in (1, 2, 3)}
    models = {
        "careful": (of_places({"net": [0]}), [0.9]),
        "eager": (of_places({"net": [200, 100, 0]}), [0.9, 0.8, 0.7]),
    }
    ranking = rank_models(models, table, consensus, thresholds=[0.5]).ranking
    assert ranking.truths.tolist() == ["ann", "bob", "cid", "quorum 1", "quorum 2", "quorum 3"]
    np.testing.assert_allclose(ranking.values[:3], ranking.values[3:])  # each quorum finds what one rater annotated
    # careful: precision 1 up to a third of recall, 34 of 101 points; eager: right first under ann, last under cid
    np.testing.assert_allclose(ranking.values[:3], [[34 / 101, 1], [51 / 101, 2 / 3], [1, 1 / 3]])
    assert ranking.best_changes == pytest.approx(8 / 15)  # two truths of six vs. four


def test_each_column_is_map_of_predictions(lvis):
    part = lvis.select(images=np.arange(25))
    first, second = part.select(raters=[0]), part.select(raters=[1])
    rng = np.random.default_rng(0)
    models = {name: (predicted, rng.random(len(predicted))) for name, predicted in (("a", first), ("b", second))}
    result = rank_models(models, part, {"first again": first}, thresholds=(0.5, 0.7))
    for column, (predicted, scores) in enumerate(models.values()):
        expected = map_of_predictions(part, predicted, scores, thresholds=(0.5, 0.7)).by_rater
        np.testing.assert_array_equal(result.by_threshold[:, :2, column], expected)
    # the same annotations rank equally, under any name
    np.testing.assert_allclose(result.by_threshold[:, 2], result.by_threshold[:, 0])
    assert result.ranking.ranks[:2].tolist() == [[1, 2], [2, 1]]


@pytest.mark.parametrize(
    ("models", "consensus", "message"),
    [
        ({}, {}, "models: expected at least one, got none"),
        ({"wide": (of("w", 10), None)}, {}, "model 'wide': scores: expected the confidence of each of 1 predictions"),
        ({"wide": (of("w", 10, image=7), [0.5])}, {}, "model 'wide': predictions: expected images of the annotations"),
        (WIDE, {"ann": of("c", 10)}, "consensus: expected names that no rater has, got 'ann'"),
        (WIDE, {"quorum 2": RATERS}, "expected annotations of one rater each, got several raters in quorum 2"),
    ],
)
def test_unrankable_input_is_refused(models, consensus, message):
    with pytest.raises(InputError, match=message):
        rank_models(models, RATERS, consensus)
