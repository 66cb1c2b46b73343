"""What a reader finds record by record, gathered into the one table that is then checked as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Account, Annotations, OnInvalid, RawTable, Source, as_name, build_annotations
from kalos_core.annotations.build import ATTRIBUTE
from kalos_core.display import number_of
from kalos_core.errors import Problems, as_number, listed, repr_of, warn
from kalos_core.readers.shapes import UnusableError, rectangle
from kalos_core.readers.vocabulary import Aliases, Vocabulary, reconcile_all
from kalos_core.shapes.boxes import LARGEST

UNKNOWN_SIZE = (np.nan, np.nan)

KINDS = ("box", "polygon", "mask", "keypoints", "volume")
"""Kinds of shapes that the readers find."""


@dataclass
class Findings:
    """Images, raters, classes and annotations in the order in which a source names them.

    Parameters
    ----------
    source : str
        Name of the file or folder, for messages.
    on_invalid : "raise" or "skip"
        Annotations whose shape cannot be used: an error, or left out with a warning and counted in `skipped`.
    account : Account
        Takes what is passed over: ``findings.account.left_out["choices"] += 1``.

    Examples
    --------
    >>> findings = Findings("export.xml")
    >>> findings.add_image("a.jpg", "image 1", size=(20, 10))
    >>> findings.assign("a.jpg", "ann")
    >>> findings.assign("a.jpg", "bob")
    >>> findings.add_annotation("image 1, box 1", "a.jpg", "ann", "cat", box=[0, 0, 8, 4])
    >>> findings.build().assigned.tolist()
    [[True, True]]
    """

    source: str
    on_invalid: OnInvalid = "raise"
    problems: Problems = field(init=False)
    broken: Problems = field(init=False)
    skipped: Counter[Hashable] = field(default_factory=Counter)
    account: Account = field(default_factory=Account)
    files: dict[Hashable, str] = field(default_factory=dict)
    sizes: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    assigned: dict[Hashable, dict[str, None]] = field(default_factory=dict)
    raters: dict[str, None] = field(default_factory=dict)
    categories: dict[str, None] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    columns: dict[str, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.problems = Problems(self.source)
        self.broken = Problems(self.source)
        self.columns = {name: [] for name in ("image", "rater", "category", "id", "attributes", *KINDS)}

    def add_image(
        self, image: Hashable, record: str, *, file: str = "", size: tuple[float, float] = UNKNOWN_SIZE
    ) -> None:
        """Note an image; one that is known already has to have the same size, where both are known."""
        self.files.setdefault(image, file)
        known = self.sizes.setdefault(image, size)
        if np.isnan(known[0]):
            self.sizes[image] = size
        elif not np.isnan(size[0]) and known != size:
            expected = f"the size {_by(known)} that it has elsewhere"
            self.problems.add(record, expected, _by(size))

    def own_image(self, record: str, name: object, rater: str, expected: str) -> str | None:
        """The name of an image that a rater's file has not named before; None, with what is wrong, of any other."""
        found = as_name(name)
        found = found.strip() if isinstance(found, str) else None
        if found and rater not in self.assigned.get(found, ()):
            return found
        self.problems.add(record, expected, "it a second time" if found else repr_of(name))
        return None

    def assign(self, image: Hashable, rater: str) -> None:
        """Note that a rater is assigned to an image."""
        self.raters[rater] = None
        self.assigned.setdefault(image, {})[rater] = None

    def add_annotation(
        self,
        record: str,
        image: Hashable,
        rater: str,
        category: str,
        id: Any = None,
        attributes: Mapping[str, Any] | None = None,
        **shape: Any,
    ) -> None:
        """Note an annotation and the record it comes from; without an id it is numbered."""
        self.categories[category] = None
        self.records.append(record)
        columns = self.columns
        columns["image"].append(image)
        columns["rater"].append(rater)
        columns["category"].append(category)
        columns["id"].append(len(self.records) if id is None else id)
        columns["attributes"].append(attributes)
        for kind in KINDS:
            columns[kind].append(shape.get(kind))

    def fault(self, record: str, image: Hashable, expected: str, actual: str) -> None:
        """Note an annotation whose shape cannot be read."""
        if self.on_invalid == "skip":
            self.broken.add(record, expected, actual)
            self.skipped[image] += 1
        else:
            self.problems.add(record, expected, actual)

    @contextmanager
    def annotation(self, record: str, image: Hashable) -> Iterator[None]:
        """Note an annotation as one that cannot be used if reading it raises `UnusableError`."""
        try:
            yield
        except UnusableError as unusable:
            self.fault(record, image, *unusable.args)

    def size_from(self, width: object, height: object, record: str) -> tuple[float, float]:
        """Width and height if both are positive numbers; nothing for both is unknown, anything else a problem."""
        if width is None and height is None:
            return UNKNOWN_SIZE
        sides = (as_number(width) or 0.0, as_number(height) or 0.0)
        if not all(0 < side <= LARGEST for side in sides):
            self.problems.add(record, "a positive width and height", f"{width!r} x {height!r}")
            return UNKNOWN_SIZE
        return sides

    def build(self, *, order: Iterable[str] = (), aliases: Aliases = None, **options: Any) -> Annotations:
        """The checked table; `order` names classes that come first. `options` are further fields of `Source`."""
        source = Source(
            name=self.source,
            images=list(self.files),
            files=list(self.files.values()),
            raters=list(self.raters),
            categories={name: name for name in (*order, *self.categories)},
            image_size=list(self.sizes.values()),
            assigned=[list(self.assigned.get(image, ())) for image in self.files],
            describe=lambda row: self.records[row],
            problems=self.problems,
            account=self.account,
            on_invalid=self.on_invalid,
            **options,
        )
        self.columns["polygon"] = with_rectangles(self.columns)
        skipped = [self.skipped[image] for image in self.files]
        return build_reconciled(RawTable(**self.columns), source, aliases, self.broken, skipped)


