"""Labels of whole images: which fields hold them, as a table, loaded from one, and what a run of them stores."""

from kalos_core.fiftyone.image_labels.findings import (
    LabelFindings,
    check_width,
    diagnostics_of,
    figures_of,
    find_all,
    load_table,
    pack_table,
)
from kalos_core.fiftyone.image_labels.loading import LoadedLabels, load_label_table
from kalos_core.fiftyone.image_labels.rankings import (
    Systems,
    Tree,
    rank,
    rank_again,
    ranking_diagnostics,
    ranking_figures,
    read_scores,
    score_arrays,
    tree_record,
)
from kalos_core.fiftyone.image_labels.reading import (
    Groups,
    ImageLabels,
    groups_from_record,
    groups_record,
    read_image_labels,
    read_label_table,
)
from kalos_core.fiftyone.image_labels.sources import image_label_fields, image_label_names, image_rater_fields
from kalos_core.fiftyone.image_labels.views import (
    DisputedImage,
    disputed_images,
    label_image_values,
    view_of_difference,
    view_of_disputes,
    view_of_label_agreement,
)

__all__ = [
    "DisputedImage",
    "Groups",
    "ImageLabels",
    "LabelFindings",
    "LoadedLabels",
    "Systems",
    "Tree",
    "check_width",
    "diagnostics_of",
    "disputed_images",
    "figures_of",
    "find_all",
    "groups_from_record",
    "groups_record",
    "image_label_fields",
    "image_label_names",
    "image_rater_fields",
    "label_image_values",
    "load_label_table",
    "load_table",
    "pack_table",
    "rank",
    "rank_again",
    "ranking_diagnostics",
    "ranking_figures",
    "read_image_labels",
    "read_label_table",
    "read_scores",
    "score_arrays",
    "tree_record",
    "view_of_difference",
    "view_of_disputes",
    "view_of_label_agreement",
]
