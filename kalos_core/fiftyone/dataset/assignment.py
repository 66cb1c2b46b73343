"""Who was assigned to a sample: one rule for objects, image-level labels and masks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import fiftyone as fo

from kalos_core.errors import InputError, KalosWarning
from kalos_core.fiftyone.dataset.names import ASSIGNED_FIELD as ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.raters import LabelSource
from kalos_core.fiftyone.dataset.selection import Selection


@dataclass(frozen=True)
class Assignment:
    """How it is known who was assigned.

    Parameters
    ----------
    rule : "all", "listed" or "labelled"
        Everybody everywhere; those the sample lists; those whose labels are there.
    raters : tuple of str
        Those that are read, in their order.
    sources : tuple of LabelSource
    """

    rule: str
    raters: tuple[str, ...]
    sources: tuple[LabelSource, ...]

    @classmethod
    def of(cls, samples: Any, selection: Selection, sources: Sequence[LabelSource]) -> Assignment:
        """Of a selection; its raters are still to be set where an attribute names them."""
        rule = selection.assigned
        if rule == "auto":
            if all(source.is_synthetic for source in sources):
                rule = "labelled"
            elif samples.has_field(ASSIGNED_FIELD):
                check_assigned_field(samples)
                rule = "listed"
            else:
                rule = "all"
        return cls(rule, tuple(str(source.rater) for source in sources), tuple(sources))

    @property
    def fields(self) -> list[str]:
        """Sample fields that say who was assigned."""
        return [ASSIGNED_FIELD] if self.rule == "listed" else []

    def names(self, listed: Iterable[str] | None, there: Iterable[str]) -> list[str] | None:
        """The assigned raters of a sample; None for all of them.

        Parameters
        ----------
        listed : names or None
            What the sample's field lists.
        there : names
            Raters whose label field is there, or, where an attribute names them, who annotated.
        """
        if self.rule == "all":
            return None
        if self.rule == "labelled":
            names = set(there)
        else:  # who was generated stands in no list
            made = {str(source.rater) for source in self.sources if source.is_synthetic}
            names = {*(listed or ()), *made.intersection(there)}
        return [name for name in self.raters if name in names]

    def warn(self, selection: Selection, stacklevel: int) -> None:
        """Say so where everybody is taken as assigned because nothing says who was."""
        if selection.assigned == "auto" and self.rule == "all" and len(self.raters) > 1:
            warnings.warn(
                f"no sample field {ASSIGNED_FIELD!r} says who was assigned: every rater is taken as assigned to every "
                "sample, so that a sample a rater never saw counts as 'saw it and annotated nothing', which lowers "
                "alpha. Choose assigned='labelled' to count a rater only where their labels are there.",
                KalosWarning,
                stacklevel=stacklevel + 1,
            )


def check_assigned_field(samples: Any) -> None:
    """Refuse a field of the name we use that holds something else."""
    field = samples.get_field(ASSIGNED_FIELD)
    if not isinstance(field, fo.ListField) or not isinstance(field.field, (fo.StringField, type(None))):
        raise InputError(
            f"samples: expected the field {ASSIGNED_FIELD!r} to list the names of the assigned raters, got a {field}; "
            "rename it, or choose assigned='all' or 'labelled'"
        )
