"""Variations over shards: counts of each, which add up."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import check_comparable
from kalos_core.annotations import Annotations, object_array
from kalos_core.distributed.agreements import sent
from kalos_core.distributed.shards import Shards, open_shards
from kalos_core.distributed.work import Workers, over_shards
from kalos_core.options import takes
from kalos_core.similarity.fitting import measure_for
from kalos_core.variation import VARIATION_TYPES, Confusions
from kalos_core.variation import variations as variations_of_table
from kalos_core.variation.find import VariationSettings
from kalos_core.variation.tables import CORRECT, VariationNumbers

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ShardedVariations(VariationNumbers):
    """The result of `kalos_core.distributed.variations`: the numbers of `kalos_core.variations`, not each finding.

    Figures: ``"types"``.

    Parameters
    ----------
    similarity_name : str
    threshold : float
    max_merge : int
    images : (I,) object
    raters : (R,) object
    own : (R,) int
        Annotations of each rater.
    of_pair : (R, R, T) int
        Findings of rater_a, rater_b and type; rater_a comes before rater_b in the vocabulary.
    of_image : (I, T) int32
        Findings of each image and type.
    identical : int
        Correct findings with similarity exactly 1.
    merged_of, split_of : (R,) int
        Annotations of each rater that another split into parts, and of others that each rater split.
    confused : Confusions
        Its `findings` are empty.

    Examples
    --------
    >>> from kalos_core.distributed import variations, write_shards
    >>> rows = [{"image": i, "rater": r, "category": c, "box": [0, 0, 9, 9]} for i in (1, 2) for r, c in ["ac", "bd"]]
    >>> found = variations(write_shards(Annotations.from_rows(rows), "first", images_per_shard=1))
    >>> found.counts()["wrong_class"], found.confusions().to_pandas().values.tolist()
    (2, [['c', 'd', 2]])
    """

    _call = "kalos_core.distributed.variations(folder)"

    similarity_name: str
    threshold: float
    max_merge: int
    images: NDArray[np.object_]
    raters: NDArray[np.object_]
    own: NDArray[np.intp]
    of_pair: NDArray[np.intp]
    of_image: NDArray[np.int32]
    identical: int
    merged_of: NDArray[np.intp]
    split_of: NDArray[np.intp]
    confused: Confusions

    def __len__(self) -> int:
        return int(self.of_pair.sum())

    def by_pair(self) -> NDArray[np.intp]:
        """(R, R, T) findings of rater_a, rater_b and type."""
        return self.of_pair

    def _raters(self) -> tuple[NDArray[np.object_], NDArray[np.intp]]:
        return self.raters, self.own

    def confusions(self) -> Confusions:
        """As of `Variations`, without the findings of each."""
        return self.confused

    def merged_by(self) -> dict[str, int]:
        """As of `Variations`."""
        return dict(zip(self.raters.tolist(), self.merged_of.tolist(), strict=True))

    def split_by(self) -> dict[str, int]:
        """As of `Variations`."""
        return dict(zip(self.raters.tolist(), self.split_of.tolist(), strict=True))

    @property
    def identical_share(self) -> float:
        """As of `Variations`."""
        correct = int(self.of_pair[..., CORRECT].sum())
        return self.identical / correct if correct else float("nan")

    def to_pandas(self) -> pd.DataFrame:
        """One row an image: how many findings of each type it has."""
        import pandas as pd

        columns = {name: self.of_image[:, code] for code, name in enumerate(VARIATION_TYPES)}
        return pd.DataFrame({"image": self.images, **columns})


@dataclass(frozen=True, eq=False)
class VariationsTask:
    """What `variations` asks of the table of a shard."""

    settings: VariationSettings

    def __call__(self, annotations: Annotations) -> VariationsPart:
        """What the shard of a table adds."""
        found = variations_of_table(annotations, **self.settings.record())
        confused, types = found.confusions(), len(VARIATION_TYPES)
        images = np.bincount(found.image * types + found.type_code, minlength=types * len(annotations.images))
        return VariationsPart(
            of_pair=found.by_pair(),
            of_image=images.reshape(-1, types).astype(np.int32),
            own=np.bincount(annotations.rater, minlength=len(annotations.raters)),
            identical=int((found.similarity[found.type_code == CORRECT] == 1).sum()),
            merged_of=np.array(list(found.merged_by().values()), np.intp),
            split_of=np.array(list(found.split_by().values()), np.intp),
            confused={
                names: (count, raters)
                for *names_, count, raters in zip(
                    confused.category_a, confused.category_b, confused.count.tolist(), confused.by_rater, strict=True
                )
                for names in [tuple(names_)]
            },
        )


@dataclass(frozen=True, eq=False)
class VariationsPart:
    """What one shard adds; fields as of `ShardedVariations`."""

    of_pair: NDArray[np.intp]
    of_image: NDArray[np.int32]
    own: NDArray[np.intp]
    identical: int
    merged_of: NDArray[np.intp]
    split_of: NDArray[np.intp]
    confused: dict[tuple[Any, ...], tuple[int, NDArray[np.intp]]]


@dataclass(frozen=True)
class VariationsOverShards(VariationSettings, Workers):
    """What `variations` of shards takes."""


@takes(VariationsOverShards)
def variations(folder: str | os.PathLike[str] | Shards, settings: VariationsOverShards) -> ShardedVariations:
    """As `kalos_core.variations`, of a folder of shards: the same counts, rates and confusions.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    ShardedVariations

    Raises
    ------
    InputError
        As `kalos_core.variations`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": "ab"[i % 2], "category": "cat", "box": [0, 0, 9, 9]} for i in range(4)]
    >>> table = Annotations.from_rows(rows, raters=["a", "b"], assigned="all")
    >>> variations(write_shards(table, "second", images_per_shard=3)).rates()["a"]["missing"]
    100.0
    """
    shards = open_shards(folder)
    measure = measure_for(settings.similarity, shards.vocabulary.complete)
    known = shards.without_annotations()
    check_comparable(known)
    task = VariationsTask(settings.part(VariationSettings, similarity=sent(measure)))
    parts = over_shards(shards, task, settings.client, settings.progress, "Variations")
    return ShardedVariations(
        similarity_name=measure.name,
        threshold=settings.threshold,
        max_merge=settings.max_merge,
        images=known.images,
        raters=known.raters,
        own=np.sum([part.own for part in parts], axis=0),
        of_pair=np.sum([part.of_pair for part in parts], axis=0),
        of_image=np.concatenate([part.of_image for part in parts]),
        identical=sum(part.identical for part in parts),
        merged_of=np.sum([part.merged_of for part in parts], axis=0),
        split_of=np.sum([part.split_of for part in parts], axis=0),
        confused=_join_confusions(parts, known),
    )


def _join_confusions(parts: Sequence[VariationsPart], known: Annotations) -> Confusions:
    """Counts of the same two classes added up, most often first, then in the order of the vocabulary."""
    code = {name: number for number, name in enumerate(known.categories)}
    count: Counter[tuple[Any, ...]] = Counter()
    by_rater: dict[tuple[Any, ...], Any] = {}
    for part in parts:
        for names, (times, raters) in part.confused.items():
            count[names] += times
            by_rater[names] = by_rater.get(names, 0) + raters
    order = sorted(count, key=lambda names: (-count[names], code[names[0]], code[names[1]]))
    return Confusions(
        category_a=object_array(first for first, _ in order),
        category_b=object_array(second for _, second in order),
        count=np.array([count[names] for names in order], np.intp),
        findings=object_array(() for _ in order),
        by_rater=np.array([by_rater[names] for names in order], np.intp).reshape(-1, 2, len(known.raters)),
    )
