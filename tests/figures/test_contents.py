"""The table of figures in the docstring and in docs/figures.md is that of the functions and of `Result.plot`."""

import inspect
import re
from pathlib import Path

from kalos_core import figures
from kalos_core.figures.plots import PLOTS

GUIDE = (Path(__file__).resolve().parents[2] / "docs" / "figures.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (.*?) \| (.*?) \| ?(.*?) ?\|$", GUIDE.partition("## Names")[0], flags=re.MULTILINE)[1:]
NAMES = re.findall(r"^\| `(\w+)` \((\w+)\) \| (.*) \|$", GUIDE.partition("## Names")[2], flags=re.MULTILINE)
PLOTTED = sorted(name for name in figures.__all__ if name.startswith("plot_"))


def test_every_figure_is_in_the_guide_and_the_docstring_with_what_it_is_drawn_from():
    assert [row[0] for row in ROWS] == [f"`{name}`" for name in PLOTTED]
    lines = {" | ".join(re.split(r" {2,}", line)) for line in figures.__doc__.splitlines() if line.startswith("`plot_")}
    assert lines == {" | ".join(part for part in row if part) for row in ROWS}
    for name, (_, taken, *_) in zip(PLOTTED, ROWS, strict=True):
        first = next(iter(inspect.signature(getattr(figures, name)).parameters.values())).annotation
        kinds = set(re.findall(r"[A-Z]\w+", first)) - {"Mapping", "Sequence", "SubsetSize"}
        assert taken.startswith("any") or kinds <= set(re.findall(r"[A-Z]\w+", taken)) | {"Replicates"}, name


def test_the_guide_names_the_figures_of_every_result():
    expected = {
        (kind.__name__, kind.__module__.split(".")[1].lstrip("_")): ", ".join(f"`{name}`" for name in plots)
        for kind, plots in PLOTS.items()
    }
    assert {(name, module): plots for name, module, plots in NAMES} == expected
