"""The bridge to FiftyOne, and the only place of the library that imports it: labels <-> annotations, runs, views.

Operators and panels of the plugin do what these functions do; a notebook can call either::

    import kalos_core.fiftyone as kf

    loaded = kf.load_raters("labels.json", "my-dataset", images="images/")
    run = kf.compute_agreement(loaded.dataset, "agreement")
    print(run.result)

* into a data set: `load_raters` (`check_images` looks first), `load_label_table`, `load_mask_folders`; `arrange_app`
* all of them at once: `analyse`, `update_analysis`, `list_analyses`, `find_analysis`, `Analysis`,
  `check_analysis_key`, `free_analysis_key`, `next_analysis_key`; two side by side: `compare_runs`, `RunComparison`,
  `SettingRow`, `view_of_change`
* analyses, each a kind of run: `compute_agreement`, `find_variations`, `calibrate_threshold`, `estimate_convergence`,
  `compute_label_agreement`, `rank_systems`, `compute_pixel_agreement`, `estimate_truth`, `rank_detectors`,
  `inject_noise`
* what a lens leaves of them (`Lens`, `CANNOT_FOLLOW`): `narrowed_metrics`, `narrowed_variations`, `rater_scorecard` ->
  `Scorecard`, `overview_of` -> `Statement`, `threshold_advice`; all of it as one HTML page: `report`
* runs: `list_runs`, `load_run`, `load_metrics`, `load_details`, `figures_of`, `rename_run`, `delete_run`,
  `describe_run` (`STATUSES`), `stale_samples`, `count_changes`; `KINDS` says of each kind what it is
* what a click leads to: ``view_of_...``, `worst_images`, `sample_report`, `draw_sample`, `draw_unit` and so on
* from disagreement to decision: `next_dispute`, `disputed_units`, `decide` one of `DECISIONS`, `Decision`, `decisions`,
  `count_disputes`, `queued_images` (`QueuedImage`), `view_of_queue`, `view_of_units`, `DisputedUnit`, `DisputeCount`,
  `QUEUED`, `carry_decisions`, `CarriedDecisions`, `resolved`, `ResolvedRun`, `UNDECIDED`,
  `export_resolved`, `training_list`, `guideline_questions`, `tag_disputes`, `hand_over`
* what stands in a data set: `label_fields`, `rater_fields`, `class_names`, `read_annotations`, `overview`,
  `read_label_table`, `read_masks`
* of the library itself: `NoisePreview`, `Undefined`, `InjectedNoise`, `LabelFindings`, `read_groups`, `Finding`,
  `ImageReport`
* more of what stands in a data set: `found_raters`, `FoundRaters`, `RATER_ATTRIBUTES`,
  `ASSIGNED_FIELD`, `scored_fields`, `mask_classes`, `RaterMasks`, `Labels`,
  `read_labels`, `IMAGE_LABELS`, `MASKS`, `OBJECTS`, `estimated_fields`, `rater_facts`, `rater_names`, `sources_of`,
  `synthetic_fields`, `check_samples`, `Selection`, `default_similarity`, `fitting_similarities`
* more of what loading returns: `LoadedLabels`, `LoadedRaters`
* more of agreement: `AgreementRun`, `NotInRun`, `ImageRow`, `image_alphas`,
  `view_of_alpha`, `view_of_class`, `view_of_pair`, `view_of_threshold`, `view_worst_first`; which images to give to one
  more rater: `next_to_rate`, `view_of_next`; on attributes
  of matched labels: `attribute_agreement`, `attributes_to_compare`, `attribute_rows`, `AttributeRow`,
  `view_of_attribute`; their boundaries: `unit_boundaries_of`, `view_of_unit_boundaries`
* more of calibration: `choose_threshold`, `CalibrationRun`
* more of label convergence: `ConvergenceRun`, `view_of_tag`, `convergence_metrics`, `place_predictions`,
  `poolable_runs`, `pooled_replicates`
* more of detectors: `BERKELEY`, `DetectorRun`, `heatmap_fields`
* more of image-level labels: `compare_teams`, `LabelRun`, `DisputedImage`, `disputed_images`, `view_of_disputes`,
  `view_least_sure_first`
* of labels of any kind: `view_of_difference`
* more of noise: `noise_raters`, `NoiseRun`, `preview_noise`, `CHANGES`, `NoisyImage`, `noisy_images`,
  `view_of_changes`, `view_of_event`
* more of pixels: `pixel_classes`, `PixelRun`, `PixelImage`, `pixel_images`, `view_of_mask_rater`; their regions in
  dispute: `has_regions`, `region_report`, `draw_region`; their boundaries: `boundaries_of`, `view_of_boundaries`; their
  divisions: `divisions_of`, `view_of_divisions`
* more of classifiers: `stored_rankings`, `RankingRun`
* more of estimated truth: `TruthRun`, `view_of_objections`
* more of variations: `VariationRun`, `MergedFinding`, `merged_findings`, `view_of_boundary`, `view_of_confusion`,
  `view_of_copies`, `view_of_merged`, `view_of_findings`, `view_of_variation`
* more of runs: `RunNames`, `check_run_key`, `free_run_key`, `load_run_view`, `Kind`, `Part`, `Run`,
  `default_threshold`
"""

