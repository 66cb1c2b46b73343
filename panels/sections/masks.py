"""Masks and truth: how far raters agree about pixels, and what most of them, or methods, take for true."""

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.display import TRUTH_LABELS, alpha_text, count_text, number_of, percent_text, significant
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.dataset.opened import fitting_similarities
from kalos_core.fiftyone.dataset.raters import ASSIGNED_FIELD, MASKS
from kalos_core.fiftyone.kinds.pixels.kind import pixel_classes
from kalos_core.fiftyone.kinds.pixels.views import PixelImage, pixel_images, view_of_mask_rater
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.figures.labels import least_first
from kalos_core.text import names_shown, plain, shown

from ..parts.events import PLUGIN, Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_menu, add_table
from .one_run import RunSection, chooses, chosen_rater, refuse_unasked, selected_in_form
from .paired import DISTANCES, PairedPage, add_paired, put_paired

MOST_ROWS, MOST_NOTES = 25, 10

ASKED = ("raters", "reference", "classes", "of", "quorum", "model", "similarity", "threshold")
"""What the form of a truth of objects asks for, as arguments in Python."""

FEW_RATERS = 4
"""Raters of objects below which they cannot be told apart."""

SHARES = {"sensitivity": "Finds", "ppv": "Is right", "kappa": "Beyond chance (κ)"}
"""What is known of a rater against a consensus of pixels -> how its column is called."""

MORE_SHARES = {"specificity": "Leaves out rightly", "npv": "Rightly unmarked"}
"""Columns that "?" adds."""

RATER_COLUMNS = (("rater", "Rater"), ("out", "Stands out"), ("apart", "Differs (1 − F1)"), *SHARES.items())

AGAINST_COLUMNS = (("rater", "Rater"), *SHARES.items(), ("kept", "Kept"))

OBJECT_COLUMNS = (("rater", "Rater"), ("sensitivity", "Objects found"), ("ppv", "Annotations that are objects"))

IMAGE_COLUMNS = (("file", "Image"), ("f1", "Shared (F1)"), ("bound", "Least error (Smyth)"))

NO_BOUNDARIES = (
    "**The run did not compare boundaries.** How far the outlines of every two raters are apart, in pixels: *New run* "
    "with *Compare boundaries* switched on has it, by pair of raters, class and image."
)

DIVISIONS_READ = "A region is the pixels that a rater gave one value. Means over images with 95 % intervals."

DIVISIONS_FORMULA = (
    "What values are called does not count, but which pixels have one in common. *Alike*: of all pairs of pixels, how "
    "many both raters hold together or both apart, beyond chance (adjusted Rand index, Hubert & Arabie 1985); 1 for "
    "equal regions, 0 for chance. *Unknown*: what either rater's regions leave unknown of the other's, in bits "
    "(variation of information, Meilă 2007); 0 for equal ones. *Covered*: the IoU of each region with the one that "
    "fits it best, weighted by its pixels (Arbeláez et al. 2011), the mean of both directions. Intervals: images drawn "
    "with replacement."
)

NO_DIVISIONS = (
    "**The run did not compare divisions.** How alike every two raters divide images into regions, whatever these are "
    "called: *New run* with *Compare divisions into regions* switched on has it, by pair of raters and image."
)

CONSENSUS_COLUMNS = (
    ("consensus", "Taken for true"),
    ("pixels", "Pixels"),
    ("empty", "Images without any"),
    ("kappa", "Raters, beyond chance (κ)"),
)

OBJECT_CONSENSUS_COLUMNS = (
    ("consensus", "Taken for true"),
    ("objects", "Objects"),
    ("below", "Left out"),
    ("tied", "Tied class"),
    ("score", "Mean score"),
)

NO_MASKS = (
    "**Agreement about pixels**\n\nNothing is computed yet. Raters who mark pixels of the same image differ at "
    "edges and on whole objects. This shows how far, who stands out, and where: each image has a map of how many "
    "raters marked each pixel."
)

