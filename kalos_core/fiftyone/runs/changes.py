"""What has changed since a run: counted by the database, looked at label by label only when that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np
from fiftyone import ViewField as F
from numpy.typing import NDArray

from kalos_core.fiftyone.dataset.database import edited_since
from kalos_core.fiftyone.dataset.raters import facts_of
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.runs.arrays import StoredArrays
from kalos_core.fiftyone.runs.table import KINDS, Read, Run


@dataclass(frozen=True, eq=False)
class Changes:
    """A stored run beside the labels of its view as they are now. I images of the view now, J images it read.

    Parameters
    ----------
    run : Run
    arrays : mapping
        What it stored.
    view : fiftyone.core.collections.SampleCollection
        What it was computed on.
    config : object
        As FiftyOne stores it.
    """

    run: Run[Any, Any, Any, Any]
    arrays: StoredArrays
    view: Any
    config: Any

    @cached_property
    def images(self) -> list[str]:
        """(I,) ids of the samples of the view, in its order."""
        found: list[str] = self.view.values("id")
        return found

    @cached_property
    def hash_of(self) -> dict[str, str]:
        """Image -> digest of the labels that the run read."""
        ids, hashes = (np.char.decode(self.arrays[name], "ascii").tolist() for name in ("image_ids", "hashes"))
        return dict(zip(ids, hashes, strict=True))

    @cached_property
    def fresh(self) -> Read | None:
        """The labels, as they are now, of the samples that may have changed: no others are read. None without any."""
        kind, view = KINDS[self.run.kind], self._edited
        known = self.hash_of
        extra = [key for key in self.images if key not in known]
        extra += [] if kind.newer is None else kind.newer(self.view, self.run)
        if extra:
            view = self.view.select([*extra, *view.values("id")])
        return kind.read(view, self.run) if len(view) else None

    @property
    def _edited(self) -> Any:
        """Samples that somebody edited since; all, if what is known of the raters has changed."""
        known = facts_of(self.view, self.run.selection.raters or ())
        return self.view if known != list(self.config.rater_facts) else edited_since(self.view, self.run.read_at)

    @cached_property
    def is_stale(self) -> NDArray[np.bool_]:
        """(F,) which of the fresh images differ from those that the run read."""
        if self.fresh is None:
            return np.zeros(0, np.bool_)
        pairs = zip(self.fresh.images, self.fresh.hashes, strict=True)
        return np.array([self.hash_of.get(image) != digest for image, digest in pairs], dtype=np.bool_)

    @cached_property
    def stale(self) -> list[str]:
        """Ids of the samples whose labels differ."""
        return [] if self.fresh is None else self.fresh.images[self.is_stale].tolist()

    @cached_property
    def gone(self) -> list[str]:
        """Ids of the samples that the run read and that its view has no more."""
        return sorted(set(self.hash_of) - set(self.images))

    @property
    def all(self) -> tuple[str, ...]:
        """Ids of all samples that changed or are gone."""
        return (*self.stale, *self.gone)


def count_changes(view: Any, run: Run[Any, Any, Any, Any]) -> int:
    """How many samples of a run were edited or deleted since: counts in the database, no label is read.

    An edit that changed no label, such as a tag, counts, too: `stale_samples` looks closer. So do files of masks that
    were written anew or removed, whose times are looked at. All count where a field of the labels is gone. In a clone
    of the data set only what happened to the clone counts, and to the files that both have.
    """
    if not all(view.has_field(field) for field in run.label_fields):
        return run.images
    since, made = run.read_at, root_of(view).created_at
    if made > since:  # a clone, whose samples all have its own time
        since = made + timedelta(milliseconds=1)
    made_before = int(view.match(F("created_at") <= since).count())
    edited, newer = edited_since(view, since), KINDS[run.kind].newer
    rewritten = [] if newer is None else newer(view, run, slack=0.0)
    only_files = len(rewritten) - (edited.select(rewritten).count() if rewritten else 0)
    return int(edited.count()) + only_files + max(run.images - made_before, 0)


def part_of(arrays: Mapping[str, NDArray[Any]], prefix: str, without: str = "\0") -> dict[str, NDArray[Any]]:
    """The arrays whose names begin with a prefix, without it; those with another text in their name are not fetched."""
    return {name[len(prefix) :]: arrays[name] for name in arrays if name.startswith(prefix) and without not in name}
