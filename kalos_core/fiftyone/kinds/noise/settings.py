"""Settings of synthetic raters: how they are generated, and from which labels."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from kalos_core.errors import lookup
from kalos_core.fiftyone.dataset.selection import LabelSelection
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.noise import ClassSource, FalsePositiveSource, NoiseModel
from kalos_core.noise.settings import FitSettings, Magnitude, Preset, Rate, Raters, Reference, Schools, Shifts
from kalos_core.options import Option, Seed

CLASS_SOURCES = {
    "confusion": "confusions among the real raters, smoothed by class frequency",
    "embeddings": "classes whose labels look alike: embeddings",
    "taxonomy": "classes that are near in a tree",
}
FALSE_POSITIVE_SOURCES = {
    "transplanted": "positions of annotations of other images",
    "images": "regions of the images",
    "detections": "detections of a model",
}
"""Names of the sources with descriptions."""


def _named(known: Mapping[str, str]) -> Callable[[Any, str], Any]:
    """Return a check for a known name; a source object passes unchecked."""

    def check(value: Any, name: str) -> Any:
        if isinstance(value, str):
            lookup(known, value, name)
        return value

    return check


Model = Annotated[
    NoiseModel | str | os.PathLike[str],
    Option(
        "Noise model",
        "'default' is the shipped one: 200 images of LVIS, and the paper's constants. 'fit' is fitted to the real "
        "raters; the details of the run say in `fidelity` whether generated raters differ as these do, see "
        "`kalos_core.noise.Fidelity`, and in `rate_tests` how well the number of unmatched annotations fits. Or one "
        "that was saved. With any, `loss_by_magnitude` says how much signal is lost at the magnitudes of Table 3.",
        type="'default', 'fit', path, JSON text or NoiseModel",
    ),
]


@dataclass(frozen=True, kw_only=True)
class NoiseArguments(LabelSelection):
    """Arguments of `inject_noise`."""

    reference: Reference = None
    raters: Raters = 3
    magnitude: Magnitude = 1.0
    seed: Seed = 0
    schools: Schools = None
    model: Model = "default"
    rate: Rate = "auto"
    preset: Preset = "faithful"
    shifts: Shifts = None
    class_source: Annotated[
        ClassSource | Literal["confusion", "embeddings", "taxonomy"],
        Option(
            "Which classes are mistaken",
            "Source of the classes that are confused with each other.",
            choices=CLASS_SOURCES,
            type="name or ClassSource",
            check=_named(CLASS_SOURCES),
        ),
    ] = "confusion"
    embeddings: Annotated[
        Any,
        Option(
            "Attribute with embeddings, or model",
            "An attribute of the reference's labels that has vectors, the name of a model of FiftyOne's zoo that is "
            "downloaded, or a model that embeds patches.",
            type="str or fiftyone.core.models.Model, optional",
        ),
    ] = None
    taxonomy: Annotated[
        Mapping[str, Any] | str | os.PathLike[str] | None,
        Option(
            "File of the tree",
            'A tree of classes, or a JSON file of it: {"animal": ["cat", "dog"]}.',
            type="mapping or path, optional",
        ),
    ] = None
    false_positive_source: Annotated[
        FalsePositiveSource | Literal["transplanted", "images", "detections"],
        Option(
            "Where annotations are added",
            "Source of the positions of false positives.",
            choices=FALSE_POSITIVE_SOURCES,
            type="name or FalsePositiveSource",
            check=_named(FALSE_POSITIVE_SOURCES),
        ),
    ] = "transplanted"
    detections: Annotated[str | None, Option("Field of the detector", "A field of Detections or Polylines.")] = None
    real_raters: Annotated[
        Sequence[str] | None,
        Option(
            "Real raters",
            "Stored names of raters, or label fields, that are read besides the reference to fit a model and to count "
            "confusions; by default all that are stored.",
            type="list of str, optional",
        ),
    ] = None
    progress: Progress | bool | None = None

    @property
    def fit(self) -> FitSettings:
        """Settings for fitting a model."""
        return self.part(FitSettings)

    @property
    def others(self) -> Sequence[str] | None:
        """Raters to read in addition to the reference; None for all."""
        return self.real_raters if self.model == "fit" or self.class_source == "confusion" else ()


@dataclass(frozen=True, kw_only=True)
class PreviewArguments(LabelSelection):
    """Arguments of `preview_noise`."""

    reference: str
    magnitude: Magnitude = 1.0
    seed: Seed = 0
    model: Model = "default"
    sample_id: str | None = None
