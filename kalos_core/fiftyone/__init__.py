"""The bridge to FiftyOne, and the only place of the library that imports it: labels <-> annotations, runs, views.

Operators and panels of the plugin do what these functions do; a notebook can call either::

    import kalos_core.fiftyone as kf

    loaded = kf.load_raters("labels.json", "my-dataset", images="images/")
    run = kf.compute_agreement(loaded.dataset, "agreement")
    print(run.result)

* into a data set: `load_raters`, `load_label_table`, `load_mask_folders`
* analyses, each a kind of run: `compute_agreement`, `find_variations`, `calibrate_threshold`, `estimate_convergence`,
  `compute_label_agreement`, `rank_systems`, `compute_pixel_agreement`, `estimate_truth`, `rank_detectors`,
  `inject_noise`
* runs: `list_runs`, `load_run`, `load_metrics`, `load_details`, `figures_of`, `rename_run`, `delete_run`,
  `stale_samples`, `count_changes`; `KINDS` says of each kind what it is
* what a click leads to: ``view_of_...``, `worst_images`, `sample_report` and so on
* what stands in a data set: `label_fields`, `rater_fields`, `class_names`, `read_annotations`, `read_label_table`,
  `read_masks`
"""

from kalos_core.fiftyone.dataset.assignment import ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.groups import read_groups
from kalos_core.fiftyone.dataset.image_labels import read_label_table, scored_fields
from kalos_core.fiftyone.dataset.mask_fields import mask_classes
from kalos_core.fiftyone.dataset.masks import RaterMasks, read_masks
from kalos_core.fiftyone.dataset.objects import Labels, read_annotations, read_labels
from kalos_core.fiftyone.dataset.raters import (
    IMAGE_LABELS,
    MASKS,
    OBJECTS,
    class_names,
    estimated_fields,
    label_fields,
    rater_facts,
    rater_fields,
    rater_names,
    sources_of,
    synthetic_fields,
)
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.dataset.similarities import default_similarity, fitting_similarities
from kalos_core.fiftyone.importing.image_labels import LoadedLabels, load_label_table
from kalos_core.fiftyone.importing.masks import load_mask_folders
from kalos_core.fiftyone.importing.objects import LoadedRaters, load_raters
from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement
from kalos_core.fiftyone.kinds.agreement.lens import filtered_metrics
from kalos_core.fiftyone.kinds.agreement.sample import (
    Cell,
    Finding,
    MergedCells,
    NotInRun,
    SampleReport,
    sample_report,
)
from kalos_core.fiftyone.kinds.agreement.views import (
    ImageRow,
    image_alphas,
    view_of_alpha,
    view_of_class,
    view_of_pair,
    view_worst_first,
    worst_images,
)
from kalos_core.fiftyone.kinds.calibration.compute import calibrate_threshold, choose_threshold
from kalos_core.fiftyone.kinds.convergence.compute import estimate_convergence
from kalos_core.fiftyone.kinds.convergence.kind import view_of_tag
from kalos_core.fiftyone.kinds.convergence.metrics import convergence_metrics, replicate_points, shown_parts
from kalos_core.fiftyone.kinds.detectors.compute import rank_detectors
from kalos_core.fiftyone.kinds.detectors.details import stored_ranking
from kalos_core.fiftyone.kinds.detectors.scores import heatmap_fields
from kalos_core.fiftyone.kinds.image_labels.compute import compute_label_agreement
from kalos_core.fiftyone.kinds.image_labels.result import LabelFindings
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage, disputed_images, view_of_disputes
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.fiftyone.kinds.noise.compute import inject_noise, noise_raters
from kalos_core.fiftyone.kinds.noise.injected import InjectedNoise
from kalos_core.fiftyone.kinds.noise.preview import NoisePreview, preview_noise
from kalos_core.fiftyone.kinds.noise.views import CHANGES, NoisyImage, noisy_images, view_of_changes, view_of_event
from kalos_core.fiftyone.kinds.pixels.compute import compute_pixel_agreement
from kalos_core.fiftyone.kinds.pixels.details import SHARE_LABELS
from kalos_core.fiftyone.kinds.pixels.views import PixelImage, pixel_images, view_of_mask_rater
from kalos_core.fiftyone.kinds.ranking.compute import rank_systems
from kalos_core.fiftyone.kinds.ranking.details import stored_rankings
from kalos_core.fiftyone.kinds.truth.compute import estimate_truth
from kalos_core.fiftyone.kinds.truth.details import consensus_names
from kalos_core.fiftyone.kinds.variations.compute import find_variations
from kalos_core.fiftyone.kinds.variations.views import (
    MergedFinding,
    merged_findings,
    view_of_boundary,
    view_of_confusion,
    view_of_copies,
    view_of_merged,
    view_of_variation,
)
from kalos_core.fiftyone.runs.keys import RunNames, check_run_key, free_run_key
from kalos_core.fiftyone.runs.stored import (
    count_changes,
    delete_run,
    figures_of,
    list_runs,
    load_details,
    load_metrics,
    load_run,
    load_run_view,
    rename_run,
    stale_samples,
)
from kalos_core.fiftyone.runs.table import KINDS, Kind, Part, Run
from kalos_core.fiftyone.runs.thresholds import default_threshold

