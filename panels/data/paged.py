"""Sections with several pages, each with its own selections."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from kalos_core import InputError

from .base import Asked, DataSection
from .rows import Row

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Page:
    """Page: the kind of the run that it shows ("": none), and the function that returns its record."""

    kind: str
    send: Callable[[Asked], Any]


class PagedSection(DataSection):
    """Section with pages that the view requests one by one; `given` has the page and the selections on it."""

    PAGES: ClassVar[Mapping[str, Page]]

    def pages(self, asked: Asked) -> tuple[str, ...]:
        """Return the names of the pages for which there are data."""
        return tuple(self.PAGES)

    def page(self, asked: Asked) -> str:
        """Return the requested page, or initially the first that has a run."""
        there = self.pages(asked)
        if not there:
            raise InputError(f"section: expected one with data, got {self.NAME!r}")
        chosen: str | None = asked.given.get("page")
        if chosen in there:
            return chosen
        kinds = {page: self.PAGES[page].kind for page in there}
        return next((page for page, kind in kinds.items() if not kind or asked.analysis.run(kind)), there[0])

    def run_kind(self, asked: Asked) -> str:
        return self.PAGES[self.page(asked)].kind

    def send(self, asked: Asked) -> Row:
        """Return the page, the names of all pages, and the record of the page as `shown`."""
        page = self.page(asked)
        return {"pages": self.pages(asked), "page": page, "shown": self.PAGES[page].send(asked)}


def choice(asked: Asked, name: str, among: Sequence[Choice], usual: Choice | None = None) -> Choice:
    """Return the selection under a name if it exists; otherwise the default, or the first entry."""
    chosen = asked.given.get(name)
    if chosen in among:
        return chosen  # type: ignore[return-value]
    return usual if usual in among else among[0]  # type: ignore[return-value]