import inspect
from importlib.util import find_spec

if find_spec("fiftyone") is None:
    raise ModuleNotFoundError(
        "kalos_core.fiftyone needs FiftyOne, which is not installed: pip install 'kalos-core[app]'", name="fiftyone"
    )

from kalos_core.decisions import DECISIONS as DECISIONS
from kalos_core.decisions import UNDECIDED as UNDECIDED
from kalos_core.decisions import Decision as Decision
from kalos_core.drawing.generated import NoisePreview as NoisePreview
from kalos_core.errors import Undefined as Undefined
from kalos_core.fiftyone.analyses.analysis import analyse as analyse
from kalos_core.fiftyone.analyses.analysis import check_analysis_key as check_analysis_key
from kalos_core.fiftyone.analyses.analysis import free_analysis_key as free_analysis_key
from kalos_core.fiftyone.analyses.analysis import next_analysis_key as next_analysis_key
from kalos_core.fiftyone.analyses.analysis import update_analysis as update_analysis
from kalos_core.fiftyone.analyses.comparing import RunComparison as RunComparison
from kalos_core.fiftyone.analyses.comparing import SettingRow as SettingRow
from kalos_core.fiftyone.analyses.comparing import compare_runs as compare_runs
from kalos_core.fiftyone.analyses.comparing import view_of_change as view_of_change
from kalos_core.fiftyone.analyses.reporting import report as report
from kalos_core.fiftyone.analyses.summaries import overview_of as overview_of
from kalos_core.fiftyone.analyses.summaries import rater_scorecard as rater_scorecard
from kalos_core.fiftyone.analyses.summaries import threshold_advice as threshold_advice
from kalos_core.fiftyone.dataset.found import RATER_ATTRIBUTES as RATER_ATTRIBUTES
from kalos_core.fiftyone.dataset.found import FoundRaters as FoundRaters
from kalos_core.fiftyone.dataset.found import found_raters as found_raters
from kalos_core.fiftyone.dataset.image_labels import read_label_table as read_label_table
from kalos_core.fiftyone.dataset.image_labels import scored_fields as scored_fields
from kalos_core.fiftyone.dataset.lens import CANNOT_FOLLOW as CANNOT_FOLLOW
from kalos_core.fiftyone.dataset.lens import Lens as Lens
from kalos_core.fiftyone.dataset.masks import RaterMasks as RaterMasks
from kalos_core.fiftyone.dataset.masks import read_masks as read_masks
from kalos_core.fiftyone.dataset.objects import Labels as Labels
from kalos_core.fiftyone.dataset.objects import overview as overview
from kalos_core.fiftyone.dataset.objects import read_annotations as read_annotations
from kalos_core.fiftyone.dataset.objects import read_labels as read_labels
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD as ASSIGNED_FIELD
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS as IMAGE_LABELS
from kalos_core.fiftyone.dataset.raters import MASKS as MASKS
from kalos_core.fiftyone.dataset.raters import OBJECTS as OBJECTS
from kalos_core.fiftyone.dataset.raters import class_names as class_names
from kalos_core.fiftyone.dataset.raters import estimated_fields as estimated_fields
from kalos_core.fiftyone.dataset.raters import label_fields as label_fields
from kalos_core.fiftyone.dataset.raters import mask_classes as mask_classes
from kalos_core.fiftyone.dataset.raters import rater_facts as rater_facts
from kalos_core.fiftyone.dataset.raters import rater_fields as rater_fields
from kalos_core.fiftyone.dataset.raters import rater_names as rater_names
from kalos_core.fiftyone.dataset.raters import sources_of as sources_of
from kalos_core.fiftyone.dataset.raters import synthetic_fields as synthetic_fields
from kalos_core.fiftyone.dataset.samples import check_samples as check_samples
from kalos_core.fiftyone.dataset.selection import Selection as Selection
from kalos_core.fiftyone.dataset.similarities import default_similarity as default_similarity
from kalos_core.fiftyone.dataset.similarities import fitting_similarities as fitting_similarities
from kalos_core.fiftyone.deciding.decide import CarriedDecisions as CarriedDecisions
from kalos_core.fiftyone.deciding.decide import carry_decisions as carry_decisions
from kalos_core.fiftyone.deciding.decide import decide as decide
from kalos_core.fiftyone.deciding.decide import decisions as decisions
from kalos_core.fiftyone.deciding.queue import QUEUED as QUEUED
from kalos_core.fiftyone.deciding.queue import DisputeCount as DisputeCount
from kalos_core.fiftyone.deciding.queue import DisputedUnit as DisputedUnit
from kalos_core.fiftyone.deciding.queue import QueuedImage as QueuedImage
from kalos_core.fiftyone.deciding.queue import count_disputes as count_disputes
from kalos_core.fiftyone.deciding.queue import disputed_units as disputed_units
from kalos_core.fiftyone.deciding.queue import next_dispute as next_dispute
from kalos_core.fiftyone.deciding.queue import queued_images as queued_images
from kalos_core.fiftyone.deciding.queue import view_of_queue as view_of_queue
from kalos_core.fiftyone.deciding.queue import view_of_units as view_of_units
from kalos_core.fiftyone.deciding.results import guideline_questions as guideline_questions
from kalos_core.fiftyone.deciding.results import hand_over as hand_over
from kalos_core.fiftyone.deciding.results import tag_disputes as tag_disputes
from kalos_core.fiftyone.deciding.results import training_list as training_list
from kalos_core.fiftyone.deciding.units import draw_region as draw_region
from kalos_core.fiftyone.deciding.units import region_report as region_report
from kalos_core.fiftyone.importing.image_labels import LoadedLabels as LoadedLabels
from kalos_core.fiftyone.importing.image_labels import load_label_table as load_label_table
from kalos_core.fiftyone.importing.masks import load_mask_folders as load_mask_folders
from kalos_core.fiftyone.importing.objects import LoadedRaters as LoadedRaters
from kalos_core.fiftyone.importing.objects import check_images as check_images
from kalos_core.fiftyone.importing.objects import load_raters as load_raters
from kalos_core.fiftyone.kinds.agreement.attributes import AttributeRow as AttributeRow
from kalos_core.fiftyone.kinds.agreement.attributes import attribute_agreement as attribute_agreement
from kalos_core.fiftyone.kinds.agreement.attributes import attribute_rows as attribute_rows
from kalos_core.fiftyone.kinds.agreement.attributes import attributes_to_compare as attributes_to_compare
from kalos_core.fiftyone.kinds.agreement.attributes import view_of_attribute as view_of_attribute
from kalos_core.fiftyone.kinds.agreement.compute import compute_agreement as compute_agreement
from kalos_core.fiftyone.kinds.agreement.rerating import next_to_rate as next_to_rate
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next as view_of_next
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun as NotInRun
from kalos_core.fiftyone.kinds.agreement.sample import draw_sample as draw_sample
from kalos_core.fiftyone.kinds.agreement.sample import draw_unit as draw_unit
from kalos_core.fiftyone.kinds.agreement.sample import sample_report as sample_report
from kalos_core.fiftyone.kinds.agreement.settings import AgreementRun as AgreementRun
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics as narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.stored import unit_boundaries_of as unit_boundaries_of
from kalos_core.fiftyone.kinds.agreement.views import ImageRow as ImageRow
from kalos_core.fiftyone.kinds.agreement.views import image_alphas as image_alphas
from kalos_core.fiftyone.kinds.agreement.views import view_of_alpha as view_of_alpha
from kalos_core.fiftyone.kinds.agreement.views import view_of_class as view_of_class
from kalos_core.fiftyone.kinds.agreement.views import view_of_pair as view_of_pair
from kalos_core.fiftyone.kinds.agreement.views import view_of_threshold as view_of_threshold
from kalos_core.fiftyone.kinds.agreement.views import view_of_unit_boundaries as view_of_unit_boundaries
from kalos_core.fiftyone.kinds.agreement.views import view_worst_first as view_worst_first
from kalos_core.fiftyone.kinds.agreement.views import worst_images as worst_images
from kalos_core.fiftyone.kinds.calibration.compute import calibrate_threshold as calibrate_threshold
from kalos_core.fiftyone.kinds.calibration.compute import choose_threshold as choose_threshold
from kalos_core.fiftyone.kinds.calibration.kind import CalibrationRun as CalibrationRun
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold as default_threshold
from kalos_core.fiftyone.kinds.convergence.compute import estimate_convergence as estimate_convergence
from kalos_core.fiftyone.kinds.convergence.compute import place_predictions as place_predictions
from kalos_core.fiftyone.kinds.convergence.kind import ConvergenceRun as ConvergenceRun
from kalos_core.fiftyone.kinds.convergence.kind import convergence_metrics as convergence_metrics
from kalos_core.fiftyone.kinds.convergence.kind import poolable_runs as poolable_runs
from kalos_core.fiftyone.kinds.convergence.kind import pooled_replicates as pooled_replicates
from kalos_core.fiftyone.kinds.convergence.kind import view_of_tag as view_of_tag
from kalos_core.fiftyone.kinds.detectors.compute import BERKELEY as BERKELEY
from kalos_core.fiftyone.kinds.detectors.compute import rank_detectors as rank_detectors
from kalos_core.fiftyone.kinds.detectors.kind import DetectorRun as DetectorRun
from kalos_core.fiftyone.kinds.detectors.scores import heatmap_fields as heatmap_fields
from kalos_core.fiftyone.kinds.image_labels.compute import compare_teams as compare_teams
from kalos_core.fiftyone.kinds.image_labels.compute import compute_label_agreement as compute_label_agreement
from kalos_core.fiftyone.kinds.image_labels.kind import LabelRun as LabelRun
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage as DisputedImage
from kalos_core.fiftyone.kinds.image_labels.views import disputed_images as disputed_images
from kalos_core.fiftyone.kinds.image_labels.views import view_of_disputes as view_of_disputes
from kalos_core.fiftyone.kinds.labelled import view_least_sure_first as view_least_sure_first
from kalos_core.fiftyone.kinds.labelled import view_of_difference as view_of_difference
from kalos_core.fiftyone.kinds.noise.compute import inject_noise as inject_noise
from kalos_core.fiftyone.kinds.noise.compute import noise_raters as noise_raters
from kalos_core.fiftyone.kinds.noise.kind import NoiseRun as NoiseRun
from kalos_core.fiftyone.kinds.noise.preview import preview_noise as preview_noise
from kalos_core.fiftyone.kinds.noise.views import CHANGES as CHANGES
from kalos_core.fiftyone.kinds.noise.views import NoisyImage as NoisyImage
from kalos_core.fiftyone.kinds.noise.views import noisy_images as noisy_images
from kalos_core.fiftyone.kinds.noise.views import view_of_changes as view_of_changes
from kalos_core.fiftyone.kinds.noise.views import view_of_event as view_of_event
from kalos_core.fiftyone.kinds.pixels.boundaries import boundaries_of as boundaries_of
from kalos_core.fiftyone.kinds.pixels.boundaries import view_of_boundaries as view_of_boundaries
from kalos_core.fiftyone.kinds.pixels.compute import compute_pixel_agreement as compute_pixel_agreement
from kalos_core.fiftyone.kinds.pixels.divisions import divisions_of as divisions_of
from kalos_core.fiftyone.kinds.pixels.divisions import view_of_divisions as view_of_divisions
from kalos_core.fiftyone.kinds.pixels.kind import PixelRun as PixelRun
from kalos_core.fiftyone.kinds.pixels.kind import has_regions as has_regions
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes as pixel_classes
from kalos_core.fiftyone.kinds.pixels.views import PixelImage as PixelImage
from kalos_core.fiftyone.kinds.pixels.views import pixel_images as pixel_images
from kalos_core.fiftyone.kinds.pixels.views import view_of_mask_rater as view_of_mask_rater
from kalos_core.fiftyone.kinds.ranking.compute import rank_systems as rank_systems
from kalos_core.fiftyone.kinds.ranking.kind import RankingRun as RankingRun
from kalos_core.fiftyone.kinds.ranking.kind import stored_rankings as stored_rankings
from kalos_core.fiftyone.kinds.resolved.compute import export_resolved as export_resolved
from kalos_core.fiftyone.kinds.resolved.compute import resolved as resolved
from kalos_core.fiftyone.kinds.resolved.kind import ResolvedRun as ResolvedRun
from kalos_core.fiftyone.kinds.truth.compute import estimate_truth as estimate_truth
from kalos_core.fiftyone.kinds.truth.kind import TruthRun as TruthRun
from kalos_core.fiftyone.kinds.truth.views import view_of_objections as view_of_objections
from kalos_core.fiftyone.kinds.variations.compute import find_variations as find_variations
from kalos_core.fiftyone.kinds.variations.kind import VariationRun as VariationRun
from kalos_core.fiftyone.kinds.variations.kind import narrowed_variations as narrowed_variations
from kalos_core.fiftyone.kinds.variations.views import MergedFinding as MergedFinding
from kalos_core.fiftyone.kinds.variations.views import merged_findings as merged_findings
from kalos_core.fiftyone.kinds.variations.views import view_of_boundary as view_of_boundary
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion as view_of_confusion
from kalos_core.fiftyone.kinds.variations.views import view_of_copies as view_of_copies
from kalos_core.fiftyone.kinds.variations.views import view_of_findings as view_of_findings
from kalos_core.fiftyone.kinds.variations.views import view_of_merged as view_of_merged
from kalos_core.fiftyone.kinds.variations.views import view_of_variation as view_of_variation
from kalos_core.fiftyone.runs.analyses import Analysis as Analysis
from kalos_core.fiftyone.runs.arranging import arrange_app as arrange_app
from kalos_core.fiftyone.runs.keys import RunNames as RunNames
from kalos_core.fiftyone.runs.keys import check_run_key as check_run_key
from kalos_core.fiftyone.runs.keys import free_run_key as free_run_key
from kalos_core.fiftyone.runs.stored import STATUSES as STATUSES
from kalos_core.fiftyone.runs.stored import count_changes as count_changes
from kalos_core.fiftyone.runs.stored import delete_run as delete_run
from kalos_core.fiftyone.runs.stored import describe_run as describe_run
from kalos_core.fiftyone.runs.stored import figures_of as figures_of
from kalos_core.fiftyone.runs.stored import find_analysis as find_analysis
from kalos_core.fiftyone.runs.stored import list_analyses as list_analyses
from kalos_core.fiftyone.runs.stored import list_runs as list_runs
from kalos_core.fiftyone.runs.stored import load_details as load_details
from kalos_core.fiftyone.runs.stored import load_metrics as load_metrics
from kalos_core.fiftyone.runs.stored import load_run as load_run
from kalos_core.fiftyone.runs.stored import load_run_view as load_run_view
from kalos_core.fiftyone.runs.stored import rename_run as rename_run
from kalos_core.fiftyone.runs.stored import stale_samples as stale_samples
from kalos_core.fiftyone.runs.table import KINDS as KINDS
from kalos_core.fiftyone.runs.table import Kind as Kind
from kalos_core.fiftyone.runs.table import Part as Part
from kalos_core.fiftyone.runs.table import Run as Run
from kalos_core.noise import InjectedNoise as InjectedNoise
from kalos_core.nominal import LabelFindings as LabelFindings
from kalos_core.nominal.grouping import read_groups as read_groups
from kalos_core.statements import Statement as Statement
from kalos_core.variation import Finding as Finding
from kalos_core.variation import ImageReport as ImageReport
from kalos_core.variation import Scorecard as Scorecard

__all__ = [name for name, found in vars().items() if not name.startswith("_") and not inspect.ismodule(found)]
