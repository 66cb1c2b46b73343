"""Questions and teams: agreement on image-level labels, by question, concept, image, rater and team."""

from typing import Any, ClassVar

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core._agreement import band
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS
from kalos_core.fiftyone.kinds.image_labels.figures import breaches_text, truth_doubts
from kalos_core.fiftyone.kinds.image_labels.views import disputed_images
from kalos_core.fiftyone.kinds.labelled import view_of_difference
from kalos_core.figures.labels import doubt_of_weights, least_first, majority_order
from kalos_core.text import plain, unshown

from .base import Asked, Click, DataSection, open_filled_form, open_form, open_sample, show
from .figure import figures_in, matrix_in
from .paged import Page, PagedSection, choice
from .rows import Row, rows_of, value_of, values_of

MAJORITY = "majority"

ALL_RATERS = ""
"""Entry of a menu of raters."""

MOST_ROWS = 25


def agreement(asked: Asked) -> Row:
    run = asked.details("image_labels")
    found, kappas = run.details.agreement, kf.figures_of(run)["kappas"]
    graded = sorted(run.details.grades, key=lambda of: of.weighted.alpha)[:MOST_ROWS]
    return {
        "title": unshown(kappas.title),
        "over": unshown(kappas.note),
        "warning": unshown(breaches_text(run.metrics)),
        "questions": _questions(found),
        "doubt": unshown(doubt_of_weights(found)),
        "grades": [_grades(of) for of in graded],
        "directions": [_directions(of) for of in run.details.directions],
    }


def concepts(asked: Asked) -> Row:
    run = asked.details("image_labels")
    found = run.details.majority
    order = majority_order(found.concept_all, found.concept_chosen)
    return {
        "title": unshown(kf.figures_of(run)["concepts"].title),
        "concepts": rows_of(order, name=found.concepts, everywhere=found.concept_all, chosen=found.concept_chosen),
    }


def images(asked: Asked) -> Row:
    run = asked.run("image_labels")
    return {"disputed": run.metrics["disputed"], "images": disputed_images(asked.dataset, run.key, MOST_ROWS)}


def raters(asked: Asked) -> Row:
    run = asked.details("image_labels")
    found, curves = run.details.accuracy, {curve.question: curve for curve in run.details.curves}
    question = choice(asked, "question", list(curves)) if curves else None
    parts = kf.figures_of(run, question=question)
    compared = [*found.raters, MAJORITY, *filter(None, [found.reference])]
    return {
        "accuracy": matrix_in(parts, "accuracy", compared),
        "compared": compared,
        "rejection": unshown(parts["rejection"].title) if "rejection" in parts else "",
        "question": question,
        "questions": list(curves),
        "cohen": matrix_in(parts, "cohen", curves[question].raters) if question is not None else None,
    }


def right(asked: Asked) -> Row | None:
    """Return the estimate of who is right, and how sure; None without an estimate."""
    run = asked.details("image_labels")
    truths = {truth.question: truth for truth in run.details.truth}
    if not truths:
        return None
    question = choice(asked, "question", list(truths))
    found = truths[question]
    rater = choice(asked, "rater", [ALL_RATERS, *found.raters])
    parts = kf.figures_of(run, question=question, rater=rater or None)
    skill = values_of(found.skill, found.skill_interval)
    return {
        "text": unshown(parts["skill"].note),
        "warnings": list(truth_doubts(run, found)),
        "question": question,
        "questions": list(truths),
        "title": unshown(parts["skill"].title),
        "skills": rows_of(least_first(found.skill), rater=found.raters, skill=skill, answers=found.rater_answers),
        "rater": rater,
        "raters": found.raters,
        "confusion": matrix_in(parts, "confusion", found.classes),
    }


def over_time(asked: Asked) -> Row:
    run = asked.details("image_labels")
    questions = [curve.question for curve in run.details.curves]
    question = choice(asked, "question", questions) if questions else None
    parts = kf.figures_of(run, question=question)
    return {"question": question, "questions": questions, "figures": figures_in(parts, "curve", "independence")}


