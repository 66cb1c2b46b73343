"""`python -m benchmarks`: measure, print tables, and never fail for being slow."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.tables import Table, environment

ROOT = Path(__file__).resolve().parents[1]
FILE = "lvis200.json"
SCANS = "lidc120.json.gz"
NAMES = (
    "agreement",
    "diagnostics",
    "calibration",
    "convergence",
    "generation",
    "noise",
    "experiments",
    "labels",
    "pixels",
    "volumes",
    "scaling",
    "memory",
    "bridge",
    "clicks",
)
ON_FIFTYONE = {"bridge", "clicks"}
"""These need no peer."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    names = [name for name in NAMES if name in options.names] or list(NAMES)
    path = options.data / FILE
    if not path.is_file():
        print(f"{path}: no such file; name the folder that holds {FILE} with --data or KALOS_DATA", file=sys.stderr)
        return 2
    if importlib.util.find_spec("kalos") is None and not ON_FIFTYONE.issuperset(names):
        print("the peer is not installed: pip install kalos==0.8.0 (`make bench` does it)", file=sys.stderr)
        return 2
    about = environment()
    print("  ".join(f"{name} {value}" for name, value in about.items()))
    print(f"median [least, greatest] of {options.repeats} rounds after a warm-up, ours and the other in turns")
    tables = []
    for table in _measure(names, path, options.repeats, options.large):
        print(f"\n{table}", flush=True)
        tables.append(table)
    if options.json:
        record = {"environment": about, "repeats": options.repeats, "tables": [table.record() for table in tables]}
        options.json.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure speed and memory against the peer.")
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], help="which benchmarks; by default all")
    parser.add_argument("--repeats", type=_at_least_one, default=5, help="rounds that count (default: 5)")
    folder = os.environ.get("KALOS_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(folder), help=f"folder that holds {FILE}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all figures to this file")
    parser.add_argument("--large", action="store_true", help="on FiftyOne: also data sets that take minutes")
    return parser


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {number}")
    return number


def _measure(names: list[str], path: Path, repeats: int, large: bool) -> Iterator[Table]:
    coco: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if not ON_FIFTYONE.issuperset(names):
        from benchmarks import agreement

        if "agreement" in names:
            _say("agreement against the peer")
            yield agreement.against_peer(coco, path.stem, repeats)
            yield agreement.reading(path, repeats)
        if "diagnostics" in names:
            from benchmarks import diagnostics

            _say("diagnostics")
            yield diagnostics.against_peer(coco, path.stem, repeats)
        if "calibration" in names:
            from benchmarks import calibration

            _say("calibration")
            yield calibration.against_peer(coco, path.stem, repeats)
        if "convergence" in names:
            from benchmarks import convergence

            _say("label convergence")
            yield convergence.against_coco(coco, path.stem, repeats)
            yield convergence.replicates(coco, path.stem, repeats)
            yield convergence.memory(coco, path.stem)
        if "generation" in names:
            from benchmarks import generation

            _say("generation of raters")
            yield generation.speed(coco, path.stem, repeats)
        if "noise" in names:
            from benchmarks import noise

            _say("fit of the noise model")
            yield noise.fit(coco, path.stem, repeats)
        if "experiments" in names:
            from benchmarks import noise

            _say("experiments on synthetic raters")
            yield noise.experiments(coco, path.stem)
        if "labels" in names:
            from benchmarks import labels

            _say("image-level labels")
            yield labels.against_krippendorff(repeats)
            yield from labels.many_categories(repeats)
        if "pixels" in names:
            from benchmarks import pixels

            _say("pixels")
            yield pixels.staple_against_itk(repeats)
            yield pixels.agreement_of_stacks(repeats)
        if "volumes" in names:
            from benchmarks import volumes

            _say("volumes")
            yield volumes.against_peer(path.with_name(SCANS))
        if "scaling" in names:
            _say("copies")
            yield from agreement.scaling(coco, path.stem, repeats)
        if "memory" in names:
            _say("memory")
            yield agreement.memory(coco, path.stem)
    if not ON_FIFTYONE.isdisjoint(names):
        from benchmarks import own_database

        with own_database.own_database():
            from benchmarks import bridge, clicks  # import FiftyOne, which reads its environment then

            if "bridge" in names:
                yield from bridge.all_tables(coco, path.stem, repeats, large, _say)
            if "clicks" in names:
                yield from clicks.all_tables(repeats, large, _say)


def _say(line: str) -> None:
    print(f"... {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
