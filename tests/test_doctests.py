"""Every example in the library's docstrings runs, and everything public has one."""

import doctest
import importlib
import inspect
import pkgutil
import warnings

import numpy as np
import pytest

import kalos_core

MODULES = [
    "kalos_core",
    *(
        found.name
        for found in pkgutil.walk_packages(kalos_core.__path__, "kalos_core.")
        if not found.name.startswith("kalos_core.fiftyone") and not found.name.endswith("__main__")
    ),
]
ANALYSES = ("calibration", "consensus", "convergence", "diagnostics", "noise", "nominal", "pixels", "ranking", "sparse")
DOORS = ("kalos_core", "kalos_core.variation", *(f"kalos_core.{name}" for name in ANALYSES))
"""Where users find functions and results; the others are for who reads files or adds shapes and similarities."""
INNER = {
    "calibration": {"Sample", "ThresholdAdvice", "once_each"},
    "noise": {"ClassSource", "Events", "FalsePositiveSource", "Provenance"},
    "nominal": {"RawLabels", "build_table", "check_table"},
    "pixels": {"ContourMatch"},
    "variation": {
        "AnnotationVariations",
        "Cell",
        "Confused",
        "Confusions",
        "Finding",
        "Findings",
        "ImageReport",
        "MergedCells",
        "RaterCard",
        "rater_scorecards",
    },
}
"""Parts of results, and what readers of files call: their examples are those of what has or calls them."""


def public():
    """All functions and classes of the doors, by their full names."""
    found = {}
    for door in DOORS:
        module = importlib.import_module(door)
        for name in set(module.__all__) - INNER.get(door.rpartition(".")[2], set()):
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                found[f"{door}.{name}"] = thing
    return found


PUBLIC = public()


@pytest.mark.parametrize("name", MODULES)
def test_every_example_runs(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # an example that writes writes there
    module = importlib.import_module(name)
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(module, name):
        with warnings.catch_warnings(), np.printoptions():
            warnings.simplefilter("error")
            report: list[str] = []
            runner.run(example, out=report.append)
        assert not runner.failures, "".join(report)


def examples(thing):
    """Examples of a function, or of a class in its own docstring or in that of its methods."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [example for found in finder.find(thing, thing.__name__) for example in found.examples]


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_everything_public_has_an_example(name):
    assert inspect.getdoc(PUBLIC[name])
    assert examples(PUBLIC[name])


def test_the_public_names_are_sorted_and_exist():
    assert sorted(kalos_core.__all__) == sorted(set(kalos_core.__all__))
    assert all(hasattr(kalos_core, name) for name in kalos_core.__all__)
