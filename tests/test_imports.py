"""Imports run down one list and never in a circle, no module hides, and only the bridge knows FiftyOne."""

import ast
import subprocess
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]

ORDER = [
    "errors",
    "arguments",
    "limits",
    "files",
    "arrays",
    "display",
    "text",
    "results",
    "shapes",
    "annotations",
    "similarity",
    "pairs",
    "correspondence",
    "reliability",
    "resampling",
    "_agreement",
    "calibration",
    "diagnostics",
    "variation",
    "convergence",
    "sparse",
    "nominal",
    "pixels",
    "consensus",
    "decisions",
    "statements",
    "ranking",
    "readers",
    "distributed",
    "noise",
    "drawing",
    "figures",
    "report",
    "fiftyone",
    "cli",
    "__main__",
]
"""The modules of `kalos_core`; each may import those above it."""

LIBRARY = sorted(path for path in (ROOT / "kalos_core").rglob("*.py") if path != ROOT / "kalos_core" / "__init__.py")
PLUGIN = sorted(path for folder in ("operators", "panels") for path in (ROOT / folder).rglob("*.py"))
PLUGIN_MAY_IMPORT = {
    "kalos_core",
    "kalos_core.convergence",
    "kalos_core.diagnostics",
    "kalos_core.display",
    "kalos_core.drawing",
    "kalos_core.fiftyone",
    "kalos_core.fiftyone.internals",
    "kalos_core.figures",
    "kalos_core.nominal",
    "kalos_core.report",
    "kalos_core.text",
    "kalos_core.variation",
}
FOLDERS = ("kalos_core", "operators", "panels", "demo", "benchmarks")


# ---- what a file imports ----


def module_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a file; a package is named by its folder."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def modules_of(root: Path, folders: tuple[str, ...]) -> dict[str, Path]:
    """All modules in some folders, by their names."""
    return {module_of(path, root): path for folder in folders for path in (root / folder).rglob("*.py")}


MODULES = modules_of(ROOT, FOLDERS)


@cache
def tree_of(path: Path) -> ast.Module:
    """What a file says; each is looked at by several tests."""
    return ast.parse(path.read_text(encoding="utf-8"))


def nodes_of(tree: ast.AST, type_only: bool = True) -> Iterator[ast.AST]:
    """All nodes below one; without `type_only` leaving out what only a type checker runs."""
    for node in ast.iter_child_nodes(tree):
        if not type_only and isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for other in node.orelse:
                yield from (other, *nodes_of(other, type_only))
        else:
            yield from (node, *nodes_of(node, type_only))


def imports(
    path: Path, modules: dict[str, Path] = MODULES, root: Path = ROOT, type_only: bool = True, inside: bool = True
) -> dict[str, int]:
    """Absolute names of the modules a file imports anywhere, also inside functions, and the line of one import each.

    `from package import name` imports the submodule of that name where there is one, else the package. That importing a
    submodule imports its packages too does not count. Without `inside`, only what stands at the top of the file.
    """
    names = {}
    package = list(path.relative_to(root).parts[:-1])
    tree = tree_of(path)
    for node in nodes_of(tree, type_only) if inside else tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name: node.lineno for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            members = [f"{module}.{alias.name}" for alias in node.names]
            names |= {member if member in modules else module: node.lineno for member in members}
    return names


def of_library(path: Path) -> set[str]:
    """The modules of the library a file imports, by their names in `ORDER`."""
    return {name.split(".")[1] for name in imports(path) if name.startswith("kalos_core.")}


def place_of(path: Path) -> str:
    """The name in `ORDER` of the module that a file is of."""
    return module_of(path).split(".")[1]


def forbidden(paths: Iterable[Path], strange: Callable[[Path], Collection[str]]) -> dict[str, list[str]]:
    """The files that import what they are not to import, each with that."""
    found = {module_of(path): sorted(strange(path)) for path in paths}
    return {name: wrong for name, wrong in found.items() if wrong}


def within(names: Iterable[str], *packages: str) -> set[str]:
    """Those names that are modules of some packages."""
    return {name for name in names if name.split(".")[0] in packages}


# ---- the order ----


