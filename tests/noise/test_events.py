"""The table of events, and the loss of signal."""

import numpy as np
import pandas as pd
import pytest

from kalos_core.noise import NoiseModel
from kalos_core.noise.events import EVENTS, OUTCOMES, STAGES, SignalLoss
from kalos_core.noise.parameters import Chance, EventRate
from tests.noise.models import FixedFalsePositives, quiet, table


@pytest.fixture(scope="module")
def noisy(lvis):
    return NoiseModel.default().generate(lvis, raters=2, magnitude=2, reference="r1", seed=1)


def same(cell, names, code):
    return cell == names[code] if code >= 0 else pd.isna(cell)


def test_the_table_names_what_the_arrays_encode(noisy):
    events, frame = noisy.events, noisy.events.to_pandas()
    assert len(frame) == len(events)
    for row in np.linspace(0, len(events) - 1, 40).astype(int):
        line = frame.iloc[row]
        assert line.rater == noisy.annotations.raters[events.rater[row]]
        assert line.image == noisy.annotations.images[events.image[row]]
        for side, column in (("a", 0), ("b", 1)):
            reference, made = events.reference_rows[row, column], events.rows[row, column]
            assert same(line[f"reference_{side}"], noisy.reference.id, reference)
            assert same(line[f"id_{side}"], noisy.annotations.id, made)
        assert same(line.category_to, noisy.annotations.categories, events.category_to[row])
    assert set(frame.event) <= set(EVENTS)
    assert set(frame.outcome) <= set(OUTCOMES)


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
    first = frame[frame.stage != "localization"]
    assert loss.ratio == (first.outcome == "lost").mean()


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
    model = quiet(unmatched={"rate": EventRate(4.0, 0.0), "deletion": Chance(0.0)})
    frame = model.generate(
        reference, raters=1, false_positive_source=FixedFalsePositives([10, 10, 30, 30])
    ).events.to_pandas()
    line = frame[(frame.event == "addition") & (frame.outcome == "done")].iloc[0]
    assert (line.image, line.category_from, line.category_to) == (1, "cat", "dog")
    assert pd.isna(line.reference_a)


def test_signal_loss_by_hand():
    loss = SignalLoss(
        ("unmatched", "first three"), done=np.array([6, 0]), lost=np.array([3, 0]), impossible=np.array([1, 0])
    )
    assert loss.attempted.tolist() == [10, 0]
    assert loss.share[0] == 0.3
    assert np.isnan(loss.ratio)
