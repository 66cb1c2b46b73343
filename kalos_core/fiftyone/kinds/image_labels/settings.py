"""Settings of agreement on image-level labels: which labels exclude each other, and when an image is in dispute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.nominal import QUORUM
from kalos_core.nominal.build import Repeats
from kalos_core.nominal.disputes import Quorum
from kalos_core.nominal.findings import FindingsSettings
from kalos_core.nominal.grouping import Grouping
from kalos_core.options import Option


@dataclass(frozen=True, kw_only=True)
class LabelRunSettings(FindingsSettings):
    """Settings for the comparison of image-level labels.

    Examples
    --------
    >>> LabelRunSettings(groups={"place": ("in", "out")}).record()["groups"]
    {'place': ['in', 'out']}
    """

    groups: Grouping = "label"
    quorum: Quorum = QUORUM
    width: Annotated[
        float,
        Option(
            "An interval is narrow enough at this width",
            "The running curve shows how many answers this takes.",
            above=0,
        ),
    ] = 0.1
    on_repeat: Repeats = "raise"


@dataclass(frozen=True, kw_only=True)
class LabelRunArguments(LabelRunSettings, RunArguments):
    """Arguments of `compute_label_agreement`."""
