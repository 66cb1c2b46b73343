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
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.results import plain_values

from .events import Context

logger = logging.getLogger(__name__)

Owner = TypeVar("Owner")

Answer = Callable[[Owner, Context], Any]


def question(method: Answer[Owner]) -> Answer[Owner]:
    """Mark a method that the view may call; its return value is the answer."""
    method.is_question = True  # type: ignore[attr-defined]
    return method


def answered(what: Callable[[], Any], dataset: Any = None) -> Any:
    """Return an answer as plain values, or as a problem for the view; the App would show exceptions its own way.

    With a data set, external causes are explained, such as a deleted field.
    """
    try:
        with explained(dataset, "nothing is shown"):
            return plain_values(what())
    except KalosError as error:
        return {"problem": str(error)}
    except Exception as error:
        logger.exception("A question of the view failed")
        return {"problem": f"{type(error).__name__}: {error}"}


def as_text(value: Any) -> str:
    """Return panel data as text: the App merges new values into old ones entry by entry, but replaces texts."""
    return json.dumps(value, default=str)


class View(foo.Panel):
    """Panel that a component of the view (`COMPONENT`) draws.

    By default, every event of a Python panel redraws the whole panel, which takes the App longer than most answers.
    Questions are answered without redrawing.
    """

    COMPONENT: ClassVar[str]

    @classmethod
    def questions(cls) -> list[str]:
        return [name for name in dir(cls) if getattr(getattr(cls, name), "is_question", False)]

    async def execute(self, ctx: Context) -> Any:
        """Answer in a thread, then select the labels of the answer."""
        result = await asyncio.to_thread(self.answer, ctx)
        await send_selections(ctx)
        return result

    def answer(self, ctx: Context) -> Any:
        name = ctx.params.get("__method__")
        if name in self.questions():
            return answered(lambda: getattr(self, name)(ctx), ctx.dataset)
        return foo.Panel.execute(self, ctx)

    def render(self, ctx: Context) -> types.Property:
        """Pass the view the address of each method that it may call, by name."""
        methods = {name: getattr(self, name) for name in self.questions()}
        view = types.View(component=self.COMPONENT, composite_view=True, **methods)
        return types.Property(types.Object(), view=view)
