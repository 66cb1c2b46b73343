"""The sections of the workbench, in the order of the questions."""

from .agreement import ClassesSection, ImagesSection
from .base import Section
from .ceiling import CeilingSection
from .decide import DecideSection
from .masks import MasksSection, TruthSection
from .noise import NoiseSection
from .overview import OverviewSection
from .questions import QuestionsSection, TeamsSection
from .ranking import RankingSection
from .raters import RatersSection
from .runs import RunsSection
from .threshold import ThresholdSection
from .variations import VariationsSection

SECTIONS: tuple[Section, ...] = (
    OverviewSection(),
    ImagesSection(),
    VariationsSection(),
    ClassesSection(),
    RatersSection(),
    ThresholdSection(),
    CeilingSection(),
    DecideSection(),
    QuestionsSection(),
    TeamsSection(),
    MasksSection(),
    TruthSection(),
    RankingSection(),
    NoiseSection(),
    RunsSection(),
)
