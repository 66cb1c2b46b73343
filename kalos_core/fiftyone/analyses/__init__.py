"""The analyses on FiftyOne: read a view's labels, compute, write the result under a run key."""

from kalos_core.fiftyone.analyses.agreement import agreement_figures, compute_agreement
from kalos_core.fiftyone.analyses.calibration import calibrate_threshold, choose_threshold
from kalos_core.fiftyone.analyses.convergence import estimate_convergence
from kalos_core.fiftyone.analyses.detectors import rank_detectors
from kalos_core.fiftyone.analyses.labels import compute_label_agreement
from kalos_core.fiftyone.analyses.noise import inject_noise, noise_raters
from kalos_core.fiftyone.analyses.pixels import compute_pixel_agreement
from kalos_core.fiftyone.analyses.rankings import rank_systems
from kalos_core.fiftyone.analyses.storing import restore, stale_samples
from kalos_core.fiftyone.analyses.truth import estimate_truth
from kalos_core.fiftyone.analyses.variations import find_variations, variation_figures

__all__ = [
    "agreement_figures",
    "calibrate_threshold",
    "choose_threshold",
    "compute_agreement",
    "compute_label_agreement",
    "compute_pixel_agreement",
    "estimate_convergence",
    "estimate_truth",
    "find_variations",
    "inject_noise",
    "noise_raters",
    "rank_detectors",
    "rank_systems",
    "restore",
    "stale_samples",
    "variation_figures",
]
