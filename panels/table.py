"""All sections in their groups: those that the view draws (`DataSection`), and those that Python describes."""

from collections.abc import Iterator

from .data.base import DataSection
from .data.ceiling import CeilingSection
from .data.masks import MasksSection
from .data.noise import NoiseSection
from .data.overview import OverviewSection
from .data.published import PublishedSection
from .data.questions import QuestionsSection, TeamsSection
from .data.ranking import RankingSection
from .data.runs import RunsSection
from .data.threshold import ThresholdSection
from .data.truth import TruthSection
from .sections import agreement, decide, raters, variations
from .sections.base import Section

GROUPS: dict[str, tuple[DataSection | Section, ...]] = {
    "Overview": (OverviewSection(), PublishedSection()),
    "Differences": (
        variations.VariationsSection(),
        agreement.ImagesSection(),
        agreement.ClassesSection(),
        QuestionsSection(),
        MasksSection(),
    ),
    "Raters": (raters.RatersSection(), TeamsSection()),
    "Decide": (decide.DecideSection(),),
    "Models": (
        CeilingSection(),
        TruthSection(),
        RankingSection(),
        NoiseSection(),
    ),
    "Runs": (RunsSection(), ThresholdSection()),
}
"""Name of a group, which is a tab, -> its sections."""


def every_section() -> Iterator[DataSection | Section]:
    for sections in GROUPS.values():
        yield from sections


BY_NAME = {section.NAME: section for section in every_section()}
