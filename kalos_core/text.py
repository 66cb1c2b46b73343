"""Escaping of text from data (names of classes, raters, files, tags, notes); no other module escapes.

* plain text, such as cells of tables and buttons: `plain`
* Markdown, plotly and HTML, shown literally: `shown`, `names_shown`; the inverse: `unshown`
* Markdown source to copy: `markdown_source`; our own text around such names: `bold`
* CSV for spreadsheets: `csv_cell`, `write_csv`
* lines of files and pages that keep their white space: `visible`
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    import pandas as pd

MOST_LETTERS = 60
"""Maximum number of characters of a name in a sentence."""

UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"  # control characters except white space: they control terminals or end text
    "\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Invisible characters: controls, direction marks, tags. Joiners are kept, because scripts need them."""

HALVES = re.compile("[\ud800-\udfff]")
"""Lone surrogates; JSON may hold them, files cannot."""

READ_BY_OTHERS = re.compile(
    r"""["#$%&*<>@\[\\\]^`{|}~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])"""
    r"""|\A[-+=]|(?<=[0-9])[.)](?=\s|\Z)|:(?=//)|(?<=www)\."""  # rules and lists, links
)
"""ASCII characters that Markdown, plotly's templates or HTML may interpret."""

REFERENCE = re.compile(r"&#(3[3-9]|[4-9][0-9]|1[01][0-9]|12[0-6]);")
"""Character reference written by `shown`."""

READ_IN_MARKDOWN = re.compile(r"[\\`*_{}\[\]()<>#+!|~&$:-]|(?<=[0-9])\.(?=\s|\Z)|(?<=www)\.")
"""ASCII characters that Markdown source may interpret."""

FORMULA = re.compile(r"\A(?=[\t\r\n])|(?:\A|[;\t\r\n])(?=\s*[=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Beginning of a formula in a spreadsheet cell; some programs split cells at semicolons and tabs."""

NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
"""Text that is a number; it is not escaped."""


def visible(text: str) -> str:
    r"""Remove invisible characters, keep white space, and replace characters that no file can hold.

    Examples
    --------
    >>> visible("a\n  b\u202ec\x1b[31m"), visible("\ud800")
    ('a\n  bc[31m', '\ufffd')
    """
    return HALVES.sub("\ufffd", UNSEEN.sub("", text))


def plain(text: str, length: int | None = MOST_LETTERS) -> str:
    """Return text from data for plain text, such as cells of tables and buttons.

    The result is one line of `visible` characters, cut to `length` (None: not cut).

    Examples
    --------
    >>> plain("<b>**x**"), plain("evil\u202egpj"), plain("a class whose name is a sentence", 10)
    ('<b>**x**', 'evilgpj', 'a class w…')
    """
    line = re.sub(r"[^\S\xa0]+", " ", visible(text)).strip()
    return line if length is None or len(line) <= length else f"{line[: length - 1].rstrip()}…"


def shown(text: str, length: int | None = MOST_LETTERS) -> str:
    """Return `plain` text from data, escaped so that Markdown, plotly and HTML show it literally.

    Characters that any of them could interpret become character references, which all three show as the character.
    Escaped text is not escaped again, so a name that is itself such a reference, ``"&#60;"``, appears as the character.

    Examples
    --------
    >>> shown("a_b: street sign"), shown("_a_"), shown("<b>**x**")
    ('a_b: street sign', '&#95;a&#95;', '&#60;b&#62;&#42;&#42;x&#42;&#42;')
    >>> shown("a class whose name is a sentence", 10), shown(shown("*a")) == shown("*a"), shown("1. a"), shown("&lt;")
    ('a class w…', True, '1&#46; a', '&#38;lt;')
    """
    return READ_BY_OTHERS.sub(lambda found: f"&#{ord(found[0])};", plain(unshown(text), length))


def names_shown(names: Iterable[str], length: int | None = None) -> list[str]:
    """Return names from data as `shown`, in full unless a length is given.

    Examples
    --------
    >>> names_shown(["ann", "b*b"])
    ['ann', 'b&#42;b']
    """
    return [shown(str(name), length) for name in names]


def unshown(text: str) -> str:
    """Replace the references written by `shown` by their characters, for libraries that escape text themselves.

    Examples
    --------
    >>> unshown(shown("a_b < c")), unshown("&lt;")
    ('a_b < c', '&lt;')
    """
    return REFERENCE.sub(lambda found: chr(int(found[1])), text)


def bold(text: str) -> str:
    r"""Return a finding in bold Markdown, with underscores in names and τ* escaped.

    The text is the library's own; names from data in it are already `shown`.

    Examples
    --------
    >>> print(bold("τ* of box_iou"))
    **τ\* of box\_iou**
    """
    escaped = re.sub(r"([_*])", r"\\\1", text)
    return f"**{escaped}**"


def markdown_source(text: str, length: int | None = MOST_LETTERS) -> str:
    r"""Return `plain` text from data, escaped with backslashes for Markdown source that people read and copy.

    Examples
    --------
    >>> print(markdown_source("<b>*cat*</b>\n[x](y)"))
    \<b\>\*cat\*\</b\> \[x\]\(y\)
    """
    return READ_IN_MARKDOWN.sub(lambda found: "&amp;" if found[0] == "&" else f"\\{found[0]}", plain(text, length))


def csv_cell(value: Any) -> Any:
    r"""Return a cell that spreadsheets do not take for a formula, by a leading apostrophe; numbers are unchanged.

    Examples
    --------
    >>> csv_cell("=1+1"), csv_cell("cat"), csv_cell("-0.5"), csv_cell(-0.5), csv_cell("\t@x"), csv_cell("a;=b")
    ("'=1+1", 'cat', '-0.5', -0.5, "'\t'@x", "a;'=b")
    """
    if value is None or isinstance(value, (bool, int, float, complex)) or hasattr(value, "dtype"):
        return value
    text = re.sub(r"\r\n?", "\n", visible(str(value)))  # csv writers do not quote carriage returns
    return text if NUMBER.fullmatch(text) else FORMULA.sub(lambda found: f"{found[0]}'", text)


def write_csv(table: pd.DataFrame, path: str | PathLike[str] | TextIO) -> None:
    """Write a table as CSV in UTF-8 to a file or stream; cells and column names are escaped by `csv_cell`.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> write_csv(pd.DataFrame({"rater": ["@ann", "bob"], "alpha": [-0.5, float("nan")]}), "raters.csv")
    >>> Path("raters.csv").read_text().splitlines()
    ['rater,alpha', "'@ann,-0.5", 'bob,']
    """
    safe = table.rename(columns=csv_cell)
    for position, kind in enumerate(table.dtypes):
        if kind.kind not in "biufcmM":
            safe.isetitem(position, [csv_cell(value) for value in table.iloc[:, position]])
    safe.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
