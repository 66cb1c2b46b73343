"""Sections with several pages, each with its own selections."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from .base import Asked, DataSection
from .rows import Row

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Page:
    """A page: the kind of the run that it shows ("": of none), and what it sends of it."""

    kind: str
    send: Callable[[Asked], Any]


class PagedSection(DataSection):
    """A section whose pages are asked for one by one: the view sends the page and what is chosen as `given`."""

    PAGES: ClassVar[Mapping[str, Page]]

    def pages(self, asked: Asked) -> tuple[str, ...]:
        """Those that the data have something for."""
        return tuple(self.PAGES)

    def page(self, asked: Asked) -> str:
        """The one that is asked for; at first one that has a run."""
        there = self.pages(asked)
        chosen: str | None = asked.given.get("page")
        if chosen in there:
            return chosen
        kinds = {page: self.PAGES[page].kind for page in there}
        return next((page for page, kind in kinds.items() if not kind or asked.analysis.run(kind)), there[0])

    def run_kind(self, asked: Asked) -> str:
        return self.PAGES[self.page(asked)].kind

    def send(self, asked: Asked) -> Row:
        """The page, which there are, and the page's own record as `shown`."""
        page = self.page(asked)
        return {"pages": self.pages(asked), "page": page, "shown": self.PAGES[page].send(asked)}


def choice(asked: Asked, name: str, among: Sequence[Choice], usual: Choice | None = None) -> Choice:
    """What was chosen under a name, where it is there; else the usual one, or the first."""
    chosen = asked.given.get(name)
    if chosen in among:
        return chosen  # type: ignore[return-value]
    return usual if usual in among else among[0]  # type: ignore[return-value]
