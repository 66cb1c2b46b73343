"""All sections in their groups: those that the view draws (`DataSection`), and those that Python describes."""

from collections.abc import Iterator

from .data.base import DataSection
from .data.classes import ClassesSection
from .data.images import ImagesSection
from .data.overview import OverviewSection
from .data.published import PublishedSection
from .data.raters import RatersSection
from .data.variations import DifferencesSection
from .sections import ceiling, decide, masks, noise, questions, ranking, runs, threshold
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
    "Decide": (decide.DecideSection(),),
    "Models": (
        ceiling.CeilingSection(),
        masks.TruthSection(),
        ranking.RankingSection(),
        noise.NoiseSection(),
    ),
    "Runs": (runs.RunsSection(), threshold.ThresholdSection()),
}
"""Name of a group, which is a tab, -> its sections."""


def every_section() -> Iterator[DataSection | Section]:
    for sections in GROUPS.values():
        yield from sections


BY_NAME = {section.NAME: section for section in every_section()}
