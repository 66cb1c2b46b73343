"""Plots of synthetic raters show the numbers of their events."""

from __future__ import annotations

import pytest

from kalos_core import NoiseModel, figures
from kalos_core.figures.events import EVENT_COLOURS, event_bars, events_title, image_event_bars
from tests.figures.plain import names, title
from tests.noise.models import many

OUTCOMES = ("done", "lost", "impossible")
COUNTED = ((7, 2, 1), (5, 0, 0), (0, 3, 0), (1, 0, 4), (2, 0, 0), (900, 90, 0))
KINDS = ("deletion", "addition", "split", "merge", "wrong_class", "shift")
COUNTS = {kind: dict(zip(OUTCOMES, counts, strict=True)) for kind, counts in zip(KINDS, COUNTED, strict=True)}


def test_bars_are_stacked_by_outcome():
    figure = event_bars(COUNTS)
    assert names(figure) == ["done", "lost", "impossible"]
    assert [list(trace.x) for trace in figure.data] == [[7, 5, 0, 1, 2], [2, 0, 3, 0, 0], [1, 0, 0, 4, 0]]
    texts = ["7 done<br>2 lost, 1 impossible", "5 done", "0 done<br>3 lost", "1 done<br>4 impossible", "2 done"]
    assert list(figure.data[-1].text) == texts


def test_bars_of_images():
    counts = [dict.fromkeys(EVENT_COLOURS, 0) | {"merge": 2}, dict.fromkeys(EVENT_COLOURS, 1)]
    figure = image_event_bars(["a.jpg", "b.jpg"], counts)
    assert [list(trace.x) for trace in figure.data] == [[0, 1], [0, 1], [0, 1], [2, 1], [0, 1]]
    assert len(image_event_bars([], []).data) == 5


@pytest.mark.parametrize("magnitude", [0, 3])
def test_a_result_is_titled_with_its_finding(magnitude):
    result = NoiseModel.default().generate(many(20, 3), 2, magnitude, seed=1)
    events = result.events
    changed = int(((events.event != "shift") & (events.outcome == "done")).sum())
    loss = result.signal_loss().ratio if magnitude else None
    assert title(figures.plot_events(result)) == events_title(["ann"], 2, changed, 120, loss)
    assert (changed == 0) is (magnitude == 0)
