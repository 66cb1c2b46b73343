"""The notebooks of the papers: every cell runs, and prints what is shown below it."""

import ast
import contextlib
import io
import json
from pathlib import Path

import plotly.graph_objects as go
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells_of(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run(cell, names):
    """Run a cell; what its last line is, as a notebook would show it."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_print_what_is_shown(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    names = {}
    for number, cell in enumerate(cells_of(path), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = run(cell, names)
        shown = "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")
        assert printed.getvalue().split() == shown.split(), f"{path.name}, cell {number}"
        kinds = [kind for out in cell["outputs"] for kind in out.get("data", {})]
        assert ("image/png" in kinds) == isinstance(value, go.Figure), f"{path.name}, cell {number}"


def test_every_notebook_is_listed_and_executed_whole():
    assert len(NOTEBOOKS) == 5
    listed = (FOLDER / "index.md").read_text(encoding="utf-8")
    for path in NOTEBOOKS:
        assert f"]({path.name})" in listed
        counts = [cell["execution_count"] for cell in cells_of(path)]
        assert counts == list(range(1, len(counts) + 1))
        assert path.stat().st_size < 500_000
