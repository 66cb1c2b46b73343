"""False discoveries of comparisons that are *clear* of chance, and their power to find real differences.

`python -m benchmarks.discoveries` takes an hour; `--results` writes the counts:

* false discoveries: comparisons of two second raters with the same distribution, in which nothing differs
* power: comparisons of careful with careless raters, by size of the data set, vs. `Comparison.detectable`
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.__main__ import FILE, ROOT
from benchmarks.coverage import COMMON, Scenes, write
from kalos_core import KalosWarning, NoiseModel, agreement, compare, read_coco
from kalos_core.annotations import object_array
from kalos_core.diagnostics.comparison import Comparison

CARELESS = (1.05, 1.1, 1.2, 1.5)
"""Factors by which raters of the second study miss, confuse and add objects more often than those of the first."""

POWER_SIZES = (50, 200, 1000)
RATERS = 3
LARGE = 60_000
"""Images of the data set for the true differences."""


@dataclass(frozen=True)
class Discoveries:
    """Number of differences of one kind that are called clear in comparisons in which nothing differs.

    Parameters
    ----------
    data, of : str
        Data that was compared, and the kind of differences.
    comparisons, differences, with_interval : int
        Number of comparisons, of their differences, and of differences with enough images for an interval.
    clear, any_clear : int
        Number of differences that are called clear, and of comparisons with at least one.
    without_zero, any_without_zero : int
        The same for intervals without 0, before control of the false discovery rate.
    """

    data: str
    of: str
    comparisons: int
    differences: int
    with_interval: int
    clear: int
    any_clear: int
    without_zero: int
    any_without_zero: int


@dataclass(frozen=True)
class Power:
    """Power to find a real difference, in data sets of one size.

    Parameters
    ----------
    of : str
    images : int
    true, detectable : float
        Difference for very many images, and the median of what four of five studies find according to `compare`.
    sets, found : int
        Number of data sets, and of those in which the difference is called clear.
    """

    of: str
    images: int
    true: float
    detectable: float
    sets: int
    found: int


def count_discoveries(data: str, comparisons: Sequence[Comparison]) -> list[Discoveries]:
    """Count differences of mean alpha, of classes and of raters."""
    rows = []
    for of, name in (("mean alpha", "whole"), ("classes", "classes"), ("raters", "raters")):
        tables = [getattr(found, name) for found in comparisons]
        clear = [int(table.is_clear.sum()) for table in tables]
        without = [int(((table.interval[:, 0] > 0) | (table.interval[:, 1] < 0)).sum()) for table in tables]
        counts = [(sum(some), sum(number > 0 for number in some)) for some in (clear, without)]
        known = sum(int(np.isfinite(table.interval).all(axis=1).sum()) for table in tables)
        every = sum(len(table.name) for table in tables)
        rows.append(Discoveries(data, of, len(tables), every, known, *counts[0], *counts[1]))
    return rows


def of_file(path: Path, comparisons: int) -> Iterator[Comparison]:
    """Yield comparisons of two second raters, from a model fitted to a COCO file, each with the file's first rater."""
    annotations = read_coco(path)
    model, first = NoiseModel.fit(annotations), annotations.raters[0]
    for seed in range(comparisons):
        drawn = model.generate(annotations, raters=2, magnitude=1, seed=seed, reference=first)
        pairs = [drawn.with_reference().select(raters=[first, name]) for name in drawn.annotations.raters]
        named = [replace(pair, raters=object_array([first, "second"])) for pair in pairs]
        yield compare(*(agreement(pair, bootstrap=0) for pair in named), seed=seed)


def of_scenes(images: int, comparisons: int) -> Iterator[Comparison]:
    """Yield comparisons of two studies of the same simulated scenes, by raters with the same distribution."""
    for seed in range(comparisons):
        yield _studied(images, (1.0, 1.0), seed)


def _studied(images: int, careless: tuple[float, float], seed: int, bootstrap: int = 1000) -> Comparison:
    rng = np.random.default_rng([images, seed])
    scenes = Scenes.drawn(images, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)
        studies = [agreement(scenes.annotated(RATERS, rng, much), bootstrap=0) for much in careless]
        return compare(*studies, bootstrap=bootstrap, seed=seed)


