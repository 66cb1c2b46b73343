"""Bridge between the library and FiftyOne, and the only package that imports it: labels, annotations, runs, views.

The plugin's operators and panels do the same as these functions; a notebook can call either::

    import kalos_core.fiftyone as kf

    loaded = kf.load_raters("labels.json", "my-dataset", images="images/")
    run = kf.compute_agreement(loaded.dataset, "agreement")
    print(run.result)

This package exports the functions for notebooks. The subpackages add what the panels need: more views, the rows of
their lists, and the result classes.
The imports below are the only list of these names: `__all__` and the API reference are generated from them.
"""

import importlib.util

import kalos_core.extras

if importlib.util.find_spec("fiftyone") is None:
    raise ModuleNotFoundError(kalos_core.extras.missing("fiftyone", "app", __name__), name="fiftyone")

from kalos_core.decisions import DECISIONS as DECISIONS
from kalos_core.decisions import LABEL_DECISIONS as LABEL_DECISIONS
from kalos_core.fiftyone.analyses.analysis import analyse as analyse
from kalos_core.fiftyone.analyses.analysis import update_analysis as update_analysis
from kalos_core.fiftyone.analyses.comparing import compare_runs as compare_runs
from kalos_core.fiftyone.analyses.reporting import feedback as feedback
from kalos_core.fiftyone.analyses.reporting import report as report
from kalos_core.fiftyone.analyses.summaries import overview_of as overview_of
from kalos_core.fiftyone.analyses.summaries import rater_scorecard as rater_scorecard
from kalos_core.fiftyone.dataset.filter import Filter as Filter
from kalos_core.fiftyone.dataset.found import found_raters as found_raters
from kalos_core.fiftyone.dataset.image_labels import read_label_table as read_label_table
from kalos_core.fiftyone.dataset.masks import read_masks as read_masks
from kalos_core.fiftyone.dataset.objects import overview as overview
from kalos_core.fiftyone.dataset.objects import read_annotations as read_annotations
from kalos_core.fiftyone.dataset.raters import label_fields as label_fields
from kalos_core.fiftyone.dataset.raters import rater_fields as rater_fields
from kalos_core.fiftyone.dataset.selection import Selection as Selection
from kalos_core.fiftyone.deciding.decide import decide as decide
from kalos_core.fiftyone.deciding.decide import decisions as decisions
from kalos_core.fiftyone.deciding.queue import count_disputes as count_disputes
from kalos_core.fiftyone.deciding.queue import disputed_units as disputed_units
from kalos_core.fiftyone.deciding.queue import next_dispute as next_dispute
from kalos_core.fiftyone.deciding.results import guideline_questions as guideline_questions
from kalos_core.fiftyone.deciding.results import hand_over as hand_over
from kalos_core.fiftyone.deciding.results import tag_disputes as tag_disputes
from kalos_core.fiftyone.deciding.results import training_list as training_list
from kalos_core.fiftyone.importing.image_labels import load_label_table as load_label_table
from kalos_core.fiftyone.importing.masks import load_mask_folders as load_mask_folders
from kalos_core.fiftyone.importing.objects import check_images as check_images
from kalos_core.fiftyone.importing.objects import load_raters as load_raters
from kalos_core.fiftyone.importing.objects import preview_raters as preview_raters
from kalos_core.fiftyone.kinds.agreement.attributes import attribute_agreement as attribute_agreement
from kalos_core.fiftyone.kinds.agreement.attributes import attribute_rows as attribute_rows
from kalos_core.fiftyone.kinds.agreement.attributes import view_of_attribute as view_of_attribute
from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement as compute_agreement
from kalos_core.fiftyone.kinds.agreement.rerating import next_to_rate as next_to_rate
from kalos_core.fiftyone.kinds.agreement.sample import draw_sample as draw_sample
from kalos_core.fiftyone.kinds.agreement.sample import draw_unit as draw_unit
from kalos_core.fiftyone.kinds.agreement.stored import unit_boundaries_of as unit_boundaries_of
from kalos_core.fiftyone.kinds.agreement.views import view_of_unit_boundaries as view_of_unit_boundaries
from kalos_core.fiftyone.kinds.agreement.views import worst_images as worst_images
from kalos_core.fiftyone.kinds.calibration.compute import calibrate_threshold as calibrate_threshold
from kalos_core.fiftyone.kinds.calibration.compute import choose_threshold as choose_threshold
from kalos_core.fiftyone.kinds.convergence.compute import estimate_convergence as estimate_convergence
from kalos_core.fiftyone.kinds.convergence.kind import convergence_metrics as convergence_metrics
from kalos_core.fiftyone.kinds.detectors.compute import rank_detectors as rank_detectors
from kalos_core.fiftyone.kinds.image_labels.compute import compute_label_agreement as compute_label_agreement
from kalos_core.fiftyone.kinds.image_labels.views import view_of_disputes as view_of_disputes
from kalos_core.fiftyone.kinds.labelled import view_least_sure_first as view_least_sure_first
from kalos_core.fiftyone.kinds.noise.compute import inject_noise as inject_noise
from kalos_core.fiftyone.kinds.noise.compute import noise_raters as noise_raters
from kalos_core.fiftyone.kinds.noise.preview import preview_noise as preview_noise
from kalos_core.fiftyone.kinds.pixels.compute import compute_pixel_agreement as compute_pixel_agreement
from kalos_core.fiftyone.kinds.pixels.paired import boundaries_of as boundaries_of
from kalos_core.fiftyone.kinds.pixels.paired import divisions_of as divisions_of
from kalos_core.fiftyone.kinds.pixels.paired import view_of_boundaries as view_of_boundaries
from kalos_core.fiftyone.kinds.pixels.paired import view_of_divisions as view_of_divisions
from kalos_core.fiftyone.kinds.ranking.compute import rank_systems as rank_systems
from kalos_core.fiftyone.kinds.resolved.compute import export_resolved as export_resolved
from kalos_core.fiftyone.kinds.resolved.compute import resolved as resolved
from kalos_core.fiftyone.kinds.truth.compute import estimate_truth as estimate_truth
from kalos_core.fiftyone.kinds.truth.views import view_of_objections as view_of_objections
from kalos_core.fiftyone.kinds.variations.compute import find_variations as find_variations
from kalos_core.fiftyone.kinds.variations.views import view_of_variation as view_of_variation
from kalos_core.fiftyone.runs.arranging import arrange_app as arrange_app
from kalos_core.fiftyone.runs.stored import delete_run as delete_run
from kalos_core.fiftyone.runs.stored import describe_run as describe_run
from kalos_core.fiftyone.runs.stored import figures_of as figures_of
from kalos_core.fiftyone.runs.stored import list_analyses as list_analyses
from kalos_core.fiftyone.runs.stored import list_runs as list_runs
from kalos_core.fiftyone.runs.stored import load_details as load_details
from kalos_core.fiftyone.runs.stored import load_metrics as load_metrics
from kalos_core.fiftyone.runs.stored import load_run as load_run
from kalos_core.fiftyone.runs.stored import load_run_view as load_run_view
from kalos_core.fiftyone.runs.stored import rename_run as rename_run
from kalos_core.fiftyone.runs.stored import stale_samples as stale_samples
from kalos_core.fiftyone.runs.table import KINDS as KINDS
from kalos_core.names import public_names

__all__ = public_names(vars())
