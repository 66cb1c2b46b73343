"""Inter-annotator agreement on vision data: how far several raters agree, and how they differ.

Functions take flat tables of annotations and return flat tables of results::

    annotations = read_coco("labels.json")
    print(agreement(annotations))
    print(variations(annotations).counts())

This package exports the names of daily use. Its subpackages and modules have more; each docstring lists them.
`__all__` and the API reference are generated from the imports below, so names are listed only here.
"""

from kalos_core._agreement import Agreement as Agreement
from kalos_core._agreement import agreement as agreement
from kalos_core.annotations import Annotations as Annotations
from kalos_core.annotations import overview as overview
from kalos_core.calibration import calibrate as calibrate
from kalos_core.consensus import estimate_truth as estimate_truth
from kalos_core.consensus import estimate_truths as estimate_truths
from kalos_core.consensus import instance_consensus as instance_consensus
from kalos_core.consensus import staple as staple
from kalos_core.consensus import unit_truth as unit_truth
from kalos_core.consensus import vote as vote
from kalos_core.convergence import check_convergence as check_convergence
from kalos_core.convergence import label_convergence as label_convergence
from kalos_core.convergence import modified_map as modified_map
from kalos_core.diagnostics import class_difficulty as class_difficulty
from kalos_core.diagnostics import collaboration as collaboration
from kalos_core.diagnostics import compare as compare
from kalos_core.diagnostics import intra_rater as intra_rater
from kalos_core.diagnostics import next_to_rate as next_to_rate
from kalos_core.diagnostics import rater_vitality as rater_vitality
from kalos_core.diagnostics import sensitivity as sensitivity
from kalos_core.diagnostics import team_agreement as team_agreement
from kalos_core.distributed import open_shards as open_shards
from kalos_core.distributed import write_shards as write_shards
from kalos_core.drawing import draw_image as draw_image
from kalos_core.drawing import draw_unit as draw_unit
from kalos_core.errors import InputError as InputError
from kalos_core.errors import KalosError as KalosError
from kalos_core.errors import KalosWarning as KalosWarning
from kalos_core.names import public_names
from kalos_core.noise import NoiseModel as NoiseModel
from kalos_core.nominal import LabelTable as LabelTable
from kalos_core.nominal import attribute_agreement as attribute_agreement
from kalos_core.nominal import cohen_kappa as cohen_kappa
from kalos_core.nominal import compare_teams as compare_teams
from kalos_core.nominal import dawid_skene as dawid_skene
from kalos_core.nominal import fleiss_kappa as fleiss_kappa
from kalos_core.nominal import grade_agreement as grade_agreement
from kalos_core.nominal import intraclass_correlation as intraclass_correlation
from kalos_core.nominal import label_agreement as label_agreement
from kalos_core.nominal import label_counts as label_counts
from kalos_core.nominal import majority_agreement as majority_agreement
from kalos_core.nominal import majority_vote as majority_vote
from kalos_core.nominal import nominal_alpha as nominal_alpha
from kalos_core.nominal import rater_accuracy as rater_accuracy
from kalos_core.pixels import LabelStack as LabelStack
from kalos_core.pixels import MaskStack as MaskStack
from kalos_core.pixels import boundary_agreement as boundary_agreement
from kalos_core.pixels import boundary_distance as boundary_distance
from kalos_core.pixels import pixel_agreement as pixel_agreement
from kalos_core.pixels import region_agreement as region_agreement
from kalos_core.ranking import ConceptTruths as ConceptTruths
from kalos_core.ranking import DetectorAccumulator as DetectorAccumulator
from kalos_core.ranking import rank_systems as rank_systems
from kalos_core.readers import read_boxes as read_boxes
from kalos_core.readers import read_coco as read_coco
from kalos_core.readers import read_cvat as read_cvat
from kalos_core.readers import read_label_studio as read_label_studio
from kalos_core.readers import read_labelme as read_labelme
from kalos_core.readers import read_labels as read_labels
from kalos_core.readers import read_lidc as read_lidc
from kalos_core.readers import read_long_labels as read_long_labels
from kalos_core.readers import read_mask_folders as read_mask_folders
from kalos_core.readers import read_via as read_via
from kalos_core.readers import read_vindr as read_vindr
from kalos_core.readers import read_wide_labels as read_wide_labels
from kalos_core.readers import write_coco as write_coco
from kalos_core.reliability import NO_OBJECT as NO_OBJECT
from kalos_core.reliability import NOT_ASSIGNED as NOT_ASSIGNED
from kalos_core.similarity import SIMILARITIES as SIMILARITIES
from kalos_core.similarity import register_similarity as register_similarity
from kalos_core.sparse import check_independence as check_independence
from kalos_core.sparse import removal_experiment as removal_experiment
from kalos_core.sparse import sparse_agreement as sparse_agreement
from kalos_core.sparse import unit_agreement as unit_agreement
from kalos_core.variation import boundary_quality as boundary_quality
from kalos_core.variation import variation_shares as variation_shares
from kalos_core.variation import variations as variations
from kalos_core.version import __version__ as __version__

__all__ = public_names(vars())
