"""The bridge to FiftyOne, and the only place of the library that imports it: labels <-> annotations, runs, views.

Operators and panels of the plugin do what these functions do; a notebook can call either::

    import kalos_core.fiftyone as kf

    loaded = kf.load_raters("labels.json", "my-dataset", images="pictures/")
    run = kf.compute_agreement(loaded.dataset, "agreement")
    print(run.result)
"""

from kalos_core.fiftyone.analyses import (
    calibrate_threshold,
    choose_threshold,
    compute_agreement,
    estimate_convergence,
    find_variations,
    stale_samples,
)
from kalos_core.fiftyone.convergence import convergence_figures, replicate_points
from kalos_core.fiftyone.filtering import filtered_figures
from kalos_core.fiftyone.labels import (
    LabelChoice,
    Labels,
    check_samples,
    default_similarity,
    fitting_similarities,
    read_annotations,
    read_labels,
)
from kalos_core.fiftyone.loading import LoadedRaters, load_raters
from kalos_core.fiftyone.raters import ASSIGNED_FIELD, class_names, label_fields, rater_fields, rater_names
from kalos_core.fiftyone.runs import (
    Run,
    RunNames,
    check_run_key,
    default_threshold,
    delete_run,
    free_run_key,
    list_runs,
    load_diagnostics,
    load_figures,
    load_run,
    load_run_view,
    rename_run,
)
from kalos_core.fiftyone.views import (
    Cell,
    ImageRow,
    MergedCells,
    MergedFinding,
    NotInRun,
    SampleReport,
    image_alphas,
    merged_findings,
    sample_report,
    view_of_alpha,
    view_of_boundary,
    view_of_class,
    view_of_confusion,
    view_of_copies,
    view_of_merged,
    view_of_pair,
    view_of_rater,
    view_of_tag,
    view_of_variation,
    view_worst_first,
    worst_images,
)

__all__ = [
    "ASSIGNED_FIELD",
    "Cell",
    "ImageRow",
    "LabelChoice",
    "Labels",
    "LoadedRaters",
    "MergedCells",
    "MergedFinding",
    "NotInRun",
    "Run",
    "RunNames",
    "SampleReport",
    "calibrate_threshold",
    "check_run_key",
    "check_samples",
    "choose_threshold",
    "class_names",
    "compute_agreement",
    "convergence_figures",
    "default_similarity",
    "default_threshold",
    "delete_run",
    "estimate_convergence",
    "filtered_figures",
    "find_variations",
    "fitting_similarities",
    "free_run_key",
    "image_alphas",
    "label_fields",
    "list_runs",
    "load_diagnostics",
    "load_figures",
    "load_raters",
    "load_run",
    "load_run_view",
    "merged_findings",
    "rater_fields",
    "rater_names",
    "read_annotations",
    "read_labels",
    "rename_run",
    "replicate_points",
    "sample_report",
    "stale_samples",
    "view_of_alpha",
    "view_of_boundary",
    "view_of_class",
    "view_of_confusion",
    "view_of_copies",
    "view_of_merged",
    "view_of_pair",
    "view_of_rater",
    "view_of_tag",
    "view_of_variation",
    "view_worst_first",
    "worst_images",
]
