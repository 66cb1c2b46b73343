"""`python -m benchmarks.reliability`: run unusual calls, damaged files, kills and concurrent actions.

It reports how often each held. `--write` only writes the page from stored results; a test compares them.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

TROUBLES = {
    "kill": "kills",
    "full": "full disks",
    "stays-full": "disks that stay full",
    "restart": "restarts of the database",
    "another": "actions of other users",
    "at-once": "simultaneous decisions",
}
"""Trouble of `tests.kills` -> its name on the page."""

FOLDER = "KALOS_RELIABILITY"
FOREIGN_PAGES = "pytest --all tests/browser/test_origins.py"

ROOT = Path(__file__).resolve().parents[1]
NOTED = ROOT / "benchmarks" / "results" / "reliability"
PAGE = ROOT / "docs" / "reliability.md"

HEAD = """# Reliability

This page reports robustness tests: their scope, the number of trials, and the number of trials that passed. The command
`python -m benchmarks.reliability` runs the fuzzer (`tests/fuzz`) and the kill tests (`tests/kills`), and writes the
results here. The same seed repeats the same calls.

- *Unusual calls* have random and invalid arguments; *damaged files* have random changes. A trial passes if the call
  returns, or raises an error of the library, within 20 s of CPU time.
- *Kills* end a process in the middle of a writing action, *full disks* and *restarts* of the database interrupt it, and
  *actions of other users* change the data set meanwhile. A trial passes if the raters' labels are unchanged, and
  nothing incomplete is left at the next use of the data set.
- *Simultaneous decisions* pass if each is stored exactly once, and the state of each unit follows from the latest one.
- A page of another web site sends *requests from other origins* to every operator and panel of a running App. They pass
  if nothing is written, deleted, renamed, loaded or decided.

"""

TAIL = """
*Building blocks* are internal array functions (shapes, similarities, sums of agreement) and methods of results. They
get arguments that the library creates. For them, these errors of Python and NumPy count as passed, too:

- `TypeError`, `ValueError`, `LookupError` and `AttributeError`;
- `OverflowError` and `MemoryError`, because a caller may ask building blocks for arrays of any size.

For everything else, neither `OverflowError` nor `MemoryError` counts as passed. Calls that do not end never do.
"""


@dataclass(frozen=True)
class Tried:
    """Kind of test, number of trials, and number of those that passed."""

    what: str
    of: str
    tried: int
    held: int
    repeat: str
    measured: str = ""

    def note(self, folder: Path) -> None:
        """Write the result, replacing the last one of the same kind."""
        folder.mkdir(parents=True, exist_ok=True)
        record = asdict(self) | {"measured": datetime.date.today().isoformat()}
        name = f"{self.what.replace(' ', '-')}.json"
        (folder / name).write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def note_if_asked(what: str, of: str, tried: int, repeat: str) -> None:
    """Write the result of a test, all trials of which held, if the environment variable `FOLDER` names a folder."""
    if os.environ.get(FOLDER):
        Tried(what, of, tried, tried, repeat).note(Path(os.environ[FOLDER]))


def read_all(folder: Path = NOTED) -> list[Tried]:
    """Read all results, by name."""
    return [Tried(**json.loads(file.read_text(encoding="utf-8"))) for file in sorted(folder.glob("*.json"))]


def page(noted: Iterable[Tried]) -> str:
    """Return the page of all results."""
    lines = ["| test | scope | trials | passed | command | date |", "|---|---|---|---|---|---|"]
    lines += [
        f"| {one.what} | {one.of} | {one.tried:,} | {one.held:,} | `{one.repeat}` | {one.measured} |" for one in noted
    ]
    return HEAD + "\n".join(lines) + "\n" + TAIL


def main() -> int:
    parser = argparse.ArgumentParser("python -m benchmarks.reliability", description="Run all robustness tests.")
    parser.add_argument("--write", action="store_true", help="only write the page from stored results")
    parser.add_argument(
        "--minutes", type=float, default=10, help="minutes of unusual calls and damaged files (default: 10)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the first calls (default: 0)")
    parser.add_argument("--most", type=int, help="maximum number of kills per act (default: at each of its steps)")
    options = parser.parse_args()
    failed = 0
    if not options.write:
        kills = ["tests.kills", *([] if options.most is None else ["--most", str(options.most)])]
        runs = [["tests.fuzz", "--minutes", str(options.minutes), "--seed", str(options.seed)]]
        runs += [[*kills, "--trouble", trouble] for trouble in TROUBLES]
        commands = [[*run, "--results", str(NOTED)] for run in runs]
        for command in [*commands, FOREIGN_PAGES.split()]:
            environment = {**os.environ, FOLDER: str(NOTED)}
            failed += subprocess.call([sys.executable, "-m", *command], cwd=ROOT, env=environment) != 0
    PAGE.write_text(page(read_all()), encoding="utf-8")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
