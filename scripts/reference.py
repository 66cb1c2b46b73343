"""Fill the reference from Python at run time, so that options, public names and figures are not written twice.

* `Declared` extends griffe, which reads source code: functions that take settings, and settings, get the docstring
  and the parameters that exist at run time.
* `on_page_markdown` is a hook of mkdocs: it fills in the lists for ``<!-- list: ... -->`` in pages.
"""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from importlib import import_module
from typing import Any

import griffe

from kalos_core.options import Settings, declared_by, with_parameters

API_BOOST = 0.05  # the reference has nine of ten sections of the site
RESULTS_BOOST = 0.1
RESULTS = ("benchmarks.md", "papers.md", "noise.md", "intervals.md")
"""Pages of long tables, which contain nearly every word."""


def _object(path: str) -> Any:
    """Return the object at a dotted path; None if it exists only during type checking."""
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for name in parts[end:]:
            found = getattr(found, name, None)
        return found
    return None


class Declared(griffe.Extension):
    """Extension that uses run-time docstrings for objects with declared options."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Update a function that takes the fields of settings."""
        if not any("takes(" in str(decorator.value) for decorator in func.decorators):
            return
        made = _object(func.path)
        if func.docstring is None or not declared_by(made):
            return
        func.docstring.value = inspect.cleandoc(made.__doc__)
        signature = inspect.signature(made)
        kinds = {"POSITIONAL_OR_KEYWORD": griffe.ParameterKind.positional_or_keyword}
        func.parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    name,
                    kind=kinds.get(entry.kind.name, griffe.ParameterKind.keyword_only),
                    default=None if entry.default is entry.empty else repr(entry.default),
                )
                for name, entry in signature.parameters.items()
            )
        )

    def on_module_members(self, *, mod: griffe.Module, **_: Any) -> None:
        """Update a package that exports the names it imports."""
        if mod.is_init_module and not mod.exports and "__all__" in mod.members:
            mod.exports = list(import_module(mod.path).__all__)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Update settings: document their options as parameters."""
        if cls.docstring is None or not any("Settings" in str(base) for base in cls.bases):
            return
        made = _object(cls.path)
        if inspect.isclass(made) and issubclass(made, Settings):
            cls.docstring.value = with_parameters(cls.docstring.value, made)


# ---- lists of names in pages ----

INNER = ("kalos_core._agreement", "kalos_core.errors")
"""Modules without a page; the page of `kalos_core` documents their names."""


def _about(module: str) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return " ".join((import_module(module).__doc__ or "").split("\n\n")[0].split())


def _imported(package: str) -> dict[str, list[str]]:
    """Return module -> public names that a package imports from it."""
    public = set(import_module(package).__all__)
    found: dict[str, list[str]] = defaultdict(list)
    for name, path in griffe.load(package, search_paths=["."]).imports.items():
        if name in public:
            found[path.rpartition(".")[0]].append(name)
    return found


def _table_of_names(package: str) -> list[str]:
    """Return a table with one row per module: links to the names that a package imports from it."""
    rows = ["| from | names |", "|---|---|"]
    for module, names in _imported(package).items():
        owner = package if module in INNER else module
        links = ", ".join(f"[`{name}`][{owner}.{name}]" for name in names)
        rows.append(f"| {'' if module in INNER else f'[`{module}`][{module}]'} | {links} |")
    return rows


def _sections_of_names(package: str) -> list[str]:
    """Return the documentation of every name, with one section per module or kind of runs."""
    sections: dict[str, list[str]] = defaultdict(list)
    for module, names in _imported(package).items():
        depth = 4 if module.startswith("kalos_core.fiftyone.kinds.") else 3
        sections[".".join(module.split(".")[:depth])] += names
    lines = []
    for module, names in sections.items():
        lines += [f"## `{module.removeprefix(f'{package}.')}`", "", _about(module), ""]
        for name in names:
            lines += [f"::: {package}.{name}", "    options: { heading_level: 3 }", ""]
    return lines


def _packages(pages: list[Any]) -> list[str]:
    """Return one row per page of the reference: the module and its summary."""
    rows = ["| | |", "|---|---|"]
    for page in pages:
        found = re.search(r"(?:^::: |list: sections of )(kalos_core\.[a-z_.]+)", page.content_string, re.MULTILINE)
        if found and page.name != "kalos_core":
            rows.append(f"| [`{found[1]}`]({page.src_uri.removeprefix('api/')}) | {_about(found[1])} |")
    return rows


def _plots() -> list[str]:
    """Return one row per class of results: the names of its figures."""
    plots = import_module("kalos_core.figures.plots").PLOTS
    rows = [
        (kind.__name__, kind.__module__.split(".")[1].lstrip("_"), ", ".join(f"`{name}`" for name in names))
        for kind, names in plots.items()
    ]
    return ["| result | `plot` |", "|---|---|", *(f"| `{name}` ({room}) | {names} |" for name, room, names in rows)]


def on_page_markdown(markdown: str, *, page: Any, files: Any, **_: Any) -> str:
    """Return a page with its lists filled in; rank guides before reference and tables of results in the search."""
    if page.file.src_uri.startswith("api/"):
        page.meta["search"] = {"boost": API_BOOST}
    elif page.file.src_uri in RESULTS:
        page.meta["search"] = {"boost": RESULTS_BOOST}

    def listed(match: re.Match[str]) -> str:
        what, _, package = match[1].partition(" of ")
        if what == "packages":
            return "\n".join(_packages([file for file in files if file.src_uri.startswith("api/")]))
        makers = {"table": _table_of_names, "sections": _sections_of_names}
        return "\n".join(makers[what](package) if package else _plots())

    return re.sub(r"<!-- list: (.+?) -->", listed, markdown)
