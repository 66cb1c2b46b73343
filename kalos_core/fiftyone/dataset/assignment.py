"""Who was assigned to a sample: one rule for objects, image-level labels and masks."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import fiftyone as fo

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, KalosWarning, listed
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD as ASSIGNED_FIELD
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


def named_raters(
    view: Any, source: LabelSource, selection: Selection, lists: bool, *, again: bool = False, silent: bool = True
) -> tuple[str, ...]:
    """The raters whom labels or lists of assigned raters name, as far as they are selected.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
    source : LabelSource
        Of labels that name their rater in an attribute.
    selection : Selection
    lists : bool
        Whether the samples list who was assigned.
    again : bool
        The selection is that of a stored run: nothing is demanded of the labels.
    silent : bool
        Whether those are raters, too, who gave no label but are listed.

    Raises
    ------
    InputError
        Where no label names a rater, and for raters whom nothing names.
    """
    named = map(as_name, view.distinct(f"{source.path}.{source.attribute}"))
    labelled = sorted(str(name) for name in named if name is not None)
    known = sorted({*labelled, *(view.distinct(ASSIGNED_FIELD) if lists else ())})
    if not again and not labelled and view.count(f"{source.path}.label"):
        raise InputError(
            "rater_attribute: expected an attribute that names each label's rater, "
            f"got {source.attribute!r}, which no label of {source.field!r} has"
        )
    for argument, wanted in (("raters", selection.raters or ()), ("reference", (selection.reference,))):
        strangers = [name for name in wanted if name is not None and name not in known]
        if strangers and not again:
            raise InputError(f"{argument}: expected names among {listed(known, 20)}, got {listed(strangers)}")
    names = (known if silent else labelled) if selection.raters is None else dict.fromkeys(selection.raters)
    return tuple(name for name in names if name != selection.reference)


def check_assigned_field(samples: Any) -> None:
    """Refuse a field of the name we use that holds something else."""
    field = samples.get_field(ASSIGNED_FIELD)
    if not isinstance(field, fo.ListField) or not isinstance(field.field, (fo.StringField, type(None))):
        raise InputError(
            f"samples: expected the field {ASSIGNED_FIELD!r} to list the names of the assigned raters, got a {field}; "
            "rename it, or choose assigned='all' or 'labelled'"
        )
