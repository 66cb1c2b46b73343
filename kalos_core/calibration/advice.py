"""Advice on the similarity and threshold in use, from a calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.calibration.result import Calibration, Separation
from kalos_core.display import alpha_text, has_interval, interval_text
from kalos_core.inference import intervals
from kalos_core.options import checked


@dataclass(frozen=True, eq=False)
class ThresholdAdvice:
    """Comparison of the similarity in use with the other calibrated ones.

    Parameters
    ----------
    similarity, threshold : str, float
        Similarity and threshold in use.
    calibrated : float
        Threshold that separates signal from chance best for this similarity; NaN if none is trusted.
    fits : bool
        Whether `threshold` lies in the interval of `calibrated`; True if no threshold is trusted.
    better : str or None
        Another similarity with a significantly larger KS and a trusted threshold: the one with the largest KS.
    difference : float
        KS of `better` minus KS of `similarity`; without `better`, of the next best similarity; NaN if there is none.
    difference_interval : (2,) float64
        95 % bootstrap interval, with both on the same draws of images; NaN without a bootstrap.
    text : str
        Advice in one or two sentences.
    short : str
        Advice in a few words.
    settings : dict or None
        ``similarity`` and ``threshold`` of a new run that follows the advice; None if no change is advised.
    """

    similarity: str
    threshold: float
    calibrated: float
    fits: bool
    better: str | None
    difference: float
    difference_interval: NDArray[np.float64]
    text: str
    short: str
    settings: dict[str, str | float] | None


@checked
def threshold_advice(calibration: Calibration, similarity: str, threshold: float) -> ThresholdAdvice:
    """Check whether another similarity separates signal from chance significantly better, and which threshold to use.

    A paired difference of KS is significant if its 95 % interval lies above 0; without a bootstrap none is.

    Parameters
    ----------
    calibration : Calibration
    similarity : str
        Similarity in use; one of the calibration.
    threshold : float in [0, 1]
        Threshold in use.

    Returns
    -------
    ThresholdAdvice

    Raises
    ------
    InputError
        If the similarity was not calibrated.

    Examples
    --------
    >>> near, far = np.linspace(0.1, 0.3, 20), np.linspace(0.7, 1.0, 20)
    >>> one = Separation("box_iou", "all", near, far, 0.8, 0.3, 0.6, "", tau_interval=np.array([0.5, 0.7]))
    >>> print(threshold_advice(Calibration([one]), "box_iou", 0.4).text)
    box_iou is the only similarity that was calibrated. The threshold in use, 0.40, fits.
    """
    own = calibration[similarity]
    others = [found for found in calibration if found.name != similarity and found.trusted]
    compared = [(found, found.ks - own.ks, _interval(found, own)) for found in others]
    better = next((entry for entry in compared if entry[2][0] > 0), None)
    shown = better or (compared[0] if compared else None)
    low, high = own.threshold_interval
    calibrated = own.threshold if own.trusted else math.nan
    fits = not own.trusted or bool(low <= threshold <= high if np.isfinite(low) else _same(threshold, calibrated))
    settings: dict[str, str | float] | None = None
    if better is not None:
        settings = {"similarity": better[0].name, "threshold": round(better[0].threshold, 2)}
    elif not fits:
        settings = {"similarity": similarity, "threshold": round(calibrated, 2)}
    return ThresholdAdvice(
        similarity=similarity,
        threshold=threshold,
        calibrated=calibrated,
        fits=fits,
        better=None if better is None else better[0].name,
        difference=math.nan if shown is None else shown[1],
        difference_interval=np.full(2, np.nan) if shown is None else shown[2],
        text=f"{_of_similarities(own, shown, better is not None)} {_of_threshold(own, threshold, fits)}",
        short=_short(own, threshold, fits, None if better is None else better[0].name),
        settings=settings,
    )


def _interval(found: Separation, own: Separation) -> NDArray[np.float64]:
    """(2,) interval of the difference of KS; all similarities of a calibration use the same draws."""
    if len(found.ks_replicates) != len(own.ks_replicates):
        return np.full(2, np.nan)
    return np.asarray(intervals((found.ks_replicates - own.ks_replicates)[:, None], own.images)[0])


def _same(threshold: float, calibrated: float) -> bool:
    return round(threshold, 2) == round(calibrated, 2)


def _of_similarities(
    own: Separation, shown: tuple[Separation, float, NDArray[np.float64]] | None, is_better: bool
) -> str:
    if shown is None:
        return f"{own.name} is the only similarity that was calibrated."
    other, difference, ends = shown
    if difference <= 0:
        numbers = f"{alpha_text(own.ks, 3)}, ahead of {other.name} with {alpha_text(other.ks, 3)}"
        return f"{own.name}, which is in use, has the largest KS of the similarities that were calibrated: {numbers}."
    by = f"KS {alpha_text(other.ks, 3)} against {alpha_text(own.ks, 3)}"
    if not has_interval(ends):
        return f"Without an interval it is unknown whether {other.name} separates matches from chance better: {by}."
    by += f", a difference of {alpha_text(difference, 3)} {interval_text(ends, 3)}"
    verb = "separates" if is_better else "does not separate"
    return f"{other.name} {verb} matches from chance significantly better than {own.name}, which is in use: {by}."


def _of_threshold(own: Separation, threshold: float, fits: bool) -> str:
    used = alpha_text(threshold)
    if not own.trusted:
        return f"No threshold of {own.name} can be recommended: {own.why}."
    if fits:
        return f"The threshold in use, {used}, fits{_how(own)}."
    return (
        f"The threshold in use, {used}, does not fit: {alpha_text(own.threshold)} best separates matches from chance"
        f"{_how(own)}."
    )


def _short(own: Separation, threshold: float, fits: bool, better: str | None) -> str:
    if not fits:
        best = alpha_text(own.threshold)
        return (
            f"The threshold {alpha_text(threshold)} does not fit: {best} best separates matches from chance{_how(own)}."
        )
    return f"{better} separates matches from chance better." if better else f"The threshold in use fits{_how(own)}."


def _how(own: Separation) -> str:
    """Note for a calibration whose threshold has no interval."""
    return "" if has_interval(own.tau_interval) else " (calibrated without an interval)"
