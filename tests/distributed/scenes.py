"""Annotations full of ties, of partial assignments, and of shapes of all kinds that shards hold."""

from __future__ import annotations

import numpy as np

from kalos_core import Annotations

RATERS = ("cid", "ann", "bob")
CLASSES = ("dog", "cat", "emu")


def scene(images: int = 23, seed: int = 0, ids: str = "int", **more) -> Annotations:
    """Boxes on a coarse grid, so that many similarities are equal; some images are empty, some raters not assigned.

    `ids`: "int", "text" or "mixed".
    """
    rng = np.random.default_rng(seed)
    rows, assigned, number = [], {}, 0
    names = [f"{n:03}.jpg" for n in rng.permutation(images)]
    for at, name in enumerate(names):
        assigned[name] = list(RATERS) if at % 5 else list(RATERS[:2])
        for _ in range(0 if at % 7 == 3 else int(rng.integers(1, 5))):
            x, y = (20 * rng.integers(0, 4, 2)).tolist()
            for rater in assigned[name]:
                for _ in range(int(rng.integers(0, 3))):
                    left, top = x + 2 * int(rng.integers(-1, 2)), y + 2 * int(rng.integers(-1, 2))
                    width = int(rng.choice([4, 8]))
                    number += 1
                    text = ids == "text" or (ids == "mixed" and rng.random() < 0.5)
                    rows.append(
                        {
                            "image": name,
                            "rater": rater,
                            "category": CLASSES[int(rng.random() ** 3 * 3)],
                            "box": [left + 5, top + 5, width, 8],
                            "id": f"{number}" if text else number,
                        }
                    )
    rng.shuffle(rows)
    sizes = {name: (100 + 20 * (at % 2), 90) for at, name in enumerate(names)}
    return Annotations.from_rows(
        rows, images=names, raters=RATERS, categories=CLASSES, image_size=sizes, assigned=assigned, **more
    )


def limited(images: int = 23, seed: int = 1) -> Annotations:
    """As `scene`, with classes that not every rater is assigned to, and exclusions of single images."""
    table = scene(images, seed)
    bob_of_emus = (table.rater == 2) & (table.category == 2)
    kept = table.select(rows=~bob_of_emus)
    rows = [
        {
            "image": kept.images[image],
            "rater": RATERS[rater],
            "category": CLASSES[category],
            "box": box,
            "id": one,
        }
        for image, rater, category, box, one in zip(
            kept.image, kept.rater, kept.category, kept.shapes["box"].xywh().tolist(), kept.id.tolist(), strict=True
        )
    ]
    who = {
        name: [rater for rater, there in zip(RATERS, line, strict=True) if there]
        for name, line in zip(kept.images, kept.assigned, strict=True)
    }
    return Annotations.from_rows(
        rows,
        images=kept.images.tolist(),
        raters=RATERS,
        categories=CLASSES,
        image_size=dict(zip(kept.images, kept.image_size.tolist(), strict=True)),
        assigned=who,
        assigned_categories={"cid": CLASSES, "ann": CLASSES, "bob": CLASSES[:2]},
        exclusions=[(name, "ann", "dog") for name in kept.images[::4]],
    )
