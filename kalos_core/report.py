"""Results as files: one HTML page that needs no network, and tables as CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from kalos_core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:1100px;margin:2rem auto;padding:0 1rem}td,th{padding:.3em}"


def make_folder(path: Path) -> None:
    """Make a folder to write to, with those above it; to be called before long work.

    Raises
    ------
    InputError
        If it cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: expected a folder to write to, got {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file.

    Raises
    ------
    InputError
        If it cannot be written.

    Examples
    --------
    >>> write_text(Path("note.txt"), "a")
    >>> write_text(Path("note.txt") / "in", "a")
    Traceback (most recent call last):
    kalos_core.errors.InputError: note.txt/in: expected a file to write to, got Not a directory
    """
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: expected a file to write to, got {error.strerror}") from error


def write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    """Write each table to ``<name>.csv`` in a folder.

    Examples
    --------
    >>> import pandas as pd
    >>> write_tables(Path("."), {"loss": pd.DataFrame({"ratio": [0.1]})})
    >>> pd.read_csv("loss.csv")["ratio"].tolist()
    [0.1]
    """
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


def write_page(
    path: Path,
    title: str,
    figures: Mapping[str, go.Figure],
    header: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
) -> None:
    """Write figures under their headings, after a table of text, as one page.

    Examples
    --------
    >>> write_page(Path("page.html"), "Figures", {}, ["a"], [["1 < 2"]])
    >>> "1 &lt; 2" in Path("page.html").read_text(encoding="utf-8")
    True
    """
    parts = [f"<!doctype html><meta charset=utf-8><title>{escape(title)}</title><style>{STYLE}</style>"]
    parts.append(f"<h1>{escape(title)}</h1>")
    if rows:
        parts.append(f"<table><tr>{_cells('th', header)}</tr>")
        parts += [f"<tr>{_cells('td', row)}</tr>" for row in rows]
        parts.append("</table>")
    for place, (heading, figure) in enumerate(figures.items()):
        parts.append(f"<h2>{escape(heading)}</h2>")
        parts.append(figure.to_html(full_html=False, include_plotlyjs=place == 0))
    write_text(path, "\n".join(parts))


def _cells(tag: str, texts: Sequence[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)
