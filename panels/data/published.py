"""Published: this alpha beside those of published data sets."""

from dataclasses import dataclass

import kalos_core.fiftyone as kf
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.published import PUBLISHED_ALPHAS

from .base import Asked, DataSection
from .figure import Figure, figure_of


@dataclass(frozen=True)
class Row:
    """A published alpha; `configuration` is as it was printed."""

    dataset: str
    task: str
    alpha: float
    configuration: str
    note: str
    source: str


@dataclass(frozen=True)
class Published:
    scale: Figure
    rows: tuple[Row, ...]


class PublishedSection(DataSection):
    NAME, KIND = "Published", "agreement"
    NOTHING_YET = (
        "How do others agree?",
        "Analyse says how far your raters agree; then it stands here beside published data sets.",
    )

    def send(self, asked: Asked) -> Published:
        run = kf.load_details(asked.dataset, asked.run("agreement").key)
        records = sorted(PUBLISHED_ALPHAS, key=lambda one: one.similarity != run.settings["similarity"])
        rows = [Row(one.dataset, one.task, one.alpha, one.printed, one.note, one.source) for one in records]
        return Published(figure_of(kf.figures_of(run)["scale"], CAPTIONS["scale"]), tuple(rows))
