"""`python -m benchmarks`: run benchmarks and print tables; slow results are not failures."""

from __future__ import annotations

import argparse
import datetime
import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.tables import Table, environment

ROOT = Path(__file__).resolve().parents[1]
FILE = "lvis200.json"
SCANS = "lidc120.json.gz"
ON_FIFTYONE = {"bridge", "clicks", "load", "panels"}
"""Benchmarks that need a database."""

WITHOUT_PEER = {*ON_FIFTYONE, "readers"}


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    names = [name for name in BENCHMARKS if name in options.names] or list(BENCHMARKS)
    path = options.data / FILE
    if not path.is_file():
        print(f"{path}: no such file; name the folder that holds {FILE} with --data or KALOS_DATA", file=sys.stderr)
        return 2
    if importlib.util.find_spec("kalos") is None and not WITHOUT_PEER.issuperset(names):
        print("the peer is not installed: pip install kalos==0.8.0 (`make bench` does it)", file=sys.stderr)
        return 2
    about = environment()
    print("  ".join(f"{name} {value}" for name, value in about.items()))
    print(f"median [least, greatest] of {options.repeats} rounds after a warm-up, ours and the other in turns")
    measured: dict[str, list[Table]] = {name: [] for name in names}
    for name, table in _measure(names, Asked(path, options.repeats, options.large)):
        print(f"\n{table}", flush=True)
        measured[name].append(table)
        if options.results:
            options.results.mkdir(parents=True, exist_ok=True)
            write_results(options.results / f"{name}.json", measured[name], about, options.repeats)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Measure speed and memory against the peer.")
    parser.add_argument("names", nargs="*", choices=[[], *BENCHMARKS], help="benchmarks to run; all by default")
    parser.add_argument("--repeats", type=_at_least_one, default=5, help="rounds to measure (default: 5)")
    folder = os.environ.get("KALOS_DATA") or ROOT.parent / "shared" / "data"
    parser.add_argument("--data", type=Path, default=Path(folder), help=f"folder that holds {FILE}")
    parser.add_argument(
        "--results",
        type=Path,
        metavar="FOLDER",
        help="also write all numbers, one file per benchmark (see benchmarks.page)",
    )
    parser.add_argument("--large", action="store_true", help="for FiftyOne, also use data sets that take minutes")
    return parser


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {number}")
    return number


@dataclass(frozen=True)
class Asked:
    """Input of the benchmarks, and number of rounds."""

    path: Path
    repeats: int
    large: bool

    @cached_property
    def coco(self) -> dict[str, Any]:
        """Content of the file."""
        content: dict[str, Any] = json.loads(self.path.read_text(encoding="utf-8"))
        return content


def _on_file(said: str, module: str, *names: str) -> Callable[[Asked], Iterator[Table]]:
    """Return a function that yields the tables of a module's functions, measured on the annotations of a file."""

    def tables(asked: Asked) -> Iterator[Table]:
        found = import_module(f"benchmarks.{module}")
        _say(said)
        for name in names:
            yield getattr(found, name)(asked.coco, asked.path.stem, asked.repeats)

    return tables


def _agreement(asked: Asked) -> Iterator[Table]:
    from benchmarks import agreement

    yield from _on_file("agreement against the peer", "agreement", "against_peer")(asked)
    yield agreement.reading(asked.path, asked.repeats)


def _convergence(asked: Asked) -> Iterator[Table]:
    from benchmarks import convergence

    yield from _on_file("label convergence", "convergence", "against_coco", "replicates")(asked)
    yield convergence.memory(asked.coco, asked.path.stem)


def _experiments(asked: Asked) -> Iterator[Table]:
    from benchmarks import noise

    _say("experiments on synthetic raters")
    yield noise.experiments(asked.coco, asked.path.stem)


def _labels(asked: Asked) -> Iterator[Table]:
    from benchmarks import labels

    _say("image-level labels")
    yield labels.against_krippendorff(asked.repeats)
    yield from labels.grades(asked.repeats)
    yield from labels.many_categories(asked.repeats)
    yield from labels.label_tables(asked.repeats)
    yield from labels.dawid_skene_of_a_crowd(asked.repeats)
    yield labels.skill_on_objects(asked.repeats)


