"""Which labels of a view an analysis reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from kalos_core.errors import InputError, as_number, listed

ASSIGNMENTS = ("auto", "all", "labelled")
"""How it is known who was asked: the sample field `raters` (else as "all"), everybody everywhere, or those whose
label field is there, be it empty (one field per rater), or who drew (a rater attribute)."""


@dataclass(frozen=True)
class LabelChoice:
    """Which labels of a view an analysis reads; a run stores it as a record.

    Parameters
    ----------
    raters : tuple of str, optional
        Stored rater names or label fields, one per rater; with `field`, names to keep. None: all that are known.
    field : str, optional
        One field that holds the labels of all raters, told apart by `rater_attribute`.
    rater_attribute : str
        Only read with `field`.
    reference : str, optional
        A gold or reference rater, kept out of agreement; need not be among `raters`.
    classes : tuple of str, optional
        Classes to read, each one that the data set knows; None: all.
    min_area : float
        Smallest area of a mark, in square pixels. A mark just above it whose partner is just below stays alone.
    min_confidence : float
        Labels with a lower confidence are left out; labels without one are kept.
    assigned : str
        One of `ASSIGNMENTS`.
    """

    raters: tuple[str, ...] | None = None
    field: str | None = None
    rater_attribute: str = "rater"
    reference: str | None = None
    classes: tuple[str, ...] | None = None
    min_area: float = 0.0
    min_confidence: float = 0.0
    assigned: str = "auto"

    def __post_init__(self) -> None:
        for name in ("raters", "classes"):
            entries = getattr(self, name)
            if isinstance(entries, str) or not all(isinstance(entry, str) for entry in entries or ()):
                raise InputError(f"{name}: expected a list of names, got {entries!r}")
        for name in ("min_area", "min_confidence"):
            number = as_number(getattr(self, name))
            if number is None or not number >= 0:
                raise InputError(f"{name}: expected a number of at least 0, got {getattr(self, name)!r}")
        if self.assigned not in ASSIGNMENTS:
            raise InputError(f"assigned: expected one of {', '.join(ASSIGNMENTS)}, got {self.assigned!r}")

    @classmethod
    def of(cls, choice: LabelChoice | None, options: Mapping[str, Any]) -> LabelChoice:
        """The choice given as such or by its fields; both at once is an error."""
        if choice is not None and options:
            raise InputError(f"choice: expected either a choice or its fields, got also {listed(options)}")
        unknown = [name for name in options if name not in cls.__dataclass_fields__]
        if unknown:
            raise InputError(f"options: expected {listed(cls.__dataclass_fields__, 20)}, got {listed(unknown)}")
        return cls(**options) if choice is None else choice

    def record(self) -> dict[str, Any]:
        """As plain values, for storing."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> LabelChoice:
        """The choice a stored record describes."""
        values: dict[str, Any] = {n: tuple(v) if isinstance(v, list) else v for n, v in record.items()}
        return cls(**values)
