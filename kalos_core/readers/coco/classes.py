"""Classes of a COCO file: names, classes of annotations, and assignment of raters to classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, Problems, is_hashable, repr_of
from kalos_core.readers.coco.columns import Records, record_name
from kalos_core.readers.coco.content import Content, image_name, record_list
from kalos_core.readers.coco.raters import Raters
from kalos_core.readers.coco.settings import CocoSettings
from kalos_core.readers.vocabulary import Vocabulary, reconcile_all

NOT_EXHAUSTIVE_FIELD, EXCLUDED_FIELD = "not_exhaustive_category_ids", "excluded_category_ids"
"""Fields of an image: LVIS's list for all raters, and our own mapping by rater."""


class Classes:
    """The classes of a file.

    Parameters
    ----------
    content : Content
    raters : Raters
    annotators : sequence (N,)
        Rater of each annotation.
    settings : CocoSettings
    """

    def __init__(self, content: Content, raters: Raters, annotators: Sequence[Any], settings: CocoSettings) -> None:
        self._settings, self._source = settings, content.name
        self.vocabulary = Vocabulary.from_aliases(settings.aliases)
        by_field = settings.category_field is not None
        self._name_of = {} if by_field else _category_names(content.data, content.name, content.problems)
        _check_joints(content)
        self.limits = self._limits(content, raters)
        """Rater -> names of the classes that the rater is assigned to; None if every rater is assigned to all."""
        self.of_objects = self.of(content.objects, annotators, self.vocabulary, raters)
        """(N,) key in `names` of each annotation's class."""
        self.names = self._name_of
        if not settings.by_id:
            used = [*self.of_objects, *(name for names in (self.limits or {}).values() for name in names)]
            self.names = {name: name for name in used if isinstance(name, str)}

    def of(self, records: Records, annotators: Sequence[Any], vocabulary: Vocabulary, raters: Raters) -> list[Any]:
        """Return (N,) class ids, or reconciled names; invalid names stay unchanged, to be reported."""
        field = self._settings.category_field
        if self._settings.by_id:
            return records.column("category_id")
        if field is None:
            keys = records.column("category_id")  # an unknown id is not a name, even if it is text
            names = [self._name_of.get(key, (key,)) if isinstance(key, str) else self._class(key) for key in keys]
        else:
            names = [as_name(name.strip() if isinstance(name, str) else name) for name in records.column(field)]
        if not self._settings.aliases:
            return names
        return reconcile_all(vocabulary, annotators, names, raters.identity, self._source)

    def _class(self, key: Any) -> Any:
        return self._name_of.get(key, key) if is_hashable(key) else key

    def _limits(self, content: Content, raters: Raters) -> dict[str, list[Any]] | None:
        limits = content.info.limits
        if limits is None:
            return None
        if not isinstance(limits, Mapping) or not all(isinstance(keys, (list, tuple)) for keys in limits.values()):
            expected = "info.rater_categories to map raters to lists of classes"
            raise InputError(f"{content.name}: expected {expected}, got {repr_of(limits)}")
        return {
            name: [self._class(key) for key in keys]
            for rater, keys in limits.items()
            for name in raters.rows_of(as_name(rater))
        }

    def exclusions(
        self, content: Content, assigned: Sequence[Sequence[str] | None], raters: Raters
    ) -> list[tuple[Any, str, str]]:
        """Return (image, rater, class) for each class that the rater need not annotate exhaustively in the image."""
        found: list[tuple[Any, str, str]] = []
        if not self._settings.by_id:  # exclusions refer to ids
            return found
        for position, (image, key, names) in enumerate(zip(content.images, content.image_ids, assigned, strict=True)):
            by_rater = image.get(EXCLUDED_FIELD, {})
            exclude = self._settings.not_exhaustive == "exclude"
            everyone = image.get(NOT_EXHAUSTIVE_FIELD, ()) if exclude else ()
            record = image_name(image, content.first_image + position)
            if not _are_keys(everyone):
                content.problems.add(record, f"a list {NOT_EXHAUSTIVE_FIELD}", repr_of(everyone))
            elif not isinstance(by_rater, Mapping) or not all(
                _are_keys(classes) and all(name in self.names for name in classes) for classes in by_rater.values()
            ):
                content.problems.add(record, f"lists of category ids as {EXCLUDED_FIELD}", repr_of(by_rater))
            else:
                known = [name for name in everyone if name in self.names]  # LVIS also lists classes it dropped later
                of_rater = [(rater, name) for name in known for rater in (raters.identity if names is None else names)]
                of_rater += [(rater, name) for rater, classes in by_rater.items() for name in classes]
                found += [(key, rater, self.names[name]) for rater, name in of_rater]
        return found


def _category_names(data: Mapping[str, Any], source: str, problems: Problems) -> dict[Any, str]:
    """Return category id -> class name, in the order of the file."""
    categories: dict[Any, str] = {}
    for position, record in enumerate(record_list(data, "categories", source)):
        key, name = record.get("id"), record.get("name")
        fault = None
        if not isinstance(name, str) or not name:
            fault = "a name", repr_of(name)
        elif key is None or isinstance(key, bool) or not is_hashable(key):
            fault = "an id", "nothing" if key is None else repr_of(key)
        elif key == -1:
            fault = "an id that is not -1, which means 'no category'", repr_of(key)
        elif key in categories:
            fault = "an id of its own", f"{repr_of(key)} a second time"
        else:
            categories[key] = name  # duplicate names are allowed: Roboflow adds an empty class that groups the others
        if fault:
            problems.add(record_name("categories", position, key), *fault)
    return categories


def _check_joints(content: Content) -> None:
    """Check that annotations have as many keypoints as their categories name."""
    joints = _joint_counts(content.data)
    if not joints:
        return
    rows = zip(content.objects.keys("category_id"), content.objects.column("keypoints"), strict=True)
    for row, (category, points) in enumerate(rows):
        expected = joints.get(category)
        if not (expected and isinstance(points, (list, tuple)) and points) or len(points) % 3:
            continue  # nothing to count, or no keypoints at all, which is reported where they are read
        if len(points) != 3 * expected:
            record = content.objects.name_of(row)
            content.problems.add(record, f"{expected} keypoints, as its category names", len(points) // 3)


def _joint_counts(data: Mapping[str, Any]) -> dict[Any, int]:
    """Return category id -> number of keypoints that it names, for categories that name any."""
    categories = data.get("categories")
    return {
        record["id"]: len(record["keypoints"])
        for record in (categories if isinstance(categories, (list, tuple)) else ())  # not read where classes are text
        if isinstance(record, Mapping) and isinstance(record.get("keypoints"), list)
        if "id" in record and is_hashable(record["id"])
    }


def _are_keys(keys: object) -> bool:
    return isinstance(keys, (list, tuple)) and all(map(is_hashable, keys))
