"""Laws of all figures: names from data are text, numbers are JSON, and nothing zooms.

No figure lets plotly, Markdown or a mark of direction read anything into a name.
"""

from __future__ import annotations

import html
import json
import math

import numpy as np
import pytest

from kalos_core import figures
from kalos_core.figures.common import shortened
from kalos_core.text import shown
from tests.figures.plain import plain

HOSTILE = "<b>*_x_*</b>%{y}\u202e[a](http://b)" + "y" * 100
NAMES = [HOSTILE, "ann"]
PAIR = [[None, 0.5], [0.5, None]]
ENDS = [[0.4, 0.6], [0.1, 0.9]]
VALUES = [0.5, 0.9]
EVENTS = [dict.fromkeys(figures.EVENT_LABELS, 1)] * 2

DRAWN = {
    "accuracy_heatmap": lambda: figures.accuracy_heatmap(NAMES, PAIR),
    "accuracy_title": lambda: figures.accuracy_title(NAMES, PAIR),
    "agreement_curves_title": lambda: figures.agreement_curves_title(HOSTILE, VALUES),
    "boundaries_title": lambda: figures.boundaries_title(NAMES[:1], VALUES[:1], VALUES[:1]),
    "bounds_bars": lambda: figures.bounds_bars(NAMES, ENDS, NAMES, np.full((2, 2), 0.5)),
    "bounds_title": lambda: figures.bounds_title(NAMES, ENDS),
    "bump_chart": lambda: figures.bump_chart(NAMES, NAMES, np.ones((2, 2)), np.ones((2, 2)), "AUC"),
    "class_difficulty_bars": lambda: figures.class_difficulty_bars(NAMES, VALUES, [9, 9], ENDS, selected=HOSTILE),
    "class_difficulty_title": lambda: figures.class_difficulty_title(NAMES, VALUES, [9, 9]),
    "cohen_title": lambda: figures.cohen_title(HOSTILE, NAMES, PAIR),
    "collaboration_heatmap": lambda: figures.collaboration_heatmap(NAMES, PAIR),
    "collaboration_title": lambda: figures.collaboration_title(NAMES, PAIR),
    "correlation_bars": lambda: figures.correlation_bars(NAMES, VALUES),
    "curves_title": lambda: figures.curves_title(HOSTILE, VALUES),
    "detector_correlation_title": lambda: figures.detector_correlation_title(NAMES[:1], [0.9], [0.5]),
    "detector_correlation_dots": lambda: figures.detector_correlation_dots(NAMES, VALUES, VALUES),
    "directions_heatmap": lambda: figures.directions_heatmap(NAMES, PAIR),
    "directions_title": lambda: figures.directions_title(NAMES, PAIR),
    "events_title": lambda: figures.events_title(NAMES, 1, 2, 3, None),
    "image_event_bars": lambda: figures.image_event_bars(NAMES, EVENTS),
    "interval_bars": lambda: figures.interval_bars(NAMES, VALUES, ENDS, [{HOSTILE: 0.5}, {}]),
    "kappa_bars": lambda: figures.kappa_bars(NAMES, VALUES, ENDS),
    "kappa_title": lambda: figures.kappa_title(NAMES, VALUES),
    "majority_dots": lambda: figures.majority_dots(NAMES, VALUES, VALUES),
    "performance_dots": lambda: figures.performance_dots(NAMES, {"PPV": VALUES}),
    "performance_title": lambda: figures.performance_title(NAMES, VALUES),
    "precision_curves": lambda: figures.precision_curves(NAMES, [0, 1], [[1, 0], [1, 0]], VALUES),
    "rater_tree": lambda: figures.rater_tree(NAMES, [[0, 1, 0.5, 2]], [True, False]),
    "ratio_curve": lambda: figures.ratio_curve([[1, 0.5], [1, 0.4]], NAMES),
    "reference_title": lambda: figures.reference_title(HOSTILE, NAMES, VALUES),
    "replicate_scatter": lambda: figures.replicate_scatter(VALUES, VALUES, VALUES, dataset=NAMES),
    "session_bars": lambda: figures.session_bars(NAMES, VALUES),
    "session_title": lambda: figures.session_title(NAMES, VALUES),
    "tau_heatmap": lambda: figures.tau_heatmap(NAMES, PAIR),
    "tau_title": lambda: figures.tau_title(NAMES, PAIR),
    "team_bars": lambda: figures.team_bars(NAMES, VALUES),
    "team_title": lambda: figures.team_title(NAMES, VALUES),
    "tree_title": lambda: figures.tree_title([*NAMES, "cid"], [True, False, False]),
    "vitality_bars": lambda: figures.vitality_bars(NAMES, VALUES, selected=HOSTILE),
    "vitality_title": lambda: figures.vitality_title(NAMES, [0.9, 0.5]),
}


NOTHING = {
    "accuracy_heatmap": lambda: figures.accuracy_heatmap(["a"], [[None]]),
    "alpha_histogram": lambda: figures.alpha_histogram([]),
    "alpha_histogram, one": lambda: figures.alpha_histogram([0.5, None]),
    "alpha_scale": lambda: figures.alpha_scale(None, [None, None], "box_iou"),
    "bump_chart": lambda: figures.bump_chart([], [], np.zeros((0, 0)), np.zeros((0, 0)), "AUC"),
    "calibration_figure": lambda: figures.calibration_figure([0.0] * 50, [0.0] * 50, None, None),
    "class_difficulty_bars": lambda: figures.class_difficulty_bars(["a"], [None], [9]),
    "class_difficulty_bars, none": lambda: figures.class_difficulty_bars([], [], []),
    "collaboration_heatmap": lambda: figures.collaboration_heatmap(["a", "b"], [[None, None], [None, None]]),
    "precision_curves": lambda: figures.precision_curves(["a"], [0.5, 1], [[None, None]], [None]),
    "sensitivity_curve": lambda: figures.sensitivity_curve([0.1, 0.5], [None, math.nan]),
    "tau_heatmap": lambda: figures.tau_heatmap(["a"], [[1]]),
    "variation_bars": lambda: figures.variation_bars({}),
}
"""Figures of what is undefined, or of nothing."""


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
    assert shown("1. Straße, d'Or.jpg") == "1&#46; Straße, d'Or.jpg"  # no list
    assert shown("www.b.de") == "www&#46;b.de"
