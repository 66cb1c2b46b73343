"""Which labels of a view an analysis reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypedDict, cast

from kalos_core.errors import InputError, as_number, listed, repr_of

ASSIGNMENTS = ("auto", "all", "labelled")
"""How it is known who was assigned: by the sample field `raters` (without it as "all"), everybody everywhere, or those
whose label field is there, be it empty (one field per rater), or who annotated (a rater attribute)."""


class SelectionArguments(TypedDict, total=False):
    """The keyword arguments of every analysis that say which labels it reads; see `Selection` for what each means."""

    raters: Sequence[str] | None
    field: str | None
    rater_attribute: str
    reference: str | None
    classes: Sequence[str] | None
    min_area: float
    min_confidence: float
    assigned: str


@dataclass(frozen=True)
class Selection:
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
        Smallest area of an annotation, in square pixels. One just above it whose partner is just below stays alone.
    min_confidence : float
        Labels with a lower confidence are left out; labels without one are kept.
    assigned : str
        One of `ASSIGNMENTS`.

    Examples
    --------
    >>> Selection.of({"raters": ["ann", "bob"]}).raters
    ('ann', 'bob')
    >>> Selection.of({"rater": "ann"})
    Traceback (most recent call last):
    kalos_core.errors.InputError: unknown argument rater: expected one of raters, field, rater_attribute, reference, \
classes, min_area, min_confidence, assigned
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
            if entries is None:
                continue
            if isinstance(entries, str) or not isinstance(entries, Sequence):
                raise InputError(f"{name}: expected a list of names, got {repr_of(entries)}")
            if not all(isinstance(entry, str) for entry in entries):
                raise InputError(f"{name}: expected a list of names, got {repr_of(entries)}")
            object.__setattr__(self, name, tuple(entries))
        for name in ("min_area", "min_confidence"):
            number = as_number(getattr(self, name))
            if number is None or not number >= 0:
                raise InputError(f"{name}: expected a number of at least 0, got {getattr(self, name)!r}")
        if self.assigned not in ASSIGNMENTS:
            raise InputError(f"assigned: expected one of {', '.join(ASSIGNMENTS)}, got {self.assigned!r}")

    @classmethod
    def of(cls, arguments: SelectionArguments | Mapping[str, Any]) -> Selection:
        """From the keyword arguments of an analysis; one that is not known is an error."""
        unknown = [name for name in arguments if name not in cls.__dataclass_fields__]
        if unknown:
            known = listed(cls.__dataclass_fields__, 20)
            raise InputError(f"unknown argument {listed(unknown)}: expected one of {known}")
        return cls(**arguments)

    def arguments(self) -> SelectionArguments:
        """As the keyword arguments of an analysis: those that are not the defaults."""
        default = Selection()
        given = {name: value for name, value in vars(self).items() if value != getattr(default, name)}
        return cast(SelectionArguments, given)

    def record(self) -> dict[str, Any]:
        """As plain values, for storing; `of` reads it back."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}