def build_reconciled(
    table: RawTable, source: Source, aliases: Aliases, broken: Problems, skipped: Sequence[int] | NDArray[np.intp]
) -> Annotations:
    """The checked table, its class names reconciled; warns of names without an alias and of what was left out.

    Parameters
    ----------
    table : RawTable
    source : Source
        Its classes are those written.
    aliases : mapping, optional
    broken : Problems
        Annotations that were left out before.
    skipped : (I,) int
        How many of each image.
    """
    vocabulary = Vocabulary.from_aliases(aliases)
    if aliases:
        table.category = reconcile_all(vocabulary, table.rater, table.category, source.raters, source.name)
        source = replace(source, categories={name: name for name in table.category})
    made = build_annotations(table, source)
    if broken.count:
        warn(f"{broken.text()}\nThey are left out.")
    if vocabulary.unmapped:
        warn(f"{source.name}: {vocabulary.describe_unmapped()}")
    return replace(made, skipped=made.skipped + np.array(skipped, np.intp))


def _by(size: tuple[float, float]) -> str:
    return f"{size[0]:g} x {size[1]:g}"


def with_rectangles(columns: Mapping[str, list[Any]]) -> list[Any]:
    """Return the polygons; where all have four corners, as turned boxes have, upright boxes get theirs, too.

    So the turned box of one rater is compared with the upright box of another as it is, not by its bounds. Where some
    raters drew outlines and others boxes, the boxes of all are what they have in common.

    Examples
    --------
    >>> turned, outline = [[[0, 0], [2, 1], [1, 3], [-1, 2]]], [[[0, 0], [2, 0], [2, 1]]]
    >>> with_rectangles({"box": [[0, 0, 2, 1], None], "polygon": [None, turned]})[0]
    [[[0, 0], [2, 0], [2, 1], [0, 1]]]
    >>> with_rectangles({"box": [[0, 0, 2, 1], None], "polygon": [None, outline]})[0]
    """
    polygons = columns["polygon"]
    if not have_four_corners([len(ring) for ring in polygon] for polygon in polygons if polygon is not None):
        return polygons
    others = [columns[kind] for kind in columns if kind in KINDS and kind not in ("box", "polygon")]
    alone = [box is not None and all(shape is None for shape in rest)
             for box, *rest in zip(columns["box"], *others, strict=True)]  # fmt: skip
    return [
        [rectangle(box)] if only and polygon is None and _is_sound(box) else polygon
        for box, polygon, only in zip(columns["box"], polygons, alone, strict=True)
    ]


def attributes_in(given: object, but: Container[object] = ()) -> dict[str, Any] | None:
    """What a rater said of an annotation besides its class: texts, numbers and truth values. None without any."""
    entries = given.items() if isinstance(given, Mapping) else ()
    return {
        name: value
        for name, value in entries
        if isinstance(name, str) and isinstance(value, ATTRIBUTE) and name not in but
    } or None


def fields_of(content: object) -> str:
    """What a file holds, for messages: the names of the fields of an object, or the type of anything else."""
    return (listed(content, 10) or "nothing") if isinstance(content, Mapping) else type(content).__name__


def shapes_not_read(count: int) -> list[str]:
    """The note of a reader of labels of whole images about the shapes in its file.

    Examples
    --------
    >>> shapes_not_read(2), shapes_not_read(0)
    (['2 shapes not read (kalos-core agreement reads them)'], [])
    """
    return [f"{number_of(count, 'shape')} not read (kalos-core agreement reads them)"] if count else []


def have_four_corners(outlines: Iterable[Sequence[int]]) -> bool:
    """Whether each outline, given as the number of corners of its rings, has four corners, as turned boxes have.

    Examples
    --------
    >>> have_four_corners([[4], [4]]), have_four_corners([[4], [4, 4]]), have_four_corners([])
    (True, False, False)
    """
    counts = {tuple(corners) for corners in outlines}
    return counts == {(4,)}


def _is_sound(box: Sequence[Any]) -> bool:
    """Whether a box is four usable numbers: others are left to the check of boxes."""
    numbers = [n for side in box if (n := as_number(side)) is not None and abs(n) <= LARGEST]
    return len(numbers) == len(box) == 4 and min(numbers[2:]) >= 0
