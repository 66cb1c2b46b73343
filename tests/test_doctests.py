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
PUBLIC = [
    name
    for name in kalos_core.__all__
    if inspect.isclass(getattr(kalos_core, name)) or inspect.isfunction(getattr(kalos_core, name))
]


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


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_has_an_example(name):
    assert inspect.getdoc(getattr(kalos_core, name))
    assert examples(getattr(kalos_core, name))


def test_the_public_names_are_sorted_and_exist():
    assert sorted(kalos_core.__all__) == sorted(set(kalos_core.__all__))
    assert all(hasattr(kalos_core, name) for name in kalos_core.__all__)
