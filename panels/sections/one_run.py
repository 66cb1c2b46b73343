"""What sections share that show one run of a kind, and pages of it."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.table import Part
from kalos_core.options import arguments_of
from kalos_core.text import bold

from ..parts.events import WORKBENCH, Context, Handler, guarded
from ..parts.layout import add_row
from .base import Section

Parts = dict[str, Part]

BY_ATTRIBUTE = "one field with a rater attribute"
"""How forms call labels of several raters in one field."""


class RunSection(Section):
    """A section of one run: a subclass puts it into the state in `load_run`, page by page."""

    def load(self, ctx: Context, analysis: Analysis) -> None:
        ctx.panel.state.run = analysis.runs[self.KIND].key
        self.load_again(ctx)

    def load_again(self, ctx: Context) -> None:
        """Of the run that is chosen, not of the first."""
        self.load_run(ctx, kf.load_details(ctx.dataset, ctx.panel.state.run))

    def load_run(self, ctx: Context, run: Any) -> None:
        raise NotImplementedError

    def is_first_page(self, ctx: Context) -> bool:
        return self.page(ctx) == next(iter(self.PAGES), "")

    def put_headline(self, ctx: Context, title: str, text: str) -> None:
        """The finding of a run and what it is over, on its first page."""
        ctx.panel.state.headline = f"{bold(title)}\n\n{text}" if self.is_first_page(ctx) else ""

    def add_headline(self, panel: types.Object, ctx: Context, again: str = "New run") -> types.Object:
        """The headline, and a row of buttons to add to."""
        state = ctx.panel.state
        if state.headline:
            panel.md(state.headline, name="headline_text")
        self.add_not_in_lens(panel, ctx)
        row = add_row(panel, "actions")
        row.btn("again", label=again, icon="play_arrow", on_click=f"{WORKBENCH}#make", variant="outlined")
        return row


def chooses(name: str) -> Handler[Any]:
    """A handler of the menu of that name: what is chosen goes into the state, and the section is shown anew."""

    def change(self: Section, ctx: Context) -> None:
        ctx.panel.set_state(name, ctx.params["value"])
        self.load_again(ctx)

    change.__name__ = f"change_{name}"
    return guarded(change)


ALL = "0"
"""In a menu of raters; the others are numbers from 1: a name might be anything."""


def chosen_rater(ctx: Context, name: str, raters: Sequence[str]) -> str | None:
    """The rater in the menu of that name, None for all; its entries go into the state, under the plural."""
    entries = {ALL: "All raters", **{str(at): rater for at, rater in enumerate(raters, 1)}}
    ctx.panel.set_state(f"{name}s", entries)
    if (chosen := ctx.panel.get_state(name)) not in entries:
        ctx.panel.set_state(name, chosen := ALL)
    return None if chosen == ALL else entries[chosen]


def selected_in_form(selection: kf.Selection, *limits: str) -> dict[str, Any]:
    """The labels that a run read, as the form of its operator has them, which has these limits."""
    given: dict[str, Any] = {"raters": selection.raters}
    if selection.field is not None:
        how = {"storage": BY_ATTRIBUTE, "field": selection.field, "rater_attribute": selection.rater_attribute}
        given = {**how, "raters_in_field": selection.raters}
    given |= {"reference": selection.reference, **{name: getattr(selection, name) for name in limits}}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in given.items() if value}


def refuse_unasked(run: Any, asked: Collection[str]) -> None:
    """That the form would make another run, as it does not ask for all that this one was made with.

    Parameters
    ----------
    run : Run
    asked : names
        Arguments of the function that made it, which the form asks for.
    """
    function = kf.KINDS[run.kind].operator
    arguments = arguments_of(getattr(kf, function))
    usual = {name: list(of) if isinstance(of, tuple) else of for name, of in arguments.items()}
    settings = {name: value for name, value in run.settings.items() if name in usual and value != usual[name]}
    unasked = {name: value for name, value in {**settings, **run.selection.arguments()}.items() if name not in asked}
    if unasked:
        named = ", ".join(f"{name}={value!r}" for name, value in unasked.items())
        raise InputError(
            f"run: {run.key!r} was made with {named}, which the form does not ask for: what it makes would be of "
            f"something else; in Python kf.{function} takes all of it"
        )


def take_title(parts: Parts, name: str) -> str:
    """The finding of a part that is shown as headline, and not again above its figure."""
    title = parts[name].title
    parts[name] = replace(parts[name], title="")
    return title
