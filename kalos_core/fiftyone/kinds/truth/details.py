"""What a run of estimated truth stores: settings, metrics and details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from kalos_core.fiftyone.kinds.pixels.details import Numbers, Shares


class PixelTruthSettings(TypedDict):
    """How the truth of pixels was estimated.

    `raters_are_local`: whether outliers were decided image by image; `classes`: name -> value in label maps.
    """

    of: Literal["pixels"]
    methods: list[str]
    ignore_value: int | None
    raters_are_local: bool
    classes: dict[str, int]


class ObjectTruthSettings(TypedDict):
    """How raters were matched on objects, and what became of the units."""

    of: Literal["objects"]
    similarity: str
    threshold: float
    solver: str
    cost: str
    ties: str
    region: str
    quorum: list[float]


TruthSettings = PixelTruthSettings | ObjectTruthSettings


class TruthMetrics(TypedDict):
    """The summary of a run.

    `fields`: truth -> its field; `raters`: none where they have no names over the images; `images`: how many have a
    truth of pixels, or somebody assigned who annotates objects.
    """

    of: Literal["pixels", "objects"]
    fields: dict[str, str]
    raters: list[str]
    images: int
    classes: list[str]


class Estimates(TypedDict):
    """Means over images of what a method says of each rater."""

    sensitivity: Numbers
    specificity: Numbers


class PixelTruthRow(Shares):
    """One class of one truth of pixels, and each rater against it, counted over all images.

    `images`: with a truth; `empty`: those whose truth is; `pixels`: marked; `kept`: share of each rater's images whose
    estimate rests on them.
    """

    truth: str
    category: str
    images: int
    empty: int
    pixels: int
    kept: Numbers
    estimated: Estimates


class ObjectTruthRow(TypedDict):
    """One consensus of objects, and each rater against it.

    `below_quorum` and `tied_class`: units that became no object; `score`: mean; `sensitivity`: of the objects on the
    images a rater is assigned to, the share they annotated; `ppv`: of their annotations, the share that became part of
    an object.
    """

    truth: str
    objects: int
    below_quorum: int
    tied_class: int
    score: float | None
    sensitivity: Numbers
    ppv: Numbers


class TruthNote(TypedDict):
    """What to know about one truth of one image."""

    image: str
    truth: str
    note: str


class StudyOutliers(TypedDict):
    """The raters of a class who stand out over all images, whom ``"excl-0.5"`` leaves out."""

    category: str
    raters: list[str]


class TruthDetails(TypedDict):
    """A row for each truth (of pixels, for each class of each), who stands out, and notes on single images."""

    truths: list[PixelTruthRow] | list[ObjectTruthRow]
    outliers: list[StudyOutliers]
    notes: list[TruthNote]


def consensus_names(metrics: TruthMetrics, details: TruthDetails) -> list[str]:
    """What each row of the details is called: the truth, with its class where there are several."""
    rows: Sequence[Mapping[str, Any]] = details["truths"]
    with_class = metrics["of"] == "pixels" and len(metrics["classes"]) > 1
    return [f"{row['truth']}, {row['category']}" if with_class else row["truth"] for row in rows]
