"""Cache in memory of values computed from a stored run, which never changes, or from one of its samples."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from kalos_core.fiftyone.internals import id_of, root_of
from kalos_core.fiftyone.runs.analyses import AnyRun

Made = TypeVar("Made")

MOST = {"run": 16, "sample": 32}
"""Maximum number of cached values of all samples, and of one sample; the least recently used is dropped."""

_KEPT: dict[str, OrderedDict[Hashable, Any]] = {of: OrderedDict() for of in MOST}
_LOCK = Lock()


def kept(samples: Any, run: AnyRun, what: Hashable, make: Callable[[], Made], of: str = "run") -> Made:
    """Return the value that `make` computes from the stored arrays of a run, or from one of its samples, cached.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run : Run
        A run that is made again under the same key counts as a different run.
    what : hashable
        Name of the value; of a sample, with the times of its last edit and of that of its data set.
    make : callable
    of : key of `MOST`
    """
    cache, name = _KEPT[of], (id_of(root_of(samples)), run.key, run.made_at, what)
    with _LOCK:
        found: Made | None = cache.get(name)
    made = make() if found is None else found
    with _LOCK:
        cache[name] = made
        cache.move_to_end(name)
        if len(cache) > MOST[of]:
            cache.popitem(last=False)
    return made
