"""What label convergence on a data set is told: how it is computed, and what is placed beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, TypedDict

from kalos_core.convergence import read_models
from kalos_core.convergence.interval import CeilingSettings, ConvergenceSettings, Subsets
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.options import Option


class ModelRecord(TypedDict):
    """A model and its mAP, as it was typed; a list of these, since a key of a database may not hold every name."""

    name: str
    map: float


def model_records(models: Any, name: str = "models") -> list[ModelRecord]:  # noqa: ARG001 - `read_models` says it
    """Models as they are stored; records stay as they are.

    Examples
    --------
    >>> model_records("YOLO 0.4") == model_records(model_records({"YOLO": 0.4})) == [{"name": "YOLO", "map": 0.4}]
    True
    """
    if isinstance(models, list) and all(isinstance(entry, dict) and {*entry} == {"name", "map"} for entry in models):
        models = {entry["name"]: entry["map"] for entry in models}
    return [{"name": model, "map": value} for model, value in read_models(models).items()]


@dataclass(frozen=True)
class ConvergenceRunSettings(CeilingSettings):
    """The settings of label convergence, and what is placed beside it."""

    _: KW_ONLY
    subsets: Subsets = 1000
    models: Annotated[
        str | Mapping[str, float] | Sequence[ModelRecord] | None,
        Option(
            "Models with a known mAP",
            "Names with their mAP from 0 to 1 at the same thresholds, such as YOLO 0.412, DETR 0.437",
            type="str or mapping, optional",
            check=model_records,
        ),
    ] = None
    predictions: Annotated[
        str | None,
        Option(
            "Field with the predictions of a model",
            "A label field whose mAP is computed with each rater as ground truth; every prediction needs a confidence.",
        ),
    ] = None
    tags: Annotated[
        bool,
        Option(
            "An interval for each sample tag, too", "Also of the images with each tag, in subsets of as large a share."
        ),
    ] = False

    def of_library(self) -> dict[str, Any]:
        """As arguments of `label_convergence`."""
        return self.part(ConvergenceSettings, samples=self.subsets).record()

    def known_models(self) -> dict[str, float]:
        """Name -> mAP."""
        return {entry["name"]: entry["map"] for entry in model_records(self.models)}


@dataclass(frozen=True)
class ConvergenceRunArguments(ConvergenceRunSettings, RunArguments):
    """What `estimate_convergence` takes."""
