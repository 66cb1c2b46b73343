"""`python -m tests.kills`: every act that writes, killed at every step; a table of what was left."""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path

from tests import fiftyone_environment  # before FiftyOne is imported

from tests.kills.acts import ACTS, Act  # isort: skip
from tests.kills.processes import Place, import_all
from tests.kills.server import Server
from tests.kills.together import FIRST, OTHERS, Pair
from tests.kills.trial import Tally, Trial, everywhere, spread


def _alone(trial: Trial, trouble: str, server: Server, most: int | None) -> bool:
    """Trouble at steps of an act; whether anything went wrong."""
    troubles = {
        "kill": trial.killed_at,
        "full": trial.full_at,
        "stays-full": partial(trial.full_at, stays=True),
        "restart": trial.restarted_by(server),
    }
    tally = everywhere(trial, troubles[trouble], spread(len(trial.steps), most))
    _print(trial.act.name, tally)
    return bool(tally.wrong)


def _print(name: str, tally: Tally) -> None:
    ends = ", ".join(f"{word}: {count}" for word, count in sorted(tally.left.items()))
    print(f"| {name} | {tally.steps} | {sum(tally.left.values())} | {ends} |", flush=True)
    for line in tally.wrong:
        print(f"    {line}", flush=True)


def _with_others(trial: Trial, most: int | None) -> int:
    """Somebody else's acts at steps of one; how many of them went wrong."""
    failed = 0
    for other in OTHERS:
        tally = everywhere(trial, Pair(trial, other).at, spread(len(trial.steps), most))
        _print(f"{trial.act.name} + {other}", tally)
        failed += bool(tally.wrong)
    return failed


def _chosen(names: list[str], trouble: str) -> Iterable[Act]:
    """Acts in the order of their names: that of a name, or those with it in theirs."""
    there = [act for act in ACTS if trouble != "another" or act.name in FIRST]
    of_name = {name: [act for act in there if act.name == name] for name in names}
    return dict.fromkeys(
        act for name in names for act in of_name[name] or [found for found in there if name in found.name]
    )


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("--only", nargs="+", default=[""], help="acts of these names, or with these in it")
    parser.add_argument("--most", type=int, help="at so many steps of an act, spread evenly")
    parser.add_argument(
        "--trouble",
        choices=["kill", "full", "stays-full", "restart", "another"],
        default="kill",
        help="what befalls them",
    )
    parser.add_argument("--steps", action="store_true", help="list the steps")
    options = parser.parse_args()
    folder, failed = Path(tempfile.mkdtemp(prefix="kalos-kills-")), 0
    import_all()
    server = Server(folder / "database")
    try:
        print("| act | steps | tried | left after the next look |\n|---|---|---|---|", flush=True)
        for number, act in enumerate(_chosen(options.only, options.trouble)):
            own = folder / str(number)
            own.mkdir()
            with closing(Trial(act, Place(server.uri, "kills", own))) as trial:
                if options.steps:
                    print("\n".join(f"{at} {label}" for at, label in enumerate(trial.steps)))
                if options.trouble == "another":
                    failed += _with_others(trial, options.most)
                else:
                    failed += _alone(trial, options.trouble, server, options.most)
    finally:
        server.kill()
        shutil.rmtree(folder)
        fiftyone_environment.tear_down()
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
