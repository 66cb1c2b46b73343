"""Errors and warnings for input that cannot be used, and checks of arguments."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import accumulate
from numbers import Real
from typing import Any, TypeVar

SHOWN = 5
"""Number of offending records that an error lists; all of them are counted."""

LONGEST = 120
"""Number of characters of the actual value that an error shows."""

LONGEST_TEXT = 100_000
"""Maximum number of characters of a text given as an argument."""

LONGEST_MESSAGE = 4_000
"""Maximum number of characters of an error message; its beginning and its end are kept."""

T = TypeVar("T")


class KalosError(Exception):
    r"""Base class of all errors that this library raises on purpose. The message is printable and short.

    Examples
    --------
    >>> issubclass(InputError, KalosError)
    True
    >>> str(KalosError("a\0b"))
    'a\\x00b'
    """

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(readable(given) if isinstance(given, str) else given for given in arguments))


class InputError(KalosError, ValueError):
    """Error for input that cannot be used. The message names the source, the record, the expected and the actual value.

    Examples
    --------
    >>> from kalos_core import read_coco
    >>> read_coco({"images": []})
    Traceback (most recent call last):
    kalos_core.errors.InputError: COCO data: expected COCO with a list 'annotations', got images
    """


class KalosWarning(UserWarning):
    """Warning that something was assumed, derived or left out, which affects how to interpret a result.

    Examples
    --------
    Turn all these warnings into errors:

    >>> import warnings
    >>> warnings.simplefilter("error", KalosWarning)
    """


def warn(text: str) -> None:
    """Issue a `KalosWarning` that points at the line outside of this library that led here."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, KalosWarning, stacklevel=level)


