"""From fields of `Classification` and `Classifications` to a `LabelTable`: one query, every record checked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import as_name, object_array
from kalos_core.errors import InputError, Problems, as_number, listed
from kalos_core.fiftyone.image_labels.sources import TIME_ATTRIBUTE, LabelSource, image_label_names, label_sources
from kalos_core.fiftyone.labels import LabelChoice, check_samples, settle
from kalos_core.fiftyone.raters import ASSIGNED_FIELD, check_assigned_field
from kalos_core.nominal import LabelTable, OnRepeat, RawLabels, build_table

Groups = Mapping[str, Sequence[str]] | str | None
"""Which labels exclude each other: see `LabelTable.from_rows`."""


def groups_record(groups: Groups) -> Any:
    """Which labels exclude each other, as a list of records: names of groups may hold what keys may not.

    Examples
    --------
    >>> groups_record("label"), groups_record({"place": ("in", "out")})
    ('label', [{'name': 'place', 'labels': ['in', 'out']}])
    """
    if groups is None or isinstance(groups, str):
        return groups
    if not isinstance(groups, Mapping):
        raise InputError(f"groups: expected a name, or names with their labels, got {groups!r}")
    wrong = {name: of for name, of in groups.items() if isinstance(of, str) or not isinstance(of, Sequence)}
    if wrong:
        raise InputError(f"groups: expected a list of labels for each name, got {wrong!r}")
    return [{"name": name, "labels": list(of)} for name, of in groups.items()]


def read_groups(text: str | None) -> dict[str, list[str]]:
    """Names with their labels, from a text such as ``"place: indoor, outdoor; time: day, night"``.

    Raises
    ------
    InputError
        For a part without a name or a label, and a name given twice.

    Examples
    --------
    >>> read_groups("place: indoor, outdoor; time: day, night")
    {'place': ['indoor', 'outdoor'], 'time': ['day', 'night']}
    >>> read_groups("")
    {}
    >>> read_groups("place")
    Traceback (most recent call last):
    kalos_core.errors.InputError: groups: expected names with labels, such as 'place: indoor, outdoor', got 'place'
    """
    found: dict[str, list[str]] = {}
    for part in (text or "").replace("\n", ";").split(";"):
        name, _, rest = part.partition(":")
        labels = [label.strip() for label in rest.split(",") if label.strip()]
        if not part.strip():
            continue
        if not name.strip() or not labels:
            raise InputError(
                f"groups: expected names with labels, such as 'place: indoor, outdoor', got {part.strip()!r}"
            )
        if name.strip() in found:
            raise InputError(f"groups: expected every name once, got {name.strip()!r} twice")
        found[name.strip()] = labels
    return found


def groups_from_record(record: Any) -> Groups:
    """The groups a stored record describes."""
    if record is None or isinstance(record, str):
        return record
    return {group["name"]: list(group["labels"]) for group in record}


@dataclass(frozen=True, eq=False)
class ImageLabels:
    """The image-level labels of a view.

    Parameters
    ----------
    table : LabelTable
        Its items are sample ids.
    choice : LabelChoice
        What was asked for, with the raters that were found.
    fields : tuple of str
        Fields that were read.
    hashes : (I,) object
        A digest per image of who answered, and what.
    view : fiftyone.core.collections.SampleCollection
    """

    table: LabelTable
    choice: LabelChoice
    fields: tuple[str, ...]
    hashes: NDArray[np.object_]
    view: Any

    @property
    def images(self) -> NDArray[np.object_]:
        """(I,) sample ids."""
        return self.table.items


def read_label_table(
    samples: Any,
    choice: LabelChoice | None = None,
    *,
    groups: Groups = "label",
    on_repeat: OnRepeat = "raise",
    **options: Any,
) -> LabelTable:
    """The labels that several raters gave to whole images, as a `LabelTable` whose items are sample ids.

    A rater answered for a sample where the list field `raters` names them, else where their label is there; with
    ``assigned="labelled"`` that field is not looked at, with ``assigned="all"`` everybody answered everywhere. Who
    answered without a label chose nothing. A label may say when it was given, in its attribute `answered_at`.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    choice : LabelChoice, optional
        Fields of `Classification` or `Classifications`, one per rater, or one of `Classifications` whose labels name
        their rater. `classes` are the labels to read, and the options that raters had; `min_area` means nothing here.
    groups : str, mapping or None
        Which labels exclude each other, as in `LabelTable.from_rows`: all of them by default; None: none.
    on_repeat : "raise", "first" or "last"
        What becomes of a rater whom one field gives two answers for a sample.
    **options
        Fields of `LabelChoice`, instead of `choice`.

    Returns
    -------
    LabelTable

    Raises
    ------
    InputError
        For fields that are not there or hold no such labels, and naming every record that cannot be used.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> cat, dog = fo.Classification(label="cat"), fo.Classification(label="dog")
    >>> _ = dataset.add_samples([fo.Sample("a.jpg", ann=cat, bob=dog), fo.Sample("b.jpg", ann=cat)], progress=False)
    >>> table = read_label_table(dataset, raters=("ann", "bob"))
    >>> table.values().tolist(), table.options()
    ([[0, 1], [0, -2]], ('cat', 'dog'))
    >>> dataset.delete()
    """
    return read_image_labels(samples, LabelChoice.of(choice, options), groups, on_repeat).table


def read_image_labels(
    samples: Any, choice: LabelChoice, groups: Groups, on_repeat: OnRepeat, *, again: bool = False
) -> ImageLabels:
    """The chosen labels with where they come from; `again`: the choice is that of a stored run."""
    check_samples(samples)
    if choice.min_area > 0:
        raise InputError("min_area: labels of whole images have no area")
    sources = label_sources(samples, choice)
    view = settle(samples)
    reading = _Reading(view, sources, choice, isinstance(groups, str))
    raters = reading.raters(again)
    if choice.classes is not None and not again:
        _check_classes(view, choice.classes)
    rows = reading.rows(raters)
    if not len(rows.raw):
        fields = listed((source.field for source in sources), 20)
        raise InputError(f"view: expected labels of whole images in {fields}, got none")
    table = build_table(
        rows.raw,
        source="view",
        groups=groups,
        items=reading.columns["id"],
        raters=raters,
        concepts=_concepts(rows.raw, choice, groups),
        on_repeat=on_repeat,
        describe=rows.describe,
        stacklevel=5,
    )
    return ImageLabels(
        table=table,
        choice=replace(choice, raters=tuple(raters)),
        fields=tuple(source.field for source in sources),
        hashes=digests(table),
        view=view,
    )


def _check_classes(view: Any, classes: Sequence[str]) -> None:
    """A label that nobody has ever given is a slip, unless the data set names it as one of its own."""
    dataset = view._root_dataset
    known = {*image_label_names(dataset), *dataset.default_classes, *(n for of in dataset.classes.values() for n in of)}
    unknown = [name for name in classes if name not in known]
    if unknown:
        raise InputError(f"classes: expected labels among {listed(sorted(known), 20)}, got {listed(unknown)}")


def _concepts(raw: RawLabels, choice: LabelChoice, groups: Groups) -> list[str]:
    """The options there were: those named, else what occurs and what the groups name, whatever the order of samples."""
    if choice.classes is not None:
        return list(choice.classes)
    used = {name for names in raw.label if names for name in names if isinstance(name, str)}
    named = {} if groups is None or isinstance(groups, str) else dict.fromkeys(n for of in groups.values() for n in of)
    return [*named, *sorted(used.difference(named))]


@dataclass
class _Rows:
    """Answers, and where each stands."""

    raw: RawLabels
    place: list[str]

    def describe(self, row: int) -> str:
        return self.place[row]


class _Reading:
    """The columns of one query, and what they say."""

    def __init__(self, view: Any, sources: list[LabelSource], choice: LabelChoice, exclusive: bool) -> None:
        self.sources, self.choice, self.exclusive = sources, choice, exclusive
        paths = ["id", "filepath", *(f"{source.field}._cls" for source in sources)]
        if choice.assigned == "auto" and view.has_field(ASSIGNED_FIELD):
            check_assigned_field(view)
            paths.append(ASSIGNED_FIELD)
        paths += [f"{source.path}.{name}" for source in sources for name in self._attributes(source)]
        self.columns: dict[str, list[Any]] = dict(zip(paths, view.values(paths, _raw=True), strict=True))
        self.files = [Path(path).name for path in self.columns["filepath"]]

    def _attributes(self, source: LabelSource) -> list[str]:
        return ["label", "confidence", TIME_ATTRIBUTE, *([source.attribute] if source.attribute else [])]

    def _labels(self, source: LabelSource, sample: int) -> list[dict[str, Any]]:
        """The labels of one sample in one field, as attribute -> value."""
        if self.columns[f"{source.field}._cls"][sample] is None:
            return []
        names = self._attributes(source)
        columns = [self.columns[f"{source.path}.{name}"][sample] for name in names]
        if not source.is_list:
            return [dict(zip(names, columns, strict=True))]
        count = len(columns[0] or ())
        lists = [column or [None] * count for column in columns]
        return [dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True)]

    def raters(self, again: bool) -> list[str]:
        """Who is read: one per field, or those whose labels name them."""
        choice = self.choice
        if choice.field is None:
            return [str(source.rater) for source in self.sources]
        (source,) = self.sources
        named = self.columns[f"{source.path}.{source.attribute}"]
        drawn = sorted({str(as_name(name)) for names in named for name in names or () if as_name(name) is not None})
        asked = {name for names in self.columns.get(ASSIGNED_FIELD, ()) for name in names or ()}
        known = sorted({*drawn, *asked})
        if not again:
            if not drawn and any(named):
                raise InputError(
                    "rater_attribute: expected an attribute that names each label's rater, "
                    f"got {source.attribute!r}, which no label of {source.field!r} has"
                )
            for what, wanted in (("raters", choice.raters or ()), ("reference", (choice.reference,))):
                strangers = [name for name in wanted if name is not None and name not in known]
                if strangers:
                    raise InputError(f"{what}: expected names among {listed(known, 20)}, got {listed(strangers)}")
        names = drawn if choice.raters is None else list(dict.fromkeys(choice.raters))
        return [name for name in names if name != choice.reference]

    def rows(self, raters: Sequence[str]) -> _Rows:
        """Every answer as a record; a problem for each label of somebody who was not asked."""
        wanted, problems, found = set(raters), Problems("view"), _Rows(RawLabels(), [])
        for sample, image in enumerate(self.columns["id"]):
            asked = self._asked(sample, raters)
            seen: set[Any] = set()
            for source in self.sources:
                for rater, labels in self._answers(source, sample):
                    if rater is not None and rater not in wanted:
                        continue
                    place = f"{self.files[sample]}, field {source.field!r}"
                    seen.add(rater)
                    if asked is not None and rater is not None and rater not in asked:
                        expected = f"a rater whom the sample field {ASSIGNED_FIELD!r} lists (or assigned='labelled')"
                        problems.add(f"{place}, rater {rater!r}", expected, "one it does not")
                    self._add(found, image, rater, labels, place)
            for rater in raters:
                if asked is not None and rater in asked and rater not in seen:
                    self._add(found, image, rater, [], self.files[sample])
        problems.raise_if_any()
        return found

    def _asked(self, sample: int, raters: Sequence[str]) -> set[str] | None:
        """Who was asked for a sample; None where their labels tell."""
        if self.choice.assigned == "all":
            return set(raters)
        if ASSIGNED_FIELD in self.columns:
            return set(self.columns[ASSIGNED_FIELD][sample] or ())
        return None

    def _answers(self, source: LabelSource, sample: int) -> list[tuple[str | None, list[dict[str, Any]]]]:
        """Rater and labels of each answer; where an attribute names the rater, each label is one."""
        labels = self._labels(source, sample)
        if source.attribute is None:
            there = self.columns[f"{source.field}._cls"][sample] is not None
            return [(source.rater, labels)] if there else []
        return [(as_name(label[source.attribute]), [label]) for label in labels]

    def _add(self, found: _Rows, image: str, rater: Any, labels: list[dict[str, Any]], place: str) -> None:
        """An answer, as far as its labels are chosen; one among exclusive labels that loses them all is none."""
        kept = [label for label in labels if self._is_chosen(label)]
        if labels and not kept and self.exclusive:
            return
        times = [time for time in (_seconds(label[TIME_ATTRIBUTE]) for label in kept) if time is not None]
        names = [label["label"] for label in kept]
        found.raw.item.append(image)
        found.raw.rater.append(rater)
        found.raw.label.append(names[0] if len(names) == 1 and not names[0] else names)
        found.raw.time.append(max(times) if times else None)
        found.place.append(place)

    def _is_chosen(self, label: Mapping[str, Any]) -> bool:
        confidence, classes = label["confidence"], self.choice.classes
        sure = confidence is None or confidence >= self.choice.min_confidence
        return sure and (classes is None or not label["label"] or label["label"] in classes)


def _seconds(moment: Any) -> float | None:
    """A time as a number: a date as seconds since 1970, anything that is neither as none.

    Examples
    --------
    >>> _seconds(3), _seconds(datetime(1970, 1, 1, 0, 1)), _seconds("noon")
    (3.0, 60.0, None)
    """
    if isinstance(moment, datetime):
        zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=timezone.utc)
        return zoned.timestamp()
    return as_number(moment)


def digests(table: LabelTable) -> NDArray[np.object_]:
    """(I,) a digest of who answered for each item and what, whatever the order of raters and labels.

    Examples
    --------
    >>> rows = [{"item": 1, "rater": "ann", "label": "cat"}, {"item": 2, "rater": "ann", "label": "dog"}]
    >>> one, other = digests(LabelTable.from_rows(rows))
    >>> one != other
    True
    """
    chosen: list[list[str]] = [[] for _ in range(len(table))]
    for answer, concept in zip(table.answer.tolist(), table.concept.tolist(), strict=True):
        chosen[answer].append(str(table.concepts[concept]))
    told: list[list[str]] = [[] for _ in table.items]
    for item, rater, names in zip(table.item.tolist(), table.rater.tolist(), chosen, strict=True):
        told[item].append("\x1f".join([str(table.raters[rater]), *sorted(names)]))
    return object_array(
        [hashlib.blake2b("\x1e".join(sorted(texts)).encode(), digest_size=8).hexdigest() for texts in told]
    )
