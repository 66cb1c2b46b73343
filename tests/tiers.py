"""Tests that `make test` runs, and tests marked `extended`, which only `make test-all` runs."""

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import Any

import pytest

extended = pytest.mark.extended
"""Marker of a test, a class, a module (`pytestmark`) or a `pytest.param` for `make test-all` (`pytest --all`)."""


def first(values: Iterable[Any], count: int = 1) -> list[Any]:
    """Return parameters; `make test` runs the first `count`, `make test-all` all."""
    return [value if place < count else pytest.param(value, marks=extended) for place, value in enumerate(values)]


def pairwise(*axes: Sequence[Any]) -> list[Any]:
    """Return the full grid of some axes; `make test` runs enough of it to cover every pair of values."""
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
    """Return every two axes with their values; for one axis, its value."""
    found = list(enumerate(place))
    return set(combinations(found, min(2, len(found))))
