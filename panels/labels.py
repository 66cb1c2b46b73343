"""Agreement on image-level labels: by question, concept, image and rater, over time; and how classifiers rank."""

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.figures import (
    accuracy_heatmap,
    accuracy_title,
    kappa_bars,
    kappa_title,
    least_first,
    majority_dots,
    majority_order,
    majority_title,
    running_figure,
    running_title,
    significant,
    square_heatmap,
    with_interval,
)

from .classifier_rankings import MAJORITY, RankingSection
from .common import (
    Part,
    RunPanel,
    add_menu,
    add_part,
    add_table,
    changed_since,
    guarded,
    open_sample,
    put_parts,
    show_view,
)

SECTIONS = ("Questions", "Concepts", "Images", "Raters", "Running", "Classifiers")

MOST_ROWS, MOST_IMAGES = 50, 25
"""Rows of the table of questions, and of that of images."""

QUESTION_COLUMNS = (
    ("question", "Question"),
    ("free_marginal", "Free-marginal κ"),
    ("fleiss", "Fleiss' κ"),
    ("alpha", "α"),
    ("cohen", "Cohen's κ"),
    ("spa", "Probability of agreement"),
)

IMAGE_COLUMNS = (
    ("file", "Image"),
    ("question", "Question"),
    ("answers", "Answers"),
    ("agreement", "Agreement"),
)

NOTHING_YET = (
    "**Image-level labels**\n\nNothing is computed yet. Where raters gave each image one label, or several, this "
    "shows on which questions, concepts and images they agree, who labels like whom, and whether more answers would "
    "still change anything."
)

CAPTIONS = {
    "kappas": (
        "Free-marginal kappa (P − 1/k) / (1 − 1/k) of each question with k answers, 95 % bootstrap over images; 0: as "
        "by chance, 1: always alike; dotted: 0.6 and 0.8 (Landis & Koch: substantial, almost perfect). **Click a bar "
        "to see the images on which answers differ, the least agreed first.**"
    ),
    "concepts": (
        "Share of raters who decide as most do, in two readings: choosing and not choosing are decisions (grey), or "
        "only images count where somebody chose the concept (yellow). 50 %: a tie. **Click a concept to see the images "
        "where some chose it and others did not.**"
    ),
    "images": (
        "The same for the images agreed on least, over all concepts and over those that somebody chose. **Click one to "
        "open it.**"
    ),
    "accuracy": (
        "Share of decisions on concepts that two raters took alike, of those both took; the last row is each rater "
        "against the majority. **Click a cell to see the images that the two answered differently.**"
    ),
    "cohen": "Cohen's kappa of every two raters on one question: agreement beyond that of their own shares of answers.",
    "curve": (
        "Probability that two raters agree, and alpha, of the answers so far, with 95 % intervals over images; by time "
        "where every answer has one, else in the order of the images. Dotted: from there on the interval stays narrow "
        "enough."
    ),
}
"""Below each figure: what is shown, formula, range, how to read it."""


