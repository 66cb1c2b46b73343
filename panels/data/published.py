"""Published: this alpha compared with those of published data sets."""

import kalos_core.fiftyone as kf
from kalos_core.figures.published import PUBLISHED_ALPHAS

from .base import Asked, DataSection
from .figure import figure_in
from .rows import Row, row_of


class PublishedSection(DataSection):
    NAME, KIND = "Published", "agreement"
    NOTHING_YET = (
        "How does your alpha compare with published ones?",
        "Analyse computes the agreement of your raters. This section then compares it with published data sets.",
    )

    def send(self, asked: Asked) -> Row:
        run = asked.details("agreement")
        records = sorted(PUBLISHED_ALPHAS, key=lambda one: one.similarity != run.settings["similarity"])
        rows = [row_of(one, "dataset", "task", "alpha", "note", "source", configuration="printed") for one in records]
        return {"scale": figure_in(kf.figures_of(run), "scale"), "rows": rows}
