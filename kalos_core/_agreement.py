"""Chance-corrected agreement of raters on location and class: KαLOS per image and for the whole data set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.thin import annotated_classes, thinned
from kalos_core.arguments import check_type
from kalos_core.correspondence.costs import CostName
from kalos_core.correspondence.sizes import UnitCounts, UnitSizes
from kalos_core.correspondence.units import SolverName, correspond
from kalos_core.display import bracketed, number_of
from kalos_core.errors import InputError
from kalos_core.inference import intervals, median_interval, why_no_interval
from kalos_core.limits import check_replicates
from kalos_core.options import Option, Replicates, Seed, Settings, takes
from kalos_core.pairs import Pairs, pairs_from
from kalos_core.reliability import (
    NOT_ASSIGNED,
    Coincidences,
    Units,
    alpha_of_all,
    build_units,
    image_coincidences,
    join_coincidences,
    join_units,
)
from kalos_core.resampling import Cells, resample
from kalos_core.results import Result
from kalos_core.sharding import Sharded, kinds_of, known_of
from kalos_core.similarity import Similarity, get_similarity
from kalos_core.similarity.base import Threshold
from kalos_core.similarity.fitting import AUTO, ComparedBy, measure_for, sent

BANDS = ((0.8, "near perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.0, "low"))
"""Lower bound on alpha of each band, best first; below the last is systematic disagreement (KαLOS §3.3).

The paper has no name for alphas from 0 to 0.4; we call them "low".
"""

CONVERGENCE_BANDS = ((0.8, "reliable"), (0.667, "tentative"))
"""Lower bound on alpha of each band of label convergence App. B; the bounds are Krippendorff's."""

BAND_SOURCES = (
    "KαLOS §3.3: ≥ 0.8 near perfect, ≥ 0.6 substantial, ≥ 0.4 moderate, < 0 systematic disagreement (0 to 0.4 has no "
    "name there: low). Label convergence App. B: ≥ 0.8 reliable, ≥ 0.667 tentative. Kappas have the same words: the "
    "bounds 0.8, 0.6 and 0.4 are those of Landis & Koch (1977), too, who call 0.8 almost perfect."
)
"""Sources of the words for an alpha, quoted wherever a band is shown."""


def band(value: float) -> str:
    """Return the band of an alpha (KαLOS §3.3).

    Examples
    --------
    >>> band(0.69), band(0.1), band(-0.2), band(float("nan"))
    ('substantial', 'low', 'systematic disagreement', 'undefined')
    """
    if np.isnan(value):
        return "undefined"
    return next((name for least, name in BANDS if value >= least), "systematic disagreement")


VERDICTS = {
    "near perfect": "Raters agree nearly perfectly",
    "substantial": "Raters agree substantially",
    "moderate": "Raters agree moderately",
    "low": "Raters agree little",
    "systematic disagreement": "Raters disagree systematically",
    "undefined": "Agreement is undefined",
}
"""Band -> beginning of a sentence about it."""


def verdict(value: float, interval: ArrayLike) -> str:
    """Return the beginning of a sentence about an alpha: by its band, or chance if its interval (2,) contains 0.

    Examples
    --------
    >>> verdict(0.69, [0.63, 0.74]), verdict(-0.02, [-0.07, 0.04])
    ('Raters agree substantially', 'Raters may agree no better than by chance')
    >>> verdict(-0.2, [np.nan, np.nan])
    'Raters disagree systematically'
    """
    low, high = np.asarray(interval, dtype=np.float64)
    return "Raters may agree no better than by chance" if low <= 0 <= high else VERDICTS[band(value)]


def convergence_band(value: float) -> str:
    """Return the band of an alpha by label convergence App. B.

    Examples
    --------
    >>> convergence_band(0.8), convergence_band(0.69), convergence_band(0.66), convergence_band(float("nan"))
    ('reliable', 'tentative', 'not reliable', 'undefined')
    """
    if np.isnan(value):
        return "undefined"
    return next((name for least, name in CONVERGENCE_BANDS if value >= least), "not reliable")