class LabelsPanel(RankingSection, RunPanel):
    NAME, LABEL, ICON = "labels", "Labels", "/assets/labels.svg"
    HELP = "Agreement on image-level labels, and how classifiers rank under each rater"
    KIND, OPERATOR, BUTTON = "labels", "compute_label_agreement", "Compute agreement on image-level labels"
    NOTHING_YET, SECTIONS = NOTHING_YET, SECTIONS

    @guarded
    def reload(self, ctx):
        state = ctx.panel.state
        self.choose_ranking(ctx)
        super().reload(ctx)
        if state.run is None and state.ranking is not None and not state.problem:
            self.load_parts(ctx)

    def load_run(self, ctx, key):
        state, run = ctx.panel.state, kf.load_figures(ctx.dataset, key)
        stored = kf.load_diagnostics(ctx.dataset, key)
        state.headline = headline(run.figures, stored) + changed_since(ctx, key)
        state.disputed = run.figures["disputed"]
        rows = sorted(stored["questions"], key=lambda row: (row["free_marginal"] is None, row["free_marginal"]))
        state.questions = [row["question"] for row in rows[:MOST_ROWS]]
        state.curves = [curve["question"] for curve in stored["curves"]]
        if state.question not in state.curves:
            state.question = next(iter(state.curves), None)
        ctx.panel.set_data("table", [_question_row(row) for row in rows[:MOST_ROWS]])
        self.load_parts(ctx)

    def load_parts(self, ctx):
        """All parts: of the run, and of the ranking next to it."""
        state, parts = ctx.panel.state, {}
        if state.run is not None:
            run = kf.load_figures(ctx.dataset, state.run)
            parts |= self._label_parts(ctx, run, kf.load_diagnostics(ctx.dataset, state.run))
        if state.ranking is not None:
            parts |= self.ranking_parts(ctx)
        put_parts(ctx, parts)

    def _label_parts(self, ctx, run, stored):
        state, means = ctx.panel.state, run.figures["with_majority"]
        questions, concepts, accuracy = stored["questions"], stored["concepts"], stored["accuracy"]
        kappas = [row["free_marginal"] for row in questions]
        state.bars = [questions[index]["question"] for index in least_first(kappas)]
        order = majority_order(concepts["all"], concepts["chosen"])
        state.concept_names = [concepts["concept"][index] for index in order]
        state.raters = [*accuracy["raters"], MAJORITY]
        curve = next((curve for curve in stored["curves"] if curve["question"] == state.question), None)
        return {
            "kappas": Part(
                "", kappa_bars([row["question"] for row in questions], kappas, [row["interval"] for row in questions])
            ),
            "concepts": Part(
                majority_title(means["concept_all"], means["concept_chosen"]),
                majority_dots(concepts["concept"], concepts["all"], concepts["chosen"]),
            ),
            "images": self._image_part(ctx, means),
            "accuracy": Part(
                accuracy_title(accuracy["raters"], accuracy["accuracy"]),
                accuracy_heatmap(accuracy["raters"], accuracy["accuracy"], accuracy["to_majority"]),
            ),
            **({} if curve is None else _curve_parts(curve, accuracy["raters"])),
        }

    def _image_part(self, ctx, means):
        """The images agreed on least, as a table and in both readings."""
        state = ctx.panel.state
        images = kf.disputed_images(ctx.dataset, state.run, MOST_IMAGES)
        state.image_ids = [image.sample_id for image in images]
        ctx.panel.set_data("worst", [_image_row(image) for image in images])
        title = majority_title(means["item_all"], means["item_chosen"], "image")
        if not images:
            return Part(f"{title}; no image is in dispute")
        numbers = [[image.all_decisions for image in images], [image.chosen for image in images]]
        state.dots = [images[index].sample_id for index in majority_order(*numbers)]
        return Part(title, majority_dots([image.file for image in images], *numbers))

    # ---- menus ----

    @guarded
    def on_change_question(self, ctx):
        ctx.panel.state.question = ctx.params["value"]
        self.load_parts(ctx)

    # ---- what a click leads to ----

    @guarded
    def on_click_kappa(self, ctx):
        self._show_question(ctx, ctx.panel.state.bars[round(ctx.params["y"])])

    @guarded
    def on_click_question(self, ctx):
        self._show_question(ctx, ctx.panel.state.questions[ctx.params["row"]])

    def _show_question(self, ctx, question):
        view = kf.view_of_disputes(ctx.dataset, ctx.panel.state.run, question=question)
        show_view(ctx, view, f"images whose answers to {question} differ")

    @guarded
    def on_click_concept(self, ctx):
        concept = ctx.panel.state.concept_names[round(ctx.params["y"])]
        view = kf.view_of_disputes(ctx.dataset, ctx.panel.state.run, concept=concept)
        show_view(ctx, view, f"images where some raters chose {concept} and others did not")

    @guarded
    def show_disputes(self, ctx):
        show_view(ctx, kf.view_of_disputes(ctx.dataset, ctx.panel.state.run), "images in dispute")

    @guarded
    def on_click_image(self, ctx):
        open_sample(ctx, ctx.panel.state.dots[round(ctx.params["y"])])

    @guarded
    def on_click_row(self, ctx):
        open_sample(ctx, ctx.panel.state.image_ids[ctx.params["row"]])

    @guarded
    def on_click_accuracy(self, ctx):
        raters = ctx.panel.state.raters
        self.show_difference(ctx, ctx.panel.state.run, raters[round(ctx.params["y"])], raters[round(ctx.params["x"])])

    # ---- layout ----

    def render_nothing(self, panel, ctx):
        super().render_nothing(panel, ctx)
        self.add_classifiers(panel, ctx)

    def render_run(self, panel, ctx):
        sections = (
            self._add_questions,
            self._add_concepts,
            self._add_images,
            self._add_raters,
            self._add_curve,
            self.add_classifiers,
        )
        dict(zip(SECTIONS, sections, strict=True))[ctx.panel.state.section](panel, ctx)
        self.add_buttons(panel, "images")

    def _add_questions(self, panel, ctx):
        add_part(panel, ctx, "kappas", CAPTIONS["kappas"], self.on_click_kappa)
        label = "Questions: click a row to see the images on which answers differ"
        add_table(panel, "table", label, QUESTION_COLUMNS, self.on_click_question)

    def _add_concepts(self, panel, ctx):
        add_part(panel, ctx, "concepts", CAPTIONS["concepts"], self.on_click_concept)

    def _add_images(self, panel, ctx):
        state = ctx.panel.state
        if state.disputed:
            image = "image" if state.disputed == 1 else "images"
            label = f"Show the {state.disputed:,} {image} in dispute"
            panel.btn("show_disputes", label=label, icon="grid_view", on_click=self.show_disputes, variant="contained")
        add_part(panel, ctx, "images", CAPTIONS["images"], self.on_click_image)
        if state.image_ids:
            label = "Least agreed images: click a row to open one"
            add_table(panel, "worst", label, IMAGE_COLUMNS, self.on_click_row)

    def _add_raters(self, panel, ctx):
        add_part(panel, ctx, "accuracy", CAPTIONS["accuracy"], self.on_click_accuracy)
        self._add_question_menu(panel, ctx)
        add_part(panel, ctx, "cohen", CAPTIONS["cohen"])

    def _add_curve(self, panel, ctx):
        self._add_question_menu(panel, ctx)
        add_part(panel, ctx, "curve", CAPTIONS["curve"])

    def _add_question_menu(self, panel, ctx):
        add_menu(panel, "question", ctx.panel.state.curves, self.on_change_question, label="Question")


