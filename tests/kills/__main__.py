"""`python -m tests.kills`: kill every writing act at every step, and print a table of the outcomes."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

from benchmarks.reliability import Tried
from tests import fiftyone_environment  # before FiftyOne is imported

from tests.kills.acts import ACTS  # isort: skip
from tests.kills.processes import Place, import_all
from tests.kills.server import Server
from tests.kills.together import FIRST, OTHERS, Pair
from tests.kills.trial import Tally, Trial, everywhere, spread

NOTED_AS = {
    "kill": "kills",
    "full": "full disks",
    "stays-full": "disks that stay full",
    "restart": "databases that restart",
    "another": "actions of other users",
}
"""Trouble -> its name on the reliability page."""

Trouble = Callable[[int], tuple[str, list[str]]]


def _troubles(trial: Trial, name: str, server: Server) -> dict[str, Trouble]:
    """Return the kinds of trouble for an act, by their printed name."""
    if name == "another":
        return {f"{trial.act.name} + {other}": Pair(trial, other).at for other in OTHERS}
    full, stays_full = trial.full_at, partial(trial.full_at, stays=True)
    known = {"kill": trial.killed_at, "full": full, "stays-full": stays_full, "restart": trial.restarted_by(server)}
    return {trial.act.name: known[name]}


def _print(name: str, tally: Tally) -> None:
    ends = ", ".join(f"{word}: {count}" for word, count in sorted(tally.left.items()))
    print(f"| {name} | {tally.steps} | {sum(tally.left.values())} | {ends} |", flush=True)
    for line in tally.wrong:
        print(f"    {line}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="acts with these in their names")
    parser.add_argument("--most", type=int, help="at so many steps of an act, spread evenly")
    names = ["kill", "full", "stays-full", "restart", "another"]
    parser.add_argument("--trouble", choices=names, default="kill", help="what befalls them")
    parser.add_argument("--steps", action="store_true", help="list the steps")
    parser.add_argument("--results", type=Path, help="also note what held in this folder (see benchmarks.reliability)")
    options = parser.parse_args()
    acts = [act for act in ACTS if any(part in act.name for part in options.only)]
    folder, tallies = Path(tempfile.mkdtemp(prefix="kalos-kills-")), list[Tally]()
    import_all()
    server, known = Server(folder / "database"), {}
    place = Place(server.uri, "kills", folder / "files")
    try:
        print("| act | steps | tried | left after the next look |\n|---|---|---|---|", flush=True)
        for act in [act for act in acts if options.trouble != "another" or act.name in FIRST]:
            with closing(Trial(act, place, known)) as trial:
                if options.steps:
                    print("\n".join(f"{at} {label}" for at, label in enumerate(trial.steps)))
                for name, trouble in _troubles(trial, options.trouble, server).items():
                    tally = everywhere(trial, trouble, spread(len(trial.steps), options.most))
                    _print(name, tally)
                    tallies.append(tally)
    finally:
        server.kill()
        shutil.rmtree(folder)
        fiftyone_environment.tear_down()
    if options.results:
        _note(options, tallies)
    return sum(bool(tally.wrong) for tally in tallies)


def _note(options: argparse.Namespace, tallies: list[Tally]) -> None:
    tried, wrong = sum(tally.left.total() for tally in tallies), sum(len(tally.wrong) for tally in tallies)
    only = "" if options.only == [""] else f" --only {' '.join(options.only)}"
    most = "" if options.most is None else f" --most {options.most}"
    repeat = f"python -m tests.kills --trouble {options.trouble}{only}{most}"
    Tried(NOTED_AS[options.trouble], f"{len(tallies)} acts", tried, tried - wrong, repeat).note(options.results)


if __name__ == "__main__":
    raise SystemExit(main())
