"""Public names agree: `__all__`, the docstring that is a package's table of contents, and the API reference."""

import ast
import importlib
import re
from pathlib import Path

import kalos_core

ROOT = Path(__file__).resolve().parents[1]
HOUSE = ROOT / "kalos_core"
REFERENCE = {
    target
    for page in (ROOT / "docs" / "api").glob("*.md")
    for target in re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
}
"""What the pages of the API reference document."""

WITHOUT_CONTENTS = {"kalos_core", "kalos_core.annotations.shapes", "kalos_core.readers.coco", "kalos_core.report"}
"""Packages whose docstring says something else than what is in them."""


def named_in(docstring: str | None) -> set[str]:
    return set(re.findall(r"`([\w.]+)`", docstring or ""))


def test_public_names_exist_in_order_and_in_the_contents():
    packages = [path.parent for path in HOUSE.rglob("__init__.py")]
    names = sorted(".".join(path.relative_to(ROOT).parts) for path in packages if "fiftyone" not in path.parts)
    wrong = []
    for name in names:
        package = importlib.import_module(name)
        public = getattr(package, "__all__", [])
        wrong += [f"{name}.{entry} is not there" for entry in public if not hasattr(package, entry)]
        wrong += [f"{name}.{entry} is twice in __all__" for entry in set(public) if public.count(entry) > 1]
        if name not in WITHOUT_CONTENTS:
            wrong += [f"{name}: {entry} is not in the docstring" for entry in set(public) - named_in(package.__doc__)]
    assert wrong == []


def test_everything_public_is_in_the_api_reference():
    strange = []
    for target in REFERENCE:  # a package, a module, or something in one
        owner, _, name = target.rpartition(".")
        if not hasattr(importlib.import_module(owner), name):
            strange.append(target)
    assert strange == []
    packages = {path.parent for path in HOUSE.rglob("__init__.py")}
    whole = {f"kalos_core.{path.name}" for path in packages if path.parent == HOUSE} - {
        "kalos_core.cli",
        "kalos_core.fiftyone",
    }
    assert whole - REFERENCE == set()
    covered = [importlib.import_module(target) for target in REFERENCE if ROOT.joinpath(*target.split(".")) in packages]
    elsewhere = {name for package in covered for name in package.__all__}
    assert {f"kalos_core.{name}" for name in set(kalos_core.__all__) - elsewhere} - REFERENCE == set()


def test_every_public_name_of_the_bridge_is_in_its_contents_and_in_the_api_reference():
    module = ast.parse((HOUSE / "fiftyone" / "__init__.py").read_text(encoding="utf-8"))
    imported = {name.asname for node in module.body if isinstance(node, ast.ImportFrom) for name in node.names} - {None}
    assert imported - named_in(ast.get_docstring(module)) == set()
    documented = {target for target in REFERENCE if target.startswith("kalos_core.fiftyone.")}
    assert documented == {f"kalos_core.fiftyone.{name}" for name in imported}
