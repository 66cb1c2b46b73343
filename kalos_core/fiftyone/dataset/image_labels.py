"""Reader of `Classification` and `Classifications` fields as a `LabelTable`: one query, every record checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import fiftyone as fo
import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import as_name, object_array
from kalos_core.errors import InputError, Problems, listed
from kalos_core.fiftyone.dataset.database import Columns, stream
from kalos_core.fiftyone.dataset.document import RaterRecord
from kalos_core.fiftyone.dataset.opened import Opened
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, IMAGE_LABELS, LabelSource, label_fields, sources_of
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of
from kalos_core.nominal import LabelTable, OnRepeat, RawLabels, build_table, suggest_groups
from kalos_core.nominal.answers import answers_digest, as_seconds, concepts_of, split_reference
from kalos_core.nominal.grouping import SUGGESTED, Groups

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments

TIME_ATTRIBUTE = "answered_at"
"""Attribute of a label with the time when it was given: a number or a date."""


@dataclass(frozen=True, eq=False)
class ImageLabels:
    """Image-level labels of a view.

    Parameters
    ----------
    raw : RawLabels
        All answers; items are sample ids.
    places : list of (str, str)
        File of the sample and field of each answer; the field is "" for an answer without a label.
    images : (I,) object
        Sample ids.
    hashes : (I,) object
        Digest of the raters and answers of each image.
    selection : Selection
        The requested selection, with the names of the raters and the reference that were found.
    fields : tuple of str
        Fields that were read.
    groups, on_repeat
        As in `read_label_table`; `SUGGESTED` is replaced by the suggested groups.
    view : fiftyone.core.collections.SampleCollection
        The view that was read, see `pinned`.
    read_at : datetime
        Time of reading; later edits are not included.
    facts : list of RaterRecord
        Stored facts about each rater.
    """

    raw: RawLabels
    places: list[tuple[str, str]]
    images: NDArray[np.object_]
    hashes: NDArray[np.object_]
    selection: Selection
    fields: tuple[str, ...]
    groups: Groups
    on_repeat: OnRepeat
    view: Any
    read_at: datetime
    facts: list[RaterRecord]

    @cached_property
    def answers(self) -> LabelTable:
        """Labels of all raters, with those of the reference last; items are sample ids."""
        images = self.images.tolist()
        known = known_classes(self.view, self.fields)
        return table_of(
            self.raw, images, self.selection, self.groups, self.on_repeat, known, lambda row: _at(self.places[row])
        )

    @cached_property
    def table(self) -> LabelTable:
        """Labels of the raters, without the reference."""
        return split_reference(self.answers, self.selection.reference)[0]


def known_classes(view: Any, fields: Sequence[str]) -> list[str]:
    """Return the classes that a data set stores for some fields, or else its default classes."""
    dataset = root_of(view)
    of_fields = dict.fromkeys(name for field in fields for name in dataset.classes.get(field, ()))
    return list(of_fields or dataset.default_classes)


def scored_fields(samples: Any) -> list[str]:
    """Return the fields of image-level labels with a confidence or logits, as classifiers write them."""
    fields = label_fields(samples, IMAGE_LABELS)
    paths = [(name, path) for name, label in fields.items() for path in (f"{label}.confidence", f"{name}.logits")]
    counts = samples.aggregate([fo.Count(path) for _, path in paths]) if paths else []
    return list(dict.fromkeys(name for (name, _), count in zip(paths, counts, strict=True) if count))


def read_label_table(
    samples: Any,
    *,
    groups: Groups = "label",
    on_repeat: OnRepeat = "raise",
    **selection: Unpack[SelectionArguments],
) -> LabelTable:
    """Read the image-level labels of several raters as a `LabelTable` whose items are sample ids.

    A rater who answered without a label chose nothing. By default, a rater answered for the samples whose list field
    `raters` names them; if there is no such field, for every sample. With ``assigned="labelled"`` a rater answered for
    the samples with their label, with ``assigned="all"`` for all samples. The attribute `answered_at` of a label may
    hold the time when it was given.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    groups : str, mapping or None
        Labels that exclude each other, as in `LabelTable.from_rows`: all of them by default; None: none;
        ``"suggested"``: those that `kalos_core.suggest_groups` finds.
    on_repeat : "raise", "first" or "last"
        What to do if one field has two answers of a rater for a sample.
    **selection
        Labels to read, as in `Selection`. ``raters`` are fields of `Classification` or `Classifications`, one per
        rater; or ``field`` is a field of `Classifications` whose labels name their rater. ``classes`` are the labels to
        read, and the options that raters had. By default they are the classes that the data set stores for these
        fields, or its default classes, if these include all labels; otherwise the labels that occur. ``min_area`` is
        not supported.

    Returns
    -------
    LabelTable

    Raises
    ------
    InputError
        If fields do not exist or hold other labels, or records are invalid; the message names each of them.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> cat, dog = fo.Classification(label="cat"), fo.Classification(label="dog")
    >>> _ = dataset.add_samples(
    ...     [
    ...         fo.Sample("a.jpg", ann=cat, bob=dog, raters=["ann", "bob"]),
    ...         fo.Sample("b.jpg", ann=cat, raters=["ann"]),
    ...     ],
    ...     progress=False,
    ... )
    >>> table = read_label_table(dataset, raters=("ann", "bob"))
    >>> table.values().tolist(), table.options()
    ([[0, 1], [0, -2]], ('cat', 'dog'))
    >>> dataset.delete()
    """
    check_samples(samples)
    return read_image_labels(samples, Selection.of(selection), groups, on_repeat).table


def read_image_labels(
    samples: Any, selection: Selection, groups: Groups, on_repeat: OnRepeat, *, again: bool = False
) -> ImageLabels:
    """Read the selected labels with their source.

    `again`: the selection is that of a stored run. Names that no label has any more, and a lack of labels, are then no
    errors, and earlier warnings are not repeated.
    """
    if selection.min_area > 0:
        raise InputError("min_area: image-level labels have no area")
    reading = _Reading(samples, selection, exclusive=isinstance(groups, str) and groups != SUGGESTED, again=again)
    reading.opened.warn()
    labels = reading.read(None if groups == SUGGESTED else groups, on_repeat)
    raw = labels.raw
    is_labelled = any(label != [] for label in raw.label) or (
        len(raw) and (selection.classes or concepts_of(raw, groups))
    )
    if not again and not is_labelled:
        raise InputError(f"view: expected image-level labels in {listed(labels.fields, 20)}, got none")
    if groups == SUGGESTED:
        found = {group.name: group.concepts for group in suggest_groups(labels.table)}
        return replace(labels, groups=found or None)
    return labels


def table_of(
    raw: RawLabels,
    images: Sequence[str],
    selection: Selection,
    groups: Groups,
    on_repeat: OnRepeat,
    known: Sequence[str],
    describe: Callable[[int], str] | None = None,
) -> LabelTable:
    """Build the table of some answers. `known`: see `known_classes`; `describe` names an answer in messages."""
    return build_table(
        raw,
        source="view",
        groups=groups,
        items=images,
        raters=[*(selection.raters or ()), *filter(None, [selection.reference])],
        concepts=concepts_of(raw, groups, known) if selection.classes is None else list(selection.classes),
        on_repeat=on_repeat,
        describe=describe,
    )


def _at(place: tuple[str, str]) -> str:
    file, field = place
    return f"{file}, field {field!r}" if field else file


_Label = tuple[Any, Any, Any]
"""Name, confidence and time of a label, as stored."""

_Answer = tuple[str, Any, list[_Label]]
"""Field, rater and labels of an answer."""


class _Reading:
    def __init__(self, samples: Any, selection: Selection, exclusive: bool, again: bool) -> None:
        self.exclusive = exclusive
        self.opened = Opened.of(samples, selection, IMAGE_LABELS, again=again)
        references: list[LabelSource] = []
        if selection.field is None and selection.reference is not None:
            alone = replace(selection, raters=(selection.reference,), reference=None)
            references = sources_of(samples, alone, IMAGE_LABELS)
            selection = replace(selection, reference=references[0].rater)
        self.sources = [*self.opened.sources, *references]
        self.selection = replace(selection, raters=self.opened.raters)
        self.opened.check_classes(*references)
        self.problems = Problems("view")
        self.raw, self.places = RawLabels(), list[tuple[str, str]]()

    def read(self, groups: Groups, on_repeat: OnRepeat) -> ImageLabels:
        """Read all answers, a block of samples at a time; report each answer of a rater who was not assigned."""
        paths = ["id", "filepath", *self.opened.fields, *(f"{source.field}._cls" for source in self.sources)]
        paths += [f"{source.path}.{name}" for source in self.sources for name in _attributes(source)]
        images: list[str] = []
        hashes: list[str] = []
        for columns in stream(self.opened.view, paths):
            for sample, image in enumerate(columns["id"]):
                begin = len(self.raw)
                self._sample(columns, sample)
                images.append(image)
                hashes.append(answers_digest(self.raw, begin, in_order=self.exclusive))
        self.problems.raise_if_any()
        return ImageLabels(
            raw=self.raw,
            places=self.places,
            images=object_array(images),
            hashes=object_array(hashes),
            selection=self.selection,
            fields=tuple(source.field for source in self.sources),
            groups=groups,
            on_repeat=on_repeat,
            view=self.opened.view,
            read_at=self.opened.read_at,
            facts=self.opened.facts,
        )

    def _sample(self, columns: Columns, sample: int) -> None:
        """Add the answers of all assigned raters for one sample."""
        image, file = columns["id"][sample], os.path.basename(columns["filepath"][sample])
        answers = [answer for source in self.sources for answer in _answers(columns, source, sample)]
        there = {rater for _, rater, _ in answers}
        assigned = self.opened.assigned(columns[ASSIGNED_FIELD][sample] if self.opened.fields else None, there)
        if assigned is None:
            assigned = list(self.opened.raters)
        assigned += there.intersection([self.selection.reference])  # the reference need not be assigned
        for field, rater, labels in answers:
            if rater is None or rater in assigned:
                self._add(image, rater, labels, (file, field))
            elif rater in self.opened.raters:
                expected = f"a rater whom the sample field {ASSIGNED_FIELD!r} lists (or assigned='labelled')"
                self.problems.add(f"{_at((file, field))}, rater {rater!r}", expected, "a rater who is not listed")
        for rater in assigned:
            if rater not in there:
                self._add(image, rater, [], (file, ""))

    def _add(self, image: str, rater: Any, labels: list[_Label], place: tuple[str, str]) -> None:
        """Add an answer with its selected labels; for exclusive labels, an answer that loses all labels is dropped."""
        kept = [label for label in labels if self._is_selected(*label)]
        if labels and not kept and self.exclusive:
            return
        given = (as_seconds(moment) for _, _, moment in kept if moment is not None)
        times = [time for time in given if time is not None]
        names = [name for name, _, _ in kept]
        self.raw.item.append(image)
        self.raw.rater.append(rater)
        self.raw.label.append(names[0] if len(names) == 1 and not names[0] else names)
        self.raw.time.append(max(times) if times else None)
        self.places.append(place)

    def _is_selected(self, name: Any, confidence: Any, _: Any) -> bool:
        sure = confidence is None or confidence >= self.selection.min_confidence
        return sure and (self.selection.classes is None or not name or name in self.selection.classes)


def _attributes(source: LabelSource) -> list[str]:
    return ["label", "confidence", TIME_ATTRIBUTE, *([source.attribute] if source.attribute else [])]


def _answers(columns: Columns, source: LabelSource, sample: int) -> Iterator[_Answer]:
    """Yield the answers for a sample in one field; if an attribute names the rater, each label is an answer."""
    if columns[f"{source.field}._cls"][sample] is None:
        return
    values = [columns[f"{source.path}.{name}"][sample] for name in _attributes(source)]
    labels = list(zip(*(column or () for column in values), strict=True)) if source.labels else [tuple(values)]
    if source.attribute is None:
        yield source.field, source.rater, labels
    else:
        for name, confidence, time, rater in labels:
            yield source.field, as_name(rater), [(name, confidence, time)]
