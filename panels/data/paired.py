"""Comparison of each pair of raters: by class, pair and image, with intervals."""

from pathlib import Path
from typing import Any

from kalos_core.fiftyone.dataset.database import files_of

from .rows import Row

MOST_IMAGES = 25


def paired_of(dataset: Any, found: Any, measure: str, *, low_is_worse: bool) -> Row:
    """Return the means over images of a `PairedRaters`, and the worst images by one of its measures.

    Rows have names, and each measure with both ends of its interval as `<measure>_low` and `<measure>_high`. There are
    no rows of classes if there is only one class, and none of pairs if raters are local to their image.
    """
    title, _, over = found.headline.partition("\n")
    worst = found.by_image().dropna(subset=measure).sort_values(measure, ascending=low_is_worse, kind="stable")
    worst = worst[:MOST_IMAGES]
    files = files_of(dataset, worst["image"].tolist())
    images = [row for row in worst.to_dict("records") if row["image"] in files]
    return {
        "title": title,
        "over": over,
        "classes": found.by_class().to_dict("records") if len(getattr(found, "classes", ())) > 1 else [],
        "pairs": [] if found.raters_are_local else found.by_rater_pair().to_dict("records"),
        "images": [{**row, "file": Path(files[row["image"]]).name} for row in images],
    }