def _pixels(asked: Asked) -> Iterator[Table]:
    from benchmarks import pixels

    _say("pixels")
    yield pixels.staple_against_itk(asked.repeats)
    yield pixels.boundaries_against_itk(asked.repeats)
    yield pixels.agreement_of_stacks(asked.repeats)


def _volumes(asked: Asked) -> Iterator[Table]:
    from benchmarks import volumes

    _say("volumes")
    yield volumes.against_peer(asked.path.with_name(SCANS), asked.repeats)


def _scaling(asked: Asked) -> Iterator[Table]:
    from benchmarks import agreement

    _say("copies")
    yield from agreement.scaling(asked.coco, asked.path.stem, asked.repeats)


def _memory(asked: Asked) -> Iterator[Table]:
    from benchmarks import agreement

    _say("memory")
    yield agreement.memory(asked.coco, asked.path.stem)


def _cliffs(asked: Asked) -> Iterator[Table]:
    from benchmarks import cliffs

    _say("annotations on one another, many raters, many thresholds")
    yield cliffs.identical(asked.repeats)
    yield cliffs.many_raters(asked.repeats)
    yield cliffs.vitality(asked.repeats)
    yield cliffs.counts_of_findings(asked.coco, asked.path.stem, asked.repeats)


def _growth(asked: Asked) -> Iterator[Table]:
    from benchmarks import growth

    _say("growth: takes minutes")
    yield growth.of_images(asked.repeats)


def _readers(asked: Asked) -> Iterator[Table]:
    from benchmarks import readers

    _say("readers")
    yield from readers.of_readers(asked.repeats)


def _bridge(asked: Asked) -> Iterator[Table]:
    from benchmarks import bridge  # imports FiftyOne, which then reads its environment

    yield from bridge.all_tables(asked.coco, asked.path.stem, asked.repeats, asked.large, _say)


def _clicks(asked: Asked) -> Iterator[Table]:
    from benchmarks import clicks  # imports FiftyOne, too

    yield from clicks.all_tables(asked.repeats, asked.large, _say)


def _panels(asked: Asked) -> Iterator[Table]:
    from benchmarks import panels  # imports FiftyOne, too

    yield from panels.all_tables(asked.repeats, asked.large, _say)


def _load(asked: Asked) -> Iterator[Table]:  # noqa: ARG001 - one round takes minutes
    from benchmarks import load  # imports FiftyOne, too

    yield from load.all_tables(_say)


BENCHMARKS: dict[str, Callable[[Asked], Iterator[Table]]] = {
    "agreement": _agreement,
    "diagnostics": _on_file("diagnostics", "diagnostics", "against_peer"),
    "calibration": _on_file("calibration", "calibration", "against_peer"),
    "convergence": _convergence,
    "generation": _on_file("generation of raters", "generation", "speed"),
    "noise": _on_file("fit of the noise model", "noise", "fit"),
    "experiments": _experiments,
    "labels": _labels,
    "pixels": _pixels,
    "volumes": _volumes,
    "scaling": _scaling,
    "memory": _memory,
    "cliffs": _cliffs,
    "growth": _growth,
    "readers": _readers,
    "bridge": _bridge,
    "clicks": _clicks,
    "load": _load,
    "panels": _panels,
}
"""Name -> function that measures and yields tables; modules are imported only when needed."""


def _measure(names: Sequence[str], asked: Asked) -> Iterator[tuple[str, Table]]:
    for name in names:
        if name not in ON_FIFTYONE:
            yield from ((name, table) for table in BENCHMARKS[name](asked))
    on_fiftyone = [name for name in names if name in ON_FIFTYONE]
    if on_fiftyone:
        from benchmarks import own_database

        with own_database.own_database():
            for name in on_fiftyone:
                yield from ((name, table) for table in BENCHMARKS[name](asked))


def write_results(file: Path, tables: Sequence[Table], about: dict[str, str], repeats: int) -> None:
    """Write all numbers of a benchmark, with date and environment."""
    record = {
        "measured": datetime.date.today().isoformat(),
        "environment": about,
        "rounds": repeats,
        "tables": [table.record() for table in tables],
    }
    file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _say(line: str) -> None:
    print(f"... {line}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
