"""Masks: how far raters agree about pixels, who stands out, and on which images."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import kalos_core.fiftyone as kf
from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.raters import MASKS
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes
from kalos_core.fiftyone.kinds.pixels.views import PixelImage, pixel_images, view_of_mask_rater
from kalos_core.figures.captions import CAPTIONS
from kalos_core.text import plain, unshown

from .base import Asked, Led, click
from .figure import Figure, figure_of
from .paged import Page, PagedSection, Value, choice

MOST_ROWS = 25

SHARES = ("sensitivity", "ppv", "kappa", "specificity", "npv")
"""What is known of a rater against a consensus of pixels."""

DISTANCES_FORMULA = (
    "Of every point of either boundary the distance to the nearest of the other. Apart on average: their mean "
    "(average symmetric surface distance). 95 % within: the 95th percentile, the larger of both directions "
    "(Hausdorff 95). Within tolerance: the share of both boundaries that is no further than the tolerance from the "
    "other (surface Dice, Nikolov et al. 2018); 0 where one of two raters has no boundary, which the distances leave "
    "out. Intervals: images drawn with replacement."
)

DIVISIONS_FORMULA = (
    "What values are called does not count, but which pixels have one in common. Alike: of all pairs of pixels, how "
    "many both raters hold together or both apart, beyond chance (adjusted Rand index, Hubert & Arabie 1985); 1 for "
    "equal regions, 0 for chance. Unknown: what either rater's regions leave unknown of the other's, in bits "
    "(variation of information, Meilă 2007); 0 for equal ones. Covered: the IoU of each region with the one that "
    "fits it best, weighted by its pixels (Arbeláez et al. 2011), the mean of both directions. Intervals: images drawn "
    "with replacement."
)


@dataclass(frozen=True)
class Rater:
    """A rater against the consensus; `apart`: how far they differ from the others, 1 − F1."""

    name: str
    stands_out: bool
    apart: float
    shares: dict[str, float]


@dataclass(frozen=True)
class Raters:
    title: str
    over: str
    category: str
    categories: tuple[str, ...]
    raters: tuple[Rater, ...]
    performance: str
    tree: Figure | None


@dataclass(frozen=True)
class Images:
    category: str
    categories: tuple[str, ...]
    images: tuple[PixelImage, ...]
    bound: str
    ratio: Figure
    properties: Figure | None


@dataclass(frozen=True)
class PairRow:
    """What is said of two raters, a class or an image: measure -> its mean over images."""

    names: tuple[str, ...]
    values: dict[str, Value]
    sample: str | None = None


@dataclass(frozen=True)
class Paired:
    """What is said of every two raters; without a title the run did not compare it, and `reading` says how to."""

    name: str
    title: str
    over: str
    reading: str
    formula: str
    worst: str
    classes: tuple[PairRow, ...] = ()
    pairs: tuple[PairRow, ...] = ()
    images: tuple[PairRow, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A way to compare every two raters: `measures`, by the first of which images are sorted."""

    name: str
    load: Any
    view: Any
    measures: tuple[str, ...]
    low_is_worse: bool
    worst: str
    missing: str
    reading: str
    formula: str

    def send(self, asked: Asked) -> Paired:
        run = asked.run("pixels")
        if not run.settings.get(self.name):
            return Paired(self.name, "", "", self.missing, "", self.worst)
        found = self.load(asked.dataset, run.key)
        title, _, over = found.headline.partition("\n")
        of_class = found.by_class() if len(getattr(found, "classes", ())) > 1 else None
        of_pair = None if found.raters_are_local else found.by_rater_pair()
        return Paired(
            name=self.name,
            title=unshown(title),
            over=unshown(over),
            reading=self.reading,
            formula=self.formula,
            worst=self.worst,
            classes=tuple(self._rows(of_class, ["class"])),
            pairs=tuple(self._rows(of_pair, ["rater_a", "rater_b"])),
            images=tuple(self._images(asked.dataset, found)),
        )

    def _rows(self, table: Any, names: Sequence[str]) -> Iterator[PairRow]:
        for row in () if table is None else table.to_dict("records"):
            yield PairRow(tuple(str(row[name]) for name in names), self._values(row))

    def _values(self, row: Mapping[str, Any]) -> dict[str, Value]:
        nothing = float("nan")
        return {
            name: Value.of(row[name], [row.get(f"{name}_{end}", nothing) for end in ("low", "high")])
            for name in self.measures
        }

    def _images(self, dataset: Any, found: Any) -> Iterator[PairRow]:
        """The worst, of those that are still there."""
        first = self.measures[0]
        images = found.by_image().dropna(subset=first)
        worst = images.sort_values(first, ascending=self.low_is_worse, kind="stable")[:MOST_ROWS].to_dict("records")
        ids = [row["image"] for row in worst]
        files = dict(zip(*dataset.select(ids).values(["id", "filepath"]), strict=True))
        for row in worst:
            if row["image"] in files:
                yield PairRow((Path(files[row["image"]]).name,), self._values(row), row["image"])