def difference_in(kind: str) -> Click[Any]:
    """Return a click that shows the images to which two raters, or a rater and the majority, gave different answers."""
    text = "images with different answers of {one} and {other}"
    return show(view_of_difference, text, kind, rater_a="one", rater_b="other")


class QuestionsSection(PagedSection):
    NAME, KIND, FAMILY = "Questions", "image_labels", IMAGE_LABELS
    NOTHING_YET = (
        "On which questions do raters agree?",
        "Nothing is computed yet. If raters gave each image one or several labels, this section shows on which "
        "questions, concepts and images they agree, which raters give similar labels, and whether more answers would "
        "change the result.",
    )
    PAGES: ClassVar = {
        "Agreement": Page("image_labels", agreement),
        "Concepts": Page("image_labels", concepts),
        "Images": Page("image_labels", images),
        "Raters": Page("image_labels", raters),
        "Who is right": Page("image_labels", right),
        "Over time": Page("image_labels", over_time),
    }

    again, open, estimate = open_form, open_sample, open_filled_form(estimate=True)
    question = show(kf.view_of_disputes, "images with different answers to {name}", question="name")
    concept = show(kf.view_of_disputes, "images where some chose {name} and others did not", concept="name")
    disputes = show(kf.view_of_disputes, "images in dispute")
    difference = difference_in("image_labels")
    least_sure = show(kf.view_least_sure_first, "images, least sure first")


class TeamsSection(DataSection):
    """Section on two teams of raters: agreement within each team and between them."""

    NAME, KIND, FAMILY = "Teams", "image_labels", IMAGE_LABELS
    NOTHING_YET = (
        "Do two teams agree?",
        "No teams are compared yet. Name two teams, such as experts and a crowd, to see the agreement within each "
        "team, and between their majorities.",
    )

    def send(self, asked: Asked) -> Row:
        """Return the comparison; the title is empty if no teams are compared yet."""
        found = asked.details(self.KIND).details.teams
        if found is None:
            return {"title": "", "names": [], "rows": []}
        kappas = [values_of(*of) for of in zip(found.kappa, found.kappa_interval, strict=True)]
        rows = rows_of(question=found.question, kappas=kappas, differs=found.differs)
        return {"title": plain(found.headline, None), "names": list(map(plain, found.names)), "rows": rows[:MOST_ROWS]}

    question, compare = QuestionsSection.question, open_filled_form(compare_teams=True)


def _questions(found: Any) -> list[Row]:
    """Return the coefficients of each question; with equal weights only if the probability of agreement is doubtful."""
    return rows_of(
        np.argsort(found.free_marginal, kind="stable")[:MOST_ROWS],
        name=found.question,
        kappa=values_of(found.free_marginal, found.free_marginal_interval, found.reason),
        band=[band(kappa) for kappa in found.free_marginal],
        spa=found.spa,
        spa_flat=np.where(found.doubtful, found.spa_flat, np.nan),
        fleiss=found.fleiss,
        ac1=found.ac1,
        alpha=found.alpha,
        cohen=found.cohen,
        ties=found.ties,
    )


def _grades(of: Any) -> Row:
    forms, at = of.correlation, of.correlation.usual
    alpha, ac, kappa = values_of(of.weighted.value, of.weighted.interval, of.weighted.reason)
    icc = value_of(forms.value[at], forms.interval[at], forms.reason[at])
    return {"name": of.question, "alpha": alpha, "ac": ac, "kappa": kappa, "icc": icc}


def _directions(of: Any) -> Row:
    """Return how much higher than the others each rater of a question grades, lowest first."""
    places = range(len(of.raters))
    rows = rows_of(
        least_first(of.difference),
        rater=of.raters,
        difference=values_of(of.difference, of.interval),
        is_clear=np.isin(places, of.clear),
        text=[of.text(row) for row in places],
    )
    return {"question": of.question, "title": of.headline, "raters": rows}
