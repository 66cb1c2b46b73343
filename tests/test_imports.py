"""Imports run down one list, and only the bridge knows FiftyOne."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

ORDER = [
    "errors",
    "arrays",
    "shapes",
    "annotations",
    "similarity",
    "pairs",
    "correspondence",
    "reliability",
    "resampling",
    "_agreement",
    "diagnostics",
    "calibration",
    "variation",
    "convergence",
    "sparse",
    "nominal",
    "pixels",
    "consensus",
    "ranking",
    "readers",
    "noise",
    "display",
    "figures",
    "report",
    "distributed",
    "fiftyone",
    "__main__",
]
"""The modules of `kalos_core`; each may import what stands before it."""

LIBRARY = sorted(path for path in (ROOT / "kalos_core").rglob("*.py") if path != ROOT / "kalos_core" / "__init__.py")
PLUGIN = sorted(path for folder in ("operators", "panels") for path in (ROOT / folder).rglob("*.py"))
PLUGIN_MAY_IMPORT = {"kalos_core", "kalos_core.fiftyone", "kalos_core.figures"}

each_module = pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.relative_to(ROOT).as_posix())
each_plugin_file = pytest.mark.parametrize("path", PLUGIN, ids=lambda path: path.relative_to(ROOT).as_posix())


def module_of(path: Path) -> list[str]:
    """The dotted name of a file, in parts; a package is named by its folder."""
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def imports(path: Path) -> set[str]:
    """Absolute names of all modules a file imports anywhere, also inside functions and for type checkers."""
    names = set()
    package = list(path.relative_to(ROOT).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *(node.module.split(".") if node.module else [])])
            names.add(module)
            names |= {f"{module}.{alias.name}" for alias in node.names if is_module(f"{module}.{alias.name}")}
    return names


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def of_library(path: Path) -> set[str]:
    """The modules of the library a file imports, by their place in `ORDER`."""
    return {name.split(".")[1] for name in imports(path) if name.startswith("kalos_core.")}


@each_module
def test_a_module_stands_in_the_list(path):
    assert module_of(path)[1] in ORDER


@each_module
def test_a_module_imports_only_what_stands_above_it(path):
    own = module_of(path)[1]
    above = ORDER[: ORDER.index(own) + 1]
    assert of_library(path) <= set(above)


@each_module
def test_the_library_never_imports_itself_as_a_whole(path):
    if module_of(path)[1] not in ("fiftyone", "__main__"):
        assert "kalos_core" not in imports(path)


@each_module
def test_only_the_bridge_imports_fiftyone(path):
    if module_of(path)[1] != "fiftyone":
        assert not {name for name in imports(path) if name.split(".")[0] == "fiftyone"}


@each_plugin_file
def test_the_plugin_imports_only_the_librarys_doors(path):
    used = {name for name in imports(path) if name.split(".")[0] == "kalos_core"}
    assert used <= PLUGIN_MAY_IMPORT


@each_plugin_file
def test_operators_and_panels_never_import_each_other(path):
    other = {"operators": "panels", "panels": "operators"}[path.relative_to(ROOT).parts[0]]
    assert not {name for name in imports(path) if name.split(".")[0] == other}


def test_nothing_is_imported_at_the_top_of_the_plugin():
    entry = ROOT / "__init__.py"
    if not entry.exists():
        pytest.skip("the plugin has no entry point yet")
    top = ast.parse(entry.read_text(encoding="utf-8")).body
    assert not [node for node in top if isinstance(node, (ast.Import, ast.ImportFrom))]


@pytest.fixture(scope="module")
def loaded_with_the_library():
    """Modules of a new Python that has imported the library."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", "import kalos_core, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    ).stdout.split()


@pytest.mark.parametrize("heavy", ["fiftyone", "plotly", "matplotlib", "pandas", "pycocotools", "dask", "krippendorff"])
def test_the_library_comes_without(heavy, loaded_with_the_library):
    assert "kalos_core" in loaded_with_the_library
    assert heavy not in {name.split(".")[0] for name in loaded_with_the_library}


def test_the_list_is_the_one_that_is_checked():
    # a module below may not be imported from above: the check itself is checked on a made-up case
    below = ROOT / "kalos_core" / "_agreement.py"
    assert "pairs" in of_library(below)
    assert "_agreement" not in of_library(ROOT / "kalos_core" / "pairs.py")
