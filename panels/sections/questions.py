"""Questions and teams: agreement on image-level labels, by question, concept, image, rater and team."""

from collections.abc import Mapping, Sequence
from typing import Any

import fiftyone.operators.types as types
import numpy as np

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core._agreement import band
from kalos_core.display import alpha_text, count_text, metric_text, number_of, percent_text, with_interval
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage, disputed_images
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.figures.labels import doubt_of_weights, least_first, majority_order
from kalos_core.text import plain, shown

from ..parts.events import PLUGIN, Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_menu, add_table, in_two_lines, number_or_reason
from .one_run import RunSection, chooses, chosen_rater, refuse_unasked, selected_in_form, take_title

MAJORITY, TRUTH = "majority", "truth"

MOST_ROWS = 25

QUESTION_COLUMNS = (("question", "Question"), ("spa", "Answer alike"), ("free_marginal", "Beyond chance (kappa)"))

STATISTICS = (("fleiss", "Fleiss' κ"), ("ac1", "AC1"), ("alpha", "α"), ("cohen", "Cohen's κ"))
"""Columns that "?" adds."""

GRADE_COLUMNS = (("question", "Question"), ("alpha", "α"), ("ac", "AC2"), ("kappa", "Conger's κ"), ("icc", "ICC"))

GRADES_SAY = (
    "Grades that are near count as nearly alike, with 95 % intervals. **AC2** (Gwet) and **Conger's κ** have quadratic "
    "weights; the **ICC** is ICC(2,1), raters being a sample of many, or ICC(1,1) where some did not grade all images "
    "(Shrout & Fleiss 1979; of an order, of the positions in it)."
)

REASON = ("reason", "Undefined, as")
"""The column of a table of questions on which a coefficient is undefined."""

IMAGE_COLUMNS = (("file", "Image"), ("question", "Question"), ("answers", "Answers"), ("agreement", "Agreement"))

TEAM_COLUMNS = ("question", "first", "second", "between", "majorities", "difference")

NOTHING_YET = (
    "**Image-level labels**\n\nNothing is computed yet. Where raters gave each image one label, or several, this "
    "shows on which questions, concepts and images they agree, who labels like whom, and whether more answers would "
    "still change anything."
)

NOT_ESTIMATED = (
    "**Who is right, and how sure?** Not estimated yet. Without any known truth, raters who agree with others who are "
    "mostly right count more: each image gets its likeliest label with a probability, each rater the share of answers "
    "expected to be right. It needs three raters an image or more, who answered on their own."
)

ASKED = (
    *("raters", "field", "rater_attribute", "reference", "classes", "min_confidence", "groups", "teams", "truth"),
    *("reject_broken", "most_breaches", "least_accuracy", "quorum", "width", "weights", "metric", "order", "bootstrap"),
)
"""What the form asks for, as arguments in Python."""

FEW_ANSWERS = 3
"""Answers an image below which raters cannot be told apart."""

NO_TEAMS = (
    "**No teams are compared yet.** Name two, such as experts and a crowd, to see how alike each is among itself, and "
    "whether their majorities say the same."
)


