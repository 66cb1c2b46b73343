"""Questions and teams: agreement on image-level labels, by question, concept, image, rater and team."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core._agreement import band
from kalos_core.display import number_of, percent_text
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage, disputed_images
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.labels import doubt_of_weights, least_first, majority_order
from kalos_core.text import plain, unshown

from .again import form_of_labels
from .base import Asked, DataSection, Led, click
from .figure import Figure, Matrix, figure_of, matrix_of
from .paged import Page, PagedSection, Value, choice

MAJORITY, TRUTH = "majority", "truth"

ALL_RATERS = ""
"""In a menu of raters."""

MOST_ROWS = 25

FEW_ANSWERS = 3
"""Answers an image below which raters cannot be told apart."""

NOT_ESTIMATED = (
    "Without any known truth, raters who agree with others who are mostly right count more: each image gets its "
    "likeliest label with a probability, each rater the share of answers expected to be right. It needs three raters "
    "an image or more, who answered on their own."
)


@dataclass(frozen=True)
class Question:
    """Coefficients of one question; `spa`: how likely two raters answer alike, doubtful where `spa_flat` is given."""

    name: str
    kappa: Value
    band: str
    spa: float | None
    spa_flat: float | None
    fleiss: float | None
    ac1: float | None
    alpha: float | None
    metric: str
    cohen: float | None
    ties: int


@dataclass(frozen=True)
class Grades:
    """Coefficients of grades with an order: those that are near count as nearly alike."""

    name: str
    alpha: Value
    ac: Value
    kappa: Value
    icc: Value
    form: str


@dataclass(frozen=True)
class Direction:
    """How much higher a rater grades than the others; `text` says it."""

    rater: str
    difference: Value
    is_clear: bool
    text: str


@dataclass(frozen=True)
class Directions:
    question: str
    title: str
    raters: tuple[Direction, ...]


@dataclass(frozen=True)
class Agreement:
    title: str
    over: str
    warning: str
    questions: tuple[Question, ...]
    doubt: str
    grades: tuple[Grades, ...]
    directions: tuple[Directions, ...]


@dataclass(frozen=True)
class Concept:
    """Share of raters with the majority: over all decisions, and where somebody chose the concept."""

    name: str
    everywhere: float | None
    chosen: float | None


@dataclass(frozen=True)
class Concepts:
    title: str
    concepts: tuple[Concept, ...]


@dataclass(frozen=True)
class Images:
    disputed: int
    images: tuple[DisputedImage, ...]


@dataclass(frozen=True)
class Raters:
    """`compared`: what the clicks on `accuracy` are given; `rejection`: what leaving out answers does."""

    accuracy: Matrix
    compared: tuple[str, ...]
    rejection: str
    question: str | None
    questions: tuple[str, ...]
    cohen: Matrix | None


@dataclass(frozen=True)
class Skill:
    rater: str
    skill: Value
    answers: int


@dataclass(frozen=True)
class Right:
    """Who is right, and how sure; without raters nothing is estimated yet."""

    text: str
    warnings: tuple[str, ...] = ()
    question: str | None = None
    questions: tuple[str, ...] = ()
    title: str = ""
    skills: tuple[Skill, ...] = ()
    rater: str = ALL_RATERS
    raters: tuple[str, ...] = ()
    confusion: Matrix | None = None


@dataclass(frozen=True)
class OverTime:
    question: str | None
    questions: tuple[str, ...]
    figures: tuple[Figure, ...]


def agreement(asked: Asked) -> Agreement:
    run = _run(asked)
    found, metrics = run.details.agreement, run.metrics
    order = np.argsort(found.free_marginal, kind="stable")[:MOST_ROWS].tolist()
    graded = sorted(run.details.grades, key=lambda of: of.weighted.alpha)[:MOST_ROWS]
    return Agreement(
        title=_title(run, "kappas"),
        over=_over(metrics),
        warning=_breaches(metrics),
        questions=tuple(_question(found, row) for row in order),
        doubt=unshown(doubt_of_weights(found)),
        grades=tuple(map(_grades, graded)),
        directions=tuple(map(_directions, run.details.directions)),
    )


def concepts(asked: Asked) -> Concepts:
    run = _run(asked)
    found = run.details.majority
    order = majority_order(found.concept_all, found.concept_chosen)
    names = map(str, found.concepts[order])
    rows = zip(names, found.concept_all[order], found.concept_chosen[order], strict=True)
    return Concepts(_title(run, "concepts"), tuple(Concept(*row) for row in rows))


def images(asked: Asked) -> Images:
    run = asked.run("image_labels")
    return Images(run.metrics["disputed"], tuple(disputed_images(asked.dataset, run.key, MOST_ROWS)))


def raters(asked: Asked) -> Raters:
    run = _run(asked)
    found, questions = run.details.accuracy, [curve.question for curve in run.details.curves]
    question = choice(asked, "question", questions) if questions else None
    parts = kf.figures_of(run, question=question)
    names = [*found.raters.tolist(), MAJORITY, *filter(None, [found.reference])]
    cohen = None
    for curve in [curve for curve in run.details.curves if curve.question == question]:
        cohen = matrix_of(parts["cohen"], CAPTIONS["cohen"], curve.raters)
    return Raters(
        accuracy=matrix_of(parts["accuracy"], CAPTIONS["accuracy"], names),
        compared=tuple(names),
        rejection=unshown(parts["rejection"].title) if "rejection" in parts else "",
        question=question,
        questions=tuple(questions),
        cohen=cohen,
    )


def right(asked: Asked) -> Right:
    run = _run(asked)
    truths = {truth.question: truth for truth in run.details.truth}
    if not truths:
        return Right(NOT_ESTIMATED)
    question = choice(asked, "question", list(truths))
    found = truths[question]
    names = list(map(str, found.raters))
    rater = choice(asked, "rater", [ALL_RATERS, *names])
    parts = kf.figures_of(run, question=question, rater=rater or None)
    rows = least_first(found.skill)
    return Right(
        text=_sure(run, question),
        warnings=tuple(_doubts(run, found)),
        question=question,
        questions=tuple(truths),
        title=unshown(parts["skill"].title),
        skills=tuple(
            Skill(names[row], Value.of(found.skill[row], found.skill_interval[row]), int(found.rater_answers[row]))
            for row in rows
        ),
        rater=rater,
        raters=tuple(names),
        confusion=matrix_of(parts["confusion"], CAPTIONS["confusion"], found.classes),
    )


def over_time(asked: Asked) -> OverTime:
    run = _run(asked)
    questions = [curve.question for curve in run.details.curves]
    if not questions:
        return OverTime(None, (), ())
    question = choice(asked, "question", questions)
    parts = kf.figures_of(run, question=question)
    figures = tuple(figure_of(parts[name], CAPTIONS[name]) for name in ("curve", "independence") if name in parts)
    return OverTime(question, tuple(questions), figures)


class QuestionsSection(PagedSection):
    NAME, KIND, FAMILY = "Questions", "image_labels", IMAGE_LABELS
    NOTHING_YET = (
        "On which questions do raters agree?",
        "Nothing is computed yet. Where raters gave each image one label, or several, this shows on which questions, "
        "concepts and images they agree, who labels like whom, and whether more answers would still change anything.",
    )
    PAGES: ClassVar = {
        "Agreement": Page("image_labels", agreement),
        "Concepts": Page("image_labels", concepts),
        "Images": Page("image_labels", images),
        "Raters": Page("image_labels", raters),
        "Who is right": Page("image_labels", right),
        "Over time": Page("image_labels", over_time),
    }

    @click
    def again(self, asked: Asked) -> Led:
        return Led(operator=kf.KINDS[self.KIND].operator)

    @click
    def question(self, asked: Asked) -> Led:
        return _of_question(asked)

    @click
    def concept(self, asked: Asked) -> Led:
        name = asked.given["name"]
        view = kf.view_of_disputes(asked.dataset, asked.run("image_labels").key, concept=name)
        return Led(view, f"images where some chose {plain(name)} and others did not")

    @click
    def disputes(self, asked: Asked) -> Led:
        return Led(kf.view_of_disputes(asked.dataset, asked.run("image_labels").key), "images in dispute")

    @click
    def open(self, asked: Asked) -> Led:
        return Led(sample=asked.given["sample"])

    @click
    def difference(self, asked: Asked) -> Led:
        """The images that two raters, or one and the majority, the reference or the estimate, answered differently."""
        one, other = asked.given["one"], asked.given["other"]
        view = view_of_difference(asked.dataset, asked.run("image_labels").key, one, other)
        return Led(view, f"images that {plain(one)} and {plain(other)} answered differently")

    @click
    def least_sure(self, asked: Asked) -> Led:
        view = kf.view_least_sure_first(asked.dataset, asked.run("image_labels").key)
        return Led(view, "images, the least sure first")

    @click
    def estimate(self, asked: Asked) -> Led:
        run = kf.load_metrics(asked.dataset, asked.run("image_labels").key)
        return Led(operator=kf.KINDS[self.KIND].operator, given=form_of_labels(run) | {"estimate": True})


@dataclass(frozen=True)
class TeamRow:
    """Kappa within each team, between them, of their majorities, and of the first minus the second."""

    question: str
    kappas: tuple[Value, ...]
    differs: bool


@dataclass(frozen=True)
class Teams:
    """Without rows no teams are compared yet."""

    title: str = ""
    names: tuple[str, ...] = ()
    rows: tuple[TeamRow, ...] = ()


class TeamsSection(DataSection):
    """Two teams of raters: how alike each is among itself, and whether they say the same."""

    NAME, KIND, FAMILY = "Teams", "image_labels", IMAGE_LABELS
    NOTHING_YET = (
        "Do two teams say the same?",
        "No teams are compared yet. Name two, such as experts and a crowd, to see how alike each is among itself, and "
        "whether their majorities say the same.",
    )

    def send(self, asked: Asked) -> Teams:
        found = _run(asked).details.teams
        if found is None:
            return Teams()
        apart = found.question[found.differs].tolist()
        where = f"{', such as' * (len(apart) > 3)}: {', '.join(map(plain, apart[:3]))}" if apart else ""
        first, second = plain(found.first), plain(found.second)
        title = f"{first} and {second} differ on {len(apart)} of {number_of(len(found), 'question')}{where}"
        return Teams(title, tuple(map(plain, found.names)), tuple(_team_rows(found)))

    @click
    def question(self, asked: Asked) -> Led:
        return _of_question(asked)

    @click
    def compare(self, asked: Asked) -> Led:
        """As the run that is shown was made."""
        given = form_of_labels(kf.load_metrics(asked.dataset, asked.run(self.KIND).key)) | {"compare_teams": True}
        return Led(operator=kf.KINDS[self.KIND].operator, given=given)


def _run(asked: Asked) -> Any:
    return kf.load_details(asked.dataset, asked.run("image_labels").key)


def _title(run: Any, name: str) -> str:
    return unshown(kf.figures_of(run)[name].title)


def _of_question(asked: Asked) -> Led:
    name = asked.given["name"]
    view = kf.view_of_disputes(asked.dataset, asked.run("image_labels").key, question=name)
    return Led(view, f"images whose answers to {plain(name)} differ")


def _over(metrics: Any) -> str:
    """What a run is over, how much is in dispute, and what is left out."""
    text = (
        f"{number_of(metrics['answers'], 'answer')} of {number_of(len(metrics['raters']), 'rater')} to "
        f"{number_of(metrics['images'], 'image')}; {number_of(metrics['disputed'], 'is', 'are')} in dispute: to some "
        f"question fewer than {percent_text(metrics['quorum'])} gave the leading answer."
    )
    if not metrics["rejected"]:
        return text
    rejected = number_of(metrics["rejected"], "answer is rejected and counts", "answers are rejected and count")
    return f"{text} {rejected} nowhere."


def _breaches(metrics: Any) -> str:
    """Who broke a group most often; "" where nobody did."""
    if not metrics["breaches"]:
        return ""
    who = ", ".join(f"{plain(entry['rater'])} {entry['answers']:,}" for entry in metrics["breaches_by_rater"][:3])
    return f"{number_of(metrics['breaches'], 'answer')} broke a group (none or several of its labels): {who}."


def _question(found: Any, row: int) -> Question:
    kappa = found.free_marginal[row]
    return Question(
        name=str(found.question[row]),
        kappa=Value.of(kappa, found.free_marginal_interval[row], found.reason[row]),
        band=band(kappa),
        spa=found.spa[row],
        spa_flat=found.spa_flat[row] if found.doubtful[row] else None,
        fleiss=found.fleiss[row],
        ac1=found.ac1[row],
        alpha=found.alpha[row],
        metric=found.metric[row],
        cohen=found.cohen[row],
        ties=int(found.ties[row]),
    )


def _grades(of: Any) -> Grades:
    weighted, forms = of.weighted, of.correlation
    usual = forms.usual
    numbers = zip(weighted.value, weighted.interval, weighted.reason, strict=True)
    icc = Value.of(forms.value[usual], forms.interval[usual], forms.reason[usual])
    alpha, ac, kappa = (Value.of(*number) for number in numbers)
    return Grades(of.question, alpha, ac, kappa, icc, forms.form[usual])


def _directions(of: Any) -> Directions:
    """Raters of a question, the lowest first."""
    clear = set(of.clear)
    rows = tuple(
        Direction(str(of.raters[row]), Value.of(of.difference[row], of.interval[row]), row in clear, of.text(row))
        for row in least_first(of.difference).tolist()
    )
    return Directions(of.question, of.headline, rows)


def _sure(run: Any, question: str) -> str:
    """Where the estimated labels are, and how sure they are."""
    (entry,) = (entry for entry in run.metrics["truth"] if entry["question"] == question)
    where = f"The likeliest label of each image is in {run.names.truth}, {percent_text(entry['sure'])} sure in the mean"
    return (
        f"{where}; {number_of(entry['tied'], 'is tied and has', 'are tied and have')} none."
        if entry["tied"]
        else f"{where}."
    )


def _doubts(run: Any, found: Any) -> Iterator[str]:
    """What speaks against an estimate."""
    metrics = run.metrics
    if metrics["answers"] < FEW_ANSWERS * metrics["images"]:
        yield (
            f"Fewer than {FEW_ANSWERS} answers an image: raters can hardly be told apart; take the majority, and "
            "decide what is open."
        )
    if found.overturned:
        have = number_of(found.overturned, "image has", "images have")
        yield (
            f"Do not use it: {have} another label than all of the raters gave: classes were probably taken for one "
            "another, as there are too few images, or too few of a class."
        )
    if not found.converged:
        yield "Not settled: the estimation was ended before its numbers stood still."


def _team_rows(teams: Any) -> Iterator[TeamRow]:
    for row in range(min(len(teams), MOST_ROWS)):
        kappas = zip(teams.kappa[row], teams.kappa_interval[row], strict=True)
        yield TeamRow(str(teams.question[row]), tuple(Value.of(*one) for one in kappas), bool(teams.differs[row]))
