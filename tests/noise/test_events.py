"""The table of events, and the loss of signal."""

import numpy as np
import pandas as pd
import pytest

from kalos_core.noise import NoiseModel
from kalos_core.noise.events import EVENTS, OUTCOMES, STAGES, SignalLoss
from tests.noise.models import FixedFalsePositives, table, unmatched


@pytest.fixture(scope="module")
def noisy(lvis):
    return NoiseModel.default().generate(lvis, raters=2, magnitude=2, reference="r1", seed=1)


def test_the_table_names_what_the_arrays_encode(noisy):
    events, frame, made = noisy.events, noisy.events.to_pandas(), noisy.annotations
    codes = {
        "rater": (made.raters, events.rater),
        "image": (made.images, events.image),
        "category_to": (made.categories, events.category_to),
    }
    for place, side in enumerate("ab"):
        codes[f"reference_{side}"] = noisy.reference.id, events.reference_rows[:, place]
        codes[f"id_{side}"] = made.id, events.rows[:, place]
    for column, (names, coded) in codes.items():
        found = [None if pd.isna(cell) else cell for cell in frame[column]]
        assert found == [names[code] if code >= 0 else None for code in coded], column
    assert set(frame.event) <= set(EVENTS)


def test_counts_and_loss_are_those_of_the_table(noisy):
    frame, counts, loss = noisy.events.to_pandas(), noisy.events.counts(), noisy.signal_loss()
    for event in EVENTS:
        for outcome in OUTCOMES:
            assert counts[event][outcome] == ((frame.event == event) & (frame.outcome == outcome)).sum()
    table_of_loss = loss.to_pandas().set_index("stage")
    for stage in STAGES:
        part = frame[frame.stage == stage]
        assert table_of_loss.attempted[stage] == len(part)
        assert table_of_loss.lost[stage] == (part.outcome == "lost").sum()
    assert loss.ratio == (frame[frame.stage != "localization"].outcome == "lost").mean()


def test_an_event_says_what_a_annotation_was_and_what_it_became(noisy):
    events = noisy.events
    done = np.flatnonzero((events.outcome == "done") & np.isin(events.event, ["shift", "wrong_class"]))
    reference, made = events.reference_rows[done, 0], events.rows[done, 0]
    assert (noisy.reference.category[reference] == events.category_from[done]).all()
    assert (noisy.annotations.category[made] == events.category_to[done]).all()
    assert ((events.category_from[done] != events.category_to[done]) == (events.event[done] == "wrong_class")).all()
    size = noisy.reference.image_size[events.image[done]]
    before = noisy.reference.shapes["box"].corners[reference]
    after = noisy.annotations.shapes["box"].corners[made]
    moved = ((after[:, :2] + after[:, 2:]) - (before[:, :2] + before[:, 2:])) / 2 / size
    assert events.shift[done] == pytest.approx(moved, abs=1e-9)
    grown = (after[:, 2:] - after[:, :2]) / (before[:, 2:] - before[:, :2])
    assert events.scale[done] == pytest.approx(grown, rel=1e-6)
    assert np.isnan(events.shift[events.outcome != "done"]).all()


def test_an_addition_says_for_which_class_of_the_image_it_was_taken():
    reference = table((1, "cat", [80, 40, 20, 20]), (2, "dog", [0, 0, 9, 9]))
    places = FixedFalsePositives([10, 10, 30, 30])
    frame = unmatched(4.0, 0.0).generate(reference, raters=1, false_positive_source=places).events.to_pandas()
    line = frame[(frame.event == "addition") & (frame.outcome == "done")].iloc[0]
    assert (line.image, line.category_from, line.category_to) == (1, "cat", "dog")
    assert pd.isna(line.reference_a)


def test_signal_loss_by_hand():
    done, lost, impossible = np.array([[6, 0], [3, 0], [1, 0]])
    loss = SignalLoss(("unmatched", "first three"), done=done, lost=lost, impossible=impossible)
    assert loss.attempted.tolist() == [10, 0]
    assert loss.share[0] == 0.3
    assert np.isnan(loss.ratio)