class QuestionsSection(RunSection):
    """On which questions, concepts and images raters answer alike, and who answers like whom."""

    NAME, KIND, NOTHING_YET, FAMILY = "Questions", "image_labels", NOTHING_YET, IMAGE_LABELS
    PAGES = ("Agreement", "Concepts", "Images", "Raters", "Who is right", "Over time")

    def load_run(self, ctx: Context, run: Any) -> None:
        state, details, page = ctx.panel.state, run.details, self.page(ctx)
        state.asked = [curve.question for curve in details.curves]
        if page == "Who is right":
            state.asked = [truth.question for truth in details.truth]
        if state.question not in state.asked:
            state.question = next(iter(state.asked), None)
        images = disputed_images(ctx.dataset, run.key, MOST_ROWS) if page == "Images" else None
        judge = chosen_rater(ctx, "judge", [name for truth in details.truth[:1] for name in truth.raters.tolist()])
        parts = dict(kf.figures_of(run, question=state.question, images=images, rater=judge))
        self.put_headline(ctx, take_title(parts, "kappas"), text_of(run.metrics))
        put_parts(ctx, parts)
        if page == "Agreement":
            self._load_questions(ctx, details.agreement, details.grades)
        elif page == "Concepts":
            order = majority_order(details.majority.concept_all, details.majority.concept_chosen)
            state.concept_names = details.majority.concepts[order].tolist()
        elif page == "Who is right":
            state.estimated = truth_text(run, state.question)
            shown_truth = [truth for truth in details.truth if truth.question == state.question]
            state.skilled = [name for truth in shown_truth for name in truth.raters[least_first(truth.skill)].tolist()]
        elif page == "Raters":
            accuracy = details.accuracy
            state.compared = [*accuracy.raters.tolist(), MAJORITY, *filter(None, [accuracy.reference])]
        if images is not None:
            state.disputed = run.metrics["disputed"]
            state.image_ids = [image.sample_id for image in images]
            numbers = [image.all_decisions for image in images], [image.chosen for image in images]
            state.dots = [state.image_ids[at] for at in majority_order(*numbers)]
            ctx.panel.set_data("worst", [_image_row(image) for image in images])

    def _load_questions(self, ctx: Context, found: Any, grades: Any) -> None:
        state, order = ctx.panel.state, np.argsort(found.free_marginal, kind="stable").tolist()
        state.least_first = found.question[order].tolist()
        state.has_reasons = bool(found.reason.any())
        state.doubt = doubt_of_weights(found)
        graded = sorted(grades, key=lambda of: of.weighted.alpha)[:MOST_ROWS]
        state.graded = [of.question for of in graded]
        ctx.panel.set_data("grades", [_grades_row(of) for of in graded])
        ctx.panel.set_data("questions", [_question_row(found, index) for index in order[:MOST_ROWS]])

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, row = ctx.panel.state, self.add_headline(panel, ctx)
        page = self.page(ctx)
        if page == "Agreement":
            add_part(panel, ctx, "kappas", "Click a bar to see where answers differ.", self.to(self.click_kappa))
            columns = (*QUESTION_COLUMNS, *STATISTICS * (state.explained == "kappas"), *[REASON] * state.has_reasons)
            label = "Questions, the least agreed first: click one to see where answers differ"
            add_table(panel, "questions", label, columns, self.to(self.click_row))
            if state.doubt:
                panel.md(f"**{state.doubt}.**", name="doubt_text")
            if state.graded:
                panel.md(GRADES_SAY, name="grades_say")
                label = "Grades, the least agreed first: click one to see where answers differ"
                add_table(panel, "grades", label, GRADE_COLUMNS, self.to(self.click_grades))
        elif page == "Concepts":
            click = "Click a concept to see where some chose it and others did not."
            add_part(panel, ctx, "concepts", click, self.to(self.click_concept))
        elif page == "Images":
            if state.disputed:
                label = f"Show the {number_of(state.disputed, 'image in dispute')}"
                row.btn("show_disputes", label=label, icon="grid_view", on_click=self.to(self.show_disputes))
            add_part(panel, ctx, "images", "Click a dot to open its image.", self.to(self.click_dot))
            if state.image_ids:
                label = "Least agreed images: click one to open it"
                add_table(panel, "worst", label, IMAGE_COLUMNS, self.to(self.click_image))
        elif page == "Raters":
            click = "Click a cell to see what the two answered differently."
            add_part(panel, ctx, "accuracy", click, self.to(self.click_accuracy))
            add_part(panel, ctx, "rejection")
            add_menu(panel, "question", state.asked, self.to(self.change_question), label="Question")
            add_part(panel, ctx, "cohen")
        elif page == "Who is right":
            self._add_truth(panel, row, ctx)
        else:
            add_menu(panel, "question", state.asked, self.to(self.change_question), label="Question")
            add_part(panel, ctx, "curve")
            add_part(panel, ctx, "independence")

    def _add_truth(self, panel: types.Object, row: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        panel.md(state.estimated, name="truth_text")
        if not state.skilled:
            label = "Estimate who is right"
            row.btn("estimate", label=label, icon="balance", on_click=self.to(self.estimate), variant="contained")
            return
        label = "Least sure images"
        row.btn("least_sure", label=label, icon="grid_view", on_click=self.to(self.show_least_sure))
        add_menu(panel, "question", state.asked, self.to(self.change_question), label="Question")
        click = "Click a bar to see where the rater differs from the estimate."
        add_part(panel, ctx, "skill", click, self.to(self.click_skill))
        add_menu(panel, "judge", state.judges, self.to(self.change_judge), label="Rater")
        add_part(panel, ctx, "confusion")

    change_question = chooses("question")
    change_judge = chooses("judge")

    @guarded
    def estimate(self, ctx: Context) -> None:
        run = kf.load_metrics(ctx.dataset, ctx.panel.state.run)
        ctx.prompt(f"{PLUGIN}/{kf.KINDS[self.KIND].operator}", params=filled_in(run) | {"estimate": True})

    @guarded
    def show_least_sure(self, ctx: Context) -> None:
        self.show(ctx, kf.view_least_sure_first(ctx.dataset, ctx.panel.state.run), "images, the least sure first")

    @guarded
    def click_skill(self, ctx: Context) -> None:
        show_difference(self, ctx, ctx.panel.state.skilled[round(ctx.params["y"])], TRUTH)

    @guarded
    def click_kappa(self, ctx: Context) -> None:
        self._show_question(ctx, ctx.panel.state.least_first[round(ctx.params["y"])])

    @guarded
    def click_row(self, ctx: Context) -> None:
        self._show_question(ctx, ctx.panel.state.least_first[ctx.params["row"]])

    @guarded
    def click_grades(self, ctx: Context) -> None:
        self._show_question(ctx, ctx.panel.state.graded[ctx.params["row"]])

    def _show_question(self, ctx: Context, question: str) -> None:
        view = kf.view_of_disputes(ctx.dataset, ctx.panel.state.run, question=question)
        self.show(ctx, view, f"images whose answers to {shown(question)} differ")

    @guarded
    def click_concept(self, ctx: Context) -> None:
        concept = ctx.panel.state.concept_names[round(ctx.params["y"])]
        view = kf.view_of_disputes(ctx.dataset, ctx.panel.state.run, concept=concept)
        self.show(ctx, view, f"images where some chose {shown(concept)} and others did not")

    @guarded
    def show_disputes(self, ctx: Context) -> None:
        self.show(ctx, kf.view_of_disputes(ctx.dataset, ctx.panel.state.run), "images in dispute")

    @guarded
    def click_dot(self, ctx: Context) -> None:
        open_sample(ctx, ctx.panel.state.dots[round(ctx.params["y"])])

    @guarded
    def click_image(self, ctx: Context) -> None:
        open_sample(ctx, ctx.panel.state.image_ids[ctx.params["row"]])

    @guarded
    def click_accuracy(self, ctx: Context) -> None:
        one, other = (ctx.panel.state.compared[round(ctx.params[axis])] for axis in ("y", "x"))
        show_difference(self, ctx, one, other)


class TeamsSection(RunSection):
    """Two teams of raters: how alike each is among itself, and whether they say the same."""

    NAME, KIND, NOTHING_YET, FAMILY = "Teams", "image_labels", NO_TEAMS, IMAGE_LABELS

    def load_run(self, ctx: Context, run: Any) -> None:
        state, teams = ctx.panel.state, run.details.teams
        state.team_names = None if teams is None else [plain(name) for name in teams.names]
        state.team_questions = [] if teams is None else teams.question.tolist()
        if state.team_question not in state.team_questions:
            state.team_question = next(iter(state.team_questions), None)
        parts = kf.figures_of(run, team_question=state.team_question)
        state.headline = NO_TEAMS if teams is None else ""
        if teams is not None:
            apart = teams.question[teams.differs].tolist()
            where = f"{', such as' * (len(apart) > 3)}: {', '.join(map(shown, apart[:3]))}" if apart else ""
            title = (
                f"{teams.first} and {teams.second} differ on {len(apart)} of {number_of(len(teams), 'question')}{where}"
            )
            self.put_headline(ctx, title, "")
        put_parts(ctx, {name: part for name, part in parts.items() if name == "teams"})
        ctx.panel.set_data("team_rows", [_team_row(teams, row) for row in range(len(teams or ()))][:MOST_ROWS])

    def render(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        self.add_headline(panel, ctx, "Compare two teams")
        if state.team_names:
            add_menu(panel, "team_question", state.team_questions, self.to(self.change_team_question), label="Question")
            add_part(panel, ctx, "teams", "Click a bar to see where answers differ.", self.to(self.click_bar))
            columns = tuple(zip(TEAM_COLUMNS, ("Question", *state.team_names), strict=True))
            label = "Agreement beyond chance (kappa): click a row to draw it"
            add_table(panel, "team_rows", label, columns, self.to(self.click_row))

    def make(self, ctx: Context) -> None:
        """As the run that is shown was made, if there is one."""
        run = self.analysis(ctx).runs.get(self.KIND)
        given = {} if run is None else filled_in(kf.load_metrics(ctx.dataset, run.key))
        ctx.prompt(f"{PLUGIN}/{kf.KINDS[self.KIND].operator}", params=given | {"compare_teams": True})

    change_team_question = chooses("team_question")

    @guarded
    def click_row(self, ctx: Context) -> None:
        ctx.panel.state.team_question = ctx.panel.state.team_questions[ctx.params["row"]]
        self.load_again(ctx)

    @guarded
    def click_bar(self, ctx: Context) -> None:
        question = ctx.panel.state.team_question
        view = kf.view_of_disputes(ctx.dataset, ctx.panel.state.run, question=question)
        self.show(ctx, view, f"images whose answers to {shown(question)} differ")


def filled_in(run: Any) -> dict[str, Any]:
    """The form as a run was made with it, so that the next differs in what is asked for only.

    Raises
    ------
    InputError
        For what the form does not ask for, such as a seed, and names that cannot be typed into it.
    """
    refuse_unasked(run, ASKED)
    settings, given = run.settings, selected_in_form(run.selection, "classes", "min_confidence")
    given["more"] = "classes" in given or "min_confidence" in given
    given |= {name: settings[name] for name in ("quorum", "width", "weights", "bootstrap")}
    given |= {"exclusive": settings["groups"] == "label", **_groups(settings), **_levels(settings)}
    rules = {name: settings[name] for name in ("reject_broken", "most_breaches", "least_accuracy")}
    given |= {"reject": any(rules.values()), **(rules if any(rules.values()) else {})}
    for place, (name, raters) in zip(("first", "second"), (settings["teams"] or {}).items(), strict=False):
        given |= {"compare_teams": True, f"{place}_name": name, f"{place}_team": raters}
    if settings["truth"] is not None:
        given |= {"estimate": True, "truth": settings["truth"]}
    return {name: value for name, value in given.items() if value is not None}


def _groups(settings: Any) -> dict[str, Any]:
    """The groups as one types them; nothing where all labels exclude each other."""
    return {} if settings["groups"] == "label" else {"named": True, "groups": _typed(settings["groups"] or {})}


def _levels(settings: Any) -> dict[str, str]:
    """The metric and the order as one types them.

    The form takes an order by question as one of these alone: where all are ordinal, it is told so of each.
    """
    metric, order = settings["metric"], settings["order"] or []
    by_question = isinstance(order, dict)
    if metric == "ordinal" and by_question:
        metric = dict.fromkeys(["label"] if settings["groups"] == "label" else settings["groups"] or (), "ordinal")
    metrics = {} if isinstance(metric, str) else {name: [of] for name, of in metric.items()}
    given = {"metric": "by question", "metrics": _typed(metrics)} if metrics else {"metric": metric}
    if order:
        given["order"] = _typed(order) if isinstance(order, dict) else _typed_names(order)
    return given


def _typed(groups: Mapping[str, Sequence[str]]) -> str:
    """Names with their labels as one types them."""
    return "; ".join(f"{_typed_names([name])}: {_typed_names(of)}" for name, of in groups.items())


def _typed_names(names: Sequence[str]) -> str:
    """Names as one types them; refused where they would be read as others."""
    unfit = [name for name in names if name != name.strip() or any(sign in name for sign in ",;:\n")]
    if unfit:
        raise InputError(
            f"groups: expected names without commas, semicolons and colons, got {unfit[0]!r}: the form cannot take "
            "them, while kf.compute_label_agreement in Python does"
        )
    return ", ".join(names)


def show_difference(section: RunSection, ctx: Context, one: str, other: str) -> None:
    """The images that two raters or references answered differently."""
    if one != other:  # nobody differs from themselves
        view = view_of_difference(ctx.dataset, ctx.panel.state.run, one, other)
        section.show(ctx, view, f"images that {shown(one)} and {shown(other)} answered differently")


def text_of(metrics: Any) -> str:
    """What a run is over, how much is in dispute, and who broke a group."""
    text = (
        f"{number_of(metrics['answers'], 'answer')} of {number_of(len(metrics['raters']), 'rater')} to "
        f"{number_of(metrics['images'], 'image')}; **{count_text(metrics['disputed'])} in dispute**: to some question "
        f"fewer than {percent_text(metrics['quorum'])} gave the leading answer."
    )
    if metrics["rejected"]:
        rejected = number_of(metrics["rejected"], "answer is rejected and counts", "answers are rejected and count")
        text += f" {rejected} nowhere."
    if metrics["breaches"]:
        broke = metrics["breaches_by_rater"][:3]
        who = ", ".join(f"{shown(entry['rater'])} {count_text(entry['answers'])}" for entry in broke)
        text += f" **{number_of(metrics['breaches'], 'answer')} broke a group** (none or several of its labels): {who}."
    return text


def truth_text(run: Any, question: str | None) -> str:
    """Where the estimated labels are, how sure they are, and what speaks against them; or that there are none."""
    found = [entry for entry in run.metrics.get("truth", ()) if entry["question"] == question]
    if not found:
        return NOT_ESTIMATED
    entry, metrics = found[0], run.metrics
    text = (
        f"The likeliest label of each image is in `{run.names.truth}`, {percent_text(entry['sure'])} sure in the mean"
    )
    text += f"; {number_of(entry['tied'], 'is tied and has', 'are tied and have')} none." if entry["tied"] else "."
    if metrics["answers"] < FEW_ANSWERS * metrics["images"]:
        text += (
            f" **Fewer than {FEW_ANSWERS} answers an image:** raters can hardly be told apart; take the majority, and "
            "decide what is open."
        )
    for truth in [truth for truth in run.details.truth if truth.question == question]:
        if truth.overturned:
            have = number_of(truth.overturned, "image has", "images have")
            text += (
                f" **Do not use it:** {have} another label than all of the raters gave: classes were probably taken "
                "for one another, as there are too few images, or too few of a class."
            )
        if not truth.converged:
            text += " **Not settled:** the estimation was ended before its numbers stood still."
    return text


def _question_row(found: Any, index: int) -> dict[str, str]:
    ties = int(found.ties[index])
    spa = percent_text(found.spa[index])
    if found.doubtful[index]:
        spa += f"\ndoubtful; equal weights {percent_text(found.spa_flat[index])}"
    kappa = with_interval(found.free_marginal[index], found.free_marginal_interval[index])
    statistics = {name: getattr(found, name)[index] for name, _ in STATISTICS}
    return {
        "question": plain(found.question[index]) + (f"\n{count_text(ties)} {'tie' if ties == 1 else 'ties'}"),
        "free_marginal": f"{kappa}\n{band(found.free_marginal[index])}",
        "spa": spa,
        "reason": found.reason[index],
        **{name: f"{alpha_text(value)}\n{band(value)}" for name, value in statistics.items()},
        "alpha": f"{metric_text(alpha_text(found.alpha[index]), found.metric[index])}\n{band(found.alpha[index])}",
    }


def _grades_row(of: Any) -> dict[str, str]:
    """One question: each coefficient with its interval, or why there is none."""
    weighted, forms = of.weighted, of.correlation
    numbers = zip(("alpha", "ac", "kappa"), weighted.value, weighted.interval, weighted.reason, strict=True)
    form = forms.usual
    icc = number_or_reason(forms.value[form], forms.interval[form], forms.reason[form])
    return {
        "question": plain(of.question),
        **{name: number_or_reason(value, ends, reason) for name, value, ends, reason in numbers},
        "icc": f"{forms.form[form]}\n{icc}",
    }


def _team_row(teams: Any, row: int) -> dict[str, str]:
    pairs = zip(TEAM_COLUMNS[1:], teams.kappa[row], teams.kappa_interval[row], strict=True)
    numbers = {name: in_two_lines(value, ends, 2) for name, value, ends in pairs}
    return {"question": plain(teams.question[row])} | numbers


def _image_row(image: DisputedImage) -> dict[str, str]:
    return {
        "file": plain(image.file),
        "question": plain(image.question),
        "answers": image.answers,
        "agreement": alpha_text(image.agreement, 3),
    }
