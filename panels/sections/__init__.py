"""The sections of the workbench, in the order of the questions."""

from .agreement import ClassesSection, ImagesSection
from .base import Section
from .overview import OverviewSection
from .raters import RatersSection
from .runs import RunsSection

SECTIONS: tuple[Section, ...] = (OverviewSection(), ImagesSection(), ClassesSection(), RatersSection(), RunsSection())