Empty = Annotated[
    Literal["count", "exclude"],
    Option(
        "Images left empty",
        "How to count images that all raters agree are empty.",
        choices={"count": "alpha 1, which raises the mean", "exclude": "as if no rater had been assigned to them"},
    ),
]


@dataclass(frozen=True)
class AgreementSettings(Settings):
    """Settings of `agreement`: similarity, threshold, solver and cost, bootstrap, and empty images.

    Raises
    ------
    InputError
        If a value has another type or is out of range.

    Examples
    --------
    >>> AgreementSettings("box_iou", threshold=0.75, cost="neg").notation
    'KαLOS(box_iou, τ_s=0.75, S=greedy, ψ_neg)'
    >>> AgreementSettings(bootstrap=-1)
    Traceback (most recent call last):
    kalos_core.errors.InputError: bootstrap: expected a whole number of at least 0, got -1
    """

    similarity: ComparedBy = "auto"
    threshold: Threshold = 0.5
    solver: SolverName = "greedy"
    cost: CostName = "soft"
    bootstrap: Replicates = 1000
    seed: Seed = 0
    empty: Empty = "count"

    @property
    def measure(self) -> str:
        """Name of the similarity."""
        return self.similarity if isinstance(self.similarity, str) else get_similarity(self.similarity or AUTO).name

    def for_kinds(self, of: Annotations | Sharded[Annotations]) -> tuple[Similarity, AgreementSettings]:
        """Return the similarity for these annotations, and the settings with its name."""
        measure = measure_for(self.similarity, kinds_of(of))
        return measure, self.part(AgreementSettings, similarity=measure.name)

    @property
    def notation(self) -> str:
        """Configuration in the notation of the paper (KαLOS Eq. 9); τ_s is the minimum similarity, 1 - τ (§14).

        Examples
        --------
        >>> AgreementSettings("box_iou").notation
        'KαLOS(box_iou, τ_s=0.5, S=greedy, ψ_soft)'
        """
        return f"KαLOS({self.measure}, τ_s={self.threshold:g}, S={self.solver}, ψ_{self.cost})"


@dataclass(frozen=True)
class AgreementArguments(AgreementSettings):
    """Arguments of `agreement`: its settings, and optional pairs computed earlier from its threshold or lower."""

    pairs: Pairs | None = field(default=None, kw_only=True)


NOTHING_SHARED = "no image that two raters were assigned to has an annotation"
"""Reason why alpha is undefined."""


def undefined_text(configuration: AgreementSettings, part: str = "") -> str:
    """Return the message that alpha of the whole, or of a part (`part_text`), is undefined, with the reason."""
    return f"{configuration.notation}{part} is undefined: {NOTHING_SHARED}"


