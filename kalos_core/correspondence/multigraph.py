"""Multi-graph matching with an optional library."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import combinations, groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.arrays import run_starts
from kalos_core.correspondence.agglomerative import ahc
from kalos_core.correspondence.assignment import components
from kalos_core.correspondence.costs import Cost
from kalos_core.correspondence.order import pair_costs, rank_raters, rank_rows
from kalos_core.extras import optional
from kalos_core.options import checked
from kalos_core.pairs import Pairs

LIBRARY = "pylibmgm"

_Edges = dict[tuple[int, int], list[tuple[int, int, float]]]
"""Two graphs -> candidates between their nodes: node, node, cost."""


def mgm_is_installed() -> bool:
    """Return whether the library that `mgm` needs is installed.

    Examples
    --------
    >>> isinstance(mgm_is_installed(), bool)
    True
    """
    return find_spec(LIBRARY) is not None


@checked
def mgm(annotations: Annotations, candidates: Pairs, cost: Cost) -> NDArray[np.intp]:
    """Match annotations by multi-graph matching (Kahl et al. 2025; KαLOS §5.1): minimum cost over all pairs in units.

    Every two annotations of a unit are a candidate. The problem is hard; the optional library `pylibmgm` searches for
    a good solution, which is not proven to be the best. Each connected component of candidates is a separate problem,
    without the raters who have no annotations in it. A candidate that touches no other is joined directly.

    Parameters
    ----------
    annotations : Annotations
    candidates : Pairs
        Candidates at or above the threshold.
    cost : callable

    Returns
    -------
    (N,) int
        Label of each unit: one of its rows.

    Raises
    ------
    InputError
        If `pylibmgm` is not installed.

    Notes
    -----
    Invariance: the library gets raters by name and annotations by `rank_rows`, which is the same problem for every
    order of the input. Only its deterministic searches are used: raters join in turn, and a local search improves one
    rater at a time. Its swap search uses a random source that cannot be seeded. Instead, the best of three starts is
    kept: raters in the order of names, in reverse order, and the units of `ahc`.
    """
    library = _library()
    part = components(candidates.left, candidates.right, len(annotations))
    label = np.arange(len(annotations))
    edges = np.bincount(part[candidates.left], minlength=len(annotations))[part[candidates.left]]
    label[candidates.right[edges == 1]] = candidates.left[edges == 1]
    pairs = candidates.keep(edges > 1)
    if len(pairs):
        linked = ahc(annotations, pairs, cost)
        for graphs, edges_between in _problems(annotations, pairs, pair_costs(annotations, pairs, cost), part):
            for group in _solve(library, edges_between, [linked[graph].tolist() for graph in graphs]):
                members = [graphs[graph][node] for graph, node in group.items()]
                label[members] = members[0]
    return label


def _problems(
    annotations: Annotations, pairs: Pairs, costs: NDArray[np.float64], part: NDArray[np.intp]
) -> Iterator[tuple[list[NDArray[np.intp]], _Edges]]:
    """Yield for each component one graph per rater, its nodes as rows, and the edges; independent of input order."""
    rater = rank_raters(annotations)[annotations.rater]
    rows = np.unique(np.concatenate([pairs.left, pairs.right]))
    rows = rows[np.lexsort((rank_rows(annotations, rows, pairs.kind), rater[rows], part[rows]))]
    graphs = np.split(rows, np.flatnonzero(np.diff(part[rows]) | np.diff(rater[rows])) + 1)
    sizes = [len(graph) for graph in graphs]
    graph_of, node_of = np.zeros((2, len(annotations)), np.intp)
    graph_of[rows] = np.repeat(np.arange(len(graphs)), sizes)
    node_of[rows] = np.arange(len(rows)) - np.repeat(run_starts(sizes)[:-1], sizes)

    swapped = rater[pairs.left] > rater[pairs.right]
    left, right = np.where(swapped, pairs.right, pairs.left), np.where(swapped, pairs.left, pairs.right)
    order = np.lexsort((node_of[right], node_of[left], graph_of[right], graph_of[left]))
    left, right = left[order], right[order]
    columns = (part[left], graph_of[left], graph_of[right], node_of[left], node_of[right], costs[order])
    part_of_graph = part[[graph[0] for graph in graphs]]
    for component, lines in groupby(zip(*(column.tolist() for column in columns), strict=True), itemgetter(0)):
        start, stop = np.searchsorted(part_of_graph, [component, component + 1]).tolist()
        edges: _Edges = defaultdict(list)
        for _, one, other, node, partner, amount in lines:
            edges[one - start, other - start].append((node, partner, amount))
        yield graphs[start:stop], edges


def _solve(library: Any, edges: _Edges, linked: list[list[int]]) -> list[dict[int, int]]:
    """Return the best groups of nodes found, each as graph -> node.

    `linked` gives, for every graph, the group of each node at the start of one of the searches.
    """
    sizes = [len(graph) for graph in linked]
    model = _model(library, sizes, edges)
    found = _in_turn(library, model)
    if len(sizes) == 2:  # a linear assignment, solved as such
        return _groups(found)
    last = len(sizes) - 1
    mirrored = {
        (last - other, last - one): [(partner, node, amount) for node, partner, amount in between]
        for (one, other), between in edges.items()
    }
    backwards = _in_turn(library, _model(library, sizes[::-1], mirrored))
    given = _search(library, model, _labelled(library, model, linked))
    best = min((found, backwards, given), key=lambda solution: float(solution.evaluate()))
    if best is backwards:
        return [{last - graph: node for graph, node in group.items()} for group in _groups(best)]
    return _groups(best)


def _model(library: Any, sizes: list[int], edges: _Edges) -> Any:
    """Return graphs of the given sizes, with a matching for every two; the library needs one even without edges."""
    graphs = [library.Graph(graph, size) for graph, size in enumerate(sizes)]
    model = library.MgmModel()
    for one, other in combinations(range(len(sizes)), 2):
        between = edges.get((one, other), [])
        matching = library.GmModel(graphs[one], graphs[other], len(between), 0)
        for node, partner, amount in between:
            matching.add_assignment(node, partner, amount)
        model.add_model(matching)
    return model


def _in_turn(library: Any, model: Any) -> Any:
    """Add graphs one after the other, each by the best assignment to the groups so far; then run `_search`."""
    builder = library.SequentialGenerator(model)
    builder.init(library.MgmGenerator.matching_order.sequential)
    return _search(library, model, builder.generate())


def _search(library: Any, model: Any, solution: Any) -> Any:
    """Remove and reinsert one graph at a time, as long as it improves the solution."""
    library.GMLocalSearcher(model, list(range(model.no_graphs))).search(solution)
    return solution


def _labelled(library: Any, model: Any, linked: list[list[int]]) -> Any:
    """Return a solution in which nodes of one group are matched."""
    node_of = [{group: node for node, group in enumerate(graph)} for graph in linked]
    solution = library.MgmSolution(model)
    solution.set_solution(
        {
            (one, other): [node_of[other].get(group, -1) for group in linked[one]]
            for one, other in combinations(range(len(linked)), 2)
        }
    )
    return solution


def _groups(solution: Any) -> list[dict[int, int]]:
    groups: list[dict[int, int]] = solution.cliques()
    return groups


def _library() -> Any:
    """Import the optional library; it is GPL-3.0, so this library never requires it."""
    library = optional(LIBRARY, "mgm", "solver 'mgm'")
    logging.getLogger("libmgm").setLevel(logging.WARNING)  # it logs each step of each problem
    return library
