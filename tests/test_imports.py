"""Rules for all files: imports follow one order, only the bridge uses FiftyOne, only one module escapes text."""

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

ORDER = [
    "names", "version", "errors", "extras", "arguments", "limits", "options", "sharding", "files", "arrays", "display",
    "text", "results", "shapes", "annotations", "similarity", "pairs", "correspondence", "chance", "reliability",
    "inference", "resampling", "_agreement", "calibration", "diagnostics", "variation", "convergence", "sparse",
    "nominal", "pixels", "consensus", "decisions", "statements", "ranking", "readers", "distributed", "noise",
    "drawing", "figures", "report", "fiftyone", "cli", "__main__",
]  # fmt: skip
"""Modules of `kalos_core`; each may import those before it."""

PLUGIN_MAY_IMPORT = {
    "_agreement", "arguments", "calibration", "convergence", "correspondence", "decisions", "diagnostics", "display",
    "drawing", "errors", "fiftyone", "figures", "files", "inference", "nominal", "options", "readers", "report",
    "results", "statements", "text", "variation",
}  # fmt: skip
"""Modules of `kalos_core` with texts, checks, names, files, results and the bridge; the plugin does not compute."""

HEAVY = [
    "PIL", "dask", "fiftyone", "kalos_core.cli", "kalos_core.figures", "krippendorff", "matplotlib", "pandas", "plotly",
    "pycocotools", "scipy.linalg", "scipy.ndimage", "scipy.optimize", "scipy.sparse", "scipy.spatial", "scipy.special",
    "scipy.stats", "skimage", "sklearn", "tqdm", "yaml",
]  # fmt: skip
"""Modules that importing the library does not load."""

