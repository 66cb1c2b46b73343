"""Every example in the docstrings of the bridge runs."""

import doctest
import importlib
import pkgutil

import pytest

import kalos_core.fiftyone as kf

MODULES = [found.name for found in pkgutil.walk_packages(kf.__path__, "kalos_core.fiftyone.")]


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
@pytest.mark.parametrize("name", MODULES)
def test_every_example_runs(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.chdir(str(tmp_path))
    runner = doctest.DocTestRunner()
    report: list[str] = []
    for example in doctest.DocTestFinder().find(importlib.import_module(name), name):
        runner.run(example, out=report.append)
    assert not runner.failures, "".join(report)
