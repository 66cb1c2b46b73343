"""Settings of a ranking of detectors: the detectors, and the references under which they are ranked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kalos_core.consensus.methods import Methods
from kalos_core.convergence import THRESHOLDS
from kalos_core.convergence.modified import HitThresholds
from kalos_core.fiftyone.kinds.masked import RatersAreLocal
from kalos_core.fiftyone.kinds.truth.settings import ConsensusRunSettings
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.options import Option, Replicates, Seed
from kalos_core.pixels.contours import TOLERANCE
from kalos_core.pixels.stored import IgnoreValue
from kalos_core.ranking.accumulator import METHODS, AgreedShares
from kalos_core.ranking.skew import Skew

BERKELEY = 33
"""Default number of thresholds of the Berkeley evaluation."""


def _fields(given: Any, _: str) -> list[str]:
    return [given] if isinstance(given, str) else list(given)


@dataclass(frozen=True, kw_only=True)
class DetectorRunSettings(ConsensusRunSettings):
    """Settings for the ranking of score maps by pixels, or of models by objects."""

    detectors: Annotated[
        str | Sequence[str],
        Option(
            "Detectors",
            "Fields of `Heatmap`, each with a score map for every image a rater is assigned to; or label fields of "
            "models, every label with its confidence. Scores of a map range from 0 to the maximum of an integer type, "
            "or from 0 to 1 for floats, unless the heatmap has a range.",
            type="str or sequence of str",
            check=_fields,
        ),
    ]
    methods: Methods = METHODS
    truths: Annotated[
        str | Sequence[str],
        Option(
            "Estimated truths",
            "Further references: fields of `Segmentation` or, for models, of labels, such as `estimate_truth` writes.",
            type="str or sequence of str",
            check=_fields,
        ),
    ] = ()
    skew: Skew = None
    contours: Annotated[bool, Option("The task is to find contours", "Sets how far one may be off by default.")] = False
    tolerance: Annotated[
        float | None,
        Option(
            "How far a contour may be off",
            "As a share of the image's diagonal; by default 0.0075 for contours, otherwise 0.",
            low=0,
        ),
    ] = None
    thin: Annotated[bool | None, Option("Thin references to lines", "By default for contours only.")] = None
    shares: AgreedShares = ()
    berkeley: Annotated[
        bool,
        Option(
            "Boundaries, Berkeley evaluation",
            "Match lines one to one with those of each rater, and find the best F1 over thresholds, which takes long "
            "(`kalos_core.boundary_evaluation`). A pixel may be off by `tolerance`, or by 0.0075 if that is 0.",
        ),
    ] = False
    boundaries: Annotated[
        int | None,
        Option(
            "Number of thresholds",
            "For the Berkeley evaluation, which a number also turns on; by default 33, in the benchmark 99. Each takes "
            "about a sixth of a second per detector on an image of 481 x 321 pixels with five raters.",
        ),
    ] = None
    ignore_value: IgnoreValue = None
    raters_are_local: RatersAreLocal = None
    thresholds: HitThresholds = THRESHOLDS
    bootstrap: Replicates = 1000
    seed: Seed = 0

    def for_maps(self) -> dict[str, Any]:
        """Return the defaults that depend on whether contours and boundaries are evaluated."""
        return {
            "tolerance": (TOLERANCE if self.contours else 0.0) if self.tolerance is None else self.tolerance,
            "thin": self.contours if self.thin is None else self.thin,
            "boundaries": (BERKELEY if self.berkeley else 0) if self.boundaries is None else self.boundaries,
        }


@dataclass(frozen=True, kw_only=True)
class DetectorRunArguments(DetectorRunSettings, RunArguments):
    """Arguments of `rank_detectors`."""
