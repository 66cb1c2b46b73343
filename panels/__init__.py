"""Panels, one file each. Numbers come from stored runs, and figures from `kalos_core.figures`."""

from typing import Any

from .sample import SamplePanel
from .workbench import WorkbenchPanel


def register(plugin: Any) -> None:
    plugin.register(WorkbenchPanel)
    plugin.register(SamplePanel)
