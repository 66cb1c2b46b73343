"""Which tests `make test` runs, and which only `make test-all`: those marked `extended`."""

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

extended = pytest.mark.extended
"""Of a test, a class, a module (`pytestmark`) or a `pytest.param`: only `make test-all` (`pytest --all`) runs it."""


def first(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Parameters of which `make test` runs the first `count`, and `make test-all` all."""
    return [value if place < count else pytest.param(value, marks=extended) for place, value in enumerate(values)]


def pairwise(*axes: Sequence[Any]) -> list[Any]:
    """Parameters for the full grid of some axes, of which `make test` runs enough for every two values to meet."""
    places = list(product(*(range(len(axis)) for axis in axes)))
    open_pairs = {pair for place in places for pair in _pairs(place)}
    chosen = set()
    while open_pairs:
        best = max(places, key=lambda place: len(open_pairs & _pairs(place)))
        chosen.add(best)
        open_pairs -= _pairs(best)
    return [
        pytest.param(
            *(axis[one] for axis, one in zip(axes, place, strict=True)), marks=() if place in chosen else extended
        )
        for place in places
    ]


def _pairs(place: tuple[int, ...]) -> set[tuple[tuple[int, int], ...]]:
    """Each two axes with their values; of one axis, its value."""
    found = list(enumerate(place))
    return set(combinations(found, min(2, len(found))))
