"""Panels that the view draws: methods answer questions of the view as plain JSON values, without redrawing."""

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import fiftyone.operators as foo
import fiftyone.operators.types as types

from kalos_core import KalosError
from kalos_core.fiftyone.app import send_selections
from kalos_core.results import plain_values

from .events import Context

logger = logging.getLogger(__name__)

Owner = TypeVar("Owner")

Answer = Callable[[Owner, Context], Any]


def question(method: Answer[Owner]) -> Answer[Owner]:
    """A method that the view may call; what it returns is the answer."""
    method.is_question = True  # type: ignore[attr-defined]
    return method


def answered(what: Callable[[], Any]) -> Any:
    """An answer as plain values, or what went wrong, which the view shows: of an exception the App shows its own."""
    try:
        return plain_values(what())
    except KalosError as error:
        return {"problem": str(error)}
    except Exception as error:
        logger.exception("A question of the view was not answered")
        return {"problem": f"{type(error).__name__}: {error}"}


def as_text(value: Any) -> str:
    """For the data of a panel: the App lays a new value over the one before, entry by entry, but replaces texts."""
    return json.dumps(value, default=str)


class View(foo.Panel):
    """A panel whose component of the view (`COMPONENT`) draws it.

    By default every event of a panel in Python ends in a redraw of the whole panel, which takes the App longer than
    most answers; a question is answered without one.
    """

    COMPONENT: ClassVar[str]

    @classmethod
    def questions(cls) -> list[str]:
        return [name for name in dir(cls) if getattr(getattr(cls, name), "is_question", False)]

    async def execute(self, ctx: Context) -> Any:
        """Answer in a thread, then select the labels that the answer points at."""
        result = await asyncio.to_thread(self.answer, ctx)
        await send_selections(ctx)
        return result

    def answer(self, ctx: Context) -> Any:
        name = ctx.params.get("__method__")
        if name in self.questions():
            return answered(lambda: getattr(self, name)(ctx))
        return foo.Panel.execute(self, ctx)

    def render(self, ctx: Context) -> types.Property:
        """The view gets an address of each method that it may call, under its name."""
        methods = {name: getattr(self, name) for name in self.questions()}
        view = types.View(component=self.COMPONENT, composite_view=True, **methods)
        return types.Property(types.Object(), view=view)
