"""The filter of a panel: a class, a rater, a tag of samples, or the view in the grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.fiftyone.internals import root_of

CANNOT_FOLLOW = (
    "Of all images of the run: label convergence and calibration draw images and compare distributions, which cannot "
    "be narrowed down afterwards. Label convergence knows each sample tag by itself where the run was told to."
)
"""Message of a section that the filter does not affect."""


@dataclass(frozen=True)
class Filter:
    """What numbers are narrowed down to; all of a run unless anything is given.

    Parameters
    ----------
    category, rater : str, optional
        Names of the run.
    tag : str, optional
        Of samples.
    samples : sequence of str, optional
        Ids of the samples of a view that is followed, as ``view.values("id")`` has them; others may be among them.

    Examples
    --------
    >>> Filter(category="cat").is_whole, Filter().is_whole, Filter(rater="ann").limits_images
    (False, True, False)
    """

    category: str | None = None
    rater: str | None = None
    tag: str | None = None
    samples: Sequence[str] | None = None

    @property
    def limits_images(self) -> bool:
        """Whether it may leave out images."""
        return self.tag is not None or self.samples is not None

    @property
    def is_whole(self) -> bool:
        """Whether it leaves out nothing."""
        return self == Filter()

    def images_in(self, samples: Any, ids: ArrayLike) -> NDArray[np.intp]:
        """(J,) which of the images with these ids (I,) it leaves, in their order; no label is read.

        Parameters
        ----------
        samples : fiftyone.core.collections.SampleCollection
            Whose tags are asked.
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
        """The samples of a view that it leaves, for the database."""
        tagged = view if self.tag is None else view.match_tags(self.tag)
        return tagged if self.samples is None else tagged.select(list(self.samples))