@dataclass(frozen=True, eq=False, repr=False)
class Agreement(Result):
    """Result of `agreement`, with everything it was computed from.

    Figures: ``"images"``.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
        Pairs with a similarity of at least the threshold.
    configuration : AgreementSettings
    unit_of : (N,) int
        Unit of every annotation.
    units : Units
        Reliability matrix, without images that are empty by agreement.
    image_alpha : (I,) float64
        Alpha of each image, at most 1; NaN where undefined (see `agreement`).
    alpha : float
        Mean of the defined image alphas: the primary result.
    alpha_interval : (2,) float64
        95 % bootstrap interval over images; NaN without a bootstrap.
    global_alpha : float
        Alpha of all units in one matrix; an image empty by agreement adds one unit of `NO_OBJECT`.
    global_alpha_interval : (2,) float64
    empty_images : int
        Number of images that at least two raters agree are empty. Their alpha is 1, which raises the mean; it is
        undefined if no comparable image has an annotation.
    alpha_without_empty : float
        Mean without the empty images.

    Examples
    --------
    Two raters, one image that both left empty and one with an annotation of one rater only:

    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]}]
    >>> result = agreement(Annotations.from_rows(rows, images=[1, 2], raters=["ann", "bob"], assigned="all"))
    >>> result.image_alpha.tolist(), result.alpha, result.empty_images, result.alpha_without_empty
    ([0.0, 1.0], 0.5, 1, 0.0)
    """

    _call = "agreement(annotations)"
    _columns = (
        "image:annotations.images file:annotations.files alpha:image_alpha units:units_per_image "
        "annotations:annotations_per_image"
    )
    _shows_table = False

    annotations: Annotations
    pairs: Pairs
    configuration: AgreementSettings
    unit_of: NDArray[np.intp]
    units: Units
    image_alpha: NDArray[np.float64]
    alpha: float
    alpha_interval: NDArray[np.float64]
    global_alpha: float
    global_alpha_interval: NDArray[np.float64]
    empty_images: int
    alpha_without_empty: float

    of_shards: OfShards | None = field(default=None, init=False)

    @property
    def source(self) -> Annotations | Sharded[Annotations]:
        """Annotations, or the shards of them."""
        return self.annotations if self.of_shards is None else self.of_shards.shards

    @cached_property
    def annotations_per_image(self) -> NDArray[np.intp]:
        """(I,) number of annotations in each image."""
        if self.of_shards is not None:
            return self.of_shards.part.annotations_per_image
        return np.bincount(self.annotations.image, minlength=len(self.image_alpha))

    @property
    def unit_counts(self) -> UnitCounts:
        """Sums for computing `unit_sizes`."""
        if self.of_shards is not None:
            return self.of_shards.part.unit_counts
        raters = (self.units.values != NOT_ASSIGNED).sum(axis=1)
        candidates = self.pairs.at_least(self.configuration.threshold)
        return UnitCounts.of(candidates, self.unit_of, raters, self.annotations.rater)

    @property
    def defined_images(self) -> int:
        """Number of images in the mean."""
        return int(np.isfinite(self.image_alpha).sum())

    @property
    def undefined_images(self) -> int:
        """Number of images without an alpha."""
        return len(self.image_alpha) - self.defined_images

    @property
    def notation(self) -> str:
        """Configuration in the notation of the paper."""
        return self.configuration.notation

    @property
    def band(self) -> str:
        """Band of `alpha` (KαLOS §3.3); `BAND_SOURCES` quotes both papers."""
        return band(self.alpha)

    @property
    def convergence_band(self) -> str:
        """Band of `alpha` by label convergence App. B."""
        return convergence_band(self.alpha)

    @property
    def median_alpha(self) -> float:
        """Median of the defined image alphas (KαLOS §14); NaN if there are none."""
        defined = self.image_alpha[np.isfinite(self.image_alpha)]
        return float(np.median(defined)) if len(defined) else math.nan

    @property
    def median_interval(self) -> NDArray[np.float64]:
        """(2,) 95 % interval of `median_alpha`, from the order of the image alphas; needs no bootstrap."""
        return median_interval(self.image_alpha)

    @cached_property
    def units_per_image(self) -> NDArray[np.intp]:
        """(I,) number of units in each image."""
        return np.bincount(self.units.image, minlength=len(self.image_alpha))

    @cached_property
    def unit_sizes(self) -> UnitSizes:
        """Sizes of units, with a note if other kinds of solvers would give clearly different units."""
        return self.unit_counts.sizes

    def summary(self) -> dict[str, Any]:
        """Return all numbers and words about the whole, by name; `note` is that of `unit_sizes`.

        Examples
        --------
        >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
        >>> found = agreement(Annotations.from_rows(rows)).summary()
        >>> found["alpha"], found["band"], found["images"], found["raters"]
        (1.0, 'near perfect', 1, ['ann', 'bob'])
        """
        own = ("notation", "alpha", "alpha_interval", "median_alpha", "global_alpha", "global_alpha_interval", "band")
        more = ("convergence_band", "alpha_without_empty", "defined_images", "undefined_images", "empty_images")
        return {
            **{name: getattr(self, name) for name in own + more},
            "images": len(self.image_alpha),
            "annotations": int(self.annotations_per_image.sum()),
            "units": len(self.units),
            "raters": self.annotations.raters.tolist(),
            "note": self.unit_sizes.note,
        }

    @property
    def headline(self) -> str:
        """Finding, in words."""
        if np.isnan(self.alpha):
            return undefined_text(self.configuration)
        why = why_no_interval(self.alpha_interval, self.defined_images, self.configuration.bootstrap)
        interval = bracketed(self.alpha_interval, why=why)
        words = f"{self.band}; label convergence: {self.convergence_band}"
        return (
            f"{self.notation} = {self.alpha:.3f}{interval} ({words}), mean over "
            f"{number_of(self.defined_images, 'image')}; "
            f"median {self.median_alpha:.3f}; {self.global_alpha:.3f} over all {number_of(len(self.units), 'unit')}"
            + (f"\n{self.unit_sizes.note}" if self.unit_sizes.note else "")
        )


