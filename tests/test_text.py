"""One module escapes text from data; its output is read back by independent parsers."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown import Markdown

from kalos_core.text import csv_cell, markdown_source, names_shown, plain, shown, unshown, visible, write_csv

PARTS = (
    "<b>", "</p>", "<img src=x onerror=alert(1)>", "**", "__", "*", "_", "`", "~~", "[a](http://b)", "![a](b)", "$x$",
    "%{y}", "http://a.b", "www.a.b", "a@b.de", "&lt;", "&copy", "&#60", "|", "# ", "- ", "+ ", "1. ", "> ", "---",
    "===", "<!--", "-->", "]]>", "{{", "\\", "\n", "\t", "\u202e", "\u2066", "\x1b[31m", "\x00", "\ud800", "=1+1", "@x",
    ";=1", "\u00a0", "'", '"', "é", "猫", "\u200d",
)  # fmt: skip
"""Text that Markdown, plotly, HTML, spreadsheets or terminals interpret."""

hostile = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=8).map("".join)
MARKDOWN = Markdown(extensions=["extra", "sane_lists"])


class Read(HTMLParser):
    """Tags and text of HTML, as parsed by Python."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        self.tags.append("<!--")


def in_markdown(text: str) -> Read:
    MARKDOWN.reset()
    return Read(MARKDOWN.convert(text))


# ---- by hand ----


@pytest.mark.parametrize(
    ("text", "as_shown", "as_plain"),
    [
        ("_a_", "&#95;a&#95;", "_a_"),
        ("a__b", "a&#95;&#95;b", "a__b"),
        ("https://a.b", "https&#58;//a.b", "https://a.b"),
        ("<i>", "&#60;i&#62;", "<i>"),
        ("&lt;", "&#38;lt;", "&lt;"),  # a foreign reference in a name is not interpreted
        ("- a", "&#45; a", "- a"),
        ("12. a", "12&#46; a", "12. a"),
        ("evil\u202egpj", "evilgpj", "evilgpj"),
        ("a\r\n\tb  c", "a b c", "a b c"),
        ("\x1b[31mred\x00", "&#91;31mred", "[31mred"),
        ("\ud83d", "\ufffd", "\ufffd"),
    ],
)
def test_display_of_text(text: str, as_shown: str, as_plain: str) -> None:
    assert shown(text) == as_shown
    assert plain(text) == as_plain
    assert names_shown([text]) == [as_shown]


def test_a_long_text_is_cut_at_sixty_letters_of_its_own() -> None:
    assert shown("<" * 61) == "&#60;" * 59 + "…"
    assert shown("<" * 60) == "&#60;" * 60
    assert plain("a" * 100_000, None) == "a" * 100_000


def test_only_references_of_our_own_are_read_back() -> None:
    assert unshown("&#60;&#x3c;&lt;&#8238;&#32;") == "<&#x3c;&lt;&#8238;&#32;"


def test_no_cell_is_a_formula_and_numbers_stay() -> None:
    for value, cell in (
        ("=1+1", "'=1+1"), ("+1+1", "'+1+1"), ("-1+1", "'-1+1"), ("@SUM(A1)", "'@SUM(A1)"), ("\tx", "'\tx"),
        ("\rx", "'\nx"), (" =x", "' =x"), ("\uff1dx", "'\uff1dx"), ("a;=x", "a;'=x"), ("a=b", "a=b"),
        ("-0.5", "-0.5"), ("+1e-3", "+1e-3"), ("-", "'-"), (-3, -3), (-0.5, -0.5), (None, None), (True, True),
        (Path("=x"), "'=x"),
    ):  # fmt: skip
        assert csv_cell(value) == cell
        assert type(csv_cell(value)) is type(cell)


# ---- read back by other parsers ----


@given(hostile)
@example("&#60;b&#62;")
def test_html_shows_the_text(text: str) -> None:
    read = Read(f"<p>{shown(text, None)}</p>")
    assert (read.tags, read.text) == (["p"], plain(unshown(text), None))


