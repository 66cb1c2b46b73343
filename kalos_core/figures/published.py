"""Published values to compare one's own with: what others found, on which data, and how."""

from __future__ import annotations

from dataclasses import dataclass

KALOS_PAPER = "KαLOS, CVPR 2026"
PEER = "public package kalos 0.8.0"


@dataclass(frozen=True)
class PublishedAlpha:
    """A mean alpha over images that was published, with what it depends on.

    Parameters
    ----------
    dataset, task : str
    similarity : str
        Name in `SIMILARITIES`.
    threshold : float
        Least similarity.
    alpha : float
        Mean over images.
    source : str
        Where it stands.
    note : str
        What else the value depends on.

    Examples
    --------
    >>> PUBLISHED_ALPHAS[0].notation
    'KαLOS(polygon_iou, τ=0.5, S=greedy, ψ_soft)'
    """

    dataset: str
    task: str
    similarity: str
    threshold: float
    alpha: float
    source: str
    note: str = ""

    @property
    def notation(self) -> str:
        """As results print theirs, tau being the least similarity."""
        return f"KαLOS({self.similarity}, τ={self.threshold:g}, S=greedy, ψ_soft)"


PUBLISHED_ALPHAS = (
    PublishedAlpha(
        "TexBiG", "polygons, historical documents", "polygon_iou", 0.5, 0.9055, f"{KALOS_PAPER} §14.1", "3 to 5 raters"
    ),
    PublishedAlpha("MARS", "poses, mice", "pose", 0.92, 0.8069, f"{KALOS_PAPER} §14.3", "5 raters"),
    PublishedAlpha(
        "LIDC-IDRI",
        "volumes, lung nodules",
        "volume_iou",
        0.5,
        0.3683,
        f"{KALOS_PAPER} §14.2",
        "4 readings a scan, nodules of 3 mm and more",
    ),
    PublishedAlpha("LVIS", "polygons, everyday scenes", "polygon_iou", 0.5, 0.7030, PEER, "200 images, 2 raters"),
    PublishedAlpha("LVIS", "boxes, everyday scenes", "box_iou", 0.5, 0.6889, PEER, "200 images, 2 raters"),
)
"""Mean alphas, each with its configuration: values of different configurations are not comparable."""


@dataclass(frozen=True)
class PublishedCalibration:
    """A calibration that was published: where chance begins, and how well a similarity tells it from agreement.

    Parameters
    ----------
    dataset : str
    similarity : str
        Name in `SIMILARITIES`.
    tau : float
        The distance tau*; the threshold is 1 - tau.
    ks : float
        Largest gap between the distributions of observed and expected distance.
    source : str

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

    @property
    def threshold(self) -> float:
        """Least similarity."""
        return 1 - self.tau


PUBLISHED_CALIBRATIONS = (
    PublishedCalibration("LVIS", "box_iou", 0.654, 0.798, f"{KALOS_PAPER} Table 4"),
    PublishedCalibration("TexBiG", "box_iou", 0.435, 0.803, f"{KALOS_PAPER} Table 4"),
    PublishedCalibration("VinDr-CXR", "box_iou", 0.996, 0.684, f"{KALOS_PAPER} Table 4"),
    PublishedCalibration("TexBiG", "polygon_iou", 0.532, 0.8189, f"{KALOS_PAPER} §14.1"),
    PublishedCalibration("LIDC-IDRI", "volume_iou", 0.50, 0.7237, f"{KALOS_PAPER} §14.2"),
    PublishedCalibration("MARS", "pose", 0.08, 0.7630, f"{KALOS_PAPER} §14.3"),
)
