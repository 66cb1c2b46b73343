"""The sections of the workbench, in the order of the questions."""

from .agreement import ClassesSection, ImagesSection
from .base import Section
from .runs import RunsSection

SECTIONS: tuple[Section, ...] = (ImagesSection(), ClassesSection(), RunsSection())
