"""One file per panel: state, handlers, layout. Numbers come from stored runs, figures from `kalos_core.figures`."""

from .calibration import CalibrationPanel
from .convergence import ConvergencePanel
from .sample import SamplePanel
from .variations import VariationsPanel
from .workbench import WorkbenchPanel


def register(plugin):
    plugin.register(WorkbenchPanel)
    plugin.register(VariationsPanel)
    plugin.register(CalibrationPanel)
    plugin.register(ConvergencePanel)
    plugin.register(SamplePanel)
