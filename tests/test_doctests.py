"""Every example in the library's docstrings runs, and every public object has one."""

import doctest
import importlib
import inspect
import pkgutil
import warnings
from itertools import groupby

import numpy as np
import pytest

import kalos_core
from tests.tiers import extended

NAMES = ["kalos_core", *(found.name for found in pkgutil.walk_packages(kalos_core.__path__, "kalos_core."))]
MODULES = [name for name in NAMES if not name.startswith("kalos_core.fiftyone") and not name.endswith("__main__")]
PARTS = {part: list(names) for part, names in groupby(MODULES, lambda name: ".".join(name.split(".")[:2]))}
"""Package or module -> its modules."""
SLOW = ("kalos_core.noise",)

ANALYSES = ("calibration", "consensus", "convergence", "diagnostics", "noise", "nominal", "pixels", "ranking", "sparse")
DOORS = ("kalos_core", "kalos_core.variation", *(f"kalos_core.{name}" for name in ANALYSES))
"""Modules with functions and results for users; the others are for readers of files or extensions."""
INNER = {
    "Sample", "ThresholdAdvice", "once_each", "ClassSource", "Events", "FalsePositiveSource", "Provenance", "RawLabels",
    "build_table", "ContourMatch", "AnnotationVariations", "Cell", "Confused", "Confusions", "Finding",
    "Findings", "ImageReport", "MergedCells", "RaterCard", "rater_scorecards",
}  # fmt: skip
"""Parts of results, and results of readers: their examples are those of the objects that contain or create them."""


@pytest.mark.parametrize("part", [pytest.param(part, marks=extended) if part in SLOW else part for part in PARTS])
def test_every_example_runs(part, monkeypatch, tmp_path):
    reports: list[str] = []
    for name in PARTS[part]:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)  # for examples that write files
        for example in doctest.DocTestFinder().find(importlib.import_module(name), name):
            with warnings.catch_warnings(), np.printoptions():
                warnings.simplefilter("error")
                doctest.DocTestRunner(verbose=False).run(example, out=reports.append)
    assert not reports, "".join(reports)


def test_everything_public_has_an_example():
    finder = doctest.DocTestFinder(exclude_empty=True)
    missing = []
    for door in DOORS:
        module = importlib.import_module(door)
        for name in sorted(set(module.__all__) - INNER):
            thing = getattr(module, name)
            is_documented = inspect.isclass(thing) or inspect.isfunction(thing)
            if is_documented and not any(found.examples for found in finder.find(thing, name)):
                missing.append(f"{door}.{name}")
    assert missing == []
