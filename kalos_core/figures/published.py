"""Published values for comparison, with their data and methods."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kalos_core._agreement import AgreementSettings

KALOS_PAPER = "KαLOS, CVPR 2026"
PEER = "public package kalos 0.8.0"


@dataclass(frozen=True)
class PublishedAlpha:
    """Published mean alpha over images, with its configuration.

    Parameters
    ----------
    dataset, task : str
    similarity : str
        Name in `SIMILARITIES`.
    threshold : float
        Smallest similarity, τ_s.
    alpha : float
        Mean over images.
    printed : str
        Configuration as printed in the source, where τ is the largest distance, 1 - τ_s (KαLOS §14).
    source : str
        Publication and section.
    note : str
        Further dependencies of the value.

    Examples
    --------
    >>> mars = PUBLISHED_ALPHAS[1]
    >>> mars.printed, mars.notation
    ('KαLOS(d_pose, τ=0.08, S=Greedy, ψ_soft)', 'KαLOS(pose, τ_s=0.92, S=greedy, ψ_soft)')
    """

    dataset: str
    task: str
    similarity: str
    threshold: float
    alpha: float
    printed: str
    source: str
    note: str = ""

    @property
    def notation(self) -> str:
        """Notation as printed by results."""
        return AgreementSettings.of({"similarity": self.similarity, "threshold": self.threshold}).notation


PUBLISHED_ALPHAS = (
    PublishedAlpha(
        "TexBiG",
        "polygons, historical documents",
        "polygon_iou",
        0.5,
        0.9055,
        "KαLOS(d_IoU, τ=0.5, S=Greedy, ψ_soft)",
        f"{KALOS_PAPER} §14.1",
        "3 to 5 raters",
    ),
    PublishedAlpha(
        "MARS",
        "poses, mice",
        "pose",
        0.92,
        0.8069,
        "KαLOS(d_pose, τ=0.08, S=Greedy, ψ_soft)",
        f"{KALOS_PAPER} §14.3",
        "5 raters",
    ),
    PublishedAlpha(
        "LIDC-IDRI",
        "volumes, lung nodules",
        "volume_iou",
        0.5,
        0.3683,
        "KαLOS(d_vol, τ=0.50, S=Greedy, ψ_soft)",
        f"{KALOS_PAPER} §14.2",
        "4 readings a scan, nodules of 3 mm and more",
    ),
    PublishedAlpha(
        "LVIS",
        "polygons, everyday scenes",
        "polygon_iou",
        0.5,
        0.7030,
        "segm, threshold 0.5, greedy, soft",
        PEER,
        "200 images, 2 raters",
    ),
    PublishedAlpha(
        "LVIS",
        "boxes, everyday scenes",
        "box_iou",
        0.5,
        0.6889,
        "bbox, threshold 0.5, greedy, soft",
        PEER,
        "200 images, 2 raters",
    ),
)
"""Published mean alphas with their configurations; values of different configurations are not comparable."""


@dataclass(frozen=True)
class PublishedCalibration:
    """Published calibration: distance at which chance begins, and separation from agreement.

    Parameters
    ----------
    dataset : str
    similarity : str
        Name in `SIMILARITIES`.
    tau : float
        Distance τ*, as printed; the threshold τ*_s is 1 - τ*.
    ks : float
        Largest gap between the distributions of observed and expected distance, as printed.
    source : str
    tau_interval, ks_interval : (low, high)
        95 % bootstrap interval over images, as printed; NaN if there is none.
    note : str
        Definition of the value, if it is not the crossing of two densities.

    Examples
    --------
    >>> PUBLISHED_CALIBRATIONS[0].dataset, round(PUBLISHED_CALIBRATIONS[0].threshold, 3)
    ('LVIS', 0.346)
    """

    dataset: str
    similarity: str
    tau: float
    ks: float
    source: str
    tau_interval: tuple[float, float] = (math.nan, math.nan)
    ks_interval: tuple[float, float] = (math.nan, math.nan)
    note: str = ""

    @property
    def threshold(self) -> float:
        """Smallest similarity τ*_s."""
        return 1 - self.tau


AT_LARGEST_GAP = "the distance at which the two distributions are farthest apart"

PUBLISHED_CALIBRATIONS = (
    PublishedCalibration("LVIS", "box_iou", 0.654, 0.798, f"{KALOS_PAPER} Table 4", (0.643, 0.668), (0.786, 0.807)),
    PublishedCalibration("TexBiG", "box_iou", 0.435, 0.803, f"{KALOS_PAPER} Table 4", (0.420, 0.455), (0.796, 0.810)),
    PublishedCalibration(
        "VinDr-CXR", "box_iou", 0.996, 0.684, f"{KALOS_PAPER} Table 4", (0.996, 0.997), (0.675, 0.692)
    ),
    PublishedCalibration("TexBiG", "polygon_iou", 0.532, 0.8189, f"{KALOS_PAPER} §14.1"),
    PublishedCalibration("LIDC-IDRI", "volume_iou", 0.50, 0.7237, f"{KALOS_PAPER} §14.2", note=AT_LARGEST_GAP),
    PublishedCalibration("MARS", "pose", 0.08, 0.7630, f"{KALOS_PAPER} §14.3", note=AT_LARGEST_GAP),
)
"""Calibrations as printed in the paper."""