def count_power(
    images: int, much: float, sets: int, true: Mapping[str, float], spread: Callable[..., Any] = map
) -> list[Power]:
    """Count power for mean alpha and a common class; `spread` maps a function over seeds, as `map` does."""
    one = partial(_found, images, much)
    drawn = list(spread(one, range(sets)))
    rows = []
    for of, value in true.items():
        clear, detectable = zip(*(found[of] for found in drawn), strict=True)
        rows.append(Power(of, images, value, float(np.nanmedian(detectable)), sets, sum(clear)))
    return rows


def _found(images: int, much: float, seed: int) -> dict[str, tuple[bool, float]]:
    """Return name -> whether its difference is called clear, and the detectable difference."""
    found = _studied(images, (1.0, much), seed)
    return {name: (bool(of.is_clear[at]), float(of.detectable[at])) for name, (of, at) in _figures(found).items()}


def true_differences(much: float, images: int = LARGE) -> dict[str, float]:
    """Return name -> difference in a data set so large that its own error is small."""
    found = _studied(images, (1.0, much), 0, bootstrap=0)
    return {name: float(of.difference[at]) for name, (of, at) in _figures(found).items()}


def _figures(found: Comparison) -> dict[str, tuple[Any, int]]:
    return {
        "mean alpha": (found.whole, 0),
        "class of 30 % of the objects": (found.classes, found.classes.name.tolist().index(f"class {COMMON}")),
    }


def page(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the tables of the documentation."""
    heads = ("data", "differences of", "comparisons", "with an interval", "clear", "in comparisons")
    lines = [f"| {' | '.join(heads)} | interval without 0 | in comparisons |", "|---" * 8 + "|"]
    for row in rows:
        if "clear" in row:
            known = f"{row['with_interval']:,} of {row['differences']:,}"
            cells = row["data"], row["of"], row["comparisons"], known, row["clear"], row["any_clear"]
            lines.append(f"| {' | '.join(map(str, cells))} | {row['without_zero']} | {row['any_without_zero']} |")
    lines += [
        "",
        "| difference of | images | true difference | share of data sets in which it is found | *detectable* |",
    ]
    lines.append("|---|---|---|---|---|")
    for row in rows:
        if "found" in row:
            lines.append(
                f"| {row['of']} | {row['images']:,} | {abs(row['true']):.3f} | {row['found'] / row['sets']:.2f} | "
                f"{row['detectable']:.3f} |"
            )
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.discoveries", description=__doc__)
    parser.add_argument("--comparisons", type=int, default=40, help="with raters fitted to a file (default: 40)")
    parser.add_argument("--sets", type=int, default=400, help="pairs of simulated studies of each size (default: 400)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help=f"folder that holds {FILE}")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--results", type=Path, metavar="FILE", help="also write all counts")
    parser.add_argument("--page", type=Path, metavar="FILE", help="only print the tables of stored results")
    options = parser.parse_args(arguments)
    if options.page:
        print(page(json.loads(options.page.read_text(encoding="utf-8"))), end="")
        return 0
    warnings.simplefilter("ignore", KalosWarning)
    rows: list[dict[str, Any]] = []
    for found in count_all(options.data / FILE, options.comparisons, options.sets, options.workers):
        rows.append(vars(found))
        print(found, flush=True)
        if options.results:
            write(rows, options.results)
    return 0


def count_all(file: Path, comparisons: int, sets: int, workers: int) -> Iterator[Discoveries | Power]:
    """Yield false discoveries for raters fitted to a file and for simulated ones, and power."""
    yield from count_discoveries("LVIS-200", list(of_file(file, comparisons)))
    for images in POWER_SIZES:
        yield from count_discoveries(f"{images:,} simulated scenes", list(of_scenes(images, sets)))
    with ProcessPoolExecutor(workers) as pool:
        for much in CARELESS:
            true = true_differences(much)
            for images in POWER_SIZES:
                yield from count_power(images, much, sets, true, partial(pool.map, chunksize=8))


if __name__ == "__main__":
    sys.exit(main())
