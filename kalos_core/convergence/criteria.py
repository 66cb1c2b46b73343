"""Check-list of the paper's exclusion criteria for label convergence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.convergence.modified import usable_images
from kalos_core.display import number_of
from kalos_core.errors import listed
from kalos_core.options import Settings, takes
from kalos_core.pairs import Pairs
from kalos_core.results import Results
from kalos_core.sharding import Sharded, kinds_of, known_of, parts_of
from kalos_core.similarity import Similarity
from kalos_core.similarity.fitting import ComparedBy, measure_for
from kalos_core.variation import variations

Verdict = Literal["ok", "warn", "cannot know"]

UNEQUAL = 2.0
"""Greatest accepted ratio of images between the rater with the most and the one with the fewest."""

MANY_COPIES = 0.01
"""Share of correct findings with similarity 1 that suggests copied labels.

None of the paper's own three data sets reaches it.
"""

FEW_CLASSES = 0.5
"""Smallest share of the classes that two raters should have annotated."""


@dataclass(frozen=True)
class Criterion:
    """One line of the check-list.

    Parameters
    ----------
    criterion : str
        Question that the criterion answers.
    finding : str
        Result in words, with numbers.
    verdict : "ok", "warn" or "cannot know"

    Examples
    --------
    >>> Criterion("copies", "no finding has similarity 1", "ok").verdict
    'ok'
    """

    criterion: str
    finding: str
    verdict: Verdict


class Criteria(Results[Criterion]):
    """Check-list returned by `check_convergence`: a sequence of `Criterion`.

    Figures: ``"verdicts"``.

    Examples
    --------
    >>> Criteria([Criterion("copies", "no finding has similarity 1", "ok")]).headline
    '0 warnings in 1 criterion'
    """

    _entry = Criterion
    _call = "check_convergence(annotations)"

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        warnings = sum(line.verdict == "warn" for line in self)
        return f"{number_of(warnings, 'warning')} in {number_of(len(self), 'criterion', 'criteria')}"


@dataclass(frozen=True)
class CriteriaSettings(Settings):
    """Settings of `check_convergence`: the similarity that finds copies, or precomputed pairs."""

    similarity: ComparedBy = "auto"
    pairs: Pairs | None = field(default=None, kw_only=True)


@takes(CriteriaSettings)
def check_convergence(annotations: Annotations | Sharded[Annotations], settings: CriteriaSettings) -> Criteria:
    """Check the exclusion criteria for label convergence (Appendix A, and the considerations of §4.1).

    Parameters
    ----------
    annotations : Annotations, or shards of them
    pairs : Pairs, optional
        See `variations`.

    Returns
    -------
    Criteria
        Annotation guideline, selection of images, rater imbalance, missing images, copies and class coverage.

    Raises
    ------
    InputError
        As `modified_map`, if no two raters share an image or a class.

    Examples
    --------
    Ann annotated three images. Bob annotated one of them, with the very same box:

    >>> rows = [{"image": image, "rater": "ann", "category": "cat", "box": [0, 0, 9, 9]} for image in (1, 2, 3)]
    >>> rows.append({"image": 1, "rater": "bob", "category": "cat", "box": [0, 0, 9, 9]})
    >>> asked = {1: ["ann", "bob"], 2: ["ann"], 3: ["ann"]}
    >>> for line in check_convergence(Annotations.from_rows(rows, assigned=asked)):
    ...     print(f"{line.verdict}: {line.criterion}")
    cannot know: one guideline
    cannot know: images chosen without regard to their labels
    warn: raters contribute equally
    warn: every image has two raters
    warn: no copied labels
    ok: classes covered
    """
    measure, known = measure_for(settings.similarity, kinds_of(annotations)), known_of(annotations)
    usable_images(known)
    given = _Contributions.merged(parts_of(annotations, _Contributions.of, "Contributions"))
    lines = [
        Criterion(
            "one guideline",
            "Labels do not say which guideline their raters followed. If several were mixed, differences between the "
            "guidelines pass for label variation.",
            "cannot know",
        ),
        _selection_of_images(known, given),
        _imbalance(known, given),
        _missing_images(known),
        _copies(annotations, measure, settings.pairs),
        _classes(given),
    ]
    return Criteria(lines)


@dataclass(frozen=True, eq=False)
class _Contributions:
    """Contributions of raters: (I,) annotated images, (R,) annotation counts, (K, R) classes in shared images."""

    annotated: NDArray[np.bool_]
    of_raters: NDArray[np.intp]
    classes: NDArray[np.bool_]

    @classmethod
    def of(cls, annotations: Annotations) -> _Contributions:
        """Return the contributions in one table."""
        shared = annotations.comparable_images[annotations.image]
        classes = np.zeros((len(annotations.categories), len(annotations.raters)), np.bool_)
        classes[annotations.category[shared], annotations.rater[shared]] = True
        return cls(
            annotated=np.bincount(annotations.image, minlength=len(annotations.images)) > 0,
            of_raters=np.bincount(annotations.rater, minlength=len(annotations.raters)),
            classes=classes,
        )

    @classmethod
    def merged(cls, parts: Sequence[_Contributions]) -> _Contributions:
        """Merge the contributions of tables with different images."""
        return cls(
            annotated=np.concatenate([part.annotated for part in parts]),
            of_raters=np.sum([part.of_raters for part in parts], axis=0),
            classes=np.any([part.classes for part in parts], axis=0),
        )


def _selection_of_images(annotations: Annotations, given: _Contributions) -> Criterion:
    empty = int((annotations.comparable_images & ~given.annotated).sum())
    images = number_of(int(annotations.comparable_images.sum()), "image")
    finding = (
        f"{number_of(empty, f'of {images} is', f'of {images} are')} empty for all raters. Images that were chosen "
        "because they contain annotations hide objects that everybody missed."
    )
    return Criterion("images chosen without regard to their labels", finding, "cannot know")


def _imbalance(annotations: Annotations, given: _Contributions) -> Criterion:
    criterion = "raters contribute equally"
    if annotations.raters_are_local:
        finding = "Raters are local to their image, so it cannot be checked whether some of them dominate."
        return Criterion(criterion, finding, "cannot know")
    images = annotations.assigned_any_class.sum(axis=0)
    most, least = int(images.argmax()), int(images.argmin())
    summary = ", ".join(
        f"{name} {number_of(count, 'image')} and {number_of(number, 'annotation')}"
        for name, count, number in zip(annotations.raters, images.tolist(), given.of_raters.tolist(), strict=True)
    )
    if images[most] > UNEQUAL * images[least]:
        finding = (
            f"Raters contribute unequally: {annotations.raters[most]} has {number_of(images[most], 'image')}, "
            f"{annotations.raters[least]} {images[least]:,}. A model can pass label convergence by following the "
            "convention of those who dominate."
        )
        return Criterion(criterion, finding, "warn")
    return Criterion(criterion, f"No rater has more than {UNEQUAL:g} times the images of another: {summary}.", "ok")


def _missing_images(annotations: Annotations) -> Criterion:
    alone = ~annotations.comparable_images
    skipped = int(annotations.skipped.sum())
    faults = []
    if alone.any():
        names, images = annotations.files[alone], number_of(len(alone), "image")
        have = number_of(len(names), f"of {images} has", f"of {images} have")
        faults.append(f"{have} fewer than two raters ({listed(names)})")
    if skipped:
        faults.append(
            f"{number_of(skipped, 'annotation')} could not be used and {'was' if skipped == 1 else 'were'} left out"
        )
    if faults:
        return Criterion("every image has two raters", f"{'; '.join(faults)}.", "warn")
    have = number_of(len(alone), "image has", "images have")
    finding = f"All {have} two raters or more, and no annotation was left out."
    return Criterion("every image has two raters", finding, "ok")


def _copies(annotations: Annotations | Sharded[Annotations], measure: Similarity, pairs: Pairs | None) -> Criterion:
    found = variations(annotations, measure, max_merge=1, pairs=pairs)
    correct = found.similarity[found.type == "correct"]
    same = int((correct == 1).sum())
    findings = number_of(len(correct), "correct finding")
    finding = f"{number_of(same, f'of {findings} has', f'of {findings} have')} similarity 1"
    if not len(correct):
        return Criterion("no copied labels", "No two raters agree on any object.", "cannot know")
    if same > MANY_COPIES * len(correct):
        finding += ": two people hardly ever draw the same outline, so labels may have been copied."
        return Criterion("no copied labels", finding, "warn")
    return Criterion("no copied labels", f"{finding}.", "ok")


def _classes(given: _Contributions) -> Criterion:
    by_rater = given.classes.sum(axis=1)
    annotated, shared = int((by_rater > 0).sum()), int((by_rater > 1).sum())
    finding = (
        f"Of {number_of(len(by_rater), 'class')}, {number_of(annotated, 'is', 'are')} annotated and {shared:,} by two "
        "raters or more. "
        "Results hold only for these."
    )
    return Criterion("classes covered", finding, "ok" if shared >= FEW_CLASSES * len(by_rater) else "warn")
