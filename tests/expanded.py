"""Interval of one statistic from its replicates, by Hesterberg 2015 (§3.3)."""

import numpy as np
from scipy import stats


def expanded(replicates, images):
    """Return (2,) percentiles of the finite replicates (B,), further out if fewer images have the statistic."""
    known = np.array(replicates, float).ravel()
    known = known[np.isfinite(known)]
    if images < 8 or not len(known) or np.ptp(known) < 1e-12:
        return np.full(2, np.nan)
    below = stats.norm.cdf(np.sqrt(images / (images - 1)) * stats.t.ppf(0.025, images - 1))
    return np.quantile(known, [below, 1 - below])
