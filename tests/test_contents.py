"""The docstring of a public package is its table of contents: every public name occurs in it."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import kalos_core

PACKAGES = (
    "annotations", "calibration", "consensus", "convergence", "correspondence", "diagnostics", "distributed", "drawing",
    "figures", "noise", "noise.experiments", "noise.sources", "nominal", "pixels", "ranking", "readers", "shapes",
    "similarity", "sparse", "variation",
)  # fmt: skip


@pytest.mark.parametrize("name", PACKAGES)
def test_every_public_name_is_in_the_contents(name):
    package = importlib.import_module(f"kalos_core.{name}")
    assert set(package.__all__) - set(re.findall(r"`([\w.]+)`", package.__doc__)) == set()


def test_every_public_name_of_the_bridge_is_in_its_contents():
    path = Path(kalos_core.__file__).parent / "fiftyone" / "__init__.py"
    module = ast.parse(path.read_text())
    names = {name.asname for node in module.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert names - {None} - set(re.findall(r"`([\w.]+)`", ast.get_docstring(module))) == set()
