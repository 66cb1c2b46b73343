import numpy as np
import pytest

from kalos_core import InputError, removal_experiment, sparse_agreement

EQUAL = np.random.default_rng(0).multinomial(6, [0.6, 0.3, 0.1], 60)


def test_random_removal_leaves_the_mean_and_raises_the_variance():
    found = removal_experiment(EQUAL, rounds=150, steps=5, seed=1)
    assert found.full == pytest.approx([sparse_agreement(EQUAL, name, bootstrap=0).value for name in found.weights])
    assert (found.kept[-1], found.per_item, found.items[:, -1].tolist()) == (EQUAL.sum(), (2, 3, 5), [60, 60, 60])
    gap = np.abs(found.mean - found.full[:, None])
    assert (gap <= 4 * np.sqrt(found.variance / found.rounds) + 1e-12).all()
    assert (np.diff(found.variance, axis=1) < 0).all()  # more annotations, less variance
    assert found.variance[:, -1] == pytest.approx(0, abs=1e-20)
    assert (np.diff(found.per_item_variance[:, -1]) < 0).all()  # more annotations per item, less variance
    against = found.against_flat
    assert against[found.weights.index("flat")] == pytest.approx(0)
    assert against[found.weights.index("edges")] == pytest.approx(against[found.weights.index("inv_var")])
    # Figure 7: if few annotations are left, items with more of them should have more weight
    assert against[found.weights.index("annotations_m1"), 1] < 0


def test_numbers_that_no_item_reaches_are_left_out():
    result = removal_experiment([[2, 1], [1, 1]], ["flat"], per_item=(2, 9), steps=2, rounds=3)
    assert result.per_item == (2,)
    assert len(result.to_pandas()) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"weights": ["heavy"]}, "weights: expected one of"),
        ({"rounds": 1}, "rounds"),
        ({"steps": 1}, "steps"),
        ({"counts": [[1, -2]]}, "counts"),
        ({"counts": [[1, 0], [0, 1]]}, "counts: expected an item with at least two annotations, got none"),
        ({"per_item": (1, 2)}, "per_item: expected a whole number of at least 2, got 1"),
        ({"weights": ["edges"], "rounds": 2}, "against_flat: expected 'flat' among the weights, got edges"),
    ],
)
def test_unusable_input_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        _ = removal_experiment(**{"counts": EQUAL, **arguments}).against_flat


def test_each_round_one_annotation_after_the_other():
    """The same draws in plain Python: the weighted mean over items of the share of equal pairs."""
    counts, weights, steps, rounds = [[3, 1, 0], [0, 2, 0], [2, 2, 1], [1, 0, 0], [0, 0, 4]], ["flat", "edges"], 3, 60
    result = removal_experiment(counts, weights, per_item=(2, 3), steps=steps, rounds=rounds, seed=5)
    rng = np.random.default_rng(5)
    labels = [(i, c) for i, of in enumerate(counts) for c, number in enumerate(of) for _ in range(number)]
    entries = [e for e, number in enumerate(n for of in counts for n in of if n) for _ in range(number)]
    first_of = {entry: labels[entries.index(entry)] for entry in entries}
    values, used = np.full((rounds, 2, steps), np.nan), np.zeros((rounds, steps))
    for turn in range(rounds):
        order = [first_of[entry] for entry in rng.permutation(entries)]
        for step, kept in enumerate(result.kept):
            shares = {i: pairs_that_agree([c for j, c in order[:kept] if i == j]) for i in range(5)}
            shares = {i: (same, of) for i, (same, of) in shares.items() if of}
            used[turn, step] = sum(1 for i, _ in order[:kept] if i in shares)
            for w, weight in enumerate((lambda _: 1, lambda of: of)):
                total = sum(weight(of) for _, of in shares.values())
                if total:
                    values[turn, w, step] = sum(weight(of) * same / of for same, of in shares.values()) / total
    assert result.mean == pytest.approx(np.nanmean(values, axis=0))
    assert result.variance == pytest.approx(np.nanvar(values, axis=0, ddof=1))
    assert result.annotations == pytest.approx(used.mean(axis=0))
    for row, number in enumerate((2, 3)):
        enough = [i for i, of in enumerate(counts) if sum(of) >= number]
        means = []
        for _ in range(rounds):
            draws = rng.random(len(labels))
            order = sorted(range(len(labels)), key=lambda k, draws=draws: draws[k])
            some = {i: [labels[k][1] for k in order if labels[k][0] == i][:number] for i in enough}
            shares = [np.divide(*pairs_that_agree(some[i])) for i in rng.permutation(enough)]
            means.append([np.mean(shares[:taken]) for taken in result.items[row]])
        assert result.per_item_mean[row] == pytest.approx(np.mean(means, axis=0))


def pairs_that_agree(categories):
    """Return the number of pairs of one category, and the number of all pairs."""
    pairs = [one == other for k, one in enumerate(categories) for other in categories[:k]]
    return sum(pairs), len(pairs)
