"""Selection of the labels of a view that an analysis reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, cast

from kalos_core.errors import InputError, repr_of
from kalos_core.options import Option, Settings

AssignedBy = Literal["auto", "all", "labelled"]
"""How to find who was assigned to an image."""


class SelectionArguments(TypedDict, total=False):
    """Keyword arguments of every analysis that select the labels it reads; `Selection` documents them."""

    raters: Sequence[str] | None
    field: str | None
    rater_attribute: str
    reference: str | None
    classes: Sequence[str] | None
    min_area: float
    min_confidence: float
    assigned: AssignedBy


def _names(value: Any, name: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(of, str) for of in value):
        raise InputError(f"{name}: expected a list of names, got {repr_of(value)}")
    return tuple(value)


@dataclass(frozen=True, kw_only=True)
class LabelSelection(Settings):
    """Selection of labels, without the choice of raters."""

    field: Annotated[
        str | None,
        Option("Field", "One field that holds the labels of all raters, told apart by `rater_attribute`."),
    ] = None
    rater_attribute: Annotated[
        str, Option("Attribute that names the rater", "Attribute of the labels in `field`; used only with `field`.")
    ] = "rater"
    classes: Annotated[
        Sequence[str] | None,
        Option(
            "Classes",
            "Only these classes, which the data set must know; None: all.",
            type="list of str, optional",
            check=_names,
        ),
    ] = None
    min_area: Annotated[
        float,
        Option(
            "Smallest area in square pixels",
            "An annotation just above the limit loses a partner that is just below it.",
            low=0,
        ),
    ] = 0.0
    min_confidence: Annotated[
        float, Option("Least confidence", "Labels with lower confidence are left out; labels without one stay.", low=0)
    ] = 0.0
    assigned: Annotated[
        AssignedBy,
        Option(
            "Who was assigned",
            "An image that a rater never saw would count as 'saw it and annotated nothing', which lowers alpha.",
            choices={
                "auto": "the raters listed in the sample field 'raters'; without that field, all raters on all images",
                "all": "all raters on all images",
                "labelled": "raters whose label field is present, even if empty, or who annotated",
            },
        ),
    ] = "auto"


@dataclass(frozen=True, kw_only=True)
class Selection(LabelSelection):
    """Selection of the labels of a view that an analysis reads; a run stores it as a record.

    Examples
    --------
    >>> Selection.of({"raters": ["ann", "bob"]}).raters
    ('ann', 'bob')
    >>> Selection.of({"rater": "ann"})
    Traceback (most recent call last):
    kalos_core.errors.InputError: unknown argument rater (did you mean raters?): expected one of field, \
rater_attribute, classes, min_area, min_confidence, assigned, raters, reference
    """

    raters: Annotated[
        Sequence[str] | None,
        Option(
            "Raters",
            "Stored names of raters, or label fields, one per rater; with `field`, names to keep. None: all known.",
            type="list of str, optional",
            check=_names,
        ),
    ] = None
    reference: Annotated[
        str | None,
        Option("Reference rater", "A gold standard to keep out of agreement; need not be among `raters`."),
    ] = None

    def arguments(self) -> SelectionArguments:
        """Return the selection as keyword arguments of an analysis, without default values."""
        default = Selection()
        given = {name: value for name, value in super().record().items() if value != getattr(default, name)}
        return cast(SelectionArguments, given)

    def record(self) -> dict[str, Any]:
        """Return the selection as plain values for storing; `of` reads them back."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in super().record().items()}
