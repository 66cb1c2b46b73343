"""The sections of the workbench, in the order of the questions."""

from .agreement import ClassesSection, ImagesSection
from .base import Section

SECTIONS: tuple[Section, ...] = (ImagesSection(), ClassesSection())