def readable(text: str) -> str:
    r"""Return a printable message: shorten a long one in the middle, and escape characters that do not print.

    Examples
    --------
    >>> readable("a\0b\ud800"), len(readable("x" * 200_000)) < 1.1 * LONGEST_MESSAGE
    ('a\\x00b\\ud800', True)
    """
    if len(text) > LONGEST_MESSAGE:
        begin, end = text[: LONGEST_MESSAGE * 3 // 4], text[-LONGEST_MESSAGE // 5 :]
        text = f"{begin} ... ({len(text):,} characters) ... {end}"
    if text.isprintable():  # the usual case
        return text
    return "".join(letter if letter.isprintable() or letter == "\n" else ascii(letter)[1:-1] for letter in text)


def repr_of(value: object, longest: int = LONGEST, write: Callable[[object], str] = repr) -> str:
    """Return the `repr` of a value, shortened for an error message; the type if `repr` fails.

    Examples
    --------
    >>> repr_of("ann"), repr_of([1] * 1_000, 12), repr_of(10**5_000)
    ("'ann'", '[1, 1, 1 ...', 'int')
    """
    try:
        text = write(value)
    except Exception:  # e.g. a number with too many digits, endless nested lists, or a class of another library
        return type(value).__name__
    return text if len(text) <= longest else text[: longest - 4] + " ..."


def text_of(value: object) -> str:
    """Return a name as text; its type if it cannot be written.

    Examples
    --------
    >>> text_of("a.jpg"), text_of(7), text_of(10**5_000)
    ('a.jpg', '7', 'int')
    """
    return repr_of(value, LONGEST_TEXT, str)


@dataclass(frozen=True)
class Undefined:
    """Reason why a result is undefined."""

    reason: str


def or_reason(compute: Callable[..., T], *arguments: Any) -> T | Undefined:
    """Return the result of a function, or `Undefined` with the reason if it refuses its input.

    Examples
    --------
    >>> or_reason(check_whole, 2, "bins"), or_reason(check_whole, 0.5, "bins").reason[:4]
    (2, 'bins')
    """
    try:
        return compute(*arguments)
    except InputError as error:
        return Undefined(str(error))


@dataclass
class Problems:
    """Collect the problems in the records of one source, so that all are reported at once.

    A record with several problems counts once and is listed with all of them.

    Examples
    --------
    >>> problems = Problems("labels.json")
    >>> problems.add("annotation 7", "a rater", "nothing")
    >>> problems.add("annotation 7", "a box or a polygon", "neither")
    >>> problems.raise_if_any()
    Traceback (most recent call last):
    kalos_core.errors.InputError: labels.json: 1 record cannot be used.
      annotation 7: expected a rater, got nothing; expected a box or a polygon, got neither
    """

    source: str
    records: set[str] = field(default_factory=set)
    shown: dict[str, list[str]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of records that cannot be used."""
        return len(self.records)

    def add(self, record: str, expected: str, actual: object) -> None:
        """Add a problem: `record` holds `actual` instead of `expected`."""
        self.records.add(record)
        if self._shows(record):
            text = repr_of(actual, write=str)
            self.shown.setdefault(record, []).append(f"expected {expected}, got {text}")

    def _shows(self, record: str) -> bool:
        return record in self.shown or len(self.shown) < SHOWN

    def add_all(
        self,
        rows: Iterable[int],
        record: Callable[[int], str],
        expected: str,
        actual: Callable[[int], object],
    ) -> None:
        """Add a problem for each of `rows`; the actual value is only computed for those that are shown."""
        for row in rows:
            name = record(row)
            if self._shows(name):
                self.add(name, expected, actual(row))
            else:
                self.records.add(name)

    def raise_if_any(self) -> None:
        """Raise an `InputError` that lists the first five records and the total number."""
        if self.count:
            raise InputError(self.text())

    def text(self) -> str:
        """Return the first five records, each with its problems, and the total number."""
        plural = "record" if self.count == 1 else "records"
        lines = [f"{self.source}: {self.count:,} {plural} cannot be used."]
        lines += [f"  {record}: {'; '.join(faults)}" for record, faults in self.shown.items()]
        if self.count > len(self.shown):
            lines.append(f"  ... and {self.count - len(self.shown):,} more")
        return "\n".join(lines)


def lookup(table: Mapping[Any, T], name: str, what: str) -> T:
    """Return the entry of `table` called `name`; raise an error that lists the known names if there is none.

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
        raise InputError(f"{what}: expected one of {known}, got {repr_of(name)}") from None


def index_of(names: Sequence[Any], name: str, what: str) -> int:
    """Return the index of a name among others; raise an error that lists the known names if there is none.

    Examples
    --------
    >>> index_of(["ann", "bob"], "bob", "rater")
    1
    >>> index_of(["ann", "bob"], "cid", "rater")
    Traceback (most recent call last):
    kalos_core.errors.InputError: rater: expected one of 'ann', 'bob', got 'cid'
    """
    try:
        return list(names).index(name)
    except (ValueError, TypeError, RecursionError):  # arrays and pandas.NA are equal to nothing
        raise InputError(f"{what}: expected one of {listed(map(repr_of, names), 20)}, got {repr_of(name)}") from None


def as_number(value: object) -> float | None:
    """Return a number of any type as a float; None for anything else, such as text or a boolean.

    Examples
    --------
    >>> as_number(1), as_number("1"), as_number(True)
    (1.0, None, None)
    """
    if type(value) is float:  # first, because nearly all numbers are
        return value
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def check_whole(value: object, name: str, least: int = 0, most: int | None = None) -> int:
    """Check that an argument is a whole number of at least `least`, and at most `most` if given.

    Examples
    --------
    >>> check_whole(3, "bootstrap")
    3
    >>> check_whole(-1, "bootstrap")
    Traceback (most recent call last):
    kalos_core.errors.InputError: bootstrap: expected a whole number of at least 0, got -1
    >>> check_whole(10**9, "bins", least=1, most=10_000)
    Traceback (most recent call last):
    kalos_core.errors.InputError: bins: expected a whole number from 1 to 10,000, got 1000000000
    """
    number = as_number(value)
    if number is not None and number.is_integer() and number >= least and (most is None or number <= most):
        return int(number)
    allowed = f"of at least {least}" if most is None else f"from {least} to {most:,}"
    raise InputError(f"{name}: expected a whole number {allowed}, got {repr_of(value)}")


def check_number(
    value: object,
    name: str,
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    below: float | None = None,
) -> float:
    """Check that an argument is a finite number in a range: `low` and `high` are included, `above` and `below` are not.

    Examples
    --------
    >>> check_number(1, "share", above=0, high=1)
    1.0
    >>> check_number(0, "share", above=0, high=1)
    Traceback (most recent call last):
    kalos_core.errors.InputError: share: expected a number above 0 and at most 1, got 0
    """
    number = as_number(value)
    if (
        number is not None
        and math.isfinite(number)
        and (low is None or number >= low)
        and (high is None or number <= high)
        and (above is None or number > above)
        and (below is None or number < below)
    ):
        return number
    bounds = {"of at least": low, "above": above, "at most": high, "below": below}
    told = [f"{word} {bound:g}" for word, bound in bounds.items() if bound is not None]
    expected = f"from {low:g} to {high:g}" if low is not None and high is not None else " and ".join(told)
    raise InputError(f"{name}: expected {f'a number {expected}'.rstrip()}, got {repr_of(value)}")


def check_text(value: object, name: str) -> str:
    r"""Check that an argument is a text of at most `LONGEST_TEXT` characters that UTF-8 can hold.

    Examples
    --------
    >>> check_text("both readings", "note")
    'both readings'
    >>> check_text("\ud800", "note")
    Traceback (most recent call last):
    kalos_core.errors.InputError: note: expected a text of at most 100,000 characters that UTF-8 can hold, got '\ud800'
    """
    if isinstance(value, str) and len(value) <= LONGEST_TEXT:
        with suppress(UnicodeEncodeError):
            value.encode()
            return value
    raise InputError(
        f"{name}: expected a text of at most {LONGEST_TEXT:,} characters that UTF-8 can hold, got {repr_of(value)}"
    )


def check_name(value: object, name: str) -> str:
    """Return an argument that is a name; raise an error for any other type.

    Examples
    --------
    >>> check_name("first", "run key")
    'first'
    >>> check_name(5, "run key")
    Traceback (most recent call last):
    kalos_core.errors.InputError: run key: expected a name, got 5
    """
    if not isinstance(value, str):
        raise InputError(f"{name}: expected a name, got {repr_of(value)}")
    return value


def check_writable(names: Iterable[object], what: str) -> None:
    r"""Check that UTF-8 can hold the texts among some names; tables and files take no others.

    Examples
    --------
    >>> check_writable(["ann", 3], "raters")
    >>> check_writable(["ann", "half a letter \ud800"], "raters")
    Traceback (most recent call last):
    kalos_core.errors.InputError: raters: expected text that UTF-8 can hold, got 'half a letter \ud800'
    """
    texts = [name for name in names if isinstance(name, str)]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        ends = accumulate(map(len, texts))
        wrong = next(text for text, end in zip(texts, ends, strict=True) if end > error.start)
        raise InputError(f"{what}: expected text that UTF-8 can hold, got {repr_of(wrong)}") from None


def check_iterable(value: Iterable[T], name: str, expected: str) -> Iterable[T]:
    """Check that an argument is a non-string iterable.

    Examples
    --------
    >>> check_iterable([1, 2], "images", "ids of images")
    [1, 2]
    >>> check_iterable(5, "images", "ids of images")
    Traceback (most recent call last):
    kalos_core.errors.InputError: images: expected ids of images, got 5
    >>> import numpy
    >>> check_iterable(numpy.array(5), "images", "ids of images")
    Traceback (most recent call last):
    kalos_core.errors.InputError: images: expected ids of images, got array(5)
    """
    is_number = getattr(value, "ndim", None) == 0  # such an array claims to be iterable
    if is_number or isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise InputError(f"{name}: expected {expected}, got {repr_of(value)}")
    return value


def is_hashable(value: object) -> bool:
    """Return whether a value can be looked up; JSON may hold a list or an object in place of an id.

    Examples
    --------
    >>> is_hashable("a.jpg"), is_hashable(["a.jpg"])
    (True, False)
    """
    try:
        hash(value)
    except TypeError:
        return False
    return True


def listed(names: Iterable[object], limit: int = SHOWN) -> str:
    """Return names as text, cut after `limit`, with the number of the rest.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    'a, b and 1 more'
    """
    all_names = [repr_of(name, write=str) for name in names]
    head = ", ".join(all_names[:limit])
    rest = len(all_names) - limit
    return head if rest <= 0 else f"{head} and {rest:,} more"
