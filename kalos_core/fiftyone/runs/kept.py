"""What was made of a stored run stays in memory for the next click: a run never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from kalos_core.fiftyone.internals import id_of, root_of
from kalos_core.fiftyone.runs.analyses import AnyRun

Made = TypeVar("Made")

MOST = 16
"""So many are kept, those asked for last."""

_KEPT: OrderedDict[Hashable, Any] = OrderedDict()
_LOCK = Lock()


def kept(samples: Any, run: AnyRun, what: Hashable, make: Callable[[], Made]) -> Made:
    """What `make` makes of the stored arrays of a run, or made of them before.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run : Run
        One that was made again under its key is another one.
    what : hashable
        What is made of it.
    make : callable
    """
    name = id_of(root_of(samples)), run.key, run.made_at, what
    with _LOCK:
        found: Made | None = _KEPT.get(name)
    made = make() if found is None else found
    with _LOCK:
        _KEPT[name] = made
        _KEPT.move_to_end(name)
        if len(_KEPT) > MOST:
            _KEPT.popitem(last=False)
    return made
