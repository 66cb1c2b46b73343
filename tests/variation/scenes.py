"""Annotations with known findings, and random ones."""

from __future__ import annotations

import numpy as np

from kalos_core import Annotations

GIVEN = [
    ("whole", 1, "ann", "bench", [0, 0, 20, 10]),
    ("left", 1, "bob", "bench", [0, 0, 9, 10]),
    ("right", 1, "bob", "bench", [11, 0, 9, 10]),
    ("cat", 1, "ann", "cat", [50, 0, 9, 9]),
    ("dog", 1, "bob", "dog", [50, 0, 9, 9]),
    ("alone", 2, "bob", "dog", [0, 0, 9, 9]),
]


def two_raters() -> Annotations:
    """Return a bench that bob split, a cat that he labels as a dog, and a dog that only he annotated."""
    rows = [dict(zip(("id", "image", "rater", "category", "box"), row, strict=True)) for row in GIVEN]
    return Annotations.from_rows(rows, assigned="all")


def random_table(seed: int, images: int = 9) -> Annotations:
    """Return three raters with boxes of two classes near those of the others."""
    rng = np.random.default_rng(seed)
    rows = []
    for image in range(images):
        for place in range(4):
            for rater in ("r0", "r1", "r2"):
                if rng.random() < 0.8:
                    box = [60 * place + rng.uniform(5, 13), rng.uniform(5, 13), 20.0, 20.0]
                    category = "cat" if rng.random() < 0.6 else "dog"
                    key = f"{image} {place} {rater}"
                    rows.append({"image": image, "rater": rater, "category": category, "box": box, "id": key})
                    if rng.random() < 0.2:
                        rows.append({**rows[-1], "box": [box[0] + 5, *box[1:]], "id": f"{key} again"})
    return Annotations.from_rows(rows, raters=["r0", "r1", "r2"], images=list(range(images)), assigned="all")
