"""Coverage of 95 % intervals, from repeated simulations of raters with known distributions.

`python -m benchmarks.coverage` takes an hour; `--results` writes the counts. The true value of a statistic is that of
a data set from the same distribution, as large as memory allows.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core import (
    Annotations,
    ConceptTruths,
    DetectorAccumulator,
    KalosWarning,
    agreement,
    class_difficulty,
    collaboration,
    compare,
    dawid_skene,
    grade_agreement,
    intraclass_correlation,
    label_convergence,
    pixel_agreement,
    rank_systems,
    rater_vitality,
    sparse_agreement,
)
from kalos_core.annotations import object_array
from kalos_core.ranking import SystemScores
from kalos_core.shapes import Boxes

SIZES = (5, 15, 50, 200)
CLASS_SHARES = (0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.05, 0.04, 0.02, 0.02)
COMMON, RARE, RAREST = 0, 5, 9
"""Classes of 30, 5 and 2 % of the objects."""

SKILLS = (0.9, 0.8, 0.7, 0.85, 0.75, 0.95)
LENIENCE = (0.0, 0.2, -0.2, 0.1, -0.1, 0.3)
GRADES = 5
SIDE = 24
"""Side of a mask in pixels."""

Figures = dict[str, tuple[float, NDArray[np.float64]]]
"""Name -> value, and both ends of its interval; NaN if there is none."""


# ---- raters of objects ----


@dataclass(frozen=True)
class Scenes:
    """True objects of some images; images differ in difficulty."""

    image: NDArray[np.intp]
    category: NDArray[np.intp]
    place: NDArray[np.intp]
    hard: NDArray[np.float64]

    @classmethod
    def drawn(cls, images: int, rng: np.random.Generator) -> Scenes:
        count = rng.poisson(6, images)
        image = np.repeat(np.arange(images), count)
        starts = np.cumsum(count) - count
        category = rng.choice(len(CLASS_SHARES), len(image), p=CLASS_SHARES)
        return cls(image, category, np.arange(len(image)) - starts[image], rng.beta(2, 6, images))

    def annotated(self, raters: int, rng: np.random.Generator, careless: float = 1.0) -> Annotations:
        """Simulate raters who miss, confuse, add and displace objects, more so in difficult images."""
        images, parts = len(self.hard), []
        for rater in range(raters):
            hard = careless * self.hard[self.image]
            seen = rng.random(len(hard)) >= 0.6 * hard
            wrong = rng.random(len(hard)) < 0.4 * hard
            category = np.where(wrong, rng.choice(len(CLASS_SHARES), len(hard), p=CLASS_SHARES), self.category)
            false = np.repeat(np.arange(images), rng.poisson(1.2 * careless * self.hard))
            image = np.concatenate([self.image[seen], false])
            category = np.concatenate([category[seen], rng.choice(len(CLASS_SHARES), len(false), p=CLASS_SHARES)])
            alone = 40 + 40 * rater + rng.integers(0, 40, len(false))  # no overlap with other raters
            place = np.concatenate([self.place[seen], alone])
            spread = np.concatenate([4 + 30 * hard[seen], np.full(len(false), 4.0)])
            corner = np.column_stack([100.0 * place, np.zeros(len(place))])
            box = np.hstack([corner, corner + 60]) + rng.normal(0, spread[:, None] / 2, (len(place), 4))
            parts.append((image, np.full(len(image), rater), category, box))
        image, rater, category, box = (np.concatenate(part) for part in zip(*parts, strict=True))
        return _table(images, raters, image, rater, category, box)


def _table(
    images: int,
    raters: int,
    image: NDArray[np.intp],
    rater: NDArray[np.intp],
    category: NDArray[np.intp],
    box: NDArray[np.float64],
) -> Annotations:
    order = np.lexsort((rater, image))
    names = object_array([f"{number:07d}" for number in range(images)])
    return Annotations(
        image=image[order],
        rater=rater[order],
        category=category[order],
        id=np.arange(len(order)),
        shapes={"box": Boxes(box[order])},
        images=names,
        files=object_array([""] * images),
        raters=object_array([f"rater {number}" for number in range(raters)]),
        categories=object_array([f"class {number}" for number in range(len(CLASS_SHARES))]),
        image_size=np.full((images, 2), np.nan),
        assigned=np.ones((images, raters), np.bool_),
    )


def objects(images: int, raters: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Compute agreement of all raters, of classes, of one rater and of one pair."""
    found = agreement(Scenes.drawn(images, rng).annotated(raters, rng), bootstrap=bootstrap)
    classes, pairs = class_difficulty(found), collaboration(found)
    figures: Figures = {
        "mean alpha": (found.alpha, found.alpha_interval),
        "median alpha": (found.median_alpha, found.median_interval),
        "global alpha": (found.global_alpha, found.global_alpha_interval),
        "pair: mean alpha": (pairs.alpha[0, 1], pairs.alpha_interval[0, 1]),
        "pair: global alpha": (pairs.global_alpha[0, 1], pairs.global_alpha_interval[0, 1]),
    }
    if raters > 2:
        vitality = rater_vitality(found)
        figures["rater: vitality"] = (vitality.vitality[0], vitality.vitality_interval[0])
        figures["rater: global vitality"] = (vitality.global_vitality[0], vitality.global_vitality_interval[0])
    names = classes.category.tolist()
    for code in (COMMON, RARE, RAREST):
        what = f"class of {100 * CLASS_SHARES[code]:.0f} % of the objects"
        if f"class {code}" in names:
            at = names.index(f"class {code}")
            figures[f"{what}: mean alpha"] = (classes.alpha[at], classes.alpha_interval[at])
            figures[f"{what}: global alpha"] = (classes.global_alpha[at], classes.global_alpha_interval[at])
    return figures


