"""One call and its permitted outcomes: a result, or our own error, soon and with a readable message."""

from __future__ import annotations

import itertools
import reprlib
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from kalos_core import KalosError
from kalos_core.errors import LONGEST_MESSAGE

SECONDS = 20
"""Maximum CPU seconds of a call on small input, as other programs use the processor, too."""


class HangError(BaseException):
    """A call did not end."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Stop code that takes longer, where signals are available."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise HangError(f"more than {seconds} s of the processor")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attempt(call: Callable[[], Any]) -> BaseException | None:
    """Return a forbidden exception of a call; None if it returned or refused its input."""
    try:
        with warnings.catch_warnings(), within(SECONDS):
            warnings.simplefilter("ignore")
            call()
    except KalosError as error:
        text = str(error)
        if len(text) > 4 * LONGEST_MESSAGE or not text.replace("\n", "").isprintable():
            return AssertionError(f"a message of {len(text):,} characters, or that cannot be printed")
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error
    return None


def where(error: BaseException) -> str:
    """Return the type of an error and the last place in the library that it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "kalos_core" in frame.filename]
    if not frames:
        return type(error).__name__
    last = frames[-1]
    return f"{type(error).__name__} in {last.filename.rpartition('kalos_core/')[2]}:{last.lineno} {last.name}"


@dataclass(frozen=True)
class Target:
    """Callable, strategy for its arguments, and permitted errors of Python."""

    call: Callable[..., Any]
    arguments: st.SearchStrategy[dict[str, Any]]
    allowed: tuple[type[BaseException], ...] = ()


def search(target: Target, examples: int, start: int) -> tuple[int, dict[str, str]]:
    """Return the number of calls, and forbidden exceptions -> arguments that raise them."""
    tried, findings = 0, dict[str, str]()

    @seed(start)
    @settings(max_examples=examples, database=None, deadline=None, derandomize=False, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(target.arguments)
    def run(given_: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        error = attempt(lambda: use(target.call(**given_)))
        if error is not None and not isinstance(error, target.allowed):
            shown = {name: shown_as(value) for name, value in given_.items()}
            findings.setdefault(where(error), f"{str(error)[:150]} {shown}")

    run()
    return tried, findings


def shown_as(value: Any) -> str:
    """Return any value in few characters."""
    try:
        return reprlib.repr(value)
    except (ValueError, RecursionError):  # a number of too many digits, or lists without end
        return type(value).__name__


def use(result: Any) -> None:
    """Access lazily computed parts of a result, and display it."""
    if hasattr(result, "__next__"):
        list(itertools.islice(result, 3))
    with suppress(RecursionError):  # Python's own, of lists that lie in one another without end
        repr(result)
