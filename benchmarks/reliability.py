"""`python -m benchmarks.reliability`: odd calls, broken files, kills and acts at once, and the page of what held.

`--write` only makes the page anew from what was noted last; a test compares them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTED = ROOT / "benchmarks" / "results" / "reliability"
PAGE = ROOT / "docs" / "reliability.md"

HEAD = """# Reliability

What was tried against the library, how often, and how often it held, as `python -m benchmarks.reliability` noted it.
The command runs the fuzzer (`tests/fuzz`) and the kills (`tests/kills`); the same seed repeats the same calls. A call
holds if it answers, or refuses with an error of the library, within 20 s of the processor. A kill holds if the labels
of the raters are as they were, and nothing half done is left after the next look at the data set.

"""

TAIL = """
Building blocks of arrays (shapes, similarities, sums of agreement) and methods of results take their arguments as the
library makes them. There a `TypeError`, `ValueError`, `LookupError` or `AttributeError` of Python or NumPy counts as
held, too; the second column says for how many. Lack of memory and calls that do not end never do.
"""


@dataclass(frozen=True)
class Tried:
    """What was tried, how often, and how often it held."""

    what: str
    of: str
    tried: int
    held: int
    repeat: str
    measured: str = ""

    def note(self, folder: Path) -> None:
        """Write it down, in place of what was noted of the same before."""
        folder.mkdir(parents=True, exist_ok=True)
        record = asdict(self) | {"measured": datetime.date.today().isoformat()}
        name = f"{self.what.replace(' ', '-')}.json"
        (folder / name).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_all(folder: Path = NOTED) -> list[Tried]:
    """All that was noted, by name."""
    return [Tried(**json.loads(file.read_text(encoding="utf-8"))) for file in sorted(folder.glob("*.json"))]


def page(noted: Iterable[Tried]) -> str:
    """The page of all that was tried."""
    lines = ["| tried | of | how often | held | repeat | date |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {one.what} | {one.of} | {one.tried:,} | {one.held:,} | `{one.repeat}` | {one.measured} |" for one in noted
    ]
    return HEAD + "\n".join(lines) + "\n" + TAIL


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.reliability", description="Try everything, note what held.")
    parser.add_argument("--write", action="store_true", help="only make the page from what was noted")
    parser.add_argument("--minutes", type=float, default=10, help="of odd calls and broken files (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the first calls (default: 0)")
    parser.add_argument("--most", type=int, help="kills of an act (default: at each of its steps)")
    options = parser.parse_args()
    failed = 0
    if not options.write:
        kills = ["tests.kills", *([] if options.most is None else ["--most", str(options.most)])]
        runs = [["tests.fuzz", "--minutes", str(options.minutes), "--seed", str(options.seed)]]
        runs += [[*kills, "--trouble", trouble] for trouble in ("kill", "full", "restart", "another")]
        for run in runs:
            failed += subprocess.call([sys.executable, "-m", *run, "--results", str(NOTED)], cwd=ROOT) != 0
    PAGE.write_text(page(read_all()), encoding="utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
