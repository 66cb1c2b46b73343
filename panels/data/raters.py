"""Raters: how each differs from the others, every two of them beside each other, and their sessions."""

import base64
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kalos_core.fiftyone as kf
from kalos_core.diagnostics import Collaboration
from kalos_core.errors import Undefined
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_pair, view_worst_first
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.figures.captions import CAPTIONS, Caption
from kalos_core.figures.raters import collaboration_title, session_title, team_title, vitality_title
from kalos_core.text import plain
from kalos_core.variation import RaterCard

from .base import Asked, DataSection, Led, click
from .ranked import Ranked, ranked_estimates
from .rates import led_to_rate


@dataclass(frozen=True)
class Pairs:
    """Alpha of every two raters, in the order in which similar ones stand side by side: (R, R) each.

    Above the diagonal the mean over images, below it that of all units at once.
    """

    title: str
    raters: tuple[str, ...]
    alpha: Any
    low: Any
    high: Any
    images: Any


@dataclass(frozen=True)
class Raters:
    """What the section draws; `why_no_vitality` and `why_no_pairs` say why there are none."""

    cards: tuple[RaterCard, ...]
    has_rates: bool
    pairs: Pairs | None
    why_no_pairs: str
    why_no_vitality: str
    people: tuple[Ranked, ...]
    sessions: tuple[Ranked, ...]
    titles: dict[str, str]
    captions: dict[str, Caption]


class RatersSection(DataSection):
    NAME, KIND = "Raters", "agreement"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "How does each rater differ?",
        "Analyse compares every rater with each other one: how far they agree, what they miss, add, merge and split.",
    )

    def send(self, asked: Asked) -> Raters:
        run, lens = asked.run("agreement"), asked.lens
        found = narrowed_metrics(asked.dataset, run.key, lens)
        details = kf.load_details(asked.dataset, run.key).details
        cards = sorted(kf.rater_scorecard(asked.dataset, asked.analysis.key, lens), key=_least_agreement)
        together, without = found.collaboration, found.vitality
        again, team = details.intra_rater, details.team_agreement
        has_sessions = not isinstance(again, Undefined)
        return Raters(
            cards=tuple(cards),
            has_rates="variations" in asked.analysis.runs,
            pairs=None if isinstance(together, Undefined) else _pairs(together),
            why_no_pairs=together.reason if isinstance(together, Undefined) else "",
            why_no_vitality=without.reason if isinstance(without, Undefined) else "",
            people=ranked_estimates(again.person, again) if has_sessions else (),
            sessions=ranked_estimates(team.session, team) if has_sessions else (),
            titles={
                "vitality": ""
                if isinstance(without, Undefined)
                else vitality_title(without.rater.tolist(), without.vitality),
                "people": session_title(again.person.tolist(), again.alpha) if has_sessions else "",
                "sessions": team_title(team.session.tolist(), team.alpha) if has_sessions else "",
            },
            captions={name: CAPTIONS[name] for name in ("vitality", "collaboration", "intra_rater", "team")},
        )

    @click
    def rater(self, asked: Asked) -> Led:
        name = asked.given["rater"]
        view = view_worst_first(asked.dataset, asked.run("agreement").key, category=asked.lens.category, rater=name)
        return Led(view, f"images, those first where {plain(name)} agrees least")

    @click
    def rate(self, asked: Asked) -> Led:
        return led_to_rate(asked)

    @click
    def pair(self, asked: Asked) -> Led:
        first, second = asked.given["raters"]
        view = view_of_pair(asked.dataset, asked.run("agreement").key, first, second)
        return Led(view, f"images of {plain(first)} and {plain(second)}, those first where they disagree most")

    @click
    def confusion(self, asked: Asked) -> Led:
        own, other = asked.given["own"], asked.given["other"]
        view = view_of_confusion(asked.dataset, asked.run("variations").key, own, other)
        return Led(view, f"images where {plain(own)} and {plain(other)} were taken for one another")

    @click
    def person(self, asked: Asked) -> Led:
        """The images of the two sessions of a person that agree least."""
        name, key = asked.given["name"], asked.run("agreement").key
        found = narrowed_metrics(asked.dataset, key)
        own = np.flatnonzero(found.annotations.person == name)
        least = _least_pair(found.collaboration, own)
        if least is None:
            return Led(said=f"{plain(name)} has no two sessions with an alpha")
        first, second = found.annotations.raters[list(least)]
        view = view_of_pair(asked.dataset, key, first, second)
        return Led(view, f"images of {plain(first)} and {plain(second)}, those first where they disagree most")

    @click
    def sheet(self, asked: Asked) -> Led:
        """The feedback sheet of a rater, which the browser saves."""
        rater = asked.given["rater"]
        page = kf.feedback(asked.dataset, asked.analysis.key, rater, asked.lens)
        name = "feedback-" + re.sub(r"[^\w.-]+", "-", rater) + ".html"
        content = base64.b64encode(page.encode()).decode("ascii")
        asked.ctx.ops.browser_download(f"data:text/html;charset=utf-8;base64,{content}", filename=name)
        asked.ctx.ops.notify(f"Saved with the downloads of the browser: {name}", variant="success")
        return Led()

    @click
    def find(self, asked: Asked) -> Led:
        """The form that names differences, which rates are made of."""
        return Led(operator="find_variations")

    @click
    def load(self, asked: Asked) -> Led:
        """The form that loads labels of further sessions."""
        return Led(operator="load_raters")


def _least_agreement(card: RaterCard) -> tuple[bool, float, str]:
    return bool(np.isnan(card.alpha)), card.alpha, card.rater


def _least_pair(found: Collaboration | Undefined, own: NDArray[np.intp]) -> tuple[int, int] | None:
    """The two of some raters that agree least."""
    if isinstance(found, Undefined):
        return None
    alpha = np.where(np.eye(len(own), dtype=np.bool_), np.nan, found.alpha[np.ix_(own, own)])
    if not np.isfinite(alpha).any():
        return None
    first, second = np.unravel_index(np.nanargmin(alpha), alpha.shape)
    return int(own[first]), int(own[second])


def _pairs(found: Collaboration) -> Pairs:
    """The mean over images above the diagonal, all units at once below it, nothing where a rater meets themselves."""
    order, size = np.ix_(found.order, found.order), len(found.order)
    above = np.triu(np.ones((size, size), np.bool_), 1)
    alpha = np.where(above, found.alpha[order], found.global_alpha[order])
    np.fill_diagonal(alpha, np.nan)
    interval = np.where(above[..., None], found.alpha_interval[order], found.global_alpha_interval[order])
    return Pairs(
        title=collaboration_title(found.raters.tolist(), found.alpha),
        raters=tuple(found.raters[found.order].tolist()),
        alpha=alpha,
        low=interval[..., 0],
        high=interval[..., 1],
        images=found.images[order],
    )
