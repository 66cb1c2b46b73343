"""Raters: differences of each rater from the others, comparison of each pair, and sessions."""

import re
from dataclasses import replace
from typing import Any

import numpy as np

import kalos_core.fiftyone as kf
from kalos_core.diagnostics import Collaboration, RaterVitality
from kalos_core.errors import Undefined
from kalos_core.fiftyone.app import download
from kalos_core.fiftyone.kinds.agreement.stored import narrowed_metrics
from kalos_core.fiftyone.kinds.agreement.views import view_of_pair, view_worst_first
from kalos_core.fiftyone.kinds.variations.views import view_of_confusion
from kalos_core.figures.captions import CAPTIONS
from kalos_core.figures.raters import collaboration_title, session_title, team_title, vitality_title
from kalos_core.text import plain

from .base import Asked, DataSection, Led, click, prompt, show
from .ranked import ranked_estimates
from .rows import Row
from .variations import show_rate

CAPTIONED = ("vitality", "collaboration", "intra_rater", "team")


class RatersSection(DataSection):
    NAME, KIND = "Raters", "agreement"
    FOLLOWS = ("category", "rater", "tag", "view")
    NOTHING_YET = (
        "How does each rater differ?",
        "Analyse compares each pair of raters: how much they agree, and how often each misses, adds, merges, splits.",
    )

    def send(self, asked: Asked) -> Row:
        found = narrowed_metrics(asked.dataset, asked.run("agreement").key, asked.filter)
        together, without = found.collaboration, found.vitality
        people, sessions, titles = _sessions(asked)
        cards = kf.rater_scorecard(asked.dataset, asked.analysis.key, asked.filter)
        return {
            "cards": sorted(cards, key=lambda card: (np.isnan(card.alpha), card.alpha, card.rater)),
            "has_rates": "variations" in asked.analysis.runs,
            "pairs": None if isinstance(together, Undefined) else _pairs(together),
            "why_no_pairs": _reason(together),
            "why_no_vitality": _reason(without),
            "people": people,
            "sessions": sessions,
            "titles": {**titles, "vitality": _vitality_title(without)},
            "captions": {name: CAPTIONS[name] for name in CAPTIONED},
        }

    rate = show_rate
    confusion = show(
        view_of_confusion,
        "images where raters confused {own} and {other}",
        "variations",
        category_a="own",
        category_b="other",
    )
    find = prompt("find_variations")
    load = prompt("load_raters")

    @click
    def rater(self, asked: Asked) -> Led:
        name = asked.value("rater")
        view = asked.view(view_worst_first, "agreement", **{**asked.part, "rater": name})
        return Led(view, f"images, lowest agreement of {plain(name)} first")

    @click
    def pair(self, asked: Asked) -> Led:
        first, second = asked.pair("raters")
        view = asked.view(view_of_pair, "agreement", first, second)
        return Led(view, f"images of {plain(first)} and {plain(second)}, lowest agreement first")

    @click
    def person(self, asked: Asked) -> Led:
        """Show the images of the two sessions of a person with the lowest agreement."""
        name, found = asked.value("name"), narrowed_metrics(asked.dataset, asked.run("agreement").key)
        own, together = np.flatnonzero(found.annotations.person == name), found.collaboration
        least = None if isinstance(together, Undefined) else together.least_pair(own)
        if least is None:
            return Led(said=f"{plain(name)} has no pair of sessions with an alpha")
        return self.pair(replace(asked, given={"raters": least}))

    @click
    def sheet(self, asked: Asked) -> Led:
        """Download the feedback sheet of a rater."""
        rater = asked.value("rater")
        page = kf.feedback(asked.dataset, asked.analysis.key, rater, asked.filter)
        name = "feedback-" + re.sub(r"[^\w.-]+", "-", rater) + ".html"
        download(asked.ctx, name, "text/html", page.encode())
        asked.ctx.ops.notify(f"Saved with the downloads of the browser: {name}", variant="success")
        return Led()


def _reason(found: Any) -> str:
    return found.reason if isinstance(found, Undefined) else ""


def _vitality_title(found: RaterVitality | Undefined) -> str:
    return (
        ""
        if isinstance(found, Undefined)
        else vitality_title(found.rater.tolist(), found.vitality, found.vitality_interval)
    )


def _sessions(asked: Asked) -> tuple[list[Row], list[Row], Row]:
    """Return alphas of people with themselves and of all raters within each session, lowest first, and their titles."""
    details = asked.details("agreement").details
    again, team = details.intra_rater, details.team_agreement
    if isinstance(again, Undefined):
        return [], [], {"people": "", "sessions": ""}
    titles = {"people": session_title(again.person, again.alpha), "sessions": team_title(team.session, team.alpha)}
    return ranked_estimates(again.person, again), ranked_estimates(team.session, team), titles


def _pairs(found: Collaboration) -> Row:
    """Return the alpha of each pair of raters, with similar raters next to each other: (R, R) each."""
    alpha, interval = found.side_by_side
    return {
        "title": collaboration_title(found.raters.tolist(), found.alpha),
        "raters": found.raters[found.order],
        "alpha": alpha,
        "low": interval[..., 0],
        "high": interval[..., 1],
        "images": found.images[np.ix_(found.order, found.order)],
    }
