"""Table of all sections, by group."""

from .data.base import DataSection
from .data.ceiling import CeilingSection
from .data.classes import ClassesSection
from .data.decide import DecideSection, GuidelineSection, ResultsSection, TrainingSection
from .data.images import ImagesSection
from .data.masks import MasksSection
from .data.noise import NoiseSection
from .data.published import PublishedSection
from .data.questions import QuestionsSection, TeamsSection
from .data.ranking import RankingSection
from .data.raters import RatersSection
from .data.runs import RunsSection
from .data.sentences import OverviewOfAny
from .data.threshold import ThresholdSection
from .data.truth import TruthSection
from .data.variations import DifferencesSection

GROUPS: dict[str, tuple[DataSection, ...]] = {
    "Overview": (OverviewOfAny(), PublishedSection()),
    "Differences": (DifferencesSection(), ImagesSection(), ClassesSection(), QuestionsSection(), MasksSection()),
    "Raters": (RatersSection(), TeamsSection()),
    "Decide": (DecideSection(), TrainingSection(), GuidelineSection(), ResultsSection()),
    "Models": (CeilingSection(), TruthSection(), RankingSection(), NoiseSection()),
    "Runs": (RunsSection(), ThresholdSection()),
}
"""Name of a group (a tab) -> its sections."""

BY_NAME = {section.NAME: section for sections in GROUPS.values() for section in sections}
