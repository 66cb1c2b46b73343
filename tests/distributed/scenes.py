"""Annotations with many ties and partial assignments, and image-level labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kalos_core import Annotations, LabelTable

RATERS = ("cid", "ann", "bob")
CLASSES = ("dog", "cat", "emu")


def scene(images: int = 23, seed: int = 0, ids: str = "int") -> Annotations:
    """Return boxes on a coarse grid with many equal similarities; some images are empty, some raters not assigned.

    `ids`: "int", "text" or "mixed".
    """
    rng = np.random.default_rng(seed)
    rows, assigned = [], {}
    names = [f"{n:03}.jpg" for n in rng.permutation(images)]
    for at, name in enumerate(names):
        assigned[name] = list(RATERS) if at % 5 else list(RATERS[:2])
        for _ in range(0 if at % 7 == 3 else int(rng.integers(1, 5))):
            x, y = (20 * rng.integers(0, 4, 2)).tolist()
            for rater in assigned[name]:
                for _ in range(int(rng.integers(0, 3))):
                    left, top = x + 2 * int(rng.integers(-1, 2)), y + 2 * int(rng.integers(-1, 2))
                    box = [left + 5, top + 5, int(rng.choice([4, 8])), 8]
                    number = len(rows) + 1
                    key = str(number) if ids == "text" or (ids == "mixed" and rng.random() < 0.5) else number
                    category = CLASSES[int(rng.random() ** 3 * 3)]
                    rows.append({"image": name, "rater": rater, "category": category, "box": box, "id": key})
    rng.shuffle(rows)
    sizes = {name: (100 + 20 * (at % 2), 90) for at, name in enumerate(names)}
    return Annotations.from_rows(
        rows, images=names, raters=RATERS, categories=CLASSES, image_size=sizes, assigned=assigned
    )


def limited(images: int = 23, seed: int = 1) -> Annotations:
    """Return a `scene` with classes that not every rater is assigned to, and exclusions on single images."""
    table = scene(images, seed)
    kept = table.select(rows=~((table.rater == 2) & (table.category == 2)))
    assigned = np.array([[True, True, True], [True, True, True], [True, True, False]])
    excluded = np.array([(image, 1, 0) for image in range(0, images, 4)])
    return replace(kept, assigned_categories=assigned, excluded=excluded)


def in_order(table: Annotations) -> Annotations:
    """Return the same table with rows sorted by image, as in shards."""
    crowds, table = table.crowd_regions, table.select(rows=np.argsort(table.image, kind="stable"))
    if crowds is None:
        return table
    return replace(table, crowd_regions=crowds.select(rows=np.argsort(crowds.image, kind="stable")))


ITEMS, ANSWERING = 23, ("cid", "ann", "bob", "dan")
GROUPS = {"place": ["indoor", "street", "meadow"], "light": ["day", "night"], "alone": ["only"]}
CONCEPTS = ["busy", *GROUPS["place"], "pretty", *GROUPS["light"], "only", "never"]


def labels(seed: int = 0, groups: dict | None = GROUPS) -> LabelTable:
    """Return answers in any order; some break a group, some leave concepts open; every seventh item has none.

    Items are numbers and text, including 1 and "1".
    """
    rng = np.random.default_rng(seed)
    pairs = [(item, rater) for item in range(ITEMS) if item % 7 != 3 for rater in range(4) if rng.random() < 0.7]
    rng.shuffle(pairs)
    chosen, left_open = [], []
    for answer in range(len(pairs)):
        state = rng.choice(3, len(CONCEPTS), p=[0.6, 0.3, 0.1])
        state[CONCEPTS.index("never")] = 0
        for members in GROUPS.values():
            within = [CONCEPTS.index(name) for name in members]
            if rng.random() < 0.85:
                state[within] = 0
                state[rng.choice(within)] = 1
        chosen += [(answer, code) for code in np.flatnonzero(state == 1)]
        left_open += [(answer, code) for code in np.flatnonzero(state == 2)]
    rng.shuffle(chosen)
    rng.shuffle(left_open)
    (item, rater), (answer, concept) = np.array(pairs).T, np.array(chosen).T
    items = ["1", *(number if number % 3 else f"{number}.jpg" for number in range(1, ITEMS))]
    time = np.where(rng.random(len(pairs)) < 0.5, np.nan, rng.random(len(pairs)))
    table = LabelTable(item, rater, answer, concept, items, ANSWERING, CONCEPTS, unanswered=left_open, time=time)
    return table.regroup(groups)


def exclusive() -> LabelTable:
    """Return one group of all concepts, with one of them per answer."""
    rng = np.random.default_rng(3)
    rows = [
        {"item": f"{item}.jpg", "rater": rater, "label": "abc"[(item + int(rng.random() < 0.3)) % 3], "time": item}
        for item in range(ITEMS)
        for rater in ANSWERING
        if rng.random() < 0.8
    ]
    return LabelTable.from_rows(rows, items=[f"{item}.jpg" for item in reversed(range(ITEMS))])
