"""Short statements about an analysis, in the words of annotation team leads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import NOTHING_SHARED, convergence_band, verdict
from kalos_core.arrays import mean_of_defined
from kalos_core.calibration import ThresholdAdvice
from kalos_core.diagnostics import ClassDifficulty, NarrowedAgreement
from kalos_core.diagnostics.classes import LEAST_IMAGES, hardest
from kalos_core.display import (
    alpha_text,
    count_and_share,
    metric_text,
    number_of,
    percent_text,
    points_text,
    with_interval,
)
from kalos_core.errors import Undefined
from kalos_core.nominal import GradeDirection, LabelAgreement, RaterAccuracy
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.pixels import PixelAgreement
from kalos_core.variation import NarrowedVariations
from kalos_core.variation.rates import rows_counted

OF_LEAST = f"(of those on at least {LEAST_IMAGES} images)"
"""Condition on the classes or questions that may be called the hardest; see `hardest`."""

WORTH = {
    "reliable": "reliable enough to train and evaluate on",
    "tentative": "good enough for tentative conclusions",
    "not reliable": "not reliable enough to draw conclusions from",
}
"""Band of label convergence App. B -> what labels with such an alpha are good for."""

DIFFERENCES = {
    "unmatched": ("missing", "additional"),
    "wrong_class": ("wrong_class",),
    "merged": ("merged",),
    "merged_wrong_class": ("merged_wrong_class",),
}
"""Kinds of differences; missing and additional are the same difference seen by two raters."""

DIFFERENCE_TEXTS = {
    "unmatched": "only one of two raters annotated an object",
    "wrong_class": "two raters gave an object different classes",
    "merged": "one rater annotated as one object what another annotated as several",
    "merged_wrong_class": "one rater annotated as one object what another annotated as several of another class",
}

MOST_HABITS = 3
"""Number of raters' habits in the overview: those with the most objects."""


@dataclass(frozen=True)
class Statement:
    """Sentence, the section that shows its evidence, and the selection there.

    Parameters
    ----------
    text : str
        Plain text.
    leads_to : str
        ``"Images"``, ``"Classes"``, ``"Raters"``, ``"Variations"``, ``"Ceiling"``, ``"Decide"``, ``"Runs"``,
        ``"Questions"``, ``"Masks"`` or ``"Threshold"``.
    arguments : mapping
        Such as ``{"category": "dog"}``, ``{"rater": "ann"}`` or ``{"kind": "wrong_class"}``.
    """

    text: str
    leads_to: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def statements(
    agreement: NarrowedAgreement | None = None,
    found: NarrowedVariations | None = None,
    ceiling: float | None = None,
    disputes: tuple[int, int] | None = None,
    changed: int | None = None,
    ceiling_how: str = "measured between raters",
    advice: ThresholdAdvice | None = None,
) -> list[Statement]:
    """Return the statements about an agreement, its variations and further findings.

    Parameters
    ----------
    agreement : NarrowedAgreement, optional
    found : NarrowedVariations, optional
    ceiling : float in [0, 1], optional
        mAP of the raters against one another, over all images.
    disputes : (int, int), optional
        Number of decisions to make about objects in dispute, and number of decisions made.
    changed : int, optional
        Number of samples edited since.
    ceiling_how : str
        How the ceiling was obtained, as in `Replicates.how`.
    advice : ThresholdAdvice, optional

    Returns
    -------
    list of Statement
        Omits everything that is not given or undefined.

    Examples
    --------
    >>> [(said.text, said.leads_to) for said in statements(disputes=(0, 0), changed=1)]
    [('No object is in dispute: there is nothing to decide.', 'Decide'), ('1 sample was edited since.', 'Runs')]
    """
    said: list[Statement | None] = []
    if agreement is not None:
        said += [_alpha(agreement), _hardest(agreement.class_difficulty), _furthest(agreement)]
    if found is not None:
        said += [*_habits(found), _most_frequent(found)]
    if ceiling is not None and not np.isnan(ceiling):
        said.append(Statement(_ceiling(ceiling, ceiling_how), "Ceiling"))
    if advice is not None and advice.settings is not None:
        said.append(Statement(advice.text, "Threshold", advice.settings))
    if disputes is not None:
        every, decided = disputes
        are = "is" if decided == 1 else "are"
        text = f"{count_and_share(decided, every)} of {number_of(every, 'decision')} about disputes {are} made."
        said.append(Statement(text if every else "No object is in dispute: there is nothing to decide.", "Decide"))
    if changed is not None:
        edited = number_of(changed, "sample was", "samples were")
        said.append(Statement(f"{edited if changed else 'No sample was'} edited since.", "Runs"))
    return [statement for statement in said if statement is not None]