def comparison(images: int, raters: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Compare two studies of the same images by raters with the same distribution, so nothing differs."""
    scenes = Scenes.drawn(images, rng)
    a, b = (agreement(scenes.annotated(raters, rng), bootstrap=0) for _ in range(2))
    found = compare(a, b, bootstrap=bootstrap)
    figures: Figures = {
        "difference of mean alpha": (0.0, found.interval),
        "difference of global alpha": (0.0, found.whole.global_interval[0]),
    }
    names = found.classes.name.tolist()
    for code in (COMMON, RARE):
        if f"class {code}" in names:
            what = f"difference of a class of {100 * CLASS_SHARES[code]:.0f} % of the objects"
            figures[what] = (0.0, found.classes.interval[names.index(f"class {code}")])
    return figures


def convergence(images: int, _: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Compute label convergence of two raters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        table = Scenes.drawn(images, rng).annotated(2, rng)
        found = label_convergence(table, samples=max(bootstrap // 5, 2), fraction=0.5, orders=3)
    return {"label convergence": (found.whole_convergence, found.interval)}


# ---- raters of whole images ----


def grades(images: int, raters: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Simulate grades of 1 to 5 for a latent quality, which each rater sees with their own error and bias."""
    seen = rng.normal(0, 1, (images, 1)) + rng.normal(0, 0.6, (images, raters)) + np.array(LENIENCE[:raters])
    values = np.clip(np.round(3 + seen), 1, GRADES)
    found, icc = grade_agreement(values, bootstrap=bootstrap), intraclass_correlation(values)
    figures: Figures = {
        f"grades: {name}": (found.value[at], found.interval[at]) for at, name in enumerate(found.coefficient.tolist())
    }
    return figures | {f"grades: {icc.form[at]}": (icc.value[at], icc.interval[at]) for at in (0, 1)}


def answers(images: int, raters: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Simulate answers with one of three classes per image, by raters of known skill."""
    true = rng.choice(3, images, p=(0.6, 0.3, 0.1))
    right = rng.random((images, raters)) < np.array(SKILLS[:raters])
    values = np.where(right, true[:, None], (true[:, None] + rng.integers(1, 3, (images, raters))) % 3)
    counts = np.stack([(values == code).sum(axis=1) for code in range(3)], axis=1)
    found, skill = sparse_agreement(counts, bootstrap=bootstrap), dawid_skene(values)
    return {
        "sparse agreement": (found.value, found.interval),
        "skill of a rater": (skill.skill[0], skill.skill_interval[0]),
    }


# ---- raters of pixels ----


def pixels(images: int, raters: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Simulate discs that each rater marks with errors of centre and radius."""
    found = pixel_agreement(list(_masks(images, raters, rng)), bootstrap=bootstrap)
    return {
        "pixels: mean F1": (found.mean_f1, found.mean_f1_interval),
        "pixels: F1 of a pair": (found.f1[0, 1], found.f1_interval[0, 1]),
        "pixels: Smyth's bound": (found.smyth_bound, found.smyth_interval),
    }


def _masks(images: int, raters: int, rng: np.random.Generator) -> Iterator[dict[str, NDArray[np.bool_]]]:
    grid = np.mgrid[:SIDE, :SIDE]
    for hard in rng.beta(2, 6, images):
        centre, radius = rng.uniform(8, 16, 2), rng.uniform(3, 7)
        yield {
            f"rater {rater}": np.hypot(*(grid - (centre + rng.normal(0, 3 * hard, 2))[:, None, None]))
            < radius * np.exp(rng.normal(0, 0.5 * hard))
            for rater in range(raters)
        }


def ranks(images: int, raters: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Compute the area under the curve of a detector, with one rater as the reference."""
    accumulator = DetectorAccumulator(levels=64, methods=(), bootstrap=bootstrap)
    for masks in _masks(images, raters, rng):
        scores = np.clip(np.mean(list(masks.values()), axis=0) * 0.6 + rng.beta(2, 4, (SIDE, SIDE)) * 0.4, 0, 1)
        accumulator.add({"net": scores}, masks)
    found = accumulator.result(skew=(0.1, 0.5)).ranking
    return {"ranks: area of a detector": (found.values[0, 0], found.interval[0, 0])}


# ---- classifiers ----


def classifiers(images: int, _: int, bootstrap: int, rng: np.random.Generator) -> Figures:
    """Simulate a classifier of four labels that 50 to 5 % of the images have, and classifiers of one label each."""
    shares, names = np.array([0.5, 0.3, 0.1, 0.05]), ["a", "b", "c", "d"]
    truth = rng.random((images, len(shares))) < shares
    ids = range(images)
    found = {}
    for name, apart, used in (("", 1.0, [0, 1, 2, 3]), (", one label of 5 %", 1.0, [3]), (", sure", 2.3, [0])):
        own = [names[at] for at in used]
        scores = SystemScores(["net"], ids, own, rng.normal(size=(1, images, len(used))) + apart * truth[:, used])
        result = rank_systems(scores, ConceptTruths(["ann"], ids, own, truth[None][..., used]), bootstrap=bootstrap)
        for measure, of in result.rankings.items():
            found[f"ranks: {measure} of a classifier{name}"] = of.values[0, 0], of.interval[0, 0]
    return found


# ---- counting ----

Study = Callable[[int, int, int, np.random.Generator], Figures]

STUDIES: Mapping[str, tuple[Study, int, tuple[int, ...]]] = {
    "objects": (objects, 60_000, (2, 3, 6)),
    "comparison": (comparison, 0, (3,)),
    "convergence": (convergence, 30_000, (2,)),
    "grades": (grades, 300_000, (2, 3, 6)),
    "answers": (answers, 300_000, (3, 6)),
    "pixels": (pixels, 6_000, (2, 3)),
    "ranks": (ranks, 3_000, (2,)),
    "classifiers": (classifiers, 1_000_000, (1,)),
}
"""Name -> simulation, images of the data set for true values (0: they are 0), and numbers of raters."""


@dataclass(frozen=True)
class Covered:
    """Coverage of the intervals of one statistic."""

    figure: str
    raters: int
    images: int
    true: float
    sets: int
    without: int
    covered: float
    width: float


def count_covered(
    name: str, raters: int, images: int, sets: int, true: Mapping[str, float], workers: int
) -> list[Covered]:
    """Count coverage for the statistics of a study, over data sets of one size."""
    study = STUDIES[name][0]
    with ProcessPoolExecutor(workers) as pool:
        drawn = list(pool.map(partial(_one, study, images, raters), range(sets), chunksize=8))
    rows = []
    for figure, value in true.items():
        ends = np.array([found[figure][1] for found in drawn if figure in found]).reshape(-1, 2)
        known = ends[np.isfinite(ends).all(axis=1)]
        held = (known[:, 0] - 1e-9 <= value) & (value <= known[:, 1] + 1e-9)
        share, width = (held.mean(), np.median(np.diff(known))) if len(known) else (np.nan, np.nan)
        rows.append(Covered(figure, raters, images, value, sets, sets - len(known), float(share), float(width)))
    return rows


def _one(study: Study, images: int, raters: int, seed: int) -> Figures:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return study(images, raters, 1000, np.random.default_rng([images, raters, seed]))


def true_values(name: str, raters: int) -> dict[str, float]:
    """Compute true values from a data set so large that its own error is small relative to any interval."""
    study, large, _ = STUDIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = study(large or 200, raters, 0, np.random.default_rng(0))
    return {figure: float(value) for figure, (value, _) in found.items()}


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the table of coverage over all numbers of raters, by number of images."""
    sizes = sorted({row["images"] for row in rows})
    lines = ["| interval of | raters |" + "".join(f" {size:,} images |" for size in sizes)]
    lines.append("|---|---|" + "---|" * len(sizes))
    for figure in dict.fromkeys(row["figure"] for row in rows):
        own = [row for row in rows if row["figure"] == figure]
        raters = sorted({row["raters"] for row in own})
        shown = [_shown([row for row in own if row["images"] == size]) for size in sizes]
        lines.append(f"| {figure} | {', '.join(map(str, raters))} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _shown(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the mean share over numbers of raters; "none" if most data sets have no interval."""
    known = [row["covered"] for row in rows if 2 * row["without"] < row["sets"]]
    return f"{np.mean(known):.3f}".removeprefix("0") if known else "none"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.coverage", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *STUDIES], help="studies to run; all by default")
    parser.add_argument("--sets", type=int, default=400, help="data sets of each size (default: 400)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of images")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--results", type=Path, metavar="FILE", help="also write all figures")
    parser.add_argument("--page", type=Path, metavar="FILE", help="only print the table of stored results")
    options = parser.parse_args(arguments)
    if options.page:
        print(page(json.loads(options.page.read_text(encoding="utf-8"))), end="")
        return 0
    rows: list[dict[str, Any]] = []
    for name in options.names or STUDIES:
        for raters in STUDIES[name][2]:
            true = true_values(name, raters)
            for images in options.sizes:
                for found in count_covered(name, raters, images, options.sets, true, options.workers):
                    rows.append(vars(found))
                    share = "none" if np.isnan(found.covered) else f"{found.covered:.3f}"
                    print(
                        f"{found.figure:48} {raters} raters {images:4} images  covered {share:5}  width "
                        f"{found.width:.3f}  without {found.without}",
                        flush=True,
                    )
            if options.results:
                write(rows, options.results)
    return 0


def write(rows: Sequence[Mapping[str, Any]], file: Path) -> None:
    """Write all rows as JSON."""
    file.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
