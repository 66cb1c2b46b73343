"""Progress of long work: to a callable, or as FiftyOne's bar on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import fiftyone as fo

from kalos_core.fiftyone.dataset.selection import Selection

Progress = Callable[[float, str], None]
"""``progress(share, label)``, share of the work from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class RunArguments(Selection):
    """What every analysis takes beside its settings: which labels are read, and who is told of progress."""

    progress: Progress | bool | None = None


class Report:
    """Passes progress on to whoever wants it: a callable, the terminal (True), or nobody.

    To be used as a context: FiftyOne's bar keeps what is printed to itself until it is closed.
    """

    def __init__(self, progress: Progress | bool | None) -> None:
        self._call = progress if callable(progress) else None
        self._bar = fo.ProgressBar(total=100, iters_str="%") if progress is True else None
        self._shown = 0

    def __enter__(self) -> Report:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, share: float, label: str) -> None:
        """Say that this share of the work is done, and what comes next."""
        if self._call is not None:
            self._call(share, label)
        if self._bar is not None:
            self._bar.update(round(100 * share) - self._shown)
            self._shown = round(100 * share)

    def part(self, begin: float, end: float, title: str = "") -> Progress:
        """Progress of one part of the work, which begins and ends at these shares of all; its labels follow a title."""
        before = f"{title}: " if title else ""
        return lambda share, label: self(begin + share * (end - begin), f"{before}{label}")

    def within(self, begin: float, end: float, label: str) -> Callable[[float], None]:
        """What reports the share of one part of the work, which begins and ends at these shares of all."""
        return lambda share: self(begin + share * (end - begin), label)
