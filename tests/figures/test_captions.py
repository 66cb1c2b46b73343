"""Captions: every figure of every kind has one, of one line."""

from __future__ import annotations

import ast
import inspect
from importlib import import_module

import pytest

from kalos_core import fiftyone as kf
from kalos_core.figures.captions import CAPTIONS

LONGEST = 130


def named_figures(kind):
    """Names that a kind's `figures` gives its parts: keys of its dictionaries, and of the parts set later."""
    module = import_module(f"kalos_core.fiftyone.kinds.{kind}.figures")
    names = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Dict) and any(isinstance(value, ast.Call) for value in node.values):
            found = zip(node.keys, node.values, strict=True)
            names |= {
                key.value
                for key, value in found
                if isinstance(key, ast.Constant) and "Part" in ast.unparse(value) + "Part" * (key.value == "scatter")
            }
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = node.targets[0]
            if ast.unparse(target.value) == "parts" and isinstance(target.slice, ast.Constant):
                names.add(target.slice.value)
    return names


FOLDERS = (
    "agreement",
    "calibration",
    "convergence",
    "detectors",
    "image_labels",
    "noise",
    "pixels",
    "ranking",
    "resolved",
    "truth",
)


@pytest.mark.parametrize("kind", [*FOLDERS, "variations"])
def test_every_figure_of_every_kind_has_a_caption(kind):
    names = named_figures(kind) if kind != "calibration" else {"calibration"}
    assert names
    assert names <= set(CAPTIONS)


def test_no_kind_is_forgotten():
    assert len(kf.KINDS) == len(FOLDERS) + 1


@pytest.mark.parametrize("name", CAPTIONS)
def test_a_caption_is_one_line_to_read_and_names_its_formula(name):
    caption = CAPTIONS[name]
    assert "\n" not in caption.read
    assert 20 <= len(caption.read) <= LONGEST
    assert caption.read.endswith((".", "?"))
    assert any(mark in caption.formula for mark in ("0", "1")), "the range"
