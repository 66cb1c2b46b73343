"""Settings of an estimate of the ground truth: pixels or objects, methods, and how raters are matched on objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from kalos_core.consensus.instances import Region, Ties
from kalos_core.consensus.methods import Methods
from kalos_core.correspondence.costs import CostName
from kalos_core.correspondence.units import SolverName
from kalos_core.fiftyone.kinds.masked import RatersAreLocal
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.nominal import MODELS
from kalos_core.nominal.skill import ModelName
from kalos_core.options import Option, Settings
from kalos_core.pixels.stored import IgnoreValue
from kalos_core.similarity.base import Threshold
from kalos_core.similarity.fitting import ComparedBy


@dataclass(frozen=True, kw_only=True)
class ConsensusRunSettings(Settings):
    """Settings for matching raters on objects, and for turning units into a consensus."""

    similarity: ComparedBy = None
    threshold: Threshold = 0.5
    solver: SolverName = "greedy"
    cost: CostName = "soft"
    ties: Ties = "apart"
    region: Region = "vote"
    quorum: Annotated[
        float | Sequence[float],
        Option(
            "Quorum",
            "For objects: smallest share of the assigned raters who annotated it, one or several, such as 0.5, 1. With "
            "a model of who is right, the smallest probability that it exists.",
            above=0,
            high=1,
            required=True,
            type="float or sequence of float",
        ),
    ] = 0.5
    model: Annotated[
        ModelName | None,
        Option(
            "Who is right",
            "For objects: estimate who is right instead of counting votes. The model says how raters answer; see "
            "`kalos_core.unit_truth` for its assumptions.",
            choices=MODELS,
        ),
    ] = None

    @property
    def measure(self) -> str:
        """Name of the similarity, once it is known."""
        return str(self.similarity)


@dataclass(frozen=True, kw_only=True)
class TruthRunSettings(ConsensusRunSettings):
    """Settings for the estimate of the ground truth, of pixels or of objects.

    Examples
    --------
    >>> TruthRunSettings(methods="any", quorum=1).record()["methods"]
    ['any']
    """

    methods: Methods = ("0.5", "staple")
    of: Annotated[
        Literal["auto", "pixels", "objects"],
        Option(
            "Truth of",
            "Whether pixels or objects are estimated.",
            choices={
                "auto": "pixels for `Segmentation` masks, objects for all other labels",
                "pixels": "for rasterised labels, all labels of a rater together",
                "objects": "matched between raters",
            },
        ),
    ] = "auto"  # type: ignore[assignment] # the argument has this name; a record is read by the class itself
    ignore_value: IgnoreValue = None
    raters_are_local: RatersAreLocal = None
    maps: Annotated[
        bool,
        Option(
            "Maps of how sure it is",
            "Two heatmaps for each method of pixels: the probability and the entropy of each pixel.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class TruthRunArguments(TruthRunSettings, RunArguments):
    """Arguments of `estimate_truth`."""
