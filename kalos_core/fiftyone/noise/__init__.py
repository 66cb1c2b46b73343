"""Synthetic raters on FiftyOne: what they are drawn with, where they are written, and what a run of them stores."""

from kalos_core.fiftyone.noise.preview import NoisePreview, preview_noise
from kalos_core.fiftyone.noise.sources import Drawing, class_source_of, false_positive_source_of, model_of
from kalos_core.fiftyone.noise.stored import InjectedNoise, arrays_of, figures_of, law_rows, rater_rows
from kalos_core.fiftyone.noise.writing import SyntheticLabels, field_arguments, make_labels, write_raters

__all__ = [
    "Drawing",
    "InjectedNoise",
    "NoisePreview",
    "SyntheticLabels",
    "arrays_of",
    "class_source_of",
    "false_positive_source_of",
    "field_arguments",
    "figures_of",
    "law_rows",
    "make_labels",
    "model_of",
    "preview_noise",
    "rater_rows",
    "write_raters",
]
