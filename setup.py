"""The README for package indexes, with absolute links. Everything else about the package is in pyproject.toml."""

import re
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).resolve().parent
RELATIVE = re.compile(
    r'(?P<image>!?)(?P<open>\[[^\]]*\]\(|(?:src|srcset|href)=")(?!https?:|#|mailto:)(?P<path>[^)"\s]+)'
)
"""A link or an image of Markdown or HTML whose address is relative."""


def found(pattern: str, name: str) -> str:
    """Return the first group of a pattern in a file of this folder."""
    match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
    if match is None:
        raise ValueError(f"{name}: expected a line that matches {pattern}, got none")
    return match[1]


def with_absolute_links(text: str) -> str:
    """Let relative links point to the files of this version in the repository."""
    repository = found(r'^Repository = "(.+)"', "pyproject.toml")
    version = found(r'^__version__ = "(.+)"', "kalos_core/version.py")

    def absolute(match: re.Match) -> str:
        kind = "raw" if match["image"] or match["open"].startswith("src") else "blob"
        return f"{match['image']}{match['open']}{repository}/{kind}/v{version}/{match['path']}"

    return RELATIVE.sub(absolute, text)


setup(
    long_description=with_absolute_links((ROOT / "README.md").read_text(encoding="utf-8")),
    long_description_content_type="text/markdown",
)
