"""What is shown of a run on image-level labels: figures, each with its finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalos_core.fiftyone.kinds.image_labels.kind import LabelRun
from kalos_core.fiftyone.kinds.image_labels.views import DisputedImage
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures.labels import majority_dots, majority_title, rejection_title
from kalos_core.report import Block, labels


def figures(
    run: LabelRun,
    question: str | None = None,
    images: Sequence[DisputedImage] | None = None,
    team_question: str | None = None,
    rater: str | None = None,
) -> dict[str, Part]:
    """``kappas``, ``concepts``, ``accuracy``; ``rejection`` and ``teams``, on a question, of a run that has them.

    ``curve`` and ``cohen`` of a question that has a curve (the first), and ``independence`` where images have different
    numbers of answers; ``images``: those of `disputed_images`, if given. ``skill`` and ``confusion``, of a rater or of
    all, on the question or the first, of a run that estimated who is right.
    """
    details = run.details
    parts = {
        "kappas": Part.of(details.agreement),
        "concepts": Part.of(details.majority),
        "accuracy": Part.of(details.accuracy),
    }
    if images is not None:
        parts["images"] = _images(run, images)
    if details.rejection is not None:  # where nothing is, there is nothing to see but the title
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
        parts["skill"] = Part.of(truth)
        parts["confusion"] = Part.of(truth, "confusion", rater=rater)
    return parts


def _images(run: LabelRun, images: Sequence[DisputedImage]) -> Part:
    means = run.metrics["with_majority"]
    title = majority_title(means["item_all"], means["item_chosen"], "image")
    if not images:
        return Part(f"{title}; no image is in dispute")
    numbers = [image.all_decisions for image in images], [image.chosen for image in images]
    return Part(title, majority_dots([image.file for image in images], *numbers))


def drawn(run: LabelRun) -> Iterator[Block]:
    """The same as a report draws them."""
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
