"""What the library says when input cannot be used: one exception, one warning, one way to list records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

SHOWN = 5
"""How many offending records an error lists; all of them are counted."""

T = TypeVar("T")


class KalosError(Exception):
    """Base of every error this library raises on purpose."""


class InputError(KalosError, ValueError):
    """Input that cannot be used. The message names the source, the record, what was expected and what came."""


class KalosWarning(UserWarning):
    """Something was assumed, derived or left out, and changes how a figure is to be read."""


@dataclass
class Problems:
    """Collects what is wrong with the records of one source, so that all of it is reported at once.

    Examples
    --------
    >>> problems = Problems("labels.json")
    >>> problems.add("annotation 7", "a rater", "nothing")
    >>> problems.raise_if_any()
    Traceback (most recent call last):
    kalos_core.errors.InputError: labels.json: 1 record cannot be used.
      annotation 7: expected a rater, got nothing
    """

    source: str
    found: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, record: str, expected: str, came: object) -> None:
        """Note that `record` holds `came` where `expected` was needed."""
        self.count += 1
        if len(self.found) < SHOWN:
            self.found.append(f"{record}: expected {expected}, got {came}")

    def add_all(
        self,
        rows: Iterable[int],
        record: Callable[[int], str],
        expected: str,
        came: Callable[[int], object],
    ) -> None:
        """`add` for each of `rows`; the texts are only made for those that are shown."""
        for row in rows:
            if len(self.found) < SHOWN:
                self.add(record(row), expected, came(row))
            else:
                self.count += 1

    def raise_if_any(self) -> None:
        """Raise `InputError` listing the first five records and the number of all."""
        if not self.count:
            return
        plural = "record" if self.count == 1 else "records"
        lines = [f"{self.source}: {self.count:,} {plural} cannot be used."]
        lines += [f"  {line}" for line in self.found]
        if self.count > len(self.found):
            lines.append(f"  ... and {self.count - len(self.found):,} more")
        raise InputError("\n".join(lines))


def lookup(table: Mapping[str, T], name: str, what: str) -> T:
    """The entry of `table` called `name`; an unknown name is an error that lists the known ones.

    Examples
    --------
    >>> lookup({"soft": 1, "neg": 2}, "hard", "cost")
    Traceback (most recent call last):
    kalos_core.errors.InputError: cost: expected one of 'neg', 'soft', got 'hard'
    """
    try:
        return table[name]
    except (KeyError, TypeError):
        known = ", ".join(repr(key) for key in sorted(table))
        raise InputError(f"{what}: expected one of {known}, got {name!r}") from None


def listed(names: Iterable[object], limit: int = SHOWN) -> str:
    """`names` as text, cut after `limit` with the number of the rest.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    all_names = [str(name) for name in names]
    head = ", ".join(all_names[:limit])
    rest = len(all_names) - limit
    return head if rest <= 0 else f"{head} and {rest:,} more"