NO_TRUTH = (
    "**Estimated truth**\n\nNothing is estimated yet. The ground truth can be estimated from several raters in "
    "many ways: by vote, or by weighing raters as STAPLE does. Each consensus becomes a field next to the raters', "
    "which are compared with it."
)

COLUMNS_SAY = (
    "**Finds**: share of what is true that they marked (sensitivity); **is right**: share of what they marked that is "
    "true (positive predictive value, PPV)."
)


PAIRED = {
    "Boundaries": PairedPage(
        name="boundaries",
        load=kf.boundaries_of,
        view=kf.view_of_boundaries,
        columns=DISTANCES,
        low_is_worse=False,
        worst="boundaries furthest apart",
        invitation=NO_BOUNDARIES,
    ),
    "Divisions": PairedPage(
        name="divisions",
        load=kf.divisions_of,
        view=kf.view_of_divisions,
        columns=(
            ("adjusted_rand", "Alike (adjusted Rand)"),
            ("variation_of_information", "Unknown (bits)"),
            ("covering", "Covered"),
        ),
        low_is_worse=True,
        worst="divisions least alike",
        invitation=NO_DIVISIONS,
        reading=DIVISIONS_READ,
        formula=DIVISIONS_FORMULA,
    ),
}
"""Page -> what it shows of every two raters, where the run has the setting of its name."""