ESCAPING = {"html", "xml.sax.saxutils", "markupsafe", "bleach", "cgi"}
"""Modules for escaping."""
MAY_ESCAPE = {"kalos_core.report.pages": {"imports markupsafe"}}
"""The template of pages escapes everything itself; `Markup` is for plotly's script."""
WRITING = {"to_csv", "to_markdown", "to_latex", "to_excel", "writer", "DictWriter"}
"""Calls that write a table; use `write_csv` instead."""
HIDDEN = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|&(lt|gt|amp|quot|#[0-9]+);")

MESSAGES = {
    "clear_view", "open_sample", "reload_dataset", "set_selected_labels", "set_selected_samples", "set_spaces",
    "set_view", "show_samples",
}  # fmt: skip
"""Operations of the App that carry views, samples, labels or spaces."""


# ---- imports of a file ----


def module_of(path: Path) -> str:
    """Return the dotted name of a file; a package has the name of its folder."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FOLDERS = ("kalos_core", "operators", "panels", "demo", "benchmarks")
FILES = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]
MODULES = {module_of(path): path for path in FILES}
LIBRARY = [path for name, path in MODULES.items() if name.startswith("kalos_core.")]
OPERATORS, PANELS = ([MODULES[name] for name in MODULES if name.startswith(own)] for own in ("operators", "panels"))


@cache
def tree_of(path: Path) -> ast.Module:
    """Parse a file; cached for several tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def statements_of(tree: ast.AST, type_only: bool) -> Iterator[ast.AST]:
    """Yield all statements below a node; without `type_only`, those for type checkers only are left out."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if not type_only and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
        else:
            inside = ast.iter_child_nodes(node)
            waiting += (one for one in inside if isinstance(one, (ast.stmt, ast.excepthandler, ast.match_case)))


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@cache
def imports(path: Path, type_only: bool = True, inside: bool = True) -> frozenset[str]:
    """Return absolute names of the modules that a file imports, by default also inside functions.

    `from package import name` imports the submodule of that name if it exists, otherwise the package. The import of
    packages by their submodules does not count.
    """
    names: set[str] = set()
    package = list(path.relative_to(ROOT).parts[:-1])
    tree = tree_of(path)
    for node in statements_of(tree, type_only) if inside else tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            members = [f"{module}.{alias.name}" for alias in node.names]
            names |= {member if is_module(member) else module for member in members}
    return frozenset(names)


def place_of(path: Path) -> str:
    """Return the name in `ORDER` of the module of a file."""
    return module_of(path).split(".")[1]


def within(names: Iterable[str], *packages: str) -> set[str]:
    """Return the names that are modules of some packages."""
    return {name for name in names if name.split(".")[0] in packages}


# ---- the rules ----


def rooms_of(path: Path) -> set[str]:
    """Return the modules of the library that a file imports."""
    return {name.split(".")[1] for name in imports(path) if name.startswith("kalos_core.")}


def below_its_place(path: Path) -> set[str]:
    return rooms_of(path) - set(ORDER[: ORDER.index(place_of(path)) + 1])


def drawing(path: Path) -> set[str]:
    """Return modules named in the table of kinds of runs that a file imports at its top; plots must load lazily."""
    top = imports(path, inside=False)
    return within(top, "plotly") | {name for name in within(top, "kalos_core") if "figures" in name.split(".")}


def own_escapes(path: Path) -> set[str]:
    """Return how a file escapes text itself: by imports, by writing tables, or by references or direction marks."""
    found = {f"imports {module}" for module in imports(path) & ESCAPING}
    nodes = list(ast.walk(tree_of(path)))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            called = node.func.attr
            escapes = called == "to_html" and [ast.unparse(entry) for entry in node.keywords].count("escape=True")
            if called in WRITING or (called == "to_html" and not escapes):
                found.add(f"calls {called}")
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings
        if is_text and HIDDEN.search(node.value):
            found.add(f"spells {node.value!r}")
    return found - MAY_ESCAPE.get(module_of(path), set())


def own_messages(path: Path) -> set[str]:
    """Return the operations in `MESSAGES` that a file sends to the App itself."""
    if "ctx.ops" not in path.read_text(encoding="utf-8"):
        return set()
    calls = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    return MESSAGES & {
        func.attr for func in calls if isinstance(func, ast.Attribute) and ast.unparse(func.value) == "ctx.ops"
    }


HOUSE = [*LIBRARY, *OPERATORS, *PANELS]
INNER = [path for path in LIBRARY if place_of(path) not in ("fiftyone", "cli", "__main__")]
CORE = [path for path in LIBRARY if place_of(path) != "fiftyone"]
UNDRAWN = [path for path in LIBRARY if "figures" not in module_of(path).split(".")]
RULES: dict[str, tuple[list[Path], Callable[[Path], Collection[str]]]] = {
    "a module imports only what stands above it": (LIBRARY, below_its_place),
    "the library never imports itself as a whole": (INNER, lambda path: {"kalos_core"} & imports(path)),
    "only the bridge imports FiftyOne": (CORE, lambda path: within(imports(path), "fiftyone")),
    "only figures import plotly at the top": (UNDRAWN, drawing),
    "the plugin imports only the doors of the library": (
        [*OPERATORS, *PANELS],
        lambda path: rooms_of(path) - PLUGIN_MAY_IMPORT,
    ),
    "operators never import panels": (OPERATORS, lambda path: within(imports(path), "panels")),
    "panels never import operators": (PANELS, lambda path: within(imports(path), "operators")),
    "only one module escapes": ([path for path in HOUSE if module_of(path) != "kalos_core.text"], own_escapes),
    "only one module sends views, samples, labels and spaces": (
        [path for path in HOUSE if module_of(path) != "kalos_core.fiftyone.app"],
        own_messages,
    ),
    "the plugin's entry imports nothing at its top": ([ROOT / "__init__.py"], lambda path: imports(path, inside=False)),
}


@pytest.mark.parametrize("rule", RULES)
def test_every_file_keeps_the_rule(rule: str) -> None:
    paths, forbidden = RULES[rule]
    assert paths
    assert {module_of(path): found for path in paths if (found := forbidden(path))} == {}


def test_the_modules_that_may_are_seen() -> None:
    assert own_messages(MODULES["kalos_core.fiftyone.app"])
    assert own_escapes(MODULES["kalos_core.text"])


def test_the_list_names_every_module() -> None:
    assert {place_of(path) for path in LIBRARY} == set(ORDER)


def test_nothing_is_imported_in_a_circle() -> None:
    found = {name: imports(path, type_only=False) & MODULES.keys() - {name} for name, path in MODULES.items()}
    TopologicalSorter(found).prepare()  # otherwise a CycleError names the modules


def test_no_module_hides_behind_a_name_of_its_package() -> None:
    names = [module_of(path) for path in CORE if path.stem != "__main__"]
    known = {name: import_module(name) for name in ["kalos_core", *names]}
    assert [
        name for name in names if not ismodule(getattr(known[name.rpartition(".")[0]], name.rpartition(".")[2]))
    ] == []


def test_the_library_imports_no_heavy_packages() -> None:
    code = "import kalos_core, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, check=True, cwd=ROOT)
    loaded = ran.stdout.decode().split()
    assert "kalos_core" in loaded
    assert set(HEAVY) & set(loaded) == set()