@dataclass(frozen=True, eq=False)
class OfShards:
    """Parts that an `Agreement` of shards holds instead of annotations and pairs.

    Parameters
    ----------
    shards : Sharded
    measure : Similarity
        Measure that compares annotations.
    part : AgreementPart
        Part of all shards together.
    """

    shards: Sharded[Annotations]
    measure: Similarity
    part: AgreementPart


@dataclass(frozen=True, eq=False)
class AgreementPart:
    """Units of a table, and the sums per image that an agreement is computed from.

    Parameters
    ----------
    units : Units
    sums : Coincidences
        Per image.
    empty : (I,) bool
        Whether an image is empty by agreement.
    classes : (I, R) int
        As returned by `annotated_classes`.
    annotations_per_image : (I,) int
    unit_counts : UnitCounts
    """

    units: Units
    sums: Coincidences
    empty: NDArray[np.bool_]
    classes: NDArray[np.int32]
    annotations_per_image: NDArray[np.intp]
    unit_counts: UnitCounts

    @classmethod
    def of(cls, annotations: Annotations, measure: Similarity | str, settings: AgreementSettings) -> AgreementPart:
        """Return the part of one table."""
        found = agreement(annotations, **{**settings.record(), "similarity": measure, "bootstrap": 0})
        sums, empty = image_coincidences(found.annotations, found.units)
        classes = annotated_classes(annotations)
        return cls(found.units, sums, empty, classes, found.annotations_per_image, found.unit_counts)

    @classmethod
    def merged(cls, parts: Sequence[AgreementPart]) -> AgreementPart:
        """Merge the parts of tables of different images, in their order."""
        return cls(
            units=join_units([part.units for part in parts], [len(part.empty) for part in parts]),
            sums=join_coincidences([part.sums for part in parts]),
            empty=np.concatenate([part.empty for part in parts]),
            classes=np.concatenate([part.classes for part in parts]),
            annotations_per_image=np.concatenate([part.annotations_per_image for part in parts]),
            unit_counts=reduce(add, [part.unit_counts for part in parts]),
        )


