"""One file per user action: a form, one call into `kalos_core.fiftyone`, an output."""

from typing import Any

from .after_load import AfterLoad
from .analyse import Analyse
from .calibrate_threshold import CalibrateThreshold
from .choose_threshold import ChooseThreshold
from .compute_agreement import ComputeAgreement
from .compute_label_agreement import ComputeLabelAgreement
from .compute_pixel_agreement import ComputePixelAgreement
from .decide import Decide
from .delete_run import DeleteRun
from .describe_run import DescribeRun
from .estimate_convergence import EstimateConvergence
from .estimate_truth import EstimateTruth
from .export_resolved import ExportResolved
from .find_variations import FindVariations
from .hand_over import HandOver
from .inject_noise import InjectNoise
from .label_convergence import LabelConvergenceMetric
from .load_raters import LoadRaters
from .next_to_rate import NextToRate
from .open_raters import OpenRaters
from .rank_detectors import RankDetectors
from .rank_systems import RankSystems
from .rename_run import RenameRun
from .report import WriteReport
from .resolved import MakeResolved
from .tag_disputes import TagDisputes
from .update_run import UpdateRun


def register(plugin: Any) -> None:
    plugin.register(OpenRaters)
    plugin.register(LoadRaters)
    plugin.register(Analyse)
    plugin.register(ComputeAgreement)
    plugin.register(FindVariations)
    plugin.register(CalibrateThreshold)
    plugin.register(ChooseThreshold)
    plugin.register(EstimateConvergence)
    plugin.register(AfterLoad)
    plugin.register(LabelConvergenceMetric)
    plugin.register(InjectNoise)
    plugin.register(ComputeLabelAgreement)
    plugin.register(RankSystems)
    plugin.register(ComputePixelAgreement)
    plugin.register(EstimateTruth)
    plugin.register(RankDetectors)
    plugin.register(UpdateRun)
    plugin.register(DescribeRun)
    plugin.register(RenameRun)
    plugin.register(Decide)
    plugin.register(MakeResolved)
    plugin.register(ExportResolved)
    plugin.register(WriteReport)
    plugin.register(NextToRate)
    plugin.register(TagDisputes)
    plugin.register(HandOver)
    plugin.register(DeleteRun)
