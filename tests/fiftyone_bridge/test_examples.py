"""Every example in the docstrings of the bridge runs."""

import doctest
import importlib
import pkgutil
from itertools import groupby

import pytest

import kalos_core.fiftyone as kf
from tests.tiers import extended

MODULES = [found.name for found in pkgutil.walk_packages(kf.__path__, "kalos_core.fiftyone.")]
PARTS = {part: list(names) for part, names in groupby(MODULES, lambda name: name.split(".")[2])}
"""Package or module -> its modules."""
SLOW = {"analyses", "kinds"}
"""Parts whose examples compute whole runs, as their tests do."""


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
@pytest.mark.parametrize("part", [pytest.param(part, marks=extended if part in SLOW else ()) for part in PARTS])
def test_every_example_runs(part, monkeypatch, tmp_path):
    report: list[str] = []
    for name in PARTS[part]:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)  # for examples that write files
        for example in doctest.DocTestFinder().find(importlib.import_module(name), name):
            doctest.DocTestRunner(verbose=False).run(example, out=report.append)
    assert not report, "".join(report)
