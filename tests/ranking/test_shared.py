"""References that share a ranking: Table IV of Lampert et al., and by hand."""

import numpy as np

from kalos_core.ranking import Rankings, shared_rankings


def from_orders(orders, systems):
    """Return rankings with the systems in those orders, by reference."""
    values = [[-order.index(system) for system in systems] for order in orders.values()]
    return Rankings("area", np.array(list(orders), object), np.array(systems, object), np.array(values, float))


def test_the_fissure_study():
    # Table IVb: three rankings of four detectors under 13 raters and 6 estimates
    first, second = ["2D GWLC", "Gauss", "C-S", "Top-Hat"], ["2D GWLC", "C-S", "Gauss", "Top-Hat"]
    third = ["C-S", "2D GWLC", "Gauss", "Top-Hat"]
    by_first = ["A2", "A4", "A6", "A11", "Any", "LSML", "STAPLE", "Excl-0.5"]
    by_second = ["A1", "A3", "A5", "A7", "A8", "A9", "A10", "A12", "A13", "0.5", "SIMPLE"]
    orders = dict.fromkeys(by_first, first) | dict.fromkeys(by_second, second) | {"0.75": third}
    found = shared_rankings(from_orders(orders, sorted(first)))
    assert [sorted(each.truths) for each in found] == [sorted(by_second), sorted(by_first), ["0.75"]]
    assert [each.systems.tolist() for each in found] == [second, first, third]
    assert found[2].order == "C-S > 2D GWLC > Gauss > Top-Hat"


def test_ties_and_unranked_systems():
    values = np.array([[0.5, 0.5, 0.9], [0.1, 0.1, 0.2], [0.5, np.nan, 0.9], [np.nan] * 3, [0.4, 0.5, 0.9]])
    rankings = Rankings("AUC", np.array(list("abcde"), object), np.array(["x", "y", "z"], object), values)
    found = shared_rankings(rankings)
    assert [(each.truths.tolist(), each.order) for each in found] == [
        (["a", "b"], "z > x = y"),
        (["c"], "z > x"),
        (["e"], "z > y > x"),
    ]
    assert shared_rankings(Rankings("AUC", np.array([]), np.array(["x"]), np.empty((0, 1)))) == ()
