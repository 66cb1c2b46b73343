"""Labels saved by `next_to_rate`: raters are withheld from scans and from generated raters, and given back by image.

`python -m benchmarks.rerating` prints a table. Each repeat begins with two random raters per image. One more rater is
then given back to a tenth of the images at a time, in the order of `next_to_rate` or at random, until all are used.
At some shares of the withheld labels, the two orders are compared by three numbers. Each is positive if chosen images
are better: how much narrower the interval is than with as many labels of random images; the share of labels saved for
that width; and how much closer the statistic is to that of all raters. For the first tenth, the table gives the share
of the promised narrowing that was reached.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.__main__ import FILE, ROOT, SCANS
from kalos_core import Agreement, Annotations, KalosWarning, NoiseModel, agreement, next_to_rate, read_coco
from kalos_core.diagnostics.rerating import INTERVALS, Statistic
from kalos_core.pairs import Pairs, compute_pairs
from kalos_core.readers import read_lidc

SHARES = (0.1, 0.25, 0.5)
"""Shares of the withheld labels at which the two orders are compared."""

FIRST, STEPS, BOOTSTRAP, SYNTHETIC = 2, 10, 1000, 4


@dataclass(frozen=True)
class Study:
    """Annotations of all raters, the withheld ones, and the statistic."""

    annotations: Annotations
    pairs: Pairs
    statistic: Statistic

    def among(self, there: NDArray[np.bool_]) -> Agreement:
        """Return the agreement of the raters who are present, (I, R)."""
        everybody, pairs = self.annotations, self.pairs
        kept = there[everybody.image, everybody.rater]
        row, both = np.cumsum(kept) - 1, kept[pairs.left] & kept[pairs.right]
        part = replace(everybody.select(rows=np.flatnonzero(kept)), assigned=there & everybody.assigned)
        left = replace(pairs.keep(both), left=row[pairs.left[both]], right=row[pairs.right[both]])
        return agreement(part, pairs.name, pairs.floor, bootstrap=BOOTSTRAP, pairs=left)

    def curve(self, order: NDArray[np.intp], seed: int, chosen: bool) -> NDArray[np.float64]:
        """Return (S, 3) labels given back, interval width and statistic per step; `order` (I, R) is of raters."""
        images, raters = order.shape
        counts = np.zeros(order.shape, np.intp)
        np.add.at(counts, (self.annotations.image, self.annotations.rater), 1)
        rng, rated, spent, rows = np.random.default_rng(seed), np.full(images, FIRST), 0, []
        positions = {image: at for at, image in enumerate(self.annotations.images.tolist())}
        while True:
            there = np.zeros(order.shape, np.bool_)
            there[np.arange(images)[:, None], order] = np.arange(raters) < rated[:, None]
            found = self.among(there)
            low, high = getattr(found, INTERVALS[self.statistic])
            rows.append((spent, high - low, getattr(found, self.statistic)))
            rest = rng.permutation(np.flatnonzero(rated < raters))
            if not len(rest):
                return np.array(rows)
            if chosen:
                best = next_to_rate(found, images, self.statistic).image.tolist()
                rank = np.full(images, images)
                rank[[positions[image] for image in best]] = np.arange(len(best))
                rest = rest[np.argsort(rank[rest], kind="stable")]
            given = rest[: images // STEPS]
            spent += counts[given, order[given, rated[given]]].sum()
            rated[given] += 1

    def repeat(self, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return (len(SHARES), 3) narrower, saved and nearer of a repeat; and (2,) for the first step, as `reached`."""
        images, raters = self.annotations.assigned.shape
        order = np.random.default_rng(seed).permuted(np.tile(np.arange(raters), (images, 1)), axis=1)
        ours, random = (self.curve(order, seed, chosen) for chosen in (True, False))
        everybody, rows = ours[-1], []
        narrowest = np.minimum.accumulate(random[:, 1])
        for labels in np.multiply(SHARES, everybody[0]):
            width, value = (np.interp(labels, ours[:, 0], ours[:, at]) for at in (1, 2))
            beside, other = (np.interp(labels, random[:, 0], random[:, at]) for at in (1, 2))
            needed = np.interp(-width, -narrowest, random[:, 0])  # narrower with more labels, so both ascend
            nearer = abs(other - everybody[2]) - abs(value - everybody[2])
            rows.append((beside - width, (needed - labels) / max(needed, labels), nearer))
        return np.array(rows), np.array([ours[0, 1] - ours[1, 1], self.promised(order)])

    def promised(self, order: NDArray[np.intp]) -> float:
        """Return the expected narrowing of the interval in the first step."""
        images, raters = order.shape
        there = np.zeros(order.shape, np.bool_)
        there[np.arange(images)[:, None], order] = np.arange(raters) < FIRST
        found = next_to_rate(self.among(there), images // STEPS, self.statistic)
        return found.width - found.expected_width


def mean_interval(values: NDArray[np.float64]) -> str:
    """Format a mean over repeats with its 95 % bootstrap interval."""
    rng = np.random.default_rng(0)
    means = rng.choice(values, (2000, len(values))).mean(axis=1)
    low, high = np.percentile(means, (2.5, 97.5))
    return f"{values.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.rerating", description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of the data")
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore", KalosWarning)
    scans, doubly = read_lidc(options.data / SCANS), read_coco(options.data / FILE)
    generated = NoiseModel.fit(doubly).generate(doubly.select(raters=doubly.raters[:1]), SYNTHETIC, 1.0, 0).annotations
    tables = {"LIDC, 4 sessions": (scans, "volume_iou"), f"LVIS, {SYNTHETIC} generated": (generated, "box_iou")}
    print("data | statistic | labels | narrower | labels saved for the same width | nearer to that of all raters")
    for name, (table, similarity) in tables.items():
        pairs = compute_pairs(table, similarity, floor=0.5)
        statistics: tuple[Statistic, ...] = ("global_alpha", "alpha")
        for statistic in statistics:
            study = Study(table, pairs, statistic)
            repeats = [study.repeat(seed) for seed in range(options.repeats)]
            found = np.array([rows for rows, _ in repeats])
            for at, share in enumerate(SHARES):
                cells = " | ".join(mean_interval(found[:, at, column]) for column in range(3))
                print(f"{name} | {statistic} | {share:.0%} | {cells}", flush=True)
            reached, promised = np.mean([step for _, step in repeats], axis=0)
            print(
                f"{name} | {statistic} | first tenth of the images | reached {reached:.4f} of {promised:.4f}",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