def test_the_list_names_only_modules_that_exist():
    missing = [name for name in ORDER if f"kalos_core.{name}" not in MODULES]
    assert not missing


def test_every_module_stands_in_the_list():
    assert {place_of(path) for path in LIBRARY} <= set(ORDER)


def test_a_module_imports_only_what_stands_above_it():
    assert not forbidden(LIBRARY, lambda path: of_library(path) - set(ORDER[: ORDER.index(place_of(path)) + 1]))


def test_the_library_never_imports_itself_as_a_whole():
    inner = [path for path in LIBRARY if place_of(path) not in ("fiftyone", "cli", "__main__")]
    assert not forbidden(inner, lambda path: {"kalos_core"} & imports(path).keys())


def test_only_the_bridge_imports_fiftyone():
    core = [path for path in LIBRARY if place_of(path) != "fiftyone"]
    assert not forbidden(core, lambda path: within(imports(path), "fiftyone"))


def test_only_figures_import_plotly_at_the_top():
    """Those of a kind of run, too, which the table of kinds names and imports only when something is shown."""

    def drawing(path):
        top = imports(path, inside=False)
        return within(top, "plotly") | {name for name in within(top, "kalos_core") if "figures" in name.split(".")}

    assert not forbidden([path for path in LIBRARY if "figures" not in module_of(path).split(".")], drawing)


def test_the_check_sees_imports():
    below = ROOT / "kalos_core" / "_agreement.py"
    assert "pairs" in of_library(below)
    assert "_agreement" not in of_library(ROOT / "kalos_core" / "pairs.py")


# ---- circles ----


def circles(modules: dict[str, Path], root: Path) -> list[str]:
    """For each set of modules that import one another in a circle the imports that tie it, as text."""
    names = sorted(modules)
    codes = {name: code for code, name in enumerate(names)}
    edges = {
        (name, target): line
        for name in names
        for target, line in imports(modules[name], modules, root, type_only=False).items()
        if target in codes and target != name
    }
    rows, columns = ([codes[edge[end]] for edge in edges] for end in (0, 1))
    graph = csr_array((np.ones(len(edges)), (rows, columns)), shape=(len(names), len(names)))
    _, component = connected_components(graph, connection="strong")
    found: dict[int, list[str]] = {}
    for (name, target), line in edges.items():
        if component[codes[name]] == component[codes[target]]:
            file = modules[name].relative_to(root).as_posix()
            found.setdefault(int(component[codes[name]]), []).append(f"{file}:{line} imports {target}")
    return ["\n".join(ties) for ties in found.values()]


def test_nothing_is_imported_in_a_circle():
    found = circles(MODULES, ROOT)
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("from lib.b import name", "from lib import c", 0),
        ("from lib.b import name", "from lib import a", 1),
        ("from lib.b import name", "def later():\n    import lib.a", 1),
        ("from . import b", "from .a import name", 1),
        ("from lib import name", "import lib", 0),  # the package imports nothing
        ("import lib.b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import lib.a", 0),
        ("import lib.b", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import lib.a", 1),
    ],
)
def test_circles_are_found(tmp_path, first, second, expected):
    (tmp_path / "lib").mkdir()
    for name, text in {"__init__": "", "a": first, "b": second, "c": ""}.items():
        (tmp_path / "lib" / f"{name}.py").write_text(text)
    found = circles(modules_of(tmp_path, ("lib",)), tmp_path)
    assert len(found) == expected
    assert all("lib/a.py:1 imports lib.b" in text for text in found)


# ---- modules that hide ----


def hidden(package: str, modules: dict[str, Path]) -> list[str]:
    """Names that a package gives to something else than to its submodule of that name."""
    own = {name.rpartition(".")[2] for name in modules if name.rpartition(".")[0] == package}
    bound = []
    for node in tree_of(modules[package]).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.append(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound += [target.id for target in targets if isinstance(target, ast.Name)]
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            source = package if isinstance(node, ast.ImportFrom) and node.module == package else None
            bound += [alias.asname or alias.name for alias in node.names if source is None or alias.asname in own]
    return sorted(own & set(bound))


def test_no_module_hides_behind_a_name_of_its_package():
    packages = {name for name, path in MODULES.items() if path.name == "__init__.py"}
    found = {package: hidden(package, MODULES) for package in packages}
    assert not {package: names for package, names in found.items() if names}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from lib.a import a", ["a"]),
        ("from lib.a import b as a", ["a"]),
        ("def a(): ...", ["a"]),
        ("a = 1", ["a"]),
        ("from lib import a", []),
        ("from lib.a import other", []),
    ],
)
def test_hidden_modules_are_found(tmp_path, text, expected):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text(text)
    (tmp_path / "lib" / "a.py").write_text("")
    assert hidden("lib", modules_of(tmp_path, ("lib",))) == expected


