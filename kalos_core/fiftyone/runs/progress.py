"""Progress of long operations, reported to a callable or as FiftyOne's progress bar on the terminal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import fiftyone as fo

from kalos_core.fiftyone.dataset.selection import Selection

Progress = Callable[[float, str], None]
"""``progress(share, label)``; `share` is the fraction completed, from 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class RunArguments(Selection):
    """Arguments of every analysis besides its settings: the selection of labels, and the progress callback."""

    progress: Progress | bool | None = None


class Report:
    """Progress reporter: calls a callable, shows a bar on the terminal (True), or does nothing.

    Use it as a context manager: FiftyOne's bar holds back printed output until it is closed.
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
        """Report the fraction of the work that is done, and the next step."""
        if self._call is not None:
            self._call(share, label)
        if self._bar is not None:
            self._bar.update(round(100 * share) - self._shown)
            self._shown = round(100 * share)

    def part(self, begin: float, end: float, title: str = "") -> Progress:
        """Return a progress callback for a part of the work, between two fractions; labels are prefixed by a title."""
        before = f"{title}: " if title else ""
        return lambda share, label: self(begin + share * (end - begin), f"{before}{label}")

    def within(self, begin: float, end: float, label: str) -> Callable[[float], None]:
        """Return a callback for the fraction done of a part of the work, between two fractions, with a fixed label."""
        return lambda share: self(begin + share * (end - begin), label)
