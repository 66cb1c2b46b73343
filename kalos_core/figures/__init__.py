"""Figures of results: plain values in, plotly figures out. The App, notebooks and reports draw the same ones.

A title states the finding. No template, background or font colour is set, so that a figure follows the theme of
whatever shows it.
"""

from kalos_core.agreement import BANDS, band
from kalos_core.figures.agreement import BIN_WIDTH, agreement_title, alpha_bins, alpha_histogram, plot_agreement
from kalos_core.figures.common import COLOURS, NEUTRAL, RATER_COLOURS, significant, with_interval
from kalos_core.figures.variations import VARIATION_LABELS, plot_variations, variation_bars, variations_title

__all__ = [
    "BANDS",
    "BIN_WIDTH",
    "COLOURS",
    "NEUTRAL",
    "RATER_COLOURS",
    "VARIATION_LABELS",
    "agreement_title",
    "alpha_bins",
    "alpha_histogram",
    "band",
    "plot_agreement",
    "plot_variations",
    "significant",
    "variation_bars",
    "variations_title",
    "with_interval",
]
