"""Inputs with a risk of steep cost: identical annotations, very many raters, and many thresholds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.agreement import without_cache
from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import (
    Annotations,
    KalosWarning,
    agreement,
    class_difficulty,
    collaboration,
    modified_map,
    rater_vitality,
    read_coco,
    sensitivity,
    variation_shares,
    variations,
)
from kalos_core.correspondence import correspond
from kalos_core.pairs import compute_pairs

IDENTICAL = (125, 250, 500)
QUADRATIC = 6.0
"""Maximum factor for twice as many identical annotations: four, plus sorting and cache misses."""

RATERS, UNITS = 100, 50
AT_MOST = 20.0
"""Maximum seconds of a diagnostic of this many raters."""

IMAGES, RATERS_OF_IMAGES = 1000, 30
TIMES_AGREEMENT = 20.0

COUNTS = tuple(step / 20 for step in range(2, 19))
"""Default thresholds of `find_variations`."""


def identical(repeats: int) -> Table:
    """Measure repeated identical boxes of two raters in one image."""
    tables = {count: _made(2, 1, count, apart=0.0) for count in IDENTICAL}
    pairs = {count: compute_pairs(table) for count, table in tables.items()}

    def solved(solver: str) -> Callable[[int], Any]:
        return lambda count: correspond(tables[count], pairs[count], solver=solver)

    works: dict[str, Callable[[int], Any]] = {
        **{solver: solved(solver) for solver in ("greedy", "ahc", "shm")},
        "variations": lambda count: variations(tables[count]),
        "modified mAP": lambda count: modified_map(tables[count]),
    }
    rows = []
    for name, work in works.items():
        took = alternate([Subject(lambda _, count=count, work=work: work(count)) for count in IDENTICAL], repeats)
        for more, (count, outcome, less) in enumerate(zip(IDENTICAL[1:], took[1:], took, strict=False)):
            claim = QUADRATIC if more == len(IDENTICAL) - 2 else None
            rows.append(Row(f"{name}, {count} of each rater", outcome.took, less.took, claim))
    return Table("identical boxes of two raters", tuple(rows), "this number", "half the number", speedup=False)


def many_raters(repeats: int) -> Table:
    """Measure every diagnostic of a hundred raters, in seconds."""
    table = _made(RATERS, UNITS, 1, apart=2.0)
    result = agreement(table)
    works: dict[str, Callable[[], Any]] = {
        "agreement": lambda: agreement(table),
        "class difficulty": lambda: class_difficulty(result),
        "vitality": lambda: rater_vitality(result),
        "collaboration": lambda: collaboration(result),
        "sensitivity": lambda: sensitivity(table),
        "variations": lambda: variations(table),
        "modified mAP": lambda: modified_map(table),
    }
    outcomes = alternate([Subject(lambda _, work=work: work()) for work in works.values()], repeats)
    most = Measured((AT_MOST,))
    return Table(
        f"{RATERS} raters x {UNITS} units: {len(table):,} annotations, {len(result.pairs):,} pairs, 1,000 replicates",
        tuple(Row(name, outcome.took, most, 1.0) for name, outcome in zip(works, outcomes, strict=True)),
        other="limit",
        speedup=False,
    )


def vitality(repeats: int) -> Table:
    """Measure vitality, which matches again without each rater, vs. the agreement it starts from."""
    table = _made(RATERS_OF_IMAGES, IMAGES, 5, apart=2.0)
    result = agreement(table)
    without, whole = alternate(
        [Subject(lambda _: rater_vitality(result)), Subject(lambda _: agreement(table))], repeats
    )
    return Table(
        f"{RATERS_OF_IMAGES} raters x {IMAGES:,} images: {len(table):,} annotations, {len(result.pairs):,} pairs",
        (Row("vitality", without.took, whole.took, TIMES_AGREEMENT),),
        "vitality",
        "agreement",
        speedup=False,
    )


def counts_of_findings(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure findings at 17 thresholds vs. the search at one, comparison of shapes included."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # annotations outside of their image do not matter here
        table = read_coco(coco)
    rows = []
    for similarity in ("box_iou", "polygon_iou"):
        pairs = variations(table, similarity).pairs
        counts, found = alternate(
            [
                Subject(
                    lambda given, similarity=similarity, pairs=pairs: variation_shares(
                        given, COUNTS, similarity, pairs=pairs
                    ),
                    lambda: without_cache(table),
                ),
                Subject(
                    lambda given, similarity=similarity: variations(given, similarity), lambda: without_cache(table)
                ),
            ],
            repeats,
        )
        rows.append(Row(similarity, counts.took, found.took, 1.0))
    title = f"findings of {name} at {len(COUNTS)} thresholds"
    return Table(title, tuple(rows), "all counts", "one search", speedup=False)


def _made(raters: int, images: int, objects: int, apart: float) -> Annotations:
    """Return objects that all raters annotated, with edges about `apart` pixels off; if not 0, one in ten is missed."""
    rng = np.random.default_rng(0)
    places = rng.uniform(0, 400, (images, objects, 2)) if apart else np.zeros((images, objects, 2))
    rows = [
        {
            "image": image,
            "rater": f"r{rater:03}",
            "category": f"c{number % 20}" if apart else "c0",
            "box": [*(places[image, number] + rng.normal(0, apart, 2)), *(60 + np.abs(rng.normal(0, apart, 2)))],
        }
        for image in range(images)
        for number in range(objects)
        for rater in range(raters)
        if not apart or rng.random() < 0.9
    ]
    return Annotations.from_rows(rows, images=range(images), assigned="all")