class MasksSection(RunSection):
    """How far raters agree about pixels, who stands out, and on which images."""

    NAME, KIND, NOTHING_YET, FAMILY = "Masks", "pixels", NO_MASKS, MASKS
    PAGES = ("Raters", "Images", *PAIRED)

    def load_run(self, ctx: Context, run: Any) -> None:
        state, metrics, classes = ctx.panel.state, run.metrics, pixel_classes(run.details)
        state.mask_classes = list(classes)
        if state.mask_class not in classes:
            state.mask_class = state.mask_classes[0]
        found, parts = classes[state.mask_class], dict(kf.figures_of(run, category=state.mask_class))
        agreement = parts.pop("agreement")
        self.put_headline(ctx, agreement.title, over(metrics, found, state.mask_class if len(classes) > 1 else ""))
        state.bound = agreement.note
        state.mask_raters = metrics["raters"]
        state.performance = parts.pop("performance").title if state.mask_raters else None  # its figure is the table
        put_parts(ctx, parts)
        if self.page(ctx) == "Raters":
            state.leaves = found.raters[found.order].tolist()
            ctx.panel.set_data("mask_rows", rater_rows(found))
        elif self.page(ctx) in PAIRED:
            page = PAIRED[self.page(ctx)]
            put_paired(ctx, page, run.key if run.settings.get(page.name) else None)
        else:
            images = pixel_images(ctx.dataset, run.key, MOST_ROWS)
            state.image_ids = [image.sample_id for image in images]
            ctx.panel.set_data("mask_images", [image_row(image) for image in images])

    def render(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        self.add_headline(panel, ctx)
        if self.page(ctx) in PAIRED:
            page = PAIRED[self.page(ctx)]
            add_paired(panel, ctx, page, self.to(self.show_worst), self.to(self.click_image))
            return
        add_menu(panel, "mask_class", state.mask_classes, self.to(self.change_mask_class), label="Class")
        if self.page(ctx) == "Raters":
            click = "Click a rater to see their images, least agreement first."
            add_part(panel, ctx, "tree", click, self.to(self.click_tree))
            if not state.mask_raters:
                panel.md("Raters without names over the images cannot stand out: see *Images*.", name="no_raters")
                return
            panel.md(COLUMNS_SAY, name="columns_say")
            columns = with_more(RATER_COLUMNS, ctx, "tree")
            add_table(panel, "mask_rows", state.performance, columns, self.to(self.click_rater))
        else:
            label = "Images with the least agreement: click one to open it"
            add_part(panel, ctx, "ratio")
            add_table(panel, "mask_images", label, IMAGE_COLUMNS, self.to(self.click_image))
            panel.md(state.bound, name="bound_text")
            add_part(panel, ctx, "properties")

    change_mask_class = chooses("mask_class")

    @guarded
    def click_tree(self, ctx: Context) -> None:
        self._show_rater(ctx, ctx.panel.state.leaves[round(ctx.params["y"])])

    @guarded
    def click_rater(self, ctx: Context) -> None:
        self._show_rater(ctx, ctx.panel.state.mask_raters[ctx.params["row"]])

    def _show_rater(self, ctx: Context, rater: str) -> None:
        view = view_of_mask_rater(ctx.dataset, ctx.panel.state.run, rater)
        self.show(ctx, view, f"images assigned to {shown(rater)}, least agreement first")

    @guarded
    def show_worst(self, ctx: Context) -> None:
        page = PAIRED[self.page(ctx)]
        self.show(ctx, page.view(ctx.dataset, ctx.panel.state.run), f"images, {page.worst} first")

    @guarded
    def click_image(self, ctx: Context) -> None:
        open_sample(ctx, ctx.panel.state.image_ids[ctx.params["row"]])


class TruthSection(RunSection):
    """What is taken for true, by each way to estimate it, and each rater against it."""

    NAME, KIND, NOTHING_YET, FAMILY = "Truth", "truth", NO_TRUTH, MASKS

    def load_run(self, ctx: Context, run: Any) -> None:
        state, metrics, truths = ctx.panel.state, run.metrics, run.details.truths
        state.truth_names, state.of_pixels = list(truths), metrics["of"] == "pixels"
        if state.consensus not in truths:
            state.consensus = state.truth_names[0]
        names = ", ".join(f"`{field}`" for field in [*metrics["fields"].values(), *metrics["maps"].values()])
        raters = number_of(len(metrics["raters"]), "rater") if metrics["raters"] else "unnamed raters"
        text = f"{number_of(metrics['images'], 'image')}, {raters}. Fields: {names}"
        self.put_headline(ctx, consensus_title(metrics, truths), text)
        state.notes = notes(run.details.notes)
        found = truths[state.consensus]
        estimate = getattr(found, "estimate", None)
        state.is_estimated, state.right = estimate is not None, right_text(found, run.names) if estimate else ""
        state.skilled = estimate.raters[least_first(estimate.skill)].tolist() if estimate else []
        rater = chosen_rater(ctx, "truth_rater", estimate.raters.tolist() if estimate else [])
        put_parts(ctx, kf.figures_of(run, consensus=state.consensus, rater=rater))
        ctx.panel.set_data("consensus_rows", consensus_rows(metrics, truths))
        ctx.panel.set_data("against_rows", against_rows(metrics, found))

    def render(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        self._add_least_sure(self.add_headline(panel, ctx), ctx)
        columns = CONSENSUS_COLUMNS if state.of_pixels else OBJECT_CONSENSUS_COLUMNS
        label = "Click a row to compare raters with it"
        add_table(panel, "consensus_rows", label, columns, self.to(self.click_consensus))
        add_part(panel, ctx, "against")
        if state.of_pixels:
            panel.md(COLUMNS_SAY, name="columns_say")
        more = with_more(AGAINST_COLUMNS, ctx, "against") if state.of_pixels else list(OBJECT_COLUMNS)
        add_table(panel, "against_rows", f"Raters against {plain(state.consensus)}", more)
        if state.is_estimated:
            panel.md(state.right, name="right_text")
            click = "Click a bar to see what the rater annotated otherwise, or missed."
            add_part(panel, ctx, "skill", click, self.to(self.click_skill))
            add_menu(panel, "truth_rater", state.truth_raters, self.to(self.change_truth_rater), label="Rater")
            add_part(panel, ctx, "confusion")
        if state.notes:
            panel.md(state.notes, name="notes_text")

    def _add_least_sure(self, row: types.Object, ctx: Context) -> None:
        """Of objects: the images to look at, or the form that estimates who is right."""
        if ctx.panel.state.is_estimated:
            label = "Least sure images"
            row.btn("least_sure", label=label, icon="grid_view", on_click=self.to(self.show_least_sure))
        elif not ctx.panel.state.of_pixels:
            label = "Estimate who is right"
            row.btn("estimate", label=label, icon="balance", on_click=self.to(self.estimate), variant="outlined")

    change_truth_rater = chooses("truth_rater")

    @guarded
    def show_least_sure(self, ctx: Context) -> None:
        self.show(ctx, kf.view_least_sure_first(ctx.dataset, ctx.panel.state.run), "images, the least sure first")

    @guarded
    def click_skill(self, ctx: Context) -> None:
        state = ctx.panel.state
        rater = state.skilled[round(ctx.params["y"])]
        view = kf.view_of_objections(ctx.dataset, state.run, rater, state.consensus)
        self.show(ctx, view, f"images with what {shown(rater)} annotated otherwise than {state.consensus}, or missed")

    @guarded
    def estimate(self, ctx: Context) -> None:
        run = kf.load_metrics(ctx.dataset, ctx.panel.state.run)
        params = filled_in(ctx.dataset, run) | {"estimate": True}
        ctx.prompt(f"{PLUGIN}/{kf.KINDS[self.KIND].operator}", params=params)

    @guarded
    def click_consensus(self, ctx: Context) -> None:
        ctx.panel.state.consensus = ctx.panel.state.truth_names[ctx.params["row"]]
        self.load_again(ctx)


def with_more(columns: Sequence[tuple[str, str]], ctx: Context, name: str) -> list[tuple[str, str]]:
    """Columns, with those that "?" of a figure adds."""
    return [*columns, *(MORE_SHARES.items() if ctx.panel.state.explained == name else ())]


def over(metrics: Any, found: Any, of_class: str) -> str:
    """What agreement about pixels is over; `of_class`: "" where there is one class."""
    text = f"{number_of(metrics['images'], 'image')}, {number_of(metrics['pixels'], 'pixel')}"
    text += f", class {shown(of_class)}" if of_class else ""
    return text + (
        f"; {number_of(found.alone, 'image of one rater counts', 'images of one rater count')} for nothing."
        if found.alone
        else "."
    )


def rater_rows(found: Any) -> list[dict[str, str]]:
    rows = _by_rater(found.raters, _shares(found.performance) | {"apart": found.mean_difference})
    return [row | {"out": "yes" if out else ""} for row, out in zip(rows, found.outliers, strict=True)]


def _shares(performance: Any) -> dict[str, Any]:
    return {name: getattr(performance, name) for name in (*SHARES, *MORE_SHARES)}


def _by_rater(raters: Sequence[str], columns: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"rater": plain(name)} | {key: _short(column[at]) for key, column in columns.items()}
        for at, name in enumerate(raters)
    ]


def image_row(image: PixelImage) -> dict[str, str]:
    return {"file": plain(image.file), "f1": _short(image.f1), "bound": percent_text(image.bound)}


def consensus_title(metrics: Any, truths: Mapping[str, Any]) -> str:
    """How much is true, and how far that depends on the way to estimate it."""
    if metrics["of"] == "objects":
        name, found = next(iter(truths.items()))
        of = f"of {number_of(sum(found.counts.values()), 'thing')} that anybody annotated"
        return f"{number_of(found.counts['kept'], f'{of} is an object', f'{of} are objects')} at {name}"
    pixels = {name: found.pixels for name, found in truths.items()}
    least, most = min(pixels, key=lambda name: pixels[name]), max(pixels, key=lambda name: pixels[name])
    if len(pixels) < 2 or not pixels[least]:
        return f"{number_of(pixels[most], 'pixel is', 'pixels are')} true by {most}"
    times = significant(pixels[most] / pixels[least], 2)
    return f"How the truth is estimated matters: {most} marks {times} times as many pixels as {least}"


def consensus_rows(metrics: Any, truths: Mapping[str, Any]) -> list[dict[str, str]]:
    row = _pixel_row if metrics["of"] == "pixels" else _object_row
    said = {name: f"{name}\n{TRUTH_LABELS[name]}" if name in TRUTH_LABELS else name for name in truths}
    return [{"consensus": said[name]} | row(found) for name, found in truths.items()]


def _pixel_row(found: Any) -> dict[str, str]:
    known = [value for value in found.performance.kappa.tolist() if value == value]
    kappa = f"{_short(min(known))} to {_short(max(known))}" if known else "undefined"
    empty = f"{count_text(found.empty)} of {count_text(found.images)}"
    return {"pixels": count_text(found.pixels), "empty": empty, "kappa": kappa}


def _object_row(found: Any) -> dict[str, str]:
    columns = {"objects": "kept", "below": "below quorum", "tied": "tied class"}
    numbers = {key: count_text(found.counts[outcome]) for key, outcome in columns.items()}
    return numbers | {"score": alpha_text(found.score, 3)}


def against_rows(metrics: Any, found: Any) -> list[dict[str, str]]:
    if metrics["of"] == "pixels":
        return _by_rater(metrics["raters"], _shares(found.performance) | {"kept": found.kept_share})
    return _by_rater(metrics["raters"], {"sensitivity": found.sensitivity, "ppv": found.ppv})


def filled_in(dataset: Any, run: Any) -> dict[str, Any]:
    """The form as a truth of objects was made with it.

    Raises
    ------
    InputError
        For what the form does not ask for, such as a smallest area.
    """
    assignment = () if dataset.has_field(ASSIGNED_FIELD) or run.selection.assigned == "auto" else ("assigned",)
    refuse_unasked(run, [*ASKED, *assignment])
    settings, usual = run.settings, fitting_similarities(dataset, run.selection)[0]
    name = "threshold" if settings["similarity"] == usual else f"threshold_of_{settings['similarity']}"
    return {
        **selected_in_form(run.selection, "classes", *assignment),
        **({} if settings["model"] is None else {"model": settings["model"]}),
        "of": "objects",
        "quorum": ", ".join(f"{share:g}" for share in np.ravel(settings["quorum"])),
        "similarity": settings["similarity"],
        name: settings["threshold"],
    }


def right_text(found: Any, names: RunNames) -> str:
    """What was estimated of objects, and what speaks against it."""
    text = (
        "**Who is right** is estimated: the confidence of a label is the probability that it is an object of its "
        f"class, `{names.existence}` that of any. {number_of(found.overruled, 'is', 'are')} decided otherwise than "
        "most of their raters say."
    )
    if len(found.estimate.raters) < FEW_RATERS:
        text += f" **Fewer than {FEW_RATERS} raters** can hardly be told apart: votes are right more often."
    if found.estimate.overturned:
        have = number_of(found.estimate.overturned, "has", "have")
        text += (
            f" **Do not use it:** {have} another class than all their raters gave, or none: classes were probably "
            "taken for one another."
        )
    if not found.estimate.converged:
        text += " **Not settled:** the estimation was ended before its numbers stood still."
    return text


def notes(found: Sequence[str]) -> str:
    """Notes on single images, the first of them."""
    more = [f"and {count_text(len(found) - MOST_NOTES)} more"] * (len(found) > MOST_NOTES)
    return (
        "\n".join(["**To know**\n", *(f"- {note}" for note in [*names_shown(found[:MOST_NOTES]), *more])])
        if found
        else ""
    )


def _short(value: float | None) -> str:
    return "–" if value is None or value != value else alpha_text(value, 3)
