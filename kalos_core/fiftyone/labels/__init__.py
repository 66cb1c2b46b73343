"""From a view and its raters to `Annotations`, and per-label values back."""

from kalos_core.fiftyone.labels.choice import ASSIGNMENTS, LabelChoice
from kalos_core.fiftyone.labels.reading import Labels, read_annotations, read_labels
from kalos_core.fiftyone.labels.samples import check_samples, every_sample, settle
from kalos_core.fiftyone.labels.sources import default_similarity, fitting_similarities, similarity_to_store
from kalos_core.fiftyone.labels.writing import LabelAttribute, write_documents, write_values

__all__ = [
    "ASSIGNMENTS",
    "LabelAttribute",
    "LabelChoice",
    "Labels",
    "check_samples",
    "default_similarity",
    "every_sample",
    "fitting_similarities",
    "read_annotations",
    "read_labels",
    "settle",
    "similarity_to_store",
    "write_documents",
    "write_values",
]
