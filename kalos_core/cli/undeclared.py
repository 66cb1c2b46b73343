"""Options of functions that do not declare theirs yet: read from signatures and docstrings.

To be deleted when the last of them takes settings (`kalos_core.options.takes`).
"""

from __future__ import annotations

import ast
import builtins
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin


def undeclared(function: Callable[..., Any]) -> Iterator[tuple[str, Any, Any, str]]:
    """Name, type, default and help of each argument with a default, as annotated and documented."""
    texts, names = _documented(function), vars(sys.modules[function.__module__])
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is not parameter.empty:
            yield name, _resolved(parameter.annotation, names), parameter.default, texts.get(name, "")


def _resolved(hint: Any, names: Mapping[str, Any]) -> Any:
    """A type without the names that only a type checker knows."""
    parts = [_without_text(part, names) for part in _parts(hint, names)]
    return reduce(or_, parts) if parts else object


def _without_text(hint: Any, names: Mapping[str, Any]) -> Any:
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Sequence, list) and inside:
        return list[_resolved(inside[0], names)]  # type: ignore[misc]
    if origin is Mapping and inside:
        return dict[str, _resolved(inside[1], names)]  # type: ignore[misc]
    return hint


def _parts(hint: Any, names: Mapping[str, Any]) -> Iterator[Any]:
    """The types that an annotation names, apart by `|`; of one that only a type checker knows, nothing."""
    if isinstance(hint, ForwardRef):
        hint = hint.__forward_arg__
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if get_origin(hint) in (Union, UnionType):
        for part in get_args(hint):
            yield from _parts(part, names)
    elif isinstance(hint, str):
        yield from _named(ast.parse(hint, mode="eval").body, names)
    else:
        yield hint


def _named(node: ast.expr, names: Mapping[str, Any]) -> Iterator[Any]:
    if isinstance(node, ast.BinOp):
        yield from _named(node.left, names)
        yield from _named(node.right, names)
    elif isinstance(node, ast.Constant):
        yield from _parts(node.value, names)
    elif isinstance(node, ast.Name):
        yield from _parts(names.get(node.id, vars(builtins).get(node.id, object)), names)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        inside = ast.unparse(node.slice)
        if node.value.id in ("Sequence", "list"):
            yield Sequence[inside]  # type: ignore[valid-type] # its type as text, which `_parts` reads
        elif node.value.id == "Mapping" and isinstance(node.slice, ast.Tuple):
            yield Mapping[str, ast.unparse(node.slice.elts[1])]  # type: ignore[misc] # likewise
        elif node.value.id == "Literal":
            yield Literal[ast.literal_eval(inside)]


def _documented(function: Callable[..., Any]) -> dict[str, str]:
    """What the docstring says of each argument, as one line: its type if nothing else."""
    text = inspect.getdoc(function) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=\n\n\S[^\n]*\n-{3,}|\Z)", text, re.MULTILINE | re.DOTALL)
    found, names = dict[str, list[str]](), list[str]()
    for line in section[1].splitlines() if section else ():
        if line and not line.startswith(" "):
            head, _, kind = line.partition(" : ")
            names = [name.strip(" *") for name in head.split(",")]
            found |= {name: [kind] for name in names}
        elif line.strip():
            for name in names:
                found[name].append(line.strip())
    return {name: re.sub(r"`+", "", " ".join(lines[1:] or lines)) for name, lines in found.items()}
