"""Collection of the records that a reader finds, into one table that is checked as a whole."""

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
"""Shape kinds that the readers find."""


@dataclass
class Findings:
    """Images, raters, classes and annotations in the order in which a source names them.

    Parameters
    ----------
    source : str
        Name of the file or folder, for messages.
    on_invalid : "raise" or "skip"
        Handling of annotations with an invalid shape: an error, or left out with a warning and counted in `skipped`.
    account : Account
        Counts ignored records: ``findings.account.left_out["choices"] += 1``.

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
        """Record an image; if it is already recorded, known sizes must be equal."""
        self.files.setdefault(image, file)
        known = self.sizes.setdefault(image, size)
        if np.isnan(known[0]):
            self.sizes[image] = size
        elif not np.isnan(size[0]) and known != size:
            expected = f"the size {_by(known)} that it has elsewhere"
            self.problems.add(record, expected, _by(size))

    def own_image(self, record: str, name: object, rater: str, expected: str) -> str | None:
        """Return the name of an image that is new for the rater; otherwise record a problem and return None."""
        found = as_name(name)
        found = found.strip() if isinstance(found, str) else None
        if found and rater not in self.assigned.get(found, ()):
            return found
        self.problems.add(record, expected, "it a second time" if found else repr_of(name))
        return None

    def assign(self, image: Hashable, rater: str) -> None:
        """Record that a rater is assigned to an image."""
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
        """Record an annotation and its source record; without an id it is numbered."""
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
        """Record an annotation whose shape cannot be read."""
        if self.on_invalid == "skip":
            self.broken.add(record, expected, actual)
            self.skipped[image] += 1
        else:
            self.problems.add(record, expected, actual)

    @contextmanager
    def annotation(self, record: str, image: Hashable) -> Iterator[None]:
        """Record an annotation as invalid if reading it raises `UnusableError`."""
        try:
            yield
        except UnusableError as unusable:
            self.fault(record, image, *unusable.args)

    def size_from(self, width: object, height: object, record: str) -> tuple[float, float]:
        """Return width and height if both are positive; None for both means unknown, other values are a problem."""
        if width is None and height is None:
            return UNKNOWN_SIZE
        sides = (as_number(width) or 0.0, as_number(height) or 0.0)
        if not all(0 < side <= LARGEST for side in sides):
            self.problems.add(record, "a positive width and height", f"{width!r} x {height!r}")
            return UNKNOWN_SIZE
        return sides

    def build(self, *, order: Iterable[str] = (), aliases: Aliases = None, **options: Any) -> Annotations:
        """Return the checked table; `order` lists classes that come first, `options` are further fields of `Source`."""
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
    """Return the checked table with reconciled class names; warn of names without an alias and of annotations left out.

    Parameters
    ----------
    table : RawTable
    source : Source
        Source with the classes as written.
    aliases : mapping, optional
    broken : Problems
        Annotations that were left out before.
    skipped : (I,) int
        Number of annotations left out in each image.
    """
    vocabulary = Vocabulary.from_aliases(aliases)
    if aliases:
        table.category = reconcile_all(vocabulary, table.rater, table.category, source.raters, source.name)
        source = replace(source, categories={name: name for name in table.category})
    made = build_annotations(table, source)
    if broken.count:
        warn(f"{broken.text()}\nThey are skipped.")
    if vocabulary.unmapped:
        warn(f"{source.name}: {vocabulary.describe_unmapped()}")
    return replace(made, skipped=made.skipped + np.array(skipped, np.intp))


def _by(size: tuple[float, float]) -> str:
    return f"{size[0]:g} x {size[1]:g}"


def with_rectangles(columns: Mapping[str, list[Any]]) -> list[Any]:
    """Return the polygons; if all have four corners, as rotated boxes do, upright boxes become polygons, too.

    This way, a rotated box of one rater is compared exactly with an upright box of another, not by its bounds. If some
    raters drew outlines and others boxes, only the boxes of all can be compared.

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
    """Return the attributes of an annotation that are text, numbers or booleans; None without any."""
    entries = given.items() if isinstance(given, Mapping) else ()
    return {
        name: value
        for name, value in entries
        if isinstance(name, str) and isinstance(value, ATTRIBUTE) and name not in but
    } or None


def fields_of(content: object) -> str:
    """Describe the content of a file for messages: names of the fields of an object, or the type of other content."""
    return (listed(content, 10) or "nothing") if isinstance(content, Mapping) else type(content).__name__


def shapes_not_read(count: int) -> list[str]:
    """Return the note of a reader of image-level labels about shapes in its file.

    Examples
    --------
    >>> shapes_not_read(2), shapes_not_read(0)
    (['2 shapes not read (kalos-core agreement reads them)'], [])
    """
    return [f"{number_of(count, 'shape')} not read (kalos-core agreement reads them)"] if count else []


def have_four_corners(outlines: Iterable[Sequence[int]]) -> bool:
    """Check whether each outline, given as the numbers of corners of its rings, has four corners like a rotated box.

    Examples
    --------
    >>> have_four_corners([[4], [4]]), have_four_corners([[4], [4, 4]]), have_four_corners([])
    (True, False, False)
    """
    counts = {tuple(corners) for corners in outlines}
    return counts == {(4,)}


def _is_sound(box: Sequence[Any]) -> bool:
    """Check whether a box has four valid numbers; the check of boxes reports others."""
    numbers = [n for side in box if (n := as_number(side)) is not None and abs(n) <= LARGEST]
    return len(numbers) == len(box) == 4 and min(numbers[2:]) >= 0