@takes(AgreementArguments)
def agreement(annotations: Annotations | Sharded[Annotations], settings: AgreementArguments) -> Agreement:
    """Compute KαLOS: match annotations, then compute Krippendorff's alpha of their classes (KαLOS §3).

    Parameters
    ----------
    annotations : Annotations, or shards of them
        For shards (`kalos_core.distributed.open_shards`), the result holds no annotations, pairs or `unit_of`;
        analyses of it read the shards again where needed.
    pairs : Pairs, optional
        Pairs computed earlier, from `threshold` or lower; not allowed with shards.

    Returns
    -------
    Agreement

    Notes
    -----
    Images whose alpha is not a plain quotient:

    =====================================================  =====  ==========================================
    image                                                  alpha  reason
    =====================================================  =====  ==========================================
    all pairable values are equal                          1      nothing disagrees (KαLOS §3.2)
    no annotation, two assigned to a common class          1      they agree on absence (KαLOS §3.2)
    no annotation on any comparable image                  NaN    no evidence that these raters annotate shapes
    no annotation, fewer than two such raters              NaN    no rater to agree with
    annotations, but no unit with two values               NaN    Krippendorff: no pairable value
    =====================================================  =====  ==========================================

    Means leave out NaN; `undefined_images` counts it (the public `kalos` package counts these images as 1).

    Crowd regions (`Annotations.crowd_regions`) are ignored. If one rater marks a crowd and others mark its objects
    one by one, the objects are units of the others alone, which lowers alpha.

    Raises
    ------
    InputError
        If there are fewer than two raters, no image, an unknown name, or a threshold outside [0, 1].

    Examples
    --------
    >>> rows = [
    ...     {"image": 1, "rater": "ann", "category": "cat", "box": [0, 0, 10, 10]},
    ...     {"image": 1, "rater": "bob", "category": "cat", "box": [0, 0, 10, 9]},
    ...     {"image": 1, "rater": "ann", "category": "dog", "box": [50, 0, 10, 10]},
    ...     {"image": 1, "rater": "bob", "category": "dog", "box": [50, 0, 10, 9]},
    ...     {"image": 1, "rater": "bob", "category": "dog", "box": [90, 0, 10, 10]},
    ... ]
    >>> result = agreement(Annotations.from_rows(rows))
    >>> round(result.alpha, 4), result.units.values.tolist()
    (0.5455, [[0, 0], [1, 1], [-1, 1]])
    """
    measure, chosen = settings.for_kinds(annotations)
    known = check_comparable(annotations, settings.pairs)
    check_replicates(chosen.bootstrap, len(known.images))
    if isinstance(annotations, Sharded):
        parts = annotations.parts(partial(AgreementPart.of, measure=sent(measure), settings=chosen), "Agreement")
        return _of_shards(annotations, measure, chosen, AgreementPart.merged(parts))
    pairs = pairs_from(annotations, measure, chosen.threshold, settings.pairs)
    unit_of = correspond(annotations, pairs, chosen.threshold, chosen.solver, chosen.cost)
    return matched(annotations, pairs, chosen, unit_of)


def _of_shards(
    shards: Sharded[Annotations], measure: Similarity, configuration: AgreementSettings, part: AgreementPart
) -> Agreement:
    annotations = compared(thinned(shards.known, part.classes), configuration.empty)
    none = np.zeros(0, np.intp)
    found = Agreement(
        annotations=annotations,
        pairs=Pairs(none, none, np.zeros(0), measure.name, configuration.threshold),
        configuration=configuration,
        unit_of=none,
        units=part.units,
        **numbers_of(part.sums, part.empty, configuration, annotations.image_rank),
    )
    object.__setattr__(found, "of_shards", OfShards(shards, measure, part))
    return found


def matched(
    annotations: Annotations, pairs: Pairs, configuration: AgreementSettings, unit_of: NDArray[np.intp]
) -> Agreement:
    """Return the agreement of annotations whose units are known; shapes are not used.

    Parameters
    ----------
    annotations : Annotations
    pairs : Pairs
    configuration : AgreementSettings
        How they were matched; its bootstrap and seed are used for the intervals.
    unit_of : (N,) int

    Examples
    --------
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> one = agreement(Annotations.from_rows(rows))
    >>> matched(one.annotations, one.pairs, one.configuration, np.array([0, 1])).alpha
    -0.5
    """
    annotations = compared(annotations, configuration.empty)
    units = build_units(annotations, unit_of)
    sums, empty = image_coincidences(annotations, units)
    numbers = numbers_of(sums, empty, configuration, annotations.image_rank)
    return Agreement(
        annotations=annotations, pairs=pairs, configuration=configuration, unit_of=unit_of, units=units, **numbers
    )