COMPARED = {
    "Boundaries": Compared(
        name="boundaries",
        load=kf.boundaries_of,
        view=kf.view_of_boundaries,
        measures=("average", "hausdorff95", "surface_dice"),
        low_is_worse=False,
        worst="boundaries furthest apart",
        missing="How far the outlines of every two raters are apart, in pixels, by pair of raters, class and image: a "
        "new run with Compare boundaries switched on has it.",
        reading="Distances are in pixels, means over images with 95 % intervals.",
        formula=DISTANCES_FORMULA,
    ),
    "Divisions": Compared(
        name="divisions",
        load=kf.divisions_of,
        view=kf.view_of_divisions,
        measures=("adjusted_rand", "variation_of_information", "covering"),
        low_is_worse=True,
        worst="divisions least alike",
        missing="How alike every two raters divide images into regions, whatever these are called, by pair of raters "
        "and image: a new run with Compare divisions into regions switched on has it.",
        reading="A region is the pixels that a rater gave one value. Means over images with 95 % intervals.",
        formula=DIVISIONS_FORMULA,
    ),
}
"""Page -> what it shows of every two raters, where the run has the setting of its name."""


def raters(asked: Asked) -> Raters:
    run, category, classes = _of_class(asked)
    found, parts = classes[category], kf.figures_of(run, category=category)
    names = run.metrics["raters"]
    return Raters(
        title=unshown(parts["agreement"].title),
        over=_over(run.metrics, found, category if len(classes) > 1 else ""),
        category=category,
        categories=tuple(classes),
        raters=tuple(_rater(found, row) for row in range(len(names or ()))),
        performance=unshown(parts["performance"].title) if names else "",
        tree=figure_of(parts["tree"], CAPTIONS["tree"]) if "tree" in parts else None,
    )


def images(asked: Asked) -> Images:
    run, category, classes = _of_class(asked)
    parts = kf.figures_of(run, category=category)
    return Images(
        category=category,
        categories=tuple(classes),
        images=tuple(pixel_images(asked.dataset, run.key, MOST_ROWS)),
        bound=unshown(parts["agreement"].note),
        ratio=figure_of(parts["ratio"], CAPTIONS["ratio"]),
        properties=figure_of(parts["properties"], CAPTIONS["properties"]) if "properties" in parts else None,
    )


class MasksSection(PagedSection):
    NAME, KIND, FAMILY = "Masks", "pixels", MASKS
    NOTHING_YET = (
        "How far do raters agree about pixels?",
        "Nothing is computed yet. Raters who mark pixels of the same image differ at edges and on whole objects. This "
        "shows how far, who stands out, and where: each image has a map of how many raters marked each pixel.",
    )
    PAGES: ClassVar = {
        "Raters": Page("pixels", raters),
        "Images": Page("pixels", images),
        **{page: Page("pixels", compared.send) for page, compared in COMPARED.items()},
    }

    @click
    def again(self, asked: Asked) -> Led:
        return Led(operator=kf.KINDS[self.KIND].operator)

    @click
    def rater(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = view_of_mask_rater(asked.dataset, asked.run("pixels").key, name)
        return Led(view, f"images assigned to {plain(name)}, least agreement first")

    @click
    def open(self, asked: Asked) -> Led:
        return Led(sample=asked.given["sample"])

    @click
    def worst(self, asked: Asked) -> Led:
        page = next(page for page in COMPARED.values() if page.name == asked.given["name"])
        return Led(page.view(asked.dataset, asked.run("pixels").key), f"images, {page.worst} first")


def _of_class(asked: Asked) -> tuple[Any, str, dict[str, Any]]:
    """The run, the class that is chosen, and what each class has."""
    run = kf.load_details(asked.dataset, asked.run("pixels").key)
    classes = pixel_classes(run.details)
    return run, choice(asked, "category", list(classes)), classes


def _over(metrics: Any, found: Any, category: str) -> str:
    """What agreement about pixels is over."""
    text = f"{number_of(metrics['images'], 'image')}, {number_of(metrics['pixels'], 'pixel')}"
    text += f", class {plain(category)}" if category else ""
    if not found.alone:
        return f"{text}."
    return f"{text}; {number_of(found.alone, 'image of one rater counts', 'images of one rater count')} for nothing."


def _rater(found: Any, row: int) -> Rater:
    shares = {name: getattr(found.performance, name)[row] for name in SHARES}
    return Rater(str(found.raters[row]), bool(found.outliers[row]), found.mean_difference[row], shares)