__all__ = [
    "ASSIGNED_FIELD",
    "CHANGES",
    "IMAGE_LABELS",
    "KINDS",
    "MASKS",
    "OBJECTS",
    "SHARE_LABELS",
    "Cell",
    "DisputedImage",
    "Finding",
    "ImageRow",
    "InjectedNoise",
    "Kind",
    "LabelFindings",
    "Labels",
    "LoadedLabels",
    "LoadedRaters",
    "MergedCells",
    "MergedFinding",
    "NoisePreview",
    "NoisyImage",
    "NotInRun",
    "Part",
    "PixelImage",
    "RaterMasks",
    "Run",
    "RunNames",
    "SampleReport",
    "Selection",
    "calibrate_threshold",
    "check_run_key",
    "check_samples",
    "choose_threshold",
    "class_names",
    "compute_agreement",
    "compute_label_agreement",
    "compute_pixel_agreement",
    "consensus_names",
    "convergence_metrics",
    "count_changes",
    "default_similarity",
    "default_threshold",
    "delete_run",
    "disputed_images",
    "estimate_convergence",
    "estimate_truth",
    "estimated_fields",
    "figures_of",
    "filtered_metrics",
    "find_variations",
    "fitting_similarities",
    "free_run_key",
    "heatmap_fields",
    "image_alphas",
    "inject_noise",
    "label_fields",
    "list_runs",
    "load_details",
    "load_label_table",
    "load_mask_folders",
    "load_metrics",
    "load_raters",
    "load_run",
    "load_run_view",
    "mask_classes",
    "merged_findings",
    "noise_raters",
    "noisy_images",
    "pixel_images",
    "preview_noise",
    "rank_detectors",
    "rank_systems",
    "rater_facts",
    "rater_fields",
    "rater_names",
    "read_annotations",
    "read_groups",
    "read_label_table",
    "read_labels",
    "read_masks",
    "rename_run",
    "replicate_points",
    "sample_report",
    "scored_fields",
    "shown_parts",
    "sources_of",
    "stale_samples",
    "stored_ranking",
    "stored_rankings",
    "synthetic_fields",
    "view_of_alpha",
    "view_of_boundary",
    "view_of_changes",
    "view_of_class",
    "view_of_confusion",
    "view_of_copies",
    "view_of_difference",
    "view_of_disputes",
    "view_of_event",
    "view_of_mask_rater",
    "view_of_merged",
    "view_of_pair",
    "view_of_tag",
    "view_of_variation",
    "view_worst_first",
    "worst_images",
]
