"""Agreement on image-level labels: by question, concept, image and rater, over time; and how classifiers rank."""

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, percent_text
from kalos_core.figures import band, doubt_of_weights, majority_order, with_interval

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

REASON = ("reason", "Undefined, as")
"""The column of a table of questions on which a coefficient is undefined."""

TEAM_COLUMNS = ("question", "first", "second", "between", "majorities", "difference")

IMAGE_COLUMNS = (
    ("file", "Image"),
    ("question", "Question"),
    ("answers", "Answers"),
    ("agreement", "Agreement"),
)

NO_TEAMS = (
    "**No teams are compared in this run.** *New run*, *Compare two teams of raters* shows how alike experts are among "
    "themselves, how alike a crowd is, and whether their majorities say the same."
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
        "Share of questions that two raters answered alike, of those both answered; the last rows are each rater "
        "against the majority, and against the reference if there is one. **Click a cell to see the images that the "
        "two answered differently.**"
    ),
    "rejection": (
        "Free-marginal kappa of each question with all answers (grey) and without those rejected (yellow). Nothing "
        "that is rejected counts anywhere else in this run. Raters rejected for standing alone raise kappa, whoever is "
        "right."
    ),
    "teams": (
        "Free-marginal kappa among the raters of each team, between raters of both, and between the two majorities, "
        "with 95 % intervals over images; last, the first team minus the second: they differ where its interval leaves "
        "out 0."
    ),
    "independence": (
        "Whether images with more answers are agreed on more: mean agreement of the images with each number of "
        "answers. Where it is not level, only equal weights give an unbiased probability of agreement."
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
        found, majority = details.agreement, details.majority
        order = np.argsort(found.free_marginal, kind="stable")[:MOST_ROWS].tolist()
        state.questions = found.question[order].tolist()
        state.curves = [curve.question for curve in details.curves]
        if state.question not in state.curves:
            state.question = next(iter(state.curves), None)
        state.team_questions = found.question.tolist() if details.teams else []
        if state.team_question not in state.team_questions:
            state.team_question = next(iter(state.team_questions), None)
        images = kf.disputed_images(ctx.dataset, run.key, MOST_IMAGES)
        parts = kf.figures_of(run, question=state.question, images=images, team_question=state.team_question)
        doubt = doubt_of_weights(found)
        state.doubt = f"**{doubt}.**" if doubt else None
        state.headline = headline(take_title(parts, "kappas"), run.metrics) + changed_since(ctx, run.key)
        state.has_reasons = bool(found.reason.any())
        shown = majority_order(majority.concept_all, majority.concept_chosen)
        state.concept_names = majority.concepts[shown].tolist()
        state.raters = [*details.accuracy.raters.tolist(), MAJORITY, *filter(None, [details.accuracy.reference])]
        state.disputed = run.metrics["disputed"]
        state.image_ids = [image.sample_id for image in images]
        numbers = [image.all_decisions for image in images], [image.chosen for image in images]
        state.dots = [state.image_ids[at] for at in majority_order(*numbers)]
        put_rows(ctx, "table", [_question_row(found, index) for index in order])
        put_rows(ctx, "worst", [_image_row(image) for image in images])
        state.team_names = list(details.teams.names) if details.teams else None
        put_rows(ctx, "team_rows", [_team_row(details.teams, row) for row in range(len(details.teams or ()))])
        return parts

    # ---- menus ----

    @guarded
    def on_change_question(self, ctx):
        ctx.panel.state.question = ctx.params["value"]
        self.load_parts(ctx)

    @guarded
    def on_change_team_question(self, ctx):
        ctx.panel.state.team_question = ctx.params["value"]
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
    def on_click_team(self, ctx):
        ctx.panel.state.team_question = ctx.panel.state.team_questions[ctx.params["row"]]
        self.load_parts(ctx)

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
        columns = (*QUESTION_COLUMNS, REASON) if ctx.panel.state.has_reasons else QUESTION_COLUMNS
        add_table(panel, ctx, "table", label, columns, self.on_click_question)
        if ctx.panel.state.doubt:
            panel.md(ctx.panel.state.doubt, name="doubt")

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
        add_part(panel, ctx, "rejection", CAPTIONS["rejection"])
        self._add_teams(panel, ctx)
        self._add_question_menu(panel, ctx)
        add_part(panel, ctx, "cohen", CAPTIONS["cohen"])

    def _add_teams(self, panel, ctx):
        state = ctx.panel.state
        if not state.team_names:
            panel.md(NO_TEAMS, name="no_teams")
            return
        add_menu(panel, "team_question", state.team_questions, self.on_change_team_question, label="Teams on")
        add_part(panel, ctx, "teams", CAPTIONS["teams"])
        columns = tuple(zip(TEAM_COLUMNS, ("Question", *state.team_names), strict=True))
        add_table(panel, ctx, "team_rows", "Free-marginal kappa: click a row to draw it", columns, self.on_click_team)

    def _add_curve(self, panel, ctx):
        self._add_question_menu(panel, ctx)
        add_part(panel, ctx, "curve", CAPTIONS["curve"])
        add_part(panel, ctx, "independence", CAPTIONS["independence"])

    def _add_question_menu(self, panel, ctx):
        add_menu(panel, "question", ctx.panel.state.curves, self.on_change_question, label="Question")


def headline(title, metrics):
    """The finding first, then what it is over, and who broke a group."""
    text = (
        f"###### {title}\n\n{metrics['answers']:,} answers of {len(metrics['raters'])} raters to "
        f"{metrics['images']:,} images; **{metrics['disputed']:,} in dispute**: to some question fewer than "
        f"{percent_text(metrics['quorum'])} gave the leading answer."
    )
    if metrics["rejected"]:
        text += f" {metrics['rejected']:,} answers are rejected and count nowhere."
    if metrics["breaches"]:
        who = ", ".join(f"{entry['rater']} {entry['answers']:,}" for entry in metrics["breaches_by_rater"][:3])
        answers = "answer" if metrics["breaches"] == 1 else "answers"
        text += f" **{metrics['breaches']:,} {answers} broke a group** (none or several of its labels): {who}."
    return text


def _question_row(found, index):
    ties = int(found.ties[index])
    spa = with_interval(found.spa[index], found.spa_interval[index])
    if found.doubtful[index]:
        spa += f"\ndoubtful; equal weights {alpha_text(found.spa_flat[index])}"
    return {
        "question": f"{found.question[index]}\n{ties:,} {'tie' if ties == 1 else 'ties'}",
        "free_marginal": with_interval(found.free_marginal[index], found.free_marginal_interval[index])
        + f"\n{band(found.free_marginal[index])}",
        **{name: _with_band(getattr(found, name)[index]) for name in ("fleiss", "alpha", "cohen")},
        "spa": spa,
        "reason": found.reason[index],
    }


def _with_band(value):
    return f"{alpha_text(value)}\n{band(value)}"


def _team_row(teams, row):
    pairs = zip(TEAM_COLUMNS[1:], teams.kappa[row], teams.kappa_interval[row], strict=True)
    return {"question": teams.question[row], **{name: with_interval(value, ends) for name, value, ends in pairs}}


def _image_row(image):
    return {
        "file": image.file,
        "question": image.question,
        "answers": image.answers,
        "agreement": alpha_text(image.agreement, 3),
    }
