"""Table of events, and signal loss."""

import numpy as np
import pytest

from kalos_core.noise import NoiseModel
from kalos_core.noise.events import EVENTS, OUTCOMES, STAGES, SignalLoss


@pytest.fixture(scope="module")
def noisy(lvis):
    return NoiseModel.default().generate(lvis, raters=2, magnitude=2, reference="r1", seed=1)


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


def test_an_event_records_an_annotation_before_and_after(noisy):
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


def test_signal_loss_by_hand():
    done, lost, impossible = np.array([[6, 0], [3, 0], [1, 0]])
    loss = SignalLoss(("unmatched", "first three"), done=done, lost=lost, impossible=impossible)
    assert loss.attempted.tolist() == [10, 0]
    assert loss.share[0] == 0.3
    assert np.isnan(loss.ratio)
