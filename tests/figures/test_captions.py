"""Captions: every plot of every kind has one."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module
from pathlib import Path

from kalos_core import fiftyone as kf
from kalos_core.figures.captions import CAPTIONS


def named_figures(module):
    """Return the names of plots in a kind's `figures`: keys of its dictionaries, and of parts set later."""
    names = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Dict) and any(isinstance(value, ast.Call) for value in node.values):
            found = {
                key.value: value for key, value in zip(node.keys, node.values, strict=True) if hasattr(key, "value")
            }
            names |= {key for key, value in found.items() if key == "scatter" or "Part" in ast.unparse(value)}
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if ast.unparse(target.value) == "parts" and isinstance(target.slice, ast.Constant):
                names.add(target.slice.value)
    return names


def test_every_figure_of_every_kind_has_a_caption():
    folder = Path(inspect.getfile(kf.kinds)).parent
    kinds = sorted(path.parent.name for path in folder.glob("*/figures.py"))
    assert len(kinds) == len(kf.KINDS)
    for kind in kinds:
        names = named_figures(import_module(f"kalos_core.fiftyone.kinds.{kind}.figures"))
        assert names or kind == "calibration", kind
        assert names <= set(CAPTIONS), kind
    assert "calibration" in CAPTIONS
