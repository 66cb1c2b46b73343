"""Reconciliation of free-text class names of raters to one vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import regex

from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import Option

EVERY_RATER = "*"

SECONDS = 2.0
"""Time limit for one regular expression on one name; nearly all take a millionth of it."""

Aliases = Annotated[
    Mapping[str, str | Mapping[str, str]] | None,
    Option(
        "Class names that raters wrote",
        'Written name -> class, for all raters or for one: {"auto": "car", "rater 3": {"/car_[0-9]+/": "car"}}. A name '
        "between slashes is a regular expression that must match the whole name. Names without an alias are kept, and "
        "listed in a warning.",
        type="mapping, optional",
    ),
]


@dataclass
class Vocabulary:
    """Compiled aliases, with counts of the names that have no alias.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_aliases({"auto": "car", "r3": {"/car_[0-9]+/": "car"}})
    >>> (
    ...     vocabulary.reconcile("r1", "auto"),
    ...     vocabulary.reconcile("r3", "car_17"),
    ...     vocabulary.reconcile("r1", "bus"),
    ... )
    ('car', 'car', 'bus')
    >>> vocabulary.unmapped
    Counter({('r1', 'bus'): 1})
    """

    exact: dict[str, dict[str, str]] = field(default_factory=dict)
    patterns: dict[str, list[tuple[regex.Pattern[str], str]]] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)
    unmapped: Counter[tuple[str, str]] = field(default_factory=Counter)

    @classmethod
    def from_aliases(cls, aliases: Aliases) -> Vocabulary:
        """Check and compile `aliases`; an invalid regular expression is an error that shows it."""
        made = cls()
        if aliases is None:
            return made
        if not isinstance(aliases, Mapping):
            raise InputError(f"aliases: expected a mapping of written names to class names, got {repr_of(aliases)}")
        for key, target in aliases.items():
            if isinstance(target, Mapping):
                for written, name in target.items():
                    made._add(key, written, name)
            else:
                made._add(EVERY_RATER, key, target)
        return made

    def _add(self, rater: object, written: object, name: object) -> None:
        if not isinstance(rater, str):
            raise InputError(f"aliases: expected a rater's name, got {repr_of(rater)}")
        if not (isinstance(written, str) and isinstance(name, str) and name):
            raise InputError(
                f"aliases: expected a written name and a class name, got {repr_of(written)}: {repr_of(name)}"
            )
        self.targets.add(name)
        if len(written) > 2 and written[0] == written[-1] == "/":
            try:
                self.patterns.setdefault(rater, []).append((regex.compile(written[1:-1]), name))
            except (regex.error, RecursionError, OverflowError, MemoryError) as error:
                raise InputError(f"aliases: expected a regular expression, got {written}: {error}") from error
        else:
            self.exact.setdefault(rater, {})[written] = name

    def raters(self) -> set[str]:
        """Return the raters that have their own aliases."""
        return (set(self.exact) | set(self.patterns)) - {EVERY_RATER}

    def reconcile(self, rater: str, written: str) -> str:
        """Return the class of a written name, by the rater's aliases, then those for all; exact before patterns."""
        if not all(isinstance(name, str) for name in (rater, written)):
            raise InputError(f"written: expected names, got {repr_of(written)} of {repr_of(rater)}")
        for owner in (rater, EVERY_RATER):
            if written in self.exact.get(owner, {}):
                return self.exact[owner][written]
            for pattern, name in self.patterns.get(owner, []):
                try:
                    found = pattern.fullmatch(written, timeout=SECONDS)
                except TimeoutError:
                    raise InputError(
                        f"aliases: expected an expression that matches within {SECONDS:g} s, got /{pattern.pattern}/ "
                        f"on {written!r}: avoid nested repetitions, such as (a+)+, which are slow"
                    ) from None
                if found:
                    return name
        if written not in self.targets:
            self.unmapped[rater, written] += 1
        return written

    def describe_unmapped(self) -> str:
        """Describe the names without an alias for a message: number, names, and counts by rater."""
        entries = [f"{name!r} ({count} by {rater})" for (rater, name), count in sorted(self.unmapped.items())]
        without = number_of(
            len(entries),
            "written name has no alias and is kept as a separate class",
            "written names have no alias and are kept as separate classes",
        )
        return f"{without}: {listed(entries, 20)}"


def reconcile_all(
    vocabulary: Vocabulary, raters: Sequence[Any], written: Sequence[Any], known: Iterable[str], source: str
) -> list[Any]:
    """Return reconciled class names of all annotations; entries that are not names stay unchanged."""
    strangers = vocabulary.raters() - set(known)
    if strangers:
        raise InputError(f"aliases: expected raters of {source}, got {listed(sorted(strangers))}")
    return [
        vocabulary.reconcile(rater, name) if isinstance(rater, str) and isinstance(name, str) else name
        for rater, name in zip(raters, written, strict=True)
    ]
