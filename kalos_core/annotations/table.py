"""Annotations of all raters as one frozen table of flat arrays.

Letters for shapes throughout the library: N annotations, I images, R raters, K categories, P pairs, U units.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.account import Account
from kalos_core.annotations.assignment import assigned_any_class, assigned_per_annotation, comparable_images
from kalos_core.annotations.build import OnInvalid, RawTable, Source, check_records
from kalos_core.annotations.columns import (
    AXES,
    CODES,
    NAMES,
    as_name,
    by_image,
    codes_in,
    distinct,
    exclusion_triples,
    id_array,
    names_of,
    new_codes,
    object_array,
    positions,
    repeated,
)
from kalos_core.annotations.shapes import SHAPE_FIELDS
from kalos_core.arrays import as_array, as_rows, freeze
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, check_iterable, check_writable, is_hashable, listed, repr_of, warn
from kalos_core.options import checked
from kalos_core.results import Result
from kalos_core.shapes import Boxes, ShapeColumn

if TYPE_CHECKING:
    import pandas as pd

AssignedRule = Literal["all", "drew"]
"""Rule of assignment to an image: all raters, or those who annotated something there."""

UNSAID = (
    "{source}: it is not said who was assigned{where}, and {count} of {total} images have annotations of some raters "
    "only. The other raters count as assigned, so an image that a rater never saw counts as 'saw it and annotated "
    "nothing', which lowers alpha. Pass assigned={{image: [raters]}}, assigned='all' if all raters saw all images, or "
    "assigned='drew' to count only raters who annotated something on an image (agreement on absence is then lost)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Annotations(Result):
    """Annotations of all raters, with the vocabularies of their codes.

    Build one with `read_coco`, `from_rows` or `kalos_core.fiftyone.read_annotations`. The constructor takes codes and
    checks that they are consistent.

    Figures: ``"raters"``.

    Parameters
    ----------
    image, rater, category : (N,) int
        Codes into `images`, `raters` and `categories`.
    id : (N,) int64, object or text (`numpy.dtypes.StringDType`)
        Unique annotation ids of the source. They break ties that nothing else breaks.
    shapes : dict of shape columns
        Key as in `kalos_core.shapes.SHAPE_KINDS`, such as ``"box"``, each of length N.
    images : (I,) object
        Image ids of the source, in the order of the source.
    files : (I,) object
        File name of each image; "" if unknown.
    raters : (R,) object
        Rater names, the rows of the reliability matrix.
    categories : (K,) object
        Class names.
    image_size : (I, 2) float64
        Width and height in pixels; NaN if unknown.
    assigned : (I, R) bool
        Whether a rater is assigned to an image, with or without annotations.
    assigned_categories : (R, K) bool, optional
        Whether a rater is assigned to a class; None means all classes.
    excluded : (X, 3) int, optional
        Codes of image, rater and category: the rater is not assigned to annotate every such object on the image.
        Their annotations count, but missing ones do not.
    person, session : (R,) object, optional
        Person behind each rater and their pass over the data; by default `raters` and "".
    raters_are_local : bool
        True if a rater has no identity beyond its image (LIDC's reading sessions).
    crowds : (I,) int, optional
        Number of crowd regions of each image that were read and excluded.
    crowd_regions : Annotations, optional
        Crowd regions that can be compared, as a separate table with the same vocabularies. Regions with unknown names
        or by a rater not assigned there are left out. Agreement does not use them: a region represents many objects
        and corresponds to none of them. Annotations of other raters inside it therefore have no counterpart, which
        lowers alpha. For mAP they are ignored regions, as in COCO.
    skipped : (I,) int, optional
        Number of annotations of each image that were left out because of an unusable shape (``on_invalid="skip"``).
    attributes : mapping name -> (N,) object, optional
        Properties of annotations besides the class, such as a malignancy from 1 to 5: numbers, booleans or text; None
        if missing. Only `attribute_agreement` uses them. Shards do not keep them.
    account : Account, optional
        What the reader of the file left out, did not use or assumed.

    Raises
    ------
    InputError
        If lengths differ, a code is out of range, or an annotation's rater is not assigned to its image or class.

    Examples
    --------
    >>> annotations = Annotations.from_rows(
    ...     [
    ...         {"image": "a.jpg", "rater": "ann", "category": "cat", "box": [0, 0, 10, 10]},
    ...         {"image": "a.jpg", "rater": "bob", "category": "dog", "box": [0, 0, 10, 9]},
    ...     ]
    ... )
    >>> len(annotations), list(annotations.raters), list(annotations.categories)
    (2, ['ann', 'bob'], ['cat', 'dog'])
    >>> len(annotations.select(raters=["bob"]))
    1
    """

    _call = "read_labels(path)"
    _shows_table = False
    _stays_outside = True

    image: NDArray[np.intp]
    rater: NDArray[np.intp]
    category: NDArray[np.intp]
    id: NDArray[Any]
    shapes: Mapping[str, ShapeColumn]
    images: NDArray[np.object_]
    files: NDArray[np.object_]
    raters: NDArray[np.object_]
    categories: NDArray[np.object_]
    image_size: NDArray[np.float64]
    assigned: NDArray[np.bool_]
    assigned_categories: NDArray[np.bool_] | None = None
    person: NDArray[np.object_] = field(default_factory=lambda: object_array([]))
    session: NDArray[np.object_] = field(default_factory=lambda: object_array([]))
    raters_are_local: bool = False
    crowds: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    skipped: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, np.intp))
    excluded: NDArray[np.intp] = field(default_factory=lambda: np.zeros((0, 3), np.intp))
    crowd_regions: Annotations | None = None
    attributes: Mapping[str, NDArray[np.object_]] = field(default_factory=dict)
    account: Account = field(default_factory=Account)

    def __post_init__(self) -> None:
        for name in NAMES:
            freeze(self, name, object_array(getattr(self, name)))
        if not len(self.person):
            freeze(self, "person", self.raters)
        if not len(self.session):
            freeze(self, "session", object_array([""] * len(self.raters)))
        for name in ("crowds", "skipped"):
            counts = as_array(getattr(self, name), name, np.intp, "whole numbers").reshape(-1)
            freeze(self, name, counts if len(counts) else np.zeros(len(self.images), np.intp))
        for name in CODES:
            freeze(self, name, as_array(getattr(self, name), name, np.intp, "whole numbers").reshape(-1))
        freeze(self, "id", id_array(self.id))
        freeze(self, "image_size", as_rows(self.image_size, "image_size", np.float64, 2))
        freeze(self, "assigned", as_array(self.assigned, "assigned", np.bool_, "truth values"))
        if self.assigned_categories is not None:
            freeze(self, "assigned_categories", np.asarray(self.assigned_categories, dtype=np.bool_))
        freeze(self, "excluded", np.unique(np.asarray(self.excluded, dtype=np.intp).reshape(-1, 3), axis=0))
        if not isinstance(self.attributes, Mapping):
            raise InputError(f"attributes: expected a mapping of names to values, got {repr_of(self.attributes)}")
        named = {name: as_array(values, "attributes", np.object_) for name, values in self.attributes.items()}
        object.__setattr__(self, "attributes", {name: values.reshape(-1) for name, values in named.items()})
        self._check_lengths()
        self._check_assignment()
        if self.crowd_regions is not None:
            object.__setattr__(self, "crowd_regions", self._with_own_vocabularies(self.crowd_regions))

    def _with_own_vocabularies(self, crowds: Annotations) -> Annotations | None:
        """Restrict crowd regions to the images, raters and classes of this table; None if none is left."""
        codes = [
            codes_in(getattr(self, vocabulary), getattr(crowds, vocabulary))[getattr(crowds, name)]
            for name, vocabulary in CODES.items()
        ]
        image, rater, category = codes
        kept = np.asarray((np.stack(codes) >= 0).all(axis=0))
        kept[kept] = self.assigned[image[kept], rater[kept]]
        if self.assigned_categories is not None:
            kept &= self.assigned_categories[rater, category]
        rows = np.flatnonzero(kept)
        if not len(rows):
            return None
        return replace(
            self,
            image=image[rows],
            rater=rater[rows],
            category=category[rows],
            id=crowds.id[rows],
            shapes={kind: column.take(rows) for kind, column in crowds.shapes.items()},
            crowds=np.zeros(0, np.intp),
            skipped=np.zeros(0, np.intp),
            crowd_regions=None,
            attributes={},
        )

    def _check_lengths(self) -> None:
        n, i, r, k = len(self.image), len(self.images), len(self.raters), len(self.categories)
        size = {"N": n, "I": i, "R": r, "K": k, "2": 2}
        for name, array in self._arrays().items():
            shape = tuple(size[axis] for axis in AXES[name])
            if array.shape != shape:
                raise InputError(f"{name}: expected shape {shape}, got {array.shape}")
        for kind, column in self.shapes.items():
            if len(column) != n:
                raise InputError(f"shapes[{kind!r}]: expected {n} shapes, got {len(column)}")
        for name, values in self.attributes.items():
            if len(values) != n:
                raise InputError(f"attributes[{name!r}]: expected {n} values, got {len(values)}")
        for name, vocabulary in CODES.items():
            codes, known = getattr(self, name), len(getattr(self, vocabulary))
            if n and (codes.min() < 0 or codes.max() >= known):
                raise InputError(f"{name}: expected codes 0 to {known - 1}, got {codes.min()} to {codes.max()}")
        if ((self.excluded < 0) | (self.excluded >= (i, r, k))).any():
            raise InputError(f"excluded: expected codes of {i} images, {r} raters and {k} categories, got others")
        sized = self.image_size[~np.isnan(self.image_size)]
        if not ((sized > 0) & np.isfinite(sized)).all():
            raise InputError("image_size: expected positive widths and heights, NaN where unknown, got others")
        for name in CODES.values():
            if len(set(getattr(self, name))) != len(getattr(self, name)):
                raise InputError(f"{name}: expected each entry once, got {listed(repeated(getattr(self, name)))} again")
            check_writable(getattr(self, name), name)
        if self.id.dtype == np.object_:
            check_writable(self.id, "id")

    def _check_assignment(self) -> None:
        stray = ~self.assigned[self.image, self.rater]
        problems = Problems("annotations")
        problems.add_all(
            np.flatnonzero(stray),
            lambda row: f"annotation {self.id[row]}",
            "a rater assigned to its image",
            lambda row: f"rater {self.raters[self.rater[row]]!r} on image {self.images[self.image[row]]!r}",
        )
        if self.assigned_categories is not None:
            problems.add_all(
                np.flatnonzero(~self.assigned_categories[self.rater, self.category]),
                lambda row: f"annotation {self.id[row]}",
                "a class its rater is assigned to",
                lambda row: f"{self.categories[self.category[row]]!r} by {self.raters[self.rater[row]]!r}",
            )
        problems.raise_if_any()

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of `AXES` by name, without those that are None."""
        arrays = {name: getattr(self, name) for name in AXES}
        return {name: array for name, array in arrays.items() if array is not None}

    def taken(self, **chosen: NDArray[np.intp] | slice) -> dict[str, Any]:
        """Take entries along some axes of `AXES` from all arrays and attributes; codes are unchanged.

        Examples
        --------
        >>> rows = [{"image": image, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]} for image in ("a", "b")]
        >>> taken = Annotations.from_rows(rows).taken(N=np.array([1]), I=slice(1, 2))
        >>> taken["image"].tolist(), taken["images"].tolist(), taken["raters"].tolist()
        ([1], ['b'], ['ann'])
        """
        found: dict[str, Any] = self._arrays()
        for name in found:
            for position, axis in enumerate(AXES[name]):
                if axis in chosen:
                    found[name] = found[name][(slice(None),) * position + (chosen[axis],)]
        rows = chosen.get("N", slice(None))
        return found | {"attributes": {name: values[rows] for name, values in self.attributes.items()}}

    def __len__(self) -> int:
        return len(self.image)

    @property
    def headline(self) -> str:
        """Summary of the table in one line."""
        return (
            f"Annotations({number_of(len(self), 'annotation')} of {number_of(len(self.raters), 'rater')} on "
            f"{number_of(len(self.images), 'image')}, "
            f"{number_of(len(self.categories), 'category')}, shapes: {', '.join(self.shapes) or 'none'})"
        )

    def _table(self) -> pd.DataFrame:
        import pandas as pd

        counts = np.bincount(self.rater, minlength=len(self.raters))
        assigned = np.asarray(self.assigned).reshape(len(self.images), len(self.raters), -1).any(axis=2).sum(axis=0)
        return pd.DataFrame({"rater": self.raters, "annotations": counts, "images": assigned})

    def _content(self) -> dict[str, Any]:
        return {"table": self.to_pandas().to_dict("list")}

    @classmethod
    @checked
    def from_rows(
        cls,
        rows: Iterable[Mapping[str, Any]],
        *,
        images: Sequence[Hashable] | None = None,
        raters: Sequence[str] | None = None,
        categories: Sequence[str] | None = None,
        image_size: Mapping[Hashable, tuple[float, float]] | None = None,
        assigned: Mapping[Hashable, Sequence[str]] | AssignedRule | None = None,
        assigned_categories: Mapping[str, Sequence[str]] | None = None,
        exclusions: Iterable[tuple[Hashable, str, str]] | None = None,
        person: Sequence[str] | None = None,
        session: Sequence[str] | None = None,
        raters_are_local: bool = False,
        slice_positions: Mapping[Hashable, ArrayLike] | None = None,
        pixel_spacing: Mapping[Hashable, float] | None = None,
        on_invalid: OnInvalid = "raise",
    ) -> Annotations:
        """Build annotations from records, one per annotation.

        Parameters
        ----------
        rows : iterable of mappings
            ``image``, ``rater``, ``category``, and shapes of one or several kinds. Optional are ``id`` (default 1, 2,
            ...) and ``attributes``, a mapping of names to numbers, booleans or text. Integer names of raters or
            categories become text.

            * ``box`` is x, y, width, height in pixels. A missing box is the bounds of the annotation's other shape.
            * ``polygon`` is a list of rings, each x1, y1, x2, y2, ... or a list of (x, y).
            * ``mask`` is COCO's ``{"size": [height, width], "counts": ...}``, compressed or not, or a boolean array
              (height, width); it always covers the whole image.
            * ``keypoints`` is COCO's x1, y1, v1, x2, ... (v = 0: not labelled, 1 or 2: labelled), or a list of (x, y,
              v) or (x, y), with None or NaN for points that are not labelled. All annotations of a class have the same
              number of keypoints.
            * ``volume`` is a list of contours ``{"z": mm, "points": [[x, y], ...], "inclusion": True}``. Each lies in
              one of the `slice_positions` of its image, with x and y in pixels; a slice may have several. A contour
              with ``inclusion`` False encloses a hole in its slice.
            * ``cuboid`` is ``{"location": [x, y, z], "dimensions": [x, y, z], "rotation": [x, y, z]}``, or these nine
              numbers in a row: centre, sizes along its own axes, and angles in radians as in
              `kalos_core.shapes.Cuboids`. Without a rotation it is axis-aligned.
        images, raters, categories : sequences, optional
            Vocabularies in the order wanted; by default the values that occur, in order of first occurrence. List
            images here that have no annotations.
        image_size : mapping image -> (width, height), optional
        assigned : mapping image -> rater names, "all" or "drew", optional
            Assignment of raters. In a mapping, images that are not listed have all raters. ``"all"`` assigns every
            rater to every image, so missing annotations mean that nothing was seen. ``"drew"`` assigns the raters who
            annotated something on an image, so agreement on absence is lost. By default ``"all"``, with a warning if
            some raters of an image annotated nothing.
        assigned_categories : mapping rater -> class names, optional
            Raters that are not listed are assigned to all classes.
        exclusions : triples (image, rater, class name), optional
            Classes that a rater is not assigned to annotate completely on an image.
        person, session : sequences (R,), optional
        raters_are_local : bool
        slice_positions : mapping image -> positions in mm, optional
            Positions of the slices of a scan along its third axis; needed for volumes.
        pixel_spacing : mapping image -> mm per pixel, optional
        on_invalid : "raise" or "skip"
            Whether annotations with an unusable shape raise an error, or are left out with a warning and counted in
            `skipped`.

        Warns
        -----
        KalosWarning
            If the assignment to an image is unknown and it has annotations of some raters only; or if annotations
            extend beyond their image.

        Raises
        ------
        InputError
            If a record is invalid; the message names all of them. Invalid are records without image, rater, category or
            shape; coordinates that are not finite; a box without width or height; a ring of fewer than three points;
            run lengths that do not fill their image; a mask of another size than the image; an unusual number of
            keypoints; a contour outside the image area or off all slices; a cuboid with a dimension of zero; and
            duplicate ids.

        Examples
        --------
        >>> seen_by_both = Annotations.from_rows([], images=["a.jpg"], raters=["ann", "bob"])
        >>> seen_by_both.assigned.tolist()
        [[True, True]]
        """
        records = list(check_iterable(rows, "rows", "mappings, one an annotation"))
        if images is not None:
            images = list(check_iterable(images, "images", "ids of images"))
            odd = [image for image in images if not is_hashable(image)]
            if odd:
                raise InputError(f"images: expected ids of images, got {listed(map(repr_of, odd))}")
        problems = Problems("rows")
        maps = [isinstance(row, Mapping) for row in records]
        strange = [position for position, is_map in enumerate(maps) if not is_map]
        problems.add_all(strange, lambda row: f"record {row + 1}", "a mapping", lambda row: repr_of(records[row]))
        problems.raise_if_any()
        table = RawTable(
            image=[row.get("image") for row in records],
            rater=[as_name(row.get("rater")) for row in records],
            category=[as_name(row.get("category")) for row in records],
            id=[row.get("id", position + 1) for position, row in enumerate(records)],
            attributes=[row.get("attributes") for row in records],
            **{kind: [row.get(kind) for row in records] for kind in SHAPE_FIELDS},
        )
        image_keys = images if images is not None else distinct(table.image)
        rater_names = names_of(raters, table.rater, "raters")
        category_names = names_of(categories, table.category, "categories")
        sizes, lists = image_size or {}, _lists_of_raters(assigned, table)
        strangers = [key for key in lists if key not in set(image_keys)]
        if strangers:
            raise InputError(f"assigned: expected images of the table, got {listed(map(repr_of, strangers))}")
        source = Source(
            name="rows",
            images=image_keys,
            files=[str(key) for key in image_keys],
            raters=rater_names,
            categories=dict(zip(category_names, category_names, strict=True)),
            image_size=[sizes.get(key, (np.nan, np.nan)) for key in image_keys],
            assigned=[None if lists.get(key) is None else [as_name(name) for name in lists[key]] for key in image_keys],
            assigned_categories=assigned_categories
            and {as_name(rater): [as_name(name) for name in names] for rater, names in assigned_categories.items()},
            exclusions=exclusion_triples(() if exclusions is None else exclusions),
            person=() if person is None else person,
            session=() if session is None else session,
            raters_are_local=raters_are_local,
            slice_positions=None if slice_positions is None else by_image(slice_positions, image_keys),
            pixel_spacing=None if pixel_spacing is None else [pixel_spacing.get(key, np.nan) for key in image_keys],
            on_invalid=on_invalid,
        )
        made = build_annotations(table, source)
        if assigned is None or isinstance(assigned, Mapping):
            warn_of_silent_raters(made, np.array([key not in lists for key in image_keys], np.bool_), "rows")
        return made

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each annotation, in the order of the table.

        Returns
        -------
        DataFrame
            ``id``, ``image`` and ``file``, ``rater``, ``person`` and ``session``, ``category``, all by name. If there
            are boxes, also ``x``, ``y``, ``width`` and ``height`` in pixels (NaN for an annotation without one). Other
            shapes are in `shapes`. Attributes follow by name, except those that equal an existing column.

        Examples
        --------
        >>> row = {"image": "a.jpg", "rater": "ann", "category": "cat", "box": [10, 20, 30, 40]}
        >>> Annotations.from_rows([row]).to_pandas()[["image", "rater", "category", "x", "width"]].values.tolist()
        [['a.jpg', 'ann', 'cat', 10.0, 30.0]]
        """
        people = "rater:raters[rater] person:person[rater] session:session[rater]"
        table = self._frame(f"id image:images[image] file:files[image] {people} category:categories[category]")
        boxes = self.shapes.get("box")
        if isinstance(boxes, Boxes):
            table[["x", "y", "width", "height"]] = boxes.xywh()
        return table.assign(**{name: self.attributes[name] for name in self.attributes if name not in table})

    def select(
        self,
        rows: ArrayLike | None = None,
        images: ArrayLike | None = None,
        raters: ArrayLike | Sequence[str] | None = None,
    ) -> Annotations:
        """Select a part of the table, in the given order.

        Parameters
        ----------
        rows : (N,) bool or ints, optional
            Annotations to keep. The assignment of raters does not change.
        images : (I,) bool or codes, optional
            Images to keep, with their annotations.
        raters : (R,) bool, codes or names, optional
            Raters to keep, with their annotations.

        Returns
        -------
        Annotations
            `images` and `raters` are restricted to those kept; `categories` are unchanged.
        """
        chosen_rows = positions(rows, len(self), "rows")
        chosen_images = positions(images, len(self.images), "images")
        chosen_raters = positions(self._rater_codes(raters), len(self.raters), "raters")
        image_code = new_codes(chosen_images, len(self.images))
        rater_code = new_codes(chosen_raters, len(self.raters))
        kept = (image_code[self.image[chosen_rows]] >= 0) & (rater_code[self.rater[chosen_rows]] >= 0)
        take = chosen_rows[kept]
        excluded = np.stack(
            [image_code[self.excluded[:, 0]], rater_code[self.excluded[:, 1]], self.excluded[:, 2]], axis=1
        )
        fields = self.taken(N=take, I=chosen_images, R=chosen_raters) | {
            "image": image_code[self.image[take]],
            "rater": rater_code[self.rater[take]],
            "shapes": {kind: column.take(take) for kind, column in self.shapes.items()},
            "excluded": excluded[(excluded >= 0).all(axis=1)],
        }
        return replace(self, **fields)

    def _rater_codes(self, raters: ArrayLike | Sequence[str] | None) -> ArrayLike | None:
        names = [raters] if isinstance(raters, str) else list(np.asarray(raters, dtype=object).reshape(-1))
        if raters is None or not any(isinstance(name, str) for name in names):
            return raters
        code = {name: position for position, name in enumerate(self.raters)}
        unknown = [name for name in names if not is_hashable(name) or name not in code]
        if unknown:
            raise InputError(f"raters: expected names among {listed(self.raters, 20)}, got {listed(unknown)}")
        return [code[name] for name in names]

    @cached_property
    def image_rank(self) -> NDArray[np.intp]:
        """(I,) position of each image when all ids are sorted as text, for reproducible random draws.

        Examples
        --------
        >>> Annotations.from_rows([], images=["b.jpg", "c.jpg", "a.jpg"]).image_rank.tolist()
        [1, 2, 0]
        """
        by_id = np.argsort(np.array([repr(key) for key in self.images], dtype=np.str_), kind="stable")
        return new_codes(by_id, len(by_id))

    @cached_property
    def assigned_any_class(self) -> NDArray[np.bool_]:
        """(I, R) whether a rater is assigned to an image and to at least one class on it."""
        return assigned_any_class(self.assigned, self.assigned_categories, self.excluded, len(self.categories))

    @cached_property
    def comparable_images(self) -> NDArray[np.bool_]:
        """(I,) whether at least two raters are assigned to a common class, so that agreement is defined."""
        return comparable_images(self.assigned, self.assigned_categories, self.excluded, len(self.categories))

    @property
    def assigned_per_annotation(self) -> NDArray[np.bool_]:
        """(N, R) whether a rater is assigned to the image and the class of an annotation."""
        return assigned_per_annotation(
            self.assigned, self.assigned_categories, self.excluded, self.image, self.category, len(self.categories)
        )


def _lists_of_raters(
    assigned: Mapping[Hashable, Sequence[str]] | str | None, table: RawTable
) -> Mapping[Hashable, Sequence[str]]:
    """Rater names by image, from a mapping or a rule; images that are not listed have all raters."""
    if isinstance(assigned, Mapping):
        return assigned
    if assigned not in (None, "all", "drew"):
        raise InputError(f"assigned: expected a mapping of images to raters, 'all' or 'drew', got {repr_of(assigned)}")
    if assigned != "drew":
        return {}
    found: dict[Hashable, dict[str, None]] = {}
    for image, rater in zip(table.image, table.rater, strict=True):
        if is_hashable(image) and image is not None and isinstance(rater, str):
            found.setdefault(image, {})[rater] = None
    return {image: list(names) for image, names in found.items()}


def warn_of_silent_raters(annotations: Annotations, unsaid: NDArray[np.bool_], source: str) -> None:
    """Warn if raters without annotations on an image count as assigned only by default.

    Parameters
    ----------
    annotations : Annotations
    unsaid : (I,) bool
        Images whose assignment is unknown.
    source : str
        Name of the file or folder, for the message.
    """
    annotated = np.zeros(annotations.assigned.shape, np.bool_)
    annotated[annotations.image, annotations.rater] = True
    partly = np.asarray(annotated.any(axis=1) & ~annotated.all(axis=1))[unsaid]
    if partly.any():
        where = "" if unsaid.all() else f" to {len(partly):,} of {number_of(len(unsaid), 'image')}"
        text = UNSAID.format(source=source, where=where, count=f"{partly.sum():,}", total=f"{len(partly):,}")
        warn(text)


def build_annotations(table: RawTable, source: Source) -> Annotations:
    """Check the input of a reader and convert it to `Annotations`; used by all readers.

    Parameters
    ----------
    table : RawTable
    source : Source

    Raises
    ------
    InputError
        If records cannot be used; the message names all of them.
    """
    fields, messages = check_records(table, source)
    annotations = Annotations(**fields)
    for message in messages:
        warn(message)
    return annotations