def _ceiling(value: float, how: str) -> str:
    beyond = "Above it these labels cannot tell which model is better"
    return f"Ceiling for a model: mAP {points_text(value)}, {how}. {beyond}."


def _alpha(part: NarrowedAgreement) -> Statement:
    if np.isnan(part.alpha):
        return Statement(f"Alpha is undefined: {NOTHING_SHARED}.", "Images")
    shown = with_interval(part.alpha, part.alpha_interval)
    found = verdict(part.alpha, part.alpha_interval)
    return Statement(f"{found}, alpha {shown}: {worth_of(part.alpha, part.alpha_interval)}.", "Images")


def worth_of(alpha: float, interval: NDArray[np.float64]) -> str:
    """Return what labels with this alpha are good for; at the lower end of the interval, too, if that is worse.

    Examples
    --------
    >>> worth_of(0.7, np.array([0.68, 0.72]))
    'good enough for tentative conclusions'
    >>> worth_of(0.82, np.array([0.75, 0.88]))
    'reliable enough to train and evaluate on; at the lower end of the interval good enough for tentative conclusions'
    """
    band, least = convergence_band(alpha), convergence_band(float(interval[0]))
    if least in ("undefined", band):
        return WORTH[band]
    return f"{WORTH[band]}; at the lower end of the interval {WORTH[least]}"


def _hardest(classes: ClassDifficulty | Undefined) -> Statement | None:
    if isinstance(classes, Undefined):
        return None
    worst = hardest(classes.alpha, classes.images)
    if worst is None:
        return None
    name = str(classes.category[worst])
    images = int(classes.images[worst])
    text = f"Hardest class: {name}, alpha {alpha_text(classes.alpha[worst])} on {number_of(images, 'image')}"
    return Statement(f"{text} {OF_LEAST}.", "Classes", {"category": name})


def _furthest(agreement: NarrowedAgreement) -> Statement | None:
    """Compare raters by the alpha that scorecards and lists of raters show: that of all pairs with the rater."""
    table = agreement.sums.part.annotations
    raters = table.raters.tolist()
    if table.raters_are_local or len(raters) < 3:
        return None
    alphas = agreement.by_rater.alpha
    if not np.isfinite(alphas).any() or np.nanmin(alphas) == np.nanmax(alphas):  # no rater stands out
        return None
    worst = int(np.nanargmin(alphas))
    name = str(raters[worst])
    text = f"{name} is furthest from the others: alpha {alpha_text(alphas[worst])}."
    return Statement(text, "Raters", {"rater": name})


def _habits(found: NarrowedVariations) -> Iterator[Statement]:
    """Yield what raters do more often than others, with the class of most of those annotations."""
    table = found.annotations
    if table.raters_are_local:
        return
    for habit in found.rater_rates.habits()[:MOST_HABITS]:
        rows = rows_counted(found.of_everybody, table.raters.tolist().index(habit.rater))[habit.rate]
        classes = np.bincount(table.category[rows], minlength=len(table.categories))
        is_most = found.category is None and len(table.categories) > 1 and 2 * classes.max() > len(rows)
        text = habit.text(str(table.categories[classes.argmax()]) if is_most else "")
        yield Statement(f"{text}.", "Raters", {"rater": habit.rater, "kind": habit.rate})


def most_frequent(counts: Mapping[str, int]) -> tuple[str, int]:
    """Return the kind of difference in `DIFFERENCES` with the most findings, and their number.

    Examples
    --------
    >>> most_frequent({"correct": 70, "missing": 10, "additional": 10, "wrong_class": 15})
    ('unmatched', 20)
    """
    sums = {kind: sum(counts.get(name, 0) for name in names) for kind, names in DIFFERENCES.items()}
    kind = max(sums, key=lambda name: sums[name])
    return kind, sums[kind]


def _most_frequent(found: NarrowedVariations) -> Statement | None:
    counts, every = found.counts, len(found.found)
    if not every:
        return None
    kind, most = most_frequent(counts)
    if not most:
        return Statement("No two raters differ in any finding.", "Variations")
    text = f"Most frequent difference: {DIFFERENCE_TEXTS[kind]}, {count_and_share(most, every)} of all findings."
    return Statement(text, "Variations", {"kind": DIFFERENCES[kind][0]})