def compared(annotations: Annotations, empty: str) -> Annotations:
    """Return the annotations; if `empty` is "exclude", without assignments to images that have no annotation."""
    if empty == "count":
        return annotations
    drew = np.bincount(annotations.image, minlength=len(annotations.images)) > 0
    return replace(annotations, assigned=annotations.assigned & drew[:, None])


def numbers_of(
    sums: Coincidences, empty: NDArray[np.bool_], configuration: AgreementSettings, rank: NDArray[np.intp]
) -> dict[str, Any]:
    """Compute the numbers of an agreement by name, from the result of `image_coincidences`.

    Parameters
    ----------
    sums : Coincidences
        Counts per image.
    empty : (I,) bool
        Whether an image is empty by agreement.
    configuration : AgreementSettings
    rank : (I,) int
        As `Annotations.image_rank`.

    Examples
    --------
    >>> from kalos_core.reliability import coincidences
    >>> sums = coincidences(np.array([[0, 0], [0, -1]]), np.array([0, 1]), 2)
    >>> found = numbers_of(sums, np.zeros(2, bool), AgreementSettings(bootstrap=0), np.arange(2))
    >>> found["image_alpha"].tolist(), found["alpha"]
    ([1.0, 0.0], 0.5)
    """
    every_image = np.arange(len(sums.pairable))
    cells = Cells.of(np.zeros_like(every_image), every_image, sums).seen()
    image_alpha = cells.value
    defined = np.isfinite(image_alpha)
    drawn = resample(cells, 1, configuration.bootstrap, configuration.seed, rank)
    return {
        "image_alpha": image_alpha,
        "alpha": _mean(image_alpha[defined]),
        "alpha_interval": intervals(drawn.mean, cells.count(1))[0],
        "global_alpha": alpha_of_all(cells.sums),
        "global_alpha_interval": intervals(drawn.whole, cells.pairable(1))[0],
        "empty_images": int(empty.sum()),
        "alpha_without_empty": _mean(image_alpha[defined & ~empty]),
    }


def check_comparable(source: Annotations | Sharded[Annotations], pairs: Pairs | None = None) -> Annotations:
    """Return the table, or what is known of shards; refuse fewer than two raters or one image, and pairs of shards."""
    annotations = known_of(source, pairs)
    if not isinstance(annotations, Annotations):
        raise InputError(f"annotations: expected Annotations, got {type(annotations).__name__}")
    if not len(annotations.images):
        raise InputError("annotations: expected at least one image, got none")
    if len(annotations.raters) < 2:
        names = ", ".join(map(str, annotations.raters)) or "none"
        raise InputError(f"annotations: expected at least two raters, got {len(annotations.raters)} ({names})")
    return annotations


def check_agreement(result: Agreement) -> None:
    """Check that a result is an `Agreement` that holds its annotations."""
    check_type("agreement", Agreement, result)
    if result.of_shards is not None:
        raise InputError(
            "agreement: expected an agreement of one table, got one of shards; call "
            "agreement(next(iter(shards)).read()) for a single shard"
        )


def agreement_of(
    source: Agreement | Annotations | Sharded[Annotations], check: Callable[[Annotations], None] | None = None
) -> Agreement:
    """Return an agreement as it is, or compute it with default settings after `check` of the annotations."""
    if isinstance(source, (Annotations, Sharded)):
        if check is not None:
            check(known_of(source))
        return agreement(source)
    check_type("agreement", Agreement, source)
    return source


def _mean(values: NDArray[np.float64]) -> float:
    return math.fsum(values) / len(values) if len(values) else math.nan  # exact, so that the order does not matter
