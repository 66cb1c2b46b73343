"""Base class of sections: the question, the answer, and where a click leads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import fiftyone.operators as foo

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.errors import lookup, repr_of
from kalos_core.fiftyone.dataset.raters import OBJECTS
from kalos_core.fiftyone.internals import stages_of
from kalos_core.fiftyone.runs.analyses import Analysis, AnyRun
from kalos_core.text import plain

from ..parts.events import PLUGIN, Context, sent

WHOLE: dict[str, Any] = {"category": None, "rater": None, "tag": None, "follow": False}
"""Empty filter, as the view sends it; `follow`: only the images of the view in the grid."""


@dataclass(frozen=True)
class Asked:
    """Request of the view about one section of an analysis.

    `chosen` is the filter as the view sends it, and `follows` the parts of it that the section applies. `given` holds
    further data of the request: for a click, the clicked element; for a section, its page and the selections on it.
    """

    ctx: Context
    analysis: Analysis
    follows: tuple[str, ...] = ()
    chosen: Mapping[str, Any] = field(default_factory=lambda: WHOLE)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dataset(self) -> Any:
        return self.ctx.dataset

    @cached_property
    def filter(self) -> kf.Filter:
        """Parts of the filter that the section applies."""
        parts = {part: self.chosen[part] for part in ("category", "rater", "tag") if part in self.follows}
        return kf.Filter(**parts, samples=self.ctx.view.values("id") if self._follows_view else None)

    @property
    def _follows_view(self) -> bool:
        return "view" in self.follows and bool(self.chosen["follow"])

    def run(self, kind: str) -> AnyRun:
        """Return the run of a kind, which the analysis has."""
        return lookup(self.analysis.runs, kind, "kind of run of this analysis")

    def value(self, name: str, kind: Any = str, *, optional: bool = False) -> Any:
        """Return an entry of `given`; raise an error if it has another type, or is missing and not `optional`."""
        return sent(self.given, name, kind, optional=optional)

    def pair(self, name: str) -> tuple[str, str]:
        """Return an entry of `given` that has two names."""
        found = self.value(name, Sequence[str])
        if isinstance(found, str) or len(found) != 2:
            raise InputError(f"{name}: expected two names, got {repr_of(found)}")
        return found[0], found[1]

    def details(self, kind: str) -> Any:
        """Return the run of a kind with its details."""
        return kf.load_details(self.dataset, self.run(kind).key)

    @property
    def part(self) -> dict[str, str | None]:
        """Class and rater of the filter, as arguments of functions that return views."""
        return {"category": self.filter.category, "rater": self.filter.rater}

    def view(self, view_of: Callable[..., Any], kind: str, *given: Any, **options: Any) -> Any:
        """Return a view of the run of a kind."""
        return view_of(self.dataset, self.run(kind).key, *given, **options)

    def within(self, view: Any) -> Any:
        """Restrict a view to the tag and the view in the grid that the section applies."""
        if "tag" in self.follows and self.chosen["tag"] is not None:
            view = view.match_tags(self.chosen["tag"])
        for stage in stages_of(self.ctx.view) if self._follows_view else ():
            view = view.add_stage(stage)
        return view


@dataclass(frozen=True)
class Led:
    """Target of a click: a view in the grid, a sample, or the form of an operator; `said` is a message to the user.

    `text` describes the view in the plural, as in "images in dispute". `fields` are the label fields to show; by
    default, the shown fields stay.
    """

    view: Any = None
    text: str = ""
    sample: str | None = None
    operator: str | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    said: str = ""
    fields: Sequence[str] = ()


Own = TypeVar("Own", bound="DataSection")

Click = Callable[[Own, Asked], Led]


def click(answer: Click[Own]) -> Click[Own]:
    """Mark a method of a section that the view may call, as `act(section, name, given)`."""
    answer.is_click = True  # type: ignore[attr-defined]
    return answer


@click
def open_sample(_section: "DataSection", asked: Asked) -> Led:
    """Open the clicked sample."""
    return Led(sample=asked.value("sample"))


@click
def open_form(section: "DataSection", asked: Asked) -> Led:
    """Open the form of the operator that makes the shown run."""
    return Led(operator=kf.KINDS[section.run_kind(asked)].operator)


def open_filled_form(**more: Any) -> "Click[DataSection]":
    """Return a click that opens this form with the settings of the run, and `more`."""

    @click
    def answer(section: "DataSection", asked: Asked) -> Led:
        kind = section.run_kind(asked)
        operator, run = kf.KINDS[kind].operator, kf.load_metrics(asked.dataset, asked.run(kind).key)
        filled = foo.get_operator(f"{PLUGIN}/{operator}").filled_in(asked.dataset, run)
        return Led(operator=operator, given={**filled, **more})

    return answer


def show(view_of: Callable[..., Any], text: str, kind: str = "", **clicked: str) -> "Click[DataSection]":
    """Return a click that shows a view of the run of a kind (by default the section's); `text` describes its images.

    `clicked`: argument of `view_of` -> name of the clicked value, which `text` has in braces.
    """

    @click
    def answer(section: "DataSection", asked: Asked) -> Led:
        given = {argument: asked.value(name) for argument, name in clicked.items()}
        view = asked.view(view_of, kind or section.KIND, **given)
        return Led(view, text.format(**{name: plain(asked.value(name)) for name in clicked.values()}))

    return answer


def prompt(operator: str, **runs: str) -> "Click[DataSection]":
    """Return a click that opens the form of an operator, filled in with the clicked values and the keys of `runs`.

    `runs`: argument -> kind of its run.
    """

    @click
    def answer(_section: "DataSection", asked: Asked) -> Led:
        keys = {argument: asked.run(kind).key for argument, kind in runs.items()}
        return Led(operator=operator, given={**asked.given, **keys})

    return answer


class DataSection:
    """Section that the view draws.

    A subclass sets its name (`NAME`), the text of its tab if that differs (`TITLE`), the kind of the run that it shows
    (`KIND`), the family of labels of that run (`FAMILY`), the parts of the filter that it applies (`FOLLOWS`), and the
    text without a run (`NOTHING_YET`: a title, and what the run would show). `send` returns its record, plain values
    of a few kilobytes, whose type is declared in its file of `panels/view/src/sections`. Methods marked `click` return
    the target of a click.
    """

    NAME: ClassVar[str]
    TITLE: ClassVar[str] = ""
    KIND: ClassVar[str] = ""
    FAMILY: ClassVar[Any] = OBJECTS
    FOLLOWS: ClassVar[tuple[str, ...]] = ()
    NOTHING_YET: ClassVar[tuple[str, str]] = ("", "")

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        """Return whether a data set has such a run, or labels of several raters to make one."""
        has_run = not self.KIND or (analysis is not None and self.KIND in analysis.runs)
        return has_run or (self.FAMILY is not None and is_rated(ctx, self.FAMILY))

    def run_kind(self, asked: Asked) -> str:
        """Return the kind of the shown run."""
        return self.KIND

    def send(self, asked: Asked) -> Any:
        """Return the record that the view draws."""
        raise NotImplementedError

    def act(self, name: str, asked: Asked) -> Led:
        """Return the target of a click."""
        clicks = {entry for entry in dir(type(self)) if getattr(getattr(type(self), entry), "is_click", False)}
        led: Led = getattr(self, lookup(dict.fromkeys(clicks, name), name, "click"))(asked)
        return led


def is_rated(ctx: Context, family: Any) -> bool:
    """Return whether fields have, or may have, labels by several raters: a list may name the rater of each label."""
    fields = kf.label_fields(ctx.dataset, family)
    return len(kf.rater_fields(ctx.dataset, family) or fields) > 1 or any(name != path for name, path in fields.items())
