"""Laws of all plots: names from data are text, numbers are JSON, and nothing zooms.

No plot lets plotly, Markdown or direction marks interpret a name.
"""

from __future__ import annotations

import html
import json

import numpy as np
import pytest

from kalos_core.display import EVENT_LABELS
from kalos_core.figures import labels, pixels, ranking, raters
from kalos_core.figures.agreement import alpha_histogram, alpha_scale
from kalos_core.figures.classes import class_difficulty_title
from kalos_core.figures.common import shortened
from kalos_core.figures.convergence import replicate_scatter
from kalos_core.figures.directions import directions_heatmap, directions_title
from kalos_core.figures.events import events_title, image_event_bars
from kalos_core.figures.variations import variation_bars
from kalos_core.text import shown
from tests.figures.plain import plain

HOSTILE = "<b>*_x_*</b>%{y}\u202e[a](http://b)" + "y" * 100
NAMES = [HOSTILE, "ann"]
PAIR = [[None, 0.5], [0.5, None]]
ENDS = [[0.4, 0.6], [0.1, 0.9]]
VALUES = [0.5, 0.9]
EVENTS = [dict.fromkeys(EVENT_LABELS, 1)] * 2

DRAWN = {
    "accuracy_title": lambda: labels.accuracy_title(NAMES, PAIR),
    "agreement_curves_title": lambda: ranking.agreement_curves_title(HOSTILE, VALUES),
    "boundaries_title": lambda: ranking.boundaries_title(NAMES[:1], VALUES[:1], VALUES[:1]),
    "bounds_bars": lambda: ranking.bounds_bars(NAMES, ENDS, NAMES, np.full((2, 2), 0.5)),
    "bounds_title": lambda: ranking.bounds_title(NAMES, ENDS),
    "bump_chart": lambda: ranking.bump_chart(NAMES, NAMES, np.ones((2, 2)), np.ones((2, 2)), "AUC"),
    "class_difficulty_title": lambda: class_difficulty_title(NAMES, VALUES, [9, 9]),
    "cohen_title": lambda: labels.cohen_title(HOSTILE, NAMES, PAIR),
    "collaboration_title": lambda: raters.collaboration_title(NAMES, PAIR),
    "curves_title": lambda: ranking.curves_title(HOSTILE, VALUES),
    "detector_correlation_title": lambda: ranking.detector_correlation_title(NAMES[:1], [0.9], [0.5]),
    "directions_heatmap": lambda: directions_heatmap(NAMES, PAIR),
    "directions_title": lambda: directions_title(NAMES, PAIR),
    "events_title": lambda: events_title(NAMES, 1, 2, 3, None),
    "image_event_bars": lambda: image_event_bars(NAMES, EVENTS),
    "kappa_title": lambda: labels.kappa_title(NAMES, VALUES),
    "majority_dots": lambda: labels.majority_dots(NAMES, VALUES, VALUES),
    "performance_dots": lambda: pixels.performance_dots(NAMES, {"PPV": VALUES}),
    "performance_title": lambda: pixels.performance_title(NAMES, VALUES),
    "precision_curves": lambda: ranking.precision_curves(NAMES, [0, 1], [[1, 0], [1, 0]], VALUES),
    "reference_title": lambda: ranking.reference_title(HOSTILE, NAMES, VALUES),
    "replicate_scatter": lambda: replicate_scatter(VALUES, VALUES, VALUES, {}, dataset=NAMES),
    "session_title": lambda: raters.session_title(NAMES, VALUES),
    "tau_title": lambda: ranking.tau_title(NAMES, PAIR),
    "team_title": lambda: raters.team_title(NAMES, VALUES),
    "tree_title": lambda: pixels.tree_title([*NAMES, "cid"], [True, False, False]),
    "vitality_title": lambda: raters.vitality_title(NAMES, [0.9, 0.5]),
}


NOTHING = {
    "alpha_histogram": lambda: alpha_histogram([]),
    "alpha_histogram, one": lambda: alpha_histogram([0.5, None]),
    "alpha_scale": lambda: alpha_scale(None, [None, None], "box_iou"),
    "bump_chart": lambda: ranking.bump_chart([], [], np.zeros((0, 0)), np.zeros((0, 0)), "AUC"),
    "precision_curves": lambda: ranking.precision_curves(["a"], [0.5, 1], [[None, None]], [None]),
    "variation_bars": lambda: variation_bars({}),
}
"""Plots of undefined or empty results."""


@pytest.mark.parametrize("name", DRAWN)
def test_a_hostile_name_is_only_text(name):
    drawn = DRAWN[name]()
    text = drawn if isinstance(drawn, str) else json.dumps(drawn.to_plotly_json(), ensure_ascii=False, default=str)
    assert "x" in html.unescape(text)
    assert "\u202e" not in text
    for part in ("<b>*", "*_x", "_*<", "%{y}\u202e", "]("):
        assert part not in text
    if isinstance(drawn, str):
        assert "y" * 61 not in text
    else:
        check_plain(drawn)


@pytest.mark.parametrize("name", NOTHING)
def test_undefined_values_are_plain(name):
    check_plain(NOTHING[name]())


def check_plain(figure):
    assert plain(figure) is not None
    json.dumps(figure.to_plotly_json()["layout"])
    assert figure.layout.xaxis.fixedrange
    assert figure.layout.yaxis.fixedrange


def test_a_name_keeps_its_letters_and_loses_its_marks():
    assert html.unescape(shown(HOSTILE, None)) == HOSTILE.replace("\u202e", "")
    assert len(html.unescape(shown(HOSTILE))) == 60
    assert html.unescape(shortened(HOSTILE)) == "<b>*_x_*</b>%{y}[…"
    assert shown("1. Straße, d'Or.jpg") == "1&#46; Straße, d'Or.jpg"  # not a list
    assert shown("www.b.de") == "www&#46;b.de"
