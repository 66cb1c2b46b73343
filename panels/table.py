"""All sections in their groups: those that the view draws (`DataSection`), and those that Python describes."""

from collections.abc import Iterator

from .data.base import DataSection
from .data.ceiling import CeilingSection
from .data.classes import ClassesSection
from .data.decide import DecideSection, GuidelineSection, ResultsSection, TrainingSection
from .data.images import ImagesSection
from .data.overview import OverviewSection
from .data.published import PublishedSection
from .data.raters import RatersSection
from .data.runs import RunsSection
from .data.threshold import ThresholdSection
from .data.variations import DifferencesSection
from .sections import masks, noise, questions, ranking
from .sections.base import Section

GROUPS: dict[str, tuple[DataSection | Section, ...]] = {
    "Overview": (OverviewSection(), PublishedSection()),
    "Differences": (
        DifferencesSection(),
        ImagesSection(),
        ClassesSection(),
        questions.QuestionsSection(),
        masks.MasksSection(),
    ),
    "Raters": (RatersSection(), questions.TeamsSection()),
    "Decide": (DecideSection(), TrainingSection(), GuidelineSection(), ResultsSection()),
    "Models": (
        CeilingSection(),
        masks.TruthSection(),
        ranking.RankingSection(),
        noise.NoiseSection(),
    ),
    "Runs": (RunsSection(), ThresholdSection()),
}
"""Name of a group, which is a tab, -> its sections."""


def every_section() -> Iterator[DataSection | Section]:
    for sections in GROUPS.values():
        yield from sections


BY_NAME = {section.NAME: section for section in every_section()}