@given(hostile)
def test_markdown_shows_the_text_in_every_position(text: str) -> None:
    expected = plain(unshown(text), None)
    for before, after, tags in (("", "", {"p"}), ("word ", " word", {"p"}), ("**", ":** x", {"p", "strong"})):
        read = in_markdown(f"{before}{shown(text, None)}{after}")
        assert set(read.tags) <= tags
        assert read.text.replace("\n", "").split() == f"{before.strip('*')}{expected}{after.replace('**', '')}".split()


@given(hostile, hostile)
def test_a_cell_of_a_table_in_markdown_stays_in_its_cell(one: str, other: str) -> None:
    read = in_markdown(f"| a | b |\n| --- | --- |\n| x{shown(one)} | {shown(other)}x |")
    assert read.tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]


@given(hostile)
def test_plotly_finds_no_tag_no_template_and_no_formula(text: str) -> None:
    """Its pseudo-HTML begins with <, its templates with %{, its formulas are between $ (its svg_text_utils.js)."""
    assert not set("<>{}%$") & set(shown(text))


@given(hostile)
def test_a_source_in_markdown_shows_the_text(text: str) -> None:
    """This parser supports fewer escapes than CommonMark, which supports all of ASCII's punctuation (§2.4)."""
    reader = Markdown(extensions=["extra"])
    reader.ESCAPED_CHARS = [*"\\`*_{}[]()<>#+!|~&$:-."]
    read = Read(reader.convert(f"- {markdown_source(text, None)}"))
    assert set(read.tags) <= {"ul", "li"}
    assert read.text.split() == plain(text, None).split()


@given(hostile)
def test_shown_text_is_not_escaped_again(text: str) -> None:
    assert shown(shown(text, None), None) == shown(text, None)
    assert plain(plain(text)) == plain(text)
    assert len(unshown(shown(text))) <= 60


@given(st.lists(st.tuples(hostile, st.floats(), st.integers()), min_size=1, max_size=4), hostile)
def test_a_table_is_read_back_without_a_formula(rows: list[tuple[str, float, int]], column: str) -> None:
    written = io.StringIO()
    names = [f"{column}x", "number", "count"]
    table = pd.DataFrame({"name": pd.Series([row[0] for row in rows], dtype=object)})
    table["number"], table["count"] = [row[1] for row in rows], np.array([row[2] for row in rows], object)
    table.columns = pd.Index(names, dtype=object)
    write_csv(table, written)  # type: ignore[arg-type]
    text = written.getvalue()
    head, *found = csv.reader(io.StringIO(text, newline=""))
    assert head[1:] == names[1:]
    for (name, number, whole), cells in zip(rows, found, strict=True):
        expected = re.sub(r"\r\n?", "\n", visible(name))
        assert cells[0].replace("'", "") == expected.replace("'", "")
        assert cells[1] == "" if np.isnan(number) else float(cells[1]) == number
        assert int(cells[2]) == whole
        assert not re.match(r"\s*[=+\-@]|[\t\r\n]", cells[0]) or float(cells[0]) is not None


def test_no_character_without_a_shape_is_shown() -> None:
    """By the Unicode database: controls, surrogates, and everything that controls text direction."""
    letters = "".join(map(chr, [*range(0x20000), *range(0xE0000, 0xE1000)]))  # the rest are ideographs, or private
    left = set(visible(letters))
    steering = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert not [hex(ord(letter)) for letter in left if unicodedata.bidirectional(letter) in steering]
    shapeless = {letter for letter in left if unicodedata.category(letter) in {"Cc", "Cs"}}
    assert all(letter.isspace() for letter in shapeless)
    assert not {unicodedata.category(letter) for letter in set(letters) - left} - {"Cc", "Cf", "Cs", "Cn"}
