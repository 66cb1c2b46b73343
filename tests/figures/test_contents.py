"""The table of figures in the docstring and in docs/figures.md is that of the functions and of `Result.plot`."""

import inspect
import re
from pathlib import Path

import pytest

from kalos_core import figures
from kalos_core.figures.plots import PLOTS

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*?) \| (.*?) \| ?(.*?) ?\|$", GUIDE.partition("## Names")[0], flags=re.MULTILINE)[1:]
NAMES = re.findall(r"^\| `(\w+)` \((\w+)\) \| (.*) \|$", GUIDE.partition("## Names")[2], flags=re.MULTILINE)
PLOTTED = sorted(name for name in figures.__all__ if name.startswith("plot_"))


def test_every_figure_is_in_the_guide():
    assert [row[0] for row in ROWS] == [f"`{name}`" for name in PLOTTED]


def test_the_docstring_has_the_table_of_the_guide():
    lines = {" | ".join(re.split(r" {2,}", line)) for line in figures.__doc__.splitlines() if line.startswith("`plot_")}
    assert lines == {" | ".join(part for part in row if part) for row in ROWS}


@pytest.mark.parametrize("name", PLOTTED)
def test_the_guide_says_what_a_figure_is_drawn_from(name):
    first = next(iter(inspect.signature(getattr(figures, name)).parameters.values())).annotation
    (taken,) = (row[1] for row in ROWS if row[0] == f"`{name}`")
    if not taken.startswith("any"):
        kinds = [kind for kind in re.findall(r"[A-Z]\w+", first) if kind not in ("Mapping", "Sequence", "SubsetSize")]
        assert set(kinds) <= set(re.findall(r"[A-Z]\w+", taken)) | {"Replicates"}


def test_the_guide_names_the_figures_of_every_result():
    expected = {
        (kind.__name__, kind.__module__.split(".")[1].lstrip("_")): ", ".join(f"`{name}`" for name in plots)
        for kind, plots in PLOTS.items()
    }
    assert {(name, module): plots for name, module, plots in NAMES} == expected
