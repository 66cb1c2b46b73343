"""Figures of a run on image-level labels, each with its finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kalos_core.display import number_of, percent_text
from kalos_core.fiftyone.kinds.image_labels.kind import LabelRun
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.labels import majority_dots, majority_title, rejection_title
from kalos_core.nominal import LabelTruth
from kalos_core.nominal.skill import TOO_SURE
from kalos_core.report import Block, labels
from kalos_core.text import shown

FEW_ANSWERS = 3
"""Minimum answers per image to distinguish the skills of raters."""


def figures(
    run: LabelRun,
    question: str | None = None,
    images: Sequence[DisputedImage] | None = None,
    team_question: str | None = None,
    rater: str | None = None,
) -> dict[str, Part]:
    """Return the figures of a run.

    - ``kappas``, ``concepts`` and ``accuracy``;
    - ``images``, if `images` from `disputed_images` are given;
    - ``rejection``, and ``teams`` on `team_question`, if the run has them;
    - ``curve`` and ``cohen`` of `question` (by default the first with a curve), and ``independence`` if images have
      different numbers of answers;
    - ``skill`` and ``confusion`` on `question` (by default the first), of `rater` or of all raters, if the run
      estimated who is right.
    """
    details = run.details
    parts = {
        "kappas": Part.of(details.agreement, note=_over_what(run.metrics)),
        "concepts": Part.of(details.majority),
        "accuracy": Part.of(details.accuracy),
    }
    if images is not None:
        parts["images"] = _images(run, images)
    if details.rejection is not None:  # only a title if no answer was rejected
        some = len(details.rejection)
        parts["rejection"] = Part.of(details.rejection) if some else Part(rejection_title(details.rejection))
    if details.teams is not None:
        asked = details.teams.question.tolist()
        shown = asked.index(team_question) if team_question in asked else 0
        parts["teams"] = Part.of(details.teams, question=shown)
    for curve in [curve for curve in details.curves if question in (None, curve.question)][:1]:
        parts["curve"] = Part.of(curve.curve, width=run.settings["width"])
        parts["cohen"] = Part.of(curve)
        if len(curve.independence.annotations) > 1:
            parts["independence"] = Part.of(curve.independence)
    for truth in [truth for truth in details.truth if question in (None, truth.question)][:1]:
        parts["skill"] = Part.of(truth, note=_how_sure(run, truth.question))
        parts["confusion"] = Part.of(truth, "confusion", rater=rater)
    return parts


def _images(run: LabelRun, images: Sequence[DisputedImage]) -> Part:
    means = run.metrics["with_majority"]
    title = majority_title(means["item_all"], means["item_chosen"], "image")
    if not images:
        return Part(f"{title}; no image is in dispute")
    numbers = [image.all_decisions for image in images], [image.chosen for image in images]
    return Part(title, majority_dots([image.file for image in images], *numbers))


def breaches_text(metrics: Mapping[str, Any]) -> str:
    """Describe which raters broke a group most often; "" if none did."""
    if not metrics["breaches"]:
        return ""
    who = ", ".join(f"{shown(entry['rater'])} {entry['answers']:,}" for entry in metrics["breaches_by_rater"][:3])
    return f"{number_of(metrics['breaches'], 'answer')} broke a group (none or several of its labels): {who}."


def truth_doubts(run: LabelRun, found: LabelTruth) -> Iterator[str]:
    """Return reasons not to use the estimated labels of a question."""
    if run.metrics["answers"] < FEW_ANSWERS * run.metrics["images"]:
        yield (
            f"Fewer than {FEW_ANSWERS} answers per image: raters can hardly be told apart. Use the majority, and "
            "decide what is open."
        )
    if found.overturned:
        have = number_of(found.overturned, "image has", "images have")
        yield (
            f"Do not use it: {have} a label that none of the raters gave. Classes were probably confused with each "
            "other, because there are too few images, or too few of a class."
        )
    if found.errs_together:
        yield TOO_SURE
    if not found.converged:
        yield "Not converged: the estimation was stopped before its values settled."


def _over_what(metrics: Mapping[str, Any]) -> str:
    """Describe the data of a run, the images in dispute, and the rejected answers."""
    text = (
        f"{number_of(metrics['answers'], 'answer')} of {number_of(len(metrics['raters']), 'rater')} to "
        f"{number_of(metrics['images'], 'image')}; {number_of(metrics['disputed'], 'is', 'are')} in dispute: fewer "
        f"than {percent_text(metrics['quorum'])} of the raters gave the leading answer to some question."
    )
    if not metrics["rejected"]:
        return text
    rejected = number_of(metrics["rejected"], "answer is rejected and does", "answers are rejected and do")
    return f"{text} {rejected} not count."


def _how_sure(run: LabelRun, question: str) -> str:
    """Describe where the estimated labels are stored, and their mean confidence."""
    (entry,) = (entry for entry in run.metrics["truth"] if entry["question"] == question)
    where = (
        f"The likeliest label of each image is in {run.names.truth}, with a mean confidence of "
        f"{percent_text(entry['sure'])}"
    )
    tied = f"; {number_of(entry['tied'], 'is tied and has', 'are tied and have')} none" if entry["tied"] else ""
    return f"{where}{tied}."


def drawn(run: LabelRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report."""
    details = run.details
    yield labels.questions(details.agreement)
    yield labels.concepts(details.majority)
    yield labels.alike(details.accuracy)
    if details.rejection is not None and len(details.rejection):
        yield labels.rejected(details.rejection)
    if details.teams is not None:
        yield labels.teams(details.teams)
    for curve in details.curves[:1]:
        yield labels.running(curve.curve, run.settings["width"])
        yield labels.beyond_chance(curve)
        if len(curve.independence.annotations) > 1:
            yield labels.by_answers(curve.independence)
