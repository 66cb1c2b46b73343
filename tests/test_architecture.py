"""The map of the house is true: it names every room with the first sentence of its own description, in their order."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import yaml

from tests.test_imports import ORDER

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
BRIDGE = ROOT / "kalos_core" / "fiftyone"
PANELS = ROOT / "panels"


def said_of(path: Path) -> str:
    """The first sentence of a module's or package's description, on one line."""
    file = path / "__init__.py" if path.is_dir() else path
    first = (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").split("\n\n")[0]
    return " ".join(first.split())


def rooms(folder: Path) -> list[Path]:
    """Modules and packages of a folder."""
    found = [path for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return sorted(path for path in found if path.name != "__init__.py")


def in_order() -> list[Path]:
    """What the library consists of, each below what it may import."""
    folder = ROOT / "kalos_core"
    return [folder / name if (folder / name).is_dir() else folder / f"{name}.py" for name in ORDER]


def rows(paths: list[Path]) -> str:
    """The rows of the map as they are to be."""
    return "\n".join(f"| `{path.relative_to(ROOT).as_posix()}` | {said_of(path)} |" for path in paths)


def test_the_map_names_every_room_of_the_library_in_the_order_of_imports() -> None:
    assert rows(in_order()) in TEXT


def test_the_map_names_every_room_of_the_bridge() -> None:
    assert rows(rooms(BRIDGE)) in TEXT
    assert rows(rooms(BRIDGE / "kinds")) in TEXT


def test_the_map_names_every_room_of_the_panels() -> None:
    assert rows([*rooms(PANELS), *rooms(PANELS / "parts"), *rooms(PANELS / "sections")]) in TEXT


def test_paths_that_are_named_exist() -> None:
    named = [name for name in re.findall(r"`([\w./-]+/[\w./-]*)`", TEXT) if "<" not in name]
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


def test_public_machines_try_every_python_that_is_promised() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    job = workflow["jobs"]["tests"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert job["strategy"]["matrix"]["python"] == re.findall(r"Programming Language :: Python :: (3\.\d+)", project)
    assert any(step.get("run") == "bash .ci/run" for step in job["steps"])
