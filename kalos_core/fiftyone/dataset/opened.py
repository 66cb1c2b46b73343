"""What a selection means in a data set, looked up once before labels of any kind are read: fields, raters, assigned."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import fiftyone as fo

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, KalosWarning, listed
from kalos_core.fiftyone.dataset.database import now
from kalos_core.fiftyone.dataset.document import RaterRecord
from kalos_core.fiftyone.dataset.raters import (
    ASSIGNED_FIELD,
    OBJECTS,
    Family,
    LabelSource,
    class_names,
    facts_of,
    sources_of,
)
from kalos_core.fiftyone.dataset.samples import every_sample, pinned
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of


@dataclass(frozen=True, eq=False)
class Opened:
    """The labels that a selection means.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
        What is read, see `pinned`.
    selection : Selection
    family : Family
    sources : tuple of LabelSource
        Without that of a reference.
    rule : "all", "listed" or "labelled"
        Who was assigned: everybody everywhere; those the sample lists; those whose labels are there.
    again : bool
        The selection is that of a stored run: names that no label has any more are no mistake, and nothing is warned
        of that was warned of then.
    read_at : datetime
        When: labels that were edited later are not in here.
    """

    view: Any
    selection: Selection
    family: Family
    sources: tuple[LabelSource, ...]
    rule: str
    again: bool
    read_at: datetime

    @classmethod
    def of(
        cls,
        samples: Any,
        selection: Selection,
        family: Family = OBJECTS,
        *,
        again: bool = False,
        sources: Sequence[LabelSource] | None = None,
    ) -> Opened:
        """Open the labels of a view. `sources`: where they are, if that is known already."""
        read_at, view = now(), pinned(samples)  # which hides no field
        found = tuple(sources_of(samples, selection, family) if sources is None else sources)
        return cls(view, selection, family, found, rule_of(view, selection, found), again, read_at)

    @cached_property
    def raters(self) -> tuple[str, ...]:
        """Those that are read, in their order: of fields, or whom labels or lists of assigned raters name.

        Raises
        ------
        InputError
            Where no label names a rater, and for raters whom nothing names.
        """
        if self.selection.field is not None:
            return self._named(*self.sources)
        return tuple(str(source.rater) for source in self.sources)

    def _named(self, source: LabelSource) -> tuple[str, ...]:
        selection = self.selection
        named = map(as_name, self.view.distinct(f"{source.path}.{source.attribute}"))
        labelled = sorted(str(name) for name in named if name is not None)
        known = sorted({*labelled, *(self.view.distinct(ASSIGNED_FIELD) if self.fields else ())})
        if not self.again and not labelled and self.view.count(f"{source.path}.label"):
            raise InputError(
                "rater_attribute: expected an attribute that names each label's rater, "
                f"got {source.attribute!r}, which no label of {source.field!r} has"
            )
        for argument, wanted in (("raters", selection.raters or ()), ("reference", (selection.reference,))):
            strangers = [name for name in wanted if name is not None and name not in known]
            if strangers and not self.again:
                raise InputError(f"{argument}: expected names among {listed(known, 20)}, got {listed(strangers)}")
        every = known if self.family is OBJECTS else labelled  # who is listed and gave no label annotated nothing
        names = every if selection.raters is None else dict.fromkeys(selection.raters)
        return tuple(name for name in names if name != selection.reference)

    @cached_property
    def facts(self) -> list[RaterRecord]:
        """What is known of each rater."""
        return facts_of(self.view, self.raters)

    @property
    def fields(self) -> list[str]:
        """Sample fields that say who was assigned."""
        return [ASSIGNED_FIELD] if self.rule == "listed" else []

    def assigned(self, listed: Iterable[str] | None, there: Iterable[str]) -> list[str] | None:
        """The raters who were assigned to a sample; None for all of them.

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

    def check_classes(self, *references: LabelSource) -> None:
        """Refuse classes that neither labels, these references among them, nor the data set or its raters know.

        One that nobody has ever used is a slip, which would otherwise read as perfect agreement on absence.
        """
        wanted, dataset = self.selection.classes, root_of(self.view)
        if wanted is None or self.again:
            return
        used = class_names(every_sample(dataset), self.family, [of.path for of in (*self.sources, *references)])
        assigned = [name for about in self.facts for name in about["classes"] or ()]
        known = {*used, *assigned, *dataset.default_classes}.union(*dataset.classes.values())
        unknown = [name for name in wanted if name not in known]
        if unknown:
            raise InputError(f"classes: expected classes among {listed(sorted(known), 20)}, got {listed(unknown)}")

    def warn(self) -> None:
        """Say so where everybody is taken as assigned because nothing says who was."""
        is_guessed = self.selection.assigned == "auto" and self.rule == "all"
        if is_guessed and len(self.raters) > 1 and not self.again:
            warnings.warn(
                f"no sample field {ASSIGNED_FIELD!r} says who was assigned: every rater is taken as assigned to every "
                "sample, so that a sample a rater never saw counts as 'saw it and annotated nothing', which lowers "
                "alpha. Choose assigned='labelled' to count a rater only where their labels are there.",
                KalosWarning,
                stacklevel=5,
            )


def rule_of(samples: Any, selection: Selection, sources: Iterable[LabelSource]) -> str:
    """How it is known who was assigned, see `Opened`."""
    if selection.assigned != "auto":
        return selection.assigned
    if all(source.is_synthetic for source in sources):
        return "labelled"
    if not samples.has_field(ASSIGNED_FIELD):
        return "all"
    check_assigned_field(samples)
    return "listed"


def check_assigned_field(samples: Any) -> None:
    """Refuse a field of the name we use that holds something else."""
    field = samples.get_field(ASSIGNED_FIELD)
    if not isinstance(field, fo.ListField) or not isinstance(field.field, (fo.StringField, type(None))):
        raise InputError(
            f"samples: expected the field {ASSIGNED_FIELD!r} to list the names of the assigned raters, got a {field}; "
            "rename it, or choose assigned='all' or 'labelled'"
        )
