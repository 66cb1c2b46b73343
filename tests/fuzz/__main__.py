"""`python -m tests.fuzz --minutes 60`: calls with all kinds of arguments and files, for as long as there is time."""

from __future__ import annotations

import argparse
import os
import resource
import time
from tempfile import mkdtemp

from tests.fuzz.harness import search
from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--memory", type=float, default=6, help="GB that a call may need")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (int(options.memory * 1e9),) * 2)
    end, seed, tried, findings = time.monotonic() + 60 * options.minutes, options.seed, 0, set[str]()
    os.chdir(mkdtemp())  # some of them write
    while time.monotonic() < end:
        for name, target in TARGETS.items():
            if options.only in name and time.monotonic() < end:
                count, found = search(target, 40, seed)
                tried += count
                for place, shown in found.items():
                    if f"{name}: {place}" not in findings:
                        findings.add(f"{name}: {place}")
                        print(ascii(f"{name}: {place}: {shown}"), flush=True)
        seed += 1
    files = sum(name.startswith("a file of") for name in TARGETS)
    print(f"{tried:,} calls of {len(TARGETS) - files} functions, classes and methods and {files} readers")
    print(f"{len(findings)} findings, next seed {seed}")
    return bool(findings)


if __name__ == "__main__":
    raise SystemExit(main())
