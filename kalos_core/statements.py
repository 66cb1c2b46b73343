"""The few sentences that matter about a study: how good the labels are, what is hardest, who differs, what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kalos_core._agreement import CONVERGENCE_BANDS, band
from kalos_core.diagnostics import ClassDifficulty, Collaboration, NarrowedAgreement
from kalos_core.display import VARIATION_LABELS, alpha_text, count_text, percent_text, points_text, with_interval
from kalos_core.errors import Undefined

FEW_IMAGES = 3
"""A class or a rater on fewer images than this is not named as the hardest or as the furthest from the others."""

WORTH = {
    "near perfect": "good enough to train on and to compare models by",
    "substantial": "good for most uses; look at the hardest class",
    "moderate": "raters differ often: settle what differs before you compare models by these labels",
    "low": "raters hardly mean the same: mend the guideline before more is labelled",
    "systematic disagreement": "raters differ more than chance would: they follow different rules",
}
"""Band of an alpha -> what labels of that agreement are worth."""

UNKNOWN_WORTH = "what the labels are worth cannot be said"


@dataclass(frozen=True)
class Statement:
    """One sentence, and what it is about.

    Parameters
    ----------
    text : str
        Names in it are as in the data: show it as text.
    about : "agreement", "class", "rater", "variations", "ceiling", "disputes" or "changes"
    name : str, optional
        The class, the rater or the variation type.
    """

    text: str
    about: str
    name: str | None = None


def statements(
    found: NarrowedAgreement,
    counts: Mapping[str, int] | None = None,
    ceiling: float | None = None,
    disputes: tuple[int, int] | None = None,
    changed: int = 0,
) -> list[Statement]:
    r"""What a study found, the most important first.

    Parameters
    ----------
    found : NarrowedAgreement
        Of all, or as far as it was narrowed down.
    counts : mapping of str to int, optional
        Variation type -> findings.
    ceiling : float, optional
        Modified mAP of all images, 0 to 1.
    disputes : (int, int), optional
        How many units are in dispute, and how many of them are decided.
    changed : int
        Images edited since.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> from kalos_core.diagnostics import narrowed
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> found = narrowed(agreement(Annotations.from_rows(rows), bootstrap=0))
    >>> for statement in statements(found, {"correct": 3, "missing": 1}, 0.661, (4, 1)):
    ...     print(statement.about, "|", statement.text.replace("\xa0", " "))
    agreement | Raters agree at α 1.00 (near perfect): good enough to train on and to compare models by.
    variations | The most frequent difference is missing or additional: 1 of 4 findings (25 %).
    ceiling | No model can be expected to pass 66.1 mAP on these labels: raters reach no more against each other.
    disputes | 1 of 4 units in dispute is decided.
    """
    made = [
        _on_agreement(found),
        _on_classes(found.class_difficulty),
        _on_raters(found.collaboration),
        _on_variations(counts or {}),
    ]
    if ceiling is not None and np.isfinite(ceiling):
        text = f"No model can be expected to pass {points_text(ceiling)} mAP on these labels: raters reach no more"
        made.append(Statement(f"{text} against each other.", "ceiling"))
    if disputes is not None:
        total, decided = disputes
        text = (
            "No unit is in dispute." if not total else f"{_of(decided, total)} units in dispute {_is(decided)} decided."
        )
        made.append(Statement(text, "disputes"))
    if changed:
        images = "image was" if changed == 1 else "images were"
        made.append(
            Statement(f"{count_text(changed)} {images} edited or deleted since: update the analysis.", "changes")
        )
    return [statement for statement in made if statement is not None]


def _on_agreement(found: NarrowedAgreement) -> Statement:
    if np.isnan(found.alpha):
        return Statement("No image has an alpha: fewer than two raters can be compared.", "agreement")
    name, reliability = band(found.alpha), ""
    for least, word in reversed(CONVERGENCE_BANDS):
        reliability = word if found.alpha >= least else reliability
    text = f"Raters agree at α {with_interval(found.alpha, found.alpha_interval)} ({name})"
    return Statement(f"{text}: {WORTH.get(name, UNKNOWN_WORTH)}.", "agreement")


def _on_classes(classes: ClassDifficulty | Undefined) -> Statement | None:
    if isinstance(classes, Undefined):
        return None
    known = np.where(np.isfinite(classes.alpha) & (classes.images >= FEW_IMAGES), classes.alpha, np.inf)
    if np.isfinite(known).sum() < 2:
        return None
    hardest = int(known.argmin())
    name = str(classes.category[hardest])
    text = f"They agree least about {name}: α {alpha_text(float(known[hardest]))}"
    return Statement(f"{text} on {count_text(int(classes.images[hardest]))} images.", "class", name)


def _on_raters(pairs: Collaboration | Undefined) -> Statement | None:
    """The rater whose mean alpha with the others is the lowest, of three or more."""
    if isinstance(pairs, Undefined) or len(pairs.raters) < 3:
        return None
    alpha = np.array(pairs.alpha, dtype=np.float64)
    np.fill_diagonal(alpha, np.nan)
    known = np.isfinite(alpha)
    count = known.sum(axis=1)
    mean = np.where(known, alpha, 0).sum(axis=1) / np.where(count, count, np.nan)
    if np.isfinite(mean).sum() < 3:
        return None
    furthest = int(np.nanargmin(mean))
    name = str(pairs.raters[furthest])
    text = f"{name} is furthest from the others: α {alpha_text(float(mean[furthest]))} with each of them"
    return Statement(
        f"{text} on average, {alpha_text(float(np.nanmean(np.delete(mean, furthest))))} for the rest.", "rater", name
    )


def _on_variations(counts: Mapping[str, int]) -> Statement | None:
    """Missing and additional are one difference seen from two sides."""
    total = sum(counts.values())
    sides = {"missing": counts.get("missing", 0) + counts.get("additional", 0)}
    named = {name: count for name, count in counts.items() if name not in ("correct", "missing", "additional")} | sides
    most = max(named, key=lambda name: named[name])
    if not total or not named[most]:
        return None
    label = "missing or additional" if most == "missing" else VARIATION_LABELS[most]
    share = percent_text(named[most] / total)
    return Statement(
        f"The most frequent difference is {label}: {_of(named[most], total)} findings ({share}).", "variations", most
    )


def _of(part: int, total: int) -> str:
    return f"{count_text(part)} of {count_text(total)}"


def _is(count: int) -> str:
    return "is" if count == 1 else "are"
