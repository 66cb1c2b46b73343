"""The parts of the Agreement panel: figures with their findings, by section, and how to read them."""

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text
from kalos_core.figures import BAND_SOURCES, PUBLISHED_ALPHAS, hardest_classes

PARTS = {
    "Images": ("histogram",),
    "Reading": ("scale",),
    "Boundaries": ("sensitivity",),
    "Classes": ("classes",),
    "Raters": ("vitality", "collaboration", "intra_rater", "team"),
}
"""Section -> its parts, from top to bottom."""

SECTIONS = tuple(PARTS)

CAPTIONS = {
    "histogram": (
        "α = 1 − observed / expected disagreement (Krippendorff), mean over images; at most 1. 1: the same objects and "
        "classes. 0: no better than chance. Below 0: systematic disagreement. Lines: mean (solid), median (dashed), α "
        f"of all units at once (dotted). Bands: {BAND_SOURCES} **Click a bar to see its images.**"
    ),
    "scale": (
        f"Your alpha (diamond, with its 95 % interval) among published ones, bands behind. {BAND_SOURCES} **Values of "
        "other configurations are not comparable**: another similarity or threshold is another question. Those with "
        "your similarity stand out."
    ),
    "sensitivity": (
        "Mean α when two annotations need at least this similarity τ_s to be the same object; grey: 95 % interval. "
        "What is lost between the anchor (τ*_s chosen from a calibration, else this run's threshold) and the strict "
        "threshold is imprecise boundaries, what is missing from 1 before it is other objects and classes. "
        "**Click a point to see its images, worst first.**"
    ),
    "classes": (
        "Mean α of the units in which somebody chose the class; whiskers: 95 % interval; in brackets: images. "
        "**Click a class to see its images, worst first, and to filter the other figures.**"
    ),
    "vitality": (
        "α of all raters − α without this one, matched again: mean over images; whiskers: 95 % interval. Above 0: "
        "brings the others together. Below 0: differs from them. **Point at a bar for all units at once; click a "
        "rater to filter the other figures.**"
    ),
    "collaboration": (
        "α of each two raters, matched on these alone: above the diagonal the mean over images, below it all units at "
        "once; who agree stand together (average linkage on 1 − mean α). "
        "**Click a cell to see the images where these two disagree most.**"
    ),
    "intra_rater": "Mean α of each rater's own sessions, matched on these alone: how far they agree with themselves.",
    "team": "Mean α of all raters within each session: does the team come together over time?",
}
"""One line under each figure: what is shown, formula, range, how to read it."""

PUBLISHED_COLUMNS = (("dataset", "Data set"), ("alpha", "α"), ("notation", "Configuration"), ("source", "Source"))


def names_of(found, which):
    """The names a diagnostic is of; none where there is none."""
    return [] if isinstance(found, kf.Undefined) else getattr(found, which).tolist()


def shown_classes(found):
    """Names of the bars of class difficulty, from top to bottom."""
    if isinstance(found, kf.Undefined):
        return []
    return found.category[hardest_classes(found.alpha, found.images)].tolist()


def shown_raters(found):
    """Names of the rows of the heatmap, from top to bottom."""
    return [] if isinstance(found, kf.Undefined) else found.raters[found.order].tolist()


def published_rows(run):
    """Published values, those with the similarity of the run first."""
    records = sorted(PUBLISHED_ALPHAS, key=lambda record: record.similarity != run.settings["similarity"])
    return [
        {
            "dataset": f"{record.dataset}\n{record.task}",
            "alpha": alpha_text(record.alpha, 4),
            "notation": f"{record.printed}\n{record.note}".rstrip(),
            "source": record.source,
        }
        for record in records
    ]
