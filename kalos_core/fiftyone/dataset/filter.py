"""Filter of a panel: a class, a rater, a sample tag, or the view in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bson import ObjectId
from numpy.typing import ArrayLike, NDArray

from kalos_core.errors import InputError, check_iterable, check_text, repr_of
from kalos_core.fiftyone.internals import root_of

CANNOT_FOLLOW = (
    "The filter does not apply to this section: label convergence and calibration sample from all images of the run, "
    "so that they cannot be filtered afterwards. Label convergence is also computed for each sample tag, if selected."
)
"""Message of a section that the filter does not affect."""


@dataclass(frozen=True)
class Filter:
    """Filter for the numbers of a run; an empty filter keeps everything.

    Parameters
    ----------
    category, rater : str, optional
        Names of a class and of a rater of the run.
    tag : str, optional
        Sample tag.
    samples : sequence of str, optional
        Ids of the samples of a view, as in ``view.values("id")``; samples that the run does not have are ignored.

    Examples
    --------
    >>> Filter(category="cat").is_whole, Filter().is_whole, Filter(rater="ann").limits_images
    (False, True, False)
    """

    category: str | None = None
    rater: str | None = None
    tag: str | None = None
    samples: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for name in ("category", "rater", "tag"):
            if getattr(self, name) is not None:
                check_text(getattr(self, name), name)
        if self.samples is not None:
            given = tuple(check_iterable(self.samples, "samples", "ids of samples"))
            object.__setattr__(self, "samples", tuple(filter(ObjectId.is_valid, given)))  # others have no sample

    @property
    def limits_images(self) -> bool:
        """Whether it may exclude images."""
        return self.tag is not None or self.samples is not None

    @property
    def is_whole(self) -> bool:
        """Whether it excludes nothing."""
        return self == Filter()

    def images_in(self, samples: Any, ids: ArrayLike) -> NDArray[np.intp]:
        """Return the indices (J,) of the images that pass the filter, in their order; no label is read.

        Parameters
        ----------
        samples : fiftyone.core.collections.SampleCollection
            Collection whose data set has the tags.
        ids : (I,) str
        """
        known = np.asarray(ids, dtype=np.bytes_)
        there = np.ones(len(known), np.bool_)
        if self.samples is not None:
            there &= np.isin(known, np.array(self.samples, dtype=np.bytes_))
        if self.tag is not None:
            tagged = root_of(samples).match_tags(self.tag).values("id")
            there &= np.isin(known, np.array(tagged, dtype=np.bytes_))
        return np.flatnonzero(there)

    def within(self, view: Any) -> Any:
        """Return the view of the samples that pass the filter."""
        tagged = view if self.tag is None else view.match_tags(self.tag)
        return tagged if self.samples is None else tagged.select(list(self.samples))


def check_filter(value: object) -> Filter:
    """Check that an argument is a `Filter`.

    Examples
    --------
    >>> check_filter("ann")
    Traceback (most recent call last):
    kalos_core.errors.InputError: filter: expected a Filter, such as Filter(rater='ann'), got 'ann'
    """
    if not isinstance(value, Filter):
        raise InputError(f"filter: expected a Filter, such as Filter(rater='ann'), got {repr_of(value)}")
    return value