def statements_on_labels(
    agreement: LabelAgreement, accuracy: RaterAccuracy, directions: Sequence[GradeDirection], disputed: int, images: int
) -> list[Statement]:
    """Return statements about image-level labels and grades: agreement, hardest question, raters and disputes.

    Parameters
    ----------
    agreement : LabelAgreement
    accuracy : RaterAccuracy
    directions : sequence of GradeDirection
        Directions of each question with grades.
    disputed, images : int
        Number of images in dispute, and number of all labelled images.
    """
    said: list[Statement | None] = [_agreed(agreement), _hardest_question(agreement)]
    for of in directions:
        name = {"question": of.question} if of.question else {}
        said += [
            Statement(f"{of.text(rater)}.", "Questions", {**name, "rater": of.raters[rater]}) for rater in of.clear
        ]
    said.append(_least_like_majority(accuracy))
    text = f"{count_and_share(disputed, images)} of {number_of(images, 'image is', 'images are')} in dispute."
    said.append(Statement(text, "Questions", {"kind": "disputes"}))
    return [statement for statement in said if statement is not None]


def _agreed(agreement: LabelAgreement) -> Statement | None:
    alpha, questions = mean_of_finite(agreement.alpha), len(agreement)
    if np.isnan(alpha):
        reason = next((reason for reason in agreement.reason.tolist() if reason), NOTHING_SHARED)
        return Statement(f"Alpha is undefined: {reason}.", "Questions")
    mean = "" if questions == 1 else f" as the mean of {number_of(questions, 'question')}"
    metric = metric_text(alpha_text(alpha), str(agreement.metric[0]) if questions == 1 else "nominal")
    found = verdict(alpha, (np.nan, np.nan))
    return Statement(f"{found}, alpha {metric}{mean}: {WORTH[convergence_band(alpha)]}.", "Questions")


def _hardest_question(agreement: LabelAgreement) -> Statement | None:
    worst = hardest(agreement.alpha, agreement.items)
    if worst is None:
        return None
    name, items = str(agreement.question[worst]), int(agreement.items[worst])
    text = f"Hardest question: {name}, alpha {alpha_text(agreement.alpha[worst])} on {number_of(items, 'image')}"
    return Statement(f"{text} {OF_LEAST}.", "Questions", {"question": name})


def _least_like_majority(accuracy: RaterAccuracy) -> Statement | None:
    known = np.flatnonzero(np.isfinite(accuracy.to_majority))
    if len(known) < 3:
        return None
    shares = accuracy.to_majority[known]
    if shares.min() == shares.max():
        return None
    name = str(accuracy.raters[known[np.argmin(shares)]])
    text = f"{name} agrees with the majority least often: {percent_text(float(shares.min()))} of the time."
    return Statement(text, "Questions", {"rater": name})


def statements_on_pixels(classes: Mapping[str, PixelAgreement]) -> list[Statement]:
    """Return statements about masks: pixel agreement, the hardest class, and the rater furthest from the others.

    Parameters
    ----------
    classes : mapping of str to PixelAgreement
        Class -> agreement on its binary masks.

    Examples
    --------
    >>> from kalos_core import pixel_agreement
    >>> found = pixel_agreement([{"ann": [[0, 0, 1, 1]], "bob": [[0, 1, 1, 1]], "cid": [[1, 0, 0, 1]]}])
    >>> [said.text for said in statements_on_pixels({"marked": found})]
    ['Two raters share 0.57 of their marked pixels (mean F1), on 1 image.', \
'cid is furthest from the others: F1 0.45 with each on average.']
    """
    found = list(classes.values())
    means = np.array([of.mean_f1 for of in found])
    images = np.array([int(np.isfinite(of.image_f1).sum()) for of in found])
    mean = mean_of_finite(means)
    if np.isnan(mean):
        return [Statement("Two raters share no marked pixel to compare.", "Masks")]
    shown = with_interval(mean, found[0].mean_f1_interval) if len(found) == 1 else alpha_text(mean)
    over = "" if len(found) == 1 else f" as the mean of {number_of(len(found), 'class')}"
    text = (
        f"Two raters share {shown} of their marked pixels (mean F1){over}, on {number_of(int(images.max()), 'image')}."
    )
    said = [Statement(text, "Masks")]
    worst = hardest(means, images)
    if worst is not None:
        name = list(classes)[worst]
        text = f"Hardest class: {name}, mean F1 {alpha_text(means[worst])} on {number_of(int(images[worst]), 'image')}"
        said.append(Statement(f"{text} {OF_LEAST}.", "Masks", {"category": name}))
    if not any(of.raters_are_local for of in found) and len(found[0].raters) > 2:
        off = [np.where(np.eye(len(of.raters), dtype=np.bool_), np.nan, of.f1) for of in found]
        by_rater = mean_of_defined(mean_of_defined(np.stack(off)))
        if np.nanmin(by_rater) < np.nanmax(by_rater):
            name = str(found[0].raters[np.nanargmin(by_rater)])
            text = f"{name} is furthest from the others: F1 {alpha_text(np.nanmin(by_rater))} with each on average."
            said.append(Statement(text, "Masks", {"rater": name}))
    return said