# ---- the plugin ----


def test_the_plugin_imports_only_the_librarys_doors():
    assert not forbidden(PLUGIN, lambda path: within(imports(path), "kalos_core") - PLUGIN_MAY_IMPORT)


@pytest.mark.parametrize(("own", "other"), [("operators", "panels"), ("panels", "operators")])
def test_operators_and_panels_never_import_each_other(own, other):
    files = [path for path in PLUGIN if path.relative_to(ROOT).parts[0] == own]
    assert files
    assert not forbidden(files, lambda path: within(imports(path), other))


def test_nothing_is_imported_at_the_top_of_the_plugin():
    entry = ROOT / "__init__.py"
    if not entry.exists():
        pytest.skip("the plugin has no entry point yet")
    top = ast.parse(entry.read_text(encoding="utf-8")).body
    assert not [node for node in top if isinstance(node, (ast.Import, ast.ImportFrom))]


# ---- what importing the library loads ----


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


@pytest.mark.parametrize(
    "heavy",
    [
        "PIL",
        "dask",
        "fiftyone",
        "kalos_core.cli",
        "kalos_core.figures",
        "krippendorff",
        "matplotlib",
        "pandas",
        "plotly",
        "pycocotools",
        "scipy.linalg",
        "scipy.ndimage",
        "scipy.optimize",
        "scipy.sparse",
        "scipy.spatial",
        "scipy.special",
        "scipy.stats",
        "skimage",
        "sklearn",
        "tqdm",
        "yaml",
    ],
)
def test_the_library_comes_without(heavy, loaded_with_the_library):
    assert "kalos_core" in loaded_with_the_library
    assert heavy not in loaded_with_the_library


# ---- the oldest Python ----

NEWER = {
    "asyncio": {"Barrier", "Runner", "TaskGroup", "timeout"},
    "contextlib": {"chdir"},
    "datetime": {"UTC"},
    "enum": {"EnumCheck", "FlagBoundary", "ReprEnum", "StrEnum", "member", "nonmember", "property", "verify"},
    "inspect": {"getmembers_static"},
    "itertools": {"batched"},
    "math": {"cbrt", "exp2", "sumprod"},
    "operator": {"call"},
    "tomllib": {"load", "loads"},
    "typing": {
        *("LiteralString", "Never", "NotRequired", "Required", "Self", "TypeAliasType", "TypeVarTuple", "Unpack"),
        *("assert_never", "assert_type", "dataclass_transform", "override", "reveal_type"),
    },
}
"""What the standard library has only since Python 3.11 or 3.12."""


def too_new(source: str) -> set[str]:
    """What a file needs at run time that Python 3.10, the oldest that is supported, does not have."""
    found = set()
    for node in nodes_of(ast.parse(source, feature_version=(3, 10)), type_only=False):
        if isinstance(node, ast.ImportFrom) and node.module in NEWER:
            found |= {f"{node.module}.{alias.name}" for alias in node.names if alias.name in NEWER[node.module]}
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found |= {f"{node.value.id}.{node.attr}"} if node.attr in NEWER.get(node.value.id, ()) else set()
    return found


def test_every_module_runs_on_the_oldest_python():
    assert not forbidden(MODULES.values(), lambda path: too_new(path.read_text(encoding="utf-8")))


def test_what_is_too_new_is_seen():
    assert too_new("from typing import Any, Self") == {"typing.Self"}
    assert too_new("import datetime\ndef now(): return datetime.UTC") == {"datetime.UTC"}
    assert not too_new("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from typing import Self")
    with pytest.raises(SyntaxError):
        too_new("try:\n    pass\nexcept* ValueError:\n    pass")