def headline(figures, stored):
    """The finding first, then what it is over, and who broke a group."""
    rows = stored["questions"]
    title = kappa_title([row["question"] for row in rows], [row["free_marginal"] for row in rows])
    if len(rows) == 1:
        (row,) = rows
        value = with_interval(row["free_marginal"], row["interval"])
        title = f"Agreement is {row['bands']['free_marginal']}: free-marginal kappa {value}"
    text = (
        f"###### {title}\n\n{figures['answers']:,} answers of {len(figures['raters'])} raters to "
        f"{figures['images']:,} images; **{figures['disputed']:,} in dispute**: to some question fewer than "
        f"{100 * figures['quorum']:.3g} % gave the leading answer."
    )
    if figures["breaches"]:
        who = ", ".join(f"{entry['rater']} {entry['answers']:,}" for entry in figures["breaches_by_rater"][:3])
        answers = "answer" if figures["breaches"] == 1 else "answers"
        text += f" **{figures['breaches']:,} {answers} broke a group** (none or several of its labels): {who}."
    return text


def _curve_parts(curve, raters):
    cohen = np.array([[np.nan if value is None else value for value in row] for row in curve["cohen"]])
    columns = [curve[name] for name in ("annotations", "spa", "spa_interval", "alpha", "alpha_interval", "narrow_from")]
    annotations, spa, interval, *_, narrow_from = columns
    title = running_title(annotations, spa, interval, narrow_from)
    if narrow_from is None:
        title += f"; the interval is not yet narrower than {curve['width']:g}"
    return {
        "curve": Part(title, running_figure(*columns)),
        "cohen": Part(_cohen_title(curve["question"], raters, cohen), square_heatmap(raters, cohen, "Cohen's κ")),
    }


def _cohen_title(question, raters, cohen):
    first, second = np.triu_indices(len(raters), 1)
    pairs = cohen[first, second]
    if not np.isfinite(pairs).any():
        return f"No two raters can be compared on {question}"
    least = int(np.nanargmin(pairs))
    return (
        f"Cohen's κ on {question} is {significant(float(np.nanmean(pairs)))} on average; least between "
        f"{raters[first[least]]} and {raters[second[least]]} ({significant(float(pairs[least]))})"
    )


def _question_row(row):
    bands = row["bands"]
    return {
        "question": f"{row['question']}\n{row['ties']:,} {'tie' if row['ties'] == 1 else 'ties'}",
        "free_marginal": f"{with_interval(row['free_marginal'], row['interval'])}\n{bands['free_marginal']}",
        **{name: f"{significant(row[name])}\n{bands[name]}" for name in ("fleiss", "alpha", "cohen")},
        "spa": with_interval(row["spa"], row["spa_interval"]),
    }


def _image_row(image):
    return {
        "file": image.file,
        "question": image.question,
        "answers": image.answers,
        "agreement": significant(image.agreement),
    }
