"""Metric of alpha for each question, and the positions of its categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.chance import METRICS, Tally
from kalos_core.chance.distances import MetricName
from kalos_core.errors import InputError, check_iterable, index_of, listed, lookup, repr_of, text_of
from kalos_core.files import as_float
from kalos_core.nominal.build import OPTIONAL
from kalos_core.nominal.coefficients import alpha_of_counts
from kalos_core.nominal.grouping import named_lists
from kalos_core.nominal.table import LabelTable
from kalos_core.options import Option

GradeMetric = Annotated[
    MetricName,
    Option("Metric", "What makes two grades differ, for alpha.", choices=METRICS, type="name in `METRICS`"),
]

Metric = MetricName | Mapping[str, MetricName]
"""A name in `METRICS` for all exclusive groups, or one for each group; groups without one are nominal."""

Order = Sequence[str] | Mapping[str, Sequence[str]]
"""Categories from lowest to highest: for the one group with an ordinal metric, or by group."""


def _order(order: Any, name: str) -> Order | None:
    if order is None:
        return None
    if isinstance(order, Mapping):
        return named_lists(order, name)
    return [text_of(of) for of in check_iterable(order, name, "categories from lowest to highest")]


MetricOfGroups = Annotated[
    Metric,
    Option(
        "What makes answers differ, for alpha",
        "Metric of groups of labels that are grades: one name, or one for each group; groups without one are nominal. "
        "Names that are numbers count as these numbers. All other coefficients are nominal.",
        type="name in `METRICS`, or mapping group -> name",
    ),
]

OrderOfGroups = Annotated[
    Order | None,
    Option(
        "Order of labels",
        "Labels from lowest to highest, for the group with an ordinal metric or by group; needed if names are not "
        "numbers.",
        type="sequence, or mapping group -> sequence, optional",
        check=_order,
    ),
]


@dataclass(frozen=True, eq=False)
class Levels:
    """Metric of a question, and its levels.

    Parameters
    ----------
    metric : name in `METRICS`
    position : (K,) int
        Position of each option in ascending order.
    levels : (K,) float64, ascending
        Numbers of the options; if an order is stated, their positions in it.
    is_stated : bool
        Whether an order is stated.
    """

    metric: MetricName = "nominal"
    position: NDArray[np.intp] | None = None
    levels: NDArray[np.float64] | None = None
    is_stated: bool = False

    def alpha(self, found: Tally) -> float:
        """Compute Krippendorff's alpha of counts of the options."""
        if self.position is None:
            return alpha_of_counts(found)
        return alpha_of_counts(replace(found, category=self.position[found.category]), self.metric, levels=self.levels)

    def numbers(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the number (I, R) of each option, NaN if there is none; for a nominal question, its code.

        Examples
        --------
        >>> Levels("interval", np.array([1, 0]), np.array([9.0, 10.0])).numbers(np.array([[0, 1], [1, -2]])).tolist()
        [[10.0, 9.0], [9.0, nan]]
        """
        given = np.maximum(codes, 0)
        known = given if self.position is None or self.levels is None else self.levels[self.position[given]]
        return np.where(codes < 0, np.nan, known)


def question_levels(table: LabelTable, metric: Metric = "nominal", order: Order | None = None) -> dict[str, Levels]:
    """Return the metric and levels of each question that is not nominal.

    Names of categories that are numbers count as those numbers, unless an order is stated.

    Raises
    ------
    InputError
        For an unknown metric or group; an order without the categories of its group, or for a group without an ordinal
        metric; and categories that are not numbers where these are needed.

    Examples
    --------
    >>> rows = [{"item": i, "rater": r, "label": label} for i in (1, 2) for r, label in (("a", "10"), ("b", "9"))]
    >>> found = question_levels(LabelTable.from_rows(rows), "interval")["label"]
    >>> found.position.tolist(), found.levels.tolist()
    ([1, 0], [9.0, 10.0])
    """
    groups = [name for name in table.questions if table.group_of[table.concepts_of(name)[0]] != OPTIONAL]
    if isinstance(metric, Mapping):
        of_group = dict(metric)
        for name in of_group.values():
            lookup(METRICS, name, "metric")
        for group in of_group:
            index_of(groups, group, "metric")
    else:
        lookup(METRICS, metric, "metric")
        of_group = dict.fromkeys(groups, metric)
    ordinal = [group for group, name in of_group.items() if name == "ordinal"]
    orders = _orders(order, ordinal)
    return {
        group: _levels(table.options(group), group, name, orders.get(group))
        for group, name in of_group.items()
        if name != "nominal"
    }


LEAST_GRADES = 3
"""Minimum number of categories, with names that are different numbers, to count as grades."""


def numbered_levels(table: LabelTable) -> dict[str, Levels]:
    """Return the numbers of the categories of each exclusive group with at least `LEAST_GRADES` such names.

    Examples
    --------
    >>> rows = [{"item": i, "rater": "ann", "label": label} for i, label in enumerate(["2", "1", "4"])]
    >>> numbered_levels(LabelTable.from_rows(rows))["label"].levels.tolist()
    [1.0, 2.0, 4.0]
    """
    found = {}
    for name in table.questions:
        options = table.options(name)
        numbers = {number for number in map(as_float, options) if number is not None and np.isfinite(number)}
        if table.group_of[table.concepts_of(name)[0]] != OPTIONAL and LEAST_GRADES <= len(options) == len(numbers):
            found[name] = _levels(options, name, "interval", None)
    return found


def _orders(order: Order | None, ordinal: list[str]) -> Mapping[str, Sequence[str]]:
    """Return the order of each group."""
    if order is None:
        return {}
    if not isinstance(order, Mapping):
        if len(ordinal) != 1:
            raise InputError(
                "order: expected a mapping of groups to categories, as "
                f"{listed(ordinal) or 'no group'} with an ordinal metric, got {repr_of(order)}"
            )
        return {ordinal[0]: order}
    for group in order:
        index_of(ordinal, group, "order")
    return order


def _levels(options: tuple[str, ...], group: str, metric: MetricName, order: Sequence[str] | None) -> Levels:
    if order is not None:
        names = [text_of(name) for name in check_iterable(order, "order", "categories from lowest to highest")]
        if sorted(names) != sorted(options):
            raise InputError(f"order: expected the categories of {group}, {listed(options, 20)}, got {repr_of(order)}")
        position = np.array([names.index(name) for name in options])
        return Levels(metric, position, np.arange(len(names), dtype=np.float64), is_stated=True)
    numbers = [as_float(name) for name in options]
    known = [number for number in numbers if number is not None and np.isfinite(number)]
    if len(known) < len(numbers) or len(set(known)) < len(known):
        text = next((name for name, number in zip(options, numbers, strict=True) if number not in known), options[0])
        hint = f"order={{{group!r}: [...]}} says which is lowest, or " if metric == "ordinal" else ""
        raise InputError(
            f"metric: expected categories that are different numbers for {metric!r} of {group}, got {repr_of(text)}: "
            f"{hint}metric={{...}} names the groups that have one"
        )
    ascending = np.argsort(known)
    return Levels(metric, np.argsort(ascending), np.array(known)[ascending])
