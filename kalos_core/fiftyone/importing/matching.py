"""Which sample of a data set an item of a table is: by its id, or by the name of its file."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from kalos_core.errors import Problems
from kalos_core.fiftyone.pictures import StoredPictures, ends_with


def match_items(samples: Any, items: Sequence[Hashable], source: str) -> dict[Any, str]:
    """Item -> sample id, for sample ids and file names, these with as many of their folders as tell them apart.

    Raises
    ------
    InputError
        Naming the items that are no sample, or several, and those that are the same sample as another.
    """
    paths = dict(zip(*samples.values(["id", "filepath"]), strict=True))
    stored, problems = StoredPictures(paths), Problems(source)
    found: dict[Any, str] = {}
    item_of: dict[str, Any] = {}
    for item in items:
        name = str(item)
        same = [(name, paths[name])] if name in paths else stored.find(name)
        if len(same) > 1:
            same = [(key, path) for key, path in same if ends_with(path, name)] or same
        record = f"item {item!r}"
        if not same:
            problems.add(record, "the id or file name of a sample", "none of these")
        elif len(same) > 1:
            problems.add(record, "one sample of that file name", f"{len(same)}; name its folders, too")
        elif same[0][0] in item_of:
            problems.add(record, "each sample once", f"that of {item_of[same[0][0]]!r} again")
        else:
            found[item] = same[0][0]
            item_of[same[0][0]] = item
    problems.raise_if_any()
    return found
