"""Cache in memory of values computed from a stored run, which never changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from kalos_core.fiftyone.internals import id_of, root_of
from kalos_core.fiftyone.runs.analyses import AnyRun

Made = TypeVar("Made")

MOST = 16
"""Maximum number of cached values; the least recently used is dropped."""

_KEPT: OrderedDict[Hashable, Any] = OrderedDict()
_LOCK = Lock()


def kept(samples: Any, run: AnyRun, what: Hashable, make: Callable[[], Made]) -> Made:
    """Return the value that `make` computes from the stored arrays of a run, cached.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run : Run
        A run that is made again under the same key counts as a different run.
    what : hashable
        Name of the value.
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
