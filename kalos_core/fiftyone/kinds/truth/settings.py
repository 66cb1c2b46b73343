"""Settings of an estimate of the ground truth: pixels or objects, methods, and how raters are matched on objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from kalos_core.consensus.instances import Region, Ties
from kalos_core.consensus.methods import Methods
from kalos_core.correspondence.costs import CostName
from kalos_core.correspondence.units import SolverName
from kalos_core.fiftyone.kinds.masked import RatersAreLocal
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.nominal import MODELS
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
            "Of objects: least share of the assigned raters who annotated it, one or several; with a model of who is "
            "right the least probability that it exists. Such as 0.5, 1.",
            above=0,
            high=1,
            required=True,
            type="float or sequence of float",
        ),
    ] = 0.5
    model: Annotated[
        str | None,
        Option(
            "Who is right",
            "Of objects: estimate who is right in place of counting votes (`kalos_core.unit_truth`, which says what "
            "that assumes). Raters answer as the model says.",
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
        str,
        Option(
            "Truth of",
            "What the labels are taken for.",
            choices={
                "auto": "pixels of `Segmentation` masks, objects of all other labels",
                "pixels": "of rasterised labels those of all labels of a rater together",
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
            "For each method of pixels two heatmaps: how likely each pixel is, and how much of it is not known.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class TruthRunArguments(TruthRunSettings, RunArguments):
    """Arguments of `estimate_truth`."""
