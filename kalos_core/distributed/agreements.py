"""Agreement over shards: units and sums of each, joined in the order of images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import (
    AgreementNumbers,
    AgreementSettings,
    check_comparable,
    image_coincidences,
    numbers_of,
)
from kalos_core._agreement import agreement as agreement_of_table
from kalos_core.annotations import Annotations
from kalos_core.correspondence.sizes import UnitCounts
from kalos_core.distributed.shards import Shards, open_shards
from kalos_core.distributed.work import Workers, over_shards
from kalos_core.options import takes
from kalos_core.reliability import Coincidences, Units, join_coincidences
from kalos_core.similarity import SIMILARITIES, Similarity


@dataclass(frozen=True, eq=False, repr=False)
class ShardedAgreement(AgreementNumbers):
    """The result of `kalos_core.distributed.agreement`: that of `kalos_core.agreement` without its annotations.

    Figures: ``"images"``.

    Parameters
    ----------
    configuration, units, image_alpha, alpha, alpha_interval, global_alpha, global_alpha_interval
        As of `Agreement`.
    empty_images, alpha_without_empty
        Likewise.
    images, files : (I,) object
    raters : (R,) object
    annotations_per_image : (I,) int
    counts : UnitCounts
        What `unit_sizes` is made of.

    Examples
    --------
    >>> from kalos_core.distributed import agreement, write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "ab"]
    >>> shards = write_shards(Annotations.from_rows(rows), "first", images_per_shard=2)
    >>> agreement(shards).to_pandas()["units"].tolist()
    [1, 1, 1]
    """

    _call = "kalos_core.distributed.agreement(folder)"

    configuration: AgreementSettings
    units: Units
    image_alpha: NDArray[np.float64]
    alpha: float
    alpha_interval: NDArray[np.float64]
    global_alpha: float
    global_alpha_interval: NDArray[np.float64]
    empty_images: int
    alpha_without_empty: float
    images: NDArray[np.object_]
    files: NDArray[np.object_]
    raters: NDArray[np.object_]
    annotations_per_image: NDArray[np.intp]
    counts: UnitCounts

    def unit_counts(self) -> UnitCounts:
        """What `unit_sizes` is made of."""
        return self.counts

    def _of_images(self) -> dict[str, NDArray[Any]]:
        return {"image": self.images, "file": self.files, "annotations": self.annotations_per_image}

    def _raters(self) -> NDArray[np.object_]:
        return self.raters


@dataclass(frozen=True)
class OverShards(AgreementSettings, Workers):
    """What `agreement` of shards takes."""

    def for_shards(self, shards: Shards) -> tuple[Similarity, AgreementSettings]:
        """As `for_kinds`, of shards."""
        return self.for_kinds(shards.vocabulary.complete)


@dataclass(frozen=True, eq=False)
class AgreementTask:
    """What `agreement` asks of the table of a shard."""

    similarity: str | Similarity
    settings: AgreementSettings

    def __call__(self, annotations: Annotations) -> AgreementPart:
        """What the shard of a table adds."""
        found = agreement_of_table(annotations, **without_interval(self.similarity, self.settings))
        sums, empty = image_coincidences(found.annotations, found.units)
        count = np.bincount(annotations.image, minlength=len(annotations.images))
        return AgreementPart(found.units, sums, empty, count, found.unit_counts())


@dataclass(frozen=True, eq=False)
class AgreementPart:
    """What one shard adds to an agreement; images are numbered from 0 in each."""

    units: Units
    sums: Coincidences
    empty: NDArray[np.bool_]
    annotations: NDArray[np.intp]
    counts: UnitCounts


@takes(OverShards)
def agreement(folder: str | os.PathLike[str] | Shards, settings: OverShards) -> ShardedAgreement:
    """As `kalos_core.agreement`, of a folder of shards, with the same numbers.

    Parameters
    ----------
    folder : path, address of `fsspec`, or Shards
        Made by `write_shards`.
    client : Client of `dask.distributed`, address of a Dask scheduler, or None
        Who works on the shards; None: this process, one after the other.
    progress : callable, optional
        ``progress(share, label)``, after each shard.

    Returns
    -------
    ShardedAgreement

    Raises
    ------
    InputError
        As `kalos_core.agreement`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "ab"]
    >>> write_shards(Annotations.from_rows(rows), "second", images_per_shard=2).images
    3
    >>> agreement("second").alpha
    1.0
    """
    shards = open_shards(folder)
    measure, chosen = settings.for_shards(shards)
    known = shards.without_annotations()
    check_comparable(known)
    parts = over_shards(shards, AgreementTask(sent(measure), chosen), settings.client, settings.progress, "Agreement")
    sums = join_coincidences([part.sums for part in parts])
    empty = np.concatenate([part.empty for part in parts])
    return ShardedAgreement(
        configuration=chosen,
        units=join_units(shards, [part.units for part in parts]),
        **numbers_of(sums, empty, chosen, known.image_rank),
        images=known.images,
        files=known.files,
        raters=known.raters,
        annotations_per_image=np.concatenate([part.annotations for part in parts]),
        counts=reduce(add, [part.counts for part in parts]),
    )


def sent(measure: Similarity) -> str | Similarity:
    """A similarity as it is sent to workers: by name, where they have it too."""
    return measure.name if SIMILARITIES.get(measure.name) is measure else measure


def without_interval(similarity: str | Similarity, settings: AgreementSettings) -> dict[str, Any]:
    """The arguments of `kalos_core.agreement` on one shard: intervals are drawn over all of them."""
    return {**settings.record(), "similarity": similarity, "bootstrap": 0}


def join_units(shards: Shards, parts: Sequence[Units]) -> Units:
    """The units of all shards, with the numbers of images among all."""
    image = [part.image + files.first_image for part, files in zip(parts, shards.files, strict=True)]
    return Units(np.concatenate(image), np.concatenate([part.values for part in parts]))
