"""ARCHITECTURE.md lists every module with the first sentence of its docstring, in order."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.test_imports import ORDER

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
BRIDGE = ROOT / "kalos_core" / "fiftyone"
PANELS = ROOT / "panels"


def said_of(path: Path) -> str:
    """Return the first sentence of a module's or package's docstring, on one line."""
    file = path / "__init__.py" if path.is_dir() else path
    first = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return " ".join(first.split())


def rooms(folder: Path) -> list[Path]:
    """Return the modules and packages of a folder."""
    found = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return sorted(path for path in found if path.name != "__init__.py")


def test_the_map_names_every_room_in_the_order_of_imports_or_of_names() -> None:
    library = [ROOT / "kalos_core" / name for name in ORDER]
    in_order = [path if path.is_dir() else path.with_suffix(".py") for path in library]
    panels = [*rooms(PANELS), *rooms(PANELS / "data"), *rooms(PANELS / "parts")]
    for paths in (in_order, rooms(BRIDGE), rooms(BRIDGE / "kinds"), panels):
        assert "\n".join(f"| `{path.relative_to(ROOT).as_posix()}` | {said_of(path)} |" for path in paths) in TEXT
