"""Published: this alpha beside those of published data sets."""

import kalos_core.fiftyone as kf
from kalos_core.figures.published import PUBLISHED_ALPHAS, PublishedAlpha

from .base import Asked, DataSection
from .figure import figure_in
from .rows import Row


class PublishedSection(DataSection):
    NAME, KIND = "Published", "agreement"
    NOTHING_YET = (
        "How do others agree?",
        "Analyse says how far your raters agree; then it stands here beside published data sets.",
    )

    def send(self, asked: Asked) -> Row:
        run = asked.details("agreement")
        records = sorted(PUBLISHED_ALPHAS, key=lambda one: one.similarity != run.settings["similarity"])
        return {"scale": figure_in(kf.figures_of(run), "scale"), "rows": [_row(one) for one in records]}


def _row(one: PublishedAlpha) -> Row:
    """A published alpha; its configuration is as it was printed."""
    about = {name: getattr(one, name) for name in ("dataset", "task", "alpha", "note", "source")}
    return {**about, "configuration": one.printed}
