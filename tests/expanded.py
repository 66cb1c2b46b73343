"""The interval of one statistic from its replicates, as Hesterberg 2015 (§3.3) has it."""

import numpy as np
from scipy import stats


def expanded(replicates, images):
    """(2,) percentiles of what is defined of replicates (B,), further out the fewer images hold the statistic."""
    known = np.array(replicates, float).ravel()
    known = known[np.isfinite(known)]
    if images < 8 or not len(known) or np.ptp(known) < 1e-12:
        return np.full(2, np.nan)
    below = stats.norm.cdf(np.sqrt(images / (images - 1)) * stats.t.ppf(0.025, images - 1))
    return np.quantile(known, [below, 1 - below])
