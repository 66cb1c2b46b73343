"""Agreement on image-level labels: by question, concept, image and rater, over time; and how classifiers rank."""

import kalos_core.fiftyone as kf
from kalos_core.figures import majority_order, significant, with_interval

from .classifier_rankings import MAJORITY, RankingSection
from .common import (
    RunPanel,
    add_menu,
    add_part,
    add_table,
    changed_since,
    guarded,
    open_sample,
    put_parts,
    put_rows,
    show_view,
    take_title,
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
        "Share of questions that two raters answered alike, of those both answered; the last row is each rater "
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
    KIND, OPERATOR, BUTTON = "image_labels", "compute_label_agreement", "Compute agreement on image-level labels"
    NOTHING_YET, SECTIONS = NOTHING_YET, SECTIONS

    @guarded
    def reload(self, ctx):
        state = ctx.panel.state
        self.choose_ranking(ctx)
        super().reload(ctx)
        if state.run is None and state.ranking is not None and not state.problem:
            self.load_parts(ctx)

    def load_run(self, ctx, key):
        self.load_parts(ctx)

    def load_parts(self, ctx):
        """All of the run, and of the ranking next to it."""
        state, parts = ctx.panel.state, {}
        if state.run is not None:
            parts |= self._label_parts(ctx, kf.load_details(ctx.dataset, state.run))
        if state.ranking is not None:
            parts |= self.ranking_parts(ctx)
        put_parts(ctx, parts)

    def _label_parts(self, ctx, run):
        """The figures of the run, its tables, and what clicks in them lead to."""
        state, details = ctx.panel.state, run.details
        state.curves = [curve["question"] for curve in details["curves"]]
        if state.question not in state.curves:
            state.question = next(iter(state.curves), None)
        images = kf.disputed_images(ctx.dataset, run.key, MOST_IMAGES)
        parts = kf.figures_of(run, question=state.question, images=images)
        state.headline = headline(take_title(parts, "kappas"), run.metrics) + changed_since(ctx, run.key)
        questions = sorted(details["questions"], key=_kappa_or_last)[:MOST_ROWS]
        concepts = details["concepts"]
        state.questions = [row["question"] for row in questions]
        state.concept_names = [concepts["concept"][at] for at in majority_order(concepts["all"], concepts["chosen"])]
        state.raters = [*details["accuracy"]["raters"], MAJORITY]
        state.disputed = run.metrics["disputed"]
        state.image_ids = [image.sample_id for image in images]
        numbers = [image.all_decisions for image in images], [image.chosen for image in images]
        state.dots = [state.image_ids[at] for at in majority_order(*numbers)]
        put_rows(ctx, "table", [_question_row(row) for row in questions])
        put_rows(ctx, "worst", [_image_row(image) for image in images])
        return parts

    # ---- menus ----

    @guarded
    def on_change_question(self, ctx):
        ctx.panel.state.question = ctx.params["value"]
        self.load_parts(ctx)

    # ---- what a click leads to ----

    @guarded
    def on_click_kappa(self, ctx):
        self._show_question(ctx, ctx.panel.state.questions[round(ctx.params["y"])])

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
        add_table(panel, ctx, "table", label, QUESTION_COLUMNS, self.on_click_question)

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
            add_table(panel, ctx, "worst", label, IMAGE_COLUMNS, self.on_click_row)

    def _add_raters(self, panel, ctx):
        add_part(panel, ctx, "accuracy", CAPTIONS["accuracy"], self.on_click_accuracy)
        self._add_question_menu(panel, ctx)
        add_part(panel, ctx, "cohen", CAPTIONS["cohen"])

    def _add_curve(self, panel, ctx):
        self._add_question_menu(panel, ctx)
        add_part(panel, ctx, "curve", CAPTIONS["curve"])

    def _add_question_menu(self, panel, ctx):
        add_menu(panel, "question", ctx.panel.state.curves, self.on_change_question, label="Question")


def headline(title, metrics):
    """The finding first, then what it is over, and who broke a group."""
    text = (
        f"###### {title}\n\n{metrics['answers']:,} answers of {len(metrics['raters'])} raters to "
        f"{metrics['images']:,} images; **{metrics['disputed']:,} in dispute**: to some question fewer than "
        f"{100 * metrics['quorum']:.3g} % gave the leading answer."
    )
    if metrics["breaches"]:
        who = ", ".join(f"{entry['rater']} {entry['answers']:,}" for entry in metrics["breaches_by_rater"][:3])
        answers = "answer" if metrics["breaches"] == 1 else "answers"
        text += f" **{metrics['breaches']:,} {answers} broke a group** (none or several of its labels): {who}."
    return text


def _kappa_or_last(row):
    return float("inf") if row["free_marginal"] is None else row["free_marginal"]


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
