"""What is said of every two raters: by pair of raters, class and image, with intervals, and the way to the images."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fiftyone.operators.types as types

from kalos_core.display import alpha_text, percent_text, significant, with_interval
from kalos_core.text import bold, plain

from ..parts.events import Context
from ..parts.figures import add_reading
from ..parts.layout import add_table

MOST_ROWS = 25
"""Images in a table."""

DISTANCES_READ = "Distances are in pixels, means over images with 95 % intervals."

DISTANCES_FORMULA = (
    "Of every point of either boundary the distance to the nearest of the other. *Apart on average*: their mean "
    "(average symmetric surface distance). *95 % within*: the 95th percentile, the larger of both directions "
    "(Hausdorff 95). *Within tolerance*: the share of both boundaries that is no further than the tolerance from the "
    "other (surface Dice, Nikolov et al. 2018); 0 where one of two raters has no boundary, which the distances leave "
    "out. Intervals: images drawn with replacement."
)

DISTANCES = (
    ("average", "Apart on average"),
    ("hausdorff95", "95 % within"),
    ("surface_dice", "Within tolerance"),
)

FORMATS: Mapping[str, Callable[[float | None], str]] = {
    "surface_dice": percent_text,
    "covering": percent_text,
    "adjusted_rand": alpha_text,
}
"""Measure -> how its values are written, where not as numbers of three digits."""


@dataclass(frozen=True)
class PairedPage:
    """A page about every two raters.

    Parameters
    ----------
    name : str
        Of its inputs.
    load : callable
        ``load(dataset, run_key)`` -> the numbers, a `kalos_core.pixels.paired.PairedRaters`.
    view : callable
        ``view(dataset, run_key)`` -> the images, the worst first.
    columns : tuple of (measure, title)
        Images are sorted by the first.
    low_is_worse : bool
    worst : str
        What the worst images are, for people.
    invitation : str
        Where the run did not compare it.
    reading, formula : str
    """

    name: str
    load: Callable[[Any, str], Any]
    view: Callable[[Any, str], Any]
    columns: tuple[tuple[str, str], ...]
    low_is_worse: bool
    worst: str
    invitation: str
    reading: str = DISTANCES_READ
    formula: str = DISTANCES_FORMULA


def put_paired(ctx: Context, page: PairedPage, run_key: str | None) -> None:
    """What a run says of every two raters, for `add_paired`; None where it says nothing."""
    state = ctx.panel.state
    state.paired_title = None
    if run_key is None:
        return
    found = page.load(ctx.dataset, run_key)
    title, _, over_what = found.headline.partition("\n")
    state.paired_title = f"{bold(title)}\n\n{over_what}"
    of_class = found.by_class() if len(getattr(found, "classes", ())) > 1 else None
    ctx.panel.set_data("paired_classes", paired_rows(of_class, ["class"], page))
    of_pair = None if found.raters_are_local else found.by_rater_pair()
    ctx.panel.set_data("paired_raters", paired_rows(of_pair, ["rater_a", "rater_b"], page))
    state.has_classes, state.has_pairs = of_class is not None, of_pair is not None
    first = page.columns[0][0]
    images = found.by_image().dropna(subset=first)
    worst = images.sort_values(first, ascending=page.low_is_worse, kind="stable")[:MOST_ROWS]
    names = dict(zip(*ctx.dataset.select(worst["image"].tolist()).values(["id", "filepath"]), strict=True))
    worst = worst[worst["image"].isin(list(names))]
    state.image_ids = worst["image"].tolist()
    files = worst.assign(file=[Path(names[key]).name for key in state.image_ids])
    ctx.panel.set_data("paired_images", paired_rows(files, ["file"], page))


def add_paired(panel: types.Object, ctx: Context, page: PairedPage, show_worst: str, click_image: str) -> None:
    """What `put_paired` put, with what its button and a click on an image lead to."""
    state = ctx.panel.state
    if not state.paired_title:
        panel.md(page.invitation, name=f"no_{page.name}")
        return
    panel.md(state.paired_title, name="paired_title_text")
    add_reading(panel, ctx, page.name, page.reading, page.formula)
    panel.btn("worst", label=f"Show the {page.worst}", icon="grid_view", on_click=show_worst)
    if state.has_classes:
        add_table(panel, "paired_classes", "By class", [("class", "Class"), *page.columns])
    if state.has_pairs:
        columns = [("rater_a", "Rater"), ("rater_b", "and"), *page.columns]
        add_table(panel, "paired_raters", "Every two raters", columns)
    label = f"Images with {page.worst}: click one to open it"
    add_table(panel, "paired_images", label, [("file", "Image"), *page.columns], click_image)


def paired_rows(table: Any, names: Sequence[str], page: PairedPage) -> list[dict[str, str]]:
    """Rows of what is said of every two raters, with intervals where there are any; none without a table."""
    if table is None:
        return []
    return [
        {name: plain(row[name]) for name in names} | {key: _measured(row, key) for key, _ in page.columns}
        for row in table.to_dict("records")
    ]


def _measured(row: Mapping[str, Any], name: str) -> str:
    value, *ends = (row.get(key, float("nan")) for key in (name, f"{name}_low", f"{name}_high"))
    if value != value:
        return "–"
    text = FORMATS.get(name, significant)
    return with_interval(value, ends, text=text)
